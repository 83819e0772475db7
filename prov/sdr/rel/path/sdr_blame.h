/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Whose losses they are, ours or the weather's: see sdr_blame.c. */
#ifndef SDR_BLAME_H
#define SDR_BLAME_H

#include <stdbool.h>
#include <stdint.h>

enum sdr_blame_verdict {
	SDR_BLAME_NONE,	    /* nothing that the weather does not explain, or too little to say */
	SDR_BLAME_SUSPECT,  /* more than that: send less, and see */
	SDR_BLAME_WEATHER,  /* it did not help: not ours */
	SDR_BLAME_OURS,	    /* it helped */
	SDR_BLAME_NOT_OURS, /* that was chance: weather after all */
	SDR_BLAME_FULL,	    /* more than the weather explains, beside a long queue: ours */
	SDR_BLAME_STORM,    /* more than any weather: ours, and everybody's */
	SDR_BLAME_FOUL,	    /* SDR_BLAME_STORMS of these did not help: weather after all */
};

#define SDR_BLAME_STORMS 5u /* one after the other, before they are not believed */

struct sdr_blame {
	/* what the path loses by itself: events a packet, and share of bytes; 0..1 */
	double rate, share;
	/* since the last verdict: bytes decided, lost; acknowledgements that told of losses */
	double bytes, lost, events;
	uint64_t peak; /* longest queue seen in it, ns */
	/* a queue that few packets meet, ns; bytes beside a longer one, lost there, or nearly */
	double high, samples, met, wet, damp;
	/* bytes lost of late, the older the less: judged, of that ours; and what may have been */
	double told, told_ours, open;
	uint64_t last;	 /* of the acknowledgement before, ns */
	uint64_t target; /* as of the last round, ns */
	/* a test is on, and what is being decided was sent after the cut */
	bool testing, after;
	uint32_t rests; /* rounds for which the test has waited */
	double asked;	/* events a packet that led to it, ... */
	double excess;	/* ... and of these, beyond the expected */
	double held;	/* bytes lost that wait for its verdict */
	double ours;	/* bytes lost that the last verdict put on us */
	/* after OURS: rounds in which that may be undone; what came in their stretches, as above */
	uint32_t watch;
	double watch_bytes, watch_events, watch_lost;
	/* storms one after the other; share of bytes that the first of them lost */
	uint32_t storms, storm_rounds; /* rounds since that */
	double storm;
	uint32_t foul; /* rounds in which foul weather is still believed */
	bool calm;     /* !at.foul of the last round */
	bool behind;   /* what is decided next left before a storm was answered */
	/*
	 * Cuts close to each other: losses that they answered, those that were late only, bytes;
	 * the window before the first; rounds since the last
	 */
	double cut_lost, cut_late, cut_win;
	uint32_t cut_rounds;
};

/* The world at the end of a round, ns. */
struct sdr_blame_at {
	uint32_t mtu;	 /* bytes */
	double win;	 /* bytes that may be in flight, before the verdict */
	uint64_t queue;	 /* smallest of the round */
	uint64_t target; /* the queue that we keep ourselves */
	bool foul;	 /* such a path may lose most of what is sent by itself */
};

void sdr_blame_init(struct sdr_blame *b);
/* An acknowledgement: queue is what its round trip shows, ns; 0: nothing, or none. */
void sdr_blame_acked(struct sdr_blame *b, uint64_t bytes, uint64_t lost, uint64_t queue);
/* The caller cuts its window for so many bytes lost by itself; sdr_blame_round() knows its own. */
void sdr_blame_cut(struct sdr_blame *b, double win, double lost);
/*
 * So many bytes were late and not lost.  Returns the window before the cuts that were made for
 * such ones, 0: there were none.
 */
double sdr_blame_late(struct sdr_blame *b, double bytes);
/*
 * At the end of a round.  After SUSPECT the caller sends less until WEATHER or OURS; b->ours are
 * the bytes that a verdict puts on us.
 */
enum sdr_blame_verdict sdr_blame_round(struct sdr_blame *b, const struct sdr_blame_at *at);
/* Instead, where not the window was the limit: that says nothing, and a test waits for a while. */
void sdr_blame_rests(struct sdr_blame *b, uint32_t mtu);
/* More was lost since the last verdict than any weather loses. */
bool sdr_blame_storms(const struct sdr_blame *b, uint32_t mtu);
/* What was seen so far says nothing, a test under way ends without a verdict. */
void sdr_blame_reset(struct sdr_blame *b);
/* Bytes of a round's losses that the weather does not explain. */
double sdr_blame_beyond(const struct sdr_blame *b, double bytes, double lost);

#endif /* SDR_BLAME_H */
