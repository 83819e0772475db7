/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Calls, and bonds: a few bytes for whoever stands above the peer's endpoint, whom a bonded
 * endpoint hears, and how it learns that its peer is gone.
 */
#include "../bed/bed.h"

#define LEN 200u

static struct {
	struct sdr_rel_cbs cbs; /* the bed's, and ours */
	uint32_t calls, gone;	/* seen, by all nodes */
	int answer, why;
	uint8_t said[LEN];
	struct sdr_peer *who;
} T;

static int on_call(void *user, struct sdr_peer *peer, const uint8_t *buf, size_t len)
{
	struct bed_node *nd = user;

	assert_in_range(len, 1, LEN);
	memcpy(T.said, buf, len);
	T.calls++;
	T.who = sdr_rel_peer_find(nd->ep->rel, sdr_peer_addr(peer));
	assert_ptr_equal(T.who, peer);
	return T.answer;
}

static void on_gone(void *user, struct sdr_peer *peer, int err)
{
	(void)user;
	T.gone++;
	T.who = peer;
	T.why = err;
}

static struct sdr_rel *rel_of(struct bed *b, uint32_t node)
{
	return b->node[node].ep->rel;
}

/* Of a peer that the test has got; the bed is to look at the node's deadline again. */
static struct sdr_peer *bond(struct bed *b, uint32_t node, uint8_t bits)
{
	struct sdr_peer *peer = bed_peer(b, node, 1 - node);

	sdr_rel_bond(peer, bits);
	b->node[node].ep->dirty = true;
	return peer;
}

/* The first `know` of two endpoints take calls. */
static struct bed *pair(double loss, double dup, uint32_t know)
{
	struct bed *b = bed_new(2);

	memset(&T, 0, sizeof(T));
	b->link.loss = loss;
	b->link.dup = dup;
	bed_boot(b);
	for (uint32_t i = 0; i < know; i++) {
		T.cbs = *rel_of(b, i)->cbs;
		T.cbs.call = on_call;
		T.cbs.gone = on_gone;
		rel_of(b, i)->cbs = &T.cbs;
		rel_of(b, i)->features |= SDR_FEATURE_CALL;
	}
	return b;
}

static struct bed_op *call(struct bed *b, uint32_t node, size_t len, uint32_t seed)
{
	return bed_post(b, node, 1 - node, (struct sdr_rel_wr){ .kind = SDR_REL_CALL },
			bed_buf(b, len, seed), len);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void call__is_answered(void **state)
{
	struct bed *b = pair(0, 0, 2);
	struct bed_op *op;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) { /* the first opens the connection */
		T.answer = i & 1 ? SDR_REL_ERR_NOBODY : SDR_REL_OK;
		op = call(b, i & 1, LEN, i + 1);
		bed_wait(b, op, BED_SEC);
		assert_int_equal(op->e.kind, SDR_REL_CALL);
		assert_true(bed_same(T.said, LEN, i + 1));
		if (i & 1)
			bed_assert_err(op, SDR_REL_ERR_NOBODY);
		else
			bed_assert_ok(op);
	}
	assert_int_equal(T.calls, 4);
	bed_assert_no_repair(b);
	bed_close(b);
}

static void call__is_taken_once_whatever_is_lost(void **state)
{
	enum { N = 200 };
	struct bed *b = pair(0.1, 0.2, 2);
	struct bed_op *op[N];

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		op[i] = call(b, i & 1, 1 + i % LEN, i);
		if (i % 16 == 15)
			bed_run(b, BED_RTT / 3);
	}
	bed_wait_all(b, 60 * BED_SEC);
	for (uint32_t i = 0; i < N; i++)
		bed_assert_ok(op[i]);
	assert_int_equal(T.calls, N);
	bed_close(b);
}

/* Nobody above the peer takes calls: it is never sent. */
static void call__needs_the_feature(void **state)
{
	struct bed *b = pair(0, 0, 1);
	struct bed_op *op = call(b, 0, LEN, 1), *big;

	(void)state;
	bed_wait(b, op, BED_SEC);
	bed_assert_err(op, SDR_REL_ERR_NOBODY);
	assert_int_equal(bed_stats(b, 1).pkts_bad, 0);
	assert_int_equal(T.calls, 0);
	big = call(b, 0, 100000, 1);
	bed_wait(b, big, BED_SEC);
	bed_assert_err(big, SDR_REL_ERR_NOMEM);
	bed_close(b);
}

/* One that closes takes no more, and says so. */
static void call__to_one_that_closes(void **state)
{
	struct bed *b = pair(0, 0, 2);
	struct bed_op *op;

	(void)state;
	bed_warm(b, 0, 1);
	rel_of(b, 1)->closing = true;
	op = call(b, 0, LEN, 1);
	bed_wait(b, op, 5 * BED_SEC);
	assert_true(op->e.err != 0);
	assert_int_equal(T.calls, 0);
	rel_of(b, 1)->closing = false;
	bed_close(b);
}

/* ---- bonds ----------------------------------------------------------------------------------- */

static void bond__says_who_is_heard(void **state)
{
	struct bed *b = pair(0, 0, 2);
	struct bed_op *op, *r;

	(void)state;
	rel_of(b, 1)->msg->bonded = true;
	r = bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
	op = call(b, 0, LEN, 1);
	bed_wait(b, op, BED_SEC);
	bed_assert_ok(op); /* anybody may call */
	op = bed_send(b, 0, 1, bed_buf(b, LEN, 2), LEN, 0);
	bed_wait(b, op, BED_SEC);
	bed_assert_err(op, SDR_REL_ERR_RESTARTED); /* its connection was ended there */
	assert_int_equal(r->n, 0);
	bond(b, 1, SDR_BOND_HEAR);
	op = bed_send(b, 0, 1, bed_buf(b, LEN, 3), LEN, 0);
	bed_wait(b, op, BED_SEC);
	bed_assert_ok(op);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(r);
	/* the bond was with that connection: whoever comes afterwards has none */
	bed_crash(b, 0);
	bed_boot_node(b, 0);
	r = bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
	op = bed_send(b, 0, 1, bed_buf(b, LEN, 4), LEN, 0);
	bed_run(b, 20 * BED_RTT);
	assert_int_equal(T.gone, 1);
	assert_int_equal(T.why, SDR_REL_ERR_RESTARTED);
	bed_assert_err(op, SDR_REL_ERR_RESTARTED);
	assert_int_equal(r->n, 0);
	sdr_rel_recv_cancel(rel_of(b, 1));
	bed_assert_err(r, SDR_REL_ERR_CANCELED);
	bed_close(b);
}

/* Nothing goes on: the end is seen all the same, and while the peer lives there is none. */
static void bond__watches(void **state)
{
	struct bed *b = pair(0, 0, 2);
	struct sdr_peer *peer;

	(void)state;
	bed_warm(b, 0, 1);
	peer = bond(b, 0, SDR_BOND_WATCH);
	bed_run(b, 200 * BED_SEC);
	assert_int_equal(T.gone, 0);
	bed_drop(b, 1, BED_ALL, 0, UINT64_MAX);
	bed_run(b, 100 * BED_SEC);
	assert_int_equal(T.gone, 1);
	assert_ptr_equal(T.who, peer);
	assert_int_equal(T.why, SDR_REL_ERR_STOPPED);
	assert_int_equal(peer->bond, 0);
	bed_close(b);
}

/* The one who hangs up cancels what it has posted; the other hears that it was closed. */
static void bond__hangs_up(void **state)
{
	struct bed *b = pair(0, 0, 2);
	struct bed_op *op, *promised, *r, *back;
	struct sdr_peer *peer;

	(void)state;
	bed_warm(b, 0, 1);
	peer = bond(b, 0, SDR_BOND_WATCH | SDR_BOND_HEAR);
	bond(b, 1, SDR_BOND_WATCH | SDR_BOND_HEAR);
	r = bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
	bed_drop(b, 0, BED_REC, 0, 1); /* it takes a while */
	promised = bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN, SDR_REL_F_INJECT);
	op = bed_send(b, 0, 1, bed_buf(b, 300000, 2), 300000, 0);
	rel_of(b, 0)->msg->bonded = true;
	back = bed_send(b, 1, 0, bed_buf(b, LEN, 3), LEN, 0); /* on its way meanwhile */
	sdr_rel_hangup(peer);
	b->node[0].ep->dirty = true;
	bed_assert_err(op, SDR_REL_ERR_CANCELED);
	bed_run(b, 5 * BED_SEC);
	bed_assert_ok(promised);
	bed_assert_ok(r);
	bed_assert_ok(back);
	r = bed_recv(b, 0, bed_buf(b, LEN, 0), LEN); /* it came before the end */
	bed_assert_ok(r);
	rel_of(b, 0)->msg->bonded = false;
	assert_int_equal(T.gone, 1);
	assert_int_equal(T.why, SDR_REL_ERR_CLOSED);
	assert_ptr_equal(T.who, bed_peer(b, 1, 0));
	assert_null(bed_conn(b, 0, 1));
	assert_null(bed_conn(b, 1, 0));
	sdr_rel_hangup(peer); /* there is nothing to end */
	bed_warm(b, 0, 1);    /* and nothing keeps a new one from being made */
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call__is_answered),
		cmocka_unit_test(call__is_taken_once_whatever_is_lost),
		cmocka_unit_test(call__needs_the_feature),
		cmocka_unit_test(call__to_one_that_closes),
		cmocka_unit_test(bond__says_who_is_heard),
		cmocka_unit_test(bond__watches),
		cmocka_unit_test(bond__hangs_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
