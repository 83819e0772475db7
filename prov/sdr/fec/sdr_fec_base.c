/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The field, and the kernel in portable C that the others are tested against: a byte at a time
 * through the multiplication table of the coefficient, which is made anew for each use (it is
 * linear: 255 XORs).  The sum of whole symbols is written with the compiler's vectors and is as
 * fast as memory; the ISA-L kernel uses it, too, because ISA-L's xor_gen wants aligned buffers.
 *
 * Nothing here is taken from ISA-L, so that a test that compares compares two implementations.
 */
#include "sdr_fec_impl.h"

#include <string.h>

struct sdr_fec_gf sdr_fec_gf;

static uint8_t gf_twice(uint8_t a)
{
	return (uint8_t)((uint32_t)a << 1 ^ (a & 0x80 ? SDR_FEC_POLY : 0));
}

void sdr_fec_gf_fill(void)
{
	uint8_t a = 1;
	uint32_t i;

	for (i = 0; i < 4 * SDR_FEC_ORDER; i++) {
		sdr_fec_gf.exp[i] = a;
		if (i < SDR_FEC_ORDER)
			sdr_fec_gf.log[a] = (uint8_t)i;
		a = gf_twice(a);
	}
}

static void table_make(uint8_t t[256], uint8_t c)
{
	uint32_t bit, i;

	t[0] = 0;
	for (bit = 1; bit < 256; bit <<= 1) {
		for (i = 0; i < bit; i++)
			t[bit + i] = t[i] ^ c;
		c = gf_twice(c);
	}
}

static bool base_start(void)
{
	return true;
}

static void base_mul(const struct sdr_fec_op *op)
{
	uint8_t t[256];
	uint32_t i, j;
	size_t b;

	for (i = 0; i < op->nd; i++) {
		uint8_t *d = op->dst[i];

		if (!op->add)
			memset(d, 0, op->len);
		for (j = 0; j < op->ns; j++) {
			const uint8_t *s = op->src[j];

			table_make(t, op->coef[i * op->stride + op->col[j]]);
			for (b = 0; b < op->len; b++)
				d[b] ^= t[s[b]];
		}
	}
}

/*
 * What the compiler has everywhere; eight of them are two lines of cache and half of the registers.
 */
typedef uint64_t vec __attribute__((vector_size(16), aligned(1), may_alias));
#define VECS 8u
#define LINE 64u

static const vec *vecs(const uint8_t *p)
{
	return (const vec *)(const void *)p;
}

/*
 * d[from..to) (+)= the sum of s[0..ns), while next[0..nn) + ahead is fetched.  Returns how far it
 * came.
 */
static size_t part_sum(uint8_t *d, size_t from, size_t to, const uint8_t *const *s, uint32_t ns,
		       const uint8_t *const *next, uint32_t nn, size_t ahead, bool add)
{
	uint32_t j, q;
	vec a[VECS];
	size_t b;

	for (b = from; to - b >= sizeof(a); b += sizeof(a)) {
		const vec *v = vecs((add ? d : s[0]) + b);

		sdr_unroll(q, VECS)
			a[q] = v[q];
		for (j = 0; j < ns; j++) {
			if (j < nn) {
				__builtin_prefetch(next[j] + ahead + b);
				__builtin_prefetch(next[j] + ahead + b + LINE);
			}
			if (!j && !add)
				continue;
			v = vecs(s[j] + b);
			sdr_unroll(q, VECS)
				a[q] ^= v[q];
		}
		sdr_unroll(q, VECS)
			((vec *)(void *)(d + b))[q] = a[q];
	}
	return b;
}

/* In the order of sdr_fec_gfni.c. */
void sdr_fec_base_sum(const struct sdr_fec_op *op)
{
	size_t from, to, b = 0;
	uint32_t j, n;

	for (from = 0; from < op->len; from = to) {
		to = op->len - from < SDR_FEC_BLOCK ? op->len : from + SDR_FEC_BLOCK;
		for (j = 0; j < op->ns; j += n) {
			bool wrap = op->ns - j <= SDR_FEC_GROUP;

			n = wrap ? op->ns - j : SDR_FEC_GROUP;
			b = part_sum(op->dst[0], from, to, op->src + j, n,
				     wrap ? op->src : op->src + j + n,
				     wrap ? op->ns : op->ns - j - n, wrap ? to - from : 0,
				     op->add || j);
		}
	}
	for (; b < op->len; b++) {
		uint8_t a = op->add ? op->dst[0][b] : 0;

		for (j = 0; j < op->ns; j++)
			a ^= op->src[j][b];
		op->dst[0][b] = a;
	}
}

const struct sdr_fec_kernel sdr_fec_base = {
	.name = "base",
	.width = SDR_FEC_WIDTH_MAX,
	.start = base_start,
	.mul = base_mul,
	.sum = sdr_fec_base_sum,
};
