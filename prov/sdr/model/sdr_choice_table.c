/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The table behind the choice of (k, m).  A column answers all failure probabilities for one (loss,
 * again, k), rounded to steps, always to the safe side: loss up to eighth octaves, again up to half
 * octaves (of 1 - again above 1/2, so that long bursts differ), k up to eighths of an
 * octave beyond 16.  Columns are kept in a direct-mapped cache of 128 KiB: a hit is one cache line.
 *
 * A miss follows the chain of a codeword's packets from the first to the last one that could be
 * needed.  With P(j lost of n, the last arrived / lost) = a(j), b(j),
 *
 *   a'(j) = (1 - e) a(j) + (1 - c) b(j),  b'(j + 1) = e a(j) + c b(j),  e = p (1 - c) / (1 - p)
 *
 * where p is the loss, c = again, and e the loss behind a packet that arrived, such that p is
 * stationary.  The tail P(more than m of k + m lost) is read off on the way; all terms are
 * positive, so small ones are exact.  c = p is the binomial distribution.  No allocation after
 * create, no locks: one thread at a time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_choice_table.h"

#define SDR_ROWS_COLS	   2048u
#define SDR_ROWS_LOSS_MIN  0x1p-30
#define SDR_ROWS_LOSS_MAX  0.99
#define SDR_ROWS_AGAIN_MAX (1 - 0x1p-10)
#define SDR_ROWS_TINY	   1e-17 /* 255 of them do not matter for 2^-44 */
#define SDR_ROWS_FUDGE	   1e-9	 /* so that a power of two is its own step */

struct sdr_rows_col {
	uint32_t key; /* 0: empty */
	uint8_t m[SDR_ROWS_EPS];
} __attribute__((aligned(64)));

struct sdr_choice_table {
	struct sdr_rows_col col[SDR_ROWS_COLS];
};

_Static_assert(sizeof(struct sdr_rows_col) == 64, "a column is a cache line");

struct sdr_choice_table *sdr_choice_table_create(void)
{
	struct sdr_choice_table *t = aligned_alloc(64, sizeof(*t));

	if (t)
		memset(t, 0, sizeof(*t));
	return t;
}

void sdr_choice_table_destroy(struct sdr_choice_table *t)
{
	free(t);
}

static void sdr_rows_fill(uint8_t *m, double p, double c, uint32_t k)
{
	double a[SDR_ROWS_SYMS + 1], b[SDR_ROWS_SYMS + 1], e = p * (1 - c) / (1 - p), tail,
							   eps = 0.5;
	uint32_t top = 1, low = 0, n, i = 1, j;

	memset(m, SDR_ROWS_NONE, SDR_ROWS_EPS);
	m[0] = 0;
	a[0] = 1 - p;
	b[0] = 0;
	a[1] = 0;
	b[1] = p;
	/*
	 * of n packets, low to top are lost: fewer means that k have arrived, which no further
	 * packet changes
	 */
	for (n = 1;; n++) {
		if (n >= k) {
			low = n - k + 1;
			for (tail = 0, j = low; j <= top; j++)
				tail += a[j] + b[j];
			for (; i < SDR_ROWS_EPS && tail <= eps; eps /= 2)
				m[i++] = (uint8_t)(n - k);
			if (i == SDR_ROWS_EPS || n == SDR_ROWS_SYMS)
				return;
		}
		a[top + 1] = 0;
		b[top + 1] = e * a[top] + c * b[top];
		for (j = top; j > low; j--) {
			a[j] = (1 - e) * a[j] + (1 - c) * b[j];
			b[j] = e * a[j - 1] + c * b[j - 1];
		}
		if (!low) {
			a[0] *= 1 - e;
			b[0] = 0;
		}
		if (b[top + 1] > SDR_ROWS_TINY || top <= low)
			top++;
	}
}

static uint32_t sdr_rows_loss(double *p)
{
	uint32_t i;

	if (!(*p > SDR_ROWS_LOSS_MIN))
		*p = SDR_ROWS_LOSS_MIN;
	if (*p > 1)
		*p = 1;
	i = (uint32_t)floor(-8 * log2(*p) + SDR_ROWS_FUDGE);
	*p = fmin(exp2(-0.125 * i), SDR_ROWS_LOSS_MAX);
	return i;
}

/* p: the rounded loss.  0: independent. */
static uint32_t sdr_rows_again(double *c, double p)
{
	uint32_t i = 0;

	if (*c > 0.5) {
		i = (uint32_t)ceil(-2 * log2(1 - fmin(*c, SDR_ROWS_AGAIN_MAX)) - SDR_ROWS_FUDGE);
		*c = 1 - exp2(-0.5 * i);
	} else if (*c > p / 2) {
		i = (uint32_t)floor(-2 * log2(*c) + SDR_ROWS_FUDGE);
		*c = exp2(-0.5 * i);
		i += 64;
	}
	if (*c > p)
		return i;
	*c = p;
	return 0;
}

static uint32_t sdr_rows_k(uint32_t k)
{
	uint32_t step;

	if (k <= 16)
		return k ? k : 1;
	step = 1u << (28 - __builtin_clz(k - 1));
	k = (k + step - 1) & ~(step - 1);
	return k < SDR_ROWS_SYMS ? k : SDR_ROWS_SYMS - 1;
}

const uint8_t *sdr_choice_rows(struct sdr_choice_table *t, double loss, double again, uint32_t k)
{
	uint32_t pi = sdr_rows_loss(&loss), ci = sdr_rows_again(&again, loss), key;
	struct sdr_rows_col *col;

	k = sdr_rows_k(k);
	SDR_ASSERT(k && k < SDR_ROWS_SYMS && ci < 256);
	key = pi << 16 | ci << 8 | k;
	col = &t->col[(key * 2654435761u >> 16) % SDR_ROWS_COLS];
	if (col->key != key) {
		sdr_rows_fill(col->m, loss, again, k);
		col->key = key;
	}
	return col->m;
}

uint32_t sdr_choice_rows_eps(double eps)
{
	double i;

	if (!(eps > 0))
		return SDR_ROWS_EPS - 1;
	i = ceil(-log2(eps) - SDR_ROWS_FUDGE);
	if (!(i > 0))
		return 0;
	return i < SDR_ROWS_EPS - 1 ? (uint32_t)i : SDR_ROWS_EPS - 1;
}
