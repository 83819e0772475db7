/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See liar.h: what the liar does at a step: a packet, a handshake, data, a flood.  In the honest
 * node's name come only datagrams of a sender off the path, who knows no connection id.
 */
#include <stdio.h>
#include <stdlib.h>
#include "liar_say.h"
#include "rel/conn/sdr_multipath.h"
#include "wire/sdr_tlv.h"
#include "wire/sdr_version.h"

#define PIECES_PATH 5000u /* bytes of an IP packet */

/* ---- handshake ------------------------------------------------------------------------------- */

/* A challenge to an address that something may have named as the liar's: short, and not often. */
static bool asked(struct liar *l, uint32_t i, const struct sdr_sim_packet *p)
{
	uint8_t type;

	return p->kind == SDR_SIM_CTL && p->wire <= LIAR_ASK &&
	       sdr_class_decode(sdr_sim_packet_payload(p), p->len, &type) == SDR_CLASS_REL &&
	       type == SDR_REL_PACKET && ++l->asked[i] <= SDR_MULTIPATH_TRIES * l->hellos;
}

static void cookie_seen(struct liar *l, uint32_t i, const struct sdr_sim_packet *p)
{
	const uint8_t *b = sdr_sim_packet_payload(p);
	struct sdr_retry r;
	uint8_t type;

	if (sdr_class_decode(b, p->len, &type) == SDR_CLASS_REL && type == SDR_REL_RETRY &&
	    !sdr_retry_decode(b + SDR_CLASS_LEN, p->len - SDR_CLASS_LEN, &r))
		l->cookie[i] = r.cookie;
}

void liar_seen(struct liar *l, const struct sdr_sim_packet *p)
{
	if (p->from != LIAR_VICTIM + 1)
		return;
	for (uint32_t i = 0; i < LIAR_NUMBERS; i++) {
		if (liar_number(l, i) != p->to)
			continue;
		if (p->kind == SDR_SIM_CTL)
			cookie_seen(l, i, p);
		/* at number 0 there is a real endpoint */
		if (i && !l->proved[i] && l->told[i] + p->wire > LIAR_AMPLIFY * l->said[i]) {
			LIAR_CHECK(asked(l, i, p),
				   "L9: %llu bytes to number %u for %llu, after %u challenges",
				   (unsigned long long)(l->told[i] + p->wire), p->to,
				   (unsigned long long)l->said[i], l->asked[i]);
			continue;
		}
		l->told[i] += p->wire;
	}
}

static void hello_draw(struct liar *l, const struct sdr_rel *rel, struct sdr_hello *h)
{
	uint64_t seg = (uint64_t)rel->mtu << rel->cfg.split.off_bits;

	sdr_hello_init(h);
	h->version_max = (uint8_t)(h->version_max + liar_below(l->d, 3));
	if (liar_one_in(l->d, 12))
		h->version_min = (uint8_t)liar_below(l->d, 5);
	h->features = liar_one_in(l->d, 2) ? liar_bits(l->d, 8) : 0;
	h->instance = 1 + liar_below(l->d, 3);
	h->cid = liar_one_in(l->d, 2) ? OWN_CID : liar_bits(l->d, 8);
	h->seg_bytes =
		(uint32_t)(seg > SDR_REL_SEG_MAX ? SDR_REL_SEG_MAX / rel->mtu * rel->mtu : seg);
	h->msn_limit = liar_wild(l) ? liar_bits32(l) : 1u << rel->cfg.split.id_bits;
	h->mseq_limit = liar_wild(l) ? liar_bits32(l) : SDR_MSEQ_CREDIT;
	h->ctl_max = liar_one_in(l->d, 4)
			     ? SDR_CTL_MIN + liar_below(l->d, SDR_CTL_MAX - SDR_CTL_MIN + 1)
			     : rel->ctl_max;
	h->ts_us = liar_one_in(l->d, 4) ? liar_bits32(l) : (uint32_t)(rel->now / 1000);
	h->codes = (uint8_t)(liar_below(l->d, 4) << 1);
	if (h->codes) {
		h->code_syms = (uint16_t)(2 + liar_below(l->d, SDR_CODE_SYMS_MAX - 1));
		h->code_chunk = liar_wild(l) ? liar_bits32(l) | 1 : SDR_REL_EC_CHUNK;
	}
	h->qp = liar_qp_draw(l, rel, rel->mtu, h->seg_bytes);
	if (liar_one_in(l->d, 6)) /* a smaller path, that fits together or does not */
		h->qp.mtu = h->qp.chunk = SDR_EP_MTU_MIN << liar_below(l->d, 5);
	if (liar_one_in(l->d, 2) && h->qp.mtu < rel->mtu) {
		h->qp.max_msg = (uint64_t)h->qp.mtu << rel->cfg.split.off_bits;
		if (h->qp.max_msg > SDR_REL_SEG_MAX)
			h->qp.max_msg = SDR_REL_SEG_MAX / h->qp.mtu * h->qp.mtu;
		h->seg_bytes = (uint32_t)h->qp.max_msg;
	}
	if (liar_one_in(l->d, 12))
		h->seg_bytes = liar_wild(l) ? liar_bits32(l) | 1 : h->seg_bytes / 2;
	if (liar_wild(l))
		h->qp.generations ^= 2;
}

/* The name of somebody: the honest node, the victim, the liar himself, or nobody. */
static uint16_t name_draw(struct liar *l, uint8_t *p, size_t room)
{
	uint32_t who = liar_below(l->d, 4);
	struct sdr_hello_addr a = { .family = 4 };
	struct sdr_uc_addr addr;

	sdr_sim_addr_make(who == 0   ? LIAR_HONEST + 1
			  : who == 1 ? LIAR_VICTIM + 1
			  : who == 2 ? liar_number(l, liar_below(l->d, LIAR_NUMBERS))
				     : 5000 + liar_below(l->d, 9),
			  &addr);
	a.port = sdr_get_be16(addr.b + 1);
	memcpy(a.ip, addr.b + 3, 4);
	return (uint16_t)sdr_hello_addr_put(p, room, &a);
}

/* Extensions: right ones, unknown ones, and some that are not well formed. */
static uint32_t ext_draw(struct liar *l, uint64_t cid, uint8_t *p)
{
	uint32_t n = 0, k = 1 + liar_below(l->d, 4);
	uint8_t v[64] = { 0 }; /* some kinds are longer than what was drawn of them */

	while (k--) {
		uint16_t len = (uint16_t)liar_below(l->d, sizeof(v));
		uint8_t type = (uint8_t)liar_below(l->d, liar_one_in(l->d, 2) ? 8 : 256);

		for (uint32_t i = 0; i < len; i++)
			v[i] = (uint8_t)liar_bits(l->d, 1);
		if (type == SDR_HELLO_PROBE_MAX && !liar_wild(l)) {
			sdr_put_le32(v, SDR_CTL_MIN + liar_below(l->d, 9000));
			len = 4;
		}
		if (type == SDR_HELLO_CAME && !liar_wild(l))
			len = 4;
		if ((type == SDR_HELLO_ADDRESSES || type == SDR_HELLO_SOURCES) && !liar_wild(l)) {
			len = name_draw(l, v, sizeof(v));
		}
		if (type == SDR_HELLO_CHECK && !liar_wild(l)) {
			sdr_put_le64(v, sdr_hello_check(liar_one_in(l->d, 2) ? OWN_CID : cid, cid));
			len = 8;
		}
		n += (uint32_t)sdr_tlv_put(p + n, SDR_HELLO_EXT_MAX - n, type, v, len);
	}
	return liar_wild(l) ? n / 2 : n;
}

/* From the liar's addresses, or, off the path, in the honest node's name. */
static void forge_hello(struct liar *l)
{
	struct sdr_rel *rel = l->node[LIAR_VICTIM].ep->rel;
	struct sdr_conn *c = liar_conn_pick(l);
	uint32_t i = liar_below(l->d, LIAR_NUMBERS);
	bool spoof = liar_one_in(l->d, 4);
	enum sdr_rel_type type = liar_one_in(l->d, 3) ? SDR_REL_HELLO_ACK : SDR_REL_HELLO;
	uint8_t p[SDR_HELLO_LEN + SDR_HELLO_EXT_MAX], ext[SDR_HELLO_EXT_MAX];
	struct sdr_hello h;

	if (!rel)
		return;
	hello_draw(l, rel, &h);
	h.ext = ext;
	h.ext_len = liar_one_in(l->d, 3) ? ext_draw(l, h.cid, ext) : 0;
	if (type == SDR_REL_HELLO_ACK) {
		h.echo = c && !spoof && !liar_wild(l) ? c->id.cid : liar_bits(l->d, 8);
		h.status = liar_one_in(l->d, 3) ? (uint16_t)liar_below(l->d, 5) : 0;
	} else {
		h.cookie = spoof		  ? 0
			   : liar_one_in(l->d, 2) ? l->cookie[i]
			   : liar_wild(l)	  ? liar_bits32(l)
						  : 0;
	}
	liar_inject(l, spoof ? LIAR_HONEST + 1 : liar_number(l, i), p,
		    sdr_hello_encode(p, type, &h));
}

static void forge_retry(struct liar *l)
{
	struct sdr_conn *c = liar_conn_pick(l);
	bool spoof = liar_one_in(l->d, 4), reset = liar_one_in(l->d, 2);
	struct sdr_retry r = { 0, reset ? 0 : liar_bits(l->d, 8) };
	uint8_t p[SDR_RETRY_LEN];

	if (reset && !spoof && !(l->habits & HABIT_CLOSES) && !liar_one_in(l->d, 8))
		return;
	r.cid = spoof && liar_one_in(l->d, 2) ? OWN_CID
		: spoof || !c || liar_wild(l) ? liar_bits(l->d, 8)
		: reset			      ? c->id.peer_cid
					      : c->id.cid;
	liar_inject(l, spoof ? LIAR_HONEST + 1 : liar_number(l, liar_below(l->d, LIAR_NUMBERS)), p,
		    sdr_retry_encode(p, reset ? SDR_REL_RESET : SDR_REL_RETRY, &r));
}

/* Which versions it speaks, or asked in one that is not ours. */
static void forge_version(struct liar *l)
{
	struct sdr_conn *c = liar_conn_pick(l);
	bool spoof = liar_one_in(l->d, 4);
	uint32_t how = liar_below(l->d, 4), i = liar_below(l->d, LIAR_NUMBERS);
	struct sdr_version v = { c && !spoof && !liar_wild(l) ? c->id.cid : liar_bits(l->d, 8),
				 (uint8_t)liar_below(l->d, 6), (uint8_t)liar_below(l->d, 6) };
	uint8_t p[SDR_HELLO_LEN];
	struct sdr_hello h;
	size_t n;

	if (how == 0) {
		n = sdr_version_encode(p, &v);
	} else if (how == 1) {
		n = sdr_v1_refusal_encode(p, &v);
	} else if (how == 2) {
		n = sdr_v1_hello_encode(p, 1, v.cid);
	} else {
		sdr_hello_init(&h);
		h.cid = v.cid;
		n = sdr_hello_encode(p, SDR_REL_HELLO, &h);
	}
	if (how != 1 && how != 2 && liar_one_in(l->d, 2))
		p[1] = (uint8_t)liar_below(l->d, 6);
	liar_inject(l, spoof ? LIAR_HONEST + 1 : liar_number(l, i), p, n);
}

static void forge_stray(struct liar *l)
{
	uint8_t p[SDR_CTL_MAX];
	size_t n = liar_below(l->d, 64);
	enum sdr_class cls;
	uint32_t from;

	if (liar_one_in(l->d, 2) && l->last_len) {
		liar_inject(l, l->last_from, l->last, l->last_len);
		return;
	}
	from = liar_one_in(l->d, 2) ? LIAR_HONEST + 1
				    : liar_number(l, liar_below(l->d, LIAR_NUMBERS));
	cls = liar_one_in(l->d, 8) ? SDR_CLASS_SDK : SDR_CLASS_REL;
	sdr_class_encode(p, cls, (uint8_t)liar_below(l->d, 8));
	if (liar_one_in(l->d, 8)) /* with a tag */
		p[2] |= SDR_CLASS_SEALED;
	for (size_t i = 0; i < n; i++)
		p[SDR_CLASS_LEN + i] = (uint8_t)liar_bits(l->d, 1);
	liar_inject(l, from, p, SDR_CLASS_LEN + n);
}

/* ---- data ------------------------------------------------------------------------------------ */

static void forge_data(struct liar *l)
{
	static uint8_t bytes[64 * SDR_MTU_MAX];
	struct sdr_rel *rel = l->node[LIAR_PEER].ep->rel;
	struct sdr_uc_tx tx = { .kind = SDR_UC_TX_WRITE, .buf = bytes };
	struct sdr_conn *c = liar_conn_pick(l), *own;
	struct sdr_uc_addr addr;
	struct sdr_bulk_rx *b;
	struct sdr_peer *to;
	uint32_t msn, ids, n;

	if (!c || !rel)
		return;
	sdr_sim_node_addr(l->w, LIAR_VICTIM, &addr);
	to = sdr_peer_find(rel, &addr);
	own = to ? to->conn : NULL;
	if (!own || !own->shape->qp || !sdr_conn_live(own))
		return;
	msn = liar_msn_in(l, c);
	b = liar_brx_pick(l, c);
	if (b && b->head && liar_one_in(l->d, 2))
		b = b->head;
	if (b && b->has_msn && liar_one_in(l->d, 2))
		msn = b->msn + liar_below(l->d, b->plan.nmsgs < 64 ? b->plan.nmsgs : 64);
	ids = sdr_qp_ids(c->shape->qp);
	n = 1 + liar_below(l->d, liar_one_in(l->d, 2) ? 64 : 4);
	tx.gen = (uint8_t)(msn / ids % own->shape->qp->generations);
	tx.len = n * own->shape->mtu -
		 (liar_one_in(l->d, 3) ? liar_below(l->d, own->shape->mtu) : 0);
	tx.w.qp = own->shape->qp->uqp;
	tx.w.slot = msn & (ids - 1);
	tx.w.epoch = msn / ids / own->shape->qp->generations + (liar_one_in(l->d, 16) ? 1 : 0);
	tx.w.first = liar_below(l->d, liar_one_in(l->d, 3) ? 4096 : 4);
	if (b && (sdr_qp_rkeyed(c->shape->qp) || liar_one_in(l->d, 16))) {
		const struct sdr_uc_grant *g = b->berth ? &b->berth->grant : &b->grant;

		tx.flags = SDR_UC_F_RKEYED;
		tx.w.va = g->va + (liar_one_in(l->d, 8) ? liar_bits32(l) : 0);
		tx.w.rkey = g->rkey + (liar_one_in(l->d, 16) ? 1 : 0);
	}
	if (sdr_qp_rkeyed(c->shape->qp) && !sdr_list_empty(&c->bulk->rx.berths.idle) &&
	    liar_one_in(l->d, 3)) {
		const struct sdr_berth *t =
			sdr_container(c->bulk->rx.berths.idle.next, struct sdr_berth, link);

		tx.flags = SDR_UC_F_RKEYED;
		tx.w.va = t->grant.va + (liar_one_in(l->d, 8) ? liar_bits32(l) : 0);
		tx.w.rkey = t->grant.rkey;
	}
	if (liar_one_in(l->d, 4)) /* in pieces, and the next ones in others */
		rel->uc->ops->qp_path(tx.w.qp, liar_below(l->d, PIECES_PATH));
	rel->uc->ops->post(rel->uc, &tx, 1);
	l->st.forged++;
}

/* ---- floods ---------------------------------------------------------------------------------- */

/*
 * The same record over and over, as many as a packet takes, with what follows it answered or not;
 * messages in their order, or early ones; at the end perhaps the connection is closed, and another
 * is opened for more.
 */
void liar_flood(struct liar *l)
{
	static const uint8_t ops[] = { SDR_REC_SEND, SDR_REC_SEND, SDR_REC_WRITE,
				       SDR_REC_READ, SDR_REC_BIND, SDR_REC_ATOMIC };
	uint8_t op = ops[liar_below(l->d, sizeof(ops))];
	uint32_t n = 1 + liar_below(l->d, liar_one_in(l->d, 10)	 ? 2048
					  : liar_one_in(l->d, 4) ? 512
								 : 64),
		 order = liar_below(l->d, 4);
	bool ends = liar_one_in(l->d, 4), closes = liar_one_in(l->d, 2),
	     answers = liar_one_in(l->d, 2);
	struct sdr_conn *c = liar_conn_pick(l);
	struct sdr_frame_rec f;
	uint32_t mseq, k = 0;

	if (!c || c->state != SDR_CONN_OPEN)
		return;
	l->st.floods++;
	f = liar_rec_draw(l, c, op);
	/* many small ones fill more than few large ones */
	if (liar_rec_is_message(op) && !liar_one_in(l->d, 4)) {
		f.flags = SDR_REC_F_ORDER;
		f.payload_len = (uint32_t)(f.len = liar_below(l->d, 16));
	}
	mseq = c->rec.rx_mseq + (order == 1);
	while (n-- && (c = liar_conn_pick(l)) && c->state == SDR_CONN_OPEN) {
		if (order < 2 && sdr_seq_lt(mseq, c->rec.rx_mseq))
			mseq = c->rec.rx_mseq;
		liar_packet_new(l, true);
		if (answers)
			liar_say_help(l, c);
		if (ends) {
			while (liar_room(l) > 8 && liar_say_end(l, c))
				;
		} else {
			do {
				f.id = k++;
				f.mseq = order == 2   ? c->rec.rx_mseq + 1
					 : order == 3 ? c->credit.mseq_granted - 1
						      : mseq++;
				if (f.flags & SDR_REC_F_BULK && order)
					f.msn = liar_msn_in(l, c);
			} while (liar_put_rec(l, c, &f));
			if (order < 2)
				mseq--; /* the last did not fit */
		}
		liar_say(l, c);
		liar_rounds(l); /* and the connection may be gone */
	}
	if (closes && (c = liar_conn_pick(l)) && c->state == SDR_CONN_OPEN) {
		liar_packet_new(l, true);
		for (uint32_t i = 0; i < SDR_BYES_ASK; i++) {
			struct sdr_frame_close bye = { SDR_CLOSE_BYE };

			liar_put(l, sdr_frame_close_encode(l->frames + l->n, liar_room(l), &bye));
			liar_say(l, c);
			liar_rounds(l);
			if (liar_conn_pick(l) != c)
				break;
		}
	}
}

void liar_ping(struct liar *l)
{
	struct sdr_conn *c = liar_conn_pick(l);

	if (!c || c->state != SDR_CONN_OPEN)
		return;
	liar_packet_new(l, true);
	liar_put(l, sdr_frame_ping_encode(l->frames + l->n, liar_room(l)));
	liar_say(l, c);
}

/* ---- one step -------------------------------------------------------------------------------- */

void liar_forge(struct liar *l)
{
	uint32_t k = liar_below(l->d, 32);

	if (k < (l->habits & HABIT_HELLOS ? 8u : 2u))
		forge_hello(l);
	else if (k < (l->habits & HABIT_HELLOS ? 10u : 3u))
		liar_one_in(l->d, 3) ? forge_version(l) : forge_retry(l);
	else if (k == 11)
		forge_stray(l);
	else if (k < (l->habits & HABIT_DATA ? 20u : 14u))
		forge_data(l);
	else if (k == 30 && liar_one_in(l->d, l->habits & HABIT_SHAPES ? 2 : 8))
		liar_path(l);
	else if (k == 31 && l->habits & HABIT_FLOODS)
		liar_flood(l);
	else
		liar_say_packet(l);
}
