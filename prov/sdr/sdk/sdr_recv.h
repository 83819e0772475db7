/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receives, and what a packet changes in them (sdr_recv.c; the user's immediate: sdr_uimm.c).
 */
#ifndef SDR_RECV_H
#define SDR_RECV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sdr_list.h"
#include "sdr_rxk.h"
#include "sdr_sdk.h"

struct sdr_context;
struct sdr_qp;

#define SDR_BITS_INLINE 4u /* bitmap words inside a receive handle */

struct sdr_rcv_handle {
	struct sdr_rxk_msg k; /* first: the kernel's slabs are these handles */
	struct sdr_rcv_state st;
	struct sdr_qp *qp;	     /* NULL: free */
	struct sdr_rcv_handle *next; /* free list */
	struct sdr_list touched;     /* packets came in this round */
	uint64_t *words;	     /* both bitmaps, inline or of the pool */
	struct sdr_uc_grant grant;   /* rkeyed engine, QP without hooks */
	uint32_t index;
	uint8_t cls;
	uint64_t inl[SDR_BITS_INLINE];
};

/* What packets of one slot did to its message, from the kernel to the sums. */
struct sdr_recv_note {
	struct sdr_qp *qp; /* NULL: it is gone */
	/* the receive, and which message it was of then; NULL: there was none of theirs */
	struct sdr_rcv_handle *h;
	uint32_t msn;
	uint16_t late, bad;	   /* packets */
	uint32_t fresh, dups;	   /* new ones, those that had come */
	uint32_t chunks;	   /* that they completed */
	uint32_t high, last;	   /* 1 + the highest of the new; the last of all */
	uint16_t ecn[SDR_UC_ECNS]; /* new packets by their mark, */
	uint8_t via;		   /* and the way by which all of them came */
	uint64_t since; /* when this host had the last, ns by the engine's clock; 0: not known */
};

/*
 * The kernel over n events, 1..SDR_UC_POLL_MIN, all PLACED and of one slot and way of the QP.  Any
 * thread, as long as neither QP nor message may go.
 */
void sdr_recv_run(struct sdr_qp *qp, const struct sdr_uc_ev *ev, int n, struct sdr_recv_note *note);
/*
 * The owner's: what it changes in the sums, but for cum.  The receive; NULL: it is over.  Behind
 * one or several, before anybody looks, comes sdr_recv_cum.
 */
struct sdr_rcv_handle *sdr_recv_count(struct sdr_context *ctx, const struct sdr_recv_note *note);
void sdr_recv_cum(struct sdr_rcv_handle *h);
/* Calls the hooks of all receives touched in the round. */
void sdr_recv_round_end(struct sdr_context *ctx);
void sdr_recv_free(struct sdr_rcv_handle *h);

#endif /* SDR_RECV_H */
