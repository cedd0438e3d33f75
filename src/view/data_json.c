/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/data_json.h"

#include "base/fmt.h"
#include "base/json.h"
#include "profile/machine.h"
#include "profile/names.h"

enum { FLUSH_BYTES = 1 << 16 };

struct converter {
	struct machine machine;
	struct json json;
	struct buf out;
	data_json_write write;
	void *ctx;
	u64 samples;
};

static int flush(struct converter *c)
{
	int r = c->out.len ? c->write(c->ctx, buf_str(&c->out), c->out.len) : 0;

	buf_reset(&c->out);
	return r;
}

static void text(struct json *j, const char *key, const char *value)
{
	if (value)
		json_kv_str(j, key, value);
}

static void add_headers(struct converter *c, const struct recording *r, u64 file_time)
{
	const struct recording_info *info = recording_info(r);
	_cleanup_buf_ struct buf time = BUF_INIT;
	struct json *j = &c->json;

	json_key(j, "headers");
	json_open(j);
	json_kv_u64(j, "header-version", 1);
	fmt_iso_time(&time, file_time * 1000000000ull);
	json_kv_str(j, "captured-on", buf_str(&time));
	text(j, "hostname", info->hostname);
	text(j, "os-release", info->osrelease);
	text(j, "arch", info->arch);
	text(j, "cpu-desc", info->cpudesc);
	text(j, "cpuid", info->cpuid);
	json_kv_u64(j, "nrcpus-online", info->cpus_online);
	json_kv_u64(j, "nrcpus-avail", info->cpus_available);
	text(j, "perf-version", info->version);
	json_key(j, "cmdline");
	json_array(j);
	vec_each(word, &info->cmdline)
		json_str(j, *word);
	json_end(j);
	json_close(j);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void add_frame(struct converter *c, struct process *p, enum address_mode mode, u64 ip,
		      bool is_return)
{
	const struct place *place = machine_place(&c->machine, p, mode, ip, is_return);
	struct json *j = &c->json;
	char address[24];

	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)ip);
	json_open(j);
	json_kv_str(j, "ip", address);
	text(j, "symbol", place->name);
	if (place->dso)
		json_kv_str(j, "dso", last_part(place->dso));
	json_close(j);
}

static void add_chain(struct converter *c, const struct record *r, struct process *p)
{
	const struct sample *s = r->sample;
	enum address_mode mode = machine_mode(r);
	bool first = true;

	json_key(&c->json, "callchain");
	json_array(&c->json);
	for (u64 i = 0; i < s->n_ips; i++) {
		if (machine_context(s->ips[i], &mode))
			continue;
		add_frame(c, p, mode, s->ips[i], !first);
		first = false;
	}
	if (first)
		add_frame(c, p, mode, s->ip, false);
	json_end(&c->json);
}

static int on_record(const struct record *r, void *ctx)
{
	struct converter *c = ctx;
	const struct sample *s = r->sample;
	struct process *p;

	machine_record(&c->machine, r);
	if (!s)
		return 0;
	p = machine_process(&c->machine, (s32)s->pid);
	machine_moment(&c->machine, p, s);
	json_open(&c->json);
	json_kv_u64(&c->json, "timestamp", s->time);
	json_kv_s64(&c->json, "pid", (s32)s->pid);
	json_kv_s64(&c->json, "tid", (s32)s->tid);
	if (r->has & PERF_SAMPLE_CPU)
		json_kv_u64(&c->json, "cpu", s->cpu);
	json_kv_str(&c->json, "comm",
		    machine_str(&c->machine, machine_comm(&c->machine, (s32)s->pid, (s32)s->tid)));
	add_chain(c, r, p);
	json_close(&c->json);
	c->samples++;
	return c->out.len > FLUSH_BYTES ? flush(c) : 0;
}

int data_json(struct recording *r, u64 file_time, data_json_write write, void *ctx,
	      u64 *ret_samples, struct err *e)
{
	struct symbols *symbols = symbols_new(NULL);
	struct converter c = { .write = write, .ctx = ctx, .out = BUF_INIT };
	int code;

	machine_init(&c.machine, symbols);
	machine_build_ids(&c.machine, recording_info(r));
	profile_import_names(symbols, r);
	json_init(&c.json, &c.out, true);
	json_open(&c.json);
	json_kv_u64(&c.json, "linux-perf-json-version", 1);
	add_headers(&c, r, file_time);
	json_key(&c.json, "samples");
	json_array(&c.json);
	code = recording_replay(r, on_record, &c, e);
	json_end(&c.json);
	json_close(&c.json);
	if (code == 0)
		code = flush(&c);
	*ret_samples = c.samples;
	machine_release(&c.machine);
	symbols_free(symbols);
	buf_release(&c.out);
	return code;
}
