/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The clauses.  Each opens a bed of its own, so that one that fails harms no other.  What an
 * engine may leave out (grants, a descriptor, telling late packets) it says itself, not the row;
 * what its network may add (repetition, reordering) is the row's.
 */
#include <poll.h>
#include <stdio.h>
#include <time.h>

#include "uc_conform.h"
#include "uc_conform_bed.h"

#define PKTS   20u /* of a message that is not meant to be long */
#define GRANTS 32u /* that are open at a time */

static struct bed bed; /* of the clause that runs: some 100 KiB */

static struct bed *open_bed(void **state)
{
	const struct uc_conform *row = *state;
	int ret = bed_open(&bed, row);

	if (ret == 77)
		skip();
	assert_int_equal(ret, 0);
	return &bed;
}

/* ---- placement ------------------------------------------------------------------------------- */

/* Every packet of a run is placed where it belongs and reported with what its sender gave it. */
static void placement__each_packet_where_it_belongs(void **state)
{
	uint32_t len = (PKTS - 1) * BED_MTU + 17;
	struct bed *b = open_bed(state);
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
	struct bed *b = open_bed(state);

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
	struct bed *b = open_bed(state);

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
	struct bed *b = open_bed(state);
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
	struct bed *b = open_bed(state);

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
	struct bed *b = open_bed(state);
	struct sdr_uc_stats st;

	bed_give(b, 0, BED_MSG);
	bed_take_back(b);
	bed_post_one(b, bed_write(b, 0, 3 * BED_MTU));
	bed_settle(b);
	bed_check(b, 0, 0);
	bed_ops(b, 1)->stats(b->net.uc[1], &st);
	/* a device that drops a packet for its key does not tell */
	if (!b->ui[1].keyed)
		assert_true(st.pkts_late + b->seen[1].nplaced >= 3);
	assert_int_equal(st.pkts_rx, 0);
	bed_close(b);
}

/* After slot_unbind and grant_end have returned nothing changes, whatever is on its way. */
static void slot__nothing_after_unbind(void **state)
{
	static uint8_t then[sizeof(bed.room)];
	struct bed *b = open_bed(state);

	bed_give(b, 0, BED_MSG);
	bed_post_one(b, bed_write(b, 0, PKTS * BED_MTU));
	bed_turn(b, 0);
	bed_take_back(b);
	memcpy(then, b->room, sizeof(then));
	bed_settle(b);
	assert_memory_equal(b->room, then, sizeof(then));
	bed_close(b);
}

/* A packet of another generation, or of an earlier lap, than the slot's is late. */
static void slot__generations_and_laps(void **state)
{
	struct bed *b = open_bed(state);
	struct sdr_uc_tx t;
	uint32_t use;

	if (b->ui[1].keyed)
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
	bed_give(b, 4, BED_MSG); /* generation 0 again, second lap */
	t = bed_write(b, 0, BED_MTU);
	bed_post_one(b, t);
	bed_settle(b);
	if (!(b->row->flags & UC_CONFORM_ONE_KEY)) {
		assert_int_equal(b->seen[1].nplaced, 0);
		bed_check(b, 0, 0);
	}
	t = bed_write(b, 0, BED_MTU);
	t.w.lap = 1;
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
	struct bed *b = open_bed(state);
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
	struct bed *b = open_bed(state);

	if (!b->ui[1].keyed) {
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
	assert_true(b->ui[1].keyed || (other[0] == BED_FILL && other[BED_MTU] == BED_FILL));
	bed_close(b);
}

static void slot__refusals(void **state)
{
	struct bed *b = open_bed(state);
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
	struct bed *b = open_bed(state);
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

/* ---- control --------------------------------------------------------------------------------- */

/* The longest datagram, from the address at which its sender is met. */
static void ctl__longest_and_from_whom(void **state)
{
	struct bed *b = open_bed(state);
	uint32_t max = b->ui[0].ctl_max;

	bed_post_one(b, bed_ctl(b, b->src, max));
	bed_wait(b, &b->seen[1].nctl, 1);
	assert_int_equal(b->seen[1].ctl_len, max);
	assert_memory_equal(b->seen[1].ctl, b->src, max);
	assert_true(sdr_uc_addr_equal(&b->seen[1].from, &b->addr[0]));
	bed_forget(b);
	bed_post_one(b, bed_ctl(b, b->src, 1));
	bed_wait(b, &b->seen[1].nctl, 1);
	assert_int_equal(b->seen[1].ctl_len, 1);
	bed_close(b);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Runs and datagrams in one call, more than the network takes at once: all of it arrives. */
static void post__a_batch_of_everything(void **state)
{
	static const uint8_t text[] = "between";
	struct bed *b = open_bed(state);
	struct sdr_uc_tx v[48];
	uint32_t i, n = 0;

	bed_give(b, 0, BED_MSG);
	for (i = 0; i < BED_PKTS / 2; i++) {
		v[n] = bed_write(b, 2 * i, 2 * BED_MTU);
		v[n++].channel = i & 1;
		if (i % 2)
			v[n++] = bed_ctl(b, text, sizeof(text));
	}
	assert_true(n <= 48);
	bed_post(b, v, (int)n);
	bed_wait(b, &b->seen[1].nplaced, BED_PKTS);
	bed_wait(b, &b->seen[1].nctl, BED_PKTS / 4);
	bed_settle(b);
	bed_check_placed(b, 0, BED_PKTS);
	bed_check(b, 0, BED_MSG);
	bed_close(b);
}

/* What lies in a registration leaves, though that is released at once. */
static void post__out_of_a_registration(void **state)
{
	struct bed *b = open_bed(state);
	const struct sdr_uc_ops *o = bed_ops(b, 0);
	uint64_t until;
	struct sdr_uc_tx t;
	void *mr = NULL;

	assert_int_equal(o->mr_reg(b->net.uc[0], b->src, sizeof(b->src), &mr), 0);
	bed_give(b, 0, BED_MSG);
	t = bed_write(b, 0, BED_MSG);
	t.mr = mr;
	bed_post_one(b, t);
	o->mr_dereg(b->net.uc[0], mr);
	bed_wait(b, &b->seen[1].nplaced, BED_PKTS);
	bed_settle(b);
	bed_check(b, 0, BED_MSG);
	until = o->now(b->net.uc[0]) + UC_WAIT_NS;
	while (o->reading && o->reading(b->net.uc[0], b->src, sizeof(b->src)))
		assert_true(bed_turn(b, until));
	bed_close(b);
}

static void stats__count_what_went(void **state)
{
	struct bed *b = open_bed(state);
	struct sdr_uc_stats tx, rx;
	static const uint8_t text[] = "one";

	bed_give(b, 0, BED_MSG);
	bed_post_one(b, bed_write(b, 0, PKTS * BED_MTU));
	bed_post_one(b, bed_ctl(b, text, sizeof(text)));
	bed_wait(b, &b->seen[1].nplaced, PKTS);
	bed_wait(b, &b->seen[1].nctl, 1);
	bed_settle(b);
	bed_ops(b, 0)->stats(b->net.uc[0], &tx);
	bed_ops(b, 1)->stats(b->net.uc[1], &rx);
	assert_true(tx.pkts_tx >= PKTS && tx.bytes_tx >= PKTS * BED_MTU && tx.ctl_tx >= 1);
	assert_int_equal(rx.pkts_rx, b->seen[1].nplaced);
	assert_int_equal(rx.bytes_rx, b->seen[1].bytes);
	assert_int_equal(rx.ctl_rx, b->seen[1].nctl);
	assert_int_equal(rx.pkts_late + rx.pkts_bad, 0);
	bed_close(b);
}

/* ---- sleeping -------------------------------------------------------------------------------- */

/* Asleep on the receiver alone, as arm, fd and deadline say: a datagram ends the sleep. */
static void wake__descriptor_or_deadline(void **state)
{
	static const uint8_t text[] = "wake up";
	struct bed *b = open_bed(state);
	const struct sdr_uc_ops *o = bed_ops(b, 1);
	struct sdr_uc *uc = b->net.uc[1];
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	struct pollfd fd = { .events = POLLIN };
	int n = 0;

	bed_settle(b);
	assert_int_equal(o->poll(uc, ev, SDR_UC_POLL_MIN), 0);
	bed_post_one(b, bed_ctl(b, text, sizeof(text)));
	fd.fd = o->fd(uc);
	while (!n) {
		uint64_t now = o->now(uc), due = o->deadline(uc);
		uint64_t sent = bed_ops(b, 0)->deadline(b->net.uc[0]);

		if (sent <= now) /* what fault injection holds back leaves in the sender's poll */
			bed_ops(b, 0)->poll(b->net.uc[0], ev, SDR_UC_POLL_MIN);
		if (!o->arm(uc) && due > now) {
			due = sent < due ? sent : due;
			if (fd.fd < 0) {
				assert_non_null(b->row->sleep);
				b->row->sleep(&b->net,
					      due < now + UC_WAIT_NS ? due : now + UC_WAIT_NS);
				assert_true(o->deadline(uc) <= o->now(uc) ||
					    due < now + UC_WAIT_NS);
			} else {
				uint64_t ms = due == UINT64_MAX || due < now
						      ? UC_WAIT_NS / 1000000u
						      : (due - now) / 1000000u + 1;

				n = poll(&fd, 1, (int)ms);
				assert_true(n > 0 || due != UINT64_MAX);
			}
		}
		n = o->poll(uc, ev, SDR_UC_POLL_MIN);
	}
	assert_int_equal(ev[0].kind, SDR_UC_EV_CTL);
	assert_int_equal(ev[0].len, sizeof(text));
	bed_close(b);
}

/* ---- grants ---------------------------------------------------------------------------------- */

/* Data under a grant may come before their slot is bound: they are placed all the same. */
static void grant__ends_and_begins_again(void **state)
{
	struct bed *b = open_bed(state);
	struct sdr_uc_grant old;
	struct sdr_uc_tx t;

	if (!b->ui[1].keyed)
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
	struct bed *b = open_bed(state);
	struct sdr_uc_grant g[GRANTS], more;
	int n = 0, ret = 0;

	while (b->ui[1].keyed && n < (int)GRANTS && !ret) {
		ret = bed_ops(b, 1)->grant(b->qp[1], b->dst, BED_MTU, NULL, &g[n]);
		n += !ret;
	}
	if (ret) {
		assert_true(n > 0 && (ret == -EAGAIN || ret == -ENOMEM));
		bed_ops(b, 1)->grant_end(b->qp[1], &g[--n]);
		assert_null(g[n].impl);
		assert_int_equal(bed_ops(b, 1)->grant(b->qp[1], b->dst, BED_MTU, NULL, &more), 0);
		g[n++] = more;
	}
	while (n--)
		bed_ops(b, 1)->grant_end(b->qp[1], &g[n]);
	bed_close(b);
}

/* ---- QPs ------------------------------------------------------------------------------------- */

static void qp__refusals(void **state)
{
	struct bed *b = open_bed(state);
	const struct sdr_uc_ops *o = bed_ops(b, 0);
	struct sdr_wire_qp_info peer;
	struct sdr_uc_qp_attr a;
	struct sdr_uc_qp *qp;

#define REFUSED(field, value)                                                   \
	do {                                                                    \
		a = bed_qp_attr(b, 0);                                          \
		a.field = (value);                                              \
		assert_int_equal(o->qp_create(b->net.uc[0], &a, &qp), -EINVAL); \
	} while (0)
	REFUSED(channels, 0);
	REFUSED(channels, SDR_CHANNELS_MAX + 1);
	REFUSED(generations, 0);
	REFUSED(generations, SDR_GENERATIONS_MAX + 1);
	REFUSED(mtu, 0);
	REFUSED(max_msg, 0);
	REFUSED(max_msg, BED_MTU + 1);
	REFUSED(split.user_bits, 3);
#undef REFUSED
	a = bed_qp_attr(b, 0);
	a.mtu = b->ui[0].mtu + 4;
	a.max_msg = 4ull * a.mtu;
	assert_int_equal(o->qp_create(b->net.uc[0], &a, &qp), -EINVAL);
#define DISAGREES(field, value)                                                         \
	do {                                                                            \
		peer = b->qpi[1];                                                       \
		peer.field = (value);                                                   \
		assert_int_equal(o->qp_connect(b->qp[0], &peer, &b->addr[1]), -EPROTO); \
	} while (0)
	DISAGREES(channels, 1);
	DISAGREES(generations, 2);
	DISAGREES(mtu, BED_MTU / 2);
	DISAGREES(max_msg, BED_MSG / 2);
	DISAGREES(split.id_bits, 9);
#undef DISAGREES
	peer = b->qpi[1];
	peer.addr_len = 0;
	assert_int_equal(o->qp_connect(b->qp[0], &peer, NULL), -EDESTADDRREQ);
	/* none of that has touched it */
	bed_give(b, 0, BED_MSG);
	bed_post_one(b, bed_write(b, 0, BED_MTU));
	bed_wait(b, &b->seen[1].nplaced, 1);
	bed_close(b);
}

/* Connecting again before anything was sent changes nothing that the peer knows. */
static void qp__connected_again(void **state)
{
	struct bed *b = open_bed(state);
	struct sdr_wire_qp_info now;

	assert_int_equal(bed_ops(b, 0)->qp_connect(b->qp[0], &b->qpi[1], &b->addr[1]), 0);
	assert_int_equal(bed_ops(b, 1)->qp_connect(b->qp[1], &b->qpi[0], &b->addr[0]), 0);
	bed_ops(b, 0)->qp_info(b->qp[0], &now);
	assert_int_equal(now.qpn, b->qpi[0].qpn);
	assert_int_equal(now.rkey, b->qpi[0].rkey);
	assert_int_equal(now.psn, b->qpi[0].psn);
	bed_ops(b, 0)->qp_readdress(b->qp[0], &b->addr[1]); /* to where it is anyway */
	bed_give(b, 0, BED_MSG);
	bed_post_one(b, bed_write(b, 0, BED_MTU));
	bed_wait(b, &b->seen[1].nplaced, 1);
	bed_check(b, 0, BED_MTU);
	bed_close(b);
}

/* Two QPs of one engine have nothing in common. */
static void qp__two_of_one_engine(void **state)
{
	struct bed *b = open_bed(state);
	struct sdr_uc_qp_attr a = bed_qp_attr(b, 1);
	struct sdr_wire_qp_info info;
	struct sdr_uc_qp *second;
	int mine;

	a.cookie = &mine;
	a.rand[0] ^= 0x55555555u;
	a.rand[1] ^= 0x5555555500005555u;
	assert_int_equal(bed_ops(b, 1)->qp_create(b->net.uc[1], &a, &second), 0);
	bed_ops(b, 1)->qp_info(second, &info);
	assert_int_not_equal(info.qpn, b->qpi[1].qpn);
	assert_int_equal(bed_ops(b, 1)->qp_connect(second, &b->qpi[0], &b->addr[0]), 0);
	bed_give(b, 0, BED_MSG);
	bed_post_one(b, bed_write(b, 0, BED_MTU));
	bed_wait(b, &b->seen[1].nplaced, 1);
	assert_ptr_equal(b->seen[1].cookie, &b->seen[1]);
	bed_ops(b, 1)->qp_destroy(second);
	bed_forget(b);
	bed_post_one(b, bed_write(b, 1, BED_MTU));
	bed_wait(b, &b->seen[1].nplaced, 1);
	bed_check(b, 0, 2 * BED_MTU);
	bed_close(b);
}

/* Of a QP that is gone nothing is reported, whatever is on its way, and nothing is written. */
static void qp__destroyed_with_packets_under_way(void **state)
{
	static uint8_t then[sizeof(bed.room)];
	struct bed *b = open_bed(state);
	struct sdr_uc_tx t;

	bed_give(b, 0, BED_MSG);
	bed_post_one(b, bed_write(b, 0, PKTS * BED_MTU));
	t = bed_write(b, PKTS, PKTS * BED_MTU);
	bed_take_back(b);
	bed_ops(b, 1)->qp_destroy(b->qp[1]);
	b->qp[1] = NULL;
	memcpy(then, b->room, sizeof(then));
	bed_forget(b);
	bed_post_one(b, t);
	bed_settle(b);
	assert_int_equal(b->seen[1].nplaced + b->seen[1].nother, 0);
	assert_memory_equal(b->room, then, sizeof(then));
	bed_close(b);
}

/* An engine may be closed whatever is under way: sent, held back, unread, bound. */
static void close__with_everything_under_way(void **state)
{
	static const uint8_t text[] = "under way";
	struct bed *b = open_bed(state);

	bed_give(b, 0, BED_MSG);
	bed_post_one(b, bed_write(b, 0, PKTS * BED_MTU));
	bed_post_one(b, bed_ctl(b, text, sizeof(text)));
	bed_close(b);
}

/* What an engine holds back leaves when it is drained: its sender is not polled any more. */
static void drain__sends_what_is_held(void **state)
{
	static const uint8_t text[] = "held back";
	struct bed *b = open_bed(state);
	const struct sdr_uc_ops *o = bed_ops(b, 1);
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	struct pollfd fd = { .events = POLLIN };

	fd.fd = o->fd(b->net.uc[1]);
	if (!bed_ops(b, 0)->drain || fd.fd < 0)
		goto out; /* a simulated clock stands still meanwhile */
	bed_settle(b);
	bed_post_one(b, bed_ctl(b, text, sizeof(text)));
	bed_ops(b, 0)->drain(b->net.uc[0], UC_WAIT_NS);
	while (!o->poll(b->net.uc[1], ev, SDR_UC_POLL_MIN)) {
		if (!o->arm(b->net.uc[1]))
			assert_int_equal(poll(&fd, 1, (int)(UC_WAIT_NS / 1000000u)), 1);
	}
	assert_int_equal(ev[0].kind, SDR_UC_EV_CTL);
out:
	bed_close(b);
}

/* A QP that breaks is reported once; its neighbours and the engine live on. */
static void qp__breaks_alone(void **state)
{
	static const uint8_t text[] = "alive";
	struct bed *b = open_bed(state);

	if (!b->row->break_qp)
		goto out;
	assert_int_equal(b->row->break_qp(&b->net, b->qpi[1].qpn), 0);
	bed_wait(b, &b->seen[1].nqp, 1);
	assert_ptr_equal(b->seen[1].cookie, &b->seen[1]);
	bed_give(b, 0, BED_MSG);
	bed_post_one(b, bed_write(b, 0, BED_MTU));
	bed_post_one(b, bed_ctl(b, text, sizeof(text)));
	bed_wait(b, &b->seen[1].nctl, 1);
	bed_settle(b);
	assert_int_equal(b->seen[1].nqp, 1);
	assert_int_equal(b->seen[1].nplaced, 0);
	bed_check(b, 0, 0);
out:
	bed_close(b);
}

/* ---- the runner ------------------------------------------------------------------------------ */

#define CLAUSE(f)      \
	{              \
#f, f, \
	}
static const struct {
	const char *name;
	void (*run)(void **state);
} clauses[] = {
	CLAUSE(placement__each_packet_where_it_belongs),
	CLAUSE(placement__a_run_from_the_middle),
	CLAUSE(placement__an_empty_packet),
	CLAUSE(placement__nothing_damaged),
	CLAUSE(placement__bounds),
	CLAUSE(slot__unbound),
	CLAUSE(slot__nothing_after_unbind),
	CLAUSE(slot__generations_and_laps),
	CLAUSE(slot__every_generation),
	CLAUSE(slot__rebind),
	CLAUSE(slot__refusals),
	CLAUSE(order__control_before_data),
	CLAUSE(ctl__longest_and_from_whom),
	CLAUSE(post__a_batch_of_everything),
	CLAUSE(post__out_of_a_registration),
	CLAUSE(stats__count_what_went),
	CLAUSE(wake__descriptor_or_deadline),
	CLAUSE(grant__ends_and_begins_again),
	CLAUSE(grant__runs_out),
	CLAUSE(qp__refusals),
	CLAUSE(qp__connected_again),
	CLAUSE(qp__two_of_one_engine),
	CLAUSE(qp__destroyed_with_packets_under_way),
	CLAUSE(qp__breaks_alone),
	CLAUSE(drain__sends_what_is_held),
	CLAUSE(close__with_everything_under_way),
};
#define NCLAUSES (sizeof(clauses) / sizeof(clauses[0]))

int uc_conform_run(const struct uc_conform *rows, unsigned int n, int argc, char **argv)
{
	struct CMUnitTest tests[NCLAUSES];
	unsigned int r, opened = 0;
	char names[NCLAUSES][128];
	int failed = 0;
	size_t i;

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	for (r = 0; r < n; r++) {
		struct uc_net net = { .priv = NULL };
		int ret = rows[r].open(&rows[r], &net);

		if (ret == 77) {
			printf("%s: not on this host\n", rows[r].name);
			continue;
		}
		opened++;
		if (!ret) {
			net.uc[0]->ops->close(net.uc[0]);
			net.uc[1]->ops->close(net.uc[1]);
			if (rows[r].close)
				rows[r].close(&net);
		}
		for (i = 0; i < NCLAUSES; i++) {
			snprintf(names[i], sizeof(names[i]), "%s, %s", clauses[i].name,
				 rows[r].name);
			tests[i] = (struct CMUnitTest){
				.name = names[i],
				.test_func = clauses[i].run,
				.initial_state = (void *)(uintptr_t)&rows[r],
			};
		}
		failed += _cmocka_run_group_tests(rows[r].name, tests, NCLAUSES, NULL, NULL);
	}
	return opened ? failed : 77;
}
