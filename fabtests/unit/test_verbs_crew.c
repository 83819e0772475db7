/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receive workers of the verbs engine: threads that read queues of completions which a test fills,
 * as a device does.  What must hold whoever is scheduled when: each packet is reported once, by its
 * group's worker; a control datagram comes after the packets before it and before those behind it;
 * nothing is reported of a slot once it is unbound, nor for a later message of it; a QP that breaks
 * is told of by the owner; and the end of all of it waits for nobody for ever.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "uc/verbs/sdr_verbs_impl.h"

#define WORKERS	 2u
#define CHANNELS 3u /* 0 and 2 are one worker's */
#define GENS	 2u
#define MTU	 1024u
#define DEPTH	 1024u
#define SLOTS	 8u
#define PKTS	 4096u /* a message */
#define WAIT_NS	 60000000000ull

/* A completion queue of the device's. */
struct queue {
	struct ibv_cq cq;
	pthread_mutex_t lock;
	struct ibv_wc wc[DEPTH];
	uint32_t head, tail;
	bool armed;
};

static struct dev {
	struct sdr_verbs v;
	struct sdr_verbs_pd pd;
	struct ibv_context ctx;
	struct sdr_ibv ibv;
	struct sdr_uc_ops soft_ops;
	struct sdr_uc soft;
	struct sdr_verbs_qp *q;
	uint32_t qps;
	/* control datagrams: so many are there, and were read */
	uint32_t ctl_sent, ctl_read;
	/* what was reported */
	uint32_t seen[SLOTS][PKTS]; /* how often */
	uint32_t placed, wrong;
	bool open[SLOTS]; /* bound, as the owner sees it */
	bool no_room;	  /* on a worker's thread */
	pthread_t owner;
} * dev;

static void dev_lock(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
}

static int dev_poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	struct queue *q = (struct queue *)cq;
	int n = 0;

	dev_lock(q);
	while (n < max && q->head != q->tail)
		wc[n++] = q->wc[q->head++ % DEPTH];
	pthread_mutex_unlock(&q->lock);
	return n;
}

static int dev_notify(struct ibv_cq *cq, int solicited)
{
	struct queue *q = (struct queue *)cq;

	(void)solicited;
	dev_lock(q);
	q->armed = true;
	pthread_mutex_unlock(&q->lock);
	return 0;
}

static int dev_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp;
	*bad = wr;
	return 0;
}

static struct ibv_comp_channel *dev_chan_new(struct ibv_context *ctx)
{
	struct ibv_comp_channel *c = calloc(1, sizeof(*c));

	(void)ctx;
	assert_non_null(c);
	c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return c;
}

static int dev_chan_free(struct ibv_comp_channel *c)
{
	close(c->fd);
	free(c);
	return 0;
}

static int dev_get_cq_event(struct ibv_comp_channel *c, struct ibv_cq **cq, void **ctx)
{
	uint64_t n;

	*cq = NULL;
	*ctx = NULL;
	return read(c->fd, &n, sizeof(n)) > 0 ? 0 : -1;
}

static void dev_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	(void)cq;
	(void)n;
}

static struct ibv_cq *dev_create_cq(struct ibv_context *ctx, int cqe, void *user,
				    struct ibv_comp_channel *chan, int vector)
{
	struct queue *q = calloc(1, sizeof(*q));

	(void)vector;
	assert_true(cqe <= dev->pd.attr.max_cqe);
	assert_non_null(q);
	pthread_mutex_init(&q->lock, NULL);
	q->cq.context = ctx;
	q->cq.cq_context = user;
	q->cq.channel = chan;
	return &q->cq;
}

static int dev_destroy_cq(struct ibv_cq *cq)
{
	pthread_mutex_destroy(&((struct queue *)cq)->lock);
	free(cq);
	return 0;
}

static struct ibv_qp *dev_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct ibv_qp *qp = calloc(1, sizeof(*qp));

	(void)pd;
	assert_non_null(qp);
	qp->context = &dev->ctx;
	qp->recv_cq = a->recv_cq;
	qp->qp_num = ++dev->qps;
	return qp;
}

static int dev_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	(void)qp;
	(void)a;
	(void)mask;
	return 0;
}

static int dev_destroy_qp(struct ibv_qp *qp)
{
	free(qp);
	return 0;
}

static int dev_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *a)
{
	(void)ctx;
	(void)port;
	a->state = IBV_PORT_ACTIVE;
	return 0;
}

static int dev_get_event(struct ibv_context *ctx, struct ibv_async_event *e)
{
	(void)ctx;
	(void)e;
	return -1;
}

static const char *dev_status(enum ibv_wc_status s)
{
	return s == IBV_WC_LOC_LEN_ERR ? "local length error" : "flushed";
}

static int soft_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max)
{
	int n = 0;

	(void)uc;
	for (; n < max && dev->ctl_read != __atomic_load_n(&dev->ctl_sent, __ATOMIC_SEQ_CST); n++) {
		memset(&ev[n], 0, sizeof(ev[n]));
		ev[n].kind = SDR_UC_EV_CTL;
		ev[n].len = dev->ctl_read++;
	}
	return n;
}

static bool soft_arm(struct sdr_uc *uc)
{
	(void)uc;
	return dev->ctl_read != __atomic_load_n(&dev->ctl_sent, __ATOMIC_SEQ_CST);
}

/* ---- the layer above ------------------------------------------------------------------------- */

static bool up_room(void *user, uint32_t worker)
{
	(void)user;
	(void)worker;
	return !__atomic_load_n(&dev->no_room, __ATOMIC_ACQUIRE) ||
	       pthread_equal(pthread_self(), dev->owner);
}

static void up_placed(void *user, uint32_t worker, const struct sdr_uc_ev *ev, int n)
{
	const struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	uint32_t id = sdr_imm_id(&split, ev->p.imm);
	int i;

	(void)user;
	for (i = 0; i < n; i++)
		if (ev[i].kind != SDR_UC_EV_PLACED || sdr_imm_id(&split, ev[i].p.imm) != id ||
		    ev[i].p.cookie != dev || ev[i].channel % WORKERS != worker ||
		    !__atomic_load_n(&dev->open[id], __ATOMIC_ACQUIRE))
			__atomic_fetch_add(&dev->wrong, 1, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(&dev->seen[id][sdr_imm_off(&split, ev[i].p.imm)], 1,
					   __ATOMIC_RELAXED);
	__atomic_fetch_add(&dev->placed, (uint32_t)n, __ATOMIC_SEQ_CST);
}

static uint32_t placed(void)
{
	return __atomic_load_n(&dev->placed, __ATOMIC_SEQ_CST);
}

/* ---- a world --------------------------------------------------------------------------------- */

static void dev_open_with(int max_cqe)
{
	struct sdr_uc_qp_attr a = {
		.channels = CHANNELS,
		.generations = GENS,
		.split = SDR_IMM_SPLIT_DEFAULT,
		.mtu = MTU,
		.max_msg = (uint64_t)MTU * PKTS,
	};
	struct sdr_uc_qp *q;

	dev = calloc(1, sizeof(*dev));
	assert_non_null(dev);
	dev->owner = pthread_self();
	dev->ctx.ops.poll_cq = dev_poll_cq;
	dev->ctx.ops.post_recv = dev_post_recv;
	dev->ctx.ops.req_notify_cq = dev_notify;
	dev->ibv.create_comp_channel = dev_chan_new;
	dev->ibv.destroy_comp_channel = dev_chan_free;
	dev->ibv.get_cq_event = dev_get_cq_event;
	dev->ibv.ack_cq_events = dev_ack_cq_events;
	dev->ibv.create_cq = dev_create_cq;
	dev->ibv.destroy_cq = dev_destroy_cq;
	dev->ibv.create_qp = dev_create_qp;
	dev->ibv.modify_qp = dev_modify_qp;
	dev->ibv.destroy_qp = dev_destroy_qp;
	dev->ibv.query_port = dev_query_port;
	dev->ibv.get_async_event = dev_get_event;
	dev->ibv.wc_status_str = dev_status;
	dev->soft_ops.poll = soft_poll;
	dev->soft_ops.arm = soft_arm;
	dev->soft.ops = &dev->soft_ops;
	dev->pd.pid = getpid();
	dev->pd.ibv = dev->v.ibv = &dev->ibv;
	dev->pd.ctx = &dev->ctx;
	dev->pd.engines = &dev->v;
	dev->pd.attr.max_cqe = max_cqe;
	pthread_mutex_init(&dev->pd.lock, NULL);
	dev->v.pd = &dev->pd;
	dev->v.lane.v = &dev->v;
	dev->v.soft = &dev->soft;
	dev->v.mtu = MTU;
	dev->v.rx_depth = DEPTH;
	dev->v.tx_depth = 64;
	dev->v.port = 1;
	dev->v.copy_free = SDR_VERBS_NONE;
	strcpy(dev->v.device, "fake0");
	dev->v.chan = dev_chan_new(&dev->ctx);
	assert_int_equal(sdr_verbs_crew_open(&dev->v, WORKERS), 0);
	dev->v.crew->to = (struct sdr_uc_crew){ up_room, up_placed, NULL };
	a.cookie = dev;
	assert_int_equal(sdr_verbs_qp_create(&dev->v.uc, &a, &q), 0);
	dev->q = sdr_verbs_qp_of(q);
}

static void dev_open(void)
{
	dev_open_with(2 * GENS * DEPTH);
	assert_int_equal(dev->q->nrq, WORKERS);
	assert_ptr_equal(dev->q->tp[0].rq, dev->q->tp[2].rq);
	assert_ptr_not_equal(dev->q->tp[0].rq, dev->q->tp[1].rq);
}

static void dev_close(void)
{
	assert_int_equal(__atomic_load_n(&dev->wrong, __ATOMIC_RELAXED), 0);
	sdr_verbs_qp_destroy(&dev->q->qp);
	sdr_verbs_crew_close(&dev->v);
	dev_chan_free(dev->v.chan);
	free(dev->v.tps);
	pthread_mutex_destroy(&dev->pd.lock);
	free(dev);
}

static void slot_bind(uint32_t slot, uint32_t use)
{
	static uint8_t nowhere[1];

	__atomic_store_n(&dev->open[slot], true, __ATOMIC_RELEASE);
	assert_int_equal(
		sdr_verbs_slot_bind(&dev->q->qp, slot, use, nowhere, (size_t)PKTS * MTU, NULL), 0);
}

static void slot_unbind(uint32_t slot)
{
	sdr_verbs_slot_unbind(&dev->q->qp, slot);
	__atomic_store_n(&dev->open[slot], false, __ATOMIC_RELEASE);
}

/* The device has placed a packet.  False: its queue is full. */
static bool arrives(uint32_t gen, uint32_t channel, uint32_t slot, uint32_t off,
		    enum ibv_wc_status status)
{
	const struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	struct sdr_verbs_tp *t = &dev->q->tp[gen * CHANNELS + channel];
	struct queue *q = (struct queue *)t->rq->cq;
	const uint64_t one = 1;
	bool room, ring;

	dev_lock(q);
	room = q->tail - q->head < DEPTH;
	if (room)
		q->wc[q->tail++ % DEPTH] = (struct ibv_wc){
			.status = status,
			.opcode = status ? 0 : IBV_WC_RECV_RDMA_WITH_IMM,
			.wr_id = gen * CHANNELS + channel,
			.byte_len = MTU,
			.imm_data = htonl(sdr_imm_pack(&split, slot, off, 0)),
		};
	ring = room && q->armed;
	q->armed &= !ring;
	pthread_mutex_unlock(&q->lock);
	if (ring)
		assert_int_equal(write(q->cq.channel->fd, &one, sizeof(one)), sizeof(one));
	return room;
}

/* A round of the owner; control datagrams that it has got. */
static uint32_t owner_poll(void)
{
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	uint32_t n = 0;
	int k, i;

	while ((k = sdr_verbs_poll(&dev->v.uc, ev, SDR_UC_POLL_MIN)) > 0)
		for (i = 0; i < k; i++)
			n += ev[i].kind == SDR_UC_EV_CTL;
	return n;
}

static void control(void)
{
	__atomic_fetch_add(&dev->ctl_sent, 1, __ATOMIC_SEQ_CST);
}

static uint64_t late(void)
{
	struct sdr_verbs_rx_stats st = { 0 };

	sdr_verbs_crew_stats(dev->v.crew, &st);
	return st.pkts_late;
}

#define until(what)                                              \
	do {                                                     \
		uint64_t end_ = sdr_verbs_now(NULL) + WAIT_NS;   \
		while (!(what)) {                                \
			assert_true(sdr_verbs_now(NULL) < end_); \
			sched_yield();                           \
		}                                                \
	} while (0)

/* ---- cases ----------------------------------------------------------------------------------- */

/* Over all channels, with pauses in which the workers sleep; the owner does nothing. */
static void crew__each_once(void **state)
{
	struct pollfd p = { .events = POLLIN };
	struct sdr_verbs_crew *c;
	uint32_t i, w;

	(void)state;
	dev_open();
	c = dev->v.crew;
	p.fd = c->bell.fd;
	slot_bind(3, 1);
	for (i = 0; i < PKTS; i++) {
		until(arrives(1, i % CHANNELS, 3, i, IBV_WC_SUCCESS));
		if (i % 1000 == 999) {
			until(placed() == i + 1);
			until(__atomic_load_n(&c->worker[0]->idle, __ATOMIC_RELAXED) &&
			      __atomic_load_n(&c->worker[1]->idle, __ATOMIC_RELAXED));
		}
	}
	until(placed() == PKTS);
	for (i = 0; i < PKTS; i++)
		assert_int_equal(dev->seen[3][i], 1);
	for (w = 0; w < WORKERS; w++) {
		sdr_verbs_lane_lock(&c->worker[w]->lane);
		assert_true(c->worker[w]->lane.st.pkts_rx >= PKTS / 3);
		assert_int_equal(c->worker[w]->helped, 0);
		sdr_verbs_lane_unlock(&c->worker[w]->lane);
	}
	assert_true(sdr_verbs_arm(&dev->v.uc)); /* there is news */
	/* Asleep, the owner is woken by what a worker has placed. */
	until((owner_poll(), !sdr_verbs_arm(&dev->v.uc)));
	assert_true(arrives(1, 1, 3, 0, IBV_WC_SUCCESS));
	assert_int_equal(poll(&p, 1, (int)(WAIT_NS / 1000000)), 1);
	slot_unbind(3);
	dev_close();
}

/* A device's queues are too short for two channels: they are still one worker's. */
static void crew__short_queues(void **state)
{
	uint32_t i;

	(void)state;
	dev_open_with(2 * GENS * DEPTH - 1);
	assert_int_equal(dev->q->nrq, CHANNELS);
	slot_bind(3, 1);
	for (i = 0; i < PKTS; i++)
		until(arrives(1, i % CHANNELS, 3, i, IBV_WC_SUCCESS));
	until(placed() == PKTS);
	slot_unbind(3);
	dev_close();
}

/* What came before a control datagram is there when that is reported. */
static void crew__control_behind_data(void **state)
{
	uint32_t i, k, want = 0;

	(void)state;
	dev_open();
	slot_bind(0, 0);
	for (i = 0; i < 2000; i++) {
		for (k = 0; k <= i % 7; k++, want++)
			assert_true(arrives(0, k % CHANNELS, 0, want % PKTS, IBV_WC_SUCCESS));
		control();
		until(owner_poll());
		assert_int_equal(placed(), want);
	}
	slot_unbind(0);
	dev_close();
}

/* What binds their slot comes before the packets, and is read after them: none is late. */
static void crew__data_behind_control(void **state)
{
	uint32_t i, k;

	(void)state;
	dev_open();
	slot_bind(SLOTS - 1, 0); /* so that the queues are read */
	for (i = 0; i < 500; i++) {
		uint32_t slot = i % (SLOTS - 1), use = i / (SLOTS - 1);

		control();
		for (k = 0; k < 20; k++)
			assert_true(arrives(use % GENS, k % CHANNELS, slot, k, IBV_WC_SUCCESS));
		if (i % 3)
			usleep(i % 3 * 50); /* so that workers have taken them in */
		until(owner_poll());
		slot_bind(slot, use);
		until((owner_poll(), placed() == (i + 1) * 20));
		assert_int_equal(late(), 0);
		slot_unbind(slot);
	}
	slot_unbind(SLOTS - 1);
	dev_close();
}

/* Nothing binds it: late, when the owner has looked, and what is behind it goes on. */
static void crew__late(void **state)
{
	(void)state;
	dev_open();
	slot_bind(1, 0);
	assert_true(arrives(1, 0, 5, 0, IBV_WC_SUCCESS));
	assert_true(arrives(0, 0, 1, 7, IBV_WC_SUCCESS));
	until(__atomic_load_n(&dev->v.crew->worker[0]->early, __ATOMIC_SEQ_CST));
	assert_true(sdr_verbs_arm(&dev->v.uc)); /* it is waited for */
	usleep(2000);
	assert_int_equal(placed() + late(), 0);
	until((owner_poll(), placed() == 1));
	assert_int_equal(late(), 1);
	assert_int_equal(dev->seen[1][7], 1);
	slot_unbind(1);
	dev_close();
}

static void *storm(void *arg)
{
	bool *stop = arg;
	uint32_t i;

	for (i = 0; !__atomic_load_n(stop, __ATOMIC_ACQUIRE); i++)
		if (!arrives(i % GENS, i % CHANNELS, i / 16 % SLOTS, i % PKTS, IBV_WC_SUCCESS))
			sched_yield();
	return NULL;
}

/* Packets without end, while slots come and go: none is reported of a slot that is unbound. */
static void crew__unbound(void **state)
{
	bool stop = false;
	pthread_t t;
	uint32_t i;

	(void)state;
	dev_open();
	slot_bind(0, 0); /* the queues are read all the time */
	assert_int_equal(pthread_create(&t, NULL, storm, &stop), 0);
	for (i = 0; i < 3000; i++) {
		slot_bind(1 + i % 7, i);
		if (!(i % 16))
			(void)owner_poll();
		slot_unbind(1 + i % 7);
	}
	/* on a busy machine it may all have been over before */
	until((owner_poll(), placed() > 0));
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(t, NULL);
	slot_unbind(0);
	dev_close();
}

/* Its worker is stuck: what it holds of a message is not taken for a later one of the slot. */
static void crew__old_packets(void **state)
{
	uint32_t i;

	(void)state;
	dev_open();
	__atomic_store_n(&dev->no_room, true, __ATOMIC_RELEASE);
	slot_bind(2, 0);
	/* Behind one that waits for a control datagram: it is neither reported nor late. */
	for (i = 0; i < CHANNELS; i++)
		assert_true(arrives(0, i, 6, 0, IBV_WC_SUCCESS));
	for (i = 0; i < 300; i++)
		assert_true(arrives(0, i % CHANNELS, 2, i, IBV_WC_SUCCESS));
	slot_unbind(2);
	slot_bind(2, 2);
	__atomic_store_n(&dev->no_room, false, __ATOMIC_RELEASE);
	for (i = 0; i < 10; i++) {
		(void)owner_poll();
		usleep(1000);
	}
	until((owner_poll(), late() == 300 + CHANNELS));
	assert_int_equal(placed(), 0);
	slot_unbind(2);
	dev_close();
}

/* One of its receives fails, on a worker's thread. */
static void crew__broken(void **state)
{
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	uint64_t end = sdr_verbs_now(NULL) + WAIT_NS;

	(void)state;
	dev_open();
	slot_bind(0, 0);
	assert_true(arrives(0, 1, 0, 0, IBV_WC_LOC_LEN_ERR));
	until(sdr_verbs_arm(&dev->v.uc));
	until((owner_poll(), dev->v.bad));
	dev->v.bad->failed_at -= SDR_VERBS_FAIL_NS;
	while (sdr_verbs_poll(&dev->v.uc, ev, SDR_UC_POLL_MIN) != 1)
		assert_true(sdr_verbs_now(NULL) < end);
	assert_int_equal(ev[0].kind, SDR_UC_EV_QP);
	assert_ptr_equal(ev[0].q.cookie, dev);
	assert_non_null(strstr(dev->v.reason, "local length error"));
	slot_unbind(0);
	dev_close();
}

/* A child has no workers: what it inherited ends, though a lock was held at the time. */
static void crew__fork(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	dev_open();
	slot_bind(0, 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		__atomic_store_n(&dev->v.crew->worker[0]->lock, true, __ATOMIC_RELAXED);
		sdr_verbs_slot_unbind(&dev->q->qp, 0);
		sdr_verbs_crew_close(&dev->v);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(arrives(0, 0, 0, 0, IBV_WC_SUCCESS));
	until(placed() == 1);
	slot_unbind(0);
	dev_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crew__each_once),
		cmocka_unit_test(crew__short_queues),
		cmocka_unit_test(crew__control_behind_data),
		cmocka_unit_test(crew__data_behind_control),
		cmocka_unit_test(crew__late),
		cmocka_unit_test(crew__unbound),
		cmocka_unit_test(crew__old_packets),
		cmocka_unit_test(crew__broken),
		cmocka_unit_test(crew__fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
