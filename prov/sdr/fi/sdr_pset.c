/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The endpoints that a CQ or a counter drives, and how a thread sleeps on all of them.
 *
 * Reading runs one round of each endpoint that no other thread is running.  A blocking read counts
 * itself in every endpoint (sdr_pset_enter), and from then on every alarm is right for it; each
 * time before it sleeps it runs a round of each (sdr_pset_look), waiting for its lock if need be:
 * another thread's round is none of ours, as its completions may have been for us and what it left
 * to do is on the alarm.  An endpoint that comes or goes while a thread sleeps takes the count with
 * it.  nap_fd of the wait object follows the set under its lock.
 *
 * Of an application that polls the descriptor we see fi_trywait before and a read afterwards, but
 * not the sleep.  If only one thread ever called fi_trywait it is awake when it reads; with more
 * than one a thread may sleep at any time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "sdr_pset.h"
#include "sdr_alarm.h"
#include "sdr_domain.h"
#include "sdr_ep.h"
#include "sdr_ep_progress.h"
#include "sdr_progress.h"
#include "sdr_wait.h"
#include "sdr_yield.h"
#include "sdr_held.h"

void sdr_pset_init(struct sdr_pset *ps, struct sdr_wait *w)
{
	memset(ps, 0, sizeof(*ps));
	ps->wait = w;
	pthread_mutex_init(&ps->lock, NULL);
}

void sdr_pset_fini(struct sdr_pset *ps)
{
	SDR_ASSERT(!ps->n && !(ps->watch & SDR_WATCH_SLEEPERS));
	free(ps->v);
	pthread_mutex_destroy(&ps->lock);
}

int sdr_pset_add(struct sdr_pset *ps, struct sdr_ep *ep)
{
	struct sdr_ep **v;
	int ret = 0;
	unsigned int i;

	pthread_mutex_lock(&ps->lock);
	for (i = 0; i < ps->n; i++) {
		if (ps->v[i] == ep)
			goto out;
	}
	if (ps->n == ps->cap) {
		v = realloc(ps->v, (ps->cap + 8) * sizeof(*v));
		if (!v) {
			ret = -FI_ENOMEM;
			goto out;
		}
		ps->v = v;
		ps->cap += 8;
	}
	ps->v[ps->n++] = ep;
	/* who sleeps now has nothing to miss yet: it is not enabled, or a raise follows */
	atomic_fetch_add(&ep->watch, ps->watch);
out:
	pthread_mutex_unlock(&ps->lock);
	return ret;
}

int sdr_pset_watch(struct sdr_pset *ps, struct sdr_ep *ep)
{
	int ret;

	pthread_mutex_lock(&ps->lock);
	ret = sdr_wait_watch(ps->wait, ep);
	pthread_mutex_unlock(&ps->lock);
	return ret;
}

/* So many do not rely on ep any more.  True: the progress thread wants to know. */
static bool pset_ep_left(struct sdr_ep *ep, unsigned int watch)
{
	unsigned int old = atomic_fetch_sub(&ep->watch, watch);

	SDR_ASSERT((old & SDR_WATCH_SLEEPERS) >= (watch & SDR_WATCH_SLEEPERS));
	if (((old - watch) & SDR_WATCH_SLEEPERS) || !(old & SDR_WATCH_AWAY))
		return false;
	atomic_fetch_and(&ep->watch, ~SDR_WATCH_AWAY);
	return true;
}

void sdr_pset_del(struct sdr_pset *ps, struct sdr_ep *ep)
{
	unsigned int i;

	pthread_mutex_lock(&ps->lock);
	for (i = 0; i < ps->n; i++) {
		if (ps->v[i] != ep)
			continue;
		sdr_wait_unwatch(ps->wait, ep);
		if (pset_ep_left(ep, ps->watch))
			sdr_thread_wake(ep->dom);
		ps->v[i] = ps->v[--ps->n];
		break;
	}
	pthread_mutex_unlock(&ps->lock);
}

/* Under lock.  The application may sleep on the descriptor, or has come back. */
static void pset_nap(struct sdr_pset *ps, bool naps)
{
	unsigned int i;

	SDR_ASSERT_HELD(&ps->lock);
	if (ps->naps == naps)
		return;
	ps->naps = naps;
	ps->watch += naps ? SDR_WATCH_FD : -SDR_WATCH_FD;
	for (i = 0; i < ps->n; i++)
		atomic_fetch_add(&ps->v[i]->watch, naps ? SDR_WATCH_FD : -SDR_WATCH_FD);
}

bool sdr_pset_progress(struct sdr_pset *ps)
{
	struct sdr_ep *ep;
	bool worked = false;
	unsigned int i;

	if (pthread_mutex_trylock(&ps->lock))
		return false; /* another thread is doing it */
	if (ps->naps && ps->napper_one && pthread_equal(ps->napper, pthread_self()))
		pset_nap(ps, false);
	for (i = 0; i < ps->n; i++) {
		ep = ps->v[i];
		sdr_ep_touch(ep);
		if (pthread_mutex_trylock(&ep->lock))
			continue;
		worked |= sdr_ep_round(ep, NULL) > 0;
		pthread_mutex_unlock(&ep->lock);
	}
	pthread_mutex_unlock(&ps->lock);
	return worked;
}

int sdr_pset_enter(struct sdr_pset *ps, struct sdr_sleeper **s)
{
	unsigned int i;
	bool first;
	int ret;

	pthread_mutex_lock(&ps->lock);
	first = ps->wait->nap_fd < 0;
	ret = sdr_wait_nap_open(ps->wait);
	for (i = 0; i < ps->n && first && !ret; i++) {
		pthread_mutex_lock(&ps->v[i]->lock);
		ret = sdr_wait_watch(ps->wait, ps->v[i]);
		pthread_mutex_unlock(&ps->v[i]->lock);
	}
	if (ret) {
		sdr_wait_nap_close(ps->wait); /* the next one tries again */
		goto out;
	}
	*s = sdr_wait_enter(ps->wait);
	if (!*s) {
		ret = -errno;
		goto out;
	}
	ps->watch++;
	for (i = 0; i < ps->n; i++)
		atomic_fetch_add(&ps->v[i]->watch, 1);
out:
	pthread_mutex_unlock(&ps->lock);
	return ret;
}

bool sdr_pset_look(struct sdr_pset *ps)
{
	bool busy = false;
	struct sdr_ep *ep;
	unsigned int i;
	bool again, alone;

	pthread_mutex_lock(&ps->lock);
	for (i = 0; i < ps->n; i++) {
		ep = ps->v[i];
		pthread_mutex_lock(&ep->lock);
		again = sdr_ep_drive_again(ep);
		alone = (atomic_load(&ep->watch) & ~SDR_WATCH_IDLE) == 1;
		again |= alone && sdr_ep_soon(ep);
		busy |= again;
		/* who comes back at once need not be rung for, unless others sleep */
		if (!again || !alone) {
			sdr_ep_alarm_exact(ep);
			busy |= sdr_ep_arm(ep);
		}
		if (ep->broken)
			sdr_wait_unwatch(ps->wait, ep);
		pthread_mutex_unlock(&ep->lock);
	}
	pthread_mutex_unlock(&ps->lock);
	return busy;
}

void sdr_pset_leave(struct sdr_pset *ps, struct sdr_sleeper *s)
{
	struct sdr_domain *wake = NULL;
	unsigned int i;

	pthread_mutex_lock(&ps->lock);
	SDR_ASSERT(ps->watch & SDR_WATCH_SLEEPERS);
	ps->watch--;
	for (i = 0; i < ps->n; i++) {
		sdr_ep_touch(ps->v[i]);
		if (pset_ep_left(ps->v[i], 1))
			wake = ps->v[i]->dom;
	}
	sdr_wait_leave(ps->wait, s);
	pthread_mutex_unlock(&ps->lock);
	if (wake)
		sdr_thread_wake(wake);
}

void sdr_pset_rest(struct sdr_pset *ps, struct sdr_yield *y, bool (*news)(void *of), void *of)
{
	struct sdr_sleeper *s;
	uint64_t until;

	if (!sdr_yield_naps(y) || sdr_pset_enter(ps, &s)) {
		sdr_yield_now(y);
		return;
	}
	until = sdr_mono_ns() + SDR_YIELD_NAP_NS;
	sdr_wait_awake(ps->wait, s);
	if (!sdr_pset_look(ps) && !news(of))
		(void)sdr_wait_sleep(ps->wait, s, until);
	sdr_pset_leave(ps, s);
	sdr_yield_napped(y, sdr_mono_ns() < until);
}

bool sdr_pset_handover(struct sdr_pset *ps)
{
	unsigned int i;
	bool busy = false;
	struct sdr_ep *ep;

	pthread_mutex_lock(&ps->lock);
	ps->napper_one =
		!ps->napper_known || (ps->napper_one && pthread_equal(ps->napper, pthread_self()));
	ps->napper_known = true;
	ps->napper = pthread_self();
	pset_nap(ps, true);
	for (i = 0; i < ps->n; i++) {
		ep = ps->v[i];
		sdr_ep_touch(ep);
		pthread_mutex_lock(&ep->lock);
		atomic_store(&ep->app_waits, true);
		busy |= sdr_ep_drive_again(ep) || sdr_ep_arm(ep);
		sdr_ep_alarm_exact(ep);
		if (ep->broken)
			sdr_wait_unwatch(ps->wait, ep);
		pthread_mutex_unlock(&ep->lock);
	}
	pthread_mutex_unlock(&ps->lock);
	return busy;
}
