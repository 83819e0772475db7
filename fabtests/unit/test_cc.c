/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Congestion control and pacer on a simulated path, packet by packet in virtual time: a bottleneck
 * of a rate with a queue of a size, random loss behind it, propagation there and back, a receiver
 * that acknowledges every so many packets or after a delay.  The sender is greedy (or sends in
 * bursts), learns of losses from gaps in the acknowledgements and sends new data instead, so that
 * all that counts is what arrived.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "rel/path/sdr_cc_bbr.h"
#include "rel/path/sdr_cc_ops.h"

#define PKT  4096u	/* bytes */
#define RING (1u << 16) /* packets in flight, at most; a power of two */
#define US   1000ull
#define MS   1000000ull
#define S    1000000000ull
#define KIB  1024ull

struct pkt {
	uint64_t tx, arrive; /* ns */
	struct sdr_cc_snap snap;
	bool got, queued;
};

struct ack {
	uint64_t at;	/* when it reaches the sender, ns */
	uint64_t upto;	/* packets below are decided */
	uint64_t delay; /* ns that the newest waited for it */
};

struct sim {
	/* the path */
	uint64_t rate;	/* bytes per second, of the bottleneck */
	uint64_t rtt;	/* ns */
	uint64_t queue; /* bytes it holds */
	double loss;
	uint64_t rx_window;
	uint32_t ack_every;	     /* packets */
	uint64_t ack_delay;	     /* ns */
	uint64_t dark_from, dark_to; /* everything sent between is lost */
	uint64_t stall_every, stall; /* the bottleneck (a receiver's thread) pauses */
	uint64_t burst, gap;	     /* application: bytes every gap ns; 0 greedy */
	/* results, cleared by sim_mark */
	uint64_t good, lost, sent; /* bytes */
	uint64_t max_inflight, max_queue, mark;
	/* state */
	struct sdr_cc cc;
	uint64_t now, free_at; /* ns; when the bottleneck has sent everything */
	/* packet counts: next to send, next to look at in the receiver, oldest in flight */
	uint64_t snd, rcv, una;
	uint64_t rx_got, rx_first, rx_last, rx_acked;
	uint64_t q_head, q_bytes; /* the bottleneck's queue: oldest packet in it */
	uint64_t inflight, min_rtt, last_progress, supply, next_supply;
	uint64_t acks_head, acks_tail;
	struct pkt p[RING];
	struct ack a[RING];
	uint64_t rng;
};

static uint64_t sim_rand(struct sim *s)
{
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return s->rng * 0x2545f4914f6cdd1dull;
}

static struct sim *sim_new(uint64_t rate_bps, uint64_t rtt, uint64_t queue, double loss,
			   uint64_t rx_window)
{
	struct sim *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->rate = rate_bps / 8;
	s->rtt = rtt;
	s->queue = queue;
	s->loss = loss;
	s->rx_window = rx_window;
	s->ack_every = 16;
	s->ack_delay = 1 * MS;
	s->rng = 88172645463325252ull;
	s->now = 12345;
	return s;
}

static void sim_start(struct sim *s, const struct sdr_cc_ops *ops, uint64_t rate_bps)
{
	struct sdr_rel_cfg cfg = { .cc = ops, .rate_bps = rate_bps };

	s->min_rtt = s->rtt; /* the handshake's sample */
	sdr_cc_init(&s->cc, &cfg, PKT, s->rx_window, s->rtt, NULL, s->now);
	s->last_progress = s->now;
	s->next_supply = s->now;
	s->mark = s->now;
}

static void sim_mark(struct sim *s)
{
	s->good = s->lost = s->sent = 0;
	s->max_inflight = s->max_queue = 0;
	s->mark = s->now;
}

static uint64_t sim_bdp(const struct sim *s)
{
	return (uint64_t)((double)s->rate * (double)s->rtt / 1e9);
}

/* Share of the bottleneck that useful bytes got since the mark. */
static double sim_use(const struct sim *s)
{
	return (double)s->good * 1e9 / (double)(s->now - s->mark) / (double)s->rate;
}

static void sim_send(struct sim *s)
{
	struct pkt *p = &s->p[s->snd % RING];
	uint64_t start;

	assert_true(s->snd - s->una < RING);
	sdr_cc_sent(&s->cc, s->now, PKT, 0, s->inflight, &p->snap);
	if (!s->inflight)
		s->last_progress = s->now;
	s->inflight += PKT;
	s->sent += PKT;
	if (s->inflight > s->max_inflight)
		s->max_inflight = s->inflight;
	p->tx = s->now;
	p->got = true;
	for (; s->q_head < s->snd && s->p[s->q_head % RING].arrive <= s->now + s->rtt / 2;
	     s->q_head++)
		s->q_bytes -= s->p[s->q_head % RING].queued ? PKT : 0;
	start = s->free_at > s->now ? s->free_at : s->now;
	if (s->stall_every && start % s->stall_every < s->stall)
		start += s->stall - start % s->stall_every;
	p->queued = s->q_bytes + PKT <= s->queue;
	if (p->queued) {
		s->free_at = start + PKT * S / s->rate;
		s->q_bytes += PKT;
	} else {
		p->got = false;
	}
	if (s->q_bytes > s->max_queue)
		s->max_queue = s->q_bytes;
	p->arrive = s->free_at + s->rtt / 2;
	if ((double)(sim_rand(s) >> 11) / 9007199254740992.0 < s->loss)
		p->got = false;
	if (s->now >= s->dark_from && s->now < s->dark_to)
		p->got = false;
	s->snd++;
}

static void sim_ack(struct sim *s, uint64_t delay)
{
	struct ack *a = &s->a[s->acks_tail++ % RING];

	assert_true(s->acks_tail - s->acks_head < RING);
	a->at = s->now + s->rtt / 2;
	a->upto = s->rx_acked;
	a->delay = delay;
	s->rx_got = 0;
}

static void sim_ack_arrives(struct sim *s)
{
	const struct ack *in = &s->a[s->acks_head++ % RING];
	struct sdr_cc_ack ack = { .now = s->now };
	const struct pkt *p;

	for (; s->una < in->upto; s->una++) {
		p = &s->p[s->una % RING];
		s->inflight -= PKT;
		if (!p->got) {
			ack.lost += PKT;
			continue;
		}
		ack.bytes += PKT;
		ack.snap = &p->snap;
		ack.snap_tx_ns = p->tx;
		ack.rtt = s->now - p->tx - in->delay;
	}
	if (ack.rtt && ack.rtt < s->min_rtt)
		s->min_rtt = ack.rtt;
	s->good += ack.bytes;
	s->lost += ack.lost;
	ack.inflight = s->inflight;
	ack.min_rtt = s->min_rtt;
	s->last_progress = s->now;
	sdr_cc_acked(&s->cc, &ack);
	assert_true(s->cc.pacer.rate_Bps == s->cc.pacing_Bps);
}

static uint64_t sim_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Until the absolute time `end`. */
static void sim_run(struct sim *s, uint64_t end)
{
	uint64_t next, rto;

	while (s->now < end) {
		/* the receiver: what has arrived by now */
		while (s->rcv < s->snd && s->p[s->rcv % RING].arrive <= s->now) {
			if (s->p[s->rcv % RING].got) {
				s->rx_acked = s->rcv + 1;
				if (!s->rx_got++)
					s->rx_first = s->now;
				s->rx_last = s->now;
				if (s->rx_got >= s->ack_every)
					sim_ack(s, 0);
			}
			s->rcv++;
		}
		if (s->rx_got && s->now >= s->rx_first + s->ack_delay)
			sim_ack(s, s->now - s->rx_last);
		/* the sender */
		while (s->acks_head < s->acks_tail && s->a[s->acks_head % RING].at <= s->now)
			sim_ack_arrives(s);
		rto = 2 * s->rtt + 10 * MS + (s->queue * S) / s->rate;
		if (s->inflight && s->now >= s->last_progress + rto) {
			s->lost += s->inflight;
			s->inflight = 0;
			s->una = s->snd;
			s->rcv = s->snd;
			s->last_progress = s->now;
			sdr_cc_timeout(&s->cc, s->now);
			assert_true(s->cc.pacer.rate_Bps == s->cc.pacing_Bps);
		}
		while (s->burst && s->now >= s->next_supply) {
			s->supply += s->burst;
			s->next_supply += s->gap;
		}
		next = UINT64_MAX;
		while (s->inflight + PKT <= s->cc.cwnd && (!s->burst || s->supply >= PKT)) {
			if (!sdr_pacer_allow(&s->cc.pacer, s->now)) {
				next = sdr_pacer_next(&s->cc.pacer, s->now);
				break;
			}
			sim_send(s);
			s->supply -= s->burst ? PKT : 0;
		}
		if (s->burst && s->supply < PKT) {
			if (s->inflight + PKT <= s->cc.cwnd)
				sdr_cc_app_limited(&s->cc, s->inflight);
			next = sim_min(next, s->next_supply);
		}
		if (s->rcv < s->snd)
			next = sim_min(next, s->p[s->rcv % RING].arrive);
		if (s->rx_got)
			next = sim_min(next, s->rx_first + s->ack_delay);
		if (s->acks_head < s->acks_tail)
			next = sim_min(next, s->a[s->acks_head % RING].at);
		if (s->inflight)
			next = sim_min(next, s->last_progress + rto);
		s->now = next > s->now ? next : s->now + 1;
	}
}

static bool verbose(void)
{
	return getenv("TEST_CC_VERBOSE") != NULL;
}

static void sim_print(const struct sim *s, const char *what)
{
	static const struct sdr_bbr none;
	const struct sdr_bbr *b = s->cc.ops == &sdr_cc_bbr ? sdr_bbr_look(&s->cc) : &none;

	if (verbose())
		printf("%-34s t %7.1f rtt  use %.3f  lost %.4f  inflight max %.2f bdp  queue max %.2f  cwnd %.2f  "
		       "pace %.3f  bw %.3f  st %d loss %.3f\n",
		       what, (double)(s->now - 12345) / (double)s->rtt, sim_use(s),
		       s->sent ? (double)s->lost / (double)s->sent : 0,
		       (double)s->max_inflight / (double)sim_bdp(s),
		       (double)s->max_queue / (double)s->queue,
		       (double)s->cc.cwnd / (double)sim_bdp(s),
		       (double)s->cc.pacing_Bps / (double)s->rate,
		       (double)b->max_bw / (double)s->rate, b->state, b->loss);
}

/* The first rounds, one by one (verbose only), then the long run. */
static void sim_rounds(struct sim *s, const char *what, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		sim_mark(s);
		sim_run(s, s->now + s->rtt);
		sim_print(s, what);
	}
	sim_mark(s);
}

/* ---- long fat path --------------------------------------------------------------------------- */

#define WAN_RATE 1000000000ull /* bits per second */
#define WAN_RTT	 (25 * MS)
#define WAN_BDP	 3125000ull /* bytes */
#define WAN_RXW	 (208 * KIB)

/* Greedy on the long path: 12 round trips to get going, then 100 measured. */
static double wan_use(double loss, double queue_bdp, double *lost, double *first12)
{
	struct sim *s =
		sim_new(WAN_RATE, WAN_RTT, (uint64_t)(queue_bdp * (double)WAN_BDP), loss, WAN_RXW);
	double use;
	char what[64];
	uint32_t i;

	snprintf(what, sizeof(what), "wan loss %g queue %g", loss, queue_bdp);
	sim_start(s, &sdr_cc_bbr, 0);
	assert_true(s->cc.cwnd <= WAN_RXW && s->cc.cwnd >= 64 * KIB);
	sim_rounds(s, what, 12);
	sim_run(s, s->now + 2 * WAN_RTT);
	*first12 = sim_use(s);
	sim_print(s, what);
	sim_mark(s);
	sim_run(s, s->now + 100 * WAN_RTT);
	sim_print(s, what);
	use = sim_use(s);
	for (i = 0; i < 16; i++) {
		sim_run(s, s->now + WAN_RTT);
		if (sdr_bbr_look(&s->cc)->pacing_gain <= 1 && loss <= 0.01)
			assert_true(s->cc.cwnd <= WAN_BDP * 26 / 25 * 101 / 100 + WAN_RXW);
	}
	*lost = (double)s->lost / (double)s->sent;
	/*
	 * pacing rate * (round trip + acknowledgement delay) + receiver's buffer, while probing;
	 * without, see below
	 */
	assert_true((double)s->max_inflight <=
		    1.3 * (double)s->rate * (25.0 + 1.0) / 1e3 / (1 - loss) + (double)WAN_RXW);
	free(s);
	return use;
}

static void bbr__fills_a_long_path(void **state)
{
	double lost, early;

	(void)state;
	assert_true(wan_use(0, 2, &lost, &early) >= 0.95);
	assert_true(early >= 0.90);
	assert_true(lost <= 0.001);
	assert_true(wan_use(0, 1, &lost, &early) >= 0.95);
	assert_true(early >= 0.90);
	assert_true(lost <= 0.001);
	assert_true(wan_use(0, 0.1, &lost, &early) >= 0.90);
	assert_true(lost <= 0.05);
}

static void bbr__ignores_random_loss(void **state)
{
	double lost, early;

	(void)state;
	assert_true(wan_use(0.001, 2, &lost, &early) >= 0.94);
	assert_true(wan_use(0.01, 2, &lost, &early) >= 0.92);
	assert_true(early >= 0.85);
	assert_true(lost <= 0.015);
	assert_true(wan_use(0.01, 1, &lost, &early) >= 0.92);
	assert_true(wan_use(0.1, 2, &lost, &early) >= 0.82);
	assert_true(lost <= 0.13);
	assert_true(wan_use(0.3, 2, &lost, &early) >= 0.45);
}

/* ---- near path: the bottleneck's queue is the receiver's socket buffer ----------------------- */

#define NEAR_RATE 20000000000ull
#define NEAR_RTT  (50 * US)
#define NEAR_RXW  (200 * KIB)

static void bbr__runs_loopback_at_full_speed(void **state)
{
	struct sim *s = sim_new(NEAR_RATE, NEAR_RTT, NEAR_RXW, 0, NEAR_RXW);

	(void)state;
	sim_start(s, &sdr_cc_bbr, 0);
	sim_rounds(s, "loopback", 20);
	sim_run(s, s->now + 50 * MS);
	sim_print(s, "loopback");
	assert_true(sim_use(s) >= 0.95);
	assert_int_equal(s->lost, 0);
	assert_true(s->cc.cwnd >= NEAR_RXW * 85 / 100);
	assert_true(s->max_inflight <= sim_bdp(s) + NEAR_RXW * 9 / 10);
	free(s);
}

/*
 * A receiver whose thread is not scheduled for a while: slower for that, not lossy, and back at
 * once.
 */
static void bbr__survives_a_stalling_receiver(void **state)
{
	struct sim *s = sim_new(NEAR_RATE / 2, NEAR_RTT, NEAR_RXW, 0, NEAR_RXW);

	(void)state;
	s->stall_every = 10 * MS;
	s->stall = 3 * MS;
	sim_start(s, &sdr_cc_bbr, 0);
	sim_run(s, s->now + 20 * MS);
	sim_mark(s);
	sim_run(s, s->now + 500 * MS);
	sim_print(s, "loopback, stalls");
	assert_true(sim_use(s) >= 0.65);
	assert_true((double)s->lost <= 0.001 * (double)s->sent);
	free(s);
}

/* A rack's switch with less memory than the receiver: the guard makes room. */
static void bbr__near_path_with_a_small_queue(void **state)
{
	struct sim *s = sim_new(1000000000ull, 100 * US, 64 * KIB, 0, NEAR_RXW);

	(void)state;
	sim_start(s, &sdr_cc_bbr, 0);
	sim_run(s, s->now + 50 * MS);
	sim_print(s, "rack, begin");
	sim_mark(s);
	sim_run(s, s->now + 1 * S);
	sim_print(s, "rack");
	assert_true(sim_use(s) >= 0.9);
	assert_true((double)s->lost <= 0.10 * (double)s->sent); /* without the guard 0.37 */
	free(s);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* What comes above the rate is dropped, no queue: a receiver that cannot keep up. */
static void bbr__guard_meets_a_policer(void **state)
{
	struct sim *s = sim_new(WAN_RATE, WAN_RTT, 48 * KIB, 0, WAN_RXW);

	(void)state;
	sim_start(s, &sdr_cc_bbr, 0);
	sim_run(s, s->now + 20 * WAN_RTT);
	sim_print(s, "policer, begin");
	sim_mark(s);
	sim_run(s, s->now + 200 * WAN_RTT);
	sim_print(s, "policer");
	assert_true(sim_use(s) >= 0.85);
	assert_true((double)s->lost <= 0.12 * (double)s->sent);
	free(s);
}

static void bbr__follows_the_rate(void **state)
{
	struct sim *s = sim_new(WAN_RATE, WAN_RTT, 2 * WAN_BDP, 0, WAN_RXW);

	(void)state;
	sim_start(s, &sdr_cc_bbr, 0);
	sim_run(s, s->now + 40 * WAN_RTT);
	s->rate /= 4;
	sim_run(s, s->now + 40 * WAN_RTT);
	sim_print(s, "rate / 4, settling");
	sim_mark(s);
	sim_run(s, s->now + 40 * WAN_RTT);
	sim_print(s, "rate / 4");
	assert_true(sim_use(s) >= 0.9);
	assert_true(s->max_queue <= WAN_BDP);
	s->rate *= 4;
	sim_run(s, s->now + 100 * WAN_RTT);
	sim_mark(s);
	sim_run(s, s->now + 40 * WAN_RTT);
	sim_print(s, "rate * 4");
	assert_true(sim_use(s) >= 0.9);
	free(s);
}

static void bbr__comes_back_after_a_blackout(void **state)
{
	struct sim *s = sim_new(WAN_RATE, WAN_RTT, 2 * WAN_BDP, 0.001, WAN_RXW);

	(void)state;
	s->dark_from = 50 * WAN_RTT;
	s->dark_to = 150 * WAN_RTT;
	sim_start(s, &sdr_cc_bbr, 0);
	sim_run(s, 152 * WAN_RTT);
	assert_true(s->cc.cwnd <= WAN_BDP);
	/* the next probe, then startup as at the beginning */
	sim_run(s, 160 * WAN_RTT);
	sim_run(s, s->now + 14 * WAN_RTT);
	sim_mark(s);
	sim_run(s, s->now + 20 * WAN_RTT);
	sim_print(s, "after blackout");
	assert_true(sim_use(s) >= 0.9);
	free(s);
}

/* Two round trips of nothing: too short for a timeout, no reason to slow down for long. */
static void bbr__shrugs_off_a_burst_of_losses(void **state)
{
	struct sim *s = sim_new(WAN_RATE, WAN_RTT, 2 * WAN_BDP, 0.001, WAN_RXW);

	(void)state;
	s->dark_from = 50 * WAN_RTT;
	s->dark_to = 52 * WAN_RTT;
	sim_start(s, &sdr_cc_bbr, 0);
	sim_run(s, 53 * WAN_RTT);
	sim_mark(s);
	sim_run(s, s->now + 1 * S);
	sim_print(s, "after a burst");
	assert_true(sim_use(s) >= 0.85);
	free(s);
}

/* Sparse small sends must not pull the estimate down: a burst after them goes at the full rate. */
static void bbr__application_limit_keeps_the_estimate(void **state)
{
	struct sim *s = sim_new(WAN_RATE, WAN_RTT, 2 * WAN_BDP, 0, WAN_RXW);
	uint64_t bw;

	(void)state;
	sim_start(s, &sdr_cc_bbr, 0);
	sim_run(s, s->now + 40 * WAN_RTT);
	bw = sdr_bbr_look(&s->cc)->max_bw;
	s->burst = 4 * PKT;
	s->gap = 5 * MS;
	s->supply = 0;
	s->next_supply = s->now + 5 * MS;
	sim_run(s, s->now + 400 * WAN_RTT);
	sim_print(s, "application limited");
	assert_true(sdr_bbr_look(&s->cc)->max_bw >= bw / 10 * 9);
	s->burst = 0;
	sim_run(s, s->now + 2 * WAN_RTT);
	sim_mark(s);
	sim_run(s, s->now + 10 * WAN_RTT);
	sim_print(s, "greedy again");
	assert_true(sim_use(s) >= 0.9);
	free(s);
}

/* With the minimum in sight no PROBE_RTT; with a longer path one, short. */
static void bbr__learns_a_longer_path(void **state)
{
	struct sim *s = sim_new(WAN_RATE / 10, WAN_RTT, 2 * WAN_BDP / 10, 0, WAN_RXW);
	double low = 1;
	uint32_t i;

	(void)state;
	sim_start(s, &sdr_cc_bbr, 0);
	sim_run(s, s->now + 20 * WAN_RTT);
	for (i = 0; i < 1000; i++) { /* 25 s */
		sim_mark(s);
		sim_run(s, s->now + WAN_RTT);
		low = sim_use(s) < low ? sim_use(s) : low;
		assert_true(sdr_bbr_look(&s->cc)->probe_rtt_done == 0);
	}
	assert_true(low >= 0.6);
	s->rtt *= 3;
	s->min_rtt = s->rtt;
	sim_run(s, s->now + 15 * S);
	sim_mark(s);
	sim_run(s, s->now + 5 * S);
	sim_print(s, "three times the rtt");
	assert_true(s->cc.min_rtt >= 3 * WAN_RTT);
	assert_true(sim_use(s) >= 0.9);
	free(s);
}

/* A path of less than a packet and a receiver of less than one: four may always be in flight. */
static void bbr__never_falls_below_four_packets(void **state)
{
	struct sim *s = sim_new(WAN_RATE / 1000, 5 * MS, 64 * KIB, 0, KIB);
	uint32_t i;

	(void)state;
	sim_start(s, &sdr_cc_bbr, 0);
	for (i = 0; i < 100; i++) {
		sim_run(s, s->now + 100 * MS);
		assert_true(s->cc.cwnd >= 4 * PKT);
	}
	assert_true(sdr_bbr_look(&s->cc)->state != SDR_BBR_STARTUP);
	free(s);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void table__finds_each_by_its_name(void **state)
{
	const struct sdr_cc_ops *const *ops;

	(void)state;
	assert_ptr_equal(sdr_cc_table[0], &sdr_cc_auto);
	for (ops = sdr_cc_table; *ops; ops++)
		assert_ptr_equal(sdr_cc_find((*ops)->name), *ops);
	assert_ptr_equal(sdr_cc_find("bbr"), &sdr_cc_bbr);
	assert_ptr_equal(sdr_cc_find("fixed"), &sdr_cc_fixed);
	assert_null(sdr_cc_find("Fixed"));
	assert_null(sdr_cc_find(""));
}

static void table__fixed_needs_a_rate(void **state)
{
	struct sdr_rel_cfg cfg = { .cc = &sdr_cc_fixed, .rate_bps = 0 };
	struct sdr_cc cc;

	(void)state;
	sdr_cc_init(&cc, &cfg, PKT, 0, 0, NULL, 0);
	assert_ptr_equal(cc.ops, sdr_cc_table[0]);
	assert_in_range(cc.cwnd, 64 * KIB, 256 * KIB);
	assert_true(cc.pacing_Bps > 0);
	/* and nobody was named */
	cfg.cc = NULL;
	sdr_cc_init(&cc, &cfg, PKT, 0, 0, NULL, 0);
	assert_ptr_equal(cc.ops, sdr_cc_table[0]);
}

static void bbr__unknown_receiver_and_guess(void **state)
{
	struct sdr_rel_cfg cfg = { .cc = &sdr_cc_bbr };
	struct sdr_cc_ack ack = { .now = 1 * S };
	struct sdr_cc_snap snap;
	struct sdr_cc cc;

	(void)state;
	sdr_cc_init(&cc, &cfg, PKT, 0, 0, NULL, 0);
	assert_ptr_equal(cc.ops, &sdr_cc_bbr);
	assert_in_range(cc.cwnd, 64 * KIB, 256 * KIB);
	assert_true(cc.pacing_Bps > 0);
	sdr_cc_init(&cc, &cfg, PKT, 1, 1, NULL, 0);
	assert_true(cc.cwnd == 4 * PKT);
	sdr_cc_init(&cc, &cfg, PKT, 1ull << 32, 1, NULL, 0);
	assert_true(cc.cwnd == 256 * KIB);
	/* events that say nothing new, samples of no duration, times that run backwards */
	sdr_cc_acked(&cc, &ack);
	ack.min_rtt = UINT64_MAX;
	ack.lost = UINT32_MAX;
	sdr_cc_acked(&cc, &ack);
	sdr_cc_sent(&cc, 1 * S, PKT, 0, 0, &snap);
	ack.snap = &snap;
	ack.snap_tx_ns = 1 * S;
	ack.bytes = PKT;
	sdr_cc_acked(&cc, &ack);
	ack.now = 0;
	ack.rtt = 1;
	ack.snap_tx_ns = 5 * S;
	sdr_cc_acked(&cc, &ack);
	sdr_cc_timeout(&cc, 0);
	sdr_cc_app_limited(&cc, 0);
	assert_true(cc.cwnd >= 4 * PKT && cc.pacing_Bps > 0);
}

/* ---- rate samples ---------------------------------------------------------------------------- */

static struct sdr_cc_rate heard;

static void hears_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	(void)cfg;
	(void)now;
	cc->cwnd = 64 * PKT;
}

static void hears_timeout(struct sdr_cc *cc, uint64_t now)
{
	(void)cc;
	(void)now;
}

static void hears(struct sdr_cc *cc, const struct sdr_cc_ack *ack, const struct sdr_cc_rate *rate)
{
	(void)cc;
	(void)ack;
	heard = *rate;
}

/*
 * A sample that took less than the smallest round trip is no rate; but who was the limit is known.
 * A flow that sends a few packets now and then, and whose smallest round trip was that of two of
 * them, took itself for one that fills its window, and let that grow without end.
 */
static void rate__says_who_was_the_limit(void **state)
{
	static const struct sdr_cc_ops ops = {
		.name = "hears", .init = hears_init, .acked = hears, .timeout = hears_timeout
	};
	const struct sdr_rel_cfg cfg = { .cc = &ops };
	struct sdr_cc_snap snap;
	struct sdr_cc cc;

	(void)state;
	for (uint32_t limited = 0; limited < 2; limited++) {
		sdr_cc_init(&cc, &cfg, PKT, 0, 0, NULL, 0);
		cc.min_rtt = 26 * MS;
		sdr_cc_sent(&cc, 0, PKT, 0, 0, &snap);
		if (limited)
			sdr_cc_app_limited(&cc, PKT);
		sdr_cc_sent(&cc, 0, PKT, 0, PKT, &snap);
		for (uint64_t at = 25 * MS; at <= 27 * MS; at += 2 * MS) {
			sdr_cc_acked(&cc, &(struct sdr_cc_ack){ .now = at,
								.bytes = PKT,
								.rtt = 25 * MS,
								.snap = &snap });
			assert_int_equal(heard.bw > 0, at > cc.min_rtt);
			assert_int_equal(heard.app_limited, limited);
		}
	}
}

/* ---- fixed ----------------------------------------------------------------------------------- */

static void fixed__is_the_rate(void **state)
{
	static const double loss[] = { 0, 0.01, 0.1, 0.5 };
	uint32_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct sim *s = sim_new(WAN_RATE, WAN_RTT, 2 * WAN_BDP, loss[i], WAN_RXW);

		sim_start(s, &sdr_cc_fixed, WAN_RATE);
		assert_true(s->cc.pacing_Bps == WAN_RATE / 8);
		sim_run(s, s->now + 2 * WAN_RTT);
		sim_mark(s);
		sim_run(s, s->now + 40 * WAN_RTT);
		sim_print(s, "fixed");
		assert_true(sim_use(s) >= 0.985 * (1 - loss[i]));
		assert_true(s->max_queue <= WAN_BDP / 8);
		assert_true(s->cc.cwnd >= 2 * WAN_BDP + WAN_RXW);
		assert_true(s->cc.cwnd <= 3 * WAN_BDP + WAN_RXW);
		sdr_cc_timeout(&s->cc, s->now);
		assert_true(s->cc.pacing_Bps == WAN_RATE / 8);
		assert_true(s->cc.cwnd >= 2 * WAN_BDP);
		free(s);
	}
}

/* Headers count where the rate is one of the wire, and only there. */
static void fixed__pays_for_headers(void **state)
{
	static const struct {
		const struct sdr_cc_ops *ops;
		double pays; /* bytes of a packet with 100 of headers */
	} rows[] = { { &sdr_cc_fixed, PKT + 100 }, { &sdr_cc_bbr, PKT } };
	struct sdr_cc_snap snap;
	struct sdr_cc cc;
	double credit;
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct sdr_rel_cfg cfg = { .cc = rows[i].ops, .rate_bps = WAN_RATE };

		sdr_cc_init(&cc, &cfg, PKT, WAN_RXW, WAN_RTT, NULL, 1 * S);
		assert_true(cc.pacer.rate_Bps == cc.pacing_Bps);
		credit = cc.pacer.credit;
		sdr_cc_sent(&cc, 1 * S, PKT, 100, 0, &snap);
		assert_true(credit - cc.pacer.credit == rows[i].pays);
	}
}

/* ---- spans ----------------------------------------------------------------------------------- */

/* How often a sender wakes for a gigabyte, and how much leaves together. */
static void spans__wakes_for_a_gigabyte(void **state)
{
	static const struct {
		const struct sdr_cc_ops *ops;
		uint64_t rate, rtt; /* bit/s; ns */
		uint32_t wakes, quantum;
		bool calm;
	} rows[] = {
		/* far: twice a hundredth of the round trip, until much leaves with a wake-up */
		{ &sdr_cc_fixed, 100000000, 25 * MS, 160100, 6250, false },
		{ &sdr_cc_fixed, 1000000000, 25 * MS, 16100, 62500, false },
		{ &sdr_cc_fixed, 1000000000, 100 * MS, 16100, 62500, false },
		{ &sdr_cc_fixed, 2500000000u, 25 * MS, 7700, 131072, false },
		/* who is calm half as much again */
		{ &sdr_cc_fixed, 100000000, 25 * MS, 106800, 9375, true },
		{ &sdr_cc_fixed, 1000000000, 25 * MS, 10800, 93750, true },
		{ &sdr_cc_fixed, 1000000000, 100 * MS, 10800, 93750, true },
		{ &sdr_cc_fixed, 2500000000u, 25 * MS, 7700, 131072, true },
		/* and no more than a short queue of a fast switch holds */
		{ &sdr_cc_fixed, 10000000000ull, 25 * MS, 3900, 262144, false },
		/* near, and others: a hundredth */
		{ &sdr_cc_fixed, 1000000000, 9 * MS, 89000, 11250, false },
		{ &sdr_cc_fixed, 1000000000, 9 * MS, 89000, 11250, true },
		{ &sdr_cc_bbr, 1000000000, 25 * MS, 32100, 31250, false },
	};
	struct sdr_cc_ack ack = { .now = 1 * S };
	uint64_t now, bytes, wakes;
	struct sdr_cc cc;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct sdr_rel_cfg cfg = { .cc = rows[i].ops, .rate_bps = rows[i].rate };

		sdr_cc_init(&cc, &cfg, PKT, WAN_RXW, WAN_RTT, NULL, 1 * S);
		ack.min_rtt = ack.rtt = rows[i].rtt;
		cc.calm = rows[i].calm;
		sdr_cc_acked(&cc, &ack);
		cc.pacing_Bps = rows[i].rate / 8; /* whatever a controller made of that */
		sdr_pacer_rate_set(&cc.pacer, cc.pacing_Bps, 1 * S);
		assert_in_range(cc.pacer.quantum, rows[i].quantum - 2, rows[i].quantum + 1);
		now = 2 * S;
		for (bytes = wakes = 0; bytes < 1000000000; wakes++) {
			for (; sdr_pacer_allow(&cc.pacer, now); bytes += PKT)
				sdr_pacer_sent(&cc.pacer, PKT);
			now = sdr_pacer_next(&cc.pacer, now);
		}
		assert_true(wakes <= rows[i].wakes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bbr__fills_a_long_path),
		cmocka_unit_test(bbr__ignores_random_loss),
		cmocka_unit_test(bbr__runs_loopback_at_full_speed),
		cmocka_unit_test(bbr__survives_a_stalling_receiver),
		cmocka_unit_test(bbr__near_path_with_a_small_queue),
		cmocka_unit_test(bbr__guard_meets_a_policer),
		cmocka_unit_test(bbr__follows_the_rate),
		cmocka_unit_test(bbr__comes_back_after_a_blackout),
		cmocka_unit_test(bbr__shrugs_off_a_burst_of_losses),
		cmocka_unit_test(bbr__application_limit_keeps_the_estimate),
		cmocka_unit_test(bbr__learns_a_longer_path),
		cmocka_unit_test(bbr__never_falls_below_four_packets),
		cmocka_unit_test(table__finds_each_by_its_name),
		cmocka_unit_test(table__fixed_needs_a_rate),
		cmocka_unit_test(bbr__unknown_receiver_and_guess),
		cmocka_unit_test(rate__says_who_was_the_limit),
		cmocka_unit_test(fixed__is_the_rate),
		cmocka_unit_test(fixed__pays_for_headers),
		cmocka_unit_test(spans__wakes_for_a_gigabyte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
