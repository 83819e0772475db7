/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The books of a connection, its peer and its endpoint, see sdr_conn_books.c. */
#ifndef SDR_CONN_BOOKS_H
#define SDR_CONN_BOOKS_H

#include "base/sdr_books.h"
#include "sdr_conn.h"

/* Sums over the connections looked at, for what is counted elsewhere. */
struct sdr_conn_sums {
	uint32_t conns, unvalidated, armed;
	uint32_t recs, answers; /* records that stand alone; of them, for strangers */
	/* of the connection looked at last */
	uint64_t inflight;     /* bytes of packets of records and frames */
	uint32_t alone, owned; /* records without an owner, and with one */
};

/* Of one that lives, or has failed and was not freed yet. */
void sdr_conn_books(struct sdr_books *k, const struct sdr_conn *c, struct sdr_conn_sums *s);
/* After all connections: their endpoint's sums, peers, pools and timers. */
void sdr_endpoint_books(struct sdr_books *k, const struct sdr_rel *rel,
			const struct sdr_conn_sums *s);

#endif /* SDR_CONN_BOOKS_H */
