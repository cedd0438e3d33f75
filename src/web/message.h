/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two processes of `fathom serve` say to each other, over a socket pair that keeps
 * messages whole: requests are numbers and short texts of fixed size, replies are bytes or, where
 * they are many, a file to read. Neither side trusts the other's sizes.
 */
#ifndef WEB_MESSAGE_H
#define WEB_MESSAGE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "web/guard.h"

enum web_ask {
	ASK_ABOUT = 1,
	ASK_HISTORY,
	ASK_COUNTERS,
	ASK_METRICS,
	ASK_RECORD,
	ASK_DIFF,
	ASK_TOOL,
	ASK_PROGRAM,
	ASK_STOP,
	ASK_JOBS,
	ASK_RESULT,
	ASK_FILE,
	ASK_TOOLS,
	ASK_WATCH, /* @number streams are open, @id of them may record */
	ASK_LEFT,  /* stream @stream is gone */
	/* answered by the HTTP side itself */
	ASK_STREAM,
	ASK_OPENAPI,
	ASK_PEERS,
	ASK_PEER_HISTORY,
	ASK_HEALTH,
	ASK_LAST = ASK_HEALTH,
};

enum web_kind {
	KIND_ONCPU = 1,
	KIND_OFFCPU,
	KIND_HOTCOLD,
	KIND_CHAIN,
	KIND_SCHED,
	KIND_LAST = KIND_SCHED
};
enum web_target { TARGET_MACHINE = 1, TARGET_CGROUP, TARGET_PROCESS, TARGET_THREAD };
enum web_form { FORM_HTML = 1, FORM_DATA, FORM_SVG, FORM_JSON, FORM_CSV, FORM_LAST = FORM_CSV };

enum { WEB_GROUP_MOST = 512, WEB_NAME_MOST = 64, WEB_TEXT_MOST = 16 << 10 };

/* All that can be asked; fields that an ask does not use are 0. */
struct web_request {
	u64 ref; /* the reply has it, too */
	u32 ask;
	u32 role;
	u64 stream; /* the client; its end ends what it began */
	u64 number;
	u64 id;
	u64 job, other;
	u64 seconds, hz;
	u64 from, to; /* wall clock, ms */
	u64 before_from, before_to;
	u32 kind, target, form, compat;
	char group[WEB_GROUP_MOST];
	char name[WEB_NAME_MOST];
	char text[WEB_TEXT_MOST];
};

enum web_reply_type { REPLY_ANSWER = 1, REPLY_FRAME, REPLY_EVENT };

enum web_content {
	CONTENT_JSON = 1,
	CONTENT_METRICS,
	CONTENT_HTML,
	CONTENT_DATA,
	CONTENT_SVG,
	CONTENT_CSV,
	CONTENT_LINES
};

struct web_reply {
	u64 ref; /* REPLY_ANSWER: of the request; REPLY_EVENT: the stream, 0: all */
	u32 type;
	u32 status; /* of HTTP; REPLY_EVENT: the least role that gets it */
	u32 content;
	u32 attached; /* the bytes are in the file that comes along */
	u64 size;
};

enum { WEB_INLINE_MOST = 48 << 10, WEB_REPLY_MOST = 1 << 30, WEB_SCRATCH_KEPT = 256 << 10 };

/* Does not wait: -EAGAIN while the other side has too many to read. */
int web_request_send(int fd, const struct web_request *r);
/* 1: @ret is a request whose enums are in range and whose texts end; 0: the other side is gone. */
int web_request_receive(int fd, struct web_request *ret);

/* Requests that wait until there is room: who answers them must never wait for who asks. */
struct web_outbox {
	int fd;
	VEC(struct web_request *) waiting;
};

void web_outbox_release(struct web_outbox *o);
/* After those that wait. */
int web_outbox_send(struct web_outbox *o, const struct web_request *r);
int web_outbox_flush(struct web_outbox *o);

/* Many bytes travel in a file in memory. */
int web_reply_send(int fd, const struct web_reply *r, const void *bytes, size_t n);
/* The same of a scratch buffer, which keeps no more memory than answers usually need. */
int web_reply_send_scratch(int fd, const struct web_reply *r, struct buf *text);
/* The file is read by the other side from its start to its end. */
int web_reply_send_file(int fd, const struct web_reply *r, int file);
/* 1, 0: gone. @ret_file is -1 unless a file came along. */
int web_reply_receive(int fd, struct web_reply *ret, struct buf *bytes, int *ret_file);

#endif
