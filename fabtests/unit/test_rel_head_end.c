/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Heads that nobody wants yet (rel/bulk/sdr_head_rx.c): how long they wait, how many, and what
 * becomes of them.  What is taken back, given up or lied about in the middle of a transfer.
 */
#include "test_rel_head.h"
#include "test_rel_berth_liar.h"

/* ---- nobody wants it yet --------------------------------------------------------------------- */

static struct bed_op *recv_parts(struct bed *b, uint8_t *p, size_t len)
{
	struct bed_op *op = bed_op(b, 1, 1);
	struct sdr_rel_iov iov[2] = { { p, 1000 }, { p + 1000, len - 1000 } };
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .niov = 2, .iov = iov, .ctx = op };

	assert_int_equal(sdr_rel_recv(b->node[1].ep->rel, &rr), 0);
	b->node[1].ep->dirty = true;
	return op;
}

/* The receive is posted before the head, in the middle of it, behind it; in one piece or two. */
static void kept__until_a_receive_is_there(void **state)
{
	static const uint64_t after[] = { 0, 5 * MS + 500000, 7 * MS, 12 * MS, 200 * MS };

	(void)state;
	for (uint32_t i = 0; i < 4 * sizeof(after) / sizeof(*after); i++) {
		struct bed *b = head_new((uint8_t)(1 + i % 2), ROOM);
		uint8_t *p = bed_buf(b, LEN, 0);
		uint64_t t0, wait = after[i / 4];
		struct bed_op *r, *s;

		b->cfg[0].rate_bps = 1000000000;
		bed_boot(b);
		bed_warm(b, 0, 1);
		move(b, SEND, LEN, 11);
		bed_run(b, 3 * BED_RTT);
		if (i / 2 % 2) /* some of the head is to be repaired when the receive comes */
			bed_drop(b, 0, BED_DATA, 10, 5);
		t0 = ctses(b);
		s = bed_send(b, 0, 1, bed_buf(b, LEN, 3), LEN, 0);
		bed_run(b, wait);
		assert_int_equal(s->n, 0);
		assert_int_equal(ctses(b), t0);
		t0 = bed_now(b);
		r = i / 2 % 2 ? bed_recv(b, 1, p, LEN) : recv_parts(b, p, LEN);
		bed_wait(b, r, BED_SEC);
		bed_wait(b, s, BED_SEC);
		bed_assert_ok(r);
		bed_assert_ok(s);
		assert_true(bed_same(p, LEN, 3));
		assert_int_equal(r->e.len, LEN);
		/* the rest alone is sent when it is known where: 2.8 ms of it */
		if (wait > 10 * MS && wait > 5 * BED_RTT)
			assert_true(r->at - t0 < BED_RTT + 4 * MS);
		assert_int_equal(bed_stats(b, 1).berths_rx, 1);
		assert_int_equal(bed_stats(b, 1).msgs_parked, 0);
		head_close(b);
	}
}

/* For longer than a peer may owe something: it owes nothing. */
static void kept__as_long_as_it_takes(void **state)
{
	struct bed *b = head_open(SDR_SIM_RKEYED_MR);
	uint8_t *p = bed_buf(b, LEN, 0);
	struct bed_op *s = bed_send(b, 0, 1, bed_buf(b, LEN, 3), LEN, 0), *r;

	(void)state;
	bed_run(b, 100 * BED_SEC);
	assert_int_equal(s->n, 0);
	r = bed_recv(b, 1, p, LEN);
	bed_wait_all(b, BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, LEN, 3));
	head_close(b);
}

/* As many as there are berths; then they wait as ever, and all come in their order. */
static void kept__within_the_bounds(void **state)
{
	struct bed *b = head_new(SDR_SIM_RKEYED_ROOT, 64u * MIB);
	const size_t len = SDR_BERTH_MAX + 1000;
	uint8_t *p[8];
	struct bed_op *s[8], *r[8];

	(void)state;
	bed_boot(b);
	bed_warm(b, 0, 1);
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t k = 0; k < 8; k++) {
			s[k] = bed_send(b, 0, 1, bed_buf(b, len, k + 1), len, 0);
			p[k] = bed_buf(b, len, 0);
		}
		bed_run(b, 3 * BED_SEC);
		assert_true(b->node[1].ep->rel->bulk->berths.room.used <= 16u * MIB);
		assert_true(bed_conn(b, 1, 0)->bulk->rx.berths.n <= SDR_BERTHS_PEER);
		assert_true(b->node[1].ep->rel->bulk->brx_pool.used <= SDR_BERTHS_PEER);
		for (uint32_t k = 0; k < 8; k++)
			r[k] = bed_recv(b, 1, p[k], len);
		bed_wait_all(b, 5 * BED_SEC);
		for (uint32_t k = 0; k < 8; k++) {
			bed_assert_ok(s[k]);
			bed_assert_ok(r[k]);
			assert_true(bed_same(p[k], len, k + 1));
		}
		bed_run(b, 3 * BED_RTT);
	}
	assert_in_range(bed_stats(b, 1).berths_rx, 2, 4);
	head_close(b);
}

/* One that lies there for long makes way for another peer's; it comes with the rest, then. */
static void kept__makes_way_for_others(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct bed *b = bed_new(6);
		uint8_t *p = bed_buf(b, LEN, 0), *q = bed_buf(b, LEN, 0);
		struct bed_op *s, *r;
		uint64_t cts;

		b->na[1].rkeyed = (uint8_t)(1 + i % 2);
		b->cfg[1].berths = ROOM; /* a quarter of it each: one */
		bed_boot(b);
		for (uint32_t from = 0; from < 6; from++) {
			if (from == 1)
				continue;
			bed_warm(b, from, 1);
			r = bed_recv(b, 1, q, LEN);
			s = bed_send(b, from, 1, bed_buf(b, LEN, from), LEN, 0);
			bed_wait(b, r, BED_SEC);
			bed_wait(b, s, BED_SEC);
			bed_run(b, 3 * BED_RTT);
			if (from)
				continue;
			s = bed_tsend(b, 0, 1, 7, bed_buf(b, LEN, 9), LEN); /* nobody wants it */
			s->expect = 1;
			bed_run(b, i < 2 ? 2 * BED_SEC : BED_RTT);
		}
		/* four have one, the fifth has that of node 0, if that is old */
		assert_int_equal(bed_conn(b, 1, 0)->bulk->rx.berths.n, i >= 2);
		assert_int_equal(bed_conn(b, 1, 5)->bulk->rx.berths.n, i < 2);
		cts = ctses(b);
		r = bed_trecv(b, 1, 7, 0, p, LEN);
		bed_wait_all(b, BED_SEC);
		bed_assert_ok(r);
		assert_true(bed_same(p, LEN, 9));
		assert_int_equal(ctses(b), cts + 1);
		bed_close(b);
	}
}

/* Discarded, met by a receive that is too short, or by several in one buffer. */
static void kept__what_becomes_of_it(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		struct bed *b = head_open((uint8_t)(1 + i % 2));
		uint8_t *p = bed_buf(b, 2 * LEN, 0);
		bool in_time = i / 2 % 2;
		struct bed_op *s, *r;

		if (i < 4) {
			if (in_time)
				r = bed_recv(b, 1, p, LEN - 1);
			s = bed_send(b, 0, 1, bed_buf(b, LEN, 3), LEN, 0);
			if (!in_time) {
				bed_run(b, BED_RTT / 2 + 100000);
				r = bed_recv(b, 1, p, LEN - 1);
			}
			bed_wait_all(b, BED_SEC);
			bed_assert_err(r, SDR_REL_ERR_TRUNC);
			bed_assert_ok(s);
			assert_true(bed_same(p, LEN, 0));
		} else if (i < 6) {
			s = bed_send(b, 0, 1, bed_buf(b, LEN, 3), LEN, 0);
			bed_run(b, in_time ? BED_RTT / 2 + 100000 : BED_RTT);
			r = bed_rr(
				b, 1,
				(struct sdr_rel_rr){ .kind = SDR_REL_RECV,
						     .flags = SDR_REL_R_PEEK | SDR_REL_R_DISCARD },
				NULL, 0);
			bed_wait_all(b, BED_SEC);
			bed_assert_ok(r);
			bed_assert_ok(s);
		} else {
			s = bed_send(b, 0, 1, bed_buf(b, LEN, 3), LEN, 0);
			bed_run(b, in_time ? BED_RTT / 2 + 100000 : BED_RTT);
			r = bed_rr(b, 1,
				   (struct sdr_rel_rr){ .kind = SDR_REL_RECV,
							.flags = SDR_REL_R_MULTI,
							.min_multi = LEN },
				   p, 2 * LEN);
			r->expect = -1;
			bed_wait(b, s, BED_SEC);
			bed_send(b, 0, 1, bed_buf(b, LEN, 4), LEN, 0);
			bed_wait_all(b, BED_SEC);
			bed_run(b, BED_RTT);
			assert_true(bed_same(p, LEN, 3) && bed_same(p + LEN, LEN, 4));
		}
		bed_run(b, 3 * BED_RTT);
		assert_int_equal(bed_conn(b, 1, 0)->bulk->rx.berths.n, 1);
		move(b, SEND, LEN, 7);
		head_close(b);
	}
}

/* ---- taken back, given up -------------------------------------------------------------------- */

/* The berth goes while the record that names it is under way: everything is requested, once. */
static void revoke__the_berth_of_a_head(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		struct bed *b = head_open((uint8_t)(1 + i % 2));
		enum way way = i / 2 % 2;
		uint8_t *p = bed_buf(b, LEN, 0);
		struct bed_op *op[2];

		/* CTS comes before PARK; the CTS is lost */
		if (i / 4 == 1)
			bed_late(b, 1, BED_PARK, 0, 1, BED_RTT);
		if (i / 4 == 2)
			bed_drop(b, 1, BED_CTS, 0, 1);
		begin(b, way, p, LEN, 4, op);
		if (i / 4 == 3)
			bed_late(b, 0, way == SEND ? BED_SEND : BED_WRITE, 0, 1, 2 * BED_RTT);
		sdr_berths_recall(bed_conn(b, 1, 0));
		bed_conn(b, 1, 0)->bulk->rx.berths.want = 0;
		b->node[1].ep->dirty = true;
		finish(b, op);
		assert_true(bed_same(p, LEN, 4));
		assert_int_equal(bed_stats(b, 1).msgs_parked, 1);
		assert_int_equal(bed_stats(b, 1).berths_rx, 0);
		for (uint32_t k = 0; k < 3; k++) {
			move(b, way, LEN, k + 1);
			bed_run(b, 2 * BED_RTT);
		}
		assert_true(bed_stats(b, 1).berths_rx >= 1);
		head_close(b);
	}
}

/* The region of a write, at any time: its head has come, or some; the rest, or some. */
static void revoke__the_region_of_a_write(void **state)
{
	uint32_t revoked = 0;

	(void)state;
	for (uint32_t i = 0; i < 2 * 14; i++) {
		struct bed *b = head_new((uint8_t)(1 + i % 2), ROOM);
		struct bed_node *nd = &b->node[1];
		uint8_t *p, *was = malloc(LEN);
		struct bed_op *op[2];

		assert_non_null(was);
		b->cfg[0].rate_bps = 1000000000;
		bed_boot(b);
		bed_warm(b, 0, 1);
		move(b, SEND, LEN, 11);
		bed_run(b, 3 * BED_RTT);
		p = bed_buf(b, LEN, 0);
		if (i / 2 % 2) /* the rest comes before the head is whole */
			bed_late(b, 0, BED_DATA, 30, 1, 3 * BED_RTT);
		begin(b, WRITE, p, LEN, 4, op);
		bed_run(b, BED_RTT / 2 + i / 2 * (BED_RTT / 8));
		nd->region[0].key = UINT64_MAX;
		nd->ep->dirty = true;
		if (sdr_rel_mr_revoke(nd->ep->rel, &nd->region[0])) {
			revoked++;
			memcpy(was, p, LEN);
			bed_wait(b, op[0], BED_SEC);
			bed_assert_err(op[0], SDR_REL_ERR_KEY);
			bed_run(b, 8 * BED_RTT);
			assert_memory_equal(was, p, LEN);
		}
		free(was);
		move(b, SEND, LEN, 6);
		head_close(b);
	}
	assert_true(revoked >= 20);
}

/* Either side closes, or dies, at any time: each operation ends once. */
static void end__in_the_middle(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 64; i++) {
		struct bed *b = head_open((uint8_t)(1 + i % 2));
		bool dies = i / 2 % 2, expected = i / 4 % 2;
		uint32_t who = i / 8 % 2;
		uint8_t *p = bed_buf(b, LEN, 0);
		struct bed_op *r = expected ? bed_recv(b, 1, p, LEN) : NULL;
		struct bed_op *s = bed_send(b, 0, 1, bed_buf(b, LEN, 4), LEN, 0);

		bed_run(b, BED_RTT / 4 + i / 16 * (BED_RTT / 2));
		if (dies)
			bed_crash(b, who);
		else
			bed_shut(b, who);
		if (r && (who || !dies))
			r->expect = -1;
		s->expect = who || !dies ? -1 : s->expect;
		bed_run(b, 90 * BED_SEC);
		if (r && !(dies && who))
			assert_int_equal(r->n, 1);
		if (!(dies && !who))
			assert_int_equal(s->n, s->e.err || s->n ? 1 : 0);
		if (!(dies && who) && bed_conn(b, 1, 0)) /* what was kept has none */
			assert_true(bed_grants_open(b, 1) <= bed_conn(b, 1, 0)->bulk->rx.berths.n);
		bed_close(b);
	}
}

/* ---- lies ------------------------------------------------------------------------------------ */

static struct liar liar_open(uint8_t key, uint32_t victim)
{
	struct liar l = liar_in(head_open(key), victim);

	l.rseq += 500; /* the real ones still work */
	return l;
}

static struct sdr_frame_rec named(const struct liar *l, uint64_t head)
{
	return (struct sdr_frame_rec){
		.op = SDR_REC_SEND,
		.flags = SDR_REC_F_ORDER | SDR_REC_F_LEN | SDR_REC_F_BULK | SDR_REC_F_BERTH |
			 SDR_REC_F_HEAD,
		.id = 77,
		.mseq = l->c->rec.rx_mseq,
		.msn = l->c->bulk->rx.seen,
		.len = LEN,
		.berth = l->c->bulk->rx.berths.next - 1,
		.head = head,
	};
}

/* Longer than the berth; where nobody has agreed to heads; of two messages of one number. */
static void bad__heads_that_cannot_be(void **state)
{
	(void)state;
	for (int how = 0; how < 3; how++) {
		struct liar l = liar_open(SDR_SIM_RKEYED_MR, 1);
		uint64_t before = bed_stats(l.b, 1).pkts_bad;

		if (how == 1)
			l.c->hs.features &= ~SDR_FEATURE_HEAD;
		if (how == 2)
			for (int i = 0; i < 2; i++)
				bed_recv(l.b, 1, bed_buf(l.b, LEN, 0), LEN)->expect = -1;
		say_rec(&l, named(&l, how ? BERTH : BERTH + 1));
		if (how == 2) {
			assert_true(bed_conn(l.b, 1, 0) == l.c);
			assert_int_equal(bed_stats(l.b, 1).berths_rx, 1);
			say_rec(&l, named(&l, BERTH));
		} else {
			assert_true(bed_stats(l.b, 1).pkts_bad > before);
		}
		assert_true(bed_conn(l.b, 1, 0) != l.c);
		assert_int_equal(bed_grants_open(l.b, 1), 0);
		bed_close(l.b);
	}
}

/* What the sender is told of a head of its own, that is not so; it goes on. */
static void bad__answers_that_cannot_be(void **state)
{
	(void)state;
	for (int how = 0; how < 6; how++) {
		struct liar l = liar_open(SDR_SIM_RKEYED_ROOT, 0);
		struct sdr_frame_rec f = { .op = SDR_REC_CTS,
					   .flags = SDR_REC_F_KEY | SDR_REC_F_STATUS |
						    SDR_REC_F_HEAD,
					   .head = BERTH,
					   .va = 4096,
					   .rkey = 99 };
		uint8_t *p = bed_buf(l.b, LEN, 0);
		struct bed_op *op[2];
		struct sdr_op *o;

		begin(l.b, SEND, p, LEN, 5, op);
		bed_run(l.b, how < 2 ? MS : BED_RTT + MS / 10);
		o = sdr_container(l.c->msg->ops.next, struct sdr_op, link);
		assert_int_equal(o->head_len, BERTH);
		f.id = o->wire_id;
		if (how == 0) { /* of another head */
			f.head = BERTH / 2;
		} else if (how == 1) { /* PARK of something else */
			f.op = SDR_REC_PARK;
			f.flags = SDR_REC_F_BULK;
			f.msn = o->head->msn + 1;
		} else if (how == 2) { /* once more */
			assert_false(o->waiting);
		} else if (how == 3) { /* for all of it, too late */
			f.flags &= (uint16_t)~SDR_REC_F_HEAD;
		} else if (how == 4) { /* PARK, too late */
			f.op = SDR_REC_PARK;
			f.flags = SDR_REC_F_BULK;
			f.msn = o->head ? o->head->msn : 0;
		} else { /* for something that has none */
			f.id++;
		}
		say_rec(&l, f);
		finish(l.b, op);
		assert_true(bed_same(p, LEN, 5));
		assert_true(bed_conn(l.b, 0, 1) == l.c);
		head_close(l.b);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept__until_a_receive_is_there),
		cmocka_unit_test(kept__as_long_as_it_takes),
		cmocka_unit_test(kept__within_the_bounds),
		cmocka_unit_test(kept__makes_way_for_others),
		cmocka_unit_test(kept__what_becomes_of_it),
		cmocka_unit_test(revoke__the_berth_of_a_head),
		cmocka_unit_test(revoke__the_region_of_a_write),
		cmocka_unit_test(end__in_the_middle),
		cmocka_unit_test(bad__heads_that_cannot_be),
		cmocka_unit_test(bad__answers_that_cannot_be),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
