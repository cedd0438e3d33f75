/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rung of a script's ladder is used: conditions that ask the kernel, decided before anything
 * is parsed.
 *
 *	#if has_probe("rawtracepoint:block_io_start")
 *	#elif has_probe("fentry:blk_account_io_start") && !opt("queue")
 *	#note the time in the queue is not known
 *	#else
 *	#error the kernel has no tracepoint of block devices
 *	#endif
 *
 * A condition becomes 1 or 0 in place; the directives of the language do the rest. Conditions of
 * branches that are not checked are not tried: that would cost time.
 */
#include "base/io.h"
#include "lang/comp.h"
#include "lang/probe/provider.h"

enum { CHOOSE_DEPTH = 64, CHOOSE_NESTING = 16 };

struct level {
	bool outer; /* what surrounds it counts */
	bool taken; /* one of its branches counts, or did */
	bool active;
};

struct chooser {
	struct comp *c;
	struct level levels[CHOOSE_DEPTH];
	u32 depth;
	const char *at; /* in a condition */
	const char *end;
	u32 nesting;
	bool ours;   /* the condition asks something of us */
	bool failed; /* it was reported */
};

static struct span_at span(const struct chooser *x, const char *from, const char *to)
{
	return (struct span_at){ (u32)(from - x->c->src.text), (u32)(to - x->c->src.text) };
}

static void refuse(struct chooser *x, const char *what)
{
	if (!x->failed)
		diag_error(&x->c->diags, span(x, x->at, MIN(x->at + 1, x->end)), "%s", what);
	x->failed = true;
}

static void blanks(struct chooser *x)
{
	while (x->at < x->end && (*x->at == ' ' || *x->at == '\t'))
		x->at++;
}

static bool accept(struct chooser *x, const char *word)
{
	size_t n = strlen(word);

	blanks(x);
	if ((size_t)(x->end - x->at) < n || memcmp(x->at, word, n) != 0)
		return false;
	x->at += n;
	return true;
}

/* $1 and $2 in the name of a probe are the first parameters, as in the program. */
static const char *with_parameters(struct comp *c, const char *s, size_t n)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		size_t number = s[i] == '$' && i + 1 < n && s[i + 1] >= '1' && s[i + 1] <= '2'
					? (size_t)(s[i + 1] - '0')
					: 0;

		if (number && number <= c->opts->n_params) {
			buf_addstr(&out, c->opts->params[number - 1]);
			i++;
		} else {
			buf_addch(&out, s[i]);
		}
	}
	return arena_strdup(&c->arena, buf_str(&out));
}

static const char *quoted(struct chooser *x)
{
	const char *start, *close;

	if (!accept(x, "\"")) {
		refuse(x, "expected a text in quotes here");
		return "";
	}
	start = x->at;
	close = memchr(start, '"', (size_t)(x->end - start));
	if (!close) {
		refuse(x, "the text has no end");
		return "";
	}
	x->at = close + 1;
	return with_parameters(x->c, start, (size_t)(close - start));
}

/* Raw tracepoints are not listed anywhere but in the kernel's types. */
static bool has_typed_tracepoint(struct comp *c, const char *name)
{
	struct kbtf *btf = types_btf(&c->types);

	return btf &&
	       kbtf_find(btf, BTF_KIND_TYPEDEF, arena_printf(&c->arena, "btf_trace_%s", name));
}

/* Tried as if it were used, and forgotten again. */
static bool has_probe(struct comp *c, const char *text)
{
	struct spec s = { .text = text };
	size_t len = strcspn(text, ":"), before = c->targets.len;
	const struct provider *p = provider_find(text, len);
	bool mute = c->diags.mute, found;

	if (!p || !text[len])
		return false;
	c->diags.mute = true;
	p->expand(c, p, &s, text + len + 1);
	c->diags.mute = mute;
	found = c->targets.len > before;
	if (found && (p == &probe_kprobe || p == &probe_kretprobe || p == &probe_fentry ||
		      p == &probe_fexit))
		found = probe_kernel_possible(c, c->targets.items[before].event);
	if (found && p == &probe_hardware)
		found = io_exists("/sys/bus/event_source/devices/cpu") ||
			io_exists("/sys/bus/event_source/devices/cpu_core");
	if (found && p == &probe_rawtracepoint)
		found = has_typed_tracepoint(c, text + len + 1);
	c->targets.len = before;
	return found;
}

static bool has_field(struct comp *c, const char *type, const char *name)
{
	const struct type *t = type_by_btf_name(&c->types, type, SPACE_KERNEL);
	struct field f;

	if (!t || !name)
		return t;
	return type_field(&c->types, t, name, &f);
}

static bool option_given(const struct comp *c, const char *name, const char *value)
{
	const char *text = comp_parameter(c, name);

	if (value)
		return text && streq(text, value);
	return text && !streq(text, "0") && !streq(text, "false");
}

/* has_probe("x"), has_type("x"), has_symbol("x"), has_field("x", "y"), opt("x"), opt("x", "value")
 */
static bool call(struct chooser *x, bool *ret)
{
	static const char *const names[] = { "has_probe", "has_type", "has_field", "opt",
					     "has_symbol" };
	const char *first, *second = NULL;
	size_t i = 0;

	while (i < ARRAY_SIZE(names) && !accept(x, names[i]))
		i++;
	if (i == ARRAY_SIZE(names))
		return false;
	x->ours = true;
	if (!accept(x, "("))
		refuse(x, "expected '(' here");
	first = quoted(x);
	if (accept(x, ","))
		second = quoted(x);
	if (!accept(x, ")"))
		refuse(x, "expected ')' here");
	*ret = !x->failed && (i == 0   ? has_probe(x->c, first)
			      : i == 3 ? option_given(x->c, first, second)
			      : i == 4 ? comp_kernel_symbol(first)
				       : has_field(x->c, first, second));
	return true;
}

static bool either(struct chooser *x);

static bool one(struct chooser *x)
{
	bool value = true;

	if (++x->nesting > CHOOSE_NESTING) {
		refuse(x, "the condition is nested too deeply");
	} else if (accept(x, "!")) {
		value = !one(x);
	} else if (accept(x, "(")) {
		value = either(x);
		if (!accept(x, ")"))
			refuse(x, "expected ')' here");
	} else if (accept(x, "0")) {
		value = false;
	} else if (!accept(x, "1") && !call(x, &value)) {
		/* defined(X) and the like are decided by the parser */
		x->at = x->end;
	}
	x->nesting--;
	return value;
}

static bool both(struct chooser *x)
{
	bool value = one(x);

	while (!x->failed && accept(x, "&&"))
		value = one(x) && value;
	return value;
}

static bool either(struct chooser *x)
{
	bool value = both(x);

	while (!x->failed && accept(x, "||"))
		value = both(x) || value;
	return value;
}

/* Writes what came out over the condition. */
static bool decide(struct chooser *x, char *start, char *end)
{
	bool value;

	x->at = start;
	x->end = end;
	x->ours = x->failed = false;
	value = either(x);
	blanks(x);
	if (x->ours && x->at < x->end)
		refuse(x, "expected '&&' or '||' here");
	if (!x->ours)
		return true;
	memset(start, ' ', (size_t)(end - start));
	start[0] = value ? '1' : '0';
	return value;
}

static bool is_active(const struct chooser *x)
{
	return !x->depth || x->levels[x->depth - 1].active;
}

static void begin(struct chooser *x, char *start, char *end)
{
	struct level l = { .outer = is_active(x) };

	if (x->depth == CHOOSE_DEPTH)
		return; /* the parser says so */
	l.active = l.taken = l.outer && decide(x, start, end);
	x->levels[x->depth++] = l;
}

static void otherwise(struct chooser *x, char *start, char *end, bool asks)
{
	struct level *l = x->depth ? &x->levels[x->depth - 1] : NULL;

	if (!l)
		return;
	if (l->taken || !l->outer) {
		l->active = false;
		if (asks && start < end) {
			memset(start, ' ', (size_t)(end - start));
			start[0] = '0';
		}
		return;
	}
	l->active = l->taken = !asks || decide(x, start, end);
}

static void say(struct chooser *x, const char *start, const char *end, bool error)
{
	char *text = arena_strndup(&x->c->arena, start, (size_t)(end - start));

	if (!is_active(x))
		return;
	if (!error)
		vec_push(&x->c->notes, text);
	else if (!x->c->refused)
		x->c->refused = text;
}

static void directive(struct chooser *x, char *line, char *end)
{
	char *word = line + 1, *rest;
	size_t n;

	while (word < end && (*word == ' ' || *word == '\t'))
		word++;
	for (rest = word; rest < end && *rest >= 'a' && *rest <= 'z';)
		rest++;
	n = (size_t)(rest - word);
	while (rest < end && (*rest == ' ' || *rest == '\t'))
		rest++;
#define IS(text) (n == strlen(text) && memcmp(word, text, n) == 0)
	if (IS("if") || IS("ifdef") || IS("ifndef"))
		begin(x, rest, IS("if") ? end : rest);
	else if (IS("elif") || IS("else"))
		otherwise(x, rest, end, IS("elif"));
	else if (IS("endif") && x->depth)
		x->depth--;
	else if (IS("note") || IS("error"))
		say(x, rest, end, IS("error"));
#undef IS
}

void comp_choose(struct comp *c)
{
	struct chooser x = { .c = c };
	char *line = (char *)(uintptr_t)c->src.text, *end = line + c->src.len, *next;

	for (; line < end; line = next) {
		char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		next = stop + 1;
		if (*line == '#')
			directive(&x, line, stop);
	}
}
