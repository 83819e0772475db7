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

#include <stdatomic.h>
#include "sdk/sdr_sdk.h"
#include "base/sdr_list.h"
#include "sdr_rel_cfg.h"

struct sdr_rel;
struct sdr_peer;

enum sdr_rel_kind {
	SDR_REL_SEND = 1, /* untagged message */
	SDR_REL_TSEND,	  /* tagged message */
	SDR_REL_WRITE,
	SDR_REL_READ,
	SDR_REL_RECV,
	SDR_REL_TRECV,
	/* a peer wrote here: reported when it carried data, or when rma_events is on */
	SDR_REL_REMOTE_WRITE,
	SDR_REL_REMOTE_READ, /* a peer read here: reported when rma_events is on */
};

/*
 * Why an operation failed: goes out as prov_errno; text and next step from sdr_rel_strerror.  Those
 * that peers are told have the values of enum sdr_wire_status.
 */
enum sdr_rel_err {
	SDR_REL_OK = 0,
	SDR_REL_ERR_NO_ANSWER = 1, /* handshake never answered within the timeout */
	SDR_REL_ERR_STOPPED = 2,   /* the peer answered before and stopped */
	SDR_REL_ERR_RESTARTED = 3, /* another process took the peer's address */
	SDR_REL_ERR_CLOSED = 4,	   /* the peer closed its endpoint */
	SDR_REL_ERR_REFUSED = 5,   /* geometry or key of the two sides do not agree */
	/* remote key unknown or revoked, out of bounds or access not granted */
	SDR_REL_ERR_KEY = 6,
	SDR_REL_ERR_TRUNC = 7, /* message longer than the receive buffer */
	SDR_REL_ERR_CANCELED = 8,
	SDR_REL_ERR_NOMEM = 9,	 /* a named limit of this endpoint or the peer's */
	SDR_REL_ERR_ENGINE = 10, /* the engine failed, or this connection's part of it */
	SDR_REL_ERR_NOMSG = 11,	 /* peek found nothing */
	SDR_REL_ERR_REG = 12,	 /* a device, here or the peer's, has no registration left */
	SDR_REL_ERR_PROTO = 13,	 /* the peer broke the protocol */
	SDR_REL_ERR_PATH = 14,	 /* an engine cannot exchange data with the other side's */
	/* the peer cannot decode the parity that the settings ask for, or sent what nobody can */
	SDR_REL_ERR_CODE = 15,
};
const char *sdr_rel_strerror(int prov_err);

struct sdr_rel_cqe {
	uint8_t kind;	 /* enum sdr_rel_kind */
	bool has_data;	 /* data is valid (remote CQ data) */
	bool multi_last; /* multi-receive buffer: this was its last use, it is the caller's again */
	bool multi_only; /* with multi_last: no message in this entry, only the buffer's release */
	int err;	 /* 0 or negative errno */
	int prov_err;	 /* enum sdr_rel_err */
	void *ctx;	 /* as posted; NULL for REMOTE_* */
	uint64_t uflags; /* as posted: the caller's own */
	uint64_t len;	 /* bytes received or moved */
	uint64_t olen;	 /* with TRUNC: bytes that did not fit */
	uint64_t tag;
	uint64_t data;
	void *buf;	       /* where the bytes lie (receives, REMOTE_WRITE) */
	struct sdr_peer *peer; /* who; may be NULL with errors */
	uint64_t key;	       /* REMOTE_*: the region's key */
};

#define SDR_REL_ACCESS_READ  0x1 /* remote read */
#define SDR_REL_ACCESS_WRITE 0x2 /* remote write */

/* Work that can be done in pieces, by any number of threads at a time. */
struct sdr_job {
	void (*run)(struct sdr_job *job); /* does pieces until none is left to begin; any thread */
	/* the lender's, from work to unwork */
	struct sdr_list link;
	atomic_uint inside; /* threads in run */
};

struct sdr_rel_cbs {
	/* Exactly one per posted operation (peek included), plus REMOTE_*. */
	void (*done)(void *user, const struct sdr_rel_cqe *e);
	/*
	 * Resolves a peer's (key, addr, len) for access; 0 and *va, or a negative errno.  *region
	 * (NULL before): what the caller knows the memory by.  It must stay valid until
	 * sdr_rel_mr_revoke has been called with that.
	 */
	int (*mr_get)(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access,
		      void **va, void **region);
	/*
	 * What was decided for transfers to this peer from now on, in words.  When it changes; may
	 * be NULL.
	 */
	void (*note)(void *user, struct sdr_peer *peer, const char *text);
	/*
	 * Both or neither; they may take a lock, but not the endpoint's.  work: other threads may
	 * call job->run from now on, until unwork has returned; false: none will, and there is no
	 * unwork.  unwork waits for those who are in it; false: there is nothing to wait for, but
	 * pieces that were begun may never be finished (a child process).
	 */
	bool (*work)(void *user, struct sdr_job *job);
	bool (*unwork)(void *user, struct sdr_job *job);
};

struct sdr_rel_attr {
	const struct sdr_rel_cfg *cfg; /* copied */
	const struct sdr_rel_cbs *cbs; /* kept */
	void *user;		       /* for the callbacks */
	bool rma_events;	       /* report every remote read and write */
	const uint8_t *key;	       /* pre-shared key of auth_key, NULL none */
	size_t key_len;
	uint64_t rand[4]; /* unpredictable: identities, cookies, PSNs */
};

/* Takes ownership of ctx. */
int sdr_rel_open(struct sdr_context *ctx, const struct sdr_rel_attr *attr, struct sdr_rel **rel);
/*
 * Closing in two steps: shutdown fails what is still posted (-ECANCELED) except what is already
 * promised (injected and completed data not yet acknowledged) and announces the end to all peers;
 * the caller keeps calling progress until quiet() or its patience ends; then close frees
 * everything.
 */
void sdr_rel_shutdown(struct sdr_rel *rel);
bool sdr_rel_quiet(const struct sdr_rel *rel);
void sdr_rel_close(struct sdr_rel *rel);

/*
 * The process ends without closing: tells the peers what it has received and done of theirs, so
 * that they need not wait for it, and nothing else.  Looks at no user memory and does not wait; no
 * round may follow.  False: the engine took less than all, and the call may be repeated.
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
struct sdr_context *sdr_rel_context(struct sdr_rel *rel);

/* ---- peers ----------------------------------------------------------------------------------- */

/*
 * Finds or creates, and holds: valid until it is put back as often as it was got, or until close.
 * What is held is no stranger.  NULL: out of memory, or SDR_REL_PEERS_MAX held.
 */
struct sdr_peer *sdr_rel_peer(struct sdr_rel *rel, const struct sdr_uc_addr *addr);
void sdr_rel_peer_put(struct sdr_peer *peer);
/*
 * Without a hold: valid until the next call of this endpoint.  NULL: nothing is known of this
 * address.
 */
struct sdr_peer *sdr_rel_peer_find(struct sdr_rel *rel, const struct sdr_uc_addr *addr);
const struct sdr_uc_addr *sdr_peer_addr(const struct sdr_peer *peer);
/* A word of the caller's (the provider keeps the fi_addr_t there); UINT64_MAX at first. */
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

struct sdr_rel_wr {
	uint8_t kind;	/* SEND, TSEND, WRITE, READ */
	uint8_t niov;	/* 0..SDR_REL_IOV_MAX */
	uint16_t flags; /* SDR_REL_F_* */
	struct sdr_peer *peer;
	const struct sdr_rel_iov *iov; /* copied; the buffers are the endpoint's until done */
	uint64_t tag;
	uint64_t data;
	/* WRITE, READ: one contiguous remote range of the iovs' total length */
	uint64_t rma_addr, rma_key;
	void *ctx;
	uint64_t uflags;
};
/*
 * 0; -EAGAIN: the transmit queue (cfg tx_depth) is full, progress and repeat; -EMSGSIZE; -EINVAL.
 * No `done` unless 0.
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
	uint64_t tag, ignore; /* TRECV: matches when (message ^ tag) & ~ignore == 0 */
	uint64_t min_multi;   /* bytes */
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

/* Names are contract (charter section 7). */
/* clang-format off */
#define SDR_REL_STATS(X) \
	X(pkts_tx) X(bytes_tx) X(pkts_rx) X(bytes_rx) X(parity_tx) X(repair_tx) \
	X(rtx_rack) X(rtx_nack) X(rtx_tlp) X(rtx_rto) X(rtx_spurious) \
	X(pkts_dup) X(pkts_late) X(pkts_bad) \
	X(chunks_direct) X(chunks_fec) X(chunks_rtx) \
	X(ack_tx) X(ack_rx) X(nack_tx) X(nack_rx) \
	X(ctl_tx) X(ctl_rx) X(rec_tx) X(rec_rx) X(rec_rtx) \
	X(msgs_tx) X(msgs_rx) X(msgs_unexp) X(msgs_parked) X(ops_failed) \
	X(choice_sr) X(choice_parity) X(rec_copies) X(rec_refused) \
	X(rtt_min_ns) X(srtt_ns) X(rttvar_ns) X(loss_ppm) X(cwnd_bytes) X(pacing_bps) \
	X(code_k) X(code_m) X(code_cover_ppm) X(code_why) X(loss_upper_ppb) X(burst_milli) \
	X(frames_skipped)
/* clang-format on */

struct sdr_rel_stats {
#define SDR_REL_STAT_FIELD(n) uint64_t n;
	SDR_REL_STATS(SDR_REL_STAT_FIELD)
#undef SDR_REL_STAT_FIELD
};
/* peer NULL: sum over all peers (gauges: the maximum). */
void sdr_rel_stats_get(struct sdr_rel *rel, struct sdr_peer *peer, struct sdr_rel_stats *out);
/*
 * Calls fn for each peer that ever had a connection; strangers who went long ago are in the total
 * alone.
 */
void sdr_rel_peers_walk(struct sdr_rel *rel, void (*fn)(void *user, struct sdr_peer *peer),
			void *user);

#endif /* SDR_REL_H */
