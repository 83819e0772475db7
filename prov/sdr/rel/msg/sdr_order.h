/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Operations that keep their order: the initiator's side.  See sdr_order.c. */
#ifndef SDR_ORDER_H
#define SDR_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/sdr_list.h"
#include "rel/sdr_orders.h"

struct sdr_conn;
struct sdr_op;

struct sdr_order {	       /* of a connection */
	struct sdr_list leads; /* sdr_op.lead: others may have to follow them; in their order */
	uint32_t next;	       /* turn of the next of them */
};

/* The classes that lead: some other must follow them (SDR_ORDER_BIT). */
uint32_t sdr_order_leads(const struct sdr_orders *o);
/* It may not start yet: it starts when another has ended. */
bool sdr_order_holds(const struct sdr_conn *c, const struct sdr_op *op);
/*
 * It starts, in the order of posting: its record says which turn it has, and which it waits for.
 * placed: its bytes are placed as they come, whatever its record says.
 */
void sdr_order_start(struct sdr_op *op, bool placed);
/* Others wait for its turn at the peer: its record must arrive. */
bool sdr_order_has_turn(const struct sdr_op *op);
/* It must follow one that is not over and reaches some of the same bytes. */
bool sdr_order_overlaps(const struct sdr_op *op);
/* It must follow others, and what it waits for may have bytes that go as bulk. */
bool sdr_order_behind_bulk(const struct sdr_op *op);

#endif /* SDR_ORDER_H */
