/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Lines that links share: the bottleneck at which flows of several pairs of nodes meet.
 *
 * A line is a queue and one packet that is being sent; its only event is the end of that packet, so
 * a line is one entry of the world's heap however much waits.  A packet that comes finds room or is
 * dropped (tail drop); when its turn comes, the queue's management (CoDel, step marking) looks at
 * how long it has waited and drops it, marks it or lets it be.  Behind the line the link goes on
 * (sdr_sim_lnk_transit): own loss, delay, reordering.  A packet in the queue keeps the time at
 * which it came in `due`, which it does not need before it leaves.
 *
 * Lines draw from generators of their own, seeded by the world's seed and their number, and only
 * where they lose: a world without lines is what it was before there were any.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/sdr_assert.h"
#include "sdr_sim_lane.h"

#define SDR_SIM_GE_BYTES   1500u
#define SDR_SIM_CODEL_LAST 16u /* intervals after which CoDel begins anew */

/* ---- queue management ------------------------------------------------------------------------ */

static uint64_t sdr_sim_codel_law(const struct sdr_sim_ln *n, uint64_t t)
{
	return t + (uint64_t)((double)n->cfg.codel_interval_ns / sqrt((double)n->count));
}

/* RFC 8289, dodequeue: may a packet that has waited so long be dropped? */
static bool sdr_sim_codel_above(struct sdr_sim_ln *n, uint64_t waited, uint32_t wire, uint64_t now)
{
	if (waited < n->cfg.codel_target_ns || n->bytes <= wire) {
		n->first_above = 0;
		return false;
	}
	if (!n->first_above) {
		n->first_above = now + n->cfg.codel_interval_ns;
		return false;
	}
	return now >= n->first_above;
}

/* True: this packet is to be dropped, or marked. */
static bool sdr_sim_codel(struct sdr_sim_ln *n, uint64_t waited, uint32_t wire, uint64_t now)
{
	bool above = sdr_sim_codel_above(n, waited, wire, now);
	uint32_t delta;

	if (!above) {
		n->dropping = false;
		return false;
	}
	if (n->dropping) {
		if (now < n->drop_next)
			return false;
		n->count++;
		n->drop_next = sdr_sim_codel_law(n, n->drop_next);
		return true;
	}
	n->dropping = true;
	delta = n->count - n->lastcount;
	n->count = 1;
	if (delta > 1 && now - n->drop_next < SDR_SIM_CODEL_LAST * n->cfg.codel_interval_ns)
		n->count = delta;
	n->lastcount = n->count;
	n->drop_next = sdr_sim_codel_law(n, now);
	return true;
}

static void sdr_sim_line_mark(struct sdr_sim_world *w, struct sdr_sim_ln *n,
			      struct sdr_sim_packet *p)
{
	if (p->ecn == SDR_UC_CE)
		return;
	p->ecn = SDR_UC_CE;
	n->st.marked++;
	sdr_sim_lnk_of(w, p)->st.marked++;
}

/* The packet's turn has come.  False: the queue's management has dropped it. */
static bool sdr_sim_line_admit(struct sdr_sim_world *w, struct sdr_sim_ln *n,
			       struct sdr_sim_packet *p, uint64_t now)
{
	uint64_t waited = now > p->due ? now - p->due : 0;

	if (n->cfg.mark_ns && waited > n->cfg.mark_ns && p->ecn != SDR_UC_NOT_ECT)
		sdr_sim_line_mark(w, n, p);
	if (!n->cfg.codel_interval_ns || !sdr_sim_codel(n, waited, p->wire, now))
		return true;
	if (p->ecn != SDR_UC_NOT_ECT) {
		sdr_sim_line_mark(w, n, p);
		return true;
	}
	n->st.aqm_dropped++;
	sdr_sim_lnk_of(w, p)->st.dropped++;
	return false;
}

/* ---- packets --------------------------------------------------------------------------------- */

/* Begins to send the first that waits, at that time or a little before now. */
static void sdr_sim_line_next(struct sdr_sim_world *w, struct sdr_sim_ln *n, uint64_t start_ps)
{
	struct sdr_sim_packet *p;

	while ((p = n->queue.head)) {
		n->queue.head = p->next;
		n->bytes -= p->wire;
		w->flying -= p->wire;
		if (sdr_sim_line_admit(w, n, p, start_ps / 1000))
			break;
		sdr_sim_lnk_gone(w, p, SDR_SIM_T_QUEUE);
	}
	if (!p)
		return;
	n->start_ps = start_ps;
	n->done_ps = start_ps + sdr_sim_ps(n->cfg.rate_bps, p->wire);
	if (sdr_sim_event_at(w, (n->done_ps + 999) / 1000, SDR_SIM_E_LINE, n)) {
		sdr_sim_packet_put(w, p); /* out of memory: a loss */
		return;
	}
	w->flying += p->wire;
	n->sent = p;
}

void sdr_sim_line_enter(struct sdr_sim_world *w, struct sdr_sim_lnk *l, struct sdr_sim_packet *p)
{
	struct sdr_sim_ln *n = l->line;

	n->st.in++;
	n->st.in_bytes += p->wire;
	if (n->cfg.queue_bytes && n->bytes && n->bytes + p->wire > n->cfg.queue_bytes) {
		n->st.dropped++;
		l->st.dropped++;
		sdr_sim_lnk_gone(w, p, SDR_SIM_T_QUEUE);
		return;
	}
	p->due = w->now;
	n->bytes += p->wire;
	w->flying += p->wire;
	sdr_sim_fifo_push(&n->queue, p);
	if (!n->sent)
		sdr_sim_line_next(w, n, w->now * 1000);
	if (n->bytes > n->st.queue_peak)
		n->st.queue_peak = n->bytes;
}

static bool sdr_sim_line_lost(struct sdr_sim_ln *n, uint64_t start_ps)
{
	const struct sdr_sim_line *c = &n->cfg;
	bool lost = false;

	if (c->ge_loss > 0)
		lost = sdr_sim_ge_bad(&n->ge, &n->rng, c->ge_loss, c->ge_burst, start_ps,
				      c->ge_packets ? 0 : sdr_sim_ps(c->rate_bps, c->ge_bytes));
	if (c->loss > 0 && sdr_sim_rng_hit(&n->rng, c->loss))
		lost = true;
	return lost;
}

void sdr_sim_line_leave(struct sdr_sim_world *w, struct sdr_sim_ln *n)
{
	uint64_t start_ps = n->start_ps, done_ps = n->done_ps;
	struct sdr_sim_packet *p;
	struct sdr_sim_lnk *l;

	SDR_ASSERT(n->sent);
	p = n->sent;
	l = sdr_sim_lnk_of(w, p);
	n->sent = NULL;
	w->flying -= p->wire;
	sdr_sim_line_next(w, n, done_ps);
	n->st.out++;
	n->st.out_bytes += p->wire;
	l->st.line_out++;
	l->st.line_bytes += p->wire;
	if (sdr_sim_line_lost(n, start_ps)) {
		n->st.lost++;
		l->st.lost++;
		sdr_sim_lnk_gone(w, p, SDR_SIM_T_LOST);
		return;
	}
	sdr_sim_lnk_transit(w, l, p, start_ps, done_ps);
}

/* ---- settings -------------------------------------------------------------------------------- */

static void sdr_sim_line_cfg(struct sdr_sim_ln *n, const struct sdr_sim_line *cfg)
{
	n->cfg = *cfg;
	if (!n->cfg.ge_bytes)
		n->cfg.ge_bytes = SDR_SIM_GE_BYTES;
}

int sdr_sim_line_add(struct sdr_sim_world *w, const struct sdr_sim_line *cfg)
{
	struct sdr_sim_ln *n;

	if (!cfg->rate_bps || w->lines_n == SDR_SIM_LINES_MAX)
		return -EINVAL;
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	sdr_sim_rng_seed(&n->rng, w->attr.seed ^ (w->lines_n + 1) * 0xe7037ed1a0b428dbull);
	sdr_sim_line_cfg(n, cfg);
	w->line[w->lines_n] = n;
	return (int)w->lines_n++;
}

int sdr_sim_line_set(struct sdr_sim_world *w, uint32_t line, const struct sdr_sim_line *cfg)
{
	if (line >= w->lines_n || !cfg->rate_bps)
		return -EINVAL;
	sdr_sim_line_cfg(w->line[line], cfg);
	return 0;
}

struct sdr_sim_line_change {
	struct sdr_sim_world *w;
	uint32_t line;
	struct sdr_sim_line cfg;
};

static void sdr_sim_line_change_run(void *arg)
{
	const struct sdr_sim_line_change *c = arg;

	(void)sdr_sim_line_set(c->w, c->line, &c->cfg);
}

int sdr_sim_line_set_at(struct sdr_sim_world *w, uint64_t when, uint32_t line,
			const struct sdr_sim_line *cfg)
{
	struct sdr_sim_line_change *c;

	if (line >= w->lines_n || !cfg->rate_bps)
		return -EINVAL;
	c = malloc(sizeof(*c));
	if (c)
		*c = (struct sdr_sim_line_change){ w, line, *cfg };
	return sdr_sim_at_own(w, when, sdr_sim_line_change_run, c);
}

void sdr_sim_line_get(const struct sdr_sim_world *w, uint32_t line, struct sdr_sim_line *cfg)
{
	SDR_ASSERT(line < w->lines_n);
	*cfg = w->line[line]->cfg;
}

void sdr_sim_line_stats(const struct sdr_sim_world *w, uint32_t line,
			struct sdr_sim_line_stats *out)
{
	SDR_ASSERT(line < w->lines_n);
	*out = w->line[line]->st;
}

int sdr_sim_link_line(struct sdr_sim_world *w, uint32_t from, uint32_t to, uint32_t line)
{
	struct sdr_sim_lnk *l = sdr_sim_lnk_get(w, from, to), *n;

	if (!l || line >= w->lines_n)
		return -EINVAL;
	for (uint32_t k = 0; (n = sdr_sim_lane_next(l, &k));)
		if ((n == l || !n->led) && (n->st.data || n->st.ctl))
			return -EINVAL;
	for (uint32_t k = 0; (n = sdr_sim_lane_next(l, &k));)
		if (n == l || !n->led)
			n->line = w->line[line];
	l->led = true;
	return 0;
}

uint64_t sdr_sim_line_backlog(const struct sdr_sim_world *w, uint32_t line)
{
	SDR_ASSERT(line < w->lines_n);
	return w->line[line]->bytes;
}

uint64_t sdr_sim_line_wait(const struct sdr_sim_world *w, uint32_t line)
{
	const struct sdr_sim_ln *n;
	uint64_t now_ps = w->now * 1000, ps;

	SDR_ASSERT(line < w->lines_n);
	n = w->line[line];
	ps = sdr_sim_ps(n->cfg.rate_bps, n->bytes);
	if (n->sent && n->done_ps > now_ps)
		ps += n->done_ps - now_ps;
	return ps / 1000;
}
