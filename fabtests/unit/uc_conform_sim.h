/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Rows of the conformance suite over the simulated engine: a world of two nodes. */
#ifndef UC_CONFORM_SIM_H
#define UC_CONFORM_SIM_H

#include "uc/sim/sdr_sim.h"
#include "uc_conform.h"

struct uc_sim_arg {
	struct sdr_sim_node_attr node;
	struct sdr_sim_link link;
};

static inline int uc_sim_open(const struct uc_conform *c, struct uc_net *net)
{
	static const struct uc_sim_arg plain;
	const struct uc_sim_arg *arg = c->arg ? c->arg : &plain;
	struct sdr_sim_world_attr w = { .seed = 7, .nodes = 2, .link = arg->link };
	uint32_t i;
	int ret = 0;

	net->priv = sdr_sim_world_create(&w);
	for (i = 0; i < 2 && !ret; i++)
		ret = net->priv ? sdr_sim_node_open(net->priv, i, &arg->node, &net->uc[i])
				: -ENOMEM;
	return ret;
}

static inline void uc_sim_close(struct uc_net *net)
{
	sdr_sim_world_destroy(net->priv);
}

static inline void uc_sim_sleep(struct uc_net *net, uint64_t due)
{
	uint64_t next = sdr_sim_world_next(net->priv);

	sdr_sim_world_run_until(net->priv, next < due ? next : due);
}

static inline int uc_sim_break(struct uc_net *net, uint32_t qpn)
{
	return sdr_sim_qp_break(net->priv, 1, qpn);
}

/* All hooks but open. */
#define UC_SIM_HOOKS                                                            \
	.close = uc_sim_close, .sleep = uc_sim_sleep, .break_qp = uc_sim_break, \
	.settle_ns = 1000000000u

#endif /* UC_CONFORM_SIM_H */
