/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receive contexts: receives that are not an endpoint's own (sdr_srx.c).  Whose they are is a row
 * of struct sdr_srx_kind: those of another provider (sdr_srx_peer.c), or those that endpoints share
 * (sdr_srx_shared.c).
 */
#ifndef SDR_SRX_H
#define SDR_SRX_H

#include <stdatomic.h>
#include <stdbool.h>

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "rel/sdr_rel.h"

struct sdr_domain;
struct sdr_ep;
struct sdr_srx;

struct sdr_srx_kind {
	/* It is asked in calls of its own alone: posts run no round, and no thread does. */
	bool foreign;
	/* Of an endpoint with such receives (sdr_rel_attr.match). */
	const struct sdr_rel_match *match;
	/* Allocates, and sets what is its own of fid; 0 or -FI_E*. */
	int (*open)(struct sdr_domain *dom, struct fi_rx_attr *attr, void *context,
		    struct sdr_srx **srx);
	void (*close)(struct sdr_srx *srx);
	/* fi_ep_bind: 0, or the endpoint is none for it. */
	int (*bind)(struct sdr_srx *srx, struct sdr_ep *ep);
	/*
	 * The endpoint goes, and has no message left; without its lock, while its queues are still
	 * there.  NULL: nothing is known of it here.
	 */
	void (*leave)(struct sdr_srx *srx, struct sdr_ep *ep);
	/*
	 * The report of a receive of these (SDR_UF_LENT), as of one posted at the endpoint.  What
	 * it returns is given back when that has been passed on; nothing else is done in between.
	 */
	void *(*unwrap)(struct sdr_ep *ep, const struct sdr_rel_cqe *e, struct sdr_rel_cqe *mine);
	void (*give_back)(struct sdr_ep *ep, void *entry);
	/* The application's context of such a receive. */
	const void *(*context)(const void *ctx);
	/* As sdr_rel_recv_spend; NULL: never. */
	bool (*spend)(struct sdr_ep *ep, struct sdr_peer *peer, void **ctx);
	/* Addresses were inserted into the endpoint's vector; not under ep->lock. */
	void (*addrs)(struct sdr_ep *ep);
};

struct sdr_srx {
	struct fid_ep fid;
	const struct sdr_srx_kind *kind;
	struct sdr_domain *dom;
	atomic_int refs; /* endpoints */
};

extern const struct sdr_srx_kind sdr_srx_peer, sdr_srx_shared;

int sdr_srx_open(struct fid_domain *dom, struct fi_rx_attr *attr, struct fid_ep **srx,
		 void *context);
/* fi_ep_bind, before the endpoint is enabled; and its closing. */
int sdr_srx_bind(struct sdr_srx *srx, struct sdr_ep *ep);
void sdr_srx_unbind(struct sdr_ep *ep);

#endif /* SDR_SRX_H */
