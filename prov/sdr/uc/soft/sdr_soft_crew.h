/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Workers: threads that place packets from ports of their own (sdr_soft_crew.c), each of which is a
 * sdr_soft_worker (sdr_soft_worker.c), and send from there when they have nothing to place
 * (sdr_soft_share.c).
 *
 * The calls here are the owner's but where they say otherwise.
 */
#ifndef SDR_SOFT_CREW_H
#define SDR_SOFT_CREW_H

#include <pthread.h>
#include <sys/types.h>
#include "uc/sdr_uc_bell.h"
#include "uc/sdr_uc_offer.h"
#include "sdr_soft_place.h"
#include "sdr_soft_knock.h"
#include "sdr_soft_rx.h"
#include "sdr_soft_share.h"
#include "sdr_soft_tx.h"

#define SDR_SOFT_CREW_LINE 64u /* bytes: what one thread writes and another reads is apart */

/* Counters of a worker, as words that other threads may read. */
#define SDR_SOFT_COUNTS ((sizeof(struct sdr_uc_stats) + sizeof(struct sdr_soft_stats)) / 8)

struct sdr_soft_worker {
	struct sdr_soft *s;
	uint32_t index;
	int fd; /* its socket */
	uint16_t port;
	struct sdr_soft_inlet inlet;
	pthread_t thread;
	struct {
		struct sdr_uc_stats st;
		struct sdr_soft_stats xst;
	} own;
	struct sdr_soft_rx rx;
	struct sdr_soft_tx *tx;	       /* of what it sends */
	struct sdr_soft_knock_box box; /* answers that came to its socket */
	struct sdr_uc_bell bell;       /* that ends its sleep */
	struct sdr_uc_offer offer;     /* before that */
	/* written by the worker, read by the owner: */
	_Alignas(SDR_SOFT_CREW_LINE) struct sdr_soft_hold hold;
	uint32_t work; /* odd: at work, it may have a QP; even: it has nothing */
	bool idle;     /* it has found its socket empty, and sleeps or is about to */
	uint64_t done; /* what came up to then (stamps) is placed and reported; it never falls */
	_Alignas(SDR_SOFT_CREW_LINE) uint64_t told[SDR_SOFT_COUNTS];
};

struct sdr_soft_crew {
	struct sdr_uc_crew to;
	struct sdr_soft_worker *worker[SDR_WORKERS_MAX];
	uint32_t n;    /* sockets */
	uint32_t on;   /* threads: 0 or n */
	uint32_t help; /* how many of them may send */
	pid_t pid;     /* the process whose threads these are */
	/* tables of QPNs that were too small: a worker may look at them yet */
	void *old[SDR_SOFT_QPN_BITS];
	uint32_t nold;
	uint32_t large;	  /* slots that are bound to so much that workers may get data for them */
	uint64_t blocked; /* stamp of the control datagram that the last poll left; 0: none */
	uint64_t blocked_at; /* ns, engine's clock: first of the polls in a row that did so */
	uint64_t passed;     /* the last answer of sdr_soft_crew_done, in this poll */
	/* written by the owner: polls that ended with nothing more to read, and were handled */
	_Alignas(SDR_SOFT_CREW_LINE) uint32_t drained;
	uint64_t handled; /* likewise: control datagrams with this stamp or an older one */
	bool stop;
	/* written by both */
	_Alignas(SDR_SOFT_CREW_LINE) bool news; /* packets were placed since the owner looked */
	struct sdr_uc_bell bell;		/* that wakes it */
	struct sdr_soft_job job;		/* that the owner shares with them */
};

/*
 * n sockets beside the engine's own.  0 or a negative errno; nothing is left behind then.  *what:
 * the call that failed.
 */
int sdr_soft_crew_open(struct sdr_soft *s, uint32_t n, const struct sockaddr_storage *sa,
		       uint16_t port_lo, uint16_t port_hi, const char **what);
void sdr_soft_crew_close(struct sdr_soft *s);
/* Starts the threads, once; false: there are none, and nobody is to be told of their ports. */
bool sdr_soft_crew_start(struct sdr_soft *s);

/* Up to which stamp all that came to workers is placed and reported. */
uint64_t sdr_soft_crew_done(const struct sdr_soft *s);
/*
 * A control datagram with this stamp may be handled; false: later, and the engine has noted that it
 * is blocked.
 */
bool sdr_soft_crew_passed(struct sdr_soft *s, uint64_t stamp);
/* A slot is bound, or not any more, to so many bytes. */
void sdr_soft_crew_large(struct sdr_soft *s, uint64_t len, bool bound);
/* A poll begins; drained: what the one before has read, which was all, has been handled since. */
void sdr_soft_crew_poll(struct sdr_soft *s, bool drained);
/*
 * A poll found nothing: while workers have something the processor is offered to them, or who polls
 * without end would take from them what they are to relieve him of.
 */
void sdr_soft_crew_rest(const struct sdr_soft *s);
/* The owner will sleep.  True: it should not. */
bool sdr_soft_crew_arm(struct sdr_soft *s);
/* After e is unbound: returns when no worker writes there. */
void sdr_soft_crew_leave(const struct sdr_soft *s, const struct sdr_soft_slot *e);
/* Returns when each worker has been without QP, page or table since the call. */
void sdr_soft_crew_quiet(const struct sdr_soft *s);
/* A table that is replaced, from malloc: freed when nobody looks at it any more. */
void sdr_soft_crew_retire(struct sdr_soft *s, void *table);
/* Adds what a worker has counted; xst may be NULL. */
void sdr_soft_worker_stats(const struct sdr_soft_worker *w, struct sdr_uc_stats *st,
			   struct sdr_soft_stats *xst);
void sdr_soft_crew_stats(const struct sdr_soft *s, struct sdr_uc_stats *st,
			 struct sdr_soft_stats *xst);

/* Any worker: something was placed. */
void sdr_soft_crew_tell(struct sdr_soft_crew *c);

/* A worker's thread: what it has counted is seen by others. */
void sdr_soft_worker_tell(struct sdr_soft_worker *w);
/* A worker's thread; arg: struct sdr_soft_worker. */
void *sdr_soft_worker_main(void *arg);

#endif /* SDR_SOFT_CREW_H */
