/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Packets and ENDs of bulk data that arrive, see sdr_bulk_arrive.c. */
#ifndef SDR_BULK_ARRIVE_H
#define SDR_BULK_ARRIVE_H

#include "sdr_bulk.h"

/* The SDK's call after a round in which packets of h were placed; user: the connection. */
void sdr_bulk_arrive_placed(void *user, struct sdr_rcv_handle *h);
/* In each round: segments that other threads have decoded are complete. */
void sdr_bulk_arrive_decoded(struct sdr_rel *rel);
/* END of this message arrived. */
void sdr_bulk_arrive_end(struct sdr_conn *c, uint32_t msn);

#endif /* SDR_BULK_ARRIVE_H */
