/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/front/header.h"

#include "base/parse.h"
#include "lang/front/diag.h"

enum { HEADER_MAX = 32 << 10, ENTRIES_MAX = 256, NAME_MAX_LEN = 40 };

const struct tool_group tool_groups[] = {
	{ "block", "Disks" },
	{ "files", "Files" },
	{ "cpu", "CPUs and scheduler" },
	{ "processes", "Processes" },
	{ "memory", "Memory" },
	{ "locks", "Locks" },
	{ "network", "Network" },
	{ "runtimes", "Languages" },
	{ "virtual", "Virtual machines" },
	{ "own", "Your own tools" },
	{ NULL, NULL },
};

static const struct kind_row {
	const char *name;
	enum column_kind kind;
	enum value_type type;
	const char *unit;
	u32 width;
} kinds[] = {
	{ "string", KIND_STRING, VALUE_TEXT, NULL, 16 },
	{ "comm", KIND_COMM, VALUE_TEXT, NULL, 16 },
	{ "path", KIND_PATH, VALUE_TEXT, NULL, 24 },
	{ "ip", KIND_IP, VALUE_TEXT, NULL, 15 },
	{ "user", KIND_USER, VALUE_TEXT, NULL, 8 },
	{ "errno", KIND_ERRNO, VALUE_TEXT, NULL, 8 },
	{ "signal", KIND_SIGNAL, VALUE_TEXT, NULL, 8 },
	{ "syscall", KIND_SYSCALL, VALUE_TEXT, NULL, 18 },
	{ "stack", KIND_STACK, VALUE_TEXT, NULL, 24 },
	{ "pid", KIND_PID, VALUE_PID, NULL, 7 },
	{ "port", KIND_PORT, VALUE_PID, NULL, 5 },
	{ "count", KIND_COUNT, VALUE_COUNT, NULL, 9 },
	{ "int", KIND_INT, VALUE_INT, NULL, 6 },
	{ "bytes", KIND_BYTES, VALUE_BYTES, "bytes", 7 },
	{ "duration", KIND_DURATION, VALUE_DURATION, "ns", 7 },
	{ "rate", KIND_RATE, VALUE_NUMBER, "1/s", 9 },
	{ "byterate", KIND_BYTERATE, VALUE_BYTES, "bytes/s", 9 },
	{ "percent", KIND_PERCENT, VALUE_PERCENT, "percent", 7 },
	{ "number", KIND_NUMBER, VALUE_NUMBER, NULL, 9 },
	{ "address", KIND_ADDRESS, VALUE_ADDRESS, NULL, 18 },
	{ "timestamp", KIND_TIMESTAMP, VALUE_TIME, "ns since 1970", 15 },
	{ "elapsed", KIND_ELAPSED, VALUE_DURATION, "ns", 8 },
	{ "hist", KIND_HIST, VALUE_COUNT, NULL, 0 },
	{ "latency", KIND_LATENCY, VALUE_DURATION, "ns", 0 },
	{ "sizes", KIND_SIZES, VALUE_BYTES, "bytes", 0 },
};

static const struct kind_row *kind_row(enum column_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].kind == kind)
			return &kinds[i];
	return &kinds[0];
}

enum value_type column_value_type(enum column_kind kind)
{
	return kind_row(kind)->type;
}

const char *column_kind_name(enum column_kind kind)
{
	return kind_row(kind)->name;
}

const char *column_unit(enum column_kind kind)
{
	return kind_row(kind)->unit;
}

u32 column_width(const struct tool_column *c)
{
	return c->width ? c->width : kind_row(c->kind)->width;
}

bool column_is_hist(enum column_kind kind)
{
	return kind == KIND_HIST || kind == KIND_LATENCY || kind == KIND_SIZES;
}

bool column_is_computed(const struct tool_column *c)
{
	return c->expr || c->percentile > 0;
}

size_t header_column(const struct tool_header *h, const char *name, size_t len)
{
	for (size_t i = 0; i < h->columns.len; i++)
		if (strlen(h->columns.items[i].name) == len &&
		    memcmp(h->columns.items[i].name, name, len) == 0)
			return i;
	return SIZE_MAX;
}

/* --- words of an entry ------------------------------------------------------------------------ */

/* The text of one entry, and the place in the file that faults are reported at. */
struct reader {
	struct tool_header *h;
	struct diags diags;
	const char *text; /* of the file */
	const char *at;   /* the rest of the entry */
	const char *end;
	struct span_at entry;
};

static void fault(struct reader *r, const char *start, size_t n, const char *what)
{
	u32 at = (u32)(start - r->text);

	diag_error(&r->diags, (struct span_at){ at, at + (u32)MAX(n, (size_t)1) }, "%s", what);
}

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n'))
		r->at++;
}

/* The next word, up to a blank; empty at the end and before '|'. */
static size_t next_word(struct reader *r, const char **ret)
{
	skip_blanks(r);
	*ret = r->at;
	if (r->at < r->end && *r->at == '|')
		return 0;
	while (r->at < r->end && !strchr(" \t\n", *r->at))
		r->at++;
	return (size_t)(r->at - *ret);
}

static bool is_word(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(s, word, n) == 0;
}

/* Blanks and line ends become one blank each. */
static const char *squeeze(struct reader *r, const char *s, const char *end)
{
	char *copy = arena_alloc(&r->h->arena, (size_t)(end - s) + 1), *to = copy;

	for (; s < end; s++) {
		bool blank = *s == ' ' || *s == '\t' || *s == '\n';

		if (!blank)
			*to++ = *s;
		else if (to > copy && to[-1] != ' ')
			*to++ = ' ';
	}
	if (to > copy && to[-1] == ' ')
		to--;
	*to = 0;
	return copy;
}

static const char *take_rest(struct reader *r)
{
	const char *start = r->at;

	r->at = r->end;
	return squeeze(r, start, r->end);
}

/* What follows '|'. */
static const char *take_text(struct reader *r)
{
	const char *text;

	skip_blanks(r);
	if (r->at == r->end || *r->at != '|') {
		fault(r, r->at < r->end ? r->at : r->end - 1, 1, "expected '|' and a text here");
		return "";
	}
	r->at++;
	text = take_rest(r);
	if (!*text)
		fault(r, r->end - 1, 1, "the text after '|' is missing");
	return text;
}

static char *copy_word(struct reader *r, const char *s, size_t n)
{
	return arena_strndup(&r->h->arena, s, n);
}

static bool good_name(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-_", s[i]))
			return false;
	return n && n <= NAME_MAX_LEN && s[0] >= 'a' && s[0] <= 'z';
}

/* --- columns ---------------------------------------------------------------------------------- */

static const char *upper(struct reader *r, const char *name)
{
	char *copy = arena_strdup(&r->h->arena, name);

	for (char *c = copy; *c; c++)
		*c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
	return copy;
}

static bool column_word(struct reader *r, struct tool_column *c, const char *w, size_t n)
{
	u64 width;

	if (is_word(w, n, "spare")) {
		c->spare = true;
	} else if (is_word(w, n, "hidden")) {
		c->hidden = true;
	} else if (is_word(w, n, "last")) {
		c->last = true;
	} else if (is_word(w, n, "percentile")) {
		n = next_word(r, &w);
		return parse_double(copy_word(r, w, n), &c->percentile, NULL) == 0 &&
		       c->percentile > 0 && c->percentile <= 100;
	} else if (is_word(w, n, "if") || is_word(w, n, "as")) {
		const char *value;
		size_t len = next_word(r, &value);

		if (!len)
			return false;
		if (w[0] == 'i')
			c->only = copy_word(r, value, len);
		else
			c->title = copy_word(r, value, len);
	} else if (is_word(w, n, "=")) {
		c->expr = take_rest(r);
		return *c->expr;
	} else if (parse_u64_range(copy_word(r, w, n), 1, 200, &width, NULL) == 0) {
		c->width = (u32)width;
	} else {
		return false;
	}
	return true;
}

static enum column_kind find_kind(const char *w, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (is_word(w, n, kinds[i].name))
			return kinds[i].kind;
	return KIND_NONE;
}

static void entry_column(struct reader *r)
{
	struct tool_column c = { 0 };
	const char *w;
	size_t n = next_word(r, &w);

	if (!good_name(w, n) || memchr(w, '-', n)) {
		fault(r, w, n, "a column needs a name of lower-case letters, digits and '_'");
		return;
	}
	if (header_column(r->h, w, n) != SIZE_MAX) {
		fault(r, w, n, "there is a column of this name already");
		return;
	}
	c.name = copy_word(r, w, n);
	n = next_word(r, &w);
	c.kind = find_kind(w, n);
	if (!c.kind) {
		fault(r, w, n, "unknown type of a column; docs/tools.md lists the types");
		return;
	}
	while ((n = next_word(r, &w)) > 0) {
		if (!column_word(r, &c, w, n)) {
			fault(r, w, n,
			      "expected a width, 'spare', 'hidden', 'last', 'percentile N', "
			      "'if OPTION', 'as TITLE' or '= EXPRESSION'");
			return;
		}
	}
	if (!c.title)
		c.title = upper(r, c.name);
	vec_push(&r->h->columns, c);
}

/* --- options ---------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum option_kind kind;
} option_kinds[] = {
	{ "flag", OPTION_FLAG },         { "int", OPTION_INT },   { "string", OPTION_STRING },
	{ "duration", OPTION_DURATION }, { "size", OPTION_SIZE }, { "choice", OPTION_CHOICE },
};

/* "int=20", "choice(a|b)=a", "flag" */
static bool option_type(struct reader *r, struct tool_option *o, const char *w, size_t n)
{
	size_t name = strcspn(w, "(= \t\n");
	const char *eq, *close;
	bool found = false;

	name = MIN(name, n);
	for (size_t i = 0; i < ARRAY_SIZE(option_kinds); i++) {
		if (is_word(w, name, option_kinds[i].name)) {
			o->kind = option_kinds[i].kind;
			found = true;
		}
	}
	if (!found)
		return false;
	if (o->kind == OPTION_CHOICE) {
		close = memchr(w, ')', n);
		if (name >= n || w[name] != '(' || !close)
			return false;
		o->choices = copy_word(r, w + name + 1, (size_t)(close - w) - name - 1);
	}
	eq = memchr(w, '=', n);
	if (eq)
		o->def = copy_word(r, eq + 1, n - (size_t)(eq + 1 - w));
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Names may be joined by ',': the others are aliases. */
static bool option_name(struct reader *r, struct tool_option *o, const char *w, size_t n)
{
	size_t first = strcspn(w, ", \t\n");

	first = MIN(first, n);
	if (!good_name(w, first))
		return false;
	o->name = copy_word(r, w, first);
	if (first < n) {
		char *alias = copy_word(r, w + first + 1, n - first - 1);

		for (char *c = alias; *c; c++)
			*c = *c == ',' ? ' ' : *c;
		o->alias = alias;
	}
	return true;
}

static void entry_option(struct reader *r)
{
	struct tool_option o = { 0 };
	const char *w;
	size_t n = next_word(r, &w);

	if (n == 2 && w[0] == '-' && is_letter(w[1])) {
		o.letter = w[1];
		n = next_word(r, &w);
	}
	if (n < 3 || w[0] != '-' || w[1] != '-' || !option_name(r, &o, w + 2, n - 2)) {
		fault(r, w, n, "an option needs a long name: --NAME");
		return;
	}
	vec_each(it, &r->h->options) {
		if (streq(it->name, o.name) || (o.letter && it->letter == o.letter)) {
			fault(r, w, n, "there is an option of this name or letter already");
			return;
		}
	}
	n = next_word(r, &w);
	if (!option_type(r, &o, w, n)) {
		fault(r, w, n,
		      "expected flag, int, string, duration, size or choice(a|b), with "
		      "=DEFAULT");
		return;
	}
	n = next_word(r, &w);
	if (n)
		o.arg = copy_word(r, w, n);
	o.help = take_text(r);
	vec_push(&r->h->options, o);
}

/* --- the other entries ------------------------------------------------------------------------ */

static void set_once(struct reader *r, const char **field)
{
	if (*field)
		fault(r, r->text + r->entry.start, 1, "this was given already");
	else
		*field = take_rest(r);
}

static void entry_summary(struct reader *r)
{
	set_once(r, &r->h->summary);
}

static void entry_group(struct reader *r)
{
	const char *start = r->at;

	set_once(r, &r->h->group);
	for (const struct tool_group *g = tool_groups; g->name; g++)
		if (r->h->group && streq(g->name, r->h->group))
			return;
	fault(r, start, (size_t)(r->end - start), "unknown group; docs/tools.md lists the groups");
}

/* Several entries are several paragraphs. */
static void add_paragraph(struct reader *r, const char **field)
{
	const char *text = take_rest(r);

	*field = *field ? arena_printf(&r->h->arena, "%s\n\n%s", *field, text) : text;
}

static void entry_about(struct reader *r)
{
	add_paragraph(r, &r->h->about);
}

static void entry_note(struct reader *r)
{
	add_paragraph(r, &r->h->notes);
}

static void entry_differs(struct reader *r)
{
	add_paragraph(r, &r->h->differs);
}

static void entry_sort(struct reader *r)
{
	set_once(r, &r->h->sort);
}

static void entry_min(struct reader *r)
{
	u64 ns;

	set_once(r, &r->h->min);
	if (r->h->min && parse_duration(r->h->min, &ns, NULL) < 0)
		fault(r, r->text + r->entry.start, 3, "the minimum is not a time, like 10ms");
}

static void entry_operand(struct reader *r)
{
	set_once(r, &r->h->operand);
}

static void entry_interval(struct reader *r)
{
	const char *text = take_rest(r);

	if (parse_duration(text, &r->h->interval, NULL) < 0 || !r->h->interval)
		fault(r, r->text + r->entry.start, 8, "the interval is not a time, like 1s");
}

static void entry_needs(struct reader *r)
{
	const char *text = take_rest(r);

	if (!streq(text, "process") && !streq(text, "process?"))
		fault(r, r->text + r->entry.start, 5, "expected 'process' or 'process?'");
	r->h->user_process = streq(text, "process");
	r->h->may_process = !r->h->user_process;
}

static void entry_keep(struct reader *r)
{
	r->at = r->end;
	r->h->keep = true;
}

static void entry_show(struct reader *r)
{
	const char *w;
	size_t n;

	while ((n = next_word(r, &w)) > 0) {
		if (w[0] != '@')
			fault(r, w, n, "expected a map, like @bytes");
		vec_push(&r->h->shows, copy_word(r, w, n));
	}
}

static void entry_example(struct reader *r)
{
	const char *bar = memchr(r->at, '|', (size_t)(r->end - r->at));
	struct tool_example x;

	/* a line may have a pipe: the text follows the last one */
	for (const char *p = bar; p; p = memchr(p + 1, '|', (size_t)(r->end - p - 1)))
		bar = p;
	x.line = squeeze(r, r->at, bar ? bar : r->end);
	r->at = bar ? bar : r->end;
	x.text = take_text(r);
	vec_push(&r->h->examples, x);
}

static void entry_alias(struct reader *r)
{
	const char *w;
	size_t n = next_word(r, &w);

	if (!n) {
		fault(r, r->end - 1, 1, "expected a name");
		return;
	}
	vec_push(&r->h->aliases,
		 (struct tool_alias){ .name = copy_word(r, w, n), .words = take_rest(r) });
}

static const struct {
	const char *key;
	void (*read)(struct reader *r);
} entries[] = {
	{ "summary", entry_summary }, { "group", entry_group },     { "about", entry_about },
	{ "note", entry_note },       { "differs", entry_differs }, { "sort", entry_sort },
	{ "min", entry_min },         { "operand", entry_operand }, { "interval", entry_interval },
	{ "needs", entry_needs },     { "show", entry_show },       { "example", entry_example },
	{ "alias", entry_alias },     { "column", entry_column },   { "option", entry_option },
	{ "keep", entry_keep },
};

/* --- the block -------------------------------------------------------------------------------- */

/* Where the entries are, between the word "tool" and the end of the comment. */
static bool find_block(const char *text, size_t len, const char **ret_start, const char **ret_end)
{
	static const char begin[] = "/* tool\n";
	const char *at = text, *end = text + len, *close;

	if (len > 2 && at[0] == '#' && at[1] == '!') {
		at = memchr(at, '\n', len);
		if (!at)
			return false;
	}
	while (at < end && (*at == '\n' || *at == ' ' || *at == '\t' || *at == '/')) {
		if (*at != '/') {
			at++;
			continue;
		}
		if (end - at < 2 || at[1] != '/')
			break;
		at = memchr(at, '\n', (size_t)(end - at));
		if (!at)
			return false;
	}
	if ((size_t)(end - at) < sizeof(begin) || memcmp(at, begin, sizeof(begin) - 1) != 0)
		return false;
	at += sizeof(begin) - 1;
	close = memmem(at, (size_t)(end - at), "*/", 2);
	*ret_start = at;
	*ret_end = close;
	return true;
}

bool header_present(const char *text, size_t len)
{
	const char *start, *end;

	return find_block(text, len, &start, &end);
}

static void read_entry(struct reader *r, const char *line, const char *end)
{
	const char *colon = memchr(line, ':', (size_t)(end - line));
	size_t n = colon ? (size_t)(colon - line) : 0;

	r->entry = (struct span_at){ (u32)(line - r->text), (u32)(end - r->text) };
	for (size_t i = 0; colon && i < ARRAY_SIZE(entries); i++) {
		if (!is_word(line, n, entries[i].key))
			continue;
		r->at = colon + 1;
		r->end = end;
		skip_blanks(r);
		if (r->at == r->end && !streq(entries[i].key, "keep")) {
			fault(r, line, n, "nothing follows this key");
			return;
		}
		entries[i].read(r);
		return;
	}
	fault(r, line, colon ? n : (size_t)(end - line),
	      colon ? "unknown key; docs/tools.md lists the keys" : "expected 'KEY: VALUE'");
}

static bool is_continued(const char *line, const char *end)
{
	return line < end && (*line == ' ' || *line == '\t');
}

static void read_block(struct reader *r, const char *line, const char *end)
{
	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		const char *stop;

		next = next ? next + 1 : end;
		while (is_continued(next, end)) {
			next = memchr(next, '\n', (size_t)(end - next));
			next = next ? next + 1 : end;
		}
		stop = next;
		while (stop > line && strchr(" \t\n", stop[-1]))
			stop--;
		if (stop > line)
			read_entry(r, line, stop);
		line = next;
	}
}

static bool has_option(const struct tool_header *h, const char *name)
{
	vec_each(it, &h->options)
		if (streq(it->name, name))
			return true;
	return false;
}

/* Checks of the whole header. */
static void check_whole(struct reader *r, const char *start)
{
	struct tool_header *h = r->h;

	if (!h->summary)
		fault(r, start, 1, "the header has no 'summary:'");
	if (!h->group)
		h->group = "own";
	if (!h->columns.len)
		fault(r, start, 1, "the header has no 'column:'");
	const char *sort = h->sort ? h->sort + (*h->sort == '-') : NULL;

	if (sort && header_column(h, sort, strlen(sort)) == SIZE_MAX)
		fault(r, start, 1, "'sort:' names no column");
	if (h->operand && !streq(h->operand, "min") && !has_option(h, h->operand))
		fault(r, start, 1, "'operand:' names no option");
	vec_each(it, &h->columns)
		if (it->only && !has_option(h, it->only + (*it->only == '!')) &&
		    !streq(it->only, "target"))
			fault(r, start, 1, "the 'if' of a column names no option");
}

int header_parse(const char *name, const char *text, size_t len, struct tool_header *ret,
		 struct buf *diagnostics, struct err *e)
{
	struct source src = { .name = name, .text = text, .len = len };
	struct reader r = { .h = ret, .text = text };
	const char *start, *end;
	int rc = 0;

	*ret = (struct tool_header){ 0 };
	if (!find_block(text, len, &start, &end))
		return err_set(e, EINVAL, "'%s' does not begin with a header block", name);
	if (!end || end - start > HEADER_MAX)
		return err_set(e, EINVAL, "the header block of '%s' has no end", name);
	read_block(&r, start, end);
	check_whole(&r, start);
	diags_render(&r.diags, &src, true, diagnostics);
	if (r.diags.errors)
		rc = err_set(e, EINVAL, "the header block of '%s' has errors", name);
	diags_release(&r.diags);
	return rc;
}

void header_release(struct tool_header *h)
{
	vec_release(&h->shows);
	vec_release(&h->columns);
	vec_release(&h->options);
	vec_release(&h->examples);
	vec_release(&h->aliases);
	arena_release(&h->arena);
}
