/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading recordings: perf.data files in file or pipe mode, of either byte order, compressed or
 * not, by any perf since 2.6.32 or by fathom.
 *
 *	struct recording *r;
 *	if (recording_open(path, &r, e) < 0)
 *		...
 *	recording_replay(r, on_record, ctx, e);
 *	if (recording_fault(r)->reason)
 *		... the file is cut or damaged; all before recording_fault(r)->offset was delivered
 *	recording_free(r);
 *
 * Memory is bounded: windows of 2 MB over the file, and the records that wait for their
 * turn: two rounds, at most 256 MB; without rounds at most 64 MB or a million. Damage never ends
 *the program: a record that contradicts its event is counted and skipped; a damage that hides where
 *the next record begins ends the stream.
 */
#ifndef RECORDING_RECORDING_H
#define RECORDING_RECORDING_H

#include "base/err.h"
#include "recording/info.h"
#include "recording/record.h"

struct recording;

/*
 * The stream ended early. reason is NULL when it did not. The first bad record or section (which
 * did not end the stream) is in recording_counts.
 */
struct recording_fault {
	u64 offset;         /* in the file */
	const char *reason; /* "record of type 9 is cut: 24 of 64 bytes" */
};

/* Of the last replay or scan; sections and header records count from opening on. */
struct recording_counts {
	u64 records; /* all that were seen, also those that follow */
	u64 samples; /* delivered */
	u64 bad_records;
	u64 bad_offset; /* of the first */
	const char *bad_reason;
	u64 bad_features; /* sections that could not be parsed */
	u64 bad_feature_offset;
	const char *bad_feature_reason;
	u64 unknown_records; /* undefined types; skipped */
	u64 unknown_ids;     /* samples whose id belongs to no event; skipped */
	u64 aux_records;     /* AUX area data (Intel PT and the like), skipped */
	u64 aux_bytes;
	u32 aux_kind;     /* PERF_AUXTRACE_* of perf: 1 is Intel PT */
	u64 lost;         /* events lost in the kernel: sum over LOST records */
	u64 lost_samples; /* sum over LOST_SAMPLES records */
	u64 throttled;
	u64 rounds;
	u64 out_of_order; /* delivered with a time before one that was delivered already */
	u64 compressed_bytes, decompressed_bytes;
	u64 bytes; /* of the stream, as in the file */
};

/*
 * Returns 0 to continue. Anything else ends the replay, which returns it. User records that
 * describe the recording itself (HEADER_*, EVENT_UPDATE, ID_INDEX, TIME_CONV, THREAD_MAP, CPU_MAP,
 * rounds, compression) are not delivered: they are in the info and the events.
 */
typedef int (*recording_cb)(const struct record *record, void *ctx);

/*
 * Opens @path, "-" is standard input. Fails only when no stream can be found at all (-ENODATA for
 * an empty file, -EBADMSG for one that is not a recording). In pipe mode the header records at the
 * start have been read when this returns.
 */
int recording_open(const char *path, struct recording **ret, struct err *e);
/* The same; the raw bytes of every feature are kept in the info's blobs, for a copy of it. */
int recording_open_whole(const char *path, struct recording **ret, struct err *e);
/* @fd stays the caller's; @name is for messages. */
int recording_open_fd(int fd, const char *name, struct recording **ret, struct err *e);
/* @data is not copied and must live as long as the recording. */
int recording_open_memory(const void *data, size_t size, struct recording **ret, struct err *e);
void recording_free(struct recording *r);

/*
 * Delivers records in order of time, as perf does: what carries no time comes at once, the rest
 * when a FINISHED_ROUND proves that nothing earlier can follow. Can be repeated when the file can
 * seek; -ESPIPE otherwise. A fault is not an error here: see recording_fault().
 */
int recording_replay(struct recording *r, recording_cb cb, void *ctx, struct err *e);
/* The same in file order: quicker, no queue. */
int recording_scan(struct recording *r, recording_cb cb, void *ctx, struct err *e);

/*
 * For readers of a few fields of millions of samples and bring their own order: file order,
 * and samples as they lie there, in our byte order but not parsed (sample_parse() does that). They
 * are gone when the call returns. A round tells that what follows is no older than the newest
 * record of the round before.
 */
struct recording_taps {
	/*
	 * Takes samples off the front of the bytes from *@at to @end, as many as it knows how to,
	 * and moves *@at after them; returns how many, or -errno. Everything is checked by it: the
	 * bytes are as the file has them. Where it stops, the next record comes the other way.
	 * Others may be kept from writing to the file meanwhile: it must not wait for anything.
	 */
	s64 (*span)(void *ctx, const u8 **at, const u8 *end);
	int (*sample)(void *ctx, const struct perf_event_header *header, u32 event);
	recording_cb record;
	u64 types; /* of records: a bit for each type of the kernel's that is wanted */
	int (*round)(void *ctx);
};
int recording_tap(struct recording *r, const struct recording_taps *taps, void *ctx, struct err *e);
/* Where samples keep the id of their event, in bytes; false: all are of the first event. */
bool recording_id_place(const struct recording *r, size_t *ret);
/* The event of a sample with this id; RECORD_NO_EVENT if none. */
u32 recording_id_event(struct recording *r, u64 id);

const struct recording_info *recording_info(const struct recording *r);
const struct recording_counts *recording_counts(const struct recording *r);
const struct recording_fault *recording_fault(const struct recording *r);
/* In pipe mode events may be added during a replay; indexes never change. */
size_t recording_n_events(const struct recording *r);
/* NULL when there is no such event. Valid until the next call into the reader. */
const struct recording_event *recording_event(const struct recording *r, u32 index);
/* The name given at opening. */
const char *recording_name(const struct recording *r);
/* Bytes of the stream read so far and in all (0: not known), for a progress line. */
void recording_progress(const struct recording *r, u64 *ret_done, u64 *ret_total);

/*
 * Parses @size bytes of a PERF_RECORD_SAMPLE that matches @attr and is 8-byte aligned, such as one
 * fresh from a ring buffer. On failure -EBADMSG and *ret_reason says what does not fit.
 */
int sample_parse(const struct perf_event_attr *attr, const struct perf_event_header *header,
		 struct sample *ret, const char **ret_reason);
/* The trailing id fields of any other kernel record; fields that are missing stay as they were. */
int record_parse_ids(const struct perf_event_attr *attr, const struct perf_event_header *header,
		     struct record *ret);

#endif
