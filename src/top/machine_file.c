/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/machine_file.h"

#include <linux/perf_event.h>

#include "recording/writer.h"

/* perf asks for an event: this one never counts. */
static int add_event(struct recording_writer *w, struct err *e)
{
	static const u64 id = WRITER_OWN_ID;
	const struct writer_event event = {
		.attr = { .type = PERF_TYPE_SOFTWARE,
			  .config = PERF_COUNT_SW_DUMMY,
			  .sample_type =
				  PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
			  .sample_id_all = 1,
			  .disabled = 1 },
		.name = "dummy:u",
		.ids = &id,
		.n_ids = 1,
	};

	return recording_writer_event(w, &event, e);
}

int machine_file_write(const char *path, const struct track_writer *track, struct err *e)
{
	const struct writer_options o = { .path = path, .version = "fathom " FATHOM_VERSION };
	struct recording_writer *w;
	int r = recording_writer_new(&o, &w, e);

	if (r < 0)
		return r;
	r = add_event(w, e);
	if (!r)
		r = recording_writer_start(w, e);
	if (!r)
		r = recording_writer_feature(w, FEATURE_COUNTERS, track->bytes.data,
					     track->bytes.len, e);
	if (!r)
		r = recording_writer_finish(w, e);
	recording_writer_free(w);
	return r;
}
