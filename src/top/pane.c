/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/pane.h"

#include "base/clock.h"
#include "base/fmt.h"
#include "base/jsonread.h"

enum { LINES_AT_ONCE = 20000, TABLES_MOST = 16, HISTS_MOST = 256, BUCKETS_MOST = 4096 };

/* --- memory ----------------------------------------------------------------------------------- */

static void free_row(struct pane_row *r)
{
	for (size_t i = 0; i < PANE_COLUMNS; i++)
		free(r->cells[i].text);
	free(r);
}

static void look_release(struct pane_look *l)
{
	vec_each(t, &l->tables) {
		vec_each(r, &t->rows)
			free_row(*r);
		vec_release(&t->rows);
		for (size_t i = 0; i < t->n_columns; i++)
			free(t->keys[i]);
		free(t->name);
	}
	vec_each(h, &l->hists) {
		vec_release(&h->buckets);
		free(h->label);
		free(h->unit);
	}
	vec_release(&l->tables);
	vec_release(&l->hists);
	free(l->note);
	*l = (struct pane_look){ 0 };
}

void pane_release(struct pane *p)
{
	feed_free(p->feed);
	look_release(&p->look);
	vec_each(m, &p->past)
		vec_release(&m->buckets);
	vec_release(&p->past);
	buf_release(&p->whole);
	free(p->command);
	*p = (struct pane){ 0 };
}

/* --- JSON ------------------------------------------------------------------------------------- */

static char *take_text(struct json_reader *r)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	enum json_piece piece = json_read(r);
	int depth = 0;

	/* of a list its strings: a stack becomes "inner < outer" */
	do {
		if (piece == READ_ARRAY || piece == READ_OBJECT)
			depth++;
		else if (piece == READ_ARRAY_END || piece == READ_OBJECT_END)
			depth--;
		else if (piece == READ_STRING && text.len < 4096)
			buf_addf(&text, "%s%s", text.len ? " < " : "", json_text(r));
		else if (piece == READ_NUMBER && depth == 0)
			buf_addf(&text,
				 r->number > -1e15 && r->number < 1e15 &&
						 r->number >= (double)(s64)r->number &&
						 r->number <= (double)(s64)r->number
					 ? "%.0f"
					 : "%.2f",
				 r->number);
		else if (piece == READ_TRUE)
			buf_addstr(&text, "yes");
		else if (piece == READ_ERROR || piece == READ_END)
			return NULL;
	} while (depth > 0 && (piece = json_read(r)));
	return buf_detach(&text);
}

static int column_of(struct pane_table *t, const char *key, size_t guess)
{
	if (guess < t->n_columns && streq(t->keys[guess], key))
		return (int)guess;
	for (size_t i = 0; i < t->n_columns; i++)
		if (streq(t->keys[i], key))
			return (int)i;
	if (t->n_columns == PANE_COLUMNS)
		return -1;
	t->keys[t->n_columns] = xstrdup(key);
	return (int)t->n_columns++;
}

static void take_cell(struct json_reader *r, struct pane_cell *c)
{
	double before = r->number;

	r->number = -1;
	free(c->text);
	c->text = take_text(r);
	c->is_number = r->last == READ_NUMBER;
	c->number = c->is_number ? r->number : before;
}

/* After READ_OBJECT. */
static void take_row(struct json_reader *r, struct pane_table *t)
{
	struct pane_row *row = xcalloc(1, sizeof(*row));
	enum json_piece piece;

	for (size_t n = 0; (piece = json_read(r)) == READ_KEY; n++) {
		int at = column_of(t, json_text(r), n);

		if (at < 0)
			json_read_skip(r);
		else
			take_cell(r, &row->cells[at]);
	}
	if (t->rows.len == PANE_ROWS) {
		free_row(t->rows.items[0]);
		t->rows.len--;
		memmove(t->rows.items, t->rows.items + 1, t->rows.len * sizeof(*t->rows.items));
	}
	vec_push(&t->rows, row);
}

static double take_number(struct json_reader *r)
{
	enum json_piece piece = json_read(r);

	if (piece == READ_OBJECT || piece == READ_ARRAY)
		json_read_skip(r);
	return piece == READ_NUMBER ? r->number : 0;
}

static u64 take_count(struct json_reader *r)
{
	double v = take_number(r);

	return v > 0 && v < 1e19 ? (u64)v : 0;
}

static void take_buckets(struct json_reader *r, struct pane_hist *h)
{
	if (json_read(r) != READ_ARRAY)
		return;
	while (json_read(r) == READ_OBJECT) {
		struct pane_bucket b = { 0 };

		while (json_read(r) == READ_KEY) {
			if (streq(json_text(r), "min"))
				b.low = take_number(r);
			else if (streq(json_text(r), "max"))
				b.high = take_number(r);
			else if (streq(json_text(r), "count"))
				b.count = take_count(r);
			else
				json_read_skip(r);
		}
		if (h->buckets.len < BUCKETS_MOST)
			vec_push(&h->buckets, b);
	}
}

static void free_hist(struct pane_hist *h)
{
	vec_release(&h->buckets);
	free(h->label);
	free(h->unit);
}

/* After the first key of an object, which is "label": a histogram, and no row. */
static void take_hist(struct json_reader *r, struct pane_look *l)
{
	struct pane_hist h = { .label = take_text(r) };
	enum json_piece piece;

	while ((piece = json_read(r)) == READ_KEY) {
		const char *key = json_text(r);

		if (streq(key, "unit") && !h.unit)
			h.unit = take_text(r);
		else if (streq(key, "count"))
			h.count = take_count(r);
		else if (streq(key, "p50"))
			h.p50 = take_number(r);
		else if (streq(key, "p99"))
			h.p99 = take_number(r);
		else if (streq(key, "p999"))
			h.p999 = take_number(r);
		else if (streq(key, "buckets") && !h.buckets.len)
			take_buckets(r, &h);
		else
			json_read_skip(r);
	}
	if (l->hists.len < HISTS_MOST)
		vec_push(&l->hists, h);
	else
		free_hist(&h);
}

/* Are the objects of this list histograms? Only they begin with a label. */
static bool is_hist(const struct json_reader *r)
{
	struct json_reader look = { .start = r->p, .p = r->p, .end = r->end };
	const char *p = look.p;

	while (p < look.end && (*p == ' ' || *p == '\n'))
		p++;
	return (size_t)(look.end - p) > 8 && !strncmp(p, "\"label\":", 8);
}

/* After the key of a list of objects. */
static void take_section(struct json_reader *r, struct pane_look *l, const char *name)
{
	struct pane_table *t = NULL;
	enum json_piece piece = json_read(r);

	if (piece == READ_OBJECT)
		json_read_skip(r);
	if (piece != READ_ARRAY)
		return;
	vec_each(old, &l->tables)
		if (streq(old->name, name))
			t = old;
	while ((piece = json_read(r)) == READ_OBJECT) {
		if (is_hist(r)) {
			json_read(r);
			take_hist(r, l);
			continue;
		}
		if (!t && l->tables.len < TABLES_MOST) {
			t = vec_new(&l->tables);
			t->name = xstrdup(name);
		}
		if (t)
			take_row(r, t);
		else
			json_read_skip(r);
	}
	if (!t && l->tables.len < TABLES_MOST)
		vec_new(&l->tables)->name = xstrdup(name);
}

static void take_facts(struct json_reader *r, struct pane_look *l)
{
	if (json_read(r) != READ_OBJECT)
		return;
	while (json_read(r) == READ_KEY) {
		if (streq(json_text(r), "time"))
			l->time = take_count(r);
		else if (streq(json_text(r), "seconds"))
			l->seconds = take_number(r);
		else
			json_read_skip(r);
	}
}

/* The columns of rows that come one by one: [{"key":...}, ...] */
static void take_columns(struct json_reader *r, struct pane_table *t)
{
	if (json_read(r) != READ_ARRAY)
		return;
	while (json_read(r) == READ_OBJECT) {
		while (json_read(r) == READ_KEY) {
			if (streq(json_text(r), "key") && json_read(r) == READ_STRING)
				(void)column_of(t, json_text(r), t->n_columns);
			else
				json_read_skip(r);
		}
	}
}

/* --- a result --------------------------------------------------------------------------------- */

static void keep_moment(struct pane *p)
{
	struct pane_moment *m;

	if (p->past.len == PANE_MOMENTS) {
		vec_release(&p->past.items[0].buckets);
		p->past.len--;
		memmove(p->past.items, p->past.items + 1, p->past.len * sizeof(*p->past.items));
	}
	m = vec_new(&p->past);
	m->time = p->look.time;
	vec_each(h, &p->look.hists)
		vec_each(b, &h->buckets)
			if (b->count)
				vec_push(&m->buckets, *b);
}

static bool take_result(struct pane *p, struct json_reader *r)
{
	struct pane_look l = { 0 };
	enum json_piece piece;

	/* after {"schema" */
	json_read_skip(r);
	while ((piece = json_read(r)) == READ_KEY) {
		_cleanup_free_ char *key = xstrdup(json_text(r));

		if (streq(key, "facts")) {
			take_facts(r, &l);
		} else if (streq(key, "columns")) {
			struct pane_table *t = vec_new(&l.tables);

			t->name = xstrdup("rows");
			take_columns(r, t);
			p->rows = true;
		} else if (streq(key, "notes") || streq(key, "losses") || streq(key, "command") ||
			   streq(key, "title")) {
			json_read_skip(r);
		} else {
			take_section(r, &l, key);
		}
	}
	if (piece != READ_OBJECT_END) {
		look_release(&l);
		return false;
	}
	look_release(&p->look);
	p->look = l;
	if (!p->rows)
		keep_moment(p);
	return true;
}

bool pane_decode(struct pane *p, const char *text, size_t len)
{
	struct json_reader r, first;
	bool ok = false;

	json_reader_init(&r, text, len);
	json_reader_init(&first, text, len);
	if (json_read(&first) == READ_OBJECT && json_read(&first) == READ_KEY) {
		if (streq(json_text(&first), "schema")) {
			ok = take_result(p, &first);
		} else if (p->rows && p->look.tables.len) {
			(void)json_read(&r);
			take_row(&r, &p->look.tables.items[0]);
			ok = true;
		}
	}
	p->any |= ok;
	json_reader_release(&first);
	json_reader_release(&r);
	return ok;
}

/* --- the child -------------------------------------------------------------------------------- */

void pane_run(struct pane *p, const char *command)
{
	const char *words[PANE_WORDS + 2] = { 0 };
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_free_ char *copy = NULL;
	char *save = NULL;
	size_t n = 0;

	if (!command || !*command) {
		pane_release(p);
		return;
	}
	if (p->command && streq(p->command, command))
		return;
	pane_release(p);
	p->command = xstrdup(command);
	p->began = clock_mono_ns();
	copy = xstrdup(command);
	for (char *w = strtok_r(copy, " ", &save); w && n < PANE_WORDS;
	     w = strtok_r(NULL, " ", &save)) {
		words[n++] = w;
		if (n == 1)
			words[n++] = "--json";
	}
	if (feed_start(&p->feed, words, &e) < 0)
		snprintf(p->why, sizeof(p->why), "%s", e.what);
}

static bool take_end(struct pane *p)
{
	int status;

	if (!feed_ended(p->feed, &status))
		return false;
	if (p->whole.len)
		(void)pane_decode(p, buf_str(&p->whole), p->whole.len);
	buf_release(&p->whole);
	if (status)
		snprintf(p->why, sizeof(p->why), "%s", feed_errors(p->feed));
	if (status && !*p->why)
		snprintf(p->why, sizeof(p->why), "it ended with status %d", status);
	feed_free(TAKE_PTR(p->feed));
	return true;
}

bool pane_take(struct pane *p)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	bool any = false;

	if (!p->feed)
		return false;
	for (int i = 0; i < LINES_AT_ONCE && feed_line(p->feed, &line); i++) {
		if (p->whole.len || streq(buf_str(&line), "{"))
			buf_addf(&p->whole, "%s\n", buf_str(&line));
		else
			any |= pane_decode(p, buf_str(&line), line.len);
	}
	(void)feed_errors(p->feed);
	p->cpu_ns = MAX(p->cpu_ns, any ? feed_cpu_ns(p->feed) : 0);
	return take_end(p) || any;
}

int pane_fd(const struct pane *p)
{
	return p->feed ? feed_fd(p->feed) : -1;
}

const struct pane_table *pane_table(const struct pane *p, const char *name)
{
	vec_each(t, &p->look.tables)
		if (!name || streq(t->name, name))
			return t;
	return NULL;
}

int pane_column(const struct pane_table *t, const char *key)
{
	for (size_t i = 0; t && i < t->n_columns; i++)
		if (streq(t->keys[i], key))
			return (int)i;
	return -1;
}
