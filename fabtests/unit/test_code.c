/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where the packets of a coded segment belong, and what is missing of it, against the model of
 * test_code_util.h; attributes that make no sense, at their limits and at random.
 */
#include <errno.h>
#include "test_code_util.h"

static const uint8_t kinds[] = { SDR_CODE_XOR, SDR_CODE_MDS };
static const uint16_t ks[] = { 1, 2, 10, 32, 64, 128, 255 };
static const uint16_t ms[] = { 1, 2, 4, 8, 16, 100 };
static const uint32_t cps[] = { 1, 4, 16, 64 };

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void geometry_check(struct model *m)
{
	const struct sdr_code *g = &m->g;
	uint32_t i, cw, pos, sym_pkt, sym = g->sym_pkts;

	assert_int_equal(g->nsub, m->nsub);
	assert_int_equal(g->kmax, m->kmax);
	assert_int_equal(g->groups, m->groups);
	assert_int_equal(g->groups * g->plan, m->plan_chunks);
	assert_int_equal(g->plan_pkts, m->plan_chunks * m->nsub * g->a.chunk_pkts);
	assert_true(g->plan_pkts <= g->par_pkts);
	assert_int_equal(g->par_pkts, g->groups * g->rows * m->nsub * g->a.chunk_pkts);
	assert_true(g->k_cw + g->rows <= SDR_FEC_SYMS_MAX);
	assert_int_equal(g->cws, m->nsub * m->groups * g->rpc);
	for (i = g->a.first; i < g->npkts; i++) {
		sdr_code_of_data(g, i, &cw, &pos);
		assert_int_equal(cw, m->data[i].cw);
		assert_int_equal(pos, m->data[i].pos);
		sym_pkt = i - m->data[i].row % sym;
		assert_int_equal(sdr_code_data_pkt(g, cw, pos), sym_pkt);
		assert_true(pos < sdr_code_positions(g, cw));
		assert_true(pos < g->k_cw);
	}
	for (i = 0; i < g->par_pkts; i++) {
		sdr_code_of_parity(g, i, &cw, &pos);
		assert_int_equal(cw, m->par[i].cw);
		assert_int_equal(pos, m->par[i].pos);
		sym_pkt = i - m->par[i].row % sym;
		assert_int_equal(sdr_code_parity_pkt(g, cw, pos), sym_pkt);
		assert_true(pos < g->rows);
		assert_int_equal(pos < g->plan, i < g->plan_pkts);
	}
	/*
	 * Data packets that do not exist are behind the end; a codeword has as many positions as
	 * its line has chunks.
	 */
	for (cw = 0; cw < g->cws; cw++) {
		assert_int_equal(sdr_code_positions(g, cw), m->npos[cw / g->rpc]);
		for (pos = 0; pos < m->npos[cw / g->rpc]; pos++) {
			i = sdr_code_data_pkt(g, cw, pos);
			assert_true(i >= g->npkts ||
				    (m->data[i].cw == cw && m->data[i].pos == pos));
		}
		assert_true(sdr_code_data_pkt(g, cw, pos) >= g->npkts);
	}
}

static void code__places_as_the_model(void **state)
{
	static const uint32_t npkts[] = { 1, 2, 3, 15, 16, 17, 61, 64, 65, 128, 509, 1024, 3001 };
	uint32_t i, kind, flags, k, mm, cp, n, seen = 0;
	struct model m;

	(void)state;
	for (i = 0; i < N(kinds) * N(ks) * N(ms) * N(cps) * N(npkts) * 4; i++) {
		kind = i % 2;
		flags = i / 2 % 4;
		k = ks[i / 8 % N(ks)];
		mm = ms[i / 8 / N(ks) % N(ms)];
		cp = cps[i / 8 / N(ks) / N(ms) % N(cps)];
		n = npkts[i / 8 / N(ks) / N(ms) / N(cps)];

		struct sdr_code_attr a = { .kind = kinds[kind],
					   .flags = (uint8_t)flags,
					   .k = (uint16_t)k,
					   .m = (uint16_t)mm,
					   .mtu = 1 + rng(8192),
					   .chunk_pkts = cp,
					   .first = rng(3) ? rng(n) : 0,
					   .parity_max = 1ull << 40 };

		a.len = (uint64_t)(n - 1) * a.mtu + 1 + rng(a.mtu);
		if (k + mm > SDR_FEC_SYMS_MAX) {
			assert_int_equal(sdr_code_init(&m.g, &a), -EINVAL);
			continue;
		}
		assert_int_equal(sdr_code_init(&m.g, &a), 0);
		assert_int_equal(m.g.npkts, n);
		if (n - a.first < cp)
			assert_int_equal(m.g.a.chunk_pkts, n - a.first);
		if (m.g.par_pkts > 40000) { /* room for the planned ones and a bit */
			a.parity_max = (m.g.plan_pkts + rng(1000)) * (uint64_t)a.mtu;
			assert_int_equal(sdr_code_init(&m.g, &a), 0);
			assert_true(m.g.par_pkts * (uint64_t)a.mtu <= a.parity_max);
		}
		if (m.g.par_pkts > 40000)
			continue;
		seen++;
		model_make(&m);
		geometry_check(&m);
		model_free(&m);
	}
	assert_true(seen > 10000);
}

static struct sdr_code_attr attr_good(void)
{
	return (struct sdr_code_attr){ .kind = SDR_CODE_MDS,
				       .k = 32,
				       .m = 8,
				       .mtu = 4096,
				       .chunk_pkts = 16,
				       .len = 128u << 20,
				       .parity_max = 1ull << 40 };
}

static void code__the_paper(void **state)
{
	struct sdr_code_attr a = attr_good();
	struct sdr_code g;

	(void)state;
	assert_int_equal(sdr_code_init(&g, &a), 0);
	assert_int_equal(g.npkts, 32768);
	assert_int_equal(g.chunks, 2048);
	assert_int_equal(g.nsub, 64);
	assert_int_equal(g.plan_pkts, 8192); /* 25 % */
	assert_int_equal(g.plan, 8);
	assert_int_equal(g.rows, 20); /* 8, half as many, and 8 */
	assert_int_equal(g.cws, 64 * 16);
	a.parity_max = 8192ull * 4096;
	assert_int_equal(sdr_code_init(&g, &a), 0);
	assert_int_equal(g.rows, 8);
	a.parity_max += 1023 * 4096;
	assert_int_equal(sdr_code_init(&g, &a), 0);
	assert_int_equal(g.rows, 8);
	a.parity_max += 4096;
	assert_int_equal(sdr_code_init(&g, &a), 0);
	assert_int_equal(g.rows, 9);
	a.k = 250;
	a.m = 6;
	a.chunk_pkts = 1;
	a.parity_max = 1ull << 40;
	/* 132 submessages of 248 and 249: the overhead stays */
	assert_int_equal(sdr_code_init(&g, &a), 0);
	assert_int_equal(g.kmax, 249);
	assert_int_equal(g.plan, 6);
	assert_int_equal(g.rows, 7); /* the field ends */
	a.len = 10 * 4096;
	assert_int_equal(sdr_code_init(&g, &a), 0);
	assert_int_equal(g.plan, 1);
}

static void code__bad_attributes(void **state)
{
	struct sdr_code_attr a;
	struct sdr_code g;

	(void)state;
#define REFUSED(change)                                           \
	do {                                                      \
		a = attr_good();                                  \
		assert_int_equal(sdr_code_init(&g, &a), 0);       \
		change;                                           \
		assert_int_equal(sdr_code_init(&g, &a), -EINVAL); \
	} while (0)
	REFUSED(a.kind = SDR_CODE_NONE);
	REFUSED(a.kind = 3);
	REFUSED(a.flags = 4);
	REFUSED(a.k = 0);
	REFUSED(a.m = 0);
	REFUSED(a.k = 249);
	REFUSED(a.k = 65535);
	REFUSED(a.m = 65535);
	REFUSED(a.mtu = 0);
	REFUSED(a.chunk_pkts = 0);
	REFUSED(a.len = 0);
	REFUSED(a.first = 32768);
	REFUSED(a.first = UINT32_MAX);
	REFUSED(a.parity_max = 0);
	REFUSED(a.parity_max = 8192ull * 4096 - 1);
	REFUSED(a.len = 1ull << 43); /* 2^31 packets */
	REFUSED(a.len = UINT64_MAX);
	REFUSED((a.len = 1ull << 41, a.k = 1, a.m = 100)); /* of parity */
	REFUSED((a.len = 1ull << 31, a.mtu = 1));
}

/* Whatever comes from a peer: refused, or what is promised holds. */
static void code__attributes_at_random(void **state)
{
	uint32_t i, j, cw, pos, pkt, good = 0;
	struct sdr_code_attr a;
	struct sdr_code g;

	(void)state;
	for (i = 0; i < 300000; i++) {
		a = (struct sdr_code_attr){ .kind = (uint8_t)rng(4),
					    .flags = (uint8_t)rng(5),
					    .k = (uint16_t)(rng(4) ? rng(200) : rng64()),
					    .m = (uint16_t)(rng(4) ? rng(60) : rng64()),
					    .mtu = (uint32_t)(rng64() >> rng(40)),
					    .chunk_pkts = (uint32_t)(rng64() >> rng(40)),
					    .len = rng64() >> (8 + rng(46)),
					    .first = (uint32_t)(rng(2) ? rng64() >> rng(40) : 0),
					    .parity_max =
						    rng(2) ? UINT64_MAX : rng64() >> rng(50) };
		if (sdr_code_init(&g, &a))
			continue;
		good++;
		assert_true(g.plan_pkts && g.plan_pkts <= g.par_pkts && g.par_pkts <= INT32_MAX);
		assert_true((uint64_t)g.par_pkts * a.mtu <= a.parity_max);
		assert_true(g.rows >= g.plan && g.k_cw + g.rows <= SDR_FEC_SYMS_MAX &&
			    g.kmax <= a.k);
		assert_true((uint64_t)g.nsub * g.kmax >= g.chunks);
		assert_true(g.big && g.big <= g.nsub);
		assert_true((uint64_t)g.plan_pkts * a.k >=
			    (uint64_t)g.kmax * g.nsub * g.a.chunk_pkts);
		for (j = 0; j < 8; j++) {
			pkt = j ? g.a.first + rng(g.npkts - g.a.first) : g.npkts - 1;
			sdr_code_of_data(&g, pkt, &cw, &pos);
			assert_true(cw < g.cws && pos < sdr_code_positions(&g, cw) && pos < g.k_cw);
			assert_int_equal(sdr_code_data_pkt(&g, cw, pos),
					 pkt - (pkt - g.a.first) % g.sym_pkts);
			pkt = j ? rng(g.par_pkts) : g.par_pkts - 1;
			sdr_code_of_parity(&g, pkt, &cw, &pos);
			assert_true(cw < g.cws && pos < g.rows);
			assert_int_equal(sdr_code_parity_pkt(&g, cw, pos), pkt - pkt % g.sym_pkts);
		}
	}
	assert_true(good > 5000);
}

/* A segment of up to `max` packets with a code that suits it. */
static void code_random(struct sdr_code *g, uint32_t max)
{
	uint32_t n = 1 + rng(max);
	struct sdr_code_attr a = { .kind = kinds[rng(2)],
				   .flags = (uint8_t)rng(4),
				   .k = (uint16_t)(1 + rng(rng(2) ? 8 : 64)),
				   .m = (uint16_t)(1 + rng(rng(2) ? 4 : 16)),
				   .mtu = 1024,
				   .chunk_pkts = 1 + rng(rng(2) ? 4 : 20),
				   .first = rng(2) ? rng(n) : 0,
				   .len = n * 1024ull - rng(1024),
				   .parity_max = 1u << 30 };

	assert_int_equal(sdr_code_init(g, &a), 0);
	if (rng(2)) {
		a.parity_max = g->plan_pkts * 1024ull;
		assert_int_equal(sdr_code_init(g, &a), 0);
	}
}

static void count_check(struct model *m, struct sdr_code_scratch *w, const uint64_t *data,
			const uint64_t *par)
{
	uint32_t i, n = 0, lack = model_count(m, data, par);

	assert_int_equal(sdr_code_count(&m->g, w, data, par), lack);
	for (i = 0; i < m->g.cws; i++) {
		if (!m->miss[i])
			continue;
		assert_true(n < w->ntouched);
		assert_int_equal(w->touched[n++], i);
		assert_int_equal(w->miss[i], m->miss[i]);
		assert_int_equal(w->have[i], m->have[i]);
	}
	assert_int_equal(n, w->ntouched);
}

static void code__counts_as_the_model(void **state)
{
	static const uint32_t ppm[] = { 0, 1000, 30000, 200000, 700000, 1000000 };
	struct sdr_code_scratch w = { 0 };
	uint64_t *data, *par;
	struct model m;
	uint32_t i, j;

	(void)state;
	for (i = 0; i < 1500; i++) {
		code_random(&m.g, 600);
		model_make(&m);
		data = zalloc(m.g.npkts / 64 + 1, 8);
		par = zalloc(m.g.par_pkts / 64 + 1, 8);
		for (j = 0; j < 6; j++) {
			bits_random(data, m.g.npkts, ppm[rng(N(ppm))]);
			bits_random(par, m.g.par_pkts, ppm[rng(N(ppm))]);
			count_check(&m, &w, data, par);
		}
		model_free(&m);
		free(data);
		free(par);
	}
	sdr_code_scratch_destroy(&w);
	assert_null(w.touched);
}

/* Packets arrive in some order: first data, then parity, with reordering; or anyhow. */
static void code__lacks_until_it_does_not(void **state)
{
	uint32_t i, j, k, total, swap, stuck_cw, *order, decodable = 0;
	struct sdr_code_scratch w = { 0 };
	uint64_t *data, *par;
	bool lacking, lacks;
	struct model m;

	(void)state;
	for (i = 0; i < 250; i++) {
		code_random(&m.g, 200);
		model_make(&m);
		data = zalloc(m.g.npkts / 64 + 1, 8);
		par = zalloc(m.g.par_pkts / 64 + 1, 8);
		total = m.g.npkts + (rng(3) ? m.g.plan_pkts : m.g.par_pkts);
		order = zalloc(total, sizeof(*order));
		for (j = 0; j < total; j++)
			order[j] = j;
		for (j = 0; j < total; j++) {
			k = j + rng(i % 2 ? total - j : (total - j < 5 ? total - j : 5));
			swap = order[j];
			order[j] = order[k];
			order[k] = swap;
		}
		stuck_cw = UINT32_MAX;
		lacks = true;
		for (j = 0; j < total && lacks; j++) {
			if (rng(20) == 0)
				continue; /* lost */
			if (order[j] < m.g.npkts)
				bit_set(data, order[j], true);
			else
				bit_set(par, order[j] - m.g.npkts, true);
			lacks = model_count(&m, data, par) > 0;
			lacking = sdr_code_lacking(&m.g, &w, data, par, &stuck_cw);
			assert_int_equal(lacking, lacks);
			if (lacking)
				assert_true(m.miss[stuck_cw] > m.have[stuck_cw]);
		}
		decodable += !lacks;
		model_free(&m);
		free(data);
		free(par);
		free(order);
	}
	assert_in_range(decodable, 50, 250);
	sdr_code_scratch_destroy(&w);
}

/*
 * The paper's condition for XOR, k a multiple of m: a group is lost when two of its k / m + 1
 * chunks are.
 */
static void code__xor_groups(void **state)
{
	struct sdr_code_attr a = {
		.kind = SDR_CODE_XOR, .k = 8, .m = 4, .mtu = 1, .chunk_pkts = 1, .len = 8
	};
	uint32_t pattern, i, j, lost, lack;
	struct sdr_code_scratch w = { 0 };
	uint64_t data, par;
	struct sdr_code g;

	(void)state;
	a.parity_max = 4;
	assert_int_equal(sdr_code_init(&g, &a), 0);
	assert_int_equal(g.par_pkts, 4);
	for (pattern = 0; pattern < 1u << 12; pattern++) {
		data = pattern & 255;
		par = pattern >> 8;
		for (i = lack = 0; i < 4; i++) {
			for (j = i, lost = !(par >> i & 1); j < 8; j += 4)
				lost += !(data >> j & 1);
			/* Lost parity alone does no harm. */
			lack += lost > 1 && (data >> i & 1) + (data >> (i + 4) & 1) < 2;
		}
		assert_int_equal(sdr_code_count(&g, &w, &data, &par), lack);
	}
	sdr_code_scratch_destroy(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code__places_as_the_model),
		cmocka_unit_test(code__the_paper),
		cmocka_unit_test(code__bad_attributes),
		cmocka_unit_test(code__attributes_at_random),
		cmocka_unit_test(code__counts_as_the_model),
		cmocka_unit_test(code__lacks_until_it_does_not),
		cmocka_unit_test(code__xor_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
