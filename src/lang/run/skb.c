/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * skboutput(): packets that the kernel copies into perf rings, one for each CPU, and we write to
 * files in the form of pcap, with nanoseconds.
 */
#include "base/clock.h"
#include "capture/ring.h"
#include "host/bpf_sys.h"
#include "lang/run/run.h"

#include <sys/epoll.h>
#include <sys/ioctl.h>

enum {
	RING_BYTES = 1 << 20,
	PCAP_SNAPLEN = 262144,
	PCAP_LINK_RAW = 101, /* packets begin with the IP header */
};

struct pcap_header {
	u32 magic;
	u16 major, minor;
	u32 zone, figures;
	u32 snaplen;
	u32 link;
};

struct pcap_packet {
	u32 seconds, nanoseconds;
	u32 captured, length;
};

struct skb_file {
	const char *path;
	FILE *file;
};

struct skb_output {
	int poll_fd;
	VEC(int) events;
	VEC(struct ring) rings;
	VEC(struct skb_file) files;
	struct ring_stats stats;
};

static FILE *file_of(const struct skb_output *o, const char *path)
{
	vec_each(it, &o->files) {
		if (streq(it->path, path))
			return it->file;
	}
	return NULL;
}

/* Could the file be written? It is not touched. */
static int check_file(const char *path, struct err *e)
{
	_cleanup_free_ char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');
	bool there = access(path, F_OK) == 0;

	if (slash)
		slash[slash == dir] = 0;
	if (access(there ? path : slash ? dir : ".", W_OK) < 0)
		return err_sys(e, errno, "cannot write '%s'", path);
	return 0;
}

static int open_file(struct skb_output *o, const char *path, struct err *e)
{
	const struct pcap_header header = { .magic = 0xa1b23c4d,
					    .major = 2,
					    .minor = 4,
					    .snaplen = PCAP_SNAPLEN,
					    .link = PCAP_LINK_RAW };
	FILE *file;

	if (file_of(o, path))
		return 0;
	file = fopen(path, "we");
	if (!file)
		return err_sys(e, errno, "cannot write '%s'", path);
	vec_push(&o->files, (struct skb_file){ .path = path, .file = file });
	if (fwrite(&header, sizeof(header), 1, file) != 1)
		return err_sys(e, errno, "cannot write '%s'", path);
	return 0;
}

static int open_cpu(const struct run *r, struct skb_output *o, u32 cpu, struct err *e)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_BPF_OUTPUT,
					.sample_type = PERF_SAMPLE_RAW,
					.sample_period = 1,
					.wakeup_events = 1 };
	struct epoll_event ready = { .events = EPOLLIN };
	int fd = perfsys_open(&attr, -1, (int)cpu, -1, 0), rc;

	if (fd == -ENODEV) /* the CPU is offline */
		return 0;
	if (fd < 0)
		return err_sys(e, -fd, "cannot open a buffer for packets");
	vec_push(&o->events, fd);
	rc = ring_map(vec_new(&o->rings), fd, cpu, RING_BYTES, false, e);
	if (rc < 0) {
		o->rings.len--;
		return rc;
	}
	rc = bpfsys_map_update(r->map_fds.items[r->c->skb_map - 1], &cpu, &fd, BPF_ANY);
	if (rc < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ||
	    epoll_ctl(o->poll_fd, EPOLL_CTL_ADD, fd, &ready) < 0)
		return err_sys(e, rc < 0 ? -rc : errno, "cannot use the buffer for packets");
	return 0;
}

int run_skb_open(struct run *r, struct err *e)
{
	struct skb_output *o;
	int rc = 0;

	if (!r->c->skb_map)
		return 0;
	r->skb = o = xcalloc(1, sizeof(*o));
	o->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (o->poll_fd < 0)
		return err_sys(e, errno, "cannot wait for packets");
	for (size_t i = 0; rc == 0 && i < r->c->events.len; i++) {
		const struct event *ev = &r->c->events.items[i];

		if (ev->kind == EV_SKB)
			rc = r->c->opts->dry_run ? check_file(ev->fmt, e)
						 : open_file(o, ev->fmt, e);
	}
	for (u32 cpu = 0; rc == 0 && cpu < run_cpus(); cpu++)
		rc = open_cpu(r, o, cpu, e);
	return rc;
}

static void write_packet(struct run *r, const struct skb_record *rec, const u8 *data, u64 n)
{
	u64 wall = rec->time + r->boot_to_wall;
	struct pcap_packet p = { .seconds = (u32)(wall / NSEC_PER_SEC),
				 .nanoseconds = (u32)(wall % NSEC_PER_SEC) };
	FILE *f;

	if (rec->number >= r->c->events.len || r->c->events.items[rec->number].kind != EV_SKB ||
	    rec->length > n || rec->offset > rec->length)
		return;
	f = file_of(r->skb, r->c->events.items[rec->number].fmt);
	p.captured = p.length = (u32)(rec->length - rec->offset);
	if (!f || fwrite(&p, sizeof(p), 1, f) != 1 ||
	    fwrite(data + rec->offset, 1, p.captured, f) != p.captured)
		r->output_error = errno ? -errno : -EIO;
}

static int take_records(void *ctx, const void *bytes, size_t n)
{
	struct run *r = ctx;
	const u8 *at = bytes;

	while (n >= sizeof(struct perf_event_header) && !r->output_error) {
		struct perf_event_header h;
		struct skb_record rec;
		u32 size = 0;

		memcpy(&h, at, sizeof(h));
		if (h.size < sizeof(h) || h.size > n)
			break;
		if (h.type == PERF_RECORD_SAMPLE &&
		    h.size >= sizeof(h) + sizeof(size) + sizeof(rec)) {
			memcpy(&size, at + sizeof(h), sizeof(size));
			memcpy(&rec, at + sizeof(h) + sizeof(size), sizeof(rec));
			if (size >= sizeof(rec) && size <= h.size - sizeof(h) - sizeof(size))
				write_packet(r, &rec, at + sizeof(h) + sizeof(size) + sizeof(rec),
					     size - sizeof(rec));
		}
		at += h.size;
		n -= h.size;
	}
	return 0;
}

int run_skb_fd(const struct run *r)
{
	return r->skb ? r->skb->poll_fd : -1;
}

void run_skb_drain(struct run *r)
{
	struct skb_output *o = r->skb;
	u64 lost;

	if (!o)
		return;
	lost = o->stats.lost;
	vec_each(it, &o->rings)
		ring_read(it, &o->stats, take_records, r, NULL);
	r->packets_lost += o->stats.lost - lost;
	vec_each(it, &o->files) {
		if (fflush(it->file) < 0 && !r->output_error)
			r->output_error = -errno;
	}
}

void run_skb_close(struct run *r)
{
	struct skb_output *o = r->skb;

	if (!o)
		return;
	vec_each(it, &o->rings)
		ring_unmap(it);
	vec_each(it, &o->events)
		close(*it);
	vec_each(it, &o->files)
		fclose(it->file);
	if (o->poll_fd >= 0)
		close(o->poll_fd);
	vec_release(&o->rings);
	vec_release(&o->events);
	vec_release(&o->files);
	free(o);
	r->skb = NULL;
}
