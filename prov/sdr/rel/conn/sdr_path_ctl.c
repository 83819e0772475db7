/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * By which path packets leave (c->ctl), and by which the peer's come: see sdr_multipath.c.
 *
 * Who hears a packet that asks for something by another path than that of his own follows it; one
 * that came aside is not followed, and no round trips are taken from it.  A ping that came aside is
 * answered at once by its path.  When nothing is heard by c->ctl for as long as an answer to a
 * timeout's ping takes by another, that one is taken, and kept for some round trips whatever the
 * peer uses, so that two who change at the same time do not chase each other.  No timers.
 */
#include "sdr_multipath.h"
#include "sdr_pkt.h"

/* round trips for which a path that this side has chosen is kept, whichever the peer uses */
#define MULTIPATH_OWN_RTTS 4u

/* The path of ours that is the way back to there. */
static struct sdr_path *path_back(struct sdr_conn *c, const struct sdr_uc_addr *from)
{
	uint8_t source = sdr_context_ctl_source(c->rel->ctx);

	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);

		if (p->source == source && sdr_uc_addr_equal(from, sdr_path_addr(c, p)))
			return p;
	}
	return NULL;
}

uint32_t sdr_multipath_by(struct sdr_conn *c, const struct sdr_uc_addr *from)
{
	const struct sdr_path *p = c->npaths > 1 ? path_back(c, from) : NULL;

	return p ? p->index : 0;
}

/*
 * Acknowledgements come by another path than before: every round trip is longer or shorter by what
 * the two differ.
 */
static void back_changed(struct sdr_conn *c, uint8_t index)
{
	c->multi->back = index;
	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);

		sdr_rtt_again(&p->rtt);
		sdr_cc_rerouted(&p->cc);
	}
}

/*
 * Nothing has come by it for so long that an answer to what left there would have, and one by
 * another path to what was asked a timeout later.
 */
static bool ctl_is_mute(const struct sdr_conn *c)
{
	const struct sdr_path *p = sdr_conn_path_of(c, c->ctl);
	uint64_t since = p->busy_ns > c->multi->ctl_ns ? p->busy_ns : c->multi->ctl_ns;

	return p->inflight && c->rel->now - since >= sdr_conn_rto(c, 0) + p->rtt.srtt / 2;
}

void sdr_multipath_heard(struct sdr_conn *c, const struct sdr_uc_addr *from, bool aside)
{
	struct sdr_multipath *m = c->multi;
	const struct sdr_path *p;

	if (c->npaths == 1)
		return;
	p = path_back(c, from);
	c->rtt_mute = aside || !p;
	if (!c->rtt_mute && p->index != m->back)
		back_changed(c, p->index);
	if (p && p->index == c->ctl) {
		m->ctl_ns = c->rel->now;
	} else if (p && p->state == SDR_PATH_ALIVE && ctl_is_mute(c)) {
		c->ctl = p->index;
		m->ctl_ns = c->rel->now;
		m->own_ns = c->rel->now + MULTIPATH_OWN_RTTS * p->rtt.srtt;
	}
}

void sdr_multipath_asked(struct sdr_conn *c, const struct sdr_uc_addr *from, bool newest,
			 bool aside, bool pinged)
{
	struct sdr_path *p;

	if (c->npaths == 1)
		return;
	p = path_back(c, from);
	if (p && p->index == c->ctl)
		return;
	if (newest && !aside && p && p->state == SDR_PATH_ALIVE && c->rel->now >= c->multi->own_ns)
		c->ctl = p->index;
	else if (pinged)
		sdr_pkt_answer(c, p, sdr_context_ctl_source(c->rel->ctx), from);
}
