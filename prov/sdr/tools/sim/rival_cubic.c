/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * `cubic` and `reno`: windows that grow until something is lost.
 *
 * CUBIC is RFC 9438 (C 0.4, beta 0.7, the Reno-friendly region, fast convergence) with HyStart as
 * Linux has it (train of acknowledgements, delay) and Linux's least growth before the first loss;
 * Reno is RFC 5681 with beta 0.5.  A loss, or a mark, reduces the window once a round trip: the
 * recovery ends when something that was sent after its begin is acknowledged, and until then the
 * window follows RFC 6937 (proportional rate reduction).  A timeout begins again with the smallest
 * window, which is SDR_CC_MIN_PKTS packets here, where Linux has one.  No pacing: acknowledgements
 * are the clock.  Windows are counted in packets, as fractions.
 */
#include <math.h>

#include "base/sdr_assert.h"
#include "rival.h"

#define CUBIC_C		 0.4
#define CUBIC_BETA	 0.7
#define CUBIC_GROWTH_MAX 0.5  /* packets of window a packet acknowledged */
#define CUBIC_GROWTH_NEW 0.05 /* at least, before the first loss: nothing is known (Linux) */
#define CUBIC_FRIENDLY	 (3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA))
#define RENO_BETA	 0.5
#define TCP_FIRST	 10.0 /* packets of the first window */
#define HYSTART_LOW	 16.0 /* packets: below, slow start is never left for a delay */
#define HYSTART_TRAIN_NS 2000000ull
#define HYSTART_DELAY_LO 4000000ull
#define HYSTART_DELAY_HI 16000000ull
#define HYSTART_SAMPLES	 8u

struct cubic {
	double cwnd, ssthresh;
	/* RFC 9438 */
	double w_max, w_est, k;
	uint64_t epoch; /* ns; 0: none */
	bool reduced;	/* once */
	/* HyStart */
	uint64_t round_ns,
		last_ns;    /* when the round began; the last acknowledgement of the train */
	uint64_t round_rtt; /* smallest of this round */
	uint32_t samples;
	/* recovery */
	bool recovery;
	uint64_t recover; /* delivered count of what is sent after its begin */
	double begin_flight, prr_delivered, prr_lost;
	bool reno;
};

_Static_assert(sizeof(struct cubic) <= SDR_CC_STATE_MAX, "state of cubic");

static struct cubic *cubic_of(struct sdr_cc *cc)
{
	return (struct cubic *)(void *)cc->state;
}

static void cubic_out(struct sdr_cc *cc, double window)
{
	double least = SDR_CC_MIN_PKTS;

	cc->cwnd = (uint64_t)(window > least ? window : least) * cc->mtu;
}

static void cubic_first(struct sdr_cc *cc, uint64_t now)
{
	struct cubic *s = cubic_of(cc);

	s->cwnd = TCP_FIRST;
	s->ssthresh = INFINITY;
	s->round_ns = s->last_ns = now;
	s->round_rtt = UINT64_MAX;
	cubic_out(cc, s->cwnd);
	cc->pacing_Bps = 0;
}

static void cubic_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	(void)cfg;
	cubic_first(cc, now);
}

static void reno_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now)
{
	cubic_of(cc)->reno = true;
	cubic_init(cc, cfg, now);
}

/* ---- slow start ------------------------------------------------------------------------------ */

static void cubic_hystart_round(struct cubic *s, uint64_t now)
{
	s->round_ns = s->last_ns = now;
	s->round_rtt = UINT64_MAX;
	s->samples = 0;
}

/* True: slow start has gone far enough. */
static bool cubic_hystart(struct cubic *s, const struct sdr_cc_ack *ack)
{
	uint64_t more = ack->min_rtt / 8;

	if (ack->now - s->last_ns <= HYSTART_TRAIN_NS) {
		s->last_ns = ack->now;
		if (ack->now - s->round_ns > ack->min_rtt / 2)
			return true;
	}
	if (!ack->rtt)
		return false;
	more = more < HYSTART_DELAY_LO ? HYSTART_DELAY_LO : more;
	more = more > HYSTART_DELAY_HI ? HYSTART_DELAY_HI : more;
	if (ack->rtt < s->round_rtt)
		s->round_rtt = ack->rtt;
	if (s->samples < HYSTART_SAMPLES) {
		s->samples++;
		return false;
	}
	return s->round_rtt > ack->min_rtt + more;
}

/* ---- congestion avoidance -------------------------------------------------------------------- */

static void cubic_epoch(struct cubic *s, uint64_t now)
{
	s->epoch = now;
	s->w_est = s->cwnd;
	if (s->cwnd < s->w_max) {
		s->k = cbrt((s->w_max - s->cwnd) / CUBIC_C);
	} else {
		s->k = 0;
		s->w_max = s->cwnd;
	}
}

static void cubic_grow(struct cubic *s, const struct sdr_cc_ack *ack, double acked)
{
	double t, target, step = 0;

	if (s->reno) {
		s->cwnd += acked / s->cwnd;
		return;
	}
	if (!s->epoch)
		cubic_epoch(s, ack->now);
	t = (double)(ack->now - s->epoch + ack->min_rtt) / SDR_CC_NS_PER_S;
	target = s->w_max + CUBIC_C * (t - s->k) * (t - s->k) * (t - s->k);
	if (target > s->cwnd)
		step = (target - s->cwnd) / s->cwnd;
	if (!s->reduced)
		step = fmax(step, CUBIC_GROWTH_NEW);
	s->w_est += (s->w_est < s->w_max ? CUBIC_FRIENDLY : 1) * acked / s->cwnd;
	if (s->w_est > s->cwnd + step * acked) {
		s->cwnd = s->w_est;
		return;
	}
	s->cwnd += fmin(step, CUBIC_GROWTH_MAX) * acked;
}

/* ---- reduction ------------------------------------------------------------------------------- */

static void cubic_reduce(struct sdr_cc *cc, struct cubic *s)
{
	double beta = s->reno ? RENO_BETA : CUBIC_BETA;

	s->w_max = s->cwnd < s->w_max ? s->cwnd * (1 + CUBIC_BETA) / 2 : s->cwnd;
	s->reduced = true;
	s->ssthresh = fmax(s->cwnd * beta, SDR_CC_MIN_PKTS);
	s->epoch = 0;
	s->recover = cc->delivered;
}

static void cubic_recover(struct sdr_cc *cc, struct cubic *s, const struct sdr_cc_ack *ack,
			  double acked, double lost)
{
	s->recovery = true;
	s->begin_flight = (double)ack->inflight / cc->mtu + acked + lost;
	s->prr_delivered = s->prr_lost = 0;
	cubic_reduce(cc, s);
}

/* RFC 6937: as much leaves as brings the flight down to ssthresh within a round trip. */
static double cubic_prr(const struct sdr_cc *cc, struct cubic *s, const struct sdr_cc_ack *ack,
			double acked, double lost)
{
	double flight = (double)ack->inflight / cc->mtu, out, more;

	s->prr_delivered += acked;
	s->prr_lost += lost;
	out = flight + s->prr_delivered + s->prr_lost - s->begin_flight;
	if (flight > s->ssthresh)
		more = ceil(s->prr_delivered * s->ssthresh / s->begin_flight) - out;
	else
		more = fmin(s->ssthresh - flight, fmax(s->prr_delivered - out, acked) + 1);
	return flight + fmax(more, 0);
}

static void cubic_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
			const struct sdr_cc_rate *rate)
{
	struct cubic *s = cubic_of(cc);
	double acked = (double)ack->bytes / cc->mtu, lost = (double)ack->lost / cc->mtu;

	cc->min_rtt = ack->min_rtt;
	if (rate->round_start)
		cubic_hystart_round(s, ack->now);
	if (s->recovery && ack->snap && ack->snap->delivered >= s->recover) {
		s->recovery = false;
		s->cwnd = s->ssthresh;
	}
	if (!s->recovery && (ack->lost || ack->ce))
		cubic_recover(cc, s, ack, acked, lost);
	if (s->recovery) {
		cubic_out(cc, cubic_prr(cc, s, ack, acked, lost));
		return;
	}
	if (s->cwnd < s->ssthresh) {
		s->cwnd += acked;
		if (!s->reno && s->cwnd >= HYSTART_LOW && cubic_hystart(s, ack))
			s->ssthresh = s->cwnd;
	} else {
		cubic_grow(s, ack, acked);
	}
	cubic_out(cc, s->cwnd);
}

static void cubic_timeout(struct sdr_cc *cc, uint64_t now)
{
	struct cubic *s = cubic_of(cc);

	cubic_reduce(cc, s);
	s->recovery = false;
	s->cwnd = SDR_CC_MIN_PKTS;
	cubic_hystart_round(s, now);
	cubic_out(cc, s->cwnd);
}

const struct sdr_cc_ops rival_cubic = {
	.name = "cubic",
	.init = cubic_init,
	.acked = cubic_acked,
	.timeout = cubic_timeout,
};

const struct sdr_cc_ops rival_reno = {
	.name = "reno",
	.init = reno_init,
	.acked = cubic_acked,
	.timeout = cubic_timeout,
};
