/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What is remembered of paths: by host and by network, for how long, for how many; and as bytes,
 * whole, cut short, damaged and made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/sdr_endian.h"
#include "base/sdr_rand.h"
#include "rel/path/sdr_path_codec.h"

#define MS   1000000ull
#define S    1000000000ull
#define HOUR (3600 * S)
#define NOW  (1000 * S)
#define WALL 1800000000ull
#define RATE 125000000ull /* bytes per second */
#define FACTS                                                                               \
	{                                                                                   \
		.rate_Bps = RATE, .rtt_ns = 25 * MS, .pkts = 1000, .lost = 10, .bursts = 5, \
		.mtu = 9000                                                                 \
	}

static const struct sdr_path_facts facts = FACTS;

/* Host h of network n. */
static struct sdr_path_ends ends(uint32_t n, uint32_t h)
{
	struct sdr_path_ends e;

	memset(&e, 0, sizeof(e));
	e.host.len = 9;
	e.host.b[0] = 4;
	sdr_put_le32(e.host.b + 1, n);
	sdr_put_le32(e.host.b + 5, h);
	e.net.len = 5;
	memcpy(e.net.b, e.host.b, 5);
	return e;
}

static struct sdr_path_mem *mem(void)
{
	struct sdr_path_mem *m = sdr_path_mem_new(4711);

	assert_non_null(m);
	return m;
}

static void tell(struct sdr_path_mem *m, uint32_t n, uint32_t h, uint64_t now)
{
	struct sdr_path_ends e = ends(n, h);

	sdr_path_mem_tell(m, &e, now, &facts);
}

/* Its rate; 0: nothing is known. */
static uint64_t ask(struct sdr_path_mem *m, uint32_t n, uint32_t h, uint64_t now)
{
	struct sdr_path_ends e = ends(n, h);
	struct sdr_path_facts f;
	uint64_t age;

	return sdr_path_mem_ask(m, &e, now, now, &f, &age) ? f.rate_Bps : 0;
}

static void use(struct sdr_path_mem *m, uint32_t n, uint32_t h, uint64_t now, uint64_t moved)
{
	struct sdr_path_ends e = ends(n, h);

	sdr_path_mem_use(m, &e, now, moved);
}

/* ---- who knows what -------------------------------------------------------------------------- */

static void mem__the_host_then_its_network(void **state)
{
	struct sdr_path_mem *m = mem();
	struct sdr_path_ends e = ends(1, 1);
	struct sdr_path_facts f;
	uint64_t age = 1;

	(void)state;
	assert_false(sdr_path_mem_ask(m, &e, NOW, NOW, &f, &age));
	assert_true(!f.rate_Bps && !age);
	tell(m, 1, 1, NOW);
	assert_true(sdr_path_mem_ask(m, &e, NOW + 2 * S, NOW + 2 * S, &f, &age));
	assert_true(f.rate_Bps == RATE && f.rtt_ns == 25 * MS && f.mtu == 9000 && age == 2 * S);
	assert_true(f.pkts == 1000 && f.lost == 10 && f.bursts == 5);
	e = ends(1, 2);
	assert_true(sdr_path_mem_ask(m, &e, NOW, NOW, &f, &age));
	assert_true(f.rate_Bps == RATE / 2 && f.rtt_ns == 25 * MS && f.mtu == 0);
	assert_int_equal(ask(m, 2, 1, NOW), 0);
	sdr_path_mem_free(m);
}

static void mem__knowledge_fades(void **state)
{
	struct sdr_path_mem *m = mem();

	(void)state;
	tell(m, 1, 1, NOW);
	assert_int_equal(ask(m, 1, 1, NOW + SDR_PATH_FRESH_NS), RATE);
	assert_int_equal(ask(m, 1, 1, NOW + SDR_PATH_FRESH_NS + 1), RATE / 2);
	assert_int_equal(ask(m, 1, 1, NOW + SDR_PATH_OLD_NS + 1), RATE / 4);
	assert_int_equal(ask(m, 1, 1, NOW + SDR_PATH_LIFE_NS), RATE / 4);
	assert_int_equal(ask(m, 1, 1, NOW + SDR_PATH_LIFE_NS + 1), 0);
	sdr_path_mem_free(m);
}

/* Up at once, down by and by; all at once when it is another path. */
static void mem__what_is_told_moves_it(void **state)
{
	struct sdr_path_mem *m = mem();
	struct sdr_path_ends e = ends(1, 1);
	struct sdr_path_facts f = FACTS, got;
	uint64_t age;

	(void)state;
	sdr_path_mem_tell(m, &e, NOW, &f);
	f.rate_Bps = 2 * RATE;
	sdr_path_mem_tell(m, &e, NOW + S, &f);
	assert_int_equal(ask(m, 1, 1, NOW + S), 2 * RATE);
	f.rate_Bps = RATE;
	sdr_path_mem_tell(m, &e, NOW + 2 * S, &f);
	assert_int_equal(ask(m, 1, 1, NOW + 2 * S), 2 * RATE - RATE / 4);
	for (uint32_t i = 0; i < 20; i++)
		sdr_path_mem_tell(m, &e, NOW + (3 + i) * S, &f);
	assert_in_range(ask(m, 1, 1, NOW + 23 * S), RATE, RATE + RATE / 100);
	f.rate_Bps = 0; /* it has found out nothing: that is not "slow" */
	sdr_path_mem_tell(m, &e, NOW + 24 * S, &f);
	assert_in_range(ask(m, 1, 1, NOW + 24 * S), RATE, RATE + RATE / 100);
	f.rtt_ns = 100 * MS;
	f.rate_Bps = RATE / 8;
	f.pkts = 0;
	sdr_path_mem_tell(m, &e, NOW + 25 * S, &f);
	assert_true(sdr_path_mem_ask(m, &e, NOW + 25 * S, NOW + 25 * S, &got, &age));
	assert_true(got.rate_Bps == RATE / 8 && got.rtt_ns == 100 * MS && got.pkts == 0);
	sdr_path_mem_free(m);
}

/* ---- who shares it --------------------------------------------------------------------------- */

static void begin(struct sdr_path_mem *m, uint32_t n, uint32_t h, uint64_t now)
{
	struct sdr_path_ends e = ends(n, h);

	sdr_path_mem_open(m, &e, now);
}

static void mem__those_that_begin_at_once_share(void **state)
{
	struct sdr_path_mem *m = mem();
	struct sdr_path_ends e = ends(1, 1);
	struct sdr_path_facts f;
	uint64_t t, age;

	(void)state;
	tell(m, 1, 1, NOW);
	/* at any place in a span, a round trip after they began */
	for (uint32_t k = 1; k <= 50; k++) {
		t = NOW + k * (S + 7 * MS);
		for (uint32_t i = 0; i < 8; i++)
			begin(m, 1, 1, t + i * MS / 8);
		assert_true(sdr_path_mem_ask(m, &e, t + 26 * MS, t, &f, &age));
		assert_int_equal(f.rate_Bps, RATE / 8);
		/* three round trips later they are somewhere else */
		assert_true(sdr_path_mem_ask(m, &e, t + 90 * MS, t + 90 * MS, &f, &age));
		assert_int_equal(f.rate_Bps, RATE);
		/* but whose own handshake took so long counts */
		begin(m, 1, 1, t + 89 * MS);
		assert_true(sdr_path_mem_ask(m, &e, t + 90 * MS, t, &f, &age));
		assert_int_equal(f.rate_Bps, RATE / 2);
	}
	/* behind another host of that network there may be the same line */
	t = NOW + 55 * S;
	tell(m, 1, 2, t);
	for (uint32_t i = 0; i < 8; i++)
		begin(m, 1, 1, t);
	assert_int_equal(ask(m, 1, 2, t + MS), RATE / 8);
	/* what is not known is not shared, and takes no place */
	begin(m, 9, 9, NOW);
	assert_int_equal(sdr_path_mem_count(m), 3);
	sdr_path_mem_free(m);
}

/* Who begins where nothing is known yet, with how many: that takes no place, and has few. */
static void mem__those_that_find_out_together_are_counted(void **state)
{
	struct sdr_path_mem *m = mem();
	struct sdr_path_ends e = ends(1, 1), other = ends(2, 1), host = ends(1, 2);
	uint32_t opened = sdr_path_mem_opened(m);

	(void)state;
	assert_int_equal(sdr_path_mem_together(m, &e, NOW, NOW), 1);
	assert_int_equal(sdr_path_mem_opened(m), opened);
	for (uint32_t i = 0; i < 4; i++)
		begin(m, 1, 1, NOW + i * MS);
	begin(m, 2, 1, NOW);
	assert_int_equal(sdr_path_mem_opened(m), opened + 5);
	assert_int_equal(sdr_path_mem_together(m, &e, NOW + 30 * MS, NOW), 4);
	assert_int_equal(sdr_path_mem_together(m, &other, NOW + 30 * MS, NOW), 1);
	/* the other hosts of a network may be behind the same line */
	assert_int_equal(sdr_path_mem_together(m, &host, NOW + 30 * MS, NOW), 4);
	assert_int_equal(sdr_path_mem_count(m), 0);
	/* they have begun */
	assert_int_equal(sdr_path_mem_together(m, &e, NOW + S, NOW + S), 1);
	/* the last sixteen networks and hosts */
	begin(m, 1, 1, NOW + S);
	for (uint32_t i = 0; i < 16; i++)
		begin(m, 16 + i, 1, NOW + S + MS);
	assert_int_equal(sdr_path_mem_together(m, &e, NOW + S + 2 * MS, NOW + S), 1);
	/* what is known is shared among all that are there */
	tell(m, 1, 1, NOW + 10 * S);
	for (uint32_t i = 0; i < 3; i++)
		begin(m, 1, 1, NOW + 10 * S);
	assert_int_equal(sdr_path_mem_together(m, &e, NOW + 10 * S + MS, NOW + 10 * S), 3);
	sdr_path_mem_free(m);
}

static void mem__those_that_move_data_share(void **state)
{
	struct sdr_path_mem *m = mem();
	struct sdr_path_ends e = ends(1, 1);

	(void)state;
	tell(m, 1, 1, NOW);
	for (uint32_t i = 0; i < 8; i++)
		use(m, 1, 1, NOW + S, RATE / 16);
	for (uint32_t i = 0; i < 8; i++) /* hardly any */
		use(m, 1, 1, NOW + S, RATE / 100);
	assert_int_equal(ask(m, 1, 1, NOW + S), RATE / 8);
	assert_int_equal(ask(m, 1, 1, NOW + 2 * S), RATE / 8);
	sdr_path_mem_leave(m, &e, NOW + 2 * S, NOW + S, NOW + S);
	sdr_path_mem_leave(m, &e, NOW + 2 * S, NOW - S, NOW - S);
	assert_int_equal(ask(m, 1, 1, NOW + 2 * S), RATE / 7);
	/* one that counted in both seconds */
	for (uint32_t i = 0; i < 3; i++)
		use(m, 1, 1, NOW + 2 * S, RATE / 3);
	sdr_path_mem_leave(m, &e, NOW + 2 * S, NOW + S, NOW + 2 * S);
	assert_int_equal(ask(m, 1, 1, NOW + 2 * S), RATE / 6);
	assert_int_equal(ask(m, 1, 1, NOW + 3 * S), RATE / 2);
	/* who moves nothing is none of them any more */
	assert_int_equal(ask(m, 1, 1, NOW + 4 * S), RATE);
	use(m, 1, 1, NOW + 4 * S, RATE / 2);
	use(m, 1, 1, NOW + 4 * S, RATE / 2);
	assert_int_equal(ask(m, 1, 1, NOW + 4 * S), RATE / 2);
	assert_int_equal(ask(m, 1, 1, NOW + 30 * S), RATE);
	/* of a rate that is not known nobody moves a share */
	e = ends(2, 1);
	use(m, 2, 1, NOW + 30 * S, RATE / 4);
	assert_int_equal(sdr_path_mem_together(m, &e, NOW + 30 * S, NOW), 1);
	sdr_path_mem_free(m);
}

/* Each knows its share: together they have seen it all. */
static void mem__what_all_moved_is_what_it_carries(void **state)
{
	struct sdr_path_mem *m = mem();
	struct sdr_path_ends e = ends(1, 1);
	struct sdr_path_facts f = FACTS;

	(void)state;
	f.rate_Bps = RATE / 4;
	for (uint32_t i = 0; i < 4; i++) {
		sdr_path_mem_use(m, &e, NOW, RATE / 4);
		sdr_path_mem_tell(m, &e, NOW, &f);
	}
	assert_int_equal(ask(m, 1, 1, NOW + 10 * S), RATE);
	sdr_path_mem_free(m);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void mem__forgets_what_was_touched_longest_ago(void **state)
{
	struct sdr_path_mem *m = mem();
	uint32_t i, n = 2 * SDR_PATH_MEM_MAX;

	(void)state;
	for (i = 0; i < n; i++)
		tell(m, i, 1, NOW + i * MS);
	assert_int_equal(sdr_path_mem_count(m), SDR_PATH_MEM_MAX);
	/* two keys each */
	for (i = 0; i < n - SDR_PATH_MEM_MAX / 2; i++)
		assert_int_equal(ask(m, i, 1, NOW + n * MS), 0);
	for (; i < n; i++)
		assert_int_equal(ask(m, i, 1, NOW + n * MS), RATE);
	sdr_path_mem_free(m);
}

static void count_lock(void *arg)
{
	assert_int_equal(++*(int *)arg & 1, 1);
}

static void count_unlock(void *arg)
{
	assert_int_equal(++*(int *)arg & 1, 0);
}

static void mem__each_call_is_under_the_lock(void **state)
{
	struct sdr_path_mem *m = mem();
	int n = 0;

	(void)state;
	sdr_path_mem_lock_set(m, count_lock, count_unlock, &n);
	tell(m, 1, 1, NOW);
	use(m, 1, 1, NOW, 0);
	ask(m, 1, 1, NOW);
	ask(m, 2, 2, NOW);
	assert_int_equal(n, 8);
	sdr_path_mem_free(m);
}

/* ---- as bytes -------------------------------------------------------------------------------- */

static uint8_t buf[SDR_PATH_CODEC_MAX];

static void codec__comes_back(void **state)
{
	struct sdr_path_mem *m = mem(), *r = mem();
	struct sdr_path_ends e = ends(3, 1);
	struct sdr_path_facts f;
	uint64_t age;
	size_t len;

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		tell(m, i, 1, NOW + i * S);
	len = sdr_path_encode(m, NOW + 10 * S, WALL, buf, sizeof(buf));
	assert_int_equal(len, SDR_PATH_CODEC_HEAD + 20 * SDR_PATH_CODEC_ENTRY);
	/* another process, another clock, a minute later */
	assert_int_equal(sdr_path_decode(r, 5 * S, WALL + 60, buf, len), 20);
	assert_true(sdr_path_mem_ask(r, &e, 5 * S, 5 * S, &f, &age));
	assert_true(f.rate_Bps == RATE / 2 && f.rtt_ns == 25 * MS && f.mtu == 9000);
	assert_true(age == 67 * S && f.pkts == 500 && f.lost == 5);
	/* the same again is nothing new */
	assert_int_equal(sdr_path_decode(r, 5 * S, WALL + 60, buf, len), 0);
	sdr_path_mem_free(m);
	sdr_path_mem_free(r);
}

/* Two processes: the newer word counts, and what only one knows stays. */
static void codec__merges(void **state)
{
	struct sdr_path_mem *m = mem(), *r = mem();
	struct sdr_path_ends e = ends(1, 1), o = ends(2, 1);
	struct sdr_path_facts f = FACTS;
	size_t len;

	(void)state;
	tell(m, 1, 1, NOW);
	tell(m, 2, 1, NOW + 20 * S);
	tell(m, 3, 1, NOW);
	f.rate_Bps = 7 * RATE;
	sdr_path_mem_tell(r, &e, NOW + 10 * S, &f);
	sdr_path_mem_tell(r, &o, NOW + 10 * S, &f);
	len = sdr_path_encode(m, NOW + 20 * S, WALL, buf, sizeof(buf));
	assert_int_equal(sdr_path_decode(r, NOW + 20 * S, WALL, buf, len), 4);
	assert_int_equal(ask(r, 1, 1, NOW + 20 * S), 7 * RATE);
	assert_int_equal(ask(r, 2, 1, NOW + 20 * S), RATE);
	assert_int_equal(ask(r, 3, 1, NOW + 20 * S), RATE);
	sdr_path_mem_free(m);
	sdr_path_mem_free(r);
}

/* A buffer that is too short gets the newest. */
static void codec__a_short_buffer(void **state)
{
	struct sdr_path_mem *m = mem(), *r = mem();
	size_t len;

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		tell(m, i, 1, NOW + i * S);
	assert_int_equal(sdr_path_encode(m, NOW, WALL, buf, SDR_PATH_CODEC_HEAD - 1), 0);
	len = sdr_path_encode(m, NOW + 10 * S, WALL, buf,
			      SDR_PATH_CODEC_HEAD + 5 * SDR_PATH_CODEC_ENTRY + 1);
	assert_int_equal(len, SDR_PATH_CODEC_HEAD + 5 * SDR_PATH_CODEC_ENTRY);
	assert_int_equal(sdr_path_decode(r, NOW, WALL, buf, len), 5);
	assert_true(ask(r, 9, 1, NOW) && ask(r, 8, 1, NOW) && !ask(r, 6, 1, NOW));
	sdr_path_mem_free(m);
	sdr_path_mem_free(r);
}

static void codec__damage_is_found(void **state)
{
	struct sdr_path_mem *m = mem(), *r = mem();
	uint64_t rng = 1;
	size_t len;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		tell(m, i, 1, NOW);
	len = sdr_path_encode(m, NOW, WALL, buf, sizeof(buf));
	for (size_t n = 0; n < len; n++) /* cut short */
		assert_true(sdr_path_decode(r, NOW, WALL, buf, n) < 0);
	assert_int_equal(sdr_path_decode(r, NOW, WALL, buf, len + 1), -EBADMSG);
	for (size_t n = 0; n < len; n++) { /* a bit each */
		uint8_t bit = (uint8_t)(1u << (sdr_rand64(&rng) & 7));

		buf[n] ^= bit;
		assert_true(sdr_path_decode(r, NOW, WALL, buf, len) < 0);
		buf[n] ^= bit;
	}
	assert_int_equal(sdr_path_mem_count(r), 0);
	buf[0] = 'S';
	assert_int_equal(sdr_path_decode(r, NOW, WALL, buf, len), -EPROTO);
	buf[0] = 's';
	buf[8] = 2;
	assert_int_equal(sdr_path_decode(r, NOW, WALL, buf, len), -EPROTONOSUPPORT);
	buf[8] = 1;
	assert_int_equal(sdr_path_decode(r, NOW, WALL, buf, len), 8);
	sdr_path_mem_free(m);
	sdr_path_mem_free(r);
}

/* A right checksum over what no path is: that alone is left out. */
static void codec__absurd_values_are_left_out(void **state)
{
	static const struct sdr_path_facts bad[] = {
		{ .rate_Bps = 1, .rtt_ns = MS },
		{ .rate_Bps = UINT64_MAX, .rtt_ns = MS },
		{ .rate_Bps = RATE, .rtt_ns = 0 },
		{ .rate_Bps = RATE, .rtt_ns = UINT64_MAX },
		{ .rate_Bps = RATE, .rtt_ns = MS, .mtu = 12 },
		{ .rate_Bps = RATE, .rtt_ns = MS, .mtu = 1u << 20 },
		{ .rate_Bps = RATE, .rtt_ns = MS, .pkts = 10, .lost = 11 },
		{ .rate_Bps = RATE, .rtt_ns = MS, .pkts = 10, .lost = 2, .bursts = 3 },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sdr_path_mem *m = mem(), *r = mem();
		struct sdr_path_ends e = ends(1, 1);
		size_t len;

		tell(m, 2, 1, NOW);
		assert_true(sdr_path_mem_put(m, NOW, &e.host, &bad[i], 0));
		len = sdr_path_encode(m, NOW, WALL, buf, sizeof(buf));
		assert_int_equal(sdr_path_decode(r, NOW, WALL, buf, len), 2);
		assert_int_equal(ask(r, 1, 1, NOW), 0);
		assert_int_equal(ask(r, 2, 1, NOW), RATE);
		sdr_path_mem_free(m);
		sdr_path_mem_free(r);
	}
}

/* Found out before this clock began, long ago, or in the future. */
static void codec__other_times(void **state)
{
	struct sdr_path_mem *m = mem(), *r = mem();
	size_t len;

	(void)state;
	tell(m, 1, 1, NOW);
	len = sdr_path_encode(m, NOW, WALL, buf, sizeof(buf));
	assert_int_equal(sdr_path_decode(r, 1, WALL + 2 * HOUR / S, buf, len), 2);
	assert_int_equal(ask(r, 1, 1, 1), RATE / 4);
	sdr_path_mem_free(r);
	r = mem();
	assert_int_equal(sdr_path_decode(r, NOW, WALL + SDR_PATH_LIFE_NS / S + 1, buf, len), 0);
	assert_int_equal(sdr_path_decode(r, NOW, 5, buf, len), 2);
	assert_int_equal(ask(r, 1, 1, NOW), RATE);
	sdr_path_mem_free(m);
	sdr_path_mem_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mem__the_host_then_its_network),
		cmocka_unit_test(mem__knowledge_fades),
		cmocka_unit_test(mem__what_is_told_moves_it),
		cmocka_unit_test(mem__those_that_begin_at_once_share),
		cmocka_unit_test(mem__those_that_find_out_together_are_counted),
		cmocka_unit_test(mem__those_that_move_data_share),
		cmocka_unit_test(mem__what_all_moved_is_what_it_carries),
		cmocka_unit_test(mem__forgets_what_was_touched_longest_ago),
		cmocka_unit_test(mem__each_call_is_under_the_lock),
		cmocka_unit_test(codec__comes_back),
		cmocka_unit_test(codec__merges),
		cmocka_unit_test(codec__a_short_buffer),
		cmocka_unit_test(codec__damage_is_found),
		cmocka_unit_test(codec__absurd_values_are_left_out),
		cmocka_unit_test(codec__other_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
