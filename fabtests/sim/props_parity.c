/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Devices that get parity: transfers that are worth it, over paths that are long enough for keys
 * ahead, on which packets overtake each other by much.  So data come late when parity has replaced
 * them, and what is late may be written by a device at any pass over symbols, in the middle of a
 * decoding.  In seeds for heads their berths are short, so that only the head of a transfer comes
 * to one (rel/bulk/sdr_head_rx.c).
 */
#include "base/sdr_rand.h"
#include "fec/sdr_code.h"
#include "rel/bulk/sdr_scheme.h"
#include "props_parity.h"

static uint64_t below(struct props_parity *pp, uint64_t n)
{
	return sdr_rand64(&pp->rng) % n;
}

void props_parity_draw(struct props_parity *pp, struct simnet_cfg *c)
{
	static const struct sdr_scheme_ops *const schemes[] = { &sdr_scheme_ec, &sdr_scheme_ec,
								&sdr_scheme_hybrid,
								&sdr_scheme_auto };
	static const uint64_t delay_us[] = { 600, 2000, 12500, 25000 };
	static const uint32_t chunk[] = { 1, 4096, 16384 };
	static const uint64_t room[] = { 256u << 10, 512u << 10, 1u << 20, 2u << 20 };

	*pp = (struct props_parity){ .on = c->seed & (PROPS_PARITY_SEED | PROPS_HEADS_SEED),
				     .heads = c->seed & PROPS_HEADS_SEED,
				     .rng = c->seed ^ 0xbe57 };
	if (!pp->on)
		return;
	for (uint32_t i = 0; i < c->nodes; i++)
		c->rkeyed[i] = (uint8_t)(i != 1 && below(pp, 4) == 0 ? SDR_SIM_RKEYED_NONE
					 : below(pp, 2)		     ? SDR_SIM_RKEYED_MR
								     : SDR_SIM_RKEYED_ROOT);
	c->link.delay_ns = delay_us[below(pp, 4)] * US_NS;
	c->rel.scheme = schemes[below(pp, 4)];
	c->rel.ec_code = below(pp, 4) ? SDR_CODE_MDS : SDR_CODE_XOR;
	c->rel.ec_k = (uint16_t)(12 << below(pp, 4));
	c->rel.ec_m = (uint16_t)(4 << below(pp, 3));
	c->rel.max_overhead = 1;
	c->rel.chunk = chunk[below(pp, 3)];
	if (!pp->heads)
		return;
	c->rel.berths = room[below(pp, 4)];
	if (!(c->seed & PROPS_PARITY_SEED))
		c->rel.scheme = &sdr_scheme_sr;
}

uint32_t props_parity_sizes(const struct props_parity *pp, uint64_t *sizes)
{
	static const uint64_t v[] = { 65536,  70000,  100000, 120001, 150000,
				      200000, 210000, 262144, 524288, 1 << 20 };

	for (uint32_t i = 0; pp->on && i < sizeof(v) / sizeof(*v); i++)
		sizes[i] = v[i];
	return pp->on ? sizeof(v) / sizeof(*v) : 0;
}

void props_parity_set(struct props_parity *pp, struct sdr_sim_link *l)
{
	static const uint32_t loss_ppm[] = { 0, 0, 10000, 30000 };

	if (!pp->on)
		return;
	l->loss = loss_ppm[below(pp, 4)] / 1e6;
	l->reorder = (double)(1 + below(pp, 20)) / 100;
	l->reorder_ns = l->delay_ns * (1 + below(pp, 12)) / 4;
	l->dup = below(pp, 2) ? 0.01 : 0;
	/* long runs of small packets: one wake-up for each that a queue takes is no fault */
	l->block &= !pp->heads;
}

void props_parity_pass(struct props_parity *pp, struct simnet *sn)
{
	if (!pp->on || below(pp, 4))
		return;
	pp->early++;
	for (uint32_t i = 0; i < sn->cfg.nodes; i++)
		sdr_sim_node_write(sn->w, i);
}
