/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How a transfer travels: which segments, which parity, by the scheme of the settings.
 *
 * A decision is made once, when a transfer gets its message numbers, and travels in its record.  A
 * peer that takes no parity at all (codes 0) gets none, and an rkeyed one what fits a berth.  The
 * head of a transfer and the rest of it have a plan each, as if they were two.  What
 * schemes share stands here: a plan without parity, the length of a segment whose parity fits a
 * message, and the codes, which are made once and kept.
 */
#include "base/sdr_assert.h"
#include "model/sdr_choice_layout.h"
#include "sdr_policy.h"
#include "sdr_scheme.h"

#define HEAD_UNIT 4096u /* bytes: what lies behind a head begins with a page */

int sdr_policy_plain(const struct sdr_conn *c, uint64_t len, struct sdr_plan *plan)
{
	return sdr_plan_init(plan, len, c->shape->seg_bytes, NULL) ? SDR_REL_ERR_PROTO : SDR_REL_OK;
}

uint64_t sdr_policy_seg(const struct sdr_conn *c, uint64_t chunk, uint32_t k, uint32_t m)
{
	uint64_t max = c->shape->seg_bytes, room = c->rel->bulk->scratch.limit / 4;

	return sdr_choice_seg(room < max ? room : max, chunk, k, m);
}

int sdr_policy_plan(struct sdr_conn *c, uint64_t len, struct sdr_plan *plan)
{
	return sdr_policy_plan_berth(c, len, 0, false, plan);
}

int sdr_policy_plan_berth(struct sdr_conn *c, uint64_t len, uint64_t berth, bool data,
			  struct sdr_plan *plan)
{
	const struct sdr_scheme_ops *ops = c->bulk->scheme;
	bool rkeyed = sdr_qp_peer_rkeyed(c->shape->qp);
	bool asked = ops->plan && c->codes.kinds && (berth || !rkeyed);
	int err = asked ? ops->plan(c, len, plan) : sdr_policy_plain(c, len, plan);

	if (!err && rkeyed && plan->code.kind &&
	    (sdr_plan_berth(plan, c->shape->mtu, berth, data) ||
	     sdr_plan_check(plan, c->shape->mtu, c->shape->seg_bytes))) {
		c->bulk->choice.m = 0;
		err = sdr_policy_plain(c, len, plan);
	}
	if (err)
		return err;
	SDR_ASSERT(plan->len == len && plan->nmsgs);
	SDR_ASSERT(!plan->code.kind || (asked && c->codes.kinds >> plan->code.kind & 1));
	/* Parity that the peer does not take was no decision of ours. */
	c->bulk->chosen = asked && (plan->code.kind || c->bulk->choice.why != SDR_CHOICE_PARITY);
	c->st.choice_parity += plan->code.kind != 0;
	c->st.choice_sr += plan->code.kind == 0;
	return SDR_REL_OK;
}

int sdr_policy_plan_head(struct sdr_conn *c, uint64_t len, uint64_t berth, struct sdr_plan *plan)
{
	const struct sdr_scheme_ops *ops = c->bulk->scheme;
	uint64_t head = berth < SDR_BERTH_MAX ? berth : SDR_BERTH_MAX;
	/* Where the whole would have some; elsewhere a repair comes while the rest still leaves. */
	bool coded = ops->plan && c->codes.kinds && !ops->plan(c, len, plan) && plan->code.kind &&
		     plan->code.from < head;

	if (coded)
		head = berth / 3 * 2;
	head -= head % HEAD_UNIT;
	SDR_ASSERT(head && head < len);
	return sdr_policy_plan_berth(c, head, coded ? berth : 0, true, plan);
}

uint32_t sdr_policy_parity(struct sdr_conn *c, uint64_t len, const struct sdr_code *g)
{
	const struct sdr_scheme_ops *ops = c->bulk->scheme;
	uint32_t rows;

	if (!ops->rows || g->a.kind != SDR_CODE_MDS)
		return g->plan_pkts;
	rows = ops->rows(c, len, g);
	SDR_ASSERT(rows <= g->plan);
	return g->plan_pkts / g->plan * rows;
}

bool sdr_policy_repeats(const struct sdr_conn *c)
{
	const struct sdr_scheme_ops *ops = c->bulk->scheme;

	return ops->repeats && ops->repeats(c);
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
