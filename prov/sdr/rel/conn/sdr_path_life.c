/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * When a path beside the first, or the first itself, is alive and when it is silent: see
 * sdr_multipath.c for what that means.
 *
 * It is alive when the peer has answered a challenge by it: its window is that of a new connection,
 * or begins anew where it was alive before.  It is silent when nothing of what left by it is
 * answered, while what left a while later by others is: longer after than their round trips differ
 * and vary, as hosts may be busy.  All that is under way there is lost then, and says nothing of
 * what the other paths lose.  The paths that are alive are bound together (struct sdr_cc_bond).
 *
 * No timers: it is looked at when the peer is heard, and with each timeout.
 */
#include <stdio.h>
#include "sdr_conn_ecn.h"
#include "sdr_conn_known.h"
#include "sdr_conn_ops.h"
#include "sdr_multipath.h"
#include "sdr_path_life.h"
#include "sdr_pkt.h"

static uint32_t paths_alive(const struct sdr_conn *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->npaths; i++)
		n += sdr_conn_path_of(c, i)->state == SDR_PATH_ALIVE;
	return n;
}

static void path_note(struct sdr_conn *c, const struct sdr_path *p, const char *what)
{
	char text[96];

	if (!c->rel->cbs->note)
		return;
	snprintf(text, sizeof(text), "path %u of %u %s", p->index + 1u, c->npaths, what);
	c->rel->cbs->note(c->rel->user, c->peer, text);
}

/* Those that are alive want of a bottleneck that they share what one flow does. */
static void path_bond(struct sdr_conn *c)
{
	bool several = paths_alive(c) > 1;

	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);
		bool in = several && p->state == SDR_PATH_ALIVE;

		if (in != (p->cc.bond != NULL))
			sdr_cc_bond(&p->cc, in ? &c->multi->bond : NULL);
	}
}

/* What its end at the peer takes unread: that is one for all paths that lead there. */
static uint64_t path_rx_window(const struct sdr_conn *c, const struct sdr_path *p)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < c->npaths; i++)
		n += i != p->index && sdr_uc_addr_equal(sdr_path_addr(c, sdr_conn_path_of(c, i)),
							sdr_path_addr(c, p));
	return c->main.cc.rx_window / n;
}

/* Data may go by it.  False: the engine does not get there. */
static bool path_ways(struct sdr_conn *c, const struct sdr_path *p)
{
	for (uint32_t i = 0; i < 2 && p->index; i++)
		if (c->shapes[i].qp && sdr_qp_via(c->shapes[i].qp, p->index, p->source, &p->addr))
			return false;
	return true;
}

/* The peer has answered by it, what was asked then. */
void sdr_path_alive(struct sdr_conn *c, struct sdr_path *p, uint64_t asked_ns)
{
	struct sdr_multipath *m = c->multi;

	if (p->state == SDR_PATH_ALIVE || !path_ways(c, p))
		return;
	for (uint32_t i = 0; i < m->n; i++)
		m->peer[i].proved |= sdr_uc_addr_equal(&m->peer[i].addr, sdr_path_addr(c, p));
	if (p->proved || !p->index) {
		sdr_cc_timeout(&p->cc, c->rel->now);
		path_note(c, p, "answers again");
	} else {
		/*
		 * How long a challenge took is only a guess: its answer came back by the same
		 * path, acknowledgements come by c->ctl.
		 */
		sdr_rtt_init(&p->rtt, c->rel->now - asked_ns);
		sdr_cc_init(&p->cc, &c->rel->cfg, c->shape->mtu, path_rx_window(c, p), p->rtt.srtt,
			    NULL, c->rel->now);
		sdr_conn_ecn_begin(c, p);
		sdr_conn_known_path_begin(c, p);
		path_note(c, p, "is there");
	}
	p->proved = true;
	p->narrow = false;
	p->pmtu.hole.lost = 0;
	p->timeouts = 0;
	p->state = SDR_PATH_ALIVE;
	path_bond(c);
	p->tries = 0;
	p->busy_ns = c->rel->now;
	c->st.paths_up++;
	sdr_conn_kick(c);
}

/* Of those that were heard of latest, give or take a round trip, the one with the shortest. */
static uint8_t path_best(const struct sdr_conn *c)
{
	const struct sdr_path *best = NULL;
	uint64_t latest = 0;

	for (uint32_t i = 0; i < c->npaths; i++) {
		const struct sdr_path *p = sdr_conn_path_of(c, i);

		if (p->state == SDR_PATH_ALIVE && p->heard_ns > latest)
			latest = p->heard_ns;
	}
	for (uint32_t i = 0; i < c->npaths; i++) {
		const struct sdr_path *p = sdr_conn_path_of(c, i);

		if (p->state == SDR_PATH_ALIVE && p->heard_ns + p->rtt.srtt >= latest &&
		    (!best || p->rtt.srtt < best->rtt.srtt))
			best = p;
	}
	return best ? best->index : c->ctl;
}

/* What went there was not answered: it goes elsewhere. */
void sdr_path_silent(struct sdr_conn *c, struct sdr_path *p)
{
	SDR_ASSERT(p->state == SDR_PATH_ALIVE && paths_alive(c) > 1);
	p->state = SDR_PATH_SILENT;
	path_bond(c);
	p->next_ns = c->rel->now;
	p->tries = 0;
	c->st.paths_down++;
	path_note(c, p, "does not answer any more: the others carry what it had");
	sdr_conn_ecn_silent(c, p);
	if (c->ctl == p->index)
		c->ctl = path_best(c);
	sdr_pkt_path_lost(c, p->index);
	c->rel->ops->path_lost(c, p->index);
	SDR_ASSERT(!p->inflight);
	sdr_conn_kick(c);
}

/* Something that left on another since p's first packet that timed out has arrived. */
static bool others_answer(const struct sdr_conn *c, const struct sdr_path *p)
{
	for (uint32_t i = 0; i < c->npaths; i++) {
		const struct sdr_path *q = sdr_conn_path_of(c, i);

		if (q != p && q->state == SDR_PATH_ALIVE && q->rack.ns > p->timeout_ns)
			return true;
	}
	return false;
}

/*
 * Nothing of what left on p since a time is answered (all of it left before `since`, or nothing
 * was answered since then), and something that left on another a while after that is: longer after
 * than round trips differ and vary.
 */
static bool path_is_silent(const struct sdr_conn *c, const struct sdr_path *p)
{
	uint64_t since = p->answered ? p->last_ns : p->busy_ns, latest = 0, patience;

	if (p->state != SDR_PATH_ALIVE || (!p->inflight && !p->narrow && !p->timeouts))
		return false;
	if (p->narrow && paths_alive(c) > 1)
		return true; /* what is small is answered */
	patience = p->rtt.srtt / 2 + 4 * p->rtt.rttvar;
	if (patience < SDR_MULTIPATH_PATIENCE_NS)
		patience = SDR_MULTIPATH_PATIENCE_NS;
	/* each of them took from the way what would have shown it below */
	if (p->timeouts >= SDR_MULTIPATH_TIMEOUTS && others_answer(c, p) &&
	    c->rel->now > p->timeout_ns + p->rtt.srtt + patience)
		return true;
	for (uint32_t i = 0; i < c->npaths; i++) {
		const struct sdr_path *q = sdr_conn_path_of(c, i);
		uint64_t later = q->rtt.srtt < p->rtt.srtt ? p->rtt.srtt - q->rtt.srtt : 0;

		if (q != p && q->state == SDR_PATH_ALIVE && q->rack.ns > later &&
		    q->rack.ns - later > latest)
			latest = q->rack.ns - later;
	}
	return latest > since + patience && c->rel->now > since + p->rtt.srtt + patience;
}

void sdr_multipath_judge(struct sdr_conn *c)
{
	for (uint32_t i = 0; i < c->npaths && c->npaths > 1; i++)
		if (path_is_silent(c, sdr_conn_path(c, i)))
			sdr_path_silent(c, sdr_conn_path(c, i));
}
