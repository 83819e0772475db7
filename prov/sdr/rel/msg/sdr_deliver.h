/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Messages go to receives, see sdr_deliver.c. */
#ifndef SDR_DELIVER_H
#define SDR_DELIVER_H

#include "sdr_recv_entry.h"
#include "sdr_unexp.h"

/* A receive's frame again, from its bulk. */
struct sdr_frame_rec sdr_bulk_frame(const struct sdr_bulk_rx *b);
void sdr_deliver_done(struct sdr_bulk_rx *b); /* bulk of a message is complete */
void sdr_rxe_truncated(struct sdr_conn *c, struct sdr_rxe *rx, const struct sdr_frame_rec *f,
		       uint64_t off);
void sdr_rxe_bulk(struct sdr_conn *c, struct sdr_rxe *rx, const struct sdr_frame_rec *f,
		  uint64_t off, bool expected, struct sdr_bulk_rx *kept);
void sdr_rxe_deliver(struct sdr_conn *c, struct sdr_rxe *rx, const struct sdr_frame_rec *f);
void sdr_unexp_add(struct sdr_conn *c, struct sdr_unexp *u);
void sdr_unexp_deliver(struct sdr_rel *rel, struct sdr_unexp *u, struct sdr_rxe *rx);
void sdr_unexp_drop(struct sdr_rel *rel, struct sdr_unexp *u);

/*
 * Where the bulk of this record lands, if our engine is rkeyed: in the berth that it names.  False:
 * that was taken back, so it is parked, and to be requested like one that was only announced; or
 * the connection failed.
 */
bool sdr_berth_or_park(struct sdr_conn *c, const struct sdr_frame_rec *f, struct sdr_berth **berth);

#endif /* SDR_DELIVER_H */
