/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runtime/mapwatch.h"

#include "base/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { BASE_MOST = 4096 };

/* --- what was there when we began --------------------------------------------------------------
 */

void mapwatch_base_init(struct mapwatch_base *b)
{
	DIR *dir = opendir("/tmp");
	struct dirent *d;
	struct stat st;

	*b = (struct mapwatch_base){ .began = clock_mono_ns(), .began_real = clock_wall_ns() };
	while (dir && b->sizes.len < BASE_MOST && (d = readdir(dir))) {
		if (starts_with(d->d_name, "perf-") && ends_with(d->d_name, ".map") &&
		    fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			map_put(&b->sizes, st.st_ino, (u64)st.st_size);
	}
	if (dir)
		closedir(dir);
}

void mapwatch_base_release(struct mapwatch_base *b)
{
	map_release(&b->sizes);
}

/* --- looking -----------------------------------------------------------------------------------
 */

void mapwatch_init(struct mapwatch *w, pid_t pid)
{
	*w = (struct mapwatch){ 0 };
	jit_init(&w->jit, pid, false);
	w->jit.keep = true;
}

void mapwatch_release(struct mapwatch *w)
{
	jit_release(&w->jit);
}

struct look {
	struct mapwatch *w;
	struct code_names *names;
	u64 before; /* the time of the last look */
	u64 now;
	size_t first; /* of the entries that are new */
};

static const char *name_of(const struct look *l, u32 id)
{
	return perfmap_name(&l->w->jit.map, &l->w->jit.map.entries.items[id]);
}

static void add_new(struct look *l, u32 id)
{
	struct perfmap_entry *e = &l->w->jit.map.entries.items[id];

	if (e->result)
		return;
	e->result = 1; /* its time is known */
	code_names_add(l->names,
		       &(struct code_name){ .pid = (u32)l->w->jit.pid,
					    .time = l->before,
					    .sure = l->now,
					    .start = e->start,
					    .size = e->size },
		       name_of(l, id));
}

/* What shows from @start to @end of an entry that was there before, and is replaced there. */
static void add_old(struct look *l, u32 id, u64 start, u64 end)
{
	if (l->w->jit.map.entries.items[id].result)
		return;
	code_names_add(l->names,
		       &(struct code_name){
			       .pid = (u32)l->w->jit.pid, .start = start, .size = end - start },
		       name_of(l, id));
}

/* The spans are those of the look before. */
static bool replaces_old(struct look *l, u32 id)
{
	const struct span_table *t = &l->w->jit.map.spans;
	const struct perfmap_entry *e = &l->w->jit.map.entries.items[id];
	const u64 end = e->start + e->size;
	size_t at = starts_up_to(t->starts, t->len, e->start);
	bool ret = false;

	for (at -= at > 0; at + 1 < t->len && t->starts[at] < end; at++) {
		const u32 old = t->ids[at];
		const u64 from = MAX(t->starts[at], e->start), to = MIN(t->starts[at + 1], end);

		if (old == SPAN_NONE || from >= to || streq(name_of(l, old), name_of(l, id)))
			continue;
		add_old(l, old, from, to);
		ret = true;
	}
	return ret;
}

static int compare_starts(const void *a, const void *b, void *map)
{
	const struct perfmap_entry *list = ((const struct perfmap *)map)->entries.items;
	const u32 x = *(const u32 *)a, y = *(const u32 *)b;

	if (list[x].start != list[y].start)
		return list[x].start < list[y].start ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* New ones in one another's place: which was there when is not known. In the order of the file. */
static void mark_overlaps(struct look *l, bool *overlaps)
{
	const struct perfmap *m = &l->w->jit.map;
	const size_t n = m->entries.len - l->first;
	_cleanup_free_ u32 *order = xmalloc(n * sizeof(*order));
	const struct perfmap_entry *far = NULL;

	for (size_t i = 0; i < n; i++)
		order[i] = (u32)(l->first + i);
	qsort_r(order, n, sizeof(*order), compare_starts, &l->w->jit.map);
	for (size_t i = 0; i < n; i++) {
		const struct perfmap_entry *e = &m->entries.items[order[i]];

		if (far && e->start < far->start + far->size) {
			overlaps[order[i] - l->first] = true;
			overlaps[(size_t)(far - m->entries.items) - l->first] = true;
		}
		if (!far || e->start + e->size >= far->start + far->size)
			far = e;
	}
}

/* Takes what came since @before. */
static void take(struct mapwatch *w, u64 before, struct code_names *names)
{
	struct look l = { .w = w,
			  .names = names,
			  .before = before,
			  .now = clock_mono_ns(),
			  .first = w->jit.map.entries.len };
	_cleanup_free_ bool *overlaps = NULL;
	const u32 rewritten = w->jit.rewritten;
	size_t n;

	perfmap_update(&w->jit.map);
	jit_read(&w->jit, 0, NULL);
	if (w->jit.rewritten != rewritten)
		l.first = w->jit.kept;
	n = w->jit.map.entries.len - l.first;
	if (!n)
		return;
	overlaps = xcalloc(n, sizeof(*overlaps));
	mark_overlaps(&l, overlaps);
	for (size_t i = 0; i < n; i++) {
		if (replaces_old(&l, (u32)(l.first + i)) || overlaps[i])
			add_new(&l, (u32)(l.first + i));
	}
}

/* The first look: what was there when we began has no time. */
static void take_base(struct mapwatch *w, const struct mapwatch_base *base)
{
	struct stat st;
	u64 size;

	if (jit_stat(&w->jit, &st) < 0)
		return;
	size = map_get(&base->sizes, st.st_ino, 0);
	if ((u64)st.st_mtim.tv_sec * NSEC_PER_SEC + (u64)st.st_mtim.tv_nsec < base->began_real)
		size = (u64)st.st_size;
	if (!size)
		return;
	w->jit.most = size;
	jit_read(&w->jit, 0, NULL);
	w->jit.most = 0;
}

void mapwatch_look(struct mapwatch *w, const struct mapwatch_base *base, struct code_names *names)
{
	const u64 now = clock_mono_ns();

	if (!w->looked)
		take_base(w, base);
	take(w, w->looked ? w->looked : base->began, names);
	w->looked = now;
}
