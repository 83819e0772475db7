/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Chained hash table, see sdr_htab.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sdr_assert.h"
#include "sdr_htab.h"

#define HTAB_FIRST 16u

static int htab_grow(struct sdr_htab *t)
{
	uint32_t n = t->bucket ? (t->mask + 1) * 2 : HTAB_FIRST;
	struct sdr_hnode **b = calloc(n, sizeof(*b));

	if (!b)
		return t->bucket ? 0 : -ENOMEM;
	for (uint32_t i = 0; t->bucket && i <= t->mask; i++) {
		struct sdr_hnode *x = t->bucket[i];

		while (x) {
			struct sdr_hnode *next = x->next;

			x->next = b[x->hash & (n - 1)];
			b[x->hash & (n - 1)] = x;
			x = next;
		}
	}
	free(t->bucket);
	t->bucket = b;
	t->mask = n - 1;
	return 0;
}

int sdr_htab_add(struct sdr_htab *t, struct sdr_hnode *n, uint64_t hash)
{
	if ((!t->bucket || t->n > t->mask) && htab_grow(t))
		return -ENOMEM;
	n->hash = hash;
	n->next = t->bucket[hash & t->mask];
	t->bucket[hash & t->mask] = n;
	t->n++;
	return 0;
}

void sdr_htab_del(struct sdr_htab *t, struct sdr_hnode *n)
{
	struct sdr_hnode **p;

	if (!t->bucket)
		return;
	for (p = &t->bucket[n->hash & t->mask]; *p; p = &(*p)->next) {
		if (*p == n) {
			SDR_ASSERT(t->n > 0);
			*p = n->next;
			t->n--;
			return;
		}
	}
}

struct sdr_hnode *sdr_htab_first(const struct sdr_htab *t, uint64_t hash)
{
	return t->bucket ? t->bucket[hash & t->mask] : NULL;
}

void sdr_htab_destroy(struct sdr_htab *t)
{
	SDR_ASSERT(t->bucket || !t->n);
	free(t->bucket);
	memset(t, 0, sizeof(*t));
}
