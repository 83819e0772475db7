/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Counting of the drop-rate probe.
 *
 * Bursts are looked for when the flow is over: only then is it known that a packet is not just
 * late.  The map is scanned by runs, so that 2^26 packets cost milliseconds.
 *
 * The interval is that of Clopper and Pearson: it does not collapse when nothing was lost, stays
 * within 0 and 1, and errs on the wide side where losses are few, which is where a probe is used
 * (Wilson's is too narrow there).  It supposes independent packets; losses in bursts say less.  So
 * the number of packets is first divided by the variance inflation (1 + r) / (1 - r) of a chain of
 * two states (Gilbert) with the observed mean burst and drop rate, r being the correlation of
 * successive packets: with independent losses r is 0, and a correlation below it, which would make
 * the interval narrower, counts as 0.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/sdr_bitmap.h"
#include "probe_count.h"

#define TAIL 0.025 /* on each side of the interval */
/* of the continued fraction: it takes some times the root of the packets */
#define TERMS	 200000u
#define HALVINGS 200u
#define TINY	 1e-300

void probe_count_init(struct probe_count *c, uint64_t *map, uint32_t room)
{
	memset(c, 0, sizeof(*c));
	c->map = map;
	c->room = room;
}

bool probe_count_take(struct probe_count *c, uint64_t n)
{
	if (n >= c->room)
		return false;
	if (sdr_bitmap_test(c->map, (uint32_t)n)) {
		c->duplicates++;
		return true;
	}
	sdr_bitmap_set(c->map, (uint32_t)n);
	if (n < c->next)
		c->reordered++;
	else
		c->next = n + 1;
	return true;
}

static void burst(struct probe_tally *t, uint64_t len)
{
	unsigned int class = 63u - (unsigned int)__builtin_clzll(len);

	t->bursts++;
	t->hist[class < PROBE_HIST ? class : PROBE_HIST - 1]++;
	if (len > t->longest)
		t->longest = len;
}

void probe_count_close(const struct probe_count *c, uint64_t sent, struct probe_tally *t)
{
	uint32_t at = 0, end, n = (uint32_t)(sent < c->room ? sent : c->room);

	memset(t, 0, sizeof(*t));
	t->sent = t->received = n;
	t->reordered = c->reordered;
	t->duplicates = c->duplicates;
	while ((at = sdr_bitmap_next_zero(c->map, at, n)) < n) {
		end = sdr_bitmap_next_one(c->map, at, n);
		burst(t, end - at);
		t->received -= end - at;
		at = end;
	}
}

bool probe_tally_ok(const struct probe_tally *t)
{
	uint64_t lost = t->sent - t->received, sum = 0;
	unsigned int i;

	if (t->received > t->sent || t->reordered > t->received || t->bursts > lost ||
	    t->longest > lost || (lost > 0) != (t->bursts > 0) || (lost > 0) != (t->longest > 0))
		return false;
	for (i = 0; i < PROBE_HIST; i++) {
		if (t->hist[i] > t->bursts)
			return false;
		sum += t->hist[i];
	}
	return sum == t->bursts;
}

/*
 * The continued fraction of the incomplete beta function, by Lentz's method; x below (a + 1) / (a +
 * b + 2).
 */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), f, step, m, term;
	unsigned int i, odd;

	d = 1 / (fabs(d) < TINY ? TINY : d);
	f = d;
	for (i = 1; i < TERMS; i++) {
		m = i;
		for (odd = 0, step = 1; odd < 2; odd++) {
			term = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
				   : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
			d = 1 + term * d;
			d = 1 / (fabs(d) < TINY ? TINY : d);
			c = 1 + term / c;
			c = fabs(c) < TINY ? TINY : c;
			step = c * d;
			f *= step;
		}
		if (fabs(step - 1) < 1e-13)
			break;
	}
	return f;
}

/* P(a beta-distributed number is below x) */
static double beta_cdf(double x, double a, double b)
{
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

static double beta_quantile(double q, double a, double b)
{
	double low = 0, high = 1, x = 0.5;
	unsigned int i;

	for (i = 0; i < HALVINGS && high - low > 1e-12 * high; i++) {
		x = (low + high) / 2;
		if (beta_cdf(x, a, b) < q)
			low = x;
		else
			high = x;
	}
	return x;
}

void probe_tally_loss(const struct probe_tally *t, struct probe_loss *l)
{
	double n = (double)t->sent, lost = (double)(t->sent - t->received), r;

	l->loss = lost / n;
	l->burst = lost > 0 ? lost / (double)t->bursts : 0;
	if (lost > 0) {
		/* 1 - P(lost -> received) - P(received -> lost) */
		r = 1 - 1 / l->burst - (t->received ? (double)t->bursts / (double)t->received : 0);
		if (r > 0)
			n = fmax(n * (1 - r) / (1 + r), 1);
		lost = l->loss * n;
	}
	l->low = lost > 0 ? beta_quantile(TAIL, lost, n - lost + 1) : 0;
	l->high = t->received ? beta_quantile(1 - TAIL, lost + 1, n - lost) : 1;
}
