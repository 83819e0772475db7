/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* How the window of a flow under `auto` follows the queue: see sdr_auto_cruise.c. */
#ifndef SDR_AUTO_CRUISE_H
#define SDR_AUTO_CRUISE_H

#include "rel/path/sdr_cc_ops.h"

#define SDR_AUTO_PACE_MAX     3.0 /* growth of the window, times the plain step, at most */
#define SDR_AUTO_QUIET_ROUNDS 3u  /* with hardly any queue, after which the path is not full */

/* A round in CRUISE; target: the queue that it keeps, ns. */
void sdr_auto_cruise_round(struct sdr_cc *cc, uint64_t now, uint64_t target,
			   const struct sdr_cc_rate *rate);

#endif /* SDR_AUTO_CRUISE_H */
