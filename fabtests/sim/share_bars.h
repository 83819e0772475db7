/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Bars for flows that share a network: the table of cases (share_cases.c), what is measured of one
 * (share_judge.c), and the program that runs them (sdr_share_bars.c).
 */
#ifndef SHARE_BARS_H
#define SHARE_BARS_H

#include "tools/sim/share.h"

#define BAR_MUSTS 6u /* at most, of a case */

/* What can be asked of a case.  Shares of one are numbers from 0 to 1. */
enum bar_metric {
	BAR_NONE,
	BAR_DROP,	  /* dropped by the queue, of all that came to it */
	BAR_DROP_SETTLED, /* the same, after the first second */
	BAR_JAIN,
	BAR_UTIL,
	BAR_DELAY50,	 /* median */
	BAR_DELAY95,	 /* of a ping in the queue, 95th percentile, s */
	BAR_SHARE,	 /* goodput of the sdr flows, of all */
	BAR_SHARE_LEAST, /* of the flow that has the least */
	BAR_FIRST,	 /* of the first flow */
	BAR_LATE,	 /* s until the last flow has 40 % of the line (two flows) */
	BAR_PARITY,	 /* packets of parity, of those sent, after the first second */
	BAR_LEAVES,	 /* goodput of the first rival, over what it has beside ref */
	BAR_ADAPT,	 /* s until 90 % of the line's new rate is used */
	BAR_MEAN,	 /* mean time of a message over RTT + bytes / rate */
	BAR_P99,	 /* its 99th percentile; over all seeds */
	BAR_LONGEST,	 /* longest message, RTTs; over all seeds */
	BAR_METRICS
};

enum bar_sense { BAR_MOST, BAR_LEAST, BAR_SAY /* no bound */ };

struct bar_must {
	enum bar_metric metric;
	enum bar_sense sense;
	double bound;
};

/* 0 stands for: 1 Gbit/s, 25 ms, 1 BDP, MTU 9000, 10 s, 8 messages of 8 MiB. */
struct bar_case {
	const char *name;
	uint32_t flows;
	const struct sdr_cc_ops *rival, *other;
	const struct sdr_cc_ops *ref; /* takes sdr's place for BAR_LEAVES */
	double rate_bps, rtt_s, queue_bdp;
	uint64_t queue_bytes;
	uint32_t mtu;
	double loss; /* both ways */
	double ge_loss, ge_burst;
	double jitter_s, reorder, reorder_s; /* both ways */
	bool ge_packets, incast;
	bool probes;		  /* by long HELLOs, as over sockets */
	bool greets;		  /* a few bytes first, so that it is known how far it is */
	double late_s;		  /* the last flow of sdr starts then */
	double apart_s;		  /* or each so much after the one before */
	double at_s, at_rate_bps; /* the line's rate from then on */
	double mark_s, codel_s;
	uint64_t size;
	uint32_t window;	 /* messages posted at a time */
	uint32_t messages, warm; /* one at a time, on a connection that is open */
	uint32_t ranks;		 /* an all-to-all, by so many senders */
	double pause_s, seconds;
	double clocks_s;	       /* hosts' clocks are so far apart; 0: a millisecond */
	double stall_s, stall_every_s; /* hosts stop so long, every so often, means */
	uint64_t teach_bytes;	       /* an earlier connection sent so much */
	bool quick;		       /* runs in `make check` */
	struct bar_must must[BAR_MUSTS];
};

extern const struct bar_case bar_cases[];
extern const uint32_t bar_cases_n;

/* One run of a case, in memory that processes share. */
struct bar_run {
	struct share_result res;
	double ref_bps; /* of the first rival beside ref */
};

/* What came of a must: the mean over the seeds and the worst of them. */
struct bar_verdict {
	double mean, worst;
	bool held; /* by the mean */
};

const char *bar_metric_name(enum bar_metric m);
/* Runs it in this process; cc NULL: the default; busy: hosts stop now and then. */
void bar_run(const struct bar_case *c, const struct sdr_cc_ops *cc, bool busy, uint64_t seed,
	     struct bar_run *r);
void bar_judge(const struct bar_case *c, const struct bar_must *m, const struct bar_run *r,
	       uint32_t seeds, struct bar_verdict *v);

#endif /* SHARE_BARS_H */
