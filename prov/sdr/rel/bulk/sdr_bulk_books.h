/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The books of transfers, out and in, see sdr_bulk_books.c. */
#ifndef SDR_BULK_BOOKS_H
#define SDR_BULK_BOOKS_H

#include "base/sdr_books.h"
#include "sdr_bulk.h"

/* Sums over the connections looked at. */
struct sdr_bulk_sums {
	uint32_t btx, brx, srx, gtx, grx; /* objects of the pools */
	uint32_t expected;		  /* transfers in that wait for a BIND */
	uint32_t decodes;		  /* that threads do */
	uint64_t scratch;		  /* bytes of buffers with parity */
	uint64_t stage_tx, stage_rx;	  /* between devices and the network */
	uint32_t berths, idle, keys;	  /* berths, of them unused; the peers' that are unused */
	uint64_t berth_room;
};

/* packets: bytes of a connection's packets of records and frames in flight (sdr_conn_sums). */
void sdr_bulk_books(struct sdr_books *k, const struct sdr_conn *c, uint64_t packets,
		    struct sdr_bulk_sums *s);
/* After all connections: the endpoint's pools and buffers. */
void sdr_bulk_pool_books(struct sdr_books *k, const struct sdr_rel *rel,
			 const struct sdr_bulk_sums *s);

#endif /* SDR_BULK_BOOKS_H */
