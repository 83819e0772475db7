/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What peers do to memory of ours, and its end when the memory is no longer theirs.
 *
 * Each WRITE that comes in as bulk and each READ that is being answered is in one list of the
 * endpoint, under the region that mr_get named, from the check of its key to its end.  (An inline
 * WRITE is over when its record has been read.)  Revoking a region ends those that stand under it,
 * and looks at nothing else: no connection without one of them, no other region, no address.
 *
 *   WRITE          its slots are unbound, its message numbers passed over; DONE says that the key
 *                  is gone
 *   READ, bulk     what has not left does not leave; a second READ_RSP says that the key is gone.
 *                  The first one, if it was numbered, still travels: the reader must learn which
 *                  numbers to pass over
 *   READ, inline   an answer that has left keeps its bytes: they are copied, so that it can be
 *                  repeated without the region; one that has not says that the key is gone.  (One
 *                  whose READ leads is copied when it is made: what follows need not wait.)
 *
 * Nothing here waits for a peer.  What a device was given to read before is read a little later
 * (sdr_rel_mr_reading).
 */
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_follow.h"
#include "sdr_remote.h"

static void remote_add(struct sdr_rel *rel, struct sdr_remote *r, void *region)
{
	SDR_ASSERT(sdr_list_empty(&r->link) && !r->read != !r->write);
	r->region = region;
	sdr_list_add_tail(&r->link, &rel->msg->remotes);
}

const struct sdr_mem *sdr_remote_mem(const struct sdr_rel *rel, void *region)
{
	return rel->cbs->mr_mem ? rel->cbs->mr_mem(rel->user, region) : NULL;
}

void sdr_remote_write(struct sdr_bulk_rx *b, void *region)
{
	b->remote.write = b;
	remote_add(b->conn->rel, &b->remote, region);
}

void sdr_remote_report(struct sdr_conn *c, uint8_t kind, const struct sdr_frame_rec *f, void *va)
{
	struct sdr_rel_cqe e = {
		.kind = kind,
		.has_data = f->flags & SDR_REC_F_DATA,
		.changed = kind == SDR_REL_REMOTE_WRITE,
		.len = f->len,
		.data = f->data,
		.buf = va,
		.peer = c->peer,
		.key = f->key,
	};

	if (c->rel->msg->rma_events || e.has_data)
		c->rel->cbs->done(c->rel->user, &e);
}

/* False: no memory, or its bytes cannot be copied. */
static bool read_keep(struct sdr_op *op)
{
	uint8_t *copy;

	if (!op->len || op->copy)
		return true;
	copy = malloc(op->len);
	if (!copy)
		return false;
	if (sdr_op_fetch(op, copy)) {
		free(copy);
		return false;
	}
	op->copy = copy;
	return true;
}

bool sdr_remote_serve(struct sdr_conn *c, const struct sdr_op_kind *kind,
		      const struct sdr_frame_rec *f, void *va, void *region)
{
	bool leads = f->flags & SDR_REC_F_LEAD, copied = leads && sdr_op_fits(c, f->len);
	struct sdr_op *op = sdr_op_serve(c, kind, f);

	if (!op)
		return false;
	op->niov = 1;
	op->iov[0] = (struct sdr_rel_iov){ va, f->len };
	op->mem = sdr_remote_mem(c->rel, region);
	op->len = f->len;
	op->leads = leads && !copied;
	op->turn = f->turn;
	op->rkeyed = f->flags & SDR_REC_F_KEY;
	op->va = f->va;
	op->rkey = f->rkey;
	op->remote.read = op;
	remote_add(c->rel, &op->remote, region);
	if (copied && !read_keep(op)) {
		sdr_op_unserve(op);
		return false;
	}
	sdr_op_start(op);
	sdr_follow_ended(c, copied, f->turn);
	return true;
}

void sdr_remote_read_refuse(struct sdr_conn *c, uint32_t id, int err)
{
	struct sdr_rec *r;

	r = sdr_rec_new(c, SDR_REC_READ_RSP, id);
	if (!r) {
		sdr_conn_fail(c, SDR_REL_ERR_NOMEM);
		return;
	}
	r->f.flags = SDR_REC_F_STATUS;
	r->f.status = err;
	sdr_rec_queue(c, r);
}

static void write_revoke(struct sdr_bulk_rx *b)
{
	struct sdr_conn *c = b->conn;
	uint32_t id = b->id, turn = b->turn;
	bool leads = b->leads;

	sdr_bulk_rx_abort(b);
	sdr_conn_kick(c); /* credit */
	sdr_done_send(c, id, SDR_REL_ERR_KEY);
	sdr_follow_ended(c, leads, turn);
}

static void read_revoke(struct sdr_op *op)
{
	struct sdr_conn *c = op->conn;
	uint32_t id = op->wire_id;

	sdr_list_del(&op->remote.link);
	if (!(op->rec.f.flags & SDR_REC_F_LEN) && op->rec.sent && read_keep(op))
		return;
	if (op->btx) { /* numbered: its record must arrive */
		sdr_op_bulk_abort(op);
		op->data_out = true;
		sdr_op_advance(op);
	} else {
		sdr_op_end(op, 0, SDR_REL_OK);
	}
	sdr_remote_read_refuse(c, id, SDR_REL_ERR_KEY);
}

uint32_t sdr_rel_mr_revoke(struct sdr_rel *rel, const void *region)
{
	struct sdr_list mine, *l, *tmp;
	uint32_t n = 0;

	rel->now = rel->uc->ops->now(rel->uc);
	sdr_list_init(&mine);
	sdr_list_each_safe(l, tmp, &rel->msg->remotes) {
		if (sdr_container(l, struct sdr_remote, link)->region != region)
			continue;
		sdr_list_del(l);
		sdr_list_add_tail(l, &mine);
	}
	/* One of them may end others: a connection that fails. */
	for (; !sdr_list_empty(&mine); n++) {
		struct sdr_remote *r = sdr_container(mine.next, struct sdr_remote, link);

		if (r->write)
			write_revoke(r->write);
		else
			read_revoke(r->read);
	}
	return n;
}

bool sdr_rel_mr_reading(struct sdr_rel *rel, const void *va, uint64_t len)
{
	return rel->uc->ops->reading && rel->uc->ops->reading(rel->uc, va, len);
}
