/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The code: its matrix, and how a multiplication is cut for a kernel.
 *
 * Row i of position j has 1 / (x_i + y_j) with x_i = 255 - i and y_j = j, times (x_0 + y_j): row 0
 * is all ones. x and y meet at i + j = 255, which k + rows <= 256 excludes.
 *
 * A matrix with more outputs than a kernel takes at once is done in strips, and symbols in pieces
 * that stay in a core's cache meanwhile, so that memory is read once whatever the number of
 * outputs.
 *
 * Which kernel is used is decided once for the process, by the first call; a code does not
 * remember it.
 */
#include "base/sdr_assert.h"
#include "sdr_fec_impl.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* bytes of input that a core's second cache surely holds beside outputs */
#define CACHE	  (512u * 1024)
#define PIECE_MIN 2048u

/* In order of preference. */
static const struct sdr_fec_kernel *const kernels[] = { &sdr_fec_gfni, &sdr_fec_isal,
							&sdr_fec_base };
#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))
static bool usable[KERNELS];
static const struct sdr_fec_kernel *current; /* atomic */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct sdr_fec_kernel *kernel_find(const char *name)
{
	uint32_t i;

	for (i = 0; i < KERNELS; i++)
		if (usable[i] && (!name || !strcmp(name, kernels[i]->name)))
			return kernels[i];
	return NULL;
}

static void start(void)
{
	uint32_t i;

	sdr_fec_gf_fill();
	for (i = 0; i < KERNELS; i++)
		usable[i] = kernels[i]->start();
	__atomic_store_n(&current, kernel_find(NULL), __ATOMIC_RELEASE);
}

void sdr_fec_start(void)
{
	pthread_once(&once, start);
}

const struct sdr_fec_kernel *sdr_fec_kernel_get(void)
{
	return __atomic_load_n(&current, __ATOMIC_ACQUIRE);
}

const char *sdr_fec_kernel(void)
{
	sdr_fec_start();
	return sdr_fec_kernel_get()->name;
}

bool sdr_fec_kernel_set(const char *name)
{
	const struct sdr_fec_kernel *k;

	sdr_fec_start();
	k = kernel_find(name);
	if (k)
		__atomic_store_n(&current, k, __ATOMIC_RELEASE);
	return k != NULL;
}

static uint8_t coef_make(uint32_t row, uint32_t pos)
{
	uint32_t num = sdr_fec_gf.log[SDR_FEC_ORDER ^ pos];
	uint32_t den = sdr_fec_gf.log[(SDR_FEC_ORDER - row) ^ pos];

	return sdr_fec_gf.exp[num + SDR_FEC_ORDER - den];
}

uint8_t sdr_fec_coef(uint32_t row, uint32_t pos)
{
	SDR_ASSERT(row + pos <= SDR_FEC_SYMS_MAX - 2);
	sdr_fec_start();
	return coef_make(row, pos);
}

int sdr_fec_create(uint32_t k, uint32_t rows, struct sdr_fec **out)
{
	struct sdr_fec *f;
	uint32_t i, j;

	if (!k || !rows || k > SDR_FEC_SYMS_MAX || rows > SDR_FEC_SYMS_MAX - k)
		return -EINVAL;
	f = malloc(sizeof(*f) + (size_t)k * rows);
	if (!f)
		return -ENOMEM;
	sdr_fec_start();
	f->k = k;
	f->rows = rows;
	for (i = 0; i < rows; i++)
		for (j = 0; j < k; j++)
			f->coef[i * k + j] = coef_make(i, j);
	*out = f;
	return 0;
}

void sdr_fec_destroy(struct sdr_fec *f)
{
	free(f);
}

uint32_t sdr_fec_k(const struct sdr_fec *f)
{
	return f->k;
}

uint32_t sdr_fec_rows(const struct sdr_fec *f)
{
	return f->rows;
}

static void mul_cut(const uint8_t *coef, size_t stride, const uint8_t *col, uint32_t ns,
		    const uint8_t *const *src, uint32_t nd, uint8_t *const *dst, size_t len,
		    bool ones, bool add)
{
	const struct sdr_fec_kernel *kernel = sdr_fec_kernel_get();
	const uint8_t *s[SDR_FEC_SYMS_MAX];
	uint8_t *d[SDR_FEC_WIDTH_MAX];
	struct sdr_fec_op op = {
		.stride = stride, .col = col, .src = s, .dst = d, .ns = ns, .add = add
	};
	size_t piece = SDR_FEC_LEN_MAX, off;
	uint32_t i, j;

	SDR_ASSERT(ns && nd && ns <= SDR_FEC_SYMS_MAX && kernel->width <= SDR_FEC_WIDTH_MAX);
	if (nd > kernel->width) {
		piece = CACHE / ns / PIECE_MIN * PIECE_MIN;
		piece = piece ? piece : PIECE_MIN;
	}
	for (off = 0; off < len; off += op.len) {
		op.len = len - off < piece ? len - off : piece;
		for (j = 0; j < ns; j++)
			s[j] = src[j] + off;
		for (i = 0; i < nd; i += op.nd) {
			op.nd = nd - i < kernel->width ? nd - i : kernel->width;
			op.coef = coef + i * stride;
			for (j = 0; j < op.nd; j++)
				d[j] = dst[i + j] + off;
			if (ones)
				kernel->sum(&op);
			else
				kernel->mul(&op);
		}
	}
}

void sdr_fec_mul(const uint8_t *coef, size_t stride, bool ones, uint32_t ns,
		 const uint8_t *const *src, uint32_t nd, uint8_t *const *dst, size_t len)
{
	const uint8_t *there[SDR_FEC_SYMS_MAX];
	uint8_t col[SDR_FEC_SYMS_MAX];
	uint32_t n = 0, j;

	SDR_ASSERT(ns <= SDR_FEC_SYMS_MAX && ns <= stride);
	for (j = 0; j < ns; j++) {
		if (src[j]) {
			there[n] = src[j];
			col[n++] = (uint8_t)j;
		}
	}
	for (j = 0; j < nd && !n; j++)
		memset(dst[j], 0, len);
	if (n && nd)
		mul_cut(coef, stride, col, n, there, nd, dst, len, ones, false);
}

void sdr_fec_update(const struct sdr_fec *f, uint32_t pos, uint32_t k, const uint8_t *const *src,
		    size_t len, uint32_t row, uint32_t n, uint8_t *const *parity, bool first)
{
	uint8_t col[SDR_FEC_SYMS_MAX];
	uint32_t j;

	SDR_ASSERT(k && pos < f->k && k <= f->k - pos && row < f->rows && n <= f->rows - row);
	for (j = 0; j < k; j++)
		col[j] = (uint8_t)(pos + j);
	mul_cut(f->coef + (size_t)row * f->k, f->k, col, k, src, n, parity, len, row == 0 && n == 1,
		!first);
}

void sdr_fec_encode(const struct sdr_fec *f, uint32_t k, const uint8_t *const *src, size_t len,
		    uint32_t row, uint32_t n, uint8_t *const *out)
{
	SDR_ASSERT(k <= f->k && row < f->rows && n <= f->rows - row);
	sdr_fec_mul(f->coef + (size_t)row * f->k, f->k, row == 0 && n == 1, k, src, n, out, len);
}
