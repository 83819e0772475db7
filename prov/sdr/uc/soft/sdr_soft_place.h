/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One data packet: checks and placement (sdr_soft_place.c).  Used by poll, and by each worker.
 */
#ifndef SDR_SOFT_PLACE_H
#define SDR_SOFT_PLACE_H

#include "sdr_soft_qp.h"

struct sdr_soft_rx;

enum sdr_soft_placed {
	SDR_SOFT_GONE,	 /* counted: bad, late, or a piece that makes nothing whole */
	SDR_SOFT_PLACED, /* *ev says what */
	/* of a hold only, nothing was done, call again: */
	SDR_SOFT_TURN,	/* it is of another slot than the one held: report what is of that first */
	SDR_SOFT_EARLY, /* what binds its slot has not been handled yet */
};

#define SDR_SOFT_HOLD_LOST 8u /* messages that nobody receives, in turn, before one is forgotten */

/*
 * Which slot a worker writes to, and has events of: the owner does not give the buffer back while
 * it is this one.  One worker writes it, the owner reads it.
 */
struct sdr_soft_hold {
	const struct sdr_soft_slot *slot; /* NULL: none */
	/* the worker's own: */
	bool waited; /* long enough for the packet that is next */
	/* messages that were waited for in vain, by ID: their other packets are late at once */
	struct {
		const struct sdr_soft_qp *qp; /* never followed: it may be gone */
		uint32_t id, use;
	} lost[SDR_SOFT_HOLD_LOST];
};

static inline void sdr_soft_hold_end(struct sdr_soft_hold *h)
{
	__atomic_store_n(&h->slot, NULL, __ATOMIC_RELEASE);
}

/* hold: of the calling worker; NULL: the owner of the engine calls. */
enum sdr_soft_placed sdr_soft_place(struct sdr_soft *s, struct sdr_soft_rx *rx,
				    struct sdr_soft_hold *hold, uint8_t *pkt, size_t len,
				    struct sdr_uc_ev *ev);

#endif /* SDR_SOFT_PLACE_H */
