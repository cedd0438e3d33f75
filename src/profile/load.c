/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/load.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/varint.h"
#include "profile/accounts.h"
#include "profile/builder.h"
#include "profile/filter.h"
#include "profile/gzip.h"
#include "profile/health.h"
#include "profile/names.h"
#include "profile/reasons.h"
#include "profile/runtime.h"

#include <ctype.h>
#include <fcntl.h>

enum {
	SNIFF_BYTES = 1 << 18, /* a line of 10,000 frames fits */
	PIPE_PEEK = 1 << 16,
	PERF_MAGIC_BYTES = 8,
	TEXT_MOST = 2047 << 20, /* text inputs are held in memory */
	USER_TEXT_MOST = 4096,  /* of what the user said, bytes that are shown */
};

int profile_default_input(const char **ret, struct err *e)
{
	static const char *const names[] = { "fathom.data", "perf.data" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (io_exists(names[i])) {
			*ret = names[i];
			return 0;
		}
	}
	err_set(e, ENOENT, "no recording here: neither 'fathom.data' nor 'perf.data' exists");
	err_hint(e, "make one with 'fathom record', or name one with -i FILE");
	return -ENOENT;
}

/* Counts lines of the first bytes that end in " NUMBER" and hold a ';' or a bare name. */
static bool looks_folded(const char *line, size_t len)
{
	size_t i = len;

	while (i && strchr("0123456789.-", line[i - 1]))
		i--;
	return i > 1 && i < len && line[i - 1] == ' ' && line[0] != ' ' && line[0] != '\t' &&
	       line[0] != '#' && !memchr(line, '\t', len);
}

/* perf script: "comm  pid/tid [cpu] time: ... event:" */
static bool looks_script(const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len), *p;

	/* without stacks, perf pads the command on its left */
	if (!colon || line[0] == '\t' || line[0] == '#')
		return false;
	for (p = colon; p > line && strchr("0123456789.", p[-1]);)
		p--;
	return p > line && p < colon && p[-1] == ' ' && memchr(p, '.', (size_t)(colon - p));
}

/* A word of digits, or two with '/', that is neither the first nor the last of the line. */
static bool has_id(const char *line, size_t len)
{
	size_t i = 0;

	while (i < len) {
		size_t begin = i;
		bool digits = true;

		for (; i < len && line[i] != ' '; i++)
			digits &= isdigit((unsigned char)line[i]) || line[i] == '/';
		if (digits && begin && i < len && i > begin)
			return true;
		while (i < len && line[i] == ' ')
			i++;
	}
	return false;
}

/* perf script -F comm,pid,event,...: "comm pid event:", and a frame below it. */
static bool looks_timeless(const char *line, size_t len, const char *next, const char *end)
{
	while (len && (line[len - 1] == ' ' || line[len - 1] == '\r'))
		len--;
	if (len < 2 || line[len - 1] != ':' || line[0] == '\t' || line[0] == '#' || next >= end ||
	    (*next != '\t' && *next != ' '))
		return false;
	while (next < end && (*next == '\t' || *next == ' '))
		next++;
	return next < end && isxdigit((unsigned char)*next) && has_id(line, len);
}

/* Not packed: begins with a ValueType message, which is two numbers. */
static bool looks_pprof(const char *bytes, size_t len)
{
	struct wire w = wire_of(bytes, len), inner;
	struct wire_field f;

	if (gzip_is(bytes, len))
		return true;
	if (len < 4 || bytes[0] != 0x0a || wire_next(&w, &f) <= 0 || f.len < 2 || f.len > 22)
		return false;
	inner = wire_of(f.data, f.len);
	return wire_next(&inner, &f) > 0 && f.number <= 2 && f.type == WIRE_VARINT &&
	       f.value < 4096;
}

static bool looks_speedscope(const char *bytes, size_t len)
{
	size_t i = 0;

	while (i < len && isspace((unsigned char)bytes[i]))
		i++;
	return i < len && bytes[i] == '{';
}

enum input_kind profile_sniff(const char *bytes, size_t len)
{
	const char *p = bytes, *end = bytes + len;

	if (len >= 8 && (memcmp(bytes, "PERFILE2", 8) == 0 || memcmp(bytes, "2ELIFREP", 8) == 0))
		return INPUT_PERF_DATA;
	if (looks_pprof(bytes, len))
		return INPUT_PPROF;
	if (looks_speedscope(bytes, len))
		return INPUT_SPEEDSCOPE;
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl ? nl : end) - p);

		if (looks_script(p, n) || looks_timeless(p, n, nl ? nl + 1 : end, end))
			return INPUT_SCRIPT;
		if (looks_folded(p, n))
			return INPUT_FOLDED;
		if (!nl)
			break;
		p = nl + 1;
	}
	return INPUT_UNKNOWN;
}

/* --- perf.data ----------------------------------------------------------------------------- */

static u32 join_strings(struct profile *p, const recording_strings *list)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	vec_each(s, list)
		buf_addf(&b, "%s%s", b.len ? " " : "", *s);
	return profile_string(p, buf_str(&b));
}

/*
 * perf closes a file with LOST_SAMPLES that count again what its LOST records reported; ours hold
 * only losses without a record.
 */
static u64 lost_samples(const struct recording_info *info, const struct recording_counts *counts)
{
	if (info->version && starts_with(info->version, "fathom"))
		return counts->lost + counts->lost_samples;
	return MAX(counts->lost, counts->lost_samples);
}

static u32 user_text(struct profile *p, const struct recording_info *info)
{
	const struct recording_blob *blob = recording_info_blob(info, FEATURE_USER_DATA);
	_cleanup_free_ char *text = NULL;

	if (blob)
		text = xasprintf("%.*s", (int)MIN(blob->size, (size_t)USER_TEXT_MOST),
				 (const char *)blob->data);
	return profile_string(p, text);
}

void profile_take_facts(struct profile *p, const struct recording *r)
{
	const struct recording_info *info = recording_info(r);
	const struct recording_counts *counts = recording_counts(r);
	const struct recording_fault *fault = recording_fault(r);

	p->hostname = profile_string(p, info->hostname);
	p->kernel = profile_string(p, info->osrelease);
	p->arch = profile_string(p, info->arch);
	p->cpu_model = profile_string(p, info->cpudesc);
	p->cpus = info->cpus_online;
	p->command = join_strings(p, &info->cmdline);
	p->notes = user_text(p, info);
	if (info->has_clock_data && p->first_time)
		p->wall_start = info->clock_wall_ns + (p->first_time - info->clock_ns);
	p->lost_samples = lost_samples(info, counts);
	p->lost_records = counts->lost;
	p->bad_records = counts->bad_records + counts->unknown_ids;
	p->throttled = counts->throttled;
	p->aux_bytes = counts->aux_bytes;
	p->aux_kind = counts->aux_kind;
	if (fault->reason) {
		_cleanup_free_ char *text =
			xasprintf("the file is damaged at offset %llu: %s",
				  (unsigned long long)fault->offset, fault->reason);
		p->fault = profile_string(p, text);
	} else if (info->no_room) {
		p->fault = profile_string(p, "the recording was cut: its disk was full, and what "
					     "came after that is missing");
	} else if (info->running) {
		p->fault = profile_string(p, "the recording continues: up to its last second is "
					     "not in the file yet");
	} else if (info->unfinished) {
		p->fault = profile_string(p, "the recording was cut: its recorder was killed, and "
					     "up to a second before that is missing");
	}
}

static bool is_filtered(const struct load_opts *o)
{
	return o->event || o->comms || o->dsos || o->symbols || o->time_from || o->time_to ||
	       (o->pids && o->pids->len) || (o->tids && o->tids->len) || (o->cpus && o->cpus->len);
}

/* How stacks were unwound, and ended, as the recorder counted it. */
static void take_health(struct profile *p, const struct recording *r, const struct load_opts *opts)
{
	const struct recording_blob *blob = recording_info_blob(recording_info(r), FEATURE_HEALTH);
	struct health h;

	if (!blob || health_unpack(&h, blob->data, blob->size) < 0)
		return;
	health_facts(&h, !is_filtered(opts), p);
	health_release(&h);
}

static int load_recording(struct profile *p, int fd, const char *name, const struct load_opts *opts,
			  struct err *e)
{
	struct symbols *symbols = symbols_new(NULL);
	struct recording *r = NULL;
	struct builder b;
	int ret;

	ret = symbols_guest_open(symbols, opts->guest_kallsyms, opts->guest_modules, e);
	if (ret >= 0)
		ret = recording_open_fd(fd, name, &r, e);
	if (ret >= 0) {
		profile_import_names(symbols, r);
		builder_init(&b, p, r, symbols, opts);
		ret = recording_replay(r, builder_record, &b, e);
		builder_count_health(&b);
		profile_take_facts(p, r);
		p->bad_records += b.machine.bad_maps;
		take_health(p, r, opts);
		runtime_collect(&b.machine, p);
		p->code_reused = symbols_several(symbols);
		reasons_take(p, symbols, opts->lines);
		accounts_take(&b.accounts, p, r);
		accounts_filter(p, opts);
		builder_release(&b);
	}
	recording_free(r);
	symbols_free(symbols);
	return ret < 0 ? ret : 0;
}

/* --- all ----------------------------------------------------------------------------------- */

static int unknown_input(const struct buf *text, const char *name, struct err *e)
{
	if (!text->len)
		return err_set(e, ENODATA, "'%s' is empty", name);
	err_set(e, EBADMSG, "'%s' is neither a recording nor text with stacks", name);
	err_hint(e, "it can be perf.data, the output of 'perf script', folded stacks, a profile of "
		    "pprof or of speedscope");
	return -EBADMSG;
}

static int load_text(struct profile *p, const struct buf *text, const char *name,
		     const struct load_opts *opts, struct err *e)
{
	int r;

	switch (profile_sniff(buf_str(text), text->len)) {
	case INPUT_FOLDED: r = profile_load_folded(p, buf_str(text), text->len, e); break;
	case INPUT_SCRIPT: r = profile_load_script(p, buf_str(text), text->len, opts, e); break;
	case INPUT_PPROF: r = profile_load_pprof(p, buf_str(text), text->len, e); break;
	case INPUT_SPEEDSCOPE: r = profile_load_speedscope(p, buf_str(text), text->len, e); break;
	default: return unknown_input(text, name, e);
	}
	if (r >= 0)
		profile_filter(p, opts);
	return r;
}

/* The first bytes of a file that can seek; it is at its beginning again afterwards. */
static int peek_file(int fd, struct buf *head)
{
	ssize_t n = pread(fd, buf_reserve(head, SNIFF_BYTES), SNIFF_BYTES, 0);

	if (n < 0)
		return -errno;
	buf_added(head, (size_t)n);
	return 0;
}

/*
 * The first bytes of a pipe, which stay in it: tee(2) copies without taking. A slow writer may
 * have sent only part of the magic number: it is given a second.
 */
static int peek_pipe(int fd, struct buf *head)
{
	_cleanup_close_ int out = -1, in = -1;
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -errno;
	out = pipes[0];
	in = pipes[1];
	for (int tries = 0; head->len < PERF_MAGIC_BYTES && tries < 100; tries++) {
		ssize_t n = tee(fd, in, PIPE_PEEK, 0);

		if (n <= 0)
			return n < 0 ? -errno : 0;
		buf_reset(head);
		n = read(out, buf_reserve(head, PIPE_PEEK), PIPE_PEEK);
		buf_added(head, n > 0 ? (size_t)n : 0);
		if (head->len < PERF_MAGIC_BYTES)
			clock_sleep_ns(10 * NSEC_PER_MSEC);
	}
	return 0;
}

static int load_fd(struct profile *p, int fd, const char *name, const struct load_opts *opts,
		   struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	bool can_seek = lseek(fd, 0, SEEK_CUR) >= 0;
	enum input_kind kind;
	int r = can_seek ? peek_file(fd, &text) : peek_pipe(fd, &text);

	if (r < 0)
		return err_sys(e, r, "cannot read '%s'", name);
	kind = profile_sniff(buf_str(&text), text.len);
	if (kind == INPUT_PERF_DATA)
		return load_recording(p, fd, name, opts, e);
	if (can_seek && kind == INPUT_UNKNOWN)
		return unknown_input(&text, name, e);
	buf_reset(&text);
	r = io_read_fd(fd, name, TEXT_MOST, &text, e);
	return r < 0 ? r : load_text(p, &text, name, opts, e);
}

int profile_load(struct profile *p, const char *path, const struct load_opts *opts, struct err *e)
{
	static const struct load_opts no_opts;
	_cleanup_close_ int fd = -1;
	int r = 0;

	if (!path) {
		r = profile_default_input(&path, e);
		if (r < 0)
			return r;
	}
	if (streq(path, "-")) {
		fd = dup(STDIN_FILENO);
		if (fd < 0)
			return err_sys(e, errno, "cannot read standard input");
	} else {
		r = io_open_read(path, &fd, e);
		if (r == -ENOENT)
			err_hint(e, "'fathom record' makes recordings; name an existing one");
		if (r == -EACCES)
			err_hint(e,
				 "recordings are readable by their owner only: run as that user");
		if (r < 0)
			return r;
	}
	p->source = profile_string(p, path);
	p->filtered = opts && is_filtered(opts);
	return load_fd(p, fd, path, opts ? opts : &no_opts, e);
}

const char *profile_aux_name(u32 kind)
{
	static const char *const names[] = { NULL,           "Intel PT",
					     "Intel BTS",    "Arm CoreSight",
					     "Arm SPE",      "s390 CPU-MF",
					     "HiSilicon PTT" };

	return kind && kind < ARRAY_SIZE(names) ? names[kind] : "an unknown kind";
}

int profile_no_samples(const struct profile *p, struct err *e)
{
	err_set(e, ENODATA,
		p->filtered ? "no sample in '%s' passes the filters" : "'%s' has no samples",
		profile_str(p, p->source));
	if (p->aux_bytes)
		err_hint(e,
			 "it holds a hardware trace (%s): 'perf inject --itrace -i FILE -o NEW', "
			 "on a machine whose perf knows that trace, makes samples of it",
			 profile_aux_name(p->aux_kind));
	else if (p->fault)
		err_hint(e, "%s", profile_str(p, p->fault));
	else if (p->filtered)
		err_hint(e, "'fathom report' without filters shows what there is");
	else
		err_hint(e, "record for longer (-d), more often (-F), or while the target runs");
	return -ENODATA;
}
