/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * From an endpoint's domain and settings to its engine: a device or a UDP socket, with fault
 * injection over it, and the SDK's context on top.
 *
 * A device that nobody named gives way to a socket at the same address when it cannot be opened,
 * with a warning that says why; one that was asked for, by FI_SDR_ENGINE or by the domain's name,
 * is an error.  Settings that do not go together are found here, before anything is open: they can
 * still be changed.  Opened once, by fi_enable or by whoever asks for the endpoint's name, under
 * ep->lock.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "sdk/sdr_sdk.h"
#include "uc/fault/sdr_fault.h"
#include "uc/sdr_uc.h"
#include "uc/sdr_uc_addr.h"
#include "uc/soft/sdr_soft.h"

#include "sdr_ep_engine.h"
#include "sdr_env.h"
#include "sdr_ep.h"
#include "sdr_prov.h"

static int sdr_ep_open_verbs(struct sdr_ep *ep, struct sdr_uc **uc, char *err, size_t err_len)
{
	struct sdr_verbs_attr attr = {
		.device = ep->dom->device[0] ? ep->dom->device : NULL,
		.bind = ep->src,
		.mtu = ep->env.rel.mtu,
		.late = ep->env.late,
		.rx_depth = ep->env.rx_depth,
		.tx_depth = ep->env.tx_depth,
		.err = err,
		.err_len = err_len,
	};

	return sdr_verbs_open(&attr, uc);
}

static int sdr_ep_open_soft(struct sdr_ep *ep, struct sdr_uc **uc, char *err, size_t err_len)
{
	struct sdr_soft_attr attr = {
		.bind = ep->src,
		.mtu = ep->env.rel.mtu,
		.channels = ep->env.rel.channels,
		.err = err,
		.err_len = err_len,
	};

	return sdr_soft_open(&attr, uc);
}

/* The engine of the domain and the settings; *what: words for what was tried last. */
static int sdr_ep_open_uc(struct sdr_ep *ep, struct sdr_uc **uc, const char **what, char *err,
			  size_t err_len)
{
	bool only = ep->env.engine == SDR_ENGINE_VERBS || ep->dom->device_asked;
	int ret;

	if (ep->env.engine == SDR_ENGINE_VERBS ||
	    (ep->env.engine == SDR_ENGINE_AUTO && ep->dom->device[0])) {
		*what = ep->dom->device[0] ? ep->dom->device : "an RDMA device";
		ret = sdr_ep_open_verbs(ep, uc, err, err_len);
		if (!ret || only)
			return ret;
		sdr_warn_once(
			"cannot use %s, takes a UDP socket instead: %s%s%s (FI_SDR_ENGINE=soft takes it at once)",
			*what, fi_strerror(-ret), err[0] ? ": " : "", err);
		err[0] = 0;
	}
	*what = "UDP port";
	return sdr_ep_open_soft(ep, uc, err, err_len);
}

int sdr_ep_engine_open(struct sdr_ep *ep)
{
	struct sdr_dev_attr dev = { .size = sizeof(dev), .mtu = ep->env.rel.mtu };
	char err[SDR_ENV_ERR] = "", name[64] = "";
	struct sdr_uc *inner, *uc;
	const char *what = "";
	struct sdr_uc_addr addr;
	struct sdr_uc_info info;
	uint64_t rand[3]; /* the context's, and the seed of faults */
	int ret;

	if (ep->ctx)
		return 0;
	if (sdr_env_check(&ep->env, err, sizeof(err))) { /* settings of this endpoint alone */
		sdr_warn_once("%s", err);
		return -FI_EINVAL;
	}
	if (getrandom(rand, sizeof(rand), 0) != sizeof(rand))
		return -FI_EIO;
	ret = sdr_ep_open_uc(ep, &inner, &what, err, sizeof(err));
	if (ret)
		goto warn;
	inner->ops->sockname(inner, &addr);
	memset(&ep->src, 0, sizeof(ep->src));
	sdr_uc_addr_to_sockaddr(&addr, &ep->src);
	uc = inner;
	if (ep->env.fault[0]) {
		ret = sdr_fault_open(inner, ep->env.fault, rand[2], &uc, err, sizeof(err));
		if (ret) {
			inner->ops->close(inner);
			goto warn;
		}
	}
	ep->ctx = sdr_context_create_on(uc, &dev, rand);
	if (!ep->ctx) {
		uc->ops->close(uc);
		return errno ? -errno : -FI_ENOMEM;
	}
	ep->uc = uc;
	ep->fd = sdr_context_fd(ep->ctx);
	uc->ops->info(uc, &info);
	FI_INFO(&sdr_prov, FI_LOG_EP_CTRL,
		"endpoint: engine %s%s%s, %u bytes a packet, late packets: %s\n", info.name,
		strcmp(info.name, "soft") ? " on " : "",
		strcmp(info.name, "soft") ? ep->dom->device : "", info.mtu, info.late);
	return 0;
warn:
	if (sdr_uc_addr_from_sockaddr(&addr, (struct sockaddr *)&ep->src) == 0)
		sdr_uc_addr_format(&addr, name, sizeof(name));
	sdr_warn_once("cannot open %s %s: %s%s%s%s", what, name, fi_strerror(-ret),
		      err[0] ? ": " : "", err,
		      ret == -EADDRINUSE ? " (another process has it: ss -ulpn shows which)" : "");
	return ret;
}
