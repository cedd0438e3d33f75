/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/stacks.h"

#include "analysis/nameless.h"
#include "analysis/paths.h"
#include "analysis/report.h"
#include "base/buf.h"
#include "base/hash.h"
#include "profile/load.h"
#include "unwind/unwind.h"

/* Of a stack, up to its root. */
struct path {
	u32 frames; /* of users' code ... */
	u32 named;
	u32 outermost; /* ... and the module of the outermost */
	bool root;
};

struct process_row {
	s32 pid;
	u32 comm;
	u64 samples;
	u64 users;    /* stacks with a user part */
	u64 complete; /* ... that reach the start of their thread */
	u64 frames;   /* of users' stacks */
	u64 named;
	u64 fp_steps, rescued, copied;
	bool counted; /* by the recorder */
	u64 ends[UNWIND_END_COUNT];
};

struct binary_row {
	u32 module; /* string */
	u64 frames;
	u64 named;
	u64 ended; /* stacks that ended here too early */
	u8 kind;   /* enum frame_kind */
	u64 ends[UNWIND_END_COUNT];
};

struct work {
	const struct profile *p;
	const struct health *h;
	VEC(struct process_row) processes;
	VEC(struct binary_row) binaries;
	struct map process_ids; /* pid -> index + 1 */
	struct map binary_ids;  /* string -> index + 1 */
	struct map path_ids;    /* hash of a path -> string of the profile */
	struct process_row all;
	struct path *paths; /* by stack */
	u64 *counts;        /* by stack: of samples */
};

static bool is_early(u32 end)
{
	return end != UNWIND_END_ROOT && end != UNWIND_END_NONE && end != UNWIND_END_NO_REGS &&
	       end != UNWIND_END_EXEC;
}

static struct process_row *process_at(struct work *w, s32 pid)
{
	u64 *at = map_at(&w->process_ids, (u32)pid);

	if (!*at) {
		struct process_row *row = vec_new(&w->processes);

		row->pid = pid;
		*at = w->processes.len;
	}
	return &w->processes.items[*at - 1];
}

static struct binary_row *binary_at(struct work *w, u32 module)
{
	u64 *at = map_at(&w->binary_ids, module);

	if (!*at) {
		struct binary_row *row = vec_new(&w->binaries);

		row->module = module;
		*at = w->binaries.len;
		map_put(&w->path_ids, hash_str(profile_str(w->p, module)), module);
	}
	return &w->binaries.items[*at - 1];
}

/* --- counting --------------------------------------------------------------------------------- */

static bool is_user(const struct frame *f)
{
	return f->kind == FRAME_USER || f->kind == FRAME_JIT || f->kind == FRAME_INTERPRETED;
}

static bool is_counted(const struct frame *f)
{
	return f->kind != FRAME_INLINED && f->kind != FRAME_MARKER;
}

/* A stack's number is above its caller's: one pass. */
static void find_paths(struct work *w)
{
	const struct profile *p = w->p;

	for (u32 i = 1; i < p->stacks.len; i++) {
		const struct frame *f = &p->frames.items[p->stacks.items[i].frame];
		struct path *to = &w->paths[i];

		*to = w->paths[p->stacks.items[i].parent];
		if (!is_counted(f) || !is_user(f))
			continue;
		if (!to->outermost)
			to->outermost = f->module;
		to->frames++;
		to->named += !f->no_name;
		to->root |= f->is_root;
	}
}

static void count_stack(struct work *w, const struct profile_sample *s, struct process_row *row)
{
	const struct path *path = &w->paths[s->stack];

	w->counts[s->stack] += s->count;
	row->frames += s->count * path->frames;
	row->named += s->count * path->named;
	if (!path->outermost)
		return;
	row->users += s->count;
	row->complete += path->root ? s->count : 0;
	if (!path->root && !w->h)
		binary_at(w, path->outermost)->ended += s->count;
}

static void count_binaries(struct work *w)
{
	const struct profile *p = w->p;

	paths_sum(p, w->counts);
	for (u32 i = 1; i < p->stacks.len; i++) {
		const struct frame *f = &p->frames.items[p->stacks.items[i].frame];
		struct binary_row *b;

		if (!is_counted(f) || !w->counts[i])
			continue;
		b = binary_at(w, f->module);
		b->frames += w->counts[i];
		b->named += f->no_name ? 0 : w->counts[i];
		b->kind = f->kind;
	}
}

static void count_profile(struct work *w)
{
	size_t n = MAX(w->p->stacks.len, (size_t)1);

	w->paths = xcalloc(n, sizeof(*w->paths));
	w->counts = xcalloc(n, sizeof(*w->counts));
	find_paths(w);
	vec_each(s, &w->p->samples) {
		const struct profile_thread *t = &w->p->threads.items[s->thread];
		struct process_row *row = process_at(w, t->pid);

		row->samples += s->count;
		/* a process is called as its first thread is, if that one was seen */
		if (!row->comm || t->pid == t->tid)
			row->comm = t->comm;
		count_stack(w, s, row);
	}
	count_binaries(w);
	free(w->paths);
	free(w->counts);
}

/* The recorder's counts are better than what names suggest. */
static void take_process(struct work *w, const struct health_process *from)
{
	struct process_row *row = process_at(w, from->pid);

	if (!row->counted) {
		row->counted = true;
		row->users = row->complete = 0;
	}
	for (u32 i = 0; i < UNWIND_END_COUNT; i++) {
		row->ends[i] += from->ends[i];
		row->users += is_early(i) || i == UNWIND_END_ROOT ? from->ends[i] : 0;
	}
	row->complete += from->ends[UNWIND_END_ROOT];
	row->fp_steps += from->fp_steps;
	row->rescued += from->rescued;
	row->copied += from->copied;
}

static void take_health(struct work *w)
{
	vec_each(from, &w->h->processes)
		take_process(w, from);
	vec_each(c, &w->h->cuts) {
		const char *path = intern_get(&w->h->strings, c->path);
		u32 module = (u32)map_get(&w->path_ids, hash_str(path), 0);
		struct binary_row *b = binary_at(w, module);

		b->ended += c->count;
		b->ends[c->end] += c->count;
	}
}

static void sum_up(struct work *w)
{
	vec_each(row, &w->processes) {
		w->all.samples += row->samples;
		w->all.users += row->users;
		w->all.complete += row->complete;
		w->all.frames += row->frames;
		w->all.named += row->named;
		w->all.fp_steps += row->fp_steps;
		w->all.rescued += row->rescued;
		for (u32 i = 0; i < UNWIND_END_COUNT; i++)
			w->all.ends[i] += row->ends[i];
	}
}

/* --- words ------------------------------------------------------------------------------------ */

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The commonest early end; UNWIND_END_NONE: there is none. */
static u32 main_reason(const u64 *ends)
{
	u32 best = UNWIND_END_NONE;

	for (u32 i = 0; i < UNWIND_END_COUNT; i++) {
		if (is_early(i) && ends[i] && (best == UNWIND_END_NONE || ends[i] > ends[best]))
			best = i;
	}
	return best;
}

static const char *fix_for(u32 end)
{
	switch (end) {
	case UNWIND_END_NO_TABLE: return "fathom prebuild makes tables ahead of time";
	case UNWIND_END_BAD_FP:
		return "run-time code: node --perf-basic-prof --interpreted-frames-native-stack, "
		       "java -XX:+PreserveFramePointer";
	case UNWIND_END_READ:
		return "memory that was not in RAM, or deeper than the copy of the stack";
	case UNWIND_END_DEPTH: return "deeper than 1,024 frames: the innermost are shown";
	case UNWIND_END_NO_MAP:
	case UNWIND_END_BAD_SP: return "hand-written code without frame information";
	case UNWIND_END_UNSUP:
	case UNWIND_END_REG: return "frame information that only an expression describes";
	default: return NULL;
	}
}

static struct value how_value(const struct work *w, const struct process_row *row,
			      struct result *ret)
{
	const char *main_way = w->h && w->h->how == HEALTH_FP ? "frame pointers" : "CFI";
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (!row->counted)
		return value_text(ret, w->h ? "frame pointers" : NULL);
	buf_addstr(&b, main_way);
	if (percent(row->fp_steps, row->frames) >= 0.5)
		buf_addf(&b, ", %.0f%% fp", percent(row->fp_steps, row->frames));
	if (row->rescued)
		buf_addf(&b, ", %.0f%% late", percent(row->rescued, row->samples));
	if (row->copied)
		buf_addf(&b, ", %.0f%% copied", percent(row->copied, row->samples));
	return value_text(ret, buf_str(&b));
}

/* --- tables ----------------------------------------------------------------------------------- */

static const struct column process_columns[] = {
	{ "pid", "PID", VALUE_PID, 0 },
	{ "comm", "COMMAND", VALUE_TEXT, 0 },
	{ "samples", "SAMPLES", VALUE_COUNT, 0 },
	{ "complete_percent", "COMPLETE", VALUE_PERCENT, 0 },
	{ "mean_depth", "DEPTH", VALUE_NUMBER, COLUMN_SPARE },
	{ "named_percent", "NAMED", VALUE_PERCENT, 0 },
	{ "how", "UNWOUND BY", VALUE_TEXT, 0 },
	{ "ended", "ENDED EARLY BY", VALUE_TEXT, COLUMN_FILL },
	{ "fix", "FIX", VALUE_TEXT, COLUMN_HIDDEN },
	{ "fp_frames", "FP FRAMES", VALUE_COUNT, COLUMN_HIDDEN },
	{ "late", "LATE", VALUE_COUNT, COLUMN_HIDDEN },
	{ "copied", "COPIED", VALUE_COUNT, COLUMN_HIDDEN },
	{ "user_stacks", "USER STACKS", VALUE_COUNT, COLUMN_HIDDEN },
	{ "complete", "COMPLETE", VALUE_COUNT, COLUMN_HIDDEN },
};

static void add_process(struct work *w, const struct process_row *row, struct table *t,
			struct result *ret)
{
	u32 reason = main_reason(row->ends);
	struct row *out = table_row(ret, t);
	struct value *c = out->cells;

	c[0] = value_u(VALUE_PID, (u32)row->pid);
	c[1] = value_text(ret, row->comm ? profile_str(w->p, row->comm) : "");
	c[2] = value_u(VALUE_COUNT, row->samples);
	if (row->users) {
		c[3] = value_d(VALUE_PERCENT, percent(row->complete, row->users));
		c[4] = value_d(VALUE_NUMBER, (double)row->frames / (double)row->users);
		c[5] = value_d(VALUE_PERCENT, percent(row->named, row->frames));
		c[6] = how_value(w, row, ret);
	}
	if (reason) {
		c[7] = value_textf(ret, "%s (%llu)", unwind_end_text(reason),
				   (unsigned long long)row->ends[reason]);
		c[8] = value_text(ret, fix_for(reason));
	}
	c[9] = value_u(VALUE_COUNT, row->fp_steps);
	c[10] = value_u(VALUE_COUNT, row->rescued);
	c[11] = value_u(VALUE_COUNT, row->copied);
	c[12] = value_u(VALUE_COUNT, row->users);
	c[13] = value_u(VALUE_COUNT, row->complete);
	out->style = row->users && row->complete * 100 < row->users * 95 ? STYLE_WARN : STYLE_NONE;
}

static const struct column binary_columns[] = {
	{ "module", "BINARY", VALUE_TEXT, 0 },
	{ "frames", "FRAMES", VALUE_COUNT, 0 },
	{ "named_percent", "NAMED", VALUE_PERCENT, 0 },
	{ "ended", "ENDED", VALUE_COUNT, 0 },
	{ "reason", "BY", VALUE_TEXT, 0 },
	{ "names_from", "NAMES FROM", VALUE_TEXT, COLUMN_FILL },
	{ "fix", "FIX", VALUE_TEXT, COLUMN_HIDDEN },
	{ "path", "PATH", VALUE_TEXT, COLUMN_HIDDEN },
};

/* Where the names of a file come from, and what would give more of them. */
static void names_of(struct symbols *symbols, const struct binary_row *b, const char *path,
		     struct result *ret, struct value *from, const char **fix)
{
	struct module_info info;
	struct symbol symbol;

	if (b->kind == FRAME_KERNEL) {
		*from = value_text(ret, b->named ? "kallsyms" : "nowhere");
		return;
	}
	if (b->kind == FRAME_JIT || b->kind == FRAME_INTERPRETED)
		*from = value_text(ret, b->named ? "its run time" : "nowhere");
	if (!symbols || path[0] != '/')
		return;
	u32 module = symbols_module(symbols, &(struct module_key){ .path = path });

	(void)symbols_lookup(symbols, module, 0, &symbol);
	if (!symbols_module_info(symbols, module, &info))
		return;
	if (info.debug_file)
		*from = value_text(ret, info.debug_file);
	else if (b->named && !symbols_module_exists(symbols, module))
		*from = value_text(ret, "the recording");
	else
		*from = value_text(ret, info.why ? info.why : "the file");
	if (b->named < b->frames && info.hint)
		*fix = info.hint;
}

static const char *short_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void add_binary(struct work *w, const struct binary_row *b, struct symbols *symbols,
		       struct table *t, struct result *ret)
{
	const char *path = profile_str(w->p, b->module), *fix = NULL;
	u32 reason = main_reason(b->ends);
	struct value from = { 0 };

	names_of(symbols, b, path, ret, &from, &fix);
	struct value *c = table_row(ret, t)->cells;

	c[0] = value_text(ret, path[0] ? short_name(path) : "[no file]");
	c[1] = value_u(VALUE_COUNT, b->frames);
	if (b->frames)
		c[2] = value_d(VALUE_PERCENT, percent(b->named, b->frames));
	c[3] = value_u(VALUE_COUNT, b->ended);
	if (b->ended && reason) {
		c[4] = value_text(ret, unwind_end_text(reason));
		fix = fix_for(reason) ? fix_for(reason) : fix;
	} else if (b->ended) {
		fix = "record with fathom record: it needs no frame pointers";
	}
	c[5] = from;
	c[6] = value_text(ret, fix);
	c[7] = value_text(ret, path);
}

static int by_samples(const void *a, const void *b)
{
	const struct process_row *x = a, *y = b;

	return x->samples != y->samples ? (x->samples < y->samples ? 1 : -1) : x->pid - y->pid;
}

static int by_frames(const void *a, const void *b)
{
	const struct binary_row *x = a, *y = b;

	if (x->ended != y->ended)
		return x->ended < y->ended ? 1 : -1;
	return x->frames < y->frames ? 1 : -1;
}

static void note_rest(struct result *ret, size_t all, u32 shown, const char *what)
{
	if (shown && all > shown)
		result_note(ret, NOTE_INFO, "--lines 0 shows them", "%zu more %s are not shown",
			    all - shown, what);
}

static void add_tables(struct work *w, struct symbols *symbols, const struct stacks_opts *opts,
		       struct result *ret)
{
	struct table *t = result_table(ret, "processes", "Processes", process_columns,
				       ARRAY_SIZE(process_columns));
	u32 most = opts->max_lines;

	vec_sort(&w->processes, by_samples);
	vec_sort(&w->binaries, by_frames);
	for (size_t i = 0; i < w->processes.len && (!most || i < most); i++)
		add_process(w, &w->processes.items[i], t, ret);
	t = result_table(ret, "binaries", "Binaries", binary_columns, ARRAY_SIZE(binary_columns));
	for (size_t i = 0; i < w->binaries.len && (!most || i < most); i++)
		add_binary(w, &w->binaries.items[i], symbols, t, ret);
	note_rest(ret, w->processes.len, most, "processes");
	note_rest(ret, w->binaries.len, most, "binaries");
}

static void add_facts(const struct work *w, struct result *ret)
{
	_cleanup_buf_ struct buf how = BUF_INIT;

	if (w->h)
		health_text(w->h, &how);
	if (how.len)
		result_fact(ret, "unwinder", "stacks", value_text(ret, buf_str(&how)));
	if (w->h && w->h->why)
		result_fact(ret, "why", "because", value_text(ret, w->h->why));
	result_fact(ret, "samples", "samples", value_u(VALUE_COUNT, w->all.samples));
	result_fact(ret, "user_stacks", "with a user part", value_u(VALUE_COUNT, w->all.users));
	result_fact(ret, "complete_percent", "complete",
		    value_d(VALUE_PERCENT, percent(w->all.complete, w->all.users)));
	result_fact(ret, "mean_depth", "mean depth",
		    value_d(VALUE_NUMBER,
			    w->all.users ? (double)w->all.frames / (double)w->all.users : 0));
	result_fact(ret, "named_percent", "named",
		    value_d(VALUE_PERCENT, percent(w->all.named, w->all.frames)));
	report_losses(w->p, ret);
	if (w->h)
		result_loss(ret, "lost_copies", "stacks cut because there was no room for a copy",
			    w->h->rescues_lost);
	for (u32 i = 0; i < UNWIND_END_COUNT; i++) {
		if (is_early(i) && w->all.ends[i])
			result_note(ret, NOTE_INFO, fix_for(i), "%llu stacks ended early: %s",
				    (unsigned long long)w->all.ends[i], unwind_end_text(i));
	}
}

int stacks_build(const struct profile *p, const struct health *health, struct symbols *symbols,
		 const struct stacks_opts *opts, struct result *ret, struct err *e)
{
	struct work w = { .p = p, .h = health };

	if (!p->samples.len)
		return profile_no_samples(p, e);
	count_profile(&w);
	if (health)
		take_health(&w);
	sum_up(&w);
	add_facts(&w, ret);
	add_tables(&w, symbols, opts, ret);
	nameless_notes(p, 0, ret);
	if (!health)
		result_note(ret, NOTE_INFO, "'fathom record' records it",
			    "the recording does not say why stacks ended");
	vec_release(&w.processes);
	vec_release(&w.binaries);
	map_release(&w.process_ids);
	map_release(&w.binary_ids);
	map_release(&w.path_ids);
	return 0;
}
