/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See liar.h: what an endpoint counts is what there is (L7).
 */
#include <stdio.h>
#include <stdlib.h>
#include "liar.h"

static uint32_t ones(const uint64_t *b, uint32_t n)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < (n + 63) / 64; i++)
		k += (uint32_t)__builtin_popcountll(b[i]);
	return k;
}

struct books {
	uint64_t inflight, parity;
	uint32_t nasked, ngroups;
};

static void check_seg(const struct sdr_conn *c, const struct sdr_seg_tx *s, struct books *k)
{
	uint32_t sent = s->parity ? ones(s->chunk_rtx, s->npkts) : s->next;

	LIAR_CHECK(s->bulk && s->next <= s->goal && s->goal <= s->npkts && s->high <= s->npkts,
		   "L7: segment");
	LIAR_CHECK(s->nacked == ones(s->acked, s->npkts), "L7: acknowledged");
	LIAR_CHECK(s->nlost == ones(s->lost, s->npkts), "L7: lost");
	LIAR_CHECK(s->nagain == ones(s->again, s->npkts), "L7: again");
	LIAR_CHECK(sent == s->inflight + s->nlost + s->nacked,
		   "L7: %u sent, %u in flight, %u lost, %u acknowledged", sent, s->inflight,
		   s->nlost, s->nacked);
	LIAR_CHECK(!s->nagain == sdr_list_empty(&s->lost_link), "L7: queued");
	LIAR_CHECK(sdr_seg_tx_by_msn(c, s->msn) == s, "L7: by number");
	k->inflight += (uint64_t)s->inflight * c->shape.mtu;
	if (!s->grp)
		return;
	LIAR_CHECK(s->parity ? s->grp->parity == s && s->grp->data : s->grp->data == s,
		   "L7: group");
	if (s->parity)
		return;
	k->nasked += s->grp->asked;
	k->ngroups += s->grp->scratch != NULL;
	k->parity += s->grp->scratch ? (uint64_t)s->grp->code.par_pkts * c->shape.mtu : 0;
}

static void check_in(const struct sdr_conn *c, struct books *k)
{
	struct sdr_list *l, *m;

	sdr_list_each(l, &c->bulk->rx.brx) {
		const struct sdr_bulk_rx *b = sdr_container(l, struct sdr_bulk_rx, link);

		LIAR_CHECK(b->conn == c && b->bound <= b->plan.nmsgs && b->done <= b->plan.nsegs,
			   "L7: transfer in");
		sdr_list_each(m, &b->segs) {
			const struct sdr_seg_rx *s = sdr_container(m, struct sdr_seg_rx, link);

			LIAR_CHECK(s->bulk == b && s->msn - b->msn < b->bound, "L7: segment in");
			if (s->grp && !s->parity && s->grp->scratch)
				k->parity += (uint64_t)s->grp->code.par_pkts * c->shape.mtu;
		}
	}
}

void liar_books(const struct sdr_rel *rel)
{
	struct sdr_list *l, *m;
	uint64_t parity = 0;
	uint32_t n = 0;

	sdr_list_each(l, &rel->conn_list) {
		const struct sdr_conn *c = sdr_container(l, struct sdr_conn, link);
		struct books k = { 0 };

		n++;
		if (c->state == SDR_CONN_DEAD)
			continue;
		sdr_list_each(m, &c->bulk->tx.segs)
			check_seg(c, sdr_container(m, struct sdr_seg_tx, link), &k);
		for (uint32_t i = c->tx.log.head; i != c->tx.log.tail; i++) {
			const struct sdr_pkt *p = sdr_ring_at(&c->tx.log, struct sdr_pkt, i);

			k.inflight += p->done || p->lost ? 0 : p->bytes;
		}
		LIAR_CHECK(c->inflight == k.inflight, "L7: %llu bytes in flight, %llu counted",
			   (unsigned long long)k.inflight, (unsigned long long)c->inflight);
		LIAR_CHECK(c->bulk->tx.nasked == k.nasked && c->bulk->tx.ngroups == k.ngroups,
			   "L7: groups");
		check_in(c, &k);
		parity += k.parity;
	}
	LIAR_CHECK(n == rel->nconns, "L7: %u connections, %u counted", n, rel->nconns);
	LIAR_CHECK(rel->bulk->scratch.used >= parity && !rel->bulk->scratch.used == !parity,
		   "L7: parity buffers");
	LIAR_CHECK(rel->bulk->scratch.held <= rel->bulk->scratch.limit &&
			   rel->bulk->scratch.used <= rel->bulk->scratch.held,
		   "L7: scratch");
}
