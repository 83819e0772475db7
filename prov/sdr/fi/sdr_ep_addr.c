/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where an endpoint is bound, and by which name others know it.
 *
 * What the application says wins (src_addr of the info, fi_setname): its address and its port, each
 * where it is not 0.  Where it says nothing the settings do: FI_SDR_BIND the address, FI_SDR_PORT
 * and FI_SDR_PORT_RANGE the port (sdr_ep_engine.c).  FI_SDR_IFACE holds for both: an address that
 * it excludes is an error, and "all addresses" of the application becomes the first that it
 * allows; only FI_SDR_BIND=0.0.0.0 or :: is all of them nevertheless.
 *
 * An endpoint sends from the address that it is bound to, and routing chooses the way by the
 * destination; nothing here ties it to a device, since peers of the same host are reached over
 * loopback.  An endpoint that is bound to all addresses sends from the one that routing chooses
 * for each peer, and has a single name all the same: the first address in the order of
 * sdr_iface_pick.c, settled when the engine opens.  FI_SDR_ADVERTISE replaces the name and nothing
 * else.  No threads; the caller holds ep->lock.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uc/sdr_uc_addr.h"
#include "uc/sdr_uc_net.h"

#include "sdr_ep.h"
#include "sdr_ep_addr.h"
#include "sdr_iface.h"
#include "sdr_iface_pick.h"
#include "sdr_prov.h"

static struct sockaddr *sdr_sa(const struct sockaddr_storage *sa)
{
	return (struct sockaddr *)(uintptr_t)sa;
}

int sdr_ep_addr_init(struct sdr_ep *ep, const struct fi_info *info)
{
	if (!info->src_addr) {
		ep->src.ss_family = info->addr_format == FI_SOCKADDR_IN6 ? AF_INET6 : AF_INET;
		return 0;
	}
	return sdr_ep_addr_set(ep, info->src_addr, info->src_addrlen);
}

int sdr_ep_addr_set(struct sdr_ep *ep, const void *addr, size_t len)
{
	struct sockaddr_storage sa;

	memset(&sa, 0, sizeof(sa));
	if (len < sizeof(sa.ss_family))
		return -FI_EINVAL;
	memcpy(&sa, addr, len < sizeof(sa) ? len : sizeof(sa));
	if (!sdr_sockaddr_len(sdr_sa(&sa)) || len < sdr_sockaddr_len(sdr_sa(&sa)))
		return -FI_EINVAL;
	if (ep->ctx)
		return -FI_EOPBADSTATE; /* the port is bound */
	ep->src = sa;
	return 0;
}

/* Another address, the same port. */
static void sdr_src_move(struct sockaddr_storage *src, const struct sockaddr_storage *to)
{
	uint16_t port = sdr_sockaddr_port(sdr_sa(src));

	*src = *to;
	sdr_sockaddr_port_set(sdr_sa(src), port);
}

static const struct sdr_iface *sdr_src_first(const struct sockaddr_storage *src,
					     const struct sdr_iface *v, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (v[i].addr.ss_family == src->ss_family)
			return &v[i];
	}
	return NULL;
}

/* Why this address, as far as can be told from it. */
static const char *sdr_src_why(const struct sdr_env *env, const struct sdr_iface_rules *r,
			       const struct sockaddr_storage *src, const struct sdr_iface *f)
{
	if (!sdr_sockaddr_any(sdr_sa(src)) && sdr_sockaddr_same_ip(sdr_sa(&env->bind), sdr_sa(src)))
		return "FI_SDR_BIND";
	if (r->named)
		return "FI_SDR_IFACE";
	if (f->loopback)
		return "loopback";
	return f->order[4] ? "as asked for" : "default route";
}

/* By the interfaces that there are: v, of which the rules allow the first n. */
static int sdr_src_choose(struct sdr_ep *ep, const struct sdr_iface_rules *r,
			  const struct sdr_iface *v, unsigned int n, unsigned int all,
			  struct sockaddr_storage *src, char *err, size_t err_len)
{
	bool any = sdr_sockaddr_any(sdr_sa(src));
	const struct sdr_iface *f, *out;
	char list[SDR_IFACE_TEXT], text[INET6_ADDRSTRLEN];

	f = any ? sdr_src_first(src, v, n) : sdr_iface_find(v, n, sdr_sa(src));
	out = f || any ? NULL : sdr_iface_find(v, all, sdr_sa(src));
	if (!f && r->n && (any || out)) {
		sdr_iface_text(v, n, list, sizeof(list));
		sdr_iface_ip_text(src, text, sizeof(text));
		snprintf(err, err_len, "FI_SDR_IFACE=\"%s\" %s%s%s%s%s: it leaves %s",
			 ep->env.iface, out ? "excludes " : "has no address of the family of ",
			 text, out ? " (" : "", out ? out->name : "", out ? ")" : "", list);
		return -FI_EADDRNOTAVAIL;
	}
	if (!f)
		return 0; /* nobody's: opening the engine says so */
	if (any && r->n && !ep->env.bind.ss_family)
		sdr_src_move(src, &f->addr);
	ep->first = f->addr;
	snprintf(ep->where, sizeof(ep->where), "on %s (%s)", f->name,
		 sdr_src_why(&ep->env, r, src, f));
	return 0;
}

int sdr_ep_addr_choose(struct sdr_ep *ep, struct sockaddr_storage *src, char *err, size_t err_len)
{
	struct sdr_iface_rules r;
	unsigned int n, allowed;
	struct sdr_iface *v;
	int ret;

	*src = ep->src;
	if (sdr_sockaddr_any(sdr_sa(src)) && ep->env.bind.ss_family)
		sdr_src_move(src, &ep->env.bind);
	if (sdr_iface_rules_parse(ep->env.iface, &r, err, err_len))
		return -FI_EINVAL;
	if (ep->env.advertise.ss_family && ep->env.advertise.ss_family != src->ss_family) {
		snprintf(err, err_len, "FI_SDR_ADVERTISE is %s, but the endpoint's address is not",
			 ep->env.advertise.ss_family == AF_INET ? "IPv4" : "IPv6");
		return -FI_EINVAL;
	}
	ep->first = *src;
	ep->where[0] = 0;
	ret = sdr_iface_list_picked(&r, &v, &n, &allowed);
	if (!ret)
		ret = sdr_src_choose(ep, &r, v, allowed, n, src, err, err_len);
	free(v);
	return ret;
}

void sdr_ep_addr_bound(struct sdr_ep *ep, const struct sdr_uc_addr *addr)
{
	uint16_t port;

	memset(&ep->src, 0, sizeof(ep->src));
	sdr_uc_addr_to_sockaddr(addr, &ep->src);
	port = sdr_sockaddr_port(sdr_sa(&ep->src));
	ep->name = sdr_sockaddr_any(sdr_sa(&ep->src)) ? ep->first : ep->src;
	if (ep->env.advertise.ss_family)
		ep->name = ep->env.advertise;
	if (!sdr_sockaddr_port(sdr_sa(&ep->name)) || !ep->env.advertise.ss_family)
		sdr_sockaddr_port_set(sdr_sa(&ep->name), port);
}

int sdr_ep_name(const struct sdr_ep *ep, struct sockaddr_storage *out)
{
	if (!ep->ctx)
		return -FI_EOPBADSTATE;
	*out = ep->name;
	return 0;
}

int sdr_ep_addr_give(const struct sockaddr_storage *sa, void *addr, size_t *addrlen)
{
	size_t len = sdr_sockaddr_len(sdr_sa(sa)), n = *addrlen < len ? *addrlen : len;

	if (addr)
		memcpy(addr, sa, n);
	*addrlen = len;
	return n < len ? -FI_ETOOSMALL : 0;
}

/* Where it can be met on this host: as bound, or where that is everywhere at its first address. */
static void sdr_ep_addr_own(const struct sdr_ep *ep, struct sockaddr_storage *own)
{
	*own = ep->src;
	if (sdr_sockaddr_any(sdr_sa(own)))
		sdr_src_move(own, &ep->first);
}

/*
 * Between the two addresses of this host, the advertised and the bound one: an endpoint's own port
 * becomes its own, another of the range stays.
 */
static bool sdr_ep_addr_turn(const struct sdr_ep *ep, const struct sockaddr_storage *from,
			     const struct sockaddr_storage *to, struct sdr_uc_addr *addr)
{
	struct sockaddr_storage sa;
	uint16_t port;

	if (sdr_uc_addr_to_sockaddr(addr, &sa) < 0 ||
	    !sdr_sockaddr_same_ip(sdr_sa(&sa), sdr_sa(from)))
		return false;
	port = sdr_sockaddr_port(sdr_sa(&sa));
	sa = *to;
	if (port != sdr_sockaddr_port(sdr_sa(from))) {
		if (sdr_sockaddr_port(sdr_sa(&ep->env.advertise)) || port < ep->env.ports.lo ||
		    port > ep->env.ports.hi)
			return false;
		sdr_sockaddr_port_set(sdr_sa(&sa), port);
	}
	sdr_uc_addr_from_sockaddr(addr, sdr_sa(&sa));
	return true;
}

bool sdr_ep_addr_home(const struct sdr_ep *ep, struct sdr_uc_addr *addr)
{
	struct sockaddr_storage own;

	if (!ep->env.advertise.ss_family)
		return false;
	sdr_ep_addr_own(ep, &own);
	return sdr_ep_addr_turn(ep, &ep->name, &own, addr);
}

bool sdr_ep_addr_away(const struct sdr_ep *ep, struct sdr_uc_addr *addr)
{
	struct sockaddr_storage own;

	if (!ep->env.advertise.ss_family)
		return false;
	sdr_ep_addr_own(ep, &own);
	return sdr_ep_addr_turn(ep, &own, &ep->name, addr);
}

void sdr_ep_addr_way(const struct sdr_ep *ep, const struct sdr_uc_addr *peer)
{
	char to[SDR_EP_ADDR_TEXT], way[INET6_ADDRSTRLEN], own[INET6_ADDRSTRLEN];
	struct sockaddr_storage sa, from;

	if (!fi_log_enabled(&sdr_prov, FI_LOG_INFO, FI_LOG_EP_CTRL) ||
	    sdr_sockaddr_any(sdr_sa(&ep->src)) || sdr_uc_addr_to_sockaddr(peer, &sa) < 0 ||
	    sdr_uc_route(sdr_sa(&sa), &from) ||
	    sdr_sockaddr_same_ip(sdr_sa(&from), sdr_sa(&ep->src)))
		return;
	sdr_uc_addr_format(peer, to, sizeof(to));
	sdr_iface_ip_text(&from, way, sizeof(way));
	sdr_iface_ip_text(&ep->src, own, sizeof(own));
	FI_INFO(&sdr_prov, FI_LOG_EP_CTRL,
		"peer %s: by the routing table its packets would leave from %s, but this endpoint "
		"sends from %s (FI_SDR_IFACE, FI_SDR_BIND choose another address, ip rule another "
		"way)\n",
		to, way, own);
}

void sdr_ep_addr_text(const struct sdr_ep *ep, char *buf, size_t len)
{
	bool adv = ep->env.advertise.ss_family, any = sdr_sockaddr_any(sdr_sa(&ep->src));
	char src[SDR_EP_ADDR_TEXT] = "?", name[SDR_EP_ADDR_TEXT] = "?", ports[32] = "";
	struct sdr_uc_addr addr;

	if (!sdr_uc_addr_from_sockaddr(&addr, sdr_sa(&ep->src)))
		sdr_uc_addr_format(&addr, src, sizeof(src));
	if (!sdr_uc_addr_from_sockaddr(&addr, sdr_sa(&ep->name)))
		sdr_uc_addr_format(&addr, name, sizeof(name));
	if (ep->env.ports.lo)
		snprintf(ports, sizeof(ports), ", ports %u-%u", ep->env.ports.lo, ep->env.ports.hi);
	snprintf(buf, len, "%s%s%s %s%s%s%s", src, any && !adv ? ", called " : "",
		 any && !adv ? name : "", ep->where, adv ? ", advertised as " : "", adv ? name : "",
		 ports);
}
