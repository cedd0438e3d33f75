/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/load.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/parse.h"
#include "host/procfs.h"

enum { FIELDS = 8, IDLE = 3, IOWAIT = 4 };

static struct load_cpu *cpu_at(struct load_moment *m, u64 cpu)
{
	if (cpu >= LOAD_CPUS_MOST)
		return NULL;
	while (m->cpus.len <= cpu)
		(void)vec_new(&m->cpus);
	return &m->cpus.items[cpu];
}

static const char *line_end(const char *s, const char *end)
{
	const char *eol = memchr(s, '\n', (size_t)(end - s));

	return eol ? eol : end;
}

static void skip_blanks(const char **s, const char *end)
{
	while (*s < end && (**s == ' ' || **s == '\t'))
		++*s;
}

/* "cpu3 user nice system idle iowait irq softirq steal guest ...": guest is in user already. */
static void parse_cpu_line(struct load_moment *m, const char *s, const char *end)
{
	u64 cpu, fields[FIELDS] = { 0 };
	struct load_cpu *c;

	if (!scan_u64(&s, end, 10, &cpu) || !(c = cpu_at(m, cpu)))
		return;
	for (size_t i = 0; i < FIELDS; i++) {
		skip_blanks(&s, end);
		if (!scan_u64(&s, end, 10, &fields[i]))
			break;
	}
	c->known = true;
	c->idle = fields[IDLE] + fields[IOWAIT];
	c->busy = 0;
	for (size_t i = 0; i < FIELDS; i++)
		c->busy += i == IDLE || i == IOWAIT ? 0 : fields[i];
}

void load_parse_stat(struct load_moment *m, const char *text, size_t len)
{
	const char *end = text + len;

	for (const char *s = text; s < end; s = line_end(s, end) + 1) {
		const char *eol = line_end(s, end);

		if (eol - s > 3 && memcmp(s, "cpu", 3) == 0 && s[3] >= '0' && s[3] <= '9')
			parse_cpu_line(m, s + 3, eol);
	}
}

/* The heading names the CPUs of the columns; each line has a count for each of them. */
void load_parse_interrupts(struct load_moment *m, const char *text, size_t len)
{
	const char *end = text + len, *s = text, *eol = line_end(text, end);
	VEC(u32) columns = { 0 };
	u64 v;

	while (s < eol && columns.len < LOAD_CPUS_MOST) {
		skip_blanks(&s, eol);
		if (eol - s < 4 || memcmp(s, "CPU", 3) != 0)
			break;
		s += 3;
		if (!scan_u64(&s, eol, 10, &v) || v >= LOAD_CPUS_MOST)
			break;
		vec_push(&columns, (u32)v);
	}
	for (s = eol + 1; s < end; s = eol + 1) {
		eol = line_end(s, end);
		s = memchr(s, ':', (size_t)(eol - s));
		if (!s)
			continue;
		s++;
		for (size_t i = 0; i < columns.len; i++) {
			struct load_cpu *c = cpu_at(m, columns.items[i]);

			skip_blanks(&s, eol);
			if (!scan_u64(&s, eol, 10, &v))
				break;
			c->interrupts += v;
		}
	}
	vec_release(&columns);
}

/* --- who wants to run ------------------------------------------------------------------------- */

static void count_runnable(struct load_moment *m)
{
	pid_list pids = { 0 }, tids = { 0 };

	if (procfs_pids(&pids, NULL) < 0)
		return;
	vec_each(pid, &pids) {
		if (procfs_tids(*pid, &tids, NULL) < 0)
			continue;
		vec_each(tid, &tids) {
			struct proc_stat stat;
			struct load_cpu *c;

			if (procfs_stat(*pid, *tid, &stat) < 0 || stat.state != 'R' ||
			    *pid == (u32)getpid())
				continue;
			c = cpu_at(m, stat.cpu);
			if (c)
				c->runnable++;
		}
	}
	vec_release(&pids);
	vec_release(&tids);
}

/* --- memory ----------------------------------------------------------------------------------- */

static u64 number_after(const struct buf *text, const char *key)
{
	const char *at = strstr(buf_str(text), key);
	u64 v = 0;

	if (!at)
		return 0;
	at += strlen(key);
	skip_blanks(&at, text->data + text->len);
	return scan_u64(&at, text->data + text->len, 10, &v) ? v : 0;
}

static void read_node(struct load_moment *m, u32 node)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct load_node n = { 0 };
	char path[96];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo", node);
	if (io_read_file(path, 1 << 20, &text, NULL) >= 0) {
		n.total = number_after(&text, "MemTotal:") << 10;
		n.free = number_after(&text, "MemFree:") << 10;
		n.known = n.total > 0;
	}
	buf_reset(&text);
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/numastat", node);
	if (io_read_file(path, 1 << 20, &text, NULL) >= 0)
		n.allocated =
			number_after(&text, "local_node ") + number_after(&text, "other_node ");
	while (m->nodes.len <= node)
		(void)vec_new(&m->nodes);
	m->nodes.items[node] = n;
}

static void read_nodes(struct load_moment *m)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	range_list nodes = { 0 };

	if (io_read_line("/sys/devices/system/node/online", &text, NULL) >= 0 &&
	    parse_ranges(buf_str(&text), LOAD_NODES_MOST - 1, &nodes, NULL) >= 0) {
		vec_each(range, &nodes) {
			for (u64 node = range->first; node <= range->last; node++)
				read_node(m, (u32)node);
		}
	}
	vec_release(&nodes);
}

int load_read(struct load_moment *m, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = io_read_file("/proc/stat", IO_MAX_PROC, &text, e);

	*m = (struct load_moment){ .time = clock_mono_ns() };
	if (r < 0)
		return r;
	load_parse_stat(m, buf_str(&text), text.len);
	buf_reset(&text);
	if (io_read_file("/proc/interrupts", IO_MAX_PROC, &text, NULL) >= 0)
		load_parse_interrupts(m, buf_str(&text), text.len);
	count_runnable(m);
	read_nodes(m);
	return 0;
}

void load_release(struct load_moment *m)
{
	vec_release(&m->cpus);
	vec_release(&m->nodes);
}
