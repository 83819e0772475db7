/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * When a peer that does not answer is asked again, and how often at a time.
 *
 * A probe is due a retransmission timeout after the last transmission or progress.  If it is not
 * answered either, two things may be: a burst of losses, which is over soon, or a path that has
 * ended or is overloaded.  For the first the next SDR_PROBE_PATIENT probes keep their distance of a
 * timeout, about a round trip (with TCP's doubling, a burst of a quarter of a second costs half a
 * second, and one that is counted in packets, as links with a channel state have it, costs any
 * time, since a quiet flow sends so few).  For the same reason each of them is repeated by two
 * packets more than the one before, of some sixty bytes; the receiver answers each.  For the second
 * the distance doubles from then on, up to SDR_RTO_MAX_NS (RFC 8961: a sender that hears nothing
 * must slow down).  Giving up is a time of its own (sdr_conn_timer.c), and unchanged.
 *
 * A near path, with a timeout below SDR_PROBE_NEAR_NS, doubles until there: a silence of some
 * milliseconds is a busy host, for whom repetitions are a burden.
 *
 * What goes beyond the doubling is paid from a budget of the endpoint, SDR_PROBE_BUDGET packets and
 * one more each SDR_PROBE_BUDGET_NS: when a host with ten thousand connections dies, or all paths
 * at once, most of them double as they ever did.  No timers of its own, no allocation.
 */
#include "sdr_probe.h"

uint64_t sdr_probe_rto(const struct sdr_conn *c)
{
	return sdr_conn_rto(c, c->pto.shift);
}

/* So many packets more than the doubling would send: false, not now. */
static bool probe_pay(struct sdr_rel *rel, uint32_t n)
{
	uint64_t more = (rel->now - rel->probes.at) / SDR_PROBE_BUDGET_NS;

	if (more) {
		uint32_t room = SDR_PROBE_BUDGET - rel->probes.left;

		rel->probes.left += more < room ? (uint32_t)more : room;
		rel->probes.at += more * SDR_PROBE_BUDGET_NS;
	}
	if (rel->probes.left < n)
		return false;
	rel->probes.left -= n;
	return true;
}

void sdr_probe_due(struct sdr_conn *c)
{
	uint32_t copies = c->pto.patient * SDR_PROBE_COPIES_STEP;

	if (copies > SDR_PROBE_COPIES_MAX)
		copies = SDR_PROBE_COPIES_MAX;
	c->pto.count++;
	c->pto.copies = 0;
	if (c->pto.patient < SDR_PROBE_PATIENT && sdr_probe_rto(c) >= SDR_PROBE_NEAR_NS &&
	    probe_pay(c->rel, copies + 1)) {
		c->pto.patient++;
		c->pto.copies = copies;
	} else if (c->pto.shift < SDR_PTO_BACKOFF_MAX) {
		c->pto.shift++;
	}
}

bool sdr_probe_forgets(struct sdr_conn *c)
{
	if (c->pto.forgot ||
	    c->rel->now - c->pto.progress_ns < SDR_PROBE_RESTART * sdr_conn_rto(c, 0))
		return false;
	c->pto.forgot = true;
	return true;
}

void sdr_probe_answered(struct sdr_conn *c)
{
	c->pto.progress_ns = c->rel->now;
	c->pto.count = c->pto.shift = c->pto.patient = c->pto.copies = 0;
	c->pto.forgot = false;
	c->pto.rto_shift = 0;
}
