/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Wait objects of queues and counters.
 *
 * Publishing costs one load when nobody can be asleep.  A sleeper first counts itself in `sleepers`, then
 * looks at the queue again, then sleeps on the eventfd; a publisher first publishes, then looks at `sleepers`:
 * one of the two sees the other, as all four are sequentially consistent or under the queue's lock.  A raise
 * is not repeated before somebody has drained it.  The eventfd is made when the first sleeper or FI_GETWAIT
 * needs it, so that ten thousand queues do not cost descriptors.
 *
 * What FI_GETWAIT hands out for a queue that drives endpoints is an epoll descriptor over the eventfd, the
 * endpoints' own and a timer: the application that sleeps on it drives them when it wakes, and no other thread
 * stands in between.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "sdr_fi.h"

uint64_t sdr_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

int sdr_wait_init(struct sdr_wait *w, enum fi_wait_obj obj)
{
	pthread_mutexattr_t attr;
	int ret = 0;

	w->obj = obj;
	w->fd = -1;
	w->epfd = -1;
	w->tfd = -1;
	atomic_init(&w->sleepers, 0);
	atomic_init(&w->raised, false);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE); /* applications read queues while they hold it */
	pthread_mutex_init(&w->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_cond_init(&w->cond, NULL);
	switch (obj) {
	case FI_WAIT_NONE:
	case FI_WAIT_UNSPEC:
	case FI_WAIT_YIELD:
	case FI_WAIT_MUTEX_COND:
		break;
	case FI_WAIT_FD:
		ret = sdr_wait_fd(w);
		break;
	default:
		ret = -FI_ENOSYS; /* wait sets, poll descriptors */
		break;
	}
	if (ret < 0) {
		sdr_wait_fini(w);
		return ret;
	}
	return 0;
}

void sdr_wait_fini(struct sdr_wait *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->epfd >= 0)
		close(w->epfd);
	if (w->tfd >= 0)
		close(w->tfd);
	w->fd = w->epfd = w->tfd = -1;
	pthread_cond_destroy(&w->cond);
	pthread_mutex_destroy(&w->mutex);
}

int sdr_wait_fd(struct sdr_wait *w)
{
	int fd;

	pthread_mutex_lock(&w->mutex);
	if (w->fd < 0) {
		fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		w->fd = fd >= 0 ? fd : -errno;
	}
	fd = w->fd;
	if (fd < 0)
		w->fd = -1;
	pthread_mutex_unlock(&w->mutex);
	return fd;
}

void sdr_wait_raise(struct sdr_wait *w)
{
	uint64_t one = 1;

	if (w->obj == FI_WAIT_FD || atomic_load(&w->sleepers)) {
		if (!atomic_exchange(&w->raised, true) && w->fd >= 0 && write(w->fd, &one, sizeof(one)) < 0)
			atomic_store(&w->raised, false);
	}
	if (w->obj == FI_WAIT_MUTEX_COND) {
		pthread_mutex_lock(&w->mutex);
		pthread_cond_broadcast(&w->cond);
		pthread_mutex_unlock(&w->mutex);
	}
}

void sdr_wait_drain(struct sdr_wait *w)
{
	uint64_t n;

	/* always read: a publisher may have raised and not written yet when somebody drained before */
	if (w->fd >= 0 && read(w->fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return;
	atomic_store(&w->raised, false);
}

int sdr_wait_watch(struct sdr_wait *w, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (w->epfd < 0 || fd < 0)
		return 0;
	if (epoll_ctl(w->epfd, EPOLL_CTL_ADD, fd, &ev) && errno != EEXIST)
		return -errno;
	return 0;
}

void sdr_wait_unwatch(struct sdr_wait *w, int fd)
{
	struct epoll_event ev = { .events = 0 };

	if (w->epfd >= 0 && fd >= 0)
		epoll_ctl(w->epfd, EPOLL_CTL_DEL, fd, &ev);
}

int sdr_wait_drives(struct sdr_wait *w)
{
	int ret;

	if (w->obj != FI_WAIT_FD)
		return 0;
	w->epfd = epoll_create1(EPOLL_CLOEXEC);
	w->tfd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (w->epfd < 0 || w->tfd < 0)
		return -errno;
	ret = sdr_wait_watch(w, w->fd);
	return ret ? ret : sdr_wait_watch(w, w->tfd);
}

void sdr_wait_arm(struct sdr_wait *w, uint64_t ns)
{
	struct itimerspec it = { .it_value = { 0, 0 } };

	if (w->tfd < 0)
		return;
	if (ns != UINT64_MAX) {
		it.it_value.tv_sec = (time_t)(ns / 1000000000ull);
		it.it_value.tv_nsec = (long)(ns % 1000000000ull);
		if (!ns)
			it.it_value.tv_nsec = 1; /* zero would disarm */
	}
	timerfd_settime(w->tfd, 0, &it, NULL); /* what it had counted is forgotten: not readable any more */
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
