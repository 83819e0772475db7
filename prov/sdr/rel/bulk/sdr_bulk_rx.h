/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A transfer coming in, see sdr_bulk_rx.c.
 */
#ifndef SDR_BULK_RX_H
#define SDR_BULK_RX_H

#include "sdr_bulk.h"
#include "sdr_plan.h"

struct sdr_remote {	      /* a peer's transfer into or out of a region */
	struct sdr_list link; /* rel->remotes */
	void *region;	      /* as mr_get named it */
	struct sdr_op *read;  /* one of the two */
	struct sdr_bulk_rx *write;
};

struct sdr_bulk_rx {
	struct sdr_list link;	 /* conn->brx */
	struct sdr_list partial; /* conn->partial */
	struct sdr_hnode bnode;	 /* rel->binds, while a BIND may name it */
	bool expected;		 /* it is there */
	struct sdr_conn *conn;
	void (*arrived)(
		struct sdr_bulk_rx *b); /* all bytes are in place, or err; it is freed afterwards */
	uint8_t *buf;
	const struct sdr_mem *mem; /* where buf lies; NULL: where the CPU reaches it */
	bool direct;		   /* own engine rkeyed: it writes to buf, wherever that lies */
	struct sdr_stage stage;	   /* or not: of the whole buffer */
	struct sdr_berth *berth;   /* or its stage is of this; NULL: not */
	struct sdr_berth *parity;  /* own engine rkeyed: that its parity comes to; NULL: none */
	/*
	 * Bytes at the front that are a transfer of their own (sdr_head_rx.c), and that while it is
	 * under way; 0: none.  What is numbered, granted and staged here lies behind them.
	 */
	uint64_t head_len;
	struct sdr_bulk_rx *head;
	struct sdr_bulk_rx *whole; /* it is the head of this */
	bool kept;		   /* it is a head that nobody wants yet: it stays where it came */
	bool still;		   /* has come: waits for its head, or for who wants it */
	struct sdr_list room;	   /* stages.rx_wait: there is neither yet, nor a grant */
	bool cts_owed, cts_expected;
	int err; /* enum sdr_rel_err: with arrived, the bytes are not in place after all */
	uint64_t len;
	uint32_t id; /* the peer's operation */
	uint32_t msn;
	struct sdr_conn_shape *shape; /* that its messages are numbered on, once has_msn */
	struct sdr_plan plan;	      /* likewise */
	uint32_t bound;		      /* messages bound or skipped */
	uint32_t done;		      /* data segments complete */
	/* of the data segment bound last, until its parity is bound too */
	struct sdr_group_rx *grp;
	uint8_t op;   /* enum sdr_rec_op it belongs to */
	bool has_msn; /* false: waits for BIND, or READ_RSP */
	bool delivery;
	bool leads; /* WRITE: the peer's turn `turn` is over when it ends */
	uint32_t turn;
	struct sdr_rxe *rx;	  /* SEND, TSEND matched: the receive */
	struct sdr_unexp *unexp;  /* or its place in the unexpected list */
	uint64_t rx_off;	  /* where in the receive (MULTI) */
	struct sdr_op *read;	  /* READ_RSP: our READ */
	struct sdr_remote remote; /* WRITE: the region it goes to */
	uint64_t data, tag, key;
	bool has_data;
	struct sdr_list segs; /* sdr_seg_rx, bound */
	/* own engine rkeyed: of the buffer, as long as bytes come */
	struct sdr_uc_grant grant;
};

/* What comes in, and where to. */
struct sdr_bulk_land {
	uint8_t op;  /* enum sdr_rec_op */
	uint32_t id; /* the peer's operation */
	void *buf;
	uint64_t len;		   /* bytes */
	const struct sdr_mem *mem; /* where buf lies; NULL: where the CPU reaches it */
	void (*arrived)(struct sdr_bulk_rx *b);
	/* own engine rkeyed: that its bytes come to, its own from now on; NULL: buf is granted */
	struct sdr_berth *berth;
	uint64_t head; /* bytes at the front that come by themselves, see sdr_head_rx.h */
};

/*
 * enum sdr_rel_err.  On an rkeyed engine the buffer, or memory of ours for that of a device, is
 * granted to the peer from here to the end of *out; or later, where there is no room for that now
 * (sdr_bulk_rx_waits).
 */
int sdr_bulk_rx_new(struct sdr_conn *c, const struct sdr_bulk_land *l, struct sdr_bulk_rx **out);
static inline bool sdr_bulk_rx_waits(const struct sdr_bulk_rx *b)
{
	return !sdr_list_empty(&b->room);
}
/* There may be room for those that wait.  Between turns: it may end transfers. */
void sdr_bulk_rx_room(struct sdr_rel *rel);
/* The peer owes something of one: not of those that wait for us. */
bool sdr_bulk_rx_due(const struct sdr_conn *c);
/*
 * A BIND may name it from now on.  False: the connection failed, for it has two of this number, or
 * there is no memory.
 */
bool sdr_bulk_rx_name(struct sdr_bulk_rx *b);
/*
 * Requests the data of an RTS without data, when it is granted; expected: the receive was there
 * first.  False: the connection failed.
 */
bool sdr_bulk_rx_cts(struct sdr_bulk_rx *b, bool expected);
/*
 * Binds what the window allows; f: the record that numbers it.  SDR_REL_ERR_CODE: refused, the
 * numbers are skipped.
 */
int sdr_bulk_rx_start(struct sdr_bulk_rx *b, const struct sdr_frame_rec *f);
/* What is numbered here: all of it, or what is behind its head. */
static inline uint8_t *sdr_bulk_rx_at(const struct sdr_bulk_rx *b)
{
	return b->buf + b->head_len;
}
static inline uint64_t sdr_bulk_rx_len(const struct sdr_bulk_rx *b)
{
	return b->len - b->head_len;
}
/* The one that this BIND is for; NULL: it is over, or never was. */
struct sdr_bulk_rx *sdr_bulk_rx_expected(struct sdr_conn *c, uint32_t id);
/* May a record give its bulk these numbers?  Honest peers number within what they were allowed. */
bool sdr_bulk_rx_numbers(struct sdr_conn *c, const struct sdr_frame_rec *f, uint64_t len);
/*
 * What a record says of its messages, or could not have (-EINVAL): whether they can be received is
 * another matter.
 */
int sdr_bulk_rx_plan(const struct sdr_conn *c, const struct sdr_frame_rec *f, uint64_t len,
		     struct sdr_plan *plan);
/*
 * The three ends of one, which is freed: its owner goes; it failed, err says why; all its bytes are
 * in place.  The last two are told (arrived).
 */
void sdr_bulk_rx_abort(struct sdr_bulk_rx *b);
void sdr_bulk_rx_fail(struct sdr_bulk_rx *b, int err);
void sdr_bulk_rx_complete(struct sdr_bulk_rx *b);
/* These bytes have no receiver. */
void sdr_bulk_rx_skip(struct sdr_conn *c, const struct sdr_frame_rec *f, uint64_t len);

#endif /* SDR_BULK_RX_H */
