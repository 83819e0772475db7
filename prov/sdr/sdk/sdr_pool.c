/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where handles and bitmaps come from.
 *
 * Handles live in slabs that are never moved or given back before the context goes, so that the
 * receive worker may index them; a free handle is on a list.  Bitmaps of short messages lie inside
 * the handle; others come from free lists by size class (powers of two), which keep what was given
 * back up to SDR_BITS_IDLE_MAX.  So a steady state allocates nothing, and memory follows the peak
 * of what was in flight. Decides nothing else.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"

#include "sdr_pool.h"
#include "sdr_recv.h"
#include "sdr_rxk.h"
#include "sdr_send.h"

#define SDR_BITS_IDLE_MAX (16u << 20) /* bytes of idle bitmaps kept for reuse */

int sdr_pool_init(struct sdr_pool *p)
{
	memset(p, 0, sizeof(*p));
	p->rslab = calloc(2 * SDR_SLABS_MAX, sizeof(*p->rslab));
	if (!p->rslab)
		return -1;
	p->sslab = p->rslab + SDR_SLABS_MAX;
	return 0;
}

void sdr_pool_free(struct sdr_pool *p)
{
	struct sdr_pool_bits *b;
	uint32_t i;

	for (i = 0; i < SDR_BITS_CLASSES; i++) {
		while ((b = p->bits[i])) {
			p->bits[i] = b->next;
			free(b);
		}
	}
	for (i = 0; i < p->nrslab; i++)
		free(p->rslab[i]);
	for (i = 0; i < p->nsslab; i++)
		free(p->sslab[i]);
	free(p->rslab);
	memset(p, 0, sizeof(*p));
}

/* ---- bitmaps --------------------------------------------------------------------------------- */

static size_t sdr_pool_cls_bytes(uint8_t cls)
{
	return (sizeof(uint64_t) * SDR_BITS_INLINE) << cls;
}

static uint64_t *sdr_pool_bits_get(struct sdr_pool *p, uint8_t cls)
{
	struct sdr_pool_bits *b = p->bits[cls];

	if (!b)
		return malloc(sdr_pool_cls_bytes(cls));
	p->bits[cls] = b->next;
	SDR_ASSERT(p->idle_bytes >= sdr_pool_cls_bytes(cls));
	p->idle_bytes -= sdr_pool_cls_bytes(cls);
	return (uint64_t *)(void *)b;
}

static void sdr_pool_bits_put(struct sdr_pool *p, uint64_t *words, uint8_t cls)
{
	struct sdr_pool_bits *b = (struct sdr_pool_bits *)(void *)words;
	size_t bytes = sdr_pool_cls_bytes(cls);

	if (p->idle_bytes + bytes > SDR_BITS_IDLE_MAX) {
		free(words);
		return;
	}
	p->idle_bytes += bytes;
	b->next = p->bits[cls];
	p->bits[cls] = b;
}

/* ---- receive handles ------------------------------------------------------------------------- */

static bool sdr_pool_rslab_add(struct sdr_pool *p)
{
	struct sdr_rcv_handle *slab;
	uint32_t i;

	if (p->nrslab == SDR_SLABS_MAX)
		return false;
	slab = calloc(SDR_RXK_SLAB, sizeof(*slab));
	if (!slab)
		return false;
	for (i = SDR_RXK_SLAB; i-- > 0;) {
		slab[i].index = p->nrslab * SDR_RXK_SLAB + i;
		slab[i].next = p->rfree;
		p->rfree = &slab[i];
	}
	p->rslab[p->nrslab++] = slab;
	return true;
}

struct sdr_rcv_handle *sdr_pool_rcv_get(struct sdr_pool *p, uint32_t npkts, uint32_t nchunks)
{
	uint32_t pw = sdr_bitmap_words(npkts), words = pw + sdr_bitmap_words(nchunks);
	struct sdr_rcv_handle *h;
	uint8_t cls = 0;

	SDR_ASSERT(npkts && nchunks && nchunks <= npkts);
	while ((uint64_t)SDR_BITS_INLINE << cls < words)
		cls++;
	if (!p->rfree && !sdr_pool_rslab_add(p))
		return NULL;
	h = p->rfree;
	h->words = cls ? sdr_pool_bits_get(p, cls) : h->inl;
	if (!h->words)
		return NULL;
	SDR_ASSERT(!h->qp && cls < SDR_BITS_CLASSES);
	p->rfree = h->next;
	h->cls = cls;
	memset(h->words, 0, sizeof(uint64_t) * words);
	memset(&h->st, 0, sizeof(h->st));
	memset(&h->grant, 0, sizeof(h->grant));
	h->k.pkt_bits = h->words;
	h->k.chunk_bits = h->words + pw;
	h->k.npkts = npkts;
	h->k.uimm = 0;
	sdr_list_init(&h->touched);
	return h;
}

void sdr_pool_rcv_put(struct sdr_pool *p, struct sdr_rcv_handle *h)
{
	SDR_ASSERT(h->words && sdr_list_empty(&h->touched));
	if (h->cls)
		sdr_pool_bits_put(p, h->words, h->cls);
	h->words = NULL;
	h->qp = NULL;
	h->next = p->rfree;
	p->rfree = h;
}

/* ---- send handles ---------------------------------------------------------------------------- */

static bool sdr_pool_sslab_add(struct sdr_pool *p)
{
	struct sdr_snd_handle *slab;
	uint32_t i;

	if (p->nsslab == SDR_SLABS_MAX)
		return false;
	slab = calloc(SDR_RXK_SLAB, sizeof(*slab));
	if (!slab)
		return false;
	for (i = SDR_RXK_SLAB; i-- > 0;) {
		slab[i].next = p->sfree;
		p->sfree = &slab[i];
	}
	p->sslab[p->nsslab++] = slab;
	return true;
}

struct sdr_snd_handle *sdr_pool_snd_get(struct sdr_pool *p)
{
	struct sdr_snd_handle *h;

	if (!p->sfree && !sdr_pool_sslab_add(p))
		return NULL;
	h = p->sfree;
	SDR_ASSERT(!h->qp);
	p->sfree = h->next;
	memset(h, 0, sizeof(*h));
	sdr_list_init(&h->all);
	sdr_list_init(&h->link);
	return h;
}

void sdr_pool_snd_put(struct sdr_pool *p, struct sdr_snd_handle *h)
{
	SDR_ASSERT(sdr_list_empty(&h->all) && sdr_list_empty(&h->link));
	h->qp = NULL;
	h->next = p->sfree;
	p->sfree = h;
}
