/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The off-CPU engine: BPF programs on the scheduler's tracepoints that take the stack of the thread
 *that leaves a CPU, its waker, and how long it was away; summed up in the kernel, or sent wait by
 * wait.
 *
 *	waits_engine_new	loads the programs
 *	waits_engine_start	attaches them; with opts.threads also opens the account of every
 *thread waits_engine_read	whenever waits_engine_fd() is readable, or 10 times a second
 *	waits_engine_stop	detaches; with opts.threads sends the accounts (read once more)
 *	waits_engine_rows	the sums since the last call
 *	waits_engine_free
 *
 * Times are CLOCK_MONOTONIC. Stacks and chains stay valid until waits_engine_forget().
 */
#ifndef WAITS_ENGINE_H
#define WAITS_ENGINE_H

#include "base/parse.h"
#include "bpf/offcpu_abi.h"
#include "unwind/feed.h"
#include "runtime/python_names.h"
#include "waits/wait.h"

enum {
	WAITS_ROWS = 16384, /* unless asked for another number */
	WAITS_ROWS_MOST = 1 << 20,
	WAITS_STACKS_MOST = 1 << 17, /* kept in user space */
};
#define WAITS_TURN_NS (10ull * 1000 * 1000 * 1000)

struct waits_stack;

struct waits_opts {
	const range_list *pids; /* NULL or empty: no such filter; those of one kind are or-ed */
	const range_list *tids;
	const u32 *uids;
	size_t n_uids;
	const char *const *comms; /* exact names */
	size_t n_comms;
	const char *const *cgroups; /* directories, with all that is below them */
	size_t n_cgroups;
	bool follow; /* children of the pids, too */
	u32 states;  /* enum wait_in, 0: all */
	u64 min_ns, max_ns;
	u64 period; /* one sample for this many ns off CPU, 0: every wait */
	u64 rows;   /* room for sums, 0: WAITS_ROWS */
	u64 ring_bytes;
	bool no_sleeper_stacks;
	bool no_runnable_stacks; /* of those that wait for nothing but a CPU */
	bool no_kernel_stacks, no_user_stacks;
	bool wakers; /* the waker of each sleep */
	bool chains; /* and who woke that one, ... */
	/*
	 * The kernel's function by which tasks run softirqs themselves, the softirq of packets that
	 * arrive, and those that call the former when they have sent something: who does that is
	 * named as waker of the receiver. Not known: every softirq counts as an interrupt.
	 */
	struct offcpu_range entry, bh, receiver, senders[OFFCPU_SENDERS];
	bool by_thread;
	bool waker_pids; /* wakers of one name are distinguished by process; with by_thread they are
			  */
	bool send;       /* wait by wait, to on_wait */
	bool intervals;  /* waits_engine_rows() will be asked before waits_engine_stop() */
	bool threads;    /* accounts, to on_thread */
	bool ran;        /* who had the CPU while others waited for it: waits_engine_ran() */
	bool no_kthreads, no_users;
	bool walk_always;            /* no stack is recognised instead of walked */
	struct python_names *python; /* functions of Python among the frames; NULL: not wanted */
	bool places; /* user frames are places in files (unwind_place()), except for code outside
			files */
	/* A negative result ends the reading. */
	int (*on_wait)(void *ctx, const struct offcpu_wait *w);
	int (*on_thread)(void *ctx, const struct offcpu_thread *t);
	/*
	 * May be NULL. With @places, of each new stack with addresses that are in no file: what
	 * they are must be asked for before the process ends.
	 */
	void (*on_bare)(void *ctx, const struct waits_stack *s);
	void *ctx;
};

struct waits_stack {
	u64 id;
	const u64
		*kernel; /* innermost first; the frames of the tracepoint itself are still there */
	const u64 *user;
	u32 n_kernel;
	u32 n_user;
	u32 pid;
	u8 end;      /* enum unwind_end of the user part */
	bool python; /* has functions of Python, as addresses of python_names.h */
	u32 mark;    /* free for the user: what it made of this, ... */
	u64 code;    /* ... and of which state of the code of its process; 0: of files alone */
	u64 ip[];    /* what is above points here */
};

struct waits_stats {
	u64 counts[OFFCPU_COUNTERS];
	u64 ends[UNWIND_END_COUNT];
	u64 rescues, rescues_lost, kernel_cut;
	u64 recognised, checked, misrecognised; /* stacks, see bpf/unwind.bpf.h */
	u64 stacks, chains;                     /* kept */
	u64 stacks_dropped;                     /* beyond WAITS_STACKS_MOST */
	bool raw;            /* by raw tracepoints: the kernel does not describe its types */
	bool partial_starts; /* stacks of threads that slept before us have no kernel part */
	bool no_irq_context; /* interrupts cannot be distinguished from the tasks that they
				interrupt */
};

struct waits_engine;

int waits_engine_new(struct waits_engine **ret, const struct waits_opts *opts, struct err *e);
void waits_engine_free(struct waits_engine *o);
/* Tables for the files of all that runs, or of the pids that were named. Before start. */
void waits_engine_feed(struct waits_engine *o);
/* After loading, before start: one more process to look at, with its children if opts.follow. */
int waits_engine_add_pid(struct waits_engine *o, u32 pid, struct err *e);
/* Read soon afterwards: threads that sleep already are unwound by what they have in memory. */
int waits_engine_start(struct waits_engine *o, struct err *e);
/*
 * Before the stop, when the threads requested have ended: their parent hears of that
 * before they leave their CPU for the last time, and that is when their accounts are sent. Waits
 * for those, up to 20 ms after the last one.
 */
void waits_engine_settle(struct waits_engine *o);
void waits_engine_stop(struct waits_engine *o);
int waits_engine_fd(const struct waits_engine *o);
int waits_engine_read(struct waits_engine *o);
/* The accounts up to now, to on_thread; the programs go on. */
int waits_engine_accounts(struct waits_engine *o, struct err *e);
/* The same without the waits that continue: those are sent whole when they end. */
int waits_engine_lives(struct waits_engine *o, struct err *e);

/*
 * Every now and then (WAITS_TURN_NS): begins a new turn, in which all that is in use is sent, or
 * named, again. Take the rows, and then forget: what was not in this turn nor in the one before.
 */
int waits_engine_turn(struct waits_engine *o, struct err *e);
void waits_engine_forget(struct waits_engine *o);

typedef int (*waits_row_fn)(void *ctx, const struct offcpu_key *k, const struct offcpu_value *v);
/* Takes the sums out of the kernel; all of them after waits_engine_stop(), or opts.intervals. */
int waits_engine_rows(struct waits_engine *o, waits_row_fn fn, void *ctx, struct err *e);

typedef int (*waits_ran_fn)(void *ctx, const struct offcpu_ran_key *k,
			    const struct offcpu_ran_value *v);
/* With opts.ran: of all the time in run queues, who had the CPU then. */
int waits_engine_ran(struct waits_engine *o, waits_ran_fn fn, void *ctx);

/* NULL: not known (0, or lost). */
/* The profile in which stacks were remembered is gone. */
void waits_engine_unmark(struct waits_engine *o);
struct waits_stack *waits_engine_stack(const struct waits_engine *o, u64 id);
const struct offcpu_who *waits_engine_waker(const struct waits_engine *o, u64 id);
/* How many links a chain has; 0: it is not known. */
u32 waits_engine_chain(const struct waits_engine *o, u64 id,
		       struct offcpu_link ret[static OFFCPU_LINKS]);
void waits_engine_stats(const struct waits_engine *o, struct waits_stats *ret);
/* The files of places, by their numbers. */
const struct numbered *waits_engine_files(const struct waits_engine *o);
/* What run-time code is called, as far as its runtime knows. */
const struct code_names *waits_engine_code_names(const struct waits_engine *o);

/* Mappings that are known from elsewhere, for processes that are gone when they are requested. */
void waits_engine_note_map(struct waits_engine *o, int pid, const struct mapping *map);

#endif
