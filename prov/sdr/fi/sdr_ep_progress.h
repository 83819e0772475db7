/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Rounds of an endpoint (sdr_ep_progress.c); all under ep->lock.
 */
#ifndef SDR_EP_PROGRESS_H
#define SDR_EP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct sdr_ep;

/*
 * One round; under lock, as are the next five.  *wait_ns (may be NULL): how long it can be left
 * alone if its fd is silent.
 */
int sdr_ep_round(struct sdr_ep *ep, uint64_t *wait_ns);
/*
 * One in a call that is not for driving; none where another provider has the receives, which lets
 * us ask for them in its own calls only.
 */
int sdr_ep_nudge(struct sdr_ep *ep);
/* A round that leaves the alarm alone. */
int sdr_ep_drive(struct sdr_ep *ep);
/* Likewise.  True: before a sleep another one is worth while. */
bool sdr_ep_drive_again(struct sdr_ep *ep);
/* Before each sleep on its descriptors, after the last round.  True: do not sleep, run another. */
bool sdr_ep_arm(struct sdr_ep *ep);
/* Logs what the engine has to say, once: also when no operation here fails of it. */
void sdr_ep_reason(struct sdr_ep *ep);

#endif /* SDR_EP_PROGRESS_H */
