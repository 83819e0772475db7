/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Connections of strangers, peers that nothing on this side names: how many there may be, and which
 * goes for one more.
 *
 * The endpoint's connections stand in the order in which they fell silent, to CONN_HEARD_NS.  With
 * SDR_REL_STRANGERS_MAX (cfg.strangers_max) of them a newcomer, who has to come with a cookie then,
 * takes the place of the one that was silent longest among the next CONN_ADMIT_LOOK: first of one
 * on which nothing moves, else of one that was silent for CONN_SILENT_NS although transfers of its
 * own are open.  None goes to which something of ours is under way.  Looking is bounded: those
 * that stay go to the end, so that the next newcomer looks at others.
 */
#include "base/sdr_assert.h"
#include "sdr_conn_ops.h"
#include "sdr_pkt.h"
#include "sdr_stranger.h"

#define CONN_HEARD_NS (100 * MS) /* accuracy of the order in which connections fell silent */
/* a stranger with transfers of its own is not dismissed before */
#define CONN_SILENT_NS	(1000 * MS)
#define CONN_ADMIT_LOOK 16u /* connections looked at for one that may go */

/*
 * Something came: it is not the one that was silent longest.  Not with each packet, for the
 * neighbours' cache lines.
 */
void sdr_conn_heard(struct sdr_conn *c)
{
	uint64_t now = c->rel->now;

	SDR_ASSERT(sdr_conn_live(c) && now >= c->rx.heard_ns);
	c->rx.last_ns = now;
	sdr_lull_heard(&c->rel->lull, c->main.rtt.samples ? sdr_rtt_min(&c->main.rtt) : 0, now);
	if (now - c->rx.heard_ns < CONN_HEARD_NS)
		return;
	c->rx.heard_ns = now;
	sdr_list_del(&c->link);
	sdr_list_add_tail(&c->link, &c->rel->conn_list);
}

/*
 * A stranger to which nothing of ours is under way.  One whose own transfers are may go too, but
 * the idle go first.
 */
static bool conn_expendable(const struct sdr_conn *c, bool idle)
{
	if (c->peer->names || c->rel->ops->owned(c) || !c->hs.validated ||
	    c->state != SDR_CONN_OPEN)
		return false;
	return idle ? !c->rel->ops->busy(c) : c->rel->now - c->rx.heard_ns >= CONN_SILENT_NS;
}

/* Sends one BYE; a peer that does not get it meets a RESET when it comes back. */
static void conn_dismiss(struct sdr_conn *c)
{
	SDR_ASSERT(!c->peer->names && c->rel->nstrangers);
	c->close.bye_due = true;
	sdr_pkt_send(c);
	sdr_conn_fail(c, SDR_REL_ERR_CLOSED);
}

bool sdr_conn_crowded(const struct sdr_rel *rel)
{
	return rel->nstrangers >=
	       (rel->cfg.strangers_max ? rel->cfg.strangers_max : SDR_REL_STRANGERS_MAX);
}

bool sdr_conn_admit(struct sdr_rel *rel)
{
	struct sdr_conn *second = NULL;

	if (!sdr_conn_crowded(rel))
		return true;
	for (uint32_t i = 0; i < CONN_ADMIT_LOOK && !sdr_list_empty(&rel->conn_list); i++) {
		struct sdr_conn *c = sdr_container(rel->conn_list.next, struct sdr_conn, link);

		sdr_rel_step(rel);
		if (conn_expendable(c, true)) {
			conn_dismiss(c);
			return true;
		}
		if (!second && conn_expendable(c, false))
			second = c;
		/* The next call looks at others. */
		sdr_list_del(&c->link);
		sdr_list_add_tail(&c->link, &rel->conn_list);
	}
	if (second)
		conn_dismiss(second);
	return second;
}
