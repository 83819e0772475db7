/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Turns that no honest peer says, records that wait for one that never comes, and operations with a
 * turn that come to nothing: nothing hangs, memory is bounded, nobody else notices.
 */
#include "test_rel_liar.h"

#define KEY  7u
#define LEN  4096u
#define BULK (1u << 20)
#define COST (sizeof(void *) + sizeof(struct sdr_frame_rec) + 8u) /* of a record that is kept */

static uint64_t kept_bytes(struct bed *b)
{
	return b->node[0].ep->rel->unexp_bytes;
}

static struct sdr_conn *victim(const struct liar *l)
{
	return bed_conn(l->b, 0, 1);
}

static void say(struct liar *l, uint8_t op, uint32_t flags, uint32_t turn)
{
	liar_rec(l,
		 (struct sdr_frame_rec){ .op = op,
					 .flags = (uint16_t)(SDR_REC_F_RMA | flags),
					 .id = 1000 + turn,
					 .key = KEY,
					 .turn = turn },
		 NULL);
	liar_say(l);
}

static uint8_t *region(struct liar *l)
{
	uint8_t *p = bed_buf(l->b, LEN, 3);

	bed_region_add(l->b, 0, KEY, p, LEN, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
	return p;
}

/* ---- lies ------------------------------------------------------------------------------------ */

static void lie__a_turn_that_is_taken_ends_the_connection(void **state)
{
	static const uint8_t op[] = { SDR_REC_WRITE, SDR_REC_READ };

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t over = 0; over < 2; over++) {
			struct liar l = liar_open();

			region(&l);
			say(&l, op[i], SDR_REC_F_LEAD, 1 - over);
			assert_non_null(victim(&l));
			say(&l, op[i], SDR_REC_F_LEAD, 1 - over);
			bed_run(l.b, BED_RTT);
			assert_null(victim(&l));
			liar_close(&l);
		}
	}
}

static void lie__turns_that_are_not_in_force_end_the_connection(void **state)
{
	struct liar l = liar_open();

	(void)state;
	region(&l);
	victim(&l)->hs.features &= ~SDR_FEATURE_ORDER;
	say(&l, SDR_REC_WRITE, SDR_REC_F_LEAD, 0);
	bed_run(l.b, BED_RTT);
	assert_null(victim(&l));
	liar_close(&l);
}

/* It may know of an end that has not come here yet: not taken, and repeated. */
static void lie__a_turn_too_far_is_not_taken(void **state)
{
	struct liar l = liar_open();
	uint32_t next;

	(void)state;
	region(&l);
	next = victim(&l)->rec.rx_next;
	say(&l, SDR_REC_WRITE, SDR_REC_F_LEAD, SDR_REC_TURNS);
	l.rseq--;
	say(&l, SDR_REC_WRITE, SDR_REC_F_FOLLOW, SDR_REC_TURNS + 1);
	l.rseq--;
	say(&l, SDR_REC_SEND, SDR_REC_F_ORDER | SDR_REC_F_FOLLOW, SDR_REC_TURNS + 1);
	assert_int_equal(victim(&l)->rec.rx_next, next);
	assert_int_equal(bed_stats(l.b, 0).rec_refused, 3);
	l.rseq--;
	say(&l, SDR_REC_WRITE, SDR_REC_F_LEAD, SDR_REC_TURNS - 1);
	assert_int_equal(victim(&l)->rec.rx_next, next + 1);
	liar_close(&l);
}

/* ---- what waits ------------------------------------------------------------------------------ */

/* Any order: each has its effect when its turn comes, and none before. */
static void waits__for_its_turn_whatever_comes_first(void **state)
{
	enum { N = 700 };
	struct liar l = liar_open();
	uint8_t *p = region(&l);

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		uint32_t turn = (i * 373 + 1) % N;
		uint8_t byte = (uint8_t)turn;

		if (!turn)
			continue;
		liar_rec(&l,
			 (struct sdr_frame_rec){ .op = SDR_REC_WRITE,
						 .flags = SDR_REC_F_RMA | SDR_REC_F_TURN,
						 .id = i,
						 .key = KEY,
						 .payload_len = 1,
						 .turn = turn },
			 &byte);
	}
	liar_say(&l);
	assert_int_equal(sdr_follow_kept(victim(&l)), N - 1);
	assert_true(kept_bytes(l.b) >= (N - 1) * COST);
	assert_int_equal(p[0], bed_pattern(3, 0));
	say(&l, SDR_REC_WRITE, SDR_REC_F_LEAD, 0);
	assert_int_equal(p[0], (uint8_t)(N - 1));
	assert_int_equal(victim(&l)->msg->follow->base, N);
	assert_int_equal(sdr_follow_kept(victim(&l)), 0);
	assert_int_equal(kept_bytes(l.b), 0);
	liar_close(&l);
}

/* What they wait for never comes: no more than there is room for, and they go with their sender. */
static void waits__in_bounded_memory(void **state)
{
	static const uint64_t max = 64 * 1024;
	struct bed *b = bed_new(3);
	struct liar l = { .b = b, .from = 1, .pn = 1000 };

	(void)state;
	b->cfg[0].unexp_max = max;
	bed_boot(b);
	bed_warm(b, 0, 1);
	bed_warm(b, 0, 2);
	l.cid = bed_conn(b, 0, 1)->id.cid;
	l.rseq = bed_conn(b, 0, 1)->rec.rx_next;
	region(&l);
	for (uint32_t i = 0; i < 3000; i++)
		say(&l, SDR_REC_READ, SDR_REC_F_LEN | SDR_REC_F_FOLLOW, 1 + i % SDR_REC_TURNS);
	assert_true(bed_stats(b, 0).rec_refused > 0);
	assert_in_range(kept_bytes(b), max / 2, max);
	assert_true(sdr_follow_kept(victim(&l)) < max / COST);
	/* What they wait for needs no room. */
	l.rseq = victim(&l)->rec.rx_next;
	say(&l, SDR_REC_WRITE, SDR_REC_F_LEAD, 0);
	assert_int_equal(victim(&l)->msg->follow->base, 1);
	bed_drop(b, 1, BED_ALL, 0, UINT64_MAX / 2);
	bed_run(b, 40 * BED_SEC);
	assert_null(victim(&l));
	assert_int_equal(kept_bytes(b), 0);
	liar_close(&l);
}

/* ---- those that come to nothing -------------------------------------------------------------- */

struct ends {
	struct bed *b;
	uint8_t *mem;
};

static struct ends ends_open(void)
{
	struct ends e = { .b = bed_new(2) };

	for (uint32_t i = 0; i < 3; i++)
		e.b->cfg[0].orders.after[i] = (1u << SDR_ORDER_CLASSES) - 1;
	bed_boot(e.b);
	e.mem = bed_buf(e.b, 2 * BULK, 0);
	memset(e.mem, 0, 2 * BULK);
	bed_region_add(e.b, 1, KEY, e.mem, 2 * BULK, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
	bed_warm(e.b, 0, 1);
	return e;
}

static struct bed_op *put(struct ends *e, size_t len, uint32_t seed, uint64_t at, uint64_t key,
			  uint16_t flags)
{
	return bed_rma(e->b, 0, 1, SDR_REL_WRITE, bed_buf(e->b, len, seed), len, at, key, flags);
}

/* A refused one is over, bulk or not, and so is what follows it. */
static void end__a_refused_one_keeps_nobody_waiting(void **state)
{
	static const size_t len[] = { 8, BULK };

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct ends e = ends_open();
		uint8_t *to = bed_buf(e.b, 8, 0);
		struct bed_op *bad = put(&e, len[i], 1, 0, KEY + 1, 0), *worse, *good;

		worse = bed_rma(e.b, 0, 1, SDR_REL_READ, to, 8, 4 * BULK, KEY, 0);
		good = put(&e, 8, 2, 0, KEY, 0);
		bed_wait(e.b, good, BED_SEC);
		bed_assert_ok(good);
		bed_wait_all(e.b, BED_SEC);
		bed_assert_err(bad, SDR_REL_ERR_KEY);
		bed_assert_err(worse, SDR_REL_ERR_KEY);
		bed_close(e.b);
	}
}

/* The region of a bulk one is closed under it. */
static void end__a_revoked_one_keeps_nobody_waiting(void **state)
{
	struct ends e = ends_open();
	struct bed_op *bulk = put(&e, BULK, 1, 0, KEY, 0), *good;

	(void)state;
	bed_region_add(e.b, 1, KEY + 1, e.mem + BULK, BULK, SDR_REL_ACCESS_WRITE);
	bed_drop(e.b, 0, BED_DATA, 0, 1);
	good = put(&e, 8, 2, 0, KEY + 1, 0);
	bed_run(e.b, BED_DELAY + BED_DELAY / 5);
	assert_int_equal(sdr_follow_kept(bed_conn(e.b, 1, 0)), 1);
	/* by what mr_get named */
	assert_int_equal(sdr_rel_mr_revoke(e.b->node[1].ep->rel, &e.b->node[1].region[0]), 1);
	e.b->node[1].ep->dirty = true;
	bed_wait(e.b, good, BED_SEC);
	bed_assert_ok(good);
	bed_wait_all(e.b, BED_SEC);
	bed_assert_err(bulk, SDR_REL_ERR_KEY);
	bed_close(e.b);
}

/* Their endpoint closes before they have left: what was promised behind them arrives. */
static void end__what_was_given_up_before_it_left_is_void(void **state)
{
	struct ends e = ends_open();
	struct sdr_rel_msg *m = e.b->node[0].ep->rel->msg;
	uint8_t *to = bed_buf(e.b, 8, 0);
	struct bed_op *bulk, *small, *read, *promised;

	(void)state;
	m->leads &= ~SDR_ORDER_BIT(SDR_ORDER_SEND);	  /* messages take no turns */
	for (uint32_t i = 0; i < SDR_REL_CTL_WINDOW; i++) /* and nothing else leaves */
		bed_send(e.b, 0, 1, "x", 1, SDR_REL_F_INJECT);
	bulk = put(&e, BULK, 1, 0, KEY, 0);
	small = put(&e, 8, 2, BULK, KEY, 0);
	read = bed_rma(e.b, 0, 1, SDR_REL_READ, to, 8, 0, KEY, 0);
	promised = put(&e, 8, 3, BULK + 8, KEY, SDR_REL_F_INJECT);
	bed_shut(e.b, 0);
	bed_assert_err(bulk, SDR_REL_ERR_CANCELED);
	bed_assert_err(small, SDR_REL_ERR_CANCELED);
	bed_assert_err(read, SDR_REL_ERR_CANCELED);
	bed_wait(e.b, promised, BED_SEC);
	bed_assert_ok(promised);
	assert_true(bed_same(e.mem + BULK + 8, 8, 3));
	assert_int_equal(e.mem[0] | e.mem[BULK], 0);
	/* with the message that they met by */
	assert_int_equal(bed_conn(e.b, 1, 0)->msg->follow->base, 5);
	bed_run(e.b, BED_SEC);
	bed_close(e.b);
}

/* Of one that is on its way the rest does not come, which its target hears. */
static void end__a_bulk_that_was_announced_is_taken_back(void **state)
{
	(void)state;
	for (uint32_t late = 0; late < 3; late++) {
		struct ends e = ends_open();
		struct bed_op *bulk, *promised;

		bed_drop(e.b, 0, BED_DATA, 7, UINT64_MAX / 2);
		if (late == 2)
			bed_late(e.b, 0, BED_WRITE, 0, 1, 3 * BED_RTT);
		bulk = put(&e, BULK, 1, 0, KEY, 0);
		promised = put(&e, 8, 3, BULK, KEY, SDR_REL_F_INJECT);
		if (late)
			bed_run(e.b, late == 1 ? 2 * BED_RTT : BED_DELAY / 2);
		bed_shut(e.b, 0);
		bed_assert_err(bulk, SDR_REL_ERR_CANCELED);
		bed_wait(e.b, promised, BED_SEC);
		bed_assert_ok(promised);
		assert_true(bed_same(e.mem + BULK, 8, 3));
		assert_true(sdr_list_empty(&bed_conn(e.b, 1, 0)->bulk->rx.brx));
		bed_run(e.b, BED_SEC);
		bed_close(e.b);
	}
}

/* Sent, lost, and given up: the bytes go again, from a copy, for the sake of what follows. */
static void end__what_had_left_arrives(void **state)
{
	struct ends e = ends_open();
	uint8_t *from = bed_buf(e.b, 8, 2);
	struct bed_op *small, *promised;

	(void)state;
	bed_drop(e.b, 0, BED_REC, 0, 1);
	small = bed_rma(e.b, 0, 1, SDR_REL_WRITE, from, 8, 0, KEY, 0);
	promised = put(&e, 8, 3, 8, KEY, SDR_REL_F_INJECT);
	bed_run(e.b, BED_DELAY / 2);
	bed_shut(e.b, 0);
	bed_assert_err(small, SDR_REL_ERR_CANCELED);
	memset(from, 0, 8);
	bed_wait(e.b, promised, BED_SEC);
	bed_assert_ok(promised);
	assert_true(bed_same(e.mem, 8, 2) && bed_same(e.mem + 8, 8, 3));
	bed_run(e.b, BED_SEC);
	memcpy(from, e.mem, 8);
	bed_close(e.b);
}

/* All that waits on either side ends with the connection. */
static void end__with_the_peer(void **state)
{
	struct ends e = ends_open();
	struct bed_op *op[3];

	(void)state;
	bed_drop(e.b, 0, BED_DATA, 0, UINT64_MAX / 2);
	op[0] = put(&e, BULK, 1, 0, KEY, 0);
	op[1] = put(&e, 8, 2, BULK, KEY, 0);
	op[2] = put(&e, BULK, 3, 100, KEY, 0);
	bed_run(e.b, 2 * BED_RTT);
	assert_int_equal(sdr_follow_kept(bed_conn(e.b, 1, 0)), 2);
	bed_drop(e.b, 1, BED_ALL, 0, UINT64_MAX / 2);
	bed_drop(e.b, 0, BED_ALL, 0, UINT64_MAX / 2);
	for (uint32_t i = 0; i < 3; i++) {
		bed_wait(e.b, op[i], 120 * BED_SEC);
		assert_true(op[i]->e.err);
	}
	bed_run(e.b, 120 * BED_SEC);
	assert_int_equal(e.b->node[1].ep->rel->unexp_bytes, 0);
	bed_close(e.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lie__a_turn_that_is_taken_ends_the_connection),
		cmocka_unit_test(lie__turns_that_are_not_in_force_end_the_connection),
		cmocka_unit_test(lie__a_turn_too_far_is_not_taken),
		cmocka_unit_test(waits__for_its_turn_whatever_comes_first),
		cmocka_unit_test(waits__in_bounded_memory),
		cmocka_unit_test(end__a_refused_one_keeps_nobody_waiting),
		cmocka_unit_test(end__a_revoked_one_keeps_nobody_waiting),
		cmocka_unit_test(end__what_was_given_up_before_it_left_is_void),
		cmocka_unit_test(end__a_bulk_that_was_announced_is_taken_back),
		cmocka_unit_test(end__what_had_left_arrives),
		cmocka_unit_test(end__with_the_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
