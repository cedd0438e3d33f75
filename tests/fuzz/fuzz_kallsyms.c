/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the kallsyms text, as its cache and as the names that a recording carries. */
#include "symbol/kallsyms_cache.h"
#include "symbol/symbol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct symbols *s, u64 address)
{
	const char *module;
	struct symbol sym;

	if (symbols_kernel(s, address, &sym, &module) && (!sym.size || !*module))
		abort();
}

static void look_up_all(const struct kallsyms *k)
{
	for (size_t i = 0; i < k->spans.len; i++) {
		const struct kallsyms_symbol *s = kallsyms_find(k, k->spans.starts[i]);

		if (s && (s->end <= s->start || strlen(k->names + s->name) > 1 << 20))
			abort();
	}
}

/* What is read from disk, and what we would write there. */
static void packed(const uint8_t *data, size_t size)
{
	struct buf bytes = BUF_INIT;
	struct kallsyms k;

	if (kallsyms_unpack(&k, data, size) == 0) {
		look_up_all(&k);
		kallsyms_release(&k);
	}
	kallsyms_parse(&k, (const char *)data, size);
	kallsyms_pack(&k, &bytes);
	kallsyms_release(&k);
	if (kallsyms_unpack(&k, bytes.data, bytes.len) < 0)
		abort();
	look_up_all(&k);
	kallsyms_release(&k);
	buf_release(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct symbols_opts opts = { .offline = true, .no_cache = true };
	struct symbols *s = symbols_new(&opts);
	struct buf blob = BUF_INIT;
	struct source_frame frames[SOURCE_MAX_FRAMES];
	struct symbol sym;

	packed(data, size);
	symbols_set_kallsyms(s, (const char *)data, size);
	for (u64 at = 0; at < 64; at++)
		ask(s, at ? UINT64_MAX >> at : 0);
	if (symbols_code_import(s, data, size, NULL) == 0)
		(void)symbols_jit(s, 1, 0, NULL, 0x1000, 1, &sym);
	if (symbols_import(s, data, size, NULL) == 0)
		for (u32 m = 1; m <= symbols_module_count(s); m++)
			for (u64 at = 0; at < 4096; at += 16)
				(void)symbols_lookup(s, m, at, &sym);
	if (symbols_lines_import(s, data, size, NULL) == 0)
		for (u32 m = 1; m <= symbols_module_count(s); m++)
			for (u64 at = 0; at < 64; at++)
				(void)symbols_lines(s, m, at, frames, ARRAY_SIZE(frames));
	symbols_export(s, &blob);
	/* What we write we can read. */
	if (symbols_import(s, blob.data, blob.len, NULL) < 0)
		abort();
	buf_reset(&blob);
	symbols_lines_export(s, &blob);
	if (blob.len && symbols_lines_import(s, blob.data, blob.len, NULL) < 0)
		abort();
	buf_release(&blob);
	symbols_free(s);
	return 0;
}
