/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets that leave later than they were posted.  The path modelled is: a queue in front of a link
 * of the given rate (tail drop), then loss, then delay.  So a packet that is lost has used the
 * link, one that the queue refuses has not.
 *
 * A packet is copied into a buffer shared by its neighbours and waits in a ring, in order of
 * posting; its due time never lies before that of the packet in front of it, jitter or not. Packets
 * chosen for reordering wait beyond their turn in a heap.  Release merges neighbours into runs
 * again, so that delay does not cost the engine below its trains.  Timers: the earliest due time is
 * the engine's deadline; without a poll at that time packets are later, never earlier.  Who closes
 * or ends waits for what is held (drain).
 *
 * Memory: SDR_FAULT_POOL_MAX bytes of copies and SDR_FAULT_HELD_MAX packets, allocated as needed
 * and kept.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sdr_assert.h"
#include "base/sdr_rand.h"
#include "sdr_fault_impl.h"

#define SDR_FAULT_RING_MIN 256u /* packets */

/* ---- memory ---------------------------------------------------------------------------------- */

static struct sdr_fault_buf *sdr_fault_buf_get(struct sdr_fault_delayq *h, uint32_t len)
{
	struct sdr_fault_buf *b = h->cur;

	if (b && !b->refs)
		b->used = 0;
	if (b && b->used + len <= SDR_FAULT_BUF_LEN)
		return b;
	b = h->free;
	if (b) {
		h->free = b->next;
	} else {
		if (h->pool_bytes + sizeof(*b) > SDR_FAULT_POOL_MAX)
			return NULL;
		b = malloc(sizeof(*b));
		if (!b)
			return NULL;
		h->pool_bytes += sizeof(*b);
	}
	if (h->cur && !h->cur->refs) {
		h->cur->next = h->free;
		h->free = h->cur;
	}
	b->next = NULL;
	b->used = 0;
	b->refs = 0;
	h->cur = b;
	return b;
}

static void sdr_fault_buf_put(struct sdr_fault_delayq *h, struct sdr_fault_buf *b, uint32_t refs)
{
	SDR_ASSERT(b->refs >= refs);
	b->refs -= refs;
	if (!b->refs && b != h->cur) {
		b->next = h->free;
		h->free = b;
	}
}

static const struct sdr_ring_kind sdr_fault_fifo = { sizeof(struct sdr_fault_pkt),
						     SDR_FAULT_RING_MIN, SDR_FAULT_HELD_MAX, NULL };

static struct sdr_fault_pkt *sdr_fault_fifo_at(const struct sdr_fault_delayq *h, uint32_t pos)
{
	return sdr_ring_at(&h->fifo, struct sdr_fault_pkt, pos);
}

/* Room for one more; false when there is none. */
static bool sdr_fault_late_grow(struct sdr_fault_delayq *h)
{
	uint32_t cap = h->late_cap ? h->late_cap * 2 : SDR_FAULT_RING_MIN;
	struct sdr_fault_pkt *heap;

	if (h->late_count < h->late_cap)
		return true;
	if (cap > SDR_FAULT_HELD_MAX)
		return false;
	heap = realloc(h->late, cap * sizeof(*heap));
	if (!heap)
		return false;
	h->late = heap;
	h->late_cap = cap;
	return true;
}

static void sdr_fault_late_push(struct sdr_fault_delayq *h, const struct sdr_fault_pkt *p)
{
	uint32_t i = h->late_count++, up;

	for (; i; i = up) {
		up = (i - 1) / 2;
		if (h->late[up].due <= p->due)
			break;
		h->late[i] = h->late[up];
	}
	h->late[i] = *p;
}

static void sdr_fault_late_pop(struct sdr_fault_delayq *h, struct sdr_fault_pkt *p)
{
	struct sdr_fault_pkt last = h->late[--h->late_count];
	uint32_t i = 0, down;

	SDR_ASSERT(h->late_count < h->late_cap);
	*p = h->late[0];
	for (; (down = 2 * i + 1) < h->late_count; i = down) {
		if (down + 1 < h->late_count && h->late[down + 1].due < h->late[down].due)
			down++;
		if (h->late[down].due >= last.due)
			break;
		h->late[i] = h->late[down];
	}
	if (h->late_count)
		h->late[i] = last;
}

/* ---- holding --------------------------------------------------------------------------------- */

/* Puts a copy of p's bytes into the pool and p into ring or heap. */
static bool sdr_fault_delayq_add(struct sdr_fault *f, struct sdr_fault_pkt *p, const uint8_t *bytes,
				 bool late)
{
	struct sdr_fault_delayq *h = &f->delayq;

	if (late ? !sdr_fault_late_grow(h) : sdr_ring_room(&h->fifo, &sdr_fault_fifo) != 0)
		return false;
	p->buf = sdr_fault_buf_get(h, p->len);
	if (!p->buf)
		return false;
	p->data = p->buf->data + p->buf->used;
	if (p->len)
		memcpy(p->buf->data + p->buf->used, bytes, p->len);
	p->buf->used += p->len;
	SDR_ASSERT(p->buf->used <= sizeof(p->buf->data));
	p->buf->refs++;
	if (late) {
		sdr_fault_late_push(h, p);
		return true;
	}
	*sdr_ring_spare(&h->fifo, struct sdr_fault_pkt) = *p;
	sdr_ring_push(&h->fifo);
	return true;
}

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
	if (!sdr_fault_delayq_add(f, p, bytes, fate & SDR_FAULT_REORDER))
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

/* Takes the next packet that is due. */
static bool sdr_fault_next(struct sdr_fault_delayq *h, uint64_t now, struct sdr_fault_pkt *p)
{
	const struct sdr_fault_pkt *a =
		sdr_ring_empty(&h->fifo) ? NULL : sdr_fault_fifo_at(h, h->fifo.head);
	const struct sdr_fault_pkt *b = h->late_count ? &h->late[0] : NULL;

	if (a && a->due <= now && (!b || a->due <= b->due)) {
		*p = *a;
		sdr_ring_pop(&h->fifo);
		return true;
	}
	if (b && b->due <= now) {
		sdr_fault_late_pop(h, p);
		return true;
	}
	return false;
}

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
		sdr_fault_buf_put(h, s->buf[s->pos], s->pkts[s->pos]);
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
		while (s->n < SDR_FAULT_OUT && sdr_fault_next(h, now, &p)) {
			if (p.kind == SDR_UC_TX_WRITE && !p.qp)
				sdr_fault_buf_put(h, p.buf, 1);
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
	uint64_t due = UINT64_MAX;

	if (h->stage.n)
		return h->retry;
	if (!sdr_ring_empty(&h->fifo))
		due = sdr_fault_fifo_at(h, h->fifo.head)->due;
	if (h->late_count && h->late[0].due < due)
		due = h->late[0].due;
	return due;
}

/* When the last packet leaves that still has somewhere to go; 0: there is none. */
static uint64_t sdr_fault_delayq_last(const struct sdr_fault *f)
{
	const struct sdr_fault_delayq *h = &f->delayq;
	uint64_t last = h->stage.n ? h->retry : 0;
	uint32_t i;

	for (i = h->fifo.head; i != h->fifo.tail; i++) {
		const struct sdr_fault_pkt *p = sdr_fault_fifo_at(h, i);

		if ((p->kind == SDR_UC_TX_CTL || p->qp) && p->due > last)
			last = p->due;
	}
	for (i = 0; i < h->late_count; i++) {
		if ((h->late[i].kind == SDR_UC_TX_CTL || h->late[i].qp) && h->late[i].due > last)
			last = h->late[i].due;
	}
	return last;
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

	for (i = h->fifo.head; i != h->fifo.tail; i++) {
		struct sdr_fault_pkt *p = sdr_fault_fifo_at(h, i);

		if (p->qp == qp)
			p->qp = NULL;
	}
	for (i = 0; i < h->late_count; i++) {
		if (h->late[i].qp == qp)
			h->late[i].qp = NULL;
	}
	for (i = s->pos; i < s->n; i++) {
		if (s->qp[i] == qp) {
			sdr_fault_buf_put(h, s->buf[i], s->pkts[i]);
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

static void sdr_fault_buf_drop(struct sdr_fault_delayq *h, struct sdr_fault_buf *b, uint32_t refs)
{
	b->refs -= refs;
	if (b != h->cur && !b->refs)
		free(b);
}

void sdr_fault_delayq_free(struct sdr_fault *f)
{
	struct sdr_fault_delayq *h = &f->delayq;
	struct sdr_fault_stage *s = &h->stage;
	struct sdr_fault_buf *b;

	for (; s->pos < s->n; s->pos++)
		sdr_fault_buf_drop(h, s->buf[s->pos], s->pkts[s->pos]);
	for (; !sdr_ring_empty(&h->fifo); sdr_ring_pop(&h->fifo))
		sdr_fault_buf_drop(h, sdr_fault_fifo_at(h, h->fifo.head)->buf, 1);
	while (h->late_count)
		sdr_fault_buf_drop(h, h->late[--h->late_count].buf, 1);
	while ((b = h->free)) {
		h->free = b->next;
		free(b);
	}
	free(h->cur);
	sdr_ring_destroy(&h->fifo);
	free(h->late);
}
