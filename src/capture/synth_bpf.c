/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BPF programs that were loaded before: KSYMBOL for each function, BPF_EVENT for each program. */
#include "capture/synth.h"

#include <linux/perf_event.h>

#include "capture/synth_record.h"

static int put_function(struct synth *s, const struct bpf_function *f)
{
	static const u16 kind[2] = { PERF_RECORD_KSYMBOL_TYPE_BPF, 0 };
	struct synth_record r;

	synth_begin(&r, PERF_RECORD_KSYMBOL, 0);
	synth_put_u64(&r, f->address);
	synth_put_u32(&r, f->size);
	synth_put(&r, kind, sizeof(kind));
	synth_put_name(&r, f->name, strlen(f->name));
	return synth_end(s, &r);
}

static int put_program(struct synth *s, const struct bpf_program *p)
{
	static const u16 kind[2] = { PERF_BPF_EVENT_PROG_LOAD, 0 };
	struct synth_record r;

	synth_begin(&r, PERF_RECORD_BPF_EVENT, 0);
	synth_put(&r, kind, sizeof(kind));
	synth_put_u32(&r, p->id);
	synth_put(&r, p->tag, sizeof(p->tag));
	return synth_end(s, &r);
}

int synth_bpf(struct synth *s, const struct bpf_programs *programs)
{
	size_t at = 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < programs->programs.len; i++) {
		for (; r >= 0 && at < programs->functions.len &&
		       programs->functions.items[at].program == i;
		     at++)
			r = put_function(s, &programs->functions.items[at]);
		if (r >= 0)
			r = put_program(s, &programs->programs.items[i]);
	}
	return r;
}
