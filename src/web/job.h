/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What people ask the engine to do: record and draw, take a span of the past and draw it, run a
 * tool. One recording at a time, a few wait; each job is one or two processes, one after the
 * other, and files in a folder that only we can enter.
 */
#ifndef WEB_JOB_H
#define WEB_JOB_H

#include "base/json.h"
#include "web/child.h"
#include "web/message.h"

enum {
	JOBS_KEPT = 16,  /* finished ones */
	JOBS_QUEUED = 4, /* that wait for their turn */
	JOB_KEY = 2 * TOKEN_BYTES,
};

enum job_state { JOB_QUEUED = 1, JOB_RECORDING, JOB_DRAWING, JOB_DONE, JOB_FAILED };

/* What a picture is drawn from: a recording in the folder, and seconds of its clock. */
struct job_input {
	char *file;      /* NULL: none */
	double from, to; /* 0, 0: all of it */
};

struct job {
	u64 number;
	enum job_state state;
	struct web_request q;
	enum web_role role; /* that its result needs */
	struct child child;
	bool stopped; /* early, what there is is drawn */
	bool picture; /* a tool that has a flame graph beside its rows */
	u64 begun;    /* mono, ns; of its present state */
	u64 wall;     /* ms, of its start */
	u64 cpu;      /* of its children so far */
	u64 cpu_last; /* at the last look at its budget */
	u32 over;     /* looks in a row at which it was over it */
	struct job_input input;
	struct job_input before; /* of a difference */
	char *note, *error, *hint;
	char *said;            /* by a program that failed: its diagnostics */
	char key[JOB_KEY + 1]; /* of its page */
};

/* A request waits for a result in another form. */
struct drawing {
	struct child child;
	u64 ref;
	u64 job;
	enum web_form form;
	char *file;
	bool so_far; /* of a recording that continues: the file is not kept */
};

struct jobs {
	int dir;
	char *path;
	VEC(struct job *) all; /* oldest first */
	VEC(struct drawing) drawings;
	u64 numbers;
	double budget; /* percent of all CPUs; 0: none */
	u32 cpus;
	void (*changed)(void *ctx, const struct job *j);
	/* A drawing is there (@file), or is not: with what status of HTTP. */
	void (*drawn)(void *ctx, u64 ref, enum web_form form, int file, u32 status,
		      const char *error, const char *hint);
	void *ctx;
};

/* Makes the folder; removes those of servers that were killed. */
int jobs_init(struct jobs *j, struct err *e);
void jobs_release(struct jobs *j);
/* A copy of a file in the folder. */
int jobs_copy(struct jobs *j, const char *from, const char *name, struct err *e);
struct job *jobs_find(struct jobs *j, u64 number);
/*
 * -EBUSY: too many wait. What is not to be recorded has its inputs, whose names it takes over; the
 * files stay for it, whatever becomes of them under these names.
 */
int jobs_add(struct jobs *j, const struct web_request *q, struct job_input input,
	     struct job_input before, const char *note, struct job **ret, struct err *e);
void jobs_stop(struct jobs *j, struct job *job);
/* Its client is gone. */
void jobs_leave(struct jobs *j, u64 stream);
/* Looks after what they cost; each second. */
void jobs_tick(struct jobs *j, double seconds);
bool jobs_busy(const struct jobs *j);
/* The file of a result that is there; -ENOENT: it has to be drawn. */
int jobs_file(struct jobs *j, const struct job *job, enum web_form form);
/* What a recording that continues has so far, as a page; the next one waits for this one. */
int jobs_draw_so_far(struct jobs *j, const struct job *job, u64 ref, struct err *e);
int jobs_draw(struct jobs *j, const struct job *job, enum web_form form, u64 ref, struct err *e);
void job_describe(const struct job *job, struct json *out);

/* For poll(): the descriptors of all processes, and what to do when one is readable. */
size_t jobs_fds(const struct jobs *j, int *fds, size_t most);
void jobs_ended(struct jobs *j, int fd);

/* job_line.c: the command line of each step. */
/* Whether there can be such a recording. */
int job_check_target(const struct web_request *q, struct err *e);
void job_record_line(const struct job *job, const char *folder, struct command_line *line);
void job_draw_line(const struct job *job, enum web_form form, const char *folder, const char *file,
		   struct command_line *line);
/* The same of a recording that continues, as a page. */
void job_draw_so_far_line(const struct job *job, const char *folder, const char *file,
			  struct command_line *line);
bool job_records(const struct job *job);
bool job_draws(const struct job *job);
/* "job-7.html" */
void job_file_name(const struct job *job, const char *end, struct buf *out);

#endif
