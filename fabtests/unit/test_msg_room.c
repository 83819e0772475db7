/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The room msg alone: one endpoint without the top, with a connection that the test has declared
 * open, on the stub engine.  Nothing is sent and there is no peer: records of the peer are given to
 * the room as the packets would give them, and its own are taken out of their queues.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "rel/bulk/sdr_bulk_arrive.h"
#include "rel/bulk/sdr_scheme.h"
#include "rel/conn/sdr_conn_ops.h"
#include "rel/conn/sdr_pkt.h"
#include "rel/msg/sdr_above.h"
#include "rel/msg/sdr_op.h"
#include "rel/msg/sdr_rec_input.h"
#include "uc_loop.h"
#include "rel/conn/sdr_alias.h"

#define KEY    5u
#define CREDIT 64u /* messages, each way */
#define GOT    64u

static struct room {
	struct loop_net *net;
	struct sdr_rel rel;
	struct sdr_rel_bulk bulk;
	struct sdr_rel_msg msg;
	struct sdr_peer *peer;
	struct sdr_conn *c;
	uint8_t region[64], bytes[256];
	struct sdr_rel_cqe got[GOT]; /* reports */
	uint32_t n;
	struct above {
		struct sdr_rel_iov iov; /* the receive there is; len 0: none */
		bool full;		/* nothing can be noted */
		uint32_t asked, gone, renamed;
		struct sdr_unexp *kept[GOT]; /* by mark - 1 */
		uint32_t marks, nkept;
	} above;
} * R;

static void on_done(void *user, const struct sdr_rel_cqe *e)
{
	(void)user;
	assert_true(R->n < GOT);
	R->got[R->n++] = *e;
}

static int on_mr_get(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access,
		     void **va, void **region)
{
	(void)user;
	(void)access;
	if (key != KEY || addr > sizeof(R->region) || len > sizeof(R->region) - addr)
		return -EACCES;
	*va = R->region + addr;
	*region = R->region;
	return 0;
}

/* ---- who has the receives, for the tests of matching above ---- */

static bool above_take(void *user, const struct sdr_rel_arrival *a, struct sdr_rel_rr *rr,
		       void **mark)
{
	struct above *w = &R->above;

	(void)user;
	w->asked++;
	assert_ptr_equal(a->peer, R->peer);
	assert_int_equal(a->kind, SDR_REL_RECV);
	if (w->iov.len) {
		rr->niov = 1;
		rr->iov = &w->iov;
		rr->ctx = w;
		return true;
	}
	if (!w->full)
		*mark = (void *)(uintptr_t)++w->marks;
	return false;
}

static bool above_keep(void *user, void *mark, uint8_t kind, struct sdr_unexp *u)
{
	(void)user;
	assert_int_equal(kind, SDR_REL_RECV);
	assert_ptr_equal(sdr_rel_kept_peer(u), R->peer);
	R->above.kept[(uintptr_t)mark - 1] = u;
	R->above.nkept++;
	return true;
}

static void above_gone(void *user, void *mark)
{
	(void)user;
	(void)mark;
	R->above.gone++;
}

static void above_renamed(void *user)
{
	(void)user;
	R->above.renamed++;
}

static const struct sdr_rel_match match = {
	.take = above_take, .keep = above_keep, .gone = above_gone, .renamed = above_renamed
};

static const struct sdr_rel_cbs cbs = { .done = on_done, .mr_get = on_mr_get };

static void init(struct sdr_conn *c)
{
	sdr_bulk_conn_init(c);
	sdr_msg_conn_init(c);
}

static const struct sdr_conn_ops ops = {
	.failed = sdr_alias_failed,
	.bulk_size = sizeof(struct sdr_conn_bulk),
	.msg_size = sizeof(struct sdr_conn_msg),
	.init = init,
	.record = sdr_rec_input,
	.gather = sdr_op_rec_gather,
	.written = sdr_op_rec_written,
	.acked = sdr_op_rec_acked,
	.placed = sdr_bulk_arrive_placed,
};

static int setup(void **state)
{
	uint64_t rnd[2] = { 5, 6 };
	struct sdr_uc_addr addr;
	struct sdr_rel *rel;

	(void)state;
	R = calloc(1, sizeof(*R));
	assert_non_null(R);
	rel = &R->rel;
	R->net = loop_net_create(LOOP_SOFT, SDR_MTU_DEFAULT);
	R->net->automatic = false;
	assert_int_equal(loop_open(R->net, 0, &rel->uc), 0);
	rel->ctx = sdr_context_create_on(rel->uc, NULL, rnd);
	assert_non_null(rel->ctx);
	sdr_rel_cfg_init(&rel->cfg);
	rel->cfg.scheme = &sdr_scheme_sr;
	rel->cbs = &cbs;
	rel->ops = &ops;
	rel->bulk = &R->bulk;
	rel->msg = &R->msg;
	rel->uc->ops->info(rel->uc, &rel->info);
	rel->mtu = rel->info.mtu;
	rel->ctl_max = SDR_CTL_MIN;
	assert_int_equal(sdr_bulk_open(rel), 0);
	sdr_rel_lists_init(rel);
	sdr_slab_init(&rel->rec_pool, sizeof(struct sdr_rec), SDR_CONN_RECS_MAX);
	sdr_msg_open(rel);
	loop_addr(1, &addr);
	R->peer = sdr_rel_peer(rel, &addr);
	assert_non_null(R->peer);
	R->c = sdr_conn_open(R->peer, false, rel->mtu);
	assert_non_null(R->c);
	R->c->state = SDR_CONN_OPEN;
	R->c->hs.validated = true;
	R->c->ctl_max = rel->ctl_max;
	R->c->credit.mseq_limit = R->c->credit.mseq_granted = CREDIT;
	return 0;
}

static int teardown(void **state)
{
	struct sdr_rel *rel = &R->rel;

	(void)state;
	rel->closing = true;
	if (sdr_conn_live(R->c))
		sdr_conn_fail(R->c, SDR_REL_ERR_CANCELED);
	sdr_msg_conn_end(R->c);
	sdr_bulk_conn_free(R->c);
	sdr_pkt_conn_free(R->c);
	sdr_conn_free(R->c);
	sdr_msg_close(rel);
	assert_int_equal(rel->unexp_bytes, 0);
	sdr_bulk_close(rel);
	sdr_peers_destroy(rel);
	sdr_htab_destroy(&rel->conns);
	sdr_htab_destroy(&rel->peer_cids);
	sdr_timerq_destroy(&rel->timers);
	sdr_slab_destroy(&rel->rec_pool);
	sdr_context_destroy(rel->ctx);
	loop_net_destroy(R->net);
	free(R);
	return 0;
}

/* As sdr_rel_post does. */
static struct sdr_op *post(uint8_t kind, uint16_t flags, size_t len)
{
	struct sdr_op *op = sdr_op_new(R->peer, sdr_op_kind(R->msg.kinds, kind));

	assert_non_null(op);
	op->flags = flags;
	op->niov = 1;
	op->iov[0] = (struct sdr_rel_iov){ R->bytes, len };
	op->len = len;
	op->rma_key = KEY;
	op->ctx = op;
	op->conn = R->c;
	R->msg.nops++;
	R->c->msg->nown++;
	sdr_list_add_tail(&op->link, &R->c->msg->deferred);
	sdr_op_release_deferred(R->c);
	return op;
}

static void post_recv(uint16_t flags, void *ctx, void *buf, size_t len, uint64_t min_multi)
{
	struct sdr_rel_iov iov = { buf, len };
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV,
				 .niov = 1,
				 .flags = flags,
				 .iov = &iov,
				 .min_multi = min_multi,
				 .ctx = ctx };

	assert_int_equal(sdr_rel_recv(&R->rel, &rr), 0);
}

/* The next record leaves, and is the test's to acknowledge; NULL: none. */
static struct sdr_rec *leave(void)
{
	uint8_t buf[SDR_CTL_MAX];
	struct sdr_rec *r = sdr_rec_next(R->c, sizeof(buf));

	if (r)
		assert_true(sdr_rec_write(R->c, r, buf, sizeof(buf)) > 0);
	return r;
}

/* A message of the peer: len bytes, all of them mseq. */
static void message(uint32_t mseq, uint32_t len)
{
	uint8_t bytes[64];
	struct sdr_frame_rec f = { .op = SDR_REC_SEND,
				   .flags = SDR_REC_F_ORDER,
				   .id = 100 + mseq,
				   .mseq = mseq,
				   .len = len,
				   .payload_len = len,
				   .payload = bytes };

	memset(bytes, (int)mseq, sizeof(bytes));
	sdr_rec_input(R->c, &f);
}

static void done(uint32_t id, int status)
{
	struct sdr_frame_rec f = {
		.op = SDR_REC_DONE, .flags = SDR_REC_F_STATUS, .id = id, .status = status
	};

	sdr_rec_input(R->c, &f);
}

/* ---- operations ------------------------------------------------------------------------------ */

static void op__behind_a_fence_waits_for_all_before(void **state)
{
	struct sdr_op *a = post(SDR_REL_SEND, 0, 8), *b = post(SDR_REL_SEND, SDR_REL_F_FENCE, 8);
	struct sdr_rec *r = leave();

	(void)state;
	post(SDR_REL_SEND, 0, 8);
	assert_ptr_equal(r, &a->rec);
	assert_null(leave()); /* nothing passes it */
	sdr_rec_acked(R->c, r);
	assert_int_equal(R->n, 1);
	assert_ptr_equal(R->got[0].ctx, a);
	assert_ptr_equal(leave(), &b->rec);
	assert_true(sdr_list_empty(&R->c->msg->deferred) && R->c->msg->nown == 2);
}

static void op__canceled_before_it_left_is_void(void **state)
{
	struct sdr_op *op = post(SDR_REL_SEND, 0, 8);
	struct sdr_rec *r;

	(void)state;
	sdr_op_cancel(op);
	assert_int_equal(R->n, 1);
	assert_int_equal(R->got[0].err, -ECANCELED);
	r = leave();
	assert_ptr_equal(r, &op->rec); /* it keeps its place */
	assert_true(r->f.flags & SDR_REC_F_STATUS && r->f.flags & SDR_REC_F_ORDER);
	assert_int_equal(r->f.status, SDR_REL_ERR_CANCELED);
	assert_int_equal(r->f.payload_len, 0);
	assert_int_equal(R->msg.nops, 1);
	sdr_rec_acked(R->c, r);
	assert_int_equal(R->msg.nops, 0);
	assert_int_equal(R->n, 1);
}

static void op__canceled_after_it_left_keeps_its_bytes(void **state)
{
	struct sdr_op *op = post(SDR_REL_SEND, 0, 8);
	struct sdr_rec *r = leave();
	uint8_t again[8], was[8] = { 0 };

	(void)state;
	sdr_op_cancel(op);
	assert_int_equal(R->got[0].err, -ECANCELED);
	memset(R->bytes, 0xee, sizeof(R->bytes)); /* the caller's again */
	assert_int_equal(sdr_op_rec_gather(r, again), 8);
	assert_memory_equal(again, was, 8);
	sdr_rec_acked(R->c, r);
	assert_int_equal(R->msg.nops, 0);
	assert_int_equal(R->n, 1);
}

static void op__write_ends_with_done_and_once(void **state)
{
	struct sdr_op *op = post(SDR_REL_WRITE, 0, 8), *bad = post(SDR_REL_WRITE, 0, 8);
	uint32_t id = op->wire_id, id2 = bad->wire_id;

	(void)state;
	sdr_rec_acked(R->c, leave());
	sdr_rec_acked(R->c, leave());
	assert_int_equal(R->n, 0); /* the key may be wrong */
	done(id, 0);
	done(id, 0);
	done(id2, SDR_REL_ERR_KEY);
	assert_int_equal(R->n, 2);
	assert_int_equal(R->got[0].err, 0);
	assert_int_equal(R->got[1].prov_err, SDR_REL_ERR_KEY);
	assert_int_equal(R->msg.nops, 0);
}

static void op__ends_with_its_connection(void **state)
{
	(void)state;
	post(SDR_REL_SEND, 0, 8);
	post(SDR_REL_READ, 0, 8);
	post(SDR_REL_WRITE, SDR_REL_F_FENCE, 8);
	sdr_conn_fail(R->c, SDR_REL_ERR_STOPPED);
	assert_int_equal(R->n, 0); /* at the end of the round */
	sdr_msg_conn_end(R->c);
	assert_int_equal(R->n, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(R->got[i].prov_err, SDR_REL_ERR_STOPPED);
	assert_int_equal(R->msg.nops, 0);
}

static void op__table_has_each_row_at_its_number(void **state)
{
	(void)state;
	for (uint8_t i = 0; i < SDR_OP_KINDS; i++) {
		const struct sdr_op_kind *k = sdr_op_kind(&sdr_op_table, i);

		assert_int_equal(k != NULL, (i >= SDR_REL_SEND && i <= SDR_REL_READ) ||
						    i == SDR_REL_ATOMIC ||
						    i == SDR_REL_FETCH_ATOMIC || i == SDR_REL_CALL);
		assert_true(!k || (k->number == i && k->complete && !k->served));
		assert_true(!k || sdr_op_table.rec[k->rec]);
	}
	assert_null(sdr_op_kind(&sdr_op_table, SDR_OP_KINDS));
	for (uint32_t i = 0; i <= UINT8_MAX; i++)
		assert_int_equal(sdr_op_table.rec[i] != NULL,
				 (i >= SDR_REC_SEND && i <= SDR_REC_LAST) || i == SDR_REC_CALL ||
					 i == SDR_REC_BERTH);
}

static void rec__of_an_unknown_number_is_bad(void **state)
{
	struct sdr_frame_rec f = { .op = SDR_REC_TEST, .flags = SDR_REC_F_BULK, .msn = 77 };

	(void)state;
	sdr_rec_input(R->c, &f);
	assert_int_equal(R->c->st.pkts_bad, 1);
	assert_int_equal(R->c->state, SDR_CONN_OPEN);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void early__messages_wait_for_their_turn(void **state)
{
	enum { N = 40 }; /* more than the ring's first size */
	uint8_t buf[N];

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		post_recv(0, &buf[i], &buf[i], 1, 0);
	for (uint32_t i = 20; i > 0; i--)
		message(i, 1);
	message(5, 1); /* is there already */
	assert_int_equal(R->c->st.pkts_bad, 1);
	assert_int_equal(R->c->msg->early.n, 20);
	assert_int_equal(R->n, 0);
	assert_true(R->rel.unexp_bytes > 0);
	message(0, 1);
	assert_int_equal(R->n, 21);
	for (uint32_t i = 0; i < 21; i++) {
		assert_ptr_equal(R->got[i].ctx, &buf[i]);
		assert_int_equal(buf[i], i);
	}
	assert_int_equal(R->c->msg->early.n, 0);
	assert_int_equal(R->rel.unexp_bytes, 0);
	message(CREDIT, 1); /* beyond what was granted */
	assert_int_equal(R->c->st.pkts_bad, 2);
}

static void match__void_message_meets_no_receive(void **state)
{
	struct sdr_frame_rec f = { .op = SDR_REC_SEND,
				   .flags = SDR_REC_F_ORDER | SDR_REC_F_STATUS,
				   .status = SDR_REL_ERR_CANCELED };
	uint8_t buf = 0xff;

	(void)state;
	post_recv(0, NULL, &buf, 1, 0);
	message(1, 1);
	assert_int_equal(R->n, 0);
	sdr_rec_input(R->c, &f);
	assert_int_equal(R->n, 1);
	assert_int_equal(buf, 1);
}

static void recv__peek_claims_what_others_do_not_get(void **state)
{
	uint8_t x[8], y[8];

	(void)state;
	post_recv(SDR_REL_R_PEEK, x, x, 8, 0);
	assert_int_equal(R->got[0].prov_err, SDR_REL_ERR_NOMSG);
	message(0, 8);
	message(1, 8);
	post_recv(SDR_REL_R_PEEK | SDR_REL_R_CLAIM, x, x, 8, 0);
	assert_int_equal(R->got[1].len, 8);
	post_recv(0, y, y, 8, 0);
	assert_int_equal(y[0], 1); /* not the claimed one, which came first */
	post_recv(SDR_REL_R_CLAIM, x, x, 8, 0);
	assert_int_equal(x[0], 0);
	post_recv(SDR_REL_R_CLAIM, x, x, 8, 0);
	assert_int_equal(R->n, 5);
	assert_int_equal(R->got[4].prov_err, SDR_REL_ERR_NOMSG);
	assert_int_equal(R->msg.nrx, 0);
	assert_int_equal(R->rel.unexp_bytes, 0);
}

static void recv__multi_is_released_with_its_last_use(void **state)
{
	uint8_t buf[100];

	(void)state;
	message(0, 30);
	post_recv(SDR_REL_R_MULTI, buf, buf, sizeof(buf), 40);
	assert_int_equal(R->n, 1);
	assert_false(R->got[0].multi_last);
	message(1, 40); /* 30 are left */
	assert_int_equal(R->n, 2);
	assert_true(R->got[1].multi_last);
	assert_ptr_equal(R->got[1].buf, buf + 30);
	assert_int_equal(buf[30], 1);
	assert_int_equal(R->msg.nrx, 0);
	message(2, 1);
	assert_int_equal(R->n, 2); /* unexpected */
}

/* ---- matching above -------------------------------------------------------------------------- */

/* RTS of a bulk that waits for CTS. */
static void announce(uint32_t mseq, uint64_t len)
{
	struct sdr_frame_rec f = { .op = SDR_REC_SEND,
				   .flags = SDR_REC_F_ORDER | SDR_REC_F_LEN,
				   .id = 100 + mseq,
				   .mseq = mseq,
				   .len = len };

	sdr_rec_input(R->c, &f);
}

static int meet(uint32_t mark, void *buf, size_t len)
{
	struct sdr_rel_iov iov = { buf, len };
	struct sdr_rel_rr rr = { .niov = 1, .iov = &iov, .ctx = buf };

	return sdr_rel_meet(&R->rel, R->above.kept[mark], &rr);
}

static void above__each_message_is_offered_once_and_in_order(void **state)
{
	uint8_t buf[8] = { 0 }, last[8] = { 0 };

	(void)state;
	sdr_above_set(&R->rel, &match);
	R->above.iov = (struct sdr_rel_iov){ buf, 8 };
	message(1, 4);
	assert_int_equal(R->above.asked, 0); /* not its turn */
	message(0, 3);
	assert_int_equal(R->above.asked, 2);
	assert_int_equal(R->n, 2);
	assert_int_equal(R->got[0].len, 3);
	assert_ptr_equal(R->got[1].ctx, &R->above);
	assert_int_equal(R->got[1].len, 4);
	assert_int_equal(R->got[1].kind, SDR_REL_RECV);
	assert_int_equal(buf[3], 1);
	R->above.iov.len = 0;
	message(2, 8);
	assert_int_equal(R->above.nkept, 1);
	assert_int_equal(R->n, 2);
	assert_int_equal(meet(0, last, 5), 0);
	assert_int_equal(R->n, 3);
	assert_int_equal(R->got[2].prov_err, SDR_REL_ERR_TRUNC);
	assert_int_equal(R->got[2].olen, 3);
	assert_int_equal(last[4], 2);
	assert_int_equal(last[5], 0);
	assert_int_equal(R->msg.nrx, 0);
	assert_int_equal(R->rel.unexp_bytes, 0);
}

static void above__a_discarded_message_is_reported_to_nobody(void **state)
{
	struct sdr_rec *r;

	(void)state;
	sdr_above_set(&R->rel, &match);
	message(0, 8);
	announce(1, 1 << 20);
	assert_int_equal(R->above.nkept, 2);
	sdr_rel_discard(&R->rel, R->above.kept[0]);
	assert_null(leave());
	sdr_rel_discard(&R->rel, R->above.kept[1]);
	r = leave(); /* its sender need not wait */
	assert_non_null(r);
	assert_int_equal(r->f.op, SDR_REC_DONE);
	assert_int_equal(r->f.id, 101);
	sdr_rec_acked(R->c, r);
	assert_int_equal(R->n, 0);
	assert_int_equal(R->above.gone, 0);
	assert_int_equal(R->rel.unexp_bytes, 0);
}

static void above__kept_messages_outlive_their_connection(void **state)
{
	uint8_t buf[8] = { 0 };

	(void)state;
	sdr_above_set(&R->rel, &match);
	message(0, 8);
	announce(1, 1 << 20);
	announce(2, 1 << 20);
	sdr_conn_fail(R->c, SDR_REL_ERR_STOPPED);
	sdr_msg_conn_end(R->c);
	assert_int_equal(R->n, 0);
	assert_int_equal(R->above.gone, 0); /* they are in its queue, and cannot be taken out */
	assert_int_equal(meet(1, buf, 8), 0);
	assert_int_equal(R->n, 1);
	assert_int_equal(R->got[0].prov_err, SDR_REL_ERR_STOPPED);
	assert_int_equal(meet(0, buf, 8), 0);
	assert_int_equal(R->got[1].err, 0);
	assert_int_equal(R->got[1].len, 8);
	sdr_rel_discard(&R->rel, R->above.kept[2]);
	assert_int_equal(R->n, 2);
	assert_int_equal(R->msg.nrx, 0);
	assert_int_equal(R->rel.unexp_bytes, 0);
}

static void above__a_message_that_nobody_can_note_ends_its_connection(void **state)
{
	uint8_t buf[8];

	(void)state;
	sdr_above_set(&R->rel, &match);
	R->above.full = true;
	message(1, 8);
	message(0, 8);
	assert_false(sdr_conn_live(R->c));
	assert_int_equal(R->c->err, SDR_REL_ERR_NOMEM);
	assert_int_equal(R->above.asked, 1); /* the next would overtake it */
	assert_int_equal(R->above.nkept, 0);
	R->above.iov = (struct sdr_rel_iov){ buf, 8 };
	sdr_msg_conn_end(R->c);
	assert_int_equal(R->n, 0);
	assert_int_equal(R->rel.unexp_bytes, 0);
}

static void above__without_room_a_receive_is_asked_for_first(void **state)
{
	uint8_t bytes[8] = { 7, 7, 7, 7, 7, 7, 7, 7 }, buf[8] = { 0 };
	struct sdr_frame_rec f = { .op = SDR_REC_SEND,
				   .flags = SDR_REC_F_ORDER,
				   .id = 100,
				   .len = 8,
				   .payload_len = 8,
				   .payload = bytes };

	(void)state;
	sdr_above_set(&R->rel, &match);
	R->rel.cfg.unexp_max = 1;
	assert_false(sdr_match_room(R->c, &f));
	assert_int_equal(R->above.asked, 1);
	assert_int_equal(R->above.gone, 1);
	R->above.iov = (struct sdr_rel_iov){ buf, 8 };
	assert_true(sdr_match_room(R->c, &f));
	assert_true(sdr_match_room(R->c, &f));
	assert_int_equal(R->above.asked, 2);
	R->above.iov.len = 0; /* it has given it */
	sdr_rec_input(R->c, &f);
	assert_int_equal(R->above.asked, 2);
	assert_int_equal(R->n, 1);
	assert_int_equal(buf[7], 7);
	/* And one whose record never follows. */
	R->above.iov = (struct sdr_rel_iov){ buf, 8 };
	f.mseq = 1;
	assert_true(sdr_match_room(R->c, &f));
	sdr_conn_fail(R->c, SDR_REL_ERR_PROTO);
	sdr_msg_conn_end(R->c);
	assert_int_equal(R->n, 2);
	assert_int_equal(R->got[1].prov_err, SDR_REL_ERR_PROTO);
	assert_int_equal(R->msg.nrx, 0);
}

static void above__what_is_kept_at_the_end_is_said_to_be_gone(void **state)
{
	uint8_t buf[8];

	(void)state;
	sdr_above_set(&R->rel, &match);
	message(0, 8);
	R->rel.closing = true;
	message(1, 8); /* offered to nobody */
	assert_int_equal(R->above.asked, 1);
	assert_int_equal(meet(0, buf, 8), -EIO);
	sdr_match_destroy(&R->rel);
	assert_int_equal(R->above.gone, 1);
	assert_int_equal(R->rel.unexp_bytes, 0);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static struct sdr_rec *read_of_peer(uint32_t id)
{
	struct sdr_frame_rec f = { .op = SDR_REC_READ,
				   .flags = SDR_REC_F_RMA | SDR_REC_F_LEN,
				   .id = id,
				   .len = 16,
				   .key = KEY };

	sdr_rec_input(R->c, &f);
	return &sdr_container(R->c->msg->ops.prev, struct sdr_op, link)->rec;
}

static void remote__revoked_region_is_not_read_any_more(void **state)
{
	struct sdr_rec *kept, *r;
	uint8_t bytes[16], was[16] = { 0 };

	(void)state;
	kept = read_of_peer(7);
	assert_ptr_equal(leave(), kept);
	read_of_peer(8);
	assert_int_equal(R->c->credit.nserve, 2);
	assert_int_equal(sdr_rel_mr_revoke(&R->rel, R->bytes), 0); /* another one */
	assert_int_equal(sdr_rel_mr_revoke(&R->rel, R->region), 2);
	assert_int_equal(sdr_rel_mr_revoke(&R->rel, R->region), 0);
	memset(R->region, 0xee, sizeof(R->region));
	/* What has left may be repeated, from a copy; what has not says that the key is gone. */
	assert_int_equal(sdr_op_rec_gather(kept, bytes), 16);
	assert_memory_equal(bytes, was, 16);
	assert_int_equal(R->c->credit.nserve, 1);
	r = leave();
	assert_int_equal(r->f.op, SDR_REC_READ_RSP);
	assert_int_equal(r->f.id, 8);
	assert_int_equal(r->f.status, SDR_REL_ERR_KEY);
	sdr_rec_acked(R->c, r);
	sdr_rec_acked(R->c, kept);
	assert_int_equal(R->c->credit.nserve, 0);
	assert_int_equal(R->n, 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(op__behind_a_fence_waits_for_all_before),
		CASE(op__canceled_before_it_left_is_void),
		CASE(op__canceled_after_it_left_keeps_its_bytes),
		CASE(op__write_ends_with_done_and_once),
		CASE(op__ends_with_its_connection),
		CASE(op__table_has_each_row_at_its_number),
		CASE(rec__of_an_unknown_number_is_bad),
		CASE(early__messages_wait_for_their_turn),
		CASE(match__void_message_meets_no_receive),
		CASE(recv__peek_claims_what_others_do_not_get),
		CASE(recv__multi_is_released_with_its_last_use),
		CASE(above__each_message_is_offered_once_and_in_order),
		CASE(above__a_discarded_message_is_reported_to_nobody),
		CASE(above__kept_messages_outlive_their_connection),
		CASE(above__a_message_that_nobody_can_note_ends_its_connection),
		CASE(above__without_room_a_receive_is_asked_for_first),
		CASE(above__what_is_kept_at_the_end_is_said_to_be_gone),
		CASE(remote__revoked_region_is_not_read_any_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
