/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The ring's memory, see sdr_ring.h.  It doubles, so growing costs constant time per item pushed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sdr_ring.h"

int sdr_ring_grow(struct sdr_ring *r, const struct sdr_ring_kind *kind)
{
	uint32_t cap = r->cap ? r->cap * 2 : kind->min, pos;
	char *e;

	SDR_ASSERT(kind->min && !(kind->min & (kind->min - 1)) && !(kind->max & (kind->max - 1)));
	SDR_ASSERT(sdr_ring_len(r) <= r->cap);
	if (!cap || cap > kind->max)
		return -ENOMEM;
	e = calloc(cap, kind->size);
	if (!e)
		return -ENOMEM;
	for (pos = r->head; pos != r->tail; pos++) {
		void *from = sdr_ring_slot(r, kind->size, pos);
		void *to = e + kind->size * (pos & (cap - 1));

		if (kind->move)
			kind->move(to, from);
		else
			memcpy(to, from, kind->size);
	}
	free(r->e);
	r->e = e;
	r->cap = cap;
	return 0;
}

int sdr_ring_reach(struct sdr_ring *r, const struct sdr_ring_kind *kind, uint32_t pos)
{
	uint32_t head = r->head, tail = r->tail;

	if (sdr_ring_has(r, pos))
		return 0;
	if (sdr_ring_empty(r))
		head = tail = r->head = r->tail = pos;
	if ((int32_t)(pos - head) < 0)
		head = pos;
	else
		tail = pos + 1;
	while (tail - head > r->cap) {
		if (sdr_ring_grow(r, kind))
			return -ENOMEM;
	}
	while (r->head != head)
		memset(sdr_ring_slot(r, kind->size, --r->head), 0, kind->size);
	while (r->tail != tail)
		memset(sdr_ring_slot(r, kind->size, r->tail++), 0, kind->size);
	return 0;
}

void sdr_ring_destroy(struct sdr_ring *r)
{
	free(r->e);
	r->e = NULL;
	r->cap = 0;
	r->head = r->tail;
}
