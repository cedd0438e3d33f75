/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/names.h"

#include "symbol/ask.h"

#include "base/clock.h"
#include "base/parse.h"
#include "capture/synth.h"
#include "host/procfs.h"
#include "waits/session.h"

enum {
	FILES_PID = -2,            /* of no process */
	LEARN_MOST = 64,           /* times that one process is asked what it has mapped */
	RENEW_PROCESSES = 1 << 14, /* with mappings: most of them have ended long ago */
};
#define REST_NS (10 * NSEC_PER_SEC)

/* --- what is mapped --------------------------------------------------------------------------- */

static int take_records(void *ctx, const void *bytes, size_t size)
{
	struct waits_names *n = ctx;
	const u8 *p = bytes;

	while (size >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *h = (const void *)p;
		struct record r = {
			.type = h->type,
			.misc = h->misc,
			.size = h->size,
			.header = h,
			.event = RECORD_NO_EVENT,
			.pid = RECORD_NO_PID,
			.tid = RECORD_NO_PID,
		};

		if (h->size < sizeof(*h) || h->size > size || h->size % 8)
			break;
		machine_record(&n->machine, &r);
		p += h->size;
		size -= h->size;
	}
	return 0;
}

void waits_names_learn_all(struct waits_names *n)
{
	struct synth synth = { .sink = take_records, .ctx = n };

	(void)synth_processes(&synth, NULL);
}

void waits_names_record(struct waits_names *n, const void *bytes, size_t size)
{
	(void)take_records(n, bytes, size);
}

/*
 * Files have a process of their own, in which each lies where its places are. Only those that are
 * met are in it: over the days there may have been a million.
 */
static void map_file(struct waits_names *n, u64 place)
{
	const struct numbered *files = n->engine ? waits_engine_files(n->engine) : NULL;
	const u32 number = (u32)((place & ~UNWIND_PLACE_BIT) >> UNWIND_PLACE_OFFSET);
	const struct numbered_file *f = files ? numbered_get(files, number) : NULL;
	const u64 start = (u64)number << UNWIND_PLACE_OFFSET;

	if (!f || map_find(&n->mapped, number))
		return;
	const struct module_key key = numbered_key(f);

	map_put(&n->mapped, number, 1);
	machine_map(&n->machine, machine_process(&n->machine, FILES_PID), start,
		    start + (1ull << UNWIND_PLACE_OFFSET), &key);
}

static size_t known_files(const struct waits_names *n)
{
	return n->engine ? waits_engine_files(n->engine)->items.len : 0;
}

/* The address of code in no file that is not known to be mapped. */
static bool is_strange(const struct waits_names *n, const struct process *proc, u64 word)
{
	return !(word >> 62) && !unwind_method(word) && !machine_mapping(proc, word) &&
	       !(n->python && python_names_find(n->python, word));
}

void waits_names_learn(struct waits_names *n, const struct waits_stack *s)
{
	struct synth synth = { .sink = take_records, .ctx = n };
	const struct process *proc = machine_process(&n->machine, (s32)s->pid);
	u64 *times = map_at(&n->learned, s->pid);

	for (u32 i = 0; i < s->n_user; i++) {
		if (!is_strange(n, proc, s->user[i]))
			continue;
		if ((*times)++ < LEARN_MOST)
			(void)synth_process(&synth, (pid_t)s->pid, NULL);
		return;
	}
}

void waits_names_rest(struct waits_names *n)
{
	u64 now = clock_mono_ns();

	if (now < n->next_rest)
		return;
	if (n->next_rest)
		symbols_lines_rest(n->symbols);
	n->next_rest = now + REST_NS;
}

void waits_names_forget(struct waits_names *n, u32 pid)
{
	machine_forget(&n->machine, (s32)pid);
	map_del(&n->learned, pid);
}

/* --- life ------------------------------------------------------------------------------------- */

void waits_names_open(struct waits_names *n, struct profile *profile,
		      const struct waits_engine *engine)
{
	struct synth synth = { .sink = take_records, .ctx = n };

	*n = (struct waits_names){
		.profile = profile,
		.symbols = symbols_new(&(struct symbols_opts){ .ask_kernel = true }),
		.engine = engine,
	};
	n->frames = (struct frames){ .profile = profile, .symbols = n->symbols, .inlines = true };
	machine_init(&n->machine, n->symbols);
	synth_kernel(&synth, NULL);
}

void waits_names_release(struct waits_names *n)
{
	map_release(&n->learned);
	map_release(&n->mapped);
	machine_release(&n->machine);
	symbols_free(n->symbols);
}

enum { RENEW_AFTER = 16 };        /* new files */
#define RENEW_BYTES (24ull << 20) /* more memory than after the last time */

/* Of this process; 0: it cannot be read. */
static u64 own_memory(void)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *at;
	u64 pages;

	if (procfs_read((u32)getpid(), 0, "statm", 256, &text, NULL) < 0)
		return 0;
	at = strchr(buf_str(&text), ' ');
	if (!at++ || !scan_u64(&at, at + strlen(at), 10, &pages))
		return 0;
	return pages * (u64)sysconf(_SC_PAGESIZE);
}

u64 waits_names_several(const struct waits_names *n)
{
	return n->several + symbols_several(n->symbols);
}

void waits_names_restart(struct waits_names *n)
{
	struct waits_names old = *n;
	const u64 several = waits_names_several(n);

	waits_names_release(&old);
	waits_names_open(n, old.profile, old.engine);
	n->several = several;
	n->python = old.python;
	n->dropped = old.dropped;
	n->renewed = known_files(n);
	n->memory = 0; /* of the next turn */
}

void waits_names_renew(struct waits_names *n)
{
	u64 memory = n->engine ? own_memory() : 0;
	size_t files = known_files(n);
	bool crowded = n->machine.processes.len >= RENEW_PROCESSES;

	/* what is mapped is asked again when it is met */
	if (!n->engine && crowded)
		waits_names_restart(n);
	if (!n->memory)
		n->memory = memory;
	if (!n->engine || (!crowded && (files == n->renewed || (files < n->renewed + RENEW_AFTER &&
								memory < n->memory + RENEW_BYTES))))
		return;
	waits_names_restart(n);
}

/* --- frames ----------------------------------------------------------------------------------- */

/* A function of Python that is known by its address alone; 0: not one. */
static u32 python_frame(struct waits_names *n, u64 ip)
{
	const struct python_function *f = n->python ? python_names_find(n->python, ip) : NULL;
	struct frame out;

	if (!f)
		return 0;
	out = (struct frame){
		.name = profile_string(n->profile, intern_get(&n->python->strings, f->name)),
		.module = profile_string(n->profile,
					 intern_len(&n->python->strings, f->file)
						 ? intern_get(&n->python->strings, f->file)
						 : PYTHON_MAP_NAME),
		.kind = FRAME_INTERPRETED,
	};
	return profile_get_frame(n->profile, &out);
}

static u32 frame_of(struct waits_names *n, struct process *proc, enum address_mode mode, u64 ip,
		    bool is_return)
{
	struct place *place = machine_place(&n->machine, proc, mode, ip, is_return);
	u32 frame = place->frame;

	if (frame)
		return frame;
	frame = frames_of(&n->frames, place);
	place->frame = frame;
	return frame;
}

/* The first informative function of the stack. */
static bool is_begin(const char *name, enum wait_cut cut)
{
	static const char *const sleeper[] = { "__schedule", "schedule", "preempt_schedule_common",
					       NULL };
	static const char *const waker[] = { "try_to_wake_up", "wake_up_process",
					     "default_wake_function", "wake_up_q", NULL };

	return streq_any(name, cut == WAIT_CUT_SLEEPER ? sleeper : waker);
}

enum { FRAMES_MOST = UNWIND_RECORD_IPS };

struct found {
	u32 items[FRAMES_MOST];
	u32 n;
};

static bool is_interrupt(const struct profile *p, const struct frame *f)
{
	const char *name = profile_str(p, f->name);

	return wait_is_interrupt(name, strlen(name));
}

static void add_kernel(struct waits_names *n, const struct waits_stack *s, enum wait_cut cut,
		       struct found *out)
{
	struct process *proc = machine_process(&n->machine, 0);
	u32 frames[FRAMES_MOST], count = MIN(s->n_kernel, (u32)FRAMES_MOST), begin = 0;

	for (u32 i = 0; i < count; i++) {
		const struct frame *f;

		frames[i] = frame_of(n, proc, ADDRESS_KERNEL, s->kernel[i], i > 0);
		f = &n->profile->frames.items[frames[i]];
		if (!begin && cut != WAIT_CUT_NONE &&
		    is_begin(profile_str(n->profile, f->name), cut))
			begin = i + 1;
	}
	for (u32 i = begin ? begin - 1 : 0; i < count && out->n < FRAMES_MOST; i++) {
		const struct frame *f = &n->profile->frames.items[frames[i]];

		out->items[out->n++] = frames[i];
		if (cut == WAIT_CUT_IRQ && is_interrupt(n->profile, f))
			break;
	}
}

static void add_user(struct waits_names *n, const struct waits_stack *s, struct found *out)
{
	bool root = false;

	for (u32 i = 0; i < s->n_user && out->n < FRAMES_MOST; i++) {
		u64 word = s->user[i];
		bool place = unwind_is_place(word);

		if (place)
			map_file(n, word);
		u32 frame = place ? 0 : python_frame(n, word);

		if (!frame)
			frame = frame_of(
				n, machine_process(&n->machine, place ? FILES_PID : (s32)s->pid),
				ADDRESS_USER, place ? word & ~UNWIND_PLACE_BIT : word, i > 0);

		root |= profile_is_root_frame(n->profile, frame);
		n->profile->total_frames++;
		n->profile->unnamed_frames += n->profile->frames.items[frame].no_name;
		out->items[out->n++] = frame;
	}
	if (s->n_user)
		n->profile
			->stack_ends[root || s->end == UNWIND_END_ROOT ? STACK_ROOT : STACK_CUT]++;
}

/*
 * A number for the state of the run-time code in a stack: what was named before it changed gets its
 * name again. 0: all is in files.
 */
static u64 code_of(struct waits_names *n, const struct waits_stack *s)
{
	bool bare = false;

	for (u32 i = 0; i < s->n_user && !bare; i++)
		bare = !unwind_is_place(s->user[i]);
	if (n->engine)
		n->n_codes = symbols_code_take(n->symbols, waits_engine_code_names(n->engine),
					       n->n_codes);
	if (!bare)
		return 0;
	return 1 + machine_code(&n->machine, machine_process(&n->machine, (s32)s->pid));
}

bool waits_names_full(const struct profile *p)
{
	return p->stacks.len >= WAITS_FRAMES_MOST || p->frames.len >= WAITS_FUNCTIONS_MOST;
}

u32 waits_names_dropped(struct profile *p)
{
	return profile_push_frame(p, 0, wait_marker(p, WAITS_DROPPED));
}

u32 waits_names_stack(struct waits_names *n, struct waits_stack *s, enum wait_cut cut)
{
	struct found f;
	u32 stack = 0;

	if (!s)
		return 0;
	if (s->mark && (!s->code || s->code == code_of(n, s)))
		return s->mark;
	if (waits_names_full(n->profile)) {
		n->dropped++;
		return waits_names_dropped(n->profile);
	}
	s->code = code_of(n, s);
	f.n = 0;
	add_kernel(n, s, cut, &f);
	if (cut != WAIT_CUT_IRQ)
		add_user(n, s, &f);
	for (u32 i = f.n; i--;)
		stack = profile_push_frame(n->profile, stack, f.items[i]);
	s->mark = stack;
	return stack;
}

void waits_find_senders(struct waits_opts *opts)
{
	static const char *const names[4 + OFFCPU_SENDERS] = {
		"__entry_text_start", "__entry_text_end",  "__local_bh_enable_ip", "net_rx_action",
		"__dev_queue_xmit",   "ip_finish_output2", "ip6_finish_output2"
	};
	struct ask_range r[ARRAY_SIZE(names)];

	ask_ranges(names, ARRAY_SIZE(names), r);
	opts->entry = (struct offcpu_range){ r[0].begin, r[1].begin };
	opts->bh = (struct offcpu_range){ r[2].begin, r[2].end };
	opts->receiver = (struct offcpu_range){ r[3].begin, r[3].end };
	for (int i = 0; i < OFFCPU_SENDERS; i++)
		opts->senders[i] = (struct offcpu_range){ r[i + 4].begin, r[i + 4].end };
}
