/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What a connection takes from the memory of paths, and gives it: see sdr_conn_known.c. */
#ifndef SDR_CONN_KNOWN_H
#define SDR_CONN_KNOWN_H

#include "sdr_conn.h"

/* It opens, and will send if all goes well. */
void sdr_conn_known_open(struct sdr_conn *c);
/* The peer is validated and nothing was sent yet: congestion control begins with what is known. */
void sdr_conn_known_begin(struct sdr_conn *c);
/* Data leave: others may have begun to open since. */
void sdr_conn_known_sends(struct sdr_conn *c);
/* A further path is there: it counts as opening; and carries data as well: likewise. */
void sdr_conn_known_path_open(struct sdr_conn *c, struct sdr_path *p);
void sdr_conn_known_path_begin(struct sdr_conn *c, struct sdr_path *p);
/* Once a second while it moves data: after an acknowledgement. */
void sdr_conn_known_learn(struct sdr_conn *c);
static inline void sdr_conn_known_acked(struct sdr_conn *c)
{
	if (c->rel->now >= c->known.next)
		sdr_conn_known_learn(c);
}
/* It is over, or leaves this path; repeated calls do nothing. */
void sdr_conn_known_end(struct sdr_conn *c);
/* And goes on on another one: that which c->addr is the end of now. */
void sdr_conn_known_moved(struct sdr_conn *c);

#endif /* SDR_CONN_KNOWN_H */
