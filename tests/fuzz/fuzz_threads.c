/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings from anywhere, read for what threads did and waited for; the table and the page. */
#include "analysis/threads_explain.h"
#include "waits/blame.h"
#include "waits/recorded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(struct recorded *rec)
{
	account_list accounts = { 0 };
	wait_list parts = { 0 };
	struct result r;

	result_init(&r, "threads");
	waits_blame(&rec->seen, 0, &parts);
	accounts_build(&rec->seen, &accounts);
	accounts_group(&accounts, BY_PROCESS);
	accounts_to_result(&rec->load.profile, &accounts, BY_PROCESS, 0, false, &r);
	if (rec->threads.len) {
		struct explain_input in = { .seen = &rec->seen,
					    .parts = &parts,
					    .ran = &rec->ran,
					    .pid = rec->root,
					    .faults.known = true };

		explain_result(&in, &r);
		in.width = 80;
		explain_result(&in, &r);
	}
	recorded_notes(rec, &r);
	vec_release(&accounts);
	vec_release(&parts);
	result_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const range_list none;
	const struct recorded_opts opts = { .pids = &none, .tids = &none, .ran = size % 2 };
	struct err e = ERR_INIT;
	struct recording *recording;
	struct recorded r;

	if (recording_open_memory(data, size, &recording, &e) == 0) {
		if (recorded_load_from(&r, recording, &opts, &e) >= 0)
			show(&r);
		recorded_release(&r);
		recording_free(recording);
	}
	err_release(&e);
	return 0;
}
