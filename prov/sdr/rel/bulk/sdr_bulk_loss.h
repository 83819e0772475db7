/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Which data are lost, see sdr_bulk_loss.c. */
#ifndef SDR_BULK_LOSS_H
#define SDR_BULK_LOSS_H

#include "sdr_bulk_tx.h"

/* nack: a report of a gap came in this round; as: of each path, what is lost is added to it */
void sdr_bulk_detect_lost(struct sdr_conn *c, bool nack, struct sdr_acks *as);
void sdr_bulk_path_lost(struct sdr_conn *c, uint32_t path); /* all that is under way there */
/* ns at which the scheme's own timeout makes something lost; UINT64_MAX: it has none */
uint64_t sdr_bulk_loss_deadline(const struct sdr_conn *c);
/* The probe timeout: asks about the oldest segment that is not finished. */
void sdr_bulk_probe(struct sdr_conn *c);

#endif /* SDR_BULK_LOSS_H */
