/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The log of packets that want an acknowledgement (conn->tx.log), in the order of their numbers.
 * Lost ones stay for a while, so that a late acknowledgement finds them.
 */
#ifndef SDR_PLOG_H
#define SDR_PLOG_H

#include "sdr_pkt.h"

static inline struct sdr_pkt *sdr_plog_at(const struct sdr_conn *c, uint32_t pos)
{
	return sdr_ring_at(&c->tx.log, struct sdr_pkt, pos);
}

/* Forgets what is over. */
void sdr_plog_trim(struct sdr_conn *c);
/* Room for one more; false: not now. */
bool sdr_plog_room(struct sdr_conn *c);
/* Position of the first packet whose number is pn or higher; tx.log.tail if there is none. */
uint32_t sdr_plog_search(const struct sdr_conn *c, uint32_t pn);

#endif /* SDR_PLOG_H */
