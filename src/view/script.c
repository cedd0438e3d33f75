/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/script_state.h"

#include "base/hash.h"
#include "profile/names.h"
#include "symbol/symbol.h"

#include <fnmatch.h>

/* --- filters ------------------------------------------------------------------------------- */

static bool matches_any(const char *globs, const char *name)
{
	_cleanup_free_ char *copy = xstrdup(globs);
	char *save = NULL;

	for (char *g = strtok_r(copy, ",", &save); g; g = strtok_r(NULL, ",", &save))
		if (fnmatch(g, name, 0) == 0)
			return true;
	return false;
}

bool script_name_passes(struct script *s, const char *globs, u32 which, const char *name)
{
	u64 *known;

	if (!globs)
		return true;
	/* names live as long as the run: the address stands for the name */
	known = map_at(&s->names_pass, hash_mix(which, (u64)(uintptr_t)name));
	if (!*known)
		*known = matches_any(globs, name) ? 1 : 2;
	return *known == 1;
}

static bool id_passes(const range_list *list, u64 id)
{
	return !list || !list->len || ranges_contain(list, id);
}

static bool time_passes(struct script *s, u64 time)
{
	const struct script_opts *o = s->opts;
	u64 base;

	if (!o->time_from && !o->time_to)
		return true;
	if (!s->first_time)
		s->first_time = time;
	base = o->time_relative ? s->first_time : 0;
	if (o->time_from && time < base + o->time_from)
		return false;
	return !o->time_to || time <= base + o->time_to;
}

static bool code_passes(struct script *s, const struct record *r)
{
	const struct sample *sample = r->sample;
	const struct place *place;
	enum address_mode mode = machine_mode(r);

	if (!s->opts->dsos && !s->opts->symbols)
		return true;
	place = machine_place(&s->machine, machine_process(&s->machine, (s32)sample->pid), mode,
			      sample->ip, false);
	return script_name_passes(s, s->opts->dsos, 1, place->dso ? place->dso : "[unknown]") &&
	       script_name_passes(s, s->opts->symbols, 2, place->name ? place->name : "[unknown]");
}

static bool passes(struct script *s, const struct record *r, const struct script_event *ev)
{
	const struct script_opts *o = s->opts;
	const struct sample *sample = r->sample;

	if (!ev->wanted || !ev->fields || !time_passes(s, sample->time) ||
	    !id_passes(o->pids, sample->pid) || !id_passes(o->tids, sample->tid) ||
	    !id_passes(o->cpus, sample->cpu))
		return false;
	if (o->comms) {
		u32 comm = machine_comm(&s->machine, (s32)sample->pid, (s32)sample->tid);

		if (!script_name_passes(s, o->comms, 0, machine_str(&s->machine, comm)))
			return false;
	}
	return code_passes(s, r);
}

/* --- events -------------------------------------------------------------------------------- */

static bool is_page_fault(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && (a->config == PERF_COUNT_SW_PAGE_FAULTS ||
						 a->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
						 a->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

static size_t name_width(const struct recording *r)
{
	size_t width = 0;

	for (u32 i = 0; i < recording_n_events(r); i++)
		width = MAX(width, strlen(recording_event(r, i)->name));
	return width;
}

static struct tracefield *trace_of(struct script *s, const struct perf_event_attr *a)
{
	const struct recording_format *f = NULL;
	struct tracefield *t = NULL;

	if (a->type == PERF_TYPE_TRACEPOINT)
		f = recording_info_format(recording_info(s->recording), a->config);
	if (f)
		tracefield_new(f->text, f->text_size, &t, NULL);
	return t;
}

static void event_ready(struct script *s, u32 index, struct script_event *ev)
{
	const struct recording_event *re = recording_event(s->recording, index);
	const struct perf_event_attr *a = &re->attr;
	u64 copy = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	ev->ready = true;
	ev->wanted = !s->opts->event || matches_any(s->opts->event, re->name);
	ev->type = (u8)script_type_of(a->type);
	ev->fields = s->fields.types[ev->type].fields;
	ev->chain = a->sample_type & PERF_SAMPLE_CALLCHAIN && !s->opts->no_chains;
	ev->tight = ev->chain && ev->fields & SCRIPT_IP;
	ev->copied = (a->sample_type & copy) == copy;
	ev->name = xasprintf("%*s: ", (int)name_width(s->recording), re->name);
	ev->name_len = strlen(ev->name);
	ev->period = a->sample_period;
	ev->names_addr = is_page_fault(a);
	ev->bpf_output = a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_BPF_OUTPUT;
	ev->trace = trace_of(s, a);
}

/* Made on first use. NULL: the event does not exist. */
static const struct script_event *event_of(struct script *s, u32 index)
{
	struct script_event *ev;

	if (index < s->events.len && s->events.items[index].ready)
		return &s->events.items[index];
	if (index >= recording_n_events(s->recording))
		return NULL;
	while (s->events.len <= index)
		vec_new(&s->events);
	ev = &s->events.items[index];
	event_ready(s, index, ev);
	return ev;
}

/* --- what tracepoints refer to ------------------------------------------------------------- */

static const char *kernel_symbol(void *ctx, u64 address, u64 *ret_start)
{
	struct script *s = ctx;
	struct symbol symbol;

	if (!symbols_kernel(s->machine.symbols, address, &symbol, NULL))
		return NULL;
	*ret_start = symbol.start;
	return symbol.name;
}

static const char *kernel_string(void *ctx, u64 address)
{
	struct script *s = ctx;

	return kernel_strings_get(&s->strings, s->recording, address);
}

/* --- the run ------------------------------------------------------------------------------- */

static int flush(struct script *s)
{
	int r = s->out.len ? s->write(s->write_ctx, s->out.data, s->out.len) : 0;

	buf_reset(&s->out);
	return r;
}

static int on_record(const struct record *r, void *ctx)
{
	struct script *s = ctx;
	const struct script_event *ev;

	if (r->type == PERF_RECORD_SAMPLE) {
		ev = event_of(s, r->event);
		if (ev && passes(s, r, ev))
			script_sample(s, r, ev);
	} else {
		machine_record(&s->machine, r);
		if (s->opts->show) {
			ev = event_of(s, r->event == RECORD_NO_EVENT ? 0 : r->event);
			if (ev && ev->fields)
				script_side(s, r, ev);
		}
	}
	return s->out.len >= SCRIPT_FLUSH ? flush(s) : 0;
}

static bool any_chain(const struct recording *r)
{
	for (u32 i = 0; i < recording_n_events(r); i++)
		if (recording_event(r, i)->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
			return true;
	return false;
}

static void script_release(struct script *s)
{
	vec_each(ev, &s->events) {
		free(ev->name);
		tracefield_free(ev->trace);
	}
	vec_release(&s->events);
	vec_release(&s->places);
	map_release(&s->other_places);
	map_release(&s->names_pass);
	kernel_strings_release(&s->strings);
	buf_release(&s->texts);
	buf_release(&s->out);
	stackcopy_release(&s->stacks);
	machine_release(&s->machine);
}

static void script_init(struct script *s, struct recording *r, struct symbols *symbols,
			const struct script_opts *opts)
{
	const struct recording_info *info = recording_info(r);
	bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	machine_init(&s->machine, symbols);
	machine_build_ids(&s->machine, info);
	s->recording = r;
	s->opts = opts;
	s->fields = opts->fields;
	vec_new(&s->places);
	s->trace_env = (struct tracefield_env){
		.swap = info->has_tracing && info->tracing_big_endian != big,
		.long_size = info->tracing_long_size,
		.ctx = s,
		.symbol = kernel_symbol,
		.string = kernel_string,
	};
	profile_import_names(symbols, r);
}

int script_run(struct recording *r, const struct script_opts *opts, script_write_fn write,
	       void *ctx, struct err *e)
{
	struct symbols *symbols = symbols_new(NULL);
	struct script s = { .write = write, .write_ctx = ctx };
	int ret;

	script_init(&s, r, symbols, opts);
	ret = symbols_guest_open(symbols, opts->guest_kallsyms, opts->guest_modules, e);
	if (ret >= 0)
		ret = script_fields_fit(&s.fields, r, !opts->no_chains && any_chain(r), e);
	if (ret >= 0)
		ret = recording_replay(r, on_record, &s, e);
	if (ret == 0)
		ret = flush(&s);
	script_release(&s);
	symbols_free(symbols);
	return ret;
}
