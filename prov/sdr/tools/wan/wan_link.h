/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a path of the emulated WAN does to packets in one direction: a record of settings, how it is
 * written on a command line (wan_link.c), and nothing that moves.
 *
 * All zero: infinitely fast, without delay, perfect.  A queue that was asked for in bandwidth-delay
 * products or as a time becomes bytes when it is set (wan_link_queue), and stays those when the
 * rate changes later, as a buffer does.
 */
#ifndef SDR_TOOLS_WAN_LINK_H
#define SDR_TOOLS_WAN_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAN_NS	       1000000000ull
#define WAN_WHY	       256u
#define WAN_RATE_MAX   100000000000ull /* bits per second */
#define WAN_DELAY_MAX  (60 * WAN_NS)
#define WAN_QUEUE_MAX  (1ull << 32)
#define WAN_CODEL_NS   5000000u	  /* RFC 8289: target, */
#define WAN_CODEL_SPAN 100000000u /*	and interval */
#define WAN_LINK_LEAST 576u	  /* bytes; no queue is smaller than a packet of that length */

enum wan_aqm_kind { WAN_TAIL, WAN_CODEL, WAN_STEP, WAN_AQMS };
/* What the path does to the ECN field of all packets, besides marks of the queue. */
enum wan_ecn { WAN_ECN_PASS, WAN_ECN_BLEACH, WAN_ECN_MANGLE, WAN_ECNS };

struct wan_link {
	uint64_t rate_bps;    /* wire bits per second; 0 infinite */
	uint64_t delay_ns;    /* one way */
	uint64_t queue_bytes; /* waiting bytes beyond which the tail is dropped; 0 unlimited */
	uint32_t overhead;    /* bytes on the line that each packet has besides its IP bytes */
	uint8_t aqm;	      /* enum wan_aqm_kind */
	uint8_t ecn;	      /* enum wan_ecn */
	bool aqm_marks;	      /* CoDel marks what is ECN-capable in place of dropping it */
	bool down;	      /* nothing passes */
	bool jitter_ordered;  /* jitter keeps the order of packets */
	uint64_t target_ns;   /* CoDel's; of STEP the time in the queue that is not marked yet */
	uint64_t interval_ns; /* CoDel's */
	double loss;	      /* probability a packet, independent */
	double ge_loss;	      /* Gilbert-Elliott: mean share of packets lost */
	double ge_burst;      /*	and mean length of a burst, full packets */
	double dup;	      /* probability that a packet arrives twice */
	double reorder;	      /* probability that a packet is late by reorder_ns more */
	uint64_t reorder_ns;
	uint64_t jitter_ns;  /* uniform in [0, jitter_ns] */
	uint32_t slot_bytes; /* a full packet on the line, for bursts */
};

/* A queue as it was asked for, until the rest of the settings is known. */
struct wan_ask {
	bool given;
	double bdp;	/* > 0: so many products of rate and round trip */
	uint64_t ns;	/* > 0: that time at the rate */
	uint64_t bytes; /* else */
};

/* Texts of numbers; -1: it is none, or out of bounds. */
int wan_read_rate(const char *s, uint64_t *bps);
int wan_read_time(const char *s, uint64_t *ns);
int wan_read_share(const char *s, double *p);
/*
 * One setting, "rate" and "1gbit".  -1: why says what is wrong with it.  A queue goes into ask.
 */
int wan_link_set(struct wan_link *l, struct wan_ask *ask, const char *key, const char *value,
		 char why[WAN_WHY]);
/* Many of them: "rate=500mbit,queue=1bdp". */
int wan_link_sets(struct wan_link *l, struct wan_ask *ask, const char *text, char why[WAN_WHY]);
/* Bytes of the queue that was asked for, with that round trip; -1: there is no rate to go by. */
int wan_link_queue(struct wan_link *l, const struct wan_ask *ask, uint64_t rtt_ns,
		   char why[WAN_WHY]);
const char *wan_aqm_name(uint8_t aqm);

#endif /* SDR_TOOLS_WAN_LINK_H */
