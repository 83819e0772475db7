/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* A queue that stays although we yield to it: see sdr_press.c. */
#ifndef SDR_PRESS_H
#define SDR_PRESS_H

#include "rel/path/sdr_rival_at.h"

struct sdr_press {
	uint64_t at;	   /* since then it is there, ns; 0: it is not */
	uint64_t ns;	   /* and may be so long */
	uint64_t round_at; /* when the last round ended, ns */
	uint64_t left_at;  /* when rivals went last, ns; 0: never were, or were not worth it */
};

void sdr_press_init(struct sdr_press *p);
/*
 * After a round: somebody fills the queue.  win: the own window, bytes; shorter: the path has been
 * found to be, so that the queue says nothing now.
 */
bool sdr_press_round(struct sdr_press *p, const struct sdr_rival_at *at, double win, bool shorter);
/* At the end of each round, whether it was looked at or not. */
void sdr_press_next(struct sdr_press *p, uint64_t now);
/* What was seen until now does not count. */
void sdr_press_forget(struct sdr_press *p);
/* Rivals have gone; those that come soon after are known sooner, if these were worth it. */
void sdr_press_gone(struct sdr_press *p, uint64_t now, bool worth);
/* Nothing was won by seeing them: a queue must stay for twice as long. */
void sdr_press_in_vain(struct sdr_press *p);

#endif /* SDR_PRESS_H */
