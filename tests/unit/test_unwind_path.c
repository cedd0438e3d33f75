/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a mapped file lies: the code that runs in the kernel, over directories in our own memory.
 */
#include "harness.h"

#include <errno.h>

#include "base/base.h"

/* What the kernel and its helpers would be. */
#define BPF_KTYPES_H
#define __BPF_CORE_READ_H__
#define __BPF_HELPERS__
#define BPF_CORE_READ(from, ...)           ((from)->BPF_FIELD(__VA_ARGS__))
#define BPF_FIELD(field)                   field
#define bpf_core_field_offset(type, field) offsetof(type, field)
#define bpf_core_field_exists(field)       (sizeof(field) > 0)
#define barrier_var(var)                   ((void)(var))
#define barrier()                          ((void)0)

struct qstr {
	u32 len;
	const unsigned char *name;
};

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
};

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	void *mnt_ns;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	struct path f_path;
};

struct backing_file {
	struct file file;
	struct path user_path;
};

static const void *unreadable;

static long bpf_probe_read_kernel(void *to, u64 n, const void *from)
{
	if (from == unreadable)
		return -EFAULT;
	memcpy(to, from, n);
	return 0;
}

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#include "bpf/unwind_path.bpf.h"

static struct hlist_bl_node hash, *hashed = &hash;

/* What is at the top of a file system has itself as its parent. */
static struct dentry entry(struct dentry *in, const char *name)
{
	return (struct dentry){
		.d_hash.pprev = &hashed,
		.d_parent = in,
		.d_name = { (u32)strlen(name), (const unsigned char *)name },
	};
}

/* The machine: / with usr, where another file system is mounted, which has a/b/c. */
struct tree {
	struct dentry first, root, usr, top, a, b, c;
	struct mount none, slash, mounted;
	struct backing_file file;
};

static struct tree *tree(void)
{
	static struct tree t;

	unreadable = NULL;
	t.first = entry(&t.first, "/");
	t.root = entry(&t.root, "/");
	t.usr = entry(&t.root, "usr");
	t.top = entry(&t.top, "/");
	t.a = entry(&t.top, "a");
	t.b = entry(&t.a, "b");
	t.c = entry(&t.b, "c");
	/* as it is: what everybody sees as / is mounted on the root of one that nobody sees */
	t.none = (struct mount){ &t.none, &t.first, { &t.first }, NULL };
	t.slash = (struct mount){ &t.none, &t.first, { &t.root }, NULL };
	t.mounted = (struct mount){ &t.slash, &t.usr, { &t.top }, NULL };
	t.file = (struct backing_file){ .file.f_path = { &t.mounted.mnt, &t.c } };
	return &t;
}

static const char *path_of(const struct file *file)
{
	static struct unwind_asking ask;

	memset(&ask, 'x', sizeof(ask));
	ask.file = (u64)(uintptr_t)file;
	unwind_path(&ask);
	CHECK(ask.need.path < UNWIND_PATH);
	for (size_t i = 0; i < sizeof(ask.spare); i++)
		CHECK_EQ(ask.spare[i], 'x');
	return ask.need.path ? ask.need.text + ask.need.path : "";
}

TEST("a path goes up through directories and mounts")
{
	struct tree *t = tree();

	CHECK_STR(path_of(&t->file.file), "/usr/a/b/c");
	t->file.file.f_path = (struct path){ &t->slash.mnt, &t->usr };
	CHECK_STR(path_of(&t->file.file), "/usr");
}

TEST("a part of a file system that is mounted begins at that part")
{
	struct tree *t = tree();

	t->mounted.mnt.mnt_root = &t->b;
	CHECK_STR(path_of(&t->file.file), "/usr/c");
	t->mounted.mnt.mnt_root = &t->c;
	CHECK_STR(path_of(&t->file.file), "/usr");
}

TEST("no file, or a deleted one, has no path")
{
	struct tree *t = tree();

	CHECK_STR(path_of(NULL), "");
	t->c.d_hash.pprev = NULL;
	CHECK_STR(path_of(&t->file.file), "");
}

TEST("a file that is not below what is mounted has no path")
{
	struct tree *t = tree();

	t->mounted.mnt.mnt_root = &t->usr;
	CHECK_STR(path_of(&t->file.file), "");
}

TEST("a file below an overlay has the path above")
{
	struct tree *t = tree();

	t->file.user_path = (struct path){ &t->slash.mnt, &t->usr };
	CHECK_STR(path_of(&t->file.file), "/usr/a/b/c");
	t->mounted.mnt_ns = (void *)(uintptr_t)-EINVAL; /* the kernel's own */
	CHECK_STR(path_of(&t->file.file), "/usr");
	t->usr.d_hash.pprev = NULL;
	CHECK_STR(path_of(&t->file.file), "");
	t->usr.d_hash.pprev = &hashed;
	t->c.d_hash.pprev = NULL;
	CHECK_STR(path_of(&t->file.file), "");
}

TEST("a path is reported whole or not at all")
{
	enum { DIRS = 8 };
	static char long_name[UNWIND_PATH_NAME];
	struct tree *t = tree();
	struct dentry dirs[DIRS];

	/* "/usr" and eight names make a path of one byte less than there is room, and its end */
	memset(long_name, 'n', sizeof(long_name) - 1);
	for (int i = 0; i < DIRS; i++) {
		dirs[i] = entry(i ? &dirs[i - 1] : &t->top, long_name);
		dirs[i].d_name.len = i ? 62 : 63 + 1;
	}
	t->file.file.f_path.dentry = &dirs[DIRS - 1];
	CHECK_EQ(strlen(path_of(&t->file.file)), UNWIND_PATH - 2);
	CHECK(starts_with(path_of(&t->file.file), "/usr/nnn"));
	dirs[3].d_name.len++;
	CHECK_STR(path_of(&t->file.file), "");
	dirs[3].d_name.len = 0;
	CHECK_STR(path_of(&t->file.file), "");
	dirs[3].d_name.len = UINT32_MAX;
	CHECK_STR(path_of(&t->file.file), "");
	dirs[3].d_name.len = UNWIND_PATH_NAME;
	CHECK_STR(path_of(&t->file.file), "");
	dirs[3].d_name.len = 62;
	unreadable = long_name;
	CHECK_STR(path_of(&t->file.file), "");
}

TEST("the longest name has room")
{
	static char long_name[UNWIND_PATH_NAME];
	struct tree *t = tree();

	memset(long_name, 'n', sizeof(long_name) - 1);
	t->c = entry(&t->b, long_name);
	CHECK_EQ(strlen(path_of(&t->file.file)), strlen("/usr/a/b/") + sizeof(long_name) - 1);
}

TEST("a walk ends in directories that are moved under it")
{
	struct tree *t = tree();

	t->a.d_parent = &t->b;
	CHECK_STR(path_of(&t->file.file), "");
	t = tree();
	t->none.mnt_parent = &t->mounted;
	CHECK_STR(path_of(&t->file.file), "");
}
