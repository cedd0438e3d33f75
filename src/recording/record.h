/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record of a recording, as the reader delivers it, and typed views of its contents.
 *
 * Records are perf's: a struct perf_event_header { u32 type; u16 misc; u16 size; } followed by
 * size - 8 bytes. What the callback gets is always in this machine's byte order and 8-byte
 * aligned, whatever the file was written by. Everything that a record points to (raw bytes,
 * callchain, names) is valid only during the callback.
 *
 * The views (record_mmap() and so on) check every length against the record; -EBADMSG means that
 * the record is too short for what it claims, and nothing was written.
 */
#ifndef RECORDING_RECORD_H
#define RECORDING_RECORD_H

#include "base/base.h"
#include "base/buf.h"

#include <linux/perf_event.h>

/* Record types of perf's user side, and kernel types that older system headers lack. */
enum record_type {
	RECORD_CALLCHAIN_DEFERRED = 22,
	RECORD_USER_FIRST = 64, /* types from here on were written by a program, not the kernel */
	RECORD_HEADER_ATTR = 64,
	RECORD_HEADER_EVENT_TYPE = 65, /* ignored by perf; carries our own features, see format.h */
	RECORD_HEADER_TRACING_DATA = 66,
	RECORD_HEADER_BUILD_ID = 67,
	RECORD_FINISHED_ROUND = 68,
	RECORD_ID_INDEX = 69,
	RECORD_AUXTRACE_INFO = 70,
	RECORD_AUXTRACE = 71,
	RECORD_AUXTRACE_ERROR = 72,
	RECORD_THREAD_MAP = 73,
	RECORD_CPU_MAP = 74,
	RECORD_STAT_CONFIG = 75,
	RECORD_STAT = 76,
	RECORD_STAT_ROUND = 77,
	RECORD_EVENT_UPDATE = 78,
	RECORD_TIME_CONV = 79,
	RECORD_HEADER_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_FINISHED_INIT = 82,
	RECORD_COMPRESSED2 = 83,
	RECORD_BPF_METADATA = 84,
	RECORD_SCHEDSTAT_CPU = 85,
	RECORD_SCHEDSTAT_DOMAIN = 86,
	RECORD_TYPE_END = 87,
};

enum {
	RECORD_MAX_SIZE = 65535,
	RECORD_NO_EVENT = 0xffffffffu, /* record.event when the event is not known */
	RECORD_NO_PID = 0xffffffffu,
	RECORD_BUILD_ID_MOST = 20,
};

/*
 * The values of PERF_SAMPLE_READ. Of a group (PERF_FORMAT_GROUP in format) rows[] has nr rows of
 * { value, id?, lost? }, stride words each; otherwise value, id and lost are the event's own.
 */
struct sample_read {
	u64 format; /* attr.read_format */
	u64 time_enabled;
	u64 time_running;
	u64 value, id, lost;
	u64 nr;
	u32 stride;
	const u64 *rows;
};

struct sample_regs {
	u64 abi;  /* PERF_SAMPLE_REGS_ABI_*; NONE: no registers */
	u64 mask; /* bit n set: register n is there */
	u32 nr;
	const u64 *values; /* in order of the mask's bits */
};

/* As struct perf_branch_entry; a type of our own so that flags can be read as one number. */
struct sample_branch {
	u64 from;
	u64 to;
	u64 flags; /* bit 0 mispredicted, 1 predicted, 2 in_tx, 3 abort, 4-19 cycles, 20-23 type */
};

/* A sample in full. Fields are 0 or NULL unless their bit is set in type. */
struct sample {
	u64 type; /* attr.sample_type: PERF_SAMPLE_* bits of what is there */
	u64 id;   /* from IDENTIFIER or ID, 0 if neither */
	u64 ip;
	u32 pid;
	u32 tid;
	u64 time;
	u64 addr;
	u64 stream_id;
	u32 cpu;
	u64 period; /* attr.sample_period when the sample does not carry one and freq is 0, else 1
		     */
	struct sample_read read;
	const u64 *ips; /* callchain, innermost first, with PERF_CONTEXT_* marks */
	u64 n_ips;
	const void *raw; /* not swapped: tracepoint data in the writer's byte order */
	u32 raw_size;
	const struct sample_branch *branches;
	u64 n_branches;
	u64 branch_hw_index;
	struct sample_regs regs_user;
	const void *stack; /* copy of the user stack from sp upwards */
	u64 stack_size;    /* bytes in the file */
	u64 stack_dyn;     /* bytes that the kernel really copied; <= stack_size */
	u64 weight;
	u64 data_src;
	u64 transaction;
	struct sample_regs regs_intr;
	u64 phys_addr;
	u64 cgroup;
	u64 data_page_size;
	u64 code_page_size;
	const void *aux;
	u64 aux_size;
};

struct record {
	u32 type;
	u16 misc;
	u16 size;
	const struct perf_event_header *header; /* the whole record, size bytes */
	u64 offset; /* in the file; of the compressed record around it if there is one */
	u32 event;  /* index into the recording's events, RECORD_NO_EVENT if unknown */
	u64 has;    /* PERF_SAMPLE_{TID,TIME,ID,STREAM_ID,CPU}: which of these are known */
	u32 pid;    /* RECORD_NO_PID unless known */
	u32 tid;
	u32 cpu;
	u64 time; /* 0 unless known */
	u64 id;
	u64 stream_id;
	size_t body_end;             /* bytes of the record before its trailing id fields */
	const struct sample *sample; /* of a PERF_RECORD_SAMPLE, else NULL */
};

static inline bool record_is_kernel_mode(const struct record *r)
{
	return (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

/* Of a virtual machine: its addresses are not of this one. */
static inline bool record_is_guest(const struct record *r)
{
	unsigned int mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

/* MMAP and MMAP2 in one form. */
struct record_mmap {
	u32 pid; /* RECORD_NO_PID for the kernel and its modules */
	u32 tid;
	u64 addr;
	u64 len;
	u64 pgoff;
	u32 prot;  /* PROT_EXEC is assumed for MMAP records without the MMAP_DATA bit */
	u32 flags; /* MAP_* */
	u32 maj, min;
	u64 ino, ino_generation;
	u8 build_id[RECORD_BUILD_ID_MOST];
	u8 build_id_size;     /* 0: none */
	const char *filename; /* NUL-terminated */
};

struct record_comm {
	u32 pid, tid;
	bool exec;
	const char *comm;
};

/* FORK and EXIT */
struct record_task {
	u32 pid, ppid, tid, ptid;
	u64 time;
};

/* LOST, LOST_SAMPLES and, with its own counters, THROTTLE/UNTHROTTLE are too small for views. */
struct record_lost {
	u64 id; /* 0 for LOST_SAMPLES */
	u64 lost;
};

struct record_namespace {
	u64 dev, ino;
};

struct record_namespaces {
	u32 pid, tid;
	u64 nr;                             /* net uts ipc pid user mnt cgroup, in this order */
	const struct record_namespace *all; /* nr of them */
};

struct record_ksymbol {
	u64 addr;
	u32 len;
	u16 type; /* PERF_RECORD_KSYMBOL_TYPE_* */
	bool unregister;
	const char *name;
};

struct record_bpf {
	u16 type; /* PERF_BPF_EVENT_PROG_LOAD 1, _UNLOAD 2 */
	u16 flags;
	u32 id;
	u8 tag[8];
};

struct record_cgroup {
	u64 id;
	const char *path;
};

/* HEADER_EVENT_TYPE: a part of one of our own features that stands for itself. */
struct record_piece {
	u32 feature;
	u32 size;
	const void *data;
};

/* SWITCH and SWITCH_CPU_WIDE; who switches is in the record's pid and tid. */
struct record_switch {
	bool out;
	bool preempt;
	u32 next_prev_pid; /* RECORD_NO_PID for SWITCH */
	u32 next_prev_tid;
};

int record_mmap(const struct record *r, struct record_mmap *ret);
int record_comm(const struct record *r, struct record_comm *ret);
int record_task(const struct record *r, struct record_task *ret);
int record_lost(const struct record *r, struct record_lost *ret);
int record_namespaces(const struct record *r, struct record_namespaces *ret);
int record_ksymbol(const struct record *r, struct record_ksymbol *ret);
int record_bpf(const struct record *r, struct record_bpf *ret);
int record_cgroup(const struct record *r, struct record_cgroup *ret);
int record_switch(const struct record *r, struct record_switch *ret);
int record_piece(const struct record *r, struct record_piece *ret);

/* "MMAP2", "SAMPLE", "FINISHED_ROUND"...; NULL for undefined types. */
const char *record_type_name(u32 type);

/*
 * Builders: append one record to @b. @attr is the event that the record belongs to: its
 * sample_type decides the fields of a sample and, with sample_id_all, the trailing id fields of
 * all other records. They return -EMSGSIZE when the record would exceed 65535 bytes.
 *
 * build_sample() writes what attr->sample_type asks for from @s: a synthetic sample (off-CPU
 * time, a stack unwound in BPF) is a struct sample with ip, ips, time and period filled in.
 * s->type, s->read.format and the register masks are taken from @attr, not from @s.
 */
struct record_ids {
	u32 pid, tid;
	u64 time;
	u64 id;
	u64 stream_id;
	u32 cpu;
};

int build_sample(struct buf *b, const struct perf_event_attr *attr, u16 misc,
		 const struct sample *s);
/* MMAP2, with the build id when build_id_size is not 0. @misc: PERF_RECORD_MISC_USER or _KERNEL. */
int build_mmap2(struct buf *b, const struct perf_event_attr *attr, const struct record_ids *ids,
		u16 misc, const struct record_mmap *m);

#endif
