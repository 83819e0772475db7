/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What the receiver says about bulk data, see sdr_bulk_ack.c. */
#ifndef SDR_BULK_ACK_H
#define SDR_BULK_ACK_H

#include "sdr_bulk_tx.h"

/* as: of each path, what is newly delivered is added to it */
void sdr_bulk_dack(struct sdr_conn *c, const struct sdr_frame_dack *f, struct sdr_acks *as);

#endif /* SDR_BULK_ACK_H */
