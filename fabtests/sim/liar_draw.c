/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See liar.h: values of a lie, drawn by what they mean: numbers of messages around the windows of
 * the connection, ids of operations that live, keys that are valid; one in some is off by one, one
 * in more is any number.
 */
#include <stdio.h>
#include <stdlib.h>
#include "base/sdr_bitmap.h"
#include "wire/sdr_atomic.h"
#include "liar_say.h"

/* ---- numbers --------------------------------------------------------------------------------- */

uint32_t liar_number(const struct liar *l, uint32_t i)
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

uint32_t liar_number_of(const struct sdr_uc_addr *a)
{
	struct sdr_uc_addr x;

	for (uint32_t i = 0; i < LIAR_NUMBERS; i++) {
		sdr_sim_addr_make(i ? 100 + i : LIAR_PEER + 1, &x);
		if (sdr_uc_addr_equal(a, &x))
			return i;
	}
	return 0;
}

uint32_t liar_bits32(struct liar *l)
{
	return (uint32_t)liar_bits(l->d, 4);
}

bool liar_wild(struct liar *l)
{
	return liar_one_in(l->d, l->habits & HABIT_WILD ? 6 : 40);
}

/* One of the victim's connections to the liar, by any address. */
struct sdr_conn *liar_conn_pick(struct liar *l)
{
	struct sdr_rel *rel = l->node[LIAR_VICTIM].ep->rel;
	struct sdr_conn *pick = NULL;
	struct sdr_list *k;
	uint32_t n = 0;

	if (!rel)
		return NULL;
	sdr_list_each(k, &rel->conn_list) {
		struct sdr_conn *c = sdr_container(k, struct sdr_conn, link);

		if (!sdr_conn_live(c) || is_honest(&c->peer->addr))
			continue;
		if (c->id.cid == l->cid && !liar_one_in(l->d, 16))
			return c;
		n++;
		if (!pick || liar_one_in(l->d, n))
			pick = c;
	}
	if (pick && pick->id.cid != l->cid) {
		l->cid = pick->id.cid;
		l->pn = pick->rx.pns.n ? pick->rx.pns.r[0].hi + 1000 : 1000;
		l->rseq = pick->rec.rx_next;
	}
	return pick;
}

/* ---- plausible values ------------------------------------------------------------------------ */

static struct sdr_list *nth(const struct sdr_list *head, uint32_t n)
{
	struct sdr_list *k = head->next;

	if (k == head)
		return NULL;
	for (n %= 64; n--;)
		k = k->next == head ? head->next : k->next;
	return k;
}

struct sdr_op *liar_op_pick(struct liar *l, const struct sdr_conn *c)
{
	const struct sdr_list *head = liar_one_in(l->d, 8) ? &c->msg->deferred : &c->msg->ops;
	struct sdr_list *k = nth(head, liar_below(l->d, 64));

	return k ? sdr_container(k, struct sdr_op, link) : NULL;
}

struct sdr_bulk_rx *liar_brx_pick(struct liar *l, const struct sdr_conn *c)
{
	struct sdr_list *k = nth(&c->bulk->rx.brx, liar_below(l->d, 64));

	return k ? sdr_container(k, struct sdr_bulk_rx, link) : NULL;
}

static uint32_t draw_id(struct liar *l, const struct sdr_conn *c, bool theirs)
{
	struct sdr_rel *rel = c->rel;
	struct sdr_op *op;

	if (liar_wild(l))
		return liar_bits32(l);
	if (theirs)
		return liar_below(l->d, 16);
	if (liar_one_in(l->d, 16) && !sdr_list_empty(&rel->conn_list)) { /* of another connection */
		struct sdr_list *k = nth(&rel->conn_list, liar_below(l->d, 8));

		c = sdr_container(k, struct sdr_conn, link);
	}
	op = liar_op_pick(l, c);
	if (!op)
		return liar_bits32(l);
	if (liar_one_in(l->d, 32))
		return op->wire_id + 1;
	return liar_one_in(l->d, 8) ? op->id : op->wire_id;
}

/* A message number of bulk to the victim. */
uint32_t liar_msn_in(struct liar *l, const struct sdr_conn *c)
{
	uint32_t base = sdr_qp_recv_base(c->shape->qp);
	struct sdr_bulk_rx *b;

	if (liar_wild(l))
		return liar_bits32(l);
	switch (liar_below(l->d, 6)) {
	case 0:
		return base - 1 - liar_below(l->d, 4);
	case 1:
		return sdr_conn_msn_limit(c) - 2 + liar_below(l->d, 4);
	case 2:
		b = liar_brx_pick(l, c);
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
uint32_t liar_msn_out(struct liar *l, const struct sdr_conn *c, struct sdr_seg_tx **s)
{
	struct sdr_list *k = nth(&c->bulk->tx.segs, liar_below(l->d, 64));

	*s = k ? sdr_container(k, struct sdr_seg_tx, link) : NULL;
	if (liar_wild(l))
		return liar_bits32(l);
	if (*s && !liar_one_in(l->d, 10))
		return (*s)->msn;
	return c->bulk->tx.msn + 1 - liar_below(l->d, 6);
}

uint32_t liar_rseq(struct liar *l, const struct sdr_conn *c)
{
	/* What was dropped has left holes: they are filled before the window ends. */
	if (l->rseq - c->rec.rx_next > SDR_REL_CTL_WINDOW / 2)
		l->rseq = c->rec.rx_next;
	while (l->rseq - c->rec.rx_next < SDR_REL_CTL_WINDOW - 1 && sdr_rec_seen(c, l->rseq))
		l->rseq++;
	switch (liar_below(l->d, 48)) {
	case 0:
		return l->rseq - 1 - liar_below(l->d, 4);
	case 1:
		return c->rec.rx_next + SDR_REL_CTL_WINDOW - 1;
	case 2: /* outside: nothing of the packet counts */
		if (l->strict)
			return l->rseq++;
		return liar_wild(l) ? liar_bits32(l)
				    : c->rec.rx_next + SDR_REL_CTL_WINDOW + liar_below(l->d, 2);
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

	if (liar_wild(l)) {
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
		n = c->shape->seg_bytes * (1 + liar_below(l->d, 3)) - 1;
		return n + liar_below(l->d, 3);
	case 3:
		return sdr_seal_inline_max(c->rel, c->rel->ctl_max) - 1 + liar_below(l->d, 3);
	case 4:
		op = liar_op_pick(l, c);
		return op ? op->len : 100;
	case 5:
		return 1 + (uint64_t)liar_bits32(l) % (8u << 20);
	default:
		return 1 + liar_below(l->d, 40) * 512;
	}
}

static void draw_code(struct liar *l, const struct sdr_conn *c, struct sdr_frame_code *f)
{
	f->kind = (uint8_t)(1 + liar_below(l->d, 2));
	f->flags = liar_below(l->d, 4) & SDR_WIRE_CODE_FLAGS;
	f->k = (uint16_t)(1 + liar_below(l->d, liar_wild(l) ? 255 : 16));
	f->m = (uint16_t)(1 + liar_below(l->d, liar_wild(l) ? 255 : 8));
	f->chunk = liar_wild(l) ? liar_bits32(l) : c->shape->mtu * (1 + liar_below(l->d, 8));
	f->seg = liar_wild(l) ? liar_bits32(l) : f->chunk * (1 + liar_below(l->d, 64));
	f->from = (uint64_t)f->chunk * (liar_wild(l) ? liar_bits32(l) : liar_below(l->d, 4));
}

static void draw_rma(struct liar *l, struct sdr_frame_rec *f)
{
	static const uint64_t keys[] = { LIAR_KEY_RW, LIAR_KEY_RW, LIAR_KEY_RO,
					 LIAR_KEY_WO, 0xbad,	   0 };

	f->key = keys[liar_below(l->d, 6)];
	if (liar_wild(l))
		f->key = liar_bits32(l);
	switch (liar_below(l->d, 8)) {
	case 0:
		f->addr = LIAR_REGION - f->len;
		break;
	case 1:
		f->addr = LIAR_REGION - f->len + 1;
		break;
	case 2:
		f->addr = liar_wild(l) ? UINT64_MAX - liar_below(l->d, 200) : LIAR_REGION;
		break;
	default:
		f->addr = liar_below(l->d, 64);
	}
}

/* ---- records --------------------------------------------------------------------------------- */

const uint8_t *liar_junk(void)
{
	static uint8_t b[SDR_CTL_MAX];

	if (!b[1])
		for (uint32_t i = 0; i < sizeof(b); i++)
			b[i] = (uint8_t)(i * 7 + 1);
	return b;
}

bool liar_rec_is_message(uint8_t op)
{
	return op == SDR_REC_SEND || op == SDR_REC_TSEND;
}

static void rec_bytes(struct liar *l, const struct sdr_conn *c, struct sdr_frame_rec *f)
{
	const struct sdr_op *op = f->op == SDR_REC_READ_RSP ? liar_op_pick(l, c) : NULL;

	f->len = draw_len(l, c);
	if (liar_one_in(l->d, 3) && f->op != SDR_REC_BIND) { /* inline */
		f->payload_len =
			(uint32_t)(f->len % (sdr_seal_inline_max(c->rel, c->rel->ctl_max) + 1));
		if (op && op->kind->number == SDR_REL_READ &&
		    op->len <= sdr_seal_inline_max(c->rel, c->rel->ctl_max)) {
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

/* Where a message stands in the order of all. */
static void rec_message(struct liar *l, struct sdr_conn *c, struct sdr_frame_rec *f)
{
	f->flags = SDR_REC_F_ORDER;
	f->tag = liar_below(l->d, 4);
	if (f->op == SDR_REC_TSEND)
		f->flags |= SDR_REC_F_TAG;
	f->mseq = liar_wild(l)		 ? liar_bits32(l)
		  : liar_one_in(l->d, 4) ? c->rec.rx_mseq + liar_below(l->d, 5) - 1
		  : liar_one_in(l->d, 8) ? c->credit.mseq_granted - 2 + liar_below(l->d, 3)
					 : c->rec.rx_mseq;
}

/* Elements of the victim's memory: what the header says and what follows agree, mostly. */
static void rec_atomic(struct liar *l, struct sdr_frame_rec *f)
{
	static uint8_t p[SDR_ATOMIC_HDR + SDR_ATOMIC_PART];
	struct sdr_atomic a = { .op = (uint8_t)liar_below(l->d, SDR_ATOMIC_OPS + 1),
				.type = (uint8_t)liar_below(l->d, SDR_ATOMIC_TYPES + 1),
				.form = (uint8_t)liar_below(l->d, SDR_ATOMIC_FORMS + 1),
				.count = 1 + liar_below(l->d, liar_one_in(l->d, 3) ? 100 : 4),
				.first = liar_one_in(l->d, 4) ? liar_below(l->d, 64) : 0 };
	uint32_t size, each;

	while (!liar_wild(l) && !sdr_atomic_goes(a.op, a.form)) {
		a.op = (uint8_t)((a.op + 1) % SDR_ATOMIC_OPS);
		a.form %= SDR_ATOMIC_FORMS;
	}
	if (liar_wild(l))
		a.count = liar_bits32(l);
	if (liar_wild(l))
		a.first = liar_bits32(l);
	size = sdr_atomic_size(a.type);
	each = sdr_atomic_carries(a.op, a.form, size);
	f->flags = SDR_REC_F_RMA;
	f->payload_len = a.count > SDR_ATOMIC_PART / (each ? each : 1)
				 ? liar_below(l->d, sizeof(p) + 1)
				 : SDR_ATOMIC_HDR + a.count * each;
	f->len = f->payload_len;
	if (a.first || liar_one_in(l->d, 4)) {
		f->flags |= SDR_REC_F_LEN;
		f->len = liar_below(l->d, LIAR_REGION + 100);
	}
	memcpy(p, liar_junk(), sizeof(p));
	sdr_atomic_put(p, &a);
	f->payload = p;
	if (liar_one_in(l->d, 16))
		f->payload_len = liar_below(l->d, sizeof(p) + 1);
}

/* Turns that are next, a little or much too far, over, or there already. */
static void rec_turn(struct liar *l, const struct sdr_conn *c, struct sdr_frame_rec *f)
{
	const struct sdr_follow *w = c->msg->follow;
	uint32_t base = w ? w->base : 0;

	if ((f->op > SDR_REC_READ && f->op != SDR_REC_ATOMIC) ||
	    !liar_one_in(l->d, l->habits & HABIT_TURNS ? 2 : 16))
		return;
	f->flags |= (uint16_t)(liar_one_in(l->d, 2)   ? SDR_REC_F_LEAD
			       : liar_one_in(l->d, 2) ? SDR_REC_F_FOLLOW
						      : SDR_REC_F_TURN);
	f->turn = liar_one_in(l->d, 40)	 ? liar_bits32(l)
		  : liar_one_in(l->d, 8) ? base + SDR_REC_TURNS - 2 + liar_below(l->d, 4)
		  : liar_one_in(l->d, 2) ? base + liar_below(l->d, 8)
					 : base;
	while (w && !liar_one_in(l->d, 16) && f->turn - base < SDR_REC_TURNS &&
	       sdr_bitmap_test(w->came, f->turn & (SDR_REC_TURNS - 1)))
		f->turn++;
}

/* Berths that are there, were used, or never were. */
static void rec_berth(struct liar *l, const struct sdr_conn *c, struct sdr_frame_rec *f)
{
	uint32_t next = c->bulk->rx.berths.next;

	if (!(f->flags & SDR_REC_F_BULK) || f->payload_len)
		return;
	if (f->op > SDR_REC_WRITE &&
	    !((f->op == SDR_REC_BIND || f->op == SDR_REC_READ_RSP) && (f->flags & SDR_REC_F_CODE)))
		return;
	if (sdr_qp_rkeyed(c->shape->qp) ? liar_one_in(l->d, 8) : !liar_one_in(l->d, 64))
		return;
	if (!next && !liar_one_in(l->d, 16))
		return;
	f->flags |= SDR_REC_F_BERTH;
	f->berth = liar_one_in(l->d, 24) ? liar_bits32(l) : next - 1 - liar_below(l->d, 4);
	if (f->op > SDR_REC_WRITE || f->len < 2 || liar_one_in(l->d, 2))
		return;
	f->flags |= SDR_REC_F_HEAD;
	f->head = 1 + liar_below(l->d, f->len > 1 << 16 ? 1 << 16 : f->len - 1);
}

static void rec_rest(struct liar *l, struct sdr_conn *c, struct sdr_frame_rec *f)
{
	const struct sdr_op *o = liar_op_pick(l, c);

	if (!(f->flags & SDR_REC_F_KEY) || !o || !(o->head_len || liar_one_in(l->d, 8)))
		return;
	f->id = o->wire_id;
	f->flags |= SDR_REC_F_HEAD;
	f->head = o->head_len && !liar_one_in(l->d, 8) ? o->head_len : 1000;
}

struct sdr_frame_rec liar_rec_draw(struct liar *l, struct sdr_conn *c, uint8_t op)
{
	struct sdr_frame_rec f = { .op = op, .payload = liar_junk() };
	struct sdr_bulk_rx *b;

	f.id = draw_id(l, c, op <= SDR_REC_READ || op == SDR_REC_BIND || op == SDR_REC_ATOMIC);
	f.data = 0xdead;
	if (liar_rec_is_message(op))
		rec_message(l, c, &f);
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
		if (sdr_qp_peer_rkeyed(c->shape->qp) ? !liar_one_in(l->d, 8)
						     : liar_one_in(l->d, 32))
			f.flags |= SDR_REC_F_KEY;
		break;
	case SDR_REC_CTS:
		if (sdr_qp_peer_rkeyed(c->shape->qp) ? !liar_one_in(l->d, 8)
						     : liar_one_in(l->d, 32))
			f.flags |= SDR_REC_F_KEY;
		if (liar_one_in(l->d, 2))
			f.flags |= SDR_REC_F_STATUS;
		rec_rest(l, c, &f);
		break;
	case SDR_REC_PARK:
		f.flags = SDR_REC_F_BULK;
		break;
	case SDR_REC_ATOMIC:
		rec_atomic(l, &f);
		break;
	case SDR_REC_ATOMIC_RSP:
		f.payload_len = 8 * liar_below(l->d, 4);
		break;
	case SDR_REC_ATOMIC_END:
		f.flags = SDR_REC_F_RMA | SDR_REC_F_LEN | SDR_REC_F_TAG;
		f.len = liar_below(l->d, LIAR_REGION + 100);
		f.tag = liar_below(l->d, SDR_ATOMIC_FORMS + 1);
		break;
	case SDR_REC_BERTH:
		f.id = liar_below(l->d, 32);
		f.len = liar_below(l->d, 1u << 20);
		f.flags = SDR_REC_F_LEN;
		if (!liar_one_in(l->d, 16))
			f.flags |= liar_one_in(l->d, 4) ? SDR_REC_F_STATUS : SDR_REC_F_KEY;
		break;
	case SDR_REC_DONE:
		if (!liar_one_in(l->d, 6))
			f.flags |= SDR_REC_F_STATUS;
		break;
	}
	if (op == SDR_REC_BIND && (b = liar_brx_pick(l, c)) && !liar_one_in(l->d, 6)) {
		f.id = b->id;
		if (!liar_one_in(l->d, 6))
			f.len = sdr_bulk_rx_len(b);
	}
	if (f.flags & SDR_REC_F_RMA)
		draw_rma(l, &f);
	if (f.flags & SDR_REC_F_KEY) {
		f.va = liar_bits(l->d, 8);
		f.rkey = liar_bits32(l);
	}
	if (f.flags & SDR_REC_F_BULK) {
		const struct sdr_op *o = op == SDR_REC_PARK ? liar_op_pick(l, c) : NULL;

		f.msn = liar_msn_in(l, c);
		if (o && (o->btx || o->head)) {
			f.id = o->wire_id;
			f.msn = o->head ? o->head->msn : o->btx->msn;
		}
	}
	if (f.flags & SDR_REC_F_CODE)
		draw_code(l, c, &f.code);
	if (f.flags & SDR_REC_F_STATUS)
		f.status = liar_one_in(l->d, 2) ? 0 : (int32_t)liar_below(l->d, 20) - 1;
	rec_turn(l, c, &f);
	rec_berth(l, c, &f);
	if (liar_wild(l) && !l->strict && liar_one_in(l->d, 3))
		f.flags ^= (uint16_t)(1u << liar_below(l->d, 14));
	return f;
}
