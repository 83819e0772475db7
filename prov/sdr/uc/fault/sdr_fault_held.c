/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets that wait for their time.
 *
 * A packet is copied into a buffer shared by its neighbours and waits in a ring, in order of
 * posting: there due times never fall.  One that was chosen for reordering waits in a heap.  A
 * buffer is used again when the last packet in it has left (sdr_fault_held_put).
 *
 * Memory: SDR_FAULT_POOL_MAX bytes of copies and SDR_FAULT_HELD_MAX packets of each sort, allocated
 * as needed and kept until sdr_fault_held_free.  No clock.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "sdr_fault_impl.h"

#define HELD_MIN 256u /* packets */

static struct sdr_fault_buf *held_room(struct sdr_fault_held *h, uint32_t len)
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

void sdr_fault_held_put(struct sdr_fault_held *h, struct sdr_fault_buf *b, uint32_t refs)
{
	SDR_ASSERT(b->refs >= refs);
	b->refs -= refs;
	if (!b->refs && b != h->cur) {
		b->next = h->free;
		h->free = b;
	}
}

static const struct sdr_ring_kind held_fifo = { sizeof(struct sdr_fault_pkt), HELD_MIN,
						SDR_FAULT_HELD_MAX, NULL };

static struct sdr_fault_pkt *held_at(const struct sdr_fault_held *h, uint32_t pos)
{
	return sdr_ring_at(&h->fifo, struct sdr_fault_pkt, pos);
}

/* Room for one more; false when there is none. */
static bool held_late_grow(struct sdr_fault_held *h)
{
	uint32_t cap = h->late_cap ? h->late_cap * 2 : HELD_MIN;
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

static void held_late_push(struct sdr_fault_held *h, const struct sdr_fault_pkt *p)
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

static void held_late_pop(struct sdr_fault_held *h, struct sdr_fault_pkt *p)
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

bool sdr_fault_held_add(struct sdr_fault_held *h, struct sdr_fault_pkt *p, const uint8_t *bytes,
			bool late)
{
	if (late ? !held_late_grow(h) : sdr_ring_room(&h->fifo, &held_fifo) != 0)
		return false;
	p->buf = held_room(h, p->len);
	if (!p->buf)
		return false;
	p->data = p->buf->data + p->buf->used;
	if (p->len)
		memcpy(p->buf->data + p->buf->used, bytes, p->len);
	p->buf->used += p->len;
	SDR_ASSERT(p->buf->used <= sizeof(p->buf->data));
	p->buf->refs++;
	if (late) {
		held_late_push(h, p);
		return true;
	}
	*sdr_ring_spare(&h->fifo, struct sdr_fault_pkt) = *p;
	sdr_ring_push(&h->fifo);
	return true;
}

bool sdr_fault_held_next(struct sdr_fault_held *h, uint64_t now, struct sdr_fault_pkt *p)
{
	const struct sdr_fault_pkt *a = sdr_ring_empty(&h->fifo) ? NULL : held_at(h, h->fifo.head);
	const struct sdr_fault_pkt *b = h->late_count ? &h->late[0] : NULL;

	if (a && a->due <= now && (!b || a->due <= b->due)) {
		*p = *a;
		sdr_ring_pop(&h->fifo);
		return true;
	}
	if (b && b->due <= now) {
		held_late_pop(h, p);
		return true;
	}
	return false;
}

uint64_t sdr_fault_held_first(const struct sdr_fault_held *h)
{
	uint64_t due = UINT64_MAX;

	if (!sdr_ring_empty(&h->fifo))
		due = held_at(h, h->fifo.head)->due;
	if (h->late_count && h->late[0].due < due)
		due = h->late[0].due;
	return due;
}

/* It still has somewhere to go. */
static bool held_goes(const struct sdr_fault_pkt *p)
{
	return p->kind == SDR_UC_TX_CTL || p->qp;
}

uint64_t sdr_fault_held_last(const struct sdr_fault_held *h)
{
	uint64_t last = 0;
	uint32_t i;

	for (i = h->fifo.head; i != h->fifo.tail; i++) {
		const struct sdr_fault_pkt *p = held_at(h, i);

		if (held_goes(p) && p->due > last)
			last = p->due;
	}
	for (i = 0; i < h->late_count; i++) {
		if (held_goes(&h->late[i]) && h->late[i].due > last)
			last = h->late[i].due;
	}
	return last;
}

void sdr_fault_held_part(struct sdr_fault_held *h, const struct sdr_fault_qp *qp)
{
	uint32_t i;

	for (i = h->fifo.head; i != h->fifo.tail; i++) {
		if (held_at(h, i)->qp == qp)
			held_at(h, i)->qp = NULL;
	}
	for (i = 0; i < h->late_count; i++) {
		if (h->late[i].qp == qp)
			h->late[i].qp = NULL;
	}
}

void sdr_fault_held_free(struct sdr_fault_held *h)
{
	struct sdr_fault_buf *b;

	for (; !sdr_ring_empty(&h->fifo); sdr_ring_pop(&h->fifo))
		sdr_fault_held_put(h, held_at(h, h->fifo.head)->buf, 1);
	while (h->late_count)
		sdr_fault_held_put(h, h->late[--h->late_count].buf, 1);
	while ((b = h->free)) {
		h->free = b->next;
		free(b);
	}
	free(h->cur);
	sdr_ring_destroy(&h->fifo);
	free(h->late);
}
