/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Numbers for objects that the peer refers to: 20 bits of index, 12 bits of use count, so that a
 * late or forged reference to a finished operation finds nothing.
 */
#ifndef SDR_IDTAB_H
#define SDR_IDTAB_H

#include <stdint.h>

#define SDR_IDTAB_BITS 20u
#define SDR_IDTAB_MAX  (1u << SDR_IDTAB_BITS) /* objects at a time */

struct sdr_idtab_slot {
	void *obj;     /* NULL: free */
	uint32_t gen;  /* 12 bits, advances with each use */
	uint32_t next; /* free list */
};
struct sdr_idtab {
	struct sdr_idtab_slot *slot;
	uint32_t size, free; /* free: index + 1, 0 none */
};

/* 0 and *id, or -ENOMEM. */
int sdr_idtab_add(struct sdr_idtab *t, void *obj, uint32_t *id);
void *sdr_idtab_get(const struct sdr_idtab *t, uint32_t id);
void sdr_idtab_del(struct sdr_idtab *t, uint32_t id);
void sdr_idtab_destroy(struct sdr_idtab *t);

#endif /* SDR_IDTAB_H */
