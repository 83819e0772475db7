/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Path MTU discovery as a search: a model path answers the probes, so each test says what the path
 * carries, and what must be found in how many rounds.  Time is a number here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/path/sdr_pmtu.h"

#define MS    1000000ull
#define RTT   (20 * MS)
#define RTO   (30 * MS)
#define LEAST 1076u

struct path {
	uint32_t carries; /* bytes */
	uint32_t lose;	  /* bit n: the n-th probe of all is lost, whatever its size */
	uint64_t now;
	uint32_t pn, rounds, probes;
};

/* One round: probes leave, those that pass are acknowledged, the time is over.  False: rest. */
static bool go(struct sdr_pmtu *p, struct path *t)
{
	uint32_t size[SDR_PMTU_PROBES], n = sdr_pmtu_probes(p, t->now, size), first = t->pn;

	for (uint32_t i = 0; i < n; i++) {
		assert_true(size[i] > p->size && size[i] <= p->max && size[i] < p->ceil);
		assert_true(!i || size[i] > size[i - 1]);
		sdr_pmtu_sent(p, t->pn++, size[i], t->now, RTO);
	}
	for (uint32_t i = 0; i < n; i++, t->probes++)
		if (size[i] <= t->carries && !(t->probes < 32 && t->lose >> t->probes & 1))
			sdr_pmtu_acked(p, first + i, first + i, t->now + RTT);
	t->rounds += n > 0;
	if (n)
		t->now += RTO;
	return n;
}

static void search(struct sdr_pmtu *p, struct path *t)
{
	for (int i = 0; i < 100 && go(p, t); i++)
		;
	assert_true(sdr_pmtu_settled(p));
}

static void start(struct sdr_pmtu *p, uint32_t max)
{
	sdr_pmtu_init(p, LEAST, max, 0);
}

static void pmtu__relies_on_the_base_first(void **state)
{
	struct sdr_pmtu p;

	(void)state;
	start(&p, 9000);
	assert_int_equal(p.size, SDR_PMTU_BASE);
	assert_false(sdr_pmtu_settled(&p));
	assert_true(sdr_pmtu_deadline(&p) == 0);
	start(&p, 1100); /* a device that carries no more */
	assert_int_equal(p.size, 1100);
	assert_true(sdr_pmtu_settled(&p) && sdr_pmtu_deadline(&p) == UINT64_MAX);
	sdr_pmtu_init(&p, LEAST, 0, 0);
	assert_int_equal(p.size, 0);
	assert_true(sdr_pmtu_deadline(&p) == UINT64_MAX);
	assert_false(sdr_pmtu_arrived(&p, 5000, SDR_PMTU_BY_HELLO, 0));
	assert_false(sdr_pmtu_limit(&p, 5000, SDR_PMTU_BY_ROUTE, 0));
	assert_false(sdr_pmtu_lost(&p, 100, 5000, 0, RTT, RTT));
}

/* The whole device's size arrived with the handshake: nothing is probed. */
static void pmtu__full_size_needs_no_search(void **state)
{
	struct sdr_pmtu p;
	uint32_t size[SDR_PMTU_PROBES];

	(void)state;
	start(&p, 9000);
	assert_true(sdr_pmtu_arrived(&p, 9000, SDR_PMTU_BY_HELLO, 5));
	assert_int_equal(p.size, 9000);
	assert_int_equal(sdr_pmtu_probes(&p, 10, size), 0);
	assert_true(sdr_pmtu_deadline(&p) == UINT64_MAX);
}

/* Every path from the base to the device's size is found, to the grain, and never too much. */
static void pmtu__finds_what_every_path_carries(void **state)
{
	static const uint32_t max[] = { 1500, 4160, 9000, 65535 };
	struct sdr_pmtu p;

	(void)state;
	for (uint32_t m = 0; m < 4; m++) {
		for (uint32_t c = SDR_PMTU_BASE; c <= max[m]; c += c < 1600 ? 1 : 97) {
			struct path t = { .carries = c };

			start(&p, max[m]);
			search(&p, &t);
			assert_true(p.size <= c && c - p.size < SDR_PMTU_GRAIN);
			assert_true(c < max[m] || p.size == max[m]);
			assert_true(t.rounds <= 48);
		}
	}
}

/* Usual sizes are known after one round trip. */
static void pmtu__usual_sizes_take_one_round(void **state)
{
	static const uint32_t usual[] = { 1280, 1400, 1450, 1500, 9000 };
	struct sdr_pmtu p;

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		struct path t = { .carries = usual[i] };

		start(&p, 9000);
		go(&p, &t);
		assert_int_equal(p.size, usual[i]);
	}
	for (uint32_t c = SDR_PMTU_BASE; c < 1500; c++) { /* others to 10 % */
		struct path t = { .carries = c };

		start(&p, 9000);
		go(&p, &t);
		assert_true(p.size * 10 >= c * 9);
	}
}

/* Lost probes cost rounds, not bytes: any two of the first twelve. */
static void pmtu__lost_probes_hide_nothing(void **state)
{
	struct sdr_pmtu p;

	(void)state;
	for (uint32_t a = 0; a < 12; a++) {
		for (uint32_t b = 0; b < 12; b++) {
			struct path t = { .carries = 1420, .lose = 1u << a | 1u << b };

			start(&p, 9000);
			search(&p, &t);
			assert_true(p.size <= 1420 && 1420 - p.size < SDR_PMTU_GRAIN);
		}
	}
}

/* What this host says holds at once, down; up it is a bound, and tried. */
static void pmtu__host_is_believed(void **state)
{
	struct path t = { .carries = 1420 };
	struct sdr_pmtu p;

	(void)state;
	start(&p, 9000);
	sdr_pmtu_arrived(&p, 9000, SDR_PMTU_BY_HELLO, 0);
	assert_true(sdr_pmtu_limit(&p, 1420, SDR_PMTU_BY_ROUTE, 0));
	assert_int_equal(p.size, 1420);
	assert_int_equal(p.how, SDR_PMTU_BY_ROUTE);
	assert_false(sdr_pmtu_limit(&p, 1420, SDR_PMTU_BY_ROUTE, 0)); /* it repeats itself */
	assert_true(sdr_pmtu_settled(&p));
	/* a lie */
	assert_true(sdr_pmtu_limit(&p, 68, SDR_PMTU_BY_ROUTE, 0));
	assert_int_equal(p.size, LEAST);
	/* known before anything arrived: found exactly, in one round */
	start(&p, 9000);
	assert_false(sdr_pmtu_limit(&p, 1420, SDR_PMTU_BY_ROUTE, 0));
	go(&p, &t);
	assert_int_equal(p.size, 1420);
	assert_true(sdr_pmtu_settled(&p));
}

static void pmtu__peer_bounds_all(void **state)
{
	struct path t = { .carries = 9000 };
	struct sdr_pmtu p;

	(void)state;
	start(&p, 9000);
	sdr_pmtu_limit(&p, 4124, SDR_PMTU_BY_PEER, 0);
	search(&p, &t);
	assert_int_equal(p.size, 4124);
	assert_int_equal(p.max, 4124);
	assert_true(sdr_pmtu_deadline(&p) == UINT64_MAX);
}

/* Large ones die, a small one that was sent later lives. */
static void pmtu__black_hole(void **state)
{
	struct path t = { .carries = 1420, .now = 1000 * MS };
	struct sdr_pmtu p;

	(void)state;
	start(&p, 1500);
	sdr_pmtu_arrived(&p, 1500, SDR_PMTU_BY_HELLO, 0);
	/* all die: no path at all */
	assert_false(sdr_pmtu_lost(&p, 20, 1500, 900 * MS, RTT, t.now));
	assert_false(sdr_pmtu_lost(&p, 20, 1500, 950 * MS, RTT, t.now));
	/* small ones sent before say nothing */
	sdr_pmtu_passed(&p, 300, 899 * MS);
	assert_false(sdr_pmtu_lost(&p, 1, 1500, 960 * MS, RTT, t.now));
	sdr_pmtu_passed(&p, 300, 901 * MS);
	/* small ones that are lost do not count */
	assert_false(sdr_pmtu_lost(&p, 9, 300, 970 * MS, RTT, t.now));
	assert_true(sdr_pmtu_lost(&p, 1, 1500, 970 * MS, RTT, t.now));
	assert_int_equal(p.size, SDR_PMTU_BASE);
	assert_int_equal(p.how, SDR_PMTU_BY_HOLE);
	go(&p, &t);
	assert_int_equal(p.size, 1400);
	search(&p, &t);
	assert_true(p.size > 1396 && p.size <= 1420);
}

static void pmtu__losses_are_no_black_hole(void **state)
{
	struct sdr_pmtu p;

	(void)state;
	start(&p, 1500);
	sdr_pmtu_arrived(&p, 1500, SDR_PMTU_BY_HELLO, 0);
	/* one burst within a round trip */
	assert_false(sdr_pmtu_lost(&p, 1000, 1500, 100 * MS, RTT, 200 * MS));
	sdr_pmtu_passed(&p, 300, 110 * MS);
	assert_false(sdr_pmtu_lost(&p, 1000, 1500, 119 * MS, RTT, 200 * MS));
	/* a large one lives: all is forgotten */
	sdr_pmtu_passed(&p, 1500, 90 * MS);
	assert_false(sdr_pmtu_lost(&p, 2, 1500, 150 * MS, RTT, 200 * MS));
	sdr_pmtu_passed(&p, 300, 160 * MS);
	assert_false(sdr_pmtu_lost(&p, 1, 1500, 169 * MS, RTT, 200 * MS));
	assert_int_equal(p.size, 1500);
}

/* Three lost in a row come to pass where one in a hundred is lost; more where half of them are. */
static void pmtu__weather_is_no_black_hole(void **state)
{
	static const struct {
		double loss;
		uint32_t enough;
	} rows[] = { { 0, 3 }, { 1e-3, 3 }, { 1e-2, 5 }, { 0.05, 7 }, { 0.5, 16 }, { 1, 16 } };
	struct sdr_pmtu_hole h;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(&h, 0, sizeof(h));
		sdr_pmtu_hole_weather(&h, rows[i].loss);
		assert_false(sdr_pmtu_hole_lost(&h, 1, 1500, 100 * MS, RTT));
		sdr_pmtu_hole_passed(&h, 300, 110 * MS);
		for (uint32_t n = 2; n < rows[i].enough; n++)
			assert_false(sdr_pmtu_hole_lost(&h, 1, 1500, 500 * MS, RTT));
		assert_true(sdr_pmtu_hole_lost(&h, 1, 1500, 500 * MS, RTT));
	}
}

/* A path below the base: found by the hole in it; below the least there is nothing. */
static void pmtu__hole_below_the_base(void **state)
{
	struct sdr_pmtu p;

	(void)state;
	start(&p, 1500);
	sdr_pmtu_lost(&p, 3, SDR_PMTU_BASE, 100 * MS, RTT, 200 * MS);
	sdr_pmtu_passed(&p, 300, 150 * MS);
	assert_true(sdr_pmtu_lost(&p, 1, SDR_PMTU_BASE, 150 * MS, RTT, 200 * MS));
	assert_int_equal(p.size, LEAST);
	assert_false(sdr_pmtu_lost(&p, 9, LEAST, 500 * MS, RTT, 600 * MS));
}

/* The size in force is far above, but only packets below the base are sent, and die. */
static void pmtu__hole_below_the_base_from_above(void **state)
{
	struct sdr_pmtu p;

	(void)state;
	start(&p, 9000);
	sdr_pmtu_arrived(&p, 9000, SDR_PMTU_BY_HELLO, 0);
	sdr_pmtu_lost(&p, 2, SDR_PMTU_BASE - 10, 100 * MS, RTT, 200 * MS);
	sdr_pmtu_passed(&p, 300, 150 * MS);
	/* a smaller one than before: that 300 live was known, that these do not is new */
	assert_false(sdr_pmtu_lost(&p, 1, SDR_PMTU_BASE - 20, 160 * MS, RTT, 200 * MS));
	sdr_pmtu_passed(&p, 300, 170 * MS);
	assert_true(sdr_pmtu_lost(&p, 1, SDR_PMTU_BASE - 10, 170 * MS, RTT, 200 * MS));
	assert_int_equal(p.size, LEAST);
	assert_int_equal(p.how, SDR_PMTU_BY_HOLE);
}

/* A middle size that lives says that smaller ones do, and ends no row of larger ones. */
static void pmtu__hole_above_a_middle_size(void **state)
{
	struct sdr_pmtu p;

	(void)state;
	start(&p, 9000);
	sdr_pmtu_arrived(&p, 9000, SDR_PMTU_BY_HELLO, 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_false(sdr_pmtu_lost(&p, 1, 9000, (100 + i) * MS, RTT, 200 * MS));
		sdr_pmtu_passed(&p, 1400, (101 + i) * MS);
	}
	assert_true(sdr_pmtu_lost(&p, 1, 9000, 150 * MS, RTT, 200 * MS));
	assert_int_equal(p.size, SDR_PMTU_BASE);
}

/* After a long time larger sizes are tried again; a path that grew is found. */
static void pmtu__looks_up_again(void **state)
{
	struct path t = { .carries = 1420 };
	struct sdr_pmtu p;
	uint32_t rounds;

	(void)state;
	start(&p, 9000);
	search(&p, &t);
	rounds = t.rounds;
	assert_true(sdr_pmtu_deadline(&p) <= t.now + SDR_PMTU_RAISE_NS);
	assert_false(go(&p, &t));
	t.now += SDR_PMTU_RAISE_NS;
	t.carries = 9000;
	search(&p, &t);
	assert_int_equal(p.size, 9000);
	assert_true(t.rounds <= rounds + 2);
}

static void pmtu__starts_anew_on_another_path(void **state)
{
	struct sdr_pmtu p;

	(void)state;
	start(&p, 9000);
	sdr_pmtu_arrived(&p, 9000, SDR_PMTU_BY_HELLO, 0);
	assert_true(sdr_pmtu_restart(&p, 7));
	assert_int_equal(p.size, SDR_PMTU_BASE);
	assert_true(!sdr_pmtu_settled(&p) && sdr_pmtu_deadline(&p) == 7);
}

/* Acknowledged numbers are compared modulo 2^32, and each probe counts once. */
/* What is of use has an end, which moves: nothing beyond it is in force, or looked for. */
static void pmtu__no_further_than_is_of_use(void **state)
{
	static const uint32_t carries[] = { 1300, 1500, 5000, 9000 };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct path t = { .carries = carries[i] };
		struct sdr_pmtu p;

		start(&p, 1400);
		search(&p, &t);
		assert_in_range(p.size, (t.carries < 1400 ? t.carries : 1400) - SDR_PMTU_GRAIN,
				1400);
		assert_false(sdr_pmtu_reach(&p, 1400, t.now));
		/* further: it goes on from what it knows */
		assert_false(sdr_pmtu_reach(&p, 9000, t.now));
		search(&p, &t);
		assert_in_range(p.size, t.carries - SDR_PMTU_GRAIN, t.carries);
		t.probes = 0;
		/* less: at once, and nothing is left to find */
		assert_true(sdr_pmtu_reach(&p, 1280, t.now));
		assert_int_equal(p.size, 1280);
		search(&p, &t);
		assert_int_equal(t.probes, 0);
		assert_true(sdr_pmtu_deadline(&p) == UINT64_MAX);
		assert_true(sdr_pmtu_reach(&p, 10, t.now));
		assert_int_equal(p.size, LEAST);
		assert_false(sdr_pmtu_reach(&p, 4000, t.now));
		search(&p, &t);
		assert_in_range(p.size, (t.carries < 4000 ? t.carries : 4000) - SDR_PMTU_GRAIN,
				4000);
	}
}

static void pmtu__begins_at_what_is_known(void **state)
{
	struct path t = { .carries = 1150 };
	struct sdr_pmtu p;

	(void)state;
	start(&p, 9000);
	assert_true(sdr_pmtu_begin(&p, 1100, t.now));
	assert_int_equal(p.size, 1100);
	search(&p, &t);
	assert_in_range(p.size, 1150 - SDR_PMTU_GRAIN, 1150);
	assert_true(sdr_pmtu_begin(&p, 20000, t.now));
	assert_int_equal(p.size, 9000);
	assert_true(sdr_pmtu_begin(&p, 1, t.now));
	assert_int_equal(p.size, LEAST);
	sdr_pmtu_init(&p, LEAST, 0, 0);
	assert_false(sdr_pmtu_begin(&p, 1500, t.now) || sdr_pmtu_reach(&p, 1500, t.now));
}

static void pmtu__numbers_wrap(void **state)
{
	struct sdr_pmtu p;

	(void)state;
	start(&p, 9000);
	sdr_pmtu_sent(&p, UINT32_MAX, 1400, 0, RTO);
	sdr_pmtu_sent(&p, 0, 1500, 0, RTO);
	sdr_pmtu_sent(&p, 1, 9000, 0, RTO);
	assert_false(sdr_pmtu_acked(&p, 2, 100, RTT));
	assert_true(sdr_pmtu_acked(&p, UINT32_MAX - 5, 0, RTT));
	assert_int_equal(p.size, 1500);
	assert_false(sdr_pmtu_acked(&p, UINT32_MAX - 5, 0, RTT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pmtu__relies_on_the_base_first),
		cmocka_unit_test(pmtu__full_size_needs_no_search),
		cmocka_unit_test(pmtu__finds_what_every_path_carries),
		cmocka_unit_test(pmtu__usual_sizes_take_one_round),
		cmocka_unit_test(pmtu__lost_probes_hide_nothing),
		cmocka_unit_test(pmtu__host_is_believed),
		cmocka_unit_test(pmtu__peer_bounds_all),
		cmocka_unit_test(pmtu__black_hole),
		cmocka_unit_test(pmtu__losses_are_no_black_hole),
		cmocka_unit_test(pmtu__weather_is_no_black_hole),
		cmocka_unit_test(pmtu__hole_below_the_base),
		cmocka_unit_test(pmtu__hole_below_the_base_from_above),
		cmocka_unit_test(pmtu__hole_above_a_middle_size),
		cmocka_unit_test(pmtu__looks_up_again),
		cmocka_unit_test(pmtu__starts_anew_on_another_path),
		cmocka_unit_test(pmtu__no_further_than_is_of_use),
		cmocka_unit_test(pmtu__begins_at_what_is_known),
		cmocka_unit_test(pmtu__numbers_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
