/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a program: parsed, formatted, and compiled as far as that goes without the kernel.
 * The first byte says which; the rest is the program.
 */
#include "base/buf.h"
#include "base/err.h"
#include "lang/lang.h"

enum { FUZZ_MOST = 1 << 14 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const params[] = { "1", "text" };
	struct lang_opts opts = { .params = params, .n_params = 2, .unsafe = true };
	struct buf out = BUF_INIT, diagnostics = BUF_INIT;
	struct err e = ERR_INIT;
	struct lang *l = NULL;
	const char *text = (const char *)data + 1;

	if (size < 2 || size > FUZZ_MOST)
		return 0;
	if (data[0] & 1) {
		lang_format_source("fuzz", text, size - 1, &out, &diagnostics, &e);
	} else if (lang_compile("fuzz", text, size - 1, &opts, &l, &diagnostics, &e) == 0) {
		lang_dump(l, &out);
		lang_free(l);
	}
	err_release(&e);
	buf_release(&out);
	buf_release(&diagnostics);
	return 0;
}
