/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/annotate.h"

#include "base/buf.h"
#include "base/hash.h"

#include <math.h>

static double share(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

double annotate_percent(const struct listing *l, const struct listing_line *line, size_t event)
{
	return share(line->weight[event], l->function->weight[event]);
}

/* The event that has most of the function. */
static size_t main_event(const struct listing *l)
{
	size_t best = 0;

	for (size_t i = 1; i < HITS_EVENTS_MOST; i++)
		if (l->function->samples[i] > l->function->samples[best])
			best = i;
	return best;
}

/* --- arrows ---------------------------------------------------------------------------------- */

struct jump {
	size_t from, to;
	u64 weight;
};

typedef VEC(struct jump) jump_list;

static size_t line_at(const struct listing *l, u64 address)
{
	size_t low = 0, high = l->lines.len;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (l->lines.items[mid].insn.address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < l->lines.len && l->lines.items[low].insn.address == address ? low : SIZE_MAX;
}

static u64 weight_between(const u64 *sums, size_t a, size_t b)
{
	return sums[MAX(a, b) + 1] - sums[MIN(a, b)];
}

static void find_jumps(const struct listing *l, jump_list *ret)
{
	_cleanup_free_ u64 *sums = xcalloc(l->lines.len + 1, sizeof(*sums));
	size_t event = main_event(l);

	for (size_t i = 0; i < l->lines.len; i++)
		sums[i + 1] = sums[i] + l->lines.items[i].weight[event];
	for (size_t i = 0; i < l->lines.len; i++) {
		const struct insn *in = &l->lines.items[i].insn;
		size_t to = (in->kind == INSN_JUMP || in->kind == INSN_BRANCH) && in->has_target
				    ? line_at(l, in->target)
				    : SIZE_MAX;

		if (to != SIZE_MAX)
			vec_push(ret, (struct jump){ i, to, weight_between(sums, i, to) });
	}
}

static int compare_jumps(const void *a, const void *b)
{
	const struct jump *x = a, *y = b;
	size_t m = MAX(x->from, x->to) - MIN(x->from, x->to);
	size_t n = MAX(y->from, y->to) - MIN(y->from, y->to);

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return m < n ? -1 : m > n;
}

static bool lane_is_free(const struct annotate_arrows *a, size_t lane, size_t low, size_t high)
{
	for (size_t i = low; i <= high; i++)
		if (a->parts[i * ANNOTATE_LANES + lane])
			return false;
	return true;
}

static void draw(struct annotate_arrows *a, const struct jump *j, size_t lane)
{
	size_t low = MIN(j->from, j->to), high = MAX(j->from, j->to);

	for (size_t i = low; i <= high; i++)
		a->parts[i * ANNOTATE_LANES + lane] = ARROW_THROUGH;
	a->parts[j->from * ANNOTATE_LANES + lane] = ARROW_FROM;
	a->parts[j->to * ANNOTATE_LANES + lane] = ARROW_TO;
	a->top[low * ANNOTATE_LANES + lane] = true;
	a->lanes = MAX(a->lanes, lane + 1);
}

void annotate_arrows_init(struct annotate_arrows *a, const struct listing *l)
{
	enum { JUMPS_DRAWN = 2000 };
	jump_list jumps = { 0 };

	*a = (struct annotate_arrows){
		.parts = xcalloc(l->lines.len * ANNOTATE_LANES + 1, sizeof(*a->parts)),
		.top = xcalloc(l->lines.len * ANNOTATE_LANES + 1, sizeof(*a->top)),
	};
	find_jumps(l, &jumps);
	if (jumps.len > 1)
		qsort(jumps.items, jumps.len, sizeof(*jumps.items), compare_jumps);
	for (size_t i = 0; i < jumps.len; i++) {
		const struct jump *j = &jumps.items[i];
		size_t lane = 0, low = MIN(j->from, j->to), high = MAX(j->from, j->to);

		while (i < JUMPS_DRAWN && lane < ANNOTATE_LANES &&
		       !lane_is_free(a, lane, low, high))
			lane++;
		if (i < JUMPS_DRAWN && lane < ANNOTATE_LANES && low != high)
			draw(a, j, lane);
		else
			a->left_out++;
	}
	vec_release(&jumps);
}

void annotate_arrows_release(struct annotate_arrows *a)
{
	free(a->parts);
	free(a->top);
}

/* --- lines of the source --------------------------------------------------------------------- */

static int compare_sums(const void *a, const void *b)
{
	const struct line_sum *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Of instructions with more than @min percent; 0: of all. */
static void sum_lines(const struct listing *l, size_t event, double min, line_sums *ret)
{
	struct map ids = { 0 };

	vec_each(line, &l->lines) {
		u64 *id;

		if (!line->file || (min > 0 && annotate_percent(l, line, event) <= min))
			continue;
		/* names of files are of the store: one address for each */
		id = map_at(&ids, hash_mix((u64)(uintptr_t)line->file, line->line));
		if (!*id) {
			vec_push(ret, (struct line_sum){ .file = line->file, .line = line->line });
			*id = ret->len;
		}
		ret->items[*id - 1].samples += line->samples[event];
		ret->items[*id - 1].weight += line->weight[event];
	}
	map_release(&ids);
}

void annotate_line_sums(const struct listing *l, size_t event, double min, line_sums *ret)
{
	sum_lines(l, event, min, ret);
	if (ret->len > 1)
		qsort(ret->items, ret->len, sizeof(*ret->items), compare_sums);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const char *source_text(struct source_files *files, const char *file, u32 line)
{
	const char *text = source_files_line(files, file, line);

	return text ? text + strspn(text, " \t") : NULL;
}

void annotate_hot_lines(const struct listing *l, const struct hits *h UNUSED,
			struct source_files *files, size_t max, struct result *ret)
{
	static const struct column columns[] = {
		{ "percent", "SELF", VALUE_PERCENT, COLUMN_WEIGHT },
		{ "samples", "SAMPLES", VALUE_COUNT, 0 },
		{ "file", "FILE", VALUE_TEXT, COLUMN_HIDDEN },
		{ "line", "LINE", VALUE_COUNT, COLUMN_HIDDEN },
		{ "place", "WHERE", VALUE_TEXT, 0 },
		{ "text", "SOURCE", VALUE_TEXT, COLUMN_FILL },
	};
	size_t event = main_event(l), shown = 0;
	line_sums sums = { 0 };
	struct table *t;

	annotate_line_sums(l, event, 0, &sums);
	if (sums.len) {
		t = result_table(ret, "lines", NULL, columns, ARRAY_SIZE(columns));
		vec_each(sum, &sums) {
			struct row *row;

			if (!sum->weight || (max && shown++ == max))
				break;
			row = table_row(ret, t);
			row->cells[0] = value_d(VALUE_PERCENT,
						share(sum->weight, l->function->weight[event]));
			row->cells[1] = value_u(VALUE_COUNT, sum->samples);
			row->cells[2] = value_text(ret, sum->file);
			row->cells[3] = value_u(VALUE_COUNT, sum->line);
			row->cells[4] = value_textf(ret, "%s:%u", last_part(sum->file), sum->line);
			row->cells[5] = value_text(ret, source_text(files, sum->file, sum->line));
		}
	}
	vec_release(&sums);
}

/* --- tables ---------------------------------------------------------------------------------- */

static const char *kind_name(u8 kind)
{
	static const char *const names[] = { "plain",  "jump", "branch",   "call",
					     "return", "bad",  "truncated" };

	return kind < ARRAY_SIZE(names) ? names[kind] : "plain";
}

static struct value inlined_text(struct result *r, const struct listing_line *line)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (u32 i = 0; i < line->depth; i++)
		buf_addf(&text, "%s%s", i ? " < " : "", line->inlined[i] ? line->inlined[i] : "?");
	return value_text(r, text.len ? buf_str(&text) : NULL);
}

static struct table *instruction_table(const struct hits *h, struct result *ret)
{
	struct column columns[HITS_EVENTS_MOST * 2 + 9] = {
		{ "function", "FUNCTION", VALUE_TEXT, 0 },
		{ "address", "ADDRESS", VALUE_ADDRESS, 0 },
	};
	char keys[HITS_EVENTS_MOST][2][40];
	size_t n = 2;

	for (size_t i = 0; i < h->n_events; i++) {
		if (!h->events[i].name)
			continue;
		snprintf(keys[i][0], sizeof(keys[i][0]), i ? "percent_%zu" : "percent", i);
		snprintf(keys[i][1], sizeof(keys[i][1]), i ? "samples_%zu" : "samples", i);
		columns[n++] = (struct column){ keys[i][0], "SELF", VALUE_PERCENT, COLUMN_WEIGHT };
		columns[n++] = (struct column){ keys[i][1], "SAMPLES", VALUE_COUNT, 0 };
	}
	columns[n++] = (struct column){ "instruction", "INSTRUCTION", VALUE_TEXT, 0 };
	columns[n++] = (struct column){ "kind", "KIND", VALUE_TEXT, 0 };
	columns[n++] = (struct column){ "target", "TARGET", VALUE_ADDRESS, 0 };
	columns[n++] = (struct column){ "callee", "CALLEE", VALUE_TEXT, 0 };
	columns[n++] = (struct column){ "file", "FILE", VALUE_TEXT, 0 };
	columns[n++] = (struct column){ "line", "LINE", VALUE_COUNT, 0 };
	columns[n++] = (struct column){ "inlined", "INLINED", VALUE_TEXT, COLUMN_FILL };
	return result_table(ret, "instructions", NULL, columns, n);
}

static void add_instruction(const struct listing *l, const struct hits *h,
			    const struct listing_line *line, struct table *t, struct result *ret)
{
	struct value *cell = table_row(ret, t)->cells;

	*cell++ = value_text(ret, l->function->name);
	*cell++ = value_u(VALUE_ADDRESS, line->insn.address);
	for (size_t i = 0; i < h->n_events; i++) {
		if (!h->events[i].name)
			continue;
		*cell++ = value_d(VALUE_PERCENT, annotate_percent(l, line, i));
		*cell++ = value_u(VALUE_COUNT, line->samples[i]);
	}
	*cell++ = value_textf(ret, "%s%s%s", line->insn.name, *line->insn.operands ? " " : "",
			      line->insn.operands);
	*cell++ = value_text(ret, kind_name(line->insn.kind));
	if (line->insn.has_target)
		*cell = value_u(VALUE_ADDRESS, line->insn.target);
	cell++;
	*cell++ = value_text(ret, line->callee);
	*cell++ = value_text(ret, line->file);
	if (line->file)
		*cell = value_u(VALUE_COUNT, line->line);
	cell++;
	*cell = inlined_text(ret, line);
}

/* Whose percent, percent_1 and so on are. */
static void add_events(const struct hits *h, struct result *ret)
{
	char key[16];

	for (size_t i = 0; i < h->n_events; i++) {
		snprintf(key, sizeof(key), i ? "event_%zu" : "event", i);
		if (h->events[i].name)
			result_fact(ret, key, "event", value_text(ret, h->events[i].name));
	}
}

void annotate_result(const struct listing *l, const struct hits *h, struct source_files *files,
		     struct result *ret)
{
	struct table *t;

	add_events(h, ret);
	annotate_hot_lines(l, h, files, 0, ret);
	t = instruction_table(h, ret);
	vec_each(line, &l->lines)
		add_instruction(l, h, line, t, ret);
}

void annotate_notes(const struct listing *l, const struct hits *h, struct result *ret)
{
	size_t event = main_event(l);

	if (h->events[event].name && !h->events[event].precise)
		result_note(ret, NOTE_INFO,
			    h->events[event].clock
				    ? "an event with :pp names it, on a CPU that samples precisely"
				    : "the same event with :pp names it, if the CPU can",
			    "samples of '%s' come with skid: they point to the instruction at "
			    "which the interrupt came through, mostly the one after a slow one",
			    h->events[event].name);
	if (l->live && l->function->kind == PLACE_JIT)
		result_note(ret, NOTE_INFO, NULL,
			    "this is the code as process %d has it now: its compiler may have made "
			    "it again",
			    l->function->pid);
	else if (l->live)
		result_note(ret, NOTE_INFO, NULL,
			    "this is the kernel's code as it is now: static branches, tracing and "
			    "mitigations patch it");
	if (l->why)
		result_note(ret, NOTE_INFO, l->why_hint, "no source lines: %s", l->why);
	if (l->left_out)
		result_note(
			ret, NOTE_WARNING, NULL,
			"the function is too long: %llu of its bytes are not shown, with %llu of "
			"its samples",
			(unsigned long long)l->left_out, (unsigned long long)l->samples_left_out);
}

/* --- two recordings -------------------------------------------------------------------------- */

struct pair {
	const char *file;
	u32 line;
	const struct listing_line *insn;
	double before, after;
};

typedef VEC(struct pair) pair_list;

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	double m = fabs(x->after - x->before), n = fabs(y->after - y->before);

	return m > n ? -1 : m < n;
}

static struct pair *pair_of(pair_list *pairs, struct map *ids, const struct line_sum *s)
{
	u64 key = hash_mix(hash_bytes(last_part(s->file), strlen(last_part(s->file))), s->line);
	u64 *id = map_at(ids, key);

	if (!*id) {
		vec_push(pairs, (struct pair){ .file = s->file, .line = s->line });
		*id = pairs->len;
	}
	return &pairs->items[*id - 1];
}

static void pair_lines(const struct listing *before, size_t e, const struct listing *after,
		       size_t f, pair_list *pairs)
{
	line_sums old = { 0 }, new = { 0 };
	struct map ids = { 0 };

	sum_lines(before, e, 0, &old);
	sum_lines(after, f, 0, &new);
	vec_each(s, &old)
		pair_of(pairs, &ids, s)->before += share(s->weight, before->function->weight[e]);
	vec_each(s, &new)
		pair_of(pairs, &ids, s)->after += share(s->weight, after->function->weight[f]);
	map_release(&ids);
	vec_release(&old);
	vec_release(&new);
}

static bool is_same_code(const struct listing *a, const struct listing *b)
{
	if (a->lines.len != b->lines.len)
		return false;
	for (size_t i = 0; i < a->lines.len; i++) {
		const struct insn *x = &a->lines.items[i].insn, *y = &b->lines.items[i].insn;

		if (x->address - a->address != y->address - b->address ||
		    !streq(x->name, y->name) || x->size != y->size)
			return false;
	}
	return true;
}

static void pair_instructions(const struct listing *before, size_t e, const struct listing *after,
			      size_t f, pair_list *pairs)
{
	for (size_t i = 0; i < before->lines.len; i++) {
		const struct listing_line *x = &before->lines.items[i], *y = &after->lines.items[i];

		vec_push(pairs, (struct pair){ .insn = y,
					       .before = annotate_percent(before, x, e),
					       .after = annotate_percent(after, y, f) });
	}
}

static void pair_table(const pair_list *pairs, struct source_files *files, struct result *ret)
{
	static const struct column columns[] = {
		{ "before", "BEFORE", VALUE_PERCENT, 0 },    { "after", "AFTER", VALUE_PERCENT, 0 },
		{ "delta", "DELTA", VALUE_PERCENT, 0 },      { "place", "WHERE", VALUE_TEXT, 0 },
		{ "text", "CODE", VALUE_TEXT, COLUMN_FILL },
	};
	struct table *t = result_table(ret, "rows", NULL, columns, ARRAY_SIZE(columns));

	vec_each(p, pairs) {
		struct row *row;

		if (p->before == 0 && p->after == 0)
			continue;
		row = table_row(ret, t);
		row->cells[0] = value_d(VALUE_PERCENT, p->before);
		row->cells[1] = value_d(VALUE_PERCENT, p->after);
		row->cells[2] = value_d(VALUE_PERCENT, p->after - p->before);
		if (p->insn) {
			row->cells[3] =
				value_textf(ret, "%llx", (unsigned long long)p->insn->insn.address);
			row->cells[4] = value_textf(ret, "%s %s", p->insn->insn.name,
						    p->insn->insn.operands);
			continue;
		}
		row->cells[3] = value_textf(ret, "%s:%u", last_part(p->file), p->line);
		row->cells[4] = value_text(ret, source_text(files, p->file, p->line));
	}
}

static size_t event_named(const struct hits *h, const char *name)
{
	for (size_t i = 0; i < h->n_events; i++)
		if (h->events[i].name && streq(h->events[i].name, name))
			return i;
	return HITS_EVENTS_MOST;
}

int annotate_diff(const struct listing *before, const struct hits *h, const struct listing *after,
		  const struct hits *g, struct source_files *files, struct result *ret,
		  struct err *e)
{
	bool lines = before->lines.len && after->lines.len && before->lines.items[0].file &&
		     after->lines.items[0].file;
	size_t new = main_event(after), old = event_named(h, g->events[new].name);
	pair_list pairs = { 0 };

	if (old == HITS_EVENTS_MOST || !before->function->samples[old]) {
		err_set(e, ENODATA, "'%s' has no sample of '%s' in the earlier recording",
			after->function->name, g->events[new].name);
		err_hint(e, "--event names one that both have");
		return -ENODATA;
	}

	if (!lines && !is_same_code(before, after)) {
		err_set(e, EXDEV, "the two have different code and no source lines in common");
		err_hint(e, "build with -g: then they are lined up by source");
		return -EXDEV;
	}
	if (lines)
		pair_lines(before, old, after, new, &pairs);
	else
		pair_instructions(before, old, after, new, &pairs);
	if (pairs.len > 1)
		qsort(pairs.items, pairs.len, sizeof(*pairs.items), compare_pairs);
	pair_table(&pairs, files, ret);
	result_fact(ret, "function", "function", value_text(ret, after->function->name));
	result_fact(ret, "event", "event", value_text(ret, g->events[new].name));
	result_fact(ret, "lined_up_by", "lined up by",
		    value_text(ret, lines ? "source line" : "instruction"));
	result_fact(ret, "samples_before", "samples before",
		    value_u(VALUE_COUNT, before->function->samples[old]));
	result_fact(ret, "samples_after", "samples after",
		    value_u(VALUE_COUNT, after->function->samples[new]));
	annotate_notes(after, g, ret);
	vec_release(&pairs);
	return 0;
}
