/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile.h"

void profile_init(struct profile *p)
{
	*p = (struct profile){ 0 };
	vec_new(&p->frames);
	vec_new(&p->stacks);
	vec_new(&p->links);
	vec_new(&p->threads);
}

void profile_release(struct profile *p)
{
	intern_release(&p->strings);
	intern_release(&p->frame_ids);
	intern_release(&p->thread_ids);
	vec_release(&p->frames);
	vec_release(&p->stacks);
	vec_release(&p->links);
	map_release(&p->stack_ids);
	vec_release(&p->threads);
	vec_release(&p->events);
	vec_release(&p->samples);
	vec_release(&p->trace_columns);
	intern_release(&p->trace_rows);
	vec_release(&p->traces);
	vec_release(&p->nameless);
	vec_release(&p->unnamed);
	vec_release(&p->lineless);
	vec_release(&p->accounts);
	vec_release(&p->wakes);
	vec_release(&p->wakers);
}

u32 profile_string(struct profile *p, const char *s)
{
	return s && *s ? intern_str(&p->strings, s) : 0;
}

const char *profile_str(const struct profile *p, u32 id)
{
	return intern_get(&p->strings, id);
}

/* Names that a complete stack begins with. */
static bool is_root_name(const char *name)
{
	static const char *const roots[] = {
		"main",
		"_start",
		"__libc_start_main",
		"__libc_start_call_main",
		"__libc_start_main@@GLIBC_2.34",
		"clone3",
		"__clone3",
		"clone",
		"__clone",
		"start_thread",
		"thread_start",
		"ret_from_fork",
		"runtime.goexit",
		"runtime.goexit.abi0",
		"_dl_start_user",
		"__GI___clone3",
		"__GI___clone",
	};

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		if (streq(name, roots[i]))
			return true;
	return false;
}
u32 profile_get_frame(struct profile *p, const struct frame *f)
{
	/* what makes two frames equal, without the padding of the struct */
	u32 key[] = { f->name, f->module, f->file, f->line, f->kind, f->inline_of };
	u32 id = intern_bytes(&p->frame_ids, key, sizeof(key));

	if (id == p->frames.len) {
		vec_push(&p->frames, *f);
		vec_last(&p->frames)->is_root = is_root_name(profile_str(p, f->name));
	}
	return id;
}

static u32 new_stack(struct profile *p, u32 parent, u32 frame)
{
	vec_push(&p->stacks, (struct stack){ .parent = parent, .frame = frame });
	vec_push(&p->links, (struct stack_links){ 0 });
	return (u32)p->stacks.len - 1;
}

enum { LINKS_MOST = 8 };

/*
 * Most callers call one or two functions, and a new stack is requested right after its caller: a
 * short list next to it is found without a miss of the cache, which no hash table can say. Callers
 * of many keep the rest in the map.
 */
static u32 find_link(const struct profile *p, u32 parent, u32 frame, u32 *ret_n)
{
	u32 id = p->links.items[parent].first, n = 0;

	for (; id && p->stacks.items[id].frame != frame; id = p->links.items[id].next)
		n++;
	*ret_n = n;
	return id;
}

u32 profile_get_stack(struct profile *p, u32 parent, u32 frame)
{
	u32 n, id = find_link(p, parent, frame, &n);
	u64 *known;

	if (id)
		return id;
	if (n < LINKS_MOST) {
		id = new_stack(p, parent, frame);
		p->links.items[id].next = p->links.items[parent].first;
		p->links.items[parent].first = id;
		return id;
	}
	known = map_at(&p->stack_ids, (u64)parent << 32 | frame);
	if (!*known)
		*known = new_stack(p, parent, frame);
	return (u32)*known;
}

u32 profile_find_stack(const struct profile *p, u32 parent, u32 frame)
{
	u32 n, id = find_link(p, parent, frame, &n);

	return id || n < LINKS_MOST ? id
				    : (u32)map_get(&p->stack_ids, (u64)parent << 32 | frame, 0);
}

u32 profile_get_thread(struct profile *p, s32 pid, s32 tid, u32 comm, u32 cgroup)
{
	u32 key[] = { (u32)pid, (u32)tid, comm, cgroup };
	u32 id = intern_bytes(&p->thread_ids, key, sizeof(key));

	if (id == p->threads.len)
		vec_push(&p->threads, (struct profile_thread){ pid, tid, comm, cgroup });
	return id;
}

u32 profile_find_thread(const struct profile *p, s32 pid, s32 tid, u32 comm, u32 cgroup)
{
	const u32 key[] = { (u32)pid, (u32)tid, comm, cgroup };

	return intern_find(&p->thread_ids, key, sizeof(key));
}

u16 profile_get_event(struct profile *p, const char *name)
{
	u32 id = profile_string(p, name);

	for (size_t i = 0; i < p->events.len; i++)
		if (p->events.items[i].name == id)
			return (u16)i;
	vec_push(&p->events, (struct profile_event){ .name = id });
	return (u16)(p->events.len - 1);
}

static void count_sample(struct profile *p, const struct profile_sample *s)
{
	struct profile_event *ev = &p->events.items[s->event];

	ev->samples += s->count;
	ev->weight += s->weight;
	if (!s->time)
		return;
	if (!p->first_time || s->time < p->first_time)
		p->first_time = s->time;
	p->last_time = MAX(p->last_time, s->time);
}

void profile_add_sample(struct profile *p, const struct profile_sample *s)
{
	count_sample(p, s);
	vec_push(&p->samples, *s);
}

void profile_merge_sample(struct profile *p, size_t index, const struct profile_sample *s)
{
	struct profile_sample *into = &p->samples.items[index];

	count_sample(p, s);
	into->weight += s->weight;
	into->count += s->count;
}

size_t profile_depth(const struct profile *p, u32 stack)
{
	size_t n = 0;

	for (; stack; stack = p->stacks.items[stack].parent)
		n++;
	return n;
}

size_t profile_frames(const struct profile *p, u32 stack, u32 *ret_frames, size_t max)
{
	size_t depth = profile_depth(p, stack);

	for (size_t i = depth; stack; stack = p->stacks.items[stack].parent)
		if (--i < max)
			ret_frames[i] = p->stacks.items[stack].frame;
	return depth;
}
