/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bytes of the code against arithmetic written out by its definition, and every kernel that
 * this CPU has against the portable one.  Symbols lie against pages that cannot be touched, so that
 * a kernel that reads or writes beyond them is found without a sanitizer.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include "test_fec_util.h"

#define LEN_MAX 20000u /* bytes of a symbol here */
#define EDGE	64u    /* bytes around an output that are looked at */
#define CANARY	0x3c

/* Multiplication by its definition: polynomials over bits, modulo 0x11d. */
static uint8_t gf_mul_slow(uint8_t a, uint8_t b)
{
	uint32_t p = 0, x = a, i;

	for (i = 0; i < 8; i++, x <<= 1)
		if (b >> i & 1)
			p ^= x;
	for (i = 15; i >= 8; i--)
		if (p >> i & 1)
			p ^= 0x11du << (i - 8);
	return (uint8_t)p;
}

static void coef__is_cauchy_scaled_to_ones(void **state)
{
	uint32_t i, j;

	(void)state;
	for (i = 0; i < SYMS - 1; i++) {
		for (j = 0; i + j < SYMS - 1; j++) {
			uint8_t c = sdr_fec_coef(i, j);

			assert_int_equal(gf_mul_slow(c, (uint8_t)((255 - i) ^ j)), 255 ^ j);
			if (!i)
				assert_int_equal(c, 1);
		}
	}
}

static void create__refuses_what_the_field_cannot(void **state)
{
	struct sdr_fec *f = NULL;

	(void)state;
	assert_int_equal(sdr_fec_create(0, 1, &f), -EINVAL);
	assert_int_equal(sdr_fec_create(1, 0, &f), -EINVAL);
	assert_int_equal(sdr_fec_create(200, 57, &f), -EINVAL);
	assert_int_equal(sdr_fec_create(256, 1, &f), -EINVAL);
	assert_int_equal(sdr_fec_create(2, UINT32_MAX, &f), -EINVAL);
	assert_int_equal(sdr_fec_create(UINT32_MAX, 2, &f), -EINVAL);
	assert_null(f);
	assert_int_equal(sdr_fec_create(200, 56, &f), 0);
	assert_int_equal(sdr_fec_k(f), 200);
	assert_int_equal(sdr_fec_rows(f), 56);
	sdr_fec_destroy(f);
	sdr_fec_destroy(NULL);
}

static void kernel__is_chosen_by_name(void **state)
{
	const char *best;
	uint32_t i;

	(void)state;
	assert_true(sdr_fec_kernel_set(NULL));
	best = sdr_fec_kernel();
	assert_string_not_equal(best, "base");
	for (i = 0; i < NAMES; i++) {
		if (sdr_fec_kernel_set(names[i]))
			assert_string_equal(sdr_fec_kernel(), names[i]);
		else
			print_message("this CPU has no %s\n", names[i]);
	}
	assert_true(sdr_fec_kernel_set("base"));
	assert_true(sdr_fec_kernel_set("isal"));
	assert_false(sdr_fec_kernel_set("none such"));
	assert_string_equal(sdr_fec_kernel(), "isal");
	assert_true(sdr_fec_kernel_set(NULL));
	assert_string_equal(sdr_fec_kernel(), best);
}

static void base__is_the_definition(void **state)
{
	struct bed b;
	uint32_t i, j, at;

	(void)state;
	assert_true(sdr_fec_kernel_set("base"));
	bed_open(&b, 19, 11, 37);
	sdr_fec_encode(b.f, b.k, in(b.data), b.len, 0, b.rows, b.par);
	for (i = 0; i < b.rows; i++) {
		for (at = 0; at < b.len; at++) {
			uint8_t sum = 0;

			for (j = 0; j < b.k; j++)
				sum ^= gf_mul_slow(sdr_fec_coef(i, j), b.data[j][at]);
			assert_int_equal(b.par[i][at], sum);
		}
	}
	bed_close(&b);
}

/* Rows from k symbols, some of them zeros: at once, and one or a few at a time; the same. */
static void both_ways(const struct sdr_fec *f, uint32_t k, uint8_t *const *src, size_t len,
		      uint32_t row, uint32_t n, uint8_t *const *enc, uint8_t *const *upd)
{
	uint32_t i, j, some;
	bool first = true;

	sdr_fec_encode(f, k, in(src), len, row, n, enc);
	for (j = 0; j < k; j += some) {
		uint32_t most = rng(3) ? 1 + rng(20) : 1;

		for (some = 0; some < most && j + some < k && src[j + some]; some++)
			;
		if (some)
			sdr_fec_update(f, j, some, in(src + j), len, row, n, upd, first);
		first &= !some;
		some += !some; /* zeros */
	}
	for (i = 0; i < n && !first; i++)
		assert_memory_equal(enc[i], upd[i], len);
}

/* A symbol that ends where memory ends, or (one in three) up to 63 bytes before. */
static uint8_t *fenced(uint8_t *map, size_t page, size_t len)
{
	return map + (len / page + 2) * page - len - (rng(3) ? 0 : rng(EDGE));
}

/* An output with its surroundings in a known state. */
static uint8_t *fenced_out(uint8_t *map, size_t page, size_t len)
{
	memset(map, CANARY, (len / page + 2) * page);
	return fenced(map, page, len);
}

static void surroundings_check(const uint8_t *map, size_t page, const uint8_t *sym, size_t len)
{
	const uint8_t *end = map + (len / page + 2) * page, *p;

	for (p = sym - EDGE; p < sym; p++)
		assert_int_equal(*p, CANARY);
	for (p = sym + len; p < end; p++)
		assert_int_equal(*p, CANARY);
}

static void kernels__agree_at_every_length(void **state)
{
	static const uint16_t big[] = { 255,  256,  257,  511,	512,  1000,  1407,  2048, 4095,
					4096, 4097, 4224, 4352, 8192, 12289, 16384, 20000 };
	/* more than two groups of inputs, more than two strips of outputs */
	enum { K = 35, N = 19, ROWS = 24 };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), area = (LEN_MAX / page + 3) * page;
	uint8_t *map[K + 2 * N], *src[K], *enc[N], *upd[N], *want[N];
	struct sdr_fec *f;
	uint32_t i, t, q;

	(void)state;
	assert_int_equal(sdr_fec_create(K, ROWS, &f), 0);
	for (i = 0; i < K + 2 * N; i++) {
		map[i] = mmap(NULL, area, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
		assert_true(map[i] != MAP_FAILED);
		fill(map[i], area);
	}
	for (i = 0; i < N; i++) {
		want[i] = malloc(LEN_MAX);
		assert_non_null(want[i]);
	}
	for (t = 1; t <= 200 + sizeof(big) / sizeof(big[0]); t++) {
		size_t len = t <= 200 ? t : big[t - 201], fence = (len / page + 2) * page;
		uint32_t k = t <= 200 ? 1 + rng(K) : K, n = t <= 200 ? 1 + t % N : N;
		uint32_t row = t & 1 ? rng(ROWS - n + 1) : 0;

		for (i = 0; i < K + 2 * N; i++)
			assert_int_equal(mprotect(map[i] + fence, page, PROT_NONE), 0);
		for (i = 0; i < k; i++)
			src[i] = rng(8) ? fenced(map[i], page, len) : NULL;
		assert_true(sdr_fec_kernel_set("base"));
		sdr_fec_encode(f, k, in(src), len, row, n, want);
		for (q = 0; q < NAMES; q++) {
			if (!sdr_fec_kernel_set(names[q]))
				continue;
			for (i = 0; i < n; i++) {
				enc[i] = fenced_out(map[K + i], page, len);
				upd[i] = fenced_out(map[K + N + i], page, len);
			}
			both_ways(f, k, src, len, row, n, enc, upd);
			for (i = 0; i < n; i++) {
				assert_memory_equal(enc[i], want[i], len);
				surroundings_check(map[K + i], page, enc[i], len);
				surroundings_check(map[K + N + i], page, upd[i], len);
			}
		}
		for (i = 0; i < K + 2 * N; i++)
			assert_int_equal(mprotect(map[i] + fence, page, PROT_READ | PROT_WRITE), 0);
	}
	for (i = 0; i < K + 2 * N; i++)
		munmap(map[i], area);
	for (i = 0; i < N; i++)
		free(want[i]);
	sdr_fec_destroy(f);
}

static void kernels__agree_for_every_shape(void **state)
{
	static const uint16_t ks[] = { 1, 2, 5, 16, 17, 33, 64, 128, 200, 255 };
	static const uint16_t ms[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 56, 255 };
	uint32_t i, x, y, q;
	struct bed b;

	(void)state;
	for (x = 0; x < sizeof(ks) / sizeof(ks[0]); x++) {
		for (y = 0; y <= sizeof(ms) / sizeof(ms[0]); y++) {
			uint32_t k = ks[x], m = y < sizeof(ms) / sizeof(ms[0]) ? ms[y] : SYMS - k;

			if (k + m > SYMS)
				continue;
			bed_open(&b, k, m, 321);
			assert_true(sdr_fec_kernel_set("base"));
			sdr_fec_encode(b.f, k, in(b.data), b.len, 0, m, b.out);
			for (q = 1; q < NAMES; q++) {
				if (!sdr_fec_kernel_set(names[q]))
					continue;
				sdr_fec_encode(b.f, k, in(b.data), b.len, 0, m, b.par);
				for (i = 0; i < m; i++)
					assert_memory_equal(b.par[i], b.out[i], b.len);
			}
			bed_close(&b);
		}
	}
}

static void row_0__is_xor(void **state)
{
	uint8_t want[3000];
	uint32_t q, j;
	size_t at;
	struct bed b;

	(void)state;
	bed_open(&b, 50, 3, sizeof(want));
	memset(want, 0, sizeof(want));
	for (j = 0; j < b.k; j++)
		for (at = 0; at < b.len; at++)
			want[at] ^= b.data[j][at];
	for (q = 0; q < NAMES; q++) {
		if (!sdr_fec_kernel_set(names[q]))
			continue;
		sdr_fec_encode(b.f, b.k, in(b.data), b.len, 0, 1, b.par);
		assert_memory_equal(b.par[0], want, b.len);
		sdr_fec_encode(b.f, b.k, in(b.data), b.len, 0, 3, b.out); /* not by the short cut */
		assert_memory_equal(b.out[0], want, b.len);
	}
	bed_close(&b);
}

static void update__takes_any_order(void **state)
{
	uint32_t q, i, j, t;
	struct bed b;

	(void)state;
	bed_open(&b, 32, 8, 777);
	sdr_fec_encode(b.f, b.k, in(b.data), b.len, 0, b.rows, b.par);
	for (q = 0; q < NAMES; q++) {
		uint8_t order[32];

		if (!sdr_fec_kernel_set(names[q]))
			continue;
		for (i = 0; i < 32; i++)
			order[i] = (uint8_t)i;
		for (i = 0; i < 32; i++) {
			j = i + rng(32 - i);
			t = order[i];
			order[i] = order[j];
			order[j] = (uint8_t)t;
		}
		for (i = 0; i < 32; i++)
			sdr_fec_update(b.f, order[i], 1, in(b.data + order[i]), b.len, 0, b.rows,
				       b.out, i == 0);
		for (i = 0; i < b.rows; i++)
			assert_memory_equal(b.out[i], b.par[i], b.len);
		/* the same in pieces, and rows 3 .. 5 alone */
		for (i = 0; i < 32; i++) {
			const uint8_t *src;
			uint8_t *at[3];

			for (j = 0; j < 3; j++)
				at[j] = b.out[j];
			sdr_fec_update(b.f, i, 1, in(b.data + i), 300, 3, 3, at, i == 0);
			for (j = 0; j < 3; j++)
				at[j] = b.out[j] + 300;
			src = b.data[i] + 300;
			sdr_fec_update(b.f, i, 1, &src, 477, 3, 3, at, i == 0);
		}
		for (i = 0; i < 3; i++)
			assert_memory_equal(b.out[i], b.par[3 + i], b.len);
	}
	bed_close(&b);
}

/* A code for k' < k symbols is the code for k with zeros behind; nothing at all gives zeros. */
static void encode__with_fewer_symbols(void **state)
{
	static const uint8_t zeros[100];
	const uint8_t *src[40];
	uint32_t q, i, k;
	struct bed b;

	(void)state;
	bed_open(&b, 40, 9, sizeof(zeros));
	for (q = 0; q < NAMES; q++) {
		if (!sdr_fec_kernel_set(names[q]))
			continue;
		for (k = 0; k <= 40; k++) {
			for (i = 0; i < 40; i++)
				src[i] = i < k ? b.data[i] : i & 1 ? NULL : zeros;
			sdr_fec_encode(b.f, 40, src, b.len, 0, 9, b.out);
			sdr_fec_encode(b.f, k, src, b.len, 0, 9, b.par);
			for (i = 0; i < 9; i++)
				assert_memory_equal(b.out[i], b.par[i], b.len);
		}
		sdr_fec_encode(b.f, 0, src, b.len, 0, 9, b.out);
		assert_memory_equal(b.out[8], zeros, b.len);
	}
	bed_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(coef__is_cauchy_scaled_to_ones),
		cmocka_unit_test(create__refuses_what_the_field_cannot),
		cmocka_unit_test(kernel__is_chosen_by_name),
		cmocka_unit_test(base__is_the_definition),
		cmocka_unit_test(kernels__agree_at_every_length),
		cmocka_unit_test(kernels__agree_for_every_shape),
		cmocka_unit_test(row_0__is_xor),
		cmocka_unit_test(update__takes_any_order),
		cmocka_unit_test(encode__with_fewer_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
