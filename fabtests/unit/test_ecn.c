/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Is a path to be trusted with marks, and what do they say: counts that come, come late, lie, miss
 * packets; paths that wipe out, mark everything, or drop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rel/path/sdr_ecn.h"

#define MS   1000000ull
#define RTT  (10 * MS)
#define SIZE 1000u /* bytes of a packet */

/* A sender, and what the path and the peer do to its packets. */
struct path {
	struct sdr_ecn e;
	struct sdr_frame_ecn said;
	uint64_t now;
};

static struct path path_begin(void)
{
	struct path p = { .now = 1 };

	sdr_ecn_start(&p.e, 0, p.now);
	assert_true(p.e.ect);
	return p;
}

/* So many packets leave as they are to. */
static void leave(struct path *p, uint64_t n)
{
	sdr_ecn_sent(&p->e, n, p->e.ect);
}

/* n are acknowledged, of which the peer counts some more as unmarked and as marked. */
static bool told(struct path *p, uint64_t n, uint32_t ect0, uint32_t ce)
{
	sdr_ecn_acked(&p->e, n);
	p->said.ect0 += ect0;
	p->said.ce += ce;
	return sdr_ecn_heard(&p->e, &p->said, RTT, p->now);
}

/* And so for rounds round trips.  True: the path failed, in the last. */
static bool rounds(struct path *p, uint32_t n, uint32_t sent, uint32_t ect0, uint32_t ce)
{
	bool failed = false;

	while (n-- && !failed) {
		leave(p, sent);
		p->now += RTT;
		failed = told(p, sent, ect0, ce);
	}
	return failed;
}

static void marks__become_bytes(void **state)
{
	struct path p = path_begin();

	(void)state;
	leave(&p, 20);
	assert_false(told(&p, 10, 8, 2));
	assert_int_equal(sdr_ecn_bytes(&p.e, 10 * SIZE), 2 * SIZE);
	assert_false(told(&p, 10, 10, 0));
	assert_int_equal(sdr_ecn_bytes(&p.e, 10 * SIZE), 0);
	assert_int_equal(p.e.ce, 2);
	assert_true(p.e.ect);
}

/* Marks told before what they were on: never more than is delivered, and none is forgotten. */
static void marks__of_what_is_not_acknowledged_yet(void **state)
{
	struct path p = path_begin();

	(void)state;
	leave(&p, 100);
	assert_false(told(&p, 1, 50, 50));
	assert_int_equal(sdr_ecn_bytes(&p.e, SIZE), SIZE);
	assert_false(told(&p, 99, 0, 0));
	assert_int_equal(sdr_ecn_bytes(&p.e, 99 * SIZE), 49 * SIZE);
	assert_false(told(&p, 0, 0, 0));
	assert_int_equal(sdr_ecn_bytes(&p.e, 0), 0);
}

static void marks__lost_acknowledgements_lose_nothing(void **state)
{
	struct path p = path_begin();
	uint64_t bytes = 0;

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		leave(&p, 10);
		if (i % 3) {
			p.said.ect0 += 7;
			p.said.ce += 3;
			continue;
		}
		assert_false(told(&p, i ? 30 : 10, 7, 3));
		bytes += sdr_ecn_bytes(&p.e, (i ? 30 : 10) * SIZE);
	}
	assert_int_equal(bytes, 30 * SIZE);
}

static void counts__that_go_back_are_passed_over(void **state)
{
	struct path p = path_begin();
	struct sdr_frame_ecn old;

	(void)state;
	leave(&p, 20);
	assert_false(told(&p, 10, 9, 1));
	old = p.said;
	assert_false(told(&p, 10, 9, 1));
	(void)sdr_ecn_bytes(&p.e, 20 * SIZE);
	assert_false(sdr_ecn_heard(&p.e, &old, RTT, p.now));
	/* more of one, less of the other: nobody's state of affairs */
	old.ce += 5;
	assert_false(sdr_ecn_heard(&p.e, &old, RTT, p.now));
	assert_false(sdr_ecn_heard(&p.e, &(struct sdr_frame_ecn){ 0 }, RTT, p.now));
	assert_int_equal(p.e.ce, 2);
	assert_int_equal(p.e.counted, 20);
	assert_int_equal(sdr_ecn_bytes(&p.e, 20 * SIZE), 0);
	assert_true(p.e.ect);
}

static void counts__go_on_over_their_end(void **state)
{
	struct path p = path_begin();

	(void)state;
	p.e.heard = p.said = (struct sdr_frame_ecn){ 0xfffffff8, 0, 0xffffffff };
	leave(&p, 32);
	assert_false(told(&p, 32, 28, 4));
	assert_int_equal(p.e.counted, 32);
	assert_int_equal(p.e.ce, 4);
	assert_true(p.e.ect);
}

static void path__bleaches(void **state)
{
	struct path p = path_begin();

	(void)state;
	leave(&p, SDR_ECN_SHORT_PKTS);
	assert_false(told(&p, SDR_ECN_SHORT_PKTS, 0, 0));
	p.now += 10 * RTT;
	assert_false(told(&p, 0, 0, 0)); /* so few say nothing */
	assert_true(rounds(&p, 3, 20, 0, 0));
	assert_int_equal(p.e.why, SDR_ECN_BLEACHED);
	assert_false(p.e.ect);
	assert_int_equal(sdr_ecn_bytes(&p.e, 60 * SIZE), 0);
	/* once is enough */
	assert_false(rounds(&p, 3, 20, 0, 0));
}

/* One of two ways wipes the bits out. */
static void path__bleaches_half(void **state)
{
	struct path p = path_begin();

	(void)state;
	assert_true(rounds(&p, 20, 20, 9, 1));
	assert_int_equal(p.e.why, SDR_ECN_BLEACHED);
}

/* And one that begins to after a long time. */
static void path__bleaches_later(void **state)
{
	struct path p = path_begin();

	(void)state;
	assert_false(rounds(&p, 2000, 100, 99, 1));
	assert_true(rounds(&p, 50, 100, 0, 0));
	assert_int_equal(p.e.why, SDR_ECN_BLEACHED);
}

/* The acknowledgement with the counts comes behind others, and a few packets are never counted. */
static void path__counts_come_later(void **state)
{
	struct path p = path_begin();

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		leave(&p, 64);
		p.now += RTT / 2;
		assert_false(told(&p, 64, 0, 0));
		p.now += RTT / 2;
		assert_false(told(&p, 0, i % 4 ? 64 : 40, 0));
	}
	assert_true(p.e.ect);
}

static void path__marks_everything(void **state)
{
	struct path p = path_begin();

	(void)state;
	assert_true(SDR_ECN_MANGLED_NS > SDR_ECN_MANGLED_RTTS * RTT);
	assert_false(rounds(&p, SDR_ECN_MANGLED_NS / RTT - 1, 20, 0, 20));
	assert_true(rounds(&p, 1, 20, 0, 20));
	assert_int_equal(p.e.why, SDR_ECN_MANGLED);
	assert_false(p.e.ect);
}

/* A full queue does, for a while; it did not before. */
static void path__full_queue_is_no_damage(void **state)
{
	struct path p = path_begin();

	(void)state;
	assert_false(rounds(&p, 1, 20, 1, 19));
	assert_false(rounds(&p, 500, 20, 0, 20));
	assert_true(p.e.ect);
	assert_int_equal(p.e.ce, 19 + 500 * 20);
}

static void liar__counts_more_than_were_sent(void **state)
{
	struct path p = path_begin();

	(void)state;
	leave(&p, 20);
	assert_true(told(&p, 20, 0, 21));
	assert_int_equal(p.e.why, SDR_ECN_MANGLED);
	assert_int_equal(sdr_ecn_bytes(&p.e, 20 * SIZE), 0);

	p = path_begin();
	leave(&p, 20);
	assert_true(told(&p, 20, 0x7fffffff, 0));
	assert_int_equal(p.e.why, SDR_ECN_MANGLED);
}

static void liar__counts_what_is_never_sent(void **state)
{
	struct path p = path_begin();

	(void)state;
	leave(&p, 20);
	p.said.ect1 = 1;
	assert_true(told(&p, 20, 19, 0));
	assert_int_equal(p.e.why, SDR_ECN_MANGLED);
}

/* ---- paths that drop ------------------------------------------------------------------------- */

/* Timeouts until something arrives: what can be marked never does. */
static bool dropping_burst(struct path *p, uint32_t pkts)
{
	uint32_t timeouts = 0;

	while (p->e.ect) {
		leave(p, pkts);
		p->now += 3 * RTT;
		sdr_ecn_timeout(&p->e, ++timeouts, 0, p->now);
		assert_true(timeouts < 5);
	}
	leave(p, 1);
	p->now += RTT;
	return told(p, 1, 0, 0);
}

static void path__drops(void **state)
{
	struct path p = path_begin();

	(void)state;
	assert_true(dropping_burst(&p, SDR_ECN_TEST_PKTS));
	assert_int_equal(p.e.why, SDR_ECN_DROPPED);
	assert_false(p.e.ect);
}

/* A message of one packet at a time. */
static void path__drops_one_at_a_time(void **state)
{
	struct path p = path_begin();
	uint32_t n = 1;

	(void)state;
	while (!dropping_burst(&p, 1)) {
		assert_true(p.e.ect); /* it may have been the weather */
		n++;
	}
	assert_int_equal(n, SDR_ECN_TEST_TIMEOUTS);
	assert_int_equal(p.e.why, SDR_ECN_DROPPED);
}

/* It carried them, and then another path does not. */
static void path__begins_to_drop(void **state)
{
	struct path p = path_begin();
	uint32_t n = 1;

	(void)state;
	assert_false(rounds(&p, 10, 20, 20, 0));
	while (!dropping_burst(&p, 20))
		assert_true(++n <= SDR_ECN_TEST_TIMEOUTS);
	assert_int_equal(p.e.why, SDR_ECN_DROPPED);
}

/* Bursts take everything, now and then the last packet: what arrives after them was marked. */
static void path__bad_weather(void **state)
{
	struct path p = path_begin();

	(void)state;
	assert_false(rounds(&p, 1, 1, 1, 0));
	for (uint32_t i = 0; i < 1000; i++) {
		leave(&p, 20);
		p.now += 3 * RTT;
		sdr_ecn_timeout(&p.e, 1, 20, p.now);
		if (i % 3 == 0)
			sdr_ecn_timeout(&p.e, 2, 20, p.now);
		leave(&p, 1);
		p.now += RTT;
		assert_false(told(&p, 1, p.e.ect, 0));
		leave(&p, 20);
		assert_false(told(&p, 20, p.e.ect ? 20 : 0, 0));
	}
	assert_true(p.e.ect);
}

/* ---- the next path --------------------------------------------------------------------------- */

static void path__the_next_begins_anew(void **state)
{
	struct path p = path_begin();

	(void)state;
	assert_true(rounds(&p, 3, 100, 0, 0));
	leave(&p, 50); /* on the old path, and acknowledged over the new one */
	sdr_ecn_start(&p.e, 50, p.now);
	assert_true(p.e.ect);
	assert_false(told(&p, 50, 0, 0));
	p.now += 10 * RTT;
	assert_false(told(&p, 0, 0, 0));
	assert_false(rounds(&p, 100, 20, 20, 0));
	assert_true(p.e.ect);
}

static void off__is_off(void **state)
{
	struct path p = { .now = 1 };

	(void)state;
	leave(&p, 10);
	assert_false(told(&p, 10, 0, 99));
	sdr_ecn_timeout(&p.e, 3, 0, p.now);
	assert_false(p.e.ect || p.e.on);
	assert_int_equal(sdr_ecn_bytes(&p.e, 10 * SIZE), 0);
	for (uint8_t i = 0; i < SDR_ECN_WHYS; i++)
		assert_non_null(sdr_ecn_why_text(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks__become_bytes),
		cmocka_unit_test(marks__of_what_is_not_acknowledged_yet),
		cmocka_unit_test(marks__lost_acknowledgements_lose_nothing),
		cmocka_unit_test(counts__that_go_back_are_passed_over),
		cmocka_unit_test(counts__go_on_over_their_end),
		cmocka_unit_test(path__bleaches),
		cmocka_unit_test(path__bleaches_half),
		cmocka_unit_test(path__bleaches_later),
		cmocka_unit_test(path__counts_come_later),
		cmocka_unit_test(path__marks_everything),
		cmocka_unit_test(path__full_queue_is_no_damage),
		cmocka_unit_test(liar__counts_more_than_were_sent),
		cmocka_unit_test(liar__counts_what_is_never_sent),
		cmocka_unit_test(path__drops),
		cmocka_unit_test(path__drops_one_at_a_time),
		cmocka_unit_test(path__begins_to_drop),
		cmocka_unit_test(path__bad_weather),
		cmocka_unit_test(path__the_next_begins_anew),
		cmocka_unit_test(off__is_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
