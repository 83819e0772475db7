/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the SDK offers to reliability layers of others: datagrams in order with the data, handlers,
 * messages by number, the immediate's last packets once more, sends that are called off, and what
 * attributes became.  Public calls alone, over an engine in memory on which each packet waits for
 * the test's word.
 */
#include "test_sdk.h"

struct heard {
	char what[8][16];
	uint32_t n;
	uint32_t got; /* packets in place when the last one came */
	uint32_t received, broken;
	struct sdr_rcv_handle *watch;
};

static void heard_control(void *user, const void *buf, size_t len)
{
	struct heard *h = user;

	assert_true(h->n < 8 && len < sizeof(h->what[0]));
	memcpy(h->what[h->n++], buf, len);
	if (h->watch)
		h->got = sdr_recv_state(h->watch)->got;
}

static void heard_received(void *user, struct sdr_rcv_handle *hdl)
{
	struct heard *h = user;

	assert_ptr_equal(hdl, h->watch);
	h->received++;
}

static void heard_broken(void *user, int err)
{
	struct heard *h = user;

	assert_int_equal(err, -ENETDOWN);
	h->broken++;
}

static struct sdr_qp_handlers handlers(struct heard *h)
{
	memset(h, 0, sizeof(*h));
	return (struct sdr_qp_handlers){ .size = sizeof(struct sdr_qp_handlers),
					 .user = h,
					 .received = heard_received,
					 .control = heard_control,
					 .broken = heard_broken };
}

/* ---- datagrams ------------------------------------------------------------------------------- */

static void ctl__comes_behind_the_data(void **state)
{
	static uint8_t out[8 * MTU], in[8 * MTU];
	struct sdr_qp_attr attr = attr_small();
	struct sdr_snd_handle *s;
	struct sdr_qp_handlers hs;
	struct heard h;
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	hs = handlers(&h);
	assert_int_equal(sdr_qp_handlers_set(p.r, &hs), 0);
	pattern_fill(out, 1, sizeof(out));
	h.watch = post(&p, in, sizeof(in));
	pair_run(&p);
	s = xsend(&p, out, sizeof(out));
	assert_int_equal(sdr_qp_ctl_send(p.s, "end", 4), 0);
	pair_run(&p);
	assert_int_equal(h.n, 1);
	assert_string_equal(h.what[0], "end");
	assert_int_equal(h.got, 8); /* all of it was there */
	assert_true(h.received >= 1);
	assert_int_equal(sdr_send_poll(s), 1);
	pattern_check(in, 1, sizeof(in));
	/* the other way, and nothing at all */
	hs.received = NULL;
	assert_int_equal(sdr_qp_handlers_set(p.s, &hs), 0);
	h.watch = NULL;
	assert_int_equal(sdr_qp_ctl_send(p.r, "nack 3", 7), 0);
	assert_int_equal(sdr_qp_ctl_send(p.r, NULL, 0), 0);
	pair_run(&p);
	assert_int_equal(h.n, 3);
	assert_string_equal(h.what[1], "nack 3");
	pair_close(&p);
}

static void ctl__refuses(void **state)
{
	struct sdr_stats st = { .size = sizeof(st) };
	struct sdr_qp_attr attr = attr_small();
	struct sdr_qp_handlers hs;
	struct sdr_uc_info uc;
	struct heard h;
	struct sdr_qp *qp;
	uint8_t *big;
	struct pair p;
	uint32_t n;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	p.a->uc->ops->info(p.a->uc, &uc);
	big = calloc(1, uc.ctl_max);
	assert_int_equal(sdr_qp_ctl_send(NULL, big, 1), -EINVAL);
	assert_int_equal(sdr_qp_ctl_send(p.s, NULL, 1), -EINVAL);
	n = uc.ctl_max - SDR_WIRE_APP_HDR;
	assert_int_equal(sdr_qp_ctl_send(p.s, big, n + 1), -EMSGSIZE);
	assert_int_equal(sdr_qp_ctl_send(p.s, big, n), 0);
	pair_run(&p);
	assert_int_equal(sdr_context_stats(p.b, &st), 0);
	assert_int_equal(st.pkts_bad, 1); /* nobody waits for it */
	qp = sdr_qp_create(p.a, &attr);
	assert_int_equal(sdr_qp_ctl_send(qp, big, 1), -ENOTCONN);
	sdr_qp_destroy(qp);
	/* a full network keeps what it took, and says when it takes no more */
	hs = handlers(&h);
	hs.control = NULL;
	assert_int_equal(sdr_qp_handlers_set(p.r, &hs), 0);
	p.net->budget = 0;
	for (n = 0; sdr_qp_ctl_send(p.s, big, 1) == 0; n++)
		assert_true(n < 1000);
	assert_true(n > 8);
	assert_int_equal(sdr_qp_ctl_send(p.s, big, 1), -EAGAIN);
	p.net->budget = LOOP_UNLIMITED;
	pair_run(&p);
	assert_int_equal(sdr_context_stats(p.b, &st), 0);
	assert_int_equal(st.pkts_bad, 1 + n);
	free(big);
	pair_close(&p);
}

/* Whoever does not know the info is not heard. */
static void ctl__of_strangers(void **state)
{
	struct sdr_stats st = { .size = sizeof(st) };
	struct sdr_qp_attr attr = attr_small();
	struct sdr_wire_app a;
	struct sdr_qp_handlers hs;
	uint8_t buf[SDR_WIRE_APP_HDR + 2] = { 0 };
	struct heard h;
	struct pair p;
	int i;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	hs = handlers(&h);
	assert_int_equal(sdr_qp_handlers_set(p.r, &hs), 0);
	for (i = 0; i < 4; i++) {
		a = (struct sdr_wire_app){ .qpn = p.r->qpn + (i == 0),
					   .rkey = p.r->rkey ^ (i == 1) };
		sdr_wire_app_encode(buf, &a);
		loop_forge_ctl(p.net, 1, 3, buf, i == 2 ? SDR_WIRE_APP_HDR - 1 : sizeof(buf));
		pair_run(&p);
		assert_int_equal(h.n, i == 3);
	}
	assert_int_equal(sdr_context_stats(p.b, &st), 0);
	assert_int_equal(st.pkts_bad, 3);
	pair_close(&p);
}

static void handlers__are_told_that_it_broke(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_qp_handlers hs;
	struct heard h;
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	hs = handlers(&h);
	hs.size = 3;
	assert_int_equal(sdr_qp_handlers_set(p.r, &hs), -EINVAL);
	hs.size = sizeof(hs);
	assert_int_equal(sdr_qp_handlers_set(NULL, &hs), -EINVAL);
	assert_int_equal(sdr_qp_handlers_set(p.r, &hs), 0);
	loop_forge_broken(p.net, 1, p.r, -ENETDOWN);
	loop_forge_broken(p.net, 1, p.r, -ENETDOWN);
	pair_run(&p);
	assert_int_equal(h.broken, 1);
	assert_int_equal(sdr_qp_ctl_send(p.r, "x", 1), -ENETDOWN);
	assert_int_equal(sdr_qp_handlers_set(p.r, NULL), 0);
	pair_close(&p);
}

/* ---- the immediate --------------------------------------------------------------------------- */

static void imm__comes_again(void **state)
{
	struct sdr_start_wr w = { .length = 2 * MTU, .imm = 0xfeedbeef, .flags = SDR_SEND_IMM };
	struct sdr_continue_wr c = { .length = 2 * MTU };
	struct sdr_qp_attr attr = attr_small();
	uint8_t out[2 * MTU], in[2 * MTU];
	struct sdr_rcv_handle *r;
	struct sdr_snd_handle *s;
	uint32_t imm = 0;
	struct pair p;
	int tries;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	pattern_fill(out, 5, sizeof(out));
	c.addr = out;
	r = post(&p, in, sizeof(in));
	pair_run(&p);
	assert_int_equal(sdr_send_stream_start(p.s, &w, &s), 0);
	p.net->automatic = false;
	assert_int_equal(sdr_send_stream_continue(s, &c), 0);
	/* 32 / 4 fragments: two packets of data, six empty ones.  The last four are lost. */
	assert_int_equal(p.net->npkts, 8);
	for (tries = 0; tries < 4; tries++)
		loop_drop(p.net, 4);
	loop_deliver_all(p.net);
	p.net->automatic = true;
	pair_run(&p);
	assert_int_equal(sdr_recv_state(r)->cum, 2); /* whole */
	assert_int_equal(sdr_recv_imm_get(r, &imm), -EAGAIN);
	assert_int_equal(sdr_send_imm_again(s), 0);
	pair_run(&p);
	assert_int_equal(sdr_recv_imm_get(r, &imm), 0);
	assert_int_equal(imm, 0xfeedbeef);
	assert_int_equal(sdr_recv_state(r)->dups, 0); /* no data went again */
	assert_int_equal(sdr_send_stream_end(s), 0);
	assert_int_equal(sdr_send_imm_again(s), -EINVAL);
	assert_int_equal(sdr_send_poll(s), 1);
	pair_close(&p);
}

/* ---- calling off ----------------------------------------------------------------------------- */

static void cancel__of_what_nobody_waits_for(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	uint8_t out[4 * MTU], in[4 * MTU];
	struct sdr_snd_handle *s[3];
	struct sdr_rcv_handle *r;
	struct pair p;
	int i;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	pattern_fill(out, 9, sizeof(out));
	for (i = 0; i < 3; i++)
		s[i] = xsend(&p, out, sizeof(out));
	pair_run(&p);
	assert_int_equal(sdr_send_poll(s[1]), 0);
	assert_int_equal(sdr_send_cancel(s[1]), 0);
	assert_int_equal(sdr_send_cancel(NULL), -EINVAL);
	/* its number is used: the second buffer stays empty, the third message comes */
	for (i = 0; i < 3; i++) {
		memset(in, 0, sizeof(in));
		r = post(&p, in, sizeof(in));
		pair_run(&p);
		assert_int_equal(sdr_recv_state(r)->got, i == 1 ? 0 : 4);
		assert_int_equal(sdr_recv_complete(r), 0);
	}
	pattern_check(in, 9, sizeof(in));
	assert_int_equal(sdr_send_poll(s[0]), 1);
	assert_int_equal(sdr_send_poll(s[2]), 1);
	/* all places are free again */
	for (i = 0; i < 16; i++)
		assert_int_equal(sdr_send_cancel(xsend(&p, out, sizeof(out))), 0);
	pair_close(&p);
}

/* What is in the batch leaves it; what a device still reads is only over. */
static void cancel__in_the_middle(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	uint8_t out[16 * MTU], in[16 * MTU];
	struct sdr_snd_handle *s;
	struct sdr_rcv_handle *r;
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	pattern_fill(out, 2, sizeof(out));
	r = post(&p, in, sizeof(in));
	pair_run(&p);
	p.net->budget = 5;
	s = xsend(&p, out, sizeof(out));
	assert_int_equal(sdr_send_cancel(s), 0);
	p.net->budget = LOOP_UNLIMITED;
	pair_run(&p);
	assert_int_equal(sdr_recv_state(r)->got, 5);
	pair_close(&p);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void numbered(struct pair *p, enum loop_mode mode)
{
	struct sdr_qp_attr attr = attr_small();

	attr.flags = SDR_QP_NUMBERED;
	pair_open(p, mode, NULL, NULL);
	pair_qps(p, &attr, NULL);
}

static void number__any_order(void **state)
{
	static const enum loop_mode modes[] = { LOOP_SOFT, LOOP_HW, LOOP_RKEYED, LOOP_RKEYED_ROOT };
	struct sdr_qp_peer peer = { .size = sizeof(peer) };
	static uint8_t out[4][4 * MTU], in[4][4 * MTU];
	struct sdr_start_wr start = { .length = 4 * MTU };
	struct sdr_snd_handle *s[4];
	struct sdr_rcv_handle *r[4];
	struct pair p;
	uint32_t i, k;

	(void)state;
	for (k = 0; k < 4; k++) {
		numbered(&p, modes[k]);
		assert_int_equal(sdr_qp_peer_query(p.s, &peer), 0);
		assert_int_equal(peer.keyed, k > 1);
		sdr_qp_limit_set(p.s, 16);
		memset(in, 0, sizeof(in));
		for (i = 4; i-- > 0;) { /* downwards, and 2 is not wanted */
			struct sdr_rcv_wr w = { .addr = in[i], .length = 4 * MTU };
			struct sdr_continue_wr c = { .addr = out[i], .length = 4 * MTU };
			uint64_t va = 1;
			uint32_t rkey = 1;

			pattern_fill(out[i], i, 4 * MTU);
			if (i == 2)
				continue;
			assert_int_equal(sdr_recv_post_at(p.r, i, &w, &in[i], &r[i]), 0);
			assert_int_equal(sdr_recv_post_at(p.r, i, &w, NULL, &r[2]), -EBUSY);
			assert_ptr_equal(sdr_recv_state(r[i])->user, &in[i]);
			assert_ptr_equal(sdr_recv_find(p.r, i), r[i]);
			assert_int_equal(sdr_send_stream_start_at(p.s, i, &start, &s[i]), 0);
			assert_int_equal(sdr_recv_key_get(r[i], &va, &rkey), 0);
			if (peer.keyed) {
				assert_int_equal(sdr_send_stream_continue(s[i], &c), -EAGAIN);
				sdr_send_key_set(s[i], va, rkey);
			} else {
				assert_true(!va && !rkey);
			}
			assert_int_equal(sdr_send_stream_continue(s[i], &c), 0);
			assert_int_equal(sdr_send_stream_end(s[i]), 0);
		}
		pair_run(&p);
		for (i = 0; i < 4; i++) {
			if (i == 2)
				continue;
			assert_int_equal(sdr_recv_state(r[i])->cum, 4);
			pattern_check(in[i], i, 4 * MTU);
			assert_int_equal(sdr_send_poll(s[i]), 1);
			assert_int_equal(sdr_recv_complete(r[i]), 0);
			assert_true(sdr_recv_is_done(p.r, i));
			assert_null(sdr_recv_find(p.r, i));
		}
		assert_int_equal(sdr_qp_recv_base(p.r), 2);
		sdr_recv_skip(p.r, 2);
		assert_int_equal(sdr_qp_recv_base(p.r), 4);
		pair_close(&p);
	}
}

/* No message leaves above the limit; those that wait leave in whatever order their numbers come. */
static void number__waits_for_the_limit(void **state)
{
	struct sdr_start_wr start = { .length = MTU };
	static uint8_t out[MTU], in[3][MTU];
	struct sdr_continue_wr c = { .addr = out, .length = MTU };
	struct sdr_snd_handle *s[3], *other;
	struct sdr_snd_wr whole = { .addr = out, .length = MTU };
	struct sdr_qp_attr attr = attr_small();
	struct sdr_rcv_handle *r[3];
	struct pair p;
	uint32_t i;

	(void)state;
	numbered(&p, LOOP_SOFT);
	for (i = 0; i < 3; i++) {
		struct sdr_rcv_wr w = { .addr = in[i], .length = MTU };

		assert_int_equal(sdr_recv_post_at(p.r, i, &w, NULL, &r[i]), 0);
		assert_int_equal(sdr_send_stream_start_at(p.s, 2 - i, &start, &s[2 - i]), 0);
		assert_int_equal(sdr_send_stream_continue(s[2 - i], &c), -EAGAIN);
	}
	assert_int_equal(sdr_send_post(p.s, &whole, &other), 0); /* number 3 */
	sdr_qp_limit_set(p.s, 2);
	for (i = 0; i < 3; i++)
		assert_int_equal(sdr_send_stream_continue(s[i], &c), i < 2 ? 0 : -EAGAIN);
	pair_run(&p);
	for (i = 0; i < 3; i++)
		assert_int_equal(sdr_recv_state(r[i])->got, i < 2);
	sdr_qp_limit_set(p.s, 1); /* it never moves back */
	assert_int_equal(sdr_send_poll(other), 0);
	sdr_qp_limit_set(p.s, 4);
	pair_run(&p);
	assert_int_equal(sdr_send_poll(other), 1);
	for (i = 0; i < 3; i++)
		assert_int_equal(sdr_send_cancel(s[i]), 0);
	pair_close(&p);
	/* others have no such numbers */
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	assert_int_equal(sdr_send_stream_start_at(p.s, 5, &start, &other), -EOPNOTSUPP);
	attr.flags = 2;
	assert_null(sdr_qp_create(p.a, &attr));
	assert_int_equal(errno, EINVAL);
	pair_close(&p);
}

/* ---- what became of it ----------------------------------------------------------------------- */

static void query__fills_what_was_left_open(void **state)
{
	struct sdr_qp_attr open = { .size = sizeof(open), .rate_bps = 77 }, got;
	char why[SDR_WHY_LEN] = "";
	struct sdr_qp *qp;
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_SOFT, NULL, NULL);
	qp = sdr_qp_create(p.a, &open);
	memset(&got, 0xff, sizeof(got));
	got.size = sizeof(got);
	got.why = why;
	got.why_len = sizeof(why);
	assert_int_equal(sdr_qp_query(qp, &got), 0);
	assert_int_equal(got.mtu, 4096);
	assert_int_equal(got.chunk, 65536);
	assert_int_equal(got.max_msg, 1u << 30);
	assert_int_equal(got.max_inflight, 1024);
	assert_true(got.id_bits == 10 && got.off_bits == 18 && got.user_bits == 4);
	assert_true(got.channels == 1 && got.generations == 4 && !got.flags);
	assert_int_equal(got.rate_bps, 77);
	assert_ptr_equal(got.why, why);
	assert_int_equal(got.why_len, sizeof(why));
	/* what it says makes the same again */
	assert_int_equal(sdr_qp_destroy(qp), 0);
	qp = sdr_qp_create(p.a, &got);
	assert_non_null(qp);
	/* a program from before: no more is written than it has room for */
	memset(&got, 0xff, sizeof(got));
	got.size = offsetof(struct sdr_qp_attr, why);
	assert_int_equal(sdr_qp_query(qp, &got), 0);
	assert_int_equal(got.size, offsetof(struct sdr_qp_attr, why));
	assert_int_equal((uintptr_t)got.why, UINTPTR_MAX);
	got.size = 1;
	assert_int_equal(sdr_qp_query(qp, &got), -EINVAL);
	assert_int_equal(sdr_qp_peer_query(qp, &(struct sdr_qp_peer){ .size = 16 }), -ENOTCONN);
	assert_int_equal(sdr_qp_destroy(qp), 0);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ctl__comes_behind_the_data),
		cmocka_unit_test(ctl__refuses),
		cmocka_unit_test(ctl__of_strangers),
		cmocka_unit_test(handlers__are_told_that_it_broke),
		cmocka_unit_test(imm__comes_again),
		cmocka_unit_test(cancel__of_what_nobody_waits_for),
		cmocka_unit_test(cancel__in_the_middle),
		cmocka_unit_test(number__any_order),
		cmocka_unit_test(number__waits_for_the_limit),
		cmocka_unit_test(query__fills_what_was_left_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
