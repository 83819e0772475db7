/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A worker's thread: reads the queues of its lane and reports what came, runs of packets of one
 * slot, to the layer above (struct sdr_uc_crew); sleeps when nothing comes.
 *
 * It has the lock of its lane while it reads and reports one filling at most, and leaves it to the
 * owner when that wants it.  What waits (sdr_verbs_crew.c), for the owner to handle the control
 * datagrams before it or for room above, waits without it; the owner is woken, and if its
 * application does not poll, packets wait here and in the device's queues.
 *
 * Asleep it is woken by the packet that its sender asks a notification for (the end of a batch),
 * and looks again after SDR_VERBS_NAP_NS (SDR_VERBS_REST_NS when nothing flows) while something is
 * expected, as the owner does without workers (sdr_verbs_rx.c).
 */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/sdr_assert.h"
#include "uc/sdr_uc_pause.h"
#include "sdr_verbs_impl.h"

#define SDR_VERBS_WAIT_NS 50000u /* of a nap, while something waits for the owner */
/* The explorer of interleavings (sdr_explore_lanes) has other numbers of these. */
#ifndef SDR_VERBS_WAIT_SPINS
#define SDR_VERBS_WAIT_SPINS 64u /* times that the processor is offered before the first nap */
#define SDR_VERBS_WARM_LOOKS 64u /* looks at empty queues before it sleeps */
#endif

static bool sdr_verbs_worker_stopped(const struct sdr_verbs_worker *w)
{
	return __atomic_load_n(&w->crew->stop, __ATOMIC_ACQUIRE);
}

static void sdr_verbs_worker_lock(struct sdr_verbs_worker *w)
{
	uint32_t n;

	for (n = 0; __atomic_load_n(&w->wanted, __ATOMIC_RELAXED) ||
		    __atomic_exchange_n(&w->lock, true, __ATOMIC_ACQUIRE);
	     n++)
		(void)sdr_uc_pause(w->crew->pid, n);
}

/* Events of packets of one slot, from the first that is held; *waits: an early one stopped it. */
static int sdr_verbs_worker_run(struct sdr_verbs_worker *w, bool decided, struct sdr_uc_ev *ev,
				bool *waits)
{
	struct sdr_verbs_lane *l = &w->lane;
	uint32_t id = 0, mine;
	int n = 0;

	while (l->pos < l->n && n < (int)SDR_UC_POLL_MIN) {
		const struct sdr_verbs_tp *t = l->tp[l->pos];

		if (n && t && l->wc[l->pos].status == IBV_WC_SUCCESS) {
			mine = sdr_imm_id(&t->q->split, ntohl(l->wc[l->pos].imm_data));
			if (t->q->cookie != ev->p.cookie || mine != id)
				break;
		}
		switch (sdr_verbs_lane_next(l, decided, &ev[n])) {
		case SDR_VERBS_MADE:
			if (!n)
				id = sdr_imm_id(&t->q->split, ev->p.imm);
			n++;
			break;
		case SDR_VERBS_GONE:
			break;
		case SDR_VERBS_EARLY:
			*waits = true;
			return n;
		}
	}
	return n;
}

void sdr_verbs_worker_take(struct sdr_verbs_worker *w, uint64_t now)
{
	sdr_verbs_lane_take(&w->lane, now);
	w->need = __atomic_load_n(&w->crew->asked, __ATOMIC_SEQ_CST) + 1;
}

enum sdr_verbs_swept sdr_verbs_worker_report(struct sdr_verbs_worker *w)
{
	const struct sdr_uc_crew *to = &w->crew->to;
	struct sdr_verbs_lane *l = &w->lane;
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	bool early = false, decided;
	int n;

	SDR_ASSERT(__atomic_load_n(&w->lock, __ATOMIC_RELAXED));
	if (l->pos == l->n)
		return SDR_VERBS_NOTHING;
	decided = (int32_t)(__atomic_load_n(&w->crew->handled, __ATOMIC_ACQUIRE) - w->need) >= 0;
	while (l->pos < l->n && !early) {
		if (!to->room(to->user, w->index))
			break;
		n = sdr_verbs_worker_run(w, decided, ev, &early);
		if (n)
			to->placed(to->user, w->index, ev, n);
	}
	__atomic_store_n(&w->early, early, __ATOMIC_SEQ_CST);
	return l->pos < l->n ? SDR_VERBS_WAITS : SDR_VERBS_SOME;
}

static enum sdr_verbs_swept sdr_verbs_worker_sweep(struct sdr_verbs_worker *w, uint64_t now)
{
	if (w->lane.pos == w->lane.n)
		sdr_verbs_worker_take(w, now);
	return sdr_verbs_worker_report(w);
}

/* The n-th time in a row that there is nothing for it but to wait. */
static void sdr_verbs_worker_nap(struct sdr_verbs_worker *w, uint32_t n)
{
	struct pollfd p = { .fd = w->bell.fd, .events = POLLIN };
	struct timespec t = { .tv_nsec = SDR_VERBS_WAIT_NS };

	sdr_uc_bell_hear(&w->bell);
	if (n >= SDR_VERBS_WAIT_SPINS || !sdr_uc_offer(&w->offer))
		ppoll(&p, 1, &t, NULL);
}

/* Under the lock: asks for notifications; false: something is there already. */
static bool sdr_verbs_worker_arm(struct sdr_verbs_worker *w, uint64_t now)
{
	const struct sdr_ibv *ibv = w->crew->v->ibv;
	const struct sdr_verbs_rq *r;
	struct ibv_cq *cq;
	void *ctx;

	while (!ibv->get_cq_event(w->chan, &cq, &ctx))
		ibv->ack_cq_events(cq, 1);
	for (r = w->lane.hot; r; r = r->next)
		ibv_req_notify_cq(r->cq, 1);
	return sdr_verbs_worker_sweep(w, now) == SDR_VERBS_NOTHING;
}

/* Its queues were empty: until something comes to them, or the owner wants it to look. */
static void sdr_verbs_worker_rest(struct sdr_verbs_worker *w)
{
	struct pollfd p[2] = {
		{ .fd = w->chan->fd, .events = POLLIN },
		{ .fd = w->bell.fd, .events = POLLIN },
	};
	uint64_t now = sdr_verbs_now(&w->crew->v->uc);
	struct timespec t = { 0 };
	bool empty, hot;

	sdr_uc_bell_arm(&w->bell);
	sdr_verbs_worker_lock(w);
	empty = sdr_verbs_worker_arm(w, now);
	hot = w->lane.hot;
	t.tv_nsec = now - w->lane.flowed < SDR_VERBS_FLOW_NS ? (long)SDR_VERBS_NAP_NS
							     : (long)SDR_VERBS_REST_NS;
	sdr_verbs_lane_unlock(&w->lane);
	if (empty && !sdr_verbs_worker_stopped(w)) {
		__atomic_store_n(&w->idle, true, __ATOMIC_RELAXED);
		ppoll(p, 2, hot ? &t : NULL, NULL);
		__atomic_store_n(&w->idle, false, __ATOMIC_RELAXED);
	}
	sdr_uc_bell_wake(&w->bell);
	sdr_uc_bell_hear(&w->bell);
	if (!empty)
		sdr_verbs_crew_tell(w->crew);
}

void *sdr_verbs_worker_main(void *arg)
{
	struct sdr_verbs_worker *w = arg;
	uint32_t waits = 0, looks = 0;
	enum sdr_verbs_swept r;

	prctl(PR_SET_NAME, "sdr-worker");
	while (!sdr_verbs_worker_stopped(w)) {
		sdr_verbs_worker_lock(w);
		r = sdr_verbs_worker_sweep(w, sdr_verbs_now(&w->crew->v->uc));
		sdr_verbs_lane_unlock(&w->lane);
		switch (r) {
		case SDR_VERBS_SOME:
			waits = looks = 0;
			sdr_verbs_crew_tell(w->crew);
			break;
		case SDR_VERBS_WAITS:
			looks = 0;
			sdr_verbs_crew_tell(w->crew);
			sdr_verbs_worker_nap(w, waits++);
			break;
		case SDR_VERBS_NOTHING:
			waits = 0;
			if (looks++ < SDR_VERBS_WARM_LOOKS && sdr_uc_offer(&w->offer))
				break;
			looks = 0;
			sdr_verbs_worker_rest(w);
			break;
		}
	}
	return NULL;
}
