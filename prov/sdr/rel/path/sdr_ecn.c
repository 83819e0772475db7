/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * May what we send be marked, and what do the marks say?  One for each path of a connection.
 *
 * The peer counts the packets of ours that came, by the two ECN bits that they came with, and says
 * the counts with its acknowledgements.  What they have grown by goes to the congestion controller
 * as bytes (sdr_ecn_bytes).  Counts are cumulative: a lost acknowledgement loses nothing, an older
 * one that comes late counts less than is known and is passed over.
 *
 * A path is trusted from the first packet and watched all the time (RFC 9000, section 13.4.2):
 *
 *   bleached  fewer packets are counted than have arrived, by SDR_ECN_SHORT_PKTS and an eighth, for
 *             a round trip (acknowledgements are not always in the order in which they were sent,
 *             and a decoded packet may have arrived after all);
 *   mangled   more are counted than were sent, or with a mark that we do not set, or none of the
 *             first SDR_ECN_MANGLED_PKTS without a mark of congestion for SDR_ECN_MANGLED_RTTS and
 *             SDR_ECN_MANGLED_NS;
 *   dropped   nothing arrives until packets leave that cannot be marked (hide), and then they do:
 *             SDR_ECN_TEST_PKTS of the other sort were lost by then, or it is so for the
 *             SDR_ECN_TEST_TIMEOUTSth time.  A loss in bad weather is none of both.
 *
 * Then nothing is marked any more on this path; the next begins anew.  A peer that lies gains
 * nothing: it cannot count more packets than were sent, and to hide marks it must count them as
 * unmarked, which is what a receiver that ignores them could always do.
 *
 * All numbers are packets since the connection was opened, each counted once by either side.  No
 * clock, no timers, no allocation.
 */
#include "base/sdr_assert.h"
#include "rel/path/sdr_ecn.h"
#include "rel/sdr_rel_cfg.h"

static void ecn_output(struct sdr_ecn *e)
{
	e->ect = e->on && !e->hide && e->why == SDR_ECN_FINE;
}

static void ecn_base(struct sdr_ecn *e)
{
	e->base.sent = e->sent;
	e->base.plain = e->plain;
	e->base.acked = e->acked;
	e->base.counted = e->counted;
	e->base.ce = e->ce;
}

void sdr_ecn_start(struct sdr_ecn *e, uint64_t under_way, uint64_t now)
{
	e->on = true;
	e->hide = e->unmarked = false;
	e->why = SDR_ECN_FINE;
	e->hides = 0;
	e->short_ns = 0;
	e->begun_ns = now;
	ecn_base(e);
	/* Nobody knows what the old path has made of them. */
	e->base.acked += under_way;
	ecn_output(e);
}

void sdr_ecn_sent(struct sdr_ecn *e, uint64_t pkts, bool ect)
{
	if (ect)
		e->sent += pkts;
	else
		e->plain += pkts;
}

/* False: said before what was said last, or nothing new. */
static bool ecn_count(struct sdr_ecn *e, const struct sdr_frame_ecn *f, bool *stray)
{
	int32_t ect0 = (int32_t)(f->ect0 - e->heard.ect0);
	int32_t ect1 = (int32_t)(f->ect1 - e->heard.ect1);
	int32_t ce = (int32_t)(f->ce - e->heard.ce);

	if (ect0 < 0 || ect1 < 0 || ce < 0 || !(ect0 | ect1 | ce))
		return false;
	e->heard = *f;
	e->counted += (uint64_t)ect0 + (uint64_t)ect1 + (uint64_t)ce;
	e->ce += (uint64_t)ce;
	e->unmarked |= ect0 > 0;
	*stray = ect1 > 0;
	return true;
}

/* Fewer are counted than have arrived. */
static bool ecn_short(const struct sdr_ecn *e)
{
	uint64_t acked = e->acked > e->base.acked ? e->acked - e->base.acked : 0;
	uint64_t known = e->counted - e->base.counted + e->plain - e->base.plain;

	return acked > known + SDR_ECN_SHORT_PKTS + acked / SDR_ECN_SHORT_PART;
}

static bool ecn_mangled(const struct sdr_ecn *e, uint64_t srtt, uint64_t now)
{
	if (e->counted > e->sent)
		return true;
	return !e->unmarked && e->ce - e->base.ce >= SDR_ECN_MANGLED_PKTS &&
	       now - e->begun_ns >= SDR_ECN_MANGLED_RTTS * srtt &&
	       now - e->begun_ns >= SDR_ECN_MANGLED_NS;
}

/* Nothing new is counted, while what leaves cannot be marked. */
static bool ecn_dropped(struct sdr_ecn *e)
{
	if (!e->hide || e->acked == e->hide_acked)
		return false;
	e->hide = false;
	return ++e->hides >= SDR_ECN_TEST_TIMEOUTS || e->sent - e->base.sent >= SDR_ECN_TEST_PKTS;
}

bool sdr_ecn_heard(struct sdr_ecn *e, const struct sdr_frame_ecn *f, uint64_t srtt, uint64_t now)
{
	uint64_t ce = e->ce;
	bool stray = false;

	if (!e->on || e->why != SDR_ECN_FINE)
		return false;
	if (ecn_count(e, f, &stray)) {
		e->hide = false;
		e->hides = 0;
		if (stray || ecn_mangled(e, srtt, now))
			e->why = SDR_ECN_MANGLED;
		else
			e->owed_pkts += e->ce - ce;
	} else if (ecn_dropped(e)) {
		e->why = SDR_ECN_DROPPED;
	}
	if (!ecn_short(e)) {
		e->short_ns = 0;
		if (e->acked > e->base.acked + SDR_ECN_WINDOW && e->unmarked)
			ecn_base(e);
	} else if (!e->short_ns) {
		e->short_ns = now ? now : 1;
	} else if (e->why == SDR_ECN_FINE && now - e->short_ns >= srtt + SDR_ACK_DELAY_MAX_NS) {
		e->why = SDR_ECN_BLEACHED;
	}
	ecn_output(e);
	return e->why != SDR_ECN_FINE;
}

uint64_t sdr_ecn_bytes(struct sdr_ecn *e, uint64_t bytes)
{
	uint64_t pkts = e->acked - e->bytes_acked, ce;

	e->bytes_acked = e->acked;
	if (pkts && bytes)
		e->pkt_bytes = bytes / pkts;
	/* What was marked may be acknowledged by what comes next, or was by what got lost. */
	e->owed_bytes += e->owed_pkts * e->pkt_bytes;
	if (e->pkt_bytes)
		e->owed_pkts = 0;
	ce = e->owed_bytes < bytes ? e->owed_bytes : bytes;
	e->owed_bytes -= ce;
	return ce;
}

void sdr_ecn_timeout(struct sdr_ecn *e, uint32_t count, uint64_t under_way, uint64_t now)
{
	bool heard = e->counted != e->base.counted;
	uint32_t hides = e->hides;

	if (!e->on || e->why != SDR_ECN_FINE || e->hide || (heard && count < 2))
		return;
	/* It carried them before: perhaps it is another path by now. */
	if (heard) {
		sdr_ecn_start(e, under_way, now);
		e->hides = hides;
	}
	e->hide = true;
	e->hide_acked = e->acked;
	ecn_output(e);
}

const char *sdr_ecn_why_text(uint8_t why)
{
	static const char *const text[SDR_ECN_WHYS] = {
		[SDR_ECN_FINE] = "nothing is wrong",
		[SDR_ECN_BLEACHED] = "the path wipes out the ECN bits",
		[SDR_ECN_MANGLED] = "the path, or the peer, marks what it should not",
		[SDR_ECN_DROPPED] = "the path drops what has ECN bits",
	};

	SDR_ASSERT(why < SDR_ECN_WHYS);
	return text[why];
}
