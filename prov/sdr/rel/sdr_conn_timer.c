/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a connection does in time, for all rooms.
 *
 * Its timers are folded into one node of the endpoint's heap (sdr_conn_rearm computes the
 * earliest): handshake repeat, tail-loss probe (PTO, sdr_probe.c), reordering window of loss
 * detection, delayed acknowledgement, its repetition, pacing, keepalive, BYE repeat, and the
 * give-up time, after which a connection fails, and with it each operation, once.  Never a count:
 * cfg.timeout_ms
 *
 * - while something is due, without any of it coming closer (c->pto.due_since).  Due is what the
 *   peer's endpoint owes by itself, whatever its application does: the acknowledgement of records
 *   and data that left, the answer to a READ or WRITE, the bytes of a transfer it announced, the
 *   message in front of those that came before their turn.  It comes closer with a record or data
 *   newly acknowledged, a record newly received, data newly placed.  A peer that has no room for
 *   what we sent says so (HELD), and a packet that we have no room for counts as well.
 * - while anything is waited for, without any sign of life.  So a receive that is not posted over
 *   there is waited for as long as its endpoint answers.
 *
 * Both clocks stand still while this side runs no rounds (sdr_conn_was_away): an application that
 * computes between two calls, or a process that was stopped, has asked nobody.
 *
 * An answered probe alone proves a path for small packets and no more; which of the two clocks ran
 * out, and when the peer was heard last, make the difference between "stopped" and "stalled".
 */
#include "base/sdr_assert.h"
#include "msg/sdr_follow.h"
#include "msg/sdr_msg.h"
#include "bulk/sdr_bulk_loss.h"
#include "bulk/sdr_bulk_rx.h"
#include "bulk/sdr_bulk_tx.h"
#include "bulk/sdr_report.h"
#include "conn/sdr_conn_ecn.h"
#include "conn/sdr_conn_mtu.h"
#include "conn/sdr_conn_path.h"
#include "conn/sdr_alias.h"
#include "conn/sdr_handshake.h"
#include "conn/sdr_hello_tx.h"
#include "conn/sdr_home.h"
#include "conn/sdr_multipath.h"
#include "conn/sdr_pkt.h"
#include "conn/sdr_probe.h"
#include "conn/sdr_turn.h"
#include "sdr_conn_timer.h"

#define HELLO_TRIES_FAST   2u /* handshake repeats before the interval doubles */
#define HELLO_INTERVAL_MIN (20 * MS)
#define PTO_RTOS	   4u /* timeouts without progress, whatever leaves */

static uint64_t conn_timeout(const struct sdr_conn *c)
{
	return c->rel->cfg.timeout_ms * MS;
}

static bool conn_unanswered(const struct sdr_conn *c)
{
	return c->tx.live || c->inflight || c->bulk->tx.nend_probed;
}

bool sdr_conn_busy(const struct sdr_conn *c)
{
	return conn_unanswered(c) || !sdr_list_empty(&c->msg->ops) ||
	       !sdr_list_empty(&c->msg->deferred) || c->bulk->rx.nbrx || c->msg->early.n ||
	       sdr_follow_kept(c) || c->state == SDR_CONN_CLOSING;
}

bool sdr_conn_idle(const struct sdr_conn *c)
{
	return sdr_list_empty(&c->msg->ops) && sdr_list_empty(&c->msg->deferred) &&
	       sdr_list_empty(&c->rec.unordered) && sdr_list_empty(&c->rec.ordered) &&
	       sdr_list_empty(&c->rec.rtx) && !conn_unanswered(c);
}

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t conn_pto_at(const struct sdr_conn *c)
{
	uint64_t from = c->pto.progress_ns, rto = sdr_probe_rto(c), t;

	if (!conn_unanswered(c))
		return NEVER;
	t = (c->tx.last_ns > from ? c->tx.last_ns : from) + rto;
	if (c->npaths == 1)
		return t;
	/* what goes on leaving by a path that has died brings no progress, and puts that off */
	from = c->pto.probed_ns > from ? c->pto.probed_ns : from;
	return min64(t, from + PTO_RTOS * rto);
}

/* Blocked by the peer's credit with nothing under way that would bring progress: ask. */
static bool conn_starved(const struct sdr_conn *c)
{
	return !conn_unanswered(c) &&
	       (!sdr_list_empty(&c->rec.ordered) || !sdr_list_empty(&c->msg->cts_wait) ||
		!sdr_list_empty(&c->bulk->tx.bulks) || !sdr_list_empty(&c->rec.unordered));
}

/*
 * We opened it through a translator, which forgets what is idle: only as long as it does not can
 * the peer reach us.
 */
static bool conn_kept(const struct sdr_conn *c)
{
	return c->alias.translated && !c->hs.passive;
}

/* This side is done with it: it ends as soon as nothing is under way. */
static bool conn_ends(const struct sdr_conn *c)
{
	return (c->rel->closing || c->close.wanted) && sdr_conn_idle(c);
}

static uint64_t conn_idle_at(const struct sdr_conn *c)
{
	uint64_t gap = c->rel->cfg.keepalive_ms ? c->rel->cfg.keepalive_ms * MS : NEVER;
	uint64_t last = c->rx.last_ns > c->tx.last_ns ? c->rx.last_ns : c->tx.last_ns;

	if (conn_unanswered(c))
		return NEVER;
	if (!sdr_conn_busy(c) && !(c->peer->bond & SDR_BOND_WATCH))
		return conn_kept(c) && gap != NEVER ? last + gap : NEVER;
	if (gap > conn_timeout(c) / 3)
		gap = conn_timeout(c) / 3;
	/* The peer owes us data that we can see coming: ask earlier. */
	if (conn_starved(c) || c->bulk->rx.nbrx) {
		uint64_t soon = 4 * sdr_rtt_rto(&c->main.rtt) + 100 * MS;

		gap = soon < gap ? soon : gap;
	}
	return last + gap;
}

static bool conn_due(const struct sdr_conn *c)
{
	return !sdr_ring_empty(&c->rec.ring) || sdr_bulk_tx_due(c) || c->msg->nasked ||
	       sdr_bulk_rx_due(c) || c->msg->early.n || sdr_follow_kept(c);
}

/* No sign of life is counted from here on.  Of a handshake nothing counts but its end. */
static uint64_t conn_silent_since(const struct sdr_conn *c)
{
	uint64_t from = c->pto.wait_since;

	return !from || (c->hs.validated && c->rx.last_ns > from) ? c->rx.last_ns : from;
}

static uint64_t conn_dead_at(const struct sdr_conn *c)
{
	uint64_t from = conn_silent_since(c);

	if (!sdr_conn_busy(c))
		return NEVER;
	if (c->pto.due_since && conn_due(c))
		from = min64(from, c->pto.due_since);
	from += conn_timeout(c);
	return c->rel->closing ? min64(from, c->rel->close_by) : from;
}

void sdr_conn_was_away(struct sdr_conn *c, uint64_t ns)
{
	uint64_t now = c->rel->now;

	if (c->pto.wait_since)
		c->pto.wait_since = min64(conn_silent_since(c) + ns, now);
	if (c->pto.due_since)
		c->pto.due_since = min64(c->pto.due_since + ns, now);
}

/* Bytes of the longest UDP datagram that is sent now. */
static uint32_t conn_udp_max(const struct sdr_conn *c)
{
	const struct sdr_uc_info *e = &c->rel->info;
	uint32_t ip = e->data_over > SDR_DATA_OVERHEAD ? e->data_over - SDR_DATA_OVERHEAD : 0;
	uint32_t data = c->shape->mtu + SDR_DATA_OVERHEAD, ctl = c->ctl_max + SDR_CTL_OVERHEAD;

	if (c->main.pmtu.size)
		return c->main.pmtu.size - ip;
	return data > ctl ? data : ctl;
}

/* Why its time is over. */
static int conn_dead_why(const struct sdr_conn *c)
{
	if (c->rel->closing)
		return SDR_REL_ERR_CLOSED;
	if (sdr_home_denies(c->rel, c->rel->now - min64(conn_timeout(c) / 2, c->rel->now)))
		return SDR_REL_ERR_DENIED;
	if (!c->hs.answered)
		return SDR_REL_ERR_NO_ANSWER;
	/* It is asked at least three times in that time (conn_idle_at). */
	if (c->rx.last_ns + conn_timeout(c) / 2 <= c->rel->now)
		return SDR_REL_ERR_STOPPED;
	return sdr_rel_err_stalled(conn_udp_max(c));
}

/* This side does not need this connection and its peer was never validated. */
static uint64_t conn_expiry_at(const struct sdr_conn *c)
{
	return sdr_conn_busy(c) ? NEVER : c->hs.born + SDR_CONN_UNVALIDATED_NS;
}

/*
 * We want something of this peer: an answer to our own HELLO validates it, whatever sent the one
 * that opened us.
 */
static bool conn_asks(const struct sdr_conn *c)
{
	return !c->hs.passive || !sdr_list_empty(&c->msg->deferred);
}

/* The clocks of conn_dead_at begin, and end, with what they measure. */
static void conn_clocks(struct sdr_conn *c)
{
	uint64_t now = c->rel->now;

	if (!sdr_conn_busy(c))
		c->pto.wait_since = 0;
	else if (!c->pto.wait_since)
		c->pto.wait_since = now;
	if (!c->hs.validated || !conn_due(c))
		c->pto.due_since = 0;
	else if (!c->pto.due_since)
		c->pto.due_since = now;
}

void sdr_conn_rearm(struct sdr_conn *c)
{
	uint64_t d = NEVER, now = c->rel->now;

	if (!sdr_conn_live(c))
		return;
	conn_clocks(c);
	if (!c->hs.validated) {
		d = conn_asks(c) ? c->hs.next : conn_expiry_at(c);
		d = min64(d, conn_dead_at(c));
		d = min64(d, sdr_alias_deadline(c));
		if (conn_ends(c))
			d = now;
	} else {
		d = conn_pto_at(c);
		d = min64(d, sdr_bulk_loss_deadline(c));
		for (uint32_t i = 0; i < c->npaths; i++)
			d = min64(d, sdr_conn_path(c, i)->rack.timer);
		d = min64(d, sdr_report_deadline(c));
		d = min64(d, c->rx.again_ns);
		d = min64(d, conn_idle_at(c));
		d = min64(d, conn_dead_at(c));
		d = min64(d, sdr_conn_mtu_deadline(c));
		d = min64(d, sdr_conn_path_deadline(c));
		d = min64(d, sdr_multipath_deadline(c));
		if (c->rx.ack_due)
			d = min64(d, c->rx.ack_ns + SDR_ACK_DELAY_MAX_NS / 50);
		d = min64(d, sdr_bulk_tx_deferral(c));
		if (sdr_list_empty(&c->ready) && !sdr_turn_waits(c)) {
			if (sdr_bulk_tx_work(c))
				d = min64(d, sdr_bulk_tx_paced(c));
			if (sdr_pkt_paced(c))
				d = min64(d,
					  sdr_pacer_next(&sdr_conn_path(c, c->ctl)->cc.pacer, now));
		}
		if (c->state == SDR_CONN_CLOSING)
			d = min64(d, c->close.next);
		else if (conn_ends(c))
			d = now;
	}
	sdr_timerq_set(&c->rel->timers, &c->timer, d);
}

/*
 * Until the peer's address is validated: repeat the HELLO (also when the peer's own HELLO opened us
 * meanwhile).
 */
static void conn_timer_hello(struct sdr_conn *c)
{
	struct sdr_rel *rel = c->rel;
	uint64_t gap;

	if (c->hs.passive && conn_expiry_at(c) <= rel->now) {
		sdr_conn_fail(c, SDR_REL_ERR_NO_ANSWER);
		return;
	}
	if (conn_ends(c)) {
		sdr_conn_fail(c, SDR_REL_ERR_CANCELED);
		return;
	}
	if (conn_dead_at(c) <= rel->now) {
		sdr_conn_fail(c, rel->closing ? SDR_REL_ERR_NO_ANSWER : conn_dead_why(c));
		return;
	}
	(void)sdr_home_denies(rel, 0);
	if (conn_asks(c) && c->hs.next <= rel->now) {
		sdr_hello_send(c, SDR_REL_HELLO);
		gap = 2 * c->main.rtt.srtt;
		if (gap < HELLO_INTERVAL_MIN)
			gap = HELLO_INTERVAL_MIN;
		if (++c->hs.tries > HELLO_TRIES_FAST)
			gap <<= c->hs.tries - HELLO_TRIES_FAST < SDR_PTO_BACKOFF_MAX
					? c->hs.tries - HELLO_TRIES_FAST
					: SDR_PTO_BACKOFF_MAX;
		c->hs.next = rel->now + (gap < SDR_RTO_MAX_NS ? gap : SDR_RTO_MAX_NS);
	}
}

static void conn_timer_closing(struct sdr_conn *c)
{
	if (c->close.next > c->rel->now)
		return;
	if (c->close.tries >= SDR_LINGER_TRIES) {
		sdr_conn_fail(c, SDR_REL_ERR_CLOSED);
		return;
	}
	c->close.bye_due = true;
	c->close.tries++;
	c->close.next = c->rel->now + sdr_rtt_rto(&c->main.rtt);
}

/* Transmissions that others have overtaken for long enough, on any path. */
static void conn_timer_losses(struct sdr_conn *c)
{
	bool due = sdr_bulk_loss_deadline(c) <= c->rel->now, lost = false;
	struct sdr_acks as;

	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);

		sdr_rack_age(&p->rack, &p->rtt, c->rel->now);
		due |= p->rack.timer <= c->rel->now;
	}
	if (!due)
		return;
	for (uint32_t i = 0; i < c->npaths; i++)
		sdr_conn_path(c, i)->rack.timer = NEVER;
	sdr_acks_init(c, &as);
	sdr_pkt_detect_lost(c, &as);
	sdr_bulk_detect_lost(c, false, &as);
	for (uint32_t i = 0; i < c->npaths; i++)
		lost |= as.v[i].lost > 0;
	if (lost)
		sdr_home_acked(c, &as);
}

/* A probe leaves: what is found lost now, it has uncovered. */
static void conn_probed(struct sdr_conn *c, bool forget)
{
	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);

		if (forget)
			sdr_cc_timeout(&p->cc, c->rel->now);
		p->rack.probed = true;
	}
}

/* Runs whatever is due; sending happens later in the round. */
void sdr_conn_timer(struct sdr_conn *c)
{
	struct sdr_rel *rel = c->rel;

	SDR_ASSERT(sdr_conn_live(c));
	if (!c->hs.validated) {
		if (sdr_alias_deadline(c) <= rel->now)
			sdr_alias_silent(c);
		if (sdr_conn_live(c))
			conn_timer_hello(c);
		sdr_conn_rearm(c);
		return;
	}
	if (conn_dead_at(c) <= rel->now) {
		sdr_conn_fail(c, conn_dead_why(c));
		return;
	}
	if (c->state == SDR_CONN_CLOSING) {
		conn_timer_closing(c);
	} else if (conn_ends(c)) {
		c->state = SDR_CONN_CLOSING;
		c->close.next = rel->now;
		conn_timer_closing(c);
	}
	if (!sdr_conn_live(c))
		return;
	sdr_conn_path_timer(c);
	sdr_multipath_timer(c);
	conn_timer_losses(c);
	if (conn_pto_at(c) <= rel->now) {
		sdr_probe_due(c);
		conn_probed(c, sdr_probe_forgets(c));
		sdr_conn_mtu_ask(c);
		sdr_conn_ecn_timeout(c);
		(void)sdr_home_denies(rel, 0);
		sdr_pkt_probe(c);
		sdr_bulk_probe(c);
		sdr_multipath_judge(c);
		c->tx.last_ns = c->pto.probed_ns = rel->now;
	}
	if (c->rx.again_ns <= rel->now) {
		c->rx.again_ns = NEVER;
		c->rx.ack_now = true;
		sdr_report_again(c);
	}
	if (conn_idle_at(c) <= rel->now)
		c->tx.ping_due = true;
	sdr_conn_kick(c); /* its turn to send, later in the round, arms the timer anew */
}
