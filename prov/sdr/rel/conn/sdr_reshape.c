/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The size of packets changes while the connection lives: both sides agree on a new QP, and what is
 * numbered from then on goes there.
 *
 *   one side                                  the other
 *     makes a QP of the new size
 *     OFFER (its info)                  ──►
 *                                               makes its QP, connects it; its numbers from msn on
 *                                       ◄──     lie there: USE (its info, msn)
 *     connects; the peer's numbers from
 *     msn on are taken there; its own, too:
 *     USE (its info, msn)               ──►     takes those there
 *
 * Numbers go on counting; a transfer lies on one shape whole.  What was numbered before stays where
 * it is until it is done, in pieces where the path has become too narrow for it.  When nothing on
 * the old shape is open any more, in either direction, its QP goes.  Whoever lost the last report
 * of it asks (END) and is answered from the new table, to which all lower numbers are complete.
 *
 * Who may begin: a side with a wish, when the size that both want (the smaller of their limits) is
 * another than the present one, the change before is over here and nothing of it is unacknowledged.
 * The other answers when it is over there, too.  Both begin at once: of two offers the smaller one
 * counts, equal ones are each other's answer.  An offer beyond our limit, which every frame tells,
 * is refused; the generation counts that as well, so that no late frame can mean another offer.
 *
 * What is said is a state with a number: it travels in front of the records of every packet until
 * one of those is acknowledged, and the receiver takes the newest.  So no record of a number on the
 * new shape is ever looked at before the USE that it needs.
 *
 * What no honest peer says is counted (pkts_bad) and changes nothing, but a USE that cannot be
 * followed ends the connection: its numbers would be misread.  A connection has two shapes at most.
 * No timers: packets that were lost say it again.  Nothing is freed inside a call from below: old
 * QPs go in the connection's turn, the first one a timeout after they were of use, since parity, or
 * what was sent twice, may be on its way; or when the next change needs the place.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_conn_ops.h"
#include "sdr_credit.h"
#include "sdr_path_mtu.h"
#include "sdr_reshape.h"

/* Messages by which a transfer may go on beyond the window, at most (sdr_plan.c). */
#define RESHAPE_AHEAD (1u << 20)
#define MARK_SET      0x100u

/* ---- who may, and what is wanted ------------------------------------------------------------- */

static bool reshape_possible(const struct sdr_conn *c)
{
	return c->hs.peer_known && (c->hs.features & SDR_FEATURE_SHAPE) &&
	       !sdr_qp_rkeyed(c->shape->qp) && !sdr_qp_peer_rkeyed(c->shape->qp);
}

static struct sdr_reshape *reshape_get(struct sdr_conn *c)
{
	if (!c->reshape) {
		c->reshape = calloc(1, sizeof(*c->reshape));
		if (c->reshape)
			c->reshape->peer_limit = UINT32_MAX;
	}
	return c->reshape;
}

/* The largest that we take. */
static uint32_t reshape_limit(const struct sdr_conn *c)
{
	return c->reshape->want ? c->reshape->want : c->rel->mtu;
}

/* What both want. */
static uint32_t reshape_target(const struct sdr_conn *c)
{
	uint32_t own = reshape_limit(c);

	return own < c->reshape->peer_limit ? own : c->reshape->peer_limit;
}

/* All numbers, of both sides, that come next lie on the same shape. */
static bool reshape_settled(const struct sdr_conn *c)
{
	return c->in.now == c->shape;
}

/* ... and nothing is open on the one before, nor offered. */
static bool reshape_over(const struct sdr_conn *c)
{
	return sdr_shape_alone(c) && !c->reshape->next;
}

/* ---- what is said ---------------------------------------------------------------------------- */

static void reshape_renew(struct sdr_conn *c)
{
	struct sdr_reshape *r = c->reshape;

	r->say.n++;
	r->say.live = r->say.due = true;
	r->say.limit = false; /* every frame tells it */
	sdr_conn_kick(c);
}

static void reshape_say(struct sdr_conn *c, enum sdr_shape_what what)
{
	c->reshape->say.what = (uint8_t)what;
	reshape_renew(c);
}

size_t sdr_reshape_put(struct sdr_conn *c, uint8_t *p, size_t room)
{
	const struct sdr_reshape *r = c->reshape;
	struct sdr_frame_shape f = {
		.what = r->say.what, .n = r->say.n, .gen = r->gen, .limit = reshape_limit(c)
	};
	uint8_t info[SDR_QP_INFO_LEN];
	const struct sdr_conn_shape *s = NULL;

	switch (r->say.what) {
	case SDR_SHAPE_OFFER:
		s = r->next;
		f.gen++;
		break;
	case SDR_SHAPE_USE:
		s = c->shape;
		f.msn = r->lo;
		break;
	case SDR_SHAPE_REFUSE:
		f.mtu = r->refused;
		break;
	}
	if (s) {
		sdr_qp_info_get(s->qp, info);
		f.mtu = s->mtu;
		f.seg_bytes = (uint32_t)s->seg_bytes;
		f.info = info;
	}
	return sdr_frame_shape_encode(p, room, &f);
}

uint16_t sdr_reshape_mark(struct sdr_conn *c)
{
	c->reshape->say.due = false;
	return MARK_SET | c->reshape->say.n;
}

void sdr_reshape_acked(struct sdr_conn *c, uint16_t mark)
{
	if (mark != (MARK_SET | c->reshape->say.n))
		return;
	c->reshape->say.live = c->reshape->say.due = false;
	sdr_conn_kick(c);
}

void sdr_reshape_lost(struct sdr_conn *c, uint16_t mark)
{
	if (mark == (MARK_SET | c->reshape->say.n) && c->reshape->say.live)
		c->reshape->say.due = true;
}

/* ---- numbers go over ------------------------------------------------------------------------- */

/* Connects our QP to the peer's.  -EPROTO: they do not fit together. */
static int reshape_connect(struct sdr_conn *c, const struct sdr_conn_shape *s, uint32_t seg_bytes,
			   const uint8_t *info)
{
	struct sdr_wire_qp_info i;
	int ret;

	if (sdr_wire_qp_info_decode(info, SDR_QP_INFO_LEN, &i) || i.mtu != s->mtu ||
	    seg_bytes != s->seg_bytes || (i.flags & (SDR_QP_F_RKEYED | SDR_QP_F_NIC)))
		return -EPROTO;
	ret = sdr_qp_connect_addr(s->qp, info, sdr_qp_addr(c->shape->qp));
	if (!ret && c->main.pmtu.size)
		sdr_qp_path_set(s->qp, c->main.pmtu.size);
	if (!ret)
		sdr_shape_ways(c, s);
	return ret == -EBADMSG ? -EPROTO : ret;
}

static void reshape_out(struct sdr_conn *c, struct sdr_conn_shape *s)
{
	struct sdr_reshape *r = c->reshape;

	SDR_ASSERT(s == sdr_shape_other(c) && s->qp && !s->ntx);
	r->lo = c->rel->ops->msn_out(c);
	sdr_qp_send_from(s->qp, r->lo);
	sdr_qp_limit_set(s->qp, c->credit.msn_limit);
	c->shape = s;
	r->gen++;
	r->next = NULL;
	for (uint32_t i = 0; i < c->npaths; i++)
		sdr_cc_mtu_set(&sdr_conn_path(c, i)->cc, s->mtu);
	sdr_path_mtu_follow(c);
	c->st.reshapes++;
	reshape_say(c, SDR_SHAPE_USE);
}

/* False: no honest peer's next number. */
static bool reshape_in(struct sdr_conn *c, struct sdr_conn_shape *s, uint32_t lo)
{
	uint32_t seen = c->rel->ops->msn_in(c), base = sdr_shape_rx_base(c);

	SDR_ASSERT(!c->in.old && s != c->in.now);
	if (sdr_seq_lt(lo, seen) || lo - base > sdr_qp_ids(s->qp) + RESHAPE_AHEAD)
		return false;
	sdr_qp_recv_from(s->qp, lo);
	c->in.old = c->in.now;
	c->in.now = s;
	c->in.lo = lo;
	return true;
}

static void reshape_drop(struct sdr_conn *c)
{
	struct sdr_conn_shape *s = c->reshape->next;

	c->reshape->next = NULL;
	if (s)
		sdr_shape_drop(s);
}

/* ---- what the peer says ---------------------------------------------------------------------- */

static void reshape_offered(struct sdr_conn *c, const struct sdr_frame_shape *f)
{
	struct sdr_reshape *r = c->reshape;

	if (r->next && f->mtu > r->next->mtu)
		return; /* ours counts, and will be answered */
	if (r->next && f->mtu == r->next->mtu) {
		if (reshape_connect(c, r->next, f->seg_bytes, f->info))
			c->st.pkts_bad++;
		else
			reshape_out(c, r->next);
		return;
	}
	reshape_drop(c);
	r->say.live = r->say.live && r->say.what != SDR_SHAPE_OFFER;
	r->ask.due = true;
	r->ask.mtu = f->mtu;
	r->ask.seg_bytes = f->seg_bytes;
	memcpy(r->ask.info, f->info, SDR_QP_INFO_LEN);
}

static void reshape_used(struct sdr_conn *c, const struct sdr_frame_shape *f)
{
	struct sdr_reshape *r = c->reshape;
	struct sdr_conn_shape *s = r->next ? r->next : c->shape;
	bool ok = f->mtu == s->mtu;

	/* The answer to our offer; else that QP is connected already. */
	if (ok && r->next)
		ok = !reshape_connect(c, s, f->seg_bytes, f->info);
	if (!ok || !reshape_in(c, s, f->msn)) {
		c->st.pkts_bad++;
		sdr_conn_fail(c, SDR_REL_ERR_PROTO);
		return;
	}
	if (r->next)
		reshape_out(c, s);
}

static void reshape_refused(struct sdr_conn *c, const struct sdr_frame_shape *f)
{
	struct sdr_reshape *r = c->reshape;

	reshape_drop(c);
	r->say.live = r->say.live && r->say.what != SDR_SHAPE_OFFER;
	r->gen++;
	r->barred = reshape_target(c) == f->mtu; /* not for its limit: once more would be no use */
}

void sdr_reshape_input(struct sdr_conn *c, const struct sdr_frame_shape *f)
{
	struct sdr_reshape *r;
	uint16_t next;

	if (!reshape_possible(c)) {
		c->st.frames_skipped++;
		return;
	}
	r = reshape_get(c);
	if (!r) {
		sdr_conn_fail(c, SDR_REL_ERR_NOMEM); /* it will not come again */
		return;
	}
	if ((int8_t)(f->n - r->heard) <= 0)
		return;
	r->heard = f->n;
	r->barred = r->barred && r->peer_limit == f->limit;
	r->peer_limit = f->limit;
	next = (uint16_t)(r->gen + 1);
	if (f->what == SDR_SHAPE_OFFER && f->gen == next && reshape_settled(c))
		reshape_offered(c, f);
	else if (f->what == SDR_SHAPE_USE && f->gen == (r->next ? next : r->gen) &&
		 (r->next || !reshape_settled(c)))
		reshape_used(c, f);
	else if (f->what == SDR_SHAPE_REFUSE && r->next && f->gen == next && f->mtu == r->next->mtu)
		reshape_refused(c, f);
	else if (f->what != SDR_SHAPE_LIMIT &&
		 f->gen != r->gen) /* not once more, with a new limit */
		c->st.pkts_bad++;
	sdr_conn_kick(c);
}

/* ---- its turn -------------------------------------------------------------------------------- */

static void reshape_refuse(struct sdr_conn *c)
{
	struct sdr_reshape *r = c->reshape;

	r->refused = r->ask.mtu;
	r->gen++;
	reshape_say(c, SDR_SHAPE_REFUSE);
}

static void reshape_answer(struct sdr_conn *c)
{
	struct sdr_reshape *r = c->reshape;
	struct sdr_conn_shape *s = sdr_shape_other(c);

	r->ask.due = false;
	sdr_shape_reap(c, true);
	if (r->ask.mtu > reshape_limit(c) || sdr_shape_make(c, r->ask.mtu, s)) {
		reshape_refuse(c);
	} else if (reshape_connect(c, s, r->ask.seg_bytes, r->ask.info)) {
		c->st.pkts_bad++;
		sdr_shape_drop(s);
		reshape_refuse(c);
	} else {
		reshape_out(c, s);
	}
}

static void reshape_offer(struct sdr_conn *c)
{
	struct sdr_reshape *r = c->reshape;
	struct sdr_conn_shape *s = sdr_shape_other(c);

	sdr_shape_reap(c, true);
	if (sdr_shape_make(c, reshape_target(c), s)) {
		r->barred = true;
		return;
	}
	r->next = s;
	reshape_say(c, SDR_SHAPE_OFFER);
}

void sdr_reshape_run(struct sdr_conn *c)
{
	struct sdr_reshape *r = c->reshape;

	if (c->state != SDR_CONN_OPEN)
		return;
	sdr_rel_step(c->rel);
	sdr_shape_reap(c, false);
	if (r->ask.due && reshape_over(c))
		reshape_answer(c);
	else if (r->want && !r->barred && !r->ask.due && !r->say.live && reshape_over(c) &&
		 !c->rel->closing && reshape_target(c) != c->shape->mtu)
		reshape_offer(c);
	if (r->say.limit && !r->say.live)
		reshape_say(c, SDR_SHAPE_LIMIT);
}

int sdr_reshape_want(struct sdr_conn *c, uint32_t mtu)
{
	struct sdr_reshape *r;

	if (!sdr_conn_live(c) || !c->hs.peer_known)
		return -ENOTCONN;
	if (!reshape_possible(c))
		return -EOPNOTSUPP;
	if (mtu < SDR_EP_MTU_MIN)
		return -EINVAL;
	r = reshape_get(c);
	if (!r)
		return -ENOMEM;
	mtu = mtu < c->rel->mtu ? mtu : c->rel->mtu;
	if (r->want == mtu)
		return 0;
	r->want = mtu;
	r->barred = false;
	r->say.limit = true;
	if (r->say.live) /* with the new limit */
		reshape_renew(c);
	sdr_conn_kick(c);
	return 0;
}

void sdr_reshape_free(struct sdr_conn *c)
{
	free(c->reshape);
	c->reshape = NULL;
}
