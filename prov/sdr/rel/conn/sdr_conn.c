/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Life of a connection: made when the first operation or the peer's HELLO wants it, open after one
 * exchange, closed by BYE, by a peer that restarted, or by silence.
 *
 * Timers, all folded into one node of the endpoint's heap (sdr_conn_rearm computes the earliest):
 *   handshake repeat, tail-loss probe (PTO, doubling up to 1 s), reordering window of the loss
 *   detection,
 *   delayed acknowledgement, pacing, keepalive, BYE repeat, and the give-up time: a connection that
 *   waits for
 *   its peer and hears nothing for cfg.timeout_ms fails, and with it each operation, once.  Never a
 *   count.
 * Waiting means: something of ours is unanswered, or the peer owes bytes of a transfer it
 * announced, or the message in front of those that came before their turn.
 */
#include <stdlib.h>
#include "rel/sdr_rel_priv.h"

#define PTO_CC_RESET 4u /* probes without news after which the window starts anew */

static uint64_t conn_timeout(const struct sdr_conn *c)
{
	return c->rel->cfg.timeout_ms * MS;
}

/* The SDK's call: our end of it has failed, and that of no other connection. */
static void conn_broken(void *user, int err)
{
	struct sdr_conn *c = user;

	(void)err;
	sdr_rel_now(c->rel);
	sdr_conn_fail(c, SDR_REL_ERR_ENGINE);
}

int sdr_conn_shape_make(struct sdr_conn *c, uint32_t mtu, struct sdr_conn_shape *s)
{
	struct sdr_rel *rel = c->rel;
	struct sdr_qp_hooks hooks = { .user = c,
				      .recv_progress = sdr_bulk_rx_progress,
				      .broken = conn_broken };
	struct sdr_qp_attr attr = {
		.size = sizeof(attr),
		.mtu = mtu,
		.id_bits = rel->cfg.split.id_bits,
		.off_bits = rel->cfg.split.off_bits,
		.user_bits = rel->cfg.split.user_bits,
		.channels = rel->cfg.channels,
		.generations = rel->cfg.generations,
	};
	uint64_t seg = (uint64_t)mtu << rel->cfg.split.off_bits;

	s->mtu = mtu;
	s->chunk_pkts = rel->cfg.chunk / mtu ? rel->cfg.chunk / mtu : 1;
	if (s->chunk_pkts > 1u << rel->cfg.split.off_bits)
		s->chunk_pkts = 1u << rel->cfg.split.off_bits;
	s->seg_bytes = seg > SDR_REL_SEG_MAX ? SDR_REL_SEG_MAX / mtu * mtu : seg;
	attr.chunk = s->chunk_pkts * mtu;
	attr.max_msg = s->seg_bytes;
	s->qp = sdr_qp_create_hooked(rel->ctx, &attr, &hooks);
	return s->qp ? 0 : -ENOMEM;
}

void sdr_conn_shape_take(struct sdr_conn *c, const struct sdr_conn_shape *s)
{
	if (c->shape.qp)
		sdr_qp_destroy(c->shape.qp);
	c->shape.qp = s->qp;
	c->shape.mtu = s->mtu;
	c->shape.chunk_pkts = s->chunk_pkts;
	c->shape.run_pkts = SDR_RUN_BYTES / s->mtu < SDR_RUN_PKTS_MAX ? SDR_RUN_BYTES / s->mtu
								      : SDR_RUN_PKTS_MAX;
	c->shape.seg_bytes = s->seg_bytes;
}

int sdr_conn_qp_make(struct sdr_conn *c, uint32_t mtu)
{
	struct sdr_conn_shape s;
	int ret = sdr_conn_shape_make(c, mtu, &s);

	if (!ret)
		sdr_conn_shape_take(c, &s);
	return ret;
}

struct sdr_conn *sdr_conn_open(struct sdr_peer *peer, bool passive, uint32_t mtu)
{
	struct sdr_rel *rel = peer->rel;
	struct {
		struct sdr_conn c;
		struct sdr_conn_bulk bulk;
		struct sdr_conn_msg msg;
	} *all = calloc(1, sizeof(*all));
	struct sdr_conn *c;

	if (!all)
		return NULL;
	c = &all->c;
	c->bulk = &all->bulk;
	c->msg = &all->msg;
	c->rel = rel;
	c->peer = peer;
	c->addr = peer->addr;
	c->hs.passive = passive;
	c->state = SDR_CONN_HELLO;
	c->hs.born = c->rx.last_ns = c->rx.heard_ns = c->hs.next = rel->now;
	/* The side that was asked asks itself only if proof does not come by itself. */
	if (passive)
		c->hs.next += 2 * (rel->cfg.rtt_init_us ? rel->cfg.rtt_init_us * 1000ull
							: SDR_RTT_INIT_NS);
	c->id.cid = sdr_rel_rand(rel);
	c->ctl_max = rel->ctl_max;
	sdr_list_init(&c->ready);
	sdr_list_init(&c->rec.rtx);
	sdr_list_init(&c->rec.unordered);
	sdr_list_init(&c->rec.ordered);
	sdr_list_init(&c->msg->ops);
	sdr_list_init(&c->msg->held);
	sdr_list_init(&c->bulk->tx.bulks);
	sdr_list_init(&c->bulk->tx.segs);
	sdr_list_init(&c->bulk->tx.lost_segs);
	sdr_list_init(&c->bulk->tx.ends);
	sdr_list_init(&c->bulk->tx.copies);
	sdr_list_init(&c->bulk->tx.judge);
	sdr_list_init(&c->msg->cts_wait);
	sdr_list_init(&c->bulk->rx.brx);
	sdr_list_init(&c->bulk->rx.dirty);
	sdr_list_init(&c->bulk->rx.partial);
	sdr_rtt_init(&c->rtt, peer->srtt	     ? peer->srtt
			      : rel->cfg.rtt_init_us ? rel->cfg.rtt_init_us * 1000ull
						     : SDR_RTT_INIT_NS);
	sdr_pnset_init(&c->rx.pns, 0);
	if (sdr_timerq_reserve(&rel->timers, rel->nconns + 1) || sdr_conn_qp_make(c, mtu))
		goto err_free;
	if (sdr_htab_add(&rel->conns, &c->hnode, c->id.cid))
		goto err_qp;
	sdr_list_add_tail(&c->link, &rel->conn_list);
	rel->nconns++;
	if (passive)
		rel->nunproven++;
	sdr_peer_conn_add(peer, c);
	c->credit.msn_granted = sdr_conn_msn_limit(c);
	c->credit.mseq_granted = sdr_conn_mseq_limit(c);
	return c;
err_qp:
	sdr_qp_destroy(c->shape.qp);
err_free:
	free(c);
	return NULL;
}

struct sdr_conn *sdr_conn_get(struct sdr_peer *peer)
{
	struct sdr_conn *c = peer->conn;

	if (c)
		return c;
	c = sdr_conn_open(peer, false, peer->rel->mtu);
	if (c) {
		c->pto.wait_since = peer->rel->now;
		sdr_conn_timer(c); /* the first HELLO leaves at once */
	}
	return c;
}

struct sdr_conn *sdr_conn_by_cid(struct sdr_rel *rel, uint64_t cid)
{
	struct sdr_hnode *n;

	for (n = sdr_htab_first(&rel->conns, cid); n; n = n->next) {
		sdr_rel_step(rel);
		if (n->hash == cid)
			return sdr_container(n, struct sdr_conn, hnode);
	}
	return NULL;
}

void sdr_conn_fail(struct sdr_conn *c, int err)
{
	if (c->state == SDR_CONN_DEAD)
		return;
	c->state = SDR_CONN_DEAD;
	if (c->peer->conn == c)
		c->peer->conn = NULL;
	sdr_htab_del(&c->rel->conns, &c->hnode);
	sdr_conn_peer_forget(c);
	sdr_list_del(&c->link);
	sdr_list_add_tail(&c->link, &c->rel->dead);
	if (c->hs.passive && !c->hs.proven)
		c->rel->nunproven--;
	sdr_ops_end(c, SDR_OPS_ALL, err);
	sdr_match_conn_gone(c, err);
	sdr_timerq_set(&c->rel->timers, &c->timer, NEVER);
	sdr_list_del(&c->ready);
	c->rel->work++;
}

void sdr_conn_free(struct sdr_conn *c)
{
	struct sdr_rel *rel = c->rel;

	sdr_conn_stats_fold(c);
	sdr_pkt_drop_all(c);
	sdr_bulk_tx_destroy(c);
	sdr_list_del(&c->link);
	sdr_list_del(&c->ready);
	sdr_timerq_set(&rel->timers, &c->timer, NEVER);
	rel->nconns--;
	sdr_peer_conn_del(c->peer, c);
	sdr_qp_destroy(c->shape.qp);
	sdr_ring_destroy(&c->tx.log);
	sdr_ring_destroy(&c->rec.ring);
	sdr_ring_destroy(&c->bulk->tx.log);
	sdr_ring_destroy(&c->bulk->tx.index);
	sdr_ring_destroy(&c->bulk->rx.comp[0]);
	sdr_ring_destroy(&c->bulk->rx.comp[1]);
	free(c);
}

void sdr_conn_kick(struct sdr_conn *c)
{
	if (c->state != SDR_CONN_DEAD && sdr_list_empty(&c->ready))
		sdr_list_add_tail(&c->ready, &c->rel->ready);
}

static bool conn_unanswered(const struct sdr_conn *c)
{
	return c->tx.live || c->inflight || c->bulk->tx.nasked;
}

bool sdr_conn_busy(const struct sdr_conn *c)
{
	return conn_unanswered(c) || !sdr_list_empty(&c->msg->ops) ||
	       !sdr_list_empty(&c->msg->held) || !sdr_list_empty(&c->bulk->rx.brx) ||
	       c->msg->early.n || c->state == SDR_CONN_CLOSING;
}

bool sdr_conn_idle(const struct sdr_conn *c)
{
	return sdr_list_empty(&c->msg->ops) && sdr_list_empty(&c->msg->held) &&
	       sdr_list_empty(&c->rec.unordered) && sdr_list_empty(&c->rec.ordered) &&
	       sdr_list_empty(&c->rec.rtx) && !conn_unanswered(c);
}

void sdr_conn_news(struct sdr_conn *c)
{
	c->pto.news_ns = c->rel->now;
	c->pto.count = 0;
	c->pto.rto_shift = 0;
}

void sdr_conn_sent(struct sdr_conn *c)
{
	c->tx.last_ns = c->rel->now;
}

uint64_t sdr_conn_rto(const struct sdr_conn *c, uint32_t shift)
{
	uint64_t rto = sdr_rtt_rto(&c->rtt), t;

	/*
	 * Our own bursts queue at a slow link: a round trip measured with a small packet does not
	 * know them.
	 */
	if (c->cc.pacer.rate_Bps)
		rto += 2 * c->cc.pacer.quantum * 1000000000ull / c->cc.pacer.rate_Bps;
	t = rto << (shift < SDR_PTO_BACKOFF_MAX ? shift : SDR_PTO_BACKOFF_MAX);
	return t < SDR_RTO_MAX_NS ? t : SDR_RTO_MAX_NS > rto ? SDR_RTO_MAX_NS : rto;
}

static uint64_t conn_pto_at(const struct sdr_conn *c)
{
	if (!conn_unanswered(c))
		return NEVER;
	return (c->tx.last_ns > c->pto.news_ns ? c->tx.last_ns : c->pto.news_ns) +
	       sdr_conn_rto(c, c->pto.count);
}

/* Blocked by the peer's credit with nothing under way that would bring news: ask. */
static bool conn_starved(const struct sdr_conn *c)
{
	return !conn_unanswered(c) &&
	       (!sdr_list_empty(&c->rec.ordered) || !sdr_list_empty(&c->msg->cts_wait) ||
		!sdr_list_empty(&c->bulk->tx.bulks) || !sdr_list_empty(&c->rec.unordered));
}

static uint64_t conn_idle_at(const struct sdr_conn *c)
{
	uint64_t gap = SDR_KEEPALIVE_NS;
	uint64_t last = c->rx.last_ns > c->tx.last_ns ? c->rx.last_ns : c->tx.last_ns;

	if (!sdr_conn_busy(c) || conn_unanswered(c))
		return NEVER;
	if (gap > conn_timeout(c) / 3)
		gap = conn_timeout(c) / 3;
	/* The peer owes us data that we can see coming: ask earlier. */
	if (conn_starved(c) || !sdr_list_empty(&c->bulk->rx.brx)) {
		uint64_t soon = 4 * sdr_rtt_rto(&c->rtt) + 100 * MS;

		gap = soon < gap ? soon : gap;
	}
	return last + gap;
}

static uint64_t conn_dead_at(const struct sdr_conn *c)
{
	uint64_t from = c->rx.last_ns > c->pto.wait_since ? c->rx.last_ns : c->pto.wait_since;
	uint64_t at = from + conn_timeout(c);

	if (!sdr_conn_busy(c))
		return NEVER;
	return c->rel->closing && c->rel->close_by < at ? c->rel->close_by : at;
}

/* Nobody here wants this connection and its peer never proved its address. */
static uint64_t conn_expiry_at(const struct sdr_conn *c)
{
	return sdr_conn_busy(c) ? NEVER : c->hs.born + SDR_CONN_UNPROVEN_NS;
}

/*
 * We want something of this peer: an answer to our own HELLO proves it, whoever sent the one that
 * opened us.
 */
static bool conn_asks(const struct sdr_conn *c)
{
	return !c->hs.passive || !sdr_list_empty(&c->msg->held);
}

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void sdr_conn_rearm(struct sdr_conn *c)
{
	uint64_t d = NEVER, now = c->rel->now;

	if (c->state == SDR_CONN_DEAD)
		return;
	if (!sdr_conn_busy(c))
		c->pto.wait_since = 0;
	else if (!c->pto.wait_since)
		c->pto.wait_since = now;
	if (!c->hs.proven) {
		d = conn_asks(c) ? c->hs.next : conn_expiry_at(c);
		d = min64(d, conn_dead_at(c));
		if (c->rel->closing && sdr_conn_idle(c))
			d = now;
	} else {
		d = conn_pto_at(c);
		d = min64(d, sdr_bulk_loss_deadline(c));
		d = min64(d, c->rack.timer);
		d = min64(d, sdr_report_deadline(c));
		d = min64(d, conn_idle_at(c));
		d = min64(d, conn_dead_at(c));
		if (c->rx.ack_due)
			d = min64(d, c->rx.ack_ns + SDR_ACK_DELAY_MAX_NS / 50);
		d = min64(d, sdr_bulk_tx_hold(c));
		if (sdr_list_empty(&c->ready) &&
		    ((sdr_bulk_tx_work(c) && sdr_bulk_tx_window(c)) || sdr_pkt_paced(c)))
			d = min64(d, sdr_pacer_next(&c->cc.pacer, now));
		if (c->state == SDR_CONN_CLOSING)
			d = min64(d, c->close.next);
		else if (c->rel->closing && sdr_conn_idle(c))
			d = now;
	}
	sdr_timerq_set(&c->rel->timers, &c->timer, d);
}

/*
 * Until the peer's address is proven: repeat the HELLO (also when the peer's own HELLO opened us
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
	if (rel->closing && sdr_conn_idle(c)) {
		sdr_conn_fail(c, SDR_REL_ERR_CANCELED);
		return;
	}
	if (conn_dead_at(c) <= rel->now) {
		sdr_conn_fail(c, SDR_REL_ERR_NO_ANSWER);
		return;
	}
	if (conn_asks(c) && c->hs.next <= rel->now) {
		sdr_hello_send(c, SDR_REL_HELLO);
		gap = 2 * c->rtt.srtt;
		if (gap < SDR_HELLO_INTERVAL_MIN)
			gap = SDR_HELLO_INTERVAL_MIN;
		if (++c->hs.tries > SDR_HELLO_TRIES_FAST)
			gap <<= c->hs.tries - SDR_HELLO_TRIES_FAST < SDR_PTO_BACKOFF_MAX
					? c->hs.tries - SDR_HELLO_TRIES_FAST
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
	c->close.next = c->rel->now + sdr_rtt_rto(&c->rtt);
}

/* Runs whatever is due; sending happens later in the round. */
void sdr_conn_timer(struct sdr_conn *c)
{
	struct sdr_rel *rel = c->rel;
	struct sdr_cc_ack ca = { .now = rel->now };

	if (c->state == SDR_CONN_DEAD)
		return;
	if (!c->hs.proven) {
		conn_timer_hello(c);
		sdr_conn_rearm(c);
		return;
	}
	if (conn_dead_at(c) <= rel->now) {
		sdr_conn_fail(c, rel->closing	  ? SDR_REL_ERR_CLOSED
				 : c->hs.answered ? SDR_REL_ERR_STOPPED
						  : SDR_REL_ERR_NO_ANSWER);
		return;
	}
	if (c->state == SDR_CONN_CLOSING) {
		conn_timer_closing(c);
	} else if (rel->closing && sdr_conn_idle(c)) {
		c->state = SDR_CONN_CLOSING;
		c->close.next = rel->now;
		conn_timer_closing(c);
	}
	if (c->state == SDR_CONN_DEAD)
		return;
	sdr_rack_age(&c->rack, &c->rtt, rel->now);
	if (c->rack.timer <= rel->now || sdr_bulk_loss_deadline(c) <= rel->now) {
		c->rack.timer = NEVER;
		sdr_pkt_detect_lost(c, &ca);
		sdr_bulk_detect_lost(c, false, &ca);
		if (ca.lost) {
			ca.inflight = c->inflight;
			sdr_cc_acked(&c->cc, &ca);
		}
	}
	if (conn_pto_at(c) <= rel->now) {
		c->pto.count++;
		if (c->pto.count == PTO_CC_RESET)
			sdr_cc_timeout(&c->cc, rel->now);
		c->rack.probed = true;
		sdr_pkt_probe(c);
		sdr_bulk_probe(c);
		c->tx.last_ns = rel->now;
	}
	if (conn_idle_at(c) <= rel->now)
		c->tx.ping_due = true;
	sdr_conn_kick(c); /* its turn to send, later in the round, arms the timer anew */
}
