/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The body of a sample: a sequence of fields that sample_type chooses, each checked. */
#include "recording/reader.h"

#include "recording/format.h"

/* The words of a sample. With swap, each is turned in place as it is read. */
struct words {
	u64 *p;
	u64 *end;
	bool swap;
};

#define INLINE static inline __attribute__((always_inline))

INLINE bool left(const struct words *w, u64 n)
{
	return n <= (u64)(w->end - w->p);
}

INLINE u64 next(struct words *w)
{
	if (w->swap)
		*w->p = __builtin_bswap64(*w->p);
	return *w->p++;
}

/* Two u32s in one word. */
struct pair {
	u32 first;
	u32 second;
};

INLINE struct pair next_pair(struct words *w)
{
	struct pair pair;

	memcpy(&pair, w->p, sizeof(pair));
	if (w->swap) {
		pair.first = __builtin_bswap32(pair.first);
		pair.second = __builtin_bswap32(pair.second);
		memcpy(w->p, &pair, sizeof(pair));
	}
	w->p++;
	return pair;
}

INLINE const u64 *next_array(struct words *w, u64 n)
{
	const u64 *start = w->p;

	if (w->swap)
		for (u64 i = 0; i < n; i++)
			(void)next(w);
	else
		w->p += n;
	return start;
}

static const char *const too_short = "the sample is shorter than its event says";

/* The fields of one word each, before the long ones. */
INLINE const char *parse_head(struct words *w, u64 type, struct sample *s)
{
	struct pair pair;

	if (!left(w,
		  (u64)__builtin_popcountll(
			  type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				  PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
				  PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD))))
		return too_short;
	if (type & PERF_SAMPLE_IDENTIFIER)
		s->id = next(w);
	if (type & PERF_SAMPLE_IP)
		s->ip = next(w);
	if (type & PERF_SAMPLE_TID) {
		pair = next_pair(w);
		s->pid = pair.first;
		s->tid = pair.second;
	}
	if (type & PERF_SAMPLE_TIME)
		s->time = next(w);
	if (type & PERF_SAMPLE_ADDR)
		s->addr = next(w);
	if (type & PERF_SAMPLE_ID)
		s->id = next(w);
	if (type & PERF_SAMPLE_STREAM_ID)
		s->stream_id = next(w);
	if (type & PERF_SAMPLE_CPU)
		s->cpu = next_pair(w).first;
	if (type & PERF_SAMPLE_PERIOD)
		s->period = next(w);
	return NULL;
}

INLINE const char *parse_read(struct words *w, u64 format, struct sample_read *read)
{
	u64 times = (u64)__builtin_popcountll(
		format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
	u64 extra = (u64)__builtin_popcountll(format & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
	bool group = format & PERF_FORMAT_GROUP;

	read->format = format;
	read->nr = 1;
	read->stride = (u32)(1 + extra);
	if (!left(w, 1 + times + (group ? 0 : extra)))
		return too_short;
	if (group)
		read->nr = next(w);
	else
		read->value = next(w);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		read->time_enabled = next(w);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		read->time_running = next(w);
	if (group) {
		if (read->nr > RECORD_MAX_SIZE || !left(w, read->nr * read->stride))
			return "the sample's counter values go beyond its end";
		read->rows = next_array(w, read->nr * read->stride);
		return NULL;
	}
	if (format & PERF_FORMAT_ID)
		read->id = next(w);
	if (format & PERF_FORMAT_LOST)
		read->lost = next(w);
	return NULL;
}

INLINE const char *parse_callchain(struct words *w, struct sample *s)
{
	if (!left(w, 1))
		return too_short;
	s->n_ips = next(w);
	if (!left(w, s->n_ips))
		return "the callchain goes beyond the sample's end";
	s->ips = next_array(w, s->n_ips);
	return NULL;
}

INLINE const char *parse_raw(struct words *w, struct sample *s)
{
	if (!left(w, 1))
		return too_short;
	memcpy(&s->raw_size, w->p, 4);
	if (w->swap) {
		s->raw_size = __builtin_bswap32(s->raw_size);
		memcpy(w->p, &s->raw_size, 4);
	}
	s->raw = (const u8 *)w->p + 4;
	if (!left(w, DIV_ROUND_UP((u64)s->raw_size + 4, 8)))
		return "the raw data goes beyond the sample's end";
	w->p += DIV_ROUND_UP((u64)s->raw_size + 4, 8);
	return NULL;
}

INLINE const char *parse_branches(struct words *w, u64 branch_type, struct sample *s)
{
	bool hw_index = branch_type & PERF_SAMPLE_BRANCH_HW_INDEX;
	u64 words;

	if (!left(w, 1u + hw_index))
		return too_short;
	s->n_branches = next(w);
	if (hw_index)
		s->branch_hw_index = next(w);
	if (s->n_branches > RECORD_MAX_SIZE || !left(w, s->n_branches * 3))
		return "the branch stack goes beyond the sample's end";
	words = s->n_branches * 3;
	s->branches = (const struct sample_branch *)w->p;
	for (u64 i = 2; w->swap && i < words; i += 3)
		w->p[i] = __builtin_bswap64(swap_branch_flags(w->p[i]));
	(void)next_array(w, words);
	if (branch_type & FORMAT_BRANCH_COUNTERS) {
		if (!left(w, s->n_branches))
			return "the branch counters go beyond the sample's end";
		(void)next_array(w, s->n_branches);
	}
	return NULL;
}

INLINE const char *parse_regs(struct words *w, u64 mask, struct sample_regs *regs)
{
	if (!left(w, 1))
		return too_short;
	regs->abi = next(w);
	if (regs->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return NULL;
	regs->mask = mask;
	regs->nr = (u32)__builtin_popcountll(mask);
	if (!left(w, regs->nr))
		return "the registers go beyond the sample's end";
	regs->values = next_array(w, regs->nr);
	return NULL;
}

INLINE const char *parse_stack(struct words *w, struct sample *s)
{
	if (!left(w, 1))
		return too_short;
	s->stack_size = next(w);
	if (s->stack_size == 0)
		return NULL;
	if (s->stack_size % 8 || !left(w, s->stack_size / 8 + 1))
		return "the stack copy goes beyond the sample's end";
	s->stack = w->p;
	w->p += s->stack_size / 8;
	s->stack_dyn = next(w);
	if (s->stack_dyn > s->stack_size)
		return "the stack copy claims more bytes than it has";
	return NULL;
}

INLINE const char *parse_tail(struct words *w, const struct perf_event_attr *attr, struct sample *s)
{
	u64 type = attr->sample_type;
	const char *bad = NULL;

	if (!left(w, (u64)__builtin_popcountll(type &
					       (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT |
						PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION))))
		return too_short;
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		s->weight = next(w);
	if (type & PERF_SAMPLE_DATA_SRC)
		s->data_src = next(w);
	if (type & PERF_SAMPLE_TRANSACTION)
		s->transaction = next(w);
	if (type & PERF_SAMPLE_REGS_INTR)
		bad = parse_regs(w, attr->sample_regs_intr, &s->regs_intr);
	if (bad)
		return bad;
	if (!left(w,
		  (u64)__builtin_popcountll(type & (PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
						    PERF_SAMPLE_DATA_PAGE_SIZE |
						    PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_AUX))))
		return too_short;
	if (type & PERF_SAMPLE_PHYS_ADDR)
		s->phys_addr = next(w);
	if (type & PERF_SAMPLE_CGROUP)
		s->cgroup = next(w);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		s->data_page_size = next(w);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		s->code_page_size = next(w);
	if (!(type & PERF_SAMPLE_AUX))
		return NULL;
	s->aux_size = next(w);
	s->aux = w->p;
	if (s->aux_size > RECORD_MAX_SIZE || !left(w, DIV_ROUND_UP(s->aux_size, 8)))
		return "the AUX data goes beyond the sample's end";
	return NULL;
}

/* What is longer than a word. */
INLINE const char *parse_long(struct words *w, const struct perf_event_attr *attr, struct sample *s)
{
	u64 type = attr->sample_type;
	const char *bad = NULL;

	if (type & PERF_SAMPLE_READ)
		bad = parse_read(w, attr->read_format, &s->read);
	if (!bad && type & PERF_SAMPLE_CALLCHAIN)
		bad = parse_callchain(w, s);
	if (!bad && type & PERF_SAMPLE_RAW)
		bad = parse_raw(w, s);
	if (!bad && type & PERF_SAMPLE_BRANCH_STACK)
		bad = parse_branches(w, attr->branch_sample_type, s);
	if (!bad && type & PERF_SAMPLE_REGS_USER)
		bad = parse_regs(w, attr->sample_regs_user, &s->regs_user);
	if (!bad && type & PERF_SAMPLE_STACK_USER)
		bad = parse_stack(w, s);
	return bad;
}

enum {
	LONG_FIELDS = PERF_SAMPLE_READ | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
		      PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	TAIL_FIELDS = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
		      PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR |
		      PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE |
		      PERF_SAMPLE_AUX,
};

INLINE const char *parse(struct words *w, const struct perf_event_attr *attr, struct sample *s)
{
	u64 type = attr->sample_type;
	const char *bad;

	memset(s, 0, sizeof(*s));
	s->type = type;
	s->pid = s->tid = RECORD_NO_PID;
	s->period = attr->freq || !attr->sample_period ? 1 : attr->sample_period;
	bad = parse_head(w, type, s);
	if (bad)
		return bad;
	/* The common case, a plain callchain, skips the questions about everything else. */
	if (type & LONG_FIELDS)
		bad = parse_long(w, attr, s);
	else if (type & PERF_SAMPLE_CALLCHAIN)
		bad = parse_callchain(w, s);
	if (!bad && type & TAIL_FIELDS)
		bad = parse_tail(w, attr, s);
	return bad;
}

static struct words words_of(const struct perf_event_header *h)
{
	u64 *p = (u64 *)(void *)(uintptr_t)(h + 1);

	return (struct words){ .p = p, .end = p + (h->size - sizeof(*h)) / 8 };
}

int sample_parse(const struct perf_event_attr *attr, const struct perf_event_header *header,
		 struct sample *ret, const char **ret_reason)
{
	struct words w = words_of(header);
	const char *bad = parse(&w, attr, ret);

	if (!bad)
		return 0;
	*ret_reason = bad;
	return -EBADMSG;
}

int swap_sample(const struct perf_event_attr *attr, struct perf_event_header *h,
		const char **ret_reason)
{
	struct words w = words_of(h);
	struct sample s;
	const char *bad;

	w.swap = true;
	bad = parse(&w, attr, &s);
	if (!bad)
		return 0;
	*ret_reason = bad;
	return -EBADMSG;
}
