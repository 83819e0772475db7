/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * `auto` on paths of the bed in virtual time: alone, with others like it, under losses and marks,
 * from the begin and after changes.  TEST_CC_VERBOSE shows what each case came to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "rel/path/sdr_auto_drain.h"
#include "rel/path/sdr_auto_target.h"
#include "rel/path/sdr_cc_auto.h"
#include "../bed/bed_flows.h"

#define US  1000ull
#define MS  1000000ull
#define S   1000000000ull
#define KIB 1024ull

#define WAN_RATE   125000000ull /* bytes per second: 1 Gbit/s */
#define WAN_RTT	   (25 * MS)
#define WAN_BDP	   3125000ull /* bytes */
#define SWITCHES   10u
#define LATECOMERS 80u
/* of the path: what flows behind a queue that marks early get */
#define MARKED_USE 0.91

static struct bed_flows_path wan(double queue_bdp, double loss)
{
	return (struct bed_flows_path){ .rate = WAN_RATE,
					.rtt = WAN_RTT,
					.queue = (uint64_t)(queue_bdp * (double)WAN_BDP),
					.loss = loss,
					.pkt = 8192 };
}

/* n flows, started within a round trip of each other. */
static struct bed_flows *flows(const struct bed_flows_path *path, uint32_t n)
{
	struct bed_flows *b = bed_flows_new(path);
	uint32_t i;

	assert_non_null(b);
	for (i = 0; i < n; i++)
		bed_flows_add(b, &sdr_cc_auto, b->now + i * path->rtt / n, NULL);
	return b;
}

static void show(const struct bed_flows *b, const char *what)
{
	uint32_t i;

	if (!getenv("TEST_CC_VERBOSE"))
		return;
	printf("%-28s use %.4f jain %.3f drops %.5f delay p50 %.2f p95 %.2f ms ", what,
	       bed_flows_use(b), bed_flows_jain(b), bed_flows_drops(b),
	       (double)bed_flows_delay(b, 0.5) / 1e6, (double)bed_flows_delay(b, 0.95) / 1e6);
	for (i = 0; i < b->n; i++)
		printf(" %.3f", bed_flow_use(b, b->f[i]));
	printf("\n");
}

static double win_of(const struct bed_flow *f)
{
	return sdr_auto_look(&f->cc)->win;
}

/* ---- alone ----------------------------------------------------------------------------------- */

static void auto__alone(void **state)
{
	static const struct {
		double queue, drops;
	} rows[] = { { 0.1, 0.005 }, { 1, 0 }, { 4, 0 } };
	struct bed_flows_path path;
	struct bed_flows *b;
	struct bed_flow *f;
	uint64_t dropped;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		path = wan(rows[i].queue, 0);
		b = flows(&path, 1);
		f = b->f[0];
		bed_flows_run(b, 1 * S);
		show(b, "alone, begin");
		dropped = f->dropped;
		bed_flows_mark(b);
		bed_flows_run(b, 7 * S);
		show(b, "alone");
		assert_true(bed_flows_use(b) >= 0.95);
		assert_true(bed_flows_delay(b, 0.95) <= 6 * MS);
		dropped += f->dropped;
		assert_true((double)dropped <= rows[i].drops * (double)f->sent);
		/* what it owns up to was lost */
		assert_true(f->cc.own_lost <= dropped * path.pkt);
		/* and knows what the path carries */
		assert_in_range(f->cc.learnt.rate_Bps, WAN_RATE * 9 / 10, WAN_RATE * 11 / 10);
		assert_in_range(f->cc.learnt.rtt_ns, WAN_RTT, WAN_RTT + 1 * MS);
		bed_flows_free(b);
	}
}

/* Who has a far path to itself wakes less often, until somebody comes. */
static void auto__calm(void **state)
{
	static const struct {
		uint64_t rtt;
		double queue, loss;
		bool calm;
	} rows[] = { { WAN_RTT, 1, 0, true },
		     { 4 * WAN_RTT, 1, 0, true },
		     { WAN_RTT, 1, 1e-2, false },
		     { 9 * MS, 4, 0, false } };
	struct bed_flows_path path;
	struct bed_flows *b;
	struct sdr_cc *cc;

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		path = wan(rows[i].queue, rows[i].loss);
		path.rtt = rows[i].rtt;
		b = flows(&path, 1);
		cc = &b->f[0]->cc;
		assert_false(cc->calm);
		bed_flows_run(b, 6 * S);
		assert_int_equal(cc->calm, rows[i].calm);
		assert_true((cc->pacer.quantum > 80 * KIB) == rows[i].calm);
		bed_flows_add(b, &sdr_cc_bbr, b->now, NULL);
		bed_flows_run(b, 2 * S);
		assert_false(cc->calm);
		bed_flows_free(b);
	}
}

static void auto__random_loss(void **state)
{
	static const double loss[] = { 1e-3, 1e-2, 5e-2 };
	struct bed_flows_path path;
	struct bed_flows *b;
	struct bed_flow *f;
	uint32_t i, k;

	(void)state;
	for (i = 0; i < sizeof(loss) / sizeof(loss[0]); i++) {
		for (k = 0; k < 3; k++) {
			path = wan(1, loss[i]);
			b = flows(&path, 1);
			f = b->f[0];
			b->seed += k;
			/* a loss in the first window does not end it */
			bed_flows_run(b, 1 * S);
			show(b, "alone, loss, begin");
			assert_true(bed_flows_use(b) >= 0.6 * (1 - loss[i]));
			bed_flows_run(b, 4 * S);
			assert_true((double)f->cc.own_lost <= 0.25 * (double)f->lost * path.pkt);
			bed_flows_mark(b);
			f->cc.own_lost = 0;
			bed_flows_run(b, 5 * S);
			show(b, "alone, loss");
			assert_true(bed_flows_use(b) >= 0.95 * (1 - loss[i]));
			assert_true(bed_flows_delay(b, 0.95) <= 6 * MS);
			/* little of it is taken for its own */
			assert_true((double)f->cc.own_lost <= 0.12 * (double)f->lost * path.pkt);
			bed_flows_free(b);
		}
	}
}

/* What its queue drops is its own, but for little; and in doubt until that is decided. */
static void auto__owns_up_to_what_is_dropped(void **state)
{
	static const double queue[] = { 0.1, 1 };
	struct bed_flows_path path;
	struct bed_flows *b;
	uint64_t lost, own;
	uint32_t i, k, doubts;

	(void)state;
	for (i = 0; i < sizeof(queue) / sizeof(queue[0]); i++) {
		path = wan(queue[i], 0);
		b = flows(&path, 4);
		doubts = 0;
		for (k = 0; k < 500; k++) {
			bed_flows_run(b, 10 * MS);
			doubts += b->f[0]->cc.doubts;
		}
		show(b, "drops");
		for (lost = own = k = 0; k < b->n; k++) {
			lost += b->f[k]->dropped * path.pkt;
			own += b->f[k]->cc.own_lost;
		}
		if (getenv("TEST_CC_VERBOSE"))
			printf("own %.3f of %.0f, in doubt %u\n", (double)own / (double)lost,
			       (double)lost / path.pkt, doubts);
		assert_true(lost && own <= lost && (double)own >= 0.9 * (double)lost);
		assert_in_range(doubts, 1, 100);
		bed_flows_free(b);
	}
}

/* Whoever falls silent for a round trip now and then, once in a second, needs no drains. */
static void auto__no_drain_where_the_path_was_empty(void **state)
{
	static const struct {
		double loss;
		uint32_t times, trips;
	} rows[] = { { 1e-2, 40, 6 }, { 0, 12, 44 } };
	struct bed_flows_path path;
	struct bed_flows *b;
	uint32_t i, k, drains;

	(void)state;
	for (i = 0; i < 4; i++) {
		path = wan(1, rows[i / 2].loss);
		b = flows(&path, 1);
		for (k = 0; k < rows[i / 2].times; k++) {
			bed_flows_run(b, rows[i / 2].trips * WAN_RTT);
			b->f[0]->paused = i % 2;
			bed_flows_run(b, WAN_RTT + 5 * MS);
			b->f[0]->paused = false;
		}
		drains = sdr_auto_look(&b->f[0]->cc)->drains;
		/* the first one is before a second is over */
		if (i % 2)
			assert_in_range(drains, 0, i / 2);
		else
			assert_in_range(drains, 2, 10);
		bed_flows_free(b);
	}
}

/* START ends with little on its way, which empties no queue: the first drain comes soon. */
static void auto__drains_soon_after_start(void **state)
{
	static const double queues[] = { 0.1, 1, 4 };
	struct bed_flows_path path;
	struct bed_flows *b;
	uint32_t i, trips;

	(void)state;
	for (i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
		path = wan(queues[i], 0);
		b = flows(&path, 1);
		for (trips = 0; trips < 12; trips++)
			bed_flows_run(b, WAN_RTT);
		assert_true(sdr_auto_look(&b->f[0]->cc)->phase != SDR_AUTO_START);
		while (!sdr_auto_look(&b->f[0]->cc)->drains && trips++ < 200)
			bed_flows_run(b, WAN_RTT);
		assert_in_range(trips, 20, 45);
		bed_flows_free(b);
	}
}

/* ---- with others like it --------------------------------------------------------------------- */

/* When a flow that begins at a common time drains, in that time; ahead: of its own clock. */
static uint64_t drains_at(uint64_t common, uint64_t ahead, uint64_t rtt)
{
	const struct sdr_rel_cfg cfg = { .cc = &sdr_cc_auto, .clock_ahead_ns = ahead };
	uint64_t now = common - ahead;
	struct sdr_cc cc;

	sdr_cc_init(&cc, &cfg, 8192, 64u << 20, rtt, NULL, now);
	sdr_auto_drain_wait(&cc, now, SDR_AUTO_DRAIN_FIRST);
	assert_in_range(sdr_auto_look(&cc)->drain_at - now, SDR_AUTO_DRAIN_FIRST * rtt / 2,
			SDR_AUTO_DRAIN_FIRST * rtt * 3 / 2);
	return sdr_auto_look(&cc)->drain_at + ahead;
}

/* Flows of hosts whose own clocks say nothing of each other's do it together, ... */
static void auto__drains_by_a_common_clock(void **state)
{
	static const uint64_t clocks[] = { 0, 1, 5 * S + 1234567, 0 - 3 * S, UINT64_MAX / 2 };
	static const uint64_t T = 1795000000 * S;
	uint64_t at = drains_at(T, 0, 25 * MS), half;

	(void)state;
	for (uint32_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		assert_int_equal(drains_at(T, clocks[i], 25 * MS), at);
		assert_int_equal(drains_at(T + 20 * MS, clocks[i], 25 * MS), at);
	}
	/* ... a longer wait ends with another, and of a nearer path every other drain is one */
	assert_int_equal(at % (1u << 28), 0);
	assert_int_equal(drains_at(T + 250 * MS, 7, 25 * MS), at + (1u << 28));
	half = drains_at(T + 250 * MS, 7, 12500 * US);
	assert_int_equal(half % (1u << 27), 0);
}

static void auto__two_share(void **state)
{
	static const struct {
		double queue, loss, drops;
	} rows[] = { { 0.1, 0, 0.02 }, { 1, 0, 0.005 }, { 1, 0.01, 0.01 } };
	struct bed_flows_path path;
	struct bed_flows *b;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		path = wan(rows[i].queue, rows[i].loss);
		b = flows(&path, 2);
		bed_flows_run(b, 5 * S);
		show(b, "two, begin");
		assert_true(bed_flows_drops(b) <= rows[i].drops);
		bed_flows_mark(b);
		bed_flows_run(b, 5 * S);
		show(b, "two");
		assert_true(bed_flows_jain(b) >= 0.95);
		assert_true(bed_flows_use(b) >= 0.93 * (1 - rows[i].loss));
		assert_true(bed_flows_delay(b, 0.95) <= 6 * MS);
		assert_true(bed_flows_drops(b) <= rows[i].drops);
		bed_flows_free(b);
	}
}

/* Each of them measures the whole path; the next flights tell what of it is theirs. */
static void auto__several_start_at_once(void **state)
{
	static const struct {
		double queue, apart, drops; /* apart: of a round trip, between two of them */
	} rows[] = { { 0.5, 0, 0.03 }, { 0.5, 0.15, 0.1 }, { 1, 0, 0.01 }, { 1, 0.15, 0.07 } };
	struct bed_flows_path path;
	struct bed_flows *b;
	uint32_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		path = wan(rows[i].queue, 0);
		b = bed_flows_new(&path);
		assert_non_null(b);
		for (k = 0; k < 4; k++)
			bed_flows_add(b, &sdr_cc_auto,
				      b->now + (uint64_t)(k * rows[i].apart * (double)path.rtt),
				      NULL);
		bed_flows_run(b, 1 * S);
		show(b, "four at once");
		assert_true(bed_flows_drops(b) <= rows[i].drops);
		assert_true(bed_flows_use(b) >= 0.8);
		bed_flows_mark(b);
		bed_flows_run(b, 4 * S);
		show(b, "four");
		assert_true(bed_flows_drops(b) <= 0.002);
		assert_true(bed_flows_jain(b) >= 0.9);
		bed_flows_free(b);
	}
}

/* What it has begun with it keeps, while the queue of its start goes. */
static void auto__a_latecomer_keeps_what_it_found(void **state)
{
	struct bed_flows_path path = wan(1, 0);
	double use = 0;
	uint32_t k;

	(void)state;
	for (k = 0; k < LATECOMERS; k++) {
		struct bed_flows *b;

		path.rtt = 15 * MS + k * 300 * US;
		b = bed_flows_new(&path);
		bed_flows_add(b, &sdr_cc_auto, b->now, NULL);
		bed_flows_add(b, &sdr_cc_auto, 3 * S, NULL);
		bed_flows_run(b, 3 * S + 8 * path.rtt);
		bed_flows_mark(b);
		bed_flows_run(b, 8 * path.rtt);
		show(b, "latecomer");
		use += bed_flow_use(b, b->f[1]) / LATECOMERS;
		bed_flows_free(b);
	}
	assert_true(use >= 0.42);
}

static void auto__a_latecomer_gets_its_share(void **state)
{
	struct bed_flows_path path = wan(1, 0);
	struct bed_flows *b = bed_flows_new(&path);

	(void)state;
	bed_flows_add(b, &sdr_cc_auto, b->now, NULL);
	bed_flows_add(b, &sdr_cc_auto, 3 * S, NULL);
	bed_flows_run(b, 6 * S);
	bed_flows_mark(b);
	bed_flows_run(b, 2 * S);
	show(b, "latecomer");
	assert_true(bed_flow_use(b, b->f[1]) >= 0.4);
	assert_true(bed_flows_use(b) >= 0.93);
	bed_flows_free(b);
}

/*
 * Senders into one port of a switch: with eight of them less than two packets each are enough.  No
 * handshake has told them how near it is, and those who begin first may be the only ones to know;
 * how that ends is chance, so there are switches of several delays.
 */
static void auto__incast(void **state)
{
	static const struct {
		uint32_t n;
		uint64_t kib;
		double drops, jain;
	} rows[] = {
		{ 3, 64, 0.001, 0.95 }, { 3, 128, 0.001, 0.95 }, { 8, 64, 0.02, 0.9 },
		{ 8, 128, 0.01, 0.85 }, { 8, 512, 0.006, 0.8 },
	};
	struct bed_flows_path path = { .rate = WAN_RATE, .pkt = 8192 };
	struct bed_flows *b;
	double drops, jain;
	uint32_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		path.queue = rows[i].kib * KIB;
		drops = jain = 0;
		for (k = 0; k < SWITCHES; k++) {
			path.rtt = (180 + k * 40 / SWITCHES) * US;
			b = flows(&path, rows[i].n);
			bed_flows_run(b, 100 * MS); /* nobody had told them that it is near */
			bed_flows_mark(b);
			bed_flows_run(b, 3 * S);
			show(b, "at a switch");
			drops += bed_flows_drops(b) / SWITCHES;
			jain += bed_flows_jain(b) / SWITCHES;
			assert_true(bed_flows_use(b) >= 0.9);
			bed_flows_free(b);
		}
		assert_true(drops <= rows[i].drops);
		assert_true(jain >= rows[i].jain);
	}
}

/* Near, nobody begins with more than a few packets a round trip. */
static void auto__a_near_path_begins_with_little(void **state)
{
	static const struct {
		uint64_t rtt, least, most; /* packets, and of the pacer in that time */
	} rows[] = {
		{ 50 * US, 90, 96 },   { 200 * US, 5, 7 },   { 900 * US, 5, 7 },
		{ 2000 * US, 20, 28 }, { 10 * MS, 90, 100 },
	};
	const struct sdr_rel_cfg cfg = { .cc = &sdr_cc_auto };
	struct sdr_cc cc;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t in =
			rows[i].rtt < 100 * US || rows[i].rtt > 2500 * US ? 2500 * US : rows[i].rtt;

		sdr_cc_init(&cc, &cfg, 8192, 64u << 20, rows[i].rtt, NULL, 0);
		assert_in_range(cc.cwnd / 8192, rows[i].least, rows[i].most);
		assert_in_range(cc.pacing_Bps * in / S / 8192, rows[i].least, rows[i].most);
	}
}

/* Behind a processor that is late for ever a share of what was seen to pass remains. */
static void auto__no_near_flow_yields_for_ever(void **state)
{
	const struct bed_flows_path path = {
		.rate = WAN_RATE, .rtt = 200 * US, .queue = 128 * KIB, .pkt = 8192
	};
	struct bed_flows *b = flows(&path, 1);
	const struct bed_flow *f = b->f[0];

	(void)state;
	bed_flows_run(b, 1 * S);
	b->path.rtt = 5 * MS;
	bed_flows_run(b, 1 * S);
	show(b, "a late host");
	assert_in_range((uint64_t)win_of(f), WAN_RATE / 5000 / 16 - 200, 8192);
	bed_flows_free(b);
}

/* ---- changes --------------------------------------------------------------------------------- */

static void auto__follows_the_rate(void **state)
{
	struct bed_flows_path path = wan(1, 0);
	struct bed_flows *b = flows(&path, 1);

	(void)state;
	bed_flows_run(b, 3 * S);
	b->path.rate = WAN_RATE / 2;
	bed_flows_run(b, 1 * S);
	show(b, "rate / 2, settling");
	bed_flows_mark(b);
	bed_flows_run(b, 2 * S);
	show(b, "rate / 2");
	assert_true(bed_flows_use(b) >= 0.9);
	assert_true(bed_flows_drops(b) <= 0.01);
	assert_true(bed_flows_delay(b, 0.95) <= 6 * MS);
	b->path.rate = WAN_RATE;
	bed_flows_run(b, 1 * S);
	bed_flows_mark(b);
	bed_flows_run(b, 2 * S);
	show(b, "rate * 2");
	assert_true(bed_flows_use(b) >= 0.9);
	assert_true(bed_flows_drops(b) <= 0.01);
	bed_flows_free(b);
}

static void auto__yields_to_marks(void **state)
{
	struct bed_flows_path path = wan(1, 0);
	uint64_t delay, without = 0;
	struct bed_flows *b;
	double use = 0;
	uint32_t i;

	(void)state;
	for (i = 0; i <= SWITCHES; i++) {
		/* less than the queue that is kept without marks */
		path.mark = i ? WAN_RATE / 2000 : 0;
		path.rtt = WAN_RTT + i * 500 * US;
		b = flows(&path, 2);
		bed_flows_run(b, 1 * S);
		bed_flows_mark(b);
		bed_flows_run(b, 5 * S);
		show(b, "marks");
		delay = bed_flows_delay(b, 0.5);
		without = i ? without : delay;
		use += i ? bed_flows_use(b) / SWITCHES : 0;
		assert_true(bed_flows_drops(b) <= 0);
		assert_true(bed_flows_delay(b, 0.95) <= 3 * MS);
		assert_true(!i || delay < without / 2);
		assert_true((sdr_auto_look(&b->f[0]->cc)->marked > 0) == (i > 0));
		bed_flows_free(b);
	}
	assert_true(use >= MARKED_USE);
	assert_true(sdr_cc_auto.marks);
}

/* A round whose every packet was marked takes half of the window at most. */
static void auto__marks_of_a_round(void **state)
{
	struct bed_flows_path path = wan(1, 0);
	struct bed_flows *b = flows(&path, 1);
	double win, begin, least = 1;
	uint32_t i;

	(void)state;
	bed_flows_run(b, 2 * S);
	begin = win_of(b->f[0]);
	b->path.mark = 1;
	for (i = 0; i < 20; i++) {
		win = win_of(b->f[0]);
		bed_flows_run(b, WAN_RTT);
		least = win_of(b->f[0]) / win < least ? win_of(b->f[0]) / win : least;
	}
	assert_true(least >= 0.49 && win_of(b->f[0]) < 0.95 * begin);
	bed_flows_free(b);
}

/* ---- begin ----------------------------------------------------------------------------------- */

static void auto__begins_with_what_is_known(void **state)
{
	struct sdr_cc_known known = { .rate_Bps = WAN_RATE, .rtt_ns = WAN_RTT };
	struct bed_flows_path path = wan(1, 0);
	struct bed_flows *b;
	uint32_t i;
	double use[3], drops;

	(void)state;
	for (i = 0; i < 3; i++) {
		/* nothing; this path; one that is four times as long */
		known.rtt_ns = i < 2 ? WAN_RTT : 4 * WAN_RTT;
		b = bed_flows_new(&path);
		bed_flows_add(b, &sdr_cc_auto, b->now, i ? &known : NULL);
		bed_flows_run(b, WAN_RTT);
		assert_true(!i || b->f[0]->cc.pacing_Bps >= WAN_RATE * 9 / 10);
		bed_flows_run(b, 4 * WAN_RTT);
		show(b, "known");
		/* a round trip passes before anything arrives */
		use[i] = bed_flows_use(b) * 5 / 4;
		drops = bed_flows_drops(b);
		assert_true(drops <= (i < 2 ? 0 : 0.05));
		assert_true((b->f[0]->cc.known.rate_Bps != 0) == (i == 1));
		bed_flows_mark(b);
		bed_flows_run(b, 2 * S);
		assert_true(bed_flows_use(b) >= 0.93);
		bed_flows_free(b);
	}
	assert_true(use[1] >= 0.85);
	assert_true(use[0] < use[1]);
}

/* What was known fits the first window only where the round trip is the known one. */
static void auto__another_path_than_known(void **state)
{
	struct sdr_cc_known known = { .rate_Bps = 10 * WAN_RATE, .rtt_ns = 4 * WAN_RTT };
	struct bed_flows_path path = wan(1, 0);
	struct bed_flows *b = bed_flows_new(&path);
	const struct sdr_auto *a;

	(void)state;
	bed_flows_add(b, &sdr_cc_auto, b->now, &known);
	bed_flows_run(b, 1);
	a = sdr_auto_look(&b->f[0]->cc);
	assert_int_equal(a->phase, SDR_AUTO_CRUISE);
	assert_true(a->win > 30.0 * (double)WAN_BDP);
	b->f[0]->paused = true; /* what has left by now is enough */
	while (!b->f[0]->good)
		bed_flows_run(b, 1 * MS);
	assert_int_equal(a->phase, SDR_AUTO_START);
	assert_true(a->win <= 200.0 * path.pkt && a->rival.most < 5.0 * (double)WAN_RATE);
	bed_flows_free(b);
}

/* ---- pauses, silence, nothing ---------------------------------------------------------------- */

static void auto__a_pause_fades_the_window(void **state)
{
	static const struct {
		uint64_t pause;
		double least, most;
	} rows[] = { { 1 * S, 0.90, 0.96 }, { 10 * S, 0.48, 0.52 }, { 300 * S, 0.2, 0.3 } };
	struct bed_flows_path path = wan(1, 0);
	struct bed_flows *b = flows(&path, 1);
	struct bed_flow *f = b->f[0];
	double win;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f->paused = false;
		bed_flows_run(b, 1 * S);
		while (sdr_auto_look(&f->cc)->phase == SDR_AUTO_DRAIN)
			bed_flows_run(b, WAN_RTT);
		f->paused = true;
		bed_flows_run(b, 4 * WAN_RTT);
		win = win_of(f);
		b->now += rows[i].pause;
		b->tick = b->now;
		f->paused = false;
		bed_flows_run(b, WAN_RTT / 2);
		if (getenv("TEST_CC_VERBOSE"))
			printf("pause: %.3f\n", win_of(f) / win);
		assert_true(win_of(f) >= rows[i].least * win && win_of(f) <= rows[i].most * win);
	}
	bed_flows_free(b);
}

static void auto__timeout(void **state)
{
	struct bed_flows_path path = wan(1, 0);
	struct bed_flows *b = flows(&path, 1);
	struct bed_flow *f = b->f[0];
	double win;
	uint32_t i;

	(void)state;
	bed_flows_run(b, 2 * S);
	win = win_of(f);
	assert_true(f->cc.calm);
	for (i = 0; i < 30; i++) {
		sdr_cc_timeout(&f->cc, b->now);
		assert_false(f->cc.calm || sdr_calm_is(&sdr_auto_state(&f->cc)->calm));
		assert_true(f->cc.pacing_Bps > 0);
		assert_true(f->cc.cwnd >= (uint64_t)SDR_CC_MIN_PKTS * path.pkt);
		if (!i)
			assert_true(win_of(f) <= 0.51 * win && win_of(f) >= 0.49 * win);
	}
	assert_true(win_of(f) < (double)path.pkt);
	/* it comes back */
	bed_flows_run(b, 3 * S);
	bed_flows_mark(b);
	bed_flows_run(b, 1 * S);
	show(b, "after timeouts");
	assert_true(bed_flows_use(b) >= 0.9);
	bed_flows_free(b);
}

/* Nothing passes for a while. */
static void auto__comes_back_after_a_blackout(void **state)
{
	struct bed_flows_path path = wan(1, 0);
	struct bed_flows *b = flows(&path, 1);

	(void)state;
	bed_flows_run(b, 2 * S);
	b->path.loss = 1;
	bed_flows_run(b, 1 * S);
	b->path.loss = 0;
	bed_flows_run(b, 2 * S);
	bed_flows_mark(b);
	bed_flows_run(b, 2 * S);
	show(b, "after a blackout");
	assert_true(bed_flows_use(b) >= 0.9);
	bed_flows_free(b);
}

/* A path that holds less than a packet: two may always be in flight, paced. */
static void auto__never_less_than_some_packets(void **state)
{
	const struct bed_flows_path path = {
		.rate = 12500, .rtt = 5 * MS, .queue = 64 * KIB, .pkt = 1500
	};
	struct bed_flows *b = flows(&path, 2);

	(void)state;
	bed_flows_run(b, 60 * S);
	bed_flows_mark(b);
	bed_flows_run(b, 60 * S);
	show(b, "less than a packet");
	assert_true(b->f[0]->min_cwnd >= (uint64_t)SDR_CC_MIN_PKTS * path.pkt);
	assert_true(bed_flows_use(b) >= 0.8);
	bed_flows_free(b);
}

/* Acknowledgements that say nothing, or nonsense. */
static void auto__strange_acknowledgements(void **state)
{
	const struct sdr_rel_cfg cfg = { .cc = &sdr_cc_auto };
	struct sdr_cc_ack ack = { .now = 1 * S };
	struct sdr_cc_snap snap;
	struct sdr_cc cc;

	(void)state;
	sdr_cc_init(&cc, &cfg, 4096, 1, 1, NULL, 0);
	assert_true(cc.cwnd >= SDR_CC_MIN_PKTS * 4096ull && cc.pacing_Bps > 0);
	sdr_cc_acked(&cc, &ack);
	ack.min_rtt = UINT64_MAX;
	ack.lost = UINT32_MAX;
	sdr_cc_acked(&cc, &ack);
	sdr_cc_sent(&cc, 1 * S, 4096, 0, 0, &snap);
	ack.snap = &snap;
	ack.snap_tx_ns = 1 * S;
	ack.bytes = ack.ce = 4096;
	sdr_cc_acked(&cc, &ack);
	ack.now = 0;
	ack.rtt = 1;
	ack.snap_tx_ns = 5 * S;
	sdr_cc_acked(&cc, &ack);
	sdr_cc_timeout(&cc, 0);
	sdr_cc_app_limited(&cc, 0);
	assert_true(cc.cwnd >= SDR_CC_MIN_PKTS * 4096ull && cc.pacing_Bps > 0);
}

/*
 * One of many, whose rounds begin with what the application did not fill: the window grows by half
 * of one round, and not of all those before it.
 */
static void auto__grows_by_one_round_at_a_time(void **state)
{
	const struct sdr_rel_cfg cfg = { .cc = &sdr_cc_auto };
	const struct sdr_cc_known known = { .together = 4 };
	struct sdr_cc_snap snap[8];
	struct sdr_cc cc;
	uint32_t k, i;

	(void)state;
	sdr_cc_init(&cc, &cfg, 8192, 64 << 20, 25 * MS, &known, 1 * S);
	for (k = 0; k < 12; k++) {
		uint64_t now = 1 * S + k * 50 * MS;
		double win = sdr_auto_state(&cc)->win;

		for (i = 0; i < 8; i++) {
			/* the last round is full */
			cc.app_limited_until = i < 4 && k < 11 ? UINT64_MAX : 0;
			sdr_cc_sent(&cc, now + i * MS, 8192, 0, i * 8192, &snap[i]);
		}
		for (i = 0; i < 8; i++) {
			struct sdr_cc_ack ack = { .now = now + (25 + i) * MS,
						  .bytes = 8192,
						  .inflight = (7 - i) * 8192,
						  .rtt = 25 * MS,
						  .min_rtt = 25 * MS,
						  .snap = &snap[i],
						  .snap_tx_ns = now + i * MS };

			sdr_cc_acked(&cc, &ack);
		}
		assert_true(cc.starting);
		assert_true(sdr_auto_state(&cc)->win <= win + 4 * 8192 + 1);
	}
}

/* The queue that a flow keeps: longer for who has less, by the root. */
static void auto__target(void **state)
{
	uint64_t all, quarter;

	(void)state;
	all = sdr_auto_target(WAN_RTT, 8192, (double)WAN_BDP);
	quarter = sdr_auto_target(WAN_RTT, 8192, (double)WAN_BDP / 4);
	assert_true(all > 300 * US && all < 2 * MS);
	assert_true(quarter > all && quarter < 2 * all);
	/* across a switch it is short; nearer than that it is what processors make of it */
	assert_true(sdr_auto_target(200 * US, 8192, 25000) < 150 * US);
	assert_true(sdr_auto_target(50 * US, 8192, 25000) >= 300 * US);
	assert_true(sdr_auto_target(5 * US, 8192, 25000) >= 1 * MS);
	for (uint64_t rtt = 90 * US; rtt < 200 * US; rtt += 5 * US) /* and nothing jumps */
		assert_in_range(sdr_auto_target(rtt, 8192, 25000) -
					sdr_auto_target(rtt + 5 * US, 8192, 25000) + 5 * US,
				0, 30 * US);
	assert_true(sdr_auto_target(WAN_RTT, 1500, (double)WAN_BDP) < all);
}

/* ... and leant towards equal shares, but on a path that is not full, or a near one. */
static void auto__target_leans(void **state)
{
	const struct sdr_rel_cfg cfg = { .cc = &sdr_cc_auto };
	const double win = (double)WAN_BDP;
	struct sdr_cc cc;
	struct sdr_auto *a = sdr_auto_state(&cc);

	(void)state;
	sdr_cc_init(&cc, &cfg, 1500, 64u << 20, WAN_RTT, NULL, 0);
	a->queue.base = WAN_RTT;
	assert_int_equal(sdr_auto_keeps(&cc, win), sdr_auto_target(WAN_RTT, 1500, win));
	a->rival.most = (double)WAN_RATE;
	a->sure = true;
	a->queue.queue = 10 * MS;
	assert_true(sdr_auto_keeps(&cc, win) < sdr_auto_target(WAN_RTT, 1500, win));
	assert_true(sdr_auto_keeps(&cc, win / 3) > sdr_auto_keeps(&cc, win * 2 / 3) + 200 * US);
	a->queue.queue = 0;
	assert_true(sdr_auto_keeps(&cc, win) >= sdr_auto_target(WAN_RTT, 1500, win));
	a->queue.base = 200 * US;
	a->queue.queue = 10 * MS;
	assert_in_range(sdr_auto_keeps(&cc, 25000), sdr_auto_target(200 * US, 1500, 25000),
			sdr_auto_target(200 * US, 1500, 25000) + 20 * US);
}

/* One of a crowd keeps what the others keep, though it never had more than its share of it. */
static void auto__target_of_who_was_never_alone(void **state)
{
	static const uint64_t rtts[] = { 6 * MS, WAN_RTT };
	const struct sdr_rel_cfg cfg = { .cc = &sdr_cc_auto };
	struct sdr_cc cc[2];

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		const double share = i % 2 ? 0.125 : 0.2;
		const uint64_t rtt = rtts[i / 2];
		const double win = share * WAN_RATE * (double)rtt / S;
		uint64_t one, other;

		for (uint32_t k = 0; k < 2; k++) {
			struct sdr_auto *a = sdr_auto_state(&cc[k]);

			sdr_cc_init(&cc[k], &cfg, 8192, 64u << 20, rtt, NULL, 0);
			sdr_qdelay_sample(&a->queue, 1, rtt);
			sdr_qdelay_full(&a->queue, rtt + 65 * US);
			a->rival.most = k ? share * WAN_RATE : WAN_RATE;
			a->sure = !k;
			a->queue.queue = 2 * MS;
		}
		one = sdr_auto_keeps(&cc[0], win);
		other = sdr_auto_keeps(&cc[1], win);
		assert_in_range(other, one * 98 / 100, one * 102 / 100);
	}
}

/* Others have filled the queue when it begins: a small packet is all of a flight that arrives. */
static void auto__a_flight_that_is_lost(void **state)
{
	const struct sdr_rel_cfg cfg = { .cc = &sdr_cc_auto };
	const uint32_t mtu = 9000, pkts = 96;
	struct sdr_cc_snap snap;
	struct sdr_cc_ack ack = { .now = 1 * S + 38 * MS,
				  .bytes = 600,
				  .lost = (uint64_t)pkts * mtu,
				  .rtt = 7 * MS,
				  .min_rtt = 6 * MS,
				  .snap = &snap,
				  .snap_tx_ns = 1 * S + 31 * MS };
	struct sdr_cc cc;

	(void)state;
	sdr_cc_init(&cc, &cfg, mtu, 64u << 20, 6 * MS, NULL, 1 * S);
	for (uint32_t i = 0; i < pkts; i++)
		sdr_cc_sent(&cc, 1 * S, mtu, 0, (uint64_t)i * mtu, &snap);
	sdr_cc_sent(&cc, ack.snap_tx_ns, ack.bytes, 0, pkts * mtu, &snap);
	sdr_cc_acked(&cc, &ack);
	assert_false(cc.starting);
	/* what was lost leaves within some round trips, in which it learns nothing */
	assert_true(sdr_auto_look(&cc)->win >= 2.0 * mtu);
	assert_true(sdr_auto_look(&cc)->win <= 8.0 * mtu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auto__grows_by_one_round_at_a_time),
		cmocka_unit_test(auto__target),
		cmocka_unit_test(auto__target_leans),
		cmocka_unit_test(auto__target_of_who_was_never_alone),
		cmocka_unit_test(auto__a_flight_that_is_lost),
		cmocka_unit_test(auto__alone),
		cmocka_unit_test(auto__calm),
		cmocka_unit_test(auto__random_loss),
		cmocka_unit_test(auto__no_drain_where_the_path_was_empty),
		cmocka_unit_test(auto__drains_by_a_common_clock),
		cmocka_unit_test(auto__drains_soon_after_start),
		cmocka_unit_test(auto__owns_up_to_what_is_dropped),
		cmocka_unit_test(auto__two_share),
		cmocka_unit_test(auto__several_start_at_once),
		cmocka_unit_test(auto__a_latecomer_keeps_what_it_found),
		cmocka_unit_test(auto__a_latecomer_gets_its_share),
		cmocka_unit_test(auto__incast),
		cmocka_unit_test(auto__a_near_path_begins_with_little),
		cmocka_unit_test(auto__no_near_flow_yields_for_ever),
		cmocka_unit_test(auto__follows_the_rate),
		cmocka_unit_test(auto__yields_to_marks),
		cmocka_unit_test(auto__marks_of_a_round),
		cmocka_unit_test(auto__begins_with_what_is_known),
		cmocka_unit_test(auto__another_path_than_known),
		cmocka_unit_test(auto__a_pause_fades_the_window),
		cmocka_unit_test(auto__timeout),
		cmocka_unit_test(auto__comes_back_after_a_blackout),
		cmocka_unit_test(auto__never_less_than_some_packets),
		cmocka_unit_test(auto__strange_acknowledgements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
