/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "unit/harness.h"
#include "view/openmetrics.h"
#include "web/exports.h"
#include "web/history.h"
#include "web/latency.h"
#include "web/listen.h"
#include "web/message.h"
#include "web/peer.h"
#include "web/peer_text.h"
#include "web/route.h"
#include "web/tools.h"

#include <sys/socket.h>

static int parse(const char *text, struct http_request *r)
{
	return http_parse(text, strlen(text), r);
}

TEST(http_request_is_taken_apart)
{
	static const char text[] = "POST /api/v1/record?a=b HTTP/1.1\r\nHost: localhost:7777\r\n"
				   "content-LENGTH:  3 \r\nAuthorization: Bearer x\r\n\r\nabc";
	struct http_request r;

	CHECK_EQ(parse(text, &r), (int)strlen(text) - 3);
	CHECK(r.method == HTTP_POST && r.keep && r.body == 3);
	CHECK(http_text_is(r.path, "/api/v1/record"));
	CHECK(http_text_is(r.query, "a=b"));
	CHECK(http_text_is(r.host, "localhost:7777"));
	CHECK(http_text_is(r.authorization, "Bearer x"));
}

TEST(http_half_a_head_waits_for_more)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	struct http_request r;

	for (size_t n = 0; n < strlen(text); n++)
		CHECK_EQ(http_parse(text, n, &r), 0);
	CHECK_EQ(parse(text, &r), (int)strlen(text));
}

TEST(http_what_could_be_read_in_two_ways_is_refused)
{
	static const struct {
		const char *text;
		int status;
	} cases[] = {
		{ "GET / HTTP/1.1\nHost: a\n\n", -400 },
		{ "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", -400 },
		{ "GET / HTTP/1.1\r\n\r\n", -400 },
		{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
		  -400 },
		{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", -400 },
		{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1x\r\n\r\n", -400 },
		{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", -400 },
		{ "POST / HTTP/1.1\r\nHost: a\r\n\r\n", -411 },
		{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", -413 },
		{ "GET / HTTP/1.1\r\nHost : a\r\n\r\n", -400 },
		{ "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", -400 },
		{ "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n", -400 },
		{ "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", -400 },
		{ "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", -400 },
		{ "GET / HTTP/2.0\r\nHost: a\r\n\r\n", -505 },
		{ "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", -501 },
		{ "get / HTTP/1.1\r\nHost: a\r\n\r\n", -400 },
		{ "GET /\r\n\r\n", -400 },
		{ "\r\n\r\n", -400 },
	};
	struct http_request r;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (parse(cases[i].text, &r) != cases[i].status)
			FAIL("'%s' gives %d", cases[i].text, parse(cases[i].text, &r));
}

TEST(http_a_coding_of_weight_0_is_not_accepted)
{
	static const struct {
		const char *list;
		bool accepted;
	} cases[] = {
		{ "gzip", true },
		{ "deflate, gzip, br", true },
		{ "br;q=1.0, GZIP ;q=0.8", true },
		{ "gzip;q=0.001", true },
		{ "gzip;q=0", false },
		{ "gzip; Q=0.000, br", false },
		{ "br, gzip ; q=0.", false },
		{ "gzip;x=1;q=0", false },
		{ "br;q=0, gzip", true },
		{ "xgzip", false },
		{ "gzip2, identity", false },
		{ ",,;", false },
		{ "", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct http_text t = { cases[i].list, strlen(cases[i].list) };

		if (http_accepts(t, "gzip") != cases[i].accepted)
			test_fail(__FILE__, __LINE__, "'%s' is taken wrongly", cases[i].list);
	}
	CHECK(!http_accepts((struct http_text){ 0 }, "gzip"));
}

TEST(http_a_large_head_is_refused)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct http_request r;

	buf_addstr(&text, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
	buf_fill(&text, 'x', HTTP_HEAD_MOST);
	CHECK_EQ(http_parse(text.data, text.len, &r), -431);
	buf_reset(&text);
	buf_addstr(&text, "GET / HTTP/1.1\r\n");
	for (int i = 0; i < 100; i++)
		buf_addstr(&text, "A: b\r\n");
	CHECK_EQ(http_parse(text.data, text.len, &r), -431);
}

static enum web_role role_of(const struct web_guard *g, const char *text)
{
	return web_guard_role(g, (struct http_text){ text, strlen(text) });
}

TEST(web_token_gives_its_role_and_nothing_else_does)
{
	struct web_guard g = { 0 };
	char text[64];

	CHECK_EQ(web_guard_add_token(&g, ROLE_TRACE, NULL), 0);
	CHECK_EQ(web_guard_add_token(&g, ROLE_VIEW, NULL), 0);
	CHECK(!streq(g.tokens.items[0].text, g.tokens.items[1].text));
	CHECK_EQ(strlen(g.tokens.items[0].text), TOKEN_TEXT);
	snprintf(text, sizeof(text), "Bearer %s", g.tokens.items[1].text);
	CHECK_EQ(role_of(&g, text), ROLE_VIEW);
	text[strlen(text) - 1] ^= 1;
	CHECK_EQ(role_of(&g, text), ROLE_NONE);
	CHECK_EQ(role_of(&g, "Bearer "), ROLE_NONE);
	CHECK_EQ(role_of(&g, g.tokens.items[0].text), ROLE_NONE);
	CHECK_EQ(web_guard_role(&g, (struct http_text){ 0 }), ROLE_NONE);
	web_guard_release(&g);
}

TEST(web_host_must_be_ours)
{
	static const struct {
		const char *host;
		bool good;
	} cases[] = {
		{ "localhost", true },
		{ "LOCALHOST:1", true },
		{ "127.0.0.1:7777", true },
		{ "[::1]:7777", true },
		{ "build7:80", true },
		{ "evil.example", false },
		{ "localhost.evil", false },
		{ "127.0.0.1.evil", false },
		{ "", false },
		{ "build7.evil", false },
		{ "[::1", false },
		{ "[::1]", true },
		{ "[::1]evil", false },
		{ "[::1]@evil:80", false },
		{ ":80", false },
	};
	struct web_guard g = { 0 };

	vec_push(&g.names, xstrdup("build7"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct http_text t = { cases[i].host, strlen(cases[i].host) };

		if (web_guard_host(&g, t) != cases[i].good)
			FAIL("host '%s'", cases[i].host);
	}
	web_guard_release(&g);
}

TEST(web_origin_of_others_is_refused)
{
	static const struct {
		const char *headers;
		bool good;
	} cases[] = {
		{ "", true },
		{ "Origin: http://localhost:7777\r\n", true },
		{ "Origin: http://evil.example\r\n", false },
		{ "Origin: null\r\n", false },
		{ "Sec-Fetch-Site: same-origin\r\n", true },
		{ "Sec-Fetch-Site: none\r\n", true },
		{ "Sec-Fetch-Site: cross-site\r\n", false },
		{ "Sec-Fetch-Site: same-site\r\nOrigin: http://localhost:7777\r\n", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[256];
		struct http_request r;

		snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: localhost:7777\r\n%s\r\n",
			 cases[i].headers);
		CHECK(parse(text, &r) > 0);
		if (web_guard_origin(&r) != cases[i].good)
			FAIL("%s", cases[i].headers);
	}
}

TEST(web_bucket_fills_with_time)
{
	struct web_bucket b = { 0 };
	u64 now = NSEC_PER_SEC;

	for (int i = 0; i < 4; i++)
		CHECK(web_bucket_take(&b, now, 2, 4));
	CHECK(!web_bucket_take(&b, now, 2, 4));
	CHECK(web_bucket_take(&b, now + NSEC_PER_SEC, 2, 4));
	/* a clock that went back gives nothing */
	CHECK(web_bucket_take(&b, now, 2, 4));
	CHECK(!web_bucket_take(&b, now, 2, 4));
}

static int decode(const char *head, const char *body, struct web_request *ret, struct err *e)
{
	struct http_request r;
	const struct route *route;
	int status;

	CHECK(parse(head, &r) > 0);
	route = web_route_find(&r, &status);
	if (!route)
		return -status;
	return web_route_decode(route, &r, body, strlen(body), ret, e);
}

#define POST(path) "POST " path " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
#define GET(path)  "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

TEST(web_request_is_decoded_by_the_table)
{
	struct web_request q;

	CHECK_EQ(decode(POST("/api/v1/record"),
			"{\"kind\":\"hotcold\",\"target\":\"process\",\"id\":42,\"seconds\":\"7\"}",
			&q, NULL),
		 0);
	CHECK(q.ask == ASK_RECORD && q.kind == KIND_HOTCOLD && q.target == TARGET_PROCESS);
	CHECK(q.id == 42 && q.seconds == 7 && q.hz == 99);
	CHECK_EQ(decode(POST("/api/v1/jobs/12/stop"), "", &q, NULL), 0);
	CHECK(q.ask == ASK_STOP && q.job == 12);
	CHECK_EQ(decode(GET("/api/v1/jobs/12/result?as=svg"), "", &q, NULL), 0);
	CHECK(q.form == FORM_SVG);
	CHECK_EQ(decode(POST("/api/v1/tools/run"),
			"{\"tool\":\"biolatency\",\"options\":[\"disk=a b\",\"flags\"]}", &q, NULL),
		 0);
	CHECK_STR(q.text, "disk=a b\nflags\n");
	CHECK_EQ(decode(GET("/api/v1/history?from=1&to=%32"), "", &q, NULL), 0);
	CHECK(q.from == 1 && q.to == 2);
}

TEST(web_request_out_of_range_is_refused)
{
	static const struct {
		const char *head, *body, *what;
	} cases[] = {
		{ POST("/api/v1/record"), "{\"seconds\":61}", "seconds" },
		{ POST("/api/v1/record"), "{\"hz\":1000}", "hz" },
		{ POST("/api/v1/record"), "{\"id\":-1}", "id" },
		{ POST("/api/v1/record"), "{\"id\":1.5}", "id" },
		{ POST("/api/v1/record"), "{\"kind\":\"rm\"}", "kind" },
		{ POST("/api/v1/record"), "{\"kind\":[]}", "kind" },
		{ POST("/api/v1/record"), "{\"what\":1}", "what" },
		{ POST("/api/v1/record"), "{\"kind\":\"oncpu\"", "object" },
		{ POST("/api/v1/record"), "{} x", "object" },
		{ POST("/api/v1/record"), "[]", "object" },
		{ POST("/api/v1/record"), "{\"cgroup\":\"a\\u0000b\"}", "control" },
		{ POST("/api/v1/tools/run"), "{}", "missing" },
		{ POST("/api/v1/tools/run"), "{\"tool\":\"x\",\"options\":[\"a\\nb\"]}",
		  "control" },
		{ GET("/api/v1/history?from=x"), "", "from" },
		{ GET("/api/v1/history?from=%"), "", "broken" },
		{ GET("/api/v1/history?from=%ff"), "", "broken" },
		{ GET("/api/v1/jobs/0/result"), "", "job" },
		{ GET("/api/v1/jobs/x/result"), "", "job" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_err_ struct err e = ERR_INIT;
		struct web_request q;

		if (decode(cases[i].head, cases[i].body, &q, &e) != -EINVAL ||
		    !strstr(e.what, cases[i].what))
			FAIL("%s: %s", cases[i].body, e.what ? e.what : "taken");
	}
	CHECK_EQ(decode(GET("/api/v1/record"), "", &(struct web_request){ 0 }, NULL), -405);
	CHECK_EQ(decode(GET("/api/v1/../etc/passwd"), "", &(struct web_request){ 0 }, NULL), -404);
	CHECK_EQ(decode(GET("/etc/passwd"), "", &(struct web_request){ 0 }, NULL), -404);
}

/* The engine does not rely on the process that reads the network. */
TEST(web_what_decoding_never_gives_is_refused)
{
	static const char *const good =
		"{\"kind\":\"hotcold\",\"target\":\"process\",\"id\":42,\"seconds\":7}";
	struct web_request q, bad;

	CHECK_EQ(decode(POST("/api/v1/record"), good, &q, NULL), 0);
	q.role = ROLE_PROFILE;
	CHECK_EQ(web_route_check(&q, ROLE_PROFILE, NULL), 0);
	CHECK_EQ(web_route_check(&q, ROLE_VIEW, NULL), -EACCES);
	q.role = ROLE_VIEW;
	CHECK_EQ(web_route_check(&q, ROLE_PROGRAM, NULL), -EACCES);
	q.role = ROLE_TRACE;
#define BAD(field, value)                                                   \
	do {                                                                \
		bad = q;                                                    \
		bad.field = (value);                                        \
		CHECK_EQ(web_route_check(&bad, ROLE_TRACE, NULL), -EINVAL); \
	} while (0)
	BAD(seconds, 0);
	BAD(seconds, 61);
	BAD(seconds, UINT64_MAX);
	BAD(hz, 1000);
	BAD(id, UINT64_MAX);
	BAD(kind, 0);
	BAD(kind, KIND_LAST + 1);
	BAD(target, 0);
	BAD(group[0], 7);
	CHECK_EQ(decode(GET("/api/v1/jobs/12/result"), "", &q, NULL), 0);
	q.role = ROLE_TRACE;
	CHECK_EQ(web_route_check(&q, ROLE_TRACE, NULL), 0);
	BAD(form, 0);
	BAD(form, FORM_LAST + 1);
	CHECK_EQ(decode(POST("/api/v1/tools/run"), "{\"tool\":\"syscount\"}", &q, NULL), 0);
	q.role = ROLE_TRACE;
	CHECK_EQ(web_route_check(&q, ROLE_TRACE, NULL), 0);
	BAD(name[0], 0);
	BAD(number, 61);
	memset(q.text, 'x', 2000);
	CHECK_EQ(web_route_check(&q, ROLE_TRACE, NULL), -EINVAL);
#undef BAD
}

TEST(web_requests_wait_for_room_in_order)
{
	struct web_request *q = xcalloc(1, sizeof(*q)), *got = xcalloc(1, sizeof(*got));
	enum { MANY = 2000 };
	struct web_outbox o = { 0 };
	int pair[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	o.fd = pair[0];
	q->ask = ASK_ABOUT;
	for (u64 i = 0; i < MANY; i++) {
		q->ref = i;
		CHECK_EQ(web_outbox_send(&o, q), 0);
	}
	CHECK(o.waiting.len > 0 && o.waiting.len < MANY);
	for (u64 i = 0; i < MANY; i++) {
		CHECK_EQ(web_request_receive(pair[1], got), 1);
		CHECK_EQ(got->ref, i);
		CHECK_EQ(web_outbox_flush(&o), 0);
	}
	CHECK_EQ(o.waiting.len, 0);
	close(pair[0]);
	close(pair[1]);
	web_outbox_release(&o);
	free(q);
	free(got);
}

TEST(web_messages_travel_whole)
{
	struct web_request *q = xcalloc(1, sizeof(*q)), *got = xcalloc(1, sizeof(*got));
	_cleanup_buf_ struct buf bytes = BUF_INIT, large = BUF_INIT;
	struct web_reply r = { 7, REPLY_ANSWER, 200, CONTENT_JSON, 0, 0 }, back;
	int pair[2], file;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	q->ask = ASK_RECORD;
	memcpy(q->group, "a", 2);
	CHECK_EQ(web_request_send(pair[0], q), 0);
	CHECK_EQ(web_request_receive(pair[1], got), 1);
	CHECK_STR(got->group, "a");
	/* a text without an end, an ask that is none */
	memset(q->name, 'x', sizeof(q->name));
	CHECK_EQ(web_request_send(pair[0], q), 0);
	CHECK_EQ(web_request_receive(pair[1], got), -EBADMSG);
	*q = (struct web_request){ .ask = 1000 };
	CHECK_EQ(web_request_send(pair[0], q), 0);
	CHECK_EQ(web_request_receive(pair[1], got), -EBADMSG);

	CHECK_EQ(web_reply_send(pair[1], &r, "abc", 3), 0);
	CHECK_EQ(web_reply_receive(pair[0], &back, &bytes, &file), 1);
	CHECK(back.ref == 7 && file == -1);
	CHECK_STR(buf_str(&bytes), "abc");
	buf_fill(&large, 'x', 200000);
	CHECK_EQ(web_reply_send(pair[1], &r, large.data, large.len), 0);
	CHECK_EQ(web_reply_receive(pair[0], &back, &bytes, &file), 1);
	CHECK(file >= 0 && back.size == 200000);
	close(file);
	close(pair[1]);
	CHECK_EQ(web_reply_receive(pair[0], &back, &bytes, &file), 0);
	close(pair[0]);
	free(q);
	free(got);
}

TEST(web_history_forgets_the_oldest_and_survives_clock_steps)
{
	struct history h = { .most_ns = 3 * NSEC_PER_SEC, .most_bytes = HISTORY_BYTES_MOST };
	_cleanup_buf_ struct buf text = BUF_INIT, lines = BUF_INIT;
	u64 mono;

	for (u64 i = 1; i <= 6; i++) {
		buf_reset(&text);
		buf_addf(&text, "f%llu", (unsigned long long)i);
		/* the clock is set back by 10 s before the fifth */
		history_add(&h, i * 1000 + (i < 5 ? 10000 : 0), i * NSEC_PER_SEC, &text);
	}
	history_lines(&h, 0, UINT64_MAX, &lines);
	CHECK_STR(buf_str(&lines), "f3\nf4\nf5\nf6\n");
	CHECK(history_mono(&h, 5500, &mono) && mono == 5 * NSEC_PER_SEC + 500 * NSEC_PER_MSEC);
	/* before it was set back, and not ten seconds ahead of now */
	CHECK(history_mono(&h, 14000, &mono));
	CHECK_EQ(mono, 4 * NSEC_PER_SEC);
	CHECK(!history_mono(&h, 4000, &mono));
	history_release(&h);
}

TEST(web_history_has_no_time_that_the_clock_skipped)
{
	struct history h = { .most_ns = 60 * NSEC_PER_SEC, .most_bytes = HISTORY_BYTES_MOST };
	_cleanup_buf_ struct buf text = BUF_INIT, lines = BUF_INIT;
	u64 mono;

	buf_addstr(&text, "f");
	/* an hour ahead after the third, then two hours back after the fifth */
	for (u64 i = 1; i <= 8; i++)
		history_add(&h, 10000000 + i * 1000 + (i > 3 ? 3600000 : 0) - (i > 5 ? 7200000 : 0),
			    i * NSEC_PER_SEC, &text);
	CHECK(history_mono(&h, 10002500, &mono) && mono == 2500 * NSEC_PER_MSEC);
	CHECK(history_mono(&h, 10060000, &mono));
	CHECK_EQ(mono, 4 * NSEC_PER_SEC);
	CHECK(history_mono(&h, 13604500, &mono) && mono == 4500 * NSEC_PER_MSEC);
	CHECK(history_mono(&h, 6407500, &mono) && mono == 7500 * NSEC_PER_MSEC);
	/* a time long after the newest frame is not in the future of the other clock */
	CHECK(history_mono(&h, 9000000, &mono));
	CHECK_EQ(mono, 10 * NSEC_PER_SEC);
	history_lines(&h, 10000000, 10060000, &lines);
	CHECK_STR(buf_str(&lines), "f\nf\nf\n");
	history_release(&h);
}

TEST(web_scratch_keeps_no_peak)
{
	struct web_reply r = { 7, REPLY_ANSWER, 200, CONTENT_LINES, 0, 0 }, back;
	_cleanup_buf_ struct buf text = BUF_INIT, bytes = BUF_INIT;
	int pair[2], file = -1;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	buf_fill(&text, 'x', 15 << 20);
	CHECK_EQ(web_reply_send_scratch(pair[1], &r, &text), 0);
	CHECK_EQ(text.len, 0);
	CHECK(text.cap <= WEB_SCRATCH_KEPT);
	CHECK_EQ(web_reply_receive(pair[0], &back, &bytes, &file), 1);
	CHECK(file >= 0 && back.size == 15 << 20);
	close(file);
	buf_addstr(&text, "short");
	CHECK_EQ(web_reply_send_scratch(pair[1], &r, &text), 0);
	CHECK(text.len == 0 && text.cap > 0);
	CHECK_EQ(web_reply_receive(pair[0], &back, &bytes, &file), 1);
	CHECK_STR(buf_str(&bytes), "short");
	close(pair[0]);
	close(pair[1]);
}

TEST(web_tool_options_are_those_of_the_tool)
{
	static const char text[] =
		"{\"commands\":[{\"name\":\"a\",\"options\":[{\"name\":\"disk\",\"type\":"
		"\"string\"},"
		"{\"name\":\"flags\",\"type\":\"flag\"},{\"name\":\"output\",\"type\":\"file\"},"
		"{\"name\":\"force\",\"type\":\"flag\",\"group\":\"Output\"},"
		"{\"name\":\"color\",\"type\":\"choice\",\"common\":true}]},"
		"{\"name\":\"b\",\"options\":[{\"name\":\"other\",\"type\":\"flag\"}]}]}";
	static const struct {
		const char *options;
		bool good;
	} cases[] = {
		{ "", true },
		{ "disk=vda\n", true },
		{ "disk=vda\nflags\n", true },
		{ "disk\n", false },
		{ "flags=1\n", false },
		{ "output=/etc/passwd\n", false },
		{ "force\n", false },
		{ "color=always\n", false },
		{ "other\n", false },
		{ "disk \n", false },
		{ "-o\n", false },
		{ "=\n", false },
	};
	struct buf help = { (char *)(uintptr_t)text, strlen(text), 0 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct web_request q = { .name = "a" };

		memcpy(q.text, cases[i].options, strlen(cases[i].options) + 1);
		if ((web_tools_check_in(&help, &q, NULL) == 0) != cases[i].good)
			FAIL("options '%s'", cases[i].options);
	}
}

TEST(web_addresses)
{
	struct web_address a;

	CHECK_EQ(web_address_parse(&a, "127.0.0.1", NULL), 0);
	CHECK(a.loopback && !a.port);
	CHECK_EQ(web_address_parse(&a, ":80", NULL), 0);
	CHECK(a.loopback && a.port == 80);
	CHECK_EQ(web_address_parse(&a, "[::1]:99", NULL), 0);
	CHECK(a.loopback && a.v6 && a.port == 99);
	CHECK_EQ(web_address_parse(&a, "0.0.0.0:1", NULL), 0);
	CHECK(!a.loopback);
	CHECK_EQ(web_address_parse(&a, "host:1", NULL), -EINVAL);
	CHECK_EQ(web_address_parse(&a, "127.0.0.1:0", NULL), -EINVAL);
	CHECK_EQ(web_address_parse(&a, "127.0.0.1:65536", NULL), -EINVAL);
	CHECK_EQ(web_address_parse(&a, "[::1", NULL), -EINVAL);
}

static const char peer_frame[] = "{\"t\":5000,\"s\":1,\"c\":[[1,null],{\"a\":2}],"
				 "\"p\":[[7,\"<b>\\u001b[31m\",1,2,3,4,5]]}";

static int read_frame(const char *text, struct buf *out, u64 *ret_time)
{
	buf_reset(out);
	return peer_read_frame(text, strlen(text), 1000, out, ret_time, NULL);
}

TEST(peer_frame_is_written_anew_with_our_time)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"t\":5000,\"s\":1,\"c\":[],\"p\":[]",
		"{\"t\":5000,\"s\":1,\"c\":[],\"p\":[]}x",
		"{\"t\":5000,\"s\":1,\"c\":[],\"p\":[],\"x\":1}",
		"{\"t\":5000,\"t\":5000,\"s\":1,\"c\":[],\"p\":[]}",
		"{\"t\":-1,\"s\":1,\"c\":[],\"p\":[]}",
		"{\"t\":999,\"s\":1,\"c\":[],\"p\":[]}",
		"{\"t\":1e300,\"s\":1,\"c\":[],\"p\":[]}",
		"{\"t\":5000,\"s\":\"1\",\"c\":[],\"p\":[]}",
		"{\"t\":5000,\"s\":1,\"c\":[[\"x\"]],\"p\":[]}",
		"{\"t\":5000,\"s\":1,\"c\":[[[1]]],\"p\":[]}",
		"{\"t\":5000,\"s\":1,\"c\":[1],\"p\":[]}",
		"{\"t\":5000,\"s\":1,\"c\":[],\"p\":[[1,\"x\",1]]}",
		"{\"t\":5000,\"s\":1,\"c\":[],\"p\":[[1,\"x\",1,2,3,4,5,6]]}",
		"{\"t\":5000,\"s\":1,\"c\":[],\"p\":[[\"x\",1,1,2,3,4,5]]}",
	};
	_cleanup_buf_ struct buf out = BUF_INIT, many = BUF_INIT;
	u64 time = 0;

	CHECK_EQ(read_frame(peer_frame, &out, &time), 0);
	CHECK_EQ(time, 4000);
	CHECK(strstr(buf_str(&out), "\"t\":4000"));
	CHECK(strstr(buf_str(&out), "\"c\":[[1,null],{\"a\":2}]"));
	CHECK(strstr(buf_str(&out), "[7,\"<b>"));
	CHECK(!strstr(buf_str(&out), "u001b"));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (read_frame(bad[i], &out, &time) != -EBADMSG)
			FAIL("'%s' is taken", bad[i]);
	buf_addstr(&many, "{\"t\":5000,\"s\":1,\"p\":[],\"c\":[");
	for (int i = 0; i <= PEER_CHARTS_MOST; i++)
		buf_addstr(&many, i ? ",[]" : "[]");
	buf_addstr(&many, "]}");
	CHECK_EQ(read_frame(buf_str(&many), &out, &time), -EBADMSG);
}

TEST(peer_heads_that_can_be_read_in_two_ways_are_refused)
{
	static const struct {
		const char *text;
		int length;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 38 },
		{ "HTTP/1.1 200 OK\r\n\r\n", 19 },
		{ "HTTP/1.1 200 OK\r\n", 0 },
		{ "HTTP/1.0 200 OK\r\n\r\n", -EPROTO },
		{ "HTTP/1.1 2x0 OK\r\n\r\n", -EPROTO },
		{ "HTTP/1.1 \r\n\r\n", -EPROTO },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n", -EPROTO },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 3x\r\n\r\n", -EPROTO },
		{ "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", -EPROTO },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", -EPROTO },
		{ "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", -EPROTO },
	};
	struct peer_head h;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int r = peer_read_head(cases[i].text, strlen(cases[i].text), &h);

		if (r != cases[i].length)
			FAIL("'%s' gives %d", cases[i].text, r);
	}
}

TEST(peer_addresses)
{
	struct peer_targets t = { 0 };
	static const char *const bad[] = {
		"",        ":80",    "[::1",           "127.0.0.1:0", "127.0.0.1:65536",
		"http://", "a b:80", "127.0.0.1:80/x", "a\r\nb:80"
	};

	CHECK_EQ(peer_target_add(&t, "127.0.0.1", NULL), 0);
	CHECK_EQ(peer_target_add(&t, "https://127.0.0.1:81", NULL), 0);
	CHECK_EQ(peer_target_add(&t, "[::1]:82", NULL), 0);
	CHECK_EQ(peer_target_add(&t, "192.0.2.7:83", NULL), 0);
	CHECK_EQ(peer_target_add(&t, "http://192.0.2.7:83", NULL), 0);
	CHECK_EQ(t.all.len, 5);
	CHECK(t.all.items[0].port == 7777 && t.all.items[0].loopback && !t.all.items[0].tls);
	CHECK(t.all.items[1].port == 81 && t.all.items[1].tls);
	CHECK(t.all.items[2].v6 && t.all.items[2].loopback && streq(t.all.items[2].host, "::1"));
	CHECK(!t.all.items[3].loopback && t.all.items[3].tls);
	CHECK(!t.all.items[4].loopback && !t.all.items[4].tls);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (peer_target_add(&t, bad[i], NULL) >= 0)
			FAIL("'%s' is taken", bad[i]);
	peer_targets_release(&t);
}

TEST(openmetrics_escapes_what_comes_from_outside)
{
	struct counter_set set;
	struct snapshot s = SNAPSHOT_INIT;
	_cleanup_buf_ struct buf out = BUF_INIT;
	u32 counter, series;

	counter_set_init(&set);
	counter_set_add_tables(&set);
	counter = counter_set_find(&set, "net.rx_bytes");
	series = counter_set_series(&set, counter, intern_str(&set.instances, "a\"b\\c\nd\x1b"));
	snapshot_put(&s, series, 5);
	openmetrics_own(&set, &s, &out);
	openmetrics_end(&out);
	CHECK(strstr(buf_str(&out), "# TYPE fathom_net_rx_bytes counter\n"));
	CHECK(strstr(buf_str(&out), "fathom_net_rx_bytes_total{net=\"a\\\"b\\\\c?d?\"} 5\n"));
	CHECK(ends_with(buf_str(&out), "# EOF\n"));
	buf_reset(&out);
	openmetrics_node(&set, &s, &out);
	CHECK(strstr(buf_str(&out), "node_network_receive_bytes_total{device=\"a"));
	snapshot_release(&s);
	counter_set_release(&set);
}

TEST(exports_add_documents_up)
{
	static const char one[] =
		"{\"schema\":1,\"columns\":[{\"key\":\"x\"}],\"latency\":[{\"label\":\"a\\\"b\","
		"\"unit\":\"ns\",\"count\":3,"
		"\"total\":5000,\"buckets\":[{\"min\":1024,\"max\":1279,\"count\":2},{\"min\":2048,"
		"\"max\":2303,\"count\":1}]}],"
		"\"rows\":[{\"comm\":\"x\\\\y\",\"pid\":7,\"count\":4,\"average\":9}]}";
	static const char event[] = "{\"comm\":\"sh\",\"pid\":1}",
			  broken[] = "{\"schema\":1,\"rows\":[{";
	struct export_tool t = { .name = "some-tool", .child = CHILD_INIT, .pipe = -1 };
	struct exports x = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT;

	exports_take(&t, one, strlen(one));
	exports_take(&t, one, strlen(one));
	exports_take(&t, event, strlen(event));
	exports_take(&t, broken, strlen(broken));
	vec_push(&x.tools, t);
	exports_write(&x, &out);
	CHECK(strstr(buf_str(&out), "# TYPE fathom_tool_some_tool_latency_seconds histogram\n"));
	CHECK(strstr(buf_str(&out), "_bucket{label=\"a\\\"b\",le=\"1.023e-06\"} 0\n"));
	CHECK(strstr(buf_str(&out), "_bucket{label=\"a\\\"b\",le=\"2.047e-06\"} 4\n"));
	CHECK(strstr(buf_str(&out), "_bucket{label=\"a\\\"b\",le=\"+Inf\"} 6\n"));
	CHECK(strstr(buf_str(&out), "_sum{label=\"a\\\"b\"} 1e-05\n"));
	CHECK(strstr(buf_str(&out), "fathom_tool_some_tool_count_total{comm=\"x\\\\y\"} 8\n"));
	CHECK(!strstr(buf_str(&out), "average"));
	CHECK(strstr(buf_str(&out), "fathom_tool_some_tool_events_total 1\n"));
	exports_release(&x);
}

TEST(latencies_are_those_of_the_last_frame)
{
	static const char one[] =
		"{\"schema\":1,\"latency\":[{\"label\":null,\"unit\":\"ns\",\"buckets\":[{\"min\":"
		"98304,"
		"\"max\":114687,\"count\":2},{\"min\":114688,\"max\":131071,\"count\":1},"
		"{\"min\":262144,\"max\":327679,\"count\":7}]}]}";
	struct export_tool t = { .name = "biolatency", .child = CHILD_INIT, .pipe = -1 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct latency l = { 0 };
	struct json j;

	vec_push(&l.tools.tools, t);
	json_init(&j, &out, false);
	json_array(&j);
	latency_frame(&l, &j);
	exports_take(&l.tools.tools.items[0], one, strlen(one));
	latency_frame(&l, &j);
	latency_frame(&l, &j);
	exports_take(&l.tools.tools.items[0], one, strlen(one));
	latency_frame(&l, &j);
	json_end(&j);
	CHECK(streq(buf_str(&out), "[{},{\"131072\":3,\"524288\":7},{},"
				   "{\"131072\":3,\"524288\":7}]"));
	latency_stop(&l);
}
