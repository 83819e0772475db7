/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Posting (sdr_post.c), and the tables of calls that do (sdr_msg.c, sdr_tagged.c, sdr_rma.c,
 * sdr_atomic.c).
 */
#ifndef SDR_POST_H
#define SDR_POST_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "rel/sdr_rel.h"

struct sdr_ep;

/*
 * Posting (sdr_post.c).  The caller fills kind, iov, niov, tag, data, rma_*, ctx; flags are
 * libfabric's. inject: no CQ entry.  desc: of each iov, NULL none.
 */
ssize_t sdr_ep_post(struct sdr_ep *ep, struct sdr_rel_wr *wr, fi_addr_t dest, uint64_t flags,
		    void *const *desc);
ssize_t sdr_ep_post_inject(struct sdr_ep *ep, struct sdr_rel_wr *wr, fi_addr_t dest,
			   uint64_t flags);
ssize_t sdr_ep_post_recv(struct sdr_ep *ep, struct sdr_rel_rr *rr, fi_addr_t src, uint64_t flags,
			 void *const *desc);

/* Where the buffers of an operation with FI_HMEM lie; desc as above.  0, -FI_EINVAL or -FI_E*. */
int sdr_post_mem(const struct sdr_rel_iov *iov, unsigned int n, void *const *desc,
		 const struct sdr_mem **mem);

/* niov, or -FI_EINVAL when there are more than SDR_REL_IOV_MAX. */
static inline int sdr_iov_copy(struct sdr_rel_iov *to, const struct iovec *from, size_t count)
{
	size_t i;

	if (count > SDR_REL_IOV_MAX)
		return -FI_EINVAL;
	for (i = 0; i < count; i++) {
		to[i].buf = from[i].iov_base;
		to[i].len = from[i].iov_len;
	}
	return (int)count;
}

extern struct fi_ops_msg sdr_msg_ops;
extern struct fi_ops_tagged sdr_tagged_ops;
extern struct fi_ops_rma sdr_rma_ops;
extern struct fi_ops_atomic sdr_atomic_ops;

#endif /* SDR_POST_H */
