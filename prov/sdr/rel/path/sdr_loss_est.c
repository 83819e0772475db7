/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Loss of a path.  Bursts come as a Poisson process in packets; e bursts seen in s packets leave
 * the rate with the posterior Gamma(e + 1/2, s + SDR_LOSS_PRIOR_PKTS).  The packets' loss rate is
 * that times the mean burst.
 *
 * Whether two stretches, x bursts in r packets and e in s, have the same rate is decided by the
 * likelihood ratio
 *
 *   G / 2 = x ln(x / (R r)) + e ln(e / (R s)),   R = (x + e) / (r + s)
 *
 * (Wilks: G is chi-squared with one degree of freedom; for x = 0 exp(-G / 2) is exactly the
 * predictive probability of r clean packets).  It is tested when a burst begins, upwards, of the
 * last 2, 4, 8 and 16 bursts against the rest; and downwards of the clean run, by every question
 * and when the run ends.  The answer "no" cuts the memory there: upwards a wrong cut costs a little
 * parity for a while, downwards a round trip, so the bars differ.  A run is only cut off for good
 * when it ends, since losses that a decoder repaired are reported after it (recount).
 *
 * A path without a burst so far may also be one that loses nothing: even odds before the first
 * packet (any).
 *
 * Cost: a few additions a call, some logarithms where a burst begins at another rate than
 * remembered.  No threads.
 */
#include <math.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_loss_est.h"

#define SDR_LOSS_BAR_UP	  8.0  /* G / 2: 3e-5, tested four times per burst */
#define SDR_LOSS_BAR_DOWN 12.0 /* 6e-6 */
/* rates within this ratio are not worth a logarithm: 16 bursts reach the bar at 3 */
#define SDR_LOSS_UP_MIN 2.0
#define SDR_LOSS_Z95	1.6448536
#define SDR_LOSS_PRIOR	0.5 /* bursts */
#define SDR_LOSS_FADE	64  /* counts fade that many times a half-life */
#define SDR_LOSS_BURSTS 4.0 /* bursts that say how long bursts are */

struct sdr_loss_view {
	double sent, lost, bursts;
};

static double sdr_loss_part(double x, double expected)
{
	return x > 0 ? x * log(x / expected) : 0;
}

static double sdr_loss_differ(double x, double r, double e, double s)
{
	double rate = (x + e) / (r + s);

	return rate > 0 ? sdr_loss_part(x, rate * r) + sdr_loss_part(e, rate * s) : 0;
}

/*
 * The run, with x bursts in it of which the place is unknown, has significantly fewer than the
 * packets before.
 */
static bool sdr_loss_fell(const struct sdr_loss_est *l, double x)
{
	double s = l->sent - l->run;

	/* G / 2 is largest for x = 0, and then less than the bursts expected in the run */
	if (s <= 0 || x * s >= l->bursts * l->run || l->bursts * l->run <= SDR_LOSS_BAR_DOWN * s)
		return false;
	return sdr_loss_differ(x, l->run, l->bursts, s) > SDR_LOSS_BAR_DOWN;
}

/* A part of what was sent was lost, in fewer bursts than packets; rounding is forgiven. */
static void sdr_loss_check(const struct sdr_loss_est *l)
{
	double most = l->sent * (1 + 1e-9) + 1e-6;

	SDR_ASSERT(isfinite(l->sent) && l->sent >= 0);
	SDR_ASSERT(l->run >= 0 && l->run <= most);
	SDR_ASSERT(l->lost >= 0 && l->lost <= most);
	SDR_ASSERT(l->bursts >= 0 && l->bursts <= most);
	SDR_ASSERT(l->home.n <= SDR_LOSS_FORGIVE_MAX && l->ours.n <= SDR_LOSS_FORGIVE_MAX);
	SDR_ASSERT(l->burst <= SDR_LOSS_BURST_MAX && l->reported_lost <= l->reported);
}

static void sdr_loss_scale(struct sdr_loss_est *l, double f)
{
	l->sent *= f;
	l->lost *= f;
	l->bursts *= f;
	l->run *= f;
}

static void sdr_loss_fade(struct sdr_loss_est *l, uint64_t now)
{
	double f;

	if (now <= l->faded_ns || now - l->faded_ns < SDR_LOSS_SLOW_NS / SDR_LOSS_FADE)
		return;
	f = exp2(-(double)(now - l->faded_ns) / (double)SDR_LOSS_SLOW_NS);
	l->faded_ns = now;
	if (l->sent <= SDR_LOSS_SLOW_PKTS)
		return;
	sdr_loss_scale(l, fmax(f, SDR_LOSS_SLOW_PKTS / l->sent));
}

static void sdr_loss_cut_run(struct sdr_loss_est *l)
{
	l->sent = l->run;
	l->lost = 0;
	l->bursts = 0;
	l->marks = 0;
}

/* A burst has begun: are the last ones closer together than those before? */
static void sdr_loss_rose(struct sdr_loss_est *l)
{
	uint32_t x;

	for (x = 2; x < SDR_LOSS_MARKS && x < l->marks; x *= 2) {
		/*
		 * x bursts since the mark of the burst before them; the mark of the burst reported
		 * now is still open
		 */
		uint64_t i = (l->marks - 1 - x) % SDR_LOSS_MARKS;
		double r = fmax((double)(l->reported - l->mark[i].reported), SDR_LOSS_FAST_PKTS);
		double s = l->sent - r, e = l->bursts - x;

		if (s <= 0 || e < 0 || x * s < SDR_LOSS_UP_MIN * e * r)
			continue;
		if (sdr_loss_differ(x, r, e, s) <= SDR_LOSS_BAR_UP)
			continue;
		l->sent = r;
		l->bursts = x;
		l->lost = (double)(l->reported_lost - l->mark[i].lost);
		return;
	}
}

static void sdr_loss_mark(struct sdr_loss_est *l, uint64_t reported)
{
	uint64_t i = (l->marks - 1) % SDR_LOSS_MARKS;

	l->mark[i].reported = reported;
	l->mark[i].lost = l->reported_lost;
}

static void sdr_loss_bound(struct sdr_loss_est *l)
{
	if (l->bursts > SDR_LOSS_EVENTS && l->sent > SDR_LOSS_KEEP_PKTS)
		sdr_loss_scale(l, fmax(SDR_LOSS_EVENTS / l->bursts, SDR_LOSS_KEEP_PKTS / l->sent));
}

void sdr_loss_est_init(struct sdr_loss_est *l, uint64_t now)
{
	memset(l, 0, sizeof(*l));
	l->faded_ns = now;
}

void sdr_loss_est_begin(struct sdr_loss_est *l, uint64_t now, double pkts, double lost,
			double bursts)
{
	SDR_ASSERT(lost <= pkts && bursts <= pkts);
	if (l->reported || l->sent > 0)
		return;
	l->sent = pkts;
	l->lost = lost;
	l->bursts = bursts;
	l->run = lost > 0 ? 0 : pkts;
	l->faded_ns = now;
	sdr_loss_check(l);
}

void sdr_loss_est_arrived(struct sdr_loss_est *l, uint64_t now, uint64_t n)
{
	if (!n)
		return;
	sdr_loss_fade(l, now);
	l->sent += (double)n;
	l->run += (double)n;
	l->reported += n;
	l->in_burst = false;
	sdr_loss_check(l);
}

/* What was not used fades. */
static void sdr_loss_debt_fade(struct sdr_loss_debt *d, uint64_t now)
{
	uint64_t halves = now > d->ns ? (now - d->ns) / SDR_LOSS_FORGIVE_NS : 0;

	d->n = halves < 64 ? d->n >> halves : 0;
	d->ns += halves * SDR_LOSS_FORGIVE_NS;
}

static void sdr_loss_debt_add(struct sdr_loss_debt *d, uint64_t now, uint64_t n)
{
	sdr_loss_debt_fade(d, now);
	if (!d->n)
		d->ns = now;
	d->n += n < SDR_LOSS_FORGIVE_MAX - d->n ? n : SDR_LOSS_FORGIVE_MAX - d->n;
}

/* Of n losses. */
static uint64_t sdr_loss_debt_take(struct sdr_loss_debt *d, uint64_t now, uint64_t n)
{
	if (!d->n)
		return 0;
	sdr_loss_debt_fade(d, now);
	n = n < d->n ? n : d->n;
	d->n -= n;
	return n;
}

void sdr_loss_est_forgive(struct sdr_loss_est *l, uint64_t now, uint64_t n)
{
	sdr_loss_debt_add(&l->home, now, n);
}

uint64_t sdr_loss_est_lost(struct sdr_loss_est *l, uint64_t now, uint64_t n)
{
	uint64_t forgiven = sdr_loss_debt_take(&l->home, now, n), room;
	bool first = !l->in_burst;

	n -= forgiven;
	n -= sdr_loss_debt_take(&l->ours, now, n);
	if (!n)
		return forgiven;
	sdr_loss_fade(l, now);
	if (first) {
		if (sdr_loss_fell(l, 0))
			sdr_loss_cut_run(l);
		l->burst = 0;
		l->bursts += 1;
		l->marks++;
	}
	room = SDR_LOSS_BURST_MAX - l->burst;
	n = n < room ? n : room;
	l->burst += (uint32_t)n;
	l->in_burst = true;
	l->run = 0;
	l->sent += (double)n;
	l->lost += (double)n;
	l->reported += n;
	l->reported_lost += n;
	sdr_loss_mark(l, l->reported);
	if (first)
		sdr_loss_rose(l);
	sdr_loss_bound(l);
	sdr_loss_check(l);
	return forgiven;
}

/* Losses of which only the number is known, n > 0, that count as arrived so far. */
static void sdr_loss_count(struct sdr_loss_est *l, uint64_t n)
{
	uint64_t run, spread, i;
	double bursts = fmax((double)n / sdr_loss_est_burst(l), 1);

	if (sdr_loss_fell(l, bursts))
		sdr_loss_cut_run(l);
	/* no more than the memory holds: the caller's numbers may come from a peer */
	l->lost = fmin(l->lost + (double)n, l->sent);
	l->bursts = fmin(l->bursts + bursts, l->sent);
	run = (uint64_t)l->run;
	run = run < l->reported ? run : l->reported;
	n = n < run ? n : run;
	spread = bursts < SDR_LOSS_MARKS ? (uint64_t)bursts : SDR_LOSS_MARKS;
	for (i = 1; i <= spread; i++) {
		l->marks++;
		l->reported_lost += n * i / spread - n * (i - 1) / spread;
		/* the last ones of many: as far apart as all of them */
		sdr_loss_mark(l, l->reported -
					 (uint64_t)((double)run * (double)(spread - i) / bursts));
	}
	l->run = 0;
	l->in_burst = false;
	sdr_loss_rose(l);
	sdr_loss_bound(l);
	sdr_loss_check(l);
}

uint64_t sdr_loss_est_recount(struct sdr_loss_est *l, uint64_t now, uint64_t n)
{
	uint64_t forgiven = sdr_loss_debt_take(&l->home, now, n);

	n -= forgiven;
	n -= sdr_loss_debt_take(&l->ours, now, n);
	if (n)
		sdr_loss_count(l, n);
	return forgiven;
}

void sdr_loss_est_doubt(struct sdr_loss_est *l)
{
	if (l->doubted)
		return;
	l->doubted = true;
	l->before.sent = l->sent;
	l->before.lost = l->lost;
	l->before.bursts = l->bursts;
	l->before.run = l->run;
	l->before.reported = l->reported;
	l->before.reported_lost = l->reported_lost;
}

void sdr_loss_est_judged(struct sdr_loss_est *l)
{
	l->doubted = false;
}

/* As if the losses in doubt had arrived; returns how many they were. */
static uint64_t sdr_loss_undo(struct sdr_loss_est *l)
{
	uint64_t since = l->reported - l->before.reported,
		 lost = l->reported_lost - l->before.reported_lost;

	l->doubted = false;
	l->reported_lost = l->before.reported_lost;
	l->sent = l->before.sent + (double)since;
	l->lost = l->before.lost;
	l->bursts = l->before.bursts;
	l->run = l->before.run + (double)since;
	return lost;
}

void sdr_loss_est_excuse(struct sdr_loss_est *l, uint64_t now, uint64_t n)
{
	uint64_t doubted = 0;
	double share, known;

	if (!n)
		return;
	if (l->doubted)
		doubted = sdr_loss_undo(l);
	l->marks = 0;
	l->in_burst = false;
	if (doubted > n)
		sdr_loss_count(l, doubted - n);
	n -= n < doubted ? n : doubted;
	known = l->lost;
	if (n && known > 0) {
		share = fmin((double)n / known, 1);
		l->lost -= share * known;
		l->bursts -= share * l->bursts;
	}
	if ((double)n > known)
		sdr_loss_debt_add(&l->ours, now, n - (uint64_t)known);
	sdr_loss_check(l);
}

static struct sdr_loss_view sdr_loss_look(const struct sdr_loss_est *l)
{
	struct sdr_loss_view v = { l->sent, l->lost, l->bursts };

	if (l->doubted) {
		v.sent = l->before.sent + (double)(l->reported - l->before.reported);
		v.lost = l->before.lost;
		v.bursts = l->before.bursts;
	} else if (sdr_loss_fell(l, 0)) {
		v.sent = l->run;
		v.lost = 0;
		v.bursts = 0;
	}
	return v;
}

/* Before the fourth burst the lengths seen are weighed against three bursts of a single packet. */
static double sdr_loss_length(const struct sdr_loss_view *v)
{
	if (v->bursts >= SDR_LOSS_BURSTS)
		return fmax(v->lost / v->bursts, 1);
	return fmax((v->lost + SDR_LOSS_BURSTS - 1) / (v->bursts + SDR_LOSS_BURSTS - 1), 1);
}

double sdr_loss_est_mean(const struct sdr_loss_est *l)
{
	struct sdr_loss_view v = sdr_loss_look(l);
	double mean =
		sdr_loss_length(&v) * (v.bursts + SDR_LOSS_PRIOR) / (v.sent + SDR_LOSS_PRIOR_PKTS);

	SDR_ASSERT(mean > 0);
	return fmin(mean, 1);
}

static double sdr_loss_bound_of(const struct sdr_loss_view *v)
{
	double g = sdr_loss_length(v), a = v->bursts + SDR_LOSS_PRIOR,
	       b = v->sent + SDR_LOSS_PRIOR_PKTS, h, q;

	/*
	 * the lengths of bursts vary, too: a sum of geometric lengths has 2 - 1 / g times the
	 * variance
	 */
	h = a / (2 - 1 / g);
	/* Wilson and Hilferty: the quantile of Gamma(h, h), mean 1 */
	q = 1 - 1 / (9 * h) + SDR_LOSS_Z95 / (3 * sqrt(h));
	q = fmax(q * q * q, 1);
	SDR_ASSERT(g >= 1 && q * g * a / b > 0);
	return fmin(q * g * a / b, 1);
}

double sdr_loss_est_upper(const struct sdr_loss_est *l)
{
	struct sdr_loss_view v = sdr_loss_look(l);

	return sdr_loss_bound_of(&v);
}

double sdr_loss_est_burst(const struct sdr_loss_est *l)
{
	struct sdr_loss_view v = sdr_loss_look(l);

	return v.bursts >= SDR_LOSS_BURSTS ? sdr_loss_length(&v) : 1;
}

bool sdr_loss_est_seen(const struct sdr_loss_est *l)
{
	return sdr_loss_look(l).bursts >= SDR_LOSS_PRIOR;
}

void sdr_loss_est_known(const struct sdr_loss_est *l, struct sdr_choice_loss *out)
{
	struct sdr_loss_view v = sdr_loss_look(l);
	double clean;

	*out = (struct sdr_choice_loss){
		.upper = sdr_loss_bound_of(&v),
		.burst = v.bursts >= SDR_LOSS_BURSTS ? sdr_loss_length(&v) : 1,
		.events = v.bursts + SDR_LOSS_PRIOR,
		.pkts = v.sent + SDR_LOSS_PRIOR_PKTS,
		.lossy = 1,
		.seen = v.bursts >= SDR_LOSS_PRIOR,
	};
	/*
	 * nothing seen: was that luck on a path that loses (clean: the probability), or is it one
	 * that does not?
	 */
	if (!out->seen) {
		clean = pow(SDR_LOSS_PRIOR_PKTS / out->pkts, SDR_LOSS_PRIOR);
		out->lossy = clean / (clean + 1);
	}
}

double sdr_loss_est_any(const struct sdr_loss_est *l, double n)
{
	struct sdr_choice_loss known;

	sdr_loss_est_known(l, &known);
	return sdr_choice_any(&known, n);
}
