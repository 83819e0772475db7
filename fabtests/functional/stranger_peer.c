/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The protocol of a stranger, see stranger.h: HELLO as an endpoint with default settings on the
 * loopback would say it, packets, acknowledgements of what the victim sent.  Repairs nothing and
 * has no timer.
 */
#include <string.h>
#include "base/sdr_rand.h"
#include "stranger.h"

#define STRANGER_CHUNK	   65536u     /* bytes; a HELLO must agree with the defaults to be taken */
#define STRANGER_RX_WINDOW (4u << 20) /* bytes */

void stranger_init(struct stranger *s, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->instance = sdr_mix64(seed * 2 + SDR_RAND_STEP);
	s->cid = sdr_mix64(seed * 2 + 1 + SDR_RAND_STEP);
}

size_t stranger_hello(const struct stranger *s, uint8_t *p)
{
	struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	struct sdr_hello h;

	sdr_hello_init(&h);
	h.instance = s->instance;
	h.cid = s->cid;
	h.cookie = s->cookie;
	h.seg_bytes = SDR_REL_SEG_MAX / SDR_MTU_DEFAULT * SDR_MTU_DEFAULT;
	h.msn_limit = STRANGER_MSEQ_GRANT;
	h.mseq_limit = STRANGER_MSEQ_GRANT;
	h.ctl_max = SDR_CTL_MAX;
	h.qp.qpn = SDR_QPN_MIN + (uint32_t)(s->cid & 0xfffff);
	h.qp.rkey = (uint32_t)(s->cid >> 32);
	h.qp.psn = (uint32_t)s->instance & SDR_PSN_MASK;
	h.qp.channels = 1;
	h.qp.generations = 4;
	h.qp.split = split;
	h.qp.mtu = SDR_MTU_DEFAULT;
	h.qp.chunk = STRANGER_CHUNK;
	h.qp.rx_window = STRANGER_RX_WINDOW;
	h.qp.max_msg = h.seg_bytes;
	return sdr_hello_encode(p, SDR_REL_HELLO, &h);
}

size_t stranger_packet(struct stranger *s, uint8_t *p, const void *frames, size_t n)
{
	size_t hdr = sdr_packet_encode(p, s->peer_cid, s->pn++);

	memcpy(p + hdr, frames, n);
	return hdr + n;
}

size_t stranger_rec(struct stranger *s, uint8_t *p, size_t room, struct sdr_frame_rec f,
		    const void *payload)
{
	static const uint8_t none;
	size_t n;

	f.rseq = s->rseq;
	f.payload = payload ? payload : &none;
	n = sdr_frame_rec_encode(p, room, &f);
	s->rseq += n > 0;
	return n;
}

/*
 * Ranges in descending order; when there are too many the oldest is forgotten: its packets come
 * again.
 */
static void seen_add(struct sdr_frame_ack *a, uint32_t pn)
{
	uint32_t i = 0;

	while (i < a->n && (int32_t)(a->r[i].lo - pn) > 0)
		i++;
	if (i < a->n && (int32_t)(a->r[i].hi - pn) >= 0)
		return;
	if (i < a->n && a->r[i].hi + 1 == pn) {
		a->r[i].hi = pn;
		if (i && a->r[i - 1].lo == pn + 1) {
			a->r[i - 1].lo = a->r[i].lo;
			memmove(&a->r[i], &a->r[i + 1], (a->n - i - 1) * sizeof(a->r[0]));
			a->n--;
		}
		return;
	}
	if (i && a->r[i - 1].lo == pn + 1) {
		a->r[i - 1].lo = pn;
		return;
	}
	if (i == SDR_ACK_RANGES)
		return;
	if (a->n == SDR_ACK_RANGES)
		a->n--;
	memmove(&a->r[i + 1], &a->r[i], (a->n - i) * sizeof(a->r[0]));
	a->r[i].hi = a->r[i].lo = pn;
	a->n++;
}

size_t stranger_acks(struct stranger *s, uint8_t *p, size_t room)
{
	size_t n = s->seen.n ? sdr_frame_ack_encode(p, room, &s->seen) : 0;

	if (n)
		s->seen.n = 0;
	return n;
}

static enum stranger_event packet_input(struct stranger *s, const uint8_t *p, const uint8_t *end,
					struct stranger_news *news)
{
	struct sdr_frame f;
	uint64_t cid;
	uint32_t pn;

	if (sdr_packet_decode(p, (size_t)(end - p), &cid, &pn) || cid != s->cid)
		return STRANGER_NOTHING;
	p += SDR_PACKET_HDR - SDR_CLASS_LEN;
	while (sdr_frame_next(&p, end, &f) > 0) {
		switch (f.type) {
		case SDR_FRAME_ACK:
			news->ack = f.ack;
			break;
		case SDR_FRAME_CREDIT:
			s->mseq_limit = f.credit.mseq_limit;
			s->msn_limit = f.credit.msn_limit;
			break;
		case SDR_FRAME_CLOSE:
			news->bye |= f.close.reason == SDR_CLOSE_BYE;
			news->bye_ack |= f.close.reason == SDR_CLOSE_BYE_ACK;
			seen_add(&s->seen, pn);
			break;
		case SDR_FRAME_PING:
		case SDR_FRAME_END:
		case SDR_FRAME_REC:
			seen_add(&s->seen, pn);
			break;
		}
	}
	return STRANGER_PACKET;
}

enum stranger_event stranger_input(struct stranger *s, const uint8_t *p, size_t len,
				   struct stranger_news *news)
{
	const uint8_t *end = p + len;
	struct sdr_retry r;
	struct sdr_hello h;
	uint8_t type;

	memset(news, 0, sizeof(*news));
	if (sdr_class_decode(p, len, &type) != SDR_CLASS_REL)
		return STRANGER_NOTHING;
	p += SDR_CLASS_LEN;
	len -= SDR_CLASS_LEN;
	switch (type) {
	case SDR_REL_RETRY:
		if (s->peer_cid || sdr_retry_decode(p, len, &r) || r.cid != s->cid ||
		    s->cookie == r.cookie)
			return STRANGER_NOTHING;
		s->cookie = r.cookie;
		return STRANGER_AGAIN;
	case SDR_REL_HELLO_ACK:
		if (s->peer_cid || sdr_hello_decode(p, len, &h) || h.echo != s->cid)
			return STRANGER_NOTHING;
		s->status = h.status;
		if (h.status)
			return STRANGER_REFUSED;
		s->peer_cid = h.cid;
		s->mseq_limit = h.mseq_limit;
		s->msn_limit = h.msn_limit;
		return STRANGER_OPEN;
	case SDR_REL_RESET:
		if (!s->peer_cid || sdr_retry_decode(p, len, &r) || r.cid != s->peer_cid)
			return STRANGER_NOTHING;
		return STRANGER_RESET;
	case SDR_REL_PACKET:
		return packet_input(s, p, end, news);
	}
	return STRANGER_NOTHING;
}
