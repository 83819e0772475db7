/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How much a new operation is: one whose target sends the bytes back, with its tests on the
 * simulated network.  In the product its three rows would be lines of sdr_op_table and its numbers
 * those of enum sdr_rel_kind and enum sdr_rec_op; here each endpoint gets a table of its own, and
 * the records have numbers that are kept for tests.
 *
 * An echo is complete when the bytes are here.  It goes without bulk: what does not fit into a
 * record is refused.
 */
#include <errno.h>
#include "../bed/bed.h"

/* ---- the operation --------------------------------------------------------------------------- */

enum { ECHO = SDR_OP_KINDS - 1, REC_ECHO = SDR_REC_TEST, REC_ECHO_RSP };

static uint32_t served; /* echoes that a target has taken */

static int echo_fill(struct sdr_op *op, struct sdr_frame_rec *f, bool fits)
{
	(void)op;
	(void)f;
	return fits ? SDR_REL_OK : SDR_REL_ERR_NOMEM;
}

static bool echo_complete(const struct sdr_op *op)
{
	return op->data_in;
}

static const struct sdr_op_kind echo = {
	.name = "echo",
	.number = ECHO,
	.rec = REC_ECHO,
	.fill = echo_fill,
	.complete = echo_complete,
};

static bool answer_complete(const struct sdr_op *op)
{
	return op->rec.acked;
}

static const struct sdr_op_kind answer = {
	.name = "echo_answer",
	.rec = REC_ECHO_RSP,
	.served = true,
	.complete = answer_complete,
};

/* At the target: the bytes are kept until the answer is acknowledged. */
static void echo_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	uint8_t *copy = malloc(f->payload_len + 1);
	struct sdr_op *op = copy ? sdr_op_serve(c, &answer, f) : NULL;

	if (!op) {
		free(copy);
		sdr_done_send(c, f->id, SDR_REL_ERR_NOMEM);
		return;
	}
	served++;
	memcpy(copy, f->payload, f->payload_len);
	op->copy = copy;
	op->len = f->payload_len;
	sdr_op_start(op);
}

static void answer_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_op *op = sdr_op_find(c, f->id);

	if (!op || op->kind != &echo || f->payload_len != op->len) {
		c->st.pkts_bad++;
		return;
	}
	sdr_op_scatter(op, f->payload, f->payload_len);
	op->data_in = true;
	sdr_op_advance(op);
}

static const struct sdr_rec_kind rec_echo = { .name = "echo", .input = echo_input };
static const struct sdr_rec_kind rec_answer = { .name = "echo_answer", .input = answer_input };

/* ---- its tests ------------------------------------------------------------------------------- */

#define LEN 1000u

static struct sdr_op_table table;

static int setup(void **state)
{
	(void)state;
	served = 0;
	table = sdr_op_table;
	table.op[ECHO] = &echo;
	table.rec[REC_ECHO] = &rec_echo;
	table.rec[REC_ECHO_RSP] = &rec_answer;
	return 0;
}

static struct sdr_rel *rel_of(struct bed *b, uint32_t node)
{
	return b->node[node].ep->rel;
}

/* The first `know` of two endpoints know what an echo is. */
static struct bed *pair(double loss, double dup, uint32_t know)
{
	struct bed *b = bed_new(2);

	b->link.loss = loss;
	b->link.dup = dup;
	for (uint32_t i = 0; i < 2; i++)
		b->cfg[i].inject_max = LEN;
	bed_boot(b);
	for (uint32_t i = 0; i < know; i++)
		rel_of(b, i)->msg->kinds = &table;
	bed_warm(b, 0, 1);
	return b;
}

/*
 * The bytes are copied when it is posted, and the buffer is cleared: what is there afterwards has
 * come back.
 */
static struct bed_op *send_echo(struct bed *b, uint32_t node, uint8_t *p, size_t len, uint32_t seed,
				uint16_t flags)
{
	const uint8_t *from = bed_buf(b, len, seed);
	struct bed_op *op;

	memcpy(p, from, len);
	op = bed_post(b, node, 1 - node,
		      (struct sdr_rel_wr){ .kind = ECHO, .flags = flags | SDR_REL_F_INJECT }, p,
		      len);
	memset(p, 0, len);
	return op;
}

static void echo__brings_the_bytes_back(void **state)
{
	static const size_t len[] = { 0, 1, 2, 777, LEN };
	struct bed *b = pair(0, 0, 2);

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		size_t n = len[i % 5];
		uint8_t *p = bed_buf(b, n, 0);
		struct bed_op *op = send_echo(b, i & 1, p, n, i + 1, 0);
		uint64_t t0 = bed_now(b);

		bed_wait(b, op, BED_SEC);
		bed_assert_ok(op);
		assert_int_equal(op->e.kind, ECHO);
		assert_int_equal(op->e.len, n);
		assert_true(bed_same(p, n, i + 1));
		assert_in_range(op->at - t0, BED_RTT, BED_RTT + BED_DELAY);
	}
	assert_int_equal(served, 10);
	bed_run(b, 3 * BED_RTT);
	for (uint32_t i = 0; i < 2; i++) { /* nothing is left of them */
		assert_true(sdr_list_empty(&bed_conn(b, i, 1 - i)->msg->ops));
		assert_int_equal(bed_conn(b, i, 1 - i)->credit.nserve, 0);
	}
	bed_assert_no_repair(b);
	bed_close(b);
}

/* bed_close demands one completion of each. */
static void echo__happens_once_whatever_is_lost_or_doubled(void **state)
{
	enum { N = 400 };
	struct bed *b = pair(0.1, 0.2, 2);
	struct bed_op *op[N];
	uint8_t *p[N];

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		size_t n = 1 + i * 7 % LEN;

		p[i] = bed_buf(b, n, 0);
		op[i] = send_echo(b, i & 1, p[i], n, i + 1, 0);
		if (i % 16 == 15)
			bed_run(b, BED_RTT / 3);
	}
	bed_wait_all(b, 60 * BED_SEC);
	for (uint32_t i = 0; i < N; i++) {
		bed_assert_ok(op[i]);
		assert_true(bed_same(p[i], 1 + i * 7 % LEN, i + 1));
	}
	assert_int_equal(served, N);
	assert_true(bed_stats(b, 0).rec_rtx > 0 && bed_stats(b, 0).pkts_dup > 0);
	bed_close(b);
}

static void echo__obeys_fences(void **state)
{
	struct bed *b = pair(0, 0, 2);
	uint8_t *p = bed_buf(b, LEN, 0), *q = bed_buf(b, LEN, 0);
	struct bed_op *x, *y;
	struct bed_rule *r;

	(void)state;
	r = bed_drop(b, 0, BED_REC, 0, 1);
	x = send_echo(b, 0, p, LEN, 1, 0);
	y = send_echo(b, 0, q, LEN, 2, SDR_REL_F_FENCE);
	bed_wait(b, y, 5 * BED_SEC);
	assert_int_equal(r->hit, 1);
	bed_assert_ok(x);
	bed_assert_ok(y);
	assert_true(y->at >= x->at + BED_RTT);
	bed_close(b);
}

static void echo__that_does_not_fit_fails(void **state)
{
	struct bed *b = pair(0, 0, 2);
	struct bed_op *op = bed_post(b, 0, 1, (struct sdr_rel_wr){ .kind = ECHO },
				     bed_buf(b, 100000, 1), 100000);

	(void)state;
	bed_wait(b, op, BED_SEC);
	bed_assert_err(op, SDR_REL_ERR_NOMEM);
	assert_int_equal(served, 0);
	bed_close(b);
}

static void echo__ends_with_its_peer(void **state)
{
	struct bed *b = pair(0, 0, 2);
	uint8_t *p = bed_buf(b, LEN, 0);
	struct bed_op *op;

	(void)state;
	bed_drop(b, 1, BED_ALL, 0, UINT64_MAX);
	op = send_echo(b, 0, p, LEN, 1, 0);
	bed_wait(b, op, 120 * BED_SEC);
	bed_assert_err(op, SDR_REL_ERR_STOPPED);
	assert_int_equal(served, 1);
	bed_close(b);
}

/* Both numbers mean nothing where nobody brought the rows. */
static void echo__is_unknown_to_the_product(void **state)
{
	struct bed *b = pair(0, 0, 1);
	struct sdr_rel_wr wr = { .kind = ECHO, .peer = bed_peer(b, 1, 0) };
	uint8_t *p = bed_buf(b, LEN, 0);
	struct bed_op *op;

	(void)state;
	assert_int_equal(sdr_rel_post(rel_of(b, 1), &wr), -EINVAL);
	wr.kind = SDR_OP_KINDS;
	assert_int_equal(sdr_rel_post(rel_of(b, 1), &wr), -EINVAL);
	op = send_echo(b, 0, p, LEN, 1, 0);
	bed_run(b, 3 * BED_RTT);
	assert_int_equal(bed_stats(b, 1).pkts_bad, 1);
	assert_int_equal(op->n, 0);
	bed_shut(b, 1); /* it waits for its answer as long as there is a connection */
	bed_wait(b, op, 5 * BED_SEC);
	bed_assert_err(op, SDR_REL_ERR_CLOSED);
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(echo__brings_the_bytes_back, setup),
		cmocka_unit_test_setup(echo__happens_once_whatever_is_lost_or_doubled, setup),
		cmocka_unit_test_setup(echo__obeys_fences, setup),
		cmocka_unit_test_setup(echo__that_does_not_fit_fails, setup),
		cmocka_unit_test_setup(echo__ends_with_its_peer, setup),
		cmocka_unit_test_setup(echo__is_unknown_to_the_product, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
