/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Memory regions and RMA: keys, bounds, rights, both addressing modes, data, events. */
#include <pthread.h>

#include "test_fi_util.h"

#define BIG	   (8u << 20)
#define LEN	   (256 * 1024) /* bytes of the target region */
#define GUARD	   64		/* bytes before and behind it that must not be written */
#define ROUNDS_MAX 20		/* of a comparison of times */

struct target {
	uint8_t *mem; /* GUARD, LEN, GUARD */
	uint8_t *buf;
	struct fid_mr *mr;
	uint64_t key, addr; /* as the initiator must use them */
};

static void target_open(struct test_pair *p, struct target *t, uint64_t access, uint64_t key)
{
	bool virt = p->info->domain_attr->mr_mode & (FI_MR_BASIC | FI_MR_VIRT_ADDR);

	t->mem = malloc(LEN + 2 * GUARD);
	memset(t->mem, 0xa5, LEN + 2 * GUARD);
	t->buf = t->mem + GUARD;
	assert_ok(fi_mr_reg(p->domain, t->buf, LEN, access, 0, key, 0, &t->mr, NULL));
	t->key = fi_mr_key(t->mr);
	t->addr = virt ? (uint64_t)(uintptr_t)t->buf : 0;
}

static void target_close(struct target *t)
{
	int i;

	for (i = 0; i < GUARD; i++) {
		assert_int_equal(t->mem[i], 0xa5);
		assert_int_equal(t->mem[GUARD + LEN + i], 0xa5);
	}
	if (t->mr)
		assert_ok(fi_close(&t->mr->fid));
	free(t->mem);
}

static void region__keys(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM };
	struct fid_mr *mr[100], *one;
	struct test_pair p;
	char buf[16];
	struct iovec v[2] = { { buf, 8 }, { buf + 8, 8 } };
	struct fi_mr_attr attr = {
		.mr_iov = v, .iov_count = 1, .access = FI_REMOTE_READ, .requested_key = 17
	};
	int i, j;

	(void)state;
	test_pair_open(&p, &o); /* keys of the application */
	assert_ok(fi_mr_reg(p.domain, buf, 8, FI_REMOTE_READ, 0, 5, 0, &mr[0], NULL));
	assert_int_equal(fi_mr_key(mr[0]), 5);
	assert_int_equal(fi_mr_reg(p.domain, buf, 8, FI_REMOTE_READ, 0, 5, 0, &one, NULL),
			 -FI_ENOKEY);
	assert_ok(fi_close(&mr[0]->fid));
	assert_ok(fi_mr_reg(p.domain, buf, 8, FI_REMOTE_READ, 0, 5, 0, &mr[0], NULL));
	assert_ok(fi_mr_regattr(p.domain, &attr, 0, &one));
	assert_int_equal(fi_mr_key(one), 17);
	assert_int_equal(fi_close(&p.domain->fid), -FI_EBUSY);
	assert_ok(fi_close(&one->fid));
	assert_ok(fi_close(&mr[0]->fid));
	assert_int_equal(fi_mr_regv(p.domain, v, 2, FI_REMOTE_READ, 0, 1, 0, &one, NULL),
			 -FI_EINVAL);
	/* FI_MR_DMABUF */
	assert_int_equal(fi_mr_regattr(p.domain, &attr, 1ULL << 40, &one), -FI_EBADFLAGS);
	assert_int_equal(fi_mr_reg(p.domain, buf, SIZE_MAX, FI_READ, 0, 1, 0, &one, NULL),
			 -FI_EINVAL);
	test_pair_close(&p);

	o.mr_mode = FI_MR_PROV_KEY; /* keys of the provider: never twice, whatever was requested */
	test_pair_open(&p, &o);
	for (i = 0; i < 100; i++) {
		assert_ok(fi_mr_reg(p.domain, buf, 8, FI_REMOTE_READ, 0, 5, 0, &mr[i], NULL));
		assert_true(fi_mr_key(mr[i]) != FI_KEY_NOTAVAIL);
		for (j = 0; j < i; j++)
			assert_true(fi_mr_key(mr[i]) != fi_mr_key(mr[j]));
	}
	for (i = 0; i < 100; i++)
		assert_ok(fi_close(&mr[i]->fid));
	test_pair_close(&p);
}

/* Bits of the access mask that give no right, as some applications add them, are passed over. */
static void region__access_bits(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM };
	struct fid_mr *mr;
	struct test_pair p;
	char buf[16];
	struct iovec v = { buf, 8 };
	struct fi_mr_attr attr = {
		.mr_iov = &v,
		.iov_count = 1,
		.access = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_SEND |
			  FI_RECV | FI_RMA | FI_COLLECTIVE | FI_ATOMIC | FI_MSG,
		.requested_key = 17,
	};

	(void)state;
	test_pair_open(&p, &o);
	assert_ok(fi_mr_regattr(p.domain, &attr, 0, &mr));
	assert_int_equal(fi_mr_key(mr), 17);
	assert_ok(fi_close(&mr->fid));
	test_pair_close(&p);
}

/* The key of a region that no peer may use is nobody's: it takes none, and opens nothing. */
static void region__local_keys(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM };
	struct fid_mr *local[2], *shared;
	struct test_pair p;
	uint8_t buf[16], from[8];
	struct fi_cq_err_entry err;

	(void)state;
	test_pair_open(&p, &o);
	assert_ok(fi_mr_reg(p.domain, buf, 8, FI_SEND | FI_RECV, 0, 0, 0, &local[0], NULL));
	assert_ok(fi_write(p.s[0].ep, from, 8, NULL, p.s[0].peer, 0, 0, NULL));
	test_wait_err(&p, 0, &err);
	assert_int_equal(err.err, FI_EACCES);
	assert_ok(fi_mr_reg(p.domain, buf + 8, 8, FI_REMOTE_WRITE, 0, 0, 0, &shared, NULL));
	assert_ok(fi_mr_reg(p.domain, buf, 8, FI_READ | FI_WRITE, 0, 0, 0, &local[1], NULL));
	assert_int_equal(fi_mr_key(local[1]), 0);
	/* With or without them the key is that of the one with rights. */
	for (int i = 0; i < 2; i++) {
		struct fi_cq_tagged_entry e;

		test_fill(from, 8, (uint32_t)i);
		assert_ok(fi_write(p.s[0].ep, from, 8, NULL, p.s[0].peer, 0, 0, NULL));
		test_wait_ok(&p, 0, &e);
		assert_true(test_same(buf + 8, 8, (uint32_t)i));
		assert_ok(fi_close(&local[i]->fid));
	}
	assert_ok(fi_close(&shared->fid));
	test_pair_close(&p);
}

/* Memory that the CPU does not reach is not taken as if it did. */
static void region__of_a_device(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM };
	struct test_pair p;
	struct fid_mr *mr;
	char buf[16];
	struct iovec v = { buf, 8 };
	struct fi_mr_attr attr = { .mr_iov = &v, .iov_count = 1, .access = FI_REMOTE_READ };

	(void)state;
	test_pair_open(&p, &o);
	for (int i = FI_HMEM_CUDA; i <= FI_HMEM_SYNAPSEAI + 1; i++) {
		attr.iface = (enum fi_hmem_iface)i;
		assert_int_equal(fi_mr_regattr(p.domain, &attr, 0, &mr), -FI_ENOSYS);
	}
	attr.iface = FI_HMEM_SYSTEM;
	assert_ok(fi_mr_regattr(p.domain, &attr, 0, &mr));
	assert_ok(fi_close(&mr->fid));
	test_pair_close(&p);
}

/* What the info says that opens a domain counts, whatever fi_getinfo had returned. */
static void region__mode_of_the_domain(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM,
			       .mr_mode = FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_LOCAL };
	struct fid_mr *mr[2];
	struct test_pair p;
	char buf[16];

	(void)state;
	test_pair_open(&p, &o);
	for (int i = 0; i < 2; i++)
		assert_ok(fi_mr_reg(p.domain, buf, 8, FI_REMOTE_READ, 0, 0, 0, &mr[i], NULL));
	assert_true(fi_mr_key(mr[0]) != fi_mr_key(mr[1]));
	for (int i = 0; i < 2; i++)
		assert_ok(fi_close(&mr[i]->fid));
	test_pair_close(&p);
}

/*
 * FI_RX_CQ_DATA: a write with data takes the oldest receive with it, and the entry names that; one
 * that finds no receive is reported all the same.
 */
static void rma__data_takes_a_receive(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM, .mode = FI_RX_CQ_DATA };
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	struct target t;
	uint8_t to[3], from = 7;

	(void)state;
	test_pair_open(&p, &o);
	target_open(&p, &t, FI_REMOTE_WRITE, 3);
	for (int i = 0; i < 2; i++)
		assert_ok(fi_recv(p.s[1].ep, &to[i], 1, NULL, FI_ADDR_UNSPEC, &to[i]));
	for (int i = 0; i < 3; i++) {
		if (i == 2) { /* the receives that are left are for messages */
			assert_ok(fi_recv(p.s[1].ep, &to[2], 1, NULL, FI_ADDR_UNSPEC, &to[2]));
			assert_ok(fi_send(p.s[0].ep, &from, 1, NULL, p.s[0].peer, NULL));
			test_wait_ok(&p, 0, &e);
			test_wait_ok(&p, 1, &e);
			assert_ptr_equal(e.op_context, &to[2]);
		}
		assert_ok(fi_write(p.s[0].ep, &from, 1, NULL, p.s[0].peer, t.addr, t.key, NULL));
		test_wait_ok(&p, 0, &e); /* without data: takes none */
		assert_ok(fi_writedata(p.s[0].ep, &from, 1, NULL, 100 + (uint64_t)i, p.s[0].peer,
				       t.addr, t.key, NULL));
		test_wait_ok(&p, 0, &e);
		test_wait_ok(&p, 1, &e);
		assert_true(e.flags & FI_REMOTE_WRITE && e.flags & FI_REMOTE_CQ_DATA);
		assert_int_equal(e.data, 100 + i);
		assert_ptr_equal(e.op_context, i < 2 ? &to[i] : NULL);
	}
	target_close(&t);
	test_pair_close(&p);
}

static void rma_all(int mr_mode)
{
	struct test_opts o = { .type = FI_EP_RDM, .mr_mode = mr_mode };
	static const size_t sizes[] = { 0, 1, 8, 1000, 5000, 65536, LEN };
	uint8_t *tx = malloc(LEN), *rx = malloc(LEN);
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	struct target t;
	struct iovec v[3];
	struct fi_rma_iov ri;
	struct fi_msg_rma m = {
		.msg_iov = v, .iov_count = 3, .rma_iov = &ri, .rma_iov_count = 1, .data = 77
	};
	size_t i;

	test_pair_open(&p, &o);
	target_open(&p, &t, FI_REMOTE_READ | FI_REMOTE_WRITE, 0x55aa);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		test_fill(tx, sizes[i], (uint32_t)i);
		assert_ok(fi_write(p.s[0].ep, tx, sizes[i], NULL, p.s[0].peer, t.addr, t.key,
				   &tx[i]));
		test_wait_ok(&p, 0, &e);
		assert_ptr_equal(e.op_context, &tx[i]);
		assert_int_equal(e.flags, FI_RMA | FI_WRITE);
		memset(rx, 0, LEN);
		assert_ok(
			fi_read(p.s[0].ep, rx, sizes[i], NULL, p.s[0].peer, t.addr, t.key, &rx[i]));
		test_wait_ok(&p, 0, &e);
		assert_int_equal(e.flags, FI_RMA | FI_READ);
		assert_true(test_same(rx, sizes[i], (uint32_t)i));
		assert_true(test_same(t.buf, sizes[i], (uint32_t)i));
	}
	/* the last byte of the region is still inside */
	assert_ok(fi_write(p.s[0].ep, "x", 1, NULL, p.s[0].peer, t.addr + LEN - 1, t.key, NULL));
	test_wait_ok(&p, 0, &e);
	assert_ok(fi_read(p.s[0].ep, rx, 1, NULL, p.s[0].peer, t.addr + LEN - 1, t.key, NULL));
	test_wait_ok(&p, 0, &e);
	assert_int_equal(rx[0], 'x');
	/* with data: one entry at the target, in order with the bytes */
	assert_ok(fi_writedata(p.s[0].ep, tx, 100, NULL, 0xdeadull << 40, p.s[0].peer, t.addr + 7,
			       t.key, NULL));
	test_wait_ok(&p, 1, &e);
	assert_int_equal(e.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	assert_true(e.data == 0xdeadull << 40);
	assert_memory_equal(t.buf + 7, tx, 100);
	test_wait_ok(&p, 0, &e);
	assert_ok(fi_inject_writedata(p.s[0].ep, tx, 10, 9, p.s[0].peer, t.addr, t.key));
	test_wait_ok(&p, 1, &e);
	assert_int_equal(e.data, 9);
	assert_ok(fi_inject_write(p.s[0].ep, "abcdef", 6, p.s[0].peer, t.addr + 300, t.key));
	/* scattered; and what does not add up */
	for (i = 0; i < 3; i++) {
		v[i].iov_base = tx + 1000 * i;
		v[i].iov_len = 100;
	}
	ri.addr = t.addr + 1000;
	ri.len = 300;
	ri.key = t.key;
	m.addr = p.s[0].peer;
	assert_ok(fi_writemsg(p.s[0].ep, &m,
			      FI_COMPLETION | FI_REMOTE_CQ_DATA | FI_DELIVERY_COMPLETE));
	test_wait_ok(&p, 0, &e);
	for (i = 0; i < 3; i++)
		assert_memory_equal(t.buf + 1000 + 100 * i, tx + 1000 * i, 100);
	test_wait_ok(&p, 1, &e);
	assert_int_equal(e.data, 77);
	assert_memory_equal(t.buf + 300, "abcdef", 6);
	ri.len = 299;
	assert_int_equal(fi_writemsg(p.s[0].ep, &m, 0), -FI_EINVAL);
	m.rma_iov_count = 2;
	assert_int_equal(fi_readmsg(p.s[0].ep, &m, 0), -FI_EINVAL);
	target_close(&t);
	test_pair_close(&p);
	free(tx);
	free(rx);
}

static void rma__offsets_and_own_keys(void **state)
{
	(void)state;
	rma_all(0);
}

static void rma__virtual_addresses_and_provider_keys(void **state)
{
	(void)state;
	rma_all(FI_MR_VIRT_ADDR | FI_MR_PROV_KEY);
}

static void denied(struct test_pair *p, bool write, uint64_t addr, size_t len, uint64_t key)
{
	static uint8_t buf[2 * LEN];
	struct fi_cq_err_entry err;

	if (write)
		assert_ok(fi_write(p->s[0].ep, buf, len, NULL, p->s[0].peer, addr, key, &addr));
	else
		assert_ok(fi_read(p->s[0].ep, buf, len, NULL, p->s[0].peer, addr, key, &addr));
	test_wait_err(p, 0, &err);
	assert_int_equal(err.err, FI_EACCES);
	assert_ptr_equal(err.op_context, &addr);
	assert_non_null(
		strstr(fi_cq_strerror(p->s[0].cq, err.prov_errno, err.err_data, NULL, 0), "key"));
}

static void rma__denied(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM, .mr_mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY };
	struct fi_cq_tagged_entry e;
	struct target ro, wo, rw;
	struct test_pair p;
	uint64_t old;
	int k;

	(void)state;
	test_pair_open(&p, &o);
	target_open(&p, &ro, FI_REMOTE_READ, 1);
	target_open(&p, &wo, FI_REMOTE_WRITE, 2);
	target_open(&p, &rw, FI_REMOTE_READ | FI_REMOTE_WRITE, 3);
	for (k = 0; k < 2; k++) {
		denied(&p, k, rw.addr, 8, rw.key ^ 1ull << 40); /* no such key */
		denied(&p, k, rw.addr - 1, 8, rw.key);		/* before */
		denied(&p, k, rw.addr + LEN - 7, 8, rw.key);	/* one byte too far */
		denied(&p, k, rw.addr, LEN + 1, rw.key);
		denied(&p, k, UINT64_MAX - 3, 8, rw.key); /* wraps around */
	}
	denied(&p, true, ro.addr, 8, ro.key);
	denied(&p, true, ro.addr, LEN, ro.key);
	denied(&p, false, wo.addr, 8, wo.key);
	/* everything still works, and a closed region is gone */
	assert_ok(fi_write(p.s[0].ep, "still", 6, NULL, p.s[0].peer, rw.addr, rw.key, NULL));
	test_wait_ok(&p, 0, &e);
	old = rw.key;
	assert_ok(fi_close(&rw.mr->fid));
	rw.mr = NULL;
	denied(&p, true, rw.addr, 8, old);
	target_close(&ro);
	target_close(&wo);
	target_close(&rw);
	test_pair_close(&p);
}

/* A look at memory that the library is writing to: is something there yet? */
__attribute__((noinline, no_sanitize("thread"))) static uint8_t peek(const uint8_t *p)
{
	return *(const volatile uint8_t *)p;
}

/*
 * The peer's transfer is in the middle, and the peer does nothing any more, good or bad: the region
 * closes all the same, without it, and from then on its memory belongs to the application.
 */
static void revoked(bool write, enum fi_progress progress)
{
	struct test_opts o = { .type = FI_EP_RDM, .mr_mode = FI_MR_PROV_KEY, .progress = progress };
	uint8_t *mem = malloc(BIG), *was = malloc(BIG), *mine = malloc(BIG);
	struct fi_cq_tagged_entry e;
	struct fi_cq_err_entry err;
	struct test_pair p;
	struct fid_mr *mr;
	uint64_t end;
	size_t i;

	assert_true(mem && was && mine);
	setenv("FI_SDR_CC", "fixed", 1);
	setenv("FI_SDR_RATE", "200000000", 1);
	setenv("FI_SDR_TIMEOUT", "3000", 1); /* nothing here waits as long */
	test_pair_open(&p, &o);
	memset(mem, write ? 1 : 2, BIG);
	memset(mine, write ? 2 : 1, BIG);
	assert_ok(fi_mr_reg(p.domain, mem, BIG, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &mr,
			    NULL));
	if (write)
		assert_ok(fi_write(p.s[0].ep, mine, BIG, NULL, p.s[0].peer, 0, fi_mr_key(mr), &p));
	else
		assert_ok(fi_read(p.s[0].ep, mine, BIG, NULL, p.s[0].peer, 0, fi_mr_key(mr), &p));
	end = test_now_s() + TEST_GUARD_S;
	while (peek(write ? mem : mine) != 2) {
		fi_cq_read(p.s[0].cq, &e, 0);
		fi_cq_read(p.s[1].cq, &e, 0);
		assert_true(test_now_s() <= end);
	}
	assert_ok(fi_close(&mr->fid));
	if (!write)
		memset(mem, 3, BIG);
	memcpy(was, mem, BIG);
	test_wait_err(&p, 0, &err);
	assert_int_equal(err.err, FI_EACCES);
	assert_ptr_equal(err.op_context, &p);
	test_quiet(&p, 0, 1000);
	assert_memory_equal(mem, was, BIG);
	for (i = 0; i < BIG && !write; i++)
		assert_true(mine[i] == 1 || mine[i] == 2);
	test_pair_close(&p);
	unsetenv("FI_SDR_CC");
	unsetenv("FI_SDR_RATE");
	unsetenv("FI_SDR_TIMEOUT");
	free(mine);
	free(was);
	free(mem);
}

static void region__closes_under_a_write(void **state)
{
	(void)state;
	revoked(true, FI_PROGRESS_MANUAL);
	revoked(true, FI_PROGRESS_AUTO);
}

static void region__closes_under_a_read(void **state)
{
	(void)state;
	revoked(false, FI_PROGRESS_MANUAL);
	revoked(false, FI_PROGRESS_AUTO);
}

static void *ep_closer(void *arg)
{
	return (void *)(intptr_t)fi_close(arg);
}

/*
 * An endpoint that closes still serves what it has begun, for a while; a region that closes is not
 * in it any more.
 */
static void region__closes_under_an_endpoint_that_does(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM,
			       .mr_mode = FI_MR_PROV_KEY,
			       .progress = FI_PROGRESS_MANUAL };
	uint8_t *mem = malloc(BIG), *mine = malloc(BIG);
	struct timespec nap = { .tv_nsec = 50000000 };
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	struct fid_mr *mr;
	uint64_t end = test_now_s() + TEST_GUARD_S;
	void *ret;
	pthread_t th;
	size_t i;

	(void)state;
	assert_true(mem && mine);
	setenv("FI_SDR_CC", "fixed", 1);
	setenv("FI_SDR_RATE", "50000000", 1); /* more than a second */
	test_pair_open(&p, &o);
	memset(mem, 2, BIG);
	memset(mine, 1, BIG);
	assert_ok(fi_mr_reg(p.domain, mem, BIG, FI_REMOTE_READ, 0, 0, 0, &mr, NULL));
	assert_ok(fi_read(p.s[0].ep, mine, BIG, NULL, p.s[0].peer, 0, fi_mr_key(mr), &p));
	while (peek(mine) != 2) {
		fi_cq_read(p.s[0].cq, &e, 0);
		fi_cq_read(p.s[1].cq, &e, 0);
		assert_true(test_now_s() <= end);
	}
	assert_int_equal(pthread_create(&th, NULL, ep_closer, &p.s[1].ep->fid), 0);
	nanosleep(&nap, NULL); /* it lingers, most likely */
	assert_ok(fi_close(&mr->fid));
	memset(mem, 3, BIG);
	while (fi_cq_read(p.s[0].cq, &e, 1) == -FI_EAGAIN)
		assert_true(test_now_s() <= end);
	pthread_join(th, &ret);
	assert_null(ret);
	p.s[1].ep = NULL;
	for (i = 0; i < BIG; i++)
		assert_true(mine[i] == 1 || mine[i] == 2);
	test_side_close(&p.s[0]);
	test_pair_close(&p);
	unsetenv("FI_SDR_CC");
	unsetenv("FI_SDR_RATE");
	free(mine);
	free(mem);
}

static void rma__events(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM,
			       .cntrs = true,
			       .caps = FI_MSG | FI_RMA | FI_RMA_EVENT };
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_cntr *rd, *wr;
	struct test_pair p;
	struct target t;
	static char buf[LEN]; /* all of it goes as bulk data */

	(void)state;
	test_pair_open(&p, &o);
	target_open(&p, &t, FI_REMOTE_READ | FI_REMOTE_WRITE, 4);
	assert_ok(fi_cntr_open(p.domain, &attr, &rd, NULL));
	assert_ok(fi_cntr_open(p.domain, &attr, &wr, NULL));
	assert_ok(fi_mr_bind(t.mr, &rd->fid, FI_REMOTE_READ));
	assert_ok(fi_mr_bind(t.mr, &wr->fid, FI_REMOTE_WRITE));
	assert_ok(fi_mr_enable(t.mr));
	assert_ok(fi_write(p.s[0].ep, buf, 100, NULL, p.s[0].peer, t.addr, t.key, NULL));
	assert_ok(fi_inject_write(p.s[0].ep, buf, 10, p.s[0].peer, t.addr, t.key));
	assert_ok(fi_write(p.s[0].ep, buf, LEN, NULL, p.s[0].peer, t.addr, t.key, NULL));
	assert_ok(fi_read(p.s[0].ep, buf, 100, NULL, p.s[0].peer, t.addr, t.key, NULL));
	assert_ok(fi_read(p.s[0].ep, buf, LEN, NULL, p.s[0].peer, t.addr, t.key, NULL));
	assert_ok(fi_cntr_wait(p.s[0].write, 3, TEST_GUARD_S * 1000));
	assert_ok(fi_cntr_wait(p.s[1].rwrite, 3, TEST_GUARD_S * 1000));
	assert_ok(fi_cntr_wait(wr, 3, TEST_GUARD_S * 1000));
	assert_ok(fi_cntr_wait(rd, 2, TEST_GUARD_S * 1000));
	assert_int_equal(fi_cntr_read(wr), 3);
	assert_int_equal(fi_cntr_read(rd), 2);
	assert_int_equal(fi_close(&rd->fid), -FI_EBUSY);
	target_close(&t);
	assert_ok(fi_close(&rd->fid));
	assert_ok(fi_close(&wr->fid));
	test_pair_close(&p);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ns of 30 writes, each waited for on a counter of the target side. */
static uint64_t counted(struct test_pair *p, const struct target *t, struct fid_cntr *cntr)
{
	uint64_t t0 = now_ns(), n = fi_cntr_read(cntr);
	static char buf[100];

	for (uint32_t i = 0; i < 30; i++) {
		/* the application drives: the progress thread stays away for a while */
		fi_cntr_read(p->s[1].rwrite);
		assert_ok(fi_write(p->s[0].ep, buf, sizeof(buf), NULL, p->s[0].peer, t->addr,
				   t->key, NULL));
		assert_ok(fi_cntr_wait(cntr, ++n, TEST_GUARD_S * 1000));
	}
	return now_ns() - t0;
}

/*
 * What a region's counter counts may come by any endpoint, so waiting on it drives all of them: it
 * takes as long as on a counter of the endpoint, and not until the progress thread looks.
 */
static void rma__counters_of_regions_drive(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM,
			       .progress = FI_PROGRESS_AUTO,
			       .cntrs = true,
			       .not_enabled = true,
			       .caps = FI_MSG | FI_RMA | FI_RMA_EVENT };
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	uint64_t of_endpoint, of_region, end = test_now_s() + TEST_GUARD_S;
	uint32_t rounds = 0;
	struct fid_cntr *wr;
	struct test_pair p;
	struct target t;

	(void)state;
	test_pair_open(&p, &o);
	assert_ok(fi_cntr_open(p.domain, &attr, &wr, NULL));
	target_open(&p, &t, FI_REMOTE_READ | FI_REMOTE_WRITE, 4);
	/* one endpoint is there before it, the other comes later */
	test_side_enable(&p, 1);
	assert_ok(fi_mr_bind(t.mr, &wr->fid, FI_REMOTE_WRITE));
	assert_ok(fi_mr_enable(t.mr));
	test_side_enable(&p, 0);
	counted(&p, &t, p.s[1].rwrite);
	/* A busy host makes some rounds long; who waits for the thread is as long in each. */
	do {
		of_endpoint = counted(&p, &t, p.s[1].rwrite);
		of_region = counted(&p, &t, wr);
		rounds++;
	} while (of_region > 4 * of_endpoint + 3000000 && rounds < ROUNDS_MAX);
	if (of_region > 4 * of_endpoint + 3000000)
		fail_msg("%.1f ms, %.1f on an endpoint's counter, in the last of %u rounds",
			 (double)of_region / 1e6, (double)of_endpoint / 1e6, rounds);
	assert_ok(fi_inject_write(p.s[0].ep, "x", 1, p.s[0].peer, t.addr, t.key));
	while (fi_cntr_read(wr) < 30 + 60 * rounds + 1)
		assert_true(test_now_s() < end);
	/* an endpoint goes, and the counter */
	test_side_close(&p.s[0]);
	assert_int_equal(fi_cntr_wait(wr, 30 + 60 * rounds + 2, 10), -FI_ETIMEDOUT);
	target_close(&t);
	assert_ok(fi_close(&wr->fid));
	test_side_close(&p.s[1]);
	test_pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(region__keys),
		cmocka_unit_test(region__access_bits),
		cmocka_unit_test(region__local_keys),
		cmocka_unit_test(region__of_a_device),
		cmocka_unit_test(region__mode_of_the_domain),
		cmocka_unit_test(rma__data_takes_a_receive),
		cmocka_unit_test(rma__offsets_and_own_keys),
		cmocka_unit_test(rma__virtual_addresses_and_provider_keys),
		cmocka_unit_test(rma__denied),
		cmocka_unit_test(region__closes_under_a_write),
		cmocka_unit_test(region__closes_under_a_read),
		cmocka_unit_test(region__closes_under_an_endpoint_that_does),
		cmocka_unit_test(rma__events),
		cmocka_unit_test(rma__counters_of_regions_drive),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
