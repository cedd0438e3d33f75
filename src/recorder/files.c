/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a recording: header, what was there before, names and counters at the end. */
#include "recorder/state.h"

#include <time.h>

#include "base/clock.h"
#include "base/io.h"
#include "capture/synth.h"
#include "profile/names.h"
#include "recording/recording.h"
#include "symbol/symbol.h"
#include "runtime/code.h"

enum {
	CMDLINE_MOST = 1 << 20,
	NAMES_MOST = 200 << 20,     /* larger recordings are named where they are read */
	NAMES_MOST_LIVE = 16 << 20, /* while recording continues, the rings fill meanwhile */
};

static void read_cmdline(struct recorder *r)
{
	if (r->argv.len || io_read_file("/proc/self/cmdline", CMDLINE_MOST, &r->cmdline, NULL) < 0)
		return;
	for (size_t at = 0; at < r->cmdline.len; at += strlen(r->cmdline.data + at) + 1)
		vec_push(&r->argv, r->cmdline.data + at);
}

static int add_events(struct recorder *r, struct err *e)
{
	size_t n;
	const struct session_event *events = session_events(r->session, &n);

	for (size_t i = 0; i < n; i++) {
		struct writer_event ev = {
			.attr = r->sources.items[i].attr,
			.name = events[i].name,
			.ids = events[i].ids,
			.n_ids = events[i].n_ids,
		};

		for (size_t j = i; j < n && events[j].leader == i; j++)
			ev.n_members++;
		if (ev.n_members == 1)
			ev.n_members = 0;
		int rc = recording_writer_event(r->writer, &ev, e);

		if (rc < 0)
			return rc;
	}
	return recorder_waits_add_events(r, e);
}

int recorder_file_add(struct recorder *r, const void *records, size_t n, struct err *e)
{
	if (!r->past.most)
		return recording_writer_add(r->writer, records, n, e);
	recorder_past_add(&r->past, records, n);
	return 0;
}

int recorder_file_round(struct recorder *r, struct err *e)
{
	const struct perf_event_header h = { .type = RECORD_FINISHED_ROUND, .size = sizeof(h) };

	return r->past.most ? recorder_file_add(r, &h, sizeof(h), e)
			    : recording_writer_round(r->writer, e);
}

u64 recorder_file_taken(const struct recorder *r)
{
	return r->past.most ? r->past.taken : recording_writer_bytes(r->writer);
}

static int on_known(void *ctx, const void *bytes, size_t n)
{
	struct recorder *r = ctx;

	if (recorder_sweep_has_copies(r)) {
		const struct perf_event_header *h = bytes;
		struct record rec = { .type = h->type, .misc = h->misc, .size = h->size };

		rec.header = h;
		if (h->size == n && record_parse_ids(&vec_last(&r->sources)->opened, h, &rec) >= 0)
			recorder_copies_record(&r->copies, &rec);
	}
	if (!r->past.most)
		return recording_writer_add(r->writer, bytes, n, r->e);
	recorder_past_know(&r->past, bytes, n);
	return 0;
}

/* Both sections begin with how many there are. */
static int add_bpf_section(struct recorder *r, u32 feature, u32 n, const struct buf *bytes,
			   struct err *e)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (!n)
		return 0;
	buf_add(&b, &n, sizeof(n));
	buf_add(&b, bytes->data, bytes->len);
	return recording_writer_feature(r->writer, feature, b.data, b.len, e);
}

static int add_programs(struct recorder *r, const struct bpf_programs *p, struct err *e)
{
	int rc = add_bpf_section(r, FEATURE_BPF_PROG_INFO, p->n_infos, &p->infos, e);

	return rc < 0 ? rc : add_bpf_section(r, FEATURE_BPF_BTF, p->n_btfs, &p->btfs, e);
}

static int write_known(struct recorder *r, const struct bpf_programs *programs, struct err *e)
{
	struct synth s = {
		.sample_type = r->sources.items[0].attr.sample_type,
		.data_maps = r->o.session.addresses || r->o.session.stack == STACK_DWARF,
		.namespaces = true,
		.build_ids = true,
		.cgroups = r->o.session.cgroup_ids,
		/* children of the target that came meanwhile */
		.everybody = r->begin && !r->o.session.no_inherit,
		.sink = on_known,
		.ctx = r,
	};
	/* What is launched reports itself, except for a file begun later. */
	struct launch *l = r->o.launch;
	int rc = synth_target(&s, r->o.target, l && !l->running ? l->pid : 0, e);

	if (rc >= 0)
		rc = synth_bpf(&s, programs);

	if (s.kernel_hidden && !r->sources.items[0].attr.exclude_kernel && !r->kernel_hidden) {
		recorder_note(r, "the kernel hides its addresses: kernel functions have no names",
			      NULL);
		r->kernel_hidden = true;
	}
	return rc;
}

static int on_lost(void *ctx, const void *bytes, size_t n)
{
	struct recorder *r = ctx;

	return recorder_file_add(r, bytes, n, r->e);
}

/* Losses that no record of a ring reported, since the last file. */
static int write_losses(struct recorder *r, struct err *e)
{
	u64 lost = recorder_unreported(r);
	struct synth s = {
		.sample_type = r->sources.items[0].attr.sample_type,
		.sink = on_lost,
		.ctx = r,
	};

	r->e = e;
	return lost ? synth_lost_samples(&s, lost) : 0;
}

int recorder_file_part(struct recorder *r, struct err *e)
{
	_cleanup_(bpf_programs_release) struct bpf_programs programs = { 0 };

	r->e = e;
	recorder_past_turn(&r->past);
	(void)bpf_programs_read(&programs);
	return write_known(r, &programs, e);
}

int recorder_file_begin(struct recorder *r, struct err *e)
{
	struct writer_options o = {
		.path = r->path ? r->path : "-",
		.compress = r->o.compress,
		.version = "fathom " FATHOM_VERSION,
	};
	_cleanup_(bpf_programs_release) struct bpf_programs programs = { 0 };
	int rc;

	read_cmdline(r);
	o.argc = (int)r->argv.len;
	o.argv = r->argv.items;
	rc = recording_writer_new(&o, &r->writer, e);
	if (rc < 0)
		return rc;
	if (r->o.session.clock_id >= 0)
		recording_writer_clock(r->writer, (u32)r->o.session.clock_id);
	if (r->o.user_data)
		rc = recording_writer_feature(r->writer, FEATURE_USER_DATA, r->o.user_data,
					      strlen(r->o.user_data), e);
	if (rc >= 0)
		rc = add_events(r, e);
	/* For privileged users only: others see no kernel addresses. */
	if (rc >= 0 && bpf_programs_read(&programs) >= 0)
		rc = add_programs(r, &programs, e);
	if (rc >= 0)
		rc = recording_writer_start(r->writer, e);
	r->file_begin = clock_mono_ns();
	r->e = e;
	if (rc >= 0 && r->past.most)
		recorder_past_turn(&r->past);
	if (rc >= 0)
		rc = write_known(r, &programs, e);
	r->round_bytes = recorder_file_taken(r);
	return rc;
}

int recorder_file_catch_up(struct recorder *r, struct err *e)
{
	struct synth s = {
		.sample_type = r->sources.items[0].attr.sample_type,
		.time = r->cpu_back,
		.data_maps = r->o.session.addresses || r->o.session.stack == STACK_DWARF,
		.build_ids = true,
		.sink = on_known,
		.ctx = r,
	};

	if (!r->cpu_back)
		return 0;
	r->cpu_back = 0;
	r->e = e;
	return synth_processes(&s, e);
}

/* A list of names without any, for others to be added. */
static void begin_names(struct buf *names)
{
	struct symbols *none = symbols_new(NULL);

	symbols_export(none, names);
	symbols_free(none);
}

/* Names of Python functions have to be read now: their memory goes with the process. */
static void add_python(struct recorder *r, struct buf *names)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;

	if (!r->kernel.sampler && !r->waits.session)
		return;
	if (!names->len)
		begin_names(names);
	pthread_mutex_lock(&r->kernel.lock);
	python_names_export(&r->python, names);
	python_names_export_lines(&r->python, &lines);
	pthread_mutex_unlock(&r->kernel.lock);
	if (lines.len)
		(void)recording_writer_feature(r->writer, FEATURE_PYTHON, lines.data, lines.len,
					       NULL);
}

static void pack_code(struct buf *code, const struct code_names *names)
{
	vec_each(c, &names->list)
		symbols_code_pack(code, &(struct symbol_code){
						.pid = (pid_t)c->pid,
						.time = c->time,
						.sure = c->sure,
						.start = c->start,
						.size = c->size,
						.name = intern_get(&names->strings, c->name),
					});
}

/* Likewise of run-time code, where its runtime knows it. */
static void add_code(struct recorder *r, struct buf *code)
{
	pthread_mutex_lock(&r->kernel.lock);
	if (r->kernel.sampler)
		pack_code(code, sampler_code_names(r->kernel.sampler));
	if (r->waits.session)
		pack_code(code, waits_engine_code_names(waits_session_engine(r->waits.session)));
	pthread_mutex_unlock(&r->kernel.lock);
}

static void add_section(struct recorder *r, u32 feature, const struct buf *bytes)
{
	if (bytes->len)
		(void)recording_writer_feature(r->writer, feature, bytes->data, bytes->len, NULL);
}

/* Names are for other machines: the file is complete without them. */
static void add_names(struct recorder *r, bool last)
{
	_cleanup_(profile_names_release) struct profile_names n = { 0 };
	u64 most = last ? NAMES_MOST : NAMES_MOST_LIVE;
	const int clock = r->o.session.clock_id;
	const u64 wall_shift = clock >= 0 ? clock_wall_ns() - clock_ns(clock) : 0;

	if (!r->path || recording_writer_samples(r->writer) == 0)
		return;
	if (!r->o.no_names && recording_writer_bytes(r->writer) <= most &&
	    recording_writer_flush(r->writer, NULL) >= 0)
		(void)profile_export_names(r->path, wall_shift, &n, NULL);
	add_python(r, &n.names);
	add_code(r, &n.code);
	add_section(r, FEATURE_NAMES, &n.names);
	add_section(r, FEATURE_CODE, &n.code);
	add_section(r, FEATURE_LINES, &n.lines);
}

static void add_health(struct recorder *r)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct recorder_summary s;

	if (r->stacks == RECORDER_STACKS_AS_ASKED)
		return;
	recorder_summary(r, &s);
	r->health.how = s.stacks == RECORDER_STACKS_KERNEL   ? HEALTH_KERNEL
			: s.stacks == RECORDER_STACKS_COPIES ? HEALTH_COPIES
							     : HEALTH_FP;
	r->health.tables = s.tables;
	r->health.table_bytes = s.table_bytes;
	r->health.lost = s.lost;
	r->health.recognised = s.recognised;
	r->health.checked = s.checked;
	r->health.misrecognised = s.misrecognised;
	free(r->health.why);
	r->health.why = s.why ? xstrdup(s.why) : NULL;
	health_pack(&r->health, &bytes);
	(void)recording_writer_feature(r->writer, FEATURE_HEALTH, bytes.data, bytes.len, NULL);
}

/* All of a recording in several files are in the last one. */
static void add_counters(struct recorder *r)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;

	if (!r->counters)
		return;
	recorder_counters_finish(r->counters, &bytes);
	(void)recording_writer_feature(r->writer, FEATURE_COUNTERS, bytes.data, bytes.len, NULL);
}

static int close_file(struct recorder *r, bool last, struct err *e)
{
	int rc = write_losses(r, e);

	if (rc >= 0)
		rc = recorder_flight_write(r, e);
	if (rc >= 0) {
		add_names(r, last);
		add_health(r);
		recorder_waits_add_accounts(r);
		if (last)
			add_counters(r);
		rc = recording_writer_finish(r->writer, e);
	}
	r->written += recording_writer_file_bytes(r->writer);
	recording_writer_free(r->writer);
	r->writer = NULL;
	return rc;
}

/* FILE.YYYYMMDDhhmmssXX, as perf names them; UTC, so that names sort by time. */
static char *stamped(const char *path)
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	return xasprintf("%s.%04d%02d%02d%02d%02d%02d%02ld", path, tm.tm_year + 1900, tm.tm_mon + 1,
			 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, now.tv_nsec / 10000000);
}

static int rename_stamped(const struct recorder *r, char **ret, struct err *e)
{
	_cleanup_free_ char *name = stamped(r->path);

	if (rename(r->path, name) < 0)
		return err_sys(e, errno, "cannot rename '%s' to '%s'", r->path, name);
	*ret = TAKE_PTR(name);
	return 0;
}

static void drop_oldest(struct recorder *r)
{
	(void)unlink(r->files.items[0]);
	free(r->files.items[0]);
	r->files.len--;
	memmove(r->files.items, r->files.items + 1, r->files.len * sizeof(char *));
}

int recorder_file_end(struct recorder *r, struct err *e)
{
	int rc = close_file(r, true, e);
	char *name = NULL;

	if (rc < 0 || !r->o.stamp || !r->path)
		return rc;
	rc = rename_stamped(r, &name, e);
	if (rc < 0)
		return rc;
	free(r->path);
	r->path = name;
	return 0;
}

/* Closes the file under its time and continues in a new one. */
int recorder_file_change(struct recorder *r, struct err *e)
{
	char *name = NULL;
	int rc = recorder_kernel_collect(r, true, e);

	if (rc >= 0)
		rc = recorder_waits_part(r, e);
	if (rc >= 0)
		rc = close_file(r, false, e);
	if (rc >= 0)
		rc = rename_stamped(r, &name, e);
	if (rc < 0)
		return rc;
	if (r->o.hooks.wrote)
		r->o.hooks.wrote(r->o.hooks.ctx, name);
	vec_push(&r->files, name);
	if (r->o.change.keep && r->files.len > r->o.change.keep)
		drop_oldest(r);
	return recorder_file_begin(r, e);
}
