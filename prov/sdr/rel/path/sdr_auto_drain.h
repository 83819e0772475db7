/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* When a flow under `auto` empties its queue: see sdr_auto_drain.c. */
#ifndef SDR_AUTO_DRAIN_H
#define SDR_AUTO_DRAIN_H

#include <stdbool.h>
#include "rel/path/sdr_cc_ops.h"

/* round trips to the first one, and up to half as many more by chance */
#define SDR_AUTO_DRAIN_FIRST 20u

/* To CRUISE; so many round trips until a drain. */
void sdr_auto_drain_wait(struct sdr_cc *cc, uint64_t now, uint32_t trips);
/* A round in DRAIN: is it over? */
void sdr_auto_drain_round(struct sdr_cc *cc, uint64_t now);
/* A round in CRUISE: is it time for one?  target: the queue that it keeps, ns. */
void sdr_auto_drain_look(struct sdr_cc *cc, uint64_t now, uint64_t target, bool app_limited);
/* An acknowledgement: is the path as empty as a drain would make it? */
void sdr_auto_drain_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack);

#endif /* SDR_AUTO_DRAIN_H */
