/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How a connection starts: what it finds out about the path with its first messages.
 */
#include "rel/bulk/sdr_scheme.h"
#include "rel/path/sdr_cc_ops.h"
#include "../bed/bed.h"

#define KIB  1024u
#define GBIT 1000000000ull
#define RTT  (25 * MS)

/* A controller that sends a window at once. */
static void burst_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	(void)cfg;
	(void)now;
	cc->cwnd = 1024 * KIB;
	cc->pacing_Bps = 0;
}

static void burst_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
			const struct sdr_cc_rate *rate)
{
	(void)cc;
	(void)ack;
	(void)rate;
}

static void burst_timeout(struct sdr_cc *cc, uint64_t now)
{
	(void)cc;
	(void)now;
}

static const struct sdr_cc_ops burst = {
	.name = "burst",
	.init = burst_init,
	.acked = burst_acked,
	.timeout = burst_timeout,
};

/* Two nodes, far apart, behind a line of that rate. */
static struct bed *far_pair(uint64_t rate_bps, const struct sdr_cc_ops *cc)
{
	struct bed *b = bed_new(2);

	b->link.delay_ns = RTT / 2;
	b->link.rate_bps = rate_bps;
	for (uint32_t i = 0; i < 2; i++) {
		b->cfg[i].scheme = &sdr_scheme_sr;
		b->cfg[i].cc = cc;
	}
	bed_boot(b);
	bed_warm(b, 0, 1);
	return b;
}

static void move(struct bed *b, uint32_t len)
{
	struct bed_op *r = bed_recv(b, 1, bed_buf(b, len, 0), len),
		      *s = bed_send(b, 0, 1, bed_buf(b, len, 7), len, 0);

	bed_wait(b, r, 60 * BED_SEC);
	bed_wait(b, s, 60 * BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
}

static const struct sdr_cc *cc_of(struct bed *b)
{
	return &bed_conn(b, 0, 1)->cc;
}

/* Of the rate of the line: what is payload. */
static double share(const struct bed *b, uint64_t Bps)
{
	return (double)Bps * 8 / (double)b->link.rate_bps;
}

/* One message, none of which fills the path: what arrives tells how fast it is. */
static void start__one_small_message_tells_the_rate(void **state)
{
	static const struct {
		uint64_t rate;
		uint32_t kib;
	} rows[] = {
		{ GBIT / 100, 64 }, { GBIT / 100, 256 }, { GBIT / 10, 128 },  { GBIT, 128 },
		{ GBIT, 256 },	    { GBIT, 1024 },	 { 10 * GBIT, 1024 },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bed *b = far_pair(rows[i].rate, &burst);

		move(b, rows[i].kib * KIB);
		assert_true(share(b, cc_of(b)->train.rate_Bps) > 0.95);
		assert_true(share(b, cc_of(b)->train.rate_Bps) < 1.01);
		assert_true(cc_of(b)->train.err <= 0.05);
		bed_close(b);
	}
}

/* Paced more slowly than the path takes it: at least that. */
static void start__a_slow_sender_knows_the_least(void **state)
{
	struct bed *b = far_pair(GBIT, &sdr_cc_bbr);

	(void)state;
	move(b, 256 * KIB);
	assert_int_equal(cc_of(b)->train.rate_Bps, 0);
	assert_true(share(b, cc_of(b)->capacity_least) > 0.05);
	assert_true(share(b, cc_of(b)->capacity_least) < 1);
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start__one_small_message_tells_the_rate),
		cmocka_unit_test(start__a_slow_sender_knows_the_least),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
