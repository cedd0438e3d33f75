/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A compiled program at work. */
#ifndef LANG_RUN_H
#define LANG_RUN_H

#include "base/parse.h"
#include "lang/comp.h"
#include "lang/probe/provider.h"
#include "result/hist.h"

struct procmaps;
struct symbols;
struct skb_output;

struct timed {
	int prog_fd;
	int timer_fd; /* timer or signal; -1: begin, end, test, bench */
	const struct provider *provider;
	const char *event;
	bool done;
};

struct run {
	struct comp *c;
	const struct lang_sink *sink;
	VEC(int) map_fds;  /* by number of the BPF map */
	VEC(int) prog_fds; /* by unit; -1: not loaded */
	VEC(int) fds;      /* links and events that close fast */
	VEC(int) slow_fds; /* perf tracepoints and uprobes */
	VEC(struct timed) timed;
	VEC(int) iters; /* also in fds */
	struct event_ring {
		u8 *consumer; /* page with the consumer's place */
		u8 *producer; /* page with the producer's place, then the data twice */
		size_t mask;
		size_t page;
	} ring;
	u32 attached;
	u32 left_out; /* probes that could not be attached, and were not asked for strictly */
	struct skb_output *skb; /* packets to files; or NULL */
	u64 packets_lost;
	const char *pinned; /* what to say about a pinned iterator; or NULL */
	bool stopping;
	int exit_code;
	int output_error;
	u64 boot_to_wall; /* wall clock minus boot clock */
	struct symbols *symbols;
	struct buf line; /* being put together */
	u64 counters[COUNTER_COUNT];
	u64 misses;            /* hits that the kernel left out: the probe was running already */
	u64 unresolved;        /* stacks that were not found */
	bool started;          /* something was written */
	bool ending;           /* 'end' runs: its events count though we are stopping */
	bool mute;             /* events are taken and dropped */
	bool gfp_looked;       /* gfp_enum is known */
	u32 gfp_enum;          /* of the allocator's flags in the kernel's BTF; 0: none */
	struct procmaps *maps; /* of processes, for user symbols */
	range_list code;       /* of our own programs, once a kernel stack was shown */
	bool code_known;
};

struct lang {
	struct comp c;
	struct run r;
	/* As it was given: compiling changes its own copy. */
	const char *name;
	char *text;
	size_t len;
};

/* Takes a descriptor over; @slow: closing it waits for the kernel. */
void run_keep(struct run *r, int fd, bool slow);
int run_load(struct run *r, struct err *e);
int run_attach(struct run *r, struct err *e);
int run_loop(struct run *r, int child_fd, struct err *e);
void run_close(struct run *r, bool background);
/* What the program counted of its own failures, by now. */
void run_read_counters(struct run *r);
void run_release(struct run *r);
/* Runs a program that is attached to nothing; @ret_value may be NULL. */
int run_once(int prog_fd, u32 *ret_value);
/* Handles the events that are there. */
int run_drain(struct run *r);
/* The modes of test and bench probes. */
int run_tests(struct run *r, struct err *e);
int run_benches(struct run *r, struct err *e);

/* --- packets: what skboutput() sends --- */
int run_skb_open(struct run *r, struct err *e);
void run_skb_drain(struct run *r);
/* Readable when there are packets; -1: none are requested. */
int run_skb_fd(const struct run *r);
void run_skb_close(struct run *r);

/* --- output --- */
void run_write(struct run *r, bool to_err, const char *text, size_t n);
void run_event(struct run *r, const void *record, size_t size);
void run_print_map(struct run *r, const struct map_def *m, s64 top, s64 div, const void *only);
void run_print_maps(struct run *r);
/* A histogram from the sums over all CPUs, whose words it keeps. */
struct histogram run_histogram(const struct type *t, u64 *sum);
void run_hist(const struct run *r, const struct type *t, u64 *sum, u64 div, struct buf *out);
void run_hist_json(const struct type *t, u64 *sum, u64 div, struct buf *out);
struct map_dump;
/* Values by intervals of time; those of all CPUs are in @values. */
void run_series(struct run *r, const struct type *t, const struct map_dump *d, const u8 *values,
		struct buf *out, bool json);
void run_rows(struct run *r, const struct map_def *m,
	      void (*row)(void *ctx, const struct lang_row *row), void *ctx);
/* Every key with its value, or with what all CPUs have together. */
void run_map_entries(struct run *r, const struct map_def *m,
		     void (*each)(void *ctx, const u8 *key, const u8 *value, const u64 *sum),
		     void *ctx);
void run_clear_map(struct run *r, const struct map_def *m, bool zero);
/* Appends a stored value in text form; @quote: as JSON. */
void run_value(struct run *r, const struct type *t, const u8 *bytes, struct buf *out, bool json);
void run_printf(struct run *r, const char *fmt, const struct type *args, const u8 *bytes,
		struct buf *out);
void run_stack(struct run *r, const struct type *t, const u8 *bytes, struct buf *out, u32 indent,
	       bool folded);
void run_ksym(struct run *r, u64 address, struct buf *out, bool offset);
void run_usym(struct run *r, u64 address, u32 pid, struct buf *out, bool offset);
/* Flags of the page allocator by name. */
void run_gfp(struct run *r, u64 flags, struct buf *out);
void run_strftime(struct run *r, const char *fmt, u64 wall_ns, struct buf *out);
/* From now on mappings of processes are noted, so that their symbols outlive them. */
void run_watch_maps(struct run *r);
/* Reads every key and value; values of all CPUs follow one another. */
struct map_dump {
	u8 *keys;
	u8 *values;
	size_t n;
	size_t key_size;
	size_t value_size; /* of one CPU */
	size_t cpus;       /* 1 for maps that are not per CPU */
};
int run_dump_map(struct run *r, const struct map_def *m, struct map_dump *ret);
void map_dump_release(struct map_dump *d);
u32 run_cpus(void);
/* JSON forms. */
void run_json(struct run *r, const char *type, const char *data, size_t n);

#endif
