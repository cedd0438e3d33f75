/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event descriptions, filters and format files from arbitrary bytes. */
#include "capture/event.h"
#include "capture/filter.h"
#include "capture/pmu.h"
#include "capture/tracepoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_event(const char *text)
{
	_cleanup_event_list_ struct event_list list = {
		.source = { .sysfs_devices = "/sys/bus/event_source/devices",
			    .tracefs = "/nonexistent" },
	};
	_cleanup_err_ struct err e = ERR_INIT;

	(void)event_parse(&list, text, &e);
}

static void fuzz_format(const char *text, size_t n)
{
	const char *filter = memchr(text, '\0', n);
	_cleanup_err_ struct err e = ERR_INIT;
	struct tracepoint_format f;

	if (!filter || tracepoint_format_parse(text, (size_t)(filter - text), &f, &e) < 0)
		return;
	(void)filter_check(filter + 1, &f, &e);
	tracepoint_format_release(&f);
}

static void fuzz_filter(const char *filter)
{
	static const char fixed[] = "name: x\n"
				    "field:int number;\toffset:0;\tsize:4;\tsigned:1;\n"
				    "field:char text[16];\toffset:4;\tsize:16;\tsigned:0;\n";
	_cleanup_err_ struct err e = ERR_INIT;
	struct tracepoint_format f;

	if (tracepoint_format_parse(fixed, sizeof(fixed) - 1, &f, NULL) < 0)
		abort();
	(void)filter_check(filter, &f, &e);
	tracepoint_format_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || size > 8192)
		return 0;
	_cleanup_free_ char *text = xstrndup((const char *)data + 1, size - 1);
	_cleanup_free_ char *raw = xmalloc(size);
	struct pmu_format format;

	memcpy(raw, data + 1, size - 1);
	raw[size - 1] = '\0';
	switch (data[0] % 4) {
	case 0: fuzz_event(text); break;
	case 1: fuzz_format(raw, size - 1); break;
	case 2: fuzz_filter(text); break;
	default: (void)pmu_format_parse(text, &format); break;
	}
	return 0;
}
