/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The receive workers of an engine: their sockets, their threads, and what the owner must do so
 * that they and its own calls agree.
 *
 * Sockets are there from the start, threads from the first QP on, as long as somebody works with
 * them (struct sdr_uc_crew); peers are told of the ports only when threads are there to read
 * them.  Threads block all signals and sleep in poll while nothing comes.  A forked child has
 * none, and closes what it inherited without waiting for them.
 *
 * Grace.  A slot is left when no hold names it, a QP when every worker has been seen with nothing
 * in hand: both are looked at after the owner has taken the thing out of the tables, sequentially
 * consistent on both sides.  The owner waits by spinning, since a hold lasts for microseconds, and
 * gives the processor away when it lasts longer: the worker may have lost it.  Workers wait for the
 * owner too, but with nothing in hand: no circle.
 *
 * News.  A worker that reports sets `news` and rings; an owner that is about to sleep looks at it
 * after it has armed the bell (sdr_uc_bell.h).
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/sdr_assert.h"
#include "uc/sdr_uc_pause.h"
#include "uc/sdr_uc_thread.h"
#include "sdr_soft_impl.h"

#define SDR_SOFT_CREW_PATIENCE 20000000u /* ns that a control datagram waits for workers */

/* ---- open, close ----------------------------------------------------------------------------- */

static void sdr_soft_worker_free(struct sdr_soft_worker *w)
{
	if (w->fd >= 0)
		w->s->net->close(w->fd);
	if (w->bell.fd >= 0)
		close(w->bell.fd);
	sdr_soft_rx_free(&w->rx);
	if (w->tx)
		sdr_soft_tx_free(w->tx);
	free(w->tx);
	free(w);
}

static int sdr_soft_worker_open(struct sdr_soft *s, const struct sockaddr_storage *sa,
				uint16_t port_lo, uint16_t port_hi, struct sdr_soft_worker **out,
				const char **what)
{
	struct sockaddr_storage name;
	struct sdr_soft_worker *w;
	int ret;

	*what = "memory of a worker";
	if (posix_memalign((void **)&w, SDR_SOFT_CREW_LINE, sizeof(*w)))
		return -ENOMEM;
	memset(w, 0, sizeof(*w));
	w->s = s;
	w->fd = w->bell.fd = -1;
	ret = sdr_soft_rx_init(&w->rx, &w->own.st, &w->own.xst);
	if (ret)
		goto err;
	w->rx.worker = true;
	w->rx.many = true;
	w->rx.hushed = true;
	w->tx = calloc(1, sizeof(*w->tx));
	ret = w->tx ? sdr_soft_tx_init(s, w->tx) : -ENOMEM;
	if (ret)
		goto err;
	*what = "eventfd";
	w->bell.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = w->bell.fd < 0 ? -errno : 0;
	if (ret)
		goto err;
	w->fd = s->net->open(s, sa, port_lo, port_hi, what);
	ret = w->fd < 0 ? w->fd : 0;
	if (ret)
		goto err;
	*what = "getsockname";
	ret = s->net->name_get(w->fd, &name);
	if (ret)
		goto err;
	/* It lies at the same place in both families. */
	w->port = ntohs(((struct sockaddr_in *)&name)->sin_port);
	s->net->stamp(w->fd);
	*out = w;
	return 0;
err:
	sdr_soft_worker_free(w);
	return ret;
}

int sdr_soft_crew_open(struct sdr_soft *s, uint32_t n, const struct sockaddr_storage *sa,
		       uint16_t port_lo, uint16_t port_hi, const char **what)
{
	struct sdr_soft_crew *c;
	int ret;

	SDR_ASSERT(n && n <= SDR_WORKERS_MAX);
	*what = "memory of workers";
	if (posix_memalign((void **)&c, SDR_SOFT_CREW_LINE, sizeof(*c)))
		return -ENOMEM;
	memset(c, 0, sizeof(*c));
	s->crew = c;
	c->pid = getpid();
	*what = "eventfd";
	c->bell.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->bell.fd < 0) {
		ret = -errno;
		goto err;
	}
	for (; c->n < n; c->n++) {
		ret = sdr_soft_worker_open(s, sa, port_lo, port_hi, &c->worker[c->n], what);
		if (ret)
			goto err;
		c->worker[c->n]->index = c->n;
	}
	return 0;
err:
	sdr_soft_crew_close(s);
	return ret;
}

static void sdr_soft_crew_stop(struct sdr_soft_crew *c)
{
	uint32_t i;

	if (!c->on || c->pid != getpid())
		return;
	__atomic_store_n(&c->stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < c->on; i++)
		sdr_uc_bell_strike(c->worker[i]->bell.fd);
	for (i = 0; i < c->on; i++)
		pthread_join(c->worker[i]->thread, NULL);
	c->on = c->help = 0;
}

void sdr_soft_crew_close(struct sdr_soft *s)
{
	struct sdr_soft_crew *c = s->crew;
	uint32_t i;

	if (!c)
		return;
	sdr_soft_crew_stop(c);
	for (i = 0; i < c->n; i++)
		sdr_soft_worker_free(c->worker[i]);
	for (i = 0; i < c->nold; i++)
		free(c->old[i]);
	if (c->bell.fd >= 0)
		close(c->bell.fd);
	free(c);
	s->crew = NULL;
}

bool sdr_soft_crew_start(struct sdr_soft *s)
{
	struct sdr_soft_crew *c = s->crew;

	if (!c || !c->to.placed || c->pid != getpid())
		return false;
	if (c->on || c->stop)
		return c->on;
	c->help = sdr_soft_share_helpers(s, c->n);
	while (c->on < c->n && !sdr_uc_thread_create(&c->worker[c->on]->thread,
						     sdr_soft_worker_main, c->worker[c->on]))
		c->on++;
	if (c->on < c->n) {
		sdr_soft_crew_stop(c);
		c->stop = true; /* not tried again */
	}
	return c->on;
}

/* ---- grace ----------------------------------------------------------------------------------- */

void sdr_soft_crew_leave(const struct sdr_soft *s, const struct sdr_soft_slot *e)
{
	const struct sdr_soft_crew *c = s->crew;
	uint32_t i, n;

	SDR_ASSERT(!sdr_soft_slot_bound(e));
	for (i = 0; c && i < c->on; i++)
		for (n = 0; __atomic_load_n(&c->worker[i]->hold.slot, __ATOMIC_SEQ_CST) == e &&
			    sdr_uc_pause(c->pid, n);
		     n++)
			;
}

void sdr_soft_crew_quiet(const struct sdr_soft *s)
{
	const struct sdr_soft_crew *c = s->crew;
	uint32_t i, n, at;

	for (i = 0; c && i < c->on; i++) {
		at = __atomic_load_n(&c->worker[i]->work, __ATOMIC_SEQ_CST);
		for (n = 0;
		     at & 1 && __atomic_load_n(&c->worker[i]->work, __ATOMIC_SEQ_CST) == at &&
		     sdr_uc_pause(c->pid, n);
		     n++)
			;
	}
}

void sdr_soft_crew_retire(struct sdr_soft *s, void *table)
{
	struct sdr_soft_crew *c = s->crew;

	if (!c || !table) {
		free(table);
		return;
	}
	SDR_ASSERT(c->nold < SDR_SOFT_QPN_BITS);
	c->old[c->nold++] = table;
}

/* ---- news ------------------------------------------------------------------------------------ */

void sdr_soft_crew_tell(struct sdr_soft_crew *c)
{
	__atomic_store_n(&c->news, true, __ATOMIC_SEQ_CST);
	sdr_uc_bell_ring(&c->bell);
}

/*
 * A worker that is idle has placed all it took, and may have got something since that it does not
 * know of yet: then its socket is not empty.  It says that it is not idle before it reads.
 */
uint64_t sdr_soft_crew_done(const struct sdr_soft *s)
{
	const struct sdr_soft_crew *c = s->crew;
	struct pollfd p[SDR_WORKERS_MAX] = { 0 };
	uint32_t at[SDR_WORKERS_MAX], n = 0, i;
	uint64_t least = UINT64_MAX, done;

	for (i = 0; i < c->on; i++) {
		if (__atomic_load_n(&c->worker[i]->idle, __ATOMIC_SEQ_CST)) {
			p[n] = (struct pollfd){ .fd = c->worker[i]->fd, .events = POLLIN };
			at[n++] = i;
			continue;
		}
		done = __atomic_load_n(&c->worker[i]->done, __ATOMIC_ACQUIRE);
		least = done < least ? done : least;
	}
	if (n && poll(p, n, 0) < 0)
		for (i = 0; i < n; i++)
			p[i].revents = POLLIN;
	for (i = 0; i < n; i++) {
		if (!p[i].revents && __atomic_load_n(&c->worker[at[i]]->idle, __ATOMIC_SEQ_CST))
			continue;
		done = __atomic_load_n(&c->worker[at[i]]->done, __ATOMIC_ACQUIRE);
		least = done < least ? done : least;
	}
	return least;
}

bool sdr_soft_crew_passed(struct sdr_soft *s, uint64_t stamp)
{
	struct sdr_soft_crew *c = s->crew;

	/* Of two with one stamp the control datagram is first: it may bind what the other needs. */
	if (!c->large || !stamp || stamp - 1 <= c->passed)
		return true;
	c->passed = sdr_soft_crew_done(s);
	if (stamp - 1 <= c->passed)
		return true;
	if (!c->blocked_at)
		c->blocked_at = s->clock;
	/* Clocks were set, or a worker gets no processor: order is not worth more than that. */
	if (s->clock - c->blocked_at > SDR_SOFT_CREW_PATIENCE)
		return true;
	c->blocked = stamp;
	return false;
}

void sdr_soft_crew_large(struct sdr_soft *s, uint64_t len, bool bound)
{
	struct sdr_soft_crew *c = s->crew;

	if (!c || len < SDR_UC_SPREAD_MIN)
		return;
	SDR_ASSERT(bound || c->large);
	c->large += bound ? 1 : -1u;
}

void sdr_soft_crew_poll(struct sdr_soft *s, bool drained)
{
	struct sdr_soft_crew *c = s->crew;

	if (c->blocked)
		__atomic_store_n(&c->handled, c->blocked - 1, __ATOMIC_RELEASE);
	else
		c->blocked_at = 0;
	c->blocked = 0;
	c->passed = 0;
	if (drained)
		__atomic_store_n(&c->drained, c->drained + 1, __ATOMIC_RELEASE);
	sdr_uc_bell_wake(&c->bell);
	sdr_uc_bell_hear(&c->bell);
	if (__atomic_load_n(&c->news, __ATOMIC_RELAXED))
		__atomic_store_n(&c->news, false, __ATOMIC_SEQ_CST);
}

void sdr_soft_crew_rest(const struct sdr_soft *s)
{
	const struct sdr_soft_crew *c = s->crew;
	uint32_t i;

	for (i = 0; c->large && i < c->on; i++)
		if (!__atomic_load_n(&c->worker[i]->idle, __ATOMIC_RELAXED)) {
			sched_yield();
			return;
		}
}

bool sdr_soft_crew_arm(struct sdr_soft *s)
{
	struct sdr_soft_crew *c = s->crew;

	sdr_uc_bell_arm(&c->bell);
	return __atomic_load_n(&c->news, __ATOMIC_SEQ_CST);
}

void sdr_soft_worker_stats(const struct sdr_soft_worker *w, struct sdr_uc_stats *st,
			   struct sdr_soft_stats *xst)
{
	const size_t n = sizeof(*st) / sizeof(uint64_t);
	size_t k;

	for (k = 0; k < SDR_SOFT_COUNTS; k++) {
		uint64_t v = __atomic_load_n(&w->told[k], __ATOMIC_RELAXED);

		if (k < n)
			((uint64_t *)st)[k] += v;
		else if (xst)
			((uint64_t *)xst)[k - n] += v;
	}
}

void sdr_soft_crew_stats(const struct sdr_soft *s, struct sdr_uc_stats *st,
			 struct sdr_soft_stats *xst)
{
	const struct sdr_soft_crew *c = s->crew;
	uint32_t i;

	for (i = 0; c && i < c->n; i++)
		sdr_soft_worker_stats(c->worker[i], st, xst);
}
