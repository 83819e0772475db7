/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which ports of a peer's workers answer.
 *
 * The peer names a port for each of its workers, but what lies between may let none of them
 * through, or some.  So a QP asks each port (sdr_knock.h) when it connects, and again while one has
 * not answered and large messages are posted: after 10 ms, then after twice as long each time, up
 * to 5 s, so that a firewall that is opened is noticed.  Only ports that have answered get data.
 * The peer's worker answers by itself, from the port that was asked, to who knows the QP's key.
 *
 * Questions and answers do not go through fault injection: they are between engines.
 */
#include <errno.h>
#include <string.h>

#include "wire/sdr_knock.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_knock.h"
#include "sdr_soft_spread.h"

#define SDR_SOFT_KNOCK_NS  10000000ull	 /* to the first repetition */
#define SDR_SOFT_KNOCK_MAX 5000000000ull /* between the last ones */

#define SDR_SOFT_KNOCK_PKT (SDR_CTL_OVERHEAD + SDR_KNOCK_LEN)

/* One datagram; what becomes of it the answer says, or its absence. */
static void sdr_soft_knock_send(const struct sdr_soft *s, int fd, const struct sdr_wire_knock *k,
				const struct sockaddr_storage *to, socklen_t len)
{
	const struct sdr_wire_ctl c = { .qkey = SDR_KNOCK_QKEY, .src_qpn = SDR_QPN_CTL };
	uint8_t p[SDR_SOFT_KNOCK_PKT];
	struct iovec v = { .iov_base = p, .iov_len = sizeof(p) };
	struct sockaddr_storage sa = *to;
	struct mmsghdr m = {
		.msg_hdr = { .msg_name = &sa, .msg_namelen = len, .msg_iov = &v, .msg_iovlen = 1 }
	};

	sdr_wire_ctl_encode(p, &c, SDR_KNOCK_LEN);
	sdr_wire_knock_encode(p + SDR_CTL_HDR, k);
	sdr_put_le32(p + sizeof(p) - SDR_ICRC_LEN,
		     sdr_icrc_final(sdr_soft_icrc(s->icrc_seed, p, sizeof(p) - SDR_ICRC_LEN)));
	while (s->net->send(fd, &m, 1) < 0 && errno == EINTR)
		;
}

void sdr_soft_knock(struct sdr_soft_qp *q)
{
	struct sdr_soft_spread *p = q->spread;
	struct sdr_soft *s = q->s;
	uint32_t i;

	if (p->answered == p->all || (p->tries && s->clock < p->next_ns))
		return;
	for (i = 0; i < p->n; i++) {
		struct sdr_wire_knock k = {
			.kind = SDR_KNOCK_ASK,
			.index = (uint8_t)i,
			.qpn = q->peer_qpn,
			.from_qpn = q->qpn,
			.rkey = q->peer_rkey,
			.nonce = p->nonce,
		};

		if (!(p->answered >> i & 1))
			sdr_soft_knock_send(s, s->fd[0], &k, &p->dest[i].sa, p->dest[i].len);
	}
	p->next_ns = SDR_SOFT_KNOCK_NS << (p->tries < 16 ? p->tries : 16);
	if (p->next_ns > SDR_SOFT_KNOCK_MAX)
		p->next_ns = SDR_SOFT_KNOCK_MAX;
	p->next_ns += s->clock;
	p->tries++;
}

bool sdr_soft_knock_answered(struct sdr_soft *s, const uint8_t *payload, size_t len)
{
	struct sdr_wire_knock k;
	struct sdr_soft_qp *q;

	if (sdr_wire_knock_decode(payload, len, &k) || k.kind != SDR_KNOCK_ANSWER)
		return false;
	q = sdr_soft_qp_find(s, k.qpn);
	if (!q || !q->spread || k.from_qpn != q->peer_qpn || k.nonce != q->spread->nonce ||
	    k.index >= q->spread->n)
		return false;
	q->spread->answered |= (uint16_t)(1u << k.index);
	return true;
}

bool sdr_soft_knock_asked(struct sdr_soft *s, int fd, uint8_t *pkt, size_t len,
			  const struct sockaddr_storage *from, socklen_t from_len)
{
	struct sdr_wire_knock k;
	const struct sdr_soft_qp *q;
	const uint8_t *payload;
	struct sdr_wire_ctl c;
	size_t plen;

	if (sdr_wire_ctl_decode(pkt, len, &c, &payload, &plen) || c.qkey != SDR_KNOCK_QKEY ||
	    !sdr_soft_icrc_check(s, pkt, len) || sdr_wire_knock_decode(payload, plen, &k) ||
	    k.kind != SDR_KNOCK_ASK)
		return false;
	q = sdr_soft_qp_find(s, k.qpn);
	if (!q || q->qpn != k.qpn || q->rkey != k.rkey)
		return false;
	k.kind = SDR_KNOCK_ANSWER;
	k.qpn = k.from_qpn;
	k.from_qpn = q->qpn;
	k.rkey = 0;
	sdr_soft_knock_send(s, fd, &k, from, from_len);
	return true;
}
