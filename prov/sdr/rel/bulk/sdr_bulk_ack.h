/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What the receiver says about bulk data, see sdr_bulk_ack.c. */
#ifndef SDR_BULK_ACK_H
#define SDR_BULK_ACK_H

#include "sdr_bulk_tx.h"

void sdr_bulk_dack(struct sdr_conn *c, const struct sdr_frame_dack *f, struct sdr_acks *as);
void sdr_bulk_detect_lost(struct sdr_conn *c, bool nack, struct sdr_acks *as);
void sdr_bulk_path_lost(struct sdr_conn *c, uint32_t path); /* all that is under way there */
void sdr_bulk_tlog_trim(struct sdr_conn *c);
uint64_t sdr_bulk_loss_deadline(const struct sdr_conn *c);
void sdr_bulk_probe(struct sdr_conn *c);

#endif /* SDR_BULK_ACK_H */
