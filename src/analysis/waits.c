/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/waits.h"

#include "analysis/calltree.h"
#include "analysis/cpp_name.h"
#include "analysis/hotcold.h"
#include "base/folded.h"
#include "base/hash.h"

/* --- stacks ----------------------------------------------------------------------------------- */

/* The frames of @from upside down on top of @on. */
static u32 stack_inverted(struct profile *p, u32 on, u32 from)
{
	for (; from; from = p->stacks.items[from].parent)
		on = profile_get_stack(p, on, p->stacks.items[from].frame);
	return on;
}

static u32 stack_marker(struct profile *p, u32 on, const char *name)
{
	return profile_get_stack(p, on, wait_marker(p, name));
}

/* What the last waker of a chain did while the others waited. */
static const char *const doing_marks[] = {
	[LINK_UNBORN] = "[not started yet]",
	[LINK_RAN] = "[running]",
	[LINK_RUNNABLE] = "[waiting for a CPU]",
	[LINK_BLOCKED] = NULL,
};

static u32 stack_chain(struct profile *p, const struct wait *w, u32 links)
{
	u32 stack = w->stack;

	for (u32 i = 0; i < w->n_links && i < links; i++) {
		const struct wait_link *l = &w->links[i];

		stack = stack_marker(p, stack, "--");
		stack = stack_inverted(p, stack, l->stack);
		stack = stack_marker(p, stack, profile_str(p, l->comm));
		if (links > 1 && i + 1 == w->n_links && doing_marks[l->doing])
			stack = stack_marker(p, stack, doing_marks[l->doing]);
		if (!l->sleep_stack || links == 1)
			break;
		stack = stack_marker(p, stack, "--");
		stack = stack_inverted(p, stack, l->sleep_stack);
	}
	return stack;
}

/* Root first, the woken one on top. */
static u32 stack_waker(struct profile *p, const struct wait *w)
{
	u32 comm = p->threads.items[w->thread].comm;
	u32 stack = w->n_links ? w->links[0].stack : stack_marker(p, 0, "[waker not seen]");

	return stack_marker(p, stack, profile_str(p, comm));
}

u32 wait_stack(struct profile *p, const struct wait *w, enum wait_view view)
{
	switch (view) {
	case WAIT_VIEW_WAKER: return stack_waker(p, w);
	case WAIT_VIEW_BOTH: return stack_chain(p, w, 1);
	case WAIT_VIEW_CHAIN: return stack_chain(p, w, OFFCPU_LINKS);
	default: return w->stack;
	}
}

/* In the waker's view the samples are the waker's. */
static u32 wait_thread(struct profile *p, const struct wait *w, enum wait_view view)
{
	const struct wait_link *l = &w->links[0];

	if (view != WAIT_VIEW_WAKER)
		return w->thread;
	if (!w->n_links)
		return profile_get_thread(p, 0, 0, profile_string(p, "[unknown]"), 0);
	return profile_get_thread(p, (s32)l->pid, (s32)l->tid, l->comm, 0);
}

void waits_to_profile(struct profile *p, const wait_list *waits, enum wait_view view, bool kinds)
{
	u16 off = profile_get_event(p, OFFCPU_EVENT), runq = profile_get_event(p, RUNQ_EVENT);

	p->events.items[off].unit = p->events.items[runq].unit = profile_string(p, "ns");
	for (size_t i = 0; i < waits->len; i++) {
		const struct wait *w = &waits->items[i];
		struct profile_sample s = {
			.time = w->time,
			.stack = wait_stack(p, w, view),
			.thread = wait_thread(p, w, view),
			.count = (u32)MIN(w->count, (u64)UINT32_MAX),
			.cpu = -1,
		};

		if (w->blocked) {
			s.weight = w->blocked;
			s.event = off;
			if (kinds)
				s.stack = profile_get_stack(
					p, s.stack,
					hotcold_mark(p, (enum hotcold_state)(HOT_KINDS + w->kind)));
			profile_add_sample(p, &s);
		}
		if (w->runq) {
			s.weight = w->runq;
			s.stack = kinds ? profile_get_stack(p, w->stack, hotcold_mark(p, HOT_RUNQ))
					: w->stack;
			s.thread = w->thread;
			s.event = runq;
			profile_add_sample(p, &s);
		}
	}
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Frames that are in every wait: they do not tell waits apart. */
static bool is_plumbing(const struct profile *p, const struct frame *f)
{
	static const char *const kernel[] = { "__schedule",
					      "schedule",
					      "schedule_timeout",
					      "schedule_hrtimeout_range",
					      "schedule_hrtimeout_range_clock",
					      "poll_schedule_timeout.constprop.0",
					      "io_schedule",
					      "io_schedule_timeout",
					      "blk_io_schedule",
					      "wait_woken",
					      "wait_for_completion",
					      "wait_for_completion_io_timeout",
					      "__wait_for_common",
					      "preempt_schedule_common",
					      "preempt_schedule_irq",
					      "do_syscall_64",
					      "x64_sys_call",
					      "entry_SYSCALL_64_after_hwframe",
					      "exit_to_user_mode_loop",
					      "exit_to_user_mode_prepare",
					      "irqentry_exit_to_user_mode",
					      "syscall_exit_to_user_mode",
					      "asm_sysvec_apic_timer_interrupt",
					      "try_to_wake_up",
					      "wake_up_q",
					      "wake_up_process",
					      "default_wake_function",
					      "autoremove_wake_function",
					      "ep_autoremove_wake_function",
					      "ep_poll_callback",
					      "woken_wake_function",
					      "wake_bit_function",
					      "swake_up_locked",
					      "swake_up_one",
					      "complete",
					      "complete_with_flags",
					      "wake_up_state",
					      "signal_wake_up_state",
					      "pollwake",
					      "__wake_up",
					      "__wake_up_common",
					      "__wake_up_common_lock",
					      "__wake_up_locked",
					      "__wake_up_locked_key",
					      "__wake_up_sync",
					      "__wake_up_sync_key",
					      NULL };
	return f->kind == FRAME_KERNEL && streq_any(profile_str(p, f->name), kernel);
}

static bool is_libc(const char *module)
{
	const char *base = strrchr(module, '/');

	base = base ? base + 1 : module;
	return starts_with(base, "libc.so.") || starts_with(base, "libc-2.") ||
	       starts_with(base, "libpthread");
}

/* Compiled code of a program; that of inlined functions, too. */
static bool is_native(const struct frame *f)
{
	return f->kind == FRAME_USER || f->kind == FRAME_INLINED;
}

/* Where every thread begins, and what libc has between its calls and those of the kernel. */
static bool is_frame_of_all(const struct profile *p, const struct frame *f)
{
	static const char *const user[] = { "_start",
					    "__libc_start_main",
					    "__libc_start_main_impl",
					    "__libc_start_call_main",
					    "start_thread",
					    "thread_start",
					    "clone",
					    "clone3",
					    "__clone3",
					    "__futex_abstimed_wait_common",
					    "__futex_abstimed_wait_common64",
					    "__internal_syscall_cancel",
					    "__syscall_cancel",
					    "__syscall_cancel_arch_end",
					    "__lll_lock_wait",
					    "__lll_lock_wake",
					    NULL };

	if (f->kind == FRAME_INLINED)
		return is_libc(profile_str(p, f->module));
	return f->kind == FRAME_USER && streq_any(profile_str(p, f->name), user);
}

/* Of the kernel's frames the innermost is shown, and what it was called for when that is not a
 * call.
 */
static bool is_occasion(const struct profile *p, const struct frame *f)
{
	static const char *const names[] = { "do_exit", "exc_page_fault", "do_signal",
					     "begin_new_exec", NULL };

	return streq_any(profile_str(p, f->name), names);
}

enum { PLACE_FRAMES = 5 };

/* Which frames of a stack are telling, so that the rest can be left out. */
struct place_parts {
	bool named;       /* user frames with names */
	bool interpreted; /* functions of an interpreter's language */
	bool called;      /* the function that made the system call has a name */
	bool own;         /* functions of the program itself, not of a library of its language */
};

/* Code of a language's libraries and machines, between a program and the call that waits. */
static bool is_runtime(const struct profile *p, const struct frame *f)
{
	static const char *const modules[] = { "libjvm.so", "libstdc++.so", "libuv.so",
					       "libgomp.so", "libgcc_s.so" };
	static const char *const names[] = { "runtime.",
					     "std::",
					     "<std::",
					     "core::",
					     "<core::",
					     "tokio::runtime::",
					     "java.util.concurrent.",
					     "java.lang.Thread.",
					     "java.lang.Object.",
					     "jdk.internal." };
	const char *module = profile_str(p, f->module), *name = profile_str(p, f->name);
	const char *base = strrchr(module, '/');

	base = base ? base + 1 : module;
	for (size_t i = 0; is_native(f) && i < ARRAY_SIZE(modules); i++) {
		if (starts_with(base, modules[i]))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (starts_with(name, names[i]))
			return true;
	}
	return is_native(f) && is_libc(module);
}

static struct place_parts place_parts(const struct profile *p, u32 stack)
{
	struct place_parts parts = { 0 };
	bool first = true;

	for (; stack; stack = p->stacks.items[stack].parent) {
		const struct frame *f = profile_frame_of(p, stack);

		if (first && f->kind != FRAME_KERNEL && !is_frame_of_all(p, f)) {
			parts.called = !f->no_name;
			first = false;
		}
		parts.interpreted |= f->kind == FRAME_INTERPRETED;
		if (f->kind == FRAME_KERNEL || f->no_name || is_frame_of_all(p, f))
			continue;
		parts.named = true;
		parts.own |= !is_runtime(p, f);
	}
	return parts;
}

/* The kernel's side of a call that says the same: only its user's name is worth the room. */
static bool is_plain_call(const struct profile *p, const struct frame *f)
{
	static const char *const names[] = { "futex_do_wait",
					     "futex_wait_queue",
					     "futex_wait",
					     "futex_wake",
					     "do_nanosleep",
					     "hrtimer_nanosleep",
					     "do_sys_poll",
					     "do_poll",
					     "do_select",
					     "ep_poll",
					     "do_epoll_wait",
					     "do_wait",
					     "do_sigtimedwait",
					     "__send_signal_locked",
					     NULL };

	return streq_any(profile_str(p, f->name), names);
}

/*
 * The name that programmers use: poll, not __poll; sem_wait, not __new_sem_wait_slow64.constprop.0;
 * of C++ no parameters.
 */
static void place_name(const struct profile *p, const struct frame *f, struct buf *out)
{
	static const char *const made[] = { ".constprop.", ".isra.", ".part.", ".cold", NULL };
	const char *name = profile_str(p, f->name), *rest;
	size_t n = strlen(name);

	buf_reset(out);
	if (is_native(f) && !f->no_name)
		name = cpp_name(name, &n, &rest);
	for (const char *const *m = made; f->kind != FRAME_INTERPRETED && *m; m++) {
		const char *at = strstr(name, *m);

		if (at && at > name)
			n = MIN(n, (size_t)(at - name));
	}
	if (f->kind == FRAME_USER && !f->no_name && is_libc(profile_str(p, f->module))) {
		const char *end = name + n;

		while (name + 1 < end && *name == '_')
			name++;
		rest = starts_with(name, "GI___");
		rest = rest ? rest : starts_with(name, "libc_");
		name = rest && rest < end ? rest : name;
		n = (size_t)(end - name);
		if (starts_with(name, "new_sem_wait")) {
			buf_addstr(out, "sem_wait");
			return;
		}
		if (starts_with(name, "pthread_clockjoin_ex")) {
			buf_addstr(out, "pthread_join");
			return;
		}
	}
	buf_add(out, name, n);
}

/* What an interpreter waits for on its own account: no function of the program says so. */
static bool is_own_lock(const struct profile *p, const struct frame *f)
{
	return streq(profile_str(p, f->name), "take_gil");
}

/* Adds nothing to the shown part of the stack, or to its kind. */
static bool is_left_out(const struct profile *p, const struct frame *f,
			const struct place_parts *parts, u32 kernel, u32 user)
{
	if (is_plumbing(p, f) || is_frame_of_all(p, f))
		return true;
	if (f->kind == FRAME_KERNEL)
		return kernel ? !is_occasion(p, f) : parts->called && is_plain_call(p, f);
	if (is_native(f) && f->no_name && parts->named)
		return true;
	/* of an interpreter only what it calls itself: the rest is how it interprets */
	if (is_native(f) && parts->interpreted)
		return user && !is_own_lock(p, f);
	return user && parts->own && is_runtime(p, f);
}

/* @brief: without the function of the kernel, where the program has a name for the call. */
static void add_place(const struct profile *p, u32 stack, bool brief, struct buf *out)
{
	const struct place_parts parts = place_parts(p, stack);
	_cleanup_buf_ struct buf name = BUF_INIT, last = BUF_INIT;
	u32 shown = 0, kernel = brief && parts.called, user = 0;

	for (; stack && shown < PLACE_FRAMES; stack = p->stacks.items[stack].parent) {
		const struct frame *f = profile_frame_of(p, stack);
		bool out_of_it = is_left_out(p, f, &parts, kernel, user);

		/* the scheduler's own frames do not count */
		kernel += f->kind == FRAME_KERNEL && !is_plumbing(p, f);
		if (out_of_it)
			continue;
		user += f->kind != FRAME_KERNEL;
		/* consecutive frames without a name add nothing to the first */
		place_name(p, f, &name);
		if (f->kind != FRAME_KERNEL && streq(buf_str(&name), buf_str(&last)) &&
		    (f->no_name || is_libc(profile_str(p, f->module))))
			continue;
		buf_reset(&last);
		buf_add(&last, name.data, name.len);
		buf_addf(out, "%s%s", shown++ ? " < " : "", buf_str(&name));
	}
	if (!shown)
		buf_addstr(out, "[no stack]");
}

void wait_place(const struct profile *p, u32 stack, struct buf *out)
{
	add_place(p, stack, false, out);
}

void wait_place_brief(const struct profile *p, u32 stack, struct buf *out)
{
	add_place(p, stack, true, out);
}

static u64 wait_weight(const struct wait *w, bool runq)
{
	return runq ? w->runq : w->blocked;
}

static int by_blocked(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	return x->blocked < y->blocked ? 1 : x->blocked > y->blocked ? -1 : 0;
}

static int by_runq(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	return x->runq < y->runq ? 1 : x->runq > y->runq ? -1 : 0;
}

static void links_text(const struct profile *p, const struct wait *w, enum wait_view view,
		       struct buf *out)
{
	u32 most = view == WAIT_VIEW_CHAIN ? OFFCPU_LINKS : 1;

	for (u32 i = 0; i < w->n_links && i < most; i++) {
		const struct wait_link *l = &w->links[i];

		buf_addf(out, "%s%s", i ? " <- " : "", profile_str(p, l->comm));
		if (view == WAIT_VIEW_CHAIN && i + 1 == w->n_links && doing_marks[l->doing])
			buf_addf(out, " %s", doing_marks[l->doing]);
		if (waker_is_task(l->kind) && view != WAIT_VIEW_CHAIN) {
			buf_addstr(out, ": ");
			wait_place(p, l->stack, out);
		}
	}
}

typedef u64 (*wait_key)(struct profile *p, const struct wait *w, enum wait_view view);

static u64 key_of(const struct wait *w, u64 where)
{
	return hash_mix(hash_mix(w->thread, where),
			(u64)w->state << 32 | (w->flags & (OFFCPU_PREEMPTED | OFFCPU_OPEN)));
}

static u64 key_of_stack(struct profile *p, const struct wait *w, enum wait_view view)
{
	return key_of(w, wait_stack(p, w, view));
}

/* All of a table line but its figures. */
static u64 key_of_text(struct profile *p, const struct wait *w, enum wait_view view)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	links_text(p, w, view, &text);
	buf_addch(&text, '\n');
	if (view != WAIT_VIEW_WAKER)
		wait_place(p, w->stack, &text);
	return key_of(w, hash_bytes(text.data, text.len));
}

static void merge_by(struct profile *p, wait_list *waits, enum wait_view view, wait_key key)
{
	struct map known = MAP_INIT;
	size_t n = 0;

	for (size_t i = 0; i < waits->len; i++) {
		const struct wait *w = &waits->items[i];
		u64 *at = map_at(&known, key(p, w, view));

		if (!*at) {
			waits->items[n++] = *w;
			*at = n;
			continue;
		}
		wait_add(&waits->items[*at - 1], w);
	}
	waits->len = n;
	map_release(&known);
}

u64 waits_drop_idle(wait_list *waits)
{
	u64 idle = 0;
	size_t n = 0;

	vec_each(w, waits) {
		if (wait_is_idle((enum thread_state)w->kind)) {
			idle += w->blocked;
			w->blocked = w->max_blocked = 0;
			/* how long it wanted a CPU then is another matter */
			if (!w->runq)
				continue;
		}
		waits->items[n++] = *w;
	}
	waits->len = n;
	return idle;
}

void waits_merge(struct profile *p, wait_list *waits, enum wait_view view)
{
	merge_by(p, waits, view, key_of_stack);
}

static void fill_wait(struct profile *p, const struct wait *w, enum wait_view view, bool runq,
		      struct result *ret, struct row *r)
{
	const struct profile_thread *th = &p->threads.items[w->thread];
	_cleanup_buf_ struct buf text = BUF_INIT;
	u64 weight = wait_weight(w, runq);

	r->cells[0] = value_u(VALUE_DURATION, weight);
	r->cells[2] = value_u(VALUE_COUNT, w->count);
	r->cells[3] = value_u(VALUE_DURATION, w->count ? weight / w->count : 0);
	r->cells[4] = value_u(VALUE_DURATION, runq ? w->max_runq : w->max_blocked);
	r->cells[5] = value_u(VALUE_DURATION, w->runq);
	r->cells[6] = value_text(ret, wait_state_name(w->state, w->flags));
	r->cells[7] = value_u(VALUE_PID, (u64)th->pid);
	r->cells[8] = value_u(VALUE_PID, (u64)th->tid);
	r->cells[9] = value_text(ret, profile_str(p, th->comm));
	links_text(p, w, view, &text);
	/* the column with the place is not shown */
	if (text.len && view == WAIT_VIEW_WAKER && w->flags & OFFCPU_OPEN)
		buf_addstr(&text, " (it has not run yet)");
	if (text.len)
		r->cells[10] = value_text(ret, buf_str(&text));
	buf_reset(&text);
	wait_place(p, w->stack, &text);
	if (w->flags & OFFCPU_OPEN)
		buf_addstr(&text, " (still going on)");
	r->cells[11] = value_text(ret, buf_str(&text));
}

/* Then its number in each line tells nothing. */
static bool of_one_process(const struct profile *p, const wait_list *waits)
{
	for (size_t i = 1; i < waits->len; i++) {
		if (p->threads.items[waits->items[i].thread].pid !=
		    p->threads.items[waits->items[0].thread].pid)
			return false;
	}
	return true;
}

static void table_of_waits(struct profile *p, const wait_list *waits, enum wait_view view,
			   bool runq, u32 lines, struct result *ret)
{
	static const struct column columns[] = {
		{ "time_ns", "TIME", VALUE_DURATION, 0 },
		{ "percent", "%", VALUE_PERCENT, 0 },
		{ "count", "COUNT", VALUE_COUNT, 0 },
		{ "average_ns", "AVG", VALUE_DURATION, COLUMN_SPARE },
		{ "max_ns", "MAX", VALUE_DURATION, 0 },
		{ "runqueue_ns", "RUNQ", VALUE_DURATION, COLUMN_SPARE },
		{ "state", "S", VALUE_TEXT, COLUMN_SPARE },
		{ "pid", "PID", VALUE_PID, 0 },
		{ "tid", "TID", VALUE_PID, COLUMN_HIDDEN },
		{ "comm", "COMMAND", VALUE_TEXT, 0 },
		{ "waker", "WOKEN BY", VALUE_TEXT, 0 },
		{ "where", "WHERE", VALUE_TEXT, COLUMN_FILL | COLUMN_MAIN },
	};
	struct column own[ARRAY_SIZE(columns)];
	struct table *t;
	u64 total = 0;

	memcpy(own, columns, sizeof(own));
	if (view == WAIT_VIEW_SLEEPER)
		own[10].flags |= COLUMN_HIDDEN;
	if (view == WAIT_VIEW_WAKER) {
		own[10].flags = COLUMN_FILL | COLUMN_MAIN;
		own[11].flags = COLUMN_HIDDEN;
	}
	if (view != WAIT_VIEW_SLEEPER)
		own[5].flags |= COLUMN_HIDDEN;
	/* two texts need the room, and are what is requested */
	if (view == WAIT_VIEW_BOTH || view == WAIT_VIEW_CHAIN)
		own[1].flags = own[4].flags = COLUMN_SPARE;
	if (view == WAIT_VIEW_CHAIN) {
		own[10].flags = COLUMN_FILL | COLUMN_MAIN;
		own[11].flags = 0;
	}
	if (of_one_process(p, waits))
		own[7].flags |= COLUMN_SPARE;
	t = result_table(ret, "waits", NULL, own, ARRAY_SIZE(own));
	for (size_t i = 0; i < waits->len; i++)
		total += wait_weight(&waits->items[i], runq);
	for (size_t i = 0; i < waits->len && (!lines || i < lines); i++) {
		const struct wait *w = &waits->items[i];
		u64 weight = wait_weight(w, runq);
		struct row *r;

		if (!weight)
			break;
		r = table_row(ret, t);
		fill_wait(p, w, view, runq, ret, r);
		r->cells[1] = value_d(VALUE_PERCENT, 100.0 * (double)weight / (double)total);
	}
}

/* --- the tree --------------------------------------------------------------------------------- */

enum { TREE_LINES = 60, TREE_DEPTH = 200 };
#define TREE_SHARE 0.01 /* thinner branches are left out */

static bool node_shown(const struct calltree *t, u32 node)
{
	u64 all = t->nodes.items[0].total;

	return (double)t->nodes.items[node].total >= TREE_SHARE * (double)all;
}

static void tree_line(struct result *ret, struct tree *out, const struct calltree *t, u32 node,
		      u32 depth)
{
	const struct calltree_node *n = &t->nodes.items[node];
	struct tree_node *line = tree_add(ret, out, depth, calltree_name(t, node));

	line->value = n->total;
	line->self = n->self;
	line->percent = 100.0 * (double)n->total / (double)t->nodes.items[0].total;
	if (n->frame && t->profile->frames.items[n->frame].kind == FRAME_KERNEL)
		line->style = STYLE_KERNEL;
}

/* Code without a name in code without a name, and nothing else is called there: one line will do.
 */
static bool says_nothing(const struct calltree *t, u32 node)
{
	const struct calltree_node *n = &t->nodes.items[node], *a = &t->nodes.items[n->parent];
	const struct frame *frames = t->profile->frames.items;

	return n->frame && a->frame && n->total == a->total && frames[n->frame].no_name &&
	       frames[n->frame].name == frames[a->frame].name;
}

struct tree_step {
	u32 node;
	u32 depth;
};

/* Without recursion: a stack may be a thousand frames deep. A single child keeps its depth. */
static void tree_of_waits(struct profile *p, u16 event, struct result *ret)
{
	struct calltree t;
	struct tree *out;
	VEC(struct tree_step) todo = { 0 };

	calltree_init(&t, p, &(struct calltree_opts){ .event = event, .group = GROUP_COMM });
	calltree_sort(&t, ORDER_WEIGHT);
	if (!t.nodes.items[0].total)
		goto out;
	out = result_tree(ret, "stacks", "stacks, root first", VALUE_DURATION);
	vec_push(&todo, (struct tree_step){ 0, 0 });
	while (todo.len && out->nodes.len < TREE_LINES) {
		struct tree_step at = vec_pop(&todo);
		size_t first = todo.len;

		if (at.node && !says_nothing(&t, at.node) &&
		    (!t.nodes.items[at.node].frame ||
		     !is_plumbing(p, &p->frames.items[t.nodes.items[at.node].frame])))
			tree_line(ret, out, &t, at.node, at.depth - 1);
		for (u32 c = t.nodes.items[at.node].first_child; c; c = t.nodes.items[c].next) {
			if (node_shown(&t, c) && at.depth < TREE_DEPTH)
				vec_push(&todo, (struct tree_step){ c, at.depth + 1 });
		}
		/* the heaviest child goes first */
		for (size_t i = first, j = todo.len; i + 1 < j; i++, j--) {
			struct tree_step swap = todo.items[i];

			todo.items[i] = todo.items[j - 1];
			todo.items[j - 1] = swap;
		}
	}
	if (todo.len)
		result_note(ret, NOTE_INFO, NULL,
			    "the stacks go on: --folded, -o x.svg and -o x.html show them all");
out:
	vec_release(&todo);
	calltree_release(&t);
}

void waits_to_result(struct profile *p, wait_list *waits, enum wait_view view, bool runq, u32 lines,
		     struct result *ret)
{
	u64 blocked = 0, waited = 0, count = 0;

	/* first what is the same: that is cheap, and leaves little to compare */
	waits_merge(p, waits, view);
	merge_by(p, waits, view, key_of_text);
	vec_sort(waits, runq ? by_runq : by_blocked);
	vec_each(w, waits) {
		blocked += w->blocked;
		waited += w->runq;
		count += w->count;
	}
	result_fact(ret, "blocked_ns", "blocked", value_u(VALUE_DURATION, blocked));
	result_fact(ret, "runqueue_ns", "waiting for a CPU", value_u(VALUE_DURATION, waited));
	result_fact(ret, "waits", "waits", value_u(VALUE_COUNT, count));
	result_fact(ret, "lost", "lost", value_u(VALUE_COUNT, p->lost_samples));
	table_of_waits(p, waits, view, runq, lines, ret);
	if (!blocked && waited && !runq && view == WAIT_VIEW_SLEEPER)
		result_note(ret, NOTE_INFO, "--runqueue shows them",
			    "nothing was blocked: all waits were for a CPU");
	if (p->samples.len)
		tree_of_waits(p, profile_get_event(p, runq ? RUNQ_EVENT : OFFCPU_EVENT), ret);
}

/* --- folded ----------------------------------------------------------------------------------- */

static void folded_line(const struct profile *p, const char *comm, u32 stack, struct buf *out)
{
	size_t n = profile_depth(p, stack);
	_cleanup_free_ u32 *frames = xcalloc(n + 1, sizeof(*frames));

	folded_name(out, 0, comm);
	n = MIN(profile_frames(p, stack, frames, n), n);
	for (size_t i = 0; i < n; i++)
		folded_name(out, 0, profile_str(p, p->frames.items[frames[i]].name));
}

struct folded {
	u64 weight; /* ns */
	u32 line;   /* interned */
};

static int by_line(const void *a, const void *b, void *lines)
{
	const struct folded *x = a, *y = b;

	return strcmp(intern_get(lines, x->line), intern_get(lines, y->line));
}

void waits_to_folded(struct profile *p, const wait_list *waits, enum wait_view view, bool runq,
		     struct buf *out)
{
	struct intern lines = INTERN_INIT;
	_cleanup_buf_ struct buf text = BUF_INIT;
	VEC(struct folded) all = { 0 };

	for (size_t i = 0; i < waits->len; i++) {
		const struct wait *w = &waits->items[i];
		enum wait_view shown = runq ? WAIT_VIEW_SLEEPER : view;
		u32 thread = wait_thread(p, w, shown), id;

		if (!wait_weight(w, runq))
			continue;
		buf_reset(&text);
		folded_line(p, profile_str(p, p->threads.items[thread].comm),
			    wait_stack(p, w, shown), &text);
		id = intern_bytes(&lines, text.data, text.len);
		if (id > all.len)
			vec_push(&all, (struct folded){ .line = id });
		/* an id that is not new was pushed before */
		all.items[id - 1].weight += wait_weight(w, runq); /* NOLINT */
	}
	if (all.len > 1)
		qsort_r(all.items, all.len, sizeof(*all.items), by_line, &lines);
	vec_each(l, &all) {
		u64 us = l->weight / 1000;

		if (!us)
			continue;
		buf_addstr(out, intern_get(&lines, l->line));
		folded_weight(out, us);
	}
	vec_release(&all);
	intern_release(&lines);
}
