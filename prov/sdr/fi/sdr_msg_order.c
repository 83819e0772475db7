/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * libfabric's message orders as classes of operations that follow each other (rel/sdr_orders.h).
 *
 * Messages keep their order in any case, so FI_ORDER_SAS asks for nothing.  An atomic that fetches
 * counts as a read, any other as a write.  Where an order is kept, data keep it at any size, which
 * libfabric says by a size of -1.
 */
#include <stdbool.h>

#include "sdr_msg_order.h"

#define R SDR_ORDER_BIT(SDR_ORDER_READ)
#define W SDR_ORDER_BIT(SDR_ORDER_WRITE)
#define S SDR_ORDER_BIT(SDR_ORDER_SEND)
#define F SDR_ORDER_BIT(SDR_ORDER_FETCH)
#define U SDR_ORDER_BIT(SDR_ORDER_UPDATE)

static const struct {
	uint64_t bit;
	uint64_t data;	      /* the order of data that it is, or is part of; 0: of none */
	uint8_t later, after; /* classes: each of the first follows each of the second */
} sdr_msg_orders[] = {
	{ FI_ORDER_RAR, 0, R | F, R | F },
	{ FI_ORDER_RAW, FI_ORDER_RAW, R | F, W | U },
	{ FI_ORDER_RAS, 0, R | F, S },
	{ FI_ORDER_WAR, FI_ORDER_WAR, W | U, R | F },
	{ FI_ORDER_WAW, FI_ORDER_WAW, W | U, W | U },
	{ FI_ORDER_WAS, 0, W | U, S },
	{ FI_ORDER_SAR, 0, S, R | F },
	{ FI_ORDER_SAW, 0, S, W | U },
	{ FI_ORDER_SAS, 0, 0, 0 },
	{ FI_ORDER_RMA_RAR, 0, R, R },
	{ FI_ORDER_RMA_RAW, FI_ORDER_RAW, R, W },
	{ FI_ORDER_RMA_WAR, FI_ORDER_WAR, W, R },
	{ FI_ORDER_RMA_WAW, FI_ORDER_WAW, W, W },
	{ FI_ORDER_ATOMIC_RAR, 0, F, F },
	{ FI_ORDER_ATOMIC_RAW, FI_ORDER_RAW, F, U },
	{ FI_ORDER_ATOMIC_WAR, FI_ORDER_WAR, U, F },
	{ FI_ORDER_ATOMIC_WAW, FI_ORDER_WAW, U, U },
};
#define SDR_MSG_ORDERS (sizeof(sdr_msg_orders) / sizeof(sdr_msg_orders[0]))

uint64_t sdr_msg_order_all(void)
{
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < SDR_MSG_ORDERS; i++)
		all |= sdr_msg_orders[i].bit;
	return all;
}

void sdr_msg_order_set(uint64_t bits, struct sdr_orders *o)
{
	size_t i, class;

	*o = (struct sdr_orders){ .after = { 0 } };
	for (i = 0; i < SDR_MSG_ORDERS; i++) {
		if (!(bits & sdr_msg_orders[i].bit))
			continue;
		for (class = 0; class < SDR_ORDER_CLASSES; class ++)
			if (sdr_msg_orders[i].later & SDR_ORDER_BIT(class))
				o->after[class] |= sdr_msg_orders[i].after;
	}
}

size_t sdr_msg_order_size(uint64_t bits, uint64_t which)
{
	size_t i;

	for (i = 0; i < SDR_MSG_ORDERS; i++)
		if ((bits & sdr_msg_orders[i].bit) && sdr_msg_orders[i].data == which)
			return SIZE_MAX;
	return 0;
}
