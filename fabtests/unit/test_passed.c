/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What a path has passed of a burst: never more than it passes, whatever was there before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/path/sdr_passed.h"

#define MS   1000000ull
#define S    1000000000ull
#define RTT  (100 * MS)
#define PKT  8192u
#define LINE 1250000000ull /* bytes per second */

struct path {
	struct sdr_passed p;
	uint64_t delivered;
};

/* A burst of n packets at once; what the last of them says, when the line has passed them. */
static uint64_t burst(struct path *path, uint64_t now, uint32_t n, uint64_t inflight)
{
	uint64_t slot = PKT * S / LINE, said = 0, bps;

	for (uint32_t i = 0; i < n; i++)
		sdr_passed_sent(&path->p, now, PKT, path->delivered, inflight + i * PKT, !i);
	path->delivered += inflight;
	for (uint32_t i = 0; i < n; i++) {
		path->delivered += PKT;
		bps = sdr_passed_acked(&path->p, now, i * slot, path->delivered, PKT);
		assert_true(bps <= LINE);
		said = bps > said ? bps : said;
	}
	return said;
}

static void passed__says_nothing_of_one_packet(void **state)
{
	struct path path = { 0 };

	(void)state;
	assert_int_equal(burst(&path, RTT, 1, 0), 0);
	assert_int_equal(burst(&path, 2 * RTT, 1, 0), 0);
}

/* The longer it is, the more of the line; two packets already say more than a round trip would. */
static void passed__more_by_longer_bursts(void **state)
{
	struct path path = { 0 };
	uint64_t last = 0, bps;

	(void)state;
	for (uint32_t n = 2; n <= 1024; n *= 2) {
		bps = burst(&path, n * RTT, n, 0);
		assert_true(bps > last);
		last = bps;
	}
	assert_in_range(last, LINE / 100 * 99, LINE);
}

/* What was in flight is of the burst before: it neither delays the begin nor counts. */
static void passed__of_a_burst_behind_something_else(void **state)
{
	struct path clean = { 0 }, path = { 0 };
	uint64_t alone = burst(&clean, RTT, 64, 0);

	(void)state;
	burst(&path, RTT, 64, 0);
	assert_int_equal(burst(&path, 2 * RTT, 64, 70), alone);
	assert_int_equal(burst(&path, 3 * RTT, 64, 5 * PKT), alone);
	/* and where it never arrives, as much less of the burst does count */
	path.delivered -= 5 * PKT;
	assert_true(burst(&path, 4 * RTT, 64, 0) == alone);
}

static void passed__less_where_hosts_are_late(void **state)
{
	struct path path = { 0 };
	uint64_t in_time, late;

	(void)state;
	in_time = burst(&path, RTT, 64, 0);
	late = sdr_passed_acked(&path.p, RTT, MS, path.delivered, PKT);
	assert_in_range(late, 1, in_time - 1);
}

/* Packets that left before it began say nothing of it. */
static void passed__of_its_own_packets(void **state)
{
	struct path path = { 0 };

	(void)state;
	burst(&path, RTT, 64, 0);
	sdr_passed_sent(&path.p, 2 * RTT, PKT, path.delivered, PKT, true);
	assert_int_equal(path.p.begun_ns, 2 * RTT);
	path.delivered += 64 * PKT;
	assert_int_equal(sdr_passed_acked(&path.p, RTT, 0, path.delivered, PKT), 0);
	assert_true(sdr_passed_acked(&path.p, 2 * RTT, 0, path.delivered, PKT) > 0);
}

/* What is sent again while most of a burst is on its way, or is part of it, begins none. */
static void passed__goes_on_over_repairs(void **state)
{
	struct sdr_passed p = { 0 };
	uint32_t i;

	(void)state;
	for (i = 0; i < 64; i++)
		sdr_passed_sent(&p, RTT, PKT, 0, i * PKT, !i);
	sdr_passed_sent(&p, 2 * RTT, PKT, 16 * PKT, 48 * PKT, true);
	assert_int_equal(p.begun_ns, RTT);
	sdr_passed_sent(&p, 2 * RTT, PKT, 60 * PKT, 5 * PKT, false);
	assert_int_equal(p.begun_ns, RTT);
	sdr_passed_sent(&p, 2 * RTT, PKT, 60 * PKT, 6 * PKT, true);
	assert_int_equal(p.begun_ns, 2 * RTT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passed__says_nothing_of_one_packet),
		cmocka_unit_test(passed__more_by_longer_bursts),
		cmocka_unit_test(passed__of_a_burst_behind_something_else),
		cmocka_unit_test(passed__less_where_hosts_are_late),
		cmocka_unit_test(passed__of_its_own_packets),
		cmocka_unit_test(passed__goes_on_over_repairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
