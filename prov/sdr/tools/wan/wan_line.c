/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The queue and the line behind it: see wan_line.h.  Times on the line are picoseconds, so that no
 * rate is rounded; all others nanoseconds.
 */
#include <string.h>

#include "base/sdr_rand.h"
#include "wan_line.h"

#define WAN_PS 1000000000000ull

void wan_line_init(struct wan_line *l, const struct wan_link *cfg, uint64_t seed)
{
	memset(l, 0, sizeof(*l));
	l->cfg = *cfg;
	l->end = &l->head;
	l->loss.rng = sdr_mix64(seed);
	l->rng = sdr_mix64(seed ^ 0x5851f42d4c957f2dull);
}

static uint32_t wan_line_wire(const struct wan_line *l, const struct wan_pkt *p)
{
	return p->len + l->cfg.overhead;
}

static uint64_t wan_line_ps(uint64_t rate_bps, uint64_t bytes)
{
	return rate_bps ? (uint64_t)((unsigned __int128)bytes * 8 * WAN_PS / rate_bps) : 0;
}

/* Bytes of the packet on the line that have not been sent. */
static uint64_t wan_line_rest(const struct wan_line *l, uint64_t now)
{
	uint64_t now_ps = now * 1000;

	if (l->free_ps <= now_ps || !l->free_bps)
		return 0;
	return (uint64_t)((unsigned __int128)(l->free_ps - now_ps) * l->free_bps / (8 * WAN_PS));
}

uint64_t wan_line_backlog(const struct wan_line *l, uint64_t now)
{
	return l->bytes + wan_line_rest(l, now);
}

uint64_t wan_line_wait(const struct wan_line *l, uint64_t now)
{
	uint64_t on = l->free_ps > now * 1000 ? l->free_ps - now * 1000 : 0;

	return (on + wan_line_ps(l->cfg.rate_bps, l->bytes)) / 1000;
}

bool wan_line_put(struct wan_line *l, uint64_t now, struct wan_pkt *p)
{
	uint64_t backlog = wan_line_backlog(l, now);
	uint32_t wire = wan_line_wire(l, p);

	if (l->cfg.queue_bytes && backlog && backlog + wire > l->cfg.queue_bytes)
		return false;
	p->next = NULL;
	p->in_ns = now;
	*l->end = p;
	l->end = &p->next;
	l->bytes += wire;
	return true;
}

static uint64_t wan_line_start(const struct wan_line *l)
{
	uint64_t in_ps = l->head->in_ns * 1000;

	return in_ps > l->free_ps ? in_ps : l->free_ps;
}

struct wan_pkt *wan_line_leave(struct wan_line *l, uint64_t now, struct wan_left *left)
{
	struct wan_pkt *p = l->head;
	uint64_t start;
	uint8_t ecn;

	if (!p)
		return NULL;
	start = wan_line_start(l);
	if (start > now * 1000)
		return NULL;
	l->head = p->next;
	if (!l->head)
		l->end = &l->head;
	l->bytes -= wan_line_wire(l, p);
	left->start_ps = left->end_ps = start;
	left->sojourn_ns = start / 1000 - p->in_ns;
	ecn = wan_pkt_ecn(p);
	left->fate = wan_aqm_leave(&l->aqm, &l->cfg, start / 1000, left->sojourn_ns, l->bytes,
				   ecn != WAN_NOT_ECT);
	if (left->fate == WAN_DROP)
		return p;
	if (left->fate == WAN_MARK)
		wan_pkt_ecn_set(p, WAN_CE);
	left->end_ps = start + wan_line_ps(l->cfg.rate_bps, wan_line_wire(l, p));
	l->free_ps = left->end_ps;
	l->free_bps = l->cfg.rate_bps;
	return p;
}

uint64_t wan_line_next(const struct wan_line *l)
{
	if (!l->head)
		return UINT64_MAX;
	return (wan_line_start(l) + wan_line_ps(l->cfg.rate_bps, wan_line_wire(l, l->head))) / 1000;
}

uint64_t wan_line_due(struct wan_line *l, uint64_t end_ps)
{
	const struct wan_link *c = &l->cfg;
	uint64_t due = end_ps / 1000 + c->delay_ns;

	if (c->jitter_ns)
		due += (uint64_t)(sdr_rand_unit(&l->rng) * (double)c->jitter_ns);
	if (c->jitter_ordered && due < l->last_due_ns)
		due = l->last_due_ns;
	l->last_due_ns = due;
	if (c->reorder > 0 && sdr_rand_unit(&l->rng) < c->reorder)
		due += c->reorder_ns;
	return due;
}
