/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_SOURCE and FI_SOURCE_ERR: who sent, where the address vector knows them, and their address by
 * an error entry where it does not.
 */
#include "test_fi_util.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_RMA | FI_SOURCE)

/* Side 1 has no address of side 0. */
static void strangers_open(struct test_pair *p, enum fi_ep_type type, uint64_t caps)
{
	struct test_opts o = { .type = type, .caps = caps };

	test_pair_open(p, &o);
	assert_ok(fi_av_remove(p->av, &p->s[1].peer, 1, 0));
}

static void from_stranger(struct test_pair *p, struct fi_cq_err_entry *err)
{
	struct fi_cq_tagged_entry e;
	char text[64];

	*err = (struct fi_cq_err_entry){ 0 };
	assert_int_equal(test_wait(p, 1, &e, NULL), -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(p->s[1].cq, err, 0), 1);
	assert_int_equal(err->err, FI_EADDRNOTAVAIL);
	assert_int_equal(err->err_data_size, p->s[0].namelen);
	assert_memory_equal(err->err_data, &p->s[0].name, p->s[0].namelen);
	/* an address is no text */
	fi_cq_strerror(p->s[1].cq, err->prov_errno, err->err_data, text, sizeof(text));
	assert_memory_not_equal(text, &p->s[0].name, 2);
}

static void unknown__messages(void **state)
{
	uint64_t tx = 0x1122334455667788, rx = 0;
	struct fi_cq_tagged_entry e;
	struct fi_cq_err_entry err;
	struct test_pair p;
	fi_addr_t src;

	(void)state;
	strangers_open(&p, FI_EP_RDM, CAPS | FI_SOURCE_ERR);
	assert_true(p.info->caps & FI_SOURCE_ERR);
	assert_true(p.info->rx_attr->caps & FI_SOURCE_ERR);
	/* it was received well, and the entry says all that it would */
	assert_ok(fi_recv(p.s[1].ep, &rx, 8, NULL, FI_ADDR_UNSPEC, &rx));
	assert_ok(fi_senddata(p.s[0].ep, &tx, 8, NULL, 77, p.s[0].peer, NULL));
	from_stranger(&p, &err);
	assert_true(err.op_context == &rx && err.len == 8 && err.data == 77 && rx == tx);
	assert_int_equal(err.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
	test_wait_ok(&p, 0, &e);
	rx = 0;
	assert_ok(fi_trecv(p.s[1].ep, &rx, 8, NULL, FI_ADDR_UNSPEC, 5, 0, &rx));
	assert_ok(fi_tsend(p.s[0].ep, &tx, 8, NULL, p.s[0].peer, 5, NULL));
	from_stranger(&p, &err);
	assert_true(err.op_context == &rx && err.len == 8 && err.tag == 5 && rx == tx);
	test_wait_ok(&p, 0, &e);
	/* what it says can be inserted, and from then on it is known */
	assert_int_equal(fi_av_insert(p.av, err.err_data, 1, &p.s[1].peer, 0, NULL), 1);
	assert_ok(fi_recv(p.s[1].ep, &rx, 8, NULL, FI_ADDR_UNSPEC, &rx));
	assert_ok(fi_send(p.s[0].ep, &tx, 8, NULL, p.s[0].peer, NULL));
	assert_int_equal(test_wait(&p, 1, &e, &src), 1);
	assert_int_equal(src, p.s[1].peer);
	test_wait_ok(&p, 0, &e);
	assert_ok(fi_recv(p.s[0].ep, &rx, 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(p.s[1].ep, &tx, 8, NULL, p.s[1].peer, NULL));
	test_wait_ok(&p, 0, &e);
	test_pair_close(&p);
}

/* The caller has room of its own, and too little of it. */
static void unknown__room_of_the_caller(void **state)
{
	uint8_t data[8], room[sizeof(struct sockaddr_storage)];
	struct fi_cq_err_entry err = { .err_data = room, .err_data_size = sizeof(room) };
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	uint64_t tx = 1;

	(void)state;
	strangers_open(&p, FI_EP_RDM, CAPS | FI_SOURCE_ERR);
	assert_ok(fi_recv(p.s[1].ep, data, 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(p.s[0].ep, &tx, 8, NULL, p.s[0].peer, NULL));
	assert_int_equal(test_wait(&p, 1, &e, NULL), -FI_EAVAIL);
	memset(room, 0xee, sizeof(room));
	err.err_data_size = 5;
	assert_int_equal(fi_cq_readerr(p.s[1].cq, &err, FI_PEEK), 1);
	assert_int_equal(err.err_data_size, 5);
	assert_memory_equal(room, &p.s[0].name, 5);
	assert_int_equal(room[5], 0xee);
	err.err_data_size = sizeof(room);
	assert_int_equal(fi_cq_readerr(p.s[1].cq, &err, 0), 1);
	assert_int_equal(err.err_data_size, p.s[0].namelen);
	assert_memory_equal(room, &p.s[0].name, p.s[0].namelen);
	assert_true(err.err_data == room);
	test_pair_close(&p);
}

/* Without it such a message is as any other, and says that its sender is not known. */
static void unknown__not_asked(void **state)
{
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	uint64_t tx = 1, rx;
	fi_addr_t src = 0;

	(void)state;
	strangers_open(&p, FI_EP_RDM, CAPS);
	assert_false(p.info->caps & FI_SOURCE_ERR);
	assert_ok(fi_recv(p.s[1].ep, &rx, 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(p.s[0].ep, &tx, 8, NULL, p.s[0].peer, NULL));
	assert_int_equal(test_wait(&p, 1, &e, &src), 1);
	assert_true(src == FI_ADDR_NOTAVAIL);
	test_pair_close(&p);
}

/* A write with data is told of as well, its counter rises as ever, and so with datagrams. */
static void unknown__writes_and_datagrams(void **state)
{
	struct test_opts o = { .caps = CAPS | FI_SOURCE_ERR, .cntrs = true };
	struct fi_cq_tagged_entry e;
	struct fi_cq_err_entry err;
	uint64_t tx = 3, rx = 0;
	struct test_pair p;
	struct fid_mr *mr;

	(void)state;
	test_pair_open(&p, &o);
	assert_ok(fi_av_remove(p.av, &p.s[1].peer, 1, 0));
	assert_ok(fi_mr_reg(p.domain, &rx, 8, FI_REMOTE_WRITE, 0, 9, 0, &mr, NULL));
	assert_ok(fi_writedata(p.s[0].ep, &tx, 8, NULL, 42, p.s[0].peer, 0, 9, NULL));
	from_stranger(&p, &err);
	assert_int_equal(err.flags, FI_REMOTE_WRITE | FI_RMA | FI_REMOTE_CQ_DATA);
	assert_true(err.data == 42 && rx == tx);
	assert_int_equal(fi_cntr_read(p.s[1].rwrite), 1);
	assert_int_equal(fi_cntr_readerr(p.s[1].rwrite), 0);
	test_wait_ok(&p, 0, &e);
	assert_ok(fi_close(&mr->fid));
	test_pair_close(&p);

	rx = 0;
	strangers_open(&p, FI_EP_DGRAM, FI_MSG | FI_SOURCE | FI_SOURCE_ERR);
	assert_ok(fi_recv(p.s[1].ep, &rx, 8, NULL, FI_ADDR_UNSPEC, &rx));
	assert_ok(fi_send(p.s[0].ep, &tx, 8, NULL, p.s[0].peer, NULL));
	from_stranger(&p, &err);
	assert_true(err.op_context == &rx && err.len == 8 && rx == tx);
	test_pair_close(&p);
}

static void asked__with_source_only(void **state)
{
	struct fi_info *h = test_hints(FI_EP_RDM, FI_MSG | FI_SOURCE_ERR), *info;

	(void)state;
	assert_null(test_getinfo(TEST_API, NULL, NULL, 0, h));
	h->caps |= FI_SOURCE;
	h->rx_attr->caps = FI_MSG | FI_RECV | FI_SOURCE | FI_SOURCE_ERR;
	info = test_getinfo(TEST_API, NULL, NULL, 0, h);
	assert_non_null(info);
	assert_true(info->caps & info->rx_attr->caps & FI_SOURCE_ERR);
	fi_freeinfo(info);
	/* one peer, which is known */
	h->ep_attr->type = FI_EP_MSG;
	assert_null(test_getinfo(TEST_API, NULL, NULL, 0, h));
	fi_freeinfo(h);
	/* it costs, and is for who asks */
	h = test_hints(FI_EP_RDM, 0);
	info = test_getinfo(TEST_API, NULL, NULL, 0, h);
	assert_true((info->caps & FI_SOURCE) && !(info->caps & FI_SOURCE_ERR));
	fi_freeinfo(info);
	fi_freeinfo(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown__messages),
		cmocka_unit_test(unknown__room_of_the_caller),
		cmocka_unit_test(unknown__not_asked),
		cmocka_unit_test(unknown__writes_and_datagrams),
		cmocka_unit_test(asked__with_source_only),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
