/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The peers of an endpoint, kept by the address that is sent to, which is not always the one in the
 * vector (sdr_ep_addr_home).  They are found by fi_addr in an array that the endpoint fills as
 * addresses are used; the other way round, for FI_SOURCE, the peer carries its fi_addr.  Each entry
 * holds its peer until the address leaves the vector or the endpoint is closed.  Under the
 * endpoint's lock, which sdr_ep_peer_forget takes itself.
 */
#include <stdlib.h>
#include <string.h>

#include "uc/sdr_uc.h"

#include "sdr_ep_addr.h"
#include "sdr_ep_peer.h"
#include "sdr_av_table.h"
#include "sdr_held.h"

struct sdr_peer *sdr_ep_peer_slow(struct sdr_ep *ep, fi_addr_t fi_addr)
{
	struct sdr_uc_addr addr;
	struct sdr_peer **v, *peer;
	uint32_t n = ep->npeers ? ep->npeers : 64;

	SDR_ASSERT_HELD(&ep->lock);
	if (!ep->av || sdr_av_addr(ep->av, fi_addr, &addr))
		return NULL;
	while (n <= fi_addr)
		n *= 2;
	if (n != ep->npeers) {
		v = realloc(ep->peers, n * sizeof(*v));
		if (!v)
			return NULL;
		memset(v + ep->npeers, 0, (n - ep->npeers) * sizeof(*v));
		ep->peers = v;
		ep->npeers = n;
	}
	(void)sdr_ep_addr_home(ep, &addr);
	peer = sdr_rel_peer(ep->rel, &addr);
	if (peer) {
		sdr_ep_addr_way(ep, &addr);
		ep->peers[fi_addr] = peer;
		if (sdr_peer_user(peer) == UINT64_MAX)
			sdr_peer_user_set(peer, fi_addr);
	}
	return peer;
}

void sdr_ep_peer_forget(struct sdr_ep *ep, fi_addr_t fi_addr, const struct sdr_uc_addr *addr)
{
	struct sdr_peer *peer, **held;
	struct sdr_uc_addr home = *addr;

	pthread_mutex_lock(&ep->lock);
	(void)sdr_ep_addr_home(ep, &home);
	peer = ep->rel ? sdr_rel_peer_find(ep->rel, &home) : NULL;
	if (peer && sdr_peer_user(peer) == fi_addr) /* perhaps known as a source only */
		sdr_peer_user_set(peer, UINT64_MAX);
	held = fi_addr < ep->npeers ? &ep->peers[fi_addr] : NULL;
	if (held && *held) {
		sdr_rel_peer_put(*held);
		*held = NULL;
	}
	pthread_mutex_unlock(&ep->lock);
}

fi_addr_t sdr_ep_source(struct sdr_ep *ep, struct sdr_peer *peer)
{
	struct sdr_uc_addr name;
	uint64_t a;

	SDR_ASSERT_HELD(&ep->lock);
	if (!ep->want_src || !peer || !ep->av)
		return FI_ADDR_NOTAVAIL;
	a = sdr_peer_user(peer);
	if (a == UINT64_MAX) {
		name = *sdr_peer_addr(peer);
		a = sdr_av_find(ep->av, &name);
		if (a == FI_ADDR_NOTAVAIL && sdr_ep_addr_away(ep, &name))
			a = sdr_av_find(ep->av, &name);
		if (a != FI_ADDR_NOTAVAIL)
			sdr_peer_user_set(peer, a);
	}
	return sdr_av_user_id(ep->av, a);
}
