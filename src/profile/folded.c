/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks: "root;caller;leaf 12", one stack a line. With two counts in
 * every line it is the differential form, and the counts become the events
 * "before" and "after".
 *
 * Counts may have a fraction. Weights are whole numbers, so the first fraction
 * seen scales all of them by a thousand or a million, and the event's unit says
 * so. A line without a count, or with a negative one, is counted as bad and
 * left out.
 */
#include "base/vec.h"
#include "profile/load.h"

#include <ctype.h>

enum {
	DEPTH_MOST = 1 << 16, /* frames of one line */
	LINES_TRIED = 1000,   /* to find out whether there are two counts in each */
	FRACTION_DIGITS = 6,  /* more are rounded */
	COLUMNS = 2,
};

struct number {
	u64 whole;
	u64 millionths;
	bool thousandths_do; /* the fraction has no more than three digits */
};

/* A frame of the line before: where its name ended, and the stack up to it. */
struct step {
	size_t end;
	u32 stack;
};

struct folded {
	struct profile *profile;
	struct intern tokens; /* names as written */
	VEC(u32) frames;      /* token -> frame */
	VEC(struct step) steps;
	const char *last; /* the stack of the line before */
	size_t last_len;
	size_t columns;
	u16 events[COLUMNS];
	size_t first_sample;
	u64 scale;
	u64 good;
};

/* --- numbers
 * -------------------------------------------------------------------------------
 */

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static void read_fraction(const char *p, const char *end, struct number *ret)
{
	u64 unit = 1000000;
	size_t digits = 0;

	ret->millionths = 0;
	for (; p < end && digits < FRACTION_DIGITS; p++, digits++)
		ret->millionths += (u64)(*p - '0') * (unit /= 10);
	if (p < end && *p >= '5')
		ret->millionths++;
	ret->thousandths_do = ret->millionths % 1000 == 0;
}

static bool read_number(const char *text, const char *end, struct number *ret)
{
	const char *p = text;

	*ret = (struct number){ 0 };
	if (!scan_u64(&p, end, 10, &ret->whole))
		return false;
	if (p < end && *p++ != '.')
		return false;
	for (const char *q = p; q < end; q++)
		if (!isdigit((unsigned char)*q))
			return false;
	read_fraction(p, end, ret);
	return true;
}

/* The number that ends the text; shortens it to what is before. */
static bool cut_number(const char *text, size_t *len, struct number *ret)
{
	size_t end = *len, begin;

	while (end && is_space(text[end - 1]))
		end--;
	for (begin = end; begin && !is_space(text[begin - 1]);)
		begin--;
	if (!begin || begin == end || !read_number(text + begin, text + end, ret))
		return false;
	while (begin && is_space(text[begin - 1]))
		begin--;
	*len = begin;
	return true;
}

/* --- frames
 * --------------------------------------------------------------------------------
 */

static bool cut_mark(const char *name, size_t *len, const char *mark)
{
	size_t n = strlen(mark);

	if (*len <= n || memcmp(name + *len - n, mark, n) != 0)
		return false;
	*len -= n;
	return true;
}

/* "_[w]" (a waker) stays in the name: it is no kind of code. */
static u8 cut_kind(const char *name, size_t *len)
{
	if (cut_mark(name, len, "_[k]"))
		return FRAME_KERNEL;
	if (cut_mark(name, len, "_[i]"))
		return FRAME_INLINED;
	if (cut_mark(name, len, "_[j]"))
		return FRAME_JIT;
	if ((*len == 1 && name[0] == '-') || (*len == 2 && memcmp(name, "--", 2) == 0))
		return FRAME_MARKER;
	return FRAME_USER;
}

static u32 frame_of(struct folded *f, const char *name, size_t len)
{
	u32 token = intern_bytes(&f->tokens, name, len);
	struct frame frame = { 0 };

	if (token < f->frames.len)
		return f->frames.items[token];
	frame.kind = cut_kind(name, &len);
	frame.name = len ? intern_bytes(&f->profile->strings, name, len) : 0;
	frame.no_name = len == 9 && memcmp(name, "[unknown]", 9) == 0;
	vec_push(&f->frames, profile_get_frame(f->profile, &frame));
	return *vec_last(&f->frames);
}

/* Sorted input repeats most of the line before: those frames are known already.
 */
static size_t common_steps(const struct folded *f, const char *text, size_t len)
{
	size_t most = MIN(len, f->last_len), same = 0, n = 0;

	while (same < most && text[same] == f->last[same])
		same++;
	while (n < f->steps.len && f->steps.items[n].end < same &&
	       text[f->steps.items[n].end] == ';')
		n++;
	return n;
}

/* False when there are implausibly many frames. */
static bool read_stack(struct folded *f, const char *text, size_t len, u32 *ret)
{
	size_t at = 0;
	u32 stack = 0;

	while (len && text[len - 1] == ';')
		len--;
	f->steps.len = common_steps(f, text, len);
	if (f->steps.len) {
		at = vec_last(&f->steps)->end + 1;
		stack = vec_last(&f->steps)->stack;
	}
	while (at < len && f->steps.len < DEPTH_MOST) {
		const char *semicolon = memchr(text + at, ';', len - at);
		size_t end = semicolon ? (size_t)(semicolon - text) : len;

		stack = profile_get_stack(f->profile, stack, frame_of(f, text + at, end - at));
		vec_push(&f->steps, (struct step){ end, stack });
		at = end + 1;
	}
	f->last = text;
	f->last_len = len;
	*ret = stack;
	return at >= len;
}

/* --- weights
 * -------------------------------------------------------------------------------
 */

static u64 largest_sum(const struct folded *f)
{
	u64 sum = 0;

	for (size_t i = 0; i < f->columns; i++)
		sum = MAX(sum, f->profile->events.items[f->events[i]].weight);
	return sum;
}

static void set_scale(struct folded *f, u64 scale)
{
	u64 factor = scale / f->scale;

	/* so large that a fraction is nothing */
	if (largest_sum(f) > INT64_MAX / 4 / factor)
		return;
	for (size_t i = f->first_sample; i < f->profile->samples.len; i++)
		f->profile->samples.items[i].weight *= factor;
	for (size_t i = 0; i < f->columns; i++) {
		struct profile_event *ev = &f->profile->events.items[f->events[i]];

		ev->weight *= factor;
		ev->unit = profile_string(f->profile, scale == 1000 ? "thousandths" : "millionths");
	}
	f->scale = scale;
}

/* False if the number, or the sum of all, would be too large. */
static bool weigh(struct folded *f, const struct number *n, u64 *ret)
{
	if (n->millionths && f->scale < 1000000)
		if (f->scale == 1 || !n->thousandths_do)
			set_scale(f, n->thousandths_do ? 1000 : 1000000);
	if (n->whole > INT64_MAX / 4 / f->scale || largest_sum(f) > INT64_MAX / 2)
		return false;
	*ret = n->whole * f->scale + (n->millionths * f->scale + 500000) / 1000000;
	return true;
}

static void add_weight(struct folded *f, u32 stack, size_t column, u64 weight)
{
	u64 count = (weight + f->scale / 2) / f->scale;

	/* a stack that one side of a comparison does not have */
	if (!weight && f->columns == COLUMNS)
		return;
	profile_add_sample(f->profile, &(struct profile_sample){
					       .weight = weight,
					       .stack = stack,
					       .count = (u32)MIN(count, (u64)UINT32_MAX),
					       .cpu = -1,
					       .event = f->events[column],
				       });
}

/* --- lines
 * ---------------------------------------------------------------------------------
 */

static bool add_line(struct folded *f, const char *text, size_t len)
{
	struct number numbers[COLUMNS];
	u64 weights[COLUMNS] = { 0 };
	u32 stack;

	for (size_t i = f->columns; i--;)
		if (!cut_number(text, &len, &numbers[i]))
			return false;
	/* the scale may grow at either number: both are weighed only after both were
	 * seen */
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < f->columns; i++)
			if (!weigh(f, &numbers[i], &weights[i]))
				return false;
	if (!read_stack(f, text, len, &stack))
		return false;
	for (size_t i = 0; i < f->columns; i++)
		add_weight(f, stack, i, weights[i]);
	f->good++;
	return true;
}

struct lines {
	const char *next;
	const char *end;
};

/* The next line that is neither empty nor a comment, without its end. */
static bool next_line(struct lines *l, const char **ret, size_t *ret_len)
{
	while (l->next < l->end) {
		const char *line = l->next;
		const char *nl = memchr(line, '\n', (size_t)(l->end - line));
		size_t len = (size_t)((nl ? nl : l->end) - line);

		l->next = nl ? nl + 1 : l->end;
		while (len && (line[len - 1] == '\r' || is_space(line[len - 1])))
			len--;
		if (len && line[0] != '#') {
			*ret = line;
			*ret_len = len;
			return true;
		}
	}
	return false;
}

/* Names may end in numbers, too: only if every line has two counts are they
 * meant. */
static bool has_two_columns(struct lines l)
{
	struct number n;
	const char *line;
	size_t len, seen = 0;

	while (seen < LINES_TRIED && next_line(&l, &line, &len)) {
		if (!cut_number(line, &len, &n))
			continue;
		if (!cut_number(line, &len, &n))
			return false;
		seen++;
	}
	return seen;
}

int profile_load_folded(struct profile *p, const char *text, size_t len, struct err *e)
{
	struct folded f = {
		.profile = p,
		.scale = 1,
		.columns = 1,
		.first_sample = p->samples.len,
	};
	struct lines l = { text, text + len };
	const char *line;

	if (has_two_columns(l)) {
		f.columns = COLUMNS;
		f.events[0] = profile_get_event(p, "before");
		f.events[1] = profile_get_event(p, "after");
	} else {
		f.events[0] = profile_get_event(p, "samples");
	}
	vec_push(&f.frames, 0);
	while (next_line(&l, &line, &len))
		if (!add_line(&f, line, len))
			p->bad_records++;
	intern_release(&f.tokens);
	vec_release(&f.frames);
	vec_release(&f.steps);
	if (f.good)
		return 0;
	err_set(e, EBADMSG, "the text contains no folded stack");
	err_hint(e, "each line is root;caller;leaf and a count");
	return -EBADMSG;
}
