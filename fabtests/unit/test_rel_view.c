/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A look at what has come before it is complete: what is said to be in place is, and stays; front,
 * sums and bits of any unit agree; what has no place yet says so; and a completion ends it.
 */
#include "rel/msg/sdr_view.h"
#include "../bed/bed.h"

#define MIB  (1u << 20)
#define LEN  (5 * MIB + 777)
#define SEED 9u

struct watch { /* of one operation at one node */
	struct bed_op *op;
	const uint8_t *p;
	uint64_t got, front; /* at the last look */
	uint32_t rounds, partial, holes;
};

static bool is_ctx(const void *arg, const void *ctx, uint64_t uflags)
{
	(void)uflags;
	return arg == ctx;
}

static int look(struct bed *b, uint32_t node, const void *ctx, struct sdr_rel_view *v)
{
	return sdr_rel_view(b->node[node].ep->rel, is_ctx, ctx, v);
}

static bool bit(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/* Every unit that is said to be in place has the sender's bytes. */
static void check_bits(const struct sdr_rel_view *v, const uint8_t *want, const uint8_t *have)
{
	uint64_t sum = 0, i;

	for (i = v->first; i < v->nbits && i < v->first + v->words * 64; i++) {
		uint64_t lo = i * v->unit, n = v->len - lo < v->unit ? v->len - lo : v->unit;

		if (!bit(v->bits, i - v->first)) {
			assert_true(lo + n > v->front);
			continue;
		}
		sum += n;
		assert_memory_equal(have + lo, want + lo, n);
	}
	assert_true(sum <= v->got);
	for (; i < v->first + v->words * 64; i++)
		assert_false(bit(v->bits, i - v->first));
}

static uint8_t *want;

/* Between two rounds of the receiver. */
static void watch_app(struct bed *b, uint32_t node)
{
	static const uint64_t units[] = { 0, 1000, 65536, MIB, 1ull << 40 };
	static uint64_t bits[128];
	struct watch *w = b->user;

	if (node != 1 || !w || !w->op || w->rounds++ % 16)
		return;
	for (size_t u = 0; u < sizeof(units) / sizeof(*units); u++) {
		struct sdr_rel_view v = { .unit = units[u],
					  .first = units[u] == 1000 ? 64 : 0,
					  .bits = bits,
					  .words = 128 };
		int ret = look(b, 1, w->op, &v);

		if (w->op->n) {
			assert_int_equal(ret, -ENOENT);
			return;
		}
		if (ret) {
			assert_true(ret == -EAGAIN && !w->got);
			return;
		}
		assert_true(v.len == LEN && v.buf == w->p && v.got >= w->got);
		assert_true(v.front >= w->front && v.front <= v.got && v.got <= LEN);
		assert_memory_equal(w->p, want, v.front);
		assert_true(v.nbits == (LEN + v.unit - 1) / v.unit);
		check_bits(&v, want, w->p);
		w->got = v.got;
		w->front = v.front;
		w->partial += v.got && v.got < LEN;
		w->holes += v.front < v.got;
	}
}

static struct bed *pair_of(const struct sdr_scheme_ops *scheme, double loss, struct watch *w)
{
	struct bed *b = bed_new(2);

	memset(w, 0, sizeof(*w));
	for (uint32_t i = 0; i < 2; i++) {
		b->cfg[i].scheme = scheme;
		/* segments of 1 MiB */
		b->cfg[i].split = (struct sdr_imm_split){ 12, 12, 8 };
	}
	b->link.loss = loss;
	b->app = watch_app;
	b->user = w;
	bed_boot(b);
	bed_warm(b, 0, 1);
	want = bed_buf(b, LEN, SEED);
	return b;
}

static void view__what_is_said_to_be_there_is(void **state)
{
	static const struct sdr_scheme_ops *const schemes[] = { &sdr_scheme_sr, &sdr_scheme_ec,
								&sdr_scheme_auto };
	static const double loss[] = { 0, 0.01, 0.1 };

	(void)state;
	for (int k = 0; k < 9; k++) {
		struct watch w;
		struct bed *b = pair_of(schemes[k / 3], loss[k % 3], &w);
		uint8_t *to = bed_buf(b, LEN, 0);

		w.p = to;
		w.op = bed_recv(b, 1, to, LEN);
		bed_send(b, 0, 1, want, LEN, 0);
		bed_wait_all(b, 60 * BED_SEC);
		bed_rounds(b);
		bed_assert_ok(w.op);
		assert_true(w.partial > 10 && bed_same(to, LEN, SEED));
		if (k % 3 && !w.holes)
			fail_msg("no hole was seen: case %d", k);
		bed_close(b);
	}
}

static void view__of_a_read(void **state)
{
	struct watch w;
	struct bed *b = pair_of(&sdr_scheme_sr, 0.02, &w);
	uint8_t *to = bed_buf(b, LEN, 0);

	(void)state;
	bed_region_add(b, 0, 7, want, LEN, SDR_REL_ACCESS_READ);
	w.p = to;
	w.op = bed_rma(b, 1, 0, SDR_REL_READ, to, LEN, 0, 7, 0);
	bed_wait_all(b, 60 * BED_SEC);
	bed_assert_ok(w.op);
	assert_true(w.partial > 10 && bed_same(to, LEN, SEED));
	bed_close(b);
}

/* One that no message has met; one that meets what is there; small ones; none. */
static void view__what_has_no_place_says_so(void **state)
{
	struct sdr_rel_view v = { .nth = 0 };
	struct bed *b = bed_pair();
	uint8_t *p = bed_buf(b, MIB, 0), *q = bed_buf(b, MIB, 0);
	struct bed_op *r, *t, *u, *c;

	(void)state;
	assert_int_equal(look(b, 1, p, &v), -ENOENT);
	r = bed_recv(b, 1, p, MIB);
	t = bed_trecv(b, 1, 5, 0, q, MIB);
	assert_int_equal(look(b, 1, r, &v), -EAGAIN);
	assert_int_equal(look(b, 1, t, &v), -EAGAIN);
	v.nth = 1;
	assert_int_equal(look(b, 1, r, &v), -ENOENT);
	v.nth = 0;
	bed_send(b, 0, 1, "small", 6, 0);
	bed_wait(b, r, BED_SEC);
	assert_int_equal(look(b, 1, r, &v), -ENOENT);
	assert_int_equal(sdr_rel_cancel(b->node[1].ep->rel, t), 0);
	assert_int_equal(look(b, 1, t, &v), -ENOENT);
	t->expect = 1;
	/* It comes before its receive: lands elsewhere. */
	bed_send(b, 0, 1, bed_buf(b, MIB / 2, 1), MIB / 2, 0);
	bed_run(b, BED_DELAY + BED_DELAY / 100);
	u = bed_recv(b, 1, p, MIB);
	assert_int_equal(u->n, 0);
	assert_int_equal(look(b, 1, u, &v), -ENODATA);
	bed_wait(b, u, BED_SEC);
	/* Parked: there when it is sent again. */
	bed_send(b, 0, 1, bed_buf(b, 2 * MIB, 1), 2 * MIB, 0);
	bed_run(b, BED_RTT);
	p = bed_buf(b, 2 * MIB, 0);
	c = bed_recv(b, 1, p, 2 * MIB);
	assert_int_equal(look(b, 1, c, &v), -EAGAIN);
	bed_run(b, BED_RTT + BED_DELAY / 100);
	assert_int_equal(look(b, 1, c, &v), 0);
	assert_true(v.front && v.front < 2 * MIB && v.kind == SDR_REL_RECV);
	bed_wait_all(b, BED_SEC);
	bed_close(b);
}

/* Two messages on their way into one buffer of a multi-receive; a scattered receive. */
static void view__several_of_one_context(void **state)
{
	struct sdr_rel_view v = { .nth = 0 };
	struct bed *b = bed_pair();
	uint8_t *p = bed_buf(b, 4 * MIB, 0), *q = bed_buf(b, MIB, 0);
	struct sdr_rel_iov iov[2] = { { q, MIB / 4 }, { q + MIB / 2, MIB / 2 } };
	struct sdr_rel_rr rr = { .kind = SDR_REL_TRECV, .niov = 2, .iov = iov };
	struct bed_op *m, *s;

	(void)state;
	m = bed_rr(b, 1, (struct sdr_rel_rr){ .kind = SDR_REL_RECV, .flags = SDR_REL_R_MULTI }, p,
		   4 * MIB);
	m->expect = -1;
	s = bed_op(b, 1, 1);
	rr.ctx = s;
	assert_int_equal(sdr_rel_recv(b->node[1].ep->rel, &rr), 0);
	for (uint32_t i = 0; i < 2; i++)
		bed_send(b, 0, 1, bed_buf(b, MIB + i, i + 1), MIB + i, 0);
	bed_tsend(b, 0, 1, 0, bed_buf(b, MIB / 2, 3), MIB / 2);
	bed_run(b, BED_DELAY + BED_DELAY / 100);
	assert_int_equal(look(b, 1, s, &v), -ENODATA);
	for (v.nth = 0; v.nth < 2; v.nth++) {
		assert_int_equal(look(b, 1, m, &v), 0);
		assert_ptr_equal(v.buf, p + v.nth * (uint64_t)MIB);
		assert_int_equal(v.len, MIB + v.nth);
	}
	assert_int_equal(look(b, 1, m, &v), -EAGAIN); /* what is left of it */
	v.nth = 3;
	assert_int_equal(look(b, 1, m, &v), -ENOENT);
	bed_wait_all(b, BED_SEC);
	bed_shut(b, 1);
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(view__what_is_said_to_be_there_is),
		cmocka_unit_test(view__of_a_read),
		cmocka_unit_test(view__what_has_no_place_says_so),
		cmocka_unit_test(view__several_of_one_context),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
