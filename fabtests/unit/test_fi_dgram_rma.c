/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_RMA on datagram endpoints: unreliable writes that bitmaps tell of; what peers may not do; and
 * strangers who speak the protocol themselves (a socket of the test's own).
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/sdr_dgram_msg.h"
#include "wire/sdr_wire.h"

#include "test_fi_util.h"

#define LEN   (4u << 20) /* bytes of the region */
#define GUARD 4096u
#define QKEY  0x80010000u /* of control datagrams */
#define CAPS  (FI_MSG | FI_RMA | FI_WRITE | FI_REMOTE_WRITE | FI_RMA_EVENT | FI_SOURCE)

struct bed {
	struct test_pair p;
	struct fi_sdr_ep_ops_1 *ops;
	uint8_t *mem, *to, *tx; /* GUARD, LEN, GUARD */
	struct fid_mr *mr;
	uint64_t key, addr;
	char ctx;
};

static const struct test_opts defaults = { .type = FI_EP_DGRAM, .caps = CAPS };

static void bed_open(struct bed *b, const struct test_opts *o, const char *fault)
{
	memset(b, 0, sizeof(*b));
	if (fault)
		setenv("FI_SDR_FAULT", fault, 1);
	test_pair_open(&b->p, o);
	unsetenv("FI_SDR_FAULT");
	assert_ok(fi_open_ops(&b->p.s[0].ep->fid, FI_SDR_EP_OPS_1, 0, (void **)&b->ops, NULL));
	assert_true(FI_SDR_HAS_OP(b->ops, rma_stats));
	b->mem = malloc(LEN + 2 * GUARD);
	memset(b->mem, 0xa5, LEN + 2 * GUARD);
	b->to = b->mem + GUARD;
	b->tx = malloc(LEN);
	test_fill(b->tx, LEN, 1);
	assert_ok(fi_mr_reg(b->p.domain, b->to, LEN, FI_REMOTE_WRITE, 0, 77, 0, &b->mr, NULL));
	b->key = fi_mr_key(b->mr);
	b->addr = b->p.info->domain_attr->mr_mode & (FI_MR_BASIC | FI_MR_VIRT_ADDR)
			  ? (uint64_t)(uintptr_t)b->to
			  : 0;
}

static void bed_close(struct bed *b)
{
	if (b->mr)
		assert_ok(fi_close(&b->mr->fid));
	test_pair_close(&b->p);
	for (uint32_t i = 0; i < GUARD; i++)
		assert_true(b->mem[i] == 0xa5 && b->mem[GUARD + LEN + i] == 0xa5);
	free(b->mem);
	free(b->tx);
}

static struct fi_sdr_rma_stats stats_of(struct bed *b, int k)
{
	struct fi_sdr_rma_stats s = { .size = sizeof(s) };

	assert_ok(b->ops->rma_stats(b->p.s[k].ep, &s));
	return s;
}

static void tell(struct bed *b, uint64_t flags)
{
	struct fi_sdr_notify how = { sizeof(how), flags, &b->ctx };

	assert_ok(b->ops->rma_notify(b->p.s[1].ep, &how));
}

static void put(struct bed *b, uint64_t off, uint64_t len, void *context)
{
	ssize_t ret;

	do {
		ret = fi_write(b->p.s[0].ep, b->tx + off, len, NULL, b->p.s[0].peer, b->addr + off,
			       b->key, context);
		fi_cq_read(b->p.s[1].cq, NULL, 0);
	} while (ret == -FI_EAGAIN);
	assert_ok(ret);
}

static void rounds(struct bed *b, int n)
{
	while (n--) {
		b->ops->progress(b->p.s[0].ep);
		b->ops->progress(b->p.s[1].ep);
	}
}

/* ---- what arrives ---------------------------------------------------------------------------- */

static void write__whole(void **state)
{
	static const size_t len[] = { 0, 1, 1000, 3900, 4000, 4040, 4096, 9000, 100001, LEN };
	static const int modes[] = { 0, FI_MR_VIRT_ADDR | FI_MR_PROV_KEY };

	(void)state;
	for (int m = 0; m < 2; m++) {
		struct test_opts o = defaults;
		struct fi_cq_tagged_entry e;
		struct fi_sdr_rma_stats st;
		fi_addr_t src;
		struct bed b;

		o.mr_mode = modes[m];
		o.cntrs = true;
		bed_open(&b, &o, NULL);
		for (size_t i = 0; i < sizeof(len) / sizeof(*len); i++) {
			memset(b.to, 0xa5, LEN);
			assert_ok(fi_writedata(b.p.s[0].ep, b.tx, len[i], NULL, 1000 + i,
					       b.p.s[0].peer, b.addr, b.key, &e));
			assert_int_equal(test_wait(&b.p, 1, &e, &src), 1);
			assert_int_equal(e.flags, FI_REMOTE_WRITE | FI_RMA | FI_REMOTE_CQ_DATA);
			assert_true(e.data == 1000 + i && e.len == len[i] && e.buf == b.to);
			assert_int_equal(src, b.p.s[1].peer);
			assert_true(test_same(b.to, len[i], 1));
			assert_true(len[i] == LEN || b.to[len[i]] == 0xa5);
			test_wait_ok(&b.p, 0, &e);
			assert_int_equal(e.flags, FI_WRITE | FI_RMA);
			assert_ptr_equal(e.op_context, &e);
			assert_int_equal(fi_cntr_read(b.p.s[1].rwrite), i + 1);
			assert_int_equal(fi_cntr_read(b.p.s[0].write), i + 1);
		}
		/* injected, its bytes are the caller's at once; without data nobody is told */
		memset(b.to, 0xa5, LEN);
		b.tx[0] = 7;
		assert_ok(fi_inject_write(b.p.s[0].ep, b.tx, 100, b.p.s[0].peer, b.addr, b.key));
		b.tx[0] = 8;
		while (fi_cntr_read(b.p.s[1].rwrite) < 11)
			rounds(&b, 1);
		assert_int_equal(b.to[0], 7);
		test_quiet(&b.p, 1, 10);
		test_quiet(&b.p, 0, 10);
		st = stats_of(&b, 1);
		assert_true(st.writes_rx == 11 && st.whole == 11 && !st.part && !st.lost &&
			    !st.refused && st.links == 1);
		assert_int_equal(stats_of(&b, 0).writes_tx, 11);
		bed_close(&b);
	}
}

/* A bitmap for each write, over losses: what it says is there is, and nothing else was touched. */
static void write__holes(void **state)
{
	enum { N = 24, ONE = LEN / N / 4096 * 4096 };
	static uint64_t bits[64];
	struct test_opts o = defaults;
	uint32_t seen = 0, overs = 0, wholes = 0, sents = 0;
	struct fi_cq_tagged_entry e;
	struct fi_sdr_rma_stats st;
	uint64_t ids[N + 1], end = test_now_s() + TEST_GUARD_S;
	struct bed b;
	int n;

	(void)state;
	o.progress = FI_PROGRESS_MANUAL;
	bed_open(&b, &o, "drop=0.03,seed=11");
	tell(&b, FI_SDR_TELL_CQ | FI_SDR_TELL_PACKETS);
	for (uint64_t i = 0; i < N; i++) {
		put(&b, i * ONE, ONE, NULL);
		rounds(&b, 20);
	}
	for (int quiet = 0; quiet < 500; quiet++) {
		rounds(&b, 1);
		while (fi_cq_read(b.p.s[1].cq, &e, 1) == 1) {
			assert_true(e.flags & FI_SDR_BITMAP);
			assert_true((e.flags & (FI_REMOTE_WRITE | FI_RMA)) ==
				    (FI_REMOTE_WRITE | FI_RMA));
			assert_true(e.op_context == &b.ctx && e.len <= ONE);
			assert_true(!(e.flags & FI_SDR_WHOLE) || (e.flags & FI_SDR_OVER));
			overs += (e.flags & FI_SDR_OVER) != 0;
			wholes += (e.flags & FI_SDR_WHOLE) != 0;
			sents += (e.flags & FI_SDR_SENT) != 0;
			quiet = 0;
		}
		assert_true(test_now_s() < end);
	}
	st = stats_of(&b, 1);
	n = b.ops->rma_list(b.p.s[1].ep, ids, N);
	assert_true(n > 0 && n <= N && n + (int)st.whole == (int)st.writes_rx);
	assert_true(st.whole == wholes && overs == wholes && sents >= (uint32_t)n / 2);
	for (int i = 0; i < n; i++) {
		struct fi_sdr_view v = { .size = sizeof(v), .bits = bits, .words = 64 };
		const uint8_t *tx;

		assert_ok(b.ops->rma_view(b.p.s[1].ep, ids[i], &v));
		assert_true(v.len == ONE && v.tag == ids[i] && v.key == b.key);
		assert_true(v.arrived < ONE && v.total <= 64 * 64);
		tx = b.tx + ((const uint8_t *)v.buf - b.to);
		for (uint64_t k = 0; k < v.total; k++) {
			uint64_t lo = k * v.unit, len = ONE - lo < v.unit ? ONE - lo : v.unit;
			const uint8_t *at = (const uint8_t *)v.buf + lo;

			if (bits[k / 64] >> k % 64 & 1) {
				assert_memory_equal(at, tx + lo, len);
				continue;
			}
			seen++;
			for (uint64_t j = 0; j < len; j++)
				assert_int_equal(at[j], 0xa5);
		}
		assert_ok(b.ops->rma_end(b.p.s[1].ep, ids[i]));
		assert_int_equal(b.ops->rma_end(b.p.s[1].ep, ids[i]), -FI_ENOENT);
		assert_int_equal(b.ops->rma_view(b.p.s[1].ep, ids[i], &v), -FI_ENOENT);
	}
	assert_true(seen > 0);
	assert_int_equal(b.ops->rma_list(b.p.s[1].ep, NULL, 0), 0);
	test_quiet(&b.p, 1, 50);
	assert_int_equal(stats_of(&b, 1).part, n);
	/* nobody asks any more: each ends when it was sent, and the next ones are as ever */
	assert_ok(b.ops->rma_notify(b.p.s[1].ep, NULL));
	for (uint64_t i = 0; i < N; i++) {
		put(&b, i * ONE, ONE, NULL);
		rounds(&b, 20);
	}
	rounds(&b, 300);
	assert_true(b.ops->rma_list(b.p.s[1].ep, ids, N) <= 1);
	st = stats_of(&b, 1);
	assert_true(st.writes_rx + st.lost <= 2 * N && st.whole > wholes);
	bed_close(&b);
}

/* Each write is told of at its end exactly once, also when the queue is full. */
static void write__told_once(void **state)
{
	enum { N = 1500, ONE = 8192 };
	static uint8_t over[4 * N];
	struct test_opts o = defaults;
	struct fi_cq_tagged_entry e;
	struct fi_sdr_rma_stats st;
	uint32_t n = 0;
	struct bed b;

	(void)state;
	memset(over, 0, sizeof(over));
	o.progress = FI_PROGRESS_MANUAL;
	bed_open(&b, &o, "drop=0.02,seed=5");
	tell(&b, FI_SDR_TELL_CQ);
	for (uint64_t i = 0; i < N; i++) {
		while (fi_write(b.p.s[0].ep, b.tx, ONE, NULL, b.p.s[0].peer, b.addr + i % 64 * ONE,
				b.key, NULL) == -FI_EAGAIN)
			rounds(&b, 1);
		rounds(&b, 2);
		fi_cq_read(b.p.s[0].cq, &e, 1);
	}
	rounds(&b, 300);
	while (fi_cq_read(b.p.s[1].cq, &e, 1) == 1) {
		assert_true(e.tag < 4 * N && !over[e.tag]);
		over[e.tag] = (e.flags & FI_SDR_OVER) != 0;
		n += over[e.tag];
	}
	st = stats_of(&b, 1);
	assert_true(st.writes_rx > N / 2 && st.lost > 0);
	assert_int_equal(st.whole + st.part, n);
	assert_int_equal(b.ops->rma_list(b.p.s[1].ep, NULL, 0), st.writes_rx - n);
	bed_close(&b);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void write__outside(void **state)
{
	struct test_opts o = defaults;
	struct fid_mr *reads;
	uint8_t other[8192];
	struct bed b;
	uint32_t n = 0;

	(void)state;
	o.progress = FI_PROGRESS_MANUAL;
	bed_open(&b, &o, NULL);
	memset(other, 0xa5, sizeof(other));
	assert_ok(fi_mr_reg(b.p.domain, other, sizeof(other), FI_REMOTE_READ, 0, 78, 0, &reads,
			    NULL));
	for (int big = 0; big < 2; big++) {
		size_t len = big ? 20000 : 100;
		const struct {
			uint64_t addr, key;
		} bad[] = { { 0, 79 },
			    { 0, 78 },
			    { LEN - len + 1, 77 },
			    { LEN, 77 },
			    { UINT64_MAX - 5, 77 },
			    { UINT64_MAX - len + 1, 77 },
			    { 1ull << 63, 77 } };

		for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
			assert_ok(fi_write(b.p.s[0].ep, b.tx, len, NULL, b.p.s[0].peer, bad[i].addr,
					   bad[i].key, NULL));
			n++;
			while (stats_of(&b, 1).writes_rx < n)
				rounds(&b, 1);
			rounds(&b, 20);
			assert_int_equal(stats_of(&b, 1).refused, n);
		}
	}
	for (uint32_t i = 0; i < LEN; i++)
		assert_int_equal(b.to[i], 0xa5);
	for (uint32_t i = 0; i < sizeof(other); i++)
		assert_int_equal(other[i], 0xa5);
	/* and after all that it works */
	put(&b, 0, LEN, NULL);
	while (stats_of(&b, 1).whole < 1)
		rounds(&b, 1);
	assert_true(test_same(b.to, LEN, 1));
	assert_ok(fi_close(&reads->fid));
	bed_close(&b);
}

/* A region that is closed while it is written to: not a byte afterwards. */
static void write__region_closes(void **state)
{
	struct test_opts o = defaults;
	struct fi_cq_tagged_entry e = { .flags = 0 };
	uint8_t *copy = malloc(LEN);
	uint64_t id;
	struct bed b;

	(void)state;
	o.progress = FI_PROGRESS_MANUAL;
	setenv("FI_SDR_RATE", "1gbit", 1);
	setenv("FI_SDR_CC", "fixed", 1);
	bed_open(&b, &o, NULL);
	unsetenv("FI_SDR_RATE");
	unsetenv("FI_SDR_CC");
	tell(&b, FI_SDR_TELL_CQ);
	put(&b, 0, LEN, NULL);
	while (b.ops->rma_list(b.p.s[1].ep, &id, 1) != 1 || fi_cq_read(b.p.s[1].cq, &e, 1) != 1)
		rounds(&b, 1);
	assert_false(e.flags & FI_SDR_OVER);
	assert_ok(fi_close(&b.mr->fid));
	b.mr = NULL;
	memcpy(copy, b.to, LEN);
	assert_int_equal(b.ops->rma_list(b.p.s[1].ep, NULL, 0), 0);
	while (!(e.flags & FI_SDR_OVER))
		assert_true(fi_cq_read(b.p.s[1].cq, &e, 1) == 1);
	assert_true(e.tag == id && !(e.flags & FI_SDR_WHOLE) && e.len < LEN);
	test_wait_ok(&b.p, 0, &e);
	rounds(&b, 200);
	assert_memory_equal(copy, b.to, LEN);
	test_quiet(&b.p, 1, 20);
	/* the key opens nothing */
	put(&b, 0, 100, NULL);
	put(&b, 0, 10000, NULL);
	while (stats_of(&b, 1).refused < 2)
		rounds(&b, 1);
	assert_memory_equal(copy, b.to, LEN);
	bed_close(&b);
	free(copy);
}

static void write__calls(void **state)
{
	struct test_opts o = defaults;
	struct fi_sdr_notify how = { sizeof(how), FI_SDR_TELL_CNTR, NULL };
	struct fi_sdr_view v = { .size = sizeof(v) };
	struct fi_rma_iov rv = { .len = 10, .key = 77 };
	char buf[2000];
	struct iovec iov[2] = { { buf, 10 }, { buf, 10 } };
	struct fi_msg_rma m = {
		.msg_iov = iov, .iov_count = 1, .rma_iov = &rv, .rma_iov_count = 1
	};
	struct fid_ep *ep;
	struct fi_info *h;
	struct bed b;

	(void)state;
	bed_open(&b, &o, NULL);
	ep = b.p.s[0].ep;
	m.addr = b.p.s[0].peer;
	assert_int_equal(fi_read(ep, buf, 10, NULL, m.addr, 0, 77, NULL), -FI_EOPNOTSUPP);
	assert_int_equal(fi_readmsg(ep, &m, 0), -FI_EOPNOTSUPP);
	assert_int_equal(fi_writemsg(ep, &m, FI_DELIVERY_COMPLETE), -FI_EOPNOTSUPP);
	assert_int_equal(fi_writemsg(ep, &m, FI_FENCE), -FI_EOPNOTSUPP);
	assert_int_equal(fi_writev(ep, iov, NULL, 2, m.addr, 0, 77, NULL), -FI_EINVAL);
	assert_int_equal(fi_write(ep, buf, 10, NULL, 99, 0, 77, NULL), -FI_EADDRNOTAVAIL);
	assert_int_equal(fi_write(ep, buf, (1ull << 30) + 1, NULL, m.addr, 0, 77, NULL),
			 -FI_EMSGSIZE);
	assert_int_equal(fi_inject_write(ep, buf, sizeof(buf), m.addr, 0, 77), -FI_EMSGSIZE);
	rv.len = 11;
	assert_int_equal(fi_writemsg(ep, &m, 0), -FI_EINVAL);
	assert_int_equal(b.ops->rma_notify(ep, &how), -FI_ENOCQ);
	how.flags = 0;
	assert_int_equal(b.ops->rma_notify(ep, &how), -FI_EINVAL);
	assert_int_equal(b.ops->rma_view(ep, 1, &v), -FI_ENOENT);
	assert_int_equal(b.ops->rma_view(ep, 1, NULL), -FI_EINVAL);
	v.first = 1;
	assert_int_equal(b.ops->rma_view(ep, 1, &v), -FI_EINVAL);
	assert_int_equal(b.ops->rma_end(ep, 1), -FI_ENOENT);
	assert_int_equal(b.ops->rma_list(ep, NULL, 1), -FI_EINVAL);
	assert_int_equal(b.p.info->tx_attr->rma_iov_limit, 1);
	assert_true((b.p.info->caps & CAPS) == CAPS);
	assert_false(b.p.info->caps & (FI_READ | FI_REMOTE_READ));
	bed_close(&b);
	/* reads are not offered, and what nobody asks for is not there */
	h = test_hints(FI_EP_DGRAM, FI_MSG | FI_RMA);
	assert_null(test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, h));
	h->caps |= FI_READ;
	assert_null(test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, h));
	fi_freeinfo(h);
	o.caps = 0;
	test_pair_open(&b.p, &o);
	assert_false(b.p.info->caps & FI_RMA);
	ep = b.p.s[0].ep;
	assert_int_equal(fi_write(ep, buf, 1, NULL, b.p.s[0].peer, 0, 1, NULL), -FI_ENOSYS);
	assert_int_equal(b.ops->rma_end(ep, 1), -FI_EOPNOTSUPP);
	test_pair_close(&b.p);
}

/* ---- peers that are not there ---------------------------------------------------------------- */

static struct fid_ep *ep_at(struct bed *b, struct fid_cq *cq, uint64_t caps, const void *name,
			    size_t len)
{
	struct fi_info *i = fi_dupinfo(b->p.info);
	struct fid_ep *ep;

	i->caps = caps;
	assert_ok(fi_endpoint(b->p.domain, i, &ep, NULL));
	assert_ok(fi_ep_bind(ep, &b->p.av->fid, 0));
	assert_ok(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	if (name)
		assert_ok(fi_setname(&ep->fid, (void *)(uintptr_t)name, len));
	assert_ok(fi_enable(ep));
	fi_freeinfo(i);
	return ep;
}

static void write__nobody(void **state)
{
	struct sockaddr_in nobody = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct test_opts o = defaults;
	struct fi_cq_err_entry err;
	struct fi_cq_tagged_entry e;
	fi_addr_t to;
	struct bed b;

	(void)state;
	setenv("FI_SDR_TIMEOUT", "1000", 1);
	bed_open(&b, &o, NULL);
	unsetenv("FI_SDR_TIMEOUT");
	/* one without FI_RMA says so */
	test_side_close(&b.p.s[1]);
	b.p.s[1].ep = ep_at(&b, b.p.s[1].cq, FI_MSG, &b.p.s[1].name, b.p.s[1].namelen);
	for (int i = 0; i < 2; i++) {
		put(&b, 0, i ? 10 : LEN, &e);
		test_wait_err(&b.p, 0, &err);
		assert_true(err.err == FI_EOPNOTSUPP && err.op_context == &e);
	}
	/* nobody answers */
	inet_pton(AF_INET, "127.0.0.1", &nobody.sin_addr);
	assert_int_equal(fi_av_insert(b.p.av, &nobody, 1, &to, 0, NULL), 1);
	assert_ok(fi_write(b.p.s[0].ep, b.tx, 10, NULL, to, 0, 1, &b));
	test_wait_err(&b.p, 0, &err);
	assert_true(err.err == FI_ETIMEDOUT && err.op_context == &b);
	/* and what waits when the endpoint closes is cancelled */
	assert_ok(fi_write(b.p.s[0].ep, b.tx, 10, NULL, to, 0, 1, &to));
	test_side_close(&b.p.s[0]);
	assert_int_equal(fi_cq_read(b.p.s[0].cq, &e, 1), -FI_EAVAIL);
	memset(&err, 0, sizeof(err));
	assert_int_equal(fi_cq_readerr(b.p.s[0].cq, &err, 0), 1);
	assert_ptr_equal(err.op_context, &to);
	bed_close(&b);
}

/* The time in which the application drives nothing is not the peer's silence. */
static void write__own_absence(void **state)
{
	struct test_opts o = { .type = FI_EP_DGRAM, .caps = CAPS, .progress = FI_PROGRESS_MANUAL };
	struct fi_cq_tagged_entry e;
	struct bed b;

	(void)state;
	setenv("FI_SDR_TIMEOUT", "1000", 1);
	bed_open(&b, &o, NULL);
	unsetenv("FI_SDR_TIMEOUT");
	test_side_close(&b.p.s[1]);
	put(&b, 0, 9000, &e);
	assert_int_equal(fi_cq_read(b.p.s[0].cq, &e, 1), -FI_EAGAIN);
	usleep(1500000);
	b.p.s[1].ep = ep_at(&b, b.p.s[1].cq, b.p.info->caps, &b.p.s[1].name, b.p.s[1].namelen);
	test_wait_ok(&b.p, 0, &e);
	bed_close(&b);
}

/* The peer restarts at its address, and after its silence it is found again. */
static void write__peer_restarts(void **state)
{
	struct test_opts o = defaults;
	struct fi_cq_tagged_entry e;
	struct bed b;

	(void)state;
	bed_open(&b, &o, NULL);
	for (int i = 0; i < 3; i++) {
		put(&b, 0, 9000, NULL);
		test_wait_ok(&b.p, 0, &e);
		while (!stats_of(&b, 1).whole) {
			rounds(&b, 1);
			if (i) { /* the first is lost, and brings the news */
				put(&b, 0, 9000, NULL);
				test_wait_ok(&b.p, 0, &e);
			}
		}
		test_side_close(&b.p.s[1]);
		b.p.s[1].ep =
			ep_at(&b, b.p.s[1].cq, b.p.info->caps, &b.p.s[1].name, b.p.s[1].namelen);
	}
	bed_close(&b);
}

/* ---- strangers ------------------------------------------------------------------------------- */

struct stranger {
	int fd;
	struct sockaddr_in to;
	struct sdr_dgram_to me, it;
	uint8_t info[SDR_QP_INFO_LEN];
};

static void stranger_open(struct stranger *s, struct bed *b)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct timeval tv = { .tv_usec = 1000 };

	memset(s, 0, sizeof(*s));
	memcpy(&s->to, &b->p.s[1].name, sizeof(s->to));
	inet_pton(AF_INET, "127.0.0.1", &any.sin_addr);
	s->fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_true(s->fd >= 0 && !bind(s->fd, (struct sockaddr *)&any, sizeof(any)));
	setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
}

static void stranger_say(struct stranger *s, const void *p, size_t len)
{
	struct sdr_wire_ctl c = { .qkey = QKEY, .src_qpn = SDR_QPN_CTL };
	size_t all = SDR_CTL_HDR + len + sdr_wire_pad((uint32_t)len);
	uint8_t b[5000] = { 0 };
	uint32_t crc;

	assert_true(all + SDR_ICRC_LEN <= sizeof(b));
	sdr_wire_ctl_encode(b, &c, len);
	memcpy(b + SDR_CTL_HDR, p, len);
	crc = sdr_icrc_headers(sdr_icrc_seed_masked(), b, SDR_CTL_HDR);
	crc = sdr_icrc_update(crc, b + SDR_CTL_HDR, all - SDR_CTL_HDR);
	sdr_put_le32(b + all, sdr_icrc_final(crc));
	all += SDR_ICRC_LEN;
	assert_int_equal(sendto(s->fd, b, all, 0, (struct sockaddr *)&s->to, sizeof(s->to)), all);
}

/* The next answer of this type; 0: none. */
static size_t stranger_hear(struct stranger *s, struct bed *b, uint8_t type, uint8_t *p)
{
	for (int i = 0; i < 50;) {
		const uint8_t *in;
		struct sdr_wire_ctl c;
		uint8_t buf[2048], t;
		ssize_t got;
		size_t n;

		b->ops->progress(b->p.s[1].ep);
		got = recv(s->fd, buf, sizeof(buf), 0);
		i += got <= 0;
		if (got <= 0 || sdr_wire_ctl_decode(buf, (size_t)got, &c, &in, &n) ||
		    sdr_class_decode(in, n, &t) != SDR_CLASS_DGRAM || t != type)
			continue;
		memcpy(p, in, n);
		return n;
	}
	return 0;
}

static void stranger_ask(struct stranger *s, uint32_t qpn)
{
	struct sdr_wire_qp_info i = { .qpn = qpn,
				      .rkey = 0x1234 + qpn,
				      .channels = 1,
				      .generations = 4,
				      .split = { 6, 26, 0 },
				      .mtu = 1024,
				      .chunk = 65536,
				      .max_msg = 1ull << 30 };
	uint8_t p[2048];
	size_t n;

	s->me = (struct sdr_dgram_to){ i.qpn, i.rkey };
	sdr_wire_qp_info_encode(s->info, &i);
	n = sdr_dgram_info_encode(p, SDR_DGRAM_OPEN, &s->me, s->info);
	stranger_say(s, p, n);
}

static bool stranger_link(struct stranger *s, struct bed *b, uint32_t qpn)
{
	struct sdr_wire_qp_info i;
	uint8_t p[2048];
	const uint8_t *info;
	size_t n;

	struct sdr_dgram_to to;

	stranger_ask(s, qpn);
	do { /* answers of before */
		n = stranger_hear(s, b, SDR_DGRAM_ACCEPT, p);
		if (!n)
			return false;
		assert_ok(sdr_dgram_to_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN, &to));
	} while (to.qpn != qpn);
	info = sdr_dgram_info_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN);
	assert_non_null(info);
	assert_ok(sdr_wire_qp_info_decode(info, SDR_QP_INFO_LEN, &i));
	s->it = (struct sdr_dgram_to){ i.qpn, i.rkey };
	return true;
}

static void stranger_write(struct stranger *s, struct bed *b, const struct sdr_dgram_write *w,
			   bool all)
{
	uint8_t p[4096];
	size_t n = sdr_dgram_write_encode(p, &s->it, w, all);

	if (all) {
		memset(p + n, 0x11, w->len);
		n += w->len;
	}
	stranger_say(s, p, n);
	for (int i = 0; i < 20; i++)
		b->ops->progress(b->p.s[1].ep);
}

static void stranger__writes(void **state)
{
	struct test_opts o = defaults;
	struct sdr_dgram_write w = { .key = 77, .len = 8192 };
	struct fi_sdr_rma_stats st;
	struct stranger s;
	uint8_t p[2048];
	uint32_t real;
	struct bed b;

	(void)state;
	o.progress = FI_PROGRESS_MANUAL;
	bed_open(&b, &o, NULL);
	stranger_open(&s, &b);
	/* without a link, or under another's key: told that it is gone */
	s.it = (struct sdr_dgram_to){ 4711, 1 };
	stranger_write(&s, &b, &w, false);
	assert_true(stranger_hear(&s, &b, SDR_DGRAM_GONE, p));
	assert_true(stranger_link(&s, &b, 100));
	real = s.it.rkey;
	s.it.rkey++;
	stranger_write(&s, &b, &w, false);
	assert_true(stranger_hear(&s, &b, SDR_DGRAM_GONE, p));
	s.it.rkey = real;
	assert_int_equal(stats_of(&b, 1).writes_rx, 0);
	/* regions that are not there, ranges that are not in them, lengths that are lies */
	for (uint32_t i = 0; i < 6; i++) {
		static const struct sdr_dgram_write bad[] = {
			{ .key = 5, .len = 8192 },
			{ .key = 77, .addr = LEN, .len = 1 },
			{ .key = 77, .len = UINT64_MAX },
			{ .key = 77, .addr = UINT64_MAX, .len = 2 },
			{ .key = 77, .len = LEN + 1 },
			{ .key = 77, .addr = 1, .len = LEN },
		};

		w = bad[i];
		w.msn = i;
		stranger_write(&s, &b, &w, false);
		assert_int_equal(stats_of(&b, 1).refused, i + 1);
	}
	/* again, and too late */
	w = (struct sdr_dgram_write){ .key = 77, .len = 100, .msn = 6 };
	for (uint32_t i = 0; i < 3; i++)
		stranger_write(&s, &b, &w, true);
	w.msn = 2;
	stranger_write(&s, &b, &w, true);
	st = stats_of(&b, 1);
	assert_true(st.whole == 1 && st.twice == 3);
	/* one that is bound, named again; the bytes of WRITE_ALL cut short; nonsense */
	w = (struct sdr_dgram_write){ .key = 77, .len = 100000, .msn = 7 };
	stranger_write(&s, &b, &w, false);
	stranger_write(&s, &b, &w, false);
	w.len = 8;
	stranger_write(&s, &b, &w, true);
	assert_int_equal(stats_of(&b, 1).twice, 5);
	for (size_t n = 0; n < 60; n++) {
		memset(p, 0, sizeof(p));
		(void)sdr_dgram_write_encode(p, &s.it, &w, true);
		stranger_say(&s, p, n);
		p[3] = (uint8_t)n; /* any type */
		stranger_say(&s, p, SDR_DGRAM_WRITE_LEN);
		for (int i = 0; i < 10; i++)
			b.ops->progress(b.p.s[1].ep);
	}
	assert_int_equal(b.ops->rma_list(b.p.s[1].ep, NULL, 0), 1);
	/* numbers that run: what is lost is counted, and who jumps too far is gone */
	w = (struct sdr_dgram_write){ .key = 77, .len = 100000, .msn = 1000 };
	stranger_write(&s, &b, &w, false);
	assert_int_equal(b.ops->rma_list(b.p.s[1].ep, NULL, 0), 1);
	st = stats_of(&b, 1);
	assert_int_equal(st.lost, 1000 - 63 - 8);
	w.msn = 1000000;
	stranger_write(&s, &b, &w, false);
	stranger_write(&s, &b, &w, false);
	assert_true(stranger_hear(&s, &b, SDR_DGRAM_GONE, p));
	assert_int_equal(b.ops->rma_list(b.p.s[1].ep, NULL, 0), 0);
	/* only what the one good write named was touched */
	for (uint32_t i = 0; i < LEN; i++)
		assert_int_equal(b.to[i], i < 100 ? 0x11 : 0xa5);
	close(s.fd);
	bed_close(&b);
}

/* Any number of them: links, and what they hold, stay bounded, and an honest peer is served. */
static void stranger__many(void **state)
{
	struct test_opts o = defaults;
	struct sdr_dgram_write w = { .key = 77, .len = LEN };
	struct fi_cq_tagged_entry e;
	uint8_t buf[2048];
	struct stranger s;
	uint32_t n = 0;
	struct bed b;

	(void)state;
	o.progress = FI_PROGRESS_MANUAL;
	bed_open(&b, &o, NULL);
	put(&b, 0, 100000, NULL);
	while (!stats_of(&b, 1).whole)
		rounds(&b, 1);
	stranger_open(&s, &b);
	for (uint32_t i = 0; i < 500; i++) {
		stranger_ask(&s, 1000 + i);
		rounds(&b, 2);
		while (recv(s.fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
			;
	}
	assert_true(stats_of(&b, 1).links <= 64 + 1);
	/* each of 300 links binds all that it can, and the queue is not read */
	tell(&b, FI_SDR_TELL_CQ);
	for (uint32_t i = 0; i < 300; i++) {
		if (!stranger_link(&s, &b, 5000 + i))
			fail_msg("link %u is not accepted", i);
		for (w.msn = 0; w.msn < 70; w.msn++)
			stranger_write(&s, &b, &w, false);
	}
	assert_true(b.ops->rma_list(b.p.s[1].ep, NULL, 0) <= 16384);
	assert_true(stats_of(&b, 1).refused > 0); /* writes, or bytes of bitmaps */
	/* the link of before is there, and there is room for what fits a datagram */
	while (fi_cq_read(b.p.s[1].cq, &e, 1) == 1)
		n++;
	assert_true(n >= 1024 && n <= 1024 + 16384 + 300);
	put(&b, 0, 100, NULL);
	while (stats_of(&b, 1).whole < 2)
		rounds(&b, 1);
	close(s.fd);
	bed_close(&b);
}

/* Threads: the domain's drives both ends, this one posts, reads and looks. */
static void threads__look(void **state)
{
	struct test_opts o = defaults;
	struct fi_cq_tagged_entry e;
	uint64_t ids[8];
	uint32_t over = 0, n = 0;
	struct bed b;

	(void)state;
	o.progress = FI_PROGRESS_AUTO;
	bed_open(&b, &o, "drop=0.01,seed=9");
	tell(&b, FI_SDR_TELL_CQ);
	while (over < 100 && n < 2000) {
		if (!fi_write(b.p.s[0].ep, b.tx, 200000, NULL, b.p.s[0].peer, b.addr, b.key, NULL))
			n++;
		usleep(200);
		for (int i = 0, k = b.ops->rma_list(b.p.s[1].ep, ids, 8); i < k && i < 8; i++) {
			struct fi_sdr_view v = { .size = sizeof(v) };

			(void)b.ops->rma_view(b.p.s[1].ep, ids[i], &v);
		}
		while (fi_cq_read(b.p.s[1].cq, &e, 1) == 1)
			over += (e.flags & FI_SDR_OVER) != 0;
		while (fi_cq_read(b.p.s[0].cq, &e, 1) == 1)
			;
	}
	assert_true(over >= 100);
	bed_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write__whole),		cmocka_unit_test(write__holes),
		cmocka_unit_test(write__told_once),	cmocka_unit_test(write__outside),
		cmocka_unit_test(write__region_closes), cmocka_unit_test(write__calls),
		cmocka_unit_test(write__nobody),	cmocka_unit_test(write__own_absence),
		cmocka_unit_test(write__peer_restarts), cmocka_unit_test(stranger__writes),
		cmocka_unit_test(stranger__many),	cmocka_unit_test(threads__look),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
