/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* By which path data leave: see sdr_bulk_path.c. */
#ifndef SDR_BULK_PATH_H
#define SDR_BULK_PATH_H

#include "sdr_bulk_tx.h"

/* Bytes that may be in flight on a path. */
uint64_t sdr_bulk_window(const struct sdr_conn *c, const struct sdr_path *p);
/*
 * The path by which the next packet leaves now, if possible another than avoid (an index; of no
 * path: any), and one that may (bit i of told).  NULL: none takes one.
 */
struct sdr_path *sdr_bulk_path_next(struct sdr_conn *c, uint32_t avoid, uint32_t told);
/* ns at which the pacer of such a path lets data go that has room for a packet; NEVER: none has */
uint64_t sdr_bulk_path_paced(const struct sdr_conn *c, uint32_t told);
/* What its window and pacer allow now, and how much of it makes a turn. */
uint64_t sdr_bulk_path_bytes(struct sdr_conn *c, struct sdr_path *p);
void sdr_bulk_path_sent(struct sdr_conn *c, struct sdr_path *p, uint64_t bytes);
/* There is nothing to send, or nothing that these paths should take. */
void sdr_bulk_path_limited(struct sdr_conn *c);

#endif /* SDR_BULK_PATH_H */
