/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Selective repeat by its definition, chunk by chunk: what the grouped sums of the model are
 * compared with.  In units of a chunk's injection; u counts from the end of the last injection.
 */
#ifndef TEST_MODEL_BRUTE_H
#define TEST_MODEL_BRUTE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

struct brute_atom {
	double at;
	long double d; /* what log P jumps by */
};

/* P(max - M <= u), or < u: every chunk i of M has i + rho (Y - 1) <= M + u. */
__attribute__((unused)) static double brute_cdf(double p, double rho, uint32_t m, double u,
						int left)
{
	long double log_p = 0;
	uint32_t i;
	double tries;

	for (i = 1; i <= m; i++) {
		tries = (m - i + u) / rho;
		tries = fabs(tries - rint(tries)) < 1e-9 ? rint(tries) + !left : ceil(tries);
		if (tries < 1)
			return 0;
		log_p += log1pl(-powl(p, tries));
	}
	return (double)expl(log_p);
}

static int brute_order(const void *a, const void *b)
{
	const struct brute_atom *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/*
 * E[max] - M: all times at which a chunk can be the last, in order, and the integral of P(max - M >
 * u) over them.
 */
__attribute__((unused)) static double brute_mean(double p, double rho, uint32_t m)
{
	struct brute_atom *a = NULL;
	long double log_p = 0, sum = 0, pc = 1;
	uint32_t n = 0, room = 0, c, j;

	for (c = 1; pc * m * rho > 1e-25L; c++) {
		pc = powl(p, c);
		for (j = 0; j < m && c * rho > j; j++) {
			if (n == room) {
				room = room ? 2 * room : 1024;
				a = realloc(a, room * sizeof(*a));
				if (!a)
					abort();
			}
			a[n++] = (struct brute_atom){ c * rho - j,
						      log1pl(-pc * (1 - p) / (1 - pc * p)) };
		}
	}
	if (!a)
		return 0;
	qsort(a, n, sizeof(*a), brute_order);
	while (n--) {
		log_p += a[n].d;
		sum -= (a[n].at - (n ? a[n - 1].at : 0)) * expm1l(log_p);
	}
	free(a);
	return (double)sum;
}

#endif /* TEST_MODEL_BRUTE_H */
