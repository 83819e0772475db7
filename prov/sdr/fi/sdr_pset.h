/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The set of endpoints that a CQ or a counter drives (sdr_pset.c).
 */
#ifndef SDR_PSET_H
#define SDR_PSET_H

#include <pthread.h>
#include <stdbool.h>

struct sdr_ep;
struct sdr_sleeper;
struct sdr_wait;
struct sdr_yield;

/* The endpoints that a CQ or a counter drives. */
struct sdr_pset {
	struct sdr_wait *wait; /* the CQ's or counter's */
	pthread_mutex_t lock;
	struct sdr_ep **v;
	unsigned int n, cap;
	/* of all, in each endpoint's watch: reads between enter and leave, SDR_WATCH_FD */
	unsigned int watch;
	pthread_t napper;  /* who called fi_trywait last */
	bool napper_known; /* a thread did */
	bool napper_one;   /* and no other ever */
	bool naps;	   /* a thread may sleep on the descriptor */
};

void sdr_pset_init(struct sdr_pset *ps, struct sdr_wait *w);
void sdr_pset_fini(struct sdr_pset *ps);
int sdr_pset_add(struct sdr_pset *ps, struct sdr_ep *ep);
/* ep has got its descriptors. */
int sdr_pset_watch(struct sdr_pset *ps, struct sdr_ep *ep);
void sdr_pset_del(struct sdr_pset *ps, struct sdr_ep *ep);
/* Drives all endpoints of the set that no other thread is driving.  True: there was work. */
bool sdr_pset_progress(struct sdr_pset *ps);
/*
 * A blocking read: enter; then, until it has what it wants, sdr_wait_awake, sdr_pset_look, its own
 * look at what it waits for, sdr_wait_sleep unless look said true; leave.  enter: negative FI
 * error, or 0 and *s.
 */
int sdr_pset_enter(struct sdr_pset *ps, struct sdr_sleeper **s);
/* Drives all endpoints and sets their alarms.  True: do not sleep, look again. */
bool sdr_pset_look(struct sdr_pset *ps);
void sdr_pset_leave(struct sdr_pset *ps, struct sdr_sleeper *s);
/*
 * A reader that spins has found nothing for a while: yields, or sleeps, for SDR_YIELD_NAP_NS at
 * most, unless something is published (`news` says so of `of`) or an endpoint wants a round.
 */
void sdr_pset_rest(struct sdr_pset *ps, struct sdr_yield *y, bool (*news)(void *of), void *of);
/*
 * For fi_trywait: the application is about to sleep on the descriptor.  Drives and sets the alarms;
 * true: not now.
 */
bool sdr_pset_handover(struct sdr_pset *ps);

#endif /* SDR_PSET_H */
