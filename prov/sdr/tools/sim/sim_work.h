/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What the nodes of a bed do: see sim_work.c.  False: the bed has failed, and says why. */
#ifndef SDR_TOOLS_SIM_WORK_H
#define SDR_TOOLS_SIM_WORK_H

#include "sim_bed.h"

#define SIM_WINDOW_MAX 4096u /* messages of a stream under way */

/*
 * One message of len bytes from node 0 to node 1: ns from the post to the completion at the sender.
 */
bool sim_work_message(struct sim_bed *b, uint64_t len, uint64_t *ns);
/*
 * n such messages, window of them under way at a time (<= mem_slots): *ns for all of them,
 * each_s[i] (may be NULL) for the i-th, from its post to its completion at the sender.
 */
bool sim_work_stream(struct sim_bed *b, uint64_t len, uint32_t n, uint32_t window, uint64_t *ns,
		     double *each_s);
/*
 * Ring allreduce of all nodes, buffers of len bytes: ns from the start to the end of the last node.
 */
bool sim_work_allreduce(struct sim_bed *b, uint64_t len, uint64_t *ns);
/* Rounds of it, and bytes that each node sends in one. */
uint32_t sim_work_rounds(uint32_t nodes);
uint64_t sim_work_step(uint64_t len, uint32_t nodes);
/* Lets a random time pass, uniform in [0, max_s). */
void sim_work_pause(struct sim_bed *b, double max_s);

#endif /* SDR_TOOLS_SIM_WORK_H */
