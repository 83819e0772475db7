/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which message gets which receive of a context that endpoints share (sdr_srx_meet.c).
 */
#ifndef SDR_SRX_MEET_H
#define SDR_SRX_MEET_H

#include <rdma/fabric.h>

#include "rel/sdr_rel.h"

struct sdr_srx_shared;

/* The messages that its endpoints keep: there are none yet; there are none any more. */
void sdr_srx_kept_open(struct sdr_srx_shared *x);
void sdr_srx_kept_close(struct sdr_srx_shared *x);
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

/* Of an endpoint with such receives. */
extern const struct sdr_rel_match sdr_srx_match;
/*
 * Who sent them may be known by now: then the receives that were directed at those meet them.  From
 * inside a round, or with the endpoint's lock.
 */
void sdr_srx_renamed(void *ep);

#endif /* SDR_SRX_MEET_H */
