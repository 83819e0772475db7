/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Completions that tell of bitmaps that changed (recv_notify of rdma/fi_ext_sdr.h): what they say
 * is there, the last change of each message is told, over losses too, and a full queue stays as
 * long as it is.
 */
#include <errno.h>

#include "test_fi_util.h"

#define LEN   (1u << 20)
#define CHUNK (16u << 10)
#define MTU   1024u

struct bed {
	struct test_pair p;
	struct fi_sdr_ep_ops_1 *ops;
	struct sdr_qp *qp[2];
	struct fid_cntr *cntr;
	uint8_t *tx;
	uint64_t len; /* bytes of a message */
};

static void bed_open(struct bed *b, const char *fault, uint64_t len, uint32_t chunk,
		     enum fi_progress progress)
{
	struct test_opts o = { .type = FI_EP_DGRAM, .progress = progress };
	struct sdr_qp_attr attr = { .size = sizeof(attr), .mtu = MTU, .chunk = chunk };
	struct fi_cntr_attr cntr = { .wait_obj = FI_WAIT_UNSPEC };
	uint8_t info[2][SDR_QP_INFO_SIZE];

	if (fault)
		setenv("FI_SDR_FAULT", fault, 1);
	test_pair_open(&b->p, &o);
	unsetenv("FI_SDR_FAULT");
	assert_ok(fi_open_ops(&b->p.s[0].ep->fid, FI_SDR_EP_OPS_1, 0, (void **)&b->ops, NULL));
	assert_true(FI_SDR_HAS_OP(b->ops, recv_notify));
	assert_ok(fi_cntr_open(b->p.domain, &cntr, &b->cntr, NULL));
	for (int k = 0; k < 2; k++) {
		b->qp[k] = b->ops->qp_create(b->p.s[k].ep, &attr);
		assert_non_null(b->qp[k]);
		assert_ok(b->ops->qp_info_get(b->p.s[k].ep, b->qp[k], info[k]));
	}
	for (int k = 0; k < 2; k++)
		assert_ok(b->ops->qp_connect(b->p.s[k].ep, b->qp[k], info[!k]));
	b->len = len;
	b->tx = malloc(len);
	test_fill(b->tx, len, 1);
}

static void bed_close(struct bed *b)
{
	for (int k = 0; k < 2; k++)
		assert_ok(b->ops->qp_destroy(b->p.s[k].ep, b->qp[k]));
	for (int k = 0; k < 2; k++)
		test_side_close(&b->p.s[k]);
	assert_ok(fi_close(&b->cntr->fid));
	test_pair_close(&b->p);
	free(b->tx);
}

static struct sdr_rcv_handle *post(struct bed *b, void *buf)
{
	struct sdr_rcv_wr w = { .addr = buf, .length = b->len };
	struct sdr_rcv_handle *h;

	assert_ok(b->ops->recv_post(b->p.s[1].ep, b->qp[1], &w, &h));
	return h;
}

static void ask(struct bed *b, struct sdr_rcv_handle *h, uint64_t flags, void *context)
{
	struct fi_sdr_notify how = { sizeof(how), flags, context };

	assert_ok(b->ops->recv_notify(b->p.s[1].ep, b->qp[1], h, &how));
}

static struct sdr_snd_handle *start(struct bed *b)
{
	struct sdr_start_wr start = { .length = b->len };
	struct sdr_snd_handle *h;

	assert_ok(b->ops->send_stream_start(b->p.s[0].ep, b->qp[0], &start, &h));
	return h;
}

static void send_part(struct bed *b, struct sdr_snd_handle *h, uint64_t off, uint64_t len)
{
	struct sdr_continue_wr w = { .addr = b->tx + off, .offset = off, .length = len };
	int ret;

	while ((ret = b->ops->send_stream_continue(b->p.s[0].ep, h, &w)) == -FI_EAGAIN) {
		b->ops->progress(b->p.s[0].ep);
		b->ops->progress(b->p.s[1].ep);
	}
	assert_ok(ret);
}

static void send_end(struct bed *b, struct sdr_snd_handle *h)
{
	assert_ok(b->ops->send_stream_end(b->p.s[0].ep, h));
	while (!b->ops->send_poll(b->p.s[0].ep, h))
		b->ops->progress(b->p.s[1].ep);
}

static uint32_t chunks_of(struct bed *b, struct sdr_rcv_handle *h)
{
	const struct sdr_rcv_state *s = b->ops->recv_state(b->p.s[1].ep, h);
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nchunks; i++)
		n += __atomic_load_n(&s->chunk_bits[i / 64], __ATOMIC_ACQUIRE) >> i % 64 & 1;
	return n;
}

/* A repairs until all is there: entries alone say so. */
static void notify__until_it_is_whole(void **state)
{
	static const char *const faults[] = { NULL, "drop=0.05,dup=0.02,reorder=0.02,seed=3" };
	static const uint64_t how[] = { FI_SDR_TELL_CQ, FI_SDR_TELL_CQ | FI_SDR_TELL_PACKETS };

	(void)state;
	for (int k = 0; k < 8; k++) {
		uint8_t *rx = calloc(1, LEN);
		uint64_t seen = 0, entries = 0, bytes = 0, end = test_now_s() + TEST_GUARD_S;
		struct fi_cq_tagged_entry e = { .flags = 0 };
		struct sdr_rcv_handle *r;
		struct sdr_snd_handle *s;
		struct bed b;

		bed_open(&b, faults[k & 1], LEN, CHUNK,
			 k & 4 ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL);
		r = post(&b, rx);
		ask(&b, r, how[k >> 1 & 1], &e);
		s = start(&b);
		while (!(e.flags & FI_SDR_WHOLE)) {
			send_part(&b, s, 0, LEN);
			for (int quiet = 0; quiet < 100 && !(e.flags & FI_SDR_WHOLE); quiet++) {
				fi_cq_read(b.p.s[0].cq, &e, 0);
				while (fi_cq_read(b.p.s[1].cq, &e, 1) == 1) {
					assert_true(e.flags & FI_SDR_BITMAP);
					assert_ptr_equal(e.op_context, &e);
					assert_ptr_equal(e.buf, rx);
					assert_true(e.data > seen && e.len >= bytes);
					assert_true(e.len <= LEN && e.tag == 0);
					seen = e.data;
					bytes = e.len;
					entries++;
					quiet = 0;
				}
			}
			assert_true(test_now_s() < end);
		}
		assert_int_equal(seen,
				 how[k >> 1 & 1] & FI_SDR_TELL_PACKETS ? LEN / MTU : LEN / CHUNK);
		assert_true(bytes == LEN && entries > 1);
		/* that was the last, whatever comes */
		send_part(&b, s, 0, CHUNK);
		send_end(&b, s);
		test_quiet(&b.p, 1, 200);
		assert_ok(b.ops->recv_complete(b.p.s[1].ep, r));
		assert_true(test_same(rx, LEN, 1));
		bed_close(&b);
		free(rx);
	}
}

/* More messages change than the queue has room for: one entry each, with what is there then. */
static void notify__a_full_queue_stays_so_long(void **state)
{
	enum { N = 400, SIZE = 1024, SHORT = 6 * MTU };
	static uint8_t *rx[N], ctx[N];
	uint64_t told[N] = { 0 };
	struct sdr_rcv_handle *r[N];
	struct sdr_snd_handle *s[N];
	struct fi_cq_tagged_entry e;
	size_t n = 0;
	struct bed b;

	(void)state;
	bed_open(&b, NULL, SHORT, MTU, FI_PROGRESS_MANUAL);
	for (int i = 0; i < N; i++) {
		rx[i] = malloc(SHORT);
		r[i] = post(&b, rx[i]);
		ask(&b, r[i], FI_SDR_TELL_CQ, &ctx[i]);
	}
	for (int i = 0; i < N; i++)
		s[i] = start(&b);
	for (uint64_t c = 0; c < 4; c++) {
		for (int i = 0; i < N; i++) {
			send_part(&b, s[i], c * MTU, MTU);
			b.ops->progress(b.p.s[1].ep);
		}
	}
	for (int i = 0; i < 1000; i++) {
		b.ops->progress(b.p.s[0].ep);
		b.ops->progress(b.p.s[1].ep);
	}
	/* nobody read: as many as fit, and each that waits in line once */
	while (fi_cq_read(b.p.s[1].cq, &e, 1) == 1) {
		ptrdiff_t i = (uint8_t *)e.op_context - ctx;

		assert_true(i >= 0 && i < N && e.data > told[i]);
		told[i] = e.data;
		n++;
	}
	if (n < SIZE || n > SIZE + N)
		fail_msg("%zu entries", n);
	for (int i = 0; i < N; i++) {
		if (told[i] != chunks_of(&b, r[i]))
			fail_msg("message %d: %u chunks are there, %u were told", i,
				 chunks_of(&b, r[i]), (unsigned int)told[i]);
	}
	/* What ends while it waits in line is not told of any more. */
	for (int i = 0; i < N; i++)
		send_part(&b, s[i], 4ull * MTU, MTU);
	for (int i = 0; i < 1000; i++)
		b.ops->progress(b.p.s[1].ep);
	for (int i = 0; i < N; i++)
		assert_ok(b.ops->recv_complete(b.p.s[1].ep, r[i]));
	for (n = 0; fi_cq_read(b.p.s[1].cq, &e, 1) == 1;)
		n++;
	assert_true(n <= SIZE);
	for (int i = 0; i < N; i++) {
		send_end(&b, s[i]);
		free(rx[i]);
	}
	bed_close(&b);
}

static void notify__counter_and_late_asking(void **state)
{
	uint8_t *rx = calloc(1, LEN);
	struct fi_cq_tagged_entry e;
	struct sdr_rcv_handle *r;
	struct sdr_snd_handle *s;
	uint64_t n;
	struct bed b;

	(void)state;
	bed_open(&b, NULL, LEN, CHUNK, FI_PROGRESS_MANUAL);
	assert_ok(fi_ep_bind(b.p.s[1].ep, &b.cntr->fid, FI_RECV));
	r = post(&b, rx);
	s = start(&b);
	send_part(&b, s, 0, 3 * CHUNK);
	while (chunks_of(&b, r) < 3)
		b.ops->progress(b.p.s[1].ep);
	assert_int_equal(fi_cntr_read(b.cntr), 0);
	/* what is there is told at once, then what comes */
	ask(&b, r, FI_SDR_TELL_CNTR | FI_SDR_TELL_CQ, rx);
	assert_int_equal(fi_cntr_read(b.cntr), 1);
	assert_int_equal(fi_cq_read(b.p.s[1].cq, &e, 1), 1);
	assert_true(e.data == 3 && e.len == 3 * CHUNK && !(e.flags & FI_SDR_WHOLE));
	send_part(&b, s, 3 * CHUNK, LEN - 3 * CHUNK);
	while (chunks_of(&b, r) < LEN / CHUNK)
		b.ops->progress(b.p.s[1].ep);
	n = fi_cntr_read(b.cntr);
	assert_true(n > 1 && n <= 1 + LEN / CHUNK);
	/* not any more */
	assert_ok(b.ops->recv_notify(b.p.s[1].ep, b.qp[1], r, NULL));
	assert_ok(b.ops->recv_complete(b.p.s[1].ep, r));
	send_end(&b, s);
	/* one that is posted, and gone with its queue pair */
	r = post(&b, rx);
	ask(&b, r, FI_SDR_TELL_CNTR, rx);
	bed_close(&b);
	free(rx);
}

static void notify__refused(void **state)
{
	struct fi_sdr_notify how = { sizeof(how), FI_SDR_TELL_CQ, NULL }, bad = how;
	uint8_t *rx = calloc(1, LEN);
	struct sdr_rcv_handle *r;
	struct fid_ep *ep;
	struct bed b;

	(void)state;
	bed_open(&b, NULL, LEN, CHUNK, FI_PROGRESS_MANUAL);
	ep = b.p.s[1].ep;
	r = post(&b, rx);
	assert_int_equal(b.ops->recv_notify(ep, b.qp[1], NULL, &how), -FI_EINVAL);
	assert_int_equal(b.ops->recv_notify(ep, NULL, r, &how), -FI_EINVAL);
	assert_int_equal(b.ops->recv_notify(b.p.s[0].ep, b.qp[0], r, &how), -FI_EINVAL);
	bad.size = 8;
	assert_int_equal(b.ops->recv_notify(ep, b.qp[1], r, &bad), -FI_EINVAL);
	bad.size = sizeof(bad);
	bad.flags = 0;
	assert_int_equal(b.ops->recv_notify(ep, b.qp[1], r, &bad), -FI_EINVAL);
	bad.flags = FI_SDR_TELL_PACKETS;
	assert_int_equal(b.ops->recv_notify(ep, b.qp[1], r, &bad), -FI_EINVAL);
	bad.flags = FI_SDR_TELL_CQ | 0x100;
	assert_int_equal(b.ops->recv_notify(ep, b.qp[1], r, &bad), -FI_EINVAL);
	bad.flags = FI_SDR_TELL_CNTR;
	assert_int_equal(b.ops->recv_notify(ep, b.qp[1], r, &bad), -FI_ENOCQ);
	assert_ok(b.ops->recv_complete(ep, r));
	assert_int_equal(b.ops->recv_notify(ep, b.qp[1], r, &how), -FI_EINVAL);
	bed_close(&b);
	free(rx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notify__until_it_is_whole),
		cmocka_unit_test(notify__a_full_queue_stays_so_long),
		cmocka_unit_test(notify__counter_and_late_asking),
		cmocka_unit_test(notify__refused),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
