/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/table.h"

#include "base/buf.h"

/* Output formats do not apply to a command that has a format of its own. */
static bool is_hidden(const struct command *cmd, const struct opt *o, bool common)
{
	return (o->flags & OPT_HIDDEN) ||
	       (common && cmd && cmd->only_form && (o->flags & OPT_RESULT));
}

/* A command that takes a peer's command line may have another use for the name of a form. */
static bool is_taken(const opt_refs *refs, const struct opt *o)
{
	for (size_t i = 0; (o->flags & OPT_RESULT) && i < refs->len; i++) {
		const struct opt *other = refs->items[i].opt;

		if ((other->flags & OPT_INSTEAD) &&
		    (streq(other->name, o->name) ||
		     (o->short_name && other->short_name == o->short_name)))
			return true;
	}
	return false;
}

static void collect(const struct command *cmd, const struct opt *table, size_t base, bool common,
		    int depth, opt_refs *ret)
{
	for (const struct opt *o = table; o && o->type; o++) {
		if (common && is_taken(ret, o))
			continue;
		if (o->type != OPT_INCLUDE)
			vec_push(ret, (struct opt_ref){ .opt = o,
							.base = base,
							.common = common,
							.hidden = is_hidden(cmd, o, common) });
		else if (depth < OPT_INCLUDE_DEPTH)
			collect(cmd, o->include, base + o->offset, common, depth + 1, ret);
	}
}

void opts_collect(const struct command *cmd, opt_refs *ret)
{
	opt_refs refs = { 0 };

	if (cmd)
		collect(cmd, cmd->options, 0, false, 0, &refs);
	collect(cmd, common_options, 0, true, 0, &refs);
	*ret = refs;
}

bool opts_group_begins(const opt_refs *refs, size_t i)
{
	const char *group = opt_group(refs->items[i].opt);

	if (refs->items[i].hidden)
		return false;
	for (size_t k = 0; k < i; k++)
		if (!refs->items[k].hidden && streq(opt_group(refs->items[k].opt), group))
			return false;
	return true;
}

const char *opt_group(const struct opt *o)
{
	return o->group ? o->group : "Options";
}

bool opt_takes_value(const struct opt *o)
{
	return o->type != OPT_FLAG && o->type != OPT_COUNT && o->type != OPT_NAME;
}

void opt_arg_name(const struct opt *o, struct buf *out)
{
	if (o->arg) {
		buf_addstr(out, o->arg);
	} else if (o->type == OPT_CHOICE && o->choices) {
		for (const char *const *c = o->choices; *c; c++)
			buf_addf(out, "%s%s", c == o->choices ? "" : "|", *c);
	} else {
		buf_addstr(out, value_arg_name(o->type));
	}
}

void opt_label(const struct opt *o, struct buf *out)
{
	if (o->name)
		buf_addf(out, "--%s", o->name);
	else
		buf_addf(out, "-%c", o->short_name);
}

bool word_next(const char **list, char *ret, size_t size)
{
	const char *s = *list;
	size_t n;

	if (!s)
		return false;
	s += strspn(s, " ");
	n = strcspn(s, " ");
	*list = s + n;
	if (!n)
		return false;
	snprintf(ret, size, "%.*s", (int)MIN(n, size - 1), s);
	return true;
}

void opt_names_init(struct opt_names *it, const struct opt *o)
{
	*it = (struct opt_names){ .opt = o, .aliases = o->alias };
}

static bool negatable(const struct opt *o)
{
	return o->type == OPT_FLAG && (o->flags & OPT_NEGATABLE);
}

/* Turns "x" into "no-x" and "no-x" into "x". */
static void negate(char *name, size_t size)
{
	const char *rest = starts_with(name, "no-");
	char copy[OPT_NAME_MAX];

	snprintf(copy, sizeof(copy), "%s", rest ? rest : name);
	snprintf(name, size, "%s%.*s", rest ? "" : "no-", OPT_NAME_MAX - 4, copy);
}

bool opt_names_next(struct opt_names *it)
{
	if (it->negation_due) {
		negate(it->text, sizeof(it->text));
		it->negation_due = false;
		it->negated = true;
		return true;
	}
	it->negated = false;
	if (!it->begun) {
		it->begun = true;
		if (it->opt->name) {
			snprintf(it->text, sizeof(it->text), "%s", it->opt->name);
			it->negation_due = negatable(it->opt);
			return true;
		}
	}
	it->alias = true;
	if (!word_next(&it->aliases, it->text, sizeof(it->text)))
		return false;
	it->negation_due = negatable(it->opt);
	return true;
}
