/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A segment going out: one SDR message of a transfer, data or parity, from its opening to its
 * release.
 *
 * It opens when its turn comes and the receiver's credit allows its number.  A coded segment is
 * two, which make a group (sdr_code_tx.c): the data, and the parity behind them.  When there is no
 * buffer for more parity, the connection waits for its own to come back (back-pressure); one that
 * holds none goes without parity.
 *
 * State of a packet: never sent (>= next), in flight, lost (bit), acknowledged (bit).  in flight +
 * lost + acknowledged = packets sent, always.  `again` says which of them are to be sent (once
 * more): without parity all that are lost, of a coded segment what its group needs.  When all
 * has been sent, END requests a report.
 *
 * A released segment lives on while the transmission log names it.  Segments are recycled by size;
 * the steady state allocates nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "sdr_bulk_tx.h"
#include "sdr_code_tx.h"
#include "sdr_policy.h"
#include "sdr_seg_tx.h"

#define SEG_INDEX_MIN 16u
#define SEG_CLASS_MIN 6u /* log2: segments hold at least 64 packets of state */

static struct sdr_seg_tx *seg_alloc(struct sdr_rel *rel, uint32_t npkts)
{
	uint32_t k = SEG_CLASS_MIN, words, cap;
	struct sdr_seg_tx *s;
	uint8_t *p;

	while ((1u << k) < npkts)
		k++;
	cap = 1u << k;
	words = sdr_bitmap_words(cap);
	s = rel->bulk->seg_free[k];
	if (s)
		rel->bulk->seg_free[k] = *(void **)s;
	else
		s = malloc(sizeof(*s) + 4 * words * 8 + cap * 6);
	if (!s)
		return NULL;
	p = (uint8_t *)(s + 1);
	memset(s, 0, sizeof(*s));
	memset(p, 0, 4 * words * 8 + cap * 6);
	s->acked = (uint64_t *)(void *)p;
	s->lost = s->acked + words;
	s->again = s->lost + words;
	s->chunk_rtx = s->again + words;
	s->run_log = (uint32_t *)(void *)(s->chunk_rtx + words);
	s->run_ntx = (uint8_t *)(s->run_log + cap);
	s->on = s->run_ntx + cap;
	s->klass = k;
	sdr_list_init(&s->link);
	sdr_list_init(&s->mine);
	sdr_list_init(&s->lost_link);
	sdr_list_init(&s->end_link);
	return s;
}

void sdr_seg_tx_drop(struct sdr_rel *rel, struct sdr_seg_tx *s)
{
	uint32_t k = s->klass;

	*(void **)s = rel->bulk->seg_free[k];
	rel->bulk->seg_free[k] = s;
}

/* ---- the index of open segments by message number -------------------------------------------- */

static struct sdr_seg_tx **seg_index(const struct sdr_conn *c, uint32_t msn)
{
	return sdr_ring_at(&c->bulk->tx.index, struct sdr_seg_tx *, msn);
}

static void seg_index_trim(struct sdr_conn *c)
{
	struct sdr_ring *r = &c->bulk->tx.index;

	while (!sdr_ring_empty(r) && !*seg_index(c, r->head)) {
		sdr_rel_step(c->rel);
		sdr_ring_pop(r);
	}
}

/* Room for message msn beside those that are open. */
static int seg_index_room(struct sdr_conn *c, uint32_t msn)
{
	static const struct sdr_ring_kind kind = { sizeof(struct sdr_seg_tx *), SEG_INDEX_MIN,
						   SDR_TX_LOG_MAX, NULL };

	seg_index_trim(c);
	return sdr_ring_reach(&c->bulk->tx.index, &kind, msn);
}

static void seg_unindex(struct sdr_conn *c, const struct sdr_seg_tx *s)
{
	if (sdr_seg_tx_by_msn(c, s->msn) == s)
		*seg_index(c, s->msn) = NULL;
	seg_index_trim(c);
}

struct sdr_seg_tx *sdr_seg_tx_by_msn(const struct sdr_conn *c, uint32_t msn)
{
	return sdr_ring_has(&c->bulk->tx.index, msn) ? *seg_index(c, msn) : NULL;
}

/* ---------------------------------------------------------------------------------------------- */

void sdr_seg_tx_release(struct sdr_conn *c, struct sdr_seg_tx *s)
{
	SDR_ASSERT(s->bulk);
	for (uint32_t i = 0; i < c->npaths && s->inflight; i++)
		sdr_seg_tx_land(s, i, s->flying[i]);
	SDR_ASSERT(!s->inflight);
	s->bulk = NULL;
	s->nlost = s->nagain = 0;
	if (s->grp)
		sdr_group_tx_drop(c, s->grp, s);
	s->grp = NULL;
	seg_unindex(c, s);
	if (s->h)
		sdr_send_release(s->h);
	s->h = NULL;
	sdr_stage_tx_close(&s->stage, c); /* nothing queued reads it any more */
	sdr_list_del(&s->link);
	sdr_list_del(&s->mine);
	sdr_list_del(&s->lost_link);
	sdr_list_del(&s->end_link);
	if (!s->nlog)
		sdr_seg_tx_drop(c->rel, s);
}

static void seg_end_due(struct sdr_seg_tx *s)
{
	if (sdr_list_empty(&s->end_link))
		sdr_list_add_tail(&s->end_link, &s->bulk->conn->bulk->tx.ends);
}

void sdr_seg_tx_end_due(struct sdr_seg_tx *s)
{
	struct sdr_group_tx *g = s->grp;

	seg_end_due(s);
	if (g && g->data && g->data != s)
		seg_end_due(g->data);
	if (g && g->parity && g->parity != s)
		seg_end_due(g->parity);
}

/* Everything that was to leave has left: ask what has become of it. */
void sdr_seg_tx_sent(struct sdr_seg_tx *s)
{
	struct sdr_group_tx *g = s->grp;

	if (s->next < s->goal || s->nagain)
		return;
	if (g && (!g->parity || g->parity->next < g->parity->goal || g->parity->nagain ||
		  g->data->nagain))
		return;
	sdr_seg_tx_end_due(s);
}

void sdr_seg_tx_again(struct sdr_seg_tx *s, uint32_t lo, uint32_t hi)
{
	struct sdr_conn *c = s->bulk->conn;
	uint32_t n = sdr_bitmap_set_range(s->again, lo, hi);

	SDR_ASSERT(lo < hi && hi <= s->npkts);
	s->nagain += n;
	SDR_ASSERT(s->nagain <= s->npkts - s->nacked);
	if (lo < s->again_hint)
		s->again_hint = lo;
	if (n && sdr_list_empty(&s->lost_link))
		sdr_list_add_tail(&s->lost_link, &c->bulk->tx.lost_segs);
	sdr_conn_kick(c);
}

/* What message i of a transfer carries.  False: no buffer for it or its parity now. */
static bool seg_fill(struct sdr_bulk_tx *b, const struct sdr_plan_msg *m, struct sdr_seg_tx *s)
{
	struct sdr_group_tx *g = b->grp;

	if (m->parity) {
		s->grp = g;
		s->parity = true;
		s->base = g->scratch;
		s->len = sdr_code_parity_bytes(&g->code);
		s->goal = g->scratch ? sdr_policy_parity(b->conn, b->plan.len, &g->code) : 0;
		s->npkts = g->code.par_pkts;
		g->parity = s;
		b->grp = NULL;
		return true;
	}
	if (m->coded) {
		g = sdr_group_tx_new(b, m);
		if (!g) {
			/* some of its own come back */
			b->conn->bulk->tx.parity_wait = b->conn->bulk->tx.ngroups > 0;
			return false;
		}
		s->grp = b->grp = g;
		g->data = s;
	}
	s->base = b->base + m->off;
	s->len = m->len;
	s->goal = s->npkts = sdr_shape_pkts(b->shape, m->len);
	return true;
}

/*
 * Where the data of a device are read: there, by the engine, if it reaches them and the CPU need
 * not (parity); or in memory of ours.  False: no room for that now.
 */
static bool seg_near(struct sdr_bulk_tx *b, const struct sdr_plan_msg *m, struct sdr_seg_tx *s)
{
	struct sdr_conn *c = b->conn;
	bool first = !b->opened;
	int ret = -EOPNOTSUPP;

	if (sdr_qp_far(s->shape->qp) && !c->rel->cfg.no_far && !m->coded && !b->staged) {
		ret = sdr_send_far(s->h, b->mem, s->base);
		if (ret && ret != -EAGAIN)
			sdr_stages_told(c->rel);
		b->staged = ret != 0;
	}
	if (ret && !sdr_stage_tx_open(&s->stage, c, b->mem, s->base, m->len))
		return false;
	if (ret)
		s->base = s->stage.near;
	c->st.hmem_direct += first && !ret;
	c->st.hmem_staged += first && ret;
	return true;
}

static uint32_t seg_pkts(const struct sdr_bulk_tx *b, const struct sdr_plan_msg *m)
{
	return m->parity ? b->grp->code.par_pkts : sdr_shape_pkts(b->shape, m->len);
}

struct sdr_seg_tx *sdr_seg_tx_open(struct sdr_conn *c, struct sdr_bulk_tx *b)
{
	uint32_t msn = b->msn + b->opened;
	struct sdr_start_wr wr = { 0 };
	struct sdr_plan_msg m;
	struct sdr_seg_tx *s;

	if (!sdr_seq_lt(msn, c->credit.msn_limit) || seg_index_room(c, msn))
		return NULL;
	sdr_plan_msg(&b->plan, b->opened, &m);
	s = seg_alloc(c->rel, seg_pkts(b, &m));
	if (!s)
		return NULL;
	s->msn = msn;
	if (!seg_fill(b, &m, s)) {
		sdr_seg_tx_drop(c->rel, s);
		return NULL;
	}
	s->bulk = b;
	s->shape = b->shape;
	for (uint32_t i = 0; i < SDR_PATHS_MAX; i++)
		s->rack_seq[i] = c->tx.seq;
	s->nchunks = (s->npkts + s->shape->chunk_pkts - 1) / s->shape->chunk_pkts;
	s->nruns = (s->npkts + s->shape->run_pkts - 1) / s->shape->run_pkts;
	wr.length = s->len;
	if (sdr_send_start_at(s->shape->qp, s->msn, &wr, &s->h) ||
	    (b->mem && !m.parity && !seg_near(b, &m, s))) {
		if (s->h)
			sdr_send_release(s->h);
		if (m.parity)
			b->grp = s->grp; /* tried again with the next round */
		if (s->grp)
			sdr_group_tx_drop(c, s->grp, s);
		if (m.coded)
			b->grp = NULL;
		sdr_seg_tx_drop(c->rel, s);
		return NULL;
	}
	if (b->rkeyed && m.parity)
		sdr_send_key_set(s->h, b->par_va + (m.seg - b->plan.first_coded) * b->plan.par_each,
				 b->par_rkey);
	else if (b->rkeyed)
		sdr_send_key_set(s->h, b->va + m.off, b->rkey);
	SDR_ASSERT(b->opened < b->plan.nmsgs && !*seg_index(c, s->msn));
	SDR_ASSERT(sdr_seg_tx_counts(s));
	b->opened++;
	*seg_index(c, s->msn) = s;
	sdr_list_add_tail(&s->link, &c->bulk->tx.segs);
	sdr_list_add_tail(&s->mine, &b->segs);
	if (b->opened == b->plan.nmsgs)
		sdr_list_del(&b->link);
	if (!s->goal) { /* no parity: what is known of the data may be all there is to know */
		sdr_seg_tx_sent(s);
		sdr_group_tx_touch(s);
	}
	return s;
}

bool sdr_seg_tx_end(struct sdr_seg_tx *s)
{
	struct sdr_bulk_tx *b = s->bulk;
	struct sdr_conn *c = b->conn;
	void (*done)(struct sdr_op * op) = b->done;
	struct sdr_op *op = b->op;
	struct sdr_group_tx *g = s->grp;
	uint32_t rtx, fec;

	if (g) {
		s = g->data;
		b->finished++;
		if (g->parity) {
			sdr_seg_tx_release(c, g->parity);
		} else { /* it is not needed any more: its number is passed over */
			b->grp = NULL;
			if (++b->opened == b->plan.nmsgs)
				sdr_list_del(&b->link);
		}
	}
	sdr_rel_steps(c->rel, 1 + s->nchunks / 64);
	rtx = sdr_bitmap_count(s->chunk_rtx, s->nchunks);
	fec = s->dec_chunks < s->nchunks ? s->dec_chunks : s->nchunks;
	rtx = rtx < s->nchunks - fec ? rtx : s->nchunks - fec;
	c->st.chunks_fec += fec;
	c->st.chunks_rtx += rtx;
	c->st.chunks_direct += s->nchunks - rtx - fec;
	sdr_seg_tx_release(c, s);
	if (++b->finished < b->plan.nmsgs)
		return false;
	SDR_ASSERT(b->opened == b->plan.nmsgs);
	sdr_bulk_tx_free(b);
	done(op);
	return true;
}
