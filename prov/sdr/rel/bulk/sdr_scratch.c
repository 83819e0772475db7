/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Buffers by size class.  When the limit blocks a class, idle buffers of
 * others are given back first.  Not per packet: one get and one put a coded segment.  One thread.
 */
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_scratch.h"

void sdr_scratch_init(struct sdr_scratch *s, uint64_t limit, bool no_bytes)
{
	memset(s, 0, sizeof(*s));
	s->limit = s->keep = limit;
	s->no_bytes = no_bytes;
}

static uint64_t scratch_size(uint32_t k)
{
	return ((uint64_t)SDR_SCRATCH_MIN << (k / 4)) / 4 * (4 + k % 4);
}

static uint32_t scratch_class(uint64_t bytes)
{
	uint32_t k = 0;

	while (k < SDR_SCRATCH_CLASSES && scratch_size(k) < bytes)
		k++;
	return k;
}

static void *scratch_alloc(const struct sdr_scratch *s, uint64_t size)
{
	return s->src.alloc ? s->src.alloc(s->src.user, size)
			    : aligned_alloc(SDR_SCRATCH_ALIGN, size);
}

static void scratch_free(const struct sdr_scratch *s, void *p, uint64_t size)
{
	if (s->src.alloc)
		s->src.release(s->src.user, p, size);
	else
		free(p);
}

static void scratch_trim(struct sdr_scratch *s, uint64_t need)
{
	for (uint32_t k = 0; k < SDR_SCRATCH_CLASSES; k++) {
		while (s->idle[k] && (need > s->limit || s->held > s->limit - need)) {
			void *p = s->idle[k];

			memcpy(&s->idle[k], p, sizeof(void *));
			scratch_free(s, p, scratch_size(k));
			s->held -= scratch_size(k);
		}
	}
}

void sdr_scratch_destroy(struct sdr_scratch *s)
{
	scratch_trim(s, s->limit);
}

uint8_t *sdr_scratch_get(struct sdr_scratch *s, uint64_t bytes)
{
	uint32_t k = scratch_class(bytes);
	uint64_t size = scratch_size(k);
	uint8_t *p;

	if (k >= SDR_SCRATCH_CLASSES || (s->used + size > s->limit && !(s->alone && !s->used)))
		return NULL;
	if (s->no_bytes) {
		s->used += size;
		return (uint8_t *)(uintptr_t)SDR_SCRATCH_ALIGN;
	}
	p = s->idle[k];
	if (p) {
		memcpy(&s->idle[k], p, sizeof(void *));
	} else {
		scratch_trim(s, size);
		p = s->held + size > s->limit && s->held ? NULL : scratch_alloc(s, size);
		if (!p)
			return NULL;
		s->held += size;
	}
	s->used += size;
	SDR_ASSERT(s->used <= s->held && (s->held <= s->limit || s->used == size));
	return p;
}

void sdr_scratch_put(struct sdr_scratch *s, uint8_t *p, uint64_t bytes)
{
	uint32_t k = scratch_class(bytes);

	if (!p)
		return;
	SDR_ASSERT(k < SDR_SCRATCH_CLASSES && s->used >= scratch_size(k));
	s->used -= scratch_size(k);
	if (s->no_bytes)
		return;
	if (s->held > s->limit || s->held - s->used > s->keep) {
		scratch_free(s, p, scratch_size(k));
		s->held -= scratch_size(k);
		return;
	}
	memcpy(p, &s->idle[k], sizeof(void *));
	s->idle[k] = p;
}

uint64_t sdr_scratch_charge(uint64_t bytes)
{
	return scratch_size(scratch_class(bytes));
}

uint64_t sdr_scratch_idle(const struct sdr_scratch *s)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < SDR_SCRATCH_CLASSES; k++)
		for (const void *p = s->idle[k]; p; memcpy(&p, p, sizeof(p)))
			n += scratch_size(k);
	return n;
}
