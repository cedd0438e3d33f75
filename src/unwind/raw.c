/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/raw.h"

#include <bpf/libbpf.h>

#include "bpf/unwind_abi.h"
#include "host/bpf_sys.h"

int raw_find_regs(const struct bpf_object *obj, struct err *e)
{
	const struct bpf_program *prog = bpf_object__find_program_by_name(obj, "unwind_find_regs");
	u32 result = 0;
	int rc = prog ? bpfsys_prog_run(bpf_program__fd(prog), NULL, 0, &result) : -ENOENT;

	if (rc < 0)
		return err_sys(e, rc, "cannot find the registers of threads");
	if (result != UNWIND_REGS_STRANGE)
		return 0;
	err_set(e, EINVAL, "the file with the kernel's types is not about this kernel");
	err_hint(e, "FATHOM_BTF=FILE names one that is");
	return -EINVAL;
}
