/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the tests of the choice and of its table share: a table for each test, and exact sums to
 * compare with.
 */
#ifndef TEST_CHOICE_UTIL_H
#define TEST_CHOICE_UTIL_H

#include "model/sdr_choice_table.h"
#include "test_draw.h"

static inline int create(void **state)
{
	*state = sdr_choice_table_create();
	return *state ? 0 : -1;
}

static inline int destroy(void **state)
{
	sdr_choice_table_destroy(*state);
	return 0;
}

/* P(more than m of n are lost), independent losses: the terms one by one. */
static inline long double binomial_tail(uint32_t n, uint32_t m, long double p)
{
	long double sum = 0;
	uint32_t j;

	for (j = m + 1; j <= n; j++)
		sum += expl(lgammal(n + 1) - lgammal(j + 1) - lgammal(n - j + 1) + j * logl(p) +
			    (n - j) * log1pl(-p));
	return sum;
}

#endif /* TEST_CHOICE_UTIL_H */
