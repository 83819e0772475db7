/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Trains of large messages that workers send while their owner is in post (sdr_soft_share.c).
 */
#ifndef SDR_SOFT_SHARE_H
#define SDR_SOFT_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include "uc/sdr_uc.h"

struct sdr_soft;
struct sdr_soft_dest;
struct sdr_soft_worker;

#define SDR_SOFT_SHARES	   256u /* of a job: a full batch in trains of the smallest packets */
#define SDR_SOFT_JOB_LINE  64u	/* bytes: what threads take by turns is apart */
#define SDR_SOFT_SHARE_MIN 4u	/* trains of a post that are worth waking somebody */

/* A train to be sent: packets of one WRITE. */
struct sdr_soft_share {
	/* what is to be done, the owner's: */
	_Alignas(SDR_SOFT_JOB_LINE) const struct sdr_uc_tx *t;
	struct sdr_soft_dest *to;
	uint32_t pkt, npkts; /* of t's packets, from the first on */
	uint32_t psn;	     /* of the first */
	/* what became of it, of who has taken it: 0: it left; or the errno why it did not */
	int err;
};

/* Shares of one post that are being sent. */
struct sdr_soft_job {
	/*
	 * All that says which share may be taken next and by whom, so that it is taken with one
	 * exchange: the next one, how many there are, and a bit for each worker that may.
	 */
	_Alignas(SDR_SOFT_JOB_LINE) uint64_t word;
	_Alignas(SDR_SOFT_JOB_LINE) uint32_t done; /* shares that are over */
	struct sdr_soft_share share[SDR_SOFT_SHARES];
};

/*
 * As post.  Without workers that may send, or of less than is worth it: sdr_soft_post_own() in one
 * call.
 */
int sdr_soft_share_post(struct sdr_soft *s, struct sdr_uc_tx *v, int n);
/* There is something that worker w may take. */
bool sdr_soft_share_waits(const struct sdr_soft_worker *w);
/* A worker's thread: takes shares and sends them as long as there are.  False: there were none. */
bool sdr_soft_share_help(struct sdr_soft_worker *w);
/* How many of n workers may send, where processors are few. */
uint32_t sdr_soft_share_helpers(const struct sdr_soft *s, uint32_t n);

#endif /* SDR_SOFT_SHARE_H */
