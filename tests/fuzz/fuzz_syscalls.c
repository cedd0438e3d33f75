/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a call that the programs in the kernel sent, with arguments of any form. */
#include "syscalls/decode.h"
#include "syscalls/summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CALL = 3, FORM_BYTES = 3 };

/* A call whose arguments the first bytes choose. */
static size_t make_call(struct syscall *call, const uint8_t *data, size_t size)
{
	size_t used = 0;

	call->known = size && data[0] & 1;
	call->n_args = size ? data[0] % (SYSCALLS_ARGS + 1) : 0;
	for (u32 i = 0; i < call->n_args && used + FORM_BYTES < size; i++) {
		const uint8_t *at = data + 1 + used;

		call->args[i] = (struct syscall_arg){ "x", at[2] & 1 ? "long" : "int",
						      at[0] % ARG_FORMS, at[1], at[2] % 9 };
		used += FORM_BYTES;
	}
	return size ? MIN(used + 1, size) : 0;
}

static void check_text(const struct buf *text)
{
	for (size_t i = 0; i < text->len; i++)
		if ((u8)text->data[i] < 0x20 || (u8)text->data[i] > 0x7e)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct syscall_table table;
	const struct decode_opts opts = { .text = size ? data[size - 1] : 0 };
	union {
		struct syscalls_long record;
		u8 bytes[sizeof(struct syscalls_long)];
	} in = { 0 };
	struct buf out = BUF_INIT;
	struct summary sums = { .by = SUMMARY_THREAD };
	struct decoded d;
	size_t used;

	syscall_table_init(&table);
	used = make_call(&table.calls[CALL], data, size);
	memcpy(in.bytes, data + used, MIN(size - used, sizeof(in.bytes)));
	if (size % 4)
		in.record.e.nr = CALL;
	if (decode_open(&in, MIN(size - used, sizeof(in)), &d)) {
		decode_call(&table, &d, &opts, &out);
		check_text(&out);
		decode_result(&table, &d, &out);
		summary_add_call(&sums, d.event);
	}
	summary_release(&sums);
	buf_release(&out);
	return 0;
}
