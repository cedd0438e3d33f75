/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/machine.h"

#include "base/io.h"
#include "host/mount.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <time.h>

enum { SMALL = 1 << 20 };

/* The next line without its end; false after the last. */
static bool next_line(const char **text, const char *end, const char **ret_line,
		      const char **ret_eol)
{
	const char *eol;

	if (*text >= end)
		return false;
	eol = memchr(*text, '\n', (size_t)(end - *text));
	*ret_line = *text;
	*ret_eol = eol ? eol : end;
	*text = eol ? eol + 1 : end;
	return true;
}

int machine_os_release(const char *text, size_t len, const char *key, struct buf *ret)
{
	const char *end = text + len, *line, *eol;
	size_t n = strlen(key);

	while (next_line(&text, end, &line, &eol)) {
		if ((size_t)(eol - line) <= n || memcmp(line, key, n) != 0 || line[n] != '=')
			continue;
		line += n + 1;
		if (eol - line >= 2 && (*line == '"' || *line == '\'') && eol[-1] == *line) {
			line++;
			eol--;
		}
		buf_reset(ret);
		buf_add(ret, line, (size_t)(eol - line));
		return 0;
	}
	return -ENOENT;
}

int machine_colon_line(const char *text, size_t len, const char *key, struct buf *ret)
{
	const char *end = text + len, *line, *eol;
	size_t n = strlen(key);

	while (next_line(&text, end, &line, &eol)) {
		if ((size_t)(eol - line) <= n || memcmp(line, key, n) != 0)
			continue;
		line += n;
		while (line < eol && (*line == ' ' || *line == '\t'))
			line++;
		if (line >= eol || *line != ':')
			continue;
		line++;
		while (line < eol && (*line == ' ' || *line == '\t'))
			line++;
		buf_reset(ret);
		buf_add(ret, line, (size_t)(eol - line));
		return 0;
	}
	return -ENOENT;
}

int machine_online(range_list *ret, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = io_read_line("/sys/devices/system/cpu/online", &text, e);

	return r < 0 ? r : parse_ranges(buf_str(&text), MACHINE_MAX_CPUS - 1, ret, e);
}

static char *os_name(void)
{
	static const char *const files[] = { "/etc/os-release", "/usr/lib/os-release" };
	_cleanup_buf_ struct buf text = BUF_INIT, value = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (io_read_file(files[i], SMALL, &text, NULL) == 0 &&
		    machine_os_release(buf_str(&text), text.len, "PRETTY_NAME", &value) == 0)
			return buf_detach(&value);
	}
	return xstrdup("");
}

/* The first processor's lines are enough, and the file of a big machine takes milliseconds. */
static void read_cpu(struct host_machine *m)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/cpuinfo", "re");
	_cleanup_buf_ struct buf value = BUF_INIT;
	char text[4096];
	size_t n = f ? fread(text, 1, sizeof(text), f) : 0;

	if (machine_colon_line(text, n, "model name", &value) == 0)
		m->cpu_model = buf_detach(&value);
	if (machine_colon_line(text, n, "vendor_id", &value) == 0)
		m->vendor = buf_detach(&value);
	if (!m->cpu_model)
		m->cpu_model = xstrdup("");
	if (!m->vendor)
		m->vendor = xstrdup("");
}

static u64 read_memory(void)
{
	_cleanup_buf_ struct buf text = BUF_INIT, value = BUF_INIT;
	const char *s, *end;
	u64 kib;

	if (io_read_file("/proc/meminfo", SMALL, &text, NULL) < 0 ||
	    machine_colon_line(buf_str(&text), text.len, "MemTotal", &value) < 0)
		return 0;
	s = buf_str(&value);
	end = s + value.len;
	return scan_u64(&s, end, 10, &kib) && kib <= UINT64_MAX >> 10 ? kib << 10 : 0;
}

void host_machine_init(struct host_machine *m)
{
	memset(m, 0, sizeof(*m));
}

int host_machine_read(struct host_machine *m, struct err *e)
{
	struct utsname u;

	if (uname(&u) < 0)
		return err_sys(e, errno, "cannot read the name of the kernel");
	m->hostname = xstrdup(u.nodename);
	m->release = xstrdup(u.release);
	m->version = xstrdup(u.version);
	m->arch = xstrdup(u.machine);
	m->distribution = os_name();
	read_cpu(m);
	m->memory = read_memory();
	return machine_online(&m->online, e);
}

void host_machine_release(struct host_machine *m)
{
	free(m->hostname);
	free(m->release);
	free(m->version);
	free(m->arch);
	free(m->distribution);
	free(m->cpu_model);
	free(m->vendor);
	vec_release(&m->online);
	host_machine_init(m);
}

/* securityfs is often not mounted in containers and small guests: root can look anyway. */
static int open_lockdown(void)
{
	_cleanup_close_ int place = -1;
	int fd = open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	place = mount_detached("securityfs");
	return place < 0 ? place : openat(place, "lockdown", O_RDONLY | O_CLOEXEC);
}

enum lockdown machine_lockdown(void)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_close_ int fd = open_lockdown();

	if (fd < 0 || io_read_fd(fd, "lockdown", SMALL, &text, NULL) < 0)
		return LOCKDOWN_UNKNOWN;
	if (strstr(buf_str(&text), "[none]"))
		return LOCKDOWN_NONE;
	if (strstr(buf_str(&text), "[integrity]"))
		return LOCKDOWN_INTEGRITY;
	if (strstr(buf_str(&text), "[confidentiality]"))
		return LOCKDOWN_CONFIDENTIALITY;
	return LOCKDOWN_UNKNOWN;
}

int machine_sysctl(const char *name, s64 *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	char path[256];
	int r;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	r = io_read_line(path, &text, NULL);
	return r < 0 ? r : parse_s64(buf_str(&text), ret, NULL);
}

u32 machine_thread_room(void)
{
	enum { MORE = 8192, MOST = 1 << 20 };
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *all;
	u64 n = 0;

	/* "0.15 0.69 1.22 1/186 4711": of 186 threads one runs */
	if (io_read_line("/proc/loadavg", &text, NULL) >= 0) {
		all = strchr(buf_str(&text), '/');
		n = all ? strtoull(all + 1, NULL, 10) : 0;
	}
	return (u32)MIN(2 * MIN(n, (u64)MOST) + MORE, (u64)MOST);
}
