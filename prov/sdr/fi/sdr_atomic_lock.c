/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One lock of the process for atomics on elements of 16 and 32 bytes, and on complex numbers that
 * are not aligned to their size: whatever endpoint and domain they come through, they are atomic
 * against each other; so are those on memory of devices, whatever their size.  It is held for one
 * record's elements, at most SDR_ATOMIC_PART bytes; nothing is called meanwhile but a device's
 * driver, to copy them.
 *
 * It is a word with the process that holds it, and waiting is trying again: a forked child that
 * finds its parent there takes it, since the parent's threads are not in the child.  A leaf in the
 * order of locks.
 */
#include <sched.h>
#include <stdatomic.h>

#include "base/sdr_assert.h"

#include "sdr_atomic_lock.h"
#include "sdr_domain.h"
#include "sdr_ep.h"

static _Atomic pid_t sdr_atomic_holder; /* 0: nobody */

void sdr_atomic_enter(void *ep)
{
	pid_t self = ((struct sdr_ep *)ep)->dom->pid, was = 0;

	while (!atomic_compare_exchange_weak_explicit(&sdr_atomic_holder, &was, self,
						      memory_order_acquire, memory_order_relaxed)) {
		if (was != self)
			continue; /* nobody, or a process that is not this one */
		sched_yield();
		was = 0;
	}
}

void sdr_atomic_leave(void *ep)
{
	SDR_ASSERT(atomic_load(&sdr_atomic_holder) == ((struct sdr_ep *)ep)->dom->pid);
	atomic_store_explicit(&sdr_atomic_holder, 0, memory_order_release);
}
