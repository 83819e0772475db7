/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The reliable endpoint: what the libfabric objects above ask for.
 *
 * A reliable endpoint owns one SDK context (and so one engine, one UDP port).  It opens a
 * connection to each peer it talks to, matches messages, moves RMA, repairs losses and reports
 * every posted operation exactly once through the `done` callback.  Sans-I/O: it has no clock of
 * its own (the engine's), no thread and no lock; the caller serialises all calls of one endpoint.
 * Callbacks come from inside post and progress calls and must not call back into the endpoint
 * except where said.  A caller with threads to spare may lend them for long computations (struct
 * sdr_job), which touch nothing of the endpoint but the job.
 */
#ifndef SDR_REL_H
#define SDR_REL_H

#include "sdk/sdr_sdk.h"
#include "sdr_rel_cbs.h"
#include "sdr_rel_cfg.h"
#include "sdr_rel_err.h"
#include "sdr_rel_stats.h"

struct sdr_path_mem;
struct sdr_rel;

struct sdr_rel_attr {
	const struct sdr_rel_cfg *cfg; /* copied */
	const struct sdr_rel_cbs *cbs; /* kept */
	void *user;		       /* for the callbacks */
	struct sdr_path_mem *paths;    /* kept: what is known of paths; NULL: nothing is */
	bool rma_events;	       /* report every remote read and write */
	bool bonded;		       /* peers without SDR_BOND_HEAR may call, and no more */
	/* kept; NULL: messages meet the receives that are posted here */
	const struct sdr_rel_match *match;
	struct sdr_uc_addr name; /* what peers are told to reach it by; len 0: unknown */
	uint64_t rand[4];	 /* unpredictable: identities, cookies, PSNs */
};

/* Takes ownership of ctx. */
int sdr_rel_open(struct sdr_context *ctx, const struct sdr_rel_attr *attr, struct sdr_rel **rel);
/*
 * Closing in two steps: shutdown fails what is still posted (-ECANCELED) except what is already
 * promised (injected and completed data not yet acknowledged) and announces the end to all peers;
 * the caller keeps calling progress until quiet() or its own limit; then close frees
 * everything.
 */
void sdr_rel_shutdown(struct sdr_rel *rel);
bool sdr_rel_quiet(const struct sdr_rel *rel);
void sdr_rel_close(struct sdr_rel *rel);

/*
 * The process ends without closing: reports to the peers what it has received and done of theirs,
 * so that they need not wait for it, and nothing else.  Looks at no user memory and does not wait;
 * no round may follow.  False: the engine took less than all, and the call may be repeated.
 */
bool sdr_rel_farewell(struct sdr_rel *rel);

/*
 * One round: engine events, timers, transmission.  Returns > 0 when anything happened, or a
 * negative errno.
 */
int sdr_rel_progress(struct sdr_rel *rel);
/*
 * Engine time (ns) at which progress must be called even if the engine's fd is silent; UINT64_MAX
 * never.
 */
uint64_t sdr_rel_deadline(struct sdr_rel *rel);
/*
 * After a round, for a caller that would sleep: another one at once has something to do that
 * neither the engine's fd nor the deadline announces.
 */
bool sdr_rel_again(struct sdr_rel *rel);
/*
 * Engine time (ns) up to which a sleeper need not be woken by what arrives (the engine's hush), if
 * it runs a round then; 0: it must be.
 */
uint64_t sdr_rel_lull(const struct sdr_rel *rel);
struct sdr_context *sdr_rel_context(struct sdr_rel *rel);
/* Engine time (ns) of the last round or call, without a call of the engine. */
uint64_t sdr_rel_time(const struct sdr_rel *rel);

/* ---- peers ----------------------------------------------------------------------------------- */

/*
 * Finds or creates, and holds: valid until it is put back as often as it was got, or until close.
 * A peer that is held is no stranger.  NULL: out of memory, or SDR_REL_PEERS_MAX held.
 */
struct sdr_peer *sdr_rel_peer(struct sdr_rel *rel, const struct sdr_uc_addr *addr);
void sdr_rel_peer_put(struct sdr_peer *peer);
/*
 * Without a hold: valid until the next call of this endpoint.  NULL: nothing is known of this
 * address.
 */
struct sdr_peer *sdr_rel_peer_find(struct sdr_rel *rel, const struct sdr_uc_addr *addr);
const struct sdr_uc_addr *sdr_peer_addr(const struct sdr_peer *peer);
/*
 * What binds this side to a peer that is held, until it is given anew, the peer's connection ends
 * (cbs->gone) or is hung up.  WATCH: its connection is asked for a sign of life while nothing else
 * goes on, so that its end is seen.  HEAR: of a bonded endpoint (attr), it may do what any peer of
 * another may.
 */
#define SDR_BOND_WATCH 0x1u
#define SDR_BOND_HEAR  0x2u
void sdr_rel_bond(struct sdr_peer *peer, uint8_t bond);
/*
 * How losses are repaired on the connections that are opened with a peer that is held, from now on;
 * NULL: as the settings say, which it does at first.  -EBUSY: there is a connection.
 */
int sdr_rel_peer_scheme(struct sdr_peer *peer, const struct sdr_scheme_ops *scheme);
/*
 * Ends this peer's connection in order: what is posted to it is cancelled but for what is promised
 * (as by sdr_rel_shutdown); the peer hears of it when that is over.  No `gone` comes, and the bond
 * ends with the connection.
 */
void sdr_rel_hangup(struct sdr_peer *peer);
/* A value of the caller's (the provider keeps the fi_addr_t there); UINT64_MAX at first. */
void sdr_peer_user_set(struct sdr_peer *peer, uint64_t v);
uint64_t sdr_peer_user(const struct sdr_peer *peer);

/* ---- operations ------------------------------------------------------------------------------ */

#define SDR_REL_IOV_MAX 8

struct sdr_rel_iov {
	void *buf;
	size_t len;
};

/* buffers are copied before post returns; total <= cfg inject_max */
#define SDR_REL_F_INJECT   0x01
#define SDR_REL_F_DELIVERY 0x02 /* complete when the bytes lie in the receiver's (matched) buffer */
#define SDR_REL_F_DATA	   0x04 /* data is valid */
#define SDR_REL_F_SILENT   0x08 /* no `done` on success (inject calls); errors are still reported */
#define SDR_REL_F_FENCE	   0x10 /* wait for everything posted to this peer before */
/* complete as soon as the buffer may be reused (injected: at once) */
#define SDR_REL_F_EARLY 0x20
/* others follow at once: it may leave with them, or with the next round */
#define SDR_REL_F_MORE 0x40

/* bytes of the target's memory that one atomic changes, at most */
#define SDR_REL_ATOMIC_MAX 65536u

/* What an atomic does; op, type and form are those of the wire (wire/sdr_atomic.h). */
struct sdr_rel_atomic {
	uint8_t op;	/* enum sdr_atomic_op */
	uint8_t type;	/* enum sdr_atomic_type */
	uint8_t form;	/* enum sdr_atomic_form; ATOMIC: UPDATE, FETCH_ATOMIC: any other */
	uint8_t ncmp;	/* 0..SDR_REL_IOV_MAX */
	uint8_t nres;	/* likewise */
	uint32_t count; /* elements */
	const struct sdr_rel_iov *cmp; /* values to compare with; copied, buffers too */
	/* where the old values go; copied, the buffers are the endpoint's until done */
	const struct sdr_rel_iov *res;
	const struct sdr_mem *cmp_mem, *res_mem; /* where these lie, as mem of sdr_rel_wr */
};

struct sdr_rel_wr {
	/* SEND, TSEND, WRITE, READ, ATOMIC, FETCH_ATOMIC, CALL (which fits a record) */
	uint8_t kind;
	uint8_t niov;	/* 0..SDR_REL_IOV_MAX */
	uint16_t flags; /* SDR_REL_F_* */
	struct sdr_peer *peer;
	const struct sdr_rel_iov *iov; /* copied; the buffers are the endpoint's until done */
	const struct sdr_mem *mem;     /* all of them lie there; NULL: where the CPU reaches them */
	uint64_t tag;
	uint64_t data;
	/* one contiguous remote range of the iovs' total length; atomics: of their elements */
	uint64_t rma_addr, rma_key;
	/* ATOMIC, FETCH_ATOMIC: then iov has the operands (READ: none), copied, buffers too */
	const struct sdr_rel_atomic *atomic;
	void *ctx;
	uint64_t uflags;
};
/*
 * 0; -EAGAIN: the transmit queue (cfg tx_depth) is full, progress and repeat; -EMSGSIZE; -EINVAL;
 * -EOPNOTSUPP: no such atomic; -EIO: also when what is injected, or an atomic's operands, cannot be
 * copied out of mem.  No `done` unless 0.
 */
int sdr_rel_post(struct sdr_rel *rel, const struct sdr_rel_wr *wr);

/* buffer takes several messages; released when less than min_multi is left */
#define SDR_REL_R_MULTI 0x01
/* look at the unexpected messages only; done comes at once (NOMSG if none) */
#define SDR_REL_R_PEEK 0x02
/* with PEEK: reserve the message for ctx; without: receive the one reserved by ctx */
#define SDR_REL_R_CLAIM	  0x04
#define SDR_REL_R_DISCARD 0x08 /* with PEEK or CLAIM: drop the message */

struct sdr_rel_rr {
	uint8_t kind; /* RECV, TRECV */
	uint8_t niov;
	uint16_t flags;	       /* SDR_REL_R_* */
	struct sdr_peer *peer; /* NULL: any */
	const struct sdr_rel_iov *iov;
	const struct sdr_mem *mem; /* as of struct sdr_rel_wr */
	uint64_t tag, ignore;	   /* TRECV: matches when (message ^ tag) & ~ignore == 0 */
	uint64_t min_multi;	   /* bytes */
	void *ctx;
	uint64_t uflags;
};
/* 0; -EAGAIN: the receive queue (cfg rx_depth) is full. */
int sdr_rel_recv(struct sdr_rel *rel, const struct sdr_rel_rr *rr);
/*
 * The oldest receive (kind RECV or TRECV) with this ctx that is not matched yet: done with
 * -ECANCELED. 0 or -ENOENT.
 */
int sdr_rel_cancel(struct sdr_rel *rel, void *ctx);
/*
 * Takes the oldest untagged receive that a message of this peer could meet, but none for several
 * messages, out of the line: it is over, and nothing is reported for it.  *ctx: as posted.  False:
 * there is none.  May be called from `done`.
 */
bool sdr_rel_recv_spend(struct sdr_rel *rel, const struct sdr_peer *peer, void **ctx);
/* All receives that are posted: done with -ECANCELED. */
void sdr_rel_recv_cancel(struct sdr_rel *rel);

/*
 * With sdr_rel_attr.match, of a message that is kept: it goes to this receive (as from take), or is
 * dropped.  Either ends it, and its mark.  meet: 0, -ENOMEM or -EIO, and then it is kept as before.
 */
int sdr_rel_meet(struct sdr_rel *rel, struct sdr_unexp *u, const struct sdr_rel_rr *rr);
void sdr_rel_discard(struct sdr_rel *rel, struct sdr_unexp *u);
struct sdr_peer *sdr_rel_kept_peer(const struct sdr_unexp *u);
void *sdr_rel_kept_user(const struct sdr_unexp *u); /* sdr_rel_attr.user of its endpoint */

/*
 * The region, which mr_get will not name any more, is taken from all peers at once: their transfers
 * into or out of it end, and fail over there with SDR_REL_ERR_KEY; returns how many.  Afterwards
 * nothing is written to its memory, and it is read only while sdr_rel_mr_reading says so.  No
 * transfer of another region is touched.
 */
uint32_t sdr_rel_mr_revoke(struct sdr_rel *rel, const void *region);
/*
 * A device still has to read [va, va + len) for packets that were posted before: as long as it
 * takes to send them.
 */
bool sdr_rel_mr_reading(struct sdr_rel *rel, const void *va, uint64_t len);

/* ---- statistics ------------------------------------------------------------------------------ */

/* peer NULL: sum over all peers (gauges: the maximum). */
void sdr_rel_stats_get(struct sdr_rel *rel, struct sdr_peer *peer, struct sdr_rel_stats *out);
/*
 * Calls fn for each peer that ever had a connection; strangers that went long ago are in the total
 * alone.
 */
void sdr_rel_peers_walk(struct sdr_rel *rel, void (*fn)(void *user, struct sdr_peer *peer),
			void *user);

#endif /* SDR_REL_H */
