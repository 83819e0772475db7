/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What there is to offer, by the type of endpoint and by the address: capabilities, orders and
 * limits, which fi_getinfo's two halves share (sdr_hints.c, sdr_entry.c).
 */
#ifndef SDR_OFFER_H
#define SDR_OFFER_H

#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "sdr_info.h"

#define SDR_CAPS_COMM (FI_LOCAL_COMM | FI_REMOTE_COMM)
/* of domains, for providers that link others (lnx); there when asked for */
#define SDR_CAPS_LINK (FI_PEER | FI_AV_USER_ID)
/* CQs, counters, endpoints of a domain: what memory allows, really */
#define SDR_CNT_MAX	 65536u
#define SDR_MR_CNT_MAX	 (1u << 24)
#define SDR_ERR_DATA_MAX 256u /* bytes of the text with an error */

/* Capabilities of each side that are there unless others are asked for ... */
uint64_t sdr_caps_tx(enum fi_ep_type type);
uint64_t sdr_caps_rx(enum fi_ep_type type);
/* ... and those that must be asked for; of both sides. */
uint64_t sdr_caps_asked_tx(enum fi_ep_type type);
uint64_t sdr_caps_asked_rx(enum fi_ep_type type);
uint64_t sdr_caps_asked(enum fi_ep_type type);

/* FI_ORDER_ bits that can be had. */
uint64_t sdr_order_all(enum fi_ep_type type);
/* Those that are given to who asks so: what costs nothing is always there. */
uint64_t sdr_order_of(enum fi_ep_type type, uint64_t asked);

const char *sdr_cand_domain(const struct sdr_cand *c);
/*
 * The fabric's name.  A link's two ends compare it, so that of linked endpoints says nothing of the
 * network.
 */
const char *sdr_cand_net(const struct sdr_cand *c, const struct fi_info *hints);
/* Bytes of the largest datagram from this address. */
size_t sdr_cand_dgram_max(const struct sdr_cand *c);

#endif /* SDR_OFFER_H */
