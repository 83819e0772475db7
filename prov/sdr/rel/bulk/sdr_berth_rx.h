/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Berths: memory of ours whose keys peers have before they need them, see sdr_berth_rx.c.
 */
#ifndef SDR_BERTH_RX_H
#define SDR_BERTH_RX_H

#include <stdbool.h>
#include <stdint.h>
#include "base/sdr_list.h"
#include "base/sdr_slab.h"
#include "sdr_scratch.h"
#include "uc/sdr_uc.h"

#define SDR_BERTH_MIN (64u << 10) /* bytes of one, at least */
#define SDR_BERTH_MAX \
	(4u << 20) /* and at most, without parity: of longer transfers the head comes to one */
/* of one for the parity of those, where they have no heads */
#define SDR_BERTH_PARITY (1u << 20)
#define SDR_BERTHS_FIRST 2u	       /* that a peer gets at once */
#define SDR_BERTHS_PEER	 16u	       /* that it may have; a quarter of cfg.berths, too */
#define SDR_BERTH_RTT_NS 1000000u      /* nearer peers get none: a copy costs as much */
#define SDR_BERTH_OLD_NS 1000000000ull /* idle for longer, one makes way for another peer's */

struct sdr_conn;
struct sdr_frame_rec;
struct sdr_rel;

struct sdr_berth {
	struct sdr_list link; /* of its connection's idle ones; or none: a transfer has it */
	struct sdr_list age;  /* of the endpoint's, likewise; or of what can do without it */
	struct sdr_conn *conn;
	uint8_t *buf;
	uint64_t len;	/* bytes */
	uint64_t since; /* ns: handed out, or used */
	uint32_t id;
	struct sdr_berth **user; /* who can do without: NULL there when it is gone */
	struct sdr_uc_grant grant;
};

struct sdr_berths { /* of an endpoint */
	struct sdr_slab pool;
	struct sdr_scratch room;
	struct sdr_list idle; /* the oldest first */
	uint64_t tags;	      /* of connections, so far */
};

struct sdr_conn_berths { /* that the peer of a connection has */
	struct sdr_list idle;
	uint32_t n, want; /* there are, used ones too; there should be */
	uint32_t next;	  /* number of the next */
	uint64_t size;	  /* bytes of those that are made from now on */
	uint64_t bytes;	  /* of all, as they count in the endpoint's room */
	uint64_t tag;	  /* its own, which memory that it used bears; not 0 */
};

void sdr_berths_open(struct sdr_rel *rel);
void sdr_berths_close(struct sdr_rel *rel);
void sdr_berths_conn_init(struct sdr_conn *c);
/* No transfer has one any more. */
void sdr_berths_conn_free(struct sdr_conn *c);

/*
 * A transfer of len bytes waits for its CTS that would not have, with a berth; head: of them did
 * not wait.
 */
void sdr_berths_wanted(struct sdr_conn *c, uint64_t len, uint64_t head);
/* At its turn: the peer gets those that it should have. */
void sdr_berths_hand(struct sdr_conn *c);
/* Those that nobody uses are taken back. */
void sdr_berths_recall(struct sdr_conn *c);

/* An honest peer may name this one in a record with BULK, whether it still has it or not. */
bool sdr_berth_named(const struct sdr_conn *c, const struct sdr_frame_rec *f);
/* The one that a record names, for its transfer.  NULL: it was taken back. */
struct sdr_berth *sdr_berth_take(struct sdr_conn *c, const struct sdr_frame_rec *f);
/*
 * *user is this one, to which all has come that comes.  Its bytes stay as long as nobody wants the
 * room: then *user is NULL.  False: that has happened.
 */
void sdr_berth_spare(struct sdr_berth **user);
bool sdr_berth_spared(struct sdr_berth **user);
/* Nothing is written there from here on. */
void sdr_berth_end(struct sdr_berth *t);

#endif /* SDR_BERTH_RX_H */
