/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Geometry of a coded segment, and what is missing of it.  Everything follows from the attributes,
 * by division; nothing is stored per packet.  Invariants: every covered data packet and every
 * parity packet belongs to exactly one codeword and position; all packet numbers, one chunk behind
 * the end included, fit 32 bits; nothing is planned that parity_max does not hold.  The attributes
 * may come from the network: any values are safe, refused or not.
 *
 * Counting walks the clear bits of the data bitmap, so its cost grows with what is missing, not
 * with what is there; parity is looked up for codewords that miss something, as far as parity has
 * come.  Between two counts one codeword that lacked is looked at instead: where much is
 * missing it is the one that will be complete last. Allocates when a work area meets a larger
 * segment than ever before.  No timers; one thread a work area.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/sdr_assert.h"
#include "sdr_code_impl.h"

#define SDR_CODE_PKTS_MAX INT32_MAX /* packets of data, and of parity */
/* parity rows on demand: half as many as planned, and so many more */
#define SDR_CODE_DEMAND_MORE 8u

static uint64_t div_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool attr_sane(const struct sdr_code_attr *a)
{
	return (a->kind == SDR_CODE_XOR || a->kind == SDR_CODE_MDS) &&
	       !(a->flags & ~SDR_CODE_FLAGS) && a->k && a->m &&
	       (uint32_t)a->k + a->m <= SDR_FEC_SYMS_MAX && a->mtu && a->chunk_pkts && a->len;
}

int sdr_code_init(struct sdr_code *g, const struct sdr_code_attr *attr)
{
	uint64_t npkts, covered, chunk_pkts, row_pkts, mprime, par_chunks;
	struct sdr_code c = { .a = *attr };

	if (!attr_sane(attr))
		return -EINVAL;
	npkts = div_up(attr->len, attr->mtu);
	if (npkts > SDR_CODE_PKTS_MAX || attr->first >= npkts)
		return -EINVAL;
	covered = npkts - attr->first;
	chunk_pkts = min64(attr->chunk_pkts, covered);
	c.a.chunk_pkts = (uint32_t)chunk_pkts;
	c.npkts = (uint32_t)npkts;
	c.chunks = (uint32_t)div_up(covered, chunk_pkts);
	c.nsub = (uint32_t)div_up(c.chunks, attr->k);
	c.kmax = (uint32_t)div_up(c.chunks, c.nsub);
	c.big = c.chunks - c.nsub * (c.kmax - 1);

	mprime = div_up((uint64_t)c.kmax * attr->m, attr->k); /* <= m, since kmax <= k */
	c.groups = attr->kind == SDR_CODE_XOR ? (uint32_t)min64(mprime, c.kmax) : 1;
	c.plan = attr->kind == SDR_CODE_XOR ? 1 : (uint32_t)mprime;
	c.k_cw = (uint32_t)div_up(c.kmax, c.groups);
	c.sym_pkts = attr->flags & SDR_CODE_F_CHUNK ? c.a.chunk_pkts : 1;
	c.rpc = c.a.chunk_pkts / c.sym_pkts;

	/* a parity chunk of each submessage; at most twice the covered packets */
	row_pkts = c.nsub * chunk_pkts;
	par_chunks = (uint64_t)c.groups * c.plan;
	if (par_chunks * row_pkts > SDR_CODE_PKTS_MAX ||
	    par_chunks * row_pkts * attr->mtu > attr->parity_max)
		return -EINVAL;
	c.plan_pkts = (uint32_t)(par_chunks * row_pkts);
	c.rows = 1;
	if (attr->kind == SDR_CODE_MDS) {
		par_chunks = min64(SDR_FEC_SYMS_MAX - c.kmax,
				   mprime + mprime / 2 + SDR_CODE_DEMAND_MORE);
		par_chunks = min64(par_chunks, SDR_CODE_PKTS_MAX / row_pkts);
		par_chunks = min64(par_chunks, attr->parity_max / (row_pkts * attr->mtu));
		c.rows = (uint32_t)par_chunks;
	}
	c.par_pkts = (uint32_t)(par_chunks * row_pkts);
	c.cws = (uint32_t)((uint64_t)c.nsub * c.groups * c.rpc);
	SDR_ASSERT(c.k_cw + c.rows <= SDR_FEC_SYMS_MAX && c.plan_pkts <= c.par_pkts);
	*g = c;
	return 0;
}

/* Data chunks of a submessage. */
static uint32_t sub_chunks(const struct sdr_code *g, uint32_t sub)
{
	return g->kmax - (sub >= g->big);
}

/* The chunk at position 0 of a submessage. */
static uint32_t sub_first(const struct sdr_code *g, uint32_t sub)
{
	if (g->a.flags & SDR_CODE_F_INTERLEAVE)
		return sub;
	return sub * g->kmax - (sub > g->big ? sub - g->big : 0);
}

void sdr_code_line_get(const struct sdr_code *g, uint32_t line, struct sdr_code_line *l)
{
	uint32_t sub = line / g->groups, group = line % g->groups, n = sub_chunks(g, sub);
	uint64_t pkts = g->a.chunk_pkts, step = g->a.flags & SDR_CODE_F_INTERLEAVE ? g->nsub : 1;
	uint64_t last; /* chunk at the last position */

	SDR_ASSERT(sub < g->nsub && n <= g->kmax);
	l->npos = (n - group + g->groups - 1) / g->groups;
	l->data = g->a.first + (sub_first(g, sub) + group * step) * pkts;
	l->dstep = g->groups * step * pkts;
	l->par = ((uint64_t)group * g->nsub + sub) * pkts;
	l->pstep = g->nsub * pkts;
	l->tail = pkts * g->a.mtu;
	if (!l->npos)
		return;
	last = l->data + (l->npos - 1) * l->dstep;
	if (g->a.len - last * g->a.mtu < l->tail)
		l->tail = g->a.len - last * g->a.mtu;
	SDR_ASSERT(l->npos <= g->k_cw && l->tail > 0);
}

void sdr_code_of_data(const struct sdr_code *g, uint32_t pkt, uint32_t *cw, uint32_t *pos)
{
	uint32_t chunk = (pkt - g->a.first) / g->a.chunk_pkts,
		 row = (pkt - g->a.first) % g->a.chunk_pkts;
	uint32_t sub, at, lead = g->big * g->kmax; /* chunks of the big ones */

	SDR_ASSERT(pkt >= g->a.first && pkt < g->npkts);
	if (g->a.flags & SDR_CODE_F_INTERLEAVE) {
		sub = chunk % g->nsub;
		at = chunk / g->nsub;
	} else if (chunk < lead) {
		sub = chunk / g->kmax;
		at = chunk % g->kmax;
	} else {
		sub = g->big + (chunk - lead) / (g->kmax - 1);
		at = (chunk - lead) % (g->kmax - 1);
	}
	*cw = (sub * g->groups + at % g->groups) * g->rpc + row / g->sym_pkts;
	*pos = at / g->groups;
	SDR_ASSERT(*cw < g->cws && *pos < g->k_cw);
}

void sdr_code_of_parity(const struct sdr_code *g, uint32_t pkt, uint32_t *cw, uint32_t *row)
{
	uint32_t chunk = pkt / g->a.chunk_pkts, side = chunk / g->nsub, sub = chunk % g->nsub;
	bool beside = g->a.kind == SDR_CODE_XOR; /* a parity chunk a group */

	SDR_ASSERT(pkt < g->par_pkts);
	*cw = (sub * g->groups + (beside ? side : 0)) * g->rpc +
	      pkt % g->a.chunk_pkts / g->sym_pkts;
	*row = beside ? 0 : side;
	SDR_ASSERT(*cw < g->cws && *row < g->rows);
}

uint32_t sdr_code_data_pkt(const struct sdr_code *g, uint32_t cw, uint32_t pos)
{
	struct sdr_code_line l;

	sdr_code_line_get(g, cw / g->rpc, &l);
	if (pos >= l.npos)
		return g->npkts;
	return (uint32_t)(l.data + pos * l.dstep + (uint64_t)(cw % g->rpc) * g->sym_pkts);
}

uint32_t sdr_code_parity_pkt(const struct sdr_code *g, uint32_t cw, uint32_t row)
{
	struct sdr_code_line l;

	sdr_code_line_get(g, cw / g->rpc, &l);
	return (uint32_t)(l.par + row * l.pstep + (uint64_t)(cw % g->rpc) * g->sym_pkts);
}

uint32_t sdr_code_positions(const struct sdr_code *g, uint32_t cw)
{
	struct sdr_code_line l;

	sdr_code_line_get(g, cw / g->rpc, &l);
	return l.npos;
}

void sdr_code_scratch_destroy(struct sdr_code_scratch *w)
{
	free(w->mark);
	free(w->own);
	sdr_fec_plan_destroy(w->plan);
	*w = (struct sdr_code_scratch){ 0 };
}

/* Room for the codewords of g, with no codeword touched. */
static int work_ready(const struct sdr_code *g, struct sdr_code_scratch *w)
{
	uint32_t i;
	size_t cap;

	if (g->cws > w->cap) {
		cap = (size_t)sdr_bitmap_words(g->cws) * 64;
		free(w->mark);
		w->cap = w->ntouched = 0;
		w->mark = calloc(
			cap / 8 + cap * (sizeof(*w->touched) + sizeof(*w->miss) + sizeof(*w->have)),
			1);
		if (!w->mark)
			return -ENOMEM;
		w->touched = (uint32_t *)(w->mark + cap / 64);
		w->miss = (uint16_t *)(w->touched + cap);
		w->have = w->miss + cap;
		w->cap = (uint32_t)cap;
	}
	for (i = 0; i < w->ntouched; i++)
		w->miss[w->touched[i]] = 0;
	w->ntouched = 0;
	return 0;
}

/* Are the packets of a symbol all there?  Those that do not exist are. */
static bool sym_there(const struct sdr_code *g, const uint64_t *bits, uint64_t pkt, uint64_t npkts)
{
	uint64_t end = min64(pkt + g->sym_pkts, npkts);

	return pkt >= end || sdr_bitmap_next_zero(bits, (uint32_t)pkt, (uint32_t)end) == end;
}

/* Parity rows of which at least one packet has come; with XOR a codeword has only one anyway. */
static uint32_t rows_begun(const struct sdr_code *g, const uint64_t *parity)
{
	uint32_t top;

	if (g->a.kind == SDR_CODE_XOR)
		return 1;
	top = sdr_bitmap_top(parity, g->par_pkts);
	return top ? (top - 1) / (g->nsub * g->a.chunk_pkts) + 1 : 0;
}

/* Parity symbols of a codeword that are there. */
static uint32_t parity_have(const struct sdr_code *g, const uint64_t *parity, uint32_t cw,
			    uint32_t rows)
{
	struct sdr_code_line l;
	uint32_t j, n = 0;
	uint64_t pkt;

	sdr_code_line_get(g, cw / g->rpc, &l);
	pkt = l.par + (uint64_t)(cw % g->rpc) * g->sym_pkts;
	for (j = 0; j < rows; j++, pkt += l.pstep)
		n += sym_there(g, parity, pkt, g->par_pkts);
	return n;
}

static uint32_t data_miss(const struct sdr_code *g, const uint64_t *data, uint32_t cw)
{
	struct sdr_code_line l;
	uint32_t i, n = 0;
	uint64_t pkt;

	sdr_code_line_get(g, cw / g->rpc, &l);
	pkt = l.data + (uint64_t)(cw % g->rpc) * g->sym_pkts;
	for (i = 0; i < l.npos; i++, pkt += l.dstep)
		n += !sym_there(g, data, pkt, g->npkts);
	return n;
}

/* The codewords with missing symbols, and how many. */
static void touch(const struct sdr_code *g, struct sdr_code_scratch *w, const uint64_t *data)
{
	uint32_t cw, pos, i, words = sdr_bitmap_words(g->cws), pkt = g->a.first;

	while ((pkt = sdr_bitmap_next_zero(data, pkt, g->npkts)) < g->npkts) {
		sdr_code_of_data(g, pkt, &cw, &pos);
		sdr_bitmap_set(w->mark, cw);
		w->miss[cw]++;
		pkt += g->sym_pkts - (pkt - g->a.first) % g->sym_pkts;
	}
	for (i = 0; i < words; i++) {
		for (; w->mark[i]; w->mark[i] &= w->mark[i] - 1)
			w->touched[w->ntouched++] = i * 64 + (uint32_t)__builtin_ctzll(w->mark[i]);
	}
}

int sdr_code_count(const struct sdr_code *g, struct sdr_code_scratch *w, const uint64_t *data,
		   const uint64_t *parity)
{
	uint32_t i, cw, rows;
	int ret, lack = 0;

	ret = work_ready(g, w);
	if (ret)
		return ret;
	touch(g, w, data);
	rows = w->ntouched ? rows_begun(g, parity) : 0;
	for (i = 0; i < w->ntouched; i++) {
		cw = w->touched[i];
		w->have[cw] = (uint16_t)parity_have(g, parity, cw, rows);
		SDR_ASSERT(w->miss[cw] && w->miss[cw] <= g->k_cw && w->have[cw] <= g->rows);
		lack += w->miss[cw] > w->have[cw];
	}
	return lack;
}

static bool cw_lacks(const struct sdr_code *g, const uint64_t *data, const uint64_t *parity,
		     uint32_t cw)
{
	uint32_t miss = data_miss(g, data, cw);

	return miss && miss > parity_have(g, parity, cw, g->rows);
}

bool sdr_code_lacking(const struct sdr_code *g, struct sdr_code_scratch *w, const uint64_t *data,
		      const uint64_t *parity, uint32_t *stuck_cw)
{
	uint32_t i, cw;
	int n, lack, most = 1;

	/*
	 * At first the last codeword: as long as data arrive in order it is the last to be
	 * complete.
	 */
	if (*stuck_cw >= g->cws)
		*stuck_cw = g->cws - 1;
	if (cw_lacks(g, data, parity, *stuck_cw))
		return true;
	n = sdr_code_count(g, w, data, parity);
	*stuck_cw = UINT32_MAX;
	for (i = 0; n > 0 && i < w->ntouched; i++) {
		cw = w->touched[i];
		lack = w->miss[cw] - w->have[cw];
		if (lack >= most) {
			most = lack;
			*stuck_cw = cw;
		}
	}
	return n != 0;
}
