/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What the message room keeps, made and freed.  See sdr_msg.h. */
#include "base/sdr_assert.h"
#include "sdr_follow.h"
#include "sdr_match.h"
#include "sdr_op.h"
#include "sdr_recv_entry.h"
#include "sdr_unexp.h"
#include "wire/sdr_atomic.h"

/* objects of an endpoint */
#define MSG_OPS_MAX   SDR_IDTAB_MAX
#define MSG_UNEXP_MAX (16 * SDR_IDTAB_MAX)

void sdr_msg_open(struct sdr_rel *rel)
{
	struct sdr_rel_msg *m = rel->msg;

	m->kinds = &sdr_op_table;
	m->leads = sdr_order_leads(&rel->cfg.orders);
	m->matcher = &sdr_matcher_own;
	sdr_list_init(&m->remotes);
	for (int i = 0; i < 2; i++) {
		sdr_list_init(&m->posted[i]);
		sdr_list_init(&m->unexp[i]);
	}
	sdr_slab_init(&m->op_pool, sizeof(struct sdr_op), MSG_OPS_MAX);
	sdr_slab_init(&m->rx_pool, sizeof(struct sdr_rxe), MSG_OPS_MAX);
	sdr_slab_init(&m->unexp_pool, sizeof(struct sdr_unexp), MSG_UNEXP_MAX);
	sdr_slab_init(&m->buf_pool, rel->cfg.inject_max, MSG_OPS_MAX);
	sdr_slab_init(&m->atomic_pool, SDR_ATOMIC_HDR + SDR_ATOMIC_PART, MSG_OPS_MAX);
	sdr_slab_init(&m->parts_pool, sizeof(struct sdr_op_parts), MSG_OPS_MAX);
	sdr_scratch_init(&m->bounce, UINT64_MAX, false);
	m->bounce.keep = SDR_REL_BOUNCE_KEEP;
}

void sdr_msg_close(struct sdr_rel *rel)
{
	struct sdr_rel_msg *m = rel->msg;

	sdr_match_cancel_all(rel);
	sdr_match_destroy(rel);
	SDR_ASSERT(!m->nops && !m->parts_pool.used && !m->atomic_pool.used && !m->nrx &&
		   sdr_list_empty(&m->remotes));
	sdr_idtab_destroy(&m->ids);
	sdr_slab_destroy(&m->op_pool);
	sdr_slab_destroy(&m->rx_pool);
	sdr_slab_destroy(&m->unexp_pool);
	sdr_slab_destroy(&m->buf_pool);
	sdr_slab_destroy(&m->atomic_pool);
	sdr_slab_destroy(&m->parts_pool);
	SDR_ASSERT(!m->bounce.used);
	sdr_scratch_destroy(&m->bounce);
}

void sdr_msg_conn_init(struct sdr_conn *c)
{
	sdr_list_init(&c->msg->ops);
	sdr_list_init(&c->msg->deferred);
	sdr_list_init(&c->msg->cts_wait);
	sdr_list_init(&c->msg->order.leads);
}

void sdr_msg_conn_end(struct sdr_conn *c)
{
	sdr_ops_end(c, SDR_OPS_ALL, c->err);
	sdr_match_conn_gone(c, c->err);
	sdr_follow_free(c);
}
