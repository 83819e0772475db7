/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Chained hash table of nodes that lie in their owners, found by a 64-bit hash that the owner
 * computed with a secret key (sdr_hash64), so that no peer can aim for one bucket.  It doubles at
 * a load of 1.
 */
#ifndef SDR_HTAB_H
#define SDR_HTAB_H

#include <stdint.h>

struct sdr_hnode {
	struct sdr_hnode *next;
	uint64_t hash;
};
struct sdr_htab {
	struct sdr_hnode **bucket;
	uint32_t mask, n;
};
int sdr_htab_add(struct sdr_htab *t, struct sdr_hnode *n, uint64_t hash);
void sdr_htab_del(struct sdr_htab *t, struct sdr_hnode *n);
/* then ->next; compare hash */
struct sdr_hnode *sdr_htab_first(const struct sdr_htab *t, uint64_t hash);
void sdr_htab_destroy(struct sdr_htab *t);

#endif /* SDR_HTAB_H */
