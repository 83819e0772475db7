/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What happened, one JSON object a line: see sim_trace.c and sdr_sim(1). */
#ifndef SDR_TOOLS_SIM_TRACE_H
#define SDR_TOOLS_SIM_TRACE_H

#include <stdio.h>

#include "rel/sdr_rel.h"
#include "uc/sim/sdr_sim.h"

#define SIM_TRACE_MAX 1000000u /* lines, unless set otherwise */

struct sim_trace {
	FILE *f;
	uint64_t *left; /* lines that may still be written, in memory that all processes share */
	struct sdr_imm_split split;
	uint32_t mtu;
	bool on; /* not in warm-up */
};

/* The first line: the options of the run, as the inside of a JSON object. */
void sim_trace_head(struct sim_trace *t, const char *members);
/* Of struct sdr_sim_world_attr; user is the trace. */
void sim_trace_packet(void *user, uint64_t now_ns, enum sdr_sim_what what,
		      const struct sdr_sim_packet *p);
/* An operation of a node was completed. */
void sim_trace_done(struct sim_trace *t, uint64_t now_ns, uint32_t node,
		    const struct sdr_rel_cqe *e);
/* A run of a cell begins or ends. */
void sim_trace_run(struct sim_trace *t, uint64_t now_ns, bool end, uint32_t cell, uint32_t shard,
		   uint32_t run);

#endif /* SDR_TOOLS_SIM_TRACE_H */
