/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Data packets in pieces as the soft engine takes them in, from a socket that sends them in any
 * order, twice, in other sizes, or as nobody should.
 */
#include <unistd.h>

#include "uc/sdr_uc_addr.h"
#include "test_soft_util.h"

#define SLOT  3u
#define PKTS  2u /* of the bound buffer */
#define WHOLE PAIR_MTU
#define SIZE  256u /* of a piece, unless a case says otherwise */

struct cutter {
	struct pair p;
	int fd;
	struct sockaddr_storage to;
	socklen_t to_len;
	uint8_t src[PKTS * PAIR_MTU], dst[PKTS * PAIR_MTU + 64];
	struct sdr_imm_split split;
	uint32_t gen;
};

static void cutter_bind(struct cutter *c, uint32_t use)
{
	c->gen = use;
	assert_int_equal(c->p.b->ops->slot_bind(c->p.qb, SLOT, use, c->dst, sizeof(c->src), NULL),
			 0);
}

static void cutter_open(struct cutter *c)
{
	int len;

	memset(c, 0, sizeof(*c));
	pair_open(&c->p, &(struct pair_opt){ 0 });
	c->split = (struct sdr_imm_split)SDR_IMM_SPLIT_DEFAULT;
	len = sdr_uc_addr_to_sockaddr(&c->p.ib.addr, &c->to);
	assert_true(len > 0);
	c->to_len = (socklen_t)len;
	c->fd = socket(c->to.ss_family, SOCK_DGRAM, 0);
	assert_true(c->fd >= 0);
	fill(c->src, sizeof(c->src), 7);
	memset(c->dst, 2, sizeof(c->dst));
	cutter_bind(c, 1);
}

static void cutter_close(struct cutter *c)
{
	size_t i;

	for (i = sizeof(c->src); i < sizeof(c->dst); i++)
		assert_int_equal(c->dst[i], 2);
	close(c->fd);
	pair_close(&c->p);
}

/* Piece k of the packet at offset 0, in pieces of this size. */
static struct sdr_wire_data piece(const struct cutter *c, uint32_t k, uint32_t size)
{
	struct sdr_wire_data d = { .qpn = c->p.wb.qpn + c->gen, .rkey = c->p.wb.rkey };

	d.piece = (uint16_t)size;
	d.whole = WHOLE;
	d.len = WHOLE - k * size < size ? WHOLE - k * size : size;
	d.va = SLOT * (uint64_t)PAIR_MSG + (uint64_t)k * size;
	d.imm = sdr_imm_pack(&c->split, SLOT, 0, 0);
	return d;
}

static void send_as(struct cutter *c, const struct sdr_wire_data *d, const uint8_t *payload)
{
	uint8_t pkt[2 * PAIR_MTU + SDR_DATA_OVERHEAD];
	size_t n = SDR_DATA_HDR + d->len + sdr_wire_pad(d->len);

	memset(pkt, 0, n);
	sdr_wire_data_encode(pkt, d);
	memcpy(pkt + SDR_DATA_HDR, payload, d->len);
	sdr_put_le32(pkt + n, sdr_icrc_final(sdr_icrc_headers(sdr_icrc_seed_masked(), pkt, n)));
	n += SDR_ICRC_LEN;
	assert_int_equal(sendto(c->fd, pkt, n, 0, (struct sockaddr *)&c->to, c->to_len), n);
}

static void send_piece(struct cutter *c, uint32_t k, uint32_t size)
{
	struct sdr_wire_data d = piece(c, k, size);

	send_as(c, &d, c->src + (size_t)k * size);
}

/* Exactly one packet is reported, whole. */
static void expect_whole(struct cutter *c)
{
	assert_int_equal(pair_wait(c->p.b, c->p.ev, 1), 1);
	assert_int_equal(c->p.ev[0].kind, SDR_UC_EV_PLACED);
	assert_int_equal(c->p.ev[0].len, WHOLE);
	assert_int_equal(sdr_imm_off(&c->split, c->p.ev[0].p.imm), 0);
	assert_memory_equal(c->dst, c->src, WHOLE);
	pair_quiet(c->p.b);
}

static void piece__any_order_and_twice(void **state)
{
	static const uint32_t orders[][8] = { { 0, 1, 2, 3, 0, 1, 2, 3 },
					      { 3, 2, 1, 0, 3, 2, 1, 0 },
					      { 2, 2, 0, 3, 0, 3, 2, 1 } };
	struct cutter c;
	uint32_t i, k;

	(void)state;
	for (i = 0; i < 3; i++) {
		uint32_t want = i == 2 ? 1 : 2; /* all of it twice: reported twice */

		cutter_open(&c);
		for (k = 0; k < 8; k++)
			send_piece(&c, orders[i][k], SIZE);
		assert_int_equal(pair_wait(c.p.b, c.p.ev, (int)want), want);
		pair_quiet(c.p.b);
		assert_memory_equal(c.dst, c.src, WHOLE);
		assert_int_equal(pair_stats(c.p.b).pieces_rx, 8);
		assert_int_equal(pair_stats(c.p.b).pkts_rx, want);
		assert_int_equal(pair_stats(c.p.b).bytes_rx, want * WHOLE);
		assert_int_equal(pair_stats(c.p.b).pkts_bad, 0);
		cutter_close(&c);
	}
}

/* One that is lost is never made good by another: the packet comes again, in whatever size. */
static void piece__a_lost_one_loses_the_packet(void **state)
{
	struct cutter c;
	uint32_t k;

	(void)state;
	cutter_open(&c);
	for (k = 0; k < 4; k++)
		if (k != 2)
			send_piece(&c, k, SIZE);
	pair_quiet(c.p.b);
	send_piece(&c, 1, 512);
	pair_quiet(c.p.b);
	send_piece(&c, 2, SIZE); /* too late: another size has begun */
	pair_quiet(c.p.b);
	send_piece(&c, 0, 512);
	pair_quiet(c.p.b);
	send_piece(&c, 1, 512);
	expect_whole(&c);
	cutter_close(&c);
}

/* Sent again in one datagram: reported at once, and the pieces that came before do no harm. */
static void piece__whole_in_between(void **state)
{
	struct sdr_wire_data d;
	struct cutter c;

	(void)state;
	cutter_open(&c);
	send_piece(&c, 0, SIZE);
	pair_quiet(c.p.b);
	d = piece(&c, 0, WHOLE);
	d.piece = 0;
	send_as(&c, &d, c.src);
	expect_whole(&c);
	cutter_close(&c);
}

/* What came before the slot was bound anew does not count, and late ones are not placed. */
static void piece__the_slot_changes_in_between(void **state)
{
	struct cutter c;
	uint32_t k;

	(void)state;
	cutter_open(&c);
	send_piece(&c, 0, SIZE);
	send_piece(&c, 1, SIZE);
	pair_quiet(c.p.b);
	c.p.b->ops->slot_unbind(c.p.qb, SLOT);
	memset(c.dst, 2, sizeof(c.dst));
	send_piece(&c, 2, SIZE);
	pair_quiet(c.p.b);
	assert_int_equal(pair_stats(c.p.b).pkts_late, 1);
	assert_int_equal(c.dst[2 * SIZE], 2);
	cutter_bind(&c, 2);
	send_piece(&c, 2, SIZE);
	send_piece(&c, 3, SIZE);
	pair_quiet(c.p.b);
	c.gen = 1;
	send_piece(&c, 0, SIZE); /* of the generation before */
	pair_quiet(c.p.b);
	assert_int_equal(pair_stats(c.p.b).pkts_late, 2);
	assert_int_equal(c.dst[0], 2);
	c.gen = 2;
	for (k = 0; k < 2; k++)
		send_piece(&c, k, SIZE);
	expect_whole(&c);
	/* Bound anew without having been unbound: likewise. */
	send_piece(&c, 0, SIZE);
	pair_quiet(c.p.b);
	cutter_bind(&c, 3);
	for (k = 1; k < 4; k++)
		send_piece(&c, k, SIZE);
	pair_quiet(c.p.b);
	cutter_close(&c);
}

/* None of these is placed, whatever its ICRC says; each is counted. */
static void piece__what_is_none(void **state)
{
	struct sdr_wire_data d;
	struct cutter c;
	uint32_t i, n = 0;

	(void)state;
	cutter_open(&c);
	memset(c.dst, 2, sizeof(c.dst));
	for (i = 0; i < 13; i++) {
		d = piece(&c, 1, SIZE);
		switch (i) {
		case 0: /* a size that is no multiple of 4 */
			d.piece = 255;
			d.len = 255;
			break;
		case 1: /* behind the packet */
			d.va += 3 * SIZE;
			break;
		case 2: /* in front of it */
			d.va -= 2 * SIZE;
			break;
		case 3: /* between two pieces */
			d.va += 4;
			break;
		case 4: /* shorter than its size, and not the last */
			d.len = SIZE - 4;
			break;
		case 5: /* longer than its size */
			d.len = SIZE + 4;
			break;
		case 6: /* of a packet that is longer than the QP's */
			d.whole = WHOLE + 4;
			break;
		case 7: /* 17 pieces */
			d.piece = 60;
			d.len = 60;
			d.va = SLOT * (uint64_t)PAIR_MSG + 60;
			d.whole = 17 * 60;
			break;
		case 8: /* alone */
			d.whole = SIZE;
			d.va -= SIZE;
			break;
		case 9: /* empty */
			d.len = 0;
			break;
		case 10: /* the packet's last, where its whole length says that there is none */
			d.whole = 4 * SIZE - 4;
			d.va += 2 * SIZE;
			break;
		case 11: /* of a packet behind the buffer's end */
			d.imm = sdr_imm_pack(&c.split, SLOT, PKTS, 0);
			d.va += PKTS * PAIR_MTU;
			break;
		case 12: /* of another packet than the immediate says */
			d.va += PAIR_MTU;
			break;
		}
		send_as(&c, &d, c.src);
		n++;
		pair_quiet(c.p.b);
		assert_int_equal(pair_stats(c.p.b).pkts_bad, n);
	}
	assert_int_equal(pair_stats(c.p.b).pieces_rx, 0);
	for (i = 0; i < sizeof(c.dst); i++)
		assert_int_equal(c.dst[i], 2);
	/* One that ends behind the buffer: of all of the packet, or nothing of it is placed. */
	assert_int_equal(c.p.b->ops->slot_bind(c.p.qb, SLOT, 1, c.dst, WHOLE - 1, NULL), 0);
	send_piece(&c, 0, SIZE);
	pair_quiet(c.p.b);
	assert_int_equal(pair_stats(c.p.b).pkts_bad, n + 1);
	assert_int_equal(c.dst[0], 2);
	cutter_close(&c);
}

/*
 * Two that lie about the packet's length, in the same size: nothing is written outside, and what is
 * reported is at most what one of them said.
 */
static void piece__lengths_that_differ(void **state)
{
	struct sdr_wire_data d;
	struct cutter c;
	int n;

	(void)state;
	cutter_open(&c);
	d = piece(&c, 1, SIZE);
	d.whole = 2 * SIZE;
	send_as(&c, &d, c.src + SIZE);
	pair_quiet(c.p.b);
	send_piece(&c, 0, SIZE); /* of four */
	send_piece(&c, 3, SIZE);
	pair_quiet(c.p.b);
	send_piece(&c, 2, SIZE);
	n = pair_wait(c.p.b, c.p.ev, 1);
	assert_int_equal(n, 1);
	assert_int_equal(c.p.ev[0].len, WHOLE);
	cutter_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(piece__any_order_and_twice),
		cmocka_unit_test(piece__a_lost_one_loses_the_packet),
		cmocka_unit_test(piece__whole_in_between),
		cmocka_unit_test(piece__the_slot_changes_in_between),
		cmocka_unit_test(piece__what_is_none),
		cmocka_unit_test(piece__lengths_that_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
