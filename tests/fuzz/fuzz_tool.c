/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a script with a header block, and as an expression over its columns. */
#include "base/buf.h"
#include "lang/front/header.h"
#include "tool/expr.h"
#include "tool/tool.h"

enum { FUZZ_MOST = 1 << 14 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf text = BUF_INIT, diagnostics = BUF_INIT;
	struct tool *t = NULL;

	if (size > FUZZ_MOST)
		return 0;
	buf_addstr(&text, "/* tool\n");
	buf_add(&text, data, size);
	if (tool_read("fuzz", NULL, &text, &t, &diagnostics, NULL) == 0) {
		struct value *cells = xcalloc(t->header.columns.len + 1, sizeof(*cells));

		vec_each(it, &t->header.columns)
			if (it->expr)
				(void)expr_number(it->expr, &t->header, cells);
		free(cells);
	}
	tool_free(t);
	buf_release(&text);
	buf_release(&diagnostics);
	return 0;
}
