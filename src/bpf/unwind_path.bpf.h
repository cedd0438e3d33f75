/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a mapped file lies. User space opens it through its process, but a short-lived one is gone
 * by then. The way up is read without locks: a file that is moved meanwhile has a path that leads
 * nowhere, or to another file, which user space tells by its inode.
 */
#ifndef BPF_UNWIND_PATH_BPF_H
#define BPF_UNWIND_PATH_BPF_H

#include "bpf/ktypes.h"
#include "bpf/unwind_abi.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define MAX_ERRNO 4095ull

enum {
	UNWIND_PATH_NAME = 256, /* longer than any name */
	UNWIND_PATH_DEPTH = 40, /* directories and mounts */
	UNWIND_PATH_MORE = 0,
	UNWIND_PATH_WHOLE = 1,
	UNWIND_PATH_NONE = 2,
};

/* A request being written: its path from the end backwards. */
struct unwind_asking {
	struct unwind_need need;
	/* never written: the verifier adds the longest name to the last place of the text */
	char spare[UNWIND_PATH_NAME];
	u64 dentry; /* where the walk is */
	u64 mnt;
	u64 file;   /* whose path is known; 0: what is requested has none, or needs none */
	u64 wanted; /* it is to be sent, unless it was a moment ago */
};
_Static_assert(__builtin_offsetof(struct unwind_asking, spare) ==
		       __builtin_offsetof(struct unwind_need, text) + UNWIND_PATH,
	       "the spare follows the text");

/* Puts a name before the text. */
static __always_inline int unwind_path_name(struct unwind_asking *a, const struct dentry *dentry)
{
	u64 len = BPF_CORE_READ(dentry, d_name.len);
	u64 at = a->need.path - len - 1;

	/* the very value that is checked is the place */
	barrier_var(at);
	barrier_var(len);
	if (!len || len >= UNWIND_PATH_NAME || !at || at >= UNWIND_PATH)
		return UNWIND_PATH_NONE;
	if (bpf_probe_read_kernel(a->need.text + at + 1, len, BPF_CORE_READ(dentry, d_name.name)))
		return UNWIND_PATH_NONE;
	a->need.text[at] = '/';
	a->need.path = at;
	return UNWIND_PATH_MORE;
}

/* From a file or directory to the one that it is in, or from a mount to where it is mounted. */
__attribute__((noinline)) int unwind_path_up(struct unwind_asking *a)
{
	const struct mount *mount = 0, *around;
	const struct dentry *dentry, *up;
	const struct vfsmount *mnt;

	if (!a || !bpf_core_field_exists(mount->mnt_mountpoint))
		return UNWIND_PATH_NONE;
	dentry = (const struct dentry *)a->dentry;
	mnt = (const struct vfsmount *)a->mnt;
	if (dentry != BPF_CORE_READ(mnt, mnt_root)) {
		up = BPF_CORE_READ(dentry, d_parent);
		/* moved out of what is mounted */
		if (!up || up == dentry)
			return UNWIND_PATH_NONE;
		a->dentry = (u64)up;
		return unwind_path_name(a, dentry);
	}
	mount = (const void *)mnt - bpf_core_field_offset(struct mount, mnt);
	around = BPF_CORE_READ(mount, mnt_parent);
	if (!around || around == mount)
		return UNWIND_PATH_WHOLE;
	a->dentry = (u64)BPF_CORE_READ(mount, mnt_mountpoint);
	a->mnt = (u64)around + bpf_core_field_offset(struct mount, mnt);
	return UNWIND_PATH_MORE;
}

static __always_inline bool unwind_path_deleted(const struct unwind_asking *a)
{
	const struct dentry *dentry = (const struct dentry *)a->dentry;

	return !BPF_CORE_READ(dentry, d_hash.pprev);
}

/* Of an overlay the file below is mapped, on a hidden mount; beside it is the path above.
 */
static __always_inline void unwind_path_above(struct unwind_asking *a, const struct file *file)
{
	const struct backing_file *backing = (const struct backing_file *)file;
	const struct mount *mount = (const void *)a->mnt - bpf_core_field_offset(struct mount, mnt);

	if ((u64)BPF_CORE_READ(mount, mnt_ns) < -MAX_ERRNO)
		return;
	a->dentry = 0;
	if (!bpf_core_field_exists(backing->user_path))
		return;
	a->dentry = (u64)BPF_CORE_READ(backing, user_path.dentry);
	a->mnt = (u64)BPF_CORE_READ(backing, user_path.mnt);
}

/* The path of the file into the request; none of one that is deleted, or has too long a path. */
static __always_inline void unwind_path(struct unwind_asking *a)
{
	const struct file *file = (const struct file *)a->file;
	const struct mount *mount = 0;
	int rc = UNWIND_PATH_NONE;
	u32 i;

	a->need.path = 0;
	if (!file || !bpf_core_field_exists(mount->mnt_ns))
		return;
	a->dentry = (u64)BPF_CORE_READ(file, f_path.dentry);
	a->mnt = (u64)BPF_CORE_READ(file, f_path.mnt);
	/* files that were never in a directory are not in an overlay either */
	if (unwind_path_deleted(a))
		return;
	unwind_path_above(a, file);
	if (unwind_path_deleted(a))
		return;
	a->need.path = UNWIND_PATH - 1;
	a->need.text[UNWIND_PATH - 1] = 0;
#pragma nounroll
	for (i = 0; i < UNWIND_PATH_DEPTH; i++) {
		rc = unwind_path_up(a);
		if (rc != UNWIND_PATH_MORE)
			break;
	}
	if (rc != UNWIND_PATH_WHOLE)
		a->need.path = 0;
}

#endif
