/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * When a reader that spins gives the processor away, and how (sdr_yield.c).  Any thread may call
 * any of these at any time: what several do at once to one counter costs a yield too many or too
 * few.
 */
#ifndef SDR_YIELD_H
#define SDR_YIELD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* reads in a row that found nothing before one gives the processor away; after a nap, likewise */
#define SDR_YIELD_POLLS	      32u
#define SDR_YIELD_POLLS_AGAIN 4u
/* ns: a yield of so long was into somebody's time slice (2.8 ms, seen on two processors) */
#define SDR_YIELD_DEAR_NS 1500000ull
/* ns: a nap; who polls other things, too, comes to them as late */
#define SDR_YIELD_NAP_NS 500000ull
/* naps until one yields again, to see: at first, at most */
#define SDR_YIELD_NAPS	   16u
#define SDR_YIELD_NAPS_MAX 1024u

/* All zero: new. */
struct sdr_yield {
	_Atomic uint32_t idle; /* reads in a row that found nothing */
	_Atomic uint32_t naps; /* before the next yield */
	_Atomic uint32_t most; /* as there were behind the last one; 0: it was short */
};

/* A read found something, or something was done for it. */
static inline void sdr_yield_busy(struct sdr_yield *y)
{
	if (atomic_load_explicit(&y->idle, memory_order_relaxed))
		atomic_store_explicit(&y->idle, 0, memory_order_relaxed);
}

/* Behind each read.  True: it is time to give the processor away. */
static inline bool sdr_yield_read(struct sdr_yield *y, bool found)
{
	if (found) {
		sdr_yield_busy(y);
		return false;
	}
	return atomic_fetch_add_explicit(&y->idle, 1, memory_order_relaxed) + 1 >= SDR_YIELD_POLLS;
}

/* By a nap, rather than a yield.  Takes one. */
bool sdr_yield_naps(struct sdr_yield *y);
/* It is over; came: before its time. */
void sdr_yield_napped(struct sdr_yield *y, bool came);
void sdr_yield_now(struct sdr_yield *y);
/* A yield took so long. */
void sdr_yield_took(struct sdr_yield *y, uint64_t ns);

#endif /* SDR_YIELD_H */
