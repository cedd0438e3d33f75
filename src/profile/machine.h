/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorded machine as its records describe it: which process has mapped what, what its threads
 * are called, and so what an address of one of them means at this moment of the replay.
 */
#ifndef PROFILE_MACHINE_H
#define PROFILE_MACHINE_H

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "host/mappings.h"
#include "recording/info.h"
#include "recording/record.h"
#include "symbol/symbol.h"

struct runtime;

enum place_kind {
	PLACE_USER,
	PLACE_KERNEL,
	PLACE_JIT,
	PLACE_HYPERVISOR,
	PLACE_GUEST_KERNEL,
	PLACE_GUEST_USER,
};

/* What an address means. Strings belong to the machine or its symbol store. */
struct place {
	const char *name; /* of the function; NULL: not known */
	const char *raw;  /* the same as in the file, if that is known */
	const char *dso; /* path as recorded, "[kernel.kallsyms]", "[ext4]"; NULL: nothing mapped */
	u64 address;     /* file offset; the address itself for the kernel and run-time code */
	u64 start;       /* of the function, in the same terms */
	u32 module;      /* of the symbol store, 0 for the kernel and run-time code */
	u32 flags;       /* enum symbol_flags */
	u8 kind;         /* enum place_kind */
	bool is_return;  /* the code meant is before @address */
	bool no_file;    /* of no file: @dso is that of the process's map of run-time code */
	const char *file; /* source of run-time code, if known; else NULL */
	u32 line;
	u32 frame; /* free for the user of the machine: cache of what it made of this */
};

/* A mapping of code in whose place there is another one since @until. */
struct mapping_before {
	struct mapping map;
	u64 until;
};

enum { MAPPINGS_BEFORE = 1024 }; /* of one process that are remembered */

struct process {
	s32 pid;
	s32 ppid;
	u32 comm;   /* string */
	u32 cgroup; /* string */
	/*
	 * A mapping's id is its module in the symbol store, 0 for memory without a file; its path
	 * is the machine's. What is not executable is recorded only where addresses of data are.
	 */
	struct mappings maps;
	VEC(struct mapping_before) before; /* in the order of time */
	size_t n_past;                     /* of these, the last that were there at last_time */
	struct map places;                 /* address -> place id, of the present mappings */
	u32 generation;                    /* counts changes of the mappings */
	u64 last_time;                     /* of its samples: see machine_moment() */
	u64 code_changes;                  /* of its run-time code, until then */
	const struct runtime *nameless; /* who made the code without a name that was met, or NULL */
};

/* What was asked last at a place in a small table: most questions repeat. */
struct place_hint {
	u64 key;
	const struct process *process; /* NULL: the kernel */
	u32 generation;
	u32 id; /* 0: free */
};

enum { MACHINE_HINTS = 4096 };

struct machine {
	struct symbols *symbols;
	struct intern strings;
	struct map process_ids; /* pid -> index into processes */
	VEC(struct process *) processes;
	struct map comms;   /* tid -> string */
	struct map cgroups; /* cgroup id -> string */
	struct map kernel_places;
	struct map guest_places;        /* and the hypervisor's */
	struct mappings kernel_modules; /* by "[ath9k]" */
	struct map place_ids;           /* hash of module and offset -> place id */
	VEC(struct place) places;       /* [0] unused */
	struct place_hint *hints;       /* MACHINE_HINTS */
	struct map build_ids;           /* path -> 1 + index of the recording's */
	const struct recording_info *info;
	u64 wall_shift; /* from the time of a record to CLOCK_REALTIME; 0: not known */
	u64 bad_maps;
};

void machine_init(struct machine *m, struct symbols *symbols);
/* Build ids that the recording's header has, for mappings without, and its clock; @info must
 * outlive
 * @m.
 */
void machine_build_ids(struct machine *m, const struct recording_info *info);
void machine_release(struct machine *m);
/* Takes note of MMAP, COMM, FORK, EXIT, KSYMBOL, CGROUP; ignores the rest. */
void machine_record(struct machine *m, const struct record *r);
/* A file that lies from @start to @end in the process, from any source: not by a record. */
void machine_map(struct machine *m, struct process *p, u64 start, u64 end,
		 const struct module_key *file);
/* It has ended, and nobody will ask what its addresses were: what is known of them goes. */
void machine_forget(struct machine *m, s32 pid);
/* Made on first sight. */
struct process *machine_process(struct machine *m, s32 pid);
/*
 * What follows is of this moment: addresses mean what they meant then. A wait's stack is of its
 * begin, which may be long before other code was mapped there.
 */
void machine_moment(struct machine *m, struct process *p, const struct sample *s);
/* Likewise of now: a number that changes when what addresses mean does. */
u64 machine_code(struct machine *m, struct process *p);
/* Name of a thread: its own, its process's, or ":TID" as perf writes it. */
u32 machine_comm(struct machine *m, s32 pid, s32 tid);
/* Path of a cgroup by its id; 0 when it was never named. */
u32 machine_cgroup(const struct machine *m, u64 id);
const char *machine_str(const struct machine *m, u32 id);

enum address_mode {
	ADDRESS_USER,
	ADDRESS_KERNEL,
	ADDRESS_HYPERVISOR,
	/* the names of this machine are not those of its guests */
	ADDRESS_GUEST_KERNEL,
	ADDRESS_GUEST_USER,
};

static inline bool address_is_guest(enum address_mode mode)
{
	return mode == ADDRESS_GUEST_KERNEL || mode == ADDRESS_GUEST_USER;
}

/* Which half of a stack it belongs to. */
static inline bool address_is_user(enum address_mode mode)
{
	return mode == ADDRESS_USER || mode == ADDRESS_GUEST_USER;
}

/*
 * What @address is. @is_return says that it was found as a return address: the call before it is
 * what counts. The place stays valid until the next call; its strings, for the machine's life.
 */
struct place *machine_place(struct machine *m, struct process *p, enum address_mode mode,
			    u64 address, bool is_return);
/* The mode in which a sample was taken. */
enum address_mode machine_mode(const struct record *r);
/* True when the word of a call chain is a mark: the addresses after it are of *@mode. */
bool machine_context(u64 ip, enum address_mode *mode);
/* The mapping that holds a user address, or NULL. */
const struct mapping *machine_mapping(const struct process *p, u64 address);

#endif
