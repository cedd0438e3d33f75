/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/core.h"

#include <elf.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <sys/user.h>

#include "elf/note.h"
#include "base/io.h"

enum { VDSO_MAX = 1 << 20, HEADER_BYTES = 4096 };

static int bad(const struct core *c, struct err *e, const char *why, u64 offset)
{
	return err_set(e, EBADMSG, "'%s': %s at offset 0x%llx", c->name, why,
		       (unsigned long long)offset);
}

static int read_at(const struct core *c, u64 offset, void *to, size_t n)
{
	if (offset > c->size || n > c->size - offset || io_pread_all(c->fd, offset, to, n) < 0)
		return -EFAULT;
	return 0;
}

static const struct core_segment *segment_at(const struct core *c, u64 address)
{
	size_t lo = 0, hi = c->segments.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct core_segment *s = &c->segments.items[mid];

		if (address < s->vaddr)
			hi = mid;
		else if (address - s->vaddr >= s->size)
			lo = mid + 1;
		else
			return s;
	}
	return NULL;
}

/* All @n bytes, or -EFAULT. */
static int core_read(const struct core *c, u64 address, void *to, size_t n)
{
	const struct core_segment *s = segment_at(c, address);

	if (!s || address - s->vaddr > s->file_size || n > s->file_size - (address - s->vaddr))
		return -EFAULT;
	return read_at(c, s->offset + (address - s->vaddr), to, n);
}

static void add_thread(struct core *c, const u8 *p, size_t n)
{
	struct elf_prstatus st;
	struct user_regs_struct regs;

	if (n < sizeof(st) || c->threads.len == CORE_MAX_THREADS)
		return;
	memcpy(&st, p, sizeof(st));
	_Static_assert(sizeof(st.pr_reg) == sizeof(regs), "both are the kernel's layout");
	memcpy(&regs, &st.pr_reg, sizeof(regs));
	struct core_thread *t = vec_new(&c->threads);

	t->tid = st.pr_pid;
	t->signal = st.pr_cursig;
	unwind_regs_from_user(t->regs, &regs);
}

static void read_program(struct core *c, const u8 *p, size_t n)
{
	struct elf_prpsinfo info;

	if (n < sizeof(info))
		return;
	memcpy(&info, p, sizeof(info));
	c->pid = info.pr_pid;
	snprintf(c->program, sizeof(c->program), "%.*s", (int)sizeof(info.pr_fname), info.pr_fname);
}

static void read_auxv(struct core *c, const u8 *p, size_t n)
{
	for (; n >= sizeof(Elf64_auxv_t); p += sizeof(Elf64_auxv_t), n -= sizeof(Elf64_auxv_t)) {
		Elf64_auxv_t a;

		memcpy(&a, p, sizeof(a));
		if (a.a_type == AT_SYSINFO_EHDR)
			c->vdso_start = a.a_un.a_val;
	}
}

/* NT_FILE: count, page size, three words for each mapping, then the names. */
static void read_files(struct core *c, const u8 *p, size_t n)
{
	u64 head[2], entry[3];

	if (n < sizeof(head))
		return;
	memcpy(head, p, sizeof(head));
	if (head[0] > (n - sizeof(head)) / sizeof(entry))
		return;
	const u8 *end = p + n, *names = p + sizeof(head) + head[0] * sizeof(entry);

	for (u64 i = 0; i < head[0]; i++) {
		const u8 *nul = memchr(names, 0, (size_t)(end - names));

		if (!nul)
			return;
		memcpy(entry, p + sizeof(head) + i * sizeof(entry), sizeof(entry));
		const struct mapping map = {
			.start = entry[0],
			.end = entry[1],
			.offset = entry[2] * head[1],
			.path = (const char *)names,
		};

		mappings_push(&c->maps, &map);
		names = nul + 1;
	}
}

static void read_note(struct core *c, u32 type, const u8 *p, size_t n)
{
	switch (type) {
	case NT_PRSTATUS: add_thread(c, p, n); break;
	case NT_PRPSINFO: read_program(c, p, n); break;
	case NT_AUXV: read_auxv(c, p, n); break;
	case NT_FILE: read_files(c, p, n); break;
	default: break;
	}
}

static int read_notes(struct core *c, const Elf64_Phdr *ph, struct err *e)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (ph->p_filesz > CORE_MAX_NOTES)
		return bad(c, e, "too many notes", ph->p_offset);
	if (read_at(c, ph->p_offset, buf_reserve(&b, ph->p_filesz), ph->p_filesz))
		return bad(c, e, "notes end too early", ph->p_offset);
	const u8 *p = (const u8 *)b.data;
	size_t n = ph->p_filesz;
	struct elf_note note;

	while (elf_note_next(&p, &n, &note))
		read_note(c, note.type, note.data, note.size);
	return 0;
}

static int compare_segments(const void *a, const void *b)
{
	const struct core_segment *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static int read_segments(struct core *c, const Elf64_Ehdr *eh, struct err *e)
{
	u64 n = eh->e_phnum;
	Elf64_Shdr first;

	if (n == PN_XNUM && !read_at(c, eh->e_shoff, &first, sizeof(first)))
		n = first.sh_info;
	if (n > CORE_MAX_SEGMENTS || eh->e_phentsize != sizeof(Elf64_Phdr))
		return bad(c, e, "impossible program headers", eh->e_phoff);
	for (u64 i = 0; i < n; i++) {
		Elf64_Phdr p;
		int rc = 0;

		if (read_at(c, eh->e_phoff + i * sizeof(p), &p, sizeof(p)))
			return bad(c, e, "program headers end too early", eh->e_phoff);
		if (p.p_type == PT_NOTE)
			rc = read_notes(c, &p, e);
		else if (p.p_type == PT_LOAD && p.p_memsz && p.p_vaddr <= UINT64_MAX - p.p_memsz)
			vec_push(&c->segments, (struct core_segment){ p.p_vaddr, p.p_offset,
								      MIN(p.p_filesz, p.p_memsz),
								      p.p_memsz, p.p_flags });
		if (rc)
			return rc;
	}
	vec_sort(&c->segments, compare_segments);
	return 0;
}

/* The vDSO is in the core's memory, not in a file. */
static void load_vdso(struct core *c)
{
	const struct core_segment *s = segment_at(c, c->vdso_start);
	_cleanup_free_ u8 *bytes = NULL;
	_cleanup_elf_ struct elf elf = ELF_INIT;

	if (!c->vdso_start || !s || s->vaddr != c->vdso_start || s->file_size > VDSO_MAX)
		return;
	bytes = xmalloc(s->file_size + 1);
	if (!core_read(c, s->vaddr, bytes, s->file_size) &&
	    !elf_open_mem(&elf, bytes, s->file_size, "[vdso]", NULL))
		unwind_table_compile(&elf, &c->vdso, NULL);
}

static int core_load(struct core *c, struct err *e)
{
	Elf64_Ehdr eh;
	struct stat st;

	if (fstat(c->fd, &st))
		return err_sys(e, errno, "cannot stat '%s'", c->name);
	c->size = (u64)st.st_size;
	if (read_at(c, 0, &eh, sizeof(eh)) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_type != ET_CORE || eh.e_machine != EM_X86_64)
		return err_set(e, ENOEXEC, "'%s' is not a core file of x86-64", c->name);
	int rc = read_segments(c, &eh, e);

	if (rc)
		return rc;
	if (!c->threads.len)
		return err_set(e, ENODATA, "'%s' has no threads", c->name);
	mappings_sort(&c->maps);
	load_vdso(c);
	return 0;
}

int core_open(struct core *c, int fd, const char *name, struct err *e)
{
	*c = (struct core){ .fd = fd, .name = name };
	int rc = core_load(c, e);

	if (rc)
		core_release(c);
	return rc;
}

void core_release(struct core *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	vec_release(&c->segments);
	vec_release(&c->threads);
	mappings_release(&c->maps);
	unwind_files_release(&c->files);
	unwind_table_free(c->vdso);
	c->vdso = NULL;
}

/* False when the core shows that another build was mapped than the one that lies here now. */
static bool same_build(const struct core *c, const struct mapping *m, const struct unwind_table *t)
{
	u8 bytes[HEADER_BYTES];
	_cleanup_elf_ struct elf elf = ELF_INIT;
	const struct mapping *first = m;

	/* the mapping with the ELF header is the one at file offset 0, some entries before */
	for (; first >= c->maps.items.items && streq(first->path, m->path); first--) {
		if (first->offset)
			continue;
		if (core_read(c, first->start, bytes, sizeof(bytes)) ||
		    elf_open_mem(&elf, bytes, sizeof(bytes), m->path, NULL) || !elf.build_id_len)
			return true;
		return elf.build_id_len == t->build_id_len &&
		       !memcmp(elf.build_id, t->build_id, elf.build_id_len);
	}
	return true;
}

static int core_find(void *ctx, u64 pc, const struct unwind_rule **ret)
{
	struct core *c = ctx;
	const struct core_segment *s = segment_at(c, pc);
	struct mapping *m = mappings_find(&c->maps, pc);

	/* who writes a core may leave out what is in files anyway: then it has no segment */
	if (s ? !(s->flags & PF_X) : !m)
		return -ENOENT;
	*ret = NULL;
	if (c->vdso && s && s->vaddr == c->vdso_start) {
		*ret = unwind_table_rule(c->vdso, pc - s->vaddr);
		return 0;
	}
	if (!m)
		return 0;
	bool fresh = !m->id;
	const struct unwind_file *f = unwind_files_get(&c->files, m, 0);

	if (f->unreadable)
		return -EAGAIN;
	if (fresh && f->table && !same_build(c, m, f->table)) {
		c->changed++;
		m->other_build = true;
	}
	if (m->other_build)
		return -EAGAIN;
	*ret = unwind_table_rule(f->table, pc - m->start + m->offset);
	return 0;
}

static int core_read_fn(void *ctx, u64 address, void *to, size_t n)
{
	return core_read(ctx, address, to, n);
}

void core_frames(struct core *c, const struct core_thread *t, struct unwind_frames *f)
{
	struct unwind_source source = { .ctx = c, .read = core_read_fn, .find = core_find };

	memcpy(source.regs, t->regs, sizeof(source.regs));
	unwind_user(&source, f);
}
