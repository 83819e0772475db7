/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Sends: one-shot, streaming, numbered; credit; full engines that stop in the middle of a run;
 * channels; rate; what is left in the batch when a handle is released.
 */
#include "test_sdk.h"

static uint8_t src[64 * 4096], dst[64 * 4096];

/* ---- one-shot and credit --------------------------------------------------------------------- */

static void send__waits_for_buffer(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_snd_handle *s[16], *x;
	struct sdr_snd_wr wr = { .addr = src, .length = 3 * MTU };
	struct pair p;
	uint32_t i;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	for (i = 0; i < 16; i++)
		s[i] = xsend(&p, src, 3 * MTU);
	assert_int_equal(sdr_send_post(p.s, &wr, &x), -EAGAIN); /* all IDs in flight */
	pair_run(&p);
	for (i = 0; i < 16; i++)
		assert_int_equal(sdr_send_poll(s[i]), 0);
	post(&p, dst, 3 * MTU);
	post(&p, dst, 3 * MTU);
	pair_run(&p);
	assert_int_equal(sdr_send_poll(s[0]), 1);
	assert_int_equal(sdr_send_poll(s[1]), 1);
	for (i = 2; i < 16; i++)
		assert_int_equal(sdr_send_poll(s[i]), 0);
	assert_int_equal(sdr_send_post(p.s, &wr, &x), 0);
	pair_close(&p); /* with handles of both kinds open */
}

static void send__zero_bytes(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_rcv_handle *r;
	struct sdr_snd_handle *s;
	struct sdr_continue_wr c = { 0 };
	struct sdr_start_wr w = { 0 };
	const uint8_t *bits;
	struct pair p;
	size_t len;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	r = post(&p, NULL, 0);
	s = xsend(&p, NULL, 0);
	pair_run(&p);
	assert_int_equal(sdr_send_poll(s), 1);
	assert_int_equal(sdr_recv_bitmap_get(r, &bits, &len), 0);
	assert_int_equal(len, 1);
	assert_int_equal(bits[0], 1);
	r = post(&p, NULL, 0);
	pair_run(&p);
	assert_int_equal(sdr_send_stream_start(p.s, &w, &s), 0);
	assert_int_equal(sdr_send_stream_continue(s, &c), 0);
	assert_int_equal(sdr_send_stream_end(s), 0);
	pair_run(&p);
	assert_int_equal(sdr_send_poll(s), 1);
	assert_int_equal(sdr_recv_state(r)->got, 1);
	pair_close(&p);
}

static void send__unconnected(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_snd_wr wr = { .addr = src, .length = MTU };
	struct sdr_snd_handle *s;
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_SOFT, NULL, NULL);
	p.s = sdr_qp_create(p.a, &attr);
	assert_int_equal(sdr_send_post(p.s, &wr, &s), -ENOTCONN);
	pair_close(&p);
}

/* ---- streaming ------------------------------------------------------------------------------- */

static void stream__parts_in_any_order(void **state)
{
	static const uint32_t order[] = { 5, 0, 5, 7, 2, 1, 6, 3, 4 };
	struct sdr_qp_attr attr = attr_small();
	struct sdr_start_wr w = { .length = 15 * MTU + 100 };
	struct sdr_rcv_handle *r;
	struct sdr_snd_handle *s;
	struct sdr_continue_wr c;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	pattern_fill(src, 1, w.length);
	memset(dst, 0, sizeof(dst));
	assert_int_equal(sdr_send_stream_start(p.s, &w, &s), 0);
	c = (struct sdr_continue_wr){ .addr = src, .length = MTU };
	assert_int_equal(sdr_send_stream_continue(s, &c), -EAGAIN); /* no buffer yet */
	r = post(&p, dst, w.length);
	pair_run(&p);
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		c.offset = order[i] * 2 * MTU;
		c.addr = src + c.offset;
		c.length = w.length - c.offset < 2 * MTU ? w.length - c.offset : 2 * MTU;
		assert_int_equal(sdr_send_stream_continue(s, &c), 0);
		if (i == 4) {
			pair_run(&p);
			assert_int_equal(sdr_recv_state(r)->pkt_bits[0], 0xcc33);
			assert_int_equal(sdr_recv_state(r)->chunk_bits[0], 0);
		}
	}
	assert_int_equal(sdr_send_poll(s), 0);
	assert_int_equal(sdr_send_stream_end(s), 0);
	assert_int_equal(sdr_send_stream_end(s), -EINVAL);
	assert_int_equal(sdr_send_stream_continue(s, &c), -EINVAL);
	pair_run(&p);
	assert_int_equal(sdr_send_poll(s), 1);
	assert_int_equal(sdr_recv_state(r)->chunk_bits[0], 0xf);
	assert_int_equal(sdr_recv_state(r)->dups, 2);
	pattern_check(dst, 1, w.length);
	assert_int_equal(dst[w.length], 0);
	pair_close(&p);
}

static void stream__bad_parts(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_start_wr w = { .length = 5 * MTU + 1 };
	struct sdr_snd_handle *s;
	struct pair p;
	uint32_t i;
	static const struct {
		uint64_t off, len;
	} bad[] = {
		{ 1, MTU },	     { 0, 5 * MTU + 2 },
		{ MTU, MTU - 1 },    { 5 * MTU, 2 },
		{ 6 * MTU, 0 },	     { UINT64_MAX, 2 },
		{ MTU, UINT64_MAX }, { UINT64_MAX - MTU + 1, MTU },
	};

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	post(&p, dst, w.length);
	pair_run(&p);
	assert_int_equal(sdr_send_stream_start(p.s, &w, &s), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sdr_continue_wr c = { .addr = src,
					     .offset = bad[i].off,
					     .length = bad[i].len };

		assert_int_equal(sdr_send_stream_continue(s, &c), -EINVAL);
	}
	w.length = 64 * MTU + 1;
	assert_int_equal(sdr_send_stream_start(p.s, &w, &s), -EINVAL);
	w.length = 1;
	w.flags = 2;
	assert_int_equal(sdr_send_stream_start(p.s, &w, &s), -EINVAL);
	pair_close(&p);
}

static void stream__immediate_follows_last_packet(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_start_wr w = { .length = 3 * MTU, .imm = 0xfeedbeef, .flags = SDR_SEND_IMM };
	struct sdr_continue_wr c = { .addr = src, .length = 2 * MTU };
	struct sdr_rcv_handle *r;
	struct sdr_snd_handle *s;
	struct pair p;
	uint32_t imm;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	r = post(&p, dst, w.length);
	pair_run(&p);
	assert_int_equal(sdr_send_stream_start(p.s, &w, &s), 0);
	assert_int_equal(sdr_send_stream_continue(s, &c), 0);
	pair_run(&p);
	assert_int_equal(p.a->uc->ops == NULL, 0);
	assert_int_equal(sdr_recv_imm_get(r, &imm), -EAGAIN);
	assert_int_equal(sdr_recv_state(r)->got, 2);
	c.offset = c.length;
	c.length = MTU;
	assert_int_equal(sdr_send_stream_continue(s, &c), 0);
	pair_run(&p);
	assert_int_equal(sdr_recv_imm_get(r, &imm), 0);
	assert_int_equal(imm, 0xfeedbeef);
	pair_close(&p);
}

/* ---- full engine ----------------------------------------------------------------------------- */

/* The engine takes a few packets at a time; everything arrives once, in order. */
static void full__resumes_inside_runs(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct sdr_rcv_handle *r[8];
	struct sdr_snd_handle *s[8];
	struct pair p;
	uint32_t step, i;

	(void)state;
	pattern_fill(src, 3, sizeof(src));
	for (step = 1; step < 70; step += 1 + step / 4) {
		uint32_t next[8] = { 0 }, order = 0;

		pair_open(&p, LOOP_SOFT, &attr, NULL);
		for (i = 0; i < 8; i++)
			r[i] = post(&p, dst + i * 64 * MTU, 64 * MTU - i);
		pair_run(&p);
		memset(dst, 0, sizeof(dst));
		p.net->automatic = false;
		p.net->budget = 0;
		for (i = 0; i < 8; i++)
			s[i] = xsend(&p, src, 64 * MTU - i);
		while (!sdr_context_tx_idle(p.a) || !sdr_list_empty(&p.s->ready)) {
			assert_true(sdr_context_timeout(p.a) <= SDR_TX_RETRY_NS);
			p.net->budget = step;
			sdr_context_progress(p.a);
			assert_true(p.net->npkts <= step || p.net->budget == 0);
			while (p.net->npkts) {
				uint32_t slot = p.net->pkts[0]->slot;

				assert_int_equal(p.net->pkts[0]->off, next[slot]++);
				assert_true(slot >= order);
				order = slot;
				loop_deliver(p.net, 0);
			}
			sdr_context_progress(p.b);
		}
		p.net->budget = LOOP_UNLIMITED;
		for (i = 0; i < 8; i++) {
			assert_int_equal(next[i], 64);
			assert_int_equal(sdr_send_poll(s[i]), 1);
			assert_int_equal(sdr_recv_state(r[i])->cum, 64);
			assert_int_equal(sdr_recv_state(r[i])->dups, 0);
			pattern_check(dst + i * 64 * MTU, 3, 64 * MTU - i);
		}
		assert_int_equal(sdr_context_timeout(p.a), UINT64_MAX);
		pair_close(&p);
	}
}

static void full__batch_is_bounded(void **state)
{
	static const struct sdr_qp_hooks hooks;
	struct sdr_qp_attr attr = { .size = sizeof(attr), .mtu = MTU };
	struct sdr_start_wr w = { .length = 1 << 24 };
	struct sdr_snd_handle *s;
	struct pair p;
	uint32_t n, i, gone;
	uint8_t *big = malloc(1 << 24), *c;

	(void)state;
	memset(big, 1, 1 << 24);
	pair_open(&p, LOOP_SOFT, &attr, &hooks);
	sdr_qp_limit_set(p.s, 5);
	p.net->automatic = false;
	p.net->budget = 0;
	assert_int_equal(sdr_send_start_at(p.s, 5, &w, &s), -EAGAIN);
	assert_int_equal(sdr_send_start_at(p.s, 4, &w, &s), 0);
	n = sdr_send_packets(s, big, 0, UINT32_MAX);
	assert_true(n > 0 && n < 65536);
	assert_true((uint64_t)n * MTU < SDR_TX_BYTES + (64 << 10) * SDR_RUN_TRAINS);
	assert_int_equal(sdr_send_packets(s, big, n, 1), 0);
	/* control datagrams still find room, up to their own limit, and leave behind the data */
	for (i = 0; (c = sdr_context_ctl_alloc(p.a)); i++) {
		struct sdr_uc_addr to;

		loop_addr(1, &to);
		sdr_class_encode(c, SDR_CLASS_DGRAM, 0);
		sdr_put_le32(c + SDR_CLASS_LEN, i);
		sdr_context_ctl_push(p.a, &to, SDR_CLASS_LEN + 4);
	}
	assert_true(i >= SDR_TX_RESERVE && i <= SDR_CTL_SLOTS);
	p.net->budget = n;
	assert_int_equal(sdr_context_flush(p.a), -EAGAIN);
	gone = p.net->npkts;
	assert_int_equal(gone, n);
	p.net->budget = LOOP_UNLIMITED;
	assert_int_equal(sdr_context_flush(p.a), 0);
	assert_int_equal(p.net->npkts, n + i);
	for (i = 0; i < p.net->npkts - n; i++) {
		assert_int_equal(p.net->pkts[n + i]->kind, SDR_UC_TX_CTL);
		assert_int_equal(sdr_get_le32(p.net->pkts[n + i]->buf + SDR_CLASS_LEN), i);
	}
	sdr_send_release(s);
	pair_close(&p);
	free(big);
}

/* Order across kinds: what is queued between two runs leaves between them. */
static void batch__order(void **state)
{
	static const struct sdr_qp_hooks hooks;
	struct sdr_qp_attr attr = attr_small();
	struct sdr_start_wr w = { .length = 60 * MTU };
	struct sdr_snd_handle *s;
	struct sdr_uc_addr to;
	struct pair p;
	uint32_t i, k;
	uint8_t *c;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, &hooks);
	loop_addr(1, &to);
	sdr_qp_limit_set(p.s, 1);
	p.net->automatic = false;
	assert_int_equal(sdr_send_start_at(p.s, 0, &w, &s), 0);
	for (k = 0; k < 3; k++) {
		for (i = 0; i < 10; i++) {
			assert_int_equal(sdr_send_packets(s, src, i * 2, 2), 2);
			c = sdr_context_ctl_alloc(p.a);
			assert_non_null(c);
			/* not pushed: the same one */
			assert_ptr_equal(sdr_context_ctl_alloc(p.a), c);
			c[0] = (uint8_t)i;
			sdr_context_ctl_push(p.a, &to, 1);
		}
		assert_false(sdr_context_tx_idle(p.a));
		assert_int_equal(p.net->npkts, 0);
		assert_int_equal(sdr_context_flush(p.a), 0);
		assert_true(sdr_context_tx_idle(p.a));
		assert_int_equal(p.net->npkts, 30);
		for (i = 0; i < 30; i++) {
			assert_int_equal(p.net->pkts[i]->kind,
					 i % 3 == 2 ? SDR_UC_TX_CTL : SDR_UC_TX_WRITE);
			if (i % 3 == 2)
				assert_int_equal(p.net->pkts[i]->buf[0], i / 3);
			else
				assert_int_equal(p.net->pkts[i]->off, i / 3 * 2 + i % 3);
		}
		loop_drop_all(p.net);
	}
	pair_close(&p);
}

/*
 * All data leave the batch, without a look at their bytes, which are gone; control stays, in its
 * order.
 */
static void drop__leaves_control_alone(void **state)
{
	static const struct sdr_qp_hooks hooks;
	struct sdr_qp_attr attr = attr_small();
	struct sdr_start_wr w = { .length = 60 * MTU };
	uint8_t *mine = malloc(60 * MTU), *c;
	struct sdr_snd_handle *s;
	struct sdr_uc_addr to;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, &hooks);
	loop_addr(1, &to);
	sdr_qp_limit_set(p.s, 1);
	p.net->automatic = false;
	assert_int_equal(sdr_send_start_at(p.s, 0, &w, &s), 0);
	for (i = 0; i < 10; i++) {
		assert_int_equal(sdr_send_packets(s, mine, i * 2, 2), 2);
		c = sdr_context_ctl_alloc(p.a);
		assert_non_null(c);
		c[0] = (uint8_t)i;
		sdr_context_ctl_push(p.a, &to, 1);
	}
	free(mine);
	sdr_context_data_drop(p.a);
	assert_int_equal(sdr_context_flush(p.a), 0);
	assert_int_equal(p.net->npkts, 10);
	for (i = 0; i < 10; i++) {
		assert_int_equal(p.net->pkts[i]->kind, SDR_UC_TX_CTL);
		assert_int_equal(p.net->pkts[i]->buf[0], i);
	}
	/* As if lost: they can be sent again. */
	assert_int_equal(sdr_send_packets(s, src, 0, 20), 20);
	assert_int_equal(sdr_context_flush(p.a), 0);
	assert_int_equal(p.net->npkts, 30);
	sdr_send_release(s);
	loop_drop_all(p.net);
	pair_close(&p);
}

/* A handle released with packets queued: they never leave, others do, the buffer is not read. */
static void release__takes_packets_back(void **state)
{
	static const struct sdr_qp_hooks hooks;
	struct sdr_qp_attr attr = attr_small();
	struct sdr_start_wr w = { .length = 60 * MTU };
	struct sdr_snd_handle *s[3];
	struct pair p;
	uint32_t i;
	uint8_t *tmp = malloc(60 * MTU);

	(void)state;
	memset(tmp, 1, 60 * MTU);
	pair_open(&p, LOOP_SOFT, &attr, &hooks);
	sdr_qp_limit_set(p.s, 3);
	p.net->automatic = false;
	for (i = 0; i < 3; i++)
		assert_int_equal(sdr_send_start_at(p.s, i, &w, &s[i]), 0);
	assert_int_equal(sdr_send_packets(s[0], src, 0, 5), 5);
	assert_int_equal(sdr_send_packets(s[1], tmp, 0, 5), 5);
	assert_int_equal(sdr_send_packets(s[2], src, 0, 5), 5);
	assert_int_equal(sdr_send_packets(s[1], tmp, 30, 5), 5);
	assert_int_equal(sdr_send_packets(s[0], src, 5, 1), 1);
	p.net->budget = 7; /* stops inside the run of s[1] */
	assert_int_equal(sdr_context_flush(p.a), -EAGAIN);
	sdr_send_release(s[1]);
	free(tmp);
	p.net->budget = LOOP_UNLIMITED;
	assert_int_equal(sdr_context_flush(p.a), 0);
	assert_int_equal(p.net->npkts, 5 + 2 + 5 + 1);
	for (i = 7; i < 13; i++)
		assert_int_equal(p.net->pkts[i]->slot, i < 12 ? 2 : 0);
	assert_int_equal(p.a->txq.bytes, 0);
	assert_int_equal(s[0]->queued + s[2]->queued, 0);
	pair_close(&p);
}

/* ---- runs and channels ----------------------------------------------------------------------- */

static void runs__one_channel(void **state)
{
	static const struct sdr_qp_hooks hooks;
	struct sdr_qp_attr attr = attr_small();
	struct sdr_start_wr w = { .length = 64 * MTU };
	struct sdr_snd_handle *s;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, &hooks);
	sdr_qp_limit_set(p.s, 1);
	p.net->automatic = false;
	assert_int_equal(sdr_send_start_at(p.s, 0, &w, &s), 0);
	for (i = 0; i < 64; i++)
		assert_int_equal(sdr_send_packets(s, src, i, 1), 1);
	assert_int_equal(p.a->txq.tail, 1); /* grew together */
	assert_int_equal(sdr_send_packets(s, src, 3, 2), 2);
	assert_int_equal(p.a->txq.tail, 2); /* a hole did not */
	assert_int_equal(sdr_send_packets(s, src + 1, 5, 2), 2);
	assert_int_equal(p.a->txq.tail, 3); /* nor other bytes */
	sdr_context_flush(p.a);
	assert_int_equal(p.net->npkts, 68);
	pair_close(&p);
}

static void runs__channels_in_turn(void **state)
{
	struct sdr_qp_attr attr = {
		.size = sizeof(attr), .mtu = 4096, .channels = 3, .max_msg = 64 * 4096
	};
	struct sdr_rcv_handle *r;
	uint32_t i, seen = 0, runs = 1;
	struct pair p;

	(void)state;
	pattern_fill(src, 5, sizeof(src));
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	r = post(&p, dst, sizeof(dst));
	pair_run(&p);
	p.net->automatic = false;
	xsend(&p, src, sizeof(src));
	assert_int_equal(p.net->npkts, 64);
	for (i = 0; i < 64; i++) {
		seen |= 1u << p.net->pkts[i]->channel;
		if (i && p.net->pkts[i]->channel != p.net->pkts[i - 1]->channel)
			runs++;
	}
	assert_int_equal(seen, 7);
	assert_int_equal(runs, (64 + 14) / 15); /* a GSO train of 4 KiB packets holds 15 */
	while (p.net->npkts)
		loop_deliver(p.net, p.net->npkts / 2);
	sdr_context_progress(p.b);
	assert_int_equal(sdr_recv_state(r)->cum, 64);
	pattern_check(dst, 5, sizeof(dst));
	pair_close(&p);
}

/* ---- rate ------------------------------------------------------------------------------------ */

static void rate__bucket(void **state)
{
	struct sdr_qp_attr attr = { .size = sizeof(attr), .mtu = 4096, .max_msg = 64 * 4096 };
	uint64_t t0, ideal = (uint64_t)sizeof(src) * 8 * 1000000000 / 100000000;
	struct sdr_snd_handle *s;
	struct pair p;
	uint32_t steps = 0;

	(void)state;
	attr.rate_bps = 100000000;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	post(&p, dst, sizeof(dst));
	pair_run(&p);
	t0 = p.net->now;
	s = xsend(&p, src, sizeof(src));
	while (!sdr_send_poll(s)) {
		uint64_t t = sdr_context_timeout(p.a);

		assert_true(t > 0 && t < 10000000);
		p.net->now += t;
		assert_true(++steps < 1000);
	}
	/* virtual time: exact but for the burst at the start and the last packet */
	assert_true(p.net->now - t0 <= ideal);
	assert_true(p.net->now - t0 >= ideal - SDR_RATE_CATCHUP_NS - 8 * 4096 * 10);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(send__waits_for_buffer),
		cmocka_unit_test(send__zero_bytes),
		cmocka_unit_test(send__unconnected),
		cmocka_unit_test(stream__parts_in_any_order),
		cmocka_unit_test(stream__bad_parts),
		cmocka_unit_test(stream__immediate_follows_last_packet),
		cmocka_unit_test(full__resumes_inside_runs),
		cmocka_unit_test(full__batch_is_bounded),
		cmocka_unit_test(drop__leaves_control_alone),
		cmocka_unit_test(batch__order),
		cmocka_unit_test(release__takes_packets_back),
		cmocka_unit_test(runs__one_channel),
		cmocka_unit_test(runs__channels_in_turn),
		cmocka_unit_test(rate__bucket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
