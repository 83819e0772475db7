/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Selective repeat: the law of U = max(i + rho (Y_i - 1)) - M over i = 1..M, exactly, for any M.
 *
 * With j = M - i, chunk j keeps U at most u with 1 - P^(floor((j + u) / rho) + 1).  The chunks with
 * an exponent of at most c are the first ceil(c rho - u) of the M, hence
 *
 *	log P(U <= u) = sum over c of clamp(ceil(c rho - u), 0, M) d_c,	 d_c = log(1 - P^c) -
 *	log(1 - P^(c + 1))
 *
 * which costs as much as there are levels c that matter: M rho P^c > LEVEL_EPS, 8 to 40 of them at
 * common losses. Each term is constant, then a ramp of unit steps, then 0.  The mean is the
 * integral of P(U > u): between the ends of ramps, log P is the same staircase in each chunk time
 * but for a constant, so every step of it is a geometric series over the chunk times.  Nothing is
 * summed over M and nothing is discretised; what cancels is written with log1p and expm1.
 *
 * When more than JUMPS (or JUMPS_FEW) ramps are under way at once, those whose steps fall into the
 * same share 1 / JUMPS of a chunk time step together at their mean: an error below 1e-7, and 1e-9
 * with JUMPS_FEW.  With more than SDR_MODEL_LEVELS levels (P above 0.96 or so) the calls pass to
 * sdr_model_sr_far.c, but where that is coarse, at a rho below RHO_FEW, and the mean costs no more
 * than WORK here.  Positions are doubles: within a few ulp of a jump, u counts as the jump.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_model_impl.h"

#define LEVEL_EPS 1e-20
#define LOG_ZERO  (-45.0) /* e^this is nothing beside 1 */
#define JUMPS	  256u
#define JUMPS_FEW 64u /* when a chunk time is negligible beside a timeout: */
#define RHO_FEW	  10.0
#define SMALL	  0.05
#define WORK	  1e6 /* ramps of all levels */

void sdr_model_sr_init_lnq(struct sdr_model_sr *s, double lnq, double rho, double m_max)
{
	double q = exp(lnq), levels;
	uint32_t c;

	SDR_ASSERT(lnq <= 0 && rho > 0);
	s->p = -expm1(lnq);
	s->rho = rho;
	s->h = s->p < 0.5 ? -log(s->p) : -log1p(-q);
	s->levels = 0;
	s->far = 0;
	if (!(s->p > 0) || !(m_max > 0))
		return;
	levels = ceil(log(m_max * rho / LEVEL_EPS) / s->h) + 1;
	s->far = !(levels <= SDR_MODEL_LEVELS || (levels <= SDR_MODEL_LEVELS_MAX && rho < RHO_FEW &&
						  levels * m_max <= WORK * rho));
	s->levels = s->far ? SDR_MODEL_LEVELS : (uint32_t)levels;
	SDR_ASSERT(s->levels <= sizeof(s->lam) / sizeof(s->lam[0]));
	for (c = 1; c <= s->levels; c++) {
		s->lam[c - 1] = log1p(-exp(-s->h * c));
		s->d[c - 1] = log1p(exp(-s->h * c) * q / expm1(-s->h * (c + 1)));
	}
}

void sdr_model_sr_init(struct sdr_model_sr *s, double p, double rho, double m_max)
{
	sdr_model_sr_init_lnq(s, log1p(-p), rho, m_max);
}

/* ---- the distribution ------------------------------------------------------------------------ */

/* ceil(x), or floor(x) + 1, where x may be off by tol. */
static double sr_count(double x, double tol, int left)
{
	double r = rint(x);

	if (fabs(x - r) <= tol)
		x = r;
	return left ? floor(x) + 1 : ceil(x);
}

double sdr_model_sr_logcdf(const struct sdr_model_sr *s, double m, double u, int left)
{
	double sum = 0, n, tol;
	uint32_t c;

	if (u < 0 || (left && u == 0))
		return -INFINITY;
	if (s->far)
		return sdr_model_sr_far_logcdf(s, m, u, left);
	/* the first level that is not through */
	n = floor(u / s->rho);
	if (n > s->levels)
		return 0;
	for (c = n > 1 ? (uint32_t)n - 1 : 0; c < s->levels; c++) {
		tol = 8 * DBL_EPSILON * (c + 1) * s->rho;
		n = sr_count((c + 1) * s->rho - u, tol, left);
		if (n >= m)
			return sum + m * s->lam[c];
		if (n > 0)
			sum += n * s->d[c];
	}
	return sum;
}

/* The jump c rho - j next to u, if there is one within rounding. */
static double sr_snap(const struct sdr_model_sr *s, double m, double u)
{
	double best = INFINITY, at = u, x, r;
	uint32_t c;

	for (c = 1; c <= s->levels; c++) {
		x = c * s->rho - u;
		r = rint(x);
		if (r < 0 || r > m - 1 || fabs(x - r) > 16 * DBL_EPSILON * c * s->rho ||
		    fabs(x - r) >= best)
			continue;
		best = fabs(x - r);
		at = c * s->rho - r;
	}
	return at;
}

double sdr_model_sr_quantile(const struct sdr_model_sr *s, double m, double logq)
{
	double lo, hi, mid;
	uint32_t a = 0, b = s->levels, c;

	if (!s->levels || !(m > 0) || sdr_model_sr_logcdf(s, m, 0, 0) >= logq)
		return 0;
	if (s->far)
		return sdr_model_sr_far_quantile(s, m, logq);
	while (b - a > 1) {
		c = a + (b - a) / 2;
		if (sdr_model_sr_logcdf(s, m, c * s->rho, 0) >= logq)
			b = c;
		else
			a = c;
	}
	lo = a * s->rho;
	hi = b * s->rho;
	for (mid = lo + (hi - lo) / 2; lo < mid && mid < hi && hi - lo > DBL_EPSILON * hi;
	     mid = lo + (hi - lo) / 2) {
		if (sdr_model_sr_logcdf(s, m, mid, 0) >= logq)
			hi = mid;
		else
			lo = mid;
	}
	mid = sr_snap(s, m, hi);
	return sdr_model_sr_logcdf(s, m, mid, 0) >= logq ? mid : hi;
}

/* ---- the mean -------------------------------------------------------------------------------- */

/* Of all ramps under way: in each chunk time, log P jumps by d at this share of it. */
struct sr_jump {
	double at, d;
};

/* log(sinh(z) / z) for small z */
static double sr_sinhc(double z)
{
	z *= z;
	return z * (1 / 6.0 - z * (1 / 180.0 - z / 2835));
}

/* n terms that grow by e^s */
struct sr_terms {
	double n, s;
	double sum;   /* of e^0, e^-s, ... */
	double shift; /* log(mean / middle) of those */
};

static struct sr_terms sr_terms(double n, double s)
{
	struct sr_terms t = { n, s, n, 0 };

	if (n < 2 || !(s > 0))
		return t;
	t.sum = expm1(-n * s) / expm1(-s);
	if (n * s < 2 * SMALL)
		t.shift = sr_sinhc(n * s / 2) - sr_sinhc(s / 2);
	return t;
}

/* sum over i < n of (1 - e^(y + i s)); no exponent is positive. */
static double sr_series(const struct sr_terms *t, double y)
{
	double last = y + (t->n - 1) * t->s;

	if (t->n < 1)
		return 0;
	if (y > -SMALL) /* around the middle term: 1 - e^y would cancel */
		return -t->n * expm1(y + (t->n - 1) * t->s / 2 + t->shift);
	return last < LOG_ZERO ? t->n : t->n - exp(last) * t->sum;
}

static void sr_sort(struct sr_jump *j, uint32_t n)
{
	static const uint32_t gaps[] = { 57, 23, 10, 4, 1 };
	uint32_t g, gap, i, k;
	struct sr_jump t;

	for (g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++) {
		gap = gaps[g];
		for (i = gap; i < n; i++) {
			t = j[i];
			for (k = i; k >= gap && j[k - gap].at > t.at; k -= gap)
				j[k] = j[k - gap];
			j[k] = t;
		}
	}
}

/*
 * The jumps of levels lo..hi - 1 after x, in order; *base, log P at x, and *rise a chunk time are
 * added to.
 */
static uint32_t sr_jumps(const struct sdr_model_sr *s, uint32_t lo, uint32_t hi, double x,
			 struct sr_jump *j, double *base, double *rise)
{
	uint32_t most = s->rho < RHO_FEW ? JUMPS : JUMPS_FEW;
	bool merge = hi - lo > most;
	uint32_t c, n = 0, i, k;
	double g, whole, d;

	if (merge)
		memset(j, 0, most * sizeof(*j));
	for (c = lo; c < hi; c++) {
		g = c * s->rho - x;
		d = s->d[c - 1];
		whole = floor(g);
		g -= whole;
		*base += (g > 0 ? whole + 1 : whole) * d;
		*rise -= d;
		if (!(g > 0))
			continue;
		if (merge) {
			i = (uint32_t)(g * most);
			j[i].at += g * d;
			j[i].d += d;
		} else {
			j[n++] = (struct sr_jump){ g, d };
		}
	}
	if (!merge) {
		sr_sort(j, n);
		return n;
	}
	for (i = k = 0; i < most; i++)
		if (j[i].d < 0)
			j[k++] = (struct sr_jump){ j[i].at / j[i].d, j[i].d };
	return k;
}

/*
 * The integral of P(U > u) over (x, x + len), where ramps lo..hi - 1 are under way and sat is log P
 * of the others.
 */
static double sr_interval(const struct sdr_model_sr *s, uint32_t lo, uint32_t hi, double x,
			  double len, double sat)
{
	double whole = floor(len), part = len - whole, y = sat, rise = 0, sum = 0, at = 0, end;
	struct sr_jump j[JUMPS];
	struct sr_terms most, least; /* chunk times that have a step early in one, or late */
	uint32_t n, i;

	if (lo == hi)
		return -len * expm1(sat);
	if (sat < LOG_ZERO)
		return len;
	n = sr_jumps(s, lo, hi, x, j, &y, &rise);
	if (y + rise * (whole + 1) < LOG_ZERO)
		return len;
	most = sr_terms(whole + 1, rise);
	least = sr_terms(whole, rise);
	for (i = 0; i <= n; i++) {
		end = i < n ? j[i].at : 1;
		if (end <= part) {
			sum += (end - at) * sr_series(&most, y);
		} else {
			sum += (end - at) * sr_series(&least, y);
			if (at < part)
				sum -= (part - at) * expm1(fmin(y + whole * rise, 0));
		}
		if (i < n)
			y -= j[i].d;
		at = end;
	}
	return sum;
}

double sdr_model_sr_mean(const struct sdr_model_sr *s, double m)
{
	uint32_t lo = 1, hi = 1; /* first level that is not through, first that did not start */
	double x = 0, y, sum = 0;

	if (!s->levels || !(m > 0))
		return 0;
	if (s->far)
		return sdr_model_sr_far_mean(s, m);
	while (lo <= s->levels) {
		while (hi <= s->levels && hi * s->rho - m + 1 <= x)
			hi++;
		y = lo * s->rho;
		if (hi <= s->levels)
			y = fmin(y, hi * s->rho - m + 1);
		sum += sr_interval(s, lo, hi, x, y - x, hi <= s->levels ? m * s->lam[hi - 1] : 0);
		x = y;
		while (lo <= s->levels && lo * s->rho <= x)
			lo++;
		hi = hi < lo ? lo : hi;
	}
	return sum;
}
