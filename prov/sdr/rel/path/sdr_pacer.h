/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Leaky bucket: spreads bytes at a rate, in quanta so that a batch stays worth a system call and a
 * wake-up.  Idle time earns at most one quantum.  A late caller (a sleeping thread is) gets back
 * what it missed, up to a bound and not at once: with each later quantum some more, so that the
 * average rate is met and a short queue is not met with all of it.
 */
#ifndef SDR_PACER_H
#define SDR_PACER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A quantum is what the rate gives in a span, which is a share of the round trip (sdr_cc.c): a path
 * of 25 ms does not notice 250 us.  At least one packet; and no more than is worth a wake-up by
 * far, as a switch in front of a fast path may hold little.
 */
#define SDR_PACER_SPAN_MIN_NS 20000ull
#define SDR_PACER_SPAN_MAX_NS 750000ull
#define SDR_PACER_QUANTUM_MAX (256u * 1024)
/*
 * What a late caller gets back with one quantum: as much again, or what the rate gives in the time
 * by which a thread wakes late.
 */
#define SDR_PACER_LATE_NS 100000ull
/* ... and in all: spans, within these bounds. */
#define SDR_PACER_OWED_SPANS  8u
#define SDR_PACER_OWED_MIN_NS (2 * SDR_PACER_LATE_NS)

struct sdr_pacer {
	uint64_t rate_Bps; /* bytes per second; 0: unlimited */
	uint64_t span;	   /* ns */
	uint32_t pkt;	   /* bytes of a packet */
	uint64_t quantum;  /* bytes */
	double credit;	   /* bytes, may be negative after a large packet */
	double owed;	   /* bytes that a late caller missed */
	uint64_t last;	   /* ns */
	bool waiting;	   /* credit was used up: nothing leaves before a quantum has grown */
	bool asked;	   /* ... and there was something to send */
	bool spaced;	   /* what is owed comes back by shorter waits, not by larger quanta */
};

/* pkt: bytes of a packet, as sdr_pacer_sent counts them. */
void sdr_pacer_init(struct sdr_pacer *p, uint32_t pkt, uint64_t now);
void sdr_pacer_rate_set(struct sdr_pacer *p, uint64_t rate_Bps, uint64_t now);
/* How long a quantum may be; within SDR_PACER_SPAN_MIN_NS and _MAX_NS. */
void sdr_pacer_span_set(struct sdr_pacer *p, uint64_t ns);
void sdr_pacer_pkt_set(struct sdr_pacer *p, uint32_t pkt);
/* Whether what a late caller missed comes back one quantum after the other. */
void sdr_pacer_spaced_set(struct sdr_pacer *p, bool spaced);
/*
 * Bytes that may leave now (UINT64_MAX when unlimited).  > 0: at least one packet may leave,
 * whatever its size; the debt is returned later.  0: wait until sdr_pacer_next; only a caller that
 * was told so is late if it comes later.
 */
uint64_t sdr_pacer_allow(struct sdr_pacer *p, uint64_t now);
void sdr_pacer_sent(struct sdr_pacer *p, uint64_t bytes);
/* Nothing leaves for so long, ns, but what does not ask. */
void sdr_pacer_pause(struct sdr_pacer *p, uint64_t ns, uint64_t now);
/* When a quantum will be allowed: <= now if it is; ns.  To be called when allow said 0. */
uint64_t sdr_pacer_next(const struct sdr_pacer *p, uint64_t now);
/* Bytes that leave together at most, but for the packet that takes the last credit. */
uint64_t sdr_pacer_burst(const struct sdr_pacer *p);

#endif
