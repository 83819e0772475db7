/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers of this host, reached through shared memory.
 *
 * A QP whose peer is a process of this host (sdr_soft_host.c), and which has sent some hundred
 * kilobytes or control datagrams to it, makes a ring (sdr_soft_ring.c) and offers it with a knock
 * to the peer's port. The peer opens it, and from then on everything to that address goes through
 * the ring, control datagrams included: one queue, one order, as with one socket, and the same
 * frames. Nothing above notices but by the time it takes: no system call, and two copies instead of
 * the kernel's work.
 *
 * Who is not of our user, or in another namespace of processes, cannot open it; a relay on this
 * host has another port than the one that the ring says its sender has. Nobody answers such an
 * offer; it is repeated some times (sdr_soft_knock_time), and then everything goes by the socket
 * as ever.
 *
 * A ring that is full makes post stop, as a full socket does; so that one peer that stands still
 * does not stop all others, what is for it is lost when it has taken nothing out for 10 ms, as it
 * would be in the queue of its socket. A peer whose process has ended, or that has closed, is
 * noticed when it has not taken out for 5 ms what there is: from then on the socket is used,
 * behind which there may be another by then.
 *
 * A receiver that is going to sleep says so in its rings; who puts in then sends a datagram
 * (BELL). The sockets are looked at when the rings are empty, and every NEAR_FAIR polls.
 *
 * A forked child has nothing of it, and goes by the sockets.
 *
 * No threads of its own: everything is the owner's. Memory: SDR_SOFT_NEARS rings of 1 MiB in each
 * direction at most, as peers come for which it is worth it, and receive buffers with the first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sdr_assert.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_near.h"

#define NEAR_OFFERS   8u	/* and then it is given up */
#define NEAR_STILL_NS 10000000u /* full for so long: what comes is lost */
#define NEAR_LOOK_NS  5000000u
#define NEAR_FAIR     16u
#define NEAR_SWEEP_NS 1000000000u

/* A byte that is 1 here, and 0 in children.  NULL: a kernel that cannot have that (before 4.14). */
static uint8_t *near_page(void)
{
	size_t len = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p;

	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (madvise(p, len, MADV_WIPEONFORK)) {
		munmap(p, len);
		return NULL;
	}
	*p = 1;
	return p;
}

int sdr_soft_near_create(struct sdr_soft *s, uint64_t nonce)
{
	s->near = calloc(1, sizeof(*s->near));
	if (!s->near)
		return -ENOMEM;
	s->near->ours = near_page();
	if (!s->near->ours) {
		free(s->near);
		s->near = NULL;
		return 0;
	}
	s->near->pid = getpid();
	s->near->nonce = nonce;
	return 0;
}

/* NULL: there is none, or it is the parent's of this process. */
static inline struct sdr_soft_near *near_of(const struct sdr_soft *s)
{
	return s->near && *s->near->ours ? s->near : NULL;
}

/* A child leaves the rings as they are: its parent goes on with them. */
static void near_drop(const struct sdr_soft_near *n, struct sdr_soft_ring *r, bool sender)
{
	if (*n->ours)
		sdr_soft_ring_close(r, sender);
}

void sdr_soft_near_destroy(struct sdr_soft *s)
{
	struct sdr_soft_near *n = s->near;
	uint32_t i;

	if (!n)
		return;
	for (i = 0; i < n->ntx; i++)
		near_drop(n, &n->tx[i].ring, true);
	for (i = 0; i < n->nrx; i++)
		near_drop(n, &n->rx[i].ring, false);
	if (n->in)
		sdr_soft_rx_free(n->in);
	free(n->in);
	munmap((void *)(uintptr_t)n->ours, (size_t)sysconf(_SC_PAGESIZE));
	free(n);
	s->near = NULL;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Where the port lies in both families. */
static uint32_t near_port(const struct sockaddr_storage *sa)
{
	return ntohs(((const struct sockaddr_in *)sa)->sin_port);
}

static bool near_is(const struct sdr_soft_dest *d, const struct sockaddr_storage *sa, socklen_t len)
{
	return d->len == len && !memcmp(&d->sa, sa, len);
}

/* The place of an address in `at`: its own, or the free one where it would be. */
static uint8_t *near_place(struct sdr_soft_near *n, const struct sockaddr_storage *sa,
			   socklen_t len)
{
	uint32_t i = near_port(sa);

	_Static_assert(SDR_SOFT_NEARS < SDR_SOFT_NEAR_PORTS, "one place is free");
	for (;; i++) {
		uint8_t *at = &n->at[i % SDR_SOFT_NEAR_PORTS];

		if (!*at || near_is(&n->tx[*at - 1].dest, sa, len))
			return at;
	}
}

/* It is of no use any more. */
static void near_off(struct sdr_soft *s, struct sdr_soft_near_tx *t)
{
	near_drop(s->near, &t->ring, true);
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
	struct sdr_soft_near *n = near_of(s);
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

/* Messages of a batch point to their rings: places are not moved. */
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

	if (t || !near_of(q->s))
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
	return &n->who[near_port(sa) % SDR_SOFT_NEAR_PORTS];
}

struct sdr_soft_near_tx *sdr_soft_near_ctl(struct sdr_soft *s, const struct sockaddr_storage *sa,
					   socklen_t len)
{
	struct sdr_soft_near *n = near_of(s);
	struct sdr_soft_qp *q = n ? *near_who(n, sa) : NULL;

	if (q && near_is(&q->dest, sa, len))
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
	struct sdr_soft_near *n = near_of(s);
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

/* ---- receiving ------------------------------------------------------------------------------- */

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
	near_drop(n, &r->ring, false);
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
	struct sdr_soft_near *n = near_of(s);
	struct sdr_soft_near_rx *r;
	struct sockaddr_storage sa = { 0 };
	struct sdr_uc_addr a;
	uint32_t i;

	if (!n || !q || q->qpn != k->qpn || q->rkey != k->rkey || !q->bare ||
	    sdr_uc_addr_from_sockaddr(&a, (const struct sockaddr *)from) ||
	    sdr_uc_addr_to_sockaddr(&a, &sa) < 0 || !near_is(&q->dest, &sa, q->dest.len))
		return false;
	for (i = 0; i < n->nrx; i++)
		if (n->rx[i].nonce == k->nonce && near_port(&n->rx[i].from) == near_port(&sa))
			return true; /* said again */
	if (near_in_create(s))
		return true;
	r = near_rx_room(n, &sa);
	if (!r || sdr_soft_ring_open(&r->ring, (pid_t)k->pid, (int)k->fd, k->nonce, near_port(&sa)))
		return true;
	r->from = sa;
	r->nonce = k->nonce;
	n->nrx++;
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
		if (sdr_soft_ring_has(&n->rx[k].ring)) {
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
	struct sdr_soft_near *n = near_of(s);
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

bool sdr_soft_near_turn(struct sdr_soft *s)
{
	struct sdr_soft_near *n = near_of(s);

	return n && n->nrx && ++n->looks % NEAR_FAIR;
}

bool sdr_soft_near_arm(struct sdr_soft *s)
{
	struct sdr_soft_near *n = near_of(s);
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
	const struct sdr_soft_near *n = near_of(s);

	return n && n->cur && sdr_soft_rx_left(n->in);
}
