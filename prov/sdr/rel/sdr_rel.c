/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The endpoint itself: opening, one round of progress, closing.
 *
 * A round reads the engine's clock once, lets the SDK deliver what arrived (control datagrams and
 * touched receives come back through callbacks), runs the timers that are due, and then lets each
 * connection that has something to send have its turn.  Connections that died in the round are
 * freed at its end, so that no callback frees what its caller still holds.
 */
#include <sodium.h>
#include <stdlib.h>
#include "base/sdr_rand.h"
#include "sdr_rel_priv.h"

#define REL_EVENTS_MAX 512   /* engine events a round */
#define REL_RETRY_NS   50000 /* after the engine was full */
#define REL_OPS_LIMIT  SDR_IDTAB_MAX

uint64_t sdr_rel_rand(struct sdr_rel *rel)
{
	uint64_t in = rel->rng++;

	return sdr_hash64(&in, sizeof(in), rel->secret[1]);
}

void sdr_rel_now(struct sdr_rel *rel)
{
	uint64_t t = sdr_context_now(rel->ctx);

	if (t > rel->now)
		rel->now = t;
}

static int rel_geometry(struct sdr_rel *rel)
{
	uint32_t mtu = rel->cfg.mtu ? rel->cfg.mtu : rel->info.mtu;
	if (sdr_imm_split_check(&rel->cfg.split) || mtu < SDR_MTU_MIN || mtu > rel->info.mtu)
		return -EINVAL;
	rel->mtu = mtu;
	/*
	 * Eight reports for each fill of our own buffer, so that the sender's window moves in time.
	 */
	rel->bulk->dack_pkts = rel->info.rx_window ? rel->info.rx_window / 8 / mtu : SDR_DACK_PKTS;
	if (rel->bulk->dack_pkts > SDR_DACK_PKTS)
		rel->bulk->dack_pkts = SDR_DACK_PKTS;
	if (rel->bulk->dack_pkts < SDR_DACK_PKTS_MIN)
		rel->bulk->dack_pkts = SDR_DACK_PKTS_MIN;
	rel->ctl_max = rel->info.ctl_max < SDR_CTL_MAX ? rel->info.ctl_max : SDR_CTL_MAX;
	return 0;
}

int sdr_rel_open(struct sdr_context *ctx, const struct sdr_rel_attr *attr, struct sdr_rel **out)
{
	struct {
		struct sdr_rel rel;
		struct sdr_rel_bulk bulk;
		struct sdr_rel_msg msg;
	} * all;
	struct sdr_rel *rel;
	int ret;

	if (sodium_init() < 0)
		return -EIO;
	all = calloc(1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	rel = &all->rel;
	rel->bulk = &all->bulk;
	rel->msg = &all->msg;
	rel->ctx = ctx;
	rel->uc = sdr_context_uc(ctx);
	rel->cfg = *attr->cfg;
	rel->cbs = attr->cbs;
	rel->user = attr->user;
	rel->msg->rma_events = attr->rma_events;
	rel->instance = attr->rand[0];
	rel->rng = attr->rand[1];
	rel->secret[0] = attr->rand[2];
	rel->secret[1] = attr->rand[3];
	rel->hash_key = attr->rand[2] ^ attr->rand[3];
	rel->uc->ops->info(rel->uc, &rel->info);
	rel->now = rel->uc->ops->now(rel->uc);
	ret = rel_geometry(rel);
	if (!ret && !(rel->bulk->choices = sdr_choice_table_create()))
		ret = -ENOMEM;
	if (ret) {
		free(rel);
		return ret;
	}
	sdr_list_init(&rel->conn_list);
	sdr_list_init(&rel->dead);
	sdr_list_init(&rel->gone);
	sdr_list_init(&rel->ready);
	sdr_list_init(&rel->msg->remotes);
	for (int i = 0; i < 2; i++) {
		sdr_list_init(&rel->msg->posted[i]);
		sdr_list_init(&rel->msg->unexp[i]);
	}
	sdr_slab_init(&rel->msg->op_pool, sizeof(struct sdr_op), REL_OPS_LIMIT);
	sdr_slab_init(&rel->rec_pool, sizeof(struct sdr_rec), 4 * REL_OPS_LIMIT);
	sdr_slab_init(&rel->msg->rx_pool, sizeof(struct sdr_rx), REL_OPS_LIMIT);
	sdr_slab_init(&rel->msg->unexp_pool, sizeof(struct sdr_unexp), 16 * REL_OPS_LIMIT);
	sdr_slab_init(&rel->bulk->btx_pool, sizeof(struct sdr_bulk_tx), REL_OPS_LIMIT);
	sdr_slab_init(&rel->bulk->brx_pool, sizeof(struct sdr_bulk_rx), 16 * REL_OPS_LIMIT);
	sdr_slab_init(&rel->bulk->srx_pool, sizeof(struct sdr_seg_rx), 16 * REL_OPS_LIMIT);
	sdr_slab_init(&rel->msg->buf_pool, rel->cfg.inject_max, REL_OPS_LIMIT);
	sdr_slab_init(&rel->bulk->gtx_pool, sizeof(struct sdr_group_tx), 16 * REL_OPS_LIMIT);
	sdr_slab_init(&rel->bulk->grx_pool, sizeof(struct sdr_group_rx), 16 * REL_OPS_LIMIT);
	sdr_scratch_init(&rel->bulk->scratch,
			 rel->cfg.ec_scratch ? rel->cfg.ec_scratch : SDR_REL_EC_SCRATCH,
			 rel->info.no_bytes);
	sdr_seal_bind(rel);
	*out = rel;
	return 0;
}

struct sdr_context *sdr_rel_context(struct sdr_rel *rel)
{
	return rel->ctx;
}

static void rel_reap(struct sdr_rel *rel)
{
	while (!sdr_list_empty(&rel->dead))
		sdr_conn_free(sdr_container(rel->dead.next, struct sdr_conn, link));
}

static void rel_send(struct sdr_rel *rel)
{
	struct sdr_list turn, *l;

	/* One turn each: what is left afterwards queued itself again. */
	sdr_list_init(&turn);
	sdr_list_move(&rel->ready, &turn);
	while ((l = sdr_list_pop(&turn))) {
		struct sdr_conn *c = sdr_container(l, struct sdr_conn, ready);
		bool room = true;

		sdr_rel_step(rel);
		if (c->state == SDR_CONN_DEAD)
			continue;
		room = sdr_pkt_send(c);
		if (room && c->state != SDR_CONN_DEAD)
			room = sdr_bulk_tx_send(c, SDR_TX_BUDGET);
		/* Data may have made an END due, and a record may have announced data. */
		if (room && sdr_pkt_due(c))
			room = sdr_pkt_send(c);
		if (!room) {
			rel->blocked = true;
			sdr_list_del(&c->ready); /* it may have queued itself meanwhile */
			sdr_list_add_head(&c->ready, &rel->ready);
			sdr_list_move(&turn, &rel->ready);
			break;
		}
		sdr_conn_rearm(c);
	}
}

int sdr_rel_progress(struct sdr_rel *rel)
{
	uint64_t work = rel->work;
	struct sdr_timer *t;
	bool again = false;
	int ret;

	if (rel->failed)
		return -EIO;
	rel->pass++;
	rel->blocked = false;
	rel->now = rel->uc->ops->now(rel->uc);
	ret = sdr_context_progress_max(rel->ctx, REL_EVENTS_MAX);
	if (ret < 0) {
		while (!sdr_list_empty(&rel->conn_list))
			sdr_conn_fail(sdr_container(rel->conn_list.next, struct sdr_conn, link),
				      SDR_REL_ERR_ENGINE);
		rel->failed = true;
		return ret;
	}
	while ((t = sdr_timerq_due(&rel->timers, rel->now))) {
		rel->work++;
		sdr_conn_timer(sdr_container(t, struct sdr_conn, timer));
	}
	rel_send(rel);
	sdr_context_flush(rel->ctx);
	rel_reap(rel);
	/* Data that the budget, not pacing or window, held back wants another round at once. */
	again = !sdr_list_empty(&rel->ready) && !rel->blocked && sdr_context_tx_idle(rel->ctx);
	return ret > 0 || rel->work != work || again;
}

uint64_t sdr_rel_deadline(struct sdr_rel *rel)
{
	uint64_t d = sdr_timerq_next(&rel->timers);
	uint64_t e = rel->uc->ops->deadline(rel->uc);

	if (!sdr_list_empty(&rel->ready) || !sdr_context_tx_idle(rel->ctx)) {
		bool full = rel->blocked || !sdr_context_tx_idle(rel->ctx);
		uint64_t soon = full ? rel->now + REL_RETRY_NS : rel->now;

		d = soon < d ? soon : d;
	}
	return e < d ? e : d;
}

void sdr_rel_shutdown(struct sdr_rel *rel)
{
	struct sdr_list *l, *tmp;

	if (rel->closing)
		return;
	rel->now = rel->uc->ops->now(rel->uc);
	rel->closing = true;
	rel->close_by = rel->now + SDR_LINGER_NS;
	sdr_match_cancel_all(rel);
	sdr_list_each_safe(l, tmp, &rel->conn_list) {
		struct sdr_conn *c = sdr_container(l, struct sdr_conn, link);

		/*
		 * What was promised (injected, or reported already) still goes out; the rest is
		 * cancelled.
		 */
		sdr_ops_end(c, SDR_OPS_UNPROMISED, SDR_REL_ERR_CANCELED);
		sdr_conn_kick(c);
	}
}

bool sdr_rel_quiet(const struct sdr_rel *rel)
{
	return sdr_list_empty(&rel->conn_list) && sdr_list_empty(&rel->dead) &&
	       sdr_context_tx_idle(rel->ctx);
}

void sdr_rel_close(struct sdr_rel *rel)
{
	sdr_context_flush(rel->ctx);
	rel->closing = true;
	while (!sdr_list_empty(&rel->conn_list))
		sdr_conn_fail(sdr_container(rel->conn_list.next, struct sdr_conn, link),
			      SDR_REL_ERR_CANCELED);
	rel_reap(rel);
	sdr_match_cancel_all(rel);
	sdr_match_destroy(rel);
	sdr_peers_destroy(rel);
	for (int i = 0; i < 32; i++) {
		while (rel->bulk->seg_free[i]) {
			void *s = rel->bulk->seg_free[i];

			rel->bulk->seg_free[i] = *(void **)s;
			free(s);
		}
	}
	sdr_htab_destroy(&rel->conns);
	sdr_htab_destroy(&rel->peer_cids);
	sdr_htab_destroy(&rel->bulk->binds);
	sdr_timerq_destroy(&rel->timers);
	sdr_idtab_destroy(&rel->msg->ids);
	sdr_slab_destroy(&rel->msg->op_pool);
	sdr_slab_destroy(&rel->rec_pool);
	sdr_slab_destroy(&rel->msg->rx_pool);
	sdr_slab_destroy(&rel->msg->unexp_pool);
	sdr_slab_destroy(&rel->bulk->btx_pool);
	sdr_slab_destroy(&rel->bulk->brx_pool);
	sdr_slab_destroy(&rel->bulk->srx_pool);
	sdr_slab_destroy(&rel->msg->buf_pool);
	sdr_slab_destroy(&rel->bulk->gtx_pool);
	sdr_slab_destroy(&rel->bulk->grx_pool);
	sdr_scratch_destroy(&rel->bulk->scratch);
	sdr_code_work_destroy(&rel->bulk->code_work);
	sdr_choice_table_destroy(rel->bulk->choices);
	for (uint32_t i = 0; i < SDR_FEC_CACHE; i++)
		sdr_fec_destroy(rel->bulk->fecs[i]);
	sdr_context_destroy(rel->ctx);
	free(rel);
}
