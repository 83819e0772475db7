/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What all rooms of an endpoint share: its settings, its time, its engine and its tables of
 * connections and peers.
 *
 *   sdr_rel ──< sdr_peer ──? sdr_conn ──< sdr_op          an operation posted or a READ served
 *      │                        ├──< sdr_rec              a reliable record to the peer
 *      │                        ├──< sdr_bulk_tx ──< sdr_seg_tx   bulk going out, one SDR message a
 *      │                        │                                 segment
 *      │                        └──< sdr_bulk_rx ──< sdr_seg_rx   bulk coming in
 *      │                  sdr_group_tx, sdr_group_rx: a data segment and the one with its parity
 *      ├──< sdr_rxe      a posted receive           └──< sdr_unexp  an unexpected message
 *
 * An operation lives from post to its completion; a record from post to its acknowledgement; a
 * segment until the receiver reported it complete and no entry of the transmission log names it any
 * more.
 *
 * The parts of the rooms above (bulk, msg) are theirs: here they are pointers to what is not known.
 * Everything is single-threaded (the caller of the endpoint serialises) and takes its time from
 * rel->now, which is read from the engine at the start of a round and at each of its polls.
 */
#ifndef SDR_ENDPOINT_H
#define SDR_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/sdr_htab.h"
#include "base/sdr_list.h"
#include "base/sdr_seq.h"
#include "rel/path/sdr_lull.h"
#include "base/sdr_slab.h"
#include "base/sdr_timerq.h"
#include "rel/path/sdr_ceiling.h"
#include "rel/path/sdr_fan.h"
#include "rel/sdr_rel_cbs.h"
#include "rel/sdr_rel_cfg.h"
#include "rel/sdr_rel_err.h"
#include "rel/sdr_rel_stats.h"
#include "sdk/sdr_sdk.h"

#define NEVER UINT64_MAX
#define MS    1000000ull /* ns */

struct sdr_conn_ops;
struct sdr_parts;
struct sdr_path_mem;
struct sdr_rel;
struct sdr_rel_bulk;
struct sdr_rel_msg;

/* A control datagram without its class header and tag; type is enum sdr_rel_type. */
typedef void sdr_rel_input_fn(struct sdr_rel *rel, const struct sdr_uc_addr *from, uint8_t type,
			      const uint8_t *buf, size_t len);
/* One of another version, whole. */
typedef void sdr_rel_other_fn(struct sdr_rel *rel, const struct sdr_uc_addr *from,
			      const uint8_t *buf, size_t len);

struct sdr_rel {
	struct sdr_context *ctx;
	struct sdr_uc *uc;
	struct sdr_uc_info info;
	struct sdr_rel_cfg cfg;
	const struct sdr_rel_cbs *cbs;
	void *user;
	const struct sdr_conn_ops *ops; /* what the rooms above do for a connection */
	sdr_rel_input_fn *ctl_input;
	sdr_rel_other_fn *ctl_other;
	struct sdr_rel_bulk *bulk;
	struct sdr_rel_msg *msg;

	uint64_t now;	   /* ns: of the round's start, then of the engine's last poll */
	uint64_t round;	   /* rounds so far */
	uint64_t activity; /* counts everything done, for progress's return value */
	uint64_t steps;	   /* see sdr_rel_step */
	uint64_t ack_wait; /* the last round in which an acknowledgement was put off to the next */
	uint32_t went;	   /* data packets that left in this round */
	struct sdr_lull lull; /* how long what arrives may wait for a sleeper to look */

	/* what is known of paths, for all who share it; NULL: nothing is remembered */
	struct sdr_path_mem *paths;
	struct sdr_uc_addr name; /* what others are told to reach us by; len 0: nothing */
	uint64_t instance;
	uint64_t rng;	    /* counter that is hashed for ids */
	uint64_t secret[2]; /* cookies */
	uint64_t hash_key;
	uint64_t features; /* SDR_FEATURE_* that this side knows */
	uint32_t mtu, ctl_max;
	/* of every control datagram, what its tag takes (sdr_seal.c); 0: there are no keys */
	uint32_t tag_len;

	struct sdr_htab peers, conns; /* by address, by cid */
	struct sdr_htab peer_cids;    /* connections by the peer's cid and address */
	struct sdr_htab claims;	      /* connections by the name that their peer claims */
	/* all that live, the one that was silent longest first (see sdr_conn_heard) */
	struct sdr_list conn_list;
	struct sdr_list dead;  /* failed connections, ended and freed at the end of the round */
	struct sdr_list ready; /* connections with something to send now */
	struct sdr_timerq timers;
	struct sdr_slab rec_pool;
	uint32_t nunvalidated, nconns;
	uint32_t npeers_named; /* peers that something on this side names */
	uint32_t ngone;	       /* peers that are only remembered */
	struct sdr_list gone;  /* they, the oldest first */
	uint32_t nstrangers;   /* connections of strangers */

	/* what peers keep here (sdr_credit.h) */
	uint64_t unexp_bytes; /* of all unexpected and early messages, with what keeps them */
	uint32_t nunexp_strangers;
	/* records that stand alone and READs being served, for strangers */
	uint32_t nanswers_strangers;
	struct sdr_parts *parts; /* packets that are not whole yet; NULL: there were none */

	struct sdr_fan fan_out, fan_in; /* connections that send, receive (sdr_conn_fan.c) */

	struct { /* what this host loses itself, as of the round of the last look (sdr_home.c) */
		uint64_t round;
		uint64_t tx_lost, rx_full; /* the engine's counters */
		uint64_t unsent;	   /* of tx_lost: forgiven to nobody yet */
		uint64_t denied;	   /* the engine's tx_denied */
		uint64_t denied_ns;	   /* when that was seen to have grown last; 0: never */
	} home;

	struct { /* under a ceiling (sdr_turn.c) */
		struct sdr_ceiling ceiling;
		struct sdr_ceiling_word own; /* where nobody shares it */
		struct sdr_list wait;	     /* connections, by when they began to wait */
		struct sdr_conn *who;	     /* has its turn; NULL: nobody */
		int64_t left;		     /* bytes of that */
	} turns;

	struct { /* packets that probes may send beyond their doubling (sdr_probe.c) */
		uint32_t left;
		uint64_t at; /* ns, as of then */
	} probes;

	bool closing, blocked, failed;
	bool parted;		     /* said farewell */
	uint64_t close_by;	     /* ns: closing: the latest end */
	struct sdr_rel_stats closed; /* of connections that are gone */
};

/* Of connections and peers: empty. */
void sdr_rel_lists_init(struct sdr_rel *rel);
void sdr_rel_now(struct sdr_rel *rel); /* in callbacks: the time of the poll they come from */
/*
 * Since when this host had the control datagram that is being handled, ns, and not only since when
 * it was read, rel->now; 0: that is not known.
 */
uint64_t sdr_rel_since(const struct sdr_rel *rel);
/* For how long this host had it before it was read, ns; 0: no time at all, or not known. */
uint64_t sdr_rel_late(const struct sdr_rel *rel);
uint64_t sdr_rel_rand(struct sdr_rel *rel);

/*
 * One turn of a loop whose length a peer can influence (of a bitmap: one word), or n of them.
 * Tests demand that what a packet costs is bounded by its bytes.
 */
static inline void sdr_rel_step(struct sdr_rel *rel)
{
	rel->steps++;
}
static inline void sdr_rel_steps(struct sdr_rel *rel, uint64_t n)
{
	rel->steps += n;
}

/* Microseconds from then to now, for delays on the wire. */
static inline uint32_t sdr_us_since(uint64_t now, uint64_t then)
{
	uint64_t us = now > then ? (now - then) / 1000 : 0;

	return us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

#endif /* SDR_ENDPOINT_H */
