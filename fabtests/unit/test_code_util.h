/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What sdr_code.h promises, done by dealing out chunks one at a time: no division is shared with
 * the code under test.  A model says where each packet belongs, and counts by going over all of
 * them.
 */
#ifndef TEST_CODE_UTIL_H
#define TEST_CODE_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "fec/sdr_code.h"

struct place {
	uint32_t cw, pos;   /* of a parity packet: its row */
	uint32_t line, row; /* submessage and group; packet in the chunk */
};

struct model {
	struct sdr_code g;
	struct place *data, *par; /* by packet; data below first: nothing */
	uint32_t nsub, kmax, plan_chunks, groups;
	uint32_t *npos;	       /* by line */
	uint32_t *miss, *have; /* by codeword, of model_count */
};

static uint64_t rng_state = 0x2545f4914f6cdd1dull;

static inline uint64_t rng64(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return rng_state * 0x9e3779b97f4a7c15ull >> 8;
}

static inline uint32_t rng(uint32_t n)
{
	return (uint32_t)(rng64() % n);
}

static inline bool bit(const uint64_t *b, uint32_t i)
{
	return b[i / 64] >> (i % 64) & 1;
}

static inline void bit_set(uint64_t *b, uint32_t i, bool on)
{
	b[i / 64] = (b[i / 64] & ~(1ull << (i % 64))) | (uint64_t)on << (i % 64);
}

/*
 * Each of `n` bits is set, except with probability ppm; what lies around them in the words is
 * random.
 */
static inline void bits_random(uint64_t *b, uint32_t n, uint32_t ppm)
{
	uint32_t i;

	for (i = 0; i < n / 64 + 1; i++)
		b[i] = rng64() << 20 ^ rng64();
	for (i = 0; i < n; i++)
		bit_set(b, i, rng(1000000) >= ppm);
}

static inline void *zalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	assert_non_null(p);
	return p;
}

static inline void model_free(struct model *m)
{
	free(m->data);
	free(m->par);
	free(m->npos);
	free(m->miss);
	free(m->have);
}

/* m->g is made. */
static inline void model_make(struct model *m)
{
	const struct sdr_code *g = &m->g;
	const struct sdr_code_attr *a = &g->a;
	bool xor_code = a->kind == SDR_CODE_XOR, spread = a->flags & SDR_CODE_F_INTERLEAVE;
	uint32_t rpc = a->flags & SDR_CODE_F_CHUNK ? 1 : a->chunk_pkts, chunks = 0, pkt, i, q, s, r,
		 sub, at, row;
	uint32_t *size;

	for (pkt = a->first; pkt < g->npkts; pkt += a->chunk_pkts)
		chunks++;
	for (m->nsub = 1; m->nsub * a->k < chunks; m->nsub++)
		;
	size = zalloc(m->nsub, sizeof(*size));
	for (i = 0; i < chunks; i++)
		size[i % m->nsub]++;
	m->kmax = size[0];
	for (m->plan_chunks = 1; m->plan_chunks * a->k < m->kmax * a->m; m->plan_chunks++)
		;
	m->groups = xor_code ? (m->plan_chunks < m->kmax ? m->plan_chunks : m->kmax) : 1;
	if (xor_code)
		m->plan_chunks = m->groups;

	m->data = zalloc(g->npkts, sizeof(*m->data));
	m->par = zalloc(g->par_pkts, sizeof(*m->par));
	m->npos = zalloc((size_t)m->nsub * m->groups, sizeof(*m->npos));
	m->miss = zalloc((size_t)m->nsub * m->groups * rpc, sizeof(*m->miss));
	m->have = zalloc((size_t)m->nsub * m->groups * rpc, sizeof(*m->have));
	for (i = sub = at = 0, pkt = a->first; i < chunks; i++) {
		uint32_t line = sub * m->groups + at % m->groups;

		m->npos[line]++;
		for (r = 0; r < a->chunk_pkts && pkt < g->npkts; r++, pkt++) {
			row = rpc == 1 ? 0 : r;
			m->data[pkt] = (struct place){ line * rpc + row, at / m->groups, line, r };
		}
		if (spread) {
			if (++sub == m->nsub) {
				sub = 0;
				at++;
			}
		} else if (++at == size[sub]) {
			at = 0;
			sub++;
		}
	}
	for (pkt = q = 0; pkt < g->par_pkts; q++) {
		for (s = 0; s < m->nsub; s++) {
			for (r = 0; r < a->chunk_pkts; r++, pkt++) {
				uint32_t line = s * m->groups + (xor_code ? q : 0);

				row = rpc == 1 ? 0 : r;
				m->par[pkt] = (struct place){ line * rpc + row, xor_code ? 0 : q,
							      line, r };
			}
		}
	}
	assert_int_equal(pkt, g->par_pkts);
	free(size);
}

/* Fills miss and have; returns the codewords that lack. */
static inline uint32_t model_count(struct model *m, const uint64_t *data, const uint64_t *par)
{
	const struct sdr_code *g = &m->g;
	uint32_t sym = g->a.flags & SDR_CODE_F_CHUNK ? g->a.chunk_pkts : 1, i, j, lack = 0;

	memset(m->miss, 0, g->cws * sizeof(*m->miss));
	memset(m->have, 0, g->cws * sizeof(*m->have));
	for (i = g->a.first; i < g->npkts; i += sym) {
		bool there = true;

		for (j = i; j < i + sym && j < g->npkts; j++)
			there = there && bit(data, j);
		m->miss[m->data[i].cw] += !there;
	}
	for (i = 0; i < g->par_pkts; i += sym) {
		bool there = true;

		for (j = i; j < i + sym; j++)
			there = there && bit(par, j);
		m->have[m->par[i].cw] += there;
	}
	for (i = 0; i < g->cws; i++)
		lack += m->miss[i] > m->have[i];
	return lack;
}

#endif /* TEST_CODE_UTIL_H */
