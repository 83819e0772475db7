/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One side of a run: its endpoint, buffers and operations, and how it stays in step with the other.
 *
 * Both sides run the same code.  A side that is `active` posts operations; one whose peer is active
 * is their target.  For each size they tell each other three things, in messages of their own tag:
 *
 *   READY   receives are posted, buffers filled          both wait for it before the clock starts
 *   DONE    everything of mine has completed; how much   so the target knows what to wait for and
 *           to check
 *   RESULT  what I found, what I had to send twice       the end of the size
 *
 * A side that waits checks now and then whether the other is still there (ALIVE): a connection on
 * which nothing is under way does not notice a peer that has gone.
 */
#ifndef SDR_PERF_SIDE_H
#define SDR_PERF_SIDE_H

#include "sdr_perf.h"
#include "sdr_perf_mem.h"

enum perf_step { PERF_READY, PERF_DONE, PERF_RESULT, PERF_ALIVE, PERF_STEPS };

struct perf_sync {
	uint32_t step; /* enum perf_step */
	uint32_t zero;
	uint64_t size; /* bytes, that this is about */
	uint64_t count;
	uint64_t ns;		     /* DONE: from the first post to the last completion */
	uint64_t bad;		     /* RESULT: messages with wrong bytes */
	uint64_t pkts, rtx, rec_rtx; /* RESULT: since READY */
	uint64_t cpu_ns;	     /* RESULT: that this process took since READY */
	double peak;		     /* DONE: bytes per second */
	/* DONE, of writes: number of the last message + 1 in each slot; 0: none */
	uint64_t last[PERF_SLOTS_MAX];
};

#define PERF_SYNC_RECVS 4u
#define PERF_TAG_SYNC	(1ull << 40)
#define PERF_TAG_DATA	(1ull << 41)

struct perf_side {
	struct perf_ep ep;
	struct perf_plan plan;
	struct perf_mem mem; /* of the buffers */
	struct perf_end mine, theirs;
	bool client;
	bool active, target;

	/* what this side sends from or lets be read; what it receives into or lets be written */
	uint8_t *tx, *rx;
	size_t tx_room, rx_room; /* bytes; 0: not needed */
	struct fid_mr *tx_mr, *rx_mr, *sync_mr;

	struct perf_op tx_op[PERF_SLOTS_MAX], rx_op[2 * PERF_SLOTS_MAX];
	uint32_t free[PERF_SLOTS_MAX], nfree; /* of tx_op */

	/* PERF_SYNC_RECVS to receive into, one to send from, one for ALIVE */
	struct perf_sync *sync;
	struct perf_op sync_rx[PERF_SYNC_RECVS], sync_tx, alive_tx;
	bool got[PERF_STEPS];
	struct perf_sync said[PERF_STEPS];
	uint64_t size; /* of the run, bytes */
};

/* Buffers, registrations, own address: after the plan, the memory and the endpoint. */
int perf_side_open(struct perf_side *s, char *why);
void perf_side_close(struct perf_side *s);

/* Sends a step (and the numbers in *m) and waits until it is known to have arrived. */
void perf_side_say(struct perf_side *s, enum perf_step step, struct perf_sync *m);
/* Moves everything forward once while something of the peer's is awaited. */
void perf_side_idle(struct perf_side *s);
/* Waits for a step of the peer's. */
const struct perf_sync *perf_side_hear(struct perf_side *s, enum perf_step step);

#endif /* SDR_PERF_SIDE_H */
