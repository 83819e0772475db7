/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The kernel for CPUs with GFNI and AVX-512.  GF2P8MULB knows AES's polynomial only, but
 * multiplication by a constant is linear over bits whatever the polynomial: GF2P8AFFINEQB applies
 * its 8x8 bit matrix to 64 bytes.
 *
 * Up to eight outputs are kept in registers over a column of two or four vectors (128 or 256 bytes)
 * while the inputs pass by.  What then decides is memory, so the inputs are walked in an order that
 * it likes: SDR_FEC_BLOCK bytes of SDR_FEC_GROUP inputs, then as much of the next inputs into the
 * same outputs, which are still in the first cache, and so on; while one group is worked on, the
 * next is prefetched, and at the end what lies behind the first inputs: the next row of packets, if
 * chunks are taken row by row.  (All inputs side by side, which is what ISA-L does, is a stream of
 * memory each; at a distance that is a power of two they push each other out of the cache as well.
 * With 128 inputs of 64 KiB that costs a factor of four.)
 *
 * Bytes behind the last whole column are done a vector at a time under a mask; nothing is read or
 * written beyond a symbol.  Every function here has the target attribute; the rest of the program
 * must not be compiled with it. On other CPUs and architectures the kernel says that it cannot, and
 * is not used.
 */
#include "sdr_fec_impl.h"

#ifdef __x86_64__

#include <immintrin.h>

#define TARGET __attribute__((target("gfni,avx512f,avx512bw,avx512vl")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#define VEC    64u /* bytes of a register */
#define WIDTH  8u
/* outputs at a time of a single input: more fight for the same lines of the first cache */
#define NARROW 4u

/* A group of inputs, a block of bytes. */
struct part {
	const uint8_t *const *src, *const *next; /* prefetched meanwhile: next[j] + ahead */
	uint8_t *const *dst;
	const uint64_t *mat; /* by input, then by output */
	uint32_t ns, nn;
	size_t ahead, from, to; /* bytes */
	bool add;
};

static uint64_t affine[256]; /* the matrix of each coefficient */

/* Row i of the matrix (byte 7 - i) gives bit i of the product; its bit b is that bit of c * 2^b. */
static bool gfni_start(void)
{
	uint32_t c, b, i;

	for (c = 1; c < 256; c++)
		for (b = 0; b < 8; b++)
			for (i = 0; i < 8; i++)
				if (sdr_fec_gf.exp[sdr_fec_gf.log[c] + b] >> i & 1)
					affine[c] |= (uint64_t)1 << (8 * (7 - i) + b);
	return __builtin_cpu_supports("gfni") && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

INLINE __m512i mul(__m512i v, uint64_t m)
{
	return _mm512_gf2p8affine_epi64_epi8(v, _mm512_set1_epi64((long long)m), 0);
}

/*
 * Whole columns of nv vectors, nd outputs; the arguments behind p are constants where this is
 * inlined.  Returns how far it came.
 */
INLINE size_t columns(const struct part *p, uint32_t nd, uint32_t nv, bool ones)
{
	const size_t step = nv * VEC;
	__m512i acc[WIDTH][4], v[4];
	uint32_t i, j, q;
	size_t b;

	for (b = p->from; p->to - b >= step; b += step) {
		const uint64_t *m = p->mat;

		sdr_unroll(i, nd)
			sdr_unroll(q, nv)
				acc[i][q] = p->add ? _mm512_loadu_si512(p->dst[i] + b + q * VEC)
						   : _mm512_setzero_si512();
		for (j = 0; j < p->ns; j++, m = ones ? m : m + nd) {
			if (j < p->nn) {
				sdr_unroll(q, nv)
					__builtin_prefetch(p->next[j] + p->ahead + b + q * VEC);
			}
			sdr_unroll(q, nv)
				v[q] = _mm512_loadu_si512(p->src[j] + b + q * VEC);
			sdr_unroll(i, nd)
				sdr_unroll(q, nv)
					acc[i][q] = _mm512_xor_si512(acc[i][q],
								     ones ? v[q] : mul(v[q], m[i]));
		}
		sdr_unroll(i, nd)
			sdr_unroll(q, nv)
				_mm512_storeu_si512(p->dst[i] + b + q * VEC, acc[i][q]);
	}
	return b;
}

TARGET static size_t part_mul(const struct part *p, uint32_t nd)
{
	switch (nd) {
	case 1:
		return columns(p, 1, 4, false);
	case 2:
		return columns(p, 2, 4, false);
	case 3:
		return columns(p, 3, 4, false);
	case 4:
		return columns(p, 4, 4, false);
	case 5:
		return columns(p, 5, 2, false);
	case 6:
		return columns(p, 6, 2, false);
	case 7:
		return columns(p, 7, 2, false);
	default:
		return columns(p, 8, 2, false);
	}
}

TARGET static void tail(const struct sdr_fec_op *op, const uint64_t *mat, size_t b)
{
	for (; b < op->len; b += VEC) {
		size_t n = op->len - b < VEC ? op->len - b : VEC;
		__mmask64 mask = UINT64_MAX >> (VEC - n);
		uint32_t i, j;

		for (i = 0; i < op->nd; i++) {
			__m512i acc = _mm512_setzero_si512();

			if (op->add)
				acc = _mm512_maskz_loadu_epi8(mask, op->dst[i] + b);
			for (j = 0; j < op->ns; j++) {
				__m512i v = _mm512_maskz_loadu_epi8(mask, op->src[j] + b);

				acc = _mm512_xor_si512(acc, mat ? mul(v, mat[j * op->nd + i]) : v);
			}
			_mm512_mask_storeu_epi8(op->dst[i] + b, mask, acc);
		}
	}
}

/* mat NULL: one output, all ones. */
TARGET static void walk(const struct sdr_fec_op *op, const uint64_t *mat)
{
	struct part p = { .dst = op->dst };
	size_t b = 0;
	uint32_t j;

	for (p.from = 0; p.from < op->len; p.from = p.to) {
		p.to = op->len - p.from < SDR_FEC_BLOCK ? op->len : p.from + SDR_FEC_BLOCK;
		for (j = 0; j < op->ns; j += p.ns) {
			p.ns = op->ns - j < SDR_FEC_GROUP ? op->ns - j : SDR_FEC_GROUP;
			p.src = op->src + j;
			p.mat = mat ? mat + (size_t)j * op->nd : NULL;
			p.add = op->add || j;
			p.next = op->src + j + p.ns;
			p.nn = op->ns - j - p.ns;
			p.ahead = 0;
			if (!p.nn) { /* the first again, a block on */
				p.next = op->src;
				p.nn = op->ns;
				p.ahead = p.to - p.from;
			}
			b = mat ? part_mul(&p, op->nd) : columns(&p, 1, 4, true);
		}
	}
	tail(op, mat, b);
}

/* Outputs i .. i + nd of a single input: the matrices stay in registers. */
INLINE size_t spread(const struct sdr_fec_op *op, const uint64_t *mat, uint32_t at, uint32_t nd,
		     size_t b, size_t to)
{
	__m512i m[NARROW], v[4];
	uint32_t i, q;

	sdr_unroll(i, nd)
		m[i] = _mm512_set1_epi64((long long)mat[at + i]);
	for (; to - b >= 4 * VEC; b += 4 * VEC) {
		sdr_unroll(q, 4)
			v[q] = _mm512_loadu_si512(op->src[0] + b + q * VEC);
		sdr_unroll(i, nd) {
			uint8_t *d = op->dst[at + i] + b;

			sdr_unroll(q, 4) {
				__m512i t = _mm512_gf2p8affine_epi64_epi8(v[q], m[i], 0);

				if (op->add)
					t = _mm512_xor_si512(t, _mm512_loadu_si512(d + q * VEC));
				_mm512_storeu_si512(d + q * VEC, t);
			}
		}
	}
	return b;
}

TARGET static void walk_one(const struct sdr_fec_op *op, const uint64_t *mat)
{
	size_t from, to, b = 0;
	uint32_t i;

	for (from = 0; from < op->len; from = to) {
		to = op->len - from < SDR_FEC_BLOCK ? op->len : from + SDR_FEC_BLOCK;
		for (i = 0; op->nd - i >= NARROW; i += NARROW)
			b = spread(op, mat, i, NARROW, from, to);
		if (op->nd - i == 3)
			b = spread(op, mat, i, 3, from, to);
		else if (op->nd - i == 2)
			b = spread(op, mat, i, 2, from, to);
		else if (op->nd - i == 1)
			b = spread(op, mat, i, 1, from, to);
	}
	tail(op, mat, b);
}

TARGET static void gfni_mul(const struct sdr_fec_op *op)
{
	uint64_t mat[SDR_FEC_SYMS_MAX * WIDTH];
	uint32_t i, j;

	for (j = 0; j < op->ns; j++)
		for (i = 0; i < op->nd; i++)
			mat[j * op->nd + i] = affine[op->coef[i * op->stride + op->col[j]]];
	if (op->ns == 1)
		walk_one(op, mat);
	else
		walk(op, mat);
}

TARGET static void gfni_sum(const struct sdr_fec_op *op)
{
	walk(op, NULL);
}

const struct sdr_fec_kernel sdr_fec_gfni = {
	.name = "gfni",
	.width = WIDTH,
	.start = gfni_start,
	.mul = gfni_mul,
	.sum = gfni_sum,
};

#else

static bool none_start(void)
{
	return false;
}

const struct sdr_fec_kernel sdr_fec_gfni = { .name = "gfni", .start = none_start };

#endif
