/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The size of packets changes while the connection lives: up, down, idle, with everything under
 * way, over networks that lose, reorder and duplicate, begun by one side or both.  Bytes are right,
 * each operation ends once, nothing is lost where the network loses nothing, and the books, which
 * the bed looks at after each round, add up.
 */
#include "rel/conn/sdr_reshape.h"
#include "../bed/bed.h"

#define KIB    1024u
#define BIG    8192u /* the engines' */
#define REGION (4u << 20)
#define KEY    7u
#define OPS    120u

static struct bed *shape_new(const struct sdr_scheme_ops *scheme)
{
	struct bed *b = bed_new(2);

	for (uint32_t i = 0; i < 2; i++) {
		b->na[i].mtu = BIG;
		b->cfg[i].scheme = scheme;
		b->cfg[i].chunk = 16 * KIB;
		b->cfg[i].ec_k = 4;
		b->cfg[i].ec_m = 2;
	}
	return b;
}

/* Without discovery: what is wanted is the test's to say. */
static struct bed *shape_boot(struct bed *b)
{
	bed_boot(b);
	for (uint32_t i = 0; i < 2; i++)
		if (!b->na[i].rkeyed)
			b->node[i].ep->rel->features |= SDR_FEATURE_SHAPE;
	bed_warm(b, 0, 1);
	bed_run(b, BED_SEC);
	return b;
}

static struct bed *shape_open(void)
{
	return shape_boot(shape_new(&sdr_scheme_sr));
}

static void want(struct bed *b, uint32_t node, uint32_t mtu)
{
	assert_int_equal(sdr_reshape_want(bed_conn(b, node, 1 - node), mtu), 0);
	b->node[node].ep->dirty = true; /* as a call of the endpoint would leave it */
}

static uint32_t mtu_of(struct bed *b, uint32_t node)
{
	return bed_conn(b, node, 1 - node)->shape->mtu;
}

static bool over(struct sdr_conn *c)
{
	return c->in.now == c->shape && !c->in.old && !sdr_shape_other(c)->qp &&
	       !sdr_reshape_says(c);
}

/* Both sides have that size, and nothing of the one before is left. */
static void settled(struct bed *b, uint32_t mtu)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct sdr_conn *c = bed_conn(b, i, 1 - i);

		assert_non_null(c);
		assert_int_equal(c->shape->mtu, mtu);
		assert_int_equal(sdr_qp_mtu(c->shape->qp), mtu);
		assert_int_equal(c->cc.mtu, mtu);
		assert_true(over(c));
		assert_int_equal(c->st.pkts_bad, 0);
	}
}

/* ---- one transfer each way ------------------------------------------------------------------- */

static void move_some(struct bed *b, size_t len)
{
	struct bed_op *s[2], *r[2];
	uint8_t *p[2];

	for (uint32_t i = 0; i < 2; i++) {
		p[i] = bed_buf(b, len, 0);
		r[i] = bed_recv(b, 1 - i, p[i], len);
		s[i] = bed_send(b, i, 1 - i, bed_buf(b, len, 7 + i), len, 0);
	}
	for (uint32_t i = 0; i < 2; i++) {
		bed_wait(b, s[i], 10 * BED_SEC);
		bed_wait(b, r[i], 10 * BED_SEC);
		bed_assert_ok(s[i]);
		bed_assert_ok(r[i]);
		assert_true(bed_same(p[i], len, 7 + i));
	}
}

static void idle__down_and_up(void **state)
{
	static const uint32_t mtu[] = { 1024, BIG, 256, 4096, 1400, 8000 };
	struct bed *b = shape_open();
	uint64_t data;

	(void)state;
	for (uint32_t i = 0; i < sizeof(mtu) / sizeof(*mtu); i++) {
		/* both, since the smaller wish counts */
		want(b, 0, mtu[i]);
		want(b, 1, mtu[i]);
		bed_run(b, BED_SEC);
		settled(b, mtu[i]);
		data = bed_seen(b, 0, BED_DATA);
		move_some(b, 100000);
		assert_int_equal(bed_seen(b, 0, BED_DATA) - data, (100000 + mtu[i] - 1) / mtu[i]);
		bed_run(b, BED_SEC);
		settled(b, mtu[i]);
	}
	bed_assert_no_repair(b);
	assert_int_equal(bed_stats(b, 0).reshapes, 6);
	bed_close(b);
}

/* A message in three packets, and a message that is told once. */
static void idle__costs_three_packets(void **state)
{
	struct bed *b = shape_open();
	uint64_t n0 = bed_seen(b, 0, BED_PACKET), n1 = bed_seen(b, 1, BED_PACKET);

	(void)state;
	want(b, 0, 2048);
	want(b, 0, 2048);
	bed_run(b, BED_SEC);
	settled(b, 2048);
	assert_int_equal(bed_seen(b, 0, BED_SHAPE), 2);
	assert_int_equal(bed_seen(b, 1, BED_SHAPE), 1);
	assert_in_range(bed_seen(b, 0, BED_PACKET) - n0, 2, 3);
	assert_in_range(bed_seen(b, 1, BED_PACKET) - n1, 1, 3);
	n0 = bed_seen(b, 0, BED_PACKET);
	want(b, 0, 2048);
	bed_run(b, BED_SEC);
	assert_int_equal(bed_seen(b, 0, BED_PACKET), n0);
	bed_close(b);
}

/* What one side wants is at most what the other wants, whoever says it first. */
static void idle__the_smaller_wish_counts(void **state)
{
	struct bed *b = shape_open();

	(void)state;
	want(b, 0, 1024);
	bed_run(b, BED_SEC);
	settled(b, 1024);
	want(b, 1, 4096); /* the other still wants 1024 */
	bed_run(b, BED_SEC);
	settled(b, 1024);
	want(b, 0, BIG);
	bed_run(b, BED_SEC);
	settled(b, 4096);
	want(b, 1, BIG);
	bed_run(b, BED_SEC);
	settled(b, BIG);
	bed_close(b);
}

/* A peer that never had a wish takes what its engine takes; more is refused, once. */
static void idle__more_than_the_other_takes(void **state)
{
	struct bed *b = shape_new(&sdr_scheme_sr);

	(void)state;
	b->cfg[1].mtu = 2048;
	shape_boot(b);
	assert_int_equal(mtu_of(b, 0), 2048);
	want(b, 0, BIG);
	bed_run(b, BED_SEC);
	settled(b, 2048);
	assert_int_equal(bed_seen(b, 1, BED_SHAPE), 1);
	assert_int_equal(bed_stats(b, 0).reshapes, 0);
	want(b, 0, 1024);
	bed_run(b, BED_SEC);
	settled(b, 1024);
	want(b, 0, BIG); /* now it is known what the other takes */
	bed_run(b, BED_SEC);
	settled(b, 2048);
	move_some(b, 300000);
	bed_close(b);
}

static void idle__both_at_once(void **state)
{
	static const uint32_t mtu[][2] = {
		{ 1024, 1024 }, { 2048, 1024 }, { 4096, 4096 }, { 2048, 4096 }, { BIG, BIG },
	};
	struct bed *b = shape_open();

	(void)state;
	for (uint32_t i = 0; i < sizeof(mtu) / sizeof(*mtu); i++) {
		want(b, 0, mtu[i][0]);
		want(b, 1, mtu[i][1]);
		move_some(b, 200000);
		bed_run(b, BED_SEC);
		settled(b, mtu[i][0] < mtu[i][1] ? mtu[i][0] : mtu[i][1]);
	}
	bed_assert_no_repair(b);
	bed_close(b);
}

static void idle__not_without_the_feature(void **state)
{
	struct bed *b = shape_new(&sdr_scheme_sr);

	(void)state;
	bed_boot(b);
	b->node[0].ep->rel->features = SDR_FEATURE_SHAPE;
	bed_warm(b, 0, 1);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(sdr_reshape_want(bed_conn(b, i, 1 - i), 1024), -EOPNOTSUPP);
	bed_run(b, BED_SEC);
	assert_int_equal(mtu_of(b, 0), BIG);
	bed_close(b);
	b = shape_new(&sdr_scheme_sr);
	b->na[1].rkeyed = SDR_SIM_RKEYED_ROOT;
	shape_boot(b);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(sdr_reshape_want(bed_conn(b, i, 1 - i), 1024), -EOPNOTSUPP);
	bed_close(b);
	b = shape_open();
	assert_int_equal(sdr_reshape_want(bed_conn(b, 0, 1), SDR_MTU_MIN - 1), -EINVAL);
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle__down_and_up),
		cmocka_unit_test(idle__costs_three_packets),
		cmocka_unit_test(idle__the_smaller_wish_counts),
		cmocka_unit_test(idle__more_than_the_other_takes),
		cmocka_unit_test(idle__both_at_once),
		cmocka_unit_test(idle__not_without_the_feature),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
