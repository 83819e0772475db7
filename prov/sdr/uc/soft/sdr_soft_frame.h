/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Frames of a train: headers, payload, check sums, as pieces of a message (sdr_soft_frame.c).  Used
 * by post, and by each worker that sends.
 */
#ifndef SDR_SOFT_FRAME_H
#define SDR_SOFT_FRAME_H

#include "base/sdr_assert.h"
#include "sdr_soft_impl.h"

#define SDR_SOFT_TRAILER_MAX (3u + SDR_ICRC_LEN) /* bytes: pad and ICRC */

/* What the headers of all packets of a WRITE have in common. */
struct sdr_soft_head {
	uint32_t qpn, rkey;
	uint64_t va; /* of the message */
};

static inline void sdr_soft_head_set(struct sdr_soft_head *h, const struct sdr_soft_qp *q,
				     const struct sdr_uc_tx *t)
{
	uint32_t tp = (uint32_t)t->gen * q->channels + t->channel;

	h->qpn = q->nic ? q->nic->tpn[tp] : (q->peer_qpn + tp) & SDR_QPN_MASK;
	if (t->flags & SDR_UC_F_RKEYED) {
		h->va = t->w.va;
		h->rkey = t->w.rkey;
	} else {
		h->va = (uint64_t)t->w.slot * q->max_msg;
		h->rkey = q->nic ? q->peer_rkey : sdr_rkey_of_epoch(q->peer_rkey, t->w.epoch);
	}
}

/* Packet number pkt of the WRITE, whole. */
static inline void sdr_soft_data_set(struct sdr_wire_data *d, const struct sdr_soft_head *h,
				     const struct sdr_soft_qp *q, const struct sdr_uc_tx *t,
				     uint32_t pkt, uint32_t len, uint32_t psn)
{
	uint32_t off = t->w.first + pkt;

	d->qpn = h->qpn;
	d->psn = psn;
	d->va = h->va + (uint64_t)off * q->mtu;
	d->rkey = h->rkey;
	d->len = len;
	d->imm = sdr_imm_pack(&q->split, t->w.slot, off,
			      sdr_imm_frag(&q->split, t->w.user_imm, off));
	d->piece = 0;
}

static inline bool sdr_soft_tx_ect(const struct sdr_soft *s, const struct sdr_uc_tx *t)
{
	return s->ecn && t->flags & SDR_UC_F_ECT;
}

static inline uint8_t *sdr_soft_arena(struct sdr_soft_tx *tx)
{
	return tx->arena + tx->arena_len;
}

/* All that was built has left, or is given up: there is room again. */
static inline void sdr_soft_batch_reset(struct sdr_soft_tx *tx)
{
	tx->nmsg = 0;
	tx->niov = 0;
	tx->arena_len = 0;
	tx->bytes = 0;
}

static inline bool sdr_soft_batch_is_empty(const struct sdr_soft_tx *tx)
{
	return !tx->nmsg && !tx->niov && !tx->arena_len && !tx->bytes;
}

static inline void sdr_soft_msg_add(struct sdr_soft_msg *m, uint32_t wire)
{
	SDR_ASSERT(!m->nseg || (wire <= m->seg && m->nseg < SDR_SOFT_GSO_SEGS));
	m->nseg++;
	m->bytes += wire;
	m->closed |= wire < m->seg;
}

/*
 * Before the check sum of a packet is made the payload of the next one is fetched: processors fetch
 * ahead within a page only.  at: where the packet begins in the WRITE; len: its payload, bytes.
 */
static inline void sdr_soft_fetch_next(const struct sdr_uc_tx *t, uint64_t at, uint32_t len)
{
	uint64_t next = at + len, end = next + len < t->len ? next + len : t->len;

	for (; next < end; next += SDR_SOFT_LINE)
		__builtin_prefetch(t->buf + next);
}

/*
 * Frames one packet: header (written by the caller at the arena's end), payload, pad, ICRC; bare:
 * zeros in its place.
 */
void sdr_soft_frame(struct sdr_soft_tx *tx, struct sdr_soft_msg *m, uint32_t seed, uint32_t hlen,
		    const uint8_t *payload, uint32_t len, bool corrupt, bool bare);
/* Message i is built: its pieces, and what the kernel is told of it. */
void sdr_soft_train_end(struct sdr_soft_tx *tx, uint32_t i);

#endif /* SDR_SOFT_FRAME_H */
