/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Congestion controllers that share one bottleneck: see bed_flows.c. */
#ifndef BED_FLOWS_H
#define BED_FLOWS_H

#include <stdbool.h>
#include <stdint.h>
#include "rel/path/sdr_cc_ops.h"

#define BED_FLOWS	 8u
#define BED_FLOWS_RING	 (1u << 13) /* packets of a flow in flight, at most; a power of two */
#define BED_FLOWS_BIN_NS 50000ull   /* of the histogram of queue delays */
#define BED_FLOWS_BINS	 4000u

struct bed_flows_path {
	uint64_t rate;	/* bytes per second */
	uint64_t rtt;	/* ns */
	uint64_t queue; /* bytes; more is dropped */
	uint64_t mark;	/* bytes; what meets a longer queue is marked; 0: nothing is */
	double loss;	/* share of packets lost behind the queue */
	uint32_t pkt;	/* bytes */
};

struct bed_flow_pkt {
	uint64_t tx, arrive; /* ns */
	struct sdr_cc_snap snap;
	bool dropped, lost, marked;
};

struct bed_flow_ack {
	uint64_t at;	/* when it reaches the sender, ns */
	uint64_t upto;	/* packets below are decided */
	uint64_t delay; /* ns that the newest waited for it */
};

struct bed_flow {
	struct sdr_cc cc;
	const struct sdr_cc_ops *ops;
	struct sdr_cc_known known;
	uint64_t start;	   /* ns */
	bool on, paused;   /* paused: has nothing to send */
	uint64_t good;	   /* bytes acknowledged since the mark */
	uint64_t sent;	   /* packets since the mark, ... */
	uint64_t dropped;  /* ... of those by the queue, ... */
	uint64_t lost;	   /* ... and behind it */
	uint64_t min_cwnd; /* bytes */
	/* packets: next to send, next to arrive, oldest in flight, newest that did arrive */
	uint64_t snd, rcv, una, newest;
	uint64_t unacked, first_at, newest_at;
	uint64_t acks_head, acks_tail;
	uint64_t inflight, min_rtt, progress;
	struct bed_flow_pkt p[BED_FLOWS_RING];
	struct bed_flow_ack a[BED_FLOWS_RING];
};

struct bed_flows {
	struct bed_flows_path path; /* may be changed between two runs */
	uint64_t now, free_at;	    /* ns; when the bottleneck has sent all that it holds */
	uint64_t seed, marked_at;
	uint64_t tick; /* next look at the queue, ns */
	uint64_t ticks, bin[BED_FLOWS_BINS];
	uint32_t n;
	struct bed_flow *f[BED_FLOWS];
};

struct bed_flows *bed_flows_new(const struct bed_flows_path *path);
void bed_flows_free(struct bed_flows *b);
/* A greedy flow that begins at `start`; known: NULL, nothing. */
struct bed_flow *bed_flows_add(struct bed_flows *b, const struct sdr_cc_ops *ops, uint64_t start,
			       const struct sdr_cc_known *known);
/* For so long, ns. */
void bed_flows_run(struct bed_flows *b, uint64_t ns);
/* What is counted is counted from now on. */
void bed_flows_mark(struct bed_flows *b);
/* Since the mark: share of the bottleneck that useful bytes got; Jain's index; share dropped. */
double bed_flows_use(const struct bed_flows *b);
double bed_flow_use(const struct bed_flows *b, const struct bed_flow *f);
double bed_flows_jain(const struct bed_flows *b);
double bed_flows_drops(const struct bed_flows *b);
/* Queue delay that was not exceeded in this share of the time, ns. */
uint64_t bed_flows_delay(const struct bed_flows *b, double share);

#endif /* BED_FLOWS_H */
