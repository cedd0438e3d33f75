/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/stop.h"
#include "view/script.h"
#include "capture/tracepoint.h"
#include "cli/profile_args.h"

struct evlist_args {
	const char *input;
	bool details;
	bool freq;
	bool group;
	bool trace_fields;
	bool ignored;
};

#define AT(field) .offset = offsetof(struct evlist_args, field)

/* -v is common to all commands: here it means the attributes. */
static const struct opt evlist_options[] = {
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE", .group = "Input",
	  .help = "the recording to read; - is stdin (default fathom.data, else perf.data)" },
	{ .name = "details",
	  .type = OPT_FLAG,
	  AT(details),
	  .help = "all attributes of each event (also -v)" },
	{ 'F', "freq", OPT_FLAG, AT(freq), .help = "the frequency or period of each event" },
	{ 'g', "group", OPT_FLAG, AT(group), .help = "events of a group on one line" },
	{ .name = "trace-fields",
	  .type = OPT_FLAG,
	  AT(trace_fields),
	  .help = "the fields of tracepoints" },
	{ 'f', "force", OPT_FLAG, AT(ignored), .flags = OPT_HIDDEN,
	  .help = "accepted for compatibility with perf" },
	OPT_END,
};

/* "trace_fields: a,b,c" */
static void add_trace_fields(const struct recording *r, const struct recording_event *ev,
			     const char *before, struct buf *b)
{
	const struct recording_format *f;
	struct tracepoint_format format;
	const char *between = "";

	if (ev->attr.type != PERF_TYPE_TRACEPOINT) {
		buf_addf(b, "%s (not a tracepoint)", before);
		return;
	}
	f = recording_info_format(recording_info(r), ev->attr.config);
	if (!f || tracepoint_format_parse(f->text, f->text_size, &format, NULL) < 0)
		return;
	buf_addf(b, "%s trace_fields: ", before);
	vec_each(field, &format.fields) {
		if (field->is_common)
			continue;
		buf_addf(b, "%s%s", between, field->name);
		between = ",";
	}
	tracepoint_format_release(&format);
}

static void add_group(const struct recording *r, u32 leader, struct buf *b)
{
	const struct recording_event *ev = recording_event(r, leader);
	const char *between = "";

	buf_addch(b, '{');
	for (u32 i = leader; i < leader + ev->n_members && i < recording_n_events(r); i++) {
		buf_addf(b, "%s%s", between, recording_event(r, i)->name);
		between = ",";
	}
	buf_addch(b, '}');
}

static void add_event(const struct recording *r, u32 index, const struct evlist_args *a,
		      struct buf *b)
{
	const struct recording_event *ev = recording_event(r, index);

	if (a->group && ev->leader != index)
		return;
	if (a->group && ev->n_members > 1)
		add_group(r, index, b);
	else
		buf_addstr(b, ev->name);
	if (a->details)
		script_attr(&ev->attr, ": ", ": ", b);
	else if (a->freq)
		buf_addf(b, ": %s=%llu", ev->attr.freq ? "sample_freq" : "sample_period",
			 (unsigned long long)ev->attr.sample_freq);
	if (a->trace_fields)
		add_trace_fields(r, ev, a->details || a->freq ? "," : ":", b);
	buf_addch(b, '\n');
}

/* For programs: a table. */
static void add_table(const struct recording *r, struct result *result)
{
	static const struct column columns[] = {
		{ .key = "event", .title = "EVENT", .type = VALUE_TEXT },
		{ .key = "type", .title = "TYPE", .type = VALUE_COUNT },
		{ .key = "config", .title = "CONFIG", .type = VALUE_COUNT },
		{ .key = "frequency", .title = "FREQUENCY", .type = VALUE_COUNT },
		{ .key = "period", .title = "PERIOD", .type = VALUE_COUNT },
		{ .key = "attributes", .title = "ATTRIBUTES", .type = VALUE_TEXT },
	};
	struct table *t = result_table(result, "events", NULL, columns, ARRAY_SIZE(columns));

	for (u32 i = 0; i < recording_n_events(r); i++) {
		const struct recording_event *ev = recording_event(r, i);
		const struct perf_event_attr *a = &ev->attr;
		_cleanup_buf_ struct buf text = BUF_INIT;
		struct row *row = table_row(result, t);

		script_attr(a, "", ": ", &text);
		row->cells[0] = value_text(result, ev->name);
		row->cells[1] = value_u(VALUE_COUNT, a->type);
		row->cells[2] = value_u(VALUE_COUNT, a->config);
		row->cells[3] = value_u(VALUE_COUNT, a->freq ? a->sample_freq : 0);
		row->cells[4] = value_u(VALUE_COUNT, a->freq ? 0 : a->sample_period);
		row->cells[5] = value_text(result, buf_str(&text));
	}
}

static int show_events(struct context *ctx, struct evlist_args *a, const struct recording *r)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct result result;
	int ret;

	a->details |= ctx->common.verbose > 0;
	if (cli_is_machine(ctx)) {
		result_init(&result, "evlist");
		add_table(r, &result);
		ret = cli_show(ctx, &result);
		result_release(&result);
		return ret;
	}
	for (u32 i = 0; i < recording_n_events(r); i++)
		add_event(r, i, a, &text);
	return cli_print(ctx, &text);
}

static int evlist_run(struct context *ctx, void *args)
{
	struct evlist_args *a = args;
	struct recording *r = NULL;
	int ret = profile_args_input(ctx, &a->input);

	if (ret)
		return ret;
	if (!a->input)
		ret = profile_default_input(&a->input, &ctx->err);
	stop_at_once();
	if (ret >= 0)
		ret = recording_open(a->input, &r, &ctx->err);
	if (ret >= 0)
		ret = show_events(ctx, a, r);
	recording_free(r);
	return ret;
}

static const struct example evlist_examples[] = {
	{ "fathom evlist", "the events of fathom.data" },
	{ "fathom evlist -v -i perf.data", "with all their attributes" },
	{ 0 },
};

const struct command cmd_evlist = {
	.name = "evlist",
	.summary = "the events of a recording",
	.description = "Lists the events that a recording holds, with -v all attributes with which "
		       "they were opened.",
	.question = Q_LOOK,
	.options = evlist_options,
	.args_size = sizeof(struct evlist_args),
	.operands = "[FILE]",
	.max_operands = 1,
	.examples = evlist_examples,
	.see_also = "fathom-record fathom-script",
	.run = evlist_run,
};
