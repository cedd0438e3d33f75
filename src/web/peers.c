/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/peers.h"

#include "base/clock.h"

#include <sys/epoll.h>

enum { LINGER_SECONDS = 30 };

static u64 number_of(const struct peers *all, const struct peer *p)
{
	return (u64)(p - all->all) + 1;
}

static void on_changed(void *ctx, const struct peer *p)
{
	struct peers *all = ctx;

	buf_reset(&all->text);
	peer_describe(p, number_of(all, p), &all->text);
	all->o.send(all->o.ctx, "peer", &all->text);
}

static void on_frame(void *ctx, const struct peer *p)
{
	struct peers *all = ctx;

	buf_reset(&all->text);
	buf_addf(&all->text, "{\"peer\":%llu,\"frame\":", (unsigned long long)number_of(all, p));
	buf_add(&all->text, p->frame.data, p->frame.len);
	buf_addch(&all->text, '}');
	all->o.send(all->o.ctx, "peerframe", &all->text);
}

static void watch(struct peers *all, struct peer *p, int how)
{
	struct epoll_event ev = { .events = EPOLLIN | (peer_wants_write(p) ? EPOLLOUT : 0u),
				  .data.u32 = all->o.tag + (u32)(p - all->all) };

	if (p->fd >= 0)
		(void)epoll_ctl(all->o.epoll, how, p->fd, &ev);
}

static void on_opened(void *ctx, struct peer *p)
{
	watch(ctx, p, EPOLL_CTL_ADD);
}

void peers_init(struct peers *p, const struct peers_opts *o)
{
	*p = (struct peers){ .o = *o };
	p->calls = (struct peer_calls){ p, on_changed, on_frame, on_opened, o->tls };
	p->n = o->targets ? (u32)o->targets->all.len : 0;
	p->all = xcalloc(MAX(p->n, 1u), sizeof(*p->all));
	for (u32 i = 0; i < p->n; i++)
		peer_init(&p->all[i], &o->targets->all.items[i], o->history);
}

void peers_release(struct peers *p)
{
	for (u32 i = 0; i < p->n; i++)
		peer_release(&p->all[i]);
	free(p->all);
	buf_release(&p->text);
}

static bool is_wanted(const struct peers *p)
{
	return p->pages || p->o.always || clock_mono_ns() < p->linger;
}

void peers_watch(struct peers *p, u32 pages)
{
	if (p->pages && !pages)
		p->linger = clock_mono_ns() + LINGER_SECONDS * NSEC_PER_SEC;
	p->pages = pages;
}

void peers_event(struct peers *p, u32 tag)
{
	u32 i = tag - p->o.tag;

	if (i >= p->n)
		return;
	peer_go_on(&p->all[i], &p->calls);
	watch(p, &p->all[i], EPOLL_CTL_MOD);
}

bool peers_tick(struct peers *p)
{
	bool wanted = p->n && is_wanted(p);

	for (u32 i = 0; i < p->n; i++) {
		struct peer *one = &p->all[i];

		if (!wanted && one->state != PEER_RESTING)
			peer_rest(one, &p->calls);
		else if (wanted && one->state == PEER_RESTING)
			peer_begin(one, &p->calls);
		else
			peer_tick(one, &p->calls);
	}
	return wanted;
}

void peers_list(const struct peers *p, struct buf *out)
{
	buf_addstr(out, "{\"schema\":1,\"peers\":[");
	for (u32 i = 0; i < p->n; i++) {
		if (i)
			buf_addch(out, ',');
		peer_describe(&p->all[i], i + 1, out);
	}
	buf_addstr(out, "]}");
}

const struct history *peers_history(const struct peers *p, u64 number)
{
	return number >= 1 && number <= p->n ? &p->all[number - 1].history : NULL;
}
