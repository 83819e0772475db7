/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Reliable records: their queues, their window, exactly once.  See sdr_rec.c. */
#ifndef SDR_REC_H
#define SDR_REC_H

#include "sdr_conn.h"

/* answers a peer may leave unacknowledged before we give it up */
#define SDR_CONN_RECS_MAX 16384u
/* reads of a peer being answered; as many bulk writes */
#define SDR_CONN_SERVES_MAX (4u * SDR_REL_CTL_WINDOW)

struct sdr_op;

struct sdr_rec {
	struct sdr_list link;	/* a queue of the connection, or the packet that carries it */
	struct sdr_frame_rec f; /* payload is NULL: from op */
	/* payload and owner, of the room above; NULL: stands alone, freed when acknowledged */
	struct sdr_op *op;
	bool acked, sent;
	bool stranger; /* counts in rel->nanswers_strangers */
};

void sdr_rec_queue(struct sdr_conn *c, struct sdr_rec *r);
struct sdr_rec *sdr_rec_new(struct sdr_conn *c, uint8_t op, uint32_t id); /* NULL no memory */
void sdr_rec_free(struct sdr_conn *c, struct sdr_rec *r); /* one that stands alone */
bool sdr_rec_sendable(const struct sdr_conn *c);
bool sdr_rec_urgent(const struct sdr_conn *c); /* the next one waits for no pacer, no window */
/* The next record that may be sent and fits room, given its rseq; NULL none. */
struct sdr_rec *sdr_rec_next(struct sdr_conn *c, size_t room);
/* Bytes of its frame; 0 none. */
size_t sdr_rec_next_size(const struct sdr_conn *c);
/* One that stands alone gets its rseq where it is, if it has none; false: not now. */
bool sdr_rec_number(struct sdr_conn *c, struct sdr_rec *r);
/* The one that is not acknowledged, or NULL. */
struct sdr_rec *sdr_rec_by_rseq(const struct sdr_conn *c, uint32_t rseq);
size_t sdr_rec_write(struct sdr_conn *c, struct sdr_rec *r, uint8_t *p, size_t room);
void sdr_rec_acked(struct sdr_conn *c, struct sdr_rec *r);
void sdr_rec_detach(struct sdr_conn *c, struct sdr_rec *r); /* must not be sent again */
/* false: seen before or outside the window. */
bool sdr_rec_accept(struct sdr_conn *c, uint32_t rseq);
bool sdr_rec_room(const struct sdr_conn *c, uint32_t rseq);
bool sdr_rec_seen(const struct sdr_conn *c, uint32_t rseq);
/* Answers: a DONE with a status, the refusal of a READ.  enum sdr_rel_err. */
void sdr_done_send(struct sdr_conn *c, uint32_t id, int status);

static inline bool sdr_rec_is_message(const struct sdr_frame_rec *f)
{
	return f->op == SDR_REC_SEND || f->op == SDR_REC_TSEND;
}

/* It may have to be kept for later. */
static inline bool sdr_rec_needs_room(const struct sdr_frame_rec *f)
{
	return sdr_rec_is_message(f) || (f->flags & SDR_REC_F_TURN);
}

/* Whatever comes of it, it wants an answer of ours. */
static inline bool sdr_rec_is_request(const struct sdr_frame_rec *f)
{
	return f->op == SDR_REC_WRITE || f->op == SDR_REC_READ || f->op == SDR_REC_ATOMIC ||
	       f->op == SDR_REC_CALL;
}

#endif /* SDR_REC_H */
