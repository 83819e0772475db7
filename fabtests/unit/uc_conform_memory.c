/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Clauses on memory: what is placed where, slots, the order of control and data, grants.  Each
 * opens a bed of its own, so that one that fails spoils no other.
 */

#include "uc_conform_bed.h"

#define PKTS   20u /* of a message that is not meant to be long */
#define GRANTS 32u /* that are open at a time */

/* ---- placement ------------------------------------------------------------------------------- */

/* Every packet of a run is placed where it belongs and reported with what its sender gave it. */
static void placement__each_packet_where_it_belongs(void **state)
{
	uint32_t len = (PKTS - 1) * BED_MTU + 17;
	struct bed *b = bed_of(state);
	struct sdr_uc_tx t;

	bed_give(b, 0, len);
	t = bed_write(b, 0, len);
	t.channel = 1;
	bed_post_one(b, t);
	bed_wait(b, &b->seen[1].nplaced, PKTS);
	bed_settle(b);
	bed_check_placed(b, 0, PKTS);
	bed_check(b, 0, len);
	assert_int_equal(b->seen[1].gen, 0);
	assert_int_equal(b->seen[1].channel, 1);
	assert_ptr_equal(b->seen[1].cookie, &b->seen[1]);
	if (!(b->row->flags & UC_CONFORM_DUPS))
		assert_int_equal(b->seen[1].bytes, len);
	assert_int_equal(b->seen[0].nplaced + b->seen[0].nerr + b->seen[1].nerr, 0);
	bed_close(b);
}

/* A run may begin anywhere, and a message needs not be whole. */
static void placement__a_run_from_the_middle(void **state)
{
	struct bed *b = bed_of(state);

	bed_give(b, 0, BED_MSG);
	bed_post_one(b, bed_write(b, 7, 3 * BED_MTU));
	bed_wait(b, &b->seen[1].nplaced, 3);
	bed_settle(b);
	bed_check_placed(b, 7, 3);
	bed_check(b, (size_t)7 * BED_MTU, 3 * BED_MTU);
	bed_close(b);
}

static void placement__an_empty_packet(void **state)
{
	struct bed *b = bed_of(state);

	bed_give(b, 0, 0);
	bed_post_one(b, bed_write(b, 0, 0));
	bed_wait(b, &b->seen[1].nplaced, 1);
	bed_check_placed(b, 0, 1);
	assert_int_equal(b->seen[1].bytes, 0);
	bed_check(b, 0, 0);
	bed_close(b);
}

/* A packet that was damaged on its way is as good as lost. */
static void placement__nothing_damaged(void **state)
{
	static const uint8_t text[] = "damaged";
	struct bed *b = bed_of(state);
	struct sdr_uc_tx t;

	bed_give(b, 0, BED_MSG);
	t = bed_write(b, 0, BED_MTU);
	t.flags |= SDR_UC_F_CORRUPT;
	bed_post_one(b, t);
	t = bed_ctl(b, text, sizeof(text));
	t.flags |= SDR_UC_F_CORRUPT;
	bed_post_one(b, t);
	bed_settle(b);
	assert_int_equal(b->seen[1].nplaced, 0);
	assert_int_equal(b->seen[1].nctl, 0);
	bed_check(b, 0, 0);
	bed_close(b);
}

/* Beyond what was bound (or granted) not a byte is written. */
static void placement__bounds(void **state)
{
	struct bed *b = bed_of(state);

	bed_give(b, 0, 2 * BED_MTU - 1);
	bed_post_one(b, bed_write(b, 1, BED_MTU)); /* its last byte lies outside */
	bed_post_one(b, bed_write(b, 5, BED_MTU)); /* all of it does */
	bed_settle(b);
	bed_check(b, 0, 0);
	assert_int_equal(b->seen[1].placed[0], 0);
	bed_close(b);
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* An unbound slot is the NULL key: nothing is written, and what is not reported is counted. */
static void slot__unbound(void **state)
{
	struct bed *b = bed_of(state);
	struct sdr_uc_stats st;

	bed_give(b, 0, BED_MSG);
	bed_take_back(b);
	bed_post_one(b, bed_write(b, 0, 3 * BED_MTU));
	/* a device that drops a packet for its key does not tell */
	if (!b->ui[1].rkeyed)
		bed_wait_late(b, 3);
	bed_settle(b);
	bed_check(b, 0, 0);
	bed_ops(b, 1)->stats(b->net.uc[1], &st);
	assert_int_equal(st.pkts_rx, 0);
	bed_close(b);
}

/* After slot_unbind and grant_end have returned nothing changes, whatever is on its way. */
static void slot__nothing_after_unbind(void **state)
{
	static uint8_t then[BED_ROOM];
	struct bed *b = bed_of(state);

	bed_give(b, 0, BED_MSG);
	bed_post_one(b, bed_write(b, 0, PKTS * BED_MTU));
	bed_turn(b, 0);
	bed_take_back(b);
	memcpy(then, b->room, sizeof(then));
	bed_settle(b);
	assert_memory_equal(b->room, then, sizeof(then));
	bed_close(b);
}

/* A packet of another generation, or of an earlier epoch, than the slot's is late. */
static void slot__generations_and_laps(void **state)
{
	struct bed *b = bed_of(state);
	struct sdr_uc_tx t;
	uint32_t use;

	if (b->ui[1].rkeyed)
		goto out; /* grants tell uses apart there */
	for (use = 1; use < 4; use++) {
		bed_give(b, use, BED_MSG);
		t = bed_write(b, 0, BED_MTU);
		t.gen = (uint8_t)(use - 1);
		bed_post_one(b, t);
		bed_settle(b);
		bed_check(b, 0, 0);
	}
	bed_forget(b);
	bed_give(b, 4, BED_MSG); /* generation 0 again, second epoch */
	t = bed_write(b, 0, BED_MTU);
	bed_post_one(b, t);
	bed_settle(b);
	if (!(b->row->flags & UC_CONFORM_ONE_KEY)) {
		assert_int_equal(b->seen[1].nplaced, 0);
		bed_check(b, 0, 0);
	}
	t = bed_write(b, 0, BED_MTU);
	t.w.epoch = 1;
	bed_forget(b);
	bed_post_one(b, t);
	bed_wait(b, &b->seen[1].nplaced, 1);
	bed_check(b, 0, BED_MTU);
out:
	bed_close(b);
}

/* Each generation has a way of its own, and says so. */
static void slot__every_generation(void **state)
{
	struct bed *b = bed_of(state);
	struct sdr_uc_tx t;
	uint32_t use;

	for (use = 0; use < 4; use++) {
		bed_forget(b);
		bed_give(b, use, BED_MSG);
		t = bed_write(b, use, BED_MTU);
		t.gen = (uint8_t)use;
		bed_post_one(b, t);
		bed_wait(b, &b->seen[1].nplaced, 1);
		assert_int_equal(b->seen[1].gen, use);
		bed_settle(b);
		bed_check_placed(b, use, 1);
		bed_take_back(b);
	}
	bed_check(b, 0, 4 * BED_MTU);
	bed_close(b);
}

/* Binding a bound slot takes it from the buffer that had it. */
static void slot__rebind(void **state)
{
	static uint8_t other[BED_MSG];
	struct bed *b = bed_of(state);

	if (!b->ui[1].rkeyed) {
		assert_int_equal(
			bed_ops(b, 1)->slot_bind(b->qp[1], BED_SLOT, 0, other, sizeof(other), NULL),
			0);
		memset(other, BED_FILL, sizeof(other));
	}
	bed_give(b, 0, BED_MSG);
	bed_give(b, 0, BED_MSG);
	bed_post_one(b, bed_write(b, 0, 2 * BED_MTU));
	bed_wait(b, &b->seen[1].nplaced, 2);
	bed_settle(b);
	bed_check(b, 0, 2 * BED_MTU);
	assert_true(b->ui[1].rkeyed || (other[0] == BED_FILL && other[BED_MTU] == BED_FILL));
	bed_close(b);
}

static void slot__refusals(void **state)
{
	struct bed *b = bed_of(state);
	const struct sdr_uc_ops *o = bed_ops(b, 1);

	assert_int_equal(o->slot_bind(b->qp[1], 1u << 10, 0, b->dst, 1, NULL), -EINVAL);
	assert_int_equal(o->slot_bind(b->qp[1], 0, 0, b->dst, BED_MSG + 1, NULL), -EINVAL);
	o->slot_unbind(b->qp[1], 1u << 10);
	o->slot_unbind(b->qp[1], 3); /* never bound */
	bed_close(b);
}

/* ---- order ----------------------------------------------------------------------------------- */

static void order_bind(struct bed *b)
{
	if (b->seen[1].nctl == 1)
		assert_int_equal(
			bed_ops(b, 1)->slot_bind(b->qp[1], BED_SLOT, 0, b->dst, BED_MSG, NULL), 0);
}

/* Data behind a control datagram are placed after it was reported: it may bind their slot. */
static void order__control_before_data(void **state)
{
	static const uint8_t text[] = "bind it";
	struct bed *b = bed_of(state);
	struct sdr_uc_tx v[2];

	if (b->row->flags & UC_CONFORM_REORDERS)
		goto out;
	bed_give(b, 0, BED_MSG); /* a grant, and the slot first looked at */
	bed_ops(b, 1)->slot_unbind(b->qp[1], BED_SLOT);
	b->on_ctl = order_bind;
	v[0] = bed_ctl(b, text, sizeof(text));
	v[1] = bed_write(b, 0, PKTS * BED_MTU);
	bed_post(b, v, 2);
	bed_wait(b, &b->seen[1].nplaced, PKTS);
	bed_settle(b);
	bed_check_placed(b, 0, PKTS);
	bed_check(b, 0, PKTS * BED_MTU);
out:
	bed_close(b);
}

/* ---- grants ---------------------------------------------------------------------------------- */

/* Data under a grant may come before their slot is bound: they are placed all the same. */
static void grant__ends_and_begins_again(void **state)
{
	struct bed *b = bed_of(state);
	struct sdr_uc_grant old;
	struct sdr_uc_tx t;

	if (!b->ui[1].rkeyed)
		goto out;
	bed_give(b, 0, BED_MSG);
	old = b->grant;
	assert_non_null(old.impl);
	bed_take_back(b);
	bed_give(b, 1, BED_MSG);
	t = bed_write(b, 0, BED_MTU);
	t.w.va = old.va; /* under the one that ended */
	t.w.rkey = old.rkey;
	bed_post_one(b, t);
	bed_settle(b);
	bed_check(b, 0, 0);
	bed_forget(b);
	t = bed_write(b, 0, BED_MTU);
	t.gen = 1;
	bed_post_one(b, t);
	bed_wait(b, &b->seen[1].nplaced, 1);
	bed_check(b, 0, BED_MTU);
out:
	bed_close(b);
}

/* Grants may run out; one that ends makes room for another. */
static void grant__runs_out(void **state)
{
	struct bed *b = bed_of(state);
	struct sdr_uc_grant g[GRANTS], more;
	int n = 0, ret = 0;

	while (b->ui[1].rkeyed && n < (int)GRANTS && !ret) {
		ret = bed_ops(b, 1)->grant(b->qp[1], b->dst, BED_MTU, NULL, NULL, &g[n]);
		n += !ret;
	}
	if (ret) {
		assert_true(n > 0 && (ret == -EAGAIN || ret == -ENOMEM));
		bed_ops(b, 1)->grant_end(b->qp[1], &g[--n]);
		assert_null(g[n].impl);
		assert_int_equal(bed_ops(b, 1)->grant(b->qp[1], b->dst, BED_MTU, NULL, NULL, &more),
				 0);
		g[n++] = more;
	}
	while (n--)
		bed_ops(b, 1)->grant_end(b->qp[1], &g[n]);
	bed_close(b);
}

const struct uc_clause uc_clauses_memory[] = {
	UC_CLAUSE(placement__each_packet_where_it_belongs),
	UC_CLAUSE(placement__a_run_from_the_middle),
	UC_CLAUSE(placement__an_empty_packet),
	UC_CLAUSE(placement__nothing_damaged),
	UC_CLAUSE(placement__bounds),
	UC_CLAUSE(slot__unbound),
	UC_CLAUSE(slot__nothing_after_unbind),
	UC_CLAUSE(slot__generations_and_laps),
	UC_CLAUSE(slot__every_generation),
	UC_CLAUSE(slot__rebind),
	UC_CLAUSE(slot__refusals),
	UC_CLAUSE(order__control_before_data),
	UC_CLAUSE(grant__ends_and_begins_again),
	UC_CLAUSE(grant__runs_out),
	{ NULL, NULL },
};
