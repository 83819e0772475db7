/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where a context's handles and bitmaps come from (sdr_pool.c).
 */
#ifndef SDR_POOL_H
#define SDR_POOL_H

#include <stdint.h>

struct sdr_rcv_handle;
struct sdr_snd_handle;

/* slabs of handles a context: 256 Ki messages in flight each way */
#define SDR_SLABS_MAX 4096u

struct sdr_pool_bits {
	struct sdr_pool_bits *next;
};

#define SDR_BITS_CLASSES 32u /* class c holds SDR_BITS_INLINE << c words */

struct sdr_pool {
	void **rslab; /* SDR_SLABS_MAX pointers, filled from the front */
	void **sslab;
	uint32_t nrslab, nsslab;
	struct sdr_rcv_handle *rfree;
	struct sdr_snd_handle *sfree;
	struct sdr_pool_bits *bits[SDR_BITS_CLASSES];
	uint64_t idle_bytes; /* in bits[] */
};

int sdr_pool_init(struct sdr_pool *p);
void sdr_pool_free(struct sdr_pool *p);
/*
 * A receive handle with zeroed bitmaps for so many bits; k.npkts and the bitmap pointers are set.
 * NULL: no memory.
 */
struct sdr_rcv_handle *sdr_pool_rcv_get(struct sdr_pool *p, uint32_t npkts, uint32_t nchunks);
void sdr_pool_rcv_put(struct sdr_pool *p, struct sdr_rcv_handle *h);
struct sdr_snd_handle *sdr_pool_snd_get(struct sdr_pool *p);
void sdr_pool_snd_put(struct sdr_pool *p, struct sdr_snd_handle *h);

#endif /* SDR_POOL_H */
