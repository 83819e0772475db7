/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * When an endpoint wants its next round, and its alarm: a timer descriptor that becomes readable
 * when the endpoint wants a round.
 *
 * What sleeps on an endpoint, a blocking read, an application on the descriptor of FI_GETWAIT or
 * the progress thread, sleeps on two descriptors: the engine's and this one.  No sleeper has a
 * deadline of its own, so none has to be notified when it changes: a post, a cancelled receive or
 * another thread's round sets the alarm forward, and all sleepers have heard of it.  With something
 * left to send it rings at once.  A thread that is the only sleeper does not sleep when it would
 * ring within SDR_NAP_NS: it runs another round instead.
 *
 * ep->watch counts and names those that rely on it.  They enter, then run a round under ep->lock
 * and set the alarm before they release it; a thread that changes the endpoint looks at ep->watch
 * under the same lock, after the change.  So one of the two sets the alarm for the deadline as it
 * is when both are through: who has looked and does not sleep yet finds the descriptor readable.
 * With no sleeper it costs one load.  To leave takes no lock: an alarm without a sleeper does no
 * harm.
 *
 * An alarm is only ever too early.  What moves the deadline back between two rounds leaves it, and
 * so does a round of a thread that only reads, unless it has rung.  One that is about to sleep sets
 * it to the deadline as it is: one timer call a sleep, which is cheaper than it looks, as it takes
 * about as long as an answer from the same host, and that then finds the sleeper awake (measured:
 * without it two processes that block took two to three times as long for a round trip). One that
 * rang and for which no thread sleeps any more is stopped: it is in the descriptors that
 * applications poll.
 *
 * A worker that has finished what the endpoint waits for (sdr_rel_cbs.wake) rings at once: it sets
 * a flag and then the timer.  Who sets the timer looks at the flag afterwards, so that it cannot
 * silence the ring; the next round takes the flag first and then finds what it was for.
 *
 * A round of the application rings for the progress thread, when no other thread sleeps, after the
 * back-off only: it would see that the application drives, and go.  So the thread finds out once,
 * whatever it is that the application polls for, and from then on the alarm guards
 * (SDR_WATCH_GUARD): each round finds it set to some milliseconds from now, and sets it forward
 * every two.  It rings when no round has come for that long, and the thread takes over; while the
 * application polls, the thread never wakes.  A blocking read keeps the guard, too, as long as its
 * own deadline is not sooner: short sleeps set no timer at all.
 */
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "rel/sdr_rel.h"
#include "sdk/sdr_sdk.h"
#include "uc/sdr_uc.h"

#include "sdr_alarm.h"
#include "sdr_cq.h"
#include "sdr_ep.h"
#include "sdr_link.h"
#include "sdr_progress.h"
#include "sdr_held.h"

/* until an endpoint with too much unread is looked at again */
#define SDR_BACKPRESSURE_NS 10000000ull
/* a shorter sleep costs more than the round or two that it spares: the pace of near paths */
#define SDR_NAP_NS 5000ull

bool sdr_ep_backpressured(const struct sdr_ep *ep)
{
	return (ep->rx_cq &&
		atomic_load_explicit(&ep->rx_cq->count, memory_order_relaxed) >= SDR_CQ_SIZE_MAX) ||
	       (ep->tx_cq &&
		atomic_load_explicit(&ep->tx_cq->count, memory_order_relaxed) >= SDR_CQ_SIZE_MAX);
}

uint64_t sdr_ep_due(struct sdr_ep *ep)
{
	uint64_t ns, due;

	SDR_ASSERT_HELD(&ep->lock);
	if (!ep->enabled || ep->broken)
		return UINT64_MAX;
	if (ep->rel && !sdr_ep_backpressured(ep)) {
		ns = sdr_rel_deadline(ep->rel);
		return ep->hushed && sdr_rel_lull(ep->rel) < ns ? sdr_rel_lull(ep->rel) : ns;
	}
	ns = ep->rel ? SDR_BACKPRESSURE_NS : sdr_context_timeout(ep->ctx);
	ns = ns == UINT64_MAX ? ns : ep->uc->ops->now(ep->uc) + ns;
	due = ep->links ? ep->links->due(ep) : UINT64_MAX;
	return due < ns ? due : ns;
}

int sdr_ep_alarm_open(struct sdr_ep *ep)
{
	if (ep->alarm_fd >= 0)
		return 0;
	ep->alarm_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	ep->alarm_due = UINT64_MAX;
	return ep->alarm_fd < 0 ? -errno : 0;
}

void sdr_ep_alarm_close(struct sdr_ep *ep)
{
	if (ep->alarm_fd >= 0)
		close(ep->alarm_fd);
	ep->alarm_fd = -1;
}

static void alarm_at_once(int fd)
{
	static const struct itimerspec soon = { .it_value = { 0, 1 } };

	(void)timerfd_settime(fd, 0, &soon, NULL);
}

static void alarm_set(struct sdr_ep *ep, uint64_t due)
{
	struct itimerspec it = { .it_value = { 0, 0 } };
	uint64_t now, ns;

	SDR_ASSERT(ep->alarm_fd >= 0);
	if (due != UINT64_MAX) {
		now = ep->uc->ops->now(ep->uc);
		ns = due > now ? due - now : 1; /* zero would disarm */
		it.it_value.tv_sec = (time_t)(ns / 1000000000ull);
		it.it_value.tv_nsec = (long)(ns % 1000000000ull);
	}
	/* what it had counted is forgotten: not readable any more */
	if (timerfd_settime(ep->alarm_fd, 0, &it, NULL) == 0)
		ep->alarm_due = due;
	if (atomic_load(&ep->alarm_rung)) /* and was silenced by this, perhaps */
		alarm_at_once(ep->alarm_fd);
}

void sdr_ep_alarm_ring(struct sdr_ep *ep)
{
	atomic_store(&ep->alarm_rung, true);
	alarm_at_once(ep->alarm_fd);
}

void sdr_ep_alarm_heard(struct sdr_ep *ep)
{
	SDR_ASSERT_HELD(&ep->lock);
	if (!atomic_load_explicit(&ep->alarm_rung, memory_order_relaxed))
		return;
	atomic_store(&ep->alarm_rung, false);
	ep->alarm_due = 0; /* it has rung, and is set anew after the round */
}

/*
 * Somebody is about to sleep, and the alarm will be set: what arrives while a stream comes over a
 * long path need not ring.  Nobody does: it must.
 */
static void alarm_hush(struct sdr_ep *ep, bool sleeps)
{
	bool on = sleeps && ep->enabled && !ep->broken && ep->rel && sdr_rel_lull(ep->rel) != 0;

	if (on == ep->hushed)
		return;
	ep->hushed = on;
	if (ep->enabled && ep->uc->ops->hush)
		ep->uc->ops->hush(ep->uc, on);
}

bool sdr_ep_soon(struct sdr_ep *ep)
{
	uint64_t due;

	SDR_ASSERT_HELD(&ep->lock);
	alarm_hush(ep, true); /* a lull that is over is no deadline */
	due = sdr_ep_due(ep);
	return due != UINT64_MAX && due <= ep->uc->ops->now(ep->uc) + SDR_NAP_NS;
}

/* ns of the engine's clock, as good as now inside a round or after a post. */
static uint64_t alarm_time(struct sdr_ep *ep)
{
	return ep->rel ? sdr_rel_time(ep->rel) : ep->uc->ops->now(ep->uc);
}

/* It guards if it rings within SDR_GUARD_NS, and need not be set anew for half of that. */
static bool alarm_guards(const struct sdr_ep *ep, uint64_t now)
{
	return ep->alarm_due > now + SDR_GUARD_NS / 2 && ep->alarm_due <= now + SDR_GUARD_NS;
}

/* When it is to ring for those that rely on it. */
static uint64_t alarm_want(struct sdr_ep *ep, unsigned int watch)
{
	uint64_t due = watch & ~SDR_WATCH_IDLE ? sdr_ep_due(ep) : UINT64_MAX, now, guard;

	if (!(watch & SDR_WATCH_GUARD) || !ep->enabled)
		return due;
	now = alarm_time(ep);
	guard = alarm_guards(ep, now) ? ep->alarm_due : now + SDR_GUARD_NS;
	return due < guard ? due : guard;
}

void sdr_ep_alarm_guard(struct sdr_ep *ep)
{
	SDR_ASSERT_HELD(&ep->lock);
	atomic_fetch_or(&ep->watch, SDR_WATCH_GUARD);
	if (ep->enabled)
		alarm_set(ep, ep->uc->ops->now(ep->uc) + SDR_GUARD_NS);
}

bool sdr_ep_alarm_rang(struct sdr_ep *ep)
{
	SDR_ASSERT_HELD(&ep->lock);
	if (!ep->enabled || ep->alarm_due <= ep->uc->ops->now(ep->uc))
		return true;
	/* A worker's ring is for who runs the next round: the application, while it drives. */
	if (!(atomic_load(&ep->watch) & ~SDR_WATCH_IDLE) && atomic_exchange(&ep->alarm_rung, false))
		alarm_set(ep, ep->alarm_due);
	return false;
}

void sdr_ep_alarm_sooner(struct sdr_ep *ep)
{
	uint64_t due;

	if (!(atomic_load_explicit(&ep->watch, memory_order_relaxed) & ~SDR_WATCH_IDLE))
		return;
	due = sdr_ep_due(ep);
	if (due < ep->alarm_due)
		alarm_set(ep, due);
}

void sdr_ep_alarm_round(struct sdr_ep *ep)
{
	unsigned int watch = atomic_load_explicit(&ep->watch, memory_order_relaxed);
	bool rang = ep->alarm_due != UINT64_MAX &&
		    (!ep->enabled || ep->alarm_due <= ep->uc->ops->now(ep->uc));
	uint64_t due;

	SDR_ASSERT_HELD(&ep->lock);
	alarm_hush(ep, watch & ~SDR_WATCH_IDLE);
	due = alarm_want(ep, watch);
	if (due < ep->alarm_due || (due > ep->alarm_due && rang))
		alarm_set(ep, due);
}

void sdr_ep_alarm_exact(struct sdr_ep *ep)
{
	uint64_t due;

	SDR_ASSERT_HELD(&ep->lock);
	alarm_hush(ep, true);
	due = alarm_want(ep, atomic_load(&ep->watch));
	if (due != ep->alarm_due)
		alarm_set(ep, due);
}

static void alarm_drive(struct sdr_ep *ep, unsigned int watch)
{
	uint64_t due, soon;

	if (watch == SDR_WATCH_GUARD && ep->enabled) {
		alarm_hush(ep, false);
		soon = alarm_time(ep);
		if (!alarm_guards(ep, soon))
			alarm_set(ep, soon + SDR_GUARD_NS);
		return;
	}
	if (watch != SDR_WATCH_THREAD) {
		sdr_ep_alarm_round(ep);
		return;
	}
	alarm_hush(ep, false);
	due = sdr_ep_due(ep);
	if (due >= ep->alarm_due)
		return;
	soon = ep->uc->ops->now(ep->uc) + SDR_THREAD_BACKOFF_NS;
	due = due > soon ? due : soon;
	if (due < ep->alarm_due)
		alarm_set(ep, due);
}

void sdr_ep_alarm_driven(struct sdr_ep *ep)
{
	unsigned int watch =
		atomic_load_explicit(&ep->watch, memory_order_relaxed) & ~SDR_WATCH_AWAY;
	const struct sdr_uc_ops *ops = ep->uc->ops;

	SDR_ASSERT_HELD(&ep->lock);
	alarm_drive(ep, watch);
	/* what the round has polled others sleep on */
	if (watch & ~SDR_WATCH_GUARD && ep->enabled && !ep->broken && ops->rearm &&
	    ops->rearm(ep->uc))
		alarm_set(ep, 0);
}
