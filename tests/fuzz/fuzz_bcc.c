/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as probes of bcc's argdist and trace: they are refused, or become a program. */
#include "lang/bcc/argdist.h"
#include "lang/bcc/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_argdist(const char *text, bool is_hist)
{
	struct arena arena = { 0 };
	struct buf out = BUF_INIT;
	struct argdist_probe probe;

	if (argdist_parse(&probe, &arena, text, is_hist, NULL) == 0)
		argdist_program(&probe, 0, "", true, &out, NULL);
	argdist_release(&probe);
	buf_release(&out);
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bcc_trace_opts opts = { .tid = 1, .kernel_stack = true, .max_events = 3 };
	struct buf out = BUF_INIT, header = BUF_INIT;
	const char *probes[1];
	char *text;

	if (!size || size > 1 << 16)
		return 0;
	text = xstrndup((const char *)data, size);
	as_argdist(text, data[0] & 1);
	probes[0] = text;
	if (bcc_trace_is_probe(text))
		bcc_trace_program(probes, 1, &opts, &out, &header, NULL);
	buf_release(&out);
	buf_release(&header);
	free(text);
	return 0;
}
