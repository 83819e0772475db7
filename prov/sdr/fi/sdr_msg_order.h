/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* libfabric's message orders, see sdr_msg_order.c. */
#ifndef SDR_MSG_ORDER_H
#define SDR_MSG_ORDER_H

#include <stddef.h>
#include <rdma/fabric.h>

#include "rel/sdr_orders.h"

/* FI_ORDER_* that a reliable endpoint keeps if it is asked to. */
uint64_t sdr_msg_order_all(void);
/* The classes of operations that these make follow each other. */
void sdr_msg_order_set(uint64_t bits, struct sdr_orders *o);
/*
 * Bytes up to which data keep this order as well, max_order_*_size: FI_ORDER_RAW (with the two that
 * it consists of), FI_ORDER_WAR or FI_ORDER_WAW; 0: nobody asked for it.
 */
size_t sdr_msg_order_size(uint64_t bits, uint64_t which);

#endif /* SDR_MSG_ORDER_H */
