/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a reliable endpoint needs of its caller, and reports to it: completions, memory, threads.
 */
#ifndef SDR_REL_CBS_H
#define SDR_REL_CBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/sdr_list.h"

struct sdr_peer;
struct sdr_uc_addr;

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
	SDR_REL_KINDS,	     /* how many there are, with 0, which is none */
};

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
	 * pieces that were begun may never be finished (a child process).
	 */
	bool (*lend)(void *user, struct sdr_job *job);
	bool (*reclaim)(void *user, struct sdr_job *job);
};

#endif /* SDR_REL_CBS_H */
