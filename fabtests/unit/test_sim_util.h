/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Two nodes with one connected QP each: what the tests of the simulated engine start from. */
#ifndef TEST_SIM_UTIL_H
#define TEST_SIM_UTIL_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>
#include "uc/sim/sdr_sim.h"

#define PAIR_MTU 1024u
/* bytes of a full data packet */
#define PAIR_WIRE   (PAIR_MTU + SDR_SIM_IP_UDP + SDR_DATA_OVERHEAD)
#define PAIR_EVENTS 256

struct pair {
	struct sdr_sim_world *w;
	struct sdr_uc *uc[2];
	struct sdr_uc_qp *qp[2];
	struct sdr_wire_qp_info info[2];
	struct sdr_uc_addr addr[2];
	struct sdr_uc_ev ev[PAIR_EVENTS];
	uint64_t hash; /* of the trace */
};

static inline void pair_trace(void *user, uint64_t now, enum sdr_sim_what what,
			      const struct sdr_sim_packet *p)
{
	struct pair *t = user;
	uint64_t v[6] = { now, what, p->seq, p->va, p->imm, p->due };

	for (int i = 0; i < 6; i++)
		t->hash = (t->hash ^ v[i]) * 0x100000001b3ull;
}

static inline struct sdr_uc_qp_attr pair_qp_attr(int node)
{
	struct sdr_uc_qp_attr a = {
		.channels = 2,
		.generations = 4,
		.split = SDR_IMM_SPLIT_DEFAULT,
		.mtu = PAIR_MTU,
		.max_msg = 1024 * PAIR_MTU,
		.cookie = NULL,
		.rand = { 11 + (uint64_t)node, 5 },
	};

	return a;
}

static inline void pair_open(struct pair *t, struct sdr_sim_world_attr *wa,
			     const struct sdr_sim_node_attr *na)
{
	memset(t, 0, sizeof(*t));
	if (!wa->nodes)
		wa->nodes = 2;
	if (!wa->trace)
		wa->trace = pair_trace;
	if (!wa->user)
		wa->user = t;
	t->w = sdr_sim_world_create(wa);
	assert_non_null(t->w);
	for (int i = 0; i < 2; i++) {
		struct sdr_uc_qp_attr a = pair_qp_attr(i);

		assert_int_equal(sdr_sim_node_open(t->w, (uint32_t)i, na, &t->uc[i]), 0);
		a.cookie = &t->qp[i];
		assert_int_equal(t->uc[i]->ops->qp_create(t->uc[i], &a, &t->qp[i]), 0);
		t->uc[i]->ops->qp_info(t->qp[i], &t->info[i]);
		sdr_sim_node_addr(t->w, (uint32_t)i, &t->addr[i]);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(t->uc[i]->ops->qp_connect(t->qp[i], &t->info[1 - i], NULL), 0);
}

static inline void pair_close(struct pair *t)
{
	for (int i = 0; i < 2; i++) {
		if (!t->uc[i])
			continue;
		if (t->qp[i])
			t->uc[i]->ops->qp_destroy(t->qp[i]);
		t->uc[i]->ops->close(t->uc[i]);
	}
	sdr_sim_world_destroy(t->w);
}

static inline struct sdr_uc_tx pair_write(struct pair *t, int from, uint32_t slot, uint8_t gen,
					  uint32_t first, const void *buf, uint32_t len)
{
	struct sdr_uc_tx tx = { .kind = SDR_UC_TX_WRITE, .gen = gen, .len = len, .buf = buf };

	tx.w.qp = t->qp[from];
	tx.w.slot = slot;
	tx.w.first = first;
	tx.w.user_imm = 0x87654321;
	return tx;
}

static inline int pair_ctl(struct pair *t, int from, const void *buf, uint32_t len)
{
	struct sdr_uc_tx tx = { .kind = SDR_UC_TX_CTL, .len = len, .buf = buf };

	tx.to = &t->addr[1 - from];
	return t->uc[from]->ops->post(t->uc[from], &tx, 1);
}

static inline int pair_poll(struct pair *t, int node)
{
	return t->uc[node]->ops->poll(t->uc[node], t->ev, PAIR_EVENTS);
}

static inline void pair_drain(struct pair *t)
{
	while (sdr_sim_world_step(t->w))
		;
}

static inline struct sdr_uc_stats pair_stats(struct pair *t, int node)
{
	struct sdr_uc_stats st;

	t->uc[node]->ops->stats(t->uc[node], &st);
	return st;
}

#endif /* TEST_SIM_UTIL_H */
