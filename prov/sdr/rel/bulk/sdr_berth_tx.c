/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Berths at the peer (sdr_berth_rx.c is the other side): keys that it has handed out ahead, in the
 * order in which they came.  Who starts a transfer takes one that is long enough, names it in the
 * record, and sends its bytes there at once; each is used once.  What was taken by an operation
 * that came to nothing before its record left is there for the next one.
 *
 * A key that the peer has taken back leaves the list, where it still is; one that was used by then
 * is the peer's matter, who answers with PARK and CTS.  No timers; what a peer may make us keep is
 * SDR_BERTH_KEYS_MAX keys.
 */
#include "base/sdr_assert.h"
#include "sdr_berth_tx.h"
#include "sdr_bulk.h"

static struct sdr_berth_key *key_find(const struct sdr_conn *c, uint32_t id)
{
	struct sdr_list *l;

	sdr_list_each(l, &c->bulk->tx.keys) {
		struct sdr_berth_key *k = sdr_container(l, struct sdr_berth_key, link);

		sdr_rel_step(c->rel);
		if (k->id == id)
			return k;
	}
	return NULL;
}

static void key_unlist(struct sdr_conn *c, struct sdr_berth_key *k)
{
	SDR_ASSERT(c->bulk->tx.nkeys && !sdr_list_empty(&k->link));
	sdr_list_del(&k->link);
	c->bulk->tx.nkeys--;
}

bool sdr_berth_key_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_berth_key *k = key_find(c, f->id);

	if (f->flags & SDR_REC_F_STATUS) {
		if (k) {
			key_unlist(c, k);
			sdr_berth_key_free(c->rel, k);
		}
		return true;
	}
	if (!sdr_qp_peer_rkeyed(c->shape->qp) || !(f->flags & SDR_REC_F_KEY) || !f->len || k ||
	    c->bulk->tx.nkeys >= SDR_BERTH_KEYS_MAX)
		return false;
	k = sdr_slab_alloc(&c->rel->bulk->key_pool);
	if (!k) /* it is idle over there until it is taken back */
		return true;
	k->id = f->id;
	k->len = f->len;
	k->va = f->va;
	k->rkey = f->rkey;
	sdr_list_init(&k->link);
	sdr_list_add_tail(&k->link, &c->bulk->tx.keys);
	c->bulk->tx.nkeys++;
	return true;
}

struct sdr_berth_key *sdr_berth_key_take(struct sdr_conn *c, uint64_t len)
{
	struct sdr_list *l;

	sdr_list_each(l, &c->bulk->tx.keys) {
		struct sdr_berth_key *k = sdr_container(l, struct sdr_berth_key, link);

		sdr_rel_step(c->rel);
		if (k->len < len)
			continue;
		key_unlist(c, k);
		return k;
	}
	return NULL;
}

void sdr_berth_key_back(struct sdr_conn *c, struct sdr_berth_key *k)
{
	SDR_ASSERT(sdr_list_empty(&k->link));
	sdr_list_add_head(&k->link, &c->bulk->tx.keys);
	c->bulk->tx.nkeys++;
}

void sdr_berth_key_free(struct sdr_rel *rel, struct sdr_berth_key *k)
{
	SDR_ASSERT(sdr_list_empty(&k->link));
	sdr_slab_free(&rel->bulk->key_pool, k);
}

void sdr_berth_keys_free(struct sdr_conn *c)
{
	struct sdr_list *l;

	while ((l = sdr_list_pop(&c->bulk->tx.keys)))
		sdr_berth_key_free(c->rel, sdr_container(l, struct sdr_berth_key, link));
	c->bulk->tx.nkeys = 0;
}
