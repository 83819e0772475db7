/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The addresses that fi_getinfo offers endpoints at: pairs of a source and a destination, from a
 * node and a service, from the hints, or all that this machine has.
 *
 * A node and service resolve to the destination, or with FI_SOURCE to the address to bind, which
 * must be one of this machine's; a service without a node binds all of them.  Where the application
 * names no source it is FI_SDR_BIND's, or else of the interface that routing takes to the
 * destination, without one to everywhere else: that one is first in the list of all.  FI_SDR_IFACE
 * (sdr_iface_pick.c) says which interfaces there are at all, and in which order; it holds for
 * sources that the application names, too, and makes "all addresses" one of those it allows.  A
 * destination has one source, unless settings or hints name interfaces: then all that could reach
 * it are offered.  Each source is offered with every device that has it and with the socket.  Read
 * anew every time; no state.
 */
#include <arpa/inet.h>
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
#include "sdr_refusal.h"

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
	c->iface = *iface;
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

/* What is where it must not be, and what there is instead. */
static void sdr_search_say_source(const struct sdr_search *s, const struct sockaddr_storage *sa)
{
	const struct sdr_iface *f = sdr_iface_find(s->ifs, s->nall, (const struct sockaddr *)sa);
	char list[SDR_IFACE_TEXT], text[INET6_ADDRSTRLEN];

	sdr_iface_text(s->ifs, s->nifs, list, sizeof(list));
	sdr_iface_ip_text(sa, text, sizeof(text));
	if (f)
		sdr_warn_once(
			"FI_SDR_IFACE=\"%s\" excludes the source address %s (%s): it leaves %s",
			s->env->iface, text, f->name, list);
	else if (s->bound)
		sdr_warn_once(
			"FI_SDR_BIND: no interface that is up has the address %s: there are %s",
			text, list);
	else
		sdr_refusal_hint(
			"no interface that is up has the source address %s: there are %s\n", text,
			list);
}

static void sdr_search_say_dest(const struct sdr_search *s, const struct sockaddr_storage *dst)
{
	char list[SDR_IFACE_TEXT], text[INET6_ADDRSTRLEN];

	sdr_iface_text(s->ifs, s->nifs, list, sizeof(list));
	sdr_iface_ip_text(dst, text, sizeof(text));
	sdr_warn_once("FI_SDR_IFACE=\"%s\" leaves no address that reaches %s: it leaves %s",
		      s->env->iface, text, list);
}

/* Whether an endpoint there could reach the destination; from: what routing says, or family 0. */
static bool sdr_search_reaches(const struct sdr_iface *f, const struct sockaddr_storage *dst,
			       const struct sockaddr_storage *from)
{
	const struct sockaddr_in6 *a = (const void *)&f->addr, *b = (const void *)dst;

	if (f->addr.ss_family != dst->ss_family)
		return false;
	if (sdr_sockaddr_same_ip((const struct sockaddr *)from, (const struct sockaddr *)&f->addr))
		return true;
	if (f->loopback != sdr_sockaddr_loopback((const struct sockaddr *)dst))
		return false;
	if (dst->ss_family != AF_INET6 || !IN6_IS_ADDR_LINKLOCAL(&b->sin6_addr))
		return !f->linklocal;
	return f->linklocal && (!b->sin6_scope_id || a->sin6_scope_id == b->sin6_scope_id);
}

/* A source that somebody named, towards a destination or (NULL) any. */
static int sdr_search_source(struct sdr_search *s, const struct sockaddr_storage *src,
			     const struct sockaddr_storage *dst)
{
	const struct sockaddr_storage none = { .ss_family = 0 };
	const struct sdr_iface *f;
	struct sockaddr_storage sa;
	unsigned int k;
	int ret = 0;

	if (dst && src->ss_family != dst->ss_family)
		return 0;
	if (s->bound || !s->rules.n || !sdr_sockaddr_any((const struct sockaddr *)src)) {
		f = sdr_search_iface(s, src);
		if (!f)
			sdr_search_say_source(s, src);
		return f ? sdr_cand_add(s, src, dst, f) : 0;
	}
	for (k = 0; k < s->nifs && !ret; k++) {
		f = &s->ifs[k];
		if (f->addr.ss_family != src->ss_family ||
		    (dst && !sdr_search_reaches(f, dst, &none)))
			continue;
		sa = f->addr;
		sdr_sockaddr_port_set((struct sockaddr *)&sa,
				      sdr_sockaddr_port((const struct sockaddr *)src));
		ret = sdr_cand_add(s, &sa, dst, f);
	}
	return ret;
}

/* The sources of a destination when nobody named one. */
static int sdr_search_route(struct sdr_search *s, const struct sockaddr_storage *dst)
{
	struct sockaddr_storage from;
	unsigned int k, found = 0;
	int ret = 0;

	if (sdr_uc_route((const struct sockaddr *)dst, &from)) {
		sdr_refusal_hint("no route to the destination address\n");
		if (!s->named)
			return 0;
		memset(&from, 0, sizeof(from));
	}
	sdr_iface_pick(&s->rules, s->ifs, s->nall, &from, 1);
	for (k = 0; k < s->nifs && !ret; k++) {
		if (!sdr_search_reaches(&s->ifs[k], dst, &from))
			continue;
		ret = sdr_cand_add(s, &s->ifs[k].addr, dst, &s->ifs[k]);
		found++;
		if (!s->named)
			break;
	}
	if (!found && s->rules.n)
		sdr_search_say_dest(s, dst);
	return ret;
}

/* FI_SDR_BIND where the application did not name an address; it may have named a port. */
static int sdr_search_bind(struct sdr_search *s, struct sockaddr_storage *src, int nsrc)
{
	uint16_t port = nsrc ? sdr_sockaddr_port((struct sockaddr *)&src[0]) : 0;
	int i;

	if (!s->env->bind.ss_family)
		return nsrc;
	for (i = 0; i < nsrc; i++) {
		if (!sdr_sockaddr_any((struct sockaddr *)&src[i]))
			return nsrc;
	}
	s->bound = true;
	src[0] = s->env->bind;
	sdr_sockaddr_port_set((struct sockaddr *)&src[0], port);
	return 1;
}

static int sdr_search_pairs(struct sdr_search *s, const struct sockaddr_storage *src, int nsrc,
			    const struct sockaddr_storage *dst, int ndst)
{
	int i, j, ret = 0;
	unsigned int k;

	if (!ndst && !nsrc) {
		for (k = 0; k < s->nifs && !ret; k++)
			ret = sdr_cand_add(s, &s->ifs[k].addr, NULL, &s->ifs[k]);
		return ret;
	}
	for (j = 0; j < nsrc && !ndst && !ret; j++)
		ret = sdr_search_source(s, &src[j], NULL);
	for (i = 0; i < ndst && !ret; i++) {
		if (!nsrc)
			ret = sdr_search_route(s, &dst[i]);
		for (j = 0; j < nsrc && !ret; j++)
			ret = sdr_search_source(s, &src[j], &dst[i]);
	}
	return ret;
}

int sdr_search_addrs(struct sdr_search *s, const char *node, const char *service, uint64_t flags,
		     const struct fi_info *hints)
{
	struct sockaddr_storage src[SDR_RESOLVE_MAX], dst[SDR_RESOLVE_MAX];
	int nsrc = 0, ndst = 0, ret, family = AF_UNSPEC;

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
	nsrc = sdr_search_bind(s, src, nsrc);
	s->chosen = nsrc || ndst || (hints && hints->domain_attr && hints->domain_attr->name);
	s->named = s->rules.named || (hints && hints->domain_attr && hints->domain_attr->name) ||
		   (hints && hints->fabric_attr && hints->fabric_attr->name);
	return sdr_search_pairs(s, src, nsrc, dst, ndst);
}

/* Why the rules leave nothing: a name that is there may be of an interface that is not up. */
static void sdr_search_say_rules(const struct sdr_search *s)
{
	const struct sdr_iface_rule *idle = sdr_iface_rules_idle(&s->rules, s->ifs, s->nall);
	char list[SDR_IFACE_TEXT];
	bool down = idle && idle->name[0] && if_nametoindex(idle->name);

	sdr_iface_text(s->ifs, s->nall, list, sizeof(list));
	if (!s->nifs)
		sdr_warn_once("FI_SDR_IFACE=\"%s\" leaves no interface: there are %s%s%s%s",
			      s->env->iface, list, down ? " (" : "", down ? idle->name : "",
			      down ? " is not up, or has no address)" : "");
	else if (idle)
		FI_INFO(&sdr_prov, FI_LOG_CORE, "FI_SDR_IFACE: \"%s\" is none of %s%s\n",
			idle->text, list, down ? ": it is not up, or has no address" : "");
}

int sdr_search_ifaces(struct sdr_search *s)
{
	char why[SDR_ENV_ERR];
	unsigned int k;
	int ret;

	if (sdr_iface_rules_parse(s->env->iface, &s->rules, why, sizeof(why)))
		return -FI_EINVAL; /* sdr_env_set has looked at it */
	ret = sdr_iface_list_picked(&s->rules, &s->ifs, &s->nall, &s->nifs);
	if (ret)
		return ret;
	if (!s->nall)
		sdr_warn_once(
			"no network interface with an IPv4 or IPv6 address is up: not even loopback (ip link "
			"set lo up)");
	else
		sdr_search_say_rules(s);
	s->only_loopback = true;
	for (k = 0; k < s->nifs; k++)
		s->only_loopback &= s->ifs[k].loopback;
	return s->nifs ? 0 : -FI_ENODATA;
}

void sdr_search_devs(struct sdr_search *s)
{
	const struct sdr_uc_engine *const *e;
	char why[SDR_ENV_ERR];
	int n;

	s->only = sdr_env_engine(s->env);
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
