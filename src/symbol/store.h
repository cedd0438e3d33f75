/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What struct symbols is made of; for the files of this folder only. */
#ifndef SYMBOL_STORE_H
#define SYMBOL_STORE_H

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "symbol/ask.h"
#include "symbol/image.h"
#include "symbol/kallsyms.h"
#include "runtime/jit.h"
#include "symbol/symbol.h"

/* Answers that were given, by where their function starts: they have the ids. */
struct answers {
	struct map by_start;
	VEC(struct symbol) list; /* list[id - 1] */
};

/* Names that a recording brought. */
struct carried_name {
	u64 start;
	u64 size;
	u32 name; /* id in names */
	u32 flags;
};

struct carried {
	VEC(struct carried_name) list;
	struct span_table spans; /* ids are indexes into list */
	bool stale;
};

struct module {
	struct module_key key; /* its pointers are ours */
	const char *short_name;
	struct image *image; /* owned by the store; NULL before it is loaded or if it cannot be */
	const char *why;
	const char *hint;
	bool loaded;
	struct elf
		*bytes; /* the file, for symbols_bytes(); NULL: not asked for, or not available */
	bool bytes_tried;
	bool probed; /* module_has_more() looked, and found ... */
	bool more;
	struct carried carried;
	struct answers answers;
	struct known_lines lines;
	bool lines_closed; /* debug information is not to be opened */
	u64 named, grouped, nameless;
};

struct ksymbol {
	u64 start;
	u64 size;
	u32 name; /* id in names */
	bool bpf;
};

struct kernel {
	struct kallsyms table;
	struct ask *ask; /* NULL: use the table */
	bool loaded;
	bool cached;     /* the table came from disk: without what passes */
	char *base_name; /* where the recorded kernel had this symbol, or NULL */
	u64 base_address;
	u8 build_id[MODULE_BUILD_ID_MAX];
	size_t build_id_len;
	u64 shift; /* recorded address - address in the table */
	const char *why;
	const char *hint;
	VEC(struct ksymbol) ksymbols;
	struct span_table ksymbol_spans;
	bool ksymbols_stale;
	struct carried carried;
	struct answers answers;
	struct map modules; /* id of an answer -> id in names of "[ext4]" */
	u64 named, nameless;
};

/* Of each answer: when its code came to be, as in struct jitdump_entry. */
struct answer_time {
	u64 time;
	u64 sure;
	bool several;
};

/* Run-time code of one process, and the answers from it. */
struct runtime_names {
	struct jit jit;
	struct answers answers;
	VEC(struct answer_time) times;
	struct dump_place *dump; /* NULL: it has no jitdump */
};

/* The kernel of a guest. */
struct guest {
	struct kallsyms table;
	VEC(u32) modules; /* names */
	struct span_table spans;
};

struct symbols {
	struct symbols_opts opts; /* its strings are ours */
	struct debuginfod server;
	struct arena arena;
	struct intern names;      /* every name that is handed out */
	struct intern identities; /* an id here is the id of the module */
	VEC(struct module *) modules;
	VEC(struct image *) images;
	struct map image_of_file; /* identity -> index of image + 1 */
	struct kernel kernel;
	struct guest guest;
	VEC(struct runtime_names *) runtimes;
	u64 began;                 /* CLOCK_MONOTONIC */
	u64 several;               /* addresses that were given the names of several functions */
	struct map runtime_of_pid; /* pid -> index in runtimes + 1 */
	struct buf scratch;
};

/* The name as shown: demangled, control characters made visible. Interned. */
u32 store_shown_name(struct symbols *s, const char *raw, const char *suffix);
/* Any text with its control characters made visible. Interned. */
u32 store_shown_text(struct symbols *s, const char *text);
/* Adds an answer; its id, names and all else are the caller's to fill but the id. */
const struct symbol *answers_add(struct answers *a, u64 key, const struct symbol *symbol);
const struct symbol *answers_find(const struct answers *a, u64 key);
void answers_release(struct answers *a);

const struct carried_name *carried_find(struct carried *c, u64 where);
void carried_release(struct carried *c);

/* NULL for ids that do not exist. */
struct module *store_module(const struct symbols *s, u32 id);
/* Finds the file and reads its names; what is wrong is in why and hint. Once for each module. */
void module_load(struct symbols *s, struct module *m);
/*
 * For a module of which the recording brought all that its file tells: whether a full symbol table
 * or debug information can be obtained here. False is far cheaper than loading the file.
 */
bool module_has_more(struct symbols *s, struct module *m);
/* The file, if it is the recorded one; otherwise why and hint are set. */
bool module_open_file(const struct symbols *s, struct module *m, struct elf *ret);
/* This process's vDSO, if @m is that. */
bool module_open_vdso(const struct symbols *s, const struct module *m, struct elf *ret);

void module_bytes_free(struct module *m);

/* False: not known. Otherwise *ret_n answers, perhaps none. */
bool known_lines_find(const struct symbols *s, const struct known_lines *k, u64 offset,
		      struct source_frame *ret, size_t max, size_t *ret_n);
void known_lines_add(struct symbols *s, struct known_lines *k, u64 offset,
		     const struct source_frame *frames, size_t n);

/*
 * Lines on disk, one file for each build id: unpacking the debug information of a library costs
 * more than all else in a report. Only of files that have such information. False: not known.
 */
bool lines_cache_find(struct symbols *s, struct image *img, u64 vaddr, struct source_frame *ret,
		      size_t max, size_t *ret_n);
bool lines_cache_wanted(const struct symbols *s, const struct image *img);
/* Debug information needs not be opened any more. */
bool lines_cache_is_whole(const struct symbols *s, struct image *img);
/* Writes what was found, or @all that is to be found. */
int lines_cache_write(const struct symbols *s, struct image *img, bool all, u64 *ret_size);
/* The same, at the end, if there is anything new. */
void lines_cache_save(const struct symbols *s, struct image *img);

/* The part of @ret that is about lines. */
void lines_info(const struct image_lines *l, struct module_info *ret);

void kernel_release(struct kernel *k);
void guest_release(struct guest *g);
void runtime_names_free(struct runtime_names *r);
/* Made on first sight; NULL when there are too many. */
struct runtime_names *runtime_names_of(struct symbols *s, pid_t pid);
/* The file that is mapped is a process's jitdump. The strings of @key are the store's. */
void runtime_note_dump(struct symbols *s, const struct module_key *key);

#endif
