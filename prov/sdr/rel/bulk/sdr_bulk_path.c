/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * By which path data leave, and how many bytes may be under way on each.
 *
 * Packets may arrive in any order, so a path takes what its window and its pacer allow, the one by
 * which they arrive earliest first.  But for the end of what there is to send: a path that is so
 * long that the faster ones would have brought all that waits before its packet arrived gets none
 * of it (earliest completion first, Lim et al., CoNEXT 2017).  What was lost goes by another path
 * than before, and parity by another than most of what it repairs, where one takes it.
 *
 * The record that announces a transfer goes in front of its first data on each path, but it may
 * have to wait for others before it, which went by c->ctl: until those are acknowledged its data
 * go by that path alone.
 *
 * Not all begin at once: a first window says what a path carries, and if several lead through one
 * line, all first windows together are more than that.  As many may be at it as are known already.
 *
 * With one path nothing of this is looked at.  No state, no timers.
 */
#include "sdr_bulk_path.h"
#include "sdr_seg_tx.h"

/* round trips without any data arriving that cost nothing, and what goes in the next ones */
#define BARREN_FREE  3u
#define BARREN_BYTES (256u << 10)
/* of the shortest round trip: what round trips may differ by and be as good */
#define PATH_ALIKE 16u
#define NS	   1000000000.0
/* ns of a path's rate that it gets at a time: so that few packets go by several */
#define PATH_TURN_NS 500000.0

/*
 * When data were lost for some round trips, the peer answered, and nothing of them had arrived,
 * they may be what the path does not carry at all: less and less of them goes again, and not a
 * window of them each round trip until the give-up time.
 */
uint64_t sdr_bulk_window(const struct sdr_conn *c, const struct sdr_path *p)
{
	uint32_t n = c->bulk->tx.barren;
	uint64_t w = BARREN_BYTES;

	if (n < BARREN_FREE)
		return sdr_cc_window(&p->cc);
	w = n - BARREN_FREE < 32 ? w >> (n - BARREN_FREE) : 0;
	w = w < p->cc.cwnd ? w : p->cc.cwnd;
	return w > c->shape->mtu ? w : c->shape->mtu;
}

/* Room for one packet. */
static bool path_room(const struct sdr_conn *c, const struct sdr_path *p)
{
	return !p->inflight || p->inflight + c->shape->mtu <= sdr_bulk_window(c, p);
}

/* What is known of all of them, for one choice. */
struct choice {
	const struct sdr_conn *c;
	uint64_t left; /* bytes that wait, as far as it matters */
	uint64_t best; /* ns: the shortest round trip */
	bool more;     /* a path may begin that has carried nothing yet */
	uint32_t told; /* bit i: what goes next may go by path i */
};

/* Bytes that wait to be sent; no more than most. */
static uint64_t bytes_left(const struct sdr_conn *c, uint64_t most)
{
	const struct sdr_conn_bulk *b = c->bulk;
	const struct sdr_list *l;
	uint64_t n = 0;

	sdr_list_each(l, &b->tx.lost_segs) {
		const struct sdr_seg_tx *s = sdr_container(l, struct sdr_seg_tx, lost_link);

		n += (uint64_t)s->nagain * s->shape->mtu;
		if (n >= most)
			return most;
	}
	if (!sdr_list_empty(&b->tx.segs)) {
		const struct sdr_seg_tx *s =
			sdr_container(b->tx.segs.prev, struct sdr_seg_tx, link);

		n += (uint64_t)(s->goal - s->next) * s->shape->mtu;
	}
	sdr_list_each(l, &b->tx.bulks) {
		const struct sdr_bulk_tx *t = sdr_container(l, struct sdr_bulk_tx, link);

		if (n >= most)
			return most;
		n += t->len / t->plan.nmsgs * (t->plan.nmsgs - t->opened);
	}
	return n < most ? n : most;
}

/*
 * Its round trip, ns.  One that carries nothing has no queue of ours, whatever the last packet met:
 * who was too long for once would be so for ever.
 */
static uint64_t path_trip(const struct sdr_path *p)
{
	return p->inflight ? p->rtt.srtt : sdr_rtt_min(&p->rtt);
}

static bool path_begun(const struct sdr_path *p)
{
	return p->inflight || p->cc.delivered;
}

static void choice_make(const struct sdr_conn *c, uint32_t told, struct choice *k)
{
	uint32_t known = 0, starting = 0;
	uint64_t most = 0;

	*k = (struct choice){ .c = c, .best = UINT64_MAX, .told = told };
	for (uint32_t i = 0; i < c->npaths; i++) {
		const struct sdr_path *p = sdr_conn_path_of(c, i);

		if (p->state != SDR_PATH_ALIVE)
			continue;
		most += p->cc.cwnd;
		known += path_begun(p) && !p->cc.starting;
		starting += path_begun(p) && p->cc.starting;
		if (path_trip(p) < k->best)
			k->best = path_trip(p);
	}
	k->left = bytes_left(c, most);
	k->more = starting < (known ? known : 1);
}

/* It has room, and what it takes arrives before the faster ones would have brought everything. */
static bool path_takes(const struct choice *k, const struct sdr_path *p)
{
	const struct sdr_conn *c = k->c;
	double rate = 0, later;

	if (p->state != SDR_PATH_ALIVE || !path_room(c, p) || (!k->more && !path_begun(p)) ||
	    !(k->told >> p->index & 1))
		return false;
	if (path_trip(p) <= k->best + k->best / PATH_ALIKE + 4 * p->rtt.rttvar)
		return true;
	for (uint32_t i = 0; i < c->npaths; i++) {
		const struct sdr_path *q = sdr_conn_path_of(c, i);

		if (q->state == SDR_PATH_ALIVE && path_trip(q) < path_trip(p))
			rate += sdr_path_rate(q);
	}
	later = (double)(path_trip(p) - k->best) / 2;
	return (double)k->left * NS > rate * later;
}

/* ns from now to the arrival of what leaves by it next. */
static uint64_t path_arrival(const struct sdr_conn *c, const struct sdr_path *p)
{
	return path_trip(p) / 2 + (p->free_ns > c->rel->now ? p->free_ns - c->rel->now : 0);
}

struct sdr_path *sdr_bulk_path_next(struct sdr_conn *c, uint32_t avoid, uint32_t told)
{
	struct sdr_path *best = NULL;
	struct choice k;

	if (c->npaths == 1)
		return path_room(c, &c->main) && sdr_pacer_allow(&c->main.cc.pacer, c->rel->now)
			       ? &c->main
			       : NULL;
	choice_make(c, told, &k);
	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);

		if (!path_takes(&k, p) || !sdr_pacer_allow(&p->cc.pacer, c->rel->now))
			continue;
		if (!best || best->index == avoid ||
		    (path_arrival(c, p) < path_arrival(c, best) && p->index != avoid))
			best = p;
	}
	return best;
}

uint64_t sdr_bulk_path_bytes(struct sdr_conn *c, struct sdr_path *p)
{
	uint64_t wnd = sdr_bulk_window(c, p), room = wnd > p->inflight ? wnd - p->inflight : 0;
	uint64_t n = sdr_pacer_allow(&p->cc.pacer, c->rel->now), turn;

	n = n < room ? n : room;
	if (c->npaths == 1)
		return n;
	turn = (uint64_t)(sdr_path_rate(p) * PATH_TURN_NS / NS);
	return n < turn ? n : turn;
}

void sdr_bulk_path_sent(struct sdr_conn *c, struct sdr_path *p, uint64_t bytes)
{
	uint64_t from = p->free_ns > c->rel->now ? p->free_ns : c->rel->now;

	if (c->npaths > 1)
		p->free_ns = from + (uint64_t)((double)bytes * NS / sdr_path_rate(p));
}

uint64_t sdr_bulk_path_paced(const struct sdr_conn *c, uint32_t told)
{
	uint64_t d = NEVER, t;
	struct choice k;

	if (c->npaths == 1)
		return path_room(c, &c->main) ? sdr_pacer_next(&c->main.cc.pacer, c->rel->now)
					      : NEVER;
	choice_make(c, told, &k);
	for (uint32_t i = 0; i < c->npaths; i++) {
		const struct sdr_path *p = sdr_conn_path_of(c, i);

		if (path_takes(&k, p) && (t = sdr_pacer_next(&p->cc.pacer, c->rel->now)) < d)
			d = t;
	}
	return d;
}

void sdr_bulk_path_limited(struct sdr_conn *c)
{
	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);

		sdr_cc_app_limited(&p->cc, p->inflight);
	}
}
