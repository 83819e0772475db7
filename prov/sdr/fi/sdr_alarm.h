/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * When an endpoint wants its next round, and its alarm, on which everybody sleeps who waits for its
 * deadline (sdr_alarm.c).
 */
#ifndef SDR_ALARM_H
#define SDR_ALARM_H

#include <stdbool.h>
#include <stdint.h>

struct sdr_ep;

/*
 * Who relies on an endpoint's alarm (sdr_alarm.c): ep->watch is the number of blocking reads, and
 * these.
 */
#define SDR_WATCH_SLEEPERS 0x0000ffffu
/* times the descriptors on which the application may sleep */
#define SDR_WATCH_FD 0x00010000u
/* the progress thread leaves it to them: the last one wakes it */
#define SDR_WATCH_AWAY	 0x01000000u
#define SDR_WATCH_THREAD 0x02000000u /* the progress thread sleeps on it */
/* the application drives; should it stop, the alarm tells the progress thread */
#define SDR_WATCH_GUARD 0x04000000u
/* flags of those that no event of the endpoint must wake */
#define SDR_WATCH_IDLE (SDR_WATCH_AWAY | SDR_WATCH_GUARD)

/*
 * The progress thread takes over from an application that drove the endpoint so long ago, or half
 * as long.
 */
#define SDR_GUARD_NS 4000000ull

/* All under ep->lock. */
/* Too much is unread: it is not driven. */
bool sdr_ep_backpressured(const struct sdr_ep *ep);
/* Engine time at which it wants a round; UINT64_MAX never. */
uint64_t sdr_ep_due(struct sdr_ep *ep);
/* Before a sleep: it wants a round so soon that none is worth it. */
bool sdr_ep_soon(struct sdr_ep *ep);
/* The alarm (sdr_alarm.c); all under lock. */
int sdr_ep_alarm_open(struct sdr_ep *ep);
void sdr_ep_alarm_close(struct sdr_ep *ep);
/* The deadline may have come nearer. */
void sdr_ep_alarm_sooner(struct sdr_ep *ep);
/* After a round: likewise, and an alarm that has rung is set anew. */
void sdr_ep_alarm_round(struct sdr_ep *ep);
/* Before a sleep: to the deadline as it is. */
void sdr_ep_alarm_exact(struct sdr_ep *ep);
/*
 * After a round of the application, which comes back or leaves the endpoint to the progress thread.
 */
void sdr_ep_alarm_driven(struct sdr_ep *ep);
/* The progress thread stays away from now on, until the alarm rings. */
void sdr_ep_alarm_guard(struct sdr_ep *ep);
/* At once, without lock, from a worker's thread: the endpoint is open, its alarm may be. */
void sdr_ep_alarm_ring(struct sdr_ep *ep);
/* Before a round: what a worker rang for is seen in it. */
void sdr_ep_alarm_heard(struct sdr_ep *ep);
/* ... which it has: the application does not drive any more. */
bool sdr_ep_alarm_rang(struct sdr_ep *ep);

#endif /* SDR_ALARM_H */
