/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modifiers, as perf reads them: u k h leave only these rings, G H only guest or host, p to ppp
 * and P ask for precise addresses, S D I W e b are properties of the event.
 */
#include "capture/event_text.h"

#include <ctype.h>

enum { PRECISE_MOST = 3 };

struct modifiers {
	bool user, kernel, hypervisor, guest, host;
	bool precise_max, sample_read, pinned, idle, weak, exclusive;
	u32 precise;
};

static bool *flag_of(struct modifiers *m, char c)
{
	switch (c) {
	case 'u': return &m->user;
	case 'k': return &m->kernel;
	case 'h': return &m->hypervisor;
	case 'G': return &m->guest;
	case 'H': return &m->host;
	case 'P': return &m->precise_max;
	case 'S': return &m->sample_read;
	case 'D': return &m->pinned;
	case 'I': return &m->idle;
	case 'W': return &m->weak;
	case 'e': return &m->exclusive;
	default: return NULL;
	}
}

static bool ends(char c)
{
	return c == '\0' || c == ',' || c == '}' || isspace((unsigned char)c);
}

static int read_modifiers(struct event_text *t, struct modifiers *m)
{
	const char *start = t->s;

	for (; !ends(*t->s); t->s++) {
		if (*t->s == 'b') /* count with BPF: nothing to do when sampling */
			continue;
		if (*t->s == 'p') {
			if (++m->precise > PRECISE_MOST)
				return event_fault(t, t->s, "'p' at most three times");
			continue;
		}
		bool *flag = flag_of(m, *t->s);

		if (!flag) {
			event_fault(t, t->s, "unknown modifier '%c'", *t->s);
			err_hint(t->err, "modifiers are u k h G H p pp ppp P S D I W e b");
			return -EINVAL;
		}
		if (*flag)
			return event_fault(t, t->s, "modifier '%c' is given twice", *t->s);
		*flag = true;
	}
	return t->s > start ? 0 : event_fault(t, t->s, "a modifier is missing after the colon");
}

static void apply(const struct modifiers *m, struct event *ev)
{
	struct perf_event_attr *a = &ev->attr;

	if (m->user || m->kernel || m->hypervisor) {
		a->exclude_user = !m->user;
		a->exclude_kernel = !m->kernel;
		a->exclude_hv = !m->hypervisor;
	}
	if (m->guest || m->host) {
		a->exclude_guest = !m->guest;
		a->exclude_host = !m->host;
	}
	if (m->precise)
		a->precise_ip = m->precise & 3;
	a->pinned |= m->pinned;
	a->exclude_idle |= m->idle;
	a->exclusive |= m->exclusive;
	ev->precise_max |= m->precise_max;
	ev->sample_read |= m->sample_read;
	ev->weak |= m->weak;
}

int event_modifiers(struct event_text *t, size_t first)
{
	struct modifiers m = { 0 };
	const char *start = t->s;
	int r = read_modifiers(t, &m);

	if (r < 0)
		return r;
	for (size_t i = first; i < t->out->events.len; i++) {
		struct event *ev = &t->out->events.items[i];

		apply(&m, ev);
		/* Names made of a glob, and members of a group, show their modifiers as well. */
		if (ev->name && ev->attr.type == PERF_TYPE_TRACEPOINT) {
			char *name = xasprintf("%s:%.*s", ev->name, (int)(t->s - start), start);

			free(ev->name);
			ev->name = name;
		}
	}
	return 0;
}
