/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See sdr_offer.h.
 */
#include "uc/sdr_uc_engine.h"

#include "sdr_offer.h"
#include "sdr_dgram.h"
#include "sdr_hints.h"
#include "sdr_msg_order.h"

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
#define SDR_LINK_NET	     "sdr" /* fabric of what is offered to them */

uint64_t sdr_caps_tx(enum fi_ep_type type)
{
	return type != FI_EP_DGRAM ? SDR_CAPS_TX_RDM : SDR_CAPS_TX_DG;
}

uint64_t sdr_caps_rx(enum fi_ep_type type)
{
	return type == FI_EP_RDM   ? SDR_CAPS_RX_RDM
	       : type == FI_EP_MSG ? SDR_CAPS_RX_MSG
				   : SDR_CAPS_RX_DG;
}

uint64_t sdr_caps_asked_tx(enum fi_ep_type type)
{
	return type != FI_EP_DGRAM ? SDR_CAPS_ASKED : SDR_CAPS_ASKED_TX_DG;
}

uint64_t sdr_caps_asked_rx(enum fi_ep_type type)
{
	return (type != FI_EP_DGRAM ? SDR_CAPS_ASKED : SDR_CAPS_ASKED_RX_DG) |
	       (type != FI_EP_MSG ? SDR_CAPS_ASKED_RX : 0);
}

uint64_t sdr_caps_asked(enum fi_ep_type type)
{
	return sdr_caps_asked_tx(type) | sdr_caps_asked_rx(type);
}

uint64_t sdr_order_all(enum fi_ep_type type)
{
	return type != FI_EP_DGRAM ? sdr_msg_order_all() : 0;
}

uint64_t sdr_order_of(enum fi_ep_type type, uint64_t asked)
{
	return (asked | FI_ORDER_SAS) & sdr_order_all(type);
}

const char *sdr_cand_domain(const struct sdr_cand *c)
{
	return c->dev ? c->dev->name : c->iface.name;
}

const char *sdr_cand_net(const struct sdr_cand *c, const struct fi_info *hints)
{
	return sdr_hints_linked(hints) ? SDR_LINK_NET : c->iface.net;
}

size_t sdr_cand_dgram_max(const struct sdr_cand *c)
{
	uint32_t max = c->engine->ctl_max((const struct sockaddr *)&c->src, c->dev);

	return sdr_dgram_max(c->ctl_bound && max > c->ctl_bound ? c->ctl_bound : max);
}
