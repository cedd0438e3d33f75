/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * %gr: flags of the kernel's page allocator as names. Which bit means what differs between kernels
 * and their configurations, so it is asked of the kernel; those before 6.10 do not say.
 */
#include "lang/run/run.h"

/* Names of several bits, those with the most bits first; bits by their names in the kernel. */
#define KSWAPD  "KSWAPD_RECLAIM"
#define RECLAIM "DIRECT_RECLAIM", KSWAPD
#define USER    RECLAIM, "IO", "FS", "HARDWALL"
#define LIGHT   "IO", "FS", "HARDWALL", "HIGHMEM", "MOVABLE", "COMP", "NOMEMALLOC", "NOWARN"

static const struct gfp_name {
	const char *name;
	const char *bits[12];
} gfp_names[] = {
	{ "GFP_TRANSHUGE", { LIGHT, "DIRECT_RECLAIM" } },
	{ "GFP_TRANSHUGE_LIGHT", { LIGHT } },
	{ "GFP_HIGHUSER_MOVABLE", { USER, "HIGHMEM", "MOVABLE" } },
	{ "GFP_HIGHUSER", { USER, "HIGHMEM" } },
	{ "GFP_USER", { USER } },
	{ "GFP_KERNEL_ACCOUNT", { RECLAIM, "IO", "FS", "ACCOUNT" } },
	{ "GFP_KERNEL", { RECLAIM, "IO", "FS" } },
	{ "GFP_NOFS", { RECLAIM, "IO" } },
	{ "GFP_ATOMIC", { "HIGH", KSWAPD } },
	{ "GFP_NOIO", { RECLAIM } },
	{ "GFP_NOWAIT", { KSWAPD, "NOWARN" } },
	{ "GFP_DMA", { "DMA" } },
	{ "GFP_DMA32", { "DMA32" } },
};

#define BIT_PREFIX "___GFP_"
#define BIT_SUFFIX "_BIT"

/* The enum without a name that numbers the bits; 0: none. */
static u32 find_enum(struct kbtf *btf)
{
	s64 value;

	for (u32 id = 1; btf && id <= kbtf_count(btf); id++) {
		if (kbtf_enum_value(btf, id, BIT_PREFIX "DMA" BIT_SUFFIX, &value) == 0)
			return id;
	}
	return 0;
}

static u64 mask_of(const struct kbtf *btf, u32 id, const struct gfp_name *n)
{
	u64 mask = 0;
	s64 bit;

	for (size_t i = 0; i < ARRAY_SIZE(n->bits) && n->bits[i]; i++) {
		char name[64];

		snprintf(name, sizeof(name), BIT_PREFIX "%s" BIT_SUFFIX, n->bits[i]);
		if (kbtf_enum_value(btf, id, name, &bit) < 0 || bit < 0 || bit > 63)
			return 0;
		mask |= 1ull << bit;
	}
	return mask;
}

static void add_part(struct buf *out, size_t start, const char *prefix, const char *name, int len)
{
	buf_addf(out, "%s%s%.*s", out->len > start ? "|" : "", prefix, len, name);
}

void run_gfp(struct run *r, u64 flags, struct buf *out)
{
	struct kbtf *btf = types_btf(&r->c->types);
	size_t start = out->len;

	if (!r->gfp_looked)
		r->gfp_enum = find_enum(btf);
	r->gfp_looked = true;
	if (!flags) {
		buf_addstr(out, "none");
		return;
	}
	for (size_t i = 0; r->gfp_enum && i < ARRAY_SIZE(gfp_names); i++) {
		u64 mask = mask_of(btf, r->gfp_enum, &gfp_names[i]);

		if (!mask || (flags & mask) != mask)
			continue;
		add_part(out, start, "", gfp_names[i].name, (int)strlen(gfp_names[i].name));
		flags &= ~mask;
	}
	for (u32 bit = 0; r->gfp_enum && bit < 64; bit++) {
		const char *name = kbtf_enum_name(btf, r->gfp_enum, bit);
		const char *bare = name ? starts_with(name, BIT_PREFIX) : NULL;

		if (!(flags >> bit & 1) || !bare || strlen(bare) <= strlen(BIT_SUFFIX))
			continue;
		add_part(out, start, "__GFP_", bare, (int)(strlen(bare) - strlen(BIT_SUFFIX)));
		flags &= ~(1ull << bit);
	}
	if (flags)
		buf_addf(out, "%s0x%llx", out->len > start ? "|" : "", (unsigned long long)flags);
}
