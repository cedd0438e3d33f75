/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>

#include "profile.skel.h"
#include "profile_raw.skel.h"
#include "unwind/checks.h"
#include "unwind/loader.h"
#include "unwind/rescue.h"

enum {
	RING_BYTES = 4 << 20,
	RING_MIN = 1 << 17,
	RING_MAX = 1 << 30,
	PYTHON_PROGRAMS_MOST = 1 << 16, /* processes; then each is announced once more */
};

struct sampler {
	struct profile_bpf *skel;
	struct sampler_opts opts;
	bool raw; /* the kernel does not describe its types */
	struct ring_buffer *ring;
	struct unwind_feed *feed;
	struct rescue rescue;
	struct python_names own_python;
	struct python_names *python;
	struct map python_programs; /* pid -> program whose mapping was announced, + 1 */
	VEC(int) links;
	u32 n_events;
	u64 ends[UNWIND_END_COUNT]; /* of rescued stacks */
	u64 rescued_frames;
	u64 ring_bytes;
	u64 turn;      /* bytes that this sampler_read() took */
	u64 round;     /* of sampler_read() */
	sampler_fn fn; /* during sampler_read() */
	void *fn_ctx;
	int fn_rc;
	int n_read;
};

static struct bpf_program *program_of(const struct sampler *s, u32 event)
{
	char name[32];

	snprintf(name, sizeof(name), "profile_sample_%u", event);
	return bpf_object__find_program_by_name(s->skel->obj, name);
}

static int set_options(struct sampler *s, const struct sampler_opts *o, struct err *e)
{
	u64 ring = o->ring_bytes ? o->ring_bytes : RING_BYTES;
	u32 frames = o->max_user_frames;

	if (ring < RING_MIN || ring > RING_MAX || (ring & (ring - 1)))
		return err_set(e, EINVAL, "%llu bytes is not a valid size of the sample ring",
			       (unsigned long long)ring);
	if (o->events > UNWIND_EVENTS)
		return err_set(e, E2BIG, "at most %d events can be sampled at once", UNWIND_EVENTS);
	if (!frames || frames > UNWIND_MAX_FRAMES)
		frames = UNWIND_MAX_FRAMES;
	s->n_events = MAX(o->events, 1);
	for (u32 i = s->n_events; i < UNWIND_EVENTS; i++)
		bpf_program__set_autoload(program_of(s, i), false);
	s->skel->rodata->profile_options.max_user = frames;
	s->skel->rodata->profile_options.wake_bytes = (u32)(ring / 4);
	s->skel->rodata->profile_options.rescue_bytes = (u32)(ring - ring / 4);
	s->skel->rodata->profile_options.rescue = !o->no_rescue;
	loader_set_pidns(s->skel->rodata);
	unwind_checks_set(s->skel->rodata, o->walk_always);
	s->ring_bytes = ring;
	return -bpf_map__set_max_entries(s->skel->maps.unwind_ring, (u32)ring);
}

LOADER_FORMS(profile)
LOADER_SAME(profile, rodata, profile_options);
LOADER_SAME(profile, rodata, unwind_pidns);
LOADER_SAME(profile, rodata, unwind_walk_always);
LOADER_SAME(profile, rodata, unwind_check_every);
LOADER_SAME(profile, bss, profile_root);
LOADER_SAME(profile, bss, unwind_epoch);

static int prepare(void *ctx, bool again, struct err *e)
{
	struct sampler *s = ctx;

	(void)again;
	return set_options(s, &s->opts, e);
}

static int load(struct sampler *s, struct err *e)
{
	const struct loader l = { LOADER_OF(profile), .what = "sampling", .few_types = true,
				  .prepare = prepare, .ctx = s };
	int rc = loader_load(&l, &s->raw, &s->skel, e);

	if (rc)
		return rc;
	const struct loader_feed feed = { .epoch = &s->skel->bss->unwind_epoch,
					  .python = s->opts.python,
					  .later = !s->opts.no_rescue };

	return loader_feed(s->skel, &feed, &s->feed, e);
}

static int on_record(void *ctx, void *data, size_t n);

int sampler_new(struct sampler **ret, const struct sampler_opts *opts, struct err *e)
{
	struct sampler *s = xcalloc(1, sizeof(*s));
	int rc;

	if (opts)
		s->opts = *opts;
	python_names_init(&s->own_python);
	s->python = s->opts.python_names ? s->opts.python_names : &s->own_python;
	rc = load(s, e);
	if (!rc) {
		rescue_init(&s->rescue, s->feed);
		rc = loader_ring(s->skel, on_record, s, &s->ring, e);
	}
	if (rc) {
		sampler_free(s);
		return rc;
	}
	*ret = s;
	return 0;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	vec_each(link, &s->links)
		close(*link);
	vec_release(&s->links);
	ring_buffer__free(s->ring);
	rescue_release(&s->rescue);
	python_names_release(&s->own_python);
	map_release(&s->python_programs);
	unwind_feed_free(s->feed);
	if (s->skel)
		unwind_checks_log(bpf_map__fd(s->skel->maps.unwind_counters));
	loader_free(s->skel);
	free(s);
}

int sampler_attach(struct sampler *s, int perf_fd, u32 event, struct err *e)
{
	/* not bpf_program__attach_perf_event(): that one enables the event */
	int fd;

	if (event >= s->n_events)
		return err_set(e, EINVAL, "event %u was not announced to the sampler", event);
	fd = bpf_link_create(bpf_program__fd(program_of(s, event)), perf_fd, BPF_PERF_EVENT, NULL);
	if (fd < 0)
		return err_sys(e, errno, "cannot attach the sampling program");
	vec_push(&s->links, fd);
	return 0;
}

int sampler_running(struct sampler *s)
{
	return unwind_feed_running(s->feed, false);
}

int sampler_process(struct sampler *s, int pid)
{
	return unwind_feed_process(s->feed, pid);
}

int sampler_fd(const struct sampler *s)
{
	return ring_buffer__epoll_fd(s->ring);
}

static void deliver(struct sampler *s, const struct sampler_sample *sample)
{
	int rc;

	unwind_feed_methods(s->feed, sample->pid, sample->user, sample->n_user);
	rc = s->fn_rc < 0 ? 0 : s->fn(s->fn_ctx, sample);

	if (rc < 0)
		s->fn_rc = rc;
	s->n_read++;
}

int sampler_only_tree(struct sampler *s, int pid)
{
	/* the kernel program compares with pids of the first namespace */
	if (s->skel->rodata->unwind_pidns.ino)
		return -EOPNOTSUPP;
	__atomic_store_n(&s->skel->bss->profile_root, (u32)pid, __ATOMIC_RELEASE);
	return 0;
}

/* The first sample with Python functions of a process, or of a program that it became. */
static bool announce(struct sampler *s, u32 pid, u16 program)
{
	if (s->python_programs.len >= PYTHON_PROGRAMS_MOST)
		sampler_new_file(s);

	u64 *known = map_at(&s->python_programs, pid);
	bool is_new = *known != (u64)program + 1;

	*known = (u64)program + 1;
	return is_new;
}

void sampler_new_file(struct sampler *s)
{
	map_clear(&s->python_programs);
}

/* Replaces the words for Python frames by addresses; the stack moves to @to. */
static void name_python(struct sampler *s, u16 python, u16 program, u64 *to,
			struct sampler_sample *out)
{
	const struct python_build *b = unwind_feed_python(s->feed, python);

	out->ip = 0;
	for (u32 i = 0; i < out->n_user && !out->ip; i++)
		out->ip = out->user[i] & UNWIND_PYTHON_BIT ? 0 : out->user[i];
	const struct python_stack stack = { .whose = { .pid = out->pid, .program = program },
					    .words = out->user,
					    .n = out->n_user };

	out->python = python_names_replace(s->python, b, &stack, s->round, to);
	out->user = to;
	out->python_new = out->python && announce(s, out->pid, program);
}

static void on_sample(struct sampler *s, const struct unwind_sample *in, size_t n)
{
	u64 user[UNWIND_MAX_FRAMES];

	if (n < UNWIND_SAMPLE_HEADER ||
	    (n - UNWIND_SAMPLE_HEADER) / 8 < (size_t)in->n_kernel + in->n_user)
		return;
	struct sampler_sample out = {
		.time = in->time,
		.period = in->period,
		.addr = in->addr,
		.pid = in->pid,
		.tid = in->tid,
		.cpu = in->cpu,
		.event = in->event,
		.kernel = (const u64 *)in->ip,
		.user = (const u64 *)in->ip + in->n_kernel,
		.n_kernel = in->n_kernel,
		.n_user = in->n_user,
		.fp_steps = in->fp_steps,
		.end = in->end,
		.user_ip = in->user_ip,
	};
	memcpy(out.comm, in->comm, sizeof(out.comm));
	out.ip = out.n_user ? out.user[0] : 0;
	if (in->python && out.n_user <= UNWIND_MAX_FRAMES)
		name_python(s, in->python, in->program, user, &out);
	deliver(s, &out);
}

static void on_rescue(struct sampler *s, const struct unwind_rescue *in, size_t n)
{
	u64 ip[UNWIND_MAX_FRAMES], named[UNWIND_MAX_FRAMES];
	struct unwind_frames f = { .ip = ip, .max = UNWIND_MAX_FRAMES };

	if (n < sizeof(*in) || in->stack_bytes > sizeof(in->stack) ||
	    in->n_kernel > UNWIND_MAX_KERNEL)
		return;
	rescue_unwind(&s->rescue, in, &f);
	s->ends[f.end]++;
	s->rescued_frames += f.n;
	struct sampler_sample out = {
		.time = in->time,
		.period = in->period,
		.addr = in->addr,
		.pid = in->pid,
		.tid = in->tid,
		.cpu = in->cpu,
		.event = in->event,
		.kernel = (const u64 *)in->kernel,
		.user = ip,
		.n_kernel = in->n_kernel,
		.n_user = (u32)f.n,
		.fp_steps = f.fp_steps,
		.end = f.end,
		.user_ip = in->user_ip,
		.rescued = true,
	};
	memcpy(out.comm, in->comm, sizeof(out.comm));
	out.ip = f.n ? ip[0] : 0;
	if (in->python)
		name_python(s, in->python, in->program, named, &out);
	deliver(s, &out);
}

static int on_record(void *ctx, void *data, size_t n)
{
	struct sampler *s = ctx;
	u32 type = 0;

	if (n >= sizeof(type))
		memcpy(&type, data, sizeof(type));
	if (type == UNWIND_RECORD_SAMPLE)
		on_sample(s, data, n);
	else if (type == UNWIND_RECORD_RESCUE)
		on_rescue(s, data, n);
	else if (type == UNWIND_RECORD_NEED && n >= sizeof(struct unwind_need))
		unwind_feed_need(s->feed, data, NULL);
	/* one turn of the ring is all that was there: in a flood the caller has its turn, too */
	s->turn += n;
	return s->turn >= s->ring_bytes ? -ECANCELED : 0;
}

int sampler_read(struct sampler *s, sampler_fn fn, void *ctx)
{
	s->fn = fn;
	s->fn_ctx = ctx;
	s->fn_rc = 0;
	s->n_read = 0;
	s->turn = 0;
	s->round++;
	int rc = ring_buffer__consume(s->ring);

	unwind_feed_watch(s->feed, false);
	if (s->fn_rc < 0)
		return s->fn_rc;
	return rc < 0 && rc != -ECANCELED ? rc : s->n_read;
}

void sampler_note_map(struct sampler *s, int pid, const struct mapping *map)
{
	rescue_note_map(&s->rescue, pid, map);
}

void sampler_stats(const struct sampler *s, struct sampler_stats *ret)
{
	struct unwind_counts counts;

	unwind_counters_read(bpf_map__fd(s->skel->maps.unwind_counters), &counts);
	*ret = (struct sampler_stats){
		.samples = counts.n[UNWIND_COUNT_SAMPLES],
		.lost = counts.n[UNWIND_COUNT_LOST],
		.frames = counts.n[UNWIND_COUNT_FRAMES] + s->rescued_frames,
		.rescues = counts.n[UNWIND_COUNT_RESCUES],
		.rescues_lost = counts.n[UNWIND_COUNT_RESCUES_LOST],
		.kernel_cut = counts.n[UNWIND_COUNT_KERNEL_CUT],
		.python_frames = counts.n[UNWIND_COUNT_PYTHON_FRAMES],
		.python_unplaced = counts.n[UNWIND_COUNT_PYTHON_UNPLACED],
		.python_unreadable = s->python->unreadable,
		.recognised = counts.n[UNWIND_COUNT_RECOGNISED],
		.checked = counts.n[UNWIND_COUNT_CHECKED],
		.misrecognised = counts.n[UNWIND_COUNT_MISRECOGNISED],
	};
	for (u32 i = 0; i < UNWIND_END_COUNT; i++)
		ret->ends[i] = counts.n[i] + s->ends[i];
	unwind_feed_stats(s->feed, &ret->feed);
}

size_t sampler_callchain(const struct sampler_sample *s, u64 *words, size_t max)
{
	size_t n = 0;

	if (s->n_kernel && n < max)
		words[n++] = PERF_CONTEXT_KERNEL;
	for (u32 i = 0; i < s->n_kernel && n < max; i++)
		words[n++] = s->kernel[i];
	if (s->n_user && n < max)
		words[n++] = PERF_CONTEXT_USER;
	for (u32 i = 0; i < s->n_user && n < max; i++)
		words[n++] = s->user[i];
	return n;
}

u64 sampler_ip(const struct sampler_sample *s)
{
	if (s->n_kernel)
		return s->kernel[0];
	if (s->ip)
		return s->ip;
	return s->n_user ? s->user[0] : 0;
}

const struct python_names *sampler_python(const struct sampler *s)
{
	return s->python;
}

const struct code_names *sampler_code_names(const struct sampler *s)
{
	unwind_feed_watch(s->feed, true);
	return unwind_feed_names(s->feed);
}

void sampler_on_new(struct sampler *s, unwind_feed_new_fn *fn, void *ctx)
{
	unwind_feed_on_new(s->feed, fn, ctx);
}
