/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/option_text.h"

#include <linux/perf_event.h>
#include <strings.h>
#include <time.h>

#include "base/parse.h"
#include "capture/session.h"
#include "host/machine.h"

enum { RING_MOST = 1 << 30, RATE_UNKNOWN = 1000 };

int option_rate(void *field, const char *text, struct err *e)
{
	u64 *hz = field;
	s64 most;

	if (streq(text, "max")) {
		*hz = machine_sysctl("kernel/perf_event_max_sample_rate", &most) < 0 ? RATE_UNKNOWN
										     : (u64)most;
		return 0;
	}
	int r = parse_frequency(text, hz, e);

	if (r < 0 || *hz)
		return r;
	err_set(e, EINVAL, "a frequency of 0 takes no samples");
	err_hint(e, "write it like 99, 4k or max: samples per second and CPU");
	return -EINVAL;
}

int option_stacks(void *field, const char *text, struct err *e)
{
	struct stack_option *g = field;
	const char *size = starts_with(text, "dwarf,");
	u64 bytes = 0;

	g->size = 0;
	if (streq(text, "fp") || streq(text, "frame-pointer")) {
		g->mode = STACK_FP;
	} else if (streq(text, "none") || streq(text, "no")) {
		g->mode = STACK_NONE;
	} else if (streq(text, "lbr")) {
		g->mode = STACK_LBR;
	} else if (streq(text, "dwarf") || size) {
		g->mode = STACK_DWARF;
		if (size && parse_size(size, &bytes, e) < 0)
			return -EINVAL;
		if (size && (bytes == 0 || bytes > SESSION_STACK_MOST))
			return err_set(e, EINVAL, "a stack copy has 8 to %d bytes",
				       SESSION_STACK_MOST);
		g->size = (u32)ALIGN_UP(bytes, 8);
	} else {
		err_set(e, EINVAL, "'%s' is not a way to get stacks", text);
		err_hint(e, "use fp, dwarf, dwarf,SIZE, lbr or none");
		return -EINVAL;
	}
	return 0;
}

int option_ring(void *field, const char *text, struct err *e)
{
	bool pages = *text && text[strspn(text, "0123456789")] == '\0';
	u64 *bytes = field;
	int r = parse_size(text, bytes, e);

	if (r < 0)
		return r;
	if (pages && *bytes <= RING_MOST)
		*bytes *= (u64)sysconf(_SC_PAGESIZE);
	if (*bytes == 0 || *bytes > RING_MOST)
		return err_set(e, EINVAL, "a ring of '%s' is not possible: 1 page to 1 GB", text);
	return 0;
}

int option_delay(void *field, const char *text, struct err *e)
{
	bool plain = *text && text[strspn(text, "0123456789")] == '\0';
	_cleanup_free_ char *ms = plain ? xasprintf("%sms", text) : NULL;

	if (streq(text, "-1")) {
		*(u64 *)field = OPTION_DELAY_CONTROL;
		return 0;
	}
	return parse_duration(plain ? ms : text, field, e);
}

static const struct {
	const char *name;
	u64 bit;
} branch_types[] = {
	{ "any", PERF_SAMPLE_BRANCH_ANY },
	{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
	{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
	{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
	{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
	{ "call", PERF_SAMPLE_BRANCH_CALL },
	{ "cond", PERF_SAMPLE_BRANCH_COND },
	{ "stack", PERF_SAMPLE_BRANCH_CALL_STACK },
	{ "u", PERF_SAMPLE_BRANCH_USER },
	{ "k", PERF_SAMPLE_BRANCH_KERNEL },
	{ "hv", PERF_SAMPLE_BRANCH_HV },
	{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
	{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
	{ "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
	{ "no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS },
	{ "no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES },
	{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE },
};

static bool branch_bit(const char *s, size_t n, u64 *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(branch_types); i++) {
		if (strlen(branch_types[i].name) == n && memcmp(s, branch_types[i].name, n) == 0) {
			*ret = branch_types[i].bit;
			return true;
		}
	}
	return false;
}

int option_branches(void *field, const char *text, struct err *e)
{
	const u64 modes = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
			  PERF_SAMPLE_BRANCH_HV | PERF_SAMPLE_BRANCH_NO_FLAGS |
			  PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_TYPE_SAVE;
	u64 bits = 0, bit;

	for (const char *s = text;; s++) {
		size_t n = strcspn(s, ",");

		if (!branch_bit(s, n, &bit)) {
			err_set(e, EINVAL, "'%.*s' is not a branch type", (int)MIN(n, (size_t)100),
				s);
			err_hint(e, "use any, any_call, any_ret, ind_call, ind_jmp, call, cond, "
				    "and u or k after them");
			return -EINVAL;
		}
		bits |= bit;
		s += n;
		if (!*s)
			break;
	}
	*(u64 *)field = bits & ~modes ? bits : bits | PERF_SAMPLE_BRANCH_ANY;
	return 0;
}

/* The first name of a clock is the one that is shown. */
static const struct {
	const char *name;
	int id;
} clocks[] = {
	{ "monotonic", CLOCK_MONOTONIC },
	{ "mono", CLOCK_MONOTONIC },
	{ "monotonic_raw", CLOCK_MONOTONIC_RAW },
	{ "raw", CLOCK_MONOTONIC_RAW },
	{ "realtime", CLOCK_REALTIME },
	{ "real", CLOCK_REALTIME },
	{ "boottime", CLOCK_BOOTTIME },
	{ "boot", CLOCK_BOOTTIME },
	{ "tai", CLOCK_TAI },
	{ "perf", -1 },
};

const char *option_clock_name(int id)
{
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		if (clocks[i].id == id)
			return clocks[i].name;
	}
	return "unknown";
}

int option_clock(void *field, const char *text, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		const char *name = starts_with(text, "CLOCK_") ? text + 6 : text;

		if (strcasecmp(name, clocks[i].name) == 0) {
			*(int *)field = clocks[i].id;
			return 0;
		}
	}
	err_set(e, EINVAL, "'%s' is not a clock", text);
	err_hint(e, "use monotonic, monotonic_raw, realtime, boottime, tai or perf");
	return -EINVAL;
}
