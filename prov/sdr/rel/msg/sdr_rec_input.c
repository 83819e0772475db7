/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Records of the peer: each goes to the row of its number (sdr_op_kind.h), once its message numbers
 * have been checked.  Here are those that all operations share: what the peer says of an operation
 * of ours (CTS, PARK, DONE), and which numbers its announced bulk got (BIND).
 *
 * One that must follow others has its effect when its turn comes (sdr_follow.c).
 *
 * A record that names an operation which is not here is ignored: it ended meanwhile (or never was),
 * which is no error.
 */
#include "base/sdr_assert.h"
#include "rel/conn/sdr_rec.h"
#include "sdr_follow.h"
#include "sdr_match.h"
#include "sdr_op.h"
#include "sdr_rec_input.h"

static void done_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_op *op = sdr_op_find(c, f->id);
	int status = sdr_msg_status(f);

	if (!op || op->kind->served)
		return;
	if (!op->rec.sent) { /* nobody can have done it: it may not have begun */
		c->st.pkts_bad++;
		return;
	}
	/* A truncated receive is the receiver's error: here the message is delivered. */
	if (status && status != SDR_REL_ERR_TRUNC) {
		sdr_op_end(op, sdr_rel_errno(status), status);
		return;
	}
	op->got_done = true;
	if (op->kind->done)
		op->kind->done(op, status);
	else
		sdr_op_advance(op);
}

static void cts_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_op *op = sdr_op_find(c, f->id);
	bool rest = f->flags & SDR_REC_F_HEAD;

	if (!op || !op->kind->waits)
		return;
	/*
	 * Only what was announced without its bytes, and is not over, can be requested, and that
	 * once.
	 */
	if (!(op->rec.f.flags & SDR_REC_F_LEN) || !op->rec.sent || op->data_out || op->got_done ||
	    op->bind || (!op->kind->ordered && !op->waiting && !op->berth))
		return;
	/* Once its rest has begun there is nothing more to ask for. */
	if ((op->head_len && !op->waiting) || (rest && f->head != op->head_len))
		return;
	if (!sdr_op_key_expected(c, f, true)) {
		c->st.pkts_bad++;
		sdr_op_end(op, sdr_rel_errno(SDR_REL_ERR_PROTO), SDR_REL_ERR_PROTO);
		return;
	}
	op->rkeyed = f->flags & SDR_REC_F_KEY;
	op->va = f->va;
	op->rkey = f->rkey;
	if (sdr_msg_status(f))
		c->msg->rnr_mode =
			false; /* the receive was waiting for us: start at once next time */
	/*
	 * Records may overtake each other: a CTS for a bulk under way says that its PARK is still
	 * to come; likewise one for everything while its head is.
	 */
	if (!rest) {
		sdr_op_bulk_abort(op);
		op->head_len = 0;
	}
	op->waiting = false;
	sdr_list_del(&op->credit);
	sdr_list_add_tail(&op->credit, &c->msg->cts_wait);
	sdr_op_release_credit(c);
}

static void park_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_op *op = sdr_op_find(c, f->id);
	const struct sdr_bulk_tx *b = !op ? NULL : op->head_len ? op->head : op->btx;

	if (!b || op->got_done || !(f->flags & SDR_REC_F_BULK) || b->msn != f->msn)
		return;
	/*
	 * Only a message may be parked, and what went to a berth that is not there any more; other
	 * data a peer with keys requested itself.
	 */
	if ((op->head_len && !op->waiting) ||
	    (!op->berth && (!op->kind->ordered || sdr_qp_peer_rkeyed(c->shape->qp)))) {
		c->st.pkts_bad++;
		return;
	}
	sdr_op_bulk_abort(op);
	op->head_len = 0;
	op->waiting = true;
	c->msg->rnr_mode |= op->kind->ordered;
}

static void berth_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	if (sdr_berth_key_input(c, f))
		return;
	c->st.pkts_bad++;
	sdr_conn_fail(c, SDR_REL_ERR_PROTO);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* With a status: what was announced will not come. */
static bool bind_numbers(struct sdr_conn *c, const struct sdr_frame_rec *f, uint64_t *len)
{
	(void)c;
	*len = f->len;
	return !sdr_msg_status(f);
}

/* Those of a bulk that we sent. */
static bool park_numbers(struct sdr_conn *c, const struct sdr_frame_rec *f, uint64_t *len)
{
	(void)c;
	(void)f;
	(void)len;
	return false;
}

const struct sdr_rec_kind sdr_rec_kind_bind = {
	.name = "bind",
	.input = sdr_match_bind,
	.numbers = bind_numbers,
};

const struct sdr_rec_kind sdr_rec_kind_cts = {
	.name = "cts",
	.input = cts_input,
};

const struct sdr_rec_kind sdr_rec_kind_park = {
	.name = "park",
	.input = park_input,
	.numbers = park_numbers,
};

const struct sdr_rec_kind sdr_rec_kind_done = {
	.name = "done",
	.input = done_input,
	.unbound = true,
};

const struct sdr_rec_kind sdr_rec_kind_berth = {
	.name = "berth",
	.input = berth_input,
	.feature = SDR_FEATURE_BERTH,
};

/* ---- all of them ----------------------------------------------------------------------------- */

/* Are its message numbers such as an honest peer may use now? */
static bool rec_numbers(struct sdr_conn *c, const struct sdr_rec_kind *k,
			const struct sdr_frame_rec *f)
{
	uint64_t len = sdr_rec_bulk(f);

	if (!(f->flags & SDR_REC_F_BULK) || (k->numbers && !k->numbers(c, f, &len)))
		return true;
	/*
	 * Data to an rkeyed engine wait for its CTS, or name the key that was handed out ahead: a
	 * peer that sends others has none.
	 */
	return sdr_bulk_rx_numbers(c, f, len) &&
	       !(k->starts && sdr_qp_rkeyed(c->shape->qp) && !(f->flags & SDR_REC_F_BERTH));
}

/* A bonded endpoint hears nobody else: whoever tries loses his connection. */
static bool rec_heard(const struct sdr_conn *c, const struct sdr_rec_kind *k)
{
	return !c->rel->msg->bonded || k->unbound || (c->peer->bond & SDR_BOND_HEAR);
}

void sdr_rec_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	const struct sdr_rec_kind *k = c->rel->msg->kinds->rec[f->op];

	SDR_ASSERT(sdr_conn_live(c));
	if (!k || (k->feature & ~c->hs.features)) {
		c->st.pkts_bad++;
		return;
	}
	if (!rec_heard(c, k) || !rec_numbers(c, k, f) ||
	    ((f->flags & SDR_REC_F_HEAD) && !(c->hs.features & SDR_FEATURE_HEAD)) ||
	    ((f->flags & SDR_REC_F_BERTH) && !sdr_berth_named(c, f))) {
		c->st.pkts_bad++;
		sdr_conn_fail(c, SDR_REL_ERR_PROTO);
		return;
	}
	if ((f->flags & SDR_REC_F_TURN) && !sdr_follow_input(c, f))
		return;
	k->input(c, f);
}

bool sdr_rec_input_room(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	return sdr_follow_room(c, f) && (!sdr_rec_is_message(f) || sdr_match_room(c, f));
}

uint64_t sdr_rec_input_bytes(const struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	return sdr_follow_bytes(c, f) + (sdr_rec_is_message(f) ? sdr_match_bytes(c, f) : 0);
}
