/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Waiting for another thread of this process that is at something short: by looking again, and by
 * giving the processor away when it lasts longer, since that thread may have lost its own.
 */
#ifndef SDR_UC_PAUSE_H
#define SDR_UC_PAUSE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#define SDR_UC_PAUSE_SPINS 256u /* looks before the processor is given away */

/*
 * Before the n-th look in a row at what a thread of the process pid is to do.  False: this is a
 * child of it, where nobody will ever do it.
 */
static inline bool sdr_uc_pause(pid_t pid, uint32_t n)
{
	if (n >= SDR_UC_PAUSE_SPINS)
		return pid == getpid() && !sched_yield();
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
	return true;
}

#endif /* SDR_UC_PAUSE_H */
