/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding programs and libraries by the names people give them. */
#ifndef ELF_FIND_H
#define ELF_FIND_H

#include "base/arena.h"
#include "base/vec.h"
#include "elf/elf.h"

#include <limits.h>

int elf_open(const char *path, struct elf *ret, struct err *e);
/* "bash", "libc", "/bin/x" -> the file; NULL when there is none. In the arena. */
char *elf_find(const char *name, struct arena *arena);

/*
 * The path of a file that is given by its path, or by a name as above. With @pid, or as
 * "/proc/PID/root/FILE", the file is one that this process sees: its path keeps "/proc/PID/root".
 */
int elf_find_path(const char *name, u32 pid, char ret[PATH_MAX], struct err *e);

typedef VEC(const char *) elf_paths;

/*
 * The files that a program, given as in a shell, will map: its own and the libraries that it and
 * they need, where those are in the usual places. Strings live in @arena.
 */
void elf_find_needed(const char *program, struct arena *arena, elf_paths *ret);

#endif
