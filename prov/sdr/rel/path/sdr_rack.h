/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Loss detection by time and order (RACK, RFC 8985): a transmission is lost when one that was sent
 * after it, and by more than the reordering window before now, was delivered.  The window is zero
 * until packets were seen to overtake each other; then it is a few quarters of the smallest round
 * trip, grows when something was sent again for nothing, and is forgotten when nothing of the kind
 * was seen for REO_FORGET_RTTS round trips.
 *
 * Transmissions of packets and of runs of data share one count (seq), which is their order.  What
 * is lost is the caller's to find in its logs.
 */
#ifndef SDR_RACK_H
#define SDR_RACK_H

#include <stdbool.h>
#include <stdint.h>
#include "sdr_rtt.h"

struct sdr_rack {
	uint64_t ns;		      /* send time of the newest transmission delivered */
	uint64_t took;		      /* ns: its round trip, less what the peer waited */
	uint32_t seq;		      /* its number */
	uint32_t reo_mult;	      /* reordering window in quarters of min RTT */
	uint64_t reo_grown, reo_seen; /* ns: when last grown, last evidence */
	uint64_t overtaken;	      /* transmissions that were measured, and ... */
	double extent;		      /* ... how much longer they took, a mean of late, ns */
	double noise;		      /* ns: the same as a mean of all that was delivered */
	double share;		      /* of those that could be, so many are; 0..1 */
	uint64_t timer;		      /* ns: when something may be lost that is not yet */
	bool probed;		      /* losses found now were uncovered by a probe */
	/* losses were seen in either direction: protect what is worth a round trip */
	bool lossy;
};

uint64_t sdr_rack_window(const struct sdr_rack *r, const struct sdr_rtt *rtt); /* ns */
/* Something was sent again for nothing: the reordering window grows. */
void sdr_rack_spurious(struct sdr_rack *r, const struct sdr_rtt *rtt, uint64_t now);
/* Packets overtake each other here: there is a window. */
void sdr_rack_reordered(struct sdr_rack *r, uint64_t now);
/*
 * And by how much: what was sent at tx_ns came behind the newest that was delivered.  delay, here
 * and below: ns that the peer says it waited.
 */
void sdr_rack_overtaken(struct sdr_rack *r, uint64_t tx_ns, uint64_t now, uint64_t delay);
/*
 * ns: little overtakes what was sent so much before it.  0 where nothing overtakes, or so seldom
 * that a round trip now and then costs less than to wait each time.
 */
uint64_t sdr_rack_apart(const struct sdr_rack *r, const struct sdr_rtt *rtt);
/* Forgets what was not seen for long. */
void sdr_rack_age(struct sdr_rack *r, const struct sdr_rtt *rtt, uint64_t now);
void sdr_rack_delivered(struct sdr_rack *r, uint32_t seq, uint64_t tx_ns, uint64_t now,
			uint64_t delay);
/* Is this transmission lost?  If not yet but perhaps soon, arms the timer. */
bool sdr_rack_is_lost(struct sdr_rack *r, const struct sdr_rtt *rtt, uint32_t seq, uint64_t tx_ns,
		      uint64_t now);

#endif /* SDR_RACK_H */
