/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The octet of traffic class and ECN on the soft engine: what leaves may be marked where the
 * descriptor says so and nowhere else, trains included; what comes in says how it was marked; both
 * families; a receiver that was told to do without.
 */
#include <netinet/in.h>
#include <unistd.h>

#include "uc/sdr_uc_addr.h"
#include "test_soft_util.h"

#define PKTS 24u
#define SLOT 3u
#define DSCP 46u

static const char *const names[] = { "soft:127.0.0.1", "soft:[::1]" };
#define NAMES (sizeof(names) / sizeof(names[0]))

static uint8_t src[PKTS * PAIR_MTU], dst[PKTS * PAIR_MTU];

static void bound_open(struct pair *p, const struct pair_opt *opt)
{
	pair_open(p, opt);
	assert_int_equal(p->b->ops->slot_bind(p->qb, SLOT, 0, dst, sizeof(dst), NULL), 0);
}

/* Packets are posted in turns of 1, 2, 3 ... with and without ECT; each arrives as it left. */
static void each_as_it_left(const char *name, uint8_t off)
{
	struct pair_opt opt = { .name = name, .off = off };
	struct sdr_uc_tx v[PKTS];
	uint8_t want[PKTS];
	uint32_t first = 0, n, run;
	struct pair p;
	int k, got;

	bound_open(&p, &opt);
	assert_true(p.ia.ecn && p.ib.ecn);
	for (n = 0, run = 1; first < PKTS; first += run, run++, n++) {
		if (run > PKTS - first)
			run = PKTS - first;
		v[n] = pair_write(&p, SLOT, 0, src, first, run * PAIR_MTU);
		v[n].flags = n & 1 ? SDR_UC_F_ECT : 0;
		memset(want + first, n & 1 ? SDR_UC_ECT0 : SDR_UC_NOT_ECT, run);
	}
	assert_int_equal(p.a->ops->post(p.a, v, (int)n), n);
	got = pair_wait(p.b, p.ev, PKTS);
	assert_int_equal(got, PKTS);
	for (k = 0; k < got; k++)
		assert_int_equal(p.ev[k].ecn,
				 want[sdr_imm_off(&(struct sdr_imm_split)SDR_IMM_SPLIT_DEFAULT,
						  p.ev[k].p.imm)]);
	pair_close(&p);
}

static void ecn__leaves_as_posted(void **state)
{
	(void)state;
	for (size_t i = 0; i < NAMES; i++) {
		each_as_it_left(names[i], 0);
		each_as_it_left(names[i], SDR_SOFT_NO_GSO);
		each_as_it_left(names[i], SDR_SOFT_NO_GRO);
	}
}

/* A datagram behind data rides in its train only when it may be marked as well. */
static void ecn__control_datagrams(void **state)
{
	(void)state;
	for (size_t i = 0; i < NAMES; i++) {
		struct pair_opt opt = { .name = names[i] };
		struct sdr_uc_tx v[4];
		struct pair p;

		bound_open(&p, &opt);
		v[0] = pair_write(&p, SLOT, 0, src, 0, 2 * PAIR_MTU);
		v[1] = pair_ctl(&p.ib.addr, "plain", 5);
		v[2] = pair_ctl(&p.ib.addr, "marks", 5);
		v[3] = pair_ctl(&p.ib.addr, "never", 5);
		v[0].flags = v[2].flags = SDR_UC_F_ECT;
		assert_int_equal(p.a->ops->post(p.a, v, 4), 4);
		assert_int_equal(pair_wait(p.b, p.ev, 5), 5);
		assert_int_equal(p.ev[0].ecn, SDR_UC_ECT0);
		assert_int_equal(p.ev[1].ecn, SDR_UC_ECT0);
		assert_int_equal(p.ev[2].ecn, SDR_UC_NOT_ECT);
		assert_int_equal(p.ev[3].ecn, SDR_UC_ECT0);
		assert_int_equal(p.ev[4].ecn, SDR_UC_NOT_ECT);
		assert_memory_equal(p.ev[3].c.buf, "marks", 5);
		pair_close(&p);
	}
}

/* ---- what a socket with any octet sends ------------------------------------------------------ */

static int raw_open(const struct sdr_uc_addr *to, int tos)
{
	struct sockaddr_storage sa;
	int len = sdr_uc_addr_to_sockaddr(to, &sa), fd;

	assert_true(len > 0);
	fd = socket(sa.ss_family, SOCK_DGRAM, 0);
	assert_true(fd >= 0);
	if (sa.ss_family == AF_INET6)
		assert_int_equal(setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos)), 0);
	else
		assert_int_equal(setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, (socklen_t)len), 0);
	return fd;
}

/* Piece k of n of packet off. */
static void raw_send(const struct pair *p, int fd, uint32_t off, uint32_t k, uint32_t n)
{
	static const struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	struct sdr_wire_data d = { .qpn = p->wb.qpn, .rkey = p->wb.rkey };
	uint8_t pkt[PAIR_MTU + SDR_DATA_OVERHEAD];
	size_t len;

	d.len = PAIR_MTU / n;
	d.piece = (uint16_t)(n > 1 ? d.len : 0);
	d.whole = PAIR_MTU;
	d.va = SLOT * (uint64_t)PAIR_MSG + (uint64_t)off * PAIR_MTU + (uint64_t)k * d.len;
	d.imm = sdr_imm_pack(&split, SLOT, off, 0);
	memset(pkt, 0, sizeof(pkt));
	sdr_wire_data_encode(pkt, &d);
	len = SDR_DATA_HDR + d.len;
	sdr_put_le32(pkt + len, sdr_icrc_final(sdr_icrc_headers(sdr_icrc_seed_masked(), pkt, len)));
	len += SDR_ICRC_LEN;
	assert_int_equal(send(fd, pkt, len, 0), len);
}

static void ecn__every_mark_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < NAMES; i++) {
		struct pair_opt opt = { .name = names[i] };
		struct pair p;

		bound_open(&p, &opt);
		for (int ecn = 0; ecn < SDR_UC_ECNS; ecn++) {
			int fd = raw_open(&p.ib.addr, DSCP << 2 | ecn);

			raw_send(&p, fd, (uint32_t)ecn, 0, 1);
			assert_int_equal(pair_wait(p.b, p.ev, 1), 1);
			assert_int_equal(p.ev[0].kind, SDR_UC_EV_PLACED);
			assert_int_equal(p.ev[0].ecn, ecn);
			close(fd);
		}
		pair_close(&p);
	}
}

/* One piece was marked: the packet was, and the next is not. */
static void ecn__a_marked_piece_marks_the_packet(void **state)
{
	struct pair_opt opt = { 0 };
	struct pair p;
	int ect, ce;

	(void)state;
	bound_open(&p, &opt);
	ect = raw_open(&p.ib.addr, SDR_UC_ECT0);
	ce = raw_open(&p.ib.addr, SDR_UC_CE);
	for (uint32_t k = 0; k < 4; k++)
		raw_send(&p, k == 1 ? ce : ect, 0, k, 4);
	for (uint32_t k = 0; k < 4; k++)
		raw_send(&p, ect, 1, k, 4);
	assert_int_equal(pair_wait(p.b, p.ev, 2), 2);
	assert_int_equal(p.ev[0].ecn, SDR_UC_CE);
	assert_int_equal(p.ev[1].ecn, SDR_UC_ECT0);
	close(ect);
	close(ce);
	pair_close(&p);
}

/* It came by one way: no packet that came by another is marked for it. */
static void ecn__a_marked_piece_is_of_its_way(void **state)
{
	struct sockaddr_storage sa = { 0 };
	socklen_t len = sizeof(sa);
	struct pair_opt opt = { 0 };
	struct sdr_uc_addr from;
	struct pair p;
	int ect, ce;

	(void)state;
	bound_open(&p, &opt);
	ect = raw_open(&p.ib.addr, SDR_UC_ECT0);
	ce = raw_open(&p.ib.addr, SDR_UC_CE);
	assert_int_equal(getsockname(ce, (struct sockaddr *)&sa, &len), 0);
	assert_int_equal(sdr_uc_addr_from_sockaddr(&from, (struct sockaddr *)&sa), 0);
	assert_int_equal(p.b->ops->qp_via(p.qb, 3, 0, &from), 0);
	raw_send(&p, ce, 0, 0, 2);
	raw_send(&p, ect, 1, 0, 1);
	assert_int_equal(pair_wait(p.b, p.ev, 1), 1);
	assert_int_equal(p.ev[0].via, 0);
	assert_int_equal(p.ev[0].ecn, SDR_UC_ECT0);
	raw_send(&p, ce, 0, 1, 2);
	assert_int_equal(pair_wait(p.b, p.ev, 1), 1);
	assert_int_equal(p.ev[0].via, 3);
	assert_int_equal(p.ev[0].ecn, SDR_UC_CE);
	close(ect);
	close(ce);
	pair_close(&p);
}

static void ecn__off(void **state)
{
	struct pair_opt opt = { .off = SDR_SOFT_NO_ECN };
	struct sdr_uc_tx t;
	struct pair p;
	int fd;

	(void)state;
	bound_open(&p, &opt);
	assert_false(p.ia.ecn || p.ib.ecn);
	fd = raw_open(&p.ib.addr, SDR_UC_CE);
	raw_send(&p, fd, 0, 0, 1);
	t = pair_write(&p, SLOT, 0, src, 1, PAIR_MTU);
	t.flags = SDR_UC_F_ECT;
	pair_post(&p, t);
	assert_int_equal(pair_wait(p.b, p.ev, 2), 2);
	assert_int_equal(p.ev[0].ecn, SDR_UC_NOT_ECT);
	assert_int_equal(p.ev[1].ecn, SDR_UC_NOT_ECT);
	close(fd);
	pair_close(&p);
}

/* ---- traffic class --------------------------------------------------------------------------- */

/* The octet with which the next datagram at fd came. */
static int tos_of(int fd)
{
	char buf[2048], control[256];
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *cm;
	int v = -1;

	assert_true(recvmsg(fd, &h, 0) > 0);
	for (cm = CMSG_FIRSTHDR(&h); cm; cm = CMSG_NXTHDR(&h, cm)) {
		if (cm->cmsg_level == IPPROTO_IP && cm->cmsg_type == IP_TOS)
			v = *CMSG_DATA(cm);
		else if (cm->cmsg_level == IPPROTO_IPV6 && cm->cmsg_type == IPV6_TCLASS)
			memcpy(&v, CMSG_DATA(cm), sizeof(v));
	}
	return v;
}

static void dscp__is_on_everything(void **state)
{
	(void)state;
	for (size_t i = 0; i < NAMES; i++) {
		struct sdr_uc_open_attr oa = { .dscp = DSCP };
		struct sockaddr_storage sa = { 0 };
		struct sdr_uc_addr to;
		struct sdr_uc_tx t;
		socklen_t len = sizeof(sa);
		struct sdr_uc *uc;
		int fd, one = 1;

		sa.ss_family = i ? AF_INET6 : AF_INET;
		if (i)
			((struct sockaddr_in6 *)&sa)->sin6_addr = in6addr_loopback;
		else
			((struct sockaddr_in *)&sa)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		fd = socket(sa.ss_family, SOCK_DGRAM, 0);
		assert_true(fd >= 0);
		assert_int_equal(bind(fd, (struct sockaddr *)&sa,
				      i ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)),
				 0);
		assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
		assert_int_equal(setsockopt(fd, i ? IPPROTO_IPV6 : IPPROTO_IP,
					    i ? IPV6_RECVTCLASS : IP_RECVTOS, &one, sizeof(one)),
				 0);
		assert_int_equal(sdr_uc_addr_from_sockaddr(&to, (struct sockaddr *)&sa), 0);
		assert_int_equal(sdr_uc_open(names[i], &oa, &uc), 0);
		t = pair_ctl(&to, "hello", 5);
		assert_int_equal(uc->ops->post(uc, &t, 1), 1);
		assert_int_equal(tos_of(fd), DSCP << 2);
		t.flags = SDR_UC_F_ECT;
		assert_int_equal(uc->ops->post(uc, &t, 1), 1);
		assert_int_equal(tos_of(fd), DSCP << 2 | SDR_UC_ECT0);
		uc->ops->close(uc);
		close(fd);
	}
}

static void dscp__six_bits(void **state)
{
	struct sdr_uc_open_attr oa = { .dscp = SDR_DSCP_MAX + 1 };
	struct sdr_uc *uc;

	(void)state;
	assert_int_equal(sdr_uc_open(names[0], &oa, &uc), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ecn__leaves_as_posted),
		cmocka_unit_test(ecn__control_datagrams),
		cmocka_unit_test(ecn__every_mark_is_told),
		cmocka_unit_test(ecn__a_marked_piece_marks_the_packet),
		cmocka_unit_test(ecn__a_marked_piece_is_of_its_way),
		cmocka_unit_test(ecn__off),
		cmocka_unit_test(dscp__is_on_everything),
		cmocka_unit_test(dscp__six_bits),
	};

	fill(src, sizeof(src), 5);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
