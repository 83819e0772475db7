/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The receive workers of an engine: groups of channels, each with a completion queue of every QP
 * and a thread that reads them (sdr_verbs_worker.c), and what the owner must do so that they and
 * its own calls agree.
 *
 * Channel c of a QP belongs to the group c mod the number of workers, counted from another worker
 * for each QP; so of one channel one thread gets the packets, in their order.  Threads are there
 * from the first QP on, as long as somebody works with them (struct sdr_uc_crew); without, the
 * owner reads all queues itself.  A forked child has none, and waits for none.
 *
 * A lane has a lock, and who has it is its worker: mostly the thread, and the owner where it cannot
 * go on before the lane has been read.  So the owner never waits for a thread that has lost its
 * processor with more than one filling in hand, and nobody waits with a lock.
 *
 * Order.  The device stamps nothing, so order is made by looking.  A control datagram is reported
 * after all lanes have been read once more: what came before it is placed (sdr_verbs_crew_told).  A
 * packet whose slot is not bound is early until all control datagrams that were there, of the
 * device and of the socket, have been found by looks that began after the packet was taken in, and
 * they have been handled: looks have numbers (`asked`), `handled` follows when the next poll
 * begins.  It keeps its lane, without a lock, and control datagrams go before it: they are what it
 * waits for.
 *
 * Grace.  slot_unbind and qp_destroy read the lanes of the QP themselves, after the slot was made
 * unbound: so when they return, nobody has events of it, and of what came before nothing is held
 * that could be taken for a later message of the slot.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/sdr_assert.h"
#include "uc/sdr_uc_pause.h"
#include "uc/sdr_uc_thread.h"
#include "sdr_verbs_impl.h"

/* fillings of a lane that the owner reads at a time: then others want to be read, too */
#define SDR_VERBS_PASS 16u

/* ---- locks ----------------------------------------------------------------------------------- */

/* In a child it is nobody's, and may be locked for ever. */
static void sdr_verbs_worker_seize(struct sdr_verbs_worker *w)
{
	uint32_t n;

	for (n = 0;
	     __atomic_exchange_n(&w->lock, true, __ATOMIC_ACQUIRE) && sdr_uc_pause(w->crew->pid, n);
	     n++)
		;
}

void sdr_verbs_lane_lock(struct sdr_verbs_lane *l)
{
	struct sdr_verbs_worker *w = l->worker;

	if (!w)
		return;
	__atomic_store_n(&w->wanted, true, __ATOMIC_RELAXED);
	sdr_verbs_worker_seize(w);
	__atomic_store_n(&w->wanted, false, __ATOMIC_RELAXED);
}

void sdr_verbs_lane_unlock(struct sdr_verbs_lane *l)
{
	if (l->worker)
		__atomic_store_n(&l->worker->lock, false, __ATOMIC_RELEASE);
}

void sdr_verbs_lane_wake(struct sdr_verbs_lane *l)
{
	if (l->worker)
		sdr_uc_bell_ring(&l->worker->bell);
}

/* ---- open, close ----------------------------------------------------------------------------- */

static void sdr_verbs_worker_free(struct sdr_verbs_worker *w, bool foreign)
{
	if (w->chan && !foreign)
		w->crew->v->ibv->destroy_comp_channel(w->chan);
	if (w->bell.fd >= 0)
		close(w->bell.fd);
	free(w);
}

static int sdr_verbs_worker_open(struct sdr_verbs_crew *c, struct sdr_verbs_worker **out)
{
	struct sdr_verbs *v = c->v;
	struct sdr_verbs_worker *w;
	int flags;

	if (posix_memalign((void **)&w, SDR_VERBS_CREW_LINE, sizeof(*w)))
		return -ENOMEM;
	memset(w, 0, sizeof(*w));
	w->crew = c;
	w->index = c->n;
	w->lane.v = v;
	w->lane.worker = w;
	errno = 0;
	w->bell.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->bell.fd < 0)
		goto err;
	w->chan = v->ibv->create_comp_channel(v->pd->ctx);
	if (!w->chan)
		goto err;
	flags = fcntl(w->chan->fd, F_GETFL);
	if (flags < 0 || fcntl(w->chan->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		goto err;
	*out = w;
	return 0;
err:
	flags = -(errno ? errno : ENOMEM);
	sdr_verbs_worker_free(w, false);
	return flags;
}

int sdr_verbs_crew_open(struct sdr_verbs *v, uint32_t n)
{
	struct sdr_verbs_crew *c;
	int ret = -ENOMEM;

	SDR_ASSERT(n && n <= SDR_WORKERS_MAX);
	if (posix_memalign((void **)&c, SDR_VERBS_CREW_LINE, sizeof(*c)))
		goto err;
	memset(c, 0, sizeof(*c));
	v->crew = c;
	c->v = v;
	c->pid = getpid();
	c->bell.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = c->bell.fd < 0 ? -errno : 0;
	for (; !ret && c->n < n; c->n += !ret)
		ret = sdr_verbs_worker_open(c, &c->worker[c->n]);
	if (!ret)
		return 0;
	sdr_verbs_crew_close(v);
err:
	sdr_verbs_why(v->pd, ret, "cannot make receive workers", v->reason, sizeof(v->reason));
	return ret;
}

static void sdr_verbs_crew_stop(struct sdr_verbs_crew *c)
{
	uint32_t i;

	__atomic_store_n(&c->stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < c->on; i++)
		sdr_uc_bell_strike(c->worker[i]->bell.fd);
	for (i = 0; i < c->on; i++)
		pthread_join(c->worker[i]->thread, NULL);
	c->on = 0;
}

void sdr_verbs_crew_close(struct sdr_verbs *v)
{
	struct sdr_verbs_crew *c = v->crew;
	bool foreign;
	uint32_t i;

	if (!c)
		return;
	foreign = c->pid != getpid();
	if (!foreign)
		sdr_verbs_crew_stop(c);
	for (i = 0; i < c->n; i++)
		sdr_verbs_worker_free(c->worker[i], foreign);
	if (c->bell.fd >= 0)
		close(c->bell.fd);
	free(c);
	v->crew = NULL;
}

bool sdr_verbs_crew_start(struct sdr_verbs *v)
{
	struct sdr_verbs_crew *c = v->crew;

	if (!c || !c->to.placed || c->pid != getpid())
		return false;
	if (c->on || c->stop)
		return c->on;
	while (c->on < c->n && !sdr_uc_thread_create(&c->worker[c->on]->thread,
						     sdr_verbs_worker_main, c->worker[c->on]))
		c->on++;
	if (c->on < c->n)
		sdr_verbs_crew_stop(c); /* and not tried again */
	return c->on;
}

/* ---- the owner in a worker's place ----------------------------------------------------------- */

/* left: a QP of which a slot was left; NULL: none */
static void sdr_verbs_worker_help(struct sdr_verbs_worker *w, uint64_t now,
				  const struct sdr_verbs_qp *left, uint32_t slot)
{
	struct sdr_verbs_lane *l = &w->lane;
	enum sdr_verbs_swept r = SDR_VERBS_SOME;
	uint64_t had;
	uint32_t i;

	sdr_verbs_lane_lock(l);
	had = l->st.pkts_rx;
	for (i = 0; i < SDR_VERBS_PASS && r == SDR_VERBS_SOME; i++) {
		sdr_verbs_worker_take(w, now);
		if (left)
			sdr_verbs_lane_strike(l, left, slot);
		r = sdr_verbs_worker_report(w);
	}
	w->helped += l->st.pkts_rx - had;
	/* Not within a poll: the next one is to come soon. */
	if (left && l->st.pkts_rx != had)
		__atomic_store_n(&w->crew->news, true, __ATOMIC_SEQ_CST);
	sdr_verbs_lane_unlock(l);
	if (r != SDR_VERBS_NOTHING)
		sdr_verbs_lane_wake(l); /* it goes on with that */
}

void sdr_verbs_crew_pass(struct sdr_verbs_crew *c)
{
	uint64_t now = sdr_verbs_now(&c->v->uc);
	uint32_t i;

	for (i = 0; i < c->on; i++)
		if (c->worker[i]->hot)
			sdr_verbs_worker_help(c->worker[i], now, NULL, 0);
}

void sdr_verbs_crew_leave(struct sdr_verbs_qp *q, uint32_t slot)
{
	uint64_t now = q->v->crew ? sdr_verbs_now(&q->v->uc) : 0;
	uint32_t i;

	for (i = 0; q->v->crew && i < q->nrq; i++)
		if (q->rq[i].lane->worker)
			sdr_verbs_worker_help(q->rq[i].lane->worker, now, q, slot);
}

/* ---- order ----------------------------------------------------------------------------------- */

bool sdr_verbs_crew_poll(struct sdr_verbs_crew *c)
{
	bool early = false;
	uint32_t i;

	__atomic_store_n(&c->handled, c->read, __ATOMIC_RELEASE);
	sdr_uc_bell_wake(&c->bell);
	sdr_uc_bell_hear(&c->bell);
	if (__atomic_load_n(&c->news, __ATOMIC_RELAXED))
		__atomic_store_n(&c->news, false, __ATOMIC_SEQ_CST);
	for (i = 0; i < c->on; i++)
		early |= __atomic_load_n(&c->worker[i]->early, __ATOMIC_RELAXED);
	return early;
}

void sdr_verbs_crew_ask(struct sdr_verbs_crew *c, uint32_t look)
{
	__atomic_store_n(&c->asked, look, __ATOMIC_SEQ_CST);
}

void sdr_verbs_crew_told(struct sdr_verbs_crew *c, int n, uint32_t seen)
{
	uint32_t i;

	c->read = seen;
	if (n) {
		sdr_verbs_crew_pass(c);
		return;
	}
	/*
	 * While workers have something the processor is offered to them, or who polls without end
	 * would take from them what they are to relieve him of.
	 */
	for (i = 0; i < c->on; i++)
		if (c->worker[i]->hot && !__atomic_load_n(&c->worker[i]->idle, __ATOMIC_RELAXED)) {
			sched_yield();
			return;
		}
}

bool sdr_verbs_crew_arm(struct sdr_verbs_crew *c)
{
	bool early = false;
	uint32_t i;

	sdr_uc_bell_arm(&c->bell);
	for (i = 0; i < c->on; i++)
		early |= __atomic_load_n(&c->worker[i]->early, __ATOMIC_RELAXED);
	return early || __atomic_load_n(&c->news, __ATOMIC_SEQ_CST);
}

void sdr_verbs_crew_tell(struct sdr_verbs_crew *c)
{
	__atomic_store_n(&c->news, true, __ATOMIC_SEQ_CST);
	sdr_uc_bell_ring(&c->bell);
}

/* ---- counters -------------------------------------------------------------------------------- */

void sdr_verbs_crew_stats(struct sdr_verbs_crew *c, struct sdr_verbs_rx_stats *sum)
{
	uint32_t i;

	for (i = 0; i < c->n; i++) {
		struct sdr_verbs_lane *l = &c->worker[i]->lane;

		sdr_verbs_lane_lock(l);
		sum->pkts_rx += l->st.pkts_rx;
		sum->bytes_rx += l->st.bytes_rx;
		sum->pkts_late += l->st.pkts_late;
		sum->pkts_bad += l->st.pkts_bad;
		sdr_verbs_lane_unlock(l);
	}
}
