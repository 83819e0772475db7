/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Rings that we put in (sdr_soft_near.c): making and offering them, which address has one, what
 * is done when one is full or nobody reads it any more.
 *
 * Messages of a batch point to their rings: places are not moved while a batch is under way, and a
 * ring that is given up keeps its place until all are taken.
 */
#include <errno.h>
#include <string.h>

#include "sdr_soft_near.h"

#define NEAR_OFFERS   8u	/* and then it is given up */
#define NEAR_STILL_NS 10000000u /* full for so long: what comes is lost */
#define NEAR_LOOK_NS  5000000u
#define NEAR_SWEEP_NS 1000000000u

/* The place of an address in `at`: its own, or the free one where it would be. */
static uint8_t *near_place(struct sdr_soft_near *n, const struct sockaddr_storage *sa,
			   socklen_t len)
{
	uint32_t i = sdr_soft_near_port(sa);

	_Static_assert(SDR_SOFT_NEARS < SDR_SOFT_NEAR_PORTS, "one place is free");
	for (;; i++) {
		uint8_t *at = &n->at[i % SDR_SOFT_NEAR_PORTS];

		if (!*at || sdr_soft_near_is(&n->tx[*at - 1].dest, sa, len))
			return at;
	}
}

/* It is of no use any more. */
static void near_off(struct sdr_soft *s, struct sdr_soft_near_tx *t)
{
	sdr_soft_near_drop(s->near, &t->ring, true);
	t->on = false;
}

/* Whether the peer, which reads the ring, still does. */
static bool near_takes(struct sdr_soft *s, struct sdr_soft_near_tx *t)
{
	uint64_t out;

	if (s->clock < t->looked + NEAR_LOOK_NS)
		return true;
	out = __atomic_load_n(&t->ring.head->out, __ATOMIC_RELAXED);
	if (out == t->looked_out && t->ring.in != out && !sdr_soft_ring_lives(&t->ring, true)) {
		near_off(s, t);
		return false;
	}
	t->looked = s->clock;
	t->looked_out = out;
	return true;
}

struct sdr_soft_near_tx *sdr_soft_near_find(struct sdr_soft *s, const struct sockaddr_storage *sa,
					    socklen_t len)
{
	struct sdr_soft_near *n = sdr_soft_near_of(s);
	struct sdr_soft_near_tx *t;
	uint8_t at;

	if (!n || !n->ntx)
		return NULL;
	at = *near_place(n, sa, len);
	t = at ? &n->tx[at - 1] : NULL;
	return t && t->on && near_takes(s, t) ? t : NULL;
}

/* A ring of its own for t, not offered yet; without one it is given up at once. */
static void near_ring(struct sdr_soft *s, struct sdr_soft_near_tx *t)
{
	memset(&t->tries, 0, sizeof(t->tries));
	t->on = false;
	t->nonce = s->near->nonce++;
	if (sdr_soft_ring_make(&t->ring, t->nonce, s->port[0]))
		t->ring.head = NULL;
}

/* All places are taken: those that lead to nobody are given up. */
static void near_sweep(struct sdr_soft *s)
{
	struct sdr_soft_near *n = s->near;
	uint32_t i;

	if (n->swept && s->clock < n->swept + NEAR_SWEEP_NS)
		return;
	n->swept = s->clock;
	memset(n->at, 0, sizeof(n->at));
	for (i = 0; i < n->ntx; i++) {
		struct sdr_soft_near_tx *t = &n->tx[i];

		if (t->on && !sdr_soft_ring_lives(&t->ring, true))
			near_off(s, t);
		if (t->ring.head)
			*near_place(n, &t->dest.sa, t->dest.len) = (uint8_t)(i + 1);
		else
			t->dest.len = 0;
	}
}

static struct sdr_soft_near_tx *near_make(struct sdr_soft *s, const struct sdr_soft_dest *d)
{
	struct sdr_soft_near *n = s->near;
	struct sdr_soft_near_tx *t;
	uint32_t i;

	if (n->ntx == SDR_SOFT_NEARS)
		near_sweep(s);
	for (i = 0; i < n->ntx && n->tx[i].dest.len; i++)
		;
	if (i == SDR_SOFT_NEARS)
		return NULL;
	if (i == n->ntx)
		n->ntx++;
	t = &n->tx[i];
	memset(t, 0, sizeof(*t));
	*near_place(n, &d->sa, d->len) = (uint8_t)(i + 1);
	t->dest = *d;
	near_ring(s, t);
	return t;
}

static void near_offer(struct sdr_soft_qp *q, struct sdr_soft_near_tx *t)
{
	const struct sdr_wire_knock k = {
		.kind = SDR_KNOCK_RING,
		.qpn = q->peer_qpn,
		.from_qpn = q->qpn,
		.rkey = q->peer_rkey,
		.nonce = t->nonce,
		.pid = (uint32_t)q->s->near->pid,
		.fd = (uint32_t)t->ring.fd,
	};

	if (!sdr_soft_knock_time(&t->tries, q->s->clock))
		return;
	if (t->tries.n > NEAR_OFFERS)
		near_off(q->s, t);
	else
		sdr_soft_knock_send(q->s, q->s->fd[0], &k, &t->dest.sa, t->dest.len);
}

struct sdr_soft_near_tx *sdr_soft_near_to(struct sdr_soft_qp *q, uint32_t bytes)
{
	struct sdr_soft_near_tx *t = sdr_soft_near_find(q->s, &q->dest.sa, q->dest.len);
	uint8_t at;

	if (t || !sdr_soft_near_of(q->s))
		return t;
	if (q->near_sent < SDR_SOFT_NEAR_MIN && !(q->s->off & SDR_SOFT_NO_DELAY)) {
		/* a message that goes in several batches is met once for each */
		q->near_sent += bytes < SDR_SOFT_RING_TRAIN ? bytes : SDR_SOFT_RING_TRAIN;
		return NULL;
	}
	at = *near_place(q->s->near, &q->dest.sa, q->dest.len);
	t = at ? &q->s->near->tx[at - 1] : near_make(q->s, &q->dest);
	if (!t || !t->ring.head)
		return NULL;
	if (__atomic_load_n(&t->ring.head->reads, __ATOMIC_ACQUIRE)) {
		t->on = true;
		t->looked = q->s->clock;
		return t;
	}
	near_offer(q, t);
	return NULL;
}

static struct sdr_soft_qp **near_who(struct sdr_soft_near *n, const struct sockaddr_storage *sa)
{
	return &n->who[sdr_soft_near_port(sa) % SDR_SOFT_NEAR_PORTS];
}

struct sdr_soft_near_tx *sdr_soft_near_ctl(struct sdr_soft *s, const struct sockaddr_storage *sa,
					   socklen_t len)
{
	struct sdr_soft_near *n = sdr_soft_near_of(s);
	struct sdr_soft_qp *q = n ? *near_who(n, sa) : NULL;

	if (q && sdr_soft_near_is(&q->dest, sa, len))
		return sdr_soft_near_to(q, SDR_SOFT_NEAR_CTL);
	return sdr_soft_near_find(s, sa, len);
}

void sdr_soft_near_part(struct sdr_soft_qp *q)
{
	struct sdr_soft_near *n = q->s->near;
	uint32_t i;

	for (i = 0; n && i < SDR_SOFT_NEAR_PORTS; i++)
		if (n->who[i] == q)
			n->who[i] = NULL;
}

void sdr_soft_near_meet(struct sdr_soft_qp *q)
{
	const struct sdr_soft_dest *d = &q->dest;
	struct sdr_soft *s = q->s;
	struct sdr_soft_near *n = sdr_soft_near_of(s);
	struct sdr_soft_near_tx *t;
	uint8_t at = n ? *near_place(n, &d->sa, d->len) : 0;

	if (n)
		*near_who(n, &d->sa) = q;
	if (!at)
		return;
	t = &n->tx[at - 1];
	if (t->on && sdr_soft_ring_lives(&t->ring, true))
		return;
	near_off(s, t);
	near_ring(s, t);
}

/* No room: whether there will be some soon. */
static int near_full(struct sdr_soft *s, struct sdr_soft_near_tx *t, uint64_t now)
{
	if (!t->full || t->ring.out != t->full_out) {
		t->full_out = t->ring.out;
		t->full = now;
	}
	if (now < t->full + NEAR_STILL_NS)
		return -EAGAIN;
	if (!sdr_soft_ring_lives(&t->ring, true))
		near_off(s, t);
	return -EPIPE;
}

int sdr_soft_near_send(struct sdr_soft *s, struct sdr_soft_near_tx *t, uint32_t i)
{
	const struct msghdr *h = &s->tx.hdr[i].msg_hdr;
	const struct sdr_soft_msg *m = &s->tx.msg[i];
	const struct sdr_wire_knock bell = { .kind = SDR_KNOCK_BELL };
	struct sdr_soft_ring_train train = {
		.bytes = m->bytes,
		.seg = m->seg,
		.since = s->uc.ops->now(&s->uc),
		.ecn = m->ect ? SDR_UC_ECT0 : SDR_UC_NOT_ECT,
	};
	int ret;

	if (!t->on)
		return -EPIPE;
	ret = sdr_soft_ring_put(&t->ring, h->msg_iov, h->msg_iovlen, &train);
	if (ret == -EAGAIN)
		return near_full(s, t, train.since);
	if (ret) {
		near_off(s, t);
		return ret;
	}
	if (sdr_soft_ring_wakes(&t->ring))
		sdr_soft_knock_send(s, s->fd[0], &bell, &t->dest.sa, t->dest.len);
	return 0;
}
