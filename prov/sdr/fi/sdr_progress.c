/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Who drives endpoints, and when.
 *
 * An application drives them itself: reading a CQ or a counter runs one round of every endpoint bound to it
 * that nobody else is running, and a blocking read sleeps on the engines' descriptors and deadlines until one
 * of them has something to do.  So neither polling nor blocking applications wait for another thread.
 *
 * The progress thread, one for a domain, exists when data progress is automatic or somebody sleeps on a
 * condition variable, and works for applications that are busy elsewhere.  It keeps out of the way of the
 * others: an endpoint that the application drove since the thread looked last is left alone for another
 * SDR_THREAD_BACKOFF_NS (four times that after a while); one on which the application sleeps in a blocking
 * read for as long as it does; one on whose descriptor it said it would sleep (fi_trywait) until it has let an
 * event pass.  Only one that was quiet is run by the thread and watched with its descriptor and deadline.
 * While the thread sleeps for longer than the back-off, whoever gives an endpoint work kicks it.  The thread
 * blocks all signals and holds eps_lock while it runs endpoints, never while it sleeps.  A child process has
 * no thread and never waits for one.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "sdr_fi.h"

#define SDR_THREAD_STREAK 16 /* looks in a row at an active application before the thread looks less often */
#define SDR_THREAD_ROUNDS 64 /* rounds without a pause while there is work, before the lists are looked at again */

/* ---- sets of endpoints ----------------------------------------------------------------------------- */

void sdr_pset_init(struct sdr_pset *ps)
{
	memset(ps, 0, sizeof(*ps));
	pthread_mutex_init(&ps->lock, NULL);
}

void sdr_pset_fini(struct sdr_pset *ps)
{
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
out:
	pthread_mutex_unlock(&ps->lock);
	return ret;
}

void sdr_pset_del(struct sdr_pset *ps, struct sdr_ep *ep)
{
	unsigned int i;

	pthread_mutex_lock(&ps->lock);
	for (i = 0; i < ps->n; i++) {
		if (ps->v[i] == ep) {
			ps->v[i] = ps->v[--ps->n];
			break;
		}
	}
	pthread_mutex_unlock(&ps->lock);
}

void sdr_pset_progress(struct sdr_pset *ps)
{
	struct sdr_ep *ep;
	unsigned int i;
	int ret;

	if (pthread_mutex_trylock(&ps->lock))
		return; /* another thread is doing it */
	for (i = 0; i < ps->n; i++) {
		ep = ps->v[i];
		sdr_ep_touch(ep);
		if (pthread_mutex_trylock(&ep->lock))
			continue;
		ret = sdr_ep_round(ep, NULL);
		pthread_mutex_unlock(&ep->lock);
		if (ret > 0)
			sdr_ep_kick(ep);
	}
	pthread_mutex_unlock(&ps->lock);
}

static void sdr_ns_to_ts(uint64_t ns, struct timespec *ts)
{
	ts->tv_sec = (time_t)(ns / 1000000000ull);
	ts->tv_nsec = (long)(ns % 1000000000ull);
}

int sdr_pset_sleep(struct sdr_pset *ps, struct sdr_wait *w, uint64_t until_ns)
{
	struct sdr_ep *eps[SDR_POLLFDS];
	struct pollfd pfd[SDR_POLLFDS + 1];
	uint64_t wait_ns, left, now;
	struct timespec ts;
	unsigned int i, n = 0;
	int ret;

	now = sdr_mono_ns();
	left = until_ns > now ? until_ns - now : 0;

	pthread_mutex_lock(&ps->lock);
	for (i = 0; i < ps->n && n < SDR_POLLFDS; i++) {
		struct sdr_ep *ep = ps->v[i];

		wait_ns = SDR_THREAD_BACKOFF_NS; /* when someone else runs it: look again soon */
		if (pthread_mutex_trylock(&ep->lock) == 0) {
			if (sdr_ep_round(ep, &wait_ns) > 0)
				wait_ns = 0; /* there may be more, and the caller's entry */
			pthread_mutex_unlock(&ep->lock);
		}
		if (wait_ns < left)
			left = wait_ns;
		if (ep->fd < 0)
			continue;
		atomic_fetch_add(&ep->refs, 1);
		atomic_fetch_add(&ep->app_sleepers, 1);
		eps[n] = ep;
		pfd[n].fd = ep->fd;
		pfd[n++].events = POLLIN;
	}
	/* another sleeper on the same object may take the raise that was meant for this one */
	if ((ps->n > SDR_POLLFDS || atomic_load(&w->sleepers) > 1) && left > SDR_THREAD_BACKOFF_NS)
		left = SDR_THREAD_BACKOFF_NS;
	pthread_mutex_unlock(&ps->lock);

	pfd[n].fd = w->fd;
	pfd[n].events = POLLIN;
	sdr_ns_to_ts(left, &ts);
	ret = ppoll(pfd, n + 1, left == UINT64_MAX ? NULL : &ts, NULL);
	ret = ret < 0 && errno == EINTR ? -FI_EINTR : 0;

	for (i = 0; i < n; i++) {
		sdr_ep_touch(eps[i]);
		atomic_fetch_sub(&eps[i]->app_sleepers, 1);
		sdr_ep_kick(eps[i]);
		sdr_ep_put(eps[i]);
	}
	return ret;
}

void sdr_pset_handover(struct sdr_pset *ps, struct sdr_wait *w)
{
	uint64_t wait_ns, least = UINT64_MAX;
	unsigned int i;

	pthread_mutex_lock(&ps->lock);
	for (i = 0; i < ps->n; i++) {
		struct sdr_ep *ep = ps->v[i];

		wait_ns = SDR_THREAD_BACKOFF_NS;
		sdr_ep_touch(ep);
		if (pthread_mutex_trylock(&ep->lock) == 0) {
			if (sdr_ep_round(ep, &wait_ns) > 0)
				wait_ns = 0;
			atomic_store(&ep->app_waits, true);
			pthread_mutex_unlock(&ep->lock);
			sdr_ep_kick(ep);
		}
		if (wait_ns < least)
			least = wait_ns;
	}
	pthread_mutex_unlock(&ps->lock);
	sdr_wait_arm(w, least);
}

/* ---- the thread ------------------------------------------------------------------------------------ */

static pthread_mutex_t sdr_threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sdr_domain *sdr_threads; /* domains with a thread */

/* True when the application has driven this endpoint since the last look. */
static bool sdr_thread_app_active(struct sdr_ep *ep)
{
	uint32_t polls = atomic_load_explicit(&ep->app_polls, memory_order_relaxed);
	bool active = polls != ep->thread_seen;

	ep->thread_seen = polls;
	if (!active) {
		ep->thread_streak = 0;
		return false;
	}
	ep->thread_grace = 0;
	if (ep->thread_streak < SDR_THREAD_STREAK)
		ep->thread_streak++;
	return true;
}

/*
 * The application sleeps on a descriptor of ours and will be woken by what wakes us.  First watch without
 * running; once woken, leave it one back-off's time to come; only then believe that it does not.  Returns
 * true while it is left alone; *watch: its descriptor is to be watched.  Under ep->lock.
 */
static bool sdr_thread_app_waits(struct sdr_ep *ep, uint64_t *wait_ns, bool *watch)
{
	if (!atomic_load(&ep->app_waits))
		return false;
	switch (ep->thread_grace++) {
	case 0:
		*wait_ns = sdr_ep_idle_ns(ep);
		*watch = true;
		return true;
	case 1:
		*wait_ns = SDR_THREAD_BACKOFF_NS;
		*watch = false;
		return true;
	default:
		ep->thread_grace = 0;
		atomic_store(&ep->app_waits, false);
		return false;
	}
}

/*
 * One look at all endpoints: runs the quiet ones, collects their descriptors.  Returns the number of
 * descriptors; *wait_ns: how long to sleep at the most; *work: something happened.
 */
static unsigned int sdr_thread_look(struct sdr_domain *dom, struct pollfd *pfd, uint64_t *wait_ns, bool *work)
{
	uint64_t w, backoff;
	unsigned int i, n = 0;
	bool watch;

	*wait_ns = UINT64_MAX;
	*work = false;
	pthread_mutex_lock(&dom->eps_lock);
	for (i = 0; i < dom->neps; i++) {
		struct sdr_ep *ep = dom->eps[i];

		if (atomic_load(&ep->app_sleepers) > 0) {
			ep->thread_seen = atomic_load_explicit(&ep->app_polls, memory_order_relaxed);
			continue; /* it will be kicked when the sleeper leaves */
		}
		if (sdr_thread_app_active(ep) || pthread_mutex_trylock(&ep->lock)) {
			backoff = ep->thread_streak < SDR_THREAD_STREAK ? SDR_THREAD_BACKOFF_NS
									: 4 * SDR_THREAD_BACKOFF_NS;
			if (backoff < *wait_ns)
				*wait_ns = backoff;
			continue;
		}
		w = UINT64_MAX;
		watch = true;
		if (!sdr_thread_app_waits(ep, &w, &watch) && sdr_ep_round(ep, &w) > 0)
			*work = true;
		pthread_mutex_unlock(&ep->lock);
		if (w < *wait_ns)
			*wait_ns = w;
		if (watch && ep->fd >= 0 && n < SDR_POLLFDS) {
			pfd[n].fd = ep->fd;
			pfd[n++].events = POLLIN;
		}
	}
	if (dom->neps > SDR_POLLFDS && *wait_ns > SDR_THREAD_BACKOFF_NS)
		*wait_ns = SDR_THREAD_BACKOFF_NS;
	pthread_mutex_unlock(&dom->eps_lock);
	return n;
}

/*
 * Before a long sleep: says so, and looks once more whether somebody came who did not see it.  Whoever comes
 * later sees it and wakes the thread.
 */
static bool sdr_thread_may_sleep(struct sdr_domain *dom)
{
	bool quiet = true;
	unsigned int i;

	atomic_store(&dom->thread_asleep, true);
	pthread_mutex_lock(&dom->eps_lock);
	for (i = 0; i < dom->neps && quiet; i++) {
		struct sdr_ep *ep = dom->eps[i];

		if (atomic_load(&ep->app_sleepers) > 0)
			continue;
		if (pthread_mutex_trylock(&ep->lock)) {
			quiet = false;
			continue;
		}
		quiet = ep->thread_seen == atomic_load_explicit(&ep->app_polls, memory_order_relaxed);
		pthread_mutex_unlock(&ep->lock);
	}
	pthread_mutex_unlock(&dom->eps_lock);
	return quiet;
}

static void *sdr_thread_main(void *arg)
{
	struct pollfd pfd[SDR_POLLFDS + 1];
	struct sdr_domain *dom = arg;
	unsigned int n, rounds = 0;
	struct timespec ts;
	uint64_t wait_ns, drain;
	bool work;

	prctl(PR_SET_NAME, "sdr-progress");
	prctl(PR_SET_TIMERSLACK, 1ul); /* deadlines below are paced packets */
	while (!atomic_load(&dom->thread_stop)) {
		n = sdr_thread_look(dom, pfd, &wait_ns, &work);
		if (work && ++rounds < SDR_THREAD_ROUNDS)
			continue;
		if (work)
			sched_yield();
		rounds = 0;
		pfd[n].fd = dom->thread_fd;
		pfd[n].events = POLLIN;
		pfd[n].revents = 0;
		if (work)
			wait_ns = 0;
		if (wait_ns > SDR_THREAD_BACKOFF_NS && !sdr_thread_may_sleep(dom))
			wait_ns = SDR_THREAD_BACKOFF_NS;
		sdr_ns_to_ts(wait_ns, &ts);
		if (ppoll(pfd, n + 1, wait_ns == UINT64_MAX ? NULL : &ts, NULL) > 0 && pfd[n].revents &&
		    read(dom->thread_fd, &drain, sizeof(drain)) < 0)
			FI_DBG(&sdr_prov, FI_LOG_DOMAIN, "the wake-up was for another look\n");
		atomic_store(&dom->thread_asleep, false);
	}
	return NULL;
}

void sdr_thread_wake(struct sdr_domain *dom)
{
	uint64_t one = 1;

	if (dom->thread_fd >= 0 && write(dom->thread_fd, &one, sizeof(one)) < 0)
		FI_DBG(&sdr_prov, FI_LOG_DOMAIN, "progress thread has been woken already\n");
}

int sdr_thread_start(struct sdr_domain *dom)
{
	sigset_t all, old;
	int ret = 0;

	pthread_mutex_lock(&dom->thread_lock);
	if (dom->thread_on)
		goto out;
	if (dom->thread_fd < 0)
		dom->thread_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (dom->thread_fd < 0) {
		ret = -errno;
		goto out;
	}
	atomic_store(&dom->thread_stop, false);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = -pthread_create(&dom->thread, NULL, sdr_thread_main, dom);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret)
		goto out;
	dom->thread_pid = getpid();
	dom->thread_on = true;
	pthread_mutex_lock(&sdr_threads_lock);
	dom->next = sdr_threads;
	sdr_threads = dom;
	pthread_mutex_unlock(&sdr_threads_lock);
out:
	pthread_mutex_unlock(&dom->thread_lock);
	return ret;
}

static void sdr_thread_join(struct sdr_domain *dom)
{
	if (!dom->thread_on)
		return;
	dom->thread_on = false;
	if (dom->thread_pid != getpid())
		return; /* the thread stayed in the parent */
	atomic_store(&dom->thread_stop, true);
	sdr_thread_wake(dom);
	pthread_join(dom->thread, NULL);
}

void sdr_thread_stop(struct sdr_domain *dom)
{
	struct sdr_domain **p;

	pthread_mutex_lock(&sdr_threads_lock);
	for (p = &sdr_threads; *p; p = &(*p)->next) {
		if (*p == dom) {
			*p = dom->next;
			break;
		}
	}
	pthread_mutex_unlock(&sdr_threads_lock);
	sdr_thread_join(dom);
	if (dom->thread_fd >= 0)
		close(dom->thread_fd);
	dom->thread_fd = -1;
}

void sdr_thread_stop_all(void)
{
	struct sdr_domain *dom;

	/* at exit; a forked child must not touch locks that its parent may have held */
	for (dom = sdr_threads; dom; dom = dom->next)
		sdr_thread_join(dom);
	sdr_threads = NULL;
}
