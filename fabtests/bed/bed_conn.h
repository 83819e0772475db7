/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One connection with nothing behind it: an endpoint on the stub engine (unit/uc_loop.h), whose
 * peer is the test.
 *
 * There is no network and no clock: every packet of the endpoint waits until the test takes it, the
 * peer's packets arrive when the test says them, and time stands still in between.  So a test can
 * ask what a single frame, or its absence, makes of a connection: records, acknowledgements,
 * timers, credit.  The peer's side of the handshake, its packet numbers and record numbers are
 * those of functional/stranger.h, which knows nothing of the endpoint but the wire.
 *
 * What goes wrong fails the cmocka test.
 */
#ifndef BED_CONN_H
#define BED_CONN_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "rel_inside.h"
#include "../functional/stranger.h"
#include "../unit/uc_loop.h"

#define BED_CONN_MS  1000000u /* ns */
#define BED_CONN_KEY 5u	      /* of the region that the peer may read and write */

struct bed_conn {
	struct loop_net *net;
	struct sdr_rel *rel;
	struct sdr_peer *peer; /* the test, held by the endpoint's user */
	struct sdr_conn *c;    /* open, its peer's address validated */
	struct stranger s;     /* the test's side */
	uint8_t frames[STRANGER_FRAMES_MAX];
	uint8_t region[256];
	uint32_t done; /* completions, REMOTE_* too */
	struct sdr_rel_cqe last;
};

/* A packet that the endpoint has sent. */
struct bed_conn_pkt {
	uint8_t buf[SDR_CTL_MAX];
	size_t len;
	uint32_t pn;
};

/* cfg NULL: the defaults with scheme sr; what decides the geometry must stay the default. */
void bed_conn_open(struct bed_conn *b, const struct sdr_rel_cfg *cfg);
void bed_conn_close(struct bed_conn *b);
/* Everything the endpoint wants to do now; then time moves on, in steps of its own deadlines. */
void bed_conn_pass(struct bed_conn *b, uint64_t ns);
/* A packet with these frames arrives and is processed; returns its number. */
uint32_t bed_conn_say(struct bed_conn *b, const void *frames, size_t n);
/* The oldest packet that waits, which leaves the network; false: none. */
bool bed_conn_hear(struct bed_conn *b, struct bed_conn_pkt *p);
/* The first frame of that type in the packet; false: none. */
bool bed_conn_frame(const struct bed_conn_pkt *p, uint8_t type, struct sdr_frame *out);
/* The peer acknowledges one packet. */
void bed_conn_ack(struct bed_conn *b, uint32_t pn);

#endif /* BED_CONN_H */
