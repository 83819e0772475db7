/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Parity with everything, as the settings have it: (k, m) over all of a transfer, chunks as the
 * bitmap has them.
 *
 *   ec      what parity did not suffice for is repaired by more of it (HARQ)
 *   ec_sr   the paper's: it is sent again (Selective Repeat)
 *
 * A peer whose bounds are below these settings makes the transfer fail, with a text.
 */
#include "sdr_policy.h"
#include "sdr_scheme.h"

#define INTERLEAVE_MIN 4u /* submessages of a full segment from which they interleave */

static int ec_plan(struct sdr_conn *c, uint64_t len, struct sdr_plan *plan)
{
	const struct sdr_rel_cfg *cfg = &c->rel->cfg;
	uint64_t chunk = (uint64_t)c->shape->chunk_pkts * c->shape->mtu,
		 max = c->shape->seg_bytes / cfg->ec_m;
	struct sdr_frame_code code = { .kind = cfg->ec_code, .k = cfg->ec_k, .m = cfg->ec_m };

	/* The parity of one submessage fits a message. */
	max = (max < SDR_REL_EC_CHUNK ? max : SDR_REL_EC_CHUNK) / c->shape->mtu * c->shape->mtu;
	chunk = chunk < max ? chunk : max;
	if (!chunk)
		chunk = c->shape->mtu;
	if (!(c->codes.kinds >> code.kind & 1) || (uint32_t)code.k + code.m > c->codes.syms ||
	    chunk > c->codes.chunk)
		return SDR_REL_ERR_CODE;
	code.chunk = (uint32_t)chunk;
	code.seg = (uint32_t)sdr_policy_seg(c, chunk, code.k, code.m);
	if (code.seg / chunk >= (uint64_t)INTERLEAVE_MIN * code.k)
		code.flags |= SDR_CODE_F_INTERLEAVE;
	if (cfg->ec_chunk_decode)
		code.flags |= SDR_CODE_F_CHUNK;
	if (sdr_plan_init(plan, len, 0, &code)) /* too many segments: the parity buffers are tiny */
		return sdr_policy_plain(c, len, plan);
	if (sdr_plan_check(plan, c->shape->mtu, c->shape->seg_bytes))
		return SDR_REL_ERR_CODE;
	c->bulk->choice = (struct sdr_choice){ .why = SDR_CHOICE_PARITY, .k = code.k, .m = code.m };
	c->bulk->cover_ppm = 1000000;
	return SDR_REL_OK;
}

const struct sdr_scheme_ops sdr_scheme_ec = {
	.name = "ec",
	.plan = ec_plan,
	.fixed_code = true,
	.parity_on_demand = true,
};
const struct sdr_scheme_ops sdr_scheme_ec_sr = {
	.name = "ec_sr",
	.plan = ec_plan,
	.fixed_code = true,
};
