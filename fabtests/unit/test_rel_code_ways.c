/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Coded transfers of every size and by every way in: sizes around packets, chunks and segments,
 * RMA, messages that wait, scattered buffers; few message numbers, little room for parity, two
 * sides that differ.  Losses everywhere.
 */
#include "test_rel_code_util.h"

#define SEG (128u * KIB)

/* Every x-th packet once, parity too. */
static bool every_xth(struct lab *l, struct pk *k)
{
	return !k->nth && (k->off + 3 * k->s->msn) % l->x == 1;
}

static bool nothing(struct lab *l, struct pk *k)
{
	(void)l;
	(void)k;
	return false;
}

/* 128 KiB segments from the start, by a message table with this many bits of message number. */
static struct lab *lab_small(const struct sdr_scheme_ops *scheme, const struct sdr_imm_split *split)
{
	struct lab *l = lab_new(scheme);

	for (uint32_t i = 0; i < 2; i++) {
		l->b->cfg[i].chunk = 16 * KIB;
		l->b->cfg[i].ec_k = 4;
		l->b->cfg[i].ec_m = 2;
		if (split)
			l->b->cfg[i].split = *split;
	}
	lab_boot(l);
	for (uint32_t i = 0; i < 2; i++)
		bed_conn(l->b, i, 1 - i)->shape->seg_bytes = SEG;
	return l;
}

static const struct sdr_scheme_ops *const SCHEMES[] = { &sdr_scheme_ec, &sdr_scheme_ec_sr,
							&sdr_scheme_hybrid, &sdr_scheme_auto };

/* ---- sizes ----------------------------------------------------------------------------------- */

static void ways__any_size(void **state)
{
	static const uint32_t chunk = 16 * KIB;
	const size_t len[] = { 4096,	      4097,	     chunk,	    chunk + 1,
			       4 * chunk - 1, 4 * chunk,     4 * chunk + 1, SEG - 1,
			       SEG,	      SEG + 1,	     3 * SEG,	    3 * SEG + chunk + 77,
			       7 * SEG + 1,   5 * SEG - 4096 };

	(void)state;
	for (uint32_t k = 0; k < 4; k++) {
		for (uint32_t code = SDR_CODE_XOR; code <= SDR_CODE_MDS; code++) {
			struct lab *l = lab_small(SCHEMES[k], NULL);

			for (uint32_t i = 0; i < 2; i++) {
				/* read at each decision */
				l->b->node[i].ep->rel->cfg.ec_code = (uint8_t)code;
				lab_move(l, i,
					 sdr_seal_inline_max(l->b->node[i].ep->rel,
							     l->b->node[i].ep->rel->ctl_max) +
						 1,
					 3, NULL);
			}
			for (uint32_t i = 0; i < 2 * sizeof(len) / sizeof(*len); i++) {
				l->lose = i & 1 ? every_xth : nothing;
				l->x = 9;
				lab_move(l, i / 2 & 1, len[i / 2], 1 + i, NULL);
			}
			assert_true(l->lost > 0 && l->parity > 0);
			lab_close(l);
		}
	}
}

/* The last segment is short: its parity is too, and it is protected all the same. */
static void ways__a_short_last_segment_is_covered(void **state)
{
	static const uint32_t tail[] = { 1, 4096, 4097, 16 * KIB, 40000 };

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		struct lab *l = lab_small(&sdr_scheme_ec, NULL);
		uint64_t t;

		l->lose = every_xth;
		l->x = 32; /* packet 1 of a segment, and 30 of the one before */
		t = lab_move(l, 0, SEG + tail[i], 3, NULL);
		assert_int_equal(l->data_again, 0);
		assert_true(l->lost > 0);
		assert_in_range(t, 0, lab_wire(l, l->data + l->parity) + BED_DELAY + MS);
		lab_close(l);
	}
}

/* ---- ways in --------------------------------------------------------------------------------- */

static void ways__rma(void **state)
{
	const size_t len = 5 * SEG + 777;

	(void)state;
	for (uint32_t k = 0; k < 4; k++) {
		struct lab *l = lab_small(SCHEMES[k], NULL);
		struct bed *b = l->b;
		uint8_t *p = bed_buf(b, len + 100, 0), *q = bed_buf(b, len, 5);
		struct bed_op *s;

		l->lose = every_xth;
		l->x = 7;
		bed_region_add(b, 1, 7, p, len + 100, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
		for (uint16_t flags = 0; flags <= SDR_REL_F_DELIVERY; flags += SDR_REL_F_DELIVERY) {
			bed_fill(p, len + 100, 0);
			s = bed_rma(b, 0, 1, SDR_REL_WRITE, q, len, 50, 7, flags);
			bed_wait(b, s, BED_SEC);
			bed_assert_ok(s);
			assert_true(bed_same(p + 50, len, 5));
			assert_true(bed_same(p, 50, 0) && bed_same(p + 50 + len, 50, 0));
		}
		bed_fill(q, len, 0);
		s = bed_rma(b, 0, 1, SDR_REL_READ, q, len, 50, 7, 0);
		bed_wait(b, s, BED_SEC);
		bed_assert_ok(s);
		assert_true(bed_same(q, len, 5));
		assert_true(l->lost > 0);
		lab_close(l);
	}
}

static void ways__messages_that_wait(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < 8; k++) {
		/* into a bounce buffer, or parked: announced, refused, requested */
		size_t len = k & 1 ? 3 * MIB : MIB / 2 + 5;
		struct lab *l = lab_small(SCHEMES[k / 2], NULL);
		struct bed *b = l->b;
		uint8_t *p = bed_buf(b, len, 0);
		struct bed_op *s, *r;

		l->lose = every_xth;
		l->x = 11;
		for (uint16_t flags = 0; flags <= SDR_REL_F_DELIVERY; flags += SDR_REL_F_DELIVERY) {
			bed_fill(p, len, 0);
			s = bed_send(b, 0, 1, bed_buf(b, len, 6), len, flags);
			bed_run(b, 5 * BED_RTT);
			r = bed_recv(b, 1, p, len);
			bed_wait(b, r, BED_SEC);
			bed_wait(b, s, BED_SEC);
			bed_assert_ok(r);
			bed_assert_ok(s);
			assert_true(bed_same(p, len, 6));
		}
		assert_int_equal(bed_stats(b, 1).msgs_parked > 0, k & 1);
		assert_true(bed_stats(b, 0).choice_parity > 0);
		lab_close(l);
	}
}

static void ways__scattered_and_multi(void **state)
{
	const size_t len = 2 * SEG + 999;

	(void)state;
	for (uint32_t k = 0; k < 4; k++) {
		struct lab *l = lab_small(SCHEMES[k], NULL);
		struct bed *b = l->b;
		uint8_t *src = bed_buf(b, len, 8), *dst = bed_buf(b, len, 0),
			*multi = bed_buf(b, 3 * len, 0);
		struct sdr_rel_iov out[3] = { { src, 1 },
					      { src + 1, SEG + 5 },
					      { src + SEG + 6, len - SEG - 6 } };
		struct sdr_rel_iov in[2] = { { dst, 70000 }, { dst + 70000, len - 70000 } };
		struct bed_op *s, *r;

		l->lose = every_xth;
		l->x = 6;
		r = bed_rr(b, 1, (struct sdr_rel_rr){ .kind = SDR_REL_RECV, .niov = 2, .iov = in },
			   NULL, 0);
		s = bed_post(b, 0, 1,
			     (struct sdr_rel_wr){ .kind = SDR_REL_SEND, .niov = 3, .iov = out },
			     NULL, 0);
		bed_wait(b, r, BED_SEC);
		bed_wait(b, s, BED_SEC);
		bed_assert_ok(r);
		bed_assert_ok(s);
		assert_true(bed_same(dst, len, 8));
		r = bed_rr(b, 1,
			   (struct sdr_rel_rr){ .kind = SDR_REL_RECV,
						.flags = SDR_REL_R_MULTI,
						.min_multi = len },
			   multi, 3 * len);
		for (int i = 0; i < 3; i++) {
			s = bed_send(b, 0, 1, src, len, i == 1 ? SDR_REL_F_DELIVERY : 0);
			bed_wait(b, s, BED_SEC);
			bed_assert_ok(s);
		}
		bed_run(b, BED_RTT);
		assert_true(r->n >= 3);
		for (int i = 0; i < 3; i++)
			assert_true(bed_same(multi + (size_t)i * len, len, 8));
		lab_close(l);
	}
}

/* Each side codes as its own settings say, and decodes what comes. */
static void ways__two_sides_that_differ(void **state)
{
	static const struct sdr_scheme_ops *const all[] = { &sdr_scheme_sr,	&sdr_scheme_sr_nack,
							    &sdr_scheme_sr_rto, &sdr_scheme_ec_sr,
							    &sdr_scheme_ec,	&sdr_scheme_hybrid,
							    &sdr_scheme_auto };

	(void)state;
	for (uint32_t i = 0; i < 49; i++) {
		struct lab *l = lab_new(all[i / 7]);

		l->b->cfg[1].scheme = all[i % 7];
		l->b->cfg[1].ec_code = SDR_CODE_XOR;
		l->b->cfg[1].ec_k = 12;
		l->b->cfg[1].ec_m = 3;
		lab_boot(l);
		l->lose = every_xth;
		l->x = 13;
		lab_move(l, 0, 300001, 3, NULL);
		lab_move(l, 1, 300001, 4, NULL);
		lab_close(l);
	}
}

/* ---- little room for parity ------------------------------------------------------------------ */

static void ways__parity_needs_room_and_goes_without(void **state)
{
	static const uint64_t room[] = { 1, 4096, 64 * KIB, MIB };
	static const uint32_t few = 40;

	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		struct lab *l = lab_new(SCHEMES[i / 4]);
		struct bed *b = l->b;
		struct bed_op *r[40], *s[40];
		uint8_t *p[40];
		size_t len = 700001;

		b->cfg[0].ec_scratch = i & 1 ? room[i % 4] : 64 * MIB;
		b->cfg[1].ec_scratch = i & 1 ? 64 * MIB : room[i % 4];
		for (uint32_t k = 0; k < 2; k++)
			b->cfg[k].chunk = 16 * KIB;
		lab_boot(l);
		l->lose = every_xth;
		l->x = 10;
		for (uint32_t k = 0; k < few; k++) {
			p[k] = bed_buf(b, len, 0);
			r[k] = bed_recv(b, 1, p[k], len);
		}
		for (uint32_t k = 0; k < few; k++)
			s[k] = bed_send(b, 0, 1, bed_buf(b, len, 1 + k), len, 0);
		bed_wait_all(b, 5 * BED_SEC);
		for (uint32_t k = 0; k < few; k++) {
			bed_assert_ok(r[k]);
			bed_assert_ok(s[k]);
			assert_true(bed_same(p[k], len, 1 + k));
		}
		for (uint32_t k = 0; k < 2; k++)
			assert_true(b->node[k].ep->rel->bulk->scratch.held <= b->cfg[k].ec_scratch);
		if (i & 1 && room[i % 4] <= 4096) /* the sender holds no row */
			assert_int_equal(l->parity, 0);
		lab_close(l);
	}
}

/*
 * A transfer whose receiver cannot hold parity: what is lost comes as data, one round trip later.
 */
static void ways__a_receiver_without_room_gets_data_again(void **state)
{
	struct lab *l = lab_new(&sdr_scheme_ec);
	uint64_t t;

	(void)state;
	l->b->cfg[1].ec_scratch = 4096;
	lab_boot(l);
	l->lose = every_xth;
	l->x = 50;
	t = lab_move(l, 0, MIB, 3, NULL);
	assert_int_equal(l->data_again, l->lost_data);
	assert_in_range(t, BED_DELAY + BED_RTT,
			BED_DELAY + BED_RTT + lab_wire(l, l->data + l->parity) + 2 * MS);
	lab_close(l);
}

/* ---- few message numbers --------------------------------------------------------------------- */

/* All are posted at once and nothing follows: credit that comes must wake who waits for numbers. */
static void ways__many_operations_and_few_numbers(void **state)
{
	static const struct sdr_imm_split few = { 4, 20, 8 };
	static const struct sdr_scheme_ops *const schemes[] = { &sdr_scheme_sr, &sdr_scheme_ec,
								&sdr_scheme_ec_sr,
								&sdr_scheme_hybrid };

	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		struct lab *l = lab_small(schemes[i / 4], &few);
		struct bed *b = l->b;
		size_t len = i & 1 ? 3 * SEG + 5 : 50000;
		uint8_t *p = bed_buf(b, 40 * len, 0), *q = bed_buf(b, 40 * len, 3);
		struct bed_op *s[40];

		assert_int_equal(sdr_qp_ids(bed_conn(b, 0, 1)->shape->qp), 16);
		if (i & 2) {
			l->lose = every_xth;
			l->x = 11;
		}
		bed_region_add(b, 1, 7, p, 40 * len, SDR_REL_ACCESS_WRITE);
		for (uint32_t k = 0; k < 40; k++)
			s[k] = bed_rma(b, 0, 1, SDR_REL_WRITE, q + k * len, len, k * len, 7, 0);
		bed_wait_all(b, 5 * BED_SEC);
		for (uint32_t k = 0; k < 40; k++)
			bed_assert_ok(s[k]);
		assert_true(bed_same(p, 40 * len, 3));
		assert_true(bed_conn(b, 0, 1)->bulk->tx.msn >= 40);
		lab_close(l);
	}
}

static bool first_message_thrice(struct lab *l, struct pk *k)
{
	(void)l;
	return k->s->msn == 0 && k->off == 1 && k->nth < 3;
}

/*
 * Data at the window's last number, their parity behind it: complete before the parity has a place.
 */
static void ways__parity_beyond_the_window(void **state)
{
	static const struct sdr_imm_split few = { 4, 20, 8 };
	struct lab *l = lab_small(&sdr_scheme_sr, &few);
	struct bed *b = l->b;
	uint8_t *p = bed_buf(b, 40 * SEG, 0), *q = bed_buf(b, 40 * SEG, 3);
	struct bed_op *s[40];

	(void)state;
	bed_region_add(b, 1, 7, p, 40 * SEG, SDR_REL_ACCESS_WRITE);
	l->lose = first_message_thrice;
	for (uint32_t k = 0; k < 40; k++) {
		s[k] = bed_rma(b, 0, 1, SDR_REL_WRITE, q + k * SEG, SEG, k * SEG, 7, 0);
		bed_rounds(b);
		/* from the second on: numbers 1 and 2, 3 and 4 ... */
		b->node[0].ep->rel->cfg.scheme = &sdr_scheme_ec;
	}
	bed_wait(b, s[7], 2 * BED_RTT);
	assert_int_equal(s[0]->n + s[9]->n, 0);
	bed_wait_all(b, 5 * BED_SEC);
	for (uint32_t k = 0; k < 40; k++)
		bed_assert_ok(s[k]);
	assert_int_equal(l->lost, 3);
	assert_true(bed_same(p, 40 * SEG, 3));
	lab_close(l);
}

/* The same, with the credit's first copies lost and both directions at once. */
static void ways__credit_lost_both_ways(void **state)
{
	static const struct sdr_imm_split few = { 4, 20, 8 };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct lab *l = lab_small(SCHEMES[i], &few);
		struct bed *b = l->b;
		struct bed_op *r[2][20];
		uint8_t *p[2][20];

		l->lose = every_xth;
		l->x = 9;
		bed_drop(b, BED_ANY, BED_CREDIT, 2, 5);
		for (uint32_t k = 0; k < 20; k++) {
			for (uint32_t n = 0; n < 2; n++) {
				p[n][k] = bed_buf(b, 2 * SEG + 9, 0);
				r[n][k] = bed_recv(b, n, p[n][k], 2 * SEG + 9);
				bed_send(b, 1 - n, n, bed_buf(b, 2 * SEG + 9, 2 + k), 2 * SEG + 9,
					 0);
			}
		}
		bed_wait_all(b, 10 * BED_SEC);
		for (uint32_t k = 0; k < 40; k++) {
			bed_assert_ok(r[k & 1][k / 2]);
			assert_true(bed_same(p[k & 1][k / 2], 2 * SEG + 9, 2 + k / 2));
		}
		lab_close(l);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ways__any_size),
		cmocka_unit_test(ways__a_short_last_segment_is_covered),
		cmocka_unit_test(ways__rma),
		cmocka_unit_test(ways__messages_that_wait),
		cmocka_unit_test(ways__scattered_and_multi),
		cmocka_unit_test(ways__two_sides_that_differ),
		cmocka_unit_test(ways__parity_needs_room_and_goes_without),
		cmocka_unit_test(ways__a_receiver_without_room_gets_data_again),
		cmocka_unit_test(ways__many_operations_and_few_numbers),
		cmocka_unit_test(ways__parity_beyond_the_window),
		cmocka_unit_test(ways__credit_lost_both_ways),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
