/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Operations: from post to the one report.  See sdr_op.c.
 */
#ifndef SDR_OP_H
#define SDR_OP_H

#include "sdr_msg.h"
#include "sdr_op_kind.h"
#include "rel/conn/sdr_rec.h"
#include "rel/conn/sdr_seal.h"
#include "rel/bulk/sdr_bulk_rx.h"
#include "rel/bulk/sdr_bulk_tx.h"

/* Several operations that were posted as one: they are reported together, by the last. */
struct sdr_op_parts {
	uint32_t left;	   /* of them are not over */
	int err, prov_err; /* of the first that failed */
	uint64_t moved;	   /* bytes of those that are over */
	uint64_t whole;	   /* bytes of all of them */
};

struct sdr_op {
	struct sdr_list link;  /* conn->ops or conn->deferred */
	struct sdr_conn *conn; /* NULL while the peer has none */
	struct sdr_peer *peer;
	const struct sdr_op_kind *kind;
	uint8_t niov;
	uint16_t flags;
	bool done;		  /* reported (or silent) */
	bool need_done, got_done; /* DONE record awaited, seen */
	bool data_out;		  /* bulk finished or there is none */
	bool data_in;		  /* READ, FETCH_ATOMIC: bytes are here */
	bool voided;		  /* came to nothing: over when its record has arrived */
	bool leads;		  /* served: the peer's turn `turn` is over when it ends */
	bool waiting;		  /* announced without data, or all of it: CTS awaited */
	bool asked;		  /* counts in conn->nasked */
	bool stranger;		  /* READ_SERVE: counts in rel->nanswers_strangers */
	uint32_t id;		  /* ours */
	uint32_t wire_id;	  /* in its record: ours, or the requester's where it is served */
	uint64_t len, tag, data, rma_addr, rma_key;
	uint64_t reach; /* bytes from rma_addr on that it may read or write there */
	uint64_t moved; /* bytes in its report: len, of an atomic those of its elements */
	void *ctx;
	uint64_t uflags;
	const struct sdr_mem *mem;  /* where iov lies; NULL: where the CPU reaches it */
	uint8_t *copy;		    /* injected or gathered bytes */
	struct sdr_slab *copy_pool; /* to which copy belongs; NULL: malloc */
	struct sdr_op_parts *parts; /* of which it is one, until it is over; NULL: it is alone */
	struct sdr_list lead;	    /* conn->msg->order.leads */
	uint32_t turn;
	struct sdr_rec rec;
	struct sdr_rec *bind;	/* its BIND record, while under way */
	struct sdr_list credit; /* conn->cts_wait: wants message numbers for its bulk */
	/*
	 * Its bytes on their way.  Where only the head had a key when it began (head_len bytes of
	 * it; 0: not so), btx is the rest, once that has begun.
	 */
	struct sdr_bulk_tx *btx, *head;
	uint64_t head_len;
	struct sdr_bulk_rx *brx;  /* READ: its data coming in */
	struct sdr_remote remote; /* READ_SERVE: the region it reads */
	bool rkeyed;		  /* va, rkey are valid */
	uint32_t rkey;
	uint64_t va; /* where an rkeyed peer wants the bulk */
	/* of the peer's, that its bulk or its parity goes to; NULL: none; a record names it */
	struct sdr_berth_key *berth;
	bool berth_named;
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
};

/* Its connection is still to be set.  NULL: no memory. */
struct sdr_op *sdr_op_new(struct sdr_peer *peer, const struct sdr_op_kind *kind);
/* Of this connection, by number; NULL: it ended, or never was. */
struct sdr_op *sdr_op_find(struct sdr_conn *c, uint32_t id);
/* One that answers the peer's record.  NULL: no memory, or too many of them. */
struct sdr_op *sdr_op_serve(struct sdr_conn *c, const struct sdr_op_kind *kind,
			    const struct sdr_frame_rec *f);
/* One of those that was not started: there is no answer after all. */
void sdr_op_unserve(struct sdr_op *op);
void sdr_op_report(struct sdr_op *op, int err, int prov_err); /* once */
void sdr_op_bulk_abort(struct sdr_op *op);		      /* if there is any */
/* To an rkeyed peer: its bulk, or the head of it, may leave at once, for there is a key. */
bool sdr_op_berth(struct sdr_op *op);
/* One that was not named yet is for others. */
void sdr_op_berth_leave(struct sdr_op *op);
/* There is credit: its bulk, or the head of it, gets its numbers; enum sdr_rel_err. */
struct sdr_op_bulk_done {
	void (*head)(struct sdr_op *op), (*btx)(struct sdr_op *op);
};
int sdr_op_bulk_start(struct sdr_op *op, const struct sdr_op_bulk_done *done);
/* Which of them this record of its announces.  NULL: none any more. */
struct sdr_bulk_tx *sdr_op_bulk_of(const struct sdr_op *op, const struct sdr_rec *r);
/* What its records do, see sdr_conn_ops.h. */
size_t sdr_op_rec_gather(const struct sdr_rec *r, uint8_t *p);
void sdr_op_rec_written(struct sdr_conn *c, struct sdr_rec *r);
void sdr_op_rec_acked(struct sdr_conn *c, struct sdr_rec *r);
void sdr_op_advance(struct sdr_op *op);			   /* completes it if nothing is missing */
void sdr_op_end(struct sdr_op *op, int err, int prov_err); /* reports and frees */
/* reports; messages keep their place in the order */
void sdr_op_cancel(struct sdr_op *op);
/* Several at a time: whatever ends operations of a connection in a row comes here. */
enum sdr_ops_which {
	SDR_OPS_ALL,  /* the connection is gone */
	SDR_OPS_HELD, /* what has not started */
	/* what may still be reported as not done: is cancelled */
	SDR_OPS_UNPROMISED,
};
void sdr_ops_end(struct sdr_conn *c, enum sdr_ops_which which, int err); /* enum sdr_rel_err */
void sdr_op_start(struct sdr_op *op); /* gives it to its connection; may end it */
/* Its bytes travel inside its record.  Both sides compute the same. */
static inline bool sdr_op_fits(const struct sdr_conn *c, uint64_t len)
{
	return len <= sdr_seal_inline_max(c->rel, c->ctl_max);
}
/* An rkeyed peer says where a bulk may go, and no other has a key to give. */
static inline bool sdr_op_key_expected(const struct sdr_conn *c, const struct sdr_frame_rec *f,
				       bool bulk)
{
	bool key = f->flags & SDR_REC_F_KEY;

	return sdr_qp_peer_rkeyed(c->shape->qp) ? key || !bulk : !key;
}
/* Its bytes, which the CPU reaches, in one piece. */
size_t sdr_op_gather(const struct sdr_op *op, uint8_t *p);
/* Its bytes have a copy from now on; enum sdr_rel_err. */
int sdr_op_copy(struct sdr_op *op);
/* The same out of any memory; enum sdr_rel_err. */
int sdr_op_fetch(const struct sdr_op *op, uint8_t *p);
/* They are in one piece from now on, which lies there; enum sdr_rel_err. */
int sdr_op_base(struct sdr_op *op, const uint8_t **base, const struct sdr_mem **mem);
/* enum sdr_rel_err */
int sdr_op_scatter(struct sdr_op *op, const uint8_t *p, uint64_t n);
/* It may not start yet: behind a fence, or what it must follow. */
bool sdr_op_is_held(const struct sdr_op *op);
void sdr_op_release_deferred(struct sdr_conn *c); /* behind a fence or the handshake */
void sdr_op_release_credit(struct sdr_conn *c);	  /* waiting for message numbers */

#endif /* SDR_OP_H */
