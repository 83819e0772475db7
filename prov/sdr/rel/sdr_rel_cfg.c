/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The default settings of a reliable endpoint.
 *
 * They are here once for all who build an endpoint by hand: simulator, tests, fuzzers.  The
 * provider's variables have defaults of their own, as text (fi/sdr_env_table.c); test_fi_env
 * compares the two.  What 0 means (scheme, mtu, rtt_init_us, the limits) is decided where the value
 * is used.
 */
#include "fec/sdr_code.h"
#include "rel/path/sdr_cc_ops.h"
#include "sdr_rel_cfg.h"

void sdr_rel_cfg_init(struct sdr_rel_cfg *cfg)
{
	*cfg = (struct sdr_rel_cfg){
		.cc = &sdr_cc_auto,
		.chunk = 65536,
		.split = SDR_IMM_SPLIT_DEFAULT,
		.channels = 1,
		.generations = 4,
		.spread_min = SDR_REL_SPREAD_MIN,
		.paths = 1,
		.rto_rtts = 3,
		.timeout_ms = 30000,
		.keepalive_ms = SDR_KEEPALIVE_MS,
		.tx_depth = 1024,
		.rx_depth = 4096,
		.inject_max = 1024,
		.ec_code = SDR_CODE_MDS,
		.ec_k = 32,
		.ec_m = 8,
		.objective = SDR_OBJECTIVE_P99,
		.max_overhead = 0.25,
		.ec_scratch = SDR_REL_EC_SCRATCH,
		.stage = SDR_REL_STAGE,
		.berths = SDR_REL_BERTHS,
	};
}
