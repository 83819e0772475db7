/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See sdr_hints.h.  Every hint is honoured or makes the entry disappear, with the reason in the log
 * (sdr_refusal.c).
 */
#include <netinet/in.h>
#include <string.h>

#include "hmem/sdr_hmem.h"

#include "sdr_hints.h"
#include "sdr_ep.h"
#include "sdr_msg_order.h"
#include "sdr_offer.h"
#include "sdr_old_api.h"
#include "sdr_peer_api.h"
#include "sdr_prov.h"
#include "sdr_refusal.h"
#include "sdr_tclass.h"

/* bits of the other side that old applications leave in tx_attr and rx_attr */
#define SDR_CAPS_TX_IGNORED                                                              \
	(FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_DIRECTED_RECV | FI_MULTI_RECV | \
	 FI_SOURCE | FI_SOURCE_ERR | FI_RMA_EVENT | SDR_CAPS_COMM)
#define SDR_CAPS_RX_IGNORED (FI_SEND | FI_READ | FI_WRITE | FI_FENCE | SDR_CAPS_COMM)

#define SDR_TX_OP_FLAGS                                                          \
	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_DELIVERY_COMPLETE | FI_MORE | FI_FENCE)
#define SDR_TX_OP_FLAGS_DG \
	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_MORE)
#define SDR_RX_OP_FLAGS	 (FI_COMPLETION | FI_MULTI_RECV | FI_MORE)
#define SDR_MAX_PROGRESS 3 /* FI_PROGRESS_CONTROL_UNIFIED of libfabric 2 */

#define SDR_REFUSE(cond, ...)                          \
	do {                                           \
		if (cond) {                            \
			sdr_refusal_hint(__VA_ARGS__); \
			return -FI_ENODATA;            \
		}                                      \
	} while (0)
/* bits that are not there, by their names */
#define SDR_REFUSE_BITS(bits, type, what)                      \
	do {                                                   \
		uint64_t bits_ = (bits);                       \
                                                               \
		if (bits_) {                                   \
			sdr_refusal_bits(what, bits_, (type)); \
			return -FI_ENODATA;                    \
		}                                              \
	} while (0)

static int sdr_check_mr_mode(uint32_t version, const struct fi_info *hints)
{
	int mode = hints->domain_attr->mr_mode;

	if (FI_VERSION_LT(version, FI_VERSION(1, 5))) {
		SDR_REFUSE(mode != FI_MR_UNSPEC && mode != FI_MR_BASIC && mode != FI_MR_SCALABLE,
			   "mr_mode 0x%x with API 1.%u\n", (unsigned int)mode, FI_MINOR(version));
		return 0;
	}
	SDR_REFUSE((mode & FI_MR_BASIC) && mode != FI_MR_BASIC,
		   "FI_MR_BASIC with other mr_mode bits\n");
	SDR_REFUSE((mode & FI_MR_SCALABLE) && mode != FI_MR_SCALABLE,
		   "FI_MR_SCALABLE with other mr_mode bits\n");
	return 0; /* no bit is required of the application */
}

static int sdr_check_domain(uint32_t version, const struct fi_info *hints)
{
	const struct fi_domain_attr *a = hints->domain_attr;

	SDR_REFUSE((int)a->threading < 0 || a->threading > FI_THREAD_ENDPOINT, "threading %d\n",
		   (int)a->threading);
	SDR_REFUSE((int)a->control_progress < 0 || (int)a->control_progress > SDR_MAX_PROGRESS,
		   "control progress %d\n", (int)a->control_progress);
	SDR_REFUSE((int)a->data_progress < 0 || (int)a->data_progress > SDR_MAX_PROGRESS,
		   "data progress %d\n", (int)a->data_progress);
	SDR_REFUSE((int)a->resource_mgmt < 0 || a->resource_mgmt > FI_RM_ENABLED,
		   "resource management %d\n", (int)a->resource_mgmt);
	SDR_REFUSE((int)a->av_type < 0 || a->av_type > FI_AV_TABLE, "address vector type %d\n",
		   (int)a->av_type);
	SDR_REFUSE(a->cq_data_size > SDR_CQ_DATA_SIZE, "cq_data_size %zu > %u\n", a->cq_data_size,
		   SDR_CQ_DATA_SIZE);
	if (sdr_check_mr_mode(version, hints))
		return -FI_ENODATA;
	if (FI_VERSION_LT(version, FI_VERSION(1, 5)))
		return 0; /* what follows is not part of the older struct */
	SDR_REFUSE(a->cntr_cnt > SDR_CNT_MAX, "cntr_cnt %zu > %u\n", a->cntr_cnt, SDR_CNT_MAX);
	SDR_REFUSE(a->mr_iov_limit > 1, "mr_iov_limit %zu > 1\n", a->mr_iov_limit);
	SDR_REFUSE_BITS(a->caps & ~(SDR_CAPS_COMM | SDR_CAPS_LINK), FI_TYPE_CAPS,
			"domain capabilities");
	SDR_REFUSE(a->auth_key_size > SDR_AUTH_KEY_MAX, "authorization keys\n");
	SDR_REFUSE(a->max_err_data > SDR_ERR_DATA_MAX, "max_err_data %zu > %u\n", a->max_err_data,
		   SDR_ERR_DATA_MAX);
	SDR_REFUSE(a->mr_cnt > SDR_MR_CNT_MAX, "mr_cnt %zu > %u\n", a->mr_cnt, SDR_MR_CNT_MAX);
	return 0;
}

static int sdr_check_ep(const struct fi_info *hints, enum fi_ep_type type)
{
	size_t max_msg = type != FI_EP_DGRAM ? SDR_REL_MSG_MAX : SDR_CTL_MAX;
	const struct fi_ep_attr *a = hints->ep_attr;
	uint64_t order = hints->tx_attr ? hints->tx_attr->msg_order : 0;

	SDR_REFUSE(a->protocol != FI_PROTO_UNSPEC && a->protocol != SDR_PROTO, "protocol 0x%x\n",
		   a->protocol);
	SDR_REFUSE(a->protocol_version > SDR_WIRE_VERSION, "protocol version %u > %u\n",
		   a->protocol_version, SDR_WIRE_VERSION);
	SDR_REFUSE(a->max_msg_size > max_msg, "max_msg_size %zu > %zu\n", a->max_msg_size, max_msg);
	SDR_REFUSE(a->msg_prefix_size, "message prefixes\n");
	SDR_REFUSE(a->tx_ctx_cnt > 1,
		   "tx_ctx_cnt %zu (shared transmit and scalable contexts are not there)\n",
		   a->tx_ctx_cnt);
	SDR_REFUSE(a->rx_ctx_cnt > 1 && a->rx_ctx_cnt != FI_SHARED_CONTEXT,
		   "rx_ctx_cnt %zu (scalable contexts are not there)\n", a->rx_ctx_cnt);
	SDR_REFUSE(a->rx_ctx_cnt == FI_SHARED_CONTEXT && type == FI_EP_DGRAM,
		   "shared receive contexts with FI_EP_DGRAM\n");
	SDR_REFUSE((hints->caps & (FI_RMA | FI_ATOMIC)) &&
			   (a->max_order_raw_size > sdr_msg_order_size(order, FI_ORDER_RAW) ||
			    a->max_order_war_size > sdr_msg_order_size(order, FI_ORDER_WAR) ||
			    a->max_order_waw_size > sdr_msg_order_size(order, FI_ORDER_WAW)),
		   "an order of data without that of their messages (tx_attr->msg_order)\n");
	SDR_REFUSE(a->auth_key_size > SDR_AUTH_KEY_MAX, "authorization keys\n");
	return 0;
}

static int sdr_check_tx(const struct fi_tx_attr *a, enum fi_ep_type type)
{
	uint64_t flags = type != FI_EP_DGRAM ? SDR_TX_OP_FLAGS : SDR_TX_OP_FLAGS_DG;
	size_t iov = type != FI_EP_DGRAM ? SDR_REL_IOV_MAX : 1;

	SDR_REFUSE_BITS(a->caps & ~SDR_CAPS_TX_IGNORED & ~sdr_caps_tx(type) &
				~sdr_caps_asked_tx(type),
			FI_TYPE_CAPS, "transmit capabilities");
	SDR_REFUSE_BITS(a->op_flags & ~flags, FI_TYPE_OP_FLAGS, "transmit op_flags");
	SDR_REFUSE_BITS(a->msg_order & ~sdr_order_all(type), FI_TYPE_MSG_ORDER, "transmit order");
	SDR_REFUSE(a->comp_order, "transmit completion order 0x%llx\n",
		   (unsigned long long)a->comp_order);
	SDR_REFUSE(a->inject_size > SDR_INJECT_SIZE_MAX ||
			   (type == FI_EP_DGRAM && a->inject_size > SDR_INJECT_SIZE),
		   "inject_size %zu\n", a->inject_size);
	SDR_REFUSE(a->size > SDR_TX_SIZE_MAX, "transmit size %zu > %u\n", a->size, SDR_TX_SIZE_MAX);
	SDR_REFUSE(a->iov_limit > iov, "transmit iov_limit %zu > %zu\n", a->iov_limit, iov);
	SDR_REFUSE(a->rma_iov_limit > 1, "rma_iov_limit %zu > 1\n", a->rma_iov_limit);
	return 0;
}

static int sdr_check_rx(const struct fi_rx_attr *a, enum fi_ep_type type)
{
	uint64_t flags = type != FI_EP_DGRAM ? SDR_RX_OP_FLAGS : FI_COMPLETION | FI_MORE;
	size_t iov = type != FI_EP_DGRAM ? SDR_REL_IOV_MAX : 1;

	SDR_REFUSE_BITS(a->caps & ~SDR_CAPS_RX_IGNORED & ~sdr_caps_rx(type) &
				~sdr_caps_asked_rx(type),
			FI_TYPE_CAPS, "receive capabilities");
	SDR_REFUSE_BITS(a->op_flags & ~flags, FI_TYPE_OP_FLAGS, "receive op_flags");
	SDR_REFUSE_BITS(a->msg_order & ~sdr_order_all(type), FI_TYPE_MSG_ORDER, "receive order");
	SDR_REFUSE(a->comp_order, "receive completion order 0x%llx\n",
		   (unsigned long long)a->comp_order);
	SDR_REFUSE(a->total_buffered_recv > SDR_REL_UNEXP_TOTAL, "total_buffered_recv %zu > %u\n",
		   a->total_buffered_recv, SDR_REL_UNEXP_TOTAL);
	SDR_REFUSE(a->size > SDR_RX_SIZE_MAX, "receive size %zu > %u\n", a->size, SDR_RX_SIZE_MAX);
	SDR_REFUSE(a->iov_limit > iov, "receive iov_limit %zu > %zu\n", a->iov_limit, iov);
	return 0;
}

/* Objects are shared with providers of the same libfabric only, and driven by their owner. */
static int sdr_check_link(const struct fi_info *hints, enum fi_ep_type type)
{
	if (!sdr_hints_linked(hints))
		return 0;
	SDR_REFUSE(type != FI_EP_RDM, "FI_PEER with endpoints other than FI_EP_RDM\n");
	SDR_REFUSE(!sdr_peer_same(),
		   "FI_PEER with libfabric %u.%u: this provider was built with %u.%u\n",
		   FI_MAJOR(fi_version()), FI_MINOR(fi_version()), FI_MAJOR_VERSION,
		   FI_MINOR_VERSION);
	SDR_REFUSE(hints->domain_attr && hints->domain_attr->data_progress == FI_PROGRESS_AUTO,
		   "FI_PEER with automatic progress\n");
	return 0;
}

static int sdr_check_tclass(uint32_t version, const struct fi_info *hints)
{
	uint8_t dscp = 0;

	SDR_REFUSE(sdr_knows_tclass(version) && !sdr_tclass_of(hints, &dscp), "traffic class\n");
	return 0;
}

int sdr_hints_check(uint32_t version, const struct fi_info *hints, enum fi_ep_type type)
{
	uint64_t all = sdr_caps_tx(type) | sdr_caps_rx(type) | SDR_CAPS_COMM | SDR_CAPS_LINK |
		       sdr_caps_asked(type);

	if (!hints)
		return 0;
	if (hints->ep_attr && hints->ep_attr->type != FI_EP_UNSPEC &&
	    hints->ep_attr->type != type) {
		sdr_refusal_type(hints->ep_attr->type);
		return -FI_ENODATA;
	}
	SDR_REFUSE_BITS(hints->caps & ~all, FI_TYPE_CAPS, "capabilities");
	SDR_REFUSE(
		type == FI_EP_DGRAM && (hints->caps & FI_RMA) &&
			!(hints->caps & (FI_WRITE | FI_REMOTE_WRITE)),
		"FI_RMA alone, which means reads too: FI_EP_DGRAM has FI_WRITE and FI_REMOTE_WRITE\n");
	SDR_REFUSE((hints->caps & FI_SOURCE_ERR) && !(hints->caps & FI_SOURCE),
		   "FI_SOURCE_ERR without FI_SOURCE\n");
	SDR_REFUSE((hints->caps & FI_HMEM) && (hints->caps & FI_PEER),
		   "FI_HMEM with FI_PEER: another provider's receives are in the CPU's memory\n");
	SDR_REFUSE((hints->caps & FI_HMEM) && !sdr_hmem_any(),
		   "FI_HMEM: no driver (CUDA, ROCr, Level Zero) with a device is there\n");
	SDR_REFUSE(hints->addr_format > FI_SOCKADDR_IN6, "address format %u\n", hints->addr_format);
	if (hints->fabric_attr) {
		SDR_REFUSE(hints->fabric_attr->prov_version > SDR_PROV_VERSION,
			   "provider version\n");
	}
	if (hints->domain_attr && sdr_check_domain(version, hints))
		return -FI_ENODATA;
	if (hints->ep_attr && sdr_check_ep(hints, type))
		return -FI_ENODATA;
	if (hints->tx_attr && sdr_check_tx(hints->tx_attr, type))
		return -FI_ENODATA;
	if (sdr_check_tclass(version, hints) || sdr_check_link(hints, type))
		return -FI_ENODATA;
	if (hints->rx_attr && sdr_check_rx(hints->rx_attr, type))
		return -FI_ENODATA;
	return 0;
}

int sdr_hints_check_at(const struct fi_info *hints, enum fi_ep_type type, const struct sdr_cand *c)
{
	int family = c->src.ss_family;

	if (!hints)
		return 0;
	if ((hints->addr_format == FI_SOCKADDR_IN && family != AF_INET) ||
	    (hints->addr_format == FI_SOCKADDR_IN6 && family != AF_INET6))
		return -FI_ENODATA;
	if (hints->caps & SDR_CAPS_COMM & ~c->comm)
		return -FI_ENODATA;
	if (hints->domain_attr && (hints->domain_attr->caps & SDR_CAPS_COMM & ~c->comm))
		return -FI_ENODATA;
	if (hints->domain_attr && hints->domain_attr->name &&
	    strcasecmp(hints->domain_attr->name, sdr_cand_domain(c)) != 0)
		return -FI_ENODATA;
	if (hints->fabric_attr && hints->fabric_attr->name &&
	    strcasecmp(hints->fabric_attr->name, sdr_cand_net(c, hints)) != 0)
		return -FI_ENODATA;
	/* keys of devices would have to be handed out, write by write */
	SDR_REFUSE(type == FI_EP_DGRAM && (hints->caps & FI_RMA) && c->dev,
		   "FI_RMA of FI_EP_DGRAM on an RDMA device\n");
	if (type == FI_EP_DGRAM && hints->ep_attr &&
	    hints->ep_attr->max_msg_size > sdr_cand_dgram_max(c))
		return -FI_ENODATA;
	return 0;
}
