/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The lock of atomics that the processor does not do alone (sdr_atomic_lock.c).
 */
#ifndef SDR_ATOMIC_LOCK_H
#define SDR_ATOMIC_LOCK_H

/* With a struct sdr_ep; see struct sdr_rel_cbs. */
void sdr_atomic_enter(void *ep);
void sdr_atomic_leave(void *ep);

#endif /* SDR_ATOMIC_LOCK_H */
