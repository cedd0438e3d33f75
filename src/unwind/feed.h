/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user-space half of the kernel's unwinder: fills its table maps. Rows go straight into memory
 * that is shared with the kernel; a file becomes visible with one map update at the end.
 *
 * The tables are kept only there: the user-space unwinder can look rules up through the feed too.
 */
#ifndef UNWIND_FEED_H
#define UNWIND_FEED_H

#include "unwind/files.h"
#include "unwind/numbered.h"
#include "runtime/python.h"

/* Descriptors of the maps of bpf/unwind.bpf.h; they stay the caller's. */
struct unwind_feed_maps {
	int bins;
	int rules;
	int pool;
	u64 *epoch;  /* unwind_epoch, see bpf/unwind_valid.bpf.h; may be NULL */
	int pythons; /* 0: Python's functions are not wanted among the frames */
	bool later;  /* pages of large tables follow when they are met: stacks that end there with
			UNWIND_END_NO_TABLE can be finished */
};

struct unwind_feed_stats {
	u64 files;    /* that the kernel knows now */
	u64 renewals; /* times that all tables were given up because there was no room */
	u64 bytes;    /* of kernel memory for their tables */
};

struct unwind_feed;

struct code_names;

int unwind_feed_new(struct unwind_feed **ret, const struct unwind_feed_maps *maps, struct err *e);
void unwind_feed_free(struct unwind_feed *f);

/* Answers a request from the ring. -ENOENT: the file could not be opened; it will ask again. */
int unwind_feed_need(struct unwind_feed *f, const struct unwind_need *need, struct err *e);
/* Makes sure that the file of a mapping is known; cheap when it is. */
int unwind_feed_map(struct unwind_feed *f, const struct mapping *map, int pid, struct err *e);
/* The same for a mapping as the symbol store has it, and for a file that is not mapped yet. */
void unwind_feed_module(struct unwind_feed *f, const struct module_key *key);
void unwind_feed_file(struct unwind_feed *f, const char *path);
/*
 * The executable mappings of one process, or of all that run; @large: large ones, too, for callers
 * that cannot finish a stack later. Returns the number of new files.
 */
int unwind_feed_process(struct unwind_feed *f, int pid);
int unwind_feed_running(struct unwind_feed *f, bool large);
/*
 * A rule for run-time code that ran at @time (CLOCK_MONOTONIC); NULL: none. Looks at the process
 * again if that was not done since.
 */
const struct unwind_rule *unwind_feed_code_rule(struct unwind_feed *f, u32 pid, u64 pc, u64 time);
/*
 * Where a file lies, for when its process is gone before it is requested (from mmap events). A
 * request that comes with a path of its own needs none.
 */
void unwind_feed_hint(struct unwind_feed *f, const struct unwind_key *key, const char *path);

/*
 * A rule of a published file; false when the file is not known, or only in another version than
 * @version (NULL or all 0: any). *ret is NULL without CFI. A page that is not there yet is
 * published first.
 */
bool unwind_feed_rule(struct unwind_feed *f, const struct unwind_key *key,
		      const struct unwind_version *version, u64 offset,
		      const struct unwind_rule **ret);
/* The file's number in places; 0: it has none. And the files of all numbers. */
u32 unwind_feed_number(const struct unwind_feed *f, const struct unwind_key *key,
		       const struct unwind_version *version);
const struct numbered *unwind_feed_numbered(const struct unwind_feed *f);
/* The build of an index that came with a sample; NULL: none. */
const struct python_build *unwind_feed_python(const struct unwind_feed *f, u32 index);
/* Called with each new file that has a table: it may be gone soon. */
typedef void unwind_feed_new_fn(void *ctx, int fd, const struct elf *elf);
void unwind_feed_on_new(struct unwind_feed *f, unwind_feed_new_fn *fn, void *ctx);
/* Interpreted methods of java in a stack of a process get their names. */
void unwind_feed_methods(struct unwind_feed *f, u32 pid, const u64 *words, size_t n);
/*
 * Looks again at processes with run-time code: which code took the place of which, and when. Cheap
 * when called often: it looks once a second, or less often where that would take a percent of the
 * time. With @now whatever the time is: at the end.
 */
void unwind_feed_watch(struct unwind_feed *f, bool now);
/* What run-time code is called, as far as its runtime knows. */
const struct code_names *unwind_feed_names(const struct unwind_feed *f);
void unwind_feed_stats(const struct unwind_feed *f, struct unwind_feed_stats *ret);

#endif
