/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Deadlines of an endpoint's connections: a binary heap of nodes that live in their owners, so that
 * the next deadline is O(1) and moving one is O(log n) without allocation on the data path.
 */
#ifndef SDR_TIMERQ_H
#define SDR_TIMERQ_H

#include <stdbool.h>
#include <stdint.h>

struct sdr_timer {
	uint64_t when; /* ns */
	uint32_t pos;  /* index in the heap + 1; 0: not armed */
};
struct sdr_timerq {
	struct sdr_timer **heap;
	uint32_t n, cap;
};

/* Room for one more timer; called when its owner is created, so that set cannot fail. -ENOMEM. */
int sdr_timerq_reserve(struct sdr_timerq *q, uint32_t n);
/* when UINT64_MAX: disarm. */
void sdr_timerq_set(struct sdr_timerq *q, struct sdr_timer *t, uint64_t when);
/* The earliest timer if its time has come (it is disarmed then), else NULL. */
struct sdr_timer *sdr_timerq_due(struct sdr_timerq *q, uint64_t now);
static inline uint64_t sdr_timerq_next(const struct sdr_timerq *q)
{
	return q->n ? q->heap[0]->when : UINT64_MAX;
}
/* Every timer stands where it says, and none before an earlier one.  Looks at all. */
bool sdr_timerq_sound(const struct sdr_timerq *q);
void sdr_timerq_destroy(struct sdr_timerq *q);

#endif /* SDR_TIMERQ_H */
