/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Bytes of an erasure code over GF(2^8) (polynomial 0x11d, as ISA-L's): k symbols of data, rows of
 * parity.
 *
 * Parity row i of position j has the coefficient 1 / (x_i + y_j) scaled so that row 0 is all ones:
 * a Cauchy matrix, every square part of which can be inverted, so any k of the k + rows symbols
 * give all k (MDS; ISA-L's gf_gen_rs_matrix is not, at (32,8)).  Scaling columns keeps that, and
 * makes row 0 the XOR of the data. Coefficients depend on i and j alone, neither on k nor on the
 * number of rows: a code with fewer positions is this one with zeros in the others, and more rows
 * can be had later.
 *
 * A code is immutable once created and may be used by many threads at a time; calls on different
 * outputs do not disturb each other.  Nothing here allocates but create and the plan of an erasure
 * pattern.
 */
#ifndef SDR_FEC_H
#define SDR_FEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SDR_FEC_SYMS_MAX 256u /* k + rows: elements of the field */

struct sdr_fec;

/* 1 <= k, 1 <= rows, k + rows <= SDR_FEC_SYMS_MAX: else -EINVAL; -ENOMEM. */
int sdr_fec_create(uint32_t k, uint32_t rows, struct sdr_fec **out);
void sdr_fec_destroy(struct sdr_fec *f); /* NULL: nothing */
uint32_t sdr_fec_k(const struct sdr_fec *f);
uint32_t sdr_fec_rows(const struct sdr_fec *f);
uint8_t sdr_fec_coef(uint32_t row, uint32_t pos); /* row + pos <= SDR_FEC_SYMS_MAX - 2 */

/*
 * k' symbols of data, of the positions from pos on, enter n parity rows in one pass: parity[i][0 ..
 * len) += coef(row + i, pos + j) * src[j], or = with first (the parity is then not read).  No
 * parity[i] overlaps a src[j].  A call reads and writes the parity once: with 8 symbols that costs
 * little.
 */
void sdr_fec_update(const struct sdr_fec *f, uint32_t pos, uint32_t k, const uint8_t *const *src,
		    size_t len, uint32_t row, uint32_t n, uint8_t *const *parity, bool first);

/* n whole rows from k' <= k symbols; src[i] NULL: zeros. */
void sdr_fec_encode(const struct sdr_fec *f, uint32_t k, const uint8_t *const *src, size_t len,
		    uint32_t row, uint32_t n, uint8_t *const *out);

/*
 * How to get the missing symbols of an erasure pattern: a matrix, inverted once, used for as many
 * bytes as lie in the same pattern (the rows of a chunk).  Owned by the caller, one thread at a
 * time; keeps its memory.
 */
struct sdr_fec_plan;
/* -ENOMEM; room for any pattern */
int sdr_fec_plan_create(const struct sdr_fec *f, struct sdr_fec_plan **out);
void sdr_fec_plan_destroy(struct sdr_fec_plan *p);
/* No pattern is set. */
void sdr_fec_plan_forget(struct sdr_fec_plan *p);
/*
 * k' <= k symbols, n of them missing (ascending positions), n parity rows present (ascending).  n
 * <= rows. Setting the pattern that is set already costs a comparison.
 */
void sdr_fec_plan_set(struct sdr_fec_plan *p, uint32_t k, uint32_t n, const uint8_t *missing,
		      const uint8_t *rows);
/*
 * src[k']: NULL where missing or all zeros; par[n]: the rows of the pattern; out[n]: the missing
 * symbols, in order. out overlaps nothing else.
 */
void sdr_fec_plan_run(const struct sdr_fec_plan *p, const uint8_t *const *src,
		      const uint8_t *const *par, size_t len, uint8_t *const *out);

/*
 * The kernel in use: "gfni" (ours, where the CPU has GFNI and AVX-512), else "isal"; "base":
 * portable C.
 */
const char *sdr_fec_kernel(void);
/*
 * Tests and benchmarks: forces a kernel for the whole process; false: this CPU cannot. NULL: the
 * best again.
 */
bool sdr_fec_kernel_set(const char *name);

#endif /* SDR_FEC_H */
