/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The head of a transfer, which comes to a berth while the rest waits for its key.  See
 * sdr_head_rx.c.
 */
#ifndef SDR_HEAD_RX_H
#define SDR_HEAD_RX_H

#include "sdr_bulk_rx.h"

/*
 * sdr_bulk_rx_new, and where there are both a head and a berth, the head comes to that: the record
 * starts (*out)->head.
 */
int sdr_head_rx_land(struct sdr_conn *c, const struct sdr_bulk_land *l, struct sdr_bulk_rx **out);
/* Of a message that meets no receive, by its record: it waits in its berth.  enum sdr_rel_err. */
int sdr_head_rx_keep(struct sdr_conn *c, const struct sdr_frame_rec *f, struct sdr_berth *berth,
		     struct sdr_bulk_rx **out);
/*
 * One that was kept is wanted.  False: its berth has gone to others since, and it is over: all has
 * to come again.
 */
bool sdr_head_rx_wanted(struct sdr_bulk_rx *head);
/* It is the head of b.  It may end b, if its bytes cannot be put in their place. */
void sdr_head_rx_meet(struct sdr_bulk_rx *b, struct sdr_bulk_rx *head);

#endif /* SDR_HEAD_RX_H */
