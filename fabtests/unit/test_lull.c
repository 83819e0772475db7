/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How long arrivals may wait: when lulls begin and end, how many wake-ups they leave, and who never
 * waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "rel/path/sdr_lull.h"

#define US  1000ull
#define MS  1000000ull
#define S   1000000000ull
#define PKT 8192u
#define BUF (1800u * 1024) /* bytes: of a socket that was given 4 MiB */

struct run {
	uint64_t wakes, pkts;
	uint64_t waited; /* longest time from an arrival to the look */
	uint64_t heaped; /* most bytes found in one look */
	uint64_t now;
};

/*
 * A packet every gap ns for dur; whoever sleeps wakes with it, or in a lull when that is over.
 */
static void stream(struct sdr_lull *l, struct run *r, uint64_t rtt, uint64_t gap, uint64_t dur)
{
	uint64_t end = r->now + dur, next = r->now, first;
	uint32_t n;

	while (next < end) {
		first = next;
		r->now = l->until > next ? l->until : next;
		for (n = 0; next <= r->now; next += gap)
			n++;
		sdr_lull_heard(l, rtt, r->now);
		sdr_lull_round(l, n, (uint64_t)n * PKT, r->now);
		r->wakes++;
		r->pkts += n;
		if (r->now - first > r->waited)
			r->waited = r->now - first;
		if ((uint64_t)n * PKT > r->heaped)
			r->heaped = (uint64_t)n * PKT;
	}
	r->now = next;
}

static struct run fresh(struct sdr_lull *l, uint64_t room)
{
	struct run r = { .now = 5 * S };

	sdr_lull_init(l, room, r.now);
	return r;
}

/* 1 Gbit/s over 25 ms: a look a millisecond instead of fifteen. */
static void lull__spares_wakes_of_a_stream(void **state)
{
	struct sdr_lull l;
	struct run r = fresh(&l, BUF);

	(void)state;
	stream(&l, &r, 25 * MS, 65536, S);
	assert_in_range(r.pkts, 15200, 15300);
	assert_in_range(r.wakes, 1000, 1300);
	assert_true(r.waited <= MS);
}

/* A shorter path, a shorter lull; one that is near sees none. */
static void lull__is_a_share_of_the_round_trip(void **state)
{
	static const struct {
		uint64_t rtt, most;
	} c[] = { { 0, 0 },
		  { 100 * US, 0 },
		  { 2 * MS, 0 },
		  { 5 * MS, 200 * US },
		  { 10 * MS, 400 * US },
		  { 100 * MS, MS } };
	struct sdr_lull l;
	struct run r;

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
		r = fresh(&l, BUF);
		stream(&l, &r, c[i].rtt, 50 * US, S / 4);
		assert_int_equal(l.span, c[i].most);
		assert_true(r.waited <= c[i].most);
		if (!c[i].most)
			assert_int_equal(r.wakes, r.pkts);
	}
}

/* Messages now and then, and the first of a stream, are looked at as they come. */
static void lull__needs_a_stream(void **state)
{
	struct sdr_lull l;
	struct run r = fresh(&l, BUF);

	(void)state;
	stream(&l, &r, 25 * MS, 3 * MS / 2, S);
	assert_int_equal(r.wakes, r.pkts);
	r = fresh(&l, BUF);
	for (int i = 0; i < 20; i++) { /* 1 MiB, one after the other */
		stream(&l, &r, 25 * MS, 65536, 128 * 65536);
		r.now += 25 * MS;
	}
	assert_int_equal(r.wakes, r.pkts);
	assert_int_equal(r.waited, 0);
}

/* It stops: half a round trip later the next packet is looked at at once. */
static void lull__ends_with_the_stream(void **state)
{
	struct sdr_lull l;
	struct run r = fresh(&l, BUF);

	(void)state;
	stream(&l, &r, 25 * MS, 65536, 100 * MS);
	assert_true(l.span && l.until);
	for (int i = 0; i < 13; i++) {
		r.now = l.until > r.now ? l.until : r.now + l.span;
		sdr_lull_round(&l, 0, 0, r.now);
	}
	assert_true(!l.span && !l.until);
	/* and a stream that gets thin */
	r = fresh(&l, BUF);
	stream(&l, &r, 25 * MS, 65536, 100 * MS);
	assert_true(l.span);
	stream(&l, &r, 25 * MS, 3 * MS, 50 * MS);
	assert_true(!l.span);
}

/* While times are to tell something there is none; then they come back. */
static void lull__none_while_a_train_is_answered(void **state)
{
	struct sdr_lull l;
	struct run r = fresh(&l, BUF);

	(void)state;
	stream(&l, &r, 25 * MS, 65536, 100 * MS);
	assert_true(l.span);
	sdr_lull_none(&l, r.now + 75 * MS);
	sdr_lull_none(&l, r.now + 50 * MS); /* the longest counts */
	sdr_lull_round(&l, 1, PKT, r.now);
	r = (struct run){ .now = r.now };
	stream(&l, &r, 25 * MS, 65536, 74 * MS);
	assert_int_equal(r.wakes, r.pkts);
	stream(&l, &r, 25 * MS, 65536, 100 * MS);
	assert_true(l.span);
}

/* A peer that is near is heard beside the stream: lulls end at once, and come back later. */
static void lull__ends_when_somebody_near_is_heard(void **state)
{
	struct sdr_lull l;
	struct run r = fresh(&l, BUF), q;

	(void)state;
	stream(&l, &r, 25 * MS, 65536, 100 * MS);
	assert_true(l.span);
	sdr_lull_heard(&l, 50 * US, r.now);
	sdr_lull_round(&l, 1, 64, r.now);
	assert_true(!l.span && !l.until);
	q = (struct run){ .now = r.now };
	stream(&l, &q, 25 * MS, 65536, 900 * MS);
	assert_int_equal(q.wakes, q.pkts);
	stream(&l, &q, 25 * MS, 65536, 200 * MS);
	assert_true(l.span);
	/* likewise one of whom that is not known */
	sdr_lull_heard(&l, 0, q.now);
	sdr_lull_round(&l, 1, 64, q.now);
	assert_true(!l.span);
}

/* What comes in a lull has room: the faster, the shorter; of no known buffer there is none. */
static void lull__has_room_for_what_comes(void **state)
{
	struct sdr_lull l;
	struct run r = fresh(&l, BUF);

	(void)state;
	stream(&l, &r, 25 * MS, 6553, S / 4); /* 10 Gbit/s */
	assert_in_range(l.span, 300 * US, 450 * US);
	assert_true(r.heaped <= BUF / SDR_LULL_ROOM + 2 * PKT);
	r = fresh(&l, 93 * 1024); /* of a socket that was given 208 KiB: as it comes */
	stream(&l, &r, 25 * MS, 6553, S / 4);
	assert_int_equal(r.wakes, r.pkts);
	r = fresh(&l, 0);
	stream(&l, &r, 25 * MS, 6553, S / 4);
	assert_int_equal(r.wakes, r.pkts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lull__spares_wakes_of_a_stream),
		cmocka_unit_test(lull__is_a_share_of_the_round_trip),
		cmocka_unit_test(lull__needs_a_stream),
		cmocka_unit_test(lull__ends_with_the_stream),
		cmocka_unit_test(lull__none_while_a_train_is_answered),
		cmocka_unit_test(lull__ends_when_somebody_near_is_heard),
		cmocka_unit_test(lull__has_room_for_what_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
