/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run of days keeps: it does not grow with the files, processes and stacks that came by. */
#include "unit/harness.h"

#include "unwind/numbered.h"
#include "waits/names.h"

static void fill(struct profile *p)
{
	for (u32 i = 0; p->frames.len < WAITS_FUNCTIONS_MOST; i++)
		profile_get_frame(p, &(struct frame){ .name = profile_string(p, "f"), .line = i });
}

TEST(a_full_profile_takes_no_new_stack_and_counts_it)
{
	const u64 kernel[] = { ~0ull - 4096, ~0ull - 8192 };
	struct waits_stack first = { .kernel = kernel, .n_kernel = 1 };
	struct waits_stack second = { .kernel = kernel, .n_kernel = 2 };
	struct waits_names n;
	struct profile p;
	u32 known, dropped;

	profile_init(&p);
	waits_names_open(&n, &p, NULL);
	known = waits_names_stack(&n, &first, WAIT_CUT_NONE);
	CHECK(known && !waits_names_full(&p));
	fill(&p);
	CHECK(waits_names_full(&p));
	dropped = waits_names_stack(&n, &second, WAIT_CUT_NONE);
	CHECK_STR(profile_str(&p, profile_frame_of(&p, dropped)->name), WAITS_DROPPED);
	CHECK_EQ(n.dropped, 1);
	/* one that has its place keeps it */
	CHECK_EQ(waits_names_stack(&n, &first, WAIT_CUT_NONE), known);
	CHECK_EQ(n.dropped, 1);
	waits_names_release(&n);
	profile_release(&p);
}

TEST(an_emptied_profile_takes_stacks_again)
{
	const u64 kernel[] = { ~0ull - 4096 };
	struct waits_stack s = { .kernel = kernel, .n_kernel = 1 };
	struct waits_names n;
	struct profile p;

	profile_init(&p);
	waits_names_open(&n, &p, NULL);
	fill(&p);
	CHECK(waits_names_stack(&n, &s, WAIT_CUT_NONE));
	profile_release(&p);
	profile_init(&p);
	waits_names_restart(&n);
	CHECK(waits_names_stack(&n, &s, WAIT_CUT_NONE));
	CHECK_EQ(n.dropped, 1);
	CHECK(!waits_names_full(&p));
	waits_names_release(&n);
	profile_release(&p);
}

TEST(a_version_of_a_file_has_one_number)
{
	const struct mapping map = { .ino = 7, .dev = 8, .path = "/x" };
	struct unwind_version version = { .size = 100, .changed = 5, .generation = 1 };
	struct elf elf = ELF_INIT;
	struct numbered n = { 0 };
	u32 first;

	first = numbered_add(&n, &map, 1, -1, &elf, &version);
	CHECK_EQ(first, 1);
	CHECK_EQ(numbered_add(&n, &map, 2, -1, &elf, &version), first);
	version.changed++;
	CHECK_EQ(numbered_add(&n, &map, 2, -1, &elf, &version), 2);
	elf.build_id_len = 20;
	CHECK_EQ(numbered_add(&n, &map, 2, -1, &elf, &version), 3);
	CHECK_EQ(n.items.len, 3);
	numbered_release(&n);
}
