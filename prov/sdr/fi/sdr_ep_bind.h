/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What an endpoint is bound to (sdr_ep_bind.c).
 */
#ifndef SDR_EP_BIND_H
#define SDR_EP_BIND_H

#include <stdint.h>

#include <rdma/fabric.h>

struct sdr_ep;

/* fi_ep_bind; when it is enabled counters alone. */
int sdr_ep_bind(struct fid *ep, struct fid *bfid, uint64_t flags);
/* The endpoint closes: nothing that is read drives it any more. */
void sdr_ep_bind_leave(struct sdr_ep *ep);
/*
 * It has closed: queues and counters may go, too.  Those who slept on them look again: an
 * application may want to know that nothing comes from here any more.
 */
void sdr_ep_bind_end(struct sdr_ep *ep);

#endif /* SDR_EP_BIND_H */
