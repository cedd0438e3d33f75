/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/annotate_text.h"

#include "base/fmt.h"

enum { NAME_WIDTH = 6, HOT_PERCENT = 5, WARM_PERCENT = 1 };

/* Percent: perf names no place below. */
#define PERF_LEAST 0.5

/* Text of names, sources and operands: nothing of it may steer a terminal. */
static void add_clean(struct buf *out, const char *text)
{
	fmt_clean(out, text, strlen(text));
}

/* A source line keeps its indent, with tabs of eight columns. */
static void add_source_line(struct buf *out, const char *text)
{
	size_t column = 0;

	for (; *text == ' ' || *text == '\t'; text++) {
		size_t n = *text == '\t' ? 8 - column % 8 : 1;

		buf_addf(out, "%*s", (int)n, "");
		column += n;
	}
	add_clean(out, text);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* As objdump -d pads them: seven bytes and a gap. */
static void add_bytes(const struct listing *l, const struct insn *in, struct buf *out)
{
	enum { WIDTH = 24 };
	size_t at = (size_t)(in->address - l->address - l->from), from = out->len;

	for (size_t i = 0; i < in->size && at + i < l->code.len; i++)
		buf_addf(out, "%02x ", (u8)l->code.data[at + i]);
	if (out->len - from < WIDTH)
		buf_fill(out, ' ', WIDTH - (out->len - from));
}

static void add_insn(const struct listing *l, const struct listing_line *line, bool raw,
		     struct buf *out)
{
	const struct insn *in = &line->insn;

	if (raw)
		add_bytes(l, in, out);
	buf_addf(out, "%-*s", *in->operands || line->callee ? NAME_WIDTH : 0, in->name);
	if (in->has_target)
		buf_addf(out, " %llx", (unsigned long long)in->target);
	else if (*in->operands) {
		buf_addch(out, ' ');
		add_clean(out, in->operands);
	}
	if (line->callee) {
		buf_addstr(out, " <");
		add_clean(out, line->callee);
		if (line->callee_offset)
			buf_addf(out, "+0x%llx", (unsigned long long)line->callee_offset);
		buf_addch(out, '>');
	} else if (in->has_target && in->target - l->address < l->function->size) {
		buf_addstr(out, " <");
		add_clean(out, l->function->name);
		buf_addf(out, "+0x%llx>", (unsigned long long)(in->target - l->address));
	}
}

static bool is_event_shown(const struct hits *h, const struct annotate_text *o, size_t event)
{
	return h->events[event].name && (o->group || event == o->event);
}

/* --- perf's ---------------------------------------------------------------------------------- */

static void perf_heading(const struct listing *l, const struct hits *h,
			 const struct annotate_text *o, struct buf *out)
{
	size_t from = out->len, n;
	const char *between = "";

	buf_addstr(out, " Percent |\tSource code & Disassembly of ");
	add_clean(out, l->function->dso ? last_part(l->function->dso) : "[unknown]");
	buf_addstr(out, " for ");
	for (size_t i = 0; i < h->n_events; i++) {
		if (!is_event_shown(h, o, i))
			continue;
		buf_addf(out, "%s%s", between, h->events[i].name);
		between = ", ";
	}
	buf_addf(out, " (%llu samples, percent: local period)\n",
		 (unsigned long long)l->function->samples[o->event]);
	/* the tab counts as perf counts it */
	n = out->len - from + 6;
	for (size_t i = 0; i < n; i++)
		buf_addch(out, '-');
	buf_addch(out, '\n');
}

static void perf_blank(const struct hits *h, const struct annotate_text *o, struct buf *out)
{
	for (size_t i = 0; i < h->n_events; i++)
		if (is_event_shown(h, o, i))
			buf_addstr(out, "        ");
	buf_addstr(out, " : ");
}

static void perf_source(const struct listing_line *line, const struct hits *h,
			struct source_files *files, const struct annotate_text *o, struct buf *out)
{
	const char *text = source_files_line(files, line->file, line->line);

	perf_blank(h, o, out);
	if (!text) {
		add_clean(out, line->file);
		buf_addf(out, ":%u\n", line->line);
	} else {
		buf_addf(out, "%-5u", line->line);
		add_source_line(out, text);
		buf_addch(out, '\n');
	}
}

static void perf_place(const char *file, u32 line, const struct annotate_text *o, struct buf *out)
{
	add_clean(out, o->paths ? file : last_part(file));
	buf_addf(out, ":%u", line);
}

/* The lines of all instructions with more than half a percent, as perf's -l has them. */
static void perf_summary(const struct listing *l, const struct annotate_text *o, struct buf *out)
{
	line_sums sums = { 0 };

	annotate_line_sums(l, o->event, PERF_LEAST, &sums);
	buf_addstr(out, "\nSorted summary for file ");
	add_clean(out, l->function->dso ? l->function->dso : "[unknown]");
	buf_addstr(out, "\n----------------------------------------------\n\n");
	vec_each(sum, &sums) {
		u64 all = l->function->weight[o->event];

		buf_addf(out, " %7.2f ", all ? 100.0 * (double)sum->weight / (double)all : 0);
		perf_place(sum->file, sum->line, o, out);
		buf_addch(out, '\n');
	}
	if (!sums.len)
		buf_addf(out, " Nothing higher than %.1f%%\n", PERF_LEAST);
	vec_release(&sums);
}

/* After an instruction, unless the last one that has samples is of the same line. */
static void perf_mark(const struct listing *l, const struct listing_line *line,
		      const struct annotate_text *o, const struct listing_line **last,
		      struct buf *out)
{
	if (!o->lines || !line->file || annotate_percent(l, line, o->event) <= PERF_LEAST)
		return;
	if (!*last || (*last)->file != line->file || (*last)->line != line->line) {
		buf_addstr(out, " // ");
		perf_place(line->file, line->line, o, out);
	}
	*last = line;
}

static void perf_line(const struct listing *l, const struct listing_line *line,
		      const struct hits *h, const struct annotate_text *o,
		      const struct listing_line **last, struct buf *out)
{
	for (size_t i = 0; i < h->n_events; i++) {
		if (!is_event_shown(h, o, i))
			continue;
		if (o->counts)
			buf_addf(out, "%8llu", (unsigned long long)line->samples[i]);
		else
			buf_addf(out, "%8.2f", annotate_percent(l, line, i));
	}
	buf_addf(out, " : %6llx:   ", (unsigned long long)line->insn.address);
	add_insn(l, line, o->raw, out);
	perf_mark(l, line, o, last, out);
	buf_addch(out, '\n');
}

static bool is_new_place(const struct listing *l, size_t i)
{
	const struct listing_line *line = &l->lines.items[i];

	return line->file && (!i || line->file != l->lines.items[i - 1].file ||
			      line->line != l->lines.items[i - 1].line);
}

void annotate_text_perf(const struct listing *l, const struct hits *h, struct source_files *files,
			const struct annotate_text *o, struct buf *out)
{
	const struct listing_line *last = NULL;

	if (o->lines)
		perf_summary(l, o, out);
	perf_heading(l, h, o, out);
	for (int i = 0; i < 3; i++) {
		perf_blank(h, o, out);
		buf_addch(out, '\n');
	}
	perf_blank(h, o, out);
	buf_addstr(out, "Disassembly of section .text:\n");
	perf_blank(h, o, out);
	buf_addch(out, '\n');
	perf_blank(h, o, out);
	buf_addf(out, "%016llx <", (unsigned long long)l->address);
	add_clean(out, l->function->name);
	buf_addstr(out, ">:\n");
	for (size_t i = 0; i < l->lines.len; i++) {
		if (!o->no_source && is_new_place(l, i))
			perf_source(&l->lines.items[i], h, files, o, out);
		perf_line(l, &l->lines.items[i], h, o, &last, out);
	}
	buf_addstr(out, "\n\n");
}

/* --- ours ------------------------------------------------------------------------------------ */

static void paint(const struct annotate_text *o, const char *code, struct buf *out)
{
	if (o->color)
		buf_addf(out, "\033[%sm", code);
}

static void add_share(const struct annotate_text *o, double percent, u64 samples, struct buf *out)
{
	if (!samples) {
		buf_addf(out, "%7s ", "");
		return;
	}
	paint(o, percent >= HOT_PERCENT ? "1;31" : percent >= WARM_PERCENT ? "33" : "0", out);
	if (o->counts)
		buf_addf(out, "%7llu ", (unsigned long long)samples);
	else
		buf_addf(out, "%6.2f%% ", percent);
	paint(o, "0", out);
}

/* From the outermost lane to the innermost, which is next to the instruction. */
static void add_arrows(const struct annotate_arrows *a, size_t line, const struct annotate_text *o,
		       struct buf *out)
{
	bool ends = false;
	u8 end = ARROW_NONE;

	for (size_t lane = a->lanes; lane-- > 0;) {
		u8 part = a->parts[line * ANNOTATE_LANES + lane];
		bool top = a->top[line * ANNOTATE_LANES + lane];

		if (part == ARROW_FROM || part == ARROW_TO) {
			buf_addstr(out, o->unicode ? (top ? "╭" : "╰") : (top ? "/" : "\\"));
			end = part;
			ends = true;
		} else if (part == ARROW_THROUGH) {
			buf_addstr(out, o->unicode ? (ends ? "┼" : "│") : (ends ? "+" : "|"));
		} else {
			buf_addstr(out, !ends ? " " : o->unicode ? "─" : "-");
		}
	}
	if (!a->lanes)
		return;
	if (end == ARROW_TO)
		buf_addstr(out, o->unicode ? "▸ " : "> ");
	else
		buf_addstr(out, end == ARROW_FROM ? (o->unicode ? "─ " : "- ") : "  ");
}

static void add_place(const struct listing_line *line, struct source_files *files,
		      const struct hits *h, const struct annotate_text *o, struct buf *out)
{
	const char *text = source_files_line(files, line->file, line->line);

	for (size_t i = 0; i < h->n_events; i++)
		if (is_event_shown(h, o, i))
			buf_addf(out, "%8s", "");
	paint(o, "36", out);
	add_clean(out, last_part(line->file));
	buf_addf(out, ":%u", line->line);
	for (u32 i = 0; i < line->depth; i++) {
		buf_addstr(out, i ? " < " : "  [inlined: ");
		add_clean(out, line->inlined[i] ? line->inlined[i] : "?");
	}
	if (line->depth)
		buf_addch(out, ']');
	paint(o, "0", out);
	if (text) {
		buf_addstr(out, "  ");
		add_clean(out, text + strspn(text, " \t"));
	}
	buf_addch(out, '\n');
}

static void add_title(const struct listing *l, const struct hits *h, const struct annotate_text *o,
		      struct buf *out)
{
	const struct hits_function *f = l->function;

	paint(o, "1", out);
	add_clean(out, f->name);
	paint(o, "0", out);
	buf_addstr(out, "  ");
	add_clean(out, f->dso ? f->dso : "[unknown]");
	buf_addch(out, '\n');
	for (size_t i = 0; i < h->n_events; i++) {
		if (!is_event_shown(h, o, i))
			continue;
		fmt_count(out, f->samples[i]);
		buf_addf(out, " samples of %s, %.2f%% of all\n", h->events[i].name,
			 h->events[i].weight
				 ? 100.0 * (double)f->weight[i] / (double)h->events[i].weight
				 : 0);
	}
}

void annotate_text(const struct listing *l, const struct hits *h, struct source_files *files,
		   const struct annotate_text *o, struct buf *out)
{
	struct annotate_arrows arrows;

	annotate_arrows_init(&arrows, l);
	add_title(l, h, o, out);
	buf_addch(out, '\n');
	for (size_t i = 0; i < l->lines.len; i++) {
		const struct listing_line *line = &l->lines.items[i];

		if (!o->no_source && is_new_place(l, i))
			add_place(line, files, h, o, out);
		for (size_t k = 0; k < h->n_events; k++)
			if (is_event_shown(h, o, k))
				add_share(o, annotate_percent(l, line, k), line->samples[k], out);
		buf_addf(out, "%8llx ", (unsigned long long)line->insn.address);
		add_arrows(&arrows, i, o, out);
		add_insn(l, line, o->raw, out);
		buf_addch(out, '\n');
	}
	if (arrows.left_out) {
		buf_addch(out, '\n');
		buf_addf(out, "%llu jumps have no arrow\n", (unsigned long long)arrows.left_out);
	}
	annotate_arrows_release(&arrows);
}
