/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What is inserted into an address vector: addresses one after the other, each as long as its
 * family says, or those that names and services stand for.  A family is taken if fi_getinfo said
 * so.
 *
 * Each address has one result: in the caller's arrays, or, with FI_EVENT, in the bound event queue,
 * though insertion is done at once.  When all have theirs, endpoints with receives that are not
 * their own look whether they know now who sent something.  Any thread may call; nothing is kept
 * between calls, and of two that insert at once each gets indexes of its own (sdr_av_table.c).
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uc/sdr_uc.h"
#include "uc/sdr_uc_addr.h"

#include "sdr_av_insert.h"
#include "sdr_av.h"
#include "sdr_av_table.h"
#include "sdr_domain.h"
#include "sdr_ep.h"
#include "sdr_eq.h"
#include "sdr_iface.h"
#include "sdr_prov.h"
#include "sdr_srx.h"

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

int sdr_av_insert(struct fid_av *fid, const void *addr, size_t count, fi_addr_t *fi_addr,
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

int sdr_av_insertsvc(struct fid_av *fid, const char *node, const char *service, fi_addr_t *fi_addr,
		     uint64_t flags, void *context)
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

int sdr_av_insertsym(struct fid_av *fid, const char *node, size_t nodecnt, const char *service,
		     size_t svccnt, fi_addr_t *fi_addr, uint64_t flags, void *context)
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
