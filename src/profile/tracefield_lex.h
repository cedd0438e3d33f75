/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of a print format: only for tracefield_parse.c. */
#ifndef PROFILE_TRACEFIELD_LEX_H
#define PROFILE_TRACEFIELD_LEX_H

#include "profile/tracefield_tree.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PUNCT, TOKEN_BAD };

struct token {
	enum token_kind kind;
	const char *s;
	size_t n;
	s64 value;
	const char *text; /* of a string, unescaped; pieces that follow one another are joined */
};

struct parser {
	struct tracefield *t;
	const char *at, *end;
	struct token now;
	u32 depth;
};

/* Notes the first fault and ends the parse; always false. */
bool lex_failed(struct parser *p, const char *why);
/* To the next token. False once something was wrong. */
bool lex_advance(struct parser *p);
bool token_is(const struct token *t, enum token_kind kind, const char *text);

static inline bool is_punct(const struct parser *p, const char *text)
{
	return token_is(&p->now, TOKEN_PUNCT, text);
}

static inline bool is_word(const struct parser *p, const char *text)
{
	return token_is(&p->now, TOKEN_WORD, text);
}

/* Takes the token if it is this one. */
bool lex_accept(struct parser *p, const char *punct);
/* The same, but anything else is a fault. */
bool lex_expect(struct parser *p, const char *punct);

#endif
