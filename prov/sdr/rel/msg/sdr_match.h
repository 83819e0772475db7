/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Messages meet receives, see sdr_match.c.
 */
#ifndef SDR_MATCH_H
#define SDR_MATCH_H

#include "sdr_msg.h"
#include "rel/bulk/sdr_bulk_rx.h"

/*
 * Whose receives messages meet: those posted here (sdr_match.c), or the caller's (sdr_above.c).
 */
struct sdr_matcher {
	/*
	 * The receive of a message whose turn it is; NULL: it is to be kept, and *mark is what it
	 * is known by elsewhere.
	 */
	struct sdr_rxe *(*find)(struct sdr_conn *c, const struct sdr_frame_rec *f, void **mark);
	/* There is one: nothing need be kept. */
	bool (*waits)(struct sdr_conn *c, const struct sdr_frame_rec *f);
	/* NULL: nobody is told.  keep: false, it cannot be. */
	bool (*keep)(struct sdr_unexp *u);
	void (*gone)(struct sdr_unexp *u);
	void (*renamed)(struct sdr_rel *rel);
};

extern const struct sdr_matcher sdr_matcher_own;

void sdr_match_input(struct sdr_conn *c, const struct sdr_frame_rec *f); /* in order of mseq */
/* Can it be taken now?  And the bytes that it costs at most to keep it. */
bool sdr_match_room(struct sdr_conn *c, const struct sdr_frame_rec *f);
uint64_t sdr_match_bytes(const struct sdr_conn *c, const struct sdr_frame_rec *f);
void sdr_match_released(struct sdr_conn *c); /* those that were held have their turn */
void sdr_match_bind(struct sdr_conn *c, const struct sdr_frame_rec *f);
void sdr_match_conn_gone(struct sdr_conn *c, int err);
void sdr_match_destroy(struct sdr_rel *rel);
void sdr_match_cancel_all(struct sdr_rel *rel);

#endif /* SDR_MATCH_H */
