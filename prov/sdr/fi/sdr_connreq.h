/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Connection requests, between FI_CONNREQ and its answer (sdr_connreq.c).
 */
#ifndef SDR_CONNREQ_H
#define SDR_CONNREQ_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <rdma/fabric.h>

#include "base/sdr_list.h"
#include "uc/sdr_uc.h"

struct sdr_peer;

/* Those of a passive endpoint, under its lock. */
struct sdr_connreqs {
	pthread_mutex_t *answer; /* the fabric's: one request is answered at a time */
	pthread_mutex_t *lock;	 /* its endpoint's, inside that */
	struct sdr_list list;
	uint32_t n;
};

struct sdr_connreq {
	struct fid fid; /* info->handle */
	struct sdr_list link;
	pthread_mutex_t *answer; /* as above */
	struct sdr_connreqs *of; /* under answer; NULL: that endpoint is closed */
	bool taken;		 /* likewise: an endpoint was opened with it */
	struct sdr_peer *peer;	 /* held there */
	struct sdr_uc_addr addr; /* where the answer goes, and what it names: do not change */
	uint64_t call;
};

/* Under the passive endpoint's lock; peer is held by the caller.  NULL: out of memory. */
struct sdr_connreq *sdr_connreq_new(struct sdr_connreqs *of, struct sdr_peer *peer, uint64_t call);
/* It could not be reported: the peer stays held.  Under the same lock. */
void sdr_connreq_undo(struct sdr_connreq *req);
/* An endpoint is opened with this handle: 0, -FI_EINVAL (no request), -FI_EBUSY (another is). */
int sdr_connreq_take(struct fid *handle, struct sdr_connreq **req);
/* That endpoint closes without having accepted. */
void sdr_connreq_drop(struct sdr_connreq *req);
/* 0, or -FI_ECONNABORTED: who listened is closed, and has said so to the one who asked. */
int sdr_connreq_check(struct sdr_connreq *req);
/* It is answered: gone. */
void sdr_connreq_accepted(struct sdr_connreq *req);
/*
 * To be rejected: whom to tell, still held, and which call; gone, or left to the endpoint that was
 * opened with it.  NULL: no request of these.
 */
struct sdr_peer *sdr_connreq_reject(struct sdr_connreqs *of, struct fid *handle, uint64_t *call);
/* Who listens is closed.  Without any of its locks. */
void sdr_connreq_end(struct sdr_connreqs *of);

#endif /* SDR_CONNREQ_H */
