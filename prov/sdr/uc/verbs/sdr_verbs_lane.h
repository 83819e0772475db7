/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receive queues and the lane that they are read in (sdr_verbs_lane.c): the owner's, or a worker's
 * (sdr_verbs_crew.h).
 */
#ifndef SDR_VERBS_LANE_H
#define SDR_VERBS_LANE_H

#include "sdr_verbs_lib.h"
#include "uc/sdr_uc.h"

struct sdr_verbs;
struct sdr_verbs_lane;
struct sdr_verbs_qp;
struct sdr_verbs_tp;
struct sdr_verbs_worker;

#define SDR_VERBS_BATCH	 64u  /* work requests per doorbell */
#define SDR_VERBS_STAGED 256u /* receive completions held at a time */

/* A receive completion queue, of one transport QP of a QP or of several. */
struct sdr_verbs_rq {
	struct sdr_verbs_qp *q;
	struct ibv_cq *cq;
	struct sdr_verbs_lane *lane;
	struct sdr_verbs_rq *prev, *next; /* lane->hot, while something may arrive */
};

/* Counters of what came, as in sdr_uc_stats. */
struct sdr_verbs_rx_stats {
	uint64_t pkts_rx, bytes_rx, pkts_late, pkts_bad;
};

struct sdr_verbs_lane {
	struct sdr_verbs *v;
	struct sdr_verbs_worker *worker; /* whose it is; NULL: the owner's */
	struct sdr_verbs_rq *hot;
	/* completions that wait for the control datagrams before them: [pos, n) */
	struct ibv_wc wc[SDR_VERBS_STAGED];
	struct sdr_verbs_tp *tp[SDR_VERBS_STAGED]; /* NULL: struck out */
	uint32_t n, pos;
	bool sock;	 /* the owner's: some are of peers that use the socket */
	uint64_t flowed; /* ns: last data */
	struct ibv_recv_wr rwr[SDR_VERBS_BATCH]; /* a chain without buffers */
	struct sdr_verbs_rx_stats st;
};

/* What became of a completion. */
enum sdr_verbs_made {
	SDR_VERBS_GONE,	 /* counted: late or bad, or its QP is broken */
	SDR_VERBS_MADE,	 /* *ev says what was placed */
	SDR_VERBS_EARLY, /* nothing was done: what binds its slot may not have been handled yet */
};

/* depth: receives of all that share the queue.  0 or a negative errno, and v->reason says why. */
int sdr_verbs_rq_open(struct sdr_verbs_rq *r, struct sdr_verbs_qp *q, struct sdr_verbs_lane *l,
		      uint32_t depth);
void sdr_verbs_rq_close(struct sdr_verbs_rq *r);
/* Something may arrive, or not any more.  Asks for notifications. */
void sdr_verbs_rq_hot(struct sdr_verbs_rq *r, bool on);

/*
 * Of a worker's lane, all of these under its lock.
 *
 * Takes in completions that are there, as far as there is room.
 */
void sdr_verbs_lane_take(struct sdr_verbs_lane *l, uint64_t now);
/* The next one; decided: what is not bound now is late, and never early. */
enum sdr_verbs_made sdr_verbs_lane_next(struct sdr_verbs_lane *l, bool decided,
					struct sdr_uc_ev *ev);
/* Strikes out held completions of a QP: of one slot, which are late, or SDR_VERBS_NONE: all. */
void sdr_verbs_lane_strike(struct sdr_verbs_lane *l, const struct sdr_verbs_qp *q, uint32_t slot);
/*
 * Posts all receives of a transport QP, or those that were used; its QP breaks if the device takes
 * none.
 */
void sdr_verbs_lane_fill(struct sdr_verbs_tp *t);

#endif /* SDR_VERBS_LANE_H */
