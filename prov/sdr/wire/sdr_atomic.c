/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The payload of atomics, see sdr_atomic.h: which operation goes with which form, how long elements
 * are, and whether the bytes are those that the header announces.  Whether this build computes with
 * a type, and whether the memory may be changed, is decided where that is known
 * (rel/msg/sdr_op_atomic.c).  No state, any thread.
 */
#include "base/sdr_endian.h"
#include "sdr_atomic.h"

#define UPDATE	(1u << SDR_ATOMIC_UPDATE)
#define FETCH	(1u << SDR_ATOMIC_FETCH)
#define COMPARE (1u << SDR_ATOMIC_COMPARE)

/* By enum sdr_atomic_op: bits by enum sdr_atomic_form. */
static const uint8_t forms[] = {
	[SDR_ATOMIC_MIN] = UPDATE | FETCH,  [SDR_ATOMIC_MAX] = UPDATE | FETCH,
	[SDR_ATOMIC_SUM] = UPDATE | FETCH,  [SDR_ATOMIC_PROD] = UPDATE | FETCH,
	[SDR_ATOMIC_LOR] = UPDATE | FETCH,  [SDR_ATOMIC_LAND] = UPDATE | FETCH,
	[SDR_ATOMIC_BOR] = UPDATE | FETCH,  [SDR_ATOMIC_BAND] = UPDATE | FETCH,
	[SDR_ATOMIC_LXOR] = UPDATE | FETCH, [SDR_ATOMIC_BXOR] = UPDATE | FETCH,
	[SDR_ATOMIC_READ] = FETCH,	    [SDR_ATOMIC_WRITE] = UPDATE | FETCH,
	[SDR_ATOMIC_CSWAP] = COMPARE,	    [SDR_ATOMIC_CSWAP_NE] = COMPARE,
	[SDR_ATOMIC_CSWAP_LE] = COMPARE,    [SDR_ATOMIC_CSWAP_LT] = COMPARE,
	[SDR_ATOMIC_CSWAP_GE] = COMPARE,    [SDR_ATOMIC_CSWAP_GT] = COMPARE,
	[SDR_ATOMIC_MSWAP] = COMPARE,	    [SDR_ATOMIC_DIFF] = UPDATE | FETCH,
};
_Static_assert(sizeof(forms) == SDR_ATOMIC_OPS, "a row for each operation");

/* By enum sdr_atomic_type: bytes of an element. */
static const uint8_t sizes[] = {
	[SDR_ATOMIC_INT8] = 1,		[SDR_ATOMIC_UINT8] = 1,
	[SDR_ATOMIC_INT16] = 2,		[SDR_ATOMIC_UINT16] = 2,
	[SDR_ATOMIC_INT32] = 4,		[SDR_ATOMIC_UINT32] = 4,
	[SDR_ATOMIC_INT64] = 8,		[SDR_ATOMIC_UINT64] = 8,
	[SDR_ATOMIC_FLOAT] = 4,		[SDR_ATOMIC_DOUBLE] = 8,
	[SDR_ATOMIC_FLOAT_COMPLEX] = 8, [SDR_ATOMIC_DOUBLE_COMPLEX] = 16,
	[SDR_ATOMIC_X87] = 16,		[SDR_ATOMIC_X87_COMPLEX] = 32,
	[SDR_ATOMIC_INT128] = 16,	[SDR_ATOMIC_UINT128] = 16,
	[SDR_ATOMIC_BINARY128] = 16,	[SDR_ATOMIC_BINARY128_COMPLEX] = 32,
	[SDR_ATOMIC_FLOAT16] = 2,	[SDR_ATOMIC_BFLOAT16] = 2,
	[SDR_ATOMIC_E4M3] = 1,		[SDR_ATOMIC_E5M2] = 1,
};
_Static_assert(sizeof(sizes) == SDR_ATOMIC_TYPES, "a row for each type");

uint32_t sdr_atomic_size(uint8_t type)
{
	return type < SDR_ATOMIC_TYPES ? sizes[type] : 0;
}

bool sdr_atomic_goes(uint8_t op, uint8_t form)
{
	return op < SDR_ATOMIC_OPS && form < SDR_ATOMIC_FORMS && (forms[op] >> form & 1);
}

void sdr_atomic_put(uint8_t *p, const struct sdr_atomic *a)
{
	p[0] = a->op;
	p[1] = a->type;
	p[2] = a->form;
	p[3] = 0;
	sdr_put_le32(p + 4, a->count);
	sdr_put_le32(p + 8, a->first);
}

bool sdr_atomic_get(const uint8_t *p, size_t len, struct sdr_atomic *a)
{
	uint32_t size, each;

	if (len < SDR_ATOMIC_HDR || p[3])
		return false;
	a->op = p[0];
	a->type = p[1];
	a->form = p[2];
	a->count = sdr_get_le32(p + 4);
	a->first = sdr_get_le32(p + 8);
	a->in = a->cmp = NULL;
	size = sdr_atomic_size(a->type);
	a->known = size && sdr_atomic_goes(a->op, a->form);
	if (a->form >= SDR_ATOMIC_FORMS || !a->count)
		return false;
	if (!a->known)
		return true;
	each = sdr_atomic_carries(a->op, a->form, size);
	if (a->count > SDR_ATOMIC_PART / (each ? each : size) ||
	    len != SDR_ATOMIC_HDR + (size_t)a->count * each)
		return false;
	if (a->op != SDR_ATOMIC_READ)
		a->in = p + SDR_ATOMIC_HDR;
	if (a->form == SDR_ATOMIC_COMPARE)
		a->cmp = p + len - (size_t)a->count * size;
	return true;
}
