/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table compiler, on frame information written here byte by byte. */
#include "harness.h"

#include <elf.h>

#include "runtime/goframe.h"
#include "unwind/table.h"

enum { TEXT_VADDR = 0x401000, TEXT_OFFSET = 0x1000, TEXT_SIZE = 0x30000, FRAMES_VADDR = 0x600000 };

/* An ELF file in memory: one executable segment, .eh_frame found by its section. */
struct maker {
	struct buf frames;
	size_t cie;
	bool by_header; /* no sections, only PT_GNU_EH_FRAME */
	bool debug;     /* .debug_frame */
};

static void put32(struct buf *b, u32 v)
{
	buf_add(b, &v, 4);
}

static void put64(struct buf *b, u64 v)
{
	buf_add(b, &v, 8);
}

static void end_entry(struct buf *b, size_t length_at)
{
	u32 n;

	while ((b->len - length_at) % 4)
		buf_addch(b, 0);
	n = (u32)(b->len - length_at - 4);
	memcpy(b->data + length_at, &n, 4);
}

/* The CIE that every compiler writes: CFA is rsp+8, the return address at CFA-8. */
static void add_cie(struct maker *m, const char *augmentation)
{
	struct buf *b = &m->frames;

	m->cie = b->len;
	put32(b, 0);
	put32(b, m->debug ? 0xffffffff : 0);
	buf_addch(b, 1);
	buf_add(b, augmentation, strlen(augmentation) + 1);
	buf_add(b, "\x01\x78\x10", 3); /* code 1, data -8, RA is 16 */
	if (augmentation[0] == 'z')
		buf_add(b, "\x01\x1b", 2); /* R: pcrel sdata4 */
	buf_add(b, "\x0c\x07\x08\x90\x01", 5);
	end_entry(b, m->cie);
}

static void add_fde(struct maker *m, u64 start, u32 size, const char *program, size_t n)
{
	struct buf *b = &m->frames;
	size_t at = b->len;

	put32(b, 0);
	if (m->debug) {
		put32(b, (u32)m->cie);
		put64(b, start);
		put64(b, size);
	} else {
		put32(b, (u32)(b->len - m->cie));
		put32(b, (u32)(start - (FRAMES_VADDR + b->len)));
		put32(b, size);
		buf_addch(b, 0);
	}
	buf_add(b, program, n);
	end_entry(b, at);
}

#define PROGRAM(s) s, sizeof(s) - 1

static void make_elf(struct maker *m, struct buf *out)
{
	static const char names[] = "\0.eh_frame\0.debug_frame\0.shstrtab";
	const u64 frames_at = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr), pad = 64;
	u64 hdr_at = frames_at + ALIGN_UP(m->frames.len, 8), names_at = hdr_at + pad;
	u64 sections_at = names_at + pad, size = TEXT_OFFSET + TEXT_SIZE;
	Elf64_Ehdr eh = { .e_ident = ELFMAG,
			  .e_type = ET_EXEC,
			  .e_machine = EM_X86_64,
			  .e_phoff = sizeof(eh),
			  .e_phnum = 3,
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_shentsize = sizeof(Elf64_Shdr) };
	Elf64_Phdr ph[3] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_offset = TEXT_OFFSET,
		  .p_vaddr = TEXT_VADDR,
		  .p_filesz = TEXT_SIZE },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R,
		  .p_offset = frames_at,
		  .p_vaddr = FRAMES_VADDR,
		  .p_filesz = names_at - frames_at },
		{ .p_type = PT_GNU_EH_FRAME,
		  .p_offset = hdr_at,
		  .p_vaddr = FRAMES_VADDR + hdr_at - frames_at,
		  .p_filesz = 12 },
	};
	Elf64_Shdr sh[3] = {
		{ 0 },
		{ .sh_name = m->debug ? 11 : 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_addr = FRAMES_VADDR,
		  .sh_offset = frames_at,
		  .sh_size = m->frames.len },
		{ .sh_name = 24,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = names_at,
		  .sh_size = sizeof(names) },
	};
	s32 back = -(s32)(hdr_at - frames_at) - 4;

	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	if (!m->by_header) {
		eh.e_shoff = sections_at;
		eh.e_shnum = 3;
		eh.e_shstrndx = 2;
		ph[2].p_type = PT_NULL;
	}
	buf_fill(out, 0, size);
	memcpy(out->data, &eh, sizeof(eh));
	memcpy(out->data + sizeof(eh), ph, sizeof(ph));
	memcpy(out->data + frames_at, m->frames.data, m->frames.len);
	memcpy(out->data + hdr_at, "\x01\x1b\xff\xff", 4);
	memcpy(out->data + hdr_at + 4, &back, 4);
	memcpy(out->data + names_at, names, sizeof(names));
	memcpy(out->data + sections_at, sh, sizeof(sh));
}

static int compile_bytes(const struct buf *bytes, struct unwind_table **ret)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	int rc = elf_open_mem(&elf, bytes->data, bytes->len, "test", NULL);

	return rc ? rc : unwind_table_compile(&elf, ret, NULL);
}

static struct unwind_table *compile(struct maker *m)
{
	_cleanup_buf_ struct buf elf = BUF_INIT;
	struct unwind_table *t = NULL;

	make_elf(m, &elf);
	CHECK_EQ(compile_bytes(&elf, &t), 0);
	buf_release(&m->frames);
	return t;
}

static const struct unwind_rule *rule_at(const struct unwind_table *t, u64 vaddr)
{
	return unwind_table_rule(t, vaddr - TEXT_VADDR + TEXT_OFFSET);
}

#define CHECK_CFA(t, vaddr, kind, off)                     \
	do {                                               \
		CHECK_EQ(rule_at(t, vaddr)->cfa, kind);    \
		CHECK_EQ(rule_at(t, vaddr)->cfa_off, off); \
	} while (0)

/* push %rbp; mov %rsp,%rbp; ... ; leave */
#define FRAME_POINTER "\x41\x0e\x10\x86\x02\x43\x0d\x06\x60\x0c\x07\x08"

TEST(rows_follow_the_program)
{
	struct maker m = { 0 };

	add_cie(&m, "zR");
	add_fde(&m, TEXT_VADDR, 0x80, PROGRAM(FRAME_POINTER));
	_cleanup_table_ struct unwind_table *t = compile(&m);

	CHECK_CFA(t, TEXT_VADDR, UNWIND_CFA_SP, 8);
	CHECK_EQ(rule_at(t, TEXT_VADDR)->bp, UNWIND_BP_SAME);
	CHECK_CFA(t, TEXT_VADDR + 1, UNWIND_CFA_SP, 16);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 1)->bp, UNWIND_BP_CFA);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 1)->bp_off, -16);
	CHECK_CFA(t, TEXT_VADDR + 3, UNWIND_CFA_SP, 16);
	CHECK_CFA(t, TEXT_VADDR + 4, UNWIND_CFA_BP, 16);
	CHECK_CFA(t, TEXT_VADDR + 0x23, UNWIND_CFA_BP, 16);
	CHECK_CFA(t, TEXT_VADDR + 0x24, UNWIND_CFA_SP, 8);
	CHECK_CFA(t, TEXT_VADDR + 0x7f, UNWIND_CFA_SP, 8);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 0x80)->cfa, UNWIND_CFA_END);
	CHECK_EQ(t->stats.fdes, 1);
}

TEST(before_and_after_the_file_is_the_end_rule)
{
	struct maker m = { 0 };

	add_cie(&m, "zR");
	add_fde(&m, TEXT_VADDR + 0x100, 0x10, PROGRAM(""));
	_cleanup_table_ struct unwind_table *t = compile(&m);

	CHECK_EQ(unwind_table_rule(t, 0)->cfa, UNWIND_CFA_END);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 0xff)->cfa, UNWIND_CFA_END);
	CHECK_CFA(t, TEXT_VADDR + 0x100, UNWIND_CFA_SP, 8);
	CHECK_EQ(unwind_table_rule(t, UINT64_MAX)->cfa, UNWIND_CFA_END);
}

TEST(small_gaps_are_padding_and_large_ones_are_not)
{
	struct maker m = { 0 };

	add_cie(&m, "zR");
	add_fde(&m, TEXT_VADDR, 0x11, PROGRAM("\x0e\x20"));
	add_fde(&m, TEXT_VADDR + 0x20, 0x10, PROGRAM(""));
	add_fde(&m, TEXT_VADDR + 0x40, 0x10, PROGRAM(""));
	_cleanup_table_ struct unwind_table *t = compile(&m);

	CHECK_CFA(t, TEXT_VADDR + 0x1f, UNWIND_CFA_SP, 0x20);
	CHECK_CFA(t, TEXT_VADDR + 0x20, UNWIND_CFA_SP, 8);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 0x30)->cfa, UNWIND_CFA_END);
	CHECK_CFA(t, TEXT_VADDR + 0x40, UNWIND_CFA_SP, 8);
}

TEST(order_of_functions_does_not_matter)
{
	struct maker m = { 0 };

	add_cie(&m, "zR");
	add_fde(&m, TEXT_VADDR + 0x200, 0x10, PROGRAM("\x0e\x18"));
	add_fde(&m, TEXT_VADDR, 0x10, PROGRAM("\x0e\x28"));
	add_fde(&m, TEXT_VADDR + 0x100, 0x10, PROGRAM("\x0e\x38"));
	_cleanup_table_ struct unwind_table *t = compile(&m);

	CHECK_CFA(t, TEXT_VADDR, UNWIND_CFA_SP, 0x28);
	CHECK_CFA(t, TEXT_VADDR + 0x100, UNWIND_CFA_SP, 0x38);
	CHECK_CFA(t, TEXT_VADDR + 0x200, UNWIND_CFA_SP, 0x18);
}

TEST(a_function_over_many_pages_has_its_rule_in_each)
{
	struct maker m = { 0 };

	add_cie(&m, "zR");
	add_fde(&m, TEXT_VADDR, 0x28000, PROGRAM("\x0e\x20\x04\x00\x00\x02\x00\x0e\x30"));
	_cleanup_table_ struct unwind_table *t = compile(&m);

	CHECK_EQ(t->n_pages, 3);
	CHECK_CFA(t, TEXT_VADDR + 0xf000, UNWIND_CFA_SP, 0x20);
	CHECK_CFA(t, TEXT_VADDR + 0x1ffff, UNWIND_CFA_SP, 0x20);
	CHECK_CFA(t, TEXT_VADDR + 0x20000, UNWIND_CFA_SP, 0x30);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 0x28000)->cfa, UNWIND_CFA_END);
	for (u32 i = 0; i < t->n_pages; i++)
		CHECK_EQ(t->rows[t->pages[i].first] >> 16, 0);
}

TEST(remember_and_restore_bring_rules_back)
{
	struct maker m = { 0 };

	add_cie(&m, "zR");
	add_fde(&m, TEXT_VADDR, 0x40, PROGRAM("\x0e\x20\x0a\x48\x0e\x08\x48\x0b"));
	_cleanup_table_ struct unwind_table *t = compile(&m);

	CHECK_CFA(t, TEXT_VADDR + 7, UNWIND_CFA_SP, 0x20);
	CHECK_CFA(t, TEXT_VADDR + 8, UNWIND_CFA_SP, 8);
	CHECK_CFA(t, TEXT_VADDR + 16, UNWIND_CFA_SP, 0x20);
}

TEST(the_plt_expression_is_known)
{
	struct maker m = { 0 };

	add_cie(&m, "zR");
	add_fde(&m, TEXT_VADDR, 0x40,
		PROGRAM("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"));
	add_fde(&m, TEXT_VADDR + 0x40, 0x40,
		PROGRAM("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3a\x2a\x33\x24\x22"));
	_cleanup_table_ struct unwind_table *t = compile(&m);

	CHECK_CFA(t, TEXT_VADDR, UNWIND_CFA_PLT, 11);
	CHECK_CFA(t, TEXT_VADDR + 0x40, UNWIND_CFA_PLT, 10);
}

TEST(realigned_stacks_load_the_cfa)
{
	struct maker m = { 0 };

	add_cie(&m, "zR");
	/* CFA is *(rbp - 8), rbp is at *(rbp + 0); then *(rsp + 64) + 8, as OpenSSL writes it */
	add_fde(&m, TEXT_VADDR, 0x20, PROGRAM("\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00"));
	add_fde(&m, TEXT_VADDR + 0x20, 0x20, PROGRAM("\x0f\x06\x77\xc0\x00\x06\x23\x08"));
	/* r10 + 0 while it is set up */
	add_fde(&m, TEXT_VADDR + 0x40, 0x20, PROGRAM("\x0c\x0a\x00"));
	_cleanup_table_ struct unwind_table *t = compile(&m);

	CHECK_CFA(t, TEXT_VADDR, UNWIND_CFA_BP_DEREF, -8);
	CHECK_EQ(rule_at(t, TEXT_VADDR)->bp, UNWIND_BP_BP);
	CHECK_CFA(t, TEXT_VADDR + 0x20, UNWIND_CFA_SP_DEREF, 64);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 0x20)->aux, 8);
	CHECK_CFA(t, TEXT_VADDR + 0x40, UNWIND_CFA_REG, 0);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 0x40)->reg, UNWIND_REG_R10);
}

TEST(return_address_rules)
{
	struct maker m = { 0 };

	add_cie(&m, "zR");
	add_fde(&m, TEXT_VADDR, 0x20, PROGRAM("\x07\x10")); /* undefined: _start */
	add_fde(&m, TEXT_VADDR + 0x20, 0x20, PROGRAM("\x0e\x00\x09\x10\x05")); /* in rdi: vfork */
	add_fde(&m, TEXT_VADDR + 0x40, 0x20, PROGRAM("\x90\x03"));             /* at CFA - 24 */
	add_fde(&m, TEXT_VADDR + 0x60, 0x20, PROGRAM("\x09\x07\x08")); /* rsp elsewhere: longjmp */
	_cleanup_table_ struct unwind_table *t = compile(&m);

	CHECK_EQ(rule_at(t, TEXT_VADDR)->cfa, UNWIND_CFA_STOP);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 0x20)->ra, UNWIND_RA_REG);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 0x20)->aux, UNWIND_REG_DI);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 0x40)->ra, UNWIND_RA_OFF);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 0x40)->aux, -24);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 0x60)->cfa, UNWIND_CFA_UNSUP);
	CHECK_EQ(t->stats.unsupported, 1);
}

TEST(signal_frames_are_marked)
{
	struct maker m = { 0 };

	add_cie(&m, "zRS");
	add_fde(&m, TEXT_VADDR, 0x20, PROGRAM(""));
	_cleanup_table_ struct unwind_table *t = compile(&m);

	CHECK_EQ(rule_at(t, TEXT_VADDR)->cfa, UNWIND_CFA_SIGNAL);
}

TEST(without_sections_the_header_leads_to_the_frames)
{
	struct maker m = { .by_header = true };

	add_cie(&m, "zR");
	add_fde(&m, TEXT_VADDR, 0x20, PROGRAM("\x0e\x20"));
	put32(&m.frames, 0);
	_cleanup_table_ struct unwind_table *t = compile(&m);

	CHECK_CFA(t, TEXT_VADDR, UNWIND_CFA_SP, 0x20);
	CHECK_EQ(t->stats.fdes, 1);
}

TEST(debug_frame_is_read_where_there_is_no_eh_frame)
{
	struct maker m = { .debug = true };

	add_cie(&m, "");
	add_fde(&m, TEXT_VADDR, 0x20, PROGRAM("\x0e\x20"));
	_cleanup_table_ struct unwind_table *t = compile(&m);

	CHECK_CFA(t, TEXT_VADDR, UNWIND_CFA_SP, 0x20);
}

TEST(a_broken_program_is_unsupported_from_there_on)
{
	struct maker m = { 0 };

	add_cie(&m, "zR");
	add_fde(&m, TEXT_VADDR, 0x20, PROGRAM("\x0e\x20\x44\x3f"));
	_cleanup_table_ struct unwind_table *t = compile(&m);

	CHECK_CFA(t, TEXT_VADDR + 3, UNWIND_CFA_SP, 0x20);
	CHECK_EQ(rule_at(t, TEXT_VADDR + 4)->cfa, UNWIND_CFA_UNSUP);
}

TEST(an_fde_whose_cie_is_elsewhere_is_skipped)
{
	struct maker m = { 0 };

	add_cie(&m, "zR");
	add_fde(&m, TEXT_VADDR, 0x20, PROGRAM("\x0e\x20"));
	size_t second = m.frames.len;

	add_fde(&m, TEXT_VADDR + 0x100, 0x20, PROGRAM(""));
	const u32 wild[] = { 1, 5, (u32)second + 4, 0x7fffffff, 0xfffffff0 };

	for (size_t i = 0; i < ARRAY_SIZE(wild); i++) {
		_cleanup_buf_ struct buf elf = BUF_INIT;
		_cleanup_table_ struct unwind_table *t = NULL;

		memcpy(m.frames.data + second + 4, &wild[i], 4);
		make_elf(&m, &elf);
		CHECK_EQ(compile_bytes(&elf, &t), 0);
		CHECK_CFA(t, TEXT_VADDR, UNWIND_CFA_SP, 0x20);
		/* one of them points to the real CIE */
		CHECK_EQ(t->stats.fdes, wild[i] == second + 4 ? 2 : 1);
	}
	buf_release(&m.frames);
}

TEST(every_cut_and_every_flipped_byte_is_survived)
{
	struct maker m = { 0 };

	add_cie(&m, "zPLRS");
	add_cie(&m, "zR");
	add_fde(&m, TEXT_VADDR, 0x20, PROGRAM(FRAME_POINTER));
	add_fde(&m, TEXT_VADDR + 0x40, 0x20,
		PROGRAM("\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00\x0a\x41\x0b\x2e\x10"));
	size_t n = m.frames.len, tried = 0;

	for (size_t i = 0; i < n; i++) {
		for (int how = 0; how < 4; how++) {
			_cleanup_buf_ struct buf elf = BUF_INIT;
			_cleanup_table_ struct unwind_table *t = NULL;
			char old = m.frames.data[i];

			if (how == 3)
				m.frames.len = i ? i : 1;
			else
				m.frames.data[i] = how == 0   ? (char)0xff
						   : how == 1 ? 0
							      : (char)(old ^ 0x80);
			make_elf(&m, &elf);
			int rc = compile_bytes(&elf, &t);

			CHECK(rc == 0 || rc == -ENODATA);
			m.frames.data[i] = old;
			m.frames.len = n;
			tried++;
		}
	}
	CHECK_EQ(tried, n * 4);
	buf_release(&m.frames);
}

TEST(what_is_not_an_elf_file_is_refused)
{
	struct elf elf;
	u8 bytes[64] = { 0 };

	CHECK_EQ(elf_open_mem(&elf, bytes, 3, "short", NULL), -ENOEXEC);
	CHECK_EQ(elf_open_mem(&elf, bytes, sizeof(bytes), "zeros", NULL), -ENOEXEC);
	memcpy(bytes, ELFMAG, SELFMAG);
	CHECK_EQ(elf_open_mem(&elf, bytes, sizeof(bytes), "class", NULL), -ENOTSUP);
}

static struct unwind_table *sample_table(void)
{
	struct maker m = { 0 };

	add_cie(&m, "zR");
	add_fde(&m, TEXT_VADDR, 0x80, PROGRAM(FRAME_POINTER));
	add_fde(&m, TEXT_VADDR + 0x11000, 0x80, PROGRAM(FRAME_POINTER));
	return compile(&m);
}

TEST(the_cache_form_comes_back_equal)
{
	_cleanup_table_ struct unwind_table *t = sample_table(), *back = NULL;
	_cleanup_buf_ struct buf b = BUF_INIT;

	unwind_table_pack(t, &b);
	CHECK_EQ(unwind_table_unpack(b.data, b.len, false, &back, NULL), 0);
	CHECK_EQ(back->n_rows, t->n_rows);
	CHECK_EQ(back->n_pages, t->n_pages);
	CHECK_MEM(back->rows, t->rows, t->n_rows * 4);
	CHECK_CFA(back, TEXT_VADDR + 4, UNWIND_CFA_BP, 16);
	CHECK_EQ(back->fingerprint, t->fingerprint);
}

TEST(a_damaged_cache_file_is_refused)
{
	_cleanup_table_ struct unwind_table *t = sample_table();
	_cleanup_buf_ struct buf b = BUF_INIT;
	size_t refused = 0;

	unwind_table_pack(t, &b);
	for (size_t i = 0; i < b.len; i++) {
		_cleanup_table_ struct unwind_table *back = NULL;

		CHECK_EQ(unwind_table_unpack(b.data, i, false, &back, NULL), -EBADMSG);
		b.data[i] ^= 0x40;
		refused += unwind_table_unpack(b.data, b.len, false, &back, NULL) == -EBADMSG;
		b.data[i] ^= 0x40;
	}
	/* the build id, the layout and the statistics are not the table */
	CHECK(refused >= b.len - 64 - 8 - sizeof(t->stats) - 8);
}

TEST(a_cache_file_with_a_good_sum_and_bad_rows_is_refused)
{
	_cleanup_table_ struct unwind_table *t = sample_table(), *back = NULL;
	_cleanup_buf_ struct buf b = BUF_INIT;

	t->rows[1] = 5000 << 16 | 0x3fff; /* a rule that is not there */
	unwind_table_pack(t, &b);
	CHECK_EQ(unwind_table_unpack(b.data, b.len, false, &back, NULL), -EBADMSG);
	t->rows[1] = 0; /* not ascending */
	buf_reset(&b);
	unwind_table_pack(t, &b);
	CHECK_EQ(unwind_table_unpack(b.data, b.len, false, &back, NULL), -EBADMSG);
	t->pages[1].first = 0x7fffffff;
	buf_reset(&b);
	unwind_table_pack(t, &b);
	CHECK_EQ(unwind_table_unpack(b.data, b.len, false, &back, NULL), -EBADMSG);
}

TEST(pages_of_a_table_are_checked_one_by_one)
{
	_cleanup_table_ struct unwind_table *t = sample_table(), *back = NULL;
	_cleanup_buf_ struct buf b = BUF_INIT;
	u32 last = t->n_pages - 1;

	unwind_table_pack(t, &b);
	b.data[b.len - 1] ^= 1; /* in the last row of the last page */
	CHECK_EQ(unwind_table_unpack(b.data, b.len, false, &back, NULL), -EBADMSG);
	CHECK_EQ(unwind_table_unpack(b.data, b.len, true, &back, NULL), 0);
	CHECK(t->pages[0].count && t->pages[last].count);
	CHECK(unwind_table_page_valid(back, 0));
	CHECK(!unwind_table_page_valid(back, last));
}

TEST(our_own_program_has_a_table)
{
	_cleanup_table_ struct unwind_table *t = NULL;
	_cleanup_fclose_ FILE *f = fopen("/proc/self/exe", "re");
	_cleanup_elf_ struct elf elf = ELF_INIT;

	CHECK(f);
	CHECK_EQ(elf_use_fd(&elf, fileno(f), "self", NULL), 0);
	CHECK_EQ(unwind_table_compile(&elf, &t, NULL), 0);
	CHECK(t->n_rows > 1000);
	CHECK_EQ(t->stats.bad, 0);
	CHECK_EQ(t->stats.dropped, 0);
	CHECK(unwind_table_bytes(t) < 64u << 20);
}

/* --- Go -------------------------------------------------------------------------------------- */

struct go_bytes {
	u8 bytes[512];
};

static void go_put(struct go_bytes *g, u64 at, u64 value, size_t n)
{
	memcpy(g->bytes + at, &value, n);
}

/* Two functions as Go 1.20 describes them: at 0x1000 and 0x1040, up to 0x1080. */
static struct go_bytes go_table(const char *second)
{
	enum { NAMES = 0x60, NUMBERS = 0x90, FUNCTIONS = 0xb0, ABOUT = 0x40 };
	/* 0 until 4, 24 until 0x30, 0 again */
	static const u8 depths[] = { 2, 4, 48, 0x2c, 47, 0x10, 0 };
	struct go_bytes g = { 0 };

	go_put(&g, 0, 0xfffffff1, 4);
	go_put(&g, 6, 1, 1);
	go_put(&g, 7, 8, 1);
	go_put(&g, 8, 2, 8);
	go_put(&g, 8 + 2 * 8, 0x1000, 8);
	go_put(&g, 8 + 3 * 8, NAMES, 8);
	go_put(&g, 8 + 6 * 8, NUMBERS, 8);
	go_put(&g, 8 + 7 * 8, FUNCTIONS, 8);
	memcpy(g.bytes + NAMES + 1, "main.work", 10);
	memcpy(g.bytes + NAMES + 11, second, strlen(second) + 1);
	memcpy(g.bytes + NUMBERS + 1, depths, sizeof(depths));
	for (u64 i = 0; i < 3; i++) {
		go_put(&g, FUNCTIONS + i * 8, i * 0x40, 4);
		go_put(&g, FUNCTIONS + i * 8 + 4, ABOUT + i * 0x30, 4);
		go_put(&g, FUNCTIONS + ABOUT + i * 0x30, i * 0x40, 4);
		go_put(&g, FUNCTIONS + ABOUT + i * 0x30 + 4, i ? 11 : 1, 4);
		go_put(&g, FUNCTIONS + ABOUT + i * 0x30 + 16, 1, 4);
	}
	return g;
}

struct go_rows {
	u64 address[8];
	struct unwind_rule rule[8];
	size_t n;
};

static void go_row(void *ctx, u64 address, const struct unwind_rule *rule)
{
	struct go_rows *r = ctx;

	if (r->n == ARRAY_SIZE(r->rule))
		return;
	r->address[r->n] = address;
	r->rule[r->n++] = *rule;
}

TEST(rules_of_go_come_from_its_own_table)
{
	struct go_bytes g = go_table("runtime.systemstack.abi0");
	struct go_rows rows = { 0 };
	struct gotab_function f;
	const char *name;
	struct gotab t;

	CHECK(gotab_open(&t, g.bytes, sizeof(g.bytes), 0));
	CHECK(gotab_function(&t, 0, &f));
	CHECK_EQ(f.start, 0x1000);
	CHECK_EQ(f.end, 0x1040);
	CHECK_EQ(gotab_name(&t, &f, &name), 9);
	CHECK(!memcmp(name, "main.work", 9));
	go_frame_rules(&t, &f, go_row, &rows);
	CHECK_EQ(rows.n, 4);
	CHECK_EQ(rows.rule[1].cfa_off, 8);
	CHECK_EQ(rows.rule[1].bp, UNWIND_BP_SAME);
	CHECK_EQ(rows.address[2], 0x1004);
	CHECK_EQ(rows.rule[2].cfa_off, 32);
	CHECK_EQ(rows.rule[2].bp, UNWIND_BP_CFA);
	CHECK_EQ(rows.rule[2].bp_off, -16);
	CHECK_EQ(rows.address[3], 0x1030);
	CHECK_EQ(rows.rule[3].cfa_off, 8);
	rows.n = 0;
	CHECK(gotab_function(&t, 1, &f));
	go_frame_rules(&t, &f, go_row, &rows);
	CHECK_EQ(rows.n, 1);
	CHECK_EQ(rows.rule[0].cfa, UNWIND_CFA_FAR_FP);
	CHECK(!gotab_function(&t, 2, &f));
	g = go_table("runtime.goexit.abi0");
	rows.n = 0;
	CHECK(gotab_function(&t, 1, &f));
	go_frame_rules(&t, &f, go_row, &rows);
	CHECK_EQ(rows.rule[0].cfa, UNWIND_CFA_STOP);
}

TEST(cut_tables_of_go_are_survived)
{
	const struct go_bytes g = go_table("runtime.mcall");

	for (size_t n = 0; n < sizeof(g.bytes); n++) {
		_cleanup_free_ u8 *cut = xmemdup(g.bytes, n + 1);
		struct go_rows rows = { 0 };
		struct gotab_function f;
		struct gotab t;

		if (!gotab_open(&t, cut, n, 0))
			continue;
		for (u64 i = 0; i < t.count; i++) {
			if (gotab_function(&t, i, &f))
				go_frame_rules(&t, &f, go_row, &rows);
		}
	}
}
