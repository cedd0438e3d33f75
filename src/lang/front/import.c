/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/front/import.h"

#include "base/io.h"

#include <dirent.h>
#include <sys/stat.h>

struct importer {
	const struct lang_opts *opts;
	struct arena *arena;
	struct buf *all;
	VEC(struct source_part) parts;
	VEC(const char *) seen;
	u32 depth;
	struct span_at at; /* of the statement that could not be followed */
	struct err *e;
};

/* --- finding the statements ------------------------------------------------------------------- */

/* After a comment or a string that begins at @s; @s itself when there is neither. */
static const char *skip_opaque(const char *s, const char *end)
{
	if (s + 1 < end && s[0] == '/' && s[1] == '/') {
		while (s < end && *s != '\n')
			s++;
	} else if (s + 1 < end && s[0] == '/' && s[1] == '*') {
		for (s += 2; s < end && !(s[0] == '*' && s + 1 < end && s[1] == '/'); s++)
			;
		s = MIN(s + 2, end);
	} else if (*s == '"') {
		for (s++; s < end && *s != '"'; s++)
			s += *s == '\\' && s + 1 < end;
		s = MIN(s + 1, end);
	}
	return s;
}

static bool is_word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '@' || c == ':' || c == '.';
}

struct statement {
	size_t start, end; /* in the text */
	const char *path;  /* not ended */
	size_t path_len;
};

/* import "path" [;] at @s; false when something else stands there. */
static bool statement_at(const char *text, const char *s, const char *end, struct statement *ret)
{
	const char *p = s + strlen("import");

	if ((size_t)(end - s) <= strlen("import") || memcmp(s, "import", strlen("import")) != 0 ||
	    (s > text && is_word_byte(s[-1])))
		return false;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p == end || *p != '"')
		return false;
	ret->path = p + 1;
	p = skip_opaque(p, end);
	ret->path_len = (size_t)(p - ret->path) - 1;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	ret->start = (size_t)(s - text);
	ret->end = (size_t)(p - text) + (p < end && *p == ';');
	return true;
}

/* The next one outside of blocks, from *@at on. */
static bool next_statement(const char *text, size_t len, size_t *at, struct statement *ret)
{
	const char *s = text + *at, *end = text + len;
	u32 depth = 0;

	while (s < end) {
		const char *after = skip_opaque(s, end);

		if (after != s) {
			s = after;
			continue;
		}
		if (*s == '{')
			depth++;
		else if (*s == '}' && depth)
			depth--;
		else if (*s == 'i' && !depth && statement_at(text, s, end, ret)) {
			*at = ret->end;
			return true;
		}
		s++;
	}
	return false;
}

/* --- files ------------------------------------------------------------------------------------ */

static int import_path(struct importer *im, const char *path);

static bool was_seen(struct importer *im, const char *path)
{
	char *real = realpath(path, NULL);
	const char *key = arena_strdup(im->arena, real ? real : path);

	free(real);
	vec_each(it, &im->seen) {
		if (streq(*it, key))
			return true;
	}
	vec_push(&im->seen, key);
	return false;
}

static int find_file(struct importer *im, const char *name, const char *dir, char **ret)
{
	const char *own = dir ? dir : ".";
	char *path;

	if (name[0] == '/') {
		*ret = arena_strdup(im->arena, name);
		return access(name, R_OK) == 0 ? 0
					       : err_sys(im->e, errno, "cannot import '%s'", name);
	}
	for (size_t i = 0; i < im->opts->n_include_dirs + 1; i++) {
		path = arena_printf(im->arena, "%s/%s", i ? im->opts->include_dirs[i - 1] : own,
				    name);
		if (access(path, R_OK) == 0) {
			*ret = path;
			return 0;
		}
	}
	err_set(im->e, ENOENT, "cannot import '%s': there is no such file in '%s'", name, own);
	err_hint(im->e, "-I DIR adds a place to look in");
	return -ENOENT;
}

static char *dir_of(struct importer *im, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? arena_strndup(im->arena, path, (size_t)(slash - path)) : NULL;
}

/* What the text imports, then the text itself without its statements. */
static int add_text(struct importer *im, const char *name, const char *dir, char *text, size_t len)
{
	struct source_part part = { .name = name };
	struct statement st;
	size_t at = 0;

	while (next_statement(text, len, &at, &st)) {
		char *path = arena_strndup(im->arena, st.path, st.path_len), *file;
		int rc;

		memset(text + st.start, ' ', st.end - st.start);
		/* bpftrace's own library is part of the language here. */
		if (streq(path, "stdlib") || starts_with(path, "stdlib/"))
			continue;
		rc = find_file(im, path, dir, &file);

		if (rc == 0)
			rc = import_path(im, file);
		if (rc < 0) {
			im->at = (struct span_at){ (u32)st.start,
						   (u32)(st.path + st.path_len + 1 - text) };
			return rc;
		}
	}
	part.start = (u32)im->all->len;
	part.len = (u32)len;
	buf_add(im->all, text, len);
	buf_addch(im->all, '\n');
	vec_push(&im->parts, part);
	return 0;
}

static int import_file(struct importer *im, const char *path)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int rc;

	if (ends_with(path, ".bpf.c"))
		return err_set(im->e, ENOTSUP, "'%s' would need a C compiler to be imported", path);
	if (im->seen.len > IMPORT_MAX_FILES)
		return err_set(im->e, E2BIG, "more than %d files are imported", IMPORT_MAX_FILES);
	rc = io_read_file(path, IMPORT_MAX_BYTES, &text, im->e);
	if (rc < 0 || !text.len)
		return rc;
	if (im->all->len + text.len > IMPORT_MAX_BYTES)
		return err_set(im->e, E2BIG, "what is imported is longer than %d MB",
			       IMPORT_MAX_BYTES >> 20);
	return add_text(im, arena_strdup(im->arena, path), dir_of(im, path), text.data, text.len);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_source(const struct dirent *d)
{
	return d->d_name[0] != '.' && (ends_with(d->d_name, ".bt") || ends_with(d->d_name, ".h"));
}

static int import_dir(struct importer *im, const char *path)
{
	struct dirent **list = NULL;
	int n = scandir(path, &list, is_source, by_name), rc = 0;

	if (n < 0)
		return err_sys(im->e, errno, "cannot read '%s'", path);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = import_path(im,
					 arena_printf(im->arena, "%s/%s", path, list[i]->d_name));
		free(list[i]);
	}
	free(list);
	return rc;
}

static int import_path(struct importer *im, const char *path)
{
	struct stat st;
	int rc;

	if (was_seen(im, path))
		return 0;
	if (im->depth == IMPORT_MAX_DEPTH)
		return err_set(im->e, ELOOP, "imports are nested more than %d deep",
			       IMPORT_MAX_DEPTH);
	if (stat(path, &st) < 0)
		return err_sys(im->e, errno, "cannot import '%s'", path);
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return err_set(im->e, EINVAL, "cannot import '%s': it is not a file", path);
	im->depth++;
	rc = S_ISDIR(st.st_mode) ? import_dir(im, path) : import_file(im, path);
	im->depth--;
	return rc;
}

int import_expand(const char *name, char *text, size_t len, const struct lang_opts *opts,
		  struct arena *arena, struct buf *all, struct source *ret, struct span_at *ret_at,
		  struct err *e)
{
	struct importer im = { .opts = opts, .arena = arena, .all = all, .e = e };
	struct statement st;
	size_t at = 0;
	int rc = 0;

	*ret = (struct source){ .name = name, .text = text, .len = len };
	if (!opts->n_includes && !next_statement(text, len, &at, &st))
		return 0;
	for (size_t i = 0; rc == 0 && i < opts->n_includes; i++) {
		char *file;

		rc = find_file(&im, opts->includes[i], NULL, &file);
		if (rc == 0)
			rc = import_path(&im, file);
	}
	im.at = SPAN_NOWHERE; /* not in an included file */
	if (rc == 0)
		rc = add_text(&im, name, opts->dir, text, len);
	if (rc == 0) {
		ret->text = all->data;
		ret->len = all->len;
		ret->n_parts = im.parts.len;
		ret->parts =
			arena_dup(arena, im.parts.items, im.parts.len * sizeof(*im.parts.items));
	}
	*ret_at = im.at;
	vec_release(&im.parts);
	vec_release(&im.seen);
	return rc;
}
