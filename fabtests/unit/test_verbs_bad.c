/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the verbs engine makes of a device that disables queue pairs; and how long it says that
 * memory is being read. The device is a table of functions here: queues of completions that a test
 * fills, states that it sets.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "uc/verbs/sdr_verbs_impl.h"

#define NQP   3u
#define MTU   1024u
#define DEPTH 64u

struct queue {
	struct ibv_cq cq;
	struct ibv_wc wc[16];
	int n;
};

struct dev {
	struct sdr_verbs v;
	struct sdr_verbs_pd pd;
	struct ibv_context ctx;
	struct sdr_ibv ibv;
	struct sdr_uc_ops soft_ops;
	struct sdr_uc soft;
	struct queue rq[NQP], sq;
	struct ibv_qp qp[NQP];
	enum ibv_qp_state state[NQP];
	struct sdr_verbs_qp *q[NQP];
	uint8_t buf[NQP][MTU];
	enum ibv_port_state port;
	struct ibv_async_event event;
	bool has_event, refuse;
	uint32_t posted;
	int deregs;
};

static struct dev *dev;

static int dev_poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	struct queue *q = (struct queue *)cq;
	int n = q->n < max ? q->n : max;

	memcpy(wc, q->wc, (size_t)n * sizeof(*wc));
	memmove(q->wc, q->wc + n, (size_t)(q->n - n) * sizeof(*wc));
	q->n -= n;
	return n;
}

static int dev_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp;
	*bad = wr;
	return dev->refuse ? EINVAL : 0;
}

static int dev_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp;
	*bad = wr;
	dev->posted += !dev->refuse;
	return dev->refuse ? EINVAL : 0;
}

static int dev_notify(struct ibv_cq *cq, int solicited)
{
	(void)cq;
	(void)solicited;
	return 0;
}

static int dev_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *a)
{
	(void)ctx;
	(void)port;
	a->state = dev->port;
	return 0;
}

static int dev_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask,
			struct ibv_qp_init_attr *init)
{
	(void)mask;
	(void)init;
	a->qp_state = dev->state[qp - dev->qp];
	return 0;
}

static int dev_get_event(struct ibv_context *ctx, struct ibv_async_event *e)
{
	(void)ctx;
	if (!dev->has_event)
		return -1;
	dev->has_event = false;
	*e = dev->event;
	return 0;
}

static void dev_ack_event(struct ibv_async_event *e)
{
	(void)e;
}

static const char *dev_status(enum ibv_wc_status s)
{
	return s == IBV_WC_LOC_LEN_ERR ? "local length error" : "flushed";
}

static const char *dev_type(enum ibv_event_type t)
{
	(void)t;
	return "an event";
}

static int dev_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return 0;
}

static int dev_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	return 0;
}

static int dev_dereg(struct ibv_mr *mr)
{
	(void)mr;
	dev->deregs++;
	return 0;
}

static int soft_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max)
{
	(void)uc;
	(void)ev;
	(void)max;
	return 0;
}

/* NQP peers with a queue pair each, slot 0 of each bound. */
static void dev_open(void)
{
	struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;

	dev = calloc(1, sizeof(*dev));
	assert_non_null(dev);
	dev->ctx.ops.poll_cq = dev_poll_cq;
	dev->ctx.ops.post_recv = dev_post_recv;
	dev->ctx.ops.post_send = dev_post_send;
	dev->ctx.ops.req_notify_cq = dev_notify;
	dev->ibv.query_port = dev_query_port;
	dev->ibv.query_qp = dev_query_qp;
	dev->ibv.get_async_event = dev_get_event;
	dev->ibv.ack_async_event = dev_ack_event;
	dev->ibv.wc_status_str = dev_status;
	dev->ibv.event_type_str = dev_type;
	dev->ibv.destroy_qp = dev_destroy_qp;
	dev->ibv.destroy_cq = dev_destroy_cq;
	dev->ibv.dereg_mr = dev_dereg;
	dev->port = IBV_PORT_ACTIVE;
	dev->soft_ops.poll = soft_poll;
	dev->soft.ops = &dev->soft_ops;
	dev->pd.pid = getpid();
	dev->pd.ibv = dev->v.ibv = &dev->ibv;
	dev->pd.ctx = &dev->ctx;
	dev->pd.engines = &dev->v;
	pthread_mutex_init(&dev->pd.lock, NULL);
	dev->v.pd = &dev->pd;
	dev->v.soft = &dev->soft;
	dev->v.lane.v = &dev->v;
	dev->v.mtu = MTU;
	dev->v.inl = 128;
	dev->v.rx_depth = dev->v.tx_depth = DEPTH;
	dev->v.port = 1;
	dev->v.copy_free = SDR_VERBS_NONE;
	dev->sq.cq.context = &dev->ctx;
	dev->v.scq = &dev->sq.cq;
	strcpy(dev->v.device, "fake0");
	for (uint32_t i = 0; i < NQP; i++) {
		struct sdr_verbs_qp *q = calloc(1, sizeof(*q) + sizeof(q->tp[0]));

		assert_non_null(q);
		dev->q[i] = q;
		q->qp.uc = &dev->v.uc;
		q->v = &dev->v;
		q->cookie = &dev->q[i];
		q->channels = q->generations = 1;
		q->split = split;
		q->mtu = MTU;
		q->max_msg = MTU;
		q->nslots = 1u << split.id_bits;
		q->pages = calloc(q->nslots / SDR_VERBS_SLOT_PAGE, sizeof(q->pages[0]));
		q->ntp = 1;
		q->connected = true;
		q->tp[0].q = q;
		q->tp[0].qp = &dev->qp[i];
		q->rq = calloc(1, sizeof(*q->rq));
		assert_non_null(q->rq);
		q->nrq = 1;
		*q->rq = (struct sdr_verbs_rq){ q, &dev->rq[i].cq, &dev->v.lane, NULL, NULL };
		q->tp[0].rq = q->rq;
		q->tp[0].tx_free = DEPTH;
		q->tp[0].batch = calloc(DEPTH, sizeof(*q->tp[0].batch));
		assert_true(q->pages && q->tp[0].batch);
		dev->qp[i].context = dev->rq[i].cq.context = &dev->ctx;
		dev->qp[i].qp_context = &dev->v.qp_event;
		dev->state[i] = IBV_QPS_RTS;
		assert_int_equal(sdr_verbs_tp_add(&dev->v, &q->tp[0]), 0);
		assert_int_equal(sdr_verbs_slot_bind(&q->qp, 0, 0, dev->buf[i], MTU, NULL), 0);
	}
}

static void dev_close(void)
{
	for (uint32_t i = 0; i < NQP; i++)
		if (dev->q[i])
			sdr_verbs_qp_destroy(&dev->q[i]->qp);
	assert_null(dev->v.bad);
	free(dev->v.tps);
	free(dev->pd.mr);
	pthread_mutex_destroy(&dev->pd.lock);
	free(dev);
}

static void receive(uint32_t i, enum ibv_wc_status status)
{
	struct queue *q = &dev->rq[i];

	q->wc[q->n++] = (struct ibv_wc){
		.status = status,
		.opcode = status ? 0 : IBV_WC_RECV_RDMA_WITH_IMM,
		.byte_len = MTU,
		.imm_data = htonl(0),
	};
}

/* All events of one kind until nothing comes; *cookie the last one's. */
static int events(uint8_t kind, void **cookie)
{
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	int n, i, sum = 0, idle = 0;

	while (idle < 3) {
		n = sdr_verbs_poll(&dev->v.uc, ev, SDR_UC_POLL_MIN);
		idle = n ? 0 : idle + 1;
		for (i = 0; i < n; i++) {
			assert_int_equal(ev[i].kind, kind);
			sum++;
			*cookie = kind == SDR_UC_EV_QP	     ? ev[i].q.cookie
				  : kind == SDR_UC_EV_PLACED ? ev[i].p.cookie
							     : NULL;
		}
	}
	return sum;
}

/* As if the time before judgement had passed. */
static void later(void)
{
	for (struct sdr_verbs_qp *q = dev->v.bad; q; q = q->bad_next)
		q->failed_at -= SDR_VERBS_FAIL_NS;
	dev->v.looked = 0;
}

/*
 * One peer's queue pair is gone: that is reported once, with its cookie; what others receive is
 * received.
 */
static void told_of(uint32_t i)
{
	void *cookie = NULL;

	receive(!i, IBV_WC_SUCCESS);
	assert_int_equal(events(SDR_UC_EV_PLACED, &cookie), 1);
	assert_ptr_equal(cookie, &dev->q[!i]);
	later();
	assert_int_equal(events(SDR_UC_EV_QP, &cookie), 1);
	assert_ptr_equal(cookie, &dev->q[i]);
	assert_non_null(strstr(dev->v.reason, "fake0: "));
	receive(i, IBV_WC_WR_FLUSH_ERR); /* the rest of its receives */
	receive(!i, IBV_WC_SUCCESS);
	assert_int_equal(events(SDR_UC_EV_PLACED, &cookie), 1);
	later();
	assert_int_equal(events(SDR_UC_EV_PLACED, &cookie), 0);
	assert_int_equal(atomic_load(&dev->v.err), 0);
}

static void bad__receive(void **state)
{
	void *cookie;

	(void)state;
	dev_open();
	receive(1, IBV_WC_LOC_LEN_ERR);
	receive(1, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(events(SDR_UC_EV_PLACED, &cookie), 0); /* not yet */
	told_of(1);
	assert_non_null(strstr(dev->v.reason, "local length error"));
	dev_close();
}

static void bad__refused_receives(void **state)
{
	(void)state;
	dev_open();
	dev->refuse = true;
	dev->q[1]->tp[0].rx_need = 1;
	sdr_verbs_tp_ready(&dev->q[1]->tp[0]);
	dev->refuse = false;
	told_of(1);
	dev_close();
}

static void bad__write(void **state)
{
	static const uint8_t bytes[64];
	struct sdr_uc_tx t = { .kind = SDR_UC_TX_WRITE, .len = 64, .buf = bytes };
	struct sdr_verbs_tp *tp;

	(void)state;
	dev_open();
	t.w.qp = &dev->q[1]->qp;
	assert_int_equal(sdr_verbs_post(&dev->v.uc, &t, 1), 1);
	assert_int_equal(dev->posted, 1);
	tp = &dev->q[1]->tp[0];
	dev->sq.wc[dev->sq.n++] = (struct ibv_wc){
		.status = IBV_WC_WR_FLUSH_ERR,
		.wr_id = (uint64_t)tp->serial << 32 | tp->index,
	};
	told_of(1);
	/* What is given to it goes nowhere, and delays no other. */
	assert_int_equal(sdr_verbs_post(&dev->v.uc, &t, 1), 1);
	assert_int_equal(dev->posted, 1);
	t.w.qp = &dev->q[0]->qp;
	assert_int_equal(sdr_verbs_post(&dev->v.uc, &t, 1), 1);
	assert_int_equal(dev->posted, 2);
	dev_close();
}

static void bad__refused_write(void **state)
{
	static const uint8_t bytes[64];
	struct sdr_uc_tx t = { .kind = SDR_UC_TX_WRITE, .len = 64, .buf = bytes };

	(void)state;
	dev_open();
	t.w.qp = &dev->q[1]->qp;
	dev->refuse = true;
	(void)sdr_verbs_post(&dev->v.uc, &t, 1);
	dev->refuse = false;
	told_of(1);
	dev_close();
}

/* An event names a queue pair, and may be read by any thread: its own queries the state. */
static void bad__event(void **state)
{
	void *cookie;

	(void)state;
	dev_open();
	dev->event.event_type = IBV_EVENT_QP_ACCESS_ERR;
	dev->event.element.qp = &dev->qp[1];
	dev->has_event = true;
	dev->state[1] = IBV_QPS_ERR;
	assert_int_equal(events(SDR_UC_EV_QP, &cookie), 0);
	told_of(1);
	dev_close();
}

/* Several at a time, one of which is destroyed before it is reported. */
static void bad__several(void **state)
{
	void *cookie;

	(void)state;
	dev_open();
	for (uint32_t i = 0; i < NQP; i++)
		receive(i, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(events(SDR_UC_EV_QP, &cookie), 0);
	sdr_verbs_qp_destroy(&dev->q[1]->qp);
	dev->q[1] = NULL;
	later();
	assert_int_equal(events(SDR_UC_EV_QP, &cookie), 2);
	dev_close();
}

/* Their port is down: that is the cause, and the engine's end. */
static void bad__port(void **state)
{
	void *cookie;

	(void)state;
	dev_open();
	receive(1, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(events(SDR_UC_EV_PLACED, &cookie), 0);
	dev->port = IBV_PORT_DOWN;
	later();
	assert_int_equal(events(SDR_UC_EV_ERROR, &cookie), 1);
	assert_int_equal(atomic_load(&dev->v.err), -ENETDOWN);
	assert_non_null(strstr(dev->v.reason, "port is down"));
	dev_close();
}

/* The queue pairs that all peers share are another matter. */
static void bad__control(void **state)
{
	struct ibv_qp ud = { .qp_context = NULL };
	void *cookie;

	(void)state;
	dev_open();
	ud.qp_context = &dev->v;
	dev->event.event_type = IBV_EVENT_QP_FATAL;
	dev->event.element.qp = &ud;
	dev->has_event = true;
	dev->v.looked = 0;
	assert_int_equal(events(SDR_UC_EV_ERROR, &cookie), 0);
	atomic_store(&dev->v.failed_at, atomic_load(&dev->v.failed_at) - SDR_VERBS_FAIL_NS);
	dev->v.looked = 0;
	assert_int_equal(events(SDR_UC_EV_ERROR, &cookie), 1);
	assert_int_equal(atomic_load(&dev->v.err), -EIO);
	dev_close();
}

/*
 * Memory that was released while the device has packets of it to send is being read until it has
 * sent them.
 */
static void reading__until_the_last_write(void **state)
{
	static uint8_t mem[8 * MTU];
	struct sdr_verbs_mr *m = calloc(1, sizeof(*m));
	struct sdr_verbs_reg *r = calloc(1, sizeof(*r));
	struct sdr_uc_tx t = { .kind = SDR_UC_TX_WRITE, .len = MTU, .buf = mem + MTU };
	struct ibv_mr ibv_mr = { .lkey = 1 };
	struct sdr_uc *uc;
	struct sdr_verbs_tp *tp;

	(void)state;
	dev_open();
	uc = &dev->v.uc;
	assert_true(m && r);
	m->lo = (uintptr_t)mem + MTU;
	m->hi = m->lo + 2 * MTU;
	m->refs = 1;
	m->mr = &ibv_mr;
	r->mr = m;
	dev->pd.mr = calloc(4, sizeof(*dev->pd.mr));
	dev->pd.cap = 4;
	dev->pd.mr[dev->pd.nmr++] = m;
	t.w.qp = &dev->q[0]->qp;
	t.mr = r;
	assert_int_equal(sdr_verbs_post(uc, &t, 1), 1);
	assert_false(sdr_verbs_mr_reading(uc, mem, sizeof(mem))); /* its owner knows */
	sdr_verbs_mr_dereg(uc, r);
	assert_int_equal(dev->deregs, 0);
	assert_true(sdr_verbs_mr_reading(uc, mem, sizeof(mem)));
	assert_true(sdr_verbs_mr_reading(uc, mem, MTU + 1));
	assert_false(sdr_verbs_mr_reading(uc, mem, MTU));
	assert_true(sdr_verbs_mr_reading(uc, mem + 3 * MTU - 1, 1));
	assert_false(sdr_verbs_mr_reading(uc, mem + 3 * MTU, MTU));
	tp = &dev->q[0]->tp[0];
	dev->sq.wc[dev->sq.n++] =
		(struct ibv_wc){ .wr_id = (uint64_t)tp->serial << 32 | tp->index };
	assert_false(sdr_verbs_mr_reading(uc, mem, sizeof(mem)));
	assert_int_equal(dev->deregs, 1);
	assert_null(dev->v.dead_regs);
	dev_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad__receive),
		cmocka_unit_test(bad__refused_receives),
		cmocka_unit_test(bad__write),
		cmocka_unit_test(bad__refused_write),
		cmocka_unit_test(bad__event),
		cmocka_unit_test(bad__several),
		cmocka_unit_test(bad__port),
		cmocka_unit_test(bad__control),
		cmocka_unit_test(reading__until_the_last_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
