/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The arithmetic of atomics.
 *
 * A table says for each operation and type how a new value comes from the old one, the operand and
 * the value to compare with; NULL where the operation has no meaning (complex numbers have no
 * order, floats no bits).  Around that is one loop for each width.  Elements of 1, 2, 4 and 8 bytes
 * that lie at a multiple of their size are exchanged by compare-and-swap, so that they are atomic
 * against every other processor and process that does the same; what has no new value is only
 * read, and may be memory that cannot be written.  Wider ones, and complex numbers that lie at a
 * multiple of their half, are plain memory: the caller keeps others away (sdr_atomic_alone).
 *
 * Integers wrap.  Comparisons are those of C: a NaN is unlike everything, itself included, and -0
 * is 0.  Logical results are 0 and 1.  Bytes of a long double that mean nothing stay what they
 * were.  No state, any thread.
 */
#include <complex.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_minifloat.h"
#include "sdr_atomic_exec.h"

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
#endif

#define ELEM_MAX 32u /* bytes */

/* v: the old value, replaced by the new one.  False: there is none.  Aligned or not. */
typedef bool (*combine_fn)(void *v, const void *in, const void *cmp);

/* How a value gets into its place. */
#define PUT_ALL(v, x) memcpy((v), &(x), sizeof(x))
/* An x87 has 10 bytes that count. */
#define LDBL_BYTES     (LDBL_MANT_DIG == 64 ? 10u : sizeof(long double))
#define PUT_LDBL(v, x) memcpy((v), &(x), LDBL_BYTES)
#define PUT_CLDBL(v, x)                                                           \
	(memcpy((v), &(x), LDBL_BYTES), memcpy((char *)(v) + sizeof(long double), \
					       (char *)&(x) + sizeof(long double), LDBL_BYTES))

#define COMBINE(name, t, T, PUT, has, value)                             \
	static bool name##_##t(void *v, const void *in, const void *cmp) \
	{                                                                \
		T a, b = 0, c = 0;                                       \
                                                                         \
		memcpy(&a, v, sizeof(a));                                \
		if (in)                                                  \
			memcpy(&b, in, sizeof(b));                       \
		if (cmp)                                                 \
			memcpy(&c, cmp, sizeof(c));                      \
		if (!(has))                                              \
			return false;                                    \
		a = (T)(value);                                          \
		PUT(v, a);                                               \
		(void)b;                                                 \
		(void)c;                                                 \
		return true;                                             \
	}

/* W: unsigned, and wide enough that nothing overflows before it is cut. */
#define COMBINE_ANY(t, T, W, PUT)                            \
	COMBINE(sum, t, T, PUT, true, (W)a + (W)b)           \
	COMBINE(diff, t, T, PUT, true, (W)a - (W)b)          \
	COMBINE(prod, t, T, PUT, true, (W)(a) * (W)(b))      \
	COMBINE(lor, t, T, PUT, true, a != 0 || b != 0)      \
	COMBINE(land, t, T, PUT, true, a != 0 && b != 0)     \
	COMBINE(lxor, t, T, PUT, true, (a != 0) != (b != 0)) \
	COMBINE(write, t, T, PUT, true, b)                   \
	COMBINE(cswap, t, T, PUT, c == a, b)                 \
	COMBINE(cswap_ne, t, T, PUT, c != a, b)
#define COMBINE_ORDER(t, T, PUT)                \
	COMBINE(min, t, T, PUT, b < a, b)       \
	COMBINE(max, t, T, PUT, b > a, b)       \
	COMBINE(cswap_le, t, T, PUT, c <= a, b) \
	COMBINE(cswap_lt, t, T, PUT, c < a, b)  \
	COMBINE(cswap_ge, t, T, PUT, c >= a, b) \
	COMBINE(cswap_gt, t, T, PUT, c > a, b)
#define COMBINE_BITS(t, T)                            \
	COMBINE(bor, t, T, PUT_ALL, true, a | b)      \
	COMBINE(band, t, T, PUT_ALL, true, (a) & (b)) \
	COMBINE(bxor, t, T, PUT_ALL, true, a ^ b)     \
	COMBINE(mswap, t, T, PUT_ALL, true, (b & c) | (a & ~c))

#define INTEGER(t, T, W)              \
	COMBINE_ANY(t, T, W, PUT_ALL) \
	COMBINE_ORDER(t, T, PUT_ALL)  \
	COMBINE_BITS(t, T)
#define REAL(t, T, PUT)           \
	COMBINE_ANY(t, T, T, PUT) \
	COMBINE_ORDER(t, T, PUT)
#define COMPLEX(t, T, PUT) COMBINE_ANY(t, T, T, PUT)

INTEGER(int8, int8_t, uint64_t)
INTEGER(uint8, uint8_t, uint64_t)
INTEGER(int16, int16_t, uint64_t)
INTEGER(uint16, uint16_t, uint64_t)
INTEGER(int32, int32_t, uint64_t)
INTEGER(uint32, uint32_t, uint64_t)
INTEGER(int64, int64_t, uint64_t)
INTEGER(uint64, uint64_t, uint64_t)
REAL(float, float, PUT_ALL)
REAL(double, double, PUT_ALL)
COMPLEX(cfloat, float complex, PUT_ALL)
COMPLEX(cdouble, double complex, PUT_ALL)
#ifdef SDR_ATOMIC_LDBL
REAL(ldbl, long double, PUT_LDBL)
COMPLEX(cldbl, long double complex, PUT_CLDBL)
#endif
#ifdef __SIZEOF_INT128__
INTEGER(int128, int128, uint128)
INTEGER(uint128, uint128, uint128)
#endif

/*
 * Small floats, which C has no types for: a number is computed with doubles and rounded once; an
 * operand that is only moved keeps its bits.
 */
#define COMBINE_MINI(name, t, T, has, result)                            \
	static bool name##_##t(void *v, const void *in, const void *cmp) \
	{                                                                \
		T code[3] = { 0 };                                       \
		double a, b, c;                                          \
                                                                         \
		memcpy(&code[0], v, sizeof(T));                          \
		if (in)                                                  \
			memcpy(&code[1], in, sizeof(T));                 \
		if (cmp)                                                 \
			memcpy(&code[2], cmp, sizeof(T));                \
		a = sdr_minifloat_get(&sdr_##t, code[0]);                \
		b = sdr_minifloat_get(&sdr_##t, code[1]);                \
		c = sdr_minifloat_get(&sdr_##t, code[2]);                \
		if (!(has))                                              \
			return false;                                    \
		code[0] = (T)(result);                                   \
		memcpy(v, code, sizeof(T));                              \
		(void)a;                                                 \
		(void)b;                                                 \
		(void)c;                                                 \
		return true;                                             \
	}
#define MINI_MOVE(name, t, T, has) COMBINE_MINI(name, t, T, has, code[1])
#define MINI_NUMBER(name, t, T, value) \
	COMBINE_MINI(name, t, T, true, sdr_minifloat_put(&sdr_##t, (value)))
#define MINI(t, T)                                    \
	MINI_NUMBER(sum, t, T, a + b)                 \
	MINI_NUMBER(diff, t, T, a - b)                \
	MINI_NUMBER(prod, t, T, (a) * (b))            \
	MINI_NUMBER(lor, t, T, a != 0 || b != 0)      \
	MINI_NUMBER(land, t, T, a != 0 && b != 0)     \
	MINI_NUMBER(lxor, t, T, (a != 0) != (b != 0)) \
	MINI_MOVE(write, t, T, true)                  \
	MINI_MOVE(cswap, t, T, c == a)                \
	MINI_MOVE(cswap_ne, t, T, c != a)             \
	MINI_MOVE(min, t, T, b < a)                   \
	MINI_MOVE(max, t, T, b > a)                   \
	MINI_MOVE(cswap_le, t, T, c <= a)             \
	MINI_MOVE(cswap_lt, t, T, c < a)              \
	MINI_MOVE(cswap_ge, t, T, c >= a)             \
	MINI_MOVE(cswap_gt, t, T, c > a)

MINI(float16, uint16_t)
MINI(bfloat16, uint16_t)
MINI(e4m3, uint8_t)
MINI(e5m2, uint8_t)

static bool read_only(void *v, const void *in, const void *cmp)
{
	(void)v;
	(void)in;
	(void)cmp;
	return false;
}

struct type_row {
	uint32_t align; /* 0: not in this build */
	combine_fn combine[SDR_ATOMIC_OPS];
};

#define ROW_ANY(t)                                                                              \
	[SDR_ATOMIC_SUM] = sum_##t, [SDR_ATOMIC_DIFF] = diff_##t, [SDR_ATOMIC_PROD] = prod_##t, \
	[SDR_ATOMIC_LOR] = lor_##t, [SDR_ATOMIC_LAND] = land_##t, [SDR_ATOMIC_LXOR] = lxor_##t, \
	[SDR_ATOMIC_READ] = read_only, [SDR_ATOMIC_WRITE] = write_##t,                          \
	[SDR_ATOMIC_CSWAP] = cswap_##t, [SDR_ATOMIC_CSWAP_NE] = cswap_ne_##t
#define ROW_ORDER(t)                                                                \
	[SDR_ATOMIC_MIN] = min_##t, [SDR_ATOMIC_MAX] = max_##t,                     \
	[SDR_ATOMIC_CSWAP_LE] = cswap_le_##t, [SDR_ATOMIC_CSWAP_LT] = cswap_lt_##t, \
	[SDR_ATOMIC_CSWAP_GE] = cswap_ge_##t, [SDR_ATOMIC_CSWAP_GT] = cswap_gt_##t
#define ROW_BITS(t)                                                                             \
	[SDR_ATOMIC_BOR] = bor_##t, [SDR_ATOMIC_BAND] = band_##t, [SDR_ATOMIC_BXOR] = bxor_##t, \
	[SDR_ATOMIC_MSWAP] = mswap_##t
#define ROW_INTEGER(t, T)                                     \
	{                                                     \
		_Alignof(T),                                  \
		{                                             \
			ROW_ANY(t), ROW_ORDER(t), ROW_BITS(t) \
		}                                             \
	}
#define ROW_REAL(t, T)                           \
	{                                        \
		_Alignof(T),                     \
		{                                \
			ROW_ANY(t), ROW_ORDER(t) \
		}                                \
	}
#define ROW_COMPLEX(t, T)          \
	{                          \
		_Alignof(T),       \
		{                  \
			ROW_ANY(t) \
		}                  \
	}

static const struct type_row types[SDR_ATOMIC_TYPES] = {
	[SDR_ATOMIC_INT8] = ROW_INTEGER(int8, int8_t),
	[SDR_ATOMIC_UINT8] = ROW_INTEGER(uint8, uint8_t),
	[SDR_ATOMIC_INT16] = ROW_INTEGER(int16, int16_t),
	[SDR_ATOMIC_UINT16] = ROW_INTEGER(uint16, uint16_t),
	[SDR_ATOMIC_INT32] = ROW_INTEGER(int32, int32_t),
	[SDR_ATOMIC_UINT32] = ROW_INTEGER(uint32, uint32_t),
	[SDR_ATOMIC_INT64] = ROW_INTEGER(int64, int64_t),
	[SDR_ATOMIC_UINT64] = ROW_INTEGER(uint64, uint64_t),
	[SDR_ATOMIC_FLOAT] = ROW_REAL(float, float),
	[SDR_ATOMIC_DOUBLE] = ROW_REAL(double, double),
	[SDR_ATOMIC_FLOAT_COMPLEX] = ROW_COMPLEX(cfloat, float complex),
	[SDR_ATOMIC_DOUBLE_COMPLEX] = ROW_COMPLEX(cdouble, double complex),
#ifdef SDR_ATOMIC_LDBL
	[SDR_ATOMIC_LDBL] = ROW_REAL(ldbl, long double),
	[SDR_ATOMIC_LDBL_COMPLEX] = ROW_COMPLEX(cldbl, long double complex),
#endif
#ifdef __SIZEOF_INT128__
	[SDR_ATOMIC_INT128] = ROW_INTEGER(int128, int128),
	[SDR_ATOMIC_UINT128] = ROW_INTEGER(uint128, uint128),
#endif
	[SDR_ATOMIC_FLOAT16] = ROW_REAL(float16, uint16_t),
	[SDR_ATOMIC_BFLOAT16] = ROW_REAL(bfloat16, uint16_t),
	[SDR_ATOMIC_E4M3] = ROW_REAL(e4m3, uint8_t),
	[SDR_ATOMIC_E5M2] = ROW_REAL(e5m2, uint8_t),
};

uint32_t sdr_atomic_align(uint8_t type)
{
	return type < SDR_ATOMIC_TYPES ? types[type].align : 0;
}

bool sdr_atomic_does(uint8_t op, uint8_t type)
{
	return type < SDR_ATOMIC_TYPES && op < SDR_ATOMIC_OPS && types[type].combine[op];
}

bool sdr_atomic_alone(uint8_t type, const void *at)
{
	uint32_t size = sdr_atomic_size(type);

	SDR_ASSERT(size);
	return size <= sizeof(uint64_t) && !((uintptr_t)at % size);
}

/* ---- loops ----------------------------------------------------------------------------------- */

#define EXEC(bits)                                                                      \
	static void exec_##bits(const struct sdr_atomic_work *w, combine_fn combine)    \
	{                                                                               \
		const size_t size = sizeof(uint##bits##_t);                             \
		uint##bits##_t *at = w->at, was, now;                                   \
                                                                                        \
		for (size_t i = 0; i < w->count; i++) {                                 \
			const uint8_t *in = w->in ? w->in + i * size : NULL;            \
			const uint8_t *cmp = w->cmp ? w->cmp + i * size : NULL;         \
                                                                                        \
			was = __atomic_load_n(at + i, __ATOMIC_SEQ_CST);                \
			do {                                                            \
				now = was;                                              \
			} while (combine(&now, in, cmp) &&                              \
				 !__atomic_compare_exchange_n(at + i, &was, now, false, \
							      __ATOMIC_SEQ_CST,         \
							      __ATOMIC_SEQ_CST));       \
			if (w->old)                                                     \
				memcpy(w->old + i * size, &was, size);                  \
		}                                                                       \
	}
EXEC(8)
EXEC(16)
EXEC(32)
EXEC(64)

static void exec_wide(const struct sdr_atomic_work *w, combine_fn combine, size_t size)
{
	uint8_t now[ELEM_MAX], *at = w->at;

	SDR_ASSERT(size <= sizeof(now));
	for (size_t i = 0; i < w->count; i++, at += size) {
		memcpy(now, at, size);
		if (w->old)
			memcpy(w->old + i * size, now, size);
		if (combine(now, w->in ? w->in + i * size : NULL,
			    w->cmp ? w->cmp + i * size : NULL))
			memcpy(at, now, size);
	}
}

void sdr_atomic_exec(const struct sdr_atomic_work *w)
{
	uint32_t size = sdr_atomic_size(w->type);
	combine_fn combine;

	SDR_ASSERT(sdr_atomic_does(w->op, w->type));
	SDR_ASSERT(!((uintptr_t)w->at % sdr_atomic_align(w->type)));
	combine = types[w->type].combine[w->op];
	if (!sdr_atomic_alone(w->type, w->at))
		exec_wide(w, combine, size);
	else if (size == 1)
		exec_8(w, combine);
	else if (size == 2)
		exec_16(w, combine);
	else if (size == 4)
		exec_32(w, combine);
	else
		exec_64(w, combine);
}
