/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* See bed_bulk.h. */
#include "rel/bulk/sdr_msn.h"
#include "rel/conn/sdr_conn_ops.h"
#include "rel/conn/sdr_peer.h"
#include "rel/path/sdr_cc_ops.h"
#include "bed_bulk.h"
#include "rel/conn/sdr_alias.h"

#define BULK_BUDGET (64u << 20) /* bytes a call may send */
#define BULK_FRAMES 1024u	/* bytes of reports at a time */

static struct bed_bulk *bulk_bed; /* whose transfers report that they are over */

static void bulk_sent(struct sdr_op *op)
{
	(void)op;
	bulk_bed->sent++;
}

static void bulk_arrived(struct sdr_bulk_rx *r)
{
	(void)r;
	bulk_bed->arrived++;
}

/* The rooms above: there are none. */
static const struct sdr_conn_ops bulk_ops = {
	.failed = sdr_alias_failed,
	.bulk_size = sizeof(struct sdr_conn_bulk),
	.init = sdr_bulk_conn_init,
	.msn_out = sdr_msn_out,
	.placed = sdr_bulk_arrive_placed,
};
static const struct sdr_rel_cbs bulk_cbs = { .done = NULL };

static void side_open(struct bed_bulk *b, uint8_t node, const struct sdr_rel_cfg *cfg)
{
	struct bed_bulk_side *s = &b->side[node];
	struct sdr_rel *rel = &s->rel;
	uint64_t rnd[2] = { 5, 6 + node };
	struct sdr_uc_addr other;
	struct sdr_peer *peer;
	struct sdr_uc *uc;

	assert_int_equal(loop_open(b->net, node, &uc), 0);
	rel->ctx = sdr_context_create_on(uc, NULL, rnd);
	assert_non_null(rel->ctx);
	rel->uc = uc;
	rel->cfg = *cfg;
	if (!cfg->rate_bps) { /* what the window takes leaves at once */
		rel->cfg.cc = &sdr_cc_fixed;
		rel->cfg.rate_bps = 10000000000ull;
	}
	rel->cbs = &bulk_cbs;
	rel->ops = &bulk_ops;
	rel->bulk = &s->bulk;
	rel->rng = 1 + node;
	uc->ops->info(uc, &rel->info);
	rel->now = b->net->now;
	rel->mtu = rel->info.mtu;
	rel->ctl_max = SDR_CTL_MAX;
	sdr_rel_lists_init(rel);
	assert_int_equal(sdr_bulk_open(rel), 0);
	loop_addr(!node, &other);
	peer = sdr_peer_make(rel, &other);
	assert_non_null(peer);
	s->c = sdr_conn_open(peer, false, rel->mtu);
	assert_non_null(s->c);
}

/* What the handshake does. */
static void side_adopt(struct bed_bulk *b, uint8_t node)
{
	struct sdr_conn *c = b->side[node].c, *other = b->side[!node].c;
	uint8_t info[SDR_QP_INFO_SIZE];
	struct sdr_uc_addr addr;

	loop_addr(!node, &addr);
	sdr_qp_info_get(other->shape->qp, info);
	assert_int_equal(sdr_qp_connect_addr(c->shape->qp, info, &addr), 0);
	c->credit.msn_limit = other->credit.msn_granted;
	sdr_qp_limit_set(c->shape->qp, c->credit.msn_limit);
	c->codes.kinds = 1u << SDR_CODE_MDS | 1u << SDR_CODE_XOR;
	c->codes.syms = SDR_CODE_SYMS_MAX;
	c->codes.chunk = SDR_REL_EC_CHUNK;
	c->main.rack.timer = NEVER;
	sdr_cc_init(&c->main.cc, &c->rel->cfg, c->shape->mtu, 0, c->main.rtt.srtt, NULL,
		    c->rel->now);
	c->state = SDR_CONN_OPEN;
	c->hs.validated = true;
}

void bed_bulk_open(struct bed_bulk *b, const struct sdr_rel_cfg *cfg)
{
	struct sdr_rel_cfg own;

	memset(b, 0, sizeof(*b));
	bulk_bed = b;
	sdr_rel_cfg_init(&own);
	own.scheme = &sdr_scheme_sr;
	b->net = loop_net_create(LOOP_SOFT, SDR_MTU_DEFAULT);
	b->net->automatic = false;
	b->net->now = BED_BULK_MS;
	for (uint8_t i = 0; i < 2; i++)
		side_open(b, i, cfg ? cfg : &own);
	for (uint8_t i = 0; i < 2; i++)
		side_adopt(b, i);
	b->tx = b->side[0].c;
	b->rx = b->side[1].c;
}

/* Every transfer is over, or was ended by the test. */
void bed_bulk_close(struct bed_bulk *b)
{
	loop_drop_all(b->net);
	for (uint8_t i = 0; i < 2; i++) {
		struct bed_bulk_side *s = &b->side[i];

		assert_true(sdr_list_empty(&s->c->bulk->tx.segs));
		assert_true(sdr_list_empty(&s->c->bulk->rx.brx));
		assert_int_equal(s->c->inflight, 0);
		sdr_context_flush(s->rel.ctx);
		sdr_conn_fail(s->c, SDR_REL_ERR_CLOSED);
		sdr_bulk_conn_free(s->c);
		sdr_conn_free(s->c);
		assert_int_equal(s->bulk.scratch.used, 0);
		sdr_bulk_close(&s->rel);
		sdr_peers_destroy(&s->rel);
		sdr_htab_destroy(&s->rel.conns);
		sdr_htab_destroy(&s->rel.peer_cids);
		sdr_timerq_destroy(&s->rel.timers);
		sdr_context_destroy(s->rel.ctx);
	}
	loop_drop_all(b->net);
	loop_net_destroy(b->net);
}

struct sdr_bulk_tx *bed_bulk_start(struct bed_bulk *b, const uint8_t *from, uint8_t *to,
				   uint64_t len, const struct sdr_plan *plan)
{
	struct sdr_frame_rec f = { .flags = plan->code.kind ? SDR_REC_F_CODE : 0,
				   .code = plan->code };
	struct sdr_bulk_tx *t = sdr_bulk_tx_new(b->tx, from, len, plan);
	struct sdr_bulk_rx *r;

	assert_non_null(t);
	t->done = bulk_sent;
	f.msn = t->msn;
	assert_int_equal(sdr_bulk_rx_new(b->rx,
					 &(struct sdr_bulk_land){ .op = SDR_REC_SEND,
								  .id = 1,
								  .buf = to,
								  .len = len,
								  .arrived = bulk_arrived },
					 &r),
			 0);
	assert_int_equal(sdr_bulk_rx_start(r, &f), SDR_REL_OK);
	sdr_bulk_announced(t);
	return t;
}

uint32_t bed_bulk_send(struct bed_bulk *b)
{
	assert_true(sdr_bulk_tx_send(b->tx, BULK_BUDGET));
	sdr_context_flush(b->side[0].rel.ctx);
	return b->net->npkts;
}

void bed_bulk_arrive(struct bed_bulk *b)
{
	loop_deliver_all(b->net);
	for (uint8_t i = 0; i < 2; i++)
		while (sdr_context_progress_max(b->side[i].rel.ctx, 64) > 0)
			;
}

uint32_t bed_bulk_report(struct bed_bulk *b)
{
	uint8_t buf[BULK_FRAMES];
	uint32_t n = 0;
	bool more = true;

	while (more && sdr_report_due(b->rx)) {
		const uint8_t *at = buf, *end;
		struct sdr_acks acks = { 0 };
		struct sdr_frame f;
		bool gap = false;

		end = buf + sdr_report_write(b->rx, buf, sizeof(buf), &more);
		while (sdr_frame_next(&at, end, &f) > 0) {
			assert_int_equal(f.type, SDR_FRAME_DACK);
			gap |= f.dack.flags & SDR_DACK_GAP;
			sdr_bulk_dack(b->tx, &f.dack, &acks);
			n++;
		}
		sdr_bulk_detect_lost(b->tx, gap, &acks);
		sdr_tlog_trim(b->tx);
	}
	return n;
}

void bed_bulk_pass(struct bed_bulk *b, uint64_t ns)
{
	b->net->now += ns;
	for (uint8_t i = 0; i < 2; i++)
		b->side[i].rel.now = b->net->now;
}
