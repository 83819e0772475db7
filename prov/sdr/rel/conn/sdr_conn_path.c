/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where the peer is.  It was shown by the handshake, and changes when an address translator
 * changes its mind or a host moves: then packets with the connection's id come from elsewhere.  So
 * do those of whoever has seen the id once.  Therefore nothing of such a packet counts, and nothing
 * of ours goes there, but for this:
 *
 *   doubt    The newest packet came from elsewhere.  That address gets a PATH_CHALLENGE, and so
 *            does c->addr: who is still there has not moved, whatever he who claims it can answer.
 *            The data of a challenge are a keyed hash of the address, under a key that lives as
 *            long as the doubt, so any number of addresses may be asked and nothing is stored but
 *            the latest.
 *   proved   The right response came from there.  Nothing moves while c->addr may still answer.
 *   refuted  c->addr has answered, or has acknowledged a packet that was sent after the doubt
 *            began.  It stays.
 *   moved    c->addr was silent for a retransmission timeout, at least SDR_PATH_PATIENCE_NS, the
 *            other one has answered.  All goes there from now on; what was under way is asked
 *            about.  The peer, who knows by the challenge of another path that its packets did
 *            not count, sends them again with the PING that follows the move.
 *
 * The peer's home is where it was for SDR_PATH_HOME_NS: from there it takes the connection back
 * with the first response, so that nobody who answered in a moment of loss keeps it.  The packet
 * numbers that came meanwhile are forgotten then: they may be another's.
 *
 * To an address that has proved nothing go at most SDR_PATH_AMPLIFY times the bytes that came from
 * it.  Timer: a doubt's challenges are repeated after a retransmission timeout, doubling,
 * SDR_PATH_TRIES in all while nobody elsewhere answers; then the next packet from there begins
 * anew.  A peer without
 * SDR_FEATURE_PATHS is never followed.  No allocation; the endpoint's thread.
 */
#include <string.h>
#include "base/sdr_rand.h"
#include "sdr_conn_ecn.h"
#include "sdr_conn_known.h"
#include "sdr_conn_mtu.h"
#include "sdr_conn_ops.h"
#include "sdr_conn_path.h"
#include "sdr_multipath.h"
#include "sdr_peer_cid.h"
#include "sdr_pkt.h"
#include "sdr_seal.h"
#include "sdr_shape.h"

/* What a control datagram is on the wire besides its payload: RoCEv2 frame, UDP, IPv4. */
#define PATH_OVERHEAD (SDR_CTL_OVERHEAD + 28u)

static bool path_is_claim(const struct sdr_conn *c, const struct sdr_uc_addr *addr)
{
	return c->path.doubt && sdr_uc_addr_equal(addr, &c->path.addr);
}

static bool path_is_home(const struct sdr_conn *c, const struct sdr_uc_addr *addr)
{
	return sdr_uc_addr_equal(addr, &c->path.home);
}

/* Sends a frame at once, in a packet of its own that is not repeated.  False: not now. */
static bool path_send(struct sdr_conn *c, const struct sdr_uc_addr *to, enum sdr_frame_type type,
		      const struct sdr_frame_path *f)
{
	bool unproved = path_is_claim(c, to) && !c->path.proved;
	uint8_t *p = sdr_seal_begin(c->rel);
	size_t n;

	if (!p)
		return false;
	n = sdr_packet_encode(p, c->id.peer_cid, c->tx.pn);
	n += sdr_frame_path_encode(p + n, sdr_seal_room(c->rel, c->ctl_max) - n, type, f);
	if (unproved && c->path.tx + n + PATH_OVERHEAD > SDR_PATH_AMPLIFY * c->path.rx)
		return false; /* what was begun is dropped with the next begin */
	if (unproved)
		c->path.tx += n + PATH_OVERHEAD;
	sdr_seal_send_at(c, to, n);
	c->tx.pn++;
	c->rel->activity++;
	return true;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void path_data(const struct sdr_conn *c, const struct sdr_uc_addr *addr, uint8_t *data)
{
	sdr_put_le64(data, sdr_hash64(addr, sizeof(*addr), c->path.key));
}

static void path_ask(struct sdr_conn *c, const struct sdr_uc_addr *addr, uint8_t number)
{
	struct sdr_frame_path f = { .path = number };

	path_data(c, addr, f.data);
	(void)path_send(c, addr, SDR_FRAME_PATH_CHALLENGE, &f);
}

static void path_ask_home(struct sdr_conn *c)
{
	for (uint32_t i = 0; i < SDR_PATH_COPIES; i++)
		path_ask(c, &c->addr, c->path.number);
	c->path.next = c->rel->now + sdr_conn_rto(c, c->path.tries);
	sdr_conn_kick(c); /* and with that its timer */
}

static void path_ask_claim(struct sdr_conn *c)
{
	path_ask(c, &c->path.addr, (uint8_t)(c->path.number + 1));
}

static void doubt_end(struct sdr_conn *c, uint64_t again)
{
	c->path.doubt = c->path.proved = false;
	c->path.again = again;
}

static void doubt_begin(struct sdr_conn *c)
{
	uint64_t rto = sdr_conn_rto(c, 0);

	c->path.doubt = true;
	c->path.proved = c->path.home_asked = false;
	c->path.tries = 0;
	c->path.key = sdr_rel_rand(c->rel);
	c->path.until = c->rel->now + (rto > SDR_PATH_PATIENCE_NS ? rto : SDR_PATH_PATIENCE_NS);
	c->path.pn = c->tx.pn;
	path_ask_home(c);
}

/* A packet that is newer than all came from there. */
static void path_claim(struct sdr_conn *c, const struct sdr_uc_addr *from, uint64_t bytes)
{
	uint64_t now = c->rel->now;

	if (path_is_claim(c, from)) {
		c->path.rx += bytes;
		return;
	}
	if (c->path.proved || (!c->path.doubt && now < c->path.again))
		return;
	if (now - c->path.asks_ns >= SDR_PATH_ASKS_NS) {
		c->path.asks_ns = now;
		c->path.asks = 0;
	}
	if (c->path.asks >= SDR_PATH_ASKS)
		return;
	c->path.asks++;
	if (!c->path.doubt)
		doubt_begin(c);
	c->path.home_asked |= path_is_home(c, from);
	c->path.addr = *from;
	c->path.rx = bytes;
	c->path.tx = 0;
	path_ask_claim(c);
}

/* ---- deciding -------------------------------------------------------------------------------- */

/*
 * The place for all that must be learnt anew on another path.  far: more than the port has changed,
 * as when a translator has only made another mapping.
 */
static void conn_moved(struct sdr_conn *c, bool far)
{
	c->st.moves++;
	if (!far)
		return;
	/* The estimate is kept, as a guess; the window begins as that of a new connection. */
	sdr_rtt_init(&c->main.rtt, c->main.rtt.srtt);
	sdr_conn_known_moved(c);
	memset(&c->main.cc.learnt, 0, sizeof(c->main.cc.learnt));
	sdr_train_init(&c->main.cc.train);
	sdr_cc_timeout(&c->main.cc, c->rel->now);
	sdr_conn_mtu_moved(c);
	sdr_conn_ecn_moved(c, &c->main);
}

static void path_move(struct sdr_conn *c)
{
	bool far = !sdr_uc_addr_same_host(&c->path.addr, &c->addr);
	struct sdr_uc_addr was = c->addr;

	SDR_ASSERT(c->path.doubt && c->path.proved && c->hs.validated);
	if (path_is_home(c, &c->path.addr)) {
		c->rx.pns = c->path.home_pns;
	} else if (!c->path.home.len || c->rel->now - c->path.here_ns >= SDR_PATH_HOME_NS) {
		c->path.home = c->addr;
		c->path.home_pns = c->rx.pns;
	}
	if (far)
		sdr_conn_known_end(c);
	sdr_conn_peer_forget(c);
	c->addr = c->path.addr;
	sdr_conn_peer_note(c);
	sdr_shape_readdress(c, &c->addr);
	c->path.here_ns = c->rel->now;
	c->path.number++;
	doubt_end(c, c->rel->now);
	sdr_multipath_moved(c, &was);
	conn_moved(c, far);
	/* What was under way went to where nobody is: ask, and with that say that we have moved. */
	sdr_pkt_probe(c);
	c->rel->ops->probe(c);
	sdr_conn_kick(c);
}

/* It has answered; c->addr need not be waited for any longer, or not at all. */
static void path_settle(struct sdr_conn *c)
{
	if (c->path.proved && (path_is_home(c, &c->path.addr) || c->rel->now >= c->path.until))
		path_move(c);
	else
		sdr_conn_kick(c);
}

/* Home is asked in any case: who is at c->addr does not speak for it. */
static void path_refuted(struct sdr_conn *c)
{
	if (c->path.home_asked)
		return;
	c->st.moves_refuted++;
	doubt_end(c, c->rel->now + c->main.rtt.srtt);
}

void sdr_conn_path_acked(struct sdr_conn *c, uint32_t pn)
{
	if (c->path.doubt && !sdr_seq_lt(pn, c->path.pn))
		path_refuted(c);
}

uint64_t sdr_conn_path_deadline(const struct sdr_conn *c)
{
	if (!c->path.doubt)
		return NEVER;
	return c->path.proved && c->path.until < c->path.next ? c->path.until : c->path.next;
}

void sdr_conn_path_timer(struct sdr_conn *c)
{
	if (sdr_conn_path_deadline(c) > c->rel->now)
		return;
	if (c->path.proved && c->rel->now >= c->path.until) {
		path_move(c);
		return;
	}
	if (++c->path.tries >= SDR_PATH_TRIES && !c->path.proved) {
		doubt_end(c, c->rel->now);
		return;
	}
	if (!c->path.proved)
		path_ask_claim(c);
	path_ask_home(c);
}

/* ---- packets in ------------------------------------------------------------------------------ */

static void path_answered(struct sdr_conn *c, const struct sdr_uc_addr *from,
			  const struct sdr_frame_path *f)
{
	uint8_t data[SDR_FRAME_PATH_DATA];

	if (!c->path.doubt)
		return; /* it is settled */
	path_data(c, from, data);
	if (memcmp(data, f->data, sizeof(data)))
		return;
	if (sdr_uc_addr_equal(from, &c->addr)) {
		path_refuted(c);
		return;
	}
	c->path.addr = *from;
	c->path.proved = true;
	path_settle(c);
}

void sdr_conn_path_input(struct sdr_conn *c, const struct sdr_uc_addr *from,
			 const struct sdr_frame *f)
{
	if (f->type == SDR_FRAME_PATH_RESPONSE) {
		path_answered(c, from, &f->path);
		return;
	}
	(void)path_send(c, from, SDR_FRAME_PATH_RESPONSE, &f->path);
	/* Of another path than the one that we know of: it takes nothing from us there, yet. */
	if (sdr_uc_addr_equal(from, &c->addr) && f->path.path != c->path.asked_number) {
		c->path.asked = true;
		c->path.asked_number = f->path.path;
	}
}

void sdr_conn_path_pinged(struct sdr_conn *c)
{
	if (!c->path.asked)
		return;
	c->path.asked = false;
	sdr_pkt_probe(c);
	c->rel->ops->probe(c);
	sdr_conn_kick(c);
}

void sdr_conn_path_elsewhere(struct sdr_conn *c, const struct sdr_uc_addr *from, uint32_t pn,
			     const uint8_t *p, const uint8_t *end)
{
	struct sdr_frame f;

	c->st.pkts_astray++;
	if (!sdr_conn_path_in_force(c) || !c->hs.validated)
		return;
	if (path_is_claim(c, from) || path_is_home(c, from) || sdr_pnset_newest(&c->rx.pns, pn))
		path_claim(c, from, (uint64_t)(end - p) + SDR_PACKET_HDR + PATH_OVERHEAD);
	while (sdr_frame_next(&p, end, &f) > 0) {
		sdr_rel_step(c->rel);
		if (f.type == SDR_FRAME_PATH_CHALLENGE || f.type == SDR_FRAME_PATH_RESPONSE)
			sdr_conn_path_input(c, from, &f);
	}
}
