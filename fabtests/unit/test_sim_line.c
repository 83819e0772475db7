/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Lines that links of the simulated network share: order, rate, room, what their queue management
 * drops and marks, and that a world in which nothing shares a line is another matter.
 */
#include "test_sim_util.h"

#define US    1000ull
#define MS    (1000 * US)
#define NODES 6u /* three senders (0, 2, 4), three receivers */
#define WIRE  1000u
#define MANY  4096u

struct net {
	struct sdr_sim_world *w;
	uint32_t line;
	struct arrival {
		uint64_t at, a;
		uint32_t node;
		uint8_t ecn;
	} got[MANY];
	uint32_t n;
	struct tap {
		struct net *net;
		uint32_t node;
	} tap[NODES];
};

static void taken(void *user, const struct sdr_sim_raw *r)
{
	struct tap *t = user;
	struct net *n = t->net;

	assert_true(n->n < MANY);
	n->got[n->n++] = (struct arrival){ sdr_sim_world_now(n->w), r->a, t->node, r->ecn };
}

/* Each sender to its receiver over the line, delays of 1, 2, 3 ms behind it. */
static void net_open(struct net *n, const struct sdr_sim_line *cfg, uint64_t nic_bps)
{
	struct sdr_sim_world_attr wa = { .seed = 7, .nodes = NODES };
	int line;

	memset(n, 0, sizeof(*n));
	n->w = sdr_sim_world_create(&wa);
	assert_non_null(n->w);
	line = sdr_sim_line_add(n->w, cfg);
	assert_int_equal(line, 0);
	n->line = (uint32_t)line;
	for (uint32_t i = 0; i < NODES; i++) {
		n->tap[i] = (struct tap){ n, i };
		assert_int_equal(sdr_sim_raw_open(n->w, i, taken, &n->tap[i]), 0);
	}
	for (uint32_t i = 0; i < NODES; i += 2) {
		struct sdr_sim_link l = { .delay_ns = (i / 2 + 1) * MS, .rate_bps = nic_bps };

		assert_int_equal(sdr_sim_link_set(n->w, i, i + 1, &l), 0);
		assert_int_equal(sdr_sim_link_line(n->w, i, i + 1, n->line), 0);
	}
}

static void net_close(struct net *n)
{
	sdr_sim_world_destroy(n->w);
}

static void net_send(struct net *n, uint32_t from, uint64_t a, uint32_t wire, uint8_t ecn)
{
	struct sdr_sim_raw r = { .a = a, .wire = wire, .ecn = ecn };

	assert_int_equal(sdr_sim_raw_send(n->w, from, from + 1, &r), 0);
}

static void net_drain(struct net *n)
{
	while (sdr_sim_world_step(n->w))
		;
}

static struct sdr_sim_line_stats net_stats(struct net *n)
{
	struct sdr_sim_line_stats st;

	sdr_sim_line_stats(n->w, n->line, &st);
	return st;
}

/* 1000 bytes take 8 us at 1 Gbit/s. */
static void line__sends_in_order_of_arrival(void **state)
{
	struct sdr_sim_line cfg = { .rate_bps = 1000000000 };
	struct net n;
	uint64_t t0;

	(void)state;
	net_open(&n, &cfg, 0);
	t0 = sdr_sim_world_now(n.w);
	for (uint64_t i = 0; i < 9; i++)
		net_send(&n, (uint32_t)(i % 3) * 2, i, WIRE, 0);
	assert_int_equal(sdr_sim_line_backlog(n.w, n.line), 8 * WIRE);
	assert_int_equal(sdr_sim_line_wait(n.w, n.line), 9 * 8 * US);
	net_drain(&n);
	assert_int_equal(n.n, 9);
	for (uint32_t i = 0; i < n.n; i++) {
		const struct arrival *g = &n.got[i];

		assert_int_equal(g->node, g->a % 3 * 2 + 1);
		assert_int_equal(g->at - t0, (g->a + 1) * 8 * US + (g->a % 3 + 1) * MS);
	}
	assert_int_equal(sdr_sim_line_wait(n.w, n.line), 0);
	assert_int_equal(net_stats(&n).out_bytes, 9 * WIRE);
	net_close(&n);
}

/* What waits besides the packet that is sent counts; a packet alone always finds room. */
static void line__drops_the_tail(void **state)
{
	struct sdr_sim_line cfg = { .rate_bps = 1000000000, .queue_bytes = 4 * WIRE };
	struct sdr_sim_link_stats l[2];
	struct net n;

	(void)state;
	net_open(&n, &cfg, 0);
	for (uint64_t i = 0; i < 10; i++)
		net_send(&n, i < 5 ? 0 : 2, i, WIRE, 0);
	net_drain(&n);
	assert_int_equal(n.n, 5);
	assert_int_equal(net_stats(&n).dropped, 5);
	assert_int_equal(net_stats(&n).queue_peak, 4 * WIRE);
	sdr_sim_link_stats(n.w, 0, 1, &l[0]);
	sdr_sim_link_stats(n.w, 2, 3, &l[1]);
	assert_int_equal(l[0].dropped, 0);
	assert_int_equal(l[1].dropped, 5);
	assert_int_equal(l[0].line_out, 5);
	assert_int_equal(l[0].line_bytes, 5 * WIRE);
	net_send(&n, 0, 0, 8 * WIRE, 0);
	net_send(&n, 0, 1, 8 * WIRE, 0);
	net_send(&n, 0, 2, WIRE, 0);
	net_drain(&n);
	assert_int_equal(n.n, 7);
	net_close(&n);
}

/* The sender's own line hands packets over one after the other. */
static void line__stands_behind_the_senders_own(void **state)
{
	struct sdr_sim_line cfg = { .rate_bps = 2000000000, .queue_bytes = WIRE };
	struct net n;
	uint64_t t0;

	(void)state;
	net_open(&n, &cfg, 1000000000);
	t0 = sdr_sim_world_now(n.w);
	for (uint64_t i = 0; i < 8; i++)
		net_send(&n, 0, i, WIRE, 0);
	net_drain(&n);
	assert_int_equal(n.n, 8);
	assert_int_equal(net_stats(&n).dropped, 0);
	for (uint32_t i = 0; i < n.n; i++)
		assert_int_equal(n.got[i].at - t0, (i + 1) * 8 * US + 4 * US + MS);
	net_close(&n);
}

/* What waits goes at the new rate, what is being sent at the old one. */
static void line__changes_its_rate_under_way(void **state)
{
	struct sdr_sim_line cfg = { .rate_bps = 1000000000 }, slow = { .rate_bps = 100000000 };
	struct net n;
	uint64_t t0;

	(void)state;
	net_open(&n, &cfg, 0);
	t0 = sdr_sim_world_now(n.w);
	assert_int_equal(sdr_sim_line_set_at(n.w, t0 + 12 * US, n.line, &slow), 0);
	for (uint64_t i = 0; i < 4; i++)
		net_send(&n, 0, i, WIRE, 0);
	net_drain(&n);
	assert_int_equal(n.n, 4);
	assert_int_equal(n.got[1].at - t0, 16 * US + MS);
	assert_int_equal(n.got[2].at - t0, 16 * US + 80 * US + MS);
	assert_int_equal(n.got[3].at - t0, 16 * US + 160 * US + MS);
	net_close(&n);
}

/* Step marking: who waits longer is marked if it can be, and nobody is dropped. */
static void line__marks_above_a_threshold(void **state)
{
	struct sdr_sim_line cfg = { .rate_bps = 1000000000, .mark_ns = 40 * US };
	struct net n;

	(void)state;
	net_open(&n, &cfg, 0);
	for (uint64_t i = 0; i < 20; i++)
		net_send(&n, i % 2 ? 2 : 0, i, WIRE, i % 2 ? SDR_UC_ECT0 : SDR_UC_NOT_ECT);
	net_drain(&n);
	assert_int_equal(n.n, 20);
	for (uint32_t i = 0; i < n.n; i++) {
		const struct arrival *g = &n.got[i];
		uint8_t plain = g->a % 2 ? SDR_UC_ECT0 : SDR_UC_NOT_ECT;

		/* the i-th waits 8 us * i */
		assert_int_equal(g->ecn, g->a % 2 && g->a > 5 ? SDR_UC_CE : plain);
	}
	assert_int_equal(net_stats(&n).marked, 7);
	net_close(&n);
}

/* Offers 25 % more than the line carries for so long. */
static void overload(struct net *n, uint64_t ns, uint8_t ecn)
{
	uint64_t end = sdr_sim_world_now(n->w) + ns;

	while (sdr_sim_world_now(n->w) < end) {
		net_send(n, 0, 0, WIRE, ecn);
		sdr_sim_world_run_until(n->w, sdr_sim_world_now(n->w) + 64 * US);
		n->n = 0;
	}
}

/*
 * RFC 8289: nothing for an interval; then, while nobody answers, the k-th drop comes an interval /
 * sqrt(k) behind the one before it: after t seconds there were (t / 0.2 s)^2 of them.
 */
static void line__codel_drops_what_waits_too_long(void **state)
{
	struct sdr_sim_line cfg = { .rate_bps = 100000000,
				    .codel_target_ns = 5 * MS,
				    .codel_interval_ns = 100 * MS };
	struct net n;
	double law;

	(void)state;
	net_open(&n, &cfg, 0);
	overload(&n, 100 * MS, 0);
	assert_int_equal(net_stats(&n).aqm_dropped, 0);
	assert_true(sdr_sim_line_wait(n.w, n.line) > 20 * MS);
	overload(&n, 9900 * MS, 0);
	law = (9.88 / 0.2) * (9.88 / 0.2);
	assert_true((double)net_stats(&n).aqm_dropped > 0.95 * law);
	assert_true((double)net_stats(&n).aqm_dropped < 1.05 * law);
	assert_int_equal(net_stats(&n).dropped, 0);
	assert_int_equal(net_stats(&n).marked, 0);
	net_close(&n);
}

/* When less comes than the line carries, the queue empties and nothing more is dropped. */
static void line__codel_ends_when_the_queue_is_short(void **state)
{
	struct sdr_sim_line cfg = { .rate_bps = 100000000,
				    .codel_target_ns = 5 * MS,
				    .codel_interval_ns = 100 * MS };
	uint64_t dropped;
	struct net n;

	(void)state;
	net_open(&n, &cfg, 0);
	overload(&n, 500 * MS, 0);
	net_drain(&n);
	dropped = net_stats(&n).aqm_dropped;
	assert_true(dropped > 0);
	for (int i = 0; i < 1000; i++) {
		net_send(&n, 0, 0, WIRE, 0);
		sdr_sim_world_run_until(n.w, sdr_sim_world_now(n.w) + 100 * US);
	}
	assert_int_equal(net_stats(&n).aqm_dropped, dropped);
	net_close(&n);
}

static void line__codel_marks_what_can_be_marked(void **state)
{
	struct sdr_sim_line cfg = { .rate_bps = 100000000,
				    .codel_target_ns = 5 * MS,
				    .codel_interval_ns = 100 * MS };
	struct net n;

	(void)state;
	net_open(&n, &cfg, 0);
	overload(&n, 1000 * MS, SDR_UC_ECT0);
	assert_int_equal(net_stats(&n).aqm_dropped, 0);
	assert_true(net_stats(&n).marked > 0);
	net_close(&n);
}

/* Share of what the line loses, and packets lost in a row. */
static void losses(const struct sdr_sim_line *cfg, uint64_t gap, double *share, double *run)
{
	uint64_t i, lost = 0, runs = 0, before;
	bool last = false, now;
	struct net n;

	net_open(&n, cfg, 0);
	for (i = 0; i < 200000; i++) {
		before = net_stats(&n).lost;
		net_send(&n, 0, i, WIRE, 0);
		sdr_sim_world_run_until(n.w, sdr_sim_world_now(n.w) + gap);
		now = net_stats(&n).lost != before;
		lost += now;
		runs += now && !last;
		last = now;
		n.n = 0;
	}
	*share = (double)lost / (double)i;
	*run = (double)lost / (double)runs;
	net_close(&n);
}

static void line__loses_in_bursts_of_time_or_of_packets(void **state)
{
	struct sdr_sim_line cfg = {
		.rate_bps = 1000000000, .ge_loss = 0.02, .ge_burst = 8, .ge_bytes = WIRE
	};
	double share, run;

	(void)state;
	losses(&cfg, 8 * US, &share, &run);
	assert_true(share > 0.017 && share < 0.023);
	assert_true(run > 7 && run < 9);
	/* the same stretch of time has an eighth of the packets */
	losses(&cfg, 64 * US, &share, &run);
	assert_true(share > 0.017 && share < 0.023);
	assert_true(run < 2);
	cfg.ge_packets = true;
	losses(&cfg, 64 * US, &share, &run);
	assert_true(share > 0.016 && share < 0.024);
	assert_true(run > 7 && run < 9);
}

static void line__says_what_makes_no_sense(void **state)
{
	struct sdr_sim_line cfg = { .rate_bps = 1000000000 }, none = { 0 };
	struct sdr_sim_node_attr na = { 0 };
	struct sdr_uc *uc;
	struct net n;

	(void)state;
	net_open(&n, &cfg, 0);
	assert_int_equal(sdr_sim_line_add(n.w, &none), -EINVAL);
	assert_int_equal(sdr_sim_line_set(n.w, 1, &cfg), -EINVAL);
	assert_int_equal(sdr_sim_line_set(n.w, 0, &none), -EINVAL);
	assert_int_equal(sdr_sim_line_set_at(n.w, 0, 1, &cfg), -EINVAL);
	assert_int_equal(sdr_sim_link_line(n.w, 0, 1, 1), -EINVAL);
	assert_int_equal(sdr_sim_link_line(n.w, 0, NODES, 0), -EINVAL);
	assert_int_equal(sdr_sim_raw_open(n.w, 0, taken, NULL), -EBUSY);
	assert_int_equal(sdr_sim_node_open(n.w, 0, &na, &uc), -EBUSY);
	net_send(&n, 0, 0, WIRE, 0);
	assert_int_equal(sdr_sim_link_line(n.w, 0, 1, 0), -EINVAL); /* it has sent */
	net_close(&n);						    /* a packet is under way */
}

/* A real engine's packets carry marks to who reads them, and only where the node says so. */
static void line__marks_reach_the_engine(void **state)
{
	static uint8_t src[4 * PAIR_MTU], dst[4 * PAIR_MTU];
	struct sdr_sim_world_attr wa = { .seed = 1 };
	struct sdr_sim_line cfg = { .rate_bps = 1000000000, .mark_ns = 1 };
	struct sdr_sim_node_attr na = { .mtu = PAIR_MTU };
	struct sdr_uc_info info;
	struct pair t;

	(void)state;
	for (int ecn = 0; ecn < 2; ecn++) {
		na.ecn = ecn;
		pair_open(&t, &wa, &na);
		assert_int_equal(sdr_sim_line_add(t.w, &cfg), 0);
		assert_int_equal(sdr_sim_link_line(t.w, 0, 1, 0), 0);
		t.uc[0]->ops->info(t.uc[0], &info);
		assert_int_equal(info.ecn, ecn);
		t.uc[1]->ops->slot_bind(t.qp[1], 0, 0, dst, sizeof(dst), NULL);
		struct sdr_uc_tx tx = pair_write(&t, 0, 0, 0, 0, src, sizeof(src));

		tx.flags = SDR_UC_F_ECT;
		assert_int_equal(t.uc[0]->ops->post(t.uc[0], &tx, 1), 1);
		pair_drain(&t);
		assert_int_equal(pair_poll(&t, 1), 4);
		for (int i = 0; i < 4; i++)
			assert_int_equal(t.ev[i].ecn, !ecn ? SDR_UC_NOT_ECT
						      : i  ? SDR_UC_CE
							   : SDR_UC_ECT0);
		pair_close(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line__sends_in_order_of_arrival),
		cmocka_unit_test(line__drops_the_tail),
		cmocka_unit_test(line__stands_behind_the_senders_own),
		cmocka_unit_test(line__changes_its_rate_under_way),
		cmocka_unit_test(line__marks_above_a_threshold),
		cmocka_unit_test(line__codel_drops_what_waits_too_long),
		cmocka_unit_test(line__codel_ends_when_the_queue_is_short),
		cmocka_unit_test(line__codel_marks_what_can_be_marked),
		cmocka_unit_test(line__loses_in_bursts_of_time_or_of_packets),
		cmocka_unit_test(line__says_what_makes_no_sense),
		cmocka_unit_test(line__marks_reach_the_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
