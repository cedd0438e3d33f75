/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which fields a line has: defaults by type of event, -F, and what the samples really carry. */
#include "view/script.h"

enum {
	CHAIN_FIELDS = SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO,
	BASE_FIELDS = SCRIPT_COMM | SCRIPT_TID | SCRIPT_CPU | SCRIPT_TIME | SCRIPT_EVENT,
	SAMPLE_FIELDS = BASE_FIELDS | CHAIN_FIELDS | SCRIPT_PERIOD,
	MEMORY_FIELDS = SCRIPT_ADDR | SCRIPT_DATA_SRC | SCRIPT_WEIGHT | SCRIPT_PHYS_ADDR |
			SCRIPT_DATA_PAGE_SIZE | SCRIPT_CODE_PAGE_SIZE,
};

struct field_name {
	const char *name;
	u64 field;
	u64 needs;         /* PERF_SAMPLE_*: any of these */
	const char *words; /* for the message */
};

static const struct field_name field_names[] = {
	{ "comm", SCRIPT_COMM, 0, NULL },
	{ "tid", SCRIPT_TID, PERF_SAMPLE_TID, "TID" },
	{ "pid", SCRIPT_PID, PERF_SAMPLE_TID, "TID" },
	{ "time", SCRIPT_TIME, PERF_SAMPLE_TIME, "TIME" },
	{ "cpu", SCRIPT_CPU, PERF_SAMPLE_CPU, "CPU" },
	{ "event", SCRIPT_EVENT, 0, NULL },
	{ "trace", SCRIPT_TRACE, 0, NULL },
	{ "ip", SCRIPT_IP, PERF_SAMPLE_IP, "IP" },
	{ "sym", SCRIPT_SYM, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, "IP" },
	{ "dso", SCRIPT_DSO, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, "IP" },
	{ "dsoff", SCRIPT_DSO | SCRIPT_DSOFF, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, "IP" },
	{ "addr", SCRIPT_ADDR, PERF_SAMPLE_ADDR, "ADDR" },
	{ "symoff", SCRIPT_SYMOFF, 0, NULL },
	{ "srcline", SCRIPT_SRCLINE, PERF_SAMPLE_IP, "IP" },
	{ "period", SCRIPT_PERIOD, 0, NULL },
	{ "iregs", SCRIPT_IREGS, PERF_SAMPLE_REGS_INTR, "IREGS" },
	{ "uregs", SCRIPT_UREGS, PERF_SAMPLE_REGS_USER, "UREGS" },
	{ "brstack", SCRIPT_BRSTACK, PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK" },
	{ "brstacksym", SCRIPT_BRSTACKSYM, PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK" },
	{ "brstackoff", SCRIPT_BRSTACKOFF, PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK" },
	{ "insn", SCRIPT_INSN, PERF_SAMPLE_IP, "IP" },
	{ "insnlen", SCRIPT_INSNLEN, PERF_SAMPLE_IP, "IP" },
	{ "data_src", SCRIPT_DATA_SRC, PERF_SAMPLE_DATA_SRC, "DATA_SRC" },
	{ "weight", SCRIPT_WEIGHT, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT" },
	{ "bpf-output", SCRIPT_BPF_OUTPUT, 0, NULL },
	{ "phys_addr", SCRIPT_PHYS_ADDR, PERF_SAMPLE_PHYS_ADDR, "PHYS_ADDR" },
	{ "misc", SCRIPT_MISC, 0, NULL },
	{ "tod", SCRIPT_TOD, PERF_SAMPLE_TIME, "TIME" },
	{ "data_page_size", SCRIPT_DATA_PAGE_SIZE, PERF_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE" },
	{ "code_page_size", SCRIPT_CODE_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE" },
	{ "cgroup", SCRIPT_CGROUP, PERF_SAMPLE_CGROUP, "CGROUP" },
	{ "flags", SCRIPT_FLAGS, 0, NULL },
	{ "ins_lat", SCRIPT_INS_LAT, PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT" },
	{ "retire_lat", SCRIPT_RETIRE_LAT, PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT" },
	/* of traces by hardware, of guests, of metrics: recordings of samples have nothing there */
	{ "synth", 0, 0, NULL },
	{ "callindent", 0, 0, NULL },
	{ "ipc", 0, 0, NULL },
	{ "metric", 0, 0, NULL },
	{ "machine_pid", 0, 0, NULL },
	{ "vcpu", 0, 0, NULL },
};

struct type_name {
	const char *name; /* NULL: cannot be named */
	u64 defaults;
	u64 invalid;
};

static const struct type_name type_names[SCRIPT_TYPES] = {
	[SCRIPT_HW] = { "hw", SAMPLE_FIELDS, SCRIPT_TRACE | SCRIPT_BPF_OUTPUT },
	[SCRIPT_SW] = { "sw", SAMPLE_FIELDS | SCRIPT_BPF_OUTPUT, SCRIPT_TRACE },
	[SCRIPT_TRACEPOINT] = { "trace", BASE_FIELDS | SCRIPT_TRACE, 0 },
	[SCRIPT_CACHE] = { NULL, SAMPLE_FIELDS, SCRIPT_TRACE | SCRIPT_BPF_OUTPUT },
	[SCRIPT_RAW] = { "raw", SAMPLE_FIELDS | MEMORY_FIELDS, SCRIPT_TRACE | SCRIPT_BPF_OUTPUT },
	[SCRIPT_BREAKPOINT] = { "break", SAMPLE_FIELDS, SCRIPT_TRACE | SCRIPT_BPF_OUTPUT },
	[SCRIPT_SYNTH] = { "synth", SAMPLE_FIELDS, SCRIPT_TRACE | SCRIPT_BPF_OUTPUT },
	[SCRIPT_OTHER] = { NULL, SAMPLE_FIELDS, SCRIPT_TRACE | SCRIPT_BPF_OUTPUT },
};

enum script_type script_type_of(u32 perf_type)
{
	return perf_type < PERF_TYPE_MAX ? (enum script_type)perf_type : SCRIPT_OTHER;
}

void script_fields_init(struct script_fields *f)
{
	*f = (struct script_fields){ 0 };
	for (size_t i = 0; i < SCRIPT_TYPES; i++)
		f->types[i].fields = type_names[i].defaults;
}

static int bad_field(const char *name, struct err *e)
{
	_cleanup_buf_ struct buf all = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(field_names); i++)
		buf_addf(&all, "%s%s", i ? ", " : "", field_names[i].name);
	err_set(e, EINVAL, "unknown field '%s'", name);
	err_hint(e, "the fields are %s", buf_str(&all));
	return -EINVAL;
}

static const struct field_name *find_field(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(field_names); i++)
		if (streq(field_names[i].name, name))
			return &field_names[i];
	return NULL;
}

static void change_type(struct script_type_fields *t, u64 field, char how)
{
	if (how == '-') {
		t->fields &= ~field;
		t->asked &= ~field;
	} else {
		t->fields |= field;
		t->asked |= field;
	}
	t->changed = true;
}

/* @type: -1 for all. */
static int change_field(struct script_fields *f, int type, const char *name, char how,
			struct err *e)
{
	const struct field_name *field = find_field(name);

	if (!field)
		return bad_field(name, e);
	for (int i = 0; i < SCRIPT_TYPES; i++) {
		if (type >= 0 && i != type)
			continue;
		if (!(type_names[i].invalid & field->field))
			change_type(&f->types[i], field->field, how);
		else if (type >= 0)
			return err_set(e, EINVAL, "events of type '%s' have no field '%s'",
				       type_names[i].name, name);
	}
	return 0;
}

static int parse_type(char **text, int *ret, struct err *e)
{
	char *colon = strchr(*text, ':');

	*ret = -1;
	if (!colon)
		return 0;
	*colon = '\0';
	for (int i = 0; i < SCRIPT_TYPES; i++)
		if (type_names[i].name && streq(type_names[i].name, *text))
			*ret = i;
	if (*ret < 0) {
		err_set(e, EINVAL, "unknown event type '%s'", *text);
		err_hint(e, "the types are hw, sw, trace, raw, break, synth");
		return -EINVAL;
	}
	*text = colon + 1;
	return 0;
}

static void clear_fields(struct script_fields *f, int type)
{
	for (int i = 0; i < SCRIPT_TYPES; i++)
		if (type < 0 || i == type)
			f->types[i] = (struct script_type_fields){ .changed = true };
}

int script_fields_parse(struct script_fields *f, const char *text, struct err *e)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *rest = copy, *name, *save = NULL, how;
	bool relative;
	int type, r;

	r = parse_type(&rest, &type, e);
	if (r < 0)
		return r;
	if (type < 0 && !*rest)
		return err_set(e, EINVAL, "no fields at all");
	relative = *rest == '+' || *rest == '-';
	if (!relative)
		clear_fields(f, type);
	for (name = strtok_r(rest, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		how = *name;
		if ((how == '+' || how == '-') != relative) {
			err_set(e, EINVAL, "'%s' mixes fields with changes of fields", text);
			err_hint(e, "write all with + or -, or none");
			return -EINVAL;
		}
		r = change_field(f, type, name + relative, relative ? how : '+', e);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- what the events carry ----------------------------------------------------------------- */

static int fit_event(struct script_type_fields *t, const struct recording_event *ev,
		     const struct recording *r, struct err *e)
{
	if (t->fields & SCRIPT_TRACE && !recording_info(r)->has_tracing) {
		if (ev->attr.type == PERF_TYPE_TRACEPOINT && t->asked & SCRIPT_TRACE)
			return err_set(e, EINVAL, "the recording has no formats of tracepoints");
		t->fields &= ~(u64)SCRIPT_TRACE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(field_names); i++) {
		const struct field_name *f = &field_names[i];

		if (!(t->fields & f->field) || !f->needs || ev->attr.sample_type & f->needs)
			continue;
		if (t->asked & f->field) {
			err_set(e, EINVAL, "samples of '%s' carry no %s: cannot show '%s'",
				ev->name, f->words, f->name);
			err_hint(e, "leave the field out with -F -%s", f->name);
			return -EINVAL;
		}
		t->fields &= ~f->field;
		if (f->field == SCRIPT_SYM)
			t->fields &= ~(u64)SCRIPT_SYMOFF;
	}
	if (t->fields & SCRIPT_SYMOFF && !(t->fields & SCRIPT_SYM))
		return err_set(e, EINVAL, "'symoff' needs the field 'sym'");
	return 0;
}

static bool has_chain(const struct recording_event *ev)
{
	return ev->attr.sample_type & PERF_SAMPLE_CALLCHAIN;
}

/* An event that only carries records of mappings and the like: no samples. */
static bool is_dummy(const struct recording_event *ev)
{
	return ev->attr.type == PERF_TYPE_SOFTWARE && ev->attr.config == PERF_COUNT_SW_DUMMY;
}

int script_fields_fit(struct script_fields *f, const struct recording *r, bool chains,
		      struct err *e)
{
	struct script_type_fields *trace = &f->types[SCRIPT_TRACEPOINT];
	bool seen[SCRIPT_TYPES] = { 0 }, chain = false;
	int ret = 0;

	for (u32 i = 0; i < recording_n_events(r) && ret >= 0; i++) {
		const struct recording_event *ev = recording_event(r, i);
		enum script_type type = script_type_of(ev->attr.type);

		if (is_dummy(ev))
			continue;
		/* as in perf, the first event of a type speaks for all of them */
		if (!seen[type] && f->types[type].fields)
			ret = fit_event(&f->types[type], ev, r, e);
		seen[type] = true;
		chain |= type == SCRIPT_TRACEPOINT && has_chain(ev);
	}
	/* tracepoints show code only when it was recorded how they were reached */
	if (chain && chains && !trace->changed)
		trace->fields |= CHAIN_FIELDS;
	return ret;
}
