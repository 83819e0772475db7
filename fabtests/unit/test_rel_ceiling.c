/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A ceiling over everything that endpoints send: one endpoint with several peers, several endpoints
 * that share it, large and small messages, under each controller.  Bytes are counted on the
 * simulated wire.
 */
#include "rel/path/sdr_ceiling.h"
#include "rel/path/sdr_cc_ops.h"
#include "../bed/bed.h"

#define RATE  1000000000ull /* bits per second */
#define LIMIT (60000 * MS)
#define BIG   (24u << 20)
#define SINK  3u

struct capped {
	struct bed *b;
	struct sdr_ceiling_word word;
	uint64_t most; /* wire bytes of all in 10 ms */
	uint64_t sum, until;
};

/* Wire bytes that those under the ceiling have sent. */
static uint64_t sent_by(struct capped *t)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < BED_NODES; i++)
		if (t->b->cfg[i].rate_max_bps)
			n += t->b->node[i].bytes;
	return n;
}

static bool watch(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	struct capped *t = b->user;
	uint64_t now = bed_now(b), sum = sent_by(t);

	(void)p;
	(void)what;
	if (now >= t->until) {
		t->until = now + 10 * MS;
		t->sum = sum;
	}
	if (sum - t->sum > t->most)
		t->most = sum - t->sum;
	return true;
}

/* Nodes below n share a ceiling. */
static void capped_open(struct capped *t, uint32_t n, const char *cc)
{
	*t = (struct capped){ .b = bed_new(BED_NODES) };
	t->b->user = t;
	t->b->filter = watch;
	for (uint32_t i = 0; i < BED_NODES; i++) {
		t->b->cfg[i].cc = sdr_cc_find(cc);
		t->b->cfg[i].rate_bps = 10 * RATE;
		if (i < n) {
			t->b->cfg[i].rate_max_bps = RATE;
			t->b->cfg[i].ceiling = n > 1 ? &t->word : NULL;
		}
	}
	t->b->link.rate_bps = 20 * RATE;
	bed_boot(t->b);
	for (uint32_t i = 0; i < BED_NODES; i++)
		for (uint32_t k = 0; k < BED_NODES; k++)
			if (i != k)
				bed_peer(t->b, i, k);
}

static struct bed_op *big(struct capped *t, uint32_t from, uint32_t to, uint32_t seed)
{
	struct bed_op *r = bed_trecv(t->b, to, from, 0, bed_buf(t->b, BIG, 0), BIG);

	bed_tsend(t->b, from, to, from, bed_buf(t->b, BIG, seed), BIG);
	return r;
}

/* Since t0, when so many bytes had been sent, what was sent is the rate's. */
static void at_the_rate(struct capped *t, uint64_t t0, uint64_t sum0, uint64_t t1)
{
	double got = (double)(sent_by(t) - sum0) * 8 * 1e9 / (double)(t1 - t0);

	assert_true(got <= (double)RATE * 1.02);
	assert_true(got >= (double)RATE * 0.95);
	/* in any 10 ms; a quantum of each of them, and what is repaid afterwards */
	assert_true((double)t->most <= (double)RATE / 8 / 100 * 1.02 + 5 * 40000);
}

static void capped_warm(struct capped *t)
{
	for (uint32_t i = 0; i < BED_NODES; i++)
		for (uint32_t k = i + 1; k < BED_NODES; k++)
			bed_warm(t->b, i, k);
	bed_run(t->b, 100 * MS);
}

static void ceiling__endpoints_share_it(void **state)
{
	static const char *const cc[] = { "fixed", NULL };

	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		struct bed_op *r[3];
		struct capped t;
		uint64_t t0, sum0, last = 0, first = UINT64_MAX;

		capped_open(&t, 3, cc[k] ? cc[k] : sdr_cc_table[0]->name);
		capped_warm(&t);
		t0 = bed_now(t.b);
		sum0 = sent_by(&t);
		for (uint32_t i = 0; i < 3; i++)
			r[i] = big(&t, i, SINK, 7 + i);
		for (uint32_t i = 0; i < 3; i++) {
			bed_wait(t.b, r[i], LIMIT);
			bed_assert_ok(r[i]);
			last = r[i]->at > last ? r[i]->at : last;
			first = r[i]->at < first ? r[i]->at : first;
		}
		at_the_rate(&t, t0 + BED_DELAY, sum0, last);
		/* the same bytes in the same time: nobody was served first */
		assert_true((double)(first - t0) >= 0.95 * (double)(last - t0));
		bed_wait_all(t.b, LIMIT);
		bed_close(t.b);
	}
}

/* One endpoint's connections have it in turn. */
static void ceiling__connections_share_it(void **state)
{
	struct bed_op *r[3];
	struct capped t;
	uint64_t t0, sum0, last = 0, first = UINT64_MAX;

	(void)state;
	capped_open(&t, 1, "fixed");
	capped_warm(&t);
	t0 = bed_now(t.b);
	sum0 = sent_by(&t);
	for (uint32_t i = 0; i < 3; i++)
		r[i] = big(&t, 0, 1 + i, 7 + i);
	for (uint32_t i = 0; i < 3; i++) {
		bed_wait(t.b, r[i], LIMIT);
		bed_assert_ok(r[i]);
		last = r[i]->at > last ? r[i]->at : last;
		first = r[i]->at < first ? r[i]->at : first;
	}
	at_the_rate(&t, t0 + BED_DELAY, sum0, last);
	assert_true((double)(first - t0) >= 0.95 * (double)(last - t0));
	bed_wait_all(t.b, LIMIT);
	bed_close(t.b);
}

/* Messages that travel in records wait as data do. */
static void ceiling__small_messages(void **state)
{
	const size_t len = 900, n = 1500;
	struct capped t;
	struct bed_op *r;
	uint64_t t0, sum0;

	(void)state;
	capped_open(&t, 1, "fixed");
	capped_warm(&t);
	t0 = bed_now(t.b);
	sum0 = sent_by(&t);
	for (size_t i = 0; i < n; i++)
		bed_trecv(t.b, SINK, 0, 0, bed_buf(t.b, len, 0), len);
	for (size_t i = 0; i < n - 1; i++)
		bed_tsend(t.b, 0, SINK, 0, bed_buf(t.b, len, 1), len);
	r = bed_tsend(t.b, 0, SINK, 0, bed_buf(t.b, len, 1), len);
	bed_wait(t.b, r, LIMIT);
	bed_wait_all(t.b, LIMIT);
	/* they could all have left at once */
	assert_true((double)(sent_by(&t) - sum0) >= (double)(len * n));
	assert_true((double)(bed_now(t.b) - t0) >=
		    (double)len * (double)n * 8 * 1e9 / (double)RATE);
	assert_true((double)t.most <= (double)RATE / 8 / 100 * 1.02 + 5 * 40000);
	bed_close(t.b);
}

/* Beside three that want all, one that sends a message now and then has it at once, or nearly. */
static void ceiling__a_modest_endpoint(void **state)
{
	struct capped t;
	uint64_t worst = 0;

	(void)state;
	capped_open(&t, 3, "fixed");
	capped_warm(&t);
	for (uint32_t i = 0; i < 2; i++)
		big(&t, i, SINK, 7 + i);
	bed_run(t.b, 20 * MS);
	for (uint32_t i = 0; i < 10; i++) {
		uint64_t t0 = bed_now(t.b);
		struct bed_op *r = bed_trecv(t.b, SINK, 99, 0, bed_buf(t.b, 1000, 0), 1000);

		bed_tsend(t.b, 2, SINK, 99, bed_buf(t.b, 1000, 3), 1000);
		bed_wait(t.b, r, LIMIT);
		if (r->at - t0 > worst)
			worst = r->at - t0;
		bed_run(t.b, 5 * MS);
	}
	assert_true(worst <= BED_DELAY + 5 * SDR_CEILING_QUANTUM_NS);
	bed_wait_all(t.b, LIMIT);
	bed_close(t.b);
}

/* A peer that goes while it waits for its turn. */
static void ceiling__a_connection_ends_in_its_wait(void **state)
{
	struct capped t;
	struct bed_op *r;

	(void)state;
	capped_open(&t, 1, "fixed");
	capped_warm(&t);
	big(&t, 0, 1, 3);
	r = big(&t, 0, 2, 4);
	bed_run(t.b, 20 * MS);
	bed_crash(t.b, 1);
	bed_wait(t.b, r, LIMIT);
	bed_assert_ok(r);
	for (uint32_t i = 0; i < t.b->nops; i++)
		if (t.b->op[i].node == 0)
			bed_wait(t.b, &t.b->op[i], LIMIT);
	bed_close(t.b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ceiling__endpoints_share_it),
		cmocka_unit_test(ceiling__connections_share_it),
		cmocka_unit_test(ceiling__small_messages),
		cmocka_unit_test(ceiling__a_modest_endpoint),
		cmocka_unit_test(ceiling__a_connection_ends_in_its_wait),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
