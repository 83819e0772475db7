/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The search for the largest packet that a path carries (RFC 8899), without knowing packets.
 *
 * The size in force is one that has arrived, or the base, which is relied on.  It grows by probes:
 * packets of a larger size that carry nothing that matters.  They go in rounds: the usual sizes of
 * links and tunnels between what passes and what does not, all at once, then what halves the rest.
 * A size is too large when it was the smallest missing one in SDR_PMTU_TRIES rounds, so a single
 * loss says nothing.  It shrinks at once when this host says so (its route, ICMP), never below
 * `least`: what is smaller is a lie, or a path that nothing works on.
 *
 * Black hole: of packets above `least` several in a row were lost, over a round trip at least,
 * while one sent later has arrived that is smaller than all of them.  How many is several depends
 * on what the path loses anyway: so many that chance brings them about once in 1/HOLE_CHANCE
 * packets.
 * The size falls to the base,
 * or to `least` when the base's size is among those that die, and the search begins anew at once:
 * had the loss another cause, one round trip finds the old size again.
 *
 * A round lasts a retransmission timeout.  When nothing is left to find the search rests for
 * SDR_PMTU_RAISE_NS.  It is the caller who looks at the deadline, and only while the connection is
 * in use.  No allocation, no threads.
 *
 * Not here: what a packet of some size can carry, and what is done with those that were made
 * before the size shrank.
 */
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_seq.h"
#include "sdr_pmtu.h"

#define HOLE_PACKETS 3u	  /* large ones lost in a row: fewer are bad luck */
#define HOLE_MOST    16u  /* so many say it in any weather */
#define HOLE_CHANCE  1e-9 /* of so many in a row by chance */

/*
 * IPv6's least; tunnels over 1500 (IPsec, WireGuard, VXLAN, GRE); Ethernet; what carries 4 KiB and
 * 8 KiB of payload.  The largest of the range is always tried besides.
 */
static const uint16_t usual[] = { 1280, 1400, 1450, 1500, 4200, 8300 };

static void pmtu_check(const struct sdr_pmtu *p)
{
	SDR_ASSERT(p->least <= p->size && p->size <= p->max);
	SDR_ASSERT(p->size < p->ceil && p->ceil <= p->max + 1);
}

static void search_begin(struct sdr_pmtu *p, uint64_t now)
{
	p->nprobes = 0;
	p->tries = 0;
	p->failed = 0;
	p->searching = p->ceil - p->size > 1;
	p->next_ns = p->searching ? now : UINT64_MAX;
}

void sdr_pmtu_init(struct sdr_pmtu *p, uint32_t least, uint32_t max, uint64_t now)
{
	memset(p, 0, sizeof(*p));
	p->next_ns = UINT64_MAX;
	if (!max)
		return;
	SDR_ASSERT(least && least <= max);
	p->least = least;
	p->max = max;
	p->ceil = max + 1;
	p->size = SDR_PMTU_BASE < least ? least : SDR_PMTU_BASE < max ? SDR_PMTU_BASE : max;
	search_begin(p, now);
	pmtu_check(p);
}

/* Nothing is left that is worth a probe. */
static void search_end_if_done(struct sdr_pmtu *p, uint64_t now)
{
	if (p->ceil - p->size > 1 &&
	    (p->ceil > p->max || p->told || p->ceil - p->size > SDR_PMTU_GRAIN))
		return;
	p->searching = false;
	p->nprobes = 0;
	/* What did not pass may pass later; what was never forbidden has nothing above it. */
	p->next_ns = p->size < p->max ? now + SDR_PMTU_RAISE_NS : UINT64_MAX;
}

static bool size_set(struct sdr_pmtu *p, uint32_t size, enum sdr_pmtu_how how)
{
	bool changed = size != p->size;

	if (changed) {
		p->size = size;
		p->how = (uint8_t)how;
		p->hole = (struct sdr_pmtu_hole){ .enough = p->hole.enough };
	}
	return changed;
}

bool sdr_pmtu_arrived(struct sdr_pmtu *p, uint32_t size, enum sdr_pmtu_how how, uint64_t now)
{
	bool changed;

	if (!p->size || size <= p->size)
		return false;
	if (size > p->max)
		size = p->max;
	if (size >= p->ceil)
		p->ceil = size + 1;
	changed = size_set(p, size, how);
	if (p->searching)
		search_end_if_done(p, now);
	pmtu_check(p);
	return changed;
}

bool sdr_pmtu_limit(struct sdr_pmtu *p, uint32_t size, enum sdr_pmtu_how how, uint64_t now)
{
	bool changed = false;

	if (!p->size || size >= p->max)
		return false;
	if (size < p->least)
		size = p->least;
	if (how == SDR_PMTU_BY_PEER)
		p->max = size;
	if (size + 1 >= p->ceil && size >= p->size)
		return false;
	p->ceil = size + 1;
	p->told = true;
	if (size < p->size)
		changed = size_set(p, size, how);
	search_begin(p, now);
	search_end_if_done(p, now);
	pmtu_check(p);
	return changed;
}

bool sdr_pmtu_acked(struct sdr_pmtu *p, uint32_t lo, uint32_t hi, uint64_t now)
{
	uint32_t top = 0;

	for (uint32_t i = 0; i < p->nprobes; i++) {
		uint32_t pn = p->probe[i].pn;

		if (sdr_seq_lt(pn, lo) || sdr_seq_lt(hi, pn) || !p->probe[i].size)
			continue;
		if (p->probe[i].size > top)
			top = p->probe[i].size;
		p->probe[i].size = 0;
	}
	return top && sdr_pmtu_arrived(p, top, SDR_PMTU_BY_PROBE, now);
}

void sdr_pmtu_hole_weather(struct sdr_pmtu_hole *h, double loss)
{
	double chance = loss * loss * loss;

	SDR_ASSERT(loss >= 0 && loss <= 1);
	h->enough = HOLE_PACKETS;
	while (chance > HOLE_CHANCE && h->enough < HOLE_MOST) {
		chance *= loss;
		h->enough++;
	}
}

bool sdr_pmtu_hole_lost(struct sdr_pmtu_hole *h, uint32_t n, uint32_t size, uint64_t tx_ns,
			uint64_t rtt)
{
	if (!n)
		return false;
	if (!h->lost)
		h->lost_ns = tx_ns;
	if (!h->lost || size < h->lost_min) { /* nothing is known to live below that */
		h->lost_min = size;
		h->small_lives = false;
	}
	h->lost += n;
	return h->lost >= (h->enough ? h->enough : HOLE_PACKETS) && h->small_lives &&
	       tx_ns >= h->lost_ns + rtt;
}

void sdr_pmtu_hole_passed(struct sdr_pmtu_hole *h, uint32_t size, uint64_t tx_ns)
{
	if (!h->lost)
		return;
	if (size >= h->lost_min)
		h->lost = 0;
	else if (tx_ns > h->lost_ns)
		h->small_lives = true;
}

bool sdr_pmtu_lost(struct sdr_pmtu *p, uint32_t n, uint32_t size, uint64_t tx_ns, uint64_t rtt,
		   uint64_t now)
{
	uint32_t least, min;

	if (!p->size || size <= p->least || !sdr_pmtu_hole_lost(&p->hole, n, size, tx_ns, rtt))
		return false;
	min = p->hole.lost_min;
	least = min > SDR_PMTU_BASE && SDR_PMTU_BASE > p->least ? SDR_PMTU_BASE : p->least;
	p->ceil = p->max + 1;
	size_set(p, least, SDR_PMTU_BY_HOLE);
	search_begin(p, now);
	pmtu_check(p);
	return true;
}

void sdr_pmtu_passed(struct sdr_pmtu *p, uint32_t size, uint64_t tx_ns)
{
	sdr_pmtu_hole_passed(&p->hole, size, tx_ns);
}

bool sdr_pmtu_begin(struct sdr_pmtu *p, uint32_t size, uint64_t now)
{
	bool changed;

	if (!p->size)
		return false;
	size = size < p->least ? p->least : size < p->max ? size : p->max;
	p->ceil = p->max + 1;
	changed = size_set(p, size, SDR_PMTU_BY_BASE);
	search_begin(p, now);
	pmtu_check(p);
	return changed;
}

bool sdr_pmtu_restart(struct sdr_pmtu *p, uint64_t now)
{
	return sdr_pmtu_begin(p, SDR_PMTU_BASE, now);
}

bool sdr_pmtu_reach(struct sdr_pmtu *p, uint32_t max, uint64_t now)
{
	bool changed = false;

	if (!p->size || max == p->max)
		return false;
	if (max < p->least)
		max = p->least;
	if (p->ceil > p->max || p->ceil > max)
		p->ceil = max + 1;
	p->max = max;
	if (p->size > max)
		changed = size_set(p, max, (enum sdr_pmtu_how)p->how);
	search_begin(p, now);
	search_end_if_done(p, now);
	pmtu_check(p);
	return changed;
}

/* ---- probes ---------------------------------------------------------------------------------- */

/* The time of the probes on their way is over. */
static void round_end(struct sdr_pmtu *p, uint64_t now)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < p->nprobes; i++) {
		uint32_t size = p->probe[i].size;

		if (size > p->size && (!missing || size < missing))
			missing = size;
	}
	p->nprobes = 0;
	if (missing) {
		p->tries = missing == p->failed ? p->tries + 1 : 1;
		p->failed = missing;
		if (p->tries >= SDR_PMTU_TRIES) {
			p->ceil = missing;
			p->told = false;
			p->tries = 0;
			p->failed = 0;
		}
	}
	search_end_if_done(p, now);
}

uint32_t sdr_pmtu_probes(struct sdr_pmtu *p, uint64_t now, uint32_t size[SDR_PMTU_PROBES])
{
	uint32_t n = 0, top = p->ceil - 1;

	if (!p->size || p->next_ns > now)
		return 0;
	if (!p->searching) { /* larger sizes may pass by now */
		p->ceil = p->max + 1;
		search_begin(p, now);
		top = p->ceil - 1;
	} else if (p->nprobes) {
		round_end(p, now);
		top = p->ceil - 1;
	}
	if (!p->searching)
		return 0;
	for (uint32_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (usual[i] > p->size && usual[i] < top)
			size[n++] = usual[i];
	if (p->ceil > p->max || p->told)
		size[n++] = top;
	else if (!n) /* no usual size is left, and the top does not pass: halve */
		size[n++] = p->size + (p->ceil - p->size) / 2;
	SDR_ASSERT(n && n <= SDR_PMTU_PROBES);
	return n;
}

void sdr_pmtu_sent(struct sdr_pmtu *p, uint32_t pn, uint32_t size, uint64_t now, uint64_t rto)
{
	SDR_ASSERT(p->nprobes < SDR_PMTU_PROBES && size > p->size);
	p->probe[p->nprobes].pn = pn;
	p->probe[p->nprobes++].size = size;
	p->next_ns = now + rto;
}
