/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Marks of congestion of a connection: what goes out so that it may be marked, what came marked,
 * and what each side tells the other.  Whether a path is to be trusted with it is sdr_ecn.c's.
 *
 * In force where both sides have SDR_FEATURE_ECN, that is, engines that see the bits.  Out: data
 * and packets that want an answer, while our controller answers marks (sdr_cc_ops.marks); never a
 * HELLO, a probe of the path's size or a bare acknowledgement, which nothing would answer for.  The
 * code point is ECT(0): a queue that knows L4S would put ECT(1) into its shallow queue and mark it
 * from the first microsecond on, for senders that hold back by themselves in every round trip under
 * all conditions of RFC 9331; a queue that knows only RFC 3168 treats both alike.  In: each packet
 * counts once, when it is new, so never more than the peer sent.  The counts travel in the ACK,
 * which is in every datagram with news but for the first of several; none where nothing was ever
 * counted.
 *
 * Of several paths (sdr_multipath.c) each asks, is watched and hears its controller's marks for
 * itself.  A packet counts for the path that it came by: data as the engine says, others by where
 * they came from; what is no other path's counts for the first.  The ACK says the first path's
 * counts, MARKS behind it those of the others, all that ever counted anything, since an
 * acknowledgement may be lost.  A peer without SDR_FEATURE_MARKS takes all for the first path's: by
 * the others nothing may be marked then.  No timers, no allocation.
 */
#include <stdio.h>
#include "rel/path/sdr_cc_ops.h"
#include "sdr_conn_ecn.h"
#include "sdr_multipath.h"

/* timeouts that a silent path has had, at least: it may be another one now */
#define ECN_SILENT_TIMEOUTS 2u

static uint64_t ecn_under_way(const struct sdr_conn *c, const struct sdr_path *p)
{
	return p->inflight / c->shape->mtu + c->tx.live;
}

bool sdr_conn_ecn_by_path(const struct sdr_conn *c)
{
	return (c->hs.features & SDR_FEATURE_ECN) && (c->hs.features & SDR_FEATURE_MARKS);
}

void sdr_conn_ecn_begin(struct sdr_conn *c, struct sdr_path *p)
{
	bool counted = p->index ? sdr_conn_ecn_by_path(c) : c->hs.features & SDR_FEATURE_ECN;

	if (counted && p->cc.ops->marks)
		sdr_ecn_start(&p->ecn, 0, c->rel->now);
}

void sdr_conn_ecn_moved(struct sdr_conn *c, struct sdr_path *p)
{
	if (p->ecn.on)
		sdr_ecn_start(&p->ecn, ecn_under_way(c, p), c->rel->now);
}

void sdr_conn_ecn_timeout(struct sdr_conn *c)
{
	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);

		if (!i || p->inflight)
			sdr_ecn_timeout(&p->ecn, c->pto.count + c->pto.rto_shift,
					ecn_under_way(c, p), c->rel->now);
	}
}

void sdr_conn_ecn_silent(struct sdr_conn *c, struct sdr_path *p)
{
	sdr_ecn_timeout(&p->ecn, ECN_SILENT_TIMEOUTS, ecn_under_way(c, p), c->rel->now);
}

/* ---- in -------------------------------------------------------------------------------------- */

static uint64_t *ecn_rx(struct sdr_conn *c, uint32_t path)
{
	return path ? c->multi->marks[path - 1] : c->marks;
}

const uint64_t *sdr_conn_ecn_rx(const struct sdr_conn *c, uint32_t path)
{
	return path ? c->multi->marks[path - 1] : c->marks;
}

void sdr_conn_ecn_came(struct sdr_conn *c, uint32_t path)
{
	ecn_rx(c, path)[sdr_context_ctl_ecn(c->rel->ctx) % SDR_UC_ECNS]++;
}

/* False: nothing was ever counted. */
static bool ecn_say(const uint64_t *rx, struct sdr_frame_ecn *e)
{
	e->ect0 = (uint32_t)rx[SDR_UC_ECT0];
	e->ect1 = (uint32_t)rx[SDR_UC_ECT1];
	e->ce = (uint32_t)rx[SDR_UC_CE];
	return rx[SDR_UC_ECT0] | rx[SDR_UC_ECT1] | rx[SDR_UC_CE];
}

void sdr_conn_ecn_put(const struct sdr_conn *c, struct sdr_frame_ack *f)
{
	if ((c->hs.features & SDR_FEATURE_ECN) && ecn_say(c->marks, &f->ecn))
		f->flags |= SDR_ACK_ECN;
}

size_t sdr_conn_ecn_put_more(const struct sdr_conn *c, uint8_t *p, size_t room)
{
	struct sdr_frame_marks f;

	if (c->npaths == 1 || !sdr_conn_ecn_by_path(c))
		return 0;
	f.n = 0;
	for (uint32_t i = 1; i < c->npaths; i++) {
		if (!ecn_say(sdr_conn_ecn_rx(c, i), &f.v[f.n].ecn))
			continue;
		f.v[f.n++].path = (uint8_t)i;
	}
	return sdr_frame_marks_encode(p, room, &f);
}

/* ---- what the peer says ---------------------------------------------------------------------- */

static void ecn_heard(struct sdr_conn *c, struct sdr_path *p, const struct sdr_frame_ecn *f)
{
	struct sdr_rel *rel = c->rel;
	char which[24] = "this path", text[128];

	if (!sdr_ecn_heard(&p->ecn, f, p->rtt.srtt, rel->now))
		return;
	c->st.ecn_off++;
	if (!rel->cbs->note)
		return;
	if (c->npaths > 1)
		snprintf(which, sizeof(which), "path %u of %u", p->index + 1u, c->npaths);
	snprintf(text, sizeof(text), "no ECN on %s: %s", which, sdr_ecn_why_text(p->ecn.why));
	rel->cbs->note(rel->user, c->peer, text);
}

void sdr_conn_ecn_heard(struct sdr_conn *c, const struct sdr_frame_ecn *f,
			const struct sdr_frame_marks *m)
{
	static const struct sdr_frame_ecn none;
	uint32_t at = 0;

	ecn_heard(c, &c->main, f);
	for (uint32_t i = 1; i < c->npaths; i++) {
		bool said = at < m->n && m->v[at].path == i;

		ecn_heard(c, sdr_conn_path(c, i), said ? &m->v[at].ecn : &none);
		at += said;
	}
	if (at < m->n)
		c->st.pkts_bad++;
}

void sdr_conn_ecn_bytes(struct sdr_path *p, struct sdr_cc_ack *ca)
{
	if (p->ecn.on)
		ca->ce = sdr_ecn_bytes(&p->ecn, ca->bytes);
}
