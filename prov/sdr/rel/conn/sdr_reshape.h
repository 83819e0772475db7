/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The size of packets changes while the connection lives, see sdr_reshape.c.
 */
#ifndef SDR_RESHAPE_H
#define SDR_RESHAPE_H

#include "sdr_conn.h"

struct sdr_reshape {
	uint16_t gen;	     /* of c->shape */
	uint32_t want;	     /* bytes: our wish; 0: none */
	uint32_t peer_limit; /* bytes: the largest packets that the peer wants */
	bool barred;	     /* there is no memory, here or there: until a wish changes */
	/* ours, offered to the peer, not in use; NULL: there is none */
	struct sdr_conn_shape *next;
	uint32_t lo;	  /* first of our numbers on c->shape */
	uint32_t refused; /* bytes: what the peer offered */
	struct {	  /* the peer's offer, not answered yet */
		bool due;
		uint32_t mtu, seg_bytes;
		uint8_t info[SDR_QP_INFO_LEN];
	} ask;
	uint8_t heard;	      /* n of the newest frame */
	struct {	      /* what we say */
		bool live;    /* until a packet that carried it is acknowledged */
		bool due;     /* no packet that is on its way carries it */
		bool limit;   /* a new limit is to be told */
		uint8_t what; /* enum sdr_shape_what */
		uint8_t n;    /* counts what was said */
	} say;
};

/*
 * Packets of so many bytes from now on, if the peer wants them as well, else of as many as both do.
 * Remembered, and done when it can be.  From anywhere inside a call of the endpoint.  0;
 * -ENOTCONN, not open yet; -EOPNOTSUPP, not with this peer; -EINVAL; -ENOMEM.
 */
int sdr_reshape_want(struct sdr_conn *c, uint32_t mtu);
void sdr_reshape_input(struct sdr_conn *c, const struct sdr_frame_shape *f);
/* The connection's turn: what has become possible. */
void sdr_reshape_run(struct sdr_conn *c);
void sdr_reshape_free(struct sdr_conn *c);

/* ---- packets that say it --------------------------------------------------------------------- */

/* Something is said: no record leaves but behind it. */
static inline bool sdr_reshape_says(const struct sdr_conn *c)
{
	return c->reshape && c->reshape->say.live;
}
static inline bool sdr_reshape_due(const struct sdr_conn *c)
{
	return sdr_reshape_says(c) && c->reshape->say.due;
}
/* Bytes written, 0: no room. */
size_t sdr_reshape_put(struct sdr_conn *c, uint8_t *p, size_t room);
/* What a packet knows of what it carries; 0: nothing. */
uint16_t sdr_reshape_mark(struct sdr_conn *c);
void sdr_reshape_acked(struct sdr_conn *c, uint16_t mark);
void sdr_reshape_lost(struct sdr_conn *c, uint16_t mark);

#endif /* SDR_RESHAPE_H */
