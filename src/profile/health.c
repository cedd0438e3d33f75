/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/health.h"

#include "base/fmt.h"
#include "base/hash.h"
#include "profile/machine.h"
#include "recording/recording.h"
#include "unwind/unwind.h"

enum { HEALTH_VERSION = 2, CUT_REASONS = 3 };

/* The section: this head, processes, cuts, the reason. Little endian, as x86 and arm write it. */
struct packed_head {
	u32 version;
	u32 how;
	u32 n_ends;
	u32 n_processes;
	u32 n_cuts;
	u32 why_len;
	u64 tables;
	u64 table_bytes;
	u64 lost;
	u64 rescues_lost;
};

/* At the end, from version 2 on. */
struct packed_checks {
	u64 recognised, checked, misrecognised;
};

struct packed_process {
	s32 pid;
	u32 pad;
	char comm[HEALTH_COMM];
	u64 samples, frames, fp_steps, rescued, copied;
}; /* n_ends counters follow */

struct packed_cut {
	s32 pid;
	u32 end;
	u64 ip;
	u64 count;
};

void health_release(struct health *h)
{
	vec_release(&h->processes);
	vec_release(&h->cuts);
	map_release(&h->process_ids);
	map_release(&h->cut_ids);
	intern_release(&h->strings);
	free(h->why);
	h->why = NULL;
}

static struct health_process *process_of(struct health *h, s32 pid, const char *comm)
{
	char name[HEALTH_COMM] = "";
	u64 *at;

	if (comm)
		memcpy(name, comm, strnlen(comm, sizeof(name) - 1));
	if (h->processes.len >= HEALTH_PROCESSES_MOST) {
		pid = 0;
		memset(name, 0, sizeof(name));
	}
	at = map_at(&h->process_ids, hash_mix(hash_str(name), (u32)pid));
	if (!*at) {
		struct health_process *p = vec_new(&h->processes);

		p->pid = pid;
		memcpy(p->comm, name, sizeof(name));
		*at = h->processes.len;
	}
	return &h->processes.items[*at - 1];
}

static void add_cut(struct health *h, const struct health_sample *s)
{
	u64 key = hash_mix(hash_mix(s->last_ip, (u32)s->pid), s->end);
	u64 *at = map_find(&h->cut_ids, key);

	if (at) {
		h->cuts.items[*at - 1].count++;
		return;
	}
	if (h->cuts.len >= HEALTH_CUTS_MOST)
		return;
	vec_push(&h->cuts, (struct health_cut){ s->pid, s->end, s->last_ip, 1, 0 });
	map_put(&h->cut_ids, key, h->cuts.len);
}

static bool is_early(u32 end)
{
	return end != UNWIND_END_ROOT && end != UNWIND_END_NONE && end != UNWIND_END_NO_REGS &&
	       end != UNWIND_END_EXEC;
}

void health_add(struct health *h, const struct health_sample *s)
{
	struct health_process *p = process_of(h, s->pid, s->comm);
	u32 end = s->end < UNWIND_END_COUNT ? s->end : UNWIND_END_NONE;

	p->samples++;
	p->frames += s->frames;
	p->fp_steps += s->fp_steps;
	p->rescued += s->rescued;
	p->copied += s->copied;
	p->ends[end]++;
	h->ends[end]++;
	if (is_early(end) && s->last_ip)
		add_cut(h, s);
}

u64 health_complete(const struct health *h)
{
	return h->ends[UNWIND_END_ROOT];
}

u64 health_user_stacks(const struct health *h)
{
	u64 n = h->ends[UNWIND_END_ROOT];

	for (u32 i = 0; i < UNWIND_END_COUNT; i++)
		n += is_early(i) ? h->ends[i] : 0;
	return n;
}

/* --- bytes ------------------------------------------------------------------------------------ */

void health_pack(const struct health *h, struct buf *out)
{
	const char *why = h->why ? h->why : "";
	const struct packed_head head = {
		.version = HEALTH_VERSION,
		.how = h->how,
		.n_ends = UNWIND_END_COUNT,
		.n_processes = (u32)h->processes.len,
		.n_cuts = (u32)h->cuts.len,
		.why_len = (u32)MIN(strlen(why), (size_t)HEALTH_WHY_MOST),
		.tables = h->tables,
		.table_bytes = h->table_bytes,
		.lost = h->lost,
		.rescues_lost = h->rescues_lost,
	};

	buf_add(out, &head, sizeof(head));
	vec_each(p, &h->processes) {
		struct packed_process to = { .pid = p->pid,
					     .samples = p->samples,
					     .frames = p->frames,
					     .fp_steps = p->fp_steps,
					     .rescued = p->rescued,
					     .copied = p->copied };

		memcpy(to.comm, p->comm, sizeof(to.comm));
		buf_add(out, &to, sizeof(to));
		buf_add(out, p->ends, sizeof(p->ends));
	}
	vec_each(c, &h->cuts) {
		const struct packed_cut to = { c->pid, c->end, c->ip, c->count };

		buf_add(out, &to, sizeof(to));
	}
	buf_add(out, why, head.why_len);
	const struct packed_checks checks = { h->recognised, h->checked, h->misrecognised };

	buf_add(out, &checks, sizeof(checks));
}

struct cursor {
	const u8 *p;
	size_t left;
};

static bool take(struct cursor *c, void *to, size_t n)
{
	if (c->left < n)
		return false;
	memcpy(to, c->p, n);
	c->p += n;
	c->left -= n;
	return true;
}

static bool take_process(struct health *h, struct cursor *c, u32 n_ends)
{
	struct packed_process from;
	struct health_process p = { 0 };
	u64 count;

	if (!take(c, &from, sizeof(from)))
		return false;
	p.pid = from.pid;
	memcpy(p.comm, from.comm, sizeof(p.comm) - 1);
	p.samples = from.samples;
	p.frames = from.frames;
	p.fp_steps = from.fp_steps;
	p.rescued = from.rescued;
	p.copied = from.copied;
	/* reasons from later versions are counted as unknown */
	for (u32 i = 0; i < n_ends; i++) {
		if (!take(c, &count, sizeof(count)))
			return false;
		p.ends[i < UNWIND_END_COUNT ? i : UNWIND_END_UNSUP] += count;
	}
	for (u32 i = 0; i < UNWIND_END_COUNT; i++)
		h->ends[i] += p.ends[i];
	vec_push(&h->processes, p);
	return true;
}

static bool take_cut(struct health *h, struct cursor *c)
{
	struct packed_cut from;

	if (!take(c, &from, sizeof(from)))
		return false;
	vec_push(&h->cuts,
		 (struct health_cut){ from.pid,
				      from.end < UNWIND_END_COUNT ? from.end : UNWIND_END_UNSUP,
				      from.ip, from.count, 0 });
	return true;
}

static bool take_all(struct health *h, struct cursor *c)
{
	struct packed_checks checks;
	struct packed_head head;

	if (!take(c, &head, sizeof(head)) || head.version - 1 >= HEALTH_VERSION ||
	    head.n_ends > 256 || head.n_processes > HEALTH_PROCESSES_MOST + 1 ||
	    head.n_cuts > HEALTH_CUTS_MOST || head.why_len > HEALTH_WHY_MOST)
		return false;
	h->how = head.how;
	h->tables = head.tables;
	h->table_bytes = head.table_bytes;
	h->lost = head.lost;
	h->rescues_lost = head.rescues_lost;
	for (u32 i = 0; i < head.n_processes; i++) {
		if (!take_process(h, c, head.n_ends))
			return false;
	}
	for (u32 i = 0; i < head.n_cuts; i++) {
		if (!take_cut(h, c))
			return false;
	}
	if (c->left < head.why_len)
		return false;
	h->why = head.why_len ? xstrndup((const char *)c->p, head.why_len) : NULL;
	c->p += head.why_len;
	c->left -= head.why_len;
	if (head.version < 2)
		return true;
	if (!take(c, &checks, sizeof(checks)))
		return false;
	h->recognised = checks.recognised;
	h->checked = checks.checked;
	h->misrecognised = checks.misrecognised;
	return true;
}

int health_unpack(struct health *ret, const void *bytes, size_t n)
{
	struct health h = { 0 };
	struct cursor c = { bytes, n };

	if (!take_all(&h, &c)) {
		health_release(&h);
		return -EBADMSG;
	}
	*ret = h;
	return 0;
}

/* --- from a recording ------------------------------------------------------------------------- */

static int on_record(const struct record *r, void *machine)
{
	if (r->type != PERF_RECORD_SAMPLE)
		machine_record(machine, r);
	return 0;
}

/* What the processes had mapped when they were seen last. */
static void find_files(struct health *h, struct machine *m)
{
	vec_each(c, &h->cuts) {
		const struct process *p = machine_process(m, c->pid);
		const struct mapping *map = machine_mapping(p, c->ip - 1);

		if (map && map->path[0])
			c->path = intern_str(&h->strings, map->path);
	}
}

/* After the replay: a recording from a pipe tells it last. */
static int take_section(struct health *ret, const struct recording *rec, const char *path,
			struct err *e)
{
	const struct recording_blob *blob =
		recording_info_blob(recording_info(rec), FEATURE_HEALTH);

	if (!blob)
		return err_set(e, ENODATA, "'%s' does not say how its stacks were unwound", path);
	if (health_unpack(ret, blob->data, blob->size) < 0)
		return err_set(e, EBADMSG, "'%s' is damaged: its section on stacks is cut", path);
	return 0;
}

int health_load(struct health *ret, const char *path, struct err *e)
{
	struct recording *rec = NULL;
	struct symbols *symbols;
	struct machine m;
	int rc = recording_open(path, &rec, e);

	if (rc < 0)
		return rc;
	symbols = symbols_new(NULL);
	machine_init(&m, symbols);
	(void)recording_replay(rec, on_record, &m, NULL);
	rc = take_section(ret, rec, path, e);
	if (rc >= 0)
		find_files(ret, &m);
	machine_release(&m);
	symbols_free(symbols);
	recording_free(rec);
	return rc;
}

void health_text(const struct health *h, struct buf *out)
{
	switch (h->how) {
	case HEALTH_KERNEL:
		buf_addf(out, "unwound in the kernel by CFI tables (%llu files, ",
			 (unsigned long long)h->tables);
		buf_addf(out, "%.1f MB)", (double)h->table_bytes / 1e6);
		break;
	case HEALTH_COPIES: buf_addstr(out, "copied and unwound by CFI tables"); break;
	case HEALTH_FP: buf_addstr(out, "by frame pointers"); break;
	default: break;
	}
}

/* The commonest reason for which stacks ended early, but those in @done; 0: none. */
static u32 next_reason(const struct health *h, u32 done)
{
	u32 best = 0;

	for (u32 i = 0; i < UNWIND_END_COUNT; i++) {
		if (is_early(i) && !(done >> i & 1) && h->ends[i] > (best ? h->ends[best] : 0))
			best = i;
	}
	return best;
}

/* Why stacks are not complete: by what they were followed, or how they ended. */
static void cut_text(const struct health *h, struct buf *out)
{
	u32 done = 0, i;

	if (h->how == HEALTH_FP) {
		buf_addf(out, "frame pointers were followed%s%s", h->why ? " because " : "",
			 h->why ? h->why : "");
		return;
	}
	for (int n = 0; n < CUT_REASONS && (i = next_reason(h, done)); n++) {
		buf_addf(out, "%s%s (%llu)", n ? ", " : "", unwind_end_text(i),
			 (unsigned long long)h->ends[i]);
		done |= 1u << i;
	}
}

void health_facts(const struct health *h, bool whole, struct profile *p)
{
	_cleanup_buf_ struct buf text = BUF_INIT, cuts = BUF_INIT;
	u64 users = health_user_stacks(h), samples = 0;

	p->stacks_recognised = h->recognised;
	p->stacks_checked = h->checked;
	p->stacks_misrecognised = h->misrecognised;
	health_text(h, &text);
	if (text.len)
		p->unwinder = profile_string(p, buf_str(&text));
	cut_text(h, &cuts);
	if (cuts.len)
		p->cuts = profile_string(p, buf_str(&cuts));
	for (u32 i = 0; i < STACK_END_COUNT; i++)
		samples += p->stack_ends[i];
	/* other events of the recording may have other stacks: then names are more reliable */
	if (!whole || !users || samples < users)
		return;
	u64 none =
		h->ends[UNWIND_END_NONE] + h->ends[UNWIND_END_NO_REGS] + h->ends[UNWIND_END_EXEC];

	if (samples != users + none)
		return;
	p->stack_ends[STACK_ROOT] = health_complete(h);
	p->stack_ends[STACK_CUT] = users - health_complete(h);
	p->stack_ends[STACK_NO_USER] = none;
}
