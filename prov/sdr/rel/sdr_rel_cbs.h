/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a reliable endpoint needs of its caller, and reports to it: completions, memory, threads.
 */
#ifndef SDR_REL_CBS_H
#define SDR_REL_CBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/sdr_list.h"

struct sdr_mem;
struct sdr_peer;
struct sdr_rel_rr;
struct sdr_uc_addr;
struct sdr_unexp;

enum sdr_rel_kind {
	SDR_REL_SEND = 1, /* untagged message */
	SDR_REL_TSEND,	  /* tagged message */
	SDR_REL_WRITE,
	SDR_REL_READ,
	SDR_REL_RECV,
	SDR_REL_TRECV,
	/* a peer wrote here: reported when it carried data, or when rma_events is on */
	SDR_REL_REMOTE_WRITE,
	SDR_REL_REMOTE_READ,  /* a peer read here: reported when rma_events is on */
	SDR_REL_ATOMIC,	      /* changes memory of the peer */
	SDR_REL_FETCH_ATOMIC, /* likewise, or only reads; the old values come back */
	/* of a peer, here: reported when rma_events is on */
	SDR_REL_REMOTE_ATOMIC,
	SDR_REL_REMOTE_FETCH_ATOMIC,
	SDR_REL_CALL,  /* a few bytes for who stands above the peer's endpoint */
	SDR_REL_KINDS, /* how many there are, with 0, which is none */
};

struct sdr_rel_cqe {
	uint8_t kind;	 /* enum sdr_rel_kind */
	bool has_data;	 /* data is valid (remote CQ data) */
	bool multi_last; /* multi-receive buffer: this was its last use, it is the caller's again */
	bool multi_only; /* with multi_last: no message in this entry, only the buffer's release */
	bool changed;	 /* REMOTE_*: the region's bytes may be others than before */
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
/* the memory is copied through mr_mem, so it may be a device's; without: the CPU must reach it */
#define SDR_REL_ACCESS_COPY 0x80

/* Work that can be done in pieces, by any number of threads at a time. */
struct sdr_job {
	void (*run)(struct sdr_job *job); /* does pieces until none is left to begin; any thread */
	/* the lender's, from lend to reclaim */
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
	 * Around an atomic on elements for which the processor has no instruction, or which it does
	 * not reach, and are copied (mr_mem): nobody else is between the two meanwhile.  Both or
	 * neither; neither: there is nobody else.  They may take a lock, but not the endpoint's.
	 */
	void (*atomic_enter)(void *user);
	void (*atomic_leave)(void *user);
	/*
	 * Does the caller know this address, though it has not asked for its peer yet?  A peer
	 * that is seen elsewhere says that it is its own (conn/sdr_alias.c).  May be NULL.
	 */
	bool (*knows)(void *user, const struct sdr_uc_addr *addr);
	/*
	 * What was decided for this peer, or for transfers to it from now on, as text.  When it
	 * changes; may be NULL.
	 */
	void (*note)(void *user, struct sdr_peer *peer, const char *text);
	/*
	 * Both or neither; they may take a lock, but not the endpoint's.  work: other threads may
	 * call job->run from now on, until reclaim has returned; false: none will, and there is no
	 * reclaim.  reclaim waits for those who are in it; false: there is nothing to wait for, but
	 * pieces that were begun may never be finished, and of those that were said to be done what
	 * they wrote may be missing (a child process).
	 */
	bool (*lend)(void *user, struct sdr_job *job);
	bool (*reclaim)(void *user, struct sdr_job *job);
	/*
	 * With these two: from job->run, on its thread: the endpoint wants a round, whoever sleeps.
	 * NULL: only what nobody waits for is lent (encoding).
	 */
	void (*wake)(void *user);
	/* Where a region of mr_get lies; NULL, or without this: the CPU reaches it. */
	const struct sdr_mem *(*mr_mem)(void *user, void *region);
	/*
	 * Both or neither: memory of ours between a device's and the network, as devices like it
	 * best, aligned to a cache line; it is kept for reuse.  NULL: there is none.
	 */
	void *(*stage_alloc)(void *user, uint64_t bytes);
	void (*stage_free)(void *user, void *p, uint64_t bytes);
	/*
	 * The engine may reach devices' memory, but not all that it was asked for: bytes pass
	 * through memory of ours, and why says what the engine said.  Once; may be NULL.
	 */
	void (*far_refused)(void *user, const char *why);
	/*
	 * Both or neither; in both, and in `done` of an SDR_REL_CALL, peers may be got, put, bound
	 * (sdr_rel_bond) and hung up on, and receives cancelled.  call: a peer's SDR_REL_CALL, the
	 * bytes valid until it returns; what it returns is the answer, 0 or SDR_REL_ERR_NOBODY.
	 * gone: the connection to a peer with a bond has ended, after all that was posted on it;
	 * err: enum sdr_rel_err.
	 */
	int (*call)(void *user, struct sdr_peer *peer, const uint8_t *buf, size_t len);
	void (*gone)(void *user, struct sdr_peer *peer, int err);
};

/* ---- matching above -------------------------------------------------------------------------- */

struct sdr_rel_arrival { /* a message whose turn it is */
	uint8_t kind;	 /* SDR_REL_RECV or SDR_REL_TRECV: of the receive that it wants */
	bool has_data;	 /* data is valid */
	struct sdr_peer *peer;
	uint64_t len; /* bytes */
	uint64_t tag, data;
};

/*
 * For a caller that has the receives itself, and says of each message where it goes.  Called from
 * inside a round, for the messages of a peer in their order.
 */
struct sdr_rel_match {
	/*
	 * True: rr is its receive (only niov, iov, mem, ctx and uflags are read, iov before the
	 * next call), to be reported once through `done`.  False: it has none, and *mark is what
	 * it is known by from now on; NULL: no memory for that, and its connection ends.
	 */
	bool (*take)(void *user, const struct sdr_rel_arrival *a, struct sdr_rel_rr *rr,
		     void **mark);
	/*
	 * It is kept under its mark until sdr_rel_meet or sdr_rel_discard, whatever becomes of its
	 * connection.  At once after take; kind: as there.  False: it cannot be, the mark means
	 * nothing any more, and the connection ends.
	 */
	bool (*keep)(void *user, void *mark, uint8_t kind, struct sdr_unexp *u);
	/* The mark means nothing any more: it was not kept, or the endpoint is closed. */
	void (*gone)(void *user, void *mark);
	/* Kept messages have another peer object than they had. */
	void (*renamed)(void *user);
};

#endif /* SDR_REL_CBS_H */
