/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * fi_getinfo: what is offered, to whom.
 *
 * One entry for each address of an interface that is up and each endpoint type, reliable ones
 * first; where an RDMA device has the address another one in front of them all, whose domain is the
 * device (FI_SDR_ENGINE says which of the two kinds there are).  Every hint is honoured or makes
 * the entry disappear (-FI_ENODATA, with the reason in the log: sdr_refusal.c); what is returned is
 * what the endpoint then does.  Who does not name this provider gets nothing (sdr_named.c).  The
 * utility providers ask for cores with a private flag: they get nothing, or they would stand in
 * front of the native endpoint.  A wrong environment value leaves no entry at all.  Addresses come
 * from sdr_search.c.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmem/sdr_hmem.h"
#include "uc/sdr_uc_engine.h"

#include "sdr_info.h"
#include "sdr_dgram.h"
#include "sdr_ep.h"
#include "sdr_msg_order.h"
#include "sdr_named.h"
#include "sdr_nic.h"
#include "sdr_old_api.h"
#include "sdr_peer_api.h"
#include "sdr_prov.h"
#include "sdr_refusal.h"
#include "sdr_region.h"
#include "sdr_tclass.h"

#define SDR_CORE_PROV_ONLY (1ULL << 59) /* libfabric's private flag of utility providers */
#define SDR_FLAGS_PRIVATE  (0xfULL << 58)

#define SDR_CAPS_COMM (FI_LOCAL_COMM | FI_REMOTE_COMM)
#define SDR_CAPS_TX_RDM \
	(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_READ | FI_WRITE | FI_FENCE)
#define SDR_CAPS_RX_RDM                                                                         \
	(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE | \
	 FI_DIRECTED_RECV | FI_SOURCE | FI_MULTI_RECV | FI_RMA_EVENT)
#define SDR_CAPS_RX_MSG (SDR_CAPS_RX_RDM & ~(FI_DIRECTED_RECV | FI_SOURCE)) /* one peer */
#define SDR_CAPS_TX_DG	(FI_MSG | FI_SEND)
#define SDR_CAPS_RX_DG	(FI_MSG | FI_RECV | FI_SOURCE)
/* for who asks: of reliable endpoints, with drivers that are there; of endpoints with many peers */
#define SDR_CAPS_ASKED FI_HMEM
/* and of datagram endpoints: writes, which cannot be relied on */
#define SDR_CAPS_ASKED_TX_DG (FI_RMA | FI_WRITE)
#define SDR_CAPS_ASKED_RX_DG (FI_RMA | FI_REMOTE_WRITE | FI_RMA_EVENT)
#define SDR_CAPS_ASKED_RX    FI_SOURCE_ERR
/* of domains, for providers that link others (lnx); there when asked for */
#define SDR_CAPS_LINK (FI_PEER | FI_AV_USER_ID)
#define SDR_LINK_NET  "sdr" /* fabric of what is offered to them */
/* receive limits that lnx passes on as they are, and takes back up to here only */
#define SDR_LINK_IOV	 4u
#define SDR_LINK_RX_SIZE 1024u
/* secondary capabilities that cost nothing: always there */
#define SDR_CAPS_FREE (SDR_CAPS_COMM | FI_FENCE | FI_MULTI_RECV)
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
#define SDR_RX_OP_FLAGS (FI_COMPLETION | FI_MULTI_RECV | FI_MORE)

/* what FI_MR_BASIC is in bits */
#define SDR_MR_BASIC_BITS (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)
#define SDR_TAG_FORMAT	  0xaaaaaaaaaaaaaaaaull /* all 64 bits, one field each: the application's */
#define SDR_MAX_PROGRESS  3			/* FI_PROGRESS_CONTROL_UNIFIED of libfabric 2 */
/* CQs, counters, endpoints of a domain: what memory allows, really */
#define SDR_CNT_MAX	 65536u
#define SDR_MR_CNT_MAX	 (1u << 24)
#define SDR_ERR_DATA_MAX 256u /* bytes of the text with an error */

static const char *sdr_cand_domain(const struct sdr_cand *c)
{
	return c->dev ? c->dev->name : c->iface.name;
}

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

/* Another provider asks, for one of its links. */
static bool sdr_info_linked(const struct fi_info *hints)
{
	return hints && (hints->caps & FI_PEER);
}

/*
 * The fabric's name.  A link's two ends compare it, so that of linked endpoints says nothing of the
 * network.
 */
static const char *sdr_cand_net(const struct sdr_cand *c, const struct fi_info *hints)
{
	return sdr_info_linked(hints) ? SDR_LINK_NET : c->iface.net;
}

static uint64_t sdr_caps_tx(enum fi_ep_type type)
{
	return type != FI_EP_DGRAM ? SDR_CAPS_TX_RDM : SDR_CAPS_TX_DG;
}

static uint64_t sdr_caps_rx(enum fi_ep_type type)
{
	return type == FI_EP_RDM   ? SDR_CAPS_RX_RDM
	       : type == FI_EP_MSG ? SDR_CAPS_RX_MSG
				   : SDR_CAPS_RX_DG;
}

static uint64_t sdr_caps_asked_tx(enum fi_ep_type type)
{
	return type != FI_EP_DGRAM ? SDR_CAPS_ASKED : SDR_CAPS_ASKED_TX_DG;
}

static uint64_t sdr_caps_asked_rx(enum fi_ep_type type)
{
	return (type != FI_EP_DGRAM ? SDR_CAPS_ASKED : SDR_CAPS_ASKED_RX_DG) |
	       (type != FI_EP_MSG ? SDR_CAPS_ASKED_RX : 0);
}

static uint64_t sdr_caps_asked(enum fi_ep_type type)
{
	return sdr_caps_asked_tx(type) | sdr_caps_asked_rx(type);
}

static uint64_t sdr_order_all(enum fi_ep_type type)
{
	return type != FI_EP_DGRAM ? sdr_msg_order_all() : 0;
}

/* What costs nothing is always there. */
static uint64_t sdr_order_of(enum fi_ep_type type, uint64_t asked)
{
	return (asked | FI_ORDER_SAS) & sdr_order_all(type);
}

/* Bytes of the largest datagram from this address. */
static size_t sdr_info_dgram_max(const struct sdr_cand *c)
{
	uint32_t max = c->engine->ctl_max((const struct sockaddr *)&c->src, c->dev);

	return sdr_dgram_max(c->ctl_bound && max > c->ctl_bound ? c->ctl_bound : max);
}

/* ---- hints ----------------------------------------------------------------------------------- */

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
	if (!sdr_info_linked(hints))
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

/* Older applications have no such field. */
static bool sdr_knows_tclass(uint32_t version)
{
	return FI_VERSION_GE(version, FI_VERSION(1, 9));
}

static int sdr_check_tclass(uint32_t version, const struct fi_info *hints)
{
	uint8_t dscp = 0;

	SDR_REFUSE(sdr_knows_tclass(version) && !sdr_tclass_of(hints, &dscp), "traffic class\n");
	return 0;
}

/* Everything that does not depend on the address. */
static int sdr_check_hints(uint32_t version, const struct fi_info *hints, enum fi_ep_type type)
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

/* What depends on it. */
static int sdr_check_cand(const struct fi_info *hints, enum fi_ep_type type,
			  const struct sdr_cand *c)
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
	    hints->ep_attr->max_msg_size > sdr_info_dgram_max(c))
		return -FI_ENODATA;
	return 0;
}

/* ---- entries --------------------------------------------------------------------------------- */

static uint64_t sdr_caps_directed(uint64_t caps)
{
	if ((caps & (FI_MSG | FI_TAGGED)) && !(caps & (FI_SEND | FI_RECV)))
		caps |= FI_SEND | FI_RECV;
	if ((caps & (FI_RMA | FI_ATOMIC)) &&
	    !(caps & (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)))
		caps |= FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	return caps;
}

static uint64_t sdr_info_caps(const struct fi_info *hints, enum fi_ep_type type,
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
static int sdr_info_mr_mode(uint32_t version, const struct fi_info *hints)
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
static uint64_t sdr_info_mode(const struct fi_info *hints, enum fi_ep_type type)
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

static void sdr_info_domain(struct fi_domain_attr *d, uint32_t version, const struct fi_info *hints,
			    uint64_t comm)
{
	const struct fi_domain_attr *h = hints ? hints->domain_attr : NULL;

	d->threading = h && h->threading ? h->threading : FI_THREAD_SAFE;
	d->control_progress = h && h->control_progress ? h->control_progress : FI_PROGRESS_AUTO;
	d->data_progress = sdr_info_linked(hints)  ? FI_PROGRESS_MANUAL
			   : h && h->data_progress ? h->data_progress
						   : FI_PROGRESS_AUTO;
	d->resource_mgmt = FI_RM_ENABLED;
	d->av_type = h && h->av_type ? h->av_type : FI_AV_UNSPEC;
	d->mr_mode = sdr_info_mr_mode(version, hints);
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

static void *sdr_addr_dup(const struct sockaddr_storage *sa, size_t *len)
{
	void *p = malloc(sdr_sockaddr_len((const struct sockaddr *)sa));

	if (p) {
		*len = sdr_sockaddr_len((const struct sockaddr *)sa);
		memcpy(p, sa, *len);
	}
	return p;
}

static struct fi_info *sdr_info_make(uint32_t version, const struct fi_info *hints,
				     enum fi_ep_type type, const struct sdr_cand *c)
{
	const struct fi_ep_attr *he = hints ? hints->ep_attr : NULL;
	const struct fi_tx_attr *ht = hints ? hints->tx_attr : NULL;
	const struct fi_rx_attr *hr = hints ? hints->rx_attr : NULL;
	bool rdm = type != FI_EP_DGRAM, linked = sdr_info_linked(hints);
	struct fi_info *i = fi_allocinfo();

	if (!i)
		return NULL;
	i->caps = sdr_info_caps(hints, type, c);
	i->mode = i->rx_attr->mode = sdr_info_mode(hints, type);
	i->addr_format = c->src.ss_family == AF_INET ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6;
	i->src_addr = sdr_addr_dup(&c->src, &i->src_addrlen);
	if (!i->src_addr)
		goto nomem;
	if (c->dst.ss_family) {
		i->dest_addr = sdr_addr_dup(&c->dst, &i->dest_addrlen);
		if (!i->dest_addr)
			goto nomem;
	}

	i->ep_attr->type = type;
	i->ep_attr->protocol = SDR_PROTO;
	/* Who links us passes it on as a version of its own protocol. */
	i->ep_attr->protocol_version = linked ? 0 : SDR_WIRE_VERSION;
	i->ep_attr->max_msg_size = rdm ? SDR_REL_MSG_MAX : sdr_info_dgram_max(c);
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

	sdr_info_domain(i->domain_attr, version, hints, c->comm);
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

/* What was asked for, or else the setting; its endpoint and its domain ask for the same. */
static void sdr_info_tclass(struct fi_info *i, uint32_t version, const struct fi_info *hints,
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

/* ---- the call -------------------------------------------------------------------------------- */

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
		if (sdr_check_hints(version, hints, types[t]))
			continue;
		for (k = 0; k < 2 * s.n; k++) { /* devices, then sockets */
			c = &s.v[k < s.n ? k : k - s.n];
			if ((k < s.n) != (c->dev != NULL) || sdr_check_cand(hints, types[t], c))
				continue;
			i = sdr_info_make(version, hints, types[t], c);
			if (!i) {
				fi_freeinfo(*info);
				*info = NULL;
				ret = -FI_ENOMEM;
				goto out;
			}
			sdr_info_tclass(i, version, hints, env.dscp);
			*tail = i;
			tail = &i->next;
			/* A link takes all that is offered, and needs one way out. */
			if (sdr_info_linked(hints) && !s.chosen)
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
