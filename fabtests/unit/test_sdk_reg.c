/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Registration of what is sent: who registers what and when, that memory stays registered while
 * packets of it are under way, and that a public send's buffer is its owner's again only when the
 * device has read it.
 */
#include "test_sdk.h"

#define REG_MIN (4 * MTU)

static void reg_open(struct pair *p, enum loop_mode mode, const struct sdr_qp_hooks *hooks)
{
	static const uint64_t ra[2] = { 1, 2 }, rb[2] = { 3, 4 };
	struct sdr_qp_attr attr = attr_small();
	struct sdr_uc *uc;

	memset(p, 0, sizeof(*p));
	p->net = loop_net_create(mode, 4096);
	p->net->reg_min = REG_MIN;
	assert_int_equal(loop_open(p->net, 0, &uc), 0);
	p->a = sdr_context_create_on(uc, NULL, ra);
	assert_int_equal(loop_open(p->net, 1, &uc), 0);
	p->b = sdr_context_create_on(uc, NULL, rb);
	assert_true(p->a && p->b);
	pair_qps(p, &attr, hooks);
}

/* From the threshold on, at the first packets, until the handle is released. */
static void reg__one_shot(void **state)
{
	uint8_t in[8 * MTU], out[8 * MTU];
	struct sdr_snd_handle *s;
	struct pair p;
	uint64_t len, made = 0;

	(void)state;
	reg_open(&p, LOOP_RKEYED, NULL);
	for (len = REG_MIN - 1; len <= REG_MIN + 1; len++) {
		struct sdr_rcv_handle *r;
		bool want = len >= REG_MIN;

		pattern_fill(in, (uint32_t)len, len);
		s = xsend(&p, in, len);
		assert_int_equal(p.net->regs, 0); /* nothing to send yet */
		r = post(&p, out, len);
		pair_run(&p);
		assert_int_equal(p.net->regs, want);
		made += want;
		assert_int_equal(p.net->reged, made);
		assert_int_equal(sdr_send_poll(s), 1);
		assert_int_equal(p.net->regs, 0);
		pair_run(&p);
		assert_int_equal(r->st.got, r->st.npkts);
		pattern_check(out, (uint32_t)len, len);
		assert_int_equal(sdr_recv_complete(r), 0);
	}
	pair_close(&p);
}

/*
 * The device reads late: the send is not over before, and what was in the buffer then is what
 * arrives.
 */
static void reg__read_late(void **state)
{
	uint8_t in[8 * MTU], out[8 * MTU];
	struct sdr_snd_handle *s;
	struct sdr_rcv_handle *r;
	struct pair p;

	(void)state;
	reg_open(&p, LOOP_RKEYED, NULL);
	r = post(&p, out, sizeof(out));
	pair_run(&p);
	p.net->automatic = false;
	p.net->late_reads = true;
	memset(in, 0, sizeof(in));
	s = xsend(&p, in, sizeof(in));
	assert_int_equal(p.net->npkts, 8);
	assert_true(sdr_context_tx_idle(p.a));
	assert_int_equal(sdr_send_poll(s), 0);
	/* nothing wakes who sleeps on it */
	assert_in_range(sdr_context_timeout(p.a), 0, SDR_TX_RETRY_NS);
	/* the owner may not; the test sees by it when it is read */
	pattern_fill(in, 1, sizeof(in));
	while (p.net->npkts > 1) {
		loop_deliver(p.net, 0);
		assert_int_equal(sdr_send_poll(s), 0);
	}
	loop_deliver(p.net, 0);
	assert_int_equal(sdr_send_poll(s), 1);
	assert_int_equal(p.net->regs, 0);
	sdr_context_progress(p.a);
	assert_int_equal(sdr_context_timeout(p.a), UINT64_MAX);
	memset(in, 0, sizeof(in));
	pair_run(&p);
	assert_int_equal(r->st.got, 8);
	pattern_check(out, 1, sizeof(out));
	pair_close(&p);
}

/* The caller's registration is used instead, for sends and receives. */
static void reg__callers(void **state)
{
	uint8_t in[8 * MTU], out[8 * MTU];
	struct sdr_snd_wr sw = { .addr = in + MTU, .length = 6 * MTU };
	struct sdr_rcv_wr rw = { .addr = out + MTU, .length = 6 * MTU };
	struct sdr_mr *ms, *mr;
	struct sdr_snd_handle *s;
	struct sdr_rcv_handle *r;
	struct pair p;

	(void)state;
	reg_open(&p, LOOP_RKEYED, NULL);
	pattern_fill(in, 1, sizeof(in));
	ms = sdr_mr_reg(p.a, in, sizeof(in), 0);
	mr = sdr_mr_reg(p.b, out, sizeof(out), 0);
	assert_true(ms && mr);
	sw.mr = ms;
	rw.mr = mr;
	assert_int_equal(sdr_recv_post(p.r, &rw, &r), 0);
	assert_ptr_equal(loop_grant_mr(&r->grant), mr->uc_mr);
	pair_run(&p);
	p.net->automatic = false;
	p.net->late_reads = true;
	assert_int_equal(sdr_send_post(p.s, &sw, &s), 0);
	assert_int_equal(p.net->regs, 2);
	assert_int_equal(sdr_send_poll(s), 0);
	p.net->automatic = true;
	loop_deliver_all(p.net);
	assert_int_equal(sdr_send_poll(s), 1);
	pair_run(&p);
	assert_int_equal(r->st.got, 6);
	assert_memory_equal(out + MTU, in + MTU, 6 * MTU);
	assert_int_equal(sdr_recv_complete(r), 0);
	/* without one the grant has none; below the threshold nothing is used */
	rw.mr = NULL;
	assert_int_equal(sdr_recv_post(p.r, &rw, &r), 0);
	assert_null(loop_grant_mr(&r->grant));
	assert_int_equal(sdr_recv_complete(r), 0);
	pair_run(&p);
	assert_int_equal(sdr_send_poll(xsend(&p, in, MTU)), 1);
	rw.length = sw.length = MTU;
	assert_int_equal(sdr_recv_post(p.r, &rw, &r), 0);
	pair_run(&p);
	p.net->automatic = false;
	assert_int_equal(sdr_send_post(p.s, &sw, &s), 0);
	assert_int_equal(sdr_send_poll(s), 1);
	loop_drop_all(p.net);
	assert_int_equal(p.net->reged, 2);
	assert_int_equal(sdr_mr_dereg(ms), 0);
	assert_int_equal(sdr_mr_dereg(mr), 0);
	pair_close(&p);
}

/* A registration that fails is a copy, and is not tried again. */
static void reg__fails(void **state)
{
	uint8_t in[8 * MTU], out[8 * MTU];
	struct sdr_snd_handle *s;
	struct sdr_rcv_handle *r;
	struct pair p;

	(void)state;
	reg_open(&p, LOOP_RKEYED, NULL);
	pattern_fill(in, 1, sizeof(in));
	p.net->reg_err = -ENOMEM;
	p.net->late_reads = true;
	r = post(&p, out, sizeof(out));
	pair_run(&p);
	p.net->automatic = false;
	p.net->budget = 3;
	s = xsend(&p, in, sizeof(in));
	assert_int_equal(p.net->npkts, 3);
	p.net->reg_err = 0;
	p.net->budget = LOOP_UNLIMITED;
	assert_int_equal(sdr_send_poll(s), 1);
	assert_int_equal(p.net->reged, 0);
	memset(in, 0, sizeof(in));
	loop_deliver_all(p.net);
	pair_run(&p);
	assert_int_equal(r->st.got, 8);
	pattern_check(out, 1, sizeof(out));
	pair_close(&p);
}

static void hook_nothing(void *user, struct sdr_rcv_handle *hdl)
{
	(void)user;
	(void)hdl;
}

/* Numbered sends: once a message, at its first packets; another base is not covered. */
static void reg__numbered(void **state)
{
	static const struct sdr_qp_hooks hooks = { .recv_progress = hook_nothing };
	static uint8_t in[8 * MTU], other[8 * MTU], out[8 * MTU];
	struct sdr_start_wr start = { .length = 8 * MTU };
	struct sdr_rcv_wr rw = { .addr = out, .length = 8 * MTU };
	struct sdr_snd_handle *s;
	struct sdr_rcv_handle *r;
	struct pair p;

	(void)state;
	pattern_fill(in, 1, sizeof(in));
	reg_open(&p, LOOP_SOFT, &hooks);
	sdr_qp_limit_set(p.s, 10);
	assert_int_equal(sdr_recv_post_at(p.r, 0, &rw, NULL, &r), 0);
	assert_int_equal(sdr_send_start_at(p.s, 0, &start, &s), 0);
	assert_int_equal(p.net->regs, 0);
	p.net->automatic = false;
	p.net->late_reads = true;
	assert_int_equal(sdr_send_packets(s, in, 4, 2), 2);
	assert_int_equal(p.net->regs, 1);
	assert_int_equal(sdr_send_packets(s, in, 6, 2), 2);
	assert_int_equal(p.a->txq.tail - p.a->txq.head, 1);
	assert_ptr_equal(p.a->txq.v[p.a->txq.head].mr, s->mr);
	assert_non_null(s->mr);
	assert_int_equal(sdr_send_packets(s, in, 0, 4), 4);
	assert_int_equal(sdr_context_flush(p.a), 0);
	assert_int_equal(sdr_send_packets(s, other, 0, 1), 1);
	assert_null(p.a->txq.v[p.a->txq.head].mr);
	assert_int_equal(p.net->reged, 1);
	sdr_send_release(s); /* its descriptor leaves the batch; what is under way still leaves */
	assert_int_equal(p.net->regs, 0);
	assert_true(sdr_context_tx_idle(p.a));
	assert_int_equal(p.net->npkts, 8);
	loop_deliver_all(p.net);
	pair_run(&p);
	assert_int_equal(r->st.got, 8);
	pattern_check(out, 1, sizeof(out));
	/* short ones are copied */
	start.length = REG_MIN - 1;
	assert_int_equal(sdr_send_start_at(p.s, 1, &start, &s), 0);
	assert_int_equal(sdr_send_packets(s, in, 0, 4), 4);
	assert_int_equal(p.net->reged, 1);
	sdr_send_release(s);
	pair_close(&p);
}

/* Streams: only what their parts bring along. */
static void reg__stream(void **state)
{
	static uint8_t in[8 * MTU], out[8 * MTU];
	struct sdr_start_wr start = { .length = sizeof(in) };
	struct sdr_continue_wr part = { .addr = in, .length = 2 * MTU };
	struct sdr_snd_handle *s;
	struct sdr_rcv_handle *r;
	struct sdr_mr *mr[2];
	struct pair p;

	(void)state;
	pattern_fill(in, 1, sizeof(in));
	reg_open(&p, LOOP_RKEYED, NULL);
	r = post(&p, out, sizeof(out));
	pair_run(&p);
	p.net->automatic = false;
	p.net->late_reads = true;
	assert_int_equal(sdr_send_stream_start(p.s, &start, &s), 0);
	assert_int_equal(sdr_send_stream_continue(s, &part), 0);
	assert_int_equal(p.net->reged, 0);
	mr[0] = sdr_mr_reg(p.a, in, sizeof(in) / 2, 0);
	mr[1] = sdr_mr_reg(p.a, in + sizeof(in) / 2, sizeof(in) / 2, 0);
	part.mr = mr[1];
	part.addr = in + 2 * MTU;
	part.offset = 2 * MTU;
	assert_int_equal(sdr_send_stream_continue(s, &part), -EINVAL); /* does not cover it */
	part.mr = mr[0];
	assert_int_equal(sdr_send_stream_continue(s, &part), 0);
	part.mr = mr[1];
	part.addr = in + 4 * MTU;
	part.offset = 4 * MTU;
	part.length = 4 * MTU;
	/* the other one is still being read */
	assert_int_equal(sdr_send_stream_continue(s, &part), -EAGAIN);
	assert_int_equal(p.net->npkts, 4);
	loop_deliver_all(p.net);
	assert_int_equal(sdr_send_stream_continue(s, &part), 0);
	assert_int_equal(sdr_send_stream_end(s), 0);
	assert_int_equal(sdr_send_poll(s), 0);
	loop_deliver_all(p.net);
	assert_int_equal(sdr_send_poll(s), 1);
	pair_run(&p);
	assert_int_equal(r->st.got, 8);
	pattern_check(out, 1, sizeof(out));
	assert_int_equal(sdr_mr_dereg(mr[0]), 0);
	assert_int_equal(sdr_mr_dereg(mr[1]), 0);
	pair_close(&p);
}

/*
 * The QP goes while packets are under way and more are in the batch: the registration goes with it.
 */
static void reg__qp_destroyed(void **state)
{
	static uint8_t in[8 * MTU], out[8 * MTU];
	struct pair p;

	(void)state;
	reg_open(&p, LOOP_RKEYED_ROOT, NULL);
	post(&p, out, sizeof(out));
	pair_run(&p);
	p.net->automatic = false;
	p.net->late_reads = true;
	p.net->budget = 3;
	xsend(&p, in, sizeof(in));
	assert_int_equal(p.net->npkts, 3);
	assert_int_equal(p.net->regs, 1);
	assert_int_equal(sdr_qp_destroy(p.s), 0);
	assert_int_equal(p.net->regs, 0);
	p.s = NULL;
	p.net->budget = LOOP_UNLIMITED;
	loop_deliver_all(p.net);
	pair_run(&p);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reg__one_shot),     cmocka_unit_test(reg__read_late),
		cmocka_unit_test(reg__callers),	     cmocka_unit_test(reg__fails),
		cmocka_unit_test(reg__numbered),     cmocka_unit_test(reg__stream),
		cmocka_unit_test(reg__qp_destroyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
