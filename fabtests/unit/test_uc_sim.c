/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The simulated engine under the conformance suite, in each of its kinds. */
#include <errno.h>

#include "uc_conform_sim.h"

static const struct uc_sim_arg late = { .node = { .report_late = true } };
static const struct uc_sim_arg mr = { .node = { .rkeyed = SDR_SIM_RKEYED_MR } };
static const struct uc_sim_arg few = { .node = { .rkeyed = SDR_SIM_RKEYED_MR, .grants_max = 4 } };
static const struct uc_sim_arg root = { .node = { .rkeyed = SDR_SIM_RKEYED_ROOT } };
static const struct uc_sim_arg slow = {
	.link = { .rate_bps = 100000000, .delay_ns = 12500000, .queue_bytes = 3000, .block = true }
};
static const struct uc_sim_arg twice = { .link = { .delay_ns = 1000000, .dup = 0.5 } };
static const struct uc_sim_arg mixed = {
	.link = { .delay_ns = 1000000, .reorder = 0.3, .reorder_ns = 300000 }
};

static const struct uc_conform rows[] = {
	{ .name = "sim", .open = uc_sim_open, UC_SIM_HOOKS },
	{ .name = "sim, late packets reported",
	  .open = uc_sim_open,
	  UC_SIM_HOOKS,
	  .arg = &late,
	  .flags = UC_CONFORM_ONE_KEY },
	{ .name = "sim mr", .open = uc_sim_open, UC_SIM_HOOKS, .arg = &mr },
	{ .name = "sim mr, four grants", .open = uc_sim_open, UC_SIM_HOOKS, .arg = &few },
	{ .name = "sim root", .open = uc_sim_open, UC_SIM_HOOKS, .arg = &root },
	{ .name = "sim, a short queue", .open = uc_sim_open, UC_SIM_HOOKS, .arg = &slow },
	{ .name = "sim, repeating",
	  .open = uc_sim_open,
	  UC_SIM_HOOKS,
	  .arg = &twice,
	  .flags = UC_CONFORM_DUPS },
	{ .name = "sim, reordering",
	  .open = uc_sim_open,
	  UC_SIM_HOOKS,
	  .arg = &mixed,
	  .flags = UC_CONFORM_REORDERS },
};

int main(int argc, char **argv)
{
	return uc_conform_run(rows, sizeof(rows) / sizeof(rows[0]), argc, argv);
}
