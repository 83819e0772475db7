/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A receive that was posted to a context which endpoints share (sdr_srx_recv.c): in its line, lent
 * to a message, reported where that came in.
 */
#ifndef SDR_SRX_RECV_H
#define SDR_SRX_RECV_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/fabric.h>

#include "base/sdr_list.h"
#include "rel/sdr_rel.h"

struct sdr_ep;
struct sdr_srx_shared;

struct sdr_srx_recv {
	struct sdr_list link; /* x->posted, or unlinked when met */
	uint64_t turn;	      /* among those that were posted */
	uint8_t kind, niov;
	bool multi;	     /* takes several messages, of which: */
	bool retired;	     /* it takes no more */
	bool canceled;	     /* by the application, with transfers under way */
	uint32_t refs;	     /* transfers into it that are not reported */
	uint64_t total, off; /* bytes; bytes used */
	uint64_t min_multi;  /* bytes */
	fi_addr_t src;	     /* FI_ADDR_UNSPEC: any */
	uint64_t tag, ignore;
	void *ctx;
	uint64_t uflags;
	const struct sdr_mem *mem;
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
};

/* Whether a message is for it. */
static inline bool sdr_srx_matches(const struct sdr_srx_recv *r, fi_addr_t src, uint64_t tag)
{
	return (r->src == FI_ADDR_UNSPEC || r->src == src) && !((tag ^ r->tag) & ~r->ignore);
}

/* That of an endpoint with such receives. */
struct sdr_srx_shared *sdr_srx_of(const struct sdr_ep *ep);
/* The oldest that a message can have; NULL: none. */
struct sdr_srx_recv *sdr_srx_posted(struct sdr_srx_shared *x, uint8_t kind, fi_addr_t src,
				    uint64_t tag);
/* The oldest in line with this context; NULL: none. */
struct sdr_srx_recv *sdr_srx_by_ctx(struct sdr_srx_shared *x, const void *ctx);
/* A message of len gets this receive, or its next piece.  True: that was all of it. */
bool sdr_srx_lend(struct sdr_ep *ep, struct sdr_srx_recv *r, uint64_t len, struct sdr_rel_rr *rr);
/*
 * What sdr_srx_lend did is undone, bytes [off, end): nothing has come there.  They are lost to it
 * where others got their pieces since.
 */
void sdr_srx_unlend(struct sdr_srx_recv *r, uint64_t off, uint64_t end);
/* It waits in its line, behind those that were posted before it. */
void sdr_srx_enqueue(struct sdr_srx_shared *x, struct sdr_srx_recv *r);
/* To the queue of an endpoint, under its lock. */
void sdr_srx_report_cancel(struct sdr_ep *ep, const struct sdr_srx_recv *r);

/* The calls of struct sdr_srx_kind for what has met a message, and for one that data use up. */
void *sdr_srx_unwrap(struct sdr_ep *ep, const struct sdr_rel_cqe *e, struct sdr_rel_cqe *mine);
void sdr_srx_give_back(struct sdr_ep *ep, void *entry);
const void *sdr_srx_context(const void *ctx);
bool sdr_srx_spend(struct sdr_ep *ep, struct sdr_peer *peer, void **ctx);

#endif /* SDR_SRX_RECV_H */
