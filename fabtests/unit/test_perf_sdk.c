/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The points of sdr_perf --sdk: what options and sweeps become, and what is refused with which
 * words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/perf/sdk_points.h"
#include "tools/perf/sdr_perf_say.h"

static struct sdk_point at[SDK_POINTS_MAX];
static char why[PERF_WHY];

/* Options of 16 messages of 64 KiB in flight. */
static struct perf_opt options(void)
{
	struct perf_opt opt = { .plan = { .size_min = 65536, .size_max = 65536, .in_flight = 16 } };

	why[0] = 0;
	return opt;
}

static void points__one(void **state)
{
	struct perf_opt opt = options();

	(void)state;
	assert_int_equal(sdk_points(&opt, at, why), 1);
	assert_int_equal(at[0].size, 65536);
	assert_int_equal(at[0].mtu, 0);
	assert_int_equal(at[0].chunk + at[0].chunk_pkts + at[0].workers, 0);
	assert_int_equal(at[0].channels, 1);
	assert_int_equal(at[0].in_flight, 16);
	opt.setting[PERF_MTU] = "1k";
	opt.setting[PERF_CHUNK] = "16p";
	opt.setting[PERF_CHANNELS] = "16";
	opt.sdk.workers = "0";
	assert_int_equal(sdk_points(&opt, at, why), 1);
	assert_int_equal(at[0].mtu, 1024);
	assert_int_equal(at[0].chunk, 0);
	assert_int_equal(at[0].chunk_pkts, 16);
	assert_int_equal(at[0].channels, 16);
}

static void points__all_sizes(void **state)
{
	struct perf_opt opt = options();

	(void)state;
	opt.plan.size_min = PERF_ALL_MIN;
	opt.plan.size_max = PERF_ALL_MAX;
	assert_int_equal(sdk_points(&opt, at, why), 23);
	assert_int_equal(at[0].size, 2);
	assert_int_equal(at[22].size, 8 << 20);
}

static void points__sweeps(void **state)
{
	struct perf_opt opt = options();

	(void)state;
	opt.sdk.sweep = "chunk";
	assert_int_equal(sdk_points(&opt, at, why), 7);
	assert_int_equal(at[6].chunk_pkts, 64);
	opt.sdk.sweep = "chunk=4k,3p,1M";
	opt.setting[PERF_CHUNK] = "8p";
	assert_int_equal(sdk_points(&opt, at, why), 3);
	assert_int_equal(at[0].chunk, 4096);
	assert_int_equal(at[0].chunk_pkts, 0);
	assert_int_equal(at[1].chunk, 0);
	assert_int_equal(at[1].chunk_pkts, 3);
	assert_int_equal(at[2].chunk, 1 << 20);
	opt.sdk.sweep = "in-flight=1,256";
	opt.setting[PERF_CHUNK] = NULL;
	assert_int_equal(sdk_points(&opt, at, why), 2);
	assert_int_equal(at[1].in_flight, 256);
	assert_int_equal(at[1].size, 65536);
	opt.sdk.sweep = "mtu";
	assert_int_equal(sdk_points(&opt, at, why), 8);
	assert_int_equal(at[0].mtu, 64);
	assert_int_equal(at[7].mtu, 0);
}

static void points__refused(void **state)
{
	static const struct {
		const char *sweep, *mtu, *chunk, *workers, *says;
	} row[] = {
		{ "colour", NULL, NULL, NULL, "\"colour\" is not one of size, chunk" },
		{ "size=", NULL, NULL, NULL, "is not a list" },
		{ "size=1,,2", NULL, NULL, NULL, "is not a list" },
		{ "size=1,2,", NULL, NULL, NULL, "is not a list" },
		{ "size=4p", NULL, NULL, NULL, "\"4p\" is not a number" },
		{ "size=-4", NULL, NULL, NULL, "\"-4\" is not a number" },
		{ "size=4kb", NULL, NULL, NULL, "\"4kb\" is not a number" },
		{ "size=0", NULL, NULL, NULL, "0 is out of range (1 to 1073741824)" },
		{ "size=99999999999999999999", NULL, NULL, NULL, "is not a number" },
		{ "size=18446744073709551615g", NULL, NULL, NULL, "out of range" },
		{ "size=128m", NULL, NULL, NULL, "16 messages of 134217728 bytes in flight" },
		{ "channels=17", NULL, NULL, NULL, "17 is out of range (1 to 16)" },
		{ NULL, "60", NULL, NULL, "neither 0 nor a multiple of 4 from 64" },
		{ NULL, "1002", NULL, NULL, "neither 0 nor a multiple of 4 from 64" },
		{ NULL, "1024", "5000", NULL, "no multiple of packets of 1024; in packets: 4p" },
		{ NULL, NULL, "0", NULL, "0 is out of range" },
		{ NULL, NULL, NULL, "17", "17 is out of range" },
	};
	struct perf_opt opt;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		opt = options();
		opt.sdk.sweep = row[i].sweep;
		opt.setting[PERF_MTU] = row[i].mtu;
		opt.setting[PERF_CHUNK] = row[i].chunk;
		opt.sdk.workers = row[i].workers;
		assert_int_equal(sdk_points(&opt, at, why), -1);
		if (!strstr(why, row[i].says))
			fail_msg("\"%s\" does not say \"%s\"", why, row[i].says);
	}
}

/* No more points than there is room for. */
static void points__many(void **state)
{
	struct perf_opt opt = options();
	char text[512] = "size=1";
	unsigned int i;

	(void)state;
	for (i = 1; i < SDK_POINTS_MAX; i++)
		strcat(text, ",1");
	opt.sdk.sweep = text;
	assert_int_equal(sdk_points(&opt, at, why), SDK_POINTS_MAX);
	strcat(text, ",1");
	assert_int_equal(sdk_points(&opt, at, why), -1);
	assert_non_null(strstr(why, "more than 64 values"));
}

/* Offsets reach over all packets, IDs over all messages in flight; 32 bits in all. */
static void split__fits(void **state)
{
	uint8_t b[3];

	(void)state;
	assert_int_equal(sdk_point_split(1, 256, b), 0);
	assert_int_equal(b[0] * 10000 + b[1] * 100 + b[2], 101804);
	assert_int_equal(sdk_point_split(1 << 18, 16, b), 0);
	assert_int_equal(b[1], 18);
	assert_int_equal(sdk_point_split((1 << 18) + 1, 256, b), 0);
	assert_int_equal(b[0] * 10000 + b[1] * 100 + b[2], 82202);
	assert_int_equal(sdk_point_split(1 << 24, 1, b), 0);
	assert_int_equal(b[0] + b[1] + b[2], 32);
	assert_int_equal(sdk_point_split(1 << 24, 65, b), -1);
	assert_int_equal(sdk_point_split(1ull << 32, 1, b), -1);
}

/* What a peer says of a run is not trusted. */
static void check__nonsense(void **state)
{
	const struct sdk_point good = { .size = 1, .channels = 1, .in_flight = 1 };
	struct sdk_point p = good;

	(void)state;
	assert_int_equal(sdk_point_check(&p, why), 0);
	p.in_flight = 0;
	assert_int_equal(sdk_point_check(&p, why), -1);
	p = good;
	p.in_flight = PERF_SLOTS_MAX + 1;
	assert_int_equal(sdk_point_check(&p, why), -1);
	p = good;
	p.size = 0;
	assert_int_equal(sdk_point_check(&p, why), -1);
	p.size = UINT64_MAX;
	assert_int_equal(sdk_point_check(&p, why), -1);
	p = good;
	p.channels = 0;
	assert_int_equal(sdk_point_check(&p, why), -1);
	p.channels = 1u << 31;
	assert_int_equal(sdk_point_check(&p, why), -1);
	p = good;
	p.chunk_pkts = UINT32_MAX;
	assert_int_equal(sdk_point_check(&p, why), -1);
	p = good;
	p.mtu = 1;
	assert_int_equal(sdk_point_check(&p, why), -1);
	p = good;
	p.workers = SDK_WORKERS_MAX + 1;
	assert_int_equal(sdk_point_check(&p, why), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points__one),	   cmocka_unit_test(points__all_sizes),
		cmocka_unit_test(points__sweeps),  cmocka_unit_test(points__refused),
		cmocka_unit_test(points__many),	   cmocka_unit_test(split__fits),
		cmocka_unit_test(check__nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
