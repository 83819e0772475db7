/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The law of erasure coding: golden numbers, all patterns of loss of short messages, big sums term
 * by term.
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
#include "model/sdr_model_ec.h"
#include "model_golden.h"
#include "test_model_brute.h"

#define COUNT(x) (sizeof(x) / sizeof((x)[0]))

static void close_to(double got, double want, double rel, const char *what)
{
	if (!(fabs(got - want) <= rel * fabs(want)))
		fail_msg("%s: %.15g, want %.15g (off by %.2g)", what, got, want, got / want - 1);
}

static struct sdr_model_law *law_of(const struct sdr_model_point *p)
{
	struct sdr_model_error err = { "", "" };
	struct sdr_model_law *law = NULL;

	if (sdr_model_law_create(p, &law, &err))
		fail_msg("%s: %s", err.field, err.text);
	return law;
}

/* ---- golden numbers -------------------------------------------------------------------------- */

static void quantile_in(double got, const double want[3], const char *id)
{
	if (!(got >= want[0] * (1 - 1e-9) && got <= want[2] * (1 + 1e-9)))
		fail_msg("%s: quantile %.15g, want %.15g to %.15g", id, got, want[0], want[2]);
}

static void ec__golden(void **state)
{
	const struct model_golden *g;
	struct sdr_model_point p;
	struct sdr_model_times t;
	struct sdr_model_derived d;
	uint32_t seen = 0;

	(void)state;
	for (g = model_golden; g < model_golden + model_goldens; g++) {
		if (g->scheme != SDR_MODEL_EC_MDS && g->scheme != SDR_MODEL_EC_XOR)
			continue;
		model_golden_point(g, &p);
		assert_int_equal(sdr_model_predict(&p, &t, &d, NULL), 0);
		close_to(t.mean_s, g->mean_s, 1e-9, g->id);
		quantile_in(t.p50_s, g->p50_s, g->id);
		quantile_in(t.p99_s, g->p99_s, g->id);
		quantile_in(t.p999_s, g->p999_s, g->id);
		close_to(d.t_inj_s, g->t_inj_s, 1e-12, g->id);
		close_to(d.p_chunk, g->p_chunk, 1e-12, g->id);
		assert_int_equal(d.chunks, g->chunks);
		assert_int_equal(d.parity_chunks, g->parity_chunks);
		close_to(d.base_s, g->base_s, 1e-12, g->id);
		close_to(d.p_ec, g->p_ec, 1e-12, g->id);
		close_to(d.p_fallback, g->p_fallback, 1e-9, g->id);
		close_to(d.e_failures, g->e_failures, 1e-9, g->id);
		assert_int_equal(d.k, g->k);
		assert_int_equal(d.m, g->m);
		seen++;
	}
	assert_in_range(seen, 14, model_goldens);
}

/* ---- all patterns of loss -------------------------------------------------------------------- */

#define PATTERN_BITS 20u
#define REPEAT_MAX   64u

/* A short message: what would have to be repeated, by the patterns of loss of all its symbols. */
struct pattern {
	bool xor, missing;
	uint32_t k, m, chunks, rows;
	double p;	      /* of a symbol */
	double d[REPEAT_MAX]; /* probability that so much is repeated */
};

/*
 * k data and m parity symbols, lost as the bits say; returns the data lost if they cannot be
 * decoded.
 */
static uint32_t codeword_lost(bool xor, uint32_t k, uint32_t m, uint32_t bits)
{
	uint32_t i, j, n, all = (uint32_t)__builtin_popcount(bits);
	bool bad = false;

	for (i = 0; i < m && xor; i++) {
		n = bits >> (k + i) & 1;
		for (j = i; j < k; j += m)
			n += bits >> j & 1;
		bad |= n > 1;
	}
	if (!xor)
		bad = all > m;
	return bad ? (uint32_t)__builtin_popcount(bits & ((1u << k) - 1)) : 0;
}

static void patterns(struct pattern *w)
{
	uint32_t left, k, m, at, row, lost, bits, bad, total, size = 0, repeat;

	for (left = w->chunks; left; left -= k) {
		k = left < w->k ? left : w->k;
		size += w->rows * (k + (k * w->m + w->k - 1) / w->k);
	}
	assert_true(size <= PATTERN_BITS);
	memset(w->d, 0, sizeof(w->d));
	for (bits = 0; bits >> size == 0; bits++) {
		repeat = at = 0;
		for (left = w->chunks; left; left -= k) {
			k = left < w->k ? left : w->k;
			m = (k * w->m + w->k - 1) / w->k;
			for (row = bad = total = 0; row < w->rows; row++) {
				lost = codeword_lost(w->xor, k, m,
						     bits >> at & ((1u << (k + m)) - 1));
				bad |= lost;
				total += lost;
				at += k + m;
			}
			if (bad)
				repeat += w->missing ? total : k;
		}
		at = (uint32_t)__builtin_popcount(bits);
		w->d[repeat] += pow(w->p, at) * pow(1 - w->p, size - at);
	}
}

/* The law that the patterns make, chunk by chunk; p, rho, t_s: of what is repeated. */
struct made {
	const struct pattern *w;
	double p, rho, t_s, base_s, rtt_s, late_s;
};

static double made_mean(const struct made *x)
{
	double sum = x->w->d[0] * (x->base_s + x->rtt_s);
	uint32_t d;

	for (d = 1; d < REPEAT_MAX; d++)
		if (x->w->d[d] > 0)
			sum += x->w->d[d] *
			       (x->late_s + (d + brute_mean(x->p, x->rho, d)) * x->t_s);
	return sum;
}

static double made_cdf(const struct made *x, double t_s)
{
	double sum = t_s >= x->base_s + x->rtt_s ? x->w->d[0] : 0, u;
	uint32_t d;

	for (d = 1; d < REPEAT_MAX; d++) {
		u = (t_s - x->late_s) / x->t_s - d;
		if (u > -1e-9 && x->w->d[d] > 0)
			sum += x->w->d[d] * brute_cdf(x->p, x->rho, d, fmax(u, 0), 0);
	}
	return sum;
}

static void patterns_check(struct pattern *w, double rto_rtts, uint32_t flags, double rel)
{
	static const double qs[] = { 0.2, 0.5, 0.9, 0.99, 0.999 };
	struct sdr_model_point p;
	struct sdr_model_law *law;
	struct sdr_model_derived d;
	struct made x = { .w = w };
	char what[128];
	double t;
	uint32_t i;

	snprintf(what, sizeof(what), "%s(%u,%u) M %u rows %u p %g rto %g flags %u",
		 w->xor ? "xor" : "mds", w->k, w->m, w->chunks, w->rows, w->p, rto_rtts, flags);
	sdr_model_point_init(&p);
	p.scheme = w->xor ? SDR_MODEL_EC_XOR : SDR_MODEL_EC_MDS;
	p.bandwidth_bps = 1e9;
	p.rtt_s = 1e-3;
	p.rto_rtts = rto_rtts;
	p.beta = 0.75;
	p.p_packet = w->p;
	p.mtu_bytes = 1000;
	p.chunk_bytes = 1000 * w->rows;
	p.msg_bytes = p.chunk_bytes * w->chunks - 1;
	p.k = w->k;
	p.m = w->m;
	p.flags = flags;
	law = law_of(&p);
	sdr_model_law_derived(law, &d);
	x.t_s = d.t_inj_s;
	x.p = d.p_chunk;
	if (w->missing && w->rows > 1) {
		x.t_s = 8e-6;
		x.p = w->p;
	}
	x.rho = rto_rtts * p.rtt_s / x.t_s + 1;
	x.base_s = (double)(d.chunks + d.parity_chunks) * d.t_inj_s;
	x.rtt_s = p.rtt_s;
	x.late_s = x.base_s + (2 + p.beta) * p.rtt_s;
	close_to(1 - d.p_fallback, w->d[0], 1e-12, what);
	close_to(d.base_s, x.base_s, 1e-12, what);
	close_to(sdr_model_law_mean(law), made_mean(&x), rel, what);
	for (i = 0; i < 50 && rel < 1e-6; i++) {
		t = x.base_s + x.rtt_s * (0.51 + i * rto_rtts / 5.3);
		close_to(sdr_model_law_cdf(law, t), made_cdf(&x, t), 1e-12, what);
	}
	for (i = 0; i < COUNT(qs) && rel < 1e-6; i++) {
		t = sdr_model_law_quantile(law, qs[i]);
		assert_true(made_cdf(&x, t * (1 + 1e-13)) >= qs[i] * (1 - 1e-9));
		assert_true(made_cdf(&x, t * (1 - 1e-8)) < qs[i] * (1 + 1e-9));
	}
	sdr_model_law_destroy(law);
}

static const double losses[] = { 1e-9, 0.01, 0.1, 0.5 };
static const double rtos[] = { 0.003, 0.8, 3 }; /* shorter than a chunk, longer */

static void ec__patterns(void **state)
{
	static const uint8_t codes[][3] = { { 1, 1, 1 }, { 1, 1, 5 }, { 2, 1, 5 },
					    { 2, 3, 3 }, { 3, 2, 7 }, { 5, 2, 8 },
					    { 4, 2, 9 }, { 4, 4, 3 }, { 5, 3, 6 } };
	struct pattern w;
	uint32_t c, l, r;

	(void)state;
	for (c = 0; c < 2 * COUNT(codes); c++) {
		for (l = 0; l < COUNT(losses); l++) {
			w = (struct pattern){ .xor = c & 1,
					      .k = codes[c / 2][0],
					      .m = codes[c / 2][1],
					      .chunks = codes[c / 2][2],
					      .rows = 1,
					      .p = losses[l] };
			patterns(&w);
			for (r = 0; r < COUNT(rtos); r++)
				patterns_check(&w, rtos[r], 0, 1e-11);
		}
	}
}

static void ec__patterns_rows(void **state)
{
	struct pattern w;
	uint32_t c, l;

	(void)state;
	for (c = 0; c < 2; c++) {
		for (l = 0; l < COUNT(losses); l++) {
			w = (struct pattern){
				.xor = c, .k = 2, .m = 1, .chunks = 5, .rows = 2, .p = losses[l]
			};
			patterns(&w);
			patterns_check(&w, 3, SDR_MODEL_F_ROWS, 1e-11);
			w = (struct pattern){
				.xor = c, .k = 3, .m = 2, .chunks = 3, .rows = 3, .p = losses[l]
			};
			patterns(&w);
			patterns_check(&w, 3, SDR_MODEL_F_ROWS, 1e-11);
		}
	}
}

/* One codeword: exact.  Several may fail at once: nearly. */
static void ec__patterns_missing(void **state)
{
	struct pattern w;
	uint32_t c, l;

	(void)state;
	for (c = 0; c < 2; c++) {
		for (l = 1; l < COUNT(losses); l++) {
			w = (struct pattern){ .xor = c,
					      .missing = true,
					      .k = 5,
					      .m = 2,
					      .chunks = 5,
					      .rows = 1,
					      .p = losses[l] };
			patterns(&w);
			patterns_check(&w, 3, SDR_MODEL_F_MISSING, 1e-11);
			w.chunks = 3; /* only a short one */
			patterns(&w);
			patterns_check(&w, 0.8, SDR_MODEL_F_MISSING, 1e-11);
			w.chunks = 12;
			patterns(&w);
			patterns_check(&w, 3, SDR_MODEL_F_MISSING, 0.01);
			w = (struct pattern){ .xor = c,
					      .missing = true,
					      .k = 3,
					      .m = 1,
					      .chunks = 5,
					      .rows = 2,
					      .p = losses[l] };
			patterns(&w);
			patterns_check(&w, 3, SDR_MODEL_F_MISSING | SDR_MODEL_F_ROWS, 0.02);
		}
	}
}

/* ---- term by term ---------------------------------------------------------------------------- */

/* Sums over every count of failures, each with its own E[max] and its own distribution. */
static void ec__terms(void **state)
{
	static const struct {
		double n, fail, k, p, rho, rel;
	} t[] = {
		{ 64, 0.2, 32, 0.1, 57000, 1e-11 },   { 600, 0.5, 32, 0.1, 3.3, 1e-7 },
		{ 3000, 0.4, 1, 0.3, 16.3, 1e-7 },    { 5000, 0.02, 8, 0.01, 763.4, 1e-7 },
		{ 100000, 0.9, 32, 0.2, 1001, 1e-8 }, { 524288, 0.45, 32, 0.15, 57000, 1e-8 },
	};
	static struct sdr_model_mix x;
	struct sdr_model_count c;
	double mean, d, at, sum, q;
	uint32_t i, f, n, by;
	char what[96];

	(void)state;
	for (i = 0; i < COUNT(t); i++) {
		snprintf(what, sizeof(what), "n %g fail %g k %g p %g rho %g", t[i].n, t[i].fail,
			 t[i].k, t[i].p, t[i].rho);
		assert_int_equal(sdr_model_count_init(&c, t[i].n, t[i].fail, log1p(-t[i].fail)), 0);
		assert_true(c.step == 1);
		memset(&x, 0, sizeof(x));
		sdr_model_sr_init(&x.sr, t[i].p, t[i].rho, t[i].n * t[i].k);
		f = c.first < 1;
		sdr_model_mix_add(&x, (c.first + f) * t[i].k, t[i].k, 1, c.n - f, c.w + f);
		by = c.n > 400 ? c.n / 200 : 1; /* other nodes than the model takes */
		for (mean = sum = 0, n = f + by / 3; n < c.n; n += by) {
			d = (c.first + n) * t[i].k;
			sum += c.w[n];
			mean += c.w[n] * (d + sdr_model_sr_mean(&x.sr, d));
		}
		close_to(sdr_model_mix_mean(&x), by > 1 ? mean / sum : mean, t[i].rel, what);
		for (q = 0.05; q < 1; q += 0.1) {
			at = sdr_model_mix_quantile(&x, q);
			for (sum = 0, n = f; n < c.n; n++) {
				d = (c.first + n) * t[i].k;
				sum += c.w[n] *
				       exp(sdr_model_sr_logcdf(&x.sr, d, at - d + 1e-7, 0));
			}
			close_to(sdr_model_mix_cdf(&x, at), sum, 1e-10, what);
			assert_true(sum >= q * (1 - 1e-12));
			assert_true(sdr_model_mix_cdf(&x, at * (1 - 1e-13) - 1e-9) < q);
		}
		sdr_model_count_fini(&c);
	}
}

/* The weights against the factorials, whose logarithms are good to 1e-9 here. */
static void ec__count(void **state)
{
	static const double ns[] = { 0, 1, 7, 100, 1e5, 1e8, 0x1p40 };
	static const double fails[] = { 0, 1e-300, 1e-9, 0.01, 0.5, 0.99, 1 };
	struct sdr_model_count c;
	double sum, mean, var, x, want;
	uint32_t i, j, k;

	(void)state;
	for (i = 0; i < COUNT(ns); i++) {
		for (j = 0; j < COUNT(fails); j++) {
			assert_int_equal(
				sdr_model_count_init(&c, ns[i], fails[j], log1p(-fails[j])), 0);
			assert_in_range(c.n, 1, SDR_MODEL_COUNTS);
			for (sum = mean = k = 0; k < c.n; k++) {
				x = c.first + k * c.step;
				assert_true(x >= 0 && x <= ns[i]);
				sum += c.w[k];
				mean += c.w[k] * x;
				if (ns[i] > 1e6 || !(fails[j] > 0 && fails[j] < 1))
					continue;
				want = lgamma(ns[i] + 1) - lgamma(x + 1) - lgamma(ns[i] - x + 1) +
				       x * log(fails[j]) + (ns[i] - x) * log1p(-fails[j]);
				close_to(c.w[k], exp(want), 1e-7, "weight");
			}
			close_to(sum, 1, 1e-12, "sum of weights");
			if (!(fabs(mean - ns[i] * fails[j]) <= 1e-9 * (ns[i] * fails[j]) + 1e-18))
				fail_msg("n %g fail %g: mean %.17g", ns[i], fails[j], mean);
			for (var = k = 0; k < c.n; k++) {
				x = c.first + k * c.step - mean;
				var += c.w[k] * x * x;
			}
			x = ns[i] * fails[j] * (1 - fails[j]);
			assert_true(fabs(var - x) <= 1e-6 * x + 1e-18);
			sdr_model_count_fini(&c);
		}
	}
}

/* Failure probabilities that are lost beside 1, or 1 beside them: by their largest terms. */
static void ec__code_small(void **state)
{
	struct sdr_model_code c;
	double p = 1e-9, sum;
	uint32_t x;

	(void)state;
	sdr_model_code_init(&c, log1p(-p), 32, 8, false);
	close_to(c.fail, 273438880 * pow(p, 9), 1e-6, "MDS(32,8)"); /* 9 of 40 */
	close_to(c.lnok, -c.fail, 1e-12, "its success");
	sdr_model_code_init(&c, log1p(-p), 32, 8, true);
	close_to(c.fail, 8 * 10 * p * p, 1e-6, "XOR(32,8)"); /* 2 of 5, 8 times */
	sdr_model_code_init(&c, log1p(-p), 10, 4, true);
	close_to(c.fail, (2 * 6 + 2 * 3) * p * p, 1e-6, "XOR(10,4)");
	sdr_model_code_init(&c, log1p(-p), 1, 255, true);
	close_to(c.fail, p * p, 1e-12, "XOR(1,255)");
	/* all but one in 1e9 are lost: at least 4 of 6 must not be */
	sdr_model_code_init(&c, log(p), 4, 2, false);
	close_to(exp(c.lnok), 15 * pow(p, 4), 1e-6, "MDS(4,2) in the dark");
	sdr_model_code_init(&c, log1p(-0.2), 128, 64, false);
	for (sum = 0, x = 0; x <= 128; x++)
		sum += c.lost[x];
	close_to(sum, 1, 1e-12, "losses given failure");
	sdr_model_code_init(&c, 0, 32, 8, false);
	assert_true(c.fail == 0 && c.lnok == 0);
	sdr_model_code_init(&c, -INFINITY, 32, 8, false);
	assert_true(c.fail == 1 && isinf(c.lnok));
}

/* ---- the law as a whole ---------------------------------------------------------------------- */

static void law_check(const struct sdr_model_point *p)
{
	static const double qs[] = { 0, 1e-6, 0.1, 0.5, 0.9, 0.99, 0.999 };
	struct sdr_model_law *law = law_of(p);
	struct sdr_model_derived d;
	double t, was, mean, end;
	uint32_t i;

	sdr_model_law_derived(law, &d);
	mean = sdr_model_law_mean(law);
	assert_true(isfinite(mean));
	assert_true(mean >= (d.base_s + p->rtt_s) * (1 - 1e-12));
	assert_true(d.p_fallback >= 0 && d.p_fallback <= 1 && d.p_ec >= 0 && d.p_ec <= 1);
	for (i = 0, was = 0; i < COUNT(qs); i++) {
		t = sdr_model_law_quantile(law, qs[i]);
		assert_true(isfinite(t) && t >= was && t >= (d.base_s + p->rtt_s) * (1 - 1e-12));
		was = t;
		if (!(sdr_model_law_cdf(law, t) >= qs[i] * (1 - 1e-11)))
			fail_msg("P(T <= quantile %g) is %.17g", qs[i], sdr_model_law_cdf(law, t));
		if (qs[i] > 0)
			assert_true(sdr_model_law_cdf(law, t * (1 - 1e-9)) < qs[i]);
	}
	end = was * 1.5;
	for (i = 0, was = 0; i <= 500; i++) {
		t = sdr_model_law_cdf(law, i * end / 500);
		assert_true(t >= was - 1e-14 && t <= 1);
		was = t;
	}
	assert_true(was >= 0.999);
	sdr_model_law_destroy(law);
}

static void ec__law(void **state)
{
	static const uint64_t sizes[] = { 1,	      65537,	  5046272,   128u << 20,
					  1ull << 40, 1ull << 56, 1ull << 63 };
	static const double ps[] = { 0, 1e-12, 1e-6, 1e-3, 0.01, 0.08, 0.15, 0.3, 0.5, 0.9, 0.99 };
	static const uint8_t codes[][2] = { { 32, 8 }, { 1, 1 }, { 10, 4 }, { 4, 8 }, { 64, 16 } };
	struct sdr_model_point p;
	uint32_t s, l, c;

	(void)state;
	sdr_model_point_init(&p);
	p.mtu_bytes = p.chunk_bytes;
	for (s = 0; s < COUNT(sizes); s++) {
		for (l = 0; l < COUNT(ps); l++) {
			for (c = 0; c < COUNT(codes); c++) {
				p.scheme = c & 1 ? SDR_MODEL_EC_XOR : SDR_MODEL_EC_MDS;
				p.msg_bytes = sizes[s];
				p.p_packet = ps[l];
				p.k = codes[c][0];
				p.m = codes[c][1];
				law_check(&p);
			}
		}
	}
}

/* What each flag may change, and in which direction. */
static void ec__flags(void **state)
{
	static const double ps[] = { 1e-3, 3e-3, 5e-3, 0.01, 0.03 };
	struct sdr_model_times chunk, packet, row, missing, least;
	struct sdr_model_derived d, dr;
	struct sdr_model_point p;
	uint32_t i;

	(void)state;
	sdr_model_point_init(&p);
	for (i = 0; i < 2 * COUNT(ps); i++) {
		p.scheme = i & 1 ? SDR_MODEL_EC_XOR : SDR_MODEL_EC_MDS;
		p.p_packet = ps[i / 2];
		p.flags = 0;
		assert_int_equal(sdr_model_predict(&p, &chunk, &d, NULL), 0);
		p.flags = SDR_MODEL_F_PACKETS;
		assert_int_equal(sdr_model_predict(&p, &packet, &dr, NULL), 0);
		assert_memory_equal(&d, &dr, sizeof(d)); /* the code is the same */
		assert_true(packet.mean_s <= chunk.mean_s * (1 + 1e-12));
		p.flags = SDR_MODEL_F_MISSING;
		assert_int_equal(sdr_model_predict(&p, &missing, &dr, NULL), 0);
		assert_true(missing.mean_s <= chunk.mean_s * (1 + 1e-12) &&
			    missing.p99_s <= chunk.p99_s);
		p.flags = SDR_MODEL_F_MISSING | SDR_MODEL_F_PACKETS;
		assert_int_equal(sdr_model_predict(&p, &least, &dr, NULL), 0);
		assert_true(least.mean_s <= missing.mean_s * (1 + 1e-12));
		law_check(&p);
		p.flags = SDR_MODEL_F_ROWS;
		assert_int_equal(sdr_model_predict(&p, &row, &dr, NULL), 0);
		assert_true(dr.p_fallback < d.p_fallback || d.p_fallback == 1);
		assert_true(row.mean_s <= chunk.mean_s * (1 + 1e-12));
		p.flags = SDR_MODEL_F_ROWS | SDR_MODEL_F_MISSING;
		assert_int_equal(sdr_model_predict(&p, &least, &dr, NULL), 0);
		assert_true(least.mean_s <= row.mean_s * (1 + 1e-12));
		law_check(&p);
	}
}

/* 2^63 bytes in chunks of one, 255 of parity for each: counts saturate, times do not. */
static void ec__huge(void **state)
{
	struct sdr_model_derived d;
	struct sdr_model_times t;
	struct sdr_model_point p;

	(void)state;
	sdr_model_point_init(&p);
	p.scheme = SDR_MODEL_EC_MDS;
	p.msg_bytes = SDR_MODEL_BYTES_MAX;
	p.chunk_bytes = p.mtu_bytes = p.k = 1;
	p.m = 255;
	p.p_packet = 0.25;
	assert_int_equal(sdr_model_predict(&p, &t, &d, NULL), 0);
	assert_true(d.parity_chunks == UINT64_MAX);
	close_to(t.mean_s, 0x1p71 * 8 / 400e9, 1e-6, "mean");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ec__golden),	     cmocka_unit_test(ec__patterns),
		cmocka_unit_test(ec__patterns_rows), cmocka_unit_test(ec__patterns_missing),
		cmocka_unit_test(ec__terms),	     cmocka_unit_test(ec__count),
		cmocka_unit_test(ec__code_small),    cmocka_unit_test(ec__law),
		cmocka_unit_test(ec__flags),	     cmocka_unit_test(ec__huge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
