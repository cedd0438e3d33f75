/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters/reader.h"

#include "base/parse.h"

#include <dirent.h>
#include <fcntl.h>

void reader_init(struct reader *r, int root, struct counter_set *set)
{
	size_t n;

	*r = (struct reader){ .root = root, .set = set };
	(void)counter_sources(&n);
	for (size_t i = 0; i < n; i++)
		(void)vec_new(&r->memos);
}

void reader_release(struct reader *r)
{
	vec_each(f, &r->files)
		if (f->fd >= 0)
			close(f->fd);
	vec_each(m, &r->memos)
		vec_release(m);
	vec_release(&r->memos);
	vec_release(&r->files);
	map_release(&r->by_path);
	map_release(&r->by_field);
	intern_release(&r->paths);
	intern_release(&r->keys);
	buf_release(&r->text);
}

void reader_begin(struct reader *r, u32 source, struct snapshot *into)
{
	size_t n;

	r->source = counter_sources(&n)[source];
	r->source_index = source;
	r->into = into;
	r->memo = &r->memos.items[source];
	r->cursor = 0;
}

/* --- files ------------------------------------------------------------------------------------ */

static int open_below(const struct reader *r, const char *path)
{
	int fd = openat(r->root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

/* Files of the kernel come in pieces, and are made again when read from their start. */
static int read_whole(struct reader *r, int fd)
{
	ssize_t n;

	buf_reset(&r->text);
	for (;;) {
		char *to = buf_reserve(&r->text, 32 << 10);

		n = pread(fd, to, 32 << 10, (off_t)r->text.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		buf_added(&r->text, (size_t)n);
		if (r->text.len > READER_FILE_MOST) {
			r->truncated++;
			break;
		}
	}
	return n < 0 ? -errno : 0;
}

static struct reader_file *file_of(struct reader *r, const char *path)
{
	u32 id = intern_str(&r->paths, path);
	u64 *at = map_at(&r->by_path, id);

	if (!*at) {
		vec_push(&r->files, ((struct reader_file){ id, -1 }));
		*at = r->files.len;
	}
	return &r->files.items[*at - 1];
}

int reader_text(struct reader *r, const char *path, const char **ret, size_t *ret_len)
{
	struct reader_file *f = file_of(r, path);
	int fd = f->fd, rc;

	if (fd >= 0) {
		rc = read_whole(r, fd);
		if (!rc)
			goto out;
		/* the device may be another one by now */
		close(fd);
		f->fd = -1;
	}
	fd = open_below(r, path);
	if (fd < 0)
		return fd;
	rc = read_whole(r, fd);
	if (rc < 0 || r->files.len > READER_FILES_KEPT)
		close(fd);
	else
		f->fd = fd;
	if (rc < 0)
		return rc;
out:
	*ret = buf_str(&r->text);
	*ret_len = r->text.len;
	return 0;
}

static int by_version(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

int reader_names(struct reader *r, const char *path, struct buf *ret)
{
	int fd = openat(r->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	VEC(char *) names = { 0 };
	const struct dirent *d;

	buf_reset(ret);
	if (!dir) {
		int rc = -errno;

		if (fd >= 0)
			close(fd);
		return rc;
	}
	while (names.len < READER_DIR_MOST && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			vec_push(&names, xstrdup(d->d_name));
	closedir(dir);
	vec_sort(&names, by_version);
	vec_each(name, &names) {
		buf_add(ret, *name, strlen(*name) + 1);
		free(*name);
	}
	buf_add(ret, "", 1);
	vec_release(&names);
	return 0;
}

bool reader_number(struct reader *r, const char *path, u64 *ret)
{
	const char *text;
	size_t len;

	return reader_text(r, path, &text, &len) == 0 &&
	       span_number((struct span){ text, len }, ret);
}

/* --- values ----------------------------------------------------------------------------------- */

static bool same(const char *text, struct span s)
{
	return strlen(text) == s.n && memcmp(text, s.s, s.n) == 0;
}

/* The series that stood here in the last sweep, if it is still this one. */
static u32 remembered(const struct reader *r, const struct counter *row, struct span field,
		      struct span instance)
{
	u32 id;

	if (r->cursor >= r->memo->len)
		return SET_NONE;
	id = r->memo->items[r->cursor];
	if (id == SET_NONE || !same(series_instance(r->set, id), instance))
		return SET_NONE;
	if (row ? series_row(r->set, id) != row : !same(series_row(r->set, id)->field, field))
		return SET_NONE;
	return id;
}

static void store(struct reader *r, u32 counter, struct span instance, u64 value)
{
	u32 name = instance.n ? intern_bytes(&r->set->instances, instance.s,
					     MIN(instance.n, (size_t)SET_NAME_MOST))
			      : 0;
	u32 id = counter == SET_NONE ? SET_NONE : counter_set_series(r->set, counter, name);

	while (r->memo->len <= r->cursor)
		vec_push(r->memo, SET_NONE);
	r->memo->items[r->cursor++] = id;
	if (id != SET_NONE)
		snapshot_put(r->into, id, value);
}

/* A field that no row knows: the kernel is newer than the table. */
static u32 new_counter(struct reader *r, const char *prefix, struct span field)
{
	struct counter like = {
		.kind = r->source->flags & SOURCE_GAUGES ? GAUGE : CUMULATIVE,
		.unit = UNIT_COUNT,
	};
	_cleanup_buf_ struct buf name = BUF_INIT, key = BUF_INIT;

	field.n = MIN(field.n, (size_t)SET_NAME_MOST);
	buf_add(&key, field.s, field.n);
	like.field = buf_str(&key);
	if (r->source->kind_of)
		like.kind = r->source->kind_of(like.field);
	buf_addf(&name, "%s.", prefix);
	for (size_t i = 0; i < field.n; i++) {
		char c = field.s[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '_' || c == '.';

		buf_addch(&name, plain ? c : '_');
	}
	return counter_set_add(r->set, buf_str(&name), &like, r->source_index);
}

static u32 find_field(struct reader *r, const char *prefix, struct span field)
{
	size_t n = strlen(prefix);

	for (size_t i = 0; i < r->source->n_rows; i++) {
		const struct counter *row = &r->source->rows[i];

		if (row->kind != RATIO && row->field && same(row->field, field) &&
		    strncmp(row->name, prefix, n) == 0 && row->name[n] == '.')
			return counter_set_find(r->set, row->name);
	}
	return new_counter(r, prefix, field);
}

void reader_put_in(struct reader *r, const char *prefix, struct span field, struct span instance,
		   u64 value)
{
	u32 id = remembered(r, NULL, field, instance), key;
	_cleanup_buf_ struct buf name = BUF_INIT;
	u64 *counter;

	if (id != SET_NONE && starts_with(series_row(r->set, id)->name, prefix)) {
		r->cursor++;
		snapshot_put(r->into, id, value);
		return;
	}
	buf_addf(&name, "%u %s %.*s", r->source_index, prefix,
		 (int)MIN(field.n, (size_t)SET_NAME_MOST), field.s);
	key = intern_bytes(&r->keys, name.data, name.len);
	counter = map_at(&r->by_field, key);
	if (!*counter)
		*counter = (u64)find_field(r, prefix, field) + 1;
	store(r, (u32)(*counter - 1), instance, value);
}

void reader_put(struct reader *r, struct span field, struct span instance, u64 value)
{
	reader_put_in(r, r->source->prefix, field, instance, value);
}

void reader_put_row(struct reader *r, size_t row, struct span instance, u64 value)
{
	const struct counter *c = &r->source->rows[row];
	u32 id = remembered(r, c, SPAN_NONE, instance);

	if (id == SET_NONE) {
		store(r, counter_set_find(r->set, c->name), instance, value);
		return;
	}
	r->cursor++;
	snapshot_put(r->into, id, value);
}

/* --- forms ------------------------------------------------------------------------------------ */

bool text_line(const char **text, const char *end, struct span *ret)
{
	const char *newline;

	if (*text >= end)
		return false;
	newline = memchr(*text, '\n', (size_t)(end - *text));
	ret->s = *text;
	ret->n = (size_t)((newline ? newline : end) - *text);
	*text = newline ? newline + 1 : end;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool line_word(struct span *line, struct span *ret)
{
	while (line->n && is_blank(*line->s)) {
		line->s++;
		line->n--;
	}
	ret->s = line->s;
	while (line->n && !is_blank(*line->s)) {
		line->s++;
		line->n--;
	}
	ret->n = (size_t)(line->s - ret->s);
	return ret->n > 0;
}

bool span_is(struct span s, const char *text)
{
	return same(text, s);
}

bool span_number(struct span s, u64 *ret)
{
	const char *at = s.s, *end = s.s + s.n;

	while (end > at && (end[-1] == '\n' || is_blank(end[-1])))
		end--;
	return scan_u64(&at, end, 10, ret) && at == end;
}

bool line_number(struct span *line, u64 *ret)
{
	struct span word, rest = *line;

	if (!line_word(&rest, &word) || !span_number(word, ret))
		return false;
	*line = rest;
	return true;
}

bool line_fixed(struct span *line, unsigned int digits, u64 *ret)
{
	struct span word, rest = *line;
	const char *at, *end;
	u64 v, most = UINT64_MAX;

	if (!line_word(&rest, &word))
		return false;
	for (unsigned int i = 0; i < digits; i++)
		most /= 10;
	at = word.s;
	end = word.s + word.n;
	if (!scan_u64(&at, end, 10, &v) || (digits && v >= most))
		return false;
	if (at < end && *at == '.')
		at++;
	for (; digits; digits--) {
		v *= 10;
		if (at < end && *at >= '0' && *at <= '9')
			v += (u64)(*at++ - '0');
	}
	*line = rest;
	*ret = v;
	return true;
}

void parse_keyed(struct reader *r, const char *text, size_t len)
{
	const char *end = text + len;
	struct span line, key;
	u64 value;

	while (text_line(&text, end, &line)) {
		if (!line_word(&line, &key) || !line_number(&line, &value))
			continue;
		if (key.s[key.n - 1] == ':')
			key.n--;
		reader_put(r, key, SPAN_NONE, value);
	}
}

void put_columns(struct reader *r, struct span line, struct span instance, size_t first, size_t n)
{
	char name[32];
	u64 value;

	for (size_t i = 0; line_number(&line, &value); i++) {
		if (i < n) {
			reader_put_row(r, first + i, instance, value);
			continue;
		}
		/* a column that the kernel has added */
		if (i > n + 32)
			return;
		snprintf(name, sizeof(name), "column%zu", i + 1);
		reader_put(r, SPAN(name), instance, value);
	}
}
