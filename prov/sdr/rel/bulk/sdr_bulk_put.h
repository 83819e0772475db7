/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Frames of transfers going out, see sdr_bulk_put.c. */
#ifndef SDR_BULK_PUT_H
#define SDR_BULK_PUT_H

#include "sdr_bulk.h"

bool sdr_bulk_ends_due(const struct sdr_conn *c);
bool sdr_bulk_copies_due(const struct sdr_conn *c);
/* Bytes written. */
size_t sdr_bulk_put_ends(struct sdr_conn *c, uint8_t *p, size_t room);
size_t sdr_bulk_put_copies(struct sdr_conn *c, uint8_t *p, size_t room);

#endif /* SDR_BULK_PUT_H */
