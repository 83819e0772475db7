/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Messages that need a grant: what an rkeyed receiver tells, what its sender makes of it when it is
 * lost, repeated, reordered or forged, and that nothing is ever written after a grant has ended.
 */
#include "test_sdk.h"

static const enum loop_mode rkeyed_modes[] = { LOOP_RKEYED, LOOP_RKEYED_ROOT };
#define EACH_MODE(m) for (m = 0; m < 2; m++)

static void start_at(struct pair *p, uint32_t n)
{
	p->s->snd_next = p->s->snd_limit = p->s->snd_known = n;
	p->r->base = p->r->next = p->r->cts_seen = p->r->keys_sent = n;
}

/* The outstanding datagram i as a KEYS from b to a; false: it is something else. */
static bool keys_at(const struct pair *p, uint32_t i, struct sdr_wire_keys *k)
{
	const struct loop_pkt *d = p->net->pkts[i];

	if (d->kind != SDR_UC_TX_CTL || d->dst != 0 || d->buf[3] != SDR_SDK_KEYS)
		return false;
	assert_int_equal(sdr_wire_keys_decode(d->buf + SDR_CLASS_LEN, d->len - SDR_CLASS_LEN, k),
			 0);
	assert_true(k->qpn == p->s->qpn && k->rkey == p->s->rkey);
	return true;
}

/* The only outstanding datagram. */
static struct sdr_wire_keys keys_only(const struct pair *p)
{
	struct sdr_wire_keys k;

	assert_int_equal(p->net->npkts, 1);
	assert_true(keys_at(p, 0, &k));
	return k;
}

static void assert_key(const struct sdr_wire_keys *k, uint32_t i, const struct sdr_rcv_handle *h)
{
	struct sdr_wire_key key;

	assert_in_range(i, 0, k->n - 1);
	sdr_wire_key_get(k, i, &key);
	assert_int_equal(key.state, h ? SDR_KEY_LIVE : SDR_KEY_VOID);
	if (h)
		assert_true(key.va == h->grant.va && key.rkey == h->grant.rkey);
}

/* A CTS_SEEN from a is outstanding and says so. */
static void assert_seen(struct pair *p, uint32_t number)
{
	const struct loop_pkt *d = p->net->pkts[p->net->npkts - 1];
	struct sdr_wire_cts c;

	assert_true(d->kind == SDR_UC_TX_CTL && d->dst == 1 && d->buf[3] == SDR_SDK_CTS_SEEN);
	assert_int_equal(sdr_wire_cts_decode(d->buf + SDR_CLASS_LEN, d->len - SDR_CLASS_LEN, &c),
			 0);
	assert_true(c.qpn == p->r->qpn && c.rkey == p->r->rkey);
	assert_int_equal(c.posted, number);
}

static void run_a(struct pair *p)
{
	assert_true(sdr_context_progress(p->a) >= 0);
}

static void run_b(struct pair *p)
{
	assert_true(sdr_context_progress(p->b) >= 0);
}

/* Outstanding data packets. */
static uint32_t writes(const struct pair *p)
{
	uint32_t i, n = 0;

	for (i = 0; i < p->net->npkts; i++)
		n += p->net->pkts[i]->kind == SDR_UC_TX_WRITE;
	return n;
}

/* ---- straight on ----------------------------------------------------------------------------- */

static void keys__transfer(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	static uint8_t in[8 * MTU], out[8 * MTU];
	uint32_t m, i;

	(void)state;
	EACH_MODE(m)
	{
		struct pair p;

		pair_open(&p, rkeyed_modes[m], &attr, NULL);
		/* the numbers wrap, and every ID and generation is used again */
		start_at(&p, 0xffffffe0);
		assert_true(sdr_qp_rkeyed(p.r) && sdr_qp_peer_rkeyed(p.s));
		for (i = 0; i < 200; i++) {
			uint32_t len = i * 37 % (sizeof(in) + 1);
			struct sdr_rcv_handle *r;
			struct sdr_snd_handle *s;

			pattern_fill(in, i, len);
			memset(out, 0, sizeof(out));
			r = post(&p, out, len);
			assert_int_equal(p.net->grants, len > 0);
			s = xsend(&p, in, len);
			pair_run(&p);
			assert_int_equal(sdr_send_poll(s), 1);
			assert_int_equal(r->st.got, r->st.npkts);
			pattern_check(out, i, len);
			assert_int_equal(sdr_recv_complete(r), 0);
			assert_int_equal(p.net->grants, 0);
		}
		assert_true(p.net->key_bad == 0 && p.net->key_ended == 0);
		assert_false(p.r->cts_armed);
		pair_close(&p);
	}
}

/* Soft peers of rkeyed ones: each direction by itself. */
static void keys__mixed(void **state)
{
	static const enum loop_mode modes[2][2] = { { LOOP_SOFT, LOOP_RKEYED },
						    { LOOP_RKEYED, LOOP_SOFT } };
	static const uint64_t rand[2] = { 1, 2 };
	struct sdr_qp_attr attr = attr_small();
	static uint8_t in[3 * MTU], out[2][3 * MTU];
	uint32_t m, i;

	(void)state;
	pattern_fill(in, 1, sizeof(in));
	for (m = 0; m < 2; m++) {
		struct sdr_rcv_wr rw = { .length = sizeof(in) };
		struct sdr_snd_wr sw = { .addr = in, .length = sizeof(in) };
		struct sdr_rcv_handle *r[2];
		struct sdr_snd_handle *s[2];
		struct sdr_uc *uc;
		struct pair p = { 0 };

		p.net = loop_net_create(modes[m][0], 4096);
		assert_int_equal(loop_open(p.net, 0, &uc), 0);
		p.a = sdr_context_create_on(uc, NULL, rand);
		p.net->mode = modes[m][1];
		assert_int_equal(loop_open(p.net, 1, &uc), 0);
		p.b = sdr_context_create_on(uc, NULL, rand);
		pair_qps(&p, &attr, NULL);
		assert_int_equal(!p.s->keys, modes[m][1] == LOOP_SOFT);
		assert_int_equal(!p.r->keys, modes[m][0] == LOOP_SOFT);
		for (i = 0; i < 2; i++) {
			rw.addr = out[i];
			memset(out[i], 0, sizeof(out[i]));
			assert_int_equal(sdr_recv_post(i ? p.r : p.s, &rw, &r[i]), 0);
			assert_int_equal(sdr_send_post(i ? p.s : p.r, &sw, &s[i]), 0);
		}
		pair_run(&p);
		for (i = 0; i < 2; i++) {
			assert_int_equal(sdr_send_poll(s[i]), 1);
			assert_int_equal(r[i]->st.got, 3);
			pattern_check(out[i], 1, sizeof(in));
			assert_int_equal(sdr_recv_complete(r[i]), 0);
		}
		pair_close(&p);
	}
}

/*
 * A message of no bytes has no grant; the packets that carry the rest of an immediate have no place
 * in one.
 */
static void keys__empty_and_immediate(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_snd_wr wr = { .imm = 0xdeadbeef, .flags = SDR_SEND_IMM };
	uint8_t in[MTU + 1], out[MTU + 1] = { 0 };
	struct sdr_snd_handle *s;
	struct sdr_rcv_handle *r;
	struct pair p;
	uint32_t m, imm;

	(void)state;
	pattern_fill(in, 3, sizeof(in));
	EACH_MODE(m)
	{
		pair_open(&p, rkeyed_modes[m], &attr, NULL);
		for (wr.length = 0; wr.length <= MTU + 1; wr.length += MTU + 1) {
			wr.addr = in;
			r = post(&p, out, wr.length);
			assert_int_equal(p.net->grants, wr.length > 0);
			assert_int_equal(sdr_send_post(p.s, &wr, &s), 0);
			pair_run(&p);
			assert_int_equal(sdr_send_poll(s), 1);
			assert_int_equal(r->st.got, r->st.npkts);
			assert_int_equal(sdr_recv_imm_get(r, &imm), 0);
			assert_int_equal(imm, 0xdeadbeef);
			assert_int_equal(sdr_recv_complete(r), 0);
		}
		pattern_check(out, 3, sizeof(out));
		pair_close(&p);
	}
}

/* ---- what is told, and how often ------------------------------------------------------------- */

static void keys__told_until_confirmed(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_rcv_handle *h[3];
	struct sdr_wire_keys k;
	uint8_t out[3][MTU];
	uint64_t wait;
	struct pair p;
	int i;

	(void)state;
	pair_open(&p, LOOP_RKEYED, &attr, NULL);
	p.net->automatic = false;
	for (i = 0; i < 3; i++) {
		h[i] = post(&p, out[i], MTU); /* a post tells what is new */
		k = keys_only(&p);
		assert_true(k.first == (uint32_t)i && k.n == 1 && k.posted == (uint32_t)i + 1);
		assert_key(&k, 0, h[i]);
		loop_drop_all(p.net);
	}
	/* the repetition tells everything, at 10 ms, doubling up to 1 s */
	for (wait = SDR_CTS_FIRST_NS, i = 0; i < 10; i++) {
		p.net->now += wait - 1;
		run_b(&p);
		assert_int_equal(p.net->npkts, 0);
		p.net->now++;
		run_b(&p);
		k = keys_only(&p);
		assert_true(k.first == 0 && k.n == 3 && k.posted == 3);
		assert_key(&k, 0, h[0]);
		assert_key(&k, 1, i < 5 ? h[1] : NULL);
		assert_key(&k, 2, h[2]);
		loop_drop_all(p.net);
		wait = 2 * wait < SDR_CTS_MAX_NS ? 2 * wait : SDR_CTS_MAX_NS;
		if (i == 4) /* completed meanwhile: void from now on */
			assert_int_equal(sdr_recv_complete(h[1]), 0);
	}
	p.net->now += wait;
	run_b(&p);
	loop_deliver_all(p.net);
	run_a(&p);
	assert_int_equal(p.net->npkts, 1);
	assert_seen(&p, 3);
	loop_deliver_all(p.net);
	run_b(&p);
	assert_false(p.r->cts_armed);
	p.net->now += 100 * SDR_CTS_MAX_NS;
	run_b(&p);
	assert_int_equal(p.net->npkts, 0);
	pair_close(&p);
}

/*
 * Posts that come faster than the repetition must not put it off: they say nothing of what was
 * lost.
 */
static void keys__posts_do_not_delay_repetition(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_wire_keys k;
	uint8_t out[16][MTU];
	uint32_t i, whole = 0;
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_RKEYED, &attr, NULL);
	p.net->automatic = false;
	for (i = 0; i < 16; i++) {
		post(&p, out[i], MTU);
		loop_drop_all(p.net);
		p.net->now += SDR_CTS_FIRST_NS / 4;
		run_b(&p);
		if (p.net->npkts) {
			k = keys_only(&p);
			assert_true(k.first == 0 && k.n == i + 1);
			whole++;
		}
		loop_drop_all(p.net);
	}
	assert_in_range(whole, 3, 4);
	pair_close(&p);
}

/* A packet of a later message says nothing of the keys before it. */
static void keys__only_seen_counts(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_snd_handle *s[2];
	struct sdr_rcv_handle *r[2];
	uint8_t in[MTU], out[2][MTU];
	struct sdr_wire_keys k;
	struct pair p;

	(void)state;
	pattern_fill(in, 1, MTU);
	pair_open(&p, LOOP_RKEYED, &attr, NULL);
	p.net->automatic = false;
	s[0] = xsend(&p, in, MTU);
	s[1] = xsend(&p, in, MTU);
	r[0] = post(&p, out[0], MTU);
	loop_drop_all(p.net);
	r[1] = post(&p, out[1], MTU);
	loop_deliver_all(p.net);
	run_a(&p);
	assert_int_equal(writes(&p), 1);
	assert_seen(&p, 0);
	assert_int_equal(sdr_send_poll(s[1]), 1);
	assert_int_equal(sdr_send_poll(s[0]), 0);
	loop_deliver_all(p.net);
	run_b(&p);
	assert_int_equal(r[1]->st.got, 1);
	pattern_check(out[1], 1, MTU);
	assert_int_equal(p.r->cts_seen, 0);
	assert_true(p.r->cts_armed);
	p.net->now += SDR_CTS_FIRST_NS;
	run_b(&p);
	k = keys_only(&p);
	assert_true(k.first == 0 && k.n == 2);
	loop_deliver_all(p.net);
	run_a(&p);
	assert_int_equal(writes(&p), 1);
	assert_seen(&p, 2);
	assert_int_equal(sdr_send_poll(s[0]), 1);
	loop_deliver_all(p.net);
	run_b(&p);
	assert_int_equal(r[0]->st.got, 1);
	assert_false(p.r->cts_armed);
	pair_close(&p);
}

static void keys__lost_repeated_reordered(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_snd_handle *s[4];
	struct sdr_rcv_handle *r[4];
	uint8_t in[4][MTU], out[4][MTU];
	uint32_t i, n;
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_RKEYED, &attr, NULL);
	p.net->automatic = false;
	for (i = 0; i < 4; i++) {
		pattern_fill(in[i], i, MTU);
		s[i] = xsend(&p, in[i], MTU);
		r[i] = post(&p, out[i], MTU);
	}
	assert_int_equal(p.net->npkts, 4);
	/* 3 twice, then 1, then 3 again, then 0; 2 is lost */
	loop_deliver_copy(p.net, 3);
	loop_deliver_copy(p.net, 3);
	run_a(&p);
	assert_int_equal(writes(&p), 1);
	assert_true(p.s->snd_limit == 4 && p.s->snd_known == 0);
	loop_deliver(p.net, 1);
	run_a(&p);
	assert_int_equal(writes(&p), 2);
	loop_deliver(p.net, 2);
	run_a(&p);
	assert_int_equal(writes(&p), 2);
	loop_deliver(p.net, 0);
	run_a(&p);
	assert_int_equal(writes(&p), 3);
	assert_int_equal(p.s->snd_known, 2);
	loop_drop(p.net, 0);
	loop_deliver_all(p.net);
	run_b(&p);
	assert_int_equal(p.r->cts_seen, 2);
	for (i = 0; i < 4; i++)
		assert_int_equal(r[i]->st.got, i != 2);
	p.net->now += SDR_CTS_FIRST_NS;
	run_b(&p);
	loop_deliver_all(p.net);
	for (n = 0; n < 3; n++) {
		run_a(&p);
		loop_deliver_all(p.net);
		run_b(&p);
	}
	for (i = 0; i < 4; i++) {
		assert_int_equal(r[i]->st.got, 1);
		assert_int_equal(r[i]->st.dups, 0);
		assert_int_equal(sdr_send_poll(s[i]), 1);
		pattern_check(out[i], i, MTU);
	}
	assert_int_equal(p.net->key_bad, 0);
	assert_false(p.r->cts_armed);
	pair_close(&p);
}

/*
 * Completed or skipped before its sender knew: counts as sent, nothing is sent; so does what
 * becomes void later.
 */
static void keys__void(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_snd_handle *s[4];
	struct sdr_rcv_handle *r[4];
	uint8_t in[MTU], out[4][MTU];
	struct sdr_wire_keys k;
	uint32_t i;
	struct pair p;

	(void)state;
	pattern_fill(in, 1, MTU);
	pair_open(&p, LOOP_RKEYED, &attr, NULL);
	p.net->automatic = false;
	sdr_recv_skip(p.r, 1);
	r[0] = post(&p, out[0], MTU);
	r[2] = post(&p, out[2], MTU);
	assert_int_equal(r[2]->st.msn, 2);
	r[3] = post(&p, out[3], MTU);
	loop_drop_all(p.net);
	assert_int_equal(sdr_recv_complete(r[2]), 0);
	p.net->now += SDR_CTS_FIRST_NS;
	run_b(&p);
	k = keys_only(&p);
	assert_int_equal(k.n, 4);
	assert_key(&k, 0, r[0]);
	assert_key(&k, 1, NULL);
	assert_key(&k, 2, NULL);
	assert_key(&k, 3, r[3]);
	for (i = 0; i < 2; i++)
		s[i] = xsend(&p, in, MTU);
	loop_deliver_copy(p.net, 0);
	run_a(&p);
	s[2] = xsend(&p, in, MTU);
	assert_int_equal(writes(&p), 1);
	for (i = 0; i < 3; i++)
		assert_int_equal(sdr_send_poll(s[i]), 1);
	assert_int_equal(p.s->snd_known, 4);
	/* 3 is known to be live; before it is sent it becomes void */
	loop_drop_all(p.net);
	assert_int_equal(sdr_recv_complete(r[3]), 0);
	p.net->now += 2 * SDR_CTS_FIRST_NS;
	run_b(&p);
	p.net->budget = 0; /* the engine is full: the packet waits in the batch */
	s[3] = xsend(&p, in, MTU);
	assert_int_equal(sdr_send_poll(s[3]), 0);
	assert_int_equal(s[3]->queued, 1);
	loop_deliver_all(p.net);
	run_a(&p);
	assert_int_equal(s[3]->queued, 0);
	p.net->budget = LOOP_UNLIMITED;
	assert_int_equal(sdr_send_poll(s[3]), 1);
	assert_int_equal(writes(&p), 0);
	pair_close(&p);
}

static void keys__stream(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_start_wr start = { .length = 4 * MTU };
	struct sdr_continue_wr part = { .length = MTU };
	uint8_t in[4 * MTU], out[2][4 * MTU];
	struct sdr_snd_handle *s[2];
	struct sdr_rcv_handle *r[2];
	uint32_t i;
	struct pair p;

	(void)state;
	pattern_fill(in, 1, sizeof(in));
	pair_open(&p, LOOP_RKEYED, &attr, NULL);
	for (i = 0; i < 2; i++)
		assert_int_equal(sdr_send_stream_start(p.s, &start, &s[i]), 0);
	part.addr = in;
	p.net->automatic = false;
	r[0] = post(&p, out[0], sizeof(in));
	loop_drop_all(p.net);
	r[1] = post(&p, out[1], sizeof(in));
	p.net->automatic = true;
	loop_deliver_all(p.net);
	run_a(&p);
	/* below the limit, key not known */
	assert_int_equal(sdr_send_stream_continue(s[0], &part), -EAGAIN);
	for (i = 4; i-- > 0;) {
		part.offset = i * MTU;
		part.addr = in + part.offset;
		assert_int_equal(sdr_send_stream_continue(s[1], &part), 0);
	}
	run_b(&p);
	assert_int_equal(r[1]->st.got, 4);
	pattern_check(out[1], 1, sizeof(in));
	assert_int_equal(sdr_recv_complete(r[0]), 0);
	p.net->now += SDR_CTS_FIRST_NS;
	pair_run(&p);
	assert_int_equal(sdr_send_stream_continue(s[0], &part), 0); /* void: counts as sent */
	pair_run(&p);
	assert_int_equal(p.net->key_ended, 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(sdr_send_stream_end(s[i]), 0);
		assert_int_equal(sdr_send_poll(s[i]), 1);
	}
	pair_close(&p);
}

/* More receives than one datagram tells, posted before the QPs know each other. */
static void keys__several_datagrams(void **state)
{
	enum { N = 300 };
	struct sdr_qp_attr attr = attr_small();
	static uint8_t in[N][MTU], out[N][MTU];
	static struct sdr_snd_handle *s[N];
	static struct sdr_rcv_handle *r[N];
	uint32_t i, most = (SDR_CTL_MIN - SDR_WIRE_KEYS_HDR) / SDR_WIRE_KEY_LEN, next = 0;
	uint8_t info[SDR_QP_INFO_SIZE];
	struct sdr_wire_keys k;
	struct pair p;

	(void)state;
	attr.id_bits = 9;
	attr.off_bits = 19;
	pair_open(&p, LOOP_RKEYED, NULL, NULL);
	p.net->automatic = false;
	p.s = sdr_qp_create(p.a, &attr);
	p.r = sdr_qp_create(p.b, &attr);
	for (i = 0; i < N; i++)
		r[i] = post(&p, out[i], MTU);
	assert_int_equal(p.net->npkts, 0);
	sdr_qp_info_get(p.s, info);
	assert_int_equal(sdr_qp_connect(p.r, info), 0);
	run_b(&p);
	assert_int_equal(p.net->npkts, (N + most - 1) / most);
	loop_deliver(p.net, 0); /* before the sender is connected: no harm */
	run_a(&p);
	sdr_qp_info_get(p.r, info);
	assert_int_equal(sdr_qp_connect(p.s, info), 0);
	loop_drop_all(p.net);
	p.net->now += SDR_CTS_FIRST_NS;
	run_b(&p);
	for (i = 0; i < p.net->npkts; i++) {
		assert_true(keys_at(&p, i, &k));
		assert_true(k.first == next && k.posted == N &&
			    k.n == (N - next < most ? N - next : most));
		next += k.n;
	}
	assert_int_equal(next, N);
	for (i = 0; i < N; i++) {
		pattern_fill(in[i], i, MTU);
		s[i] = xsend(&p, in[i], MTU);
	}
	while (p.net->npkts && p.net->pkts[p.net->npkts - 1]->dst == 0)
		loop_deliver(p.net, p.net->npkts - 1); /* the last one first */
	p.net->automatic = true;
	loop_deliver_all(p.net);
	pair_run(&p);
	for (i = 0; i < N; i++) {
		assert_int_equal(sdr_send_poll(s[i]), 1);
		assert_int_equal(r[i]->st.got, 1);
		pattern_check(out[i], i, MTU);
	}
	assert_int_equal(p.s->snd_known, N);
	assert_false(p.r->cts_armed);
	pair_close(&p);
}

/*
 * The rule of sdr_cts.c: a receiver does not run (generations - 1) * IDs ahead of what is
 * confirmed.
 */
static void keys__far_ahead(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_rcv_wr wr = { .length = MTU };
	uint8_t in[MTU], out[MTU];
	struct sdr_snd_handle *s[20];
	struct sdr_rcv_handle *r;
	struct sdr_wire_keys k;
	uint32_t i, rest;
	struct pair p;

	(void)state;
	pattern_fill(in, 1, MTU);
	pair_open(&p, LOOP_RKEYED, &attr, NULL);
	p.net->automatic = false;
	for (i = 0; i < 3 * 16; i++)
		assert_int_equal(sdr_recv_complete(post(&p, out, MTU)), 0);
	wr.addr = out;
	assert_int_equal(sdr_recv_post(p.r, &wr, &r), -EAGAIN);
	assert_int_equal(p.net->grants, 0);
	loop_drop_all(p.net);
	/* only the last 16 are told one by one; of the others `posted` says that they are done */
	p.net->now += SDR_CTS_MAX_NS;
	run_b(&p);
	k = keys_only(&p);
	assert_true(k.posted == 48 && k.first == 32 && k.n == 16);
	for (i = 0; i < 16; i++)
		s[i] = xsend(&p, in, MTU);
	loop_deliver_all(p.net);
	run_a(&p);
	assert_int_equal(p.s->snd_known, 48);
	for (rest = 48; rest;) {
		for (i = 0; i < 16 && rest; i++, rest--)
			assert_int_equal(sdr_send_poll(s[i]), 1);
		for (i = 0; i < 16 && rest; i++)
			s[i] = xsend(&p, in, MTU);
	}
	assert_int_equal(writes(&p), 0);
	loop_deliver_all(p.net);
	run_b(&p);
	assert_int_equal(p.r->cts_seen, 48);
	assert_int_equal(sdr_recv_post(p.r, &wr, &r), 0);
	pair_close(&p);
}

/* ---- late packets ---------------------------------------------------------------------------- */

/*
 * Completed while packets are under way; the buffer is used again at once, also by the next user of
 * the slot.
 */
static void keys__late_packets(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	uint8_t in[2][4 * MTU], out[4 * MTU], copy[4 * MTU];
	struct sdr_snd_handle *s;
	struct sdr_rcv_handle *r;
	uint32_t m, i, late;
	struct pair p;

	(void)state;
	EACH_MODE(m)
	{
		pair_open(&p, rkeyed_modes[m], &attr, NULL);
		for (i = 0; i < 2; i++)
			pattern_fill(in[i], i + 1, sizeof(in[i]));
		memset(out, 0, sizeof(out));
		r = post(&p, out, sizeof(out));
		pair_run(&p);
		p.net->automatic = false;
		s = xsend(&p, in[0], sizeof(in[0]));
		assert_int_equal(sdr_send_poll(s), 1);
		assert_int_equal(writes(&p), 4);
		loop_deliver_copy(p.net, 0); /* placed; its event is met after completion */
		assert_int_equal(sdr_recv_complete(r), 0);
		memset(out, 0x77, sizeof(out));
		memcpy(copy, out, sizeof(out));
		late = 0;
		run_b(&p);
		assert_int_equal(p.b->pkts_late, ++late);
		for (i = 0; i < 4; i++)
			loop_deliver_copy(p.net, i);
		run_b(&p);
		late += m ? 4 : 0;
		assert_int_equal(p.b->pkts_late, late);
		assert_int_equal(p.net->key_ended, 4);
		assert_memory_equal(out, copy, sizeof(out));
		/* 16 messages on: the same slot, another generation, the same buffer */
		p.net->automatic = true;
		for (i = 1; i < 16; i++)
			assert_int_equal(sdr_recv_complete(post(&p, out, MTU)), 0);
		r = post(&p, out, sizeof(out));
		assert_int_equal(r->st.msn, 16);
		p.net->automatic = false;
		for (i = 0; i < 4; i++)
			loop_deliver(p.net, 0);
		run_b(&p);
		assert_int_equal(p.b->pkts_late, late + (m ? 4 : 0));
		assert_int_equal(r->st.got, 0);
		assert_memory_equal(out, copy, sizeof(out));
		p.net->automatic = true;
		p.net->now += SDR_CTS_MAX_NS;
		pair_run(&p);
		for (i = 1; i < 16; i++)
			assert_int_equal(sdr_send_poll(xsend(&p, in[1], MTU)), 1);
		assert_int_equal(sdr_send_poll(xsend(&p, in[1], sizeof(in[1]))), 1);
		pair_run(&p);
		assert_int_equal(r->st.got, 4);
		pattern_check(out, 2, sizeof(out));
		pair_close(&p);
	}
}

/*
 * The bound for what a device reports of ended grants: generations * IDs messages; its bytes go
 * nowhere even then.
 */
static void keys__late_by_all_generations(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	uint8_t in[MTU], out[MTU], copy[MTU];
	struct sdr_rcv_handle *r;
	uint32_t m, i;
	struct pair p;

	(void)state;
	pattern_fill(in, 1, MTU);
	EACH_MODE(m)
	{
		pair_open(&p, rkeyed_modes[m], &attr, NULL);
		r = post(&p, out, MTU);
		pair_run(&p);
		p.net->automatic = false;
		assert_int_equal(sdr_send_poll(xsend(&p, in, MTU)), 1);
		assert_int_equal(sdr_recv_complete(r), 0);
		p.net->automatic = true;
		memset(out, 0x77, sizeof(out));
		memcpy(copy, out, sizeof(out));
		for (i = 1; i < 4 * 16; i++) {
			assert_int_equal(sdr_recv_complete(post(&p, out, MTU)), 0);
			pair_run(&p);
		}
		r = post(&p, out, MTU);
		assert_int_equal(r->st.msn, 4 * 16);
		loop_deliver(p.net, 0);
		run_b(&p);
		/* "root": taken for its successor; "mr", "mw": nothing is seen */
		assert_int_equal(r->st.got, m);
		assert_memory_equal(out, copy, sizeof(out));
		pair_close(&p);
	}
}

static void keys__qp_destroy(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	static uint8_t in[4 * MTU], out[8][4 * MTU];
	uint32_t m, i;
	struct pair p;

	(void)state;
	EACH_MODE(m)
	{
		pair_open(&p, rkeyed_modes[m], &attr, NULL);
		for (i = 0; i < 8; i++)
			post(&p, out[i], sizeof(out[i]));
		pair_run(&p);
		p.net->automatic = false;
		for (i = 0; i < 9; i++)
			xsend(&p, in, sizeof(in)); /* the last one waits for its key */
		run_a(&p);
		assert_int_equal(p.net->grants, 8);
		loop_deliver(p.net, 0);
		assert_int_equal(sdr_qp_destroy(p.r), 0);
		assert_int_equal(p.net->grants, 0);
		memset(out, 0x77, sizeof(out));
		p.r = NULL;
		loop_deliver_all(p.net);
		run_b(&p);
		for (i = 0; i < sizeof(out); i++)
			assert_int_equal(out[i / sizeof(out[0])][i % sizeof(out[0])], 0x77);
		pair_close(&p);
	}
}

/* ---- bad input, errors ----------------------------------------------------------------------- */

static void forge(struct pair *p, const struct sdr_wire_keys *k, const struct sdr_wire_key *key)
{
	uint8_t dg[SDR_CTL_MIN];
	uint32_t i;

	for (i = 0; i < k->n; i++)
		sdr_wire_key_put(dg + SDR_WIRE_KEYS_HDR + i * SDR_WIRE_KEY_LEN, &key[i]);
	loop_forge_ctl(p->net, 0, 1, dg, (uint32_t)sdr_wire_keys_encode(dg, k));
	run_a(p);
}

static const struct sdr_wire_key evil[2] = { { 0x1000, 0x666, SDR_KEY_LIVE },
					     { 0x2000, 0x667, SDR_KEY_LIVE } };

/* Of another QP, or to one that asks for none: counted, nothing else. */
static void keys__forged_without_proof(void **state)
{
	static const struct sdr_qp_hooks hooks;
	struct sdr_qp_attr attr = attr_small();
	struct sdr_wire_keys k;
	struct sdr_wire_cts c;
	struct sdr_qp *hooked;
	uint8_t dg[64];
	uint64_t bad;
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_RKEYED, &attr, NULL);
	hooked = sdr_qp_create_hooked(p.a, &attr, &hooks);
	assert_non_null(hooked);
	bad = p.a->pkts_bad;
	k = (struct sdr_wire_keys){ .qpn = p.s->qpn, .rkey = p.s->rkey + 1, .posted = 2, .n = 2 };
	forge(&p, &k, evil);
	assert_int_equal(p.a->pkts_bad, ++bad);
	k.rkey--;
	k.qpn = hooked->qpn;
	k.rkey = hooked->rkey;
	forge(&p, &k, evil);
	assert_int_equal(p.a->pkts_bad, ++bad);
	k.qpn = p.s->qpn + 7;
	forge(&p, &k, evil);
	assert_int_equal(p.a->pkts_bad, ++bad);
	/* clear to send without keys */
	c = (struct sdr_wire_cts){ .qpn = p.s->qpn, .rkey = p.s->rkey, .posted = 9 };
	loop_forge_ctl(p.net, 0, 1, dg, (uint32_t)sdr_wire_cts_encode(dg, &c));
	run_a(&p);
	assert_int_equal(p.a->pkts_bad, ++bad);
	assert_true(p.s->snd_limit == 0 && p.s->snd_known == 0);
	assert_int_equal(sdr_qp_destroy(hooked), 0);
	pair_close(&p);

	/* a receiver that has no keys to ask for refuses them */
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	bad = p.a->pkts_bad;
	k = (struct sdr_wire_keys){ .qpn = p.s->qpn, .rkey = p.s->rkey, .posted = 2, .n = 2 };
	forge(&p, &k, evil);
	assert_int_equal(p.a->pkts_bad, bad + 1);
	assert_int_equal(p.s->snd_limit, 0);
	pair_close(&p);
}

/* The right proof, and lies: a key that came first stays, a lie costs the message it is about. */
static void keys__forged(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	uint8_t in[MTU], out[MTU] = { 0 };
	struct sdr_rcv_handle *r;
	struct sdr_wire_keys k;
	struct pair p;

	(void)state;
	pattern_fill(in, 1, MTU);
	pair_open(&p, LOOP_RKEYED, &attr, NULL);
	r = post(&p, out, MTU);
	run_a(&p);
	assert_int_equal(p.s->snd_known, 1);
	k = (struct sdr_wire_keys){ .qpn = p.s->qpn, .rkey = p.s->rkey, .posted = 1, .n = 1 };
	forge(&p, &k, evil);
	assert_true(p.s->keys[0].va == r->grant.va && p.s->keys[0].rkey == r->grant.rkey);
	assert_int_equal(sdr_send_poll(xsend(&p, in, MTU)), 1);
	pair_run(&p);
	assert_int_equal(r->st.got, 1);
	pattern_check(out, 1, MTU);
	/* entries far below the window; old posted: nothing moves */
	k.first = (uint32_t)-20;
	k.n = 2;
	forge(&p, &k, evil);
	assert_true(p.s->snd_limit == 1 && p.s->snd_known == 1 && p.s->keys[12].state == 0);
	/* inside the ring, and of no message ever: of those there are no sends */
	k.first = (uint32_t)-2;
	forge(&p, &k, evil);
	assert_int_equal(p.s->snd_known, 1);
	/* of a message to come: its packets are dropped by the receiver */
	k = (struct sdr_wire_keys){
		.qpn = p.s->qpn, .rkey = p.s->rkey, .posted = 2, .first = 1, .n = 1
	};
	forge(&p, &k, evil);
	assert_int_equal(sdr_recv_complete(r), 0);
	memset(out, 0x77, MTU);
	r = post(&p, out, MTU);
	assert_int_equal(sdr_send_poll(xsend(&p, in, MTU)), 1);
	pair_run(&p);
	assert_int_equal(p.net->key_bad, 1);
	assert_int_equal(r->st.got, 0);
	assert_int_equal(out[0], 0x77);
	pair_close(&p);
}

/* CTS_SEEN above what was posted. */
static void keys__forged_seen(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_wire_cts c;
	uint8_t out[MTU], dg[64];
	struct pair p;
	uint64_t bad;

	(void)state;
	pair_open(&p, LOOP_RKEYED, &attr, NULL);
	post(&p, out, MTU);
	run_a(&p);
	bad = p.b->pkts_bad;
	c = (struct sdr_wire_cts){ .qpn = p.r->qpn, .rkey = p.r->rkey, .posted = 2 };
	sdr_wire_cts_encode(dg, &c);
	sdr_class_encode(dg, SDR_CLASS_SDK, SDR_SDK_CTS_SEEN);
	loop_forge_ctl(p.net, 1, 0, dg, SDR_WIRE_CTS_LEN);
	run_b(&p);
	assert_int_equal(p.b->pkts_bad, bad + 1);
	c.posted = 1; /* what is true counts as nothing bad */
	sdr_wire_cts_encode(dg, &c);
	sdr_class_encode(dg, SDR_CLASS_SDK, SDR_SDK_CTS_SEEN);
	loop_forge_ctl(p.net, 1, 0, dg, SDR_WIRE_CTS_LEN);
	run_b(&p);
	assert_int_equal(p.b->pkts_bad, bad + 1);
	pair_close(&p);
}

/* A sender that hears nothing for long: the numbers that have left the window are known at once. */
static void keys__jump(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_wire_key none[8];
	struct sdr_wire_keys k = { .posted = 48, .first = 40, .n = 8 };
	struct pair p;
	uint32_t i;

	(void)state;
	for (i = 0; i < 8; i++)
		none[i] = (struct sdr_wire_key){ .state = SDR_KEY_VOID };
	pair_open(&p, LOOP_RKEYED, &attr, NULL);
	k.qpn = p.s->qpn;
	k.rkey = p.s->rkey;
	forge(&p, &k, none);
	assert_true(p.s->snd_limit == 48 && p.s->snd_known == 32);
	k.first = 32;
	k.n = 7;
	forge(&p, &k, none);
	assert_int_equal(p.s->snd_known, 39);
	k.first = 39;
	k.n = 1;
	forge(&p, &k, none);
	assert_int_equal(p.s->snd_known, 48);
	pair_close(&p);
}

static void keys__grant_fails(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_rcv_wr wr = { .length = MTU };
	struct sdr_rcv_handle *h = NULL;
	uint8_t in[MTU], out[MTU];
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_RKEYED, &attr, NULL);
	wr.addr = out;
	p.net->grant_err = -EAGAIN;
	assert_int_equal(sdr_recv_post(p.r, &wr, &h), -EAGAIN);
	p.net->grant_err = -ENOMEM;
	assert_int_equal(sdr_recv_post(p.r, &wr, &h), -ENOMEM);
	assert_null(h);
	assert_true(p.r->next == 0 && p.r->nlive == 0 && p.net->binds == 0);
	p.net->grant_err = 0;
	pattern_fill(in, 1, MTU);
	h = post(&p, out, MTU);
	pair_run(&p);
	assert_int_equal(sdr_send_poll(xsend(&p, in, MTU)), 1);
	pair_run(&p);
	assert_int_equal(h->st.got, 1);
	pair_close(&p);
}

/* ---- with hooks ------------------------------------------------------------------------------ */

static void hook_nothing(void *user, struct sdr_rcv_handle *hdl)
{
	(void)user;
	(void)hdl;
}

/* One grant for two messages, one behind the other; the layer above carries the key. */
static void keys__hooked(void **state)
{
	static const struct sdr_qp_hooks hooks = { .recv_progress = hook_nothing };
	struct sdr_qp_attr attr = attr_small();
	struct sdr_start_wr start = { .length = 4 * MTU };
	static uint8_t in[8 * MTU], out[8 * MTU];
	struct sdr_uc_grant g = { 0 }, none = { 0 };
	struct sdr_snd_handle *s[2];
	struct sdr_rcv_handle *r[2];
	uint32_t i, m;
	struct pair p;

	(void)state;
	pattern_fill(in, 1, sizeof(in));
	EACH_MODE(m)
	{
		pair_open(&p, rkeyed_modes[m], &attr, &hooks);
		memset(out, 0, sizeof(out));
		assert_null(p.s->keys);
		assert_int_equal(sdr_qp_grant(p.r, out, sizeof(out), NULL, &g), 0);
		assert_int_equal(p.net->grants, 1);
		sdr_qp_limit_set(p.s, 2);
		for (i = 0; i < 2; i++) {
			struct sdr_rcv_wr wr = { .addr = out + i * 4 * MTU, .length = 4 * MTU };

			assert_int_equal(sdr_recv_post_at(p.r, i, &wr, NULL, &r[i]), 0);
			assert_int_equal(sdr_send_start_at(p.s, i, &start, &s[i]), 0);
			sdr_send_key_set(s[i], g.va + i * 4 * MTU, g.rkey);
		}
		assert_int_equal(p.net->grants, 1); /* none of the SDK's own */
		/* runs that continue each other are one descriptor; another message's are not */
		assert_int_equal(sdr_send_packets(s[0], in, 0, 2), 2);
		assert_int_equal(sdr_send_packets(s[0], in, 2, 2), 2);
		assert_int_equal(p.a->txq.tail - p.a->txq.head, 1);
		assert_int_equal(sdr_send_packets(s[1], in + 4 * MTU, 0, 4), 4);
		assert_int_equal(p.a->txq.tail - p.a->txq.head, 2);
		for (i = 0; i < 2; i++) {
			const struct sdr_uc_tx *t = &p.a->txq.v[p.a->txq.head + i];

			assert_int_equal(t->flags, SDR_UC_F_RKEYED);
			assert_true(t->w.va == g.va + i * 4 * MTU && t->w.rkey == g.rkey);
		}
		pair_run(&p);
		assert_true(r[0]->st.got == 4 && r[1]->st.got == 4);
		pattern_check(out, 1, sizeof(out));
		assert_int_equal(p.net->key_bad, 0);
		/*
		 * the order of law 2: receives first, then the grant; what comes then is not
		 * written
		 */
		for (i = 0; i < 2; i++)
			assert_int_equal(sdr_recv_complete(r[i]), 0);
		sdr_qp_grant_end(p.r, &g);
		assert_null(g.impl);
		sdr_qp_grant_end(p.r, &g);
		sdr_qp_grant_end(p.r, &none);
		memset(out, 0x77, sizeof(out));
		assert_int_equal(sdr_send_packets(s[0], in, 0, 4), 4);
		pair_run(&p);
		assert_int_equal(p.net->key_ended, 4);
		for (i = 0; i < sizeof(out); i++)
			assert_int_equal(out[i], 0x77);
		/* no keys and no clear to send between QPs with hooks */
		assert_int_equal(p.b->cts_tx, 0);
		sdr_send_release(s[0]);
		sdr_send_release(s[1]);
		pair_close(&p);
	}
}

/* ---- everything at once ---------------------------------------------------------------------- */

#define STORM 1000u

struct storm {
	uint8_t *in, *out, *copy;
	uint32_t len, age; /* age: rounds since it was posted */
	struct sdr_snd_handle *s;
	struct sdr_rcv_handle *r;
	bool done;
};

/*
 * Messages of 0 to 5 packets, many under way at a time; every packet and datagram is delivered in
 * random order, now and then twice or never.  Receives are completed when whole, or early.  Nothing
 * changes in a completed buffer.
 */
static struct storm_run {
	struct pair p;
	struct storm msg[STORM];
	uint64_t seed;
	uint32_t posted, sent, done;
	uint32_t whole; /* were complete when they were given back */
} st;

static void storm_open(enum loop_mode mode, uint64_t seed)
{
	struct sdr_qp_attr attr = attr_small();

	memset(&st, 0, sizeof(st));
	st.seed = seed;
	attr.generations = 16; /* the network never keeps a packet for 256 messages here */
	pair_open(&st.p, mode, &attr, NULL);
	start_at(&st.p, (uint32_t)-300);
	st.p.net->automatic = false;
	for (uint32_t i = 0; i < STORM; i++) {
		struct storm *m = &st.msg[i];

		m->len = (uint32_t)(sdr_rand64(&st.seed) % (5 * MTU + 1));
		m->in = malloc(m->len + 1);
		m->out = malloc(m->len + 1);
		m->copy = malloc(m->len + 1);
		assert_true(m->in && m->out && m->copy);
		pattern_fill(m->in, i, m->len);
		memset(m->out, 0x77, m->len + 1);
	}
}

/* A receive and a send, as far as the QPs take them. */
static void storm_post(void)
{
	struct storm *r = &st.msg[st.posted], *s = &st.msg[st.sent];
	struct sdr_rcv_wr rw;
	struct sdr_snd_wr sw;

	if (st.posted < STORM) {
		rw = (struct sdr_rcv_wr){ .addr = r->out, .length = r->len };
		if (!sdr_recv_post(st.p.r, &rw, &r->r))
			st.posted++;
	}
	if (st.sent < STORM) {
		sw = (struct sdr_snd_wr){ .addr = s->in, .length = s->len };
		if (!sdr_send_post(st.p.s, &sw, &s->s))
			st.sent++;
	}
}

/* Any packet is lost, repeated or arrives. */
static void storm_packet(void)
{
	uint32_t i = (uint32_t)(sdr_rand64(&st.seed) % st.p.net->npkts);

	if (st.p.net->npkts > 200)
		i = 0; /* nothing grows very old */
	switch (sdr_rand64(&st.seed) % 20) {
	case 0:
		loop_drop(st.p.net, i);
		break;
	case 1:
		loop_deliver_copy(st.p.net, i);
		break;
	default:
		loop_deliver(st.p.net, i);
	}
}

/* Every bit tells the truth, and nothing lies behind the end. */
static void storm_check(const struct storm *m, uint32_t number)
{
	for (uint32_t n = 0; n < m->r->st.npkts; n++) {
		uint32_t at = n * MTU, end = m->len - at < MTU ? m->len : at + MTU;

		if (!sdr_bitmap_test(m->r->st.pkt_bits, n))
			continue;
		for (uint32_t k = at; k < end; k++)
			assert_int_equal(m->out[k], pattern(number, k));
	}
	assert_int_equal(m->out[m->len], 0x77);
}

/* Gives a receive back: whole, sent and old, or now and then for no reason at all. */
static void storm_complete(uint32_t i)
{
	struct storm *m = &st.msg[i];
	bool all;

	if (m->done)
		return;
	all = m->r->st.got == m->r->st.npkts;
	if (!all && !(i < st.sent && !m->s && ++m->age > 40) && sdr_rand64(&st.seed) % 200)
		return;
	storm_check(m, i);
	st.whole += all;
	assert_int_equal(sdr_recv_complete(m->r), 0);
	memcpy(m->copy, m->out, m->len + 1);
	m->done = true;
	st.done++;
}

static void storm_step(void)
{
	for (uint64_t n = sdr_rand64(&st.seed) % 4; n; n--)
		storm_post();
	for (uint32_t n = st.p.net->npkts / 2 + 1; n && st.p.net->npkts; n--)
		storm_packet();
	st.p.net->now += SDR_CTS_FIRST_NS / 2;
	run_a(&st.p);
	run_b(&st.p);
	for (uint32_t i = 0; i < st.sent; i++)
		if (st.msg[i].s && sdr_send_poll(st.msg[i].s) == 1)
			st.msg[i].s = NULL;
	for (uint32_t i = 0; i < st.posted; i++)
		storm_complete(i);
}

static void storm(enum loop_mode mode, uint64_t seed)
{
	storm_open(mode, seed);
	while (st.done < STORM)
		storm_step();
	st.p.net->automatic = true;
	loop_deliver_all(st.p.net);
	for (uint32_t n = 0; n < 20; n++) {
		st.p.net->now += SDR_CTS_MAX_NS;
		pair_run(&st.p);
	}
	for (uint32_t i = 0; i < st.sent; i++)
		if (st.msg[i].s)
			assert_int_equal(sdr_send_poll(st.msg[i].s), 1);
	assert_int_equal(st.p.net->grants, 0);
	assert_int_equal(st.p.net->key_bad, 0);
	assert_true(st.whole > STORM / 4); /* there was something to lose */
	assert_true(st.p.net->key_ended > 0);
	for (uint32_t i = 0; i < STORM; i++) {
		assert_memory_equal(st.msg[i].out, st.msg[i].copy, st.msg[i].len + 1);
		free(st.msg[i].in);
		free(st.msg[i].out);
		free(st.msg[i].copy);
	}
	pair_close(&st.p);
}

static void keys__storm(void **state)
{
	uint64_t seed;
	uint32_t m;

	(void)state;
	EACH_MODE(m)
	for (seed = 1; seed <= 10; seed++)
		storm(rkeyed_modes[m], seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys__transfer),
		cmocka_unit_test(keys__mixed),
		cmocka_unit_test(keys__empty_and_immediate),
		cmocka_unit_test(keys__told_until_confirmed),
		cmocka_unit_test(keys__posts_do_not_delay_repetition),
		cmocka_unit_test(keys__only_seen_counts),
		cmocka_unit_test(keys__lost_repeated_reordered),
		cmocka_unit_test(keys__void),
		cmocka_unit_test(keys__stream),
		cmocka_unit_test(keys__several_datagrams),
		cmocka_unit_test(keys__far_ahead),
		cmocka_unit_test(keys__late_packets),
		cmocka_unit_test(keys__late_by_all_generations),
		cmocka_unit_test(keys__qp_destroy),
		cmocka_unit_test(keys__forged_without_proof),
		cmocka_unit_test(keys__forged),
		cmocka_unit_test(keys__forged_seen),
		cmocka_unit_test(keys__jump),
		cmocka_unit_test(keys__grant_fails),
		cmocka_unit_test(keys__hooked),
		cmocka_unit_test(keys__storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
