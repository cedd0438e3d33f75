/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk over the mappings of kernels before 6.1, which hang in a red-black tree: the code that
 * runs in the kernel, over a tree in our own memory. No kernel of that age can be obtained here.
 */
#include "harness.h"

#include "base/base.h"

/* What the kernel and its helpers would be. */
#define BPF_KTYPES_H
#define __BPF_CORE_READ_H__
#define __BPF_HELPERS__
#define BPF_CORE_READ(from, field)         ((from)->field)
#define bpf_core_field_offset(type, field) offsetof(type, field)
#define bpf_core_field_exists(field)       (sizeof(field) > 0)
#define barrier_var(var)                   ((void)(var))
#define barrier()                          ((void)0)

struct maple_tree {
	void *ma_root;
};

struct mm_struct {
	struct maple_tree mm_mt;
};

struct vm_area_struct;

struct rb_node___old {
	struct rb_node___old *rb_right;
	struct rb_node___old *rb_left;
};

struct rb_root___old {
	struct rb_node___old *rb_node;
};

struct mm_struct___old {
	u64 before;
	struct rb_root___old mm_rb;
};

struct vm_area_struct___old {
	unsigned long vm_start;
	unsigned long vm_end;
	void *between[2];
	struct rb_node___old vm_rb;
};

static long bpf_probe_read_kernel(void *to, u32 n, const void *from)
{
	memcpy(to, from, n);
	return 0;
}

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "bpf/unwind_maps.bpf.h"

enum { VMAS = 1000, PAGE = 0x1000, LOW = 0x400000 };

struct space {
	struct mm_struct___old mm;
	struct vm_area_struct___old vma[VMAS];
};

/* Mapping @i has i % 3 + 1 pages; every second one has a page of nothing after it. */
static struct space *space(void)
{
	static struct space s;
	u64 at = LOW;

	memset(&s, 0, sizeof(s));
	for (int i = 0; i < VMAS; i++) {
		s.vma[i].vm_start = at;
		at += (u64)(i % 3 + 1) * PAGE;
		s.vma[i].vm_end = at;
		at += i % 2 ? PAGE : 0;
	}
	return &s;
}

/* The mappings from @first up to @end below one root. */
static struct rb_node___old *plant(struct space *s, int first, int end)
{
	int middle = first + (end - first) / 2;

	if (first >= end)
		return NULL;
	s->vma[middle].vm_rb.rb_left = plant(s, first, middle);
	s->vma[middle].vm_rb.rb_right = plant(s, middle + 1, end);
	return &s->vma[middle].vm_rb;
}

static void *find(struct space *s, u64 address)
{
	return rb_find((struct mm_struct *)(void *)&s->mm, address);
}

TEST("every address of a red-black tree leads to its mapping")
{
	struct space *s = space();

	s->mm.mm_rb.rb_node = plant(s, 0, VMAS);
	for (int i = 0; i < VMAS; i++) {
		const struct vm_area_struct___old *v = &s->vma[i];

		CHECK(find(s, v->vm_start) == v);
		CHECK(find(s, v->vm_start + PAGE / 2) == v);
		CHECK(find(s, v->vm_end - 1) == v);
		if (i % 2)
			CHECK(!find(s, v->vm_end));
	}
	CHECK(!find(s, LOW - 1));
	CHECK(!find(s, s->vma[VMAS - 1].vm_end + PAGE));
	CHECK(!find(s, 0));
	CHECK(!find(s, UINT64_MAX));
}

TEST("an empty tree has nothing")
{
	CHECK(!find(space(), LOW));
}

TEST("a walk ends in a tree that is changed under it")
{
	struct space *s = space();

	/* no tree: one long branch, as a walk may see it while nodes are rotated */
	for (int i = 0; i + 1 < VMAS; i++)
		s->vma[i].vm_rb.rb_right = &s->vma[i + 1].vm_rb;
	s->mm.mm_rb.rb_node = &s->vma[0].vm_rb;
	CHECK(find(s, s->vma[RB_DEPTH - 1].vm_start) == &s->vma[RB_DEPTH - 1]);
	CHECK(!find(s, s->vma[RB_DEPTH].vm_start));
	/* a circle */
	s->vma[1].vm_rb.rb_right = &s->vma[0].vm_rb;
	CHECK(!find(s, s->vma[5].vm_start));
}
