/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Reliable endpoints through libfabric: states, messages, tags, completions, counters, errors. */
#include "test_fi_util.h"

#define BIG (300 * 1024) /* bytes: goes as bulk data */

static const struct test_opts plain = { .type = FI_EP_RDM };

/* ---- states ---------------------------------------------------------------------------------- */

static void ep__states(void **state)
{
	struct test_opts o = { .not_enabled = true };
	struct sockaddr_in name;
	struct test_pair p;
	size_t len = sizeof(name);
	struct fid_ep *ep;
	char b[8];

	(void)state;
	test_pair_open(&p, &o);
	assert_ok(fi_endpoint(p.domain, p.info, &ep, NULL));
	assert_int_equal(fi_enable(ep), -FI_ENOAV);
	assert_ok(fi_ep_bind(ep, &p.av->fid, 0));
	assert_int_equal(fi_ep_bind(ep, &p.av->fid, 0), -FI_EINVAL);
	assert_int_equal(fi_enable(ep), -FI_ENOCQ);
	assert_int_equal(fi_ep_bind(ep, &p.s[0].cq->fid, 0), -FI_EBADFLAGS);
	assert_ok(fi_ep_bind(ep, &p.s[0].cq->fid, FI_TRANSMIT));
	assert_int_equal(fi_enable(ep), -FI_ENOCQ);
	assert_ok(fi_ep_bind(ep, &p.s[1].cq->fid, FI_RECV));
	assert_int_equal(fi_send(ep, b, 8, NULL, 0, NULL), -FI_EOPBADSTATE);
	assert_int_equal(fi_recv(ep, b, 8, NULL, FI_ADDR_UNSPEC, NULL), -FI_EOPBADSTATE);
	assert_ok(fi_getname(&ep->fid, &name, &len)); /* before enable: binds the port */
	assert_true(name.sin_port != 0);
	assert_int_equal(ntohl(name.sin_addr.s_addr), INADDR_LOOPBACK);
	assert_int_equal(fi_setname(&ep->fid, &name, len), -FI_EOPBADSTATE);
	len = 3;
	assert_int_equal(fi_getname(&ep->fid, &name, &len), -FI_ETOOSMALL);
	assert_int_equal(len, sizeof(name));
	assert_ok(fi_enable(ep));
	assert_int_equal(fi_enable(ep), -FI_EOPBADSTATE);
	assert_int_equal(fi_ep_bind(ep, &p.s[0].cq->fid, FI_RECV), -FI_EOPBADSTATE);
	assert_int_equal(fi_send(ep, b, 8, NULL, 55, NULL), -FI_EADDRNOTAVAIL);
	assert_int_equal(fi_close(&p.s[1].cq->fid), -FI_EBUSY);
	assert_int_equal(fi_close(&p.av->fid), -FI_EBUSY);
	assert_int_equal(fi_close(&p.domain->fid), -FI_EBUSY);
	assert_ok(fi_close(&ep->fid));
	test_pair_close(&p);
}

static void ep__port_in_use(void **state)
{
	struct test_pair p;
	struct fid_ep *ep;

	(void)state;
	test_pair_open(&p, &plain);
	assert_ok(fi_endpoint(p.domain, p.info, &ep, NULL));
	assert_ok(fi_ep_bind(ep, &p.av->fid, 0));
	assert_ok(fi_ep_bind(ep, &p.s[0].cq->fid, FI_TRANSMIT | FI_RECV));
	assert_ok(fi_setname(&ep->fid, &p.s[1].name, p.s[1].namelen));
	assert_int_equal(fi_enable(ep), -FI_EADDRINUSE);
	assert_ok(fi_close(&ep->fid));
	test_pair_close(&p);
}

static void ep__options(void **state)
{
	struct test_pair p;
	size_t v = 12345, len = sizeof(v);

	(void)state;
	test_pair_open(&p, &plain);
	assert_ok(
		fi_setopt(&p.s[0].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &v, sizeof(v)));
	v = 0;
	assert_ok(fi_getopt(&p.s[0].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &v, &len));
	assert_int_equal(v, 12345);
	len = 1;
	assert_int_equal(
		fi_getopt(&p.s[0].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &v, &len),
		-FI_ETOOSMALL);
	assert_int_equal(fi_setopt(&p.s[0].ep->fid, FI_OPT_ENDPOINT, 9999, &v, sizeof(v)),
			 -FI_ENOPROTOOPT);
	assert_int_equal(fi_setopt(&p.s[0].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &v, 1),
			 -FI_EINVAL);
	assert_int_equal(fi_setopt(&p.s[0].ep->fid, FI_OPT_ENDPOINT, FI_OPT_TX_SIZE, &v, sizeof(v)),
			 -FI_ENOPROTOOPT);
	/* What is never done may be forbidden: of libfabric 1.18, CUDA's calls, shared memory. */
	for (int opt = 10; opt <= 11; opt++) {
		for (int on = 0; on < 2; on++) {
			bool permitted = on;

			assert_ok(fi_setopt(&p.s[0].ep->fid, FI_OPT_ENDPOINT, opt, &permitted,
					    sizeof(permitted)));
		}
		assert_int_equal(fi_getopt(&p.s[0].ep->fid, FI_OPT_ENDPOINT, opt, &v, &len),
				 -FI_ENOPROTOOPT);
	}
	for (int p2p = FI_HMEM_P2P_ENABLED; p2p <= FI_HMEM_P2P_DISABLED; p2p++)
		assert_int_equal(fi_setopt(&p.s[0].ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P,
					   &p2p, sizeof(p2p)),
				 p2p == FI_HMEM_P2P_REQUIRED ? -FI_EOPNOTSUPP : 0);
	test_pair_close(&p);
}

/* ---- settings of one endpoint ---------------------------------------------------------------- */

static struct fi_sdr_ep_ops_1 *ops_of(struct fid_ep *ep)
{
	struct fi_sdr_ep_ops_1 *ops;

	assert_ok(fi_open_ops(&ep->fid, FI_SDR_EP_OPS_1, 0, (void **)&ops, NULL));
	return ops;
}

static void setting__names(void **state)
{
	static const char *const v[][3] = { /* name, value, what is said of it */
					    { "reliability", "ec", "ec" },
					    { "reliability", "sr_nack", "sr_nack" },
					    { "FI_SDR_RELIABILITY", "hybrid", "hybrid" },
					    { "ec_code", "xor", "xor" },
					    { "ec_k", "10", "10" },
					    { "ec_m", "2", "2" },
					    { "ec_decode", "chunk", "chunk" },
					    { "ec_scratch", "64m", "67108864" },
					    { "ec_threads", "3", "3" },
					    { "objective", "mean", "mean" },
					    { "max_overhead", "0.5", "0.5" }
	};
	struct test_opts o = { .not_enabled = true };
	struct fi_sdr_ep_ops_1 *ops;
	struct test_pair p;
	char buf[64];
	size_t i;

	(void)state;
	test_pair_open(&p, &o);
	ops = ops_of(p.s[0].ep);
	assert_ok(ops->setting_get(p.s[0].ep, "reliability", buf, sizeof(buf)));
	assert_string_equal(buf, "auto");
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		assert_ok(ops->setting_set(p.s[0].ep, v[i][0], v[i][1]));
		assert_ok(ops->setting_get(p.s[0].ep, v[i][0], buf, sizeof(buf)));
		assert_string_equal(buf, v[i][2]);
	}
	/* a wrong value changes nothing */
	assert_int_equal(ops->setting_set(p.s[0].ep, "ec_k", "0"), -FI_EINVAL);
	assert_int_equal(ops->setting_set(p.s[0].ep, "objective", "p42"), -FI_EINVAL);
	assert_int_equal(ops->setting_set(p.s[0].ep, "max_overhead", "nan"), -FI_EINVAL);
	assert_ok(ops->setting_get(p.s[0].ep, "ec_k", buf, sizeof(buf)));
	assert_string_equal(buf, "10");
	/* the other one's are its own */
	assert_ok(ops->setting_get(p.s[1].ep, "ec_k", buf, sizeof(buf)));
	assert_string_equal(buf, "32");
	test_side_enable(&p, 0);
	assert_int_equal(ops->setting_set(p.s[0].ep, "ec_k", "32"), -FI_EOPBADSTATE);
	test_pair_close(&p);
}

/*
 * In any order; what does not go together is said when the endpoint is to be used, and can be put
 * right.
 */
static void setting__together(void **state)
{
	struct test_opts o = { .not_enabled = true };
	struct fi_sdr_ep_ops_1 *ops;
	struct sockaddr_storage name;
	size_t len = sizeof(name);
	struct test_pair p;

	(void)state;
	test_pair_open(&p, &o);
	ops = ops_of(p.s[0].ep);
	assert_ok(ops->setting_set(p.s[0].ep, "ec_k", "250"));
	assert_ok(ops->setting_set(p.s[0].ep, "ec_m", "10"));
	assert_int_equal(fi_enable(p.s[0].ep), -FI_EINVAL);
	assert_int_equal(fi_getname(&p.s[0].ep->fid, &name, &len), -FI_EINVAL);
	assert_ok(ops->setting_set(p.s[0].ep, "ec_m", "6"));
	assert_ok(ops->setting_set(p.s[0].ep, "reliability", "ec"));
	assert_ok(ops->setting_set(p.s[0].ep, "chunk_size", "16m"));
	assert_int_equal(fi_enable(p.s[0].ep), -FI_EINVAL);
	assert_ok(ops->setting_set(p.s[0].ep, "chunk_size", "64k"));
	test_side_enable(&p, 0);
	test_pair_close(&p);
}

/* Every scheme delivers, and the statistics say what was decided. */
static void setting__schemes(void **state)
{
	static const struct {
		const char *scheme;
		int parity; /* -1: as it chooses */
	} v[] = {
		{ "auto", -1 },	  { "hybrid", -1 }, { "sr", 0 },    { "sr_rto", 0 },
		{ "sr_nack", 0 }, { "ec", 1 },	    { "ec_sr", 1 },
	};
	struct fi_sdr_stats st = { .size = sizeof(st) };
	struct test_opts o = { .not_enabled = true };
	uint8_t *tx = malloc(BIG), *rx = malloc(BIG);
	struct fi_sdr_ep_ops_1 *ops;
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	size_t i;
	int k;

	(void)state;
	assert_non_null(tx);
	assert_non_null(rx);
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		test_pair_open(&p, &o);
		ops = ops_of(p.s[0].ep);
		for (k = 0; k < 2; k++) {
			assert_ok(ops->setting_set(p.s[k].ep, "reliability", v[i].scheme));
			assert_ok(ops->setting_set(p.s[k].ep, "chunk_size", "16k"));
			assert_ok(ops->setting_set(p.s[k].ep, "ec_k", "4"));
			assert_ok(ops->setting_set(p.s[k].ep, "ec_m", "2"));
			test_side_enable(&p, k);
		}
		test_fill(tx, BIG, (uint32_t)i);
		memset(rx, 0xee, BIG);
		assert_ok(fi_recv(p.s[1].ep, rx, BIG, NULL, FI_ADDR_UNSPEC, NULL));
		assert_ok(fi_send(p.s[0].ep, tx, BIG, NULL, p.s[0].peer, NULL));
		test_wait_ok(&p, 1, &e);
		assert_true(test_same(rx, BIG, (uint32_t)i));
		test_wait_ok(&p, 0, &e);
		assert_ok(ops->stats(p.s[0].ep, p.s[0].peer, &st));
		if (st.choice_sr + st.choice_parity != 1 ||
		    (v[i].parity >= 0 && st.choice_parity != (uint64_t)v[i].parity))
			fail_msg("%s: %u without parity, %u with", v[i].scheme,
				 (unsigned int)st.choice_sr, (unsigned int)st.choice_parity);
		if (!st.choice_parity) {
			assert_int_equal(st.parity_tx, 0);
			assert_int_equal(st.code_m, 0);
			assert_true(st.code_why != FI_SDR_WHY_PARITY);
		} else if (v[i].parity == 1) {
			assert_int_equal(st.code_k, 4);
			assert_int_equal(st.code_m, 2);
			assert_int_equal(st.code_cover_ppm, 1000000);
		} else {
			assert_true(st.code_m > 0 && st.code_cover_ppm > 0);
			assert_int_equal(st.code_why, FI_SDR_WHY_PARITY);
		}
		test_pair_close(&p);
	}
	free(tx);
	free(rx);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void msg__sizes(void **state)
{
	static const size_t sizes[] = { 0, 1, 7, 64, 1000, 1024, 1025, 4096, 4097, 65536, BIG };
	uint8_t *tx = malloc(BIG), *rx = malloc(BIG);
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	size_t i;
	int k;

	(void)state;
	test_pair_open(&p, &plain);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		k = (int)i & 1;
		test_fill(tx, sizes[i], (uint32_t)i);
		memset(rx, 0xee, BIG);
		assert_ok(fi_recv(p.s[!k].ep, rx, BIG, NULL, FI_ADDR_UNSPEC, &rx[i]));
		assert_ok(fi_send(p.s[k].ep, tx, sizes[i], NULL, p.s[k].peer, &tx[i]));
		test_wait_ok(&p, !k, &e);
		assert_ptr_equal(e.op_context, &rx[i]);
		assert_int_equal(e.flags, FI_RECV | FI_MSG);
		assert_int_equal(e.len, sizes[i]);
		assert_true(test_same(rx, sizes[i], (uint32_t)i));
		if (sizes[i] < BIG)
			assert_int_equal(rx[sizes[i]], 0xee);
		test_wait_ok(&p, k, &e);
		assert_ptr_equal(e.op_context, &tx[i]);
		assert_int_equal(e.flags, FI_SEND | FI_MSG);
	}
	test_pair_close(&p);
	free(tx);
	free(rx);
}

static void msg__data_inject_iov(void **state)
{
	struct fi_cq_tagged_entry e;
	struct iovec v[9], rv[2];
	char tx[90], rx[90];
	struct fi_msg m = { .msg_iov = v, .iov_count = 8, .data = 0x1122334455667788ull };
	struct test_pair p;
	int i;

	(void)state;
	test_pair_open(&p, &plain);
	test_fill(tx, sizeof(tx), 3);
	/* senddata: 8 bytes of CQ data */
	assert_ok(fi_recv(p.s[1].ep, rx, sizeof(rx), NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_senddata(p.s[0].ep, tx, 10, NULL, 0xfedcba9876543210ull, p.s[0].peer, NULL));
	test_wait_ok(&p, 1, &e);
	assert_int_equal(e.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
	assert_true(e.data == 0xfedcba9876543210ull);
	test_wait_ok(&p, 0, &e);
	/* inject and injectdata: no entry, the buffer is free at once */
	assert_ok(fi_recv(p.s[1].ep, rx, sizeof(rx), NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_inject(p.s[0].ep, tx, 10, p.s[0].peer));
	memset(tx, 0, 10);
	test_wait_ok(&p, 1, &e);
	assert_true(test_same(rx, 10, 3));
	test_fill(tx, sizeof(tx), 3);
	assert_ok(fi_recv(p.s[1].ep, rx, sizeof(rx), NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_injectdata(p.s[0].ep, tx, 10, 42, p.s[0].peer));
	test_wait_ok(&p, 1, &e);
	assert_int_equal(e.data, 42);
	test_quiet(&p, 0, 200);
	assert_int_equal(fi_inject(p.s[0].ep, tx, p.info->tx_attr->inject_size + 1, p.s[0].peer),
			 -FI_EMSGSIZE);
	/* eight pieces into two */
	for (i = 0; i < 9; i++) {
		v[i].iov_base = tx + 10 * i;
		v[i].iov_len = 10;
	}
	rv[0].iov_base = rx;
	rv[0].iov_len = 33;
	rv[1].iov_base = rx + 33;
	rv[1].iov_len = 57;
	memset(rx, 0, sizeof(rx));
	m.addr = p.s[0].peer;
	assert_ok(fi_recvv(p.s[1].ep, rv, NULL, 2, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_sendmsg(p.s[0].ep, &m, FI_REMOTE_CQ_DATA | FI_INJECT));
	test_wait_ok(&p, 1, &e);
	assert_int_equal(e.len, 80);
	assert_true(e.data == m.data);
	assert_true(test_same(rx, 80, 3));
	test_wait_ok(&p, 0, &e); /* FI_INJECT as a flag does complete */
	assert_int_equal(fi_sendv(p.s[0].ep, v, NULL, 9, p.s[0].peer, NULL), -FI_EINVAL);
	test_pair_close(&p);
}

static void msg__truncated(void **state)
{
	struct fi_cq_err_entry err;
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	char tx[100], rx[100];

	(void)state;
	test_pair_open(&p, &plain);
	test_fill(tx, sizeof(tx), 1);
	memset(rx, 0x77, sizeof(rx));
	assert_ok(fi_recv(p.s[1].ep, rx, 40, NULL, FI_ADDR_UNSPEC, &rx));
	assert_ok(fi_send(p.s[0].ep, tx, 100, NULL, p.s[0].peer, NULL));
	test_wait_err(&p, 1, &err);
	assert_int_equal(err.err, FI_ETRUNC);
	assert_int_equal(err.olen, 60);
	assert_ptr_equal(err.op_context, &rx);
	assert_int_equal(rx[40], 0x77);
	assert_non_null(fi_cq_strerror(p.s[1].cq, err.prov_errno, err.err_data, NULL, 0));
	/* the next one is unharmed */
	assert_ok(fi_recv(p.s[1].ep, rx, 100, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(p.s[0].ep, tx, 100, NULL, p.s[0].peer, NULL));
	test_wait_ok(&p, 1, &e);
	assert_int_equal(e.len, 100);
	test_pair_close(&p);
}

static void msg__source_and_directed(void **state)
{
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	fi_addr_t src = 99;
	char tx[8] = "direct", rx[2][8];

	(void)state;
	test_pair_open(&p, &plain);
	/* a directed receive for an address that never sends is not matched */
	assert_ok(fi_recv(p.s[1].ep, rx[0], 8, NULL, p.s[0].peer, &rx[0])); /* from itself */
	assert_ok(fi_recv(p.s[1].ep, rx[1], 8, NULL, p.s[1].peer, &rx[1])); /* from side 0 */
	assert_ok(fi_inject(p.s[0].ep, tx, 8, p.s[0].peer));
	assert_int_equal(test_wait(&p, 1, &e, &src), 1);
	assert_ptr_equal(e.op_context, &rx[1]);
	assert_int_equal(src, p.s[1].peer);
	/* an endpoint may send to itself */
	assert_ok(fi_inject(p.s[1].ep, tx, 8, p.s[0].peer));
	assert_int_equal(test_wait(&p, 1, &e, &src), 1);
	assert_ptr_equal(e.op_context, &rx[0]);
	assert_int_equal(src, p.s[0].peer);
	/* an address that has left the vector is no source any more */
	assert_ok(fi_av_remove(p.av, &p.s[1].peer, 1, 0));
	assert_ok(fi_recv(p.s[1].ep, rx[0], 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_inject(p.s[0].ep, tx, 8, p.s[0].peer));
	assert_int_equal(test_wait(&p, 1, &e, &src), 1);
	assert_true(src == FI_ADDR_NOTAVAIL);
	assert_int_equal(fi_inject(p.s[1].ep, tx, 8, p.s[1].peer), -FI_EADDRNOTAVAIL);
	/* and is one again after it came back */
	assert_int_equal(fi_av_insert(p.av, &p.s[0].name, 1, &p.s[1].peer, 0, NULL), 1);
	assert_ok(fi_recv(p.s[1].ep, rx[0], 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_inject(p.s[0].ep, tx, 8, p.s[0].peer));
	assert_int_equal(test_wait(&p, 1, &e, &src), 1);
	assert_int_equal(src, p.s[1].peer);
	test_pair_close(&p);
}

/*
 * Something that is never received, a fence behind it and more behind that: either side may close,
 * and each of them ends.
 */
static void close__with_operations_behind_a_fence(void **state)
{
	static char big[4 << 20];
	struct iovec iov = { big, 100 };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct test_opts o = { 0 };
		struct fi_cq_err_entry err;
		struct test_pair p;
		struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
		int ended = 0;

		test_pair_open(&p, &o);
		msg.addr = p.s[0].peer;
		assert_ok(fi_send(p.s[0].ep, big, sizeof(big), NULL, p.s[0].peer, NULL));
		assert_ok(fi_sendmsg(p.s[0].ep, &msg, FI_FENCE | FI_COMPLETION));
		for (int i = 0; i < 2; i++)
			assert_ok(fi_send(p.s[0].ep, big, 100, NULL, p.s[0].peer, NULL));
		for (int i = 0; i < 1000; i++) { /* connected, the first parked, the others held */
			struct fi_cq_tagged_entry e;

			assert_int_equal(fi_cq_read(p.s[0].cq, &e, 1), -FI_EAGAIN);
			assert_int_equal(fi_cq_read(p.s[1].cq, &e, 1), -FI_EAGAIN);
		}
		test_side_close(&p.s[k]);
		while (ended < 4) {
			if (k) {
				test_wait_err(&p, 0, &err);
			} else {
				memset(&err, 0, sizeof(err));
				assert_int_equal(fi_cq_readerr(p.s[0].cq, &err, 0), 1);
				assert_int_equal(err.err, FI_ECANCELED);
			}
			ended++;
		}
		test_pair_close(&p);
	}
}

/*
 * More addresses in an endpoint's life than it knows at a time: what leaves the vector is
 * forgotten.
 */
static void av__removed_addresses_make_room(void **state)
{
	struct test_opts o = { 0 };
	struct test_pair p;
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	fi_addr_t a;
	char buf[8];

	(void)state;
	test_pair_open(&p, &o);
	for (uint32_t i = 0; i < 70000; i++) {
		sin.sin_addr.s_addr = htonl(0x7f010000u + i / 60000);
		sin.sin_port = htons((uint16_t)(1024 + i % 60000));
		assert_int_equal(fi_av_insert(p.av, &sin, 1, &a, 0, NULL), 1);
		/* for this peer only: it is looked up */
		assert_ok(fi_recv(p.s[0].ep, buf, 8, NULL, a, &a));
		assert_ok(fi_cancel(&p.s[0].ep->fid, &a));
		assert_int_equal(fi_cq_read(p.s[0].cq, &e, 1), -FI_EAVAIL);
		assert_int_equal(fi_cq_readerr(p.s[0].cq, &err, 0), 1);
		assert_int_equal(err.err, FI_ECANCELED);
		assert_ok(fi_av_remove(p.av, &a, 1, 0));
	}
	assert_ok(fi_recv(p.s[1].ep, buf, 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(p.s[0].ep, "talk", 5, NULL, p.s[0].peer, NULL));
	test_wait_ok(&p, 1, &e);
	test_pair_close(&p);
}

static void msg__cancel(void **state)
{
	struct fi_cq_err_entry err;
	struct test_pair p;
	char rx[8];

	(void)state;
	test_pair_open(&p, &plain);
	assert_ok(fi_recv(p.s[0].ep, rx, 8, NULL, FI_ADDR_UNSPEC, &rx));
	assert_int_equal(fi_cancel(&p.s[0].ep->fid, &p), -FI_ENOENT);
	assert_ok(fi_cancel(&p.s[0].ep->fid, &rx));
	test_wait_err(&p, 0, &err);
	assert_int_equal(err.err, FI_ECANCELED);
	assert_ptr_equal(err.op_context, &rx);
	assert_int_equal(fi_cancel(&p.s[0].ep->fid, &rx), -FI_ENOENT);
	test_pair_close(&p);
}

static void msg__multi_recv(void **state)
{
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	char tx[60], rx[200];
	struct iovec v = { rx, sizeof(rx) };
	struct fi_msg m = { .msg_iov = &v, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &p };
	size_t min = 50, off = 0;
	bool released = false;
	int i, n = 0;

	(void)state;
	test_pair_open(&p, &plain);
	assert_ok(fi_setopt(&p.s[1].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min,
			    sizeof(min)));
	assert_ok(fi_recvmsg(p.s[1].ep, &m, FI_MULTI_RECV));
	for (i = 0; i < 3; i++) {
		test_fill(tx, sizeof(tx), (uint32_t)i);
		assert_ok(fi_inject(p.s[0].ep, tx, sizeof(tx), p.s[0].peer));
	}
	while (n < 3 || !released) {
		test_wait_ok(&p, 1, &e);
		assert_ptr_equal(e.op_context, &p);
		released |= e.flags & FI_MULTI_RECV;
		if (e.len) {
			assert_ptr_equal(e.buf, rx + off);
			assert_int_equal(e.len, 60);
			assert_true(test_same(rx + off, 60, (uint32_t)n++));
			off += 60;
		}
	}
	assert_int_equal(n, 3);
	test_pair_close(&p);
}

/*
 * fi_msg(3): the entry that gives the buffer back is always made; without it a program that counts
 * messages could never use the buffer again.  The others only where they were requested.
 */
static void msg__multi_recv_selective(void **state)
{
	struct test_opts o = { .cq_flags = FI_SELECTIVE_COMPLETION, .cntrs = true };
	char tx[60], rx[2][200];
	struct iovec v = { .iov_len = sizeof(rx[0]) };
	struct fi_msg m = { .msg_iov = &v, .iov_count = 1, .addr = FI_ADDR_UNSPEC };
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	size_t min = 50;
	int i;

	(void)state;
	test_pair_open(&p, &o);
	assert_ok(fi_setopt(&p.s[1].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min,
			    sizeof(min)));
	for (i = 0; i < 2; i++) {
		v.iov_base = m.context = rx[i];
		assert_ok(fi_recvmsg(p.s[1].ep, &m, FI_MULTI_RECV | (i ? FI_COMPLETION : 0)));
	}
	for (i = 0; i < 6; i++) {
		test_fill(tx, sizeof(tx), (uint32_t)i);
		assert_ok(fi_inject(p.s[0].ep, tx, sizeof(tx), p.s[0].peer));
	}
	test_wait_ok(&p, 1, &e); /* three messages, one entry, of none of them */
	assert_ptr_equal(e.op_context, rx[0]);
	assert_int_equal(e.flags, FI_MULTI_RECV);
	assert_int_equal(e.len, 0);
	for (i = 3; i < 6; i++) {
		test_wait_ok(&p, 1, &e);
		assert_ptr_equal(e.op_context, rx[1]);
		assert_int_equal(e.flags, FI_RECV | FI_MSG | (i == 5 ? FI_MULTI_RECV : 0));
		assert_ptr_equal(e.buf, rx[1] + 60 * (i - 3));
		assert_int_equal(e.len, 60);
	}
	test_quiet(&p, 1, 100);
	assert_int_equal(fi_cntr_read(p.s[1].recv), 6);
	for (i = 0; i < 6; i++)
		assert_true(test_same(rx[i / 3] + 60 * (i % 3), 60, (uint32_t)i));
	test_pair_close(&p);
}

/* ---- tags ------------------------------------------------------------------------------------ */

static void tagged__matching(void **state)
{
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	char tx[8] = "tagged!", rx[3][8];

	(void)state;
	test_pair_open(&p, &plain);
	assert_ok(fi_trecv(p.s[1].ep, rx[0], 8, NULL, FI_ADDR_UNSPEC, 0x10, 0, &rx[0]));
	assert_ok(fi_trecv(p.s[1].ep, rx[1], 8, NULL, FI_ADDR_UNSPEC, 0x20, 0x0f, &rx[1]));
	assert_ok(fi_recv(p.s[1].ep, rx[2], 8, NULL, FI_ADDR_UNSPEC, &rx[2]));
	assert_ok(fi_tsend(p.s[0].ep, tx, 8, NULL, p.s[0].peer, 0x2a, NULL));
	test_wait_ok(&p, 1, &e);
	assert_ptr_equal(e.op_context, &rx[1]);
	assert_int_equal(e.tag, 0x2a);
	assert_int_equal(e.flags, FI_RECV | FI_TAGGED);
	test_wait_ok(&p, 0, &e);
	assert_int_equal(e.flags, FI_SEND | FI_TAGGED);
	assert_ok(fi_tinjectdata(p.s[0].ep, tx, 8, 7, p.s[0].peer, 0x10));
	test_wait_ok(&p, 1, &e);
	assert_ptr_equal(e.op_context, &rx[0]);
	assert_int_equal(e.data, 7);
	/* an untagged message takes the untagged receive */
	assert_ok(fi_inject(p.s[0].ep, tx, 8, p.s[0].peer));
	test_wait_ok(&p, 1, &e);
	assert_ptr_equal(e.op_context, &rx[2]);
	test_pair_close(&p);
}

static void tagged__peek_claim_discard(void **state)
{
	struct fi_cq_tagged_entry e;
	struct fi_cq_err_entry err;
	struct test_pair p;
	struct fi_context ctx;
	char tx[16] = "peek at me", rx[16];
	struct iovec v = { rx, sizeof(rx) };
	struct fi_msg_tagged m = {
		.msg_iov = &v, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .tag = 5, .context = &ctx
	};
	uint64_t end = test_now_s() + TEST_GUARD_S;
	ssize_t ret;
	int i;

	(void)state;
	test_pair_open(&p, &plain);
	assert_ok(fi_trecvmsg(p.s[1].ep, &m, FI_PEEK));
	test_wait_err(&p, 1, &err);
	assert_int_equal(err.err, FI_ENOMSG);
	for (i = 0; i < 3; i++) {
		tx[15] = (char)i;
		assert_ok(fi_tinject(p.s[0].ep, tx, 16, p.s[0].peer, 5));
	}
	do { /* until the first has come */
		assert_true(test_now_s() < end);
		assert_ok(fi_trecvmsg(p.s[1].ep, &m, FI_PEEK));
		ret = test_wait(&p, 1, &e, NULL);
		if (ret == -FI_EAVAIL)
			assert_int_equal(fi_cq_readerr(p.s[1].cq, &err, 0), 1);
	} while (ret == -FI_EAVAIL);
	assert_int_equal(e.tag, 5);
	assert_int_equal(e.len, 16);
	/* claim the first, then take it */
	assert_ok(fi_trecvmsg(p.s[1].ep, &m, FI_PEEK | FI_CLAIM));
	test_wait_ok(&p, 1, &e);
	assert_ok(fi_trecvmsg(p.s[1].ep, &m, FI_CLAIM));
	test_wait_ok(&p, 1, &e);
	assert_int_equal(rx[15], 0);
	/* discard the second */
	do {
		assert_true(test_now_s() < end);
		assert_ok(fi_trecvmsg(p.s[1].ep, &m, FI_PEEK | FI_DISCARD));
		ret = test_wait(&p, 1, &e, NULL);
		if (ret == -FI_EAVAIL)
			assert_int_equal(fi_cq_readerr(p.s[1].cq, &err, 0), 1);
	} while (ret == -FI_EAVAIL);
	/* the third is what is left */
	assert_ok(fi_trecv(p.s[1].ep, rx, 16, NULL, FI_ADDR_UNSPEC, 5, 0, NULL));
	test_wait_ok(&p, 1, &e);
	assert_int_equal(rx[15], 2);
	assert_int_equal(fi_trecvmsg(p.s[1].ep, &m, FI_DISCARD), -FI_EINVAL);
	test_pair_close(&p);
}

/* A queue with as many unread entries as it is long takes no receives, and answers who peeks. */
static void tagged__peeks_beyond_the_queue(void **state)
{
	enum { N = 3000 };
	struct fi_context ctx;
	struct fi_msg_tagged m = { .addr = FI_ADDR_UNSPEC, .tag = 5, .context = &ctx };
	struct fi_cq_err_entry err;
	struct test_pair p;
	char rx[8];

	(void)state;
	test_pair_open(&p, &plain);
	for (int i = 0; i < N; i++)
		assert_ok(fi_trecvmsg(p.s[1].ep, &m, FI_PEEK));
	assert_int_equal(fi_trecv(p.s[1].ep, rx, 8, NULL, FI_ADDR_UNSPEC, 5, 0, NULL), -FI_EAGAIN);
	for (int i = 0; i < N; i++) {
		test_wait_err(&p, 1, &err);
		assert_true(err.err == FI_ENOMSG && err.op_context == &ctx);
	}
	test_quiet(&p, 1, 10);
	assert_ok(fi_trecv(p.s[1].ep, rx, 8, NULL, FI_ADDR_UNSPEC, 5, 0, NULL));
	test_pair_close(&p);
}

/* ---- completions ----------------------------------------------------------------------------- */

static void cq__selective(void **state)
{
	struct test_opts o = { .cq_flags = FI_SELECTIVE_COMPLETION, .cntrs = true };
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	char tx[8] = "select", rx[8];
	struct iovec v = { tx, 8 };
	struct fi_msg m = { .msg_iov = &v, .iov_count = 1, .context = &v };

	(void)state;
	test_pair_open(&p, &o);
	m.addr = p.s[0].peer;
	assert_ok(fi_recv(p.s[1].ep, rx, 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(p.s[0].ep, tx, 8, NULL, p.s[0].peer, NULL));
	assert_ok(fi_cntr_wait(p.s[1].recv, 1, TEST_GUARD_S * 1000));
	assert_ok(fi_cntr_wait(p.s[0].send, 1, TEST_GUARD_S * 1000));
	test_quiet(&p, 0, 10);
	test_quiet(&p, 1, 10);
	assert_ok(fi_recv(p.s[1].ep, rx, 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_sendmsg(p.s[0].ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	test_wait_ok(&p, 0, &e);
	assert_ptr_equal(e.op_context, &v);
	/* delivery complete: it lies there */
	assert_string_equal(rx, "select");
	/* injected messages count, too */
	assert_ok(fi_recv(p.s[1].ep, rx, 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_inject(p.s[0].ep, tx, 8, p.s[0].peer));
	assert_ok(fi_cntr_wait(p.s[0].send, 3, TEST_GUARD_S * 1000));
	assert_ok(fi_cntr_wait(p.s[1].recv, 3, TEST_GUARD_S * 1000));
	/* errors are reported even so */
	assert_ok(fi_recv(p.s[1].ep, rx, 8, NULL, FI_ADDR_UNSPEC, &rx));
	assert_ok(fi_cancel(&p.s[1].ep->fid, &rx));
	assert_int_equal(test_wait(&p, 1, &e, NULL), -FI_EAVAIL);
	assert_int_equal(fi_cntr_readerr(p.s[1].recv), 1);
	test_pair_close(&p);
}

static void cq__more_than_its_size(void **state)
{
	enum { N = 3000 };
	static uint32_t tx[N]; /* each is its send's until that is done */
	struct test_opts o = { .cq_size = 16 };
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	uint32_t rx[1];
	int posted = 0, got = 0;
	ssize_t ret;

	(void)state;
	test_pair_open(&p, &o);
	/* the sender's queue is not read: posting stops, nothing is lost */
	while (posted < N) {
		tx[posted] = (uint32_t)posted;
		ret = fi_send(p.s[0].ep, &tx[posted], 4, NULL, p.s[0].peer, NULL);
		if (ret == -FI_EAGAIN)
			break;
		assert_ok(ret);
		posted++;
		assert_ok(fi_recv(p.s[1].ep, rx, 4, NULL, FI_ADDR_UNSPEC, NULL));
		test_wait_ok(&p, 1, &e);
		fi_cq_read(p.s[0].cq, &e, 0);
	}
	assert_true(posted >= 16 && posted < N);
	while (got < posted) {
		test_wait_ok(&p, 0, &e);
		got++;
	}
	test_quiet(&p, 0, 50);
	test_pair_close(&p);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void error__no_answer(void **state)
{
	struct sockaddr_in nobody = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct fi_sdr_ep_ops_1 *ops;
	struct test_opts o = { .not_enabled = true };
	struct fi_cq_err_entry err;
	struct test_pair p;
	char buf[384];
	const char *text;
	fi_addr_t a;

	(void)state;
	nobody.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	test_pair_open(&p, &o);
	assert_ok(fi_open_ops(&p.s[0].ep->fid, FI_SDR_EP_OPS_1, 0, (void **)&ops, NULL));
	assert_ok(ops->setting_set(p.s[0].ep, "timeout", "300"));
	test_side_enable(&p, 0);
	test_side_enable(&p, 1);
	assert_int_equal(fi_av_insert(p.av, &nobody, 1, &a, 0, NULL), 1);
	assert_ok(fi_send(p.s[0].ep, "hello", 6, NULL, a, &a));
	test_wait_err(&p, 0, &err);
	assert_int_equal(err.err, FI_ETIMEDOUT);
	assert_ptr_equal(err.op_context, &a);
	text = fi_cq_strerror(p.s[0].cq, err.prov_errno, err.err_data, NULL, 0);
	assert_non_null(strstr(text, "127.0.0.1:9")); /* who */
	assert_non_null(strstr(text, "check"));	      /* what next */
	/* numbers of which no fixed text can speak */
	text = fi_cq_strerror(p.s[0].cq, 16 | 3 << 8 | 5 << 16, NULL, buf, sizeof(buf));
	assert_ptr_equal(text, buf);
	assert_non_null(strstr(text, "versions 3 to 5"));
	assert_non_null(strstr(text, "version 2"));
	test_pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ep__states),
		cmocka_unit_test(ep__port_in_use),
		cmocka_unit_test(ep__options),
		cmocka_unit_test(setting__names),
		cmocka_unit_test(setting__together),
		cmocka_unit_test(setting__schemes),
		cmocka_unit_test(msg__sizes),
		cmocka_unit_test(msg__data_inject_iov),
		cmocka_unit_test(msg__truncated),
		cmocka_unit_test(msg__source_and_directed),
		cmocka_unit_test(close__with_operations_behind_a_fence),
		cmocka_unit_test(av__removed_addresses_make_room),
		cmocka_unit_test(msg__cancel),
		cmocka_unit_test(msg__multi_recv),
		cmocka_unit_test(msg__multi_recv_selective),
		cmocka_unit_test(tagged__matching),
		cmocka_unit_test(tagged__peek_claim_discard),
		cmocka_unit_test(tagged__peeks_beyond_the_queue),
		cmocka_unit_test(cq__selective),
		cmocka_unit_test(cq__more_than_its_size),
		cmocka_unit_test(error__no_answer),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
