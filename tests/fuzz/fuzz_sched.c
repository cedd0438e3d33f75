/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings from anywhere, read as the scheduler's: formats, fields, order, and all that is made
 * of them. */
#include "view/sched_lines.h"

#include "analysis/sched_perf.h"
#include "recording/recording.h"
#include "view/timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct all {
	struct sched_latency *latency;
	struct sched_perf *perf;
	struct sched_timehist *timehist;
	struct sched_map *map;
	struct sched_summary *summary;
	struct sched_lines text, json;
};

static int on_turn(void *ctx, const struct sched_turn *t)
{
	struct all *all = ctx;

	sched_lines_turn(&all->text, t);
	sched_lines_turn(&all->json, t);
	return 0;
}

static int on_wake(void *ctx, const struct sched_wake *w)
{
	struct all *all = ctx;

	sched_lines_wake(&all->text, w);
	sched_lines_wake(&all->json, w);
	return 0;
}

static int on_move(void *ctx, const struct sched_move *m)
{
	struct all *all = ctx;

	sched_lines_move(&all->text, m);
	sched_lines_move(&all->json, m);
	return 0;
}

static int on_events(void *ctx, const struct sched_event *ev, size_t n)
{
	struct all *all = ctx;

	sched_latency_events(all->latency, ev, n);
	sched_perf_events(all->perf, ev, n);
	sched_timehist_events(all->timehist, ev, n);
	sched_map_events(all->map, ev, n);
	sched_summary_events(all->summary, ev, n);
	return 0;
}

static void show(struct all *all)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	const struct timeline picture = { .map = all->map,
					  .marks = &(struct marks){ 0 },
					  .kinds = &(const struct sched_kinds){ .host = NULL },
					  .file = "x" };
	struct result r;

	result_init(&r, "sched");
	(void)sched_latency_result(all->latency, NULL, true, 0, &r, NULL);
	sched_perf_text(all->perf, &out);
	sched_timehist_result(all->timehist, 0, &r);
	sched_map_finish(all->map);
	sched_map_text(all->map, 0, &out);
	timeline_svg(&picture, false, &out);
	sched_map_result(all->map, 0, &r);
	sched_summary_result(all->summary, 0, 80, &r);
	result_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* run times folded or not: two ways through the reader */
	const struct sched_filter filter = { .fold_runtime = size & 1 };
	const struct sched_lines_more more = { .state = true, .next = true, .cpus = true };
	const struct sched_perf_args perf_args = { .one_cpu = size & 2 };
	struct sched_names names = { 0 };
	struct err e = ERR_INIT;
	struct recording *r;
	struct all all;

	if (recording_open_memory(data, size, &r, &e) == 0) {
		all.latency = sched_latency_new(&names, NULL);
		all.perf = sched_perf_new(&names, &perf_args);
		all.timehist = sched_timehist_new(&names, NULL, false, on_turn, on_wake, &all);
		sched_timehist_moves(all.timehist, on_move);
		sched_lines_init(&all.text, &names, SCHED_LINES_TEXT, &more);
		sched_lines_init(&all.json, &names, SCHED_LINES_JSON, NULL);
		all.map = sched_map_new(&names, NULL);
		all.summary = sched_summary_new(&names, NULL);
		(void)sched_replay(r, &filter, &names, on_events, &all, &e);
		show(&all);
		sched_latency_free(all.latency);
		sched_perf_free(all.perf);
		sched_timehist_free(all.timehist);
		sched_lines_release(&all.text);
		sched_lines_release(&all.json);
		sched_map_free(all.map);
		sched_summary_free(all.summary);
		recording_free(r);
	}
	sched_names_release(&names);
	err_release(&e);
	return 0;
}
