/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The addresses that fi_getinfo offers endpoints at: pairs of a source and a destination, from a
 * node and a service, from the hints, or all that this machine has.
 *
 * A node and service resolve to the destination, or with FI_SOURCE to the address to bind, which
 * must be one of this machine's; a service without a node binds all of them.  Without a source
 * routing chooses it.  Each source is offered with every device that has it and with the socket.
 * Read anew every time; no state.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uc/sdr_uc_net.h"
#include "uc/sdr_uc_registry.h"

#include "sdr_env.h"
#include "sdr_iface.h"
#include "sdr_info.h"
#include "sdr_prov.h"

#define SDR_RESOLVE_MAX 8 /* addresses of one name that are looked at */

static int sdr_cand_add_one(struct sdr_search *s, const struct sockaddr_storage *src,
			    const struct sockaddr_storage *dst, const struct sdr_iface *iface,
			    const struct sdr_uc_dev *dev)
{
	struct sdr_cand *c;

	if (s->n == s->cap) {
		c = realloc(s->v, (s->cap + 16) * sizeof(*c));
		if (!c)
			return -FI_ENOMEM;
		s->v = c;
		s->cap += 16;
	}
	c = &s->v[s->n++];
	memset(c, 0, sizeof(*c));
	c->src = *src;
	if (dst)
		c->dst = *dst;
	c->iface = iface;
	c->dev = dev;
	c->engine = dev ? dev->engine : s->any;
	c->comm = FI_LOCAL_COMM;
	if (!iface->loopback || s->only_loopback)
		c->comm |= FI_REMOTE_COMM;
	return 0;
}

/*
 * What an address selects: devices that have it (all addresses: each device once), and the
 * socket.
 */
static int sdr_cand_add(struct sdr_search *s, const struct sockaddr_storage *src,
			const struct sockaddr_storage *dst, const struct sdr_iface *iface)
{
	bool any = sdr_sockaddr_any((const struct sockaddr *)src);
	const struct sdr_uc_dev *d, *before = NULL;
	const struct sdr_iface *dev_iface;
	unsigned int i;
	int ret;

	for (i = 0; i < s->ndevs; i++) {
		d = &s->devs[i];
		if (any ? d->addr.ss_family != src->ss_family ||
				    (before && strcmp(before->name, d->name) == 0)
			: !sdr_sockaddr_same_ip((const struct sockaddr *)&d->addr,
						(const struct sockaddr *)src))
			continue;
		dev_iface = sdr_iface_find(s->ifs, s->nifs, (const struct sockaddr *)&d->addr);
		if (!dev_iface)
			continue; /* it went between the two looks */
		before = d;
		ret = sdr_cand_add_one(s, src, dst, dev_iface, d);
		if (ret)
			return ret;
	}
	return s->any ? sdr_cand_add_one(s, src, dst, iface, NULL) : 0;
}

/*
 * The interface of an address to bind: its own, or for all addresses the first of the
 * family.
 */
static const struct sdr_iface *sdr_search_iface(const struct sdr_search *s,
						const struct sockaddr_storage *sa)
{
	unsigned int i;

	if (!sdr_sockaddr_any((const struct sockaddr *)sa))
		return sdr_iface_find(s->ifs, s->nifs, (const struct sockaddr *)sa);
	for (i = 0; i < s->nifs; i++) {
		if (s->ifs[i].addr.ss_family == sa->ss_family)
			return &s->ifs[i];
	}
	return NULL;
}

static int sdr_search_hint_addr(const void *addr, size_t len, struct sockaddr_storage *out)
{
	struct sockaddr sa;

	memset(out, 0, sizeof(*out));
	if (!addr)
		return 0;
	if (len < sizeof(sa.sa_family))
		return -FI_ENODATA;
	memcpy(out, addr, len < sizeof(*out) ? len : sizeof(*out));
	if (!sdr_sockaddr_len((struct sockaddr *)out) ||
	    len < sdr_sockaddr_len((struct sockaddr *)out))
		return -FI_ENODATA;
	return 1;
}

int sdr_search_addrs(struct sdr_search *s, const char *node, const char *service, uint64_t flags,
		     const struct fi_info *hints)
{
	struct sockaddr_storage src[SDR_RESOLVE_MAX], dst[SDR_RESOLVE_MAX], from;
	int nsrc = 0, ndst = 0, i, j, ret, family = AF_UNSPEC;
	const struct sdr_iface *iface;
	unsigned int k;

	if (hints && hints->addr_format == FI_SOCKADDR_IN)
		family = AF_INET;
	else if (hints && hints->addr_format == FI_SOCKADDR_IN6)
		family = AF_INET6;

	if (node || service) {
		ret = sdr_resolve(node, service, flags, family, flags & FI_SOURCE ? src : dst,
				  SDR_RESOLVE_MAX);
		if (ret < 0)
			return ret;
		if (flags & FI_SOURCE)
			nsrc = ret;
		else
			ndst = ret;
	}
	if (hints && !nsrc) {
		nsrc = sdr_search_hint_addr(hints->src_addr, hints->src_addrlen, &src[0]);
		if (nsrc < 0)
			return nsrc;
	}
	if (hints && !ndst) {
		ndst = sdr_search_hint_addr(hints->dest_addr, hints->dest_addrlen, &dst[0]);
		if (ndst < 0)
			return ndst;
	}

	if (!ndst && !nsrc) {
		for (k = 0; k < s->nifs; k++) {
			ret = sdr_cand_add(s, &s->ifs[k].addr, NULL, &s->ifs[k]);
			if (ret)
				return ret;
		}
		return 0;
	}
	if (!ndst) {
		for (i = 0; i < nsrc; i++) {
			iface = sdr_search_iface(s, &src[i]);
			if (!iface) {
				FI_INFO(&sdr_prov, FI_LOG_CORE,
					"no interface that is up has the source address\n");
				continue;
			}
			ret = sdr_cand_add(s, &src[i], NULL, iface);
			if (ret)
				return ret;
		}
		return 0;
	}
	for (i = 0; i < ndst; i++) {
		if (!nsrc) {
			if (sdr_uc_route((struct sockaddr *)&dst[i], &from)) {
				FI_INFO(&sdr_prov, FI_LOG_CORE,
					"no route to the destination address\n");
				continue;
			}
			iface = sdr_search_iface(s, &from);
			ret = iface ? sdr_cand_add(s, &from, &dst[i], iface) : 0;
			if (ret)
				return ret;
		}
		for (j = 0; j < nsrc; j++) {
			iface = src[j].ss_family == dst[i].ss_family ? sdr_search_iface(s, &src[j])
								     : NULL;
			ret = iface ? sdr_cand_add(s, &src[j], &dst[i], iface) : 0;
			if (ret)
				return ret;
		}
	}
	return 0;
}

void sdr_search_devs(struct sdr_search *s, const struct sdr_env *env)
{
	const struct sdr_uc_engine *const *e;
	char why[SDR_ENV_ERR];
	int n;

	s->only = sdr_env_engine(env);
	s->any = !s->only ? sdr_uc_engine_any() : !s->only->probe ? s->only : NULL;
	for (e = sdr_uc_engines; *e; e++) {
		if (!(*e)->probe || (s->only && s->only != *e))
			continue;
		why[0] = 0;
		n = sdr_uc_engine_probe(*e, &s->devs, &s->ndevs, why, sizeof(why));
		if (n > 0)
			continue;
		if (s->only)
			sdr_warn_once("FI_SDR_ENGINE=%s, but there is no %s to use: %s", (*e)->name,
				      (*e)->what, why);
		else
			FI_INFO(&sdr_prov, FI_LOG_CORE, "no %s: %s\n", (*e)->what, why);
	}
}
