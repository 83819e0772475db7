/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Reliable records.  Outgoing: three queues (lost ones first, then unordered ones, then messages in
 * order as far as the peer's credit goes); a record gets its rseq when it first leaves and keeps
 * it.  At most SDR_REL_CTL_WINDOW records are unacknowledged.  Incoming: a window of the same size
 * tells which rseq were processed, so that a record has its effect exactly once however often it
 * comes.
 *
 * Records of unknown operations are ignored: the operation ended meanwhile (or never was), which is
 * no error.
 */
#include <stdlib.h>
#include "rel/sdr_rel_priv.h"

#define REC_RING_MIN 16u

struct sdr_rec *sdr_rec_new(struct sdr_conn *c, uint8_t op, uint32_t id)
{
	struct sdr_rec *r = c->nrecs < SDR_CONN_RECS_MAX ? sdr_slab_alloc(&c->rel->rec_pool) : NULL;

	if (!r)
		return NULL;
	c->nrecs++;
	r->stranger = !c->peer->names;
	c->rel->nanswers_strangers += r->stranger;
	sdr_list_init(&r->link);
	r->f.op = op;
	r->f.id = id;
	return r;
}

void sdr_rec_free(struct sdr_conn *c, struct sdr_rec *r)
{
	c->nrecs--;
	c->rel->nanswers_strangers -= r->stranger;
	sdr_slab_free(&c->rel->rec_pool, r);
}

bool sdr_rec_answerable(const struct sdr_conn *c, uint32_t n)
{
	const struct sdr_rel *rel = c->rel;
	uint32_t max = rel->cfg.answers_max ? rel->cfg.answers_max : SDR_REL_ANSWERS_STRANGERS;

	return c->peer->names || c->nrecs + c->nserve + n <= SDR_ANSWERS_LEAST ||
	       rel->nanswers_strangers + n <= max;
}

void sdr_rec_queue(struct sdr_conn *c, struct sdr_rec *r)
{
	sdr_list_add_tail(&r->link, r->f.flags & SDR_REC_F_ORDER ? &c->msg_q : &c->rec_q);
	sdr_conn_kick(c);
}

static bool rec_window(const struct sdr_conn *c)
{
	return c->next_rseq - c->una_rseq < SDR_REL_CTL_WINDOW;
}

static bool msg_allowed(const struct sdr_conn *c)
{
	return !sdr_list_empty(&c->msg_q) &&
	       sdr_seq_lt(sdr_container(c->msg_q.next, struct sdr_rec, link)->f.mseq,
			  c->tx_mseq_limit);
}

bool sdr_rec_sendable(const struct sdr_conn *c)
{
	if (!sdr_list_empty(&c->rec_rtx))
		return true;
	return rec_window(c) && (!sdr_list_empty(&c->rec_q) || msg_allowed(c));
}

static int ring_grow(struct sdr_conn *c)
{
	uint32_t cap = c->rr_cap ? c->rr_cap * 2 : REC_RING_MIN;
	struct sdr_rec **n = calloc(cap, sizeof(*n));

	if (!n)
		return -ENOMEM;
	for (uint32_t i = c->una_rseq; i != c->next_rseq; i++)
		n[i & (cap - 1)] = c->rec_ring[i & (c->rr_cap - 1)];
	free(c->rec_ring);
	c->rec_ring = n;
	c->rr_cap = cap;
	return 0;
}

struct sdr_rec *sdr_rec_next(struct sdr_conn *c, size_t room)
{
	struct sdr_rec *r;

	if (!sdr_list_empty(&c->rec_rtx)) {
		r = sdr_container(c->rec_rtx.next, struct sdr_rec, link);
	} else if (!rec_window(c)) {
		return NULL;
	} else if (!sdr_list_empty(&c->rec_q)) {
		r = sdr_container(c->rec_q.next, struct sdr_rec, link);
	} else if (msg_allowed(c)) {
		r = sdr_container(c->msg_q.next, struct sdr_rec, link);
	} else {
		return NULL;
	}
	if (sdr_frame_rec_size(&r->f) > room)
		return NULL;
	if (!r->sent) {
		if (c->next_rseq - c->una_rseq >= c->rr_cap && ring_grow(c))
			return NULL;
		r->f.rseq = c->next_rseq++;
		c->rec_ring[r->f.rseq & (c->rr_cap - 1)] = r;
	}
	sdr_list_del(&r->link);
	return r;
}

bool sdr_rec_number(struct sdr_conn *c, struct sdr_rec *r)
{
	if (r->sent)
		return true;
	if (!rec_window(c) || (c->next_rseq - c->una_rseq >= c->rr_cap && ring_grow(c)))
		return false;
	r->f.rseq = c->next_rseq++;
	c->rec_ring[r->f.rseq & (c->rr_cap - 1)] = r;
	r->sent = true;
	c->st.rec_tx++;
	return true;
}

size_t sdr_rec_write(struct sdr_conn *c, struct sdr_rec *r, uint8_t *p, size_t room)
{
	size_t n = sdr_frame_rec_encode(p, room, &r->f);

	if (r->f.payload_len)
		sdr_op_gather(r->op, p + n);
	n += r->f.payload_len;
	if (!r->sent) {
		r->sent = true;
		c->st.rec_tx++;
		if (r->op && r->op->btx && (r->f.flags & SDR_REC_F_BULK)) {
			r->op->btx->rec = r;
			sdr_bulk_announced(r->op->btx);
		}
	}
	return n;
}

void sdr_rec_acked(struct sdr_conn *c, struct sdr_rec *r)
{
	struct sdr_op *op = r->op;

	sdr_rec_detach(c, r);
	if (op && r == &op->rec) {
		sdr_op_advance(op);
		return;
	}
	if (op && r == op->bind)
		op->bind = NULL;
	sdr_rec_free(c, r);
}

void sdr_rec_detach(struct sdr_conn *c, struct sdr_rec *r)
{
	sdr_list_del(&r->link);
	if (r->op && r->op->btx && r->op->btx->rec == r)
		r->op->btx->rec = NULL;
	if (!r->sent || r->acked)
		return;
	r->acked = true;
	c->rec_ring[r->f.rseq & (c->rr_cap - 1)] = NULL;
	while (c->una_rseq != c->next_rseq && !c->rec_ring[c->una_rseq & (c->rr_cap - 1)]) {
		sdr_rel_step(c->rel);
		c->una_rseq++;
	}
}

/* ---- incoming -------------------------------------------------------------------------------- */

bool sdr_rec_room(const struct sdr_conn *c, uint32_t rseq)
{
	return sdr_seq_lt(rseq, c->rx_rseq) || rseq - c->rx_rseq < SDR_REL_CTL_WINDOW;
}

bool sdr_rec_seen(const struct sdr_conn *c, uint32_t rseq)
{
	uint32_t bit = rseq & (SDR_REL_CTL_WINDOW - 1);

	return sdr_seq_lt(rseq, c->rx_rseq) || sdr_bitmap_test(c->rx_rseq_bits, bit);
}

bool sdr_rec_accept(struct sdr_conn *c, uint32_t rseq)
{
	uint32_t bit = rseq & (SDR_REL_CTL_WINDOW - 1);

	if (sdr_seq_lt(rseq, c->rx_rseq) || rseq - c->rx_rseq >= SDR_REL_CTL_WINDOW ||
	    sdr_bitmap_test(c->rx_rseq_bits, bit))
		return false;
	sdr_bitmap_set(c->rx_rseq_bits, bit);
	for (;;) {
		sdr_rel_step(c->rel);
		bit = c->rx_rseq & (SDR_REL_CTL_WINDOW - 1);
		if (!sdr_bitmap_test(c->rx_rseq_bits, bit))
			return true;
		sdr_bitmap_clear(c->rx_rseq_bits, bit);
		c->rx_rseq++;
	}
}

void sdr_done_send(struct sdr_conn *c, uint32_t id, int status)
{
	struct sdr_rec *r;

	if (c->state == SDR_CONN_DEAD)
		return;
	r = sdr_rec_new(c, SDR_REC_DONE, id);
	if (!r) {
		/*
		 * The peer waits for it: without memory, or with a peer that takes no answers,
		 * there is no going on.
		 */
		sdr_conn_fail(c, SDR_REL_ERR_NOMEM);
		return;
	}
	r->f.flags = SDR_REC_F_STATUS;
	r->f.status = status;
	sdr_rec_queue(c, r);
}

static void remote_report(struct sdr_conn *c, uint8_t kind, const struct sdr_frame_rec *f, void *va)
{
	struct sdr_rel_cqe e = {
		.kind = kind,
		.has_data = f->flags & SDR_REC_F_DATA,
		.len = f->len,
		.data = f->data,
		.buf = va,
		.peer = c->peer,
		.key = f->key,
	};

	if (c->rel->rma_events || e.has_data)
		c->rel->cbs->done(c->rel->user, &e);
}

static void write_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_rel *rel = c->rel;
	struct sdr_bulk_rx *b;
	void *va = NULL, *region = NULL;
	int ret, err;

	ret = f->flags & SDR_REC_F_RMA ? rel->cbs->mr_get(rel->user, f->key, f->addr, f->len,
							  SDR_REL_ACCESS_WRITE, &va, &region)
				       : -EINVAL;
	if (ret) {
		if (f->flags & SDR_REC_F_BULK)
			sdr_bulk_rx_skip(c, f, f->len);
		sdr_done_send(c, f->id, SDR_REL_ERR_KEY);
		return;
	}
	if (!(f->flags & SDR_REC_F_LEN)) {
		if (f->payload_len)
			memcpy(va, f->payload, f->payload_len);
		sdr_done_send(c, f->id, SDR_REL_OK);
		remote_report(c, SDR_REL_REMOTE_WRITE, f, va);
		return;
	}
	err = sdr_bulk_rx_new(c, SDR_REC_WRITE, f->id, va, f->len, &b);
	if (err) {
		if (f->flags & SDR_REC_F_BULK)
			sdr_bulk_rx_skip(c, f, f->len);
		sdr_done_send(c, f->id, err);
		return;
	}
	sdr_remote_write(b, region);
	b->has_data = f->flags & SDR_REC_F_DATA;
	b->data = f->data;
	b->key = f->key;
	b->delivery = f->flags & SDR_REC_F_DELIVERY;
	if (!(f->flags & SDR_REC_F_BULK)) {
		(void)sdr_bulk_rx_cts(b, true);
	} else if ((err = sdr_bulk_rx_start(b, f))) {
		sdr_bulk_rx_abort(b);
		sdr_done_send(c, f->id, err);
	}
}

/* A keyed peer says where a bulk may go, and no other has a key to give. */
static bool key_expected(const struct sdr_conn *c, const struct sdr_frame_rec *f, bool bulk)
{
	bool key = f->flags & SDR_REC_F_KEY;

	return sdr_qp_peer_keyed(c->qp) ? key || !bulk : !key;
}

static void read_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_rel *rel = c->rel;
	void *va = NULL, *region = NULL;
	int err = SDR_REL_OK;

	if (!key_expected(c, f, !sdr_op_fits(c, f->len))) {
		c->st.pkts_bad++;
		err = SDR_REL_ERR_PROTO;
	} else if (!(f->flags & SDR_REC_F_RMA) ||
		   rel->cbs->mr_get(rel->user, f->key, f->addr, f->len, SDR_REL_ACCESS_READ, &va,
				    &region)) {
		err = SDR_REL_ERR_KEY;
	}
	if (!err && sdr_op_serve_read(c, f, va, region)) {
		remote_report(c, SDR_REL_REMOTE_READ, f, va);
		return;
	}
	sdr_remote_read_refuse(c, f->id, err ? err : SDR_REL_ERR_NOMEM);
}

static struct sdr_op *op_of(struct sdr_conn *c, uint32_t id)
{
	struct sdr_op *op = sdr_idtab_get(&c->rel->ids, id);

	return op && op->conn == c ? op : NULL;
}

/* A READ that waits for its answer. */
static struct sdr_op *read_of(struct sdr_conn *c, uint32_t id)
{
	struct sdr_op *op = op_of(c, id);

	return op && op->kind == SDR_REL_READ && !op->data_in ? op : NULL;
}

static void read_rsp_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_op *op = read_of(c, f->id);
	int err = SDR_REL_OK;

	if (!op) {
		/*
		 * It ended here, or was refused after all; records may overtake each other.  Nobody
		 * will bind these numbers.
		 */
		if (f->flags & SDR_REC_F_BULK)
			sdr_bulk_rx_skip(c, f, f->len);
		return;
	}
	if ((f->flags & SDR_REC_F_STATUS) && f->status) {
		sdr_op_end(op, sdr_rel_errno(f->status), f->status);
		return;
	}
	if (!(f->flags & SDR_REC_F_BULK)) {
		if (f->payload_len != op->len) {
			c->st.pkts_bad++;
			sdr_op_end(op, -EIO, SDR_REL_ERR_NOMEM);
			return;
		}
		if (op->brx) /* the place for a bulk that did not come */
			sdr_bulk_rx_abort(op->brx);
		op->brx = NULL;
		sdr_op_scatter(op, f->payload, f->payload_len);
		op->data_in = true;
		sdr_op_advance(op);
		return;
	}
	/* A keyed engine has made its place already; it takes one answer. */
	if (op->brx ? op->brx->has_msn : sdr_qp_keyed(c->qp)) {
		c->st.pkts_bad++;
		err = SDR_REL_ERR_PROTO;
	} else if (!op->brx) {
		err = sdr_op_land(op);
	}
	if (err)
		sdr_bulk_rx_skip(c, f, op->len);
	else
		err = sdr_bulk_rx_start(op->brx, f);
	/*
	 * Its server sends what nobody can take, and cannot be told which of its answers that is.
	 */
	if (err == SDR_REL_ERR_CODE)
		sdr_conn_fail(c, err);
	else if (err)
		sdr_op_end(op, sdr_rel_errno(err), err);
}

static void done_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_op *op = op_of(c, f->id);
	int status = f->flags & SDR_REC_F_STATUS ? f->status : SDR_REL_OK;

	if (!op || op->kind == SDR_REL_READ_SERVE)
		return;
	/* A truncated receive is the receiver's error: here the message is delivered. */
	if (status && status != SDR_REL_ERR_TRUNC) {
		sdr_op_end(op, sdr_rel_errno(status), status);
		return;
	}
	op->got_done = true;
	/* The receiver is done with a message, whatever of it is still under way. */
	if (op->kind == SDR_REL_SEND || op->kind == SDR_REL_TSEND) {
		if (op->btx && !status && op->btx->opened == op->btx->plan.nmsgs) {
			/* ends the operation when nothing else is missing */
			sdr_bulk_tx_delivered(op->btx);
			return;
		}
		if (op->btx)
			sdr_bulk_tx_abort(op->btx);
		sdr_list_del(&op->credit);
		op->waiting = false;
		op->data_out = true;
	}
	sdr_op_advance(op);
}

static void cts_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_op *op = op_of(c, f->id);

	if (!op || op->kind < SDR_REL_SEND || op->kind > SDR_REL_WRITE)
		return;
	/*
	 * Only what was announced without its bytes, and is not over, can be asked for, and that
	 * once.
	 */
	if (!(op->rec.f.flags & SDR_REC_F_LEN) || !op->rec.sent || op->data_out || op->got_done ||
	    op->bind || (op->kind == SDR_REL_WRITE && !op->waiting))
		return;
	if (!key_expected(c, f, true)) {
		c->st.pkts_bad++;
		sdr_op_end(op, sdr_rel_errno(SDR_REL_ERR_PROTO), SDR_REL_ERR_PROTO);
		return;
	}
	op->keyed = f->flags & SDR_REC_F_KEY;
	op->va = f->va;
	op->rkey = f->rkey;
	if ((f->flags & SDR_REC_F_STATUS) && f->status)
		c->wait_mode = false; /* the receive was waiting for us: start at once next time */
	/*
	 * Records may overtake each other: a CTS for a bulk under way says that its PARK is still
	 * to come.
	 */
	if (op->btx)
		sdr_bulk_tx_abort(op->btx);
	op->waiting = false;
	sdr_list_del(&op->credit);
	sdr_list_add_tail(&op->credit, &c->cts_wait);
	sdr_op_release_credit(c);
}

static void park_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_op *op = op_of(c, f->id);

	if (!op || !op->btx || op->got_done || !(f->flags & SDR_REC_F_BULK) ||
	    op->btx->msn != f->msn)
		return;
	if (sdr_qp_peer_keyed(c->qp)) { /* it asked for these data itself */
		c->st.pkts_bad++;
		return;
	}
	sdr_bulk_tx_abort(op->btx);
	op->waiting = true;
	c->wait_mode = true;
}

/* Of a record that numbers messages here: as many as there can be, and where its sender may be. */
static bool rec_numbers(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	const struct sdr_op *op = f->op == SDR_REC_READ_RSP ? read_of(c, f->id) : NULL;

	if (!(f->flags & SDR_REC_F_BULK) || f->op == SDR_REC_PARK ||
	    (f->op == SDR_REC_BIND && (f->flags & SDR_REC_F_STATUS) && f->status))
		return true;
	return sdr_bulk_rx_numbers(c, f, op ? op->len : f->len);
}

void sdr_rec_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	if (!rec_numbers(c, f)) {
		c->st.pkts_bad++;
		sdr_conn_fail(c, SDR_REL_ERR_PROTO);
		return;
	}
	/*
	 * Data to a keyed engine wait for its CTS.  Who numbers them before knows nothing of keys:
	 * he is no peer.
	 */
	if ((f->flags & SDR_REC_F_BULK) && f->op <= SDR_REC_WRITE && sdr_qp_keyed(c->qp)) {
		c->st.pkts_bad++;
		sdr_conn_fail(c, SDR_REL_ERR_PROTO);
		return;
	}
	switch (f->op) {
	case SDR_REC_SEND:
	case SDR_REC_TSEND:
		sdr_match_input(c, f);
		break;
	case SDR_REC_WRITE:
		write_input(c, f);
		break;
	case SDR_REC_READ:
		read_input(c, f);
		break;
	case SDR_REC_READ_RSP:
		read_rsp_input(c, f);
		break;
	case SDR_REC_BIND:
		sdr_match_bind(c, f);
		break;
	case SDR_REC_CTS:
		cts_input(c, f);
		break;
	case SDR_REC_PARK:
		park_input(c, f);
		break;
	case SDR_REC_DONE:
		done_input(c, f);
		break;
	default:
		c->st.pkts_bad++;
	}
}
