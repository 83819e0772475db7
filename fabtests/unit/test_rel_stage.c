/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Transfers out of and into memory that the CPU does not reach: the room between it and the network
 * is bounded, who finds none waits and gets some, and losses change nothing of that.  The memory
 * here holds every byte inverted, so bytes that pass by its copies are wrong.
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

static const struct sdr_mem_ops far_ops = { "far", far_copy, far_copy };
static const struct sdr_mem far = { &far_ops };

/* What is held of it never exceeds the limit. */
static void watch(struct bed *b, uint32_t node)
{
	const struct sdr_stages *g = &b->node[node].ep->rel->bulk->stages;

	assert_true(g->tx.used <= g->tx.limit && g->rx.used <= g->rx.limit);
	assert_true(g->tx.held <= g->tx.limit && g->rx.held <= g->rx.limit);
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

		assert_true(!g->tx.used && !g->rx.used);
		assert_true(i ? g->rx.held > 0 : g->tx.held > 0);
	}
	bed_close(b);
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
	};

	copies_left = -1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
