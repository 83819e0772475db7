/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Selective repeat where nearly everything is lost: the law of sdr_model_sr.c for P so near to 1
 * that thousands of retry levels matter, up to the last double below 1 and, through log(1 - P),
 * beyond.
 *
 * The levels are not listed.  l(x) = log(1 - P^x) is so smooth here that a sum of it over x, x + 1,
 * x + 2 ... is a dilogarithm with one term of Euler and Maclaurin; the terms below x = NEAR, where
 * it is not, are added one by one.
 *
 *   distribution  chunks are counted level by level, exactly, for TERMS to MORE levels; what is
 *		   beyond is a difference of such sums, where the steps of single chunks are
 *		   ramps.  Exact for M < TERMS rho, else as good as half a chunk time, which then
 *		   is EXACT of the whole (1e-4 where rho is near 1).
 *   mean	   log P is linear between the ends of ramps (single chunk times are averaged), so
 *		   the integral over one level is closed.  The first BLOCKS are added up; the others
 *		   are smooth in the level, and their sum is a quadrature.  Relative error below
 *		   1e-6, but 5e-5 where rho is below 10 and M.
 *
 * P = 1 (a double cannot tell even log(1 - P) from minus infinity): the time is infinite.
 */
#include <float.h>
#include <math.h>
#include "sdr_model_impl.h"

#define NEAR	16.0
#define TERMS	64.0
#define MORE	4096.0
#define EXACT	1e-6
#define BLOCKS	64.0
#define COARSE	1e12 /* levels beside which those of one transfer are no difference */
#define FAR_LOG 50.0 /* e^-this of a chunk is nothing */

/* Gauss-Legendre, 16 points, half of them. */
static const double far_at[] = { 0.0950125098376374402, 0.2816035507792589132,
				 0.4580167776572273863, 0.6178762444026437484,
				 0.7554044083550030339, 0.8656312023878317439,
				 0.9445750230732325761, 0.9894009349916499326 };
static const double far_weight[] = { 0.1894506104550684963, 0.1826034150449235889,
				     0.1691565193950025382, 0.1495959888165767321,
				     0.1246289712555338720, 0.0951585116824927848,
				     0.0622535239386478929, 0.0271524594117540949 };

/* log(1 - P^x) */
static double far_level(const struct sdr_model_sr *s, double x)
{
	return log(-expm1(-s->h * x));
}

/* Li2(e^-t), t > 0 */
static double far_dilog(double t)
{
	double y = exp(-t), z = y, sum = 0, n;

	if (y > 0.5)
		z = -expm1(-t);
	for (n = 1; n < 64; n++) {
		sum += z / (n * n);
		z *= y > 0.5 ? -expm1(-t) : y;
	}
	return y > 0.5 ? M_PI * M_PI / 6 + t * log(-expm1(-t)) - sum : sum;
}

/* l(x) + l(x + 1) + ... */
static double far_sum(const struct sdr_model_sr *s, double x)
{
	double sum = 0;

	for (; x < NEAR; x++)
		sum += far_level(s, x);
	x -= 0.5;
	return sum - far_dilog(s->h * x) / s->h + s->h / expm1(s->h * x) / 24;
}

/* l(x) + ... + l(x + n - 1) */
static double far_part(const struct sdr_model_sr *s, double x, double n)
{
	double sum = 0, i;

	if (n > NEAR)
		return far_sum(s, x) - far_sum(s, x + n);
	for (i = 0; i < n; i++)
		sum += far_level(s, x + i);
	return sum;
}

/* ---- the distribution ------------------------------------------------------------------------ */

/* log P of chunks at z rho and later, as if they were spread evenly. */
static double far_tail(const struct sdr_model_sr *s, double z)
{
	double whole = floor(z);

	return s->rho * ((whole + 1 - z) * far_level(s, whole + 1) + far_sum(s, whole + 2));
}

double sdr_model_sr_far_logcdf(const struct sdr_model_sr *s, double m, double u, int left)
{
	double sum = 0, done = 0, upto, at, e, level, r;
	double terms = fmin(fmax(0.5 / EXACT / s->rho, TERMS), MORE);

	if (!(s->h > 0))
		return -INFINITY;
	at = u / s->rho;
	if (at > COARSE * (m / s->rho + 1))
		return m * far_level(s, floor(at) + 1);
	if (fabs(at - rint(at)) <= 8 * DBL_EPSILON * at)
		at = left ? rint(at) - 1 : rint(at);
	e = floor(at) + 1;
	for (; terms > 0; terms--, e++) {
		at = e * s->rho - u;
		r = rint(at);
		if (fabs(at - r) <= 8 * DBL_EPSILON * e * s->rho)
			at = r;
		upto = fmin(fmax(left ? floor(at) + 1 : ceil(at), done), m);
		level = far_level(s, e);
		sum += (upto - done) * level;
		done = upto;
		if (done >= m || (m - done) * level > -DBL_EPSILON * DBL_EPSILON)
			return sum;
	}
	at = (u - 0.5 + done) / s->rho;
	return sum + fmin(far_tail(s, at) - far_tail(s, fmax((u - 0.5 + m) / s->rho, at)), 0);
}

double sdr_model_sr_far_quantile(const struct sdr_model_sr *s, double m, double logq)
{
	double lo = 0, hi, mid;

	if (!(s->h > 0))
		return INFINITY;
	hi = (log(m * s->rho) + FAR_LOG) / s->h * s->rho;
	for (mid = hi / 2; lo < mid && mid < hi && hi - lo > DBL_EPSILON * (m + hi);
	     mid = lo + (hi - lo) / 2) {
		if (sdr_model_sr_far_logcdf(s, m, mid, 0) >= logq)
			hi = mid;
		else
			lo = mid;
	}
	return hi;
}

/* ---- the mean -------------------------------------------------------------------------------- */

/* The integral of 1 - e^y over a length, y going from a to b. */
static double far_linear(double len, double a, double b)
{
	double s = b - a;

	if (s < 1e-3)
		return -len * (expm1(a) + (s / 2 + s * s / 6 + s * s * s / 24) * exp(a));
	return len * (1 - (exp(b) - exp(a)) / s);
}

/* The integral of P(U > u) over level x, in units of rho; M = (whole + part) rho. */
static double far_block(const struct sdr_model_sr *s, double x, double whole, double part)
{
	double a, b, c, sum;

	a = s->rho * (far_part(s, x + 1, whole) + part * far_level(s, x + 1 + whole));
	b = s->rho * (far_part(s, x + 2, whole) + part * far_level(s, x + 1));
	c = s->rho * (far_part(s, x + 2, whole) + part * far_level(s, x + 2 + whole));
	sum = far_linear(1 - part, a, b) + far_linear(part, b, c);
	if (!(whole > 0)) /* one ramp at a time: its steps are no line */
		sum -= (c - b) / (part * s->rho) * (exp(c) - exp(b)) / 12 / s->rho;
	return sum;
}

static double far_panel(const struct sdr_model_sr *s, double x, double len, double whole,
			double part)
{
	double sum = 0, mid = x + len / 2;
	uint32_t i;

	for (i = 0; i < sizeof(far_at) / sizeof(far_at[0]); i++)
		sum += far_weight[i] * (far_block(s, mid - far_at[i] * len / 2, whole, part) +
					far_block(s, mid + far_at[i] * len / 2, whole, part));
	return sum * len / 2;
}

double sdr_model_sr_far_mean(const struct sdr_model_sr *s, double m)
{
	double whole = floor(m / s->rho), part = m / s->rho - whole, sum = 0, x, len, end;

	if (!(s->h > 0))
		return INFINITY;
	for (x = 0; x < BLOCKS; x++)
		sum += far_block(s, x, whole, part);
	sum += (far_block(s, BLOCKS, whole, part) - far_block(s, BLOCKS - 1, whole, part)) / 24;
	end = (log(m * s->rho) + FAR_LOG) / s->h;
	for (x = BLOCKS - 0.5; x < end; x += len) {
		len = fmin(x, 1 / s->h);
		sum += far_panel(s, x, len, whole, part);
	}
	return s->rho * sum - expm1(sdr_model_sr_far_logcdf(s, m, 0, 0)) / 2;
}
