/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small expressions over the cells of a row: computed columns, and filters that the kernel cannot
 * evaluate. Numbers (with units: 10ms, 4K) and texts in quotes, columns by name,
 * + - * / == != < <= > >= && || ! and parentheses.
 */
#ifndef TOOL_EXPR_H
#define TOOL_EXPR_H

#include "lang/front/header.h"

/* Says what is wrong with it, without any row. */
int expr_check(const char *text, const struct tool_header *h, struct err *e);
/* Not a number where something it needs is missing; texts count as true when they are not empty. */
double expr_number(const char *text, const struct tool_header *h, const struct value *cells);

#endif
