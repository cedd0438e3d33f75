/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the readers of the topology: files below its root. */
#ifndef HOST_TOPOLOGY_FILES_H
#define HOST_TOPOLOGY_FILES_H

#include "base/buf.h"
#include "host/topology.h"

/* A line of a file below the root; -ENOENT and the like. */
int topology_line(const struct topology *t, struct buf *ret, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* A number of a file, decimal or 0x; @otherwise where there is none. */
u64 topology_number(const struct topology *t, u64 otherwise, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* A list like "0-3,7"; false where there is none. */
bool topology_list(const struct topology *t, u64 most, range_list *ret, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

typedef VEC(char *) topology_names;
/* What a folder holds, sorted; nothing where there is none. */
void topology_folder(const struct topology *t, const char *path, topology_names *ret);
void topology_names_release(topology_names *names);

void topology_read_caches(struct topology *t);
void topology_read_nodes(struct topology *t);
void topology_read_pci(struct topology *t);
void topology_read_devices(struct topology *t);

#endif
