/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/folded.h"

void folded_next(struct buf *out, size_t line)
{
	if (out->len > line)
		buf_addch(out, ';');
}

void folded_clean(struct buf *out, size_t from)
{
	for (size_t i = from; i < out->len; i++) {
		if (out->data[i] == ';')
			out->data[i] = ':';
		else if (out->data[i] == '\n')
			out->data[i] = ' ';
	}
}

void folded_name(struct buf *out, size_t line, const char *name)
{
	size_t from;

	folded_next(out, line);
	from = out->len;
	buf_addstr(out, name);
	folded_clean(out, from);
}

void folded_weight(struct buf *out, u64 weight)
{
	buf_addch(out, ' ');
	buf_addu(out, weight);
	buf_addch(out, '\n');
}
