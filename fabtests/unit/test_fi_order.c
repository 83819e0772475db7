/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Message orders through libfabric, over real sockets that lose, double and turn packets around:
 * what PGAS runtimes ask for, RAW, WAW, SAW and SAS, and use without waiting for any completion.
 * Without the orders the same program finds them broken (order__shows_on_this_network).
 */
#include "test_fi_util.h"

#define KEY    17u
#define BIG    (300u << 10) /* bytes of a large put */
#define LEN    (2 * BIG)
#define FLAG   (LEN - 64) /* where flags lie */
#define ROUNDS 60u
#define FAULTS "drop=0.03,dup=0.02,reorder=0.05,delay=300us,jitter=300us,seed=7"
#define PGAS   (FI_ORDER_RAW | FI_ORDER_WAW | FI_ORDER_SAW | FI_ORDER_SAS)

struct runtime {
	struct test_pair p;
	struct fid_mr *mr;
	uint8_t *mem, *src, *back; /* the target's region; what is put; what is read */
	uint64_t left;		   /* operations of side 0 that have not ended */
	uint32_t broken;	   /* times that something came too early */
};

static void rt_open(struct runtime *r, uint64_t order)
{
	struct test_opts o = { .type = FI_EP_RDM,
			       .msg_order = order,
			       .progress = FI_PROGRESS_MANUAL };

	memset(r, 0, sizeof(*r));
	setenv("FI_SDR_FAULT", FAULTS, 1);
	test_pair_open(&r->p, &o);
	unsetenv("FI_SDR_FAULT");
	assert_true(r->p.info->tx_attr->msg_order == (order | FI_ORDER_SAS));
	r->mem = calloc(1, LEN);
	r->src = calloc(1, LEN);
	r->back = calloc(1, LEN);
	assert_ok(fi_mr_reg(r->p.domain, r->mem, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY, 0,
			    &r->mr, NULL));
}

static void rt_close(struct runtime *r)
{
	assert_ok(fi_close(&r->mr->fid));
	test_pair_close(&r->p);
	free(r->mem);
	free(r->src);
	free(r->back);
}

/* One look at each side.  True: a message came. */
static bool rt_poll(struct runtime *r)
{
	struct fi_cq_tagged_entry e;

	while (fi_cq_read(r->p.s[0].cq, &e, 1) == 1)
		r->left--;
	return fi_cq_read(r->p.s[1].cq, &e, 1) == 1;
}

static void rt_drain(struct runtime *r)
{
	uint64_t until = test_now_s() + 60;

	while (r->left) {
		rt_poll(r);
		assert_true(test_now_s() < until);
	}
}

#define RT_POST(r, call)                              \
	do {                                          \
		ssize_t ret_;                         \
		while ((ret_ = (call)) == -FI_EAGAIN) \
			rt_poll(r);                   \
		assert_ok(ret_);                      \
		(r)->left++;                          \
	} while (0)

static void rt_put(struct runtime *r, uint64_t at, size_t len)
{
	RT_POST(r, fi_write(r->p.s[0].ep, r->src + at, len, NULL, r->p.s[0].peer, at, KEY, NULL));
}

/* A put of any size, and a flag behind it in memory.  Every byte differs from round to round. */
static void put_then_flag(struct runtime *r, uint32_t round, size_t len)
{
	volatile uint8_t *flag = r->mem + FLAG;
	uint64_t until = test_now_s() + 60;

	test_fill(r->src, len, round << 11);
	r->src[FLAG] = (uint8_t)round;
	rt_put(r, 0, len);
	rt_put(r, FLAG, 1);
	while (*flag != (uint8_t)round) {
		rt_poll(r);
		assert_true(test_now_s() < until);
	}
	r->broken += !test_same(r->mem, len, round << 11);
	rt_drain(r);
}

/* A put of any size, and a message that says so. */
static void put_then_message(struct runtime *r, uint32_t round, size_t len)
{
	uint64_t until = test_now_s() + 60;
	char say = 1, heard = 0;

	assert_ok(fi_recv(r->p.s[1].ep, &heard, 1, NULL, FI_ADDR_UNSPEC, NULL));
	test_fill(r->src, len, round << 11);
	rt_put(r, 0, len);
	RT_POST(r, fi_send(r->p.s[0].ep, &say, 1, NULL, r->p.s[0].peer, NULL));
	while (!rt_poll(r))
		assert_true(test_now_s() < until);
	assert_int_equal(heard, 1);
	r->broken += !test_same(r->mem, len, round << 11);
	rt_drain(r);
}

/* Two puts to the same place, and a get of it. */
static void put_put_get(struct runtime *r, uint32_t round, size_t len)
{
	test_fill(r->src, len, (round + 1000) << 11);
	test_fill(r->src + BIG, len, round << 11);
	RT_POST(r, fi_write(r->p.s[0].ep, r->src, len, NULL, r->p.s[0].peer, 0, KEY, NULL));
	RT_POST(r, fi_write(r->p.s[0].ep, r->src + BIG, len, NULL, r->p.s[0].peer, 0, KEY, NULL));
	RT_POST(r, fi_read(r->p.s[0].ep, r->back, len, NULL, r->p.s[0].peer, 0, KEY, NULL));
	rt_drain(r);
	r->broken += !test_same(r->back, len, round << 11) || !test_same(r->mem, len, round << 11);
}

static const size_t sizes[] = { 8, 700, 20000, BIG };

static uint32_t run(uint64_t order, void (*use)(struct runtime *r, uint32_t round, size_t len))
{
	struct runtime r;
	uint32_t broken;

	rt_open(&r, order);
	for (uint32_t i = 1; i <= ROUNDS; i++)
		use(&r, i, sizes[i % 4]);
	broken = r.broken;
	rt_close(&r);
	return broken;
}

static void order__a_flag_is_not_seen_before_what_it_tells_of(void **state)
{
	(void)state;
	assert_int_equal(run(PGAS, put_then_flag), 0);
}

static void order__a_message_is_not_received_before_what_it_tells_of(void **state)
{
	(void)state;
	assert_int_equal(run(PGAS, put_then_message), 0);
}

static void order__a_get_sees_the_last_put(void **state)
{
	(void)state;
	assert_int_equal(run(PGAS, put_put_get), 0);
}

static void order__shows_on_this_network(void **state)
{
	(void)state;
	assert_true(run(0, put_then_flag) > 0);
	assert_true(run(0, put_then_message) > 0);
	assert_true(run(0, put_put_get) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order__a_flag_is_not_seen_before_what_it_tells_of),
		cmocka_unit_test(order__a_message_is_not_received_before_what_it_tells_of),
		cmocka_unit_test(order__a_get_sees_the_last_put),
		cmocka_unit_test(order__shows_on_this_network),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
