/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first byte chooses: the section of counters of a recording, a formula, or the parser of one
 * of the sources of text.
 */
#include "counters/formula.h"
#include "counters/reader.h"
#include "counters/track.h"

#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_track(const u8 *data, size_t size)
{
	struct track_reader r;
	struct snapshot s = SNAPSHOT_INIT;

	if (track_reader_init(&r, data, size, NULL) == 0)
		for (int i = 0; i < 64 && track_reader_next(&r, &s, NULL) > 0; i++)
			continue;
	track_reader_release(&r);
	snapshot_release(&s);
}

static void fuzz_formula(const u8 *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct counter_set set;
	struct snapshot s = SNAPSHOT_INIT;
	struct formula f;
	struct delta d;
	double value;

	counter_set_init(&set);
	counter_set_add_tables(&set);
	(void)formula_prepare(&set, NULL);
	delta_init(&d, &set, NULL, &s);
	if (formula_parse(&f, &set, text, NULL) == 0)
		(void)formula_eval(&f, &d, 0, &value);
	counter_set_release(&set);
	snapshot_release(&s);
	free(text);
}

/* Twice: the second time the series of the first are remembered. */
static void fuzz_source(u32 which, const u8 *data, size_t size)
{
	/* bytes may be 0; one more follows, as it does in a buffer */
	char *text = memcpy(xcalloc(1, size + 1), data, size);
	size_t n, len = size;
	const struct counter_source *const *sources = counter_sources(&n);
	struct counter_set set;
	struct snapshot s = SNAPSHOT_INIT;
	struct reader r;

	which %= n;
	counter_set_init(&set);
	counter_set_add_tables(&set);
	reader_init(&r, -1, &set);
	for (int i = 0; i < 2 && sources[which]->parse; i++, len /= 2) {
		snapshot_clear(&s);
		reader_begin(&r, (u32)which, &s);
		sources[which]->parse(&r, text, len);
	}
	reader_release(&r);
	snapshot_release(&s);
	counter_set_release(&set);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] == 0)
		fuzz_track(data + 1, size - 1);
	else if (data[0] == 1)
		fuzz_formula(data + 1, size - 1);
	else
		fuzz_source(data[0] - 2u, data + 1, size - 1);
	return 0;
}
