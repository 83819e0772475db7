/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Unexpected messages, see sdr_unexp.c.
 */
#ifndef SDR_UNEXP_H
#define SDR_UNEXP_H

#include "sdr_recv_entry.h"

struct sdr_unexp {
	struct sdr_list link;	 /* rel->unexp[kind]; not linked: before its turn, or matched */
	struct sdr_list of_peer; /* peer->unexp, together with link */
	struct sdr_conn *conn;	 /* NULL: gone; what is complete stays */
	struct sdr_peer *peer;
	uint64_t charged; /* bytes: in rel->unexp_bytes */
	/* the peer had no name when it came: counts in rel->nunexp_strangers */
	bool stranger;
	struct sdr_frame_rec f; /* its payload is NULL, or the one below */
	uint8_t *payload;	/* inline bytes, of the heap; of a bulk: of rel->msg->bounce */
	bool complete;		/* all bytes are in payload */
	bool claimed;
	void *claim_ctx;
	struct sdr_bulk_rx *brx; /* bulk under way into payload, or its head, in a berth (kept) */
	struct sdr_rxe *rx;	 /* matched meanwhile: gets the bytes when they are complete */
	bool dropped;		 /* discarded meanwhile */
	void *mark; /* what it is known by to those who have the receives; NULL: not, or no more */
	int err;    /* enum sdr_rel_err: its bytes will not come, and who has the mark is to know */
};

void sdr_unexp_charge(struct sdr_unexp *u, uint64_t bytes); /* to the endpoint's account */
void sdr_unexp_unlist(struct sdr_unexp *u);		    /* no receive finds it any more */
void sdr_unexp_free(struct sdr_rel *rel, struct sdr_unexp *u);
/* Its bytes will not come: it goes, but one that is known elsewhere waits to say so. */
void sdr_unexp_end(struct sdr_rel *rel, struct sdr_unexp *u, int err);
struct sdr_unexp *sdr_unexp_new(struct sdr_conn *c, const struct sdr_frame_rec *f);
struct sdr_unexp *sdr_unexp_find(struct sdr_rel *rel, const struct sdr_rxe *rx, bool claimed,
				 const void *ctx);

#endif /* SDR_UNEXP_H */
