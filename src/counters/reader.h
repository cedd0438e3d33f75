/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the functions of a source get: files below the root, and the place for values. Text of the
 * kernel is not trusted: what is not a number is left out, what is too much is counted.
 */
#ifndef COUNTERS_READER_H
#define COUNTERS_READER_H

#include "base/buf.h"
#include "base/err.h"
#include "counters/snapshot.h"

enum {
	READER_FILE_MOST = 16 << 20, /* bytes of one file; the rest is left out and counted */
	READER_FILES_KEPT = 200,     /* descriptors that stay open */
	READER_DIR_MOST = 1 << 16,   /* entries of one directory */
};

/* A file that is read in each sweep. */
struct reader_file {
	u32 path; /* of reader.paths */
	int fd;   /* -1: opened each time */
};

typedef VEC(u32) series_list;

struct reader {
	int root; /* directory, usually "/" */
	struct counter_set *set;
	struct snapshot *into;
	const struct counter_source *source;
	u32 source_index;
	struct intern paths;
	VEC(struct reader_file) files;
	struct map by_path;
	struct buf text;     /* of the current file */
	struct intern keys;  /* source, key -> number of key; see by_field */
	struct map by_field; /* key -> counter + 1 */
	/* The series of the k-th value of the last sweep: files rarely change their form. */
	series_list *memo;
	VEC(series_list) memos;
	size_t cursor;
	u64 truncated; /* files that were longer than READER_FILE_MOST */
};

void reader_init(struct reader *r, int root, struct counter_set *set);
void reader_release(struct reader *r);
void reader_begin(struct reader *r, u32 source, struct snapshot *into);

/*
 * The text of a file, valid until the next call; @len may be 0. The descriptor stays open as long
 * as the file can be read.
 */
int reader_text(struct reader *r, const char *path, const char **ret, size_t *ret_len);
/* The names in a directory, sorted as version numbers are, each followed by a NUL; "" at the end.
 */
int reader_names(struct reader *r, const char *path, struct buf *ret);
/* The number that a file consists of. */
bool reader_number(struct reader *r, const char *path, u64 *ret);

struct span {
	const char *s;
	size_t n;
};

#define SPAN(text) ((struct span){ (text), strlen(text) })
#define SPAN_NONE  ((struct span){ "", 0 })

/* A value by what its field is called in the file; one without a row gets a name of its own. */
void reader_put(struct reader *r, struct span field, struct span instance, u64 value);
/* The same where fields of several groups have the same name: "Tcp" "InSegs" is "tcp.InSegs". */
void reader_put_in(struct reader *r, const char *prefix, struct span field, struct span instance,
		   u64 value);
/* A value by the number of its row. */
void reader_put_row(struct reader *r, size_t row, struct span instance, u64 value);

/* --- the forms that files of the kernel have ---------------------------------------------------
 */

/* The next line of *text without its end; false: none. */
bool text_line(const char **text, const char *end, struct span *ret);
/* The next word of a line, which is moved past it. */
bool line_word(struct span *line, struct span *ret);
bool line_number(struct span *line, u64 *ret);
/* "12.34" as 1234: @digits of the fraction, the rest is left out. */
bool line_fixed(struct span *line, unsigned int digits, u64 *ret);
bool span_is(struct span s, const char *text);
bool span_number(struct span s, u64 *ret);

/* "key value" or "key: value kB", a line each. */
void parse_keyed(struct reader *r, const char *text, size_t len);
/* Numbers of a line in the order of the source's rows, from row @first on; more get names. */
void put_columns(struct reader *r, struct span line, struct span instance, size_t first, size_t n);

#endif
