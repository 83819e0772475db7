/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Loss at home is not loss on the path: what this host did not send, and what the peer's host
 * threw away because its socket was full, is repaired as any loss, but is kept out of the estimate
 * that parity is chosen by.  Congestion control sees all of it: both are signs that less would be
 * more.
 *
 * Engines count both (struct sdr_uc_stats).  They are asked when a loss is declared here, or a gap
 * is seen in what comes, once a round: a path that loses nothing never pays for it.
 *
 * What the engine did not send is forgiven to the connection that finds its packets missing first.
 * What it dropped is told to all peers (DROPS), since nobody knows whose packets they were; so
 * several senders to one receiver forgive more than their own while it does not keep up.  A peer
 * can make up as many as it likes: the estimate is its own, and what is forgiven is bounded and
 * soon forgotten (sdr_loss_est_forgive).  DROPS is not acknowledged: it travels SDR_HOME_SAYS
 * times with acknowledgements, and its count says all that came before.
 *
 * No timers, no threads; nothing is allocated.
 */
#include "base/sdr_seq.h"
#include "sdr_conn_fan.h"
#include "sdr_home.h"

/*
 * Round trips in which a train that was asked for is answered: the pause before it, its own, and a
 * queue.  Controllers hear of acknowledgements here, so it is here that they have one sent.
 */
#define SDR_HOME_ANSWER 3u

/* What has grown since the last look. */
static void home_look(struct sdr_rel *rel)
{
	struct sdr_uc_stats st;

	if (rel->home.round == rel->round)
		return;
	rel->home.round = rel->round;
	rel->uc->ops->stats(rel->uc, &st);
	rel->home.unsent += st.tx_lost - rel->home.tx_lost;
	rel->home.tx_lost = st.tx_lost;
	rel->home.rx_full = st.rx_full;
	if (st.tx_denied != rel->home.denied)
		rel->home.denied_ns = rel->now;
	rel->home.denied = st.tx_denied;
}

void sdr_home_open(struct sdr_conn *c)
{
	home_look(c->rel);
	c->home.base = c->rel->home.rx_full;
}

/* What is unsent is forgiven once, to whoever asks first. */
static void home_forgive(struct sdr_conn *c)
{
	struct sdr_rel *rel = c->rel;

	home_look(rel);
	if (rel->home.unsent)
		sdr_loss_est_forgive(&c->peer->loss, rel->now, rel->home.unsent);
	rel->home.unsent = 0;
}

void sdr_home_lost(struct sdr_conn *c, uint64_t n)
{
	home_forgive(c);
	sdr_loss_est_doubt(&c->peer->loss);
	c->st.lost_home += sdr_loss_est_lost(&c->peer->loss, c->rel->now, n);
}

void sdr_home_recount(struct sdr_conn *c, uint64_t n)
{
	if (!n)
		return;
	home_forgive(c);
	sdr_loss_est_doubt(&c->peer->loss);
	c->st.lost_home += sdr_loss_est_recount(&c->peer->loss, c->rel->now, n);
}

/* What its own window has made of what was lost there, packets. */
static uint64_t home_judge(const struct sdr_conn *c, struct sdr_path *p, struct sdr_cc_ack *ca)
{
	struct sdr_cc *cc = &p->cc;
	uint64_t n;

	ca->inflight = p->inflight;
	ca->overtakes = p->rack.reo_mult > 0;
	ca->noise = (uint64_t)p->rack.noise;
	if (cc->begins)
		sdr_conn_fan_tell(c, ca);
	sdr_cc_acked(cc, ca);
	/* a part of one is what the weather would have lost, too */
	n = (cc->own_lost + cc->mtu / 2) / cc->mtu;
	cc->own_lost -= n * cc->mtu < cc->own_lost ? n * cc->mtu : cc->own_lost;
	return n;
}

void sdr_home_acked(struct sdr_conn *c, struct sdr_acks *as)
{
	bool doubts = false;
	uint64_t own = 0;

	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);
		struct sdr_cc_ack *ca = &as->v[i];

		if (ca->bytes || ca->lost || ca->late)
			own += home_judge(c, p, ca);
		if (p->cc.train_own)
			sdr_lull_none(&c->rel->lull, c->rel->now + SDR_HOME_ANSWER * p->cc.srtt);
		doubts |= p->cc.doubts;
	}
	c->st.lost_own += own;
	sdr_loss_est_excuse(&c->peer->loss, c->rel->now, own);
	if (!doubts)
		sdr_loss_est_judged(&c->peer->loss);
}

bool sdr_home_denies(struct sdr_rel *rel, uint64_t since)
{
	home_look(rel);
	return rel->home.denied_ns && rel->home.denied_ns >= since;
}

void sdr_home_missed(struct sdr_rel *rel)
{
	home_look(rel);
}

size_t sdr_home_put(struct sdr_conn *c, uint8_t *p, size_t room)
{
	struct sdr_frame_drops f = { (uint32_t)(c->rel->home.rx_full - c->home.base) };
	size_t n;

	if (f.count != c->home.saying) {
		c->home.saying = f.count;
		c->home.says = SDR_HOME_SAYS;
	}
	if (!c->home.says)
		return 0;
	n = sdr_frame_drops_encode(p, room, &f);
	c->home.says -= n > 0;
	return n;
}

void sdr_home_said(struct sdr_conn *c, const struct sdr_frame_drops *f)
{
	if (!sdr_seq_lt(c->home.heard, f->count))
		return;
	sdr_loss_est_forgive(&c->peer->loss, c->rel->now, f->count - c->home.heard);
	c->home.heard = f->count;
}
