/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streaming JSON writer. Commas and indentation are its business; the caller opens, names and
 * closes. Strings are written as valid UTF-8: bytes that are not become U+FFFD.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"

enum { JSON_MAX_DEPTH = 64 };

struct json {
	struct buf *out;
	bool pretty;
	int depth;
	bool has_items[JSON_MAX_DEPTH];
	bool after_key;
};

void json_init(struct json *j, struct buf *out, bool pretty);
void json_open(struct json *j);  /* { */
void json_close(struct json *j); /* } */
void json_array(struct json *j); /* [ */
void json_end(struct json *j);   /* ] */
void json_key(struct json *j, const char *key);
void json_str(struct json *j, const char *s);
void json_strn(struct json *j, const char *s, size_t n);
/* A value that is JSON already. */
void json_raw(struct json *j, const char *text, size_t n);
void json_u64(struct json *j, u64 v);
void json_s64(struct json *j, s64 v);
/* Not a number and infinity become null. */
void json_double(struct json *j, double v);
void json_bool(struct json *j, bool v);
void json_null(struct json *j);

/* Key and value in one call. */
void json_kv_str(struct json *j, const char *key, const char *s);
void json_kv_u64(struct json *j, const char *key, u64 v);
void json_kv_s64(struct json *j, const char *key, s64 v);
void json_kv_double(struct json *j, const char *key, double v);
void json_kv_bool(struct json *j, const char *key, bool v);
/* Only the quoted, escaped text. */
void json_quote(struct buf *out, const char *s, size_t n);

#endif
