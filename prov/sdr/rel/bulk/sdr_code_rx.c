/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Coded segments coming in: when parity and data together are enough, what is missing is computed
 * into the user's buffer and the segment is complete.
 *
 * Whether they are is counted only when it can be: not more data are missing than parity has come,
 * everything that parity does not cover is there, and the codeword that was lacking last time lacks
 * no more.  Decoding happens once per segment, before its completion is reported, and writes
 * only packets that have not come; those that come from then on meet a closed slot.  It is done at
 * once, or, if it would hold up the round, by another thread (sdr_decode.c): then the segment waits
 * for that with what has come, parity still arrives, and its sender, who asks, is told so.
 * Without loss the data are complete before any parity is looked at, and nothing is decoded.
 *
 * A device writes whenever a packet comes, also while its place is decoded into, and also what was
 * lost for us because it was late.  Its segments are decoded apart (fec/sdr_code.h): late packets
 * bring the bytes that are, or will be, there, as long as the grant lasts, and it ends before that
 * of the transfer is reported.
 *
 * Parity buffers come from the endpoint's scratch, or, where the engine is rkeyed, are of the berth
 * that the sender has named.  When there is none, parity is not bound and lands nowhere: the sender
 * sees that and sends data again.
 */
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "model/sdr_choice.h"
#include "sdr_code_rx.h"
#include "sdr_policy.h"

struct sdr_group_rx *sdr_group_rx_new(struct sdr_bulk_rx *b, const struct sdr_plan_msg *m)
{
	struct sdr_rel *rel = b->conn->rel;
	struct sdr_group_rx *g = sdr_slab_alloc(&rel->bulk->grx_pool);

	if (!g)
		return NULL;
	if (sdr_plan_geometry(&b->plan, m, b->shape->mtu, b->shape->seg_bytes, &g->code)) {
		sdr_slab_free(&rel->bulk->grx_pool, g);
		return NULL;
	}
	g->stuck_cw = UINT32_MAX;
	g->fec = rel->info.no_bytes ? NULL : sdr_policy_fec(rel, &g->code);
	if (!g->fec && !rel->info.no_bytes)
		return g;
	g->of_berth = sdr_qp_rkeyed(b->shape->qp);
	if (g->of_berth && b->parity && !b->direct)
		g->scratch = b->parity->buf + b->plan.par_at +
			     (m->seg - b->plan.first_coded) * b->plan.par_each;
	else if (!g->of_berth)
		g->scratch = sdr_scratch_get(&rel->bulk->scratch, sdr_code_parity_bytes(&g->code));
	return g;
}

void sdr_group_rx_free(struct sdr_conn *c, struct sdr_group_rx *g)
{
	SDR_ASSERT(!sdr_decode_lent(&g->decode));
	if (!g->of_berth)
		sdr_scratch_put(&c->rel->bulk->scratch, g->scratch,
				sdr_code_parity_bytes(&g->code));
	sdr_slab_free(&c->rel->bulk->grx_pool, g);
}

/* Chunks of the bitmap with packets that did not come. */
static uint32_t chunks_holed(uint32_t chunk_pkts, const struct sdr_rcv_state *st)
{
	uint32_t n = 0;

	for (uint32_t p = sdr_bitmap_next_zero(st->pkt_bits, 0, st->npkts); p < st->npkts;
	     p = sdr_bitmap_next_zero(st->pkt_bits, p, st->npkts)) {
		n++;
		p = (p / chunk_pkts + 1) * chunk_pkts;
	}
	return n;
}

void sdr_group_rx_decoded(const struct sdr_group_rx *g, uint32_t *pkts, uint32_t *chunks)
{
	const struct sdr_rcv_state *d = sdr_recv_state(g->data->h);

	*pkts = d->npkts - d->got;
	*chunks = chunks_holed(g->data->bulk->shape->chunk_pkts, d);
}

/* Of what can be decoded as a whole.  False: not here and now. */
static bool group_decode(struct sdr_conn *c, struct sdr_group_rx *g)
{
	struct sdr_code_scratch *w = &c->rel->bulk->code_scratch;
	const struct sdr_rcv_state *d = sdr_recv_state(g->data->h),
				   *p = sdr_recv_state(g->parity->h);
	struct sdr_decode_of of = { .code = &g->code,
				    .fec = g->fec,
				    .base = d->buf,
				    .parity = g->scratch,
				    .data_bits = d->pkt_bits,
				    .parity_bits = p->pkt_bits,
				    .apart = g->of_berth };
	struct sdr_code_at at = { 0, 0 };

	if (sdr_code_decode_begin(&g->code, g->fec, w, of.data_bits, of.parity_bits, of.apart)) {
		g->dead = true;
		return false;
	}
	if (!of.apart)
		sdr_recv_seal(g->data->h);
	/*
	 * Nearby a sender has asked, and sends again, before a thread has woken: 3 to 10 times the
	 * time for the message was measured.
	 */
	if (c->main.rtt.srtt >= SDR_CHOICE_RTT_MIN && sdr_decode_lend(&g->decode, c->rel, &of))
		return false;
	while (sdr_code_decode_step(&g->code, w, of.base, of.parity, of.data_bits, of.parity_bits,
				    &at))
		;
	return true;
}

bool sdr_group_rx_try(struct sdr_conn *c, struct sdr_group_rx *g)
{
	struct sdr_code_scratch *w = &c->rel->bulk->code_scratch;
	const struct sdr_rcv_state *d, *p;

	if (!g->parity || g->dead || sdr_decode_lent(&g->decode))
		return false;
	d = sdr_recv_state(g->data->h);
	p = sdr_recv_state(g->parity->h);
	sdr_rel_steps(c->rel, 1 + (d->npkts + p->npkts) / 64);
	/* whole already: that needs no parity */
	if (d->npkts == d->got || d->npkts - d->got > p->got ||
	    sdr_bitmap_next_zero(d->pkt_bits, 0, g->code.a.first) < g->code.a.first)
		return false;
	if (sdr_code_lacking(&g->code, w, d->pkt_bits, p->pkt_bits, &g->stuck_cw))
		return false;
	return !g->fec || group_decode(c, g);
}
