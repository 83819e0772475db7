/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Threads in a process that is not ours: the application's signals are its own threads' business.
 */
#ifndef SDR_UC_THREAD_H
#define SDR_UC_THREAD_H

#include <pthread.h>
#include <signal.h>

/* As pthread_create: 0 or an errno.  No signal is delivered to it. */
static inline int sdr_uc_thread_create(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

#endif /* SDR_UC_THREAD_H */
