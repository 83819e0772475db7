/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* A queue that our drains do not remove: see sdr_standing.c. */
#ifndef SDR_STANDING_H
#define SDR_STANDING_H

#include <stdbool.h>
#include <stdint.h>

#define SDR_STANDING_PAST 3u

enum sdr_standing_says {
	SDR_STANDING_NOTHING,
	SDR_STANDING_ODD, /* a queue that flows like us do not keep: worth to ask */
	SDR_STANDING_SURE /* one that was there for long, and that they would have drained */
};

struct sdr_standing {
	uint64_t begun; /* base at first, ns, or when it was odd last; 0: none yet */
	/* base some time ago, newest first, ns, 0: not known; and when the newest was noted */
	uint64_t past[SDR_STANDING_PAST], past_at;
	/* drains until the last round; rounds that are still looked at after the last of them */
	uint32_t drains, look;
	/* shortest queues of this block of rounds, which has so many yet, and of the last; ns */
	uint32_t rounds;
	uint64_t low, lately;
	uint64_t before; /* base before the last drain, ns */
	bool stays;	 /* the last drain has not emptied the path, or has found it shorter */
};

/* A round that is over. */
struct sdr_standing_at {
	uint64_t now;
	uint64_t base, queue; /* ns; see sdr_qdelay.h */
	uint64_t few;	      /* target of a flow that has a twentieth of the path, ns */
	uint32_t drains;      /* of ours until now */
};

void sdr_standing_init(struct sdr_standing *s);
/* What the path's own length says, in rounds in which we yield. */
enum sdr_standing_says sdr_standing_base(struct sdr_standing *s, const struct sdr_standing_at *at);
/* What the drains say: sets stays.  In every round. */
void sdr_standing_drained(struct sdr_standing *s, const struct sdr_standing_at *at);

#endif /* SDR_STANDING_H */
