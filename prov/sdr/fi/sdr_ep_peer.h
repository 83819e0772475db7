/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers of an endpoint by fi_addr (sdr_ep_peer.c).
 */
#ifndef SDR_EP_PEER_H
#define SDR_EP_PEER_H

#include "sdr_ep.h"

struct sdr_uc_addr;

struct sdr_peer *sdr_ep_peer_slow(struct sdr_ep *ep, fi_addr_t fi_addr);

static inline struct sdr_peer *sdr_ep_peer(struct sdr_ep *ep, fi_addr_t fi_addr)
{
	if (ep->mate)
		return ep->mate;
	if (fi_addr < ep->npeers && ep->peers[fi_addr])
		return ep->peers[fi_addr];
	return sdr_ep_peer_slow(ep, fi_addr);
}

/* Source of a received message, for FI_SOURCE; under lock. */
fi_addr_t sdr_ep_source(struct sdr_ep *ep, struct sdr_peer *peer);
/* Forgets what it knows of an address that leaves the vector. */
void sdr_ep_peer_forget(struct sdr_ep *ep, fi_addr_t fi_addr, const struct sdr_uc_addr *addr);

#endif /* SDR_EP_PEER_H */
