/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings from anywhere: opened, replayed, scanned, and every view asked for. */
#include "recording/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static u64 look(const void *p, size_t n)
{
	const u8 *bytes = p;
	u64 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += bytes[i];
	return sum;
}

/* Touches all that a sample claims to have, so that a sanitizer sees a wrong bound. */
static u64 look_at_sample(const struct sample *s)
{
	u64 sum = look(s->ips, s->n_ips * sizeof(*s->ips)) + look(s->raw, s->raw_size);

	sum += look(s->branches, s->n_branches * sizeof(*s->branches));
	sum += look(s->regs_user.values, s->regs_user.nr * sizeof(u64));
	sum += look(s->regs_intr.values, s->regs_intr.nr * sizeof(u64));
	sum += look(s->stack, s->stack_size) + look(s->aux, s->aux_size);
	if (s->read.rows)
		sum += look(s->read.rows, s->read.nr * s->read.stride * sizeof(u64));
	return sum;
}

static int on_record(const struct record *r, void *ctx)
{
	struct record_namespaces ns;
	struct record_ksymbol ksymbol;
	struct record_cgroup cgroup;
	struct record_switch change;
	struct record_mmap mmap;
	struct record_comm comm;
	struct record_task task;
	struct record_bpf bpf;
	u64 *sum = ctx;

	*sum += look(r->header, r->size);
	if (r->sample)
		*sum += look_at_sample(r->sample);
	if (record_mmap(r, &mmap) == 0)
		*sum += strlen(mmap.filename);
	if (record_comm(r, &comm) == 0)
		*sum += strlen(comm.comm);
	if (record_ksymbol(r, &ksymbol) == 0)
		*sum += strlen(ksymbol.name);
	if (record_cgroup(r, &cgroup) == 0)
		*sum += strlen(cgroup.path);
	if (record_namespaces(r, &ns) == 0)
		*sum += look(ns.all, ns.nr * sizeof(*ns.all));
	*sum += (u64)(record_task(r, &task) == 0) + (u64)(record_bpf(r, &bpf) == 0) +
		(u64)(record_switch(r, &change) == 0);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	struct recording *r;
	u64 sum = 0;

	if (recording_open_memory(data, size, &r, &e) == 0) {
		(void)recording_replay(r, on_record, &sum, &e);
		(void)recording_scan(r, on_record, &sum, &e);
		for (u32 i = 0; i < recording_n_events(r); i++)
			sum += strlen(recording_event(r, i)->name);
		recording_free(r);
	}
	err_release(&e);
	return 0;
}
