/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/message.h"

#include "base/io.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

int web_request_send(int fd, const struct web_request *r)
{
	ssize_t n;

	do
		n = send(fd, r, sizeof(*r), MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*r) ? 0 : -(n < 0 ? errno : EIO);
}

void web_outbox_release(struct web_outbox *o)
{
	vec_each(r, &o->waiting)
		free(*r);
	vec_release(&o->waiting);
}

int web_outbox_flush(struct web_outbox *o)
{
	size_t sent = 0;
	int r = 0;

	while (sent < o->waiting.len) {
		r = web_request_send(o->fd, o->waiting.items[sent]);
		if (r < 0)
			break;
		free(o->waiting.items[sent++]);
	}
	o->waiting.len -= sent;
	if (sent)
		memmove(o->waiting.items, o->waiting.items + sent,
			o->waiting.len * sizeof(*o->waiting.items));
	return r == -EAGAIN ? 0 : r;
}

int web_outbox_send(struct web_outbox *o, const struct web_request *r)
{
	int rc = o->waiting.len ? -EAGAIN : web_request_send(o->fd, r);

	if (rc != -EAGAIN)
		return rc;
	vec_push(&o->waiting, xmemdup(r, sizeof(*r)));
	return 0;
}

static bool ends(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static bool is_sound(const struct web_request *r)
{
	return r->ask >= 1 && r->ask <= ASK_LAST && r->role <= ROLE_PROGRAM &&
	       r->kind <= KIND_LAST && r->target <= TARGET_THREAD && r->form <= FORM_LAST &&
	       ends(r->group, sizeof(r->group)) && ends(r->name, sizeof(r->name)) &&
	       ends(r->text, sizeof(r->text));
}

int web_request_receive(int fd, struct web_request *ret)
{
	ssize_t n;

	do
		n = recv(fd, ret, sizeof(*ret), 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : 0;
	return n == (ssize_t)sizeof(*ret) && is_sound(ret) ? 1 : -EBADMSG;
}

static int send_reply(int fd, const struct web_reply *r, const void *bytes, size_t n, int file)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec parts[] = {
		{ (void *)(uintptr_t)r, sizeof(*r) },
		{ (void *)(uintptr_t)bytes, n },
	};
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = n ? 2 : 1 };
	ssize_t sent;

	if (file >= 0) {
		struct cmsghdr *c;

		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &file, sizeof(file));
	}
	do
		sent = sendmsg(fd, &m, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

int web_reply_send_file(int fd, const struct web_reply *r, int file)
{
	struct web_reply with = *r;
	struct stat st;

	if (fstat(file, &st) < 0)
		return -errno;
	if (st.st_size > WEB_REPLY_MOST)
		return -EFBIG;
	with.attached = 1;
	with.size = (u64)st.st_size;
	return send_reply(fd, &with, NULL, 0, file);
}

int web_reply_send(int fd, const struct web_reply *r, const void *bytes, size_t n)
{
	struct web_reply with = *r;
	_cleanup_close_ int file = -1;
	int rc;

	with.size = n;
	if (n <= WEB_INLINE_MOST)
		return send_reply(fd, &with, bytes, n, -1);
	file = memfd_create("fathom-reply", MFD_CLOEXEC);
	if (file < 0)
		return -errno;
	rc = io_write_all(file, bytes, n);
	return rc < 0 ? rc : web_reply_send_file(fd, r, file);
}

int web_reply_send_scratch(int fd, const struct web_reply *r, struct buf *text)
{
	bool is_large = text->cap > WEB_SCRATCH_KEPT;
	int rc = web_reply_send(fd, r, buf_str(text), text->len);

	buf_reset_most(text, WEB_SCRATCH_KEPT);
	/* the second large block comes from the heap, whose end free() keeps */
	if (is_large)
		malloc_trim(0);
	return rc;
}

static int take_file(struct msghdr *m)
{
	int file = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		    c->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(&file, CMSG_DATA(c), sizeof(file));
	return file;
}

int web_reply_receive(int fd, struct web_reply *ret, struct buf *bytes, int *ret_file)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec parts[2] = { { ret, sizeof(*ret) } };
	struct msghdr m = { .msg_iov = parts,
			    .msg_iovlen = 2,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	ssize_t n;

	buf_reset(bytes);
	parts[1] = (struct iovec){ buf_reserve(bytes, WEB_INLINE_MOST), WEB_INLINE_MOST };
	do
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : 0;
	*ret_file = take_file(&m);
	if (n < (ssize_t)sizeof(*ret) || ret->attached != (*ret_file >= 0) ||
	    (!ret->attached && ret->size != (u64)n - sizeof(*ret))) {
		if (*ret_file >= 0)
			close(*ret_file);
		*ret_file = -1;
		return -EBADMSG;
	}
	buf_added(bytes, (size_t)n - sizeof(*ret));
	return 1;
}
