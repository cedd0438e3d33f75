/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run-time code of processes: rows that are made, and made again, as its machine describes it. */
#include "unwind/feed_state.h"

#include <bpf/bpf.h>
#include <signal.h>

#include "base/clock.h"
#include "runtime/python_trampoline.h"

enum {
	MAX_PROGRAMS = 4096, /* processes with run-time code that are remembered */
	MIN_PAGE_ROWS = 16,
};
#define GONE_NS      (30 * NSEC_PER_SEC)
#define WATCH_NS     NSEC_PER_SEC /* between two looks at what processes made */
#define REST_MOST_NS (500 * NSEC_PER_MSEC)
enum {
	WATCH_SHARE = 100, /* ... which may take this part of the time, ... */
	LOOK_SHARE = 2,    /* ... and those at one process because of code that is new, half */
};

void feed_program_free(struct feed_program *p)
{
	if (!p)
		return;
	hotspot_release(&p->hotspot);
	code_rows_release(&p->trampolines);
	mapwatch_release(&p->map);
	free(p->room);
	free(p);
}

static struct feed_program *find_program(const struct unwind_feed *f, u32 pid)
{
	vec_each(p, &f->programs) {
		if ((*p)->pid == pid)
			return *p;
	}
	return NULL;
}

static void drop_program(struct unwind_feed *f, u32 pid)
{
	const struct unwind_key key = { .ino = pid, .dev = UNWIND_CODE_DEV };

	for (size_t i = 0; i < f->programs.len; i++) {
		if (f->programs.items[i]->pid != pid)
			continue;
		feed_begin_change(f);
		bpf_map_delete_elem(f->maps.bins, &key);
		feed_end_change(f);
		feed_program_free(f->programs.items[i]);
		f->programs.items[i] = vec_pop(&f->programs);
		return;
	}
}

void feed_drop_programs(struct unwind_feed *f)
{
	while (f->programs.len)
		drop_program(f, f->programs.items[0]->pid);
}

/* Processes that ended a while ago: all that was sampled of them has been unwound. */
static void drop_gone(struct unwind_feed *f)
{
	u64 now = clock_mono_ns();

	for (size_t i = f->programs.len; i--;) {
		struct feed_program *p = f->programs.items[i];

		if (!kill((pid_t)p->pid, 0) || errno != ESRCH) {
			p->gone = 0;
		} else if (!p->gone) {
			p->gone = now;
			hotspot_ended(&p->hotspot);
		} else if (now - p->gone > GONE_NS) {
			drop_program(f, p->pid);
		}
	}
}

static struct feed_program *new_program(struct unwind_feed *f, u32 pid, u64 program)
{
	struct feed_program *p = xcalloc(1, sizeof(*p));
	drop_gone(f);
	bool java = !hotspot_init(&p->hotspot, (int)pid, NULL);

	p->pid = pid;
	p->bin.version.size = program;
	p->hotspot.names = &f->names;
	mapwatch_init(&p->map, (pid_t)pid);
	if (java)
		p->code = &p->hotspot.code;
	else if (!python_trampolines((int)pid, &p->trampolines, NULL))
		p->code = &p->trampolines;
	if (f->programs.len == MAX_PROGRAMS)
		drop_program(f, f->programs.items[0]->pid);
	vec_push(&f->programs, p);
	f->next_watch = 0; /* of what it makes from now on the times are known */
	return p;
}

/* Room for the table of all code that the machine may ever make. */
static int reserve_code(struct unwind_feed *f, struct feed_program *p, struct err *e)
{
	u64 base = p->code->start & ~(u64)((1 << UNWIND_PAGE_BITS) - 1);
	u32 pages = (u32)((p->code->end - base + (1 << UNWIND_PAGE_BITS) - 1) >> UNWIND_PAGE_BITS);
	int rc = pool_take(&f->pool, 2 * pages, false, &p->bin.dir, e);

	if (rc)
		return rc;
	for (u32 i = 0; i < 2 * pages; i++)
		*pool_row(&f->pool, p->bin.dir + i) = 0;
	p->bin.base = base;
	p->bin.pages = pages;
	free(p->room);
	p->room = xcalloc(pages, sizeof(*p->room));
	return 0;
}

/*
 * Rows [first, last) are in @page, and @rule is in force at its beginning. While it is written the
 * page is as if nothing were known about it.
 */
static int write_code_page(struct unwind_feed *f, struct feed_program *p, u32 page, u32 first,
			   u32 last, const struct unwind_rule *rule, struct err *e)
{
	struct unwind_page to = pool_page(&f->pool, p->bin.dir, page);
	u32 need = last - first + 1, n = 0;
	u64 base = p->bin.base + ((u64)page << UNWIND_PAGE_BITS);
	const struct code_row *rows = p->code->rows.items;

	if (first == last && rule->cfa == UNWIND_CFA_END && !rule->aux && !to.count)
		return 0;
	if (need > UNWIND_PAGE_ROWS)
		return err_set(e, E2BIG, "too many frames in a page of java code");
	pool_set_page(&f->pool, p->bin.dir, page, (struct unwind_page){ .first = to.first });
	if (need > p->room[page]) {
		u32 room = MIN(MAX(need * 2, (u32)MIN_PAGE_ROWS), (u32)UNWIND_PAGE_ROWS);
		int rc = pool_take(&f->pool, room, true, &to.first, e);

		if (rc)
			return rc;
		p->room[page] = room;
	}
	if (first == last || rows[first].address != base)
		*pool_row(&f->pool, to.first + n++) = pool_rule_id(&f->pool, rule);
	for (u32 i = first; i < last; i++)
		*pool_row(&f->pool, to.first + n++) =
			(u32)(rows[i].address - base) << 16 | pool_rule_id(&f->pool, &rows[i].rule);
	to.count = n;
	pool_set_page(&f->pool, p->bin.dir, page, to);
	return 0;
}

static int change_code_page(struct unwind_feed *f, struct feed_program *p, u32 page, u32 first,
			    u32 last, const struct unwind_rule *rule, struct err *e)
{
	int rc;

	feed_begin_change(f);
	rc = write_code_page(f, p, page, first, last, rule, e);
	feed_end_change(f);
	return rc;
}

static int write_code(struct unwind_feed *f, struct feed_program *p, struct err *e)
{
	const struct code_row *rows = p->code->rows.items;
	static const struct unwind_rule none = { .cfa = UNWIND_CFA_END };
	const struct unwind_rule *rule = &none;
	u32 at = 0, n = (u32)p->code->rows.len;

	while (at < n && rows[at].address < p->bin.base)
		at++;
	for (u32 page = 0; page < p->bin.pages; page++) {
		u64 end = p->bin.base + ((u64)(page + 1) << UNWIND_PAGE_BITS);
		u32 first = at;

		while (at < n && rows[at].address < end)
			at++;
		int rc = change_code_page(f, p, page, first, at, rule, e);

		if (rc)
			return rc;
		if (at > first)
			rule = &rows[at - 1].rule;
	}
	return 0;
}

static int refresh_code(struct feed_program *p, struct err *e)
{
	if (!p->code)
		return 0;
	return p->code == &p->trampolines ? python_trampolines((int)p->pid, &p->trampolines, e)
					  : hotspot_refresh(&p->hotspot, e);
}

/* A process of which nothing is known is published, too: the kernel stops asking. */
static int publish_code(struct unwind_feed *f, struct feed_program *p, struct err *e)
{
	const struct unwind_key key = { .ino = p->pid, .dev = UNWIND_CODE_DEV };
	const u64 end = p->bin.base + ((u64)p->bin.pages << UNWIND_PAGE_BITS);
	int rc = 0;

	if (p->code && (!p->room || p->code->start < p->bin.base || p->code->end > end))
		rc = reserve_code(f, p, e);
	if (!rc && p->code)
		rc = write_code(f, p, e);
	if (rc)
		return rc;
	feed_begin_change(f);
	rc = bpf_map_update_elem(f->maps.bins, &key, &p->bin, BPF_ANY) ? -errno : 0;
	feed_end_change(f);
	return rc ? err_sys(e, rc, "cannot publish the rules of process %u", p->pid) : 0;
}

/* The process runs another program now: what its perf map had is replaced by what it will have. */
static struct feed_program *replace_program(struct unwind_feed *f, struct feed_program *old,
					    u32 pid, u64 program)
{
	struct mapwatch map = { 0 };
	struct feed_program *p;
	const bool known = old;

	if (old) {
		map = old->map;
		mapwatch_init(&old->map, (pid_t)pid);
		drop_program(f, pid);
	}
	p = new_program(f, pid, program);
	if (known) {
		mapwatch_release(&p->map);
		p->map = map;
	}
	return p;
}

int feed_code(struct unwind_feed *f, u32 pid, u64 program, struct err *e)
{
	struct feed_program *p = find_program(f, pid);
	const u64 now = clock_mono_ns();
	int rc;

	if (!p || p->bin.version.size != program)
		p = replace_program(f, p, pid, program);
	if (now < p->rests)
		return 0; /* it is asked for again */
	p->looked = now;
	rc = refresh_code(p, e);
	if (!rc)
		rc = publish_code(f, p, e);
	p->rests = now + MIN((clock_mono_ns() - now) * LOOK_SHARE, (u64)REST_MOST_NS);
	return rc;
}

static const struct unwind_rule *code_rule(const struct unwind_feed *f,
					   const struct feed_program *p, u64 pc)
{
	const struct unwind_rule *r = p->room && pc >= p->bin.base
					      ? pool_search(&f->pool, &p->bin, pc - p->bin.base)
					      : NULL;

	return r == &f->pool.rules[UNWIND_RULE_END] ? NULL : r;
}

const struct unwind_rule *unwind_feed_code_rule(struct unwind_feed *f, u32 pid, u64 pc, u64 time)
{
	const struct feed_program *p = find_program(f, pid);
	const struct unwind_rule *r = p ? code_rule(f, p, pc) : NULL;

	if (r || !p || !p->code || p->looked > time)
		return r;
	feed_code(f, pid, p->bin.version.size, NULL);
	/* that may have replaced the program's entry */
	p = find_program(f, pid);
	return p ? code_rule(f, p, pc) : NULL;
}

/* Code that is where other code was is not asked for: the kernel has rules for the address. */
void unwind_feed_watch(struct unwind_feed *f, bool now)
{
	const u64 begin = clock_mono_ns();
	u64 took;

	if (!now && begin < f->next_watch)
		return;
	drop_gone(f);
	for (size_t i = f->programs.len; i--;) {
		struct feed_program *p = f->programs.items[i];

		mapwatch_look(&p->map, &f->map_base, &f->names);
		if (p->code == &p->hotspot.code)
			hotspot_check_methods(&p->hotspot);
		if (p->code == &p->hotspot.code && !p->gone &&
		    !hotspot_refresh(&p->hotspot, NULL) && p->hotspot.changed)
			(void)publish_code(f, p, NULL);
	}
	took = clock_mono_ns() - begin;
	f->next_watch = begin + took + MAX(WATCH_NS, took * WATCH_SHARE);
}

void unwind_feed_methods(struct unwind_feed *f, u32 pid, const u64 *words, size_t n)
{
	struct feed_program *p = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!unwind_method(words[i]))
			continue;
		if (!p)
			p = find_program(f, pid);
		if (!p || p->code != &p->hotspot.code)
			return;
		hotspot_name_word(&p->hotspot, words[i]);
	}
}
