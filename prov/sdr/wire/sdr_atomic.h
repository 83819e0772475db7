/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Atomics on the wire: the payload of the records ATOMIC and ATOMIC_RSP (sdr_record.h).
 *
 * A request is a header and its bytes, all numbers little-endian:
 *
 *     0    1      2      3      4       8       12
 *    +----+------+------+------+-------+-------+----------+-----------------+
 *    | op | type | form | zero | count | first | operands | compare values  |
 *    +----+------+------+------+-------+-------+----------+-----------------+
 *
 * It works on `count` elements of the target's memory, from the element `first` of the range that
 * the record names.  Operands are there unless op is READ, compare values with form COMPARE; count
 * elements each.  An ATOMIC_RSP has the old values alone.
 *
 * Numbers of operations and types are fixed.  A type says how an element is represented, so two
 * builds whose `long double` differ have different numbers for it.
 */
#ifndef SDR_ATOMIC_H
#define SDR_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SDR_ATOMIC_HDR 12u
/*
 * Bytes of operands and compare values of a record at most, and of old values: every path carries
 * them.  A multiple of every element, so that none is cut.
 */
#define SDR_ATOMIC_PART 768u

enum sdr_atomic_op {
	SDR_ATOMIC_MIN = 0,
	SDR_ATOMIC_MAX = 1,
	SDR_ATOMIC_SUM = 2,
	SDR_ATOMIC_PROD = 3,
	SDR_ATOMIC_LOR = 4, /* logical: 0 or 1 */
	SDR_ATOMIC_LAND = 5,
	SDR_ATOMIC_BOR = 6,
	SDR_ATOMIC_BAND = 7,
	SDR_ATOMIC_LXOR = 8,
	SDR_ATOMIC_BXOR = 9,
	SDR_ATOMIC_READ = 10,
	SDR_ATOMIC_WRITE = 11,
	SDR_ATOMIC_CSWAP = 12, /* where compare == target */
	SDR_ATOMIC_CSWAP_NE = 13,
	SDR_ATOMIC_CSWAP_LE = 14, /* where compare <= target, and so on */
	SDR_ATOMIC_CSWAP_LT = 15,
	SDR_ATOMIC_CSWAP_GE = 16,
	SDR_ATOMIC_CSWAP_GT = 17,
	SDR_ATOMIC_MSWAP = 18, /* the bits that are set in compare */
	SDR_ATOMIC_DIFF = 19,  /* target - operand */
	SDR_ATOMIC_OPS,	       /* how many there are */
};

enum sdr_atomic_type {
	SDR_ATOMIC_INT8 = 0,
	SDR_ATOMIC_UINT8 = 1,
	SDR_ATOMIC_INT16 = 2,
	SDR_ATOMIC_UINT16 = 3,
	SDR_ATOMIC_INT32 = 4,
	SDR_ATOMIC_UINT32 = 5,
	SDR_ATOMIC_INT64 = 6,
	SDR_ATOMIC_UINT64 = 7,
	SDR_ATOMIC_FLOAT = 8, /* IEEE 754 binary32 */
	SDR_ATOMIC_DOUBLE = 9,
	SDR_ATOMIC_FLOAT_COMPLEX = 10, /* real part, imaginary part */
	SDR_ATOMIC_DOUBLE_COMPLEX = 11,
	SDR_ATOMIC_X87 = 12, /* 80 bits in 16 bytes */
	SDR_ATOMIC_X87_COMPLEX = 13,
	SDR_ATOMIC_INT128 = 14,
	SDR_ATOMIC_UINT128 = 15,
	SDR_ATOMIC_BINARY128 = 16, /* IEEE 754 binary128 */
	SDR_ATOMIC_BINARY128_COMPLEX = 17,
	SDR_ATOMIC_FLOAT16 = 18,  /* IEEE 754 binary16 */
	SDR_ATOMIC_BFLOAT16 = 19, /* the upper half of a binary32 */
	SDR_ATOMIC_E4M3 = 20,	  /* OCP's 8 bits */
	SDR_ATOMIC_E5M2 = 21,
	SDR_ATOMIC_TYPES, /* how many there are */
};

/* What the target does beside changing its memory. */
enum sdr_atomic_form {
	SDR_ATOMIC_UPDATE = 0,	/* nothing: DONE answers */
	SDR_ATOMIC_FETCH = 1,	/* ATOMIC_RSP answers with the old values */
	SDR_ATOMIC_COMPARE = 2, /* likewise; there are compare values */
	SDR_ATOMIC_FORMS,	/* how many there are */
};

struct sdr_atomic {
	uint8_t op, type, form;
	bool known;	    /* decode: op goes with form, and type has a size */
	uint32_t count;	    /* elements, > 0 */
	uint32_t first;	    /* element of the record's range with which it begins */
	const uint8_t *in;  /* decode: operands; NULL none */
	const uint8_t *cmp; /* decode: compare values; NULL none */
};

/* Bytes of an element; 0: there is no such type. */
uint32_t sdr_atomic_size(uint8_t type);
/* Can the operation be asked for in this form? */
bool sdr_atomic_goes(uint8_t op, uint8_t form);
/* Bytes of operands and compare values for each element of one of `size` bytes. */
static inline uint32_t sdr_atomic_carries(uint8_t op, uint8_t form, uint32_t size)
{
	return (op != SDR_ATOMIC_READ ? size : 0) + (form == SDR_ATOMIC_COMPARE ? size : 0);
}

/* Writes the header: SDR_ATOMIC_HDR bytes. */
void sdr_atomic_put(uint8_t *p, const struct sdr_atomic *a);
/*
 * A header, and the bytes that it announces to the last one.  False: it is not well formed.  What
 * is not known has count and first, but no bytes.
 */
bool sdr_atomic_get(const uint8_t *p, size_t len, struct sdr_atomic *a);

#endif /* SDR_ATOMIC_H */
