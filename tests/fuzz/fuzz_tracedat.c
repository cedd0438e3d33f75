/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a page of the kernel's trace ring, and as a trace.dat file. */
#include "analysis/ftrace_graph.h"
#include "view/ftrace_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char entry[] =
	"name: funcgraph_entry\nID: 11\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";
static const char leave[] =
	"name: funcgraph_exit\nID: 10\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int depth;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n";

struct seen {
	struct ftrace_text *text;
	struct ftrace_graph *graph;
	u64 last;
};

static int on_event(void *ctx, const struct ftrace_event *ev)
{
	struct seen *s = ctx;

	if (ev->time < s->last)
		abort();
	s->last = ev->time;
	(void)ftrace_text_event(s->text, ev);
	return ftrace_graph_event(s->graph, ev);
}

static void walk(const struct tracedat *t, const uint8_t *page, size_t n)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct ftrace_reader *r = ftrace_reader_new(t);
	struct ftrace_text_opts opts = { .tail = true };
	struct profile p;
	struct seen s = { 0 };

	profile_init(&p);
	s.text = ftrace_text_new(r, &opts, &out);
	s.graph = ftrace_graph_new(r, &p);
	if (page) {
		ftrace_reader_add(r, 1, page, n);
		(void)ftrace_reader_flush(r, UINT64_MAX, on_event, &s);
	} else {
		(void)ftrace_reader_all(r, on_event, &s);
	}
	ftrace_text_end(s.text);
	ftrace_text_free(s.text);
	ftrace_graph_free(s.graph);
	ftrace_reader_free(r);
	profile_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tracedat t = TRACEDAT_INIT, made = TRACEDAT_INIT;

	if (tracedat_parse(&t, data, size, NULL) >= 0)
		walk(&t, NULL, 0);
	tracedat_release(&t);
	made.page = 4096;
	vec_push(&made.formats,
		 ((struct tracedat_format){ "ftrace", { entry, sizeof(entry) - 1 } }));
	vec_push(&made.formats,
		 ((struct tracedat_format){ "ftrace", { leave, sizeof(leave) - 1 } }));
	walk(&made, data, size);
	tracedat_release(&made);
	return 0;
}
