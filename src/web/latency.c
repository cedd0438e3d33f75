/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/latency.h"

#include "base/log.h"

#define TOOL "biolatency"

void latency_start(struct latency *l)
{
	static const char *const name = TOOL;
	_cleanup_err_ struct err e = ERR_INIT;

	latency_stop(l);
	l->tools.what = "the chart of latencies";
	l->tools.seconds = 1;
	if (exports_start(&l->tools, &name, 1, &e) < 0)
		log_warn("%s", e.what);
}

void latency_stop(struct latency *l)
{
	exports_release(&l->tools);
	*l = (struct latency){ 0 };
}

u64 latency_cpu(const struct latency *l)
{
	return l->tools.tools.len ? child_cpu(&l->tools.tools.items[0].child) : 0;
}

size_t latency_fds(const struct latency *l, int *fds, size_t most)
{
	return exports_fds(&l->tools, fds, most);
}

void latency_read(struct latency *l, int fd)
{
	exports_read(&l->tools, fd);
}

void latency_describe(struct json *j)
{
	json_open(j);
	json_kv_str(j, "label", "requests");
	json_kv_str(j, "formula",
		    "requests of this second, by the time from the moment when they were given "
		    "to the disk until they were done (fathom " TOOL ")");
	json_key(j, "counters");
	json_array(j);
	json_end(j);
	json_close(j);
}

void latency_frame(struct latency *l, struct json *j)
{
	u64 now[EXPORT_BUCKETS] = { 0 };
	char key[24];

	exports_sum(&l->tools, now);
	json_open(j);
	for (u32 i = 0; i < EXPORT_BUCKETS; i++) {
		if (now[i] > l->shown[i]) {
			snprintf(key, sizeof(key), "%llu", i < 63 ? 1ull << i : 1ull << 63);
			json_kv_u64(j, key, now[i] - l->shown[i]);
		}
		l->shown[i] = now[i];
	}
	json_close(j);
}
