/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Coded segments going out, see sdr_code_tx.c.
 */
#ifndef SDR_CODE_TX_H
#define SDR_CODE_TX_H

#include "sdr_seg_tx.h"
#include "fec/sdr_code.h"
#include "fec/sdr_fec.h"

/* ENDs to a receiver that could decode and does not, before data go again */
#define SDR_GROUP_ASKS_MAX 3u
/* rounds of parity on demand before data go again */
#define SDR_GROUP_ROUNDS_MAX 4u

/*
 * A coded segment: data and parity.  Losses of either are only noted; when all of both has left and
 * nothing of it is in flight, the group is evaluated by what the receiver has (sdr_code_tx.c).
 */
struct sdr_group_tx {
	struct sdr_list evaluate;  /* conn->evaluate: nothing in flight any more */
	struct sdr_seg_tx *data;   /* NULL: released */
	struct sdr_seg_tx *parity; /* NULL: not opened yet, or released */
	const struct sdr_fec *fec; /* NULL: no bytes (simulation) */
	uint8_t *scratch;	   /* parity, code.par_pkts * mtu bytes */
	const uint8_t *base;	   /* of the data, once some have left */
	/* submessages whose encoding was begun; the thread that adds one encodes it */
	atomic_uint begun;
	bool shared; /* job is lent: others may encode */
	struct sdr_job job;
	uint32_t rounds, asks;
	bool end_probed; /* could be decoded as far as we know: its answer is awaited */
	struct sdr_code code;
};

struct sdr_group_tx *sdr_group_tx_new(struct sdr_bulk_tx *b, const struct sdr_plan_msg *m);
void sdr_group_tx_drop(struct sdr_conn *c, struct sdr_group_tx *g,
		       struct sdr_seg_tx *s); /* s goes; the last one ends it */
void sdr_group_tx_sent(struct sdr_seg_tx *s, uint32_t first,
		       uint32_t n); /* data left for the first time: its share of parity is made */
void sdr_group_tx_make(struct sdr_seg_tx *s, uint32_t first,
		       uint32_t n);	       /* parity about to leave: rows on demand */
void sdr_group_tx_touch(struct sdr_seg_tx *s); /* something of it left the network */
void sdr_group_tx_evaluate(struct sdr_conn *c);

#endif /* SDR_CODE_TX_H */
