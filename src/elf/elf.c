/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/elf.h"

#include "base/hash.h"
#include "base/io.h"
#include "elf/note.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

int elf_read(const struct elf *elf, u64 offset, void *ret, size_t n)
{
	if (offset > elf->size || n > elf->size - offset)
		return -ERANGE;
	if (elf->mem) {
		memcpy(ret, elf->mem + offset, n);
		return 0;
	}
	return io_pread_all(elf->fd, offset, ret, n);
}

int elf_read_buf(const struct elf *elf, u64 offset, u64 size, u64 max, struct buf *ret)
{
	int r;

	if (size > max)
		return -EFBIG;
	if (offset > elf->size || size > elf->size - offset)
		return -ERANGE;
	r = elf_read(elf, offset, buf_reserve(ret, size), size);
	if (r == 0)
		buf_added(ret, size);
	return r;
}

int elf_read_section(const struct elf *elf, const struct elf_section *s, u64 max, struct buf *ret)
{
	if (s->type == SHT_NOBITS || s->type == SHT_NULL || (s->flags & SHF_COMPRESSED))
		return -ENODATA;
	return elf_read_buf(elf, s->offset, s->size, max, ret);
}

/* Both classes have the same fields, with other widths and in other places. */
#define SEGMENT_OF(p)                                  \
	((struct elf_segment){ .type = (p).p_type,     \
			       .flags = (p).p_flags,   \
			       .offset = (p).p_offset, \
			       .vaddr = (p).p_vaddr,   \
			       .filesz = (p).p_filesz, \
			       .memsz = (p).p_memsz })

#define SECTION_OF(h)                                   \
	((struct elf_section){ .name = (h).sh_name,     \
			       .type = (h).sh_type,     \
			       .link = (h).sh_link,     \
			       .info = (h).sh_info,     \
			       .flags = (h).sh_flags,   \
			       .addr = (h).sh_addr,     \
			       .offset = (h).sh_offset, \
			       .size = (h).sh_size,     \
			       .entsize = (h).sh_entsize })

#define HEADER_OF(h)                                        \
	((struct elf_header){ .type = (h).e_type,           \
			      .machine = (h).e_machine,     \
			      .phoff = (h).e_phoff,         \
			      .shoff = (h).e_shoff,         \
			      .phnum = (h).e_phnum,         \
			      .shnum = (h).e_shnum,         \
			      .shstrndx = (h).e_shstrndx,   \
			      .phentsize = (h).e_phentsize, \
			      .shentsize = (h).e_shentsize })

/* The file header, in one form for both classes. */
struct elf_header {
	u64 phoff, shoff;
	u32 phnum, shnum, shstrndx;
	u16 type, machine, phentsize, shentsize;
};

static int read_header(struct elf *elf, const char *name, struct elf_header *ret, struct err *e)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr h64;
		Elf32_Ehdr h32;
	} u = { 0 };
	int r = elf_read(elf, 0, &u, MIN(elf->size, (u64)sizeof(u)));

	if (r < 0)
		return err_sys(e, r, "cannot read '%s'", name);
	if (elf->size < sizeof(Elf32_Ehdr) || memcmp(u.ident, ELFMAG, SELFMAG) != 0)
		return err_set(e, ENOEXEC, "'%s' is not an ELF file", name);
	if (u.ident[EI_DATA] != ELFDATA2LSB)
		return err_set(e, ENOTSUP, "'%s' is for a big-endian machine", name);
	if (u.ident[EI_CLASS] == ELFCLASS64 && elf->size >= sizeof(Elf64_Ehdr)) {
		elf->is64 = true;
		*ret = HEADER_OF(u.h64);
	} else if (u.ident[EI_CLASS] == ELFCLASS32) {
		*ret = HEADER_OF(u.h32);
	} else {
		return err_set(e, ENOEXEC, "'%s' has a broken ELF header", name);
	}
	elf->type = ret->type;
	elf->machine = ret->machine;
	return 0;
}

static int read_segments(struct elf *elf, const struct elf_header *h)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	const size_t want = elf->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	int r;

	if (!h->phnum)
		return 0;
	if (h->phentsize != want || h->phnum > ELF_MAX_PHDRS)
		return -EINVAL;
	r = elf_read_buf(elf, h->phoff, (u64)h->phnum * want, (u64)ELF_MAX_PHDRS * want, &b);
	if (r < 0)
		return r;
	elf->segments = xcalloc(h->phnum, sizeof(*elf->segments));
	elf->segment_count = h->phnum;
	for (size_t i = 0; i < h->phnum; i++) {
		if (elf->is64)
			elf->segments[i] = SEGMENT_OF(((const Elf64_Phdr *)b.data)[i]);
		else
			elf->segments[i] = SEGMENT_OF(((const Elf32_Phdr *)b.data)[i]);
	}
	elf->fingerprint = hash_mix(elf->fingerprint, hash_bytes(b.data, b.len));
	return 0;
}

/* Counts that do not fit the file header are kept in the first section header. */
static int extended_counts(struct elf *elf, struct elf_header *h, size_t want)
{
	Elf64_Shdr h64;
	Elf32_Shdr h32;
	struct elf_section first;
	int r = elf_read(elf, h->shoff, elf->is64 ? (void *)&h64 : (void *)&h32, want);

	if (r < 0)
		return r;
	if (elf->is64)
		first = SECTION_OF(h64);
	else
		first = SECTION_OF(h32);
	if (!h->shnum)
		h->shnum = first.size > ELF_MAX_SECTIONS ? ELF_MAX_SECTIONS + 1 : (u32)first.size;
	if (h->shstrndx == SHN_XINDEX)
		h->shstrndx = first.link;
	if (h->phnum == PN_XNUM)
		h->phnum = first.info;
	return 0;
}

static void read_names(struct elf *elf, u32 index)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (index >= elf->section_count ||
	    elf_read_section(elf, &elf->sections[index], ELF_MAX_NAMES, &b) < 0 || !b.len)
		return;
	elf->names_len = b.len;
	elf->names = buf_detach(&b);
}

static int read_sections(struct elf *elf, const struct elf_header *h, size_t want)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	int r;

	if (h->shnum > ELF_MAX_SECTIONS)
		return -EFBIG;
	r = elf_read_buf(elf, h->shoff, (u64)h->shnum * want, (u64)ELF_MAX_SECTIONS * want, &b);
	if (r < 0)
		return r;
	elf->sections = xcalloc(MAX(h->shnum, 1u), sizeof(*elf->sections));
	elf->section_count = h->shnum;
	for (size_t i = 0; i < h->shnum; i++) {
		if (elf->is64)
			elf->sections[i] = SECTION_OF(((const Elf64_Shdr *)b.data)[i]);
		else
			elf->sections[i] = SECTION_OF(((const Elf32_Shdr *)b.data)[i]);
	}
	elf->fingerprint = hash_mix(elf->fingerprint, hash_bytes(buf_str(&b), b.len));
	read_names(elf, h->shstrndx);
	return 0;
}

static bool notes_at(struct elf *elf, u64 offset, u64 size)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (elf_read_buf(elf, offset, size, ELF_MAX_NOTES, &b) < 0)
		return false;
	elf->build_id_len =
		elf_notes_build_id(buf_str(&b), b.len, elf->build_id, sizeof(elf->build_id));
	return elf->build_id_len;
}

static void read_build_id(struct elf *elf)
{
	for (size_t i = 1; i < elf->section_count; i++) {
		const struct elf_section *s = &elf->sections[i];

		if (s->type == SHT_NOTE && notes_at(elf, s->offset, s->size))
			return;
	}
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct elf_segment *s = &elf->segments[i];

		if (s->type == PT_NOTE && notes_at(elf, s->offset, s->filesz))
			return;
	}
}

static int read_tables(struct elf *elf, const char *name, struct err *e)
{
	struct elf_header h = { 0 };
	size_t want;
	bool sections;
	int r = read_header(elf, name, &h, e);

	if (r < 0)
		return r;
	want = elf->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	sections = h.shoff && h.shentsize == want;
	elf->fingerprint = hash_mix(elf->size, elf->machine);
	/* Section headers are optional: a file without them, or with broken ones, is still usable.
	 */
	if (sections && extended_counts(elf, &h, want) < 0)
		sections = false;
	r = read_segments(elf, &h);
	if (r < 0)
		return err_set(e, EINVAL, "'%s' has broken program headers", name);
	if (sections)
		(void)read_sections(elf, &h, want);
	read_build_id(elf);
	return 0;
}

static u64 identity_of(int fd, const struct stat *st)
{
	int generation = 0;

	(void)ioctl(fd, FS_IOC_GETVERSION, &generation); /* not every file system has it */

	const u64 parts[] = { (u64)st->st_dev,  (u64)st->st_ino,         (u32)generation,
			      (u64)st->st_size, (u64)st->st_ctim.tv_sec, (u64)st->st_ctim.tv_nsec };

	return hash_bytes(parts, sizeof(parts)) | 1;
}

int elf_use_fd(struct elf *elf, int fd, const char *name, struct err *e)
{
	struct stat st;
	int r;

	*elf = (struct elf){ .fd = fd, .borrowed = true, .name = xstrdup(name) };
	if (fstat(fd, &st) < 0)
		r = err_sys(e, errno, "cannot stat '%s'", name);
	else if (!S_ISREG(st.st_mode))
		r = err_set(e, EINVAL, "'%s' is not a regular file", name);
	else {
		elf->size = (u64)st.st_size;
		elf->identity = identity_of(fd, &st);
		r = read_tables(elf, name, e);
	}
	if (r < 0)
		elf_release(elf);
	return r;
}

int elf_open_fd(struct elf *elf, int fd, const char *name, struct err *e)
{
	int r = elf_use_fd(elf, fd, name, e);

	if (r < 0)
		close(fd);
	elf->borrowed = false;
	return r;
}

int elf_open_mem(struct elf *elf, const void *bytes, size_t size, const char *name, struct err *e)
{
	int r;

	*elf = (struct elf)ELF_INIT;
	elf->name = xstrdup(name);
	elf->mem = bytes;
	elf->size = size;
	r = read_tables(elf, name, e);
	if (r < 0)
		elf_release(elf);
	return r;
}

void elf_release(struct elf *elf)
{
	if (elf->fd >= 0 && !elf->borrowed)
		close(elf->fd);
	free(elf->name);
	free(elf->segments);
	free(elf->sections);
	free(elf->names);
	*elf = (struct elf)ELF_INIT;
}

/* A struct buf ends in a NUL, so every offset inside names is a string. */
const char *elf_section_name(const struct elf *elf, const struct elf_section *s)
{
	return s->name < elf->names_len ? elf->names + s->name : "";
}

const struct elf_section *elf_find_section(const struct elf *elf, const char *name)
{
	for (size_t i = 1; i < elf->section_count; i++)
		if (streq(elf_section_name(elf, &elf->sections[i]), name))
			return &elf->sections[i];
	return NULL;
}

const struct elf_section *elf_find_type(const struct elf *elf, u32 type)
{
	for (size_t i = 1; i < elf->section_count; i++)
		if (elf->sections[i].type == type)
			return &elf->sections[i];
	return NULL;
}

const struct elf_segment *elf_find_segment(const struct elf *elf, u32 type)
{
	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].type == type)
			return &elf->segments[i];
	return NULL;
}

bool elf_has_bytes(const struct elf *elf, const struct elf_section *s)
{
	return s->type != SHT_NOBITS && s->type != SHT_NULL && !(s->flags & SHF_COMPRESSED) &&
	       s->offset <= elf->size && s->size <= elf->size - s->offset;
}

bool elf_debuglink(const struct elf *elf, struct buf *ret_name, u32 *ret_crc)
{
	const struct elf_section *s = elf_find_section(elf, ".gnu_debuglink");
	_cleanup_buf_ struct buf b = BUF_INIT;
	size_t len, crc_at;

	if (!s || elf_read_section(elf, s, 4096, &b) < 0 || !b.len)
		return false;
	len = strnlen(b.data, b.len);
	crc_at = ALIGN_UP(len + 1, 4);
	if (!len || crc_at + 4 > b.len || memchr(b.data, '/', len))
		return false;
	buf_add(ret_name, b.data, len);
	memcpy(ret_crc, b.data + crc_at, 4);
	return true;
}

u64 elf_code_start(const struct elf *elf)
{
	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].type == PT_LOAD && elf->segments[i].flags & PF_X)
			return elf->segments[i].vaddr;
	return 0;
}

bool elf_offset(const struct elf *elf, u64 vaddr, bool exec, u64 *ret_offset, u64 *ret_left)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct elf_segment *s = &elf->segments[i];

		if (s->type != PT_LOAD || vaddr < s->vaddr || vaddr - s->vaddr >= s->filesz ||
		    (exec && !(s->flags & PF_X)) || s->offset > elf->size ||
		    s->filesz > elf->size - s->offset || s->vaddr > UINT64_MAX - s->filesz)
			continue;
		*ret_offset = s->offset + (vaddr - s->vaddr);
		*ret_left = s->filesz - (vaddr - s->vaddr);
		return true;
	}
	return false;
}

static bool segment_has_offset(const struct elf_segment *s, u64 offset)
{
	return s->type == PT_LOAD && offset >= s->offset && offset - s->offset < s->filesz;
}

bool segments_vaddr(const struct elf_segment *segments, size_t n, u64 offset, u64 *ret)
{
	const struct elf_segment *found = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct elf_segment *s = &segments[i];

		if (segment_has_offset(s, offset) && (!found || (s->flags & PF_X)))
			found = s;
	}
	if (found)
		*ret = found->vaddr + (offset - found->offset);
	return found != NULL;
}

bool segments_offset(const struct elf_segment *segments, size_t n, u64 vaddr, u64 *ret)
{
	for (size_t i = 0; i < n; i++) {
		const struct elf_segment *s = &segments[i];

		if (s->type == PT_LOAD && vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz) {
			*ret = s->offset + (vaddr - s->vaddr);
			return true;
		}
	}
	return false;
}
