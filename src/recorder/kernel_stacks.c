/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's unwinder at work: a thread of its own answers its requests for tables at once and
 * turns its samples into records. The main thread puts those into the file with each sweep.
 */
#include "recorder/state.h"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "unwind/python_record.h"
#include "base/hash.h"

enum {
	LATE_LOAD_MS = 15, /* a program that ends before is not worth loading for */
	READ_MS = 100,
	RING_LEAST = 4 << 20,
	RING_MOST = 64 << 20,
	SAMPLE_BYTES = 512,   /* of a sample, roughly */
	RATE_UNKNOWN = 20000, /* of events by count */
	RATE_MOST = 100000,
	SEEN_MOST = 1 << 16, /* files; then each is reported once more */
	OUT_MOST = 256 << 20,
};

/* Room for a second of samples of all CPUs. */
static u64 ring_bytes(const struct recorder *r)
{
	u64 rate = r->o.session.period ? RATE_UNKNOWN : r->o.session.frequency;
	u64 wanted =
		MIN(rate, (u64)RATE_MOST) * r->o.target->cpus.len * SAMPLE_BYTES * r->kernel.events;
	u64 bytes = RING_LEAST;

	while (bytes < wanted && bytes < RING_MOST)
		bytes *= 2;
	return bytes;
}

static void set_why(struct recorder *r, struct err *e)
{
	err_release(&r->kernel.why);
	r->kernel.why = *e;
	*e = (struct err)ERR_INIT;
}

/* The part that takes a tenth of a second: no lock is held. */
static int load_sampler(struct recorder *r, struct sampler **ret)
{
	const struct sampler_opts opts = {
		.ring_bytes = ring_bytes(r),
		.max_user_frames = r->o.session.max_stack,
		.events = r->kernel.events,
		.python = true,
		.walk_always = r->o.walk_always,
		.python_names = &r->python,
	};
	_cleanup_err_ struct err e = ERR_INIT;
	int rc = sampler_new(ret, &opts, &e);

	if (!rc)
		sampler_on_new(*ret, recorder_prime_names, r);
	if (rc) {
		pthread_mutex_lock(&r->kernel.lock);
		set_why(r, &e);
		pthread_mutex_unlock(&r->kernel.lock);
	}
	return rc;
}

int recorder_kernel_load(struct recorder *r)
{
	return load_sampler(r, &r->kernel.sampler);
}

/* All descriptors, or none: half of a recording unwound in another way would mislead. */
static int attach_all(struct recorder *r, struct sampler *s)
{
	_cleanup_err_ struct err e = ERR_INIT;

	vec_each(src, &r->sources) {
		size_t n = 0;
		const int *fds =
			src->sampler >= 0 ? session_event_fds(r->session, src->index, &n) : NULL;

		for (size_t i = 0; i < n; i++) {
			int rc = sampler_attach(s, fds[i], (u32)src->sampler, &e);

			if (rc < 0) {
				set_why(r, &e);
				return rc;
			}
		}
	}
	return 0;
}

void recorder_reopened(void *ctx, size_t index, int fd)
{
	struct recorder *r = ctx;
	_cleanup_err_ struct err e = ERR_INIT;

	if (r->o.session.clock_id >= 0)
		r->cpu_back = clock_ns(r->o.session.clock_id);
	pthread_mutex_lock(&r->kernel.lock);
	vec_each(src, &r->sources) {
		if (src->index == index && src->sampler >= 0 && r->kernel.sampler &&
		    r->kernel.attached &&
		    sampler_attach(r->kernel.sampler, fd, (u32)src->sampler, &e) < 0)
			recorder_note(r, "stacks of a CPU that came back are not unwound by tables",
				      NULL);
	}
	pthread_mutex_unlock(&r->kernel.lock);
}

int recorder_kernel_attach(struct recorder *r)
{
	int rc = attach_all(r, r->kernel.sampler);

	r->kernel.attached = rc == 0;
	return rc;
}

/* --- samples to records ----------------------------------------------------------------------- */

static const struct source *source_of(const struct recorder *r, u32 sampler)
{
	vec_each(s, &r->sources) {
		if (s->sampler == (s32)sampler)
			return s;
	}
	return NULL;
}

/* The id of the descriptor on that CPU, where there is one for each CPU. */
static u64 id_of(const struct recorder *r, const struct source *s, u32 cpu)
{
	if (s->n_ids != r->o.target->cpus.len)
		return s->ids[0];
	for (size_t i = 0; i < s->n_ids; i++) {
		if (r->o.target->cpus.items[i] == cpu)
			return s->ids[i];
	}
	return s->ids[0];
}

static void count_sample(struct recorder *r, const struct sampler_sample *in)
{
	health_add(&r->health, &(struct health_sample){
				       .pid = (s32)in->pid,
				       .comm = in->comm,
				       .end = in->end,
				       .frames = in->n_user,
				       .fp_steps = in->fp_steps,
				       .last_ip = in->n_user ? in->user[in->n_user - 1] : 0,
				       .rescued = in->rescued,
			       });
}

/* Python functions have a mapping that exists only in the recording. */
static void record_python(struct recorder *r, const struct source *src,
			  const struct sampler_sample *in)
{
	struct record_ids ids = { .pid = in->pid,
				  .tid = in->pid,
				  .time = in->time,
				  .id = src->ids[0],
				  .stream_id = src->ids[0],
				  .cpu = in->cpu };

	python_record_mapping(&r->kernel.out, &src->attr, &ids);
}

static int on_sample(void *ctx, const struct sampler_sample *in)
{
	struct recorder *r = ctx;
	const struct source *src = source_of(r, in->event);
	struct sampler_sample s = *in;
	u64 words[SAMPLER_CALLCHAIN_MAX];

	if (!src || !src->n_ids || r->kernel.out.len > OUT_MOST) {
		r->lost++;
		return 0;
	}
	if (in->python_new)
		record_python(r, src, in);
	/* the kernel's own chain, where it makes one, begins with a mark */
	while (s.n_kernel && s.kernel[0] >= (u64)PERF_CONTEXT_MAX) {
		s.kernel++;
		s.n_kernel--;
	}
	struct sample out = {
		.id = id_of(r, src, s.cpu),
		.ip = sampler_ip(&s),
		.pid = s.pid,
		.tid = s.tid,
		.time = s.time,
		.addr = s.addr,
		.cpu = s.cpu,
		.period = s.period,
		.ips = words,
		.n_ips = sampler_callchain(&s, words, ARRAY_SIZE(words)),
	};

	out.stream_id = out.id;
	build_sample(&r->kernel.out, &src->attr,
		     s.user_ip ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL, &out);
	r->kernel.samples++;
	count_sample(r, &s);
	return 0;
}

/* --- mappings --------------------------------------------------------------------------------- */

/* With build ids, records do not have the inode; the file does, as its process sees it. */
static bool find_inode(const struct record_mmap *m, struct mapping *map)
{
	char path[4096];
	struct stat st;

	if (m->ino) {
		map->ino = m->ino;
		map->dev = m->maj << 20 | m->min;
		return true;
	}
	snprintf(path, sizeof(path), "/proc/%u/root%s", m->pid, m->filename);
	if (stat(path, &st) && stat(m->filename, &st))
		return false;
	map->ino = st.st_ino;
	map->dev = major(st.st_dev) << 20 | minor(st.st_dev);
	return true;
}

/* Each file is reported once: the rest comes on demand. */
void recorder_kernel_note_map(struct recorder *r, const struct record *rec)
{
	struct record_mmap m;

	if (record_mmap(rec, &m) < 0 || !(m.prot & PROT_EXEC) || m.filename[0] != '/' ||
	    m.filename[1] == '/' || m.pid == RECORD_NO_PID)
		return;
	recorder_waits_note_process(r, m.pid);
	u64 key = hash_mix(hash_str(m.filename), hash_bytes(m.build_id, m.build_id_size));
	struct mapping map = { .start = m.addr,
			       .end = m.addr + m.len,
			       .offset = m.pgoff,
			       .exec = true,
			       .path = m.filename };

	if (map_find(&r->kernel.seen, key) || !find_inode(&m, &map))
		return;
	if (r->kernel.seen.len >= SEEN_MOST)
		map_clear(&r->kernel.seen);
	map_put(&r->kernel.seen, key, 1);
	if (r->waits.session)
		waits_engine_note_map(waits_session_engine(r->waits.session), (int)m.pid, &map);
	pthread_mutex_lock(&r->kernel.lock);
	if (r->kernel.sampler)
		sampler_note_map(r->kernel.sampler, (int)m.pid, &map);
	pthread_mutex_unlock(&r->kernel.lock);
}

/* --- the thread ------------------------------------------------------------------------------- */

static bool stop_wanted(const struct kernel_stacks *k, int ms)
{
	struct pollfd p = { .fd = k->stop_fd, .events = POLLIN };

	poll(&p, 1, ms);
	return p.revents != 0;
}

/*
 * Until the thread is to end. Of waits, functions of a Python that are new are read while they are
 * there, and tables are requested; the rest would have time until the sweep.
 */
static void read_rings(struct recorder *r)
{
	struct kernel_stacks *k = &r->kernel;
	struct pollfd p[] = { { .fd = k->stop_fd, .events = POLLIN },
			      { .fd = sampler_fd(k->sampler), .events = POLLIN },
			      { .fd = recorder_waits_fd(r), .events = POLLIN } };
	for (;;) {
		poll(p, ARRAY_SIZE(p), READ_MS);
		if (p[0].revents)
			break;
		pthread_mutex_lock(&k->lock);
		sampler_read(k->sampler, on_sample, r);
		pthread_mutex_unlock(&k->lock);
		if (p[2].revents)
			recorder_waits_take(r);
	}
}

/* Tables of what runs: whole machine or the processes of the target. One at a time under the lock,
 * so that a sweep need not wait for all of them. */
static void build_tables(struct recorder *r)
{
	const struct target *t = r->o.target;
	struct kernel_stacks *k = &r->kernel;

	if (target_is_whole(t) || t->cgroups.len) {
		pthread_mutex_lock(&k->lock);
		sampler_running(k->sampler);
		pthread_mutex_unlock(&k->lock);
		return;
	}
	vec_each(pid, &t->processes) {
		pthread_mutex_lock(&k->lock);
		sampler_process(k->sampler, *pid);
		pthread_mutex_unlock(&k->lock);
	}
}

/* The program runs already, with copies of its stacks; from the attachment on it has ours. */
static bool load_late(struct recorder *r)
{
	struct kernel_stacks *k = &r->kernel;
	struct sampler *s = NULL;

	if (stop_wanted(k, LATE_LOAD_MS))
		return false;
	__atomic_store_n(&k->loading, true, __ATOMIC_RELEASE);
	if (load_sampler(r, &s))
		return false;
	pthread_mutex_lock(&k->lock);
	k->loaded = true;
	if (!k->abandoned) {
		sampler_process(s, r->o.launch->pid);
		k->attached = attach_all(r, s) == 0;
		if (k->attached) {
			recorder_adopt_tasks(r, s);
			k->sampler = TAKE_PTR(s);
		}
	}
	pthread_mutex_unlock(&k->lock);
	sampler_free(s);
	return k->attached;
}

static void *thread_main(void *arg)
{
	struct recorder *r = arg;
	struct kernel_stacks *k = &r->kernel;

	if (k->late) {
		if (!load_late(r))
			return NULL;
	} else {
		build_tables(r);
	}
	__atomic_store_n(&k->ready, true, __ATOMIC_RELEASE);
	recorder_hurry(r);
	read_rings(r);
	return NULL;
}

void recorder_kernel_start_thread(struct recorder *r)
{
	struct kernel_stacks *k = &r->kernel;

	k->stop_fd = eventfd(0, EFD_CLOEXEC);
	k->has_thread = k->stop_fd >= 0 && !pthread_create(&k->thread, NULL, thread_main, r);
}

void recorder_kernel_wait_ready(struct recorder *r)
{
	struct kernel_stacks *k = &r->kernel;

	while (k->has_thread && !k->late && !__atomic_load_n(&k->ready, __ATOMIC_ACQUIRE))
		clock_sleep_ns(NSEC_PER_MSEC);
}

/*
 * A thread that is still loading cannot be cancelled, and is not waited for: it keeps the
 * recorder, and finds out by itself.
 */
bool recorder_kernel_stop(struct recorder *r)
{
	struct kernel_stacks *k = &r->kernel;
	u64 one = 1;

	if (!k->has_thread)
		return true;
	if (write(k->stop_fd, &one, sizeof(one)) < 0)
		return false;
	pthread_mutex_lock(&k->lock);
	k->abandoned = k->late && k->loading && !k->loaded;
	pthread_mutex_unlock(&k->lock);
	if (k->abandoned)
		pthread_detach(k->thread);
	else
		pthread_join(k->thread, NULL);
	k->has_thread = false;
	return !k->abandoned;
}

int recorder_kernel_collect(struct recorder *r, bool turn, struct err *e)
{
	struct kernel_stacks *k = &r->kernel;
	struct buf out;
	int rc = 0;

	pthread_mutex_lock(&k->lock);
	if (k->sampler && k->attached)
		rc = sampler_read(k->sampler, on_sample, r);
	out = k->out;
	k->out = r->sweep;
	if (k->sampler && turn)
		sampler_new_file(k->sampler);
	pthread_mutex_unlock(&k->lock);
	r->sweep = out;
	if (rc >= 0 && out.len)
		rc = recorder_file_add(r, out.data, out.len, e);
	else if (rc < 0)
		err_sys(e, rc, "cannot read the samples of the kernel's unwinder");
	buf_reset_most(&r->sweep, SWEEP_KEPT);
	return MIN(rc, 0);
}
