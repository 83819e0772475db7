/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_model_bench: what the completion-time model costs.
 *
 *   sdr_model_bench [--csv] [--check] [--rounds N]
 *
 *   predict   one sdr_model_predict (mean, p50, p99, p99.9 and what they are made of), 2^24 chunks,
 *             by scheme and loss
 *   heat map  the paper's: 14 sizes from 128 KiB to 1 TiB, 9 losses from 1e-7 to 0.1, sr_rto and
 *	       ec_mds(32,8), each with mean and p99.9, chunks of one packet of 4 KiB at 400
 *	       Gbit/s and 25 ms
 *
 * Time is CPU time of the one thread, the median of the rounds.  --check: exit status 1 when a bar
 * is missed: a millisecond a prediction, a second a heat map.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sdr/model.h>

#define ROUNDS_MAX  99u
#define PREDICT_BAR 1e-3 /* s */
#define HEAT_BAR    1.0

static uint32_t rounds = 9;
static bool csv, missed;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int double_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void row(const char *test, const char *scheme, double p, double *v, double bar)
{
	double s;

	qsort(v, rounds, sizeof(*v), double_cmp);
	s = v[rounds / 2];
	missed |= s > bar;
	if (csv)
		printf("%s,%s,%g,%.3f,%.0f\n", test, scheme, p, s * 1e6, bar * 1e6);
	else
		printf("%-9s %-8s %8g %12.1f us   bar %8.0f us%s\n", test, scheme, p, s * 1e6,
		       bar * 1e6, s > bar ? "   MISSED" : "");
}

static void predict(const struct sdr_model_point *p)
{
	struct sdr_model_derived d;
	struct sdr_model_times t;
	struct sdr_model_error err;

	if (sdr_model_predict(p, &t, &d, &err)) {
		fprintf(stderr, "sdr_model_bench: %s: %s\n", err.field, err.text);
		exit(2);
	}
}

static void bench_predict(void)
{
	static const enum sdr_model_scheme schemes[] = { SDR_MODEL_SR_RTO, SDR_MODEL_SR_NACK,
							 SDR_MODEL_EC_MDS, SDR_MODEL_EC_XOR };
	static const double ps[] = { 1e-9, 1e-5, 1e-3, 0.01, 0.1, 0.3, 0.5 };
	struct sdr_model_point p;
	double v[ROUNDS_MAX] = { 0 }, start;
	uint32_t s, i, r;

	sdr_model_point_init(&p);
	p.mtu_bytes = p.chunk_bytes;
	p.msg_bytes = (uint64_t)p.chunk_bytes << 24;
	for (s = 0; s < sizeof(schemes) / sizeof(schemes[0]); s++) {
		for (i = 0; i < sizeof(ps) / sizeof(ps[0]); i++) {
			p.scheme = schemes[s];
			p.p_packet = ps[i];
			for (r = 0; r < rounds; r++) {
				start = now();
				predict(&p);
				v[r] = now() - start;
			}
			row("predict", sdr_model_scheme_name(p.scheme), ps[i], v, PREDICT_BAR);
		}
	}
}

static void heat_cell(struct sdr_model_point *p, enum sdr_model_scheme scheme)
{
	struct sdr_model_law *law;
	volatile double keep; /* or the calls may go */

	p->scheme = scheme;
	if (sdr_model_law_create(p, &law, NULL)) {
		fprintf(stderr, "sdr_model_bench: a cell of the heat map was refused\n");
		exit(2);
	}
	keep = sdr_model_law_mean(law);
	keep = sdr_model_law_quantile(law, 0.999);
	(void)keep;
	sdr_model_law_destroy(law);
}

static void bench_heat(void)
{
	static const double ps[] = { 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1 };
	static const uint32_t bits[] = { 17, 20, 21, 22, 23, 24, 25, 27, 29, 30, 33, 35, 37, 40 };
	struct sdr_model_point p;
	double v[ROUNDS_MAX] = { 0 }, start;
	uint32_t i, b, r;

	sdr_model_point_init(&p);
	p.chunk_bytes = p.mtu_bytes;
	for (r = 0; r < rounds; r++) {
		start = now();
		for (b = 0; b < sizeof(bits) / sizeof(bits[0]); b++) {
			for (i = 0; i < sizeof(ps) / sizeof(ps[0]); i++) {
				p.msg_bytes = 1ull << bits[b];
				p.p_packet = ps[i];
				heat_cell(&p, SDR_MODEL_SR_RTO);
				heat_cell(&p, SDR_MODEL_EC_MDS);
			}
		}
		v[r] = now() - start;
	}
	row("heat map", "both", 0, v, HEAT_BAR);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "csv", no_argument, NULL, 'c' },
						 { "check", no_argument, NULL, 'k' },
						 { "rounds", required_argument, NULL, 'n' },
						 { NULL, 0, NULL, 0 } };
	bool check = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			csv = true;
			break;
		case 'k':
			check = true;
			break;
		case 'n':
			rounds = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		default:
			rounds = 0;
		}
	}
	if (!rounds || rounds > ROUNDS_MAX || optind < argc) {
		fprintf(stderr, "usage: sdr_model_bench [--csv] [--check] [--rounds 1..%u]\n",
			ROUNDS_MAX);
		return 2;
	}
	if (csv)
		printf("test,scheme,p_packet,us,bar_us\n");
	bench_predict();
	bench_heat();
	return check && missed;
}
