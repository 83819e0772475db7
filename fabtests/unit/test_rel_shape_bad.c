/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a peer may say of the size of packets, and no honest one does: it is counted and changes
 * nothing, or ends the connection where numbers would be misread; and it costs one QP at most.
 */
#include "rel/conn/sdr_reshape.h"
#include "../bed/bed_conn.h"

#define SMALL 1024u

struct bad {
	struct bed_conn b;
	uint8_t info[SDR_QP_INFO_LEN];
	struct sdr_frame_shape f;
	uint64_t bad; /* counted so far */
};

/* A QP of the peer's that fits one of ours with packets of that size. */
static void info_of(struct bad *t, uint32_t mtu)
{
	uint64_t seg = (uint64_t)mtu << t->b.rel->cfg.split.off_bits;
	struct sdr_wire_qp_info i;

	sdr_qp_info_get(t->b.c->shape->qp, t->info);
	assert_int_equal(sdr_wire_qp_info_decode(t->info, sizeof(t->info), &i), 0);
	seg = seg > SDR_REL_SEG_MAX ? SDR_REL_SEG_MAX / mtu * mtu : seg;
	i.mtu = i.chunk = mtu;
	i.max_msg = seg;
	i.qpn += 7;
	sdr_wire_qp_info_encode(t->info, &i);
	t->f.mtu = mtu;
	t->f.seg_bytes = (uint32_t)seg;
	t->f.info = t->info;
}

static void bad_open(struct bad *t)
{
	memset(t, 0, sizeof(*t));
	bed_conn_open(&t->b, NULL);
	t->b.c->hs.features |= SDR_FEATURE_SHAPE;
	t->f.limit = SDR_MTU_MAX;
	info_of(t, SMALL);
}

static void bad_close(struct bad *t)
{
	loop_drop_all(t->b.net);
	bed_conn_close(&t->b);
}

/* The next thing that the peer says. */
static void say(struct bad *t, uint8_t what, uint16_t gen)
{
	struct bed_conn *b = &t->b;
	struct sdr_frame_shape f = t->f;

	f.what = what;
	f.gen = gen;
	f.n = ++t->f.n;
	if (what == SDR_SHAPE_LIMIT)
		f.mtu = 0;
	if (what == SDR_SHAPE_LIMIT || what == SDR_SHAPE_REFUSE)
		f.seg_bytes = 0;
	if (what != SDR_SHAPE_USE)
		f.msn = 0;
	bed_conn_say(b, b->frames, sdr_frame_shape_encode(b->frames, sizeof(b->frames), &f));
	bed_conn_pass(b, 2 * BED_CONN_MS);
}

/* What the endpoint says, acknowledged; false: nothing. */
static bool hear(struct bad *t, struct sdr_frame_shape *out)
{
	struct bed_conn_pkt p;
	struct sdr_frame f;
	bool heard = false;

	while (bed_conn_hear(&t->b, &p)) {
		if (!bed_conn_frame(&p, SDR_FRAME_SHAPE, &f))
			continue;
		*out = f.shape;
		heard = true;
		bed_conn_ack(&t->b, p.pn);
	}
	return heard;
}

/* Counted, if it is, and nothing else. */
static void nothing_changed(struct bad *t, bool counted)
{
	struct sdr_conn *c = t->b.c;
	struct sdr_frame_shape f;

	assert_true(sdr_conn_live(c));
	assert_int_equal(c->st.pkts_bad, t->bad + counted);
	t->bad = c->st.pkts_bad;
	assert_false(hear(t, &f));
	assert_null(sdr_shape_other(c)->qp);
	assert_ptr_equal(c->in.now, c->shape);
	assert_int_equal(c->shape->mtu, SDR_MTU_DEFAULT);
}

static void bad__what_was_not_offered(void **state)
{
	struct bad t;

	(void)state;
	bad_open(&t);
	for (uint32_t gen = 1; gen < 4; gen++) {
		say(&t, SDR_SHAPE_USE, (uint16_t)gen);
		nothing_changed(&t, true);
		say(&t, SDR_SHAPE_REFUSE, (uint16_t)gen);
		nothing_changed(&t, true);
	}
	for (uint32_t gen = 2; gen <= UINT16_MAX; gen += 0x1fff) {
		say(&t, SDR_SHAPE_OFFER, (uint16_t)gen);
		nothing_changed(&t, true);
	}
	/* As if it were said once more. */
	say(&t, SDR_SHAPE_USE, 0);
	nothing_changed(&t, false);
	say(&t, SDR_SHAPE_LIMIT, 77);
	nothing_changed(&t, false);
	bad_close(&t);
}

/* Older than what was heard, or the same: however often. */
static void bad__nothing_new(void **state)
{
	struct bad t;

	(void)state;
	bad_open(&t);
	say(&t, SDR_SHAPE_LIMIT, 0);
	for (uint32_t i = 0; i < 300; i++) {
		t.f.n = (uint8_t)(i & 1 ? 0 : -(int)(i % 100) - 2);
		say(&t, SDR_SHAPE_OFFER, 1);
		nothing_changed(&t, false);
	}
	bad_close(&t);
}

static void refused(struct bad *t, uint16_t gen, bool counted)
{
	struct sdr_frame_shape f;

	say(t, SDR_SHAPE_OFFER, gen);
	assert_true(hear(t, &f));
	assert_int_equal(f.what, SDR_SHAPE_REFUSE);
	assert_int_equal(f.gen, gen);
	assert_int_equal(f.mtu, t->f.mtu);
	assert_int_equal(f.limit, SDR_MTU_DEFAULT);
	nothing_changed(t, counted);
}

static void bad__an_offer_that_cannot_be(void **state)
{
	struct sdr_wire_qp_info i;
	uint16_t gen = 0;
	struct bad t;

	(void)state;
	bad_open(&t);
	info_of(&t, SDR_MTU_MAX);
	refused(&t, ++gen, false);
	info_of(&t, SDR_MTU_DEFAULT + 1);
	refused(&t, ++gen, false);
	info_of(&t, SMALL);
	t.f.mtu = SMALL + 4; /* not what the info says */
	refused(&t, ++gen, true);
	info_of(&t, SMALL);
	t.f.seg_bytes++;
	refused(&t, ++gen, true);
	info_of(&t, SMALL);
	memset(t.info, 0, sizeof(t.info));
	refused(&t, ++gen, true);
	for (uint32_t k = 0; k < 5; k++) {
		info_of(&t, SMALL);
		assert_int_equal(sdr_wire_qp_info_decode(t.info, sizeof(t.info), &i), 0);
		i.flags |= k == 0 ? SDR_QP_F_RKEYED : k == 1 ? SDR_QP_F_NIC : 0;
		i.channels = (uint8_t)(i.channels + (k == 2));
		i.generations = (uint8_t)(i.generations << (k == 3));
		i.max_msg -= k == 4 ? SMALL : 0;
		sdr_wire_qp_info_encode(t.info, &i);
		refused(&t, ++gen, true);
	}
	bad_close(&t);
}

/* It was answered, and USE is due: with a number that cannot be. */
static struct sdr_conn *answered(struct bad *t, uint16_t gen)
{
	struct sdr_frame_shape f;
	struct sdr_conn *c = t->b.c;

	info_of(t, gen & 1 ? SMALL : SDR_MTU_DEFAULT);
	say(t, SDR_SHAPE_OFFER, gen);
	assert_true(hear(t, &f));
	assert_int_equal(f.what, SDR_SHAPE_USE);
	assert_int_equal(f.gen, gen);
	assert_int_equal(f.msn, c->bulk->tx.msn);
	assert_int_equal(c->shape->mtu, t->f.mtu);
	assert_ptr_equal(c->in.now, sdr_shape_other(c));
	return c;
}

static void bad__numbers_that_cannot_be(void **state)
{
	uint32_t ids = 1024, ahead = ids + (1u << 20);
	const struct {
		uint32_t seen, msn;
		bool ok;
	} v[] = {
		{ 0, 0, true },	   { 0, ahead, true },	   { 0, ahead + 1, false },
		{ 0, ~0u, false }, { 0, 1u << 31, false }, { 9, 9, true },
		{ 9, 8, false },   { 9, 0, false },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		struct bad t;
		struct sdr_conn *c;

		bad_open(&t);
		c = answered(&t, 1);
		c->bulk->rx.seen = v[i].seen;
		t.f.msn = v[i].msn;
		bed_conn_say(&t.b, t.b.frames, 0);
		say(&t, SDR_SHAPE_USE, 1);
		assert_int_equal(t.b.peer->conn == c, v[i].ok);
		if (v[i].ok) {
			assert_ptr_equal(c->in.now, c->shape);
			assert_int_equal(sdr_qp_recv_base(c->shape->qp), v[i].msn);
		}
		bad_close(&t);
	}
}

/* Nothing new is taken before the peer's numbers have gone over. */
static void bad__the_next_before_this_one(void **state)
{
	struct sdr_frame_shape f;
	struct sdr_conn *c;
	struct bad t;

	(void)state;
	bad_open(&t);
	c = answered(&t, 1);
	for (uint32_t i = 0; i < 50; i++) {
		say(&t, SDR_SHAPE_OFFER, 2);
		assert_int_equal(c->st.pkts_bad, i + 1);
		assert_false(hear(&t, &f));
	}
	info_of(&t, 512); /* and USE for another size ends it */
	say(&t, SDR_SHAPE_USE, 1);
	assert_null(t.b.peer->conn);
	bad_close(&t);
}

/* Generation after generation, over their wrap: never more than two. */
static void bad__forever(void **state)
{
	struct sdr_conn *c;
	uint64_t steps;
	struct bad t;

	(void)state;
	bad_open(&t);
	for (uint32_t gen = 1; gen < 3000; gen++) {
		steps = t.b.rel->steps;
		c = answered(&t, (uint16_t)gen);
		t.f.msn = 0;
		say(&t, SDR_SHAPE_USE, (uint16_t)gen);
		assert_true(sdr_shape_alone(c));
		assert_true(t.b.rel->steps - steps < 200);
	}
	assert_int_equal(c->st.pkts_bad, 0);
	assert_int_equal(c->st.reshapes, 2999);
	bad_close(&t);
}

/* Numbers below the change that are never used keep the old one, and nothing else. */
static void bad__a_hole_in_the_numbers(void **state)
{
	struct sdr_frame_shape f;
	struct sdr_conn *c;
	struct bad t;

	(void)state;
	bad_open(&t);
	c = answered(&t, 1);
	t.f.msn = 3;
	say(&t, SDR_SHAPE_USE, 1);
	assert_ptr_equal(c->in.old, sdr_shape_other(c));
	assert_int_equal(sdr_shape_rx_base(c), 0);
	assert_int_equal(sdr_conn_msn_limit(c), sdr_qp_ids(c->shape->qp));
	info_of(&t, SDR_MTU_DEFAULT);
	say(&t, SDR_SHAPE_OFFER, 2); /* waits */
	assert_false(hear(&t, &f));
	bed_conn_pass(&t.b, 5000ull * BED_CONN_MS);
	assert_ptr_equal(c->in.old, sdr_shape_other(c));
	sdr_msn_skip_range(c, 0, 3); /* as refused transfers would */
	sdr_conn_kick(c);
	bed_conn_pass(&t.b, BED_CONN_MS);
	assert_true(hear(&t, &f));
	assert_int_equal(f.what, SDR_SHAPE_USE);
	assert_int_equal(f.gen, 2);
	bad_close(&t);
}

/* A transfer lies on one shape, whole. */
static void bad__a_transfer_over_the_change(void **state)
{
	(void)state;
	for (uint32_t msn = 0; msn < 6; msn++) {
		struct sdr_frame_rec r = { .op = SDR_REC_WRITE,
					   .flags = SDR_REC_F_LEN | SDR_REC_F_BULK | SDR_REC_F_RMA,
					   .id = 1,
					   .msn = msn,
					   .key = BED_CONN_KEY };
		struct sdr_conn *c;
		struct bad t;

		bad_open(&t);
		c = answered(&t, 1);
		t.f.msn = 3;
		say(&t, SDR_SHAPE_USE, 1);
		r.len = 2 * sdr_shape_of_rx(c, msn)->seg_bytes; /* two messages */
		r.rseq = c->rec.rx_next;
		bed_conn_say(&t.b, t.b.frames,
			     sdr_frame_rec_encode(t.b.frames, sizeof(t.b.frames), &r));
		assert_int_equal(t.b.peer->conn == c, msn != 2);
		bad_close(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad__what_was_not_offered),
		cmocka_unit_test(bad__nothing_new),
		cmocka_unit_test(bad__an_offer_that_cannot_be),
		cmocka_unit_test(bad__numbers_that_cannot_be),
		cmocka_unit_test(bad__the_next_before_this_one),
		cmocka_unit_test(bad__forever),
		cmocka_unit_test(bad__a_hole_in_the_numbers),
		cmocka_unit_test(bad__a_transfer_over_the_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
