/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See sdr_entry.h.  What is returned is what the endpoint then does.
 */
#include <stdlib.h>
#include <string.h>

#include "sdr_entry.h"
#include "sdr_ep.h"
#include "sdr_hints.h"
#include "sdr_msg_order.h"
#include "sdr_nic.h"
#include "sdr_offer.h"
#include "sdr_old_api.h"
#include "sdr_prov.h"
#include "sdr_region.h"
#include "sdr_tclass.h"

/* receive limits that lnx passes on as they are, and takes back up to here only */
#define SDR_LINK_IOV	 4u
#define SDR_LINK_RX_SIZE 1024u
/* secondary capabilities that cost nothing: always there */
#define SDR_CAPS_FREE (SDR_CAPS_COMM | FI_FENCE | FI_MULTI_RECV)

/* what FI_MR_BASIC is in bits */
#define SDR_MR_BASIC_BITS (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)
#define SDR_TAG_FORMAT	  0xaaaaaaaaaaaaaaaaull /* all 64 bits, one field each: the application's */

static uint64_t sdr_caps_directed(uint64_t caps)
{
	if ((caps & (FI_MSG | FI_TAGGED)) && !(caps & (FI_SEND | FI_RECV)))
		caps |= FI_SEND | FI_RECV;
	if ((caps & (FI_RMA | FI_ATOMIC)) &&
	    !(caps & (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)))
		caps |= FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	return caps;
}

static uint64_t sdr_entry_caps(const struct fi_info *hints, enum fi_ep_type type,
			       const struct sdr_cand *c)
{
	uint64_t all = sdr_caps_tx(type) | sdr_caps_rx(type);

	if (!hints || !hints->caps)
		return all | c->comm;
	return sdr_caps_directed((hints->caps & (all | sdr_caps_asked(type))) |
				 (SDR_CAPS_FREE & all)) |
	       c->comm | (hints->caps & SDR_CAPS_LINK);
}

/*
 * What is required of the application: nothing, so bits that it offers are not returned (as the
 * utility code of libfabric does; some of its tests rely on it), but for the three of
 * FI_MR_BASIC where all of them are offered: who can live with keys and addresses of the
 * provider's often relies on them, and some pass over an entry that chooses otherwise; and
 * FI_MR_HMEM, so that descriptors say where memory is and drivers need not be asked.  A domain
 * opened with FI_MR_VIRT_ADDR or FI_MR_PROV_KEY in its info keeps to them, whatever this says.
 */
static int sdr_entry_mr_mode(uint32_t version, const struct fi_info *hints)
{
	int mode = hints && hints->domain_attr ? hints->domain_attr->mr_mode : 0, needed = 0;

	if (mode & (FI_MR_BASIC | FI_MR_SCALABLE))
		return mode;
	if (FI_VERSION_LT(version, FI_VERSION(1, 5)))
		return FI_MR_BASIC;
	if ((mode & SDR_MR_BASIC_BITS) == SDR_MR_BASIC_BITS)
		needed = SDR_MR_BASIC_BITS;
	if (hints && (hints->caps & FI_HMEM))
		needed |= FI_MR_HMEM;
	return mode & needed;
}

/*
 * No mode is required.  Who offers to post a receive for each write with data relies on it that the
 * write takes one along: that one is returned, and kept.
 */
static uint64_t sdr_entry_mode(const struct fi_info *hints, enum fi_ep_type type)
{
	uint64_t mode = hints ? hints->mode : 0;

	if (hints && hints->rx_attr)
		mode |= hints->rx_attr->mode;
	return type != FI_EP_DGRAM ? mode & FI_RX_CQ_DATA : 0;
}

static uint64_t sdr_side_caps(uint64_t caps, uint64_t side, uint64_t asked)
{
	caps &= side;
	if (!asked)
		return caps;
	return caps & (sdr_caps_directed(asked) | SDR_CAPS_FREE | FI_SOURCE | FI_SOURCE_ERR |
		       FI_RMA_EVENT | FI_DIRECTED_RECV);
}

static void sdr_entry_domain(struct fi_domain_attr *d, uint32_t version,
			     const struct fi_info *hints, uint64_t comm)
{
	const struct fi_domain_attr *h = hints ? hints->domain_attr : NULL;

	d->threading = h && h->threading ? h->threading : FI_THREAD_SAFE;
	d->control_progress = h && h->control_progress ? h->control_progress : FI_PROGRESS_AUTO;
	d->data_progress = sdr_hints_linked(hints) ? FI_PROGRESS_MANUAL
			   : h && h->data_progress ? h->data_progress
						   : FI_PROGRESS_AUTO;
	d->resource_mgmt = FI_RM_ENABLED;
	d->av_type = h && h->av_type ? h->av_type : FI_AV_UNSPEC;
	d->mr_mode = sdr_entry_mr_mode(version, hints);
	d->mr_key_size = SDR_MR_KEY_SIZE;
	d->cq_data_size = SDR_CQ_DATA_SIZE;
	d->cq_cnt = SDR_CNT_MAX;
	d->ep_cnt = SDR_CNT_MAX;
	d->tx_ctx_cnt = SDR_CNT_MAX;
	d->rx_ctx_cnt = SDR_CNT_MAX;
	d->max_ep_tx_ctx = 1;
	d->max_ep_rx_ctx = 1;
	d->max_ep_srx_ctx = SDR_CNT_MAX;
	d->cntr_cnt = SDR_CNT_MAX;
	d->mr_iov_limit = 1;
	d->caps = comm | (hints ? hints->caps & SDR_CAPS_LINK : 0);
	d->max_err_data = SDR_ERR_DATA_MAX;
	d->mr_cnt = SDR_MR_CNT_MAX;
}

static void *sdr_entry_addr(const struct sockaddr_storage *sa, size_t *len)
{
	void *p = malloc(sdr_sockaddr_len((const struct sockaddr *)sa));

	if (p) {
		*len = sdr_sockaddr_len((const struct sockaddr *)sa);
		memcpy(p, sa, *len);
	}
	return p;
}

/* What was asked for, or else the setting; its endpoint and its domain ask for the same. */
static void sdr_entry_tclass(struct fi_info *i, uint32_t version, const struct fi_info *hints,
			     uint8_t dscp)
{
	if (!sdr_knows_tclass(version))
		return;
	i->domain_attr->tclass = hints && hints->domain_attr ? hints->domain_attr->tclass : 0;
	i->tx_attr->tclass = hints && hints->tx_attr ? hints->tx_attr->tclass : 0;
	if (i->domain_attr->tclass == FI_TC_UNSPEC)
		i->domain_attr->tclass = sdr_tclass_make(dscp);
	if (i->tx_attr->tclass == FI_TC_UNSPEC)
		i->tx_attr->tclass = i->domain_attr->tclass;
}

struct fi_info *sdr_entry_make(uint32_t version, const struct fi_info *hints, enum fi_ep_type type,
			       const struct sdr_cand *c, uint8_t dscp)
{
	const struct fi_ep_attr *he = hints ? hints->ep_attr : NULL;
	const struct fi_tx_attr *ht = hints ? hints->tx_attr : NULL;
	const struct fi_rx_attr *hr = hints ? hints->rx_attr : NULL;
	bool rdm = type != FI_EP_DGRAM, linked = sdr_hints_linked(hints);
	struct fi_info *i = fi_allocinfo();

	if (!i)
		return NULL;
	i->caps = sdr_entry_caps(hints, type, c);
	i->mode = i->rx_attr->mode = sdr_entry_mode(hints, type);
	i->addr_format = c->src.ss_family == AF_INET ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6;
	i->src_addr = sdr_entry_addr(&c->src, &i->src_addrlen);
	if (!i->src_addr)
		goto nomem;
	if (c->dst.ss_family) {
		i->dest_addr = sdr_entry_addr(&c->dst, &i->dest_addrlen);
		if (!i->dest_addr)
			goto nomem;
	}

	i->ep_attr->type = type;
	i->ep_attr->protocol = SDR_PROTO;
	/* Who links us passes it on as a version of its own protocol. */
	i->ep_attr->protocol_version = linked ? 0 : SDR_WIRE_VERSION;
	i->ep_attr->max_msg_size = rdm ? SDR_REL_MSG_MAX : sdr_cand_dgram_max(c);
	i->ep_attr->mem_tag_format = rdm ? SDR_TAG_FORMAT : 0;
	i->ep_attr->tx_ctx_cnt = 1;
	i->ep_attr->rx_ctx_cnt = he && he->rx_ctx_cnt == FI_SHARED_CONTEXT ? FI_SHARED_CONTEXT : 1;

	i->tx_attr->caps = sdr_side_caps(i->caps, sdr_caps_tx(type) | sdr_caps_asked_tx(type),
					 ht ? ht->caps : 0);
	i->tx_attr->op_flags = ht ? ht->op_flags : 0;
	i->tx_attr->msg_order = sdr_order_of(type, ht ? ht->msg_order : 0);
	i->tx_attr->inject_size = ht && ht->inject_size ? ht->inject_size : SDR_INJECT_SIZE;
	i->tx_attr->size = ht && ht->size ? ht->size : SDR_TX_SIZE;
	i->tx_attr->iov_limit = ht && ht->iov_limit ? ht->iov_limit : rdm ? SDR_REL_IOV_MAX : 1;
	i->tx_attr->rma_iov_limit = rdm || (i->caps & FI_RMA) ? 1 : 0;
	if (!rdm && i->tx_attr->inject_size > i->ep_attr->max_msg_size)
		i->tx_attr->inject_size = i->ep_attr->max_msg_size;

	i->ep_attr->max_order_raw_size = sdr_msg_order_size(i->tx_attr->msg_order, FI_ORDER_RAW);
	i->ep_attr->max_order_war_size = sdr_msg_order_size(i->tx_attr->msg_order, FI_ORDER_WAR);
	i->ep_attr->max_order_waw_size = sdr_msg_order_size(i->tx_attr->msg_order, FI_ORDER_WAW);

	i->rx_attr->caps = sdr_side_caps(i->caps, sdr_caps_rx(type) | sdr_caps_asked_rx(type),
					 hr ? hr->caps : 0);
	i->rx_attr->op_flags = hr ? hr->op_flags : 0;
	i->rx_attr->msg_order = sdr_order_of(type, hr ? hr->msg_order : 0);
	i->rx_attr->total_buffered_recv = hr ? hr->total_buffered_recv : 0;
	i->rx_attr->size = hr && hr->size ? hr->size : linked ? SDR_LINK_RX_SIZE : SDR_RX_SIZE;
	i->rx_attr->iov_limit = hr && hr->iov_limit ? hr->iov_limit
				: linked	    ? SDR_LINK_IOV
				: rdm		    ? SDR_REL_IOV_MAX
						    : 1;

	sdr_entry_domain(i->domain_attr, version, hints, c->comm);
	sdr_entry_tclass(i, version, hints, dscp);
	i->domain_attr->name = strdup(sdr_cand_domain(c));
	i->fabric_attr->name = strdup(sdr_cand_net(c, hints));
	i->fabric_attr->prov_version = SDR_PROV_VERSION;
	i->fabric_attr->api_version = version;
	if (!i->domain_attr->name || !i->fabric_attr->name)
		goto nomem;
	if (c->dev) {
		i->nic = sdr_nic_make(c->dev,
				      hints && hints->domain_attr && hints->domain_attr->name);
		if (!i->nic)
			goto nomem;
	}
	return i;
nomem:
	fi_freeinfo(i);
	return NULL;
}
