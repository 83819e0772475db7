/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Bytes of a coded segment.  Packets of a chunk follow each other in memory, data and parity alike,
 * so whatever has the same pattern in neighbouring packets of the chunks of a line is one call of
 * the code: a whole chunk when it is encoded, and a whole chunk when it is lost as such.
 * Only the last chunk of the segment may be short; it is at the last position of its line, and
 * calls are cut where its bytes end: behind that it counts as zeros.
 *
 * Decoding goes by packets whatever the symbols: with CHUNK, counting has found enough whole
 * chunks, and then there are enough packets in each row.  So nothing but missing packets is
 * computed or written, and no scratch is needed. Codewords that lack are left alone.
 *
 * A kernel takes the sources a few at a time, and what it has of a sum lies in the output
 * meanwhile: a missing packet that somebody else writes there would become a source of its own.
 * Where that may be (apart), symbols are made piece by piece in memory of the work area, which a
 * core's second cache holds, and each piece is copied to its place when it is whole: over nothing,
 * or over the same bytes.
 *
 * No state; allocates the plan of a work area that meets a code for the first time, and the memory
 * for symbols with the first decoding apart.  Any thread, as long as the calls on one parity
 * message, one segment or one work area do not overlap.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_code_impl.h"

#define SYMS SDR_FEC_SYMS_MAX
/* bytes of sources by symbols made of them, of one step of a decoding: about a millisecond */
#define STEP_WORK   (32u << 20)
#define APART_ALIGN 64u /* bytes: a line of the cache */

/*
 * Where bytes from `lo` of each chunk of a line are.  At and behind the end of the last chunk:
 * nowhere.
 */
static void sources(const struct sdr_code *g, const struct sdr_code_line *l, const uint8_t *base,
		    uint64_t lo, const uint8_t **src)
{
	uint64_t pkt = l->data;
	uint32_t i;

	for (i = 0; i < l->npos; i++, pkt += l->dstep)
		src[i] = i + 1 < l->npos || lo < l->tail ? base + pkt * g->a.mtu + lo : NULL;
}

/* Bytes [lo, end) of the parity chunks [row, row + n) of a line. */
static void line_encode(const struct sdr_code *g, const struct sdr_fec *f,
			const struct sdr_code_line *l, const uint8_t *base, uint8_t *par,
			uint32_t row, uint32_t n, uint64_t lo, uint64_t end)
{
	const uint8_t *src[SYMS];
	uint8_t *out[SYMS];
	uint64_t hi;
	uint32_t j;

	for (; lo < end; lo = hi) {
		hi = lo < l->tail && l->tail < end ? l->tail : end;
		for (j = 0; j < n; j++)
			out[j] = par + (l->par + (row + j) * l->pstep) * g->a.mtu + lo;
		sources(g, l, base, lo, src);
		if (l->npos)
			sdr_fec_encode(f, l->npos, src, hi - lo, row, n, out);
		for (j = 0; !l->npos && j < n; j++)
			memset(out[j], 0, hi - lo);
	}
}

void sdr_code_make(const struct sdr_code *g, const struct sdr_fec *f, const uint8_t *base,
		   uint8_t *par, uint32_t pkt)
{
	uint64_t lo = (uint64_t)(pkt % g->a.chunk_pkts) * g->a.mtu;
	struct sdr_code_line l;
	uint32_t cw, row;

	sdr_code_of_parity(g, pkt, &cw, &row);
	sdr_code_line_get(g, cw / g->rpc, &l);
	line_encode(g, f, &l, base, par, row, 1, lo, lo + g->a.mtu);
}

void sdr_code_encode(const struct sdr_code *g, const struct sdr_fec *f, const uint8_t *base,
		     uint8_t *par, uint32_t sub)
{
	struct sdr_code_line l;
	uint32_t i;

	SDR_ASSERT(sub < g->nsub && sdr_fec_k(f) >= g->k_cw && sdr_fec_rows(f) >= g->plan);
	for (i = 0; i < g->groups; i++) {
		sdr_code_line_get(g, sub * g->groups + i, &l);
		line_encode(g, f, &l, base, par, 0, g->plan, 0,
			    (uint64_t)g->a.chunk_pkts * g->a.mtu);
	}
}

/* Packet rows [row, row + n) of a line that miss the same positions and have the same parity. */
struct pattern {
	uint32_t line, row, n; /* n = 0: none */
	uint32_t miss;
	uint8_t pos[SYMS], par[SYMS];
};

/*
 * What one packet row misses, and the first parity rows that replace it.  Exact for data; false:
 * too few parity rows.
 */
static bool pattern_get(const struct sdr_code *g, const struct sdr_code_line *l,
			const uint64_t *data, const uint64_t *parity, struct pattern *p)
{
	uint64_t pkt = l->data + p->row;
	uint32_t i, have = 0;

	p->miss = 0;
	for (i = 0; i < l->npos; i++, pkt += l->dstep)
		if (pkt < g->npkts && !sdr_bitmap_test(data, (uint32_t)pkt))
			p->pos[p->miss++] = (uint8_t)i;
	pkt = l->par + p->row;
	for (i = 0; i < g->rows && have < p->miss; i++, pkt += l->pstep)
		if (sdr_bitmap_test(parity, (uint32_t)pkt))
			p->par[have++] = (uint8_t)i;
	return have == p->miss;
}

/* It is as much as one step may be. */
static bool pattern_full(const struct sdr_code *g, const struct pattern *p, uint32_t npos)
{
	return (uint64_t)p->n * g->a.mtu * p->miss * npos >= STEP_WORK;
}

static bool pattern_extends(const struct pattern *p, const struct pattern *q)
{
	return p->n && p->line == q->line && p->row + p->n == q->row && p->miss == q->miss &&
	       !memcmp(p->pos, q->pos, p->miss) && !memcmp(p->par, q->par, p->miss);
}

/* Bytes of each of n symbols that are made at a time, apart from their places. */
static uint32_t apart_step(uint32_t n)
{
	return SDR_CODE_APART / n / APART_ALIGN * APART_ALIGN;
}

static void apart_run(const struct sdr_code_scratch *w, const uint8_t *const *src,
		      const uint8_t *const *from, uint64_t len, uint32_t n, uint8_t *const *out)
{
	uint32_t step = apart_step(n), i;
	uint8_t *own[SYMS];

	SDR_ASSERT(len <= step);
	for (i = 0; i < n; i++)
		own[i] = w->own + (size_t)i * step;
	sdr_fec_plan_run(w->plan, src, from, len, own);
	for (i = 0; i < n; i++)
		memcpy(out[i], own[i], len);
}

/* Decodes what a pattern describes. */
static void pattern_run(const struct sdr_code *g, const struct sdr_code_scratch *w, uint8_t *base,
			const uint8_t *par, const struct pattern *p)
{
	uint64_t lo = (uint64_t)p->row * g->a.mtu, end = lo + (uint64_t)p->n * g->a.mtu, hi;
	const uint8_t *src[SYMS], *from[SYMS];
	struct sdr_code_line l;
	uint8_t *out[SYMS];
	uint32_t i, miss = p->miss;

	sdr_code_line_get(g, p->line, &l);
	for (; lo < end; lo = hi) {
		hi = lo < l.tail && l.tail < end ? l.tail : end;
		if (miss && lo >= l.tail && p->pos[miss - 1] == l.npos - 1)
			miss--; /* behind its end the last chunk is known */
		if (!miss)
			return;
		if (w->apart && hi - lo > apart_step(miss))
			hi = lo + apart_step(miss);
		sources(g, &l, base, lo, src);
		for (i = 0; i < miss; i++) {
			out[i] = base + (l.data + p->pos[i] * l.dstep) * g->a.mtu + lo;
			src[p->pos[i]] = NULL;
			from[i] = par + (l.par + p->par[i] * l.pstep) * g->a.mtu + lo;
		}
		SDR_ASSERT(miss <= l.npos);
		sdr_fec_plan_set(w->plan, l.npos, miss, p->pos, p->par);
		if (w->apart)
			apart_run(w, src, from, hi - lo, miss, out);
		else
			sdr_fec_plan_run(w->plan, src, from, hi - lo, out);
	}
}

static int plan_ready(struct sdr_code_scratch *w, const struct sdr_fec *f)
{
	int ret;

	if (w->plan && w->plan_of == f && w->plan_k == sdr_fec_k(f) &&
	    w->plan_rows == sdr_fec_rows(f))
		return 0;
	sdr_fec_plan_destroy(w->plan);
	w->plan = NULL;
	ret = sdr_fec_plan_create(f, &w->plan);
	if (ret) {
		w->plan = NULL;
		return ret;
	}
	w->plan_of = f;
	w->plan_k = sdr_fec_k(f);
	w->plan_rows = sdr_fec_rows(f);
	return 0;
}

int sdr_code_decode_begin(const struct sdr_code *g, const struct sdr_fec *f,
			  struct sdr_code_scratch *w, const uint64_t *data, const uint64_t *parity,
			  bool apart)
{
	int ret;

	SDR_ASSERT(sdr_fec_k(f) >= g->k_cw && sdr_fec_rows(f) >= g->rows);
	w->apart = apart;
	if (apart && !w->own)
		w->own = aligned_alloc(APART_ALIGN, SDR_CODE_APART);
	if (apart && !w->own)
		return -ENOMEM;
	ret = sdr_code_count(g, w, data, parity);
	return ret < 0 ? ret : plan_ready(w, f);
}

void sdr_code_decode_again(struct sdr_code_scratch *w)
{
	SDR_ASSERT(w->plan);
	sdr_fec_plan_forget(w->plan);
}

uint64_t sdr_code_decode_work(const struct sdr_code *g, const struct sdr_code_scratch *w)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < w->ntouched; i++) {
		uint32_t cw = w->touched[i];

		if (w->miss[cw] <= w->have[cw])
			sum += (uint64_t)w->miss[cw] * sdr_code_positions(g, cw);
	}
	return sum * g->sym_pkts * g->a.mtu;
}

/* From row *row of the codeword *at on: those of one pattern, which may be of several codewords. */
static uint32_t pattern_gather(const struct sdr_code *g, const struct sdr_code_scratch *w,
			       const uint64_t *data, const uint64_t *parity, uint32_t *at,
			       uint32_t *row, struct pattern *cur)
{
	struct sdr_code_line l;
	struct pattern next;
	uint32_t cw, n = 0;

	cur->n = 0;
	for (; *at < w->ntouched; ++*at, *row = 0) {
		cw = w->touched[*at];
		if (w->miss[cw] > w->have[cw])
			continue;
		next.line = cw / g->rpc;
		sdr_code_line_get(g, next.line, &l);
		for (; *row < g->sym_pkts; ++*row) {
			next.row = cw % g->rpc * g->sym_pkts + *row;
			next.n = 1;
			if (!pattern_get(g, &l, data, parity, &next) || !next.miss)
				continue;
			if (cur->n &&
			    (!pattern_extends(cur, &next) || pattern_full(g, cur, l.npos)))
				return n;
			n += next.miss;
			if (cur->n)
				cur->n++;
			else
				*cur = next;
		}
	}
	return n;
}

uint32_t sdr_code_decode_step(const struct sdr_code *g, const struct sdr_code_scratch *w,
			      uint8_t *base, const uint8_t *par, const uint64_t *data,
			      const uint64_t *parity, struct sdr_code_at *at)
{
	struct pattern cur;
	uint32_t n = pattern_gather(g, w, data, parity, &at->i, &at->row, &cur);

	if (cur.n)
		pattern_run(g, w, base, par, &cur);
	return n;
}

int sdr_code_decode(const struct sdr_code *g, const struct sdr_fec *f, struct sdr_code_scratch *w,
		    uint8_t *base, const uint8_t *par, const uint64_t *data, const uint64_t *parity,
		    bool apart)
{
	struct sdr_code_at at = { 0, 0 };
	uint32_t n, written = 0;
	int ret = sdr_code_decode_begin(g, f, w, data, parity, apart);

	if (ret)
		return ret;
	while ((n = sdr_code_decode_step(g, w, base, par, data, parity, &at)))
		written += n;
	return (int)written;
}
