/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Where a connection's peer is, and whether it has moved: see sdr_conn_path.c. */
#ifndef SDR_CONN_PATH_H
#define SDR_CONN_PATH_H

#include "sdr_conn.h"

/* bytes to an address that nobody has proved, for each that came from there (IP packets) */
#define SDR_PATH_AMPLIFY 3u
/* challenges of one doubt, doubling intervals; then it is forgotten */
#define SDR_PATH_TRIES 4u
/* of each to c->addr: who is there shall not lose the connection by the loss of a packet */
#define SDR_PATH_COPIES 3u
/* c->addr has a retransmission timeout to answer, and at least this: its host may be busy */
#define SDR_PATH_PATIENCE_NS (100 * MS)
/* addresses that a connection challenges within SDR_PATH_ASKS_NS, the latest is asked again */
#define SDR_PATH_ASKS	 16u
#define SDR_PATH_ASKS_NS (1 * MS)
/* an address where the peer was for so long is its home: it may come back there at once */
#define SDR_PATH_HOME_NS (10000 * MS)

/* A well-formed packet of the connection, frames in [p, end), came from elsewhere than c->addr. */
void sdr_conn_path_elsewhere(struct sdr_conn *c, const struct sdr_uc_addr *from, uint32_t pn,
			     const uint8_t *p, const uint8_t *end);
/* PATH_CHALLENGE or PATH_RESPONSE, from c->addr or from elsewhere; the feature is in force. */
void sdr_conn_path_input(struct sdr_conn *c, const struct sdr_uc_addr *from,
			 const struct sdr_frame *f);
/* The peer has acknowledged from c->addr all up to pn, or some of it. */
void sdr_conn_path_acked(struct sdr_conn *c, uint32_t pn);
/* A PING: what the peer did not take from where we had not been proved goes again. */
void sdr_conn_path_pinged(struct sdr_conn *c);

uint64_t sdr_conn_path_deadline(const struct sdr_conn *c); /* ns; NEVER */
void sdr_conn_path_timer(struct sdr_conn *c);

static inline bool sdr_conn_path_in_force(const struct sdr_conn *c)
{
	return c->hs.features & SDR_FEATURE_PATHS;
}

#endif /* SDR_CONN_PATH_H */
