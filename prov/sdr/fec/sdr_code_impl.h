/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Shared by sdr_code.c and sdr_code_bytes.c: lines and bits.  A line is one group of one
 * submessage: its data chunks lie `dstep` packets apart, its parity chunks `pstep`, so a codeword
 * (a line at one row) is a start and a step on either side.  Codeword cw belongs to line cw / rpc.
 */
#ifndef SDR_CODE_IMPL_H
#define SDR_CODE_IMPL_H

#include "sdr_code.h"

struct sdr_code_line {
	uint32_t npos;	/* data chunks */
	uint64_t data;	/* packet 0 of position 0 */
	uint64_t dstep; /* from a position to the next, packets */
	uint64_t par;	/* packet 0 of parity row 0 */
	uint64_t pstep; /* from a parity row to the next, packets */
	/* bytes that exist of the chunk at the last position; the other chunks are whole */
	uint64_t tail;
};

void sdr_code_line_get(const struct sdr_code *g, uint32_t line, struct sdr_code_line *l);

static inline bool sdr_code_bit(const uint64_t *b, uint64_t i)
{
	return b[i / 64] >> (i & 63) & 1;
}

/* First clear bit at or behind `from`, or nbits. */
static inline uint64_t sdr_code_next_zero(const uint64_t *b, uint64_t from, uint64_t nbits)
{
	while (from < nbits) {
		uint64_t w = ~b[from / 64] >> (from & 63);

		if (w) {
			from += (uint64_t)__builtin_ctzll(w);
			return from < nbits ? from : nbits;
		}
		from = (from | 63) + 1;
	}
	return nbits;
}

#endif /* SDR_CODE_IMPL_H */
