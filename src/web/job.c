/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/job.h"

#include "base/clock.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/parse.h"
#include "web/route.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define FOLDER "fathom-serve-"

enum {
	BUDGET_LOOKS = 5, /* in a row over it, and a recording ends */
	DRAW_SECONDS = 60,
	DRAWINGS_MOST = 8,
};

/* --- the folder ------------------------------------------------------------------------------- */

static void remove_folder(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(TAKE_FD(fd)) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	(void)rmdir(path);
}

/* Folders of ours whose process is gone: it had no time to remove it. */
static void remove_stale(const char *temp)
{
	DIR *dir = opendir(temp);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		_cleanup_buf_ struct buf path = BUF_INIT;
		const char *number = starts_with(entry->d_name, FOLDER);
		struct stat st;
		u64 pid;

		if (!number || !scan_u64(&number, number + strlen(number), 10, &pid) || !pid ||
		    pid > INT32_MAX || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
			continue;
		buf_addf(&path, "%s/%s", temp, entry->d_name);
		remove_folder(buf_str(&path));
	}
	if (dir)
		closedir(dir);
}

int jobs_init(struct jobs *j, struct err *e)
{
	const char *temp = getenv("TMPDIR");
	_cleanup_buf_ struct buf path = BUF_INIT;

	j->dir = -1;
	if (!temp || temp[0] != '/')
		temp = "/tmp";
	remove_stale(temp);
	buf_addf(&path, "%s/" FOLDER "%d-XXXXXX", temp, (int)getpid());
	if (!mkdtemp(path.data))
		return err_sys(e, errno, "cannot create a folder in '%s'", temp);
	j->path = buf_detach(&path);
	j->dir = open(j->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return j->dir < 0 ? err_sys(e, errno, "cannot open '%s'", j->path) : 0;
}

int jobs_copy(struct jobs *j, const char *from, const char *name, struct err *e)
{
	_cleanup_close_ int in = -1, out = -1;
	char piece[1 << 14];
	ssize_t n;
	int r = io_open_read(from, &in, e);

	if (r < 0)
		return r;
	out = openat(j->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0)
		return err_sys(e, errno, "cannot create '%s'", name);
	while ((n = read(in, piece, sizeof(piece))) > 0) {
		r = io_write_all(out, piece, (size_t)n);
		if (r < 0)
			return err_sys(e, r, "cannot copy '%s'", from);
	}
	return n < 0 ? err_sys(e, errno, "cannot read '%s'", from) : 0;
}

/* --- one job ---------------------------------------------------------------------------------- */

static const char *const state_names[] = {
	[JOB_QUEUED] = "queued", [JOB_RECORDING] = "recording", [JOB_DRAWING] = "drawing",
	[JOB_DONE] = "done",     [JOB_FAILED] = "failed",
};

static void remove_file(struct jobs *j, const struct job *job, const char *end)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	job_file_name(job, end, &name);
	(void)unlinkat(j->dir, buf_str(&name), 0);
}

static void job_free(struct jobs *j, struct job *job)
{
	static const char *const ends[] = { "data", "before.data", "html", "svg", "json", "csv" };

	child_release(&job->child);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		remove_file(j, job, ends[i]);
	free(job->input.file);
	free(job->before.file);
	free(job->note);
	free(job->error);
	free(job->hint);
	free(job->said);
	free(job);
}

void jobs_release(struct jobs *j)
{
	vec_each(d, &j->drawings) {
		child_release(&d->child);
		free(d->file);
	}
	vec_release(&j->drawings);
	vec_each(job, &j->all)
		job_free(j, *job);
	vec_release(&j->all);
	if (j->dir >= 0)
		close(j->dir);
	if (j->path)
		remove_folder(j->path);
	free(j->path);
}

struct job *jobs_find(struct jobs *j, u64 number)
{
	vec_each(job, &j->all)
		if ((*job)->number == number)
			return *job;
	return NULL;
}

static bool is_over(const struct job *job)
{
	return job->state == JOB_DONE || job->state == JOB_FAILED;
}

static void enter(struct jobs *j, struct job *job, enum job_state state)
{
	job->state = state;
	job->begun = clock_mono_ns();
	job->over = 0;
	job->cpu_last = 0;
	/* its words are in @error now */
	if (is_over(job))
		child_release(&job->child);
	j->changed(j->ctx, job);
}

static void fail(struct jobs *j, struct job *job, const char *why)
{
	child_words(&job->child, &job->error, &job->hint);
	if (job->q.ask == ASK_PROGRAM && !job->said)
		job->said = child_text(&job->child);
	if (job->said && !job->error)
		job->error = xstrdup("the program has errors");
	if (!job->error)
		job->error = xstrdup(why);
	enter(j, job, JOB_FAILED);
}

static int start(struct jobs *j, struct job *job, const struct command_line *line, bool to_json)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;

	job_file_name(job, "json", &out);
	if (child_start(&job->child, line, j->dir, to_json ? buf_str(&out) : NULL, &e) < 0) {
		fail(j, job, e.what);
		return -1;
	}
	return 0;
}

static void begin_drawing(struct jobs *j, struct job *job)
{
	_cleanup_buf_ struct buf file = BUF_INIT;
	struct command_line line = { 0 };

	job_file_name(job, "html", &file);
	job_draw_line(job, FORM_HTML, j->path, buf_str(&file), &line);
	if (start(j, job, &line, false) == 0)
		enter(j, job, JOB_DRAWING);
	command_line_release(&line);
}

static void begin_recording(struct jobs *j, struct job *job)
{
	struct command_line line = { 0 };

	job_record_line(job, j->path, &line);
	if (start(j, job, &line, job->q.ask != ASK_RECORD) == 0)
		enter(j, job, JOB_RECORDING);
	command_line_release(&line);
}

/* The next that waits, if nothing records. */
static void begin_next(struct jobs *j)
{
	struct job *next = NULL;

	vec_each(job, &j->all) {
		if ((*job)->state == JOB_RECORDING)
			return;
		if ((*job)->state == JOB_QUEUED && !next)
			next = *job;
	}
	if (next)
		begin_recording(j, next);
}

static void forget_old(struct jobs *j)
{
	size_t over = 0;

	vec_each(job, &j->all)
		over += is_over(*job);
	for (size_t i = 0; over > JOBS_KEPT && i < j->all.len;) {
		if (!is_over(j->all.items[i])) {
			i++;
			continue;
		}
		job_free(j, j->all.items[i]);
		memmove(&j->all.items[i], &j->all.items[i + 1],
			(j->all.len - i - 1) * sizeof(*j->all.items));
		j->all.len--;
		over--;
	}
}

static int check_queue(const struct jobs *j, struct err *e)
{
	size_t waiting = 0;

	vec_each(job, &j->all)
		waiting += (*job)->state == JOB_QUEUED || (*job)->state == JOB_DRAWING;
	if (waiting < JOBS_QUEUED)
		return 0;
	err_set(e, EBUSY, "%d recordings wait already", JOBS_QUEUED);
	err_hint(e, "try again when one of them is done");
	return -EBUSY;
}

static int make_key(char ret[JOB_KEY + 1], struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	u8 bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_sys(e, errno, "cannot make a key");
	fmt_hex(&text, bytes, sizeof(bytes));
	memcpy(ret, text.data, JOB_KEY + 1);
	return 0;
}

/* Another name for the file: the one that it has may go to another recording. */
static void keep_input(struct jobs *j, const struct job *job, const char *end,
		       struct job_input *input)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	job_file_name(job, end, &name);
	if (!input->file || linkat(j->dir, input->file, j->dir, buf_str(&name), 0) < 0)
		return;
	free(input->file);
	input->file = buf_detach(&name);
}

int jobs_add(struct jobs *j, const struct web_request *q, struct job_input input,
	     struct job_input before, const char *note, struct job **ret, struct err *e)
{
	struct job *job = xcalloc(1, sizeof(*job));
	int r;

	*job = (struct job){ .q = *q,
			     .input = input,
			     .before = before,
			     .note = note ? xstrdup(note) : NULL,
			     .child = CHILD_INIT,
			     .state = JOB_QUEUED,
			     .wall = clock_wall_ns() / NSEC_PER_MSEC };
	job->role = q->ask == ASK_PROGRAM ? ROLE_PROGRAM
		    : q->ask == ASK_TOOL  ? ROLE_TRACE
					  : ROLE_PROFILE;
	r = check_queue(j, e);
	if (!r)
		r = make_key(job->key, e);
	if (r < 0) {
		job_free(j, job);
		return r;
	}
	job->number = ++j->numbers;
	keep_input(j, job, "data", &job->input);
	keep_input(j, job, "before.data", &job->before);
	vec_push(&j->all, job);
	forget_old(j);
	if (job_records(job))
		begin_next(j);
	else
		begin_drawing(j, job);
	*ret = job;
	return 0;
}

void jobs_stop(struct jobs *j, struct job *job)
{
	if (job->state == JOB_QUEUED) {
		fail(j, job, "it was stopped before it began");
	} else if (job->state == JOB_RECORDING) {
		job->stopped = true;
		child_signal(&job->child, SIGINT);
	}
}

void jobs_leave(struct jobs *j, u64 stream)
{
	vec_each(job, &j->all) {
		if ((*job)->q.stream != stream || is_over(*job))
			continue;
		child_kill(&(*job)->child);
		fail(j, *job, "the page that requested it is gone");
	}
	begin_next(j);
}

bool jobs_busy(const struct jobs *j)
{
	vec_each(job, &j->all)
		if (!is_over(*job))
			return true;
	return j->drawings.len > 0;
}

/* --- what it costs ---------------------------------------------------------------------------- */

static void look_at_budget(struct jobs *j, struct job *job, double seconds)
{
	u64 cpu = child_cpu(&job->child);
	double percent;

	if (job->cpu_last && cpu > job->cpu_last) {
		percent = (double)(cpu - job->cpu_last) / 1e7 / seconds / j->cpus;
		job->over = percent > j->budget ? job->over + 1 : 0;
		if (job->over == BUDGET_LOOKS) {
			free(job->note);
			job->note =
				xasprintf("stopped: recording took %.1f%% of all CPUs for %d s, "
					  "more than the budget of %.1f%%",
					  percent, BUDGET_LOOKS, j->budget);
			jobs_stop(j, job);
		}
	}
	job->cpu_last = cpu;
}

void jobs_tick(struct jobs *j, double seconds)
{
	u64 now = clock_mono_ns();

	vec_each(item, &j->all) {
		struct job *job = *item;
		u64 most = job->q.seconds + DRAW_SECONDS;

		if (job->state == JOB_RECORDING && j->budget > 0)
			look_at_budget(j, job, seconds);
		if ((job->state == JOB_RECORDING || job->state == JOB_DRAWING) &&
		    now - job->begun > most * NSEC_PER_SEC) {
			child_kill(&job->child);
			fail(j, job, "it took too long");
		}
	}
	begin_next(j);
}

/* --- results ---------------------------------------------------------------------------------- */

static int open_file(struct jobs *j, const char *name)
{
	struct stat st;
	int fd = openat(j->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && (fstat(fd, &st) < 0 || !st.st_size)) {
		close(fd);
		return -ENOENT;
	}
	return fd < 0 ? -errno : fd;
}

int jobs_file(struct jobs *j, const struct job *job, enum web_form form)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	job_file_name(job, web_forms[form - 1], &name);
	return open_file(j, buf_str(&name));
}

static bool is_there(struct jobs *j, const struct job *job, enum web_form form)
{
	_cleanup_close_ int fd = jobs_file(j, job, form);

	return fd >= 0;
}

static int start_drawing(struct jobs *j, struct drawing *d, struct command_line *line,
			 struct buf *name, bool to_stdout, struct err *e)
{
	int r = child_start(&d->child, line, j->dir, to_stdout ? buf_str(name) : NULL, e);

	command_line_release(line);
	if (r < 0) {
		child_release(&d->child);
		return r;
	}
	d->file = buf_detach(name);
	vec_push(&j->drawings, *d);
	return 0;
}

int jobs_draw_so_far(struct jobs *j, const struct job *job, u64 ref, struct err *e)
{
	struct command_line line = { 0 };
	struct drawing d = { .child = CHILD_INIT,
			     .ref = ref,
			     .job = job->number,
			     .form = FORM_HTML,
			     .so_far = true };
	_cleanup_buf_ struct buf name = BUF_INIT;

	if (!job_draws(job) || job->state != JOB_RECORDING)
		return err_set(e, EINVAL, "the job is not done");
	vec_each(other, &j->drawings)
		if (other->so_far)
			return err_set(e, EBUSY, "what there is so far is drawn already");
	job_file_name(job, "part.html", &name);
	job_draw_so_far_line(job, j->path, buf_str(&name), &line);
	return start_drawing(j, &d, &line, &name, false, e);
}

int jobs_draw(struct jobs *j, const struct job *job, enum web_form form, u64 ref, struct err *e)
{
	struct command_line line = { 0 };
	struct drawing d = { .child = CHILD_INIT, .ref = ref, .job = job->number, .form = form };
	_cleanup_buf_ struct buf name = BUF_INIT;

	if (!job_draws(job) || form == FORM_DATA || form == FORM_HTML)
		return err_set(e, ENOENT, "this job has no result of that form");
	if (j->drawings.len >= DRAWINGS_MOST)
		return err_set(e, EBUSY, "too many results are drawn now");
	job_file_name(job, web_forms[form - 1], &name);
	job_draw_line(job, form, j->path, buf_str(&name), &line);
	return start_drawing(j, &d, &line, &name, form == FORM_JSON || form == FORM_CSV, e);
}

static void end_drawing(struct jobs *j, size_t i)
{
	struct drawing d = j->drawings.items[i];
	int status = child_reap(&d.child, &(u64){ 0 }), file;
	_cleanup_free_ char *error = NULL;
	_cleanup_free_ char *hint = NULL;

	j->drawings.items[i] = j->drawings.items[--j->drawings.len];
	file = WIFEXITED(status) && !WEXITSTATUS(status) ? open_file(j, d.file) : -1;
	if (file < 0)
		child_words(&d.child, &error, &hint);
	if (d.so_far)
		(void)unlinkat(j->dir, d.file, 0);
	/* of a recording that continues there may be nothing yet */
	j->drawn(j->ctx, d.ref, d.form, file, d.so_far ? 202 : 500,
		 error ? error : "the result cannot be drawn in that form", hint);
	if (file >= 0)
		close(file);
	child_release(&d.child);
	free(d.file);
}

static void nothing_past(struct job *job)
{
	free(job->error);
	free(job->hint);
	job->error = xstrdup("no stack of that time and target was recorded");
	job->hint = xstrdup("the recorder of the past begins with the page, and is late where the "
			    "machine has no CPU to spare: try again, or a longer span");
}

static void end_step(struct jobs *j, struct job *job)
{
	int status = child_reap(&job->child, &job->cpu);
	bool good;

	/* a recording that was stopped is one; rows without a stack have no picture */
	good = WIFEXITED(status) &&
	       (!WEXITSTATUS(status) || job->stopped ||
		(WEXITSTATUS(status) == CHILD_NOTHING && is_there(j, job, FORM_JSON)));
	job->picture = job->q.ask == ASK_TOOL && is_there(j, job, FORM_HTML);
	if (!good && job->q.from && WIFEXITED(status) && WEXITSTATUS(status) == CHILD_NOTHING)
		nothing_past(job);
	if (!good) {
		_cleanup_free_ char *end = child_end_text(status);

		fail(j, job, end);
	} else if (job->state == JOB_RECORDING && job_draws(job)) {
		_cleanup_buf_ struct buf name = BUF_INIT;

		job_file_name(job, "data", &name);
		job->input.file = buf_detach(&name);
		begin_drawing(j, job);
	} else {
		enter(j, job, JOB_DONE);
	}
	begin_next(j);
}

size_t jobs_fds(const struct jobs *j, int *fds, size_t most)
{
	size_t n = 0;

	vec_each(job, &j->all)
		if ((*job)->child.pid > 0 && n < most)
			fds[n++] = (*job)->child.fd;
	vec_each(d, &j->drawings)
		if (n < most)
			fds[n++] = d->child.fd;
	return n;
}

void jobs_ended(struct jobs *j, int fd)
{
	for (size_t i = 0; i < j->drawings.len; i++) {
		if (j->drawings.items[i].child.fd == fd) {
			end_drawing(j, i);
			return;
		}
	}
	vec_each(job, &j->all) {
		if ((*job)->child.pid > 0 && (*job)->child.fd == fd) {
			end_step(j, *job);
			return;
		}
	}
}

static void describe_diff(const struct web_request *q, struct json *out)
{
	if (q->job) {
		json_kv_u64(out, "of", q->job);
		json_kv_u64(out, "other", q->other);
		return;
	}
	json_kv_u64(out, "from", q->from);
	json_kv_u64(out, "to", q->to);
	json_kv_u64(out, "before_from", q->before_from);
	json_kv_u64(out, "before_to", q->before_to);
}

static void describe_request(const struct job *job, struct json *out)
{
	const struct web_request *q = &job->q;

	if (q->ask == ASK_RECORD) {
		json_kv_str(out, "kind", web_kinds[q->kind - 1]);
		json_kv_str(out, "target", web_targets[q->target - 1]);
		if (q->target == TARGET_CGROUP)
			json_kv_str(out, "cgroup", q->group);
		else if (q->target != TARGET_MACHINE)
			json_kv_u64(out, "id", q->id);
		if (q->from) {
			json_kv_u64(out, "from", q->from);
			json_kv_u64(out, "to", q->to);
		}
	} else if (q->ask == ASK_DIFF) {
		json_kv_str(out, "kind", "diff");
		describe_diff(q, out);
	} else {
		json_kv_str(out, "kind", q->ask == ASK_TOOL ? "tool" : "program");
		if (q->ask == ASK_TOOL) {
			json_kv_str(out, "tool", q->name);
			json_kv_bool(out, "picture", job->picture);
		} else {
			json_kv_str(out, "text", q->text);
		}
	}
}

void job_describe(const struct job *job, struct json *out)
{
	json_open(out);
	json_kv_u64(out, "job", job->number);
	json_kv_str(out, "state", state_names[job->state]);
	describe_request(job, out);
	json_kv_u64(out, "begun", job->wall);
	json_kv_u64(out, "seconds", job->q.seconds);
	json_kv_u64(out, "stream", job->q.stream);
	json_kv_double(out, "cpu_ms", (double)job->cpu / 1e6);
	if (job->note)
		json_kv_str(out, "note", job->note);
	if (job->error)
		json_kv_str(out, "error", job->error);
	if (job->hint)
		json_kv_str(out, "hint", job->hint);
	if (job->said)
		json_kv_str(out, "said", job->said);
	/* a client that may list the job may see its page */
	if (job->state == JOB_DONE || (job->state == JOB_RECORDING && job_draws(job)))
		json_kv_str(out, "key", job->key);
	json_close(out);
}
