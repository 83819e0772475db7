/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The log of data transmissions, see sdr_tlog.h.
 *
 * An entry is settled when its packets are delivered, counted as lost, or of no interest any more;
 * it does not name its segment then.  A segment that was released stays for the entries that name
 * it, and goes with the last of them.
 */
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "rel/conn/sdr_home.h"
#include "sdr_seg_tx.h"
#include "sdr_tlog.h"

bool sdr_tlog_room(struct sdr_conn *c)
{
	static const struct sdr_ring_kind kind = { sizeof(struct sdr_txent), SDR_TX_LOG_MIN,
						   SDR_TX_LOG_MAX, NULL };

	return !sdr_ring_room(&c->bulk->tx.log, &kind);
}

void sdr_tlog_settle(struct sdr_conn *c, struct sdr_txent *e)
{
	struct sdr_seg_tx *s = e->seg;

	SDR_ASSERT(!s || s->nlog);
	e->seg = NULL;
	if (!s || --s->nlog)
		return;
	/* All of it has been reported: some of what counted as arrived came out of parity. */
	sdr_home_recount(c, s->unknown);
	s->unknown = 0;
	if (!s->bulk)
		sdr_seg_tx_drop(c->rel, s);
}

void sdr_tlog_arrived(struct sdr_conn *c, struct sdr_txent *e)
{
	if (e->seg->bulk || !e->seg->parity)
		sdr_loss_est_arrived(&c->peer->loss, c->rel->now, e->n);
	sdr_tlog_settle(c, e);
}

bool sdr_txent_delivered(const struct sdr_txent *e)
{
	return !e->seg->bulk ||
	       sdr_bitmap_next_zero(e->seg->acked, e->first, e->first + e->n) == e->first + e->n;
}

void sdr_tlog_trim(struct sdr_conn *c)
{
	while (!sdr_ring_empty(&c->bulk->tx.log)) {
		struct sdr_txent *e = sdr_tlog_at(c, c->bulk->tx.log.head);

		sdr_rel_step(c->rel);
		if (e->seg) {
			if (!sdr_txent_delivered(e))
				break;
			sdr_tlog_arrived(c, e);
		}
		sdr_ring_pop(&c->bulk->tx.log);
	}
}

struct sdr_txent *sdr_tlog_find(struct sdr_conn *c, struct sdr_seg_tx *s, uint32_t pkt)
{
	uint32_t run = pkt / s->shape->run_pkts;
	uint32_t pos = s->run_log[run];

	if (!s->run_ntx[run])
		return NULL;
	for (uint32_t k = 0; k < s->shape->run_pkts && sdr_ring_has(&c->bulk->tx.log, pos);
	     k++, pos--) {
		struct sdr_txent *e = sdr_tlog_at(c, pos);

		sdr_rel_step(c->rel);
		if (e->seg == s && pkt - e->first < e->n)
			return e;
	}
	return NULL;
}

void sdr_tlog_clear(struct sdr_conn *c)
{
	struct sdr_ring *log = &c->bulk->tx.log;

	for (; !sdr_ring_empty(log); sdr_ring_pop(log)) {
		struct sdr_txent *e = sdr_tlog_at(c, log->head);

		if (e->seg && --e->seg->nlog == 0 && !e->seg->bulk)
			sdr_seg_tx_drop(c->rel, e->seg);
	}
}
