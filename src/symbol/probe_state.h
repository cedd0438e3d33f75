/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of probe_dwarf*.c. */
#ifndef SYMBOL_PROBE_STATE_H
#define SYMBOL_PROBE_STATE_H

#ifdef HAVE_LIBDW

#include "symbol/srcline_unit.h"

struct probe_dwarf {
	struct elf elf;   /* the file itself */
	struct elf debug; /* the one with its DWARF, if another */
	Dwarf *dwarf;
	Elf *libelf;
	int fd;
	Dwarf_CFI *cfi; /* of the file's .eh_frame, once needed */
};

/* Not every compiler writes a table of addresses: the units are asked. */
bool probe_unit_at(struct probe_dwarf *d, u64 vaddr, Dwarf_Die *ret);

#endif
#endif
