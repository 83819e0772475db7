/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the handshake tells of a slow path (rel/conn/sdr_hello_pair.c), and what the first window
 * makes of it.
 */
#include "rel/path/sdr_cc_ops.h"
#include "rel/path/sdr_path_mem.h"
#include "../bed/bed.h"

#define MBIT 1000000ull
#define RTT  (40 * MS)
#define MANY 64u	/* packets: of a first window that was not told to be small */
#define RX   (8u << 20) /* bytes: a receiver's buffer is no limit */
#define LEN  500000	/* bytes of a message: a good part of a first window */

/* Nodes that ask what the path carries, behind a line with a queue of the round trip's worth. */
static struct bed *slow_new(uint64_t rate_bps, uint64_t rtt)
{
	struct bed *b = bed_new(2);

	b->link.delay_ns = rtt / 2;
	b->link.rate_bps = rate_bps;
	b->link.queue_bytes = rate_bps / 8 * rtt / BED_SEC;
	for (uint32_t i = 0; i < 2; i++) {
		b->cfg[i].cc = &sdr_cc_auto;
		b->na[i].no_probe = false;
		b->na[i].mtu = SDR_MTU_MAX;
		b->na[i].rx_window = RX;
	}
	return b;
}

static const struct sdr_cc *cc_of(struct bed *b)
{
	return &bed_conn(b, 0, 1)->main.cc;
}

static uint64_t dropped_at(const struct bed *b, uint32_t node)
{
	struct sdr_sim_link_stats st;

	sdr_sim_link_stats(b->w, node, 1 - node, &st);
	return st.dropped;
}

static uint64_t dropped(const struct bed *b)
{
	return dropped_at(b, 0);
}

/* The first message between the two, and the handshake with it. */
static struct bed_op *first(struct bed *b)
{
	bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
	return bed_send(b, 0, 1, bed_buf(b, LEN, 7), LEN, 0);
}

/* Until all answers have come, or nothing more is waited for. */
static void answers(struct bed *b)
{
	while (!bed_conn(b, 0, 1)->hs.validated || cc_of(b)->pair.waits) {
		bed_run(b, MS / 10);
		assert_true(bed_now(b) < 20 * BED_SEC);
	}
}

static void pair__a_slow_path_is_told(void **state)
{
	static const struct {
		uint64_t mbit, rtt;
	} rows[] = { { 10, RTT }, { 20, RTT }, { 40, RTT }, { 10, 250 * MS } };

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bed *b = slow_new(rows[i].mbit * MBIT, rows[i].rtt);
		uint64_t bdp = b->link.queue_bytes, cwnd;

		bed_boot(b);
		first(b);
		answers(b);
		assert_in_range(cc_of(b)->pair.most_Bps, rows[i].mbit * MBIT / 8 * 9 / 10,
				rows[i].mbit * MBIT / 8 * 11 / 10);
		cwnd = cc_of(b)->cwnd;
		assert_true(cwnd <= bdp + bdp / 4 || cwnd <= 5 * cc_of(b)->mtu);
		bed_wait_all(b, 20 * BED_SEC);
		assert_int_equal(dropped(b), 0);
		bed_close(b);
	}
}

/* A message from the side that was called, on a path of mbit; returns what the queue dropped. */
static uint64_t called(uint64_t mbit, const struct sdr_cc_ops *ops)
{
	struct bed *b = slow_new(mbit * MBIT, RTT);
	const struct sdr_cc *cc;
	uint64_t lost;

	b->cfg[1].cc = ops;
	bed_boot(b);
	bed_recv(b, 1, bed_buf(b, 8, 0), 8);
	bed_send(b, 0, 1, bed_buf(b, 8, 7), 8, 0);
	bed_wait_all(b, BED_SEC);
	assert_true(bed_conn(b, 1, 0)->hs.passive);
	bed_recv(b, 0, bed_buf(b, LEN, 0), LEN);
	bed_send(b, 1, 0, bed_buf(b, LEN, 7), LEN, 0);
	bed_run(b, RTT / 4);
	cc = &bed_conn(b, 1, 0)->main.cc;
	assert_false(cc->pair.waits);
	if (mbit > 100 || !ops->pair)
		assert_int_equal(cc->pair.most_Bps, 0);
	else
		assert_in_range(cc->pair.most_Bps, mbit * MBIT / 8 * 9 / 10,
				mbit * MBIT / 8 * 11 / 10);
	assert_true((cc->pair.most_Bps == 0) == (cc->cwnd >= MANY * cc->mtu));
	bed_wait_all(b, 20 * BED_SEC);
	lost = dropped_at(b, 1);
	bed_close(b);
	return lost;
}

/* Who is called has seen the HELLOs, and takes its own direction for the same. */
static void pair__who_is_called_knows_it_as_well(void **state)
{
	struct sdr_cc_ops deaf = sdr_cc_auto;

	(void)state;
	deaf.pair = NULL;
	assert_true(called(10, &sdr_cc_auto) * 8 < called(10, &deaf));
	assert_true(called(40, &sdr_cc_auto) * 4 < called(40, &deaf));
	assert_int_equal(called(1000, &sdr_cc_auto), 0);
}

/* The same without: the controller does not ask, and sends what a fast path takes. */
static void pair__who_does_not_ask_overruns_it(void **state)
{
	struct bed *b = slow_new(10 * MBIT, RTT);
	struct sdr_cc_ops deaf = sdr_cc_auto;

	(void)state;
	deaf.pair = NULL;
	b->cfg[0].cc = &deaf;
	bed_boot(b);
	first(b);
	bed_wait_all(b, 20 * BED_SEC);
	assert_true(dropped(b) > 20);
	assert_int_equal(cc_of(b)->pair.most_Bps, 0);
	assert_int_equal(bed_seen(b, 0, BED_HELLO), 2);
	bed_close(b);
}

static void pair__a_fast_path_begins_with_all(void **state)
{
	static const uint64_t mbit[] = { 100, 1000, 10000 };

	(void)state;
	for (uint32_t i = 0; i < sizeof(mbit) / sizeof(mbit[0]); i++) {
		struct bed *b = slow_new(mbit[i] * MBIT, RTT);

		bed_boot(b);
		first(b);
		answers(b);
		assert_int_equal(bed_seen(b, 0, BED_HELLO), 4);
		assert_int_equal(cc_of(b)->pair.most_Bps, 0);
		assert_int_equal(cc_of(b)->delivered, 0);
		assert_true(cc_of(b)->cwnd >= MANY * cc_of(b)->mtu);
		/* and all of the message leaves at once */
		bed_run(b, 3 * MS);
		assert_true(bed_conn(b, 0, 1)->inflight >= LEN);
		bed_wait_all(b, 20 * BED_SEC);
		bed_close(b);
	}
}

/* The first answer opens the connection: four packets do not wait for the others. */
static void pair__little_leaves_before(void **state)
{
	struct bed *b = slow_new(10 * MBIT, RTT);

	(void)state;
	bed_boot(b);
	first(b);
	while (!bed_conn(b, 0, 1)->pair.n)
		bed_run(b, MS / 10);
	bed_run(b, MS);
	assert_true(cc_of(b)->pair.waits);
	assert_true(bed_now(b) < RTT + 10 * MS);
	assert_in_range(bed_conn(b, 0, 1)->inflight, 3 * cc_of(b)->mtu, 5 * cc_of(b)->mtu);
	bed_wait_all(b, 20 * BED_SEC);
	bed_close(b);
}

/* What is lost, overtaken or late says nothing, of a slow path as of a fast one. */
static void pair__anything_else_says_nothing(void **state)
{
	static const struct {
		uint32_t node, what;
		uint64_t nth, n, delay;
	} rows[] = {
		{ 0, BED_HELLO, 0, 1, 0 },
		{ 0, BED_HELLO, 1, 1, 0 },
		{ 0, BED_HELLO, 2, 1, 0 },
		{ 0, BED_HELLO, 3, 1, 0 },
		{ 0, BED_HELLO, 0, 2, 0 },
		{ 0, BED_HELLO, 2, 2, 0 },
		{ 0, BED_HELLO, 1, 3, 0 },
		{ 1, BED_HELLO_ACK, 0, 1, 0 },
		{ 1, BED_HELLO_ACK, 1, 1, 0 },
		{ 1, BED_HELLO_ACK, 2, 1, 0 },
		{ 1, BED_HELLO_ACK, 3, 1, 0 },
		{ 1, BED_HELLO_ACK, 1, 3, 0 },
		/* a host stops in between, and hands out what has come meanwhile */
		{ 1, BED_HELLO_ACK, 1, 3, 5 * MS },
		{ 1, BED_HELLO_ACK, 2, 2, 5 * MS },
		/* one is overtaken */
		{ 1, BED_HELLO_ACK, 0, 1, 9 * MS },
		{ 1, BED_HELLO_ACK, 1, 1, 9 * MS },
		{ 1, BED_HELLO_ACK, 2, 1, 9 * MS },
	};
	static const uint64_t mbit[] = { 10, 1000 };

	(void)state;
	for (uint32_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t k = i / 2;
		struct bed *b = slow_new(mbit[i & 1] * MBIT, RTT);
		struct bed_rule *r;

		bed_boot(b);
		if (rows[k].delay)
			r = bed_late(b, rows[k].node, rows[k].what, rows[k].nth, rows[k].n,
				     rows[k].delay);
		else
			r = bed_drop(b, rows[k].node, rows[k].what, rows[k].nth, rows[k].n);
		first(b);
		bed_wait_all(b, 20 * BED_SEC);
		assert_int_equal(r->hit, rows[k].n);
		assert_false(cc_of(b)->pair.waits);
		/* on a slow one a delay that is shorter than the gap may leave the order alone */
		if (mbit[i & 1] > 100 || !rows[k].delay)
			assert_int_equal(cc_of(b)->pair.most_Bps, 0);
		bed_close(b);
	}
}

/*
 * Whoever reads is late, again and again, by more than the answers are apart: with the stamps of
 * hosts a slow path is told all the same and a fast one is none, without them nothing is.
 */
static void pair__late_threads_have_stamps(void **state)
{
	static const uint64_t mbit[] = { 10, 40, 1000 };

	(void)state;
	for (uint32_t i = 0; i < 12; i++) {
		uint64_t line = mbit[i % 3] * MBIT;
		bool stamps = i < 6;
		uint32_t late = i / 3 & 1;
		struct bed *b = slow_new(line, RTT);

		b->na[0].stamps = b->na[1].stamps = stamps;
		bed_boot(b);
		first(b);
		for (uint32_t k = 0; k < 12; k++) {
			sdr_sim_node_stall(b->w, late, bed_now(b) + 29 * MS);
			bed_run(b, 30 * MS);
		}
		bed_wait_all(b, 20 * BED_SEC);
		if (stamps && mbit[i % 3] < 100)
			assert_in_range(cc_of(b)->pair.most_Bps, line / 8 * 9 / 10,
					line / 8 * 11 / 10);
		else
			assert_int_equal(cc_of(b)->pair.most_Bps, 0);
		bed_close(b);
	}
}

/* Nothing arrives but what is short: there is nothing to ask, nor to wait for. */
static void pair__a_narrow_path_is_not_asked(void **state)
{
	struct bed *b = slow_new(1000 * MBIT, RTT);

	(void)state;
	b->link.mtu = 1500;
	bed_boot(b);
	first(b);
	bed_run(b, RTT + 2 * MS);
	assert_int_equal(bed_conn(b, 0, 1)->pair.n, 0);
	assert_false(cc_of(b)->pair.waits);
	assert_true(cc_of(b)->cwnd >= MANY * cc_of(b)->mtu);
	bed_wait_all(b, 20 * BED_SEC);
	bed_close(b);
}

/*
 * What is known of a path may be too little, so more than that is tried: on a slow path that was
 * known to be slow, no more than it holds.
 */
static void pair__a_known_path_is_asked(void **state)
{
	struct sdr_path_mem *m = sdr_path_mem_new(1);
	struct bed *b = slow_new(10 * MBIT, RTT);

	(void)state;
	b->paths[0] = m;
	bed_boot(b);
	first(b);
	bed_wait_all(b, 20 * BED_SEC);
	bed_crash(b, 0);
	bed_boot_node(b, 0);
	bed_run(b, 100 * MS);
	first(b);
	bed_wait_all(b, 20 * BED_SEC);
	assert_true(cc_of(b)->known.rate_Bps > 0);
	assert_int_equal(bed_conn(b, 0, 1)->pair.n, 4);
	assert_int_equal(dropped(b), 0);
	bed_close(b);
	sdr_path_mem_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pair__a_slow_path_is_told),
		cmocka_unit_test(pair__who_is_called_knows_it_as_well),
		cmocka_unit_test(pair__who_does_not_ask_overruns_it),
		cmocka_unit_test(pair__a_fast_path_begins_with_all),
		cmocka_unit_test(pair__little_leaves_before),
		cmocka_unit_test(pair__anything_else_says_nothing),
		cmocka_unit_test(pair__late_threads_have_stamps),
		cmocka_unit_test(pair__a_narrow_path_is_not_asked),
		cmocka_unit_test(pair__a_known_path_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
