/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes that our own loop runs: begin, end, before_table, interval, self, test, bench. */
#include "lang/front/lex.h"
#include "lang/gen/gen.h"
#include "lang/run/run.h"
#include "lang/fn/signals.h"

#include "base/parse.h"
#include "host/bpf_sys.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

static void expand_plain(struct comp *c, const struct provider *p, const struct spec *s,
			 const char *rest)
{
	struct target *t;

	if (*rest) {
		diag_error(&c->diags, s->at, "%s probe type requires 0 arguments, found %u",
			   p->name, provider_parts(rest));
		return;
	}
	t = provider_target(c, p, s, "%s", p->name);
	if (t)
		t->event = p->name;
}

static bool prepare_raw(struct comp *c, struct unit *u)
{
	(void)c;
	u->prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	return true;
}

static int attach_timed(const struct attach_ctx *a)
{
	const struct target *t = &a->run->c->targets.items[a->unit->first];

	for (u32 i = 0; i < a->unit->n; i++)
		vec_push(&a->run->timed, (struct timed){ .prog_fd = a->prog_fd,
							 .timer_fd = -1,
							 .provider = t[i].provider,
							 .event = t[i].event });
	return 0;
}

const struct provider probe_begin = {
	.name = "begin",
	.aliases = "BEGIN",
	.flags = PROBE_TIMED | PROBE_SPECIAL,
	.expand = expand_plain,
	.prepare = prepare_raw,
	.attach = attach_timed,
};

const struct provider probe_end = {
	.name = "end",
	.aliases = "END",
	.flags = PROBE_TIMED | PROBE_SPECIAL,
	.expand = expand_plain,
	.prepare = prepare_raw,
	.attach = attach_timed,
};

/* What a tool does before its table is shown: see lang_table(). */
const struct provider probe_table = {
	.name = "before_table",
	.flags = PROBE_TIMED | PROBE_SPECIAL,
	.expand = expand_plain,
	.prepare = prepare_raw,
	.attach = attach_timed,
};

static void expand_self(struct comp *c, const struct provider *p, const struct spec *s,
			const char *rest)
{
	const char *kind = provider_part(c, rest, 0), *name = provider_part(c, rest, 1);
	struct target *t;
	int number = name ? signal_number(name) : -1;

	if (!kind || !streq(kind, "signal") || !name) {
		diag_error(&c->diags, s->at, "self probe type requires 2 arguments, found %u",
			   provider_parts(rest));
		diag_hint(&c->diags, "the form is self:signal:SIGUSR1");
		return;
	}
	if ((number != SIGUSR1 && number != SIGUSR2) ||
	    (c->opts->compat && !streq(name, "SIGUSR1"))) {
		diag_error(&c->diags, s->at, "%s is not a supported signal", name);
		diag_hint(&c->diags, c->opts->compat ? "SIGUSR1 is" : "SIGUSR1 and SIGUSR2 are");
		return;
	}
	t = provider_target(c, p, s, "self:signal:%s", name);
	if (t)
		t->value = (u64)number;
}

/* The signal becomes readable, in the loop with everything else; nothing of it is lost. */
static int attach_signal(const struct attach_ctx *a)
{
	for (u32 i = 0; i < a->unit->n; i++) {
		const struct target *t = &a->run->c->targets.items[a->unit->first + i];
		sigset_t set;
		int fd;

		sigemptyset(&set);
		sigaddset(&set, (int)t->value);
		if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
			return err_sys(a->err, errno, "cannot block the signal of '%s'", t->name);
		fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
		if (fd < 0)
			return err_sys(a->err, errno, "cannot wait for '%s'", t->name);
		vec_push(&a->run->timed, (struct timed){ .prog_fd = a->prog_fd,
							 .timer_fd = fd,
							 .provider = t->provider,
							 .event = t->name });
		run_keep(a->run, fd, false);
	}
	return 0;
}

static void list_signal(struct comp *c, const char *pattern,
			void (*each)(void *ctx, const char *name), void *ctx)
{
	(void)c;
	if (pattern[0] == '*')
		return;
	each(ctx, "self:signal:SIGUSR1");
	each(ctx, "self:signal:SIGUSR2");
}

const struct provider probe_self = {
	.name = "self",
	.flags = PROBE_TIMED | PROBE_SPECIAL,
	.expand = expand_self,
	.prepare = prepare_raw,
	.attach = attach_signal,
	.list = list_signal,
};

/* --- test:NAME and bench:NAME, run in modes of their own -------------------------------------- */

static void expand_named(struct comp *c, const struct provider *p, const struct spec *s,
			 const char *rest)
{
	struct target *t;

	if (!*rest) {
		diag_error(&c->diags, s->at, "%s probes have the form %s:NAME", p->name, p->name);
		return;
	}
	t = provider_target(c, p, s, "%s:%s", p->name, rest);
	if (t)
		t->event = arena_strdup(&c->arena, rest);
}

const struct provider probe_test = {
	.name = "test",
	.flags = PROBE_TIMED,
	.mode = LANG_TEST,
	.expand = expand_named,
	.prepare = prepare_raw,
	.attach = attach_timed,
};

const struct provider probe_bench = {
	.name = "bench",
	.flags = PROBE_TIMED,
	.mode = LANG_BENCH,
	.expand = expand_named,
	.prepare = prepare_raw,
	.attach = attach_timed,
};

/* --- times: "s:1", "ms:100", "hz:99", "1s", "1000" -------------------------------------------- */

static bool unit_ns(const char *unit, u64 *ret)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = { { "s", NSEC_PER_SEC },      { "ms", NSEC_PER_MSEC },
		      { "us", NSEC_PER_USEC },    { "ns", 1 },
		      { "m", 60 * NSEC_PER_SEC }, { "h", 3600 * NSEC_PER_SEC } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (streq(unit, units[i].name)) {
			*ret = units[i].ns;
			return true;
		}
	}
	return false;
}

enum { PERIOD_LEAST = 1000 };

/* "100ms", "1000000" (nanoseconds): one part. */
static bool short_period(struct comp *c, const struct provider *p, const struct spec *s,
			 const char *text, struct probe_period *ret)
{
	size_t digits = strspn(text, "0123456789_");
	u64 factor = 1, n = 0;

	if (!digits || (text[digits] && !unit_ns(text + digits, &factor)) ||
	    parse_u64(arena_strndup(&c->arena, text, digits), &n, NULL) < 0 ||
	    __builtin_mul_overflow(n, factor, &ret->value) || ret->value > INT64_MAX) {
		diag_error(&c->diags, s->at, "'%s' is not a period such as s:1, ms:100 or hz:99",
			   text);
		return false;
	}
	if (ret->value < PERIOD_LEAST) {
		diag_error(
			&c->diags, s->at,
			"Invalid rate of %s probe. Minimum is %d or 1us. Found: %llu nanoseconds",
			p->name, PERIOD_LEAST, (unsigned long long)ret->value);
		return false;
	}
	ret->text = arena_printf(&c->arena, "us:%llu",
				 (unsigned long long)(ret->value / NSEC_PER_USEC));
	return true;
}

bool probe_period(struct comp *c, const struct provider *p, const struct spec *s, const char *rest,
		  struct probe_period *ret)
{
	const char *unit = provider_part(c, rest, 0), *number = provider_part(c, rest, 1);
	u64 factor = 1, n = 0;

	*ret = (struct probe_period){ .text = rest };
	if (provider_part(c, rest, 2)) {
		diag_error(&c->diags, s->at, "a period has one or two parts: ms:100, hz:99, 10ms");
		return false;
	}
	if (!number)
		return short_period(c, p, s, unit, ret);
	ret->freq = streq(unit, "hz");
	if (!ret->freq && !unit_ns(unit, &factor)) {
		diag_error(&c->diags, s->at, "%s is not an accepted unit of time", unit);
		diag_hint(&c->diags, "use us, ms, s or hz");
		return false;
	}
	if ((parse_u64(number, &n, NULL) < 0 && !lex_literal(number, &n)) || !n) {
		diag_error(&c->diags, s->at, "%s frequency should be a positive integer", p->name);
		return false;
	}
	if (!__builtin_mul_overflow(n, factor, &ret->value) && ret->value <= INT64_MAX)
		return true;
	diag_error(&c->diags, s->at, "'%s' is too long for a period", rest);
	return false;
}

static void expand_interval(struct comp *c, const struct provider *p, const struct spec *s,
			    const char *rest)
{
	struct probe_period period;
	struct target *t;

	if (!probe_period(c, p, s, rest, &period))
		return;
	t = provider_target(c, p, s, "interval:%s", period.text);
	if (t)
		t->value = period.freq ? MAX(NSEC_PER_SEC / period.value, 1ull) : period.value;
}

/* interval:* and profile:*: the units they take. */
void probe_period_list(struct comp *c, const char *pattern,
		       void (*each)(void *ctx, const char *name), void *ctx)
{
	static const char *const names[] = { "interval:hz:", "interval:ms:", "interval:s:",
					     "interval:us:", "profile:hz:",  "profile:ms:",
					     "profile:s:",   "profile:us:" };

	(void)c;
	/* they do not match a wildcard */
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (pattern[0] != '*')
			each(ctx, names[i]);
	}
}

static int attach_interval(const struct attach_ctx *a)
{
	for (u32 i = 0; i < a->unit->n; i++) {
		const struct target *t = &a->run->c->targets.items[a->unit->first + i];
		struct itimerspec spec = {
			.it_interval = { (time_t)(t->value / NSEC_PER_SEC),
					 (long)(t->value % NSEC_PER_SEC) },
		};
		int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

		if (fd < 0)
			return err_sys(a->err, errno, "cannot make a timer for '%s'", t->name);
		spec.it_value = spec.it_interval;
		vec_push(&a->run->timed, (struct timed){ .prog_fd = a->prog_fd,
							 .timer_fd = fd,
							 .provider = t->provider });
		run_keep(a->run, fd, false);
		if (timerfd_settime(fd, 0, &spec, NULL) < 0)
			return err_sys(a->err, errno, "cannot start the timer of '%s'", t->name);
	}
	return 0;
}

const struct provider probe_interval = {
	.name = "interval",
	.aliases = "i",
	.flags = PROBE_TIMED,
	.expand = expand_interval,
	.prepare = prepare_raw,
	.attach = attach_interval,
	.list = probe_period_list,
};
