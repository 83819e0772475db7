/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The room rel/conn by itself: an endpoint without transfers and operations, on the stub engine
 * (unit/uc_loop.h), whose peer is the test (functional/stranger.h).
 *
 * It links with the room and what is below it only.  The rooms above are a table of stubs that
 * count what they are told and answer what the test has set.  There is no timer but those that the
 * test asks for by calling what they would call.  After each round the room's books are checked.
 */
#ifndef BED_ROOM_H
#define BED_ROOM_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "rel/conn/sdr_conn_ops.h"
#include "rel/conn/sdr_credit.h"
#include "rel/conn/sdr_handshake.h"
#include "rel/conn/sdr_peer_cid.h"
#include "rel/conn/sdr_pkt.h"
#include "rel/conn/sdr_rec.h"
#include "rel/conn/sdr_seal.h"
#include "rel/conn/sdr_stranger.h"
#include "rel/sdr_rel.h"
#include "../functional/stranger.h"
#include "../unit/uc_loop.h"

#define ROOM_MS	  1000000u /* ns */
#define ROOM_PKTS 64u	   /* datagrams heard */

/* What the rooms above were told, and say. */
struct room_above {
	uint32_t opened, closed, records, written, acked;
	struct sdr_frame_rec last; /* record; its payload is gone */
	bool wanted, busy, owned, repeats, room;
};

struct room {
	struct loop_net *net;
	struct sdr_rel rel;
	struct room_above above;
	struct sdr_peer *peer; /* the test, held */
	struct sdr_conn *c;
	struct stranger s;
	uint8_t frames[STRANGER_FRAMES_MAX];
};

struct room_pkt { /* a datagram that the endpoint has sent */
	uint8_t buf[SDR_CTL_MAX];
	size_t len;
	uint8_t type; /* enum sdr_rel_type */
	uint32_t pn;  /* of a packet */
};

void room_open(struct room *r); /* nobody is there */
void room_meet(struct room *r); /* and opens a connection with the test, validated */
void room_close(struct room *r);
void room_pass(struct room *r, uint64_t ns); /* all that is due, then time */
/* A datagram of the peer, from that node. */
void room_input(struct room *r, uint8_t from, const void *p, size_t n);
uint32_t room_say(struct room *r, const void *frames, size_t n); /* in a packet: its number */
void room_ack(struct room *r, uint32_t lo, uint32_t hi);
bool room_hear(struct room *r, struct room_pkt *p); /* the oldest that waits */
bool room_frame(const struct room_pkt *p, uint8_t type, struct sdr_frame *out);
uint32_t room_recs(const struct room_pkt *p, uint32_t *first); /* records in it, the first rseq */

#endif /* BED_ROOM_H */
