/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sample as a line, and its chain as lines below it. */
#include "view/script_state.h"

enum { CHAIN_MOST = 1024 };

enum mark { MARK_NONE, MARK_CONTEXT, MARK_BROKEN };

static enum mark context_mark(u64 ip, enum address_mode *mode)
{
	if (likely(ip < (u64)PERF_CONTEXT_MAX))
		return MARK_NONE;
	switch ((enum perf_callchain_context)ip) {
	case PERF_CONTEXT_HV:
	case PERF_CONTEXT_KERNEL:
	case PERF_CONTEXT_USER:
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_KERNEL:
	case PERF_CONTEXT_GUEST_USER: break;
	default: return MARK_BROKEN;
	}
	machine_context(ip, mode);
	return MARK_CONTEXT;
}

/* "a,b*": true if the function at this address ends the chains. */
static bool ends_chain(struct script *s, struct process *p, enum address_mode mode, u64 ip)
{
	const struct place *place;

	if (!s->opts->stop_bt)
		return false;
	place = machine_place(&s->machine, p, mode, ip, false);
	return place->name && script_name_passes(s, s->opts->stop_bt, 3, place->name);
}

/*
 * Returns how many frames were written. Like perf, shows nothing of a chain that holds a mark which
 * does not exist: it was walked into memory that is not a stack.
 */
static u64 add_recorded(struct script *s, const struct script_event *ev, struct process *p,
			const struct sample *sample, u64 most)
{
	enum address_mode mode = ADDRESS_USER;
	size_t start = s->out.len;
	u64 shown = 0;

	for (u64 i = 0; i < sample->n_ips && shown < most; i++) {
		u64 ip = sample->ips[i];
		enum mark mark = context_mark(ip, &mode);

		if (mark == MARK_BROKEN) {
			buf_truncate(&s->out, start);
			return 0;
		}
		if (mark != MARK_NONE ||
		    (address_is_user(mode) ? s->opts->no_user : s->opts->no_kernel))
			continue;
		script_place_line(s, p, mode, ip, ev->fields);
		shown++;
		if (ends_chain(s, p, mode, ip))
			return UINT64_MAX;
	}
	return shown;
}

static void add_chain(struct script *s, const struct script_event *ev, struct process *p,
		      const struct record *r)
{
	u64 most = s->opts->max_stack ? s->opts->max_stack : UINT64_MAX;
	u64 shown = add_recorded(s, ev, p, r->sample, most);
	u64 copied[CHAIN_MOST];
	size_t n;

	if (!ev->copied || shown >= most || s->opts->no_user)
		return;
	n = stackcopy_unwind(&s->stacks, &s->machine, p, r->sample, copied,
			     (size_t)MIN(most - shown, (u64)CHAIN_MOST));
	for (size_t i = 0; i < n; i++)
		script_place_line(s, p, ADDRESS_USER, copied[i], ev->fields);
}

static void add_code(struct script *s, const struct script_event *ev, struct process *p,
		     const struct record *r)
{
	if (ev->chain) {
		buf_addch(&s->out, '\n');
		add_chain(s, ev, p, r);
		return;
	}
	buf_addch(&s->out, ' ');
	script_hex16(&s->out, r->sample->ip);
	script_place_tail(s, p, machine_mode(r), r->sample->ip, ev->fields);
}

static void add_addr(struct script *s, const struct script_event *ev, struct process *p,
		     const struct record *r)
{
	u64 addr = r->sample->addr;

	script_hex16(&s->out, addr);
	/* the kernel, too, faults on addresses of its user */
	if (ev->names_addr)
		script_place_tail(s, p, script_mode_of_address(addr), addr, ev->fields);
}

static const char *const reg_names[] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP",  "SP",  "IP",  "FLAGS", "CS",  "SS",
	"DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13",   "R14", "R15",
};

/* " ABI:2    AX:0x0 ..." */
static void add_regs(struct buf *b, const struct sample_regs *regs)
{
	u32 at = 0;

	if (regs->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	buf_addf(b, " ABI:%llu ", (unsigned long long)regs->abi);
	for (u32 i = 0; i < 64 && at < regs->nr; i++) {
		if (!(regs->mask >> i & 1))
			continue;
		buf_addf(b, "%5s:0x%llx ", i < ARRAY_SIZE(reg_names) ? reg_names[i] : "unknown",
			 (unsigned long long)regs->values[at++]);
	}
}

/* A BPF program's bytes, as hexadecimal and as text, sixteen a line. */
static void add_bpf_output(struct buf *b, const struct sample *sample)
{
	const u8 *p = sample->raw;

	for (u32 i = 0; i < sample->raw_size; i += 16) {
		u32 n = MIN(sample->raw_size - i, 16u);

		buf_addf(b, "\n%17s%04x: ", i ? "" : "BPF output: ", i);
		for (u32 j = 0; j < 16; j++)
			buf_addf(b, j < n ? "%02x " : "   ", j < n ? p[i + j] : 0);
		buf_addch(b, ' ');
		for (u32 j = 0; j < 16; j++)
			buf_addch(b, j >= n                             ? ' '
				     : p[i + j] >= 32 && p[i + j] < 127 ? (char)p[i + j]
									: '.');
	}
	buf_addch(b, '\n');
}

static void add_page_size(struct buf *b, u64 size)
{
	static const char *const units[] = { "", "K", "M", "G" };
	size_t i = 0;

	if (!size) {
		buf_addstr(b, " N/A");
		return;
	}
	while (i + 1 < ARRAY_SIZE(units) && size >= 1024) {
		size /= 1024;
		i++;
	}
	buf_addf(b, " %llu%s", (unsigned long long)size, units[i]);
}

#define BRANCH_FIELDS (SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM | SCRIPT_BRSTACKOFF)

/* Fields that few recordings have. */
static void add_rare(struct script *s, const struct script_event *ev, struct process *p,
		     const struct record *r)
{
	const struct sample *sample = r->sample;
	struct buf *b = &s->out;

	if (ev->fields & SCRIPT_IREGS && sample->type & PERF_SAMPLE_REGS_INTR)
		add_regs(b, &sample->regs_intr);
	if (ev->fields & SCRIPT_UREGS && sample->type & PERF_SAMPLE_REGS_USER)
		add_regs(b, &sample->regs_user);
	if (ev->fields & BRANCH_FIELDS)
		script_branches(s, ev, p, sample);
	if (ev->fields & SCRIPT_BPF_OUTPUT && ev->bpf_output)
		add_bpf_output(b, sample);
	if (ev->fields & (SCRIPT_INSN | SCRIPT_INSNLEN))
		script_insn(s, ev, p, r);
	if (ev->fields & SCRIPT_PHYS_ADDR)
		script_hex16(b, sample->phys_addr);
	if (ev->fields & SCRIPT_DATA_PAGE_SIZE)
		add_page_size(b, sample->data_page_size);
	if (ev->fields & SCRIPT_CODE_PAGE_SIZE)
		add_page_size(b, sample->code_page_size);
	if (ev->fields & SCRIPT_CGROUP) {
		u32 path = machine_cgroup(&s->machine, sample->cgroup);

		buf_addf(b, " %s", path ? machine_str(&s->machine, path) : "[unknown]");
	}
}

#define RARE_FIELDS                                                                          \
	(SCRIPT_IREGS | SCRIPT_UREGS | BRANCH_FIELDS | SCRIPT_BPF_OUTPUT | SCRIPT_INSN |     \
	 SCRIPT_INSNLEN | SCRIPT_PHYS_ADDR | SCRIPT_DATA_PAGE_SIZE | SCRIPT_CODE_PAGE_SIZE | \
	 SCRIPT_CGROUP)

static void add_memory(struct script *s, const struct script_event *ev, struct process *p,
		       const struct record *r)
{
	const bool parts = r->sample->type & PERF_SAMPLE_WEIGHT_STRUCT;
	const u64 weight = r->sample->weight;

	if (ev->fields & SCRIPT_ADDR)
		add_addr(s, ev, p, r);
	if (ev->fields & SCRIPT_DATA_SRC)
		script_data_src(s, r->sample->data_src);
	if (ev->fields & SCRIPT_WEIGHT)
		buf_addf(&s->out, "%16llu",
			 (unsigned long long)(parts ? weight & UINT32_MAX : weight));
	if (ev->fields & SCRIPT_INS_LAT)
		buf_addf(&s->out, "%16llu", (unsigned long long)(weight >> 32 & UINT16_MAX));
	if (ev->fields & SCRIPT_RETIRE_LAT)
		buf_addf(&s->out, "%16llu", (unsigned long long)(weight >> 48));
}

void script_sample(struct script *s, const struct record *r, const struct script_event *ev)
{
	const struct sample *sample = r->sample;
	struct process *p = machine_process(&s->machine, (s32)sample->pid);
	struct script_who who = {
		.pid = (s32)sample->pid,
		.tid = (s32)sample->tid,
		.known = true,
		.cpu = sample->cpu,
		.time = sample->time,
		.type = PERF_RECORD_SAMPLE,
		.misc = r->misc,
	};

	machine_moment(&s->machine, p, sample);
	script_line_start(s, ev, &who);
	if (ev->fields & SCRIPT_PERIOD)
		script_line_period(&s->out,
				   sample->type & PERF_SAMPLE_PERIOD ? sample->period : ev->period);
	if (ev->fields & SCRIPT_EVENT)
		buf_add(&s->out, ev->name, ev->name_len);
	/* Of branches traced by hardware; there are none in a sample. */
	if (ev->fields & SCRIPT_FLAGS)
		buf_addf(&s->out, "  %-21s ", "");
	if (ev->fields & SCRIPT_TRACE && ev->trace && sample->type & PERF_SAMPLE_RAW)
		tracefield_print(ev->trace, &s->trace_env, sample->raw, sample->raw_size, &s->out);
	if (ev->fields & SCRIPT_MEMORY)
		add_memory(s, ev, p, r);
	if (ev->fields & SCRIPT_IP)
		add_code(s, ev, p, r);
	if (ev->fields & RARE_FIELDS)
		add_rare(s, ev, p, r);
	buf_addch(&s->out, '\n');
}
