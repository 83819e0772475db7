/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Coded segments going out: encoding as data leave, and what is sent when parity did not suffice.
 *
 * A group is a data segment and the one with its parity.  Parity is made a submessage at a time, as
 * many as the data sent so far are worth, so encoding overlaps sending without reading and writing
 * parity once per packet (the data are there from the start); it leaves behind the data, then END
 * asks for both.  Where the caller lends threads (cbs->lend) they encode, too: submessages are
 * taken from one counter, by them as fast as they can, here what they have not reached when the
 * data have.  No thread is in there any more once the last data packet has left or the data are
 * released: the bytes may be the application's again.  Losses in a group repair themselves or wait:
 * it is evaluated when everything of it has left and nothing is in flight any more, that is, when
 * loss detection knows the fate of each packet.  The receiver's NACK is its two bitmaps: from them
 * the deficit of every codeword follows.
 *
 *   nothing lacking       the receiver can decode and its COMPLETE is on the way, or lost: END asks
 *                         again
 *   ec, hybrid, auto      for each lacking codeword that many parity symbols, and a margin for
 *                         losses among them: such as were never sent first (HARQ).  After
 *                         SDR_GROUP_ROUNDS_MAX rounds, or when no parity at all arrives (the
 *                         receiver has no room for it), as ec_sr
 *   ec_sr, XOR            the missing packets of the lacking codewords (Selective Repeat)
 *
 * Whatever the receiver does with parity, data packets sent again end the story, as without any.
 * No timers of its own: END wants an answer, and the probe (PTO) repeats it.
 */
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "sdr_code_tx.h"
#include "sdr_policy.h"
#include "sdr_scheme.h"

#define SHARE_BYTES (1u << 20) /* data of a group below which others are not worth calling */
#define SHARE_SUBS  4u	       /* submessages, likewise */

/* ---- encoding -------------------------------------------------------------------------------- */

/* Until `upto` submessages have been begun.  Any thread. */
static void group_encode(struct sdr_group_tx *g, uint32_t upto)
{
	while (atomic_load_explicit(&g->begun, memory_order_relaxed) < upto) {
		uint32_t sub = atomic_fetch_add_explicit(&g->begun, 1, memory_order_relaxed);

		if (sub < g->code.nsub)
			sdr_code_encode(&g->code, g->fec, g->base, g->scratch, sub);
	}
}

static void group_run(struct sdr_job *job)
{
	struct sdr_group_tx *g = sdr_container(job, struct sdr_group_tx, job);

	group_encode(g, g->code.nsub);
}

static void group_share(struct sdr_rel *rel, struct sdr_group_tx *g, uint64_t len)
{
	if (!rel->cbs->lend || len < SHARE_BYTES || g->code.nsub < SHARE_SUBS)
		return;
	g->job.run = group_run;
	g->shared = rel->cbs->lend(rel->user, &g->job);
}

/* No other thread encodes any more.  False: what others had begun may be missing. */
static bool group_unshare(struct sdr_rel *rel, struct sdr_group_tx *g)
{
	bool shared = g->shared;

	g->shared = false;
	return !shared || rel->cbs->reclaim(rel->user, &g->job);
}

void sdr_group_tx_sent(struct sdr_seg_tx *s, uint32_t first, uint32_t n)
{
	struct sdr_group_tx *g = s->grp;
	struct sdr_rel *rel = s->bulk->conn->rel;

	if (!g->fec || !g->scratch)
		return;
	if (!g->base) {
		g->base = s->base;
		group_share(rel, g, s->len);
	}
	group_encode(g, (uint32_t)((uint64_t)g->code.nsub * (first + n) / s->npkts));
	if (first + n == s->npkts && !group_unshare(rel, g)) {
		atomic_store_explicit(&g->begun, 0, memory_order_relaxed);
		group_encode(g, g->code.nsub);
	}
}

void sdr_group_tx_make(struct sdr_seg_tx *s, uint32_t first, uint32_t n)
{
	struct sdr_group_tx *g = s->grp;

	if (!g->fec || !g->scratch)
		return;
	for (uint32_t i = 0; i < n; i++)
		if (first + i >= g->code.plan_pkts)
			sdr_code_make(&g->code, g->fec, g->data->base, g->scratch, first + i);
}

/* ---- groups ---------------------------------------------------------------------------------- */

struct sdr_group_tx *sdr_group_tx_new(struct sdr_bulk_tx *b, const struct sdr_plan_msg *m)
{
	struct sdr_conn *c = b->conn;
	struct sdr_rel *rel = c->rel;
	struct sdr_group_tx *g = sdr_slab_alloc(&rel->bulk->gtx_pool);

	if (!g)
		return NULL;
	sdr_list_init(&g->evaluate);
	if (sdr_plan_geometry(&b->plan, m, b->shape->mtu, b->shape->seg_bytes, &g->code))
		goto err;
	g->fec = rel->info.no_bytes ? NULL : sdr_policy_fec(rel, &g->code);
	if (g->fec || rel->info.no_bytes)
		g->scratch = sdr_scratch_get(&rel->bulk->scratch, sdr_code_parity_bytes(&g->code));
	if (!g->scratch && c->bulk->tx.ngroups)
		goto err;
	c->bulk->tx.ngroups += g->scratch != NULL;
	return g;
err:
	sdr_slab_free(&rel->bulk->gtx_pool, g);
	return NULL;
}

void sdr_group_tx_drop(struct sdr_conn *c, struct sdr_group_tx *g, struct sdr_seg_tx *s)
{
	if (g->data == s) {
		atomic_store_explicit(&g->begun, g->code.nsub, memory_order_relaxed);
		group_unshare(c->rel, g);
		g->data = NULL;
	}
	if (g->parity == s)
		g->parity = NULL;
	sdr_list_del(&g->evaluate);
	SDR_ASSERT(!g->end_probed || c->bulk->tx.nend_probed);
	if (g->end_probed)
		c->bulk->tx.nend_probed--;
	g->end_probed = false;
	if (g->data || g->parity)
		return;
	SDR_ASSERT(!g->scratch || c->bulk->tx.ngroups);
	if (g->scratch)
		c->bulk->tx.ngroups--;
	sdr_scratch_put(&c->rel->bulk->scratch, g->scratch, sdr_code_parity_bytes(&g->code));
	sdr_slab_free(&c->rel->bulk->gtx_pool, g);
	c->bulk->tx.parity_wait = false;
	sdr_conn_kick(c);
}

static bool seg_settled(const struct sdr_seg_tx *s)
{
	return s && s->next == s->goal && !s->inflight && !s->nagain;
}

void sdr_group_tx_touch(struct sdr_seg_tx *s)
{
	struct sdr_group_tx *g = s->grp;

	if (sdr_list_empty(&g->evaluate) && seg_settled(g->data) && seg_settled(g->parity))
		sdr_list_add_tail(&g->evaluate, &s->bulk->conn->bulk->tx.evaluate);
}

/* ---- what is missing goes again -------------------------------------------------------------- */

static void data_again(struct sdr_conn *c, struct sdr_group_tx *g, uint32_t lo, uint32_t hi)
{
	struct sdr_seg_tx *s = g->data;

	if (hi > s->npkts)
		hi = s->npkts;
	while ((lo = sdr_bitmap_next_zero(s->acked, lo, hi)) < hi) {
		uint32_t end = sdr_bitmap_next_one(s->acked, lo, hi);

		sdr_seg_tx_again(s, lo, end);
		c->st.rtx_nack += end - lo;
		lo = end;
	}
}

/* Selective Repeat of one codeword. */
static void codeword_again(struct sdr_conn *c, struct sdr_group_tx *g, uint32_t cw)
{
	uint32_t k = sdr_code_positions(&g->code, cw);

	for (uint32_t pos = 0; pos < k; pos++) {
		uint32_t p = sdr_code_data_pkt(&g->code, cw, pos);

		if (p < g->data->npkts)
			data_again(c, g, p, p + g->code.sym_pkts);
	}
}

/* A parity symbol of which packets are missing; requests them.  Its packets follow each other. */
static bool row_again(struct sdr_group_tx *g, uint32_t cw, uint32_t row, bool fresh)
{
	struct sdr_seg_tx *s = g->parity;
	uint32_t lo = sdr_code_parity_pkt(&g->code, cw, row), hi = lo + g->code.sym_pkts;
	bool sent = sdr_bitmap_next_one(s->chunk_rtx, lo, hi) < hi;

	if (sent == fresh || sdr_bitmap_next_zero(s->acked, lo, hi) == hi)
		return false;
	while ((lo = sdr_bitmap_next_zero(s->acked, lo, hi)) < hi) {
		uint32_t end = sdr_bitmap_next_one(s->acked, lo, hi);

		sdr_seg_tx_again(s, lo, end);
		lo = end;
	}
	return true;
}

/*
 * Parity on demand for one codeword: rows never sent, then rows that were lost.  False: there are
 * not enough.
 */
static bool codeword_parity(struct sdr_conn *c, struct sdr_group_tx *g,
			    const struct sdr_choice_loss *loss, uint32_t cw, uint32_t deficit)
{
	struct sdr_rel *rel = c->rel;
	uint32_t want = sdr_choice_repair(rel->bulk->choices, loss, deficit, SDR_CHOICE_REPAIR_EPS),
		 got = 0;
	uint32_t free_rows = 0;

	for (uint32_t row = 0; row < g->code.rows && free_rows < deficit; row++) {
		uint32_t lo = sdr_code_parity_pkt(&g->code, cw, row), hi = lo + g->code.sym_pkts;

		free_rows += sdr_bitmap_next_zero(g->parity->acked, lo, hi) < hi;
	}
	if (free_rows < deficit)
		return false;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t row = 0; row < g->code.rows && got < want; row++)
			got += row_again(g, cw, row, pass == 0);
	return true;
}

static bool parity_repairs(const struct sdr_conn *c, const struct sdr_group_tx *g)
{
	return c->bulk->scheme->parity_on_demand && g->code.a.kind == SDR_CODE_MDS &&
	       g->parity->nacked && g->rounds <= SDR_GROUP_ROUNDS_MAX &&
	       g->asks < SDR_GROUP_ASKS_MAX;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

static void group_ask(struct sdr_conn *c, struct sdr_group_tx *g)
{
	g->asks++;
	if (!g->end_probed)
		c->bulk->tx.nend_probed++;
	g->end_probed = true;
	sdr_seg_tx_end_due(g->data);
	sdr_conn_kick(c);
}

static void group_evaluate(struct sdr_conn *c, struct sdr_group_tx *g)
{
	struct sdr_code_scratch *w = &c->rel->bulk->code_scratch;
	bool all = g->asks >= SDR_GROUP_ASKS_MAX;
	int lacking = sdr_code_count(&g->code, w, g->data->acked, g->parity->acked);

	SDR_ASSERT(!g->data->inflight && !g->parity->inflight);
	SDR_ASSERT(!g->data->nagain && !g->parity->nagain);

	/* Uncovered packets have no other way. */
	data_again(c, g, 0, g->code.a.first);
	if (lacking < 0 || all) {
		data_again(c, g, g->code.a.first, g->data->npkts);
	} else if (lacking) {
		struct sdr_choice_loss loss;
		bool harq;

		sdr_loss_est_known(&c->peer->loss, &loss);
		g->rounds++;
		harq = parity_repairs(c, g);
		for (uint32_t i = 0; i < w->ntouched; i++) {
			uint32_t cw = w->touched[i];

			sdr_rel_steps(c->rel, 1 + g->code.rows);
			if (w->miss[cw] > w->have[cw] &&
			    (!harq || !codeword_parity(c, g, &loss, cw,
						       (uint32_t)w->miss[cw] - w->have[cw])))
				codeword_again(c, g, cw);
		}
	}
	if (!g->data->nagain && !g->parity->nagain) {
		group_ask(c, g);
	} else if (g->end_probed) {
		g->end_probed = false;
		c->bulk->tx.nend_probed--;
	}
}

void sdr_group_tx_evaluate(struct sdr_conn *c)
{
	struct sdr_list *l;

	while ((l = sdr_list_pop(&c->bulk->tx.evaluate))) {
		struct sdr_group_tx *g = sdr_container(l, struct sdr_group_tx, evaluate);

		if (seg_settled(g->data) && seg_settled(g->parity))
			group_evaluate(c, g);
	}
}
