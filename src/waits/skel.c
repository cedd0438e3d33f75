/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/offcpu_abi.h"
#include "host/machine.h"
#include "offcpu.skel.h"
#include "offcpu_raw.skel.h"

#define SAME_PLACE(section, member)                                                \
	_Static_assert(offsetof(struct offcpu_bpf__##section, member) ==           \
			       offsetof(struct offcpu_raw_bpf__##section, member), \
		       "both forms have it in one place")

SAME_PLACE(rodata, offcpu_options);
SAME_PLACE(rodata, unwind_pidns);
SAME_PLACE(bss, offcpu_closing);
SAME_PLACE(bss, unwind_epoch);

const void *waits_skel_object(bool raw, size_t *ret_size)
{
	return raw ? offcpu_raw_bpf__elf_bytes(ret_size) : offcpu_bpf__elf_bytes(ret_size);
}

int waits_skel_open(struct offcpu_bpf **ret, bool raw, const char *types, struct err *e)
{
	LIBBPF_OPTS(bpf_object_open_opts, open, .btf_custom_path = types);
	struct offcpu_bpf *skel = xcalloc(1, sizeof(*skel));
	int rc = offcpu_bpf__create_skeleton(skel);

	if (!rc)
		skel->skeleton->data = (void *)waits_skel_object(raw, &skel->skeleton->data_sz);
	if (!rc)
		rc = bpf_object__open_skeleton(skel->skeleton, &open);
	if (rc) {
		offcpu_bpf__destroy(skel);
		return err_sys(e, rc, "cannot open the off-CPU program");
	}
	if (raw)
		bpf_map__set_max_entries(skel->maps.offcpu_tasks, machine_thread_room());
	*ret = skel;
	return 0;
}
