/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/rows.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "offcpu.skel.h"

enum { GRACE_US = 20000 };

struct table {
	void *bytes;
	size_t size;
};

static void table_release(struct table *t)
{
	if (t->bytes)
		munmap(t->bytes, t->size);
}

static int table_map(struct table *t, const struct bpf_map *map, struct err *e)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
	void *bytes;

	size = ALIGN_UP(size, page);
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (bytes == MAP_FAILED)
		return err_sys(e, errno, "cannot map '%s'", bpf_map__name(map));
	t->bytes = bytes;
	t->size = size;
	return 0;
}

void waits_rows_size(struct offcpu_bpf *skel, u64 rows)
{
	u32 places = 1;

	/* when all places are taken, rows do not find one near their own long before that */
	while (places < rows + rows / 4)
		places *= 2;
	skel->rodata->offcpu_options.rows = places;
	bpf_map__set_max_entries(skel->maps.offcpu_rows, 2 * places);
}

/* From now on the other half is filled; returns the one that is no longer filled. */
static u32 turn_over(struct offcpu_bpf *skel)
{
	u32 half = skel->bss->offcpu_half & 1;

	__atomic_store_n(&skel->bss->offcpu_half, half ^ 1, __ATOMIC_SEQ_CST);
	/* it waits for all that runs without interrupts, as our programs do */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(GRACE_US);
	return half;
}

int waits_rows_take(struct offcpu_bpf *skel, waits_row_fn fn, void *ctx, struct err *e)
{
	u32 places = skel->rodata->offcpu_options.rows, half = turn_over(skel);
	struct table rows = { 0 };
	int rc = table_map(&rows, skel->maps.offcpu_rows, e);

	for (u32 i = half * places; rc >= 0 && i < (half + 1) * places; i++) {
		struct offcpu_row *row = (struct offcpu_row *)rows.bytes + i;

		if (!row->id)
			continue;
		rc = fn(ctx, &row->key, &row->value);
		*row = (struct offcpu_row){ 0 };
	}
	table_release(&rows);
	return rc;
}
