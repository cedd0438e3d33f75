/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For recording.t: shows what our reader sees, and lets our writer make files for perf.
 *
 *	recording_peer dump FILE                 one line for each sample, in order of time
 *	recording_peer count FILE                samples, faults and counters
 *	recording_peer copy [-z] [-p] [-k] IN OUT   pipe mode, zstd, killed before the end
 *	recording_peer bench FILE                CPU time of a replay
 */
#include "base/clock.h"
#include "recording/recording.h"
#include "recording/writer.h"

#include <inttypes.h>

struct copy {
	struct recording_writer *w;
	struct err *e;
	u64 n;
};

static int die(const struct err *e)
{
	fprintf(stderr, "%s\n", e->what ? e->what : "failed");
	return 1;
}

static int show(const struct record *rec, void *ctx)
{
	const struct sample *s = rec->sample;
	const struct recording *r = ctx;

	if (!s)
		return 0;
	printf("%d %llu.%09llu: %s: %" PRIx64 "\n", (int)s->tid, s->time / NSEC_PER_SEC,
	       s->time % NSEC_PER_SEC, recording_event(r, rec->event)->name, s->ip);
	return 0;
}

static int cmd_dump(const char *path, struct err *e)
{
	struct recording *r;

	if (recording_open(path, &r, e) < 0 || recording_replay(r, show, r, e) < 0)
		return die(e);
	recording_free(r);
	return 0;
}

static int nothing(const struct record *rec, void *ctx)
{
	u64 *sum = ctx;

	*sum += rec->sample ? rec->sample->n_ips : 1;
	return 0;
}

static int cmd_count(const char *path, struct err *e)
{
	const struct recording_counts *c;
	struct recording *r;
	u64 sum = 0;

	if (recording_open(path, &r, e) < 0 || recording_replay(r, nothing, &sum, e) < 0)
		return die(e);
	c = recording_counts(r);
	printf("samples %" PRIu64 "\nbad %" PRIu64 "\nbad_features %" PRIu64 "\n", c->samples,
	       c->bad_records, c->bad_features);
	printf("unknown %" PRIu64 "\nout_of_order %" PRIu64 "\nfault %s\n",
	       c->unknown_records + c->unknown_ids, c->out_of_order,
	       recording_fault(r)->reason ? recording_fault(r)->reason : "none");
	for (u32 i = 0; i < recording_n_events(r); i++)
		printf("event %s\n", recording_event(r, i)->name);
	recording_free(r);
	return 0;
}

static int cmd_bench(const char *path, struct err *e)
{
	struct recording *r;
	u64 sum = 0, before = clock_cpu_ns();

	if (recording_open(path, &r, e) < 0 || recording_replay(r, nothing, &sum, e) < 0)
		return die(e);
	printf("%" PRIu64 " samples %.3f CPU s\n", recording_counts(r)->samples,
	       (double)(clock_cpu_ns() - before) / 1e9);
	recording_free(r);
	return 0;
}

static int copy_record(const struct record *rec, void *ctx)
{
	struct copy *c = ctx;
	int ret = 0;

	if (rec->type < RECORD_USER_FIRST)
		ret = recording_writer_add(c->w, rec->header, rec->size, c->e);
	if (ret == 0 && ++c->n % 500 == 0)
		ret = recording_writer_round(c->w, c->e);
	return ret;
}

static int copy_events(const struct recording *r, struct recording_writer *w, struct err *e)
{
	for (u32 i = 0; i < recording_n_events(r); i++) {
		const struct recording_event *from = recording_event(r, i);
		struct writer_event to = {
			.attr = from->attr,
			.name = from->name,
			.ids = from->ids,
			.n_ids = from->n_ids,
			.n_members = from->n_members > 1 ? from->n_members : 0,
		};
		int ret = recording_writer_event(w, &to, e);

		if (ret < 0)
			return ret;
	}
	return 0;
}

static int cmd_copy(const char *from, const struct writer_options *o, bool killed, struct err *e)
{
	struct copy c = { .e = e };
	struct recording *r;

	if (recording_open(from, &r, e) < 0 || recording_writer_new(o, &c.w, e) < 0)
		return die(e);
	if (copy_events(r, c.w, e) < 0)
		return die(e);
	recording_writer_clock(c.w, 1);
	if (recording_writer_feature(c.w, FEATURE_NAMES, "names", 5, e) < 0 ||
	    recording_writer_start(c.w, e) < 0 || recording_replay(r, copy_record, &c, e) < 0)
		return die(e);
	if (recording_writer_flush(c.w, e) < 0)
		return die(e);
	if (!killed && recording_writer_finish(c.w, e) < 0)
		return die(e);
	recording_writer_free(c.w);
	recording_free(r);
	return 0;
}

int main(int argc, char **argv)
{
	const char *const args[] = { "recording_peer", "copy" };
	struct writer_options o = { .version = "fathom test", .argc = 2, .argv = args };
	struct err e = ERR_INIT;
	bool killed = false;
	int at = 2;

	if (argc == 3 && streq(argv[1], "dump"))
		return cmd_dump(argv[2], &e);
	if (argc == 3 && streq(argv[1], "count"))
		return cmd_count(argv[2], &e);
	if (argc == 3 && streq(argv[1], "bench"))
		return cmd_bench(argv[2], &e);
	for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
		o.compress = streq(argv[at], "-z") ? 3 : o.compress;
		o.pipe |= streq(argv[at], "-p");
		killed |= streq(argv[at], "-k");
	}
	if (argc != at + 2 || !streq(argv[1], "copy"))
		return 2;
	o.path = argv[at + 1];
	return cmd_copy(argv[at], &o, killed, &e);
}
