/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A connection is made, when the first operation or the peer's HELLO wants it, and freed, when all
 * rooms have let go of it.  In between it opens with one exchange (sdr_handshake.c), and is closed
 * by BYE, by a peer that restarted, or by silence.  One allocation, with the parts of the rooms
 * above behind its own.
 */
#include <stdlib.h>
#include "sdr_conn.h"
#include "sdr_conn_fan.h"
#include "sdr_conn_known.h"
#include "sdr_conn_mtu.h"
#include "sdr_conn_ops.h"
#include "sdr_credit.h"
#include "sdr_home.h"
#include "sdr_multipath.h"
#include "sdr_pn_skip.h"
#include "sdr_reshape.h"

#define PART_ALIGN 64u /* bytes: a cache line */

/* The parts of the rooms above lie behind it, each where any type may lie. */
static size_t conn_part(size_t bytes)
{
	return (bytes + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
}

static struct sdr_conn *conn_alloc(const struct sdr_rel *rel)
{
	size_t own = conn_part(sizeof(struct sdr_conn)), bulk = conn_part(rel->ops->bulk_size);
	uint8_t *p = calloc(1, own + bulk + rel->ops->msg_size);
	struct sdr_conn *c = (void *)p;

	if (!p)
		return NULL;
	c->bulk = (void *)(p + own);
	c->msg = (void *)(p + own + bulk);
	return c;
}

struct sdr_conn *sdr_conn_open(struct sdr_peer *peer, bool passive, uint32_t mtu)
{
	struct sdr_rel *rel = peer->rel;
	struct sdr_conn *c = conn_alloc(rel);

	SDR_ASSERT(!peer->conn && mtu && mtu <= rel->mtu);
	if (!c)
		return NULL;
	c->rel = rel;
	c->peer = peer;
	c->addr = peer->addr;
	c->npaths = 1;
	c->hs.passive = passive;
	c->state = SDR_CONN_HELLO;
	c->hs.born = c->rx.last_ns = c->rx.heard_ns = c->hs.next = rel->now;
	/* The passive side sends HELLO only if it is not validated without. */
	if (passive)
		c->hs.next += 2 * (rel->cfg.rtt_init_us ? rel->cfg.rtt_init_us * 1000ull
							: SDR_RTT_INIT_NS);
	c->id.cid = sdr_rel_rand(rel);
	c->ctl_max = c->ctl_agreed = rel->ctl_max;
	c->alias.until = NEVER;
	c->rx.again_ns = NEVER;
	sdr_list_init(&c->ready);
	sdr_list_init(&c->turn);
	sdr_list_init(&c->rec.rtx);
	sdr_list_init(&c->rec.unordered);
	sdr_list_init(&c->rec.ordered);
	sdr_rtt_init(&c->main.rtt, peer->srtt		  ? peer->srtt
				   : rel->cfg.rtt_init_us ? rel->cfg.rtt_init_us * 1000ull
							  : SDR_RTT_INIT_NS);
	sdr_pnset_init(&c->rx.pns, 0);
	c->shape = c->in.now = &c->shapes[0];
	sdr_conn_mtu_init(c);
	sdr_pn_skip_init(c);
	sdr_home_open(c);
	sdr_conn_fan_open(c);
	sdr_conn_known_open(c);
	rel->ops->init(c);
	if (sdr_timerq_reserve(&rel->timers, rel->nconns + 1) || sdr_shape_qp_make(c, mtu))
		goto err_free;
	if (sdr_htab_add(&rel->conns, &c->hnode, c->id.cid))
		goto err_qp;
	sdr_list_add_tail(&c->link, &rel->conn_list);
	rel->nconns++;
	if (passive)
		rel->nunvalidated++;
	sdr_peer_conn_add(peer, c);
	c->credit.msn_granted = sdr_conn_msn_limit(c);
	c->credit.mseq_granted = sdr_conn_mseq_limit(c);
	return c;
err_qp:
	sdr_shape_free(c);
err_free:
	free(c);
	return NULL;
}

void sdr_conn_free(struct sdr_conn *c)
{
	struct sdr_rel *rel = c->rel;

	SDR_ASSERT(!sdr_conn_live(c) && c->err && rel->nconns);
	/* All rooms have let go of it. */
	SDR_ASSERT(!c->rec.n && !c->tx.live && sdr_ring_empty(&c->tx.log) && !c->timer.pos);
	SDR_ASSERT(!c->credit.nserve && sdr_list_empty(&c->rec.ordered) &&
		   sdr_list_empty(&c->rec.unordered) && sdr_list_empty(&c->rec.rtx));
	sdr_conn_fan_end(c);
	sdr_list_del(&c->link);
	sdr_list_del(&c->ready);
	rel->nconns--;
	sdr_peer_conn_del(c->peer, c);
	sdr_multipath_free(c);
	sdr_reshape_free(c);
	sdr_shape_free(c);
	free(c);
}
