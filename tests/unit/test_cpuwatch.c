/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs that come back: what the kernel says about them, and the ids of their events. */
#include "unit/harness.h"

#include <linux/perf_event.h>

#include "base/map.h"
#include "capture/cpuwatch.h"
#include "capture/session_state.h"

static int parsed(const char *text, size_t n)
{
	return cpuwatch_parse(text, n);
}

TEST(cpuwatch reads the messages of the kernel)
{
	static const char online[] = "online@/devices/system/cpu/cpu12\0ACTION=online\0SEQNUM=7";
	static const char offline[] = "offline@/devices/system/cpu/cpu12\0ACTION=offline";
	static const char memory[] = "online@/devices/system/memory/memory3\0ACTION=online";

	CHECK_EQ(parsed(online, sizeof(online)), 12);
	CHECK_EQ(parsed(offline, sizeof(offline)), CPUWATCH_NONE);
	CHECK_EQ(parsed(memory, sizeof(memory)), CPUWATCH_NONE);
}

TEST(cpuwatch takes nothing that is no cpu)
{
	static const char *const texts[] = {
		"online@/devices/system/cpu/cpu",   "online@/devices/system/cpu/cpu1x",
		"online@/devices/system/cpu/cpu-1", "online@/devices/system/cpu/cpu99999999",
		"online@/devices/system/cpu/cpu0/", "",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK_EQ(parsed(texts[i], strlen(texts[i]) + 1), CPUWATCH_NONE);
	/* without an end */
	CHECK_EQ(parsed("online@/devices/system/cpu/cpu1", 31), CPUWATCH_NONE);
	CHECK_EQ(parsed("", 0), CPUWATCH_NONE);
}

TEST(session ids of reopened events are the first ones)
{
	_cleanup_map_ struct map ids = MAP_INIT;
	struct {
		struct perf_event_header h;
		u64 words[3];
	} r[4] = {
		{ { PERF_RECORD_SAMPLE, 0, sizeof(r[0]) }, { 70, 71, 70 } },
		{ { PERF_RECORD_COMM, 0, sizeof(r[0]) }, { 70, 71, 70 } },
		{ { PERF_RECORD_LOST, 0, sizeof(r[0]) }, { 70, 70, 70 } },
		{ { PERF_RECORD_SAMPLE, 0, sizeof(r[0]) }, { 8, 70, 70 } },
	};

	map_put(&ids, 70, 7);
	session_replace_ids(r, sizeof(r), &ids);
	CHECK_EQ(r[0].words[0], 7u);
	CHECK_EQ(r[0].words[2], 70u);
	CHECK_EQ(r[1].words[0], 70u);
	CHECK_EQ(r[1].words[2], 7u);
	CHECK_EQ(r[2].words[0], 7u);
	CHECK_EQ(r[2].words[1], 70u);
	CHECK_EQ(r[2].words[2], 7u);
	CHECK_EQ(r[3].words[0], 8u);
}

TEST(session ids of damaged records stay)
{
	_cleanup_map_ struct map ids = MAP_INIT;
	struct {
		struct perf_event_header h;
		u64 words[2];
	} r = { { PERF_RECORD_SAMPLE, 0, 0 }, { 70, 70 } };

	map_put(&ids, 70, 7);
	for (u16 size = 0; size < 64; size++) {
		r.h.size = size;
		r.words[0] = 70;
		session_replace_ids(&r, sizeof(r), &ids);
		CHECK_EQ(r.words[0], size >= 16 && size <= sizeof(r) ? 7u : 70u);
	}
}
