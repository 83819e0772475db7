/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Transfers whose head comes to a berth (rel/bulk/sdr_head_rx.c).
 *
 * Node 1 is the device; node 0, a socket, sends.  LEN is of one whose head is a berth of BERTH
 * bytes, as long as a peer gets with ROOM.
 */
#ifndef TEST_REL_HEAD_H
#define TEST_REL_HEAD_H

#include "../bed/bed.h"

#define LEN   600000u
#define BERTH (256u << 10)
#define ROOM  (4u * BERTH)
#define KEYS  3u /* engines: none, and the two kinds that are rkeyed */
#define MIB   (1u << 20)

static inline struct bed *head_new(uint8_t key, uint64_t room)
{
	struct bed *b = bed_new(3);

	b->na[1].rkeyed = key;
	for (uint32_t i = 0; i < 3; i++)
		b->cfg[i].berths = room;
	return b;
}

enum way { SEND, WRITE, WAYS };

/* A message, or a write of the region of p: both of its ends. */
static inline void begin(struct bed *b, enum way way, uint8_t *p, size_t len, uint32_t seed,
			 struct bed_op *op[2])
{
	uint8_t *from = bed_buf(b, len, seed);

	b->node[1].nregions = 0;
	op[1] = NULL;
	if (way == SEND) {
		op[1] = bed_recv(b, 1, p, len);
		op[0] = bed_send(b, 0, 1, from, len, 0);
	} else {
		bed_region_add(b, 1, 2, p, len, SDR_REL_ACCESS_WRITE);
		op[0] = bed_rma(b, 0, 1, SDR_REL_WRITE, from, len, 0, 2, 0);
	}
}

static inline void finish(struct bed *b, struct bed_op *op[2])
{
	for (int i = 0; i < 2 && op[i]; i++) {
		bed_wait(b, op[i], 5 * BED_SEC);
		bed_assert_ok(op[i]);
	}
}

static inline uint8_t *move(struct bed *b, enum way way, size_t len, uint32_t seed)
{
	uint8_t *p = bed_buf(b, len, 0);
	struct bed_op *op[2];

	begin(b, way, p, len, seed, op);
	finish(b, op);
	assert_true(bed_same(p, len, seed));
	return p;
}

/* One has waited, and so there is a key for the head of the next. */
static inline struct bed *head_open(uint8_t key)
{
	struct bed *b = head_new(key, ROOM);

	bed_boot(b);
	bed_warm(b, 0, 1);
	bed_warm(b, 2, 1);
	move(b, SEND, LEN, 11);
	bed_run(b, 3 * BED_RTT);
	assert_int_equal(bed_conn(b, 0, 1)->bulk->tx.nkeys, 1);
	return b;
}

static inline void head_close(struct bed *b)
{
	struct sdr_conn *c = bed_conn(b, 1, 0);

	bed_run(b, 3 * BED_RTT);
	if (c)
		assert_int_equal(bed_grants_open(b, 1), c->bulk->rx.berths.n);
	bed_close(b);
}

static inline uint64_t ctses(struct bed *b)
{
	return bed_seen(b, 1, BED_CTS);
}

#endif /* TEST_REL_HEAD_H */
