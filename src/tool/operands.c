/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the operands of a tool mean: as in bcc, numbers are intervals, words are values of options.
 */
#include "tool/operands.h"

#include "base/parse.h"
#include "lang/front/header.h"

#include <limits.h>

static bool is_number(const char *text)
{
	return (*text >= '0' && *text <= '9') || *text == '.';
}

/* bcc's tools take milliseconds. */
static int take_min(struct tool_args *a, const char *text, struct err *e)
{
	double ms;

	if (parse_double(text, &ms, NULL) < 0)
		return parse_duration(text, &a->min, e);
	if (!(ms >= 0 && ms < 1e12))
		return err_set(e, EINVAL, "'%s' is not a number of milliseconds", text);
	a->min = (u64)(ms * NSEC_PER_MSEC);
	return 0;
}

/* The option that the header names for operands; false: none, or it wants a number. */
static int take_option(const struct tool_header *h, struct tool_args *a, const char *text,
		       struct err *e)
{
	for (size_t i = 0; i < h->options.len; i++) {
		const struct tool_option *o = &h->options.items[i];

		if (!streq(o->name, h->operand))
			continue;
		if (o->kind != OPTION_STRING)
			return parse_u64(text, &a->values[i], e);
		memcpy(&a->values[i], &text, sizeof(text));
	}
	return 0;
}

/* Disks and terminals have the same name with and without their folder. */
static void cut_dev(const struct tool_header *h, struct tool_args *a)
{
	static const char dev[] = "/dev/";

	for (size_t i = 0; i < h->options.len; i++) {
		const char *text;

		if (h->options.items[i].kind != OPTION_STRING ||
		    !(streq(h->options.items[i].name, "disk") ||
		      streq(h->options.items[i].name, "tty")))
			continue;
		memcpy(&text, &a->values[i], sizeof(text));
		if (text && strncmp(text, dev, sizeof(dev) - 1) == 0)
			text += sizeof(dev) - 1;
		memcpy(&a->values[i], &text, sizeof(text));
	}
}

static bool is_choice(const char *choices, const char *text)
{
	size_t n = strlen(text);

	for (const char *c = choices; c && *c; c += strcspn(c, "|"), c += *c == '|')
		if (strcspn(c, "|") == n && memcmp(c, text, n) == 0)
			return true;
	return false;
}

/* 'dbslower mysql': the word names its option. */
static bool take_choice(const struct tool_header *h, struct tool_args *a, const char *text)
{
	for (size_t i = 0; i < h->options.len; i++) {
		const struct tool_option *o = &h->options.items[i];

		if (o->kind != OPTION_CHOICE || !is_choice(o->choices, text))
			continue;
		memcpy(&a->values[i], &text, sizeof(text));
		return true;
	}
	return false;
}

static int take_interval(const char *text, u64 *interval, struct err *e)
{
	int rc = parse_duration(text, interval, e);

	return rc == 0 && !*interval ? err_set(e, EINVAL, "the interval is 0") : rc;
}

/* 'deadlock 1234': the process, where a program would stand. */
static int take_pid(struct context *ctx, struct tool_args *a)
{
	char **words = ctx->program;
	u64 pid;

	if (!words || words[1] || a->pids.len || parse_u64(words[0], &pid, NULL) < 0 || !pid)
		return 0;
	ctx->program = NULL;
	return parse_ranges(words[0], INT_MAX, &a->pids, &ctx->err);
}

static int take_operand(const struct tool *t, struct tool_args *a, const char *text, size_t *seen,
			u64 *interval, u64 *rounds, struct err *e)
{
	const struct tool_header *h = &t->header;

	if (!is_number(text) && take_choice(h, a, text))
		return 0;
	if (h->operand && streq(h->operand, "min"))
		return take_min(a, text, e);
	if (h->operand && (tool_streams(t) || !is_number(text)))
		return take_option(h, a, text, e);
	return (*seen)++ ? parse_u64(text, rounds, e) : take_interval(text, interval, e);
}

int operands_take(struct context *ctx, const struct tool *t, struct tool_args *a, u64 *interval,
		  u64 *rounds)
{
	size_t seen = 0;
	int rc = 0;

	*interval = a->interval ? a->interval : t->header.interval;
	if (a->json)
		ctx->common.format = "json";
	if (t->header.user_process)
		rc = take_pid(ctx, a);
	vec_each(word, &ctx->operands)
		if (rc == 0)
			rc = take_operand(t, a, *word, &seen, interval, rounds, &ctx->err);
	cut_dev(&t->header, a);
	return rc;
}
