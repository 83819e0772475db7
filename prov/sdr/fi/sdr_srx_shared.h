/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receive contexts that endpoints share (sdr_srx_shared.c), for the calls that post to them
 * (sdr_srx_post.c).
 */
#ifndef SDR_SRX_SHARED_H
#define SDR_SRX_SHARED_H

#include <pthread.h>

#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>

#include "base/sdr_list.h"
#include "base/sdr_slab.h"

#include "sdr_srx.h"

struct sdr_srx_shared {
	struct sdr_srx srx;
	struct fi_ops_ep ops;
	struct fi_ops_msg msg;
	struct fi_ops_tagged tagged;
	uint64_t op_flags; /* of calls without flags */
	bool directed;	   /* FI_DIRECTED_RECV */
	bool hmem;	   /* FI_HMEM of the domain */

	pthread_mutex_t lock; /* what follows; inside of ep->lock */
	pthread_cond_t unpinned;
	struct sdr_list eps;	   /* sdr_ep.srx_link */
	struct sdr_list posted[2]; /* struct srx_recv; untagged, tagged */
	struct sdr_list kept[2];   /* struct srx_msg, likewise */
	struct sdr_slab recvs, msgs;
	size_t min_multi; /* bytes */
};

/*
 * Puts a receive in line, or to the message that waits for it.  rr: kind, flags (SDR_REL_R_MULTI or
 * 0), niov, iov, mem, tag, ignore, ctx, uflags; src: whose messages it takes, if the context is
 * directed.  0; -FI_EAGAIN: as many as its size are posted; -FI_EINVAL; -FI_ENOMEM.
 */
int sdr_srx_shared_post(struct sdr_srx_shared *x, const struct sdr_rel_rr *rr, fi_addr_t src);
/*
 * The oldest receive with this context that has met no message.  Its entry goes to the queue of an
 * endpoint that has one; to none while no endpoint is bound.  0 or -FI_ENOENT.
 */
int sdr_srx_shared_cancel(struct sdr_srx_shared *x, void *ctx);

#endif /* SDR_SRX_SHARED_H */
