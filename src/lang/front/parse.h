/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text to tree. The parser continues after an error at the next statement or probe, so that several
 * errors are reported at once; a program with errors must not be used further.
 */
#ifndef LANG_PARSE_H
#define LANG_PARSE_H

#include "lang/front/ast.h"
#include "lang/front/lex.h"

enum {
	PARSE_MAX_DEPTH = 128,       /* of nested expressions and blocks */
	PARSE_MAX_HEIGHT = 2000,     /* of a tree: 1 + 1 + 1 ... is a tree as high as it is long */
	PARSE_MAX_SOURCE = 16 << 20, /* bytes of a program */
	PARSE_MAX_PROBES = 16384,    /* written in the program */
	PARSE_MAX_NODES = 1 << 20,
};

struct parse_opts {
	const char *const *params; /* $1 ... */
	size_t n_params;
	bool strict; /* what bpftrace refuses is refused at the same place */
};

/* @src->text must be modifiable memory of its own: directives are blanked in it. */
void parse_program(struct program *p, const struct source *src, const struct parse_opts *opts,
		   struct diags *diags);

/* For the files of the parser. */
struct parser {
	struct lexer lx;
	struct program *prog;
	struct diags *diags;
	const struct parse_opts *opts;
	u32 depth;
	u32 nodes;
	bool at_end;                /* that the program ends too early was reported */
	u32 first;                  /* where something else than a C definition begins */
	u32 in_struct;              /* depth of C definitions */
	struct node *const *params; /* of the macro whose body this is; they may name types */
	size_t n_params;
	bool configured; /* by a config block */
	bool panic;      /* an error was reported, skip to a safe place */
};

struct node *parse_node(struct parser *p, enum node_kind kind, struct span_at at);
void parse_kids(struct parser *p, struct node *n, struct node **kids, size_t n_kids);
struct node *parse_expr(struct parser *p);
struct node *parse_block(struct parser *p);
struct node *parse_variable(struct parser *p);
/* After an error: to the end of the statement or block, so that the next one can be read. */
void parse_recover(struct parser *p);
/* The body of a macro has the value of its last statement, which may be a block or an if. */
void parse_body_value(struct parser *p, struct node *body);
/* "unexpected x, expecting y" at the current token. */
void parse_unexpected(struct parser *p, const char *expecting);
bool parse_is(const struct parser *p, u32 op);
bool parse_is_word(const struct parser *p, const char *word);
bool parse_accept(struct parser *p, u32 op);
bool parse_accept_word(struct parser *p, const char *word);
bool parse_expect(struct parser *p, u32 op, const char *text);
const char *parse_text(struct parser *p, const struct token *t);
/* False when what stands here is not the name of a type; nothing is consumed then. */
bool parse_type_name(struct parser *p, struct type_name *ret);
/* The same where nothing but a type can stand. */
bool parse_declared_type(struct parser *p, struct type_name *ret);
/* struct, union and enum definitions. */
void parse_c_definition(struct parser *p);
/* Blanks preprocessor lines in the text and keeps what they define. */
void parse_directives(struct program *p, const struct source *src, bool strict,
		      struct diags *diags);

#endif
