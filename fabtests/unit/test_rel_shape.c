/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The size of packets changes while the connection lives: up, down, idle, with everything under
 * way, over networks that lose, reorder and duplicate, begun by one side or both.  Bytes are right,
 * each operation ends once, nothing is lost where the network loses nothing, and the books, which
 * the bed looks at after each round, add up.
 */
#include "base/sdr_rand.h"
#include "rel/conn/sdr_reshape.h"
#include "../bed/bed.h"

#define KIB	1024u
#define BIG	8192u /* the engines' */
#define REGION	(4u << 20)
#define KEY_IN	7u
#define KEY_OUT 8u
#define OPS	120u

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
	return sdr_shape_alone(c) && !sdr_reshape_says(c) && !(c->reshape && c->reshape->next);
}

/* Both sides have that size, and nothing of the one before is left. */
static void settled(struct bed *b, uint32_t mtu)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct sdr_conn *c = bed_conn(b, i, 1 - i);

		assert_non_null(c);
		assert_int_equal(c->shape->mtu, mtu);
		assert_int_equal(sdr_qp_mtu(c->shape->qp), mtu);
		assert_int_equal(c->main.cc.mtu, mtu);
		assert_true(over(c));
		assert_int_equal(c->st.pkts_bad, 0);
	}
}

/* The next message of a node has this number, as if there had been so many before. */
static void numbers_from(struct bed *b, uint32_t node, uint32_t msn)
{
	struct sdr_conn *c = bed_conn(b, node, 1 - node), *peer = bed_conn(b, 1 - node, node);

	c->bulk->tx.msn = c->bulk->tx.index.head = c->bulk->tx.index.tail = msn;
	sdr_qp_recv_from(peer->shape->qp, msn);
	peer->bulk->rx.seen = msn;
	peer->credit.msn_granted = sdr_conn_msn_limit(peer);
	sdr_qp_send_from(c->shape->qp, msn);
	c->credit.msn_limit = peer->credit.msn_granted;
	sdr_qp_limit_set(c->shape->qp, c->credit.msn_limit);
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
	assert_int_equal(sdr_reshape_want(bed_conn(b, 0, 1), SDR_EP_MTU_MIN - 1), -EINVAL);
	bed_close(b);
}

/* ---- everything under way -------------------------------------------------------------------- */

struct storm {
	struct bed *b;
	uint64_t rng;
	uint8_t *in[2], *out[2]; /* regions: written to, read from */
	size_t used[2];
	struct bed_op *op[OPS];
	const uint8_t *from[OPS];
	uint8_t *to[OPS];
	size_t len[OPS];
	uint32_t at[OPS]; /* node whose receive is still to be posted; BED_ANY: none */
	uint32_t n, left, changes;
	uint64_t gap, next; /* ns: between two wishes */
};

static const uint32_t SIZES[] = { 256, 512, 1000, 1024, 1400, 2048, 4096, 8000, BIG };
#define NSIZES (sizeof(SIZES) / sizeof(*SIZES))

static uint32_t draw(struct storm *s, uint32_t n)
{
	return (uint32_t)(sdr_rand64(&s->rng) >> 33) % n;
}

/* One side wants it, the other, or both. */
static void storm_wish(struct storm *s, uint32_t mtu)
{
	uint32_t who = draw(s, 3);

	for (uint32_t i = 0; i < 2; i++)
		if (who == i || who == 2)
			want(s->b, i, mtu);
	s->changes++;
}

/* Between two rounds: the wishes, each at its time. */
static void storm_app(struct bed *b, uint32_t node)
{
	struct storm *s = b->user;

	(void)node;
	if (!s->left || bed_now(b) < s->next)
		return;
	s->next = bed_now(b) + s->gap / 2 + draw(s, (uint32_t)s->gap);
	s->left--;
	storm_wish(s, SIZES[draw(s, NSIZES)]);
}

static size_t storm_len(struct storm *s)
{
	switch (draw(s, 6)) {
	case 0:
		return 1 + draw(s, 3000);
	case 1:
		return SIZES[draw(s, NSIZES)] * (1 + draw(s, 20)) - draw(s, 2);
	case 2:
		return 200000 + draw(s, 400000);
	default:
		return 5000 + draw(s, 60000);
	}
}

/* One operation of any kind; the receive of a message is posted before, or at the end. */
static void storm_post(struct storm *s)
{
	struct bed *b = s->b;
	uint32_t i = s->n++, from = draw(s, 2), to = 1 - from;
	size_t len = s->len[i] = storm_len(s), off;

	s->at[i] = BED_ANY;
	switch (draw(s, 4)) {
	case 0:
		s->from[i] = bed_buf(b, len, 50 + i);
		s->to[i] = s->in[to] + s->used[to];
		s->op[i] = bed_rma(b, from, to, SDR_REL_WRITE, (void *)(uintptr_t)s->from[i], len,
				   s->used[to], KEY_IN, draw(s, 2) ? SDR_REL_F_DELIVERY : 0);
		s->used[to] += len;
		break;
	case 1:
		off = draw(s, REGION - 600001);
		s->from[i] = s->out[to] + off;
		s->to[i] = bed_buf(b, len, 0);
		s->op[i] = bed_rma(b, from, to, SDR_REL_READ, s->to[i], len, off, KEY_OUT, 0);
		break;
	default:
		s->from[i] = bed_buf(b, len, 50 + i);
		s->to[i] = bed_buf(b, len, 0);
		if (draw(s, 3))
			bed_trecv(b, to, i, 0, s->to[i], len);
		else
			s->at[i] = to;
		s->op[i] = bed_tsend(b, from, to, i, s->from[i], len);
	}
}

static void storm_open(struct storm *s, struct bed *b, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->b = b;
	s->rng = seed;
	for (uint32_t i = 0; i < 2; i++) {
		s->in[i] = bed_buf(b, OPS * 600001, 0);
		s->out[i] = bed_buf(b, REGION, 5 + i);
		bed_region_add(b, i, KEY_IN, s->in[i], OPS * 600001, SDR_REL_ACCESS_WRITE);
		bed_region_add(b, i, KEY_OUT, s->out[i], REGION, SDR_REL_ACCESS_READ);
	}
	b->user = s;
	b->app = storm_app;
}

/* n operations, one every gap or so, while the size changes. */
static void storm_run(struct storm *s, uint32_t n, uint64_t gap)
{
	struct bed *b = s->b;

	while (n-- && s->n < OPS) {
		storm_post(s);
		bed_run(b, draw(s, (uint32_t)gap));
	}
	for (uint32_t i = 0; i < s->n; i++)
		if (s->at[i] != BED_ANY)
			bed_trecv(b, s->at[i], i, 0, s->to[i], s->len[i]);
	bed_wait_all(b, 300 * BED_SEC);
	for (uint32_t i = 0; i < s->n; i++) {
		bed_assert_ok(s->op[i]);
		assert_memory_equal(s->from[i], s->to[i], s->len[i]);
	}
}

/* All wishes are the same in the end: so is the size. */
static void storm_settle(struct storm *s, uint32_t mtu)
{
	struct bed *b = s->b;

	s->left = 0;
	b->app = NULL;
	for (uint32_t i = 0; i < 2; i++)
		want(b, i, mtu);
	bed_run(b, 60 * BED_SEC);
	settled(b, mtu);
	move_some(b, 123456);
	bed_close(b);
}

/* A network that loses nothing: nothing is lost, whatever the size does. */
static void storm__clean(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct bed *b = shape_open();
		struct storm s;

		storm_open(&s, b, seed);
		s.left = 100;
		s.gap = 15 * MS;
		storm_run(&s, 60, 30 * MS);
		bed_assert_no_repair(b);
		assert_true(bed_stats(b, 0).reshapes > 4);
		storm_settle(&s, SIZES[seed]);
	}
}

static void storm__every_scheme(void **state)
{
	(void)state;
	for (uint32_t k = 0; sdr_scheme_table[k]; k++) {
		for (uint64_t seed = 1; seed <= 2; seed++) {
			struct bed *b = shape_new(sdr_scheme_table[k]);
			struct storm s;

			for (uint32_t i = 0; i < 2; i++) {
				b->cfg[i].ec_code = seed & 1 ? SDR_CODE_MDS : SDR_CODE_XOR;
				b->cfg[i].max_overhead = 0.5;
			}
			b->link.loss = 0.01;
			shape_boot(b);
			storm_open(&s, b, 100 * k + seed);
			s.left = 30;
			s.gap = 40 * MS;
			storm_run(&s, 40, 40 * MS);
			storm_settle(&s, SIZES[k]);
		}
	}
}

/* Loss, reordering and duplicates at once. */
static void storm__a_bad_network(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct bed *b = shape_new(&sdr_scheme_sr);
		struct storm s;

		b->link.loss = seed & 1 ? 0.05 : 0.2;
		b->link.dup = 0.05;
		b->link.reorder = 0.1;
		b->link.reorder_ns = 3 * MS;
		b->link.jitter_ns = seed & 2 ? MS : 0;
		shape_boot(b);
		storm_open(&s, b, seed);
		s.left = 40;
		s.gap = 60 * MS;
		storm_run(&s, 40, 60 * MS);
		storm_settle(&s, SIZES[seed]);
	}
}

/* Few numbers: transfers are longer than the window, and END, parity and refusals meet its ends. */
static void storm__few_numbers(void **state)
{
	static const struct sdr_imm_split split = { 4, 24, 4 };

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct bed *b = shape_new(seed & 1 ? &sdr_scheme_sr : &sdr_scheme_ec);
		struct storm s;

		for (uint32_t i = 0; i < 2; i++) {
			b->cfg[i].split = split;
			b->cfg[i].generations = 4;
			b->cfg[i].ec_scratch = seed & 2 ? 64 * KIB : 0;
		}
		b->link.loss = seed & 4 ? 0.03 : 0;
		shape_boot(b);
		storm_open(&s, b, seed);
		s.left = 60;
		s.gap = 25 * MS;
		storm_run(&s, 60, 30 * MS);
		storm_settle(&s, SIZES[seed]);
	}
}

/* Numbers go over 2^32 in the middle of it. */
static void storm__numbers_wrap(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct bed *b = shape_new(&sdr_scheme_sr);
		struct storm s;

		b->link.loss = seed & 1 ? 0 : 0.02;
		shape_boot(b);
		for (uint32_t i = 0; i < 2; i++)
			numbers_from(b, i, 0u - 20u);
		storm_open(&s, b, seed);
		s.left = 100;
		s.gap = 15 * MS;
		storm_run(&s, OPS, 20 * MS);
		for (uint32_t i = 0; i < 2; i++)
			assert_true(bed_conn(b, i, 1 - i)->bulk->tx.msn < 1u << 20);
		storm_settle(&s, SIZES[seed]);
	}
}

/* ---- a packet at a time ---------------------------------------------------------------------- */

/* Each of the packets that say it is lost, or late and overtaken, with transfers both ways. */
static void one__packet_lost_or_late(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < 2 * 2 * 2 * 4; k++) {
		uint32_t node = k & 1, delay = k & 2 ? 33 : 0, nth = k >> 3;
		struct bed *b = shape_open();
		struct bed_rule *r = bed_late(b, node, BED_SHAPE, nth, 1 + nth / 2, delay * MS);

		want(b, 0, 1024);
		if (k & 4)
			want(b, 1, 2048);
		for (uint32_t i = 0; i < 4; i++)
			move_some(b, 60000);
		bed_run(b, 3 * BED_SEC);
		settled(b, 1024);
		assert_true(nth || r->hit);
		move_some(b, 60000);
		bed_close(b);
	}
}

/*
 * The last report of what lies on the old shape is lost, and the receiver has let go of that: it
 * still says that all came.
 */
static void one__report_lost_and_the_old_one_gone(void **state)
{
	struct bed *b = shape_open();
	uint8_t *p = bed_buf(b, 100000, 0);
	struct bed_op *s, *r;
	struct bed_rule *lost;
	struct sdr_conn *to = bed_conn(b, 1, 0), *from = bed_conn(b, 0, 1);

	(void)state;
	r = bed_recv(b, 1, p, 100000);
	lost = bed_drop(b, 1, BED_COMPLETE, 0, 2);
	s = bed_send(b, 0, 1, bed_buf(b, 100000, 3), 100000, 0);
	bed_run(b, MS);
	want(b, 1, 1024);
	while (mtu_of(b, 1) != 1024 || !sdr_shape_alone(to) || sdr_reshape_says(to))
		bed_run(b, MS);
	want(b, 1, 512); /* which waits for the other side, and needs the place here */
	bed_run(b, MS);
	assert_int_equal(r->n, 1);
	assert_int_equal(s->n, 0);
	assert_true(sdr_shape_other(from)->ntx && !to->in.old);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(s);
	assert_int_equal(lost->hit, 2);
	assert_true(bed_same(p, 100000, 3));
	bed_run(b, BED_SEC);
	settled(b, 512);
	bed_close(b);
}

/* A message that waits for its receive has no numbers: it gets them on what is in force then. */
static void one__what_waits_has_no_shape(void **state)
{
	const size_t len = 500000;
	struct bed *b = shape_open();
	struct bed_op *s[3], *r[3];
	uint8_t *p[3];

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		p[i] = bed_buf(b, len, 0);
		s[i] = bed_send(b, 0, 1, bed_buf(b, len, 9 + i), len, 0);
	}
	bed_run(b, BED_SEC);
	want(b, 0, 512);
	bed_run(b, BED_SEC);
	settled(b, 512);
	want(b, 0, BIG);
	for (uint32_t i = 0; i < 3; i++)
		r[i] = bed_recv(b, 1, p[i], len);
	for (uint32_t i = 0; i < 3; i++) {
		bed_wait(b, r[i], 10 * BED_SEC);
		bed_wait(b, s[i], 10 * BED_SEC);
		bed_assert_ok(r[i]);
		bed_assert_ok(s[i]);
		assert_true(bed_same(p[i], len, 9 + i));
	}
	bed_run(b, BED_SEC);
	settled(b, BIG);
	bed_close(b);
}

/* In every moment of a change: one side is gone at once, or closes, and what is posted ends. */
static void one__end_in_the_middle(void **state)
{
	(void)state;
	for (uint32_t ms = 0; ms < 40; ms += 3) {
		for (uint32_t how = 0; how < 4; how++) {
			uint32_t node = how & 1;
			struct bed *b = shape_open();
			uint8_t *p = bed_buf(b, 400000, 0);
			struct bed_op *s, *r;

			r = bed_recv(b, 1, p, 400000);
			s = bed_send(b, 0, 1, bed_buf(b, 400000, 3), 400000, 0);
			want(b, 0, 1024);
			bed_run(b, ms * MS);
			if (how & 2) {
				bed_crash(b, node);
				bed_boot_node(b, node);
				b->node[node].ep->rel->features |= SDR_FEATURE_SHAPE;
				bed_warm(b, node, 1 - node);
				want(b, node, 2048);
				move_some(b, 100000);
			} else {
				bed_shut(b, node);
				bed_run(b, 10 * BED_SEC);
				assert_int_equal((node ? r : s)->n, 1);
			}
			bed_run(b, 40 * BED_SEC);
			s->expect = r->expect = -1;
			bed_close(b);
		}
	}
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
		cmocka_unit_test(one__packet_lost_or_late),
		cmocka_unit_test(one__report_lost_and_the_old_one_gone),
		cmocka_unit_test(one__what_waits_has_no_shape),
		cmocka_unit_test(one__end_in_the_middle),
		cmocka_unit_test(storm__clean),
		cmocka_unit_test(storm__every_scheme),
		cmocka_unit_test(storm__a_bad_network),
		cmocka_unit_test(storm__few_numbers),
		cmocka_unit_test(storm__numbers_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
