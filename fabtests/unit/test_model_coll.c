/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Collectives: golden numbers, times worked out by hand, links of all kinds, and what is refused.
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

static struct sdr_model_coll *make(enum sdr_model_collective kind, uint32_t nodes, uint64_t bytes,
				   const struct sdr_model_point *links, uint32_t nlinks,
				   double compute_s)
{
	struct sdr_model_coll_attr attr = {
		.kind = kind,
		.nodes = nodes,
		.buffer_bytes = bytes,
		.links = links,
		.nlinks = nlinks,
		.compute_s = compute_s,
	};
	struct sdr_model_error err = { "", "" };
	struct sdr_model_coll *c = NULL;

	if (sdr_model_coll_create(&attr, &c, &err))
		fail_msg("%s: %s", err.field, err.text);
	return c;
}

static double one(const struct sdr_model_coll *c)
{
	double t;

	sdr_model_coll_sample(c, 1, 0, 1, &t);
	return t;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
}

static void coll__golden(void **state)
{
	struct sdr_model_times s = { .mean_s = 0 };
	struct sdr_model_point p;
	struct sdr_model_coll *c;
	uint32_t rounds, seen = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(golden) / sizeof(*golden); i++) {
		const struct golden *g = &golden[i];
		const double *got[4] = { &s.mean_s, &s.p50_s, &s.p99_s, &s.p999_s };
		double slack;

		if (!g->nodes)
			continue;
		golden_point(g, &p);
		c = make(SDR_MODEL_RING_ALLREDUCE, g->nodes, g->msg_bytes, &p, 1, 0);
		rounds = 2 * g->nodes - 2;
		assert_int_equal(sdr_model_coll_rounds(c), rounds);
		if (fabs(sdr_model_coll_step(c) / g->step_s - 1) > 1e-6)
			fail_msg("%s: a step of %.9g, it is %.9g", g->id, sdr_model_coll_step(c),
				 g->step_s);
		assert_true(fabs(sdr_model_coll_bound(c) / rounds / g->step_s - 1) < 1e-6);
		sdr_model_coll_sample(c, 1, 0, N, t_s);
		sdr_model_summary(t_s, N, &s);
		assert_true(sdr_model_coll_bound(c) <= s.mean_s);
		assert_true(sdr_model_coll_ideal(c) <= t_s[0]);
		/* the numbers are of steps from a table: up to a chunk's time a round */
		slack = rounds * 8.0 * p.chunk_bytes / p.bandwidth_bps;
		for (int q = 0; q < 4; q++) {
			if (*got[q] < g->bounds[q][0] - slack || *got[q] > g->bounds[q][1] + slack)
				fail_msg("%s: value %d is %.9g, not in %.9g..%.9g", g->id, q,
					 *got[q], g->bounds[q][0], g->bounds[q][1]);
		}
		if (fabs(s.mean_s / g->mean_s - 1) > 0.005)
			fail_msg("%s: mean %.9g, it is %.9g", g->id, s.mean_s, g->mean_s);
		sdr_model_coll_destroy(c);
		seen++;
	}
	assert_int_equal(seen, 3);
}

/*
 * Two nodes: each of the two rounds begins when both are done, so the mean is that of two maxima of
 * two steps. A chunk takes 1 us and all times are whole us, so the mean is a sum over the us at
 * which something is not done.
 */
static void coll__two_nodes_exactly(void **state)
{
	const double u = 1e-6, p = 0.02, rtt = 20, overhead = 41;
	const int chunks = 64;
	struct sdr_model_point point;
	struct sdr_model_coll *c;
	struct sdr_model_times s = { .mean_s = 0 };
	double mean = 0, cdf = 0, dev = 0;

	(void)state;
	sdr_model_point_init(&point);
	point.scheme = SDR_MODEL_SR_RTO;
	point.bandwidth_bps = 8e9;
	point.rtt_s = rtt * u;
	point.rto_rtts = 2;
	point.mtu_bytes = point.chunk_bytes = 1000;
	point.p_packet = p;
	for (int at = 0; at < 5000; at++) {
		cdf = 1;
		for (int i = 1; i <= chunks; i++)
			cdf *= at - rtt < i ? 0 : 1 - pow(p, floor((at - rtt - i) / overhead) + 1);
		mean += 2 * (1 - cdf * cdf);
	}
	assert_true(1 - cdf < 1e-15);
	/* half a chunk more than one chunk less of a share: rounded up twice */
	c = make(SDR_MODEL_RING_ALLREDUCE, 2, (uint64_t)(2 * chunks - 1) * 1000 - 500, &point, 1,
		 0);
	sdr_model_coll_sample(c, 9, 0, N, t_s);
	sdr_model_summary(t_s, N, &s);
	for (size_t i = 0; i < N; i++)
		dev += (t_s[i] - s.mean_s) * (t_s[i] - s.mean_s);
	dev = sqrt(dev / N / N);
	if (fabs(s.mean_s - mean * u) > 5 * dev)
		fail_msg("mean %.9g, it is %.9g", s.mean_s, mean * u);
	sdr_model_coll_destroy(c);
}

static void coll__by_index(void **state)
{
	struct sdr_model_coll *c;
	struct sdr_model_point p;
	size_t i, part, same = 0;

	(void)state;
	sdr_model_point_init(&p);
	p.p_packet = 1e-4;
	for (int kind = 0; kind < SDR_MODEL_COLLECTIVES; kind++) {
		c = make((enum sdr_model_collective)kind, 5, 1u << 26, &p, 1, 1e-4);
		sdr_model_coll_sample(c, 3, 1000, 500, t_s);
		for (i = 500, part = 1; i; i -= part) {
			part = part % 7 + 1 < i ? part % 7 + 1 : i;
			sdr_model_coll_sample(c, 3, 1000 + i - part, part, u_s + i - part);
		}
		assert_memory_equal(t_s, u_s, 500 * sizeof(*t_s));
		sdr_model_coll_sample(c, 4, 1000, 500, u_s);
		for (i = 0; i < 500; i++)
			same += t_s[i] == u_s[i];
		sdr_model_coll_destroy(c);
	}
	assert_true(same < 500);
}

/*
 * For each kind and number of nodes: the rounds, and the time without loss, worked out from the
 * schedule.
 */
static void coll__lossless(void **state)
{
	static const struct {
		enum sdr_model_collective kind;
		uint32_t nodes, rounds, computes;
	} way[] = {
		{ SDR_MODEL_RING_ALLREDUCE, 2, 2, 2 },
		{ SDR_MODEL_RING_ALLREDUCE, 7, 12, 12 },
		{ SDR_MODEL_RING_ALLREDUCE, 1024, 2046, 2046 },
		{ SDR_MODEL_REDUCE_SCATTER, 7, 6, 6 },
		{ SDR_MODEL_ALLGATHER, 7, 6, 6 },
		{ SDR_MODEL_TREE_ALLREDUCE, 2, 2, 2 },
		/* 1>0 3>2, 2>0, 4>0; 0>4, 0>2, 0>1 and 2>3, which adds the compute of 2 */
		{ SDR_MODEL_TREE_ALLREDUCE, 5, 6, 5 },
		/* down 0>4>6>7: three that compute */
		{ SDR_MODEL_TREE_ALLREDUCE, 8, 6, 6 },
	};
	struct sdr_model_coll *c;
	struct sdr_model_point p;
	double step, want;
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(way) / sizeof(*way); i++) {
		for (int scheme = SDR_MODEL_IDEAL; scheme <= SDR_MODEL_EC_XOR; scheme++) {
			/* 8 chunks per step, 2 parity chunks with (8, 2) */
			sdr_model_point_init(&p);
			p.scheme = (enum sdr_model_scheme)scheme;
			p.k = 8;
			p.m = 2;
			bytes = 8ull * p.chunk_bytes;
			if (way[i].kind != SDR_MODEL_TREE_ALLREDUCE)
				bytes *= way[i].nodes;
			c = make(way[i].kind, way[i].nodes, bytes, &p, 1, 3e-3);
			step = 8.0 * 8 * p.chunk_bytes / p.bandwidth_bps;
			want = way[i].rounds * (step + p.rtt_s) + way[i].computes * 3e-3;
			assert_true(near(sdr_model_coll_ideal(c), want));
			step = (scheme >= SDR_MODEL_EC_MDS ? 1.25 : 1) * step + p.rtt_s;
			want = way[i].rounds * step + way[i].computes * 3e-3;
			assert_int_equal(sdr_model_coll_rounds(c), way[i].rounds);
			assert_true(near(sdr_model_coll_step(c), step));
			assert_true(near(one(c), want));
			assert_true(near(sdr_model_coll_bound(c), want));
			sdr_model_coll_destroy(c);
		}
	}
}

static void coll__bound_is_below(void **state)
{
	static const enum sdr_model_scheme scheme[] = { SDR_MODEL_SR_RTO, SDR_MODEL_SR_NACK,
							SDR_MODEL_EC_MDS, SDR_MODEL_EC_XOR,
							SDR_MODEL_HYBRID };
	struct sdr_model_times s = { .mean_s = 0 };
	struct sdr_model_coll *c;
	struct sdr_model_point p;

	(void)state;
	for (int kind = 0; kind < SDR_MODEL_COLLECTIVES; kind++) {
		for (int i = 0; i < 5; i++) {
			sdr_model_point_init(&p);
			p.scheme = scheme[i];
			p.p_packet = i < 2 ? 1e-4 : i < 3 ? 5e-3 : 1e-3;
			c = make((enum sdr_model_collective)kind, 6, 40000000, &p, 1, 1e-3);
			sdr_model_coll_sample(c, 1, 0, 5000, t_s);
			sdr_model_summary(t_s, 5000, &s);
			assert_true(sdr_model_coll_ideal(c) < sdr_model_coll_bound(c));
			assert_true(sdr_model_coll_bound(c) < s.mean_s);
			/* and not absurdly */
			assert_true(s.mean_s < 3 * sdr_model_coll_bound(c));
			sdr_model_coll_destroy(c);
		}
	}
}

/* A matrix of equal links is the same as one link; what is not used may be anything. */
static void coll__matrix(void **state)
{
	struct sdr_model_point p, m[36], bad;
	struct sdr_model_coll *a, *b;
	uint32_t i, j;
	bool used;

	(void)state;
	sdr_model_point_init(&p);
	p.p_packet = 1e-4;
	bad = p;
	bad.p_packet = NAN;
	bad.rtt_s = -1;
	for (int kind = 0; kind < SDR_MODEL_COLLECTIVES; kind++) {
		for (i = 0; i < 6; i++) {
			for (j = 0; j < 6; j++) {
				/* a tree's nodes differ in the lowest bit of the child */
				used = kind != SDR_MODEL_TREE_ALLREDUCE
					       ? j == (i + 1) % 6
					       : i == (j & (j - 1)) || j == (i & (i - 1));
				m[i * 6 + j] = used && i != j ? p : bad;
			}
		}
		a = make((enum sdr_model_collective)kind, 6, 1u << 25, &p, 1, 1e-5);
		b = make((enum sdr_model_collective)kind, 6, 1u << 25, m, 36, 1e-5);
		sdr_model_coll_sample(a, 3, 0, 1000, t_s);
		sdr_model_coll_sample(b, 3, 0, 1000, u_s);
		assert_memory_equal(t_s, u_s, 1000 * sizeof(*t_s));
		assert_true(sdr_model_coll_bound(a) == sdr_model_coll_bound(b));
		assert_true(sdr_model_coll_step(a) == sdr_model_coll_step(b));
		sdr_model_coll_destroy(a);
		sdr_model_coll_destroy(b);
	}
}

/*
 * The nodes of a ring go at the speed of its slowest link; a tree pays for a link only where it is
 * on the way.
 */
static void coll__slow_link(void **state)
{
	struct sdr_model_point m[16];
	struct sdr_model_times s = { .mean_s = 0 };
	struct sdr_model_coll *c;
	double inj;

	(void)state;
	for (int i = 0; i < 16; i++) {
		sdr_model_point_init(&m[i]);
		m[i].rtt_s = 10e-3;
	}
	inj = 8.0 * 65536 * 16 / m[0].bandwidth_bps;
	m[2 * 4 + 3].rtt_s = 200e-3;
	c = make(SDR_MODEL_RING_ALLREDUCE, 4, 4 * 16 * 65536, m, 16, 1e-3);
	assert_true(near(one(c), 6 * (200e-3 + inj + 1e-3)));
	assert_true(near(sdr_model_coll_step(c), 200e-3 + inj));
	sdr_model_coll_destroy(c);
	/* 1>0 3>2; 2>0; 0>2; 0>1 2>3, the slow one */
	c = make(SDR_MODEL_TREE_ALLREDUCE, 4, 16 * 65536, m, 16, 1e-3);
	assert_true(near(one(c), 3 * 10e-3 + 200e-3 + 4 * (inj + 1e-3)));
	sdr_model_coll_destroy(c);
	m[2 * 4 + 3].rtt_s = 10e-3;
	m[3 * 4 + 1].rtt_s = 200e-3; /* in neither */
	c = make(SDR_MODEL_TREE_ALLREDUCE, 4, 16 * 65536, m, 16, 1e-3);
	assert_true(near(one(c), 4 * (10e-3 + inj + 1e-3)));
	sdr_model_coll_destroy(c);
	c = make(SDR_MODEL_RING_ALLREDUCE, 4, 4 * 16 * 65536, m, 16, 1e-3);
	assert_true(near(one(c), 6 * (10e-3 + inj + 1e-3)));
	sdr_model_coll_destroy(c);
	/*
	 * one link that loses much: never faster than its own steps, and the others hardly add to
	 * them
	 */
	m[1].p_packet = 0.05;
	c = make(SDR_MODEL_RING_ALLREDUCE, 4, 4 * 16 * 65536, m, 16, 0);
	sdr_model_coll_sample(c, 1, 0, 20000, t_s);
	sdr_model_summary(t_s, 20000, &s);
	assert_true(s.mean_s > 6 * sdr_model_coll_step(c) * 0.99);
	assert_true(s.mean_s < 6 * sdr_model_coll_step(c) * 1.15);
	assert_true(near(sdr_model_coll_bound(c), 6 * sdr_model_coll_step(c)));
	sdr_model_coll_destroy(c);
}

static void coll__refuses(void **state)
{
	struct sdr_model_point p, m[9];
	struct sdr_model_coll_attr good = { .kind = SDR_MODEL_RING_ALLREDUCE,
					    .nodes = 3,
					    .buffer_bytes = 1 },
				   bad;
	struct sdr_model_coll *c = NULL;
	struct sdr_model_error err;

	(void)state;
	sdr_model_point_init(&p);
	good.links = &p;
	good.nlinks = 1;

#define REFUSED(name, value)                                                      \
	do {                                                                      \
		bad = good;                                                       \
		bad.name = value;                                                 \
		memset(&err, 0, sizeof(err));                                     \
		assert_int_equal(sdr_model_coll_create(&bad, &c, &err), -EINVAL); \
		assert_string_equal(err.field, #name);                            \
		assert_true(strlen(err.text) > 5);                                \
		assert_int_equal(sdr_model_coll_create(&bad, &c, NULL), -EINVAL); \
		assert_null(c);                                                   \
	} while (0)

	REFUSED(kind, SDR_MODEL_COLLECTIVES);
	REFUSED(nodes, 0);
	REFUSED(nodes, 1);
	REFUSED(nodes, 1025);
	REFUSED(nodes, UINT32_MAX);
	REFUSED(buffer_bytes, 0);
	REFUSED(buffer_bytes, SDR_MODEL_BYTES_MAX + 1);
	REFUSED(links, NULL);
	REFUSED(nlinks, 0);
	REFUSED(nlinks, 3);
	REFUSED(nlinks, 10);
	REFUSED(compute_s, -1e-9);
	REFUSED(compute_s, NAN);
	REFUSED(compute_s, HUGE_VAL);
	REFUSED(compute_s, 1e300);

	/* a link: its field, and between which nodes */
	p.p_packet = 2;
	assert_int_equal(sdr_model_coll_create(&good, &c, &err), -EINVAL);
	assert_string_equal(err.field, "p_packet");
	p.p_packet = 0;
	for (int i = 0; i < 9; i++)
		m[i] = p;
	m[1 * 3 + 2].rtt_s = NAN;
	good.links = m;
	good.nlinks = 9;
	assert_int_equal(sdr_model_coll_create(&good, &c, &err), -EINVAL);
	assert_string_equal(err.field, "rtt_s");
	assert_non_null(strstr(err.text, "from 1 to 2"));
	assert_int_equal(sdr_model_coll_create(&good, &c, NULL), -EINVAL);
	assert_null(c);
	sdr_model_coll_destroy(NULL);
}

static void coll__names(void **state)
{
	static const char *const name[] = { "ring", "reduce_scatter", "allgather", "tree" };

	(void)state;
	for (int i = 0; i < SDR_MODEL_COLLECTIVES; i++)
		assert_string_equal(sdr_model_coll_name((enum sdr_model_collective)i), name[i]);
	assert_null(sdr_model_coll_name(SDR_MODEL_COLLECTIVES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(coll__golden),		cmocka_unit_test(coll__two_nodes_exactly),
		cmocka_unit_test(coll__by_index),	cmocka_unit_test(coll__lossless),
		cmocka_unit_test(coll__bound_is_below), cmocka_unit_test(coll__matrix),
		cmocka_unit_test(coll__slow_link),	cmocka_unit_test(coll__refuses),
		cmocka_unit_test(coll__names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
