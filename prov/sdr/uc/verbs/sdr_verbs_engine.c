/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The verbs engine's row of the registry, the same in builds with and without libibverbs: without
 * it there are no devices, and the reason is given (sdr_verbs_none.c).
 */
#include "uc/soft/sdr_soft.h"
#include "sdr_verbs.h"

static int sdr_verbs_probe(struct sdr_uc_dev **v, unsigned int *n, char *err, size_t err_len)
{
	int ret = sdr_verbs_list(v, n, err, err_len);
	unsigned int i;

	for (i = 0; !ret && i < *n; i++)
		(*v)[i].engine = &sdr_verbs_engine;
	return ret;
}

/* What the socket carries, and a packet of the device if control goes through it. */
static uint32_t sdr_verbs_ctl_max(const struct sockaddr *from, const struct sdr_uc_dev *dev)
{
	uint32_t room = sdr_soft_engine.ctl_max(from, NULL);

	return dev && dev->mtu >= SDR_CTL_MIN && room > dev->mtu ? dev->mtu : room;
}

static int sdr_verbs_engine_open(const struct sdr_uc_open_attr *a, struct sdr_uc **uc)
{
	struct sdr_verbs_attr va = {
		.device = a->device,
		.bind = a->bind,
		.port_lo = a->port_lo,
		.port_hi = a->port_hi,
		.mtu = a->mtu,
		.dscp = a->dscp,
		.late = a->late,
		.rx_depth = a->rx_depth,
		.tx_depth = a->tx_depth,
		.workers = a->workers,
		.err = a->err,
		.err_len = a->err_len,
	};

	return sdr_verbs_open(&va, uc);
}

const struct sdr_uc_engine sdr_verbs_engine = {
	.name = "verbs",
	.is = "an RDMA device",
	.one = "an RDMA device",
	.what = "RDMA device",
	.look = "ibv_devinfo -v lists the GIDs",
	.names = "verbs, verbs:DEVICE or verbs:DEVICE:ADDRESS[:PORT]",
	.probe = sdr_verbs_probe,
	.ctl_max = sdr_verbs_ctl_max,
	.open = sdr_verbs_engine_open,
	.mem_reg = sdr_verbs_mem_reg,
	.mem_dereg = sdr_verbs_mem_dereg,
};
