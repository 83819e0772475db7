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
 * Who had opened before, and has moved nothing to speak of, begins with those that open now: an MPI
 * library opens some connections for a barrier, and the others for the exchange behind it.  So they
 * are counted again as its first data leave, if somebody has opened since.  Its own further paths
 * are no others: who has some does not ask.
 *
 * Given two round trips after that, then once a second while acknowledgements come, and when the
 * connection ends or moves to another path.  No timers, no work per packet but a comparison.
 * Without a memory (rel->paths is NULL) nothing happens.
 *
 * A further path of the connection is remembered by itself where it has a key of its own (a rail;
 * not a port more between the same hosts), and begins with what is known when it has answered for
 * the first time.  It counts among those that open once somebody has answered there, and not when
 * the peer has named it, who may name anybody.  Losses and sizes are the connection's, and told for
 * the first path alone.
 */
#include <string.h>
#include "rel/path/sdr_cc_ops.h"
#include "rel/path/sdr_path_mem.h"
#include "sdr_conn_known.h"
#include "sdr_multipath.h"

#define KNOWN_EVERY_NS 1000000000ull
#define KNOWN_FEW      8u	  /* packets: who has moved no more begins with what follows */
#define KNOWN_RTT_NS   5000000ull /* round trips that differ by less are of the same path */

_Static_assert(1 + 2 * SDR_UC_ADDR_WHERE <= SDR_PATH_KEY_MAX, "both ends must fit into a key");

/* Where the path leaves from. */
static void known_source(const struct sdr_conn *c, const struct sdr_path *p, struct sdr_uc_addr *a)
{
	if (p->source)
		c->rel->uc->ops->source(c->rel->uc, p->source, a);
	else
		*a = c->rel->name;
}

static void known_key(const struct sdr_conn *c, const struct sdr_path *p, bool net,
		      struct sdr_path_key *k)
{
	struct sdr_uc_addr from;
	uint8_t n = 1;

	known_source(c, p, &from);
	memset(k, 0, sizeof(*k));
	k->b[0] = net;
	n += sdr_uc_addr_where(&from, true, k->b + n);
	n += sdr_uc_addr_where(sdr_path_addr(c, p), net, k->b + n);
	k->len = n;
}

/* False: one before it has the same. */
static bool known_ends(const struct sdr_conn *c, const struct sdr_path *p, struct sdr_path_ends *e)
{
	struct sdr_path_key k;

	known_key(c, p, false, &e->host);
	known_key(c, p, true, &e->net);
	for (uint32_t i = 0; i < p->index; i++) {
		known_key(c, sdr_conn_path_of(c, i), false, &k);
		if (!memcmp(&k, &e->host, sizeof(k)))
			return false;
	}
	return true;
}

/* What is delivered from now on is told when the connection's time has come. */
static void known_from_now(const struct sdr_conn *c, struct sdr_path *p)
{
	p->known.since = c->rel->now;
	p->known.delivered = p->cc.delivered;
}

void sdr_conn_known_open(struct sdr_conn *c)
{
	struct sdr_path_facts f;
	struct sdr_path_ends e;
	uint64_t age;

	c->known.next = NEVER;
	if (!c->rel->paths)
		return;
	known_ends(c, &c->main, &e);
	sdr_path_mem_open(c->rel->paths, &e, c->rel->now);
	if (sdr_path_mem_ask(c->rel->paths, &e, c->rel->now, c->rel->now, &f, &age))
		c->known.mtu = f.mtu;
}

static bool known_same_path(const struct sdr_path *p, uint64_t rtt_ns)
{
	uint64_t rtt = sdr_rtt_min(&p->rtt);

	if (!p->rtt.samples || !rtt_ns)
		return true;
	return rtt <= 2 * rtt_ns + KNOWN_RTT_NS && rtt_ns <= 2 * rtt + KNOWN_RTT_NS;
}

/*
 * Facts that p, which began to open then, may believe now, and what its controller is to know of
 * them.  False: nothing.
 */
static bool known_of(const struct sdr_conn *c, const struct sdr_path *p, uint64_t opened,
		     const struct sdr_path_ends *e, struct sdr_path_facts *f,
		     struct sdr_cc_known *known)
{
	memset(known, 0, sizeof(*known));
	known->together = sdr_path_mem_together(c->rel->paths, e, c->rel->now, opened);
	if (!sdr_path_mem_ask(c->rel->paths, e, c->rel->now, opened, f, &known->age_ns) ||
	    !known_same_path(p, f->rtt_ns))
		memset(f, 0, sizeof(*f));
	known->rate_Bps = f->rate_Bps;
	known->rtt_ns = f->rate_Bps ? f->rtt_ns : 0;
	return f->rate_Bps || known->together > 1;
}

void sdr_conn_known_begin(struct sdr_conn *c)
{
	struct sdr_path *p = &c->main;
	struct sdr_path_facts f;
	struct sdr_path_ends e;
	struct sdr_cc_known known;
	bool some;

	if (!c->rel->paths)
		return;
	SDR_ASSERT(!c->tx.live && !c->inflight && !p->cc.delivered);
	known_ends(c, p, &e);
	known_from_now(c, p);
	c->known.next = c->rel->now + 2 * p->rtt.srtt;
	c->known.opened = sdr_path_mem_opened(c->rel->paths);
	some = known_of(c, p, c->hs.born, &e, &f, &known);
	if (f.pkts > 0)
		sdr_loss_est_begin(&c->peer->loss, c->rel->now, f.pkts, f.lost, f.bursts);
	if (some)
		sdr_cc_init(&p->cc, &c->rel->cfg, c->shape->mtu, p->cc.rx_window,
			    p->rtt.samples ? p->rtt.srtt
			    : f.rtt_ns	   ? f.rtt_ns
					   : p->cc.rtt_guess,
			    &known, c->rel->now);
}

void sdr_conn_known_sends(struct sdr_conn *c)
{
	struct sdr_cc *cc = &c->main.cc;
	struct sdr_path_ends e;
	uint32_t opened;

	if (!cc->starting || !c->rel->paths || cc->delivered > KNOWN_FEW * c->shape->mtu ||
	    c->npaths > 1)
		return;
	opened = sdr_path_mem_opened(c->rel->paths);
	if (opened == c->known.opened)
		return;
	c->known.opened = opened;
	known_ends(c, &c->main, &e);
	sdr_cc_joined(cc, sdr_path_mem_together(c->rel->paths, &e, c->rel->now, c->hs.born),
		      c->rel->now);
}

void sdr_conn_known_path_open(struct sdr_conn *c, struct sdr_path *p)
{
	struct sdr_path_ends e;

	SDR_ASSERT(p->index);
	known_from_now(c, p);
	if (c->rel->paths && known_ends(c, p, &e))
		sdr_path_mem_open(c->rel->paths, &e, c->rel->now);
}

void sdr_conn_known_path_begin(struct sdr_conn *c, struct sdr_path *p)
{
	uint64_t opened = p->known.since;
	struct sdr_path_facts f;
	struct sdr_path_ends e;
	struct sdr_cc_known known;

	SDR_ASSERT(p->index && !p->inflight && !p->cc.delivered);
	if (!c->rel->paths)
		return;
	known_from_now(c, p);
	if (known_ends(c, p, &e) && known_of(c, p, opened, &e, &f, &known))
		sdr_cc_init(&p->cc, &c->rel->cfg, c->shape->mtu, p->cc.rx_window, p->rtt.srtt,
			    &known, c->rel->now);
}

static void known_tell(const struct sdr_conn *c, const struct sdr_path *p,
		       const struct sdr_path_ends *e)
{
	const struct sdr_loss_est *l = &c->peer->loss;
	struct sdr_path_facts f = { .rate_Bps = p->cc.learnt.rate_Bps,
				    .rtt_ns = p->cc.learnt.rtt_ns };

	/* A controller without a model, or not done yet: what packets have shown on their way. */
	if (!f.rate_Bps && !p->cc.ops->provisioned)
		f.rate_Bps = p->cc.train.rate_Bps;
	if (!f.rtt_ns && p->rtt.samples)
		f.rtt_ns = sdr_rtt_min(&p->rtt);
	if (!f.rtt_ns)
		return;
	if (!p->index) {
		f.pkts = l->sent;
		f.lost = l->lost;
		f.bursts = l->bursts;
		if (c->main.pmtu.how == SDR_PMTU_BY_HELLO || c->main.pmtu.how == SDR_PMTU_BY_PROBE)
			f.mtu = c->main.pmtu.size;
	}
	sdr_path_mem_tell(c->rel->paths, e, c->rel->now, &f);
}

static void known_learn(struct sdr_conn *c, struct sdr_path *p)
{
	uint64_t ns = c->rel->now - p->known.since, bytes = p->cc.delivered - p->known.delivered;
	struct sdr_path_ends e;

	/* of a further one: so few round trips say nothing of what it carries */
	if ((p->index && (!p->cc.delivered || ns < 2 * p->rtt.srtt)) || !known_ends(c, p, &e))
		return;
	if (sdr_path_mem_use(c->rel->paths, &e, c->rel->now,
			     ns ? (uint64_t)((double)bytes * 1e9 / (double)ns) : 0)) {
		p->known.last = c->rel->now;
		p->known.first = p->known.first ? p->known.first : c->rel->now;
	}
	known_tell(c, p, &e);
	known_from_now(c, p);
}

void sdr_conn_known_learn(struct sdr_conn *c)
{
	SDR_ASSERT(c->rel->paths && c->hs.validated);
	for (uint32_t i = 0; i < c->npaths; i++)
		known_learn(c, sdr_conn_path(c, i));
	c->known.next = c->rel->now + KNOWN_EVERY_NS;
}

void sdr_conn_known_end(struct sdr_conn *c)
{
	if (c->known.next == NEVER)
		return;
	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);
		struct sdr_path_ends e;

		if (!known_ends(c, p, &e))
			continue;
		if (c->hs.validated && p->cc.delivered)
			known_tell(c, p, &e);
		if (p->known.first)
			sdr_path_mem_leave(c->rel->paths, &e, c->rel->now, p->known.first,
					   p->known.last);
		p->known.first = 0;
	}
	c->known.next = NEVER;
}

void sdr_conn_known_moved(struct sdr_conn *c)
{
	if (!c->rel->paths)
		return;
	for (uint32_t i = 0; i < c->npaths; i++)
		known_from_now(c, sdr_conn_path(c, i));
	c->known.next = c->rel->now + KNOWN_EVERY_NS;
}
