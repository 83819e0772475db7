/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Who shares a connection's path, as far as both ends see: those that this endpoint sends to the
 * peer's network at the time (fan-out), times those that the peer receives from ours (fan-in).
 *
 * Who was found to be one of many (path/sdr_burst.c) tells the peer what it begins with; the peer
 * says with its reports what all begin with that send to it from there, as a mean; and the mean of
 * those of all peers that we send to is what the controller gets (frame FAN, both ways).
 *
 * "At the time" is within a round trip, of which the first one's own may be half over.  What was
 * said counts as long.  Near paths (SDR_QDELAY_FAR_NS) are not counted, as nobody asks there; nor
 * are connections of several paths.  A peer can say what it likes: sdr_burst.c bounds what comes of
 * it, for its own flows and those of its network that begin with them.
 * No timers, no allocation, no work per packet.
 */
#include "base/sdr_rand.h"
#include "rel/path/sdr_qdelay.h"
#include "sdr_conn_fan.h"

static uint64_t fan_net(const struct sdr_conn *c)
{
	uint8_t b[SDR_UC_ADDR_WHERE];
	uint8_t n = sdr_uc_addr_where(&c->addr, true, b);

	return sdr_hash64(b, n, c->rel->hash_key);
}

static bool fan_counts(const struct sdr_conn *c)
{
	return c->npaths == 1 && sdr_rtt_min(&c->main.rtt) >= SDR_QDELAY_FAR_NS;
}

/* Half round trips ago. */
static uint64_t fan_since(const struct sdr_conn *c, uint32_t halves)
{
	uint64_t ns = halves * sdr_rtt_min(&c->main.rtt) / 2;

	return c->rel->now > ns ? c->rel->now - ns : 0;
}

static void fan_seen(struct sdr_conn *c, struct sdr_fan *f, struct sdr_fan_member *m)
{
	if (m->at != c->rel->now && fan_counts(c))
		sdr_fan_seen(f, m, fan_net(c), c->rel->now);
}

void sdr_conn_fan_open(struct sdr_conn *c)
{
	sdr_fan_member_init(&c->fan.out);
	sdr_fan_member_init(&c->fan.in);
}

void sdr_conn_fan_end(struct sdr_conn *c)
{
	sdr_fan_leave(&c->fan.out);
	sdr_fan_leave(&c->fan.in);
}

void sdr_conn_fan_sends(struct sdr_conn *c)
{
	fan_seen(c, &c->rel->fan_out, &c->fan.out);
}

size_t sdr_conn_fan_put(struct sdr_conn *c, uint8_t *p, size_t room, bool reports)
{
	struct sdr_frame_fan f = { .out_win = c->main.cc.begin_win };
	size_t n;

	if (reports)
		fan_seen(c, &c->rel->fan_in, &c->fan.in);
	if (!fan_counts(c))
		return 0;
	if (reports)
		f.in = (uint16_t)sdr_fan_count(&c->rel->fan_in, &c->fan.in, fan_since(c, 2),
					       &f.in_win);
	if (f.in < 2 && !f.in_win && f.out_win == c->fan.told)
		return 0;
	n = sdr_frame_fan_encode(p, room, &f);
	if (n)
		c->fan.told = f.out_win;
	return n;
}

void sdr_conn_fan_said(struct sdr_conn *c, const struct sdr_frame_fan *f)
{
	c->fan.in.win = f->out_win;
	if (!f->in)
		return;
	c->fan.said = f->in;
	c->fan.said_ns = c->rel->now;
	c->fan.out.win = f->in_win;
}

void sdr_conn_fan_tell(const struct sdr_conn *c, struct sdr_cc_ack *ca)
{
	if (!fan_counts(c) || !c->fan.said || c->fan.said_ns < fan_since(c, 2))
		return;
	ca->sharers = c->fan.said * sdr_fan_count(&c->rel->fan_out, &c->fan.out, fan_since(c, 3),
						  &ca->sharers_win);
}
