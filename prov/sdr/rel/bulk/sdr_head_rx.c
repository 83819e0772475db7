/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Heads: what of a transfer is longer than a berth waits for the key of its place, but not its
 * first bytes, as many as a berth holds.
 *
 * A head is a transfer of its own, with numbers, parity and an end of its own, and in no list: the
 * one that it is the head of has it, ends it when that ends, and is over when both have come.  Its
 * bytes are copied from the berth to their place as they come, like those of any other in one.
 *
 * Of a message that meets no receive the head stays in its berth (kept): nobody else has memory for
 * it, and a berth is within what its peer may have.  It is in the connection's list meanwhile, as
 * its message's, and goes to its place when a receive is there, at once or as it comes.  One that
 * has come whole waits without a key, and the peer owes nothing of it (still).  It makes way for
 * others' berths when it is old, and is requested with the rest then.
 *
 * No timers, no memory but that.
 */
#include "base/sdr_assert.h"
#include "sdr_head_rx.h"
#include "sdr_seg_rx.h"

/* All of it is in its place, or cannot be. */
static void head_arrived(struct sdr_bulk_rx *h)
{
	struct sdr_bulk_rx *b = h->whole;

	SDR_ASSERT(b->head == h);
	b->head = NULL;
	h->whole = NULL;
	if (h->err)
		sdr_bulk_rx_fail(b, h->err);
	else if (b->still)
		sdr_bulk_rx_complete(b);
}

/* It has no place in lists: who has b has it. */
static void head_of(struct sdr_bulk_rx *b, struct sdr_bulk_rx *h)
{
	SDR_ASSERT(!b->head && h->len == b->head_len);
	sdr_list_del(&h->link);
	h->arrived = head_arrived;
	h->whole = b;
	b->head = h;
}

static int head_new(struct sdr_bulk_rx *b, struct sdr_berth *berth)
{
	struct sdr_bulk_land l = { .id = b->id,
				   .buf = b->buf,
				   .len = b->head_len,
				   .mem = b->mem,
				   .arrived = head_arrived,
				   .berth = berth };
	struct sdr_bulk_rx *h;
	int err = sdr_bulk_rx_new(b->conn, &l, &h);

	if (!err)
		head_of(b, h);
	return err;
}

int sdr_head_rx_land(struct sdr_conn *c, const struct sdr_bulk_land *l, struct sdr_bulk_rx **out)
{
	struct sdr_bulk_land rest = *l;
	int err;

	if (!l->head || !l->berth)
		return sdr_bulk_rx_new(c, l, out);
	rest.berth = NULL;
	err = sdr_bulk_rx_new(c, &rest, out);
	if (err) {
		sdr_berth_end(l->berth);
		return err;
	}
	err = head_new(*out, l->berth);
	if (!err)
		return SDR_REL_OK;
	sdr_bulk_rx_abort(*out);
	*out = NULL;
	return err;
}

int sdr_head_rx_keep(struct sdr_conn *c, const struct sdr_frame_rec *f, struct sdr_berth *berth,
		     struct sdr_bulk_rx **out)
{
	struct sdr_bulk_land l = { .id = f->id,
				   .buf = berth->buf,
				   .len = f->head,
				   .arrived = head_arrived,
				   .berth = berth };

	return sdr_bulk_rx_new(c, &l, out);
}

bool sdr_head_rx_wanted(struct sdr_bulk_rx *h)
{
	SDR_ASSERT(h->kept && !h->unexp);
	if (!h->still || sdr_berth_spared(&h->berth))
		return true;
	sdr_bulk_rx_abort(h);
	return false;
}

void sdr_head_rx_meet(struct sdr_bulk_rx *b, struct sdr_bulk_rx *h)
{
	SDR_ASSERT(h->kept && !h->whole && h->conn == b->conn);
	head_of(b, h);
	h->kept = false;
	h->buf = b->buf;
	h->mem = b->mem;
	sdr_stage_rx_lent(&h->stage, h->conn->rel, h->mem, h->buf, h->berth->buf, h->len);
	if (!sdr_seg_rx_stage(h))
		sdr_bulk_rx_fail(h, SDR_REL_ERR_MEM);
	else if (h->still)
		sdr_bulk_rx_complete(h);
}
