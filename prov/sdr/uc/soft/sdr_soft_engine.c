/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The soft engine's rows of the registry. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>

#include "uc/sdr_uc_net.h"
#include "sdr_soft.h"
#include "sdr_soft_net.h"

static uint32_t sdr_soft_ctl_max(const struct sockaddr *from, const struct sdr_uc_dev *dev)
{
	uint32_t head = sdr_uc_head(from->sa_family) + SDR_CTL_OVERHEAD, room;
	int mtu = sdr_uc_device_mtu(from);

	(void)dev;
	room = mtu > (int)(head + SDR_CTL_MIN) ? ((uint32_t)mtu - head) & ~3u : SDR_CTL_MIN;
	return room < SDR_CTL_MAX ? room : SDR_CTL_MAX;
}

static int sdr_soft_open_over(const struct sdr_soft_net *net, const struct sdr_uc_open_attr *a,
			      struct sdr_uc **uc)
{
	struct sdr_soft_attr sa = {
		.bind = a->bind,
		.net = net,
		.port_lo = a->port_lo,
		.port_hi = a->port_hi,
		.more = a->more,
		.nmore = a->nmore,
		.mtu = a->mtu,
		.rcvbuf = a->rcvbuf,
		.sndbuf = a->sndbuf,
		.channels = a->channels,
		.workers = a->workers,
		.off = (uint8_t)(a->off | (a->no_ecn ? SDR_SOFT_NO_ECN : 0)),
		.dscp = a->dscp,
		.shm = a->shm,
		.err = a->err,
		.err_len = a->err_len,
	};

	return sdr_soft_open(&sa, uc);
}

static int sdr_soft_engine_open(const struct sdr_uc_open_attr *a, struct sdr_uc **uc)
{
	return sdr_soft_open_over(&sdr_soft_net_udp, a, uc);
}

/* There are no addresses but numbers of ports. */
static int sdr_soft_mem_open(const struct sdr_uc_open_attr *a, struct sdr_uc **uc)
{
	struct sdr_uc_open_attr mem = *a;
	struct sockaddr_in *in = (void *)&mem.bind;

	if (a->bind.ss_family != AF_INET) {
		if (a->err)
			snprintf(a->err, a->err_len, "expected mem, or mem:0.0.0.0:PORT");
		return -EAFNOSUPPORT;
	}
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sdr_soft_open_over(&sdr_soft_net_mem, &mem, uc);
}

const struct sdr_uc_engine sdr_soft_engine = {
	.name = "soft",
	.is = "RoCEv2 over a UDP socket",
	.one = "a UDP socket",
	.what = "UDP port",
	.look = "ip address lists them",
	.names = "soft, soft:ADDRESS, soft:ADDRESS:PORT",
	.ctl_max = sdr_soft_ctl_max,
	.open = sdr_soft_engine_open,
};

const struct sdr_uc_engine sdr_soft_mem_engine = {
	.name = "mem",
	.is = "memory of this process",
	.one = "a ring",
	.what = "port",
	.look = "there are no addresses but ports",
	.names = "mem, mem:0.0.0.0:PORT",
	.ctl_max = sdr_soft_ctl_max,
	.open = sdr_soft_mem_open,
};
