/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * When a reader that spins gives the processor away (sdr_yield.c).  Any thread may call any of
 * these at any time: what several do at once to one counter costs a yield too many or too few.
 */
#ifndef SDR_YIELD_H
#define SDR_YIELD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* reads in a row that found nothing, before one gives the processor away: at first, at most */
#define SDR_YIELD_POLLS	    32u
#define SDR_YIELD_POLLS_MAX (1u << 15)
/*
 * A yield of at least this long, and so long for each of the reads before it and for each that
 * other readers of the process made meanwhile, was into a time slice of somebody who has work of
 * his own.  The first is less than his slice (2.8 ms and more, seen on two processors).  The second
 * keeps ranks of a job that spin and yield as we do, several to a processor, from taking each other
 * for such: each would read for longer before it yields, and its neighbours' yields would take as
 * long as all of that.  The third keeps the threads of one process from it, however many they are;
 * it is less, for these reads are known and those of other processes are guessed.
 */
#define SDR_YIELD_DEAR_NS	 1500000ull
#define SDR_YIELD_DEAR_READ_NS	 8000ull /* a dozen times what one takes */
#define SDR_YIELD_DEAR_OTHERS_NS 2000ull /* three times: what they found takes time, too */

/* All zero: new. */
struct sdr_yield {
	_Atomic uint32_t idle;	/* reads in a row that found nothing */
	_Atomic uint32_t shift; /* SDR_YIELD_POLLS << shift of them, and one yields */
};

/* A read found something, or something was done for it. */
static inline void sdr_yield_busy(struct sdr_yield *y)
{
	if (atomic_load_explicit(&y->idle, memory_order_relaxed))
		atomic_store_explicit(&y->idle, 0, memory_order_relaxed);
}

/* A read found nothing, and nothing was done.  True: it is time to yield. */
static inline bool sdr_yield_due(struct sdr_yield *y)
{
	uint32_t n = atomic_fetch_add_explicit(&y->idle, 1, memory_order_relaxed) + 1;

	return n >= SDR_YIELD_POLLS << atomic_load_explicit(&y->shift, memory_order_relaxed);
}

/* A yield took so long; meanwhile others of the process read for nothing so often. */
void sdr_yield_took(struct sdr_yield *y, uint64_t ns, uint64_t others);
void sdr_yield_now(struct sdr_yield *y);

/* Behind each read; may yield. */
static inline void sdr_yield_read(struct sdr_yield *y, bool found)
{
	if (found)
		sdr_yield_busy(y);
	else if (sdr_yield_due(y))
		sdr_yield_now(y);
}

#endif /* SDR_YIELD_H */
