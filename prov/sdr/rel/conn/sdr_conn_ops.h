/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the rooms above do for a connection, and learn of it: the one way in which this room calls
 * up.  The top fills the table (sdr_rooms.c); a test of this room alone brings its own.
 *
 * Calls come from inside a call of the endpoint, by its thread.  None may free the connection: what
 * ends with it (sdr_conn_fail) ends with the round.
 */
#ifndef SDR_CONN_OPS_H
#define SDR_CONN_OPS_H

#include "sdr_conn.h"

/* Frames of the rooms above that are owed. */
#define SDR_DUE_TELL 0x1u /* that want no answer: reports, copies */
#define SDR_DUE_ASK  0x2u /* that want one: ENDs */

struct sdr_conn_ops {
	/* ---- life ---- */
	size_t bulk_size, msg_size; /* bytes of their parts of a connection, zeroed at first */
	void (*init)(struct sdr_conn *c);
	/* Operations wait for the handshake; something is under way that the peer must answer. */
	bool (*wanted)(const struct sdr_conn *c);
	bool (*busy)(const struct sdr_conn *c);
	bool (*owned)(const struct sdr_conn *c); /* some operation of this side's is posted */
	void (*opened)(struct sdr_conn *c);	 /* operations may start */
	/* It is dead, and in no table any more: its names are others' again. */
	void (*failed)(struct sdr_conn *c);
	void (*closed)(struct sdr_conn *c); /* by the peer: what has not started has failed */
	/* What waits for a handshake that will not be goes over to another connection. */
	void (*handover)(struct sdr_conn *from, struct sdr_conn *to);
	/* c->peer is another object than it was: what came through it is of that one. */
	void (*rehomed)(struct sdr_conn *c, struct sdr_peer *from);
	void (*released)(struct sdr_conn *c); /* messages may have their turn (rec.held) */

	/* ---- packets in ---- */
	void (*record)(struct sdr_conn *c, const struct sdr_frame_rec *f); /* once each */
	/*
	 * Of a record that sdr_rec_needs_room: can it be taken now?  And the bytes that it costs at
	 * most to keep it.
	 */
	bool (*room)(struct sdr_conn *c, const struct sdr_frame_rec *f);
	uint64_t (*bytes)(const struct sdr_conn *c, const struct sdr_frame_rec *f);
	void (*dack)(struct sdr_conn *c, const struct sdr_frame_dack *f, struct sdr_acks *as);
	void (*end)(struct sdr_conn *c, uint32_t msn);
	void (*credit)(struct sdr_conn *c); /* for more message numbers */
	/* The next message number of ours; the first that the peer has given no transfer yet. */
	uint32_t (*msn_out)(const struct sdr_conn *c);
	uint32_t (*msn_in)(const struct sdr_conn *c);
	/* After all frames of a packet: which data are lost?  nack: a gap was reported. */
	void (*detect_lost)(struct sdr_conn *c, bool nack, struct sdr_acks *as);
	void (*settled)(struct sdr_conn *c); /* and congestion control knows of it */
	/* A path is silent: what is under way there is lost, and says nothing of the others. */
	void (*path_lost)(struct sdr_conn *c, uint32_t path);
	/* Nothing arrives: ask about data. */
	void (*probe)(struct sdr_conn *c);

	/* ---- packets out ---- */
	uint32_t (*due)(const struct sdr_conn *c); /* SDR_DUE_* */
	/* Frames that want no answer; returns bytes.  more: some did not fit. */
	size_t (*put_reports)(struct sdr_conn *c, uint8_t *p, size_t room, bool *more);
	size_t (*put_copies)(struct sdr_conn *c, uint8_t *p, size_t room);
	/* Frames that want an answer. */
	size_t (*put_ends)(struct sdr_conn *c, uint8_t *p, size_t room);
	/* A packet that is alone on its way is worth a copy. */
	bool (*repeats)(const struct sdr_conn *c);

	/* ---- records, those with an owner ---- */
	size_t (*gather)(const struct sdr_rec *r, uint8_t *p);	/* its payload; returns bytes */
	void (*written)(struct sdr_conn *c, struct sdr_rec *r); /* for the first time */
	void (*acked)(struct sdr_conn *c, struct sdr_rec *r);	/* not in the window any more */

	/* ---- data in: the SDK's call after a round in which packets were placed ---- */
	void (*placed)(void *conn, struct sdr_rcv_handle *h);
};

#endif /* SDR_CONN_OPS_H */
