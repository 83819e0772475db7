/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How long what arrives may wait to be looked at: interrupt moderation for a thread that sleeps.
 * One for an endpoint (sdr_lull.c).
 */
#ifndef SDR_LULL_H
#define SDR_LULL_H

#include <stdint.h>

#define SDR_LULL_SHARE	25u	   /* of the shortest round trip */
#define SDR_LULL_MIN_NS 100000ull  /* shorter ones spare too little */
#define SDR_LULL_MAX_NS 1000000ull /* acknowledgements do not wait longer either */
#define SDR_LULL_ROOM	4u	   /* of the receive buffer: what may come meanwhile */
/* looks at how much comes: so many times the longest lull */
#define SDR_LULL_WINDOW	    8u
#define SDR_LULL_WINDOWS    2u /* in a row with a stream, before the first lull */
#define SDR_LULL_UNKNOWN_NS 50000000ull
#define SDR_LULL_NEAR_NS    1000000000ull /* a peer counts so long after it was heard */

struct sdr_lull {
	uint64_t room;	      /* bytes that the receive buffer holds */
	uint64_t near;	      /* ns: shortest round trip to those heard; 0: nobody */
	uint64_t near_ns;     /* when that was heard last */
	uint64_t from;	      /* ns: of the window */
	uint64_t pkts, bytes; /* that came in it */
	uint32_t streak;      /* windows in a row with a stream */
	uint64_t last;	      /* ns: the last packet came, or left */
	uint64_t span;	      /* ns; 0: everything is looked at as it comes */
	uint64_t until;	      /* ns: of the lull that runs */
	uint64_t none;	      /* ns: none before then */
};

/* room: bytes that may arrive without being looked at; 0: never a lull. */
void sdr_lull_init(struct sdr_lull *l, uint64_t room, uint64_t now);
/* Something came from a peer that is so far away; rtt 0: that is not known. */
void sdr_lull_heard(struct sdr_lull *l, uint64_t rtt, uint64_t now);
/* What comes until then, ns, is to be looked at as it comes: its times tell something. */
void sdr_lull_none(struct sdr_lull *l, uint64_t until);
/* A round is over, in which so many packets came. */
void sdr_lull_round(struct sdr_lull *l, uint32_t pkts, uint64_t bytes, uint64_t now);

#endif /* SDR_LULL_H */
