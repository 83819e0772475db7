/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Sequence numbers of 32 bits that wrap: serial number arithmetic (RFC 1982). */
#ifndef SDR_SEQ_H
#define SDR_SEQ_H

#include <stdbool.h>
#include <stdint.h>

/* a is before b: less than half of all numbers lie between. */
static inline bool sdr_seq_lt(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

#endif /* SDR_SEQ_H */
