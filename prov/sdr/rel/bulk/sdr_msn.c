/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Numbers of the SDR messages that come in on a connection: which may be used, which are over, and
 * which of those were refused.  The message table (sdk) knows what is posted and done; this adds
 * what only a record can tell.
 *
 * A number that is refused counts as completed for the table, so that its window moves; but an END
 * for it must not be answered with "complete".  Ranges beyond the window wait for it.  No timers.
 */
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "rel/conn/sdr_credit.h"
#include "sdr_msn.h"

/*
 * A refused message counts as completed for the table, but its END must not be answered "complete".
 */
void sdr_msn_skip(struct sdr_conn *c, uint32_t msn)
{
	uint32_t id = msn & (sdr_qp_ids(c->shape->qp) - 1);

	sdr_rel_step(c->rel);
	sdr_recv_skip(sdr_shape_of_rx(c, msn)->qp, msn);
	sdr_bitmap_set(c->bulk->rx.skipped, id);
}

bool sdr_msn_complete(const struct sdr_conn *c, uint32_t msn)
{
	uint32_t id = msn & (sdr_qp_ids(c->shape->qp) - 1);

	return sdr_recv_is_done(sdr_shape_of_rx(c, msn)->qp, msn) &&
	       !sdr_bitmap_test(c->bulk->rx.skipped, id);
}

/* Voids what the window reaches of [lo, hi); returns where it stopped. */
static uint32_t msn_skip_some(struct sdr_conn *c, uint32_t lo, uint32_t hi)
{
	struct sdr_qp *qp = sdr_shape_of_rx(c, lo)->qp;
	uint32_t ids = sdr_qp_ids(qp), limit = sdr_conn_msn_limit(c), id = lo & (ids - 1);
	uint32_t at, n, first;

	/* What is open on the shape before has those IDs still. */
	if (c->in.old && qp == c->in.now->qp && sdr_seq_lt(limit, hi))
		hi = sdr_seq_lt(lo, limit) ? limit : lo;
	at = sdr_recv_skip_range(qp, lo, hi);
	n = at - lo < ids ? at - lo : ids;
	first = n < ids - id ? n : ids - id;
	sdr_rel_steps(c->rel, 2 * ids / 64 + 1);
	sdr_bitmap_set_range(c->bulk->rx.skipped, id, id + first);
	sdr_bitmap_set_range(c->bulk->rx.skipped, 0, n - first);
	return at;
}

/*
 * [lo, hi) will never be bound.  What lies beyond the window waits for it: one range is enough,
 * since the sender numbers nothing else before the window has passed its end.
 */
void sdr_msn_skip_range(struct sdr_conn *c, uint32_t lo, uint32_t hi)
{
	SDR_ASSERT(!sdr_seq_lt(hi, lo));
	lo = msn_skip_some(c, lo, hi);
	SDR_ASSERT(!sdr_seq_lt(hi, lo));
	if (lo == hi)
		return;
	if (c->bulk->rx.skip_lo !=
	    c->bulk->rx.skip_hi) { /* no honest peer's: its window does not move */
		c->st.pkts_bad++;
		return;
	}
	c->bulk->rx.skip_lo = lo;
	c->bulk->rx.skip_hi = hi;
}

void sdr_msn_skip_on(struct sdr_conn *c)
{
	if (c->bulk->rx.skip_lo != c->bulk->rx.skip_hi)
		c->bulk->rx.skip_lo = msn_skip_some(c, c->bulk->rx.skip_lo, c->bulk->rx.skip_hi);
}

void sdr_msn_not_skipped(struct sdr_conn *c, uint32_t msn)
{
	uint32_t id = msn & (sdr_qp_ids(c->shape->qp) - 1);

	sdr_bitmap_clear(c->bulk->rx.skipped, id);
}

bool sdr_msn_beyond(const struct sdr_conn *c, uint32_t msn, uint32_t n)
{
	return sdr_seq_lt(sdr_conn_msn_limit(c), msn + n);
}

uint32_t sdr_msn_out(const struct sdr_conn *c)
{
	return c->bulk->tx.msn;
}

uint32_t sdr_msn_in(const struct sdr_conn *c)
{
	return c->bulk->rx.seen;
}
