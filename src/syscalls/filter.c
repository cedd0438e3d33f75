/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls/filter.h"

#include "base/parse.h"

#include <ctype.h>

enum { DEPTH_MOST = 32, YES = SYSCALLS_FILTER_YES, NO = SYSCALLS_FILTER_NO };

struct parser {
	struct syscall_filter *f;
	const struct syscall_table *table;
	const char *text, *at;
	struct err *err;
	u32 depth;
};

/*
 * A tree in an array, which is written as rows afterwards: there each row knows where to continue
 * when it holds, and when it does not.
 */
struct node {
	enum { N_TEST, N_AND, N_OR, N_NOT } kind;
	u16 left, right;
	struct syscalls_filter_row row;
};

struct tree {
	struct node nodes[4 * SYSCALLS_FILTER_ROWS];
	u32 n;
};

static int fail(struct parser *p, const char *what)
{
	err_set(p->err, EINVAL, "filter '%s': %s at '%.20s'", p->text, what,
		*p->at ? p->at : "the end");
	err_hint(p->err, "--filter 'ret < 0 && dur > 1ms'; fields are ret, errno, dur, pid, tid, "
			 "comm, call, arg0 to arg5 and names of arguments");
	return -EINVAL;
}

static int new_node(struct parser *p, struct tree *t, struct node node)
{
	if (t->n == ARRAY_SIZE(t->nodes))
		return fail(p, "too many conditions");
	t->nodes[t->n] = node;
	return (int)t->n++;
}

static void skip_space(struct parser *p)
{
	while (isspace((u8)*p->at))
		p->at++;
}

static bool take(struct parser *p, const char *word)
{
	skip_space(p);
	if (!starts_with(p->at, word))
		return false;
	p->at += strlen(word);
	return true;
}

static size_t word_length(const char *at)
{
	size_t n = 0;

	while (isalnum((u8)at[n]) || at[n] == '_')
		n++;
	return n;
}

/* --- fields, operators, values ---------------------------------------------------------------- */

static int named_field(struct parser *p, const char *word, size_t n)
{
	struct syscall_filter *f = p->f;

	if (n >= FILTER_NAME)
		return fail(p, "no such field");
	for (u32 i = 0; i < f->n_named; i++)
		if (strlen(f->named[i]) == n && memcmp(f->named[i], word, n) == 0)
			return (int)(SYSCALLS_FIELD_NAMED + i);
	if (f->n_named == FILTER_NAMED)
		return fail(p, "too many names of arguments");
	memcpy(f->named[f->n_named], word, n);
	f->named[f->n_named][n] = '\0';
	return (int)(SYSCALLS_FIELD_NAMED + f->n_named++);
}

static int take_field(struct parser *p)
{
	static const struct {
		const char *name;
		u8 field;
	} fields[] = {
		{ "ret", SYSCALLS_FIELD_RET },      { "dur", SYSCALLS_FIELD_DUR },
		{ "duration", SYSCALLS_FIELD_DUR }, { "errno", SYSCALLS_FIELD_ERRNO },
		{ "pid", SYSCALLS_FIELD_PID },      { "tid", SYSCALLS_FIELD_TID },
		{ "call", SYSCALLS_FIELD_NR },      { "comm", SYSCALLS_FIELD_COMM },
	};
	const char *word;
	size_t n;

	skip_space(p);
	word = p->at;
	n = word_length(word);
	if (!n || isdigit((u8)*word))
		return fail(p, "a field is missing");
	p->at += n;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (strlen(fields[i].name) == n && memcmp(fields[i].name, word, n) == 0)
			return fields[i].field;
	p->f->args = true;
	if (n == 4 && starts_with(word, "arg") && word[3] >= '0' && word[3] < '0' + SYSCALLS_ARGS)
		return SYSCALLS_FIELD_ARG + (word[3] - '0');
	return named_field(p, word, n);
}

static int take_operator(struct parser *p)
{
	static const struct {
		const char *text;
		u8 op;
	} ops[] = {
		{ "==", SYSCALLS_OP_EQ },
		{ "!=", SYSCALLS_OP_NE },
		{ "<=", SYSCALLS_OP_LE },
		{ ">=", SYSCALLS_OP_GE },
		{ "<", SYSCALLS_OP_LT },
		{ ">", SYSCALLS_OP_GT },
		{ "&&", 0 },
		{ "&", SYSCALLS_OP_AND },
		{ "=", SYSCALLS_OP_EQ },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (take(p, ops[i].text))
			return ops[i].op ? ops[i].op : fail(p, "an operator is missing");
	return fail(p, "an operator is missing");
}

static int take_comm(struct parser *p, struct syscalls_filter_row *row)
{
	char comm[SYSCALLS_COMM] = "";
	char quote = *p->at == '"' || *p->at == '\'' ? *p->at++ : '\0';
	size_t n = 0;

	while (*p->at &&
	       (quote ? *p->at != quote : !isspace((u8)*p->at) && !strchr("&|)", *p->at))) {
		if (n == SYSCALLS_COMM - 1)
			return fail(p, "a name of a process has at most 15 characters");
		comm[n++] = *p->at++;
	}
	if (quote && *p->at != quote)
		return fail(p, "a quote is missing");
	p->at += quote != '\0';
	if (row->op != SYSCALLS_OP_EQ && row->op != SYSCALLS_OP_NE)
		return fail(p, "names can be compared with == and !=");
	memcpy(&row->value, comm, sizeof(row->value));
	memcpy(&row->more, comm + sizeof(row->value), sizeof(row->more));
	return 0;
}

static int number_of(struct parser *p, const char *word, size_t n, bool time, u64 *ret)
{
	static const struct {
		const char *unit;
		u64 times;
		bool time;
	} units[] = {
		{ "", 1, false },        { "ns", 1, true },         { "us", 1000, true },
		{ "ms", 1000000, true }, { "s", 1000000000, true }, { "k", 1 << 10, false },
		{ "m", 1 << 20, false }, { "g", 1 << 30, false },
	};
	char *end;
	u64 v;

	errno = 0;
	v = strtoull(word, &end, 0);
	if (end == word || errno)
		return fail(p, "not a number");
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		size_t left = n - (size_t)(end - word);

		if (strlen(units[i].unit) != left || strncasecmp(end, units[i].unit, left) != 0 ||
		    (left && units[i].time != time) || v > (u64)INT64_MAX / units[i].times)
			continue;
		*ret = v * units[i].times;
		return 0;
	}
	return fail(p, "not a number");
}

static bool errno_value(const char *word, size_t n, u64 *ret)
{
	for (int i = 1; i < 4096; i++) {
		const char *name = errno_name(i);

		if (name && strlen(name) == n && memcmp(name, word, n) == 0) {
			*ret = (u64)i;
			return true;
		}
	}
	return false;
}

static int take_value(struct parser *p, struct syscalls_filter_row *row)
{
	bool minus;
	char word[64];
	u64 value = 0;
	size_t n;
	u32 nr;
	int r = 0;

	skip_space(p);
	if (row->field == SYSCALLS_FIELD_COMM)
		return take_comm(p, row);
	minus = *p->at == '-';
	p->at += minus;
	n = word_length(p->at);
	snprintf(word, sizeof(word), "%.*s", (int)n, p->at);
	if (isdigit((u8)*word))
		r = number_of(p, p->at, n, row->field == SYSCALLS_FIELD_DUR, &value);
	else if (row->field == SYSCALLS_FIELD_NR && syscall_number(p->table, word, &nr))
		value = nr;
	else if (!errno_value(p->at, n, &value))
		r = fail(p, "a value is missing");
	if (r)
		return r;
	p->at += n;
	row->value = minus ? -value : value;
	return 0;
}

/* --- the tree --------------------------------------------------------------------------------- */

static int parse_or(struct parser *p, struct tree *t);

static int parse_test(struct parser *p, struct tree *t)
{
	struct node node = { .kind = N_TEST };
	int r = take_field(p);

	if (r < 0)
		return r;
	node.row.field = (u8)r;
	r = take_operator(p);
	if (r < 0)
		return r;
	node.row.op = (u8)r;
	r = take_value(p, &node.row);
	return r < 0 ? r : new_node(p, t, node);
}

static int parse_term(struct parser *p, struct tree *t)
{
	int r;

	if (++p->depth > DEPTH_MOST)
		return fail(p, "too deep");
	if (take(p, "!")) {
		r = parse_term(p, t);
		if (r >= 0)
			r = new_node(p, t, (struct node){ .kind = N_NOT, .left = (u16)r });
	} else if (take(p, "(")) {
		r = parse_or(p, t);
		if (r >= 0 && !take(p, ")"))
			r = fail(p, "a ) is missing");
	} else {
		r = parse_test(p, t);
	}
	p->depth--;
	return r;
}

static int parse_and(struct parser *p, struct tree *t)
{
	int left = parse_term(p, t);

	while (left >= 0 && take(p, "&&")) {
		int right = parse_term(p, t);

		if (right < 0)
			return right;
		left = new_node(
			p, t,
			(struct node){ .kind = N_AND, .left = (u16)left, .right = (u16)right });
	}
	return left;
}

static int parse_or(struct parser *p, struct tree *t)
{
	int left = parse_and(p, t);

	while (left >= 0 && take(p, "||")) {
		int right = parse_and(p, t);

		if (right < 0)
			return right;
		left = new_node(
			p, t,
			(struct node){ .kind = N_OR, .left = (u16)left, .right = (u16)right });
	}
	return left;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* How many rows a node becomes: each test is one. */
static u32 rows_of(const struct tree *t, u32 at)
{
	const struct node *n = &t->nodes[at];

	if (n->kind == N_TEST)
		return 1;
	return rows_of(t, n->left) + (n->kind == N_NOT ? 0 : rows_of(t, n->right));
}

/* Rows go on to @yes or @no, which are later rows or the end. */
static void write_rows(struct syscall_filter *f, const struct tree *t, u32 at, u8 yes, u8 no)
{
	const struct node *n = &t->nodes[at];
	u8 next;

	switch (n->kind) {
	case N_TEST:
		f->rows[f->n] = n->row;
		f->rows[f->n].yes = yes;
		f->rows[f->n++].no = no;
		break;
	case N_NOT: write_rows(f, t, n->left, no, yes); break;
	default:
		next = (u8)(f->n + rows_of(t, n->left));
		write_rows(f, t, n->left, n->kind == N_AND ? next : yes,
			   n->kind == N_AND ? no : next);
		write_rows(f, t, n->right, yes, no);
	}
}

int syscall_filter_parse(struct syscall_filter *f, const char *text, const struct syscall_table *t,
			 struct err *e)
{
	struct parser p = { .f = f, .table = t, .text = text, .at = text, .err = e };
	struct tree tree = { .n = 0 };
	int top;

	memset(f, 0, sizeof(*f));
	top = parse_or(&p, &tree);
	if (top < 0)
		return top;
	skip_space(&p);
	if (*p.at)
		return fail(&p, "the end was expected");
	if (rows_of(&tree, (u32)top) > SYSCALLS_FILTER_ROWS)
		return fail(&p, "too many conditions");
	write_rows(f, &tree, (u32)top, YES, NO);
	return 0;
}

void syscall_filter_places(const struct syscall_filter *f, const struct syscall *call,
			   u8 ret_places[FILTER_NAMED])
{
	for (u32 i = 0; i < FILTER_NAMED; i++) {
		ret_places[i] = SYSCALLS_ARGS;
		for (u8 k = 0; i < f->n_named && k < call->n_args; k++)
			if (streq(call->args[k].name, f->named[i]))
				ret_places[i] = k;
	}
}
