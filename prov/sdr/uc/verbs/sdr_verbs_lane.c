/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A lane: receive completions of some queues, held until it is their turn, and made into events;
 * and the receives behind them.
 *
 * The device has placed a packet when its completion is here; what is left is to say whose it is.
 * It is reported when its immediate names a slot that is bound for the generation of the queue pair
 * it came through and the bytes fit; everything else is late.  Nothing is inferred from how many
 * completions there are: a late packet eats a receive and completes on some devices, and vanishes
 * on others.
 *
 * Threads.  The owner's lane is the owner's.  A worker's is used by whoever has its lock: the
 * worker, and the owner where it has to (sdr_verbs_crew.c).  Slots are bound and unbound by the
 * owner, and looked at under the lock: `bound` is set last, and after it was cleared the owner
 * takes the lock once.  A QP that breaks is only marked here (sdr_verbs_bad.c).
 *
 * Only queues of which something is expected are polled.  Receives are posted again in chains.  No
 * timers.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "base/sdr_assert.h"
#include "sdr_verbs_impl.h"

/* ---- queues ---------------------------------------------------------------------------------- */

int sdr_verbs_rq_open(struct sdr_verbs_rq *r, struct sdr_verbs_qp *q, struct sdr_verbs_lane *l,
		      uint32_t depth)
{
	struct sdr_verbs *v = q->v;
	int ret;

	r->q = q;
	r->lane = l;
	errno = 0;
	r->cq = v->ibv->create_cq(v->pd->ctx, (int)depth, v, l->worker ? l->worker->chan : v->chan,
				  0);
	if (r->cq)
		return 0;
	ret = -(errno ? errno : ENOMEM);
	sdr_verbs_why(v->pd, ret, "cannot make a completion queue", v->reason, sizeof(v->reason));
	return ret;
}

void sdr_verbs_rq_close(struct sdr_verbs_rq *r)
{
	if (r->cq)
		r->q->v->ibv->destroy_cq(r->cq);
	r->cq = NULL;
}

void sdr_verbs_rq_hot(struct sdr_verbs_rq *r, bool on)
{
	struct sdr_verbs_lane *l = r->lane;

	if (l->worker)
		l->worker->hot += on ? 1 : -1u;
	if (on) {
		/* A thread may be asleep on the descriptor already. */
		ibv_req_notify_cq(r->cq, 1);
		r->prev = NULL;
		r->next = l->hot;
		if (l->hot)
			l->hot->prev = r;
		l->hot = r;
		return;
	}
	if (r->prev)
		r->prev->next = r->next;
	else
		l->hot = r->next;
	if (r->next)
		r->next->prev = r->prev;
}

/* ---- receives -------------------------------------------------------------------------------- */

void sdr_verbs_lane_fill(struct sdr_verbs_tp *t)
{
	struct sdr_verbs_lane *l = t->rq->lane;
	uint32_t depth = l->v->rx_depth, n, i;
	struct ibv_recv_wr *bad;

	if (!t->rx_on) {
		t->rx_need = depth;
		t->rx_on = true;
	}
	while (t->rx_need && !atomic_load(&t->q->broke)) {
		n = t->rx_need < SDR_VERBS_BATCH ? t->rx_need : SDR_VERBS_BATCH;
		for (i = 0; i < n; i++) {
			l->rwr[i].wr_id = (uint64_t)(t - t->q->tp);
			l->rwr[i].next = i + 1 < n ? &l->rwr[i + 1] : NULL;
		}
		if (ibv_post_recv(t->qp, l->rwr, &bad)) {
			sdr_verbs_qp_broke(t->q, SDR_VERBS_BROKE_RECEIVES);
			return;
		}
		t->rx_need -= n;
	}
}

/* ---- completions ----------------------------------------------------------------------------- */

static void sdr_verbs_rq_take(struct sdr_verbs_lane *l, struct sdr_verbs_rq *r, uint64_t now)
{
	struct sdr_verbs_qp *q = r->q;
	struct sdr_verbs_tp *t;
	uint32_t i;
	int n;

	if (l->n == SDR_VERBS_STAGED || atomic_load(&q->broke))
		return;
	n = ibv_poll_cq(r->cq, (int)(SDR_VERBS_STAGED - l->n), l->wc + l->n);
	if (n < 0) {
		sdr_verbs_qp_broke(q, SDR_VERBS_BROKE_POLL);
		return;
	}
	if (!n)
		return;
	for (i = l->n; i < l->n + (uint32_t)n; i++) {
		SDR_ASSERT(l->wc[i].wr_id < q->ntp);
		t = &q->tp[l->wc[i].wr_id];
		l->tp[i] = t;
		if (++t->rx_need >= l->v->rx_depth / 8)
			sdr_verbs_lane_fill(t);
	}
	l->n += (uint32_t)n;
	l->flowed = now;
	if (!l->worker)
		l->sock |= !q->ctl;
}

/* The first shall be the last: no queue keeps the others from being read. */
static void sdr_verbs_lane_turn(struct sdr_verbs_lane *l)
{
	struct sdr_verbs_rq *r = l->hot, *last;

	if (!r || !r->next)
		return;
	for (last = r; last->next; last = last->next)
		;
	l->hot = r->next;
	l->hot->prev = NULL;
	last->next = r;
	r->prev = last;
	r->next = NULL;
}

void sdr_verbs_lane_take(struct sdr_verbs_lane *l, uint64_t now)
{
	struct sdr_verbs_rq *r;

	if (l->pos == l->n)
		l->n = l->pos = 0;
	for (r = l->hot; r && l->n < SDR_VERBS_STAGED; r = r->next)
		sdr_verbs_rq_take(l, r, now);
	if (l->n == SDR_VERBS_STAGED)
		sdr_verbs_lane_turn(l);
}

void sdr_verbs_lane_strike(struct sdr_verbs_lane *l, const struct sdr_verbs_qp *q, uint32_t slot)
{
	uint32_t i;

	for (i = l->pos; i < l->n; i++) {
		if (!l->tp[i] || l->tp[i]->q != q)
			continue;
		if (slot != SDR_VERBS_NONE) {
			if (l->wc[i].status != IBV_WC_SUCCESS ||
			    sdr_imm_id(&q->split, ntohl(l->wc[i].imm_data)) != slot)
				continue;
			l->st.pkts_late++;
		}
		l->tp[i] = NULL;
	}
}

enum sdr_verbs_made sdr_verbs_lane_next(struct sdr_verbs_lane *l, bool decided,
					struct sdr_uc_ev *ev)
{
	const struct ibv_wc *wc = &l->wc[l->pos];
	const struct sdr_verbs_tp *t = l->tp[l->pos];
	const struct sdr_verbs_slot *e;
	struct sdr_verbs_qp *q;
	uint32_t imm;
	uint64_t at;

	SDR_ASSERT(l->pos < l->n);
	if (!t)
		goto gone;
	q = t->q;
	if (wc->status != IBV_WC_SUCCESS) {
		sdr_verbs_qp_broke(q, SDR_VERBS_BROKE_STATUS + (int)wc->status);
		goto gone;
	}
	if (wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM)
		goto bad; /* a SEND: nothing of ours */
	imm = ntohl(wc->imm_data);
	at = (uint64_t)sdr_imm_off(&q->split, imm) * q->mtu;
	e = sdr_verbs_slot_find(q, sdr_imm_id(&q->split, imm));
	if (!e || !sdr_verbs_slot_bound(e) || e->gen != t->gen) {
		if (!decided)
			return SDR_VERBS_EARLY;
		l->st.pkts_late++;
		goto gone;
	}
	if (wc->byte_len > q->mtu || (wc->byte_len && (at > e->len || wc->byte_len > e->len - at)))
		goto bad;
	l->st.pkts_rx++;
	l->st.bytes_rx += wc->byte_len;
	*ev = (struct sdr_uc_ev){
		.kind = SDR_UC_EV_PLACED,
		.gen = t->gen,
		.channel = t->channel,
		.ecn = SDR_UC_NOT_ECT,
		.len = wc->byte_len,
		.p.cookie = q->cookie,
		.p.imm = imm,
	};
	l->pos++;
	return SDR_VERBS_MADE;
bad:
	l->st.pkts_bad++;
gone:
	l->pos++;
	return SDR_VERBS_GONE;
}
