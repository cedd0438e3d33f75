/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Characters to tokens. Tokens point into the source; nothing is copied. */
#ifndef LANG_LEX_H
#define LANG_LEX_H

#include "lang/front/diag.h"

enum token_kind {
	TOK_END,
	TOK_ERROR, /* reported already */
	TOK_IDENT,
	TOK_INT,
	TOK_STRING,
	TOK_VAR,           /* $x */
	TOK_MAP,           /* @x */
	TOK_PARAM,         /* $1 */
	TOK_PARAM_COUNT,   /* $# */
	TOK_END_PREDICATE, /* '/' before '{' */
	/* Punctuation: the token's op is its characters as a number, OP('<', '<', '='). */
	TOK_OP,
};

/* Up to three characters of an operator in one number. */
#define OP1(a)       ((u32)(u8)(a))
#define OP2(a, b)    ((u32)(u8)(a) | (u32)(u8)(b) << 8)
#define OP3(a, b, c) ((u32)(u8)(a) | (u32)(u8)(b) << 8 | (u32)(u8)(c) << 16)

struct token {
	enum token_kind kind;
	struct span_at at;
	u32 op;
	u64 value;        /* TOK_INT, TOK_PARAM */
	bool is_unsigned; /* TOK_INT: written with a u suffix or too large for a signed one */
	bool duration;    /* TOK_INT: written with a unit, value is nanoseconds */
};

struct lexer {
	const struct source *src;
	struct diags *diags;
	bool strict; /* numbers have the forms of bpftrace alone */
	u32 pos;
	struct token tok; /* the current one */
	u32 prev_end;     /* end of the one before */
};

void lex_init(struct lexer *lx, const struct source *src, struct diags *diags);
/* Moves on to the next token. */
void lex_next(struct lexer *lx);
/* Goes to a byte of the source and reads the token there. */
void lex_seek(struct lexer *lx, u32 pos);
/* First byte at or after @pos that is neither blank nor comment. */
u32 lex_skip_blank(const struct lexer *lx, u32 pos);
/* The value of a text that is one number, such as 0x10, 1e3 or 5s, perhaps with a sign. */
bool lex_literal(const char *text, u64 *ret);
/* The text of a string token without quotes, escapes done; appended to @out. */
void lex_unquote(struct lexer *lx, const struct token *t, struct buf *out);

#endif
