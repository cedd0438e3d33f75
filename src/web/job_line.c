/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/job.h"
#include "web/route.h"

#include "base/clock.h"
#include "base/fmt.h"

#include <sys/utsname.h>

int job_check_target(const struct web_request *q, struct err *e)
{
	if ((q->target == TARGET_PROCESS || q->target == TARGET_THREAD) && !q->id)
		return err_set(e, EINVAL, "'id' is missing: which %s?", web_targets[q->target - 1]);
	if (q->target == TARGET_CGROUP && (!q->group[0] || strstr(q->group, "..")))
		return err_set(e, EINVAL, "'cgroup' is not the path of a group");
	if (q->target == TARGET_CGROUP && q->from)
		return err_set(e, EINVAL, "the past is not kept by control group");
	if (q->kind == KIND_SCHED && q->from)
		return err_set(e, EINVAL, "switches are not kept of the past");
	if (q->kind == KIND_CHAIN && q->from)
		return err_set(e, EINVAL, "wakers are not kept of the past");
	return 0;
}

void job_file_name(const struct job *job, const char *end, struct buf *out)
{
	buf_reset(out);
	buf_addf(out, "job-%llu.%s", (unsigned long long)job->number, end);
}

/* The scheduler's time line, tools and programs watch by themselves: one step. */
static bool is_one_step(const struct job *job)
{
	return job->q.ask == ASK_TOOL || job->q.ask == ASK_PROGRAM ||
	       (job->q.ask == ASK_RECORD && job->q.kind == KIND_SCHED);
}

bool job_records(const struct job *job)
{
	return job->q.ask != ASK_DIFF && !job->input.file;
}

bool job_draws(const struct job *job)
{
	return !is_one_step(job);
}

static void add_target(const struct web_request *q, bool recorded, struct command_line *line)
{
	unsigned long long id = q->id;

	switch (q->target) {
	case TARGET_PROCESS:
		command_line_add(line, recorded ? "--pids=%llu" : "--pid=%llu", id);
		break;
	case TARGET_THREAD:
		command_line_add(line, recorded ? "--tids=%llu" : "--tid=%llu", id);
		break;
	case TARGET_CGROUP: command_line_add(line, "--cgroup=%s", q->group); break;
	default: break;
	}
}

static void add_duration(const struct web_request *q, struct command_line *line)
{
	command_line_add(line, "--duration=%llus", (unsigned long long)q->seconds);
}

/* "name=value" or "name", a line each; names were checked. */
static void add_options(const char *text, struct command_line *line)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		command_line_add(line, "--%.*s", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void add_tool(const struct job *job, const char *folder, struct command_line *line)
{
	_cleanup_buf_ struct buf page = BUF_INIT;

	command_line_add(line, "%s", job->q.name);
	command_line_add(line, "--json");
	add_duration(&job->q, line);
	add_options(job->q.text, line);
	if (job->q.number) {
		command_line_add(line, "%llu", (unsigned long long)job->q.number);
	} else if (job->q.form == FORM_HTML) {
		job_file_name(job, "html", &page);
		command_line_add(line, "--flame=%s/%s", folder, buf_str(&page));
	}
}

static void add_program(const struct job *job, struct command_line *line)
{
	command_line_add(line, "trace");
	command_line_add(line, "--json");
	add_duration(&job->q, line);
	command_line_add(line, "-e");
	command_line_add(line, "%s", job->q.text);
}

void job_record_line(const struct job *job, const char *folder, struct command_line *line)
{
	_cleanup_buf_ struct buf file = BUF_INIT;

	if (job->q.ask == ASK_TOOL) {
		add_tool(job, folder, line);
		return;
	}
	if (job->q.ask == ASK_PROGRAM) {
		add_program(job, line);
		return;
	}
	if (job->q.kind == KIND_SCHED) {
		command_line_add(line, "sched");
		command_line_add(line, "map");
		job_file_name(job, "html", &file);
	} else {
		command_line_add(line, "record");
		command_line_add(line, "--freq=%llu", (unsigned long long)job->q.hz);
		if (job->q.kind == KIND_CHAIN)
			command_line_add(line, "--chains");
		else if (job->q.kind != KIND_ONCPU)
			command_line_add(line, "--off-cpu");
		job_file_name(job, "data", &file);
	}
	command_line_add(line, "--quiet");
	add_target(&job->q, false, line);
	add_duration(&job->q, line);
	command_line_add(line, "--output=%s/%s", folder, buf_str(&file));
}

static bool has_span(const struct job_input *input)
{
	return input->to > input->from;
}

static void add_input(const struct job *job, const char *folder, struct command_line *line)
{
	command_line_add(line, "--input=%s/%s", folder, job->input.file);
	if (has_span(&job->input))
		command_line_add(line, "--time=%.6f,%.6f", job->input.from, job->input.to);
	if (job->q.from)
		add_target(&job->q, true, line);
}

static void add_span(const struct job_input *input, const char *option, struct command_line *line)
{
	if (has_span(input))
		command_line_add(line, "--%s=%.6f,%.6f", option, input->from, input->to);
	else
		command_line_add(line, "--%s=0,", option);
}

/* The recorder of the past records all kinds and all processes. */
static void add_past_event(const struct web_request *q, struct command_line *line)
{
	if (q->kind == KIND_ONCPU)
		command_line_add(line, "--event=c*");
	else if (q->kind == KIND_OFFCPU)
		command_line_add(line, "--event=offcpu*");
}

static void add_past_filter(const struct web_request *q, struct command_line *line)
{
	add_past_event(q, line);
	add_target(q, true, line);
}

static void add_diff(const struct job *job, const char *folder, struct command_line *line)
{
	command_line_add(line, "diff");
	command_line_add(line, "%s/%s", folder, job->before.file);
	command_line_add(line, "%s/%s", folder, job->input.file);
	if (!has_span(&job->before) && !has_span(&job->input))
		return;
	add_span(&job->before, "time", line);
	add_span(&job->input, "time2", line);
	add_past_filter(&job->q, line);
}

/* What the picture is of: the name of its file would say nothing. */
static void add_title(const struct job *job, struct command_line *line)
{
	static const char *const kinds[] = {
		[KIND_ONCPU] = "On-CPU time",
		[KIND_OFFCPU] = "Off-CPU time",
		[KIND_HOTCOLD] = "Hot/cold",
		[KIND_CHAIN] = "Chains of wakers",
	};
	const struct web_request *q = &job->q;
	_cleanup_buf_ struct buf title = BUF_INIT;
	struct utsname host;

	if (q->name[0]) {
		command_line_add(line, "--title=%s", q->name);
		return;
	}
	uname(&host);
	buf_addf(&title, "%s of ", kinds[q->kind]);
	if (q->target == TARGET_CGROUP)
		buf_addf(&title, "%s on ", q->group);
	else if (q->target != TARGET_MACHINE)
		buf_addf(&title, "%s %llu on ", web_targets[q->target - 1],
			 (unsigned long long)q->id);
	buf_addf(&title, "%s, ", host.nodename);
	fmt_iso_time(&title, (q->from ? q->from : job->wall) * NSEC_PER_MSEC);
	command_line_add(line, "--title=%s", buf_str(&title));
}

void job_draw_so_far_line(const struct job *job, const char *folder, const char *file,
			  struct command_line *line)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	struct job with = *job;

	job_file_name(job, "data", &name);
	with.input = (struct job_input){ .file = name.data };
	job_draw_line(&with, FORM_HTML, folder, file, line);
}

void job_draw_line(const struct job *job, enum web_form form, const char *folder, const char *file,
		   struct command_line *line)
{
	if (job->q.ask == ASK_DIFF) {
		add_diff(job, folder, line);
	} else {
		switch (job->q.kind) {
		/* offcpu draws whole recordings */
		case KIND_OFFCPU: command_line_add(line, job->q.from ? "flame" : "offcpu"); break;
		case KIND_CHAIN: command_line_add(line, "chain"); break;
		default: command_line_add(line, "flame"); break;
		}
		add_title(job, line);
		if (job->q.kind == KIND_HOTCOLD)
			command_line_add(line, "--hotcold");
		else if (job->q.from)
			add_past_event(&job->q, line);
		add_input(job, folder, line);
	}
	if (form == FORM_JSON)
		command_line_add(line, "--json");
	else if (form == FORM_CSV)
		command_line_add(line, "--csv");
	else
		command_line_add(line, "--output=%s/%s", folder, file);
}
