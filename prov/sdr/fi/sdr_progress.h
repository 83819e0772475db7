/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The progress thread of a domain (sdr_progress.c).
 */
#ifndef SDR_PROGRESS_H
#define SDR_PROGRESS_H

struct sdr_domain;
struct sdr_ep;

/* the progress thread stays away this long from a polling application */
#define SDR_THREAD_BACKOFF_NS 1000000ull
/* manual progress: between looks whether the application was there; or looks in a timeout */
#define SDR_THREAD_LOOK_NS    1000000000ull
#define SDR_THREAD_LOOK_TIMES 8u

int sdr_thread_start(struct sdr_domain *dom);
void sdr_thread_stop(struct sdr_domain *dom);
void sdr_thread_wake(struct sdr_domain *dom);
/* ep is about to go; under eps_lock. */
void sdr_thread_forget(struct sdr_domain *dom, struct sdr_ep *ep);
void sdr_thread_stop_all(void);

#endif /* SDR_PROGRESS_H */
