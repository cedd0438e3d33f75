/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched_session FILE SECONDS [PID]: a recording of waits with wakers and chains, and nothing else.
 * What 'fathom record --off-cpu' adds to a recording is proved with it against perf.
 */
#include <time.h>

#include "base/clock.h"
#include "capture/synth.h"
#include "waits/session.h"

static struct recording_writer *writer;

static int sink(void *ctx, const void *bytes, size_t n)
{
	(void)ctx;
	return recording_writer_add(writer, bytes, n, NULL);
}

static int fail(const struct err *e)
{
	fprintf(stderr, "%s\n", e->what ? e->what : "failed");
	return 1;
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct waits_session *s = NULL;
	range_list pids = { 0 };
	struct waits_session_opts opts = { .wakers = true, .chains = true };
	struct writer_event events[WAIT_EVENTS];

	if (argc < 3)
		return 2;
	if (argc > 3 && parse_ranges(argv[3], 1 << 30, &pids, &e) < 0)
		return fail(&e);
	opts.engine.pids = &pids;
	if (waits_session_new(&s, &opts, &e) < 0)
		return fail(&e);
	struct writer_options w = { .path = argv[1], .version = "fathom test" };

	if (recording_writer_new(&w, &writer, &e) < 0)
		return fail(&e);
	size_t n = waits_session_events(s, events);

	for (size_t i = 0; i < n; i++) {
		if (recording_writer_event(writer, &events[i], &e) < 0)
			return fail(&e);
	}
	recording_writer_clock(writer, CLOCK_MONOTONIC);
	if (recording_writer_start(writer, &e) < 0)
		return fail(&e);
	struct synth synth = { .sample_type = events[0].attr.sample_type, .sink = sink };

	synth_kernel(&synth, NULL);
	synth_processes(&synth, NULL);
	if (waits_session_start(s, &e) < 0)
		return fail(&e);
	u64 end = clock_mono_ns() + (u64)(strtod(argv[2], NULL) * 1e9);

	while (clock_mono_ns() < end) {
		clock_sleep_ns(50 * NSEC_PER_MSEC);
		waits_session_read(s, sink, NULL);
		recording_writer_round(writer, NULL);
	}
	waits_session_stop(s, NULL);
	waits_session_read(s, sink, NULL);
	if (recording_writer_finish(writer, &e) < 0)
		return fail(&e);
	printf("%llu samples\n", (unsigned long long)waits_session_samples(s));
	recording_writer_free(writer);
	waits_session_free(s);
	vec_release(&pids);
	return 0;
}
