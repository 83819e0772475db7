/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets to the peer: which are delivered, which are lost, and what becomes of their records.
 *
 * Records of a lost packet travel again in new packets; a packet number is never used twice.  If it
 * is acknowledged after all, within SDR_RTO_MAX_NS when a probe declared it lost, the first
 * SDR_PKT_RSEQS of them count as arrived.
 */
#include "base/sdr_assert.h"
#include "sdr_conn_mtu.h"
#include "sdr_home.h"
#include "sdr_pkt.h"
#include "sdr_plog.h"
#include "sdr_pn_skip.h"
#include "sdr_probe.h"
#include "sdr_rec.h"
#include "sdr_reshape.h"

/* A copy arrived: so did its records, whatever became of the packet that carried them first. */
static void pkt_copy_delivered(struct sdr_conn *c, uint32_t pn)
{
	uint32_t pos = sdr_plog_search(c, pn);
	struct sdr_list *l;

	if (pos == c->tx.log.tail || sdr_plog_at(c, pos)->pn != pn)
		return;
	while ((l = sdr_list_pop(&sdr_plog_at(c, pos)->recs)))
		sdr_rec_acked(c, sdr_container(l, struct sdr_rec, link));
}

/*
 * A packet that was declared lost has arrived: so have its records, which are on their way once
 * more. Who has them may have ended since, and acknowledges nothing else.
 */
static void pkt_late(struct sdr_conn *c, const struct sdr_pkt *p)
{
	struct sdr_pkt was = *p;

	for (uint32_t i = 0; i < was.nrseq; i++) {
		uint32_t rseq = was.rseq[i];
		struct sdr_rec *r = sdr_rec_by_rseq(c, rseq);

		if (!r)
			continue;
		sdr_probe_answered(c);
		sdr_rec_acked(c, r);
	}
}

/* delay: of the newest that is acknowledged, at the peer; late: of the answer, here.  ns */
static void pkt_delivered(struct sdr_conn *c, struct sdr_pkt *p, uint64_t delay, uint64_t late,
			  struct sdr_acks *as)
{
	struct sdr_path *path = sdr_conn_path(c, p->path);
	struct sdr_cc_ack *ca = &as->v[p->path];
	uint32_t copy_of = p->copy_of;
	bool copy = p->copy;
	struct sdr_list *l;

	if (p->done)
		return;
	p->done = true;
	sdr_conn_answered(c, path);
	sdr_ecn_acked(&path->ecn, 1);
	path->timeouts = 0;
	if (sdr_seq_lt(path->acked_seq, p->seq))
		path->acked_seq = p->seq;
	if (p->shape)
		sdr_reshape_acked(c, p->shape);
	if (p->lost) {
		/*
		 * Declared lost by a probe: its acknowledgement was lost, or late.  That says
		 * nothing of the order.
		 */
		if (!p->probed) {
			sdr_rack_spurious(&path->rack, &path->rtt, c->rel->now);
			sdr_rack_overtaken(&path->rack, p->tx_ns, c->rel->now, delay + late);
		}
		c->st.rtx_spurious++;
		ca->late += p->bytes;
		pkt_late(c, p);
		return;
	}
	if (!p->extra)
		sdr_loss_est_arrived(&c->peer->loss, c->rel->now, 1);
	SDR_ASSERT(c->tx.live);
	c->tx.live--;
	sdr_conn_land(c, path, p->bytes);
	ca->bytes += p->bytes;
	c->est.sent++;
	if (!ca->snap || ca->snap_tx_ns <= p->tx_ns) {
		ca->snap = &p->snap;
		ca->snap_tx_ns = p->tx_ns;
		ca->delay = late; /* what others waited at the peer it does not say */
	}
	sdr_rack_delivered(&path->rack, p->seq, p->tx_ns, c->rel->now, delay + late);
	sdr_probe_answered(c);
	sdr_conn_mtu_passed(path, sdr_conn_mtu_ctl(c, path, p->bytes), p->tx_ns);
	while ((l = sdr_list_pop(&p->recs))) {
		sdr_rel_step(c->rel);
		sdr_rec_acked(c, sdr_container(l, struct sdr_rec, link));
	}
	if (copy)
		pkt_copy_delivered(c, copy_of);
}

bool sdr_pkt_acked(struct sdr_conn *c, const struct sdr_frame_ack *f, struct sdr_acks *as)
{
	const struct sdr_cc_snap *newest = NULL;
	uint64_t late = sdr_rel_late(c->rel), heard = c->rel->now - late;
	uint64_t delay = f->delay_us * 1000ull;
	bool asked = sdr_conn_mtu_asked(c);

	c->st.ack_rx++;
	if (sdr_pn_skip_lied(c, f)) {
		c->st.acks_false++;
		return false;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t pos;

		if (!sdr_seq_lt(f->r[i].hi, c->tx.pn)) {
			c->st.pkts_bad++; /* acknowledges what was never sent */
			return false;
		}
		if (asked)
			sdr_conn_mtu_acked(c, f->r[i].lo, f->r[i].hi);
		pos = sdr_plog_search(c, f->r[i].lo);
		for (; pos != c->tx.log.tail; pos++) {
			struct sdr_pkt *p = sdr_plog_at(c, pos);
			struct sdr_cc_ack *ca;

			sdr_rel_step(c->rel);
			if (sdr_seq_lt(f->r[i].hi, p->pn))
				break;
			ca = &as->v[p->path];
			if (!p->done && i == 0 && p->pn == f->r[0].hi && heard > p->tx_ns &&
			    !c->rtt_mute) {
				struct sdr_rtt *rtt = &sdr_conn_path(c, p->path)->rtt;

				sdr_rtt_sample(rtt, c->rel->now, heard - p->tx_ns, delay,
					       sdr_conn_repeats(c, delay));
				ca->rtt = rtt->latest;
				newest = &p->snap;
			}
			pkt_delivered(c, p, delay, late, as);
			if (newest && ca->snap == newest)
				ca->delay = delay + late;
		}
	}
	sdr_pn_skip_fill(c, f);
	return true;
}

/* Puts the records back in front of everything, in their old order. */
static void pkt_requeue(struct sdr_conn *c, struct sdr_pkt *p)
{
	while (!sdr_list_empty(&p->recs)) {
		struct sdr_list *l = p->recs.prev;

		sdr_rel_step(c->rel);
		sdr_list_del(l);
		sdr_list_add_head(l, &c->rec.rtx);
		c->st.rec_rtx++;
	}
}

static void pkt_lost(struct sdr_conn *c, struct sdr_pkt *p)
{
	struct sdr_path *path = sdr_conn_path(c, p->path);

	SDR_ASSERT(!p->done && !p->lost && c->tx.live);
	p->lost = true;
	if (path->state == SDR_PATH_ALIVE)
		sdr_conn_mtu_lost(c, path, 1, sdr_conn_mtu_ctl(c, path, p->bytes), p->tx_ns);
	if (!p->probed && !p->extra)
		sdr_home_lost(c, 1);
	c->tx.live--;
	sdr_conn_land(c, path, p->bytes);
	if (p->shape)
		sdr_reshape_lost(c, p->shape);
	pkt_requeue(c, p);
}

void sdr_pkt_detect_lost(struct sdr_conn *c, struct sdr_acks *as)
{
	uint32_t pos = c->tx.log.tail;

	/* From the newest down, so that requeued records end up oldest first. */
	while (pos-- != c->tx.log.head) {
		struct sdr_pkt *p = sdr_plog_at(c, pos);
		struct sdr_path *path = sdr_conn_path(c, p->path);

		sdr_rel_step(c->rel);
		if (p->done || p->lost ||
		    !sdr_rack_is_lost(&path->rack, &path->rtt, p->seq, p->tx_ns, c->rel->now))
			continue;
		pkt_lost(c, p);
		as->v[p->path].lost += p->bytes;
		c->est.sent++;
		c->est.lost++;
		path->rack.lossy = true;
	}
	sdr_plog_trim(c);
}

void sdr_pkt_probe(struct sdr_conn *c)
{
	uint32_t n = 0;

	/* The oldest unanswered packet's records, and the newest's if it is another. */
	for (uint32_t pos = c->tx.log.head; pos != c->tx.log.tail && n < 2; pos++) {
		struct sdr_pkt *p = sdr_plog_at(c, pos);

		sdr_rel_step(c->rel);
		if (p->done || p->lost)
			continue;
		n += !p->extra;
		p->probed = true;
		if (!sdr_conn_path(c, p->path)->timeouts++)
			sdr_conn_path(c, p->path)->timeout_ns = p->tx_ns;
		pkt_lost(c, p);
	}
	c->tx.ping_due = true;
	sdr_plog_trim(c);
}

void sdr_pkt_path_lost(struct sdr_conn *c, uint32_t path)
{
	uint32_t pos = c->tx.log.tail;

	/* From the newest down, as above. */
	while (pos-- != c->tx.log.head) {
		struct sdr_pkt *p = sdr_plog_at(c, pos);

		sdr_rel_step(c->rel);
		if (p->done || p->lost || p->path != path)
			continue;
		p->probed = true; /* it says nothing of the others' weather */
		pkt_lost(c, p);
	}
	c->tx.ping_due = true;
	sdr_plog_trim(c);
}

void sdr_pkt_conn_free(struct sdr_conn *c)
{
	struct sdr_list *q[] = { &c->rec.rtx, &c->rec.unordered, &c->rec.ordered }, *l;

	for (uint32_t pos = c->tx.log.head; pos != c->tx.log.tail; pos++)
		while ((l = sdr_list_pop(&sdr_plog_at(c, pos)->recs)))
			if (!sdr_container(l, struct sdr_rec, link)->op)
				sdr_rec_free(c, sdr_container(l, struct sdr_rec, link));
	for (int i = 0; i < 3; i++)
		while ((l = sdr_list_pop(q[i])))
			if (!sdr_container(l, struct sdr_rec, link)->op)
				sdr_rec_free(c, sdr_container(l, struct sdr_rec, link));
	c->tx.log.head = c->tx.log.tail;
	c->tx.live = 0;
	sdr_ring_destroy(&c->tx.log);
	sdr_ring_destroy(&c->rec.ring);
}
