/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The endpoint itself: opening, one round of progress, closing.
 *
 * A round reads the engine's clock once, lets the SDK deliver what arrived (control datagrams and
 * touched receives come back through callbacks), runs the timers that are due, and then lets each
 * connection that has something to send have its turn.  Connections that failed in the
 * round end, and are freed, when it is over: in one place, so that no call frees what its caller
 * still holds.
 */
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include "base/sdr_rand.h"
#include "bulk/sdr_bulk_arrive.h"
#include "bulk/sdr_bulk_tx.h"
#include "bulk/sdr_decode.h"
#include "conn/sdr_conn_mtu.h"
#include "conn/sdr_ctl_input.h"
#include "conn/sdr_parts.h"
#include "conn/sdr_pkt.h"
#include "conn/sdr_rec.h"
#include "conn/sdr_seal.h"
#include "conn/sdr_turn.h"
#include "conn/sdr_versions.h"
#include "msg/sdr_above.h"
#include "msg/sdr_match.h"
#include "msg/sdr_op.h"
#include "sdr_bond.h"
#include "sdr_conn_timer.h"
#include "sdr_rel_sum.h"
#include "sdr_rooms.h"

#define REL_EVENTS_MAX 512   /* engine events a round */
#define REL_RETRY_NS   50000 /* after the engine was full */
/* ns: who comes later than that to what was due was away; so much of it counts */
#define REL_AWAY_NS  1000000000ull
#define REL_RECS_MAX (4 * SDR_IDTAB_MAX)
/* bytes one connection sends before the next has its turn */
#define REL_TX_BUDGET (256u * 1024)

static int rel_geometry(struct sdr_rel *rel)
{
	uint32_t mtu = rel->cfg.mtu ? rel->cfg.mtu : rel->info.mtu;
	if (sdr_imm_split_check(&rel->cfg.split) || mtu < SDR_EP_MTU_MIN || mtu > rel->info.mtu)
		return -EINVAL;
	rel->mtu = mtu;
	rel->ctl_max = rel->info.ctl_max < SDR_CTL_MAX ? rel->info.ctl_max : SDR_CTL_MAX;
	/* The size of packets follows the path where the engine can do its part. */
	if (rel->info.probe_max && rel->info.cuts)
		rel->features |= SDR_FEATURE_PROBE | SDR_FEATURE_PIECES | SDR_FEATURE_SHAPE;
	if (rel->info.ecn && !rel->cfg.no_ecn)
		rel->features |= SDR_FEATURE_ECN;
	/* A device's packets go one way, and as long as they are. */
	if (rel->uc->ops->qp_via && !rel->info.rkeyed)
		rel->features |= SDR_FEATURE_MULTIPATH;
	if ((rel->features & SDR_FEATURE_ECN) && (rel->features & SDR_FEATURE_MULTIPATH))
		rel->features |= SDR_FEATURE_MARKS;
	if ((rel->features & SDR_FEATURE_PIECES) && (rel->features & SDR_FEATURE_MULTIPATH))
		rel->features |= SDR_FEATURE_SIZES;
	if (!rel->cfg.paths || rel->cfg.paths > SDR_PATHS_MAX)
		return -EINVAL;
	return 0;
}

struct rel_parts { /* one allocation */
	struct sdr_rel rel;
	struct sdr_rel_bulk bulk;
	struct sdr_rel_msg msg;
};

int sdr_rel_open(struct sdr_context *ctx, const struct sdr_rel_attr *attr, struct sdr_rel **out)
{
	struct rel_parts *all;
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
	rel->ops = &sdr_rooms;
	rel->ctx = ctx;
	rel->uc = sdr_context_uc(ctx);
	rel->cfg = *attr->cfg;
	rel->cbs = attr->cbs;
	rel->user = attr->user;
	rel->msg->rma_events = attr->rma_events;
	rel->msg->bonded = attr->bonded;
	rel->name = attr->name;
	rel->paths = attr->paths;
	rel->instance = attr->rand[0];
	rel->rng = attr->rand[1];
	rel->secret[0] = attr->rand[2];
	rel->secret[1] = attr->rand[3];
	rel->hash_key = attr->rand[2] ^ attr->rand[3];
	rel->features |=
		SDR_FEATURE_PATHS | SDR_FEATURE_ORDER | SDR_FEATURE_BERTH | SDR_FEATURE_HEAD;
	rel->features |= rel->cbs->call ? SDR_FEATURE_CALL : 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ /* as elements travel */
	rel->features |= SDR_FEATURE_ATOMIC;
#endif
	rel->uc->ops->info(rel->uc, &rel->info);
	rel->now = rel->uc->ops->now(rel->uc);
	ret = rel_geometry(rel);
	sdr_lull_init(&rel->lull, rel->uc->ops->hush ? rel->info.rx_window : 0, rel->now);
	if (!ret)
		ret = sdr_bulk_open(rel);
	if (ret) {
		free(all);
		return ret;
	}
	sdr_rel_lists_init(rel);
	sdr_turns_open(rel);
	sdr_slab_init(&rel->rec_pool, sizeof(struct sdr_rec), REL_RECS_MAX);
	sdr_msg_open(rel);
	sdr_above_set(rel, attr->match);
	sdr_seal_bind(rel, sdr_ctl_input, sdr_versions_input);
	sdr_context_path_set(ctx, sdr_conn_mtu_told, rel);
	*out = rel;
	return 0;
}

struct sdr_context *sdr_rel_context(struct sdr_rel *rel)
{
	return rel->ctx;
}

/*
 * The one place where connections that failed end: their operations and transfers are reported,
 * then all rooms let go of them.
 */
static void rel_reap(struct sdr_rel *rel)
{
	while (!sdr_list_empty(&rel->dead)) {
		struct sdr_conn *c = sdr_container(rel->dead.next, struct sdr_conn, link);
		struct sdr_peer *peer;
		int err;

		SDR_ASSERT(!sdr_conn_live(c));
		sdr_msg_conn_end(c);
		sdr_conn_stats_fold(c);
		sdr_bulk_conn_free(c);
		sdr_pkt_conn_free(c);
		peer = sdr_bond_lost(c, &err);
		sdr_conn_free(c);
		if (peer)
			rel->cbs->gone(rel->user, peer, err);
	}
}

/* False: the engine is full. */
static bool rel_turn(struct sdr_conn *c)
{
	bool room;

	sdr_rel_step(c->rel);
	sdr_berths_hand(c);
	room = sdr_pkt_send(c);
	if (room)
		room = sdr_bulk_tx_send(c, REL_TX_BUDGET);
	/* Data may have made an END due, and a record may have announced data. */
	if (room && sdr_pkt_due(c))
		room = sdr_pkt_send(c);
	if (room) {
		sdr_conn_rearm(c);
		return true;
	}
	c->rel->blocked = true;
	sdr_list_del(&c->ready); /* it may have queued itself meanwhile */
	sdr_list_add_head(&c->ready, &c->rel->ready);
	return false;
}

static void rel_send(struct sdr_rel *rel)
{
	struct sdr_list turn, *l;
	struct sdr_conn *c;

	sdr_stages_round(rel);
	sdr_bulk_rx_room(rel);
	/* One turn each: what is left afterwards queued itself again. */
	sdr_list_init(&turn);
	sdr_list_move(&rel->ready, &turn);
	while ((l = sdr_list_pop(&turn))) {
		if (rel_turn(sdr_container(l, struct sdr_conn, ready)))
			continue;
		sdr_list_move(&turn, &rel->ready);
		return;
	}
	/* And those that waited for the ceiling. */
	while ((c = sdr_turns_next(rel)) && rel_turn(c))
		;
	rel->turns.who = NULL;
}

/* By as much as its timers are late nobody has driven this endpoint, and it did not listen. */
static void rel_away(struct sdr_rel *rel)
{
	uint64_t next = sdr_timerq_next(&rel->timers);
	struct sdr_list *l;

	if (next == UINT64_MAX || rel->now <= next + REL_AWAY_NS)
		return;
	sdr_list_each(l, &rel->conn_list)
		sdr_conn_was_away(sdr_container(l, struct sdr_conn, link),
				  rel->now - next - REL_AWAY_NS);
}

int sdr_rel_progress(struct sdr_rel *rel)
{
	uint64_t work = rel->activity;
	struct sdr_timer *t;
	bool again = false;
	int ret;

	if (rel->failed)
		return -EIO;
	rel->round++;
	rel->went = 0;
	rel->blocked = false;
	rel->now = rel->uc->ops->now(rel->uc);
	rel_away(rel);
	ret = sdr_context_progress_max(rel->ctx, REL_EVENTS_MAX);
	if (ret < 0) {
		while (!sdr_list_empty(&rel->conn_list))
			sdr_conn_fail(sdr_container(rel->conn_list.next, struct sdr_conn, link),
				      SDR_REL_ERR_ENGINE);
		rel->failed = true;
		rel_reap(rel);
		return ret;
	}
	sdr_bulk_arrive_decoded(rel);
	while ((t = sdr_timerq_due(&rel->timers, rel->now))) {
		rel->activity++;
		sdr_conn_timer(sdr_container(t, struct sdr_conn, timer));
	}
	rel_send(rel);
	sdr_context_flush(rel->ctx);
	rel_reap(rel);
	sdr_lull_round(&rel->lull, (uint32_t)ret + rel->went, (uint64_t)ret * rel->mtu, rel->now);
	/* Data that the budget, not pacing or window, held back wants another round at once. */
	again = !sdr_list_empty(&rel->ready) && !rel->blocked && sdr_context_tx_idle(rel->ctx);
	return ret > 0 || rel->activity != work || again;
}

uint64_t sdr_rel_time(const struct sdr_rel *rel)
{
	return rel->now;
}

bool sdr_rel_again(struct sdr_rel *rel)
{
	return rel->ack_wait == rel->round || !sdr_context_dry(rel->ctx) ||
	       sdr_rel_deadline(rel) <= rel->now;
}

uint64_t sdr_rel_lull(const struct sdr_rel *rel)
{
	return rel->failed ? 0 : rel->lull.until;
}

uint64_t sdr_rel_deadline(struct sdr_rel *rel)
{
	uint64_t d = sdr_timerq_next(&rel->timers);
	uint64_t e = rel->uc->ops->deadline(rel->uc);

	if (!rel->blocked && sdr_turns_deadline(rel) < d)
		d = sdr_turns_deadline(rel);
	if (!sdr_list_empty(&rel->dead))
		return rel->now;
	if (!sdr_list_empty(&rel->ready) || !sdr_context_tx_idle(rel->ctx)) {
		bool full = rel->blocked || !sdr_context_tx_idle(rel->ctx);
		uint64_t soon = full ? rel->now + REL_RETRY_NS : rel->now;

		d = soon < d ? soon : d;
	}
	if (sdr_decode_deadline(rel) < d)
		d = sdr_decode_deadline(rel);
	if (!sdr_list_empty(&rel->bulk->stages.olds) && rel->now + REL_RETRY_NS < d)
		d = rel->now + REL_RETRY_NS;
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
		sdr_berths_recall(c);
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
	sdr_msg_close(rel);
	sdr_bulk_close(rel);
	sdr_peers_destroy(rel);
	sdr_htab_destroy(&rel->conns);
	sdr_htab_destroy(&rel->peer_cids);
	sdr_htab_destroy(&rel->claims);
	sdr_timerq_destroy(&rel->timers);
	sdr_slab_destroy(&rel->rec_pool);
	sdr_parts_close(rel);
	sdr_context_destroy(rel->ctx);
	free(rel);
}
