/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the collectors are requested, and what they give. */
#include "top/screens.h"

#include <poll.h>

#include "base/clock.h"
#include "base/stop.h"

/* Loading the sampler takes seconds on a slow machine; where it fails, that is known at once. */
enum { WAIT_MS = 5000, WAIT_SAMPLER_MS = 30000 };

static const struct screen *screen_of(const struct top *t)
{
	int n;

	return top_screens(&n)[t->screen];
}

/* --- what is requested
 * ----------------------------------------------------------------------------- */

static bool shows_column_of(const struct top *t, u32 flag)
{
	size_t n;
	const struct top_column *c = top_columns(&n);

	if (screen_of(t) != &screen_tasks)
		return false;
	for (int i = 0; i < t->tasks.n_columns; i++)
		if (c[t->tasks.columns[i]].flags & flag)
			return true;
	return false;
}

/* The samples of the recording are read when a screen first needs them. */
static void ask_recorded(struct top *t, const struct live_request *r)
{
	_cleanup_err_ struct err e = ERR_INIT;

	if (!t->recorded && !t->no_recorded)
		t->no_recorded = recorded_samples_new(&t->recorded, t->o.input, &e) < 0;
	profile_frame_free(t->profile);
	t->profile = t->recorded ? recorded_samples_frame(t->recorded, r) : NULL;
}

/* The command of the screen runs as long as it is shown. */
static void ask_tools(struct top *t, u32 needs)
{
	_cleanup_buf_ struct buf command = BUF_INIT;

	if (t->o.input)
		return;
	if (needs & NEEDS_TOOLS && !t->toolbox.command)
		pane_run(&t->toolbox, "tools");
	if (needs & NEEDS_TOPOLOGY && !t->topology)
		t->topology = topology_source_new(t->o.interval);
	topology_source_want(t->topology, needs & NEEDS_TOPOLOGY);
	/* what runs keeps its pace: a tool that began again would lose what it has summed up */
	if (t->tool_screen != t->screen || !t->pane.feed)
		t->tool_pace = top_pace(t);
	t->tool_screen = t->screen;
	if (screen_of(t)->command)
		screen_of(t)->command(t, &command);
	pane_run(&t->pane, buf_str(&command));
}

void top_ask(struct top *t)
{
	const struct scope *s = top_scope(t);
	u32 needs = screen_of(t)->needs;
	struct live_request r;

	/* compared as bytes */
	memset(&r, 0, sizeof(r));
	r.samples = needs & NEEDS_SAMPLES || shows_column_of(t, TOP_SAMPLES);
	r.waits = needs & NEEDS_WAITS || shows_column_of(t, TOP_WAITS);
	r.of = s->of;
	r.inverted = t->flame.inverted;
	r.end = t->paused && t->frame ? t->frame->mono : 0;
	r.cold = r.samples && t->flame.cold && screen_of(t) == &screen_flame;
	r.both = r.cold && t->flame.both;
	r.waits |= r.cold;
	memcpy(r.function, s->function, sizeof(r.function));
	memcpy(r.module, s->module, sizeof(r.module));
	if (t->live)
		t->asked = live_ask(t->live, &r);
	else if (r.samples)
		ask_recorded(t, &r);
	machine_source_threads(t->machine, t->tasks.threads || s->of.pid);
	ask_tools(t, needs);
}

/* --- frames ----------------------------------------------------------------------------------- */

static void take_history(struct top *t)
{
	vec_each(m, &t->frame->meters) {
		if (!streq(m->group, "cpu") || !streq(m->label, "all"))
			continue;
		if (t->n_busy == HISTORY) {
			memmove(t->busy, t->busy + 1, (HISTORY - 1) * sizeof(*t->busy));
			t->n_busy--;
		}
		t->busy[t->n_busy++] = 100 * m->share;
	}
}

/* Own cost is that of all: that of children is added, and too much slows all down. */
static void keep_budget(struct top *t)
{
	u64 ns = feed_ended_cpu_ns();

	ns += t->pane.feed ? feed_cpu_ns(t->pane.feed) : 0;
	ns += t->toolbox.feed ? feed_cpu_ns(t->toolbox.feed) : 0;
	machine_source_children(t->machine, ns);
	if (t->live)
		live_pace(t->live, top_pace(t));
}

static bool take_tools(struct top *t)
{
	bool listing = t->toolbox.feed != NULL, any = pane_take(&t->toolbox);

	/* a tool may have been requested before it was known */
	if (listing && !t->toolbox.feed)
		top_ask(t);
	any |= pane_take(&t->pane);
	return any | topology_source_take(t->topology, &t->topology_load);
}

static void replace(struct profile_frame **to, struct profile_frame *with)
{
	profile_frame_free(*to);
	*to = with;
}

/* What came first waits for the other one; what does not work is said. */
static void take_both(struct top *t, struct profile_frame *hot, struct profile_frame *cold)
{
	if (hot)
		replace(&t->hot, hot);
	if (cold)
		replace(&t->cold, cold);
	if (!t->hot || !t->cold)
		return;
	if (t->hot->why || t->cold->why)
		replace(&t->profile, TAKE_PTR(*(t->hot->why ? &t->hot : &t->cold)));
	else
		replace(&t->profile, live_join(t->hot, t->cold));
}

/* An answer to an older question is about other rows. */
static struct profile_frame *current(const struct top *t, struct profile_frame *f)
{
	if (f && f->serial < t->asked)
		replace(&f, NULL);
	return f;
}

static bool take_profiles(struct top *t)
{
	struct profile_frame *hot, *cold;

	if (!t->live)
		return false;
	hot = current(t, live_take_profile(t->live));
	cold = current(t, live_take_cold(t->live));
	if (!hot && !cold)
		return false;
	if (t->flame.both && screen_of(t) == &screen_flame) {
		take_both(t, hot, cold);
		return true;
	}
	if (hot)
		replace(&cold, NULL);
	replace(&t->profile, hot ? hot : cold);
	return true;
}

bool top_take(struct top *t)
{
	bool any;
	struct machine_frame *m = machine_source_take(t->machine);
	struct waits_frame *w = t->live ? live_take_waits(t->live) : NULL;

	if (m) {
		machine_frame_free(t->frame);
		t->frame = m;
		if (*m->note && m->note_bad)
			top_complain(t, "%s", m->note);
		else if (*m->note)
			top_say(t, "%s", m->note);
		keep_budget(t);
		if (!t->paused)
			take_history(t);
		else
			top_ask(t);
	}
	if (w && w->serial < t->asked)
		waits_frame_free(TAKE_PTR(w));
	if (w) {
		waits_frame_free(t->waits);
		t->waits = w;
	}
	/* each of them is taken, whatever another one has */
	any = take_profiles(t);
	any |= take_tools(t);
	return any || m || w;
}

int top_poll_fds(const struct top *t, int fds[TOP_FDS])
{
	int n = 0;

	fds[n++] = machine_source_fd(t->machine);
	fds[n++] = t->live ? live_fd(t->live) : -1;
	fds[n++] = pane_fd(&t->pane);
	fds[n++] = pane_fd(&t->toolbox);
	fds[n++] = topology_source_fd(t->topology);
	return n;
}

static bool lacks_samples(struct top *t)
{
	u32 needs = screen_of(t)->needs;

	return !t->o.input &&
	       (((needs & NEEDS_SAMPLES || shows_column_of(t, TOP_SAMPLES)) && !t->profile) ||
		((needs & NEEDS_WAITS || shows_column_of(t, TOP_WAITS)) && !t->waits));
}

/* Does the screen have all that it draws? */
static bool is_complete(struct top *t)
{
	u32 needs = screen_of(t)->needs;
	const char *why;

	if (!t->frame || lacks_samples(t))
		return false;
	if (t->o.input)
		return true;
	if (needs & NEEDS_TOPOLOGY && !topology_source_tree(t->topology, &why) && !why)
		return false;
	if (needs & NEEDS_TOOLS && t->toolbox.feed)
		return false;
	return !t->pane.feed || t->pane.any;
}

int top_wait(struct top *t, struct err *e)
{
	u64 begin = clock_mono_ns();

	while (!stop_requested() &&
	       clock_mono_ns() - begin <
		       (lacks_samples(t) ? WAIT_SAMPLER_MS : WAIT_MS) * NSEC_PER_MSEC) {
		struct pollfd fds[TOP_FDS + 1];
		int numbers[TOP_FDS], n = top_poll_fds(t, numbers);

		for (int i = 0; i < n; i++)
			fds[i] = (struct pollfd){ .fd = numbers[i], .events = POLLIN };
		fds[n] = (struct pollfd){ .fd = stop_fd(), .events = POLLIN };
		top_take(t);
		/* the list of tools says what the screen's command is */
		if (screen_of(t)->needs & NEEDS_TOOLS && !t->toolbox.feed)
			ask_tools(t, screen_of(t)->needs);
		if (is_complete(t))
			return 0;
		poll(fds, (nfds_t)n + 1, 200);
	}
	return t->frame ? 0 : err_set(e, ETIMEDOUT, "no look at the machine came about");
}
