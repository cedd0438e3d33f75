/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/pfm.h"

#ifdef HAVE_LIBPFM

#include <dlfcn.h>
#include <errno.h>

/* Weak: there when the program is linked statically, and dlopen() when it is not. */
#pragma weak pfm_initialize
#pragma weak pfm_get_os_event_encoding
#pragma weak pfm_get_pmu_info
#pragma weak pfm_get_event_next
#pragma weak pfm_get_event_info
#pragma weak pfm_get_event_attr_info
#pragma weak dlopen
#pragma weak dlsym

static const struct pfm linked = {
	.initialize = pfm_initialize,
	.encode = pfm_get_os_event_encoding,
	.pmu_info = pfm_get_pmu_info,
	.event_next = pfm_get_event_next,
	.event_info = pfm_get_event_info,
	.attr_info = pfm_get_event_attr_info,
};

static const char *const names[] = {
	"pfm_initialize",     "pfm_get_os_event_encoding", "pfm_get_pmu_info",
	"pfm_get_event_next", "pfm_get_event_info",        "pfm_get_event_attr_info",
};
_Static_assert(sizeof(struct pfm) == sizeof(names), "a name for each function");

static int open_shared(struct pfm *ret)
{
	void *functions[ARRAY_SIZE(names)];
	void *library = dlopen ? dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!library)
		return -ENOSYS;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		functions[i] = dlsym(library, names[i]);
		if (!functions[i])
			return -ENOSYS;
	}
	memcpy(ret, functions, sizeof(*ret));
	return 0;
}

int pfm_open(struct pfm *ret)
{
	struct pfm found = linked;

	if (!found.initialize && open_shared(&found) < 0)
		return -ENOSYS;
	if (found.initialize() != PFM_SUCCESS)
		return -ENOSYS;
	*ret = found;
	return 0;
}

#endif
