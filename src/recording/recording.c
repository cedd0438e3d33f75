/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening, closing and asking. */
#include "recording/reader.h"

static struct recording *recording_new(const char *name)
{
	struct recording *r = xcalloc(1, sizeof(*r));

	r->name = xstrdup(name);
	r->source.fd = -1;
	r->sample_id = r->id_id = -1;
	return r;
}

static void release_info(struct recording_info *info)
{
	vec_release(&info->cmdline);
	vec_release(&info->core_siblings);
	vec_release(&info->thread_siblings);
	vec_release(&info->die_siblings);
	vec_release(&info->cpus);
	vec_release(&info->nodes);
	vec_release(&info->pmus);
	vec_release(&info->groups);
	vec_release(&info->caches);
	vec_release(&info->mem_nodes);
	vec_release(&info->build_ids);
	vec_release(&info->bpf_progs);
	vec_release(&info->btfs);
	vec_release(&info->formats);
	vec_release(&info->threads);
	vec_release(&info->cpu_map);
	vec_release(&info->blobs);
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	order_release(&r->order, &r->stream.pool);
	stream_release(&r->stream);
	source_release(&r->source);
	release_info(&r->info);
	recording_release_pieces(r);
	vec_release(&r->events);
	vec_release(&r->layouts);
	vec_release(&r->named);
	map_release(&r->ids);
	arena_release(&r->arena);
	free(r->name);
	free(r);
}

/* The source is open. Takes over @r. */
static int finish_open(struct recording *r, struct recording **ret, struct err *e)
{
	int status = recording_read_header(r, e);

	if (status < 0) {
		recording_free(r);
		return status;
	}
	stream_init(&r->stream, &r->source);
	recording_prime(r);
	*ret = r;
	return 0;
}

static int open_path(const char *path, bool keep_all, struct recording **ret, struct err *e)
{
	struct recording *r = recording_new(streq(path, "-") ? "standard input" : path);
	int status = source_open_path(&r->source, path, e);

	r->keep_all = keep_all;
	if (status < 0) {
		recording_free(r);
		return status;
	}
	return finish_open(r, ret, e);
}

int recording_open(const char *path, struct recording **ret, struct err *e)
{
	return open_path(path, false, ret, e);
}

int recording_open_whole(const char *path, struct recording **ret, struct err *e)
{
	return open_path(path, true, ret, e);
}

int recording_open_fd(int fd, const char *name, struct recording **ret, struct err *e)
{
	struct recording *r = recording_new(name);
	int status = source_open_fd(&r->source, fd, name, e);

	if (status < 0) {
		recording_free(r);
		return status;
	}
	return finish_open(r, ret, e);
}

int recording_open_memory(const void *data, size_t size, struct recording **ret, struct err *e)
{
	struct recording *r = recording_new("memory");

	source_open_memory(&r->source, data, size);
	return finish_open(r, ret, e);
}

const struct recording_info *recording_info(const struct recording *r)
{
	return &r->info;
}

const struct recording_counts *recording_counts(const struct recording *r)
{
	return &r->counts;
}

const struct recording_fault *recording_fault(const struct recording *r)
{
	return &r->fault;
}

size_t recording_n_events(const struct recording *r)
{
	return r->events.len;
}

const struct recording_event *recording_event(const struct recording *r, u32 index)
{
	return index < r->events.len ? &r->events.items[index] : NULL;
}

const char *recording_name(const struct recording *r)
{
	return r->name;
}

void recording_progress(const struct recording *r, u64 *ret_done, u64 *ret_total)
{
	u64 end = MIN(r->stream_end, r->source.size);

	*ret_done = r->stream.offset - r->stream_begin;
	*ret_total = end > r->stream_begin ? end - r->stream_begin : 0;
}
