/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that steer: the program's end, signals, checks at compile time. */
#include "base/parse.h"
#include "lang/front/fmt.h"
#include "lang/front/lex.h"
#include "lang/check/strict.h"
#include "lang/gen/gen.h"
#include "lang/probe/provider.h"
#include "lang/fn/signals.h"

static void check_exit(struct comp *c, struct node *n)
{
	strict_exit(c, n);
	if (n->n_kids && n->kids[0]->type->kind != T_NONE && !type_is_number(n->kids[0]->type))
		check_error(c, n, "exit() only supports int arguments (%s provided)",
			    check_type_text(c, n->kids[0]->type));
}

static void emit_exit(struct gen *g, struct node *n, struct val *ret)
{
	const struct type *code = check_int64(g->c, true);
	struct event e = { .kind = EV_EXIT };

	(void)ret;
	if (n->n_kids)
		e.args = type_tuple(&g->c->types, &code, NULL, 1);
	gen_event(g, comp_event(g->c, &e), n->kids, n->n_kids);
	gen_return(g);
}

static void check_signal(struct comp *c, struct node *n)
{
	struct node *a = n->kids[0];

	if (a->kind == N_STR) {
		int number = signal_number(a->str);

		if (number < 0) {
			check_error(c, n, "%s is not a valid signal", a->str);
			return;
		}
		a->kind = N_INT;
		a->ival = (u64)number;
		check_expr(c, a);
	}
	if (a->type->kind != T_NONE && !type_is_number(a->type))
		check_error(c, n, "signal() only supports string literals and integer arguments");
	if (a->folded && (a->ival < 1 || a->ival > 64))
		check_error(c, n, "%lld is not a valid signal, allowed range: [1,64]",
			    (long long)a->ival);
}

static void emit_signal(struct gen *g, struct node *n, struct val *ret)
{
	vreg number = gen_num(g, n->kids[0]);

	IR_CALLV(&g->ir,
		 streq(n->str, "signal") ? BPF_FUNC_send_signal : BPF_FUNC_send_signal_thread,
		 ARG_REG(number));
	*ret = (struct val){ 0 };
}

static void check_static_assert(struct comp *c, struct node *n)
{
	if (n->kids[0]->type->kind == T_NONE)
		return;
	if (n->n_kids < 2 && c->opts->compat)
		check_error(c, n, "static_assert() requires 2 arguments (1 provided)");
	else if (!n->kids[0]->folded)
		check_error(c, n->kids[0], "static_assert() expects a constant");
	else if (!n->kids[0]->ival)
		check_error(c, n, "assertion failed%s%s", n->n_kids > 1 ? ": " : "",
			    n->n_kids > 1 && n->kids[1]->kind == N_STR ? n->kids[1]->str : "");
}

static void emit_nothing(struct gen *g, struct node *n, struct val *ret)
{
	(void)g;
	(void)n;
	(void)ret;
}

static void check_assert(struct comp *c, struct node *n)
{
	if (n->kids[1]->kind != N_STR && n->kids[1]->type->kind != T_NONE)
		check_error(c, n->kids[1], "assert() expects a string literal as its text");
}

static void emit_assert(struct gen *g, struct node *n, struct val *ret)
{
	ir_label ok = ir_new_label(&g->ir);
	const struct type *code = check_int64(g->c, true);
	struct event text = { .kind = EV_ERRORF,
			      .fmt = arena_printf(&g->c->arena, "assertion failed: %s",
						  n->kids[1]->str),
			      .at = n->at,
			      .args = type_tuple(&g->c->types, NULL, NULL, 0) };
	struct event end = { .kind = EV_EXIT, .args = type_tuple(&g->c->types, &code, NULL, 1) };
	struct node one = { .kind = N_INT, .ival = 1, .folded = true, .type = code };
	struct node *args[] = { &one };

	(void)ret;
	ir_branchi(&g->ir, BPF_JNE, gen_num(g, n->kids[0]), 0, ok);
	gen_event(g, comp_event(g->c, &text), NULL, 0);
	gen_event(g, comp_event(g->c, &end), args, 1);
	gen_return(g);
	ir_label_here(&g->ir, ok);
}

/* The text of fail(), whose arguments are literals. */
static void fail_text(const struct node *n, struct buf *out)
{
	const char *fmt = n->kids[0]->str;
	struct conversion v;

	for (u32 i = 1; !fmt_next(&fmt, &v);) {
		const struct node *a;

		buf_add(out, v.text, v.text_len);
		if (!v.letter)
			break;
		a = v.letter != '%' && i < n->n_kids ? n->kids[i++] : NULL;
		if (!a)
			buf_addch(out, '%');
		else if (a->kind == N_STR)
			buf_addstr(out, a->str);
		else if (v.letter == 'x')
			buf_addf(out, "%llx", (unsigned long long)a->ival);
		else
			buf_addf(out, "%lld", (long long)a->ival);
	}
}

static void check_fail(struct comp *c, struct node *n)
{
	struct buf text = BUF_INIT;

	/* What is never reached does not fail; for bpftrace only 'if comptime' leaves it out. */
	if (c->at->dead && !c->opts->compat)
		return;
	for (u32 i = 0; i < n->n_kids; i++) {
		if (n->kids[i]->kind != N_STR && (!i || !n->kids[i]->folded)) {
			if (n->kids[i]->type->kind != T_NONE)
				check_error(c, n->kids[i], "fail() expects literals");
			return;
		}
	}
	fail_text(n, &text);
	check_error(c, n, "%s", buf_str(&text));
	buf_release(&text);
}

static void check_override(struct comp *c, struct node *n)
{
	if (c->at->target->provider != &probe_kprobe)
		check_error(c, n, "override() can only be used with kprobes (%s used here)",
			    c->at->target->provider->name);
}

static void emit_override(struct gen *g, struct node *n, struct val *ret)
{
	vreg value = gen_num(g, n->kids[0]);

	*ret = (struct val){ 0 };
	IR_CALLV(&g->ir, BPF_FUNC_override_return, ARG_REG(g->ctx), ARG_REG(value));
}

/* What follows --NAME in the last of @list that begins so: "" or "=VALUE"; NULL: not one of them.
 */
static const char *find_named(const char *const *list, size_t n, const char *name)
{
	for (size_t i = n; i-- > 0;) {
		const char *rest = starts_with(list[i], "--");

		rest = rest ? starts_with(rest, name) : NULL;
		if (rest && (!*rest || *rest == '='))
			return rest;
	}
	return NULL;
}

static const char *named_parameter(const struct comp *c, const char *name)
{
	const char *rest = find_named(c->opts->named, c->opts->n_named, name);

	return rest ? rest : find_named(c->opts->params, c->opts->n_params, name);
}

const char *comp_parameter(const struct comp *c, const char *name)
{
	const char *rest = named_parameter(c, name);

	if (rest && c->at)
		vec_push(&c->at->options, (struct option){ .name = name, .other = true });
	return rest && *rest ? rest + 1 : rest;
}

/* All uses of an option have one default. */
static bool remember_option(struct comp *c, const struct node *n)
{
	const struct node *otherwise = n->n_kids > 1 ? n->kids[1] : NULL;
	struct option o = { .name = n->kids[0]->str };

	if (otherwise && otherwise->kind == N_STR)
		o.text = otherwise->str;
	else if (otherwise)
		o.value = otherwise->ival;
	vec_each(it, &c->at->options) {
		if (it->other || !streq(it->name, o.name))
			continue;
		if (it->value != o.value || !it->text != !o.text ||
		    (o.text && !streq(o.text, it->text)))
			check_error(c, n,
				    "Command line option '%s' needs to have the same default value "
				    "in all places it is used",
				    o.name);
		else
			return true;
		return false;
	}
	vec_push(&c->at->options, o);
	return true;
}

/* About the command line, not about the program. */
static void option_error(struct comp *c, const struct node *n, const char *what, const char *text)
{
	bool mute = c->diags.mute;

	/* Said in the first pass, which makes a literal of it. */
	c->diags.mute = false;
	diag_error(&c->diags, SPAN_NOWHERE, "program command line option --%s %s (value: %s)",
		   n->kids[0]->str, what, *text ? text + 1 : "true");
	c->diags.mute = mute;
}

/* "" (given without a value), words, 1, 0. */
static bool option_bool(struct comp *c, const struct node *n, const char *text)
{
	bool yes = true;

	if (*text && !comp_truth(text + 1, &yes))
		option_error(c, n, "expects a boolean (e.g. 'true')", text);
	return yes;
}

static void become_text(struct comp *c, struct node *n, const char *text)
{
	n->kind = N_STR;
	n->str = text;
	n->str_len = (u32)strlen(text);
	n->n_kids = 0;
	check_expr(c, n);
}

/* getopt(name [, default [, description]]): known when the program is compiled. */
static void check_getopt(struct comp *c, struct node *n)
{
	const struct node *otherwise = n->n_kids > 1 ? n->kids[1] : NULL;
	const char *text;
	s64 value;

	if (n->kids[0]->kind != N_STR) {
		check_error(c, n->kids[0], "getopt() expects a string literal as its name");
		return;
	}
	if (otherwise && otherwise->kind != N_STR && !otherwise->folded) {
		check_error(c, otherwise,
			    "Second argument to 'getopt' must be a string literal, integer "
			    "literal, or a boolean literal.");
		return;
	}
	if (n->n_kids > 2 && n->kids[2]->kind != N_STR && c->opts->compat) {
		check_error(c, n,
			    "Function 'getopt' requires the third parameter to be a string "
			    "literal.");
		return;
	}
	if (!remember_option(c, n))
		return;
	text = named_parameter(c, n->kids[0]->str);
	if (otherwise && otherwise->kind == N_STR) {
		if (text && !*text)
			option_error(c, n, "expects a string", text);
		become_text(c, n, !text ? otherwise->str : *text ? text + 1 : "");
		return;
	}
	if (!otherwise || type_is_bool(otherwise->type)) {
		check_fold_bool(c, n,
				text ? option_bool(c, n, text) : otherwise && otherwise->ival);
		return;
	}
	value = (s64)otherwise->ival;
	if (text && (!*text || !lex_literal(text + 1, (u64 *)&value)))
		option_error(c, n, "invalid integer", text);
	check_fold(c, n, (u64)value, true);
	n->type = check_int64(c, true);
}

void check_options(struct comp *c)
{
	_cleanup_buf_ struct buf unknown = BUF_INIT;

	for (size_t i = 0; i < c->opts->n_named; i++) {
		const char *name = c->opts->named[i] + 2;
		bool known = false;

		vec_each(it, &c->at->options) {
			const char *rest = starts_with(name, it->name);

			known = known || (rest && (!*rest || *rest == '='));
		}
		if (!known)
			buf_addf(&unknown, "%s--%.*s", unknown.len ? ", " : "",
				 (int)strcspn(name, "="), name);
	}
	if (!unknown.len)
		return;
	diag_error(&c->diags, SPAN_NOWHERE, "unexpected program command line options: %s",
		   buf_str(&unknown));
	if (!c->at->options.len)
		diag_hint(&c->diags, "no custom program options defined.");
}

/* config(): all settings; config(name): what one is, known when the program is compiled. */
static void check_config(struct comp *c, struct node *n)
{
	if (!n->n_kids) {
		config_record(c, n);
		return;
	}
	if (c->opts->compat && !n->flag) {
		check_error(c, n, "config() takes no arguments: config().max_strlen is a setting");
		return;
	}
	if (n->kids[0]->kind != N_STR) {
		check_error(c, n, "config() expects a string literal as its name");
		return;
	}
	if (config_value(c, n->kids[0]->str, n))
		check_expr(c, n);
	else
		check_error(c, n, "unknown setting '%s'", n->kids[0]->str);
}

static void check_comptime(struct comp *c, struct node *n)
{
	struct node *a = n->kids[0];

	n->type = a->type;
	if (a->kind == N_STR) {
		struct span_at at = n->at;

		*n = *a;
		n->at = at;
	} else if (a->folded) {
		n->folded = true;
		n->ival = a->ival;
	} else if (a->type->kind != T_NONE) {
		check_error(c, n, "the value is not known when the program is compiled");
	}
}

const struct fn fn_control_table[] = {
	{ "config", 0, 1, 0, check_config, emit_nothing },
	{ "getopt", 1, 3, 0, check_getopt, emit_nothing },
	{ "exit", 0, 1, FN_STATEMENT, check_exit, emit_exit },
	{ "signal", 1, 1, FN_STATEMENT | FN_UNSAFE, check_signal, emit_signal },
	{ "signal_thread", 1, 1, FN_STATEMENT | FN_UNSAFE, check_signal, emit_signal },
	{ "static_assert", 1, 2, FN_STATEMENT, check_static_assert, emit_nothing },
	{ "assert", 2, 2, FN_STATEMENT, check_assert, emit_assert },
	{ "fail", 1, 128, FN_STATEMENT | FN_FORMAT, check_fail, emit_nothing },
	{ "override", 1, 1, FN_STATEMENT | FN_UNSAFE, check_override, emit_override },
	{ "comptime", 1, 1, 0, check_comptime, emit_nothing },
	{ 0 },
};
