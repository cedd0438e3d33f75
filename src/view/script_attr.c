/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_event_attr as text, in perf's words and order. */
#include "view/script.h"

typedef unsigned long long ull;

struct bit_name {
	u64 bit;
	const char *name;
};

#define SAMPLE_BIT(name)                  \
	{                                 \
		PERF_SAMPLE_##name, #name \
	}
#define FORMAT_BIT(name)                  \
	{                                 \
		PERF_FORMAT_##name, #name \
	}
#define BRANCH_BIT(name)                         \
	{                                        \
		PERF_SAMPLE_BRANCH_##name, #name \
	}

static const struct bit_name sample_bits[] = {
	SAMPLE_BIT(IP),
	SAMPLE_BIT(TID),
	SAMPLE_BIT(TIME),
	SAMPLE_BIT(ADDR),
	SAMPLE_BIT(READ),
	SAMPLE_BIT(CALLCHAIN),
	SAMPLE_BIT(ID),
	SAMPLE_BIT(CPU),
	SAMPLE_BIT(PERIOD),
	SAMPLE_BIT(STREAM_ID),
	SAMPLE_BIT(RAW),
	SAMPLE_BIT(BRANCH_STACK),
	SAMPLE_BIT(REGS_USER),
	SAMPLE_BIT(STACK_USER),
	SAMPLE_BIT(IDENTIFIER),
	SAMPLE_BIT(REGS_INTR),
	SAMPLE_BIT(DATA_SRC),
	SAMPLE_BIT(WEIGHT),
	SAMPLE_BIT(PHYS_ADDR),
	SAMPLE_BIT(AUX),
	SAMPLE_BIT(CGROUP),
	SAMPLE_BIT(DATA_PAGE_SIZE),
	SAMPLE_BIT(CODE_PAGE_SIZE),
	SAMPLE_BIT(WEIGHT_STRUCT),
	SAMPLE_BIT(TRANSACTION),
	{ 0, NULL },
};

/* PERF_FORMAT_LOST is younger than some system headers */
static const struct bit_name read_bits[] = {
	FORMAT_BIT(TOTAL_TIME_ENABLED),
	FORMAT_BIT(TOTAL_TIME_RUNNING),
	FORMAT_BIT(ID),
	FORMAT_BIT(GROUP),
	{ 1 << 4, "LOST" },
	{ 0, NULL },
};

static const struct bit_name branch_bits[] = {
	BRANCH_BIT(USER),         BRANCH_BIT(KERNEL),    BRANCH_BIT(HV),
	BRANCH_BIT(ANY),          BRANCH_BIT(ANY_CALL),  BRANCH_BIT(ANY_RETURN),
	BRANCH_BIT(IND_CALL),     BRANCH_BIT(ABORT_TX),  BRANCH_BIT(IN_TX),
	BRANCH_BIT(NO_TX),        BRANCH_BIT(COND),      BRANCH_BIT(CALL_STACK),
	BRANCH_BIT(IND_JUMP),     BRANCH_BIT(CALL),      BRANCH_BIT(NO_FLAGS),
	BRANCH_BIT(NO_CYCLES),    BRANCH_BIT(TYPE_SAVE), BRANCH_BIT(HW_INDEX),
	{ 1 << 18, "PRIV_SAVE" }, { 0, NULL },
};

struct attr_writer {
	struct buf *out;
	const char *before;
	const char *equals;
};

static void name(struct attr_writer *w, const char *text)
{
	buf_addstr(w->out, w->before);
	buf_addstr(w->out, text);
	buf_addstr(w->out, w->equals);
	w->before = ", ";
}

static void number(struct attr_writer *w, const char *text, u64 v)
{
	if (!v)
		return;
	name(w, text);
	buf_addu(w->out, v);
}

static void hex(struct attr_writer *w, const char *text, u64 v)
{
	if (!v)
		return;
	name(w, text);
	buf_addf(w->out, "0x%llx", (ull)v);
}

static void bits(struct attr_writer *w, const char *text, u64 v, const struct bit_name *names)
{
	const char *between = "";

	if (!v)
		return;
	name(w, text);
	for (; names->name; names++) {
		if (!(v & names->bit))
			continue;
		buf_addstr(w->out, between);
		buf_addstr(w->out, names->name);
		between = "|";
	}
}

#define FLAG(field) number(w, #field, a->field)

static void flags(struct attr_writer *w, const struct perf_event_attr *a)
{
	FLAG(disabled);
	FLAG(inherit);
	FLAG(pinned);
	FLAG(exclusive);
	FLAG(exclude_user);
	FLAG(exclude_kernel);
	FLAG(exclude_hv);
	FLAG(exclude_idle);
	FLAG(mmap);
	FLAG(comm);
	FLAG(freq);
	FLAG(inherit_stat);
	FLAG(enable_on_exec);
	FLAG(task);
	FLAG(watermark);
	FLAG(precise_ip);
	FLAG(mmap_data);
	FLAG(sample_id_all);
	FLAG(exclude_host);
	FLAG(exclude_guest);
	FLAG(exclude_callchain_kernel);
	FLAG(exclude_callchain_user);
	FLAG(mmap2);
	FLAG(comm_exec);
	FLAG(use_clockid);
	FLAG(context_switch);
	FLAG(write_backward);
	FLAG(namespaces);
	FLAG(ksymbol);
	FLAG(bpf_event);
	FLAG(aux_output);
	FLAG(cgroup);
	FLAG(text_poke);
	FLAG(build_id);
	FLAG(inherit_thread);
	FLAG(remove_on_exec);
	FLAG(sigtrap);
}

void script_attr(const struct perf_event_attr *attr, const char *first, const char *equals,
		 struct buf *out)
{
	struct attr_writer w = { out, first, equals };

	number(&w, "type", attr->type);
	number(&w, "size", attr->size);
	hex(&w, "config", attr->config);
	number(&w, "{ sample_period, sample_freq }", attr->sample_period);
	bits(&w, "sample_type", attr->sample_type, sample_bits);
	bits(&w, "read_format", attr->read_format, read_bits);
	flags(&w, attr);
	number(&w, "{ wakeup_events, wakeup_watermark }", attr->wakeup_events);
	number(&w, "bp_type", attr->bp_type);
	hex(&w, "{ bp_addr, config1 }", attr->bp_addr);
	hex(&w, "{ bp_len, config2 }", attr->bp_len);
	bits(&w, "branch_sample_type", attr->branch_sample_type, branch_bits);
	hex(&w, "sample_regs_user", attr->sample_regs_user);
	number(&w, "sample_stack_user", attr->sample_stack_user);
	if (attr->clockid) {
		name(&w, "clockid");
		buf_addf(out, "%d", attr->clockid);
	}
	hex(&w, "sample_regs_intr", attr->sample_regs_intr);
	number(&w, "aux_watermark", attr->aux_watermark);
	number(&w, "sample_max_stack", attr->sample_max_stack);
	number(&w, "aux_sample_size", attr->aux_sample_size);
	number(&w, "sig_data", attr->sig_data);
}
