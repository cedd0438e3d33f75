/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user-space unwinder over made-up memory, mappings and core files. */
#include "harness.h"

#include <asm/perf_regs.h>
#include <elf.h>
#include <sys/mman.h>
#include <sys/procfs.h>

#include "unwind/core.h"
#include "unwind/unwind.h"

enum { STACK = 0x7000, WORDS = 512 };

/* A process of one stack; the rule of an address is found by its top digit. */
struct world {
	u64 stack[WORDS];
	struct unwind_rule rules[16];
	bool no_cfi[16];
	bool unmapped[16];
	bool missing[16];
	struct unwind_source source;
	u64 ip[64];
	struct unwind_frames f;
};

static int world_read(void *ctx, u64 address, void *to, size_t n)
{
	struct world *w = ctx;

	if (address < STACK || address - STACK > sizeof(w->stack) ||
	    n > sizeof(w->stack) - (address - STACK))
		return -EFAULT;
	memcpy(to, (char *)w->stack + (address - STACK), n);
	return 0;
}

static int world_find(void *ctx, u64 pc, const struct unwind_rule **ret)
{
	struct world *w = ctx;
	u64 i = pc >> 12 & 15;

	if (pc >> 16 || w->unmapped[i])
		return -ENOENT;
	if (w->missing[i])
		return -EAGAIN;
	*ret = w->no_cfi[i] ? NULL : &w->rules[i];
	return 0;
}

static struct world *world(u64 ip)
{
	static struct world w;

	memset(&w, 0, sizeof(w));
	w.source = (struct unwind_source){ .ctx = &w, .read = world_read, .find = world_find };
	w.source.regs[UNWIND_REG_IP] = ip;
	w.source.regs[UNWIND_REG_SP] = STACK;
	w.f = (struct unwind_frames){ .ip = w.ip, .max = 64 };
	w.rules[15].cfa = UNWIND_CFA_STOP;
	return &w;
}

static struct unwind_rule sp_rule(s32 off)
{
	return (struct unwind_rule){ .cfa = UNWIND_CFA_SP, .cfa_off = off };
}

TEST(frames_by_stack_pointer)
{
	struct world *w = world(0x1100);

	w->rules[1] = sp_rule(16);
	w->rules[2] = sp_rule(8);
	w->stack[1] = 0x2200;
	w->stack[2] = 0xf300;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ROOT);
	CHECK_EQ(w->f.n, 3);
	CHECK_EQ(w->ip[0], 0x1100);
	CHECK_EQ(w->ip[1], 0x2200);
	CHECK_EQ(w->ip[2], 0xf300);
}

/* Frames of another kind: one for each hundred bytes of the stack, by where it begins. */
static size_t hundreds(void *ctx UNUSED, u64 from, u64 to, u64 *ip, size_t room)
{
	size_t n = 0;

	for (u64 at = from; at < to && n < room; at += 100)
		ip[n++] = at << 16;
	return n;
}

TEST("frames of another kind stand before the frame they belong to")
{
	struct world *w = world(0x1000);

	w->source.before = hundreds;
	w->rules[1] = (struct unwind_rule){ .cfa = UNWIND_CFA_SP, .cfa_off = 16 };
	w->rules[2] = (struct unwind_rule){ .cfa = UNWIND_CFA_SP, .cfa_off = 208 };
	w->stack[1] = 0x2001;
	w->stack[(16 + 208) / 8 - 1] = 0xf001;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ROOT);
	CHECK_EQ(w->f.n, 1 + 3 + 3);
	CHECK_EQ(w->ip[0], (u64)STACK << 16);
	CHECK_EQ(w->ip[1], 0x1000);
	CHECK_EQ(w->ip[2], (u64)(STACK + 16) << 16);
	CHECK_EQ(w->ip[4], (u64)(STACK + 216) << 16);
	CHECK_EQ(w->ip[5], 0x2001);
	CHECK_EQ(w->ip[6], 0xf001);
	/* never more than there is room for */
	w->f.max = 4;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.n, 4);
	CHECK_EQ(w->f.end, UNWIND_END_DEPTH);
}

TEST(return_addresses_are_looked_up_before_themselves)
{
	struct world *w = world(0x1100);

	/* a call was the last thing of page 2: its return address is in page 3 */
	w->rules[1] = sp_rule(8);
	w->rules[2] = sp_rule(16);
	w->rules[3].cfa = UNWIND_CFA_UNSUP;
	w->stack[0] = 0x3000;
	w->stack[2] = 0xf300;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ROOT);
	CHECK_EQ(w->f.n, 3);
}

TEST(frame_pointer_is_restored_and_used)
{
	struct world *w = world(0x1100);

	w->rules[1] = (struct unwind_rule){
		.cfa = UNWIND_CFA_SP, .cfa_off = 24, .bp = UNWIND_BP_CFA, .bp_off = -16
	};
	w->rules[2] = (struct unwind_rule){ .cfa = UNWIND_CFA_BP, .cfa_off = 16 };
	w->stack[1] = STACK + 8 * 8;
	w->stack[2] = 0x2200;
	w->stack[9] = 0xf300;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ROOT);
	CHECK_EQ(w->ip[2], 0xf300);
}

TEST(code_without_cfi_steps_by_frame_pointer)
{
	struct world *w = world(0x1100);

	w->no_cfi[1] = true;
	w->rules[2].cfa = UNWIND_CFA_END; /* a file, but not this function */
	w->source.regs[UNWIND_REG_BP] = STACK + 16;
	w->stack[2] = STACK + 48;
	w->stack[3] = 0x2200;
	w->stack[6] = 0;
	w->stack[7] = 0xf300;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ROOT);
	CHECK_EQ(w->f.n, 3);
	CHECK_EQ(w->f.fp_steps, 2);
}

/* HotSpot's interpreter keeps where its caller's stack was, besides a frame pointer. */
TEST(the_callers_stack_pointer_is_in_the_frame)
{
	struct world *w = world(0x1100);

	w->rules[1] = (struct unwind_rule){
		.cfa = UNWIND_CFA_BP_DEREF, .cfa_off = -8, .bp = UNWIND_BP_BP, .ra = UNWIND_RA_FP
	};
	w->rules[2] = sp_rule(16);
	w->source.regs[UNWIND_REG_BP] = STACK + 32;
	w->stack[3] = STACK + 80; /* not STACK + 48, where the frame ends */
	w->stack[4] = 0;
	w->stack[5] = 0x2200;
	w->stack[11] = 0xf300;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ROOT);
	CHECK_EQ(w->f.n, 3);
	CHECK_EQ(w->ip[2], 0xf300);
	/* a frame that is not made yet: the frame pointer alone */
	w->stack[3] = 0x5555;
	w->stack[7] = 0xf300;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ROOT);
	CHECK_EQ(w->f.n, 3);
	CHECK_EQ(w->f.fp_steps, 1);
}

TEST(no_cfi_and_rbp_zero_is_the_beginning)
{
	struct world *w = world(0x1100);

	w->rules[1].cfa = UNWIND_CFA_END;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ROOT);
	CHECK_EQ(w->f.n, 1);
}

TEST(signal_frames_bring_all_registers_back)
{
	struct world *w = world(0x1100);

	w->rules[1] = sp_rule(8);
	w->rules[2].cfa = UNWIND_CFA_SIGNAL;
	/* the interrupted code needs r10, which only a signal frame can give */
	w->rules[3] =
		(struct unwind_rule){ .cfa = UNWIND_CFA_REG, .reg = UNWIND_REG_R10, .cfa_off = 8 };
	w->stack[0] = 0x2200;
	u64 *saved = &w->stack[1 + UNWIND_SIGNAL_REGS / 8];

	saved[UNWIND_REG_R10] = STACK + 8 * 100;
	saved[UNWIND_REG_SP] = STACK + 8 * 90;
	saved[UNWIND_REG_IP] = 0x3000; /* exact, not a return address */
	w->stack[100] = 0xf300;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ROOT);
	CHECK_EQ(w->f.n, 4);
	CHECK_EQ(w->ip[2], 0x3000);
}

TEST(registers_are_not_known_in_callers)
{
	struct world *w = world(0x1100);

	w->rules[1] = sp_rule(8);
	w->rules[2] = (struct unwind_rule){ .cfa = UNWIND_CFA_REG, .reg = UNWIND_REG_R10 };
	w->stack[0] = 0x2200;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_REG);
}

TEST(rbx_is_found_where_callees_saved_it)
{
	struct world *w = world(0x1100);

	/* the innermost function pushed rbx, the next did not touch it, the third needs it */
	w->rules[1] = (struct unwind_rule){ .cfa = UNWIND_CFA_SP, .cfa_off = 16, .bx_off = -16 };
	w->rules[2] = sp_rule(8);
	w->rules[3] = (struct unwind_rule){
		.cfa = UNWIND_CFA_REG, .reg = UNWIND_REG_BX, .cfa_off = 16, .bx_off = -16
	};
	w->stack[0] = STACK + 8 * 20;
	w->stack[1] = 0x2200;
	w->stack[2] = 0x3200;
	w->stack[21] = 0xf300;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ROOT);
	CHECK_EQ(w->f.n, 4);
	w->rules[2].bx_off = UNWIND_BX_LOST;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_REG);
}

TEST(return_address_in_a_register)
{
	struct world *w = world(0x1100);

	w->rules[1] = (struct unwind_rule){ .cfa = UNWIND_CFA_SP,
					    .ra = UNWIND_RA_REG,
					    .aux = UNWIND_REG_DI };
	w->source.regs[UNWIND_REG_DI] = 0xf300;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ROOT);
	CHECK_EQ(w->f.n, 2);
}

TEST(the_plt_rule_counts_its_push)
{
	struct world *w = world(0x110a);

	w->rules[1] = (struct unwind_rule){ .cfa = UNWIND_CFA_PLT, .cfa_off = 11 };
	w->stack[0] = 0xf300;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.n, 2);
	CHECK_EQ(w->ip[1], 0xf300);
	w->source.regs[UNWIND_REG_IP] = 0x110b;
	w->stack[0] = 0;
	w->stack[1] = 0xf400;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->ip[1], 0xf400);
}

TEST(a_thread_that_has_not_begun_is_complete)
{
	struct world *w = world(0x1100);

	w->rules[1] = sp_rule(8);
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ROOT);
	CHECK_EQ(w->f.n, 1);
	w->source.regs[UNWIND_REG_AX] = 1;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ZERO);
}

TEST(a_frame_pointer_leads_to_another_stack)
{
	struct world *w = world(0x1100);

	w->source.regs[UNWIND_REG_SP] = STACK + 256;
	w->source.regs[UNWIND_REG_BP] = STACK;
	w->stack[0] = STACK + 64;
	w->stack[1] = 0xf300;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_BAD_FP);
	w->rules[1].cfa = UNWIND_CFA_FAR_FP;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ROOT);
	CHECK_EQ(w->ip[1], 0xf300);
}

TEST(each_bad_end_has_its_reason)
{
	struct world *w = world(0x1100);

	w->rules[1] = sp_rule(-8);
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_BAD_SP);
	w->rules[1] = sp_rule(1 << 20);
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_READ);
	w->rules[1] = sp_rule(16);
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_ZERO);
	w->rules[1] = sp_rule(8);
	w->stack[0] = 0x2200;
	w->unmapped[2] = true;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_NO_MAP);
	w->unmapped[2] = false;
	w->missing[2] = true;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_NO_TABLE);
	w->missing[2] = false;
	w->no_cfi[2] = true;
	w->source.regs[UNWIND_REG_BP] = 3;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_BAD_FP);
	w->no_cfi[2] = false;
	w->rules[2].cfa = UNWIND_CFA_UNSUP;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_UNSUP);
	CHECK_EQ(w->f.n, 2);
}

TEST(endless_recursion_ends_at_the_limit)
{
	struct world *w = world(0x1100);

	w->rules[1] = sp_rule(8);
	for (int i = 0; i < WORDS; i++)
		w->stack[i] = 0x1100;
	unwind_user(&w->source, &w->f);
	CHECK_EQ(w->f.end, UNWIND_END_DEPTH);
	CHECK_EQ(w->f.n, 64);
}

TEST(every_end_has_a_key_and_words)
{
	for (int i = 0; i < UNWIND_END_COUNT; i++) {
		CHECK(strlen(unwind_end_text(i)) > 3);
		for (int j = 0; j < i; j++)
			CHECK(strcmp(unwind_end_key(i), unwind_end_key(j)) != 0);
	}
	CHECK_STR(unwind_end_key(250), "unknown");
}

TEST(perf_registers_are_sorted_in)
{
	u64 regs[UNWIND_REGS];
	u64 mask = 1ull << PERF_REG_X86_BP | 1ull << PERF_REG_X86_SP | 1ull << PERF_REG_X86_IP |
		   1ull << PERF_REG_X86_FLAGS | 1ull << PERF_REG_X86_R15;
	const u64 values[] = { 10, 20, 30, 40, 50 };

	CHECK(unwind_regs_from_perf(regs, values, 5, mask));
	CHECK_EQ(regs[UNWIND_REG_BP], 10);
	CHECK_EQ(regs[UNWIND_REG_SP], 20);
	CHECK_EQ(regs[UNWIND_REG_IP], 30);
	CHECK_EQ(regs[UNWIND_REG_R15], 50);
	CHECK(!unwind_regs_from_perf(regs, values, 2, mask));
	CHECK(!unwind_regs_from_perf(regs, values, 5, 1ull << PERF_REG_X86_IP));
}

static void add(struct mappings *m, u64 start, u64 end, u64 offset, const char *path)
{
	const struct mapping map = { .start = start, .end = end, .offset = offset, .path = path };

	mappings_add(m, &map);
}

TEST(new_mappings_replace_what_they_cover)
{
	_cleanup_(mappings_release) struct mappings m = { 0 };

	add(&m, 0x1000, 0x9000, 0, "a");
	add(&m, 0x3000, 0x4000, 0x70, "b"); /* in the middle: a is cut in two */
	CHECK_EQ(m.items.len, 3);
	CHECK_STR(mappings_find(&m, 0x2fff)->path, "a");
	CHECK_STR(mappings_find(&m, 0x3000)->path, "b");
	CHECK_STR(mappings_find(&m, 0x4000)->path, "a");
	CHECK_EQ(mappings_find(&m, 0x4000)->offset, 0x3000);
	add(&m, 0x2000, 0x5000, 0, "c"); /* over the end of one, all of one, the start of one */
	CHECK_EQ(m.items.len, 3);
	CHECK_EQ(mappings_find(&m, 0x1000)->end, 0x2000);
	CHECK_STR(mappings_find(&m, 0x3800)->path, "c");
	CHECK_EQ(mappings_find(&m, 0x5000)->offset, 0x4000);
	add(&m, 0, 0x10000, 0, "d");
	CHECK_EQ(m.items.len, 1);
	CHECK(!mappings_find(&m, 0x10000));
	add(&m, 5, 5, 0, "empty");
	CHECK_EQ(m.items.len, 1);
}

TEST(maps_text)
{
	static const char text[] = "00400000-00401000 r-xp 00002000 fe:01 77   /usr/bin/x\n"
				   "nonsense\n"
				   "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
				   "7f0000001000-7f0000002000 r-xp 00000000 00:00 0   [vdso]";
	_cleanup_(mappings_release) struct mappings m = { 0 };

	mappings_parse(&m, text, sizeof(text) - 1);
	CHECK_EQ(m.items.len, 3);
	CHECK_EQ(m.items.items[0].dev, 0xfe << 20 | 1);
	CHECK_EQ(m.items.items[0].ino, 77);
	CHECK_EQ(m.items.items[0].offset, 0x2000);
	CHECK(m.items.items[0].exec && !m.items.items[1].exec);
	CHECK_STR(m.items.items[0].path, "/usr/bin/x");
	CHECK_STR(m.items.items[2].path, "[vdso]");
}

/* A core of one thread whose stack is one segment. */
static void make_core(struct buf *out)
{
	struct PACKED {
		Elf64_Ehdr eh;
		Elf64_Phdr ph[3];
		Elf64_Nhdr nh;
		char name[8];
		struct elf_prstatus st;
		u64 stack[8];
	} c = { .eh = { .e_ident = ELFMAG,
			.e_type = ET_CORE,
			.e_machine = EM_X86_64,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 3 },
		.nh = { 5, sizeof(struct elf_prstatus), NT_PRSTATUS },
		.name = "CORE" };
	u64 regs[27] = { [4] = 0x9008, [16] = 0x1100, [19] = 0x9000 };

	c.eh.e_ident[EI_CLASS] = ELFCLASS64;
	c.ph[0] = (Elf64_Phdr){ .p_type = PT_NOTE,
				.p_offset = (u64)((char *)&c.nh - (char *)&c),
				.p_filesz = sizeof(c.nh) + 8 + sizeof(c.st) };
	c.ph[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
				.p_vaddr = 0x9000,
				.p_offset = (u64)((char *)c.stack - (char *)&c),
				.p_filesz = 64,
				.p_memsz = 4096 };
	c.ph[2] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_X, .p_vaddr = 0x1000, .p_memsz = 4096
	};
	c.st.pr_pid = 42;
	c.st.pr_cursig = 11;
	memcpy(&c.st.pr_reg, regs, sizeof(regs));
	c.stack[1] = 0x9020;
	c.stack[2] = 0x1200;
	c.stack[4] = 0;
	c.stack[5] = 0x1300;
	buf_add(out, &c, sizeof(c));
}

static int open_core(struct core *c, const void *bytes, size_t n)
{
	int fd = memfd_create("core", 0);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, bytes, n), (ssize_t)n);
	return core_open(c, fd, "core", NULL);
}

TEST(a_core_is_unwound_by_frame_pointer_where_no_file_is)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct core c;
	u64 ip[8];
	struct unwind_frames f = { .ip = ip, .max = 8 };

	make_core(&b);
	CHECK_EQ(open_core(&c, b.data, b.len), 0);
	CHECK_EQ(c.threads.len, 1);
	CHECK_EQ(c.threads.items[0].tid, 42);
	CHECK_EQ(c.threads.items[0].signal, 11);
	core_frames(&c, &c.threads.items[0], &f);
	CHECK_EQ(f.n, 3);
	CHECK_EQ(ip[0], 0x1100);
	CHECK_EQ(ip[1], 0x1200);
	CHECK_EQ(ip[2], 0x1300);
	CHECK_EQ(f.end, UNWIND_END_BAD_FP);
	core_release(&c);
}

TEST(cut_cores_are_errors)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct core c;

	make_core(&b);
	for (size_t n = 0; n < b.len - 64; n += 7)
		CHECK(open_core(&c, b.data, n) < 0);
}
