/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event descriptions, against a sysfs and a tracefs of our own making. */
#include "unit/harness.h"

#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/io.h"
#include "capture/clocks.h"
#include "capture/event.h"
#include "capture/names.h"
#include "capture/pmu.h"

/* Parents are made on the way. */
static void put_file(const char *root, const char *path, const char *text)
{
	_cleanup_buf_ struct buf full = BUF_INIT, dir = BUF_INIT;

	buf_addf(&full, "%s/%s", root, path);
	buf_addstr(&dir, buf_str(&full));
	buf_truncate(&dir, (size_t)(strrchr(buf_str(&dir), '/') - buf_str(&dir)));
	CHECK_EQ(test_make_dirs(buf_str(&dir)), 0);
	CHECK_EQ(io_write_file_atomic(buf_str(&full), text, strlen(text), NULL), 0);
}

static const char switch_format[] =
	"name: sched_switch\nID: 301\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"prev=%s\", REC->prev_comm\n";

static void put_tracepoint(const char *root, const char *sys, const char *name, const char *id)
{
	_cleanup_buf_ struct buf path = BUF_INIT;

	buf_addf(&path, "events/%s/%s/id", sys, name);
	put_file(root, buf_str(&path), id);
	buf_reset(&path);
	buf_addf(&path, "events/%s/%s/format", sys, name);
	put_file(root, buf_str(&path), switch_format);
}

static void put_pmus(const char *root)
{
	put_file(root, "cpu/type", "4\n");
	put_file(root, "cpu/format/event", "config:0-7,32-35\n");
	put_file(root, "cpu/format/umask", "config:8-15\n");
	put_file(root, "cpu/format/edge", "config:18\n");
	put_file(root, "cpu/format/ldlat", "config1:0-15\n");
	put_file(root, "cpu/format/acr", "config3:4-19\n");
	put_file(root, "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	put_file(root, "power/type", "9\n");
	put_file(root, "power/cpumask", "0\n");
	put_file(root, "power/format/event", "config:0-7\n");
	put_file(root, "power/events/energy-pkg", "event=0x02\n");
	put_file(root, "power/events/energy-pkg.unit", "Joules\n");
	put_file(root, "power/events/energy-pkg.scale", "2.5e-10\n");
	put_file(root, "uncore_imc_0/type", "11\n");
	put_file(root, "uncore_imc_0/format/event", "config:0-7\n");
	put_file(root, "uncore_imc_1/type", "12\n");
	put_file(root, "uncore_imc_1/format/event", "config:0-7\n");
	put_file(root, "chip/type", "13\n");
	put_file(root, "chip/format/event", "config:0-7\n");
	put_file(root, "chip/format/core", "config:16-19\n");
	put_file(root, "chip/events/busy", "event=0x5,core=?\n");
}

static struct buf devices, tracing;

static struct event_list fake_list(void)
{
	buf_reset(&devices);
	buf_reset(&tracing);
	buf_addf(&devices, "%s/devices", test_tmpdir());
	buf_addf(&tracing, "%s/tracing", test_tmpdir());
	put_pmus(buf_str(&devices));
	put_tracepoint(buf_str(&tracing), "sched", "sched_switch", "301\n");
	put_tracepoint(buf_str(&tracing), "sched", "sched_wakeup", "302\n");
	put_tracepoint(buf_str(&tracing), "irq", "softirq_entry", "99\n");
	return (struct event_list){ .source = { .sysfs_devices = buf_str(&devices),
						.tracefs = buf_str(&tracing) } };
}

static void end(struct event_list *list)
{
	event_list_release(list);
	buf_release(&devices);
	buf_release(&tracing);
}

static const struct event *only(struct event_list *list, const char *text)
{
	struct err e = ERR_INIT;

	event_list_release(list);
	if (event_parse(list, text, &e) < 0)
		FAIL("'%s': %s", text, e.what);
	CHECK_EQ(list->events.len, 1);
	CHECK_EQ(list->events.items[0].leader, 0);
	return list->events.items;
}

TEST(hardware and software names)
{
	struct event_list list = fake_list();
	const struct event *ev = only(&list, "cycles");

	CHECK_EQ(ev->attr.type, PERF_TYPE_HARDWARE);
	CHECK_EQ(ev->attr.config, PERF_COUNT_HW_CPU_CYCLES);
	CHECK_STR(ev->name, "cycles");
	CHECK_EQ(ev->attr.exclude_guest, 1);
	ev = only(&list, "cs");
	CHECK_EQ(ev->attr.type, PERF_TYPE_SOFTWARE);
	CHECK_EQ(ev->attr.config, PERF_COUNT_SW_CONTEXT_SWITCHES);
	CHECK_EQ(only(&list, "cpu-cycles")->attr.config, PERF_COUNT_HW_CPU_CYCLES);
	CHECK_EQ(only(&list, "branches")->attr.type, PERF_TYPE_HARDWARE);
	end(&list);
}

TEST(cache names in every spelling)
{
	static const struct {
		const char *name;
		u64 config;
	} names[] = {
		{ "L1-dcache-load-misses", 0x10000 },
		{ "L1-dcache-loads", 0 },
		{ "l1d-read-miss", 0x10000 },
		{ "LLC-loads", 2 },
		{ "LLC-load-misses", 0x10002 },
		{ "LLC-stores", 0x102 },
		{ "LLC-prefetches", 0x202 },
		{ "LLC", 2 },
		{ "dTLB-store-misses", 0x10103 },
		{ "L1-icache-prefetch-misses", 0x10201 },
		{ "L1-dcache-speculative-read-misses", 0x10200 },
		{ "node-misses", 0x10006 },
		{ "branch-loads", 5 },
		{ "bpu-misses", 0x10005 },
	};
	u64 config;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!cache_name_find(names[i].name, strlen(names[i].name), &config))
			FAIL("'%s' is not known", names[i].name);
		CHECK_EQ(config, names[i].config);
	}
	CHECK(!cache_name_find("iTLB-stores", 11, &config));
	CHECK(!cache_name_find("LLC-", 4, &config));
	CHECK(!cache_name_find("LLC-loads-loads", 15, &config));
	CHECK(!cache_name_find("LLCx", 4, &config));
}

TEST(cache names come back as they were made)
{
	char name[CACHE_NAME_MOST];
	u32 made = 0;

	for (u32 cache = 0; cache < CACHE_COUNT; cache++) {
		for (u32 i = 0; i < CACHE_OP_COUNT * CACHE_RESULT_COUNT; i++) {
			u64 config;

			if (!cache_name_make(cache, i / 2, i % 2, name))
				continue;
			made++;
			CHECK(cache_name_find(name, strlen(name), &config));
			CHECK_EQ(config, cache | (i / 2) << 8 | (i % 2) << 16);
		}
	}
	CHECK_EQ(made, 32);
}

TEST(raw and numeric)
{
	struct event_list list = fake_list();
	const struct event *ev = only(&list, "r13c:u");

	CHECK_EQ(ev->attr.type, PERF_TYPE_RAW);
	CHECK_EQ(ev->attr.config, 0x13c);
	CHECK_EQ(ev->attr.exclude_kernel, 1);
	CHECK_EQ(ev->attr.exclude_user, 0);
	CHECK_STR(ev->name, "r13c:u");
	ev = only(&list, "1:0x2");
	CHECK_EQ(ev->attr.type, 1);
	CHECK_EQ(ev->attr.config, 2);
	end(&list);
}

TEST(modifiers)
{
	struct event_list list = fake_list();
	const struct event *ev = only(&list, "cycles:ukpp");

	CHECK_EQ(ev->attr.exclude_user, 0);
	CHECK_EQ(ev->attr.exclude_kernel, 0);
	CHECK_EQ(ev->attr.exclude_hv, 1);
	CHECK_EQ(ev->attr.precise_ip, 2);
	ev = only(&list, "cycles:G");
	CHECK_EQ(ev->attr.exclude_guest, 0);
	CHECK_EQ(ev->attr.exclude_host, 1);
	CHECK(only(&list, "cycles:P")->precise_max);
	CHECK_EQ(only(&list, "cycles:D")->attr.pinned, 1);
	CHECK_EQ(only(&list, "cycles:I")->attr.exclude_idle, 1);
	CHECK_EQ(only(&list, "cycles:e")->attr.exclusive, 1);
	CHECK(only(&list, "cycles:W")->weak);
	only(&list, "cycles:b");
	end(&list);
}

TEST(terms of a pmu)
{
	struct event_list list = fake_list();
	const struct event *ev =
		only(&list, "cpu/event=0x73c,umask=0x1,edge,name='busy one',period=500/u");

	CHECK_EQ(ev->attr.type, 4);
	/* 0x73c: the low 8 bits at 0, the other 3 at 32 */
	CHECK_EQ(ev->attr.config, 0x3cull | 1 << 8 | 1 << 18 | 7ull << 32);
	CHECK_EQ(ev->attr.exclude_kernel, 1);
	CHECK_EQ(ev->attr.sample_period, 500);
	CHECK(ev->period_set);
	CHECK_STR(ev->name, "busy one");
	ev = only(&list, "cpu/config=0x1,config1=2,config2=3/");
	CHECK_EQ(ev->attr.config, 1);
	CHECK_EQ(ev->attr.config1, 2);
	CHECK_EQ(ev->attr.config2, 3);
	CHECK_STR(ev->name, "cpu/config=0x1,config1=2,config2=3/");
	ev = only(&list, "cpu/event=1,acr=0x21,config4=7/");
	CHECK_EQ(ev->attr.config, 1);
	CHECK_EQ(ev->late[0], 0x21ull << 4);
	CHECK_EQ(ev->late[1], 7);
	CHECK_EQ(only(&list, "cpu/config3=9/")->late[0], 9);
	CHECK_EQ(only(&list, "cpu/r1a8/")->attr.config, 0x1a8);
	end(&list);
}

TEST(aliases of a pmu)
{
	struct event_list list = fake_list();
	const struct event *ev = only(&list, "cpu/mem-loads,ldlat=30/pp");

	CHECK_EQ(ev->attr.config, 0x1cd);
	CHECK_EQ(ev->attr.config1, 30);
	CHECK_EQ(ev->attr.precise_ip, 2);
	ev = only(&list, "mem-loads");
	CHECK_EQ(ev->attr.config1, 3);
	CHECK_STR(ev->name, "mem-loads");
	ev = only(&list, "power/energy-pkg/");
	CHECK_STR(ev->unit, "Joules");
	CHECK_NEAR(ev->scale, 2.5e-10, 1e-15);
	CHECK_STR(ev->cpus, "0");
	ev = only(&list, "chip/busy,core=3/");
	CHECK_EQ(ev->attr.config, 5 | 3 << 16);
	CHECK(event_parse(&list, "chip/busy/", NULL) < 0);
	end(&list);
}

TEST(one name for several pmus)
{
	struct event_list list = fake_list();

	CHECK_EQ(event_parse(&list, "uncore_imc/event=4/", NULL), 0);
	CHECK_EQ(list.events.len, 2);
	CHECK_EQ(list.events.items[0].attr.type + list.events.items[1].attr.type, 23);
	CHECK_EQ(event_parse(&list, "imc/event=4/", NULL), 0);
	CHECK_EQ(event_parse(&list, "uncore*/event=4/", NULL), 0);
	CHECK_EQ(list.events.len, 6);
	end(&list);
}

TEST(terms on names and tracepoints)
{
	struct event_list list = fake_list();
	const struct event *ev = only(&list, "cycles/freq=250,call-graph=dwarf,stack-size=4096/k");

	CHECK_EQ(ev->attr.type, PERF_TYPE_HARDWARE);
	CHECK_EQ(ev->attr.freq, 1);
	CHECK_EQ(ev->attr.sample_freq, 250);
	CHECK(ev->frequency_set);
	CHECK_EQ(ev->stack, STACK_DWARF);
	CHECK_EQ(ev->stack_size, 4096);
	CHECK_EQ(ev->attr.exclude_user, 1);
	ev = only(&list, "sched:sched_switch/call-graph=no,no-inherit/");
	CHECK_EQ(ev->stack, STACK_NONE);
	CHECK_EQ(ev->inherit, 0);
	end(&list);
}

TEST(tracepoints and globs)
{
	struct event_list list = fake_list();
	const struct event *ev = only(&list, "sched:sched_switch");

	CHECK_EQ(ev->attr.type, PERF_TYPE_TRACEPOINT);
	CHECK_EQ(ev->attr.config, 301);
	CHECK_STR(ev->sysname, "sched");
	event_list_release(&list);
	CHECK_EQ(event_parse(&list, "sched:*:k,*:softirq_entry", NULL), 0);
	CHECK_EQ(list.events.len, 3);
	CHECK_STR(list.events.items[0].name, "sched:sched_switch:k");
	CHECK_STR(list.events.items[1].name, "sched:sched_wakeup:k");
	CHECK_STR(list.events.items[2].name, "irq:softirq_entry");
	end(&list);
}

TEST(breakpoints)
{
	struct event_list list = fake_list();
	const struct event *ev = only(&list, "mem:0x601040/8:w");

	CHECK_EQ(ev->attr.type, PERF_TYPE_BREAKPOINT);
	CHECK_EQ(ev->attr.bp_addr, 0x601040);
	CHECK_EQ(ev->attr.bp_len, 8);
	CHECK_EQ(ev->attr.bp_type, HW_BREAKPOINT_W);
	ev = only(&list, "mem:0x1000:u");
	CHECK_EQ(ev->attr.bp_type, HW_BREAKPOINT_RW);
	CHECK_EQ(ev->attr.exclude_kernel, 1);
	ev = only(&list, "mem:0x1000:x:k");
	CHECK_EQ(ev->attr.bp_type, HW_BREAKPOINT_X);
	CHECK_EQ(ev->attr.bp_len, 8);
	CHECK_EQ(ev->attr.exclude_user, 1);
	CHECK(event_parse(&list, "mem:0x1000/3", NULL) < 0);
	CHECK(event_parse(&list, "mem:", NULL) < 0);
	end(&list);
}

TEST(lists and groups)
{
	struct event_list list = fake_list();

	CHECK_EQ(event_parse(&list, "cs", NULL), 0);
	CHECK_EQ(event_parse(&list, "faults, {cycles,cpu/event=1,umask=2/u}:S ,dummy", NULL), 0);
	CHECK_EQ(list.events.len, 5);
	CHECK_EQ(list.events.items[1].leader, 1);
	CHECK_EQ(list.events.items[2].leader, 2);
	CHECK_EQ(list.events.items[3].leader, 2);
	CHECK_EQ(list.events.items[4].leader, 4);
	CHECK(list.events.items[3].sample_read);
	CHECK_EQ(list.events.items[3].attr.exclude_kernel, 1);
	CHECK_EQ(list.events.items[2].attr.exclude_kernel, 0);
	CHECK_EQ(list.events.items[4].argument, 1);
	end(&list);
}

static void refused(struct event_list *list, const char *text, const char *what, const char *hint)
{
	struct err e = ERR_INIT;
	size_t before = list->events.len;

	CHECK(event_parse(list, text, &e) < 0);
	CHECK_EQ(list->events.len, before);
	if (!strstr(e.what, what))
		FAIL("'%s' says: %s", text, e.what);
	if (hint && (!e.hint || !strstr(e.hint, hint)))
		FAIL("'%s' hints: %s", text, e.hint ? e.hint : "nothing");
	err_release(&e);
}

TEST(errors point at the token)
{
	struct event_list list = fake_list();

	refused(&list, "cpu/evnt=1/", "unknown term 'evnt' (column 5)", "event");
	refused(&list, "cpu/umask=0x100/", "too large (column 11)", "8 bits");
	refused(&list, "cpu/event/", "is missing", NULL);
	refused(&list, "cpu/event=/", "has no value", NULL);
	refused(&list, "cpu/event=1", "'/' without its end (column 4)", NULL);
	refused(&list, "cylces", "unknown event 'cylces' (column 1)", "cycles");
	refused(&list, "cs,LLC-load-mises", "(column 4)", "LLC-load-misses");
	refused(&list, "cycles:q", "unknown modifier 'q' (column 8)", "modifiers are");
	refused(&list, "cycles:uu", "twice", NULL);
	refused(&list, "cycles:pppp", "three times", NULL);
	refused(&list, "cycles:", "modifier is missing", NULL);
	refused(&list, "sched:sched_swich", "no tracepoint", "sched:sched_switch");
	refused(&list, "nosuch/event=1/", "no PMU 'nosuch'", "cpu");
	refused(&list, "{cycles,cs", "'{' without its '}' (column 1)", NULL);
	refused(&list, "{cycles,{cs}}", "cannot hold a group", NULL);
	refused(&list, "cycles,", "missing", NULL);
	refused(&list, "", "missing", NULL);
	refused(&list, "cycles}", "does not belong", NULL);
	refused(&list, "cycles/period=0/", "out of range", NULL);
	refused(&list, "cycles/call-graph=x/", "not known", NULL);
	end(&list);
}

TEST(pmu formats)
{
	struct pmu_format f = { 0 };
	u64 words[PMU_WORDS] = { 0 };

	CHECK_EQ(pmu_format_parse("config1:0-63", &f), 0);
	CHECK_EQ(f.word, 1);
	CHECK_EQ(f.bits, UINT64_MAX);
	CHECK_EQ(pmu_format_put(&f, UINT64_MAX, words), 0);
	CHECK_EQ(words[1], UINT64_MAX);
	CHECK_EQ(pmu_format_put(&f, 5, words), 0);
	CHECK_EQ(words[1], 5);
	CHECK_EQ(pmu_format_parse("config4:3", &f), 0);
	CHECK_EQ(f.word, 4);
	CHECK(pmu_format_parse("config5:3", &f) < 0);
	CHECK(pmu_format_parse("config:64", &f) < 0);
	CHECK(pmu_format_parse("config:7-3", &f) < 0);
	CHECK(pmu_format_parse("config:1,", &f) < 0);
	CHECK(pmu_format_parse("konfig:1", &f) < 0);
}

TEST(filters are kept per argument)
{
	struct event_list list = fake_list();
	struct err e = ERR_INIT;

	CHECK(event_set_filter(&list, "prev_pid == 1", &e) < 0);
	CHECK(strstr(e.what, "no event before it") != NULL);
	err_release(&e);
	CHECK_EQ(event_parse(&list, "sched:sched_switch", NULL), 0);
	CHECK_EQ(event_parse(&list, "sched:sched_wakeup", NULL), 0);
	CHECK_EQ(event_set_filter(&list, "prev_pid > 5", NULL), 0);
	CHECK_EQ(event_set_filter(&list, "prev_pid < 9", NULL), 0);
	CHECK_STR(list.events.items[0].filter, NULL);
	CHECK_STR(list.events.items[1].filter, "(prev_pid > 5) && (prev_pid < 9)");
	CHECK_EQ(event_parse(&list, "cycles", NULL), 0);
	CHECK(event_set_filter(&list, "prev_pid < 9", &e) < 0);
	CHECK(strstr(e.what, "is for tracepoints") != NULL);
	err_release(&e);
	end(&list);
}

TEST("clocks of a CPU: half of the time at one and a half times its speed, across a wrap")
{
	const struct cpu_clocks before = { 0, UINT64_MAX - 999999999, 5000, 7000 };
	const struct cpu_clocks after = { 0, 1000000000, 1000005000, 1500007000 };
	struct clock_rates r = clocks_between(&before, &after, 1000000000);

	CHECK_NEAR(r.base_mhz, 2000, 1e-3);
	CHECK_NEAR(r.busy_percent, 50, 1e-6);
	CHECK_NEAR(r.ratio, 1.5, 1e-9);
	CHECK_NEAR(r.mhz, 3000, 1e-3);
	r = clocks_between(&before, &before, 0);
	CHECK_NEAR(r.mhz, 0, 0);
	CHECK_NEAR(r.ratio, 0, 0);
}
