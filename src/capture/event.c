/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/event.h"

#include <sys/syscall.h>

#include "capture/filter.h"
#include "capture/tracepoint.h"
#include "host/tracefs.h"

void event_list_release(struct event_list *list)
{
	vec_each(ev, &list->events) {
		free(ev->name);
		free(ev->filter);
		free(ev->unit);
		free(ev->cpus);
		free(ev->sysname);
	}
	vec_release(&list->events);
	list->arguments = 0;
	if (list->own)
		tracefs_release(list->own);
	free(list->own);
	list->own = NULL;
}

/* For this process on any CPU; a user without privileges may still see only user space. */
bool event_opens(const struct perf_event_attr *attr)
{
	struct perf_event_attr trial = *attr;
	int fd;

	trial.disabled = 1;
	fd = (int)syscall(SYS_perf_event_open, &trial, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && (errno == EACCES || errno == EPERM) && !trial.exclude_kernel) {
		trial.exclude_kernel = 1;
		fd = (int)syscall(SYS_perf_event_open, &trial, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

int event_add_default(struct event_list *list, const char **ret_why, struct err *e)
{
	const struct perf_event_attr cycles = {
		.type = PERF_TYPE_HARDWARE,
		.size = PERF_ATTR_SIZE_VER7,
		.config = PERF_COUNT_HW_CPU_CYCLES,
	};
	bool pmu = event_opens(&cycles);
	int why = errno;
	int r = event_parse(list, pmu ? "cycles:P" : "cpu-clock", e);

	if (r < 0)
		return r;
	/* People asked for nothing, so the plain name is what they want to read. */
	struct event *ev = vec_last(&list->events);

	free(ev->name);
	ev->name = xstrdup(pmu ? "cycles" : "cpu-clock");
	if (ret_why)
		*ret_why = pmu                             ? NULL
			   : why == EACCES || why == EPERM ? "hardware counters are not permitted"
							   : "no hardware counters here";
	return 0;
}

static int filter_event(struct event *ev, const struct event_source *source, const char *filter,
			struct err *e)
{
	struct tracepoint_format format;
	const char *colon = strchr(ev->name, ':');
	_cleanup_free_ char *name = colon ? xstrdup(colon + 1) : xstrdup(ev->name);
	char *joined;
	int r;

	name[strcspn(name, ":")] = '\0'; /* modifiers */
	r = tracepoint_format_read(source->tracefs, ev->sysname, name, &format, e);
	if (r < 0)
		return r;
	r = filter_check(filter, &format, e);
	tracepoint_format_release(&format);
	if (r < 0)
		return r;
	joined = ev->filter ? xasprintf("(%s) && (%s)", ev->filter, filter) : xstrdup(filter);
	free(ev->filter);
	ev->filter = joined;
	return 0;
}

int event_set_filter(struct event_list *list, const char *filter, struct err *e)
{
	size_t done = 0;

	if (list->events.len == 0) {
		err_set(e, EINVAL, "the filter '%s' has no event before it", filter);
		err_hint(e,
			 "name the event first: -e block:block_rq_issue --filter 'bytes > 4096'");
		return -EINVAL;
	}
	vec_each(ev, &list->events) {
		if (ev->argument + 1 != list->arguments || !ev->sysname)
			continue;
		int r = filter_event(ev, &list->source, filter, e);

		if (r < 0)
			return r;
		done++;
	}
	if (done)
		return 0;
	return err_set(e, EINVAL, "the filter '%s' is for tracepoints, and '%s' is not one", filter,
		       vec_last(&list->events)->name);
}
