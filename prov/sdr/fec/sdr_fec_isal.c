/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The kernel that is ISA-L's.  Its tables are opaque: their size by coefficient changed between
 * releases.  Here a table is put together from those of single coefficients, which costs a copy of
 * 8 or 32 bytes each; that a table is such a chain is found out at the start, by comparison with
 * one that ISA-L made in one go.  A release for which it is not gets its tables made by itself for
 * each call: right, and slower with short symbols.
 *
 * Inputs are walked few at a time (ABREAST), a block of each: what ISA-L does with all of them side
 * by side is bound by memory, not by its instructions.
 */
#include "sdr_fec_impl.h"

#include <string.h>
#include <isa-l/erasure_code.h>

#define TBL   32u /* bytes of table by coefficient at most, as ec_init_tables documents */
#define WIDTH 6u  /* outputs of ISA-L's widest loop: what it would do by itself with more */
/*
 * Inputs that ISA-L takes side by side.  Each is a stream of memory: of 32 the processor follows
 * some, and they push each other out of the cache, which costs half the speed (a third of it with
 * 128).
 */
#define ABREAST 8u

static uint8_t isal_tbl[256][TBL];
static size_t isal_step; /* bytes of table by coefficient; 0: not a chain */

static bool isal_start(void)
{
	static const size_t steps[] = { 8, TBL };
	uint8_t coef[6] = { 1, 2, 0x8e, 0x4d, 0xff, 0x1c };
	uint8_t all[6 * TBL], one[TBL];
	uint32_t c, i;

	for (c = 0; c < 256; c++) {
		one[0] = (uint8_t)c;
		ec_init_tables(1, 1, one, isal_tbl[c]);
	}
	for (i = 0; i < 2 && !isal_step; i++) {
		memset(all, 0, sizeof(all)); /* as isal_tbl: ISA-L may leave parts alone */
		ec_init_tables(3, 2, coef, all);
		for (c = 0; c < 6 && !memcmp(all + c * steps[i], isal_tbl[coef[c]], steps[i]); c++)
			;
		if (c == 6)
			isal_step = steps[i];
	}
	return true;
}

/* Of inputs [from, from + ns). */
static void isal_tables(const struct sdr_fec_op *op, uint32_t from, uint32_t ns, uint8_t *tbl)
{
	uint8_t coef[WIDTH * SDR_FEC_SYMS_MAX];
	uint32_t i, j;

	for (i = 0; i < op->nd; i++) {
		const uint8_t *row = op->coef + i * op->stride;

		for (j = from; j < from + ns; j++) {
			if (isal_step == TBL) {
				memcpy(tbl, isal_tbl[row[op->col[j]]], TBL);
				tbl += TBL;
			} else if (isal_step == 8) {
				memcpy(tbl, isal_tbl[row[op->col[j]]], 8);
				tbl += 8;
			} else {
				coef[i * ns + j - from] = row[op->col[j]];
			}
		}
	}
	if (!isal_step)
		ec_init_tables((int)ns, (int)op->nd, coef, tbl);
}

/*
 * ISA-L leaves the upper halves of the vector registers as they fall, and then every SSE
 * instruction that runs next waits for them: five times slower, measured.
 */
#ifdef __x86_64__
__attribute__((target("avx"))) static void upper_clear(void)
{
	__builtin_ia32_vzeroupper();
}
#endif

static void registers_clean(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx"))
		upper_clear();
#endif
}

/*
 * The first inputs side by side, the others one by one into outputs that are still in the first
 * cache.  ISA-L does not write through what it does not declare const.
 */
static void isal_mul(const struct sdr_fec_op *op)
{
	uint8_t tbl[WIDTH * SDR_FEC_SYMS_MAX * TBL] __attribute__((aligned(64)));
	uint8_t few[WIDTH * ABREAST * TBL] __attribute__((aligned(64)));
	uint32_t first = op->add ? 0 : op->ns < ABREAST ? op->ns : ABREAST, i, j;
	uint8_t *src[ABREAST], *dst[WIDTH];
	size_t at, n;

	if (first)
		isal_tables(op, 0, first, few);
	if (first < op->ns)
		isal_tables(op, 0, op->ns, tbl);
	for (at = 0; at < op->len; at += n) {
		n = op->len - at < SDR_FEC_BLOCK ? op->len - at : SDR_FEC_BLOCK;
		for (i = 0; i < op->nd; i++)
			dst[i] = op->dst[i] + at;
		for (j = 0; j < first; j++)
			src[j] = (uint8_t *)(uintptr_t)op->src[j] + at;
		if (first)
			ec_encode_data((int)n, (int)first, (int)op->nd, few, src, dst);
		for (j = first; j < op->ns; j++)
			ec_encode_data_update((int)n, (int)op->ns, (int)op->nd, (int)j, tbl,
					      (uint8_t *)(uintptr_t)op->src[j] + at, dst);
	}
	registers_clean();
}

const struct sdr_fec_kernel sdr_fec_isal = {
	.name = "isal",
	.width = WIDTH,
	.start = isal_start,
	.mul = isal_mul,
	.sum = sdr_fec_base_sum,
};
