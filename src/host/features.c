/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/features.h"

#include "host/kernel_types.h"
#include "host/probes.h"

#include <stdarg.h>
#include <sys/prctl.h>

static const struct probe *const tables[] = {
	probes_perf,   probes_bpf,        probes_attach,  probes_tracing,
	probes_system, probes_privileges, probes_symbols,
};

void probe_ctx_init(struct probe_ctx *ctx)
{
	*ctx = (struct probe_ctx){
		.caps = caps_effective(),
		.tracefs = TRACEFS_INIT,
		.counters = -1,
	};
}

void probe_ctx_release(struct probe_ctx *ctx)
{
	for (size_t i = 0; i < ctx->n_closers; i++)
		pthread_join(ctx->closers[i], NULL);
	ctx->n_closers = 0;
	kbtf_free(ctx->btf);
	tracefs_release(&ctx->tracefs);
	if (ctx->counters >= 0)
		close(ctx->counters);
	ctx->btf = NULL;
	ctx->counters = -1;
}

static void *close_thread(void *fd)
{
	close((int)(intptr_t)fd);
	return NULL;
}

void probe_close(struct probe_ctx *ctx, int fd)
{
	if (fd < 0)
		return;
	if (ctx->n_closers < PROBE_CLOSERS &&
	    pthread_create(&ctx->closers[ctx->n_closers], NULL, close_thread,
			   (void *)(intptr_t)fd) == 0)
		ctx->n_closers++;
	else
		close(fd);
}

const struct probe *features_at(size_t i)
{
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		for (const struct probe *p = tables[t]; p->name; p++) {
			if (i-- == 0)
				return p;
		}
	}
	return NULL;
}

const struct probe *features_find(const char *name)
{
	const struct probe *p;

	for (size_t i = 0; (p = features_at(i)); i++) {
		if (streq(p->name, name))
			return p;
	}
	return NULL;
}

const char *features_status_name(enum feature_status status)
{
	switch (status) {
	case FEATURE_WORKS: return "works";
	case FEATURE_PARTLY: return "partly";
	case FEATURE_MISSING: return "missing";
	case FEATURE_UNKNOWN: break;
	}
	return "unknown";
}

static bool is_refusal(int code)
{
	return code == EPERM || code == EACCES;
}

static void needed_caps(const struct probe_ctx *ctx, u64 needs, struct probe_result *res)
{
	_cleanup_buf_ struct buf names = BUF_INIT;
	u64 lacking = 0;

	for (unsigned int cap = 0; cap < 64; cap++) {
		if (needs >> cap & 1 && !caps_allow(ctx->caps, CAP_BIT(cap)))
			lacking |= CAP_BIT(cap);
	}
	caps_list(&names, lacking, " and ", false);
	snprintf(res->detail, sizeof(res->detail), "needs %s", buf_str(&names));
	probe_fix_caps(res, needs);
}

/* A negative errno in the words of a person who wants to know what to do. */
static void explain(const struct probe_ctx *ctx, const struct probe *p, int code,
		    struct probe_result *res)
{
	const char *name = strerrorname_np(code);

	res->status = FEATURE_MISSING;
	res->code = code;
	if (is_refusal(code) && !caps_allow(ctx->caps, p->needs))
		needed_caps(ctx, p->needs, res);
	else if (is_refusal(code))
		snprintf(res->detail, sizeof(res->detail), "refused by this kernel (%s)", name);
	else if (code == EINVAL || code == EOPNOTSUPP || code == ENOSYS || code == ENOTSUP)
		snprintf(res->detail, sizeof(res->detail), "not known to this kernel (%s)", name);
	else
		snprintf(res->detail, sizeof(res->detail), "%s (%s)", err_words(code),
			 name ? name : "?");
}

void features_try(struct probe_ctx *ctx, const struct probe *p, struct probe_result *ret)
{
	int r;

	*ret = (struct probe_result){ 0 };
	r = p->try(ctx, p, ret);
	if (r < 0)
		explain(ctx, p, -r, ret);
	if (!ret->fix[0] && p->fix &&
	    (ret->status == FEATURE_MISSING || ret->status == FEATURE_PARTLY))
		probe_fix(ret, "%s", p->fix);
	if (ret->status == FEATURE_WORKS)
		ret->fix[0] = '\0';
}

#define SET_STATUS(res, value, fmt)                                         \
	do {                                                                \
		va_list ap;                                                 \
		(res)->status = (value);                                    \
		va_start(ap, fmt);                                          \
		vsnprintf((res)->detail, sizeof((res)->detail), (fmt), ap); \
		va_end(ap);                                                 \
	} while (0)

int probe_works(struct probe_result *res, const char *fmt, ...)
{
	SET_STATUS(res, FEATURE_WORKS, fmt);
	return 0;
}

int probe_partly(struct probe_result *res, const char *fmt, ...)
{
	SET_STATUS(res, FEATURE_PARTLY, fmt);
	return 0;
}

int probe_missing(struct probe_result *res, const char *fmt, ...)
{
	SET_STATUS(res, FEATURE_MISSING, fmt);
	return 0;
}

int probe_unknown(struct probe_result *res, const char *fmt, ...)
{
	SET_STATUS(res, FEATURE_UNKNOWN, fmt);
	return 0;
}

void probe_fix(struct probe_result *res, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(res->fix, sizeof(res->fix), fmt, ap);
	va_end(ap);
}

int probe_btf(struct probe_ctx *ctx, struct kbtf **ret)
{
	if (!ctx->btf_tried) {
		ctx->btf_code =
			kernel_types_own() ? kbtf_open_kernel(&ctx->btf, NULL) : -EOPNOTSUPP;
		ctx->btf_tried = true;
	}
	if (!ctx->btf)
		return ctx->btf_code;
	*ret = ctx->btf;
	return 0;
}

int probe_tracefs(struct probe_ctx *ctx, const struct tracefs **ret)
{
	if (!ctx->tracefs_tried) {
		ctx->tracefs_code = tracefs_open(&ctx->tracefs, NULL);
		ctx->tracefs_tried = true;
	}
	if (ctx->tracefs_code < 0)
		return ctx->tracefs_code;
	*ret = &ctx->tracefs;
	return 0;
}

void probe_fix_caps(struct probe_result *res, u64 needs)
{
	_cleanup_buf_ struct buf names = BUF_INIT;

	res->caps = needs;
	caps_list(&names, needs, ",", true);
	if (geteuid() == 0)
		probe_fix(res, "the container or service must grant %s", buf_str(&names));
	else
		probe_fix(res, "run as root, or setcap %s+ep fathom", buf_str(&names));
}

static int make_counter(struct probe_ctx *ctx, u32 *ret)
{
	const struct bpfsys_map map = {
		.type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(u32),
		.value_size = PROBE_COUNTERS * sizeof(u64),
		.max_entries = 1,
		.name = "fathom_count",
	};

	if (ctx->counters < 0) {
		int fd = bpfsys_map_create(&map);

		if (fd < 0)
			return fd;
		ctx->counters = fd;
	}
	if (ctx->n_counters >= PROBE_COUNTERS)
		return -ENOSPC;
	*ret = ctx->n_counters++;
	return 0;
}

int probe_load_counting(struct probe_ctx *ctx, const struct bpfsys_prog *prog, s32 value,
			u32 *ret_counter)
{
	struct bpfsys_prog p = *prog;
	u32 counter = 0;
	int r = make_counter(ctx, &counter);
	/* r1 = &counter; r2 = 1; lock *(u64 *)r1 += r2; r0 = value; exit */
	const struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE,
		  .imm = ctx->counters },
		{ .imm = (s32)(counter * sizeof(u64)) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 1 },
		{ .code = BPF_STX | BPF_DW | BPF_ATOMIC,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_2,
		  .imm = BPF_ADD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = value },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	if (r < 0)
		return r;
	p.insns = insns;
	p.n_insns = ARRAY_SIZE(insns);
	p.name = "fathom_trial";
	r = bpfsys_prog_load(&p);
	if (r >= 0)
		*ret_counter = counter;
	return r;
}

u64 probe_counted(const struct probe_ctx *ctx, u32 counter)
{
	u64 values[PROBE_COUNTERS] = { 0 };
	u32 key = 0;

	if (counter >= PROBE_COUNTERS || ctx->counters < 0 ||
	    bpfsys_map_lookup(ctx->counters, &key, values) < 0)
		return 0;
	return values[counter];
}

void probe_rename_self(void)
{
	char name[16] = "";

	if (prctl(PR_GET_NAME, name) == 0)
		prctl(PR_SET_NAME, name);
}
