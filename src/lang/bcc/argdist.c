/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/bcc/argdist.h"

/* --- specifiers ------------------------------------------------------------------------------- */

/*
 * The end of a part: the ':' that belongs to no bracket, quote or "a ? b : c", or the end. @stop is
 * another character that ends it.
 */
static const char *part_end(const char *p, const char *end, char stop)
{
	u32 questions = 0;

	while (p < end) {
		if (*p == stop || (*p == ':' && !questions))
			return p;
		questions += *p == '?';
		questions -= *p == ':';
		p = strchr("([\"'", *p) ? bcc_skip(p, end) : p + 1;
	}
	return end;
}

static const char *trimmed(struct arena *arena, const char *p, const char *end)
{
	while (p < end && strchr(" \t\n", *p))
		p++;
	while (end > p && strchr(" \t\n", end[-1]))
		end--;
	return arena_strndup(arena, p, (size_t)(end - p));
}

static int wrong(const char *text, const char *why, struct err *e)
{
	err_set(e, EINVAL, "wrong probe '%s': %s", text, why);
	err_hint(e, "the form is "
		    "{p,r,t,u}:{library,category}:function(signature):type:expression[:filter]"
		    "[#label]");
	return -EINVAL;
}

/* Types or expressions, separated by commas; the other half of each value may be there already. */
static size_t split_values(struct argdist_probe *p, struct arena *arena, const char *at,
			   const char *end, bool types)
{
	size_t n = 0;

	while (at < end) {
		const char *stop = part_end(at, end, ',');
		struct argdist_value *v = n < p->values.len ? &p->values.items[n] : NULL;

		if (!v && types)
			v = vec_new(&p->values);
		if (v && types)
			v->type = bcc_type(arena, at, (size_t)(stop - at));
		else if (v)
			v->expr = trimmed(arena, at, stop);
		n++;
		if (stop < end && *stop == ':')
			break; /* cannot be: the caller cut there */
		at = stop + 1;
	}
	return n;
}

static int parse_values(struct argdist_probe *p, struct arena *arena, const char *text,
			const char *at, const char *end, struct err *e)
{
	const char *types = at, *exprs, *filter;

	at = part_end(at, end, 0);
	if (at == end)
		return wrong(text, "there are types but no expressions", e);
	exprs = at + 1;
	filter = part_end(exprs, end, 0);
	if (!split_values(p, arena, types, at, true))
		return wrong(text, "there are no types", e);
	if (split_values(p, arena, exprs, filter, false) != p->values.len)
		return wrong(text, "there are not as many expressions as types", e);
	if (p->is_hist && p->values.len > 1)
		return wrong(text, "a histogram has one expression", e);
	if (filter < end)
		p->filter = trimmed(arena, filter + 1, end);
	return 0;
}

static int default_values(struct argdist_probe *p, const char *text, struct err *e)
{
	p->is_default = true;
	if (p->spec.kind == 'r')
		vec_push(&p->values, (struct argdist_value){ "int", "$retval" });
	else if (p->is_hist)
		return wrong(text, "a histogram needs an expression", e);
	return 0;
}

/* Where the text ends and the label begins. */
static const char *find_label(const char *text)
{
	const char *end = text + strlen(text);

	for (const char *p = text; p < end;) {
		if (*p == '#')
			return p;
		p = *p == '"' || *p == '\'' ? bcc_skip(p, end) : p + 1;
	}
	return end;
}

int argdist_parse(struct argdist_probe *p, struct arena *arena, const char *text, bool is_hist,
		  struct err *e)
{
	const char *label = find_label(text);
	const char *spec = trimmed(arena, text, label), *end = spec + strlen(spec);
	const char *open = strchr(spec, '('), *close;
	u32 colons = 0;
	int rc;

	*p = (struct argdist_probe){ .is_hist = is_hist, .scope.arena = arena };
	if (strlen(text) > BCC_MAX_SPEC)
		return err_set(e, E2BIG, "a probe has more than %d bytes", BCC_MAX_SPEC);
	p->has_label = *label == '#';
	p->title = arena_strdup(arena, p->has_label ? label + 1 : text);
	close = open ? bcc_skip(open, end) : end;
	for (const char *c = spec; open && c < open; c++)
		colons += *c == ':';
	if (!open || close[-1] != ')' || colons < 2)
		return wrong(text, "type, library and function(signature) are needed", e);
	rc = oneliner_parse(spec, (size_t)(open - spec), &p->spec, e);
	if (rc < 0)
		return rc;
	p->scope.at_return = p->spec.kind == 'r';
	p->scope.in_wrapper = oneliner_is_wrapper(&p->spec);
	bcc_signature(&p->scope, open + 1, (size_t)(close - open - 2));
	if (close == end)
		return default_values(p, text, e);
	if (*close != ':')
		return wrong(text, "something follows the signature", e);
	return parse_values(p, arena, text, close + 1, end, e);
}

void argdist_release(struct argdist_probe *p)
{
	bcc_scope_release(&p->scope);
	vec_release(&p->values);
}

/* --- programs --------------------------------------------------------------------------------- */

struct entries {
	VEC(const char *) names; /* of parameters that are kept at the entry */
	bool wanted;             /* them, or the time */
};

static void find_entries(const struct argdist_probe *p, const char *text, struct entries *en)
{
	for (const char *at = text; (at = strchr(at, '$')); at++) {
		const char *name = bcc_entry_name(&p->scope, at);
		bool known = false;

		en->wanted = en->wanted || name || starts_with(at, "$latency");
		for (size_t i = 0; name && i < en->names.len; i++)
			known = known || streq(en->names.items[i], name);
		if (name && !known)
			vec_push(&en->names, name);
	}
}

/*
 * A call of a user function is known by where its frame lies, so that recursion does no harm; the
 * return address is popped at the return.
 */
static const char *key_at(const struct argdist_probe *p, bool back)
{
	if (!oneliner_is_user(&p->spec))
		return "tid";
	return back ? "tid, reg(\"sp\") - 8" : "tid, reg(\"sp\")";
}

static int add_entry(const struct argdist_probe *p, u32 number, const struct entries *en,
		     const char *predicate, struct buf *out, struct err *e)
{
	struct oneliner_spec entry = p->spec;
	int rc = 0;

	entry.kind = 'p';
	oneliner_probe(&entry, false, out);
	buf_addf(out, "%s {\n\t@t%u[%s] = nsecs;\n", predicate, number, key_at(p, false));
	for (size_t i = 0; i < en->names.len; i++) {
		buf_addf(out, "\t@t%u_%s[%s] = ", number, en->names.items[i], key_at(p, false));
		if (!bcc_entry(&p->scope, en->names.items[i], out))
			rc = err_set(e, EINVAL, "$entry(%s): the signature has no such parameter",
				     en->names.items[i]);
		buf_addstr(out, ";\n");
	}
	buf_addstr(out, "}\n");
	return rc;
}

/* What the entry kept, as variables; taken from the maps so that they do not grow. */
static void add_kept(const struct argdist_probe *p, u32 number, const struct entries *en,
		     struct buf *out)
{
	const char *key = key_at(p, true);

	buf_addf(out, "\t$start = @t%u[%s];\n\tif ($start == 0) { return; }\n", number, key);
	buf_addf(out, "\t$latency = nsecs - $start;\n\tdelete(@t%u, (%s));\n", number, key);
	for (size_t i = 0; i < en->names.len; i++) {
		const char *name = en->names.items[i];

		buf_addf(out, "\t$entry_%s = @t%u_%s[%s];\n\tdelete(@t%u_%s, (%s));\n", name,
			 number, name, key, number, name, key);
	}
}

static void add_value(const struct argdist_probe *p, const struct argdist_value *v, struct buf *out)
{
	_cleanup_buf_ struct buf expr = BUF_INIT;

	bcc_expr(&p->scope, v->expr, strlen(v->expr), &expr);
	bcc_convert(v->type, buf_str(&expr), out);
}

static void add_collect(const struct argdist_probe *p, u32 number, bool sums, struct buf *out)
{
	if (p->filter) {
		buf_addstr(out, "\tif (!(");
		bcc_expr(&p->scope, p->filter, strlen(p->filter), out);
		buf_addstr(out, ")) { return; }\n");
	}
	buf_addf(out, "\t@d%u", number);
	for (size_t i = 0; i < p->values.len && !p->is_hist; i++) {
		buf_addstr(out, i ? ", " : "[");
		add_value(p, &p->values.items[i], out);
	}
	if (!p->is_hist) {
		buf_addstr(out, p->values.len ? "] = count();\n" : " = count();\n");
		return;
	}
	buf_addstr(out, " = hist(");
	add_value(p, &p->values.items[0], out);
	buf_addstr(out, ", 0);\n");
	if (sums) {
		buf_addf(out, "\t@s%u = sum(", number);
		add_value(p, &p->values.items[0], out);
		buf_addstr(out, ");\n");
	}
}

int argdist_program(const struct argdist_probe *p, u32 number, const char *predicate, bool sums,
		    struct buf *out, struct err *e)
{
	struct entries en = { 0 };
	int rc = 0;

	vec_each(it, &p->values)
		find_entries(p, it->expr, &en);
	if (p->filter)
		find_entries(p, p->filter, &en);
	if (en.wanted && p->spec.kind != 'r')
		rc = err_set(e, EINVAL, "'%s': $latency and $entry() are for returns", p->title);
	if (rc == 0 && en.wanted)
		rc = add_entry(p, number, &en, predicate, out, e);
	if (rc == 0) {
		oneliner_probe(&p->spec, false, out);
		buf_addf(out, "%s {\n", predicate);
		if (en.wanted)
			add_kept(p, number, &en, out);
		add_collect(p, number, sums, out);
		buf_addstr(out, "}\n");
	}
	vec_release(&en.names);
	return rc;
}
