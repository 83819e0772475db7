/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A transfer going out: one operation's bytes, in messages.  See sdr_bulk_tx.c.
 */
#ifndef SDR_BULK_TX_H
#define SDR_BULK_TX_H

#include "sdr_bulk.h"
#include "sdr_plan.h"

struct sdr_group_tx;
struct sdr_op;
struct sdr_rec;

struct sdr_bulk_tx {
	struct sdr_list link; /* conn->bulks: announced, not all segments open; in order */
	struct sdr_op *op;    /* whose bytes they are: the room above's, not looked at here */
	void (*done)(struct sdr_op *op); /* all delivered; this is gone */
	struct sdr_conn *conn;
	struct sdr_conn_shape *shape; /* that all of it is numbered on */
	const uint8_t *base;
	const struct sdr_mem *mem; /* where base lies; NULL: where the CPU reaches it */
	uint64_t len;
	uint32_t msn; /* of message 0 */
	struct sdr_plan plan;
	uint32_t opened, finished; /* messages */
	/* of the data segment opened last, until its parity is opened too */
	struct sdr_group_tx *grp;
	struct sdr_list segs; /* those open */
	bool staged;	      /* from mem: the engine does not reach it, bytes pass through ours */
	bool announced;	      /* its record has been sent once: data may follow */
	/* conn->copies: the record travels a second time behind the first data */
	struct sdr_list copy;
	/* packets of the first segment behind which the next copy of the record travels */
	uint32_t copy_at;
	struct sdr_rec *rec; /* the record that announces it */
	uint16_t told;	     /* bit i: that went by path i, too, in front of data */
	bool rkeyed;	     /* the peer says where its bytes go: rkey, va */
	uint32_t rkey;
	uint64_t va;
	/* and its parity: of coded segment i to par_va + i * plan.par_each */
	uint32_t par_rkey;
	uint64_t par_va;
	uint64_t not_before; /* ns: data wait until no packet sent before can overtake the record */
};

/* Takes message numbers: credit was checked.  What follows from op is the caller's to fill. */
struct sdr_bulk_tx *sdr_bulk_tx_new(struct sdr_conn *c, const uint8_t *base, uint64_t len,
				    const struct sdr_plan *plan);
bool sdr_bulk_tx_credit(const struct sdr_conn *c);
void sdr_bulk_tx_abort(struct sdr_bulk_tx *b);
void sdr_bulk_tx_delivered(struct sdr_bulk_tx *b); /* all of it: the receiver said so */
void sdr_bulk_announced(struct sdr_bulk_tx *b);
bool sdr_bulk_tx_work(const struct sdr_conn *c);
/* Bytes of it that were never sent, about; in time of what is open. */
uint64_t sdr_bulk_tx_unsent(const struct sdr_conn *c);
/* some that left is not acknowledged, whether it is in flight or known to be lost */
bool sdr_bulk_tx_due(const struct sdr_conn *c);
/* ns at which the next bulk's data may leave; UINT64_MAX */
uint64_t sdr_bulk_tx_deferral(const struct sdr_conn *c);
/* ns at which the pacer of a path lets data go that has room for a packet; UINT64_MAX: none has */
uint64_t sdr_bulk_tx_paced(const struct sdr_conn *c);
/* false: engine full */
bool sdr_bulk_tx_send(struct sdr_conn *c, uint64_t budget);
void sdr_bulk_tx_destroy(struct sdr_conn *c);

/* Nothing of it is open any more. */
static inline void sdr_bulk_tx_free(struct sdr_bulk_tx *b)
{
	struct sdr_conn *c = b->conn;

	SDR_ASSERT(sdr_list_empty(&b->segs) && b->shape->ntx);
	sdr_list_del(&b->copy);
	sdr_list_del(&b->link);
	if (!--b->shape->ntx && b->shape != c->shape)
		sdr_conn_kick(c); /* its shape may go */
	sdr_slab_free(&c->rel->bulk->btx_pool, b);
}

#endif /* SDR_BULK_TX_H */
