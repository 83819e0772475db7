/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Paths: which of its own GIDs an engine uses towards a peer, and the peer's.
 *
 * A GID of RoCEv2 is an IP address.  An engine that is bound to an address uses it for everybody;
 * one that is bound to all uses the kernel's routing, through a socket that is connected and sends
 * nothing, and takes the GID of the address that routing would send from.  A peer that routing
 * reaches through another interface cannot be reached with this device: that is said, not tried.
 * The next hop's link address is the kernel's to find, when it sees the path.  Hop limit 64, as IP
 * has it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sdr_verbs_impl.h"

static void sdr_verbs_path_fill(const struct sdr_verbs *v, int gid_index,
				const struct sdr_uc_addr *addr, struct ibv_ah_attr *ah)
{
	memset(ah, 0, sizeof(*ah));
	ah->is_global = 1;
	ah->port_num = v->port;
	ah->grh.sgid_index = (uint8_t)gid_index;
	ah->grh.hop_limit = 64;
	ah->grh.traffic_class = v->tclass;
	if (addr->b[0] == 4) {
		ah->grh.dgid.raw[10] = ah->grh.dgid.raw[11] = 0xff;
		memcpy(ah->grh.dgid.raw + 12, addr->b + 3, 4);
	} else {
		memcpy(ah->grh.dgid.raw, addr->b + 3, 16);
	}
}

/* The address that routing sends from towards this one, port 0. */
static int sdr_verbs_route(const struct sdr_uc_addr *to, struct sdr_uc_addr *from)
{
	struct sockaddr_storage sa, src;
	int ret = sdr_uc_addr_to_sockaddr(to, &sa);

	if (ret < 0)
		return ret;
	ret = sdr_uc_route((struct sockaddr *)&sa, &src);
	return ret ? ret : sdr_uc_addr_from_sockaddr(from, (struct sockaddr *)&src);
}

int sdr_verbs_path(struct sdr_verbs *v, const struct sdr_uc_addr *addr, struct ibv_ah_attr *ah)
{
	int gid_index = v->gid_index, ret;
	struct sdr_uc_addr from;
	char peer[64];
	uint32_t i;

	if (!addr->len || addr->b[0] != v->addr.b[0])
		return -EAFNOSUPPORT;
	if (v->any) {
		ret = sdr_verbs_route(addr, &from);
		if (ret)
			return ret;
		for (i = 0; i < v->nsrc && !sdr_uc_addr_equal(&v->src[i].addr, &from); i++)
			;
		if (i == v->nsrc) {
			sdr_uc_addr_format(addr, peer, sizeof(peer));
			snprintf(
				v->reason, sizeof(v->reason),
				"%s: %s is reached through another interface than the device's (ip route get): "
				"bind to an address of the device, or use FI_SDR_ENGINE=soft",
				v->device, peer);
			return -ENETUNREACH;
		}
		gid_index = v->src[i].gid_index;
	}
	sdr_verbs_path_fill(v, gid_index, addr, ah);
	return 0;
}

void sdr_verbs_path_self(const struct sdr_verbs *v, struct ibv_ah_attr *ah)
{
	sdr_verbs_path_fill(v, v->gid_index, &v->addr, ah);
}
