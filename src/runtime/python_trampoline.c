/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runtime/python_trampoline.h"

#include "host/procfs.h"
#include "host/mappings.h"

/* sub rsp, 8; call rcx; add rsp, 8; ret */
static const u8 trampoline[] = { 0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3 };
#define RANGE_MAX (4ull << 30) /* stretches farther apart than this are not all seen */

bool python_is_trampoline(const u8 *code, size_t n)
{
	return n >= sizeof(trampoline) && !memcmp(code, trampoline, sizeof(trampoline));
}

static bool begins_with_one(int pid, u64 address)
{
	u8 code[sizeof(trampoline)];

	return procfs_memory(pid, address, code, sizeof(code)) == 0 &&
	       python_is_trampoline(code, sizeof(code));
}

int python_trampolines(int pid, struct code_rows *ret, struct err *e)
{
	_cleanup_(mappings_release) struct mappings maps = { 0 };
	/* inside of the call, where all but a few samples are; rbp is not touched */
	struct unwind_rule called = { .cfa = UNWIND_CFA_SP, .cfa_off = 16 };
	static const struct unwind_rule none = { .cfa = UNWIND_CFA_END };
	int rc = mappings_read(&maps, pid, e);

	if (rc)
		return rc;
	vec_clear(&ret->rows);
	vec_each(m, &maps.items) {
		if (!m->exec || m->ino || m->path[0] || !begins_with_one(pid, m->start))
			continue;
		if (ret->rows.len && m->end - ret->rows.items[0].address > RANGE_MAX)
			break;
		code_rows_add(ret, m->start, &called);
		code_rows_add(ret, m->end, &none);
	}
	if (!ret->rows.len)
		return err_set(e, ENOENT, "process %d has no trampolines", pid);
	ret->start = ret->rows.items[0].address;
	ret->end = vec_last(&ret->rows)->address;
	return 0;
}
