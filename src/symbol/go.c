/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of Go functions from the table of their own program. */
#include "runtime/gotab.h"
#include "symbol/symtab.h"

static void add_function(struct symtab_builder *b, const struct gotab *t, u64 i)
{
	struct gotab_function f;
	const char *name;
	size_t n;

	if (b->strings.len > ELF_MAX_STRTAB || !gotab_function(t, i, &f))
		return;
	n = gotab_name(t, &f, &name);
	if (!n)
		return;
	vec_push(&b->spans,
		 (struct span){
			 .start = f.start, .end = f.end, .id = (u32)b->candidates.len, .rank = 1 });
	vec_push(&b->candidates, (struct candidate){ .name = (u32)b->strings.len, .typed = true });
	buf_add(&b->strings, name, n);
	buf_addch(&b->strings, '\0');
}

size_t symtab_add_go(struct symtab_builder *b, const struct elf *elf)
{
	const struct elf_section *s = gotab_section(elf), *text = elf_find_section(elf, ".text");
	const size_t before = b->candidates.len;
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct gotab t;

	if (!s || elf_read_section(elf, s, GOTAB_MAX_BYTES, &bytes) < 0 ||
	    !gotab_open(&t, buf_str(&bytes), bytes.len, text ? text->addr : 0))
		return 0;
	for (u64 i = 0; i < t.count; i++)
		add_function(b, &t, i);
	return b->candidates.len - before;
}
