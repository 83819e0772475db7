/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The size of what a connection sends follows the path: narrow paths from the start and in
 * mid-transfer, with and without ICMP, one direction only; messages of every size around the
 * limits; packets in parts and in pieces.  Ends take 8 KiB of data in a packet.
 */
#include "../bed/bed.h"

#define ENDS  9000u /* bytes: MTU of the ends */
#define RTT   BED_RTT
#define LIMIT (20000 * MS)

static struct bed *path_new(uint32_t carries, bool icmp)
{
	struct bed *b = bed_new(2);

	for (uint32_t i = 0; i < 2; i++) {
		b->na[i].no_probe = false;
		b->na[i].mtu = SDR_MTU_MAX;
	}
	b->link.mtu = carries;
	b->link.icmp = icmp;
	return b;
}

static struct bed *path_open(uint32_t carries, bool icmp)
{
	struct bed *b = path_new(carries, icmp);

	bed_boot(b);
	bed_peer(b, 0, 1);
	bed_peer(b, 1, 0);
	return b;
}

static void path_set(struct bed *b, uint32_t carries, bool icmp)
{
	assert_int_equal(sdr_sim_link_mtu(b->w, 0, 1, carries, icmp), 0);
	assert_int_equal(sdr_sim_link_mtu(b->w, 1, 0, carries, icmp), 0);
}

static uint32_t size_of(struct bed *b, uint32_t node)
{
	return bed_conn(b, node, 1 - node)->main.pmtu.size;
}

/* A message of len bytes each way; both arrive. */
static void exchange(struct bed *b, size_t len)
{
	struct bed_op *op[4];
	uint8_t *to[2];

	for (uint32_t i = 0; i < 2; i++) {
		to[i] = bed_buf(b, len, 0);
		op[i] = bed_recv(b, i, to[i], len);
	}
	for (uint32_t i = 0; i < 2; i++)
		op[2 + i] = bed_send(b, i, 1 - i, bed_buf(b, len, 5 + i), len, 0);
	for (uint32_t i = 0; i < 4; i++)
		bed_wait(b, op[i], LIMIT);
	for (uint32_t i = 0; i < 2; i++) {
		bed_assert_ok(op[i]);
		assert_true(bed_same(to[i], len, 6 - i));
	}
}

/* ns from posting to completion of a message, there. */
static uint64_t one_way(struct bed *b, size_t len)
{
	uint8_t *to = bed_buf(b, len, 0);
	struct bed_op *r = bed_recv(b, 1, to, len);
	uint64_t begun = bed_now(b), took;

	bed_send(b, 0, 1, bed_buf(b, len, 9), len, 0);
	bed_wait(b, r, LIMIT);
	bed_assert_ok(r);
	assert_true(bed_same(to, len, 9));
	took = bed_now(b) - begun;
	bed_wait_all(b, LIMIT);
	return took;
}

/* The long HELLO is answered: one round trip, no probe, no piece. */
static void path__full_size_is_known_with_the_handshake(void **state)
{
	struct bed *b = path_open(0, false);

	(void)state;
	bed_warm(b, 0, 1);
	exchange(b, 1 << 20);
	assert_int_equal(size_of(b, 0), bed_conn(b, 0, 1)->main.pmtu.max);
	assert_int_equal(bed_conn(b, 0, 1)->main.pmtu.how, SDR_PMTU_BY_HELLO);
	assert_int_equal(size_of(b, 1), bed_conn(b, 1, 0)->main.pmtu.max);
	assert_int_equal(bed_stats(b, 0).parts_tx, 0);
	assert_int_equal(bed_stats(b, 0).path_holes + bed_stats(b, 1).path_holes, 0);
	bed_assert_no_repair(b);
	bed_close(b);
}

/* Hosts that say when a packet reached them, as kernels do. */
static struct bed *stamped(uint32_t carries)
{
	struct bed *b = path_new(carries, false);

	b->na[0].stamps = b->na[1].stamps = true;
	return b;
}

/* A few bytes open the connection; until who was called knows who has.  Returns when, ns. */
static uint64_t called(struct bed *b)
{
	bed_peer(b, 0, 1);
	bed_recv(b, 1, bed_buf(b, 8, 0), 8);
	bed_send(b, 0, 1, bed_buf(b, 8, 7), 8, 0);
	while (!bed_conn(b, 1, 0) || !bed_conn(b, 1, 0)->hs.validated) {
		bed_run(b, MS / 100);
		assert_true(bed_now(b) < LIMIT);
	}
	assert_true(bed_conn(b, 1, 0)->hs.passive);
	return bed_now(b);
}

/* The answer to the long HELLO is as long: nor does who was called begin with pieces. */
static void path__who_is_called_knows_it_as_well(void **state)
{
	struct bed *b = stamped(0);
	uint64_t took;

	(void)state;
	bed_boot(b);
	took = called(b);
	assert_int_equal(size_of(b, 1), bed_conn(b, 1, 0)->main.pmtu.max);
	assert_int_equal(bed_stats(b, 1).path_probes, 1);
	exchange(b, 1 << 20);
	assert_int_equal(bed_stats(b, 1).path_probes, 1);
	bed_close(b);
	/* a way back that does not carry it: nothing waits for it, and the search begins */
	b = stamped(ENDS);
	bed_boot(b);
	assert_int_equal(sdr_sim_link_mtu(b->w, 1, 0, 1500, false), 0);
	assert_in_range(called(b), took - MS / 10, took + MS / 10);
	assert_true(size_of(b, 1) < 1500);
	exchange(b, 1 << 20);
	assert_in_range(size_of(b, 1), 1500 - SDR_PMTU_GRAIN, 1500);
	assert_int_equal(size_of(b, 0), bed_conn(b, 0, 1)->main.pmtu.max);
	assert_int_equal(bed_stats(b, 1).path_holes, 0);
	bed_close(b);
}

/*
 * Paths from the least to the ends', with and without ICMP: found, and nothing is lost but probes.
 */
static void path__narrow_from_the_start(void **state)
{
	static const uint32_t carries[] = { 1100, 1200, 1280, 1420, 1500, 4200 };

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		for (uint32_t icmp = 0; icmp < 2; icmp++) {
			struct bed *b = path_open(carries[i], icmp);

			exchange(b, 1 << 20);
			exchange(b, 4 << 20);
			bed_run(b, 100 * MS); /* a round of probes is over */
			exchange(b, 1 << 20);
			exchange(b, 1 << 20);
			for (uint32_t k = 0; k < 2; k++) {
				/* data packets fit without being cut */
				assert_true(bed_conn(b, k, 1 - k)->shape->mtu + 64 <=
					    size_of(b, k));
				assert_true(size_of(b, k) <= carries[i]);
				assert_true(carries[i] <= 1200 ||
					    size_of(b, k) + SDR_PMTU_GRAIN >= carries[i]);
			}
			bed_close(b);
		}
	}
}

/* The first message behind the handshake: what the issue allows, and a full-size path's time. */
static void path__first_message_is_hardly_late(void **state)
{
	static const size_t len[] = { 8, 1300, 1380, 3000, 4000, 65536, 1 << 20 };

	(void)state;
	for (uint32_t i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		uint64_t t[3];

		for (uint32_t k = 0; k < 3; k++) {
			struct bed *b = path_open(k ? 1420 : 0, k == 1);

			t[k] = one_way(b, len[i]);
			bed_close(b);
		}
		if (getenv("SDR_BED_V"))
			print_message("%zu: %lu %lu %lu us\n", len[i], t[0] / 1000, t[1] / 1000,
				      t[2] / 1000);
		assert_true(t[1] <= t[0] + 2 * RTT);
		assert_true(t[2] <= t[0] + 6 * RTT);
	}
}

/* Every size around what fits a datagram, a packet, two of them. */
static void path__every_size_around_the_limits(void **state)
{
	static const uint32_t carries[] = { 1280, 1420, 1500 };

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct bed *b = path_open(carries[i], false);

		for (uint32_t at = carries[i] - 160; at < carries[i] + 16; at += 3)
			exchange(b, at);
		for (uint32_t at = 2 * carries[i] - 160; at < 2 * carries[i]; at += 13)
			exchange(b, at);
		bed_close(b);
	}
}

/* It shrinks while everything is under way: bulk, and records made for the longer packets. */
static void path__shrinks_in_mid_transfer(void **state)
{
	(void)state;
	for (uint32_t icmp = 0; icmp < 2; icmp++) {
		struct bed *b = path_open(0, false);
		struct bed_op *r[20];
		uint8_t *to[20], *big = bed_buf(b, 32 << 20, 0);
		struct bed_op *recv;

		bed_warm(b, 0, 1);
		recv = bed_recv(b, 1, big, 32 << 20);
		bed_send(b, 0, 1, bed_buf(b, 32 << 20, 3), 32 << 20, 0);
		bed_run(b, 10 * MS);
		path_set(b, 1420, icmp);
		for (uint32_t i = 0; i < 20; i++) {
			to[i] = bed_buf(b, 3900, 0);
			r[i] = bed_recv(b, 1, to[i], 3900);
			bed_send(b, 0, 1, bed_buf(b, 3900, 20 + i), 3900, 0);
		}
		for (uint32_t i = 0; i < 20; i++) {
			bed_wait(b, r[i], LIMIT);
			bed_assert_ok(r[i]);
			assert_true(bed_same(to[i], 3900, 20 + i));
		}
		bed_wait(b, recv, LIMIT);
		bed_assert_ok(recv);
		assert_true(bed_same(big, 32 << 20, 3));
		assert_true(size_of(b, 0) <= 1420);
		assert_true(bed_stats(b, 0).parts_tx >= 40);
		assert_int_equal(bed_stats(b, 0).path_holes, !icmp);
		exchange(b, 1 << 20);
		bed_close(b);
	}
}

/* One direction only: the other keeps its size. */
static void path__one_direction(void **state)
{
	struct bed *b = path_open(0, false);

	(void)state;
	exchange(b, 1 << 20);
	assert_int_equal(sdr_sim_link_mtu(b->w, 1, 0, 1420, false), 0);
	exchange(b, 4 << 20);
	exchange(b, 4 << 20);
	assert_int_equal(size_of(b, 0), bed_conn(b, 0, 1)->main.pmtu.max);
	assert_true(size_of(b, 1) <= 1420);
	bed_close(b);
}

/* It grows: found when the time for another look has come, and used. */
static void path__grows(void **state)
{
	struct bed *b = path_open(1420, false);

	(void)state;
	exchange(b, 1 << 20);
	exchange(b, 1 << 20);
	assert_true(size_of(b, 0) <= 1420);
	path_set(b, 0, false);
	bed_run(b, SDR_PMTU_RAISE_NS + 1000 * MS);
	exchange(b, 1 << 20);
	exchange(b, 1 << 20);
	assert_int_equal(size_of(b, 0), bed_conn(b, 0, 1)->main.pmtu.max);
	exchange(b, 1 << 20);
	assert_int_equal(bed_conn(b, 0, 1)->shape->mtu, SDR_MTU_MAX);
	bed_close(b);
}

/* An idle connection looks for nothing. */
static void path__idle_connections_are_silent(void **state)
{
	struct bed *b = path_open(1420, false);
	uint64_t sent;

	(void)state;
	exchange(b, 8);
	bed_run(b, 2000 * MS);
	sent = b->node[0].bytes + b->node[1].bytes;
	bed_run(b, 3 * SDR_PMTU_RAISE_NS);
	assert_true(b->node[0].bytes + b->node[1].bytes == sent);
	bed_close(b);
}

/* With random losses beside: no loss is taken for a black hole, and nothing hangs. */
static void path__losses_are_no_black_hole(void **state)
{
	struct bed *b = path_new(0, false);

	(void)state;
	b->link.loss = 0.05;
	bed_boot(b);
	bed_peer(b, 0, 1);
	bed_peer(b, 1, 0);
	for (uint32_t i = 0; i < 4; i++)
		exchange(b, 4 << 20);
	assert_int_equal(bed_stats(b, 0).path_holes + bed_stats(b, 1).path_holes, 0);
	bed_close(b);
}

/* A path that flaps, and loses: bytes right, whatever comes when. */
static void path__flaps(void **state)
{
	struct bed *b = path_new(0, false);

	(void)state;
	b->link.loss = 0.01;
	b->link.reorder = 0.01;
	b->link.reorder_ns = MS;
	bed_boot(b);
	bed_peer(b, 0, 1);
	bed_peer(b, 1, 0);
	for (uint32_t i = 0; i < 12; i++) {
		static const uint32_t carries[] = { 1420, 0, 1280, 4200, 1500 };

		path_set(b, carries[i % 5], i % 3 == 0);
		exchange(b, 100000 + i * 77777);
		exchange(b, 1000 + i * 300);
	}
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path__full_size_is_known_with_the_handshake),
		cmocka_unit_test(path__who_is_called_knows_it_as_well),
		cmocka_unit_test(path__narrow_from_the_start),
		cmocka_unit_test(path__first_message_is_hardly_late),
		cmocka_unit_test(path__every_size_around_the_limits),
		cmocka_unit_test(path__shrinks_in_mid_transfer),
		cmocka_unit_test(path__one_direction),
		cmocka_unit_test(path__grows),
		cmocka_unit_test(path__idle_connections_are_silent),
		cmocka_unit_test(path__losses_are_no_black_hole),
		cmocka_unit_test(path__flaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
