/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The law of selective repeat: golden numbers, enumeration, chunk by chunk, closed forms, the ends
 * of its range.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "model/sdr_model_impl.h"
#include "model_golden.h"
#include "test_model_brute.h"

static struct sdr_model_sr sr;

static const double losses[] = { 1e-12, 1e-9, 1e-6, 1e-3, 0.05, 0.3, 0.5, 0.75, 0.9 };
static const double rhos[] = { 1.0000001, 1.01, 1.5, 2, 3.7, 10, 57.3, 1000, 19073.48, 1e5 };
static const uint32_t sizes[] = { 1, 2, 3, 10, 57, 200 };
#define COUNT(x) (sizeof(x) / sizeof((x)[0]))

static void close_to(double got, double want, double rel, const char *what)
{
	if (!(fabs(got - want) <= rel * fabs(want)))
		fail_msg("%s: %.15g, want %.15g (off by %.2g)", what, got, want, got / want - 1);
}

/* ---- golden numbers -------------------------------------------------------------------------- */

static void quantile_in(double got, const double want[3], const char *id)
{
	if (!(got >= want[0] * (1 - 1e-9) && got <= want[2] * (1 + 1e-9)))
		fail_msg("%s: quantile %.15g, want %.15g to %.15g", id, got, want[0], want[2]);
}

static void sr__golden(void **state)
{
	const struct model_golden *g;
	struct sdr_model_point p;
	struct sdr_model_times t;
	struct sdr_model_derived d;
	uint32_t seen = 0;

	(void)state;
	for (g = model_golden; g < model_golden + model_goldens; g++) {
		if (g->scheme != SDR_MODEL_SR_RTO && g->scheme != SDR_MODEL_SR_NACK)
			continue;
		model_golden_point(g, &p);
		assert_int_equal(sdr_model_predict(&p, &t, &d, NULL), 0);
		close_to(t.mean_s, g->mean_s, 1e-10, g->id);
		quantile_in(t.p50_s, g->p50_s, g->id);
		quantile_in(t.p99_s, g->p99_s, g->id);
		quantile_in(t.p999_s, g->p999_s, g->id);
		close_to(d.t_inj_s, g->t_inj_s, 1e-12, g->id);
		close_to(d.p_chunk, g->p_chunk, 1e-12, g->id);
		assert_int_equal(d.chunks, g->chunks);
		seen++;
	}
	assert_in_range(seen, 18, model_goldens);
}

/* ---- against the definition ------------------------------------------------------------------ */

/* All outcomes of three chunks with fewer than 60 tries each. */
static void sr__enumerated(void **state)
{
	static const double p = 0.3, some[] = { 1, 1.25, 2, 3.7, 40 };
	double rho, weight, max, at[3];
	long double mean, below;
	uint32_t r, i, y[3];

	(void)state;
	for (r = 0; r < COUNT(some); r++) {
		rho = some[r];
		mean = below = 0;
		for (y[0] = 0; y[0] < 60; y[0]++) {
			for (y[1] = 0; y[1] < 60; y[1]++) {
				for (y[2] = 0; y[2] < 60; y[2]++) {
					weight = pow(p, y[0] + y[1] + y[2]) * pow(1 - p, 3);
					for (max = i = 0; i < 3; i++) {
						at[i] = i + 1 + rho * y[i];
						max = fmax(max, at[i]);
					}
					mean += weight * (max - 3);
					below += weight * (max <= 3 + rho + 1e-9);
				}
			}
		}
		sdr_model_sr_init(&sr, p, rho, 3);
		close_to(sdr_model_sr_mean(&sr, 3), (double)mean, 1e-12, "mean of three");
		close_to(exp(sdr_model_sr_logcdf(&sr, 3, rho, 0)), (double)below, 1e-12,
			 "P of three");
	}
}

static void sr__by_chunk(void **state)
{
	uint32_t i, r, s, n;
	char what[96];
	double u;

	(void)state;
	for (i = 0; i < COUNT(losses); i++) {
		for (r = 0; r < COUNT(rhos); r++) {
			sdr_model_sr_init(&sr, losses[i], rhos[r], 200);
			assert_false(sr.far);
			for (s = 0; s < COUNT(sizes); s++) {
				snprintf(what, sizeof(what), "p %g rho %g M %u", losses[i], rhos[r],
					 sizes[s]);
				close_to(sdr_model_sr_mean(&sr, sizes[s]),
					 brute_mean(losses[i], rhos[r], sizes[s]), 1e-11, what);
				for (n = 0; n < 40; n++) {
					u = n < 20 ? n * rhos[r] / 7
						   : (n - 20) * rhos[r] + n % 3 * 0.25;
					close_to(exp(sdr_model_sr_logcdf(&sr, sizes[s], u, 0)),
						 brute_cdf(losses[i], rhos[r], sizes[s], u, 0),
						 1e-12, what);
					close_to(exp(sdr_model_sr_logcdf(&sr, sizes[s], u, 1)),
						 u > 0 ? brute_cdf(losses[i], rhos[r], sizes[s], u,
								   1)
						       : 0,
						 1e-12, what);
				}
			}
		}
	}
}

/* Many ramps at once, some of which are merged, and many messages of chunks a timeout. */
static void sr__large_by_chunk(void **state)
{
	static const struct {
		double p, rho, rel;
		uint32_t m;
	} t[] = {
		{ 0.05, 1.458, 1e-11, 5000 },	{ 0.5, 1.01, 1e-11, 5000 },
		{ 0.3, 4.41, 1e-11, 20000 },	{ 0.9, 1.0015, 1e-6, 2000 },
		{ 0.9, 3.33, 1e-6, 2000 },	{ 0.1, 1001, 1e-11, 20000 },
		{ 1e-3, 763.9, 1e-11, 100000 }, { 1e-9, 1.5, 1e-11, 100000 },
	};
	char what[96];
	uint32_t i;

	(void)state;
	for (i = 0; i < COUNT(t); i++) {
		snprintf(what, sizeof(what), "p %g rho %g M %u", t[i].p, t[i].rho, t[i].m);
		sdr_model_sr_init(&sr, t[i].p, t[i].rho, t[i].m);
		close_to(sdr_model_sr_mean(&sr, t[i].m), brute_mean(t[i].p, t[i].rho, t[i].m),
			 t[i].rel, what);
	}
}

/* One chunk is a geometric variable; without loss there is none. */
static void sr__closed(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < COUNT(losses); i++) {
		sdr_model_sr_init(&sr, losses[i], 1000, 1);
		close_to(sdr_model_sr_mean(&sr, 1), 1000 * losses[i] / (1 - losses[i]), 1e-12,
			 "M = 1");
	}
	sdr_model_sr_init(&sr, 0, 1000, 1e6);
	assert_true(sdr_model_sr_mean(&sr, 1e6) == 0);
	assert_true(sdr_model_sr_logcdf(&sr, 1e6, 0, 0) == 0);
	assert_true(sdr_model_sr_quantile(&sr, 1e6, log(0.999)) == 0);
}

/* ---- quantiles ------------------------------------------------------------------------------- */

static void sr__quantile(void **state)
{
	static const double qs[] = { 0, 1e-9, 0.1, 0.5, 0.9, 0.99, 0.999, 0.999999, 1 - 1e-12 };
	static const double ms[] = { 1, 2, 57, 5000, 1e6, 0x1p24 };
	uint32_t i, r, m, n;
	double u, lq;

	(void)state;
	for (i = 0; i < COUNT(losses); i++) {
		for (r = 0; r < COUNT(rhos); r++) {
			sdr_model_sr_init(&sr, losses[i], rhos[r], 0x1p24);
			for (m = 0; m < COUNT(ms) && !sr.far; m++) {
				for (n = 0; n < COUNT(qs); n++) {
					/* cppcheck-suppress invalidFunctionArg ; -inf is meant */
					lq = log(qs[n]);
					u = sdr_model_sr_quantile(&sr, ms[m], lq);
					if (!(sdr_model_sr_logcdf(&sr, ms[m], u, 0) >= lq) ||
					    (u > 0 &&
					     !(sdr_model_sr_logcdf(&sr, ms[m], u, 1) < lq)))
						fail_msg("p %g rho %g M %g q %g: u %.17g",
							 losses[i], rhos[r], ms[m], qs[n], u);
				}
			}
		}
	}
}

/* P(T <= M T + RTT) of one chunk is 1 - p, which is to count as the decimal number that it is. */
static void sr__quantile_equal(void **state)
{
	struct sdr_model_point p;
	struct sdr_model_times t;

	(void)state;
	sdr_model_point_init(&p);
	p.scheme = SDR_MODEL_SR_RTO;
	p.mtu_bytes = p.chunk_bytes;
	p.msg_bytes = 1;
	p.p_packet = 0.01;
	assert_int_equal(sdr_model_predict(&p, &t, NULL, NULL), 0);
	close_to(t.p99_s, 65536 * 8 / 400e9 + 25e-3, 1e-12, "p99");
	close_to(t.p999_s, 2 * 65536 * 8 / 400e9 + 100e-3, 1e-12, "p99.9");
}

/* ---- the law --------------------------------------------------------------------------------- */

static struct sdr_model_law *law_of(const struct sdr_model_point *p)
{
	struct sdr_model_error err = { "", "" };
	struct sdr_model_law *law = NULL;

	if (sdr_model_law_create(p, &law, &err))
		fail_msg("%s: %s", err.field, err.text);
	return law;
}

static void sr__law(void **state)
{
	static const double qs[] = { 0, 0.3, 0.5, 0.99, 0.999 };
	struct sdr_model_point p;
	struct sdr_model_law *law;
	double t, end, was, now, step, sum, last;
	uint32_t i, loss;

	(void)state;
	sdr_model_point_init(&p);
	p.scheme = SDR_MODEL_SR_RTO;
	for (loss = 0; loss < COUNT(losses); loss++) {
		p.p_packet = losses[loss];
		p.mtu_bytes = p.chunk_bytes;
		law = law_of(&p);
		for (i = 0; i < COUNT(qs); i++) {
			t = sdr_model_law_quantile(law, qs[i]);
			assert_true(sdr_model_law_cdf(law, t) >= qs[i] * (1 - 1e-12));
			if (qs[i] > 0 && t > 2048 * 65536 * 8 / 400e9 + 25e-3)
				assert_true(sdr_model_law_cdf(law, t * (1 - 1e-12)) < qs[i]);
		}
		/*
		 * never falls, ends in 1, and its integral is the mean: RTT + sums over little
		 * steps
		 */
		end = sdr_model_law_quantile(law, 1 - 1e-13) * 1.1;
		step = end / 20000;
		for (i = 0, was = 0, sum = 0; i < 20000; i++) {
			now = sdr_model_law_cdf(law, i * step);
			assert_true(now >= was && now <= 1);
			sum += (1 - now) * step;
			was = now;
		}
		assert_true(was > 1 - 1e-12);
		last = sdr_model_law_mean(law);
		assert_true(fabs(sum - last) <= step);
		assert_true(isnan(sdr_model_law_quantile(law, 1)));
		assert_true(isnan(sdr_model_law_quantile(law, -0.1)));
		assert_true(isnan(sdr_model_law_quantile(law, NAN)));
		assert_true(isnan(sdr_model_law_cdf(law, NAN)));
		assert_true(sdr_model_law_cdf(law, -1) == 0);
		assert_true(sdr_model_law_cdf(law, INFINITY) == 1);
		sdr_model_law_destroy(law);
	}
}

static void sr__packets(void **state)
{
	struct sdr_model_point p, q;
	struct sdr_model_times a, b;
	struct sdr_model_derived d;

	(void)state;
	sdr_model_point_init(&p);
	p.p_packet = 1e-3;
	q = p;
	p.flags = SDR_MODEL_F_PACKETS;
	q.chunk_bytes = q.mtu_bytes;
	assert_int_equal(sdr_model_predict(&p, &a, &d, NULL), 0);
	assert_int_equal(sdr_model_predict(&q, &b, NULL, NULL), 0);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_int_equal(d.chunks, 32768);
	close_to(d.p_chunk, 1e-3, 1e-12, "P of a packet");
	p.flags = 0;
	assert_int_equal(sdr_model_predict(&p, &b, &d, NULL), 0);
	assert_int_equal(d.chunks, 2048);
	assert_true(b.mean_s > a.mean_s);
}

static void sr__ideal(void **state)
{
	struct sdr_model_point p;
	struct sdr_model_times t;
	struct sdr_model_law *law;

	(void)state;
	sdr_model_point_init(&p);
	p.scheme = SDR_MODEL_IDEAL;
	p.msg_bytes = 5000000000;
	p.p_packet = 0.5;
	assert_int_equal(sdr_model_predict(&p, &t, NULL, NULL), 0);
	close_to(t.mean_s, 0.125, 1e-14, "ideal");
	close_to(t.p999_s, 0.125, 1e-14, "ideal");
	law = law_of(&p);
	assert_true(sdr_model_law_cdf(law, 0.125) == 1);
	assert_true(sdr_model_law_cdf(law, 0.1249999) == 0);
	sdr_model_law_destroy(law);
	sdr_model_law_destroy(NULL);
}

/* ---- the ends of the range ------------------------------------------------------------------- */

/* 1 - (1 - P)^M <= P(U > 0) counts all, and no chunk is slower than the sum of all. */
static void sr__many_chunks(void **state)
{
	static const double ms[] = { 0x1p24, 0x1p40, 0x1p47, 0x1p63 };
	double mean, most, was, p;
	uint32_t i, r, m, c;

	(void)state;
	for (i = 0; i < 7; i++) {
		p = losses[i];
		for (r = 0; r < COUNT(rhos); r++) {
			sdr_model_sr_init(&sr, p, rhos[r], 0x1p63);
			was = 0;
			for (m = 0; m < COUNT(ms); m++) {
				mean = sdr_model_sr_mean(&sr, ms[m]);
				for (most = 0, c = 1; c <= sr.levels; c++)
					most += rhos[r] * -expm1(ms[m] * log1p(-pow(p, c)));
				assert_true(isfinite(mean) && mean >= was * (1 - 1e-9) &&
					    mean <= most * (1 + 1e-9) + rhos[r] * 1e-15);
				/*
				 * the last chunk alone, and the last that fit into half a timeout
				 */
				assert_true(mean >= rhos[r] * p / (1 - p) * (1 - 1e-9));
				if (rhos[r] >= 10)
					assert_true(mean >=
						    rhos[r] / 2 *
							    -expm1(floor(rhos[r] / 2) * log1p(-p)));
				was = mean;
			}
		}
	}
}

/* Nearly everything is lost: against chunk by chunk, and one chunk against its closed form. */
static void sr__far(void **state)
{
	static const struct {
		double p, rho, rel;
		uint32_t m;
	} t[] = {
		{ 0.98, 1.001, 1e-6, 1 },  { 0.98, 10.2, 1e-6, 50 }, { 0.98, 92.6, 1e-6, 10 },
		{ 0.98, 916, 1e-6, 300 },  { 0.99, 1.001, 5e-5, 7 }, { 0.99, 5.55, 1e-6, 100 },
		{ 0.999, 30.1, 1e-6, 20 },
	};
	static const double qs[] = { 0.01, 0.5, 0.99, 0.999 };
	uint32_t i, n;
	char what[96];
	double u, lq;

	(void)state;
	for (i = 0; i < COUNT(t); i++) {
		snprintf(what, sizeof(what), "p %g rho %g M %u", t[i].p, t[i].rho, t[i].m);
		sdr_model_sr_init(&sr, t[i].p, t[i].rho, t[i].m);
		assert_true(sr.far || t[i].rho < 10);
		/* few chunks of about a timeout each: the near way goes further */
		if (!sr.far)
			close_to(sdr_model_sr_mean(&sr, t[i].m),
				 brute_mean(t[i].p, t[i].rho, t[i].m), 1e-7, what);
		sr.far = 1;
		close_to(sdr_model_sr_mean(&sr, t[i].m), brute_mean(t[i].p, t[i].rho, t[i].m),
			 t[i].rel, what);
		for (n = 0; n < COUNT(qs); n++) {
			lq = log(qs[n]);
			u = sdr_model_sr_quantile(&sr, t[i].m, lq);
			assert_true(brute_cdf(t[i].p, t[i].rho, t[i].m, u, 0) >=
				    qs[n] * (1 - 1e-9));
			assert_true(brute_cdf(t[i].p, t[i].rho, t[i].m, u, 1) < qs[n] * (1 + 1e-9));
			close_to(exp(sdr_model_sr_logcdf(&sr, t[i].m, u + 0.437, 0)),
				 brute_cdf(t[i].p, t[i].rho, t[i].m, u + 0.437, 0), 1e-9, what);
		}
	}
	for (i = 2; i < 16; i++) {
		u = pow(10, -(double)i * i); /* what is not lost */
		sdr_model_sr_init_lnq(&sr, log(u), 1000, 1);
		close_to(sdr_model_sr_mean(&sr, 1), 1000 * (1 - u) / u, 1e-6, "M = 1");
		lq = sdr_model_sr_quantile(&sr, 1, log(0.5));
		close_to(lq, 1000 * M_LN2 / -log1p(-u), 2 * u + 1e-6, "median of M = 1");
	}
	sdr_model_sr_init_lnq(&sr, -INFINITY, 1000, 1);
	assert_true(isinf(sdr_model_sr_mean(&sr, 1)) &&
		    isinf(sdr_model_sr_quantile(&sr, 1, log(0.5))));
	assert_true(exp(sdr_model_sr_logcdf(&sr, 1, 1e9, 0)) == 0);
}

/* The near and the far way of the same question, on either side of where they meet. */
static void sr__far_meets(void **state)
{
	static const double ms[] = { 1, 100, 1e4, 0x1p24 };
	double p, rho = 19073.48, mean[2], half[2];
	uint32_t m;

	(void)state;
	for (m = 0; m < COUNT(ms); m++) {
		p = exp(-log(ms[m] * rho / 1e-20) / (SDR_MODEL_LEVELS - 1.5));
		sdr_model_sr_init(&sr, p, rho, ms[m]);
		assert_false(sr.far);
		mean[0] = sdr_model_sr_mean(&sr, ms[m]);
		half[0] = sdr_model_sr_quantile(&sr, ms[m], log(0.5));
		sr.far = 1;
		mean[1] = sdr_model_sr_mean(&sr, ms[m]);
		half[1] = sdr_model_sr_quantile(&sr, ms[m], log(0.5));
		close_to(mean[1], mean[0], 1e-6, "mean, both ways");
		close_to(half[1], half[0], 1e-9, "median, both ways");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sr__golden),	      cmocka_unit_test(sr__enumerated),
		cmocka_unit_test(sr__by_chunk),	      cmocka_unit_test(sr__large_by_chunk),
		cmocka_unit_test(sr__closed),	      cmocka_unit_test(sr__quantile),
		cmocka_unit_test(sr__quantile_equal), cmocka_unit_test(sr__law),
		cmocka_unit_test(sr__packets),	      cmocka_unit_test(sr__ideal),
		cmocka_unit_test(sr__many_chunks),    cmocka_unit_test(sr__far),
		cmocka_unit_test(sr__far_meets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
