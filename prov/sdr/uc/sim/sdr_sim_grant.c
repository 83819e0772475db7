/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Grants of an rkeyed node: a simulated device, whose memory is written by key and not by slot.
 *
 * A device places a packet when it arrives, whether the host looks or not, and knows of keys,
 * addresses and lengths only.  What the slot table says is looked up later, when the host polls the
 * completion.  Two kinds: with SDR_SIM_RKEYED_MR each grant has a key of its own, and what comes
 * under a key that is not there any more leaves no trace on the host; with SDR_SIM_RKEYED_ROOT all
 * have the node's root key and a range of its address space, and what falls beside the ranges of
 * living grants meets the NULL key: completed, written nowhere.
 *
 * Keys and addresses are drawn from the node's own stream, which a new engine of the node continues
 * from the world's, so that no key comes back.  As on a device, neither the QP nor the immediate is
 * compared with the grant.  Grants that were not ended die with the engine and count as not ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/sdr_mem.h"
#include "sdr_sim_impl.h"

#define SDR_SIM_GRANT_SHIFT 36u /* ROOT: address bits of a grant, 64 GiB */

struct sdr_sim_grant {
	struct sdr_sim_grant *next; /* in its bucket */
	uint8_t *buf;
	const struct sdr_mem *mem;
	uint64_t len;
	uint64_t va;
	uint32_t rkey;
};

void sdr_sim_grants_init(struct sdr_sim_eng *e)
{
	if (!e->attr.rkeyed)
		return;
	sdr_sim_rng_seed(&e->rng, sdr_sim_rng_next(&e->w->rng));
	e->root = (uint32_t)sdr_sim_rng_next(&e->rng);
}

/* What identifies a grant: MR the key, ROOT the high bits of the address. */
static inline uint32_t sdr_sim_grant_tag(const struct sdr_sim_eng *e, uint64_t va, uint32_t rkey)
{
	return e->attr.rkeyed == SDR_SIM_RKEYED_MR ? rkey : (uint32_t)(va >> SDR_SIM_GRANT_SHIFT);
}

static struct sdr_sim_grant **sdr_sim_grant_find(struct sdr_sim_eng *e, uint64_t va, uint32_t rkey)
{
	uint32_t tag = sdr_sim_grant_tag(e, va, rkey);
	struct sdr_sim_grant **g = &e->grants[tag % SDR_SIM_GRANT_BUCKETS];

	while (*g && sdr_sim_grant_tag(e, (*g)->va, (*g)->rkey) != tag)
		g = &(*g)->next;
	return g;
}

int sdr_sim_grant(struct sdr_uc_qp *qp, void *buf, size_t len, const struct sdr_mem *mem, void *mr,
		  struct sdr_uc_grant *out)
{
	struct sdr_sim_eng *e = sdr_sim_eng(qp->uc);
	struct sdr_sim_node *nd = &e->w->nodes[e->node];
	struct sdr_sim_grant *g, **at;

	(void)mr;
	memset(out, 0, sizeof(*out));
	if (!e->attr.rkeyed || (mem && !sdr_sim_far(e)))
		return -EOPNOTSUPP;
	if (len >> SDR_SIM_GRANT_SHIFT)
		return -EINVAL;
	if (e->attr.grants_max && e->grants_n >= e->attr.grants_max)
		return -EAGAIN;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->buf = buf;
	g->mem = mem;
	g->len = len;
	do {
		/* any offset in a page */
		g->va = sdr_sim_rng_next(&e->rng) & 0xfffffff000000fffull;
		g->rkey = e->root;
		if (e->attr.rkeyed == SDR_SIM_RKEYED_MR)
			g->rkey = (uint32_t)sdr_sim_rng_next(&e->rng);
		at = sdr_sim_grant_find(e, g->va, g->rkey);
	} while (*at);
	*at = g;
	e->grants_n++;
	nd->grants_made++;
	e->st.grants++;
	out->va = g->va;
	out->rkey = g->rkey;
	out->impl = g;
	return 0;
}

void sdr_sim_grant_end(struct sdr_uc_qp *qp, struct sdr_uc_grant *out)
{
	struct sdr_sim_eng *e = sdr_sim_eng(qp->uc);
	struct sdr_sim_grant *g = out->impl, **at;

	if (!g)
		return;
	at = sdr_sim_grant_find(e, g->va, g->rkey);
	*at = g->next;
	free(g);
	e->grants_n--;
	e->w->nodes[e->node].grants_ended++;
	out->impl = NULL;
}

void sdr_sim_grants_free(struct sdr_sim_eng *e)
{
	struct sdr_sim_grant *g;

	for (uint32_t i = 0; i < SDR_SIM_GRANT_BUCKETS; i++) {
		while ((g = e->grants[i])) {
			e->grants[i] = g->next;
			free(g);
		}
	}
}

/* It may be written to this node. */
static bool sdr_sim_grant_check(struct sdr_sim_eng *e, const struct sdr_sim_packet *p)
{
	const struct sdr_sim_qp *qp = sdr_sim_qp_find(e, p->qpn);

	return !(p->flags & SDR_SIM_P_CORRUPT) && qp && !qp->broken &&
	       p->flags & SDR_SIM_P_RKEYED &&
	       p->qpn - qp->qpn < (uint32_t)qp->attr.channels * qp->attr.generations && !p->piece &&
	       p->len <= qp->mtu && (e->attr.rkeyed != SDR_SIM_RKEYED_ROOT || p->rkey == e->root);
}

static bool sdr_sim_grant_inside(const struct sdr_sim_grant *g, const struct sdr_sim_packet *p)
{
	uint64_t off = p->va - g->va;

	return off <= g->len && p->len <= g->len - off;
}

static void sdr_sim_grant_put(const struct sdr_sim_grant *g, const struct sdr_sim_packet *p)
{
	if (p->buf)
		(void)sdr_mem_put(g->mem, g->buf + (p->va - g->va), p->buf, p->len);
}

void sdr_sim_grant_early(struct sdr_sim_eng *e, const struct sdr_sim_packet *p)
{
	const struct sdr_sim_grant *g = NULL;

	if (sdr_sim_grant_check(e, p))
		g = *sdr_sim_grant_find(e, p->va, p->rkey);
	if (g && sdr_sim_grant_inside(g, p))
		sdr_sim_grant_put(g, p);
}

bool sdr_sim_grant_write(struct sdr_sim_eng *e, struct sdr_sim_packet *p)
{
	const struct sdr_sim_grant *g;

	if (!sdr_sim_grant_check(e, p))
		goto bad;
	g = *sdr_sim_grant_find(e, p->va, p->rkey);
	if (!g && e->attr.rkeyed == SDR_SIM_RKEYED_MR) {
		e->st.pkts_late++;
		sdr_sim_trace(e->w, SDR_SIM_T_LATE, p);
		return false;
	}
	if (!g) {
		p->flags |= SDR_SIM_P_NULL;
		return true;
	}
	if (!sdr_sim_grant_inside(g, p))
		goto bad;
	sdr_sim_grant_put(g, p);
	p->flags |= SDR_SIM_P_WRITTEN;
	return true;
bad:
	e->st.pkts_bad++;
	sdr_sim_trace(e->w, SDR_SIM_T_BAD, p);
	return false;
}

bool sdr_sim_grant_report(struct sdr_sim_eng *e, const struct sdr_sim_packet *p,
			  struct sdr_uc_ev *ev)
{
	const struct sdr_sim_qp *qp = sdr_sim_qp_find(e, p->qpn);
	const struct sdr_sim_slot *slot;
	const struct sdr_uc_qp_attr *a;
	uint32_t lane;

	if (!qp || qp->broken) /* destroyed since: its completions went with it */
		goto late;
	a = &qp->attr;
	lane = p->qpn - qp->qpn;
	ev->kind = SDR_UC_EV_PLACED;
	ev->gen = (uint8_t)(lane / a->channels);
	ev->channel = (uint8_t)(lane % a->channels);
	ev->len = p->len;
	ev->p.cookie = a->cookie;
	ev->p.imm = p->imm;
	if (p->flags & SDR_SIM_P_NULL) {
		e->st.pkts_late++;
		sdr_sim_trace(e->w, SDR_SIM_T_LATE, p);
		return true;
	}
	slot = &qp->slots[sdr_imm_id(&a->split, p->imm)];
	if (!slot->bound || slot->gen != ev->gen)
		goto late;
	e->st.pkts_rx++;
	e->st.bytes_rx += p->len;
	sdr_sim_trace(e->w, SDR_SIM_T_PLACED, p);
	return true;
late:
	e->st.pkts_late++;
	sdr_sim_trace(e->w, SDR_SIM_T_LATE, p);
	return false;
}

void sdr_sim_node_grants(const struct sdr_sim_world *w, uint32_t node, uint64_t *made,
			 uint64_t *ended)
{
	*made = w->nodes[node].grants_made;
	*ended = w->nodes[node].grants_ended;
}
