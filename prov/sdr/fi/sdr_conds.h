/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Condition variables of FI_WAIT_MUTEX_COND that are to be signalled (sdr_conds.c).
 */
#ifndef SDR_CONDS_H
#define SDR_CONDS_H

#include <stdbool.h>

struct sdr_domain;
struct sdr_wait;

/* Signals, or, with the mutex taken, leaves it to sdr_conds_signal: false. */
bool sdr_conds_raise(struct sdr_domain *dom, struct sdr_wait *w);
/* Signals what is due and free; true when something is left. */
bool sdr_conds_signal(struct sdr_domain *dom);
/* w is about to go. */
void sdr_conds_del(struct sdr_domain *dom, struct sdr_wait *w);

#endif /* SDR_CONDS_H */
