/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * From an endpoint's domain and settings to its engine, with fault injection over it, and the SDK's
 * context on top.  Which engines there are is the registry's (uc/sdr_uc_registry.h).
 *
 * A device that was not named gives way to the engine that serves any address, at the same one,
 * when it cannot be opened, with a warning that says why; one that was chosen, by FI_SDR_ENGINE or
 * by the domain's name, is an error.  Settings that do not go together are found here, before
 * anything is open: they can still be changed.  Opened once, by fi_enable or by a call that needs
 * the endpoint's name, under ep->lock.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "sdk/sdr_sdk.h"
#include "uc/sdr_uc.h"
#include "uc/sdr_uc_addr.h"
#include "uc/sdr_uc_open.h"
#include "uc/sdr_uc_registry.h"

#include "sdr_ep_engine.h"
#include "sdr_env.h"
#include "sdr_ep.h"
#include "sdr_ep_addr.h"
#include "sdr_ep_sources.h"
#include "sdr_iface.h"
#include "sdr_prov.h"
#include "sdr_held.h"

#define SDR_EP_TEXT 384u /* bytes of sdr_ep_addr_text */

/*
 * The engine of the settings, or else the domain's; *e: what was tried last, *what: its name in
 * front of an address.
 */
static int sdr_ep_open_uc(struct sdr_ep *ep, struct sdr_uc_open_attr *attr,
			  const struct sdr_uc_engine **e, const char **what, struct sdr_uc **uc)
{
	const struct sdr_uc_engine *only = sdr_env_engine(&ep->env), *any = sdr_uc_engine_any();
	int ret;

	*e = only ? only : ep->dom->engine;
	if ((*e)->probe) {
		attr->device = ep->dom->device[0] ? ep->dom->device : NULL;
		*what = attr->device ? attr->device : (*e)->one;
		ret = sdr_uc_open_engine(*e, attr, uc);
		if (!ret || only || ep->dom->device_asked)
			return ret;
		sdr_warn_once(
			"cannot use %s, takes %s instead: %s%s%s (FI_SDR_ENGINE=%s takes it at once)",
			*what, any->one, fi_strerror(-ret), attr->err[0] ? ": " : "", attr->err,
			any->name);
		attr->err[0] = 0;
		attr->device = NULL;
		*e = any;
	}
	*what = (*e)->what;
	return sdr_uc_open_engine(*e, attr, uc);
}

/*
 * At the port that was asked for, or FI_SDR_PORT, or where that is taken one of the range.  *hint:
 * what to do when all of that is in use.
 */
static int sdr_ep_open_port(struct sdr_ep *ep, struct sdr_uc_open_attr *attr,
			    const struct sdr_uc_engine **e, const char **what, const char **hint,
			    struct sdr_uc **uc)
{
	bool asked = sdr_sockaddr_port((struct sockaddr *)&attr->bind), range = ep->env.ports.lo;
	int ret;

	*hint = range ? "FI_SDR_PORT_RANGE: a wider one has room for more endpoints; ss -ulpn shows "
			"who has its ports"
		      : "another process has it: ss -ulpn shows which";
	if (asked || !ep->env.port)
		return sdr_ep_open_uc(ep, attr, e, what, uc);
	sdr_sockaddr_port_set((struct sockaddr *)&attr->bind, ep->env.port);
	ret = sdr_ep_open_uc(ep, attr, e, what, uc);
	if (ret == -EADDRINUSE && range) {
		sdr_sockaddr_port_set((struct sockaddr *)&attr->bind, 0);
		attr->err[0] = 0;
		return sdr_ep_open_uc(ep, attr, e, what, uc);
	}
	*hint = "FI_SDR_PORT is one endpoint's, of this process or another (ss -ulpn shows which): "
		"FI_SDR_PORT_RANGE has ports for more";
	return ret;
}

/* What limits the engine here, once a process: all endpoints have it in common. */
static void sdr_ep_note(const char *note)
{
	static atomic_bool said;

	if (note && !atomic_exchange(&said, true))
		FI_INFO(&sdr_prov, FI_LOG_EP_CTRL, "%s\n", note);
}

int sdr_ep_engine_open(struct sdr_ep *ep)
{
	SDR_ASSERT_HELD(&ep->lock);
	struct sdr_dev_attr dev = { .size = sizeof(dev), .mtu = ep->env.rel.mtu };
	char err[SDR_ENV_ERR] = "", name[SDR_EP_ADDR_TEXT] = "", text[SDR_EP_TEXT];
	struct sdr_uc_open_attr attr = {
		.port_lo = ep->env.ports.lo,
		.port_hi = ep->env.ports.hi,
		.mtu = ep->env.rel.mtu,
		.fault = ep->env.fault,
		.channels = ep->env.rel.channels,
		.workers = ep->env.workers,
		.no_ecn = ep->env.rel.no_ecn,
		.dscp = ep->env.dscp,
		.late = ep->env.late,
		.rx_depth = ep->env.rx_depth,
		.tx_depth = ep->env.tx_depth,
		.err = err,
		.err_len = sizeof(err),
	};
	const struct sdr_uc_engine *e;
	const char *what = "", *hint = "";
	struct sockaddr_storage more[SDR_PATHS_MAX];
	struct sdr_uc *uc;
	struct sdr_uc_addr addr;
	struct sdr_uc_info info;
	uint64_t rand[4]; /* the context's, the seed of faults, and of names of shared memory */
	int ret;

	if (ep->ctx)
		return 0;
	if (sdr_env_check(&ep->env, err, sizeof(err))) { /* settings of this endpoint alone */
		sdr_warn_once("%s", err);
		return -FI_EINVAL;
	}
	ret = sdr_ep_addr_choose(ep, &attr.bind, err, sizeof(err));
	if (ret) {
		sdr_warn_once("cannot open an endpoint: %s", err[0] ? err : fi_strerror(-ret));
		return ret;
	}
	if (getrandom(rand, sizeof(rand), 0) != sizeof(rand))
		return -FI_EIO;
	attr.seed = rand[2];
	attr.shm = ep->env.no_shm ? 0 : rand[3] | 1;
	attr.more = more;
	attr.nmore = sdr_ep_sources(ep, &attr.bind, more);
	ret = sdr_ep_open_port(ep, &attr, &e, &what, &hint, &uc);
	if (ret)
		goto warn;
	uc->ops->sockname(uc, &addr);
	sdr_ep_addr_bound(ep, &addr);
	ep->ctx = sdr_context_create_on(uc, &dev, rand);
	if (!ep->ctx) {
		uc->ops->close(uc);
		return errno ? -errno : -FI_ENOMEM;
	}
	ep->uc = uc;
	ep->fd = sdr_context_fd(ep->ctx);
	uc->ops->info(uc, &info);
	sdr_ep_addr_text(ep, text, sizeof(text));
	FI_INFO(&sdr_prov, FI_LOG_EP_CTRL,
		"endpoint %s, engine %s%s%s, %u bytes per packet, late packets: %s\n", text,
		info.name, e->probe ? " on " : "", e->probe ? ep->dom->device : "", info.mtu,
		info.late);
	sdr_ep_sources_say(uc, attr.nmore, err);
	sdr_ep_note(info.note);
	return 0;
warn:
	if (sdr_uc_addr_from_sockaddr(&addr, (struct sockaddr *)&attr.bind) == 0)
		sdr_uc_addr_format(&addr, name, sizeof(name));
	if (ret != -EADDRINUSE)
		hint = "";
	sdr_warn_once("cannot open %s %s: %s%s%s%s%s%s", what, name, fi_strerror(-ret),
		      err[0] ? ": " : "", err, *hint ? " (" : "", hint, *hint ? ")" : "");
	return ret;
}
