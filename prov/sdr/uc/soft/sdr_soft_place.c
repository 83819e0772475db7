/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What is done with one data packet: is it sound, may it be placed, and where.
 *
 * A packet is placed when, in this order: the frame is sound, its QPN is ours, the ICRC is right
 * (or zero, from a peer of this host: sdr_soft_host.c), address, immediate and length agree with
 * the geometry, the slot is bound to the generation and key it came with, and it lies inside the
 * bound buffer.  An empty packet places nothing and may lie behind the end: it carries a fragment
 * of the user's immediate.  A packet in pieces (sdr_soft_piece.c) is checked as a whole with each
 * of them, and reported with the last that comes.
 *
 * Threads.  The owner of the engine binds and unbinds; workers place at the same time.  A worker
 * says which slot it is at (its hold) and looks then whether the slot is bound, the owner makes the
 * slot unbound and looks then at all holds, both sequentially consistent: so either the worker
 * finds the slot unbound, or the owner finds the hold and waits.  A worker keeps its hold over a
 * run of packets of one slot, and looks at `bound` for each of them, so the owner waits for one
 * packet and the report of the run.  QPs, pages of slots and the table of QPNs go only when no
 * worker is at work (sdr_soft_worker.c).
 *
 * A packet from which a worker learns that its slot will be used again, later than it was bound
 * last, is early; what is older is late.  Pieces, and what devices send, are for the owner alone.
 *
 * Of a large slot what came first is not in the caches any more when the last has come, if it comes
 * over a network: then packets are copied past them (base/sdr_stream.c).  From a peer of this host
 * it comes so fast that it may be.
 */
#include <string.h>

#include "base/sdr_assert.h"
#include "base/sdr_stream.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_piece.h"
#include "sdr_soft_place.h"
#include "sdr_soft_via.h"

#define SDR_SOFT_FETCH_MIN  2048u	/* payload bytes from which its place is fetched ahead */
#define SDR_SOFT_STREAM_MIN (16u << 20) /* bytes of a slot that goes past the caches */

/*
 * While the check sum of a packet is made, the memory that it will be copied to is fetched, or the
 * copy would wait for each line.  A hint: whether the packet may be placed at all is decided later.
 */
static void sdr_soft_fetch(const uint8_t *p, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i += SDR_SOFT_LINE)
		__builtin_prefetch(p + i, 1);
}

#ifdef __SANITIZE_THREAD__
/*
 * Two workers may have the same packet, come twice, and write the same bytes at the same time; no
 * order is needed between them, and none is there for the sanitizer to find.
 */
__attribute__((no_sanitize("thread"), noinline)) static void
sdr_soft_copy(uint8_t *to, const uint8_t *from, uint32_t len, bool stream)
{
	(void)stream;
	while (len--)
		*to++ = *from++;
}
#else
static inline void sdr_soft_copy(uint8_t *to, const uint8_t *from, uint32_t len, bool stream)
{
	if (stream)
		sdr_stream_copy(to, from, len);
	else
		memcpy(to, from, len);
}
#endif

/* How often the packet's ID was used before it, as its generation and key say. */
static inline uint32_t sdr_soft_use_of(const struct sdr_soft_qp *q, const struct sdr_wire_data *d,
				       uint32_t gen)
{
	return sdr_rkey_epoch(q->rkey, d->rkey) * q->generations + gen;
}

static inline bool sdr_soft_takes(const struct sdr_soft_slot *e, uint32_t gen, uint32_t rkey)
{
	return e && sdr_soft_slot_bound(e) && e->gen == gen && e->rkey == rkey;
}

/* A packet of a message that will be bound: once a message, the worker waits for that. */
static bool sdr_soft_early(struct sdr_soft_hold *h, const struct sdr_soft_qp *q, uint32_t id,
			   uint32_t use)
{
	uint32_t i = id % SDR_SOFT_HOLD_LOST;

	if (h->lost[i].qp == q && h->lost[i].id == id && h->lost[i].use == use)
		return false;
	if (!h->waited)
		return true;
	h->lost[i].qp = q;
	h->lost[i].id = id;
	h->lost[i].use = use;
	return false;
}

/*
 * It was not for the slot as it was bound, if it was.  PLACED: it is now, go on.  `use` is looked
 * at once, and set after `bound`: who finds the packet's own finds the slot bound, or unbound
 * again.
 */
static enum sdr_soft_placed sdr_soft_stray(const struct sdr_soft_qp *q, struct sdr_soft_rx *rx,
					   struct sdr_soft_hold *hold,
					   const struct sdr_soft_slot *e,
					   const struct sdr_wire_data *d, uint32_t gen)
{
	uint32_t last = e ? __atomic_load_n(&e->use, __ATOMIC_SEQ_CST) : 0;
	uint32_t use = sdr_soft_use_of(q, d, gen);

	/* A forged key is as good as none; one of an epoch close by is a late packet's. */
	if (!sdr_rkey_near(q->rkey, d->rkey, (last ? last - 1 : 0) / q->generations)) {
		rx->st->pkts_bad++;
		return SDR_SOFT_GONE;
	}
	if (hold && use + 1 == last && sdr_soft_takes(e, gen, d->rkey))
		return SDR_SOFT_PLACED;
	if (hold && (int32_t)(use + 1 - last) > 0 &&
	    sdr_soft_early(hold, q, sdr_imm_id(&q->split, d->imm), use))
		return SDR_SOFT_EARLY;
	rx->st->pkts_late++;
	return SDR_SOFT_GONE;
}

/* Workers' ports are of no way but the QP's own. */
static uint8_t sdr_soft_came_by(const struct sdr_soft_qp *q, struct sdr_soft_rx *rx)
{
	if (rx->via_of != q) {
		rx->via_of = q;
		rx->via = sdr_soft_via_back(q, rx->inlet[rx->cur]->source, sdr_soft_rx_from(rx),
					    rx->hdr[rx->cur].msg_hdr.msg_namelen);
	}
	return rx->via;
}

enum sdr_soft_placed sdr_soft_place(struct sdr_soft *s, struct sdr_soft_rx *rx,
				    struct sdr_soft_hold *hold, uint8_t *pkt, size_t len,
				    struct sdr_uc_ev *ev)
{
	struct sdr_uc_piece p = { .off = 0 };
	uint32_t id, off, tp, gen, whole;
	struct sdr_wire_data d;
	enum sdr_soft_placed r;
	struct sdr_soft_slot *e;
	struct sdr_soft_qp *q;
	const uint8_t *payload;
	uint64_t at;
	bool bare;

	if (sdr_wire_data_decode(pkt, len, &d, &payload))
		goto bad;
	q = sdr_soft_qp_find(s, d.qpn);
	if (!q)
		goto bad;
	id = sdr_imm_id(&q->split, d.imm);
	off = sdr_imm_off(&q->split, d.imm);
	at = (uint64_t)off * q->mtu;
	e = sdr_soft_slot_find(q, id);
	if (hold) {
		if (hold->slot && hold->slot != e)
			return SDR_SOFT_TURN;
		if (d.piece || __atomic_load_n(&q->nic, __ATOMIC_RELAXED))
			goto bad;
		if (e && !hold->slot)
			__atomic_store_n(&hold->slot, e, __ATOMIC_SEQ_CST);
	}
	bare = !d.piece && !sdr_get_le32(pkt + len - SDR_ICRC_LEN) &&
	       __atomic_load_n(&q->neighbour, __ATOMIC_RELAXED);
	if (!bare && d.len >= SDR_SOFT_FETCH_MIN && !d.piece && e && sdr_soft_slot_bound(e) &&
	    e->len < SDR_SOFT_STREAM_MIN && at <= e->len && d.len <= e->len - at)
		sdr_soft_fetch(e->buf + at, d.len);
	/*
	 * A device's packets come in on port 4791 with an ICRC of their own, a soft engine's with
	 * ours.
	 */
	if (!hold && q->nic ? !rx->nic || !sdr_soft_nic_check(q, sdr_soft_rx_from(rx), pkt, len)
			    : rx->nic_only || (!bare && !sdr_soft_icrc_check(s, pkt, len)))
		goto bad;
	whole = d.piece ? d.whole : d.len;
	if (d.piece ? !sdr_soft_piece_of(q, &d, id * q->max_msg + at, &p)
		    : d.len > q->mtu || d.va != id * q->max_msg + at)
		goto bad;
	tp = (d.qpn - q->qpn) & SDR_QPN_MASK;
	gen = q->channels == 1 ? tp : tp / q->channels;
	if (!sdr_soft_takes(e, gen, d.rkey)) {
		r = sdr_soft_stray(q, rx, hold, e, &d, gen);
		if (r != SDR_SOFT_PLACED)
			return r;
	}
	if (whole) {
		if (at > e->len || whole > e->len - at)
			goto bad;
		sdr_soft_copy(e->buf + at + p.off, payload, d.len,
			      !bare && e->len >= SDR_SOFT_STREAM_MIN);
	}
	ev->ecn = rx->ecn;
	ev->via = hold || !q->via ? 0 : sdr_soft_came_by(q, rx);
	ev->since = rx->worker ? rx->stamp : rx->since;
	if (d.piece) {
		rx->st->pieces_rx++;
		q->piece_ce |= (uint32_t)(rx->ecn == SDR_UC_CE) << ev->via;
		if (!sdr_soft_piece_enter(q, e, off, &p))
			return SDR_SOFT_GONE;
	}
	if (!hold && q->piece_ce >> ev->via & 1) {
		ev->ecn = SDR_UC_CE;
		q->piece_ce &= ~(1u << ev->via);
	}
	rx->st->pkts_rx++;
	rx->st->bytes_rx += whole;
	ev->kind = SDR_UC_EV_PLACED;
	ev->gen = (uint8_t)gen;
	ev->channel = (uint8_t)(tp - gen * q->channels);
	ev->len = whole;
	ev->p.cookie = q->cookie;
	ev->p.imm = d.imm;
	return SDR_SOFT_PLACED;
bad:
	rx->st->pkts_bad++;
	return SDR_SOFT_GONE;
}
