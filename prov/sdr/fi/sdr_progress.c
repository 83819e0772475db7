/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The progress thread, one for a domain: it works for applications that are busy elsewhere.  With
 * manual progress, and nobody on a condition variable, it does so only for those whose peers would
 * give them up (ep->look_ns).  A domain that is linked with others (FI_PEER) has none.
 *
 * Applications drive endpoints themselves by reading (sdr_pset.c), and the thread keeps out of
 * their way: an endpoint that the application drove since the thread looked last is left alone
 * until it has not driven it for SDR_GUARD_NS, or half that, of which the alarm tells
 * (SDR_WATCH_GUARD); one on which the application sleeps in a blocking read for as long as it does;
 * one on whose descriptor it said it would sleep (fi_trywait) until it has let an event pass.
 * Posting is not driving.  Only one that was quiet is run by the thread and watched: its two
 * descriptors are in thread_set, and as long as they are, what happens to the endpoint reaches the
 * thread through its alarm (SDR_WATCH_THREAD), like any sleeper.
 *
 * So of each endpoint the thread either watches the descriptors, or the alarm alone, or looks
 * again after a back-off, or has left it to blocking reads.  Of these the last one to go wakes it:
 * the thread says that it relies on them (SDR_WATCH_AWAY) in the word that counts them and only
 * while it is not zero, and who takes the count to zero sees that in the same step. There is
 * nothing that it could miss between a look and its sleep: thread_fd stays readable until it is
 * read.
 *
 * The thread blocks all signals, and holds eps_lock while it runs endpoints, never while it
 * sleeps.  A fork waits for that lock (sdr_threads_hold).  A child process has no thread and never
 * waits for one.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "uc/sdr_uc_thread.h"
#include "sdr_progress.h"
#include "sdr_alarm.h"
#include "sdr_conds.h"
#include "sdr_domain.h"
#include "sdr_ep.h"
#include "sdr_ep_progress.h"
#include "sdr_prov.h"
#include "sdr_held.h"

/* rounds without a pause while there is work, before the lists are looked at again */
#define SDR_THREAD_ROUNDS 64
/* until the mutex of a condition is tried again; doubles up to the back-off */
#define SDR_THREAD_COND_NS 50000ull

/* What of an endpoint is in the thread's set. */
enum sdr_thread_in {
	SDR_THREAD_OUT,	  /* nothing */
	SDR_THREAD_GUARD, /* the alarm: the application drives */
	SDR_THREAD_FULL,  /* that and the engine's descriptor */
};

/* ---- the thread ------------------------------------------------------------------------------ */

static pthread_mutex_t sdr_threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sdr_domain *sdr_threads; /* domains with a thread */

/* True when the application has driven this endpoint since the last look. */
static bool sdr_thread_app_active(struct sdr_ep *ep)
{
	uint32_t polls = atomic_load_explicit(&ep->app_polls, memory_order_relaxed);
	bool active = polls != ep->thread_seen;

	ep->thread_seen = polls;
	if (active)
		ep->thread_grace = 0;
	return active;
}

/*
 * The application sleeps on a descriptor of ours and will be woken by what wakes us.  First watch
 * without running; once woken, leave it one back-off's time to come; only then believe that it does
 * not.  Returns true while it is left alone; *watch: its descriptors are to be watched.  Under
 * ep->lock.
 */
static bool sdr_thread_app_waits(struct sdr_ep *ep, bool *watch)
{
	if (!atomic_load(&ep->app_waits))
		return false;
	switch (ep->thread_grace++) {
	case 0:
		*watch = true;
		return true;
	case 1:
		*watch = false;
		return true;
	default:
		ep->thread_grace = 0;
		atomic_store(&ep->app_waits, false);
		return false;
	}
}

/*
 * Manual progress: it drove since the last look, or sleeps on what wakes it.  Nothing wakes the
 * thread meanwhile: it looks again after a while.
 */
static bool sdr_thread_app_there(struct sdr_ep *ep)
{
	bool sleeps = atomic_load(&ep->watch) & SDR_WATCH_SLEEPERS;

	sleeps |= atomic_exchange(&ep->app_waits, false); /* which it may never do: believed once */

	return sdr_thread_app_active(ep) || sleeps;
}

/* True: the application sleeps on this endpoint in a blocking read, and will say when it leaves. */
static bool sdr_thread_app_sleeps(struct sdr_ep *ep)
{
	unsigned int v = atomic_load(&ep->watch);

	while (v & SDR_WATCH_SLEEPERS) {
		if (atomic_compare_exchange_weak(&ep->watch, &v, v | SDR_WATCH_AWAY))
			return true;
	}
	return false;
}

/* What is to be in the set; 0 or a negative errno, and then it is what it was. */
static int sdr_thread_put(struct sdr_domain *dom, struct sdr_ep *ep, enum sdr_thread_in in)
{
	struct epoll_event ev = { .events = EPOLLIN };

	SDR_ASSERT_HELD(&dom->eps_lock);
	if (in && !ep->thread_in && epoll_ctl(dom->thread_set, EPOLL_CTL_ADD, ep->alarm_fd, &ev))
		return -errno;
	if (in == SDR_THREAD_FULL && ep->thread_in != SDR_THREAD_FULL &&
	    epoll_ctl(dom->thread_set, EPOLL_CTL_ADD, ep->fd, &ev)) {
		if (!ep->thread_in)
			epoll_ctl(dom->thread_set, EPOLL_CTL_DEL, ep->alarm_fd, &ev);
		return -errno;
	}
	if (in != SDR_THREAD_FULL && ep->thread_in == SDR_THREAD_FULL)
		epoll_ctl(dom->thread_set, EPOLL_CTL_DEL, ep->fd, &ev);
	if (!in && ep->thread_in)
		epoll_ctl(dom->thread_set, EPOLL_CTL_DEL, ep->alarm_fd, &ev);
	ep->thread_in = in;
	return 0;
}

/* ep->lock, because who sees the flag counts on the alarm. */
static int sdr_thread_watch(struct sdr_domain *dom, struct sdr_ep *ep)
{
	int ret = sdr_thread_put(dom, ep, SDR_THREAD_FULL);

	if (ret)
		return ret;
	atomic_fetch_and(&ep->watch, ~SDR_WATCH_GUARD);
	atomic_fetch_or(&ep->watch, SDR_WATCH_THREAD);
	return 0;
}

/* The application drives: nothing of the endpoint wakes the thread until it stops. */
static int sdr_thread_guard(struct sdr_domain *dom, struct sdr_ep *ep)
{
	int ret;

	pthread_mutex_lock(&ep->lock);
	ret = ep->broken ? -EIO : sdr_thread_put(dom, ep, SDR_THREAD_GUARD);
	if (!ret) {
		atomic_fetch_and(&ep->watch, ~SDR_WATCH_THREAD);
		sdr_ep_alarm_guard(ep);
	}
	pthread_mutex_unlock(&ep->lock);
	return ret;
}

/* The guard has not rung: the application drives. */
static bool sdr_thread_guarded(struct sdr_ep *ep)
{
	bool rang;

	if (ep->thread_in != SDR_THREAD_GUARD)
		return false;
	pthread_mutex_lock(&ep->lock);
	rang = sdr_ep_alarm_rang(ep);
	pthread_mutex_unlock(&ep->lock);
	ep->thread_seen = atomic_load_explicit(&ep->app_polls, memory_order_relaxed);
	ep->thread_grace = 0;
	return !rang;
}

void sdr_thread_forget(struct sdr_domain *dom, struct sdr_ep *ep)
{
	SDR_ASSERT_HELD(&dom->eps_lock);
	if (!ep->thread_in)
		return;
	atomic_fetch_and(&ep->watch, ~(SDR_WATCH_THREAD | SDR_WATCH_GUARD));
	sdr_thread_put(dom, ep, SDR_THREAD_OUT);
}

/*
 * One look at an endpoint: true when something happened that needs another.  Lowers *wait_ns to
 * the time after which it must be looked at again without having been heard of.
 */
static bool sdr_thread_look_ep(struct sdr_domain *dom, struct sdr_ep *ep, uint64_t *wait_ns)
{
	uint64_t again = UINT64_MAX;
	bool watch = true, work = false, alone;

	if (ep->look_ns && sdr_thread_app_there(ep)) {
		sdr_thread_forget(dom, ep);
		again = ep->look_ns;
		goto out;
	}
	if (sdr_thread_app_sleeps(ep)) {
		ep->thread_seen = atomic_load_explicit(&ep->app_polls, memory_order_relaxed);
		sdr_thread_forget(dom, ep);
		return false;
	}
	if (sdr_thread_guarded(ep))
		return false;
	if (sdr_thread_app_active(ep)) {
		if (!sdr_thread_guard(dom, ep))
			return false;
		sdr_thread_forget(dom, ep);
		again = SDR_THREAD_BACKOFF_NS;
		goto out;
	}
	pthread_mutex_lock(&ep->lock);
	if (!sdr_thread_app_waits(ep, &watch))
		work = sdr_ep_drive_again(ep);
	if (ep->broken) {
		sdr_thread_forget(dom, ep); /* nothing comes any more */
	} else if (!watch || sdr_ep_backpressured(ep) || sdr_thread_watch(dom, ep)) {
		sdr_thread_forget(dom, ep);
		again = SDR_THREAD_BACKOFF_NS;
	}
	alone = !(atomic_load(&ep->watch) & ~(SDR_WATCH_IDLE | SDR_WATCH_THREAD));
	work |= alone && ep->thread_in == SDR_THREAD_FULL && sdr_ep_soon(ep);
	if (!work || !alone)
		sdr_ep_alarm_round(ep);
	if (!work && watch)
		work = sdr_ep_arm(ep);
	pthread_mutex_unlock(&ep->lock);
out:
	if (again < *wait_ns)
		*wait_ns = again;
	return work;
}

static bool sdr_thread_look(struct sdr_domain *dom, uint64_t *wait_ns)
{
	bool work = false;
	unsigned int i;

	*wait_ns = UINT64_MAX;
	pthread_mutex_lock(&dom->eps_lock);
	for (i = 0; i < dom->neps; i++)
		work |= sdr_thread_look_ep(dom, dom->eps[i], wait_ns);
	pthread_mutex_unlock(&dom->eps_lock);
	return work;
}

static void sdr_thread_sleep(struct sdr_domain *dom, uint64_t ns)
{
	struct pollfd pfd[2] = { { .fd = atomic_load(&dom->thread_fd), .events = POLLIN },
				 { .fd = dom->thread_set, .events = POLLIN } };
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000ull),
			       .tv_nsec = (long)(ns % 1000000000ull) };
	uint64_t drain;

	if (ppoll(pfd, 2, ns == UINT64_MAX ? NULL : &ts, NULL) > 0 && pfd[0].revents &&
	    read(pfd[0].fd, &drain, sizeof(drain)) < 0)
		FI_DBG(&sdr_prov, FI_LOG_DOMAIN, "the wake-up was for another look\n");
}

static void *sdr_thread_main(void *arg)
{
	uint64_t wait_ns, cond_ns = SDR_THREAD_COND_NS;
	struct sdr_domain *dom = arg;
	unsigned int rounds = 0;
	bool work;

	prctl(PR_SET_NAME, "sdr-progress");
	while (!atomic_load(&dom->thread_stop)) {
		work = sdr_thread_look(dom, &wait_ns);
		if (work && ++rounds < SDR_THREAD_ROUNDS)
			continue;
		if (work) {
			sched_yield();
			wait_ns = 0;
		}
		rounds = 0;
		if (!sdr_conds_signal(dom)) {
			cond_ns = SDR_THREAD_COND_NS;
		} else {
			wait_ns = cond_ns < wait_ns ? cond_ns : wait_ns;
			cond_ns = 2 * cond_ns < SDR_THREAD_BACKOFF_NS ? 2 * cond_ns
								      : SDR_THREAD_BACKOFF_NS;
		}
		sdr_thread_sleep(dom, wait_ns);
	}
	return NULL;
}

void sdr_thread_wake(struct sdr_domain *dom)
{
	int fd = atomic_load(&dom->thread_fd);
	uint64_t one = 1;

	if (fd >= 0 && write(fd, &one, sizeof(one)) < 0)
		FI_DBG(&sdr_prov, FI_LOG_DOMAIN, "progress thread has been woken already\n");
}

/*
 * A fork waits until no thread runs an endpoint: the child, which has no thread, would find the
 * endpoint locked for ever.
 */
static void sdr_threads_hold(void)
{
	struct sdr_domain *dom;

	pthread_mutex_lock(&sdr_threads_lock);
	for (dom = sdr_threads; dom; dom = dom->next)
		pthread_mutex_lock(&dom->eps_lock);
}

static void sdr_threads_let_go(void)
{
	struct sdr_domain *dom;

	for (dom = sdr_threads; dom; dom = dom->next)
		pthread_mutex_unlock(&dom->eps_lock);
	pthread_mutex_unlock(&sdr_threads_lock);
}

static void sdr_threads_once(void)
{
	if (pthread_atfork(sdr_threads_hold, sdr_threads_let_go, sdr_threads_let_go))
		FI_WARN(&sdr_prov, FI_LOG_DOMAIN,
			"no memory to watch for fork: a child should not use what its parent opened\n");
}

int sdr_thread_start(struct sdr_domain *dom)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int ret = 0;

	pthread_once(&once, sdr_threads_once);
	pthread_mutex_lock(&dom->thread_lock);
	if (dom->thread_on)
		goto out;
	if (dom->thread_set < 0)
		dom->thread_set = epoll_create1(EPOLL_CLOEXEC);
	if (dom->thread_set >= 0 && atomic_load(&dom->thread_fd) < 0)
		atomic_store(&dom->thread_fd, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
	if (dom->thread_set < 0 || atomic_load(&dom->thread_fd) < 0) {
		ret = -errno;
		goto out;
	}
	atomic_store(&dom->thread_stop, false);
	ret = -sdr_uc_thread_create(&dom->thread, sdr_thread_main, dom);
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
	if (atomic_load(&dom->thread_fd) >= 0)
		close(atomic_load(&dom->thread_fd));
	if (dom->thread_set >= 0)
		close(dom->thread_set);
	atomic_store(&dom->thread_fd, -1);
	dom->thread_set = -1;
}

void sdr_thread_stop_all(void)
{
	struct sdr_domain *dom;

	pthread_mutex_lock(&sdr_threads_lock); /* of a forked child, too: sdr_threads_let_go */
	while ((dom = sdr_threads)) {
		sdr_threads = dom->next;
		pthread_mutex_unlock(&sdr_threads_lock);
		sdr_thread_join(dom);
		pthread_mutex_lock(&sdr_threads_lock);
	}
	pthread_mutex_unlock(&sdr_threads_lock);
}
