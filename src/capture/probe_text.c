/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probe_text.h"

#include "base/parse.h"

#include <ctype.h>

void probe_spec_release(struct probe_spec *s)
{
	vec_release(&s->args);
}

static int bad(struct err *e, const char *text, const char *why)
{
	err_set(e, EINVAL, "'%s' is not a probe: %s", text, why);
	err_hint(e, "such as 'func', 'func+8', 'func:3 var', 'file.c:42', 'func%%return $retval'");
	return -EINVAL;
}

/* A word of C, with the dots of names that compilers make. */
static bool is_name(const char *s, bool dots)
{
	if (!*s || isdigit((unsigned char)*s))
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_' && !(dots && *s == '.'))
			return false;
	return true;
}

static bool is_event(const char *s)
{
	return is_name(s, false) && strlen(s) < PROBE_NAME_MOST;
}

/* "GROUP:EVENT=" or "EVENT=" in front; *@text moves past it. */
static int take_event(char **text, struct probe_spec *ret, struct err *e)
{
	char *equal = strchr(*text, '='), *colon;

	if (!equal)
		return 0;
	*equal = 0;
	colon = strchr(*text, ':');
	if (colon) {
		*colon = 0;
		ret->group = *text;
		*text = colon + 1;
	}
	ret->event = *text;
	*text = equal + 1;
	if (!is_event(ret->event) || (ret->group && !is_event(ret->group)))
		return bad(e, ret->event, "names of events are words of letters, digits and _");
	return 0;
}

static int take_number(const char *text, int base, u64 most, u64 *ret)
{
	const char *end = text + strlen(text);

	if (base == 16 && starts_with(text, "0x"))
		text += 2;
	return text < end && scan_u64(&text, end, base, ret) && text == end && *ret <= most
		       ? 0
		       : -EINVAL;
}

static int take_line(const char *text, struct probe_spec *ret)
{
	u64 line;

	if (take_number(text, 10, 1u << 30, &line) < 0)
		return -EINVAL;
	ret->line = (u32)line;
	ret->has_line = true;
	return 0;
}

/* The last of "+OFFSET", ":LINE", "%return"; the name before them may have an "@FILE". */
static int take_place(char *text, struct probe_spec *ret, struct err *e)
{
	char *percent = strchr(text, '%'), *plus = strchr(text, '+'), *colon = strchr(text, ':');
	char *at;

	if (strchr(text, ';')) {
		(void)bad(e, text, "patterns of source lines are missing here");
		err_hint(e, "'fathom probe --line FUNC | grep PATTERN' has their numbers, for "
			    "'FUNC:LINE'");
		return -EINVAL;
	}
	if (percent && !streq(percent, "%return"))
		return bad(e, text, "only '%return' may follow a function");
	if (percent) {
		ret->ret = true;
		*percent = 0;
	}
	if (plus) {
		*plus = 0;
		if (take_number(plus + 1, starts_with(plus + 1, "0x") ? 16 : 10, 1u << 30,
				&ret->offset) < 0)
			return bad(e, text, "the offset is not a number");
	}
	if (colon) {
		*colon = 0;
		if (take_line(colon + 1, ret) < 0)
			return bad(e, text, "the line is not a number");
	}
	at = strchr(text, '@');
	if (at) {
		*at = 0;
		ret->file = at + 1;
	}
	if (is_name(text, false) || (is_name(text, true) && !ret->has_line))
		ret->func = text;
	else if (ret->has_line && *text && !at)
		ret->file = text;
	else
		return bad(e, text, "no function and no line of a file");
	return 0;
}

static int take_arg(char *text, struct probe_spec *ret, struct err *e)
{
	struct probe_arg a = { 0 };
	char *equal = strchr(text, '='), *colon;

	if (equal) {
		*equal = 0;
		a.name = text;
		text = equal + 1;
		if (!is_event(a.name))
			return bad(e, a.name, "names of arguments are words");
	}
	colon = strrchr(text, ':');
	if (colon) {
		*colon = 0;
		a.type = colon + 1;
		if (!*a.type)
			return bad(e, text, "no type follows the colon");
	}
	a.expr = text;
	a.all = streq(text, "$vars") || streq(text, "$params");
	if (a.all && (a.name || a.type))
		return bad(e, text, "neither a name nor a type is for several variables");
	a.is_variable = a.all || isalpha((unsigned char)*text) || *text == '_';
	if (!*text || (!a.is_variable && !strchr("%$@+-\\", *text)))
		return bad(e, text, "the argument is neither a variable nor a register");
	if (ret->args.len == PROBE_ARGS_MOST)
		return bad(e, text, "there are too many arguments");
	vec_push(&ret->args, a);
	return 0;
}

int probe_parse(const char *text, struct arena *arena, struct probe_spec *ret, struct err *e)
{
	char *copy = arena_strndup(arena, text, strlen(text)), *save = NULL;
	char *word = strtok_r(copy, " \t\n", &save);
	int r;

	*ret = (struct probe_spec){ 0 };
	if (!word)
		return bad(e, text, "it is empty");
	r = take_event(&word, ret, e);
	if (r >= 0)
		r = take_place(word, ret, e);
	while (r >= 0 && (word = strtok_r(NULL, " \t\n", &save)))
		r = take_arg(word, ret, e);
	if (r < 0)
		probe_spec_release(ret);
	return r;
}

int probe_parse_lines(const char *text, struct arena *arena, struct probe_spec *ret, u32 *ret_to,
		      struct err *e)
{
	char *copy = arena_strndup(arena, text, strlen(text)), *colon = strchr(copy, ':');
	char *dash = colon ? strchr(colon, '-') : NULL;
	u64 to = 0;

	*ret_to = 0;
	/* as perf: a name with a dot is a file, and all of it is shown */
	if (!colon && !strchr(copy, '@') && strpbrk(copy, "./"))
		copy = arena_printf(arena, "%s:1", copy);
	if (dash) {
		*dash = 0;
		if (take_number(dash + 1, 10, 1u << 30, &to) < 0)
			return bad(e, text, "the last line is not a number");
		*ret_to = (u32)to;
	}
	return probe_parse(copy, arena, ret, e);
}
