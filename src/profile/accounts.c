/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/accounts.h"

#include "base/map.h"
#include "base/varint.h"
#include "profile/filter.h"
#include "recording/recording.h"

static const char old_head[] = "FACC\1", head[] = "FACC\2";
enum { HEAD = sizeof(head) - 1 };

enum { PART_THREAD = 1, PART_CGROUP = 2, PART_PERIOD = 3, PART_MIN = 4 };
enum { THREAD_COMM = 10, THREAD_CGROUP = 17, THREAD_FIELDS };
enum { CGROUP_NUMBER = 1, CGROUP_PATH = 2, CGROUP_PATH_MOST = 4096 };

/* --- writing ---------------------------------------------------------------------------------- */

void accounts_begin(struct buf *out, u64 wait_period, u64 wait_min)
{
	buf_add(out, head, HEAD);
	wire_u64(out, PART_PERIOD, wait_period);
	wire_u64(out, PART_MIN, wait_min);
}

void accounts_add_cgroup(struct buf *out, u64 number, const char *path)
{
	_cleanup_buf_ struct buf m = BUF_INIT;

	wire_u64(&m, CGROUP_NUMBER, number);
	wire_bytes(&m, CGROUP_PATH, path, MIN(strlen(path), (size_t)CGROUP_PATH_MOST));
	wire_message(out, PART_CGROUP, &m);
}

void accounts_add(struct buf *out, const struct profile_account *a, const char *comm, u64 cgroup)
{
	const u64 v[THREAD_FIELDS] = {
		0,        (u32)a->pid, (u32)a->tid,    a->flags,   a->begin, a->end - a->begin,
		a->oncpu, a->blocked,  a->runq,        a->unknown, 0,        a->utime,
		a->stime, a->switches, a->preemptions, a->minor,   a->major, cgroup,
	};
	_cleanup_buf_ struct buf m = BUF_INIT;

	for (u32 i = 1; i < THREAD_FIELDS; i++) {
		if (i == THREAD_COMM)
			wire_bytes(&m, i, comm, MIN(strlen(comm), (size_t)ACCOUNT_COMM_MOST));
		else
			wire_u64(&m, i, v[i]);
	}
	wire_message(out, PART_THREAD, &m);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool fill_account(struct profile *p, const u64 *v, const char *comm)
{
	if (v[1] > INT32_MAX || v[2] > INT32_MAX || v[3] > UINT32_MAX || v[5] > UINT64_MAX - v[4])
		return false;
	vec_push(&p->accounts, (struct profile_account){
				       .pid = (s32)v[1],
				       .tid = (s32)v[2],
				       .flags = (u32)v[3],
				       .comm = profile_string(p, comm),
				       .begin = v[4],
				       .end = v[4] + v[5],
				       .oncpu = v[6],
				       .blocked = v[7],
				       .runq = v[8],
				       .unknown = v[9],
				       .utime = v[11],
				       .stime = v[12],
				       .switches = v[13],
				       .preemptions = v[14],
				       .minor = v[15],
				       .major = v[16],
			       });
	return true;
}

static bool read_old(struct profile *p, const u8 **at, const u8 *end)
{
	char comm[ACCOUNT_COMM_MOST + 1] = { 0 };
	u64 v[THREAD_FIELDS] = { 0 }, n;

	for (size_t i = 1; i < THREAD_COMM; i++) {
		if (!varint_read(at, end, &v[i]))
			return false;
	}
	if (!varint_read(at, end, &n) || n > ACCOUNT_COMM_MOST || n > (u64)(end - *at))
		return false;
	memcpy(comm, *at, n);
	*at += n;
	return fill_account(p, v, comm);
}

/* Until all parts are read: a later one may have the name of the group. */
static u32 cgroup_number(struct profile *p, u64 number)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	buf_addf(&text, "[%llu]", (unsigned long long)number);
	return profile_string(p, buf_str(&text));
}

static bool read_thread(struct profile *p, const struct wire_field *part)
{
	struct wire w = wire_of(part->data, part->len);
	char comm[ACCOUNT_COMM_MOST + 1] = { 0 };
	u64 v[THREAD_FIELDS] = { 0 };
	struct wire_field f;
	int rc;

	while ((rc = wire_next(&w, &f)) > 0) {
		if (f.number == THREAD_COMM && f.type == WIRE_BYTES && f.len <= ACCOUNT_COMM_MOST)
			memcpy(comm, f.data, f.len);
		else if (f.number < THREAD_FIELDS && f.type == WIRE_VARINT)
			v[f.number] = f.value;
	}
	if (rc < 0 || p->accounts.len >= ACCOUNTS_MOST || !fill_account(p, v, comm))
		return false;
	vec_last(&p->accounts)->counted = true;
	vec_last(&p->accounts)->cgroup = cgroup_number(p, v[THREAD_CGROUP]);
	return true;
}

static bool read_cgroup(struct profile *p, struct map *names, const struct wire_field *part)
{
	struct wire w = wire_of(part->data, part->len);
	_cleanup_buf_ struct buf path = BUF_INIT;
	struct wire_field f;
	u64 number = 0;
	int rc;

	while ((rc = wire_next(&w, &f)) > 0) {
		if (f.number == CGROUP_NUMBER && f.type == WIRE_VARINT)
			number = f.value;
		else if (f.number == CGROUP_PATH && f.type == WIRE_BYTES)
			buf_add(&path, f.data, MIN(f.len, (size_t)CGROUP_PATH_MOST));
	}
	map_put(names, cgroup_number(p, number), profile_string(p, buf_str(&path)));
	return rc >= 0;
}

/* Parts that are not known are of versions to come. */
static bool read_parts(struct profile *p, struct map *names, const u8 *at, size_t n)
{
	struct wire w = wire_of(at, n);
	struct wire_field f;
	bool good = true;
	int rc = 0;

	while (good && (rc = wire_next(&w, &f)) > 0) {
		if (f.number == PART_THREAD && f.type == WIRE_BYTES)
			good = read_thread(p, &f);
		else if (f.number == PART_CGROUP && f.type == WIRE_BYTES)
			good = read_cgroup(p, names, &f);
		else if (f.number == PART_PERIOD && f.type == WIRE_VARINT)
			p->wait_period = f.value;
		else if (f.number == PART_MIN && f.type == WIRE_VARINT)
			p->wait_min = f.value;
	}
	return good && rc >= 0;
}

static void name_cgroups(struct profile *p, size_t first, const struct map *names)
{
	for (size_t i = first; i < p->accounts.len; i++) {
		struct profile_account *a = &p->accounts.items[i];

		a->cgroup = (u32)map_get(names, a->cgroup, a->cgroup);
	}
}

static int read_section(struct profile *p, struct map *names, const void *bytes, size_t n,
			struct err *e)
{
	const u8 *at = bytes, *end = at + n;
	size_t before = p->accounts.len;
	bool good = true;

	if (n >= HEAD && memcmp(bytes, head, HEAD) == 0) {
		good = read_parts(p, names, at + HEAD, n - HEAD);
	} else if (n >= HEAD && memcmp(bytes, old_head, HEAD) == 0) {
		at += HEAD;
		while (good && at < end)
			good = p->accounts.len - before < ACCOUNTS_MOST && read_old(p, &at, end);
	} else {
		return err_set(e, EBADMSG, "not thread accounts");
	}
	if (good)
		return 0;
	p->accounts.len = before;
	return err_set(e, EBADMSG, "the accounts of threads are damaged");
}

int accounts_read(struct profile *p, const void *bytes, size_t n, struct err *e)
{
	size_t first = p->accounts.len;
	struct map names = MAP_INIT;
	int rc = read_section(p, &names, bytes, n, e);

	name_cgroups(p, first, &names);
	map_release(&names);
	return rc;
}

/* a broken section costs the lifetimes of threads, which is said, and nothing else */
static void take(struct accounts_source *s, struct profile *p, const void *bytes, size_t n)
{
	if (read_section(p, &s->cgroups, bytes, n, NULL) < 0)
		p->bad_records++;
}

void accounts_record(struct accounts_source *s, struct profile *p, const struct record *r)
{
	struct record_piece piece;

	if (r->type == RECORD_HEADER_EVENT_TYPE && record_piece(r, &piece) == 0 &&
	    piece.feature == FEATURE_ACCOUNTS)
		take(s, p, piece.data, piece.size);
}

void accounts_take(struct accounts_source *s, struct profile *p, const struct recording *r)
{
	const struct recording_blob *blob =
		recording_info_blob(recording_info(r), FEATURE_ACCOUNTS);

	/* a file that was cut has no section, nor the accounts of threads that lived on */
	if (blob)
		take(s, p, blob->data, blob->size);
	else
		p->accounts.len = 0;
	name_cgroups(p, 0, &s->cgroups);
	map_release(&s->cgroups);
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
