/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads a BPF program in the form that the kernel takes: typed, or raw for kernels that do not
 * describe their types. What user space asks for has the same name in both forms, so that the
 * skeleton of the typed one serves either.
 *
 *	LOADER_FORMS(offcpu);
 *	rc = loader_load(&(struct loader){ LOADER_OF(offcpu), .what = ... }, &raw, &skel, e);
 *	...
 *	loader_free(skel);
 */
#ifndef UNWIND_LOADER_H
#define UNWIND_LOADER_H

#include <bpf/libbpf.h>

#include "unwind/feed.h"

/* What every generated skeleton begins with. */
struct loader_skel {
	struct bpf_object_skeleton *skeleton;
	struct bpf_object *obj;
};

struct loader {
	const char *what;  /* "sampling": for messages */
	const char *needs; /* remedy where the kernel refuses it; may be NULL */
	size_t size;       /* of the skeleton */
	int (*create)(void *skel);
	const void *(*typed)(size_t *ret_size);
	const void *(*raw)(size_t *ret_size);
	bool few_types; /* the kernel's types come from the cache of coretypes.h if possible */
	/*
	 * Options, between opening and loading. Called again if the kernel refused the cached
	 * types: whatever else was cached may be wrong, too.
	 */
	int (*prepare)(void *ctx, bool again, struct err *e);
	void *ctx;
};

#define LOADER_FORMS(name)                                \
	static int name##_create(void *skel)              \
	{                                                 \
		return name##_bpf__create_skeleton(skel); \
	}
#define LOADER_OF(name)                                             \
	.size = sizeof(struct name##_bpf), .create = name##_create, \
	.typed = name##_bpf__elf_bytes, .raw = name##_raw_bpf__elf_bytes
#define LOADER_SAME(name, section, member)                                         \
	_Static_assert(offsetof(struct name##_bpf__##section, member) ==           \
			       offsetof(struct name##_raw_bpf__##section, member), \
		       "one skeleton serves both forms")

/*
 * -EPERM, -EOPNOTSUPP when the kernel refuses it. @ret_skel is where the caller keeps its skeleton:
 * set before prepare() is called, NULL after a failure.
 */
int loader_load(const struct loader *l, bool *ret_raw, void *ret_skel, struct err *e);
/* Takes NULL. */
void loader_free(void *skel);

/* Our pid namespace, as unwind_pidns wants it; false: it is the first one, or not known. */
bool unwind_own_pidns(u64 *ret_dev, u64 *ret_ino);
/* Fills unwind_pidns of @rodata: in a pid namespace of our own the kernel must count as we do. */
#define loader_set_pidns(rodata) \
	((void)unwind_own_pidns(&(rodata)->unwind_pidns.dev, &(rodata)->unwind_pidns.ino))

struct loader_feed {
	u64 *epoch;  /* unwind_epoch; may be NULL */
	bool python; /* functions of Python are wanted among the frames */
	bool later;  /* stacks that lack a table can be finished */
};
/* The feed of the unwinder's maps, and the ring. */
int loader_feed(void *skel, const struct loader_feed *opts, struct unwind_feed **ret,
		struct err *e);
int loader_ring(void *skel, ring_buffer_sample_fn fn, void *ctx, struct ring_buffer **ret,
		struct err *e);

/* The sums of unwind_counters over all CPUs; zeros when it cannot be read. */
void unwind_counters_read(int fd, struct unwind_counts *ret);

#endif
