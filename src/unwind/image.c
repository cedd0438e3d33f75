/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/image.h"

#include <elf.h>
#include <sys/stat.h>

#include "base/elfnote.h"
#include "base/hash.h"
#include "base/io.h"

static int bad(const struct image *im, struct err *e, const char *why, u64 offset)
{
	err_set(e, ENOEXEC, "'%s': %s at offset 0x%llx", im->name, why, (unsigned long long)offset);
	return -ENOEXEC;
}

static bool inside(const struct image *im, u64 offset, u64 n)
{
	return offset <= im->size && n <= im->size - offset;
}

int image_read(const struct image *im, u64 offset, void *to, size_t n, struct err *e)
{
	int r = 0;

	if (!inside(im, offset, n))
		return bad(im, e, "data ends too early", offset);
	if (im->fd < 0)
		memcpy(to, im->bytes + offset, n);
	else
		r = io_pread_all(im->fd, offset, to, n);
	if (r == -ERANGE)
		return bad(im, e, "file became shorter", offset);
	return r < 0 ? err_sys(e, r, "cannot read '%s'", im->name) : 0;
}

int image_read_range(const struct image *im, const struct image_range *r, struct buf *ret,
		     struct err *e)
{
	if (r->size > IMAGE_MAX_FRAMES)
		return err_set(e, EFBIG, "'%s': %llu bytes of frame information are too many",
			       im->name, (unsigned long long)r->size);
	if (!inside(im, r->offset, r->size))
		return bad(im, e, "frame information ends outside the file", r->offset);
	int rc = image_read(im, r->offset, buf_reserve(ret, r->size), r->size, e);

	if (!rc)
		buf_added(ret, r->size);
	return rc;
}

bool image_offset(const struct image *im, u64 vaddr, bool exec, u64 *ret_offset, u64 *ret_left)
{
	for (size_t i = 0; i < im->n_segments; i++) {
		const struct image_segment *s = &im->segments[i];

		if (vaddr < s->vaddr || vaddr - s->vaddr >= s->size || (exec && !s->exec))
			continue;
		*ret_offset = s->offset + (vaddr - s->vaddr);
		*ret_left = s->size - (vaddr - s->vaddr);
		return true;
	}
	return false;
}

u64 image_layout(const struct image *im)
{
	u64 h = im->n_segments;

	for (size_t i = 0; i < im->n_segments; i++) {
		const struct image_segment *s = &im->segments[i];

		h = hash_mix(h, s->vaddr);
		h = hash_mix(h, s->offset);
		h = hash_mix(h, s->size);
	}
	return h;
}

static void find_build_id(struct image *im, const u8 *p, size_t n)
{
	struct elfnote note;

	while (elfnote_next(&p, &n, &note)) {
		if (elfnote_is(&note, "GNU", NT_GNU_BUILD_ID) && note.size &&
		    note.size <= IMAGE_MAX_BUILD_ID) {
			memcpy(im->build_id, note.data, note.size);
			im->build_id_len = note.size;
			return;
		}
	}
}

static void read_notes(struct image *im, u64 offset, u64 size)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (im->build_id_len || !inside(im, offset, size))
		return;
	size = MIN(size, (u64)IMAGE_MAX_NOTES);
	if (!image_read(im, offset, buf_reserve(&b, size), size, NULL))
		find_build_id(im, (const u8 *)b.data, size);
}

static void add_segment(struct image *im, const Elf64_Phdr *p)
{
	if (!p->p_filesz || !inside(im, p->p_offset, p->p_filesz) ||
	    p->p_vaddr > UINT64_MAX - p->p_filesz || im->n_segments == IMAGE_MAX_SEGMENTS)
		return;
	im->segments[im->n_segments++] = (struct image_segment){
		.vaddr = p->p_vaddr,
		.offset = p->p_offset,
		.size = p->p_filesz,
		.exec = p->p_flags & PF_X,
	};
}

static int read_segments(struct image *im, const Elf64_Ehdr *eh, struct err *e)
{
	for (size_t i = 0; i < eh->e_phnum; i++) {
		Elf64_Phdr p;
		int rc = image_read(im, eh->e_phoff + i * sizeof(p), &p, sizeof(p), e);

		if (rc)
			return rc;
		if (p.p_type == PT_LOAD)
			add_segment(im, &p);
		else if (p.p_type == PT_NOTE)
			read_notes(im, p.p_offset, p.p_filesz);
		else if (p.p_type == PT_GNU_EH_FRAME && inside(im, p.p_offset, p.p_filesz))
			im->eh_frame_hdr =
				(struct image_range){ p.p_vaddr, p.p_offset, p.p_filesz };
	}
	return 0;
}

static void add_section(struct image *im, const Elf64_Shdr *s, const char *name)
{
	struct image_range r = { s->sh_addr, s->sh_offset, s->sh_size };

	if (s->sh_type == SHT_NOBITS || (s->sh_flags & SHF_COMPRESSED) ||
	    !inside(im, r.offset, r.size))
		return;
	if (streq(name, ".eh_frame"))
		im->eh_frame = r;
	else if (streq(name, ".debug_frame"))
		im->debug_frame = r;
	else if (streq(name, ".gopclntab") || streq(name, ".data.rel.ro.gopclntab"))
		im->go_table = r;
	else if (streq(name, ".text"))
		im->text = r;
	else if (s->sh_type == SHT_NOTE)
		read_notes(im, r.offset, r.size);
}

/* Sections are a convenience: a file without them, or with bad ones, still has segments. */
static void read_sections(struct image *im, const Elf64_Ehdr *eh)
{
	_cleanup_free_ Elf64_Shdr *sections = NULL;
	_cleanup_buf_ struct buf names = BUF_INIT;
	size_t n = eh->e_shnum;
	Elf64_Shdr first;

	if (!eh->e_shoff || eh->e_shentsize != sizeof(first) ||
	    image_read(im, eh->e_shoff, &first, sizeof(first), NULL))
		return;
	if (!n)
		n = first.sh_size > IMAGE_MAX_SECTIONS ? 0 : first.sh_size;
	size_t strings = eh->e_shstrndx == SHN_XINDEX ? first.sh_link : eh->e_shstrndx;

	if (!n || n > IMAGE_MAX_SECTIONS || strings >= n ||
	    !inside(im, eh->e_shoff, n * sizeof(first)))
		return;
	sections = xcalloc(n, sizeof(*sections));
	if (image_read(im, eh->e_shoff, sections, n * sizeof(*sections), NULL))
		return;
	const Elf64_Shdr *st = &sections[strings];

	if (st->sh_size > IMAGE_MAX_FRAMES || !inside(im, st->sh_offset, st->sh_size) ||
	    image_read(im, st->sh_offset, buf_reserve(&names, st->sh_size), st->sh_size, NULL))
		return;
	buf_added(&names, st->sh_size);
	for (size_t i = 0; i < n; i++) {
		if (sections[i].sh_name < names.len)
			add_section(im, &sections[i], names.data + sections[i].sh_name);
	}
}

static int open_common(struct image *im, struct err *e)
{
	Elf64_Ehdr eh;

	if (im->size < sizeof(eh))
		return err_set(e, ENOEXEC, "'%s' is not an ELF file", im->name);
	int rc = image_read(im, 0, &eh, sizeof(eh), e);

	if (rc)
		return rc;
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0)
		return err_set(e, ENOEXEC, "'%s' is not an ELF file", im->name);
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh.e_machine != EM_X86_64)
		return err_set(e, ENOEXEC, "'%s' is not for x86-64", im->name);
	if (eh.e_phnum && eh.e_phentsize != sizeof(Elf64_Phdr))
		return bad(im, e, "program headers of an unknown size", eh.e_phoff);
	rc = read_segments(im, &eh, e);
	if (rc)
		return rc;
	read_sections(im, &eh);
	return 0;
}

int image_open(struct image *im, int fd, const char *name, struct err *e)
{
	struct stat st;

	*im = (struct image){ .name = name, .fd = fd };
	if (fstat(fd, &st))
		return err_sys(e, errno, "cannot stat '%s'", name);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ENOEXEC, "'%s' is not an ordinary file", name);
	im->size = (u64)st.st_size;
	return open_common(im, e);
}

int image_open_memory(struct image *im, const void *bytes, size_t n, const char *name,
		      struct err *e)
{
	*im = (struct image){ .name = name, .fd = -1, .bytes = bytes, .size = n };
	return open_common(im, e);
}
