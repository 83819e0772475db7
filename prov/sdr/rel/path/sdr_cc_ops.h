/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a congestion controller is, for those who write one and those who choose one.
 *
 * A controller is a struct sdr_cc_ops in a file of its own and a row of sdr_cc_table.  It sets
 * cc->cwnd and cc->pacing_Bps in init, and again in acked and timeout; all else that it remembers
 * lies in cc->state, zeroed before init.  What every controller needs is done before it is called
 * (sdr_cc.c): delivered bytes, the rate sample, rounds, the smoothed RTT.
 *
 * There is no callback per packet sent but `resumed`, for the first after a pause.  What a
 * controller wants to know of a transmission comes back with its acknowledgement: the rate sample
 * says what was delivered meanwhile, whether the application was the limit and whether a round trip
 * is over.
 *
 * No clock, no timers, no allocation; called by the thread that owns the connection.
 */
#ifndef SDR_CC_OPS_H
#define SDR_CC_OPS_H

#include <stddef.h>
#include "rel/path/sdr_cc.h"

#define SDR_CC_NS_PER_S 1e9
/* of the receiver's buffer: the rest is for control datagrams and bursts */
#define SDR_CC_RX_SHARE 0.9
#define SDR_CC_MIN_PKTS 2u /* packets that may always be in flight */
#define SDR_CC_TRAIN	(128u * 1024)
/*
 * Spans of the pacer.  A wake-up costs a sender as much as ten packets; but a queue that is short
 * beside the round trip must hold what leaves together, and on a near path others wait behind it.
 */
#define SDR_CC_SPAN_SHARE  100u		 /* of a round trip */
#define SDR_CC_SPAN_FAR_NS 10000000u	 /* from there on twice as long ... */
#define SDR_CC_SPAN_MAX_NS 500000u	 /* ... up to that, half as long again while calm ... */
#define SDR_CC_SPAN_GOOD   (128u * 1024) /* ... until so many bytes leave with a wake-up */

/* The rate between the transmission of the newest packet acknowledged and its acknowledgement. */
struct sdr_cc_rate {
	uint64_t bw;	  /* delivery rate, bytes per second; 0: no valid sample */
	bool app_limited; /* known of a sample that is no rate, too */
	bool round_start; /* the packet acknowledged was sent after the last round ended */
	/*
	 * What the bottleneck passes, by the time between acknowledgements of packets that left
	 * together; bytes per second, 0: unknown.  It holds for as long as nothing better came.
	 */
	uint64_t capacity_Bps;
	double capacity_err; /* its relative standard error */
	bool capacity_least; /* at least: nothing was sent faster than it arrived yet */
	/* Bytes per second that at least have passed (sdr_passed.c), by this event; 0: nothing. */
	uint64_t passed_Bps;
};

struct sdr_cc_ops {
	const char *name; /* as FI_SDR_CC and sdr_sim --cc have it */
	/*
	 * The rate is rate_bps, which the line's owner provides and which counts every byte on the
	 * wire.  Without a rate the default controller takes its place.
	 */
	bool provisioned;
	/*
	 * It answers ack->ce, at least as RFC 3168 demands: what it sends may be marked where a
	 * queue would drop it else (ECT).
	 */
	bool marks;
	/*
	 * Its flights over a far path may begin with SDR_CC_TRAIN bytes at once, however they are
	 * paced, as long as the capacity is not known: what leaves more slowly than the path takes
	 * it shows none.
	 */
	bool trains;
	/*
	 * What leaves together over a far path may be twice as much, if it is little, and half as
	 * much again while cc->calm (sdr_cc.c).
	 */
	bool coarse;
	/* The first window and rate.  cfg is not kept. */
	void (*init)(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint64_t now);
	/* An acknowledgement event: bytes delivered or lost, or an RTT sample, or nothing new. */
	void (*acked)(struct sdr_cc *cc, const struct sdr_cc_ack *ack,
		      const struct sdr_cc_rate *rate);
	/* Nothing was acknowledged for a retransmission timeout. */
	void (*timeout)(struct sdr_cc *cc, uint64_t now);
	/*
	 * Nothing was in flight for longer than a round trip (idle_ns), and now something leaves:
	 * window and rate may be set for what follows.  NULL: it does not matter.
	 */
	void (*resumed)(struct sdr_cc *cc, uint64_t now, uint64_t idle_ns);
	/*
	 * The handshake tells whether the path is slow, or will in a moment: cc->pair has changed.
	 * NULL: it does not matter, nothing waits.
	 */
	void (*pair)(struct sdr_cc *cc);
	/* Nothing is in flight, and now something leaves, however long that was; behind resumed. */
	void (*begins)(struct sdr_cc *cc, uint64_t now);
	/* While it starts, cc->known.together has grown.  NULL: it does not matter. */
	void (*joined)(struct sdr_cc *cc);
};

/* Every controller that can be chosen by name; the first is the default.  Ends with NULL. */
extern const struct sdr_cc_ops *const sdr_cc_table[];

extern const struct sdr_cc_ops sdr_cc_auto;
extern const struct sdr_cc_ops sdr_cc_bbr;
extern const struct sdr_cc_ops sdr_cc_fixed;

/* The controller of that name; NULL: there is none. */
const struct sdr_cc_ops *sdr_cc_find(const char *name);
/* All names, separated by ", ", as far as they fit. */
void sdr_cc_names(char *buf, size_t len);

#endif /* SDR_CC_OPS_H */
