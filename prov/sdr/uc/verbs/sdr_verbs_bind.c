/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a verbs engine is bound to, and with which settings, before anything of the device is open.
 *
 * An engine is bound to one GID of one port, or to all of one family; the socket inside has the
 * same IP address.  What the device can do gives the settings that were left open: its port's MTU,
 * the way of giving leave to write (late).  A setting that cannot be had ends the opening, with a
 * reason that names the limit.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdr_verbs_impl.h"

/* Takes over what the engine is bound to, and the other addresses that it could be met at. */
static int sdr_verbs_bind(struct sdr_verbs *v, const struct sdr_uc_dev *list, unsigned int n,
			  const struct sdr_uc_dev *found, const struct sdr_verbs_attr *a)
{
	unsigned int i;

	v->src = calloc(n, sizeof(*v->src));
	if (!v->src)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (!strcmp(list[i].name, found->name) && list[i].port == found->port &&
		    list[i].addr.ss_family == found->addr.ss_family &&
		    !sdr_uc_addr_from_sockaddr(&v->src[v->nsrc].addr,
					       (const struct sockaddr *)&list[i].addr))
			v->src[v->nsrc++].gid_index = list[i].gid_index;
	snprintf(v->device, sizeof(v->device), "%s", found->name);
	v->port = found->port;
	v->gid_index = found->gid_index;
	v->mtu = found->mtu;
	sdr_uc_addr_from_sockaddr(&v->addr, (const struct sockaddr *)&found->addr);
	v->local = v->any ? a->bind : found->addr;
	/* The port lies at the same place in both families. */
	((struct sockaddr_in *)&v->local)->sin_port =
		((const struct sockaddr_in *)&a->bind)->sin_port;
	if (!a->late || !strcmp(a->late, "auto"))
		v->keys = !strcmp(found->late, "root") ? &sdr_verbs_keys_root
			  : !strcmp(found->late, "mw") ? &sdr_verbs_keys_mw
						       : &sdr_verbs_keys_mr;
	return 0;
}

int sdr_verbs_choose(struct sdr_verbs *v, const struct sdr_verbs_attr *a)
{
	struct sdr_uc_dev *list, *found = NULL;
	struct sdr_uc_addr want, have;
	unsigned int n, i;
	int ret;

	ret = sdr_verbs_list(&list, &n, v->reason, sizeof(v->reason));
	if (ret)
		return ret;
	ret = sdr_uc_addr_from_sockaddr(&want, (const struct sockaddr *)&a->bind);
	if (ret)
		goto out;
	for (v->any = true, i = 3; i < 19; i++)
		v->any &= !want.b[i];
	for (i = 0; i < n && !found; i++) {
		if (a->device && strcmp(list[i].name, a->device))
			continue;
		if (sdr_uc_addr_from_sockaddr(&have, (struct sockaddr *)&list[i].addr) ||
		    have.b[0] != want.b[0])
			continue;
		if (v->any || !memcmp(have.b + 3, want.b + 3, 16))
			found = &list[i];
	}
	if (found) {
		ret = sdr_verbs_bind(v, list, n, found, a);
		goto out;
	}
	ret = -ENODEV;
	if (!n && v->reason[0])
		goto out;
	if (a->device || !v->any)
		ret = -EADDRNOTAVAIL;
	snprintf(
		v->reason, sizeof(v->reason),
		"no active port of %s has this address as a RoCEv2 GID (rdma link; ibv_devinfo -v)",
		a->device ? a->device : "an RDMA device");
out:
	free(list);
	return ret;
}

int sdr_verbs_settings(struct sdr_verbs *v, const struct sdr_verbs_attr *a)
{
	uint32_t port = v->mtu;

	if (a->late && strcmp(a->late, "auto")) {
		v->keys = !strcmp(a->late, "mr")     ? &sdr_verbs_keys_mr
			  : !strcmp(a->late, "mw")   ? &sdr_verbs_keys_mw
			  : !strcmp(a->late, "root") ? &sdr_verbs_keys_root
						     : NULL;
		if (!v->keys) {
			snprintf(v->reason, sizeof(v->reason),
				 "late packets: \"%s\" is none of auto, root, mw, mr", a->late);
			return -EINVAL;
		}
	}
	if (a->mtu && (a->mtu < SDR_MTU_MIN || a->mtu > port || a->mtu % 4)) {
		snprintf(
			v->reason, sizeof(v->reason),
			"mtu %u: expected a multiple of 4 from %u to the port's active MTU of %u bytes, or 0",
			a->mtu, SDR_MTU_MIN, port);
		return -EMSGSIZE;
	}
	v->port_mtu = port >= 4096   ? IBV_MTU_4096
		      : port >= 2048 ? IBV_MTU_2048
		      : port >= 1024 ? IBV_MTU_1024
		      : port >= 512  ? IBV_MTU_512
				     : IBV_MTU_256;
	v->mtu = a->mtu ? a->mtu : port;
	v->ctl_bound = a->mtu ? sdr_uc_ctl_of_mtu(a->mtu) : SDR_CTL_MAX;
	v->rx_depth = a->rx_depth ? a->rx_depth : SDR_VERBS_RX_DEPTH;
	v->tclass = (uint8_t)(a->dscp << 2);
	v->tx_depth = a->tx_depth ? a->tx_depth : SDR_VERBS_TX_DEPTH;
	if (v->rx_depth > SDR_UC_DEPTH_MAX || v->tx_depth > SDR_UC_DEPTH_MAX ||
	    v->rx_depth < SDR_VERBS_BATCH) {
		snprintf(v->reason, sizeof(v->reason),
			 "queue depths %u and %u: expected %u to %u receives, up to %u sends",
			 v->rx_depth, v->tx_depth, SDR_VERBS_BATCH, SDR_UC_DEPTH_MAX,
			 SDR_UC_DEPTH_MAX);
		return -EINVAL;
	}
	if (a->workers > SDR_WORKERS_MAX) {
		snprintf(v->reason, sizeof(v->reason), "workers %u: expected 0 to %u", a->workers,
			 SDR_WORKERS_MAX);
		return -EINVAL;
	}
	while (v->tx_depth & (v->tx_depth - 1)) /* rings: a power of two */
		v->tx_depth += v->tx_depth & -v->tx_depth;
	v->inl = SDR_VERBS_INLINE;
	return 0;
}
