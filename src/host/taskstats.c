/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/taskstats.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { REPLY_SIZE = 8192 };

struct request {
	struct nlmsghdr head;
	struct genlmsghdr generic;
	struct nlattr attr;
	u8 value[32];
};

/* One netlink attribute inside a received message. */
struct attribute {
	u16 type;
	const u8 *data;
	size_t len;
};

static int send_request(struct taskstats_socket *s, u16 type, u8 cmd, u16 attr, const void *value,
			size_t len)
{
	struct request q;
	size_t size = offsetof(struct request, value) + NLA_ALIGN(len);

	memset(&q, 0, sizeof(q));
	q.head.nlmsg_len = (u32)size;
	q.head.nlmsg_type = type;
	q.head.nlmsg_flags = NLM_F_REQUEST;
	q.head.nlmsg_seq = ++s->sequence;
	q.generic.cmd = cmd;
	q.generic.version = 1;
	q.attr.nla_type = attr;
	q.attr.nla_len = (u16)(sizeof(q.attr) + len);
	memcpy(q.value, value, len);
	return send(s->fd, &q, size, 0) < 0 ? -errno : 0;
}

/* The attributes of the reply to the last request. */
static int receive(struct taskstats_socket *s, u8 *room, const u8 **ret_attrs, size_t *ret_len)
{
	const size_t before = sizeof(struct nlmsghdr) + sizeof(struct genlmsghdr);
	ssize_t n = recv(s->fd, room, REPLY_SIZE, 0);
	struct nlmsghdr head;
	s32 code;

	if (n < 0)
		return -errno;
	if ((size_t)n < before)
		return -EBADMSG;
	memcpy(&head, room, sizeof(head));
	if (head.nlmsg_len > (size_t)n || head.nlmsg_len < before)
		return -EBADMSG;
	if (head.nlmsg_type == NLMSG_ERROR) {
		memcpy(&code, room + sizeof(head), sizeof(code));
		return code < 0 ? code : -EBADMSG;
	}
	if (head.nlmsg_seq != s->sequence)
		return -EBADMSG;
	*ret_attrs = room + before;
	*ret_len = head.nlmsg_len - before;
	return 0;
}

static bool next_attribute(const u8 **p, size_t *left, struct attribute *ret)
{
	struct nlattr a;
	size_t step;

	if (*left < sizeof(a))
		return false;
	memcpy(&a, *p, sizeof(a));
	if (a.nla_len < sizeof(a) || a.nla_len > *left)
		return false;
	ret->type = a.nla_type & NLA_TYPE_MASK;
	ret->data = *p + sizeof(a);
	ret->len = a.nla_len - sizeof(a);
	step = MIN((size_t)NLA_ALIGN(a.nla_len), *left);
	*p += step;
	*left -= step;
	return true;
}

static bool find_attribute(const u8 *p, size_t left, u16 type, struct attribute *ret)
{
	while (next_attribute(&p, &left, ret)) {
		if (ret->type == type)
			return true;
	}
	return false;
}

static int find_family(struct taskstats_socket *s)
{
	static const char name[] = TASKSTATS_GENL_NAME;
	u8 room[REPLY_SIZE];
	struct attribute a;
	const u8 *attrs;
	size_t len;
	int r;

	r = send_request(s, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, name,
			 sizeof(name));
	if (r == 0)
		r = receive(s, room, &attrs, &len);
	if (r < 0)
		return r;
	if (!find_attribute(attrs, len, CTRL_ATTR_FAMILY_ID, &a) || a.len < sizeof(s->family))
		return -EBADMSG;
	memcpy(&s->family, a.data, sizeof(s->family));
	return 0;
}

int taskstats_open(struct taskstats_socket *s)
{
	const struct timeval second = { .tv_sec = 1 };
	int r;

	*s = (struct taskstats_socket)TASKSTATS_SOCKET_INIT;
	s->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (s->fd < 0)
		return -errno;
	/* The kernel answers at once or not at all. */
	r = setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second)) < 0 ? -errno : 0;
	if (r == 0)
		r = find_family(s);
	if (r < 0)
		taskstats_close(s);
	return r;
}

void taskstats_close(struct taskstats_socket *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int taskstats_read(struct taskstats_socket *s, u32 tid, struct taskstats *ret)
{
	u8 room[REPLY_SIZE];
	struct attribute outer, a;
	const u8 *attrs;
	size_t len;
	int r;

	r = send_request(s, s->family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, &tid,
			 sizeof(tid));
	if (r == 0)
		r = receive(s, room, &attrs, &len);
	if (r < 0)
		return r;
	if (!find_attribute(attrs, len, TASKSTATS_TYPE_AGGR_PID, &outer) ||
	    !find_attribute(outer.data, outer.len, TASKSTATS_TYPE_STATS, &a))
		return -EBADMSG;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, a.data, MIN(a.len, sizeof(*ret)));
	return 0;
}
