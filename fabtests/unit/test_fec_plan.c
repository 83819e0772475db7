/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Decoding: every way to lose symbols of a small code, random ways of large ones, with every kernel
 * that this CPU has; and threads that share a code.
 */
#include <pthread.h>
#include "test_fec_util.h"

/* Decodes and compares; missing and rows ascend. */
static void bed_decode(struct bed *b, uint32_t k, uint32_t n, const uint8_t *missing,
		       const uint8_t *rows)
{
	const uint8_t *src[SYMS], *par[SYMS];
	uint32_t i;

	for (i = 0; i < k; i++)
		src[i] = b->data[i];
	for (i = 0; i < n; i++) {
		src[missing[i]] = NULL;
		par[i] = b->par[rows[i]];
		memset(b->out[i], 0xa5, b->len);
	}
	sdr_fec_plan_set(b->plan, k, n, missing, rows);
	sdr_fec_plan_run(b->plan, src, par, b->len, b->out);
	for (i = 0; i < n; i++)
		assert_memory_equal(b->out[i], b->data[missing[i]], b->len);
}

/* n of the numbers below `of`, ascending. */
static void choose(uint8_t *v, uint32_t n, uint32_t of)
{
	uint32_t i, c = 0;

	for (i = 0; i < of; i++)
		if (rng(of - i) < n - c)
			v[c++] = (uint8_t)i;
}

/*
 * Every choice of lost data and of as many parity rows, for every code with k + m <= 14.  Whatever
 * is lost, what a receiver does is one of these: parity that is lost as well, or not needed, is not
 * looked at.
 */
static void decode__every_pattern_of_small_codes(void **state)
{
	uint32_t k, m, q, d, p, i, n, patterns = 0;
	struct bed b;

	(void)state;
	for (q = 0; q < NAMES; q++) {
		if (!sdr_fec_kernel_set(names[q]))
			continue;
		patterns = 0;
		for (k = 1; k <= 13; k++) {
			m = 14 - k; /* has the patterns of all smaller m */
			bed_open(&b, k, m, 24 + k);
			sdr_fec_encode(b.f, k, in(b.data), b.len, 0, m, b.par);
			for (d = 1; d < 1u << k; d++) {
				uint8_t missing[14], rows[14];

				for (i = n = 0; i < k; i++)
					if (d >> i & 1)
						missing[n++] = (uint8_t)i;
				for (p = 0; p < 1u << m && n <= m; p++) {
					uint32_t c = 0;

					if ((uint32_t)__builtin_popcount(p) != n)
						continue;
					for (i = 0; i < m; i++)
						if (p >> i & 1)
							rows[c++] = (uint8_t)i;
					bed_decode(&b, k, n, missing, rows);
					patterns++;
				}
			}
			bed_close(&b);
		}
	}
	assert_int_equal(patterns, (1u << 14) - 2 - 13); /* sum over k of C(14, k) - 1 */
}

static void decode__random_patterns_of_large_codes(void **state)
{
	static const uint16_t codes[][2] = { { 32, 8 },	   { 64, 16 }, { 128, 32 }, { 200, 56 },
					     { 128, 128 }, { 2, 254 }, { 255, 1 },  { 1, 255 } };
	uint8_t missing[SYMS], rows[SYMS];
	uint32_t c, q, t, i, coded;
	struct bed b;

	(void)state;
	for (c = 0; c < sizeof(codes) / sizeof(codes[0]); c++) {
		uint32_t k = codes[c][0], m = codes[c][1];

		bed_open(&b, k, m, 200);
		for (q = 0; q < NAMES; q++) {
			if (!sdr_fec_kernel_set(names[q]))
				continue;
			for (t = coded = 0; t < 16; t++) {
				uint32_t used = t < 12 ? k : 1 + rng(k); /* shortened */
				uint32_t max = used < m ? used : m, n = t & 1 ? max : rng(max + 1);

				if (used != coded)
					sdr_fec_encode(b.f, used, in(b.data), b.len, 0, m, b.par);
				coded = used;
				choose(missing, n, used);
				choose(rows, n, m);
				bed_decode(&b, used, n, missing, rows);
				/* the pattern that is set */
				bed_decode(&b, used, n, missing, rows);
			}
		}
		for (i = 0; i < k && i < 40; i++) { /* one symbol, by row 0: the short cut */
			missing[0] = (uint8_t)i;
			rows[0] = 0;
			sdr_fec_encode(b.f, k, in(b.data), b.len, 0, 1, b.par);
			bed_decode(&b, k, 1, missing, rows);
		}
		bed_close(&b);
	}
}

/*
 * Symbols that are zeros need not exist; what lies at the place of a missing one is not looked
 * at.
 */
static void decode__with_zeros_and_rubbish(void **state)
{
	const uint8_t *src[10], *par[2];
	uint8_t missing[2] = { 3, 7 }, rows[2] = { 1, 2 };
	uint32_t i, q;
	struct bed b;

	(void)state;
	bed_open(&b, 10, 4, 130);
	for (i = 0; i < 10; i++)
		src[i] = b.data[i];
	src[2] = src[9] = NULL;
	sdr_fec_encode(b.f, 10, src, b.len, 0, 4, b.par);
	for (q = 0; q < NAMES; q++) {
		if (!sdr_fec_kernel_set(names[q]))
			continue;
		par[0] = b.par[1];
		par[1] = b.par[2];
		src[3] = NULL;
		src[7] = b.data[0];
		memset(b.out[0], 0, b.len);
		memset(b.out[1], 0, b.len);
		sdr_fec_plan_set(b.plan, 10, 2, missing, rows);
		sdr_fec_plan_run(b.plan, src, par, b.len, b.out);
		assert_memory_equal(b.out[0], b.data[3], b.len);
		assert_memory_equal(b.out[1], b.data[7], b.len);
	}
	bed_close(&b);
}

/* Threads share a code; each has its plan, its outputs and its patterns. */
#define THREADS 4
#define TURNS	150

struct shared {
	const struct bed *b;
	uint32_t number, wrong;
};

static void *thread_run(void *arg)
{
	struct shared *s = arg;
	const struct bed *b = s->b;
	struct sdr_fec_plan *plan;
	uint8_t *out[16];
	uint32_t t, i;

	if (sdr_fec_plan_create(b->f, &plan)) {
		s->wrong = 1;
		return NULL;
	}
	for (i = 0; i < 16; i++)
		out[i] = b->out[s->number * 16 + i];
	for (t = 0; t < TURNS; t++) {
		uint8_t missing[2] = { (uint8_t)(t % 15), (uint8_t)(t % 15 + 1 + s->number) };
		uint8_t rows[2] = { (uint8_t)(t % 4), 7 };
		const uint8_t *src[32], *par[2] = { b->par[rows[0]], b->par[7] };

		sdr_fec_encode(b->f, 32, in(b->data), b->len, 0, 8, out);
		for (i = 0; i < 8; i++)
			s->wrong += !!memcmp(out[i], b->par[i], b->len);
		for (i = 0; i < 32; i++) {
			src[i] = i == missing[0] || i == missing[1] ? NULL : b->data[i];
			sdr_fec_update(b->f, i, 1, in(b->data + i), b->len, 0, 8, out + 8, i == 0);
		}
		for (i = 0; i < 8; i++)
			s->wrong += !!memcmp(out[8 + i], b->par[i], b->len);
		sdr_fec_plan_set(plan, 32, 2, missing, rows);
		sdr_fec_plan_run(plan, src, par, b->len, out);
		for (i = 0; i < 2; i++)
			s->wrong += !!memcmp(out[i], b->data[missing[i]], b->len);
	}
	sdr_fec_plan_destroy(plan);
	return NULL;
}

static void threads__share_a_code(void **state)
{
	struct shared s[THREADS];
	pthread_t thread[THREADS];
	struct bed b;
	uint32_t i;

	(void)state;
	assert_true(sdr_fec_kernel_set(NULL));
	bed_open(&b, 32, 8, 500);
	sdr_fec_encode(b.f, 32, in(b.data), b.len, 0, 8, b.par);
	for (i = 0; i < THREADS; i++) {
		s[i] = (struct shared){ .b = &b, .number = i };
		assert_int_equal(pthread_create(&thread[i], NULL, thread_run, &s[i]), 0);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(s[i].wrong, 0);
	}
	bed_close(&b);
}

/* Must be the first of all: no kernel was chosen before. */
static void *first_run(void *arg)
{
	struct sdr_fec *f = NULL;

	*(bool *)arg = sdr_fec_create(3, 2, &f) == 0 && sdr_fec_coef(1, 2) &&
		       strcmp(sdr_fec_kernel(), "base");
	sdr_fec_destroy(f);
	return NULL;
}

static void threads__start_it_together(void **state)
{
	pthread_t thread[THREADS];
	bool ok[THREADS] = { false };
	uint32_t i;

	(void)state;
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, first_run, &ok[i]), 0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		assert_true(ok[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads__start_it_together),
		cmocka_unit_test(decode__every_pattern_of_small_codes),
		cmocka_unit_test(decode__random_patterns_of_large_codes),
		cmocka_unit_test(decode__with_zeros_and_rubbish),
		cmocka_unit_test(threads__share_a_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
