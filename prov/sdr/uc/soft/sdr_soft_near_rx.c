/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Rings that we take out of (sdr_soft_near.c): whose offers are taken, whose turn it is, and how
 * they sleep.  What has come out of a ring lies in receive buffers of its own (n->in), as what came
 * from a socket does, until all of it is split into events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sdr_soft_near.h"

#define NEAR_FAIR  16u
#define NEAR_WAITS 256u /* looks at a fresh ring, and then it is read, whatever the sockets have */

static int near_in_create(struct sdr_soft *s)
{
	struct sdr_soft_near *n = s->near;
	int ret;

	if (n->in)
		return 0;
	n->in = calloc(1, sizeof(*n->in));
	if (!n->in)
		return -ENOMEM;
	ret = sdr_soft_rx_init(n->in, &s->st, &s->xst);
	if (ret) {
		free(n->in);
		n->in = NULL;
		return ret;
	}
	n->in->train = n->train;
	return 0;
}

/* What was taken out of the current one is not needed any more. */
static void near_done(struct sdr_soft_near *n)
{
	if (!n->cur)
		return;
	if (n->cur->ring.head)
		sdr_soft_ring_free(&n->cur->ring);
	n->cur = NULL;
	n->in->nmsg = n->in->cur = n->in->seg = 0;
}

/* The last one takes its place. */
static void near_forget(struct sdr_soft_near *n, struct sdr_soft_near_rx *r)
{
	if (n->cur)
		near_done(n);
	sdr_soft_near_drop(n, &r->ring, false);
	n->nfresh -= r->fresh;
	*r = n->rx[--n->nrx];
}

/* Where a ring can be entered: for it, of one that it follows, or of one whose sender is gone. */
static struct sdr_soft_near_rx *near_rx_room(struct sdr_soft_near *n,
					     const struct sockaddr_storage *from)
{
	uint32_t i;

	for (i = 0; i < n->nrx; i++) {
		if (memcmp(&n->rx[i].from, from, sizeof(*from)))
			continue;
		near_forget(n, &n->rx[i]);
		break;
	}
	for (i = 0; n->nrx == SDR_SOFT_NEARS && i < n->nrx; i++)
		if (!sdr_soft_ring_has(&n->rx[i].ring) &&
		    !sdr_soft_ring_lives(&n->rx[i].ring, false))
			near_forget(n, &n->rx[i]);
	return n->nrx < SDR_SOFT_NEARS ? &n->rx[n->nrx] : NULL;
}

bool sdr_soft_near_offered(struct sdr_soft *s, const struct sdr_wire_knock *k,
			   const struct sockaddr_storage *from)
{
	const struct sdr_soft_qp *q = sdr_soft_qp_find(s, k->qpn);
	struct sdr_soft_near *n = sdr_soft_near_of(s);
	struct sdr_soft_near_rx *r;
	struct sockaddr_storage sa = { 0 };
	struct sdr_uc_addr a;
	uint32_t i;

	if (!n || !q || q->qpn != k->qpn || q->rkey != k->rkey || !q->bare ||
	    sdr_uc_addr_from_sockaddr(&a, (const struct sockaddr *)from) ||
	    sdr_uc_addr_to_sockaddr(&a, &sa) < 0 || !sdr_soft_near_is(&q->dest, &sa, q->dest.len))
		return false;
	for (i = 0; i < n->nrx; i++)
		if (n->rx[i].nonce == k->nonce &&
		    sdr_soft_near_port(&n->rx[i].from) == sdr_soft_near_port(&sa))
			return true; /* said again */
	if (near_in_create(s))
		return true;
	r = near_rx_room(n, &sa);
	if (!r || sdr_soft_ring_open(&r->ring, (pid_t)k->pid, (int)k->fd, k->nonce,
				     sdr_soft_near_port(&sa)))
		return true;
	r->from = sa;
	r->nonce = k->nonce;
	r->fresh = true;
	r->waits = 0;
	n->nrx++;
	n->nfresh++;
	return true;
}

/* Takes trains out of a ring. */
static void near_take(struct sdr_soft *s, struct sdr_soft_near_rx *r)
{
	struct sdr_soft_near *n = s->near;
	struct sdr_soft_rx *rx = n->in;
	bool broken = false;
	uint8_t *p;

	n->cur = r;
	while (rx->nmsg < SDR_SOFT_RX_BUFS) {
		p = sdr_soft_ring_next(&r->ring, &n->train[rx->nmsg], &broken);
		if (!p)
			break;
		rx->iov[rx->nmsg].iov_base = p;
		rx->hdr[rx->nmsg].msg_len = n->train[rx->nmsg].bytes;
		rx->hdr[rx->nmsg].msg_hdr.msg_name = &r->from;
		rx->inlet[rx->nmsg++] = &s->inlet[0];
	}
	if (broken) {
		s->st.pkts_bad++;
		near_forget(n, r);
	}
}

/* A ring that has something; those that nobody will put into are closed. */
static struct sdr_soft_near_rx *near_next(struct sdr_soft_near *n)
{
	uint32_t i, k;

	for (i = 0; i < n->nrx; i++) {
		k = (n->turn + i) % n->nrx;
		if (!n->rx[k].fresh && sdr_soft_ring_has(&n->rx[k].ring)) {
			n->turn = k + 1;
			return &n->rx[k];
		}
		/* what was put in before it left comes first */
		if (__atomic_load_n(&n->rx[k].ring.head->left, __ATOMIC_ACQUIRE) &&
		    !sdr_soft_ring_has(&n->rx[k].ring)) {
			near_forget(n, &n->rx[k]);
			return NULL;
		}
	}
	return NULL;
}

int sdr_soft_near_poll(struct sdr_soft *s, struct sdr_uc_ev *ev, int max)
{
	struct sdr_soft_near *n = sdr_soft_near_of(s);
	struct sdr_soft_near_rx *r;
	bool ctl = false;
	uint32_t i;
	int made;

	if (!n || !n->nrx)
		return 0;
	if (n->asleep) {
		for (i = 0; i < n->nrx; i++)
			sdr_soft_ring_awake(&n->rx[i].ring);
		n->asleep = false;
	}
	if (n->cur && sdr_soft_rx_left(n->in)) {
		made = sdr_soft_rx_split(s, n->in, ev, max, &ctl);
		if (made || sdr_soft_rx_left(n->in))
			return made;
	}
	near_done(n);
	r = near_next(n);
	if (!r)
		return 0;
	near_take(s, r);
	return sdr_soft_rx_split(s, n->in, ev, max, &ctl);
}

/* It is read from now on. */
static void near_begin(struct sdr_soft_near *n, struct sdr_soft_near_rx *r)
{
	r->fresh = false;
	n->nfresh--;
}

bool sdr_soft_near_turn(struct sdr_soft *s)
{
	struct sdr_soft_near *n = sdr_soft_near_of(s);
	bool waits = false;

	if (!n || !n->nrx)
		return false;
	for (uint32_t i = 0; n->nfresh && i < n->nrx; i++) {
		struct sdr_soft_near_rx *r = &n->rx[i];

		if (!r->fresh || (!r->waits && !sdr_soft_ring_has(&r->ring)))
			continue;
		if (++r->waits < NEAR_WAITS)
			waits = true;
		else
			near_begin(n, r);
	}
	return !waits && ++n->looks % NEAR_FAIR;
}

void sdr_soft_near_follow(struct sdr_soft *s)
{
	struct sdr_soft_near *n = sdr_soft_near_of(s);

	for (uint32_t i = 0; n && n->nfresh && i < n->nrx; i++)
		if (n->rx[i].fresh && n->rx[i].waits)
			near_begin(n, &n->rx[i]);
}

bool sdr_soft_near_arm(struct sdr_soft *s)
{
	struct sdr_soft_near *n = sdr_soft_near_of(s);
	bool has = sdr_soft_near_left(s);
	uint32_t i;

	if (!n)
		return false;
	for (i = 0; i < n->nrx; i++)
		has |= s->hushed ? sdr_soft_ring_has(&n->rx[i].ring)
				 : sdr_soft_ring_sleep(&n->rx[i].ring);
	n->asleep = !s->hushed;
	return has;
}

bool sdr_soft_near_left(const struct sdr_soft *s)
{
	const struct sdr_soft_near *n = sdr_soft_near_of(s);

	return n && n->cur && sdr_soft_rx_left(n->in);
}
