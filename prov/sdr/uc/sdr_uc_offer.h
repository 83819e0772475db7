/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A worker that waits offers its processor to who may bring what it waits for, before it sleeps.
 *
 * Where the others have little to do it is back at once.  Where somebody computes the processor is
 * gone for a time slice, again and again, while a sleeper would be woken before him.  So after an
 * offer that took long the next ones are not made, twice as many each time, and a short one ends
 * that: beside who computes a worker sleeps nearly always, and looks now and then whether he has
 * gone.  (The pollers of fi/ do not sleep: sdr_yield.c.)
 *
 * One thread's.  The owner of an engine, who gives the processor to workers that have something to
 * do, does not use it: an offer that takes long is then what he wants.
 */
#ifndef SDR_UC_OFFER_H
#define SDR_UC_OFFER_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define SDR_UC_OFFER_DEAR_NS   500000u /* an offer of this length went to who has work of his own */
#define SDR_UC_OFFER_SHIFT_MAX 8u      /* 1 << that: offers that are left out, at most */

/* All zero: new. */
struct sdr_uc_offer {
	uint32_t skip;	/* offers that are still to be left out */
	uint32_t shift; /* after the last one 1 << shift were; 0: none */
};

/* False: this one is left out. */
static inline bool sdr_uc_offer_due(struct sdr_uc_offer *o)
{
	if (!o->skip)
		return true;
	o->skip--;
	return false;
}

/* One was made, and took so long. */
static inline void sdr_uc_offer_took(struct sdr_uc_offer *o, uint64_t ns)
{
	if (ns < SDR_UC_OFFER_DEAR_NS) {
		o->shift = 0;
		return;
	}
	o->shift += o->shift < SDR_UC_OFFER_SHIFT_MAX;
	o->skip = 1u << o->shift;
}

static inline uint64_t sdr_uc_offer_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* False: nothing was done, sleep. */
static inline bool sdr_uc_offer(struct sdr_uc_offer *o)
{
	uint64_t t;

	if (!sdr_uc_offer_due(o))
		return false;
	t = sdr_uc_offer_now();
	sched_yield();
	sdr_uc_offer_took(o, sdr_uc_offer_now() - t);
	return true;
}

#endif /* SDR_UC_OFFER_H */
