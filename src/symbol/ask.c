/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/ask.h"

#include <sys/mman.h>

#include "base/parse.h"
#include "host/bpf_sys.h"

/* Shared with the program: the question, and the answer as text. */
struct ask_page {
	u64 address;
	char text[ASK_TEXT];
};

struct ask {
	int page_fd;
	int format_fd;
	int prog_fd;
	int name_fd;           /* -1: before Linux 5.16 */
	struct ask_page *page; /* shared with the kernel */
};

#define IMM64(reg, fd, offset)               \
	{ .code = BPF_LD | BPF_DW | BPF_IMM, \
	  .dst_reg = reg,                    \
	  .src_reg = BPF_PSEUDO_MAP_VALUE,   \
	  .imm = fd },                       \
	{                                    \
		.imm = offset                \
	}
#define SET(reg, value)                                                                  \
	{                                                                                \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = reg, .imm = (s32)(value) \
	}
#define CALL(function)                                      \
	{                                                   \
		.code = BPF_JMP | BPF_CALL, .imm = function \
	}
#define EXIT                               \
	{                                  \
		.code = BPF_JMP | BPF_EXIT \
	}

static int load(const struct bpf_insn *insns, size_t n)
{
	const struct bpfsys_prog prog = { .type = BPF_PROG_TYPE_SYSCALL,
					  .insns = insns,
					  .n_insns = n,
					  .name = "fathom_ask",
					  .flags = BPF_F_SLEEPABLE };

	return bpfsys_prog_load(&prog);
}

/* bpf_snprintf(page->text, ASK_TEXT, "%pS", &page->address, 8) */
static int load_by_address(const struct ask *a)
{
	const struct bpf_insn insns[] = {
		IMM64(BPF_REG_1, a->page_fd, offsetof(struct ask_page, text)),
		SET(BPF_REG_2, ASK_TEXT),
		IMM64(BPF_REG_3, a->format_fd, 0),
		IMM64(BPF_REG_4, a->page_fd, offsetof(struct ask_page, address)),
		SET(BPF_REG_5, sizeof(u64)),
		CALL(BPF_FUNC_snprintf),
		SET(BPF_REG_0, 0),
		EXIT,
	};

	return load(insns, ARRAY_SIZE(insns));
}

/* bpf_kallsyms_lookup_name(page->text, ASK_NAME, 0, &page->address) */
static int load_by_name(const struct ask *a)
{
	const struct bpf_insn insns[] = {
		IMM64(BPF_REG_1, a->page_fd, offsetof(struct ask_page, text)),
		SET(BPF_REG_2, ASK_NAME),
		SET(BPF_REG_3, 0),
		IMM64(BPF_REG_4, a->page_fd, offsetof(struct ask_page, address)),
		CALL(BPF_FUNC_kallsyms_lookup_name),
		SET(BPF_REG_0, 0),
		EXIT,
	};

	return load(insns, ARRAY_SIZE(insns));
}

static int make_maps(struct ask *a)
{
	const struct bpfsys_map page = { .type = BPF_MAP_TYPE_ARRAY,
					 .key_size = sizeof(u32),
					 .value_size = sizeof(struct ask_page),
					 .max_entries = 1,
					 .flags = BPF_F_MMAPABLE,
					 .name = "fathom_ask" };
	const struct bpfsys_map format = { .type = BPF_MAP_TYPE_ARRAY,
					   .key_size = sizeof(u32),
					   .value_size = 8,
					   .max_entries = 1,
					   .flags = BPF_F_RDONLY_PROG,
					   .name = "fathom_format" };
	const char text[8] = "%pS";
	const u32 key = 0;
	int rc;

	a->page_fd = bpfsys_map_create(&page);
	a->format_fd = bpfsys_map_create(&format);
	if (a->page_fd < 0 || a->format_fd < 0)
		return MIN(a->page_fd, a->format_fd);
	rc = bpfsys_map_update(a->format_fd, &key, text, BPF_ANY);
	return rc < 0 ? rc : bpfsys_map_freeze(a->format_fd);
}

int ask_new(struct ask **ret)
{
	struct ask *a = xcalloc(1, sizeof(*a));
	void *page = MAP_FAILED;
	int rc;

	a->page_fd = a->format_fd = a->prog_fd = a->name_fd = -1;
	rc = make_maps(a);
	if (rc >= 0)
		rc = a->prog_fd = load_by_address(a);
	if (rc >= 0) {
		a->name_fd = load_by_name(a);
		page = mmap(NULL, sizeof(*a->page), PROT_READ | PROT_WRITE, MAP_SHARED, a->page_fd,
			    0);
		rc = page == MAP_FAILED ? -errno : 0;
	}
	if (rc < 0) {
		ask_free(a);
		return rc;
	}
	a->page = page;
	*ret = a;
	return 0;
}

void ask_free(struct ask *a)
{
	if (!a)
		return;
	if (a->page)
		munmap(a->page, sizeof(*a->page));
	cleanup_close(&a->page_fd);
	cleanup_close(&a->format_fd);
	cleanup_close(&a->prog_fd);
	cleanup_close(&a->name_fd);
	free(a);
}

static bool is_bpf(const char *name)
{
	const char *program = starts_with(name, "bpf_prog_");
	const char *trampoline = starts_with(name, "bpf_trampoline_");

	/* the kernel has functions that are called so, too: a program has its tag, sixteen digits
	 */
	if (program)
		return strspn(program, "0123456789abcdef") == 16;
	if (trampoline)
		return *trampoline && !trampoline[strspn(trampoline, "0123456789")];
	return starts_with(name, "bpf_dispatcher_") && !ends_with(name, "_func") &&
	       !ends_with(name, "_prog");
}

/* "0x12" and what is after it. */
static bool scan_hex(const char **p, char before, u64 *ret)
{
	const char *at = *p;

	if (at[0] != before || at[1] != '0' || at[2] != 'x')
		return false;
	at += 3;
	if (!scan_u64(&at, at + strlen(at), 16, ret))
		return false;
	*p = at;
	return true;
}

bool ask_parse(const char *text, u64 address, struct ask_answer *ret)
{
	const char *plus = strrchr(text, '+'), *p = plus, *end;
	u64 offset, size;

	if (!plus || plus == text || (size_t)(plus - text) >= sizeof(ret->name) ||
	    !scan_hex(&p, '+', &offset) || !scan_hex(&p, '/', &size) || offset >= size ||
	    offset > address)
		return false;
	*ret = (struct ask_answer){ .start = address - offset, .size = size };
	memcpy(ret->name, text, (size_t)(plus - text));
	end = strchr(p, ']');
	if (p[0] == ' ' && p[1] == '[' && end && (size_t)(end - p) < sizeof(ret->module))
		memcpy(ret->module, p + 2, (size_t)(end - p) - 2);
	else if (is_bpf(ret->name))
		memcpy(ret->module, "bpf", sizeof("bpf"));
	return true;
}

bool ask_address(struct ask *a, u64 address, struct ask_answer *ret)
{
	char text[ASK_TEXT];
	u32 status;

	a->page->address = address;
	if (bpfsys_prog_run(a->prog_fd, NULL, 0, &status) < 0)
		return false;
	memcpy(text, a->page->text, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	return ask_parse(text, address, ret);
}

u64 ask_name(struct ask *a, const char *name)
{
	u32 status;

	if (a->name_fd < 0)
		return 0;
	memset(a->page, 0, sizeof(*a->page));
	memcpy(a->page->text, name, strnlen(name, ASK_NAME - 1));
	return bpfsys_prog_run(a->name_fd, NULL, 0, &status) < 0 ? 0 : a->page->address;
}

void ask_ranges(const char *const *names, size_t n, struct ask_range *ret)
{
	_cleanup_free_ struct ask_answer *answer = xmalloc(sizeof(*answer));
	struct ask *a = NULL;

	memset(ret, 0, n * sizeof(*ret));
	if (ask_new(&a) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		u64 at = ask_name(a, names[i]);

		if (at && ask_address(a, at, answer))
			ret[i] = (struct ask_range){ answer->start, answer->start + answer->size };
	}
	ask_free(a);
}
