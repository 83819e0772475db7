/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A connection that lives: found by its number, woken, timed; and how it fails.
 *
 * One that fails is marked, taken out of all tables and put on the endpoint's list of the dead;
 * what belongs to it ends, and is reported, in one place at the end of the round.  So no call may
 * free what its caller still holds, and none has to ask.  What it does in time is the top's.
 */
#include "sdr_conn.h"
#include "sdr_conn_known.h"
#include "sdr_conn_ops.h"
#include "sdr_peer_cid.h"
#include "sdr_turn.h"

struct sdr_conn *sdr_conn_by_cid(struct sdr_rel *rel, uint64_t cid)
{
	struct sdr_hnode *n;

	for (n = sdr_htab_first(&rel->conns, cid); n; n = n->next) {
		sdr_rel_step(rel);
		if (n->hash == cid)
			return sdr_container(n, struct sdr_conn, hnode);
	}
	return NULL;
}

void sdr_conn_fail(struct sdr_conn *c, int err)
{
	if (!sdr_conn_live(c))
		return;
	SDR_ASSERT(err != SDR_REL_OK && sdr_conn_by_cid(c->rel, c->id.cid) == c);
	c->state = SDR_CONN_DEAD;
	/* now: the one that takes its place may be on the way */
	sdr_conn_known_end(c);
	c->err = err;
	if (c->peer->conn == c)
		c->peer->conn = NULL;
	sdr_htab_del(&c->rel->conns, &c->hnode);
	sdr_conn_peer_forget(c);
	sdr_list_del(&c->link);
	sdr_list_add_tail(&c->link, &c->rel->dead);
	if (c->hs.passive && !c->hs.validated) {
		SDR_ASSERT(c->rel->nunvalidated);
		c->rel->nunvalidated--;
	}
	sdr_timerq_set(&c->rel->timers, &c->timer, NEVER);
	sdr_list_del(&c->ready);
	sdr_turn_end(c);
	c->rel->activity++;
	c->rel->ops->failed(c);
}

void sdr_conn_kick(struct sdr_conn *c)
{
	if (sdr_conn_live(c) && sdr_list_empty(&c->ready))
		sdr_list_add_tail(&c->ready, &c->rel->ready);
}

void sdr_conn_wake(struct sdr_conn *c)
{
	if (sdr_conn_live(c))
		sdr_timerq_set(&c->rel->timers, &c->timer, c->rel->now);
}

void sdr_conn_sent(struct sdr_conn *c)
{
	c->tx.last_ns = c->rel->now;
}

uint64_t sdr_conn_report_delay(const struct sdr_conn *c)
{
	uint64_t d = c->main.rtt.srtt / 8;

	if (d < SDR_REPORT_DELAY_MIN_NS)
		return SDR_REPORT_DELAY_MIN_NS;
	return d < SDR_ACK_DELAY_MAX_NS ? d : SDR_ACK_DELAY_MAX_NS;
}

/*
 * Our own bursts queue at a slow link: a round trip measured with a small packet does not know
 * them.
 */
static uint64_t conn_path_rto(const struct sdr_path *p)
{
	uint64_t rto = sdr_rtt_rto(&p->rtt);

	if (p->cc.pacer.rate_Bps)
		rto += 2 * p->cc.pacer.quantum * 1000000000ull / p->cc.pacer.rate_Bps;
	return rto;
}

uint64_t sdr_conn_rto(const struct sdr_conn *c, uint32_t shift)
{
	uint64_t rto = 0, t;

	for (uint32_t i = 0; i < c->npaths; i++) {
		const struct sdr_path *p = sdr_conn_path_of(c, i);

		if ((t = conn_path_rto(p)) > rto && (p->inflight || i == c->ctl))
			rto = t;
	}
	t = rto << (shift < SDR_PTO_BACKOFF_MAX ? shift : SDR_PTO_BACKOFF_MAX);
	return t < SDR_RTO_MAX_NS ? t : SDR_RTO_MAX_NS > rto ? SDR_RTO_MAX_NS : rto;
}
