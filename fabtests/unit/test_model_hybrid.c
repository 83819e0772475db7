/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The law of the hybrid scheme: its limits, every pattern of losses of short messages, and
 * transfers drawn at random.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "model/sdr_model_hybrid.h"

#define MIB (1ull << 20)

static const double shares[] = { 0, 1e-6, 0.01, 0.1, 0.3, 0.5, 0.9, 0.99, 0.999, 0.999999 };
#define SHARES (sizeof(shares) / sizeof(shares[0]))

static struct sdr_model_point point(uint64_t bytes, double p, uint32_t k, uint32_t m)
{
	struct sdr_model_point at;

	sdr_model_point_init(&at);
	at.scheme = SDR_MODEL_HYBRID;
	at.msg_bytes = bytes;
	at.p_packet = p;
	at.k = k;
	at.m = m;
	return at;
}

static struct sdr_model_law *law_of(const struct sdr_model_point *p)
{
	struct sdr_model_law *law;

	assert_int_equal(sdr_model_law_create(p, &law, NULL), 0);
	return law;
}

static void near_rel(double a, double b, double tol)
{
	if (!(fabs(a - b) <= tol * fabs(b)))
		fail_msg("%.15g is not %.15g", a, b);
}

static void hybrid__nothing_lost(void **state)
{
	static const uint64_t bytes[] = { 5000, MIB, 128 * MIB, 1024 * MIB, (1ull << 40) + 1 };
	struct sdr_model_derived d;
	unsigned i, j;

	(void)state;
	for (i = 0; i < 5; i++) {
		struct sdr_model_point p = point(bytes[i], 0, 32, 4);
		struct sdr_model_law *law = law_of(&p);
		double n = ceil((double)bytes[i] / 4096), t = 4096 * 8 / 400e9, segs, full;

		sdr_model_law_derived(law, &d);
		assert_true(d.chunks == (uint64_t)n && d.k == 32 && d.m == 4 && d.cover == 1);
		assert_true(d.p_fallback == 0 && d.e_failures == 0 && d.p_ec == 1);
		near_rel(d.base_s, (n + (double)d.parity_chunks) * t, 1e-12);
		/* what follows the last data is not waited for */
		segs = ceil(n / 16384);
		full = (segs - 1) * ceil(ceil(n / segs) / 32) * 4;
		assert_true((double)d.parity_chunks >= n / 8 &&
			    (double)d.parity_chunks <= n / 8 + 4 * segs);
		near_rel(sdr_model_law_mean(law), (n + full) * t + 25e-3, 1e-12);
		for (j = 0; j < SHARES; j++)
			near_rel(sdr_model_law_quantile(law, shares[j]), (n + full) * t + 25e-3,
				 1e-12);
		sdr_model_law_destroy(law);
		/* without being told to, it sends no parity */
		p.k = p.m = 0;
		law = law_of(&p);
		sdr_model_law_derived(law, &d);
		assert_true(d.parity_chunks == 0 && d.k == 0 && d.m == 0 && d.cover == 0);
		near_rel(sdr_model_law_mean(law), n * t + 25e-3, 1e-12);
		sdr_model_law_destroy(law);
	}
}

static void hybrid__without_parity_is_selective_repeat(void **state)
{
	static const double loss[] = { 1e-9, 1e-5, 1e-3, 0.1, 0.5 };
	static const uint64_t bytes[] = { 5000, MIB, 128 * MIB, 1ull << 36 };
	unsigned i, j, q;

	(void)state;
	for (i = 0; i < 5; i++) {
		for (j = 0; j < 4; j++) {
			struct sdr_model_point p = point(bytes[j], loss[i], 0, 0), s;
			struct sdr_model_law *a, *b;

			p.max_overhead = 0;
			s = p;
			s.scheme = SDR_MODEL_SR_NACK;
			s.flags = SDR_MODEL_F_PACKETS;
			a = law_of(&p);
			b = law_of(&s);
			near_rel(sdr_model_law_mean(a), sdr_model_law_mean(b), 1e-12);
			for (q = 0; q < SHARES; q++) {
				double t = sdr_model_law_quantile(b, shares[q]);

				near_rel(sdr_model_law_quantile(a, shares[q]), t, 1e-12);
				near_rel(sdr_model_law_cdf(a, t * 1.01),
					 sdr_model_law_cdf(b, t * 1.01), 1e-9);
			}
			sdr_model_law_destroy(a);
			sdr_model_law_destroy(b);
		}
	}
}

/* P(pattern) of the packets of one codeword, a Markov chain. */
static double pattern_weight(uint32_t pattern, uint32_t n, double p, double again)
{
	double c = fmax(p, again), e = p * (1 - c) / (1 - p), q = pattern & 1 ? p : 1 - p;
	uint32_t i;

	for (i = 1; i < n; i++) {
		double lose = pattern >> (i - 1) & 1 ? c : e;

		q *= pattern >> i & 1 ? lose : 1 - lose;
	}
	return q;
}

/* Rows of parity that a codeword of k packets needs; m + 1: more than m. */
static uint32_t pattern_rows(uint32_t pattern, uint32_t k, uint32_t m)
{
	uint32_t j;

	for (j = 0; j <= m; j++)
		if ((uint32_t)__builtin_popcount(pattern & ((1u << (k + j)) - 1)) <= j)
			return j;
	return m + 1;
}

static void hybrid__every_pattern(void **state)
{
	static const struct {
		uint32_t pkts, k, m;
		double p, burst;
	} of[] = { { 6, 3, 2, 0.2, 1 },	 { 7, 4, 2, 0.05, 1 }, { 5, 5, 1, 0.01, 1 },
		   { 9, 3, 3, 0.3, 1 },	 { 6, 3, 2, 0.1, 4 },  { 10, 10, 2, 0.1, 2 },
		   { 4, 1, 2, 0.25, 1 }, { 2, 8, 3, 0.1, 1 } };
	unsigned c;

	(void)state;
	for (c = 0; c < sizeof(of) / sizeof(of[0]); c++) {
		struct sdr_model_point p = point(of[c].pkts * 4096ull, of[c].p, of[c].k, of[c].m);
		uint32_t words = (of[c].pkts + of[c].k - 1) / of[c].k, w, j, pattern, m;
		double rows[8] = { 0 }, all[8], t = 4096 * 8 / 400e9, again, sum;
		struct sdr_model_derived d;
		struct sdr_model_law *law;

		p.burst_packets = of[c].burst;
		again = pow(1 - 1 / of[c].burst, words);
		m = ((of[c].pkts + words - 1) / words * of[c].m + of[c].k - 1) / of[c].k;
		for (j = 0; j <= m; j++)
			all[j] = 1;
		/*
		 * the codewords take turns: the first ones have a packet more where they are not
		 * even
		 */
		for (w = 0; w < words; w++) {
			uint32_t k = of[c].pkts / words + (w < of[c].pkts % words);

			memset(rows, 0, sizeof(rows));
			for (pattern = 0; pattern < 1u << (k + m); pattern++)
				rows[pattern_rows(pattern, k, m)] +=
					pattern_weight(pattern, k + m, of[c].p, again);
			for (sum = 0, j = 0; j <= m; j++)
				all[j] *= sum += rows[j];
		}
		law = law_of(&p);
		for (j = 0; j < m; j++) {
			/* in the middle between two rows */
			double at = (of[c].pkts + (j + 0.5) * words) * t + p.rtt_s;

			near_rel(sdr_model_law_cdf(law, at), all[j], 1e-12);
		}
		near_rel(sdr_model_law_cdf(law, (of[c].pkts + m * words) * t + 1.5 * p.rtt_s),
			 all[m], 1e-12);
		assert_true(sdr_model_law_cdf(law, (of[c].pkts - 0.5) * t + p.rtt_s) == 0);
		sdr_model_law_derived(law, &d);
		near_rel(1 - d.p_fallback, all[m], 1e-12);
		assert_int_equal(d.parity_chunks, m * words);
		sdr_model_law_destroy(law);
	}
}

static void hybrid__mean_quantile_and_cdf_agree(void **state)
{
	static const struct {
		uint64_t bytes;
		double p, burst, cover, rtt;
		uint32_t k, m;
	} of[] = {
		{ 128 * MIB, 1e-3, 1, 0, 25e-3, 0, 0 },
		{ 128 * MIB, 1e-2, 1, 0, 25e-3, 128, 6 },
		{ 128 * MIB, 1e-2, 8, 0, 25e-3, 128, 3 },
		{ 128 * MIB, 1e-2, 1, 1e7, 25e-3, 128, 6 },
		{ 1024 * MIB, 1e-2, 1, 3e8, 5e-3, 64, 4 },
		{ 8192 * MIB, 1e-2, 1, 0, 1e-3, 64, 4 },
		{ 20000, 0.2, 1, 8192, 25e-3, 5, 1 },
		{ 64, 0.1, 1, 0, 25e-3, 0, 0 },
		{ 8192 * MIB, 1e-3, 1, 0, 25e-3, 0, 0 },
		{ 4 * MIB, 0.3, 1, 1 * MIB, 1e-4, 16, 4 },
		{ 1ull << 44, 1e-3, 1, 1e10, 0.1, 128, 4 },
	};
	unsigned c, i, n = 20000;

	(void)state;
	for (c = 0; c < sizeof(of) / sizeof(of[0]); c++) {
		struct sdr_model_point p = point(of[c].bytes, of[c].p, of[c].k, of[c].m);
		double mean, sum = 0, lo, q, t, last = 0;
		struct sdr_model_law *law;

		p.burst_packets = of[c].burst;
		p.cover_bytes = of[c].cover;
		p.rtt_s = of[c].rtt;
		law = law_of(&p);
		lo = sdr_model_law_quantile(law, 0);
		for (i = 0; i < n; i++) {
			q = (i + 0.5) / n;
			t = sdr_model_law_quantile(law, q);
			assert_true(t >= last && isfinite(t));
			last = t;
			sum += t - lo;
			assert_true(sdr_model_law_cdf(law, t) >= q * (1 - 1e-9));
			assert_true(t == lo ||
				    sdr_model_law_cdf(law, t - 1e-6 * (t - lo)) < q * (1 + 1e-9));
		}
		mean = sdr_model_law_mean(law);
		/* the sum has the tail in steps of 1 / n */
		if (fabs(mean - lo - sum / n) > 0.01 * (mean - lo) + 2 * p.rtt_s / n)
			fail_msg("case %u: mean %.9g, from quantiles %.9g, least %.9g", c, mean,
				 lo + sum / n, lo);
		assert_true(isnan(sdr_model_law_quantile(law, 1)) &&
			    isnan(sdr_model_law_quantile(law, NAN)));
		sdr_model_law_destroy(law);
	}
}

static void hybrid__more_loss_takes_longer(void **state)
{
	static const uint32_t ms[] = { 1, 4, 16 };
	unsigned i, j;
	double p;

	(void)state;
	for (i = 0; i < 3; i++) {
		double last[4] = { 0 };

		for (p = 1e-6; p < 0.3; p *= 2) {
			struct sdr_model_point at = point(128 * MIB, p, 64, ms[i]);
			struct sdr_model_times t;
			struct sdr_model_derived d;

			assert_int_equal(sdr_model_predict(&at, &t, &d, NULL), 0);
			for (j = 0; j < 4; j++) {
				double now =
					(double[]){ t.mean_s, t.p50_s, t.p99_s, d.p_fallback }[j];

				assert_true(now >= last[j] * (1 - 1e-12));
				last[j] = now;
			}
		}
	}
}

static void hybrid__cover(void **state)
{
	struct sdr_model_point p = point(512 * MIB, 1e-3, 64, 4), all = p;
	struct sdr_model_derived d;
	struct sdr_model_times a, b;

	(void)state;
	all.cover_bytes = 512.0 * MIB;
	assert_int_equal(sdr_model_predict(&p, &a, &d, NULL), 0);
	assert_true(d.cover == 1);
	assert_int_equal(sdr_model_predict(&all, &b, &d, NULL), 0);
	assert_memory_equal(&a, &b, sizeof(a));
	/* within the last segment to the packet; beyond it by whole ones */
	p.cover_bytes = 10.0 * MIB;
	assert_int_equal(sdr_model_predict(&p, &a, &d, NULL), 0);
	near_rel(d.cover, 10.0 / 512, 1e-12);
	assert_int_equal(d.parity_chunks, 2560 / 64 * 4);
	p.cover_bytes = 100.0 * MIB;
	assert_int_equal(sdr_model_predict(&p, &a, &d, NULL), 0);
	near_rel(d.cover, 128.0 / 512, 1e-12);
	/* what is left without parity near the end costs round trips */
	p.cover_bytes = 1.0 * MIB;
	assert_int_equal(sdr_model_predict(&p, &a, &d, NULL), 0);
	assert_true(a.mean_s > b.mean_s + 10e-3);
}

/* The choice is that of the endpoints: the same call. */
static void hybrid__chooses_as_endpoints_do(void **state)
{
	struct sdr_choice_table *t = sdr_choice_table_create();
	unsigned obj, parity = 0;
	double p, bytes;

	(void)state;
	assert_non_null(t);
	for (obj = SDR_OBJECTIVE_MEAN; obj <= SDR_OBJECTIVE_P999; obj++) {
		for (bytes = 1e4; bytes < 1e11; bytes *= 7) {
			for (p = 1e-7; p < 0.2; p *= 5) {
				struct sdr_model_point at = point((uint64_t)bytes, p, 0, 0);
				struct sdr_choice_loss loss;
				struct sdr_choice_in in = {
					.objective = (uint8_t)obj,
					.max_overhead = 0.25,
					.npkts = (at.msg_bytes + 4095) / 4096,
					.seg_pkts = 16384,
					.rtt_ns = 25000000,
					.pkts_ns = 400e9 / (4096 * 8) / 1e9,
					.loss = &loss,
				};
				struct sdr_model_derived d;
				struct sdr_model_times times;
				struct sdr_choice c;

				at.objective = (enum sdr_objective)obj;
				sdr_choice_loss_of(&loss, p, 1);
				sdr_choose(t, &in, &c);
				assert_int_equal(sdr_model_predict(&at, &times, &d, NULL), 0);
				assert_int_equal(d.k, c.k);
				assert_int_equal(d.m, c.m);
				/*
				 * the law keeps what the choice promised, but for the rounding to
				 * segments
				 */
				if (c.why == SDR_CHOICE_PARITY)
					assert_true(d.p_fallback <= c.fail * 1.5 + 1e-15);
				parity += c.m > 0;
			}
		}
	}
	assert_true(parity > 100);
	sdr_choice_table_destroy(t);
}

static double cost_of(const struct sdr_model_point *p, struct sdr_model_derived *d)
{
	struct sdr_model_law *law = law_of(p);
	double c;

	if (p->objective == SDR_OBJECTIVE_MEAN)
		c = sdr_model_law_mean(law);
	else
		c = sdr_model_law_quantile(law, p->objective == SDR_OBJECTIVE_P99 ? 0.99 : 0.999);
	sdr_model_law_derived(law, d);
	sdr_model_law_destroy(law);
	return c;
}

/*
 * What the choice, a rule and a table, loses to a search by the law: every m over the same packets,
 * and none.
 */
static void hybrid__no_other_choice_is_much_better(void **state)
{
	double bytes, p, rtt, chosen, best, excess, sum = 0;
	unsigned obj, n = 0, m;

	(void)state;
	for (obj = SDR_OBJECTIVE_MEAN; obj <= SDR_OBJECTIVE_P999; obj++) {
		for (bytes = 65536; bytes < 2e10; bytes *= 8) {
			for (p = 1e-7; p < 0.04; p *= 10) {
				for (rtt = 1e-3; rtt < 0.2; rtt *= 5) {
					struct sdr_model_point at = point((uint64_t)bytes, p, 0, 0),
							       other;
					struct sdr_model_derived d, none;

					at.rtt_s = rtt;
					at.objective = (enum sdr_objective)obj;
					chosen = cost_of(&at, &d);
					other = at;
					other.max_overhead = 0;
					best = cost_of(&other, &none);
					other.k = d.k ? d.k : 128;
					if (d.cover > 0 && d.cover < 1)
						other.cover_bytes =
							rint(d.cover * (double)d.chunks) * 4096;
					for (m = 1; m <= 24 && m <= other.k / 4; m++) {
						other.m = m;
						best = fmin(best, cost_of(&other, &none));
					}
					excess = chosen / best - 1;
					if (excess > 0.035)
						fail_msg(
							"%.0f bytes, loss %g, rtt %g: %g s, could be %g",
							bytes, p, rtt, chosen, best);
					sum += excess;
					n++;
				}
			}
		}
	}
	assert_true(n > 300 && sum / n < 0.003);
}

static void hybrid__lone_packet(void **state)
{
	struct sdr_model_point p = point(64, 0.1, 0, 0);
	double t = 4096 * 8 / 400e9 + 25e-3, rto = 25e-3 * 1.125 + 1e-3;
	struct sdr_model_derived d;
	struct sdr_model_law *law;

	(void)state;
	/* twice, then by the probe's timeout, which doubles */
	law = law_of(&p);
	sdr_model_law_derived(law, &d);
	assert_true(d.k == 1 && d.m == 1 && d.parity_chunks == 1);
	near_rel(d.p_fallback, 0.01, 1e-12);
	near_rel(sdr_model_law_quantile(law, 0.98), t, 1e-12);
	near_rel(sdr_model_law_quantile(law, 0.999), t + rto, 1e-12);
	near_rel(sdr_model_law_cdf(law, t + 2.9 * rto), 1 - 1e-4, 1e-12);
	near_rel(sdr_model_law_cdf(law, t + 3.1 * rto), 1 - 1e-6, 1e-12);
	near_rel(sdr_model_law_mean(law), t + 0.01 * rto + 1e-4 * 2 * rto + 1e-6 * 4 * rto, 1e-6);
	sdr_model_law_destroy(law);
	/* where losses are rare, once */
	p.p_packet = 1e-4;
	law = law_of(&p);
	sdr_model_law_derived(law, &d);
	assert_true(d.k == 0 && d.m == 0 && d.p_fallback == 1e-4);
	sdr_model_law_destroy(law);
	/* nothing fits into the record any more: a transfer of one packet */
	p.msg_bytes = 4090;
	p.p_packet = 0.1;
	law = law_of(&p);
	near_rel(sdr_model_law_cdf(law, t + 0.5 * 25e-3), 1 - 0.01, 1e-12);
	sdr_model_law_destroy(law);
}

static double share_above(const double *t, unsigned n, double at)
{
	unsigned i, above = 0;

	for (i = 0; i < n; i++)
		above += t[i] > at;
	return (double)above / n;
}

/* Against transfers that lose packets one by one. */
static void hybrid__as_drawn(void **state)
{
	static const struct {
		uint64_t bytes;
		double p, burst, cover, rtt;
		uint32_t k, m;
	} of[] = {
		{ 128 * MIB, 1e-2, 1, 0, 25e-3, 128, 6 },
		{ 16 * MIB, 1e-3, 1, 0, 25e-3, 0, 0 },
		{ 128 * MIB, 1e-2, 1, 1e7, 25e-3, 128, 5 },
		{ 256 * MIB, 1e-2, 1, 1e8, 5e-3, 64, 3 },
		{ 20000, 0.2, 1, 8192, 25e-3, 5, 1 },
		{ 4 * MIB, 0.02, 4, 0, 25e-3, 64, 8 },
	};
	unsigned c, i, n = 20000;
	double *t = calloc(n, sizeof(*t));

	(void)state;
	assert_non_null(t);
	for (c = 0; c < sizeof(of) / sizeof(of[0]); c++) {
		struct sdr_model_point p = point(of[c].bytes, of[c].p, of[c].k, of[c].m);
		double sum = 0, square = 0, mean, sd, at, want, have;
		struct sdr_model_law *law;

		p.burst_packets = of[c].burst;
		p.cover_bytes = of[c].cover;
		p.rtt_s = of[c].rtt;
		law = law_of(&p);
		assert_int_equal(sdr_model_sample(&p, 7, 0, n, t, NULL), 0);
		for (i = 0; i < n; i++) {
			sum += t[i];
			square += t[i] * t[i];
		}
		mean = sum / n;
		sd = sqrt(fmax(square / n - mean * mean, 0) / n);
		/* rounds take what they send there and the mean of it here */
		if (fabs(sdr_model_law_mean(law) - mean) > 5 * sd + 2e-4 * mean)
			fail_msg("case %u: mean %.9g, drawn %.9g, %.2g is sigma", c,
				 sdr_model_law_mean(law), mean, sd);
		/*
		 * the tail: a round trip later than the lossless time, and so on; half way, where
		 * there are no steps
		 */
		for (i = 0; i < 3; i++) {
			at = sdr_model_law_quantile(law, 0) + (i + 0.5) * p.rtt_s;
			want = 1 - sdr_model_law_cdf(law, at);
			have = share_above(t, n, at);
			if (fabs(want - have) > 5 * sqrt(want / n) + 2e-3 * want)
				fail_msg("case %u: %.6g beyond %.6g s, drawn %.6g", c, want, at,
					 have);
		}
		sdr_model_law_destroy(law);
	}
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hybrid__nothing_lost),
		cmocka_unit_test(hybrid__without_parity_is_selective_repeat),
		cmocka_unit_test(hybrid__every_pattern),
		cmocka_unit_test(hybrid__mean_quantile_and_cdf_agree),
		cmocka_unit_test(hybrid__more_loss_takes_longer),
		cmocka_unit_test(hybrid__cover),
		cmocka_unit_test(hybrid__chooses_as_endpoints_do),
		cmocka_unit_test(hybrid__no_other_choice_is_much_better),
		cmocka_unit_test(hybrid__lone_packet),
		cmocka_unit_test(hybrid__as_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
