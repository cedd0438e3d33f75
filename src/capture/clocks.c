/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/clocks.h"

#include "base/buf.h"
#include "base/io.h"
#include "capture/count.h"
#include "host/machine.h"

#include <fcntl.h>

enum { MSR_TSC = 0x10, MSR_MPERF = 0xe7, MSR_APERF = 0xe8 };

struct clocks {
	/* either */
	struct event_list events;
	struct target target;
	struct counting *counting;
	/* or */
	VEC(int) devices;
	range_list cpus;
};

void clocks_free(struct clocks *c)
{
	if (!c)
		return;
	counting_free(c->counting);
	event_list_release(&c->events);
	target_release(&c->target);
	vec_each(fd, &c->devices)
		close(*fd);
	vec_release(&c->devices);
	vec_release(&c->cpus);
	free(c);
}

static int open_events(struct clocks *c, struct err *e)
{
	const struct count_opts opts = { 0 };
	int r = event_parse(&c->events, "msr/tsc/,msr/mperf/,msr/aperf/", e);

	if (!r)
		r = target_add_cpus(&c->target, NULL, e);
	if (r < 0)
		return r;
	c->counting = counting_new(&c->events, &c->target, &opts);
	r = counting_open(c->counting, e);
	for (size_t i = 0; r >= 0 && i < c->events.events.len; i++) {
		const struct err *why = counting_failure(c->counting, i);

		if (why)
			r = -EOPNOTSUPP;
	}
	if (r >= 0)
		counting_enable(c->counting);
	return r < 0 ? r : 0;
}

static bool read_register(int fd, off_t number, u64 *ret)
{
	return pread(fd, ret, sizeof(*ret), number) == (ssize_t)sizeof(*ret);
}

static int open_devices(struct clocks *c, struct err *e)
{
	int r = machine_online(&c->cpus, e);

	for (size_t i = 0; r >= 0 && i < c->cpus.len; i++)
		for (u64 cpu = c->cpus.items[i].first; cpu <= c->cpus.items[i].last; cpu++) {
			char path[64];
			u64 value;
			int fd;

			snprintf(path, sizeof(path), "/dev/cpu/%llu/msr", (unsigned long long)cpu);
			fd = open(path, O_RDONLY | O_CLOEXEC);
			if (fd < 0)
				return err_sys(e, errno, "cannot open '%s'", path);
			vec_push(&c->devices, fd);
			if (!read_register(fd, MSR_APERF, &value))
				return err_sys(e, errno, "cannot read APERF from '%s'", path);
		}
	return r < 0 ? r : 0;
}

/* Why there is nothing: the flag of the CPU says whether it has the registers at all. */
static int refuse(const struct err *device, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	bool read = io_read_file("/proc/cpuinfo", IO_MAX_PROC, &text, NULL) >= 0;
	bool has = read && strstr(buf_str(&text), "aperfmperf");
	bool guest = read && strstr(buf_str(&text), " hypervisor");

	if (!has && guest)
		err_set(e, EOPNOTSUPP,
			"the hypervisor hides APERF and MPERF: the speed of the CPUs is not known "
			"in this guest");
	else if (!has)
		err_set(e, EOPNOTSUPP, "this CPU has no APERF and MPERF");
	else
		err_set(e, EOPNOTSUPP, "APERF and MPERF cannot be read: %s",
			device->what ? device->what : err_words(device->code));
	err_hint(e, has ? "load the module msr, as root" : "run it on the host");
	return -EOPNOTSUPP;
}

int clocks_new(struct clocks **ret, struct err *e)
{
	struct clocks *c = xcalloc(1, sizeof(*c));
	_cleanup_err_ struct err why = ERR_INIT;
	int r = open_events(c, NULL);

	if (r < 0) {
		counting_free(c->counting);
		c->counting = NULL;
		r = open_devices(c, &why);
	}
	if (r < 0) {
		clocks_free(c);
		return refuse(&why, e);
	}
	*ret = c;
	return 0;
}

static int read_devices(struct clocks *c, cpu_clocks_list *ret, struct err *e)
{
	size_t at = 0;

	for (size_t i = 0; i < c->cpus.len; i++)
		for (u64 cpu = c->cpus.items[i].first; cpu <= c->cpus.items[i].last; cpu++) {
			struct cpu_clocks now = { .cpu = (u32)cpu };
			int fd = c->devices.items[at++];

			/* a CPU that went offline has none */
			if (!read_register(fd, MSR_TSC, &now.tsc) ||
			    !read_register(fd, MSR_MPERF, &now.mperf) ||
			    !read_register(fd, MSR_APERF, &now.aperf))
				continue;
			vec_push(ret, now);
		}
	return ret->len ? 0 : err_set(e, EIO, "no CPU lets its clocks be read any more");
}

int clocks_read(struct clocks *c, cpu_clocks_list *ret, struct err *e)
{
	const struct count_place *places;
	size_t n;
	int r;

	vec_clear(ret);
	if (!c->counting)
		return read_devices(c, ret, e);
	r = counting_read(c->counting, e);
	if (r < 0)
		return r;
	places = counting_places(c->counting, &n);
	for (size_t i = 0; i < n; i++)
		vec_push(ret, ((struct cpu_clocks){
				      (u32)places[i].cpu,
				      counting_at(c->counting, 0, i)->value,
				      counting_at(c->counting, 1, i)->value,
				      counting_at(c->counting, 2, i)->value,
			      }));
	return 0;
}

struct clock_rates clocks_between(const struct cpu_clocks *before, const struct cpu_clocks *after,
				  u64 ns)
{
	/* registers wrap, and subtraction does */
	double tsc = (double)(after->tsc - before->tsc);
	struct clock_rates r = {
		.mperf = (double)(after->mperf - before->mperf),
		.aperf = (double)(after->aperf - before->aperf),
	};

	r.busy_percent = tsc > 0 ? MIN(100 * r.mperf / tsc, 100.0) : 0;
	r.ratio = r.mperf > 0 ? r.aperf / r.mperf : 0;
	r.base_mhz = ns ? tsc * 1e3 / (double)ns : 0;
	r.mhz = r.base_mhz * r.ratio;
	return r;
}
