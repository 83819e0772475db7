/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The arithmetic of atomics: operation by type, on elements of this host's memory.  See
 * sdr_atomic_exec.c.
 */
#ifndef SDR_ATOMIC_EXEC_H
#define SDR_ATOMIC_EXEC_H

#include <float.h>
#include "wire/sdr_atomic.h"

/* Which type is what this build calls `long double`, if there is one. */
#if LDBL_MANT_DIG == 64 && __SIZEOF_LONG_DOUBLE__ == 16
#define SDR_ATOMIC_LDBL		SDR_ATOMIC_X87
#define SDR_ATOMIC_LDBL_COMPLEX SDR_ATOMIC_X87_COMPLEX
#elif LDBL_MANT_DIG == 113
#define SDR_ATOMIC_LDBL		SDR_ATOMIC_BINARY128
#define SDR_ATOMIC_LDBL_COMPLEX SDR_ATOMIC_BINARY128_COMPLEX
#endif

struct sdr_atomic_work {
	uint8_t op, type;   /* sdr_atomic_does says yes */
	uint32_t count;	    /* elements */
	void *at;	    /* of this memory, aligned (sdr_atomic_align) */
	const uint8_t *in;  /* operands; READ: NULL */
	const uint8_t *cmp; /* compare values of CSWAP* and MSWAP */
	uint8_t *old;	    /* gets the old values; NULL: they are not wanted */
};

/* Is there such an operation on elements of this type? */
bool sdr_atomic_does(uint8_t op, uint8_t type);
#define SDR_ATOMIC_ALIGN 32u /* bytes: enough for any type */
/* Elements of a type lie at multiples of so many bytes; 0: this build does not have the type. */
uint32_t sdr_atomic_align(uint8_t type);
/*
 * Each element is read and changed by an instruction of the processor.  Else the caller sees to it
 * that nobody else works on them meanwhile.
 */
bool sdr_atomic_alone(uint8_t type, const void *at);
/* One element after the other; each is changed at once, not all of them. */
void sdr_atomic_exec(const struct sdr_atomic_work *w);

#endif /* SDR_ATOMIC_EXEC_H */
