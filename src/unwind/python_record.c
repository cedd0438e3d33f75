/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/python_record.h"

#include <sys/mman.h>

#include "runtime/python_names.h"

void python_record_mapping(struct buf *out, const struct perf_event_attr *attr,
			   const struct record_ids *ids)
{
	struct record_mmap map = { .pid = ids->pid,
				   .tid = ids->tid,
				   .addr = PYTHON_MAP_START,
				   .len = PYTHON_MAP_SIZE,
				   .prot = PROT_READ | PROT_EXEC,
				   .flags = MAP_PRIVATE,
				   .filename = PYTHON_MAP_NAME };

	build_mmap2(out, attr, ids, PERF_RECORD_MISC_USER, &map);
}
