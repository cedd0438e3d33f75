/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands between the slashes: cpu/event=0x3c,umask=1,period=1000,call-graph=no/ */
#include "capture/event_text.h"

#include <ctype.h>
#include <linux/perf_event.h>

#include "base/buf.h"
#include "base/parse.h"
#include "base/suggest.h"
#include "capture/names.h"

static bool span_is(const char *s, size_t n, const char *text)
{
	return strlen(text) == n && memcmp(s, text, n) == 0;
}

static bool term_number(const struct event_term *term, u64 *ret)
{
	const char *s = term->value, *end = s + term->value_n;
	u32 base = 10;

	if (term->value_n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		s += 2;
		base = 16;
	}
	return s < end && scan_u64(&s, end, base, ret) && s == end;
}

/* A value: quoted, or everything up to ',' or '/'. */
static int read_value(struct event_text *t, struct event_term *term)
{
	const char *s = t->s;

	if (*s == '\'' || *s == '"') {
		const char *end = strchr(s + 1, *s);

		if (!end)
			return event_fault(t, s, "a quote without its end");
		term->value = s + 1;
		term->value_n = (size_t)(end - s - 1);
		t->s = end + 1;
		return 0;
	}
	term->value = s;
	term->value_n = strcspn(s, ",/ \t");
	if (term->value_n == 0)
		return event_fault(t, s, "term '%.*s' has no value after its '='",
				   (int)MIN(term->n, 100), term->name);
	t->s += term->value_n;
	return 0;
}

static int read_term(struct event_text *t, struct event_term *ret)
{
	struct event_term term = { .name = t->s, .n = strcspn(t->s, "=,/ \t") };

	if (term.n == 0)
		return event_fault(t, t->s, *t->s ? "a term is missing" : "'/' without its end");
	t->s += term.n;
	if (*t->s == '=') {
		t->s++;
		int r = read_value(t, &term);

		if (r < 0)
			return r;
	}
	*ret = term;
	return 0;
}

static void skip_space(struct event_text *t)
{
	while (isspace((unsigned char)*t->s))
		t->s++;
}

int event_terms_read(struct event_text *t, struct event_terms *ret)
{
	const char *open = t->s++;

	ret->len = 0;
	skip_space(t);
	if (*t->s == '/') {
		t->s++;
		return 0;
	}
	for (;;) {
		skip_space(t);
		if (ret->len >= EVENT_TERMS_MOST)
			return event_fault(t, t->s, "more than %d terms", EVENT_TERMS_MOST);
		int r = read_term(t, &ret->items[ret->len]);

		if (r < 0)
			return r;
		ret->len++;
		skip_space(t);
		if (*t->s == ',') {
			t->s++;
		} else if (*t->s == '/') {
			t->s++;
			return 0;
		} else {
			return event_fault(t, open, "'/' without its end");
		}
	}
}

/* The terms that every event takes. Each handler gets a number unless it is of type text. */
enum term_kind { TERM_NUMBER, TERM_TEXT, TERM_BARE };

struct term_type {
	const char *name;
	enum term_kind kind;
	int (*set)(struct event *ev, u64 v, const char *s, size_t n);
};

static int set_config(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	ev->attr.config = v;
	return 0;
}

static int set_config1(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	ev->attr.config1 = v;
	return 0;
}

static int set_config2(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	ev->attr.config2 = v;
	return 0;
}

static int set_config3(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	ev->late[0] = v;
	return 0;
}

static int set_config4(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	ev->late[1] = v;
	return 0;
}

static int set_name(struct event *ev, u64 v UNUSED, const char *s, size_t n)
{
	free(ev->name);
	ev->name = xstrndup(s, n);
	return 0;
}

static int set_period(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	if (v == 0)
		return -ERANGE;
	ev->attr.sample_period = v;
	ev->attr.freq = 0;
	ev->period_set = true;
	ev->frequency_set = false;
	return 0;
}

static int set_freq(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	if (v == 0)
		return -ERANGE;
	ev->attr.sample_freq = v;
	ev->attr.freq = 1;
	ev->frequency_set = true;
	ev->period_set = false;
	return 0;
}

static int set_call_graph(struct event *ev, u64 v UNUSED, const char *s, size_t n)
{
	static const struct {
		const char *name;
		enum stack_mode mode;
	} modes[] = { { "no", STACK_NONE },     { "none", STACK_NONE }, { "fp", STACK_FP },
		      { "dwarf", STACK_DWARF }, { "lbr", STACK_LBR },   { "yes", STACK_FP } };

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (span_is(s, n, modes[i].name)) {
			ev->stack = modes[i].mode;
			return 0;
		}
	}
	return -EINVAL;
}

static int set_stack_size(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	if (v == 0 || v > 65528)
		return -ERANGE;
	ev->stack_size = (u32)ALIGN_UP(v, 8);
	return 0;
}

static int set_max_stack(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	if (v > UINT16_MAX)
		return -ERANGE;
	ev->attr.sample_max_stack = (u16)v;
	return 0;
}

static int set_inherit(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	ev->inherit = v != 0;
	return 0;
}

static int set_no_inherit(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	ev->inherit = v == 0;
	return 0;
}

static int set_overwrite(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	ev->overwrite = v != 0;
	return 0;
}

static int set_no_overwrite(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	ev->overwrite = v == 0;
	return 0;
}

static int set_aux_output(struct event *ev, u64 v, const char *s UNUSED, size_t n UNUSED)
{
	ev->attr.aux_output = v != 0;
	return 0;
}

/* perf's words for parts of its own output; they change nothing in the kernel. */
static int set_nothing(struct event *ev UNUSED, u64 v UNUSED, const char *s UNUSED, size_t n UNUSED)
{
	return 0;
}

static int set_branch_type(struct event *ev, u64 v UNUSED, const char *s, size_t n)
{
	static const struct {
		const char *name;
		u32 bit;
	} types[] = {
		{ "u", PERF_SAMPLE_BRANCH_USER },
		{ "k", PERF_SAMPLE_BRANCH_KERNEL },
		{ "hv", PERF_SAMPLE_BRANCH_HV },
		{ "any", PERF_SAMPLE_BRANCH_ANY },
		{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
		{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
		{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
		{ "cond", PERF_SAMPLE_BRANCH_COND },
		{ "call", PERF_SAMPLE_BRANCH_CALL },
		{ "no", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (span_is(s, n, types[i].name)) {
			ev->branch_type = types[i].bit;
			return 0;
		}
	}
	return -EINVAL;
}

static const struct term_type term_types[] = {
	{ "config", TERM_NUMBER, set_config },
	{ "config1", TERM_NUMBER, set_config1 },
	{ "config2", TERM_NUMBER, set_config2 },
	{ "config3", TERM_NUMBER, set_config3 },
	{ "config4", TERM_NUMBER, set_config4 },
	{ "name", TERM_TEXT, set_name },
	{ "period", TERM_NUMBER, set_period },
	{ "freq", TERM_NUMBER, set_freq },
	{ "call-graph", TERM_TEXT, set_call_graph },
	{ "stack-size", TERM_NUMBER, set_stack_size },
	{ "max-stack", TERM_NUMBER, set_max_stack },
	{ "branch_type", TERM_TEXT, set_branch_type },
	{ "inherit", TERM_BARE, set_inherit },
	{ "no-inherit", TERM_BARE, set_no_inherit },
	{ "overwrite", TERM_BARE, set_overwrite },
	{ "no-overwrite", TERM_BARE, set_no_overwrite },
	{ "aux-output", TERM_BARE, set_aux_output },
	{ "percore", TERM_BARE, set_nothing },
	{ "time", TERM_NUMBER, set_nothing },
	{ "nr", TERM_NUMBER, set_nothing },
	{ "metric-id", TERM_TEXT, set_nothing },
};

static const struct term_type *term_type_find(const struct event_term *term)
{
	for (size_t i = 0; i < ARRAY_SIZE(term_types); i++) {
		if (span_is(term->name, term->n, term_types[i].name))
			return &term_types[i];
	}
	return NULL;
}

static int bad_value(struct event_text *t, const struct event_term *term, const char *why)
{
	return event_fault(t, term->value ? term->value : term->name, "value of term '%.*s' %s",
			   (int)MIN(term->n, 100), term->name, why);
}

static int apply_common(struct event_text *t, const struct event_term *term,
			const struct term_type *type, struct event *ev)
{
	u64 v = 1;
	int r;

	if (!term->value && type->kind != TERM_BARE)
		return bad_value(t, term, "is missing");
	if (term->value && type->kind != TERM_TEXT && !term_number(term, &v))
		return bad_value(t, term, "is not a number");
	r = type->set(ev, v, term->value, term->value_n);
	if (r == -ERANGE)
		return bad_value(t, term, "is out of range");
	if (r < 0)
		return bad_value(t, term, "is not known");
	return 0;
}

static void get_words(const struct event *ev, u64 words[static PMU_WORDS])
{
	words[0] = ev->attr.config;
	words[1] = ev->attr.config1;
	words[2] = ev->attr.config2;
	words[3] = ev->late[0];
	words[4] = ev->late[1];
}

static void set_words(struct event *ev, const u64 words[static PMU_WORDS])
{
	ev->attr.config = words[0];
	ev->attr.config1 = words[1];
	ev->attr.config2 = words[2];
	ev->late[0] = words[3];
	ev->late[1] = words[4];
}

static int apply_format(struct event_text *t, const struct event_term *term,
			const struct pmu_format *format, struct event *ev)
{
	u64 words[PMU_WORDS], v = 1;

	if (!term->value && __builtin_popcountll(format->bits) > 1)
		return bad_value(t, term, "is missing");
	if (term->value && !term_number(term, &v))
		return bad_value(t, term, "is not a number");
	get_words(ev, words);
	if (pmu_format_put(format, v, words) < 0) {
		bad_value(t, term, "is too large");
		err_hint(t->err, "it has %d bits", __builtin_popcountll(format->bits));
		return -EINVAL;
	}
	set_words(ev, words);
	return 0;
}

static int unknown_term(struct event_text *t, const struct event_term *term, const struct pmu *pmu)
{
	_cleanup_buf_ struct buf valid = BUF_INIT;
	struct suggestion near;

	event_fault(t, term->name, "unknown term '%.*s'", (int)MIN(term->n, 100), term->name);
	suggest_init_n(&near, term->name, term->n);
	for (size_t i = 0; pmu && i < pmu->formats.len; i++) {
		buf_addf(&valid, "%s, ", pmu->formats.items[i].name);
		suggest_try(&near, pmu->formats.items[i].name);
	}
	for (size_t i = 0; pmu && i < pmu->aliases.len; i++)
		suggest_try(&near, pmu->aliases.items[i].name);
	for (size_t i = 0; i < ARRAY_SIZE(term_types); i++) {
		buf_addf(&valid, "%s%s", i ? ", " : "", term_types[i].name);
		suggest_try(&near, term_types[i].name);
	}
	if (near.best[0])
		err_hint(t->err, "did you mean '%s'? valid terms: %s", near.best, buf_str(&valid));
	else
		err_hint(t->err, "valid terms: %s", buf_str(&valid));
	return -EINVAL;
}

/* In an alias "name=?" must be given by the user among the other terms. */
static const struct event_term *find_parameter(const struct event_terms *terms,
					       const struct event_term *wanted)
{
	for (size_t i = 0; i < terms->len; i++) {
		const struct event_term *term = &terms->items[i];

		if (term->value && term->n == wanted->n &&
		    memcmp(term->name, wanted->name, term->n) == 0)
			return term;
	}
	return NULL;
}

static int apply_alias_term(struct event_text *t, const struct event_term *term,
			    const struct event_terms *given, const struct pmu *pmu,
			    struct event *ev)
{
	const struct term_type *type = term_type_find(term);
	const struct pmu_format *format = pmu_format_find(pmu, term->name, term->n);

	if (term->value && span_is(term->value, term->value_n, "?")) {
		const struct event_term *param = find_parameter(given, term);

		if (!param)
			return event_fault(t, t->s, "term '%.*s' must be given",
					   (int)MIN(term->n, 100), term->name);
		term = param;
	}
	if (format)
		return apply_format(t, term, format, ev);
	if (type)
		return apply_common(t, term, type, ev);
	return unknown_term(t, term, pmu);
}

/* The text of the alias is kernel-written but parsed with the same care. */
static int apply_alias(struct event_text *t, const struct pmu_alias *alias,
		       const struct event_terms *given, const struct pmu *pmu, struct event *ev)
{
	_cleanup_free_ char *text = xasprintf("/%s/", alias->terms);
	struct event_text inner = { .text = text, .s = text, .err = t->err };
	struct event_terms terms = { .len = 0 };
	int r = event_terms_read(&inner, &terms);

	for (size_t i = 0; r >= 0 && i < terms.len; i++)
		r = apply_alias_term(&inner, &terms.items[i], given, pmu, ev);
	if (r < 0)
		return err_prefix(t->err, "alias '%s'", alias->name);
	free(ev->unit);
	ev->unit = alias->unit ? xstrdup(alias->unit) : NULL;
	ev->scale = alias->scale;
	return 0;
}

/* "cpu/r1a8/" */
static bool term_raw(const struct event_term *term, u64 *ret)
{
	const char *s = term->name + 1;

	return !term->value && term->n >= 2 && term->n <= 17 && term->name[0] == 'r' &&
	       scan_u64(&s, term->name + term->n, 16, ret) && s == term->name + term->n;
}

static int apply_term(struct event_text *t, const struct event_term *term,
		      const struct event_terms *given, const struct pmu *pmu, struct event *ev)
{
	const struct term_type *type = term_type_find(term);
	const struct pmu_format *format = pmu ? pmu_format_find(pmu, term->name, term->n) : NULL;
	const struct pmu_alias *alias =
		pmu && !term->value ? pmu_alias_find(pmu, term->name, term->n) : NULL;
	u64 raw;

	if (alias)
		return apply_alias(t, alias, given, pmu, ev);
	if (format)
		return apply_format(t, term, format, ev);
	if (type)
		return apply_common(t, term, type, ev);
	if (pmu && term_raw(term, &raw)) {
		ev->attr.config = raw;
		return 0;
	}
	const struct event_name *name = event_name_find(term->name, term->n);

	if (pmu && !term->value && name && name->type == pmu->type) {
		ev->attr.config = name->config; /* software/cpu-clock/ */
		return 0;
	}
	return unknown_term(t, term, pmu);
}

/* True for a term that an alias asks for with '?': it was applied there. */
static bool is_parameter(const struct event_term *term, const struct event_terms *given,
			 const struct pmu *pmu)
{
	for (size_t i = 0; pmu && term->value && i < given->len; i++) {
		const struct pmu_alias *alias =
			pmu_alias_find(pmu, given->items[i].name, given->items[i].n);
		_cleanup_free_ char *wanted = xasprintf("%.*s=?", (int)term->n, term->name);

		if (alias && strstr(alias->terms, wanted))
			return true;
	}
	return false;
}

int event_terms_apply(struct event_text *t, const struct event_terms *terms, const struct pmu *pmu,
		      struct event *ev)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < terms->len; i++) {
		if (!is_parameter(&terms->items[i], terms, pmu))
			r = apply_term(t, &terms->items[i], terms, pmu, ev);
	}
	return r;
}
