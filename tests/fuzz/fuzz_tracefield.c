/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tracepoint's format and the data of a sample, both arbitrary; a 0 byte between them. */
#include "profile/tracefield.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *symbol(void *ctx, u64 address, u64 *ret_start)
{
	(void)ctx;
	*ret_start = address & ~0xffull;
	return address & 1 ? "symbol" : NULL;
}

static const char head[] = "name: x\nID: 1\nformat:\n"
			   "field:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			   "field:int a;\toffset:4;\tsize:4;\tsigned:1;\n"
			   "field:unsigned long b;\toffset:8;\tsize:8;\tsigned:0;\n"
			   "field:char c[8];\toffset:16;\tsize:8;\tsigned:0;\n"
			   "field:__data_loc char[] d;\toffset:24;\tsize:4;\tsigned:0;\n"
			   "field:__rel_loc u32[] e;\toffset:28;\tsize:4;\tsigned:0;\n"
			   "field:u8 f[16];\toffset:32;\tsize:16;\tsigned:0;\n"
			   "print fmt: ";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tracefield_env env = { .swap = size & 1, .symbol = symbol };
	_cleanup_buf_ struct buf text = BUF_INIT, out = BUF_INIT;
	const uint8_t *raw = size ? memchr(data + 1, 0, size - 1) : NULL;
	struct tracefield *t;

	if (!raw || size > 16384)
		return 0;
	/* every other input is only the expression */
	if (data[0] & 1)
		buf_addstr(&text, head);
	buf_add(&text, data + 1, (size_t)(raw - data - 1));
	raw++;
	if (tracefield_new(text.data, text.len, &t, NULL) < 0)
		return 0;
	size -= (size_t)(raw - data);
	/* a copy of its own: reading past its end is seen */
	_cleanup_free_ uint8_t *copy = xmemdup(raw, size);

	tracefield_print(t, &env, copy, (u32)size, &out);
	tracefield_print_pairs(t, &env, copy, (u32)size, &out);
	for (size_t i = 0; tracefield_name(t, i); i++)
		tracefield_print_field(t, &env, tracefield_name(t, i), i & 1, copy, (u32)size,
				       &out);
	tracefield_free(t);
	return 0;
}
