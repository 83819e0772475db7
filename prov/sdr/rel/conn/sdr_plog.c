/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The log of packets that want an acknowledgement, see sdr_plog.h. */
#include "sdr_home.h"
#include "sdr_plog.h"

static void pkt_move(void *to, void *from)
{
	struct sdr_pkt *a = to, *b = from;

	*a = *b;
	sdr_list_init(&a->recs);
	sdr_list_move(&b->recs, &a->recs);
}

static const struct sdr_ring_kind plog_kind = { sizeof(struct sdr_pkt), SDR_PKT_LOG_MIN,
						SDR_REL_CTL_WINDOW, pkt_move };

static uint64_t pkt_memory(const struct sdr_conn *c, const struct sdr_pkt *p)
{
	uint64_t t = 4 * c->main.rtt.srtt;

	return p->probed && t < SDR_RTO_MAX_NS ? SDR_RTO_MAX_NS : t;
}

void sdr_plog_trim(struct sdr_conn *c)
{
	while (!sdr_ring_empty(&c->tx.log)) {
		struct sdr_pkt *p = sdr_plog_at(c, c->tx.log.head);

		/*
		 * Lost ones stay a while: their late acknowledgement shows reordering, or a peer
		 * that was slow.
		 */
		if (!p->done && !(p->lost && p->tx_ns + pkt_memory(c, p) < c->rel->now))
			break;
		/*
		 * What a probe declared lost may only have been answered late; by now it would have
		 * been.
		 */
		if (!p->done && p->probed && !p->extra)
			sdr_home_lost(c, 1);
		sdr_ring_pop(&c->tx.log);
	}
}

bool sdr_plog_room(struct sdr_conn *c)
{
	sdr_plog_trim(c);
	if (!sdr_ring_room(&c->tx.log, &plog_kind))
		return true;
	if (!sdr_ring_empty(&c->tx.log) && sdr_plog_at(c, c->tx.log.head)->lost) {
		sdr_ring_pop(&c->tx.log);
		return true;
	}
	return false;
}

uint32_t sdr_plog_search(const struct sdr_conn *c, uint32_t pn)
{
	uint32_t lo = c->tx.log.head, hi = c->tx.log.tail;

	while (lo != hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (sdr_seq_lt(sdr_plog_at(c, mid)->pn, pn))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
