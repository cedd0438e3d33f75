/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the C preprocessor that scripts use: #define without parameters, #ifdef, #ifndef,
 * #if defined(), #else, #endif; #include is noted. Lines are blanked in place, so that every
 * offset stays what it was.
 */
#include "lang/front/parse.h"

enum { DIRECTIVE_DEPTH = 64 };

struct branch {
	bool active; /* its lines count */
	bool taken;  /* one branch of this #if was active already */
	bool outer;  /* what surrounds it counts */
};

struct directives {
	struct program *prog;
	struct diags *diags;
	char *text;
	size_t len;
	struct branch stack[DIRECTIVE_DEPTH];
	u32 depth;
	int blank_depth; /* of braces, in lines that do not count */
	bool in_comment;
	bool strict;
};

static bool active(const struct directives *d)
{
	return !d->depth || d->stack[d->depth - 1].active;
}

static const char *skip(const char *s, const char *end)
{
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	return s;
}

static size_t word_len(const char *s, const char *end)
{
	const char *p = s;

	while (p < end && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' ||
			   (*p >= '0' && *p <= '9')))
		p++;
	return (size_t)(p - s);
}

static bool defined(const struct directives *d, const char *s, size_t n)
{
	const char *name = arena_strndup(&d->prog->arena, s, n);

	return streq(name, "BPFTRACE_HAVE_BTF") || streq(name, "__x86_64__") ||
	       program_define(d->prog, name);
}

/* #if 0, #if 1, #if defined(X), #if !defined(X); anything else counts as true. */
static bool condition(const struct directives *d, const char *s, const char *end)
{
	bool negate = false, value = true;

	s = skip(s, end);
	if (s < end && *s == '!') {
		negate = true;
		s = skip(s + 1, end);
	}
	if (end - s >= 7 && memcmp(s, "defined", 7) == 0) {
		s = skip(s + 7, end);
		if (s < end && *s == '(')
			s = skip(s + 1, end);
		value = defined(d, s, word_len(s, end));
	} else if (s < end && *s == '0' && word_len(s, end) == 1) {
		value = false;
	}
	return value != negate;
}

static void push(struct directives *d, bool value, struct span_at at)
{
	bool outer = active(d);

	if (d->depth == DIRECTIVE_DEPTH) {
		diag_error(d->diags, at, "#if is nested more than %d deep", DIRECTIVE_DEPTH);
		return;
	}
	d->stack[d->depth++] = (struct branch){ outer && value, value, outer };
}

static void define(struct directives *d, const char *s, const char *end, struct span_at at)
{
	struct define new = { 0 };
	size_t n;

	s = skip(s, end);
	n = word_len(s, end);
	if (!n) {
		diag_error(d->diags, at, "#define without a name");
		return;
	}
	new.name = arena_strndup(&d->prog->arena, s, n);
	s += n;
	if (s < end && *s == '(')
		return; /* one with parameters is for C only: scripts have 'macro' */
	s = skip(s, end);
	if (s < end)
		new.text = arena_strndup(&d->prog->arena, s, (size_t)(end - s));
	vec_push(&d->prog->defines, new);
}

static void directive(struct directives *d, const char *s, const char *end, struct span_at at)
{
	const char *word;
	size_t n;

	word = s = skip(s + 1, end);
	n = word_len(s, end);
	s = skip(s + n, end);
#define IS(text) (n == strlen(text) && memcmp(word, text, n) == 0)
	if (IS("ifdef"))
		push(d, defined(d, s, word_len(s, end)), at);
	else if (IS("ifndef"))
		push(d, !defined(d, s, word_len(s, end)), at);
	else if (IS("if"))
		push(d, condition(d, s, end), at);
	else if (!d->depth && (IS("else") || IS("elif") || IS("endif")))
		diag_error(d->diags, at, "#%.*s without #if", (int)n, word);
	else if (IS("endif"))
		d->depth--;
	else if (IS("else") || IS("elif")) {
		struct branch *b = &d->stack[d->depth - 1];
		bool value = IS("else") || condition(d, s, end);

		b->active = b->outer && !b->taken && value;
		b->taken = b->taken || value;
	} else if (IS("define") && active(d))
		define(d, s, end, at);
	else if (IS("include") && active(d))
		vec_push(&d->prog->includes, arena_strndup(&d->prog->arena, s, (size_t)(end - s)));
#undef IS
}

static bool known_directive(const char *s, const char *end)
{
	static const char *const known[] = { "",       "if",    "ifdef",   "ifndef", "elif",
					     "else",   "endif", "define",  "undef",  "include",
					     "pragma", "error", "warning", "line" };
	const char *word = skip(s + 1, end);
	size_t n = word_len(word, end);

	if (word < end && *word == '!')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strlen(known[i]) == n && memcmp(word, known[i], n) == 0)
			return true;
	}
	return false;
}

/* Whether a block comment is open at the end of the line. */
static bool comment_after(const char *s, const char *end, bool open)
{
	for (; s < end; s++) {
		if (open) {
			open = !(s + 1 < end && s[0] == '*' && s[1] == '/');
		} else if (s + 1 < end && s[0] == '/' && s[1] == '/') {
			break;
		} else if (s + 1 < end && s[0] == '/' && s[1] == '*') {
			open = true;
			s++;
		} else if (*s == '"') {
			for (s++; s < end && *s != '"'; s++)
				s += *s == '\\' && s + 1 < end;
		}
	}
	return open;
}

/* Looks in lines that do not count for the first probe. */
static void left_out(struct directives *d, const char *s, const char *end, u32 start)
{
	static const char *const c_words[] = { "struct", "union", "enum", "typedef" };
	size_t n = word_len(s, end);
	bool is_c = !n || !memchr(s, '{', (size_t)(end - s));

	for (size_t i = 0; i < ARRAY_SIZE(c_words); i++)
		is_c = is_c || (strlen(c_words[i]) == n && memcmp(s, c_words[i], n) == 0);
	if (!d->blank_depth && !is_c && !d->prog->first_blanked)
		d->prog->first_blanked = 1 + start;
	for (; s < end; s++)
		d->blank_depth += (*s == '{') - (*s == '}');
}

static void line(struct directives *d, size_t start, size_t end)
{
	const char *s = skip(d->text + start, d->text + end);
	bool is_directive = !d->in_comment && s < d->text + end && *s == '#';

	if (is_directive && !(start == 0 && s[1] == '!'))
		vec_push(&d->prog->directives,
			 ((struct directive){
				 { (u32)start, (u32)MIN(end + 1, d->len) },
				 arena_strndup(&d->prog->arena, s,
					       MIN((size_t)(d->text + end - s), 40u)) }));
	else if (!active(d))
		left_out(d, s, d->text + end, (u32)start);
	if (is_directive && d->strict && !known_directive(s, d->text + end))
		diag_error(d->diags, (struct span_at){ (u32)start, (u32)end },
			   "syntax: invalid preprocessing directive");
	if (is_directive && !(start == 0 && s[1] == '!'))
		directive(d, s, d->text + end, (struct span_at){ (u32)start, (u32)end });
	if (!is_directive)
		d->in_comment = comment_after(s, d->text + end, d->in_comment);
	if (is_directive || !active(d))
		memset(d->text + start, ' ', end - start);
}

void parse_directives(struct program *p, const struct source *src, bool strict, struct diags *diags)
{
	struct directives d = { .prog = p,
				.diags = diags,
				.text = (char *)src->text,
				.len = src->len,
				.strict = strict };

	if (!memchr(src->text, '#', src->len))
		return;
	for (size_t start = 0; start < src->len;) {
		const char *nl = memchr(src->text + start, '\n', src->len - start);
		size_t end = nl ? (size_t)(nl - src->text) : src->len;

		line(&d, start, end);
		start = end + 1;
	}
	if (d.depth)
		diag_error(diags, (struct span_at){ (u32)src->len, (u32)src->len },
			   "#if without #endif");
}
