/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * QPs of the simulated engine: QP numbers, what both sides exchange, the slots of the message
 * table.
 *
 * A QP takes a span of 256 QP numbers of which channels * generations are in use; the spans of a
 * node are found through a small hash table.  Numbers, root key and first PSN come from the
 * randomness that the caller gives, so they are part of the seed.  Nothing is sent or received
 * here.
 * A slot that gets its first piece of a packet gets 32 bits for each of its packets, until it is
 * bound anew.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "uc/sdr_uc_qp.h"
#include "sdr_sim_addr.h"

/* ---- QPs ------------------------------------------------------------------------------------- */

static uint32_t sdr_sim_qp_hash(uint32_t qpn)
{
	return (qpn / SDR_SIM_QPN_SPAN) * 0x9e3779b1u >> 8;
}

struct sdr_sim_qp *sdr_sim_qp_find(struct sdr_sim_eng *e, uint32_t qpn)
{
	uint32_t i, base = qpn / SDR_SIM_QPN_SPAN * SDR_SIM_QPN_SPAN;

	if (e->last && e->last->qpn == base)
		return e->last;
	if (!e->qps)
		return NULL;
	for (i = sdr_sim_qp_hash(base) & e->qps_mask; e->qps[i]; i = (i + 1) & e->qps_mask)
		if (e->qps[i]->qpn == base)
			return e->last = e->qps[i];
	return NULL;
}

static void sdr_sim_qp_enter(struct sdr_sim_qp **tab, uint32_t mask, struct sdr_sim_qp *qp)
{
	uint32_t i = sdr_sim_qp_hash(qp->qpn) & mask;

	while (tab[i])
		i = (i + 1) & mask;
	tab[i] = qp;
}

/* Makes a table of at least twice the number of QPs and enters all but `without`. */
static int sdr_sim_qp_rehash(struct sdr_sim_eng *e, const struct sdr_sim_qp *without, uint32_t n)
{
	struct sdr_sim_qp **tab;
	uint32_t size = 8;

	while (size < 2 * n + 2)
		size *= 2;
	tab = calloc(size, sizeof(*tab));
	if (!tab)
		return -ENOMEM;
	for (uint32_t i = 0; e->qps && i <= e->qps_mask; i++)
		if (e->qps[i] && e->qps[i] != without)
			sdr_sim_qp_enter(tab, size - 1, e->qps[i]);
	free(e->qps);
	e->qps = tab;
	e->qps_mask = size - 1;
	return 0;
}

int sdr_sim_qp_create(struct sdr_uc *uc, const struct sdr_uc_qp_attr *a, struct sdr_uc_qp **out)
{
	struct sdr_sim_eng *e = sdr_sim_eng(uc);
	struct sdr_sim_rng rng;
	struct sdr_sim_qp *qp;
	int err;

	err = sdr_uc_qp_attr_check(a, e->attr.mtu);
	if (err)
		return err;
	if (a->mtu < SDR_MTU_MIN)
		return -EINVAL;
	if (e->qps_n >= SDR_SIM_QPS_MAX)
		return -ENOSPC;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	qp->slots = calloc((size_t)1 << a->split.id_bits, sizeof(*qp->slots));
	err = qp->slots ? sdr_sim_qp_rehash(e, NULL, e->qps_n + 1) : -ENOMEM;
	if (err)
		goto fail;
	qp->base.uc = uc;
	qp->attr = *a;
	qp->mtu = a->mtu;
	sdr_sim_rng_seed(&rng, a->rand[0]);
	rng.s[1] ^= a->rand[1];
	do {
		qp->qpn = (uint32_t)(sdr_sim_rng_next(&rng) & SDR_QPN_MASK) / SDR_SIM_QPN_SPAN *
			  SDR_SIM_QPN_SPAN;
	} while (!qp->qpn || sdr_sim_qp_find(e, qp->qpn)); /* the first span holds SDR_QPN_CTL */
	qp->rkey = (uint32_t)sdr_sim_rng_next(&rng);
	qp->first_psn = (uint32_t)sdr_sim_rng_next(&rng) & SDR_PSN_MASK;
	sdr_sim_qp_enter(e->qps, e->qps_mask, qp);
	e->qps_n++;
	*out = &qp->base;
	return 0;
fail:
	free(qp->slots);
	free(qp);
	return err;
}

int sdr_sim_qp_break(struct sdr_sim_world *w, uint32_t node, uint32_t qpn)
{
	struct sdr_sim_eng *e = w->nodes[node].eng;
	struct sdr_sim_qp *qp = e ? sdr_sim_qp_find(e, qpn) : NULL;

	if (!qp)
		return -ENOENT;
	if (!qp->broken)
		e->broken++;
	qp->broken = true;
	return 0;
}

int sdr_sim_qp_report(struct sdr_sim_eng *e, struct sdr_uc_ev *ev, int max)
{
	int n = 0;

	for (uint32_t i = 0; e->broken && n < max && i <= e->qps_mask; i++) {
		struct sdr_sim_qp *qp = e->qps[i];

		if (!qp || !qp->broken || qp->reported)
			continue;
		qp->reported = true;
		e->broken--;
		memset(&ev[n], 0, sizeof(ev[n]));
		ev[n].kind = SDR_UC_EV_QP;
		ev[n].q.cookie = qp->attr.cookie;
		ev[n++].q.err = -EIO;
	}
	return n;
}

void sdr_sim_qp_free(struct sdr_sim_qp *qp)
{
	for (uint32_t i = 0; i < 1u << qp->attr.split.id_bits; i++)
		free(qp->slots[i].pieces);
	free(qp->slots);
	free(qp);
}

void sdr_sim_qp_destroy(struct sdr_uc_qp *base)
{
	struct sdr_sim_qp *qp = sdr_sim_qp(base);
	struct sdr_sim_eng *e = sdr_sim_eng(base->uc);
	uint32_t i, j;

	e->last = NULL;
	e->broken -= qp->broken && !qp->reported;
	for (i = sdr_sim_qp_hash(qp->qpn) & e->qps_mask; e->qps[i] != qp; i = (i + 1) & e->qps_mask)
		;
	e->qps[i] = NULL; /* and those that it had pushed aside move up */
	for (j = (i + 1) & e->qps_mask; e->qps[j]; j = (j + 1) & e->qps_mask) {
		struct sdr_sim_qp *moved = e->qps[j];

		e->qps[j] = NULL;
		sdr_sim_qp_enter(e->qps, e->qps_mask, moved);
	}
	e->qps_n--;
	sdr_sim_qp_free(qp);
}

void sdr_sim_qp_info(struct sdr_uc_qp *base, struct sdr_wire_qp_info *out)
{
	const struct sdr_sim_qp *qp = sdr_sim_qp(base);
	const struct sdr_sim_eng *e = sdr_sim_eng(base->uc);
	struct sdr_uc_addr own;

	out->qpn = qp->qpn;
	out->rkey = qp->rkey;
	out->psn = qp->first_psn;
	out->channels = qp->attr.channels;
	out->generations = qp->attr.generations;
	out->split = qp->attr.split;
	out->mtu = qp->mtu;
	out->max_msg = qp->attr.max_msg;
	out->rx_window = e->attr.rx_window;
	memset(out->addr, 0, sizeof(out->addr));
	sdr_sim_node_addr(e->w, e->node, &own);
	out->addr_len = own.len;
	memcpy(out->addr, own.b, own.len);
	out->flags = e->attr.rkeyed ? SDR_QP_F_RKEYED : 0;
	out->ctl_qpn = 0;
	out->ntps = 0;
}

void sdr_sim_qp_readdress(struct sdr_uc_qp *base, const struct sdr_uc_addr *addr)
{
	sdr_sim_qp(base)->via[0] =
		(struct sdr_sim_via){ .number = sdr_sim_addr_number(addr), .set = true };
}

int sdr_sim_qp_via(struct sdr_uc_qp *base, uint32_t via, uint32_t source,
		   const struct sdr_uc_addr *addr)
{
	struct sdr_sim_via to = { .number = sdr_sim_addr_number(addr),
				  .source = (uint8_t)source,
				  .set = true };

	if (!via || via >= SDR_PATHS_MAX || source >= sdr_sim_eng(base->uc)->attr.sources)
		return -EINVAL;
	if (!to.number)
		return -EAFNOSUPPORT;
	to.path = sdr_sim_qp(base)->via[via].path;
	sdr_sim_qp(base)->via[via] = to;
	sdr_sim_qp(base)->vias = true;
	return 0;
}

int sdr_sim_qp_connect(struct sdr_uc_qp *base, const struct sdr_wire_qp_info *peer,
		       const struct sdr_uc_addr *addr)
{
	struct sdr_sim_qp *qp = sdr_sim_qp(base);
	struct sdr_uc_addr to;
	int err;

	err = sdr_uc_qp_meet(base, peer, addr, &to);
	if (err)
		return err;
	sdr_sim_qp_readdress(base, &to);
	qp->peer_qpn = peer->qpn;
	qp->peer_rkey = peer->rkey;
	for (uint32_t i = 0; i < SDR_SIM_QPN_SPAN; i++)
		qp->psn[i] = peer->psn;
	qp->connected = true;
	return 0;
}

/* ---- slots ----------------------------------------------------------------------------------- */

int sdr_sim_slot_bind(struct sdr_uc_qp *base, uint32_t slot, uint32_t use, void *buf, size_t len,
		      void *mr)
{
	struct sdr_sim_qp *qp = sdr_sim_qp(base);

	(void)mr;
	if (slot >> qp->attr.split.id_bits || len > qp->attr.max_msg)
		return -EINVAL;
	free(qp->slots[slot].pieces);
	qp->slots[slot] = (struct sdr_sim_slot){
		.buf = buf,
		.len = len,
		.bound = true,
		.gen = (uint8_t)(use % qp->attr.generations),
		.rkey = sdr_rkey_of_epoch(qp->rkey, use / qp->attr.generations),
	};
	return 0;
}

void sdr_sim_slot_unbind(struct sdr_uc_qp *base, uint32_t slot)
{
	struct sdr_sim_qp *qp = sdr_sim_qp(base);

	if (slot >> qp->attr.split.id_bits)
		return;
	free(qp->slots[slot].pieces);
	qp->slots[slot] = (struct sdr_sim_slot){ 0 };
}

bool sdr_sim_slot_whole(struct sdr_sim_qp *qp, struct sdr_sim_slot *slot, uint32_t pkt,
			const struct sdr_uc_piece *piece)
{
	if (!slot->pieces) {
		slot->pieces = calloc((slot->len + qp->mtu - 1) / qp->mtu, sizeof(uint32_t));
		if (!slot->pieces)
			return false; /* out of memory: a loss */
	}
	return sdr_uc_piece_take(&slot->pieces[pkt], piece) == SDR_UC_PIECE_WHOLE;
}
