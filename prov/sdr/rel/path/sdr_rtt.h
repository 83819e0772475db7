/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Round-trip time of a connection: RFC 6298 smoothing and a windowed minimum.  All times in ns.
 * Knows no clock; callers pass now.  min_rtt is the smallest sample of the last
 * SDR_RTT_MIN_WINDOW_NS (two-bucket window), so that a path that became longer is believed within
 * two windows.
 */
#ifndef SDR_RTT_H
#define SDR_RTT_H

#include <stdbool.h>
#include <stdint.h>

#define SDR_RTT_MIN_WINDOW_NS (10 * 1000000000ull)

struct sdr_rtt {
	uint64_t srtt, rttvar; /* before the first sample: the initial guess and half of it */
	uint64_t min_rtt;      /* UINT64_MAX before the first sample */
	uint64_t latest;
	uint64_t bucket_min[2]; /* current and previous half window */
	uint64_t bucket_start;
	uint64_t samples;
	uint64_t waits; /* that the peer said and were taken off: the longest, which fades */
	bool again;	/* another way back: until the first sample */
};

void sdr_rtt_init(struct sdr_rtt *r, uint64_t initial_ns);
/*
 * Answers come by another way back: the minimum is unknown again, and the first sample, which may
 * be of something that had long arrived, is taken less what the peer says it waited.
 */
void sdr_rtt_again(struct sdr_rtt *r);
/*
 * delay: what the peer says it waited; subtracted as long as the result is not below min_rtt.
 * repeats: it may be the repetition of an answer that was lost, whose delay is that of the
 * repetition and says nothing of how long the peer makes others wait.
 */
void sdr_rtt_sample(struct sdr_rtt *r, uint64_t now, uint64_t rtt, uint64_t delay, bool repeats);
/*
 * srtt + max(4 * rttvar, srtt / 8, 1 ms) + ack delay, within SDR_RTO_MIN_NS..SDR_RTO_MAX_NS before
 * backoff; a path whose RTT comes near the cap gets at least 9/8 srtt + ack delay.  Ack delay: what
 * is allowed, or what the peer waits, if its threads are late.
 */
uint64_t sdr_rtt_rto(const struct sdr_rtt *r);
/* min_rtt, or the initial guess before the first sample. */
uint64_t sdr_rtt_min(const struct sdr_rtt *r);

#endif
