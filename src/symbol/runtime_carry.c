/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of run-time code in a recording: the files that named it are gone with their
 * process, or on another machine.
 *
 * The blob: "FJIT", a byte 2 (version), then until the end of the bytes
 *	pid, time, start, size, flags, name length, name
 * Numbers are ULEB128. Bit 0 of the flags: the name is that of several functions; the rest, for how
 * long after @time it is not sure that the code was there already. Version 1 has no flags.
 */
#include "symbol/carry.h"
#include "runtime/code.h"
#include "symbol/store.h"

enum { CODE_MAX_BLOB = 512 << 20, CODE_MAGIC_LEN = 5 };
#define CODE_MAGIC   "FJIT\2"
#define CODE_MAGIC_1 "FJIT\1"

void symbols_code_pack(struct buf *ret, const struct symbol_code *c)
{
	if (!ret->len)
		buf_add(ret, CODE_MAGIC, CODE_MAGIC_LEN);
	carry_put(ret, (u32)c->pid);
	carry_put(ret, c->time);
	carry_put(ret, c->start);
	carry_put(ret, c->size);
	carry_put(ret, (c->sure > c->time ? c->sure - c->time : 0) << 1 | c->several);
	carry_put_bytes(ret, c->name, strlen(c->name));
}

void symbols_code_export(const struct symbols *s, struct buf *ret)
{
	vec_each(r, &s->runtimes) {
		for (size_t i = 0; i < (*r)->answers.list.len; i++) {
			const struct symbol *sym = &(*r)->answers.list.items[i];
			const struct answer_time *when = &(*r)->times.items[i];

			symbols_code_pack(ret, &(struct symbol_code){ .pid = (*r)->jit.pid,
								      .time = when->time,
								      .sure = when->sure,
								      .several = when->several,
								      .start = sym->start,
								      .size = sym->size,
								      .name = sym->raw_name });
		}
	}
}

/* With @s NULL only checks. */
static void import_code(struct symbols *s, struct carry_blob *b)
{
	const pid_t pid = (pid_t)carry_get(b);
	struct jitdump_entry e = { 0 };
	u64 flags = 0;
	const char *name;
	struct runtime_names *r;
	size_t n;

	e.time = carry_get(b);
	e.start = carry_get(b);
	e.size = carry_get(b);
	if (b->bytes[CODE_MAGIC_LEN - 1] > 1)
		flags = carry_get(b);
	e.several = flags & 1;
	e.sure = e.time + MIN(flags >> 1, UINT64_MAX - e.time);
	name = carry_get_bytes(b, JITDUMP_MAX_NAME, &n);
	r = s && !b->bad ? runtime_names_of(s, pid) : NULL;
	if (r)
		jitdump_add(&r->jit.carried, &e, name, n);
}

int symbols_code_import(struct symbols *s, const void *blob, size_t len, struct err *e)
{
	struct carry_blob b = { .bytes = blob, .len = len, .at = CODE_MAGIC_LEN };

	if (len > CODE_MAX_BLOB || len < CODE_MAGIC_LEN ||
	    (memcmp(blob, CODE_MAGIC, CODE_MAGIC_LEN) != 0 &&
	     memcmp(blob, CODE_MAGIC_1, CODE_MAGIC_LEN) != 0))
		return err_set(e, EBADMSG,
			       "the names of run-time code in the recording have an unknown form");
	while (b.at < b.len && !b.bad)
		import_code(NULL, &b);
	if (b.bad)
		return err_set(e, EBADMSG,
			       "the names of run-time code in the recording are broken at byte %zu",
			       b.at);
	b.at = CODE_MAGIC_LEN;
	while (b.at < b.len)
		import_code(s, &b);
	return 0;
}

size_t symbols_code_take(struct symbols *s, const struct code_names *names, size_t from)
{
	for (; from < names->list.len; from++) {
		const struct code_name *c = &names->list.items[from];
		const struct jitdump_entry e = { .time = c->time,
						 .sure = MAX(c->time, c->sure),
						 .start = c->start,
						 .size = c->size };
		const char *name = intern_get(&names->strings, c->name);
		struct runtime_names *r = runtime_names_of(s, (pid_t)c->pid);

		if (r)
			jitdump_add(&r->jit.carried, &e, name, strlen(name));
	}
	return from;
}
