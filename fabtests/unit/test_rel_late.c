/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Hosts whose threads are late to read what has arrived: round trips are those of the path, where
 * hosts stamp what comes, and nothing is taken for lost because nobody has looked.
 */
#include "../bed/bed.h"
#include "rel/path/sdr_cc_ops.h"

#define MBIT 1000000ull
#define RTT  (40 * MS)
#define AWAY (18 * MS) /* of each ... */
#define TURN (20 * MS)
#define RX   (8u << 20)

static struct bed *late_new(bool stamps)
{
	struct bed *b = bed_new(2);

	b->link.delay_ns = RTT / 2;
	b->link.rate_bps = 1000 * MBIT;
	for (uint32_t i = 0; i < 2; i++) {
		b->na[i].mtu = SDR_MTU_MAX;
		b->na[i].rx_window = RX;
		b->na[i].stamps = stamps;
	}
	bed_boot(b);
	return b;
}

/* Messages of that length one after the other, while that node is away most of the time. */
static uint64_t smoothed(bool stamps, uint32_t node, uint32_t len)
{
	struct bed *b = late_new(stamps);
	uint64_t srtt;

	for (uint32_t i = 0; i < 40; i++) {
		bed_recv(b, 1, bed_buf(b, len, 0), len);
		bed_send(b, 0, 1, bed_buf(b, len, (uint8_t)i), len, 0);
		for (uint64_t t = 0; t < 2 * RTT; t += TURN) {
			sdr_sim_node_stall(b->w, node, bed_now(b) + AWAY);
			bed_run(b, TURN);
		}
	}
	bed_wait_all(b, 20 * BED_SEC);
	assert_int_equal(bed_conn(b, 0, 1)->st.rtx_spurious, 0);
	srtt = bed_conn(b, 0, 1)->main.rtt.srtt;
	bed_close(b);
	return srtt;
}

/* Records and their acknowledgements, packets of a large message and its reports; either side. */
static void late__is_no_part_of_a_round_trip(void **state)
{
	static const uint32_t len[] = { 100, 300000 };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t with = smoothed(true, i & 1, len[i / 2]);
		uint64_t without = smoothed(false, i & 1, len[i / 2]);

		print_message("%u bytes, node %u: %.1f ms, without stamps %.1f ms\n", len[i / 2],
			      i & 1, (double)with / 1e6, (double)without / 1e6);
		assert_in_range(with, RTT, RTT + 3 * MS);
		assert_true(without > RTT + 4 * MS);
	}
}

/* The round trip of the handshake, where nobody looks for its answer when that comes. */
static uint64_t handshake(bool stamps)
{
	struct bed *b = late_new(stamps);
	uint64_t rtt;

	bed_recv(b, 1, bed_buf(b, 100, 0), 100);
	bed_send(b, 0, 1, bed_buf(b, 100, 1), 100, 0);
	bed_run(b, MS);
	sdr_sim_node_stall(b->w, 0, bed_now(b) + RTT + AWAY);
	while (!bed_conn(b, 0, 1)->hs.validated) {
		bed_run(b, MS);
		assert_true(bed_now(b) < BED_SEC);
	}
	assert_int_equal(bed_conn(b, 0, 1)->main.rtt.samples, 1);
	rtt = bed_conn(b, 0, 1)->main.rtt.min_rtt;
	bed_wait_all(b, 20 * BED_SEC);
	bed_close(b);
	return rtt;
}

static void late__is_no_part_of_the_handshake(void **state)
{
	(void)state;
	assert_in_range(handshake(true), RTT, RTT + MS);
	assert_in_range(handshake(false), RTT + AWAY, RTT + AWAY + 2 * MS);
}

/*
 * A third of everything is lost, near by: messages there and back.  The longest of them, without
 * the first, which has a handshake in it.
 */
static uint64_t third_lost(uint64_t seed)
{
	static const uint32_t len[] = {
		100, 100, 100, 100, 1u << 20, 1u << 20, 1u << 20, 1u << 20
	};
	struct bed *b = bed_new(2);
	uint64_t most = 0;

	b->seed = seed;
	b->link.delay_ns = 20000;
	b->link.loss = 0.3;
	for (uint32_t i = 0; i < 2; i++) {
		b->cfg[i].scheme = sdr_scheme_find("ec");
		b->cfg[i].cc = sdr_cc_find("auto");
		b->cfg[i].rate_bps = 0;
		b->na[i].mtu = SDR_MTU_MAX;
		b->na[i].rx_window = RX;
		b->na[i].stamps = true;
	}
	bed_boot(b);
	for (uint32_t i = 0; i < 8; i++) {
		uint64_t from = bed_now(b);

		bed_recv(b, i & 1, bed_buf(b, len[i], 0), len[i]);
		bed_send(b, !(i & 1), i & 1, bed_buf(b, len[i], i), len[i], 0);
		bed_wait_all(b, 100 * BED_SEC);
		if (i && bed_now(b) - from > most)
			most = bed_now(b) - from;
	}
	bed_close(b);
	return most;
}

/* Timeouts do not wait as long as answers do that are repetitions of those that were lost. */
static void late__is_no_answer_that_was_lost_before(void **state)
{
	uint64_t most = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		uint64_t took = third_lost(seed);

		most = took > most ? took : most;
	}
	print_message("%.0f ms\n", (double)most / 1e6);
	assert_true(most < BED_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late__is_no_part_of_a_round_trip),
		cmocka_unit_test(late__is_no_part_of_the_handshake),
		cmocka_unit_test(late__is_no_answer_that_was_lost_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
