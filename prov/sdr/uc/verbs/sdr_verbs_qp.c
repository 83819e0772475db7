/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * QPs of the verbs engine: channels * generations UC queue pairs a peer, each with its own receive
 * completion queue, or those of a worker's channels with one (as long as their receives, since one
 * that overflows kills its queue pairs), all with the engine's send completion queue.
 *
 * Queue pairs are made when the connection begins (their numbers are part of the info) and
 * connected when the peer's info is here.  Receives are posted when the first message of a
 * generation is expected, so that a connection that carries no bulk costs queue pairs and little
 * memory (sdr_verbs_slot.c).
 *
 * A peer that moves: the queue pairs go back to RESET and are connected anew; what was under way is
 * lost.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "uc/sdr_uc_qp.h"
#include "sdr_verbs_impl.h"

static const uint32_t sdr_verbs_access = IBV_ACCESS_REMOTE_WRITE;

static enum ibv_mtu sdr_verbs_path_mtu(uint32_t bytes)
{
	if (bytes <= 256)
		return IBV_MTU_256;
	if (bytes <= 512)
		return IBV_MTU_512;
	if (bytes <= 1024)
		return IBV_MTU_1024;
	return bytes <= 2048 ? IBV_MTU_2048 : IBV_MTU_4096;
}

/* ---- transport QPs --------------------------------------------------------------------------- */

static int sdr_verbs_tp_to_init(struct sdr_verbs_tp *t)
{
	struct sdr_verbs *v = t->q->v;
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT,
		.port_num = v->port,
		.qp_access_flags = sdr_verbs_access,
	};

	return -v->ibv->modify_qp(
		t->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int sdr_verbs_tp_to_rts(struct sdr_verbs_tp *t, const struct ibv_ah_attr *ah)
{
	const struct sdr_verbs_qp *q = t->q;
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = sdr_verbs_path_mtu(q->mtu),
		.dest_qp_num = sdr_wire_tpn(&q->peer, t->gen, t->channel),
		.rq_psn = q->peer.psn & SDR_PSN_MASK,
		.ah_attr = *ah,
	};
	int ret = q->v->ibv->modify_qp(t->qp, &a,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN);

	if (ret)
		return -ret;
	memset(&a, 0, sizeof(a));
	a.qp_state = IBV_QPS_RTS;
	a.sq_psn = q->psn;
	return -q->v->ibv->modify_qp(t->qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static int sdr_verbs_tp_open(struct sdr_verbs_tp *t)
{
	struct sdr_verbs *v = t->q->v;
	struct ibv_qp_init_attr a = {
		.qp_context = &v->qp_event, /* not v: its end is not the engine's */
		.send_cq = v->scq,
		.qp_type = IBV_QPT_UC,
		.cap = {
			.max_send_wr = v->tx_depth,
			.max_recv_wr = v->rx_depth,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = v->inl,
		},
	};
	int ret;

	t->batch = calloc(v->tx_depth, sizeof(*t->batch));
	if (!t->batch)
		return -ENOMEM;
	t->tx_free = v->tx_depth;
	ret = sdr_verbs_tp_add(v, t);
	if (ret)
		return ret;
	errno = 0;
	a.recv_cq = t->rq->cq;
	t->qp = v->ibv->create_qp(v->pd->pd, &a);
	if (!t->qp) {
		ret = -(errno ? errno : ENOMEM);
		sdr_verbs_why(v->pd, ret, "cannot make a UC queue pair", v->reason,
			      sizeof(v->reason));
		return ret;
	}
	ret = sdr_verbs_tp_to_init(t);
	if (ret)
		sdr_verbs_why(v->pd, ret, "cannot initialise a UC queue pair", v->reason,
			      sizeof(v->reason));
	return ret;
}

static void sdr_verbs_tp_close(struct sdr_verbs_tp *t)
{
	const struct sdr_ibv *ibv = t->q->v->ibv;

	if (t->qp) {
		ibv->destroy_qp(t->qp);
		sdr_verbs_tp_forget(t);
	}
	sdr_verbs_tp_del(t->q->v, t);
	free(t->batch);
}

void sdr_verbs_tp_ready(struct sdr_verbs_tp *t)
{
	struct sdr_verbs_lane *l = t->rq->lane;

	/* A worker posts again by itself. */
	if (l->worker && t->rx_on)
		return;
	sdr_verbs_lane_lock(l);
	sdr_verbs_lane_fill(t);
	sdr_verbs_lane_unlock(l);
}

/* ---- receive queues -------------------------------------------------------------------------- */

/* How many of so many transport QPs each: one a worker, or more where a device's are too short. */
static uint32_t sdr_verbs_rqs_of_workers(const struct sdr_verbs_qp *q, uint32_t workers)
{
	const struct sdr_verbs *v = q->v;
	uint32_t most = v->pd->attr.max_cqe > 0 ? (uint32_t)v->pd->attr.max_cqe : UINT32_MAX;
	uint32_t n = workers;

	SDR_ASSERT(n > 0 && q->channels > 0);
	while (n < q->channels && ((q->channels - 1) / n + 1) * q->generations * v->rx_depth > most)
		n += workers;
	return n < q->channels ? n : q->channels;
}

/* One a transport QP; with workers those of a channel share one. */
static int sdr_verbs_rqs_open(struct sdr_verbs_qp *q)
{
	struct sdr_verbs *v = q->v;
	struct sdr_verbs_crew *c = sdr_verbs_crew_start(v) ? v->crew : NULL;
	uint32_t n = c ? sdr_verbs_rqs_of_workers(q, c->n) : q->ntp, i, share;
	struct sdr_verbs_lane *l = &v->lane;
	int ret = 0;

	SDR_ASSERT(n > 0);
	q->rq = calloc(n, sizeof(*q->rq));
	if (!q->rq)
		return -ENOMEM;
	for (i = 0; i < q->ntp; i++)
		q->tp[i].rq = &q->rq[c ? q->tp[i].channel % n : i];
	for (i = 0; i < n && !ret; i++) {
		share = c ? ((q->channels - i - 1) / n + 1) * q->generations : 1;
		if (c)
			l = &c->worker[(c->first + i) % c->n]->lane;
		ret = sdr_verbs_rq_open(&q->rq[i], q, l, share * v->rx_depth);
		q->nrq += !ret;
	}
	if (c)
		c->first = (c->first + n) % c->n;
	return ret;
}

/* What its lanes hold of it means nothing any more. */
static void sdr_verbs_qp_strike(struct sdr_verbs_qp *q)
{
	uint32_t i;

	for (i = 0; i < q->nrq; i++) {
		sdr_verbs_lane_lock(q->rq[i].lane);
		sdr_verbs_lane_strike(q->rq[i].lane, q, SDR_VERBS_NONE);
		sdr_verbs_lane_unlock(q->rq[i].lane);
	}
}

/* ---- QPs ------------------------------------------------------------------------------------- */

int sdr_verbs_qp_create(struct sdr_uc *uc, const struct sdr_uc_qp_attr *a, struct sdr_uc_qp **qp)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);
	uint32_t ntp = (uint32_t)a->channels * a->generations, i;
	struct sdr_verbs_qp *q;
	int ret;

	ret = sdr_uc_qp_attr_check(a, v->mtu);
	if (ret)
		return ret;
	if (ntp > SDR_QP_INFO_TPS_MAX) {
		snprintf(
			v->reason, sizeof(v->reason),
			"%s: %u channels of %u generations are %u queue pairs a peer, and a device takes %u at "
			"the most: lower FI_SDR_CHANNELS or FI_SDR_GENERATIONS",
			v->device, a->channels, a->generations, ntp, SDR_QP_INFO_TPS_MAX);
		return -EINVAL;
	}
	ret = -ENOMEM;
	q = calloc(1, sizeof(*q) + ntp * sizeof(q->tp[0]));
	if (!q)
		return ret;
	q->qp.uc = uc;
	q->v = v;
	q->cookie = a->cookie;
	q->channels = a->channels;
	q->generations = a->generations;
	q->split = a->split;
	q->mtu = a->mtu;
	q->max_msg = a->max_msg;
	q->nslots = 1u << a->split.id_bits;
	q->rkey = (uint32_t)a->rand[1];
	q->psn = (uint32_t)(a->rand[0] >> 32) & SDR_PSN_MASK;
	q->pages = calloc((q->nslots + SDR_VERBS_SLOT_PAGE - 1) / SDR_VERBS_SLOT_PAGE,
			  sizeof(q->pages[0]));
	if (!q->pages)
		goto err;
	q->ntp = ntp;
	for (i = 0; i < ntp; i++) {
		q->tp[i].q = q;
		q->tp[i].gen = (uint8_t)(i / q->channels);
		q->tp[i].channel = (uint8_t)(i % q->channels);
	}
	ret = sdr_verbs_rqs_open(q);
	for (i = 0; i < ntp && !ret; i++)
		ret = sdr_verbs_tp_open(&q->tp[i]);
	if (ret)
		goto err;
	*qp = &q->qp;
	return 0;
err:
	sdr_verbs_qp_destroy(&q->qp);
	return ret; /* NOLINT(clang-analyzer-unix.Malloc): only a forked child does not free it */
}

void sdr_verbs_qp_destroy(struct sdr_uc_qp *qp)
{
	struct sdr_verbs_qp *q = sdr_verbs_qp_of(qp), **bad;
	uint32_t i;

	if (sdr_verbs_pd_foreign(q->v->pd))
		return;
	if (q->expected)
		sdr_verbs_qp_expect(q, -(int)q->expected);
	sdr_verbs_tx_reap(q->v);
	sdr_verbs_qp_strike(q);
	for (i = 0; i < q->ntp; i++)
		sdr_verbs_tp_close(&q->tp[i]);
	for (i = 0; i < q->nrq; i++)
		sdr_verbs_rq_close(&q->rq[i]);
	free(q->rq);
	for (bad = &q->v->bad; *bad; bad = &(*bad)->bad_next) {
		if (*bad == q) {
			*bad = q->bad_next;
			break;
		}
	}
	if (q->ctl)
		sdr_verbs_peer_put(q->v, q->ctl);
	for (i = 0; q->pages && i < q->nslots; i += SDR_VERBS_SLOT_PAGE)
		free(q->pages[i / SDR_VERBS_SLOT_PAGE]);
	free(q->pages);
	free(q);
}

void sdr_verbs_qp_info(struct sdr_uc_qp *qp, struct sdr_wire_qp_info *out)
{
	struct sdr_verbs_qp *q = sdr_verbs_qp_of(qp);
	struct sdr_verbs *v = q->v;
	uint32_t i;

	memset(out, 0, sizeof(*out));
	out->flags = SDR_QP_F_NIC | SDR_QP_F_RKEYED;
	out->qpn = q->tp[0].qp->qp_num;
	out->ntps = (uint8_t)q->ntp;
	for (i = 0; i < q->ntp; i++)
		out->tpn[i] = q->tp[i].qp->qp_num;
	out->ctl_qpn = v->ud.qp ? v->ud.qp->qp_num : 0;
	out->rkey = q->rkey;
	out->psn = q->psn;
	out->channels = q->channels;
	out->generations = q->generations;
	out->split = q->split;
	out->mtu = q->mtu;
	out->max_msg = q->max_msg;
	out->rx_window = v->rx_depth * q->mtu;
	/* The scope id means nothing to others. */
	out->addr_len = v->addr.len < sizeof(out->addr) ? v->addr.len : sizeof(out->addr);
	memcpy(out->addr, v->addr.b, out->addr_len);
}

/*
 * Back to where a queue pair can be connected to another peer; its number, and what is bound, stay.
 */
static int sdr_verbs_qp_rewind(struct sdr_verbs_qp *q)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_RESET };
	uint32_t i;
	int ret = 0;

	sdr_verbs_tx_reap(q->v);
	sdr_verbs_qp_strike(q);
	for (i = 0; i < q->ntp && !ret; i++) {
		struct sdr_verbs_tp *t = &q->tp[i];

		sdr_verbs_lane_lock(t->rq->lane);
		ret = -q->v->ibv->modify_qp(t->qp, &a, IBV_QP_STATE);
		if (!ret) {
			sdr_verbs_tp_forget(t);
			ret = sdr_verbs_tp_to_init(t);
			t->rx_need = 0;
		}
		if (!ret && t->rx_on) {
			t->rx_on = false;
			sdr_verbs_lane_fill(t);
		}
		sdr_verbs_lane_unlock(t->rq->lane);
	}
	return ret;
}

static int sdr_verbs_qp_path(struct sdr_verbs_qp *q, const struct sdr_uc_addr *addr)
{
	struct sdr_verbs *v = q->v;
	struct ibv_ah_attr ah;
	uint32_t i;
	int ret = sdr_verbs_path(v, addr, &ah);

	if (!ret && q->on_way)
		ret = sdr_verbs_qp_rewind(q);
	for (i = 0; i < q->ntp && !ret; i++) {
		q->on_way = true;
		ret = sdr_verbs_tp_to_rts(&q->tp[i], &ah);
	}
	if (ret)
		sdr_verbs_why(v->pd, ret,
			      "cannot connect a UC queue pair (is the peer's address reachable?)",
			      v->reason, sizeof(v->reason));
	return ret;
}

static void sdr_verbs_qp_ctl(struct sdr_verbs_qp *q)
{
	if (q->ctl)
		sdr_verbs_peer_put(q->v, q->ctl);
	q->ctl = NULL;
	if (q->peer.ctl_qpn && q->v->ud.qp)
		q->ctl = sdr_verbs_peer_get(q->v, &q->addr, q->peer.ctl_qpn);
}

int sdr_verbs_qp_connect(struct sdr_uc_qp *qp, const struct sdr_wire_qp_info *p,
			 const struct sdr_uc_addr *addr)
{
	struct sdr_verbs_qp *q = sdr_verbs_qp_of(qp);
	struct sdr_uc_addr to;
	int ret;

	ret = sdr_uc_qp_meet(qp, p, addr, &to);
	if (ret)
		return ret;
	q->peer = *p;
	q->addr = to;
	q->peer_rkey = p->rkey;
	q->peer_nic = p->flags & SDR_QP_F_NIC;
	ret = sdr_verbs_qp_path(q, &to);
	if (ret)
		return ret;
	sdr_verbs_qp_ctl(q);
	q->connected = true;
	return 0;
}

void sdr_verbs_qp_readdress(struct sdr_uc_qp *qp, const struct sdr_uc_addr *addr)
{
	struct sdr_verbs_qp *q = sdr_verbs_qp_of(qp);
	bool moved =
		addr->len != q->addr.len || memcmp(addr->b + 3, q->addr.b + 3, sizeof(addr->b) - 3);
	struct ibv_ah_attr ah;
	int ret;

	if (!q->connected || q->failed_at || sdr_verbs_path(q->v, addr, &ah))
		return; /* another family cannot have come from this engine */
	q->addr = *addr;
	sdr_verbs_qp_ctl(q);
	if (!moved)
		return;
	ret = sdr_verbs_qp_path(q, addr);
	if (ret)
		sdr_verbs_qp_break(q, "a peer has moved and its queue pairs cannot follow");
}
