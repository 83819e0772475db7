/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The verbs engine's poll: completions -> checks -> events, and the receives behind them.
 *
 * The device has placed a packet when its completion is here; what is left is to say whose it is.
 * It is reported when its immediate names a slot that is bound for the generation of the queue pair
 * it came through and the bytes fit; everything else is late.  Nothing is inferred from how many
 * completions there are: a late packet eats a receive and completes on some devices, and vanishes
 * on others.
 *
 * Order: control and data come through different queues, and a control datagram may bind the slot
 * of data behind it.  So completions are first taken off the data queues (held), then all control
 * datagrams that are there are reported, and only when that has been done are the held ones looked
 * at: whatever was sent before them has been seen by then.  Peers without a device talk through the
 * socket, which costs a system call: it is read when their data is held, and else every
 * SDR_VERBS_LOOK_NS, together with the device's events.
 *
 * A sleeper is woken by each control datagram, but by data only where the sender requests it (the
 * end of a batch), and looks again after SDR_VERBS_NAP_NS (SDR_VERBS_REST_NS when nothing flows)
 * while something is expected: the packet that requests it may be lost, and senders without a
 * device request for nothing.
 *
 * Only queue pairs of which something is expected are polled.  Receives are posted again in chains.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sdr_verbs_impl.h"

/* fillings of `held` that a poll goes through without finding an event */
#define SDR_VERBS_ROUNDS 8

/* ---- receives -------------------------------------------------------------------------------- */

void sdr_verbs_rx_fill(struct sdr_verbs_tp *t)
{
	struct sdr_verbs *v = t->q->v;
	struct ibv_recv_wr *bad;
	uint32_t n, i;

	if (!t->rx_on) {
		t->rx_need = v->rx_depth;
		t->rx_on = true;
	}
	while (t->rx_need && !t->q->failed_at) {
		n = t->rx_need < SDR_VERBS_BATCH ? t->rx_need : SDR_VERBS_BATCH;
		for (i = 0; i < n; i++)
			v->rwr[i].next = i + 1 < n ? &v->rwr[i + 1] : NULL;
		if (ibv_post_recv(t->qp, v->rwr, &bad)) {
			sdr_verbs_qp_break(t->q, "the device took no more receives");
			return;
		}
		t->rx_need -= n;
	}
}

void sdr_verbs_rx_forget(struct sdr_verbs_qp *q)
{
	struct sdr_verbs *v = q->v;
	uint32_t i;

	for (i = v->staged_pos; i < v->nstaged; i++)
		if (v->staged_tp[i] && v->staged_tp[i]->q == q)
			v->staged_tp[i] = NULL;
}

/* ---- data ------------------------------------------------------------------------------------ */

static void sdr_verbs_stage(struct sdr_verbs *v, struct sdr_verbs_tp *t)
{
	uint32_t room = SDR_VERBS_STAGED - v->nstaged, i;
	int n;

	if (!t->rx_on || !room || t->q->failed_at)
		return;
	n = ibv_poll_cq(t->rcq, (int)room, v->staged + v->nstaged);
	if (n < 0) {
		sdr_verbs_qp_break(t->q, "polling a receive completion queue failed");
		return;
	}
	if (!n)
		return;
	for (i = 0; i < (uint32_t)n; i++)
		v->staged_tp[v->nstaged + i] = t;
	v->nstaged += (uint32_t)n;
	v->flowed = v->polled;
	v->staged_sock |= !t->q->ctl;
	t->rx_need += (uint32_t)n;
	if (t->rx_need >= v->rx_depth / 8)
		sdr_verbs_rx_fill(t);
}

static void sdr_verbs_stage_all(struct sdr_verbs *v)
{
	struct sdr_verbs_qp *q;
	uint32_t i;

	v->nstaged = v->staged_pos = 0;
	v->staged_ready = v->staged_sock = false;
	for (q = v->hot; q && v->nstaged < SDR_VERBS_STAGED; q = q->hot_next)
		for (i = 0; i < q->ntp; i++)
			sdr_verbs_stage(v, &q->tp[i]);
	/* The first shall be the last: no queue pair keeps the others from being read. */
	if (v->nstaged == SDR_VERBS_STAGED && v->hot && v->hot->hot_next) {
		q = v->hot;
		v->hot = q->hot_next;
		v->hot->hot_prev = NULL;
		for (struct sdr_verbs_qp *l = v->hot;; l = l->hot_next) {
			if (l->hot_next)
				continue;
			l->hot_next = q;
			q->hot_prev = l;
			q->hot_next = NULL;
			break;
		}
	}
}

static bool sdr_verbs_event_make(struct sdr_verbs *v, const struct ibv_wc *wc,
				 const struct sdr_verbs_tp *t, struct sdr_uc_ev *ev)
{
	struct sdr_verbs_qp *q = t->q;
	const struct sdr_verbs_slot *e;
	uint32_t imm, id;
	uint64_t at;
	char words[96];

	if (wc->status != IBV_WC_SUCCESS) {
		snprintf(words, sizeof(words), "a receive ended with \"%s\"",
			 v->ibv->wc_status_str(wc->status));
		sdr_verbs_qp_break(q, words);
		return false;
	}
	if (wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM) {
		v->st.pkts_bad++; /* a SEND: nothing of ours */
		return false;
	}
	imm = ntohl(wc->imm_data);
	id = sdr_imm_id(&q->split, imm);
	at = (uint64_t)sdr_imm_off(&q->split, imm) * q->mtu;
	e = sdr_verbs_slot_find(q, id);
	if (!e || !e->bound || e->gen != t->gen) {
		v->st.pkts_late++;
		return false;
	}
	if (wc->byte_len > q->mtu ||
	    (wc->byte_len && (at > e->len || wc->byte_len > e->len - at))) {
		v->st.pkts_bad++;
		return false;
	}
	v->st.pkts_rx++;
	v->st.bytes_rx += wc->byte_len;
	ev->kind = SDR_UC_EV_PLACED;
	ev->gen = t->gen;
	ev->channel = t->channel;
	ev->ecn = SDR_UC_NOT_ECT;
	ev->len = wc->byte_len;
	ev->p.cookie = q->cookie;
	ev->p.imm = imm;
	return true;
}

static int sdr_verbs_staged_report(struct sdr_verbs *v, struct sdr_uc_ev *ev, int max)
{
	int n = 0;

	while (v->staged_pos < v->nstaged && n < max) {
		uint32_t i = v->staged_pos++;

		if (v->staged_tp[i] &&
		    sdr_verbs_event_make(v, &v->staged[i], v->staged_tp[i], &ev[n]))
			n++;
	}
	return n;
}

/* ---- poll ------------------------------------------------------------------------------------ */

/* Now and then: what the device says of itself. */
static void sdr_verbs_look(struct sdr_verbs *v, uint64_t now)
{
	sdr_verbs_pd_events(v->pd);
	if (atomic_load(&v->qp_event))
		sdr_verbs_qp_event(v);
	sdr_verbs_fail_check(v, now);
	if (atomic_load(&v->down) && now - v->down_since > SDR_VERBS_DOWN_NS)
		sdr_verbs_break(v, -ENETDOWN, SDR_VERBS_DOWN_WORDS);
}

int sdr_verbs_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);
	uint64_t now;
	int n = 0, round;
	bool sock;

	sdr_verbs_tx_reap(v);
	for (round = 0; round < SDR_VERBS_ROUNDS; round++) {
		if (v->staged_ready && v->staged_pos < v->nstaged) {
			n = sdr_verbs_staged_report(v, ev, max);
			if (n)
				return n;
		}
		if (v->staged_pos == v->nstaged)
			sdr_verbs_stage_all(v);
		now = v->polled = sdr_verbs_now(uc);
		sock = v->staged_sock || now - v->looked >= SDR_VERBS_LOOK_NS;
		if (now - v->looked >= SDR_VERBS_LOOK_NS) {
			v->looked = now;
			sdr_verbs_look(v, now);
		}
		if (atomic_load(&v->err)) {
			if (v->err_told)
				return 0;
			v->err_told = true;
			memset(ev, 0, sizeof(*ev));
			ev->kind = SDR_UC_EV_ERROR;
			ev->err = atomic_load(&v->err);
			return 1;
		}
		if (v->bad) {
			n = sdr_verbs_qp_report(v, now, ev, max);
			if (n || atomic_load(&v->err))
				return n;
		}
		n = sdr_verbs_ctl_poll(v, ev, max, sock);
		/*
		 * Every control datagram that came before the held data is in this answer, or it
		 * was full.
		 */
		v->staged_ready = n < max;
		if (n || v->staged_pos == v->nstaged)
			return n;
	}
	return 0; /* nothing but late packets for a while: others want to run too */
}

bool sdr_verbs_arm(struct sdr_uc *uc)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);
	struct sdr_verbs_qp *q;
	struct ibv_cq *cq;
	void *ctx;
	uint32_t i;

	while (!v->ibv->get_cq_event(v->chan, &cq, &ctx))
		v->ibv->ack_cq_events(cq, 1);
	/* Which queue it was matters little: all are armed again. */
	if (v->ud.qp)
		ibv_req_notify_cq(v->ud.rcq, 0);
	for (q = v->hot; q; q = q->hot_next)
		for (i = 0; i < q->ntp; i++)
			ibv_req_notify_cq(q->tp[i].rcq, 1);
	v->looked = 0; /* the socket and the device may be what wakes us */
	if (v->staged_pos == v->nstaged)
		sdr_verbs_stage_all(v);
	return v->staged_pos < v->nstaged || sdr_verbs_ud_fetch(v) || v->soft->ops->arm(v->soft);
}
