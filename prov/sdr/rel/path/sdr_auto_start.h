/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The beginning of a flow under `auto`: see sdr_auto_start.c. */
#ifndef SDR_AUTO_START_H
#define SDR_AUTO_START_H

#include <stdbool.h>
#include "rel/path/sdr_cc_ops.h"

#define SDR_AUTO_TRAIN_ERR 0.25 /* of a capacity that is believed */

static inline bool sdr_auto_capacity(const struct sdr_cc_rate *rate)
{
	return rate->capacity_Bps && !rate->capacity_least &&
	       rate->capacity_err < SDR_AUTO_TRAIN_ERR;
}

/* The first window, bytes: also that of a flow that has sent little. */
double sdr_auto_first(const struct sdr_cc *cc);
/* What it begins with, bytes: the first window, or by what is known of the path. */
double sdr_auto_begins(const struct sdr_cc *cc);
/* The time in which that leaves, ns; and pacing above the window, in START. */
uint64_t sdr_auto_first_ns(const struct sdr_cc *cc);
double sdr_auto_start_gain(const struct sdr_cc *cc);
/* The window grows to what it was, or is to be (before). */
void sdr_auto_returns(struct sdr_cc *cc, uint64_t bytes);
/* The window, bytes, that trains and bursts have shown to pass; 0: none. */
double sdr_auto_shown(const struct sdr_cc *cc, const struct sdr_cc_rate *rate);
/* An acknowledgement in START; true: it is over, the window is what was learnt. */
bool sdr_auto_start(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
		    const struct sdr_cc_rate *rate);
/* An acknowledgement, in START and after: do others start as well? */
void sdr_auto_spread(struct sdr_cc *cc, const struct sdr_cc_ack *ack, bool round_start);
/* The first round trip is known: was what is known of the path that of another? */
void sdr_auto_verify(struct sdr_cc *cc);

#endif /* SDR_AUTO_START_H */
