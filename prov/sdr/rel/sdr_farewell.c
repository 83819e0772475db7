/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The farewell of a process that ends without closing its endpoints.
 *
 * An acknowledgement waits for the next round of progress, in case an answer can take it along.  A
 * program that reads its last completion and ends has no next round: its peer would go on asking an
 * address where no endpoint is, until its give-up time, although everything arrived.  So what is
 * owed is said now: acknowledgements, completed transfers, and records that answer the peer's
 * (DONE, refusals).  Where losses were seen it is sent twice, as no repetition can be requested
 * later.
 *
 * Nothing is received, no timer runs, no operation ends, and no memory of the application is looked
 * at: it may be gone. Data that stand in the batch in front of the engine are dropped for that.
 * What this side has not delivered yet stays undelivered: who wants that to arrive closes its
 * endpoint.
 */
#include <errno.h>
#include "bulk/sdr_bulk.h"
#include "conn/sdr_conn_known.h"
#include "conn/sdr_pkt.h"
#include "conn/sdr_rec.h"
#include "sdr_rel.h"

#define FAREWELL_TIMES 2u /* on a path that loses */

static bool answers_open(const struct sdr_list *recs)
{
	struct sdr_list *l;

	sdr_list_each(l, recs)
		if (!sdr_container(l, struct sdr_rec, link)->op)
			return true;
	return false;
}

static bool conn_owes(const struct sdr_conn *c)
{
	if (c->rx.ack_due || c->rx.ack_now || c->rx.again_ns != NEVER ||
	    !sdr_ring_empty(&c->bulk->rx.comp[0]) || !sdr_ring_empty(&c->bulk->rx.comp[1]))
		return true;
	/* What was sent last may be lost, and there was no time for a repetition. */
	if (sdr_conn_lossy(c) && c->rel->now - c->rx.last_ns < sdr_conn_rto(c, 0))
		return true;
	return c->rec.n &&
	       (answers_open(&c->rec.unordered) || answers_open(&c->rec.rtx) || sdr_conn_lossy(c));
}

static bool conn_farewell(struct sdr_conn *c)
{
	struct sdr_ring *again = &c->bulk->rx.comp[1];

	if ((c->state != SDR_CONN_OPEN && c->state != SDR_CONN_CLOSING) || !c->hs.validated ||
	    !conn_owes(c))
		return true;
	for (uint32_t n = 0; n < (sdr_conn_lossy(c) ? FAREWELL_TIMES : 1); n++) {
		/* What would be said a second time later is said now. */
		for (uint32_t i = again->head; i != again->tail; i++)
			sdr_ring_at(again, struct sdr_complete, i)->at = 0;
		if (!sdr_pkt_farewell(c))
			return false;
	}
	return true;
}

bool sdr_rel_farewell(struct sdr_rel *rel)
{
	struct sdr_list *l;

	rel->now = rel->uc->ops->now(rel->uc);
	sdr_context_data_drop(rel->ctx);
	if (!rel->parted && !rel->failed) {
		rel->parted = true;
		sdr_list_each(l, &rel->conn_list)
			sdr_conn_known_end(sdr_container(l, struct sdr_conn, link));
		sdr_list_each(l, &rel->conn_list)
			if (!conn_farewell(sdr_container(l, struct sdr_conn, link)))
				break;
	}
	return sdr_context_flush(rel->ctx) != -EAGAIN;
}
