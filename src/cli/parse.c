/* SPDX-License-Identifier: GPL-2.0-or-later */
/* argv to struct, by table. */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/suggest.h"
#include "cli/table.h"

struct parser {
	const struct command *cmd;
	struct context *ctx;
	void *args;
	struct err *e;
	opt_refs refs;
	int argc;
	int at; /* the next word to look at */
	char **argv;
	bool program_begun;
};

/* What a long name on the command line stands for. */
struct match {
	struct opt_ref *ref;
	bool negated;
	char name[OPT_NAME_MAX]; /* in full */
};

static void *field_of(const struct parser *p, const struct opt_ref *ref, size_t offset)
{
	char *base = ref->common ? (char *)&p->ctx->common : p->args;

	return base + ref->base + offset;
}

static void set_given(const struct parser *p, struct opt_ref *ref)
{
	ref->given = true;
	if (ref->opt->given_offset)
		*(bool *)field_of(p, ref, ref->opt->given_offset) = true;
}

static void hint_help(const struct parser *p)
{
	err_hint(p->e, "'fathom %s --help' lists the options", p->cmd->name);
}

static int store(const struct parser *p, struct opt_ref *ref, const char *shown, const char *text)
{
	int r = value_store(ref->opt, field_of(p, ref, ref->opt->offset), text, p->e);

	if (r < 0)
		return err_prefix(p->e, "option '%s'", shown);
	set_given(p, ref);
	return 0;
}

static void store_plain(const struct parser *p, struct opt_ref *ref, bool on)
{
	void *field = field_of(p, ref, ref->opt->offset);

	if (ref->opt->type == OPT_COUNT)
		++*(int *)field;
	else if (ref->opt->type == OPT_NAME)
		*(const char **)field = ref->opt->name;
	else
		*(bool *)field = on;
	set_given(p, ref);
}

static int missing_value(const struct parser *p, const struct opt *o, const char *shown)
{
	_cleanup_buf_ struct buf arg = BUF_INIT;

	opt_arg_name(o, &arg);
	err_set(p->e, EINVAL, "option '%s' needs a value", shown);
	err_hint(p->e, "write %s%s%s", shown, shown[1] == '-' ? "=" : " ", buf_str(&arg));
	return -EINVAL;
}

static int refuse(const struct parser *p, const struct opt *o, const char *shown)
{
	err_set(p->e, EINVAL, "option '%s' of other tools is missing here", shown);
	err_hint(p->e, "%s", o->instead);
	return -EINVAL;
}

static bool is_known_long(const struct parser *p, const char *word)
{
	size_t n = strcspn(word, "=");

	vec_each(ref, &p->refs) {
		struct opt_names it;

		opt_names_init(&it, ref->opt);
		while (opt_names_next(&it))
			if (strlen(it.text) == n && strncmp(it.text, word, n) == 0)
				return true;
	}
	return false;
}

bool cli_is_operand(const char *typed, const char *word)
{
	enum { ENOUGH = 3 };

	return strlen(typed) >= ENOUGH && starts_with(word, typed);
}

static struct opt_ref *find_short(const struct parser *p, char c)
{
	const char *operand = p->ctx->operands.len ? p->ctx->operands.items[0] : "";
	struct opt_ref *found = NULL;

	vec_each(ref, &p->refs) {
		const char *after = ref->opt->after;

		if (ref->opt->short_name != c)
			continue;
		if (after && cli_is_operand(operand, after))
			return ref;
		if (!after)
			found = ref;
	}
	return found;
}

/* "--json", "-j", "--". */
static bool is_option(const struct parser *p, const char *word)
{
	const char *name = starts_with(word, "--");

	if (name)
		return !*name || is_known_long(p, name);
	return word[0] == '-' && word[1] && !word[2] && find_short(p, word[1]);
}

/*
 * An optional value is after '='. Where it is one of a few words, and the next word is one of
 * them, it is meant: "report -g caller" as perf's users type it.
 */
static int store_optional(struct parser *p, struct opt_ref *ref, const char *shown)
{
	const char *word = p->at < p->argc ? p->argv[p->at] : NULL;
	const char *const *choice = ref->opt->choices;
	size_t n = word ? strcspn(word, ",") : 0;

	for (; word && choice && *choice; choice++) {
		if (strlen(*choice) == n && memcmp(word, *choice, n) == 0) {
			p->at++;
			return store(p, ref, shown, word);
		}
	}
	return store(p, ref, shown, ref->opt->implied);
}

/*
 * The word after an option that needs a value. Any word will do, a negative number or "-" too,
 * but another option in its place means that the value was forgotten.
 */
static int store_next(struct parser *p, struct opt_ref *ref, const char *shown)
{
	const char *word = p->at < p->argc ? p->argv[p->at] : NULL;

	if (!word || is_option(p, word))
		return missing_value(p, ref->opt, shown);
	p->at++;
	return store(p, ref, shown, word);
}

/* Finds what @typed is a name, or the only possible beginning of a name, of. */
struct search {
	const char *typed;
	size_t len;
	bool hidden; /* look among the hidden ones too */
	size_t found;
	struct match match;
	struct buf *all; /* every name that fits, for the message */
};

static bool search_option(struct search *s, struct opt_ref *ref)
{
	struct opt_names it;

	opt_names_init(&it, ref->opt);
	while (opt_names_next(&it)) {
		bool exact = strlen(it.text) == s->len;

		if (strncmp(it.text, s->typed, s->len) != 0)
			continue;
		if (!exact && ref->hidden && !s->hidden)
			continue;
		/* color and colour are the same option */
		if (!exact && s->found && s->match.ref == ref && s->match.negated == it.negated)
			continue;
		buf_addf(s->all, "%s--%s", s->found++ ? ", " : "", it.text);
		s->match.ref = ref;
		s->match.negated = it.negated;
		snprintf(s->match.name, sizeof(s->match.name), "%s", it.text);
		if (exact) {
			s->found = 1;
			return true;
		}
	}
	return false;
}

static void search_all(const struct parser *p, struct search *s)
{
	for (int hidden = 0; hidden < 2; hidden++) {
		s->hidden = hidden;
		s->found = 0;
		buf_reset(s->all);
		vec_each(ref, &p->refs)
			if (search_option(s, ref))
				return;
		if (s->found)
			return;
	}
}

static int unknown_long(const struct parser *p, const char *typed)
{
	struct suggestion s;

	suggest_init(&s, typed);
	vec_each(ref, &p->refs) {
		struct opt_names it;

		if (ref->hidden)
			continue;
		opt_names_init(&it, ref->opt);
		while (opt_names_next(&it))
			suggest_try(&s, it.text);
	}
	err_set(p->e, EINVAL, "unknown option '--%s'", typed);
	if (*s.best)
		err_hint(p->e, "did you mean '--%s'?", s.best);
	else
		hint_help(p);
	return -EINVAL;
}

static int find_long(const struct parser *p, const char *typed, struct match *ret)
{
	_cleanup_buf_ struct buf all = BUF_INIT;
	char american[OPT_NAME_MAX];
	struct search s = { .typed = typed, .len = strlen(typed), .all = &all };

	if (s.len)
		search_all(p, &s);
	if (!s.found && suggest_american(typed, american, sizeof(american))) {
		s.typed = american;
		s.len = strlen(american);
		search_all(p, &s);
	}
	if (!s.found)
		return unknown_long(p, typed);
	if (s.found > 1) {
		err_set(p->e, EINVAL, "option '--%s' could be %s", typed, buf_str(&all));
		err_hint(p->e, "write more of its name");
		return -EINVAL;
	}
	*ret = s.match;
	return 0;
}

static int parse_long(struct parser *p, const char *word)
{
	_cleanup_free_ char *typed = xstrndup(word, strcspn(word, "="));
	const char *value = strchr(word, '=');
	char shown[OPT_NAME_MAX + 2];
	struct match m;
	int r = find_long(p, typed, &m);

	if (r < 0)
		return r;
	snprintf(shown, sizeof(shown), "--%s", m.name);
	if (m.ref->opt->instead)
		return refuse(p, m.ref->opt, shown);
	if (!opt_takes_value(m.ref->opt)) {
		if (value) {
			err_set(p->e, EINVAL, "option '%s' takes no value", shown);
			err_hint(p->e, "write %s alone", shown);
			return -EINVAL;
		}
		store_plain(p, m.ref, !m.negated);
		return 0;
	}
	if (value)
		return store(p, m.ref, shown, value + 1);
	if (m.ref->opt->flags & OPT_OPTIONAL)
		return store_optional(p, m.ref, shown);
	return store_next(p, m.ref, shown);
}

/* The one option that begins with the letter and has none of its own; NULL: none, or several. */
static const char *long_only(const struct parser *p, char c)
{
	const char *found = NULL;

	vec_each(ref, &p->refs) {
		const struct opt *o = ref->opt;

		if (ref->hidden || o->short_name || !o->name || o->name[0] != c)
			continue;
		if (found)
			return NULL;
		found = o->name;
	}
	return found;
}

static int unknown_short(const struct parser *p, const char *group, char c)
{
	bool alone = group[1] == '\0';
	const char *name = long_only(p, c);

	if (alone)
		err_set(p->e, EINVAL, "unknown option '-%c'", c);
	else
		err_set(p->e, EINVAL, "unknown option '-%c' in '-%s'", c, group);
	/* -json is how other tools spell --json */
	if (!alone && is_known_long(p, group))
		err_hint(p->e, "did you mean '--%s'?", group);
	else if (name)
		err_hint(p->e, "did you mean '--%s'?", name);
	else
		hint_help(p);
	return -EINVAL;
}

/* "-abc", "-F99", "-F 99": letters until one of them takes the rest as its value. */
static int parse_short(struct parser *p, const char *group)
{
	for (const char *c = group; *c; c++) {
		struct opt_ref *ref = find_short(p, *c);
		const char shown[] = { '-', *c, '\0' };

		if (!ref)
			return unknown_short(p, group, *c);
		if (ref->opt->instead)
			return refuse(p, ref->opt, shown);
		if (opt_takes_value(ref->opt)) {
			if (c[1])
				return store(p, ref, shown, c + 1 + (c[1] == '=' && c[2]));
			if (ref->opt->flags & OPT_OPTIONAL)
				return store_optional(p, ref, shown);
			return store_next(p, ref, shown);
		}
		store_plain(p, ref, true);
	}
	return 0;
}

static void hint_usage(const struct parser *p)
{
	err_hint(p->e, "usage: fathom %s [options]%s%s%s", p->cmd->name,
		 p->cmd->operands ? " " : "", p->cmd->operands ? p->cmd->operands : "",
		 p->cmd->takes_program ? " [--] [program [args]]" : "");
}

static int take_operand(struct parser *p, const char *word)
{
	if (p->ctx->operands.len < p->cmd->max_operands) {
		vec_push(&p->ctx->operands, word);
		return 0;
	}
	if (p->cmd->takes_program) {
		p->ctx->program = p->argv + p->at - 1;
		p->program_begun = true;
		return 0;
	}
	err_set(p->e, EINVAL, "unexpected operand '%s'", word);
	hint_usage(p);
	return -EINVAL;
}

/* Everything after "--". */
static int take_rest(struct parser *p)
{
	if (p->cmd->takes_program) {
		if (p->at == p->argc) {
			err_set(p->e, EINVAL, "no program follows '--'");
			hint_usage(p);
			return -EINVAL;
		}
		p->ctx->program = p->argv + p->at;
		p->program_begun = true;
		return 0;
	}
	while (p->at < p->argc) {
		int r = take_operand(p, p->argv[p->at++]);

		if (r < 0)
			return r;
	}
	return 0;
}

static int parse_words(struct parser *p)
{
	while (p->at < p->argc && !p->program_begun && !p->ctx->common.help) {
		const char *word = p->argv[p->at++];
		int r;

		if (streq(word, "--"))
			return take_rest(p);
		if (word[0] == '-' && word[1] == '-')
			r = parse_long(p, word + 2);
		else if (word[0] == '-' && word[1])
			r = parse_short(p, word + 1);
		else
			r = take_operand(p, word);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_operands(const struct parser *p)
{
	if (p->ctx->operands.len >= p->cmd->min_operands)
		return 0;
	const char *wanted = p->cmd->operands ? p->cmd->operands : "an operand";
	const char *optional = strstr(wanted, " [");

	err_set(p->e, EINVAL, "'%s' needs %.*s", p->cmd->name,
		(int)(optional ? optional - wanted : (ptrdiff_t)strlen(wanted)), wanted);
	if (p->cmd->examples && p->cmd->examples->line)
		err_hint(p->e, "for example: %s", p->cmd->examples->line);
	else
		hint_usage(p);
	return -EINVAL;
}

static int check_conflict(const struct parser *p, const struct opt_ref *ref, const char *name)
{
	_cleanup_buf_ struct buf label = BUF_INIT;

	vec_each(other, &p->refs) {
		if (other == ref || !other->given || !other->opt->name ||
		    !streq(other->opt->name, name))
			continue;
		opt_label(ref->opt, &label);
		err_set(p->e, EINVAL, "%s and --%s cannot be used together", buf_str(&label), name);
		err_hint(p->e, "give only one of them");
		return -EINVAL;
	}
	return 0;
}

/* The field holds the name that was given last. */
static int check_names(const struct parser *p, const struct opt_ref *ref)
{
	const char *last;

	if (ref->opt->type != OPT_NAME || !ref->given)
		return 0;
	last = *(const char **)field_of(p, ref, ref->opt->offset);
	return streq(last, ref->opt->name) ? 0 : check_conflict(p, ref, last);
}

static int check_conflicts(const struct parser *p)
{
	vec_each(ref, &p->refs) {
		const char *list = ref->opt->conflicts;
		char name[OPT_NAME_MAX];

		if (check_names(p, ref) < 0)
			return -EINVAL;
		while (ref->given && word_next(&list, name, sizeof(name))) {
			int r = check_conflict(p, ref, name);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* A field may belong to several options (a peer's name for the same thing). */
static bool field_given(const struct parser *p, const void *field)
{
	vec_each(ref, &p->refs)
		if (ref->given && field_of(p, ref, ref->opt->offset) == field)
			return true;
	return false;
}

/* After the words, so that a list that was given replaces its default. */
static int apply_defaults(const struct parser *p)
{
	vec_each(ref, &p->refs) {
		void *field = field_of(p, ref, ref->opt->offset);
		int r;

		if (!ref->opt->def || field_given(p, field))
			continue;
		r = value_store(ref->opt, field, ref->opt->def, p->e);
		if (r < 0)
			return err_prefix(p->e, "default of option '--%s'",
					  ref->opt->name ? ref->opt->name : "?");
	}
	return 0;
}

static int parse_all(struct parser *p)
{
	int r = parse_words(p);

	if (r < 0 || p->ctx->common.help)
		return r;
	r = check_operands(p);
	if (r < 0)
		return r;
	r = check_conflicts(p);
	if (r < 0)
		return r;
	return apply_defaults(p);
}

int cli_parse(const struct command *cmd, int argc, char **argv, struct context *ctx, void *args,
	      struct err *e)
{
	struct parser p = {
		.cmd = cmd, .ctx = ctx, .args = args, .e = e, .argc = argc, .argv = argv, .at = 1
	};
	int r;

	ctx->command = cmd;
	if (cmd->args_size)
		memset(args, 0, cmd->args_size);
	opts_collect(cmd, &p.refs);
	r = parse_all(&p);
	vec_release(&p.refs);
	return r;
}

void cli_args_release(const struct command *cmd, struct context *ctx, void *args)
{
	opt_refs refs;

	if (cmd->release)
		cmd->release(args);
	opts_collect(cmd, &refs);
	vec_each(ref, &refs)
		if (!ref->common)
			value_release(ref->opt, (char *)args + ref->base + ref->opt->offset);
	vec_release(&refs);
	vec_release(&ctx->operands);
}
