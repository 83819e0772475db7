/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Imported receive contexts (sdr_srx.c).
 */
#ifndef SDR_SRX_H
#define SDR_SRX_H

#include <stdatomic.h>

#include <rdma/fi_domain.h>

#include "rel/sdr_rel.h"

#include "sdr_peer_api.h"

struct sdr_domain;
struct sdr_ep;

struct sdr_srx {
	struct fid_ep fid;
	struct sdr_domain *dom;
	atomic_int refs; /* endpoints */
	struct fid_peer_srx *owner;
	struct fi_ops_srx_peer ops; /* what the owner calls */
};

int sdr_srx_open(struct fid_domain *dom, struct fi_rx_attr *attr, struct fid_ep **srx,
		 void *context);
/* fi_ep_bind. */
int sdr_srx_bind(struct sdr_srx *srx, struct sdr_ep *ep);
/* For an endpoint with an imported receive context (sdr_rel_attr.match). */
extern const struct sdr_rel_match sdr_srx_match;
/*
 * The report of a receive of the owner's (SDR_UF_LENT), as of one posted here; what it returns is
 * given back when that has been passed on.
 */
struct fi_peer_rx_entry *sdr_srx_unwrap(const struct sdr_rel_cqe *e, struct sdr_rel_cqe *mine);
void sdr_srx_give_back(struct sdr_ep *ep, struct fi_peer_rx_entry *entry);
/* Addresses were inserted into the endpoint's vector; not under ep->lock. */
void sdr_srx_addrs(struct sdr_ep *ep);

#endif /* SDR_SRX_H */
