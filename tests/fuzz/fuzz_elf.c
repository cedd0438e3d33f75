/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as an ELF file: names, unwind entries, stubs, build id; then as a cache file. */
#include "symbol/image.h"

#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_around(const struct image *img)
{
	for (size_t i = 0; i < img->symtab.spans.len; i++) {
		const struct sym *s = symtab_find(&img->symtab, img->symtab.spans.starts[i]);
		u64 where;

		if (s && strlen(symtab_name(&img->symtab, s)) > img->symtab.strings_len)
			abort();
		(void)segments_offset(img->segments, img->segment_count,
				      img->symtab.spans.starts[i], &where);
	}
}

static void as_elf(const uint8_t *data, size_t size)
{
	const struct image_source src = { .path = "/fuzz", .no_debug_files = true };
	struct elf elf;
	struct image *img;
	struct buf link = BUF_INIT;
	u32 crc;

	if (elf_open_mem(&elf, data, size, "fuzz", NULL) < 0)
		return;
	img = image_new();
	image_load(img, &elf, &src);
	look_around(img);
	(void)elf_debuglink(&elf, &link, &crc);
	buf_release(&link);
	image_free(img);
	elf_release(&elf);
}

static void as_cache(const uint8_t *data, size_t size)
{
	static const u8 id[20];
	struct image *img = image_new();
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		abort();
	memcpy(map, data, size);
	if (cache_adopt(img, map, size, id, data[0] % sizeof(id), 0) < 0)
		munmap(map, size);
	else
		look_around(img);
	image_free(img);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	as_elf(data, size);
	as_cache(data, size);
	return 0;
}
