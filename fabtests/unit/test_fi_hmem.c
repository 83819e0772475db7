/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_HMEM: memory that only a driver copies, in every place where an application may have its
 * buffers.  The drivers are fakes (fabtests/hmem): their memory ends the process when anything but
 * one of their copies touches it.  As test_fi_gpu it is the memory of a GPU, where there is one;
 * what only a driver of ours does, failing, is left out there.
 */
#include "test_fi_util.h"
#include "../hmem/far_mem.h"

#define CAPS  (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_HMEM)
#define MIB   (1u << 20)
#define LEN   (16 * MIB)
#define GUARD 64
#define WHOLE (LEN + 2 * GUARD)
/* What is looked at behind a message at once; all the rest when its buffer is closed. */
#define NEAR (64 * 1024)

static const size_t sizes[] = { 0, 1, 8, 1000, 1500, 5000, 65536, MIB, MIB + 1, LEN };
#define NSIZES (sizeof(sizes) / sizeof(sizes[0]))

static uint8_t *scratch; /* WHOLE */

/* A buffer on the host (iface FI_HMEM_SYSTEM) or a device, between guards. */
struct buf {
	unsigned int iface;
	uint8_t *mem, *p;
	size_t used; /* of mem: from here on as it was wiped */
	struct fid_mr *mr;
	void *desc;
};

static void buf_use(struct buf *b, size_t end)
{
	if (b->used < end)
		b->used = end;
}

static void buf_set(struct buf *b, const void *from, size_t off, size_t n)
{
	buf_use(b, off + n);
	if (b->iface)
		far_write(b->mem + off, from, n);
	else
		memcpy(b->mem + off, from, n);
}

static void buf_get(const struct buf *b, void *to, size_t off, size_t n)
{
	if (b->iface)
		far_read(to, b->mem + off, n);
	else
		memcpy(to, b->mem + off, n);
}

static void buf_wipe(struct buf *b)
{
	memset(scratch, 0xa5, b->used);
	buf_set(b, scratch, 0, b->used);
	b->used = 0;
}

/* What was got of a buffer up to an end is as it was wiped, before GUARD and behind len more. */
static void got_nothing_beside(size_t len, size_t end)
{
	const uint8_t *behind = scratch + GUARD + len;

	assert_true(scratch[0] == 0xa5 && !memcmp(scratch, scratch + 1, GUARD - 1));
	assert_true(behind[0] == 0xa5 && !memcmp(behind, behind + 1, end - GUARD - len - 1));
}

/* registered: with a descriptor, and key `key`. */
static void buf_open(struct buf *b, struct test_pair *p, unsigned int iface, bool registered,
		     uint64_t key)
{
	struct iovec v;
	struct fi_mr_attr attr = {
		.mr_iov = &v,
		.iov_count = 1,
		.access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
		.requested_key = key,
	};

	memset(b, 0, sizeof(*b));
	iface = far_iface(iface);
	attr.iface = (enum fi_hmem_iface)iface;
	b->iface = iface;
	b->mem = iface ? far_alloc(iface, WHOLE) : malloc(WHOLE);
	b->p = b->mem + GUARD;
	v = (struct iovec){ b->p, LEN };
	attr.device.cuda = far_device();
	b->used = WHOLE;
	buf_wipe(b);
	if (!registered)
		return;
	assert_ok(fi_mr_regattr(p->domain, &attr, 0, &b->mr));
	b->desc = fi_mr_desc(b->mr);
}

static void buf_close(struct buf *b)
{
	if (b->used < WHOLE) {
		buf_get(b, scratch, b->used, WHOLE - b->used);
		assert_true(scratch[0] == 0xa5 &&
			    !memcmp(scratch, scratch + 1, WHOLE - b->used - 1));
	}
	if (b->mr)
		assert_ok(fi_close(&b->mr->fid));
	if (b->iface)
		far_free(b->mem);
	else
		free(b->mem);
}

static void buf_fill(struct buf *b, size_t len, uint32_t seed)
{
	test_fill(scratch, len, seed);
	buf_set(b, scratch, GUARD, len);
}

/* len bytes are there, and nothing before or behind them. */
static void buf_check(struct buf *b, size_t len, uint32_t seed)
{
	size_t end = GUARD + len + NEAR < WHOLE ? GUARD + len + NEAR : WHOLE;

	buf_use(b, GUARD + len);
	buf_get(b, scratch, 0, end);
	assert_true(test_same(scratch + GUARD, len, seed));
	got_nothing_beside(len, end);
}

/* Two endpoints, their buffers: [0] is sent from and read into, [1] the other. */
struct bed {
	struct test_pair p;
	struct buf b[2];
};

static void bed_open(struct bed *t, unsigned int from, unsigned int to, bool registered)
{
	struct test_opts o = { .type = FI_EP_RDM, .caps = CAPS };

	test_pair_open(&t->p, &o);
	buf_open(&t->b[0], &t->p, from, registered, 10);
	buf_open(&t->b[1], &t->p, to, registered, 11);
}

static void bed_close(struct bed *t)
{
	buf_close(&t->b[0]);
	buf_close(&t->b[1]);
	test_pair_close(&t->p);
}

static void wait_both(struct test_pair *p, size_t len)
{
	struct fi_cq_tagged_entry e;

	test_wait_ok(p, 1, &e);
	assert_int_equal(e.len, len);
	test_wait_ok(p, 0, &e);
}

/* A message of each size, tagged every other time; `late`: the receive comes after it. */
static void messages(struct bed *t, bool late, size_t max)
{
	struct fid_ep *tx = t->p.s[0].ep, *rx = t->p.s[1].ep;
	struct buf *b = t->b;

	for (uint32_t i = 0; i < 2 * NSIZES; i++) {
		size_t len = sizes[i / 2];

		if (len > max)
			continue;
		buf_fill(&b[0], len, i);
		buf_wipe(&b[1]);
		for (int k = 0; k < 2; k++) {
			if (k == late && i % 2)
				assert_ok(fi_trecv(rx, b[1].p, len, b[1].desc, FI_ADDR_UNSPEC, i, 0,
						   NULL));
			else if (k == late)
				assert_ok(
					fi_recv(rx, b[1].p, len, b[1].desc, FI_ADDR_UNSPEC, NULL));
			else if (i % 2)
				assert_ok(fi_tsend(tx, b[0].p, len, b[0].desc, t->p.s[0].peer, i,
						   NULL));
			else
				assert_ok(
					fi_send(tx, b[0].p, len, b[0].desc, t->p.s[0].peer, NULL));
			if (!k && late)
				test_quiet(&t->p, 1, 200);
		}
		wait_both(&t->p, len);
		buf_check(&b[1], len, i);
	}
}

/* Each driver's memory at one end or both, named by descriptors or found by its address. */
static void hmem__messages(void **state)
{
	static const unsigned int ends[][2] = { { FI_HMEM_SYSTEM, FI_HMEM_CUDA },
						{ FI_HMEM_CUDA, FI_HMEM_SYSTEM },
						{ FI_HMEM_CUDA, FI_HMEM_ROCR },
						{ FI_HMEM_ROCR, FI_HMEM_ZE },
						{ FI_HMEM_ZE, FI_HMEM_CUDA } };
	struct bed t;

	(void)state;
	for (unsigned int i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		bed_open(&t, ends[i][0], ends[i][1], i != 2);
		messages(&t, false, LEN);
		bed_close(&t);
	}
}

static void hmem__unexpected(void **state)
{
	struct bed t;

	(void)state;
	bed_open(&t, FI_HMEM_CUDA, FI_HMEM_ROCR, true);
	messages(&t, true, LEN);
	bed_close(&t);
}

/* Behind what any thread has done for this side until now: its lock was taken once since. */
static void side_settled(struct test_pair *p, int side)
{
	assert_int_equal(fi_cancel(&p->s[side].ep->fid, p), -FI_ENOENT);
}

/* Writes and reads; when they are complete the bytes are there. */
static void rma(struct bed *t, size_t max)
{
	struct fid_ep *ep = t->p.s[0].ep;
	struct buf *b = t->b;
	struct fi_cq_tagged_entry e;

	for (uint32_t i = 0; i < 2 * NSIZES; i++) {
		size_t len = sizes[i / 2];
		struct iovec v = { b[0].p, len };
		struct fi_rma_iov r = { 0, len, 11 };
		struct fi_msg_rma m = { &v, &b[0].desc, 1, t->p.s[0].peer, &r, 1, NULL, 0 };

		if (len > max)
			continue;
		buf_fill(&b[i % 2], len, i);
		buf_wipe(&b[!(i % 2)]);
		if (i % 2) /* out of b[1] */
			assert_ok(fi_readmsg(ep, &m, FI_COMPLETION));
		else
			assert_ok(fi_writemsg(ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE));
		test_wait_ok(&t->p, 0, &e);
		side_settled(&t->p, 1); /* its memory was read by the thread that answered */
		buf_check(&b[!(i % 2)], len, i);
	}
}

static void hmem__rma(void **state)
{
	static const unsigned int ends[][2] = { { FI_HMEM_SYSTEM, FI_HMEM_CUDA },
						{ FI_HMEM_CUDA, FI_HMEM_SYSTEM },
						{ FI_HMEM_ROCR, FI_HMEM_ZE } };
	struct bed t;

	(void)state;
	for (unsigned int i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		bed_open(&t, ends[i][0], ends[i][1], true);
		rma(&t, LEN);
		bed_close(&t);
	}
}

/* Losses: repaired out of the stage, and by parity that is computed there. */
static void hmem__losses(void **state)
{
	static const char *const schemes[] = { "sr", "auto", "ec", "hybrid" };
	struct bed t;

	(void)state;
	setenv("FI_SDR_FAULT", "drop=0.02,dup=0.01,reorder=0.02,seed=3", 1);
	for (unsigned int i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		setenv("FI_SDR_RELIABILITY", schemes[i], 1);
		bed_open(&t, FI_HMEM_CUDA, FI_HMEM_CUDA, true);
		messages(&t, i % 2, 2 * MIB);
		rma(&t, LEN);
		bed_close(&t);
	}
	unsetenv("FI_SDR_RELIABILITY");
	unsetenv("FI_SDR_FAULT");
}

/* Injected bytes are copied before the call returns, wherever they lie. */
static void hmem__inject(void **state)
{
	struct fi_cq_tagged_entry e;
	struct bed t;

	(void)state;
	bed_open(&t, FI_HMEM_CUDA, FI_HMEM_CUDA, true);
	for (uint32_t i = 0; i < 6; i++) {
		size_t len = i < 3 ? 8 : t.p.info->tx_attr->inject_size;

		buf_fill(&t.b[0], len, i);
		buf_wipe(&t.b[1]);
		if (i % 3 < 2)
			assert_ok(fi_recv(t.p.s[1].ep, t.b[1].p, len, t.b[1].desc, FI_ADDR_UNSPEC,
					  NULL));
		if (i % 3 == 0)
			assert_ok(fi_inject(t.p.s[0].ep, t.b[0].p, len, t.p.s[0].peer));
		else if (i % 3 == 1)
			assert_ok(fi_injectdata(t.p.s[0].ep, t.b[0].p, len, 5, t.p.s[0].peer));
		else
			assert_ok(fi_inject_writedata(t.p.s[0].ep, t.b[0].p, len, 6, t.p.s[0].peer,
						      0, 11));
		buf_wipe(&t.b[0]);
		test_wait_ok(&t.p, 1, &e);
		buf_check(&t.b[1], len, i);
	}
	bed_close(&t);
}

/* Several messages in one buffer of a device. */
static void hmem__multi_recv(void **state)
{
	static const size_t lens[] = { 100, 70000, 3, 4000 };
	struct fi_cq_tagged_entry e;
	struct iovec v;
	struct fi_msg m = { .msg_iov = &v, .iov_count = 1, .addr = FI_ADDR_UNSPEC };
	size_t at = 0, i;
	struct bed t;

	(void)state;
	bed_open(&t, FI_HMEM_CUDA, FI_HMEM_ZE, true);
	v = (struct iovec){ t.b[1].p, LEN };
	m.desc = &t.b[1].desc;
	assert_ok(fi_recvmsg(t.p.s[1].ep, &m, FI_MULTI_RECV));
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		buf_fill(&t.b[0], lens[i], (uint32_t)i);
		assert_ok(
			fi_send(t.p.s[0].ep, t.b[0].p, lens[i], t.b[0].desc, t.p.s[0].peer, NULL));
		test_wait_ok(&t.p, 1, &e);
		assert_ptr_equal(e.buf, t.b[1].p + at);
		assert_int_equal(e.len, lens[i]);
		buf_get(&t.b[1], scratch, GUARD + at, lens[i]);
		assert_true(test_same(scratch, lens[i], (uint32_t)i));
		at += lens[i];
		buf_use(&t.b[1], GUARD + at);
		test_wait_ok(&t.p, 0, &e);
	}
	bed_close(&t);
}

/* Scattered buffers, inside a datagram and beyond; all pieces lie in one memory. */
static void hmem__pieces(void **state)
{
	static const size_t lens[] = { 300, 300000 };
	struct bed t;

	(void)state;
	bed_open(&t, FI_HMEM_CUDA, FI_HMEM_ROCR, true);
	for (uint32_t i = 0; i < 2; i++) {
		struct iovec out[2] = { { t.b[0].p, lens[i] / 3 },
					{ t.b[0].p + lens[i] / 3, lens[i] - lens[i] / 3 } };
		struct iovec in[2] = { { t.b[1].p, lens[i] / 2 },
				       { t.b[1].p + lens[i] / 2, lens[i] / 2 } };
		void *dout[2] = { t.b[0].desc, t.b[0].desc }, *din[2] = { t.b[1].desc, NULL };
		void *mixed[2] = { t.b[0].desc, t.b[1].desc };

		buf_fill(&t.b[0], lens[i], i);
		buf_wipe(&t.b[1]);
		assert_ok(fi_recvv(t.p.s[1].ep, in, din, 2, FI_ADDR_UNSPEC, NULL));
		assert_ok(fi_sendv(t.p.s[0].ep, out, dout, 2, t.p.s[0].peer, NULL));
		wait_both(&t.p, lens[i]);
		buf_check(&t.b[1], lens[i], i);
		/* and back, by a read */
		buf_wipe(&t.b[0]);
		assert_ok(fi_readv(t.p.s[0].ep, out, dout, 2, t.p.s[0].peer, 0, 11, NULL));
		test_wait_ok(&t.p, 0, &(struct fi_cq_tagged_entry){ 0 });
		buf_check(&t.b[0], lens[i], i);
		if (t.b[0].iface != t.b[1].iface)
			assert_int_equal(fi_sendv(t.p.s[0].ep, out, mixed, 2, t.p.s[0].peer, NULL),
					 -FI_EINVAL);
	}
	bed_close(&t);
}

/* A copy that fails ends its operation with an error, here or there, and no other. */
static void hmem__copies_fail(void **state)
{
	static const size_t lens[] = { 100, 300000, 4 * MIB };
	struct fi_cq_err_entry err;
	struct fi_cq_tagged_entry e;
	struct bed t;

	(void)state;
	if (!far_fail(0))
		skip();
	far_fail(-1);
	bed_open(&t, FI_HMEM_SYSTEM, FI_HMEM_CUDA, true);
	for (unsigned int i = 0; i < 3; i++) {
		/* in, by a receive */
		assert_ok(
			fi_recv(t.p.s[1].ep, t.b[1].p, lens[i], t.b[1].desc, FI_ADDR_UNSPEC, NULL));
		far_fail(i == 2 ? 1 : 0);
		assert_ok(fi_send(t.p.s[0].ep, t.b[0].p, lens[i], NULL, t.p.s[0].peer, NULL));
		test_wait_err(&t.p, 1, &err);
		assert_int_equal(err.err, FI_EIO);
		assert_int_equal(err.len, 0);
		far_fail(-1);
		if (lens[i] > 1000) { /* else it had arrived */
			test_wait_err(&t.p, 0, &err);
			assert_int_equal(err.err, FI_EIO);
		} else {
			test_wait_ok(&t.p, 0, &e);
		}
		/* in, by a write, and out, by a read */
		far_fail(i == 2 ? 1 : 0);
		assert_ok(
			fi_write(t.p.s[0].ep, t.b[0].p, lens[i], NULL, t.p.s[0].peer, 0, 11, NULL));
		test_wait_err(&t.p, 0, &err);
		assert_int_equal(err.err, FI_EIO);
		far_fail(-1);
		assert_ok(
			fi_write(t.p.s[0].ep, t.b[0].p, lens[i], NULL, t.p.s[0].peer, 0, 11, NULL));
		test_wait_ok(&t.p, 0, &e);
	}
	/* out of a region, inside a datagram */
	far_fail(0);
	assert_ok(fi_read(t.p.s[0].ep, t.b[0].p, 100, NULL, t.p.s[0].peer, 0, 11, NULL));
	test_wait_err(&t.p, 0, &err);
	assert_int_equal(err.err, FI_EIO);
	/* out, of a buffer: what is injected fails in the call */
	assert_int_equal(fi_inject(t.p.s[1].ep, t.b[1].p, 8, t.p.s[1].peer), -FI_EIO);
	assert_ok(fi_send(t.p.s[1].ep, t.b[1].p, 100, t.b[1].desc, t.p.s[1].peer, NULL));
	test_wait_err(&t.p, 1, &err);
	assert_int_equal(err.err, FI_EIO);
	far_fail(-1);
	bed_close(&t);
}

/* A bulk of a device that fails half-way ends the connection on both sides; the next one opens. */
static void hmem__bulk_out_fails(void **state)
{
	struct fi_cq_err_entry err;
	struct bed t;

	(void)state;
	if (!far_fail(0))
		skip();
	far_fail(-1);
	bed_open(&t, FI_HMEM_CUDA, FI_HMEM_SYSTEM, true);
	messages(&t, false, 5000);
	assert_ok(fi_recv(t.p.s[1].ep, t.b[1].p, LEN, NULL, FI_ADDR_UNSPEC, NULL));
	far_fail(2);
	assert_ok(fi_send(t.p.s[0].ep, t.b[0].p, LEN, t.b[0].desc, t.p.s[0].peer, NULL));
	test_wait_err(&t.p, 0, &err);
	assert_int_equal(err.err, FI_EIO);
	far_fail(-1);
	test_wait_err(&t.p, 1, &err);
	messages(&t, false, LEN);
	bed_close(&t);
}

/* What moves is copied in pieces, while the rest travels, and through memory that is pinned. */
static void hmem__pipelined(void **state)
{
	struct far_stats a, b;
	struct bed t;

	(void)state;
	bed_open(&t, FI_HMEM_CUDA, FI_HMEM_CUDA, true);
	if (!far_stats(&a))
		skip();
	assert_int_equal(a.pinned, 0);
	messages(&t, false, LEN);
	far_stats(&b);
	assert_true(b.pinned > 0);
	assert_true(b.copies - a.copies > 2 * 2 * LEN / MIB);
	assert_true(b.largest < LEN / 2);
	bed_close(&t);
	far_stats(&b);
	assert_int_equal(b.pinned, 0);
}

/* Regions: by what the call says, by the pointer, by a dma-buf's address. */
static void hmem__regions(void **state)
{
	struct {
		int fd;
		uint64_t offset;
		size_t len;
		void *base;
	} dma = { -1, GUARD, 4096, NULL };
	struct fi_mr_attr attr = { .mr_iov = (const struct iovec *)(const void *)&dma,
				   .iov_count = 1,
				   .access = FI_REMOTE_WRITE,
				   .requested_key = 12,
				   .iface = FI_HMEM_CUDA };
	struct fi_cq_tagged_entry e;
	struct fid_mr *mr;
	struct bed t;

	(void)state;
	bed_open(&t, FI_HMEM_SYSTEM, FI_HMEM_CUDA, true);
	assert_int_equal(fi_mr_regattr(t.p.domain, &attr, 1ULL << 40, &mr), -FI_ENOSYS);
	dma.base = t.b[1].mem;
	assert_ok(fi_mr_regattr(t.p.domain, &attr, 1ULL << 40, &mr));
	buf_fill(&t.b[0], 4096, 1);
	assert_ok(fi_write(t.p.s[0].ep, t.b[0].p, 4096, NULL, t.p.s[0].peer, 0, 12, NULL));
	test_wait_ok(&t.p, 0, &e);
	buf_check(&t.b[1], 4096, 1);
	assert_ok(fi_close(&mr->fid));

	assert_ok(fi_mr_reg(t.p.domain, t.b[1].p, LEN, FI_REMOTE_WRITE, 0, 12, 0, &mr, NULL));
	buf_fill(&t.b[0], 100000, 2);
	assert_ok(fi_write(t.p.s[0].ep, t.b[0].p, 100000, NULL, t.p.s[0].peer, 0, 12, NULL));
	test_wait_ok(&t.p, 0, &e);
	buf_check(&t.b[1], 100000, 2);
	assert_ok(fi_close(&mr->fid));

	attr.mr_iov = &(struct iovec){ t.b[1].p, LEN };
	attr.device.cuda = far_device_none();
	assert_int_equal(fi_mr_regattr(t.p.domain, &attr, 0, &mr), -FI_EINVAL);
	attr.iface = FI_HMEM_NEURON;
	assert_int_equal(fi_mr_regattr(t.p.domain, &attr, 0, &mr), -FI_ENOSYS);
	bed_close(&t);
}

/* A region that closes takes its device's memory from peers: from a write of more than a second. */
static void hmem__revoked(void **state)
{
	struct fi_cq_err_entry err;
	struct bed t;

	(void)state;
	setenv("FI_SDR_RATE_MAX", "100mbit", 1);
	bed_open(&t, FI_HMEM_SYSTEM, FI_HMEM_CUDA, true);
	unsetenv("FI_SDR_RATE_MAX");
	assert_ok(fi_write(t.p.s[0].ep, t.b[0].p, LEN, NULL, t.p.s[0].peer, 0, 11, NULL));
	for (int i = 0; i < 20; i++) {
		fi_cq_read(t.p.s[0].cq, NULL, 0);
		fi_cq_read(t.p.s[1].cq, NULL, 0);
	}
	assert_ok(fi_close(&t.b[1].mr->fid));
	t.b[1].mr = NULL;
	buf_wipe(&t.b[1]);
	test_wait_err(&t.p, 0, &err);
	assert_int_equal(err.err, FI_EACCES);
	buf_check(&t.b[1], 0, 0);
	bed_close(&t);
}

#define GETS(set, cond)                                                         \
	do {                                                                    \
		struct fi_info *h = test_hints(FI_EP_RDM, CAPS), *info;         \
		set;                                                            \
		info = test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, h); \
		assert_non_null(info);                                          \
		assert_true(cond);                                              \
		fi_freeinfo(info);                                              \
		fi_freeinfo(h);                                                 \
	} while (0)

/*
 * Atomics whose operands, compare values and results lie in b[0], and their target in b[1]: large
 * ones, so that they go in parts.  Numbers of 64 bits, of 16 bytes, and small floats.
 */
static void hmem__atomics(void **state)
{
	enum { N = 1000 };
	static const unsigned int ends[][2] = { { FI_HMEM_SYSTEM, FI_HMEM_CUDA },
						{ FI_HMEM_ROCR, FI_HMEM_SYSTEM },
						{ FI_HMEM_ZE, FI_HMEM_ROCR } };
	static uint64_t was[N], in[N], cmp[N], got[N];
	struct fi_cq_tagged_entry e;
	uint16_t halves[4] = { 0x3c00, 0x4000, 0x4200, 0x4400 }, sums[4]; /* 1 2 3 4 */
	struct bed t;

	(void)state;
	for (unsigned int k = 0; k < sizeof(ends) / sizeof(ends[0]); k++) {
		struct fid_ep *ep;
		fi_addr_t to;
		uint8_t *op, *with, *res;
		void *desc;

		bed_open(&t, ends[k][0], ends[k][1], k != 1);
		if (!t.b[1].mr) /* the key has to come from somewhere */
			assert_ok(fi_mr_reg(t.p.domain, t.b[1].p, LEN,
					    FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 11, 0, &t.b[1].mr,
					    NULL));
		ep = t.p.s[0].ep;
		to = t.p.s[0].peer;
		desc = t.b[0].desc;
		op = t.b[0].p;
		with = op + sizeof(in);
		res = with + sizeof(cmp);
		for (uint64_t i = 0; i < N; i++) {
			was[i] = i * 3;
			in[i] = i << 32;
			cmp[i] = i % 2 ? was[i] + in[i] : 0;
		}
		buf_set(&t.b[1], was, GUARD, sizeof(was));
		buf_set(&t.b[0], in, GUARD, sizeof(in));
		buf_set(&t.b[0], cmp, GUARD + sizeof(in), sizeof(cmp));
		buf_use(&t.b[0], GUARD + sizeof(in) + sizeof(cmp) + sizeof(got));
		/* sum, then swap every other one, then read */
		assert_ok(fi_atomic(ep, op, N, desc, to, 0, 11, FI_UINT64, FI_SUM, NULL));
		test_wait_ok(&t.p, 0, &e);
		assert_ok(fi_compare_atomic(ep, op, N, desc, with, desc, res, desc, to, 0, 11,
					    FI_UINT64, FI_CSWAP, NULL));
		test_wait_ok(&t.p, 0, &e);
		buf_get(&t.b[0], got, GUARD + sizeof(in) + sizeof(cmp), sizeof(got));
		for (uint64_t i = 0; i < N; i++)
			assert_int_equal(got[i], was[i] + in[i]);
		assert_ok(fi_fetch_atomic(ep, NULL, N, NULL, res, desc, to, 0, 11, FI_UINT64,
					  FI_ATOMIC_READ, NULL));
		test_wait_ok(&t.p, 0, &e);
		buf_get(&t.b[0], got, GUARD + sizeof(in) + sizeof(cmp), sizeof(got));
		for (uint64_t i = 1; i < N; i++)
			assert_int_equal(got[i], i % 2 ? in[i] : was[i] + in[i]);
		/* wide, and injected from the host */
		buf_get(&t.b[1], was, GUARD, 16);
		assert_ok(fi_fetch_atomic(ep, op, 1, desc, res, desc, to, 0, 11, FI_UINT128,
					  FI_ATOMIC_WRITE, NULL));
		test_wait_ok(&t.p, 0, &e);
		buf_get(&t.b[0], got, GUARD + sizeof(in) + sizeof(cmp), 16);
		assert_memory_equal(got, was, 16);
		buf_get(&t.b[1], got, GUARD, 16);
		assert_memory_equal(got, in, 16);
		buf_set(&t.b[1], halves, GUARD, sizeof(halves));
		assert_ok(fi_inject_atomic(ep, halves, 4, to, 0, 11, (enum fi_datatype)16, FI_SUM));
		assert_ok(fi_fetch_atomic(ep, NULL, 4, NULL, sums, NULL, to, 0, 11,
					  (enum fi_datatype)16, FI_ATOMIC_READ, NULL));
		test_wait_ok(&t.p, 0, &e);
		for (int i = 0; i < 4; i++)
			assert_int_equal(sums[i], halves[i] + 0x400); /* twice as much */
		/* nothing beside it */
		buf_get(&t.b[1], scratch, 0, WHOLE);
		got_nothing_beside(sizeof(was), WHOLE);
		assert_int_equal(fi_atomic(ep, op, 1, desc, to, 4, 11, FI_UINT64, FI_SUM, NULL), 0);
		test_wait_err(&t.p, 0, &(struct fi_cq_err_entry){ 0 }); /* not aligned */
		bed_close(&t);
	}
}

/* A way there, or back, that a driver does not go: an error, no answer, and the next one works. */
static void hmem__atomics_fail(void **state)
{
	uint64_t one = 1, old = 77;
	struct fi_cq_err_entry err;
	struct fi_cq_tagged_entry e;
	struct bed t;

	(void)state;
	if (!far_fail(0))
		skip();
	far_fail(-1);
	bed_open(&t, FI_HMEM_SYSTEM, FI_HMEM_CUDA, true);
	buf_set(&t.b[1], &(uint64_t){ 5 }, GUARD, 8);
	for (int fetch = 0; fetch < 2; fetch++) {
		for (int n = 0; n < 2; n++) {
			far_fail(n);
			if (fetch)
				assert_ok(fi_fetch_atomic(t.p.s[0].ep, &one, 1, NULL, &old, NULL,
							  t.p.s[0].peer, 0, 11, FI_UINT64, FI_SUM,
							  NULL));
			else
				assert_ok(fi_atomic(t.p.s[0].ep, &one, 1, NULL, t.p.s[0].peer, 0,
						    11, FI_UINT64, FI_SUM, NULL));
			test_wait_err(&t.p, 0, &err);
			assert_int_equal(err.err, FI_EIO);
			assert_int_equal(old, 77);
			far_fail(-1);
		}
	}
	assert_ok(fi_fetch_atomic(t.p.s[0].ep, &one, 1, NULL, &old, NULL, t.p.s[0].peer, 0, 11,
				  FI_UINT64, FI_SUM, NULL));
	test_wait_ok(&t.p, 0, &e);
	assert_int_equal(old, 5);
	/* results that cannot be brought home; the target has changed */
	buf_close(&t.b[0]);
	buf_open(&t.b[0], &t.p, FI_HMEM_CUDA, true, 10);
	far_fail(2);
	assert_ok(fi_fetch_atomic(t.p.s[0].ep, &one, 1, NULL, t.b[0].p, t.b[0].desc, t.p.s[0].peer,
				  0, 11, FI_UINT64, FI_SUM, NULL));
	test_wait_err(&t.p, 0, &err);
	assert_int_equal(err.err, FI_EIO);
	far_fail(-1);
	buf_get(&t.b[1], &old, GUARD, 8);
	assert_int_equal(old, 7);
	bed_close(&t);
}

/* Granted to who asks, with the mode that saves asking drivers; options say what is copied how. */
static void hmem__granted(void **state)
{
	struct fi_info *bad;
	bool permitted = false;
	struct bed t;

	(void)state;
	GETS(, info->caps & FI_HMEM && info->tx_attr->caps & FI_HMEM &&
		       info->rx_attr->caps & FI_HMEM);
	GETS(h->caps = 0, !(info->caps & FI_HMEM));
	GETS(h->caps = FI_MSG, !(info->caps & FI_HMEM));
	GETS(h->domain_attr->mr_mode = FI_MR_HMEM | FI_MR_LOCAL,
	     info->domain_attr->mr_mode == FI_MR_HMEM);
	GETS(h->domain_attr->mr_mode = FI_MR_HMEM;
	     h->caps &= ~FI_HMEM, info->domain_attr->mr_mode == 0);
	bad = test_hints(FI_EP_DGRAM, FI_MSG | FI_HMEM);
	assert_null(test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, bad));
	fi_freeinfo(bad);

	bed_open(&t, FI_HMEM_SYSTEM, FI_HMEM_SYSTEM, true);
	messages(&t, false, MIB); /* memory of the host as ever */
	/* Who forbids CUDA's calls is told that there is no other way. */
	assert_int_equal(
		fi_setopt(&t.p.s[0].ep->fid, FI_OPT_ENDPOINT, 10, &permitted, sizeof(permitted)),
		-FI_EOPNOTSUPP);
	permitted = true;
	assert_ok(fi_setopt(&t.p.s[0].ep->fid, FI_OPT_ENDPOINT, 10, &permitted, sizeof(permitted)));
	bed_close(&t);
}

static int drivers_reset(void **state)
{
	(void)state;
	far_fail(-1);
	unsetenv("FI_SDR_FAULT");
	unsetenv("FI_SDR_RELIABILITY");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(hmem__granted, drivers_reset),
		cmocka_unit_test_teardown(hmem__messages, drivers_reset),
		cmocka_unit_test_teardown(hmem__unexpected, drivers_reset),
		cmocka_unit_test_teardown(hmem__rma, drivers_reset),
		cmocka_unit_test_teardown(hmem__inject, drivers_reset),
		cmocka_unit_test_teardown(hmem__multi_recv, drivers_reset),
		cmocka_unit_test_teardown(hmem__pieces, drivers_reset),
		cmocka_unit_test_teardown(hmem__copies_fail, drivers_reset),
		cmocka_unit_test_teardown(hmem__bulk_out_fails, drivers_reset),
		cmocka_unit_test_teardown(hmem__pipelined, drivers_reset),
		cmocka_unit_test_teardown(hmem__regions, drivers_reset),
		cmocka_unit_test_teardown(hmem__revoked, drivers_reset),
		cmocka_unit_test_teardown(hmem__atomics, drivers_reset),
		cmocka_unit_test_teardown(hmem__atomics_fail, drivers_reset),
		cmocka_unit_test_teardown(hmem__losses, drivers_reset),
	};
	const char *why = far_open();
	int ret;

	if (why) {
		printf("skipped: %s\n", why);
		return 77;
	}
	test_env();
	drivers_reset(NULL);
	scratch = malloc(WHOLE);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	free(scratch);
	return ret;
}
