/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names that a recording touches. No profile is built for that: each address of each state of
 * each process is looked up once, however many samples have it.
 */
#include "profile/load.h"

#include "base/hash.h"
#include "profile/machine.h"
#include "profile/stackcopy.h"
#include "recording/recording.h"

enum { NAMES_SEEN = 1 << 15, COPY_MOST = 1024 };

struct naming {
	struct machine machine;
	struct stackcopy stacks;
	u64 seen[NAMES_SEEN]; /* hashes of what was looked up lately; another round costs little */
};

static void name_address(struct naming *n, struct process *proc, enum address_mode mode,
			 u64 address, bool is_return)
{
	u64 owner = mode == ADDRESS_USER ? (u64)proc->pid << 32 | proc->generation : ~0ull;
	u64 key = hash_mix(owner << 1 | is_return, address);
	u64 *seen = &n->seen[key % NAMES_SEEN];

	if (*seen == key)
		return;
	*seen = key;
	(void)machine_place(&n->machine, proc, mode, address, is_return);
}

static void name_copy(struct naming *n, struct process *proc, const struct sample *s)
{
	u64 ips[COPY_MOST];
	size_t count = stackcopy_unwind(&n->stacks, &n->machine, proc, s, ips, ARRAY_SIZE(ips));

	/* all but the first are those of calls: one before the return address */
	for (size_t i = 0; i < count; i++)
		name_address(n, proc, ADDRESS_USER, ips[i] + (i > 0), i > 0);
}

static void name_sample(struct naming *n, const struct record *r)
{
	const u64 copy = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	const struct sample *s = r->sample;
	struct process *proc = machine_process(&n->machine, (s32)s->pid);
	enum address_mode mode = machine_mode(r);
	bool first = true;

	proc->last_time = s->time;
	for (u64 i = 0; s->type & PERF_SAMPLE_CALLCHAIN && i < s->n_ips; i++) {
		if (machine_context(s->ips[i], &mode)) {
			first = true;
			continue;
		}
		name_address(n, proc, mode, s->ips[i], !first);
		first = false;
	}
	if ((s->type & copy) == copy)
		name_copy(n, proc, s);
	if (!s->n_ips && s->type & PERF_SAMPLE_IP)
		name_address(n, proc, machine_mode(r), s->ip, false);
}

static int name_record(const struct record *r, void *naming)
{
	struct naming *n = naming;

	if (r->type == PERF_RECORD_SAMPLE)
		name_sample(n, r);
	else
		machine_record(&n->machine, r);
	return 0;
}

int profile_export_names(const char *path, struct buf *ret, struct buf *ret_code, struct err *e)
{
	const struct symbols_opts opts = { .ask_kernel = true };
	struct symbols *symbols = symbols_new(&opts);
	struct naming *n = xcalloc(1, sizeof(*n));
	struct recording *rec = NULL;
	int r;

	machine_init(&n->machine, symbols);
	r = recording_open(path, &rec, e);
	if (r >= 0)
		r = recording_replay(rec, name_record, n, e);
	if (r >= 0) {
		symbols_export(symbols, ret);
		symbols_code_export(symbols, ret_code);
	}
	recording_free(rec);
	stackcopy_release(&n->stacks);
	machine_release(&n->machine);
	symbols_free(symbols);
	free(n);
	return r;
}
