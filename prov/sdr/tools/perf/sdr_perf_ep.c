/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One reliable endpoint of the provider with what it needs: fabric, domain, address vector and one
 * completion queue for everything.
 *
 * Manual progress: what is measured is the thread that runs the test, and nothing else makes it
 * wait.  A server's endpoint is bound to the address that its client used, if a domain has it: so a
 * device is found without being named.  An error completion ends the process with the provider's
 * text for it; only those of receives that were cancelled or too short are handed on.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sdr_perf.h"

#define CQ_BATCH 16
#define CQ_SIZE	 (8u * PERF_SLOTS_MAX)

static struct fi_info *hints_make(const struct perf_ep_attr *attr)
{
	struct fi_info *h = fi_allocinfo();

	if (!h)
		perf_die("out of memory");
	h->ep_attr->type = FI_EP_RDM;
	h->caps = FI_MSG | FI_TAGGED | FI_RMA | (attr->far ? FI_HMEM : 0);
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR |
				  (attr->far ? FI_MR_HMEM : 0);
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	h->tx_attr->msg_order = FI_ORDER_SAS;
	h->rx_attr->msg_order = FI_ORDER_SAS;
	h->fabric_attr->prov_name = strdup("sdr");
	if (attr->domain)
		h->domain_attr->name = strdup(attr->domain);
	return h;
}

static bool same_ip(const void *a, const void *b)
{
	const struct sockaddr_in *x4 = a, *y4 = b;
	const struct sockaddr_in6 *x6 = a, *y6 = b;

	if (x4->sin_family != y4->sin_family)
		return false;
	if (x4->sin_family == AF_INET)
		return x4->sin_addr.s_addr == y4->sin_addr.s_addr;
	return x4->sin_family == AF_INET6 &&
	       memcmp(&x6->sin6_addr, &y6->sin6_addr, sizeof(x6->sin6_addr)) == 0;
}

static sa_family_t family_of(const struct perf_name *name)
{
	struct sockaddr sa;

	memcpy(&sa, name->addr, sizeof(sa));
	return sa.sa_family;
}

/* The port is at the same place for both families. */
static void port_set(void *addr, uint16_t port)
{
	((struct sockaddr_in *)addr)->sin_port = htons(port);
}

/*
 * The entry of the domain that has the address, or with a domain given its first one; NULL: none.
 * Everything is looked at, since a name of a domain and an address cannot both be given as hints.
 */
static struct fi_info *info_like(const struct perf_ep_attr *attr, struct fi_info *hints)
{
	struct fi_info *list, *i, *found = NULL;

	if (attr->like)
		hints->addr_format =
			family_of(attr->like) == AF_INET6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
	if (fi_getinfo(PERF_API, NULL, NULL, 0, hints, &list))
		return NULL;
	for (i = list; i && !found; i = i->next) {
		if (attr->like && i->src_addr && same_ip(i->src_addr, attr->like->addr))
			found = i;
	}
	if (!found && attr->domain)
		found = list;
	found = found ? fi_dupinfo(found) : NULL;
	fi_freeinfo(list);
	if (found && found->src_addr)
		port_set(found->src_addr, attr->port);
	return found;
}

static int info_get(struct perf_ep *p, const struct perf_ep_attr *attr, char *why)
{
	struct fi_info *hints = hints_make(attr);
	char port[8];
	int ret = 0;

	snprintf(port, sizeof(port), "%u", attr->port);
	if (attr->host)
		ret = fi_getinfo(PERF_API, attr->host, port, 0, hints, &p->info);
	else if (!attr->address && (attr->like || attr->domain))
		p->info = info_like(attr, hints);
	if (!attr->host && !p->info && !attr->domain)
		ret = fi_getinfo(PERF_API, attr->address, port, FI_SOURCE, hints, &p->info);
	fi_freeinfo(hints);
	if (!ret && p->info)
		return 0;
	return perf_why(
		why,
		"provider sdr offers nothing for %s %s%s%s (engine %s): see \"fi_info -p sdr -t FI_EP_RDM\", "
		"FI_PROVIDER_PATH, and with FI_LOG_LEVEL=info the reason",
		attr->host ? "host" : "address",
		attr->host	? attr->host
		: attr->address ? attr->address
				: "any",
		attr->domain ? ", domain " : "", attr->domain ? attr->domain : "",
		getenv("FI_SDR_ENGINE") ? getenv("FI_SDR_ENGINE") : "auto");
}

/* What was chosen: a domain that is an RDMA device is driven by the verbs engine. */
static void names_get(struct perf_ep *p)
{
	char path[PERF_NAME_MAX + 32];

	snprintf(p->domain_name, sizeof(p->domain_name), "%s", p->info->domain_attr->name);
	if (p->ops->setting_get(p->ep, "engine", p->engine, sizeof(p->engine)))
		p->engine[0] = 0;
	if (p->engine[0] && strcmp(p->engine, "auto") != 0)
		return;
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s", p->domain_name);
	snprintf(p->engine, sizeof(p->engine), "%s", access(path, F_OK) ? "soft" : "verbs");
}

int perf_ep_open(struct perf_ep *p, const struct perf_ep_attr *attr, char *why)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED, .size = CQ_SIZE };
	struct fi_av_attr av = { .type = FI_AV_UNSPEC, .count = 1 };
	const char *step = "fi_fabric";
	char port[24] = "";
	int ret;

	memset(p, 0, sizeof(*p));
	if (!attr->host)
		snprintf(port, sizeof(port), ", UDP port %u", attr->port);
	if (info_get(p, attr, why))
		return -1;
	ret = fi_fabric(p->info->fabric_attr, &p->fabric, NULL);
	if (ret)
		goto failed;
	step = "fi_domain";
	ret = fi_domain(p->fabric, p->info, &p->domain, NULL);
	if (ret)
		goto failed;
	step = "fi_cq_open";
	p->spin_ns = attr->spin_ns;
	cq.wait_obj = attr->spin_ns == UINT64_MAX ? FI_WAIT_NONE : FI_WAIT_UNSPEC;
	ret = fi_cq_open(p->domain, &cq, &p->cq, NULL);
	if (ret)
		goto failed;
	step = "fi_av_open";
	ret = fi_av_open(p->domain, &av, &p->av, NULL);
	if (ret)
		goto failed;
	step = "fi_endpoint";
	ret = fi_endpoint(p->domain, p->info, &p->ep, NULL);
	if (ret)
		goto failed;
	step = "fi_ep_bind";
	ret = fi_ep_bind(p->ep, &p->av->fid, 0);
	if (!ret)
		ret = fi_ep_bind(p->ep, &p->cq->fid, FI_TRANSMIT | FI_RECV);
	if (ret)
		goto failed;
	step = "fi_open_ops";
	ret = fi_open_ops(&p->ep->fid, FI_SDR_EP_OPS_1, 0, (void **)&p->ops, NULL);
	if (!ret && (!FI_SDR_HAS_OP(p->ops, stats) || !FI_SDR_HAS_OP(p->ops, setting_get)))
		ret = -FI_ENOSYS;
	if (ret)
		goto failed;
	names_get(p);
	step = "fi_enable";
	ret = fi_enable(p->ep);
	if (ret)
		goto failed;
	return 0;
failed:
	perf_why(why, "%s: %s (domain %s%s); FI_LOG_LEVEL=warn says more", step, fi_strerror(-ret),
		 p->info->domain_attr->name, port);
	perf_ep_close(p);
	return -1;
}

void perf_ep_close(struct perf_ep *p)
{
	struct fid *fid[] = {
		p->ep ? &p->ep->fid : NULL,	    p->cq ? &p->cq->fid : NULL,
		p->av ? &p->av->fid : NULL,	    p->domain ? &p->domain->fid : NULL,
		p->fabric ? &p->fabric->fid : NULL,
	};
	size_t i;

	for (i = 0; i < sizeof(fid) / sizeof(fid[0]); i++) {
		if (fid[i])
			fi_close(fid[i]);
	}
	fi_freeinfo(p->info);
	memset(p, 0, sizeof(*p));
}

int perf_ep_peer(struct perf_ep *p, const struct perf_name *name, char *why)
{
	int n = 0;

	if ((family_of(name) == AF_INET && name->len >= sizeof(struct sockaddr_in)) ||
	    (family_of(name) == AF_INET6 && name->len >= sizeof(struct sockaddr_in6)))
		n = fi_av_insert(p->av, name->addr, 1, &p->peer, 0, NULL);
	return n == 1 ? 0 : perf_why(why, "the peer's address is not one that this side can use");
}

int perf_ep_name(struct perf_ep *p, struct perf_name *name, char *why)
{
	size_t len = sizeof(name->addr);
	int ret;

	memset(name, 0, sizeof(*name));
	ret = fi_getname(&p->ep->fid, name->addr, &len);
	name->len = (uint32_t)len;
	return ret ? perf_why(why, "fi_getname: %s", fi_strerror(-ret)) : 0;
}

struct fid_mr *perf_ep_mr(struct perf_ep *p, const struct fi_mr_attr *attr, char *why)
{
	struct fid_mr *mr;
	int ret = fi_mr_regattr(p->domain, attr, 0, &mr);

	if (!ret)
		return mr;
	perf_why(why, "fi_mr_regattr of %zu bytes: %s", attr->mr_iov->iov_len, fi_strerror(-ret));
	return NULL;
}

static void cq_error(struct perf_ep *p)
{
	struct fi_cq_err_entry e = { 0 };
	struct perf_op *op;
	const char *text;
	ssize_t ret = fi_cq_readerr(p->cq, &e, 0);

	if (ret == -FI_EAGAIN)
		return;
	if (ret < 0)
		perf_die("fi_cq_readerr while %s: %s", perf_doing, fi_strerror((int)-ret));
	op = e.op_context;
	if ((e.err == FI_ECANCELED || e.err == FI_ETRUNC) && op) {
		op->done(op, 0, e.err);
		return;
	}
	text = fi_cq_strerror(p->cq, e.prov_errno, e.err_data, NULL, 0);
	perf_die("error completion while %s: %s (%s)", perf_doing, fi_strerror(e.err),
		 text ? text : "-");
}

/* Nothing has completed for long enough. */
static bool may_sleep(struct perf_ep *p)
{
	uint64_t now;

	if (!p->spin_ns || p->spin_ns == UINT64_MAX)
		return !p->spin_ns;
	now = perf_now();
	if (!p->idle_since)
		p->idle_since = now;
	return now - p->idle_since >= p->spin_ns;
}

int perf_ep_progress(struct perf_ep *p, int ms)
{
	struct fi_cq_tagged_entry e[CQ_BATCH];
	struct perf_op *op;
	ssize_t n, i;

	n = fi_cq_read(p->cq, e, CQ_BATCH);
	if (n == -FI_EAGAIN && ms && may_sleep(p))
		n = fi_cq_sread(p->cq, e, CQ_BATCH, NULL, ms);
	if (n == -FI_EAGAIN || n == -FI_EINTR)
		return 0;
	if (n == -FI_EAVAIL) {
		cq_error(p);
		return 1;
	}
	p->idle_since = 0;
	if (n < 0)
		perf_die("reading completions while %s: %s", perf_doing, fi_strerror((int)-n));
	for (i = 0; i < n; i++) {
		op = e[i].op_context;
		op->done(op, e[i].len, 0);
	}
	return (int)n;
}

void perf_ep_stats(struct perf_ep *p, struct fi_sdr_stats *stats)
{
	int ret;

	memset(stats, 0, sizeof(*stats));
	stats->size = sizeof(*stats);
	ret = p->ops->stats(p->ep, FI_ADDR_UNSPEC, stats);
	if (ret)
		perf_die("statistics of the endpoint: %s", fi_strerror(-ret));
}
