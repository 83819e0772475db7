/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets of control frames and records, out and in.  See sdr_pkt_tx.c, sdr_pkt_rx.c; what is made
 * of one is in sdr_pkt_put.h, sdr_pkt_out.h, sdr_pkt_copy.h.
 */
#ifndef SDR_PKT_H
#define SDR_PKT_H

#include "sdr_conn.h"

/* records that a packet knows of when they have gone on to another */
#define SDR_PKT_RSEQS	4u
#define SDR_PKT_LOG_MIN 16u /* entries, power of two; grows to SDR_REL_CTL_WINDOW */
/* BYEs of the peer after which what it did not acknowledge has failed */
#define SDR_BYES_ASK 3u

struct sdr_pkt { /* a packet sent that wants an acknowledgement */
	uint32_t pn;
	uint32_t bytes;
	uint32_t seq; /* conn->tx.seq at its transmission */
	uint64_t tx_ns;
	struct sdr_list recs; /* records whose latest transmission this is */
	struct sdr_cc_snap snap;
	bool done; /* acknowledged or abandoned */
	bool lost;
	bool probed; /* lost: by a probe */
	bool extra;  /* a copy of a probe's ping: says nothing of what the path loses */
	bool copy;   /* carries the records of packet copy_of once more; they belong to that one */
	uint8_t nrseq;
	uint8_t path; /* that it left by */
	uint32_t copy_of;
	uint16_t shape;		      /* what it says of that (sdr_reshape_mark); 0: nothing */
	uint32_t rseq[SDR_PKT_RSEQS]; /* the first of its records, for when it arrives after all */
};

/* The peer's packet 0 has come: its HELLO_ACK in full size. */
void sdr_pkt_zero(struct sdr_conn *c);
/* Sends what is due; returns false when the engine is full. */
bool sdr_pkt_send(struct sdr_conn *c);
bool sdr_pkt_due(const struct sdr_conn *c);
bool sdr_pkt_paced(const struct sdr_conn *c); /* records wait for the pacer, and for nothing else */
/* False: it is a lie, or cannot be; of no effect from there on. */
bool sdr_pkt_acked(struct sdr_conn *c, const struct sdr_frame_ack *f, struct sdr_acks *as);
void sdr_pkt_detect_lost(struct sdr_conn *c, struct sdr_acks *as);
/* PTO: the records of the oldest packets travel again. */
void sdr_pkt_probe(struct sdr_conn *c);
/* A path is silent: the records of its packets travel again, by another. */
void sdr_pkt_path_lost(struct sdr_conn *c, uint32_t path);
/*
 * What there is to acknowledge goes there at once, from that source.  back: the path that this is;
 * NULL: none.
 */
void sdr_pkt_answer(struct sdr_conn *c, const struct sdr_path *back, uint8_t source,
		    const struct sdr_uc_addr *to);
/*
 * One record, which has left before, goes once more by that path, without waiting for an answer.
 * False: the engine is full.
 */
bool sdr_pkt_record_by(struct sdr_conn *c, const struct sdr_path *path, const struct sdr_rec *r);
/* No operation is under way any more. */
void sdr_pkt_conn_free(struct sdr_conn *c);
/*
 * What was received and what was done, in packets that want no answer.  False: the engine is full.
 */
bool sdr_pkt_farewell(struct sdr_conn *c);

void sdr_pkt_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, const uint8_t *p,
		   size_t len);

#endif /* SDR_PKT_H */
