/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Whether a flow has had its path to itself for long: see sdr_calm.c. */
#ifndef SDR_CALM_H
#define SDR_CALM_H

#include <stdbool.h>
#include <stdint.h>

#define SDR_CALM_ROUNDS 16u    /* in a row make it calm, at first */
#define SDR_CALM_MOST	16384u /* and at most */

struct sdr_calm {
	uint32_t rounds; /* in a row that met nobody, and lost nothing; at most `after` */
	uint32_t after;	 /* so many make it calm */
};

struct sdr_calm_round { /* that is over */
	bool met;	/* it met others, or may have */
	bool lost;	/* something was lost, or marked */
	bool limited;	/* by the application: it says nothing */
};

void sdr_calm_init(struct sdr_calm *c);
/* True: it was calm, and what was lost or marked is the flow's own. */
bool sdr_calm_round(struct sdr_calm *c, const struct sdr_calm_round *r);

static inline bool sdr_calm_is(const struct sdr_calm *c)
{
	return c->rounds >= c->after;
}

#endif /* SDR_CALM_H */
