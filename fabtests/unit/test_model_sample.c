/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Sampled transfers: against golden numbers and against the law, and what sampling promises.  Seeds
 * are fixed: a test is the same every time.
 */
#include <errno.h>
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
#include "test_model_golden_mc.h"

#define N GOLDEN_SAMPLES

static double t_s[N], u_s[N];

/* Standard deviation of n numbers. */
static double deviation(const double *t, size_t n, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (t[i] - mean) * (t[i] - mean);
	return sqrt(sum / (double)n);
}

/* ---- golden numbers -------------------------------------------------------------------------- */

static void sample__golden(void **state)
{
	struct sdr_model_point p;
	struct sdr_model_times s = { .mean_s = 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(golden) / sizeof(*golden); i++) {
		const struct golden *g = &golden[i];
		const double *got[4] = { &s.mean_s, &s.p50_s, &s.p99_s, &s.p999_s };

		if (g->nodes)
			continue;
		golden_point(g, &p);
		assert_int_equal(sdr_model_sample(&p, 1, 0, N, t_s, NULL), 0);
		sdr_model_summary(t_s, N, &s);
		if (fabs(s.mean_s / g->mean_s - 1) > 0.01)
			fail_msg("%s: mean %.9g, it is %.9g", g->id, s.mean_s, g->mean_s);
		for (int q = 0; q < 4; q++) {
			if (*got[q] < g->bounds[q][0] * (1 - 1e-9) ||
			    *got[q] > g->bounds[q][1] * (1 + 1e-9))
				fail_msg("%s: value %d is %.9g, not in %.9g..%.9g", g->id, q,
					 *got[q], g->bounds[q][0], g->bounds[q][1]);
		}
	}
}

/* ---- the law --------------------------------------------------------------------------------- */

static void check_quantile(const struct sdr_model_law *law, const char *name, double got, double q,
			   double n, double slack)
{
	double off = 5 * sqrt(q * (1 - q) / n), lo = q - off, hi = q + off;

	if (got < sdr_model_law_quantile(law, lo) * (1 - slack) ||
	    (hi < 1 && got > sdr_model_law_quantile(law, hi) * (1 + slack)))
		fail_msg("%s: sampled quantile %g is %.9g, of the law %.9g", name, q, got,
			 sdr_model_law_quantile(law, q));
}

/* slack: what the law leaves out, of a time */
static void check_law(const struct sdr_model_point *p, size_t n, double slack)
{
	struct sdr_model_law *law;
	struct sdr_model_times s = { .mean_s = 0 };
	double far = 0, dev, mean, late, share;
	char name[96];

	snprintf(name, sizeof(name), "%s flags %x p %g, %llu bytes, (%u, %u)",
		 sdr_model_scheme_name(p->scheme), p->flags, p->p_packet,
		 (unsigned long long)p->msg_bytes, p->k, p->m);
	assert_int_equal(sdr_model_law_create(p, &law, NULL), 0);
	assert_int_equal(sdr_model_sample(p, 11, 0, n, t_s, NULL), 0);
	sdr_model_summary(t_s, n, &s);
	mean = sdr_model_law_mean(law);
	dev = deviation(t_s, n, s.mean_s);
	/* how many are later than the first; few of them say nothing about the mean */
	late = (double)n * (1 - sdr_model_law_cdf(law, t_s[0] * (1 + 1e-12)));
	if (late > 50 && fabs(s.mean_s - mean) > 5 * dev / sqrt((double)n) + slack * mean)
		fail_msg("%s: mean %.9g, of the law %.9g", name, s.mean_s, mean);
	check_quantile(law, name, s.p50_s, 0.5, (double)n, slack);
	check_quantile(law, name, s.p99_s, 0.99, (double)n, slack);
	check_quantile(law, name, s.p999_s, 0.999, (double)n, slack);
	/* sorted: where one value ends and the next begins, on 100 places */
	for (size_t i = n / 200; i < n; i += n / 100) {
		double at = t_s[i] * (1 + 1e-12);

		while (i + 1 < n && t_s[i + 1] <= at)
			i++;
		share = (double)(i + 1) / (double)n;
		far = fmax(far, share - sdr_model_law_cdf(law, t_s[i] * (1 + slack)));
		far = fmax(far, sdr_model_law_cdf(law, slack > 1e-6 ? t_s[i] * (1 - slack) : at) -
					share);
	}
	if (far * sqrt((double)n) > 2.5)
		fail_msg("%s: a distance of %.2f from the law", name, far * sqrt((double)n));
	sdr_model_law_destroy(law);
}

static void sample__law_of_sr(void **state)
{
	static const double loss[] = { 0, 1e-4, 3e-3, 0.05, 0.4 };
	static const uint64_t bytes[] = { 1, 65536, 1000001, 128u << 20, 3ull << 36 };
	struct sdr_model_point p;

	(void)state;
	sdr_model_point_init(&p);
	for (int i = 0; i < 5; i++) {
		for (int j = 0; j < 5; j++) {
			p.p_packet = loss[i];
			p.msg_bytes = bytes[j];
			p.scheme = (i + j) & 1 ? SDR_MODEL_SR_RTO : SDR_MODEL_SR_NACK;
			p.flags = i & 1 ? SDR_MODEL_F_PACKETS : 0;
			check_law(&p, 20000, 1e-9);
		}
	}
	p.scheme = SDR_MODEL_IDEAL;
	check_law(&p, 200, 1e-9);
}

static void sample__law_of_ec(void **state)
{
	static const uint32_t code[][2] = { { 32, 8 }, { 8, 2 }, { 5, 3 }, { 1, 1 } };
	static const double loss[] = { 1e-4, 2e-3, 0.02 };
	struct sdr_model_point p;

	(void)state;
	sdr_model_point_init(&p);
	p.chunk_bytes = 16384;
	p.msg_bytes = 77 * 16384 + 1;
	for (uint32_t i = 0; i < 4; i++) {
		for (uint32_t j = 0; j < 3; j++) {
			for (uint32_t flags = 0; flags <= SDR_MODEL_F_ALL; flags++) {
				p.scheme =
					(i + j + flags) & 1 ? SDR_MODEL_EC_MDS : SDR_MODEL_EC_XOR;
				p.k = code[i][0];
				p.m = code[i][1];
				p.p_packet = loss[j];
				p.flags = flags;
				/* of what is missing, the law has a normal distribution */
				check_law(&p, 10000, flags & SDR_MODEL_F_MISSING ? 3e-3 : 1e-9);
			}
		}
	}
	/* so many fail that they are not counted */
	p.flags = 0;
	p.scheme = SDR_MODEL_EC_XOR;
	p.k = 8;
	p.m = 2;
	p.msg_bytes = 300000000007ull;
	for (uint32_t j = 0; j < 2; j++) {
		p.p_packet = j ? 0.1 : 0.01;
		check_law(&p, 10000, 1e-9);
	}
	/*
	 * nor what they lack: a fallback of thousands of units, by chunks, by packets of chunks,
	 * and by rows
	 */
	p.chunk_bytes = 16384;
	for (uint32_t i = 0; i < 6; i++) {
		p.scheme = i & 1 ? SDR_MODEL_EC_MDS : SDR_MODEL_EC_XOR;
		p.flags = SDR_MODEL_F_MISSING | (i / 2 == 1   ? SDR_MODEL_F_PACKETS
						 : i / 2 == 2 ? SDR_MODEL_F_ROWS
							      : 0);
		for (uint32_t j = 0; j < 2; j++) {
			p.msg_bytes = j ? 300000000007ull : 1000000007;
			p.p_packet = 0.02;
			check_law(&p, 10000, 1e-3);
		}
	}
}

/* The law takes a round of repairs by its mean, which is off by some packets' time. */
static void sample__law_of_hybrid(void **state)
{
	static const double loss[] = { 0, 1e-5, 1e-3, 0.02, 0.2 };
	static const uint64_t bytes[] = { 1000, 4096, 100000, 16u << 20, 300u << 20 };
	static const uint32_t code[][2] = { { 0, 0 }, { 32, 2 }, { 100, 4 } };
	struct sdr_model_point p;

	(void)state;
	for (int i = 0; i < 5; i++) {
		for (int j = 0; j < 5; j++) {
			for (int c = 0; c < 3; c++) {
				if (i == 4 && j == 4)
					continue; /* slow */
				sdr_model_point_init(&p);
				p.scheme = SDR_MODEL_HYBRID;
				p.p_packet = loss[i];
				p.msg_bytes = bytes[j];
				p.k = code[c][0];
				p.m = code[c][1];
				p.cover_bytes = c == 2 ? 4000000 : 0;
				p.burst_packets = (i + j) & 1 ? 1 : 4;
				check_law(&p, 4000, 1e-3);
			}
		}
	}
}

/* ---- promises -------------------------------------------------------------------------------- */

static void sample__by_index(void **state)
{
	static const enum sdr_model_scheme scheme[] = { SDR_MODEL_SR_RTO, SDR_MODEL_EC_MDS,
							SDR_MODEL_EC_XOR, SDR_MODEL_HYBRID };
	struct sdr_model_point p;
	size_t i, part, same;

	(void)state;
	sdr_model_point_init(&p);
	p.p_packet = 0.004;
	for (int s = 0; s < 4; s++) {
		p.scheme = scheme[s];
		assert_int_equal(sdr_model_sample(&p, 3, 1000, 500, t_s, NULL), 0);
		/* the last part first, parts of all lengths */
		for (i = 500, part = 1; i; i -= part) {
			part = part % 7 + 1 < i ? part % 7 + 1 : i;
			assert_int_equal(sdr_model_sample(&p, 3, 1000 + i - part, part,
							  u_s + i - part, NULL),
					 0);
		}
		assert_memory_equal(t_s, u_s, 500 * sizeof(*t_s));
		assert_int_equal(sdr_model_sample(&p, 4, 1000, 500, u_s, NULL), 0);
		for (i = same = 0; i < 500; i++)
			same += t_s[i] == u_s[i];
		assert_true(same < 500);
	}
	/* indices end where uint64_t does, and go on at 0 */
	assert_int_equal(sdr_model_sample(&p, 3, UINT64_MAX, 2, t_s, NULL), 0);
	assert_int_equal(sdr_model_sample(&p, 3, 0, 1, u_s, NULL), 0);
	assert_true(t_s[1] == u_s[0]);
}

/* Without loss, and with one in 1e12, all samples are the lossless time exactly. */
static void sample__nothing_lost(void **state)
{
	struct sdr_model_point p;

	(void)state;
	for (int scheme = SDR_MODEL_IDEAL; scheme < SDR_MODEL_SCHEMES; scheme++) {
		for (int i = 0; i < 2; i++) {
			sdr_model_point_init(&p);
			p.scheme = (enum sdr_model_scheme)scheme;
			p.p_packet = i ? 1e-15 : 0;
			if (scheme == SDR_MODEL_HYBRID)
				p.k = p.m = 0; /* no parity, then */
			assert_int_equal(sdr_model_sample(&p, 1, 0, 1000, t_s, NULL), 0);
			for (int j = 0; j < 1000; j++) {
				assert_true(t_s[j] == t_s[0]);
				assert_true(fabs(t_s[j] -
						 2048 * 65536 * 8 / 400e9 *
							 (scheme == SDR_MODEL_EC_MDS ||
									  scheme == SDR_MODEL_EC_XOR
								  ? 1.25
								  : 1) -
						 25e-3) < 1e-15);
			}
		}
	}
}

/* The ends of what a point may be have a law. */
static void sample__far_points(void **state)
{
	struct sdr_model_times s = { .mean_s = 0 };
	struct sdr_model_point p;

	(void)state;
	for (int i = 0; i < 16 * SDR_MODEL_SCHEMES; i++) {
		sdr_model_point_init(&p);
		p.scheme = (enum sdr_model_scheme)(i / 16);
		p.bandwidth_bps = i & 1 ? 1e30 : 1e-30;
		p.rtt_s = i & 2 ? 1e30 : 5e-324;
		p.rto_rtts = i & 4 ? 1e30 : 5e-324;
		p.mtu_bytes = p.chunk_bytes = i & 8 ? 1u << 31 : 1;
		p.msg_bytes = i & 8 ? SDR_MODEL_BYTES_MAX : 100000;
		p.p_packet = 0.1;
		assert_int_equal(sdr_model_predict(&p, &s, NULL, NULL), 0);
		assert_true(isfinite(s.mean_s) && isfinite(s.p999_s) && s.mean_s > 0 &&
			    s.p999_s >= s.p50_s);
	}
}

/* However much there is and however much is lost, a sample ends, and is a time. */
static void sample__extremes(void **state)
{
	static const double loss[] = { 5e-324, 1e-18, 0.5, 0.999999, 1 - 0x1p-53 };
	struct sdr_model_point p;

	(void)state;
	for (int scheme = SDR_MODEL_IDEAL; scheme < SDR_MODEL_SCHEMES; scheme++) {
		for (int i = 0; i < 5; i++) {
			for (int j = 0; j < 2; j++) {
				sdr_model_point_init(&p);
				p.scheme = (enum sdr_model_scheme)scheme;
				p.p_packet = loss[i];
				p.mtu_bytes = p.chunk_bytes = j ? 1u << 31 : 1;
				p.msg_bytes = SDR_MODEL_BYTES_MAX;
				/* draws every loss of its last segment */
				if (scheme == SDR_MODEL_HYBRID)
					p.msg_bytes = j ? 1ull << 45 : 10000;
				assert_int_equal(sdr_model_sample(&p, 1, 0, 3, t_s, NULL), 0);
				for (int x = 0; x < 3; x++)
					assert_true(isfinite(t_s[x]) && t_s[x] > 0);
			}
		}
	}
}

static void sample__refuses(void **state)
{
	struct sdr_model_error err = { "", "" };
	struct sdr_model_point p;

	(void)state;
	sdr_model_point_init(&p);
	p.p_packet = 1;
	t_s[0] = -1;
	assert_int_equal(sdr_model_sample(&p, 1, 0, 1, t_s, &err), -EINVAL);
	assert_string_equal(err.field, "p_packet");
	assert_true(t_s[0] == -1);
	p.p_packet = NAN;
	assert_int_equal(sdr_model_sample(&p, 1, 0, 1, t_s, NULL), -EINVAL);
	p.p_packet = 0.01;
	/* what no link has, and would overflow on the way to a time */
	p.rtt_s = 1e300;
	assert_int_equal(sdr_model_sample(&p, 1, 0, 1, t_s, &err), -EINVAL);
	assert_string_equal(err.field, "rtt_s");
	p.rtt_s = 1;
	p.bandwidth_bps = 1e-300;
	assert_int_equal(sdr_model_sample(&p, 1, 0, 1, t_s, &err), -EINVAL);
	assert_string_equal(err.field, "bandwidth_bps");
	p.bandwidth_bps = 1e300;
	assert_int_equal(sdr_model_sample(&p, 1, 0, 1, t_s, &err), -EINVAL);
	p.bandwidth_bps = 1e9;
	p.rto_rtts = 1e300;
	assert_int_equal(sdr_model_sample(&p, 1, 0, 1, t_s, &err), -EINVAL);
	assert_string_equal(err.field, "rto_rtts");
	p.rto_rtts = 0;
	p.p_packet = 0;
	assert_int_equal(sdr_model_sample(&p, 1, 0, 0, t_s, NULL), 0);
	assert_true(t_s[0] == -1);
}

static void summary__is_right(void **state)
{
	struct sdr_model_times s = { .mean_s = 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		t_s[i] = (i * 7) % 1000 + 1;
	sdr_model_summary(t_s, 1000, &s);
	assert_true(fabs(s.mean_s - 500.5) < 1e-9);
	assert_true(s.p50_s == 500 && s.p99_s == 990 && s.p999_s == 999);
	for (int i = 0; i < 1000; i++)
		assert_true(t_s[i] == i + 1);
	t_s[0] = 0.1;
	sdr_model_summary(t_s, 1, &s);
	assert_true(s.mean_s == 0.1 && s.p50_s == 0.1 && s.p99_s == 0.1 && s.p999_s == 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample__golden),    cmocka_unit_test(sample__law_of_sr),
		cmocka_unit_test(sample__law_of_ec), cmocka_unit_test(sample__law_of_hybrid),
		cmocka_unit_test(sample__by_index),  cmocka_unit_test(sample__nothing_lost),
		cmocka_unit_test(sample__extremes),  cmocka_unit_test(sample__far_points),
		cmocka_unit_test(sample__refuses),   cmocka_unit_test(summary__is_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
