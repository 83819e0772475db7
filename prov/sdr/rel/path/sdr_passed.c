/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a path has passed of a burst, where the times between its packets are too short to be told
 * apart (10 Gbit/s and more; jitter), so that sdr_train.c says nothing.
 *
 * What is delivered behind the first packet has passed in the time in which it left, and the time
 * by which the round trip of the newest of it was longer than that of an empty path.  Hosts that
 * are late make it less, and so does the noise of times, which is counted in: a few packets say
 * little, and never too much.  It takes no spacing of acknowledgements, so that a burst says as
 * much as a flight.
 *
 * A burst begins where there was nothing to send, and little is in flight beside the one before:
 * parity behind a message that is there already, a second copy.  That is of the burst before: as
 * much of what is delivered does not count, whether it arrives or not.  What is sent again while
 * most of a burst is on its way does not end it; packets of one that is over say nothing any more.
 *
 * No clock, no timers, no threads, no allocation.
 */
#include "base/sdr_assert.h"
#include "rel/path/sdr_passed.h"

#define SDR_PASSED_NOISE_NS 30000u /* of times */
#define SDR_PASSED_REST	    4u	   /* of a burst, 1 in so many: little */
#define SDR_PASSED_NS_PER_S 1e9

void sdr_passed_sent(struct sdr_passed *p, uint64_t now, uint64_t bytes, uint64_t delivered,
		     uint64_t inflight, bool fresh)
{
	SDR_ASSERT(now >= p->begun_ns);
	if (!inflight || (fresh && inflight <= p->bytes / SDR_PASSED_REST)) {
		p->begun_ns = now;
		p->begun = delivered + inflight;
		p->bytes = 0;
	}
	p->bytes += bytes;
}

uint64_t sdr_passed_acked(const struct sdr_passed *p, uint64_t tx_ns, uint64_t waited_ns,
			  uint64_t delivered, uint32_t pkt)
{
	SDR_ASSERT(pkt);
	if (tx_ns < p->begun_ns || delivered <= p->begun + pkt)
		return 0;
	return (uint64_t)((double)(delivered - p->begun - pkt) * SDR_PASSED_NS_PER_S /
			  (double)(tx_ns - p->begun_ns + waited_ns + SDR_PASSED_NOISE_NS));
}
