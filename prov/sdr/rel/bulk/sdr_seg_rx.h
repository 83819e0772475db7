/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A segment coming in: one SDR message of a transfer.  See sdr_seg_rx.c.
 */
#ifndef SDR_SEG_RX_H
#define SDR_SEG_RX_H

#include "sdr_bulk_rx.h"

struct sdr_seg_rx {
	struct sdr_list link; /* bulk's segs */
	struct sdr_group_rx *grp;
	bool parity;
	struct sdr_list dirty; /* conn->dirty: a data acknowledgement is owed */
	struct sdr_list asked; /* conn->asked */
	struct sdr_bulk_rx *bulk;
	struct sdr_rcv_handle *h;
	uint32_t msn;
	uint32_t got;		     /* packets, at the last look */
	uint32_t rep_got, rep_holes; /* at the last report */
	uint32_t base;		     /* packet at which the next report starts */
	uint32_t asks;		     /* ENDs that are not answered yet: a report for each */
	bool gap;
	struct sdr_stage stage; /* data: they land in near of it */
};

/*
 * Binds what the window reaches; what it does not stays in rx.partial.  False: its numbers are not
 * free, so it is no honest peer's.
 */
bool sdr_seg_rx_bind(struct sdr_bulk_rx *b);
/* The window has moved, or there may be memory again. */
void sdr_seg_rx_more(struct sdr_conn *c);
/* Nothing is written there any more.  Its number is neither passed over nor complete by that. */
void sdr_seg_rx_free(struct sdr_seg_rx *s);
/* What has come of a transfer is at its place.  False: not all of it can be. */
bool sdr_seg_rx_settle(struct sdr_bulk_rx *b);
/*
 * They came to where its stage is, which it had not: what is complete goes on from there, what is
 * open, or still to be bound, as it comes.  False: not all of it can.
 */
bool sdr_seg_rx_stage(struct sdr_bulk_rx *b);

#endif /* SDR_SEG_RX_H */
