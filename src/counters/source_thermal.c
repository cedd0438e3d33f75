/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /sys/class/thermal: temperatures. */
#include "counters/reader.h"

static const struct counter rows[] = {
	{ "thermal.temperature", GAUGE, UNIT_CELSIUS, "temp", "Temperature of a zone.",
	  .high = "The machine is throttled when it gets too hot.", SCALE_MILLI },
};

static int read_all(struct reader *r)
{
	_cleanup_buf_ struct buf zones = BUF_INIT;
	int rc = reader_names(r, "sys/class/thermal", &zones), found = -ENOENT;

	for (const char *z = buf_str(&zones); !rc && *z; z += strlen(z) + 1) {
		char path[128], name[64];
		const char *text;
		size_t len;
		u64 value;

		if (!starts_with(z, "thermal_zone"))
			continue;
		snprintf(path, sizeof(path), "sys/class/thermal/%.32s/type", z);
		snprintf(name, sizeof(name), "%.32s", z);
		if (reader_text(r, path, &text, &len) == 0)
			snprintf(name, sizeof(name), "%.*s %s", (int)MIN(strcspn(text, "\n"), 30u),
				 text, z + strlen("thermal_zone"));
		snprintf(path, sizeof(path), "sys/class/thermal/%.32s/temp", z);
		if (reader_number(r, path, &value)) {
			reader_put_row(r, 0, SPAN(name), value);
			found = 0;
		}
	}
	return rc ? rc : found;
}

const struct counter_source source_thermal = {
	.prefix = "thermal",
	.path = "sys/class/thermal/thermal_zone*/temp",
	.flags = SOURCE_COSTLY | SOURCE_GAUGES,
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.read = read_all,
	.needs = "guests have no sensors",
};
