/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The verbs engine's poll: what came, as events in their order.
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
 * With workers (sdr_verbs_crew.c) the data queues are theirs, and this is about control datagrams:
 * those are reported when what came before them has been.
 */
#include <errno.h>
#include <string.h>

#include "sdr_verbs_impl.h"

/* fillings of `held` that a poll goes through without finding an event */
#define SDR_VERBS_ROUNDS 8

static int sdr_verbs_lane_report(struct sdr_verbs_lane *l, struct sdr_uc_ev *ev, int max)
{
	int n = 0;

	while (l->pos < l->n && n < max)
		n += sdr_verbs_lane_next(l, true, &ev[n]) == SDR_VERBS_MADE;
	return n;
}

static void sdr_verbs_stage(struct sdr_verbs *v)
{
	v->lane.sock = false;
	sdr_verbs_lane_take(&v->lane, v->polled);
	v->lane_look = v->looks.n;
}

/* The control datagrams before what its lane holds have been reported. */
static bool sdr_verbs_lane_ready(const struct sdr_verbs *v)
{
	return (int32_t)(sdr_verbs_ctl_seen(v, v->lane.sock) - v->lane_look) > 0;
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
	struct sdr_verbs_lane *l = &v->lane;
	uint64_t now;
	int n = 0, round;
	bool sock, early;

	sdr_verbs_tx_reap(v);
	early = v->crew && sdr_verbs_crew_poll(v->crew);
	for (round = 0; round < SDR_VERBS_ROUNDS; round++) {
		if (l->pos < l->n && sdr_verbs_lane_ready(v)) {
			n = sdr_verbs_lane_report(l, ev, max);
			if (n)
				return n;
		}
		if (l->pos == l->n)
			sdr_verbs_stage(v);
		now = v->polled = sdr_verbs_now(uc);
		sock = l->sock || early || now - v->looked >= SDR_VERBS_LOOK_NS;
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
		if (atomic_load(&v->broke))
			sdr_verbs_qp_broken(v);
		if (v->bad) {
			n = sdr_verbs_qp_report(v, now, ev, max);
			if (n || atomic_load(&v->err))
				return n;
		}
		v->looks.n++;
		if (v->crew)
			sdr_verbs_crew_ask(v->crew, v->looks.n);
		n = sdr_verbs_ctl_poll(v, ev, max, sock);
		if (v->crew)
			sdr_verbs_crew_told(v->crew, n, sdr_verbs_ctl_seen(v, true));
		if (n || l->pos == l->n)
			return n;
	}
	return 0; /* nothing but late packets for a while: others want to run too */
}

/* A poll leaves the device's notices alone, but not the bell of workers. */
bool sdr_verbs_rearm(struct sdr_uc *uc)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);
	bool crew = v->crew && sdr_verbs_crew_arm(v->crew);

	return (v->soft->ops->rearm && v->soft->ops->rearm(v->soft)) || crew;
}

bool sdr_verbs_arm(struct sdr_uc *uc)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);
	const struct sdr_verbs_rq *r;
	struct ibv_cq *cq;
	void *ctx;

	while (!v->ibv->get_cq_event(v->chan, &cq, &ctx))
		v->ibv->ack_cq_events(cq, 1);
	/* Which queue it was matters little: all are armed again. */
	if (v->ud.qp)
		ibv_req_notify_cq(v->ud.rcq, 0);
	for (r = v->lane.hot; r; r = r->next)
		ibv_req_notify_cq(r->cq, 1);
	v->looked = 0; /* the socket and the device may be what wakes us */
	if (v->lane.pos == v->lane.n)
		sdr_verbs_stage(v);
	if (v->crew && sdr_verbs_crew_arm(v->crew))
		return true;
	return v->lane.pos < v->lane.n || atomic_load(&v->broke) || sdr_verbs_ud_fetch(v) ||
	       v->soft->ops->arm(v->soft);
}
