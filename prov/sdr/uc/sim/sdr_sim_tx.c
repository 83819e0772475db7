/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a simulated engine sends: runs cut into packets, packets that are too long for their path
 * into pieces, control datagrams.
 *
 * Each datagram takes the link to the node that has the peer's address now, and the lane of it that
 * follows from the sources of both; where there is none it is lost.  A queue of the sender's own
 * (block) is asked for room for all pieces of a packet before the first of them goes: a packet is
 * not taken in part.  What the node's route does not carry is refused: a data packet is lost by
 * that, and those behind it are cut.  Time does not move here.
 */
#include <errno.h>
#include <string.h>
#include "base/sdr_mem.h"
#include "sdr_sim_addr.h"
#include "sdr_sim_lane.h"

/* A datagram of a data packet: all of it (size 0), or a piece. */
struct sdr_sim_part {
	uint32_t off, len;
	uint32_t whole, size;
	uint32_t from, to; /* addresses */
};

/*
 * The link from a source to an address.  NULL with *err 0: no node is there, the packet is lost;
 * -EAGAIN: the queue is full.
 */
static struct sdr_sim_lnk *sdr_sim_link_to(struct sdr_sim_eng *e, uint32_t source, uint32_t number,
					   uint32_t wire, int *node, int *err)
{
	struct sdr_sim_world *w = e->w;
	struct sdr_sim_lnk *l;
	uint64_t until;
	uint32_t at;

	*err = 0;
	*node = w->nodes[e->node].dead ? -1 : sdr_sim_node_by_addr(w, number, &at);
	if (*node < 0)
		return NULL;
	l = sdr_sim_lnk_get(w, SDR_SIM_LANE(e->node, sdr_sim_lane(source, at)), (uint32_t)*node);
	until = l ? sdr_sim_lnk_blocked(w, l, wire) : 0;
	if (until) {
		if (until < e->blocked_until || e->blocked_until <= w->now)
			e->blocked_until = until;
		*err = -EAGAIN;
		return NULL;
	}
	return l;
}

/* The addresses that a packet from a source to that one carries on its way. */
static void sdr_sim_translate(const struct sdr_sim_eng *e, uint32_t source, uint32_t number,
			      uint32_t *from, uint32_t *to)
{
	const struct sdr_sim_world_attr *a = &e->w->attr;

	*from = sdr_sim_source_number(&e->w->nodes[e->node], source);
	*to = number;
	if (a->translate && !a->translate(a->user, e->node, from, to))
		*to = 0; /* nobody's */
}

/* -EMSGSIZE: the host refused it. */
static int sdr_sim_launch(struct sdr_sim_eng *e, struct sdr_sim_lnk *l, struct sdr_sim_packet *p,
			  int node)
{
	struct sdr_sim_node *nd = &e->w->nodes[e->node];

	p->src = (uint16_t)e->node;
	if (l) {
		p->dst = (uint16_t)node;
		p->lane = l->lane;
		if (nd->route && p->wire > nd->route) {
			sdr_sim_path_refuse(e, l, p);
			return -EMSGSIZE;
		}
		sdr_sim_lnk_send(e->w, l, p);
		return 0;
	}
	p->seq = e->w->seq++;
	sdr_sim_trace(e->w, SDR_SIM_T_NOROUTE, p);
	sdr_sim_packet_put(e->w, p);
	return 0;
}

static uint8_t sdr_sim_ecn(const struct sdr_sim_eng *e, const struct sdr_uc_tx *tx)
{
	return e->attr.ecn && tx->flags & SDR_UC_F_ECT ? SDR_UC_ECT0 : SDR_UC_NOT_ECT;
}

/* Fills and launches a datagram of the run's first packet; -ENOMEM: could not. */
static int sdr_sim_send_part(struct sdr_sim_eng *e, const struct sdr_uc_tx *tx,
			     const struct sdr_sim_part *part, struct sdr_sim_lnk *l, int node)
{
	struct sdr_sim_qp *qp = sdr_sim_qp(tx->w.qp);
	const struct sdr_uc_qp_attr *a = &qp->attr;
	uint32_t lane = (uint32_t)tx->gen * a->channels + tx->channel;
	const struct sdr_sim_mr *mr = tx->mr;
	struct sdr_sim_packet *p;

	p = sdr_sim_packet_get(e->w, e->w->attr.virtual_payload ? 0 : part->len);
	if (!p)
		return -ENOMEM;
	if (p->buf)
		(void)sdr_mem_get(mr ? mr->mem : NULL, p->buf, tx->buf + part->off, part->len);
	p->kind = SDR_SIM_DATA;
	p->flags = tx->flags & SDR_UC_F_CORRUPT ? SDR_SIM_P_CORRUPT : 0;
	p->ecn = sdr_sim_ecn(e, tx);
	p->len = part->len;
	p->wire = SDR_SIM_DATA_OVER + part->len + sdr_wire_pad(part->len);
	p->from = part->from;
	p->to = part->to;
	p->qpn = qp->peer_qpn + lane;
	p->psn = qp->psn[lane]++ & SDR_PSN_MASK;
	p->rkey = sdr_rkey_of_epoch(qp->peer_rkey, tx->w.epoch);
	p->va = tx->w.slot * a->max_msg + (uint64_t)tx->w.first * qp->mtu + part->off;
	if (tx->flags & SDR_UC_F_RKEYED) {
		p->flags |= SDR_SIM_P_RKEYED;
		p->rkey = tx->w.rkey;
		p->va = tx->w.va + (uint64_t)tx->w.first * qp->mtu + part->off;
	}
	p->imm = sdr_imm_pack(&a->split, tx->w.slot, tx->w.first,
			      sdr_imm_frag(&a->split, tx->w.user_imm, tx->w.first));
	if (part->size) {
		p->whole = (uint16_t)part->whole;
		p->piece = (uint16_t)part->size;
		e->st.pieces_tx++;
	}
	return sdr_sim_launch(e, l, p, node);
}

/* Bytes of the pieces of a packet of len bytes; 0: it goes in one datagram. */
static uint32_t sdr_sim_cut(const struct sdr_sim_qp *qp, const struct sdr_sim_via *via,
			    uint32_t len, uint32_t wire)
{
	bool less = via->path && (!qp->path || via->path < qp->path);
	uint32_t path = less ? via->path : qp->path, size;

	if (!path || wire <= path)
		return 0;
	size = sdr_uc_piece_size(len, path > SDR_SIM_DATA_OVER ? path - SDR_SIM_DATA_OVER : 0);
	return size < len ? size : 0;
}

/* The run's first packet, of len bytes. */
static int sdr_sim_send_packet(struct sdr_sim_eng *e, const struct sdr_uc_tx *tx, uint32_t len)
{
	struct sdr_sim_qp *qp = sdr_sim_qp(tx->w.qp);
	const struct sdr_sim_via *via = &qp->via[tx->via];
	uint32_t wire = SDR_SIM_DATA_OVER + len + sdr_wire_pad(len);
	struct sdr_sim_part part = { .whole = len, .size = sdr_sim_cut(qp, via, len, wire) };
	uint32_t step = part.size ? part.size : len;
	struct sdr_sim_lnk *l;
	int node, err;

	if (part.size)
		wire += (len - 1) / part.size * SDR_SIM_DATA_OVER;
	sdr_sim_translate(e, via->source, via->number, &part.from, &part.to);
	l = sdr_sim_link_to(e, via->source, part.to, wire, &node, &err);
	if (err)
		return err;
	do {
		part.len = len - part.off < step ? len - part.off : step;
		err = sdr_sim_send_part(e, tx, &part, l, node);
		if (err == -ENOMEM && !part.off)
			return -EAGAIN;
		if (err == -EMSGSIZE && !e->attr.rkeyed)
			qp->path = e->w->nodes[e->node].route;
		part.off += part.len;
	} while (part.off < len && !err);
	e->st.pkts_tx++;
	e->st.bytes_tx += len;
	return 0;
}

static int sdr_sim_send_run(struct sdr_sim_eng *e, struct sdr_uc_tx *tx)
{
	const struct sdr_sim_qp *qp = sdr_sim_qp(tx->w.qp);
	const struct sdr_uc_qp_attr *a = &qp->attr;
	uint32_t len;
	int err;

	if (!qp->connected || qp->broken || tx->via >= SDR_PATHS_MAX || !qp->via[tx->via].set ||
	    tx->gen >= a->generations || tx->channel >= a->channels ||
	    tx->w.slot >> a->split.id_bits)
		return 0; /* lost */
	do {
		len = tx->len < qp->mtu ? tx->len : qp->mtu;
		if (tx->w.first >> a->split.off_bits)
			return 0;
		err = sdr_sim_send_packet(e, tx, len);
		if (err)
			return err;
		if (len)
			tx->buf += len;
		tx->len -= len;
		tx->w.first++;
	} while (tx->len);
	return 0;
}

static int sdr_sim_send_ctl(struct sdr_sim_eng *e, const struct sdr_uc_tx *tx)
{
	bool probe = tx->flags & SDR_UC_F_PROBE;
	uint32_t wire = SDR_SIM_CTL_OVER + tx->len + sdr_wire_pad(tx->len);
	struct sdr_sim_packet *p;
	struct sdr_uc_addr from;
	struct sdr_sim_lnk *l;
	uint32_t number, to;
	int node, err;

	if (tx->len > (probe && !e->attr.no_probe ? e->attr.probe_max : e->attr.ctl_max) ||
	    tx->via >= e->attr.sources)
		return 0; /* lost */
	sdr_sim_translate(e, tx->via, sdr_sim_addr_number(tx->to), &number, &to);
	l = sdr_sim_link_to(e, tx->via, to, wire, &node, &err);
	if (err)
		return err;
	p = sdr_sim_packet_get(e->w, sizeof(from) + tx->len);
	if (!p)
		return -EAGAIN;
	sdr_sim_addr_make(number, &from);
	memcpy(p->buf, &from, sizeof(from));
	memcpy(p->buf + sizeof(from), tx->buf, tx->len);
	p->kind = SDR_SIM_CTL;
	p->flags = tx->flags & SDR_UC_F_CORRUPT ? SDR_SIM_P_CORRUPT : 0;
	p->flags |= probe ? SDR_SIM_P_PROBE : 0;
	p->ecn = sdr_sim_ecn(e, tx);
	p->len = tx->len;
	p->wire = wire;
	p->from = number;
	p->to = to;
	e->st.ctl_tx++;
	(void)sdr_sim_launch(e, l, p, node);
	return 0;
}

int sdr_sim_post(struct sdr_uc *uc, struct sdr_uc_tx *v, int n)
{
	struct sdr_sim_eng *e = sdr_sim_eng(uc);
	int i, err = 0;

	if (sdr_sim_node_stalled(e->w, e->node))
		return 0;
	for (i = 0; i < n; i++) {
		err = v[i].kind == SDR_UC_TX_WRITE ? sdr_sim_send_run(e, &v[i])
						   : sdr_sim_send_ctl(e, &v[i]);
		if (err)
			break;
	}
	if (err)
		e->st.tx_again++;
	e->st.sys_tx++;
	return i;
}
