/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Wait objects of queues and counters.
 *
 * Publishing costs one load when no thread can be asleep.  A blocking read enters first
 * (sdr_wait_enter), then looks at the queue, then sleeps; a publisher first publishes, then looks
 * at `sleepers`: one of the two sees the other, as all four are sequentially consistent or under
 * the queue's lock.  Each sleeper has an eventfd of its own, so that none takes a raise that
 * another one has not seen: they may wait for different things.  What a sleeper publishes itself,
 * by a round that it runs between two sleeps, raises the others only: it looks afterwards.  It
 * sleeps on its eventfd and on the set of the endpoints' descriptors (nap_fd).  Both are made when
 * they are first needed and kept, so that ten thousand queues do not cost descriptors.
 *
 * What FI_GETWAIT hands out for a queue that drives endpoints is an epoll descriptor over an
 * eventfd, raised once until it is drained, and the endpoints' descriptors: the application
 * that sleeps on it drives them when it wakes, and no other thread is in between.
 *
 * The mutex of FI_WAIT_MUTEX_COND is the application's: it may hold it as long as it likes, and
 * call anything meanwhile.  So nothing here waits for it.  A publisher (which may hold any of our
 * locks) tries it; with the mutex it signals, and a thread that looked at the queue before the
 * publication sleeps by now.  Without it a thread may just have looked and be about to sleep: then
 * the object is put into the domain's list, and the progress thread, which a domain with such an
 * object has, tries again until it succeeds.  The mutex is not recursive, because a thread that
 * holds it and publishes by its own post has looked already.  Event queues have no domain: they are
 * written by calls of the application that hold none of our locks, and there the mutex is taken,
 * and recursive.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fi_errno.h>

#include "base/sdr_assert.h"

#include "sdr_wait.h"
#include "sdr_conds.h"
#include "sdr_domain.h"
#include "sdr_ep.h"
#include "sdr_progress.h"

uint64_t sdr_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void wait_mutex_init(struct sdr_wait *w)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, w->dom ? PTHREAD_MUTEX_NORMAL : PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&w->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_cond_init(&w->cond, NULL);
}

int sdr_wait_init(struct sdr_wait *w, enum fi_wait_obj obj, struct sdr_domain *dom)
{
	int ret = 0;

	memset(w, 0, sizeof(*w));
	w->obj = obj;
	w->dom = dom;
	w->fd = -1;
	w->epfd = -1;
	w->nap_fd = -1;
	pthread_mutex_init(&w->lock, NULL);
	wait_mutex_init(w);
	switch (obj) {
	case FI_WAIT_NONE:
	case FI_WAIT_UNSPEC:
	case FI_WAIT_YIELD:
		break;
	case FI_WAIT_MUTEX_COND:
		if (!dom)
			break;
		/* signals, and drives: who sleeps there cannot */
		dom->waits = true;
		ret = sdr_thread_start(dom);
		break;
	case FI_WAIT_FD:
		w->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (w->fd < 0)
			ret = -errno;
		break;
	default:
		ret = -FI_ENOSYS; /* wait sets, poll descriptors */
		break;
	}
	if (ret)
		sdr_wait_fini(w);
	return ret;
}

void sdr_wait_fini(struct sdr_wait *w)
{
	struct sdr_sleeper *s;

	SDR_ASSERT(!atomic_load(&w->sleepers));
	if (w->dom && w->obj == FI_WAIT_MUTEX_COND)
		sdr_conds_del(w->dom, w);
	while ((s = w->list)) {
		w->list = s->next;
		close(s->fd);
		free(s);
	}
	if (w->fd >= 0)
		close(w->fd);
	if (w->epfd >= 0)
		close(w->epfd);
	sdr_wait_nap_close(w);
	w->fd = w->epfd = -1;
	pthread_cond_destroy(&w->cond);
	pthread_mutex_destroy(&w->mutex);
	pthread_mutex_destroy(&w->lock);
}

/* ---- raising --------------------------------------------------------------------------------- */

static void wait_cond_raise(struct sdr_wait *w)
{
	struct sdr_domain *dom = w->dom;

	if (!dom) {
		pthread_mutex_lock(&w->mutex);
		pthread_cond_broadcast(&w->cond);
		pthread_mutex_unlock(&w->mutex);
		return;
	}
	if (!sdr_conds_raise(dom, w))
		sdr_thread_wake(dom);
}

static void wait_sleepers_raise(struct sdr_wait *w)
{
	pthread_t self = pthread_self();
	struct sdr_sleeper *s;
	uint64_t one = 1;

	pthread_mutex_lock(&w->lock);
	for (s = w->list; s; s = s->next) {
		if (!s->on || pthread_equal(s->thread, self) || atomic_load(&s->raised))
			continue;
		if (write(s->fd, &one, sizeof(one)) > 0)
			atomic_store(&s->raised, true);
	}
	pthread_mutex_unlock(&w->lock);
}

void sdr_wait_raise(struct sdr_wait *w)
{
	uint64_t one = 1;

	if (atomic_load(&w->sleepers))
		wait_sleepers_raise(w);
	if (w->obj == FI_WAIT_FD) {
		if (!atomic_exchange(&w->raised, true) && write(w->fd, &one, sizeof(one)) < 0)
			atomic_store(&w->raised, false);
	} else if (w->obj == FI_WAIT_MUTEX_COND) {
		wait_cond_raise(w);
	}
}

void sdr_wait_drain(struct sdr_wait *w)
{
	uint64_t n;

	/*
	 * always read: a publisher may have raised and not written yet when it was drained before
	 */
	if (w->fd >= 0 && read(w->fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return;
	atomic_store(&w->raised, false);
}

/* ---- blocking reads -------------------------------------------------------------------------- */

struct sdr_sleeper *sdr_wait_enter(struct sdr_wait *w)
{
	struct sdr_sleeper *s;

	pthread_mutex_lock(&w->lock);
	for (s = w->list; s && s->on; s = s->next)
		;
	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s)
			goto out;
		s->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (s->fd < 0) {
			free(s);
			s = NULL;
			goto out;
		}
		s->next = w->list;
		w->list = s;
	}
	s->on = true;
	s->thread = pthread_self();
	atomic_fetch_add(&w->sleepers, 1);
out:
	pthread_mutex_unlock(&w->lock);
	return s;
}

/* Under w->lock. */
static void sleeper_drain(struct sdr_sleeper *s)
{
	uint64_t n;

	if (atomic_load(&s->raised) && read(s->fd, &n, sizeof(n)) > 0)
		atomic_store(&s->raised, false);
}

void sdr_wait_leave(struct sdr_wait *w, struct sdr_sleeper *s)
{
	pthread_mutex_lock(&w->lock);
	SDR_ASSERT(s->on && atomic_load(&w->sleepers) > 0);
	sleeper_drain(s);
	s->on = false;
	atomic_fetch_sub(&w->sleepers, 1);
	pthread_mutex_unlock(&w->lock);
}

void sdr_wait_awake(struct sdr_wait *w, struct sdr_sleeper *s)
{
	if (!atomic_load(&s->raised))
		return;
	pthread_mutex_lock(&w->lock);
	sleeper_drain(s);
	pthread_mutex_unlock(&w->lock);
}

int sdr_wait_sleep(struct sdr_wait *w, struct sdr_sleeper *s, uint64_t until_ns)
{
	struct pollfd pfd[2] = { { .fd = s->fd, .events = POLLIN },
				 { .fd = w->nap_fd, .events = POLLIN } };
	struct timespec ts;
	uint64_t now;

	if (until_ns != UINT64_MAX) {
		now = sdr_mono_ns();
		now = until_ns > now ? until_ns - now : 0;
		ts.tv_sec = (time_t)(now / 1000000000ull);
		ts.tv_nsec = (long)(now % 1000000000ull);
	}
	if (ppoll(pfd, w->nap_fd < 0 ? 1 : 2, until_ns == UINT64_MAX ? NULL : &ts, NULL) < 0 &&
	    errno == EINTR)
		return -FI_EINTR;
	return 0;
}

/* ---- endpoints ------------------------------------------------------------------------------- */

static int wait_add(int set, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (set < 0 || fd < 0)
		return 0;
	return epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev) && errno != EEXIST ? -errno : 0;
}

static void wait_del(int set, int fd)
{
	struct epoll_event ev = { .events = 0 };

	if (set >= 0 && fd >= 0)
		epoll_ctl(set, EPOLL_CTL_DEL, fd, &ev);
}

int sdr_wait_watch(struct sdr_wait *w, const struct sdr_ep *ep)
{
	int sets[2] = { w->epfd, w->nap_fd }, i, ret = 0;

	for (i = 0; i < 2 && !ret; i++) {
		ret = wait_add(sets[i], ep->fd);
		if (!ret)
			ret = wait_add(sets[i], ep->alarm_fd);
	}
	return ret;
}

void sdr_wait_unwatch(struct sdr_wait *w, const struct sdr_ep *ep)
{
	int sets[2] = { w->epfd, w->nap_fd }, i;

	for (i = 0; i < 2; i++) {
		wait_del(sets[i], ep->fd);
		wait_del(sets[i], ep->alarm_fd);
	}
}

int sdr_wait_drives(struct sdr_wait *w)
{
	if (w->obj != FI_WAIT_FD)
		return 0;
	w->epfd = epoll_create1(EPOLL_CLOEXEC);
	return w->epfd < 0 ? -errno : wait_add(w->epfd, w->fd);
}

int sdr_wait_nap_open(struct sdr_wait *w)
{
	if (w->nap_fd < 0)
		w->nap_fd = epoll_create1(EPOLL_CLOEXEC);
	return w->nap_fd < 0 ? -errno : 0;
}

void sdr_wait_nap_close(struct sdr_wait *w)
{
	if (w->nap_fd >= 0)
		close(w->nap_fd);
	w->nap_fd = -1;
}

int sdr_wait_control(struct sdr_wait *w, int command, void *arg)
{
	struct fi_mutex_cond *mc = arg;

	if (command == FI_GETWAITOBJ) {
		*(enum fi_wait_obj *)arg = w->obj;
		return 0;
	}
	if (command != FI_GETWAIT)
		return -FI_ENOSYS;
	switch (w->obj) {
	case FI_WAIT_FD:
		*(int *)arg = w->epfd >= 0 ? w->epfd : w->fd;
		return 0;
	case FI_WAIT_MUTEX_COND:
		mc->mutex = &w->mutex;
		mc->cond = &w->cond;
		return 0;
	case FI_WAIT_NONE:
		return -FI_ENODATA;
	default:
		return -FI_ENOSYS;
	}
}
