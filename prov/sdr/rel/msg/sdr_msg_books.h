/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The books of operations and messages, see sdr_msg_books.c. */
#ifndef SDR_MSG_BOOKS_H
#define SDR_MSG_BOOKS_H

#include "base/sdr_books.h"
#include "sdr_msg.h"

/* Sums over the connections looked at. */
struct sdr_msg_sums {
	uint32_t ops, own;	   /* operations; of them, posted here */
	uint32_t answers;	   /* READs being served for strangers */
	uint32_t remotes;	   /* transfers into and out of regions */
	uint32_t unexp, strangers; /* messages kept; of them, from strangers */
	uint64_t bytes;		   /* that they cost, with what keeps them */
	uint64_t bounce;	   /* bytes of bounce buffers, of them and of receives */
	uint32_t landing,
		multi; /* transfers into receives; of them, into those that take several */
};

/* alone: records of the connection without an owner (sdr_conn_sums). */
void sdr_msg_books(struct sdr_books *k, const struct sdr_conn *c, uint32_t alone,
		   struct sdr_msg_sums *s);
/* After all connections: the endpoint's lists and pools. */
void sdr_msg_pool_books(struct sdr_books *k, const struct sdr_rel *rel, struct sdr_msg_sums *s);

#endif /* SDR_MSG_BOOKS_H */
