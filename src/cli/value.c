/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One function per option type, found through one table. */
#include "cli/table.h"

#include "base/buf.h"
#include "base/suggest.h"

/* The kernel's own limit (PID_MAX_LIMIT of 64-bit machines). */
enum { PID_MOST = 4194304 };

static int store_flag(const struct opt *o, void *field, const char *text, struct err *e)
{
	(void)o;
	if (!streq(text, "yes") && !streq(text, "no"))
		return err_set(e, EINVAL, "'%s' is neither yes nor no", text);
	*(bool *)field = streq(text, "yes");
	return 0;
}

static int store_count(const struct opt *o, void *field, const char *text, struct err *e)
{
	u64 v;
	int r = parse_u64_range(text, 0, 1000, &v, e);

	(void)o;
	if (r < 0)
		return r;
	*(int *)field = (int)v;
	return 0;
}

static int store_string(const struct opt *o, void *field, const char *text, struct err *e)
{
	(void)o;
	(void)e;
	*(const char **)field = text;
	return 0;
}

static int store_file(const struct opt *o, void *field, const char *text, struct err *e)
{
	(void)o;
	if (!*text)
		return err_set(e, EINVAL, "the name of a file cannot be empty");
	*(const char **)field = text;
	return 0;
}

static int store_strings(const struct opt *o, void *field, const char *text, struct err *e)
{
	(void)o;
	(void)e;
	vec_push((str_list *)field, text);
	return 0;
}

static int store_u64(const struct opt *o, void *field, const char *text, struct err *e)
{
	if (o->max)
		return parse_u64_range(text, 0, o->max, field, e);
	return parse_u64(text, field, e);
}

static int store_s64(const struct opt *o, void *field, const char *text, struct err *e)
{
	(void)o;
	return parse_s64(text, field, e);
}

static int store_double(const struct opt *o, void *field, const char *text, struct err *e)
{
	(void)o;
	return parse_double(text, field, e);
}

static int store_percent(const struct opt *o, void *field, const char *text, struct err *e)
{
	(void)o;
	return parse_percent(text, field, e);
}

static int store_duration(const struct opt *o, void *field, const char *text, struct err *e)
{
	(void)o;
	return parse_duration(text, field, e);
}

static int store_size(const struct opt *o, void *field, const char *text, struct err *e)
{
	(void)o;
	return parse_size(text, field, e);
}

static int store_frequency(const struct opt *o, void *field, const char *text, struct err *e)
{
	u64 v;
	int r = parse_frequency(text, &v, e);

	(void)o;
	if (r < 0)
		return r;
	if (!v) {
		err_set(e, ERANGE, "a frequency of 0 never happens");
		err_hint(e, "write it like 99 or 4k: times a second");
		return -ERANGE;
	}
	*(u64 *)field = v;
	return 0;
}

/* Adds a range to a list that is sorted and free of overlaps, and keeps it so. */
static void ranges_add(range_list *list, struct range add)
{
	size_t n = 0;

	for (size_t i = 0; i < list->len; i++) {
		struct range r = list->items[i];

		/* "- 1" on the side that cannot wrap: touching ranges become one */
		if (r.first <= add.last || r.first - 1 == add.last) {
			if (r.last >= add.first || add.first - 1 == r.last) {
				add.first = MIN(add.first, r.first);
				add.last = MAX(add.last, r.last);
				continue;
			}
		}
		list->items[n++] = r;
	}
	list->len = n;
	vec_push(list, add);
	for (; n && list->items[n - 1].first > list->items[n].first; n--) {
		struct range swap = list->items[n];

		list->items[n] = list->items[n - 1];
		list->items[n - 1] = swap;
	}
}

static void ranges_join(range_list *list, range_list *more)
{
	if (!list->len) {
		vec_release(list);
		*list = *more;
		return;
	}
	vec_each(r, more)
		ranges_add(list, *r);
	vec_release(more);
}

static int store_ranges(const struct opt *o, void *field, const char *text, struct err *e)
{
	range_list more = { 0 };
	/* one less than all: base/parse adds 1 to the end when it merges */
	int r = parse_ranges(text, o->max ? o->max : UINT64_MAX - 1, &more, e);

	if (r < 0)
		return r;
	ranges_join(field, &more);
	return 0;
}

static int store_pids(const struct opt *o, void *field, const char *text, struct err *e)
{
	range_list more = { 0 };
	int r = parse_ranges(text, o->max ? o->max : PID_MOST, &more, e);

	if (r == -EINVAL) {
		err_set(e, EINVAL, "'%s' is not an id or a list of ids", text);
		err_hint(e, "write it like 1234 or 1234,1250");
	}
	if (r < 0)
		return r;
	if (ranges_contain(&more, 0)) {
		vec_release(&more);
		return err_set(e, EINVAL, "'%s': ids begin at 1", text);
	}
	ranges_join(field, &more);
	return 0;
}

static int choice_unknown(const struct opt *o, const char *text, struct err *e)
{
	_cleanup_buf_ struct buf list = BUF_INIT;
	struct suggestion s;

	suggest_init(&s, text);
	for (const char *const *c = o->choices; *c; c++) {
		buf_addf(&list, "%s%s", c == o->choices ? "" : ", ", *c);
		suggest_try(&s, *c);
	}
	err_set(e, EINVAL, "'%s' is not one of %s", text, buf_str(&list));
	if (*s.best)
		err_hint(e, "did you mean '%s'?", s.best);
	return -EINVAL;
}

static int store_choice(const struct opt *o, void *field, const char *text, struct err *e)
{
	for (int i = 0; o->choices[i]; i++) {
		if (strcasecmp(o->choices[i], text) == 0) {
			*(int *)field = i;
			return 0;
		}
	}
	return choice_unknown(o, text, e);
}

static int store_name(const struct opt *o, void *field, const char *text UNUSED,
		      struct err *e UNUSED)
{
	*(const char **)field = o->name;
	return 0;
}

static int store_custom(const struct opt *o, void *field, const char *text, struct err *e)
{
	return o->parse(field, text, e);
}

struct value_ops {
	const char *type;
	const char *arg;
	int (*store)(const struct opt *o, void *field, const char *text, struct err *e);
};

static const struct value_ops value_ops[] = {
	[OPT_FLAG] = { "flag", "", store_flag },
	[OPT_COUNT] = { "count", "", store_count },
	[OPT_STRING] = { "string", "TEXT", store_string },
	[OPT_FILE] = { "file", "FILE", store_file },
	[OPT_STRINGS] = { "strings", "TEXT", store_strings },
	[OPT_U64] = { "u64", "N", store_u64 },
	[OPT_S64] = { "s64", "N", store_s64 },
	[OPT_DOUBLE] = { "double", "NUMBER", store_double },
	[OPT_PERCENT] = { "percent", "PERCENT", store_percent },
	[OPT_DURATION] = { "duration", "TIME", store_duration },
	[OPT_SIZE] = { "size", "SIZE", store_size },
	[OPT_FREQUENCY] = { "frequency", "HZ", store_frequency },
	[OPT_RANGES] = { "ranges", "LIST", store_ranges },
	[OPT_PIDS] = { "ids", "PID", store_pids },
	[OPT_CHOICE] = { "choice", "WORD", store_choice },
	[OPT_NAME] = { "name", "", store_name },
	[OPT_CUSTOM] = { "custom", "VALUE", store_custom },
};

static const struct value_ops *ops_of(enum opt_type type)
{
	static const struct value_ops none = { "", "", NULL };

	return (size_t)type < ARRAY_SIZE(value_ops) && value_ops[type].store ? &value_ops[type]
									     : &none;
}

int value_store(const struct opt *o, void *field, const char *text, struct err *e)
{
	const struct value_ops *ops = ops_of(o->type);

	if (!ops->store)
		return err_set(e, EINVAL, "this option has no type");
	return ops->store(o, field, text, e);
}

const char *value_type_name(enum opt_type type)
{
	return ops_of(type)->type;
}

const char *value_arg_name(enum opt_type type)
{
	return ops_of(type)->arg;
}

void value_release(const struct opt *o, void *field)
{
	if (o->type == OPT_STRINGS)
		vec_release((str_list *)field);
	else if (o->type == OPT_RANGES || o->type == OPT_PIDS)
		vec_release((range_list *)field);
}
