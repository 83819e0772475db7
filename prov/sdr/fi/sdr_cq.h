/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Completion queues (sdr_cq.c).
 */
#ifndef SDR_CQ_H
#define SDR_CQ_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include "sdr_pset.h"
#include "sdr_wait.h"
#include "sdr_yield.h"

/* entries: default, and the least a queue takes before posts say -FI_EAGAIN */
#define SDR_CQ_SIZE	  1024u
#define SDR_CQ_SIZE_FIRST 64u /* entries of a new queue's ring; it doubles as it fills */
/* entries: with so many unread an endpoint is not progressed any more */
#define SDR_CQ_SIZE_MAX (1u << 20)

struct fid_peer_cq;

/* What an error has to say, from malloc. */
struct sdr_cq_note {
	bool text;    /* who and why, with its NUL; else a peer's address */
	size_t len;   /* bytes */
	char bytes[]; /* len */
};

struct sdr_cqe {
	void *ctx;
	uint64_t flags;
	size_t len;
	void *buf;
	uint64_t data;
	uint64_t tag;
	fi_addr_t src;
	size_t olen;
	int err; /* positive FI error, 0: success */
	int prov_err;
	struct sdr_cq_note *note; /* errors; may be NULL */
};

struct sdr_cq {
	struct fid_cq fid;
	struct sdr_domain *dom;
	/* where entries go: its ring, or an owner's queue (sdr_cq_peer.c); takes over e->note */
	void (*push)(struct sdr_cq *cq, const struct sdr_cqe *e);
	struct fid_peer_cq *owner;
	atomic_int refs;
	enum fi_cq_format format;
	enum fi_cq_wait_cond wait_cond;
	uint32_t limit; /* unread entries at which posting says -FI_EAGAIN */

	pthread_mutex_t lock;
	struct sdr_cqe *ring;
	uint32_t cap, head;	       /* cap: a power of two */
	_Atomic uint32_t count;	       /* unread entries; written under lock */
	uint64_t lost;		       /* entries that found no memory, or no owner */
	struct sdr_cq_note *err_note;  /* of the error read last */
	_Atomic uint32_t signals;      /* fi_cq_signal was called so often */
	_Atomic uint32_t signals_seen; /* of them, blocking reads have seen */
	struct sdr_yield yield;	       /* of those who spin */

	struct sdr_wait wait;
	struct sdr_pset eps;
};

/* NULL: there is no memory. */
struct sdr_cq_note *sdr_cq_note(bool text, const void *bytes, size_t len);

int sdr_cq_open(struct fid_domain *dom, struct fi_cq_attr *attr, struct fid_cq **cq, void *context);
/* Takes over e->note. */
static inline void sdr_cq_push(struct sdr_cq *cq, const struct sdr_cqe *e)
{
	cq->push(cq, e);
}

static inline bool sdr_cq_full(struct sdr_cq *cq)
{
	return atomic_load_explicit(&cq->count, memory_order_relaxed) >= cq->limit;
}

/* fi_trywait on a CQ. */
int sdr_cq_trywait(struct sdr_cq *cq);

#endif /* SDR_CQ_H */
