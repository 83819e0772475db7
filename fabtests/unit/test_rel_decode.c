/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Segments that a thread decodes (sdr_decode.c), in virtual time: the thread is done a while after
 * the round that lent it the job.  1 MiB with 8 + 2 chunks of 16 packets, of which each codeword
 * loses two: 64 of 256 packets of 4 KiB are computed.
 */
#include "fec/sdr_fec_impl.h"
#include "rel/bulk/sdr_decode.h"
#include "test_rel_code_util.h"

#define JOB  (7 * MS)
#define LOST 64u /* data packets */

static bool two_of_each(struct lab *l, struct pk *k)
{
	(void)l;
	return !k->parity && !k->nth && k->pos < 2;
}

/* Those two, as often as they are sent. */
static bool two_always(struct lab *l, struct pk *k)
{
	(void)l;
	return !k->parity && k->pos < 2;
}

static struct lab *lab_slow(uint64_t job_ns, uint64_t least)
{
	struct lab *l = lab_new(&sdr_scheme_ec);

	l->b->job_ns = job_ns;
	l->b->cfg[0].decode_lend = UINT64_MAX; /* and node 1 alone */
	l->b->cfg[1].decode_lend = least;
	lab_boot(l);
	l->lose = two_of_each;
	return l;
}

static struct sdr_rel_bulk *room(struct lab *l)
{
	return l->b->node[1].ep->rel->bulk;
}

/* Until the thread of node 1 has a job. */
static void until_lent(struct lab *l, uint64_t n)
{
	uint64_t end = bed_now(l->b) + BED_SEC;

	while (room(l)->nlent < n && bed_now(l->b) < end)
		bed_run(l->b, MS / 10);
	assert_int_equal(room(l)->nlent, n);
}

/* Packets in which nothing was written. */
static uint32_t fresh(const uint8_t *p, size_t len)
{
	uint32_t n = 0;

	for (size_t at = 0; at < len; at += SDR_MTU_DEFAULT)
		n += bed_differs(p + at, SDR_MTU_DEFAULT, 0) == SDR_MTU_DEFAULT;
	return n;
}

static void decode__lent_by_its_size(void **state)
{
	/* 8 sources, two of which are parity, for each of two: all 32 codewords */
	const uint64_t work = 32ull * 8 * 2 * SDR_MTU_DEFAULT;

	(void)state;
	for (uint64_t more = 0; more < 2; more++) {
		struct lab *l = lab_slow(JOB, work + more);
		uint64_t wire = lab_wire(l, MIB / SDR_MTU_DEFAULT * 5 / 4), t, sender;

		t = lab_move(l, 0, MIB, 3, &sender);
		assert_int_equal(l->lost_data, LOST);
		assert_int_equal(room(l)->nlent, !more);
		assert_int_equal(room(l)->nlent_back, 0);
		if (!more) {
			assert_in_range(t, BED_DELAY + JOB, wire + BED_DELAY + JOB + 2 * MS);
			assert_in_range(sender, t + BED_DELAY, t + BED_DELAY + 2 * MS);
		} else {
			assert_in_range(t, BED_DELAY, wire + BED_DELAY + 2 * MS);
		}
		assert_int_equal(bed_stats(l->b, 0).chunks_fec > 0, 1);
		lab_close(l);
	}
}

/*
 * The endpoint is not held up: what comes meanwhile is answered and delivered, and of the segment
 * nothing stays in flight that has come.
 */
static void decode__others_go_on(void **state)
{
	struct lab *l = lab_slow(40 * MS, 1);
	struct bed *b = l->b;
	uint8_t *big = bed_buf(b, MIB, 0), *small = bed_buf(b, 100, 0);
	struct bed_op *r = bed_trecv(b, 1, 1, 0, big, MIB), *q = bed_trecv(b, 1, 2, 0, small, 100);
	struct bed_op *s = bed_tsend(b, 0, 1, 1, bed_buf(b, MIB, 5), MIB), *t;

	(void)state;
	until_lent(l, 1);
	t = bed_tsend(b, 0, 1, 2, bed_buf(b, 100, 6), 100);
	bed_run(b, 20 * MS);
	bed_assert_ok(q);
	bed_assert_ok(t);
	assert_int_equal(r->n + s->n, 0);
	assert_int_equal(fresh(big, MIB), LOST);
	assert_int_equal(bed_conn(b, 0, 1)->inflight, 0);
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(big, MIB, 5) && bed_same(small, 100, 6));
	lab_close(l);
}

/* What comes while it is decoded is late, wherever it would lie. */
static void decode__late_packets_are_not_written(void **state)
{
	struct lab *l = lab_slow(30 * MS, 1);
	struct bed *b = l->b;
	uint8_t *p = bed_buf(b, MIB, 0);
	struct bed_op *r, *s;

	(void)state;
	l->late = 15 * MS;
	r = bed_recv(b, 1, p, MIB);
	s = bed_send(b, 0, 1, bed_buf(b, MIB, 5), MIB, 0);
	until_lent(l, 1);
	bed_run(b, 20 * MS);
	assert_int_equal(l->lost_data, LOST);
	assert_int_equal(r->n, 0);
	assert_int_equal(fresh(p, MIB), LOST);
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, MIB, 5));
	lab_close(l);
}

/* A sender that asks for long sends the data again: they are late, and do no harm. */
static void decode__longer_than_the_sender_waits(void **state)
{
	struct lab *l = lab_slow(90 * MS, 1);
	uint64_t t, sender;

	(void)state;
	l->lose = two_always;
	t = lab_move(l, 0, MIB, 3, &sender);
	assert_in_range(t, 95 * MS, 105 * MS);
	assert_true(sender < t + BED_RTT);
	assert_int_equal(room(l)->nlent_back, 0);
	/* three questions, then once a round trip at most */
	assert_in_range(l->data_again, 0, LOST * 90 * MS / BED_RTT);
	lab_close(l);
}

/* Nobody does it: the endpoint does. */
static void decode__no_thread_comes(void **state)
{
	struct lab *l = lab_slow(100 * BED_SEC, 1);
	uint64_t t;

	(void)state;
	t = lab_move(l, 0, MIB, 3, NULL);
	assert_in_range(t, BED_DELAY + SDR_DECODE_PATIENCE_NS,
			BED_DELAY + SDR_DECODE_PATIENCE_NS + 5 * MS);
	assert_int_equal(room(l)->nlent, 1);
	assert_int_equal(room(l)->nlent_back, 1);
	lab_close(l);
}

/* A child has seen of a thread of its parent that it was done, and not all that it wrote. */
static void decode__done_and_not_there(void **state)
{
	struct lab *l = lab_slow(30 * MS, 1);
	struct bed *b = l->b;
	uint8_t *p = bed_buf(b, MIB, 0), *before = bed_buf(b, MIB, 0);
	struct bed_op *r = bed_recv(b, 1, p, MIB);
	struct bed_op *s = bed_send(b, 0, 1, bed_buf(b, MIB, 5), MIB, 0);
	struct sdr_decode *d;

	(void)state;
	until_lent(l, 1);
	memcpy(before, p, MIB);
	d = sdr_container(b->node[1].ep->lent[0].job, struct sdr_decode, job);
	d->job.run(&d->job);
	assert_true(bed_same(p, MIB, 5));
	memcpy(p, before, MIB);
	memset(d->w.plan->coef, 0xee, d->w.plan->n * (d->w.plan->k + d->w.plan->n));
	b->child = true;
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, MIB, 5));
	assert_int_equal(room(l)->nlent_back, 1);
	lab_close(l);
}

static void decode__several_at_a_time(void **state)
{
	struct lab *l = lab_slow(JOB, 1);
	struct bed *b = l->b;
	struct bed_op *r[8], *s[8];
	uint8_t *p[8];

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		p[i] = bed_buf(b, MIB / 2, 0);
		r[i] = bed_recv(b, 1, p[i], MIB / 2);
		s[i] = bed_send(b, 0, 1, bed_buf(b, MIB / 2, 10 + i), MIB / 2, 0);
	}
	bed_wait_all(b, BED_SEC);
	for (uint32_t i = 0; i < 8; i++) {
		bed_assert_ok(r[i]);
		bed_assert_ok(s[i]);
		assert_true(bed_same(p[i], MIB / 2, 10 + i));
	}
	assert_int_equal(room(l)->nlent, 8);
	assert_true(sdr_list_empty(&room(l)->decodes));
	lab_close(l);
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* From here on its buffer is left alone, and no job is left. */
static void assert_left_alone(struct lab *l, const uint8_t *p)
{
	assert_int_equal(l->b->node[1].ep->nlent, 0);
	bed_run(l->b, 100 * MS);
	assert_int_equal(fresh(p, MIB), LOST);
}

static void decode__receiver_closes(void **state)
{
	struct lab *l = lab_slow(30 * MS, 1);
	struct bed *b = l->b;
	uint8_t *p = bed_buf(b, MIB, 0);
	struct bed_op *r = bed_recv(b, 1, p, MIB);

	(void)state;
	bed_send(b, 0, 1, bed_buf(b, MIB, 5), MIB, 0)->expect = -1;
	until_lent(l, 1);
	sim_ep_close(b->node[1].ep);
	assert_int_equal(r->n, 1);
	assert_int_equal(r->e.err, -ECANCELED);
	assert_left_alone(l, p);
	sim_ep_close(b->node[0].ep);
	bed_close(b);
	lab_free(l);
}

/* It has all that it needs: what its sender has done is not undone. */
static void decode__sender_dies(void **state)
{
	struct lab *l = lab_slow(30 * MS, 1);
	struct bed *b = l->b;
	uint8_t *p = bed_buf(b, MIB, 0);
	struct bed_op *r = bed_recv(b, 1, p, MIB);

	(void)state;
	bed_send(b, 0, 1, bed_buf(b, MIB, 5), MIB, 0);
	until_lent(l, 1);
	bed_crash(b, 0);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(r);
	assert_true(bed_same(p, MIB, 5));
	bed_close(b);
	lab_free(l);
}

/* The connection fails while it is decoded: the receive fails, and is left alone. */
static void decode__connection_fails(void **state)
{
	struct lab *l = lab_slow(30 * MS, 1);
	struct bed *b = l->b;
	uint8_t *p = bed_buf(b, MIB, 0);
	struct bed_op *r = bed_recv(b, 1, p, MIB);

	(void)state;
	bed_send(b, 0, 1, bed_buf(b, MIB, 5), MIB, 0)->expect = -1;
	until_lent(l, 1);
	sdr_conn_fail(bed_conn(b, 1, 0), SDR_REL_ERR_PROTO);
	b->node[1].ep->dirty = true;
	bed_rounds(b);
	bed_assert_err(r, SDR_REL_ERR_PROTO);
	assert_left_alone(l, p);
	bed_close(b);
	lab_free(l);
}

static void decode__region_is_revoked(void **state)
{
	struct lab *l = lab_slow(30 * MS, 1);
	struct bed *b = l->b;
	struct bed_node *nd = &b->node[1];
	uint8_t *p = bed_buf(b, MIB, 0);
	struct bed_op *w;

	(void)state;
	bed_region_add(b, 1, 7, p, MIB, SDR_REL_ACCESS_WRITE);
	w = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, MIB, 5), MIB, 0, 7, 0);
	until_lent(l, 1);
	nd->region[0].key = UINT64_MAX;
	nd->ep->dirty = true;
	assert_int_equal(sdr_rel_mr_revoke(nd->ep->rel, &nd->region[0]), 1);
	assert_left_alone(l, p);
	bed_assert_err(w, SDR_REL_ERR_KEY);
	lab_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decode__lent_by_its_size),
		cmocka_unit_test(decode__others_go_on),
		cmocka_unit_test(decode__late_packets_are_not_written),
		cmocka_unit_test(decode__longer_than_the_sender_waits),
		cmocka_unit_test(decode__no_thread_comes),
		cmocka_unit_test(decode__done_and_not_there),
		cmocka_unit_test(decode__several_at_a_time),
		cmocka_unit_test(decode__receiver_closes),
		cmocka_unit_test(decode__sender_dies),
		cmocka_unit_test(decode__connection_fails),
		cmocka_unit_test(decode__region_is_revoked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
