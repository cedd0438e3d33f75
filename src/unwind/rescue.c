/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/rescue.h"

#include "bpf/unwind_python.h"

#define VDSO "[vdso]"

void rescue_init(struct rescue *r, struct unwind_feed *feed)
{
	*r = (struct rescue){ .feed = feed };
}

static void forget_all(struct rescue *r)
{
	vec_each(m, &r->maps) {
		mappings_release(*m);
		free(*m);
	}
	vec_clear(&r->maps);
	map_clear(&r->by_pid);
}

void rescue_release(struct rescue *r)
{
	forget_all(r);
	vec_release(&r->maps);
	map_release(&r->by_pid);
}

void rescue_note_map(struct rescue *r, int pid, const struct mapping *map)
{
	const struct unwind_key key = { .ino = map->ino, .dev = map->dev };
	struct mapping note = *map;

	if (!map->exec)
		return;
	/* the path of a file is kept once, as a hint */
	note.path = streq(map->path, VDSO) ? VDSO : "";
	unwind_feed_hint(r->feed, &key, map->path);
	u64 i = map_get(&r->by_pid, (u64)pid, 0);

	if (!i) {
		if (r->maps.len == RESCUE_MAX_PROCESSES)
			forget_all(r);
		vec_push(&r->maps, xcalloc(1, sizeof(struct mappings)));
		i = r->maps.len;
		map_put(&r->by_pid, (u64)pid, i);
	}
	mappings_cover(r->maps.items[i - 1], &note);
}

/* One stack at work. */
struct job {
	struct rescue *r;
	const struct unwind_rescue *rec;
	const struct mappings *maps;
	u32 python; /* the next word about functions of Python */
};

static int job_read(void *ctx, u64 address, void *to, size_t n)
{
	const struct job *j = ctx;
	const struct unwind_copy copy = { j->rec->stack, j->rec->regs[UNWIND_REG_SP],
					  j->rec->stack_bytes };

	return unwind_copy_read(&copy, address, to, n);
}

static struct unwind_key key_of(const struct mapping *m)
{
	bool vdso = streq(m->path, VDSO);

	return (struct unwind_key){ .ino = vdso ? 1 : m->ino, .dev = vdso ? 0 : m->dev };
}

static int job_find(void *ctx, u64 pc, const struct unwind_rule **ret)
{
	const struct job *j = ctx;
	const struct mapping *m = mappings_find(j->maps, pc);

	if (!m || !m->exec)
		return -ENOENT;
	const struct unwind_key key = key_of(m);

	*ret = NULL;
	if (!key.ino) {
		*ret = unwind_feed_code_rule(j->r->feed, j->rec->pid, pc, j->rec->time);
		return 0;
	}
	u64 offset = pc - m->start + m->offset;

	if (unwind_feed_rule(j->r->feed, &key, &m->version, offset, ret))
		return 0;
	/* the file is known to the kernel by another number (overlayfs), or it came just now */
	unwind_feed_map(j->r->feed, m, (int)j->rec->pid, NULL);
	return unwind_feed_rule(j->r->feed, &key, &m->version, offset, ret) ? 0 : -EAGAIN;
}

/* As the kernel does it: the functions whose anchor is in the frame that runs them. */
static size_t job_before(void *ctx, u64 from, u64 to, u64 *ip, size_t room)
{
	struct job *j = ctx;
	u32 most = MIN(j->rec->n_python, (u32)UNWIND_RESCUE_PYTHON);
	u64 anchor = j->python < most ? j->rec->py[j->python] : 0;
	size_t n = 0;

	if (anchor < from || anchor >= to)
		return 0;
	j->python++;
	while (n < room && j->python < most && j->rec->py[j->python] & UNWIND_PYTHON_BIT)
		ip[n++] = j->rec->py[j->python++];
	return n;
}

/* What the kernel saw at the moment of the sample. */
static void maps_of_record(struct mappings *m, const struct unwind_rescue *rec)
{
	for (u32 i = 0; i < rec->n_vmas && i < UNWIND_RESCUE_VMAS; i++) {
		const struct unwind_vma *v = &rec->vmas[i];
		bool vdso = v->key.ino == 1 && !v->key.dev;
		const struct mapping map = {
			.start = v->start,
			.end = v->end,
			.offset = v->offset,
			.ino = v->key.ino,
			.dev = v->key.dev,
			.version = v->version,
			.exec = true,
			.path = vdso ? VDSO : "",
		};

		mappings_push(m, &map);
	}
	mappings_sort(m);
}

/* As the kernel does it. */
static void place_frames(const struct rescue *r, const struct mappings *maps,
			 struct unwind_frames *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct mapping *m = mappings_find(maps, f->ip[i] - (i > 0));
		const struct unwind_key key = m ? key_of(m) : (struct unwind_key){ 0 };
		u32 number = m ? unwind_feed_number(r->feed, &key, &m->version) : 0;

		if (number)
			f->ip[i] = unwind_place(number, f->ip[i] - m->start + m->offset);
	}
}

void rescue_unwind(struct rescue *r, const struct unwind_rescue *rec, struct unwind_frames *f)
{
	_cleanup_(mappings_release) struct mappings maps = { 0 };
	struct job job = { .r = r, .rec = rec, .maps = &maps };
	struct unwind_source source = {
		.ctx = &job,
		.read = job_read,
		.find = job_find,
		.before = rec->python && rec->n_python ? job_before : NULL,
	};
	u64 noted = map_get(&r->by_pid, rec->pid, 0);

	/* an incomplete list: the process itself, or what was noted if it is gone */
	if (rec->n_vmas && rec->n_vmas < UNWIND_RESCUE_VMAS)
		maps_of_record(&maps, rec);
	else if ((mappings_read(&maps, (int)rec->pid, NULL) || !maps.items.len) && noted)
		job.maps = r->maps.items[noted - 1];
	else if (!maps.items.len)
		maps_of_record(&maps, rec);
	memcpy(source.regs, rec->regs, sizeof(source.regs));
	if (rec->n_user && rec->n_user <= UNWIND_RESCUE_FRAMES && rec->n_user <= f->max) {
		const struct unwind_resume from = { .returned = rec->returned,
						    .full = rec->full,
						    .bx_lost = rec->bx_lost,
						    .fp_steps = rec->fp_steps };

		memcpy(f->ip, rec->user, rec->n_user * sizeof(*f->ip));
		f->n = rec->n_user;
		unwind_user_from(&source, &from, f);
	} else {
		unwind_user(&source, f);
	}
	if (r->places)
		place_frames(r, job.maps, f);
}
