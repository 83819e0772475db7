/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The set of packet numbers received from a peer.  Numbers are compared by their distance from the
 * floor, which trails the largest number by at most SDR_PNSET_SPAN, so the order is never
 * ambiguous.  Invariants: r[0..n) descending, at least one missing number between two ranges, every
 * range at or above the floor. In-order arrival costs one comparison.  No allocation, no timers, no
 * threads.
 */
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_pnset.h"

#define SDR_PNSET_SPAN (1u << 30) /* numbers: how far back we remember */

void sdr_pnset_init(struct sdr_pnset *s, uint32_t first_pn)
{
	s->n = 0;
	s->floor = first_pn;
}

/* Raises the floor, drops what lies below it. */
static void sdr_pnset_floor_set(struct sdr_pnset *s, uint32_t floor)
{
	uint32_t old = s->floor;

	while (s->n && s->r[s->n - 1].hi - old < floor - old)
		s->n--;
	if (s->n && s->r[s->n - 1].lo - old < floor - old)
		s->r[s->n - 1].lo = floor;
	s->floor = floor;
}

static void sdr_pnset_trim(struct sdr_pnset *s)
{
	if (s->r[0].hi - s->floor > SDR_PNSET_SPAN)
		sdr_pnset_floor_set(s, s->r[0].hi - SDR_PNSET_SPAN);
}

/* A range of its own at index i. */
static void sdr_pnset_insert(struct sdr_pnset *s, uint32_t i, uint32_t pn)
{
	if (s->n == SDR_PNSET_RANGES) {
		if (i == s->n) {
			s->floor = pn + 1;
			return;
		}
		s->floor = s->r[--s->n].hi + 1;
	}
	memmove(&s->r[i + 1], &s->r[i], (s->n - i) * sizeof(s->r[0]));
	s->r[i].lo = pn;
	s->r[i].hi = pn;
	s->n++;
}

static uint32_t sdr_pnset_top(const struct sdr_pnset *s) /* largest so far */
{
	return s->n ? s->r[0].hi : s->floor - 1;
}

bool sdr_pnset_far(const struct sdr_pnset *s, uint32_t pn)
{
	return (int32_t)(pn - sdr_pnset_top(s)) > (int32_t)SDR_PNSET_AHEAD;
}

bool sdr_pnset_newest(const struct sdr_pnset *s, uint32_t pn)
{
	return (int32_t)(pn - sdr_pnset_top(s)) > 0 && !sdr_pnset_far(s, pn);
}

bool sdr_pnset_add(struct sdr_pnset *s, uint32_t pn)
{
	uint32_t top = sdr_pnset_top(s);
	uint32_t off = pn - s->floor, i;
	bool above, below;

	if (s->n && pn == top + 1) {
		s->r[0].hi = pn;
		sdr_pnset_trim(s);
		return true;
	}
	if ((int32_t)off < 0 || sdr_pnset_far(s, pn))
		return false;
	for (i = 0; i < s->n && s->r[i].lo - s->floor > off; i++)
		;
	if (i < s->n && s->r[i].hi - s->floor >= off)
		return false;
	above = i > 0 && s->r[i - 1].lo == pn + 1;
	below = i < s->n && s->r[i].hi == pn - 1;
	if (above && below) {
		s->r[i - 1].lo = s->r[i].lo;
		s->n--;
		memmove(&s->r[i], &s->r[i + 1], (s->n - i) * sizeof(s->r[0]));
	} else if (above) {
		s->r[i - 1].lo = pn;
	} else if (below) {
		s->r[i].hi = pn;
	} else {
		sdr_pnset_insert(s, i, pn);
	}
	sdr_pnset_trim(s);
	SDR_ASSERT(s->n <= SDR_PNSET_RANGES && s->r[0].hi - s->floor <= SDR_PNSET_SPAN);
	return true;
}

void sdr_pnset_ack(const struct sdr_pnset *s, struct sdr_frame_ack *f)
{
	uint32_t i;

	f->flags = 0;
	f->n = s->n < SDR_ACK_RANGES ? s->n : SDR_ACK_RANGES;
	for (i = 0; i < f->n; i++) {
		f->r[i].hi = s->r[i].hi;
		f->r[i].lo = s->r[i].lo;
	}
}
