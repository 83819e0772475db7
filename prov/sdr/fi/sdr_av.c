/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The address vector: the calls of libfabric around its table (sdr_av_table.c), where fi_addr_t is
 * an index for FI_AV_TABLE and FI_AV_MAP alike.
 *
 * Endpoints keep the peers they have resolved by index; removing an address makes every
 * bound endpoint forget it before the index can be used again.  With FI_EVENT insertion is done at
 * once and reported through the bound event queue.  Addresses are sockaddr_in and sockaddr_in6,
 * each entry as long as its family says.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "uc/sdr_uc.h"
#include "uc/sdr_uc_addr.h"

#include "sdr_av.h"
#include "sdr_av_table.h"
#include "sdr_domain.h"
#include "sdr_enosys.h"
#include "sdr_ep.h"
#include "sdr_ep_peer.h"
#include "sdr_eq.h"
#include "sdr_iface.h"
#include "sdr_prov.h"
#include "sdr_srx.h"

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

/* ---- insertion ------------------------------------------------------------------------------- */

/* Whether a family fits what fi_getinfo said. */
static bool sdr_av_family_ok(const struct sdr_av *av, int family)
{
	if (av->dom->addr_format == FI_SOCKADDR_IN)
		return family == AF_INET;
	if (av->dom->addr_format == FI_SOCKADDR_IN6)
		return family == AF_INET6;
	return family == AF_INET || family == AF_INET6;
}

static int sdr_av_insert_one(struct sdr_av *av, const struct sockaddr *sa, fi_addr_t *out)
{
	struct sdr_uc_addr addr;

	if (!sdr_av_family_ok(av, sa->sa_family) || sdr_uc_addr_from_sockaddr(&addr, sa))
		return -FI_EINVAL;
	return sdr_av_put(av, &addr, out);
}

/* Result of one address: to the caller's arrays or the event queue. */
struct sdr_av_report {
	struct sdr_av *av;
	fi_addr_t *fi_addr; /* with FI_AV_USER_ID the user's when the call begins */
	int *sync_err;
	uint64_t flags;
	void *context;
	size_t index;
	size_t good;
};

static void sdr_av_report(struct sdr_av_report *r, fi_addr_t fi_addr, int err)
{
	struct fi_eq_err_entry e;

	if (!err && (r->flags & FI_AV_USER_ID))
		sdr_av_user_id_set(r->av, fi_addr, r->fi_addr[r->index]);
	if (r->fi_addr)
		r->fi_addr[r->index] = err ? FI_ADDR_NOTAVAIL : fi_addr;
	if (r->sync_err)
		r->sync_err[r->index] = -err;
	if (err && (r->flags & FI_EVENT)) {
		memset(&e, 0, sizeof(e));
		e.fid = &r->av->fid.fid;
		e.context = r->context;
		e.data = r->index;
		e.err = -err;
		e.prov_errno = -err;
		sdr_eq_error(r->av->eq, &e);
	}
	if (!err)
		r->good++;
	r->index++;
}

static int sdr_av_report_init(struct sdr_av_report *r, struct fid_av *fid, fi_addr_t *fi_addr,
			      uint64_t flags, size_t count, void *context)
{
	struct sdr_av *av = container_of(fid, struct sdr_av, fid);

	if (flags & ~(FI_MORE | FI_SYNC_ERR | FI_EVENT | FI_AV_USER_ID))
		return -FI_EBADFLAGS;
	if ((flags & FI_AV_USER_ID) && (av->named || !fi_addr))
		return -FI_EINVAL;
	if (av->async || av->eq)
		flags |= FI_EVENT;
	if ((flags & FI_EVENT) && !av->eq)
		return -FI_ENOEQ;
	if ((flags & FI_SYNC_ERR) && ((flags & FI_EVENT) || !context))
		return -FI_EINVAL;
	memset(r, 0, sizeof(*r));
	r->av = av;
	r->fi_addr = fi_addr;
	r->flags = flags;
	r->context = context;
	if (flags & FI_SYNC_ERR) {
		r->sync_err = context;
		memset(r->sync_err, 0, count * sizeof(int));
	}
	return 0;
}

/* Owners of receives may have messages from who is known only now. */
static void sdr_av_known(struct sdr_av *av)
{
	unsigned int i;

	pthread_mutex_lock(&av->eps_lock);
	for (i = 0; i < av->neps; i++) {
		if (av->eps[i]->srx)
			av->eps[i]->srx->kind->addrs(av->eps[i]);
	}
	pthread_mutex_unlock(&av->eps_lock);
}

static int sdr_av_report_end(struct sdr_av_report *r)
{
	struct fi_eq_entry e;

	if (r->good)
		sdr_av_known(r->av);

	if (!(r->flags & FI_EVENT))
		return (int)r->good;
	memset(&e, 0, sizeof(e));
	e.fid = &r->av->fid.fid;
	e.context = r->context;
	e.data = r->good;
	return sdr_eq_event(r->av->eq, FI_AV_COMPLETE, &e);
}

static int sdr_av_insert(struct fid_av *fid, const void *addr, size_t count, fi_addr_t *fi_addr,
			 uint64_t flags, void *context)
{
	const uint8_t *p = addr;
	struct sockaddr_storage sa;
	struct sdr_av_report r;
	fi_addr_t a = FI_ADDR_NOTAVAIL;
	sa_family_t family;
	socklen_t len = 0;
	size_t i;
	int ret;

	ret = sdr_av_report_init(&r, fid, fi_addr, flags, count, context);
	if (ret)
		return ret;
	for (i = 0; i < count; i++) {
		memcpy(&family, p + offsetof(struct sockaddr, sa_family), sizeof(family));
		sa.ss_family = family;
		len = sdr_sockaddr_len((struct sockaddr *)&sa);
		if (!len) {
			/* where the next one begins is only known when the format says so */
			len = r.av->dom->addr_format == FI_SOCKADDR_IN ? sizeof(struct sockaddr_in)
			      : r.av->dom->addr_format == FI_SOCKADDR_IN6
				      ? sizeof(struct sockaddr_in6)
				      : 0;
			sdr_av_report(&r, FI_ADDR_NOTAVAIL, -FI_EINVAL);
			if (!len)
				break;
		} else {
			memset(&sa, 0, sizeof(sa));
			memcpy(&sa, p, len);
			ret = sdr_av_insert_one(r.av, (struct sockaddr *)&sa, &a);
			sdr_av_report(&r, a, ret);
		}
		p += len;
	}
	while (r.index < count)
		sdr_av_report(&r, FI_ADDR_NOTAVAIL, -FI_EINVAL);
	return sdr_av_report_end(&r);
}

static int sdr_av_family(const struct sdr_av *av)
{
	return av->dom->addr_format == FI_SOCKADDR_IN	 ? AF_INET
	       : av->dom->addr_format == FI_SOCKADDR_IN6 ? AF_INET6
							 : AF_UNSPEC;
}

static void sdr_av_insert_name(struct sdr_av_report *r, const char *node, const char *service)
{
	struct sockaddr_storage sa;
	fi_addr_t a = FI_ADDR_NOTAVAIL;
	int ret;

	ret = sdr_resolve(node, service, 0, sdr_av_family(r->av), &sa, 1);
	if (ret > 0)
		ret = sdr_av_insert_one(r->av, (struct sockaddr *)&sa, &a);
	sdr_av_report(r, a, ret);
}

static int sdr_av_insertsvc(struct fid_av *fid, const char *node, const char *service,
			    fi_addr_t *fi_addr, uint64_t flags, void *context)
{
	struct sdr_av_report r;
	int ret;

	if (!service)
		return -FI_EINVAL;
	ret = sdr_av_report_init(&r, fid, fi_addr, flags, 1, context);
	if (ret)
		return ret;
	sdr_av_insert_name(&r, node, service);
	return sdr_av_report_end(&r);
}

/*
 * The i-th node after `node`: numeric addresses count up, names count up the number they end with.
 */
static int sdr_av_node(const char *node, size_t i, char *buf, size_t len)
{
	struct in_addr in;
	struct in6_addr in6;
	size_t n = strlen(node), k;
	unsigned long long v;
	uint32_t low;
	int digits;

	if (inet_pton(AF_INET, node, &in) == 1) {
		in.s_addr = htonl(ntohl(in.s_addr) + (uint32_t)i);
		return inet_ntop(AF_INET, &in, buf, (socklen_t)len) ? 0 : -FI_EINVAL;
	}
	if (inet_pton(AF_INET6, node, &in6) == 1) {
		memcpy(&low, &in6.s6_addr[12], 4);
		low = htonl(ntohl(low) + (uint32_t)i);
		memcpy(&in6.s6_addr[12], &low, 4);
		return inet_ntop(AF_INET6, &in6, buf, (socklen_t)len) ? 0 : -FI_EINVAL;
	}
	for (k = n; k > 0 && isdigit((unsigned char)node[k - 1]); k--)
		;
	if (k == n && i)
		return -FI_EINVAL;
	digits = (int)(n - k);
	v = k == n ? 0 : strtoull(node + k, NULL, 10) + i;
	if (k == n)
		return snprintf(buf, len, "%s", node) < (int)len ? 0 : -FI_EINVAL;
	return snprintf(buf, len, "%.*s%0*llu", (int)k, node, digits, v) < (int)len ? 0
										    : -FI_EINVAL;
}

static int sdr_av_insertsym(struct fid_av *fid, const char *node, size_t nodecnt,
			    const char *service, size_t svccnt, fi_addr_t *fi_addr, uint64_t flags,
			    void *context)
{
	struct sdr_av_report r;
	char host[256], svc[16];
	unsigned long port;
	size_t i, j;
	char *end;
	int ret;

	if (!node || !service)
		return -FI_EINVAL;
	port = strtoul(service, &end, 10);
	if (*end || !port || port + svccnt > 65536)
		return -FI_EINVAL;
	ret = sdr_av_report_init(&r, fid, fi_addr, flags, nodecnt * svccnt, context);
	if (ret)
		return ret;
	for (i = 0; i < nodecnt; i++) {
		ret = sdr_av_node(node, i, host, sizeof(host));
		for (j = 0; j < svccnt; j++) {
			snprintf(svc, sizeof(svc), "%lu", (unsigned long)(port + j));
			if (ret)
				sdr_av_report(&r, FI_ADDR_NOTAVAIL, ret);
			else
				sdr_av_insert_name(&r, host, svc);
		}
	}
	return sdr_av_report_end(&r);
}

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
