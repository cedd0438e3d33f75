/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything that is known about the code of one file, apart from who mapped it. */
#ifndef SYMBOL_IMAGE_H
#define SYMBOL_IMAGE_H

#include "base/map.h"
#include "base/vec.h"
#include "symbol/debuginfod.h"
#include "symbol/lineindex.h"
#include "symbol/srcline.h"
#include "symbol/symbol.h"
#include "symbol/symtab.h"

/* A place in the source as it is kept; strings are ids in names, 0: not known. */
struct known_line {
	u32 function;
	u32 file;
	u32 line;
	u32 column;
	bool inlined;
};

/* Answers of symbols_lines() for a recording or from one. */
struct known_lines {
	struct map at; /* file offset -> first of list << 8 | how many, + 1 */
	VEC(struct known_line) list;
};

void known_lines_release(struct known_lines *k);

/* Source lines of a file: found and opened when they are first asked for. */
struct image_lines {
	struct srcline *srcline; /* NULL: none */
	bool tried;
	bool asked;              /* since symbols_lines_rest() was called last */
	u64 shift;               /* address in the debug file - address in the file itself */
	VEC(u32) names;          /* string of @srcline -> id of the store's name; 0: not made yet */
	const char *why;         /* there are none */
	struct lineindex *index; /* on disk; NULL: none */
	bool index_tried;
	struct map index_names; /* string of @index << 1 | is a function's -> id of the name */
	bool written;           /* what was found is on disk */
};

enum { IMAGE_FILE_ID = 17 };

struct image {
	struct symtab symtab;
	struct elf_segment *segments; /* loaded ones only */
	size_t segment_count;
	u8 build_id[MODULE_BUILD_ID_MAX];
	size_t build_id_len;
	u64 fingerprint;           /* of the file's headers */
	u64 identity;              /* of the file: elf.h */
	u8 file_id[IMAGE_FILE_ID]; /* which file it is and since when; all 0: not known */
	char *debug_file;          /* where the names came from, if not from the file; or NULL */
	bool complete;             /* the names are from a full symbol table */
	bool from_cache;
	struct image_lines lines;
	u32 named;       /* symbols that have a name */
	const char *why; /* what is missing, and what to do: constant text, or NULL */
	const char *hint;
};

/* How and for whom an image is read. */
struct image_source {
	const char *path; /* as its process knows it */
	const char *root; /* of its process, or NULL */
	const char *debug_dir;
	struct debuginfod *server;
	const char *cache_dir; /* NULL: no cache */
	bool no_debug_files;
	bool keep; /* put it into the cache, however small */
};

struct image *image_new(void);
void image_free(struct image *img);
/* As if lines had never been asked for. */
void image_close_lines(struct image *img);
/* Reads the file's names, or takes them from the cache. What is wrong is in why and hint. */
void image_load(struct image *img, const struct elf *elf, const struct image_source *src);
/* Whether a debug file has the names that @elf lacks. */
bool image_has_debug_file(const struct elf *elf, const struct image_source *src);
/* What there is to say about names that are not from a full symbol table. */
void image_explain(bool any_named, const char **ret_why, const char **ret_hint);
/* The vDSO of this process: all processes have the same. -ENOENT when there is none. */
int image_open_vdso(struct elf *ret);
int image_load_vdso(struct image *img);

/*
 * The disk cache: one file for each build and identity, made of the arrays as they are in memory,
 * so that loading is a mapping and a check. An entry of a file without a full symbol table says so:
 * it is used only as long as there is no debug file either, so that a package that is installed
 * later is not hidden by it.
 */
#define CACHE_MAX_TOTAL (512ull << 20)
#define CACHE_MAX_FILE  (1ull << 30)

struct cache_key {
	const u8 *build_id;
	size_t build_id_len;
	u64 identity;
};

int cache_load(struct image *img, const char *dir, const struct cache_key *key, u64 fingerprint);
/* For a file that is gone: the entry of its build id, if all that there are agree. */
int cache_load_lost(struct image *img, const char *dir, const u8 *build_id, size_t build_id_len);
/* Failing to write is not an error: there is just no cache. */
int cache_store(const struct image *img, const char *dir);
/* An entry that we wrote ourselves and that is no larger; its size is in *ret_size. */
int cache_open(const char *dir, const struct cache_key *key, const char *suffix, u64 max_size,
	       u64 *ret_size);
int cache_write(const char *dir, const struct cache_key *key, const char *suffix, const void *bytes,
		size_t len);
/* For tests and fuzzing: takes over a mapping if all of it is sound, otherwise leaves it alone. */
int cache_adopt(struct image *img, const void *map, size_t len, const u8 *build_id,
		size_t build_id_len, u64 fingerprint);

#endif
