/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the message room keeps for an endpoint and for each of its connections.
 */
#ifndef SDR_MSG_H
#define SDR_MSG_H

#include "base/sdr_idtab.h"
#include "rel/bulk/sdr_bulk.h"
#include "rel/sdr_rel.h"
#include "sdr_order.h"

struct sdr_matcher;
struct sdr_op_table;
struct sdr_unexp;

struct sdr_rel_msg {			  /* of an endpoint */
	const struct sdr_op_table *kinds; /* what can be posted, and come in */
	struct sdr_slab op_pool, rx_pool, unexp_pool, buf_pool;
	struct sdr_slab atomic_pool, parts_pool; /* payloads of atomics; struct sdr_op_parts */
	/* buffers for bulk without a receive, or into a scattered one */
	struct sdr_scratch bounce;
	struct sdr_idtab ids;
	uint32_t nops, nrx;
	uint32_t leads;		 /* SDR_ORDER_BIT of classes that others follow */
	bool bonded;		 /* only peers with SDR_BOND_HEAR do more than call */
	bool rma_events;	 /* every remote read and write is reported */
	struct sdr_list remotes; /* sdr_remote: what peers do to our memory */
	/* matching: [0] untagged, [1] tagged */
	struct sdr_list posted[2], unexp[2];
	const struct sdr_matcher *matcher;
	const struct sdr_rel_match *above; /* whom sdr_matcher_above asks */
};

struct sdr_early { /* ordered records that came before their turn, by mseq */
	struct sdr_unexp **slot;
	uint32_t cap, n; /* entries, power of two; of them in use */
};

struct sdr_held;
struct sdr_follow {		/* turns of the peer's operations (sdr_follow.c) */
	uint32_t base;		/* the oldest that is not over */
	bool releasing;		/* what waited for it is set free */
	uint32_t kept;		/* records that wait */
	uint32_t cap;		/* lists of them, power of two, or 0 */
	struct sdr_held **slot; /* by the last turn that they wait for */
	uint64_t came[SDR_REC_TURNS / 64], over[SDR_REC_TURNS / 64];
};

struct sdr_conn_msg {		       /* of a connection */
	struct sdr_list ops, deferred; /* under way; behind a fence or the handshake */
	bool releasing;		       /* deferred is being walked */
	bool rnr_mode;		  /* the last rendezvous met no receive (rkeyed peers: sdr_op.c) */
	uint32_t nown;		  /* operations posted here, of both */
	uint32_t nasked;	  /* requests that left: the peer's endpoint owes an answer */
	struct sdr_list cts_wait; /* operations that want message numbers */
	struct sdr_early early;
	struct sdr_order order;	   /* turns of ours */
	struct sdr_follow *follow; /* NULL: the peer has used none */
	struct sdr_rxe *taken;	   /* for the next message, asked for ahead (sdr_above.c) */
};

void sdr_msg_open(struct sdr_rel *rel);
void sdr_msg_close(struct sdr_rel *rel); /* what is posted is cancelled, and reported */
void sdr_msg_conn_init(struct sdr_conn *c);
/* The connection has failed: whatever belongs to it ends, and is reported, with c->err. */
void sdr_msg_conn_end(struct sdr_conn *c);

static inline int sdr_msg_kind(uint8_t rec_op)
{
	return rec_op == SDR_REC_TSEND;
}

static inline uint64_t sdr_msg_len(const struct sdr_frame_rec *f)
{
	return f->flags & SDR_REC_F_LEN ? f->len : f->payload_len;
}

/* enum sdr_rel_err; without one: 0. */
static inline int sdr_msg_status(const struct sdr_frame_rec *f)
{
	return f->flags & SDR_REC_F_STATUS ? f->status : SDR_REL_OK;
}

#endif /* SDR_MSG_H */
