/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Shared by sdr_code.c and sdr_code_bytes.c: lines.  A line is one group of one
 * submessage: its data chunks lie `dstep` packets apart, its parity chunks `pstep`, so a codeword
 * (a line at one row) is a start and a step on either side.  Codeword cw belongs to line cw / rpc.
 */
#ifndef SDR_CODE_IMPL_H
#define SDR_CODE_IMPL_H

#include "base/sdr_bitmap.h"
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

#endif /* SDR_CODE_IMPL_H */
