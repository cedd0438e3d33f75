/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for addresses: of files (ELF), of the kernel, of code made at run time.
 *
 * One struct symbols holds what a command needs and owns every string it hands out: names stay
 * valid until symbols_free(). Nothing is read before it is requested. Not thread-safe: one
 * thread at a time.
 *
 * A return address points after its call, perhaps into the next function: look up address - 1
 * for every frame but the innermost.
 */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include "base/buf.h"
#include "base/err.h"
#include "elf/module_key.h"
#include "runtime/jit.h"

#include <sys/types.h>

struct symbols;

struct symbols_opts {
	const char *cache_dir;  /* NULL: "symbols" in the cache of fathom */
	const char *debug_dir;  /* NULL: /usr/lib/debug */
	const char *debuginfod; /* servers of debug files, separated by blanks; NULL: those that
				   $FATHOM_DEBUGINFOD names; none are asked unless named */
	bool no_cache;          /* neither read nor write the disk cache */
	bool keep;           /* also small tables go to the disk cache: their file may not stay */
	bool no_debug_files; /* only what is in the mapped file itself */
	bool no_demangle;    /* show names as the linker knows them */
	bool offline;        /* the recording of another machine: read neither the kernel's names
				nor files whose build id was not recorded */
	bool keep_lines;     /* what symbols_lines() finds is kept for symbols_lines_export() */
	bool ask_kernel;     /* kernel addresses are of this boot and few: the kernel is
				requested each instead of reading all of /proc/kallsyms */
};

/* @opts may be NULL. */
struct symbols *symbols_new(const struct symbols_opts *opts);
void symbols_free(struct symbols *s);

enum symbol_flags {
	SYM_FDE = 1 << 0,     /* nameless code, grouped by its unwind entry: "git+0x1a2b0" */
	SYM_KERNEL = 1 << 1,  /* start is an address */
	SYM_JIT = 1 << 2,     /* from a perf map; start is an address */
	SYM_BPF = 1 << 3,     /* a BPF program or trampoline */
	SYM_PLT = 1 << 4,     /* "foo@plt" */
	SYM_IFUNC = 1 << 5,   /* chosen at load time */
	SYM_CARRIED = 1 << 6, /* from the recording, not from a file of this machine */
};

struct symbol {
	const char *name;     /* for people: demangled */
	const char *raw_name; /* as in the file */
	u64 start;            /* file offset; address for the kernel and run-time code */
	u64 size;             /* never 0 */
	u32 flags;            /* enum symbol_flags */
	u32 id;               /* from 1; the same function of the same module: the same id */
};

/* The longest build id that is kept; longer ones are cut. */
enum { MODULE_BUILD_ID_MAX = 64 };

/* The module's id, from 1: one per build id and path, or per path, device and inode without. */
u32 symbols_module(struct symbols *s, const struct module_key *key);
/* How many modules there are: ids are 1 to this. */
u32 symbols_module_count(const struct symbols *s);

/*
 * The function at a file offset. False when there is no name and no unwind entry for it: show
 * the module's name alone, and symbols_module_info() says why.
 */
bool symbols_lookup(struct symbols *s, u32 module, u64 file_offset, struct symbol *ret);
/* The link-time address of a file offset, as debug information and disassembly know it. */
bool symbols_vaddr(struct symbols *s, u32 module, u64 file_offset, u64 *ret);

/*
 * Up to @n bytes of the module's file, if that is the recorded one; how many, 0: it cannot be read.
 */
size_t symbols_bytes(struct symbols *s, u32 module, u64 file_offset, void *ret, size_t n);
/* When the file whose bytes were read was written, in seconds since 1970; 0: not known. */
u64 symbols_bytes_time(const struct symbols *s, u32 module);

/* A place in the source. Strings belong to the store. */
struct source_frame {
	const char *function; /* as the debug information has it, demangled; NULL: not known */
	const char *file;     /* NULL: not known */
	u32 line;     /* of the code; in a frame after the first, of the inlined call; or 0 */
	u32 column;   /* or 0 */
	bool inlined; /* its code is part of the next frame's function */
};

/* More calls than these in one another are not followed. */
enum { SOURCE_MAX_FRAMES = 64 };

/*
 * Where in the source a file offset is: the innermost inlined function first, the function whose
 * code it is last. Returns how many frames there are, at most @max; 0: no debug information for
 * it. The first look-up in a compilation unit indexes that unit, later ones take under 1 us.
 */
size_t symbols_lines(struct symbols *s, u32 module, u64 file_offset, struct source_frame *ret,
		     size_t max);
/*
 * Whether there are lines of a module whose names were requested, and how many bytes of debug
 * information the first look-up opens; 0: none, all lines are in the index on disk.
 */
bool symbols_lines_cost(struct symbols *s, u32 module, u64 *ret_bytes);
/* From now on only what is in the index on disk is reported: no debug information is opened. */
void symbols_lines_close(struct symbols *s, u32 module);
/*
 * Debug information that is open holds many times the memory of names. For what runs for long: that
 * which was not asked since the last call is closed, with its answers written to the cache; when
 * something else is asked, it is opened again.
 */
void symbols_lines_rest(struct symbols *s);
/*
 * Puts all lines of a module into the index on disk; *ret_size is that of the file. -EEXIST: they
 * are there; -ENODATA: it has none; -EFBIG: more than @max_bytes of debug information, unpacked.
 */
int symbols_lines_build(struct symbols *s, u32 module, u64 max_bytes, u64 *ret_size);
/* Why a module has no source lines, or only some, and what to do about it; NULL: all is well. */
const char *symbols_lines_why(struct symbols *s, u32 module, const char **ret_hint);
/* The answers so far as bytes for a recording, and the reverse: they are used before files. */
void symbols_lines_export(const struct symbols *s, struct buf *ret);
int symbols_lines_import(struct symbols *s, const void *blob, size_t len, struct err *e);

struct module_info {
	const char *path;       /* as recorded, without " (deleted)" */
	const char *short_name; /* its last part; "[vdso]" and the like as they are */
	const u8 *build_id;     /* recorded, or found in the file; NULL when there is none */
	size_t build_id_len;
	const char *debug_file; /* where the names were found, if not in the file; or NULL */
	const char *why;        /* why there are no names, or only some; NULL if all is well */
	const char *hint;       /* what to do about it, or NULL */
	u32 lines_units;        /* compilation units with lines, those checked, and those of */
	u32 lines_indexed;      /* them that are broken */
	u32 lines_broken;
	u32 symbol_count;
	bool loaded;     /* a name was requested */
	bool from_cache; /* the names came from the disk cache */
	/* Look-ups of this module by what came out. */
	u64 named, grouped, nameless; /* grouped: SYM_FDE */
};

/* False for ids that do not exist. Strings belong to the store. */
bool symbols_module_info(const struct symbols *s, u32 module, struct module_info *ret);
/* Its file exists on this machine, in whatever version. */
bool symbols_module_exists(const struct symbols *s, u32 module);
/* "libc.so.6"; "" for ids that do not exist. */
const char *symbols_module_name(const struct symbols *s, u32 module);

/*
 * The kernel's function at an address: from /proc/kallsyms, unless the text of a recording was
 * given. *ret_module (may be NULL) is "[kernel.kallsyms]", "[ext4]" or "bpf"; written also when
 * there is no name.
 */
bool symbols_kernel(struct symbols *s, u64 address, struct symbol *ret, const char **ret_module);
/* The kallsyms text that a recording carries; replaces what is there. Copied. */
void symbols_set_kallsyms(struct symbols *s, const char *text, size_t len);
/*
 * Where the recorded kernel had one of its symbols (the kernel mmap record: "_text", "_stext").
 * Another boot of the same kernel put it elsewhere: addresses are shifted, if the build id is
 * that of the running kernel (or unknown); names of another kernel are refused.
 */
void symbols_set_kernel_base(struct symbols *s, const char *symbol, u64 address, const u8 *build_id,
			     size_t build_id_len);
/* PERF_RECORD_KSYMBOL: a BPF program, trampoline or the like that came later. Later ones win. */
void symbols_add_ksymbol(struct symbols *s, u64 address, u64 size, const char *name, bool bpf);
/* Look-ups of the kernel that found nothing. */
u64 symbols_kernel_nameless(const struct symbols *s);
/* Why kernel addresses have no names (NULL if they have) and what to do (may be NULL). */
const char *symbols_kernel_why(const struct symbols *s, const char **ret_hint);

/*
 * Copies of a guest's /proc/kallsyms and /proc/modules name the code of its kernel; each may be
 * NULL. All guests of a recording are taken for that one, as perf does.
 */
int symbols_guest_open(struct symbols *s, const char *kallsyms, const char *modules, struct err *e);
/* The guest's function at an address; *ret_module is "[guest.kernel]" or "[guest.ext4]". */
bool symbols_guest(struct symbols *s, u64 address, struct symbol *ret, const char **ret_module);

/*
 * Code made at run time, by the perf map that its process writes: ROOT/tmp/perf-NSPID.map. A root
 * of NULL is /proc/PID/root, a nspid of 0 is asked from /proc. @time_ns (CLOCK_MONOTONIC) limits
 * how often a map is read again for an address that it does not know; 0 is now.
 */
bool symbols_jit(struct symbols *s, pid_t pid, pid_t nspid, const char *root, u64 address,
		 u64 time_ns, struct symbol *ret);
/*
 * The source line of code that a jitdump named: only file and line of *@ret are set. Jitdumps are
 * found by their mapping: symbols_module() of a file called jit-PID.dump, with a pid.
 */
/*
 * An address at which several functions may have been has the name "B or A": at a moment of which
 * it is not known whether B was there already, and asked with a time of 0, at any moment since
 * symbols_new(). How many such there were.
 */
u64 symbols_several(const struct symbols *s);
/*
 * How often until @time_ns code of the process took the place of other code, as far as is known:
 * while it stays the same, so does what an address means.
 */
u64 symbols_jit_changes(struct symbols *s, pid_t pid, u64 time_ns);
bool symbols_jit_line(struct symbols *s, pid_t pid, u64 address, u64 time_ns,
		      struct source_frame *ret);

/* Appends the bytes. -ENOENT when there are none for this address. */
int symbols_jit_unwind(struct symbols *s, pid_t pid, u64 address, u64 time_ns,
		       struct jit_unwind *ret, struct buf *ret_bytes);
/* Appends the bytes of the function at @address, at most @max; -ENOENT: no jitdump has them. */
int symbols_jit_bytes(struct symbols *s, pid_t pid, u64 address, u64 time_ns, size_t max,
		      struct buf *ret);
/* Why run-time code of this process has no names; NULL if it has a map. */
const char *symbols_jit_why(const struct symbols *s, pid_t pid);

/* Names that came with a recording. They are used before files, except where SYM_FDE. */
struct symbol_range {
	u64 start; /* file offset; address when @module is 0: the kernel */
	u64 size;
	const char *name; /* as in the file, not demangled */
	u32 flags;
};
void symbols_carry(struct symbols *s, u32 module, const struct symbol_range *ranges, size_t n);
/* Everything that was named so far, but run-time code, as bytes for a recording. */
void symbols_export(const struct symbols *s, struct buf *ret);
/* The reverse; nothing is taken from a broken blob. */
int symbols_import(struct symbols *s, const void *blob, size_t len, struct err *e);

/* Code made at run time, as a recording carries it. */
struct symbol_code {
	pid_t pid;
	u64 time; /* not before this it came to be, CLOCK_MONOTONIC; 0: always */
	u64 start;
	u64 size;
	const char *name;
	u64 sure; /* and not after this; below @time: at @time */
	bool several;
};
/* Appends one to the bytes for a recording; the first comes into an empty buffer. */
void symbols_code_pack(struct buf *ret, const struct symbol_code *c);
/* All run-time code that was named so far. Nothing is written without any. */
void symbols_code_export(const struct symbols *s, struct buf *ret);
/* The reverse: such code is known before any map is read. Nothing is taken from a broken blob. */
int symbols_code_import(struct symbols *s, const void *blob, size_t len, struct err *e);
struct code_names;
/* Those of a runtime on this machine, from the one with this index on; returns how many it has. */
size_t symbols_code_take(struct symbols *s, const struct code_names *names, size_t from);

#endif
