/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Inside of sdr_fec.h: the field, the code, and the table of functions that every kernel fills.
 *
 * All that the code does is one operation: outputs = matrix * inputs, over bytes.  A kernel does it
 * for up to `width` outputs at a time, so that it reads the inputs once; sdr_fec_mul cuts larger
 * matrices and long symbols to fit.  Coefficients are plain field elements everywhere; a kernel
 * looks up what it needs for them in a table of its own (256 entries, filled once in the life of
 * the process), so codes and plans do not know kernels.
 */
#ifndef SDR_FEC_IMPL_H
#define SDR_FEC_IMPL_H

#include "sdr_fec.h"

#define SDR_FEC_POLY	  0x11du
#define SDR_FEC_ORDER	  255u /* of the multiplicative group */
#define SDR_FEC_WIDTH_MAX 8u

/*
 * How inputs are walked: bytes of each at a time (a multiple of every column), inputs of a group.
 */
#define SDR_FEC_BLOCK 4096u
#define SDR_FEC_GROUP 16u

/*
 * A loop of at most 8 turns that is written out.  With UBSan clang 14 gives wrong bytes when it
 * unrolls these (without the sanitizer, and with any of gcc's, they are right, and UBSan has
 * nothing to report): there it stays a loop.
 */
#ifdef __clang__
#if __has_feature(undefined_behavior_sanitizer)
#define SDR_UNROLL
#else
#define SDR_UNROLL _Pragma("unroll")
#endif
#else
#define SDR_UNROLL _Pragma("GCC unroll 8")
#endif
#define sdr_unroll(i, n) SDR_UNROLL for ((i) = 0; (i) < (n); (i)++)

struct sdr_fec_gf {
	uint8_t log[256];		/* of 0: not used */
	uint8_t exp[4 * SDR_FEC_ORDER]; /* so that sums of up to four logarithms need no modulo */
};
extern struct sdr_fec_gf sdr_fec_gf;

struct sdr_fec {
	uint32_t k, rows;
	uint8_t coef[]; /* rows * k */
};

struct sdr_fec_plan {
	uint32_t k, n; /* of the pattern that is set; k 0: none */
	uint8_t missing[SDR_FEC_SYMS_MAX], rows[SDR_FEC_SYMS_MAX];
	uint8_t coef[]; /* n * (k + n): of the data, then of the parity rows */
};

/*
 * The inputs are there (no NULL) and ns > 0; output i of input j has the coefficient coef[i *
 * stride + col[j]].
 */
struct sdr_fec_op {
	const uint8_t *coef;
	size_t stride;
	const uint8_t *col;
	const uint8_t *const *src;
	uint8_t *const *dst;
	uint32_t ns, nd; /* inputs, 1 .. 256; outputs, 1 .. width */
	size_t len;	 /* bytes, 1 .. SDR_FEC_LEN_MAX */
	bool add;	 /* to what the outputs hold; else they are not read */
};
#define SDR_FEC_LEN_MAX (1u << 30)

struct sdr_fec_kernel {
	const char *name;
	uint32_t width;	     /* outputs of a call, at most SDR_FEC_WIDTH_MAX */
	bool (*start)(void); /* once, before anything else; false: this CPU (or build) cannot */
	void (*mul)(const struct sdr_fec_op *op);
	/* one output, all coefficients 1; they are not read */
	void (*sum)(const struct sdr_fec_op *op);
};
extern const struct sdr_fec_kernel sdr_fec_base, sdr_fec_isal, sdr_fec_gfni;

void sdr_fec_start(void); /* fills the tables, once; any thread */
const struct sdr_fec_kernel *sdr_fec_kernel_get(void);
void sdr_fec_base_sum(const struct sdr_fec_op *op);
void sdr_fec_gf_fill(void);

/*
 * dst[0..nd) = coef * src, or += with add.  src[j] NULL: zeros.  Row i of the matrix begins at coef
 * + i * stride; ones: nd is 1 and all coefficients are 1.
 */
void sdr_fec_mul(const uint8_t *coef, size_t stride, bool ones, uint32_t ns,
		 const uint8_t *const *src, uint32_t nd, uint8_t *const *dst, size_t len);

#endif /* SDR_FEC_IMPL_H */
