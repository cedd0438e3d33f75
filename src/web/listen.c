/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/listen.h"

#include "base/parse.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { BACKLOG = 128, FIRST_INHERITED = 3 };

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int bad_address(const char *text, struct err *e)
{
	err_set(e, EINVAL, "'%s' is not an address", text);
	err_hint(e, "such as 127.0.0.1:7777, [::1]:7777 or 192.0.2.7");
	return -EINVAL;
}

int web_address_parse(struct web_address *ret, const char *text, struct err *e)
{
	const char *port = NULL, *end;
	struct in6_addr six;
	struct in_addr four;
	u64 number = 0;
	size_t n;

	*ret = (struct web_address){ .v6 = text[0] == '[' };
	end = ret->v6 ? strchr(text, ']') : strchrnul(text, ':');
	if (!end)
		return bad_address(text, e);
	n = (size_t)(end - text) - (ret->v6 ? 1 : 0);
	end += ret->v6;
	if (*end)
		port = end + 1;
	if (n >= sizeof(ret->host) || (*end && *end != ':'))
		return bad_address(text, e);
	memcpy(ret->host, text + ret->v6, n);
	if (!n && !ret->v6)
		memcpy(ret->host, "127.0.0.1", sizeof("127.0.0.1"));
	if (port && parse_u64_range(port, 1, UINT16_MAX, &number, NULL) < 0)
		return bad_address(text, e);
	ret->port = (u16)number;
	if (ret->v6 ? inet_pton(AF_INET6, ret->host, &six) != 1
		    : inet_pton(AF_INET, ret->host, &four) != 1)
		return bad_address(text, e);
	ret->loopback = ret->v6 ? IN6_IS_ADDR_LOOPBACK(&six) : ntohl(four.s_addr) >> 24 == 127;
	return 0;
}

static socklen_t fill(const struct web_address *a, u16 port, union address *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (a->v6) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons(port);
		inet_pton(AF_INET6, a->host, &ret->v6.sin6_addr);
		return sizeof(ret->v6);
	}
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = htons(port);
	inet_pton(AF_INET, a->host, &ret->v4.sin_addr);
	return sizeof(ret->v4);
}

static u16 port_of(int fd)
{
	union address where = { 0 };
	socklen_t n = sizeof(where);

	if (getsockname(fd, &where.any, &n) < 0)
		return 0;
	return where.any.sa_family == AF_INET6 ? ntohs(where.v6.sin6_port)
					       : ntohs(where.v4.sin_port);
}

int web_listen(struct web_address *a, int *ret_fd, struct err *e)
{
	_cleanup_close_ int fd =
		socket(a->v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	union address where;
	socklen_t n = fill(a, a->port ? a->port : WEB_PORT, &where);
	int r;

	if (fd < 0)
		return err_sys(e, errno, "cannot open a socket");
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	r = bind(fd, &where.any, n);
	if (r < 0 && errno == EADDRINUSE && !a->port) {
		n = fill(a, 0, &where);
		r = bind(fd, &where.any, n);
	}
	if (r < 0 || listen(fd, BACKLOG) < 0) {
		int code = errno;

		err_sys(e, code, "cannot listen on '%s' port %u", a->host, a->port);
		if (code == EADDRINUSE)
			err_hint(
				e,
				"another program has it; choose another port with --listen %s:PORT",
				a->host);
		else if (code == EACCES)
			err_hint(e, "ports below 1024 need root; choose another one");
		return -code;
	}
	a->port = port_of(fd);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* A socket without a listener is in the way; anything else is not ours. */
static int remove_dead(const char *path, const struct sockaddr_un *where, struct err *e)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode) ||
	    connect(fd, (const struct sockaddr *)where, sizeof(*where)) == 0 ||
	    errno != ECONNREFUSED)
		return err_set(e, EEXIST, "'%s' exists and is in use", path);
	return unlink(path) < 0 ? err_sys(e, errno, "cannot remove '%s'", path) : 0;
}

int web_listen_local(const char *path, int *ret_fd, struct err *e)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_un where = { .sun_family = AF_UNIX };
	mode_t mask;
	int r;

	if (strlen(path) >= sizeof(where.sun_path))
		return err_set(e, ENAMETOOLONG, "'%s' is too long for a socket", path);
	memcpy(where.sun_path, path, strlen(path));
	r = remove_dead(path, &where, e);
	if (r < 0)
		return r;
	mask = umask(0177);
	r = bind(fd, (const struct sockaddr *)&where, sizeof(where));
	(void)umask(mask);
	if (r < 0 || listen(fd, BACKLOG) < 0)
		return err_sys(e, errno, "cannot listen on '%s'", path);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int web_listen_inherited(int *ret_fd, bool *ret_local, u16 *ret_port)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	union address where = { 0 };
	socklen_t n = sizeof(where);
	u64 number;

	if (!pid || !fds || !streq(fds, "1") || parse_u64(pid, &number, NULL) < 0 ||
	    number != (u64)getpid())
		return -ENOENT;
	if (getsockname(FIRST_INHERITED, &where.any, &n) < 0)
		return -ENOENT;
	(void)fcntl(FIRST_INHERITED, F_SETFD, FD_CLOEXEC);
	(void)fcntl(FIRST_INHERITED, F_SETFL, O_NONBLOCK);
	*ret_fd = FIRST_INHERITED;
	*ret_local = where.any.sa_family == AF_UNIX;
	*ret_port = port_of(FIRST_INHERITED);
	return 0;
}
