/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Sends (sdr_send.c).
 */
#ifndef SDR_SEND_H
#define SDR_SEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sdr_list.h"
#include "sdr_sdk.h"

struct sdr_qp;

/* a rate-limited sender that was late may make up this much */
#define SDR_RATE_CATCHUP_NS 1000000ull

struct sdr_snd_handle {
	struct sdr_qp *qp;	     /* NULL: free */
	struct sdr_snd_handle *next; /* free list */
	struct sdr_list all;	     /* qp->sends */
	struct sdr_list link;	     /* qp->ready or qp->waiting while a part is to be sent */
	uint64_t length;	     /* bytes */
	uint32_t msn;
	uint32_t npkts; /* with bytes */
	uint32_t total; /* npkts and the empty ones behind for the user's immediate */
	uint32_t tail;	/* bytes of packet npkts - 1 */
	uint32_t uimm;
	uint64_t va; /* rkeyed: where the message lies at the receiver */
	uint32_t key;
	bool rkeyed;
	bool whole; /* one part is the message: it may be registered */
	bool reg_tried;
	void *mr; /* own registration, of [mr_base, mr_base + length); NULL: none */
	const void *mr_base;
	void *part_mr;	     /* the caller's, of the latest part; NULL: none, or not worth it */
	uint32_t queued;     /* descriptors in the batch */
	const uint8_t *part; /* bytes of packet part_first */
	uint32_t part_first, part_next, part_end;
	uint8_t gen;
	bool ended; /* public sends: no more parts */
};

/* The limit has moved, or keys have come; voids: some say that a message is not to be sent. */
void sdr_send_review(struct sdr_qp *qp, bool voids);
/* Moves what may be sent into the batch. */
void sdr_send_pump(struct sdr_qp *qp);
/* ns at which pump may send again, UINT64_MAX: nothing is waiting for time. */
uint64_t sdr_send_due(const struct sdr_qp *qp);
void sdr_send_free(struct sdr_snd_handle *h);

#endif /* SDR_SEND_H */
