/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/nameless.h"

#include "base/map.h"

/* Processes of one runtime whose code is nameless for the same reason. */
struct group {
	u32 runtime, why, hint; /* strings */
	s32 pid;                /* of the first */
	u32 processes;
	u64 frames;
};

struct groups {
	VEC(struct group) list;
	struct map by_pid; /* index + 1 */
};

static void add_process(struct groups *g, const struct profile_nameless *n)
{
	size_t i = 0;

	while (i < g->list.len &&
	       (g->list.items[i].hint != n->hint || g->list.items[i].why != n->why))
		i++;
	if (i == g->list.len)
		vec_push(&g->list, (struct group){ .runtime = n->runtime,
						   .why = n->why,
						   .hint = n->hint,
						   .pid = n->pid });
	g->list.items[i].processes++;
	map_put(&g->by_pid, (u32)n->pid, i + 1);
}

/* Nameless frames of run-time code in each stack: those of its caller, and its own. */
static u32 *count_frames(const struct profile *p)
{
	u32 *n = xcalloc(p->stacks.len + 1, sizeof(*n));

	for (size_t i = 1; i < p->stacks.len; i++) {
		const struct stack *s = &p->stacks.items[i];
		const struct frame *f = &p->frames.items[s->frame];

		n[i] = n[s->parent] + (f->kind == FRAME_JIT && f->no_name);
	}
	return n;
}

static void count_groups(const struct profile *p, struct groups *g)
{
	_cleanup_free_ u32 *frames = count_frames(p);

	vec_each(n, &p->nameless)
		add_process(g, n);
	vec_each(s, &p->samples) {
		u64 i = map_get(&g->by_pid, (u32)p->threads.items[s->thread].pid, 0);

		if (i)
			g->list.items[i - 1].frames += (u64)frames[s->stack] * s->count;
	}
}

static void add_note(const struct profile *p, const struct group *g, struct result *ret)
{
	const char *runtime = profile_str(p, g->runtime), *why = profile_str(p, g->why);
	const char *hint = profile_str(p, g->hint);
	char who[96];

	if (g->processes > 1)
		snprintf(who, sizeof(who), "%s%sprocess %d and %u others", runtime,
			 *runtime ? ", " : "", g->pid, g->processes - 1);
	else
		snprintf(who, sizeof(who), "%s%sprocess %d", runtime, *runtime ? ", " : "", g->pid);
	result_note(ret, NOTE_INFO, *hint ? hint : NULL,
		    "%llu frame%s of run-time code (%s) %s no name: %s",
		    (unsigned long long)g->frames, g->frames == 1 ? "" : "s", who,
		    g->frames == 1 ? "has" : "have",
		    *why ? why : "its perf map does not contain this code");
}

/* --- interpreters ----------------------------------------------------------------------------- */

enum {
	SEEN_LOOP = 1,      /* the loop of a Python */
	SEEN_FUNCTIONS = 2, /* what it runs */
	SEEN_JAVA = 4,      /* the interpreter of a java machine */
	SEEN_STUBS = 8,     /* code that calls all of java */
};

static u8 seen_in(const struct profile *p, const struct frame *f)
{
	const char *name = profile_str(p, f->name);

	if (f->kind == FRAME_INTERPRETED)
		return SEEN_FUNCTIONS;
	if (f->kind == FRAME_JIT)
		return streq(name, "Interpreter")    ? SEEN_JAVA
		       : streq(name, "StubRoutines") ? SEEN_STUBS
						     : 0;
	return f->kind == FRAME_USER && streq(name, "_PyEval_EvalFrameDefault") ? SEEN_LOOP : 0;
}

/* Of each stack: what is in it, its callers included. */
static u8 *see_stacks(const struct profile *p)
{
	u8 *seen = xcalloc(p->stacks.len + 1, sizeof(*seen));

	for (size_t i = 1; i < p->stacks.len; i++) {
		const struct stack *s = &p->stacks.items[i];

		seen[i] = seen[s->parent] | seen_in(p, &p->frames.items[s->frame]);
	}
	return seen;
}

/* Code that java compiled, at the very place of the sample. */
static bool in_java_code(const struct profile *p, const struct profile_sample *s)
{
	const struct frame *f = profile_frame_of(p, s->stack);

	return f->kind == FRAME_JIT ? !f->no_name : f->kind == FRAME_INLINED && !f->file;
}

/* Stacks that show an interpreter instead of the functions that it runs. */
static void interpreter_notes(const struct profile *p, double least, struct result *ret)
{
	_cleanup_free_ u8 *seen = see_stacks(p);
	u64 all = 0, python = 0, java = 0, compiled = 0;

	vec_each(s, &p->samples) {
		u8 what = seen[s->stack];

		all += s->count;
		python += (what & (SEEN_LOOP | SEEN_FUNCTIONS)) == SEEN_LOOP ? s->count : 0;
		java += what & SEEN_JAVA ? s->count : 0;
		compiled += what & SEEN_STUBS && in_java_code(p, s) ? s->count : 0;
	}
	/* other tools' recordings do not have Python's functions at all */
	if (p->unwinder && python && 100.0 * (double)python >= least * (double)all)
		result_note(ret, NOTE_INFO,
			    "stacks that are copied have none: those of a program that starts, "
			    "until the kernel's unwinder is loaded, and of tracepoints",
			    "%llu stacks of Python programs do not show its functions",
			    (unsigned long long)python);
	if (p->unwinder && compiled && 100.0 * (double)compiled >= least * (double)all)
		result_note(
			ret, NOTE_INFO,
			"java -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints records the "
			"exact position",
			"%llu samples of compiled java code are charged to the inlined method of "
			"the next safepoint, unless java runs with DebugNonSafepoints",
			(unsigned long long)compiled);
	if (java && 100.0 * (double)java >= least * (double)all)
		result_note(ret, NOTE_INFO,
			    "fathom record reads them while java runs; perf maps and jitdumps do "
			    "not list them",
			    "%llu stacks have interpreted java methods that were not read: "
			    "they are shown as 'Interpreter'",
			    (unsigned long long)java);
}

void nameless_notes(const struct profile *p, double least, struct result *ret)
{
	struct groups g = { 0 };

	interpreter_notes(p, least, ret);
	if (!p->nameless.len)
		return;
	count_groups(p, &g);
	vec_each(at, &g.list) {
		if (at->frames && 100.0 * (double)at->frames >= least * (double)p->total_frames)
			add_note(p, at, ret);
	}
	vec_release(&g.list);
	map_release(&g.by_pid);
}
