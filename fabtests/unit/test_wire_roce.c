/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * RoCE headers: the bytes as the standard has them, round trips, every truncation and extension,
 * every value of every header byte, and random garbage.  Inputs end at an unmapped page.
 */
#include "test_wire.h"

#define ROCE_PKT_MAX (SDR_DATA_HDR + SDR_PROBE_MAX + 16)

static void data_random(uint64_t *s, struct sdr_wire_data *d)
{
	d->qpn = (uint32_t)sdr_rand64(s) & SDR_QPN_MASK;
	d->psn = (uint32_t)sdr_rand64(s) & SDR_PSN_MASK;
	d->va = sdr_rand64(s);
	d->rkey = (uint32_t)sdr_rand64(s);
	d->len = (uint32_t)(sdr_rand64(s) % (SDR_MTU_MAX + 1));
	d->imm = (uint32_t)sdr_rand64(s);
	d->piece = d->whole = 0;
}

static size_t data_build(uint8_t *p, const struct sdr_wire_data *d)
{
	sdr_wire_data_encode(p, d);
	memset(p + SDR_DATA_HDR, 0xa5, d->len);
	memset(p + SDR_DATA_HDR + d->len, 0, sdr_wire_pad(d->len) + SDR_ICRC_LEN);
	return SDR_DATA_OVERHEAD + d->len + sdr_wire_pad(d->len);
}

static size_t ctl_build(uint8_t *p, const struct sdr_wire_ctl *c, size_t len)
{
	sdr_wire_ctl_encode(p, c, len);
	memset(p + SDR_CTL_HDR, 0x5a, len);
	memset(p + SDR_CTL_HDR + len, 0, sdr_wire_pad((uint32_t)len) + SDR_ICRC_LEN);
	return SDR_CTL_OVERHEAD + len + sdr_wire_pad((uint32_t)len);
}

static void assert_data_equal(const struct sdr_wire_data *a, const struct sdr_wire_data *b)
{
	assert_int_equal(a->qpn, b->qpn);
	assert_int_equal(a->psn, b->psn);
	assert_true(a->va == b->va);
	assert_int_equal(a->rkey, b->rkey);
	assert_int_equal(a->len, b->len);
	assert_int_equal(a->imm, b->imm);
	assert_int_equal(a->piece, b->piece);
	assert_int_equal(a->whole, b->whole);
}

static void data__bytes_are_iba(void **state)
{
	static const uint8_t want[SDR_DATA_HDR] = {
		0x2b, 0x70, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x00, 0xab, 0xcd,
		0xef, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0xca, 0xfe,
		0xba, 0xbe, 0x00, 0x00, 0x00, 0x05, 0x01, 0x02, 0x03, 0x04,
	};
	struct sdr_wire_data d = {
		.qpn = 0xff123456,
		.psn = 0xffabcdef,
		.va = 0x1122334455667788u, /* 24 bits are kept */
		.rkey = 0xcafebabe,
		.len = 5,
		.imm = 0x01020304,
	};
	uint8_t p[SDR_DATA_HDR];

	(void)state;
	sdr_wire_data_encode(p, &d);
	assert_memory_equal(p, want, sizeof(want));
}

static void ctl__bytes_are_iba(void **state)
{
	static const uint8_t want[SDR_CTL_HDR] = {
		0x64, 0x50, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
		0x00, 0x07, 0x80, 0x01, 0x00, 0x00, 0x00, 0x65, 0x43, 0x21,
	};
	struct sdr_wire_ctl c = { .qkey = 0x80010000, .psn = 0xff000007, .src_qpn = 0xff654321 };
	uint8_t p[SDR_CTL_HDR];

	(void)state;
	sdr_wire_ctl_encode(p, &c, 7);
	assert_memory_equal(p, want, sizeof(want));
}

static void data__round_trip(void **state)
{
	uint8_t p[ROCE_PKT_MAX];
	const uint8_t *g, *payload;
	struct sdr_wire_data d, e;
	uint64_t s = 1;
	size_t n;
	int i;

	(void)state;
	for (i = 0; i < 3000; i++) {
		data_random(&s, &d);
		if (i < 40)
			d.len = (uint32_t)i; /* every pad, the empty packet */
		else if (i < 48)
			d.len = SDR_MTU_MAX - (uint32_t)(i - 40);
		n = data_build(p, &d);
		assert_int_equal(n % 4, 0);
		assert_int_equal(sdr_wire_opcode(p, n), SDR_OP_UC_WRITE_ONLY_IMM);
		g = test_guard(p, n);
		assert_int_equal(sdr_wire_data_decode(g, n, &e, &payload), 0);
		assert_data_equal(&d, &e);
		assert_ptr_equal(payload, g + SDR_DATA_HDR);
	}
}

static void ctl__round_trip(void **state)
{
	uint8_t p[ROCE_PKT_MAX];
	const uint8_t *g, *payload;
	struct sdr_wire_ctl c, e;
	size_t n, len, got;
	uint64_t s = 2;

	(void)state;
	for (len = 0; len <= SDR_PROBE_MAX; len++) {
		c.qkey = (uint32_t)sdr_rand64(&s);
		c.psn = (uint32_t)sdr_rand64(&s) & SDR_PSN_MASK;
		c.src_qpn = (uint32_t)sdr_rand64(&s) & SDR_QPN_MASK;
		n = ctl_build(p, &c, len);
		assert_int_equal(sdr_wire_opcode(p, n), SDR_OP_UD_SEND_ONLY);
		g = test_guard(p, n);
		assert_int_equal(sdr_wire_ctl_decode(g, n, &e, &payload, &got), 0);
		assert_int_equal(got, len);
		assert_int_equal(c.qkey, e.qkey);
		assert_int_equal(c.psn, e.psn);
		assert_int_equal(c.src_qpn, e.src_qpn);
		assert_ptr_equal(payload, g + SDR_CTL_HDR);
	}
}

static void opcode__needs_a_bth(void **state)
{
	uint8_t p[SDR_BTH_LEN] = { 0x2b };
	size_t n;

	(void)state;
	for (n = 0; n < SDR_BTH_LEN; n++)
		assert_int_equal(sdr_wire_opcode(test_guard(p, n), n), -1);
	assert_int_equal(sdr_wire_opcode(p, SDR_BTH_LEN), 0x2b);
}

/* The payload length is in the packet, so that one length alone is right. */
static void data__every_other_length_is_refused(void **state)
{
	uint8_t p[ROCE_PKT_MAX];
	const uint8_t *payload;
	struct sdr_wire_data d, e;
	uint64_t s = 3;
	size_t n, k;
	uint32_t len;

	(void)state;
	for (len = 0; len < 70; len++) {
		data_random(&s, &d);
		d.len = len;
		n = data_build(p, &d);
		memset(p + n, 0, 16);
		for (k = 0; k < n + 16; k++)
			assert_int_equal(sdr_wire_data_decode(test_guard(p, k), k, &e, &payload),
					 k == n ? 0 : -EBADMSG);
	}
	d.len = SDR_MTU_MAX;
	n = data_build(p, &d);
	for (k = 0; k < n; k++)
		assert_int_equal(sdr_wire_data_decode(test_guard(p, k), k, &e, &payload), -EBADMSG);
}

/*
 * A control datagram has no length of its own: what is cut at a multiple of four is a shorter one.
 */
static void ctl__truncations(void **state)
{
	uint8_t p[ROCE_PKT_MAX];
	const uint8_t *payload;
	struct sdr_wire_ctl c = { .qkey = 1, .psn = 2, .src_qpn = 3 }, e;
	size_t n, k, len, pad, got;

	(void)state;
	for (len = 0; len < 70; len++) {
		n = ctl_build(p, &c, len);
		pad = sdr_wire_pad((uint32_t)len);
		memset(p + n, 0, 16);
		for (k = 0; k < n + 16; k++) {
			bool ok = k % 4 == 0 && k >= SDR_CTL_OVERHEAD + pad;

			assert_int_equal(
				sdr_wire_ctl_decode(test_guard(p, k), k, &e, &payload, &got),
				ok ? 0 : -EBADMSG);
			if (ok)
				assert_int_equal(got, k - SDR_CTL_OVERHEAD - pad);
		}
	}
}

static void roce__limits(void **state)
{
	uint8_t p[ROCE_PKT_MAX];
	const uint8_t *payload;
	struct sdr_wire_data d = { .len = SDR_MTU_MAX }, e;
	struct sdr_wire_ctl c = { .qkey = 1 }, f;
	size_t n, got;

	(void)state;
	n = data_build(p, &d);
	assert_int_equal(sdr_wire_data_decode(p, n, &e, &payload), 0);
	d.len++;
	n = data_build(p, &d);
	assert_int_equal(sdr_wire_data_decode(test_guard(p, n), n, &e, &payload), -EBADMSG);
	n = ctl_build(p, &c, SDR_PROBE_MAX);
	assert_int_equal(sdr_wire_ctl_decode(p, n, &f, &payload, &got), 0);
	n = ctl_build(p, &c, SDR_PROBE_MAX + 1);
	assert_int_equal(sdr_wire_ctl_decode(test_guard(p, n), n, &f, &payload, &got), -EBADMSG);
}

/* A piece with 64 bytes may say this. */
static bool piece_of_64(uint32_t v)
{
	uint32_t size = v >> 16, whole = v & 0xffff;

	return size && size % 4 == 0 && whole > size && whole <= SDR_MTU_MAX &&
	       (size == 64 || whole % size == 64);
}

/*
 * RETH's length lies: any other value than what is there is refused, in particular huge ones; but
 * for those of a piece.
 */
static void data__length_must_match(void **state)
{
	uint8_t p[ROCE_PKT_MAX];
	const uint8_t *payload;
	struct sdr_wire_data d = { .len = 64 }, e;
	uint8_t back[SDR_DATA_HDR];
	size_t n = data_build(p, &d);
	uint32_t pieces = 0;
	uint64_t s = 4;
	int i;

	(void)state;
	for (i = 0; i < 40000; i++) {
		uint32_t v = i < 10000 ? (uint32_t)i : (uint32_t)sdr_rand64(&s);
		bool piece;

		if (i >= 20000)
			v = (v & 0x1ffc0000) >> (i & 3) | (v & 0x1fff);
		if (i >= 30000)
			v = 64u << 16 | (v & 0x3fff);
		piece = piece_of_64(v);
		pieces += piece;
		sdr_put_be32(p + SDR_BTH_LEN + 12, v);
		assert_int_equal(sdr_wire_data_decode(p, n, &e, &payload),
				 v == 64 || piece ? 0 : -EBADMSG);
		if (v != 64 && !piece)
			continue;
		assert_int_equal(e.len, 64);
		assert_int_equal(e.piece, v >> 16);
		assert_int_equal(e.whole, piece ? v & 0xffff : 0);
		sdr_wire_data_encode(back, &e);
		assert_memory_equal(back, p, sizeof(back));
	}
	assert_true(pieces > 4000);
	/* Nor is an empty one a piece. */
	d.len = 0;
	n = data_build(p, &d);
	sdr_put_be32(p + SDR_BTH_LEN + 12, 64u << 16 | 128);
	assert_int_equal(sdr_wire_data_decode(p, n, &e, &payload), -EBADMSG);
}

/*
 * All 256 values of each header byte: what must be refused is, and what is accepted changes the
 * field it belongs to and nothing else.
 */
static void data__every_header_byte(void **state)
{
	uint8_t p[ROCE_PKT_MAX], back[SDR_DATA_HDR];
	const uint8_t *payload;
	struct sdr_wire_data d = { .qpn = 0x22,
				   .psn = 9,
				   .va = 77,
				   .rkey = 5,
				   .len = 64,
				   .imm = 1 },
			     e;
	size_t n = data_build(p, &d), i;
	unsigned int v;

	(void)state;
	for (i = 0; i < SDR_DATA_HDR; i++) {
		uint8_t was = p[i];

		for (v = 0; v < 256; v++) {
			bool ok = true;

			if (i == 0)
				ok = v == SDR_OP_UC_WRITE_ONLY_IMM;
			else if (i == 1)
				ok = !(v & 0x3f); /* pad 0, version 0 */
			else if (i == 2)
				ok = (v | 0x80) == 0xff;
			else if (i == 3)
				ok = v == 0xff;
			else if (i >= 24 && i < 28)
				ok = v == was;
			p[i] = (uint8_t)v;
			assert_int_equal(sdr_wire_data_decode(test_guard(p, n), n, &e, &payload),
					 ok ? 0 : -EBADMSG);
			if (ok) {
				sdr_wire_data_encode(back, &e);
				/* carried, not kept: normalised by the encoder */
				if (i < 5 || i == 8)
					p[i] = was;
				assert_memory_equal(back, p, SDR_DATA_HDR);
			}
		}
		p[i] = was;
	}
}

static void ctl__every_header_byte(void **state)
{
	uint8_t p[ROCE_PKT_MAX], back[SDR_CTL_HDR];
	const uint8_t *payload;
	struct sdr_wire_ctl c = { .qkey = 0x80010000, .psn = 9, .src_qpn = 5 }, e;
	size_t n = ctl_build(p, &c, 64), i, got;
	unsigned int v;

	(void)state;
	for (i = 0; i < SDR_CTL_HDR; i++) {
		uint8_t was = p[i];

		for (v = 0; v < 256; v++) {
			bool ok = true;

			if (i == 0)
				ok = v == SDR_OP_UD_SEND_ONLY;
			else if (i == 1)
				ok = !(v & 0x0f);
			else if (i == 2)
				ok = (v | 0x80) == 0xff;
			else if (i == 3)
				ok = v == 0xff;
			else if (i >= 5 && i < 8)
				ok = v == was; /* destination QPN */
			p[i] = (uint8_t)v;
			assert_int_equal(
				sdr_wire_ctl_decode(test_guard(p, n), n, &e, &payload, &got),
				ok ? 0 : -EBADMSG);
			if (ok) {
				assert_int_equal(got, 64 - (i == 1 ? v >> 4 & 3 : 0));
				sdr_wire_ctl_encode(back, &e, 64);
				if (i < 5 || i == 8 || i == 16)
					p[i] = was;
				assert_memory_equal(back, p, SDR_CTL_HDR);
			}
		}
		p[i] = was;
	}
}

/* Mutated and random packets: refused, or decoded to something that lies inside the packet. */
static void roce__garbage(void **state)
{
	uint8_t p[256];
	const uint8_t *g, *payload;
	struct sdr_wire_data d;
	struct sdr_wire_ctl c;
	uint64_t s = 5;
	size_t n, len, k;
	int i, hits = 0;

	(void)state;
	for (i = 0; i < 200000; i++) {
		if (i % 3) {
			data_random(&s, &d);
			d.len %= 200;
			c.qkey = c.psn = c.src_qpn = d.imm;
			n = i % 3 == 1 ? data_build(p, &d) : ctl_build(p, &c, d.len);
			for (k = sdr_rand64(&s) % 3 + 1; k; k--)
				p[sdr_rand64(&s) % n] = (uint8_t)sdr_rand64(&s);
			if (sdr_rand64(&s) % 4 == 0)
				n = sdr_rand64(&s) % (n + 1);
		} else {
			n = sdr_rand64(&s) % sizeof(p);
			test_fill(&s, p, n);
		}
		g = test_guard(p, n);
		if (sdr_wire_data_decode(g, n, &d, &payload) == 0) {
			hits++;
			assert_true(payload >= g && payload + d.len + SDR_ICRC_LEN <= g + n);
			assert_true(d.len <= SDR_MTU_MAX && d.qpn <= SDR_QPN_MASK &&
				    d.psn <= SDR_PSN_MASK);
		}
		if (sdr_wire_ctl_decode(g, n, &c, &payload, &len) == 0) {
			hits++;
			assert_true(payload >= g && payload + len + SDR_ICRC_LEN <= g + n);
			assert_true(len <= SDR_PROBE_MAX && c.psn <= SDR_PSN_MASK &&
				    c.src_qpn <= SDR_QPN_MASK);
		}
	}
	assert_true(hits > 10000); /* the mutations did not make everything unrecognisable */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data__bytes_are_iba),
		cmocka_unit_test(ctl__bytes_are_iba),
		cmocka_unit_test(data__round_trip),
		cmocka_unit_test(ctl__round_trip),
		cmocka_unit_test(opcode__needs_a_bth),
		cmocka_unit_test(data__every_other_length_is_refused),
		cmocka_unit_test(ctl__truncations),
		cmocka_unit_test(roce__limits),
		cmocka_unit_test(data__length_must_match),
		cmocka_unit_test(data__every_header_byte),
		cmocka_unit_test(ctl__every_header_byte),
		cmocka_unit_test(roce__garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
