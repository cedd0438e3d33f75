/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A counter is data: one row says its name, where it comes from, what it means, and what a high
 * value suggests. Rows of one file of the kernel are in src/counters/source_NAME.c next to the
 * function that reads it; the build lists these files. To add a counter is to add a row.
 */
#ifndef COUNTERS_COUNTER_H
#define COUNTERS_COUNTER_H

#include "base/base.h"

enum counter_kind {
	GAUGE = 1,  /* as it is now */
	CUMULATIVE, /* grows since boot: its rate is of interest */
	RATIO,      /* computed from others by its formula */
};

enum counter_unit {
	UNIT_COUNT = 1,
	UNIT_BYTES,
	UNIT_TIME, /* nanoseconds */
	UNIT_PERCENT,
	UNIT_HERTZ,
	UNIT_CELSIUS,
	UNIT_NUMBER, /* with decimals */
};

/* What the number in the file has to be multiplied by to be of the unit. */
enum counter_scale {
	SCALE_ONE,
	SCALE_KIB,
	SCALE_PAGE,
	SCALE_SECTOR, /* 512 bytes, whatever the disk has */
	SCALE_TICK,   /* USER_HZ: 10 ms */
	SCALE_MS,
	SCALE_US,
	SCALE_CENTI, /* read as hundredths of what is written: "0.52" is 52 */
	SCALE_MILLI,
	SCALE_KHZ,
};

struct counter {
	const char *name; /* "disk.reads" */
	enum counter_kind kind;
	enum counter_unit unit;
	const char *field;   /* in the file: its key, or what its column is called */
	const char *meaning; /* one plain sentence */
	const char *high;    /* what a high value suggests; may be NULL */
	enum counter_scale scale;
	u8 bits;             /* of the kernel's variable where it is narrower than 64 */
	const char *formula; /* RATIO: see counters/formula.h */
};

struct reader;

enum {
	SOURCE_COSTLY = 1 << 0, /* read only where one of its counters is named */
	SOURCE_GAUGES = 1 << 1, /* fields without a row are gauges; otherwise cumulative, */
};

struct counter_source {
	const char *prefix; /* of the names of fields that have no row: "vm" */
	const char *path;   /* what is read, below the root: "proc/vmstat" */
	const char *also;   /* other files with the same figures: patterns, space separated */
	u32 flags;
	const struct counter *rows;
	size_t n_rows;
	/* Either @parse gets the text of @path, or @read finds its files itself. */
	void (*parse)(struct reader *r, const char *text, size_t len);
	int (*read)(struct reader *r);
	enum counter_kind (*kind_of)(const char *field); /* unless this says it */
	const char *needs;                               /* why there may be nothing; or NULL */
};

/* All sources, in the order of their file names. */
const struct counter_source *const *counter_sources(size_t *ret_n);

#endif
