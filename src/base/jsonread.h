/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON read piece by piece, without building anything: what is not asked for costs nothing.
 *
 *	if (json_read(&r) == READ_OBJECT)
 *		while (json_read(&r) == READ_KEY) {
 *			if (streq(json_text(&r), "name") && json_read(&r) == READ_STRING)
 *				... json_text(&r) ...
 *			else
 *				json_read_skip(&r);
 *		}
 *
 * After an error every call gives READ_ERROR again; fault and offset say what and where.
 */
#ifndef BASE_JSONREAD_H
#define BASE_JSONREAD_H

#include "base/buf.h"

enum { JSON_READ_DEPTH = 256 };

enum json_piece {
	READ_ERROR,
	READ_END, /* of the text */
	READ_OBJECT,
	READ_OBJECT_END,
	READ_ARRAY,
	READ_ARRAY_END,
	READ_KEY,
	READ_STRING,
	READ_NUMBER,
	READ_TRUE,
	READ_FALSE,
	READ_NULL,
};

struct json_reader {
	const char *start, *p, *end;
	const char *fault; /* NULL: none so far */
	double number;     /* of the last READ_NUMBER */
	struct buf text;   /* of the last READ_KEY or READ_STRING; may hold NULs */
	enum json_piece last;
	int depth;
	bool need_value; /* after a key */
	bool has_items[JSON_READ_DEPTH];
	bool is_object[JSON_READ_DEPTH];
};

void json_reader_init(struct json_reader *r, const char *text, size_t len);
void json_reader_release(struct json_reader *r);
enum json_piece json_read(struct json_reader *r);
/* Skips the value of the key that was just read, or the rest of one that was just opened. */
void json_read_skip(struct json_reader *r);
static inline const char *json_text(const struct json_reader *r)
{
	return buf_str(&r->text);
}
static inline size_t json_offset(const struct json_reader *r)
{
	return (size_t)(r->p - r->start);
}

#endif
