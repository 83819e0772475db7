/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the numbers of the packets that arrived say about a flow: lost, in runs of what length,
 * reordered, duplicated, and between which bounds the path's drop rate is.
 *
 * Nothing here knows of a socket or a clock, and nothing allocates: the caller gives a map with a
 * bit for each packet that may come.  One thread.
 */
#ifndef SDR_PROBE_COUNT_H
#define SDR_PROBE_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* classes of lengths of bursts: 1, 2 to 3, 4 to 7 ... 32768 and more packets */
#define PROBE_HIST 16u

/* Words of a map for so many packets. */
#define PROBE_MAP_WORDS(pkts) (((pkts) + 63) / 64)

/* A flow while it arrives. */
struct probe_count {
	uint64_t *map;	     /* bit n: packet n has come */
	uint32_t room;	     /* packets that the map has bits for */
	uint64_t next;	     /* one more than the largest number that has come */
	uint64_t reordered;  /* came for the first time, after a larger number */
	uint64_t duplicates; /* came again */
};

/* A flow that is over, packets. */
struct probe_tally {
	uint64_t sent, received; /* different ones */
	uint64_t reordered, duplicates;
	uint64_t bursts;  /* runs of successive packets that were all lost */
	uint64_t longest; /* of them */
	uint64_t hist[PROBE_HIST];
};

struct probe_loss {
	double loss;	  /* share of the packets, 0 to 1 */
	double low, high; /* 95 % confidence interval */
	double burst;	  /* mean length of a burst, packets; 0: none was lost */
};

/* map: PROBE_MAP_WORDS(room) words of zeros */
void probe_count_init(struct probe_count *c, uint64_t *map, uint32_t room);
/* false: no packet has this number */
bool probe_count_take(struct probe_count *c, uint64_t n);
/*
 * Packets 0 to sent - 1 were sent; sent is at most the room.  What came with other numbers does
 * not count.
 */
void probe_count_close(const struct probe_count *c, uint64_t sent, struct probe_tally *t);
/* false: numbers that no flow has */
bool probe_tally_ok(const struct probe_tally *t);
/* At least one was sent. */
void probe_tally_loss(const struct probe_tally *t, struct probe_loss *l);

#endif /* SDR_PROBE_COUNT_H */
