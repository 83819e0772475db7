/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How a transfer travels, see sdr_policy.c.
 */
#ifndef SDR_POLICY_H
#define SDR_POLICY_H

#include "sdr_bulk.h"
#include "sdr_plan.h"
#include "fec/sdr_fec.h"

/* How an operation's bytes travel: segments, parity.  enum sdr_rel_err. */
int sdr_policy_plan(struct sdr_conn *c, uint64_t len, struct sdr_plan *plan);
/*
 * The same to an rkeyed peer: the parity goes to a berth of its own of so many bytes, behind the
 * data if they do too; 0: there is none, and so no parity.
 */
int sdr_policy_plan_berth(struct sdr_conn *c, uint64_t len, uint64_t berth, bool data,
			  struct sdr_plan *plan);
/*
 * Of a longer transfer to an rkeyed peer as much as this berth holds, from its first byte on:
 * plan->len.
 */
int sdr_policy_plan_head(struct sdr_conn *c, uint64_t len, uint64_t berth, struct sdr_plan *plan);
/* Without parity; enum sdr_rel_err. */
int sdr_policy_plain(const struct sdr_conn *c, uint64_t len, struct sdr_plan *plan);
/*
 * Data bytes of a segment, in chunks, so that its planned parity fits a message, and half of the
 * parity buffers.
 */
uint64_t sdr_policy_seg(const struct sdr_conn *c, uint64_t chunk, uint32_t k, uint32_t m);
/*
 * Packets of the planned parity that leave by themselves, of a transfer of len bytes: asked when
 * its data have left.
 */
uint32_t sdr_policy_parity(struct sdr_conn *c, uint64_t len, const struct sdr_code *g);
bool sdr_policy_repeats(const struct sdr_conn *c); /* a lone packet is worth a copy */
/* NULL: no memory */
const struct sdr_fec *sdr_policy_fec(struct sdr_rel *rel, const struct sdr_code *g);

#endif /* SDR_POLICY_H */
