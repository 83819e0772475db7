/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A worker's thread: reads its socket, places, reports; when nothing comes it sends what its owner
 * shares out (sdr_soft_share.c), or sleeps.
 *
 * It takes what a receive call brings, train by train, and reports runs of packets of one slot to
 * the layer above (struct sdr_uc_crew), on this thread.  While it has a QP in hand its `work` is
 * odd, while it has a slot its hold names it: so the owner knows for whom it has to wait
 * (sdr_soft_crew.c), and never waits for a worker that waits for it.
 *
 * Order.  The control datagram that binds a slot left before the data, and goes to another socket.
 * A packet that is early (sdr_soft_place.c) keeps this worker, with nothing in hand, until the
 * owner has handled the control datagrams that came before it: it has been at one that is younger,
 * or has polled twice and found nothing more to read.  The owner is woken for that if it sleeps,
 * and if its application does not poll, the packets wait here and in the socket as they would in
 * the engine's own.  Then the packet is late like any other, and so are the others of its message.
 * Some 0.1 ms more are given to an application that is about to post the buffer: what the worker
 * would throw away would have to come again.
 *
 * Where the layer above has no room the worker waits likewise.  No timers but the length of its
 * naps; pieces, devices' packets and control datagrams but knocks (sdr_soft_knock.c) have no
 * business here, and are counted as bad.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/sdr_assert.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_knock.h"

#define SDR_SOFT_NAP_SPINS 64	 /* times that the processor is offered before the first nap */
#define SDR_SOFT_NAP_MIN   20000 /* ns */
#define SDR_SOFT_NAP_EACH  8	 /* naps of a length: what it waits for comes soon, or never */
/*
 * Looks at an early packet before it is late: longer than an application takes to post anew.  In
 * worlds whose time stands still (sdr_explore_crew) one is enough.
 */
#ifndef SDR_SOFT_EARLY_NAPS
#define SDR_SOFT_EARLY_NAPS (SDR_SOFT_NAP_SPINS + 7u)
#endif
#define SDR_SOFT_WARM_LOOKS 128u /* times that the processor is offered before it sleeps */
#define SDR_SOFT_WARM_POLL  8u	 /* of them for each look at the socket */
/* ns: what a worker may be late in seeing that it is waited for */
#define SDR_SOFT_NAP_MAX 500000

static bool sdr_soft_worker_stopped(const struct sdr_soft_worker *w)
{
	return __atomic_load_n(&w->s->crew->stop, __ATOMIC_ACQUIRE);
}

static void sdr_soft_worker_begin(struct sdr_soft_worker *w)
{
	SDR_ASSERT(!(w->work & 1) && !w->hold.slot);
	__atomic_store_n(&w->work, w->work + 1, __ATOMIC_SEQ_CST);
}

static void sdr_soft_worker_end(struct sdr_soft_worker *w)
{
	SDR_ASSERT(w->work & 1);
	sdr_soft_hold_end(&w->hold);
	__atomic_store_n(&w->work, w->work + 1, __ATOMIC_SEQ_CST);
}

/* The n-th time in a row that there is nothing for it but to wait; with nothing in hand. */
static void sdr_soft_worker_nap(struct sdr_soft_worker *w, uint32_t n)
{
	struct pollfd p = { .fd = w->bell.fd, .events = POLLIN };
	struct timespec t = { 0 };
	uint64_t ns;

	SDR_ASSERT(!(w->work & 1));
	sdr_uc_bell_hear(&w->bell);
	if (n < SDR_SOFT_NAP_SPINS && sdr_uc_offer(&w->offer))
		return;
	n = n < SDR_SOFT_NAP_SPINS ? 0 : n - SDR_SOFT_NAP_SPINS;
	n /= SDR_SOFT_NAP_EACH;
	ns = (uint64_t)SDR_SOFT_NAP_MIN << (n < 8 ? n : 8);
	t.tv_nsec = (long)(ns < SDR_SOFT_NAP_MAX ? ns : SDR_SOFT_NAP_MAX);
	ppoll(&p, 1, &t, NULL);
}

/* Until the owner has handled what came before; nothing is in hand before and after. */
static void sdr_soft_worker_wait(struct sdr_soft_worker *w)
{
	struct sdr_soft_crew *c = w->s->crew;
	uint32_t from = __atomic_load_n(&c->drained, __ATOMIC_ACQUIRE), n;
	uint64_t stamp = w->rx.stamp ? w->rx.stamp : UINT64_MAX;

	for (n = 0; __atomic_load_n(&c->drained, __ATOMIC_ACQUIRE) - from < 2; n++) {
		if (__atomic_load_n(&c->handled, __ATOMIC_ACQUIRE) >= stamp ||
		    sdr_soft_worker_stopped(w))
			return;
		sdr_uc_bell_ring(&c->bell);
		sdr_soft_worker_nap(w, n);
	}
}

/*
 * Events of packets of one slot, from where rx is, until another slot's, or the end of the train,
 * or *early.
 */
static int sdr_soft_worker_run(struct sdr_soft_worker *w, struct sdr_uc_ev *ev, bool *early)
{
	struct sdr_soft_rx *rx = &w->rx;
	uint8_t *buf = sdr_soft_rx_buf(rx);
	uint32_t end = rx->hdr[rx->cur].msg_len, len;
	int n = 0;

	*early = false;
	while (rx->off < end && n < (int)SDR_UC_POLL_MIN) {
		uint8_t *pkt = buf + rx->off;

		len = end - rx->off < rx->seg ? end - rx->off : rx->seg;
		if (sdr_wire_opcode(pkt, len) == SDR_OP_UD_SEND_ONLY &&
		    sdr_soft_knock_come(w->s, w->fd, pkt, len, sdr_soft_rx_from(rx),
					rx->hdr[rx->cur].msg_hdr.msg_namelen, &w->box)) {
			rx->off += len;
			continue;
		}
		switch (sdr_soft_place(w->s, rx, &w->hold, pkt, len, &ev[n])) {
		case SDR_SOFT_PLACED:
			n++;
			break;
		case SDR_SOFT_EARLY:
			*early = true;
			return n;
		case SDR_SOFT_TURN:
			return n;
		case SDR_SOFT_GONE:
			break;
		}
		w->hold.waited = false;
		rx->off += len;
	}
	return n;
}

/* What came up to then is placed and reported; a clock that was set back does not matter. */
static void sdr_soft_worker_done(struct sdr_soft_worker *w, uint64_t stamp)
{
	if (stamp > w->done)
		__atomic_store_n(&w->done, stamp, __ATOMIC_RELEASE);
}

/* All that the last receive call brought. */
static void sdr_soft_worker_take(struct sdr_soft_worker *w)
{
	const struct sdr_uc_crew *to = &w->s->crew->to;
	struct sdr_soft_rx *rx = &w->rx;
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	uint32_t naps, waits = 0;
	bool early;
	int n;

	while (sdr_soft_rx_left(rx) && !sdr_soft_worker_stopped(w)) {
		if (!rx->seg) {
			rx->seg = sdr_soft_rx_seg(w->s, rx);
			rx->off = 0;
			sdr_soft_worker_done(w, rx->stamp ? rx->stamp - 1 : 0);
		}
		if (!rx->seg || rx->off == rx->hdr[rx->cur].msg_len) {
			sdr_soft_worker_done(w, rx->stamp);
			rx->cur++;
			rx->seg = 0;
			continue;
		}
		for (naps = 0; !to->room(to->user, w->index); naps++) {
			if (sdr_soft_worker_stopped(w))
				return;
			sdr_soft_crew_tell(w->s->crew);
			sdr_soft_worker_nap(w, naps);
		}
		sdr_soft_worker_begin(w);
		n = sdr_soft_worker_run(w, ev, &early);
		if (n)
			to->placed(to->user, w->index, ev, n);
		sdr_soft_worker_end(w);
		if (!early) {
			waits = 0;
			continue;
		}
		if (!waits++)
			sdr_soft_worker_wait(w);
		else
			sdr_soft_worker_nap(w, waits);
		w->hold.waited = waits == SDR_SOFT_EARLY_NAPS;
	}
}

void sdr_soft_worker_tell(struct sdr_soft_worker *w)
{
	uint64_t v[SDR_SOFT_COUNTS];
	size_t i;

	_Static_assert(sizeof(v) == sizeof(w->own), "counters are words");
	memcpy(v, &w->own, sizeof(v));
	for (i = 0; i < SDR_SOFT_COUNTS; i++)
		__atomic_store_n(&w->told[i], v[i], __ATOMIC_RELAXED);
}

/*
 * Until something comes to its socket, which it has found empty.  Meanwhile it sends what the owner
 * shares out.  After that, and if it has received, it stays awake for a moment: the next post of a
 * large message, or its next train, follows, and who brings it need not wake anybody.
 */
static void sdr_soft_worker_rest(struct sdr_soft_worker *w, bool received)
{
	struct pollfd p[2] = {
		{ .fd = w->fd, .events = POLLIN },
		{ .fd = w->bell.fd, .events = POLLIN },
	};
	uint32_t warm = received ? SDR_SOFT_WARM_LOOKS : 0;

	while (!sdr_soft_worker_stopped(w) && !p[0].revents) {
		if (sdr_soft_share_help(w)) {
			warm = SDR_SOFT_WARM_LOOKS;
		} else if (warm && sdr_uc_offer(&w->offer)) {
			warm--;
		} else {
			warm = 0;
			sdr_uc_bell_arm(&w->bell);
			if (!sdr_soft_share_waits(w))
				poll(p, 2, -1);
			sdr_uc_bell_wake(&w->bell);
			sdr_uc_bell_hear(&w->bell);
			continue;
		}
		if (!(warm % SDR_SOFT_WARM_POLL))
			poll(p, 2, 0);
	}
}

void *sdr_soft_worker_main(void *arg)
{
	struct sdr_soft_worker *w = arg;
	bool received = false;
	int ret;

	prctl(PR_SET_NAME, "sdr-worker");
	while (!sdr_soft_worker_stopped(w)) {
		ret = sdr_soft_rx_call(w->s, &w->rx, w->fd, &w->inlet, sdr_soft_rx_room(&w->rx));
		if (ret < 0)
			break; /* somebody closed the socket: the owner's poll says so */
		if (ret) {
			sdr_soft_worker_take(w);
			sdr_soft_crew_tell(w->s->crew);
		} else {
			__atomic_store_n(&w->idle, true, __ATOMIC_SEQ_CST);
			sdr_soft_crew_tell(w->s->crew);
			sdr_soft_worker_rest(w, received);
			__atomic_store_n(&w->idle, false, __ATOMIC_SEQ_CST);
		}
		received = ret > 0;
		sdr_soft_rx_reset(&w->rx);
		sdr_soft_worker_tell(w);
	}
	return NULL;
}
