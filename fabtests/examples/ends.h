/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What every libfabric program begins and ends with, for the examples over libfabric: one endpoint
 * of provider sdr, with one queue for both directions, an address vector, and the provider's own
 * calls (fi_open_ops).  The receiver binds to its address, the sender to the one by which packets
 * leave to it.
 */
#ifndef ENDS_H
#define ENDS_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_ext_sdr.h>

#include "meet.h"

#define OK(call)                                                     \
	do {                                                         \
		long ret_ = (call);                                  \
		CHECK(!ret_, #call ": %s", fi_strerror((int)-ret_)); \
	} while (0)

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_ep *ep;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fi_sdr_ep_ops_1 *ops;
static fi_addr_t peer;

static inline void ends_open(int receiver, const char *address, enum fi_ep_type type, uint64_t caps,
			     enum fi_cq_format format)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr cq_attr = { .format = format };
	struct fi_av_attr av_attr = { .type = FI_AV_UNSPEC };

	hints->ep_attr->type = type;
	hints->caps = caps;
	hints->fabric_attr->prov_name = strdup("sdr");
	OK(fi_getinfo(FI_VERSION(1, 17), address, receiver ? NULL : "1", receiver ? FI_SOURCE : 0,
		      hints, &info));
	fi_freeinfo(hints);
	OK(fi_fabric(info->fabric_attr, &fabric, NULL));
	OK(fi_domain(fabric, info, &domain, NULL));
	OK(fi_endpoint(domain, info, &ep, NULL));
	OK(fi_cq_open(domain, &cq_attr, &cq, NULL));
	OK(fi_av_open(domain, &av_attr, &av, NULL));
	OK(fi_ep_bind(ep, &cq->fid, FI_RECV | FI_TRANSMIT));
	OK(fi_ep_bind(ep, &av->fid, 0));
	OK(fi_enable(ep));
	OK(fi_open_ops(&ep->fid, FI_SDR_EP_OPS_1, 0, (void **)&ops, NULL));
}

static inline void ends_close(void)
{
	fi_close(&ep->fid);
	fi_close(&av->fid);
	fi_close(&cq->fid);
	fi_close(&domain->fid);
	fi_close(&fabric->fid);
	fi_freeinfo(info);
}

#endif /* ENDS_H */
