/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/needed.h"

#include "base/intern.h"
#include "elf/elf.h"
#include "elf/find.h"
#include "elf/note.h"
#include "profile/machine.h"
#include "recording/recording.h"

enum { FILES_MOST = 1 << 16 };

struct finder {
	struct needed_files *files;
	struct intern keys;
	struct symbols *symbols;
	struct machine machine;
	bool hits;
};

static struct needed_file *file_of(struct finder *f, const char *path)
{
	u32 n = intern_str(&f->keys, path);

	if (n > FILES_MOST)
		return NULL;
	while (f->files->list.len < n)
		vec_push(&f->files->list, (struct needed_file){ 0 });
	if (!f->files->list.items[n - 1].path)
		f->files->list.items[n - 1].path = xstrdup(path);
	return &f->files->list.items[n - 1];
}

/* "[kernel.kallsyms]_text" is a place in it. */
static const char *name_of(const char *path)
{
	return strncmp(path, "[kernel.kallsyms]", 17) == 0 ? "[kernel.kallsyms]" : path;
}

static void set_id(struct needed_file *f, const u8 *id, size_t n)
{
	if (!f || f->id_size || !n)
		return;
	f->id_size = (u8)MIN(n, (size_t)NEEDED_ID);
	memcpy(f->id, id, f->id_size);
}

static int on_record(const struct record *r, void *ctx)
{
	struct finder *f = ctx;
	struct record_mmap m;

	if ((r->type == PERF_RECORD_MMAP || r->type == PERF_RECORD_MMAP2) &&
	    record_mmap(r, &m) >= 0 && (m.filename[0] == '/' || m.filename[0] == '['))
		set_id(file_of(f, name_of(m.filename)), m.build_id, m.build_id_size);
	machine_record(&f->machine, r);
	if (r->sample && r->has & PERF_SAMPLE_TID) {
		const struct process *p = machine_process(&f->machine, (s32)r->sample->pid);
		bool kernel = record_is_kernel_mode(r);
		const struct mapping *map = kernel ? NULL : machine_mapping(p, r->sample->ip);
		struct needed_file *hit = kernel ? file_of(f, "[kernel.kallsyms]")
					  : map && map->path && map->path[0] == '/'
						  ? file_of(f, map->path)
						  : NULL;

		if (hit)
			hit->samples++;
	}
	return 0;
}

static int add_self(struct needed_files *files, const char *path, struct err *e)
{
	struct needed_file f = { 0 };
	struct elf elf = ELF_INIT;
	int r = elf_open(path, &elf, e);

	if (r < 0)
		return r;
	f.id_size = (u8)MIN(elf_build_id(&elf, f.id, NEEDED_ID), (size_t)NEEDED_ID);
	if (f.id_size) {
		f.path = xstrdup(path);
		vec_push(&files->list, f);
	} else {
		r = err_set(e, ENODATA, "'%s' has no build id", path);
	}
	elf_release(&elf);
	return r;
}

static void drop(struct needed_files *files, bool hits)
{
	size_t n = 0;

	for (size_t i = 0; i < files->list.len; i++) {
		struct needed_file *f = &files->list.items[i];

		if (f->path && (!hits || f->samples))
			files->list.items[n++] = *f;
		else
			free(f->path);
	}
	files->list.len = n;
}

int needed_load(struct needed_files *files, const char *path, bool hits, struct err *e)
{
	struct finder f = { .files = files, .hits = hits };
	_cleanup_err_ struct err why = ERR_INIT;
	struct recording *rec = NULL;
	int r = recording_open(path, &rec, e);

	if (r == -EBADMSG && add_self(files, path, &why) == 0) {
		err_release(e);
		return 0;
	}
	if (r < 0)
		return r;
	f.keys = (struct intern)INTERN_INIT;
	f.symbols = symbols_new(NULL);
	machine_init(&f.machine, f.symbols);
	r = recording_replay(rec, on_record, &f, e);
	vec_each(b, &recording_info(rec)->build_ids)
		set_id(file_of(&f, name_of(b->path)), b->id, b->id_size);
	drop(files, hits);
	machine_release(&f.machine);
	symbols_free(f.symbols);
	intern_release(&f.keys);
	recording_free(rec);
	return r;
}

int needed_kernel(struct needed_files *files, struct err *e)
{
	struct needed_file f = { 0 };

	f.id_size = (u8)MIN(elf_notes_file_build_id("/sys/kernel/notes", f.id, NEEDED_ID),
			    (size_t)NEEDED_ID);
	if (!f.id_size)
		return err_set(e, ENODATA, "/sys/kernel/notes has no build id");
	f.path = xstrdup("[kernel.kallsyms]");
	vec_push(&files->list, f);
	return 0;
}

void needed_release(struct needed_files *f)
{
	vec_each(file, &f->list)
		free(file->path);
	vec_release(&f->list);
}
