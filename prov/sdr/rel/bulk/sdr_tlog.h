/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The log of data transmissions (conn->bulk->tx.log), in the order of sending: a run of packets
 * each, with the path and the time that they left.  A segment knows the position of each run's
 * latest one.
 */
#ifndef SDR_TLOG_H
#define SDR_TLOG_H

#include "rel/path/sdr_cc.h"
#include "sdr_bulk.h"

struct sdr_txent {		/* one transmission of a run of packets */
	struct sdr_seg_tx *seg; /* NULL: settled */
	uint32_t first, n;
	uint32_t seq;  /* conn->tx.seq at this transmission */
	uint32_t path; /* that it left by */
	uint64_t tx_ns;
	struct sdr_cc_snap snap;
};

static inline struct sdr_txent *sdr_tlog_at(const struct sdr_conn *c, uint32_t pos)
{
	return sdr_ring_at(&c->bulk->tx.log, struct sdr_txent, pos);
}

/* Room for one more; false: not now. */
bool sdr_tlog_room(struct sdr_conn *c);
/*
 * The log entry of a packet's latest transmission, if it is still there.  A run that left in
 * parts has several entries close together; its log position is the last one's.
 */
struct sdr_txent *sdr_tlog_find(struct sdr_conn *c, struct sdr_seg_tx *s, uint32_t pkt);
/* All of its packets are; or, its segment released, nobody asks. */
bool sdr_txent_delivered(const struct sdr_txent *e);
/* Something behind it has arrived by its path. */
static inline bool sdr_txent_passed(struct sdr_conn *c, const struct sdr_txent *e)
{
	return sdr_seq_lt(e->seq, sdr_conn_path(c, e->path)->rack.seq);
}
void sdr_tlog_settle(struct sdr_conn *c, struct sdr_txent *e);
/* Settles it as delivered, as far as is known: the rest of a segment's parity is not reported. */
void sdr_tlog_arrived(struct sdr_conn *c, struct sdr_txent *e);
/* Forgets what is over, from the head on. */
void sdr_tlog_trim(struct sdr_conn *c);
/* Forgets all of it: the connection goes, and its transfers have gone. */
void sdr_tlog_clear(struct sdr_conn *c);

#endif /* SDR_TLOG_H */
