/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"

#include <fcntl.h>
#include <string.h>

#include "base/fmt.h"
#include "base/io.h"
#include "host/procfs.h"
#include "symbol/symbol.h"
#include "unwind/core.h"
#include "runtime/code.h"
#include "unwind/process.h"

enum { STACK_FRAMES = 4096 };

enum { COL_PID, COL_TID, COL_THREAD, COL_FRAME, COL_ADDRESS, COL_FUNCTION, COL_MODULE, COL_OFFSET };

static const struct column columns[] = {
	[COL_PID] = { "pid", "PID", VALUE_PID, COLUMN_HIDDEN },
	[COL_TID] = { "tid", "TID", VALUE_PID, COLUMN_HIDDEN },
	[COL_THREAD] = { "thread", "THREAD", VALUE_TEXT, COLUMN_HIDDEN },
	[COL_FRAME] = { "frame", "#", VALUE_COUNT, 0 },
	[COL_ADDRESS] = { "address", "ADDRESS", VALUE_ADDRESS, 0 },
	[COL_FUNCTION] = { "function", "FUNCTION", VALUE_TEXT, COLUMN_FILL },
	[COL_MODULE] = { "module", "MODULE", VALUE_TEXT, 0 },
	[COL_OFFSET] = { "offset", "OFFSET", VALUE_ADDRESS, COLUMN_HIDDEN },
};

enum { END_TID, END_THREAD, END_FRAMES, END_END, END_FP, END_STOPPED };

static const struct column end_columns[] = {
	[END_TID] = { "tid", "TID", VALUE_PID, 0 },
	[END_THREAD] = { "thread", "THREAD", VALUE_TEXT, 0 },
	[END_FRAMES] = { "frames", "FRAMES", VALUE_COUNT, 0 },
	[END_END] = { "end", "END", VALUE_TEXT, 0 },
	[END_FP] = { "by_frame_pointer", "BY FP", VALUE_COUNT, 0 },
	[END_STOPPED] = { "stopped", "STOPPED", VALUE_DURATION, 0 },
};

struct stack_args {
	range_list tids;
	u64 max_frames;
};

/* One thread whose stack was walked. */
struct walked {
	int pid;
	int tid;
	char name[PROCFS_COMM];
	u64 stopped_ns; /* 0: it was not stopped, a core file */
	struct unwind_frames frames;
};

struct stack {
	struct context *ctx;
	const struct stack_args *args;
	struct result *r;
	struct symbols *symbols;
	struct table *table; /* machines: the one of all threads */
	struct table *ends;
	bool people;
	size_t named; /* names of run-time code that the store knows */
	u64 threads;
	u64 cut;
	u64 longest_ns;
	u64 ip[STACK_FRAMES];
};

/* The name of one frame, from the mapping that it is in. */
static void name_frame(struct stack *k, struct row *row, const struct mapping *m, int pid,
		       u64 address, bool returned)
{
	u64 pc = address - returned, offset = m ? pc - m->start + m->offset : 0;
	struct symbol sym;

	if (unwind_method(address) && symbols_jit(k->symbols, pid, 0, NULL, pc, 0, &sym))
		row->cells[COL_FUNCTION] = value_text(k->r, sym.name);
	if (!m)
		return;
	if (m->path[0] != '/' && !streq(m->path, "[vdso]")) {
		if (symbols_jit(k->symbols, pid, 0, NULL, pc, 0, &sym))
			row->cells[COL_FUNCTION] = value_text(k->r, sym.name);
		row->cells[COL_MODULE] = value_text(k->r, m->path[0] ? m->path : "[anonymous]");
		return;
	}
	const struct module_key key = {
		.path = m->path,
		.maj = m->dev >> 20,
		.min = m->dev & 0xfffff,
		.ino = m->ino,
		.pid = m->ino ? pid : 0,
		.map_start = m->start,
		.map_end = m->end,
	};
	u32 module = symbols_module(k->symbols, &key);

	if (symbols_lookup(k->symbols, module, offset, &sym)) {
		u64 inside = offset + returned - sym.start;

		/* a nameless function has an offset for its name already */
		row->cells[COL_FUNCTION] = sym.flags & SYM_FDE
						   ? value_text(k->r, sym.name)
						   : value_textf(k->r, "%s+0x%llx", sym.name,
								 (unsigned long long)inside);
	}
	row->cells[COL_MODULE] = value_text(k->r, symbols_module_name(k->symbols, module));
	row->cells[COL_OFFSET] = value_u(VALUE_ADDRESS, offset + returned);
}

static void show_thread(struct stack *k, const struct walked *w, const struct mappings *maps)
{
	struct table *t = k->table;
	const struct unwind_frames *f = &w->frames;

	if (k->people || !t)
		t = k->table = result_table(k->r, "frames", NULL, columns, ARRAY_SIZE(columns));
	if (k->people) {
		_cleanup_buf_ struct buf title = BUF_INIT;

		buf_addf(&title, "thread %d '%s': %s", w->tid, w->name, unwind_end_text(f->end));
		t->title = arena_strdup(&k->r->arena, buf_str(&title));
	}
	for (size_t i = 0; i < f->n; i++) {
		struct row *row = table_row(k->r, t);

		row->cells[COL_PID] = value_u(VALUE_PID, (u64)w->pid);
		row->cells[COL_TID] = value_u(VALUE_PID, (u64)w->tid);
		row->cells[COL_THREAD] = value_text(k->r, w->name);
		row->cells[COL_FRAME] = value_u(VALUE_COUNT, i);
		row->cells[COL_ADDRESS] = value_u(VALUE_ADDRESS, f->ip[i]);
		name_frame(k, row, mappings_find(maps, f->ip[i] - (i > 0)), w->pid, f->ip[i],
			   i > 0);
	}
	k->threads++;
	k->cut += f->end != UNWIND_END_ROOT;
	k->longest_ns = MAX(k->longest_ns, w->stopped_ns);
}

static void add_end(struct stack *k, const struct walked *w)
{
	if (k->people)
		return;
	if (!k->ends)
		k->ends = result_table(k->r, "threads", NULL, end_columns, ARRAY_SIZE(end_columns));
	struct row *row = table_row(k->r, k->ends);

	row->cells[END_TID] = value_u(VALUE_PID, (u64)w->tid);
	row->cells[END_THREAD] = value_text(k->r, w->name);
	row->cells[END_FRAMES] = value_u(VALUE_COUNT, w->frames.n);
	row->cells[END_END] = value_text(k->r, unwind_end_key(w->frames.end));
	row->cells[END_FP] = value_u(VALUE_COUNT, w->frames.fp_steps);
	if (w->stopped_ns)
		row->cells[END_STOPPED] = value_u(VALUE_DURATION, w->stopped_ns);
}

static bool thread_wanted(const struct stack *k, int tid)
{
	return !k->args->tids.len || ranges_contain(&k->args->tids, (u64)tid);
}

static struct walked walked_new(struct stack *k, int pid, int tid)
{
	u64 max = k->args->max_frames;

	return (struct walked){
		.pid = pid,
		.tid = tid,
		.frames = { .ip = k->ip, .max = max && max < STACK_FRAMES ? max : STACK_FRAMES },
	};
}

/* Names of run-time code that its runtime knows: the store takes them as from a recording. */
static void take_names(struct stack *k, const struct unwind_process *p)
{
	const struct code_names *names = unwind_process_names(p);

	if (names)
		k->named = symbols_code_take(k->symbols, names, k->named);
}

/* A thread may end between being listed and being stopped: the whole does not fail. */
static void one_live_thread(struct stack *k, struct unwind_process *p, int tid,
			    struct unwind_snapshot *snap, int *ret_rc, struct err *e)
{
	struct walked w = walked_new(k, p->pid, tid);
	int rc = unwind_process_snapshot(p, tid, snap, e);

	*ret_rc = rc;
	if (rc)
		return;
	unwind_process_frames(p, snap, &w.frames);
	take_names(k, p);
	w.stopped_ns = snap->stopped_ns;
	if (procfs_comm((u32)p->pid, (u32)tid, w.name))
		snprintf(w.name, sizeof(w.name), "?");
	show_thread(k, &w, &p->maps);
	add_end(k, &w);
}

static int live_threads(struct stack *k, struct unwind_process *p)
{
	_cleanup_(unwind_snapshot_release) struct unwind_snapshot snap = { 0 };
	pid_list tids = { 0 };
	int rc = procfs_tids((u32)p->pid, &tids, &k->ctx->err), last = 0;

	for (size_t i = 0; !rc && i < tids.len; i++) {
		_cleanup_err_ struct err e = ERR_INIT;
		int tid = (int)tids.items[i];

		if (!thread_wanted(k, tid))
			continue;
		one_live_thread(k, p, tid, &snap, &last, &e);
		if (!last)
			continue;
		if (last == -EPERM && !k->threads) {
			rc = err_sys(&k->ctx->err, EPERM, "cannot stop thread %d", tid);
			err_hint(&k->ctx->err, "%s", e.hint ? e.hint : "run as root");
		}
		result_note(k->r, NOTE_WARNING, e.hint, "%s", e.what);
	}
	vec_release(&tids);
	return rc;
}

static int stack_live(struct stack *k, int pid)
{
	_cleanup_(unwind_files_release) struct unwind_files files = { 0 };
	_cleanup_(unwind_process_release) struct unwind_process p = { 0 };
	int rc = unwind_process_init(&p, pid, &files, &k->ctx->err);

	if (rc == -ENOENT || rc == -ESRCH) {
		err_release(&k->ctx->err);
		return err_set(&k->ctx->err, ESRCH, "no process %d", pid);
	}
	if (rc == -EACCES || rc == -EPERM)
		err_hint(&k->ctx->err,
			 "run as root, as the user of the process, or with CAP_SYS_PTRACE");
	if (!rc && !p.maps.items.len)
		return err_set(&k->ctx->err, EINVAL, "process %d is a kernel thread", pid);
	if (!rc)
		rc = live_threads(k, &p);
	if (!rc)
		result_fact(k->r, "longest_stop", NULL, value_u(VALUE_DURATION, k->longest_ns));
	return rc;
}

static int stack_core(struct stack *k, const char *path)
{
	_cleanup_(core_release) struct core c = { .fd = -1 };
	int fd, rc = io_open_read(path, &fd, &k->ctx->err);

	if (rc)
		return rc;
	rc = core_open(&c, fd, path, &k->ctx->err);
	if (rc)
		return rc;
	vec_each(t, &c.threads) {
		struct walked w = walked_new(k, c.pid, t->tid);

		if (!thread_wanted(k, t->tid))
			continue;
		snprintf(w.name, sizeof(w.name), "%s", c.program);
		core_frames(&c, t, &w.frames);
		show_thread(k, &w, &c.maps);
		add_end(k, &w);
	}
	if (c.threads.items[0].signal)
		result_fact(k->r, "signal", "signal",
			    value_textf(k->r, "%d (%s)", c.threads.items[0].signal,
					sigdescr_np(c.threads.items[0].signal) ?: "unknown"));
	if (c.changed)
		result_note(k->r, NOTE_WARNING, "unwind where the core was written",
			    "%llu mapped files are another build here",
			    (unsigned long long)c.changed);
	return 0;
}

static int stack_run(struct context *ctx, void *args)
{
	_cleanup_result_ struct result r = { 0 };
	struct stack *k = xcalloc(1, sizeof(*k));
	const char *what = ctx->operands.items[0], *p = what;
	u64 pid;
	int rc;

	result_init(&r, "stack");
	*k = (struct stack){
		.ctx = ctx,
		.args = args,
		.r = &r,
		.symbols = symbols_new(NULL),
		.people = !cli_is_machine(ctx),
	};
	if (scan_u64(&p, what + strlen(what), 10, &pid) && !*p && pid <= INT32_MAX)
		rc = stack_live(k, (int)pid);
	else
		rc = stack_core(k, what);
	if (!rc && !k->threads && r.notes.len == 0)
		rc = err_set(&ctx->err, ESRCH, "'%s' has no such thread", what);
	if (!rc) {
		result_loss(&r, "cut_stacks", "stacks that do not reach their beginning", k->cut);
		rc = cli_show(ctx, &r);
	}
	symbols_free(k->symbols);
	free(k);
	return rc;
}

static void stack_release(void *args)
{
	struct stack_args *a = args;

	vec_release(&a->tids);
}

static const struct opt stack_options[] = {
	{ 't', "tid", OPT_PIDS, offsetof(struct stack_args, tids), .arg = "TID",
	  .help = "only these threads", .group = "Target" },
	{ 0, "max-stack", OPT_U64, offsetof(struct stack_args, max_frames), .arg = "FRAMES",
	  .help = "maximum number of frames per thread", .max = STACK_FRAMES },
	OPT_END,
};

static const struct example stack_examples[] = {
	{ "fathom stack 1234", "where every thread of process 1234 is now" },
	{ "fathom stack -t 1235 1234", "only thread 1235" },
	{ "fathom stack core", "where the threads were when the process died" },
	{ "fathom stack --json 1234 | jq '.threads'", "for machines" },
	{ 0 },
};

const struct command cmd_stack = {
	.name = "stack",
	.summary = "show where each thread of a process or core file is",
	.description =
		"Prints the stacks of all threads of a running process, or of a core file.\n\n"
		"A running thread is stopped only while its registers and its stack are copied, "
		"usually for less than a millisecond; frames and names are worked out afterwards. "
		"Frame pointers are not needed: the unwind tables of the files are used, as in "
		"recordings.",
	.question = Q_WAIT,
	.options = stack_options,
	.args_size = sizeof(struct stack_args),
	.operands = "PID|CORE",
	.min_operands = 1,
	.max_operands = 1,
	.instead_of = "pstack gstack eu-stack jstack gdb",
	.examples = stack_examples,
	.notes = "It fails while another debugger is attached to the process. A core file is "
		 "unwound with the files of this machine; those of another build are not used.",
	.see_also = "fathom-record gdb",
	.run = stack_run,
	.release = stack_release,
};
