/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receive contexts that endpoints share (sdr_srx_shared.c), for what posts to them
 * (sdr_srx_post.c), what meets there (sdr_srx_meet.c) and its receives (sdr_srx_recv.c).
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
	struct sdr_list posted[2]; /* struct sdr_srx_recv; untagged, tagged: the oldest first */
	uint64_t turns;		   /* receives that were posted so far */
	struct sdr_list kept[2];   /* struct srx_msg, likewise */
	struct sdr_slab recvs, msgs;
	size_t min_multi; /* bytes */
};

/* Which of the two lines: of receives, and of messages, of this kind. */
static inline unsigned int sdr_srx_line(uint8_t kind)
{
	return kind == SDR_REL_TRECV;
}

#endif /* SDR_SRX_SHARED_H */
