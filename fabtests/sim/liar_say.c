/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See liar.h: frames, and the packet that holds one or as many as fit.  It goes to one of the
 * victim's connections, under its id, from the address of its peer or another of the liar's; some
 * come twice, late, or damaged.
 */
#include <stdio.h>
#include <stdlib.h>
#include "liar_say.h"

/* ---- a packet -------------------------------------------------------------------------------- */

/* Does the datagram show that who sends it from there has heard the victim? */
static bool shows(struct liar *l, uint32_t i, const uint8_t *p, size_t len)
{
	struct sdr_rel *rel = l->node[LIAR_VICTIM].ep->rel;
	struct sdr_conn *c;
	struct sdr_hello h;
	uint8_t type;
	uint64_t cid;
	uint32_t pn;

	if (!rel || sdr_class_decode(p, len, &type) != SDR_CLASS_REL)
		return false;
	p += SDR_CLASS_LEN;
	len -= SDR_CLASS_LEN;
	if (type == SDR_REL_PACKET && !sdr_packet_decode(p, len, &cid, &pn)) {
		c = sdr_conn_by_cid(rel, cid);
		return c && liar_number_of(&c->addr) == i;
	}
	if ((type != SDR_REL_HELLO && type != SDR_REL_HELLO_ACK) || sdr_hello_decode(p, len, &h))
		return false;
	return (h.cookie && h.cookie == l->cookie[i]) || (h.echo && sdr_conn_by_cid(rel, h.echo));
}

static void said(struct liar *l, uint32_t from, const uint8_t *p, size_t len)
{
	uint8_t type;

	if (sdr_class_decode(p, len, &type) == SDR_CLASS_REL &&
	    (type == SDR_REL_HELLO || type == SDR_REL_HELLO_ACK))
		l->hellos++;
	for (uint32_t i = 0; i < LIAR_NUMBERS; i++) {
		if (liar_number(l, i) != from)
			continue;
		l->said[i] += len + SDR_SIM_CTL_OVER;
		l->proved[i] |= shows(l, i, p, len);
	}
}

void liar_inject(struct liar *l, uint32_t from, const uint8_t *p, size_t len)
{
	uint64_t delay = liar_one_in(l->d, 24) ? liar_below(l->d, 8) * MS / 2 : 0;

	LIAR_CHECK(!sdr_sim_inject_ctl(l->w, from, LIAR_VICTIM, delay, p, len), "not injected");
	l->st.forged++;
	said(l, from, p, len);
	memcpy(l->last, p, len);
	l->last_len = len;
	l->last_from = from;
}

size_t liar_room(const struct liar *l)
{
	size_t most =
		l->node[LIAR_VICTIM].ep->rel ? l->node[LIAR_VICTIM].ep->rel->ctl_max : SDR_CTL_MIN;

	return most - SDR_PACKET_HDR - l->n;
}

static void flip_bit(struct liar *l, uint8_t *p, size_t n)
{
	uint32_t at = liar_below(l->d, (uint32_t)n);

	p[at] ^= (uint8_t)(1u << liar_below(l->d, 8));
}

void liar_say(struct liar *l, struct sdr_conn *c)
{
	uint8_t p[SDR_CTL_MAX];
	uint32_t pn = l->pn++, from;
	size_t n;

	if (!l->n)
		return;
	switch (liar_below(l->d, 64)) {
	case 0:
		pn -= 1 + liar_below(l->d, 4);
		l->pn--;
		break;
	case 1:
		pn += 1u << liar_below(l->d, 32);
		if (pn - l->pn < PN_JUMP)
			l->pn = pn + 1;
		break;
	case 2:
		l->pn += liar_below(l->d, 100);
		break;
	}
	from = liar_number(l, l->habits & HABIT_MOVES && liar_one_in(l->d, 16)
				      ? liar_below(l->d, LIAR_NUMBERS)
				      : liar_number_of(&c->addr));
	n = sdr_packet_encode(p, c->id.cid, pn);
	memcpy(p + n, l->frames, l->n);
	n += l->n;
	l->n = 0;
	if (!l->strict && liar_one_in(l->d, 100))
		n -= liar_below(l->d, (uint32_t)(n - SDR_PACKET_HDR));
	if (!l->strict && liar_one_in(l->d, 100))
		flip_bit(l, p, n);
	if (liar_one_in(l->d, l->habits & HABIT_SHAPES ? 4 : 32)) {
		liar_parts(l, c, from, pn, p, n);
		return;
	}
	liar_inject(l, from, p, n);
	if (liar_one_in(l->d, 50))
		liar_inject(l, from, p, n);
}

void liar_packet_new(struct liar *l, bool strict)
{
	l->n = 0;
	l->strict = strict;
	l->acked = false;
}

bool liar_put(struct liar *l, size_t n)
{
	l->n += n;
	return n > 0;
}

bool liar_put_rec(struct liar *l, struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_frame_rec r = *f;
	size_t room = liar_room(l), n;

	if (sdr_frame_rec_size(&r) > room)
		return false;
	r.rseq = liar_rseq(l, c);
	n = sdr_frame_rec_encode(l->frames + l->n, room, &r);
	return liar_put(l, n);
}

static bool say_rec(struct liar *l, struct sdr_conn *c)
{
	static const uint8_t ops[] = { SDR_REC_SEND,	   SDR_REC_SEND,       SDR_REC_TSEND,
				       SDR_REC_WRITE,	   SDR_REC_READ,       SDR_REC_BIND,
				       SDR_REC_CTS,	   SDR_REC_PARK,       SDR_REC_READ_RSP,
				       SDR_REC_DONE,	   SDR_REC_WRITE,      SDR_REC_TSEND,
				       SDR_REC_ATOMIC,	   SDR_REC_ATOMIC_RSP, SDR_REC_ATOMIC,
				       SDR_REC_ATOMIC_END, SDR_REC_CALL,       SDR_REC_BERTH };
	struct sdr_frame_rec f = liar_rec_draw(l, c, ops[liar_below(l->d, sizeof(ops))]);

	return liar_put_rec(l, c, &f);
}

/* ---- other frames ---------------------------------------------------------------------------- */

/* What is reserved in acknowledgements. */
static void ack_more(struct liar *l, struct sdr_frame_ack *f)
{
	if (!liar_one_in(l->d, 8))
		return;
	f->flags = (uint8_t)(liar_below(l->d, 4) * SDR_ACK_PATH);
	f->path = (uint8_t)liar_below(l->d, 256);
	f->ecn = (struct sdr_frame_ecn){ liar_bits32(l), liar_bits32(l), liar_bits32(l) };
}

static bool say_ack(struct liar *l, const struct sdr_conn *c)
{
	struct sdr_frame_ack f = { .n = 1 + (liar_one_in(l->d, 4) ? liar_below(l->d, 6) : 0) };
	uint32_t at = c->tx.pn - 1;

	if (l->acked && !liar_wild(l))
		return true;
	l->acked = true;
	f.delay_us = liar_one_in(l->d, 8) ? liar_bits32(l) : liar_below(l->d, 1000);
	if (liar_wild(l))
		at += 1 + liar_below(l->d, 5);
	for (uint32_t i = 0; i < f.n; i++) {
		at -= liar_below(l->d, 4);
		f.r[i].hi = at;
		at -= liar_below(l->d, liar_one_in(l->d, 3) ? 2000 : 8);
		f.r[i].lo = at;
		at -= 2;
	}
	ack_more(l, &f);
	return liar_put(l, sdr_frame_ack_encode(l->frames + l->n, liar_room(l), &f));
}

static bool say_marks(struct liar *l)
{
	struct sdr_frame_marks f = { 0 };

	for (uint8_t i = (uint8_t)(1 + liar_below(l->d, 3)); i < SDR_PATHS_MAX && f.n < 4;
	     i = (uint8_t)(i + 1 + liar_below(l->d, 4))) {
		f.v[f.n].path = i;
		f.v[f.n++].ecn = liar_wild(l)
					 ? (struct sdr_frame_ecn){ liar_bits32(l), liar_bits32(l),
								   liar_bits32(l) }
					 : (struct sdr_frame_ecn){ liar_below(l->d, 1000),
								   liar_below(l->d, 2),
								   liar_below(l->d, 1000) };
	}
	return liar_put(l, sdr_frame_marks_encode(l->frames + l->n, liar_room(l), &f));
}

/* A frame with a length: known, reserved, or of a later version. */
static bool say_long(struct liar *l)
{
	struct sdr_frame_path path = { .path = (uint8_t)liar_below(l->d, 256) };
	uint32_t how = liar_below(l->d, 8);
	size_t room = liar_room(l), n;

	if (how == 7)
		return say_marks(l);
	if (how == 4)
		return liar_put(l, sdr_frame_held_encode(l->frames + l->n, room));
	if (how == 6)
		return liar_put(l, sdr_frame_aside_encode(l->frames + l->n, room));
	if (how == 5)
		return liar_put(
			l, sdr_frame_drops_encode(l->frames + l->n, room,
						  &(struct sdr_frame_drops){
							  liar_wild(l) ? liar_bits32(l)
								       : liar_below(l->d, 100) }));
	if (how < 2) {
		sdr_put_le64(path.data, liar_bits(l->d, 8));
		return liar_put(l, sdr_frame_path_encode(l->frames + l->n, room,
							 how ? SDR_FRAME_PATH_CHALLENGE
							     : SDR_FRAME_PATH_RESPONSE,
							 &path));
	}
	n = sdr_frame_long_encode(
		l->frames + l->n, room,
		how == 2 ? SDR_FRAME_PADDING : (uint8_t)(SDR_FRAME_LONG + liar_below(l->d, 128)),
		NULL, (uint16_t)liar_below(l->d, liar_one_in(l->d, 8) ? 900 : 20));
	return liar_put(l, n);
}

static bool say_dack(struct liar *l, const struct sdr_conn *c)
{
	struct sdr_frame_dack f = { 0 };
	struct sdr_seg_tx *s;
	uint64_t bits[64];
	uint32_t limit, how = liar_below(l->d, 256);

	f.msn = liar_msn_out(l, c, &s);
	limit = s && !liar_wild(l) ? s->high : liar_below(l->d, 2000);
	if (s && liar_one_in(l->d, 10))
		limit = liar_one_in(l->d, 2) ? s->npkts : s->high + 1;
	if (how & 1)
		f.flags |= SDR_DACK_COMPLETE;
	if (how & 2)
		f.flags |= SDR_DACK_GAP;
	if (how >= 240) {
		f.flags |= (uint8_t)(liar_below(l->d, 4) * SDR_DACK_PATH);
		f.path = (uint8_t)liar_below(l->d, 256);
		f.ecn.ce = liar_bits32(l);
	}
	if ((how & 13) == 13) {
		f.flags |= SDR_DACK_DECODED;
		f.dec_pkts = 1 + liar_below(l->d, liar_wild(l) ? 65535 : 64);
		f.dec_chunks = 1 + liar_below(l->d, f.dec_pkts);
	}
	f.cum = limit ? liar_below(l->d, limit + 1) : 0;
	if (how & 16)
		f.cum = 0;
	f.base = f.cum;
	if (limit > f.cum && how & 32)
		f.base += liar_below(l->d, limit - f.cum);
	if (limit > 4096)
		limit = 4096;
	f.echo = liar_wild(l) ? liar_bits32(l) : limit ? liar_below(l->d, limit) : ~0u;
	f.echo_delay_us = liar_one_in(l->d, 6) ? liar_bits32(l) : liar_below(l->d, 1000);
	f.dups = liar_one_in(l->d, 6) ? liar_below(l->d, 1000) : 0;
	for (uint32_t i = 0; i < (limit + 63) / 64; i++)
		bits[i] = how & 64		? liar_bits(l->d, 8)
			  : liar_below(l->d, 4) ? ~0ull
						: liar_bits(l->d, 1) << 8;
	return liar_put(l, sdr_frame_dack_encode(l->frames + l->n, liar_room(l), &f, bits,
						 limit > f.base ? limit : f.base));
}

bool liar_say_end(struct liar *l, const struct sdr_conn *c)
{
	struct sdr_frame_end f = { .msn = liar_msn_in(l, c) };

	return liar_put(l, sdr_frame_end_encode(l->frames + l->n, liar_room(l), &f));
}

static bool say_credit(struct liar *l, const struct sdr_conn *c)
{
	struct sdr_frame_credit f = { .msn_limit = c->credit.msn_limit - 2,
				      .mseq_limit = c->credit.mseq_limit - 2 };

	f.msn_limit += liar_below(l->d, 64);
	f.mseq_limit += liar_below(l->d, 64);

	if (liar_wild(l))
		f.msn_limit = liar_bits32(l);
	if (liar_wild(l))
		f.mseq_limit = liar_bits32(l);
	return liar_put(l, sdr_frame_credit_encode(l->frames + l->n, liar_room(l), &f));
}

static bool say_close(struct liar *l)
{
	struct sdr_frame_close f = { (uint16_t)(1 + liar_below(l->d, 2)) };

	if (liar_wild(l))
		f.reason = (uint16_t)liar_bits32(l);
	return liar_put(l, sdr_frame_close_encode(l->frames + l->n, liar_room(l), &f));
}

static bool say_bytes(struct liar *l)
{
	size_t n = 1 + liar_below(l->d, 40);

	if (n > liar_room(l))
		return false;
	for (size_t i = 0; i < n; i++)
		l->frames[l->n + i] = (uint8_t)liar_bits(l->d, 1);
	l->frames[l->n] &= 7;
	return liar_put(l, n);
}

/*
 * What an honest peer would say now, or nearly so: all packets have come, all data, all questions
 * have an answer.
 */
bool liar_say_help(struct liar *l, struct sdr_conn *c)
{
	struct sdr_frame_ack a = {
		.n = 1, .r = { { c->tx.pn - 1, c->tx.pn - 1 - liar_below(l->d, 1024) } }
	};
	struct sdr_list *k;
	uint32_t n = 0;

	if (!l->acked)
		liar_put(l, sdr_frame_ack_encode(l->frames + l->n, liar_room(l), &a));
	l->acked = true;
	sdr_list_each(k, &c->bulk->tx.segs) {
		struct sdr_seg_tx *s = sdr_container(k, struct sdr_seg_tx, link);
		struct sdr_frame_dack f = {
			.flags = SDR_DACK_COMPLETE, .msn = s->msn, .cum = s->npkts, .echo = ~0u
		};

		if (n++ == 16 || s->next < s->npkts || liar_one_in(l->d, 8))
			break;
		liar_put(l, sdr_frame_dack_encode(l->frames + l->n, liar_room(l), &f, NULL, 0));
	}
	n = 0;
	sdr_list_each(k, &c->msg->ops) {
		struct sdr_op *op = sdr_container(k, struct sdr_op, link);
		struct sdr_frame_rec f = { .op = SDR_REC_DONE,
					   .id = op->wire_id,
					   .payload = liar_junk() };

		if (n++ == 16)
			break;
		if (liar_one_in(l->d, 4))
			continue;
		if (op->waiting) {
			f.op = SDR_REC_CTS;
			f.flags = sdr_qp_peer_rkeyed(c->shape->qp) ? SDR_REC_F_KEY : 0;
		} else if (op->kind->number == SDR_REL_READ &&
			   op->len <= sdr_seal_inline_max(c->rel, c->rel->ctl_max)) {
			f.op = SDR_REC_READ_RSP;
			f.payload_len = (uint32_t)op->len;
		} else if (op->kind->number == SDR_REL_FETCH_ATOMIC) {
			f.op = SDR_REC_ATOMIC_RSP;
			f.payload_len = (uint32_t)op->moved;
		} else if (!op->need_done && op->kind->number != SDR_REL_ATOMIC) {
			continue;
		}
		liar_put_rec(l, c, &f);
	}
	return false;
}

static bool say_frame(struct liar *l, struct sdr_conn *c)
{
	uint32_t k = liar_below(l->d, 64);

	if (l->habits & HABIT_HELPS && liar_one_in(l->d, 3))
		return liar_say_help(l, c);
	if (liar_one_in(l->d, l->habits & HABIT_SHAPES ? 6 : 64))
		return liar_say_shape(l, c);
	if (k < 30)
		return say_rec(l, c);
	if (k < 38)
		return say_ack(l, c);
	if (k < 48)
		return say_dack(l, c);
	if (k < 53)
		return liar_say_end(l, c);
	if (k < 56)
		return say_credit(l, c);
	if (k < 58)
		return liar_put(l, sdr_frame_ping_encode(l->frames + l->n, liar_room(l)));
	if (k < 61)
		return liar_one_in(l->d, 2) ? say_long(l) : liar_say_help(l, c);
	if (k < 62)
		return (l->habits & HABIT_CLOSES || liar_one_in(l->d, 8)) && say_close(l);
	return l->strict || say_bytes(l);
}

void liar_say_packet(struct liar *l)
{
	struct sdr_conn *c = liar_conn_pick(l);
	bool full = l->habits & HABIT_FULL && liar_one_in(l->d, 4);
	uint32_t n = full ? 400 : 1 + liar_below(l->d, 4);

	liar_packet_new(l, full);
	if (!c)
		return;
	while (n-- && liar_room(l) > ROOM_LEFT)
		say_frame(l, c);
	liar_say(l, c);
}
