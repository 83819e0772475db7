/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Credit: what a peer may send and ask for, computed from what is kept for it already.
 *
 * Message numbers are those that the table of messages has room for.  Ordered records may run
 * SDR_MSEQ_CREDIT ahead of matching, until unexpected messages fill memory: then credit stops
 * still until some are taken.
 *
 * Unexpected messages, entries included, are bounded by cfg.unexp_max an endpoint: a message beyond
 * it is not taken, its packet is not acknowledged, and the sender repeats it until there is room.
 * Strangers may use half of that (law 4: they cannot crowd out named peers), and messages before
 * their turn three quarters of their sender's part, so that the one they wait for finds room.
 * Answers to strangers are bounded together; a few each are always allowed.
 *
 * No timers and no memory: counters that others keep.
 */
#include "sdr_credit.h"

uint32_t sdr_conn_msn_limit(const struct sdr_conn *c)
{
	return sdr_shape_rx_base(c) + sdr_qp_ids(c->shape->qp);
}

static uint64_t unexp_max(const struct sdr_rel *rel)
{
	return rel->cfg.unexp_max ? rel->cfg.unexp_max : SDR_REL_UNEXP_TOTAL;
}

bool sdr_unexp_room(const struct sdr_conn *c, uint64_t bytes, bool early)
{
	const struct sdr_rel *rel = c->rel;
	uint64_t max = unexp_max(rel);

	if (!c->peer->names) {
		max /= 2;
		if (rel->nunexp_strangers >= SDR_REL_UNEXP_STRANGERS)
			return false;
	}
	if (early)
		max -= max / 4;
	return rel->unexp_bytes <= max && bytes <= max - rel->unexp_bytes;
}

uint32_t sdr_conn_mseq_limit(const struct sdr_conn *c)
{
	uint32_t least = c->rec.rx_mseq + SDR_MSEQ_LEAST;

	/* Unexpected messages fill memory: then credit stops until some are taken. */
	if (c->peer->unexp_bytes >= SDR_REL_UNEXP_PEER)
		return c->credit.mseq_granted;
	if (sdr_unexp_room(c, 0, true))
		return c->rec.rx_mseq + SDR_MSEQ_CREDIT;
	/* Those of others do: what meets a receive needs no room, so that everybody may try. */
	return sdr_seq_lt(c->credit.mseq_granted, least) ? least : c->credit.mseq_granted;
}

bool sdr_credit_due(const struct sdr_conn *c)
{
	uint32_t m = sdr_conn_msn_limit(c) - c->credit.msn_granted;
	uint32_t q = sdr_conn_mseq_limit(c) - c->credit.mseq_granted;

	return m > sdr_qp_ids(c->shape->qp) / 4 || q > SDR_MSEQ_CREDIT / 4;
}

bool sdr_rec_answerable(const struct sdr_conn *c, uint32_t n)
{
	const struct sdr_rel *rel = c->rel;
	uint32_t max = rel->cfg.answers_max ? rel->cfg.answers_max : SDR_REL_ANSWERS_STRANGERS;

	return c->peer->names || c->rec.n + c->credit.nserve + n <= SDR_ANSWERS_LEAST ||
	       rel->nanswers_strangers + n <= max;
}
