/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Workers: threads that read the receive queues of a group of channels each, a lane a worker
 * (sdr_verbs_crew.c; the thread: sdr_verbs_worker.c).
 *
 * The calls here are the owner's but where they say otherwise.
 */
#ifndef SDR_VERBS_CREW_H
#define SDR_VERBS_CREW_H

#include <pthread.h>
#include <sys/types.h>

#include "uc/sdr_uc_bell.h"
#include "uc/sdr_uc_offer.h"
#include "sdr_verbs_lane.h"

#define SDR_VERBS_CREW_LINE 64u /* bytes: what one thread writes and another reads is apart */

struct sdr_verbs_crew;

struct sdr_verbs_worker {
	/* under the lock: */
	struct sdr_verbs_lane lane;
	uint32_t need;	 /* number of the look after which what is held cannot be early any more */
	uint64_t helped; /* packets that the owner has reported in its place */
	/* for good: */
	struct sdr_verbs_crew *crew;
	struct ibv_comp_channel *chan;
	uint32_t index;
	pthread_t thread;
	struct sdr_uc_bell bell;   /* that ends its sleep */
	struct sdr_uc_offer offer; /* before that */
	uint32_t hot;		   /* the owner's: its queues of which something is expected */
	_Alignas(SDR_VERBS_CREW_LINE) bool lock;
	bool wanted; /* by the owner: the worker lets it have it */
	bool early;  /* the first that is held may be early: the owner is to poll */
	bool idle;   /* it has found its queues empty, and sleeps or is about to */
};

struct sdr_verbs_crew {
	struct sdr_uc_crew to;
	struct sdr_verbs *v;
	struct sdr_verbs_worker *worker[SDR_WORKERS_MAX];
	uint32_t n;	/* of them */
	uint32_t on;	/* threads: 0 or n */
	uint32_t first; /* worker of the first channels of the next QP */
	pid_t pid;	/* the process whose threads these are */
	uint32_t read;	/* the last look that took all control datagrams that were there */
	/* written by the owner: */
	_Alignas(SDR_VERBS_CREW_LINE) uint32_t asked; /* the last look for them */
	uint32_t handled; /* the last one that took all, and whose events were handled */
	bool stop;
	/* written by both */
	_Alignas(SDR_VERBS_CREW_LINE) bool news; /* packets were placed since the owner looked */
	struct sdr_uc_bell bell;		 /* that wakes it */
};

/* What came of a look at what is held. */
enum sdr_verbs_swept {
	SDR_VERBS_NOTHING, /* the queues are empty, and nothing is held */
	SDR_VERBS_SOME,	   /* all that was held has been seen to; there may be more */
	SDR_VERBS_WAITS,   /* for the control datagrams before it, or for room above */
};

/* n workers without threads.  0 or a negative errno, and v->reason says why. */
int sdr_verbs_crew_open(struct sdr_verbs *v, uint32_t n);
/* Every queue of theirs is closed. */
void sdr_verbs_crew_close(struct sdr_verbs *v);
/* Starts the threads, once; false: there are none, and the owner reads all queues. */
bool sdr_verbs_crew_start(struct sdr_verbs *v);

/*
 * A poll begins, and what the one before has returned was handled.  True: something may be early,
 * so the socket is to be looked at, too.
 */
bool sdr_verbs_crew_poll(struct sdr_verbs_crew *c);
/* It looks for control datagrams now, and that is look number so much. */
void sdr_verbs_crew_ask(struct sdr_verbs_crew *c, uint32_t look);
/*
 * It has found n; seen: the last look that took all that there were.  What came before them is
 * reported when this returns.
 */
void sdr_verbs_crew_told(struct sdr_verbs_crew *c, int n, uint32_t seen);
/* What has come is reported, but for what may be early, and for what there is no room for. */
void sdr_verbs_crew_pass(struct sdr_verbs_crew *c);
/*
 * A slot of the QP was made unbound: what has come for it is reported or late, and no worker has
 * events of it any more.
 */
void sdr_verbs_crew_leave(struct sdr_verbs_qp *q, uint32_t slot);
/* The owner will sleep.  True: it should not. */
bool sdr_verbs_crew_arm(struct sdr_verbs_crew *c);
void sdr_verbs_crew_stats(struct sdr_verbs_crew *c, struct sdr_verbs_rx_stats *sum);

/* The lane's, of whichever kind; any thread that is not in it. */
void sdr_verbs_lane_lock(struct sdr_verbs_lane *l);
void sdr_verbs_lane_unlock(struct sdr_verbs_lane *l);
/* A worker that sleeps looks again. */
void sdr_verbs_lane_wake(struct sdr_verbs_lane *l);

/* Any thread: there is something for the owner. */
void sdr_verbs_crew_tell(struct sdr_verbs_crew *c);

/* Under the lock, any thread: takes in what is there, as far as there is room; */
void sdr_verbs_worker_take(struct sdr_verbs_worker *w, uint64_t now);
/* reports what is held. */
enum sdr_verbs_swept sdr_verbs_worker_report(struct sdr_verbs_worker *w);
void *sdr_verbs_worker_main(void *arg);

#endif /* SDR_VERBS_CREW_H */
