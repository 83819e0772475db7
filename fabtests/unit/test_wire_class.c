/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Class header, clear to send, keys, QP info: bytes, round trips, every length, every byte damaged,
 * every field just inside and just outside its range.  Also the byte-order helpers that all of them
 * stand on.
 */
#include "test_wire.h"
#include "wire/sdr_tlv.h"

/* ---- byte order ------------------------------------------------------------------------------ */

static void bytes__order(void **state)
{
	static const uint8_t up[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	uint8_t p[8];

	(void)state;
	assert_int_equal(sdr_get_le16(up), 0x0201);
	assert_int_equal(sdr_get_be16(up), 0x0102);
	assert_int_equal(sdr_get_le32(up), 0x04030201);
	assert_int_equal(sdr_get_be32(up), 0x01020304);
	assert_true(sdr_get_le64(up) == 0x0807060504030201u);
	assert_true(sdr_get_be64(up) == 0x0102030405060708u);
	sdr_put_le16(p, 0x0201);
	assert_memory_equal(p, up, 2);
	sdr_put_be16(p, 0x0102);
	assert_memory_equal(p, up, 2);
	sdr_put_le32(p, 0x04030201);
	assert_memory_equal(p, up, 4);
	sdr_put_be32(p, 0x01020304);
	assert_memory_equal(p, up, 4);
	sdr_put_le64(p, 0x0807060504030201u);
	assert_memory_equal(p, up, 8);
	sdr_put_be64(p, 0x0102030405060708u);
	assert_memory_equal(p, up, 8);
}

/* ---- class ----------------------------------------------------------------------------------- */

static void class__round_trip(void **state)
{
	uint8_t p[SDR_CLASS_LEN], type;
	unsigned int c, t;

	(void)state;
	for (c = SDR_CLASS_SDK; c <= SDR_CLASS_DGRAM; c++) {
		for (t = 0; t < 256; t++) {
			sdr_class_encode(p, (enum sdr_class)c, (uint8_t)t);
			type = (uint8_t)~t;
			assert_int_equal(
				sdr_class_decode(test_guard(p, sizeof(p)), sizeof(p), &type), c);
			assert_int_equal(type, t);
		}
	}
	assert_int_equal(p[0], 0x5d);
	assert_int_equal(p[1], SDR_WIRE_VERSION);
	assert_int_equal(p[2], 3);
	assert_int_equal(p[3], 255);
}

static void class__refusals(void **state)
{
	uint8_t p[SDR_CLASS_LEN + 1] = { 0 }, type = 0x77;
	unsigned int v;
	size_t n;

	(void)state;
	sdr_class_encode(p, SDR_CLASS_REL, 9);
	for (n = 0; n < SDR_CLASS_LEN; n++)
		assert_int_equal(sdr_class_decode(test_guard(p, n), n, &type), -EBADMSG);
	for (v = 0; v < 256; v++) {
		p[0] = (uint8_t)v;
		if (v != SDR_CLASS_MAGIC)
			assert_int_equal(sdr_class_decode(p, SDR_CLASS_LEN, &type), -EBADMSG);
	}
	p[0] = SDR_CLASS_MAGIC;
	for (v = 0; v < 256; v++) {
		p[1] = (uint8_t)v;
		if (v != SDR_WIRE_VERSION)
			assert_int_equal(sdr_class_decode(p, SDR_CLASS_LEN, &type),
					 -EPROTONOSUPPORT);
	}
	p[1] = SDR_WIRE_VERSION;
	for (v = 0; v < 256; v++) {
		p[2] = (uint8_t)v;
		if (v < SDR_CLASS_SDK || v > SDR_CLASS_DGRAM)
			assert_int_equal(sdr_class_decode(p, SDR_CLASS_LEN, &type), -EBADMSG);
	}
	assert_int_equal(type, 0x77);
	p[2] = SDR_CLASS_DGRAM;
	assert_int_equal(sdr_class_decode(p, SDR_CLASS_LEN + 1, &type), SDR_CLASS_DGRAM);
	assert_int_equal(type, 9);
}

/* ---- clear to send --------------------------------------------------------------------------- */

static void cts__round_trip(void **state)
{
	static const uint8_t want[] = {
		0x5d, SDR_WIRE_VERSION, 1, 1, 0x56, 0x34, 0x12, 0, 0xbe, 0xba, 0xfe, 0xca, 4, 3, 2,
		1,
	};
	struct sdr_wire_cts c = { .qpn = 0x123456, .rkey = 0xcafebabe, .posted = 0x01020304 }, d;
	uint8_t p[SDR_WIRE_CTS_LEN], type;
	uint64_t s = 1;
	int i;

	(void)state;
	assert_int_equal(sdr_wire_cts_encode(p, &c), SDR_WIRE_CTS_LEN);
	assert_int_equal(sizeof(want), SDR_WIRE_CTS_LEN);
	assert_memory_equal(p, want, sizeof(want));
	for (i = 0; i < 1000; i++) {
		c.qpn = (uint32_t)sdr_rand64(&s) & SDR_QPN_MASK;
		c.rkey = (uint32_t)sdr_rand64(&s);
		c.posted = (uint32_t)sdr_rand64(&s);
		sdr_wire_cts_encode(p, &c);
		assert_int_equal(sdr_class_decode(p, sizeof(p), &type), SDR_CLASS_SDK);
		assert_int_equal(type, SDR_SDK_CTS);
		assert_int_equal(sdr_wire_cts_decode(test_guard(p + SDR_CLASS_LEN, 12), 12, &d), 0);
		assert_memory_equal(&c, &d, sizeof(c));
	}
}

static void cts__refusals(void **state)
{
	struct sdr_wire_cts c = { .qpn = 7, .rkey = 8, .posted = 9 }, d = { 1, 2, 3 };
	uint8_t p[64] = { 0 };
	unsigned int v;
	size_t n;

	(void)state;
	sdr_wire_cts_encode(p, &c);
	for (n = 0; n < 40; n++)
		if (n != 12)
			assert_int_equal(
				sdr_wire_cts_decode(test_guard(p + SDR_CLASS_LEN, n), n, &d),
				-EBADMSG);
	for (v = 1; v < 256; v++) {
		p[SDR_CLASS_LEN + 3] = (uint8_t)v; /* a QPN of more than 24 bits */
		assert_int_equal(sdr_wire_cts_decode(p + SDR_CLASS_LEN, 12, &d), -EBADMSG);
	}
	assert_true(d.qpn == 1 && d.rkey == 2 && d.posted == 3);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static size_t keys_make(uint8_t *p, const struct sdr_wire_keys *k, const struct sdr_wire_key *key)
{
	uint32_t i;

	for (i = 0; i < k->n; i++)
		sdr_wire_key_put(p + SDR_WIRE_KEYS_HDR + i * SDR_WIRE_KEY_LEN, &key[i]);
	return sdr_wire_keys_encode(p, k);
}

static void keys__bytes(void **state)
{
	static const uint8_t want[] = {
		0x5d, SDR_WIRE_VERSION,
		1,    3,
		0x56, 0x34,
		0x12, 0,
		0xbe, 0xba,
		0xfe, 0xca,
		4,    3,
		2,    1,
		2,    3,
		2,    1,
		2,    0,
		0,    0, /* first, n */
		8,    7,
		6,    5,
		4,    3,
		2,    1,
		0x44, 0x33,
		0x22, 0x11,
		1, /* live */
		0,    0,
		0,    0,
		0,    0,
		0,    0,
		0,    0,
		0,    0,
		2, /* void */
	};
	static const struct sdr_wire_key key[2] = {
		{ .va = 0x0102030405060708, .rkey = 0x11223344, .state = SDR_KEY_LIVE },
		{ .state = SDR_KEY_VOID },
	};
	struct sdr_wire_keys k = { .qpn = 0x123456,
				   .rkey = 0xcafebabe,
				   .posted = 0x01020304,
				   .first = 0x01020302,
				   .n = 2 };
	uint8_t p[sizeof(want)];

	(void)state;
	assert_int_equal(keys_make(p, &k, key), sizeof(want));
	assert_memory_equal(p, want, sizeof(want));
}

static void keys__round_trip(void **state)
{
	static struct sdr_wire_key key[SDR_WIRE_KEYS_MAX];
	static uint8_t p[SDR_CTL_MAX];
	struct sdr_wire_keys k = { 0 }, d;
	struct sdr_wire_key one;
	uint64_t s = 4;
	uint32_t t, i;
	uint8_t type;
	size_t n;

	(void)state;
	for (t = 0; t < 500; t++) {
		k.qpn = (uint32_t)sdr_rand64(&s) & SDR_QPN_MASK;
		k.rkey = (uint32_t)sdr_rand64(&s);
		k.first = t & 1 ? (uint32_t)sdr_rand64(&s) : 0xffffff00; /* runs through 0 */
		k.n = (uint16_t)(t < 2 ? SDR_WIRE_KEYS_MAX
				       : 1 + sdr_rand64(&s) % SDR_WIRE_KEYS_MAX);
		k.posted = k.first + k.n + (uint32_t)(sdr_rand64(&s) % 3);
		memset(key, 0, sizeof(key));
		for (i = 0; i < k.n; i++) {
			key[i].state = sdr_rand64(&s) % 3 ? SDR_KEY_LIVE : SDR_KEY_VOID;
			if (key[i].state == SDR_KEY_VOID)
				continue;
			key[i].va = sdr_rand64(&s);
			key[i].rkey = (uint32_t)sdr_rand64(&s);
		}
		n = keys_make(p, &k, key);
		assert_in_range(n, SDR_WIRE_KEYS_HDR + SDR_WIRE_KEY_LEN, SDR_CTL_MAX);
		assert_int_equal(sdr_class_decode(p, n, &type), SDR_CLASS_SDK);
		assert_int_equal(type, SDR_SDK_KEYS);
		n -= SDR_CLASS_LEN;
		assert_int_equal(sdr_wire_keys_decode(test_guard(p + SDR_CLASS_LEN, n), n, &d), 0);
		assert_true(d.qpn == k.qpn && d.rkey == k.rkey && d.posted == k.posted);
		assert_true(d.first == k.first && d.n == k.n);
		for (i = 0; i < k.n; i++) {
			sdr_wire_key_get(&d, i, &one);
			assert_true(one.va == key[i].va && one.rkey == key[i].rkey &&
				    one.state == key[i].state);
		}
	}
}

static int keys_decode(const struct sdr_wire_keys *k, const struct sdr_wire_key *key)
{
	uint8_t p[SDR_WIRE_KEYS_HDR + 4 * SDR_WIRE_KEY_LEN];
	size_t n = keys_make(p, k, key) - SDR_CLASS_LEN;
	struct sdr_wire_keys d;

	return sdr_wire_keys_decode(test_guard(p + SDR_CLASS_LEN, n), n, &d);
}

static void keys__refusals(void **state)
{
	const struct sdr_wire_keys good = {
		.qpn = 7, .rkey = 8, .posted = 12, .first = 10, .n = 2
	};
	struct sdr_wire_key key[2] = { { 1, 2, SDR_KEY_LIVE }, { 0, 0, SDR_KEY_VOID } };
	struct sdr_wire_keys k = good, was, d;
	static uint8_t p[SDR_CTL_MAX + 64];
	size_t n, len;
	unsigned int v;

	(void)state;
	memset(&d, 0x3c, sizeof(d));
	memcpy(&was, &d, sizeof(d));
	len = keys_make(p, &k, key) - SDR_CLASS_LEN;
	for (n = 0; n < len + 2 * SDR_WIRE_KEY_LEN; n++)
		if (n != len)
			assert_int_equal(
				sdr_wire_keys_decode(test_guard(p + SDR_CLASS_LEN, n), n, &d),
				-EBADMSG);
	for (v = 1; v < 256; v++) {
		p[SDR_CLASS_LEN + 3] = (uint8_t)v; /* a QPN of more than 24 bits */
		assert_int_equal(sdr_wire_keys_decode(p + SDR_CLASS_LEN, len, &d), -EBADMSG);
		p[SDR_CLASS_LEN + 3] = 0;
		p[22] = (uint8_t)v; /* the zeros behind n */
		assert_int_equal(sdr_wire_keys_decode(p + SDR_CLASS_LEN, len, &d), -EBADMSG);
		p[22] = 0;
		p[23] = (uint8_t)v;
		assert_int_equal(sdr_wire_keys_decode(p + SDR_CLASS_LEN, len, &d), -EBADMSG);
		p[23] = 0;
	}
	/* n: 0, and more than a datagram carries, with the length that belongs to it */
	sdr_put_le16(p + 20, 0);
	assert_int_equal(
		sdr_wire_keys_decode(p + SDR_CLASS_LEN, SDR_WIRE_KEYS_HDR - SDR_CLASS_LEN, &d),
		-EBADMSG);
	k.n = SDR_WIRE_KEYS_MAX + 1;
	k.posted = 100000;
	for (v = 0; v < k.n; v++)
		sdr_wire_key_put(p + SDR_WIRE_KEYS_HDR + v * SDR_WIRE_KEY_LEN, &key[0]);
	len = sdr_wire_keys_encode(p, &k) - SDR_CLASS_LEN;
	assert_int_equal(sdr_wire_keys_decode(p + SDR_CLASS_LEN, len, &d), -EBADMSG);
	sdr_put_le16(p + 20, SDR_WIRE_KEYS_MAX);
	assert_int_equal(sdr_wire_keys_decode(p + SDR_CLASS_LEN, len, &d), -EBADMSG);
	assert_memory_equal(&d, &was, sizeof(d));
	/* entries above posted */
	k = good;
	assert_int_equal(keys_decode(&k, key), 0);
	k.posted = 11;
	assert_int_equal(keys_decode(&k, key), -EBADMSG);
	k.posted = 9;
	assert_int_equal(keys_decode(&k, key), -EBADMSG);
	k.posted = 10 + 0x7fffffffu;
	assert_int_equal(keys_decode(&k, key), 0);
	k.posted = 10 + 0x80000000u;
	assert_int_equal(keys_decode(&k, key), -EBADMSG);
	/* states, and a void one with a place */
	k = good;
	for (v = 0; v < 256; v++) {
		key[0].state = (uint8_t)v;
		assert_int_equal(keys_decode(&k, key), v == SDR_KEY_LIVE ? 0 : -EBADMSG);
	}
	key[0] = (struct sdr_wire_key){ 1, 0, SDR_KEY_VOID };
	assert_int_equal(keys_decode(&k, key), -EBADMSG);
	key[0] = (struct sdr_wire_key){ 0, 1, SDR_KEY_VOID };
	assert_int_equal(keys_decode(&k, key), -EBADMSG);
	key[0] = (struct sdr_wire_key){ 0, 0, SDR_KEY_LIVE }; /* a message of no bytes */
	assert_int_equal(keys_decode(&k, key), 0);
}

/* ---- QP info --------------------------------------------------------------------------------- */

static const struct sdr_wire_qp_info info_default = {
	.qpn = 0x123456,
	.rkey = 0xcafebabe,
	.psn = 0xabcdef,
	.channels = 1,
	.generations = 4,
	.split = SDR_IMM_SPLIT_DEFAULT,
	.mtu = 4096,
	.chunk = 65536,
	.max_msg = 1u << 30,
	.rx_window = 212992,
	.addr_len = 7,
	.addr = { 4, 0x12, 0xb7, 192, 0, 2, 1 },
};

static const struct sdr_wire_qp_info info_nic = {
	.qpn = 0x123456,
	.rkey = 0xcafebabe,
	.psn = 0xabcdef,
	.channels = 2,
	.generations = 4,
	.split = SDR_IMM_SPLIT_DEFAULT,
	.mtu = 4096,
	.chunk = 65536,
	.max_msg = 1u << 30,
	.addr_len = 7,
	.addr = { 4, 0x12, 0xb7, 192, 0, 2, 1 },
	.flags = SDR_QP_F_RKEYED | SDR_QP_F_NIC,
	.ctl_qpn = 0xa1b2c3,
	.ntps = 8,
	.tpn = { 0x123456, 0xfedcba, 2, 0xffffff, 5, 4, 0x10, 0x11 },
};

static int info_decode(const struct sdr_wire_qp_info *i, struct sdr_wire_qp_info *out)
{
	uint8_t p[SDR_QP_INFO_LEN];

	sdr_wire_qp_info_encode(p, i);
	return sdr_wire_qp_info_decode(test_guard(p, sizeof(p)), sizeof(p), out);
}

static void assert_info_equal(const struct sdr_wire_qp_info *a, const struct sdr_wire_qp_info *b)
{
	assert_int_equal(a->qpn, b->qpn);
	assert_int_equal(a->rkey, b->rkey);
	assert_int_equal(a->psn, b->psn);
	assert_int_equal(a->channels, b->channels);
	assert_int_equal(a->generations, b->generations);
	assert_memory_equal(&a->split, &b->split, sizeof(a->split));
	assert_int_equal(a->mtu, b->mtu);
	assert_int_equal(a->chunk, b->chunk);
	assert_true(a->max_msg == b->max_msg);
	assert_int_equal(a->rx_window, b->rx_window);
	assert_int_equal(a->addr_len, b->addr_len);
	assert_memory_equal(a->addr, b->addr, sizeof(a->addr));
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->ctl_qpn, b->ctl_qpn);
	assert_int_equal(a->ntps, b->ntps);
	assert_memory_equal(a->tpn, b->tpn, sizeof(a->tpn));
}

static void info__bytes(void **state)
{
	static const uint8_t want[SDR_QP_INFO_LEN] = {
		0x51, SDR_WIRE_VERSION,
		1,    4,
		10,   18,
		4,    7,
		0x56, 0x34,
		0x12, 0,
		0xbe, 0xba,
		0xfe, 0xca,
		0xef, 0xcd,
		0xab, 0,
		0,    0x10,
		0,    0,
		0,    0,
		1,    0,
		0,    0x40,
		3,    0,
		0,    0,
		0,    0x40,
		0,    0,
		0,    0,
		4,    0x12,
		0xb7, 192,
		0,    2,
		1,
	};
	static const uint8_t nic[5 + 3 * 8 + 1] = {
		3,    0xc3, 0xb2, 0xa1, 8, /* 59 flags, 60 ctl_qpn, 63 ntps */
		0x56, 0x34, 0x12, 0xba, 0xdc, 0xfe, 2,	  0, 0, 0xff, 0xff, 0xff,
		5,    0,    0,	  4,	0,    0,    0x10, 0, 0, 0x11, 0,    0,
	};
	uint8_t p[SDR_QP_INFO_LEN];

	(void)state;
	memset(p, 0xee, sizeof(p));
	sdr_wire_qp_info_encode(p, &info_default);
	assert_memory_equal(p, want, sizeof(want));
	memset(p, 0xee, sizeof(p));
	sdr_wire_qp_info_encode(p, &info_nic);
	assert_memory_equal(p + 59, nic, sizeof(nic));
}

static void info__round_trip(void **state)
{
	static const uint8_t user[] = { 0, 1, 2, 4, 8 };
	struct sdr_wire_qp_info i, o;
	uint64_t s = 1;
	int k, t;

	(void)state;
	assert_int_equal(info_decode(&info_nic, &o), 0);
	assert_info_equal(&info_nic, &o);
	for (k = 0; k < 20000; k++) {
		memset(&i, 0, sizeof(i));
		i.channels = (uint8_t)(sdr_rand64(&s) % SDR_CHANNELS_MAX + 1);
		i.generations = (uint8_t)(sdr_rand64(&s) % SDR_GENERATIONS_MAX + 1);
		i.qpn = SDR_QPN_MIN + (uint32_t)(sdr_rand64(&s) % (SDR_QPN_MASK - 300));
		i.rkey = (uint32_t)sdr_rand64(&s);
		i.psn = (uint32_t)sdr_rand64(&s) & SDR_PSN_MASK;
		i.split.user_bits = user[sdr_rand64(&s) % 5];
		i.split.id_bits = (uint8_t)(sdr_rand64(&s) % (SDR_IMM_ID_BITS_MAX - 1) + 2);
		i.split.off_bits = (uint8_t)(32 - i.split.id_bits - i.split.user_bits);
		i.mtu = SDR_MTU_MIN + (uint32_t)(sdr_rand64(&s) % (SDR_MTU_MAX - SDR_MTU_MIN + 1));
		i.chunk = i.mtu * (uint32_t)(sdr_rand64(&s) % 64 + 1);
		i.max_msg = i.mtu * (sdr_rand64(&s) % (1u << i.split.off_bits) + 1);
		i.rx_window = (uint32_t)sdr_rand64(&s);
		i.addr_len = (uint8_t)(sdr_rand64(&s) % (SDR_QP_INFO_ADDR_MAX + 1));
		test_fill(&s, i.addr, i.addr_len);
		i.flags = (uint8_t)(sdr_rand64(&s) & (SDR_QP_F_RKEYED | SDR_QP_F_NIC));
		i.ctl_qpn = (uint32_t)sdr_rand64(&s) & SDR_QPN_MASK;
		if (i.channels * i.generations <= (int)SDR_QP_INFO_TPS_MAX && k & 1)
			i.ntps = (uint8_t)(i.channels * i.generations);
		for (t = 0; t < i.ntps; t++)
			i.tpn[t] = t ? SDR_QPN_MIN + (uint32_t)(sdr_rand64(&s) % (SDR_QPN_MASK - 1))
				     : i.qpn;
		assert_int_equal(info_decode(&i, &o), 0);
		assert_info_equal(&i, &o);
	}
}

static void info__every_length(void **state)
{
	uint8_t p[SDR_QP_INFO_LEN + 16] = { 0 };
	struct sdr_wire_qp_info o;
	size_t n;

	(void)state;
	sdr_wire_qp_info_encode(p, &info_default);
	for (n = 0; n <= sizeof(p); n++)
		assert_int_equal(sdr_wire_qp_info_decode(test_guard(p, n), n, &o),
				 n == SDR_QP_INFO_LEN ? 0 : -EBADMSG);
}

#define RANGE_OF(info, label, field, value, result)    \
	do {                                           \
		struct sdr_wire_qp_info x_ = info, o_; \
		x_.field = (value);                    \
		if (info_decode(&x_, &o_) != (result)) \
			fail_msg("%s", label);         \
	} while (0)
#define RANGE(label, field, value, result) RANGE_OF(info_default, label, field, value, result)

static void info__ranges(void **state)
{
	struct sdr_wire_qp_info x = info_default, o;

	(void)state;
	RANGE("channels 0", channels, 0, -EBADMSG);
	RANGE("channels max", channels, SDR_CHANNELS_MAX, 0);
	RANGE("channels above", channels, SDR_CHANNELS_MAX + 1, -EBADMSG);
	RANGE("generations 0", generations, 0, -EBADMSG);
	RANGE("generations max", generations, SDR_GENERATIONS_MAX, 0);
	RANGE("generations above", generations, SDR_GENERATIONS_MAX + 1, -EBADMSG);
	RANGE("qpn 0", qpn, 0, -EBADMSG);
	RANGE("qpn of control", qpn, SDR_QPN_CTL, -EBADMSG);
	RANGE("qpn min", qpn, SDR_QPN_MIN, 0);
	RANGE("qpn last that fits", qpn, SDR_QPN_MASK - 3, 0);
	RANGE("qpn that does not", qpn, SDR_QPN_MASK - 2, -EBADMSG);
	RANGE("qpn 25 bits", qpn, SDR_QPN_MASK + 3, -EBADMSG);
	RANGE("psn max", psn, SDR_PSN_MASK, 0);
	RANGE("psn above", psn, SDR_PSN_MASK + 1, -EBADMSG);
	RANGE("split", split.id_bits, 9, -EBADMSG);
	RANGE("mtu above", mtu, SDR_MTU_MAX + 1, -EBADMSG);
	RANGE("mtu 0", mtu, 0, -EBADMSG);
	RANGE("chunk 0", chunk, 0, -EBADMSG);
	RANGE("chunk one packet", chunk, 4096, 0);
	RANGE("chunk less than a packet", chunk, 2048, -EBADMSG);
	RANGE("chunk no multiple", chunk, 65537, -EBADMSG);
	RANGE("max_msg 0", max_msg, 0, -EBADMSG);
	RANGE("max_msg one packet", max_msg, 4096, 0);
	RANGE("max_msg no multiple", max_msg, 4097, -EBADMSG);
	RANGE("max_msg limit", max_msg, (uint64_t)4096 << 18, 0);
	RANGE("max_msg above", max_msg, ((uint64_t)4096 << 18) + 4096, -EBADMSG);
	RANGE("max_msg huge", max_msg, ~(uint64_t)4095, -EBADMSG);
	RANGE("rx_window any", rx_window, ~0u, 0);

	x.mtu = SDR_MTU_MIN;
	x.chunk = SDR_MTU_MIN;
	x.max_msg = SDR_MTU_MIN;
	assert_int_equal(info_decode(&x, &o), 0);
	x.mtu = SDR_MTU_MIN - 1;
	x.chunk = x.mtu;
	x.max_msg = x.mtu;
	assert_int_equal(info_decode(&x, &o), -EBADMSG);
	x = info_default;
	x.addr_len = 200; /* the encoder reads no further than its field */
	assert_int_equal(info_decode(&x, &o), 0);
	assert_int_equal(o.addr_len, 0);
}

static void info__device(void **state)
{
	uint8_t p[SDR_QP_INFO_LEN];
	struct sdr_wire_qp_info x, o;
	uint32_t i;

	(void)state;
	for (i = 0; i < 256; i++) {
		RANGE("flags", flags, (uint8_t)i, i <= 3 ? 0 : -EBADMSG);
		sdr_wire_qp_info_encode(p, &info_nic);
		p[63] = (uint8_t)i;
		assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), i == 8 ? 0 : -EBADMSG);
	}
	RANGE("ctl_qpn 0", ctl_qpn, 0, 0);
	RANGE("ctl_qpn max", ctl_qpn, SDR_QPN_MASK, 0);
	RANGE("numbers of other numbers of QPs", ntps, 1, -EBADMSG);
	RANGE_OF(info_nic, "number of control", tpn[1], SDR_QPN_CTL, -EBADMSG);
	RANGE_OF(info_nic, "number 0", tpn[7], 0, -EBADMSG);
	RANGE_OF(info_nic, "least number", tpn[7], SDR_QPN_MIN, 0);
	RANGE_OF(info_nic, "largest number", tpn[7], SDR_QPN_MASK, 0);
	RANGE_OF(info_nic, "first number is not the base", tpn[0], 0x123457, -EBADMSG);
	RANGE_OF(info_nic, "base is not the first number", qpn, 0x123457, -EBADMSG);
	/* the largest base: allowed where the numbers are given one by one */
	x = info_nic;
	x.qpn = x.tpn[0] = SDR_QPN_MASK;
	assert_int_equal(info_decode(&x, &o), 0);
	x.qpn = x.tpn[0] = SDR_QPN_MASK + 1;
	assert_int_equal(info_decode(&x, &o), -EBADMSG);
	/* 32 fit, 36 do not: the encoder writes none, and those that follow are not zero */
	x = info_nic;
	x.channels = 8;
	x.ntps = 32;
	for (i = 0; i < 32; i++)
		x.tpn[i] = x.qpn + 2 * i;
	assert_int_equal(info_decode(&x, &o), 0);
	assert_info_equal(&x, &o);
	sdr_wire_qp_info_encode(p, &x);
	p[2] = 9;
	p[63] = 36;
	assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), -EBADMSG);
	x.channels = 9;
	x.ntps = 36;
	assert_int_equal(info_decode(&x, &o), 0);
	assert_int_equal(o.ntps, 0);
	/* zeros where there is nothing */
	sdr_wire_qp_info_encode(p, &info_nic);
	for (i = 64 + 3 * 8; i < SDR_QP_INFO_LEN; i++) {
		p[i] = 1;
		assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), -EBADMSG);
		p[i] = 0;
	}
	for (i = 40 + 7; i < 59; i++) {
		p[i] = 1;
		assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), -EBADMSG);
		p[i] = 0;
	}
	assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), 0);
}

static void info__tpn(void **state)
{
	struct sdr_wire_qp_info x = info_default;
	uint32_t g, c;

	(void)state;
	for (g = 0; g < 4; g++)
		for (c = 0; c < 2; c++)
			assert_int_equal(sdr_wire_tpn(&info_nic, g, c), info_nic.tpn[2 * g + c]);
	x.channels = 3;
	for (g = 0; g < 4; g++)
		for (c = 0; c < 3; c++)
			assert_int_equal(sdr_wire_tpn(&x, g, c), x.qpn + 3 * g + c);
}

/*
 * What is accepted encodes to the very same bytes, but for extensions that are not known: nothing
 * else in the 160 bytes is without meaning.
 */
static void encodes_again(const uint8_t *q, const struct sdr_wire_qp_info *o)
{
	uint8_t back[SDR_QP_INFO_LEN];
	struct sdr_wire_qp_info again;

	sdr_wire_qp_info_encode(back, o);
	assert_memory_equal(back, q, 64u + 3u * o->ntps);
	assert_int_equal(sdr_wire_qp_info_decode(back, sizeof(back), &again), 0);
	assert_memory_equal(&again, o, sizeof(again));
}

static void one_form(const struct sdr_wire_qp_info *info)
{
	uint8_t p[SDR_QP_INFO_LEN], q[SDR_QP_INFO_LEN];
	struct sdr_wire_qp_info o;
	uint64_t s = 3;
	unsigned int v;
	size_t i;
	int k;

	sdr_wire_qp_info_encode(p, info);
	for (i = 0; i < SDR_QP_INFO_LEN; i++) {
		for (v = 0; v < 256; v++) {
			int rc, want_version = i == 1 && v != SDR_WIRE_VERSION;

			memcpy(q, p, sizeof(q));
			q[i] = (uint8_t)v;
			rc = sdr_wire_qp_info_decode(q, sizeof(q), &o);
			assert_int_equal(rc == -EPROTONOSUPPORT, want_version);
			assert_true(rc == 0 || rc == -EBADMSG || want_version);
			if (!rc)
				encodes_again(q, &o);
		}
	}
	for (k = 0; k < 100000; k++) {
		memcpy(q, p, sizeof(q));
		for (i = sdr_rand64(&s) % 4 + 1; i; i--)
			q[sdr_rand64(&s) % sizeof(q)] = (uint8_t)sdr_rand64(&s);
		if (!sdr_wire_qp_info_decode(q, sizeof(q), &o))
			encodes_again(q, &o);
	}
}

static void info__one_form(void **state)
{
	(void)state;
	one_form(&info_default);
	one_form(&info_nic);
}

/* Ports of the owner, between extensions that are not known. */
static void info__ports(void **state)
{
	struct sdr_wire_qp_info in = info_default, o;
	uint8_t p[SDR_QP_INFO_LEN], ext[64];
	size_t n;

	(void)state;
	for (in.nports = 0; in.nports <= SDR_QP_INFO_PORTS_MAX; in.nports++) {
		assert_int_equal(info_decode(&in, &o), 0);
		assert_int_equal(o.nports, in.nports);
		assert_memory_equal(o.port, in.port, sizeof(in.port));
		if (in.nports < SDR_QP_INFO_PORTS_MAX)
			in.port[in.nports] = (uint16_t)(60000 + in.nports);
	}
	in.nports = 2;
	sdr_wire_qp_info_encode(p, &in);
	assert_int_equal(p[64], SDR_QP_INFO_PORTS);
	memcpy(ext, p + 64, 7);
	n = sdr_tlv_put(p + 64, 64, 0x99, "any", 3);
	memcpy(p + 64 + n, ext, 7);
	n += 7;
	n += sdr_tlv_put(p + 64 + n, 64, 0x9a, "", 0);
	assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), 0);
	assert_int_equal(o.nports, 2);
	assert_int_equal(o.port[1], 60001);
	memcpy(p + 64 + n, ext, 7); /* twice */
	assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), -EBADMSG);
	sdr_wire_qp_info_encode(p, &in);
	p[67] = p[68] = 0; /* port 0 */
	assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), -EBADMSG);
	sdr_wire_qp_info_encode(p, &in);
	p[65] = 3; /* half a port */
	assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), -EBADMSG);
	p[65] = 97; /* beyond the end */
	assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), -EBADMSG);
}

/* The owner's host, behind all ports that there may be. */
static void info__host(void **state)
{
	struct sdr_wire_qp_info in = info_default, o;
	uint8_t p[SDR_QP_INFO_LEN], *ext = p + 64;
	size_t n;

	(void)state;
	in.host = 0x1122334455667788;
	for (in.nports = 0; in.nports <= SDR_QP_INFO_PORTS_MAX; in.nports++) {
		assert_int_equal(info_decode(&in, &o), 0);
		assert_true(o.host == in.host && o.nports == in.nports);
		if (in.nports < SDR_QP_INFO_PORTS_MAX)
			in.port[in.nports] = 1;
	}
	in.nports = 0;
	sdr_wire_qp_info_encode(p, &in);
	n = SDR_TLV_HDR + 8;
	memcpy(ext + n, ext, n); /* twice */
	assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), -EBADMSG);
	sdr_wire_qp_info_encode(p, &in);
	memset(ext + SDR_TLV_HDR, 0, 8); /* none */
	assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), -EBADMSG);
	sdr_wire_qp_info_encode(p, &in);
	ext[1] = 7; /* short of a byte, which is then an extension's */
	assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), -EBADMSG);
}

static void info__untouched_on_failure(void **state)
{
	struct sdr_wire_qp_info o, was, bad = info_default;
	uint8_t p[SDR_QP_INFO_LEN];

	(void)state;
	memset(&o, 0x3c, sizeof(o));
	memcpy(&was, &o, sizeof(o));
	bad.chunk = 1;
	assert_int_equal(info_decode(&bad, &o), -EBADMSG);
	sdr_wire_qp_info_encode(p, &info_default);
	p[SDR_QP_INFO_LEN - 1] = 1;
	assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), -EBADMSG);
	p[SDR_QP_INFO_LEN - 1] = 0;
	p[40 + 7] = 1; /* behind a short address */
	assert_int_equal(sdr_wire_qp_info_decode(p, sizeof(p), &o), -EBADMSG);
	assert_memory_equal(&o, &was, sizeof(o));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes__order),	      cmocka_unit_test(class__round_trip),
		cmocka_unit_test(class__refusals),    cmocka_unit_test(cts__round_trip),
		cmocka_unit_test(cts__refusals),      cmocka_unit_test(keys__bytes),
		cmocka_unit_test(keys__round_trip),   cmocka_unit_test(keys__refusals),
		cmocka_unit_test(info__bytes),	      cmocka_unit_test(info__round_trip),
		cmocka_unit_test(info__every_length), cmocka_unit_test(info__ranges),
		cmocka_unit_test(info__device),	      cmocka_unit_test(info__tpn),
		cmocka_unit_test(info__one_form),     cmocka_unit_test(info__untouched_on_failure),
		cmocka_unit_test(info__ports),	      cmocka_unit_test(info__host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
