/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The address vector: the calls of libfabric around its table (sdr_av_table.c), where fi_addr_t is
 * an index for FI_AV_TABLE and FI_AV_MAP alike.  Those that insert are in sdr_av_insert.c.
 *
 * Endpoints keep the peers they have resolved by index; removing an address makes every
 * bound endpoint forget it before the index can be used again.  Addresses are sockaddr_in and
 * sockaddr_in6.  Any thread may call; av->eps_lock has the bound endpoints, av->lock the table.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "uc/sdr_uc.h"
#include "uc/sdr_uc_addr.h"

#include "sdr_av.h"
#include "sdr_av_insert.h"
#include "sdr_av_table.h"
#include "sdr_domain.h"
#include "sdr_enosys.h"
#include "sdr_ep.h"
#include "sdr_ep_peer.h"
#include "sdr_eq.h"
#include "sdr_iface.h"
#include "sdr_prov.h"

#define SDR_AV_FIRST 64u /* entries of a new table; it doubles */
/* flags of fi_av_open by which entries get their user's IDs in a call of its own */
#ifdef SDR_AV_SET_USER_ID
#define SDR_AV_NAMED FI_AV_USER_ID
#else
#define SDR_AV_NAMED 0ull
#endif

int sdr_av_ep_add(struct sdr_av *av, struct sdr_ep *ep)
{
	struct sdr_ep **v;
	int ret = 0;

	pthread_mutex_lock(&av->eps_lock);
	if (av->neps == av->eps_cap) {
		v = realloc(av->eps, (av->eps_cap + 8) * sizeof(*v));
		if (!v) {
			ret = -FI_ENOMEM;
			goto out;
		}
		av->eps = v;
		av->eps_cap += 8;
	}
	av->eps[av->neps++] = ep;
	atomic_fetch_add(&av->refs, 1);
out:
	pthread_mutex_unlock(&av->eps_lock);
	return ret;
}

void sdr_av_ep_del(struct sdr_av *av, struct sdr_ep *ep)
{
	unsigned int i;

	pthread_mutex_lock(&av->eps_lock);
	for (i = 0; i < av->neps; i++) {
		if (av->eps[i] == ep) {
			av->eps[i] = av->eps[--av->neps];
			atomic_fetch_sub(&av->refs, 1);
			break;
		}
	}
	pthread_mutex_unlock(&av->eps_lock);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int sdr_av_remove_one(struct sdr_av *av, fi_addr_t a)
{
	struct sdr_uc_addr addr;
	unsigned int i;

	if (!sdr_av_take(av, a, &addr))
		return -FI_EINVAL;

	pthread_mutex_lock(&av->eps_lock);
	for (i = 0; i < av->neps; i++)
		sdr_ep_peer_forget(av->eps[i], a, &addr);
	pthread_mutex_unlock(&av->eps_lock);

	sdr_av_put_back(av, a);
	return 0;
}

static int sdr_av_remove(struct fid_av *fid, fi_addr_t *fi_addr, size_t count, uint64_t flags)
{
	struct sdr_av *av = container_of(fid, struct sdr_av, fid);
	int ret = 0, r;
	size_t i;

	if (flags)
		return -FI_EBADFLAGS;
	/* backwards: inserting again gives the same indexes in the same order */
	for (i = count; i-- > 0;) {
		r = sdr_av_remove_one(av, fi_addr[i]);
		if (r)
			ret = r;
	}
	return ret;
}

static int sdr_av_lookup(struct fid_av *fid, fi_addr_t fi_addr, void *addr, size_t *addrlen)
{
	struct sdr_av *av = container_of(fid, struct sdr_av, fid);
	struct sockaddr_storage sa;
	struct sdr_uc_addr a;
	int len;

	if (sdr_av_addr(av, fi_addr, &a))
		return -FI_EINVAL;
	len = sdr_uc_addr_to_sockaddr(&a, &sa);
	if (len < 0)
		return -FI_EINVAL;
	memcpy(addr, &sa, *addrlen < (size_t)len ? *addrlen : (size_t)len);
	*addrlen = (size_t)len;
	return 0;
}

#ifdef SDR_AV_SET_USER_ID
static int sdr_av_set_user_id(struct fid_av *fid, fi_addr_t fi_addr, fi_addr_t user_id,
			      uint64_t flags)
{
	struct sdr_av *av = container_of(fid, struct sdr_av, fid);

	if (!av->named)
		return -FI_EINVAL;
	return flags ? -FI_EBADFLAGS : sdr_av_user_id_set(av, fi_addr, user_id);
}
#endif

static const char *sdr_av_straddr(struct fid_av *fid, const void *addr, char *buf, size_t *len)
{
	char text[128], ip[INET6_ADDRSTRLEN];
	struct sockaddr_storage sa;
	sa_family_t family;
	int n;

	(void)fid;
	memset(&sa, 0, sizeof(sa));
	memcpy(&family, (const char *)addr + offsetof(struct sockaddr, sa_family), sizeof(family));
	sa.ss_family = family;
	memcpy(&sa, addr, sdr_sockaddr_len((struct sockaddr *)&sa));
	if (family == AF_INET)
		inet_ntop(AF_INET, &((struct sockaddr_in *)&sa)->sin_addr, ip, sizeof(ip));
	else if (family == AF_INET6)
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&sa)->sin6_addr, ip, sizeof(ip));
	else
		snprintf(ip, sizeof(ip), "?");
	n = snprintf(
		text, sizeof(text),
		family == AF_INET6 ? "fi_sockaddr_in6://[%s]:%u" : "fi_sockaddr_in://%s:%u", ip,
		family == AF_INET || family == AF_INET6 ? sdr_sockaddr_port((struct sockaddr *)&sa)
							: 0u);
	if (buf && *len)
		snprintf(buf, *len, "%s", text);
	*len = (size_t)n + 1;
	return buf;
}

/* ---- handle ---------------------------------------------------------------------------------- */

static int sdr_av_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct sdr_av *av = container_of(fid, struct sdr_av, fid.fid);
	struct sdr_eq *eq;

	(void)flags;
	if (bfid->fclass != FI_CLASS_EQ || av->eq)
		return -FI_EINVAL;
	eq = container_of(bfid, struct sdr_eq, fid.fid);
	atomic_fetch_add(&eq->refs, 1);
	av->eq = eq;
	return 0;
}

static int sdr_av_close(struct fid *fid)
{
	struct sdr_av *av = container_of(fid, struct sdr_av, fid.fid);

	if (atomic_load(&av->refs))
		return -FI_EBUSY;
	if (av->eq) {
		sdr_eq_purge(av->eq, fid);
		atomic_fetch_sub(&av->eq->refs, 1);
	}
	SDR_ASSERT(!av->neps);
	pthread_mutex_destroy(&av->lock);
	pthread_mutex_destroy(&av->eps_lock);
	free(av->eps);
	free(av->bucket);
	free(av->tab);
	atomic_fetch_sub(&av->dom->refs, 1);
	free(av);
	return 0;
}

static struct fi_ops sdr_av_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = sdr_av_close,
	.bind = sdr_av_bind,
	.control = sdr_no_control,
	.ops_open = sdr_no_ops_open,
	.tostr = sdr_no_tostr,
	.ops_set = sdr_no_ops_set,
};

static struct fi_ops_av sdr_av_ops = {
	.size = sizeof(struct fi_ops_av),
	.insert = sdr_av_insert,
	.insertsvc = sdr_av_insertsvc,
	.insertsym = sdr_av_insertsym,
	.remove = sdr_av_remove,
	.lookup = sdr_av_lookup,
	.straddr = sdr_av_straddr,
	.av_set = sdr_no_av_set,
#ifdef SDR_AV_SET_USER_ID
	.set_user_id = sdr_av_set_user_id,
#endif
};

int sdr_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **fid,
		void *context)
{
	struct sdr_domain *dom = container_of(domain, struct sdr_domain, fid);
	struct sdr_av *av;
	uint32_t cap = SDR_AV_FIRST;
	int ret;

	if (!attr || (int)attr->type < 0 || attr->type > FI_AV_TABLE || attr->rx_ctx_bits)
		return -FI_EINVAL;
	if (attr->name)
		return -FI_ENOSYS; /* shared between processes: FI_SHARED_AV is not offered */
	if (attr->flags & ~(FI_EVENT | FI_SYMMETRIC | FI_READ | SDR_AV_NAMED))
		return -FI_EBADFLAGS;
	if (attr->count > SDR_AV_COUNT_MAX)
		return -FI_ENOSPC;
	av = calloc(1, sizeof(*av));
	if (!av)
		return -FI_ENOMEM;
	while (cap < attr->count)
		cap *= 2;
	ret = sdr_av_grow(av, cap);
	if (ret) {
		free(av->tab);
		free(av);
		return ret;
	}
	if (attr->type == FI_AV_UNSPEC)
		attr->type = FI_AV_TABLE;
	av->type = attr->type;
	av->async = attr->flags & FI_EVENT;
	av->named = attr->flags & SDR_AV_NAMED;
	atomic_init(&av->user_ids, av->named);
	pthread_mutex_init(&av->lock, NULL);
	pthread_mutex_init(&av->eps_lock, NULL);
	av->dom = dom;
	atomic_fetch_add(&dom->refs, 1);
	av->fid.fid.fclass = FI_CLASS_AV;
	av->fid.fid.context = context;
	av->fid.fid.ops = &sdr_av_fi_ops;
	av->fid.ops = &sdr_av_ops;
	*fid = &av->fid;
	return 0;
}
