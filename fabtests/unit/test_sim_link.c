/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The weather of the simulated network: each impairment does what it says, and the same seed does
 * it again.
 */
#include <math.h>
#include "test_sim_util.h"

#define US 1000ull
#define MS (1000 * US)

static uint8_t src[64 * PAIR_MTU], dst[64 * PAIR_MTU];

/* Sends n packets, gap ns apart, and returns how many were reported. */
static int stream(struct pair *t, int n, uint64_t gap)
{
	int got = 0;

	t->uc[1]->ops->slot_bind(t->qp[1], 0, 0, dst, sizeof(dst), NULL);
	for (int i = 0; i < n; i++) {
		struct sdr_uc_tx tx = pair_write(t, 0, 0, 0, (uint32_t)i % 64, src, PAIR_MTU);

		assert_int_equal(t->uc[0]->ops->post(t->uc[0], &tx, 1), 1);
		sdr_sim_world_run_until(t->w, sdr_sim_world_now(t->w) + gap);
		got += pair_poll(t, 1);
	}
	pair_drain(t);
	for (int r; (r = pair_poll(t, 1)) > 0;)
		got += r;
	return got;
}

static void link__rate_and_delay_are_exact(void **state)
{
	/* 1088 bytes at 8 Gbit/s: 1088 ns each */
	struct sdr_sim_world_attr wa = { .link = { .rate_bps = 8000000000ull,
						   .delay_ns = 12500 * US } };
	struct pair t;
	uint64_t t0;

	(void)state;
	assert_int_equal(PAIR_WIRE, 1088);
	pair_open(&t, &wa, NULL);
	t0 = sdr_sim_world_now(t.w);
	struct sdr_uc_tx tx = pair_write(&t, 0, 0, 0, 0, src, 3 * PAIR_MTU);

	t.uc[0]->ops->post(t.uc[0], &tx, 1);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(sdr_sim_world_next(t.w), t0 + 12500 * US + i * 1088);
		sdr_sim_world_step(t.w);
	}
	assert_false(sdr_sim_world_step(t.w));
	pair_close(&t);
}

static void link__rate_keeps_fractions_of_a_nanosecond(void **state)
{
	/* 21.76 ns per packet */
	struct sdr_sim_world_attr wa = { .link = { .rate_bps = 400000000000ull } };
	struct pair t;
	uint64_t t0;

	(void)state;
	pair_open(&t, &wa, NULL);
	t0 = sdr_sim_world_now(t.w);
	for (int i = 0; i < 10; i++) {
		struct sdr_uc_tx tx = pair_write(&t, 0, 0, 0, 0, src, 10 * PAIR_MTU);

		t.uc[0]->ops->post(t.uc[0], &tx, 1);
	}
	pair_drain(&t);
	assert_int_equal(sdr_sim_world_now(t.w) - t0, 2176);
	pair_close(&t);
}

static void link__queue_drops_its_tail(void **state)
{
	struct sdr_sim_world_attr wa = { .link = { .rate_bps = 1000000000,
						   .queue_bytes = 10 * PAIR_WIRE } };
	struct sdr_sim_link_stats st;
	struct pair t;

	(void)state;
	pair_open(&t, &wa, NULL);
	assert_int_equal(stream(&t, 50, 0), 10);
	sdr_sim_link_stats(t.w, 0, 1, &st);
	assert_int_equal(st.dropped, 40);
	assert_int_equal(st.data, 50);
	assert_int_equal(st.queue_peak, 10 * PAIR_WIRE);
	pair_close(&t);
}

static void link__own_queue_stops_the_sender(void **state)
{
	struct sdr_sim_world_attr wa = {
		.link = { .rate_bps = 1000000000, .queue_bytes = 10 * PAIR_WIRE, .block = true }
	};
	struct pair t;
	uint64_t dl;
	int got = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(src); i++)
		src[i] = (uint8_t)(i ^ i >> 8);
	memset(dst, 0, sizeof(dst));
	pair_open(&t, &wa, NULL);
	t.uc[1]->ops->slot_bind(t.qp[1], 0, 0, dst, sizeof(dst), NULL);
	struct sdr_uc_tx tx = pair_write(&t, 0, 0, 0, 0, src, sizeof(src));
	uint64_t t0 = sdr_sim_world_now(t.w);

	assert_int_equal(t.uc[0]->ops->post(t.uc[0], &tx, 1), 0);
	assert_int_equal(tx.w.first, 10); /* advanced in place */
	assert_int_equal(tx.len, sizeof(src) - 10 * PAIR_MTU);
	assert_ptr_equal(tx.buf, src + 10 * PAIR_MTU);
	assert_int_equal(pair_stats(&t, 0).tx_again, 1);
	for (int i = 0; i < 1000; i++) {
		dl = t.uc[0]->ops->deadline(t.uc[0]);
		assert_true(dl > sdr_sim_world_now(t.w) && dl != UINT64_MAX);
		sdr_sim_world_run_until(t.w, dl);
		got += pair_poll(&t, 1);
		if (t.uc[0]->ops->post(t.uc[0], &tx, 1) == 1)
			break;
	}
	pair_drain(&t);
	got += pair_poll(&t, 1);
	assert_int_equal(got, 64);
	assert_memory_equal(src, dst, sizeof(src));
	/* the line was never idle: 64 * 1088 * 8 ns */
	assert_in_range(sdr_sim_world_now(t.w) - t0, 64 * 1088 * 8, 64 * 1088 * 8 + 64);
	pair_close(&t);
}

static void link__independent_loss_has_its_rate(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 3, .link = { .loss = 0.1 } };
	struct pair t;

	(void)state;
	pair_open(&t, &wa, NULL);
	assert_in_range(stream(&t, 100000, 100), 89600, 90400); /* 4 sigma: 380 */
	pair_close(&t);
}

struct bursts {
	uint64_t lost, runs, pairs; /* pairs: lost, and so was the packet before */
	bool in;
};

static void bursts_trace(void *user, uint64_t now, enum sdr_sim_what what,
			 const struct sdr_sim_packet *p)
{
	struct bursts *b = user;

	(void)now;
	(void)p;
	if (what == SDR_SIM_T_LOST) {
		b->lost++;
		b->runs += !b->in;
		b->pairs += b->in;
		b->in = true;
	} else if (what == SDR_SIM_T_SENT) {
		b->in = false;
	}
}

static void link__bursts_have_their_length_and_rate(void **state)
{
	struct bursts b = { 0 };
	struct sdr_sim_world_attr wa = { .seed = 3,
					 .link = { .ge_loss = 0.02, .ge_burst = 16 },
					 .trace = bursts_trace,
					 .user = &b };
	struct pair t;

	(void)state;
	pair_open(&t, &wa, NULL);
	stream(&t, 400000, 10);
	assert_in_range(b.lost, 7000, 9000);
	assert_in_range(b.lost * 10 / b.runs, 145, 175);
	pair_close(&t);
}

#define GE_SLOT 1088ull /* ns of a full packet at 8 Gbit/s */
#define GE_LOSS 0.02
#define GE_LEN	16

/*
 * A line of 8 Gbit/s with bursts of 16 full packets; each packet starts gap ns after the one
 * before, or at its end.
 */
static struct bursts bursts_on_a_line(int n, uint64_t gap, uint32_t ctl)
{
	struct bursts b = { 0 };
	struct sdr_sim_node_attr na = { .mtu = PAIR_MTU };
	struct sdr_sim_world_attr wa = {
		.seed = 3,
		.link = { .rate_bps = 8000000000ull, .ge_loss = GE_LOSS, .ge_burst = GE_LEN },
		.trace = bursts_trace,
		.user = &b,
	};
	struct pair t;

	pair_open(&t, &wa, &na);
	for (int i = 0; ctl && i < n; i++) {
		pair_ctl(&t, 0, src, ctl);
		sdr_sim_world_run_until(t.w, sdr_sim_world_now(t.w) + gap);
		while (pair_poll(&t, 1) > 0)
			;
	}
	if (!ctl)
		stream(&t, n, gap);
	pair_close(&t);
	return b;
}

static double bursts_again(const struct bursts *b)
{
	return (double)b->pairs / (double)b->lost;
}

/* P(lost) `slots` after a lost packet. */
static double ge_again(double slots)
{
	double lambda = 1 - 1.0 / GE_LEN - GE_LOSS / GE_LEN / (1 - GE_LOSS);

	return GE_LOSS + (1 - GE_LOSS) * pow(lambda, slots);
}

#define assert_near(x, want, tol) assert_true(fabs((x) - (want)) <= (tol))

static void link__bursts_on_a_line_back_to_back(void **state)
{
	/* posted a little faster than they leave */
	struct bursts b = bursts_on_a_line(400000, 1000, 0);

	(void)state;
	assert_in_range(b.lost, 7000, 9000);
	assert_in_range(b.lost * 10 / b.runs, 145, 175);
	assert_near(bursts_again(&b), 1 - 1.0 / GE_LEN, 0.01);
}

static void link__bursts_pass_while_the_line_is_idle(void **state)
{
	struct bursts b = bursts_on_a_line(400000, 17 * GE_SLOT / 2, 0);

	(void)state;
	assert_in_range(b.lost, 7000, 9000);
	assert_near(bursts_again(&b), ge_again(8.5), 0.03);
	b = bursts_on_a_line(400000, 200 * GE_SLOT, 0);
	assert_in_range(b.lost, 7600, 8400);
	assert_near(bursts_again(&b), GE_LOSS, 0.008); /* 5 sigma */
}

static void link__bursts_do_not_last_longer_for_small_packets(void **state)
{
	const uint32_t wire = 36 + SDR_SIM_IP_UDP + SDR_CTL_OVERHEAD;
	struct bursts b = bursts_on_a_line(1000000, 80, 36); /* back to back: 88 ns each */

	(void)state;
	assert_in_range(wire, 81, 100);
	assert_in_range(b.lost, 14000, 26000);
	assert_near(1 - bursts_again(&b), 1 - ge_again((double)wire / PAIR_WIRE), 0.0012);
	b = bursts_on_a_line(400000, 200 * GE_SLOT, 36);
	assert_near(bursts_again(&b), GE_LOSS, 0.008);
}

static void link__bursts_of_one_packet_have_no_length_in_time(void **state)
{
	struct bursts b = { 0 };
	struct sdr_sim_world_attr wa = {
		.seed = 3,
		.link = { .rate_bps = 8000000000ull, .ge_loss = 0.1, .ge_burst = 1 },
		.trace = bursts_trace,
		.user = &b,
	};
	struct pair t;

	(void)state;
	pair_open(&t, &wa, NULL);
	stream(&t, 100000, 300);
	assert_in_range(b.lost, 9500, 10500);
	assert_int_equal(b.runs, b.lost);
	pair_close(&t);
}

/*
 * 1500 bytes at 1 Gbit/s: 12 us on the line.  A queue with Poisson arrivals and constant service,
 * M/D/1.
 */
#define CROSS_US 12.0

static void link__cross_traffic_makes_packets_wait(void **state)
{
	struct sdr_sim_world_attr wa = { .link = { .rate_bps = 1000000000,
						   .cross_bps = 500000000 } };
	double rho = 0.5, wait = rho * CROSS_US / (2 * (1 - rho)), sum = 0;
	struct sdr_sim_link_stats st;
	const int n = 20000;
	struct pair t;

	(void)state;
	pair_open(&t, &wa, NULL);
	for (int i = 0; i < n; i++) { /* one packet each ms: hardly a load of its own */
		struct sdr_uc_tx tx = pair_write(&t, 0, 0, 0, 0, src, PAIR_MTU);
		uint64_t t0 = sdr_sim_world_now(t.w);

		assert_int_equal(t.uc[0]->ops->post(t.uc[0], &tx, 1), 1);
		sum += (double)(sdr_sim_world_next(t.w) - t0) / US - PAIR_WIRE * 8 / 1000.0;
		sdr_sim_world_run_until(t.w, t0 + MS);
		pair_poll(&t, 1);
	}
	sdr_sim_link_stats(t.w, 0, 1, &st);
	assert_true(fabs(sum / n - wait) < wait / 10);
	assert_true(fabs((double)st.cross - n * 1000 / CROSS_US * rho) <
		    n * 1000 / CROSS_US * rho / 100);
	assert_int_equal(st.cross_dropped, 0);
	assert_int_equal(st.data, n);
	pair_close(&t);
}

static void link__cross_traffic_fills_the_queue(void **state)
{
	struct sdr_sim_world_attr wa = {
		.link = { .rate_bps = 1000000000,
			  .cross_bps = 2000000000,
			  .queue_bytes = 20 * 1500 },
	};
	struct sdr_sim_link_stats st;
	struct pair t;
	int got;

	(void)state;
	pair_open(&t, &wa, NULL);
	got = stream(&t, 10000, 100 * US);
	sdr_sim_link_stats(t.w, 0, 1, &st);
	assert_int_equal(got + (int)st.dropped, 10000);
	/* half, more or less: small packets fit more often */
	assert_true(st.dropped > 2000 && st.dropped < 8000);
	assert_true(st.queue_peak <= wa.link.queue_bytes);
	/* the line is always busy: what got a place fills the second */
	assert_true(fabs(((double)st.cross * 1500 + (double)got * PAIR_WIRE) * 8 / 1e9 - 1) < 0.01);
	pair_close(&t);
}

static void link__cross_traffic_leaves_luck_alone(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 3,
					 .link = { .rate_bps = 1000000000, .loss = 0.1 } };
	struct sdr_sim_link_stats a, b, c;
	struct sdr_sim_link l;
	struct pair t;

	(void)state;
	pair_open(&t, &wa, NULL);
	stream(&t, 1000, 20 * US);
	sdr_sim_link_stats(t.w, 0, 1, &a);
	pair_close(&t);
	wa.link.cross_bps = 300000000;
	wa.link.cross_bytes = 9000;
	pair_open(&t, &wa, NULL);
	stream(&t, 1000, 20 * US);
	sdr_sim_link_stats(t.w, 0, 1, &b);
	assert_int_equal(b.lost, a.lost);
	assert_true(b.cross > 0);
	sdr_sim_link_get(t.w, 0, 1, &l);
	l.cross_bps = 0; /* and it can end */
	assert_int_equal(sdr_sim_link_set(t.w, 0, 1, &l), 0);
	sdr_sim_link_stats(t.w, 0, 1, &b);
	stream(&t, 1000, 20 * US);
	sdr_sim_link_stats(t.w, 0, 1, &c);
	assert_int_equal(c.cross, b.cross);
	pair_close(&t);
}

static void link__duplicates_arrive_twice(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 5, .link = { .dup = 0.25 } };
	struct sdr_sim_link_stats st;
	struct pair t;
	int got;

	(void)state;
	pair_open(&t, &wa, NULL);
	got = stream(&t, 10000, 100);
	sdr_sim_link_stats(t.w, 0, 1, &st);
	assert_int_equal(got, 10000 + (int)st.dup);
	assert_in_range(st.dup, 2320, 2680);
	pair_close(&t);
}

struct order {
	uint32_t last;
	uint32_t overtaken;
};

static void order_trace(void *user, uint64_t now, enum sdr_sim_what what,
			const struct sdr_sim_packet *p)
{
	struct order *o = user;

	(void)now;
	if (what != SDR_SIM_T_ARRIVED)
		return;
	if (((p->psn - o->last) & SDR_PSN_MASK) > SDR_PSN_MASK / 2)
		o->overtaken++;
	else
		o->last = p->psn;
}

static void link__reordering_holds_packets_back(void **state)
{
	struct order o = { 0 };
	struct sdr_sim_world_attr wa = {
		.seed = 5,
		.link = { .delay_ns = 1000, .reorder = 0.05, .reorder_ns = 950 },
		.trace = order_trace,
		.user = &o
	};
	struct sdr_sim_link_stats st;
	struct pair t;

	(void)state;
	pair_open(&t, &wa, NULL);
	assert_int_equal(stream(&t, 10000, 100), 10000);
	sdr_sim_link_stats(t.w, 0, 1, &st);
	assert_in_range(st.reordered, 400, 600);
	assert_true(o.overtaken > st.reordered * 9 / 10 && o.overtaken <= st.reordered);
	pair_close(&t);
}

static void link__jitter_reorders_within_its_bound(void **state)
{
	struct order o = { 0 };
	struct sdr_sim_world_attr wa = { .seed = 5,
					 .link = { .delay_ns = 1000, .jitter_ns = 500 },
					 .trace = order_trace,
					 .user = &o };
	struct pair t;

	(void)state;
	pair_open(&t, &wa, NULL);
	assert_int_equal(stream(&t, 10000, 100), 10000);
	assert_true(o.overtaken > 1000);
	o.overtaken = 0;
	assert_int_equal(stream(&t, 1000, 501), 1000); /* gaps beyond the jitter: order stays */
	assert_int_equal(o.overtaken, 0);
	pair_close(&t);
}

static void link__corruption_is_an_icrc_failure(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 5, .link = { .corrupt = 0.1 } };
	struct sdr_sim_link_stats st;
	struct pair t;
	int got;

	(void)state;
	pair_open(&t, &wa, NULL);
	got = stream(&t, 5000, 100);
	sdr_sim_link_stats(t.w, 0, 1, &st);
	assert_true(st.corrupt > 350);
	assert_int_equal(got, 5000 - (int)st.corrupt);
	assert_int_equal(pair_stats(&t, 1).pkts_bad, st.corrupt);
	pair_close(&t);
}

static void link__size_decides_loss(void **state)
{
	struct sdr_sim_world_attr wa = { .seed = 5, .link = { .loss_byte = 0.2 / PAIR_WIRE } };
	struct sdr_sim_link l;
	struct pair t;
	int got = 0;

	(void)state;
	pair_open(&t, &wa, NULL);
	assert_in_range(stream(&t, 10000, 100), 7800, 8200);
	for (int i = 0; i < 10000; i++) {
		pair_ctl(&t, 0, src, 36); /* 88 bytes: 1.6 % */
		pair_drain(&t);
		got += pair_poll(&t, 1);
	}
	assert_in_range(got, 9780, 9900);
	sdr_sim_link_get(t.w, 0, 1, &l);
	l.loss_byte = 0;
	l.mtu = PAIR_WIRE - 1;
	sdr_sim_link_set(t.w, 0, 1, &l);
	assert_int_equal(stream(&t, 10, 100), 0);
	pair_ctl(&t, 0, src, 36);
	pair_drain(&t);
	assert_int_equal(pair_poll(&t, 1), 1);
	pair_close(&t);
}

static void link__blackout_and_path_change_have_their_times(void **state)
{
	struct sdr_sim_world_attr wa = { .link = { .delay_ns = 1 * MS } };
	struct sdr_sim_link l = { .delay_ns = 3 * MS };
	struct sdr_sim_link_stats st;
	struct pair t;
	uint64_t t0;

	(void)state;
	pair_open(&t, &wa, NULL);
	t0 = sdr_sim_world_now(t.w);
	assert_int_equal(sdr_sim_blackout_both(t.w, 0, 1, t0 + 10 * MS, t0 + 20 * MS), 0);
	assert_int_equal(sdr_sim_link_set_at(t.w, t0 + 50 * MS, 0, 1, &l), 0);
	assert_int_equal(stream(&t, 100, 1 * MS), 90); /* at 0, 1, ... 99 ms */
	sdr_sim_link_stats(t.w, 0, 1, &st);
	assert_int_equal(st.blackout, 10);
	assert_int_equal(sdr_sim_world_now(t.w) - t0, 102 * MS);
	sdr_sim_link_stats(t.w, 1, 0, &st);
	assert_int_equal(st.data, 0);
	pair_close(&t);
}

struct script {
	struct pair t;
	uint64_t drop_ctl;
	struct sdr_sim_packet *replay;
};

static bool script_filter(void *user, struct sdr_sim_packet *p)
{
	struct script *s = user;

	if (p->kind == SDR_SIM_DATA && p->nth == 2)
		sdr_sim_replay(s->t.w, p, 70 * MS);
	return !(p->kind == SDR_SIM_CTL && p->src == 0 && p->nth == s->drop_ctl);
}

static void script_trace(void *user, uint64_t now, enum sdr_sim_what what,
			 const struct sdr_sim_packet *p)
{
	(void)user;
	(void)now;
	(void)what;
	(void)p;
}

static void link__filter_drops_the_third_control_datagram(void **state)
{
	static struct script s;
	struct sdr_sim_world_attr wa = { .filter = script_filter,
					 .trace = script_trace,
					 .user = &s };

	(void)state;
	pair_open(&s.t, &wa, NULL);
	s.drop_ctl = 3;
	for (uint8_t i = 1; i <= 5; i++)
		pair_ctl(&s.t, 0, &i, 1);
	pair_drain(&s.t);
	assert_int_equal(pair_poll(&s.t, 1), 4);
	assert_int_equal(s.t.ev[1].c.buf[0], 2);
	assert_int_equal(s.t.ev[2].c.buf[0], 4);
	pair_close(&s.t);
}

static void link__replay_and_injection_arrive_later(void **state)
{
	static struct script s;
	struct sdr_sim_world_attr wa = { .filter = script_filter,
					 .trace = script_trace,
					 .user = &s };
	struct sdr_uc_addr from;

	(void)state;
	s.drop_ctl = 0;
	pair_open(&s.t, &wa, NULL);
	assert_int_equal(stream(&s.t, 3, 1), 4);
	assert_true(sdr_sim_world_now(s.t.w) >= 70 * MS);
	sdr_sim_inject_ctl(s.t.w, 12345, 1, 5, "hello", 5);
	pair_drain(&s.t);
	assert_int_equal(pair_poll(&s.t, 1), 1);
	sdr_sim_addr_make(12345, &from);
	assert_true(sdr_uc_addr_equal(s.t.ev[0].c.from, &from));
	assert_memory_equal(s.t.ev[0].c.buf, "hello", 5);
	pair_close(&s.t);
}

static uint64_t foul_network(uint64_t seed, int *got)
{
	struct sdr_sim_world_attr wa = { .seed = seed,
					 .link = { .rate_bps = 1000000000,
						   .delay_ns = MS,
						   .queue_bytes = 100000,
						   .loss = 0.01,
						   .ge_loss = 0.01,
						   .ge_burst = 5,
						   .dup = 0.02,
						   .reorder = 0.02,
						   .reorder_ns = 300 * US,
						   .jitter_ns = 20 * US,
						   .corrupt = 0.01 } };
	struct pair t;
	uint64_t hash;

	pair_open(&t, &wa, NULL);
	sdr_sim_blackout(t.w, 0, 1, 20 * MS, 21 * MS);
	*got = stream(&t, 20000, 8 * US);
	hash = t.hash;
	pair_close(&t);
	return hash;
}

static void world__same_seed_same_trace(void **state)
{
	int a, b, c;
	uint64_t h = foul_network(1, &a);

	(void)state;
	assert_true(h == foul_network(1, &b));
	assert_int_equal(a, b);
	assert_true(h != foul_network(2, &c));
	assert_true(a < 20000 && a > 15000);
}

static void note(void *user)
{
	uint8_t **p = user;

	(*p)++;
}

static void world__events_run_in_time_order(void **state)
{
	struct sdr_sim_world_attr wa = { .nodes = 1 };
	struct sdr_sim_world *w = sdr_sim_world_create(&wa);
	uint8_t count[64], *p[64];
	uint64_t t0 = sdr_sim_world_now(w);

	(void)state;
	for (int i = 0; i < 64; i++) {
		p[i] = count + i;
		assert_int_equal(
			sdr_sim_world_at(w, t0 + (uint64_t)(i * 37 % 64) * 10, note, &p[i]), 0);
	}
	for (int i = 0; i < 64; i++) {
		assert_int_equal(sdr_sim_world_next(w), t0 + (uint64_t)i * 10);
		assert_true(sdr_sim_world_step(w));
		assert_int_equal(sdr_sim_world_now(w), t0 + (uint64_t)i * 10);
	}
	for (int i = 0; i < 64; i++)
		assert_ptr_equal(p[i], count + i + 1);
	assert_int_equal(sdr_sim_world_next(w), UINT64_MAX);
	assert_int_equal(sdr_sim_world_at(w, 0, note, &p[0]), 0); /* the past is now */
	assert_int_equal(sdr_sim_world_next(w), sdr_sim_world_now(w));
	sdr_sim_world_destroy(w);
	wa.nodes = 0;
	assert_null(sdr_sim_world_create(&wa));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link__rate_and_delay_are_exact),
		cmocka_unit_test(link__rate_keeps_fractions_of_a_nanosecond),
		cmocka_unit_test(link__queue_drops_its_tail),
		cmocka_unit_test(link__own_queue_stops_the_sender),
		cmocka_unit_test(link__independent_loss_has_its_rate),
		cmocka_unit_test(link__bursts_have_their_length_and_rate),
		cmocka_unit_test(link__bursts_on_a_line_back_to_back),
		cmocka_unit_test(link__bursts_pass_while_the_line_is_idle),
		cmocka_unit_test(link__bursts_do_not_last_longer_for_small_packets),
		cmocka_unit_test(link__bursts_of_one_packet_have_no_length_in_time),
		cmocka_unit_test(link__cross_traffic_makes_packets_wait),
		cmocka_unit_test(link__cross_traffic_fills_the_queue),
		cmocka_unit_test(link__cross_traffic_leaves_luck_alone),
		cmocka_unit_test(link__duplicates_arrive_twice),
		cmocka_unit_test(link__reordering_holds_packets_back),
		cmocka_unit_test(link__jitter_reorders_within_its_bound),
		cmocka_unit_test(link__corruption_is_an_icrc_failure),
		cmocka_unit_test(link__size_decides_loss),
		cmocka_unit_test(link__blackout_and_path_change_have_their_times),
		cmocka_unit_test(link__filter_drops_the_third_control_datagram),
		cmocka_unit_test(link__replay_and_injection_arrive_later),
		cmocka_unit_test(world__same_seed_same_trace),
		cmocka_unit_test(world__events_run_in_time_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
