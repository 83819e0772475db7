/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Transfers out of and into memory that the CPU does not reach: the room between it and the network
 * is bounded, who finds none waits and gets some, and losses change nothing of that.  An engine
 * that reaches it needs no room.  The memory here holds every byte inverted, so bytes that pass by
 * its copies are wrong.
 */
#include "rel/bulk/sdr_stage.h"
#include "../bed/bed.h"

#define MIB   (1u << 20)
#define LEN   (3 * MIB / 2)
#define N     5u
#define GUARD 64u

static int copies_left; /* negative: any number */

static int far_copy(const struct sdr_mem *m, void *to, const void *from, size_t n)
{
	const uint8_t *f = from;
	uint8_t *t = to;

	assert_non_null(m);
	if (!copies_left)
		return -EIO;
	copies_left -= copies_left > 0;
	for (size_t i = 0; i < n; i++)
		t[i] = (uint8_t)~f[i];
	return 0;
}

static int flushes;

static int far_flush(const struct sdr_mem *m)
{
	(void)m;
	flushes++;
	return 0;
}

static const struct sdr_mem_ops far_ops = {
	.name = "far",
	.get = far_copy,
	.put = far_copy,
	.flush = far_flush,
};
static const struct sdr_mem far = { &far_ops };

/* What the engines of sender and receiver are, and reach. */
static struct {
	uint8_t rkeyed; /* enum sdr_sim_rkeyed */
	bool far;
} engine[2];
static bool refuses; /* the receiver's engine, and the sender's, say no to each registration */
static bool no_far;  /* both are not asked */

static void engines(uint8_t tx, bool tx_far, uint8_t rx, bool rx_far)
{
	engine[0].rkeyed = tx;
	engine[0].far = tx_far;
	engine[1].rkeyed = rx;
	engine[1].far = rx_far;
}

/* What is held of it never exceeds the limit, or one transfer that does. */
static void watch(struct bed *b, uint32_t node)
{
	const struct sdr_stages *g = &b->node[node].ep->rel->bulk->stages;
	uint64_t one = sdr_scratch_charge(LEN), in = g->rx.limit > one ? g->rx.limit : one;

	assert_true(g->tx.used <= g->tx.limit && g->rx.used <= in);
	assert_true(g->tx.held <= g->tx.limit && g->rx.held <= in);
}

static void move(const struct sdr_scheme_ops *scheme, uint64_t room_tx, uint64_t room_rx,
		 double loss)
{
	struct bed *b = bed_new(2);
	struct bed_op *r[N], *s[N];
	uint8_t *in[N], *out[N];

	for (uint32_t i = 0; i < 2; i++) {
		b->cfg[i].scheme = scheme;
		b->cfg[i].stage = i ? room_rx : room_tx;
		b->na[i].rkeyed = engine[i].rkeyed;
		b->na[i].far = engine[i].far;
		b->na[i].far_refuses = refuses;
		b->cfg[i].no_far = no_far;
	}
	b->app = watch;
	bed_boot(b);
	bed_warm(b, 0, 1);
	b->link.loss = loss;
	for (uint32_t i = 0; i < N; i++) {
		in[i] = malloc(LEN + 2 * GUARD);
		out[i] = malloc(LEN);
		assert_true(in[i] && out[i]);
		memset(in[i], 0xa5, LEN + 2 * GUARD);
		for (uint32_t k = 0; k < LEN; k++)
			out[i][k] = (uint8_t)((k * 2654435761u + i) >> 11);
		r[i] = bed_rr(b, 1,
			      (struct sdr_rel_rr){ .kind = SDR_REL_TRECV, .tag = i, .mem = &far },
			      in[i] + GUARD, LEN);
	}
	for (uint32_t i = 0; i < N; i++)
		s[i] = bed_post(b, 0, 1,
				(struct sdr_rel_wr){ .kind = SDR_REL_TSEND, .tag = i, .mem = &far },
				out[i], LEN);
	bed_wait_all(b, 60000 * MS);
	for (uint32_t i = 0; i < N; i++) {
		bed_assert_ok(r[i]);
		bed_assert_ok(s[i]);
		assert_memory_equal(in[i] + GUARD, out[i], LEN);
		for (uint32_t k = 0; k < GUARD; k++)
			assert_true(in[i][k] == 0xa5 && in[i][GUARD + LEN + k] == 0xa5);
		free(in[i]);
		free(out[i]);
	}
	for (uint32_t i = 0; i < 2; i++) {
		const struct sdr_stages *g = &b->node[i].ep->rel->bulk->stages;

		struct sdr_rel_stats st = bed_stats(b, i);
		bool asked = engine[i].far && (!i || engine[1].rkeyed) && !no_far,
		     straight = asked && !refuses,
		     coded = !i && scheme == &sdr_scheme_ec && !engine[1].rkeyed;

		assert_true(!g->tx.used && !g->rx.used);
		if (!straight || coded)
			assert_true(i ? g->rx.held > 0 || room_rx < LEN : g->tx.held > 0);
		else
			assert_true(!g->tx.held && !g->rx.held);
		assert_int_equal(st.hmem_direct + st.hmem_staged, N);
		assert_true(straight || !st.hmem_direct);
		assert_int_equal(b->node[i].nrefused, asked && refuses && !coded);
	}
	bed_close(b);
}

static void stage__keyed_has_room_for_all_of_a_transfer(void **state)
{
	(void)state;
	for (uint8_t key = SDR_SIM_RKEYED_MR; key <= SDR_SIM_RKEYED_ROOT; key++) {
		engines(key, false, key, false);
		move(&sdr_scheme_sr, 64 * MIB, 64 * MIB, 0);
		move(&sdr_scheme_sr, 2 * MIB, 2 * MIB, 0.01); /* one after the other */
		move(&sdr_scheme_sr, 2 * MIB, 1 * MIB, 0);    /* none fits: each alone */
	}
	engines(SDR_SIM_RKEYED_NONE, false, SDR_SIM_RKEYED_MR, false);
	move(&sdr_scheme_auto, 2 * MIB, 2 * MIB, 0.01);
	engines(0, false, 0, false);
}

/* An engine that reaches such memory reads and writes there, but for what parity is made of. */
static void stage__direct(void **state)
{
	(void)state;
	for (uint8_t key = SDR_SIM_RKEYED_MR; key <= SDR_SIM_RKEYED_ROOT; key++) {
		engines(key, true, key, true);
		flushes = 0;
		move(&sdr_scheme_sr, 2 * MIB, 2 * MIB, 0);
		assert_int_equal(flushes, N); /* a segment each */
		move(&sdr_scheme_ec, 2 * MIB, 2 * MIB, 0.01);
		engines(key, true, key, false);
		move(&sdr_scheme_sr, 2 * MIB, 2 * MIB, 0.01);
		engines(key, false, key, true);
		move(&sdr_scheme_sr, 2 * MIB, 2 * MIB, 0.01);
	}
	engines(SDR_SIM_RKEYED_NONE, true, SDR_SIM_RKEYED_NONE, true);
	move(&sdr_scheme_ec, 64 * MIB, 64 * MIB, 0.01);
	engines(0, false, 0, false);
}

/* What reaches such memory and may not, or is asked in vain: then its user is told once. */
static void stage__not_direct(void **state)
{
	(void)state;
	for (uint8_t key = SDR_SIM_RKEYED_MR; key <= SDR_SIM_RKEYED_ROOT; key++) {
		engines(key, true, key, true);
		no_far = true;
		flushes = 0;
		move(&sdr_scheme_sr, 2 * MIB, 2 * MIB, 0.01);
		refuses = true;
		move(&sdr_scheme_sr, 2 * MIB, 2 * MIB, 0.01);
		no_far = false;
		move(&sdr_scheme_sr, 2 * MIB, 2 * MIB, 0.01);
		engines(key, true, key, false);
		move(&sdr_scheme_sr, 2 * MIB, 2 * MIB, 0.01);
		refuses = false;
	}
	assert_int_equal(flushes, 0);
	engines(0, false, 0, false);
}

/* The question of a read goes at once: what finds no room lands in a copy. */
static void stage__reads(void **state)
{
	(void)state;
	for (int way = 0; way < 3; way++) {
		struct bed *b = bed_new(2);
		struct bed_op *r[N];
		uint8_t *in[N];

		b->cfg[0].stage = 2 * MIB;
		b->na[0].rkeyed = way ? SDR_SIM_RKEYED_MR : SDR_SIM_RKEYED_NONE;
		b->na[0].far = way == 2;
		b->app = watch;
		bed_boot(b);
		bed_warm(b, 0, 1);
		bed_region_add(b, 1, 1, bed_buf(b, LEN, 7), LEN, SDR_REL_ACCESS_READ);
		for (uint32_t i = 0; i < N; i++) {
			in[i] = malloc(LEN);
			r[i] = bed_post(b, 0, 1,
					(struct sdr_rel_wr){
						.kind = SDR_REL_READ, .rma_key = 1, .mem = &far },
					in[i], LEN);
		}
		bed_wait_all(b, 60000 * MS);
		for (uint32_t i = 0; i < N; i++) {
			bed_assert_ok(r[i]);
			far_copy(&far, in[i], in[i], LEN);
			assert_true(bed_same(in[i], LEN, 7));
			free(in[i]);
		}
		assert_true(!b->node[0].ep->rel->bulk->stages.rx.used);
		assert_int_equal(bed_stats(b, 0).hmem_direct, way == 2 ? N : 0);
		bed_close(b);
	}
}

/* Who waits for room when its peer goes, or it closes, waits no more. */
static void stage__the_end_of_waiting(void **state)
{
	(void)state;
	for (int way = 0; way < 2; way++) {
		struct bed *b = bed_new(2);
		struct bed_op *r[N];
		uint8_t *in = malloc(LEN), *out = calloc(1, LEN);

		b->cfg[1].stage = 2 * MIB;
		b->na[1].rkeyed = SDR_SIM_RKEYED_MR;
		bed_boot(b);
		bed_warm(b, 0, 1);
		for (uint32_t i = 0; i < N; i++)
			r[i] = bed_rr(b, 1,
				      (struct sdr_rel_rr){ .kind = SDR_REL_RECV, .mem = &far }, in,
				      LEN);
		for (uint32_t i = 0; i < N; i++)
			bed_send(b, 0, 1, out, LEN, 0);
		while (sdr_list_empty(&b->node[1].ep->rel->bulk->stages.rx_wait))
			bed_run(b, MS);
		if (way)
			bed_shut(b, 1);
		else
			bed_crash(b, 0);
		bed_run(b, 100 * BED_SEC);
		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(r[i]->n, 1);
		assert_true(sdr_list_empty(&b->node[1].ep->rel->bulk->stages.rx_wait));
		bed_close(b);
		free(in);
		free(out);
	}
}

static void stage__room_is_bounded_and_goes_round(void **state)
{
	(void)state;
	move(&sdr_scheme_sr, 64 * MIB, 64 * MIB, 0);
	move(&sdr_scheme_sr, 2 * MIB, 64 * MIB, 0); /* the sender waits for itself */
	move(&sdr_scheme_sr, 64 * MIB, 2 * MIB, 0); /* the receiver has no place for the others */
	move(&sdr_scheme_sr, 2 * MIB, 2 * MIB, 0);
}

static void stage__losses(void **state)
{
	(void)state;
	move(&sdr_scheme_sr, 2 * MIB, 2 * MIB, 0.02);
	move(&sdr_scheme_ec, 64 * MIB, 64 * MIB, 0.02);
	move(&sdr_scheme_ec, 2 * MIB, 64 * MIB, 0.02);
	move(&sdr_scheme_auto, 64 * MIB, 2 * MIB, 0.02);
}

/* Whichever copy of a transfer fails, it ends on both sides, and its room comes back. */
static void stage__every_copy_may_fail(void **state)
{
	(void)state;
	for (int n = 0; n < 8; n++) {
		struct bed *b = bed_pair();
		uint8_t *in = malloc(LEN), *out = calloc(1, LEN);
		struct bed_op *r, *s;

		copies_left = n;
		r = bed_rr(b, 1, (struct sdr_rel_rr){ .kind = SDR_REL_RECV, .mem = &far }, in, LEN);
		s = bed_post(b, 0, 1, (struct sdr_rel_wr){ .kind = SDR_REL_SEND, .mem = &far }, out,
			     LEN);
		bed_wait_all(b, 60000 * MS);
		copies_left = -1;
		assert_true(s->n == 1 && r->n == 1);
		if (n < 6) { /* three pieces out, three in */
			assert_int_not_equal(r->e.err, 0);
			assert_int_not_equal(s->e.err, 0);
			assert_true(r->e.prov_err == SDR_REL_ERR_MEM ||
				    s->e.prov_err == SDR_REL_ERR_MEM);
		} else {
			bed_assert_ok(r);
			bed_assert_ok(s);
		}
		for (uint32_t i = 0; i < 2; i++)
			assert_true(!b->node[i].ep->rel->bulk->stages.tx.used &&
				    !b->node[i].ep->rel->bulk->stages.rx.used);
		bed_close(b);
		free(in);
		free(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stage__room_is_bounded_and_goes_round),
		cmocka_unit_test(stage__losses),
		cmocka_unit_test(stage__every_copy_may_fail),
		cmocka_unit_test(stage__keyed_has_room_for_all_of_a_transfer),
		cmocka_unit_test(stage__direct),
		cmocka_unit_test(stage__not_direct),
		cmocka_unit_test(stage__reads),
		cmocka_unit_test(stage__the_end_of_waiting),
	};

	copies_left = -1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
