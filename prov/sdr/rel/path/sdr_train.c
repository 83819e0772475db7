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
 *      tx + min_rtt + its delay + noise <= rx of the point before
 *
 * since then there was something of ours to pass all the time.  That does not come true by batching
 * (GRO, a receiver or a sender that was asleep, acknowledgements held back), which makes times late
 * but puts packets that came meanwhile into the same point.  Where packets overtake each other, one
 * that is late by chance looks like a queue: that is the noise.
 *
 * Busy steps in a row make a *run*.  Its points lie on a straight line of arrival over bytes, or
 * late of it, by what they waited for a host; none is early.  So the line is looked for below them:
 * the edge of the lower convex hull at the mean of the bytes (the line below all points that comes
 * nearest to them).  One point that is very late, as the first one often is, does not bend it.  Its
 * error is taken to be twice the mean lateness, SDR_TRAIN_NOISE and the noise, over the time of the
 * run.
 *
 * A run counts when it has SDR_TRAIN_POINTS points, an error of at most SDR_TRAIN_ERR, and took
 * SDR_TRAIN_STRETCH times as long to arrive as to leave: packets that were sent no faster than the
 * path takes them show nothing, not even in a queue that others keep full; for those the delivery
 * rate is a least value (sdr_cc.c).  It ends at a step that is not busy, or when it is
 * SDR_TRAIN_LONG points and SDR_TRAIN_LONG_NS long.  The estimate is the weighted median of the
 * last SDR_TRAIN_KEPT runs and the one under way: a run that met cross traffic or a moment's stall
 * does not move it, a path that changed does after half of them.
 *
 * With others at the bottleneck it is what that passes of ours while we queue there, no more.  The
 * less time a train has taken to leave, the fewer packets of others are in it: so what left at once
 * in the middle of a flight (sdr_cc.c) is a run of its own, and its rate a result of its own.
 * O(1) per acknowledgement; no clock, no timers, no allocation, no threads.
 */
#include <math.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_train.h"

#define SDR_TRAIN_POINTS   5u
#define SDR_TRAIN_LONG	   64u
#define SDR_TRAIN_LONG_NS  1000000.0
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
	t->noise = SDR_TRAIN_NOISE;
}

static void line_corner(struct sdr_train_line *l, double x, double y)
{
	/* What lies above the edge that goes past it is no corner. */
	while (l->corners >= 2) {
		uint32_t k = l->corners - 1;
		double dx = l->corner[k].x - l->corner[k - 1].x,
		       dy = l->corner[k].y - l->corner[k - 1].y;

		if (dx * (y - l->corner[k - 1].y) > dy * (x - l->corner[k - 1].x))
			break;
		l->corners--;
	}
	if (l->corners == SDR_TRAIN_CORNERS) {
		memmove(&l->corner[1], &l->corner[2],
			(SDR_TRAIN_CORNERS - 2) * sizeof(l->corner[0]));
		l->corners--;
	}
	l->corner[l->corners].x = x;
	l->corner[l->corners++].y = y;
}

static void line_add(struct sdr_train_line *l, const struct sdr_train_point *p)
{
	l->n++;
	l->x += p->x;
	l->y += p->y;
	line_corner(l, p->x, p->y);
}

/* Its rate and weight: 0 if it says nothing. */
static struct sdr_train_run line_fit(const struct sdr_train_line *l, double noise)
{
	struct sdr_train_run none = { 0, 0 }, r;
	double mean = l->x / l->n, dx, slope, late, err;
	uint32_t i = 1;

	while (i + 1 < l->corners && l->corner[i].x < mean)
		i++;
	if (i >= l->corners)
		return none;
	dx = l->corner[i].x - l->corner[i - 1].x;
	if (dx <= 0)
		return none;
	slope = (l->corner[i].y - l->corner[i - 1].y) / dx; /* ns per byte */
	if (slope * (double)SDR_TRAIN_RATE_MAX < SDR_TRAIN_NS_PER_S)
		return none;
	late = l->y / l->n - l->corner[i].y - slope * (mean - l->corner[i].x);
	err = (2 * (late > 0 ? late : 0) + noise) / (slope * l->corner[l->corners - 1].x);
	if (!(err <= SDR_TRAIN_ERR))
		return none;
	if (err < SDR_TRAIN_ERR_MIN)
		err = SDR_TRAIN_ERR_MIN;
	r.rate_Bps = (uint64_t)(SDR_TRAIN_NS_PER_S / slope);
	r.weight = 1 / (err * err);
	return r;
}

/* The run under way. */
static struct sdr_train_run train_fit(const struct sdr_train *t)
{
	const struct sdr_train_point *end = t->busy ? &t->last : &t->prev;
	struct sdr_train_run none = { 0, 0 };
	struct sdr_train_line l;

	if (t->line.n + t->busy < SDR_TRAIN_POINTS ||
	    end->y < SDR_TRAIN_STRETCH * (double)(end->tx - t->first.tx))
		return none;
	l = t->line;
	if (t->busy)
		line_add(&l, &t->last);
	return line_fit(&l, t->noise);
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

/* Longer would not be better. */
static bool train_is_long(const struct sdr_train *t)
{
	return t->line.n >= SDR_TRAIN_LONG &&
	       (t->prev.y >= SDR_TRAIN_LONG_NS || t->line.n >= 16 * SDR_TRAIN_LONG);
}

/* Sent to be a run of its own. */
static bool train_is_own(const struct sdr_train *t, uint64_t tx_ns)
{
	return t->own_to && tx_ns >= t->own_from && tx_ns <= t->own_to;
}

/* Nothing is added to the last point any more. */
static void train_settle(struct sdr_train *t)
{
	struct sdr_train_run r;

	if (t->busy) {
		line_add(&t->line, &t->last);
		t->prev = t->last;
		if (!train_is_long(t))
			return;
	}
	t->busy = false;
	r = train_fit(t);
	if (r.weight > 0)
		t->run[t->nruns++ % SDR_TRAIN_KEPT] = r;
	if (r.weight > 0 && train_is_own(t, t->first.tx)) {
		/* the largest of several is believed: it is not to be that of the largest error */
		t->own_Bps = (uint64_t)((double)r.rate_Bps * (1 - 1 / sqrt(r.weight)));
		t->owns++;
	}
	/* It is the first of the next one. */
	t->last.x = t->last.y = 0;
	t->first = t->prev = t->last;
	memset(&t->line, 0, sizeof(t->line));
	line_add(&t->line, &t->first);
}

void sdr_train_acked(struct sdr_train *t, const struct sdr_train_ack *a)
{
	uint64_t rx = a->now > a->delay_ns ? a->now - a->delay_ns : 0;
	struct sdr_train_point *p = &t->last;

	SDR_ASSERT(a->tx_ns <= a->now && a->now >= t->at);
	t->bytes += a->bytes;
	t->noise = SDR_TRAIN_NOISE + (double)a->noise_ns;
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
		  a->noise_ns <= t->prev.rx - a->tx_ns - a->delay_ns &&
		  a->min_rtt <= t->prev.rx - a->tx_ns - a->delay_ns - a->noise_ns &&
		  train_is_own(t, a->tx_ns) == train_is_own(t, t->prev.tx);
	t->at = a->now;
	t->bytes = 0;
	train_output(t, 0);
}

void sdr_train_own(struct sdr_train *t, uint64_t from, uint64_t to)
{
	SDR_ASSERT(from && from <= to);
	t->own_from = from;
	t->own_to = to;
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
