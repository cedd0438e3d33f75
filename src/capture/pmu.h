/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PMUs that the kernel lists in sysfs: their formats (which bits a term sets) and aliases. */
#ifndef CAPTURE_PMU_H
#define CAPTURE_PMU_H

#include "base/err.h"
#include "base/vec.h"

enum { PMU_FILE_MOST = 4096, PMU_MOST = 1024, PMU_ENTRY_MOST = 8192, PMU_WORDS = 5 };

/* Bits of one config word, lowest first: "config:0-7,32-35". */
struct pmu_format {
	char *name;
	u32 word; /* 0 config, 1 config1, ... 4 config4 */
	u64 bits;
};

struct pmu_alias {
	char *name;
	char *terms; /* "event=0x3c,umask=0x1" */
	char *unit;  /* or NULL */
	double scale;
};

struct pmu {
	char *name;
	u32 type;
	char *cpus; /* cpumask, or NULL */
	VEC(struct pmu_format) formats;
	VEC(struct pmu_alias) aliases;
};

typedef VEC(struct pmu) pmu_list;

void pmu_release(struct pmu *pmu);
void pmu_list_release(pmu_list *list);
/* @root: the devices folder, NULL for the real one. Aliases are sorted by name. */
int pmu_load(const char *root, const char *name, struct pmu *ret, struct err *e);
/* All of them, sorted by name; an unreadable one is left out. */
int pmu_load_all(const char *root, pmu_list *ret, struct err *e);
const struct pmu_format *pmu_format_find(const struct pmu *pmu, const char *name, size_t n);
const struct pmu_alias *pmu_alias_find(const struct pmu *pmu, const char *name, size_t n);
/* Spreads @value over the bits of @format into words[format->word]; -ERANGE when it does not fit.
 */
int pmu_format_put(const struct pmu_format *format, u64 value, u64 words[static PMU_WORDS]);
/* "config:0-7,32-35" -> word and bits. */
int pmu_format_parse(const char *text, struct pmu_format *ret);

#endif
