/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What operations and records mean: one row for each operation that can be posted, one for each
 * record that can come in, and the table of both (sdr_op_table.c).
 *
 * The life of an operation is the same for all (sdr_op.c): held back or started, sent in its record
 * or as bulk, reported once, when nothing is missing or something fails.  Where they differ, its
 * row is used, and no code tests which operation it is.  A new operation is a file with its rows, a
 * line of the table each, and its record's number in wire/sdr_record.h.
 *
 * Rows are constant, and outlive every endpoint.  An endpoint reads its table through a pointer
 * (sdr_rel_msg.kinds), which may be exchanged before anything is posted or has come in: by tests
 * that bring an operation of their own.
 */
#ifndef SDR_OP_KIND_H
#define SDR_OP_KIND_H

#include "rel/sdr_orders.h"
#include "rel/sdr_rel_cbs.h"
#include "wire/sdr_record.h"

struct sdr_conn;
struct sdr_op;
struct sdr_rel_wr;

struct sdr_op_kind {
	const char *name;
	uint8_t number; /* enum sdr_rel_kind, in its report */
	uint8_t rec;	/* enum sdr_rec_op of its record */
	/*
	 * A message: its record has a place in the order of the connection, which it keeps when the
	 * operation comes to nothing, so it cannot be taken back once that place is given; what
	 * meets no receive may be parked by the peer.  Others are cancelled where they are.
	 */
	bool ordered;
	uint8_t classes; /* SDR_ORDER_BIT: which orders are about it (sdr_order.c) */
	bool served;	 /* answers the peer: is not posted, and not reported */
	bool asks; /* its bytes come from the peer: its record says how many, and carries none */
	uint64_t feature; /* SDR_FEATURE_*: not for a peer with whom it is not in force */
	/*
	 * It is not only bytes to be sent.  split: into how many operations one that is posted
	 * goes, or a negative errno; load: fills number i of them, which are posted in this order;
	 * 0 or a negative errno; joined: all have ended well, this is the last.  NULL: it carries
	 * the bytes of its iovs, and is one.
	 */
	int (*split)(const struct sdr_rel_wr *wr);
	int (*load)(struct sdr_op *op, const struct sdr_rel_wr *wr, uint32_t i);
	void (*joined)(struct sdr_op *op, uint64_t whole);
	/*
	 * What its record says beside number, length, data and payload, and which answers the
	 * operation waits for.  fits: its bytes travel inside the record.  enum sdr_rel_err.
	 */
	int (*fill)(struct sdr_op *op, struct sdr_frame_rec *f, bool fits);
	/* Nothing is missing: it ends well. */
	bool (*complete)(const struct sdr_op *op);
	/*
	 * Its RTS goes without data, and waits for the peer's CTS, also where there is a key.
	 * NULL: that is never so, and a CTS for it is ignored.
	 */
	bool (*waits)(const struct sdr_op *op);
	/*
	 * The peer's DONE says that it is over; status: 0 or SDR_REL_ERR_TRUNC.  It may be ended
	 * here.  NULL: nothing follows but what `complete` sees.
	 */
	void (*done)(struct sdr_op *op, int status);
};

struct sdr_rec_kind {
	const char *name;
	/* Once for each record, in whatever order they come. */
	void (*input)(struct sdr_conn *c, const struct sdr_frame_rec *f);
	/*
	 * One with BULK: false, its message numbers are not about to be used; else the bytes that
	 * they stand for.  NULL: those that it says.
	 */
	bool (*numbers)(struct sdr_conn *c, const struct sdr_frame_rec *f, uint64_t *len);
	bool starts;	  /* one with BULK announces data that follow at once */
	bool unbound;	  /* taken from any peer, also by a bonded endpoint */
	uint64_t feature; /* SDR_FEATURE_*: no peer sends it with whom it is not in force */
};

#define SDR_OP_KINDS 16u /* kinds have numbers below */
_Static_assert(SDR_REL_KINDS <= SDR_OP_KINDS, "each kind of report has a place in the table");

struct sdr_op_table {
	const struct sdr_op_kind *op[SDR_OP_KINDS];    /* by enum sdr_rel_kind; NULL: not posted */
	const struct sdr_rec_kind *rec[UINT8_MAX + 1]; /* by enum sdr_rec_op; NULL: unknown */
};

extern const struct sdr_op_table sdr_op_table;

static inline const struct sdr_op_kind *sdr_op_kind(const struct sdr_op_table *t, uint8_t number)
{
	return number < SDR_OP_KINDS ? t->op[number] : NULL;
}

/* ---- the rows: sdr_op_send.c, _write.c, _read.c, _atomic.c, _call.c, sdr_rec_input.c ---- */
extern const struct sdr_op_kind sdr_op_send, sdr_op_tsend;
extern const struct sdr_op_kind sdr_op_write;
extern const struct sdr_op_kind sdr_op_read, sdr_op_read_serve;
extern const struct sdr_op_kind sdr_op_atomic, sdr_op_fetch_atomic, sdr_op_atomic_serve;
extern const struct sdr_op_kind sdr_op_call;
extern const struct sdr_rec_kind sdr_rec_kind_send;
extern const struct sdr_rec_kind sdr_rec_kind_write;
extern const struct sdr_rec_kind sdr_rec_kind_read, sdr_rec_kind_read_rsp;
extern const struct sdr_rec_kind sdr_rec_kind_atomic, sdr_rec_kind_atomic_rsp,
	sdr_rec_kind_atomic_end;
extern const struct sdr_rec_kind sdr_rec_kind_call;
extern const struct sdr_rec_kind sdr_rec_kind_bind, sdr_rec_kind_cts, sdr_rec_kind_park,
	sdr_rec_kind_done, sdr_rec_kind_berth;

#endif /* SDR_OP_KIND_H */
