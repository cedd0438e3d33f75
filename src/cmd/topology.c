/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/topology.h"
#include "analysis/topology_layout.h"
#include "analysis/topology_result.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/stop.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "host/affinity.h"
#include "host/load.h"
#include "view/svg.h"
#include "view/term.h"
#include "view/topology_form.h"

enum { PICTURE_WIDTH = 120, XML_MOST = 256 << 20, MOMENTS_MOST = 600 };

struct topology_args {
	const char *from;
	const char *input;
	struct output_args output;
	bool boxes;
	bool no_devices;
	const char *processes;
	u64 live;
	bool live_given;
	u64 duration;
};

#define OPTION(letter, name_, type_, field, arg_, help_, ...) \
	OPT_ENTRY(struct topology_args, letter, name_, type_, field, arg_, help_, __VA_ARGS__)

static const char *const which_words[] = { "bound", "all", NULL };

static int parse_which(void *field, const char *text, struct err *e)
{
	if (!streq_any(text, which_words)) {
		err_set(e, EINVAL, "'%s' is not a choice of processes", text);
		err_hint(e, "use --ps or --ps=all");
		return -EINVAL;
	}
	*(const char **)field = text;
	return 0;
}

static const struct opt topology_options[] = {
	OPTION(0, "from", OPT_FILE, from, "DIR",
	       "a folder with a copy of sys/ and proc/ of another machine",
	       .conflicts = "input ps live"),
	OPTION('i', "input", OPT_FILE, input, "FILE", "hwloc's XML, as of lstopo",
	       .conflicts = "ps live"),
	OPTION(0, "boxes", OPT_FLAG, boxes, NULL, "boxes in the terminal, not an outline",
	       .alias = "ascii"),
	OPTION(0, "no-io", OPT_FLAG, no_devices, NULL, "no devices"),
	OPTION(0, "ps", OPT_CUSTOM, processes, "WHICH",
	       "processes that are bound to CPUs, or all with --ps=all", .implied = "bound",
	       .flags = OPT_OPTIONAL, .parse = parse_which, .choices = which_words),
	OPTION('l', "live", OPT_DURATION, live, "TIME",
	       "load on the boxes, updated live; a file gets those of --duration", .implied = "1s",
	       .flags = OPT_OPTIONAL, .given_offset = offsetof(struct topology_args, live_given),
	       .conflicts = "ps"),
	OPTION('d', "duration", OPT_DURATION, duration, "TIME",
	       "with --live: stop after this time; else at Ctrl-C"),
	{ .type = OPT_INCLUDE,
	  .include = output_options,
	  .offset = offsetof(struct topology_args, output) },
	OPT_END,
};

struct job {
	struct context *ctx;
	const struct topology_args *args;
	struct topo_tree tree;
	VEC(struct topo_load) loads;
};

static int read_tree(struct job *j)
{
	_cleanup_topology_ struct topology facts = TOPOLOGY_INIT;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct err *e = &j->ctx->err;
	int rc;

	if (!j->args->input) {
		rc = topology_read(&facts, j->args->from, TOPOLOGY_ALL, e);
		if (rc < 0 && j->args->from)
			err_hint(e, "--from takes a folder that holds sys/devices/system/cpu");
		if (rc >= 0)
			topo_build(&j->tree, &facts);
		return rc;
	}
	rc = io_read_file(j->args->input, XML_MOST, &text, e);
	if (rc >= 0)
		rc = topo_parse_xml(&j->tree, buf_str(&text), text.len, e);
	if (rc == -EINVAL)
		err_prefix(e, "'%s'", j->args->input);
	return rc;
}

/* --- pictures --------------------------------------------------------------------------------- */

static void draw_picture(struct job *j, struct buf *out)
{
	_cleanup_buf_ struct buf svg = BUF_INIT;
	struct topo_layout layout;
	_cleanup_buf_ struct buf title = BUF_INIT;

	topo_summary(&j->tree, &title);
	if (j->tree.model)
		buf_addf(&title, ": %s", j->tree.model);
	topo_layout_make(&layout, &j->tree, PICTURE_WIDTH, j->loads.len > 0, !j->args->no_devices);
	topology_form_svg(&layout, j->loads.items, j->loads.len, buf_str(&title), &svg);
	topo_layout_release(&layout);
	if (output_is(&j->args->output, "html"))
		svg_page(out, "Topology", &svg);
	else
		buf_add(out, svg.data, svg.len);
}

static void draw_boxes(struct job *j, const struct topo_load *load, bool color, struct buf *out)
{
	struct topo_layout layout;

	topo_layout_make(&layout, &j->tree, (u32)cli_width(j->ctx), load != NULL,
			 !j->args->no_devices);
	topology_form_boxes(&layout, load, term_unicode(), color, out);
	topo_layout_release(&layout);
}

static int write_file(struct job *j)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	if (output_is(&j->args->output, "xml"))
		topology_form_xml(&j->tree, &out);
	else if (output_is(&j->args->output, "txt") && j->args->boxes)
		draw_boxes(j, j->loads.len ? vec_last(&j->loads) : NULL, false, &out);
	else if (output_is(&j->args->output, "txt") || streq(j->args->output.path, "-"))
		topology_form_text(&j->tree, !j->args->no_devices, &out);
	else
		draw_picture(j, &out);
	return output_write(j->ctx, &j->args->output, &out);
}

/* --- live ------------------------------------------------------------------------------------- */

static void draw_live(struct job *j, const struct topo_load *load, bool screen)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	if (screen)
		buf_addstr(&out, "\033[H\033[2J");
	buf_addf(&out, "%.1f s\n", load->time);
	draw_boxes(j, load, cli_color(j->ctx), &out);
	(void)fwrite(out.data, 1, out.len, j->ctx->out);
	(void)fflush(j->ctx->out);
}

static int show_live(struct job *j, const struct topo_load *load)
{
	_cleanup_result_ struct result r = { 0 };

	result_init(&r, "topology");
	if (j->args->output.path)
		return 0; /* written at the end */
	if (!cli_is_machine(j->ctx)) {
		draw_live(j, load, isatty(fileno(j->ctx->out)));
		return 0;
	}
	topo_result(&j->tree, load, &r);
	return cli_show(j->ctx, &r);
}

static int watch(struct job *j)
{
	u64 step = j->args->live, begin = clock_mono_ns();
	u64 end = j->args->duration      ? begin + j->args->duration
		  : j->args->output.path ? begin + 10 * step
					 : UINT64_MAX;
	struct load_moment before, now;
	int rc = load_read(&before, &j->ctx->err);

	j->ctx->stream = true;
	if (j->args->output.path)
		cli_progress_watching(j->ctx, end - begin);
	while (rc >= 0 && !stop_wait(step) && j->loads.len < MOMENTS_MOST) {
		struct topo_load load;

		rc = load_read(&now, &j->ctx->err);
		if (rc < 0)
			break;
		topo_load_between(&load, &before, &now, begin);
		load_release(&before);
		before = now;
		rc = show_live(j, &load);
		if (j->args->output.path)
			vec_push(&j->loads, load);
		else
			topo_load_release(&load);
		if (clock_mono_ns() + step / 2 >= end)
			break;
	}
	cli_progress(j->ctx, "%s", "");
	load_release(&before);
	return rc;
}

/* --- all -------------------------------------------------------------------------------------- */

static int show_processes(struct job *j, struct result *r)
{
	struct affinity_list list;
	int rc = affinity_read(&list, &j->ctx->err);

	if (rc >= 0)
		topo_processes(&j->tree, &list, streq(j->args->processes, "all"), r);
	affinity_release(&list);
	return rc < 0 ? rc : cli_show(j->ctx, r);
}

static int show_tree(struct job *j)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	_cleanup_result_ struct result r = { 0 };

	result_init(&r, "topology");
	if (j->args->processes)
		return show_processes(j, &r);
	if (cli_is_machine(j->ctx)) {
		topo_result(&j->tree, NULL, &r);
		return cli_show(j->ctx, &r);
	}
	if (j->args->boxes)
		draw_boxes(j, NULL, cli_color(j->ctx), &out);
	else
		topology_form_text(&j->tree, !j->args->no_devices, &out);
	return cli_print(j->ctx, &out);
}

static int topology_run(struct context *ctx, void *args)
{
	struct job j = { .ctx = ctx, .args = args };
	int rc = output_check(ctx, &j.args->output, "svg html xml txt");

	if (rc == 0 && j.args->live_given && j.args->live < 100 * NSEC_PER_MSEC) {
		err_set(&ctx->err, EINVAL, "--live takes at least 100 ms");
		return EXIT_USAGE;
	}
	if (rc == 0)
		rc = read_tree(&j);
	if (rc == 0 && j.args->live_given)
		rc = watch(&j);
	if (rc == 0 && j.args->output.path)
		rc = write_file(&j);
	else if (rc == 0 && !j.args->live_given)
		rc = show_tree(&j);
	vec_each(load, &j.loads)
		topo_load_release(load);
	vec_release(&j.loads);
	topo_release(&j.tree);
	return rc;
}

static const struct example topology_examples[] = {
	{ "fathom topology", "packages, caches, cores, memory nodes and devices" },
	{ "fathom topology --boxes", "the same as boxes" },
	{ "fathom topology --live", "with the load of each CPU and memory node, each second" },
	{ "fathom topology -o machine.svg", "a picture" },
	{ "fathom topology --live -d 30s -o load.html", "a page that plays half a minute of load" },
	{ "fathom topology --ps", "processes that are bound to some CPUs" },
	{ "fathom topology -o machine.xml", "for hwloc: lstopo -i machine.xml" },
	{ 0 },
};

const struct command cmd_topology = {
	.name = "topology",
	.summary = "what the machine is built of, and how busy each part is",
	.description =
		"Shows packages, dies, caches, cores and their CPUs, memory nodes with sizes and "
		"distances, and the disks, network cards and graphics at their PCI bridges, as "
		"lstopo does. Files that end in svg and html get a picture, xml is hwloc's own "
		"form, which is read with -i, too.\n\n"
		"With --live each CPU has a bar of its utilisation and each memory node one of the "
		"memory in use; a file gets the moments of --duration (ten of them without it) and "
		"plays them. JSON has runnable threads, interrupts and allocated pages as well.\n\n"
		"Another machine can be checked from a copy of its sys/devices/system, "
		"sys/bus/pci, sys/class and proc/cpuinfo, proc/meminfo: --from DIR.",
	.question = Q_MACHINE,
	.options = topology_options,
	.args_size = sizeof(struct topology_args),
	.instead_of = "lstopo lstopo-no-graphics hwloc-ls hwloc-info lscpu numactl",
	.examples = topology_examples,
	.notes = "CPUs that are offline are counted, not drawn. Devices without hardware of their "
		 "own (loop devices, virtual network cards) are left out.",
	.see_also = "fathom-stat fathom-runqlen lstopo",
	.run = topology_run,
};
