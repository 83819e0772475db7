/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Operations that keep their order because their endpoint was asked to: whatever is lost, late or
 * doubled, no later one is seen before an earlier one, and none of them waits for a round trip.
 * Each test of a pair has its counterpart without orders, which shows that the network of the test
 * turns the two around.
 */
#include "base/sdr_rand.h"
#include "wire/sdr_atomic.h"
#include "../bed/bed.h"

#define KEY  7u
#define LEN  (4u << 20) /* bytes of the region */
#define BULK (1u << 20)

#define READS	SDR_ORDER_BIT(SDR_ORDER_READ)
#define WRITES	SDR_ORDER_BIT(SDR_ORDER_WRITE)
#define SENDS	SDR_ORDER_BIT(SDR_ORDER_SEND)
#define ATOMICS (SDR_ORDER_BIT(SDR_ORDER_FETCH) | SDR_ORDER_BIT(SDR_ORDER_UPDATE))
#define ALL	(READS | WRITES | SENDS | ATOMICS)

static const struct sdr_orders strict = { .after = { ALL, ALL, ALL & ~SENDS, ALL, ALL } };
static const struct sdr_orders atomics = {
	.after = { [SDR_ORDER_FETCH] = ATOMICS, [SDR_ORDER_UPDATE] = ATOMICS }
};
static const struct sdr_orders after_writes = { .after = { WRITES, WRITES, WRITES } };
static const struct sdr_orders none;

struct pair {
	struct bed *b;
	uint8_t *mem; /* node 1's region */
};

static struct pair pair_with(const struct sdr_orders *o, struct bed *b)
{
	struct pair p = { .b = b };

	b->cfg[0].orders = b->cfg[1].orders = *o;
	b->rma_events = true;
	bed_boot(b);
	p.mem = bed_buf(b, LEN, 0);
	memset(p.mem, 0, LEN);
	bed_region_add(b, 1, KEY, p.mem, LEN, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
	bed_warm(b, 0, 1);
	return p;
}

static struct pair pair_open(const struct sdr_orders *o)
{
	return pair_with(o, bed_new(2));
}

static struct bed_op *put(struct pair *p, size_t len, uint32_t seed, uint64_t at, uint16_t flags)
{
	return bed_rma(p->b, 0, 1, SDR_REL_WRITE, bed_buf(p->b, len, seed), len, at, KEY, flags);
}

static struct bed_op *get(struct pair *p, uint8_t *to, size_t len, uint64_t at)
{
	return bed_rma(p->b, 0, 1, SDR_REL_READ, to, len, at, KEY, 0);
}

static uint64_t waited(struct pair *p)
{
	return bed_stats(p->b, 1).recs_held;
}

/* ---- pairs: the first is lost once ----------------------------------------------------------- */

static bool write_write(const struct sdr_orders *o)
{
	struct pair p = pair_open(o);
	struct bed_rule *r = bed_drop(p.b, 0, BED_REC, 0, 1);
	bool kept;

	put(&p, 100, 1, 50, 0);
	put(&p, 100, 2, 50, 0);
	bed_wait_all(p.b, BED_SEC);
	assert_int_equal(r->hit, 1);
	kept = bed_same(p.mem + 50, 100, 2);
	assert_int_equal(waited(&p), kept);
	bed_close(p.b);
	return kept;
}

static void pair__a_write_follows_a_write(void **state)
{
	(void)state;
	assert_true(write_write(&strict));
	assert_true(write_write(&after_writes));
	assert_false(write_write(&none));
}

static bool write_send(const struct sdr_orders *o, size_t put_len, size_t send_len)
{
	struct pair p = pair_open(o);
	/* Of a bulk one packet of data, else its record. */
	struct bed_rule *r = bed_drop(p.b, 0, put_len > 1000 ? BED_DATA : BED_REC, 0, 1);
	uint8_t *to = bed_buf(p.b, send_len, 0);
	struct bed_op *recv = bed_recv(p.b, 1, to, send_len);
	bool kept;

	put(&p, put_len, 1, 0, 0);
	bed_send(p.b, 0, 1, bed_buf(p.b, send_len, 2), send_len, 0);
	bed_wait(p.b, recv, BED_SEC);
	assert_int_equal(r->hit, 1);
	bed_assert_ok(recv);
	assert_true(bed_same(to, send_len, 2));
	kept = bed_same(p.mem, put_len, 1);
	bed_wait_all(p.b, BED_SEC);
	bed_close(p.b);
	return kept;
}

static void pair__a_message_follows_a_write(void **state)
{
	static const size_t len[] = { 8, 200, BULK };

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t k = 0; k < 3; k++) {
			assert_true(write_send(&after_writes, len[i], len[k]));
			if (k < 2)
				assert_false(write_send(&none, len[i], len[k]));
		}
	}
}

static bool write_read(const struct sdr_orders *o, size_t put_len, size_t get_len)
{
	struct pair p = pair_open(o);
	struct bed_rule *r = bed_drop(p.b, 0, put_len > 1000 ? BED_DATA : BED_REC, 0, 1);
	uint8_t *to = bed_buf(p.b, get_len, 0);
	struct bed_op *op;
	bool kept;

	put(&p, put_len, 1, 0, 0);
	op = get(&p, to, get_len, 0);
	bed_wait(p.b, op, BED_SEC);
	bed_assert_ok(op);
	assert_int_equal(r->hit, 1);
	kept = bed_same(to, get_len < put_len ? get_len : put_len, 1);
	bed_wait_all(p.b, BED_SEC);
	bed_close(p.b);
	return kept;
}

static void pair__a_read_follows_a_write(void **state)
{
	static const size_t len[] = { 8, 200, BULK };

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t k = 0; k < 3; k++) {
			assert_true(write_read(&after_writes, len[i], len[k]));
			assert_true(write_read(&strict, len[i], len[k]));
		}
	}
	assert_false(write_read(&none, 200, 200));
	assert_false(write_read(&none, BULK, 200));
}

/* The answer, or a packet of it, is lost, and is sent again when the write has been here. */
static bool read_write(const struct sdr_orders *o, size_t get_len, size_t put_len)
{
	struct pair p = pair_open(o);
	struct bed_rule *r = bed_drop(p.b, 1, get_len > 1000 ? BED_DATA : BED_REC, 0, 1);
	uint8_t *to = bed_buf(p.b, get_len, 0), *want = bed_buf(p.b, get_len, 0);
	struct bed_op *op;
	bool kept;

	bed_fill(p.mem, LEN, 3);
	memcpy(want, p.mem, get_len);
	op = get(&p, to, get_len, 0);
	put(&p, put_len, 1, 0, 0);
	bed_wait(p.b, op, BED_SEC);
	bed_assert_ok(op);
	assert_int_equal(r->hit, 1);
	kept = !memcmp(to, want, get_len);
	bed_wait_all(p.b, BED_SEC);
	assert_true(bed_same(p.mem, put_len, 1));
	bed_close(p.b);
	return kept;
}

static void pair__a_write_follows_a_read(void **state)
{
	static const size_t len[] = { 8, 200, BULK };

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t k = 0; k < 3; k++)
			assert_true(read_write(&strict, len[i], len[k]));
	assert_false(read_write(&none, 200, 200));
	assert_false(read_write(&none, BULK, 200));
}

/* The later one's bytes stay, where both are bulk and the first loses a packet. */
static bool bulk_bulk(const struct sdr_orders *o, uint64_t at)
{
	struct pair p = pair_open(o);
	struct bed_rule *r = bed_drop(p.b, 0, BED_DATA, 0, 1);
	bool kept;

	put(&p, BULK, 1, 0, 0);
	put(&p, BULK, 2, at, 0);
	bed_wait_all(p.b, BED_SEC);
	assert_int_equal(r->hit, 1);
	kept = bed_same(p.mem + at, BULK, 2) && bed_same(p.mem, at, 1);
	bed_close(p.b);
	return kept;
}

static void pair__bulk_writes_that_overlap_keep_their_order(void **state)
{
	(void)state;
	assert_true(bulk_bulk(&after_writes, 0));
	assert_true(bulk_bulk(&strict, 0));
	assert_true(bulk_bulk(&strict, 1000));
	assert_false(bulk_bulk(&none, 0));
}

/* Those that do not overlap go out together. */
static void pair__bulk_writes_apart_do_not_wait(void **state)
{
	struct pair p = pair_open(&strict);
	uint64_t t0 = bed_now(p.b);

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		put(&p, BULK, 1 + i, (uint64_t)i * BULK, 0);
	bed_wait_all(p.b, BED_SEC);
	/* 3 MiB at 10 Gbit/s are 2.6 ms */
	assert_in_range(bed_now(p.b) - t0, BED_RTT, BED_RTT + BED_DELAY);
	bed_assert_no_repair(p.b);
	bed_close(p.b);
}

/* The signal that a large put is there. */
struct flag {
	uint8_t *mem;
	bool seen, early;
};

static void flag_look(struct bed *b, uint32_t node)
{
	struct flag *f = b->user;

	if (node != 1 || f->seen || !f->mem || !f->mem[BULK])
		return;
	f->seen = true;
	f->early = !bed_same(f->mem, BULK, 1);
}

static bool bulk_flag(const struct sdr_orders *o)
{
	struct bed *b = bed_new(2);
	struct flag flag = { .mem = NULL };
	struct pair p;

	b->user = &flag;
	b->app = flag_look;
	p = pair_with(o, b);
	flag.mem = p.mem;
	bed_drop(b, 0, BED_DATA, 5, 1);
	put(&p, BULK, 1, 0, 0);
	put(&p, 1, 9, BULK, 0);
	bed_wait_all(b, BED_SEC);
	bed_rounds(b);
	assert_true(flag.seen);
	bed_close(b);
	return !flag.early;
}

static void pair__a_flag_follows_a_bulk(void **state)
{
	(void)state;
	assert_true(bulk_flag(&after_writes));
	assert_false(bulk_flag(&none));
}

/* A message leads too, where something must follow it. */
static void pair__a_write_follows_a_message(void **state)
{
	static const struct sdr_orders o[2] = { { .after = { 0 } },
						{ .after = { [SDR_ORDER_WRITE] = SENDS } } };

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct pair p = pair_open(&o[i]);
		struct bed_rule *r = bed_drop(p.b, 0, BED_REC, 0, 1);
		struct bed_op *recv = bed_recv(p.b, 1, bed_buf(p.b, 8, 0), 8), *w;

		bed_send(p.b, 0, 1, bed_buf(p.b, 8, 1), 8, 0);
		w = put(&p, 8, 2, 0, 0);
		bed_wait(p.b, w, BED_SEC);
		assert_int_equal(r->hit, 1);
		assert_int_equal(recv->n, i);
		bed_wait_all(p.b, BED_SEC);
		bed_close(p.b);
	}
}

/* On the 64-bit word at `at`; res NULL: the old value is not asked for. */
static struct bed_op *atomic_post(struct pair *p, uint8_t what, uint64_t at, uint64_t *v,
				  uint64_t *res)
{
	struct sdr_rel_iov in = { v, 8 }, out = { res, 8 };
	struct sdr_rel_atomic a = { .op = what,
				    .type = SDR_ATOMIC_UINT64,
				    .form = res ? SDR_ATOMIC_FETCH : SDR_ATOMIC_UPDATE,
				    .count = 1,
				    .res = &out,
				    .nres = res != NULL };

	return bed_post(p->b, 0, 1,
			(struct sdr_rel_wr){ .kind = res ? SDR_REL_FETCH_ATOMIC : SDR_REL_ATOMIC,
					     .niov = 1,
					     .iov = &in,
					     .atomic = &a,
					     .rma_addr = at,
					     .rma_key = KEY },
			NULL, 0);
}

/* What is written, then fetched and added to, then multiplied; some of them are lost. */
static bool atomic_atomic(const struct sdr_orders *o, uint64_t first, uint64_t n)
{
	struct pair p = pair_open(o);
	struct bed_rule *r = bed_drop(p.b, 0, BED_REC, first, n);
	uint64_t v[3] = { 5, 7, 100 }, old = 0, end;
	bool kept;

	atomic_post(&p, SDR_ATOMIC_WRITE, 64, &v[0], NULL);
	atomic_post(&p, SDR_ATOMIC_SUM, 64, &v[1], &old);
	atomic_post(&p, SDR_ATOMIC_PROD, 64, &v[2], NULL);
	bed_wait_all(p.b, BED_SEC);
	assert_int_equal(r->hit, n);
	memcpy(&end, p.mem + 64, 8);
	kept = old == 5 && end == 1200;
	bed_close(p.b);
	return kept;
}

static void pair__atomics_keep_their_order(void **state)
{
	(void)state;
	for (uint64_t first = 0; first < 2; first++) {
		for (uint64_t n = 1; n < 3; n++) {
			assert_true(atomic_atomic(&atomics, first, n));
			assert_true(atomic_atomic(&strict, first, n));
		}
	}
	assert_false(atomic_atomic(&none, 0, 1));
	assert_false(atomic_atomic(&none, 1, 1));
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* Time of n small writes one behind the other, a window of them at a time. */
static uint64_t stream(const struct sdr_orders *o, double loss)
{
	enum { N = 3000, AHEAD = 500 };
	struct bed *b = bed_new(2);
	struct bed_op *op[N];
	struct pair p;
	uint64_t t0;

	b->link.loss = loss;
	p = pair_with(o, b);
	t0 = bed_now(b);
	for (uint32_t i = 0; i < N; i++) {
		if (i >= AHEAD)
			bed_wait(b, op[i - AHEAD], 10 * BED_SEC);
		op[i] = bed_rma(b, 0, 1, SDR_REL_WRITE, p.mem + LEN - 8, 8, 8 * (i % 64), KEY,
				SDR_REL_F_INJECT);
	}
	bed_wait_all(b, 10 * BED_SEC);
	t0 = bed_now(b) - t0;
	bed_close(b);
	return t0;
}

static void cost__a_stream_of_small_writes_keeps_its_rate(void **state)
{
	static const double loss[] = { 0, 1e-3, 1e-2, 5e-2 };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t with = stream(&after_writes, loss[i]), without = stream(&none, loss[i]);

		print_message("loss %g: 3000 writes %.2f ms in order, %.2f ms in any\n", loss[i],
			      (double)with / 1e6, (double)without / 1e6);
		assert_true(with <= without + without / 4 + BED_RTT);
	}
}

/* Nothing of it is there for who did not ask: no turn in any record, no memory. */
static void cost__nothing_where_it_was_not_asked_for(void **state)
{
	struct pair p = pair_open(&none);
	const struct sdr_conn *c = bed_conn(p.b, 0, 1), *d = bed_conn(p.b, 1, 0);
	uint8_t *to = bed_buf(p.b, 8, 0);

	(void)state;
	assert_true(c->hs.features & SDR_FEATURE_ORDER);
	put(&p, 8, 1, 0, 0);
	put(&p, BULK, 1, 0, 0);
	get(&p, to, 8, 0);
	bed_wait_all(p.b, BED_SEC);
	assert_int_equal(c->msg->order.next, 0);
	assert_null(d->msg->follow);
	bed_close(p.b);
}

/* ---- all together ---------------------------------------------------------------------------- */

#define STORM_OPS 150u
#define STORM_LEN (192u << 10)

static uint64_t draw(uint64_t *s, uint64_t n)
{
	return sdr_rand64(s) % n;
}

/* Small ones, some that just fit a record, and bulk. */
static uint64_t draw_len(uint64_t *s)
{
	static const uint32_t most[] = { 16, 600, 5000, 70000 };

	return 1 + draw(s, most[draw(s, 4)]);
}

struct storm {
	struct pair p;
	uint64_t rng;
	uint8_t *model; /* the region, as if one operation ran after the other */
	uint8_t *got[STORM_OPS], *want[STORM_OPS];
	uint64_t len[STORM_OPS];
	struct bed_op *recv[STORM_OPS];
	uint32_t nreads, nrecvs;
};

static void storm_write(struct storm *s, uint32_t i)
{
	uint64_t len = draw_len(&s->rng), at = draw(&s->rng, STORM_LEN - len);
	uint8_t *from = bed_buf(s->p.b, len, 1000 + i);

	memcpy(s->model + at, from, len);
	bed_rma(s->p.b, 0, 1, SDR_REL_WRITE, from, len, at, KEY,
		len < 16 && draw(&s->rng, 2) ? SDR_REL_F_INJECT : 0);
}

static void storm_read(struct storm *s)
{
	uint32_t k = s->nreads++;
	uint64_t len = draw_len(&s->rng), at = draw(&s->rng, STORM_LEN - len);

	s->len[k] = len;
	s->got[k] = bed_buf(s->p.b, len, 0);
	s->want[k] = malloc(len);
	assert_non_null(s->want[k]);
	memcpy(s->want[k], s->model + at, len);
	get(&s->p, s->got[k], len, at);
}

/* Adds to a word, and mostly wants to know what was there. */
static void storm_atomic(struct storm *s)
{
	uint64_t at = 8 * draw(&s->rng, STORM_LEN / 8), v = s->rng, sum;
	uint32_t k = s->nreads;

	memcpy(&sum, s->model + at, 8);
	if (draw(&s->rng, 3)) {
		s->nreads++;
		s->len[k] = 8;
		s->got[k] = bed_buf(s->p.b, 8, 0);
		s->want[k] = malloc(8);
		assert_non_null(s->want[k]);
		memcpy(s->want[k], &sum, 8);
		atomic_post(&s->p, SDR_ATOMIC_SUM, at, &v, (uint64_t *)(void *)s->got[k]);
	} else {
		atomic_post(&s->p, SDR_ATOMIC_SUM, at, &v, NULL);
	}
	sum += v;
	memcpy(s->model + at, &sum, 8);
}

/* The count of messages is written, then the message sent: who receives it finds the count. */
static void storm_send(struct storm *s)
{
	uint8_t n[8] = { (uint8_t)(1 + s->nrecvs) };
	uint64_t len = draw_len(&s->rng);

	s->recv[s->nrecvs++] = bed_recv(s->p.b, 1, bed_buf(s->p.b, 70000, 0), 70000);
	bed_rma(s->p.b, 0, 1, SDR_REL_WRITE, n, 8, STORM_LEN, KEY, SDR_REL_F_INJECT);
	bed_send(s->p.b, 0, 1, bed_buf(s->p.b, len, s->nrecvs), len, 0);
}

static void storm_look(struct bed *b, uint32_t node)
{
	struct storm *s = b->user;

	for (uint32_t i = 0; node == 1 && i < s->nrecvs; i++)
		if (s->recv[i]->n && s->p.mem[STORM_LEN] < i + 1)
			fail_msg("message %u came before what was written before it (%u)", i + 1,
				 s->p.mem[STORM_LEN]);
}

static void storm(const struct sdr_orders *o, uint64_t seed, bool knows, uint8_t rkeyed)
{
	struct bed *b = bed_new(2);
	struct storm *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->rng = seed;
	b->link.loss = (double)draw(&s->rng, 3) * 0.03;
	b->link.dup = (double)draw(&s->rng, 2) * 0.05;
	b->link.reorder = (double)draw(&s->rng, 2) * 0.1;
	b->link.reorder_ns = 3 * MS;
	b->na[1].rkeyed = rkeyed;
	b->user = s;
	b->app = storm_look;
	b->cfg[0].orders = *o;
	bed_boot(b);
	if (!knows)
		b->node[1].ep->rel->features &= ~SDR_FEATURE_ORDER;
	s->p = (struct pair){ .b = b, .mem = bed_buf(b, STORM_LEN + 8, 0) };
	s->model = malloc(STORM_LEN);
	assert_non_null(s->model);
	memset(s->p.mem, 0, STORM_LEN + 8);
	memset(s->model, 0, STORM_LEN);
	bed_region_add(b, 1, KEY, s->p.mem, STORM_LEN + 8,
		       SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
	bed_warm(b, 0, 1);
	for (uint32_t i = 0; i < STORM_OPS; i++) {
		switch (draw(&s->rng, 6)) {
		case 0:
			storm_send(s);
			break;
		case 1:
			storm_read(s);
			break;
		case 2:
			storm_atomic(s);
			break;
		default:
			storm_write(s, i);
		}
		if (!draw(&s->rng, 8))
			bed_run(b, draw(&s->rng, BED_RTT));
	}
	bed_wait_all(b, 100 * BED_SEC);
	for (uint32_t i = 0; i < s->nreads; i++) {
		if (memcmp(s->got[i], s->want[i], s->len[i]))
			fail_msg("seed %llu: read %u has other bytes than there were",
				 (unsigned long long)seed, i);
		free(s->want[i]);
	}
	if (memcmp(s->p.mem, s->model, STORM_LEN))
		fail_msg("seed %llu: the region ends with other bytes", (unsigned long long)seed);
	assert_int_equal(bed_conn(b, 1, 0)->msg->follow != NULL, knows);
	free(s->model);
	bed_close(b);
	free(s);
}

static void storm__is_as_if_one_ran_after_the_other(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		storm(&strict, seed, true, SDR_SIM_RKEYED_NONE);
}

static void storm__towards_a_device(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		storm(&strict, seed, true, SDR_SIM_RKEYED_MR);
}

/* What must follow is held back here. */
static void storm__with_a_peer_that_knows_no_turns(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		storm(&strict, seed, false, SDR_SIM_RKEYED_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pair__a_write_follows_a_write),
		cmocka_unit_test(pair__a_message_follows_a_write),
		cmocka_unit_test(pair__a_read_follows_a_write),
		cmocka_unit_test(pair__a_write_follows_a_read),
		cmocka_unit_test(pair__bulk_writes_that_overlap_keep_their_order),
		cmocka_unit_test(pair__bulk_writes_apart_do_not_wait),
		cmocka_unit_test(pair__a_flag_follows_a_bulk),
		cmocka_unit_test(pair__a_write_follows_a_message),
		cmocka_unit_test(pair__atomics_keep_their_order),
		cmocka_unit_test(cost__a_stream_of_small_writes_keeps_its_rate),
		cmocka_unit_test(cost__nothing_where_it_was_not_asked_for),
		cmocka_unit_test(storm__is_as_if_one_ran_after_the_other),
		cmocka_unit_test(storm__towards_a_device),
		cmocka_unit_test(storm__with_a_peer_that_knows_no_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
