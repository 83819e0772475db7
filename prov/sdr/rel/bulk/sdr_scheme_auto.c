/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Parity where a repair would come too late.
 *
 *   hybrid   (k, m) and reach from sdr_choose, decided for each transfer: Selective Repeat where a
 *            repair fits before the end, parity over the last round trips
 *   auto     the same over a long round trip, else Selective Repeat alone
 *
 * A packet is a chunk: every packet of a stretch belongs to another codeword, so a burst is spread
 * as far as it can be.  The choice is reported (note) when it changes in kind or in m, not for each
 * transfer.  A packet that is alone on its way has no parity: it is sent twice where its loss is
 * likelier than the objective bears.
 */
#include <stdio.h>
#include "model/sdr_choice_layout.h"
#include "sdr_policy.h"
#include "sdr_scheme.h"

_Static_assert(SDR_CHOICE_SEG == SDR_REL_SEG_MAX, "the model cuts transfers as we do");

static void auto_note(struct sdr_conn *c)
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
		sdr_loss_est_burst(&c->peer->loss), (double)c->main.rtt.srtt / 1e6, o->fail);
	rel->cbs->note(rel->user, c->peer, text);
}

/* What a transfer of len bytes wants by what is known now. */
static void auto_choose(struct sdr_conn *c, uint64_t len, struct sdr_choice *out)
{
	const struct sdr_rel_cfg *cfg = &c->rel->cfg;
	struct sdr_choice_loss loss;
	struct sdr_choice_in in = {
		.far_only = cfg->scheme->far_only,
		.objective = cfg->objective,
		.max_overhead = cfg->max_overhead,
		.npkts = (len + c->shape->mtu - 1) / c->shape->mtu,
		.seg_pkts = c->shape->seg_bytes / c->shape->mtu,
		.rtt_ns = sdr_rtt_min(&c->main.rtt) < SDR_CHOICE_RTT_MIN ? sdr_rtt_min(&c->main.rtt)
									 : c->main.rtt.srtt,
		.pkts_ns = sdr_conn_rate(c) / (1e9 * (double)(c->shape->mtu + SDR_WIRE_OVERHEAD)),
		.loss = &loss,
	};

	sdr_loss_est_known(&c->peer->loss, &loss);
	sdr_choose(c->rel->bulk->choices, &in, out);
}

static int auto_plan(struct sdr_conn *c, uint64_t len, struct sdr_plan *plan)
{
	struct sdr_frame_code code = {
		.kind = SDR_CODE_MDS,
		.flags = SDR_CODE_F_INTERLEAVE,
		.chunk = c->shape->mtu,
	};
	struct sdr_choice_layout layout;
	uint64_t cover;

	auto_choose(c, len, &c->bulk->choice);
	cover = c->bulk->choice.m ? c->bulk->choice.cover * c->shape->mtu : 0;
	if (cover > len)
		cover = len;
	c->bulk->cover_ppm = (uint64_t)((double)cover * 1e6 / (double)len);
	auto_note(c);
	if (!cover || !(c->codes.kinds >> SDR_CODE_MDS & 1) ||
	    (uint32_t)c->bulk->choice.k + c->bulk->choice.m > c->codes.syms ||
	    c->shape->mtu > c->codes.chunk) {
		c->bulk->choice.m = 0;
		return sdr_policy_plain(c, len, plan);
	}
	code.k = c->bulk->choice.k;
	code.m = c->bulk->choice.m;
	sdr_choice_layout(&layout, len, cover, sdr_policy_seg(c, c->shape->mtu, code.k, code.m),
			  c->shape->mtu);
	code.seg = (uint32_t)layout.seg;
	code.from = layout.from;
	if (sdr_plan_init(plan, len, 0, &code)) {
		c->bulk->choice.m = 0;
		return sdr_policy_plain(c, len, plan);
	}
	return sdr_plan_check(plan, c->shape->mtu, c->shape->seg_bytes) ? SDR_REL_ERR_CODE
									: SDR_REL_OK;
}

/*
 * A transfer may have waited long behind others: what was lost was ours, or we know by now that
 * nothing is.  A codeword may have more packets than one would have now.
 */
static uint32_t auto_rows(struct sdr_conn *c, uint64_t len, const struct sdr_code *g)
{
	struct sdr_choice now;
	uint32_t rows;

	auto_choose(c, len, &now);
	if (!now.m)
		return 0;
	rows = (now.m * g->kmax + now.k - 1) / now.k;
	return rows < g->plan ? rows : g->plan;
}

static bool auto_repeats(const struct sdr_conn *c)
{
	const struct sdr_rel_cfg *cfg = &c->rel->cfg;

	if (cfg->scheme->far_only && sdr_rtt_min(&c->main.rtt) < SDR_CHOICE_RTT_MIN)
		return false;
	return cfg->max_overhead > 0 && sdr_loss_est_seen(&c->peer->loss) &&
	       sdr_loss_est_any(&c->peer->loss, 1) >
		       sdr_choice_quantile(cfg->objective) / SDR_CHOICE_REPEAT;
}

const struct sdr_scheme_ops sdr_scheme_hybrid = {
	.name = "hybrid",
	.plan = auto_plan,
	.rows = auto_rows,
	.parity_on_demand = true,
	.repeats = auto_repeats,
};
const struct sdr_scheme_ops sdr_scheme_auto = {
	.name = "auto",
	.plan = auto_plan,
	.rows = auto_rows,
	.far_only = true,
	.parity_on_demand = true,
	.repeats = auto_repeats,
};
