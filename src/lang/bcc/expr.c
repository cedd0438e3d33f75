/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/bcc/expr.h"

#include "host/cpu.h"

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t word_len(const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && is_word(p[n]))
		n++;
	return n;
}

static const char *skip_quoted(const char *p, const char *end)
{
	char quote = *p;

	for (p++; p < end; p++) {
		if (*p == quote)
			return p + 1;
		p += *p == '\\' && p + 1 < end;
	}
	return end;
}

const char *bcc_skip(const char *p, const char *end)
{
	u32 depth = 0;

	while (p < end) {
		if (*p == '"' || *p == '\'') {
			p = skip_quoted(p, end);
		} else {
			depth += *p == '(' || *p == '[';
			depth -= *p == ')' || *p == ']';
			p++;
		}
		if (!depth)
			return p;
	}
	return end;
}

/* --- types ------------------------------------------------------------------------------------ */

struct c_type {
	const char *name;
	const char *ours;
};

static const struct c_type c_types[] = {
	{ "char", "int8" },
	{ "signed char", "int8" },
	{ "unsigned char", "uint8" },
	{ "short", "int16" },
	{ "unsigned short", "uint16" },
	{ "int", "int32" },
	{ "unsigned", "uint32" },
	{ "unsigned int", "uint32" },
	{ "long", "int64" },
	{ "long int", "int64" },
	{ "unsigned long", "uint64" },
	{ "unsigned long int", "uint64" },
	{ "long long", "int64" },
	{ "unsigned long long", "uint64" },
	{ "pid_t", "int32" },
	{ "uid_t", "uint32" },
	{ "gid_t", "uint32" },
	{ "gfp_t", "uint32" },
	{ "mode_t", "uint32" },
	{ "umode_t", "uint16" },
	{ "off_t", "int64" },
	{ "loff_t", "int64" },
	{ "time_t", "int64" },
	{ "socklen_t", "uint32" },
	{ "u8", "uint8" },
	{ "u16", "uint16" },
	{ "u32", "uint32" },
	{ "u64", "uint64" },
	{ "s8", "int8" },
	{ "s16", "int16" },
	{ "s32", "int32" },
	{ "s64", "int64" },
	{ "__u8", "uint8" },
	{ "__u16", "uint16" },
	{ "__u32", "uint32" },
	{ "__u64", "uint64" },
	{ "uint8_t", "uint8" },
	{ "uint16_t", "uint16" },
	{ "uint32_t", "uint32" },
	{ "uint64_t", "uint64" },
	{ "int8_t", "int8" },
	{ "int16_t", "int16" },
	{ "int32_t", "int32" },
	{ "int64_t", "int64" },
	{ "size_t", "uint64" },
	{ "ssize_t", "int64" },
	{ "uintptr_t", "uint64" },
	{ "bool", "bool" },
};

static const char *our_type(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(c_types); i++) {
		if (streq(c_types[i].name, name))
			return c_types[i].ours;
	}
	return NULL;
}

/* One blank between words, a '*' after a blank, no words that change nothing. */
const char *bcc_type(struct arena *arena, const char *text, size_t len)
{
	static const char *const dropped[] = { "const", "volatile", "__user", "register",
					       "restrict" };
	_cleanup_buf_ struct buf out = BUF_INIT;
	const char *p = text, *end = text + len;

	while (p < end) {
		size_t n = word_len(p, end), i = 0;

		while (i < ARRAY_SIZE(dropped) &&
		       !(n == strlen(dropped[i]) && memcmp(p, dropped[i], n) == 0))
			i++;
		if (!n && *p == '*') {
			buf_addstr(&out, out.len && out.data[out.len - 1] != '*' ? " *" : "*");
		} else if (n && i == ARRAY_SIZE(dropped)) {
			if (out.len)
				buf_addch(&out, ' ');
			buf_add(&out, p, n);
		}
		p += MAX(n, 1u);
	}
	return arena_strdup(arena, buf_str(&out));
}

/* Is it a pointer to text? */
static bool bcc_is_string(const char *type)
{
	return streq(type, "char *") || streq(type, "unsigned char *");
}

void bcc_convert(const char *type, const char *expr, struct buf *out)
{
	const char *ours = our_type(type);

	if (bcc_is_string(type))
		buf_addf(out, "str(%s)", expr);
	else if (ours)
		buf_addf(out, "(%s)(%s)", ours, expr);
	else if (ends_with(type, "*") && !starts_with(type, "void"))
		buf_addf(out, "(%s)(%s)", type, expr);
	else
		buf_addf(out, "(%s)", expr);
}

/* --- signatures ------------------------------------------------------------------------------- */

static void add_param(struct bcc_scope *s, const char *text, size_t len)
{
	size_t name = len;

	while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	for (name = len; name && is_word(text[name - 1]);)
		name--;
	/* "void", "..." and a type alone have no name, but "void" is not a parameter either */
	if (!name) {
		if (len && !(len == 4 && memcmp(text, "void", 4) == 0))
			vec_push(&s->params,
				 (struct bcc_param){ bcc_type(s->arena, text, len), "" });
		return;
	}
	vec_push(&s->params,
		 (struct bcc_param){ bcc_type(s->arena, text, name),
				     arena_strndup(s->arena, text + name, len - name) });
}

void bcc_signature(struct bcc_scope *s, const char *text, size_t len)
{
	const char *end = text + len, *p = text;

	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		const char *stop = comma ? comma : end;

		while (p < stop && (*p == ' ' || *p == '\t'))
			p++;
		add_param(s, p, (size_t)(stop - p));
		p = comma ? comma + 1 : end;
	}
}

void bcc_scope_release(struct bcc_scope *s)
{
	vec_release(&s->params);
}

/* --- expressions ------------------------------------------------------------------------------ */

static const struct c_type words[] = {
	{ "retval", "retval" }, { "$retval", "retval" }, { "$PID", "pid" }, { "$COMM", "comm" },
	{ "$uid", "uid" },      { "$gid", "gid" },       { "$pid", "tid" }, { "$tgid", "pid" },
	{ "$cpu", "cpu" },      { "$task", "curtask" },  { "NULL", "0" },
};

/* Argument @i, from 0. */
static void add_value(const struct bcc_scope *s, size_t i, struct buf *out)
{
	int offset = s->in_wrapper ? cpu_syscall_argument((u32)i) : -1;

	if (offset >= 0)
		buf_addf(out, "(*(uint64 *)(arg0 + %d))", offset);
	else
		buf_addf(out, "arg%zu", i);
}

bool bcc_entry(const struct bcc_scope *s, const char *name, struct buf *out)
{
	for (size_t i = 0; i < s->params.len; i++) {
		const struct bcc_param *p = &s->params.items[i];
		_cleanup_buf_ struct buf arg = BUF_INIT;

		if (!streq(p->name, name))
			continue;
		add_value(s, i, &arg);
		if (bcc_is_string(p->type)) {
			buf_addstr(out, buf_str(&arg));
			return true;
		}
		/* in brackets: "->" may follow */
		buf_addch(out, '(');
		bcc_convert(p->type, buf_str(&arg), out);
		buf_addch(out, ')');
		return true;
	}
	return false;
}

const char *bcc_entry_name(const struct bcc_scope *s, const char *text)
{
	const char *open = starts_with(text, "$entry");
	size_t n;

	if (!open)
		return NULL;
	open += strspn(open, " \t");
	if (*open != '(')
		return NULL;
	open += 1 + strspn(open + 1, " \t");
	n = word_len(open, open + strlen(open));
	return n ? arena_strndup(s->arena, open, n) : NULL;
}

/* STRCMP("text", pointer) */
static const char *add_strcmp(const struct bcc_scope *s, const char *p, const char *end,
			      struct buf *out)
{
	const char *close, *comma, *second;
	size_t first_len, second_len;

	while (p < end && *p != '(')
		p++;
	close = p < end ? bcc_skip(p, end) : end;
	if (p == end || close == p + 1)
		return end;
	p += 1 + strspn(p + 1, " \t");
	comma = *p == '"' ? bcc_skip(p, close) : memchr(p, ',', (size_t)(close - p));
	if (!comma)
		return close;
	first_len = (size_t)(comma - p);
	second = comma + strspn(comma, ", \t");
	second_len = second < close - 1 ? (size_t)(close - 1 - second) : 0;
	buf_addstr(out, "(str(");
	if (*p == '"')
		bcc_expr(s, second, second_len, out);
	else
		bcc_expr(s, p, first_len, out);
	if (*p == '"')
		buf_addf(out, ") == %.*s)", (int)first_len, p);
	else
		buf_addf(out, ") == %.*s)", (int)second_len, second);
	return close;
}

/* argN counts from 1 there and from 0 here; "@user" says which memory it points to. */
static bool add_argument(const struct bcc_scope *s, const char *word, size_t n, const char **next,
			 const char *end, struct buf *out)
{
	bool user = (size_t)(end - *next) >= 5 && memcmp(*next, "@user", 5) == 0;

	if (n != 4 || memcmp(word, "arg", 3) || word[3] < '1' || word[3] > '9')
		return false;
	buf_addstr(out, user ? "uptr(" : "");
	add_value(s, (size_t)(word[3] - '1'), out);
	buf_addstr(out, user ? ")" : "");
	*next += user ? 5 : 0;
	return true;
}

static void add_word(const struct bcc_scope *s, const char *p, size_t n, const char **next,
		     const char *end, struct buf *out)
{
	const char *word = arena_strndup(s->arena, p, n), *entry;

	if (streq(word, "STRCMP")) {
		*next = add_strcmp(s, *next, end, out);
		return;
	}
	entry = streq(word, "$entry") ? bcc_entry_name(s, p) : NULL;
	if (entry) {
		buf_addf(out, "$entry_%s", entry);
		while (*next < end && **next != ')')
			(*next)++;
		*next += *next < end;
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (streq(words[i].name, word)) {
			buf_addstr(out, words[i].ours);
			return;
		}
	}
	if ((s->at_return || !bcc_entry(s, word, out)) && !add_argument(s, p, n, next, end, out))
		buf_add(out, p, n);
}

/* 'x' is a number in C. */
static const char *add_char(const char *p, const char *end, struct buf *out)
{
	const char *next = bcc_skip(p, end);

	if (next - p == 3)
		buf_addf(out, "%d", p[1]);
	else if (next - p == 4 && p[1] == '\\')
		buf_addf(out, "%d",
			 p[2] == 'n'   ? '\n'
			 : p[2] == 't' ? '\t'
			 : p[2] == '0' ? 0
				       : p[2]);
	else
		buf_add(out, p, (size_t)(next - p));
	return next;
}

void bcc_expr(const struct bcc_scope *s, const char *text, size_t len, struct buf *out)
{
	const char *p = text, *end = text + len;
	bool member = false;

	while (p < end) {
		size_t n = word_len(p, end);
		const char *next = p + MAX(n, 1u);

		if (*p == '"') {
			next = bcc_skip(p, end);
			buf_add(out, p, (size_t)(next - p));
		} else if (*p == '\'') {
			next = add_char(p, end, out);
		} else if (n && !member && !is_digit(*p)) {
			add_word(s, p, n, &next, end, out);
		} else {
			buf_add(out, p, (size_t)(next - p));
		}
		if (n || (*p != ' ' && *p != '\t'))
			member = !n && (*p == '.' || (*p == '>' && p > text && p[-1] == '-'));
		p = next;
	}
}
