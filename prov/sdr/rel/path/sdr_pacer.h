/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Leaky bucket: spreads bytes at a rate, in quanta so that a batch stays worth a system call.
 * Never lets through more than rate * t + burst bytes in any interval t; the burst is a quantum,
 * what the rate gives in SDR_PACER_CATCHUP_NS, and a packet.  Idle time earns at most one quantum.
 * A late caller (timer slack of a sleeping thread) earns back what it missed up to
 * SDR_PACER_CATCHUP_NS, so that the average rate is met.
 */
#ifndef SDR_PACER_H
#define SDR_PACER_H

#include <stdbool.h>
#include <stdint.h>

#define SDR_PACER_QUANTUM_NS  50000ull	   /* a quantum is what the rate gives in 50 us ... */
#define SDR_PACER_QUANTUM_MIN (16u * 1024) /* ... but at least this many bytes, and one packet */
#define SDR_PACER_QUANTUM_MAX (1024u * 1024)
#define SDR_PACER_CATCHUP_NS  2000000ull

struct sdr_pacer {
	uint64_t rate_Bps; /* bytes per second; 0: unlimited */
	uint64_t quantum;  /* bytes */
	double credit;	   /* bytes, may be negative after a large packet */
	uint64_t last;	   /* ns */
	bool waiting;	   /* credit was used up: nothing leaves before a quantum has grown */
};

void sdr_pacer_init(struct sdr_pacer *p, uint64_t now);
void sdr_pacer_rate_set(struct sdr_pacer *p, uint64_t rate_Bps, uint64_t now);
/*
 * Bytes that may leave now (UINT64_MAX when unlimited).  > 0: at least one packet may leave,
 * whatever its size; the debt is returned later.  0: wait until sdr_pacer_next.
 */
uint64_t sdr_pacer_allow(struct sdr_pacer *p, uint64_t now);
void sdr_pacer_sent(struct sdr_pacer *p, uint64_t bytes);
/* When a quantum will be allowed: <= now if it is; ns.  To be called when allow said 0. */
uint64_t sdr_pacer_next(const struct sdr_pacer *p, uint64_t now);

#endif
