/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * For assertions: some thread holds this lock.  Whether it is the caller a plain mutex cannot say;
 * that none does is the bug that is looked for.
 */
#ifndef SDR_HELD_H
#define SDR_HELD_H

#include <pthread.h>
#include <stdbool.h>

#include "base/sdr_assert.h"

static inline bool sdr_lock_held(pthread_mutex_t *lock)
{
	if (pthread_mutex_trylock(lock))
		return true;
	pthread_mutex_unlock(lock);
	return false;
}

#define SDR_ASSERT_HELD(lock) SDR_ASSERT(sdr_lock_held(lock))

#endif /* SDR_HELD_H */
