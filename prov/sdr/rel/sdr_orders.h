/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which operations to a peer keep their order beyond what messages always do: for each class of
 * operation, the classes that it must follow.  A setting of an endpoint; all zero: none.  What it
 * takes to keep it is msg/sdr_order.c's matter.
 */
#ifndef SDR_ORDERS_H
#define SDR_ORDERS_H

#include <stdint.h>

enum sdr_order_class {
	SDR_ORDER_READ,
	SDR_ORDER_WRITE,
	SDR_ORDER_SEND,	  /* messages, untagged and tagged */
	SDR_ORDER_FETCH,  /* what reads memory atomically */
	SDR_ORDER_UPDATE, /* what changes memory atomically */
	SDR_ORDER_CLASSES,
};
#define SDR_ORDER_BIT(class) (1u << (class))

struct sdr_orders {
	uint8_t after[SDR_ORDER_CLASSES]; /* SDR_ORDER_BIT of the classes that it must follow */
};

#endif /* SDR_ORDERS_H */
