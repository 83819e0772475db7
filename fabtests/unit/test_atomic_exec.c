/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The arithmetic of atomics against a second one that is written differently: integers as numbers
 * of 128 bits with masks, floats and complex numbers by their parts.  Every operation on every type
 * with values at the edges, the old values, and which combinations there are; that nothing but the
 * elements is written, that reading writes nothing, and that threads lose no step.
 */
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "rel/msg/sdr_atomic_exec.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

enum family { INT, UINT, REAL, MINI, COMPLEX };

static const struct {
	uint8_t type;
	enum family family;
	uint32_t size, align;
} kinds[] = {
	{ SDR_ATOMIC_INT8, INT, 1, 1 },
	{ SDR_ATOMIC_UINT8, UINT, 1, 1 },
	{ SDR_ATOMIC_INT16, INT, 2, 2 },
	{ SDR_ATOMIC_UINT16, UINT, 2, 2 },
	{ SDR_ATOMIC_INT32, INT, 4, 4 },
	{ SDR_ATOMIC_UINT32, UINT, 4, 4 },
	{ SDR_ATOMIC_INT64, INT, 8, 8 },
	{ SDR_ATOMIC_UINT64, UINT, 8, 8 },
	{ SDR_ATOMIC_INT128, INT, 16, 16 },
	{ SDR_ATOMIC_UINT128, UINT, 16, 16 },
	{ SDR_ATOMIC_FLOAT, REAL, 4, 4 },
	{ SDR_ATOMIC_DOUBLE, REAL, 8, 8 },
	{ SDR_ATOMIC_FLOAT16, MINI, 2, 2 },
	{ SDR_ATOMIC_BFLOAT16, MINI, 2, 2 },
	{ SDR_ATOMIC_E4M3, MINI, 1, 1 },
	{ SDR_ATOMIC_E5M2, MINI, 1, 1 },
	{ SDR_ATOMIC_FLOAT_COMPLEX, COMPLEX, 8, 4 },
	{ SDR_ATOMIC_DOUBLE_COMPLEX, COMPLEX, 16, 8 },
#ifdef SDR_ATOMIC_LDBL
	{ SDR_ATOMIC_LDBL, REAL, sizeof(long double), _Alignof(long double) },
	{ SDR_ATOMIC_LDBL_COMPLEX, COMPLEX, 2 * sizeof(long double), _Alignof(long double) },
#endif
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

/* ---- the other arithmetic -------------------------------------------------------------------- */

/* A compare-and-swap whose comparison has this outcome; -2: not ordered. */
static bool swaps(uint8_t op, int order)
{
	switch (op) {
	case SDR_ATOMIC_CSWAP:
		return order == 0;
	case SDR_ATOMIC_CSWAP_NE:
		return order != 0;
	case SDR_ATOMIC_CSWAP_LE:
		return order == 0 || order == -1;
	case SDR_ATOMIC_CSWAP_LT:
		return order == -1;
	case SDR_ATOMIC_CSWAP_GE:
		return order == 0 || order == 1;
	default:
		assert_int_equal(op, SDR_ATOMIC_CSWAP_GT);
		return order == 1;
	}
}

static u128 int_mask(uint32_t bits)
{
	return bits == 128 ? ~(u128)0 : ((u128)1 << bits) - 1;
}

/* -1, 0, 1 */
static int int_order(u128 x, u128 y, uint32_t bits, bool is_signed)
{
	u128 sign = (u128)1 << (bits - 1);

	if (is_signed) { /* to numbers from 0 on, in the same order */
		x ^= sign;
		y ^= sign;
	}
	return x == y ? 0 : x < y ? -1 : 1;
}

static u128 int_ref(uint8_t op, uint32_t bits, bool is_signed, u128 a, u128 b, u128 c)
{
	u128 r = a;

	switch (op) {
	case SDR_ATOMIC_MIN:
		r = int_order(b, a, bits, is_signed) < 0 ? b : a;
		break;
	case SDR_ATOMIC_MAX:
		r = int_order(b, a, bits, is_signed) > 0 ? b : a;
		break;
	case SDR_ATOMIC_SUM:
		r = a + b;
		break;
	case SDR_ATOMIC_DIFF:
		r = a + ~b + 1;
		break;
	case SDR_ATOMIC_PROD:
		r = 0;
		for (uint32_t i = 0; i < bits; i++)
			if (b >> i & 1)
				r += a << i;
		break;
	case SDR_ATOMIC_LOR:
		r = (a | b) != 0;
		break;
	case SDR_ATOMIC_LAND:
		r = a && b;
		break;
	case SDR_ATOMIC_LXOR:
		r = !a ^ !b;
		break;
	case SDR_ATOMIC_BOR:
		r = ~(~a & ~b);
		break;
	case SDR_ATOMIC_BAND:
		r = ~(~a | ~b);
		break;
	case SDR_ATOMIC_BXOR:
		r = (a | b) & ~(a & b);
		break;
	case SDR_ATOMIC_READ:
		break;
	case SDR_ATOMIC_WRITE:
		r = b;
		break;
	case SDR_ATOMIC_MSWAP:
		r = 0;
		for (uint32_t i = 0; i < bits; i++)
			r |= ((c >> i & 1 ? b : a) >> i & 1) << i;
		break;
	default:
		r = swaps(op, int_order(c, a, bits, is_signed)) ? b : a;
	}
	return r & int_mask(bits);
}

static int real_order(long double x, long double y)
{
	return isnan(x) || isnan(y) ? -2 : x < y ? -1 : x > y;
}

/* One part; of complex numbers those operations that go by parts. */
static long double real_ref(uint8_t op, long double a, long double b, long double c)
{
	switch (op) {
	case SDR_ATOMIC_MIN:
		return real_order(b, a) == -1 ? b : a;
	case SDR_ATOMIC_MAX:
		return real_order(b, a) == 1 ? b : a;
	case SDR_ATOMIC_SUM:
		return a + b;
	case SDR_ATOMIC_DIFF:
		return a - b;
	case SDR_ATOMIC_PROD:
		return a * b;
	case SDR_ATOMIC_LOR:
		return !(a == 0) || !(b == 0);
	case SDR_ATOMIC_LAND:
		return !(a == 0) && !(b == 0);
	case SDR_ATOMIC_LXOR:
		return (a == 0) != (b == 0);
	case SDR_ATOMIC_READ:
		return a;
	case SDR_ATOMIC_WRITE:
		return b;
	default:
		return swaps(op, real_order(c, a)) ? b : a;
	}
}

static void complex_ref(uint8_t op, const long double *a, const long double *b,
			const long double *c, long double *r)
{
	bool za = a[0] == 0 && a[1] == 0, zb = b[0] == 0 && b[1] == 0;
	bool same = a[0] == c[0] && a[1] == c[1];

	r[1] = 0;
	switch (op) {
	case SDR_ATOMIC_PROD:
		r[0] = a[0] * b[0] - a[1] * b[1];
		r[1] = a[0] * b[1] + a[1] * b[0];
		break;
	case SDR_ATOMIC_LOR:
		r[0] = !za || !zb;
		break;
	case SDR_ATOMIC_LAND:
		r[0] = !za && !zb;
		break;
	case SDR_ATOMIC_LXOR:
		r[0] = za != zb;
		break;
	case SDR_ATOMIC_CSWAP:
	case SDR_ATOMIC_CSWAP_NE:
		for (int i = 0; i < 2; i++)
			r[i] = same == (op == SDR_ATOMIC_CSWAP) ? b[i] : a[i];
		break;
	default:
		for (int i = 0; i < 2; i++)
			r[i] = real_ref(op, a[i], b[i], c[i]);
	}
}

/* ---- values ---------------------------------------------------------------------------------- */

static const u128 ints[] = { 0,
			     1,
			     2,
			     3,
			     0x7f,
			     0x80,
			     0xff,
			     0x7fff,
			     0x8000,
			     0xa5c3,
			     0x7fffffff,
			     0x80000000,
			     0xffffffff,
			     0x0123456789abcdef,
			     0x7fffffffffffffff,
			     0x8000000000000000,
			     ~(u128)0,
			     (u128)1 << 127,
			     ((u128)1 << 127) - 1 };
/* Sums and products of two are exact in every type, so that nothing depends on rounding. */
static const long double reals[] = { 0, -0.0L, 1, -1, 0.5L, -2.25L, 3, 1024, -40, 0.125L };
/* Those of small floats: exact in each, and what two of them make is in its range. */
static const long double minis[] = { 0, -0.0L, 1, -1, 0.5L, -1.5L, 3, 14, -20, 0.125L };
_Static_assert(sizeof(minis) == sizeof(reals), "as many");
#define NINTS  (sizeof(ints) / sizeof(*ints))
#define NREALS (sizeof(reals) / sizeof(*reals))

static void real_put(uint32_t size, uint8_t *p, long double x)
{
	float f = (float)x;
	double d = (double)x;

	memset(p, 0, size);
	if (size == sizeof(f))
		memcpy(p, &f, sizeof(f));
	else if (size == sizeof(d))
		memcpy(p, &d, sizeof(d));
	else
		memcpy(p, &x, LDBL_MANT_DIG == 64 ? 10 : sizeof(x));
}

/* The code of a small float that is nearest: every one is looked at. */
static uint16_t mini_ref(uint8_t type, long double x)
{
	static const struct {
		uint8_t exponent, fraction;
		bool finite;
	} formats[] = {
		[SDR_ATOMIC_FLOAT16] = { 5, 10, false },
		[SDR_ATOMIC_BFLOAT16] = { 8, 7, false },
		[SDR_ATOMIC_E4M3] = { 4, 3, true },
		[SDR_ATOMIC_E5M2] = { 5, 2, false },
	};
	int e = formats[type].exponent, f = formats[type].fraction;
	uint32_t top = 1u << (e + f), end = formats[type].finite ? top - 1 : top - (1u << f);
	long double best = INFINITY, v;
	uint32_t got = 0;

	for (uint32_t c = 0; c < end; c++) { /* numbers, in their order */
		uint32_t row = c >> f;

		v = ldexpl((c & ((1u << f) - 1)) + (row ? 1u << f : 0),
			   (int)(row ? row : 1) - (1 << (e - 1)) + 1 - f);
		if (fabsl(v - fabsl(x)) < best || (fabsl(v - fabsl(x)) == best && !(c & 1))) {
			best = fabsl(v - fabsl(x));
			got = c;
		}
	}
	return (uint16_t)(got | (signbit(x) ? top : 0));
}

/* The same; the numbers that these tests make are few, and are looked for once. */
static uint16_t mini_code(uint8_t type, long double x)
{
	static struct {
		long double x;
		uint16_t code;
		uint8_t type;
	} known[1024];
	static uint32_t n;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (known[i].type == type && known[i].x == x && !signbit(known[i].x) == !signbit(x))
			return known[i].code;
	if (n == sizeof(known) / sizeof(known[0]) || isnan(x))
		return mini_ref(type, x);
	known[n].x = x;
	known[n].type = type;
	known[n].code = mini_ref(type, x);
	return known[n++].code;
}

/* A number of one part as type k stores it. */
static void part_put(uint32_t k, uint8_t *p, long double x)
{
	uint32_t parts = kinds[k].family == COMPLEX ? 2 : 1;
	uint16_t code;

	if (kinds[k].family != MINI) {
		real_put(kinds[k].size / parts, p, x);
		return;
	}
	code = mini_code(kinds[k].type, x);
	memcpy(p, &code, kinds[k].size);
}

static uint32_t values(uint32_t k)
{
	return kinds[k].family == COMPLEX ? NREALS * NREALS
	       : kinds[k].family >= REAL  ? NREALS
					  : NINTS;
}

static void value_put(uint32_t k, uint32_t i, uint8_t *p)
{
	uint32_t size = kinds[k].size;

	if (kinds[k].family == COMPLEX) {
		part_put(k, p, reals[i % NREALS]);
		part_put(k, p + size / 2, reals[i / NREALS]);
	} else if (kinds[k].family >= REAL) {
		part_put(k, p, kinds[k].family == MINI ? minis[i] : reals[i]);
	} else {
		memcpy(p, &ints[i], size);
	}
}

static void value_ref(uint32_t k, uint8_t op, const uint32_t *i, uint8_t *p)
{
	uint32_t size = kinds[k].size;
	long double z[3][2], r[2];

	if (kinds[k].family == COMPLEX) {
		for (int j = 0; j < 3; j++) {
			z[j][0] = reals[i[j] % NREALS];
			z[j][1] = reals[i[j] / NREALS];
		}
		complex_ref(op, z[0], z[1], z[2], r);
		part_put(k, p, r[0]);
		part_put(k, p + size / 2, r[1]);
	} else if (kinds[k].family >= REAL) {
		for (int j = 0; j < 3; j++)
			z[j][0] = kinds[k].family == MINI ? minis[i[j]] : reals[i[j]];
		part_put(k, p, real_ref(op, z[0][0], z[1][0], z[2][0]));
	} else {
		u128 m = int_mask(size * 8), v;

		v = int_ref(op, size * 8, kinds[k].family == INT, ints[i[0]] & m, ints[i[1]] & m,
			    ints[i[2]] & m);
		memcpy(p, &v, size);
	}
}

/* ---- tests ----------------------------------------------------------------------------------- */

static bool expected(uint8_t op, enum family family)
{
	bool bits = op == SDR_ATOMIC_BOR || op == SDR_ATOMIC_BAND || op == SDR_ATOMIC_BXOR ||
		    op == SDR_ATOMIC_MSWAP;
	bool order = op == SDR_ATOMIC_MIN || op == SDR_ATOMIC_MAX ||
		     (op >= SDR_ATOMIC_CSWAP_LE && op <= SDR_ATOMIC_CSWAP_GT);

	return !(bits && family >= REAL) && !(order && family == COMPLEX);
}

static void exec__has_every_operation_that_means_something(void **state)
{
	uint32_t have = 0;

	(void)state;
	for (uint32_t k = 0; k < KINDS; k++) {
		assert_int_equal(sdr_atomic_size(kinds[k].type), kinds[k].size);
		assert_int_equal(sdr_atomic_align(kinds[k].type), kinds[k].align);
		for (uint8_t op = 0; op < SDR_ATOMIC_OPS; op++) {
			assert_int_equal(sdr_atomic_does(op, kinds[k].type),
					 expected(op, kinds[k].family));
			have += sdr_atomic_does(op, kinds[k].type);
		}
		assert_false(sdr_atomic_does(SDR_ATOMIC_OPS, kinds[k].type));
	}
	for (uint32_t t = 0; t < 256; t++) /* and no other */
		for (uint32_t op = 0; op < 256; op++)
			have -= sdr_atomic_does((uint8_t)op, (uint8_t)t);
	assert_int_equal(have, 0);
	assert_int_equal(sdr_atomic_align(SDR_ATOMIC_TYPES), 0);
}

/* Parts of -0 and +0 are equal, and a result may have either sign. */
static bool same_value(uint32_t k, const uint8_t *x, const uint8_t *y)
{
	uint32_t size = kinds[k].size, parts = kinds[k].family == COMPLEX ? 2 : 1;
	uint8_t zero[2][32];

	if (kinds[k].family < REAL)
		return !memcmp(x, y, size);
	size /= parts;
	part_put(k, zero[0], 0);
	part_put(k, zero[1], -0.0L);
	for (uint32_t i = 0; i < parts; i++, x += size, y += size) {
		bool zx = !memcmp(x, zero[0], size) || !memcmp(x, zero[1], size);
		bool zy = !memcmp(y, zero[0], size) || !memcmp(y, zero[1], size);

		if (memcmp(x, y, size) && !(zx && zy))
			return false;
	}
	return true;
}

/* An array of some, at an aligned place, between guards; `shift` by a multiple of the alignment. */
static void check(uint32_t k, uint8_t op, const uint32_t (*i)[3], uint32_t n, uint32_t shift)
{
	_Alignas(64) uint8_t mem[64 + 32 * 8 + 64];
	uint8_t guard[sizeof(mem)];
	uint8_t in[32 * 8], cmp[32 * 8], old[32 * 8 + 1], want[32];
	uint32_t size = kinds[k].size;
	struct sdr_atomic_work w = { op, kinds[k].type, n, mem + 32 + shift, in, cmp, old };

	memset(mem, 0x5a, sizeof(mem));
	memset(old, 0x5a, sizeof(old));
	for (uint32_t j = 0; j < n; j++) {
		value_put(k, i[j][0], (uint8_t *)w.at + j * size);
		value_put(k, i[j][1], in + j * size);
		value_put(k, i[j][2], cmp + j * size);
	}
	if (op == SDR_ATOMIC_READ)
		w.in = NULL;
	if (!sdr_atomic_goes(op, SDR_ATOMIC_COMPARE))
		w.cmp = NULL;
	sdr_atomic_exec(&w);
	for (uint32_t j = 0; j < n; j++) {
		value_put(k, i[j][0], want);
		assert_memory_equal(old + j * size, want, size);
		value_ref(k, op, i[j], want);
		if (!same_value(k, (uint8_t *)w.at + j * size, want))
			fail_msg("operation %u type %u values %u %u %u", op, kinds[k].type, i[j][0],
				 i[j][1], i[j][2]);
	}
	assert_int_equal(old[n * size], 0x5a);
	memset(w.at, 0x5a, n * size);
	memset(guard, 0x5a, sizeof(guard));
	assert_memory_equal(mem, guard, sizeof(mem));
}

static void exec__agrees_with_the_other_arithmetic(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < KINDS; k++) {
		uint32_t n = values(k), step = n > 20 ? 7 : 1, m = 0;

		for (uint8_t op = 0; op < SDR_ATOMIC_OPS; op++) {
			uint32_t v[4][3];

			if (!sdr_atomic_does(op, kinds[k].type))
				continue;
			for (uint32_t a = 0; a < n; a += step)
				for (uint32_t b = 0; b < n; b += step)
					for (uint32_t c = 0; c < n; c += step) {
						v[m][0] = a;
						v[m][1] = b;
						v[m][2] = c % 3 ? c : a;
						if (++m < 4)
							continue;
						check(k, op, (const uint32_t(*)[3])v, 4,
						      c % 2 ? kinds[k].align : 0);
						m = 0;
					}
		}
	}
}

static void exec__knows_what_the_processor_does_alone(void **state)
{
	_Alignas(64) static uint8_t mem[64];

	(void)state;
	for (uint32_t k = 0; k < KINDS; k++) {
		assert_int_equal(sdr_atomic_alone(kinds[k].type, mem), kinds[k].size <= 8);
		assert_int_equal(sdr_atomic_alone(kinds[k].type, mem + 4), kinds[k].size <= 4);
	}
}

static void exec__compares_floats_as_c_does(void **state)
{
	double at = NAN, in = 7, cmp = NAN, old;
	struct sdr_atomic_work w = {
		SDR_ATOMIC_CSWAP,      SDR_ATOMIC_DOUBLE, 1, &at, (const uint8_t *)&in,
		(const uint8_t *)&cmp, (uint8_t *)&old
	};

	(void)state;
	sdr_atomic_exec(&w);
	assert_true(isnan(at) && isnan(old));
	w.op = SDR_ATOMIC_CSWAP_GE;
	sdr_atomic_exec(&w);
	assert_true(isnan(at));
	w.op = SDR_ATOMIC_MIN;
	sdr_atomic_exec(&w);
	assert_true(isnan(at));
	w.op = SDR_ATOMIC_CSWAP_NE;
	sdr_atomic_exec(&w);
	assert_true(at == 7);
	at = -0.0;
	cmp = 0;
	w.op = SDR_ATOMIC_CSWAP;
	sdr_atomic_exec(&w);
	assert_true(at == 7);
}

/* Memory that cannot be written. */
static void exec__reads_without_writing(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t old[32], zero[32] = { 0 }, cmp[32], *p;
	struct sdr_atomic_work w = { .count = 1, .old = old };

	(void)state;
	p = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	w.at = p;
	for (uint32_t k = 0; k < KINDS; k++) {
		w.type = kinds[k].type;
		memset(old, 1, sizeof(old));
		w.op = SDR_ATOMIC_READ;
		w.in = w.cmp = NULL;
		sdr_atomic_exec(&w);
		assert_memory_equal(old, zero, kinds[k].size);
		/* nor does a swap that is not one */
		w.op = SDR_ATOMIC_CSWAP;
		value_put(k, 2, cmp);
		w.in = w.cmp = cmp;
		sdr_atomic_exec(&w);
	}
	munmap(p, page);
}

static double real_sum;
static uint32_t steps[2];

static void *stepper(void *arg)
{
	double one = 1;
	uint32_t add = 1, old;
	struct sdr_atomic_work d = { .op = SDR_ATOMIC_SUM,
				     .type = SDR_ATOMIC_DOUBLE,
				     .count = 1,
				     .at = &real_sum,
				     .in = (const uint8_t *)&one };
	struct sdr_atomic_work u = { .op = SDR_ATOMIC_SUM,
				     .type = SDR_ATOMIC_UINT32,
				     .count = 1,
				     .at = &steps[1],
				     .in = (const uint8_t *)&add,
				     .old = (uint8_t *)&old };

	for (uint32_t i = 0; i < 20000; i++) {
		sdr_atomic_exec(&d);
		sdr_atomic_exec(&u);
		__atomic_fetch_add(&steps[1], 1, __ATOMIC_SEQ_CST); /* the processor as well */
	}
	return arg;
}

static void exec__loses_no_step_of_threads(void **state)
{
	enum { N = 4 };
	pthread_t t[N];

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(pthread_create(&t[i], NULL, stepper, NULL), 0);
	for (uint32_t i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	assert_true(real_sum == N * 20000.0);
	assert_int_equal(steps[1], 2 * N * 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exec__has_every_operation_that_means_something),
		cmocka_unit_test(exec__agrees_with_the_other_arithmetic),
		cmocka_unit_test(exec__knows_what_the_processor_does_alone),
		cmocka_unit_test(exec__compares_floats_as_c_does),
		cmocka_unit_test(exec__reads_without_writing),
		cmocka_unit_test(exec__loses_no_step_of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
