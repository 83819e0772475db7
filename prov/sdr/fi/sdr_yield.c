/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * An application that spins may do so on the processor on which its peer, or the kernel's thread
 * that brings its packets, wants to run: after some reads for nothing one yields, and where the
 * other has little to do it is back at once.
 *
 * Where somebody else has work it is not: the processor is gone for a time slice, and newer kernels
 * (seen on Linux 6.18) count the rest of the yielder's own slice as used (yield_task_fair), so that
 * who yields every few microseconds beside busy neighbours is left with a twentieth of a processor.
 * To read for longer between two yields is no way out: ranks of a job that share a processor take
 * it from each other for nothing, and each one's yields become as long as what all others read.  So
 * behind a yield that took long one sleeps for a moment in place of the next ones, until a packet
 * comes or a timer is due (sdr_pset_rest): who sleeps is owed his share, and gets it when he wakes.
 * Now and then one yields all the same, the rarer the more often in a row it took long, and where
 * it did not, spins as before.
 */
#include <sched.h>

#include "sdr_wait.h"
#include "sdr_yield.h"

bool sdr_yield_naps(struct sdr_yield *y)
{
	uint32_t n = atomic_load_explicit(&y->naps, memory_order_relaxed);

	if (!n)
		return false;
	atomic_store_explicit(&y->naps, n - 1, memory_order_relaxed);
	return true;
}

void sdr_yield_napped(struct sdr_yield *y, bool came)
{
	uint32_t idle = came ? 0 : SDR_YIELD_POLLS - SDR_YIELD_POLLS_AGAIN;

	atomic_store_explicit(&y->idle, idle, memory_order_relaxed);
}

void sdr_yield_took(struct sdr_yield *y, uint64_t ns)
{
	uint32_t most = atomic_load_explicit(&y->most, memory_order_relaxed);

	if (ns < SDR_YIELD_DEAR_NS)
		most = 0;
	else if (!most)
		most = SDR_YIELD_NAPS;
	else if (most < SDR_YIELD_NAPS_MAX)
		most *= 2;
	atomic_store_explicit(&y->most, most, memory_order_relaxed);
	atomic_store_explicit(&y->naps, most, memory_order_relaxed);
	atomic_store_explicit(&y->idle, 0, memory_order_relaxed);
}

void sdr_yield_now(struct sdr_yield *y)
{
	uint64_t t = sdr_mono_ns();

	sched_yield();
	sdr_yield_took(y, sdr_mono_ns() - t);
}
