/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Advice: what is known to be right, and what must hold whatever the link. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <sdr/model.h>
#include "test_draw.h"

#define MIB (1ull << 20)

static struct sdr_model_candidate out[SDR_MODEL_CANDIDATES];
static uint32_t count;

static void ask(uint64_t bytes, double p, double rtt, enum sdr_objective objective,
		double max_overhead)
{
	struct sdr_model_point link;
	struct sdr_model_error err = { .text = "" };

	sdr_model_point_init(&link);
	link.msg_bytes = bytes;
	link.p_packet = p;
	link.rtt_s = rtt;
	link.objective = objective;
	link.max_overhead = max_overhead;
	/* these do not matter */
	link.scheme = SDR_MODEL_EC_XOR;
	link.k = 99;
	link.m = 0;
	link.flags = 0x80;
	count = 99;
	if (sdr_model_advise(&link, out, &count, &err))
		fail_msg("%s", err.text);
}

static const struct sdr_model_candidate *of(enum sdr_model_scheme scheme)
{
	for (uint32_t i = 0; i < count; i++)
		if (out[i].point.scheme == scheme)
			return &out[i];
	return NULL;
}

static void advise__known_regimes(void **state)
{
	(void)state;
	/* near and clean: nothing beats sending again */
	ask(MIB, 1e-7, 100e-6, SDR_OBJECTIVE_P99, 0.25);
	assert_int_equal(out[0].point.scheme, SDR_MODEL_SR_NACK);
	assert_non_null(strstr(out[0].why, "100 us"));
	assert_true(of(SDR_MODEL_HYBRID)->derived.m == 0);
	/* far, and every message loses something: parity over all of it */
	ask(128 * MIB, 1e-3, 25e-3, SDR_OBJECTIVE_P999, 0.25);
	assert_true(out[0].derived.m > 0 && out[0].cost_s < 1.05 * out[0].derived.ideal_s);
	assert_true(out[0].point.scheme == SDR_MODEL_HYBRID ||
		    out[0].point.scheme == SDR_MODEL_EC_MDS);
	assert_true(of(SDR_MODEL_SR_NACK)->cost_s > 2 * out[0].cost_s);
	assert_true(of(SDR_MODEL_SR_RTO)->cost_s > of(SDR_MODEL_SR_NACK)->cost_s);
	/* XOR fails where MDS still holds */
	assert_true(of(SDR_MODEL_EC_XOR)->cost_s > 1.5 * of(SDR_MODEL_EC_MDS)->cost_s);
	/* a quarter of the messages loses a packet: a round trip, in the text */
	ask(128 * MIB, 1e-5, 25e-3, SDR_OBJECTIVE_P99, 0.25);
	assert_string_equal(of(SDR_MODEL_SR_NACK)->why,
			    "a lost packet costs 25 ms; 28 % of messages lose one");
	/* much longer than the path: parity only at its end */
	ask(8192 * MIB, 1e-3, 25e-3, SDR_OBJECTIVE_P99, 0.25);
	assert_int_equal(out[0].point.scheme, SDR_MODEL_HYBRID);
	assert_true(out[0].derived.cover > 0.2 && out[0].derived.cover < 0.6);
	assert_true(out[0].overhead < of(SDR_MODEL_EC_MDS)->overhead);
	/* no overhead, no codes */
	ask(128 * MIB, 1e-3, 25e-3, SDR_OBJECTIVE_P99, 0);
	assert_int_equal(count, 3);
	assert_int_equal(out[0].point.scheme, SDR_MODEL_SR_NACK);
	assert_true(out[0].overhead < 0.002);
}

/* The best of a grid is not worse than codes that are on it. */
static void advise__codes_are_the_best_there_are(void **state)
{
	static const double loss[] = { 1e-6, 1e-4, 1e-3, 1e-2 };
	unsigned i, k, m;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct sdr_model_point p;
		struct sdr_model_times t;

		ask(16 * MIB, loss[i], 25e-3, SDR_OBJECTIVE_P99, 0.25);
		for (k = 8; k <= 128; k *= 4) {
			for (m = 1; m * 4 <= k; m *= 2) {
				p = of(SDR_MODEL_EC_MDS)->point;
				p.k = k;
				p.m = m;
				assert_int_equal(sdr_model_predict(&p, &t, NULL, NULL), 0);
				assert_true(t.p99_s >= of(SDR_MODEL_EC_MDS)->cost_s * (1 - 1e-8));
			}
		}
	}
}

static void advise__holds_its_bounds(void **state)
{
	unsigned n, i, j, first[SDR_MODEL_SCHEMES] = { 0 };

	(void)state;
	seed = 5;
	for (n = 0; n < 60; n++) {
		uint64_t bytes = 1 + (uint64_t)pow(2, 32 * draw());
		double p = draw() < 0.1 ? 0 : pow(10, -7 * draw() - 1),
		       rtt = pow(10, -5 + 4.3 * draw());
		double most = draw() < 0.2 ? 0 : draw() * 0.5;
		enum sdr_objective objective = (enum sdr_objective)(n % 3);
		struct sdr_model_candidate again[SDR_MODEL_CANDIDATES];

		ask(bytes, p, rtt, objective, most);
		assert_in_range(count, 3, SDR_MODEL_CANDIDATES);
		assert_non_null(of(SDR_MODEL_SR_NACK));
		first[out[0].point.scheme]++;
		for (i = 0; i < count; i++) {
			const struct sdr_model_candidate *c = &out[i];
			double parity =
				(double)c->derived.parity_chunks / (double)c->derived.chunks;
			struct sdr_model_times t;
			struct sdr_model_derived d;
			double times[3];

			/* sorted, each scheme once, as the objective has it */
			assert_true(!i || c->cost_s >= out[i - 1].cost_s * (1 - 1e-8));
			for (j = 0; j < i; j++)
				assert_int_not_equal(out[j].point.scheme, c->point.scheme);
			times[0] = c->times.mean_s;
			times[1] = c->times.p99_s;
			times[2] = c->times.p999_s;
			assert_true(c->cost_s == times[objective]);
			assert_true(c->times.mean_s >= c->derived.ideal_s * (1 - 1e-9) &&
				    isfinite(c->times.mean_s));
			/* a lone packet may be sent twice, and few have two of parity */
			assert_true(parity <= most * (1 + 1e-9) ||
				    (most > 0 && c->derived.parity_chunks <= 2 &&
				     c->point.scheme == SDR_MODEL_HYBRID));
			assert_true(c->overhead >= parity * (1 - 1e-9) && isfinite(c->overhead));
			assert_true(strlen(c->why) > 20 && strlen(c->why) < sizeof(c->why) - 1);
			assert_null(strstr(c->why, "nan"));
			/* the same point gives the same answer */
			assert_int_equal(sdr_model_predict(&c->point, &t, &d, NULL), 0);
			if (c->point.scheme != SDR_MODEL_HYBRID || c->point.m) {
				assert_true(fabs(t.mean_s / c->times.mean_s - 1) < 1e-9);
				assert_true(fabs(t.p99_s / c->times.p99_s - 1) < 1e-9);
				assert_int_equal(d.parity_chunks, c->derived.parity_chunks);
			}
		}
		/* and so does the link */
		memcpy(again, out, sizeof(again));
		j = count;
		ask(bytes, p, rtt, objective, most);
		assert_int_equal(count, j);
		for (i = 0; i < count; i++) {
			assert_memory_equal(&again[i].times, &out[i].times, sizeof(out[i].times));
			assert_string_equal(again[i].why, out[i].why);
		}
	}
	assert_true(first[SDR_MODEL_SR_NACK] > 0 && first[SDR_MODEL_HYBRID] > 0);
}

/* The sentences say numbers as people do. */
static void advise__plain_words(void **state)
{
	struct sdr_model_point p;
	uint32_t i;

	(void)state;
	/* nothing is lost: the text does not say otherwise */
	ask(128 << 20, 0, 25e-3, SDR_OBJECTIVE_P99, 0.25);
	for (i = 0; i < count; i++)
		assert_non_null(strstr(out[i].why, "no message"));
	/* long and short times, large and small shares */
	for (i = 0; i < 4; i++) {
		ask(i & 1 ? 1ull << 46 : 3, 0.003, i & 2 ? 3000 : 1e-6, SDR_OBJECTIVE_P99, 0.25);
		for (uint32_t j = 0; j < count; j++)
			assert_null(strstr(out[j].why, "e+"));
	}
	/*
	 * bursts are the hybrid scheme's: the others lose packets one by one, in law and in text
	 */
	sdr_model_point_init(&p);
	p.p_packet = 0.01;
	p.burst_packets = 1e9;
	assert_int_equal(sdr_model_advise(&p, out, &count, NULL), 0);
	assert_non_null(strstr(of(SDR_MODEL_SR_NACK)->why, "nearly every message"));
	assert_non_null(strstr(of(SDR_MODEL_HYBRID)->why, "million"));
}

static void advise__refuses(void **state)
{
	struct sdr_model_point p;
	struct sdr_model_error err;

	(void)state;
	sdr_model_point_init(&p);
	count = 42;
	p.p_packet = 1;
	assert_int_equal(sdr_model_advise(&p, out, &count, &err), -EINVAL);
	assert_string_equal(err.field, "p_packet");
	p.p_packet = 0.1;
	p.rtt_s = NAN;
	assert_int_equal(sdr_model_advise(&p, out, &count, &err), -EINVAL);
	assert_string_equal(err.field, "rtt_s");
	p.rtt_s = 1;
	p.max_overhead = -1;
	assert_int_equal(sdr_model_advise(&p, out, &count, NULL), -EINVAL);
	p.max_overhead = 1;
	p.objective = (enum sdr_objective)3;
	assert_int_equal(sdr_model_advise(&p, out, &count, &err), -EINVAL);
	assert_string_equal(err.field, "objective");
	assert_int_equal(count, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(advise__known_regimes),
		cmocka_unit_test(advise__codes_are_the_best_there_are),
		cmocka_unit_test(advise__holds_its_bounds),
		cmocka_unit_test(advise__plain_words),
		cmocka_unit_test(advise__refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
