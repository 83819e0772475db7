/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory for messages that nobody has asked for yet: how much there is, who may use it, and that
 * whoever finds no room waits until there is some.
 */
#include "test_rel_liar.h"

#define MSG_LEN	 1000u
#define MSG_COST (MSG_LEN + sizeof(struct sdr_unexp))

static uint64_t kept(struct bed *b)
{
	return b->node[0].ep->rel->unexp_bytes;
}

/* Node `from` of the bed tells node 0 who it is, and node 0 does not name it. */
static void stranger_in(struct bed *b, uint32_t from)
{
	struct bed_op *r = bed_recv(b, 0, bed_buf(b, 8, 0), 8);
	struct bed_op *s = bed_send(b, from, 0, "in", 2, 0);

	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_run(b, 3 * BED_RTT);
}

static struct liar liar_make(struct bed *b, uint32_t from)
{
	struct sdr_conn *c = bed_conn(b, 0, from);

	return (struct liar){
		.b = b, .from = from, .cid = c->id.cid, .pn = 1000, .rseq = c->rec.rx_next
	};
}

static void liar_message(struct liar *l, uint32_t mseq)
{
	static const uint8_t bytes[MSG_LEN];

	liar_rec(l,
		 (struct sdr_frame_rec){ .op = SDR_REC_SEND,
					 .flags = SDR_REC_F_ORDER,
					 .mseq = mseq,
					 .payload_len = MSG_LEN,
					 .len = MSG_LEN },
		 bytes);
}

/* The one in front of it never comes. */
static void early__the_same_message_again_is_not_kept_again(void **state)
{
	struct liar l = liar_open();
	struct sdr_conn *c = bed_conn(l.b, 0, 1);
	uint32_t mseq = c->rec.rx_mseq;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++)
		liar_message(&l, mseq + 1 + i % 3);
	liar_say(&l);
	assert_int_equal(l.b->node[0].ep->rel->msg->unexp_pool.used, 3);
	assert_true(c->st.pkts_bad >= 19000);
	liar_close(&l);
}

/*
 * The one in front never comes, and its sender is gone: what waits for it does not stay for ever.
 */
static void early__of_a_peer_that_fell_silent_go(void **state)
{
	struct liar l = liar_open();
	struct bed *b = l.b;
	uint32_t mseq = bed_conn(b, 0, 1)->rec.rx_mseq;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		liar_message(&l, mseq + 1 + i);
	liar_say(&l);
	assert_true(kept(b) >= 100 * MSG_COST);
	bed_drop(b, 1, BED_ALL, 0, UINT64_MAX / 2);
	bed_run(b, 40 * BED_SEC);
	assert_null(bed_conn(b, 0, 1));
	assert_int_equal(kept(b), 0);
	liar_close(&l);
}

/* Far ahead and close by, in any order: each has its turn. */
static void early__any_order_is_put_right(void **state)
{
	struct liar l = liar_open();
	struct bed *b = l.b;
	uint32_t mseq = bed_conn(b, 0, 1)->rec.rx_mseq, n = 800;
	struct bed_op *r;

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = (i * 373 + 5) % n;

		liar_rec(&l,
			 (struct sdr_frame_rec){ .op = SDR_REC_TSEND,
						 .flags = SDR_REC_F_ORDER | SDR_REC_F_TAG,
						 .mseq = mseq + k,
						 .tag = k },
			 NULL);
	}
	liar_say(&l);
	for (uint32_t k = 0; k < n; k++) {
		r = bed_trecv(b, 0, 0, UINT64_MAX, NULL, 0);
		bed_assert_ok(r);
		assert_int_equal(r->e.tag, k);
	}
	assert_int_equal(kept(b), 0);
	liar_close(&l);
}

/*
 * Strangers have half of what there is, all of them together, whatever they send and how often they
 * come back.
 */
static void total__strangers_leave_half_to_others(void **state)
{
	static const uint64_t max = 400 * MSG_COST;
	struct bed *b = bed_new(4);
	struct bed_op *r;

	(void)state;
	b->cfg[0].unexp_max = max;
	bed_boot(b);
	bed_warm(b, 0, 3);
	for (uint32_t from = 1; from <= 2; from++) {
		struct liar l;
		uint32_t mseq;

		stranger_in(b, from);
		l = liar_make(b, from);
		mseq = bed_conn(b, 0, from)->rec.rx_mseq;
		for (uint32_t i = 0; i < 600; i++)
			/* the first: all before their turn */
			liar_message(&l, mseq + i + (from == 1));
		liar_say(&l);
		assert_true(kept(b) <= max / 2 + MSG_COST);
		/* Three quarters for what is early. */
		assert_true(kept(b) >= (from == 1 ? max / 2 * 3 / 4 : max / 2) - 3 * MSG_COST);
	}
	assert_true(bed_stats(b, 0).rec_refused > 0);
	/* Who has a name still gets in, also with what nobody waits for. */
	bed_wait(b, bed_send(b, 3, 0, bed_buf(b, 1000, 7), 1000, 0), BED_SEC);
	r = bed_rr(b, 0, (struct sdr_rel_rr){ .kind = SDR_REL_RECV, .peer = bed_peer(b, 0, 3) },
		   bed_buf(b, 1000, 0), 1000);
	bed_assert_ok(r);
	bed_close(b);
}

/* More than there is room for, from an honest peer: it waits, and all of it comes, in order. */
static void total__a_sender_without_room_waits(void **state)
{
	(void)state;
	for (uint32_t lossy = 0; lossy < 2; lossy++) {
		struct bed *b = bed_new(2);
		struct bed_op *s[300], *r;
		uint8_t *p = bed_buf(b, MSG_LEN, 0);
		uint32_t n = 300, sent = 0;

		b->cfg[0].unexp_max = 100 * MSG_COST;
		b->link.loss = lossy ? 0.1 : 0;
		bed_boot(b);
		stranger_in(b, 1);
		for (uint32_t i = 0; i < n; i++)
			s[i] = bed_send(b, 1, 0, bed_buf(b, MSG_LEN, i + 1), MSG_LEN, 0);
		bed_run(b, 5 * BED_SEC);
		for (uint32_t i = 0; i < n; i++)
			sent += s[i]->n;
		assert_true(sent >= 30 && sent <= 51);
		assert_true(kept(b) <= 50 * MSG_COST);
		for (uint32_t i = 0; i < n; i++) {
			bed_fill(p, MSG_LEN, 0);
			r = bed_recv(b, 0, p, MSG_LEN);
			bed_wait(b, r, 20 * BED_SEC);
			bed_assert_ok(r);
			assert_true(bed_same(p, MSG_LEN, i + 1));
		}
		for (uint32_t i = 0; i < n; i++) {
			bed_wait(b, s[i], 10 * BED_SEC);
			bed_assert_ok(s[i]);
		}
		assert_int_equal(kept(b), 0);
		bed_close(b);
	}
}

/* What nobody has room for, but somebody waits for: it needs no room. */
static void total__a_message_that_is_waited_for_needs_no_room(void **state)
{
	struct bed *b = bed_new(3);
	struct liar l;
	uint32_t mseq;

	(void)state;
	b->cfg[0].unexp_max = 100 * MSG_COST;
	bed_boot(b);
	bed_warm(b, 0, 2);
	stranger_in(b, 1);
	l = liar_make(b, 1);
	mseq = bed_conn(b, 0, 1)->rec.rx_mseq;
	for (uint32_t i = 0; i < 400; i++)
		liar_message(&l, mseq + i);
	liar_say(&l);
	liar_close(&l); /* a message of node 2 to a receive that names it */
}

/* And a stranger who comes when others have filled everything is served all the same. */
static void total__a_newcomer_is_served_when_all_is_full(void **state)
{
	struct bed *b = bed_new(3);
	struct bed_op *r[40], *s[40];
	struct liar l;
	uint32_t mseq;

	(void)state;
	b->cfg[0].unexp_max = 100 * MSG_COST;
	bed_boot(b);
	stranger_in(b, 1);
	l = liar_make(b, 1);
	mseq = bed_conn(b, 0, 1)->rec.rx_mseq;
	for (uint32_t i = 0; i < 400; i++)
		liar_message(&l, mseq + i);
	liar_say(&l);
	assert_true(kept(b) >= 49 * MSG_COST);
	for (uint32_t i = 0; i < 40; i++)
		r[i] = bed_trecv(b, 0, 5, 0, bed_buf(b, 100, 0), 100);
	for (uint32_t i = 0; i < 40; i++)
		s[i] = bed_tsend(b, 2, 0, 5, bed_buf(b, 100, 2), 100);
	for (uint32_t i = 0; i < 40; i++) {
		bed_wait(b, r[i], BED_SEC);
		bed_wait(b, s[i], BED_SEC);
		bed_assert_ok(r[i]);
		bed_assert_ok(s[i]);
	}
	assert_int_equal(bed_stats(b, 2).rec_rtx, 0);
	bed_close(b);
}

/* Bulk counts, too: what finds no room is parked, and comes when it is asked for. */
static void total__bulk_without_room_is_parked(void **state)
{
	static const size_t len = 450000; /* in a buffer of 448 KiB */
	struct bed *b = bed_new(2);
	struct bed_op *s[6], *r;
	uint8_t *p = bed_buf(b, len, 0);

	(void)state;
	b->cfg[0].unexp_max = 4 << 20; /* a stranger's bulk: three quarters of half of it */
	bed_boot(b);
	stranger_in(b, 1);
	for (uint32_t i = 0; i < 6; i++) {
		s[i] = bed_send(b, 1, 0, bed_buf(b, len, i + 1), len, 0);
		bed_run(b, 5 * BED_RTT); /* each with its data: nothing waits for CTS yet */
		if (bed_conn(b, 1, 0))
			bed_conn(b, 1, 0)->msg->rnr_mode = false;
	}
	assert_true(kept(b) <= 2 << 20);
	assert_int_equal(bed_stats(b, 0).msgs_parked, 3);
	for (uint32_t i = 0; i < 6; i++) {
		bed_fill(p, len, 0);
		r = bed_recv(b, 0, p, len);
		bed_wait(b, r, BED_SEC);
		bed_assert_ok(r);
		assert_true(bed_same(p, len, i + 1));
		bed_wait(b, s[i], BED_SEC);
		bed_assert_ok(s[i]);
	}
	assert_int_equal(kept(b), 0);
	bed_close(b);
}

/* By default: 256 MiB of bounce buffers for those with a name. */
static void total__default_limit_of_bulk(void **state)
{
	static const size_t len = 1 << 20;
	struct bed *b = bed_new(2);
	uint8_t *p = bed_buf(b, len, 1);

	(void)state;
	bed_boot(b);
	bed_warm(b, 0, 1);
	for (uint32_t i = 0; i < 280; i++) {
		bed_send(b, 1, 0, p, len, 0)->expect = -1;
		bed_run(b, 3 * BED_RTT);
		bed_conn(b, 1, 0)->msg->rnr_mode = false;
	}
	assert_true(kept(b) <= SDR_REL_UNEXP_TOTAL);
	assert_true(bed_stats(b, 0).msgs_parked > 20);
	bed_close(b);
}

/*
 * Strangers who ask and never take an answer: bounded together, and others are answered all the
 * same.
 */
static void answers__to_strangers_are_bounded_together(void **state)
{
	(void)state;
	for (uint32_t read = 0; read < 2; read++) {
		struct bed *b = bed_new(4);
		struct sdr_rel *rel;
		struct bed_op *s[60];

		b->cfg[0].answers_max = 100;
		bed_boot(b);
		rel = b->node[0].ep->rel;
		bed_region_add(b, 0, 5, bed_buf(b, 100, 6), 100,
			       SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
		for (uint32_t from = 1; from <= 2; from++) {
			struct liar l;

			stranger_in(b, from);
			l = liar_make(b, from);
			bed_drop(b, from, BED_ALL, 0, UINT64_MAX / 2);
			for (uint32_t i = 0; i < 900; i++)
				liar_rec(
					&l,
					(struct sdr_frame_rec){
						.op = read ? SDR_REC_READ : SDR_REC_WRITE,
						.flags = SDR_REC_F_RMA | (read ? SDR_REC_F_LEN : 0),
						.id = i,
						.key = read ? 5 : 99,
						.len = read ? 100 : 0 },
					NULL);
			liar_say(&l);
			assert_true(rel->nanswers_strangers <= 100 + 2 * SDR_ANSWERS_LEAST);
			assert_true(rel->nanswers_strangers >= 90);
		}
		assert_true(bed_stats(b, 0).rec_refused > 0);
		for (uint32_t i = 0; i < 60; i++)
			s[i] = bed_rma(b, 3, 0, i % 2 ? SDR_REL_READ : SDR_REL_WRITE,
				       bed_buf(b, 100, 6), 100, 0, 5, 0);
		for (uint32_t i = 0; i < 60; i++) {
			bed_wait(b, s[i], 20 * BED_SEC);
			bed_assert_ok(s[i]);
		}
		bed_run(b, 60 * BED_SEC); /* the silent ones are given up */
		assert_int_equal(rel->nanswers_strangers, 0);
		bed_close(b);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(early__the_same_message_again_is_not_kept_again),
		cmocka_unit_test(early__of_a_peer_that_fell_silent_go),
		cmocka_unit_test(early__any_order_is_put_right),
		cmocka_unit_test(total__strangers_leave_half_to_others),
		cmocka_unit_test(total__a_sender_without_room_waits),
		cmocka_unit_test(total__a_message_that_is_waited_for_needs_no_room),
		cmocka_unit_test(total__a_newcomer_is_served_when_all_is_full),
		cmocka_unit_test(total__bulk_without_room_is_parked),
		cmocka_unit_test(answers__to_strangers_are_bounded_together),
		cmocka_unit_test(total__default_limit_of_bulk),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
