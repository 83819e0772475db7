/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Clear to send, both sides (sdr_cts.c).
 */
#ifndef SDR_CTS_H
#define SDR_CTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sdr_context;
struct sdr_qp;

#define SDR_CTS_FIRST_NS 10000000ull /* first repetition of an unanswered CTS, doubled up to */
#define SDR_CTS_MAX_NS	 1000000000ull
/* how long it is repeated when no receive is posted any more */
#define SDR_CTS_LINGER_NS 30000000000ull

void sdr_cts_input(struct sdr_context *ctx, uint8_t type, const uint8_t *buf, size_t len);
/* A receive was posted, or the QP got connected. */
void sdr_cts_kick(struct sdr_qp *qp);
/* The sender knows of the numbers below `posted`. */
void sdr_cts_seen(struct sdr_qp *qp, uint32_t posted);
/* True when `next` must not be posted before the sender is known to have come closer. */
bool sdr_cts_gated(struct sdr_qp *qp);
void sdr_cts_run(struct sdr_qp *qp);

#endif /* SDR_CTS_H */
