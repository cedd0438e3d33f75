/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records other than samples as lines, as perf's --show-*-events has them. */
#include "view/script_state.h"

#include "base/fmt.h"

#include <sys/mman.h>

typedef unsigned long long ull;

static void show_mmap(struct buf *b, const struct record *r)
{
	struct record_mmap m;

	if (record_mmap(r, &m) < 0)
		return;
	buf_addf(b, " %d/%d: [%#llx(%#llx) @ %#llx", (s32)m.pid, (s32)m.tid, (ull)m.addr,
		 (ull)m.len, (ull)m.pgoff);
	if (r->type == PERF_RECORD_MMAP) {
		buf_addf(b, "]: %c %s\n", r->misc & PERF_RECORD_MISC_MMAP_DATA ? 'r' : 'x',
			 m.filename);
		return;
	}
	if (m.build_id_size) {
		buf_addstr(b, " <");
		fmt_hex(b, m.build_id, m.build_id_size);
		buf_addch(b, '>');
	} else {
		buf_addf(b, " %02x:%02x %llu %llu", m.maj, m.min, (ull)m.ino,
			 (ull)m.ino_generation);
	}
	buf_addf(b, "]: %c%c%c%c %s\n", m.prot & PROT_READ ? 'r' : '-',
		 m.prot & PROT_WRITE ? 'w' : '-', m.prot & PROT_EXEC ? 'x' : '-',
		 m.flags & MAP_SHARED ? 's' : 'p', m.filename);
}

static void show_comm(struct buf *b, const struct record *r)
{
	struct record_comm c;

	if (record_comm(r, &c) >= 0)
		buf_addf(b, "%s: %s:%d/%d\n", c.exec ? " exec" : "", c.comm, (s32)c.pid,
			 (s32)c.tid);
}

static void show_task(struct buf *b, const struct record *r)
{
	struct record_task t;

	if (record_task(r, &t) >= 0)
		buf_addf(b, "(%d:%d):(%d:%d)\n", (s32)t.pid, (s32)t.tid, (s32)t.ppid, (s32)t.ptid);
}

static void show_namespaces(struct buf *b, const struct record *r)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	struct record_namespaces n;

	if (record_namespaces(r, &n) < 0)
		return;
	buf_addf(b, " %d/%d - nr_namespaces: %u\n\t\t[", (s32)n.pid, (s32)n.tid, (u32)n.nr);
	for (u64 i = 0; i < n.nr; i++)
		buf_addf(b, "%s%u/%s: %llu/%#llx%s", i && i % 4 == 0 ? "\n\t\t " : "", (u32)i,
			 i < ARRAY_SIZE(names) ? names[i] : "unknown", (ull)n.all[i].dev,
			 (ull)n.all[i].ino, i + 1 < n.nr ? ", " : "]\n");
}

static void show_switch(struct buf *b, const struct record *r)
{
	struct record_switch w;
	const char *how;

	if (record_switch(r, &w) < 0)
		return;
	how = !w.out ? "IN         " : w.preempt ? "OUT preempt" : "OUT        ";
	if (r->type == PERF_RECORD_SWITCH)
		buf_addf(b, " %s\n", how);
	else
		buf_addf(b, " %s  %s pid/tid: %5d/%-5d\n", how, w.out ? "next" : "prev",
			 (s32)w.next_prev_pid, (s32)w.next_prev_tid);
}

static void show_lost(struct buf *b, const struct record *r)
{
	struct record_lost l;

	if (record_lost(r, &l) >= 0)
		buf_addf(b, " lost %llu\n", (ull)l.lost);
}

static void show_ksymbol(struct buf *b, const struct record *r)
{
	struct record_ksymbol k;

	if (record_ksymbol(r, &k) >= 0)
		buf_addf(b, " addr %llx len %u type %u flags 0x%x name %s\n", (ull)k.addr, k.len,
			 k.type, k.unregister ? 1 : 0, k.name);
}

static void show_bpf(struct buf *b, const struct record *r)
{
	struct record_bpf p;

	if (record_bpf(r, &p) >= 0)
		buf_addf(b, " type %u, flags %u, id %u\n", p.type, p.flags, p.id);
}

static void show_cgroup(struct buf *b, const struct record *r)
{
	struct record_cgroup c;

	if (record_cgroup(r, &c) >= 0)
		buf_addf(b, " cgroup: %llu %s\n", (ull)c.id, c.path);
}

struct side {
	u32 type;
	u32 show; /* enum script_show */
	void (*write)(struct buf *b, const struct record *r);
};

static const struct side sides[] = {
	{ PERF_RECORD_MMAP, SCRIPT_SHOW_MMAP, show_mmap },
	{ PERF_RECORD_MMAP2, SCRIPT_SHOW_MMAP, show_mmap },
	{ PERF_RECORD_COMM, SCRIPT_SHOW_TASK, show_comm },
	{ PERF_RECORD_FORK, SCRIPT_SHOW_TASK, show_task },
	{ PERF_RECORD_EXIT, SCRIPT_SHOW_TASK, show_task },
	{ PERF_RECORD_NAMESPACES, SCRIPT_SHOW_NAMESPACE, show_namespaces },
	{ PERF_RECORD_SWITCH, SCRIPT_SHOW_SWITCH, show_switch },
	{ PERF_RECORD_SWITCH_CPU_WIDE, SCRIPT_SHOW_SWITCH, show_switch },
	{ PERF_RECORD_LOST, SCRIPT_SHOW_LOST, show_lost },
	{ PERF_RECORD_LOST_SAMPLES, SCRIPT_SHOW_LOST, show_lost },
	{ PERF_RECORD_KSYMBOL, SCRIPT_SHOW_BPF, show_ksymbol },
	{ PERF_RECORD_BPF_EVENT, SCRIPT_SHOW_BPF, show_bpf },
	{ PERF_RECORD_CGROUP, SCRIPT_SHOW_CGROUP, show_cgroup },
};

/* Whose record it is: its own words before the id fields after it. */
static void whose(const struct record *r, struct script_who *who)
{
	struct record_mmap m;
	struct record_comm c;
	struct record_task t;
	struct record_namespaces n;

	switch (r->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		if (record_mmap(r, &m) < 0)
			return;
		who->known = m.tid != RECORD_NO_PID;
		who->pid = (s32)m.pid;
		who->tid = (s32)m.tid;
		/* the kernel's own: no thread, pid -1 and tid 0 */
		if (m.pid == RECORD_NO_PID)
			who->known = true;
		break;
	case PERF_RECORD_COMM:
		if (record_comm(r, &c) >= 0) {
			who->pid = (s32)c.pid;
			who->tid = (s32)c.tid;
		}
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (record_task(r, &t) >= 0) {
			who->pid = (s32)t.pid;
			who->tid = (s32)t.tid;
		}
		break;
	case PERF_RECORD_NAMESPACES:
		if (record_namespaces(r, &n) >= 0) {
			who->pid = (s32)n.pid;
			who->tid = (s32)n.tid;
		}
		break;
	default: break;
	}
}

static void show(struct script *s, const struct record *r, const struct script_event *ev,
		 const struct side *side)
{
	struct script_event shown = *ev;
	struct script_who who = {
		.pid = (s32)r->pid,
		.tid = (s32)r->tid,
		.known = r->tid != RECORD_NO_PID,
		.cpu = r->has & PERF_SAMPLE_CPU ? r->cpu : 0,
		.time = r->time,
		.type = r->type,
		.misc = r->misc,
	};
	struct script_who thread = who;

	/* the name is that of the thread in the record, the numbers those after it */
	whose(r, &thread);
	shown.fields &= SCRIPT_COMM;
	script_line_start(s, &shown, &thread);
	shown.fields = ev->fields & ~(u64)SCRIPT_COMM;
	script_line_start(s, &shown, &who);
	buf_addf(&s->out, "PERF_RECORD_%s", record_type_name(r->type));
	side->write(&s->out, r);
}

void script_side(struct script *s, const struct record *r, const struct script_event *ev)
{
	for (size_t i = 0; i < ARRAY_SIZE(sides); i++)
		if (sides[i].type == r->type && sides[i].show & s->opts->show)
			show(s, r, ev, &sides[i]);
}

bool script_side_text(struct buf *out, const struct record *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(sides); i++)
		if (sides[i].type == r->type) {
			sides[i].write(out, r);
			return true;
		}
	return false;
}
