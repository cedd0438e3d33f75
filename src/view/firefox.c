/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processed profile of profiler.firefox.com: for each thread tables of columns, where each
 * refers to others by index. A thread's tables hold what its own samples need and nothing else.
 */
#include "view/export.h"

#include "base/json.h"

enum { FORMAT_VERSION = 27, PROCESSED_VERSION = 49 };

enum category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_JIT, CATEGORIES };

static const char *const category_names[CATEGORIES] = { "Other", "User", "Kernel", "JIT" };
static const char *const category_colors[CATEGORIES] = { "grey", "yellow", "orange", "green" };

/* Ids of the profile that a thread uses, ascending, and where they are in its table, + 1. */
struct used {
	VEC(u32) ids;
	u32 *at;
};

struct firefox {
	const struct profile *profile;
	const struct export_opts *opts;
	struct json json;
	/* of the thread */
	struct intern strings; /* index is id - 1 */
	struct used stacks, frames;
};

static enum category category_of(const struct frame *f)
{
	switch (f->kind) {
	case FRAME_KERNEL:
	case FRAME_HYPERVISOR:
	case FRAME_GUEST_KERNEL: return CATEGORY_KERNEL;
	case FRAME_JIT:
	case FRAME_INTERPRETED: return CATEGORY_JIT;
	case FRAME_MARKER: return CATEGORY_OTHER;
	default: return CATEGORY_USER;
	}
}

static u64 string(struct firefox *w, const char *s)
{
	return intern_bytes(&w->strings, s, strlen(s)) - 1;
}

/* --- what a thread uses --------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* True when it was not there yet. */
static bool use(struct used *u, u32 id)
{
	if (u->at[id])
		return false;
	u->at[id] = 1;
	vec_push(&u->ids, id);
	return true;
}

/* Callers have smaller ids than what they call, so they are before it. */
static void number(struct used *u)
{
	vec_sort(&u->ids, compare_ids);
	for (u32 i = 0; i < u->ids.len; i++)
		u->at[u->ids.items[i]] = i + 1;
}

static void forget(struct used *u)
{
	vec_each(id, &u->ids)
		u->at[*id] = 0;
	vec_clear(&u->ids);
}

static void collect(struct firefox *w, const struct export_moment *m, size_t n)
{
	const struct profile *p = w->profile;

	intern_release(&w->strings);
	forget(&w->stacks);
	forget(&w->frames);
	for (size_t i = 0; i < n; i++) {
		u32 stack = p->samples.items[m[i].index].stack;

		for (; stack && use(&w->stacks, stack); stack = p->stacks.items[stack].parent)
			use(&w->frames, p->stacks.items[stack].frame);
	}
	number(&w->stacks);
	number(&w->frames);
}

/* --- tables --------------------------------------------------------------------------------- */

static void open_table(struct firefox *w, const char *name, size_t length)
{
	json_key(&w->json, name);
	json_open(&w->json);
	json_kv_u64(&w->json, "length", length);
}

/* A column of equal values; NULL for the text makes them null. */
static void constant_column(struct firefox *w, const char *name, size_t n, const s64 *value)
{
	json_key(&w->json, name);
	json_array(&w->json);
	for (size_t i = 0; i < n; i++) {
		if (value)
			json_s64(&w->json, *value);
		else
			json_null(&w->json);
	}
	json_end(&w->json);
}

static void empty_columns(struct firefox *w, const char *const *names)
{
	for (; *names; names++)
		constant_column(w, *names, 0, NULL);
}

static void add_frames(struct firefox *w)
{
	const struct profile *p = w->profile;
	size_t n = w->frames.ids.len;
	const s64 zero = 0, minus = -1;

	open_table(w, "frameTable", n);
	constant_column(w, "address", n, &minus);
	constant_column(w, "inlineDepth", n, &zero);
	json_key(&w->json, "category");
	json_array(&w->json);
	vec_each(id, &w->frames.ids)
		json_u64(&w->json, category_of(&p->frames.items[*id]));
	json_end(&w->json);
	constant_column(w, "subcategory", n, &zero);
	json_key(&w->json, "func");
	json_array(&w->json);
	for (size_t i = 0; i < n; i++)
		json_u64(&w->json, i);
	json_end(&w->json);
	constant_column(w, "nativeSymbol", n, NULL);
	constant_column(w, "innerWindowID", n, NULL);
	constant_column(w, "implementation", n, NULL);
	constant_column(w, "line", n, NULL);
	constant_column(w, "column", n, NULL);
	constant_column(w, "optimizations", n, NULL);
	json_close(&w->json);
}

/* A resource for each module, in the order of first sight. */
static void add_functions(struct firefox *w, struct map *resources)
{
	const struct profile *p = w->profile;
	_cleanup_buf_ struct buf room = BUF_INIT;
	size_t n = w->frames.ids.len;

	open_table(w, "funcTable", n);
	json_key(&w->json, "name");
	json_array(&w->json);
	vec_each(id, &w->frames.ids)
		json_u64(&w->json, string(w, export_frame_name(p, &p->frames.items[*id], &room)));
	json_end(&w->json);
	json_key(&w->json, "resource");
	json_array(&w->json);
	vec_each(id, &w->frames.ids) {
		u32 module = p->frames.items[*id].module;
		u64 *at = module ? map_at(resources, module) : NULL;

		if (at && !*at)
			*at = resources->len;
		json_s64(&w->json, at ? (s64)*at - 1 : -1);
	}
	json_end(&w->json);
	for (int i = 0; i < 2; i++) {
		json_key(&w->json, i ? "relevantForJS" : "isJS");
		json_array(&w->json);
		for (size_t k = 0; k < n; k++)
			json_bool(&w->json, false);
		json_end(&w->json);
	}
	json_key(&w->json, "fileName");
	json_array(&w->json);
	vec_each(id, &w->frames.ids) {
		if (p->frames.items[*id].file)
			json_u64(&w->json, string(w, profile_str(p, p->frames.items[*id].file)));
		else
			json_null(&w->json);
	}
	json_end(&w->json);
	constant_column(w, "lineNumber", n, NULL);
	constant_column(w, "columnNumber", n, NULL);
	json_close(&w->json);
}

static void add_resources(struct firefox *w, const struct map *resources)
{
	const struct profile *p = w->profile;
	size_t n = resources->len;
	u32 *modules = xcalloc(n ? n : 1, sizeof(*modules));
	const s64 library = 1;

	map_each(slot, resources)
		modules[slot->value - 1] = (u32)slot->key;
	open_table(w, "resourceTable", n);
	constant_column(w, "lib", n, NULL);
	json_key(&w->json, "name");
	json_array(&w->json);
	for (size_t i = 0; i < n; i++) {
		const char *path = profile_str(p, modules[i]), *slash = strrchr(path, '/');

		json_u64(&w->json, string(w, slash && slash[1] ? slash + 1 : path));
	}
	json_end(&w->json);
	constant_column(w, "host", n, NULL);
	constant_column(w, "type", n, &library);
	json_close(&w->json);
	free(modules);
}

static void add_stacks(struct firefox *w)
{
	const struct profile *p = w->profile;
	size_t n = w->stacks.ids.len;
	const s64 zero = 0;

	open_table(w, "stackTable", n);
	json_key(&w->json, "prefix");
	json_array(&w->json);
	vec_each(id, &w->stacks.ids) {
		u32 parent = p->stacks.items[*id].parent;

		if (parent)
			json_u64(&w->json, w->stacks.at[parent] - 1);
		else
			json_null(&w->json);
	}
	json_end(&w->json);
	json_key(&w->json, "frame");
	json_array(&w->json);
	vec_each(id, &w->stacks.ids)
		json_u64(&w->json, w->frames.at[p->stacks.items[*id].frame] - 1);
	json_end(&w->json);
	json_key(&w->json, "category");
	json_array(&w->json);
	vec_each(id, &w->stacks.ids)
		json_u64(&w->json, category_of(profile_frame_of(p, *id)));
	json_end(&w->json);
	constant_column(w, "subcategory", n, &zero);
	json_close(&w->json);
}

/* Weights of clocks are time on a CPU; those of other events count something else, or waits. */
static bool is_cpu_time(const struct profile *p, u16 event)
{
	const char *name = profile_str(p, p->events.items[event].name);

	return export_is_time(p, event) &&
	       (starts_with(name, "cpu-clock") || starts_with(name, "task-clock"));
}

static void add_cpu_time(struct firefox *w, const struct export_moment *m, size_t n)
{
	const struct profile *p = w->profile;

	if (!is_cpu_time(p, w->opts->event)) {
		constant_column(w, "threadCPUDelta", n, NULL);
		return;
	}
	json_key(&w->json, "threadCPUDelta");
	json_array(&w->json);
	for (size_t i = 0; i < n; i++)
		json_u64(&w->json, p->samples.items[m[i].index].weight);
	json_end(&w->json);
}

static void add_samples(struct firefox *w, const struct export_moment *m, size_t n)
{
	const struct profile *p = w->profile;
	const struct profile_sample *samples = p->samples.items;

	open_table(w, "samples", n);
	json_kv_str(&w->json, "weightType", "samples");
	json_key(&w->json, "stack");
	json_array(&w->json);
	for (size_t i = 0; i < n; i++) {
		if (samples[m[i].index].stack)
			json_u64(&w->json, w->stacks.at[samples[m[i].index].stack] - 1);
		else
			json_null(&w->json);
	}
	json_end(&w->json);
	json_key(&w->json, "time");
	json_array(&w->json);
	for (size_t i = 0; i < n; i++)
		json_double(&w->json,
			    m[i].time ? (double)(m[i].time - p->first_time) / 1e6 : (double)i);
	json_end(&w->json);
	json_key(&w->json, "weight");
	json_array(&w->json);
	for (size_t i = 0; i < n; i++)
		json_u64(&w->json, samples[m[i].index].count);
	json_end(&w->json);
	add_cpu_time(w, m, n);
	json_close(&w->json);
}

/* --- threads -------------------------------------------------------------------------------- */

static void add_no_tables(struct firefox *w)
{
	static const char *const markers[] = { "data",  "name",     "startTime", "endTime",
					       "phase", "category", NULL };
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize",
					       NULL };

	open_table(w, "markers", 0);
	empty_columns(w, markers);
	json_close(&w->json);
	open_table(w, "nativeSymbols", 0);
	empty_columns(w, symbols);
	json_close(&w->json);
	json_key(&w->json, "pausedRanges");
	json_array(&w->json);
	json_end(&w->json);
}

static void add_strings(struct firefox *w)
{
	json_key(&w->json, "stringArray");
	json_array(&w->json);
	for (u32 id = 1; id <= w->strings.len; id++)
		json_strn(&w->json, intern_get(&w->strings, id), intern_len(&w->strings, id));
	json_end(&w->json);
}

static void add_thread(struct firefox *w, const struct export_moment *m, size_t n)
{
	const struct profile *p = w->profile;
	const struct profile_thread *t = &p->threads.items[m->thread];
	_cleanup_map_ struct map resources = MAP_INIT;
	_cleanup_buf_ struct buf name = BUF_INIT;
	char pid[16];

	collect(w, m, n);
	export_thread_name(p, m->thread, &name);
	snprintf(pid, sizeof(pid), "%d", t->pid);
	json_open(&w->json);
	json_kv_str(&w->json, "name", buf_str(&name));
	json_kv_bool(&w->json, "isMainThread", t->pid == t->tid);
	json_kv_str(&w->json, "processType", "default");
	json_kv_str(&w->json, "processName", profile_str(p, t->comm));
	json_kv_u64(&w->json, "processStartupTime", 0);
	json_key(&w->json, "processShutdownTime");
	json_null(&w->json);
	json_kv_u64(&w->json, "registerTime", 0);
	json_key(&w->json, "unregisterTime");
	json_null(&w->json);
	json_kv_bool(&w->json, "showMarkersInTimeline", false);
	json_kv_str(&w->json, "pid", pid);
	json_kv_s64(&w->json, "tid", t->tid);
	add_no_tables(w);
	add_frames(w);
	add_functions(w, &resources);
	add_resources(w, &resources);
	add_stacks(w);
	add_samples(w, m, n);
	add_strings(w);
	json_close(&w->json);
}

/* --- heading -------------------------------------------------------------------------------- */

static void add_categories(struct firefox *w)
{
	json_key(&w->json, "categories");
	json_array(&w->json);
	for (int i = 0; i < CATEGORIES; i++) {
		json_open(&w->json);
		json_kv_str(&w->json, "name", category_names[i]);
		json_kv_str(&w->json, "color", category_colors[i]);
		json_key(&w->json, "subcategories");
		json_array(&w->json);
		json_str(&w->json, "Other");
		json_end(&w->json);
		json_close(&w->json);
	}
	json_end(&w->json);
}

static void add_meta(struct firefox *w)
{
	const struct profile *p = w->profile;
	const struct profile_event *ev = &p->events.items[w->opts->event];
	static const char *const extensions[] = { "id", "name", "baseURL", NULL };

	json_key(&w->json, "meta");
	json_open(&w->json);
	add_categories(w);
	json_kv_bool(&w->json, "debug", false);
	json_kv_double(&w->json, "interval", ev->frequency ? 1000.0 / (double)ev->frequency : 1.0);
	json_kv_u64(&w->json, "preprocessedProfileVersion", PROCESSED_VERSION);
	json_kv_u64(&w->json, "version", FORMAT_VERSION);
	json_kv_u64(&w->json, "processType", 0);
	json_kv_str(&w->json, "product", export_title(p, w->opts));
	json_kv_str(&w->json, "importedFrom", "fathom");
	json_kv_u64(&w->json, "stackwalk", 1);
	json_kv_double(&w->json, "startTime", (double)p->wall_start / 1e6);
	json_kv_bool(&w->json, "symbolicated", true);
	json_kv_bool(&w->json, "usesOnlyOneStackType", true);
	json_kv_bool(&w->json, "doesNotUseFrameImplementation", true);
	json_kv_bool(&w->json, "sourceCodeIsNotOnSearchfox", true);
	if (is_cpu_time(p, w->opts->event)) {
		json_key(&w->json, "sampleUnits");
		json_open(&w->json);
		json_kv_str(&w->json, "time", "ms");
		json_kv_str(&w->json, "eventDelay", "ms");
		json_kv_str(&w->json, "threadCPUDelta", "ns");
		json_close(&w->json);
	}
	if (p->kernel)
		json_kv_str(&w->json, "oscpu", profile_str(p, p->kernel));
	json_key(&w->json, "extensions");
	json_open(&w->json);
	json_kv_u64(&w->json, "length", 0);
	empty_columns(w, extensions);
	json_close(&w->json);
	json_key(&w->json, "markerSchema");
	json_array(&w->json);
	json_end(&w->json);
	json_close(&w->json);
}

void export_firefox(const struct profile *p, const struct export_opts *o, struct buf *out)
{
	struct firefox w = { .profile = p, .opts = o };
	export_moments moments = { 0 };

	w.stacks.at = xcalloc(p->stacks.len, sizeof(u32));
	w.frames.at = xcalloc(p->frames.len, sizeof(u32));
	json_init(&w.json, out, false);
	json_open(&w.json);
	add_meta(&w);
	json_key(&w.json, "libs");
	json_array(&w.json);
	json_end(&w.json);
	json_key(&w.json, "pages");
	json_array(&w.json);
	json_end(&w.json);
	json_key(&w.json, "threads");
	json_array(&w.json);
	export_order(p, o->event, &moments);
	for (size_t i = 0; i < moments.len; i += export_run(&moments, i))
		add_thread(&w, &moments.items[i], export_run(&moments, i));
	json_end(&w.json);
	json_close(&w.json);
	buf_addch(out, '\n');
	vec_release(&moments);
	intern_release(&w.strings);
	vec_release(&w.stacks.ids);
	vec_release(&w.frames.ids);
	free(w.stacks.at);
	free(w.frames.at);
}
