/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/kinds.h"

#include <fnmatch.h>
#include <sys/syscall.h>

#include "base/asset.h"
#include "base/hash.h"
#include "base/io.h"
#include "profile/gzip.h"

#define STATE(name, title, words)                   \
	{                                           \
		name, name "_percent", title, words \
	}

static const struct {
	const char *name, *key, *title, *words;
} states[STATE_COUNT] = {
	[STATE_USER] = STATE("user", "USER", "running its own code"),
	[STATE_KERNEL] = STATE("kernel", "SYS", "running in the kernel"),
	[STATE_RUNNING] = STATE("running", "CPU", "running"),
	[STATE_RUNNABLE] = STATE("runnable", "RUNQ", "waiting for a CPU"),
	[STATE_DISK] = STATE("disk", "DISK", "waiting for a disk"),
	[STATE_FLUSH] = STATE("flush", "FLUSH", "waiting until data is on disk"),
	[STATE_NETWORK] = STATE("network", "NET", "waiting for the network or a socket"),
	[STATE_LOCK] = STATE("lock", "LOCK", "waiting for a lock"),
	[STATE_RWLOCK] = STATE("rwlock", "RWLOCK", "waiting for a read-write lock"),
	[STATE_COND] = STATE("cond", "COND", "waiting on a condition variable"),
	[STATE_SEMAPHORE] = STATE("semaphore", "SEM", "waiting for a semaphore"),
	[STATE_BARRIER] = STATE("barrier", "BARRIER", "waiting at a barrier"),
	[STATE_JOIN] = STATE("join", "JOIN", "waiting for a thread to end"),
	[STATE_FUTEX] = STATE("futex", "FUTEX", "waiting on a futex"),
	[STATE_PIPE] = STATE("pipe", "PIPE", "waiting for a pipe or queue"),
	[STATE_SLEEP] = STATE("sleep", "SLEEP", "sleeping on a timer"),
	[STATE_FAULT] = STATE("fault", "FAULT", "waiting for a page of memory"),
	[STATE_RECLAIM] = STATE("reclaim", "RECLAIM", "reclaiming memory"),
	[STATE_THROTTLED] = STATE("throttled", "THROTTLE", "throttled by its cgroup"),
	[STATE_FROZEN] = STATE("frozen", "FROZEN", "frozen"),
	[STATE_STOPPED] = STATE("stopped", "STOP", "stopped by a signal or a debugger"),
	[STATE_CHILD] = STATE("child", "CHILD", "waiting for a child process"),
	[STATE_OTHER] = STATE("other", "OTHER", "waiting for something else"),
	[STATE_INTERRUPTIBLE] = STATE("interruptible", "S", "blocked until something comes (S)"),
	[STATE_UNINTERRUPTIBLE] = STATE("uninterruptible", "D", "blocked, mostly by disks (D)"),
	[STATE_POLL] = STATE("poll", "POLL", "idle, waiting for one of many events"),
	[STATE_WORK] = STATE("work", "WORK", "waiting for work"),
	[STATE_IDLE] = STATE("idle", "IDLE", "a kernel thread without work"),
};

const char *thread_state_name(enum thread_state s)
{
	return states[s].name;
}

const char *thread_state_key(enum thread_state s)
{
	return states[s].key;
}

const char *thread_state_title(enum thread_state s)
{
	return states[s].title;
}

const char *thread_state_words(enum thread_state s)
{
	return states[s].words;
}

/* --- rules ------------------------------------------------------------------------------------ */

enum where { IN_KERNEL, IN_USER, IN_SYSCALL, IN_COMM, IN_ONLY, IN_FUTEX, WHERES };
static const char *const where_names[WHERES] = { "kernel", "user", "syscall",
						 "comm",   "only", "futex" };

enum { RULES_MOST = 1 << 20, CONDITIONS_MOST = 4, WORDS_MOST = 64 };

struct condition {
	u32 pattern; /* string of @strings */
	u8 where;    /* enum where */
};

/* Conditions [first, first + n) hold: it is this kind. */
struct rule {
	u32 first;
	u8 n;
	u8 kind;
};

/* A set of conditions that hold. */
struct set {
	u64 words[WORDS_MOST];
};

struct wait_kinds {
	struct profile *profile;
	struct intern strings;
	VEC(struct condition) conditions;
	VEC(struct rule) rules;
	struct map known; /* where and string of the profile -> index in sets + 1 */
	VEC(u64) sets;    /* @n_words each */
	struct map kinds; /* what makes a kind -> kind + 1 */
	u32 n_words;
};

static int bad_row(const char *name, u32 line, const char *what, struct err *e)
{
	err_set(e, EINVAL, "%s:%u: %s", name, line, what);
	err_hint(e, "a row is KIND<TAB>WHERE=PATTERN..., WHERE is kernel, user, only, syscall, "
		    "futex or "
		    "comm");
	return -EINVAL;
}

static bool find_kind(const char *text, size_t n, u8 *ret)
{
	for (u32 i = STATE_DISK; i < STATE_COUNT; i++) {
		if (strlen(states[i].name) == n && memcmp(states[i].name, text, n) == 0) {
			*ret = (u8)i;
			return true;
		}
	}
	return false;
}

/* "user=PATTERN" */
static const char *add_condition(struct wait_kinds *k, const char *text, const char *end)
{
	const char *equals = memchr(text, '=', (size_t)(end - text));

	if (!equals || equals + 1 == end)
		return "a condition is WHERE=PATTERN";
	if (k->conditions.len >= 64 * WORDS_MOST)
		return "too many conditions";
	for (u8 i = 0; i < WHERES; i++) {
		if (strlen(where_names[i]) != (size_t)(equals - text) ||
		    memcmp(where_names[i], text, (size_t)(equals - text)) != 0)
			continue;
		vec_push(&k->conditions,
			 ((struct condition){ .pattern = intern_bytes(&k->strings, equals + 1,
								      (size_t)(end - equals - 1)),
					      .where = i }));
		return NULL;
	}
	return "unknown WHERE";
}

/* NULL, or what is wrong with it. */
static const char *add_rule(struct wait_kinds *k, const char *text, const char *end)
{
	struct rule rule = { .first = (u32)k->conditions.len };
	const char *tab = memchr(text, '\t', (size_t)(end - text));

	if (!find_kind(text, (size_t)((tab ? tab : end) - text), &rule.kind))
		return "unknown kind of wait";
	while (tab) {
		const char *at = tab + 1, *wrong;

		tab = memchr(at, '\t', (size_t)(end - at));
		wrong = add_condition(k, at, tab ? tab : end);
		if (wrong)
			return wrong;
		if (++rule.n > CONDITIONS_MOST)
			return "too many conditions in a row";
	}
	if (!rule.n)
		return "no condition";
	vec_push(&k->rules, rule);
	return NULL;
}

static int parse_rows(struct wait_kinds *k, const char *text, size_t n, const char *name,
		      struct err *e)
{
	const char *end = text + n;

	for (u32 line = 1; text < end; line++) {
		const char *nl = memchr(text, '\n', (size_t)(end - text)), *wrong = NULL;
		const char *last = nl ? nl : end;
		size_t before = k->conditions.len;

		if (last > text && *text != '#')
			wrong = add_rule(k, text, last);
		if (wrong) {
			k->conditions.len = before;
			return bad_row(name, line, wrong, e);
		}
		text = last + 1;
	}
	return 0;
}

int wait_kinds_parse(struct wait_kinds *k, const char *text, size_t n, const char *name,
		     struct err *e)
{
	int rc = parse_rows(k, text, n, name, e);

	k->n_words = (u32)((k->conditions.len + 63) / 64);
	map_clear(&k->known);
	map_clear(&k->kinds);
	vec_clear(&k->sets);
	return rc;
}

/* Without such a file there are no rows of the user. */
static int add_own(struct wait_kinds *k, struct err *e)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	_cleanup_buf_ struct buf path = BUF_INIT, text = BUF_INIT;

	if (xdg && *xdg)
		buf_addf(&path, "%s/fathom/waits.tsv", xdg);
	else if (home && *home)
		buf_addf(&path, "%s/.config/fathom/waits.tsv", home);
	if (!path.len || io_read_file(buf_str(&path), RULES_MOST, &text, NULL) < 0)
		return 0;
	return wait_kinds_parse(k, text.data, text.len, buf_str(&path), e);
}

int wait_kinds_new(struct wait_kinds **ret, struct profile *profile, struct err *e)
{
	const struct asset *asset = asset_find("tools/waits.tsv");
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct wait_kinds *k = xcalloc(1, sizeof(*k));
	int rc = add_own(k, e);

	k->profile = profile;
	if (rc >= 0 && asset)
		rc = gzip_unpack(asset->gzip, asset->size, RULES_MOST, &text, e);
	if (rc >= 0)
		rc = wait_kinds_parse(k, text.data, text.len, "tools/waits.tsv", e);
	if (rc < 0) {
		wait_kinds_free(k);
		return rc;
	}
	*ret = k;
	return 0;
}

void wait_kinds_free(struct wait_kinds *k)
{
	if (!k)
		return;
	intern_release(&k->strings);
	vec_release(&k->conditions);
	vec_release(&k->rules);
	vec_release(&k->sets);
	map_release(&k->known);
	map_release(&k->kinds);
	free(k);
}

/* --- matching --------------------------------------------------------------------------------- */

/* System calls in which threads wait. */
static const char *syscall_name(s32 nr)
{
	static const struct {
		s32 nr;
		const char *name;
	} known[] = {
		{ SYS_nanosleep, "nanosleep" },
		{ SYS_clock_nanosleep, "clock_nanosleep" },
		{ SYS_futex, "futex" },
		{ 449, "futex_waitv" },
		{ SYS_poll, "poll" },
		{ SYS_ppoll, "ppoll" },
		{ SYS_select, "select" },
		{ SYS_pselect6, "pselect6" },
		{ SYS_epoll_wait, "epoll_wait" },
		{ SYS_epoll_pwait, "epoll_pwait" },
		{ SYS_epoll_pwait2, "epoll_pwait2" },
		{ SYS_pause, "pause" },
		{ SYS_rt_sigsuspend, "rt_sigsuspend" },
		{ SYS_rt_sigtimedwait, "rt_sigtimedwait" },
		{ SYS_accept, "accept" },
		{ SYS_accept4, "accept4" },
		{ SYS_connect, "connect" },
		{ SYS_sendto, "sendto" },
		{ SYS_sendmsg, "sendmsg" },
		{ SYS_recvfrom, "recvfrom" },
		{ SYS_recvmsg, "recvmsg" },
		{ SYS_vfork, "vfork" },
		{ SYS_wait4, "wait4" },
		{ SYS_waitid, "waitid" },
		{ SYS_fsync, "fsync" },
		{ SYS_fdatasync, "fdatasync" },
		{ SYS_sync, "sync" },
		{ SYS_syncfs, "syncfs" },
		{ SYS_sync_file_range, "sync_file_range" },
		{ SYS_msync, "msync" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (known[i].nr == nr)
			return known[i].name;
	}
	return NULL;
}

/* "wait_bitset:private:realtime:0", "lock_pi:shared:monotonic:other"; "": nothing is known. */
static void futex_text(s32 call, char *ret, size_t n)
{
	static const char *const operations[OFFCPU_FUTEX_OPERATION + 1] = {
		[0] = "wait",        [6] = "lock_pi",          [8] = "trylock_pi",
		[9] = "wait_bitset", [11] = "wait_requeue_pi", [13] = "lock_pi2",
	};
	static const char *const values[] = { "0", "1", "2", "-1", "waiters", "other" };
	u32 facts = (u32)call >> OFFCPU_SYSCALL_BITS;
	u32 value = facts >> OFFCPU_FUTEX_VALUE_SHIFT & 7;
	const char *operation = operations[facts & OFFCPU_FUTEX_OPERATION];

	*ret = 0;
	if (call < 0 || !(facts & OFFCPU_FUTEX_KNOWN) || value >= ARRAY_SIZE(values))
		return;
	snprintf(ret, n, "%s:%s:%s:%s", operation ? operation : "?",
		 facts & OFFCPU_FUTEX_PRIVATE ? "private" : "shared",
		 facts & OFFCPU_FUTEX_REALTIME ? "realtime" : "monotonic", values[value]);
}

static void match(const struct wait_kinds *k, enum where where, const char *text, u64 *ret)
{
	for (size_t i = 0; i < k->conditions.len; i++) {
		const struct condition *c = &k->conditions.items[i];

		if (c->where == where && !fnmatch(intern_get(&k->strings, c->pattern), text, 0))
			ret[i / 64] |= 1ull << i % 64;
	}
}

/* Names repeat: each is compared once. */
static void add_name(struct wait_kinds *k, enum where where, u32 string, struct set *ret)
{
	u64 *at = map_at(&k->known, (u64)where << 32 | string);
	const u64 *words;

	if (!*at) {
		*at = k->sets.len + 1;
		for (u32 i = 0; i < k->n_words; i++)
			vec_push(&k->sets, 0);
		match(k, where, profile_str(k->profile, string), &k->sets.items[*at - 1]);
	}
	words = k->sets.items + (*at - 1);
	for (u32 i = 0; i < k->n_words; i++)
		ret->words[i] |= words[i];
}

static void add_stack(struct wait_kinds *k, u32 stack, struct set *ret)
{
	const struct profile *p = k->profile;

	for (; stack; stack = p->stacks.items[stack].parent) {
		const struct frame *f = profile_frame_of(p, stack);
		const char *syscall = starts_with(profile_str(p, f->name), "__x64_sys_");

		add_name(k, f->kind == FRAME_KERNEL ? IN_KERNEL : IN_USER, f->name, ret);
		if (f->kind == FRAME_KERNEL && syscall)
			match(k, IN_SYSCALL, syscall, ret->words);
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Where threads begin, and calls end: in every stack. */
static bool is_c_library(const char *name)
{
	return starts_with(name, "libc.so") || starts_with(name, "libc-2.") ||
	       starts_with(name, "libpthread") || starts_with(name, "ld-");
}

/* The library that has all functions of a stack, except those of the C library; 0: none. */
static u32 only_module(const struct profile *p, u32 stack)
{
	u32 only = 0;

	for (; stack; stack = p->stacks.items[stack].parent) {
		const struct frame *f = profile_frame_of(p, stack);

		if (f->kind == FRAME_KERNEL || is_c_library(base_name(profile_str(p, f->module))))
			continue;
		if ((f->kind != FRAME_USER && f->kind != FRAME_INLINED) ||
		    (only && only != f->module))
			return 0;
		only = f->module;
	}
	return only;
}

static bool holds(const struct rule *r, const struct set *s)
{
	for (u32 i = r->first; i < r->first + r->n; i++) {
		if (!(s->words[i / 64] >> i % 64 & 1))
			return false;
	}
	return true;
}

/* STATE_COUNT: no rule says what it is. */
static enum thread_state decide(const struct wait_kinds *k, const struct set *s)
{
	vec_each(r, &k->rules) {
		if (holds(r, s))
			return (enum thread_state)r->kind;
	}
	return STATE_COUNT;
}

static enum thread_state by_rules(struct wait_kinds *k, u32 stack, u32 comm, s32 syscall)
{
	u64 key = hash_mix((u64)stack << 32 | comm, (u64)(u32)syscall), *known;
	const char *name = syscall < 0 ? NULL : syscall_name(syscall & 0xffff);
	struct set set = { 0 };
	enum thread_state kind;
	char futex[64];
	u32 only;

	known = map_at(&k->kinds, key);
	if (*known)
		return (enum thread_state)(*known - 1);
	add_stack(k, stack, &set);
	only = only_module(k->profile, stack);
	if (only)
		match(k, IN_ONLY, base_name(profile_str(k->profile, only)), set.words);
	if (comm)
		add_name(k, IN_COMM, comm, &set);
	if (name)
		match(k, IN_SYSCALL, name, set.words);
	futex_text(syscall, futex, sizeof(futex));
	if (*futex)
		match(k, IN_FUTEX, futex, set.words);
	kind = decide(k, &set);
	map_put(&k->kinds, key, (u64)kind + 1);
	return kind;
}

enum thread_state wait_kind_of_state(u32 state)
{
	return state == OFFCPU_THROTTLED  ? STATE_THROTTLED
	       : (state & 0x402) == 0x402 ? STATE_IDLE
	       : state & 2                ? STATE_UNINTERRUPTIBLE
	       : state & 1                ? STATE_INTERRUPTIBLE
					  : STATE_OTHER;
}

enum thread_state wait_kinds_of(struct wait_kinds *k, const struct wait *w)
{
	u32 comm = k->profile->threads.items[w->thread].comm;
	enum thread_state kind;

	if (w->state == OFFCPU_THROTTLED)
		return STATE_THROTTLED;
	kind = by_rules(k, w->stack, comm, w->syscall);
	if (kind != STATE_COUNT)
		return kind;
	if ((w->state & 0x402) == 0x402 || w->flags & OFFCPU_KTHREAD)
		return STATE_IDLE;
	return w->state & 0xc ? STATE_STOPPED : STATE_OTHER;
}

enum thread_state wait_kinds_stack(struct wait_kinds *k, u32 stack, u32 comm)
{
	enum thread_state kind = by_rules(k, stack, comm, -1);

	return kind == STATE_COUNT ? STATE_OTHER : kind;
}

void wait_kinds_set(struct wait_kinds *k, struct wait *w)
{
	w->kind = (u8)wait_kinds_of(k, w);
	for (u32 i = 0; i < w->n_links; i++) {
		struct wait_link *l = &w->links[i];

		if (l->sleep_stack)
			l->sleep_kind = (u8)wait_kinds_stack(k, l->sleep_stack, l->comm);
	}
}
