/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The device of sdr_explore_lanes, its control datagrams, and the layer above: as little of each as
 * the code asks for.  A queue asks its worker's channel once for each request, as a device does for
 * packets whose sender wants it.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lanes_world.h"

#define HERE (1000000u + __LINE__)

static const struct sdr_imm_split split = { 6, 22, 4 };
static uint8_t grh[SDR_VERBS_GRH] = { [20] = 0x45 };

/* ---- the device ------------------------------------------------------------------------------ */

static struct lanes_queue *queue_of(struct ibv_cq *cq)
{
	struct lanes_queue *q = (struct lanes_queue *)cq;

	if (q->gone)
		turns_fail("a queue that is gone is looked at");
	if (turns_running() >= 0 && lanes.holder[q - lanes.queue] != turns_running())
		turns_fail("a queue is used by who has not its lane's lock");
	return q;
}

/* Control datagrams of the device. */
static int dev_poll_ud(int max, struct ibv_wc *wc)
{
	int n = 0;

	if (lanes.talks[0])
		turns_point(HERE);
	for (; n < max && lanes.ctl_read[0] != lanes.ctl[0]; n++) {
		lanes.ctl_read[0]++;
		wc[n] = (struct ibv_wc){
			.opcode = IBV_WC_RECV,
			.byte_len = SDR_VERBS_GRH,
			.wc_flags = IBV_WC_GRH | IBV_WC_WITH_IMM,
		};
	}
	return n;
}

static int dev_poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	struct lanes_queue *q = cq == &lanes.ud_cq ? NULL : queue_of(cq);
	int n = 0;

	if (!q)
		return dev_poll_ud(max, wc);
	turns_point(HERE);
	for (; n < max && q->head != q->tail; n++)
		wc[n] = q->wc[q->head++];
	lanes.had[q - lanes.queue] |= n > 0;
	if (n)
		turns_wrote();
	return n;
}

static int dev_notify(struct ibv_cq *cq, int solicited)
{
	struct lanes_queue *q = cq == &lanes.ud_cq ? NULL : queue_of(cq);

	(void)solicited;
	if (!q)
		return 0; /* for them the owner wakes in any case */
	if (lanes.wrong == LANES_LATE_NOTIFY && turns_running() < LANES_OWNER) {
		lanes.pending[turns_running()] = true;
		return 0;
	}
	turns_point(HERE);
	q->armed = true;
	return 0;
}

static int dev_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	if (qp != &lanes.ud_qp)
		(void)queue_of(qp->recv_cq);
	*bad = wr;
	return 0;
}

static struct ibv_comp_channel *dev_chan_new(struct ibv_context *ctx)
{
	struct ibv_comp_channel *c = &lanes.chan[lanes.chans++];

	(void)ctx;
	c->fd = lanes_fd_new();
	return c;
}

static int dev_chan_free(struct ibv_comp_channel *c)
{
	(void)c;
	return 0;
}

/* Events of before are of no interest: that they go is no step of its own. */
static int dev_get_cq_event(struct ibv_comp_channel *c, struct ibv_cq **cq, void **ctx)
{
	*cq = NULL;
	*ctx = NULL;
	if (!c || !lanes.count[c->fd])
		return -1;
	lanes.count[c->fd]--;
	return 0;
}

static void dev_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	(void)cq;
	(void)n;
}

static struct ibv_cq *dev_create_cq(struct ibv_context *ctx, int cqe, void *user,
				    struct ibv_comp_channel *chan, int vector)
{
	struct lanes_queue *q = &lanes.queue[lanes.queues++];

	(void)cqe;
	(void)vector;
	q->cq.context = ctx;
	q->cq.cq_context = user;
	q->cq.channel = chan;
	return &q->cq;
}

static int dev_destroy_cq(struct ibv_cq *cq)
{
	((struct lanes_queue *)cq)->gone = true;
	return 0;
}

static struct ibv_qp *dev_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct ibv_qp *qp = &lanes.qp[lanes.qps++];

	(void)pd;
	qp->context = &lanes.ctx;
	qp->recv_cq = a->recv_cq;
	qp->qp_num = lanes.qps;
	return qp;
}

static int dev_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	(void)qp;
	(void)a;
	(void)mask;
	return 0;
}

static const char *dev_status(enum ibv_wc_status status)
{
	(void)status;
	return "it failed";
}

static int dev_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return 0;
}

/* ---- control datagrams ----------------------------------------------------------------------- */

static int soft_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max)
{
	int n = 0;

	(void)uc;
	if (lanes.talks[1])
		turns_point(HERE);
	for (; n < max && lanes.ctl_read[1] != lanes.ctl[1]; n++) {
		memset(&ev[n], 0, sizeof(ev[n]));
		ev[n].kind = SDR_UC_EV_CTL;
		ev[n].c.qpn = SDR_QPN_CTL;
		lanes.ctl_read[1]++;
	}
	turns_read(5, (uint64_t)n);
	return n;
}

static bool soft_arm(struct sdr_uc *uc)
{
	(void)uc;
	if (lanes.talks[1])
		turns_point(HERE);
	return lanes.ctl_read[1] != lanes.ctl[1];
}

void lanes_pd_events(struct sdr_verbs_pd *pd)
{
	(void)pd;
}

void lanes_control(bool socket)
{
	lanes.ctl[socket]++;
	turns_wake(LANES_OWNER);
	turns_wrote();
}

bool lanes_ctl_there(void)
{
	return lanes.ctl[0] != lanes.ctl_read[0] || lanes.ctl[1] != lanes.ctl_read[1];
}

void lanes_arrives(uint32_t channel, uint32_t slot, uint32_t use, uint32_t pkt,
		   enum ibv_wc_status status)
{
	struct sdr_verbs_qp *qp = lanes.q;
	uint32_t tp = use % LANES_GENS * qp->channels + channel;
	struct lanes_queue *q = (struct lanes_queue *)qp->tp[tp].rq->cq;

	q->wc[q->tail++] = (struct ibv_wc){
		.status = status,
		.opcode = status ? 0 : IBV_WC_RECV_RDMA_WITH_IMM,
		.wr_id = tp,
		.byte_len = LANES_MTU,
		.imm_data = htonl(sdr_imm_pack(&split, slot, use * LANES_PKTS + pkt, 0)),
	};
	if (q->armed) {
		q->armed = false;
		lanes.count[q->cq.channel->fd]++;
		turns_wake((int)(q - lanes.queue));
	}
	turns_wrote();
}

/* ---- the layer above ------------------------------------------------------------------------- */

static bool up_room(void *user, uint32_t worker)
{
	(void)user;
	if (lanes.room == LANES_ROOMY)
		return true;
	turns_point(HERE);
	return turns_read(6, lanes.notes[worker] < lanes.room);
}

static void up_placed(void *user, uint32_t worker, const struct sdr_uc_ev *ev, int n)
{
	uint32_t id = sdr_imm_id(&split, ev->p.imm), at;
	int i;

	(void)user;
	if (!lanes.q)
		turns_fail("a packet is reported of a queue pair that is gone");
	for (i = 0; i < n; i++) {
		at = sdr_imm_off(&split, ev[i].p.imm);
		if (ev[i].kind != SDR_UC_EV_PLACED || sdr_imm_id(&split, ev[i].p.imm) != id)
			turns_fail("a report of several messages");
		if (ev[i].channel != worker)
			turns_fail("a packet is reported by another worker than its channel's");
		if (!lanes.bound[id][at / LANES_PKTS])
			turns_fail("a packet is reported of a message that is not there");
		if (lanes.seen[id][at / LANES_PKTS][at % LANES_PKTS]++)
			turns_fail("a packet is reported twice");
	}
	lanes.placed += (uint32_t)n;
	lanes.notes[worker]++;
	turns_wrote();
}

void lanes_collect(void)
{
	if (lanes.room < LANES_ROOMY || lanes.notes[0] || lanes.notes[1])
		turns_point(HERE);
	memset(lanes.notes, 0, sizeof(lanes.notes));
	turns_wrote();
}

/* ---- the world ------------------------------------------------------------------------------- */

void lanes_reset(uint32_t workers)
{
	struct sdr_uc_qp_attr a = {
		.channels = (uint8_t)workers,
		.generations = LANES_GENS,
		.split = split,
		.mtu = LANES_MTU,
		.max_msg = (uint64_t)LANES_MTU * LANES_USES * LANES_PKTS,
	};
	enum lanes_wrong wrong = lanes.wrong;
	struct sdr_uc_qp *q;

	memset(&lanes, 0, sizeof(lanes));
	lanes_mem_reset();
	lanes.wrong = wrong;
	lanes.room = LANES_ROOMY;
	lanes.holder[0] = lanes.holder[1] = -1;
	lanes.ctx.ops.poll_cq = dev_poll_cq;
	lanes.ctx.ops.post_recv = dev_post_recv;
	lanes.ctx.ops.req_notify_cq = dev_notify;
	lanes.ibv.create_comp_channel = dev_chan_new;
	lanes.ibv.destroy_comp_channel = dev_chan_free;
	lanes.ibv.get_cq_event = dev_get_cq_event;
	lanes.ibv.ack_cq_events = dev_ack_cq_events;
	lanes.ibv.create_cq = dev_create_cq;
	lanes.ibv.destroy_cq = dev_destroy_cq;
	lanes.ibv.create_qp = dev_create_qp;
	lanes.ibv.modify_qp = dev_modify_qp;
	lanes.ibv.destroy_qp = dev_destroy_qp;
	lanes.ibv.wc_status_str = dev_status;
	lanes.soft_ops.poll = soft_poll;
	lanes.soft_ops.arm = soft_arm;
	lanes.ud_cq.context = &lanes.ctx;
	lanes.ud_qp.context = &lanes.ctx;
	lanes.ud_mr.mr = &lanes.ud_ibv_mr;
	lanes.v.ud.qp = &lanes.ud_qp;
	lanes.v.ud.rcq = &lanes.ud_cq;
	lanes.v.ud.buf = grh;
	lanes.v.ud.mr = &lanes.ud_mr;
	lanes.v.addr.len = 7;
	lanes.v.addr.b[0] = 4;
	lanes.soft.ops = &lanes.soft_ops;
	lanes.pd.pid = getpid();
	lanes.pd.ibv = lanes.v.ibv = &lanes.ibv;
	lanes.pd.ctx = &lanes.ctx;
	lanes.v.pd = &lanes.pd;
	lanes.v.lane.v = &lanes.v;
	lanes.v.soft = &lanes.soft;
	lanes.v.mtu = LANES_MTU;
	lanes.v.rx_depth = lanes.v.tx_depth = 8;
	lanes.v.port = 1;
	lanes.v.copy_free = SDR_VERBS_NONE;
	lanes.v.tps = lanes.tps;
	lanes.v.tps_cap = LANES_WORKERS * LANES_GENS;
	if (sdr_verbs_crew_open(&lanes.v, workers))
		abort();
	lanes.v.crew->to = (struct sdr_uc_crew){ up_room, up_placed, NULL };
	if (sdr_verbs_qp_create(&lanes.v.uc, &a, &q) || !lanes.v.crew->on)
		abort();
	lanes.q = sdr_verbs_qp_of(q);
}
