/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each row of tools/waits.tsv on a stack that is made out of its own conditions: its kind comes
 * out, so no row before it hides it from what it is for.
 */
#include <fnmatch.h>
#include <sys/syscall.h>

#include "base/asset.h"
#include "profile/gzip.h"
#include "profile/profile.h"
#include "unit/harness.h"
#include "waits/kinds.h"

enum { TEXT_MOST = 1 << 20 };

/* A name that the pattern matches, and hardly another. */
static void name_of(const char *pattern, char *ret, size_t n)
{
	size_t k = 0;

	for (; *pattern && k + 2 < n; pattern++) {
		if (*pattern == '*' && k)
			ret[k++] = 'Q';
		else if (*pattern != '*')
			ret[k++] = *pattern == '?' ? 'Q' : *pattern;
	}
	ret[k] = 0;
}

static s32 syscall_of(const char *pattern)
{
	static const struct {
		const char *name;
		s32 nr;
	} calls[] = {
		{ "futex", SYS_futex },
		{ "poll", SYS_poll },
		{ "ppoll", SYS_ppoll },
		{ "select", SYS_select },
		{ "pselect6", SYS_pselect6 },
		{ "epoll_wait", SYS_epoll_wait },
		{ "nanosleep", SYS_nanosleep },
		{ "clock_nanosleep", SYS_clock_nanosleep },
		{ "pause", SYS_pause },
		{ "rt_sigsuspend", SYS_rt_sigsuspend },
		{ "rt_sigtimedwait", SYS_rt_sigtimedwait },
		{ "accept", SYS_accept },
		{ "vfork", SYS_vfork },
		{ "wait4", SYS_wait4 },
		{ "connect", SYS_connect },
		{ "sendto", SYS_sendto },
		{ "recvfrom", SYS_recvfrom },
		{ "fsync", SYS_fsync },
		{ "fdatasync", SYS_fdatasync },
		{ "sync", SYS_sync },
		{ "msync", SYS_msync },
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (!fnmatch(pattern, calls[i].name, 0))
			return calls[i].nr;
	}
	return -1;
}

static s32 futex_of(const char *pattern)
{
	if (starts_with(pattern, "lock_pi"))
		return offcpu_futex_call(6, 0);
	if (starts_with(pattern, "wait_requeue_pi"))
		return offcpu_futex_call(11, 0);
	return starts_with(pattern, "wait:") ? offcpu_futex_call(0x80, 0x80000010) : -1;
}

struct made {
	struct profile *p;
	struct wait wait;
	const char *comm, *module;
	char user[4][96], kernel[4][96];
	u32 n_user, n_kernel;
};

static void add(struct made *m, const char *text)
{
	const char *equals = strchr(text, '=');
	size_t n = equals ? (size_t)(equals - text) : 0;
	const char *pattern = text + n + 1;

	CHECK(equals != NULL);
	if (n == 4 && !strncmp(text, "user", n) && m->n_user < 4) {
		name_of(pattern, m->user[m->n_user++], sizeof(m->user[0]));
	} else if (n == 6 && !strncmp(text, "kernel", n) && m->n_kernel < 4) {
		name_of(pattern, m->kernel[m->n_kernel++], sizeof(m->kernel[0]));
	} else if (n == 4 && !strncmp(text, "only", n)) {
		m->module = pattern;
	} else if (n == 4 && !strncmp(text, "comm", n)) {
		m->comm = pattern;
	} else if (n == 7 && !strncmp(text, "syscall", n)) {
		m->wait.syscall = syscall_of(pattern);
		CHECK(m->wait.syscall >= 0);
	} else if (n == 5 && !strncmp(text, "futex", n)) {
		m->wait.syscall = futex_of(pattern);
		CHECK(m->wait.syscall >= 0);
	}
}

static u32 push(struct made *m, u32 stack, const char *name, enum frame_kind kind)
{
	struct frame f = { .name = profile_string(m->p, name), .kind = kind };
	char module[96];

	if (kind == FRAME_USER) {
		name_of(m->module, module, sizeof(module));
		f.module = profile_string(m->p, module);
	}
	return profile_get_stack(m->p, stack, profile_get_frame(m->p, &f));
}

static void finish(struct made *m)
{
	char comm[96];
	u32 stack = 0;

	/* names that no rule knows */
	stack = push(m, stack, "outermost", FRAME_USER);
	for (u32 i = 0; i < m->n_user; i++)
		stack = push(m, stack, m->user[i], FRAME_USER);
	for (u32 i = 0; i < m->n_kernel; i++)
		stack = push(m, stack, m->kernel[i], FRAME_KERNEL);
	name_of(m->comm, comm, sizeof(comm));
	m->wait.thread = profile_get_thread(m->p, 1, 1, profile_string(m->p, comm), 0);
	m->wait.stack = stack;
}

/* "KIND<TAB>WHERE=PATTERN..." */
static void check_row(struct wait_kinds *kinds, struct profile *p, char *row)
{
	struct made m = { .p = p,
			  .comm = "unnamed",
			  .module = "some-program",
			  .wait = { .state = 1, .syscall = -1, .blocked = 1, .count = 1 } };
	char *save = NULL, *kind = strtok_r(row, "\t", &save);

	for (char *at; (at = strtok_r(NULL, "\t", &save));)
		add(&m, at);
	finish(&m);
	if (!streq(thread_state_name(wait_kinds_of(kinds, &m.wait)), kind))
		fprintf(stderr, "%s %s %s %s: %s\n", kind, m.user[0], m.kernel[0], m.comm,
			thread_state_name(wait_kinds_of(kinds, &m.wait)));
	CHECK(streq(thread_state_name(wait_kinds_of(kinds, &m.wait)), kind));
}

TEST("each rule of waits decides what it is for")
{
	const struct asset *asset = asset_find("tools/waits.tsv");
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct wait_kinds *kinds;
	struct profile p;
	char *save = NULL;
	u32 rows = 0;

	CHECK(asset != NULL);
	CHECK_EQ(gzip_unpack(asset->gzip, asset->size, TEXT_MOST, &text, NULL), 0);
	/* without rows of whoever runs this */
	setenv("XDG_CONFIG_HOME", "/dev/null", 1);
	profile_init(&p);
	CHECK_EQ(wait_kinds_new(&kinds, &p, NULL), 0);
	buf_addch(&text, 0);
	for (char *row = strtok_r(text.data, "\n", &save); row; row = strtok_r(NULL, "\n", &save)) {
		if (*row == '#')
			continue;
		check_row(kinds, &p, row);
		rows++;
	}
	CHECK(rows > 200);
	wait_kinds_free(kinds);
	profile_release(&p);
}
