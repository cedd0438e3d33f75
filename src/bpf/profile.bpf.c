/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler: at each overflow of the perf event that it is attached to, the kernel stack and the
 * unwound user stack as one record in the ring. A user stack that needs a table which is not there
 * yet leaves as registers and stack bytes, to be unwound in user space when the table is.
 */
#include "bpf/unwind.bpf.h"

#define UNWIND_LIST_PYTHON 1
#include "bpf/unwind_list.bpf.h"

/* Without its own types the kernel does not know the context of a program in a global function. */
#ifdef BPF_RAW
#define PROFILE_CALLED static __attribute__((noinline))
#else
#define PROFILE_CALLED __attribute__((noinline)) /* verified once */
#endif

/* Set before loading. */
const volatile struct {
	u32 max_user;
	u32 wake_bytes;   /* wake the reader when that much is waiting */
	u32 rescue_bytes; /* no copies of stacks when that much is: they must not crowd out samples
			   */
	u8 rescue;
	u8 pad;
} profile_options = { .max_user = UNWIND_MAX_FRAMES };

/*
 * Only this process and its descendants are sampled; 0: everything. For events of whole CPUs, when
 * per-task events were opened too late.
 */
u32 profile_root = 0;

/* By where the stack is; what is found is checked, so any collision will do. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UNWIND_STACK_MEMOS);
	__type(key, u32);
	__type(value, struct unwind_stack_memo);
} profile_memos SEC(".maps");

enum { TREE_KNOWN = 1024, TREE_DEPTH = 24 };

/* When the process in this place began << 1 | it belongs to the tree. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TREE_KNOWN);
	__type(key, u32);
	__type(value, u64);
} profile_tree SEC(".maps");

struct tree_walk {
	u64 task;
	u64 root;
};

/* A call each: the verifier would follow every turn of a loop. */
static long tree_up(u32 i, void *ctx)
{
	struct tree_walk *w = ctx;
	struct task_struct *task = (struct task_struct *)w->task;
	u32 tgid = BPF_CORE_READ(task, tgid);

	if (tgid == w->root || tgid <= 1)
		return 1;
	w->task = (u64)BPF_CORE_READ(task, real_parent);
	return 0;
}

/* A process that was found once stays, also when its parent is gone. */
__attribute__((noinline)) int profile_in_tree(u32 root)
{
	struct task_struct *task = task_current();
	struct tree_walk walk = { .task = bpf_get_current_task(), .root = root };
	u64 began = BPF_CORE_READ(task, group_leader, start_time) << 1;
	u32 at = task_field(task, tgid) & (TREE_KNOWN - 1);
	u64 *known = bpf_map_lookup_elem(&profile_tree, &at);

	if (known && *known && (*known & ~1ull) == began)
		return *known & 1;
	bpf_loop(TREE_DEPTH, tree_up, &walk, 0);
	task = (struct task_struct *)walk.task;
	u32 last = BPF_CORE_READ(task, tgid);
	u64 found = last == root;

	if (known)
		*known = began | found;
	return found;
}

static __always_inline u64 wake_flags(void)
{
	u64 waiting = bpf_ringbuf_query(&unwind_ring, BPF_RB_AVAIL_DATA);

	return waiting > profile_options.wake_bytes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline void fill_header(struct bpf_perf_event_data *ctx, struct unwind_sample *out,
					u32 event)
{
	u64 id = unwind_task_id();

	out->type = UNWIND_RECORD_SAMPLE;
	out->pid = id >> 32;
	out->tid = id;
	out->cpu = bpf_get_smp_processor_id();
	out->time = bpf_ktime_get_ns();
	out->period = ctx->sample_period;
	out->addr = ctx->addr;
	out->event = event;
	out->python = 0;
	out->program = 0;
	bpf_get_current_comm(out->comm, sizeof(out->comm));
}

static __always_inline u32 kernel_stack(struct bpf_perf_event_data *ctx, struct unwind_sample *out)
{
	long bytes = bpf_get_stack(ctx, out->ip, UNWIND_MAX_KERNEL * 8, 0);

	if (bytes < 0 || bytes >= UNWIND_MAX_KERNEL * 8)
		unwind_count_rare(UNWIND_COUNT_KERNEL_CUT);
	return bytes > 0 ? (u32)bytes / 8 : 0;
}

/* Into the slot; 0: there is no user part. */
PROFILE_CALLED int profile_regs(struct bpf_perf_event_data *ctx, struct unwind_slot *slot)
{
	if (!slot)
		return 0;
	if (!slot->out.user_ip)
		return unwind_from_task(slot);
	unwind_from_regs(slot, &ctx->regs);
	/* no load may be shared with the other branch: its address would be computed */
	asm volatile("");
	return 1;
}

/* The registers where the walk ended, as far as they can be obtained; false: only those it began
 * with.
 */
static __always_inline bool walked_regs(struct unwind_slot *slot)
{
	struct unwind_state *s = &slot->s;

	/* they may be in a part of the stack that is not copied */
	if (s->bx_at && bpf_probe_read_user(&s->reg[UNWIND_REG_BX], 8, (const void *)s->bx_at))
		s->bx_lost = 1;
	return s->bp_known ||
	       !bpf_probe_read_user(&s->reg[UNWIND_REG_BP], 8, (const void *)s->bp_at);
}

/*
 * The frames up to the one that has no table stay; the rest is unwound from there. Code of which
 * nothing was known may have led astray: then all is done again.
 */
static __always_inline void rescue_from(struct bpf_perf_event_data *ctx, struct unwind_slot *slot,
					struct unwind_rescue *r)
{
	struct unwind_sample *out = &slot->out;
	u32 done = out->n_user - 1;

	r->n_user = 0;
	r->python = 0;
	if (slot->scratch.new_code || done - 1 >= UNWIND_RESCUE_FRAMES || !walked_regs(slot)) {
		profile_regs(ctx, slot);
		__builtin_memcpy(r->regs, slot->s.reg, sizeof(r->regs));
		return;
	}
	r->returned = slot->s.returned;
	r->full = slot->s.full;
	r->bx_lost = slot->s.bx_lost;
	r->fp_steps = slot->s.fp_steps;
	r->python = out->python;
	r->program = out->program;
	__builtin_memcpy(r->regs, slot->s.reg, sizeof(r->regs));
	if (!bpf_probe_read_kernel(r->user, sizeof(r->user), &out->ip[slot->first & 127]))
		r->n_user = done;
}

/* Functions of Python without a place among the frames so far: what they are in may be gone soon.
 */
static __always_inline void rescue_python(struct unwind_slot *slot, struct unwind_rescue *r)
{
	struct python_walk *w = &slot->python;
	u32 at = r->n_user ? w->at : 0, n;

	r->n_python = 0;
	n = w->n - at;
	if (!w->python || at >= UNWIND_PYTHON_WORDS - UNWIND_RESCUE_PYTHON ||
	    bpf_probe_read_kernel(r->py, sizeof(r->py), &w->py[at & (UNWIND_RESCUE_PYTHON - 1)]))
		return;
	r->python = w->python;
	r->program = python_program(w);
	r->n_python = n < UNWIND_RESCUE_PYTHON ? n : UNWIND_RESCUE_PYTHON;
}

/* True when the sample is on its way; the user frames of @out are void then. */
PROFILE_CALLED int profile_rescue(struct bpf_perf_event_data *ctx, struct unwind_slot *slot)
{
	if (!slot)
		return 0;
	struct unwind_sample *out = &slot->out;
	struct unwind_rescue *r;

	if (bpf_ringbuf_query(&unwind_ring, BPF_RB_AVAIL_DATA) > profile_options.rescue_bytes) {
		unwind_count_rare(UNWIND_COUNT_RESCUES_LOST);
		return 0;
	}
	unwind_list_vmas(slot);
	if (!slot->python.ready)
		unwind_python_begin(slot, 1);
	r = bpf_ringbuf_reserve(&unwind_ring, sizeof(*r), 0);
	if (!r) {
		unwind_count_rare(UNWIND_COUNT_RESCUES_LOST);
		return 0;
	}
	r->type = UNWIND_RECORD_RESCUE;
	r->pid = out->pid;
	r->tid = out->tid;
	r->cpu = out->cpu;
	r->time = out->time;
	r->period = out->period;
	r->addr = out->addr;
	r->event = out->event;
	r->user_ip = out->user_ip;
	r->n_kernel = out->n_kernel;
	__builtin_memcpy(r->comm, out->comm, sizeof(r->comm));
	rescue_from(ctx, slot, r);
	rescue_python(slot, r);
	bpf_probe_read_kernel(r->kernel, sizeof(r->kernel), out->ip);
	bpf_probe_read_kernel(r->vmas, sizeof(r->vmas), slot->vmas);
	r->n_vmas = slot->n_vmas;
	r->stack_bytes = unwind_copy_stack(r);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	unwind_count_rare(UNWIND_COUNT_RESCUES);
	return 1;
}

static __always_inline void emit(struct unwind_slot *slot)
{
	u64 size = UNWIND_SAMPLE_HEADER + 8 * (u64)(slot->out.n_kernel + slot->out.n_user);
	/* new code of a Python has to be read while it is there */
	u64 flags = slot->out.python && slot->python.fresh ? BPF_RB_FORCE_WAKEUP : wake_flags();

	if (size > sizeof(slot->out))
		return;
	if (bpf_ringbuf_output(&unwind_ring, &slot->out, size, flags))
		unwind_count_rare(UNWIND_COUNT_LOST);
}

static __always_inline void note_python(struct unwind_slot *slot, struct unwind_counts *counts)
{
	struct python_walk *w = &slot->python;

	if (!w->python)
		return;
	slot->out.python = w->python;
	slot->out.program = python_program(w);
	counts->n[UNWIND_COUNT_PYTHON_FRAMES] += w->at;
	if (slot->s.end == UNWIND_END_ROOT && w->py[w->at & (UNWIND_PYTHON_WORDS - 1)])
		counts->n[UNWIND_COUNT_PYTHON_UNPLACED]++;
}

/* The frames of the user stack; its registers are in the slot. */
static __always_inline void user_stack(struct unwind_slot *slot, struct unwind_counts *counts)
{
	struct unwind_sample *out = &slot->out;
	struct unwind_stack_memo *memo;
	u32 at;

	slot->pid = out->pid;
	unwind_validate(slot);
	slot->leaves = 2;
	at = ((slot->scratch.valid.mm ^ slot->s.reg[UNWIND_REG_SP] >> 20) *
	      0x9e3779b97f4a7c15ull) >>
		     40 &
	     (UNWIND_STACK_MEMOS - 1);
	memo = bpf_map_lookup_elem(&profile_memos, &at);
	if (!memo)
		return;
	out->n_user = unwind_run(slot, profile_options.max_user, memo);
	out->end = slot->s.end;
	if (out->end == UNWIND_END_NO_MAP && out->n_user == 1 && !out->user_ip) {
		out->end = UNWIND_END_EXEC;
		out->n_user = 0;
	}
	out->fp_steps = slot->s.fp_steps;
	note_python(slot, counts);
}

static __always_inline void sample(struct bpf_perf_event_data *ctx, struct unwind_slot *slot,
				   struct unwind_counts *counts, u32 event)
{
	struct unwind_sample *out = &slot->out;
	u64 ip = ctx->regs.ip;

	fill_header(ctx, out, event);
	out->user_ip = !(ip >> 63);
	out->n_kernel = out->user_ip ? 0 : kernel_stack(ctx, out);
	out->n_user = 0;
	out->end = UNWIND_END_NONE;
	out->fp_steps = 0;
	slot->first = out->n_kernel;
	if (profile_regs(ctx, slot))
		user_stack(slot, counts);
	else
		out->end = UNWIND_END_NO_REGS;
	if (out->end == UNWIND_END_NO_TABLE && profile_options.rescue && profile_rescue(ctx, slot))
		return;
	counts->n[out->end & 31]++;
	counts->n[UNWIND_COUNT_FRAMES] += out->n_user;
	counts->n[UNWIND_COUNT_FP_FRAMES] += out->fp_steps;
	emit(slot);
}

static __attribute__((noinline)) int take(struct bpf_perf_event_data *ctx, u32 event)
{
	struct unwind_counts *counts = unwind_counts();
	struct unwind_slot *slot;

	if (!counts || (profile_root && !profile_in_tree(profile_root)))
		return 0;
	slot = unwind_slot_take();
	counts->n[UNWIND_COUNT_SAMPLES]++;
	if (!slot) {
		counts->n[UNWIND_COUNT_LOST]++;
		return 0;
	}
	sample(ctx, slot, counts, event);
	unwind_slot_give(slot);
	return 0;
}

/*
 * One program for each event. A cookie would do for events of a CPU or a single thread, but events
 * that children inherit lose it. Only as many are loaded as there are events.
 */
#define PROGRAM(n)                                              \
	SEC("perf_event")                                       \
	int profile_sample_##n(struct bpf_perf_event_data *ctx) \
	{                                                       \
		return take(ctx, n);                            \
	}

PROGRAM(0)
PROGRAM(1)
PROGRAM(2)
PROGRAM(3)
PROGRAM(4)
PROGRAM(5)
PROGRAM(6)
PROGRAM(7)
PROGRAM(8)
PROGRAM(9)
PROGRAM(10)
PROGRAM(11)
PROGRAM(12)
PROGRAM(13)
PROGRAM(14)
PROGRAM(15)

char LICENSE[] SEC("license") = "GPL";
