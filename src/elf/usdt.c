/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/usdt.h"

#include "elf/note.h"

enum { USDT_NOTE = 3, USDT_MAX_NOTES = 16 << 20, USDT_MAX_SITES = 1 << 16 };

static bool string_at(const char **p, const char *end, const char **ret)
{
	const char *nul = memchr(*p, 0, (size_t)(end - *p));

	if (!nul)
		return false;
	*ret = *p;
	*p = nul + 1;
	return true;
}

static void add_site(const struct elf *elf, const char *desc, size_t len, u64 base,
		     struct arena *arena, usdt_sites *ret)
{
	const char *end = desc + len, *p = desc + 24, *provider, *name, *args;
	struct usdt_site site = { 0 };
	u64 words[3], shift;

	if (len < 24)
		return;
	memcpy(words, desc, sizeof(words));
	if (!string_at(&p, end, &provider) || !string_at(&p, end, &name) ||
	    !string_at(&p, end, &args))
		return;
	/* A file that was moved after linking: its base section says by how much. */
	shift = base && words[1] ? base - words[1] : 0;
	if (!segments_offset(elf->segments, elf->segment_count, words[0] + shift, &site.offset))
		return;
	if (words[2])
		segments_offset(elf->segments, elf->segment_count, words[2] + shift,
				&site.semaphore);
	site.provider = arena_strdup(arena, provider);
	site.name = arena_strdup(arena, name);
	site.args = arena_strdup(arena, args);
	vec_push(ret, site);
}

int elf_list_usdt(const struct elf *elf, struct arena *arena, usdt_sites *ret, struct err *e)
{
	_cleanup_buf_ struct buf notes = BUF_INIT;
	const struct elf_section *s, *base;
	struct elf_note note;
	const u8 *p;
	size_t n;
	int rc;

	s = elf_find_section(elf, ".note.stapsdt");
	base = elf_find_section(elf, ".stapsdt.base");
	if (!s || !elf->is64)
		return 0;
	rc = elf_read_section(elf, s, USDT_MAX_NOTES, &notes);
	if (rc < 0)
		return err_sys(e, -rc, "cannot read the static tracepoints of '%s'", elf->name);
	p = (const u8 *)notes.data;
	n = notes.len;
	while (ret->len < USDT_MAX_SITES && elf_note_next(&p, &n, &note))
		if (elf_note_is(&note, "stapsdt", USDT_NOTE))
			add_site(elf, (const char *)note.data, note.size, base ? base->addr : 0,
				 arena, ret);
	return 0;
}
