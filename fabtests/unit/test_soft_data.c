/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine's data path over loopback sockets: what is placed, what is not, and what is told.
 */
#include <arpa/inet.h>
#include <unistd.h>
#include "uc/soft/sdr_soft_host.h"
#include "uc/sdr_uc_addr.h"
#include "test_soft_util.h"

#define GUARD 64u /* bytes around a buffer that must stay as they are */

/* Sends a message of len bytes and checks every byte, event and the bytes around. */
static void message_check(struct pair *p, uint32_t len, uint32_t slot, uint8_t gen)
{
	uint32_t npkts = len ? (len + p->mtu - 1) / p->mtu : 1, i, seen = 0;
	uint8_t *src = malloc(len + 1), *dst = malloc(len + 2 * GUARD);
	uint8_t *have = calloc(npkts, 1);
	struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	int n;

	fill(src, len, len + 7);
	memset(dst, 0xee, len + 2 * GUARD);
	assert_int_equal(p->b->ops->slot_bind(p->qb, slot, gen, dst + GUARD, len, NULL), 0);
	pair_post(p, pair_write(p, slot, gen, src, 0, len));
	while (seen < npkts) {
		n = pair_wait(p->b, p->ev,
			      npkts - seen < PAIR_EVS ? (int)(npkts - seen) : PAIR_EVS);
		assert_true(n > 0);
		for (i = 0; i < (uint32_t)n; i++, seen++) {
			struct sdr_uc_ev *e = &p->ev[i];
			uint32_t off = sdr_imm_off(&split, e->p.imm);

			assert_int_equal(e->kind, SDR_UC_EV_PLACED);
			assert_ptr_equal(e->p.cookie, p);
			assert_int_equal(e->gen, gen);
			assert_int_equal(e->channel, 0);
			assert_int_equal(sdr_imm_id(&split, e->p.imm), slot);
			assert_int_equal(sdr_imm_user(&split, e->p.imm),
					 sdr_imm_frag(&split, 0xa1b2c3d4, off));
			assert_true(off < npkts);
			assert_int_equal(have[off], 0);
			have[off] = 1;
			assert_int_equal(e->len, off == npkts - 1 ? len - off * p->mtu : p->mtu);
		}
	}
	pair_quiet(p->b);
	p->b->ops->slot_unbind(p->qb, slot);
	assert_memory_equal(dst + GUARD, src, len);
	for (i = 0; i < GUARD; i++) {
		assert_int_equal(dst[i], 0xee);
		assert_int_equal(dst[GUARD + len + i], 0xee);
	}
	free(have);
	free(src);
	free(dst);
}

static void lengths(const struct pair_opt *opt)
{
	static const uint32_t len[] = {
		0,    1,    2,	  3,	4,    5,    1023,      1024,	      1025,	 1026,
		1027, 1028, 2047, 2048, 4096, 5000, 63 * 1024, 64 * 1024 - 1, 64 * 1024,
	};
	struct pair p;
	uint32_t i;

	pair_open(&p, opt);
	for (i = 0; i < sizeof(len) / sizeof(len[0]); i++)
		message_check(&p, len[i], i, (uint8_t)(i % 4));
	assert_int_equal(pair_stats(p.b).pkts_bad, 0);
	assert_int_equal(pair_stats(p.b).pkts_late, 0);
	assert_int_equal(pair_stats(p.a).pkts_tx, pair_stats(p.b).pkts_rx);
	assert_int_equal(pair_stats(p.a).bytes_tx, pair_stats(p.b).bytes_rx);
	pair_close(&p);
}

static void data__lengths(void **state)
{
	(void)state;
	lengths(&(struct pair_opt){ 0 });
}

static void data__lengths_without_gso(void **state)
{
	(void)state;
	lengths(&(struct pair_opt){ .off = SDR_SOFT_NO_GSO });
}

static void data__lengths_without_gro(void **state)
{
	(void)state;
	lengths(&(struct pair_opt){ .off = SDR_SOFT_NO_GRO });
}

static void data__lengths_ipv6(void **state)
{
	(void)state;
	lengths(&(struct pair_opt){ .name = "soft:[::1]" });
}

static void data__lengths_with_check_sums(void **state)
{
	(void)state;
	lengths(&(struct pair_opt){ .off = SDR_SOFT_NO_BARE });
}

/*
 * The last four bytes of a packet to a socket of this host, from an engine that takes the peer so.
 */
static uint32_t check_sum_of(uint8_t off, bool neighbour)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	uint8_t src[PAIR_MTU] = { 1 }, got[2 * PAIR_MTU];
	socklen_t len = sizeof(at);
	struct sdr_uc_addr addr;
	struct pair p;
	ssize_t n;
	int fd;

	pair_open(&p, &(struct pair_opt){ .off = off });
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	if (!neighbour)
		p.wb.host = ~p.wb.host;
	assert_int_equal(p.a->ops->qp_connect(p.qa, &p.wb, NULL), 0);
	assert_int_equal(sdr_uc_addr_from_sockaddr(&addr, (struct sockaddr *)&at), 0);
	p.a->ops->qp_readdress(p.qa, &addr);
	pair_post(&p, pair_write(&p, 0, 0, src, 0, sizeof(src)));
	n = recv(fd, got, sizeof(got), 0);
	assert_int_equal(n, SDR_DATA_OVERHEAD + PAIR_MTU);
	close(fd);
	pair_close(&p);
	return sdr_get_le32(got + n - SDR_ICRC_LEN);
}

static void data__to_this_host_without_check_sum(void **state)
{
	(void)state;
	assert_true(!check_sum_of(0, true));
	assert_true(check_sum_of(0, false));
	assert_true(check_sum_of(SDR_SOFT_NO_BARE, true));
}

static void host__has_its_own_addresses(void **state)
{
	static const struct {
		const char *addr;
		bool ours;
	} v[] = { { "127.0.0.1:1", true },
		  { "127.9.8.7:1", true },
		  { "[::1]:1", true },
		  { "192.0.2.7:1", false },
		  { "[2001:db8::7]:1", false } };

	(void)state;
	assert_true(sdr_soft_host_id() && sdr_soft_host_id() == sdr_soft_host_id());
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct sockaddr_storage sa;

		assert_int_equal(sdr_uc_addr_parse(v[i].addr, &sa), 0);
		assert_true(sdr_soft_host_has((struct sockaddr *)&sa) == v[i].ours);
	}
}

static void data__large_packets(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opt){ .mtu = 8192, .msg = 64 * 8192 });
	message_check(&p, 64 * 8192, 3, 0);
	message_check(&p, 64 * 8192 - 4097, 1023, 3);
	pair_close(&p);
}

static void post_at(struct pair *p, const uint8_t *src, uint32_t first, uint32_t len)
{
	struct sdr_uc_tx t = pair_write(p, 1, 0, src, 0, len);

	t.w.first = first;
	pair_post(p, t);
}

/* A slot whose packets are copied past the caches: some of them, and the last, which is short. */
static void data__large_slots(void **state)
{
	static const uint8_t zero[GUARD];
	size_t mtu = 8192, pkts = 4200, len = pkts * mtu - 100, at[] = { 0, 2100, 4198 };
	uint8_t *src = malloc(2 * mtu), *dst = calloc(1, len + 2 * GUARD), *to = dst + GUARD + 3;
	struct pair p;

	(void)state;
	pair_open(&p,
		  &(struct pair_opt){ .mtu = 8192, .msg = 4200 * 8192, .off = SDR_SOFT_NO_BARE });
	fill(src, 2 * mtu, 3);
	assert_int_equal(p.b->ops->slot_bind(p.qb, 1, 0, to, len, NULL), 0);
	for (uint32_t i = 0; i < 3; i++)
		post_at(&p, src, (uint32_t)at[i], i < 2 ? 2 * 8192 : 2 * 8192 - 100);
	assert_int_equal(pair_wait(p.b, p.ev, 6), 6);
	p.b->ops->slot_unbind(p.qb, 1);
	for (uint32_t i = 0; i < 3; i++) {
		size_t n = i < 2 ? 2 * mtu : 2 * mtu - 100;

		assert_memory_equal(to + at[i] * mtu - GUARD, zero, GUARD);
		assert_memory_equal(to + at[i] * mtu, src, n);
		assert_memory_equal(to + at[i] * mtu + n, zero, GUARD - 3);
	}
	pair_close(&p);
	free(src);
	free(dst);
}

static void data__train_in_few_calls(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opt){ 0 });
	message_check(&p, 64 * 1024, 0, 0);
	/* 64 packets of 1 KiB are two trains; short payloads may fill a batch earlier. */
	assert_true(pair_stats(p.a).sys_tx <= 2);
	assert_true(pair_stats(p.b).sys_rx <= 2);
	pair_close(&p);
}

static void data__unbound_slot(void **state)
{
	uint8_t src[PAIR_MTU] = { 1 };
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opt){ 0 });
	pair_post(&p, pair_write(&p, 5, 0, src, 0, sizeof(src)));
	pair_quiet(p.b);
	assert_int_equal(pair_stats(p.b).pkts_late, 1);
	assert_int_equal(pair_stats(p.b).pkts_bad, 0);
	/* A slot of a page that exists, but is not bound itself. */
	assert_int_equal(p.b->ops->slot_bind(p.qb, 4, 0, src, sizeof(src), NULL), 0);
	pair_post(&p, pair_write(&p, 5, 0, src, 0, sizeof(src)));
	pair_quiet(p.b);
	assert_int_equal(pair_stats(p.b).pkts_late, 2);
	pair_close(&p);
}

static void data__wrong_generation(void **state)
{
	uint8_t src[PAIR_MTU], dst[PAIR_MTU];
	uint8_t gen;
	struct pair p;

	(void)state;
	memset(src, 1, sizeof(src));
	memset(dst, 2, sizeof(dst));
	pair_open(&p, &(struct pair_opt){ 0 });
	assert_int_equal(p.b->ops->slot_bind(p.qb, 0, 2, dst, sizeof(dst), NULL), 0);
	for (gen = 0; gen < 4; gen++) {
		if (gen != 2)
			pair_post(&p, pair_write(&p, 0, gen, src, 0, sizeof(src)));
	}
	pair_quiet(p.b);
	assert_int_equal(pair_stats(p.b).pkts_late, 3);
	assert_int_equal(dst[0], 2);
	pair_post(&p, pair_write(&p, 0, 2, src, 0, sizeof(src)));
	assert_int_equal(pair_wait(p.b, p.ev, 1), 1);
	assert_int_equal(p.ev[0].gen, 2);
	assert_memory_equal(dst, src, sizeof(dst));
	pair_close(&p);
}

static void data__unbind_and_rebind(void **state)
{
	uint8_t src[PAIR_MTU], one[PAIR_MTU], two[PAIR_MTU];
	struct pair p;

	(void)state;
	memset(src, 1, sizeof(src));
	memset(one, 2, sizeof(one));
	memset(two, 3, sizeof(two));
	pair_open(&p, &(struct pair_opt){ 0 });
	assert_int_equal(p.b->ops->slot_bind(p.qb, 9, 0, one, sizeof(one), NULL), 0);
	/* In the socket when the slot is unbound: the NULL key. */
	pair_post(&p, pair_write(&p, 9, 0, src, 0, sizeof(src)));
	p.b->ops->slot_unbind(p.qb, 9);
	pair_quiet(p.b);
	assert_int_equal(one[0], 2);
	/* In the socket when the slot goes to the next message of another generation. */
	pair_post(&p, pair_write(&p, 9, 0, src, 0, sizeof(src)));
	assert_int_equal(p.b->ops->slot_bind(p.qb, 9, 1, two, sizeof(two), NULL), 0);
	pair_quiet(p.b);
	assert_int_equal(two[0], 3);
	assert_int_equal(pair_stats(p.b).pkts_late, 2);
	/* A bound slot may be bound again. */
	assert_int_equal(p.b->ops->slot_bind(p.qb, 9, 2, one, sizeof(one), NULL), 0);
	pair_post(&p, pair_write(&p, 9, 2, src, 0, sizeof(src)));
	assert_int_equal(pair_wait(p.b, p.ev, 1), 1);
	assert_memory_equal(one, src, sizeof(one));
	assert_int_equal(two[0], 3);
	pair_close(&p);
}

static void data__longer_than_the_buffer(void **state)
{
	uint8_t src[2 * PAIR_MTU], dst[2 * PAIR_MTU];
	struct pair p;

	(void)state;
	memset(src, 1, sizeof(src));
	memset(dst, 2, sizeof(dst));
	pair_open(&p, &(struct pair_opt){ 0 });
	assert_int_equal(p.b->ops->slot_bind(p.qb, 0, 0, dst, PAIR_MTU + 10, NULL), 0);
	pair_post(&p, pair_write(&p, 0, 0, src, 0, sizeof(src)));
	assert_int_equal(pair_wait(p.b, p.ev, 2), 1);
	assert_int_equal(pair_stats(p.b).pkts_bad, 1);
	assert_int_equal(dst[PAIR_MTU - 1], 1);
	assert_int_equal(dst[PAIR_MTU], 2);
	pair_close(&p);
}

static void data__empty_packets_behind_the_end(void **state)
{
	struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	uint8_t src[10] = "012345678", dst[10];
	struct sdr_uc_tx v[8];
	struct pair p;
	uint32_t i, imm = 0;

	(void)state;
	/* The smallest table: an offset behind the end is behind the slot too. */
	pair_open(&p, &(struct pair_opt){ .msg = PAIR_MTU });
	assert_int_equal(p.b->ops->slot_bind(p.qb, 7, 1, dst, sizeof(dst), NULL), 0);
	v[0] = pair_write(&p, 7, 1, src, 0, sizeof(src));
	for (i = 1; i < 8; i++)
		v[i] = pair_write(&p, 7, 1, src, i, 0);
	assert_int_equal(p.a->ops->post(p.a, v, 8), 8);
	assert_int_equal(pair_wait(p.b, p.ev, 8), 8);
	for (i = 0; i < 8; i++)
		imm |= sdr_imm_user(&split, p.ev[i].p.imm)
		       << (sdr_imm_off(&split, p.ev[i].p.imm) * 4);
	assert_int_equal(imm, 0xa1b2c3d4);
	assert_memory_equal(dst, src, sizeof(src));
	pair_close(&p);
}

static void data__runs_of_one_batch(void **state)
{
	uint8_t *src = malloc(PAIR_MSG), *dst = calloc(1, PAIR_MSG);
	struct sdr_uc_tx v[64];
	struct pair p;
	uint32_t i;

	(void)state;
	fill(src, PAIR_MSG, 3);
	pair_open(&p, &(struct pair_opt){ 0 });
	assert_int_equal(p.b->ops->slot_bind(p.qb, 1, 0, dst, PAIR_MSG, NULL), 0);
	/* Every packet its own descriptor, backwards: they still share trains. */
	for (i = 0; i < 64; i++)
		v[i] = pair_write(&p, 1, 0, src, 63 - i, PAIR_MTU);
	assert_int_equal(p.a->ops->post(p.a, v, 64), 64);
	assert_int_equal(pair_wait(p.b, p.ev, 64), 64);
	assert_memory_equal(src, dst, PAIR_MSG);
	assert_true(pair_stats(p.a).sys_tx <= 2);
	pair_close(&p);
	free(src);
	free(dst);
}

static void data__event_array_smaller_than_a_train(void **state)
{
	uint8_t *src = malloc(PAIR_MSG), *dst = calloc(1, PAIR_MSG);
	struct sdr_uc_ev ev[3];
	struct pair p;
	int got = 0, n;

	(void)state;
	fill(src, PAIR_MSG, 5);
	pair_open(&p, &(struct pair_opt){ 0 });
	assert_int_equal(p.b->ops->slot_bind(p.qb, 1, 0, dst, PAIR_MSG, NULL), 0);
	assert_true(p.b->ops->deadline(p.b) == UINT64_MAX);
	pair_post(&p, pair_write(&p, 1, 0, src, 0, PAIR_MSG));
	pair_post(&p, pair_ctl(&p.ib.addr, "end", 3));
	while ((n = p.b->ops->poll(p.b, ev, 3)) > 0) {
		got += n;
		/* What waits in the engine is not visible at the descriptor: the deadline says so.
		 */
		if (got < 65 && n == 3)
			assert_true(p.b->ops->deadline(p.b) == 0 || got == 64);
	}
	assert_int_equal(got, 65);
	assert_true(p.b->ops->deadline(p.b) == UINT64_MAX);
	assert_memory_equal(src, dst, PAIR_MSG);
	pair_close(&p);
	free(src);
	free(dst);
}

static void data__channels_and_generations(void **state)
{
	uint8_t src[PAIR_MTU] = { 0 }, dst[PAIR_MTU];
	uint8_t gen, ch;
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opt){ .channels = 3, .generations = 5 });
	assert_int_equal(p.wb.channels, 3);
	assert_int_equal(p.wb.generations, 5);
	for (gen = 0; gen < 5; gen++) {
		for (ch = 0; ch < 3; ch++) {
			struct sdr_uc_tx t = pair_write(&p, 2, gen, src, 0, sizeof(src));

			src[0] = (uint8_t)(gen * 16 + ch);
			t.channel = ch;
			assert_int_equal(p.b->ops->slot_bind(p.qb, 2, gen, dst, sizeof(dst), NULL),
					 0);
			pair_post(&p, t);
			assert_int_equal(pair_wait(p.b, p.ev, 1), 1);
			assert_int_equal(p.ev[0].gen, gen);
			assert_int_equal(p.ev[0].channel, ch);
			assert_int_equal(dst[0], src[0]);
		}
	}
	pair_close(&p);
}

static void data__corrupt_flag(void **state)
{
	uint8_t src[PAIR_MTU], dst[PAIR_MTU];
	struct sdr_uc_tx t;
	struct pair p;
	uint32_t i;

	(void)state;
	memset(src, 1, sizeof(src));
	memset(dst, 2, sizeof(dst));
	pair_open(&p, &(struct pair_opt){ 0 });
	assert_int_equal(p.b->ops->slot_bind(p.qb, 0, 0, dst, sizeof(dst), NULL), 0);
	for (i = 0; i < 500; i++) {
		src[0] = (uint8_t)i;
		t = pair_write(&p, 0, 0, src, 0, 1 + i % PAIR_MTU);
		t.flags = SDR_UC_F_CORRUPT;
		pair_post(&p, t);
		t = pair_ctl(&p.ib.addr, src, i);
		t.flags = SDR_UC_F_CORRUPT;
		pair_post(&p, t);
		pair_quiet(p.b);
	}
	assert_int_equal(pair_stats(p.b).pkts_bad, 1000);
	assert_int_equal(pair_stats(p.b).pkts_late, 0);
	assert_int_equal(dst[0], 2);
	pair_close(&p);
}

static void ctl__sizes_and_source(void **state)
{
	uint8_t buf[SDR_CTL_MAX];
	struct pair p;
	uint32_t len;

	(void)state;
	fill(buf, sizeof(buf), 1);
	pair_open(&p, &(struct pair_opt){ 0 });
	assert_int_equal(p.ia.ctl_max, SDR_CTL_MAX);
	for (len = 0; len <= SDR_CTL_MAX; len += len < 16 ? 1 : 255) {
		pair_post(&p, pair_ctl(&p.ib.addr, buf, len));
		assert_int_equal(pair_wait(p.b, p.ev, 1), 1);
		assert_int_equal(p.ev[0].kind, SDR_UC_EV_CTL);
		assert_int_equal(p.ev[0].len, len);
		assert_memory_equal(p.ev[0].c.buf, buf, len);
		assert_true(sdr_uc_addr_equal(p.ev[0].c.from, &p.ia.addr));
	}
	/* Too long: lost, counted, harmless. */
	pair_post(&p, pair_ctl(&p.ib.addr, buf, SDR_CTL_MAX + 1));
	pair_quiet(p.b);
	pair_close(&p);
}

static void ctl__one_call_each_way(void **state)
{
	struct sdr_uc_stats a, b;
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opt){ 0 });
	a = pair_stats(p.a);
	b = pair_stats(p.b);
	pair_post(&p, pair_ctl(&p.ib.addr, "12345678", 8));
	assert_int_equal(p.b->ops->poll(p.b, p.ev, PAIR_EVS), 1);
	assert_int_equal(pair_stats(p.a).sys_tx - a.sys_tx, 1);
	assert_int_equal(pair_stats(p.b).sys_rx - b.sys_rx, 1);
	pair_close(&p);
}

static void ctl__order_with_data(void **state)
{
	struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	uint8_t src[10 * PAIR_MTU], dst[10 * PAIR_MTU];
	struct sdr_uc_tx v[4];
	struct pair p;
	int i;

	(void)state;
	fill(src, sizeof(src), 2);
	pair_open(&p, &(struct pair_opt){ 0 });
	assert_int_equal(p.b->ops->slot_bind(p.qb, 0, 0, dst, sizeof(dst), NULL), 0);
	v[0] = pair_ctl(&p.ib.addr, "first", 5);
	v[1] = pair_write(&p, 0, 0, src, 0, 5 * PAIR_MTU);
	v[2] = pair_ctl(&p.ib.addr, "middle", 6);
	v[3] = pair_write(&p, 0, 0, src, 5, 5 * PAIR_MTU);
	assert_int_equal(p.a->ops->post(p.a, v, 4), 4);
	assert_int_equal(pair_wait(p.b, p.ev, 12), 12);
	assert_int_equal(p.ev[0].kind, SDR_UC_EV_CTL);
	assert_memory_equal(p.ev[0].c.buf, "first", 5);
	assert_int_equal(p.ev[6].kind, SDR_UC_EV_CTL);
	assert_memory_equal(p.ev[6].c.buf, "middle", 6);
	for (i = 0; i < 10; i++) {
		struct sdr_uc_ev *e = &p.ev[i < 5 ? i + 1 : i + 2];

		assert_int_equal(e->kind, SDR_UC_EV_PLACED);
		assert_int_equal(sdr_imm_off(&split, e->p.imm), i);
	}
	assert_memory_equal(src, dst, sizeof(src));
	assert_int_equal(pair_stats(p.a).sys_tx, 1);
	pair_close(&p);
}

/* What follows a datagram waits until its owner has seen it: it may announce the message. */
static void ctl__announces_what_follows(void **state)
{
	uint8_t src[4 * PAIR_MTU], dst[4 * PAIR_MTU];
	struct sdr_uc_tx v[2];
	struct pair p;
	int n;

	(void)state;
	fill(src, sizeof(src), 4);
	pair_open(&p, &(struct pair_opt){ 0 });
	v[0] = pair_ctl(&p.ib.addr, "slot 6", 6);
	v[1] = pair_write(&p, 6, 1, src, 0, sizeof(src));
	assert_int_equal(p.a->ops->post(p.a, v, 2), 2);
	do {
		n = p.b->ops->poll(p.b, p.ev, PAIR_EVS);
	} while (!n);
	assert_int_equal(n, 1);
	assert_int_equal(p.ev[0].kind, SDR_UC_EV_CTL);
	assert_int_equal(p.b->ops->slot_bind(p.qb, 6, 1, dst, sizeof(dst), NULL), 0);
	assert_int_equal(pair_wait(p.b, p.ev, 4), 4);
	assert_memory_equal(src, dst, sizeof(src));
	assert_int_equal(pair_stats(p.b).pkts_late, 0);
	pair_close(&p);
}

static void ctl__valid_until_next_poll(void **state)
{
	uint8_t msg[100][64];
	struct sdr_uc_tx v[100];
	struct pair p;
	int i, k, n, got = 0;

	(void)state;
	pair_open(&p, &(struct pair_opt){ .off = SDR_SOFT_NO_GSO });
	for (i = 0; i < 100; i++) {
		memset(msg[i], i, sizeof(msg[i]));
		v[i] = pair_ctl(&p.ib.addr, msg[i], sizeof(msg[i]));
	}
	assert_int_equal(p.a->ops->post(p.a, v, 100), 100);
	while ((n = p.b->ops->poll(p.b, p.ev, SDR_UC_POLL_MIN)) > 0) {
		for (k = 0; k < n; k++, got++)
			assert_memory_equal(p.ev[k].c.buf, msg[got], sizeof(msg[got]));
	}
	assert_int_equal(got, 100);
	pair_close(&p);
}

static bool readable(struct sdr_uc *uc)
{
	struct pollfd f = { .fd = uc->ops->fd(uc), .events = POLLIN };

	return poll(&f, 1, 0) == 1;
}

/* Hushed, the descriptor does not show what arrives, which is there all the same; then it does. */
static void fd__is_silent_when_hushed(void **state)
{
	static const char *const faults[] = { NULL, "seed=3" };
	struct pair p;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sdr_uc *rx;

		pair_open(&p, &(struct pair_opt){ .fault = faults[i] });
		rx = p.a; /* the one with fault injection over it */
		for (int k = 0; k < 3; k++) {
			struct sdr_uc_tx v = pair_ctl(&p.ia.addr, "psst", 4);

			rx->ops->hush(rx, true);
			assert_int_equal(p.b->ops->post(p.b, &v, 1), 1);
			assert_false(readable(rx));
			if (k == 2)
				rx->ops->hush(rx, false);
			assert_true(k < 2 || readable(rx));
			assert_int_equal(pair_wait(rx, p.ev, 1), 1);
			assert_false(readable(rx));
		}
		pair_close(&p);
	}
}

/*
 * A lone datagram is reported and the engine says that it was all, and so after a train; what did
 * not fit the caller's events is not all.
 */
static void poll__says_when_it_is_dry(void **state)
{
	uint8_t src[100 * PAIR_MTU], dst[100 * PAIR_MTU];
	struct sdr_uc_ev *ev;
	struct sdr_uc_tx v;
	struct pair p;
	int n;

	(void)state;
	fill(src, sizeof(src), 4);
	pair_open(&p, &(struct pair_opt){ .msg = 100 * PAIR_MTU });
	ev = p.ev;
	assert_int_equal(p.b->ops->poll(p.b, ev, PAIR_EVS), 0);
	assert_true(p.b->ops->dry(p.b));
	v = pair_ctl(&p.ib.addr, "alone", 5);
	assert_int_equal(p.a->ops->post(p.a, &v, 1), 1);
	do {
		n = p.b->ops->poll(p.b, ev, PAIR_EVS);
	} while (!n);
	assert_true(n == 1 && p.b->ops->dry(p.b));
	assert_int_equal(p.b->ops->slot_bind(p.qb, 3, 0, dst, sizeof(dst), NULL), 0);
	pair_post(&p, pair_write(&p, 3, 0, src, 0, sizeof(src)));
	do {
		n = p.b->ops->poll(p.b, ev, SDR_UC_POLL_MIN);
	} while (!n);
	assert_int_equal(n, SDR_UC_POLL_MIN);
	assert_false(p.b->ops->dry(p.b));
	for (; n < 100; n += p.b->ops->poll(p.b, ev, SDR_UC_POLL_MIN))
		;
	assert_memory_equal(src, dst, sizeof(src));
	pair_close(&p);
}

static void data__not_connected_is_a_loss(void **state)
{
	struct sdr_uc_qp_attr qa = { .channels = 1,
				     .generations = 1,
				     .split = SDR_IMM_SPLIT_DEFAULT,
				     .mtu = PAIR_MTU,
				     .max_msg = PAIR_MSG };
	uint8_t src[PAIR_MTU] = { 0 };
	struct sdr_uc_qp *q;
	struct sdr_uc_tx t;
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opt){ 0 });
	assert_int_equal(p.a->ops->qp_create(p.a, &qa, &q), 0);
	t = pair_write(&p, 0, 0, src, 0, sizeof(src));
	t.w.qp = q;
	pair_post(&p, t);
	t = pair_write(&p, 0, 4, src, 0, sizeof(src)); /* a generation that the QP has not */
	pair_post(&p, t);
	assert_int_equal(pair_stats(p.a).tx_lost, 2);
	assert_int_equal(pair_stats(p.a).pkts_tx, 0);
	p.a->ops->qp_destroy(q);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data__lengths),
		cmocka_unit_test(data__lengths_without_gso),
		cmocka_unit_test(data__lengths_without_gro),
		cmocka_unit_test(data__lengths_ipv6),
		cmocka_unit_test(data__lengths_with_check_sums),
		cmocka_unit_test(data__to_this_host_without_check_sum),
		cmocka_unit_test(host__has_its_own_addresses),
		cmocka_unit_test(data__large_packets),
		cmocka_unit_test(data__large_slots),
		cmocka_unit_test(data__train_in_few_calls),
		cmocka_unit_test(data__unbound_slot),
		cmocka_unit_test(data__wrong_generation),
		cmocka_unit_test(data__unbind_and_rebind),
		cmocka_unit_test(data__longer_than_the_buffer),
		cmocka_unit_test(data__empty_packets_behind_the_end),
		cmocka_unit_test(data__runs_of_one_batch),
		cmocka_unit_test(data__event_array_smaller_than_a_train),
		cmocka_unit_test(data__channels_and_generations),
		cmocka_unit_test(data__corrupt_flag),
		cmocka_unit_test(ctl__sizes_and_source),
		cmocka_unit_test(ctl__one_call_each_way),
		cmocka_unit_test(ctl__order_with_data),
		cmocka_unit_test(ctl__announces_what_follows),
		cmocka_unit_test(ctl__valid_until_next_poll),
		cmocka_unit_test(fd__is_silent_when_hushed),
		cmocka_unit_test(poll__says_when_it_is_dry),
		cmocka_unit_test(data__not_connected_is_a_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
