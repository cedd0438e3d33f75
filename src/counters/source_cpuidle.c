/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Idle states of each CPU, below /sys/devices/system/cpu. Reading them wakes no core. */
#include "counters/reader.h"

static const struct counter rows[] = {
	{ "cstate.usage", CUMULATIVE, UNIT_COUNT, "usage",
	  "Times that the CPU entered this idle state (CPU/state).", .high = NULL },
	{ "cstate.time", CUMULATIVE, UNIT_TIME, "time", "Time in this idle state.", .high = NULL,
	  SCALE_US },
};

static void read_state(struct reader *r, const char *cpu, const char *state)
{
	static const char *const files[] = { "usage", "time" };
	char path[192], instance[96], name[32];
	const char *text;
	size_t len;
	u64 value;

	snprintf(path, sizeof(path), "sys/devices/system/cpu/%.16s/cpuidle/%.16s/name", cpu, state);
	if (reader_text(r, path, &text, &len) < 0)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)MIN(strcspn(text, "\n"), 24u), text);
	snprintf(instance, sizeof(instance), "%s/%s", cpu + 3, name);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "sys/devices/system/cpu/%.16s/cpuidle/%.16s/%s", cpu,
			 state, files[i]);
		if (reader_number(r, path, &value))
			reader_put_row(r, i, SPAN(instance), value);
	}
}

static int read_all(struct reader *r)
{
	_cleanup_buf_ struct buf cpus = BUF_INIT, states = BUF_INIT;
	char path[96];
	int rc = reader_names(r, "sys/devices/system/cpu", &cpus), found = -ENOENT;

	for (const char *cpu = buf_str(&cpus); !rc && *cpu; cpu += strlen(cpu) + 1) {
		if (!starts_with(cpu, "cpu") || cpu[3] < '0' || cpu[3] > '9')
			continue;
		snprintf(path, sizeof(path), "sys/devices/system/cpu/%.16s/cpuidle", cpu);
		if (reader_names(r, path, &states) < 0)
			continue;
		found = 0;
		for (const char *s = buf_str(&states); *s; s += strlen(s) + 1)
			if (starts_with(s, "state"))
				read_state(r, cpu, s);
	}
	return rc ? rc : found;
}

const struct counter_source source_cpuidle = {
	.prefix = "cstate",
	.path = "sys/devices/system/cpu/cpu*/cpuidle/state*/*",
	.flags = SOURCE_COSTLY,
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.read = read_all,
	.needs = "guests often have no idle states",
};
