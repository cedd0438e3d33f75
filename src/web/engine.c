/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/engine.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/stop.h"
#include "counters/counters.h"
#include "host/caps.h"
#include "view/openmetrics.h"
#include "web/charts.h"
#include "web/counters_json.h"
#include "web/exports.h"
#include "web/flight.h"
#include "web/history.h"
#include "web/route.h"
#include "web/tools.h"

#include <poll.h>
#include <sys/utsname.h>
#include <time.h>

enum { FDS_MOST = 64, COMPAT_NODE = 2 };

struct web_engine {
	struct web_engine_opts o;
	struct counters *counters;
	struct charts *charts;
	struct snapshot before, after;
	bool has_before;
	bool has_tasks; /* processes are followed, too */
	bool is_stuck;  /* the HTTP side takes no answers */
	struct history history;
	struct jobs jobs;
	struct flight flight;
	struct web_tools tools;
	struct exports exports;
	struct counters *all; /* of /metrics: every source */
	struct snapshot scrape;
	u64 watching, watching_profile;
	u64 linger; /* mono, ns: reads until then although no page is open */
	u64 next;   /* mono, ns: of the next sweep; 0: none */
	u64 last_tick;
	u64 scrapes, scrape_cost;
	struct buf text; /* scratch */
};

/* --- replies ---------------------------------------------------------------------------------- */

/* The socket has a timeout; an HTTP side that was taken over may never read. */
static void sent(struct web_engine *en, int r)
{
	en->is_stuck |= r == -EAGAIN;
}

static void reply(struct web_engine *en, u64 ref, u32 status, enum web_content content,
		  struct buf *text)
{
	struct web_reply r = { ref, REPLY_ANSWER, status, content, 0, 0 };

	sent(en, web_reply_send_scratch(en->o.channel, &r, text));
}

/* The text is wanted again. */
static void reply_kept(struct web_engine *en, u64 ref, const struct buf *text)
{
	struct web_reply r = { ref, REPLY_ANSWER, 200, CONTENT_JSON, 0, 0 };

	sent(en, web_reply_send(en->o.channel, &r, buf_str(text), text->len));
}

static void reply_file(struct web_engine *en, u64 ref, enum web_form form, int file)
{
	static const enum web_content contents[] = {
		[FORM_HTML] = CONTENT_HTML, [FORM_DATA] = CONTENT_DATA, [FORM_SVG] = CONTENT_SVG,
		[FORM_JSON] = CONTENT_JSON, [FORM_CSV] = CONTENT_CSV,
	};
	struct web_reply r = { ref, REPLY_ANSWER, 200, contents[form], 0, 0 };

	sent(en, web_reply_send_file(en->o.channel, &r, file));
}

static void reply_error(struct web_engine *en, u64 ref, u32 status, const char *what,
			const char *hint)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json j;

	json_init(&j, &text, false);
	json_open(&j);
	json_kv_str(&j, "error", what);
	if (hint)
		json_kv_str(&j, "hint", hint);
	json_close(&j);
	reply(en, ref, status, CONTENT_JSON, &text);
}

static void on_job_changed(void *ctx, const struct job *job)
{
	struct web_engine *en = ctx;
	/* in place of a status: the role that may know of it */
	struct web_reply r = { job->q.stream, REPLY_EVENT, job->role, CONTENT_JSON, 0, 0 };
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json j;

	json_init(&j, &text, false);
	job_describe(job, &j);
	sent(en, web_reply_send(en->o.channel, &r, buf_str(&text), text.len));
}

static void on_drawn(void *ctx, u64 ref, enum web_form form, int file, u32 status,
		     const char *error, const char *hint)
{
	if (file >= 0)
		reply_file(ctx, ref, form, file);
	else
		reply_error(ctx, ref, status, error, hint);
}

/* --- counters --------------------------------------------------------------------------------- */

static void sweep(struct web_engine *en)
{
	struct snapshot old = en->before;
	struct web_reply r = { 0, REPLY_FRAME, 0, CONTENT_JSON, 0, 0 };
	struct delta d;

	en->before = en->after;
	en->after = old;
	if (!en->has_tasks) {
		(void)counters_want_tasks(en->counters, false, NULL);
		en->has_tasks = true;
	}
	counters_sweep(en->counters, &en->after);
	if (!en->has_before) {
		en->has_before = true;
		return;
	}
	delta_init(&d, counters_set(en->counters), &en->before, &en->after);
	buf_reset(&en->text);
	charts_frame(en->charts, &d, &en->flight.latency, &en->text);
	history_add(&en->history, en->after.wall / NSEC_PER_MSEC, en->after.mono, &en->text);
	if (en->watching)
		sent(en, web_reply_send_scratch(en->o.channel, &r, &en->text));
}

static int open_counters(struct web_engine *en, struct err *e)
{
	int r = counters_new(&en->counters, NULL, e);

	return r < 0 ? r : charts_new(&en->charts, en->counters, e);
}

static void close_counters(struct web_engine *en)
{
	charts_free(en->charts);
	counters_free(en->counters);
	en->charts = NULL;
	en->counters = NULL;
	en->has_before = en->has_tasks = false;
}

/* No page is open any more: what follows the ends of tasks is detached. */
static void rest(struct web_engine *en)
{
	_cleanup_err_ struct err e = ERR_INIT;

	if (!en->has_tasks)
		return;
	close_counters(en);
	/* it was possible before */
	if (open_counters(en, &e) < 0)
		log_warn("%s", e.what);
}

static bool is_wanted(const struct web_engine *en, u64 now)
{
	return !en->o.once && (en->watching || en->o.always || now < en->linger);
}

/* Pages that may only look do not keep the recorder. */
static bool wants_past(const struct web_engine *en, u64 now)
{
	return en->watching_profile || en->o.always || now < en->linger;
}

/* Once each second while a page is open or a job runs. */
static void tick(struct web_engine *en, u64 now)
{
	double seconds = en->last_tick ? (double)(now - en->last_tick) / 1e9 : 1;

	en->last_tick = now;
	if (is_wanted(en, now))
		sweep(en);
	else
		rest(en);
	jobs_tick(&en->jobs, seconds);
	(void)flight_tick(&en->flight, &en->jobs, seconds);
	if (!wants_past(en, now))
		flight_stop(&en->flight, &en->jobs);
}

static void plan_tick(struct web_engine *en, u64 now)
{
	if (!is_wanted(en, now) && !jobs_busy(&en->jobs) && en->flight.child.pid <= 0) {
		en->next = en->last_tick = 0;
		rest(en);
		return;
	}
	if (!en->next)
		en->next = now;
	else if (en->next <= now)
		en->next = MAX(en->next + NSEC_PER_SEC, now + NSEC_PER_SEC / 2);
}

/* --- what is asked ---------------------------------------------------------------------------- */

static bool may_record(const struct web_engine *en)
{
	return !en->o.once && caps_allow(caps_effective(), CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON));
}

static void ask_about(struct web_engine *en, const struct web_request *q)
{
	struct utsname name;
	struct json j;

	uname(&name);
	json_init(&j, &en->text, false);
	json_open(&j);
	json_kv_u64(&j, "schema", 1);
	json_kv_str(&j, "version", FATHOM_VERSION);
	json_kv_str(&j, "host", name.nodename);
	json_kv_str(&j, "kernel", name.release);
	json_kv_u64(&j, "cpus", en->jobs.cpus);
	json_kv_str(&j, "role", web_role_name((enum web_role)q->role));
	json_kv_u64(&j, "now", clock_wall_ns() / NSEC_PER_MSEC);
	json_kv_u64(&j, "history_seconds", en->o.history / NSEC_PER_SEC);
	json_kv_bool(&j, "programs", en->o.programs);
	json_kv_bool(&j, "may_record", may_record(en));
	if (!may_record(en))
		json_kv_str(
			&j, "why_not",
			"recordings and tools need root, or CAP_BPF and CAP_PERFMON; charts work");
	json_kv_bool(&j, "past_stacks", en->flight.child.pid > 0);
	if (en->flight.why_not)
		json_kv_str(&j, "past_why_not", en->flight.why_not);
	charts_describe(en->charts, &j);
	json_close(&j);
	reply(en, q->ref, 200, CONTENT_JSON, &en->text);
}

static void ask_history(struct web_engine *en, const struct web_request *q)
{
	history_lines(&en->history, q->from, q->to, &en->text);
	reply(en, q->ref, 200, CONTENT_LINES, &en->text);
}

static int read_all(struct web_engine *en, struct err *e)
{
	int r;

	if (!en->all) {
		r = counters_new(&en->all, NULL, e);
		if (r < 0)
			return r;
		counters_want_all(en->all, false);
	}
	counters_sweep(en->all, &en->scrape);
	en->scrapes++;
	en->scrape_cost += en->scrape.cost;
	return 0;
}

static void ask_metrics(struct web_engine *en, const struct web_request *q)
{
	_cleanup_err_ struct err e = ERR_INIT;
	bool node = q->compat ? q->compat == COMPAT_NODE : en->o.node_names;
	u64 cpu = clock_cpu_ns();

	if (read_all(en, &e) < 0) {
		reply_error(en, q->ref, 500, e.what, e.hint);
		return;
	}
	if (node)
		openmetrics_node(counters_set(en->all), &en->scrape, &en->text);
	else
		openmetrics_own(counters_set(en->all), &en->scrape, &en->text);
	openmetrics_add(&en->text, "fathom_scrapes", "counter", "Scrapes before this one.",
			(double)(en->scrapes - 1));
	openmetrics_add(&en->text, "fathom_own_cpu_seconds", "counter",
			"CPU time of the capturing side of fathom serve.",
			(double)clock_cpu_ns() / 1e9);
	openmetrics_add(&en->text, "fathom_scrape_cpu_seconds", "gauge",
			"CPU time of this scrape so far.", (double)(clock_cpu_ns() - cpu) / 1e9);
	exports_write(&en->exports, &en->text);
	openmetrics_end(&en->text);
	reply(en, q->ref, 200, CONTENT_METRICS, &en->text);
}

static void ask_counters(struct web_engine *en, const struct web_request *q)
{
	_cleanup_err_ struct err e = ERR_INIT;

	if (read_all(en, &e) < 0) {
		reply_error(en, q->ref, 500, e.what, e.hint);
		return;
	}
	web_counters_json(counters_set(en->all), &en->scrape, &en->text);
	reply(en, q->ref, 200, CONTENT_JSON, &en->text);
}

/* --- jobs ------------------------------------------------------------------------------------- */

static void reply_job(struct web_engine *en, u64 ref, const struct job *job)
{
	struct json j;

	buf_reset(&en->text);
	json_init(&j, &en->text, false);
	job_describe(job, &j);
	reply(en, ref, 202, CONTENT_JSON, &en->text);
}

static u32 status_of(int r)
{
	return r == -EBUSY ? 429 : r == -ENOENT ? 404 : r == -EINVAL ? 400 : 500;
}

static int find_span(struct web_engine *en, u64 wall_from, u64 wall_to, struct job_input *ret,
		     const char **note, struct err *e)
{
	u64 from, to;
	int r;

	if (wall_to <= wall_from)
		return err_set(e, EINVAL, "the end of a span is not after its begin");
	if (!history_mono(&en->history, wall_to, &to))
		return err_set(e, ENOENT, "nothing is known of that time");
	if (!history_mono(&en->history, wall_from, &from))
		from = 0;
	r = flight_find(&en->flight, &en->jobs, from, to, &ret->file, note, e);
	ret->from = (double)from / 1e9;
	ret->to = (double)to / 1e9;
	return r;
}

static int add_past(struct web_engine *en, const struct web_request *q, struct job **ret,
		    struct err *e)
{
	struct job_input input = { 0 }, none = { 0 };
	const char *note = NULL;
	int r = find_span(en, q->from, q->to, &input, &note, e);

	return r < 0 ? r : jobs_add(&en->jobs, q, input, none, note, ret, e);
}

static int add_diff_of_spans(struct web_engine *en, const struct web_request *q, struct job **ret,
			     struct err *e)
{
	struct job_input input = { 0 }, before = { 0 };
	const char *note = NULL, *note_before = NULL;
	int r = job_check_target(q, e);

	if (!r)
		r = find_span(en, q->from, q->to, &input, &note, e);
	if (!r)
		r = find_span(en, q->before_from, q->before_to, &before, &note_before, e);
	if (r < 0) {
		free(input.file);
		return r;
	}
	return jobs_add(&en->jobs, q, input, before, note ? note : note_before, ret, e);
}

static int find_recording(struct web_engine *en, u64 number, const struct job **ret, struct err *e)
{
	const struct job *job = jobs_find(&en->jobs, number);

	if (!job || job->state != JOB_DONE || job->q.ask != ASK_RECORD || !job->input.file)
		return err_set(e, ENOENT, "job %llu has no recording", (unsigned long long)number);
	*ret = job;
	return 0;
}

static struct job_input copy_input(const struct job_input *input)
{
	return (struct job_input){ xstrdup(input->file), input->from, input->to };
}

static int add_diff_of_jobs(struct web_engine *en, const struct web_request *q, struct job **ret,
			    struct err *e)
{
	struct web_request *own = xmemdup(q, sizeof(*q));
	const struct job *job, *other;
	int r = find_recording(en, q->job, &job, e);

	if (!r)
		r = find_recording(en, q->other, &other, e);
	/* what is taken from all of the past has to be the same in both */
	if (!r && (job->q.from || other->q.from) &&
	    (job->q.kind != other->q.kind || job->q.target != other->q.target ||
	     job->q.id != other->q.id))
		r = err_set(e, EINVAL,
			    "a span of the past is compared with the same kind and target");
	if (!r) {
		own->kind = job->q.kind;
		own->target = job->q.target;
		own->id = job->q.id;
		r = jobs_add(&en->jobs, own, copy_input(&job->input), copy_input(&other->input),
			     NULL, ret, e);
	}
	free(own);
	return r;
}

/* Of what is to be recorded, there is no input. */
static int add_job(struct web_engine *en, const struct web_request *q, struct job **ret,
		   struct err *e)
{
	const struct job_input none = { 0 };

	if (q->ask == ASK_DIFF)
		return q->job ? add_diff_of_jobs(en, q, ret, e) : add_diff_of_spans(en, q, ret, e);
	if (q->ask == ASK_TOOL)
		return web_tools_add(&en->tools, &en->jobs, q, ret, e);
	return q->ask == ASK_RECORD && q->from ? add_past(en, q, ret, e)
					       : jobs_add(&en->jobs, q, none, none, NULL, ret, e);
}

static void ask_job(struct web_engine *en, const struct web_request *q)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct job *job = NULL;
	int r = 0;

	if (!may_record(en) && q->ask != ASK_DIFF)
		r = err_set(&e, EPERM, "fathom runs without the privileges that this needs");
	if (!r && q->ask == ASK_RECORD)
		r = job_check_target(q, &e);
	if (!r && q->ask == ASK_TOOL)
		r = web_tools_check(&en->tools, &en->jobs, q, &e);
	if (!r && q->ask == ASK_PROGRAM && !en->o.programs)
		r = err_set(&e, EPERM, "programs are off: start with --allow-programs");
	if (!r)
		r = add_job(en, q, &job, &e);
	if (r < 0)
		reply_error(en, q->ref, r == -EPERM ? 403 : status_of(r), e.what, e.hint);
	else
		reply_job(en, q->ref, job);
}

static void ask_jobs(struct web_engine *en, const struct web_request *q)
{
	struct json j;

	json_init(&j, &en->text, false);
	json_open(&j);
	json_kv_u64(&j, "schema", 1);
	json_key(&j, "jobs");
	json_array(&j);
	vec_each(job, &en->jobs.all)
		if (q->role >= (*job)->role)
			job_describe(*job, &j);
	json_end(&j);
	json_close(&j);
	reply(en, q->ref, 200, CONTENT_JSON, &en->text);
}

static bool goes_on(const struct job *job)
{
	return (job->state == JOB_RECORDING || job->state == JOB_DRAWING) && job_draws(job);
}

/* A client that asks while it runs asks again: that is not an error. */
static void ask_so_far(struct web_engine *en, const struct web_request *q, const struct job *job)
{
	_cleanup_err_ struct err e = ERR_INIT;

	if (jobs_draw_so_far(&en->jobs, job, q->ref, &e) < 0)
		reply_error(en, q->ref, 202, e.what, e.hint);
}

static void ask_result(struct web_engine *en, const struct web_request *q)
{
	_cleanup_err_ struct err e = ERR_INIT;
	const struct job *job = jobs_find(&en->jobs, q->job);
	_cleanup_close_ int file = -1;
	int r;

	if (!job || q->role < job->role) {
		reply_error(en, q->ref, 404, "there is no such job", NULL);
		return;
	}
	if (goes_on(job) && q->form == FORM_HTML) {
		ask_so_far(en, q, job);
		return;
	}
	if (job->state != JOB_DONE) {
		reply_error(en, q->ref, 409, job->error ? job->error : "the job is not done",
			    job->hint);
		return;
	}
	file = jobs_file(&en->jobs, job, (enum web_form)q->form);
	if (file >= 0) {
		reply_file(en, q->ref, (enum web_form)q->form, file);
		return;
	}
	r = jobs_draw(&en->jobs, job, (enum web_form)q->form, q->ref, &e);
	if (r < 0)
		reply_error(en, q->ref, status_of(r), e.what, e.hint);
}

/* By its secret key; all keys are compared in full. */
static void ask_file(struct web_engine *en, const struct web_request *q)
{
	const struct job *found = NULL;
	_cleanup_close_ int file = -1;

	if (strlen(q->name) == JOB_KEY) {
		vec_each(job, &en->jobs.all) {
			u8 differ = 0;

			for (size_t i = 0; i < JOB_KEY; i++)
				differ |= (u8)(q->name[i] ^ (*job)->key[i]);
			if (!differ && ((*job)->state == JOB_DONE || goes_on(*job)))
				found = *job;
		}
	}
	if (found && goes_on(found)) {
		ask_so_far(en, q, found);
		return;
	}
	file = found ? jobs_file(&en->jobs, found, FORM_HTML) : -1;
	if (file >= 0)
		reply_file(en, q->ref, FORM_HTML, file);
	else
		reply_error(en, q->ref, 404, "there is no such result", NULL);
}

static void ask_stop(struct web_engine *en, const struct web_request *q)
{
	struct job *job = jobs_find(&en->jobs, q->job);

	if (!job || q->role < job->role) {
		reply_error(en, q->ref, 404, "there is no such job", NULL);
		return;
	}
	jobs_stop(&en->jobs, job);
	reply_job(en, q->ref, job);
}

static void ask_tools(struct web_engine *en, const struct web_request *q)
{
	_cleanup_err_ struct err e = ERR_INIT;

	if (web_tools_load(&en->tools, &en->jobs, &e) < 0)
		reply_error(en, q->ref, 500, e.what, e.hint);
	else
		reply_kept(en, q->ref, &en->tools.help);
}

static void ask_watch(struct web_engine *en, const struct web_request *q)
{
	u64 now = clock_mono_ns();

	if (!q->number || (en->watching_profile && !q->id))
		en->linger = now + ENGINE_LINGER_SECONDS * NSEC_PER_SEC;
	en->watching = q->number;
	en->watching_profile = q->id;
	if ((en->watching_profile || en->o.always) && !en->o.no_flight && may_record(en) &&
	    !en->flight.why_not)
		(void)flight_start(&en->flight, &en->jobs, NULL);
}

/* Where one recording is served, nothing is said about this machine. */
static bool is_off(const struct web_engine *en, u32 ask)
{
	return en->o.once && (ask == ASK_COUNTERS || ask == ASK_METRICS || ask == ASK_TOOLS);
}

static void on_request(struct web_engine *en, const struct web_request *q)
{
	_cleanup_err_ struct err e = ERR_INIT;
	int r = web_route_check(q, en->o.role_most, &e);

	buf_reset(&en->text);
	if (r < 0) {
		reply_error(en, q->ref, r == -EACCES ? 403 : 400, e.what, NULL);
		return;
	}
	if (is_off(en, q->ask)) {
		reply_error(en, q->ref, 404, "only a recording is served here", NULL);
		return;
	}
	switch ((enum web_ask)q->ask) {
	case ASK_ABOUT: ask_about(en, q); break;
	case ASK_HISTORY: ask_history(en, q); break;
	case ASK_COUNTERS: ask_counters(en, q); break;
	case ASK_METRICS: ask_metrics(en, q); break;
	case ASK_RECORD:
	case ASK_DIFF:
	case ASK_TOOL:
	case ASK_PROGRAM: ask_job(en, q); break;
	case ASK_STOP: ask_stop(en, q); break;
	case ASK_JOBS: ask_jobs(en, q); break;
	case ASK_RESULT: ask_result(en, q); break;
	case ASK_FILE: ask_file(en, q); break;
	case ASK_TOOLS: ask_tools(en, q); break;
	case ASK_WATCH: ask_watch(en, q); break;
	case ASK_LEFT: jobs_leave(&en->jobs, q->stream); break;
	case ASK_STREAM:
	case ASK_OPENAPI:
	case ASK_PEERS:
	case ASK_PEER_HISTORY:
	case ASK_HEALTH: break;
	}
}

/* --- the loop --------------------------------------------------------------------------------- */

enum { FD_STOP, FD_CHANNEL, FD_TASKS, FD_FLIGHT, FD_FIXED };

static size_t fill_fds(struct web_engine *en, struct pollfd *fds)
{
	int children[FDS_MOST];
	size_t n = jobs_fds(&en->jobs, children, FDS_MOST - FD_FIXED - EXPORTS_MOST - 1);

	n += exports_fds(&en->exports, children + n, EXPORTS_MOST);
	n += latency_fds(&en->flight.latency, children + n, 1);
	fds[FD_STOP] = (struct pollfd){ stop_fd(), POLLIN, 0 };
	fds[FD_CHANNEL] = (struct pollfd){ en->o.channel, POLLIN, 0 };
	fds[FD_TASKS] = (struct pollfd){ counters_fd(en->counters), POLLIN, 0 };
	fds[FD_FLIGHT] =
		(struct pollfd){ en->flight.child.pid > 0 ? en->flight.child.fd : -1, POLLIN, 0 };
	for (size_t i = 0; i < n; i++)
		fds[FD_FIXED + i] = (struct pollfd){ children[i], POLLIN, 0 };
	return FD_FIXED + n;
}

static int wait_ms(const struct web_engine *en)
{
	u64 now = clock_mono_ns();

	if (!en->next)
		return -1;
	return en->next <= now ? 0 : (int)((en->next - now) / NSEC_PER_MSEC) + 1;
}

/* It should not end by itself. */
static void flight_ended(struct web_engine *en)
{
	int status = child_reap(&en->flight.child, &(u64){ 0 });
	_cleanup_free_ char *error = NULL;
	_cleanup_free_ char *hint = NULL;

	child_words(&en->flight.child, &error, &hint);
	if (!error)
		error = child_end_text(status);
	if (!en->flight.why_not)
		en->flight.why_not = xasprintf("the recorder of the past has ended: %s", error);
}

/* 1: the HTTP side is gone. */
static int on_channel(struct web_engine *en)
{
	struct web_request *q = xcalloc(1, sizeof(*q));
	int r = web_request_receive(en->o.channel, q);

	if (r > 0)
		on_request(en, q);
	free(q);
	return r > 0 || r == -EBADMSG ? 0 : 1;
}

int web_engine_run(struct web_engine *en, struct err *e)
{
	struct pollfd fds[FDS_MOST];

	for (;;) {
		u64 now = clock_mono_ns();
		size_t n;

		plan_tick(en, now);
		n = fill_fds(en, fds);
		if (poll(fds, n, wait_ms(en)) < 0) {
			if (errno != EINTR)
				return err_sys(e, errno, "cannot wait");
			continue;
		}
		if (fds[FD_STOP].revents)
			return 0;
		if (fds[FD_TASKS].revents)
			counters_drain(en->counters);
		if (fds[FD_FLIGHT].revents)
			flight_ended(en);
		for (size_t i = FD_FIXED; i < n; i++)
			if (fds[i].revents) {
				exports_read(&en->exports, fds[i].fd);
				latency_read(&en->flight.latency, fds[i].fd);
				jobs_ended(&en->jobs, fds[i].fd);
			}
		if (fds[FD_CHANNEL].revents && on_channel(en))
			return 1;
		now = clock_mono_ns();
		if (en->next && en->next <= now)
			tick(en, now);
		if (en->is_stuck) {
			en->is_stuck = false;
			log_warn("the HTTP side takes no answers");
			return 1;
		}
	}
}

void web_engine_set_channel(struct web_engine *en, int channel)
{
	en->o.channel = channel;
	en->watching = en->watching_profile = 0;
	vec_each(job, &en->jobs.all)
		jobs_leave(&en->jobs, (*job)->q.stream);
}

/* A copy: the file may change or go while it is served. */
static int add_once(struct web_engine *en, struct err *e)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	struct web_request q = { .ask = ASK_RECORD, .kind = KIND_ONCPU, .target = TARGET_MACHINE };
	struct job *job;
	int r;

	buf_addf(&name, "job-%llu.data", (unsigned long long)en->jobs.numbers + 1);
	/* the heading */
	snprintf(q.name, sizeof(q.name), "%s", basename(en->o.once));
	r = jobs_copy(&en->jobs, en->o.once, buf_str(&name), e);
	return r < 0 ? r
		     : jobs_add(&en->jobs, &q, (struct job_input){ buf_detach(&name), 0, 0 },
				(struct job_input){ 0 }, NULL, &job, e);
}

static int start_exports(struct web_engine *en, struct err *e)
{
	if (!may_record(en)) {
		err_set(e, EPERM, "--export needs privileges to trace");
		err_hint(e, "run as root or with CAP_BPF and CAP_PERFMON");
		return -EPERM;
	}
	return exports_start(&en->exports, en->o.exports, en->o.exports_n, e);
}

int web_engine_new(struct web_engine **ret, const struct web_engine_opts *o, struct err *e)
{
	struct web_engine *en = xcalloc(1, sizeof(*en));
	int r;

	en->o = *o;
	en->history.most_ns = o->history;
	en->history.most_bytes = HISTORY_BYTES_MOST;
	en->flight = (struct flight)FLIGHT_INIT;
	en->jobs = (struct jobs){ .dir = -1,
				  .budget = o->budget,
				  .cpus = (u32)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1),
				  .changed = on_job_changed,
				  .drawn = on_drawn,
				  .ctx = en };
	r = open_counters(en, e);
	if (!r)
		r = jobs_init(&en->jobs, e);
	if (!r && o->exports_n)
		r = start_exports(en, e);
	if (!r && o->once)
		r = add_once(en, e);
	if (r < 0) {
		web_engine_free(en);
		return r;
	}
	*ret = en;
	return 0;
}

void web_engine_free(struct web_engine *en)
{
	if (!en)
		return;
	flight_release(&en->flight, &en->jobs);
	jobs_release(&en->jobs);
	history_release(&en->history);
	web_tools_release(&en->tools);
	exports_release(&en->exports);
	close_counters(en);
	counters_free(en->all);
	snapshot_release(&en->before);
	snapshot_release(&en->after);
	snapshot_release(&en->scrape);
	buf_release(&en->text);
	free(en);
}
