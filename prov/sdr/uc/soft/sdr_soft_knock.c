/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which ports of a peer's workers answer, and whom.
 *
 * The peer names a port for each of its workers, but what lies between may let none of them
 * through, or some.  So a QP asks each port (sdr_knock.h) when it connects, and again while one has
 * not answered and large messages are posted: after 10 ms, then after twice as long each time, up
 * to 5 s, so that a firewall that is opened is noticed.  Only ports that have answered get data.
 * The peer's worker answers by itself, from the port that was asked, to who knows the QP's key.
 *
 * Our own workers send from ports of theirs, which may be let through or not in the same way: with
 * the first large messages those ports that have answered the owner are asked from each of them,
 * at the same intervals.  The answer comes to the worker, which leaves it to the owner (its box).
 *
 * Questions and answers do not go through fault injection: they are between engines.
 */
#include <errno.h>
#include <string.h>

#include "wire/sdr_knock.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_knock.h"
#include "sdr_soft_near.h"
#include "sdr_soft_spread.h"

#define SDR_SOFT_KNOCK_NS  10000000ull	 /* to the first repetition */
#define SDR_SOFT_KNOCK_MAX 5000000000ull /* between the last ones */

#define SDR_SOFT_KNOCK_PKT (SDR_CTL_OVERHEAD + SDR_KNOCK_MAX)

void sdr_soft_knock_send(const struct sdr_soft *s, int fd, const struct sdr_wire_knock *k,
			 const struct sockaddr_storage *to, socklen_t len)
{
	const struct sdr_wire_ctl c = { .qkey = SDR_KNOCK_QKEY, .src_qpn = SDR_QPN_CTL };
	uint8_t p[SDR_SOFT_KNOCK_PKT];
	size_t klen = sdr_wire_knock_encode(p + SDR_CTL_HDR, k);
	struct iovec v = { .iov_base = p, .iov_len = SDR_CTL_OVERHEAD + klen };
	struct sockaddr_storage sa = *to;
	struct mmsghdr m = {
		.msg_hdr = { .msg_name = &sa, .msg_namelen = len, .msg_iov = &v, .msg_iovlen = 1 }
	};

	sdr_wire_ctl_encode(p, &c, (uint32_t)klen);
	sdr_put_le32(p + v.iov_len - SDR_ICRC_LEN,
		     sdr_icrc_final(sdr_soft_icrc(s->icrc_seed, p, v.iov_len - SDR_ICRC_LEN)));
	while (s->net->send(fd, &m, 1) < 0 && errno == EINTR)
		;
}

/* To the ports of a bit each. */
static void sdr_soft_knock_all(const struct sdr_soft_qp *q, int fd, uint32_t ports)
{
	const struct sdr_soft_spread *p = q->spread;
	uint32_t i;

	for (i = 0; i < p->n; i++) {
		struct sdr_wire_knock k = {
			.kind = SDR_KNOCK_ASK,
			.index = (uint8_t)i,
			.qpn = q->peer_qpn,
			.from_qpn = q->qpn,
			.rkey = q->peer_rkey,
			.nonce = p->nonce,
		};

		if (ports >> i & 1)
			sdr_soft_knock_send(q->s, fd, &k, &p->dest[i].sa, p->dest[i].len);
	}
}

bool sdr_soft_knock_time(struct sdr_soft_tries *t, uint64_t now)
{
	if (t->n && now < t->next_ns)
		return false;
	t->next_ns = SDR_SOFT_KNOCK_NS << (t->n < 16 ? t->n : 16);
	if (t->next_ns > SDR_SOFT_KNOCK_MAX)
		t->next_ns = SDR_SOFT_KNOCK_MAX;
	t->next_ns += now;
	t->n++;
	return true;
}

void sdr_soft_knock(struct sdr_soft_qp *q)
{
	struct sdr_soft_spread *p = q->spread;

	if (p->answered != p->all && sdr_soft_knock_time(&p->tries, q->s->clock))
		sdr_soft_knock_all(q, q->s->fd[0], p->all & ~p->answered);
}

void sdr_soft_knock_from_workers(struct sdr_soft_qp *q)
{
	const struct sdr_soft_crew *c = q->s->crew;
	struct sdr_soft_spread *p = q->spread;
	uint32_t i;

	if (!sdr_soft_knock_time(&p->worker_tries, q->s->clock))
		return;
	for (i = 0; i < c->help; i++)
		sdr_soft_knock_all(q, c->worker[i]->fd, p->answered & ~p->heard[i]);
}

/* The ports that an answer is of.  NULL: it is nobody's. */
static struct sdr_soft_spread *sdr_soft_knock_of(struct sdr_soft *s, const struct sdr_wire_knock *k)
{
	struct sdr_soft_qp *q = sdr_soft_qp_find(s, k->qpn);

	if (!q || !q->spread || k->from_qpn != q->peer_qpn || k->nonce != q->spread->nonce ||
	    k->index >= q->spread->n)
		return NULL;
	return q->spread;
}

bool sdr_soft_knock_own(struct sdr_soft *s, const uint8_t *payload, size_t len,
			const struct sockaddr_storage *from)
{
	struct sdr_soft_spread *p;
	struct sdr_wire_knock k;

	if (sdr_wire_knock_decode(payload, len, &k))
		return false;
	if (k.kind == SDR_KNOCK_RING)
		return sdr_soft_near_offered(s, &k, from);
	if (k.kind == SDR_KNOCK_BELL)
		return s->near != NULL;
	p = k.kind == SDR_KNOCK_ANSWER ? sdr_soft_knock_of(s, &k) : NULL;
	if (!p)
		return false;
	p->answered |= (uint16_t)(1u << k.index);
	return true;
}

void sdr_soft_knock_collect(struct sdr_soft *s)
{
	struct sdr_soft_spread *p;
	uint32_t i, in;

	for (i = 0; i < s->crew->on; i++) {
		struct sdr_soft_knock_box *b = &s->crew->worker[i]->box;

		in = __atomic_load_n(&b->in, __ATOMIC_ACQUIRE);
		if (b->out == in)
			continue;
		for (; b->out != in; __atomic_store_n(&b->out, b->out + 1, __ATOMIC_RELEASE)) {
			p = sdr_soft_knock_of(s, &b->k[b->out % SDR_SOFT_KNOCK_BOX]);
			if (p)
				p->heard[i] |=
					(uint16_t)(1u << b->k[b->out % SDR_SOFT_KNOCK_BOX].index);
		}
	}
}

/* One that finds no room is asked for again. */
static void sdr_soft_knock_put(struct sdr_soft_knock_box *b, const struct sdr_wire_knock *k)
{
	if (b->in - __atomic_load_n(&b->out, __ATOMIC_ACQUIRE) == SDR_SOFT_KNOCK_BOX)
		return;
	b->k[b->in % SDR_SOFT_KNOCK_BOX] = *k;
	__atomic_store_n(&b->in, b->in + 1, __ATOMIC_RELEASE);
}

bool sdr_soft_knock_come(struct sdr_soft *s, int fd, uint8_t *pkt, size_t len,
			 const struct sockaddr_storage *from, socklen_t from_len,
			 struct sdr_soft_knock_box *box)
{
	struct sdr_wire_knock k;
	const struct sdr_soft_qp *q;
	const uint8_t *payload;
	struct sdr_wire_ctl c;
	size_t plen;

	if (sdr_wire_ctl_decode(pkt, len, &c, &payload, &plen) || c.qkey != SDR_KNOCK_QKEY ||
	    !sdr_soft_icrc_check(s, pkt, len) || sdr_wire_knock_decode(payload, plen, &k))
		return false;
	q = sdr_soft_qp_find(s, k.qpn);
	if (!q || q->qpn != k.qpn)
		return false;
	if (k.kind == SDR_KNOCK_ANSWER) {
		sdr_soft_knock_put(box, &k);
		return true;
	}
	if (k.kind != SDR_KNOCK_ASK || q->rkey != k.rkey)
		return false;
	k.kind = SDR_KNOCK_ANSWER;
	k.qpn = k.from_qpn;
	k.from_qpn = q->qpn;
	k.rkey = 0;
	sdr_soft_knock_send(s, fd, &k, from, from_len);
	return true;
}
