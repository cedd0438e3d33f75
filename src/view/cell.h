/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One value, written for people, for JSON and for CSV. */
#ifndef VIEW_CELL_H
#define VIEW_CELL_H

#include "base/buf.h"
#include "base/json.h"
#include "result/result.h"

/* With units, control characters made visible; nothing for an empty cell. */
void cell_text(struct buf *out, const struct value *v);
/* Raw number (nanoseconds, bytes), text in quotes, null for an empty cell. */
void cell_json(struct json *j, const struct value *v);
/* Raw number, text quoted where RFC 4180 asks for it; nothing for an empty cell. */
void cell_csv(struct buf *out, const struct value *v);
void cell_csv_text(struct buf *out, const char *s);

/* A real number as a value of the given type: negative counts become 0. */
struct value cell_of_real(enum value_type type, double d);
struct value cell_of_count(enum value_type type, u64 u);
/* Numbers stand on the right of their column, words on the left. */
bool cell_is_number(enum value_type type);

#endif
