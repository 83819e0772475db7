/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * QPs of the soft engine.  A QP is channels * generations transport QPs with consecutive numbers;
 * the low bits of a number index a flat table, the rest is random, and all 24 are compared. Numbers
 * are given out in turn, so that one is not used again until all others were: packets of a
 * connection that is gone find no QP.
 *
 * The slot table is the root key's table of the paper: slot -> user buffer or nothing (the NULL
 * key), with the generation that may write there.  Pages of it appear when a slot in them is bound
 * for the first time; an idle QP costs the struct and one pointer a page (under 2 KiB with the
 * default split).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "uc/sdr_uc_qp.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_near.h"
#include "sdr_soft_piece.h"
#include "sdr_soft_spread.h"
#include "sdr_soft_via.h"

#define SDR_SOFT_QPN_CAP 256u /* entries the QP table starts with */

static inline struct sdr_soft_qp *sdr_soft_qp_of(struct sdr_uc_qp *qp)
{
	return (struct sdr_soft_qp *)qp;
}

static int sdr_soft_qpn_grow(struct sdr_soft *s)
{
	uint32_t cap = s->qpn_cap ? s->qpn_cap * 2 : SDR_SOFT_QPN_CAP;
	struct sdr_soft_qp **tab;

	if (cap > 1u << SDR_SOFT_QPN_BITS)
		return -ENOSPC;
	tab = calloc(cap, sizeof(*tab));
	if (!tab)
		return -ENOMEM;
	if (s->qpn_cap)
		memcpy(tab, s->qpn, s->qpn_cap * sizeof(*tab));
	s->qpn_next = s->qpn_cap ? s->qpn_cap : SDR_SOFT_QPN_FIRST;
	sdr_soft_crew_retire(s, s->qpn);
	__atomic_store_n(&s->qpn, tab, __ATOMIC_RELEASE);
	__atomic_store_n(&s->qpn_cap, cap, __ATOMIC_RELEASE);
	return 0;
}

/* Looks for n free entries in a row from qpn_next to the end, then from the start. */
static int sdr_soft_qpn_alloc(struct sdr_soft *s, uint32_t n, uint32_t *index)
{
	uint32_t seen, i, run;
	int ret;

	for (;;) {
		i = s->qpn_next;
		for (seen = 0, run = 0; seen < s->qpn_cap + n; seen++, i++) {
			if (i >= s->qpn_cap) {
				i = SDR_SOFT_QPN_FIRST;
				run = 0;
			}
			run = s->qpn_cap && !s->qpn[i] ? run + 1 : 0;
			if (run == n) {
				*index = i + 1 - n;
				s->qpn_next = i + 1;
				return 0;
			}
		}
		ret = sdr_soft_qpn_grow(s);
		if (ret)
			return ret;
	}
}

int sdr_soft_qp_create(struct sdr_uc *uc, const struct sdr_uc_qp_attr *a, struct sdr_uc_qp **qp)
{
	struct sdr_soft *s = sdr_soft_of(uc);
	uint32_t ntp = (uint32_t)a->channels * a->generations, index, i;
	struct sdr_soft_qp *q;
	int ret;

	ret = sdr_uc_qp_attr_check(a, s->mtu);
	if (ret)
		return ret;
	q = calloc(1, sizeof(*q) + ntp * sizeof(q->psn[0]));
	if (!q)
		return -ENOMEM;
	q->nslots = 1u << a->split.id_bits;
	q->pages = calloc((q->nslots + SDR_SOFT_SLOT_PAGE - 1) / SDR_SOFT_SLOT_PAGE,
			  sizeof(q->pages[0]));
	if (!q->pages) {
		ret = -ENOMEM;
		goto err;
	}
	ret = sdr_soft_qpn_alloc(s, ntp, &index);
	if (ret)
		goto err;
	q->qp.uc = uc;
	q->s = s;
	q->cookie = a->cookie;
	q->ntp = ntp;
	q->channels = a->channels;
	q->generations = a->generations;
	q->split = a->split;
	q->mtu = a->mtu;
	q->max_msg = a->max_msg;
	q->qpn = ((uint32_t)(a->rand[0] << SDR_SOFT_QPN_BITS) | index) & SDR_QPN_MASK;
	q->psn0 = (uint32_t)(a->rand[0] >> 32) & SDR_PSN_MASK;
	q->rkey = (uint32_t)a->rand[1];
	q->nonce = a->rand[1] ^ a->rand[0] << 7;
	q->cut.whole = UINT32_MAX;
	for (i = 0; i < ntp; i++) {
		SDR_ASSERT(index + i < s->qpn_cap && !s->qpn[index + i]);
		__atomic_store_n(&s->qpn[index + i], q, __ATOMIC_RELEASE);
	}
	if (s->crew)
		(void)sdr_soft_crew_start(s);
	*qp = &q->qp;
	return 0;
err:
	free(q->pages);
	free(q);
	return ret;
}

static void sdr_soft_page_free(struct sdr_soft_slot *page)
{
	uint32_t i;

	for (i = 0; page && i < SDR_SOFT_SLOT_PAGE; i++)
		sdr_soft_piece_forget(&page[i]);
	free(page);
}

void sdr_soft_qp_destroy(struct sdr_uc_qp *qp)
{
	struct sdr_soft_qp *q = sdr_soft_qp_of(qp);
	uint32_t index = q->qpn & ((1u << SDR_SOFT_QPN_BITS) - 1), i;

	for (i = 0; i < q->ntp; i++) {
		SDR_ASSERT(q->s->qpn[index + i] == q);
		__atomic_store_n(&q->s->qpn[index + i], NULL, __ATOMIC_SEQ_CST);
	}
	sdr_soft_crew_quiet(q->s);
	sdr_soft_near_part(q);
	for (i = 0; i < q->nslots; i += SDR_SOFT_SLOT_PAGE)
		sdr_soft_page_free(q->pages[i / SDR_SOFT_SLOT_PAGE]);
	free(q->pages);
	free(q->nic);
	free(q->spread);
	free(q->via);
	free(q);
}

void sdr_soft_qp_info(struct sdr_uc_qp *qp, struct sdr_wire_qp_info *out)
{
	struct sdr_soft_qp *q = sdr_soft_qp_of(qp);
	struct sdr_soft *s = q->s;

	memset(out, 0, sizeof(*out));
	out->qpn = q->qpn;
	out->rkey = q->rkey;
	out->psn = q->psn0;
	out->channels = q->channels;
	out->generations = q->generations;
	out->split = q->split;
	out->mtu = q->mtu;
	out->max_msg = q->max_msg;
	out->rx_window = s->rx_window;
	out->host = s->host;
	for (; s->crew && out->nports < s->crew->on; out->nports++)
		out->port[out->nports] = s->crew->worker[out->nports]->port;
	if (!s->any) {
		/* The scope id means nothing to others. */
		out->addr_len = s->addr.len < sizeof(out->addr) ? s->addr.len : sizeof(out->addr);
		memcpy(out->addr, s->addr.b, out->addr_len);
	}
}

int sdr_soft_dest_make(const struct sdr_soft *s, const struct sdr_uc_addr *own,
		       const struct sdr_uc_addr *addr, struct sdr_soft_dest *out)
{
	struct sockaddr_storage sa;
	int len = sdr_uc_addr_to_sockaddr(addr, &sa);

	if (len < 0)
		return len;
	if (sa.ss_family != s->family)
		return -EAFNOSUPPORT;
	if (sa.ss_family == AF_INET6) {
		struct sockaddr_in6 *in6 = (void *)&sa;

		if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) && !in6->sin6_scope_id)
			in6->sin6_scope_id = sdr_get_le32(own->b + 19);
	}
	out->sa = sa;
	out->len = (socklen_t)len;
	return 0;
}

/* dest has changed. */
static void sdr_soft_qp_bare(struct sdr_soft_qp *q)
{
	q->bare = q->neighbour && q->s->net->stays((struct sockaddr *)&q->dest.sa);
}

int sdr_soft_qp_connect(struct sdr_uc_qp *qp, const struct sdr_wire_qp_info *p,
			const struct sdr_uc_addr *addr)
{
	struct sdr_soft_qp *q = sdr_soft_qp_of(qp);
	struct sdr_uc_addr to;
	uint32_t i;
	int ret;

	ret = sdr_uc_qp_meet(qp, p, addr, &to);
	if (ret)
		return ret;
	if (p->flags & SDR_QP_F_NIC)
		ret = sdr_soft_nic_connect(q, p, &to);
	else
		ret = sdr_soft_dest_make(q->s, &q->s->addr, &to, &q->dest);
	if (ret)
		return ret;
	if (p->flags & SDR_QP_F_NIC) {
		sdr_soft_via_forget(q);
	} else {
		free(q->nic);
		__atomic_store_n(&q->nic, NULL, __ATOMIC_RELAXED);
	}
	q->peer_qpn = p->qpn & SDR_QPN_MASK;
	q->peer_rkey = p->rkey;
	/* Workers look at it, too: who is late to know checks an ICRC that need not be there. */
	__atomic_store_n(&q->neighbour, !q->nic && p->host && p->host == q->s->host,
			 __ATOMIC_RELAXED);
	sdr_soft_qp_bare(q);
	if (q->bare && q->s->near)
		sdr_soft_near_meet(q);
	ret = sdr_soft_spread_connect(q, p);
	if (ret)
		return ret;
	for (i = 0; i < q->ntp; i++)
		q->psn[i] = p->psn & SDR_PSN_MASK;
	sdr_soft_piece_limit(q, &q->cut, q->cut.path); /* devices get no pieces */
	return 0;
}

void sdr_soft_qp_path(struct sdr_uc_qp *qp, uint32_t bytes)
{
	struct sdr_soft_qp *q = sdr_soft_qp_of(qp);

	sdr_soft_piece_limit(q, &q->cut, bytes);
}

void sdr_soft_qp_readdress(struct sdr_uc_qp *qp, const struct sdr_uc_addr *addr)
{
	struct sdr_soft_qp *q = sdr_soft_qp_of(qp);

	/* An address of another family cannot have come from this engine: the old one stays. */
	if (q->nic)
		(void)sdr_soft_nic_readdress(q, addr);
	else if (!sdr_soft_dest_make(q->s, &q->s->addr, addr, &q->dest)) {
		sdr_soft_qp_bare(q);
		if (q->spread)
			sdr_soft_spread_readdress(q);
	}
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* Whoever was at work there has left when it returns. */
static void sdr_soft_slot_empty(const struct sdr_soft_qp *q, struct sdr_soft_slot *e)
{
	if (sdr_soft_slot_bound(e)) {
		__atomic_store_n(&e->bound, false, __ATOMIC_SEQ_CST);
		sdr_soft_crew_leave(q->s, e);
		sdr_soft_crew_large(q->s, e->len, false);
	}
	sdr_soft_piece_forget(e);
	e->buf = NULL;
	e->len = 0;
}

int sdr_soft_slot_bind(struct sdr_uc_qp *qp, uint32_t slot, uint32_t use, void *buf, size_t len,
		       void *mr)
{
	struct sdr_soft_qp *q = sdr_soft_qp_of(qp);
	struct sdr_soft_slot **page, *e;

	(void)mr;
	if (slot >= q->nslots || len > q->max_msg || (len && !buf))
		return -EINVAL;
	page = &q->pages[slot / SDR_SOFT_SLOT_PAGE];
	if (!*page) {
		e = calloc(SDR_SOFT_SLOT_PAGE, sizeof(*e));
		if (!e)
			return -ENOMEM;
		__atomic_store_n(page, e, __ATOMIC_RELEASE);
	}
	e = &(*page)[slot % SDR_SOFT_SLOT_PAGE];
	sdr_soft_slot_empty(q, e);
	e->buf = buf;
	e->len = len;
	e->gen = (uint8_t)(use % q->generations);
	e->rkey = sdr_rkey_of_epoch(q->rkey, use / q->generations);
	sdr_soft_crew_large(q->s, len, true);
	__atomic_store_n(&e->bound, true, __ATOMIC_SEQ_CST);
	__atomic_store_n(&e->use, use + 1, __ATOMIC_SEQ_CST);
	return 0;
}

void sdr_soft_slot_unbind(struct sdr_uc_qp *qp, uint32_t slot)
{
	struct sdr_soft_slot *e = sdr_soft_slot_find(sdr_soft_qp_of(qp), slot);

	if (e)
		sdr_soft_slot_empty(sdr_soft_qp_of(qp), e);
}
