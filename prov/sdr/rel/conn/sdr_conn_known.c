/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a connection takes from the memory of paths (path/sdr_path_mem.c), and gives it.
 *
 * A path has two ends: the key is the network that this side is in, with the host that the packets
 * go to or, as second choice, the network of that.  Ports say nothing.
 *
 * Taken when the peer is validated, before the first packet leaves: until then a HELLO may be
 * anybody's, and those that open at the same time are all counted.  A rate is believed only if the
 * handshake's round trip is that of the path on which it was found; the side that was called has no
 * sample yet, its controller compares with the first one.  Losses begin as the memory has them
 * where the peer's own estimate is empty.  A size that passed is only tried, by a HELLO of its own.
 *
 * Given two round trips after that, then once a second while acknowledgements come, and when the
 * connection ends or moves to another path.  No timers, no work per packet but a comparison.
 * Without a memory (rel->paths is NULL) nothing happens.
 */
#include <string.h>
#include "rel/path/sdr_cc_ops.h"
#include "rel/path/sdr_path_mem.h"
#include "sdr_conn_known.h"

#define KNOWN_EVERY_NS 1000000000ull
#define KNOWN_RTT_NS   5000000ull /* round trips that differ by less are of the same path */

_Static_assert(1 + 2 * SDR_UC_ADDR_WHERE <= SDR_PATH_KEY_MAX, "both ends must fit into a key");

static void known_key(const struct sdr_conn *c, bool net, struct sdr_path_key *k)
{
	uint8_t n = 1;

	memset(k, 0, sizeof(*k));
	k->b[0] = net;
	n += sdr_uc_addr_where(&c->rel->name, true, k->b + n);
	n += sdr_uc_addr_where(&c->addr, net, k->b + n);
	k->len = n;
}

static void known_ends(const struct sdr_conn *c, struct sdr_path_ends *e)
{
	known_key(c, false, &e->host);
	known_key(c, true, &e->net);
}

/* What is delivered from now on is told at that time. */
static void known_from_now(struct sdr_conn *c, uint64_t ns)
{
	c->known.next = c->rel->now + ns;
	c->known.since = c->rel->now;
	c->known.delivered = c->main.cc.delivered;
}

void sdr_conn_known_open(struct sdr_conn *c)
{
	struct sdr_path_facts f;
	struct sdr_path_ends e;
	uint64_t age;

	c->known.next = NEVER;
	if (!c->rel->paths)
		return;
	known_ends(c, &e);
	sdr_path_mem_open(c->rel->paths, &e, c->rel->now);
	if (sdr_path_mem_ask(c->rel->paths, &e, c->rel->now, c->rel->now, &f, &age))
		c->known.mtu = f.mtu;
}

static bool known_same_path(const struct sdr_conn *c, uint64_t rtt_ns)
{
	uint64_t rtt = sdr_rtt_min(&c->main.rtt);

	if (!c->main.rtt.samples || !rtt_ns)
		return true;
	return rtt <= 2 * rtt_ns + KNOWN_RTT_NS && rtt_ns <= 2 * rtt + KNOWN_RTT_NS;
}

void sdr_conn_known_begin(struct sdr_conn *c)
{
	struct sdr_cc_known known = { 0, 0, 0, 0 };
	struct sdr_path_facts f;
	struct sdr_path_ends e;

	if (!c->rel->paths)
		return;
	SDR_ASSERT(!c->tx.live && !c->inflight && !c->main.cc.delivered);
	known_ends(c, &e);
	known_from_now(c, 2 * c->main.rtt.srtt);
	known.together = sdr_path_mem_together(c->rel->paths, &e, c->rel->now, c->hs.born);
	if (!sdr_path_mem_ask(c->rel->paths, &e, c->rel->now, c->hs.born, &f, &known.age_ns) ||
	    !known_same_path(c, f.rtt_ns))
		memset(&f, 0, sizeof(f));
	if (f.pkts > 0)
		sdr_loss_est_begin(&c->peer->loss, c->rel->now, f.pkts, f.lost, f.bursts);
	if (!f.rate_Bps && known.together < 2)
		return;
	known.rate_Bps = f.rate_Bps;
	known.rtt_ns = f.rate_Bps ? f.rtt_ns : 0;
	sdr_cc_init(&c->main.cc, &c->rel->cfg, c->shape->mtu, c->main.cc.rx_window,
		    c->main.rtt.samples ? c->main.rtt.srtt
		    : f.rtt_ns		? f.rtt_ns
					: c->main.cc.rtt_guess,
		    &known, c->rel->now);
}

static void known_tell(const struct sdr_conn *c, const struct sdr_path_ends *e)
{
	const struct sdr_loss_est *l = &c->peer->loss;
	struct sdr_path_facts f = { .rate_Bps = c->main.cc.learnt.rate_Bps,
				    .rtt_ns = c->main.cc.learnt.rtt_ns };

	/* A controller without a model, or not done yet: what packets have shown on their way. */
	if (!f.rate_Bps && !c->main.cc.ops->provisioned)
		f.rate_Bps = c->main.cc.train.rate_Bps;
	if (!f.rtt_ns && c->main.rtt.samples)
		f.rtt_ns = sdr_rtt_min(&c->main.rtt);
	if (!f.rtt_ns)
		return;
	f.pkts = l->sent;
	f.lost = l->lost;
	f.bursts = l->bursts;
	if (c->pmtu.how == SDR_PMTU_BY_HELLO || c->pmtu.how == SDR_PMTU_BY_PROBE)
		f.mtu = c->pmtu.size;
	sdr_path_mem_tell(c->rel->paths, e, c->rel->now, &f);
}

void sdr_conn_known_learn(struct sdr_conn *c)
{
	uint64_t ns = c->rel->now - c->known.since,
		 bytes = c->main.cc.delivered - c->known.delivered;
	struct sdr_path_ends e;

	SDR_ASSERT(c->rel->paths && c->hs.validated);
	known_ends(c, &e);
	if (sdr_path_mem_use(c->rel->paths, &e, c->rel->now,
			     ns ? (uint64_t)((double)bytes * 1e9 / (double)ns) : 0)) {
		c->known.last = c->rel->now;
		c->known.first = c->known.first ? c->known.first : c->rel->now;
	}
	known_tell(c, &e);
	known_from_now(c, KNOWN_EVERY_NS);
}

void sdr_conn_known_end(struct sdr_conn *c)
{
	struct sdr_path_ends e;

	if (c->known.next == NEVER)
		return;
	known_ends(c, &e);
	if (c->hs.validated && c->main.cc.delivered)
		known_tell(c, &e);
	c->known.next = NEVER;
	if (c->known.first)
		sdr_path_mem_leave(c->rel->paths, &e, c->rel->now, c->known.first, c->known.last);
	c->known.first = 0;
}

void sdr_conn_known_moved(struct sdr_conn *c)
{
	if (c->rel->paths)
		known_from_now(c, KNOWN_EVERY_NS);
}
