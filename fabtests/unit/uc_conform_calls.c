/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Clauses on the calls: datagrams, batches, registrations, statistics, sleeping, QPs, closing.
 * Each opens a bed of its own, so that one that fails spoils no other.
 */
#include <poll.h>

#include "uc_conform_bed.h"

#define PKTS 20u /* of a message that is not meant to be long */

/* ---- control --------------------------------------------------------------------------------- */

/* The longest datagram, from the address at which its sender is met. */
static void ctl__longest_and_from_whom(void **state)
{
	struct bed *b = bed_of(state);
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

/* Longer ones are probes of the path and nothing else: what is not marked as one is lost. */
static void ctl__a_probe_may_be_longer(void **state)
{
	struct bed *b = bed_of(state);
	uint32_t most = b->ui[0].probe_max;
	struct sdr_uc_tx t;

	if (most <= b->ui[0].ctl_max) {
		assert_true(!most || most == b->ui[0].ctl_max);
		bed_close(b);
		skip();
	}
	assert_true(most <= SDR_PROBE_MAX && most <= BED_MSG);
	assert_true(b->ui[0].data_over && b->ui[0].ctl_over);
	bed_post_one(b, bed_ctl(b, b->src, most));
	t = bed_ctl(b, b->src, most + 4);
	t.flags = SDR_UC_F_PROBE;
	bed_post_one(b, t);
	bed_settle(b);
	assert_int_equal(b->seen[1].nctl, 0);
	t.len = most;
	bed_post_one(b, t);
	bed_wait(b, &b->seen[1].nctl, 1);
	assert_int_equal(b->seen[1].ctl_len, most);
	assert_memory_equal(b->seen[1].ctl, b->src, most);
	bed_close(b);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Runs and datagrams in one call, more than the network takes at once: all of it arrives. */
static void post__a_batch_of_everything(void **state)
{
	static const uint8_t text[] = "between";
	struct bed *b = bed_of(state);
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
	struct bed *b = bed_of(state);
	const struct sdr_uc_ops *o = bed_ops(b, 0);
	uint64_t until;
	struct sdr_uc_tx t;
	void *mr = NULL;

	assert_int_equal(o->mr_reg(b->net.uc[0], b->src, sizeof(b->src), NULL, &mr), 0);
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
	struct bed *b = bed_of(state);
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
	struct bed *b = bed_of(state);
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

/* ---- QPs ------------------------------------------------------------------------------------- */

static void qp__refusals(void **state)
{
	struct bed *b = bed_of(state);
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
	struct bed *b = bed_of(state);
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
	struct bed *b = bed_of(state);
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
	static uint8_t then[BED_ROOM];
	struct bed *b = bed_of(state);
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
	struct bed *b = bed_of(state);

	bed_give(b, 0, BED_MSG);
	bed_post_one(b, bed_write(b, 0, PKTS * BED_MTU));
	bed_post_one(b, bed_ctl(b, text, sizeof(text)));
	bed_close(b);
}

/* What an engine holds back leaves when it is drained: its sender is not polled any more. */
static void drain__sends_what_is_held(void **state)
{
	static const uint8_t text[] = "held back";
	struct bed *b = bed_of(state);
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
	struct bed *b = bed_of(state);

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

const struct uc_clause uc_clauses_calls[] = {
	UC_CLAUSE(ctl__longest_and_from_whom),
	UC_CLAUSE(ctl__a_probe_may_be_longer),
	UC_CLAUSE(post__a_batch_of_everything),
	UC_CLAUSE(post__out_of_a_registration),
	UC_CLAUSE(stats__count_what_went),
	UC_CLAUSE(wake__descriptor_or_deadline),
	UC_CLAUSE(qp__refusals),
	UC_CLAUSE(qp__connected_again),
	UC_CLAUSE(qp__two_of_one_engine),
	UC_CLAUSE(qp__destroyed_with_packets_under_way),
	UC_CLAUSE(close__with_everything_under_way),
	UC_CLAUSE(drain__sends_what_is_held),
	UC_CLAUSE(qp__breaks_alone),
	{ NULL, NULL },
};
