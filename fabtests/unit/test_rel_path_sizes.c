/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Connections of several paths that carry packets of different sizes: all of them carry data, each
 * in the size that passes there; sizes that shrink and grow while data are under way; packets that
 * have to go by a narrow one; and peers that take no pieces.
 */
#include "../bed/bed.h"
#include "rel/conn/sdr_path_mtu.h"
#include "rel/path/sdr_cc_ops.h"

#define MB    (1u << 20)
#define BIG   (16 * MB)
#define RATE  500000000ull /* bits per second, of each lane and path */
#define WIDE  9000u
#define SMALL 1500u

static struct bed *sizes_new(uint32_t n)
{
	struct bed *b = bed_new(2);

	bed_paths(b, n);
	b->link.rate_bps = RATE;
	b->link.mtu = WIDE;
	for (uint32_t i = 0; i < 2; i++) {
		b->na[i].mtu = 8192;
		b->na[i].no_probe = false;
		b->cfg[i].mtu = 8192;
		b->cfg[i].rate_bps = RATE * 9 / 10;
		b->cfg[i].timeout_ms = 10000;
	}
	return b;
}

/* len bytes from one node to the other: the time until both sides know. */
static uint64_t move(struct bed *b, uint32_t from, size_t len)
{
	uint8_t *p = bed_buf(b, len, 0);
	struct bed_op *r = bed_recv(b, 1 - from, p, len), *s;
	uint64_t t0 = bed_now(b);

	s = bed_send(b, from, 1 - from, bed_buf(b, len, 7), len, 0);
	bed_wait(b, r, 30 * BED_SEC);
	bed_wait(b, s, 30 * BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, len, 7));
	return (r->at > s->at ? r->at : s->at) - t0;
}

static void lane_mtu(struct bed *b, uint32_t lane, uint32_t mtu)
{
	sdr_sim_link_mtu(b->w, SDR_SIM_LANE(0, lane), 1, mtu, false);
	sdr_sim_link_mtu(b->w, SDR_SIM_LANE(1, lane), 0, mtu, false);
}

static void lanes_boot(struct bed *b, const uint32_t *mtu, uint32_t n)
{
	bed_boot(b);
	for (uint32_t k = 0; k < SDR_PATHS_MAX; k++) {
		struct sdr_sim_link l = b->link;

		l.mtu = mtu && k < n ? mtu[k] : WIDE;
		sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, k), 1, &l);
	}
	bed_warm(b, 0, 1);
	for (uint32_t i = 0; i < 4; i++)
		move(b, i & 1, MB);
}

/* The search of all paths is over, both ways. */
static void settle(struct bed *b)
{
	bool over = false;

	for (uint32_t n = 0; n < 200 && !over; n++) {
		move(b, n & 1, 300000);
		bed_run(b, 20 * MS);
		over = true;
		for (uint32_t i = 0; i < 2; i++) {
			const struct sdr_conn *c = bed_conn(b, i, 1 - i);

			for (uint32_t k = 0; k < c->npaths; k++)
				over &= sdr_pmtu_settled(&sdr_conn_path_of(c, k)->pmtu);
		}
	}
	assert_true(over);
}

static struct bed *two_open(uint32_t first, uint32_t second)
{
	const uint32_t mtu[] = { first, second };
	struct bed *b = sizes_new(2);

	lanes_boot(b, mtu, 2);
	settle(b);
	return b;
}

static const struct sdr_path *path_of(struct bed *b, uint32_t node, uint32_t i)
{
	return sdr_conn_path_of(bed_conn(b, node, 1 - node), i);
}

static uint32_t alive(struct bed *b, uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < bed_conn(b, node, 1 - node)->npaths; i++)
		n += path_of(b, node, i)->state == SDR_PATH_ALIVE;
	return n;
}

static struct sdr_sim_link_stats stats(struct bed *b, uint32_t node, uint32_t lane)
{
	struct sdr_sim_link_stats st;

	sdr_sim_link_stats(b->w, SDR_SIM_LANE(node, lane), 1 - node, &st);
	return st;
}

/* ---- they add up ----------------------------------------------------------------------------- */

static void size__narrow_and_wide_add_up(void **state)
{
	static const uint32_t second[] = { 1280, SMALL, 4200, WIDE };
	struct bed *one = sizes_new(1);
	uint64_t alone[2];

	(void)state;
	lanes_boot(one, NULL, 0);
	for (uint32_t from = 0; from < 2; from++)
		alone[from] = move(one, from, BIG);
	bed_close(one);
	for (uint32_t i = 0; i < sizeof(second) / sizeof(second[0]); i++) {
		struct bed *b = two_open(WIDE, second[i]);

		for (uint32_t from = 0; from < 2; from++) {
			uint32_t size = path_of(b, from, 1)->pmtu.size;
			uint64_t before = stats(b, from, 1).bytes, took;

			assert_int_equal(alive(b, from), 2);
			if (second[i] == WIDE)
				assert_int_equal(size, path_of(b, from, 0)->pmtu.size);
			else
				assert_in_range(size, second[i] - SDR_PMTU_GRAIN, second[i]);
			took = move(b, from, BIG);
			if (took > alone[from] * 6 / 10)
				fail_msg("%u from %u: %.2f ms, %.2f by the first alone", second[i],
					 from, (double)took / 1e6, (double)alone[from] / 1e6);
			before = stats(b, from, 1).bytes - before;
			assert_in_range(before, BIG * 4ull / 10, BIG * 6ull / 10 * 11 / 10);
		}
		/* nothing but probes and challenges was ever too long */
		for (uint32_t k = 0; k < 2; k++)
			assert_in_range(stats(b, k, 1).drop_mtu, 0, 60);
		bed_assert_no_repair(b);
		bed_close(b);
	}
}

/*
 * A lane so long that challenges of several lengths are under way at a time: the late answer to a
 * shorter one is not taken for that to a probe.
 */
static void size__of_a_long_lane(void **state)
{
	static const uint64_t delay[] = { 35 * MS, 50 * MS, 150 * MS, 400 * MS };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct bed *b = sizes_new(2);
		struct sdr_sim_link l = b->link;

		bed_boot(b);
		sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, 0), 1, &l);
		l.delay_ns = delay[i];
		l.mtu = 1280;
		sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, 1), 1, &l);
		bed_warm(b, 0, 1);
		for (uint32_t n = 0; n < 150; n++) {
			move(b, n & 1, 2 * MB);
			for (uint32_t k = 0; k < 2; k++)
				assert_in_range(path_of(b, k, 1)->pmtu.size, 0, 1280);
		}
		assert_int_equal(alive(b, 0), 2);
		assert_int_equal(bed_stats(b, 0).path_holes + bed_stats(b, 1).path_holes, 0);
		bed_close(b);
	}
}

/* The first is the narrow one: all have its size, as ever. */
static void size__of_the_first_for_all(void **state)
{
	struct bed *b = two_open(SMALL, WIDE);
	uint64_t before = stats(b, 0, 1).bytes;

	(void)state;
	move(b, 0, BIG);
	assert_int_equal(alive(b, 0), 2);
	assert_true(bed_conn(b, 0, 1)->shape->mtu < SMALL);
	assert_in_range(stats(b, 0, 1).bytes - before, BIG * 4ull / 10, BIG * 7ull / 10);
	bed_close(b);
}

static void size__of_sixteen(void **state)
{
	uint32_t mtu[SDR_PATHS_MAX];
	struct bed *b = sizes_new(16);

	(void)state;
	for (uint32_t k = 0; k < 16; k++) {
		b->cfg[0].rate_bps = b->cfg[1].rate_bps = b->link.rate_bps = RATE / 5;
		mtu[k] = k ? 1250 + 500 * k : WIDE;
	}
	lanes_boot(b, mtu, 16);
	settle(b);
	for (uint32_t i = 0; i < 4; i++)
		move(b, i & 1, BIG);
	for (uint32_t from = 0; from < 2; from++) {
		assert_int_equal(alive(b, from), 16);
		for (uint32_t k = 1; k < 16; k++)
			assert_in_range(path_of(b, from, k)->pmtu.size,
					mtu[k] - SDR_PMTU_GRAIN < 8260 ? mtu[k] - SDR_PMTU_GRAIN
								       : 8200,
					mtu[k]);
	}
	bed_close(b);
}

/* ---- while data are under way ---------------------------------------------------------------- */

static void size__shrinks_in_mid_transfer(void **state)
{
	static const uint32_t to[] = { 4200, SMALL, 1100 };

	(void)state;
	for (uint32_t i = 0; i < 3 * 2; i++) {
		struct bed *b = two_open(WIDE, WIDE);
		uint64_t alone = move(b, i & 1, BIG), took;
		uint32_t from = i & 1;

		sdr_sim_link_mtu_at(b->w, bed_now(b) + alone / 3, SDR_SIM_LANE(from, 1), 1 - from,
				    to[i / 2], false);
		took = move(b, from, 2 * BIG);
		if (took > 2 * alone * 3 / 2 + 30 * BED_RTT)
			fail_msg("to %u: %.2f ms, %.2f for half of it before", to[i / 2],
				 (double)took / 1e6, (double)alone / 1e6);
		for (uint32_t k = 0; k < 4; k++)
			took = move(b, from, BIG);
		assert_in_range(path_of(b, from, 1)->pmtu.size, to[i / 2] - SDR_PMTU_GRAIN,
				to[i / 2] + 3); /* rounding */
		assert_int_equal(alive(b, from), 2);
		if (took > alone * 5 / 4)
			fail_msg("to %u: %.2f ms, %.2f before", to[i / 2], (double)took / 1e6,
				 (double)alone / 1e6);
		assert_true(bed_stats(b, from).path_holes + bed_stats(b, from).paths_down > 0);
		bed_close(b);
	}
}

static void size__grows_again(void **state)
{
	struct bed *b = two_open(WIDE, SMALL);

	(void)state;
	lane_mtu(b, 1, WIDE);
	move(b, 0, BIG);
	assert_in_range(path_of(b, 0, 1)->pmtu.size, 0, SMALL);
	bed_run(b, SDR_PMTU_RAISE_NS);
	settle(b);
	assert_int_equal(path_of(b, 0, 1)->pmtu.size, path_of(b, 0, 0)->pmtu.size);
	bed_close(b);
}

/* The first carries more than it did: the others find out whether they do, and lose nothing. */
static void size__follows_the_first(void **state)
{
	static const uint32_t second[] = { SMALL, 4200, WIDE };

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct bed *b = two_open(SMALL, second[i]);
		uint32_t was = bed_conn(b, 0, 1)->shape->mtu;

		lane_mtu(b, 0, WIDE);
		bed_run(b, SDR_PMTU_RAISE_NS);
		settle(b);
		for (uint32_t k = 0; k < 8; k++)
			move(b, k & 1, MB);
		settle(b);
		assert_true(bed_conn(b, 0, 1)->shape->mtu > 4 * was);
		for (uint32_t from = 0; from < 2; from++) {
			uint32_t most = path_of(b, from, 0)->pmtu.size;

			if (second[i] < most)
				most = second[i];
			assert_in_range(path_of(b, from, 1)->pmtu.size, most - SDR_PMTU_GRAIN,
					most);
			assert_int_equal(alive(b, from), 2);
			assert_int_equal(bed_stats(b, from).path_holes, 0);
		}
		bed_assert_no_repair(b);
		bed_close(b);
	}
}

/* It is dark for a while, and narrower when it answers again. */
static void size__less_when_it_comes_back(void **state)
{
	struct bed *b = two_open(WIDE, WIDE);

	(void)state;
	sdr_sim_blackout_both(b->w, SDR_SIM_LANE(0, 1), 1, bed_now(b) + 30 * MS,
			      bed_now(b) + 500 * MS);
	lane_mtu(b, 1, SMALL);
	for (uint32_t i = 0; i < 8; i++) {
		move(b, 0, BIG);
		bed_run(b, 100 * MS);
	}
	assert_true(bed_stats(b, 0).paths_down > 0);
	assert_int_equal(alive(b, 0), 2);
	assert_in_range(path_of(b, 0, 1)->pmtu.size, SMALL - SDR_PMTU_GRAIN, SMALL);
	bed_close(b);
}

/* ---- packets --------------------------------------------------------------------------------- */

/* The first dies: all packets, long records among them, go by the narrow one. */
static void packets__by_the_narrow_one(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct bed *b = two_open(WIDE, SMALL);
		struct bed_rule *r = bed_drop(b, BED_ANY, BED_ALL, 0, UINT64_MAX / 2);

		r->lane = 0;
		for (size_t len = 1; len < 20000; len += len / 3 + 1)
			move(b, (len + i) & 1, len);
		move(b, i, BIG);
		assert_true(bed_stats(b, 0).parts_tx + bed_stats(b, 1).parts_tx > 0);
		r->n = 0;
		bed_run(b, BED_SEC);
		for (uint32_t k = 0; k < 4; k++)
			move(b, k & 1, MB);
		assert_int_equal(alive(b, 0), 2);
		bed_close(b);
	}
}

/* ---- weather, schemes, peers ----------------------------------------------------------------- */

static void data__in_every_scheme_and_weather(void **state)
{
	static const struct sdr_scheme_ops *const scheme[] = {
		&sdr_scheme_sr,	   &sdr_scheme_sr_nack, &sdr_scheme_sr_rto, &sdr_scheme_ec,
		&sdr_scheme_ec_sr, &sdr_scheme_hybrid,	&sdr_scheme_auto,
	};

	(void)state;
	for (uint32_t i = 0; i < 2 * sizeof(scheme) / sizeof(scheme[0]); i++) {
		struct bed *b = sizes_new(3);

		for (uint32_t k = 0; k < 2; k++) {
			b->cfg[k].scheme = scheme[i / 2];
			b->cfg[k].max_overhead = 0.25;
			b->na[k].ecn = true;
			if (i & 1) {
				b->cfg[k].cc = &sdr_cc_auto;
				b->cfg[k].rate_bps = 0;
			}
		}
		bed_boot(b);
		for (uint32_t k = 0; k < 3; k++) {
			struct sdr_sim_link l = b->link;

			l.delay_ns = (3 + 2 * k) * MS;
			l.loss = k ? 0.002 * k : 0;
			l.dup = l.reorder = 0.005;
			l.reorder_ns = 2 * MS;
			l.mtu = k == 1 ? SMALL : k == 2 ? 4200 : WIDE;
			sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, k), 1, &l);
		}
		bed_warm(b, 0, 1);
		for (uint32_t n = 0; n < 8; n++)
			move(b, n & 1, n < 2 ? 10000 : 4 * MB);
		assert_int_equal(alive(b, 0), 3);
		assert_int_equal(alive(b, 1), 3);
		assert_int_equal(bed_stats(b, 0).paths_down, 0);
		bed_close(b);
	}
}

/* As it was: one that carries less is not used, and one that becomes so is given up. */
static void old__peers(void **state)
{
	static const uint64_t lacks[] = { SDR_FEATURE_PIECES, SDR_FEATURE_SIZES };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct bed *b = sizes_new(3);
		uint32_t mtu[] = { WIDE, SMALL, WIDE };

		bed_boot(b);
		b->node[i & 1].ep->rel->features &= ~lacks[i / 2];
		for (uint32_t k = 0; k < 3; k++) {
			struct sdr_sim_link l = b->link;

			l.mtu = mtu[k];
			sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, k), 1, &l);
		}
		bed_warm(b, 0, 1);
		for (uint32_t n = 0; n < 4; n++)
			move(b, n & 1, BIG);
		for (uint32_t k = 0; k < 2; k++) {
			assert_int_equal(alive(b, k), 2);
			assert_int_not_equal(path_of(b, k, 1)->state, SDR_PATH_ALIVE);
			assert_int_equal(path_of(b, k, 2)->pmtu.size, 0);
		}
		lane_mtu(b, 2, SMALL);
		for (uint32_t n = 0; n < 4; n++)
			move(b, n & 1, BIG);
		for (uint32_t k = 0; k < 2; k++)
			assert_int_equal(alive(b, k), 1);
		bed_close(b);
	}
}

/* An idle connection searches nothing, whatever there is to find. */
static void life__idle_has_no_timer(void **state)
{
	struct bed *b = two_open(WIDE, SMALL);
	uint64_t probes[2];

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		probes[i] = bed_stats(b, i).path_probes;
	bed_run(b, 2 * SDR_PMTU_RAISE_NS);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(bed_stats(b, i).path_probes, probes[i]);
	bed_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(size__narrow_and_wide_add_up),
		cmocka_unit_test(size__of_a_long_lane),
		cmocka_unit_test(size__of_the_first_for_all),
		cmocka_unit_test(size__of_sixteen),
		cmocka_unit_test(size__shrinks_in_mid_transfer),
		cmocka_unit_test(size__grows_again),
		cmocka_unit_test(size__follows_the_first),
		cmocka_unit_test(size__less_when_it_comes_back),
		cmocka_unit_test(packets__by_the_narrow_one),
		cmocka_unit_test(data__in_every_scheme_and_weather),
		cmocka_unit_test(old__peers),
		cmocka_unit_test(life__idle_has_no_timer),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
