/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes and the top level of a program. */
#include "lang/front/parse.h"

#include "lang/comp.h"

bool parse_is(const struct parser *p, u32 op)
{
	return p->lx.tok.kind == TOK_OP && p->lx.tok.op == op;
}

bool parse_is_word(const struct parser *p, const char *word)
{
	const struct token *t = &p->lx.tok;
	size_t n = strlen(word);

	return t->kind == TOK_IDENT && t->at.end - t->at.start == n &&
	       memcmp(p->lx.src->text + t->at.start, word, n) == 0;
}

bool parse_accept(struct parser *p, u32 op)
{
	if (!parse_is(p, op))
		return false;
	lex_next(&p->lx);
	return true;
}

bool parse_accept_word(struct parser *p, const char *word)
{
	if (!parse_is_word(p, word))
		return false;
	lex_next(&p->lx);
	return true;
}

/* One sign is quoted, words describe what is meant. */
static void say_expected(struct parser *p, struct span_at at, const char *expecting,
			 const char *found)
{
	bool sign = expecting && !strchr(expecting, ' ') &&
		    !((expecting[0] | 32) >= 'a' && (expecting[0] | 32) <= 'z');

	if (expecting)
		diag_error(p->diags, at, "syntax: expected %s%s%s, found %s", sign ? "'" : "",
			   expecting, sign ? "'" : "", found);
	else
		diag_error(p->diags, at, "syntax: expected expression, found %s", found);
}

void parse_unexpected(struct parser *p, const char *expecting)
{
	const struct token *t = &p->lx.tok;
	struct span_at at = t->at;

	if (p->panic)
		return;
	p->panic = true;
	if (t->kind == TOK_ERROR)
		return;
	if (t->kind == TOK_STRING)
		at.end = at.start + 1;
	if (t->kind == TOK_END) {
		/* What is missing at the end is said once. */
		if (p->at_end)
			return;
		p->at_end = true;
		at.start = at.end;
		say_expected(p, at, expecting, "the end");
		return;
	}
	say_expected(p, at, expecting,
		     arena_printf(&p->prog->arena, "'%.*s'", (int)MIN(at.end - at.start, 40u),
				  p->lx.src->text + at.start));
}

bool parse_expect(struct parser *p, u32 op, const char *text)
{
	if (parse_accept(p, op))
		return true;
	parse_unexpected(p, text);
	return false;
}

const char *parse_text(struct parser *p, const struct token *t)
{
	return arena_strndup(&p->prog->arena, p->lx.src->text + t->at.start,
			     t->at.end - t->at.start);
}

struct node *parse_node(struct parser *p, enum node_kind kind, struct span_at at)
{
	struct node *n = arena_zalloc(&p->prog->arena, sizeof(*n));

	n->kind = kind;
	n->at = at;
	if (++p->nodes == PARSE_MAX_NODES && !p->panic) {
		diag_error(p->diags, at, "the program is too large");
		p->panic = true;
		lex_seek(&p->lx, (u32)p->lx.src->len);
	}
	return n;
}

void parse_kids(struct parser *p, struct node *n, struct node **kids, size_t n_kids)
{
	n->kids = arena_dup(&p->prog->arena, kids, n_kids * sizeof(*kids));
	n->n_kids = (u32)n_kids;
	for (size_t i = 0; i < n_kids; i++)
		n->height = MAX(n->height, kids[i] ? kids[i]->height + 1 : 0);
	if (n->height <= PARSE_MAX_HEIGHT || p->panic)
		return;
	diag_error(p->diags, p->lx.tok.at, "more than %d operators in one expression",
		   PARSE_MAX_HEIGHT);
	diag_hint(p->diags, "keep parts of it in variables");
	p->panic = true;
	lex_seek(&p->lx, (u32)p->lx.src->len);
}

/* Does part @i of such a probe hold a path, and so slashes? */
static bool takes_path(const char *text, size_t len, u32 i)
{
	static const struct {
		const char *name;
		u32 part;
	} paths[] = { { "uprobe", 1 }, { "uretprobe", 1 }, { "usdt", 1 }, { "u", 1 },
		      { "ur", 1 },     { "U", 1 },         { "iter", 2 }, { "it", 2 } };

	for (size_t k = 0; k < ARRAY_SIZE(paths); k++) {
		if (paths[k].part == i && strlen(paths[k].name) == len &&
		    memcmp(paths[k].name, text, len) == 0)
			return true;
	}
	return false;
}

static void spec_param(struct parser *p, const char *s, size_t *i, size_t end, struct buf *out)
{
	size_t n = 0;

	(*i)++;
	while (*i < end && s[*i] >= '0' && s[*i] <= '9' && n < 10000)
		n = n * 10 + (size_t)(s[(*i)++] - '0');
	if (n >= 1 && n <= p->opts->n_params)
		buf_addstr(out, p->opts->params[n - 1]);
}

/* The text of an attach point, from the current token on; quotes and parameters are resolved. */
static void attach_point(struct parser *p, struct spec *ret)
{
	const char *s = p->lx.src->text;
	size_t start = p->lx.tok.at.start, i = start, first = 0, end = p->lx.src->len;
	struct buf out = BUF_INIT;
	bool quoted = false;
	u32 colons = 0;

	while (i < end) {
		char c = s[i];

		if (c == '"') {
			quoted = !quoted;
			i++;
			continue;
		}
		if (!quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' ||
				c == '{' || c == '}' || c == ';'))
			break;
		if (!quoted && c == '/' && !takes_path(s + start, first, colons))
			break;
		if (c == ':' && colons++ == 0)
			first = i - start;
		if (!quoted && c == '$' && i + 1 < end && s[i + 1] >= '0' && s[i + 1] <= '9') {
			spec_param(p, s, &i, end, &out);
			continue;
		}
		buf_addch(&out, c);
		i++;
	}
	if (quoted)
		diag_error(p->diags, (struct span_at){ (u32)start, (u32)i }, "unterminated string");
	ret->text = arena_strndup(&p->prog->arena, buf_str(&out), out.len);
	ret->at = (struct span_at){ (u32)start, (u32)i };
	buf_release(&out);
	lex_seek(&p->lx, (u32)MAX(i, start + 1));
}

static void probe(struct parser *p)
{
	struct probe *pr;

	if (p->prog->probes.len >= PARSE_MAX_PROBES) {
		diag_error(p->diags, p->lx.tok.at, "more than %d probes", PARSE_MAX_PROBES);
		lex_seek(&p->lx, (u32)p->lx.src->len);
		return;
	}
	pr = vec_new(&p->prog->probes);
	pr->at = p->lx.tok.at;
	do {
		struct spec spec;

		if (parse_is(p, OP1('{')) && pr->specs.len)
			break; /* a comma after the last one */
		attach_point(p, &spec);
		if (!*spec.text) {
			p->lx.tok.at = spec.at;
			parse_unexpected(p, "probe");
			break;
		}
		vec_push(&pr->specs, spec);
	} while (parse_accept(p, OP1(',')));
	pr->at.end = p->lx.prev_end;
	if (!p->panic && parse_accept(p, OP1('/'))) {
		pr->predicate = parse_expr(p);
		if (p->lx.tok.kind == TOK_END_PREDICATE)
			lex_next(&p->lx);
		else
			parse_unexpected(p, "/");
	}
	if (!p->panic)
		pr->body = parse_block(p);
	if (!pr->body)
		pr->body = parse_node(p, N_BLOCK, pr->at);
	pr->at.end = MAX(p->lx.prev_end, pr->at.start);
}

static void config_entry(struct parser *p)
{
	struct config_entry entry = { .at = p->lx.tok.at };
	struct buf text = BUF_INIT;

	if (p->lx.tok.kind != TOK_IDENT) {
		parse_unexpected(p, "name of a setting");
		return;
	}
	entry.key = parse_text(p, &p->lx.tok);
	lex_next(&p->lx);
	if (!parse_expect(p, OP1('='), "="))
		return;
	if (p->lx.tok.kind == TOK_STRING)
		lex_unquote(&p->lx, &p->lx.tok, &text);
	else if (p->lx.tok.kind == TOK_INT || p->lx.tok.kind == TOK_IDENT)
		buf_add(&text, p->lx.src->text + p->lx.tok.at.start,
			p->lx.tok.at.end - p->lx.tok.at.start);
	else
		parse_unexpected(p, "value");
	entry.value = arena_strdup(&p->prog->arena, buf_str(&text));
	entry.at.end = p->lx.tok.at.end;
	buf_release(&text);
	if (p->panic)
		return;
	vec_push(&p->prog->config, entry);
	lex_next(&p->lx);
}

static void config(struct parser *p)
{
	/* Imported files come first, with whatever they have. */
	if (p->lx.src->n_parts <= 1 && p->prog->probes.len) {
		diag_error(p->diags, p->lx.tok.at,
			   "syntax error, config must appear before probes");
		p->panic = true;
		return;
	}
	if (p->configured && p->opts->strict) {
		diag_error(p->diags, p->lx.tok.at, "syntax: duplicate config block");
		p->panic = true;
		return;
	}
	p->configured = true;
	lex_next(&p->lx);
	if (!parse_expect(p, OP1('='), "=") || !parse_expect(p, OP1('{'), "{"))
		return;
	while (p->lx.tok.kind != TOK_END && !parse_is(p, OP1('}')) && !p->panic) {
		config_entry(p);
		if (!p->panic && !parse_is(p, OP1('}')))
			parse_expect(p, OP1(';'), ";");
	}
	parse_expect(p, OP1('}'), "}");
}

/* let @name = hash(100); */
static void map_declaration(struct parser *p)
{
	struct map_decl d = { .at = p->lx.tok.at };

	lex_next(&p->lx);
	if (p->lx.tok.kind != TOK_MAP) {
		parse_unexpected(p, "map");
		return;
	}
	d.name = parse_text(p, &p->lx.tok);
	lex_next(&p->lx);
	if (!parse_expect(p, OP1('='), "="))
		return;
	d.kind = parse_text(p, &p->lx.tok);
	lex_next(&p->lx);
	if (!parse_expect(p, OP1('('), "("))
		return;
	if (p->lx.tok.kind != TOK_INT) {
		parse_unexpected(p, "number of keys");
		return;
	}
	d.size = p->lx.tok.value;
	lex_next(&p->lx);
	parse_expect(p, OP1(')'), ")");
	parse_accept(p, OP1(';'));
	d.at.end = p->lx.prev_end;
	vec_push(&p->prog->map_decls, d);
}

static void macro(struct parser *p)
{
	VEC(struct node *) params = { 0 };
	struct macro_def m = { 0 };
	u32 start = p->lx.tok.at.start;
	bool bare;

	lex_next(&p->lx);
	if (p->lx.tok.kind != TOK_IDENT) {
		parse_unexpected(p, "name of the macro");
		return;
	}
	m.name = parse_text(p, &p->lx.tok);
	m.at = (struct span_at){ start, p->lx.tok.at.end };
	lex_next(&p->lx);
	bare = !parse_is(p, OP1('('));
	if (!bare || p->opts->strict)
		parse_expect(p, OP1('('), "(");
	while (!bare && !p->panic && !parse_is(p, OP1(')'))) {
		enum token_kind k = p->lx.tok.kind;
		struct node *n = parse_node(p, N_IDENT, p->lx.tok.at);

		if (k != TOK_IDENT && k != TOK_VAR && k != TOK_MAP) {
			parse_unexpected(p, "parameter");
			break;
		}
		n->kind = k == TOK_VAR ? N_VAR : k == TOK_MAP ? N_MAP : N_IDENT;
		n->str = parse_text(p, &p->lx.tok);
		if (k == TOK_IDENT && p->opts->strict && builtin_find(n->str))
			diag_error(p->diags, n->at,
				   "syntax: builtin '%s' can't be used as a macro argument",
				   n->str);
		vec_each(it, &params) {
			if (streq((*it)->str, n->str))
				diag_error(p->diags, n->at, "the macro already has a parameter %s",
					   n->str);
		}
		vec_push(&params, n);
		lex_next(&p->lx);
		if (!parse_accept(p, OP1(',')))
			break;
	}
	if (!bare)
		parse_expect(p, OP1(')'), ")");
	p->params = params.items;
	p->n_params = params.len;
	m.body = parse_block(p);
	p->n_params = 0;
	parse_body_value(p, m.body);
	m.n_params = (u32)params.len;
	m.params = arena_dup(&p->prog->arena, params.items, params.len * sizeof(*params.items));
	vec_release(&params);
	if (!p->panic)
		vec_push(&p->prog->macros, m);
}

/* Files are put in before parsing; what is left is kept for formatting. */
static void import(struct parser *p)
{
	struct buf path = BUF_INIT;

	lex_next(&p->lx);
	if (p->lx.tok.kind != TOK_STRING) {
		parse_unexpected(p, "name of a file");
		return;
	}
	lex_unquote(&p->lx, &p->lx.tok, &path);
	vec_push(&p->prog->imports, arena_strdup(&p->prog->arena, buf_str(&path)));
	buf_release(&path);
	lex_next(&p->lx);
	parse_accept(p, OP1(';'));
}

/* A sign where a probe should begin: bpftrace takes it for the name of one. */
static void stray_sign(struct parser *p)
{
	u32 start = p->lx.tok.at.start, end = p->lx.tok.at.end;
	const char *s = p->lx.src->text;

	while (end < p->lx.src->len && !strchr(" \t\n\r{", s[end]))
		end++;
	if (p->lx.tok.at.end == end) {
		lex_next(&p->lx);
		parse_unexpected(p, "{");
		return;
	}
	diag_error(p->diags, (struct span_at){ start, end }, "Invalid probe type: %.*s",
		   (int)MIN(end - start, 40u), s + start);
	p->panic = true;
}

/* fn name($a : type): type { }: may stand there; bpftrace cannot call it either. */
static void function(struct parser *p)
{
	struct type_name tn;

	lex_next(&p->lx);
	if (p->lx.tok.kind != TOK_IDENT) {
		parse_unexpected(p, "name of the function");
		return;
	}
	lex_next(&p->lx);
	parse_expect(p, OP1('('), "(");
	while (!p->panic && !parse_is(p, OP1(')'))) {
		parse_variable(p);
		parse_expect(p, OP1(':'), ":");
		if (!p->panic && !parse_type_name(p, &tn))
			parse_unexpected(p, "type");
		if (!parse_accept(p, OP1(',')))
			break;
	}
	if (!p->panic && parse_expect(p, OP1(')'), ")") && parse_expect(p, OP1(':'), ":") &&
	    !parse_type_name(p, &tn))
		parse_unexpected(p, "type");
	if (!p->panic)
		parse_block(p);
}

static bool starts_definition(const struct parser *p)
{
	return parse_is_word(p, "struct") || parse_is_word(p, "union") ||
	       parse_is_word(p, "enum") || (parse_is_word(p, "typedef") && !p->opts->strict);
}

/* "struct ", whose name is missing. */
static bool ends_with_blank(const char *name)
{
	return name[strlen(name) - 1] == ' ';
}

static void c_definition(struct parser *p)
{
	u32 start = p->lx.tok.at.start;
	size_t first = p->prog->structs.len;
	const struct c_struct *s;

	parse_c_definition(p);
	if (p->panic || !p->opts->strict || p->lx.src->n_parts > 1)
		return;
	s = p->prog->structs.len > first ? p->prog->structs.items[first] : NULL;
	for (size_t i = 0; s && i < first; i++) {
		if (streq(p->prog->structs.items[i]->name, s->name) && !ends_with_blank(s->name))
			diag_error(p->diags, (struct span_at){ start, p->lx.prev_end },
				   "redefinition of '%s'", s->name);
	}
	/* One without members is not a type. */
	if (s && !s->fields.len && p->prog->structs.len == first + 1)
		p->prog->structs.len--;
	if (start > p->first) {
		diag_error(p->diags, (struct span_at){ start, p->lx.prev_end },
			   "syntax: C definitions must appear before probes and functions");
		p->panic = true;
	}
}

/* bpftrace has directives before everything but C definitions. */
static void refuse_directives(const struct parser *p)
{
	const struct program *prog = p->prog;
	u32 first = MIN(p->first, prog->first_blanked - 1);

	vec_each(it, &prog->directives) {
		bool inside = false;

		if (it->at.start < first)
			continue;
		vec_each(pr, &prog->probes)
			inside = inside || (pr->body->at.start < it->at.start &&
					    pr->body->at.end > it->at.start);
		if (inside)
			diag_error(p->diags, (struct span_at){ it->at.start, it->at.start + 1 },
				   "syntax: expected expression, found '%s'", it->text);
		else
			diag_error(p->diags, it->at,
				   "syntax: C definitions must appear before probes and functions, "
				   "found '%s'",
				   it->text);
		return;
	}
}

static void top_level(struct parser *p)
{
	u32 next = lex_skip_blank(&p->lx, p->lx.tok.at.end);
	bool assign = next < p->lx.src->len && p->lx.src->text[next] == '=';
	bool name = next < p->lx.src->len && (s8)p->lx.src->text[next] > '9';

	if (parse_is_word(p, "config") && (assign || p->opts->strict))
		config(p);
	else if (parse_is_word(p, "macro"))
		macro(p);
	else if (parse_is_word(p, "import"))
		import(p);
	else if (parse_is_word(p, "let"))
		map_declaration(p);
	else if (parse_is_word(p, "fn") && name && p->lx.src->text[next] != '{')
		function(p);
	else if (starts_definition(p))
		c_definition(p);
	else if (p->lx.tok.kind == TOK_IDENT || p->lx.tok.kind == TOK_PARAM ||
		 parse_is(p, OP1('*')))
		probe(p);
	else if (p->opts->strict && p->lx.tok.kind == TOK_OP)
		stray_sign(p);
	else
		parse_unexpected(p, "probe");
}

void parse_program(struct program *prog, const struct source *src, const struct parse_opts *opts,
		   struct diags *diags)
{
	struct parser p = { .prog = prog, .diags = diags, .opts = opts, .first = UINT32_MAX };

	if (src->len > PARSE_MAX_SOURCE) {
		diag_error(diags, (struct span_at){ 0, 0 }, "the program is longer than %d MB",
			   PARSE_MAX_SOURCE >> 20);
		return;
	}
	parse_directives(prog, src, opts->strict, diags);
	lex_init(&p.lx, src, diags);
	p.lx.strict = opts->strict;
	lex_next(&p.lx);
	while (p.lx.tok.kind != TOK_END) {
		if (!opts->strict && parse_accept(&p, OP1(';')))
			continue;
		if (!starts_definition(&p))
			p.first = MIN(p.first, p.lx.tok.at.start);
		top_level(&p);
		if (p.panic) {
			parse_recover(&p);
			if (p.lx.tok.kind != TOK_END)
				lex_next(&p.lx);
		}
	}
	if (opts->strict && src->n_parts <= 1)
		refuse_directives(&p);
	if (!prog->probes.len && !diags->errors) {
		u32 end = (u32)src->len;

		diag_error(diags, (struct span_at){ end, end },
			   "syntax: expected a probe, found the end");
	}
}
