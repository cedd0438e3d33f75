/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the rings hand over. As long as no sample carries a copy of its stack, the bytes go to the
 * file as they are. Otherwise a sweep is held back until all rings are read, put in order of time,
 * and the copies are replaced by what unwinding them gives.
 */
#include "recorder/state.h"

#include "base/clock.h"
#include "recording/recording.h"

enum {
	/* Rounds promise that nothing older follows; a sample may be a while on its way. */
	ROUND_NS = 20 * 1000 * 1000,
};

struct entry {
	u64 time;
	u32 order; /* as read: equal times stay in order */
	u32 at;    /* in r->records, in words */
};

static const struct source *source_by_id(const struct recorder *r, u64 id)
{
	u64 i = map_get(&r->by_id, id, 0);

	return i ? &r->sources.items[i - 1] : NULL;
}

/* Every attr of ours has PERF_SAMPLE_IDENTIFIER: the id is the first word of a sample. */
static const struct source *sample_source(const struct recorder *r,
					  const struct perf_event_header *h)
{
	u64 id;

	if (h->size < sizeof(*h) + sizeof(id))
		return NULL;
	memcpy(&id, h + 1, sizeof(id));
	return source_by_id(r, id);
}

static void view(const struct recorder *r, const struct perf_event_header *h, struct record *ret)
{
	*ret = (struct record){ .type = h->type, .misc = h->misc, .size = h->size, .header = h };
	if (record_parse_ids(&r->sources.items[r->sources.len - 1].opened, h, ret) < 0)
		ret->body_end = sizeof(*h);
}

bool recorder_sweep_has_copies(const struct recorder *r)
{
	vec_each(s, &r->sources) {
		if (s->copies)
			return true;
	}
	return false;
}

static bool is_missed(const struct recorder *r, const struct perf_event_header *h)
{
	const struct source *src = h->type == PERF_RECORD_SAMPLE ? sample_source(r, h) : NULL;

	return src && src->sampler >= 0 && !src->copies &&
	       src->opened.sample_type != src->attr.sample_type;
}

/*
 * Hints for the kernel's unwinder: where the files are that it may ask for. True when there are
 * samples that it should have taken.
 */
static bool note_records(struct recorder *r, const void *bytes, size_t n)
{
	bool missed = false;
	const u8 *p = bytes, *end = p + n;
	struct record rec;

	while ((size_t)(end - p) >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *h = (const void *)p;

		if (h->size < sizeof(*h) || h->size > end - p)
			break;
		if (h->type == PERF_RECORD_MMAP2) {
			view(r, h, &rec);
			recorder_kernel_note_map(r, &rec);
		}
		missed |= is_missed(r, h);
		p += h->size;
	}
	return missed;
}

/*
 * A process that was forked after its parent's event was opened, but before the program was on
 * it, has an event without the program: its samples come without a stack.
 */
static int add_missed(struct recorder *r, const struct perf_event_header *h)
{
	const struct source *src = sample_source(r, h);
	bool user = (h->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
	u64 words[2] = { user ? PERF_CONTEXT_USER : PERF_CONTEXT_KERNEL };
	const char *reason;
	struct sample s;

	if (sample_parse(&src->opened, h, &s, &reason) < 0)
		return err_set(r->e, EBADMSG, "the kernel's sample makes no sense: %s", reason);
	words[1] = s.ip;
	s.ips = words;
	s.n_ips = ARRAY_SIZE(words);
	pthread_mutex_lock(&r->kernel.lock);
	health_add(&r->health, &(struct health_sample){ .pid = (s32)s.pid,
							.end = UNWIND_END_MISSED,
							.frames = user,
							.last_ip = user ? s.ip : 0 });
	pthread_mutex_unlock(&r->kernel.lock);
	buf_reset(&r->sweep);
	build_sample(&r->sweep, &src->attr, h->misc & ~(u16)PERF_RECORD_MISC_EXACT_IP, &s);
	return recorder_file_add(r, r->sweep.data, r->sweep.len, r->e);
}

/* As they are, except samples without a stack. */
static int add_with_missed(struct recorder *r, const void *bytes, size_t n)
{
	const u8 *p = bytes, *end = p + n, *run = p;
	int rc = 0;

	while (rc >= 0 && p < end) {
		const struct perf_event_header *h = (const void *)p;

		p += h->size;
		if (!is_missed(r, h))
			continue;
		rc = recorder_file_add(r, run, (size_t)((const u8 *)h - run), r->e);
		if (rc >= 0)
			rc = add_missed(r, h);
		run = p;
	}
	return rc < 0 ? rc : recorder_file_add(r, run, (size_t)(end - run), r->e);
}

/* KSYMBOL: the end of a BPF program. */
static bool is_unload(const struct perf_event_header *h)
{
	enum { FLAGS = sizeof(*h) + 14 };
	u16 flags = 0;

	if (h->type != PERF_RECORD_KSYMBOL || h->size < FLAGS + sizeof(flags))
		return false;
	memcpy(&flags, (const u8 *)h + FLAGS, sizeof(flags));
	return flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
}

/*
 * perf 6.1 takes a name away that it still uses when it reads of the end of a BPF program that it
 * knows, and crashes. Nothing is lost without these records: what comes later to the same place
 * has a name of its own.
 */
static const void *without_unloads(struct recorder *r, const void *bytes, size_t *n)
{
	const u8 *p = bytes, *end = p + *n, *run = p;

	buf_reset(&r->kept);
	while (p < end) {
		const struct perf_event_header *h = (const void *)p;

		p += h->size;
		if (!is_unload(h))
			continue;
		buf_add(&r->kept, run, (size_t)((const u8 *)h - run));
		run = p;
	}
	if (run == (const u8 *)bytes)
		return bytes;
	buf_add(&r->kept, run, (size_t)(end - run));
	*n = r->kept.len;
	return r->kept.data;
}

int recorder_sweep_records(void *ctx, const void *bytes, size_t n)
{
	struct recorder *r = ctx;
	bool missed = false;

	bytes = without_unloads(r, bytes, &n);
	if (!n)
		return 0;

	if (r->stacks == RECORDER_STACKS_KERNEL || r->waits.session)
		missed = note_records(r, bytes, n);
	if (!r->holds && missed)
		return add_with_missed(r, bytes, n);
	if (!r->holds)
		return recorder_file_add(r, bytes, n, r->e);
	buf_add(&r->records, bytes, n);
	return 0;
}

/* --- copies of stacks ------------------------------------------------------------------------- */

/* Kernel frames of the recorded chain, then the user frames. */
static size_t join_chain(const struct sample *s, const struct unwind_frames *f, u64 *words,
			 size_t max)
{
	size_t n = 0;

	for (u64 i = 0; i < s->n_ips && n < max && s->ips[i] != (u64)PERF_CONTEXT_USER; i++)
		words[n++] = s->ips[i];
	if (f->n && n < max)
		words[n++] = PERF_CONTEXT_USER;
	for (size_t i = 0; i < f->n && n < max; i++)
		words[n++] = f->ip[i];
	return n;
}

static int unwind_copy(struct recorder *r, const struct source *src,
		       const struct perf_event_header *h, struct buf *out)
{
	u64 ip[UNWIND_MAX_FRAMES], words[SAMPLER_CALLCHAIN_MAX];
	u32 most = r->o.session.max_stack;
	struct unwind_frames f = { .ip = ip,
				   .max = most && most < ARRAY_SIZE(ip) ? most : ARRAY_SIZE(ip),
				   .end = UNWIND_END_NO_REGS };
	const char *reason;
	struct sample s;

	if (sample_parse(&src->opened, h, &s, &reason) < 0)
		return -EBADMSG;
	if (!recorder_copies_unwind(&r->copies, &s, &f))
		f.n = 0;
	s.n_ips = join_chain(&s, &f, words, ARRAY_SIZE(words));
	s.ips = words;
	pthread_mutex_lock(&r->kernel.lock);
	health_add(&r->health, &(struct health_sample){
				       .pid = (s32)s.pid,
				       .comm = NULL,
				       .end = f.end,
				       .frames = (u32)f.n,
				       .fp_steps = f.fp_steps,
				       .last_ip = f.n ? ip[f.n - 1] : 0,
				       .copied = true,
			       });
	pthread_mutex_unlock(&r->kernel.lock);
	return build_sample(out, &src->attr, h->misc & ~(u16)PERF_RECORD_MISC_EXACT_IP, &s);
}

static void pass_on(struct recorder *r, const struct perf_event_header *h, struct buf *out)
{
	const struct source *src = h->type == PERF_RECORD_SAMPLE ? sample_source(r, h) : NULL;
	struct record rec;

	if (src && src->copies && unwind_copy(r, src, h, out) >= 0)
		return;
	if (h->type != PERF_RECORD_SAMPLE) {
		view(r, h, &rec);
		recorder_copies_record(&r->copies, &rec);
		/* copies make the session ask for all mappings, which are not needed */
		if (h->misc & PERF_RECORD_MISC_MMAP_DATA && !r->o.session.addresses &&
		    (h->type == PERF_RECORD_MMAP2 || h->type == PERF_RECORD_MMAP))
			return;
	}
	if (!src || !src->copies)
		buf_add(out, h, h->size);
}

static u64 time_of(const struct recorder *r, const struct perf_event_header *h)
{
	const struct source *src;
	struct record rec;
	u64 words[4];

	if (h->type != PERF_RECORD_SAMPLE) {
		view(r, h, &rec);
		return rec.time;
	}
	/* identifier, ip, pid and tid, time: as the kernel lays them out */
	src = sample_source(r, h);
	if (!src || h->size < sizeof(*h) + sizeof(words))
		return 0;
	memcpy(words, h + 1, sizeof(words));
	return src->opened.sample_type & PERF_SAMPLE_IP ? words[3] : words[2];
}

/* Likewise. */
u32 recorder_sweep_sample_tid(void *ctx, const struct perf_event_header *h)
{
	const struct source *src = sample_source(ctx, h);
	u64 words[3];

	if (!src || h->size < sizeof(*h) + sizeof(words))
		return 0;
	memcpy(words, h + 1, sizeof(words));
	return (u32)((src->attr.sample_type & PERF_SAMPLE_IP ? words[2] : words[1]) >> 32);
}

static int by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int release_records(struct recorder *r, struct err *e)
{
	const u8 *base = (const u8 *)r->records.data;
	VEC(struct entry) entries = { 0 };
	struct buf out = r->sweep;
	int rc;

	for (size_t at = 0; at + sizeof(struct perf_event_header) <= r->records.len;) {
		const struct perf_event_header *h = (const void *)(base + at);

		if (h->size < sizeof(*h) || h->size > r->records.len - at)
			break;
		const struct entry it = { time_of(r, h), (u32)entries.len, (u32)(at / 8) };

		vec_push(&entries, it);
		at += h->size;
	}
	vec_sort(&entries, by_time);
	vec_each(it, &entries)
		pass_on(r, (const void *)(base + (size_t)it->at * 8), &out);
	rc = out.len ? recorder_file_add(r, out.data, out.len, e) : 0;
	vec_release(&entries);
	r->sweep = out;
	buf_reset_most(&r->sweep, SWEEP_KEPT);
	buf_reset_most(&r->records, SWEEP_KEPT);
	return rc;
}

int recorder_sweep_end(struct recorder *r, bool last, struct err *e)
{
	u64 now = clock_mono_ns();
	int rc = r->records.len ? release_records(r, e) : 0;

	if (rc >= 0 && r->stacks == RECORDER_STACKS_KERNEL)
		rc = recorder_kernel_collect(r, false, e);
	if (rc >= 0)
		rc = recorder_waits_collect(r, e);
	if (rc >= 0)
		rc = recorder_marks_collect(r, e);
	r->holds = recorder_sweep_has_copies(r);
	mem_give_back(&r->give_back);
	if (rc < 0 || recorder_file_taken(r) == r->round_bytes ||
	    (!last && now - r->round_time < ROUND_NS))
		return rc;
	r->round_time = now;
	rc = recorder_file_round(r, e);
	r->round_bytes = recorder_file_taken(r);
	return rc;
}
