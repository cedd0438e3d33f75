/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's types, as far as our programs read them: only the fields used. The loader finds the
 * real offsets in the running kernel's BTF. A field that was renamed or came later has a variant
 * of its struct named x___old or x___new; ask bpf_core_field_exists() before reading it.
 */
#ifndef BPF_KTYPES_H
#define BPF_KTYPES_H

#include <linux/types.h>
#include <linux/bpf.h>
#include <stdbool.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

/* Registers on entry: this layout is the kernel's promise, nothing to relocate. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period;
	__u64 addr;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	__u32 s_dev;
};

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
	__s64 i_size;
	__u32 i_generation;
	__s64 i_ctime_sec;
	__u32 i_ctime_nsec;
};

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

/* Before 6.11. */
struct inode___ctime2 {
	struct timespec64 __i_ctime;
};

/* Before 6.6. */
struct inode___ctime1 {
	struct timespec64 i_ctime;
};

struct qstr {
	__u32 len;
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

struct mnt_namespace;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
};

/* What an overlay has mapped; before 6.8 the path above was in the file itself. */
struct backing_file {
	struct file file;
	struct path user_path;
};

struct mm_struct;

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct maple_tree {
	void *ma_root;
};

typedef struct {
	__s64 counter;
} atomic64_t;

typedef struct {
	__u64 ctx_id;
	atomic64_t tlb_gen;
	void *vdso;
} mm_context_t;

struct seqcount {
	unsigned int sequence;
};

struct mm_struct {
	struct maple_tree mm_mt;
	unsigned long exec_vm;
	unsigned long start_code, end_code;
	unsigned long start_stack;
	mm_context_t context;
};

/* From 6.13 on ... */
struct mm_struct___seqcount {
	struct seqcount mm_lock_seq;
};

/* ... and from 6.4 on. */
struct mm_struct___seqint {
	int mm_lock_seq;
};

/* Before 6.1 mappings hung in a red-black tree. */
struct rb_node___old {
	struct rb_node___old *rb_right;
	struct rb_node___old *rb_left;
};

struct rb_root___old {
	struct rb_node___old *rb_node;
};

struct mm_struct___old {
	struct rb_root___old mm_rb;
};

struct vm_area_struct___old {
	unsigned long vm_start;
	unsigned long vm_end;
	struct rb_node___old vm_rb;
};

struct thread_struct {
	unsigned long fsbase;
};

struct task_struct {
	void *stack;
	unsigned int flags;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	__u64 start_time;
	struct mm_struct *mm;
	struct thread_struct thread;
};

#pragma clang attribute pop

#define PF_KTHREAD 0x00200000
#define VM_EXEC    0x4
#define PAGE_SHIFT 12

#endif
