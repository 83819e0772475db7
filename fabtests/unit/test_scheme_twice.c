/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How much a new scheme is: one that sends everything twice, with its tests on the simulated
 * network.  To be chosen by name it would be a row of sdr_scheme_table more; here the settings name
 * it directly.
 */
#include "test_rel_code_util.h"
#include "model/sdr_choice_layout.h"

/* ---- the scheme ------------------------------------------------------------------------------ */

/*
 * The second copy of a packet is its parity: XOR over codewords of one packet.  Copies follow the
 * segment, so a burst of losses does not take both.
 */
static int twice_plan(struct sdr_conn *c, uint64_t len, struct sdr_plan *plan)
{
	struct sdr_frame_code code = {
		.kind = SDR_CODE_XOR, .k = 1, .m = 1, .chunk = c->shape->mtu
	};
	struct sdr_choice_layout o;

	if (!(c->codes.kinds >> SDR_CODE_XOR & 1) || c->codes.syms < 2 ||
	    c->codes.chunk < c->shape->mtu)
		return sdr_policy_plain(c, len, plan);
	sdr_choice_layout(&o, len, len, sdr_policy_seg(c, c->shape->mtu, 1, 1), c->shape->mtu);
	code.seg = (uint32_t)o.seg;
	if (sdr_plan_init(plan, len, 0, &code))
		return sdr_policy_plain(c, len, plan);
	return sdr_plan_check(plan, c->shape->mtu, c->shape->seg_bytes) ? SDR_REL_ERR_CODE
									: SDR_REL_OK;
}

static bool twice_repeats(const struct sdr_conn *c)
{
	(void)c;
	return true;
}

static const struct sdr_scheme_ops scheme_twice = {
	.name = "twice",
	.plan = twice_plan,
	.repeats = twice_repeats,
};

/* ---- its tests ------------------------------------------------------------------------------- */

#define LEN   (4u * MIB)
#define PKTS  (LEN / SDR_MTU_DEFAULT)
#define SLACK (2 * 1000000u) /* ns: reports that wait */

static bool gone[PKTS]; /* a copy of it was lost */

static uint64_t rnd(struct lab *l)
{
	l->x = l->x * 1664525u + 1013904223u;
	return l->x >> 8;
}

/* 1 % of the packets, but at most one of two copies. */
static bool one_of_two(struct lab *l, struct pk *k)
{
	uint32_t pkt = k->cw; /* a codeword is a packet */

	assert_true(pkt < PKTS);
	if (k->nth || gone[pkt] || rnd(l) % 100)
		return false;
	gone[pkt] = true;
	return true;
}

/* The first transmission of both copies of packets 7, 107, ...; l->y packets. */
static bool both(struct lab *l, struct pk *k)
{
	return !k->nth && k->cw % 100 == 7 && k->cw / 100 < l->y;
}

static struct lab *twice(bool (*lose)(struct lab *l, struct pk *k))
{
	struct lab *l = lab_open(&scheme_twice);

	memset(gone, 0, sizeof(gone));
	l->lose = lose;
	return l;
}

static void twice__one_copy_is_enough(void **state)
{
	uint64_t of_data = 0, of_copies = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 8; seed++) {
		struct lab *l = twice(one_of_two);
		uint64_t sender, t;
		struct sdr_rel_stats st;

		l->x = seed;
		t = lab_move(l, 0, LEN, seed, &sender);
		assert_true(t <= lab_wire(l, 2 * PKTS) + BED_DELAY + SLACK);
		assert_true(sender <= lab_wire(l, 2 * PKTS) + BED_RTT + SLACK);
		assert_int_equal(l->data, PKTS);
		assert_int_equal(l->parity, PKTS);
		st = bed_stats(l->b, 0);
		assert_int_equal(lab_rtx(l, 0) + st.repair_tx + l->data_again + l->parity_again, 0);
		assert_int_equal(st.choice_parity, 1);
		of_data += l->lost_data;
		of_copies += l->lost - l->lost_data;
		lab_close(l);
	}
	assert_in_range(of_data, 8 * PKTS / 200, 8 * PKTS / 50);
	assert_in_range(of_copies, 8 * PKTS / 200, 8 * PKTS / 50);
}

/* Where both are lost, the packet goes again, and nothing else does. */
static void twice__both_copies_lost_are_repaired(void **state)
{
	struct lab *l = twice(both);
	uint64_t t;

	(void)state;
	l->y = 5;
	t = lab_move(l, 0, LEN, 3, NULL);
	assert_int_equal(l->lost, 10);
	assert_int_equal(l->lost_data, 5);
	assert_int_equal(l->data_again, 5);
	assert_int_equal(l->parity_again, 0);
	assert_in_range(t, BED_DELAY + BED_RTT,
			lab_wire(l, 2 * PKTS) + BED_DELAY + BED_RTT + SLACK);
	lab_close(l);
}

/* The layout travels with the transfer: the receiver may have any scheme. */
static void twice__is_the_senders_matter(void **state)
{
	const struct sdr_scheme_ops *const *other;

	(void)state;
	for (other = sdr_scheme_table; *other; other++) {
		struct lab *l = lab_new(&scheme_twice);

		memset(gone, 0, sizeof(gone));
		l->b->cfg[1].scheme = *other;
		lab_boot(l);
		l->lose = one_of_two;
		lab_move(l, 0, LEN, 3, NULL);
		assert_int_equal(l->data, PKTS);
		assert_int_equal(l->parity, PKTS);
		l->lose = NULL;
		lab_move(l, 1, MIB, 4, NULL); /* and back, as that scheme does it */
		lab_close(l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(twice__one_copy_is_enough),
		cmocka_unit_test(twice__both_copies_lost_are_repaired),
		cmocka_unit_test(twice__is_the_senders_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
