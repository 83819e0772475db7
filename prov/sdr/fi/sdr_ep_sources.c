/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where an endpoint's paths begin (FI_SDR_PATHS): the first at the address and port that it has,
 * each further one at a source of its own.
 *
 * Who names several interfaces in FI_SDR_IFACE has rails: the sources are at their addresses in
 * turn, the endpoint's own first, so that with two of them every other path takes the second.
 * Otherwise, and of an endpoint at all addresses, they are further ports of the endpoint's address:
 * nothing is sent over an interface that nobody asked for, and routers that hash ports still spread
 * the paths.  What cannot be opened is left out by the engine, with one warning, as an endpoint
 * needs no more than one.  Devices have one source, and datagram endpoints no paths.
 *
 * No state; the caller holds ep->lock.
 */
#include <stdio.h>
#include <stdlib.h>

#include "uc/sdr_uc_addr.h"
#include "uc/sdr_uc_net.h"

#include "sdr_ep.h"
#include "sdr_ep_sources.h"
#include "sdr_iface.h"
#include "sdr_iface_pick.h"
#include "sdr_prov.h"

#define SDR_EP_SOURCES_TEXT (SDR_PATHS_MAX * SDR_EP_ADDR_TEXT)

/* One address of each other interface that paths may take; 0: the endpoint's own is the only. */
static unsigned int sdr_ep_rails(const struct sdr_ep *ep, const struct sockaddr *bind,
				 struct sockaddr_storage *rail, unsigned int max)
{
	unsigned int n, allowed, count = 0;
	struct sdr_iface_rules r;
	struct sdr_iface *v;
	char why[SDR_ENV_ERR];

	if (!ep->env.iface[0] || sdr_sockaddr_any(bind) ||
	    sdr_iface_rules_parse(ep->env.iface, &r, why, sizeof(why)))
		return 0;
	if (!sdr_iface_list_picked(&r, &v, &n, &allowed))
		count = sdr_iface_rails(&r, v, allowed, sdr_iface_find(v, allowed, bind), rail,
					max);
	free(v);
	return count;
}

uint8_t sdr_ep_sources(const struct sdr_ep *ep, const struct sockaddr_storage *bind,
		       struct sockaddr_storage *more)
{
	struct sockaddr_storage rail[SDR_PATHS_MAX];
	unsigned int rails, i;

	if (ep->env.rel.paths <= 1 || ep->type == FI_EP_DGRAM)
		return 0;
	rail[0] = *bind;
	sdr_sockaddr_port_set((struct sockaddr *)&rail[0], 0);
	rails = 1 + sdr_ep_rails(ep, (const struct sockaddr *)bind, &rail[1], SDR_PATHS_MAX - 1);
	for (i = 1; i < ep->env.rel.paths; i++)
		more[i - 1] = rail[i % rails];
	return (uint8_t)(i - 1);
}

void sdr_ep_sources_say(struct sdr_uc *uc, uint8_t asked, const char *err)
{
	char list[SDR_EP_SOURCES_TEXT] = "", text[SDR_EP_ADDR_TEXT];
	struct sdr_uc_addr addr;
	struct sdr_uc_info info;
	size_t at = 0;
	uint32_t i;

	if (!asked)
		return;
	uc->ops->info(uc, &info);
	if (*err)
		sdr_warn_once(
			"an endpoint has %u of the %u paths of FI_SDR_PATHS: %s; name interfaces that "
			"are up (FI_SDR_IFACE), give it more ports (FI_SDR_PORT_RANGE), or ask for fewer",
			info.sources, asked + 1u, err);
	for (i = 0; uc->ops->source && i < info.sources && at < sizeof(list); i++) {
		uc->ops->source(uc, i, &addr);
		sdr_uc_addr_format(&addr, text, sizeof(text));
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", i ? ", " : "", text);
	}
	if (info.sources > 1)
		FI_INFO(&sdr_prov, FI_LOG_EP_CTRL, "paths begin at %s\n", list);
}
