/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The text of a fault specification: what it means, and that everything else is refused by name. */
#include "test_fault_util.h"

static void spec__all_of_it(void **state)
{
	struct sdr_fault_spec s;

	(void)state;
	assert_int_equal(sdr_fault_parse("drop=1e-3,burst=8,dup=1e-4,reorder=0.001,corrupt=.0001,"
					 "delay=12.5ms,jitter=250us,"
					 "rate=1gbit,queue=4m,blackout=2s+10s,seed=7",
					 &s, NULL, 0),
			 0);
	assert_true(s.drop == 1e-3);
	assert_true(s.burst == 8);
	assert_true(s.dup == 1e-4);
	assert_true(s.reorder == 1e-3);
	assert_true(s.corrupt == 1e-4);
	assert_int_equal(s.delay_ns, 12500000);
	assert_int_equal(s.jitter_ns, 250000);
	assert_int_equal(s.rate_bps, 1000000000);
	assert_int_equal(s.queue_bytes, 4 << 20);
	assert_int_equal(s.blackout_ns, 2000000000);
	assert_int_equal(s.blackout_len_ns, 10000000000);
	assert_true(s.has_seed);
	assert_int_equal(s.seed, 7);
}

static void spec__units(void **state)
{
	struct sdr_fault_spec s;

	(void)state;
	assert_int_equal(sdr_fault_parse("delay=1s,rate=2.5mbit,queue=100k", &s, NULL, 0), 0);
	assert_int_equal(s.delay_ns, 1000000000);
	assert_int_equal(s.rate_bps, 2500000);
	assert_int_equal(s.queue_bytes, 102400);
	assert_int_equal(sdr_fault_parse("delay=0,rate=800,queue=12,blackout=0+1ms", &s, NULL, 0),
			 0);
	assert_int_equal(s.delay_ns, 0);
	assert_int_equal(s.rate_bps, 800);
	assert_int_equal(s.queue_bytes, 12);
	assert_int_equal(s.blackout_ns, 0);
	assert_int_equal(s.blackout_len_ns, 1000000);
	assert_int_equal(
		sdr_fault_parse("seed=0xffffffffffffffff,rate=10Gbit,delay=3us,jitter=500ns", &s,
				NULL, 0),
		0);
	assert_true(s.seed == UINT64_MAX);
	assert_int_equal(s.rate_bps, 10000000000);
	assert_int_equal(s.jitter_ns, 500);
	assert_int_equal(sdr_fault_parse("", &s, NULL, 0), 0);
	assert_int_equal(sdr_fault_parse(NULL, &s, NULL, 0), 0);
	assert_false(s.has_seed);
	assert_int_equal(sdr_fault_parse("drop=1", &s, NULL, 0), 0);
	assert_int_equal(sdr_fault_parse("drop=1,burst=5", &s, NULL, 0), 0);
}

static void spec__refused_by_name(void **state)
{
	static const char *const bad[][2] = {
		{ "drp=1", "drp=1" },
		{ "drop", "drop" },
		{ "drop=", "drop=" },
		{ "drop=x", "drop=x" },
		{ "drop=-1", "drop=-1" },
		{ "drop=1.1", "drop=1.1" },
		{ "drop=1e-3x", "drop=1e-3x" },
		{ "drop=0.1,", "expected key=value" },
		{ ",", "expected key=value" },
		{ "drop=.", "drop=." },
		{ "burst=0.5", "burst=0.5" },
		{ "delay=12", "delay=12" },
		{ "delay=12m", "delay=12m" },
		{ "delay=ms", "delay=ms" },
		{ "delay=1e9s", "delay=1e9s" },
		{ "delay=1ms+1ms", "delay=1ms+1ms" },
		{ "rate=1g", "rate=1g" },
		{ "rate=1e20", "rate=1e20" },
		{ "queue=1t", "queue=1t" },
		{ "blackout=2s", "blackout=2s" },
		{ "blackout=2+3s", "blackout=2+3s" },
		{ "blackout=+", "blackout=+" },
		{ "seed=abc", "seed=abc" },
		{ "seed=18446744073709551616", "seed=18446744073709551616" },
		{ "seed=", "seed=" },
		{ "drop=0.1,delay=5", "delay=5" },
		{ "drop=0.9,burst=2", "burst=2" },
		{ "drop=1e-3 ,dup=0", "drop=1e-3 " },
		{ "drop=nan", "drop=nan" },
		{ "drop=1e", "drop=1e" },
		{ "drop=000000000000000000000000000000000000000000000000000000000000000000000001",
		  "drop=0000" },
	};
	struct sdr_fault_spec s;
	char err[160], tiny[8];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err[0] = 0;
		if (sdr_fault_parse(bad[i][0], &s, err, sizeof(err)) != -EINVAL)
			fail_msg("\"%s\" was not refused", bad[i][0]);
		if (!strstr(err, bad[i][1]) || !strstr(err, "expected"))
			fail_msg("\"%s\": \"%s\"", bad[i][0], err);
	}
	assert_int_equal(sdr_fault_parse("drop=2", &s, tiny, sizeof(tiny)), -EINVAL);
	assert_int_equal(strlen(tiny), sizeof(tiny) - 1);
	assert_int_equal(sdr_fault_parse("drop=2", &s, NULL, 0), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spec__all_of_it),
		cmocka_unit_test(spec__units),
		cmocka_unit_test(spec__refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
