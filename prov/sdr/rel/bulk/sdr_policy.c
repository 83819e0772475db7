/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How a transfer travels: which scheme, which segments, which parity.
 *
 *   sr, sr_nack, sr_rto   no parity
 *   ec, ec_sr             (k, m) of the settings over all of it, chunks as the bitmap has them
 *   hybrid, auto          (k, m) and reach from sdr_choose, a packet per chunk: every packet of a
 *                         stretch belongs to another codeword, so a burst is spread as far as it
 *                         can be
 *
 * A decision is made once, when a transfer gets its message numbers, and travels in its record.  A
 * peer that takes no parity at all (codes 0) gets none; one whose bounds are below fixed settings
 * makes the transfer fail, with a text. The choice is reported (note) when it changes in kind or in
 * m, not for each transfer.
 */
#include <stdio.h>
#include "sdr_policy.h"

_Static_assert(SDR_CHOICE_SEG == SDR_REL_SEG_MAX, "the model cuts transfers as we do");

#define INTERLEAVE_MIN 4u /* submessages of a full segment from which ec interleaves */

/*
 * Data bytes of a segment so that its planned parity fits a message, and half of the parity
 * buffers.
 */
static uint64_t policy_seg(const struct sdr_conn *c, uint64_t chunk, uint32_t k, uint32_t m)
{
	uint64_t max = c->shape.seg_bytes, room = c->rel->bulk->scratch.limit / 4, seg;

	if (room < max)
		max = room;
	seg = m > k ? max / m * k : max;
	if (seg > k * chunk)
		seg = seg / (k * chunk) * (k * chunk);
	else
		seg = seg / chunk * chunk;
	return seg > chunk ? seg : chunk;
}

/* All segments about as long: a short last one would have little parity. */
static uint64_t policy_even(uint64_t len, uint64_t seg, uint64_t unit)
{
	uint64_t n = (len + seg - 1) / seg, even = (len + n - 1) / n;

	even = (even + unit - 1) / unit * unit;
	return even < seg ? even : seg;
}

static int policy_fixed(struct sdr_conn *c, uint64_t len, struct sdr_plan *plan)
{
	const struct sdr_rel_cfg *cfg = &c->rel->cfg;
	uint64_t chunk = (uint64_t)c->shape.chunk_pkts * c->shape.mtu,
		 max = c->shape.seg_bytes / cfg->ec_m;
	struct sdr_frame_code code = { .kind = cfg->ec_code, .k = cfg->ec_k, .m = cfg->ec_m };

	/* The parity of one submessage fits a message. */
	max = (max < SDR_REL_EC_CHUNK ? max : SDR_REL_EC_CHUNK) / c->shape.mtu * c->shape.mtu;
	chunk = chunk < max ? chunk : max;
	if (!chunk)
		chunk = c->shape.mtu;
	if (!(c->codes.kinds >> code.kind & 1) || (uint32_t)code.k + code.m > c->codes.syms ||
	    chunk > c->codes.chunk)
		return SDR_REL_ERR_CODE;
	code.chunk = (uint32_t)chunk;
	code.seg = (uint32_t)policy_seg(c, chunk, code.k, code.m);
	if (code.seg / chunk >= (uint64_t)INTERLEAVE_MIN * code.k)
		code.flags |= SDR_CODE_F_INTERLEAVE;
	if (cfg->ec_chunk_decode)
		code.flags |= SDR_CODE_F_CHUNK;
	if (sdr_plan_init(plan, len, 0, &code)) /* too many segments: the parity buffers are tiny */
		return sdr_plan_init(plan, len, c->shape.seg_bytes, NULL) ? SDR_REL_ERR_PROTO
									  : SDR_REL_OK;
	if (sdr_plan_check(plan, c->shape.mtu, c->shape.seg_bytes))
		return SDR_REL_ERR_CODE;
	c->bulk->choice = (struct sdr_choice){ .why = SDR_CHOICE_PARITY, .k = code.k, .m = code.m };
	c->bulk->cover_ppm = 1000000;
	return SDR_REL_OK;
}

static void policy_note(struct sdr_conn *c)
{
	struct sdr_rel *rel = c->rel;
	const struct sdr_choice *o = &c->bulk->choice;
	uint32_t key = 1 + (uint32_t)o->why + 8u * o->m;
	char text[256];

	if (c->peer->noted == key)
		return;
	c->peer->noted = key;
	if (!rel->cbs->note)
		return;
	snprintf(
		text, sizeof(text),
		"%s: k %u m %u over %.0f %% of the transfer; loss %.2g (at most %.2g), bursts of %.1f, "
		"rtt %.2f ms, chance of another round trip %.1g",
		sdr_choice_text(o->why), o->k, o->m, (double)c->bulk->cover_ppm / 1e4,
		sdr_loss_est_mean(&c->peer->loss), sdr_loss_est_upper(&c->peer->loss),
		sdr_loss_est_burst(&c->peer->loss), (double)c->rtt.srtt / 1e6, o->fail);
	rel->cbs->note(rel->user, c->peer, text);
}

static int policy_chosen(struct sdr_conn *c, uint64_t len, struct sdr_plan *plan)
{
	const struct sdr_rel_cfg *cfg = &c->rel->cfg;
	struct sdr_choice_loss loss;
	struct sdr_choice_in in = {
		.far_only = cfg->scheme == SDR_SCHEME_AUTO,
		.objective = cfg->objective,
		.max_overhead = cfg->max_overhead,
		.npkts = (len + c->shape.mtu - 1) / c->shape.mtu,
		.seg_pkts = c->shape.seg_bytes / c->shape.mtu,
		.rtt_ns = sdr_rtt_min(&c->rtt) < SDR_CHOICE_RTT_MIN ? sdr_rtt_min(&c->rtt)
								    : c->rtt.srtt,
		.pkts_ns = (double)c->cc.pacing_Bps /
			   (1e9 * (double)(c->shape.mtu + SDR_WIRE_OVERHEAD)),
		.loss = &loss,
	};
	struct sdr_frame_code code = {
		.kind = SDR_CODE_MDS,
		.flags = SDR_CODE_F_INTERLEAVE,
		.chunk = c->shape.mtu,
	};
	uint64_t cover;

	sdr_loss_est_known(&c->peer->loss, &loss);
	sdr_choose(c->rel->bulk->choices, &in, &c->bulk->choice);
	cover = c->bulk->choice.m ? c->bulk->choice.cover * c->shape.mtu : 0;
	if (cover > len)
		cover = len;
	c->bulk->cover_ppm = (uint64_t)((double)cover * 1e6 / (double)len);
	policy_note(c);
	if (!cover || !(c->codes.kinds >> SDR_CODE_MDS & 1) ||
	    (uint32_t)c->bulk->choice.k + c->bulk->choice.m > c->codes.syms ||
	    c->shape.mtu > c->codes.chunk) {
		c->bulk->choice.m = 0;
		return sdr_plan_init(plan, len, c->shape.seg_bytes, NULL) ? SDR_REL_ERR_PROTO
									  : SDR_REL_OK;
	}
	code.k = c->bulk->choice.k;
	code.m = c->bulk->choice.m;
	code.seg = (uint32_t)policy_even(len, policy_seg(c, c->shape.mtu, code.k, code.m),
					 c->shape.mtu);
	code.from = (len - cover) / c->shape.mtu * c->shape.mtu;
	if (cover > code.seg)
		code.from = code.from / code.seg * code.seg;
	else if (code.from % code.seg && code.from / code.seg < (len - 1) / code.seg)
		code.from =
			/* a little less than wanted: the last segment alone */
			(len - 1) / code.seg * code.seg;
	if (sdr_plan_init(plan, len, 0, &code)) {
		c->bulk->choice.m = 0;
		return sdr_plan_init(plan, len, c->shape.seg_bytes, NULL) ? SDR_REL_ERR_PROTO
									  : SDR_REL_OK;
	}
	return sdr_plan_check(plan, c->shape.mtu, c->shape.seg_bytes) ? SDR_REL_ERR_CODE
								      : SDR_REL_OK;
}

int sdr_policy_plan(struct sdr_conn *c, uint64_t len, struct sdr_plan *plan)
{
	enum sdr_rel_scheme scheme = c->rel->cfg.scheme;
	bool fixed = scheme == SDR_SCHEME_EC || scheme == SDR_SCHEME_EC_SR;
	int err;

	if (!c->codes.kinds || (!fixed && scheme != SDR_SCHEME_HYBRID && scheme != SDR_SCHEME_AUTO))
		err = sdr_plan_init(plan, len, c->shape.seg_bytes, NULL) ? SDR_REL_ERR_PROTO
									 : SDR_REL_OK;
	else
		err = fixed ? policy_fixed(c, len, plan) : policy_chosen(c, len, plan);
	if (err)
		return err;
	/* Parity that the peer does not take was no decision of ours. */
	c->bulk->chosen = c->codes.kinds &&
			  (fixed || scheme == SDR_SCHEME_HYBRID || scheme == SDR_SCHEME_AUTO) &&
			  (plan->code.kind || c->bulk->choice.why != SDR_CHOICE_PARITY);
	c->st.choice_parity += plan->code.kind != 0;
	c->st.choice_sr += plan->code.kind == 0;
	return SDR_REL_OK;
}

bool sdr_policy_repeats(const struct sdr_conn *c)
{
	const struct sdr_rel_cfg *cfg = &c->rel->cfg;
	bool near = sdr_rtt_min(&c->rtt) < SDR_CHOICE_RTT_MIN;

	if (cfg->scheme != SDR_SCHEME_HYBRID && (cfg->scheme != SDR_SCHEME_AUTO || near))
		return false;
	return cfg->max_overhead > 0 && sdr_loss_est_seen(&c->peer->loss) &&
	       sdr_loss_est_any(&c->peer->loss, 1) >
		       sdr_choice_quantile(cfg->objective) / SDR_CHOICE_REPEAT;
}

/* Codes of few sizes serve all: what has more positions or rows than needed is the same code. */
const struct sdr_fec *sdr_policy_fec(struct sdr_rel *rel, const struct sdr_code *g)
{
	static const uint16_t sizes[] = { 32, 64, 128 };
	uint32_t rows = g->rows;

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (rows <= sizes[i] && g->k_cw + sizes[i] <= SDR_FEC_SYMS_MAX) {
			rows = sizes[i];
			break;
		}
	}
	if (!rel->bulk->fecs[rows] &&
	    sdr_fec_create(SDR_FEC_SYMS_MAX - rows, rows, &rel->bulk->fecs[rows]))
		return NULL;
	return rel->bulk->fecs[rows];
}
