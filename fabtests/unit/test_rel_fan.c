/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Who shares a path, as both of its ends see it: an all-to-all is the product of what one sends and
 * what one receives at the time; nobody else is counted, and who does not say it, or says what
 * cannot be, gets its data all the same.
 */
#include "../bed/bed.h"
#include "rel/path/sdr_cc_ops.h"
#include "rel/conn/sdr_conn_fan.h"

#define LEN 400000u

static struct bed *fan_new(uint32_t nodes, uint64_t delay)
{
	struct bed *b = bed_new(nodes);

	b->link.delay_ns = delay;
	for (uint32_t i = 0; i < nodes; i++) {
		b->cfg[i].scheme = sdr_scheme_find("sr");
		b->na[i].mtu = SDR_MTU_MAX;
		b->na[i].rx_window = 8u << 20;
	}
	bed_boot(b);
	return b;
}

/* Each of the first from sends one message to each of the others at the same time. */
static void exchange(struct bed *b, uint32_t from, uint32_t nodes)
{
	for (uint32_t i = 0; i < from; i++) {
		for (uint32_t k = from; k < nodes; k++) {
			bed_recv(b, k, bed_buf(b, LEN, 0), LEN);
			bed_send(b, i, k, bed_buf(b, LEN, i), LEN, 0);
		}
	}
}

static struct sdr_cc_ack told(struct bed *b, uint32_t from, uint32_t to)
{
	struct sdr_cc_ack ca = { 0 };

	sdr_conn_fan_tell(bed_conn(b, from, to), &ca);
	return ca;
}

static void met(struct bed *b, uint32_t from, uint32_t nodes)
{
	exchange(b, from, nodes);
	bed_wait_all(b, BED_SEC);
	bed_run(b, 10 * BED_RTT);
	exchange(b, from, nodes);
	bed_run(b, BED_RTT + BED_RTT / 4);
}

static void fan__is_the_product_of_both(void **state)
{
	static const struct {
		uint32_t from, nodes, sharers;
	} rows[] = { { 2, 4, 4 }, { 3, 6, 9 }, { 4, 5, 4 }, { 2, 6, 8 } };

	(void)state;
	for (uint32_t r = 0; r < 4; r++) {
		struct bed *b = fan_new(rows[r].nodes, BED_DELAY);

		met(b, rows[r].from, rows[r].nodes);
		for (uint32_t i = 0; i < rows[r].from; i++)
			for (uint32_t k = rows[r].from; k < rows[r].nodes; k++)
				assert_int_equal(told(b, i, k).sharers, rows[r].sharers);
		/* and it is over when they are */
		bed_wait_all(b, BED_SEC);
		bed_run(b, 10 * BED_RTT);
		bed_recv(b, rows[r].from, bed_buf(b, LEN, 0), LEN);
		bed_send(b, 0, rows[r].from, bed_buf(b, LEN, 1), LEN, 0);
		bed_run(b, BED_RTT + BED_RTT / 4);
		assert_in_range(told(b, 0, rows[r].from).sharers, 0, 1);
		bed_wait_all(b, BED_SEC);
		bed_close(b);
	}
}

static void fan__not_near_by_and_not_alone(void **state)
{
	struct bed *b = fan_new(4, 20000);

	(void)state;
	exchange(b, 2, 4);
	for (uint32_t i = 0; i < 100; i++) {
		bed_run(b, 20000);
		if (bed_conn(b, 0, 2))
			assert_int_equal(told(b, 0, 2).sharers, 0);
	}
	bed_wait_all(b, BED_SEC);
	bed_close(b);
	b = fan_new(2, BED_DELAY);
	met(b, 1, 2);
	assert_in_range(told(b, 0, 1).sharers, 0, 1);
	bed_wait_all(b, BED_SEC);
	bed_close(b);
}

/* What they begin with goes there and back, as a mean. */
static void fan__means_go_there_and_back(void **state)
{
	struct bed *b = fan_new(4, BED_DELAY);

	(void)state;
	exchange(b, 2, 4);
	bed_wait_all(b, BED_SEC);
	bed_run(b, 10 * BED_RTT);
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t k = 2; k < 4; k++)
			bed_conn(b, i, k)->main.cc.begin_win = 100000 * (1 + i) + 10000 * (k - 2);
	exchange(b, 2, 4);
	bed_run(b, BED_RTT + BED_RTT / 4);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(bed_conn(b, 2, i)->fan.in.win, 100000 * (1 + i));
		assert_int_equal(bed_conn(b, i, 2)->fan.out.win, 150000);
		assert_int_equal(bed_conn(b, i, 3)->fan.out.win, 160000);
		assert_int_equal(told(b, i, 2).sharers_win, 155000);
	}
	bed_wait_all(b, BED_SEC);
	bed_close(b);
}

/* Numbers of any size, at any time, in a packet as if the peer had sent it. */
static void fan__lies_change_nothing_else(void **state)
{
	static const struct sdr_frame_fan lies[] = { { UINT16_MAX, UINT32_MAX, UINT32_MAX },
						     { 1, 1, 1 },
						     { 0, 0, UINT32_MAX },
						     { UINT16_MAX, 0, 0 } };
	struct bed *b = fan_new(2, BED_DELAY);
	uint8_t frame[16];

	(void)state;
	b->cfg[0].cc = sdr_cc_find("auto");
	bed_warm(b, 0, 1);
	for (uint32_t i = 0; i < 8; i++) {
		struct sdr_conn *c = bed_conn(b, 0, 1);
		size_t n = sdr_frame_fan_encode(frame, sizeof(frame), &lies[i % 4]);

		bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
		bed_send(b, 0, 1, bed_buf(b, LEN, i), LEN, 0);
		bed_forge(b, 1, 0, c->id.cid, c->rx.pns.r[0].hi + 1000, frame, n);
		bed_wait_all(b, BED_SEC);
		assert_int_equal(c->fan.said, lies[i % 4].in ? lies[i % 4].in : 1);
	}
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fan__is_the_product_of_both),
		cmocka_unit_test(fan__not_near_by_and_not_alone),
		cmocka_unit_test(fan__means_go_there_and_back),
		cmocka_unit_test(fan__lies_change_nothing_else),
	};

	return cmocka_run_group_tests_name("rel fan", tests, NULL, NULL);
}
