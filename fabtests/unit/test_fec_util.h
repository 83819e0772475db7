/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* A code, its plan and symbols of random bytes. */
#ifndef TEST_FEC_UTIL_H
#define TEST_FEC_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "fec/sdr_fec.h"

#define SYMS SDR_FEC_SYMS_MAX

static const char *const names[] = { "base", "isal", "gfni" };
#define NAMES (sizeof(names) / sizeof(names[0]))

struct bed {
	struct sdr_fec *f;
	struct sdr_fec_plan *plan;
	uint32_t k, rows;
	uint8_t *data[SYMS], *par[SYMS], *out[SYMS];
	size_t len;
};

static uint64_t rng_state = 0x9e3779b97f4a7c15ull;

static inline uint32_t rng(uint32_t n)
{
	rng_state = rng_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((rng_state >> 33) % n);
}

static inline void fill(uint8_t *p, size_t n)
{
	while (n--)
		*p++ = (uint8_t)rng(256);
}

/* Symbols in three arrays, all of one length and offset. */
static inline void bed_open(struct bed *b, uint32_t k, uint32_t rows, size_t len)
{
	uint32_t i;

	memset(b, 0, sizeof(*b));
	assert_int_equal(sdr_fec_create(k, rows, &b->f), 0);
	assert_int_equal(sdr_fec_plan_create(b->f, &b->plan), 0);
	b->k = k;
	b->rows = rows;
	b->len = len;
	for (i = 0; i < SYMS; i++) {
		b->data[i] = malloc(len);
		b->par[i] = malloc(len);
		b->out[i] = malloc(len);
		assert_true(b->data[i] && b->par[i] && b->out[i]);
		fill(b->data[i], len);
		memset(b->par[i], 0x5a, len);
		memset(b->out[i], 0xa5, len);
	}
}

static inline void bed_close(struct bed *b)
{
	uint32_t i;

	for (i = 0; i < SYMS; i++) {
		free(b->data[i]);
		free(b->par[i]);
		free(b->out[i]);
	}
	sdr_fec_plan_destroy(b->plan);
	sdr_fec_destroy(b->f);
}

static inline const uint8_t *const *in(uint8_t *const *v)
{
	return (const uint8_t *const *)v;
}

#endif /* TEST_FEC_UTIL_H */
