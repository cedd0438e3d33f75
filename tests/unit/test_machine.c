/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "profile/machine.h"

/* A kernel's mapping, as perf writes it. */
static void map_kernel(struct machine *m, u64 start, u64 len, const char *file)
{
	struct {
		struct perf_event_header header;
		u32 pid, tid;
		u64 addr, len, pgoff;
		char filename[64];
	} raw = { .header = { PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, sizeof(raw) },
		  .pid = UINT32_MAX,
		  .addr = start,
		  .len = len };
	struct record r = { .type = PERF_RECORD_MMAP,
			    .misc = PERF_RECORD_MISC_KERNEL,
			    .size = sizeof(raw),
			    .header = &raw.header,
			    .pid = UINT32_MAX,
			    .tid = 0 };

	snprintf(raw.filename, sizeof(raw.filename), "%s", file);
	machine_record(m, &r);
}

static const char *dso_at(struct machine *m, u64 address)
{
	struct process *kernel = machine_process(m, 0);

	return machine_place(m, kernel, ADDRESS_KERNEL, address, false)->dso;
}

TEST("modules of a foreign kernel keep their names")
{
	struct symbols *symbols = symbols_new(&(struct symbols_opts){ .offline = true });
	struct machine m;

	machine_init(&m, symbols);
	map_kernel(&m, 0xffffffffc0000000, 0x10000, "[ath9k]");
	map_kernel(&m, 0xffffffffc0020000, 0x10000, "/lib/modules/6.1.0/kernel/snd-hda.ko.xz");
	CHECK_STR(dso_at(&m, 0xffffffffc0000100), "[ath9k]");
	CHECK_STR(dso_at(&m, 0xffffffffc0020100), "[snd_hda]");
	CHECK_STR(dso_at(&m, 0xffffffffc0011000), "[kernel.kallsyms]");
	machine_release(&m);
	symbols_free(symbols);
}

TEST("of a process that is forgotten nothing is known, until it maps again")
{
	struct symbols *symbols = symbols_new(&(struct symbols_opts){ .offline = true });
	const struct module_key file = { .path = "/bin/one" }, other = { .path = "/bin/two" };
	struct machine m;
	struct process *p;

	machine_init(&m, symbols);
	machine_forget(&m, 7);
	p = machine_process(&m, 7);
	machine_map(&m, p, 0x1000, 0x2000, &file);
	CHECK_STR(machine_place(&m, p, ADDRESS_USER, 0x1100, false)->dso, "/bin/one");
	machine_forget(&m, 7);
	CHECK(machine_process(&m, 7) == p);
	CHECK(!machine_mapping(p, 0x1100));
	CHECK(!machine_place(&m, p, ADDRESS_USER, 0x1100, false)->dso);
	machine_map(&m, p, 0x1000, 0x2000, &other);
	CHECK_STR(machine_place(&m, p, ADDRESS_USER, 0x1100, false)->dso, "/bin/two");
	machine_release(&m);
	symbols_free(symbols);
}
