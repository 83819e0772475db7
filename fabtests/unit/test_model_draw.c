/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Transfers at random against the mechanism written down in the plainest way, packet by packet, and
 * against themselves when only what matters is drawn: by the distance of the samples.  Seeds are
 * fixed: a test is the same every time.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "model/sdr_model_draw.h"
#include "test_draw.h"

#define N 20000u

static double t_s[N], u_s[N];

/* ---- packet by packet ------------------------------------------------------------------------ */

/* A packet takes 1 us, a chunk of four 4 us, a round trip 20 us: all times are whole us. */
#define PKTS 4u
#define U    1e-6

static void small_point(struct sdr_model_point *p, enum sdr_model_scheme scheme, uint32_t flags,
			double loss)
{
	sdr_model_point_init(p);
	p->scheme = scheme;
	p->bandwidth_bps = 8e9;
	p->rtt_s = 20 * U;
	p->rto_rtts = 2;
	p->mtu_bytes = 1000;
	p->chunk_bytes = PKTS * 1000;
	p->msg_bytes = 10 * 4000 - 1234;
	p->k = 4;
	p->m = 2;
	p->p_packet = loss;
	p->flags = flags;
}

static bool any_lost(double p, uint32_t n)
{
	bool lost = false;

	while (n--)
		lost |= draw() < p;
	return lost;
}

/* What is sent again is packets: when requested, and what rows miss. */
static bool in_packets(const struct sdr_model_point *p)
{
	const uint32_t lost_rows = SDR_MODEL_F_ROWS | SDR_MODEL_F_MISSING;

	return p->flags & SDR_MODEL_F_PACKETS ||
	       (p->scheme >= SDR_MODEL_EC_MDS && (p->flags & lost_rows) == lost_rows);
}

/* us, without the RTT */
static double plain_sr(const struct sdr_model_point *p, uint32_t units)
{
	uint32_t pkts = in_packets(p) ? 1 : PKTS;
	double end = 0, at;

	for (uint32_t i = 1; i <= units; i++) {
		for (at = i * pkts; any_lost(p->p_packet, pkts); at += p->rto_rtts * 20 + pkts)
			;
		end = fmax(end, at);
	}
	return end;
}

static bool decodes(const struct sdr_model_point *p, const bool *lost, uint32_t k, uint32_t m)
{
	uint32_t all = 0, group[8] = { 0 };

	for (uint32_t i = 0; i < k + m; i++) {
		all += lost[i];
		group[i < k ? i % m : i - k] += lost[i];
	}
	if (p->scheme == SDR_MODEL_EC_MDS)
		return all <= m;
	for (uint32_t g = 0; g < m; g++) {
		if (group[g] > 1)
			return false;
	}
	return true;
}

/* Units that the fallback of a submessage sends; 0: it can be decoded. */
static uint32_t plain_sub(const struct sdr_model_point *p, uint32_t k, uint32_t m)
{
	bool lost[PKTS][8] = { { false } }, chunk[8] = { false }, lacks[8] = { false },
	     failed = false;
	bool rows = p->flags & SDR_MODEL_F_ROWS, pkts = in_packets(p), row_fails;
	uint32_t missing_pkts = 0, missing = 0, r, i;

	for (r = 0; r < PKTS; r++) {
		for (i = 0; i < k + m; i++) {
			lost[r][i] = draw() < p->p_packet;
			chunk[i] |= lost[r][i];
		}
	}
	for (r = 0; r < PKTS; r++) {
		row_fails = !decodes(p, rows ? lost[r] : chunk, k, m);
		failed |= row_fails;
		for (i = 0; i < k && row_fails; i++) {
			missing_pkts += lost[r][i];
			lacks[i] |= lost[r][i];
		}
	}
	for (i = 0; i < k; i++)
		missing += lacks[i];
	if (!failed)
		return 0;
	if (p->flags & SDR_MODEL_F_MISSING)
		return pkts ? missing_pkts : missing;
	return pkts ? k * PKTS : k;
}

/* us */
static double plain(const struct sdr_model_point *p)
{
	uint32_t units;

	if (p->scheme != SDR_MODEL_EC_MDS && p->scheme != SDR_MODEL_EC_XOR)
		return plain_sr(p, p->flags & SDR_MODEL_F_PACKETS ? 39 : 10) + 20;
	/* two full submessages and one of two chunks with one parity chunk */
	units = plain_sub(p, 4, 2) + plain_sub(p, 4, 2) + plain_sub(p, 2, 1);
	if (!units)
		return 15 * PKTS + 20;
	return 15 * PKTS + (1 + p->beta) * 20 + plain_sr(p, units) + 20;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Kolmogorov and Smirnov's distance of two samples of n, which are rounded to us and sorted first.
 */
static double distance(double *a, double *b, size_t n)
{
	size_t i = 0, j = 0;
	double d = 0, at;

	for (size_t x = 0; x < n; x++) {
		a[x] = rint(a[x]);
		b[x] = rint(b[x]);
	}
	qsort(a, n, sizeof(*a), compare);
	qsort(b, n, sizeof(*b), compare);
	while (i < n && j < n) {
		at = fmin(a[i], b[j]);
		while (i < n && a[i] <= at)
			i++;
		while (j < n && b[j] <= at)
			j++;
		d = fmax(d, fabs((double)i - (double)j) / (double)n);
	}
	return d;
}

static void check_plain(const struct sdr_model_point *p, bool quick)
{
	const size_t n = N;
	struct sdr_model_random rnd;
	struct sdr_model_draw d;
	double far;

	assert_int_equal(sdr_model_draw_init(&d, p, quick), 0);
	for (size_t i = 0; i < n; i++) {
		sdr_model_random_init(&rnd, 5, SDR_MODEL_RANDOM_TRANSFER, i);
		t_s[i] = sdr_model_draw(&d, &rnd) / U;
		u_s[i] = plain(p);
	}
	far = distance(t_s, u_s, n) * sqrt((double)n / 2);
	/* beyond 2.2 once in eight thousand */
	if (far > 2.2)
		fail_msg("%s, flags %x, loss %g, quick %d: a distance of %.2f",
			 sdr_model_scheme_name(p->scheme), p->flags, p->p_packet, quick, far);
}

static void draw__packet_by_packet(void **state)
{
	static const double loss[] = { 0.01, 0.1, 0.4 };
	struct sdr_model_point p;

	(void)state;
	seed = 7;
	for (int scheme = SDR_MODEL_SR_RTO; scheme <= SDR_MODEL_EC_XOR; scheme++) {
		for (uint32_t flags = 0; flags <= SDR_MODEL_F_ALL; flags++) {
			if (scheme < SDR_MODEL_EC_MDS && flags & ~SDR_MODEL_F_PACKETS)
				continue;
			for (int i = 0; i < 3; i++) {
				small_point(&p, (enum sdr_model_scheme)scheme, flags, loss[i]);
				check_plain(&p, i == 1);
			}
		}
	}
}

/* Segments of 64 packets, of which only what fails is drawn, or every loss. */
static void draw__hybrid_failures_only(void **state)
{
	const size_t n = N;
	struct sdr_model_random rnd;
	struct sdr_model_draw d[2];
	struct sdr_model_point p;
	double far;

	(void)state;
	sdr_model_point_init(&p);
	p.scheme = SDR_MODEL_HYBRID;
	p.mtu_bytes = 1u << 20;
	p.msg_bytes = 300ull << 20;
	p.rtt_s = 1e-3;
	p.p_packet = 0.05;
	p.k = 15;
	p.m = 2;
	for (int quick = 0; quick < 2; quick++) {
		assert_int_equal(sdr_model_draw_init(&d[quick], &p, quick), 0);
		assert_true(d[quick].hybrid.full.s.segs > 2 && d[quick].hybrid.full.quick == quick);
		for (size_t i = 0; i < n; i++) {
			sdr_model_random_init(&rnd, 5 + quick, SDR_MODEL_RANDOM_TRANSFER, i);
			(quick ? t_s : u_s)[i] = sdr_model_draw(&d[quick], &rnd) / U;
		}
	}
	far = distance(t_s, u_s, n) * sqrt((double)n / 2);
	if (far > 2.2)
		fail_msg("a distance of %.2f", far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draw__packet_by_packet),
		cmocka_unit_test(draw__hybrid_failures_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
