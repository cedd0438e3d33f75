/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of the other byte order. */
#include "recording/reader.h"

#include "recording/format.h"

/*
 * The fixed fields at the start of each record: 2, 4, 8 bytes to swap, '.' a byte to leave; a
 * final '*' repeats the 8 before it to the end. Names and bytes after need nothing.
 */
static const char *const field_sizes[RECORD_TYPE_END] = {
	[PERF_RECORD_MMAP] = "44888",
	[PERF_RECORD_LOST] = "88",
	[PERF_RECORD_COMM] = "44",
	[PERF_RECORD_EXIT] = "44448",
	[PERF_RECORD_THROTTLE] = "888",
	[PERF_RECORD_UNTHROTTLE] = "888",
	[PERF_RECORD_FORK] = "44448",
	[PERF_RECORD_READ] = "448*",
	[PERF_RECORD_MMAP2] = "44888448844",
	[PERF_RECORD_AUX] = "888",
	[PERF_RECORD_ITRACE_START] = "44",
	[PERF_RECORD_LOST_SAMPLES] = "8",
	[PERF_RECORD_SWITCH_CPU_WIDE] = "44",
	[PERF_RECORD_NAMESPACES] = "448*",
	[PERF_RECORD_KSYMBOL] = "8422",
	[PERF_RECORD_BPF_EVENT] = "224",
	[PERF_RECORD_CGROUP] = "8",
	[PERF_RECORD_TEXT_POKE] = "822",
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = "8",
	[RECORD_CALLCHAIN_DEFERRED] = "8*",
	[RECORD_HEADER_EVENT_TYPE] = "84444",
	[RECORD_AUXTRACE_INFO] = "448*",
	[RECORD_AUXTRACE] = "8884444",
	[RECORD_AUXTRACE_ERROR] = "444444888",
	[RECORD_STAT_CONFIG] = "8*",
	[RECORD_STAT] = "844888",
	[RECORD_STAT_ROUND] = "88",
};

static void swap_u32_at(u8 *p)
{
	u32 v;

	memcpy(&v, p, 4);
	v = __builtin_bswap32(v);
	memcpy(p, &v, 4);
}

static void swap_u64_at(u8 *p)
{
	u64 v;

	memcpy(&v, p, 8);
	v = __builtin_bswap64(v);
	memcpy(p, &v, 8);
}

static void swap_one(u8 *p, size_t size)
{
	u16 v;

	if (size == 8) {
		swap_u64_at(p);
	} else if (size == 4) {
		swap_u32_at(p);
	} else if (size == 2) {
		memcpy(&v, p, 2);
		v = __builtin_bswap16(v);
		memcpy(p, &v, 2);
	}
}

static void swap_fields(const char *sizes, u8 *p, const u8 *end)
{
	size_t size = 0;

	for (; *sizes; sizes++) {
		size = *sizes == '.' ? 1 : *sizes == '*' ? 8 : (size_t)(*sizes - '0');
		do {
			if ((size_t)(end - p) < size)
				return;
			swap_one(p, size);
			p += size;
		} while (*sizes == '*');
	}
}

/* One word of the trailing fields: a u64, or two u32s (pid and tid, cpu and its padding). */
static u8 *swap_word_before(u8 *end, bool is_pair)
{
	if (is_pair) {
		swap_u32_at(end - 8);
		swap_u32_at(end - 4);
	} else {
		swap_u64_at(end - 8);
	}
	return end - 8;
}

static void swap_trailing(u8 *end, u64 sample_type)
{
	static const u64 from_the_end[] = { PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_CPU,
					    PERF_SAMPLE_STREAM_ID,  PERF_SAMPLE_ID,
					    PERF_SAMPLE_TIME,       PERF_SAMPLE_TID };

	for (size_t i = 0; i < ARRAY_SIZE(from_the_end); i++) {
		u64 field = from_the_end[i];

		if (sample_type & field)
			end = swap_word_before(end, field & (PERF_SAMPLE_CPU | PERF_SAMPLE_TID));
	}
}

void swap_record(struct perf_event_header *h, const struct perf_event_attr *attr)
{
	u8 *body = (u8 *)(h + 1), *end = (u8 *)h + h->size;
	struct event_layout layout;

	if (h->type < RECORD_USER_FIRST && attr && attr->sample_id_all) {
		sample_layout(attr, &layout);
		if ((size_t)(end - body) >= layout.id_words * 8u) {
			swap_trailing(end, attr->sample_type);
			end -= layout.id_words * 8u;
		}
	}
	if (h->type >= RECORD_TYPE_END || !field_sizes[h->type])
		return;
	if (h->type == PERF_RECORD_MMAP2 && (h->misc & FORMAT_MISC_MMAP_BUILD_ID))
		swap_fields("44888........................44", body, end);
	else
		swap_fields(field_sizes[h->type], body, end);
}

/* Bit fields count from the other end of the word; the bits within a field keep their order. */
static u64 swap_bit_fields(u64 v, const u8 *widths, size_t n)
{
	unsigned int at = 0;
	u64 out = 0;

	v = __builtin_bswap64(v);
	for (size_t i = 0; i < n && at < 64; i++) {
		unsigned int w = widths[i] ? widths[i] : 1;
		u64 field = v >> (64 - at - w) & ((1ull << w) - 1);

		out |= field << at;
		at += w;
	}
	return out;
}

u64 swap_branch_flags(u64 v)
{
	static const u8 widths[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3 };

	return swap_bit_fields(v, widths, ARRAY_SIZE(widths));
}

/* All flags of the attr are one bit wide but precise_ip, the 16th. */
static u64 swap_attr_flags(u64 v)
{
	static const u8 widths[63] = { [15] = 2 };

	return swap_bit_fields(v, widths, ARRAY_SIZE(widths));
}

void swap_attr(struct perf_event_attr *attr)
{
	u8 *flags = (u8 *)&attr->read_format + 8, *p = (u8 *)attr;
	u64 v;

	_Static_assert(offsetof(struct perf_event_attr, wakeup_events) == 48, "flags are at 40");
	swap_fields("4488888", p, p + 40);
	memcpy(&v, flags, 8);
	v = swap_attr_flags(v);
	memcpy(flags, &v, 8);
	swap_fields("44"
		    "88"
		    "88"
		    "44"
		    "8"
		    "422"
		    "44"
		    "8",
		    p + 48, p + 128);
}
