/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Records that follow others: the target's side.  See sdr_follow.c. */
#ifndef SDR_FOLLOW_H
#define SDR_FOLLOW_H

#include "sdr_msg.h"
#include "sdr_msg_books.h"

/* May this record be taken now?  And the bytes that it costs at most to keep it. */
bool sdr_follow_room(const struct sdr_conn *c, const struct sdr_frame_rec *f);
uint64_t sdr_follow_bytes(const struct sdr_conn *c, const struct sdr_frame_rec *f);
/*
 * A record with a turn came.  True: it has its effect now; a message whose turn has not come is
 * the caller's to keep.  False: it is kept here and has its effect later, or it was void, or the
 * connection failed.
 */
bool sdr_follow_input(struct sdr_conn *c, const struct sdr_frame_rec *f);
/* All that it must follow is over. */
bool sdr_follow_turn(const struct sdr_conn *c, const struct sdr_frame_rec *f);
/* What this record began is over: those that follow it may have their turn. */
void sdr_follow_over(struct sdr_conn *c, const struct sdr_frame_rec *f);
/* The same of what went on meanwhile; led: it has a turn. */
void sdr_follow_ended(struct sdr_conn *c, bool led, uint32_t turn);
/* Bytes of what keeps them that are charged to the endpoint. */
uint64_t sdr_follow_charge(const struct sdr_conn *c);
uint32_t sdr_follow_kept(const struct sdr_conn *c); /* records */
/* Adds what is kept to the sums. */
void sdr_follow_books(struct sdr_books *k, const struct sdr_conn *c, struct sdr_msg_sums *s);
void sdr_follow_free(struct sdr_conn *c);

#endif /* SDR_FOLLOW_H */
