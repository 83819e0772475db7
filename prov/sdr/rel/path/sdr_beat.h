/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The beat of a rival that asks for more once in eight round trips: see sdr_beat.c. */
#ifndef SDR_BEAT_H
#define SDR_BEAT_H

#include <stdbool.h>
#include <stdint.h>

#define SDR_BEAT_PAST 4u

enum sdr_beat_says {
	SDR_BEAT_WAIT,	/* not known yet */
	SDR_BEAT_HEARD, /* it is there */
	SDR_BEAT_SILENT /* it is not, or is not heard */
};

struct sdr_beat {
	/* of the last rounds, newest first: queue, ns; losses and own window, bytes */
	double queue[SDR_BEAT_PAST], lost[SDR_BEAT_PAST], win[SDR_BEAT_PAST];
	uint64_t fell_at; /* when the queue fell last, ns; 0: it has not */
	uint32_t drains;  /* until the last round */
	uint32_t still;	  /* rounds since we emptied the queue last, up to a few */
	uint32_t beats;	  /* falls, one after the other, that were a beat apart */
	/* who listens: the rate that is kept, bytes per second; rounds of it, beats in them; how
	 * many are believed, 0: nobody listens */
	double rate;
	uint32_t rounds, heard, need;
	uint64_t pause; /* not before, ns */
};

/* A round that is over. */
struct sdr_beat_at {
	uint64_t now;
	uint64_t base, queue; /* ns; see sdr_qdelay.h */
	uint64_t target;      /* ns: the queue that we keep */
	uint32_t mtu;	      /* bytes */
	double win, lost;     /* bytes; lost: beyond the weather */
	uint32_t drains;      /* of ours until now */
	bool app_limited;     /* there was not enough to send */
};

/* Nothing has been heard; what is happening now is of our making. */
void sdr_beat_init(struct sdr_beat *b);
void sdr_beat_round(struct sdr_beat *b, const struct sdr_beat_at *at);
/* So much was heard that it is worth to keep still and to listen. */
bool sdr_beat_worth(const struct sdr_beat *b, uint64_t now);
/* From now on the own rate is this one; again: it had been heard before. */
void sdr_beat_listen(struct sdr_beat *b, double rate_Bps, bool again);
/* After each round, sdr_beat_round() included: what listening has brought. */
enum sdr_beat_says sdr_beat_listens(struct sdr_beat *b, uint64_t now);

#endif /* SDR_BEAT_H */
