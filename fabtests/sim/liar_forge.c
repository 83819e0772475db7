/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See liar.h: lies.
 *
 * A packet goes to one of the victim's connections, under its id and from the address of its peer (or another of the
 * liar's).  It holds one frame or as many as fit.  A value is drawn by what it means: numbers of messages around the
 * windows of the connection, ids of operations that live, keys that are valid; one in some is off by one, one in more
 * is any number.
 *
 * In the honest node's name come only datagrams of somebody off the path: he knows no connection id.
 */
#include <stdio.h>
#include <stdlib.h>
#include "liar.h"

#define ROOM_LEFT 40u	     /* bytes: a packet with no more is full */
#define PN_JUMP	  (1u << 20) /* farther, and what follows would be taken for old */
#define OWN_CID	  7u	     /* of many forged HELLOs */

enum liar_habit {			 /* what a run's liar does beside the usual */
		  HABIT_WILD = 1 << 0,	 /* many values from nowhere */
		  HABIT_FULL = 1 << 1,	 /* packets as full as they can be */
		  HABIT_CLOSES = 1 << 2, /* BYE, RESET and what ends connections */
		  HABIT_HELLOS = 1 << 3, /* many handshakes */
		  HABIT_CODES = 1 << 4,	 /* parity in every bulk */
		  HABIT_DATA = 1 << 5,	 /* data packets */
		  HABIT_HELPS = 1 << 6,	 /* answers as an honest peer would, mostly */
		  HABIT_FLOODS = 1 << 7,
		  HABIT_MOVES = 1 << 8, /* from another address of its own */
};

/* ---- numbers ------------------------------------------------------------------------------------------------------- */

static uint32_t number(const struct liar *l, uint32_t i)
{
	(void)l;
	return i ? 100 + i : LIAR_PEER + 1; /* node n has number n + 1 */
}

static bool is_honest(const struct sdr_uc_addr *a)
{
	struct sdr_uc_addr h;

	sdr_sim_addr_make(LIAR_HONEST + 1, &h);
	return sdr_uc_addr_equal(a, &h);
}

static uint32_t number_of(const struct sdr_uc_addr *a)
{
	struct sdr_uc_addr x;

	for (uint32_t i = 0; i < LIAR_NUMBERS; i++) {
		sdr_sim_addr_make(i ? 100 + i : LIAR_PEER + 1, &x);
		if (sdr_uc_addr_equal(a, &x))
			return i;
	}
	return 0;
}

static uint32_t bits32(struct liar *l)
{
	return (uint32_t)liar_bits(l->d, 4);
}

static bool wild(struct liar *l)
{
	return liar_one_in(l->d, l->habits & HABIT_WILD ? 6 : 40);
}

/* One of the victim's connections to the liar, by any address. */
static struct sdr_conn *conn_pick(struct liar *l)
{
	struct sdr_rel *rel = l->node[LIAR_VICTIM].rel;
	struct sdr_conn *pick = NULL;
	struct sdr_list *k;
	uint32_t n = 0;

	if (!rel)
		return NULL;
	sdr_list_each(k, &rel->conn_list) {
		struct sdr_conn *c = sdr_container(k, struct sdr_conn, link);

		if (c->state == SDR_CONN_DEAD || is_honest(&c->peer->addr))
			continue;
		if (c->cid == l->cid && !liar_one_in(l->d, 16))
			return c;
		n++;
		if (!pick || liar_one_in(l->d, n))
			pick = c;
	}
	if (pick && pick->cid != l->cid) {
		l->cid = pick->cid;
		l->pn = pick->rx_pns.n ? pick->rx_pns.r[0].hi + 1000 : 1000;
		l->rseq = pick->rx_rseq;
	}
	return pick;
}

/* ---- a packet ------------------------------------------------------------------------------------------------------ */

static void inject(struct liar *l, uint32_t from, const uint8_t *p, size_t len)
{
	uint64_t delay = liar_one_in(l->d, 24) ? liar_below(l->d, 8) * MS / 2 : 0;

	LIAR_CHECK(!sdr_sim_inject_ctl(l->w, from, LIAR_VICTIM, delay, p, len), "not injected");
	l->st.forged++;
	memcpy(l->last, p, len);
	l->last_len = len;
	l->last_from = from;
}

static size_t room_of(const struct liar *l)
{
	size_t most = l->node[LIAR_VICTIM].rel ? l->node[LIAR_VICTIM].rel->ctl_max : SDR_CTL_MIN;

	return most - SDR_PACKET_HDR - l->n;
}

static void flip_bit(struct liar *l, uint8_t *p, size_t n)
{
	uint32_t at = liar_below(l->d, (uint32_t)n);

	p[at] ^= (uint8_t)(1u << liar_below(l->d, 8));
}

static void say(struct liar *l, struct sdr_conn *c)
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
	from = number(l, l->habits & HABIT_MOVES && liar_one_in(l->d, 16) ? liar_below(l->d, LIAR_NUMBERS)
									  : number_of(&c->addr));
	n = sdr_packet_encode(p, c->cid, pn);
	memcpy(p + n, l->frames, l->n);
	n += l->n;
	l->n = 0;
	if (!l->strict && liar_one_in(l->d, 100))
		n -= liar_below(l->d, (uint32_t)(n - SDR_PACKET_HDR));
	if (!l->strict && liar_one_in(l->d, 100))
		flip_bit(l, p, n);
	inject(l, from, p, n);
	if (liar_one_in(l->d, 50))
		inject(l, from, p, n);
}

static void packet_new(struct liar *l, bool strict)
{
	l->n = 0;
	l->strict = strict;
	l->acked = false;
}

static bool put(struct liar *l, size_t n)
{
	l->n += n;
	return n > 0;
}

/* ---- plausible values ---------------------------------------------------------------------------------------------- */

static struct sdr_list *nth(const struct sdr_list *head, uint32_t n)
{
	struct sdr_list *k = head->next;

	if (k == head)
		return NULL;
	for (n %= 64; n--;)
		k = k->next == head ? head->next : k->next;
	return k;
}

static struct sdr_op *op_pick(struct liar *l, const struct sdr_conn *c)
{
	const struct sdr_list *head = liar_one_in(l->d, 8) ? &c->held : &c->ops;
	struct sdr_list *k = nth(head, liar_below(l->d, 64));

	return k ? sdr_container(k, struct sdr_op, link) : NULL;
}

static struct sdr_bulk_rx *brx_pick(struct liar *l, const struct sdr_conn *c)
{
	struct sdr_list *k = nth(&c->brx, liar_below(l->d, 64));

	return k ? sdr_container(k, struct sdr_bulk_rx, link) : NULL;
}

static uint32_t draw_id(struct liar *l, const struct sdr_conn *c, bool theirs)
{
	struct sdr_rel *rel = c->rel;
	struct sdr_op *op;

	if (wild(l))
		return bits32(l);
	if (theirs)
		return liar_below(l->d, 16);
	if (liar_one_in(l->d, 16) && !sdr_list_empty(&rel->conn_list)) { /* of another connection */
		struct sdr_list *k = nth(&rel->conn_list, liar_below(l->d, 8));

		c = sdr_container(k, struct sdr_conn, link);
	}
	op = op_pick(l, c);
	if (!op)
		return bits32(l);
	if (liar_one_in(l->d, 32))
		return op->wire_id + 1;
	return liar_one_in(l->d, 8) ? op->id : op->wire_id;
}

/* A message number of bulk to the victim. */
static uint32_t draw_msn_in(struct liar *l, const struct sdr_conn *c)
{
	uint32_t base = sdr_qp_recv_base(c->qp);
	struct sdr_bulk_rx *b;

	if (wild(l))
		return bits32(l);
	switch (liar_below(l->d, 6)) {
	case 0:
		return base - 1 - liar_below(l->d, 4);
	case 1:
		return sdr_conn_msn_limit(c) - 2 + liar_below(l->d, 4);
	case 2:
		b = brx_pick(l, c);
		if (b && b->has_msn)
			return b->msn + liar_below(l->d, 4);
		return base;
	case 3:
		return base;
	default:
		return base + liar_below(l->d, 16);
	}
}

/* One of bulk from it. */
static uint32_t draw_msn_out(struct liar *l, const struct sdr_conn *c, struct sdr_seg_tx **s)
{
	struct sdr_list *k = nth(&c->segs, liar_below(l->d, 64));

	*s = k ? sdr_container(k, struct sdr_seg_tx, link) : NULL;
	if (wild(l))
		return bits32(l);
	if (*s && !liar_one_in(l->d, 10))
		return (*s)->msn;
	return c->tx_msn + 1 - liar_below(l->d, 6);
}

static uint32_t draw_rseq(struct liar *l, const struct sdr_conn *c)
{
	/* What was dropped has left holes: they are filled before the window ends. */
	if (l->rseq - c->rx_rseq > SDR_REL_CTL_WINDOW / 2)
		l->rseq = c->rx_rseq;
	while (l->rseq - c->rx_rseq < SDR_REL_CTL_WINDOW - 1 && sdr_rec_seen(c, l->rseq))
		l->rseq++;
	switch (liar_below(l->d, 48)) {
	case 0:
		return l->rseq - 1 - liar_below(l->d, 4);
	case 1:
		return c->rx_rseq + SDR_REL_CTL_WINDOW - 1;
	case 2: /* outside: nothing of the packet counts */
		if (l->strict)
			return l->rseq++;
		return wild(l) ? bits32(l) : c->rx_rseq + SDR_REL_CTL_WINDOW + liar_below(l->d, 2);
	case 3:
		l->rseq++;
		/* fall through */
	default:
		return l->rseq++;
	}
}

static uint64_t draw_len(struct liar *l, const struct sdr_conn *c)
{
	static const uint64_t far[] = { 1ull << 32, 1ull << 40, (1ull << 40) + 1,
					1ull << 63, UINT64_MAX, 64ull << 30 };
	const struct sdr_op *op;
	uint64_t n;

	if (wild(l)) {
		if (liar_one_in(l->d, 2))
			return far[liar_below(l->d, 6)];
		n = liar_bits(l->d, 8);
		return n >> liar_below(l->d, 64);
	}
	switch (liar_below(l->d, 12)) {
	case 0:
		return 0;
	case 1:
		return SDR_REL_UNEXP_BULK - 1 + liar_below(l->d, 3);
	case 2:
		n = c->seg_bytes * (1 + liar_below(l->d, 3)) - 1;
		return n + liar_below(l->d, 3);
	case 3:
		return c->rel->inline_max - 1 + liar_below(l->d, 3);
	case 4:
		op = op_pick(l, c);
		return op ? op->len : 100;
	case 5:
		return 1 + (uint64_t)bits32(l) % (8u << 20);
	default:
		return 1 + liar_below(l->d, 40) * 512;
	}
}

static void draw_code(struct liar *l, const struct sdr_conn *c, struct sdr_frame_code *f)
{
	f->kind = (uint8_t)(1 + liar_below(l->d, 2));
	f->flags = liar_below(l->d, 4) & SDR_FRAME_CODE_FLAGS;
	f->k = (uint16_t)(1 + liar_below(l->d, wild(l) ? 255 : 16));
	f->m = (uint16_t)(1 + liar_below(l->d, wild(l) ? 255 : 8));
	f->chunk = wild(l) ? bits32(l) : c->mtu * (1 + liar_below(l->d, 8));
	f->seg = wild(l) ? bits32(l) : f->chunk * (1 + liar_below(l->d, 64));
	f->from = (uint64_t)f->chunk * (wild(l) ? bits32(l) : liar_below(l->d, 4));
}

static void draw_rma(struct liar *l, struct sdr_frame_rec *f)
{
	static const uint64_t keys[] = { LIAR_KEY_RW, LIAR_KEY_RW, LIAR_KEY_RO, LIAR_KEY_WO, 0xbad, 0 };

	f->key = keys[liar_below(l->d, 6)];
	if (wild(l))
		f->key = bits32(l);
	switch (liar_below(l->d, 8)) {
	case 0:
		f->addr = LIAR_REGION - f->len;
		break;
	case 1:
		f->addr = LIAR_REGION - f->len + 1;
		break;
	case 2:
		f->addr = wild(l) ? UINT64_MAX - liar_below(l->d, 200) : LIAR_REGION;
		break;
	default:
		f->addr = liar_below(l->d, 64);
	}
}

/* ---- records ------------------------------------------------------------------------------------------------------- */

static const uint8_t *junk(void)
{
	static uint8_t b[SDR_CTL_MAX];

	if (!b[1])
		for (uint32_t i = 0; i < sizeof(b); i++)
			b[i] = (uint8_t)(i * 7 + 1);
	return b;
}

static bool is_msg(uint8_t op)
{
	return op == SDR_REC_SEND || op == SDR_REC_TSEND;
}

static void rec_bytes(struct liar *l, const struct sdr_conn *c, struct sdr_frame_rec *f)
{
	const struct sdr_op *op = f->op == SDR_REC_READ_RSP ? op_pick(l, c) : NULL;

	f->len = draw_len(l, c);
	if (liar_one_in(l->d, 3) && f->op != SDR_REC_BIND) { /* inline */
		f->payload_len = (uint32_t)(f->len % (c->rel->inline_max + 1));
		if (op && op->kind == SDR_REL_READ && op->len <= c->rel->inline_max) {
			f->id = op->wire_id;
			f->payload_len = (uint32_t)op->len;
		}
		f->len = f->payload_len;
		return;
	}
	f->flags |= SDR_REC_F_LEN;
	if (!liar_one_in(l->d, 4) || f->op == SDR_REC_BIND)
		f->flags |= SDR_REC_F_BULK;
	if ((f->flags & SDR_REC_F_BULK) && (l->habits & HABIT_CODES || liar_one_in(l->d, 12)))
		f->flags |= SDR_REC_F_CODE;
}

static struct sdr_frame_rec rec_draw(struct liar *l, struct sdr_conn *c, uint8_t op)
{
	struct sdr_frame_rec f = { .op = op, .payload = junk() };
	struct sdr_bulk_rx *b;

	f.id = draw_id(l, c, op <= SDR_REC_READ || op == SDR_REC_BIND);
	f.data = 0xdead;
	if (is_msg(op)) {
		f.flags = SDR_REC_F_ORDER;
		f.tag = liar_below(l->d, 4);
		if (op == SDR_REC_TSEND)
			f.flags |= SDR_REC_F_TAG;
		f.mseq = wild(l)		? bits32(l)
			 : liar_one_in(l->d, 4) ? c->rx_mseq + liar_below(l->d, 5) - 1
			 : liar_one_in(l->d, 8) ? c->sent_mseq_limit - 2 + liar_below(l->d, 3)
						: c->rx_mseq;
	}
	switch (op) {
	case SDR_REC_WRITE:
		f.flags = SDR_REC_F_RMA;
		/* fall through */
	case SDR_REC_SEND:
	case SDR_REC_TSEND:
	case SDR_REC_READ_RSP:
	case SDR_REC_BIND:
		rec_bytes(l, c, &f);
		if (liar_one_in(l->d, 4))
			f.flags |= SDR_REC_F_DELIVERY;
		if (liar_one_in(l->d, 6))
			f.flags |= SDR_REC_F_DATA;
		if (op == SDR_REC_READ_RSP && liar_one_in(l->d, 4))
			f.flags |= SDR_REC_F_STATUS;
		break;
	case SDR_REC_READ:
		f.flags = SDR_REC_F_RMA | SDR_REC_F_LEN;
		f.len = liar_one_in(l->d, 8) ? draw_len(l, c) : liar_below(l->d, LIAR_REGION);
		if (sdr_qp_peer_keyed(c->qp) ? !liar_one_in(l->d, 8) : liar_one_in(l->d, 32))
			f.flags |= SDR_REC_F_KEY;
		break;
	case SDR_REC_CTS:
		if (sdr_qp_peer_keyed(c->qp) ? !liar_one_in(l->d, 8) : liar_one_in(l->d, 32))
			f.flags |= SDR_REC_F_KEY;
		if (liar_one_in(l->d, 2))
			f.flags |= SDR_REC_F_STATUS;
		break;
	case SDR_REC_PARK:
		f.flags = SDR_REC_F_BULK;
		break;
	case SDR_REC_DONE:
		if (!liar_one_in(l->d, 6))
			f.flags |= SDR_REC_F_STATUS;
		break;
	}
	if (op == SDR_REC_BIND && (b = brx_pick(l, c)) && !liar_one_in(l->d, 6)) {
		f.id = b->id;
		if (!liar_one_in(l->d, 6))
			f.len = b->len;
	}
	if (f.flags & SDR_REC_F_RMA)
		draw_rma(l, &f);
	if (f.flags & SDR_REC_F_KEY) {
		f.va = liar_bits(l->d, 8);
		f.rkey = bits32(l);
	}
	if (f.flags & SDR_REC_F_BULK) {
		const struct sdr_op *o = op == SDR_REC_PARK ? op_pick(l, c) : NULL;

		f.msn = draw_msn_in(l, c);
		if (o && o->btx) {
			f.id = o->wire_id;
			f.msn = o->btx->msn;
		}
	}
	if (f.flags & SDR_REC_F_CODE)
		draw_code(l, c, &f.code);
	if (f.flags & SDR_REC_F_STATUS)
		f.status = liar_one_in(l->d, 2) ? 0 : (int32_t)liar_below(l->d, 20) - 1;
	if (wild(l) && !l->strict && liar_one_in(l->d, 3))
		f.flags ^= (uint16_t)(1u << liar_below(l->d, 10));
	return f;
}

static bool put_rec(struct liar *l, struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_frame_rec r = *f;
	size_t room = room_of(l), n;

	if (sdr_frame_rec_size(&r) > room)
		return false;
	r.rseq = draw_rseq(l, c);
	n = sdr_frame_rec_encode(l->frames + l->n, room, &r);
	return put(l, n);
}

static bool say_rec(struct liar *l, struct sdr_conn *c)
{
	static const uint8_t ops[] = { SDR_REC_SEND,	 SDR_REC_SEND, SDR_REC_TSEND, SDR_REC_WRITE,
				       SDR_REC_READ,	 SDR_REC_BIND, SDR_REC_CTS,   SDR_REC_PARK,
				       SDR_REC_READ_RSP, SDR_REC_DONE, SDR_REC_WRITE, SDR_REC_TSEND };
	struct sdr_frame_rec f = rec_draw(l, c, ops[liar_below(l->d, sizeof(ops))]);

	return put_rec(l, c, &f);
}

/* ---- other frames -------------------------------------------------------------------------------------------------- */

static bool say_ack(struct liar *l, const struct sdr_conn *c)
{
	struct sdr_frame_ack f = { .n = 1 + (liar_one_in(l->d, 4) ? liar_below(l->d, 6) : 0) };
	uint32_t at = c->next_pn - 1;

	if (l->acked && !wild(l))
		return true;
	l->acked = true;
	f.delay_us = liar_one_in(l->d, 8) ? bits32(l) : liar_below(l->d, 1000);
	if (wild(l))
		at += 1 + liar_below(l->d, 5);
	for (uint32_t i = 0; i < f.n; i++) {
		at -= liar_below(l->d, 4);
		f.r[i].hi = at;
		at -= liar_below(l->d, liar_one_in(l->d, 3) ? 2000 : 8);
		f.r[i].lo = at;
		at -= 2;
	}
	return put(l, sdr_frame_ack_encode(l->frames + l->n, room_of(l), &f));
}

static bool say_dack(struct liar *l, const struct sdr_conn *c)
{
	struct sdr_frame_dack f = { 0 };
	struct sdr_seg_tx *s;
	uint64_t bits[64];
	uint32_t limit, how = liar_below(l->d, 256);

	f.msn = draw_msn_out(l, c, &s);
	limit = s && !wild(l) ? s->high : liar_below(l->d, 2000);
	if (s && liar_one_in(l->d, 10))
		limit = liar_one_in(l->d, 2) ? s->npkts : s->high + 1;
	if (how & 1)
		f.flags |= SDR_DACK_COMPLETE;
	if (how & 2)
		f.flags |= SDR_DACK_GAP;
	if ((how & 13) == 13) {
		f.flags |= SDR_DACK_DECODED;
		f.dec_pkts = 1 + liar_below(l->d, wild(l) ? 65535 : 64);
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
	f.echo = wild(l) ? bits32(l) : limit ? liar_below(l->d, limit) : ~0u;
	f.echo_delay_us = liar_one_in(l->d, 6) ? bits32(l) : liar_below(l->d, 1000);
	f.dups = liar_one_in(l->d, 6) ? liar_below(l->d, 1000) : 0;
	for (uint32_t i = 0; i < (limit + 63) / 64; i++)
		bits[i] = how & 64 ? liar_bits(l->d, 8) : liar_below(l->d, 4) ? ~0ull : liar_bits(l->d, 1) << 8;
	return put(l,
		   sdr_frame_dack_encode(l->frames + l->n, room_of(l), &f, bits, limit > f.base ? limit : f.base));
}

static bool say_end(struct liar *l, const struct sdr_conn *c)
{
	struct sdr_frame_end f = { .msn = draw_msn_in(l, c) };

	return put(l, sdr_frame_end_encode(l->frames + l->n, room_of(l), &f));
}

static bool say_credit(struct liar *l, const struct sdr_conn *c)
{
	struct sdr_frame_credit f = { .msn_limit = c->tx_msn_limit - 2, .mseq_limit = c->tx_mseq_limit - 2 };

	f.msn_limit += liar_below(l->d, 64);
	f.mseq_limit += liar_below(l->d, 64);

	if (wild(l))
		f.msn_limit = bits32(l);
	if (wild(l))
		f.mseq_limit = bits32(l);
	return put(l, sdr_frame_credit_encode(l->frames + l->n, room_of(l), &f));
}

static bool say_close(struct liar *l)
{
	struct sdr_frame_close f = { (uint16_t)(1 + liar_below(l->d, 2)) };

	if (wild(l))
		f.reason = (uint16_t)bits32(l);
	return put(l, sdr_frame_close_encode(l->frames + l->n, room_of(l), &f));
}

static bool say_bytes(struct liar *l)
{
	size_t n = 1 + liar_below(l->d, 40);

	if (n > room_of(l))
		return false;
	for (size_t i = 0; i < n; i++)
		l->frames[l->n + i] = (uint8_t)liar_bits(l->d, 1);
	l->frames[l->n] &= 7;
	return put(l, n);
}

/* What an honest peer would say now, or nearly so: all packets have come, all data, all questions have an answer. */
static bool say_help(struct liar *l, struct sdr_conn *c)
{
	struct sdr_frame_ack a = { .n = 1, .r = { { c->next_pn - 1, c->next_pn - 1 - liar_below(l->d, 1024) } } };
	struct sdr_list *k;
	uint32_t n = 0;

	if (!l->acked)
		put(l, sdr_frame_ack_encode(l->frames + l->n, room_of(l), &a));
	l->acked = true;
	sdr_list_each(k, &c->segs) {
		struct sdr_seg_tx *s = sdr_container(k, struct sdr_seg_tx, link);
		struct sdr_frame_dack f = {
			.flags = SDR_DACK_COMPLETE, .msn = s->msn, .cum = s->npkts, .echo = ~0u
		};

		if (n++ == 16 || s->next < s->npkts || liar_one_in(l->d, 8))
			break;
		put(l, sdr_frame_dack_encode(l->frames + l->n, room_of(l), &f, NULL, 0));
	}
	n = 0;
	sdr_list_each(k, &c->ops) {
		struct sdr_op *op = sdr_container(k, struct sdr_op, link);
		struct sdr_frame_rec f = { .op = SDR_REC_DONE, .id = op->wire_id, .payload = junk() };

		if (n++ == 16)
			break;
		if (liar_one_in(l->d, 4))
			continue;
		if (op->waiting) {
			f.op = SDR_REC_CTS;
			f.flags = sdr_qp_peer_keyed(c->qp) ? SDR_REC_F_KEY : 0;
		} else if (op->kind == SDR_REL_READ && op->len <= c->rel->inline_max) {
			f.op = SDR_REC_READ_RSP;
			f.payload_len = (uint32_t)op->len;
		} else if (!op->need_done) {
			continue;
		}
		put_rec(l, c, &f);
	}
	return false;
}

static bool say_frame(struct liar *l, struct sdr_conn *c)
{
	uint32_t k = liar_below(l->d, 64);

	if (l->habits & HABIT_HELPS && liar_one_in(l->d, 3))
		return say_help(l, c);
	if (k < 30)
		return say_rec(l, c);
	if (k < 38)
		return say_ack(l, c);
	if (k < 48)
		return say_dack(l, c);
	if (k < 53)
		return say_end(l, c);
	if (k < 56)
		return say_credit(l, c);
	if (k < 58)
		return put(l, sdr_frame_ping_encode(l->frames + l->n, room_of(l)));
	if (k < 61)
		return say_help(l, c);
	if (k < 62)
		return (l->habits & HABIT_CLOSES || liar_one_in(l->d, 8)) && say_close(l);
	return l->strict || say_bytes(l);
}

static void forge_packet(struct liar *l)
{
	struct sdr_conn *c = conn_pick(l);
	bool full = l->habits & HABIT_FULL && liar_one_in(l->d, 4);
	uint32_t n = full ? 400 : 1 + liar_below(l->d, 4);

	packet_new(l, full);
	if (!c)
		return;
	while (n-- && room_of(l) > ROOM_LEFT)
		say_frame(l, c);
	say(l, c);
}

/* ---- handshake ----------------------------------------------------------------------------------------------------- */

void liar_seen(struct liar *l, const struct sdr_sim_packet *p)
{
	const uint8_t *b = sdr_sim_packet_payload(p);
	struct sdr_retry r;
	uint8_t type;

	if (p->kind != SDR_SIM_CTL || p->from != LIAR_VICTIM + 1 ||
	    sdr_class_decode(b, p->len, &type) != SDR_CLASS_REL || type != SDR_REL_RETRY ||
	    sdr_retry_decode(b + SDR_CLASS_LEN, p->len - SDR_CLASS_LEN, &r))
		return;
	for (uint32_t i = 0; i < LIAR_NUMBERS; i++)
		if (number(l, i) == p->to)
			l->cookie[i] = r.cookie;
}

static void hello_draw(struct liar *l, const struct sdr_rel *rel, struct sdr_hello *h)
{
	uint64_t seg = (uint64_t)rel->mtu << rel->cfg.split.off_bits;

	memset(h, 0, sizeof(*h));
	h->instance = 1 + liar_below(l->d, 3);
	h->cid = liar_one_in(l->d, 2) ? OWN_CID : liar_bits(l->d, 8);
	h->seg_bytes = (uint32_t)(seg > SDR_REL_SEG_MAX ? SDR_REL_SEG_MAX / rel->mtu * rel->mtu : seg);
	h->msn_limit = wild(l) ? bits32(l) : 1u << rel->cfg.split.id_bits;
	h->mseq_limit = wild(l) ? bits32(l) : SDR_MSEQ_CREDIT;
	h->ctl_max =
		liar_one_in(l->d, 4) ? SDR_CTL_MIN + liar_below(l->d, SDR_CTL_MAX - SDR_CTL_MIN + 1) : rel->ctl_max;
	h->ts_us = liar_one_in(l->d, 4) ? bits32(l) : (uint32_t)(rel->now / 1000);
	h->codes = (uint8_t)(liar_below(l->d, 4) << 1);
	if (h->codes) {
		h->code_syms = (uint16_t)(2 + liar_below(l->d, SDR_CODE_SYMS_MAX - 1));
		h->code_chunk = wild(l) ? bits32(l) | 1 : SDR_REL_EC_CHUNK;
	}
	h->qp = (struct sdr_wire_qp_info){
		.channels = rel->cfg.channels,
		.generations = rel->cfg.generations,
		.split = rel->cfg.split,
		.mtu = rel->mtu,
		.chunk = rel->mtu,
		.max_msg = h->seg_bytes,
	};
	h->qp.qpn = SDR_QPN_MIN + 64 * liar_below(l->d, 1000);
	h->qp.rkey = bits32(l);
	h->qp.psn = bits32(l) & SDR_PSN_MASK;
	h->qp.rx_window = wild(l) ? bits32(l) : 0;
	h->qp.flags = liar_one_in(l->d, 4) ? (uint8_t)liar_below(l->d, 4) : 0;
	if (liar_one_in(l->d, 6)) /* a smaller path, that fits together or does not */
		h->qp.mtu = h->qp.chunk = SDR_MTU_MIN << liar_below(l->d, 5);
	if (liar_one_in(l->d, 2) && h->qp.mtu < rel->mtu) {
		h->qp.max_msg = (uint64_t)h->qp.mtu << rel->cfg.split.off_bits;
		if (h->qp.max_msg > SDR_REL_SEG_MAX)
			h->qp.max_msg = SDR_REL_SEG_MAX / h->qp.mtu * h->qp.mtu;
		h->seg_bytes = (uint32_t)h->qp.max_msg;
	}
	if (liar_one_in(l->d, 12))
		h->seg_bytes = wild(l) ? bits32(l) | 1 : h->seg_bytes / 2;
	if (wild(l))
		h->qp.generations ^= 2;
}

/* From the liar's addresses, or, off the path, in the honest node's name. */
static void forge_hello(struct liar *l)
{
	struct sdr_rel *rel = l->node[LIAR_VICTIM].rel;
	struct sdr_conn *c = conn_pick(l);
	uint32_t i = liar_below(l->d, LIAR_NUMBERS);
	bool spoof = liar_one_in(l->d, 4);
	enum sdr_rel_type type = liar_one_in(l->d, 3) ? SDR_REL_HELLO_ACK : SDR_REL_HELLO;
	uint8_t p[SDR_HELLO_LEN];
	struct sdr_hello h;

	if (!rel)
		return;
	hello_draw(l, rel, &h);
	if (type == SDR_REL_HELLO_ACK) {
		h.echo = c && !spoof && !wild(l) ? c->cid : liar_bits(l->d, 8);
		h.status = liar_one_in(l->d, 3) ? liar_below(l->d, 5) : 0;
	} else {
		h.cookie = spoof ? 0 : liar_one_in(l->d, 2) ? l->cookie[i] : wild(l) ? bits32(l) : 0;
	}
	inject(l, spoof ? LIAR_HONEST + 1 : number(l, i), p, sdr_hello_encode(p, type, &h));
}

static void forge_retry(struct liar *l)
{
	struct sdr_conn *c = conn_pick(l);
	bool spoof = liar_one_in(l->d, 4), reset = liar_one_in(l->d, 2);
	struct sdr_retry r = { 0, reset ? 0 : liar_bits(l->d, 8) };
	uint8_t p[SDR_RETRY_LEN];

	if (reset && !spoof && !(l->habits & HABIT_CLOSES) && !liar_one_in(l->d, 8))
		return;
	r.cid = spoof && liar_one_in(l->d, 2) ? OWN_CID
		: spoof || !c || wild(l)      ? liar_bits(l->d, 8)
		: reset			      ? c->peer_cid
					      : c->cid;
	inject(l, spoof ? LIAR_HONEST + 1 : number(l, liar_below(l->d, LIAR_NUMBERS)), p,
	       sdr_retry_encode(p, reset ? SDR_REL_RESET : SDR_REL_RETRY, &r));
}

static void forge_stray(struct liar *l)
{
	uint8_t p[SDR_CTL_MAX];
	size_t n = liar_below(l->d, 64);
	enum sdr_class cls;
	uint32_t from;

	if (liar_one_in(l->d, 2) && l->last_len) {
		inject(l, l->last_from, l->last, l->last_len);
		return;
	}
	from = liar_one_in(l->d, 2) ? LIAR_HONEST + 1 : number(l, liar_below(l->d, LIAR_NUMBERS));
	cls = liar_one_in(l->d, 8) ? SDR_CLASS_SDK : SDR_CLASS_REL;
	sdr_class_encode(p, cls, (uint8_t)liar_below(l->d, 7));
	for (size_t i = 0; i < n; i++)
		p[SDR_CLASS_LEN + i] = (uint8_t)liar_bits(l->d, 1);
	inject(l, from, p, SDR_CLASS_LEN + n);
}

/* ---- data ---------------------------------------------------------------------------------------------------------- */

static void forge_data(struct liar *l)
{
	static uint8_t bytes[64 * SDR_MTU_MAX];
	struct sdr_rel *rel = l->node[LIAR_PEER].rel;
	struct sdr_uc_tx tx = { .kind = SDR_UC_TX_WRITE, .buf = bytes };
	struct sdr_conn *c = conn_pick(l), *own;
	struct sdr_uc_addr addr;
	struct sdr_bulk_rx *b;
	struct sdr_peer *to;
	uint32_t msn, ids, n;

	if (!c || !rel)
		return;
	sdr_sim_node_addr(l->w, LIAR_VICTIM, &addr);
	to = sdr_peer_find(rel, &addr);
	own = to ? to->conn : NULL;
	if (!own || !own->qp || own->state == SDR_CONN_DEAD)
		return;
	msn = draw_msn_in(l, c);
	b = brx_pick(l, c);
	if (b && b->has_msn && liar_one_in(l->d, 2))
		msn = b->msn + liar_below(l->d, b->plan.nmsgs < 64 ? b->plan.nmsgs : 64);
	ids = sdr_qp_ids(c->qp);
	n = 1 + liar_below(l->d, liar_one_in(l->d, 2) ? 64 : 4);
	tx.gen = (uint8_t)(msn / ids % own->qp->generations);
	tx.len = n * own->mtu - (liar_one_in(l->d, 3) ? liar_below(l->d, own->mtu) : 0);
	tx.w.qp = own->qp->uqp;
	tx.w.slot = msn & (ids - 1);
	tx.w.lap = msn / ids / own->qp->generations + (liar_one_in(l->d, 16) ? 1 : 0);
	tx.w.first = liar_below(l->d, liar_one_in(l->d, 3) ? 4096 : 4);
	if (b && (sdr_qp_keyed(c->qp) || liar_one_in(l->d, 16))) {
		tx.flags = SDR_UC_F_KEYED;
		tx.w.va = b->grant.va + (liar_one_in(l->d, 8) ? bits32(l) : 0);
		tx.w.rkey = b->grant.rkey + (liar_one_in(l->d, 16) ? 1 : 0);
	}
	rel->uc->ops->post(rel->uc, &tx, 1);
	l->st.forged++;
}

/* ---- floods -------------------------------------------------------------------------------------------------------- */

/*
 * The same record over and over, as many as a packet takes, with what follows it answered or not; messages in their
 * order, or early ones; at the end perhaps the connection is closed, and another is opened for more.
 */
void liar_flood(struct liar *l)
{
	static const uint8_t ops[] = { SDR_REC_SEND, SDR_REC_SEND, SDR_REC_WRITE, SDR_REC_READ, SDR_REC_BIND };
	uint8_t op = ops[liar_below(l->d, sizeof(ops))];
	uint32_t n = 1 + liar_below(l->d, liar_one_in(l->d, 10)	 ? 2048
					  : liar_one_in(l->d, 4) ? 512
								 : 64),
		 order = liar_below(l->d, 4);
	bool ends = liar_one_in(l->d, 4), closes = liar_one_in(l->d, 2), answers = liar_one_in(l->d, 2);
	struct sdr_conn *c = conn_pick(l);
	struct sdr_frame_rec f;
	uint32_t mseq, k = 0;

	if (!c || c->state != SDR_CONN_OPEN)
		return;
	l->st.floods++;
	f = rec_draw(l, c, op);
	if (is_msg(op) && !liar_one_in(l->d, 4)) { /* many small ones fill more than few large ones */
		f.flags = SDR_REC_F_ORDER;
		f.payload_len = (uint32_t)(f.len = liar_below(l->d, 16));
	}
	mseq = c->rx_mseq + (order == 1);
	while (n-- && (c = conn_pick(l)) && c->state == SDR_CONN_OPEN) {
		if (order < 2 && sdr_seq_lt(mseq, c->rx_mseq))
			mseq = c->rx_mseq;
		packet_new(l, true);
		if (answers)
			say_help(l, c);
		if (ends) {
			while (room_of(l) > 8 && say_end(l, c))
				;
		} else {
			do {
				f.id = k++;
				f.mseq = order == 2 ? c->rx_mseq + 1 : order == 3 ? c->sent_mseq_limit - 1 : mseq++;
				if (f.flags & SDR_REC_F_BULK && order)
					f.msn = draw_msn_in(l, c);
			} while (put_rec(l, c, &f));
			if (order < 2)
				mseq--; /* the last did not fit */
		}
		say(l, c);
		liar_rounds(l); /* and the connection may be gone */
	}
	if (closes && (c = conn_pick(l)) && c->state == SDR_CONN_OPEN) {
		packet_new(l, true);
		for (uint32_t i = 0; i < SDR_BYES_ASK; i++) {
			struct sdr_frame_close bye = { SDR_CLOSE_BYE };

			put(l, sdr_frame_close_encode(l->frames + l->n, room_of(l), &bye));
			say(l, c);
			liar_rounds(l);
			if (conn_pick(l) != c)
				break;
		}
	}
}

/* ---- one step ------------------------------------------------------------------------------------------------------ */

void liar_forge(struct liar *l)
{
	uint32_t k = liar_below(l->d, 32);

	if (k < (l->habits & HABIT_HELLOS ? 8u : 2u))
		forge_hello(l);
	else if (k < (l->habits & HABIT_HELLOS ? 10u : 3u))
		forge_retry(l);
	else if (k == 11)
		forge_stray(l);
	else if (k < (l->habits & HABIT_DATA ? 20u : 14u))
		forge_data(l);
	else if (k == 31 && l->habits & HABIT_FLOODS)
		liar_flood(l);
	else
		forge_packet(l);
}
