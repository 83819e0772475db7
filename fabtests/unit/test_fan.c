/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Connections that send at the same time: who is counted, and what they begin with in the mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rel/path/sdr_fan.h"

#define MANY (2 * SDR_FAN_MAX)

static void open_all(struct sdr_fan *f, struct sdr_fan_member m[MANY])
{
	sdr_fan_init(f);
	for (uint32_t i = 0; i < MANY; i++)
		sdr_fan_member_init(&m[i]);
}

static void fan__counts_those_of_late(void **state)
{
	struct sdr_fan_member m[MANY];
	struct sdr_fan f;
	uint32_t win;

	(void)state;
	open_all(&f, m);
	/* one that was never seen is there all the same */
	assert_int_equal(sdr_fan_count(&f, &m[0], 0, &win), 1);
	assert_int_equal(win, 0);
	for (uint32_t i = 0; i < 10; i++)
		sdr_fan_seen(&f, &m[i], 7, 100 + i);
	assert_int_equal(sdr_fan_count(&f, &m[3], 100, &win), 10);
	assert_int_equal(sdr_fan_count(&f, &m[9], 105, &win), 5);
	assert_int_equal(sdr_fan_count(&f, &m[0], 105, &win), 6); /* and itself */
	assert_int_equal(sdr_fan_count(&f, &m[0], 110, &win), 1);
	/* seen again, and none twice */
	sdr_fan_seen(&f, &m[0], 7, 120);
	sdr_fan_seen(&f, &m[0], 7, 120);
	assert_int_equal(sdr_fan_count(&f, &m[1], 109, &win), 3);
	sdr_fan_leave(&m[9]);
	sdr_fan_leave(&m[9]);
	assert_int_equal(sdr_fan_count(&f, &m[1], 109, &win), 2);
}

static void fan__counts_its_network_alone(void **state)
{
	struct sdr_fan_member m[MANY];
	struct sdr_fan f;
	uint32_t win;

	(void)state;
	open_all(&f, m);
	for (uint32_t i = 0; i < 12; i++) {
		sdr_fan_seen(&f, &m[i], i % 3, 100);
		m[i].win = 1000 * (i % 3 + 1);
	}
	for (uint32_t i = 0; i < 12; i++) {
		assert_int_equal(sdr_fan_count(&f, &m[i], 100, &win), 4);
		assert_int_equal(win, 1000 * (i % 3 + 1));
	}
}

/* Of those that are known. */
static void fan__means(void **state)
{
	struct sdr_fan_member m[MANY];
	struct sdr_fan f;
	uint32_t win;

	(void)state;
	open_all(&f, m);
	for (uint32_t i = 0; i < 4; i++)
		sdr_fan_seen(&f, &m[i], 1, 100);
	m[0].win = 100;
	m[2].win = 500;
	assert_int_equal(sdr_fan_count(&f, &m[1], 0, &win), 4);
	assert_int_equal(win, 300);
	assert_int_equal(sdr_fan_count(&f, &m[0], 101, &win), 1);
	assert_int_equal(win, 100);
	for (uint32_t i = 0; i < 4; i++)
		m[i].win = UINT32_MAX;
	sdr_fan_count(&f, &m[1], 0, &win);
	assert_int_equal(win, UINT32_MAX);
}

static void fan__is_bounded(void **state)
{
	struct sdr_fan_member m[MANY];
	struct sdr_fan f;
	uint32_t win;

	(void)state;
	open_all(&f, m);
	for (uint32_t i = 0; i < MANY; i++)
		sdr_fan_seen(&f, &m[i], 1, 100);
	assert_int_equal(sdr_fan_count(&f, &m[0], 0, &win), SDR_FAN_MAX);
}

/*
 * Windows that differ by eight, and each side's means, exchange after exchange: all have the same,
 * as many as before.
 */
static void fan__makes_equal(void **state)
{
	enum { RANKS = 4 };
	struct sdr_fan out[RANKS], in[RANKS];
	struct sdr_fan_member from[RANKS][RANKS], to[RANKS][RANKS];
	uint32_t win[RANKS][RANKS], i, k, sum = 0, after = 0;

	(void)state;
	for (i = 0; i < RANKS; i++) {
		sdr_fan_init(&out[i]);
		sdr_fan_init(&in[i]);
		for (k = 0; k < RANKS; k++) {
			sdr_fan_member_init(&from[i][k]);
			sdr_fan_member_init(&to[k][i]);
			win[i][k] = 80000 + 35000 * ((7 * i + 3 * k) % 16);
			sum += win[i][k];
		}
	}
	for (uint32_t n = 0; n < 2; n++) {
		for (i = 0; i < RANKS; i++) {
			for (k = 0; k < RANKS; k++) {
				sdr_fan_seen(&out[i], &from[i][k], 1, n);
				sdr_fan_seen(&in[k], &to[k][i], 1, n);
				to[k][i].win = win[i][k];
			}
		}
		for (i = 0; i < RANKS; i++)
			for (k = 0; k < RANKS; k++)
				sdr_fan_count(&in[k], &to[k][i], n, &from[i][k].win);
		for (i = 0; i < RANKS; i++)
			for (k = 0; k < RANKS; k++)
				assert_int_equal(sdr_fan_count(&out[i], &from[i][k], n, &win[i][k]),
						 RANKS);
	}
	for (i = 0; i < RANKS; i++) {
		for (k = 0; k < RANKS; k++) {
			assert_in_range(win[i][k], win[0][0] - 2, win[0][0] + 2);
			after += win[i][k];
		}
	}
	assert_in_range(after, sum - 100, sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fan__counts_those_of_late),
		cmocka_unit_test(fan__counts_its_network_alone),
		cmocka_unit_test(fan__means),
		cmocka_unit_test(fan__is_bounded),
		cmocka_unit_test(fan__makes_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
