/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_EP_MSG: what goes over its connections, who is heard, what is kept at the end, and many
 * connections at a time, also where packets are lost.
 */
#include "test_fi_msg_util.h"
#include <rdma/fi_atomic.h>

#define BIG (300 * 1024) /* bytes: goes as bulk data */

/* ---- all that a reliable endpoint does ------------------------------------------------------- */

static void moves(enum fi_progress progress)
{
	static const size_t sizes[] = { 0, 1, 1000, 5000, BIG };
	struct fid_cntr *sent, *written;
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_tagged_entry c;
	struct msg_listener l;
	struct msg_end a, b;
	struct fid_mr *mr;
	struct msg_event ev;
	char *buf = malloc(2 * BIG), *far = buf + BIG;

	msg_open(&l, progress);
	msg_listen(&l);
	assert_ok(fi_cntr_open(l.domain, &attr, &sent, NULL));
	assert_ok(fi_cntr_open(l.domain, &attr, &written, NULL));
	assert_ok(fi_mr_reg(l.domain, far, BIG, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 42, 0, &mr,
			    NULL));
	/* as msg_pair, with counters */
	a.eq = msg_eq(l.fabric);
	assert_ok(fi_cq_open(l.domain, &(struct fi_cq_attr){ .format = FI_CQ_FORMAT_TAGGED }, &a.cq,
			     NULL));
	assert_ok(fi_endpoint(l.domain, l.info, &a.ep, &a));
	assert_ok(fi_ep_bind(a.ep, &a.eq->fid, 0));
	assert_ok(fi_ep_bind(a.ep, &a.cq->fid, FI_TRANSMIT | FI_RECV));
	assert_ok(fi_ep_bind(a.ep, &sent->fid, FI_SEND));
	assert_ok(fi_ep_bind(a.ep, &written->fid, FI_WRITE));
	assert_ok(fi_connect(a.ep, &l.name, NULL, 0));
	msg_expect(l.eq, FI_CONNREQ, &l.pep->fid, &ev);
	msg_end_open(&l, ev.entry.info, &b);
	fi_freeinfo(ev.entry.info);
	assert_ok(fi_accept(b.ep, NULL, 0));
	msg_expect(a.eq, FI_CONNECTED, &a.ep->fid, &ev);
	msg_expect(b.eq, FI_CONNECTED, &b.ep->fid, &ev);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t n = sizes[i];

		test_fill(buf, n, (uint32_t)i);
		memset(far, 0, n);
		/* the address means nothing */
		assert_ok(fi_recv(b.ep, far, n, NULL, FI_ADDR_UNSPEC, far));
		assert_ok(fi_send(a.ep, buf, n, NULL, 12345, buf));
		msg_wait_ok(&b, &a, &c);
		assert_ptr_equal(c.op_context, far);
		assert_int_equal(c.flags, FI_RECV | FI_MSG);
		assert_int_equal(c.len, n);
		assert_true(test_same(far, n, (uint32_t)i));
		msg_wait_ok(&a, &b, &c);
		assert_ptr_equal(c.op_context, buf);
		memset(far, 0, n);
		assert_ok(fi_trecv(b.ep, far, n, NULL, 7, 100 + i, 0, far));
		assert_ok(fi_tsenddata(a.ep, buf, n, NULL, 99, 0, 100 + i, NULL));
		msg_wait_ok(&b, &a, &c);
		assert_int_equal(c.flags, FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA);
		assert_int_equal(c.data, 99);
		assert_int_equal(c.tag, 100 + i);
		assert_true(test_same(far, n, (uint32_t)i));
		msg_wait_ok(&a, &b, &c);
		if (!n)
			continue;
		memset(far, 0, n);
		assert_ok(fi_writedata(a.ep, buf, n, NULL, 55, FI_ADDR_UNSPEC, 0, 42, NULL));
		msg_wait_ok(&b, &a, &c);
		assert_int_equal(c.flags, FI_REMOTE_WRITE | FI_RMA | FI_REMOTE_CQ_DATA);
		assert_int_equal(c.data, 55);
		assert_true(test_same(far, n, (uint32_t)i));
		msg_wait_ok(&a, &b, &c);
		memset(buf, 0, n);
		assert_ok(fi_read(a.ep, buf, n, NULL, 0, 0, 42, NULL));
		msg_wait_ok(&a, &b, &c);
		assert_int_equal(c.flags, FI_READ | FI_RMA);
		assert_true(test_same(buf, n, (uint32_t)i));
	}
	assert_int_equal(fi_cntr_read(sent), 2 * sizeof(sizes) / sizeof(sizes[0]));
	assert_int_equal(fi_cntr_read(written), sizeof(sizes) / sizeof(sizes[0]) - 1);
	assert_ok(fi_close(&mr->fid));
	msg_end_close(&a);
	msg_end_close(&b);
	assert_ok(fi_close(&sent->fid));
	assert_ok(fi_close(&written->fid));
	msg_close(&l);
	free(buf);
}

static void data__moves(void **state)
{
	(void)state;
	moves(FI_PROGRESS_UNSPEC);
}

static void data__moves_by_hand(void **state)
{
	(void)state;
	moves(FI_PROGRESS_MANUAL);
}

/* Atomics, which follow each other where that was asked for. */
static void data__atomics(void **state)
{
	enum { N = 50 };
	uint64_t far[2] = { 0 }, one = 1, old = 0, last = 7;
	struct fi_cq_tagged_entry c;
	struct msg_listener l;
	struct msg_end a, b;
	struct fid_mr *mr;

	(void)state;
	msg_open(&l, FI_PROGRESS_UNSPEC);
	l.info->tx_attr->msg_order |= FI_ORDER_ATOMIC_WAW | FI_ORDER_ATOMIC_RAW;
	msg_listen(&l);
	assert_ok(fi_mr_reg(l.domain, far, sizeof(far), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 42, 0,
			    &mr, NULL));
	msg_pair(&l, &a, &b);
	for (uint64_t i = 0; i < N; i++) {
		assert_ok(fi_atomic(a.ep, &one, 1, NULL, FI_ADDR_UNSPEC, 0, 42, FI_UINT64, FI_SUM,
				    NULL));
		assert_ok(fi_fetch_atomic(a.ep, &one, 1, NULL, &old, NULL, 0, 0, 42, FI_UINT64,
					  FI_SUM, NULL));
		for (int k = 0; k < 2; k++) {
			msg_wait_ok(&a, &b, &c);
			assert_true(c.flags & FI_ATOMIC);
		}
		assert_true(old == 2 * i + 1);
	}
	assert_ok(fi_inject_atomic(a.ep, &last, 1, 0, 8, 42, FI_UINT64, FI_ATOMIC_WRITE));
	assert_ok(fi_compare_atomic(a.ep, &one, 1, NULL, &last, NULL, &old, NULL, 0, 8, 42,
				    FI_UINT64, FI_CSWAP, NULL));
	msg_wait_ok(&a, &b, &c);
	assert_true(old == last && far[0] == 2 * N && far[1] == one);
	assert_ok(fi_shutdown(a.ep, 0));
	assert_int_equal(fi_atomic(a.ep, &one, 1, NULL, 0, 0, 42, FI_UINT64, FI_SUM, NULL),
			 -FI_ENOTCONN);
	msg_end_close(&a);
	msg_end_close(&b);
	assert_ok(fi_close(&mr->fid));
	msg_close(&l);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* What was reported sent before the end can be received after it, and nothing else. */
static void end__keeps_what_came(void **state)
{
	enum { N = 20 };
	struct fi_cq_tagged_entry c;
	struct msg_listener l;
	struct msg_event ev;
	struct msg_end a, b;
	uint32_t v;

	(void)state;
	msg_open(&l, FI_PROGRESS_UNSPEC);
	msg_listen(&l);
	msg_pair(&l, &a, &b);
	for (v = 0; v < N; v++) {
		assert_ok(fi_send(a.ep, &v, sizeof(v), NULL, 0, NULL));
		msg_wait_ok(&a, &b, &c);
	}
	assert_ok(fi_shutdown(a.ep, 0));
	msg_expect(b.eq, FI_SHUTDOWN, &b.ep->fid, &ev);
	for (uint32_t i = 0; i < N; i++) {
		v = UINT32_MAX;
		assert_ok(fi_recv(b.ep, &v, sizeof(v), NULL, 0, &v));
		msg_wait_ok(&b, NULL, &c);
		assert_int_equal(v, i);
	}
	assert_ok(fi_recv(b.ep, &v, sizeof(v), NULL, 0, &v));
	msg_wait_err(&b, NULL, FI_ECANCELED, &v);
	msg_end_close(&a);
	msg_end_close(&b);
	msg_close(&l);
}

/* What is under way when it ends is reported, once each, at both ends. */
static void end__reports_what_was_posted(void **state)
{
	struct fi_cq_err_entry err;
	struct fi_cq_tagged_entry c;
	struct msg_listener l;
	struct msg_event ev;
	struct msg_end a, b;
	char *buf = calloc(2, BIG);
	struct iovec iov = { buf, BIG };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = buf };

	(void)state;
	msg_open(&l, FI_PROGRESS_UNSPEC);
	msg_listen(&l);
	msg_pair(&l, &a, &b);
	/* meets no receive; nor is it over when it is kept there */
	assert_ok(fi_sendmsg(a.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	assert_ok(fi_trecv(b.ep, buf + BIG, BIG, NULL, 0, 1, 0, buf + BIG));
	assert_ok(fi_trecv(a.ep, buf + BIG, BIG, NULL, 0, 1, 0, buf + BIG));
	assert_ok(fi_shutdown(a.ep, 0));
	for (int k = 0; k < 2; k++) {
		assert_int_equal(fi_cq_read(a.cq, &c, 1), -FI_EAVAIL);
		memset(&err, 0, sizeof(err));
		assert_int_equal(fi_cq_readerr(a.cq, &err, 0), 1);
		assert_int_equal(err.err, FI_ECANCELED);
	}
	assert_int_equal(fi_cq_read(a.cq, &c, 1), -FI_EAGAIN);
	msg_expect(b.eq, FI_SHUTDOWN, &b.ep->fid, &ev);
	msg_wait_err(&b, &a, FI_ECANCELED, buf + BIG);
	assert_int_equal(fi_cq_read(b.cq, &c, 1), -FI_EAGAIN);
	msg_end_close(&a);
	msg_end_close(&b);
	msg_close(&l);
	free(buf);
}

/* ---- who is heard ---------------------------------------------------------------------------- */

static void heard__the_peer_alone(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM };
	struct fi_cq_tagged_entry c;
	struct fi_cq_err_entry err;
	struct msg_listener l;
	struct msg_end a, b;
	struct test_pair p;
	struct fid_mr *mr;
	size_t len;
	char buf[64] = "", mem[64] = "";

	(void)state;
	msg_open(&l, FI_PROGRESS_UNSPEC);
	msg_listen(&l);
	msg_pair(&l, &a, &b);
	assert_ok(fi_mr_reg(l.domain, mem, sizeof(mem), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 7, 0,
			    &mr, NULL));
	assert_ok(fi_recv(b.ep, buf, sizeof(buf), NULL, 0, NULL));
	test_pair_open(&p, &o);
	for (int k = 0; k < 6;
	     k++) { /* to the one that is connected, and to the one that listens */
		struct sockaddr_storage name = l.name;

		len = sizeof(name);
		if (k & 1)
			assert_ok(fi_getname(&b.ep->fid, &name, &len));
		assert_int_equal(fi_av_insert(p.av, &name, 1, &p.s[0].peer, 0, NULL), 1);
		if (k < 2)
			assert_ok(fi_send(p.s[0].ep, "stranger", 8, NULL, p.s[0].peer, NULL));
		else if (k < 4)
			assert_ok(
				fi_write(p.s[0].ep, "stranger", 8, NULL, p.s[0].peer, 0, 7, NULL));
		else
			assert_ok(fi_read(p.s[0].ep, mem, 8, NULL, p.s[0].peer, 0, 7, NULL));
		test_wait_err(&p, 0, &err);
		assert_true(err.err == FI_ECONNRESET || err.err == FI_ECONNABORTED);
	}
	assert_int_equal(mem[0], 0);
	assert_int_equal(fi_cq_read(b.cq, &c, 1), -FI_EAGAIN);
	msg_no_event(b.eq);
	assert_ok(fi_send(a.ep, "friend", 7, NULL, 0, NULL));
	msg_wait_ok(&b, &a, &c);
	assert_string_equal(buf, "friend");
	test_pair_close(&p);
	msg_end_close(&a);
	msg_end_close(&b);
	assert_ok(fi_close(&mr->fid));
	msg_close(&l);
}

/* ---- many ------------------------------------------------------------------------------------ */

#define STORM 40u

/* All at once; each server tells its client what the client said when it called. */
static void storm(void)
{
	struct msg_end *a = calloc(STORM, sizeof(*a)), *b = calloc(STORM, sizeof(*b));
	uint32_t *said = calloc(STORM, sizeof(*said)), *got = calloc(STORM, sizeof(*got));
	struct fi_cq_tagged_entry c;
	struct msg_listener l;
	struct msg_event ev;

	msg_open(&l, FI_PROGRESS_UNSPEC);
	msg_listen(&l);
	for (uint32_t k = 0; k < STORM; k++) {
		msg_end_open(&l, l.info, &a[k]);
		assert_ok(fi_recv(a[k].ep, &got[k], sizeof(got[k]), NULL, 0, NULL));
		assert_ok(fi_connect(a[k].ep, &l.name, &k, sizeof(k)));
	}
	for (uint32_t k = 0; k < STORM; k++) {
		assert_int_equal(msg_expect(l.eq, FI_CONNREQ, &l.pep->fid, &ev), sizeof(said[k]));
		memcpy(&said[k], ev.data, sizeof(said[k]));
		msg_end_open(&l, ev.entry.info, &b[k]);
		fi_freeinfo(ev.entry.info);
		assert_ok(fi_accept(b[k].ep, &said[k], sizeof(said[k])));
	}
	msg_no_event(l.eq);
	for (uint32_t k = 0; k < STORM; k++) {
		msg_expect(b[k].eq, FI_CONNECTED, &b[k].ep->fid, &ev);
		assert_ok(fi_send(b[k].ep, &said[k], sizeof(said[k]), NULL, 0, NULL));
	}
	for (uint32_t k = 0; k < STORM; k++) {
		assert_int_equal(msg_expect(a[k].eq, FI_CONNECTED, &a[k].ep->fid, &ev), sizeof(k));
		assert_memory_equal(ev.data, &k, sizeof(k));
		msg_wait_ok(&a[k], NULL, &c);
		assert_int_equal(got[k], k);
		msg_wait_ok(&b[k], NULL, &c);
	}
	for (uint32_t k = 0; k < STORM; k++)
		assert_ok(fi_shutdown(a[k].ep, 0));
	for (uint32_t k = 0; k < STORM; k++) {
		msg_expect(a[k].eq, FI_SHUTDOWN, &a[k].ep->fid, &ev);
		msg_expect(b[k].eq, FI_SHUTDOWN, &b[k].ep->fid, &ev);
	}
	for (uint32_t k = 0; k < STORM; k++) {
		msg_end_close(&a[k]);
		msg_end_close(&b[k]);
	}
	msg_close(&l);
	free(a);
	free(b);
	free(said);
	free(got);
}

static void storm__of_connections(void **state)
{
	(void)state;
	storm();
}

static void storm__with_losses(void **state)
{
	(void)state;
	setenv("FI_SDR_FAULT", "drop=0.02,dup=0.01,reorder=0.05,seed=3", 1);
	storm();
	moves(FI_PROGRESS_UNSPEC);
	unsetenv("FI_SDR_FAULT");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data__moves),
		cmocka_unit_test(data__moves_by_hand),
		cmocka_unit_test(data__atomics),
		cmocka_unit_test(end__keeps_what_came),
		cmocka_unit_test(end__reports_what_was_posted),
		cmocka_unit_test(heard__the_peer_alone),
		cmocka_unit_test(storm__of_connections),
		cmocka_unit_test(storm__with_losses),
	};

	test_env();
	return cmocka_run_group_tests_name("fi_msg_data", tests, NULL, NULL);
}
