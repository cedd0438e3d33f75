/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/bcc/trace.h"

#include "lang/bcc/expr.h"
#include "lang/bcc/oneliner.h"

struct trace_probe {
	const char *text; /* all of it */
	struct oneliner_spec spec;
	struct bcc_scope scope;
	const char *filter; /* or NULL */
	size_t filter_len;
	const char *format; /* without quotes; NULL: none */
	size_t format_len;
	const char *args; /* what follows the format */
};

bool bcc_trace_is_probe(const char *text)
{
	const char *slash = strchr(text, '/'), *colon = strchr(text, ':');

	if (strchr(text, '{') || ends_with(text, ".bt") || !*text || *text == '-')
		return false;
	return colon || strchr(text, '"') || strchr(text, '(') || !slash;
}

static int wrong(const struct trace_probe *p, const char *why, struct err *e)
{
	err_set(e, EINVAL, "wrong probe '%s': %s", p->text, why);
	err_hint(e, "the form is [p|r|t|u]:[library]:function[(signature)] [(predicate)] "
		    "[\"format\", expression...]");
	return -EINVAL;
}

/* --- parsing ---------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t\n");
}

static int parse_action(struct trace_probe *p, const char *at, struct err *e)
{
	const char *end = at + strlen(at), *close;

	if (!*at)
		return 0;
	if (*at != '"')
		return wrong(p, "a format in quotes was expected", e);
	close = bcc_skip(at, end);
	if (close == end && (close - at < 2 || end[-1] != '"'))
		return wrong(p, "the format has no end", e);
	p->format = at + 1;
	p->format_len = (size_t)(close - at - 2);
	p->args = skip_blanks(close);
	p->args = skip_blanks(p->args + (*p->args == ','));
	return 0;
}

static int parse_probe(struct trace_probe *p, struct arena *arena, const char *text, struct err *e)
{
	const char *at = text + strcspn(text, " \t\n("), *end = text + strlen(text), *close;
	int rc;

	*p = (struct trace_probe){ .text = text, .scope.arena = arena };
	if (strlen(text) > BCC_MAX_SPEC)
		return err_set(e, E2BIG, "a probe has more than %d bytes", BCC_MAX_SPEC);
	rc = oneliner_parse(text, (size_t)(at - text), &p->spec, e);
	if (rc < 0)
		return rc;
	p->scope.at_return = p->spec.kind == 'r';
	p->scope.in_wrapper = oneliner_is_wrapper(&p->spec);
	if (*at == '(') { /* without a blank before it: the signature */
		close = bcc_skip(at, end);
		if (close[-1] != ')')
			return wrong(p, "the signature has no end", e);
		bcc_signature(&p->scope, at + 1, (size_t)(close - at - 2));
		at = close;
	}
	at = skip_blanks(at);
	if (*at == '(') {
		close = bcc_skip(at, end);
		if (close[-1] != ')')
			return wrong(p, "the predicate has no end", e);
		p->filter = at;
		p->filter_len = (size_t)(close - at);
		at = skip_blanks(close);
	}
	return parse_action(p, at, e);
}

/* --- the message ------------------------------------------------------------------------------ */

/* The next expression after the format; false: none. */
static bool next_expr(const struct trace_probe *p, const char **at, struct buf *out)
{
	const char *start = *at, *end = start + strlen(start), *stop = start;

	buf_reset(out);
	while (stop < end && *stop != ',')
		stop = strchr("([\"'", *stop) ? bcc_skip(stop, end) : stop + 1;
	*at = stop < end ? skip_blanks(stop + 1) : end;
	while (stop > start && strchr(" \t\n", stop[-1]))
		stop--;
	bcc_expr(&p->scope, start, (size_t)(stop - start), out);
	return stop > start;
}

/* C's conversions and the types that they mean. */
static const char *type_of(const char *length, size_t n, char conversion)
{
	bool is_signed = conversion == 'd' || conversion == 'i';

	if (conversion == 'c')
		return "char";
	if (n && (*length == 'l' || *length == 'z' || *length == 'j'))
		return is_signed ? "long" : "unsigned long";
	if (n == 1 && *length == 'h')
		return is_signed ? "short" : "unsigned short";
	return conversion == 'p' ? "unsigned long" : is_signed ? "int" : "unsigned int";
}

static int add_conversion(const struct trace_probe *p, const char **fmt, const char **args,
			  struct buf *text, struct buf *values, struct err *e)
{
	_cleanup_buf_ struct buf expr = BUF_INIT;
	const char *at = *fmt + 1, *end = p->format + p->format_len, *length;
	size_t flags = strspn(at, "-+ #0123456789."), n;
	char c;

	length = at + flags;
	n = strspn(length, "lhzj");
	if (length + n >= end)
		return wrong(p, "the format ends with '%'", e);
	c = length[n];
	if (!strchr("sduixXpcKU", c))
		return wrong(p, "the format has a conversion that is not known", e);
	if (!next_expr(p, args, &expr))
		return wrong(p, "the format has more conversions than there are expressions", e);
	buf_addf(text, "%%%.*s", (int)flags, at);
	buf_addstr(values, ", ");
	if (c == 's') {
		buf_addf(values, "str(%s)", buf_str(&expr));
	} else if (c == 'K' || c == 'U') {
		buf_addf(values, "%s(%s)", c == 'K' ? "ksym" : "usym", buf_str(&expr));
		c = 's';
	} else {
		const char *type = type_of(length, n, c);

		bcc_convert(type, buf_str(&expr), values);
		if (c != 'c' && (strstr(type, "long") || c == 'p'))
			buf_addstr(text, "ll");
		c = (char)(c == 'i' ? 'd' : c == 'p' ? 'x' : c);
	}
	buf_addch(text, c);
	*fmt = length + n + 1;
	return 0;
}

static int add_message(const struct trace_probe *p, struct buf *text, struct buf *values,
		       struct err *e)
{
	const char *at = p->format, *end = at + p->format_len, *args = p->args;
	int rc = 0;

	while (rc == 0 && at < end) {
		if (at[0] == '%' && at + 1 < end && at[1] != '%') {
			rc = add_conversion(p, &at, &args, text, values, e);
			continue;
		}
		if (at[0] == '%' || (at[0] == '\\' && at + 1 < end))
			buf_addch(text, *at++);
		buf_addch(text, *at++);
	}
	if (rc == 0 && args && *args)
		rc = wrong(p, "there are more expressions than conversions", e);
	return rc;
}

/* --- the program ------------------------------------------------------------------------------ */

static void add_header(const struct bcc_trace_opts *o, bool messages, struct buf *out)
{
	if (o->timestamp || o->time)
		buf_addf(out, "%-*s ", o->unix_timestamp ? 17 : 8, "TIME");
	if (o->cpu)
		buf_addf(out, "%-3s ", "CPU");
	buf_addf(out, "%-7s %-7s %-15s %-16s %s\n", "PID", "TID", "COMM", "FUNC",
		 messages ? "-" : "");
}

/* Columns that are there if they are requested. */
static void add_columns(const struct bcc_trace_opts *o, struct buf *text, struct buf *values)
{
	if (o->timestamp && o->unix_timestamp) {
		buf_addstr(text, "%-17s ");
		buf_addstr(values, ", strftime(\"%s.%f\", nsecs)");
	} else if (o->time) {
		buf_addstr(text, "%-8s ");
		buf_addstr(values, ", strftime(\"%H:%M:%S\", nsecs)");
	} else if (o->timestamp) {
		buf_addstr(text, "%lld.%06lld ");
		buf_addstr(values, ", elapsed / 1000000000, elapsed % 1000000000 / 1000");
	}
	if (o->cpu) {
		buf_addstr(text, "%-3d ");
		buf_addstr(values, ", cpu");
	}
	buf_addstr(text, "%-7d %-7d %-15s %-16s ");
	buf_addstr(values, ", pid, tid, comm");
}

static void add_stacks(const struct bcc_trace_opts *o, struct buf *text, struct buf *values)
{
	if (o->kernel_stack) {
		buf_addstr(text, "%s");
		buf_addstr(values, o->address ? ", kstack(perf)" : ", kstack");
	}
	if (o->user_stack) {
		buf_addstr(text, "%s");
		buf_addstr(values, o->address ? ", ustack(perf)" : ", ustack");
	}
}

static void add_condition(struct buf *out, const char *text)
{
	buf_addf(out, "%s%s", out->len ? " && " : "", text);
}

static void add_predicate(const struct trace_probe *p, const struct bcc_trace_opts *o,
			  struct buf *out)
{
	_cleanup_buf_ struct buf all = BUF_INIT, one = BUF_INIT;

	if (o->tid)
		buf_addf(&all, "tid == %llu", (unsigned long long)o->tid);
	else if (o->pid && !oneliner_is_user(&p->spec))
		buf_addf(&all, "pid == %llu", (unsigned long long)o->pid);
	else if (!o->pid && !o->include_self)
		buf_addf(&all, "pid != %d", (int)getpid());
	if (o->uid_given) {
		buf_addf(&one, "uid == %llu", (unsigned long long)o->uid);
		add_condition(&all, buf_str(&one));
	}
	if (o->cgroup_path) {
		buf_reset(&one);
		buf_addf(&one, "cgroup == cgroupid(\"%s\")", o->cgroup_path);
		add_condition(&all, buf_str(&one));
	}
	if (o->name) {
		buf_reset(&one);
		buf_addf(&one, "strcontains(comm, \"%s\")", o->name);
		add_condition(&all, buf_str(&one));
	}
	if (p->filter) {
		buf_reset(&one);
		bcc_expr(&p->scope, p->filter, p->filter_len, &one);
		add_condition(&all, buf_str(&one));
	}
	if (all.len)
		buf_addf(out, " /%s/", buf_str(&all));
}

static void add_function(const struct trace_probe *p, struct buf *values)
{
	bool pattern = memchr(p->spec.name, '*', p->spec.name_len);

	if (pattern)
		buf_addstr(values,
			   p->spec.kind == 't' || p->spec.kind == 'u' ? ", probe" : ", func");
	else
		buf_addf(values, ", \"%.*s\"", (int)p->spec.name_len, p->spec.name);
}

static int add_probe(const struct trace_probe *p, const struct bcc_trace_opts *o, struct buf *out,
		     struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT, values = BUF_INIT;
	int rc;

	add_columns(o, &text, &values);
	add_function(p, &values);
	rc = p->format ? add_message(p, &text, &values, e) : 0;
	add_stacks(o, &text, &values);
	oneliner_probe(&p->spec, false, out);
	add_predicate(p, o, out);
	buf_addstr(out, " {\n");
	if (o->max_events)
		buf_addf(out, "\t$n = @events++;\n\tif ($n >= %llu) { return; }\n",
			 (unsigned long long)o->max_events);
	buf_addf(out, "\tprintf(\"%s\\n\"%s);\n", buf_str(&text), buf_str(&values));
	if (o->max_events)
		buf_addf(out, "\tif ($n + 1 >= %llu) { exit(); }\n",
			 (unsigned long long)o->max_events);
	buf_addstr(out, "}\n");
	return rc;
}

int bcc_trace_program(const char *const *probes, size_t n, const struct bcc_trace_opts *opts,
		      struct buf *out, struct buf *header, struct err *e)
{
	struct arena arena = { 0 };
	struct trace_probe *list = xcalloc(n + 1, sizeof(*list));
	bool messages = false;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		rc = parse_probe(&list[i], &arena, probes[i], e);
		messages = messages || list[i].format;
	}
	if (rc == 0) {
		buf_addstr(out, "config = { print_maps_on_exit = false; }\n");
		if (opts->string_size)
			buf_addf(out, "config = { max_strlen = %llu; }\n",
				 (unsigned long long)opts->string_size);
		add_header(opts, messages, header);
	}
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = add_probe(&list[i], opts, out, e);
	for (size_t i = 0; i < n; i++)
		bcc_scope_release(&list[i].scope);
	free(list);
	arena_release(&arena);
	return rc;
}
