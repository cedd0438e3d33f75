/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs that come back: the events on them are opened again. Their records go to the ring that the
 * CPU had before, with the ids that the recording knows. Events on threads stay as they are: the
 * kernel takes away those of CPUs and cgroups only.
 */
#include "capture/session_state.h"

#include <sys/ioctl.h>

#include "base/buf.h"
#include "host/machine.h"

/* What goes with the CPU: everything, unless it is the threads that are measured. */
static bool is_bound_to_cpus(const struct session *s)
{
	return target_is_whole(s->target) || s->target->cgroups.len;
}

static bool is_target(const struct session *s, u32 cpu)
{
	vec_each(has, &s->target->cpus) {
		if (*has == cpu)
			return true;
	}
	return false;
}

static bool covers_every_cpu(const struct session *s)
{
	range_list online = { 0 };
	bool every = machine_online(&online, NULL) >= 0;

	vec_each(range, &online) {
		for (u64 cpu = range->first; every && cpu <= range->last; cpu++)
			every = is_target(s, (u32)cpu);
	}
	vec_release(&online);
	return every;
}

void session_cpus_open(struct session *s)
{
	if (s->opts.counting || !is_bound_to_cpus(s))
		return;
	s->every_cpu = covers_every_cpu(s);
	cpuwatch_open(&s->cpus);
}

void session_cpus_release(struct session *s)
{
	cpuwatch_close(&s->cpus);
	map_release(&s->ids);
}

/* --- opening again ------------------------------------------------------------------------------
 */

/* The slot's @nth descriptor on the CPU: one for each cgroup, or one. */
static size_t find_fd(const struct slot *slot, u32 cpu, size_t nth)
{
	for (size_t i = 0; i < slot->fd_cpus.len; i++)
		if (slot->fd_cpus.items[i] == cpu && nth-- == 0)
			return i;
	return SIZE_MAX;
}

static size_t public_index(const struct session *s, const struct slot *slot)
{
	size_t index = 0;

	vec_each(other, &s->slots) {
		if (other == slot)
			break;
		index += other->fds.len != 0;
	}
	return index;
}

/* The mapping of a ring keeps its event, so that this descriptor can be closed. */
static void replace_fd(struct session *s, struct slot *slot, size_t at, int fd)
{
	int before = slot->fds.items[at];

	vec_each(ring, &s->rings) {
		if (ring->fd == before)
			ring->fd = fd;
	}
	s->lost_before += session_lost_of(slot, before);
	close(before);
	slot->fds.items[at] = fd;
}

static void keep(struct session *s, struct slot *slot, size_t at, int fd, u32 cpu)
{
	u64 id = 0;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0)
		map_put(&s->ids, id, slot->ids.items[at == SIZE_MAX ? 0 : at]);
	if (at != SIZE_MAX) {
		replace_fd(s, slot, at, fd);
		return;
	}
	vec_push(&slot->fds, fd);
	vec_push(&slot->fd_cpus, cpu);
}

static void enable(const struct session *s, const struct slot *slot, int fd)
{
	bool leads = &s->slots.items[slot->leader] == slot;

	if (leads && (s->enabled || !slot->event))
		(void)ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

static int open_again(struct session *s, struct slot *slot, const struct unit *u, size_t nth,
		      u32 cpu, const struct session_sinks *sinks)
{
	size_t at = find_fd(slot, cpu, nth);
	int fd, r;

	slot->group_fd = -1;
	if (slot->dead || !slot->fds.len || (slot->cpus.len && !ranges_contain(&slot->cpus, cpu)))
		return 0;
	fd = session_open_event(s, slot, u, cpu);
	if (fd < 0)
		return fd;
	r = session_attach_event(s, slot, fd, cpu, NULL);
	if (r < 0) {
		close(fd);
		return r;
	}
	slot->group_fd = fd;
	keep(s, slot, at, fd, cpu);
	if (sinks->reopened && slot->event)
		sinks->reopened(sinks->ctx, public_index(s, slot), fd);
	return 0;
}

/* Members first: a leader that is enabled starts its group. */
static void enable_again(struct session *s, u32 cpu, size_t nth)
{
	vec_each(slot, &s->slots) {
		size_t at = find_fd(slot, cpu, nth);

		if (at != SIZE_MAX)
			enable(s, slot, slot->fds.items[at]);
	}
}

static int open_unit(struct session *s, const struct unit *u, size_t nth, u32 cpu,
		     const struct session_sinks *sinks)
{
	int r = 0;

	vec_each(slot, &s->slots) {
		int rc = open_again(s, slot, u, nth, cpu, sinks);

		r = rc < 0 ? rc : r;
	}
	enable_again(s, cpu, nth);
	return r;
}

static void open_cpu(struct session *s, u32 cpu, const struct session_sinks *sinks)
{
	struct unit u = { .pid = -1 };
	int r = 0;

	if (!is_target(s, cpu) && !s->every_cpu)
		return;
	if (target_is_whole(s->target))
		r = open_unit(s, &u, 0, cpu, sinks);
	u.flags = PERF_FLAG_PID_CGROUP;
	for (size_t i = 0; i < s->target->cgroups.len; i++) {
		u.pid = s->target->cgroups.items[i].fd;
		int rc = open_unit(s, &u, i, cpu, sinks);

		r = rc < 0 ? rc : r;
	}
	if (r < 0)
		session_note(s, "start it again", "CPU %u is online again and not sampled: %s", cpu,
			     err_words(-r));
	else
		session_note(s, NULL, "CPU %u came online while recording: sampled from then on",
			     cpu);
}

bool session_cpus_look(struct session *s, const struct session_sinks *sinks)
{
	range_list online = { 0 };
	bool any = false;
	int cpu;

	if (s->opts.counting || !is_bound_to_cpus(s))
		return false;
	while ((cpu = cpuwatch_next(&s->cpus)) >= 0) {
		open_cpu(s, (u32)cpu, sinks);
		any = true;
	}
	if (cpu != CPUWATCH_ALL || machine_online(&online, NULL) < 0)
		return any;
	vec_each(range, &online) {
		for (u64 i = range->first; i <= range->last; i++)
			open_cpu(s, (u32)i, sinks);
	}
	vec_release(&online);
	return true;
}

/* --- ids
 * ------------------------------------------------------------------------------------------ */

static void replace_word(u8 *at, const struct map *ids)
{
	u64 id, *known;

	memcpy(&id, at, sizeof(id));
	known = map_find(ids, id);
	if (known)
		memcpy(at, known, sizeof(*known));
}

/* Every event of a session has PERF_SAMPLE_IDENTIFIER and sample_id_all. */
void session_replace_ids(void *records, size_t n, const struct map *ids)
{
	u8 *at = records, *end = at + n;
	struct perf_event_header h;

	for (; (size_t)(end - at) >= sizeof(h) + sizeof(u64); at += h.size) {
		memcpy(&h, at, sizeof(h));
		if (h.size < sizeof(h) + sizeof(u64) || h.size > end - at)
			break;
		if (h.type == PERF_RECORD_SAMPLE || h.type == PERF_RECORD_LOST)
			replace_word(at + sizeof(h), ids);
		if (h.type != PERF_RECORD_SAMPLE)
			replace_word(at + h.size - sizeof(u64), ids);
	}
}

/* The memory of a ring is the kernel's, and that of a flight recorder may not be written. */
int session_translate(void *translation, const void *bytes, size_t n)
{
	struct session_translation *t = translation;

	buf_reset(&t->bytes);
	buf_add(&t->bytes, bytes, n);
	session_replace_ids(t->bytes.data, t->bytes.len, &t->session->ids);
	return t->sinks->records(t->sinks->ctx, t->bytes.data, t->bytes.len);
}
