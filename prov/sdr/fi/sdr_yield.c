/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * An application that spins may do so on the processor on which its peer, or the kernel's thread
 * that brings its packets, wants to run: after some reads for nothing one yields, and where the
 * other has little to do it is back at once.
 *
 * Where somebody else computes it is not: the processor is gone for a time slice, and newer kernels
 * (seen on Linux 6.18) count the rest of the yielder's own slice as used (yield_task_fair), so that
 * who yields every few microseconds beside busy neighbours is left with a twentieth of a
 * processor.  So a yield that took long, for the reads before it, doubles the number of reads until
 * the next, and a short one halves it: beside who computes a reader ends at about its share of the
 * processor, beside who answers, or spins as well, at a yield for each SDR_YIELD_POLLS reads.
 *
 * Many threads that spin, tens to a processor, make each other's yields long without any work: the
 * process counts what its readers read, once a yield, and a yield in which much was read was
 * theirs.
 */
#include <sched.h>

#include "sdr_wait.h"
#include "sdr_yield.h"

/* reads for nothing of all readers of the process; each adds its own before it yields */
static _Atomic uint64_t all_reads;

void sdr_yield_took(struct sdr_yield *y, uint64_t ns, uint64_t others)
{
	uint32_t shift = atomic_load_explicit(&y->shift, memory_order_relaxed);
	uint64_t long_ns = (SDR_YIELD_POLLS << shift) * SDR_YIELD_DEAR_READ_NS +
			   others * SDR_YIELD_DEAR_OTHERS_NS;

	if (ns < SDR_YIELD_DEAR_NS || ns < long_ns)
		shift -= shift > 0;
	else if (SDR_YIELD_POLLS << shift < SDR_YIELD_POLLS_MAX)
		shift++;
	atomic_store_explicit(&y->shift, shift, memory_order_relaxed);
	atomic_store_explicit(&y->idle, 0, memory_order_relaxed);
}

void sdr_yield_now(struct sdr_yield *y)
{
	uint64_t own = atomic_load_explicit(&y->idle, memory_order_relaxed);
	uint64_t before = atomic_fetch_add_explicit(&all_reads, own, memory_order_relaxed) + own;
	uint64_t t = sdr_mono_ns();

	sched_yield();
	sdr_yield_took(y, sdr_mono_ns() - t,
		       atomic_load_explicit(&all_reads, memory_order_relaxed) - before);
}
