/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets that leave later than they were posted.  The path modelled is: a queue in front of a link
 * of the given rate (tail drop), then loss, then delay.  So a packet that is lost has used the
 * link, one that the queue refuses has not.
 *
 * What waits lies in sdr_fault_held.c; its due time never lies before that of the packet in front
 * of it, jitter or not, unless it was chosen for reordering.  Release merges neighbours into runs
 * again, so that delay does not cost the engine below its trains.  Timers: the earliest due time is
 * the engine's deadline; without a poll at that time packets are later, never earlier.  Who closes
 * or ends waits for what is held (drain).
 */
#include <string.h>
#include <time.h>

#include "base/sdr_assert.h"
#include "base/sdr_rand.h"
#include "sdr_fault_impl.h"

/* ---- holding --------------------------------------------------------------------------------- */

static uint32_t sdr_fault_wire_bytes(uint8_t kind, uint32_t len)
{
	return len + sdr_wire_pad(len) + SDR_FAULT_IP_UDP +
	       (kind == SDR_UC_TX_CTL ? SDR_CTL_OVERHEAD : SDR_DATA_OVERHEAD);
}

/* Through queue and link: ns since open at which the last bit is out.  False: the queue is full. */
static bool sdr_fault_link(struct sdr_fault *f, double now, uint32_t bytes, double *out)
{
	struct sdr_fault_delayq *h = &f->delayq;
	double start = h->wire_free > now ? h->wire_free : now;

	if (!f->spec.rate_bps) {
		*out = now;
		return true;
	}
	if ((start - now) * (double)f->spec.rate_bps / 8e9 + bytes > (double)h->queue_bytes)
		return false;
	h->wire_free = *out = start + bytes * 8e9 / (double)f->spec.rate_bps;
	return true;
}

/* How long a reordered packet waits beyond its turn, ns. */
static uint64_t sdr_fault_extra(struct sdr_fault *f, uint32_t bytes)
{
	uint64_t *rng = &f->dice.rng[SDR_FAULT_S_TIME];
	double u = sdr_rand_unit(rng), ns;

	ns = SDR_FAULT_HOLD_MIN_NS + u * (SDR_FAULT_HOLD_MAX_NS - SDR_FAULT_HOLD_MIN_NS);
	if (f->spec.rate_bps) {
		double pkts = (1 + u * (SDR_FAULT_HOLD_PKTS - 1)) * bytes * 8e9 /
			      (double)f->spec.rate_bps;

		ns = pkts > ns ? pkts : ns;
	}
	return (uint64_t)ns;
}

static void sdr_fault_delayq_one(struct sdr_fault *f, uint64_t now, struct sdr_fault_pkt *p,
				 const uint8_t *bytes, unsigned int fate)
{
	uint32_t wire = sdr_fault_wire_bytes(p->kind, p->len);
	struct sdr_fault_delayq *h = &f->delayq;
	double out;
	uint64_t due;

	if (!sdr_fault_link(f, (double)(now - f->opened), wire, &out)) {
		f->queue_drop++;
		return;
	}
	if (fate & SDR_FAULT_DROP)
		return;
	due = f->spec.rate_bps ? f->opened + (uint64_t)out : now;
	due += f->spec.delay_ns;
	if (f->spec.jitter_ns)
		due += (uint64_t)(sdr_rand_unit(&f->dice.rng[SDR_FAULT_S_TIME]) *
				  (double)f->spec.jitter_ns);
	if (due < h->last_due)
		due = h->last_due;
	p->due = due;
	if (fate & SDR_FAULT_REORDER)
		p->due += sdr_fault_extra(f, wire);
	else
		h->last_due = due;
	if (!sdr_fault_held_add(&h->held, p, bytes, fate & SDR_FAULT_REORDER))
		f->queue_drop++;
}

void sdr_fault_delayq_post(struct sdr_fault *f, struct sdr_uc_tx *v, int n)
{
	uint64_t now = f->inner->ops->now(f->inner);
	int d;

	for (d = 0; d < n; d++) {
		const struct sdr_uc_tx *t = &v[d];
		uint32_t total = sdr_fault_pkts(t), i;
		struct sdr_fault_pkt p;

		memset(&p, 0, sizeof(p));
		p.kind = t->kind;
		p.via = t->via;
		if (t->kind == SDR_UC_TX_CTL)
			p.to = *t->to;
		for (i = 0; i < total; i++) {
			unsigned int fate = sdr_fault_draw(f);
			uint64_t at = 0;

			p.len = t->len;
			if (t->kind == SDR_UC_TX_WRITE) {
				p.qp = (struct sdr_fault_qp *)t->w.qp;
				p.gen = t->gen;
				p.channel = t->channel;
				p.slot = t->w.slot;
				p.first = t->w.first + i;
				p.user_imm = t->w.user_imm;
				p.epoch = t->w.epoch;
				p.rkey = t->w.rkey;
				p.va = t->w.va;
				at = (uint64_t)i * p.qp->mtu;
				p.len = t->len - at < p.qp->mtu ? (uint32_t)(t->len - at)
								: p.qp->mtu;
			} else if (p.len > SDR_PROBE_MAX) {
				f->queue_drop++;
				continue;
			}
			p.flags = t->flags;
			if (fate & SDR_FAULT_CORRUPT)
				p.flags |= SDR_UC_F_CORRUPT;
			sdr_fault_delayq_one(f, now, &p, t->buf + at, fate);
			if (fate & SDR_FAULT_DUP)
				sdr_fault_delayq_one(f, now, &p, t->buf + at, fate);
		}
	}
	sdr_fault_delayq_release(f, now);
}

/* ---- releasing ------------------------------------------------------------------------------- */

/* Extends the stage's last run by p when p continues it. */
static bool sdr_fault_stage_join(struct sdr_fault_stage *s, const struct sdr_fault_pkt *p)
{
	struct sdr_uc_tx *t;
	uint32_t i;

	if (!s->n || p->kind != SDR_UC_TX_WRITE || !p->len)
		return false;
	i = s->n - 1;
	t = &s->tx[i];
	if (t->kind != SDR_UC_TX_WRITE || s->qp[i] != p->qp || s->buf[i] != p->buf ||
	    t->buf + t->len != p->data || t->gen != p->gen || t->channel != p->channel ||
	    t->via != p->via || t->flags != p->flags || t->w.slot != p->slot ||
	    t->w.user_imm != p->user_imm || t->w.epoch != p->epoch || t->w.rkey != p->rkey ||
	    t->w.va != p->va || t->len != s->pkts[i] * p->qp->mtu ||
	    t->w.first + s->pkts[i] != p->first)
		return false;
	t->len += p->len;
	s->pkts[i]++;
	return true;
}

static void sdr_fault_stage_push(struct sdr_fault_stage *s, const struct sdr_fault_pkt *p)
{
	uint32_t i = s->n++;
	struct sdr_uc_tx *t = &s->tx[i];

	memset(t, 0, sizeof(*t));
	s->buf[i] = p->buf;
	s->pkts[i] = 1;
	s->qp[i] = p->qp;
	t->kind = p->kind;
	t->flags = p->flags;
	t->gen = p->gen;
	t->via = p->via;
	t->channel = p->channel;
	t->len = p->len;
	t->buf = p->data;
	if (p->kind == SDR_UC_TX_CTL) {
		s->to[i] = p->to;
		t->to = &s->to[i];
	} else {
		t->w.qp = p->qp->inner;
		t->w.slot = p->slot;
		t->w.first = p->first;
		t->w.user_imm = p->user_imm;
		t->w.epoch = p->epoch;
		t->w.rkey = p->rkey;
		t->w.va = p->va;
	}
}

/* False when the inner engine took less than all. */
static bool sdr_fault_stage_send(struct sdr_fault *f)
{
	struct sdr_fault_delayq *h = &f->delayq;
	struct sdr_fault_stage *s = &h->stage;
	int taken;

	taken = f->inner->ops->post(f->inner, &s->tx[s->pos], (int)(s->n - s->pos));
	for (; taken > 0; taken--, s->pos++)
		sdr_fault_held_put(&h->held, s->buf[s->pos], s->pkts[s->pos]);
	if (s->pos < s->n)
		return false;
	s->pos = 0;
	s->n = 0;
	return true;
}

void sdr_fault_delayq_release(struct sdr_fault *f, uint64_t now)
{
	struct sdr_fault_delayq *h = &f->delayq;
	struct sdr_fault_stage *s = &h->stage;
	struct sdr_fault_pkt p;

	for (;;) {
		if (s->n && !sdr_fault_stage_send(f)) {
			h->retry = now + SDR_FAULT_RETRY_NS;
			return;
		}
		while (s->n < SDR_FAULT_OUT && sdr_fault_held_next(&h->held, now, &p)) {
			if (p.kind == SDR_UC_TX_WRITE && !p.qp)
				sdr_fault_held_put(&h->held, p.buf, 1);
			else if (!sdr_fault_stage_join(s, &p))
				sdr_fault_stage_push(s, &p);
		}
		if (!s->n)
			return;
	}
}

uint64_t sdr_fault_delayq_deadline(const struct sdr_fault *f)
{
	const struct sdr_fault_delayq *h = &f->delayq;

	return h->stage.n ? h->retry : sdr_fault_held_first(&h->held);
}

/* When the last packet leaves that still has somewhere to go; 0: there is none. */
static uint64_t sdr_fault_delayq_last(const struct sdr_fault *f)
{
	const struct sdr_fault_delayq *h = &f->delayq;
	uint64_t last = sdr_fault_held_last(&h->held);

	return h->stage.n && h->retry > last ? h->retry : last;
}

void sdr_fault_delayq_drain(struct sdr_fault *f, uint64_t patience_ns)
{
	const struct sdr_uc_ops *ops = f->inner->ops;
	uint64_t last = sdr_fault_delayq_last(f), now = ops->now(f->inner), end = now + patience_ns,
		 due;
	struct timespec ts;

	if (!last || ops->fd(f->inner) < 0)
		return;
	for (;;) {
		sdr_fault_delayq_release(f, now);
		due = sdr_fault_delayq_deadline(f);
		if (now >= end || due == UINT64_MAX || (now >= last && !f->delayq.stage.n))
			return;
		due = due < end ? due : end;
		due = due < last || f->delayq.stage.n ? due : last;
		if (due > now) {
			ts.tv_sec = (time_t)((due - now) / 1000000000ull);
			ts.tv_nsec = (long)((due - now) % 1000000000ull);
			nanosleep(&ts, NULL);
		}
		now = ops->now(f->inner);
	}
}

void sdr_fault_delayq_purge(struct sdr_fault *f, struct sdr_fault_qp *qp)
{
	struct sdr_fault_delayq *h = &f->delayq;
	struct sdr_fault_stage *s = &h->stage;
	uint32_t i, to = s->pos;

	sdr_fault_held_part(&h->held, qp);
	for (i = s->pos; i < s->n; i++) {
		if (s->qp[i] == qp) {
			sdr_fault_held_put(&h->held, s->buf[i], s->pkts[i]);
			continue;
		}
		s->tx[to] = s->tx[i];
		s->buf[to] = s->buf[i];
		s->pkts[to] = s->pkts[i];
		s->qp[to] = s->qp[i];
		s->to[to] = s->to[i];
		if (s->tx[to].kind == SDR_UC_TX_CTL)
			s->tx[to].to = &s->to[to];
		to++;
	}
	s->n = to;
	if (s->pos == s->n)
		s->pos = s->n = 0;
}

void sdr_fault_delayq_free(struct sdr_fault *f)
{
	struct sdr_fault_delayq *h = &f->delayq;
	struct sdr_fault_stage *s = &h->stage;

	for (; s->pos < s->n; s->pos++)
		sdr_fault_held_put(&h->held, s->buf[s->pos], s->pkts[s->pos]);
	sdr_fault_held_free(&h->held);
}
