/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which atomics there are, and what the layer below calls them: two tables, from libfabric's
 * datatypes and operations to the numbers of the wire.  What libfabric 2.6 has and the headers at
 * hand may not know stands there by its number, since the application's headers may be newer.  What
 * is in neither table is not supported.  Constant, any thread.
 */
#include <rdma/fi_errno.h>

#include "rel/msg/sdr_atomic_exec.h"

#include "sdr_atomic_map.h"

/* What this build's long double is, if the layer below has it. */
#ifdef SDR_ATOMIC_LDBL
#define SDR_MAP_LDBL	     SDR_ATOMIC_LDBL
#define SDR_MAP_LDBL_COMPLEX SDR_ATOMIC_LDBL_COMPLEX
#else
#define SDR_MAP_LDBL	     SDR_ATOMIC_TYPES
#define SDR_MAP_LDBL_COMPLEX SDR_ATOMIC_TYPES
#endif

/* Of libfabric 2.6; in 1.17 the operation's number is FI_ATOMIC_OP_LAST's. */
enum {
	SDR_MAP_FLOAT16 = 16,
	SDR_MAP_BFLOAT16 = 17,
	SDR_MAP_E4M3 = 18,
	SDR_MAP_E5M2 = 19,
	SDR_MAP_DIFF = 19,
};

static const uint8_t sdr_atomic_types[] = {
	[FI_INT8] = SDR_ATOMIC_INT8,
	[FI_UINT8] = SDR_ATOMIC_UINT8,
	[FI_INT16] = SDR_ATOMIC_INT16,
	[FI_UINT16] = SDR_ATOMIC_UINT16,
	[FI_INT32] = SDR_ATOMIC_INT32,
	[FI_UINT32] = SDR_ATOMIC_UINT32,
	[FI_INT64] = SDR_ATOMIC_INT64,
	[FI_UINT64] = SDR_ATOMIC_UINT64,
	[FI_FLOAT] = SDR_ATOMIC_FLOAT,
	[FI_DOUBLE] = SDR_ATOMIC_DOUBLE,
	[FI_FLOAT_COMPLEX] = SDR_ATOMIC_FLOAT_COMPLEX,
	[FI_DOUBLE_COMPLEX] = SDR_ATOMIC_DOUBLE_COMPLEX,
	[FI_LONG_DOUBLE] = SDR_MAP_LDBL,
	[FI_LONG_DOUBLE_COMPLEX] = SDR_MAP_LDBL_COMPLEX,
	[FI_INT128] = SDR_ATOMIC_INT128,
	[FI_UINT128] = SDR_ATOMIC_UINT128,
	[SDR_MAP_FLOAT16] = SDR_ATOMIC_FLOAT16,
	[SDR_MAP_BFLOAT16] = SDR_ATOMIC_BFLOAT16,
	[SDR_MAP_E4M3] = SDR_ATOMIC_E4M3,
	[SDR_MAP_E5M2] = SDR_ATOMIC_E5M2,
};
_Static_assert((int)FI_UINT128 + 1 == (int)SDR_MAP_FLOAT16 &&
		       (int)FI_INT128 == (int)FI_DATATYPE_LAST,
	       "a row for each datatype");

static const uint8_t sdr_atomic_ops_map[] = {
	[FI_MIN] = SDR_ATOMIC_MIN,	     [FI_MAX] = SDR_ATOMIC_MAX,
	[FI_SUM] = SDR_ATOMIC_SUM,	     [FI_PROD] = SDR_ATOMIC_PROD,
	[FI_LOR] = SDR_ATOMIC_LOR,	     [FI_LAND] = SDR_ATOMIC_LAND,
	[FI_BOR] = SDR_ATOMIC_BOR,	     [FI_BAND] = SDR_ATOMIC_BAND,
	[FI_LXOR] = SDR_ATOMIC_LXOR,	     [FI_BXOR] = SDR_ATOMIC_BXOR,
	[FI_ATOMIC_READ] = SDR_ATOMIC_READ,  [FI_ATOMIC_WRITE] = SDR_ATOMIC_WRITE,
	[FI_CSWAP] = SDR_ATOMIC_CSWAP,	     [FI_CSWAP_NE] = SDR_ATOMIC_CSWAP_NE,
	[FI_CSWAP_LE] = SDR_ATOMIC_CSWAP_LE, [FI_CSWAP_LT] = SDR_ATOMIC_CSWAP_LT,
	[FI_CSWAP_GE] = SDR_ATOMIC_CSWAP_GE, [FI_CSWAP_GT] = SDR_ATOMIC_CSWAP_GT,
	[FI_MSWAP] = SDR_ATOMIC_MSWAP,	     [SDR_MAP_DIFF] = SDR_ATOMIC_DIFF,
};
_Static_assert(sizeof(sdr_atomic_ops_map) == SDR_ATOMIC_OPS && (int)FI_MSWAP + 1 == SDR_MAP_DIFF,
	       "a row for each operation");

size_t sdr_atomic_map(enum fi_datatype datatype, enum fi_op op, struct sdr_rel_atomic *a)
{
	if ((unsigned int)datatype >= sizeof(sdr_atomic_types) ||
	    (unsigned int)op >= sizeof(sdr_atomic_ops_map))
		return 0;
	a->type = sdr_atomic_types[datatype];
	a->op = sdr_atomic_ops_map[op];
	if (!sdr_atomic_goes(a->op, a->form) || !sdr_atomic_does(a->op, a->type))
		return 0;
	return sdr_atomic_size(a->type);
}

int sdr_atomic_query(struct fid_domain *dom, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags)
{
	struct sdr_rel_atomic a = { .form = flags & FI_FETCH_ATOMIC	? SDR_ATOMIC_FETCH
					    : flags & FI_COMPARE_ATOMIC ? SDR_ATOMIC_COMPARE
									: SDR_ATOMIC_UPDATE };
	size_t size;

	(void)dom;
	if (flags & FI_TAGGED) /* into tagged receives: no */
		return -FI_EOPNOTSUPP;
	if ((flags & ~(FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC)) ||
	    flags == (FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC))
		return -FI_EINVAL;
	size = sdr_atomic_map(datatype, op, &a);
	if (!size)
		return -FI_EOPNOTSUPP;
	attr->size = size;
	attr->count = SDR_REL_ATOMIC_MAX / size;
	return 0;
}
