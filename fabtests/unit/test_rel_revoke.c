/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A region is taken away while peers use it (sdr_remote.c): nothing reaches it from then on,
 * whatever is still under way; its users fail, once and with the right cause; everybody else goes
 * on, and no message number is lost.
 */
#include "../bed/bed.h"

#define LEN  (1u << 20)
#define KEYS 3u /* engines: none, and the two kinds that are rkeyed */
#define STEP (MS / 2)
#define LAST (40 * MS) /* everything is over by then: 1 MiB takes 9 ms and three ways of 5 ms */

static struct bed *slow_pair(uint8_t key, const struct sdr_scheme_ops *scheme)
{
	struct bed *b = bed_new(3);

	for (uint32_t i = 0; i < 3; i++) {
		b->na[i].rkeyed = key;
		b->cfg[i].rate_bps = 1000000000;
		b->cfg[i].scheme = scheme;
		b->cfg[i].ec_code = SDR_CODE_MDS;
		b->cfg[i].ec_k = 8;
		b->cfg[i].ec_m = 4;
	}
	bed_boot(b);
	bed_warm(b, 0, 1);
	bed_warm(b, 2, 1);
	return b;
}

/* As fi_close of a region: it is not found any more, then what is under way ends. */
static uint32_t revoke(struct bed *b, uint32_t node, uint64_t key)
{
	struct bed_node *nd = &b->node[node];

	nd->ep->dirty = true;
	for (uint32_t i = 0; i < nd->nregions; i++) {
		if (nd->region[i].key == key) {
			nd->region[i].key = UINT64_MAX;
			return sdr_rel_mr_revoke(nd->ep->rel, &nd->region[i]);
		}
	}
	fail_msg("no region");
	return 0;
}

/* Every number that one side took is over at the other: nothing waits for what nobody will bind. */
static void assert_numbers_over(struct bed *b, uint32_t from, uint32_t to)
{
	assert_int_equal(sdr_qp_recv_base(bed_conn(b, to, from)->shape->qp),
			 bed_conn(b, from, to)->bulk->tx.msn);
}

static void assert_ends(struct bed *b, const struct bed_op *op, bool early)
{
	assert_int_equal(op->n, 1);
	if (early) /* it may have been over */
		assert_true(op->e.prov_err == SDR_REL_OK || op->e.prov_err == SDR_REL_ERR_KEY);
	else
		bed_assert_err(op, SDR_REL_ERR_KEY);
	assert_true(sdr_list_empty(&b->node[0].ep->rel->msg->remotes));
	assert_true(sdr_list_empty(&b->node[1].ep->rel->msg->remotes));
	assert_numbers_over(b, 0, 1);
	assert_numbers_over(b, 1, 0);
	bed_warm(b, 0, 1);
}

/*
 * A WRITE is cut off at a time; drop: what is lost meanwhile.  Returns bytes of it that had come.
 */
static size_t write_cut(uint64_t at, uint8_t key, const struct sdr_scheme_ops *scheme,
			uint32_t drop)
{
	struct bed *b = slow_pair(key, scheme);
	uint8_t *to = bed_buf(b, LEN, 0), *was = malloc(LEN);
	struct bed_op *op;
	uint32_t ended;
	size_t n = 0;

	assert_non_null(was);
	bed_region_add(b, 1, 7, to, LEN, SDR_REL_ACCESS_WRITE);
	op = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, LEN, 3), LEN, 0, 7, 0);
	bed_run(b, at);
	if (drop)
		bed_drop(b, BED_ANY, drop, 0, 2);
	ended = revoke(b, 1, 7);
	memcpy(was, to, LEN);
	bed_run(b, BED_SEC);
	assert_memory_equal(was, to, LEN);
	assert_ends(b, op, !ended);
	while (n < LEN && to[n] != 0xee)
		n++;
	bed_close(b);
	free(was);
	return n;
}

static void revoke__write_at_any_time(void **state)
{
	bool part = false;

	(void)state;
	for (uint64_t t = 0; t < LAST; t += STEP) {
		for (uint8_t key = 0; key < KEYS; key++) {
			size_t n = write_cut(t, key, &sdr_scheme_sr, 0);

			part |= n && n < LEN;
		}
		write_cut(t, 0, &sdr_scheme_ec, 0);
		/* The peer does not hear of it at first, and goes on. */
		write_cut(t, 0, &sdr_scheme_sr, BED_DONE);
		write_cut(t, 1, &sdr_scheme_sr, BED_CTS | BED_BIND);
	}
	assert_true(part);
}

/* What a READ brought is what the memory was before it changed hands.  True: it did not get all. */
static bool read_cut(uint64_t at, uint8_t key, const struct sdr_scheme_ops *scheme, uint32_t drop)
{
	struct bed *b = slow_pair(key, scheme);
	uint8_t *from = bed_buf(b, LEN, 3), *was = bed_buf(b, LEN, 3), *to = bed_buf(b, LEN, 0);
	struct bed_op *op;
	bool denied;

	bed_region_add(b, 1, 7, from, LEN, SDR_REL_ACCESS_READ);
	if (drop)
		bed_drop(b, BED_ANY, drop, 0, 1);
	op = bed_rma(b, 0, 1, SDR_REL_READ, to, LEN, 0, 7, 0);
	bed_run(b, at);
	revoke(b, 1, 7);
	memset(from, 0x99, LEN);
	bed_run(b, BED_SEC);
	for (size_t i = 0; i < LEN; i++)
		assert_true(to[i] == 0xee || to[i] == was[i]);
	if (bed_ok(op))
		assert_true(bed_same(to, LEN, 3));
	denied = !bed_ok(op);
	assert_ends(b, op, true); /* what had left may be all of it */
	bed_close(b);
	return denied;
}

static void revoke__read_at_any_time(void **state)
{
	(void)state;
	for (uint64_t t = 0; t < LAST; t += STEP) {
		bool must = t > 6 * MS && t < 12 * MS; /* some has left, and some not */

		for (uint8_t key = 0; key < KEYS; key++)
			assert_true(read_cut(t, key, &sdr_scheme_sr, 0) || !must);
		assert_true(read_cut(t, 0, &sdr_scheme_ec, 0) || !must);
	}
}

/*
 * The answer that numbers the data comes after the one that takes it back: the numbers are passed
 * over all the same.
 */
static void revoke__read_whose_answer_is_overtaken(void **state)
{
	(void)state;
	for (uint64_t t = 5 * MS; t < 16 * MS; t += STEP) {
		read_cut(t, 0, &sdr_scheme_sr, BED_READ_RSP);
		read_cut(t, 1, &sdr_scheme_sr, BED_READ_RSP);
		read_cut(t, 0, &sdr_scheme_ec, BED_READ_RSP);
	}
}

/* More than there are numbers: most of them were not even begun. */
static void revoke__reads_that_wait_for_credit(void **state)
{
	enum { N = 1500, EACH = 8192 };
	struct bed *b = slow_pair(0, &sdr_scheme_sr);
	uint8_t *from = bed_buf(b, EACH, 3), *to = bed_buf(b, EACH, 0);
	struct bed_op *op[N];
	uint32_t waiting = 0;
	struct sdr_list *l;

	(void)state;
	bed_region_add(b, 1, 7, from, EACH, SDR_REL_ACCESS_READ);
	bed_drop(b, 1, BED_DATA, 0, 2000);
	for (int i = 0; i < N; i++)
		op[i] = bed_rma(b, 0, 1, SDR_REL_READ, to, EACH, 0, 7, 0);
	bed_run(b, 5 * BED_RTT);
	sdr_list_each(l, &bed_conn(b, 1, 0)->msg->cts_wait)
		waiting++;
	assert_true(waiting > 0);
	assert_true(revoke(b, 1, 7) > waiting);
	bed_wait_all(b, 10 * BED_SEC);
	assert_ends(b, op[N - 1], false);
	bed_close(b);
}

/*
 * The answer is lost, and repeated when the memory is somebody else's: it says what it said before.
 */
static void revoke__inline_read_is_repeated_from_a_copy(void **state)
{
	static const size_t len[] = { 0, 1, 1000 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct bed *b = slow_pair(0, &sdr_scheme_sr);
		uint8_t *from = bed_buf(b, 1000, 3), *to = bed_buf(b, 1000, 0);
		struct bed_rule *d = bed_drop(b, 1, BED_READ_RSP, 0, 1);
		struct bed_op *op;

		bed_region_add(b, 1, 7, from, 1000, SDR_REL_ACCESS_READ);
		op = bed_rma(b, 0, 1, SDR_REL_READ, to, len[i], 0, 7, 0);
		bed_run(b, BED_DELAY + MS);
		assert_int_equal(d->hit, 1);
		assert_int_equal(revoke(b, 1, 7), 1);
		memset(from, 0x99, 1000);
		bed_wait(b, op, BED_SEC);
		bed_assert_ok(op);
		assert_true(bed_same(to, len[i], 3));
		assert_ends(b, op, true);
		bed_close(b);
	}
}

/* Others go on: of the same peer and another, even where their regions are the same memory. */
static void revoke__touches_no_other_region(void **state)
{
	struct bed *b = slow_pair(0, &sdr_scheme_sr);
	uint8_t *mem = bed_buf(b, LEN, 0), *src = bed_buf(b, LEN, 5), *got = bed_buf(b, LEN, 0);
	struct bed_op *w[2], *r, *gone;

	(void)state;
	bed_region_add(b, 1, 7, mem, LEN, SDR_REL_ACCESS_WRITE);
	bed_region_add(b, 1, 8, mem, LEN, SDR_REL_ACCESS_WRITE);
	bed_region_add(b, 1, 9, src, LEN, SDR_REL_ACCESS_READ);
	gone = bed_rma(b, 0, 1, SDR_REL_WRITE, src, LEN / 2, 0, 7, 0);
	w[0] = bed_rma(b, 0, 1, SDR_REL_WRITE, src, LEN, 0, 8, 0);
	w[1] = bed_rma(b, 2, 1, SDR_REL_WRITE, src, LEN, 0, 8, 0);
	r = bed_rma(b, 2, 1, SDR_REL_READ, got, LEN, 0, 9, 0);
	bed_run(b, BED_DELAY + 2 * MS);
	assert_int_equal(revoke(b, 1, 7), 1);
	bed_wait_all(b, BED_SEC);
	bed_assert_err(gone, SDR_REL_ERR_KEY);
	bed_assert_ok(w[0]);
	bed_assert_ok(w[1]);
	bed_assert_ok(r);
	assert_true(bed_same(mem, LEN, 5) && bed_same(got, LEN, 5));
	bed_run(b, BED_RTT);
	assert_int_equal(revoke(b, 1, 8) + revoke(b, 1, 9), 0); /* all over */
	bed_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(revoke__write_at_any_time),
		cmocka_unit_test(revoke__read_at_any_time),
		cmocka_unit_test(revoke__read_whose_answer_is_overtaken),
		cmocka_unit_test(revoke__reads_that_wait_for_credit),
		cmocka_unit_test(revoke__inline_read_is_repeated_from_a_copy),
		cmocka_unit_test(revoke__touches_no_other_region),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
