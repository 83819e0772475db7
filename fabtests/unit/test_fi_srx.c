/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receives that endpoints share (fi_srx_context): which message takes which, where it is reported,
 * and what threads and endpoints that close do to it.  Two endpoints, "in", have the context; two
 * others, "out", send to them.  Receive k has the context &w.ctx[k].
 */
#include <pthread.h>
#include <stdatomic.h>

#include "test_fi_msg_util.h"

#define N    2
#define CTXS 64

struct world {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_ep *srx;
	struct fid_ep *in[N], *out[N];
	struct fid_cq *in_cq[N], *out_cq;
	struct fid_cntr *cntr; /* receives of in[0] */
	fi_addr_t to_in[N], to_out[N];
	char ctx[CTXS];
	char buf[CTXS][64];
};

static struct world w;

struct opts {
	uint64_t caps, cq_flags, rx_op_flags;
	size_t size;
	uint64_t mode;
};

static struct fid_ep *open_ep(struct fid_cq *cq, uint64_t flags, fi_addr_t *addr, bool shares)
{
	struct sockaddr_storage name;
	size_t len = sizeof(name);
	struct fid_ep *ep;

	w.info->ep_attr->rx_ctx_cnt = shares ? FI_SHARED_CONTEXT : 1;
	assert_ok(fi_endpoint(w.domain, w.info, &ep, NULL));
	assert_ok(fi_ep_bind(ep, &w.av->fid, 0));
	assert_ok(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV | flags));
	if (shares)
		assert_ok(fi_ep_bind(ep, &w.srx->fid, 0));
	if (shares && w.cntr && !w.in[0])
		assert_ok(fi_ep_bind(ep, &w.cntr->fid, FI_RECV));
	assert_ok(fi_enable(ep));
	assert_ok(fi_getname(&ep->fid, &name, &len));
	assert_int_equal(fi_av_insert(w.av, &name, 1, addr, 0, NULL), 1);
	return ep;
}

static void open_world(const struct opts *o)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_cntr_attr cntr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	struct fi_info *h = test_hints(FI_EP_RDM, o->caps);

	memset(&w, 0, sizeof(w));
	h->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	h->mode = o->mode;
	h->rx_attr->size = o->size;
	w.info = test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, h);
	fi_freeinfo(h);
	assert_non_null(w.info);
	assert_int_equal(w.info->ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT);
	assert_true(w.info->domain_attr->max_ep_srx_ctx >= N);
	assert_ok(fi_fabric(w.info->fabric_attr, &w.fabric, NULL));
	assert_ok(fi_domain(w.fabric, w.info, &w.domain, NULL));
	assert_ok(fi_av_open(w.domain, &av, &w.av, NULL));
	assert_ok(fi_cntr_open(w.domain, &cntr, &w.cntr, NULL));
	w.info->rx_attr->op_flags = o->rx_op_flags;
	assert_ok(fi_srx_context(w.domain, w.info->rx_attr, &w.srx, &w));
	w.info->rx_attr->op_flags = 0;
	assert_ok(fi_enable(w.srx));
	assert_ok(fi_cq_open(w.domain, &cq, &w.out_cq, NULL));
	for (int k = 0; k < N; k++) {
		assert_ok(fi_cq_open(w.domain, &cq, &w.in_cq[k], NULL));
		w.in[k] = open_ep(w.in_cq[k], o->cq_flags, &w.to_in[k], true);
		w.out[k] = open_ep(w.out_cq, FI_SELECTIVE_COMPLETION, &w.to_out[k], false);
	}
}

static void close_in(int k)
{
	assert_ok(fi_close(&w.in[k]->fid));
	w.in[k] = NULL;
}

static void close_world(void)
{
	for (int k = 0; k < N; k++) {
		assert_ok(fi_close(&w.out[k]->fid));
		if (w.in[k])
			close_in(k);
		assert_ok(fi_close(&w.in_cq[k]->fid));
	}
	assert_ok(fi_close(&w.srx->fid));
	assert_ok(fi_close(&w.out_cq->fid));
	assert_ok(fi_close(&w.cntr->fid));
	assert_ok(fi_close(&w.av->fid));
	assert_ok(fi_close(&w.domain->fid));
	assert_ok(fi_close(&w.fabric->fid));
	fi_freeinfo(w.info);
}

static void drive(void)
{
	struct fi_cq_tagged_entry e;

	fi_cq_read(w.out_cq, &e, 0);
	for (int k = 0; k < N; k++)
		if (w.in[k])
			fi_cq_read(w.in_cq[k], &e, 0);
}

/* The next entry at in[k], 1 or -FI_EAVAIL. */
static ssize_t next_at(int k, struct fi_cq_tagged_entry *e)
{
	uint64_t end = test_now_s() + TEST_GUARD_S;
	ssize_t ret;

	while ((ret = fi_cq_read(w.in_cq[k], e, 1)) == -FI_EAGAIN) {
		drive();
		if (test_now_s() > end)
			fail_msg("nothing at endpoint %d", k);
	}
	return ret;
}

static void expect_at(int k, int i, const char *text)
{
	struct fi_cq_tagged_entry e;

	assert_int_equal(next_at(k, &e), 1);
	assert_ptr_equal(e.op_context, &w.ctx[i]);
	assert_int_equal(e.len, strlen(text) + 1);
	assert_string_equal(w.buf[i], text);
}

static void quiet(void)
{
	struct fi_cq_tagged_entry e;

	for (int i = 0; i < 2000; i++) {
		drive();
		for (int k = 0; k < N; k++)
			if (w.in[k])
				assert_int_equal(fi_cq_read(w.in_cq[k], &e, 1), -FI_EAGAIN);
	}
}

static void post(int i)
{
	assert_ok(fi_recv(w.srx, w.buf[i], sizeof(w.buf[i]), NULL, FI_ADDR_UNSPEC, &w.ctx[i]));
}

static void tpost(int i, uint64_t tag, uint64_t ignore)
{
	assert_ok(fi_trecv(w.srx, w.buf[i], sizeof(w.buf[i]), NULL, FI_ADDR_UNSPEC, tag, ignore,
			   &w.ctx[i]));
}

/* From out[from] to in[to], and it has come in there. */
static void say(int from, int to, const char *text)
{
	assert_ok(fi_inject(w.out[from], text, strlen(text) + 1, w.to_in[to]));
}

static void tsay(int from, int to, uint64_t tag, const char *text)
{
	assert_ok(fi_tinject(w.out[from], text, strlen(text) + 1, w.to_in[to], tag));
}

/* Whatever was said so far has come in: delivery is told behind it, of a message that is taken. */
static void settle(int from, int to)
{
	char dash[2] = "-";
	struct iovec v = { dash, 2 };
	struct fi_msg_tagged m = {
		.msg_iov = &v, .iov_count = 1, .addr = w.to_in[to], .tag = 0xdead
	};
	struct fi_cq_tagged_entry e;

	tpost(CTXS - 1, 0xdead, 0);
	assert_ok(fi_tsendmsg(w.out[from], &m, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	expect_at(to, CTXS - 1, "-");
	while (fi_cq_read(w.out_cq, &e, 1) != 1)
		drive();
}

/* ---- who meets whom -------------------------------------------------------------------------- */

static void meet__posted_first(void **state)
{
	(void)state;
	open_world(&(struct opts){ 0 });
	for (int i = 0; i < 4; i++)
		post(i);
	say(0, 0, "a");
	expect_at(0, 0, "a");
	say(1, 1, "b");
	expect_at(1, 1, "b");
	say(0, 1, "c");
	expect_at(1, 2, "c");
	say(1, 0, "d");
	expect_at(0, 3, "d");
	assert_int_equal(fi_cntr_read(w.cntr), 2);
	quiet();
	close_world();
}

static void meet__message_first(void **state)
{
	(void)state;
	open_world(&(struct opts){ 0 });
	say(0, 0, "a");
	say(0, 0, "b");
	settle(0, 0);
	say(1, 1, "c");
	settle(1, 1);
	quiet();
	for (int i = 0; i < 3; i++)
		post(i);
	expect_at(0, 0, "a");
	expect_at(0, 1, "b");
	expect_at(1, 2, "c");
	quiet();
	close_world();
}

static void meet__tags(void **state)
{
	(void)state;
	open_world(&(struct opts){ 0 });
	tsay(0, 0, 7, "seven");
	tsay(0, 0, 8, "eight");
	tsay(0, 0, 0x107, "more");
	settle(0, 0);
	post(0); /* another world */
	tpost(1, 8, 0);
	expect_at(0, 1, "eight");
	tpost(2, 7, 0xff00);
	expect_at(0, 2, "seven");
	tpost(3, 7, 0xff00);
	expect_at(0, 3, "more");
	tpost(4, 9, 0);
	tsay(1, 1, 9, "nine");
	expect_at(1, 4, "nine");
	say(1, 1, "plain");
	expect_at(1, 0, "plain");
	close_world();
}

/* Only with FI_DIRECTED_RECV is an address one to look at. */
static void meet__directed(void **state)
{
	for (int directed = 0; directed < 2; directed++) {
		(void)state;
		open_world(&(struct opts){ .caps = FI_MSG | FI_TAGGED |
						   (directed ? FI_DIRECTED_RECV : 0) });
		assert_ok(fi_recv(w.srx, w.buf[0], 64, NULL, w.to_out[1], &w.ctx[0]));
		assert_ok(fi_recv(w.srx, w.buf[1], 64, NULL, w.to_out[0], &w.ctx[1]));
		say(0, 0, "from 0");
		expect_at(0, directed, "from 0");
		say(1, 0, "from 1");
		expect_at(0, !directed, "from 1");
		/* kept */
		say(0, 1, "again 0");
		settle(0, 1);
		say(1, 1, "again 1");
		settle(1, 1);
		assert_ok(fi_recv(w.srx, w.buf[2], 64, NULL, w.to_out[1], &w.ctx[2]));
		expect_at(1, 2, directed ? "again 1" : "again 0");
		post(3);
		expect_at(1, 3, directed ? "again 0" : "again 1");
		close_world();
	}
}

/* Who sent it is known later only: then the receive that waits for him meets it. */
static void meet__directed_known_later(void **state)
{
	struct sockaddr_storage name;
	size_t len = sizeof(name);
	fi_addr_t late;

	(void)state;
	open_world(&(struct opts){ .caps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV });
	assert_ok(fi_getname(&w.out[1]->fid, &name, &len));
	assert_ok(fi_av_remove(w.av, &w.to_out[1], 1, 0));
	say(1, 0, "who?");
	settle(1, 0);
	assert_int_equal(fi_av_insert(w.av, &name, 1, &late, 0, NULL), 1);
	assert_ok(fi_recv(w.srx, w.buf[0], 64, NULL, late, &w.ctx[0]));
	expect_at(0, 0, "who?");
	/* posted before it is known */
	assert_ok(fi_av_remove(w.av, &late, 1, 0));
	say(1, 1, "me");
	settle(1, 1);
	assert_ok(fi_recv(w.srx, w.buf[1], 64, NULL, late, &w.ctx[1]));
	quiet();
	assert_int_equal(fi_av_insert(w.av, &name, 1, &w.to_out[1], 0, NULL), 1);
	assert_int_equal(w.to_out[1], late);
	expect_at(1, 1, "me");
	close_world();
}

static void meet__truncated_and_scattered(void **state)
{
	struct iovec v[3] = { { w.buf[1], 2 }, { w.buf[2], 3 }, { w.buf[3], 64 } };
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;

	(void)state;
	open_world(&(struct opts){ 0 });
	assert_ok(fi_recv(w.srx, w.buf[0], 3, NULL, FI_ADDR_UNSPEC, &w.ctx[0]));
	say(0, 0, "abcdef");
	assert_int_equal(next_at(0, &e), -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(w.in_cq[0], &err, 0), 1);
	assert_int_equal(err.err, FI_ETRUNC);
	assert_int_equal(err.olen, 4);
	assert_ptr_equal(err.op_context, &w.ctx[0]);
	assert_ok(fi_recvv(w.srx, v, NULL, 3, FI_ADDR_UNSPEC, &w.ctx[1]));
	say(0, 1, "abcdef");
	assert_int_equal(next_at(1, &e), 1);
	assert_int_equal(e.len, 7);
	assert_memory_equal(w.buf[1], "ab", 2);
	assert_memory_equal(w.buf[2], "cde", 3);
	assert_memory_equal(w.buf[3], "f", 2);
	close_world();
}

/* Large ones, kept and awaited, into buffers of the context. */
static void meet__bulk(void **state)
{
	enum { LEN = 3 << 20 };
	uint8_t *src = malloc(LEN), *dst = malloc(LEN);
	struct fi_sdr_view look = { .size = sizeof(look) };
	struct fi_sdr_ep_ops_1 *ops;
	struct fi_cq_tagged_entry e;
	int seen = 0;

	(void)state;
	open_world(&(struct opts){ 0 });
	assert_ok(fi_open_ops(&w.in[0]->fid, FI_SDR_EP_OPS_1, 0, (void **)&ops, NULL));
	for (int k = 0; k < 4; k++) {
		struct iovec v = { src, LEN };
		struct fi_msg m = { .msg_iov = &v, .iov_count = 1, .addr = w.to_in[k & 1] };

		test_fill(src, LEN, k);
		memset(dst, 0, LEN);
		if (k < 2)
			assert_ok(fi_recv(w.srx, dst, LEN, NULL, FI_ADDR_UNSPEC, &w.ctx[k]));
		assert_ok(fi_sendmsg(w.out[0], &m, FI_COMPLETION));
		/* a receive of the context is known by what the application gave it */
		for (int i = 0; k < 2 && i < 100000 && seen <= k; i++) {
			drive();
			seen += !ops->view(w.in[k], &w.ctx[k], &look) && look.len == LEN;
		}
		if (k >= 2) {
			quiet();
			assert_ok(fi_recv(w.srx, dst, LEN, NULL, FI_ADDR_UNSPEC, &w.ctx[k]));
		}
		assert_int_equal(next_at(k & 1, &e), 1);
		assert_ptr_equal(e.op_context, &w.ctx[k]);
		assert_int_equal(e.len, LEN);
		assert_true(test_same(dst, LEN, k));
		while (fi_cq_read(w.out_cq, &e, 1) != 1)
			drive();
	}
	assert_true(seen > 0 && look.buf == dst);
	close_world();
	free(src);
	free(dst);
}

/* ---- several messages in one buffer ---------------------------------------------------------- */

static void multi__two_endpoints(void **state)
{
	char area[100];
	struct iovec v = { area, sizeof(area) };
	struct fi_msg m = {
		.msg_iov = &v, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &w.ctx[0]
	};
	struct fi_cq_tagged_entry e;
	size_t min = 40, len = sizeof(min);
	char text[17] = "0123456789abcdef";

	(void)state;
	open_world(&(struct opts){ 0 });
	assert_ok(fi_setopt(&w.srx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, len));
	min = 0;
	assert_ok(fi_getopt(&w.srx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, &len));
	assert_int_equal(min, 40);
	say(0, 0, text); /* one is there before */
	settle(0, 0);
	assert_ok(fi_recvmsg(w.srx, &m, FI_MULTI_RECV));
	for (int k = 0; k < 4; k++) {
		if (k)
			say(k & 1, k & 1, text);
		assert_int_equal(next_at(k & 1, &e), 1);
		assert_ptr_equal(e.op_context, &w.ctx[0]);
		assert_ptr_equal(e.buf, area + k * sizeof(text));
		assert_memory_equal(e.buf, text, sizeof(text));
		/* after the fourth 32 bytes are left */
		assert_int_equal(!!(e.flags & FI_MULTI_RECV), k == 3);
	}
	say(0, 0, "late");
	quiet();
	post(1);
	expect_at(0, 1, "late");
	close_world();
}

static void multi__cancel(void **state)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	char area[100];

	(void)state;
	open_world(&(struct opts){ .rx_op_flags = FI_MULTI_RECV });
	assert_ok(fi_recv(w.srx, area, sizeof(area), NULL, FI_ADDR_UNSPEC, &w.ctx[0]));
	say(1, 1, "x");
	assert_int_equal(next_at(1, &e), 1);
	assert_false(e.flags & FI_MULTI_RECV);
	assert_ok(fi_cancel(&w.srx->fid, &w.ctx[0]));
	assert_int_equal(next_at(0, &e), -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(w.in_cq[0], &err, 0), 1);
	assert_int_equal(err.err, FI_ECANCELED);
	assert_true(err.flags & FI_MULTI_RECV);
	assert_ptr_equal(err.op_context, &w.ctx[0]);
	say(1, 1, "y");
	quiet();
	close_world();
}

/* ---- the rest of the calls ------------------------------------------------------------------- */

static void call__cancel(void **state)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;

	(void)state;
	open_world(&(struct opts){ 0 });
	post(0);
	tpost(1, 1, 0);
	post(2);
	assert_int_equal(fi_cancel(&w.srx->fid, &w.ctx[3]), -FI_ENOENT);
	assert_ok(fi_cancel(&w.srx->fid, &w.ctx[1]));
	assert_ok(fi_cancel(&w.srx->fid, &w.ctx[0]));
	assert_int_equal(fi_cancel(&w.srx->fid, &w.ctx[0]), -FI_ENOENT);
	for (int i = 1; i >= 0; i--) {
		assert_int_equal(next_at(0, &e), -FI_EAVAIL);
		assert_int_equal(fi_cq_readerr(w.in_cq[0], &err, 0), 1);
		assert_int_equal(err.err, FI_ECANCELED);
		assert_ptr_equal(err.op_context, &w.ctx[i]);
	}
	assert_int_equal(fi_cntr_readerr(w.cntr), 2);
	say(0, 1, "a");
	expect_at(1, 2, "a");
	/* without an endpoint there is no queue for it */
	post(4);
	for (int k = 0; k < N; k++)
		close_in(k);
	assert_ok(fi_cancel(&w.srx->fid, &w.ctx[4]));
	close_world();
}

static void call__depth(void **state)
{
	(void)state;
	open_world(&(struct opts){ .size = 4 });
	for (int i = 0; i < 4; i++)
		post(i);
	assert_int_equal(fi_recv(w.srx, w.buf[4], 64, NULL, FI_ADDR_UNSPEC, &w.ctx[4]), -FI_EAGAIN);
	say(0, 0, "a");
	expect_at(0, 0, "a");
	post(4);
	close_world();
}

static void call__selective(void **state)
{
	struct iovec v = { w.buf[1], 64 };
	struct fi_msg m = {
		.msg_iov = &v, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &w.ctx[1]
	};

	(void)state;
	open_world(&(struct opts){ .cq_flags = FI_SELECTIVE_COMPLETION });
	post(0);
	assert_ok(fi_recvmsg(w.srx, &m, FI_COMPLETION));
	say(0, 0, "a");
	say(0, 0, "b");
	expect_at(0, 1, "b");
	assert_string_equal(w.buf[0], "a");
	assert_int_equal(fi_cntr_read(w.cntr), 2);
	quiet();
	close_world();
}

/* A write with data takes a receive along where the application said that it posts them. */
static void call__rx_cq_data(void **state)
{
	struct fi_cq_tagged_entry e;
	struct fid_mr *mr;
	uint64_t mem = 0;

	(void)state;
	open_world(&(struct opts){ .caps = FI_MSG | FI_RMA, .mode = FI_RX_CQ_DATA });
	assert_ok(fi_mr_reg(w.domain, &mem, sizeof(mem), FI_REMOTE_WRITE, 0, 77, 0, &mr, NULL));
	post(0);
	assert_ok(fi_inject_writedata(w.out[0], "1234567", 8, 5, w.to_in[1], 0, fi_mr_key(mr)));
	assert_int_equal(next_at(1, &e), 1);
	assert_ptr_equal(e.op_context, &w.ctx[0]);
	assert_int_equal(e.data, 5);
	assert_true(e.flags & FI_REMOTE_WRITE);
	say(0, 0, "kept");
	quiet();
	post(1);
	expect_at(0, 1, "kept");
	assert_ok(fi_close(&mr->fid));
	close_world();
}

static void call__refused(void **state)
{
	struct iovec v[9] = { { w.buf[0], 1 } };
	struct fi_msg m = { .msg_iov = v, .iov_count = 1 };
	struct fi_msg_tagged t = { .msg_iov = v, .iov_count = 1 };
	struct fi_info *h = test_hints(FI_EP_DGRAM, FI_MSG);
	struct fi_rx_attr attr = { .iov_limit = 9 };
	struct fid_ep *ep, *other;
	struct fid_stx *stx;
	size_t len = 1;

	(void)state;
	h->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	assert_null(test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, h));
	h->ep_attr->rx_ctx_cnt = 0;
	open_world(&(struct opts){ 0 });
	assert_int_equal(fi_recv(w.in[0], w.buf, 1, NULL, FI_ADDR_UNSPEC, NULL), -FI_ENOSYS);
	assert_int_equal(fi_cancel(&w.in[0]->fid, NULL), -FI_ENOSYS);
	assert_int_equal(fi_send(w.srx, w.buf, 1, NULL, w.to_in[0], NULL), -FI_ENOSYS);
	assert_int_equal(fi_tsend(w.srx, w.buf, 1, NULL, w.to_in[0], 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_read(w.srx, w.buf, 1, NULL, w.to_in[0], 0, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_recvmsg(w.srx, &m, FI_PEEK), -FI_EOPNOTSUPP);
	assert_int_equal(fi_trecvmsg(w.srx, &t, FI_PEEK | FI_CLAIM), -FI_EOPNOTSUPP);
	assert_int_equal(fi_trecvmsg(w.srx, &t, FI_MULTI_RECV), -FI_EBADFLAGS);
	assert_int_equal(fi_recvv(w.srx, v, NULL, 9, FI_ADDR_UNSPEC, NULL), -FI_EINVAL);
	m.iov_count = 2;
	assert_int_equal(fi_recvmsg(w.srx, &m, FI_MULTI_RECV), -FI_EINVAL);
	assert_int_equal(fi_getopt(&w.srx->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &len, &len),
			 -FI_ENOPROTOOPT);
	assert_int_equal(fi_getopt(&w.srx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, v, &len),
			 -FI_ETOOSMALL);
	assert_int_equal(fi_srx_context(w.domain, &attr, &ep, NULL), -FI_EINVAL);
	attr = (struct fi_rx_attr){ .size = SIZE_MAX };
	assert_int_equal(fi_srx_context(w.domain, &attr, &ep, NULL), -FI_EINVAL);
	attr = (struct fi_rx_attr){ .op_flags = FI_INJECT };
	assert_int_equal(fi_srx_context(w.domain, &attr, &ep, NULL), -FI_EINVAL);
	assert_int_equal(fi_stx_context(w.domain, w.info->tx_attr, &stx, NULL), -FI_ENOSYS);
	assert_int_equal(fi_close(&w.srx->fid), -FI_EBUSY);

	assert_ok(fi_srx_context(w.domain, NULL, &other, NULL));
	assert_int_equal(fi_ep_bind(w.in[0], &other->fid, 0), -FI_EOPBADSTATE);
	assert_ok(fi_endpoint(w.domain, w.info, &ep, NULL));
	assert_ok(fi_ep_bind(ep, &other->fid, 0));
	assert_int_equal(fi_ep_bind(ep, &w.srx->fid, 0), -FI_EINVAL);
	assert_int_equal(fi_close(&other->fid), -FI_EBUSY);
	assert_ok(fi_close(&ep->fid));
	assert_ok(fi_close(&other->fid));
	w.info->ep_attr->type = FI_EP_DGRAM;
	assert_ok(fi_endpoint(w.domain, w.info, &ep, NULL));
	assert_int_equal(fi_ep_bind(ep, &w.srx->fid, 0), -FI_EINVAL);
	assert_ok(fi_close(&ep->fid));
	close_world();
	fi_freeinfo(h);
}

/* What an endpoint has kept goes with it; receives and the other's messages stay. */
static void end__endpoint_closes(void **state)
{
	(void)state;
	open_world(&(struct opts){ 0 });
	say(0, 0, "lost");
	settle(0, 0);
	say(1, 1, "stays");
	settle(1, 1);
	close_in(0);
	post(0);
	expect_at(1, 0, "stays");
	post(1);
	say(1, 1, "goes on");
	expect_at(1, 1, "goes on");
	post(2);
	close_world(); /* with a receive posted */
}

static void *close_first(void *arg)
{
	(void)arg;
	close_in(0);
	return NULL;
}

/*
 * An endpoint that lingers has kept a message whose sender gets a name: the receive that waits for
 * him has not met it, and is the other endpoint's to use.
 */
static void end__endpoint_lingers(void **state)
{
	struct timespec ts = { .tv_nsec = 200000000 };
	struct sockaddr_in nobody = { .sin_family = AF_INET };
	struct sockaddr_storage name;
	size_t len = sizeof(name);
	fi_addr_t away;
	pthread_t t;

	(void)state;
	open_world(&(struct opts){ .caps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV });
	nobody.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	nobody.sin_port = htons(9);
	assert_int_equal(fi_av_insert(w.av, &nobody, 1, &away, 0, NULL), 1);
	assert_ok(fi_getname(&w.out[1]->fid, &name, &len));
	assert_ok(fi_av_remove(w.av, &w.to_out[1], 1, 0));
	say(1, 0, "who?");
	settle(1, 0);
	for (int i = 0; i < 3; i++)
		assert_ok(fi_recv(w.srx, w.buf[i], 64, NULL, w.to_out[1], &w.ctx[i]));
	quiet();
	assert_ok(fi_inject(w.in[0], "?", 2, away));
	assert_int_equal(pthread_create(&t, NULL, close_first, NULL), 0);
	nanosleep(&ts, NULL);
	assert_int_equal(fi_av_insert(w.av, &name, 1, &w.to_out[1], 0, NULL), 1);
	pthread_join(t, NULL);
	for (int i = 0; i < 3; i++) {
		say(1, 1, "me");
		expect_at(1, i, "me");
	}
	close_world();
}

static void end__msg_endpoints(void **state)
{
	struct fi_cq_tagged_entry c;
	struct msg_listener l;
	struct msg_end a[N], b[N];
	struct msg_event ev;
	struct fid_ep *srx;
	char buf[8][16];

	(void)state;
	msg_open(&l, FI_PROGRESS_UNSPEC);
	msg_listen(&l);
	assert_ok(fi_srx_context(l.domain, l.info->rx_attr, &srx, NULL));
	for (int k = 0; k < N; k++) {
		struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED };

		msg_end_open(&l, l.info, &a[k]);
		assert_ok(fi_connect(a[k].ep, &l.name, NULL, 0));
		msg_expect(l.eq, FI_CONNREQ, &l.pep->fid, &ev);
		b[k].eq = msg_eq(l.fabric);
		assert_ok(fi_cq_open(l.domain, &attr, &b[k].cq, NULL));
		assert_ok(fi_endpoint(l.domain, ev.entry.info, &b[k].ep, &b[k]));
		fi_freeinfo(ev.entry.info);
		assert_ok(fi_ep_bind(b[k].ep, &b[k].eq->fid, 0));
		assert_ok(fi_ep_bind(b[k].ep, &b[k].cq->fid, FI_TRANSMIT | FI_RECV));
		assert_ok(fi_ep_bind(b[k].ep, &srx->fid, 0));
		assert_ok(fi_accept(b[k].ep, NULL, 0));
		msg_expect(b[k].eq, FI_CONNECTED, &b[k].ep->fid, &ev);
		msg_expect(a[k].eq, FI_CONNECTED, &a[k].ep->fid, &ev);
	}
	for (int i = 0; i < 4; i++)
		assert_ok(fi_recv(srx, buf[i], 16, NULL, 0, buf[i]));
	for (int i = 0; i < 4; i++) {
		assert_ok(fi_inject(a[i & 1].ep, "hello", 6, 0));
		msg_wait_ok(&b[i & 1], &a[i & 1], &c);
		assert_ptr_equal(c.op_context, buf[i]);
		assert_string_equal(buf[i], "hello");
	}
	/* one hangs up: the receive is for the other */
	assert_ok(fi_recv(srx, buf[4], 16, NULL, 0, buf[4]));
	assert_ok(fi_shutdown(a[0].ep, 0));
	msg_expect(b[0].eq, FI_SHUTDOWN, &b[0].ep->fid, &ev);
	assert_int_equal(fi_cq_read(b[0].cq, &c, 1), -FI_EAGAIN);
	assert_ok(fi_inject(a[1].ep, "still", 6, 0));
	msg_wait_ok(&b[1], &a[1], &c);
	assert_string_equal(buf[4], "still");
	for (int k = 0; k < N; k++) {
		msg_end_close(&a[k]);
		msg_end_close(&b[k]);
	}
	assert_ok(fi_close(&srx->fid));
	msg_close(&l);
}

/* ---- threads --------------------------------------------------------------------------------- */

#define STORM 20000 /* messages of each sender */

static atomic_int storm_taken, storm_posted;
static atomic_bool storm_bad;

static void *storm_drive(void *arg)
{
	int k = (int)(intptr_t)arg;
	struct fi_cq_tagged_entry e[16];
	uint64_t end = test_now_s() + 3 * TEST_GUARD_S;
	int64_t last[N] = { -1, -1 };
	ssize_t n;

	while (atomic_load(&storm_taken) < N * STORM && test_now_s() < end) {
		n = fi_cq_read(w.in_cq[k], e, 16);
		for (ssize_t i = 0; i < n; i++) {
			uint64_t *got = e[i].op_context, from = *got >> 32;
			int64_t nr = (uint32_t)*got;

			/* of the half that comes here, each once and in its peer's order */
			if (from >= N || e[i].len != 8 || nr % N != k || nr <= last[from])
				atomic_store(&storm_bad, true);
			else
				last[from] = nr;
			free(got);
			atomic_fetch_add(&storm_taken, 1);
		}
		if (n < 0 && n != -FI_EAGAIN)
			atomic_store(&storm_bad, true);
	}
	return NULL;
}

static void *storm_post(void *arg)
{
	uint64_t *buf = NULL;

	(void)arg;
	while (atomic_load(&storm_posted) < N * STORM) {
		if (!buf)
			buf = calloc(1, sizeof(*buf));
		if (fi_recv(w.srx, buf, sizeof(*buf), NULL, FI_ADDR_UNSPEC, buf))
			continue;
		buf = NULL;
		if (atomic_fetch_add(&storm_posted, 1) >= N * STORM - 1)
			break;
	}
	free(buf);
	return NULL;
}

/* Two threads drive an endpoint each, one posts, and this one sends to both from two. */
static void threads__storm(void **state)
{
	pthread_t t[N + 1];
	uint64_t v;

	(void)state;
	open_world(&(struct opts){ .size = 64 });
	for (int k = 0; k < N; k++)
		assert_int_equal(pthread_create(&t[k], NULL, storm_drive, (void *)(intptr_t)k), 0);
	assert_int_equal(pthread_create(&t[N], NULL, storm_post, NULL), 0);
	for (int i = 0; i < N * STORM; i++) {
		struct fi_cq_tagged_entry e;
		int k = i % N;

		v = (uint64_t)k << 32 | (uint64_t)(i / N);
		while (fi_inject(w.out[k], &v, 8, w.to_in[(i / N) % N]) == -FI_EAGAIN)
			fi_cq_read(w.out_cq, &e, 0);
	}
	while (atomic_load(&storm_taken) < N * STORM && !atomic_load(&storm_bad)) {
		struct fi_cq_tagged_entry e;

		fi_cq_read(w.out_cq, &e, 0);
	}
	for (int k = 0; k < N + 1; k++)
		pthread_join(t[k], NULL);
	assert_false(atomic_load(&storm_bad));
	assert_int_equal(atomic_load(&storm_taken), N * STORM);
	close_world();
}

static atomic_bool close_done;

static void *close_post(void *arg)
{
	(void)arg;
	for (int i = 0; !atomic_load(&close_done); i = (i + 1) % 32) {
		if (fi_recv(w.srx, w.buf[i], 64, NULL, FI_ADDR_UNSPEC, &w.ctx[i]))
			fi_cancel(&w.srx->fid, &w.ctx[i]);
	}
	return NULL;
}

/* Endpoints with messages close under a thread that posts. */
static void threads__close(void **state)
{
	pthread_t t;

	(void)state;
	open_world(&(struct opts){ .size = 16 });
	atomic_store(&close_done, false);
	assert_int_equal(pthread_create(&t, NULL, close_post, NULL), 0);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 200; i++) {
			fi_inject(w.out[1], "x", 2, w.to_in[0]);
			drive();
		}
		assert_ok(fi_av_remove(w.av, &w.to_in[0], 1, 0));
		close_in(0);
		w.in[0] = open_ep(w.in_cq[0], 0, &w.to_in[0], true);
	}
	atomic_store(&close_done, true);
	pthread_join(t, NULL);
	close_world();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(meet__posted_first),
		cmocka_unit_test(meet__message_first),
		cmocka_unit_test(meet__tags),
		cmocka_unit_test(meet__directed),
		cmocka_unit_test(meet__directed_known_later),
		cmocka_unit_test(meet__truncated_and_scattered),
		cmocka_unit_test(meet__bulk),
		cmocka_unit_test(multi__two_endpoints),
		cmocka_unit_test(multi__cancel),
		cmocka_unit_test(call__cancel),
		cmocka_unit_test(call__depth),
		cmocka_unit_test(call__selective),
		cmocka_unit_test(call__rx_cq_data),
		cmocka_unit_test(call__refused),
		cmocka_unit_test(end__endpoint_closes),
		cmocka_unit_test(end__endpoint_lingers),
		cmocka_unit_test(end__msg_endpoints),
		cmocka_unit_test(threads__storm),
		cmocka_unit_test(threads__close),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
