/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that HotSpot (java) compiles at run time has no frame information and, unless configured
 * otherwise, no frame pointers; but the machine knows the frame size of each piece of code, and
 * exports a description of its own structures. From these, rules for the unwinder are made.
 *
 * Everything is read from the memory of a process that runs and may lie: numbers are checked, walks
 * are bounded.
 */
#ifndef RUNTIME_HOTSPOT_H
#define RUNTIME_HOTSPOT_H

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "runtime/code.h"
#include "host/mappings.h"

enum {
	HOTSPOT_MAX_FIELDS = 1 << 16, /* of the description */
	HOTSPOT_MAX_HEAPS = 16,
	HOTSPOT_MAX_BLOBS = 1 << 18,
	HOTSPOT_MAX_BLOB = 16 << 20, /* bytes of one piece of code */
	HOTSPOT_MAX_FRAME = 1 << 20, /* bytes of a frame */
};
#define HOTSPOT_NAMELESS  "[java code]"
#define HOTSPOT_MAX_CACHE (2ull << 30) /* bytes of all code */

/* Where a field is, and how many bytes it has. */
struct hotspot_field {
	u64 offset; /* or its address, for those that exist once */
	u32 size;   /* 0: this machine has no such field */
};

enum hotspot_field_id {
	HOTSPOT_HEAPS,
	HOTSPOT_ARRAY_LEN,
	HOTSPOT_ARRAY_DATA,
	HOTSPOT_HEAP_MEMORY,
	HOTSPOT_HEAP_SHIFT,
	HOTSPOT_SPACE_LOW,
	HOTSPOT_SPACE_HIGH,
	HOTSPOT_SPACE_END, /* of what may ever be used */
	HOTSPOT_BLOCK_HEADER,
	HOTSPOT_HEADER_LENGTH,
	HOTSPOT_HEADER_USED,
	HOTSPOT_BLOB_NAME,
	HOTSPOT_BLOB_SIZE,
	HOTSPOT_BLOB_FRAME,
	HOTSPOT_BLOB_COMPLETE,
	HOTSPOT_BLOB_CODE,        /* address, until 22 */
	HOTSPOT_BLOB_CODE_OFFSET, /* from 23 on */
	HOTSPOT_NEEDED,           /* those before are for rules; the rest for names */
	HOTSPOT_CODE_METHOD = HOTSPOT_NEEDED,
	HOTSPOT_COMPILED_METHOD, /* the same, in versions that have this type */
	HOTSPOT_METHOD_CONST,
	HOTSPOT_CONST_POOL,
	HOTSPOT_CONST_NAME,
	HOTSPOT_POOL_CLASS,
	HOTSPOT_CLASS_NAME,
	HOTSPOT_TEXT_LENGTH,
	HOTSPOT_TEXT_BYTES,
	HOTSPOT_NAMES_END, /* the rest: inlined methods */
	HOTSPOT_PC_OFFSET = HOTSPOT_NAMES_END,
	HOTSPOT_PC_SCOPE,
	HOTSPOT_VERSION, /* exists once */
	HOTSPOT_CODE_POSITIONS,
	HOTSPOT_INSIDE, /* up to java 22 all is in the blob */
	HOTSPOT_CODE_METADATA = HOTSPOT_INSIDE,
	HOTSPOT_CODE_SCOPES,
	HOTSPOT_CODE_DEPENDENCIES, /* follow the positions */
	HOTSPOT_OUTSIDE,           /* from 25 on elsewhere */
	HOTSPOT_CODE_MUTABLE = HOTSPOT_OUTSIDE,
	HOTSPOT_CODE_MUTABLE_SIZE,
	HOTSPOT_CODE_RELOCATION_SIZE,
	HOTSPOT_CODE_IMMUTABLE,
	HOTSPOT_CODE_IMMUTABLE_SIZE,
	HOTSPOT_CODE_SCOPES_OFFSET,
	HOTSPOT_OUTSIDE_END,
	HOTSPOT_CODE_COMPILATION = HOTSPOT_OUTSIDE_END, /* a number of its own for each */
	HOTSPOT_BLOB_DATA,                              /* follows the code */
	HOTSPOT_COUNTERS,                               /* exists once */
	HOTSPOT_FIELDS,
};

/* A piece of code whose rows were made before: they are those from first on. */
struct hotspot_blob {
	u64 address;
	u64 identity;
	u64 code; /* up to ... */
	u64 end;
	u32 first;
	u32 count;
};

/* An interpreted method whose name was read. */
struct hotspot_method {
	u64 word;    /* as it is in stacks */
	u64 checked; /* its name was right then, CLOCK_MONOTONIC; 0: it could not be read */
	u64 unloads; /* as many classes had been unloaded */
	u32 name;    /* in the strings, + 1 */
};

struct hotspot {
	int pid;
	struct hotspot_field field[HOTSPOT_FIELDS];
	u64 block_size;    /* of the header before each piece of code */
	u64 pool_size;     /* of what is before the entries of a constant pool */
	u64 position_size; /* of a debug position; 0: inlined methods are unknown */
	bool scopes_inside;
	u32 version; /* of java: 17 */
	bool has_names;
	bool changed;             /* the last walk found other code than the one before it, ... */
	bool freed;               /* ... and some of that gone */
	u64 looked;               /* when the code was walked last, CLOCK_MONOTONIC */
	struct code_names *names; /* what the code is called goes there, unless NULL */
	struct code_rows code;
	VEC(struct hotspot_blob) blobs, old_blobs;
	struct map by_address; /* index + 1 in old_blobs */
	struct map method_of;  /* interpreted: index + 1 in methods */
	VEC(struct hotspot_method) methods;
	u64 unloads_at;    /* where its number of unloaded classes is; 0: not known */
	u64 unloads;       /* as it was last */
	u64 unloads_began; /* as it was first */
};

/* -ENOENT: the process has no HotSpot; -ENOTSUP: one whose description we do not understand. */
int hotspot_init(struct hotspot *h, int pid, struct err *e);
void hotspot_release(struct hotspot *h);
/* Walks the code and makes h->code; new code gets names. */
int hotspot_refresh(struct hotspot *h, struct err *e);
/* Marks what others may have had code in since the last look; @now: when this one began. */
void hotspot_note_unseen(struct hotspot *h, u64 now);

/* The process has ended: what it did with its code after the last walk is not known. */
void hotspot_ended(struct hotspot *h);

/*
 * Gives an interpreted method (unwind_method_word()) its name. A class that is unloaded leaves its
 * place to others: the name is read again when a class was unloaded, or once a second where that is
 * not known.
 */
void hotspot_name_word(struct hotspot *h, u64 word);
/* Looks whether classes were unloaded; then all names are read again. */
void hotspot_check_methods(struct hotspot *h);
/* Where the machine counts the classes that it unloads; 0: it does not. */
u64 hotspot_find_unloads(const struct hotspot *h);
/* That there was other code from @time on, until @sure, which was not seen. */
void hotspot_mark_unseen(struct hotspot *h, const struct code_name *where);

/* All @n bytes of the process's memory, or a negative errno. */
int hotspot_read(const struct hotspot *h, u64 address, void *to, size_t n);
/* "java.lang.String.hashCode"; false when it cannot be read. */
bool hotspot_method_name(const struct hotspot *h, u64 method, struct buf *ret);

#endif
