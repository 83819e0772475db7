/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How fast a flight left, and how fast it arrived.  See sdr_spread.c.
 */
#ifndef SDR_SPREAD_H
#define SDR_SPREAD_H

#include <stdint.h>

struct sdr_spread {
	uint64_t rx, tx;	   /* when it began to arrive, and to leave, ns; rx 0: it did not */
	uint64_t rx_last, tx_last; /* of the newest packet */
	double bytes;		   /* that arrived since it began */
};

/* A flight begins to arrive at rx, or would, if nothing were in front of it; it left from tx on. */
void sdr_spread_begin(struct sdr_spread *s, uint64_t rx, uint64_t tx);
/* bytes newly delivered, the newest of which left at tx; rx: less what the report has waited. */
void sdr_spread_acked(struct sdr_spread *s, uint64_t rx, uint64_t tx, uint64_t bytes);
/* Bytes per second; 0: nothing has arrived behind the first yet. */
double sdr_spread_arrived(const struct sdr_spread *s);
/* The same, HUGE_VAL: at once. */
double sdr_spread_left(const struct sdr_spread *s);

#endif /* SDR_SPREAD_H */
