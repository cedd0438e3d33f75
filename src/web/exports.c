/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/exports.h"

#include "base/jsonread.h"
#include "base/log.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

enum { LINE_MOST = 4 << 20, PIECE = 64 << 10, LABELS_MOST = 400 };

/* How values of a unit leave: as seconds or bytes, in buckets that are always the same. */
struct unit {
	const char *from, *to;
	double factor;
	u32 first, last; /* buckets that are written: below 2^k of @from */
	bool truncated;  /* 3 stands for all below 4, otherwise for 3 alone */
};

static const struct unit units[] = {
	{ "ns", "seconds", 1e-9, 10, 36, false },
	{ "usecs", "seconds", 1e-6, 0, 27, true },
	{ "us", "seconds", 1e-6, 0, 27, true },
	{ "msecs", "seconds", 1e-3, 0, 17, true },
	{ "bytes", "bytes", 1, 0, 40, false },
	{ "kbytes", "bytes", 1024, 0, 30, true },
	{ "", NULL, 1, 0, 40, false },
};

struct export_series {
	char *family;
	char *labels; /* comm="x",file="y" */
	const struct unit *unit;
	bool histogram, has_sum;
	double sum; /* of a counter: its value */
	u64 count;
	u64 buckets[EXPORT_BUCKETS];
};

/* Columns of tables that only grow when they are added up. */
static const char *const counted[] = {
	"count", "time",    "bytes", "total",  "hits",       "misses",      "access",
	"added", "dirties", "reads", "writes", "read_bytes", "write_bytes", "errors",
};

/* --- reading ---------------------------------------------------------------------------------- */

struct figure {
	char name[48];
	double value;
};

/* An object of an array: a histogram or a row. */
struct item {
	struct buf labels;
	VEC(struct figure) figures;
	char unit[16];
	bool histogram;
	u64 buckets[EXPORT_BUCKETS];
};

static void add_label(struct buf *out, const char *name, const char *value)
{
	if (out->len + strlen(value) > LABELS_MOST)
		return;
	if (out->len)
		buf_addch(out, ',');
	for (const char *p = name; *p; p++)
		buf_addch(out, (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9' && p > name)
				       ? *p
				       : '_');
	buf_addstr(out, "=\"");
	for (const char *p = value; *p; p++) {
		if (*p == '"' || *p == '\\')
			buf_addch(out, '\\');
		if (*p == '\n')
			buf_addstr(out, "\\n");
		else
			buf_addch(out, *p);
	}
	buf_addch(out, '"');
}

static u32 bucket_of(double most)
{
	if (most < 1)
		return 0;
	return most >= 0x1p63 ? EXPORT_BUCKETS - 1 : 64 - (u32)__builtin_clzll((u64)most);
}

static void read_buckets(struct json_reader *r, struct item *item)
{
	while (json_read(r) == READ_OBJECT) {
		double most = 0, count = 0;
		bool bounded = false;

		while (json_read(r) == READ_KEY) {
			bool is_most = streq(json_text(r), "max"),
			     is_count = streq(json_text(r), "count");
			enum json_piece piece = json_read(r);

			if (piece == READ_OBJECT || piece == READ_ARRAY)
				json_read_skip(r);
			if (piece != READ_NUMBER)
				continue;
			if (is_most) {
				most = r->number;
				bounded = true;
			}
			if (is_count)
				count = r->number;
		}
		item->buckets[bounded ? bucket_of(most) : EXPORT_BUCKETS - 1] += (u64)count;
	}
}

static void read_item(struct json_reader *r, struct item *item)
{
	char key[48];

	while (json_read(r) == READ_KEY) {
		enum json_piece piece;

		snprintf(key, sizeof(key), "%s", json_text(r));
		piece = json_read(r);
		if (piece == READ_ARRAY && streq(key, "buckets")) {
			item->histogram = true;
			read_buckets(r, item);
		} else if (piece == READ_ARRAY || piece == READ_OBJECT) {
			json_read_skip(r);
		} else if (piece == READ_STRING && streq(key, "unit")) {
			snprintf(item->unit, sizeof(item->unit), "%s", json_text(r));
		} else if (piece == READ_STRING) {
			add_label(&item->labels, key, json_text(r));
		} else if (piece == READ_NUMBER) {
			struct figure f = { .value = r->number };

			memcpy(f.name, key, sizeof(key));
			vec_push(&item->figures, f);
		}
	}
}

/* --- adding up -------------------------------------------------------------------------------- */

static const struct unit *find_unit(const char *name)
{
	for (size_t i = 0; i + 1 < ARRAY_SIZE(units); i++)
		if (streq(units[i].from, name))
			return &units[i];
	return &units[ARRAY_SIZE(units) - 1];
}

/* "fathom_tool_biolatency_latency_seconds" */
static void name_family(const struct export_tool *t, const char *key, const struct unit *unit,
			struct buf *out)
{
	buf_addf(out, "fathom_tool_%s", t->name);
	if (key[0] && !streq(key, "histogram") && !streq(key, "rows"))
		buf_addf(out, "_%s", key);
	if (unit->to)
		buf_addf(out, "_%s", unit->to);
	for (size_t i = 0; i < out->len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_", out->data[i]))
			out->data[i] = '_';
}

static struct export_series *find_series(struct export_tool *t, const char *key,
					 const struct unit *unit, const char *labels)
{
	_cleanup_buf_ struct buf family = BUF_INIT;
	struct export_series *s;

	name_family(t, key, unit, &family);
	vec_each(one, &t->series)
		if (streq((*one)->labels, labels) && streq((*one)->family, buf_str(&family)))
			return *one;
	if (t->series.len >= EXPORT_SERIES_MOST) {
		t->left_out++;
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	s->family = buf_detach(&family);
	s->labels = xstrdup(labels);
	s->unit = unit;
	vec_push(&t->series, s);
	return s;
}

static void add_histogram(struct export_tool *t, const char *key, struct item *item)
{
	struct export_series *s =
		find_series(t, key, find_unit(item->unit), buf_str(&item->labels));

	if (!s)
		return;
	s->histogram = true;
	for (u32 i = 0; i < EXPORT_BUCKETS; i++) {
		s->buckets[i] += item->buckets[i];
		s->count += item->buckets[i];
	}
	vec_each(f, &item->figures) {
		if (streq(f->name, "total") && f->value > 0) {
			s->sum += f->value;
			s->has_sum = true;
		}
	}
}

static void add_row(struct export_tool *t, struct item *item)
{
	vec_each(f, &item->figures) {
		for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
			struct export_series *s;

			if (!streq(counted[i], f->name) || f->value < 0)
				continue;
			s = find_series(t, f->name, find_unit(streq(f->name, "time") ? "ns" : ""),
					buf_str(&item->labels));
			if (s)
				s->sum += f->value;
		}
	}
}

static void take_array(struct export_tool *t, const char *key, struct json_reader *r)
{
	enum json_piece piece;

	while ((piece = json_read(r)) != READ_ARRAY_END && piece != READ_ERROR &&
	       piece != READ_END) {
		struct item item = { .labels = BUF_INIT };

		if (piece == READ_OBJECT) {
			read_item(r, &item);
			if (item.histogram)
				add_histogram(t, key, &item);
			else if (streq(key, "rows"))
				add_row(t, &item);
		} else if (piece == READ_ARRAY) {
			json_read_skip(r);
		}
		buf_release(&item.labels);
		vec_release(&item.figures);
	}
}

/* Tools that print a line for each event have no schema in it: the events are counted. */
static void count_event(struct export_tool *t)
{
	struct export_series *s = find_series(t, "events", find_unit(""), "");

	if (s)
		s->sum += 1;
}

void exports_take(struct export_tool *t, const char *text, size_t n)
{
	struct json_reader r;
	bool has_schema = false;
	char key[48];

	json_reader_init(&r, text, n);
	if (json_read(&r) == READ_OBJECT) {
		while (json_read(&r) == READ_KEY) {
			enum json_piece piece;

			snprintf(key, sizeof(key), "%s", json_text(&r));
			has_schema |= streq(key, "schema");
			piece = json_read(&r);
			if (piece == READ_ARRAY && has_schema && !streq(key, "columns"))
				take_array(t, key, &r);
			else if (piece == READ_ARRAY || piece == READ_OBJECT)
				json_read_skip(&r);
		}
		if (has_schema)
			t->documents++;
		else if (!r.fault)
			count_event(t);
	}
	json_reader_release(&r);
}

/* --- processes -------------------------------------------------------------------------------- */

static int start_tool(struct export_tool *t, u32 seconds, struct err *e)
{
	struct command_line line = { 0 };
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, errno, "cannot make a pipe");
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	command_line_add(&line, "%s", t->name);
	command_line_add(&line, "--json");
	command_line_add(&line, "%u", seconds);
	r = child_start_to(&t->child, &line, ends[1], e);
	command_line_release(&line);
	close(ends[1]);
	if (r < 0)
		close(ends[0]);
	else
		t->pipe = ends[0];
	return r;
}

static bool is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return n && !s[n] && s[0] != '-';
}

int exports_start(struct exports *x, const char *const *names, size_t n, struct err *e)
{
	int r = 0;

	if (n > EXPORTS_MOST)
		return err_set(e, E2BIG, "--export is for at most %d tools", EXPORTS_MOST);
	for (size_t i = 0; i < n && !r; i++) {
		struct export_tool t = { .name = names[i], .child = CHILD_INIT, .pipe = -1 };

		if (!is_name(names[i])) {
			err_set(e, EINVAL, "there is no tool '%s'", names[i]);
			err_hint(e, "'fathom tools' has their names");
			return -EINVAL;
		}
		r = start_tool(&t, x->seconds ? x->seconds : EXPORT_SECONDS, e);
		vec_push(&x->tools, t);
	}
	return r;
}

void exports_release(struct exports *x)
{
	vec_each(t, &x->tools) {
		child_release(&t->child);
		if (t->pipe >= 0)
			close(t->pipe);
		vec_each(s, &t->series) {
			free((*s)->family);
			free((*s)->labels);
			free(*s);
		}
		vec_release(&t->series);
		buf_release(&t->line);
	}
	vec_release(&x->tools);
}

size_t exports_fds(const struct exports *x, int *fds, size_t most)
{
	size_t n = 0;

	vec_each(t, &x->tools)
		if (t->pipe >= 0 && n < most)
			fds[n++] = t->pipe;
	return n;
}

static void end_tool(const struct exports *x, struct export_tool *t)
{
	_cleanup_free_ char *error = NULL;
	_cleanup_free_ char *hint = NULL;
	int status;

	close(t->pipe);
	t->pipe = -1;
	child_signal(&t->child, SIGTERM);
	status = child_reap(&t->child, &(u64){ 0 });
	child_words(&t->child, &error, &hint);
	if (!error)
		error = child_end_text(status);
	log_warn("%s %s has ended: %s", x->what ? x->what : "--export", t->name, error);
}

static void take_lines(struct export_tool *t)
{
	char *at = t->line.data, *end = t->line.data + t->line.len, *newline;

	while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
		exports_take(t, at, (size_t)(newline - at));
		at = newline + 1;
	}
	memmove(t->line.data, at, (size_t)(end - at));
	buf_truncate(&t->line, (size_t)(end - at));
	if (t->line.len > LINE_MOST)
		buf_reset(&t->line);
}

void exports_read(struct exports *x, int fd)
{
	vec_each(t, &x->tools) {
		ssize_t n;

		if (t->pipe != fd)
			continue;
		n = read(fd, buf_reserve(&t->line, PIECE), PIECE);
		if (n > 0) {
			buf_added(&t->line, (size_t)n);
			take_lines(t);
		} else if (!n || errno != EAGAIN) {
			end_tool(x, t);
		}
		return;
	}
}

void exports_sum(const struct exports *x, u64 ret[EXPORT_BUCKETS])
{
	vec_each(t, &x->tools)
		vec_each(s, &t->series)
			for (u32 i = 0; (*s)->histogram && i < EXPORT_BUCKETS; i++)
				ret[i] += (*s)->buckets[i];
}

/* --- writing ---------------------------------------------------------------------------------- */

static void add_sample(const struct export_series *s, const char *end, const char *le, double value,
		       struct buf *out)
{
	buf_addf(out, "%s%s", s->family, end);
	if (s->labels[0] || le)
		buf_addf(out, "{%s%s", s->labels, s->labels[0] && le ? "," : "");
	if (le)
		buf_addf(out, "le=\"%s\"", le);
	if (s->labels[0] || le)
		buf_addch(out, '}');
	buf_addf(out, " %.12g\n", value);
}

static void write_histogram(const struct export_series *s, struct buf *out)
{
	char le[32];
	u64 below = 0;

	for (u32 i = 0; i <= s->unit->last; i++) {
		below += s->buckets[i];
		if (i < s->unit->first)
			continue;
		snprintf(le, sizeof(le), "%.12g",
			 (double)((1ull << i) - !s->unit->truncated) * s->unit->factor);
		add_sample(s, "_bucket", streq(le, "0") ? "0.0" : le, (double)below, out);
	}
	add_sample(s, "_bucket", "+Inf", (double)s->count, out);
	if (s->has_sum) {
		add_sample(s, "_sum", NULL, s->sum * s->unit->factor, out);
		add_sample(s, "_count", NULL, (double)s->count, out);
	}
}

/* A family stands together, whatever order its series came in. */
static void write_family(const struct export_tool *t, size_t first, struct buf *out)
{
	const struct export_series *s = t->series.items[first];

	buf_addf(out, "# TYPE %s %s\n", s->family, s->histogram ? "histogram" : "counter");
	if (s->unit->to)
		buf_addf(out, "# UNIT %s %s\n", s->family, s->unit->to);
	buf_addf(out, "# HELP %s Sums of the tool %s since fathom serve began.\n", s->family,
		 t->name);
	for (size_t i = first; i < t->series.len; i++) {
		const struct export_series *one = t->series.items[i];

		if (!streq(one->family, s->family))
			continue;
		if (one->histogram)
			write_histogram(one, out);
		else
			add_sample(one, "_total", NULL, one->sum * one->unit->factor, out);
	}
}

static bool is_first(const struct export_tool *t, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (streq(t->series.items[k]->family, t->series.items[i]->family))
			return false;
	return true;
}

void exports_write(const struct exports *x, struct buf *out)
{
	if (!x->tools.len)
		return;
	vec_each(t, &x->tools)
		for (size_t i = 0; i < t->series.len; i++)
			if (is_first(t, i))
				write_family(t, i, out);
	buf_addstr(out, "# TYPE fathom_export_up gauge\n"
			"# HELP fathom_export_up Whether the tool of --export runs.\n");
	vec_each(t, &x->tools)
		buf_addf(out, "fathom_export_up{tool=\"%s\"} %d\n", t->name, t->pipe >= 0);
	buf_addstr(out, "# TYPE fathom_export_left_out counter\n"
			"# HELP fathom_export_left_out Figures of series beyond the 512 that each "
			"tool may have.\n");
	vec_each(t, &x->tools)
		buf_addf(out, "fathom_export_left_out_total{tool=\"%s\"} %llu\n", t->name,
			 (unsigned long long)t->left_out);
}
