/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * fi_getinfo: what is offered, to whom.
 *
 * One entry for each address of an interface that is up and each endpoint type, reliable ones
 * first; where an RDMA device has the address another one in front of them all, whose domain is the
 * device (FI_SDR_ENGINE says which of the two kinds there are).  Every hint is honoured or makes
 * the entry disappear (sdr_hints.c); what is returned is what the endpoint then does (sdr_entry.c).
 * Who does not name this provider gets nothing (sdr_named.c).  The utility providers ask for cores
 * with a private flag: they get nothing, or they would stand in front of the native endpoint.  A
 * wrong environment value leaves no entry at all.  Addresses come from sdr_search.c.
 */
#include <stdlib.h>

#include "uc/sdr_uc_engine.h"

#include "sdr_info.h"
#include "sdr_entry.h"
#include "sdr_hints.h"
#include "sdr_named.h"
#include "sdr_prov.h"
#include "sdr_refusal.h"

#define SDR_CORE_PROV_ONLY (1ULL << 59) /* libfabric's private flag of utility providers */
#define SDR_FLAGS_PRIVATE  (0xfULL << 58)

int sdr_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info)
{
	static const enum fi_ep_type types[] = { FI_EP_RDM, FI_EP_DGRAM, FI_EP_MSG };
	struct sdr_search s = { .ifs = NULL };
	struct fi_info **tail = info, *i;
	struct sdr_env env;
	unsigned int t, k;
	const struct sdr_cand *c;
	int ret;

	*info = NULL;
	if (flags & SDR_CORE_PROV_ONLY)
		return -FI_ENODATA;
	if (!sdr_named(hints)) {
		FI_INFO(&sdr_prov, FI_LOG_CORE,
			"nobody has asked for sdr (FI_PROVIDER, or a name in the hints)\n");
		return -FI_ENODATA;
	}
	sdr_refusal_clear();
	flags &= ~SDR_FLAGS_PRIVATE;
	if ((flags & FI_SOURCE) && !node && !service)
		flags &= ~FI_SOURCE;
	if (sdr_env_read(&env))
		return -FI_ENODATA;
	if (env.fault[0])
		sdr_warn_once(
			"FAULT INJECTION IS ON (FI_SDR_FAULT=\"%s\"): what this process sends is damaged on "
			"purpose",
			env.fault);

	s.env = &env;
	ret = sdr_search_ifaces(&s);
	if (ret)
		goto out;
	sdr_search_devs(&s);
	ret = sdr_search_addrs(&s, node, service, flags, hints);
	if (ret)
		goto out;
	for (k = 0; k < s.n && env.rel.mtu; k++)
		s.v[k].ctl_bound = sdr_uc_ctl_of_mtu(env.rel.mtu);
	if (s.ndevs && s.only && !s.n)
		sdr_warn_once(
			"FI_SDR_ENGINE=%s, but no %s has the address to send from (%s, ip route get the address)",
			s.only->name, s.only->what, s.only->look);
	for (t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		if (sdr_hints_check(version, hints, types[t]))
			continue;
		for (k = 0; k < 2 * s.n; k++) { /* devices, then sockets */
			c = &s.v[k < s.n ? k : k - s.n];
			if ((k < s.n) != (c->dev != NULL) || sdr_hints_check_at(hints, types[t], c))
				continue;
			i = sdr_entry_make(version, hints, types[t], c, env.dscp);
			if (!i) {
				fi_freeinfo(*info);
				*info = NULL;
				ret = -FI_ENOMEM;
				goto out;
			}
			*tail = i;
			tail = &i->next;
			/* A link takes all that is offered, and needs one way out. */
			if (sdr_hints_linked(hints) && !s.chosen)
				break;
		}
		if (!*info)
			sdr_refusal_place(hints);
	}
	ret = *info ? 0 : -FI_ENODATA;
out:
	if (ret == -FI_ENODATA)
		sdr_refusal_warn();
	free(s.v);
	free(s.devs);
	free(s.ifs);
	return ret;
}
