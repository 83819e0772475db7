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

/* A run of packets of one message, as the receive worker kernel took them. */
struct sdr_recv_run {
	uint32_t fresh, dups;	   /* packets; new ones, those that had come */
	uint32_t chunks;	   /* that they completed */
	uint32_t high, last;	   /* 1 + the highest of the new; the last of all */
	uint16_t ecn[SDR_UC_ECNS]; /* new packets by their mark */
	bool any;		   /* one of all these, or a fragment of the immediate */
};

static inline void sdr_recv_run_add(struct sdr_recv_run *run, enum sdr_rxk_res r, uint32_t off,
				    uint8_t ecn)
{
	run->any = true;
	if (r == SDR_RXK_UIMM)
		return;
	run->last = off;
	if (r == SDR_RXK_DUP) {
		run->dups++;
		return;
	}
	run->fresh++;
	run->chunks += r == SDR_RXK_CHUNK;
	run->ecn[ecn % SDR_UC_ECNS]++;
	if (off >= run->high)
		run->high = off + 1;
}

/* The same of several at once; last: packet offset of the last of them. */
static inline void sdr_recv_run_take(struct sdr_recv_run *run, const struct sdr_rxk_run *more,
				     uint32_t last, uint8_t ecn)
{
	run->any = true;
	run->last = last;
	run->dups += more->dups;
	run->fresh += more->fresh;
	run->chunks += more->chunks;
	run->ecn[ecn % SDR_UC_ECNS] += (uint16_t)more->fresh;
	/* If the last of them had come before, it was counted as the highest then. */
	if (more->fresh && last >= run->high)
		run->high = last + 1;
}

/* What it changes in the receive, which is posted. */
void sdr_recv_run(struct sdr_rcv_handle *h, const struct sdr_recv_run *run);
void sdr_recv_placed(struct sdr_qp *qp, const struct sdr_uc_ev *ev);
/* Calls the hooks of all receives touched in the round. */
void sdr_recv_round_end(struct sdr_context *ctx);
void sdr_recv_free(struct sdr_rcv_handle *h);

#endif /* SDR_RECV_H */
