/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See liar.h: nodes and their time.
 *
 * The victim's endpoint is entered through here alone, so that its heap is separate from everybody
 * else's.  Its input of datagrams is hooked to count the steps of each packet, and its engine's
 * post() to leave the network's own memory out.
 */
#include <stdio.h>
#include <stdlib.h>
#include "liar.h"
#include "liar_heap.h"

/*
 * L4: an endpoint may have, beside what it had when it opened and what its application posted,
 *   objects               whose numbers have limits of their own (check_limits), in pools that keep
 *                         what was used once
 *   for what it sends     segments, whose memory is kept too, and the log of their packets
 *   for each connection   the state itself, its engine's table of messages, logs and rings
 *   for each peer         its name
 *   in all                cfg.unexp_max of unexpected messages, twice: early, and complete;
 *                         cfg.ec_scratch; cfg.berths; and HEAP_ENDPOINT of handles and bitmaps of
 *                         messages under way, codes and tables
 */
#define HEAP_ENDPOINT (1u << 20) /* bytes */
#define HEAP_CONN                                         \
	(48u * 1024 + 64u * (1u << SDR_IMM_ID_BITS_MAX) + \
	 SDR_REL_CTL_WINDOW * (sizeof(struct sdr_pkt) + 8) + SDR_MSEQ_CREDIT * sizeof(void *))
#define HEAP_GRANT 64u
#define SEG_PKT	   16u /* of a segment for each packet, rounded up to a power of two of packets */

static uint64_t live_most(const struct liar *l)
{
	const struct sdr_rel *rel = l->node[LIAR_VICTIM].ep->rel;
	const struct sdr_slab *s[] = { &rel->msg->op_pool,     &rel->rec_pool,
				       &rel->msg->rx_pool,     &rel->bulk->btx_pool,
				       &rel->bulk->brx_pool,   &rel->bulk->srx_pool,
				       &rel->bulk->gtx_pool,   &rel->bulk->grx_pool,
				       &rel->msg->buf_pool,    &rel->bulk->key_pool,
				       &rel->bulk->berths.pool };
	struct sdr_list *k;
	uint64_t n = l->heap_open + HEAP_ENDPOINT + liar_ops_owed(l) + l->cfg.ec_scratch +
		     rel->bulk->berths.room.held + rel->bulk->berths.pool.total * HEAP_GRANT +
		     2 * l->cfg.unexp_max;

	for (uint32_t i = 0; i < sizeof(s) / sizeof(*s); i++)
		n += s[i]->total * s[i]->size;
	n += rel->msg->ids.size * sizeof(struct sdr_idtab_slot) + 2 * l->sent_peak;
	sdr_list_each(k, &rel->conn_list) /* answers whose region is gone have bytes of their own */
		n += sdr_container(k, struct sdr_conn, link)->credit.nserve *
		     (uint64_t)sdr_seal_inline_max(rel, rel->ctl_max);
	n += rel->bulk->brx_pool.total * (uint64_t)HEAP_GRANT + l->conns_peak * (uint64_t)HEAP_CONN;
	return n + l->peers_peak * (sizeof(struct sdr_peer) + 64);
}

static void check_limits(const struct liar *l, const struct sdr_rel *rel)
{
	struct sdr_list *k;
	uint32_t validated = 0;

	sdr_list_each(k, &rel->conn_list) {
		const struct sdr_conn *c = sdr_container(k, struct sdr_conn, link);

		validated += c->hs.validated;
		LIAR_CHECK(c->credit.nserve <= SDR_CONN_SERVES_MAX &&
				   c->bulk->rx.nwrites <= SDR_CONN_SERVES_MAX &&
				   c->rec.n <= SDR_CONN_RECS_MAX,
			   "L4: %u reads, %u writes, %u answers of a connection", c->credit.nserve,
			   c->bulk->rx.nwrites, c->rec.n);
	}
	LIAR_CHECK(rel->bulk->brx_pool.used <= validated * SDR_CONN_SERVES_MAX + 2 * LIAR_DEPTH +
						       rel->msg->unexp_pool.used +
						       rel->bulk->berths.pool.used,
		   "L4: %u transfers in", rel->bulk->brx_pool.used);
	LIAR_CHECK(rel->msg->rx_pool.used <= LIAR_DEPTH && rel->msg->nops <= LIAR_DEPTH,
		   "L4: operations");
	LIAR_CHECK(rel->unexp_bytes <= l->cfg.unexp_max, "L4: %llu bytes unexpected",
		   (unsigned long long)rel->unexp_bytes);
	LIAR_CHECK(rel->msg->unexp_pool.used * sizeof(struct sdr_unexp) <= l->cfg.unexp_max,
		   "L4: %u messages unexpected", rel->msg->unexp_pool.used);
	LIAR_CHECK(rel->bulk->berths.room.held <= l->cfg.berths, "L4: %llu bytes of berths",
		   (unsigned long long)rel->bulk->berths.room.held);
	LIAR_CHECK(rel->nunvalidated <= SDR_CONN_UNVALIDATED_MAX + 1, "L4: %u unvalidated",
		   rel->nunvalidated);
}

/* Bytes for what is being sent, packet by packet. */
static uint64_t sent_bytes(const struct sdr_rel *rel)
{
	struct sdr_list *k, *m;
	uint64_t n = 0;

	sdr_list_each(k, &rel->conn_list) {
		const struct sdr_conn *c = sdr_container(k, struct sdr_conn, link);

		n += c->bulk->tx.log.cap * sizeof(struct sdr_txent) +
		     c->bulk->tx.index.cap * sizeof(struct sdr_seg_tx *);
		sdr_list_each(m, &c->bulk->tx.segs)
			n += sizeof(struct sdr_seg_tx) +
			     SEG_PKT * (sdr_container(m, struct sdr_seg_tx, link)->npkts + 64);
	}
	return n;
}

static void count_peaks(struct liar *l, const struct sdr_rel *rel)
{
	if (sent_bytes(rel) > l->sent_peak)
		l->sent_peak = sent_bytes(rel);
	if (rel->nconns > l->conns_peak)
		l->conns_peak = rel->nconns;
	if (rel->peers.n > l->peers_peak)
		l->peers_peak = rel->peers.n;
}

uint64_t liar_objects(const struct sdr_rel *rel)
{
	const struct sdr_slab *s[] = { &rel->msg->op_pool,   &rel->rec_pool,
				       &rel->msg->rx_pool,   &rel->msg->unexp_pool,
				       &rel->bulk->btx_pool, &rel->bulk->brx_pool,
				       &rel->bulk->srx_pool, &rel->bulk->gtx_pool,
				       &rel->bulk->grx_pool };
	uint64_t n = rel->nconns + rel->peers.n;
	struct sdr_list *k, *m;

	for (uint32_t i = 0; i < sizeof(s) / sizeof(*s); i++)
		n += s[i]->used;
	sdr_list_each(k, &rel->conn_list) {
		const struct sdr_conn *c = sdr_container(k, struct sdr_conn, link);

		n += sdr_ring_len(&c->bulk->tx.log);
		sdr_list_each(m, &c->bulk->tx.segs)
			n += sdr_container(m, struct sdr_seg_tx, link)->npkts;
		n += sdr_ring_len(&c->bulk->rx.comp[0]) + sdr_ring_len(&c->bulk->rx.comp[1]);
	}
	return n;
}

/* ---- the victim's hooks ---------------------------------------------------------------------- */

static struct liar *bed_victim; /* whose engine it is: operations have no field for the caller */

static int bed_post(struct sdr_uc *uc, struct sdr_uc_tx *v, int n)
{
	bool was = liar_heap_own(false);
	int ret = bed_victim->uc_real->post(uc, v, n);

	liar_heap_own(was);
	return ret;
}

static void bed_ctl(void *user, const struct sdr_uc_addr *from, uint8_t type, const uint8_t *buf,
		    size_t len)
{
	struct liar *l = bed_victim;
	struct sdr_rel *rel = user;
	/* with its last part a packet is there as a whole */
	uint64_t bytes = type == SDR_REL_PART ? SDR_CTL_MAX : len;
	uint64_t most = LIAR_PKT_STEPS + LIAR_PKT_OBJ * liar_objects(rel) + LIAR_PKT_BYTE * bytes,
		 n;

	n = rel->steps;
	l->ctl(rel, from, type, buf, len);
	n = rel->steps - n;
	l->ctl_steps += n;
	l->ctl_seen += bytes;
	if (n > l->st.pkt_steps)
		l->st.pkt_steps = n;
	LIAR_CHECK(n <= most,
		   "L5: a packet of %zu bytes and type %u cost %llu steps, %llu are allowed", len,
		   type, (unsigned long long)n, (unsigned long long)most);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool bed_lend(void *user, struct sdr_job *job)
{
	return sim_ep_lend(((struct node *)user)->ep, job);
}

static bool bed_reclaim(void *user, struct sdr_job *job)
{
	sim_ep_reclaim(((struct node *)user)->ep, job);
	return true;
}

static void bed_wake(void *user)
{
	((struct node *)user)->ep->dirty = true;
}

static const struct sdr_rel_cbs bed_cbs = {
	.done = liar_done,
	.mr_get = liar_mr_get,
	.lend = bed_lend,
	.reclaim = bed_reclaim,
	.wake = bed_wake,
};

void liar_boot(struct liar *l, uint32_t node)
{
	struct node *nd = &l->node[node];
	struct sim_ep_attr attr = {
		.rel = { .cfg = &l->cfg, .cbs = &bed_cbs, .user = nd, .rma_events = l->rma_events },
		.node = l->na[node],
	};
	struct sdr_context *ctx;
	int err;

	sim_ep_identity(nd->ep, &attr);
	liar_heap_own(node == LIAR_VICTIM);
	err = sim_ep_boot(nd->ep, &attr);
	liar_heap_own(false);
	LIAR_CHECK(!err, "no endpoint: %s", strerror(-err));
	memset(nd->peer, 0, sizeof(nd->peer));
	if (node != LIAR_VICTIM)
		return;
	bed_victim = l;
	ctx = sdr_rel_context(nd->ep->rel);
	l->uc_real = ctx->uc->ops;
	l->uc_ops = *l->uc_real;
	l->uc_ops.post = bed_post;
	ctx->uc->ops = &l->uc_ops;
	l->ctl = ctx->cls[SDR_CLASS_REL].fn;
	ctx->cls[SDR_CLASS_REL].fn = bed_ctl;
	l->heap_open = liar_heap_live();
	l->conns_peak = l->peers_peak = 0;
	l->sent_peak = 0;
}

void liar_close(struct liar *l, uint32_t node, bool crash)
{
	struct node *nd = &l->node[node];

	if (!nd->ep->rel)
		return;
	if (crash)
		sdr_sim_node_kill(l->w, node, true);
	liar_heap_own(node == LIAR_VICTIM);
	sim_ep_close(nd->ep);
	liar_heap_own(false);
	if (crash)
		sdr_sim_node_kill(l->w, node, false);
	liar_ops_over(l, node, true);
	if (node == LIAR_VICTIM)
		LIAR_CHECK(!liar_heap_live(), "L4: %llu bytes are left after the close",
			   (unsigned long long)liar_heap_live());
}

static void check_quiet(struct liar *l)
{
	const struct sdr_rel *rel = l->node[LIAR_VICTIM].ep->rel;

	LIAR_CHECK(sdr_rel_quiet(rel), "L6: shut down, and not quiet after %u ms",
		   (uint32_t)(2 * SDR_LINGER_NS / MS));
	LIAR_CHECK(!rel->msg->op_pool.used && !rel->rec_pool.used && !rel->msg->rx_pool.used &&
			   !rel->bulk->btx_pool.used && !rel->bulk->brx_pool.used &&
			   !rel->bulk->srx_pool.used && !rel->bulk->gtx_pool.used &&
			   !rel->bulk->grx_pool.used && !rel->bulk->scratch.used &&
			   !rel->msg->nops && !rel->nunvalidated,
		   "L7: no connection, yet ops %u recs %u rx %u btx %u brx %u srx %u gtx %u grx %u",
		   rel->msg->op_pool.used, rel->rec_pool.used, rel->msg->rx_pool.used,
		   rel->bulk->btx_pool.used, rel->bulk->brx_pool.used, rel->bulk->srx_pool.used,
		   rel->bulk->gtx_pool.used, rel->bulk->grx_pool.used);
}

void liar_shutdown(struct liar *l, uint32_t node)
{
	struct node *nd = &l->node[node];
	uint64_t end = sdr_sim_world_now(l->w) + 2 * SDR_LINGER_NS;

	if (!nd->ep->rel)
		return;
	liar_heap_own(node == LIAR_VICTIM);
	sdr_rel_shutdown(nd->ep->rel);
	liar_heap_own(false);
	nd->ep->dirty = true;
	while (!sdr_rel_quiet(nd->ep->rel) && sdr_sim_world_now(l->w) < end)
		liar_pass(l, 50 * MS);
	if (node == LIAR_VICTIM)
		check_quiet(l);
	liar_close(l, node, false);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void check_victim(struct liar *l, uint64_t steps, uint64_t objects)
{
	struct sdr_rel *rel = l->node[LIAR_VICTIM].ep->rel;
	uint64_t after = liar_objects(rel), most, live = liar_heap_live();

	if (after > objects)
		objects = after;
	most = LIAR_ROUND_STEPS + LIAR_ROUND_OBJ * objects + LIAR_PKT_BYTE * l->ctl_seen;
	if (steps > l->st.round_steps)
		l->st.round_steps = steps;
	LIAR_CHECK(steps <= most,
		   "L5: a round cost %llu steps beside its packets, %llu are allowed",
		   (unsigned long long)steps, (unsigned long long)most);
	count_peaks(l, rel);
	check_limits(l, rel);
	LIAR_CHECK(
		live <= live_most(l),
		"L4: %llu bytes live, %llu are allowed: %u connections, %u messages unexpected, %u records, %u "
		"operations, %u transfers in",
		(unsigned long long)live, (unsigned long long)live_most(l), rel->nconns,
		rel->msg->unexp_pool.used, rel->rec_pool.used, rel->msg->op_pool.used,
		rel->bulk->brx_pool.used);
	if (live > l->st.heap_peak)
		l->st.heap_peak = live;
}

int liar_progress(void *user, struct sim_ep *ep)
{
	struct liar *l = user;
	uint64_t steps = ep->rel->steps, objects;
	int ret;

	if (ep->idx != LIAR_VICTIM)
		return sdr_rel_progress(ep->rel);
	objects = liar_objects(ep->rel);
	l->ctl_steps = l->ctl_seen = 0;
	liar_heap_own(true);
	ret = sdr_rel_progress(ep->rel);
	liar_heap_own(false);
	check_victim(l, ep->rel->steps - steps - l->ctl_steps, objects);
	return ret;
}

void liar_rounds(struct liar *l)
{
	sdr_sim_world_run_until(l->w, sdr_sim_world_now(l->w)); /* what arrives now */
	sim_eps_work(&l->eps);
	liar_talk(l);
}

/* To the next moment at which something can happen, but not beyond `until`. */
static void jump(struct liar *l, uint64_t until)
{
	uint64_t t = sdr_sim_world_next(l->w), due = sim_eps_due(&l->eps);

	t = due < t ? due : t;
	if (liar_talk_at(l) < t)
		t = liar_talk_at(l);
	sdr_sim_world_run_until(l->w, t > until ? until : t);
}

void liar_pass(struct liar *l, uint64_t ns)
{
	uint64_t end = sdr_sim_world_now(l->w) + ns;

	for (;;) {
		liar_rounds(l);
		if (sdr_sim_world_now(l->w) >= end)
			return;
		jump(l, end);
	}
}
