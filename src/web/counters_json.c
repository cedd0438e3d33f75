/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/counters_json.h"

#include "base/clock.h"
#include "base/json.h"

static const char *const unit_names[] = {
	[UNIT_COUNT] = "count",     [UNIT_BYTES] = "bytes", [UNIT_TIME] = "nanoseconds",
	[UNIT_PERCENT] = "percent", [UNIT_HERTZ] = "hertz", [UNIT_CELSIUS] = "celsius",
	[UNIT_NUMBER] = "number",
};

static void add_series(const struct counter_set *set, const struct snapshot *s, u32 series,
		       struct json *j)
{
	const struct counter *row = series_row(set, series);

	json_open(j);
	json_kv_str(j, "name", row->name);
	if (*series_instance(set, series))
		json_kv_str(j, "instance", series_instance(set, series));
	json_kv_double(j, "value", (double)s->values[series] * counter_factor(set, row));
	json_kv_str(j, "unit", unit_names[row->unit]);
	json_kv_str(j, "kind", row->kind == CUMULATIVE ? "cumulative" : "gauge");
	json_kv_str(j, "meaning", row->meaning ? row->meaning : "");
	json_close(j);
}

void web_counters_json(const struct counter_set *set, const struct snapshot *s, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_open(&j);
	json_kv_u64(&j, "schema", 1);
	json_kv_u64(&j, "t", s->wall / NSEC_PER_MSEC);
	json_key(&j, "counters");
	json_array(&j);
	for (u32 i = 0; i < set->series.len; i++)
		if (snapshot_has(s, i))
			add_series(set, s, i, &j);
	json_end(&j);
	json_close(&j);
}
