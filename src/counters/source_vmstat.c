/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/vmstat: what memory management did, and what it has. Counters keep the kernel's names. */
#include "counters/reader.h"

#define NOW(field, meaning, high_)                                                        \
	{                                                                                 \
		"vm." field, GAUGE, UNIT_BYTES, field, meaning, .high = high_, SCALE_PAGE \
	}
#define PAGES(field, meaning, high_)                                                           \
	{                                                                                      \
		"vm." field, CUMULATIVE, UNIT_BYTES, field, meaning, .high = high_, SCALE_PAGE \
	}
#define KB(field, meaning, high_)                                                             \
	{                                                                                     \
		"vm." field, CUMULATIVE, UNIT_BYTES, field, meaning, .high = high_, SCALE_KIB \
	}
#define TIMES(field, meaning, high_)                                               \
	{                                                                          \
		"vm." field, CUMULATIVE, UNIT_COUNT, field, meaning, .high = high_ \
	}

#define SHORT      "Memory is short: programs wait while pages are freed (fathom offcpu)."
#define FRAGMENTED "Memory is fragmented; huge pages are hard to get."
#define REMOTE     "Tasks run far from their memory: bind them, or enable NUMA balancing."

static const struct counter rows[] = {
	NOW("nr_free_pages", "Unused memory.", NULL),
	NOW("nr_free_pages_blocks", "Part of that in whole page blocks.", NULL),
	NOW("nr_zone_inactive_anon", "Memory of programs not used for a while.", NULL),
	NOW("nr_zone_active_anon", "Memory of programs used lately.", NULL),
	NOW("nr_zone_inactive_file", "Contents of files not used for a while.", NULL),
	NOW("nr_zone_active_file", "Contents of files used lately.", NULL),
	NOW("nr_zone_unevictable", "Memory that cannot be reclaimed.", NULL),
	NOW("nr_zone_write_pending", "Contents of files that are dirty or being written.", NULL),
	NOW("nr_mlock", "Memory that programs have locked.", NULL),
	NOW("nr_inactive_anon", "Memory of programs not used for a while.", NULL),
	NOW("nr_active_anon", "Memory of programs used lately.", NULL),
	NOW("nr_inactive_file", "Contents of files not used for a while.", NULL),
	NOW("nr_active_file", "Contents of files used lately.", NULL),
	NOW("nr_unevictable", "Memory that cannot be reclaimed.", NULL),
	NOW("nr_slab_reclaimable", "Kernel objects that can go: inodes, dentries.", NULL),
	NOW("nr_slab_unreclaimable", "Kernel objects that cannot go.", NULL),
	NOW("nr_isolated_anon", "Memory of programs that is being reclaimed or moved.", NULL),
	NOW("nr_isolated_file", "Contents of files that are being reclaimed or moved.", NULL),
	NOW("nr_anon_pages", "Memory of programs that belongs to no file.", NULL),
	NOW("nr_mapped", "Contents of files that programs have mapped.", NULL),
	NOW("nr_file_pages", "Contents of files in memory.", NULL),
	NOW("nr_dirty", "Contents of files that must still be written.", NULL),
	NOW("nr_writeback", "Contents of files on their way to disk.", NULL),
	NOW("nr_shmem", "Shared memory and tmpfs.", NULL),
	NOW("nr_page_table_pages", "Tables that map the memory of processes.", NULL),
	{ "vm.nr_kernel_stack", GAUGE, UNIT_BYTES, "nr_kernel_stack", "Kernel stacks of all tasks.",
	  .high = NULL, SCALE_KIB },
	NOW("nr_swapcached", "Swapped out, and still in memory.", NULL),
	NOW("nr_dirty_threshold", "Dirty memory from which on writers are throttled.", NULL),
	NOW("nr_dirty_background_threshold", "Dirty memory from which on the kernel writes.", NULL),
	PAGES("nr_vmscan_write", "Written by reclaim itself, one page at a time.", SHORT),
	PAGES("nr_vmscan_immediate_reclaim", "Marked to be reclaimed as soon as it is written.",
	      NULL),
	PAGES("nr_dirtied", "Contents of files that became dirty.", NULL),
	PAGES("nr_written", "Contents of files that were written.", NULL),
	PAGES("nr_throttled_written", "Written while reclaim was throttled.", SHORT),
	TIMES("nr_foll_pin_acquired", "Pages pinned for devices.", NULL),
	TIMES("nr_foll_pin_released", "Pages no longer pinned for devices.", NULL),

	TIMES("numa_hit", "Allocations from the node that was wanted.", NULL),
	TIMES("numa_miss", "Allocations here although another node was wanted.", REMOTE),
	TIMES("numa_foreign", "Allocations elsewhere although this node was wanted.", REMOTE),
	TIMES("numa_interleave", "Allocations that were spread as asked.", NULL),
	TIMES("numa_local", "Allocations on the node of the CPU that asked.", NULL),
	TIMES("numa_other", "Allocations on another node than that of the CPU.", REMOTE),
	TIMES("numa_pte_updates", "Pages marked to see who uses them.", NULL),
	TIMES("numa_hint_faults", "Faults taken to see who uses a page.", NULL),
	TIMES("numa_hint_faults_local", "Of these, from the page's own node.", NULL),
	TIMES("numa_pages_migrated", "Pages moved to the node that uses them.", REMOTE),

	{ "vm.workingset_nodes", GAUGE, UNIT_COUNT, "workingset_nodes",
	  "Nodes of the page cache that remember evicted pages.", .high = NULL },
	TIMES("workingset_refault_anon", "Pages of programs read back soon after eviction.", SHORT),
	TIMES("workingset_refault_file", "Pages of files read back soon after eviction.", SHORT),
	TIMES("workingset_activate_anon", "Of these, kept as active at once.", NULL),
	TIMES("workingset_activate_file", "Of these, kept as active at once.", NULL),

	KB("pgpgin", "Read from block devices.", "Disks are read (fathom iostat)."),
	KB("pgpgout", "Written to block devices.", "Disks are written (fathom iostat)."),
	PAGES("pswpin", "Read back from swap.", SHORT),
	PAGES("pswpout", "Written to swap.", SHORT),
	PAGES("pgalloc_dma", "Allocated from the zone for very old devices.", NULL),
	PAGES("pgalloc_dma32", "Allocated from the zone below 4 GB.", NULL),
	PAGES("pgalloc_normal", "Allocated from the normal zone.", NULL),
	PAGES("pgalloc_movable", "Allocated from the zone of movable memory.", NULL),
	PAGES("pgalloc_device", "Allocated from memory of devices.", NULL),
	TIMES("allocstall_normal", "Allocations that had to free memory first, normal zone.",
	      SHORT),
	TIMES("allocstall_movable", "Allocations that had to free memory first, movable zone.",
	      SHORT),
	TIMES("allocstall_dma32", "Allocations that had to free memory first, below 4 GB.", SHORT),
	TIMES("allocstall_dma", "Allocations that had to free memory first, oldest zone.", SHORT),
	PAGES("pgfree", "Freed.", NULL),
	PAGES("pgactivate", "Moved to the active lists.", NULL),
	PAGES("pgdeactivate", "Moved to the inactive lists.", NULL),
	TIMES("pgfault", "Page faults, minor and major.",
	      "Programs touch new memory: allocation, copy after fork, mappings."),
	TIMES("pgmajfault", "Page faults that had to wait for a disk.",
	      "Programs are read in, or memory is short (fathom offcpu)."),
	PAGES("pgreuse", "Pages written to after fork that were no longer shared.", NULL),
	PAGES("pgrefill", "Scanned on the active lists.", NULL),
	PAGES("pgsteal_kswapd", "Reclaimed in the background.", NULL),
	PAGES("pgsteal_direct", "Reclaimed by programs that needed memory.", SHORT),
	PAGES("pgscan_kswapd", "Scanned to be reclaimed in the background.", NULL),
	PAGES("pgscan_direct", "Scanned by programs that needed memory.", SHORT),
	TIMES("pgscan_direct_throttle", "Programs put to sleep until memory is freed.", SHORT),
	PAGES("pgscan_anon", "Memory of programs checked by reclaim.", NULL),
	PAGES("pgscan_file", "Contents of files checked by reclaim.", NULL),
	PAGES("pgsteal_anon", "Memory of programs reclaimed.", SHORT),
	PAGES("pgsteal_file", "Contents of files reclaimed.", NULL),
	TIMES("pginodesteal", "Inodes freed by programs that needed memory.", SHORT),
	TIMES("slabs_scanned", "Kernel objects checked by reclaim.", NULL),
	TIMES("kswapd_inodesteal", "Inodes freed in the background.", NULL),
	TIMES("pageoutrun", "Runs of background reclaim.", NULL),
	PAGES("pgrotated", "Put to the end of the list when written.", NULL),
	TIMES("drop_pagecache", "Times that the page cache was dropped.", NULL),
	TIMES("drop_slab", "Times that kernel objects were dropped.", NULL),
	TIMES("oom_kill", "Processes killed because memory ran out.",
	      "A program or a control group exceeded its memory: see the kernel log."),
	TIMES("pgmigrate_success", "Pages moved to another place.", NULL),
	TIMES("pgmigrate_fail", "Pages that could not be moved.", NULL),
	TIMES("compact_stall", "Allocations that had to compact memory first.", FRAGMENTED),
	TIMES("compact_fail", "The part of these that failed.", FRAGMENTED),
	TIMES("compact_success", "The part of these that succeeded.", NULL),
	TIMES("compact_daemon_wake", "Runs of background compaction.", NULL),
	TIMES("compact_migrate_scanned", "Pages checked to be moved by compaction.", FRAGMENTED),
	TIMES("compact_free_scanned", "Pages checked as a place to move to.", FRAGMENTED),
	TIMES("thp_fault_alloc", "Huge pages given to programs at a fault.", NULL),
	TIMES("thp_fault_fallback", "Faults that wanted a huge page and got small ones.",
	      FRAGMENTED),
	TIMES("thp_collapse_alloc", "Huge pages made out of small ones.", NULL),
	TIMES("thp_collapse_alloc_failed", "Huge pages that could not be made.", FRAGMENTED),
	TIMES("thp_split_page", "Huge pages split into small ones.", NULL),
	TIMES("thp_split_pmd", "Mappings of huge pages split.", NULL),
	TIMES("thp_zero_page_alloc", "Huge pages of zeros made.", NULL),
	TIMES("thp_swpout", "Huge pages swapped out whole.", SHORT),
	TIMES("balloon_inflate", "Pages given back to the host.", "The host is short of memory."),
	TIMES("balloon_deflate", "Pages taken back from the host.", NULL),
	TIMES("swap_ra", "Pages read ahead from swap.", NULL),
	TIMES("swap_ra_hit", "The part of these that were needed.", NULL),
	TIMES("zswpin", "Pages read from compressed swap.", SHORT),
	TIMES("zswpout", "Pages put into compressed swap.", SHORT),
	TIMES("direct_map_level2_splits", "Pages of 2 MB of the kernel's own mapping split.", NULL),
	TIMES("direct_map_level3_splits", "Pages of 1 GB of the kernel's own mapping split.", NULL),

	{ "vm.minor_faults", RATIO, UNIT_COUNT, NULL, "Page faults without a disk.", .high = NULL,
	  .formula = "vm.pgfault - vm.pgmajfault" },
	{ "vm.allocated", RATIO, UNIT_BYTES, NULL, "Memory allocated, all zones.", .high = NULL,
	  .formula = "opt(vm.pgalloc_dma) + opt(vm.pgalloc_dma32) + opt(vm.pgalloc_normal) + "
		     "opt(vm.pgalloc_movable) + opt(vm.pgalloc_device)" },
	{ "vm.stalls", RATIO, UNIT_COUNT, NULL,
	  "Allocations that had to free memory first, all zones.", .high = SHORT,
	  .formula = "opt(vm.allocstall_dma) + opt(vm.allocstall_dma32) + "
		     "opt(vm.allocstall_normal) + opt(vm.allocstall_movable)" },
};

static enum counter_kind kind_of(const char *field)
{
	return starts_with(field, "nr_") ? GAUGE : CUMULATIVE;
}

const struct counter_source source_vmstat = {
	.prefix = "vm",
	.path = "proc/vmstat",
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.parse = parse_keyed,
	.kind_of = kind_of,
};
