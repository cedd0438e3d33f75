/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/accounts.h"

#include "base/varint.h"
#include "profile/filter.h"

static const char head[] = "FACC\1";
enum { HEAD = sizeof(head) - 1 };

void accounts_add(struct buf *out, const struct profile_account *a, const char *comm)
{
	size_t n = MIN(strlen(comm), (size_t)ACCOUNT_COMM_MOST);

	if (!out->len)
		buf_add(out, head, HEAD);
	varint_write(out, (u32)a->pid);
	varint_write(out, (u32)a->tid);
	varint_write(out, a->flags);
	varint_write(out, a->begin);
	varint_write(out, a->end - a->begin);
	varint_write(out, a->oncpu);
	varint_write(out, a->blocked);
	varint_write(out, a->runq);
	varint_write(out, a->unknown);
	varint_write(out, n);
	buf_add(out, comm, n);
}

static bool read_one(struct profile *p, const u8 **at, const u8 *end)
{
	char comm[ACCOUNT_COMM_MOST + 1] = { 0 };
	u64 v[10];

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		if (!varint_read(at, end, &v[i]))
			return false;
	}
	if (v[0] > INT32_MAX || v[1] > INT32_MAX || v[2] > UINT32_MAX || v[4] > UINT64_MAX - v[3] ||
	    v[9] > ACCOUNT_COMM_MOST || v[9] > (u64)(end - *at))
		return false;
	memcpy(comm, *at, v[9]);
	*at += v[9];
	vec_push(&p->accounts, (struct profile_account){
				       .pid = (s32)v[0],
				       .tid = (s32)v[1],
				       .flags = (u32)v[2],
				       .comm = profile_string(p, comm),
				       .begin = v[3],
				       .end = v[3] + v[4],
				       .oncpu = v[5],
				       .blocked = v[6],
				       .runq = v[7],
				       .unknown = v[8],
			       });
	return true;
}

int accounts_read(struct profile *p, const void *bytes, size_t n, struct err *e)
{
	const u8 *at = bytes, *end = at + n;
	size_t before = p->accounts.len;

	if (n < HEAD || memcmp(bytes, head, HEAD) != 0)
		return err_set(e, EBADMSG, "these are no accounts of threads");
	at += HEAD;
	while (at < end) {
		if (p->accounts.len - before < ACCOUNTS_MOST && read_one(p, &at, end))
			continue;
		p->accounts.len = before;
		return err_set(e, EBADMSG, "the accounts of threads are damaged");
	}
	return 0;
}

void accounts_filter(struct profile *p, const struct load_opts *o)
{
	size_t n = 0;

	if (o->time_from || o->time_to || o->dsos || o->symbols || (o->cpus && o->cpus->len))
		p->accounts.len = 0;
	for (size_t i = 0; i < p->accounts.len; i++) {
		const struct profile_account *a = &p->accounts.items[i];

		if (filter_id(o->pids, (u32)a->pid) && filter_id(o->tids, (u32)a->tid) &&
		    (!o->comms || filter_name(o->comms, profile_str(p, a->comm))))
			p->accounts.items[n++] = *a;
	}
	p->accounts.len = n;
}
