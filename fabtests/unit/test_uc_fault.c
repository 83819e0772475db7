/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Fault injection under the conformance suite: over the soft engine and the kinds of the simulated
 * one, without a fault (the contract must not change) and with those that leave most of it.
 */
#include <errno.h>

#include "uc/fault/sdr_fault.h"
#include "uc_conform_sim.h"
#include "uc_conform_soft.h"

struct over {
	struct uc_conform inner;
	const char *fault;
};

static int over_open(const struct uc_conform *c, struct uc_net *net)
{
	const struct over *o = c->arg;
	struct sdr_uc *inner[2];
	int i, ret = o->inner.open(&o->inner, net);

	for (i = 0; i < 2 && !ret; i++) {
		inner[i] = net->uc[i];
		ret = sdr_fault_open(inner[i], o->fault, 11 + (uint64_t)i, &net->uc[i], NULL, 0);
	}
	return ret;
}

static const struct uc_sim_arg mr = { .node = { .rkeyed = SDR_SIM_RKEYED_MR } };
static const struct uc_sim_arg root = { .node = { .rkeyed = SDR_SIM_RKEYED_ROOT } };

#define SOFT                                         \
	{                                            \
		.name = "soft", .open = uc_soft_open \
	}
#define SIM(kind)                                                             \
	{                                                                     \
		.name = "sim", .open = uc_sim_open, UC_SIM_HOOKS, .arg = kind \
	}

#define NONE  "drop=0"
#define DELAY "delay=2ms,jitter=500us"
#define TWICE "dup=0.5"
#define MIXED "reorder=0.3"

#define OVER(engine, text)                     \
	&(const struct over)                   \
	{                                      \
		.inner = engine, .fault = text \
	}
#define SOFT_ROW(text, f)                                                                         \
	{                                                                                         \
		.name = "soft under " text, .flags = f, .settle_ns = 20000000, .open = over_open, \
		.arg = OVER(SOFT, text)                                                           \
	}
#define SIM_ROW(kind, text, f)                                                                    \
	{                                                                                         \
		.name = "sim " #kind " under " text, UC_SIM_HOOKS, .flags = f, .open = over_open, \
		.arg = OVER(SIM(kind), text)                                                      \
	}

static const struct uc_conform rows[] = {
	SOFT_ROW(NONE, 0),
	SOFT_ROW(DELAY, 0),
	SOFT_ROW(TWICE, UC_CONFORM_DUPS),
	SOFT_ROW(MIXED, UC_CONFORM_REORDERS),
	SIM_ROW(NULL, NONE, 0),
	SIM_ROW(NULL, DELAY, 0),
	SIM_ROW(NULL, TWICE, UC_CONFORM_DUPS),
	SIM_ROW(NULL, MIXED, UC_CONFORM_REORDERS),
	SIM_ROW(&mr, NONE, 0),
	SIM_ROW(&mr, DELAY, 0),
	SIM_ROW(&mr, TWICE, UC_CONFORM_DUPS),
	SIM_ROW(&mr, MIXED, UC_CONFORM_REORDERS),
	SIM_ROW(&root, NONE, 0),
	SIM_ROW(&root, DELAY, 0),
	SIM_ROW(&root, TWICE, UC_CONFORM_DUPS),
	SIM_ROW(&root, MIXED, UC_CONFORM_REORDERS),
};

int main(int argc, char **argv)
{
	return uc_conform_run(rows, sizeof(rows) / sizeof(rows[0]), argc, argv);
}
