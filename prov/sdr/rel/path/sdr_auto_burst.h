/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What a flow under `auto` that pauses begins with: see sdr_auto_burst.c. */
#ifndef SDR_AUTO_BURST_H
#define SDR_AUTO_BURST_H

#include "rel/path/sdr_cc_ops.h"

/* A flight begins, with nothing in front of it.  True: the window may be another one now. */
bool sdr_auto_burst_begins(struct sdr_cc *cc, uint64_t now);
/* What became of the packets that it began with. */
void sdr_auto_burst_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack);
/* The end of a round.  True: the window has grown as that of a flow that pauses. */
bool sdr_auto_burst_round(struct sdr_cc *cc, double target);

#endif /* SDR_AUTO_BURST_H */
