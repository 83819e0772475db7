/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the bottleneck of a path passes, by the dispersion of the own packets: bytes that arrive one
 * behind the other out of its queue do so at its rate, however short the flight is.
 *
 * Each acknowledgement gives a point: the bytes delivered so far, the time at which the newest of
 * them left (tx), and that at which it arrived (rx), in the sender's clock, as far as a round trip
 * tells.  A step from one point to the next is *busy* when the newest packet had reached the
 * bottleneck before the one of the point before had arrived:
 *
 *      tx + min_rtt + its delay <= rx of the point before
 *
 * since then there was something of ours to pass all the time.  That does not come true by batching
 * (GRO, a receiver or a sender that was asleep, acknowledgements held back), which makes times late
 * but puts packets that came meanwhile into the same point.
 *
 * Busy steps in a row make a *run*: a straight line of arrival over bytes, whose slope is fitted,
 * with its standard error from what lies beside the line.  A run counts when it has
 * SDR_TRAIN_POINTS points, an error of at most SDR_TRAIN_ERR, and took SDR_TRAIN_STRETCH times as
 * long to arrive as to leave: packets that were sent no faster than the path takes them show
 * nothing, not even in a queue that others keep full; for those the delivery rate is a least value
 * (sdr_cc.c).  It ends at a step that is not busy, or when it is SDR_TRAIN_LONG points long.  The
 * estimate is the weighted median of the last SDR_TRAIN_KEPT runs and the one under way: a run that
 * met cross traffic or a moment's stall does not move it, a path that changed does after half of
 * them.
 *
 * With others at the bottleneck it is what that passes of ours while we queue there, no more.
 * O(1) per acknowledgement; no clock, no timers, no allocation, no threads.
 */
#include <math.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_train.h"

#define SDR_TRAIN_POINTS   4u
#define SDR_TRAIN_LONG	   64u
#define SDR_TRAIN_ERR	   0.25
#define SDR_TRAIN_STRETCH  1.125
#define SDR_TRAIN_NS_PER_S 1e9
/* an error less than that is chance */
#define SDR_TRAIN_ERR_MIN 0.02
/* ns: noise of times that is expected before a run is long enough to tell */
#define SDR_TRAIN_NOISE	   30000.0
#define SDR_TRAIN_RATE_MAX (1ull << 50) /* bytes per second: more is a mistake */

void sdr_train_init(struct sdr_train *t)
{
	memset(t, 0, sizeof(*t));
}

static void train_add(struct sdr_train_sums *s, const struct sdr_train_point *p)
{
	s->n++;
	s->x += p->x;
	s->y += p->y;
	s->xx += p->x * p->x;
	s->xy += p->x * p->y;
	s->yy += p->y * p->y;
}

/* The rate of the run under way, and its weight: 0 as long as it does not count. */
static struct sdr_train_run train_fit(const struct sdr_train *t)
{
	struct sdr_train_run none = { 0, 0 }, r;
	const struct sdr_train_point *end = t->busy ? &t->last : &t->prev;
	struct sdr_train_sums s = t->sums;
	double xx, xy, yy, slope, left, err;

	if (t->busy)
		train_add(&s, &t->last);
	if (s.n < SDR_TRAIN_POINTS)
		return none;
	if (end->y < SDR_TRAIN_STRETCH * (double)(end->tx - t->first.tx))
		return none;
	xx = s.xx - s.x * s.x / s.n;
	xy = s.xy - s.x * s.y / s.n;
	yy = s.yy - s.y * s.y / s.n;
	if (xx <= 0 || xy <= 0)
		return none;
	slope = xy / xx; /* ns per byte */
	left = yy - slope * xy;
	left = (left > 0 ? left : 0) + 2 * SDR_TRAIN_NOISE * SDR_TRAIN_NOISE;
	err = sqrt(left / (s.n - 2) / xx) / slope;
	if (!(err <= SDR_TRAIN_ERR) || slope * (double)SDR_TRAIN_RATE_MAX < SDR_TRAIN_NS_PER_S)
		return none;
	if (err < SDR_TRAIN_ERR_MIN)
		err = SDR_TRAIN_ERR_MIN;
	r.rate_Bps = (uint64_t)(SDR_TRAIN_NS_PER_S / slope);
	r.weight = 1 / (err * err);
	return r;
}

/* The weighted median of all runs that count and say at least that. */
static void train_output(struct sdr_train *t, uint64_t least)
{
	struct sdr_train_run r[SDR_TRAIN_KEPT + 1] = { { 0, 0 } }, now = train_fit(t);
	double all = 0, below = 0;
	uint32_t n = 0, i, k;

	for (i = 0; i <= SDR_TRAIN_KEPT; i++) {
		const struct sdr_train_run *e = i < SDR_TRAIN_KEPT ? &t->run[i] : &now;

		if (!(e->weight > 0) || e->rate_Bps < least)
			continue;
		for (k = n++; k && r[k - 1].rate_Bps > e->rate_Bps; k--)
			r[k] = r[k - 1];
		r[k] = *e;
		all += e->weight;
	}
	t->rate_Bps = 0;
	t->err = 0;
	for (i = 0; i < n && below <= all / 2; i++) {
		below += r[i].weight;
		t->rate_Bps = r[i].rate_Bps;
	}
	if (n)
		t->err = 1 / sqrt(all);
}

/* Nothing is added to the last point any more. */
static void train_settle(struct sdr_train *t)
{
	struct sdr_train_run r;

	if (t->busy) {
		train_add(&t->sums, &t->last);
		t->prev = t->last;
		if (t->sums.n < SDR_TRAIN_LONG)
			return;
	}
	t->busy = false;
	r = train_fit(t);
	if (r.weight > 0)
		t->run[t->nruns++ % SDR_TRAIN_KEPT] = r;
	/* It is the first of the next one. */
	t->last.x = t->last.y = 0;
	t->first = t->prev = t->last;
	memset(&t->sums, 0, sizeof(t->sums));
	train_add(&t->sums, &t->first);
}

void sdr_train_acked(struct sdr_train *t, const struct sdr_train_ack *a)
{
	uint64_t rx = a->now > a->delay_ns ? a->now - a->delay_ns : 0;
	struct sdr_train_point *p = &t->last;

	SDR_ASSERT(a->tx_ns <= a->now && a->now >= t->at);
	t->bytes += a->bytes;
	/* Of what had left earlier: it counts with what comes next. */
	if (t->at && (a->tx_ns < p->tx || rx < p->rx))
		return;
	if (t->at && a->now > t->at) {
		train_settle(t);
		p->x = t->prev.x;
	}
	p->tx = a->tx_ns;
	p->rx = rx;
	p->x += (double)t->bytes;
	p->y = (double)(rx - t->first.rx);
	/* as a difference: a round trip that is unknown may be as long as time itself */
	t->busy = t->first.rx && a->min_rtt && t->prev.rx > a->tx_ns &&
		  a->delay_ns <= t->prev.rx - a->tx_ns &&
		  a->min_rtt <= t->prev.rx - a->tx_ns - a->delay_ns;
	t->at = a->now;
	t->bytes = 0;
	train_output(t, 0);
}

void sdr_train_least(struct sdr_train *t, uint64_t rate_Bps)
{
	uint32_t i;

	if (!t->rate_Bps || (double)rate_Bps <= SDR_TRAIN_STRETCH * (double)t->rate_Bps)
		return;
	for (i = 0; i < SDR_TRAIN_KEPT; i++)
		if (t->run[i].rate_Bps < rate_Bps)
			t->run[i].weight = 0;
	train_output(t, rate_Bps);
}
