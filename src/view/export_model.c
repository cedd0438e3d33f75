/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/export_model.h"

#include "base/json.h"

/* Times are sent in steps of this, or of a power of ten more where a gap would not fit. */
#define TIME_STEP_NS 1000ull

enum { FIXED_PART = 12 }; /* bytes before the header */

struct exporter {
	const struct profile *profile;
	struct json json;
	struct buf columns;
	u32 *strings;   /* of the profile -> of the export; 0: not used */
	VEC(u32) names; /* of the export -> of the profile */
	u32 *stacks;    /* of the profile -> of the export */
	u32 *by_number; /* and back */
	u32 *depths;    /* by export number */
	u32 *samples;   /* in order of time -> index */
	u64 time_step;
};

typedef u64 (*column_get)(const struct exporter *x, size_t i);

/* --- numbers ------------------------------------------------------------------------------- */

static u32 use_string(struct exporter *x, u32 id)
{
	if (!id)
		return 0;
	if (!x->strings[id]) {
		x->strings[id] = (u32)x->names.len;
		vec_push(&x->names, id);
	}
	return x->strings[id];
}

static void use_strings(struct exporter *x)
{
	const struct profile *p = x->profile;

	x->strings = xcalloc(p->strings.len + 1, sizeof(*x->strings));
	vec_push(&x->names, 0);
	for (size_t i = 1; i < p->frames.len; i++) {
		use_string(x, p->frames.items[i].name);
		use_string(x, p->frames.items[i].module);
		use_string(x, p->frames.items[i].file);
	}
	for (size_t i = 1; i < p->threads.len; i++) {
		use_string(x, p->threads.items[i].comm);
		use_string(x, p->threads.items[i].cgroup);
	}
}

/* Children as lists: @first by parent, @next by child. The last seen is put first in each. */
static void link_stacks(const struct profile *p, u32 *first, u32 *next)
{
	for (size_t i = p->stacks.len; i-- > 1;) {
		u32 parent = p->stacks.items[i].parent;

		next[i] = first[parent];
		first[parent] = (u32)i;
	}
}

static void number_stacks(struct exporter *x)
{
	const struct profile *p = x->profile;
	size_t n = MAX(p->stacks.len, 1);
	_cleanup_free_ u32 *first = xcalloc(n, sizeof(*first));
	_cleanup_free_ u32 *next = xcalloc(n, sizeof(*next));
	u32 at = 0, depth = 0, number = 0;

	x->stacks = xcalloc(n, sizeof(*x->stacks));
	x->by_number = xcalloc(n, sizeof(*x->by_number));
	x->depths = xcalloc(n, sizeof(*x->depths));
	link_stacks(p, first, next);
	for (;;) {
		u32 below = first[at];

		if (below) {
			first[at] = next[below]; /* taken off the list: visited */
			at = below;
			x->stacks[at] = ++number;
			x->by_number[number] = at;
			x->depths[number] = ++depth;
		} else if (at) {
			at = p->stacks.items[at].parent;
			depth--;
		} else {
			return;
		}
	}
}

static int by_time(const void *a, const void *b, void *samples)
{
	const struct profile_sample *all = samples;
	u32 i = *(const u32 *)a, j = *(const u32 *)b;

	if (all[i].time != all[j].time)
		return all[i].time < all[j].time ? -1 : 1;
	return i < j ? -1 : i > j;
}

static u64 sample_time(const struct exporter *x, size_t i)
{
	return x->profile->samples.items[x->samples[i]].time;
}

static void order_samples(struct exporter *x)
{
	const struct profile *p = x->profile;
	size_t n = p->samples.len;
	u64 gap = 0;

	x->samples = xcalloc(MAX(n, 1), sizeof(*x->samples));
	for (size_t i = 0; i < n; i++)
		x->samples[i] = (u32)i;
	if (n > 1)
		qsort_r(x->samples, n, sizeof(*x->samples), by_time, p->samples.items);
	for (size_t i = 1; i < n; i++)
		gap = MAX(gap, sample_time(x, i) - sample_time(x, i - 1));
	for (x->time_step = TIME_STEP_NS; gap / x->time_step >= UINT32_MAX;)
		x->time_step *= 10;
}

/* --- columns ------------------------------------------------------------------------------- */

static u64 get_depth(const struct exporter *x, size_t i)
{
	return x->depths[i + 1];
}

static u64 get_stack_frame(const struct exporter *x, size_t i)
{
	return x->profile->stacks.items[x->by_number[i + 1]].frame;
}

static const struct profile_sample *sample_at(const struct exporter *x, size_t i)
{
	return &x->profile->samples.items[x->samples[i]];
}

/* From the sample before, both rounded down from the first: errors do not add up. */
static u64 get_time(const struct exporter *x, size_t i)
{
	u64 first = sample_time(x, 0);

	if (!i)
		return 0;
	return (sample_time(x, i) - first) / x->time_step -
	       (sample_time(x, i - 1) - first) / x->time_step;
}

static u64 get_stack(const struct exporter *x, size_t i)
{
	return x->stacks[sample_at(x, i)->stack];
}

static u64 get_thread(const struct exporter *x, size_t i)
{
	return sample_at(x, i)->thread;
}

static u64 get_cpu(const struct exporter *x, size_t i)
{
	return (u64)(sample_at(x, i)->cpu + 1);
}

static u64 get_event(const struct exporter *x, size_t i)
{
	return sample_at(x, i)->event;
}

static u64 get_weight(const struct exporter *x, size_t i)
{
	return sample_at(x, i)->weight;
}

static u64 get_count(const struct exporter *x, size_t i)
{
	return sample_at(x, i)->count;
}

static const struct frame *frame_at(const struct exporter *x, size_t i)
{
	return &x->profile->frames.items[i + 1];
}

static u64 get_name(const struct exporter *x, size_t i)
{
	return x->strings[frame_at(x, i)->name];
}

static u64 get_module(const struct exporter *x, size_t i)
{
	return x->strings[frame_at(x, i)->module];
}

static u64 get_file(const struct exporter *x, size_t i)
{
	return x->strings[frame_at(x, i)->file];
}

static u64 get_line(const struct exporter *x, size_t i)
{
	return frame_at(x, i)->line;
}

/* KIND in web/viewer/model.js has the same numbers, and goes on with its own. */
_Static_assert(FRAME_MARKER == 8, "web/viewer/model.js: KIND");

static u64 get_kind(const struct exporter *x, size_t i)
{
	return frame_at(x, i)->kind;
}

static u64 get_no_name(const struct exporter *x, size_t i)
{
	return frame_at(x, i)->no_name;
}

static size_t width_of(u64 most)
{
	if (most <= UINT8_MAX)
		return 1;
	if (most <= UINT16_MAX)
		return 2;
	return most <= UINT32_MAX ? 4 : 8;
}

static void add_items(struct exporter *x, size_t n, size_t width, column_get get)
{
	char *at;

	buf_fill(&x->columns, 0, ALIGN_UP(x->columns.len, 8) - x->columns.len);
	at = buf_reserve(&x->columns, n * width);
	for (size_t i = 0; i < n; i++) {
		u64 v = get(x, i);

		for (size_t byte = 0; byte < width; byte++)
			at[i * width + byte] = (char)(v >> (8 * byte));
	}
	buf_added(&x->columns, n * width);
}

static void add_column(struct exporter *x, const char *name, size_t n, column_get get)
{
	u64 most = 0, least = UINT64_MAX;
	size_t width;

	for (size_t i = 0; i < n; i++) {
		u64 v = get(x, i);

		most = MAX(most, v);
		least = MIN(least, v);
	}
	json_key(&x->json, name);
	json_open(&x->json);
	json_kv_u64(&x->json, "items", n);
	if (!n || most == least) {
		json_kv_u64(&x->json, "constant", most);
	} else {
		width = width_of(most);
		add_items(x, n, width, get);
		json_kv_u64(&x->json, "bytes", width);
		json_kv_u64(&x->json, "at", x->columns.len - n * width);
	}
	json_close(&x->json);
}

static void add_columns(struct exporter *x)
{
	size_t stacks = x->profile->stacks.len ? x->profile->stacks.len - 1 : 0;
	size_t frames = x->profile->frames.len ? x->profile->frames.len - 1 : 0;
	size_t samples = x->profile->samples.len;

	json_key(&x->json, "columns");
	json_open(&x->json);
	add_column(x, "depth", stacks, get_depth);
	add_column(x, "frame", stacks, get_stack_frame);
	add_column(x, "time", samples, get_time);
	add_column(x, "stack", samples, get_stack);
	add_column(x, "thread", samples, get_thread);
	add_column(x, "cpu", samples, get_cpu);
	add_column(x, "event", samples, get_event);
	add_column(x, "weight", samples, get_weight);
	add_column(x, "count", samples, get_count);
	add_column(x, "name", frames, get_name);
	add_column(x, "module", frames, get_module);
	add_column(x, "file", frames, get_file);
	add_column(x, "line", frames, get_line);
	add_column(x, "kind", frames, get_kind);
	add_column(x, "no_name", frames, get_no_name);
	json_close(&x->json);
}

/* --- header -------------------------------------------------------------------------------- */

static void kv_string(struct exporter *x, const char *key, u32 string)
{
	if (string)
		json_kv_str(&x->json, key, profile_str(x->profile, string));
}

static void add_facts(struct exporter *x)
{
	const struct profile *p = x->profile;

	json_key(&x->json, "facts");
	json_open(&x->json);
	kv_string(x, "source", p->source);
	kv_string(x, "hostname", p->hostname);
	kv_string(x, "kernel", p->kernel);
	kv_string(x, "arch", p->arch);
	kv_string(x, "command", p->command);
	kv_string(x, "cpu_model", p->cpu_model);
	kv_string(x, "unwinder", p->unwinder);
	kv_string(x, "notes", p->notes);
	kv_string(x, "fault", p->fault);
	json_kv_u64(&x->json, "cpus", p->cpus);
	json_kv_u64(&x->json, "first_time_ns", p->first_time);
	json_kv_u64(&x->json, "duration_ns", p->last_time - MIN(p->last_time, p->first_time));
	json_kv_u64(&x->json, "wall_start_ms", p->wall_start / NSEC_PER_MSEC);
	json_kv_u64(&x->json, "lost_samples", p->lost_samples);
	json_kv_u64(&x->json, "lost_records", p->lost_records);
	json_kv_u64(&x->json, "lost_stacks", p->lost_stacks);
	json_kv_u64(&x->json, "bad_records", p->bad_records);
	json_kv_u64(&x->json, "throttled", p->throttled);
	json_kv_u64(&x->json, "stacks_root", p->stack_ends[STACK_ROOT]);
	json_kv_u64(&x->json, "stacks_cut", p->stack_ends[STACK_CUT]);
	json_kv_u64(&x->json, "stacks_no_user", p->stack_ends[STACK_NO_USER]);
	json_kv_u64(&x->json, "unnamed_frames", p->unnamed_frames);
	json_kv_u64(&x->json, "total_frames", p->total_frames);
	json_close(&x->json);
}

static void add_events(struct exporter *x)
{
	json_key(&x->json, "events");
	json_array(&x->json);
	vec_each(ev, &x->profile->events) {
		json_open(&x->json);
		json_kv_str(&x->json, "name", profile_str(x->profile, ev->name));
		json_kv_str(&x->json, "unit", profile_str(x->profile, ev->unit));
		json_kv_u64(&x->json, "samples", ev->samples);
		json_kv_u64(&x->json, "weight", ev->weight);
		json_kv_u64(&x->json, "frequency", ev->frequency);
		json_kv_u64(&x->json, "period", ev->period);
		json_close(&x->json);
	}
	json_end(&x->json);
}

/* Each is [pid, tid, name, cgroup], the first of them none. */
static void add_threads(struct exporter *x)
{
	json_key(&x->json, "threads");
	json_array(&x->json);
	for (size_t i = 0; i < MAX(x->profile->threads.len, 1); i++) {
		struct profile_thread none = { 0 };
		const struct profile_thread *t = i ? &x->profile->threads.items[i] : &none;

		json_array(&x->json);
		json_s64(&x->json, t->pid);
		json_s64(&x->json, t->tid);
		json_u64(&x->json, x->strings[t->comm]);
		json_u64(&x->json, x->strings[t->cgroup]);
		json_end(&x->json);
	}
	json_end(&x->json);
}

static void add_strings(struct exporter *x)
{
	json_key(&x->json, "strings");
	json_array(&x->json);
	vec_each(id, &x->names)
		json_str(&x->json, profile_str(x->profile, *id));
	json_end(&x->json);
}

static void add_header(struct exporter *x, struct buf *out)
{
	const struct profile *p = x->profile;
	size_t n = p->samples.len;

	json_init(&x->json, out, false);
	json_open(&x->json);
	json_kv_u64(&x->json, "time_step_ns", x->time_step);
	/* Without times there is no heat map and no view in order of time. */
	json_kv_bool(&x->json, "has_time", n && sample_time(x, n - 1) > sample_time(x, 0));
	add_facts(x);
	add_events(x);
	add_threads(x);
	add_strings(x);
	add_columns(x);
	json_close(&x->json);
	buf_fill(out, ' ', ALIGN_UP(out->len + FIXED_PART, 8) - out->len - FIXED_PART);
}

static void add_u32(struct buf *out, u32 v)
{
	for (int i = 0; i < 4; i++)
		buf_addch(out, (char)(v >> (8 * i)));
}

void export_model(const struct profile *p, struct buf *out)
{
	struct exporter x = { .profile = p };
	_cleanup_buf_ struct buf header = BUF_INIT;

	use_strings(&x);
	number_stacks(&x);
	order_samples(&x);
	add_header(&x, &header);
	buf_addstr(out, "FTHM");
	add_u32(out, EXPORT_MODEL_VERSION);
	add_u32(out, (u32)header.len);
	buf_add(out, header.data, header.len);
	if (x.columns.len)
		buf_add(out, x.columns.data, x.columns.len);
	buf_release(&x.columns);
	vec_release(&x.names);
	free(x.strings);
	free(x.stacks);
	free(x.by_number);
	free(x.depths);
	free(x.samples);
}
