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
 * counted.  No timers, no allocation.
 */
#include <stdio.h>
#include "rel/path/sdr_cc_ops.h"
#include "sdr_conn_ecn.h"

static uint64_t ecn_under_way(const struct sdr_conn *c)
{
	return c->inflight / c->shape->mtu + c->tx.live;
}

void sdr_conn_ecn_open(struct sdr_conn *c)
{
	if ((c->hs.features & SDR_FEATURE_ECN) && c->main.cc.ops->marks)
		sdr_ecn_start(&c->ecn.tx, 0, c->rel->now);
}

void sdr_conn_ecn_moved(struct sdr_conn *c)
{
	if (c->ecn.tx.on)
		sdr_ecn_start(&c->ecn.tx, ecn_under_way(c), c->rel->now);
}

void sdr_conn_ecn_timeout(struct sdr_conn *c)
{
	sdr_ecn_timeout(&c->ecn.tx, c->pto.count + c->pto.rto_shift, ecn_under_way(c), c->rel->now);
}

void sdr_conn_ecn_came(struct sdr_conn *c)
{
	c->ecn.rx[sdr_context_ctl_ecn(c->rel->ctx) % SDR_UC_ECNS]++;
}

void sdr_conn_ecn_put(const struct sdr_conn *c, struct sdr_frame_ack *f)
{
	const uint64_t *rx = c->ecn.rx;

	if (!(c->hs.features & SDR_FEATURE_ECN) ||
	    !(rx[SDR_UC_ECT0] | rx[SDR_UC_ECT1] | rx[SDR_UC_CE]))
		return;
	f->flags |= SDR_ACK_ECN;
	f->ecn.ect0 = (uint32_t)rx[SDR_UC_ECT0];
	f->ecn.ect1 = (uint32_t)rx[SDR_UC_ECT1];
	f->ecn.ce = (uint32_t)rx[SDR_UC_CE];
}

void sdr_conn_ecn_heard(struct sdr_conn *c, const struct sdr_frame_ecn *f)
{
	struct sdr_rel *rel = c->rel;
	char text[128];

	if (!sdr_ecn_heard(&c->ecn.tx, f, c->main.rtt.srtt, rel->now))
		return;
	c->st.ecn_off++;
	if (!rel->cbs->note)
		return;
	snprintf(text, sizeof(text), "no ECN on this path: %s", sdr_ecn_why_text(c->ecn.tx.why));
	rel->cbs->note(rel->user, c->peer, text);
}

void sdr_conn_ecn_bytes(struct sdr_conn *c, struct sdr_cc_ack *ca)
{
	if (c->ecn.tx.on)
		ca->ce = sdr_ecn_bytes(&c->ecn.tx, ca->bytes);
}
