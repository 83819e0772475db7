/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Datagram endpoints, and the extension of rdma/fi_ext_sdr.h on both endpoint types. */
#include <errno.h>

#include "test_fi_util.h"

static const struct test_opts dgram = { .type = FI_EP_DGRAM };

static void dgram__send_recv(void **state)
{
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	size_t max, i;
	uint8_t *tx, *rx;
	fi_addr_t src;

	(void)state;
	test_pair_open(&p, &dgram);
	max = p.info->ep_attr->max_msg_size;
	tx = malloc(max + 1);
	rx = malloc(max + 1);
	for (i = 0; i <= max; i = i < 8 ? i + 1 : i == max ? max + 1 : i * 3 > max ? max : i * 3) {
		test_fill(tx, i, (uint32_t)i);
		assert_ok(fi_recv(p.s[1].ep, rx, max, NULL, FI_ADDR_UNSPEC, &i));
		assert_ok(fi_send(p.s[0].ep, tx, i, NULL, p.s[0].peer, NULL));
		assert_int_equal(test_wait(&p, 1, &e, &src), 1);
		assert_int_equal(e.len, i);
		assert_int_equal(src, p.s[1].peer);
		assert_true(test_same(rx, i, (uint32_t)i));
		test_wait_ok(&p, 0, &e);
		assert_int_equal(e.flags, FI_SEND | FI_MSG);
	}
	assert_int_equal(fi_send(p.s[0].ep, tx, max + 1, NULL, p.s[0].peer, NULL), -FI_EMSGSIZE);
	assert_int_equal(fi_send(p.s[0].ep, tx, 1, NULL, 1234, NULL), -FI_EADDRNOTAVAIL);
	assert_int_equal(fi_tsend(p.s[0].ep, tx, 1, NULL, p.s[0].peer, 1, NULL), -FI_ENOSYS);
	assert_ok(fi_recv(p.s[1].ep, rx, max, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_senddata(p.s[0].ep, tx, max, NULL, ~1ull, p.s[0].peer, NULL));
	test_wait_ok(&p, 1, &e);
	assert_true(e.data == ~1ull && (e.flags & FI_REMOTE_CQ_DATA));
	assert_int_equal(e.len, max);
	free(tx);
	free(rx);
	test_pair_close(&p);
}

static void dgram__backlog_truncation_cancel(void **state)
{
	struct fi_cq_tagged_entry e;
	struct fi_cq_err_entry err;
	struct test_pair p;
	char rx[10][32];
	int i;

	(void)state;
	test_pair_open(&p, &dgram);
	/* before a receive is posted */
	for (i = 0; i < 10; i++)
		assert_ok(fi_inject(p.s[0].ep, "backlog", 8, p.s[0].peer));
	test_quiet(&p, 1, 100);
	for (i = 0; i < 10; i++)
		assert_ok(fi_recv(p.s[1].ep, rx[i], 32, NULL, FI_ADDR_UNSPEC, rx[i]));
	for (i = 0; i < 10; i++) {
		test_wait_ok(&p, 1, &e);
		assert_ptr_equal(e.op_context, rx[i]);
		assert_string_equal(rx[i], "backlog");
	}
	/* too short a buffer */
	memset(rx[0], 7, 32);
	assert_ok(fi_recv(p.s[1].ep, rx[0], 3, NULL, FI_ADDR_UNSPEC, rx[0]));
	assert_ok(fi_inject(p.s[0].ep, "truncate", 8, p.s[0].peer));
	test_wait_err(&p, 1, &err);
	assert_int_equal(err.err, FI_ETRUNC);
	assert_int_equal(err.olen, 5);
	assert_int_equal(rx[0][3], 7);
	/* three receives, the middle one cancelled */
	for (i = 0; i < 3; i++)
		assert_ok(fi_recv(p.s[1].ep, rx[i], 32, NULL, FI_ADDR_UNSPEC, rx[i]));
	assert_ok(fi_cancel(&p.s[1].ep->fid, rx[1]));
	test_wait_err(&p, 1, &err);
	assert_int_equal(err.err, FI_ECANCELED);
	assert_ptr_equal(err.op_context, rx[1]);
	for (i = 0; i < 3; i += 2) {
		assert_ok(fi_inject(p.s[0].ep, "x", 1, p.s[0].peer));
		test_wait_ok(&p, 1, &e);
		assert_ptr_equal(e.op_context, rx[i]);
	}
	assert_int_equal(fi_cancel(&p.s[1].ep->fid, rx[1]), -FI_ENOENT);
	test_pair_close(&p);
}

/* ---- extension ------------------------------------------------------------------------------- */

static struct fi_sdr_ep_ops_1 *ops_open(struct fid_ep *ep)
{
	struct fi_sdr_ep_ops_1 *ops = NULL;

	assert_ok(fi_open_ops(&ep->fid, FI_SDR_EP_OPS_1, 0, (void **)&ops, NULL));
	assert_non_null(ops);
	assert_true(FI_SDR_HAS_OP(ops, dgram_stats));
	return ops;
}

static void ops__bitmap_on_dgram(void **state)
{
	enum { LEN = 300000 };
	struct sdr_qp_attr attr = { .size = sizeof(attr), .chunk = 0, .max_msg = 1u << 20 };
	uint8_t info[2][SDR_QP_INFO_SIZE], *tx = malloc(LEN), *rx = calloc(1, LEN);
	struct sdr_snd_wr swr = {
		.addr = tx, .length = LEN, .imm = 0xcafe1234, .flags = SDR_SEND_IMM
	};
	struct sdr_rcv_wr rwr = { .addr = rx, .length = LEN };
	struct sdr_stats stats = { .size = sizeof(stats) };
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct sdr_snd_handle *snd;
	struct sdr_rcv_handle *rcv;
	struct fi_sdr_ep_ops_1 *ops;
	struct test_pair p;
	struct sdr_qp *qp[2];
	const uint8_t *bits;
	uint32_t imm = 0;
	size_t nbits, i;
	bool sent = false, all;
	int k;

	(void)state;
	test_pair_open(&p, &dgram);
	ops = ops_open(p.s[0].ep);
	for (k = 0; k < 2; k++) {
		qp[k] = ops->qp_create(p.s[k].ep, &attr);
		assert_non_null(qp[k]);
		assert_ok(ops->qp_info_get(p.s[k].ep, qp[k], info[k]));
	}
	for (k = 0; k < 2; k++)
		assert_ok(ops->qp_connect(p.s[k].ep, qp[k], info[!k]));
	test_fill(tx, LEN, 4);
	assert_ok(ops->recv_post(p.s[1].ep, qp[1], &rwr, &rcv));
	assert_ok(ops->send_post(p.s[0].ep, qp[0], &swr, &snd));
	do {
		assert_true(test_now_s() < end);
		if (!sent)
			sent = ops->send_poll(p.s[0].ep, snd) == 1;
		else
			assert_true(ops->progress(p.s[0].ep) >= 0);
		assert_true(ops->progress(p.s[1].ep) >= 0);
		assert_ok(ops->recv_bitmap_get(p.s[1].ep, rcv, &bits, &nbits));
		/* whole chunks; the size of a chunk is near 64 KiB */
		for (i = 0, all = true; i < LEN / 65536; i++)
			all &= bits[i / 8] >> (i % 8) & 1;
	} while (!sent || !all || ops->recv_imm_get(p.s[1].ep, rcv, &imm) ||
		 !test_same(rx, LEN, 4));
	assert_int_equal(imm, 0xcafe1234);
	assert_ok(ops->recv_packet_bitmap_get(p.s[1].ep, rcv, &bits, &nbits));
	assert_int_equal(bits[0], 0xff);
	assert_ok(ops->recv_complete(p.s[1].ep, rcv));
	assert_ok(ops->dgram_stats(p.s[1].ep, &stats));
	assert_true(stats.bytes_rx >= LEN);
	for (k = 0; k < 2; k++)
		assert_ok(ops->qp_destroy(p.s[k].ep, qp[k]));
	free(tx);
	free(rx);
	test_pair_close(&p);
}

/* What others need to build on it: sizes, state, an end without a receiver. */
static void ops__state_on_dgram(void **state)
{
	struct sdr_context_info info = { .size = sizeof(info) };
	struct sdr_qp_attr attr = { .size = sizeof(attr) }, got = { .size = sizeof(got) };
	struct sdr_qp_peer peer = { .size = sizeof(peer) };
	struct sdr_start_wr start = { .length = 10, .imm = 7, .flags = SDR_SEND_IMM };
	uint8_t mine[2][SDR_QP_INFO_SIZE], buf[10];
	struct sdr_rcv_wr rwr = { .addr = buf, .length = sizeof(buf) };
	char why[SDR_WHY_LEN];
	struct fi_sdr_ep_ops_1 *ops;
	struct sdr_rcv_handle *rcv;
	struct sdr_snd_handle *snd;
	struct test_pair p;
	struct sdr_qp *qp[2];
	int k;

	(void)state;
	test_pair_open(&p, &dgram);
	ops = ops_open(p.s[0].ep);
	assert_true(FI_SDR_HAS_OP(ops, send_imm_again));
	assert_ok(ops->context_query(p.s[0].ep, &info));
	assert_string_equal(info.engine, "soft");
	attr.chunk = 5000;
	attr.why = why;
	attr.why_len = sizeof(why);
	assert_null(ops->qp_create(p.s[0].ep, &attr));
	assert_non_null(strstr(why, "chunk 5000"));
	attr.chunk = 0;
	for (k = 0; k < 2; k++) {
		qp[k] = ops->qp_create(p.s[k].ep, &attr);
		assert_ok(ops->qp_info_get(p.s[k].ep, qp[k], mine[k]));
	}
	assert_int_equal(ops->qp_peer_query(p.s[0].ep, qp[0], &peer), -FI_ENOTCONN);
	for (k = 0; k < 2; k++)
		assert_ok(ops->qp_connect(p.s[k].ep, qp[k], mine[!k]));
	assert_ok(ops->qp_query(p.s[0].ep, qp[0], &got));
	assert_int_equal(got.mtu, info.mtu);
	assert_true(got.chunk && got.chunk % got.mtu == 0);
	assert_ok(ops->qp_peer_query(p.s[0].ep, qp[0], &peer));
	assert_true(peer.rx_window && !peer.keyed);
	assert_ok(ops->send_stream_start(p.s[0].ep, qp[0], &start, &snd));
	assert_int_equal(ops->send_imm_again(p.s[0].ep, snd), -FI_EAGAIN);
	assert_ok(ops->send_cancel(p.s[0].ep, snd));
	assert_ok(ops->recv_post(p.s[1].ep, qp[1], &rwr, &rcv));
	assert_int_equal(ops->recv_state(p.s[1].ep, rcv)->npkts, 1);
	assert_null(ops->recv_state(p.s[1].ep, NULL));
	assert_ok(ops->recv_complete(p.s[1].ep, rcv));
	for (k = 0; k < 2; k++)
		assert_ok(ops->qp_destroy(p.s[k].ep, qp[k]));
	test_pair_close(&p);
}

static void ops__rdm(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM, .not_enabled = true };
	struct fi_sdr_stats stats = { .size = sizeof(stats) }, all = { .size = sizeof(all) };
	struct fi_sdr_ep_ops_1 *ops;
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	char buf[64], *big = calloc(1, 200000), *to = malloc(200000);

	(void)state;
	test_pair_open(&p, &o);
	ops = ops_open(p.s[0].ep);
	assert_ok(ops->setting_set(p.s[0].ep, "FI_SDR_TIMEOUT", "1234"));
	assert_ok(ops->setting_get(p.s[0].ep, "timeout", buf, sizeof(buf)));
	assert_string_equal(buf, "1234");
	assert_int_equal(ops->setting_get(p.s[0].ep, "timeout", buf, 2), -FI_ETOOSMALL);
	assert_int_equal(ops->setting_set(p.s[0].ep, "timeout", "x"), -FI_EINVAL);
	assert_int_equal(ops->setting_set(p.s[0].ep, "reliability", "ecc"), -FI_EINVAL);
	assert_int_equal(ops->setting_set(p.s[0].ep, "nonsense", "x"), -FI_ENOENT);
	/* the other one's is its own */
	assert_ok(ops->setting_get(p.s[1].ep, "timeout", buf, sizeof(buf)));
	assert_string_equal(buf, "30000");
	assert_int_equal(ops->stats(p.s[0].ep, FI_ADDR_UNSPEC, &all), -FI_EOPBADSTATE);
	test_side_enable(&p, 0);
	test_side_enable(&p, 1);
	assert_int_equal(ops->setting_set(p.s[0].ep, "timeout", "99999"), -FI_EOPBADSTATE);
	assert_ok(fi_recv(p.s[1].ep, to, 200000, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(p.s[0].ep, big, 200000, NULL, p.s[0].peer, NULL));
	test_wait_ok(&p, 1, &e);
	test_wait_ok(&p, 0, &e);
	assert_int_equal(ops->peer_setting_set(p.s[0].ep, p.s[0].peer, "reliability", "sr"),
			 -FI_EBUSY); /* they have talked */
	assert_ok(ops->stats(p.s[0].ep, p.s[0].peer, &stats));
	assert_ok(ops->stats(p.s[0].ep, FI_ADDR_UNSPEC, &all));
	assert_true(stats.bytes_tx >= 200000);
	assert_int_equal(stats.bytes_tx, all.bytes_tx);
	assert_int_equal(stats.rtx_rack + stats.rtx_nack + stats.rtx_rto, 0);
	assert_ok(ops->stats(p.s[1].ep, FI_ADDR_UNSPEC, &all));
	assert_true(all.bytes_rx >= 200000);
	assert_int_equal(ops->stats(p.s[0].ep, 999, &stats), -FI_EADDRNOTAVAIL);
	/* an application built with a shorter struct */
	stats.size = offsetof(struct fi_sdr_stats, pkts_rx);
	stats.pkts_rx = 4711;
	assert_ok(ops->stats(p.s[0].ep, FI_ADDR_UNSPEC, &stats));
	assert_int_equal(stats.pkts_rx, 4711);
	/* what is for the other type */
	assert_null(ops->qp_create(p.s[0].ep, NULL));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ops->progress(p.s[0].ep), -FI_EOPNOTSUPP);
	free(big);
	free(to);
	test_pair_close(&p);
}

/*
 * One peer gets parity with everything, the other none.  (What has arrived before its parity left
 * gets none.)
 */
static void ops__scheme_of_a_peer(void **state)
{
	static const struct test_opts two = { .type = FI_EP_RDM };
	struct fi_sdr_stats st[2] = { { .size = sizeof(st[0]) }, { .size = sizeof(st[0]) } };
	enum { LEN = 1u << 20 };
	uint8_t *tx = malloc(LEN), *rx = malloc(LEN);
	struct fi_cq_tagged_entry e;
	struct fi_sdr_ep_ops_1 *ops;
	struct test_pair p;
	struct fid_ep *ep;

	(void)state;
	setenv("FI_SDR_RELIABILITY", "sr", 1);
	test_pair_open(&p, &two);
	unsetenv("FI_SDR_RELIABILITY");
	ep = p.s[0].ep;
	ops = ops_open(ep);
	assert_true(FI_SDR_HAS_OP(ops, peer_setting_set));
	assert_int_equal(ops->peer_setting_set(ep, 77, "reliability", "ec"), -FI_EADDRNOTAVAIL);
	assert_int_equal(ops->peer_setting_set(ep, p.s[0].peer, "timeout", "5"), -FI_EOPNOTSUPP);
	assert_int_equal(ops->peer_setting_set(ep, p.s[0].peer, "nonsense", "5"), -FI_ENOENT);
	assert_int_equal(ops->peer_setting_set(ep, p.s[0].peer, "reliability", "x"), -FI_EINVAL);
	assert_ok(ops->peer_setting_set(ep, p.s[0].peer, "FI_SDR_RELIABILITY", "sr"));
	assert_ok(ops->peer_setting_set(ep, p.s[0].peer, "reliability", NULL));
	assert_ok(ops->peer_setting_set(ep, p.s[0].peer, "reliability", "ec"));
	test_fill(tx, LEN, 1);
	for (int k = 0; k < 2; k++) { /* there with parity, back as the endpoint says: none */
		assert_ok(fi_recv(p.s[!k].ep, rx, LEN, NULL, FI_ADDR_UNSPEC, NULL));
		assert_ok(fi_send(p.s[k].ep, tx, LEN, NULL, p.s[k].peer, NULL));
		test_wait_ok(&p, !k, &e);
		test_wait_ok(&p, k, &e);
		assert_true(test_same(rx, LEN, 1));
		assert_ok(ops->stats(p.s[k].ep, p.s[k].peer, &st[k]));
	}
	assert_true(st[0].choice_parity && !st[0].choice_sr);
	assert_true(!st[1].choice_parity && !st[1].parity_tx);
	free(tx);
	free(rx);
	test_pair_close(&p);
}

static void ops__names(void **state)
{
	struct fi_sdr_stats stats = { .size = sizeof(stats) };
	struct fi_sdr_ep_ops_1 *ops;
	struct test_pair p;
	void *v;

	(void)state;
	test_pair_open(&p, &dgram);
	ops = ops_open(p.s[0].ep);
	assert_int_equal(ops->stats(p.s[0].ep, FI_ADDR_UNSPEC, &stats), -FI_EOPNOTSUPP);
	assert_int_equal(fi_open_ops(&p.s[0].ep->fid, "sdr_ep_ops_v99", 0, &v, NULL), -FI_EINVAL);
	assert_int_equal(fi_open_ops(&p.domain->fid, FI_SDR_EP_OPS_1, 0, &v, NULL), -FI_ENOSYS);
	test_pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dgram__send_recv),
		cmocka_unit_test(dgram__backlog_truncation_cancel),
		cmocka_unit_test(ops__bitmap_on_dgram),
		cmocka_unit_test(ops__state_on_dgram),
		cmocka_unit_test(ops__rdm),
		cmocka_unit_test(ops__scheme_of_a_peer),
		cmocka_unit_test(ops__names),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
