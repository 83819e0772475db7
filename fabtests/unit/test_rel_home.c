/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What fails on this side, for want of memory or by being cancelled: the peer does not wait for it,
 * and nothing behind it does.  Memory fails where a test says: a pool whose limit is what it has.
 */
#include "../bed/bed.h"

#define INJECT (SDR_REL_F_INJECT | SDR_REL_F_EARLY)

/* No memory for another transfer at this node; returns what restores it. */
static uint32_t starve(struct bed *b, uint32_t node)
{
	struct sdr_slab *s = &b->node[node].ep->rel->bulk->btx_pool;
	uint32_t limit = s->limit;

	assert_null(s->free);
	s->limit = s->total;
	return limit;
}

static void home__a_message_that_fails_leaves_no_hole_in_the_order(void **state)
{
	(void)state;
	for (uint32_t lost = 0; lost < 2; lost++) {
		struct bed *b = bed_pair();
		struct bed_op *s[3], *r[2];
		uint8_t *p[2];
		uint32_t limit;

		bed_recvs(b, r, p, 2);
		if (lost)
			bed_drop(b, 0, BED_SEND, 0, 1); /* the void record is what comes late */
		limit = starve(b, 0);
		s[0] = bed_send(b, 0, 1, bed_buf(b, 100000, 1), 100000, 0);
		bed_assert_err(s[0], SDR_REL_ERR_NOMEM);
		bed_rounds(b);
		s[1] = bed_send(b, 0, 1, bed_buf(b, 100, 2), 100, SDR_REL_F_DELIVERY);
		bed_rounds(b);
		s[2] = bed_send(b, 0, 1, bed_buf(b, 100, 3), 100, 0);
		for (uint32_t i = 0; i < 2; i++) {
			bed_wait(b, r[i], BED_SEC);
			bed_assert_ok(r[i]);
			assert_true(bed_same(p[i], 100, 2 + i));
			bed_wait(b, s[1 + i], BED_SEC);
			bed_assert_ok(s[1 + i]);
		}
		b->node[0].ep->rel->bulk->btx_pool.limit = limit;
		bed_close(b);
	}
}

/* RTS, matched, CTS, and only then there is no memory: both sides report it. */
static void home__a_message_that_fails_after_its_rts_ends_the_receive(void **state)
{
	(void)state;
	for (uint32_t rkeyed = 0; rkeyed < 2; rkeyed++) {
		struct bed *b = bed_new(2);
		struct bed_op *s, *r;

		b->na[1].rkeyed = rkeyed ? SDR_SIM_RKEYED_MR : 0;
		bed_boot(b);
		bed_warm(b, 0, 1);
		bed_conn(b, 0, 1)->msg->rnr_mode = true;
		starve(b, 0);
		s = bed_send(b, 0, 1, bed_buf(b, 100000, 1), 100000, 0);
		bed_run(b, 2 * BED_RTT);
		assert_int_equal(s->n, 0);
		r = bed_recv(b, 1, bed_buf(b, 100000, 0), 100000);
		bed_wait(b, s, BED_SEC);
		bed_wait(b, r, BED_SEC);
		bed_assert_err(s, SDR_REL_ERR_NOMEM);
		bed_assert_err(r, SDR_REL_ERR_NOMEM);
		bed_run(b, BED_SEC);
		assert_int_equal(b->node[0].ep->rel->rec_pool.used, 0);
		bed_close(b);
	}
}

static void home__a_write_that_fails_after_its_rts_leaves_nothing_at_the_target(void **state)
{
	struct bed *b = bed_new(2);
	struct bed_op *s;

	(void)state;
	b->na[1].rkeyed = SDR_SIM_RKEYED_MR;
	bed_boot(b);
	bed_warm(b, 0, 1);
	bed_region_add(b, 1, 5, bed_buf(b, 100000, 0), 100000, SDR_REL_ACCESS_WRITE);
	starve(b, 0);
	s = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, 100000, 1), 100000, 0, 5, 0);
	bed_wait(b, s, BED_SEC);
	bed_assert_err(s, SDR_REL_ERR_NOMEM);
	bed_run(b, 2 * BED_RTT);
	assert_int_equal(b->node[1].ep->rel->bulk->brx_pool.used, 0);
	assert_int_equal(bed_grants_open(b, 1), 0);
	bed_close(b);
}

static void home__a_read_that_fails_at_its_server_is_answered(void **state)
{
	struct bed *b = bed_pair();
	struct bed_op *s;

	(void)state;
	bed_region_add(b, 1, 5, bed_buf(b, 100000, 1), 100000, SDR_REL_ACCESS_READ);
	starve(b, 1);
	s = bed_rma(b, 0, 1, SDR_REL_READ, bed_buf(b, 100000, 0), 100000, 0, 5, 0);
	bed_wait(b, s, BED_SEC);
	bed_assert_err(s, SDR_REL_ERR_NOMEM);
	bed_close(b);
}

/* Nothing else moves there that would try again: the sender's question must. */
static void home__a_segment_that_finds_no_memory_is_bound_later(void **state)
{
	struct bed *b = bed_pair();
	struct sdr_slab *pool = &b->node[1].ep->rel->bulk->srx_pool;
	uint32_t limit = pool->limit;
	uint8_t *p = bed_buf(b, 100000, 0);
	struct bed_op *s, *r;

	(void)state;
	r = bed_recv(b, 1, p, 100000);
	assert_null(pool->free);
	pool->limit = pool->total;
	s = bed_send(b, 0, 1, bed_buf(b, 100000, 4), 100000, 0);
	bed_run(b, 5 * BED_RTT);
	assert_int_equal(r->n, 0);
	pool->limit = limit;
	bed_wait(b, r, 2 * BED_SEC);
	bed_wait(b, s, 2 * BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, 100000, 4));
	bed_close(b);
}

/* What is cancelled before it left takes no receive. */
/*
 * Nothing is under way, and what the peer waits for is held back by the pacer alone: it wakes us
 * when it is time.
 */
static void home__an_answer_behind_the_pacer_leaves_in_time(void **state)
{
	struct bed *b = bed_open(2);
	struct bed_op *r, *s;
	struct sdr_conn *c;

	(void)state;
	bed_warm(b, 0, 1);
	c = bed_conn(b, 1, 0);
	assert_true(c->main.cc.pacer.rate_Bps > 0 && !c->inflight);
	c->main.cc.pacer.last = bed_now(b) + BED_DELAY; /* when the message comes */
	c->main.cc.pacer.credit = -1e6;
	c->main.cc.pacer.waiting = true;
	r = bed_recv(b, 1, bed_buf(b, 10, 0), 10);
	s = bed_send(b, 0, 1, bed_buf(b, 10, 3), 10, SDR_REL_F_DELIVERY);
	bed_wait(b, r, BED_RTT);
	bed_wait(b, s, 2 * BED_RTT);
	bed_assert_ok(s);
	bed_close(b);
}

static void home__a_cancelled_message_meets_no_receive(void **state)
{
	struct bed *b = bed_pair();
	struct bed_op *s, *r;
	uint8_t *p = bed_buf(b, 100, 0);

	(void)state;
	r = bed_recv(b, 1, p, 100);
	bed_conn(b, 0, 1)->credit.msn_limit =
		bed_conn(b, 0, 1)->bulk->tx.msn; /* no credit: it waits */
	s = bed_send(b, 0, 1, bed_buf(b, 3 << 20, 1), 3 << 20, 0);
	bed_send(b, 0, 1, bed_buf(b, 100, 2), 100, INJECT);
	bed_shut(b, 0);
	bed_assert_err(s, SDR_REL_ERR_CANCELED);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(r);
	assert_true(bed_same(p, 100, 2));
	bed_run(b, BED_SEC);
	bed_close(b);
}

/* Its bytes are the caller's again, and its packet is lost. */
static void home__a_cancelled_message_is_not_read_again(void **state)
{
	struct bed *b = bed_pair();
	uint8_t *p = bed_buf(b, 100, 0), *q = bed_buf(b, 100, 6);
	struct bed_op *s, *r;

	(void)state;
	r = bed_recv(b, 1, p, 100);
	bed_drop(b, 0, BED_SEND, 0, 1);
	s = bed_send(b, 0, 1, q, 100, 0);
	bed_run(b, MS);
	bed_shut(b, 0);
	bed_assert_err(s, SDR_REL_ERR_CANCELED);
	memset(q, 0, 100);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(r);
	assert_true(bed_same(p, 100, 6));
	bed_run(b, BED_SEC);
	bed_close(b);
}

/* Refused, and as if it had not been tried: no connection that says HELLO for ever. */
static void home__a_post_that_is_refused_leaves_nothing_behind(void **state)
{
	(void)state;
	for (uint32_t how = 0; how < 2; how++) {
		struct bed *b = bed_open(2);
		struct sdr_rel *rel = b->node[0].ep->rel;
		struct sdr_slab *pool = how ? &rel->msg->buf_pool : &rel->msg->op_pool;
		uint32_t limit = pool->limit;
		struct sdr_rel_iov iov = { .buf = bed_buf(b, 100, 1), .len = 100 };
		struct sdr_rel_wr wr = { .kind = SDR_REL_SEND,
					 .flags = INJECT,
					 .niov = 1,
					 .iov = &iov,
					 .peer = bed_peer(b, 0, 1) };

		pool->limit = 0;
		assert_int_equal(sdr_rel_post(rel, &wr), -ENOMEM);
		assert_int_equal(rel->nconns, 0);
		assert_int_equal(rel->msg->op_pool.used, 0);
		b->node[0].ep->dirty = true;
		bed_run(b, 10 * BED_SEC);
		assert_int_equal(bed_seen(b, 0, BED_ALL), 0);
		pool->limit = limit;
		bed_warm(b, 0, 1);
		bed_close(b);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(home__a_message_that_fails_leaves_no_hole_in_the_order),
		cmocka_unit_test(home__a_message_that_fails_after_its_rts_ends_the_receive),
		cmocka_unit_test(
			home__a_write_that_fails_after_its_rts_leaves_nothing_at_the_target),
		cmocka_unit_test(home__a_read_that_fails_at_its_server_is_answered),
		cmocka_unit_test(home__a_segment_that_finds_no_memory_is_bound_later),
		cmocka_unit_test(home__an_answer_behind_the_pacer_leaves_in_time),
		cmocka_unit_test(home__a_cancelled_message_meets_no_receive),
		cmocka_unit_test(home__a_cancelled_message_is_not_read_again),
		cmocka_unit_test(home__a_post_that_is_refused_leaves_nothing_behind),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
