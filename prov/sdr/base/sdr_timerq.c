/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* See sdr_timerq.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sdr_assert.h"
#include "sdr_timerq.h"

int sdr_timerq_reserve(struct sdr_timerq *q, uint32_t n)
{
	uint32_t cap = q->cap ? q->cap : 16;
	struct sdr_timer **h;

	while (cap < n)
		cap *= 2;
	if (cap == q->cap)
		return 0;
	h = realloc(q->heap, cap * sizeof(*h));
	if (!h)
		return -ENOMEM;
	SDR_ASSERT(cap >= n && cap > q->n);
	q->heap = h;
	q->cap = cap;
	return 0;
}

static void heap_put(struct sdr_timerq *q, uint32_t i, struct sdr_timer *t)
{
	q->heap[i] = t;
	t->pos = i + 1;
}

static void heap_up(struct sdr_timerq *q, uint32_t i, struct sdr_timer *t)
{
	while (i && q->heap[(i - 1) / 2]->when > t->when) {
		heap_put(q, i, q->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	heap_put(q, i, t);
}

static void heap_down(struct sdr_timerq *q, uint32_t i, struct sdr_timer *t)
{
	for (;;) {
		uint32_t c = 2 * i + 1;

		if (c >= q->n)
			break;
		if (c + 1 < q->n && q->heap[c + 1]->when < q->heap[c]->when)
			c++;
		if (q->heap[c]->when >= t->when)
			break;
		heap_put(q, i, q->heap[c]);
		i = c;
	}
	heap_put(q, i, t);
}

void sdr_timerq_set(struct sdr_timerq *q, struct sdr_timer *t, uint64_t when)
{
	SDR_ASSERT(!t->pos || (t->pos <= q->n && q->heap[t->pos - 1] == t));
	if (when == UINT64_MAX) {
		struct sdr_timer *last;
		uint32_t i;

		if (!t->pos)
			return;
		i = t->pos - 1;
		t->pos = 0;
		last = q->heap[--q->n];
		if (last == t)
			return;
		if (i && q->heap[(i - 1) / 2]->when > last->when)
			heap_up(q, i, last);
		else
			heap_down(q, i, last);
		return;
	}
	if (!t->pos) {
		SDR_ASSERT(q->n < q->cap); /* reserved */
		t->when = when;
		q->n++;
		heap_up(q, q->n - 1, t);
		return;
	}
	if (when < t->when) {
		t->when = when;
		heap_up(q, t->pos - 1, t);
	} else if (when > t->when) {
		t->when = when;
		heap_down(q, t->pos - 1, t);
	}
}

struct sdr_timer *sdr_timerq_due(struct sdr_timerq *q, uint64_t now)
{
	struct sdr_timer *t;

	if (!q->n || q->heap[0]->when > now)
		return NULL;
	t = q->heap[0];
	sdr_timerq_set(q, t, UINT64_MAX);
	return t;
}

bool sdr_timerq_sound(const struct sdr_timerq *q)
{
	for (uint32_t i = 0; i < q->n; i++)
		if (q->heap[i]->pos != i + 1 ||
		    (i && q->heap[(i - 1) / 2]->when > q->heap[i]->when))
			return false;
	return q->n <= q->cap;
}

void sdr_timerq_destroy(struct sdr_timerq *q)
{
	free(q->heap);
	memset(q, 0, sizeof(*q));
}
