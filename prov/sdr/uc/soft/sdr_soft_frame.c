/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Frames: one packet behind the other in a message, and the message in the shape that the kernel
 * takes.
 *
 * Headers, trailers and short payloads lie in an arena one behind the other; the trailer of a
 * packet and the header of the next are one iovec.  Long payloads are gathered straight from the
 * user's memory, check-summed just before the kernel copies them.  No state but the batch that it
 * is given: the owner has one, and each worker that sends another.
 */
#include <netinet/udp.h>
#include <string.h>

#include "sdr_soft_frame.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

/* Appends bytes to the last message. */
static inline void sdr_soft_iov(struct sdr_soft_tx *tx, struct sdr_soft_msg *m, const uint8_t *p,
				size_t len)
{
	if (m->niov) {
		struct iovec *last = &tx->iov[tx->niov - 1];

		if ((const uint8_t *)last->iov_base + last->iov_len == p) {
			last->iov_len += len;
			return;
		}
	}
	SDR_ASSERT(tx->niov < SDR_SOFT_TX_IOVS);
	tx->iov[tx->niov].iov_base = (void *)(uintptr_t)p;
	tx->iov[tx->niov++].iov_len = len;
	m->niov++;
}

void sdr_soft_frame(struct sdr_soft_tx *tx, struct sdr_soft_msg *m, uint32_t seed, uint32_t hlen,
		    const uint8_t *payload, uint32_t len, bool corrupt, bool bare)
{
	uint8_t *h = sdr_soft_arena(tx), *p = h + hlen;
	uint32_t pad = sdr_wire_pad(len), crc;

	if (len <= SDR_SOFT_PACK_MAX || corrupt) {
		if (len)
			memcpy(p, payload, len);
		memset(p + len, 0, pad);
		p += len + pad;
		crc = bare ? 0 : sdr_icrc_final(sdr_soft_icrc(seed, h, (size_t)(p - h)));
		sdr_put_le32(p, crc);
		p += SDR_ICRC_LEN;
		if (corrupt) {
			/* Any bit but those of BTH byte 4, which the ICRC does not cover. */
			uint32_t at = crc % (uint32_t)(p - h);

			h[at == 4 ? 5 : at] ^= (uint8_t)(1u << (crc >> 29));
		}
		sdr_soft_iov(tx, m, h, (size_t)(p - h));
	} else {
		sdr_soft_iov(tx, m, h, hlen);
		sdr_soft_iov(tx, m, payload, len);
		memset(p, 0, pad + SDR_ICRC_LEN);
		if (!bare) {
			crc = sdr_icrc_update(sdr_soft_icrc(seed, h, hlen), payload, len);
			if (pad)
				crc = sdr_icrc_update(crc, p, pad);
			sdr_put_le32(p + pad, sdr_icrc_final(crc));
		}
		sdr_soft_iov(tx, m, p, pad + SDR_ICRC_LEN);
		p += pad + SDR_ICRC_LEN;
	}
	tx->arena_len = (uint32_t)(p - tx->arena);
	SDR_ASSERT(tx->arena_len <= SDR_SOFT_TX_ARENA);
}

void sdr_soft_train_end(struct sdr_soft_tx *tx, uint32_t i)
{
	struct msghdr *h = &tx->hdr[i].msg_hdr;
	const struct sdr_soft_msg *m = &tx->msg[i];
	uint16_t seg = (uint16_t)m->seg;
	size_t len = 0;

	/* All segments but the last are full. */
	SDR_ASSERT(m->nseg && m->bytes <= m->nseg * m->seg && m->bytes > (m->nseg - 1) * m->seg);
	h->msg_iovlen = m->niov;
	if (m->nseg > 1)
		len += sdr_soft_cmsg_put(tx->cmsg[i].buf + len, IPPROTO_UDP, UDP_SEGMENT, &seg,
					 sizeof(seg));
	if (m->ect)
		len += sdr_soft_cmsg_put(tx->cmsg[i].buf + len, tx->tos_level, tx->tos_type,
					 &tx->tos_ect, sizeof(tx->tos_ect));
	h->msg_control = len ? tx->cmsg[i].buf : NULL;
	h->msg_controllen = len;
}
