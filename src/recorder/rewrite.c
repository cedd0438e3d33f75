/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/rewrite_parts.h"

#include "elf/elf.h"
#include "elf/find.h"

enum { ROUND_RECORDS = 4096, BUILD_ID_FLAG = 1 << 14 };

/* The part of an MMAP2 record that holds either the inode or the build id. */
struct mmap2_head {
	struct perf_event_header header;
	u32 pid, tid;
	u64 addr, len, pgoff;
	union {
		struct {
			u32 maj, min;
			u64 ino, generation;
		} inode;
		struct {
			u8 size, reserved[3];
			u8 id[20];
		} build_id;
	};
};

static void read_id(const char *path, struct known_id *ret)
{
	struct elf elf = ELF_INIT;

	ret->tried = true;
	if (elf_open(path, &elf, NULL) < 0)
		return;
	ret->size = (u8)MIN(elf_build_id(&elf, ret->id, sizeof(ret->id)), sizeof(ret->id));
	elf_release(&elf);
}

static const struct known_id *id_of(struct rewriter *w, const char *path)
{
	u32 n = intern_str(&w->paths, path);

	while (w->ids.len <= n)
		vec_push(&w->ids, (struct known_id){ 0 });
	if (!w->ids.items[n].tried)
		read_id(path, &w->ids.items[n]);
	return &w->ids.items[n];
}

/* The record with a build id; the same record where there is none to give. */
static const void *with_build_id(struct rewriter *w, const struct record *r)
{
	const struct known_id *id;
	struct record_mmap m;
	struct mmap2_head *head = (struct mmap2_head *)w->copy;

	if (r->type != PERF_RECORD_MMAP2 || record_mmap(r, &m) < 0)
		return r->header;
	if (r->misc & BUILD_ID_FLAG) {
		w->counts->with_id++;
		return r->header;
	}
	id = w->opts->build_ids && m.filename[0] == '/' ? id_of(w, m.filename) : NULL;
	if (!id || !id->size || r->size < sizeof(*head)) {
		w->counts->no_id++;
		return r->header;
	}
	memcpy(w->copy, r->header, r->size);
	head->header.misc |= BUILD_ID_FLAG;
	memset(&head->build_id, 0, sizeof(head->build_id));
	head->build_id.size = id->size;
	memcpy(head->build_id.id, id->id, id->size);
	w->counts->given_id++;
	return w->copy;
}

/* What takes the place of a record; NULL: nothing does. */
static const void *instead_of(struct rewriter *w, const struct record *r)
{
	if (w->opts->jit && rewrite_jit_takes(w, r))
		return NULL;
	if (w->opts->sched_stat && r->sample)
		return rewrite_sched_stat(w, r);
	return with_build_id(w, r);
}

static int on_record(const struct record *r, void *ctx)
{
	struct rewriter *w = ctx;
	const struct perf_event_header *h;
	int code = 0;

	if (w->opts->jit && r->has & PERF_SAMPLE_TIME)
		code = rewrite_jit_until(w, r->time);
	h = code == 0 ? instead_of(w, r) : NULL;
	if (h) {
		code = recording_writer_add(w->writer, h, h->size, w->e);
		w->counts->samples += r->sample != NULL;
	}
	if (code == 0 && ++w->counts->records % ROUND_RECORDS == 0)
		code = recording_writer_round(w->writer, w->e);
	return code;
}

static int add_events(struct rewriter *w)
{
	for (u32 i = 0; i < recording_n_events(w->recording); i++) {
		const struct recording_event *ev = recording_event(w->recording, i);
		int code = recording_writer_event(
			w->writer,
			&(struct writer_event){ .attr = ev->attr,
						.name = ev->name,
						.ids = ev->ids,
						.n_ids = ev->n_ids,
						.n_members =
							ev->n_members > 1 ? ev->n_members : 0 },
			w->e);

		if (code < 0)
			return code;
	}
	return 0;
}

/* What the writer makes itself is left out: names of events, and how it is compressed. */
static int add_features(struct rewriter *w, bool ours)
{
	const struct recording_info *info = recording_info(w->recording);

	vec_each(blob, &info->blobs) {
		int code = 0;

		if (blob->feature == FEATURE_EVENT_DESC || blob->feature == FEATURE_COMPRESSED ||
		    blob->feature == FEATURE_DIR_FORMAT || blob->feature == FEATURE_AUXTRACE)
			continue;
		if ((blob->feature >= FEATURE_OURS) == ours)
			code = recording_writer_feature(w->writer, blob->feature, blob->data,
							blob->size, w->e);
		if (code < 0)
			return code;
	}
	return 0;
}

static int copy_all(struct rewriter *w)
{
	int code = add_events(w);

	if (code == 0)
		code = add_features(w, false);
	if (code == 0)
		code = recording_writer_start(w->writer, w->e);
	if (code == 0)
		code = recording_replay(w->recording, on_record, w, w->e);
	if (code == 0)
		code = w->fault;
	if (code == 0 && w->opts->jit)
		code = rewrite_jit_until(w, UINT64_MAX);
	if (code == 0)
		code = recording_writer_round(w->writer, w->e);
	/* those of a pipe come after its records */
	if (code == 0)
		code = add_features(w, true);
	return code == 0 ? recording_writer_finish(w->writer, w->e) : code;
}

int rewrite_recording(const char *in, const char *out, const struct rewrite_opts *opts,
		      struct rewrite_counts *ret, struct err *e)
{
	struct writer_options o = {
		.path = out, .pipe = opts->pipe, .compress = opts->compress, .no_machine = true
	};
	struct rewriter *w = xcalloc(1, sizeof(*w));
	int code;

	*ret = (struct rewrite_counts){ 0 };
	*w = (struct rewriter){ .opts = opts, .counts = ret, .e = e };
	w->paths = (struct intern)INTERN_INIT;
	code = recording_open_whole(in, &w->recording, e);
	if (code == 0 && recording_info(w->recording)->swapped)
		code = err_set(e, EOPNOTSUPP, "'%s' is of a machine with another byte order", in);
	if (code == 0 && opts->jit)
		code = rewrite_jit_check(w);
	if (code == 0 && opts->sched_stat)
		code = rewrite_sched_check(w);
	if (code == 0)
		code = recording_writer_new(&o, &w->writer, e);
	if (code == 0)
		code = copy_all(w);
	recording_writer_free(w->writer);
	recording_free(w->recording);
	intern_release(&w->paths);
	vec_release(&w->ids);
	rewrite_jit_release(w);
	rewrite_sched_release(w);
	free(w);
	return code;
}
