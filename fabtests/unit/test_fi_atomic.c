/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_ATOMIC through libfabric: which operations there are and how many elements, all calls in their
 * three forms, vectors, flags of completions, counters, rights, and atomics of several threads and
 * of the processor on the same memory.
 */
#include <complex.h>
#include <pthread.h>

#include "test_fi_util.h"

#define BYTES (128u * 1024)

struct target {
	_Alignas(64) uint8_t mem[BYTES];
	struct fid_mr *mr;
};

static void target_open(struct test_pair *p, struct target *t, uint64_t access, uint64_t key)
{
	memset(t->mem, 0, BYTES);
	assert_ok(fi_mr_reg(p->domain, t->mem, BYTES, access, 0, key, 0, &t->mr, NULL));
}

static struct target T;

/* ---- what there is --------------------------------------------------------------------------- */

static const size_t sizes[] = {
	[FI_INT8] = 1,
	[FI_UINT8] = 1,
	[FI_INT16] = 2,
	[FI_UINT16] = 2,
	[FI_INT32] = 4,
	[FI_UINT32] = 4,
	[FI_INT64] = 8,
	[FI_UINT64] = 8,
	[FI_FLOAT] = sizeof(float),
	[FI_DOUBLE] = sizeof(double),
	[FI_FLOAT_COMPLEX] = sizeof(float complex),
	[FI_DOUBLE_COMPLEX] = sizeof(double complex),
	[FI_LONG_DOUBLE] = sizeof(long double),
	[FI_LONG_DOUBLE_COMPLEX] = sizeof(long double complex),
	[FI_INT128] = 16,
	[FI_UINT128] = 16,
	[FI_UINT128 + 1] = 2, /* FI_FLOAT16, FI_BFLOAT16, FI_FLOAT8_E4M3 and _E5M2 of libfabric 2 */
	[FI_UINT128 + 2] = 2,
	[FI_UINT128 + 3] = 1,
	[FI_UINT128 + 4] = 1,
};
#define TYPES (sizeof(sizes) / sizeof(*sizes))
#define DIFF  (FI_MSWAP + 1) /* FI_DIFF */

static bool is_complex(int type)
{
	return type == FI_FLOAT_COMPLEX || type == FI_DOUBLE_COMPLEX ||
	       type == FI_LONG_DOUBLE_COMPLEX;
}

static bool is_real(int type)
{
	return type == FI_FLOAT || type == FI_DOUBLE || type == FI_LONG_DOUBLE || type > FI_UINT128;
}

/* 0 update, FI_FETCH_ATOMIC, FI_COMPARE_ATOMIC */
static bool expected(int type, int op, uint64_t form)
{
	bool compares = op >= FI_CSWAP && op <= FI_MSWAP;
	bool bits = op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP;
	bool order = op == FI_MIN || op == FI_MAX || (op >= FI_CSWAP_LE && op <= FI_CSWAP_GT);

	if (compares != (form == FI_COMPARE_ATOMIC) || (op == FI_ATOMIC_READ && !form))
		return false;
	return !(bits && (is_real(type) || is_complex(type))) && !(order && is_complex(type));
}

static void atomic__says_what_there_is(void **state)
{
	static const uint64_t forms[] = { 0, FI_FETCH_ATOMIC, FI_COMPARE_ATOMIC };
	int (*const valid[])(struct fid_ep *, enum fi_datatype, enum fi_op,
			     size_t *) = { fi_atomicvalid, fi_fetch_atomicvalid,
					   fi_compare_atomicvalid };
	struct test_opts o = { .caps = FI_ATOMIC };
	struct fi_atomic_attr a;
	struct test_pair p;
	size_t count;

	(void)state;
	test_pair_open(&p, &o);
	assert_true(p.info->caps & FI_ATOMIC && p.info->caps & FI_READ &&
		    p.info->caps & FI_REMOTE_WRITE && !(p.info->caps & FI_RMA));
	assert_true(p.info->tx_attr->caps & FI_ATOMIC && p.info->rx_attr->caps & FI_ATOMIC);
	assert_int_equal(p.info->tx_attr->rma_iov_limit, 1);
	for (int f = 0; f < 3; f++) {
		for (int type = 0; type <= (int)TYPES; type++) {
			for (int op = 0; op <= DIFF + 1; op++) {
				bool want = type < (int)TYPES && op <= DIFF &&
					    expected(type, op, forms[f]);

				memset(&a, 0, sizeof(a));
				count = 0;
				assert_int_equal(fi_query_atomic(p.domain, type, op, &a, forms[f]),
						 want ? 0 : -FI_EOPNOTSUPP);
				assert_int_equal(valid[f](p.s[0].ep, type, op, &count),
						 want ? 0 : -FI_EOPNOTSUPP);
				assert_int_equal(count, a.count);
				if (want)
					assert_true(a.size == sizes[type] &&
						    a.count == 65536 / a.size);
			}
		}
	}
	assert_int_equal(
		fi_query_atomic(p.domain, FI_INT8, FI_SUM, &a, FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC),
		-FI_EINVAL);
	assert_int_equal(fi_query_atomic(p.domain, FI_INT8, FI_SUM, &a, FI_TAGGED), -FI_EOPNOTSUPP);
	test_pair_close(&p);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void done(struct test_pair *p, const void *ctx, uint64_t flags)
{
	struct fi_cq_tagged_entry e;

	test_wait_ok(p, 0, &e);
	assert_ptr_equal(e.op_context, ctx);
	assert_int_equal(e.flags, flags);
}
#define UPDATED (FI_ATOMIC | FI_WRITE)
#define FETCHED (FI_ATOMIC | FI_READ)

static void atomic__all_calls(void **state)
{
	uint64_t v = 3, old = 0, cmp = 0, *at = (void *)T.mem;
	struct fi_ioc in = { &v, 1 }, res = { &old, 1 }, with = { &cmp, 1 };
	struct test_opts o = { .type = FI_EP_RDM };
	struct fi_rma_ioc ri = { .count = 1, .key = 5 };
	struct fi_msg_atomic m = { .msg_iov = &in,
				   .iov_count = 1,
				   .rma_iov = &ri,
				   .rma_iov_count = 1,
				   .datatype = FI_UINT64,
				   .op = FI_SUM,
				   .context = &m };
	struct test_pair p;
	struct fid_ep *ep;
	fi_addr_t to;

	(void)state;
	test_pair_open(&p, &o);
	ep = p.s[0].ep;
	to = m.addr = p.s[0].peer;
	target_open(&p, &T, FI_REMOTE_READ | FI_REMOTE_WRITE, 5);
	assert_ok(fi_atomic(ep, &v, 1, NULL, to, 0, 5, FI_UINT64, FI_SUM, &v));
	done(&p, &v, UPDATED);
	assert_ok(fi_atomicv(ep, &in, NULL, 1, to, 0, 5, FI_UINT64, FI_SUM, &in));
	done(&p, &in, UPDATED);
	assert_ok(fi_atomicmsg(ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	done(&p, &m, UPDATED);
	assert_ok(fi_atomicmsg(ep, &m, FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE));
	done(&p, &m, UPDATED);
	assert_ok(fi_inject_atomic(ep, &v, 1, to, 0, 5, FI_UINT64, FI_SUM));
	/* a fence: what was injected before is there */
	m.op = FI_ATOMIC_READ;
	m.iov_count = 0;
	m.msg_iov = NULL;
	assert_ok(fi_fetch_atomicmsg(ep, &m, &res, NULL, 1, FI_COMPLETION | FI_FENCE));
	done(&p, &m, FETCHED);
	assert_true(old == 15 && at[0] == 15);
	assert_ok(fi_fetch_atomic(ep, &v, 1, NULL, &old, NULL, to, 0, 5, FI_UINT64, FI_PROD, &v));
	done(&p, &v, FETCHED);
	assert_true(old == 15 && at[0] == 45);
	assert_ok(fi_fetch_atomicv(ep, &in, NULL, 1, &res, NULL, 1, to, 0, 5, FI_UINT64,
				   FI_ATOMIC_WRITE, &in));
	done(&p, &in, FETCHED);
	assert_true(old == 45 && at[0] == 3);
	cmp = 3;
	v = 8;
	assert_ok(fi_compare_atomic(ep, &v, 1, NULL, &cmp, NULL, &old, NULL, to, 0, 5, FI_UINT64,
				    FI_CSWAP, &v));
	done(&p, &v, FETCHED);
	assert_true(old == 3 && at[0] == 8);
	assert_ok(fi_compare_atomicv(ep, &in, NULL, 1, &with, NULL, 1, &res, NULL, 1, to, 0, 5,
				     FI_UINT64, FI_CSWAP, &in));
	done(&p, &in, FETCHED);
	assert_true(old == 8 && at[0] == 8);
	m.op = FI_MSWAP;
	m.msg_iov = &in;
	m.iov_count = 1;
	cmp = 0xf0;
	v = 0xabcd;
	assert_ok(fi_compare_atomicmsg(ep, &m, &with, NULL, 1, &res, NULL, 1,
				       FI_COMPLETION | FI_INJECT));
	v = cmp = 0;
	done(&p, &m, FETCHED);
	assert_true(old == 8 && at[0] == 0xc8);

	/* what is not one */
	assert_int_equal(fi_atomic(ep, &v, 1, NULL, to, 0, 5, FI_UINT64, FI_CSWAP, NULL),
			 -FI_EOPNOTSUPP);
	assert_int_equal(fi_atomic(ep, &v, 1, NULL, to, 0, 5, FI_FLOAT, FI_BOR, NULL),
			 -FI_EOPNOTSUPP);
	assert_int_equal(fi_atomic(ep, &v, 0, NULL, to, 0, 5, FI_UINT64, FI_SUM, NULL), -FI_EINVAL);
	assert_int_equal(fi_atomic(ep, T.mem, 8193, NULL, to, 0, 5, FI_UINT64, FI_SUM, NULL),
			 -FI_EMSGSIZE);
	assert_int_equal(fi_atomic(ep, T.mem, SIZE_MAX, NULL, to, 0, 5, FI_UINT64, FI_SUM, NULL),
			 -FI_EMSGSIZE);
	assert_int_equal(fi_inject_atomic(ep, T.mem, 1000, to, 0, 5, FI_UINT64, FI_SUM),
			 -FI_EMSGSIZE);
	res.count = 2;
	assert_int_equal(fi_fetch_atomicv(ep, &in, NULL, 1, &res, NULL, 1, to, 0, 5, FI_UINT64,
					  FI_SUM, NULL),
			 -FI_EINVAL);
	m.op = FI_SUM;
	ri.count = 2;
	assert_int_equal(fi_atomicmsg(ep, &m, 0), -FI_EINVAL);
	ri.count = 1;
	m.rma_iov_count = 2;
	assert_int_equal(fi_atomicmsg(ep, &m, 0), -FI_EINVAL);
	m.rma_iov_count = 1;
	assert_int_equal(fi_atomicmsg(ep, &m, FI_TAGGED), -FI_EOPNOTSUPP);
	test_quiet(&p, 0, 100);
	assert_ok(fi_close(&T.mr->fid));
	test_pair_close(&p);
}

/* 64 KiB of doubles, from eight places and back to eight. */
static void atomic__large_and_scattered(void **state)
{
	enum { N = 8192, V = 8 };
	static double v[N], old[N];
	double *at = (void *)(T.mem + 4096);
	struct test_opts o = { .mr_mode = FI_MR_VIRT_ADDR };
	struct fi_ioc in[V + 1], res[V + 1];
	struct test_pair p;

	(void)state;
	test_pair_open(&p, &o);
	target_open(&p, &T, FI_REMOTE_READ | FI_REMOTE_WRITE, 5);
	for (int i = 0; i < N; i++) {
		at[i] = i;
		v[i] = 0.5;
	}
	for (int i = 0; i <= V; i++) {
		in[i] = (struct fi_ioc){ v + N / V * (i % V), N / V };
		res[i] = (struct fi_ioc){ old + N / V * (i % V), N / V };
	}
	in[0].count += 3;
	in[1].addr = v + N / V + 3;
	in[1].count -= 3;
	assert_ok(fi_fetch_atomicv(p.s[0].ep, in, NULL, V, res, NULL, V, p.s[0].peer, (uintptr_t)at,
				   5, FI_DOUBLE, FI_SUM, v));
	done(&p, v, FETCHED);
	for (int i = 0; i < N; i++)
		assert_true(old[i] == i && at[i] == i + 0.5);
	assert_int_equal(fi_fetch_atomicv(p.s[0].ep, in, NULL, V + 1, res, NULL, V + 1, p.s[0].peer,
					  (uintptr_t)at, 5, FI_DOUBLE, FI_SUM, v),
			 -FI_EINVAL);
	assert_ok(fi_close(&T.mr->fid));
	test_pair_close(&p);
}

static void refused(struct test_pair *p, uint64_t addr, uint64_t key, int err)
{
	struct fi_cq_err_entry e;
	uint64_t v = 1;

	assert_ok(
		fi_atomic(p->s[0].ep, &v, 1, NULL, p->s[0].peer, addr, key, FI_UINT64, FI_SUM, &v));
	test_wait_err(p, 0, &e);
	assert_int_equal(e.err, err);
	assert_int_equal(e.flags, UPDATED);
	assert_ptr_equal(e.op_context, &v);
}

static void atomic__needs_rights(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM };
	struct fi_cq_err_entry e;
	uint64_t v = 1, old;
	struct test_pair p;

	(void)state;
	test_pair_open(&p, &o);
	target_open(&p, &T, FI_REMOTE_READ, 5);
	refused(&p, 0, 5, FI_EACCES);
	refused(&p, 0, 6, FI_EACCES);
	assert_ok(fi_fetch_atomic(p.s[0].ep, NULL, 1, NULL, &old, NULL, p.s[0].peer, 0, 5,
				  FI_UINT64, FI_ATOMIC_READ, &old));
	done(&p, &old, FETCHED);
	assert_ok(fi_fetch_atomic(p.s[0].ep, &v, 1, NULL, &old, NULL, p.s[0].peer, 0, 5, FI_UINT64,
				  FI_SUM, &old));
	test_wait_err(&p, 0, &e);
	assert_int_equal(e.err, FI_EACCES);
	assert_int_equal(e.flags, FETCHED);
	assert_ok(fi_close(&T.mr->fid));
	target_open(&p, &T, FI_REMOTE_WRITE, 5);
	refused(&p, BYTES, 5, FI_EACCES);
	refused(&p, BYTES - 4, 5, FI_EACCES);
	refused(&p, 4, 5, FI_EINVAL); /* not aligned */
	assert_ok(fi_fetch_atomic(p.s[0].ep, &v, 1, NULL, &old, NULL, p.s[0].peer, 0, 5, FI_UINT64,
				  FI_SUM, &old));
	test_wait_err(&p, 0, &e);
	assert_int_equal(e.err, FI_EACCES);
	for (uint32_t i = 0; i < BYTES; i++)
		assert_int_equal(T.mem[i], 0);
	assert_ok(fi_close(&T.mr->fid));
	test_pair_close(&p);
}

/*
 * Updates count as writes, the others as reads, on both sides.  At the region what may have changed
 * it counts as a write, too.
 */
static void atomic__is_counted(void **state)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct test_opts o = { .cntrs = true,
			       .not_enabled = true,
			       .cq_flags = FI_SELECTIVE_COMPLETION };
	struct fid_cntr *read[2], *rread, *region[2];
	static uint64_t v[4096], old[4096];
	struct test_pair p;

	(void)state;
	test_pair_open(&p, &o);
	for (int k = 0; k < 2; k++) {
		assert_ok(fi_cntr_open(p.domain, &attr, &read[k], NULL));
		assert_ok(fi_cntr_open(p.domain, &attr, &region[k], NULL));
		assert_ok(fi_ep_bind(p.s[k].ep, &read[k]->fid, FI_READ));
	}
	assert_ok(fi_cntr_open(p.domain, &attr, &rread, NULL));
	assert_ok(fi_ep_bind(p.s[1].ep, &rread->fid, FI_REMOTE_READ));
	for (int k = 0; k < 2; k++)
		test_side_enable(&p, k);
	memset(T.mem, 0, BYTES);
	assert_ok(fi_mr_reg(p.domain, T.mem, BYTES, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 5,
			    FI_RMA_EVENT, &T.mr, NULL));
	assert_ok(fi_mr_bind(T.mr, &region[0]->fid, FI_REMOTE_WRITE));
	assert_ok(fi_mr_bind(T.mr, &region[1]->fid, FI_REMOTE_READ));
	/* small and large, injected, and with results */
	assert_ok(fi_atomic(p.s[0].ep, v, 1, NULL, p.s[0].peer, 0, 5, FI_UINT64, FI_SUM, NULL));
	assert_ok(fi_atomic(p.s[0].ep, v, 4096, NULL, p.s[0].peer, 0, 5, FI_UINT64, FI_SUM, NULL));
	assert_ok(fi_inject_atomic(p.s[0].ep, v, 1, p.s[0].peer, 0, 5, FI_UINT64, FI_SUM));
	assert_ok(fi_fetch_atomic(p.s[0].ep, v, 4096, NULL, old, NULL, p.s[0].peer, 0, 5, FI_UINT64,
				  FI_SUM, NULL));
	assert_ok(fi_compare_atomic(p.s[0].ep, v, 1, NULL, v, NULL, old, NULL, p.s[0].peer, 0, 5,
				    FI_UINT64, FI_CSWAP, NULL));
	assert_ok(fi_fetch_atomic(p.s[0].ep, NULL, 1, NULL, old, NULL, p.s[0].peer, 0, 5, FI_UINT64,
				  FI_ATOMIC_READ, NULL));
	assert_ok(fi_cntr_wait(p.s[0].write, 3, TEST_GUARD_S * 1000));
	assert_ok(fi_cntr_wait(read[0], 3, TEST_GUARD_S * 1000));
	assert_ok(fi_cntr_wait(p.s[1].rwrite, 3, TEST_GUARD_S * 1000));
	assert_ok(fi_cntr_wait(rread, 3, TEST_GUARD_S * 1000));
	assert_ok(fi_cntr_wait(region[0], 5, TEST_GUARD_S * 1000));
	assert_ok(fi_cntr_wait(region[1], 3, TEST_GUARD_S * 1000));
	assert_int_equal(fi_cntr_read(p.s[0].write), 3);
	assert_int_equal(fi_cntr_read(read[0]), 3);
	assert_int_equal(fi_cntr_read(p.s[1].rwrite), 3);
	assert_int_equal(fi_cntr_read(rread), 3);
	assert_int_equal(fi_cntr_read(region[0]), 5);
	assert_int_equal(fi_cntr_read(region[1]), 3);
	assert_int_equal(fi_cntr_readerr(p.s[0].write), 0);
	assert_int_equal(
		fi_atomic(p.s[0].ep, v, 1, NULL, p.s[0].peer, 0, 99, FI_UINT64, FI_SUM, NULL), 0);
	while (!fi_cntr_readerr(p.s[0].write))
		fi_cntr_read(p.s[1].rwrite);
	assert_int_equal(fi_cntr_read(p.s[1].rwrite), 3);
	assert_ok(fi_close(&T.mr->fid));
	for (int k = 0; k < 2; k++) {
		test_side_close(&p.s[k]);
		assert_ok(fi_close(&region[k]->fid));
		assert_ok(fi_close(&read[k]->fid));
	}
	assert_ok(fi_close(&rread->fid));
	test_pair_close(&p);
}

/* ---- at the same time ------------------------------------------------------------------------ */

struct adder {
	struct test_pair p;
	pthread_t thread;
	double complex one;
	uint32_t n;
};

/*
 * Each thread has a pair of endpoints with a domain of its own on the same memory: an integer that
 * the processor changes as well, and complex numbers of 16 bytes, for which there is a lock.
 */
static void *adder_main(void *arg)
{
	struct adder *a = arg;
	uint64_t one = 1, *word = (void *)T.mem;
	struct fi_cq_tagged_entry e;

	for (uint32_t i = 0; i < a->n; i++) {
		assert_ok(fi_atomic(a->p.s[0].ep, &one, 1, NULL, a->p.s[0].peer, 0, 5, FI_UINT64,
				    FI_SUM, NULL));
		assert_ok(fi_atomic(a->p.s[0].ep, &a->one, 1, NULL, a->p.s[0].peer, 64, 5,
				    FI_DOUBLE_COMPLEX, FI_SUM, NULL));
		for (int k = 0; k < 100; k++)
			__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
		test_wait_ok(&a->p, 0, &e);
		test_wait_ok(&a->p, 0, &e);
	}
	return NULL;
}

static void atomic__loses_nothing_between_domains_and_threads(void **state)
{
	enum { N = 3, STEPS = 300 };
	static struct adder a[N];
	struct test_opts o = { .progress = FI_PROGRESS_MANUAL };
	struct fid_mr *mr[N];
	double complex *z = (void *)(T.mem + 64);

	(void)state;
	memset(T.mem, 0, BYTES);
	for (int i = 0; i < N; i++) {
		a[i].n = STEPS;
		a[i].one = 1 + 2 * I;
		test_pair_open(&a[i].p, &o);
		assert_ok(fi_mr_reg(a[i].p.domain, T.mem, BYTES, FI_REMOTE_WRITE, 0, 5, 0, &mr[i],
				    NULL));
	}
	for (int i = 0; i < N; i++)
		assert_int_equal(pthread_create(&a[i].thread, NULL, adder_main, &a[i]), 0);
	for (int i = 0; i < N; i++)
		pthread_join(a[i].thread, NULL);
	assert_int_equal(*(uint64_t *)(void *)T.mem, N * STEPS * 101);
	assert_true(*z == N * STEPS * (1 + 2 * I));
	for (int i = 0; i < N; i++) {
		assert_ok(fi_close(&mr[i]->fid));
		test_pair_close(&a[i].p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(atomic__says_what_there_is),
		cmocka_unit_test(atomic__all_calls),
		cmocka_unit_test(atomic__large_and_scattered),
		cmocka_unit_test(atomic__needs_rights),
		cmocka_unit_test(atomic__is_counted),
		cmocka_unit_test(atomic__loses_nothing_between_domains_and_threads),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
