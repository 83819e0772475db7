/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * `view` of rdma/fi_ext_sdr.h: the front of a message is used before its end has come, by another
 * thread, over losses; and what is asked wrongly is refused.
 */
#include <errno.h>
#include <pthread.h>

#include "test_fi_util.h"

#define LEN (24u << 20)

static struct fi_sdr_ep_ops_1 *ops_open(struct fid_ep *ep)
{
	struct fi_sdr_ep_ops_1 *ops = NULL;

	assert_ok(fi_open_ops(&ep->fid, FI_SDR_EP_OPS_1, 0, (void **)&ops, NULL));
	assert_true(FI_SDR_HAS_OP(ops, view));
	return ops;
}

struct reader { /* uses what has come, while another thread drives */
	struct fi_sdr_ep_ops_1 *ops;
	struct fid_ep *ep;
	void *context;
	const uint8_t *want;
	uint64_t used;	  /* bytes from the front, compared */
	uint64_t arrived; /* the most that was seen before the end */
	int last;	  /* what view said */
	bool wrong;
};

/*
 * Bytes in place may be written once more, with the same values, by a packet that comes twice: the
 * header says so, and ThreadSanitizer cannot know it.
 */
__attribute__((no_sanitize("thread"))) static bool same(const volatile uint8_t *a,
							const volatile uint8_t *b, uint64_t n)
{
	while (n && *a == *b) {
		a++;
		b++;
		n--;
	}
	return !n;
}

static void *reader_run(void *arg)
{
	struct reader *r = arg;
	uint64_t bits[8];

	do {
		struct fi_sdr_view v = {
			.size = sizeof(v), .unit = 1u << 16, .bits = bits, .words = 8
		};

		r->last = r->ops->view(r->ep, r->context, &v);
		if (r->last)
			continue;
		r->wrong |= v.len != LEN || v.front < r->used || v.arrived < r->arrived;
		r->wrong |= v.total != LEN >> 16 || v.front > v.arrived;
		r->wrong |= !same((const uint8_t *)v.buf + r->used, r->want + r->used,
				  v.front - r->used);
		for (uint64_t i = 0; i < v.front >> 16; i++)
			r->wrong |= !(bits[i / 64] >> i % 64 & 1);
		r->used = v.front;
		r->arrived = v.arrived;
	} while (!r->last || r->last == -FI_EAGAIN);
	return NULL;
}

/* One message, or a read, with a reader beside it. */
static void front(enum fi_ep_type type, bool read, const char *fault)
{
	struct test_opts o = { .type = type };
	uint8_t *tx = malloc(LEN), *rx = calloc(1, LEN);
	struct reader r = { .want = tx };
	struct fi_cq_tagged_entry e;
	struct fid_mr *mr = NULL;
	struct test_pair p;
	pthread_t t;

	if (fault)
		setenv("FI_SDR_FAULT", fault, 1);
	test_pair_open(&p, &o);
	unsetenv("FI_SDR_FAULT");
	test_fill(tx, LEN, 3);
	r.ops = ops_open(p.s[1].ep);
	r.ep = p.s[1].ep;
	r.context = rx;
	if (read) {
		assert_ok(fi_mr_reg(p.domain, tx, LEN, FI_REMOTE_READ, 0, 9, 0, &mr, NULL));
		assert_ok(fi_read(p.s[1].ep, rx, LEN, NULL, p.s[1].peer, 0, 9, rx));
	} else {
		assert_ok(fi_recv(p.s[1].ep, rx, LEN, NULL, FI_ADDR_UNSPEC, rx));
	}
	assert_ok(pthread_create(&t, NULL, reader_run, &r));
	if (!read)
		assert_ok(fi_send(p.s[0].ep, tx, LEN, NULL, p.s[0].peer, NULL));
	test_wait_ok(&p, 1, &e);
	assert_ptr_equal(e.op_context, rx);
	assert_ok(pthread_join(t, NULL));
	assert_false(r.wrong);
	assert_int_equal(r.last, -FI_ENOENT);
	assert_true(test_same(rx, LEN, 3));
	if (mr)
		assert_ok(fi_close(&mr->fid));
	test_pair_close(&p);
	free(tx);
	free(rx);
}

static void view__front_of_a_message(void **state)
{
	(void)state;
	front(FI_EP_RDM, false, NULL);
	front(FI_EP_RDM, false, "drop=0.02,dup=0.02,reorder=0.02,seed=5");
	front(FI_EP_RDM, true, "drop=0.02,seed=6");
}

/* By hand: one driver, so that it is known to be seen. */
static void view__comes_before_the_end(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM, .progress = FI_PROGRESS_MANUAL };
	uint8_t *tx = malloc(LEN), *rx = calloc(1, LEN);
	struct fi_sdr_view v = { .size = sizeof(v) };
	struct fi_cq_tagged_entry e;
	struct fi_sdr_ep_ops_1 *ops;
	uint32_t partial = 0;
	struct test_pair p;
	int ret;

	(void)state;
	setenv("FI_SDR_FAULT", "drop=0.05,seed=7", 1);
	test_pair_open(&p, &o);
	unsetenv("FI_SDR_FAULT");
	test_fill(tx, LEN, 4);
	ops = ops_open(p.s[1].ep);
	assert_int_equal(ops->view(p.s[1].ep, rx, &v), -FI_ENOENT);
	assert_ok(fi_trecv(p.s[1].ep, rx, LEN, NULL, FI_ADDR_UNSPEC, 5, 0, rx));
	assert_int_equal(ops->view(p.s[1].ep, rx, &v), -FI_EAGAIN);
	assert_ok(fi_tsend(p.s[0].ep, tx, LEN, NULL, p.s[0].peer, 5, NULL));
	do {
		fi_cq_read(p.s[0].cq, &e, 0);
		ret = (int)fi_cq_read(p.s[1].cq, &e, 1);
		v.unit = 0;
		if (ret != 1 && !ops->view(p.s[1].ep, rx, &v)) {
			partial += v.arrived && v.arrived < LEN;
			assert_true(v.flags == (FI_RECV | FI_TAGGED) && v.tag == 5);
			assert_true(v.src == p.s[1].peer && v.unit && v.unit < LEN);
			assert_true(v.total == (LEN + v.unit - 1) / v.unit);
			assert_int_equal(memcmp(rx, tx, v.front), 0);
		}
	} while (ret == -FI_EAGAIN);
	assert_int_equal(ret, 1);
	/* No path is known to carry all of it at once.  On a busy machine a look sees megabytes. */
	assert_true(partial);
	assert_int_equal(ops->view(p.s[1].ep, rx, &v), -FI_ENOENT);
	test_wait_ok(&p, 0, &e);
	test_pair_close(&p);
	free(tx);
	free(rx);
}

static void view__refused(void **state)
{
	static const struct test_opts rdm = { .type = FI_EP_RDM, .not_enabled = true },
				      dgram = { .type = FI_EP_DGRAM };
	struct fi_sdr_view v = { .size = sizeof(v) }, short_v = { .size = 8 };
	struct fi_sdr_ep_ops_1 *ops;
	struct test_pair p;

	(void)state;
	test_pair_open(&p, &rdm);
	ops = ops_open(p.s[0].ep);
	assert_int_equal(ops->view(p.s[0].ep, NULL, &v), -FI_EOPBADSTATE);
	test_side_enable(&p, 0);
	test_side_enable(&p, 1);
	assert_int_equal(ops->view(p.s[0].ep, NULL, &v), -FI_ENOENT);
	assert_int_equal(ops->view(p.s[0].ep, NULL, NULL), -FI_EINVAL);
	assert_int_equal(ops->view(NULL, NULL, &v), -FI_EINVAL);
	assert_int_equal(ops->view(p.s[0].ep, NULL, &short_v), -FI_EINVAL);
	v.first = 63;
	assert_int_equal(ops->view(p.s[0].ep, NULL, &v), -FI_EINVAL);
	v.first = 0;
	v.words = 1;
	assert_int_equal(ops->view(p.s[0].ep, NULL, &v), -FI_EINVAL);
	test_pair_close(&p);
	v.words = 0;
	test_pair_open(&p, &dgram);
	assert_int_equal(ops->view(p.s[0].ep, NULL, &v), -FI_EOPNOTSUPP);
	test_pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(view__front_of_a_message),
		cmocka_unit_test(view__comes_before_the_end),
		cmocka_unit_test(view__refused),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
