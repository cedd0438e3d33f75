/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "code/source.h"

#include "base/base.h"
#include "base/buf.h"
#include "base/io.h"

#include <sys/stat.h>

void source_files_init(struct source_files *s, const char *prefix, u64 strip)
{
	memset(s, 0, sizeof(*s));
	s->names = (struct intern)INTERN_INIT;
	s->prefix = prefix;
	s->strip = strip;
}

void source_files_release(struct source_files *s)
{
	vec_each(f, &s->files) {
		free(f->text);
		vec_release(&f->lines);
	}
	vec_release(&s->files);
	intern_release(&s->names);
}

static char *path_of(const struct source_files *s, const char *file)
{
	const char *rest = file;

	for (u64 i = 0; i < s->strip && *rest; i++) {
		rest += strspn(rest, "/");
		rest += strcspn(rest, "/");
	}
	if (!s->prefix)
		return xstrdup(file);
	return xasprintf("%s/%s", s->prefix, rest + strspn(rest, "/"));
}

static void split(struct source_file *f)
{
	for (char *at = f->text; at && *at;) {
		char *nl = strchr(at, '\n');

		vec_push(&f->lines, at);
		if (!nl)
			return;
		*nl = '\0';
		at = nl + 1;
	}
}

static void read_source(struct source_files *s, const char *name, struct source_file *f)
{
	_cleanup_free_ char *path = path_of(s, name);
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct stat st;

	/* a name from debug information: nothing but a plain file is opened */
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > SOURCE_FILE_MOST ||
	    io_read_file(path, SOURCE_FILE_MOST, &text, NULL) < 0) {
		s->missing++;
		return;
	}
	f->changed = (u64)st.st_mtime;
	f->text = xstrdup(buf_str(&text));
	split(f);
}

const char *source_files_line(struct source_files *s, const char *file, u32 line)
{
	u32 id = intern_str(&s->names, file);

	if (id >= SOURCE_FILES_MOST)
		return NULL;
	while (s->files.len <= id) {
		vec_new(&s->files);
		if (s->files.len - 1 == id)
			read_source(s, file, &s->files.items[id]);
	}
	return line && line <= s->files.items[id].lines.len
		       ? s->files.items[id].lines.items[line - 1]
		       : NULL;
}

bool source_files_newer(struct source_files *s, const char *file, u64 time)
{
	u32 id = intern_str(&s->names, file);
	struct source_file *f = id < s->files.len ? &s->files.items[id] : NULL;

	if (!f || !f->text || f->told || f->changed <= time)
		return false;
	f->told = true;
	return true;
}
