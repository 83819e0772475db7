/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receives: the window of message numbers and its wrap-arounds, early completion, late and forged
 * packets in all three kinds of engine, the sums of sdr_rcv_state, hooks, the user's immediate,
 * memory.
 */
#include "test_sdk.h"

#include <malloc.h>

/* ---- window ---------------------------------------------------------------------------------- */

static struct sdr_rcv_handle *post_at(struct pair *p, uint32_t msn, void *buf, uint64_t len)
{
	struct sdr_rcv_wr wr = { .addr = buf, .length = len };
	struct sdr_rcv_handle *h = NULL;

	assert_int_equal(sdr_recv_post_at(p->r, msn, &wr, NULL, &h), 0);
	assert_int_equal(sdr_recv_state(h)->msn, msn);
	return h;
}

static int try_at(struct pair *p, uint32_t msn)
{
	static uint8_t buf[MTU];
	struct sdr_rcv_wr wr = { .addr = buf, .length = MTU };
	struct sdr_rcv_handle *h;

	return sdr_recv_post_at(p->r, msn, &wr, NULL, &h);
}

static void window_at(uint32_t start)
{
	static const struct sdr_qp_hooks hooks;
	struct sdr_qp_attr attr = attr_small();
	static uint8_t buf[16][MTU];
	struct sdr_rcv_handle *h[16];
	struct pair p;
	uint32_t i;

	pair_open(&p, LOOP_SOFT, &attr, &hooks);
	assert_int_equal(sdr_qp_ids(p.r), 16);
	p.r->base = p.r->next = start;
	for (i = 16; i-- > 0;)
		h[i] = post_at(&p, start + i, buf[i], MTU);
	assert_int_equal(p.net->binds, 16);
	assert_int_equal(try_at(&p, start), -EBUSY);
	assert_int_equal(try_at(&p, start + 16), -EBUSY);
	assert_int_equal(try_at(&p, start + 1000), -EBUSY);
	assert_int_equal(try_at(&p, start - 1), -EALREADY);
	assert_int_equal(try_at(&p, start - 0x7fffffff), -EALREADY);
	/* holes do not move the base */
	assert_int_equal(sdr_recv_complete(h[3]), 0);
	assert_int_equal(sdr_recv_complete(h[1]), 0);
	assert_int_equal(sdr_qp_recv_base(p.r), start);
	assert_int_equal(try_at(&p, start + 1), -EALREADY);
	assert_int_equal(try_at(&p, start + 17), -EBUSY);
	assert_int_equal(sdr_recv_complete(h[0]), 0);
	assert_int_equal(sdr_qp_recv_base(p.r), start + 2);
	h[1] = post_at(&p, start + 17, buf[1], MTU);
	h[0] = post_at(&p, start + 16, buf[0], MTU);
	assert_int_equal(try_at(&p, start + 18), -EBUSY);
	sdr_recv_skip(p.r, start + 2); /* live: no effect */
	assert_int_equal(sdr_qp_recv_base(p.r), start + 2);
	assert_int_equal(sdr_recv_complete(h[2]), 0);
	assert_int_equal(sdr_qp_recv_base(p.r), start + 4);
	/* 18 and 19 are refused: they count as completed when their turn comes */
	sdr_recv_skip(p.r, start + 19);
	sdr_recv_skip(p.r, start + 18);
	sdr_recv_skip(p.r, start + 18);
	sdr_recv_skip(p.r, start + 20); /* beyond the window */
	assert_int_equal(try_at(&p, start + 18), -EALREADY);
	for (i = 4; i < 16; i++)
		assert_int_equal(sdr_recv_complete(h[i]), 0);
	assert_int_equal(sdr_qp_recv_base(p.r), start + 16);
	assert_int_equal(sdr_recv_complete(h[0]), 0);
	assert_int_equal(sdr_recv_complete(h[1]), 0);
	assert_int_equal(sdr_qp_recv_base(p.r), start + 20);
	assert_int_equal(p.net->binds, 0);
	assert_int_equal(sdr_recv_complete(h[1]), -EINVAL);
	pair_close(&p);
}

static void window__order_and_wrap(void **state)
{
	(void)state;
	window_at(0);
	window_at(5);
	window_at(0xfffffff0);
	window_at(0xfffffff9);
	window_at(0x7ffffff8);
}

static void window__inflight(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	struct pair p;

	(void)state;
	attr.max_inflight = 5;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	assert_int_equal(sdr_qp_ids(p.r), 8);
	pair_close(&p);
	attr.max_inflight = 16;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	assert_int_equal(sdr_qp_ids(p.r), 16);
	attr.max_inflight = 17;
	assert_null(sdr_qp_create(p.a, &attr));
	assert_int_equal(errno, EINVAL);
	pair_close(&p);
}

/*
 * Random posts, skips and completions against a plain list of states, over several wraps of the ID
 * space.
 */
static void window__random(void **state)
{
	static const struct sdr_qp_hooks hooks;
	struct sdr_qp_attr attr = attr_small();
	static uint8_t st[4096], buf[MTU];
	static struct sdr_rcv_handle *h[4096];
	uint32_t start = 0xffffff00, base = 0, i;
	uint64_t seed = 11;
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, &hooks);
	p.r->base = p.r->next = start;
	memset(st, 0, sizeof(st));
	for (i = 0; i < 200000 && base < 4000; i++) {
		uint32_t m = base + (uint32_t)(sdr_rand64(&seed) % 20);
		struct sdr_rcv_wr wr = { .addr = buf, .length = MTU };
		int want, got;

		switch (sdr_rand64(&seed) % 5) {
		case 4: { /* a range, perhaps longer than the window */
			uint32_t n = (uint32_t)(sdr_rand64(&seed) %
						(sdr_rand64(&seed) % 8 ? 6 : 40)),
				 k;

			for (k = m; k < m + n && k < base + 16; k++) {
				st[k] = st[k] ? st[k] : 2;
				while (st[base] == 2)
					base++;
			}
			assert_int_equal(sdr_recv_skip_range(p.r, start + m, start + m + n),
					 start + k);
			break;
		}
		case 0:
			want = m >= base + 16 ? -EBUSY
			       : st[m] == 2   ? -EALREADY
			       : st[m] == 1   ? -EBUSY
					      : 0;
			got = sdr_recv_post_at(p.r, start + m, &wr, NULL, &h[m]);
			assert_int_equal(got, want);
			if (!got)
				st[m] = 1;
			break;
		case 1:
			sdr_recv_skip(p.r, start + m);
			if (m < base + 16 && !st[m])
				st[m] = 2;
			break;
		default:
			if (st[m] == 1) {
				assert_int_equal(sdr_recv_complete(h[m]), 0);
				st[m] = 2;
			}
		}
		while (st[base] == 2)
			base++;
		assert_int_equal(sdr_qp_recv_base(p.r), start + base);
	}
	assert_true(base >= 4000);
	pair_close(&p);
}

static void window__a_million_numbers_are_skipped_at_once(void **state)
{
	static const struct sdr_qp_hooks hooks;
	struct sdr_qp_attr attr = attr_small();
	static uint8_t buf[MTU];
	struct sdr_rcv_handle *h;
	uint32_t start = 0xfff00000, at;
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, &hooks);
	p.r->base = p.r->next = start;
	/* as many as one packet can name, many times over */
	for (uint32_t i = 0; i < 100000; i++) {
		assert_int_equal(sdr_recv_skip_range(p.r, start, start + (1u << 20)),
				 start + (1u << 20));
		start += 1u << 20;
		assert_int_equal(sdr_qp_recv_base(p.r), start);
	}
	/* One that is posted stands in the way, */
	h = post_at(&p, start + 3, buf, MTU);
	assert_ptr_equal(sdr_recv_find(p.r, start + 3), h);
	assert_null(sdr_recv_find(p.r, start + 2));
	at = sdr_recv_skip_range(p.r, start, start + 1000);
	assert_int_equal(at, start + 3 + 16);
	assert_int_equal(sdr_qp_recv_base(p.r), start + 3);
	assert_int_equal(sdr_recv_skip_range(p.r, at, start + 1000), at);
	/* until it ends. */
	assert_int_equal(sdr_recv_complete(h), 0);
	assert_int_equal(sdr_recv_skip_range(p.r, at, start + 1000), start + 1000);
	assert_int_equal(sdr_qp_recv_base(p.r), start + 1000);
	/* What is over stays over, what lies beyond is left alone. */
	assert_int_equal(sdr_recv_skip_range(p.r, start, start + 10), start + 10);
	assert_int_equal(sdr_recv_skip_range(p.r, start + 1017, start + 1018), start + 1017);
	assert_int_equal(sdr_qp_recv_base(p.r), start + 1000);
	pair_close(&p);
}

/* ---- order, early completion, late packets --------------------------------------------------- */

static void recv__in_order_through_wraps(void **state)
{
	static uint8_t in[5 * MTU + 17], out[5 * MTU + 17];
	struct sdr_qp_attr attr = attr_small();
	struct pair p;
	uint32_t i;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	p.s->snd_next = p.s->snd_limit = p.r->base = p.r->next = p.r->cts_seen = 0xfffffff0;
	for (i = 0; i < 300; i++) {
		uint64_t len = i * 5 % (sizeof(in) + 1);
		struct sdr_rcv_handle *r;
		struct sdr_snd_handle *s;
		const uint8_t *bits;
		size_t n;

		memset(out, 0, sizeof(out));
		pattern_fill(in, i, sizeof(in));
		r = post(&p, out, len);
		s = xsend(&p, in, len);
		pair_run(&p);
		assert_int_equal(sdr_send_poll(s), 1);
		assert_int_equal(sdr_recv_bitmap_get(r, &bits, &n), 0);
		assert_int_equal(n, 1);
		assert_int_equal(bits[0], len > 4 * MTU ? 3 : 1);
		assert_int_equal(sdr_recv_state(r)->got, sdr_recv_state(r)->npkts);
		pattern_check(out, i, len);
		assert_int_equal(sdr_recv_complete(r), 0);
	}
	assert_int_equal(p.b->pkts_late + p.b->pkts_bad + p.b->pkts_dup, 0);
	pair_close(&p);
}

/* Packets of a completed message, with its slot idle and bound again. */
static void late_in(enum loop_mode mode)
{
	static uint8_t in[2][8 * MTU], out[2][8 * MTU], want[8 * MTU];
	struct sdr_qp_attr attr = attr_small();
	struct sdr_rcv_handle *r, *other[16];
	static uint8_t idle[16][MTU];
	struct pair p;
	uint32_t i;

	attr.id_bits = 1;
	attr.off_bits = 27;
	attr.generations = 2;
	pair_open(&p, mode, &attr, NULL);
	p.net->automatic = false;
	pattern_fill(in[0], 0, sizeof(in[0]));
	pattern_fill(in[1], 2, sizeof(in[1]));
	memset(out, 0xee, sizeof(out));
	r = post(&p, out[0], sizeof(out[0]));
	loop_deliver_all(p.net); /* the CTS */
	sdr_context_progress(p.a);
	xsend(&p, in[0], sizeof(in[0]));
	assert_int_equal(p.net->npkts, 8);
	loop_deliver(p.net, 2);
	sdr_context_progress(p.b);
	assert_int_equal(sdr_recv_state(r)->got, 1);
	assert_int_equal(sdr_recv_state(r)->high, 3);
	assert_int_equal(sdr_recv_state(r)->cum, 0);
	assert_int_equal(sdr_recv_complete(r), 0);
	memcpy(want, out[0], sizeof(want));
	/* idle slot */
	loop_deliver(p.net, 0);
	sdr_context_progress(p.b);
	assert_memory_equal(out[0], want, sizeof(want));
	/* bound again by the next generation (message 2; message 1 is another slot) */
	other[0] = post(&p, idle[0], MTU);
	r = post(&p, out[1], sizeof(out[1]));
	for (i = 0; i < 3; i++)
		loop_deliver(p.net, 0);
	sdr_context_progress(p.b);
	assert_memory_equal(out[0], want, sizeof(want));
	assert_int_equal(sdr_recv_state(r)->got, 0);
	assert_int_equal(sdr_recv_state(r)->pkt_bits[0], 0);
	assert_int_equal(sdr_recv_state(r)->chunk_bits[0], 0);
	for (i = 0; i < sizeof(out[1]); i++)
		if (mode != LOOP_HW_1KEY)
			assert_int_equal(out[1][i], 0xee);
	assert_int_equal(p.b->pkts_dup + p.b->pkts_bad, 0);
	if (mode != LOOP_SOFT)
		assert_int_equal(p.b->pkts_late, 4);
	/*
	 * the known limit: two generations of two slots later the old packet passes for the new
	 * message's
	 */
	assert_int_equal(sdr_recv_complete(r), 0);
	assert_int_equal(sdr_recv_complete(other[0]), 0);
	p.r->cts_seen = 3; /* the sender has confirmed */
	other[0] = post(&p, idle[0], MTU);
	r = post(&p, out[1], sizeof(out[1]));
	assert_int_equal(sdr_recv_state(r)->msn, 4);
	loop_deliver(p.net, 0);
	sdr_context_progress(p.b);
	assert_int_equal(sdr_recv_state(r)->got, 1);
	loop_drop_all(p.net);
	pair_close(&p);
}

static void recv__late_packets(void **state)
{
	(void)state;
	late_in(LOOP_SOFT);
	late_in(LOOP_HW);
	late_in(LOOP_HW_1KEY);
}

/*
 * Sealed: nothing reaches bytes or bits, whatever the engine reports, and it is still there, with
 * what had come.
 */
static void sealed_in(enum loop_mode mode)
{
	static uint8_t in[8 * MTU], out[8 * MTU], want[8 * MTU];
	struct sdr_qp_attr attr = attr_small();
	struct sdr_rcv_handle *r;
	struct pair p;

	pair_open(&p, mode, &attr, NULL);
	p.net->automatic = false;
	pattern_fill(in, 0, sizeof(in));
	memset(out, 0xee, sizeof(out));
	r = post(&p, out, sizeof(out));
	loop_deliver_all(p.net); /* the CTS */
	sdr_context_progress(p.a);
	xsend(&p, in, sizeof(in));
	loop_deliver(p.net, 2);
	sdr_context_progress(p.b);
	memcpy(want, out, sizeof(want));
	assert_int_equal(sdr_recv_seal(r), 0);
	loop_deliver_all(p.net);
	sdr_context_progress(p.b);
	assert_memory_equal(out, want, sizeof(want));
	assert_int_equal(sdr_recv_state(r)->got, 1);
	assert_int_equal(sdr_recv_state(r)->pkt_bits[0], 1 << 2);
	assert_ptr_equal(sdr_recv_find(p.r, sdr_recv_state(r)->msn), r);
	assert_int_equal(try_at(&p, sdr_recv_state(r)->msn), -EBUSY);
	assert_int_equal(sdr_recv_seal(r), 0); /* twice is once */
	assert_int_equal(sdr_recv_complete(r), 0);
	assert_int_equal(p.net->binds, 0);
	assert_int_equal(sdr_recv_seal(r), -EINVAL);
	assert_int_equal(sdr_recv_seal(NULL), -EINVAL);
	loop_drop_all(p.net);
	pair_close(&p);
}

static void recv__sealed(void **state)
{
	(void)state;
	sealed_in(LOOP_SOFT);
	sealed_in(LOOP_HW);
	sealed_in(LOOP_HW_1KEY);
}

/* Completion events that the engine had already queued when the receive ended. */
static void recv__late_events(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	static uint8_t in[4 * MTU], out[4 * MTU], out2[4 * MTU];
	struct sdr_rcv_handle *r;
	struct pair p;
	uint32_t i;

	(void)state;
	attr.id_bits = 1;
	attr.off_bits = 27;
	attr.max_inflight = 1;
	attr.generations = 2;
	pair_open(&p, LOOP_HW, &attr, NULL);
	assert_int_equal(sdr_qp_ids(p.r), 1);
	r = post(&p, out, sizeof(out));
	sdr_context_progress(p.a);
	xsend(&p, in, sizeof(in));
	assert_int_equal(loop_pending(p.net, 1), 4); /* bytes are in place, events wait */
	assert_int_equal(sdr_recv_complete(r), 0);
	r = post(&p, out2, sizeof(out2));
	assert_int_equal(sdr_recv_complete(r), 0);
	p.r->cts_seen = 1;		  /* the sender has confirmed */
	r = post(&p, out2, sizeof(out2)); /* same slot, next generation */
	sdr_context_progress(p.b);
	assert_int_equal(sdr_recv_state(r)->got, 0);
	assert_int_equal(p.b->pkts_late, 4);
	for (i = 0; i < sizeof(out2); i++)
		assert_int_equal(out2[i], 0);
	pair_close(&p);
}

static void recv__forged_events(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	static uint8_t out[6 * MTU];
	struct sdr_imm_split sp = { 4, 24, 4 };
	struct sdr_rcv_handle *r;
	struct pair p;
	uint64_t seed = 5;
	uint32_t i;

	(void)state;
	pair_open(&p, LOOP_HW, &attr, NULL);
	r = post(&p, out, sizeof(out));
	loop_forge_placed(p.net, 1, p.r, 0, sdr_imm_pack(&sp, 0, 6, 0), MTU); /* behind the end */
	loop_forge_placed(p.net, 1, p.r, 0, sdr_imm_pack(&sp, 0, 0xffffff, 0), MTU);
	/* half a packet */
	loop_forge_placed(p.net, 1, p.r, 0, sdr_imm_pack(&sp, 0, 0, 0), MTU - 4);
	/* no message there */
	loop_forge_placed(p.net, 1, p.r, 0, sdr_imm_pack(&sp, 1, 0, 0), MTU);
	loop_forge_placed(p.net, 1, p.r, 15, sdr_imm_pack(&sp, 0, 0, 0), MTU);
	loop_forge_placed(p.net, 1, NULL, 0, sdr_imm_pack(&sp, 0, 0, 0), MTU);
	assert_int_equal(sdr_context_progress(p.b), 7 - 1);
	assert_int_equal(p.b->pkts_bad, 3);
	assert_int_equal(p.b->pkts_late, 3);
	assert_int_equal(sdr_recv_state(r)->got, 0);
	for (i = 0; i < 200000; i++) {
		uint32_t imm = (uint32_t)sdr_rand64(&seed);

		if (sdr_imm_id(&sp, imm) == 0 && sdr_imm_off(&sp, imm) < 6)
			continue;
		loop_forge_placed(p.net, 1, p.r, imm & 3, imm, imm & 1 ? MTU : 0);
		if (!(i % 64))
			sdr_context_progress(p.b);
	}
	sdr_context_progress(p.b);
	assert_int_equal(sdr_recv_state(r)->got, 0);
	assert_int_equal(sdr_recv_state(r)->pkt_bits[0], 0);
	pair_close(&p);
}

/* ---- state ----------------------------------------------------------------------------------- */

struct hook_log {
	uint32_t calls;
	struct sdr_rcv_handle *last;
	struct sdr_rcv_handle *victim; /* completed by the first call */
};

static void hook_count(void *user, struct sdr_rcv_handle *hdl)
{
	struct hook_log *l = user;

	l->calls++;
	l->last = hdl;
	if (l->victim) {
		sdr_recv_complete(l->victim);
		l->victim = NULL;
	}
}

/* The bits of 16 chunks of 4 packets, the last of 2. */
static void chunks_check(const struct sdr_rcv_state *st, uint64_t pkts)
{
	uint32_t c;

	for (c = 0; c < 16; c++) {
		uint64_t mask = sdr_bitmap_mask(c * 4, c == 15 ? 62 : c * 4 + 4);

		assert_int_equal(sdr_bitmap_test(st->chunk_bits, c), (pkts & mask) == mask);
	}
}

static void state__sums(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	static uint8_t in[64 * MTU], out[64 * MTU];
	struct hook_log log = { 0 };
	struct sdr_qp_hooks hooks = { .user = &log, .recv_progress = hook_count };
	struct sdr_start_wr wr = { .length = 61 * MTU + 3 };
	uint64_t seed = 6;
	uint32_t round;
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, &hooks);
	sdr_qp_limit_set(p.s, 1000);
	pattern_fill(in, 9, sizeof(in));
	p.net->automatic = false;
	for (round = 0; round < 200; round++) {
		uint32_t got = 0, dups = 0, high = 0, last = 0, calls = 0;
		const struct sdr_rcv_state *st;
		struct sdr_snd_handle *s;
		struct sdr_rcv_handle *r;
		uint64_t bits[1] = { 0 };

		r = post_at(&p, round, out, wr.length);
		st = sdr_recv_state(r);
		assert_int_equal(st->npkts, 62);
		assert_int_equal(st->nchunks, 16);
		assert_int_equal(sdr_send_start_at(p.s, round, &wr, &s), 0);
		assert_int_equal(sdr_send_packets(s, in, 0, 100), 62);
		assert_int_equal(sdr_send_packets(s, in, 62, 1), 0);
		assert_int_equal(sdr_context_flush(p.a), 0);
		assert_int_equal(p.net->npkts, 62);
		log.calls = 0;
		while (p.net->npkts) {
			uint32_t burst = 1 + (uint32_t)(sdr_rand64(&seed) % 9), k;

			p.net->now += 1000;
			for (k = 0; k < burst && p.net->npkts; k++) {
				uint32_t i = (uint32_t)(sdr_rand64(&seed) % p.net->npkts);
				uint32_t off = p.net->pkts[i]->off;

				if (sdr_rand64(&seed) % 4 == 0) {
					loop_deliver_copy(p.net, i);
				} else if (sdr_rand64(&seed) % 8 == 0) {
					loop_drop(p.net, i);
					continue;
				} else {
					loop_deliver(p.net, i);
				}
				dups += sdr_bitmap_test(bits, off);
				got += !sdr_bitmap_test(bits, off);
				sdr_bitmap_set(bits, off);
				high = off + 1 > high ? off + 1 : high;
				last = off;
			}
			calls += loop_pending(p.net, 1) > 0;
			if (loop_pending(p.net, 1)) {
				sdr_context_progress(p.b);
				assert_int_equal(st->last_ns, p.net->now);
			}
			assert_int_equal(log.calls, calls); /* once a round, however many packets */
			assert_int_equal(st->got, got);
			assert_int_equal(st->dups, dups);
			assert_int_equal(st->high, high);
			assert_int_equal(st->last, last);
			assert_int_equal(st->cum, sdr_bitmap_next_zero(bits, 0, 62));
			assert_int_equal(st->pkt_bits[0], bits[0]);
			chunks_check(st, bits[0]);
		}
		sdr_send_release(s);
		if (got == 62)
			pattern_check(out, 9, wr.length);
		assert_int_equal(sdr_recv_complete(r), 0);
	}
	pair_close(&p);
}

static void hook__may_complete_others(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	static uint8_t in[2 * MTU], out[3][2 * MTU];
	struct hook_log log = { 0 };
	struct sdr_qp_hooks hooks = { .user = &log, .recv_progress = hook_count };
	struct sdr_start_wr wr = { .length = 2 * MTU };
	struct sdr_snd_handle *s[3];
	struct sdr_rcv_handle *r[3];
	struct pair p;
	uint32_t i;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, &hooks);
	sdr_qp_limit_set(p.s, 16);
	for (i = 0; i < 3; i++) {
		r[i] = post_at(&p, i, out[i], 2 * MTU);
		assert_int_equal(sdr_send_start_at(p.s, i, &wr, &s[i]), 0);
		assert_int_equal(sdr_send_packets(s[i], in, 0, 2), 2);
	}
	sdr_context_flush(p.a);
	log.victim = r[1];
	sdr_context_progress(p.b);
	assert_int_equal(log.calls, 2);
	assert_ptr_equal(log.last, r[2]);
	/* a receive completed by its own hook */
	log.victim = r[2];
	assert_int_equal(sdr_send_packets(s[2], in, 1, 1), 1);
	sdr_context_flush(p.a);
	sdr_context_progress(p.b);
	assert_null(log.victim);
	assert_int_equal(sdr_qp_recv_base(p.r), 0);
	pair_close(&p);
}

static struct sdr_qp *to_destroy;

static void ctl_destroys(void *user, const struct sdr_uc_addr *from, uint8_t type,
			 const uint8_t *buf, size_t len)
{
	(void)user;
	(void)from;
	(void)type;
	(void)buf;
	(void)len;
	sdr_qp_destroy(to_destroy);
}

/* A QP goes away while events of it wait in the array that is being dispatched. */
static void hook__qp_destroyed_in_round(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	static uint8_t out[4 * MTU];
	struct sdr_imm_split sp = { 4, 24, 4 };
	uint8_t dg[SDR_CLASS_LEN];
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_HW, &attr, NULL);
	post(&p, out, sizeof(out));
	sdr_context_ctl_set(p.b, SDR_CLASS_DGRAM, ctl_destroys, NULL);
	to_destroy = p.r;
	loop_forge_placed(p.net, 1, p.r, 0, sdr_imm_pack(&sp, 0, 0, 0), MTU);
	sdr_class_encode(dg, SDR_CLASS_DGRAM, 0);
	loop_forge_ctl(p.net, 1, 0, dg, sizeof(dg));
	assert_true(sdr_context_progress(p.b) > 0);
	p.r = NULL;
	pair_close(&p);
}

/* ---- user immediate -------------------------------------------------------------------------- */

static void uimm_with(uint8_t id_bits, uint8_t off_bits, uint8_t user_bits)
{
	struct sdr_qp_attr attr = attr_small();
	static uint8_t in[64 * MTU], out[64 * MTU];
	uint32_t frags = 32u / user_bits, n;
	struct pair p;

	attr.id_bits = id_bits;
	attr.off_bits = off_bits;
	attr.user_bits = user_bits;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	for (n = 0; n <= 40; n++) {
		uint32_t value = 0x89abcdef + n * 0x01010101, npkts = n ? n : 1, total, imm = 0, i;
		struct sdr_snd_wr wr = {
			.addr = in, .length = n * MTU, .imm = value, .flags = SDR_SEND_IMM
		};
		struct sdr_rcv_handle *r = post(&p, out, n * MTU);
		struct sdr_snd_handle *s;
		const uint8_t *bits;
		size_t len;

		pair_run(&p);
		p.net->automatic = false;
		assert_int_equal(sdr_send_post(p.s, &wr, &s), 0);
		assert_int_equal(sdr_send_poll(s), 1);
		total = npkts > frags ? npkts : frags;
		assert_int_equal(p.net->npkts, total);
		for (i = 0; i < total; i++) {
			assert_int_equal(sdr_recv_imm_get(r, &imm), i < frags ? -EAGAIN : 0);
			loop_deliver(p.net, 0);
			sdr_context_progress(p.b);
		}
		assert_int_equal(sdr_recv_imm_get(r, &imm), 0);
		assert_int_equal(imm, value);
		assert_int_equal(sdr_recv_packet_bitmap_get(r, &bits, &len), 0);
		assert_int_equal(len, (npkts + 7) / 8);
		assert_int_equal(sdr_recv_state(r)->got, npkts);
		assert_int_equal(sdr_recv_state(r)->cum, npkts);
		assert_int_equal(sdr_recv_complete(r), 0);
		p.net->automatic = true;
	}
	pair_close(&p);
}

static void uimm__splits(void **state)
{
	(void)state;
	uimm_with(4, 24, 4);
	uimm_with(4, 26, 2);
	uimm_with(4, 27, 1);
	uimm_with(4, 20, 8);
}

static void uimm__none(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	static uint8_t out[MTU];
	struct sdr_snd_wr wr = { .addr = out, .length = MTU, .flags = SDR_SEND_IMM };
	struct sdr_rcv_handle *r;
	struct sdr_snd_handle *s;
	struct pair p;
	uint32_t imm;

	(void)state;
	attr.id_bits = 4;
	attr.off_bits = 28;
	attr.user_bits = 0;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	r = post(&p, out, MTU);
	assert_int_equal(sdr_recv_imm_get(r, &imm), -EOPNOTSUPP);
	assert_int_equal(sdr_send_post(p.s, &wr, &s), -EINVAL);
	pair_close(&p);
}

/* A message of one packet whose table stride would not hold the fragments. */
static void uimm__stride(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	static uint8_t in[MTU], out[3][MTU];
	struct sdr_snd_wr wr = {
		.addr = in, .length = MTU, .imm = 0x12345678, .flags = SDR_SEND_IMM
	};
	struct sdr_rcv_handle *r[3];
	struct sdr_snd_handle *s;
	struct pair p;
	uint32_t imm, i;

	(void)state;
	attr.max_msg = MTU;
	attr.chunk = MTU;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	for (i = 0; i < 3; i++)
		r[i] = post(&p, out[i], MTU);
	assert_int_equal(sdr_send_post(p.s, &wr, &s), 0);
	pair_run(&p);
	assert_int_equal(sdr_recv_imm_get(r[0], &imm), 0);
	assert_int_equal(imm, 0x12345678);
	assert_int_equal(sdr_recv_imm_get(r[1], &imm), -EAGAIN);
	assert_int_equal(p.b->pkts_bad, 0);
	pair_close(&p);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void recv__bad_arguments(void **state)
{
	struct sdr_qp_attr attr = attr_small();
	static uint8_t out[65 * MTU];
	struct sdr_rcv_wr wr = { .addr = out, .length = 64 * MTU + 1 };
	struct sdr_rcv_handle *h;
	struct sdr_mr *mr;
	struct pair p;
	uint32_t imm;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	assert_int_equal(sdr_recv_post(p.r, &wr, &h), -EINVAL);
	wr.length = MTU;
	assert_int_equal(sdr_recv_post(NULL, &wr, &h), -EINVAL);
	assert_int_equal(sdr_recv_post(p.r, NULL, &h), -EINVAL);
	assert_int_equal(sdr_recv_post(p.r, &wr, NULL), -EINVAL);
	wr.addr = NULL;
	assert_int_equal(sdr_recv_post(p.r, &wr, &h), -EINVAL);
	mr = sdr_mr_reg(p.b, out, 4 * MTU, 0);
	assert_non_null(mr);
	wr = (struct sdr_rcv_wr){ .addr = out + MTU, .length = 3 * MTU + 1, .mr = mr };
	assert_int_equal(sdr_recv_post(p.r, &wr, &h), -EINVAL);
	wr.length--;
	assert_int_equal(sdr_recv_post(p.r, &wr, &h), 0);
	wr.addr = out - 0;
	assert_int_equal(sdr_recv_complete(NULL), -EINVAL);
	assert_int_equal(sdr_recv_imm_get(NULL, &imm), -EINVAL);
	assert_int_equal(sdr_context_destroy(p.b), -EBUSY);
	assert_int_equal(sdr_mr_dereg(mr), 0);
	assert_null(sdr_mr_reg(p.b, out, 0, 0));
	assert_null(sdr_mr_reg(p.b, out, SIZE_MAX, 0));
	assert_int_equal(p.net->binds, 1);
	pair_close(&p);
}

/* The bitmap classes: posting sizes again takes nothing new. */
static void recv__steady_state_allocates_nothing(void **state)
{
	struct sdr_qp_attr attr = { .size = sizeof(attr), .mtu = MTU };
	struct mallinfo2 before, after;
	struct sdr_rcv_handle *h[40];
	static uint8_t byte[1];
	struct pair p;
	uint32_t round, i;

	(void)state;
	pair_open(&p, LOOP_SOFT, &attr, NULL);
	memset(&before, 0, sizeof(before));
	for (round = 0; round < 10; round++) {
		for (i = 0; i < 40; i++)
			h[i] = post(&p, byte, (uint64_t)MTU << (i % 18));
		for (i = 0; i < 40; i++)
			assert_int_equal(sdr_recv_complete(h[(i * 7) % 40]), 0);
		pair_run(&p);
		after = mallinfo2();
		if (round == 0)
			before = after;
		/* the test's own network frees what it takes */
		assert_int_equal(after.uordblks, before.uordblks);
	}
	pair_close(&p);
}

static void qp__idle_memory(void **state)
{
	struct sdr_qp_attr attr = { .size = sizeof(attr) };
	struct sdr_qp *qp;
	struct pair p;

	(void)state;
	pair_open(&p, LOOP_SOFT, NULL, NULL);
	qp = sdr_qp_create(p.a, &attr);
	assert_non_null(qp);
	print_message("idle QP: %zu bytes\n", malloc_usable_size(qp));
	if (malloc_usable_size(qp)) /* sanitizers count otherwise */
		assert_true(malloc_usable_size(qp) <= 8192);
	assert_int_equal(sdr_qp_destroy(qp), 0);
	pair_close(&p);
}

/* The largest messages of two splits: a bitmap of a million packets, bits at both ends. */
static void recv__large(void **state)
{
	struct sdr_qp_attr attr = { .size = sizeof(attr), .mtu = 4096 };
	struct sdr_rcv_handle *r;
	const uint8_t *bits;
	static uint8_t byte[1];
	struct pair p;
	size_t len;

	(void)state;
	pair_open(&p, LOOP_HW, &attr, NULL);
	r = post(&p, byte, 1ull << 30); /* never written to: events are forged */
	assert_int_equal(sdr_recv_state(r)->npkts, 1u << 18);
	loop_forge_placed(p.net, 1, p.r, 0, ((1u << 18) - 1) << 4, 4096);
	loop_forge_placed(p.net, 1, p.r, 0, 0, 4096);
	sdr_context_progress(p.b);
	assert_int_equal(sdr_recv_packet_bitmap_get(r, &bits, &len), 0);
	assert_int_equal(len, 1u << 15);
	assert_int_equal(bits[0], 1);
	assert_int_equal(bits[len - 1], 0x80);
	assert_int_equal(sdr_recv_bitmap_get(r, &bits, &len), 0);
	assert_int_equal(len, (1u << 18) / 16 / 8);
	pair_close(&p);

	attr.id_bits = 8;
	attr.off_bits = 22;
	attr.user_bits = 2;
	attr.max_msg = 4096ull << 22; /* 16 GiB */
	pair_open(&p, LOOP_HW, &attr, NULL);
	r = post(&p, byte, (4096ull << 22) - 1);
	loop_forge_placed(p.net, 1, p.r, 0, ((1u << 22) - 1) << 2, 4095);
	sdr_context_progress(p.b);
	assert_int_equal(sdr_recv_state(r)->high, 1u << 22);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(window__order_and_wrap),
		cmocka_unit_test(window__inflight),
		cmocka_unit_test(window__random),
		cmocka_unit_test(window__a_million_numbers_are_skipped_at_once),
		cmocka_unit_test(recv__in_order_through_wraps),
		cmocka_unit_test(recv__late_packets),
		cmocka_unit_test(recv__sealed),
		cmocka_unit_test(recv__late_events),
		cmocka_unit_test(recv__forged_events),
		cmocka_unit_test(state__sums),
		cmocka_unit_test(hook__may_complete_others),
		cmocka_unit_test(hook__qp_destroyed_in_round),
		cmocka_unit_test(uimm__splits),
		cmocka_unit_test(uimm__none),
		cmocka_unit_test(uimm__stride),
		cmocka_unit_test(recv__bad_arguments),
		cmocka_unit_test(recv__steady_state_allocates_nothing),
		cmocka_unit_test(qp__idle_memory),
		cmocka_unit_test(recv__large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
