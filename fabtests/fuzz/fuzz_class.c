/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Class header, clear to send, keys, QP info, what makes connections, links and writes of datagram
 * endpoints, and the string of an immediate's split.  What is accepted has all fields in range and,
 * the class header's follower apart, encodes to the very bytes it came from.
 */
#include "fuzz.h"
#include "wire/sdr_cm_msg.h"
#include "wire/sdr_dgram_msg.h"
#include "wire/sdr_wire.h"

#define FUZZ_STR_MAX 32u

static void fuzz_keys(const uint8_t *p, size_t n)
{
	uint8_t back[SDR_CTL_MAX];
	struct sdr_wire_keys k;
	struct sdr_wire_key key;
	uint32_t i;

	if (sdr_wire_keys_decode(p, n, &k))
		return;
	SDR_FUZZ_CHECK(k.qpn <= SDR_QPN_MASK && k.n && k.n <= SDR_WIRE_KEYS_MAX);
	SDR_FUZZ_CHECK((int32_t)(k.posted - (k.first + k.n)) >= 0);
	for (i = 0; i < k.n; i++) {
		sdr_wire_key_get(&k, i, &key);
		SDR_FUZZ_CHECK(key.state == SDR_KEY_LIVE || key.state == SDR_KEY_VOID);
		SDR_FUZZ_CHECK(key.state == SDR_KEY_LIVE || (!key.va && !key.rkey));
		sdr_wire_key_put(back + SDR_WIRE_KEYS_HDR + i * SDR_WIRE_KEY_LEN, &key);
	}
	SDR_FUZZ_CHECK(sdr_wire_keys_encode(back, &k) == n + SDR_CLASS_LEN);
	SDR_FUZZ_CHECK(memcmp(back + SDR_CLASS_LEN, p, n) == 0);
}

static void fuzz_app(const uint8_t *p, size_t n)
{
	uint8_t back[SDR_WIRE_APP_HDR];
	struct sdr_wire_app a;

	if (sdr_wire_app_decode(p, n, &a))
		return;
	SDR_FUZZ_CHECK(a.qpn <= SDR_QPN_MASK && a.bytes + a.len == p + n);
	sdr_wire_app_encode(back, &a);
	SDR_FUZZ_CHECK(memcmp(back + SDR_CLASS_LEN, p, sizeof(back) - SDR_CLASS_LEN) == 0);
}

static void fuzz_dgram(const uint8_t *p, size_t n)
{
	uint8_t back[SDR_DGRAM_INFO_LEN], status;
	const size_t head = SDR_DGRAM_WRITE_LEN - SDR_CLASS_LEN;
	struct sdr_dgram_write w;
	struct sdr_dgram_to to;
	uint32_t msn;

	if (sdr_dgram_to_decode(p, n, &to))
		return;
	SDR_FUZZ_CHECK(to.qpn <= SDR_QPN_MASK);
	if (sdr_dgram_info_decode(p, n)) {
		(void)sdr_dgram_info_encode(back, SDR_DGRAM_OPEN, &to, sdr_dgram_info_decode(p, n));
		SDR_FUZZ_CHECK(!memcmp(back + SDR_CLASS_LEN, p, n));
	}
	if (!sdr_dgram_refuse_decode(p, n, &status)) {
		(void)sdr_dgram_refuse_encode(back, &to, status);
		SDR_FUZZ_CHECK(!memcmp(back + SDR_CLASS_LEN, p, n));
	}
	if (!sdr_dgram_sent_decode(p, n, &msn)) {
		(void)sdr_dgram_sent_encode(back, &to, msn);
		SDR_FUZZ_CHECK(!memcmp(back + SDR_CLASS_LEN, p, n));
	}
	for (int all = 0; all < 2; all++) {
		if (sdr_dgram_write_decode(p, n, all, &w))
			continue;
		SDR_FUZZ_CHECK(all ? w.bytes + w.len == p + n : w.len && !w.bytes);
		(void)sdr_dgram_write_encode(back, &to, &w, all);
		SDR_FUZZ_CHECK(!memcmp(back + SDR_CLASS_LEN, p, head));
	}
}

static void fuzz_cm(const uint8_t *p, size_t n)
{
	uint8_t back[SDR_CM_MSG_MAX];
	struct sdr_cm_msg m;

	if (sdr_cm_decode(p, n, &m))
		return;
	SDR_FUZZ_CHECK(m.len <= SDR_CM_DATA_MAX && m.data + m.len == p + n);
	SDR_FUZZ_CHECK(sdr_cm_encode(back, &m) == n && memcmp(back, p, n) == 0);
}

static void fuzz_class(const uint8_t *p, size_t n)
{
	uint8_t type = 0, back[SDR_WIRE_CTS_LEN];
	struct sdr_wire_cts c;
	int rc = sdr_class_decode(p, n, &type);

	if (rc < 0)
		return;
	SDR_FUZZ_CHECK(n >= SDR_CLASS_LEN && rc >= SDR_CLASS_SDK && rc <= SDR_CLASS_DGRAM);
	sdr_class_encode(back, (enum sdr_class)rc, type);
	SDR_FUZZ_CHECK(memcmp(back, p, SDR_CLASS_LEN) == 0);
	fuzz_keys(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN);
	fuzz_app(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN);
	fuzz_dgram(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN);
	if (sdr_wire_cts_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN, &c))
		return;
	SDR_FUZZ_CHECK(n == SDR_WIRE_CTS_LEN && c.qpn <= SDR_QPN_MASK);
	SDR_FUZZ_CHECK(sdr_wire_cts_encode(back, &c) == n);
	SDR_FUZZ_CHECK(memcmp(back + SDR_CLASS_LEN, p + SDR_CLASS_LEN, n - SDR_CLASS_LEN) == 0);
}

static void fuzz_qp_info(const uint8_t *p, size_t n)
{
	uint8_t back[SDR_QP_INFO_LEN];
	struct sdr_wire_qp_info i, again;
	uint64_t span;
	uint32_t g, c;

	if (sdr_wire_qp_info_decode(p, n, &i))
		return;
	SDR_FUZZ_CHECK(n == SDR_QP_INFO_LEN);
	SDR_FUZZ_CHECK(sdr_imm_split_check(&i.split) == 0);
	SDR_FUZZ_CHECK(i.mtu >= SDR_MTU_MIN && i.mtu <= SDR_MTU_MAX);
	SDR_FUZZ_CHECK(i.chunk >= i.mtu && i.chunk % i.mtu == 0);
	SDR_FUZZ_CHECK(i.max_msg >= i.mtu && i.max_msg % i.mtu == 0);
	SDR_FUZZ_CHECK(i.max_msg / i.mtu <= UINT64_C(1) << i.split.off_bits);
	SDR_FUZZ_CHECK(!__builtin_mul_overflow(i.max_msg, UINT64_C(1) << i.split.id_bits, &span));
	SDR_FUZZ_CHECK(i.channels && i.channels <= SDR_CHANNELS_MAX);
	SDR_FUZZ_CHECK(i.generations && i.generations <= SDR_GENERATIONS_MAX);
	SDR_FUZZ_CHECK(sdr_wire_tpn(&i, 0, 0) == i.qpn);
	for (g = 0; g < i.generations; g++)
		for (c = 0; c < i.channels; c++)
			SDR_FUZZ_CHECK(sdr_wire_tpn(&i, g, c) >= SDR_QPN_MIN &&
				       sdr_wire_tpn(&i, g, c) <= SDR_QPN_MASK);
	SDR_FUZZ_CHECK(i.ntps || i.qpn + i.channels * i.generations - 1u <= SDR_QPN_MASK);
	SDR_FUZZ_CHECK(!(i.flags & ~(SDR_QP_F_RKEYED | SDR_QP_F_NIC)) && i.ctl_qpn <= SDR_QPN_MASK);
	SDR_FUZZ_CHECK(i.addr_len <= SDR_QP_INFO_ADDR_MAX);
	sdr_wire_qp_info_encode(back, &i);
	SDR_FUZZ_CHECK(memcmp(back, p, 64 + 3 * i.ntps) == 0); /* then, extensions */
	SDR_FUZZ_CHECK(!sdr_wire_qp_info_decode(back, n, &again) && again.nports == i.nports &&
		       again.host == i.host && !memcmp(again.port, i.port, sizeof(i.port)));
}

static void fuzz_split(const uint8_t *p, size_t n)
{
	char s[FUZZ_STR_MAX + 1], t[FUZZ_STR_MAX + 1];
	struct sdr_imm_split i;

	if (n > FUZZ_STR_MAX)
		n = FUZZ_STR_MAX;
	if (n)
		memcpy(s, p, n);
	s[n] = 0;
	if (sdr_imm_split_parse(s, &i))
		return;
	SDR_FUZZ_CHECK(sdr_imm_split_check(&i) == 0);
	snprintf(t, sizeof(t), "%u+%u+%u", i.id_bits, i.off_bits, i.user_bits);
	SDR_FUZZ_CHECK(strcmp(s, t) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_class(data, size);
	fuzz_qp_info(data, size);
	fuzz_split(data, size);
	fuzz_cm(data, size);
	return 0;
}

static size_t seed_keys(uint8_t *buf)
{
	static const struct sdr_wire_key key[] = {
		{ .va = 0x7f0012345000, .rkey = 0x8004, .state = SDR_KEY_LIVE },
		{ .state = SDR_KEY_VOID },
		{ .state = SDR_KEY_LIVE },
	};
	struct sdr_wire_keys k = {
		.qpn = 0x123456, .rkey = 0xcafebabe, .posted = 1, .first = 0xfffffffe, .n = 3
	};
	uint32_t i;

	for (i = 0; i < k.n; i++)
		sdr_wire_key_put(buf + SDR_WIRE_KEYS_HDR + i * SDR_WIRE_KEY_LEN, &key[i]);
	return sdr_wire_keys_encode(buf, &k);
}

size_t sdr_fuzz_seed(unsigned int i, uint8_t *buf)
{
	static const char *const splits[] = { "10+18+4", "8+22+2", "12+20+0", "1+30+1" };
	static const uint8_t nothing[SDR_QP_INFO_LEN];
	static const struct sdr_wire_qp_info infos[] = {
		{ .qpn = 0x123456,
		  .rkey = 0xcafebabe,
		  .psn = 0xabcdef,
		  .channels = 1,
		  .generations = 4,
		  .split = SDR_IMM_SPLIT_DEFAULT,
		  .mtu = 4096,
		  .chunk = 65536,
		  .max_msg = 1u << 30,
		  .rx_window = 212992,
		  .host = 0x0123456789abcdef,
		  .nports = 3,
		  .port = { 1, 2, 60000 } },
		{ .qpn = 2,
		  .rkey = 1,
		  .channels = 16,
		  .generations = 16,
		  .split = { 8, 22, 2 },
		  .mtu = 256,
		  .chunk = 256,
		  .max_msg = 256,
		  .addr_len = 7,
		  .addr = { 4, 0x12, 0xb7, 192, 0, 2, 1 } },
		{ .qpn = SDR_QPN_MASK,
		  .rkey = 1,
		  .channels = 1,
		  .generations = 1,
		  .split = { 12, 12, 8 },
		  .mtu = 8192,
		  .chunk = 8192 * 9,
		  .max_msg = 8192u << 12,
		  .addr_len = 19,
		  .addr = { 6, 0x12, 0xb7, 0x20, 0x01, 0x0d, 0xb8, [18] = 1 } },
		{ .qpn = 0x11,
		  .rkey = 1,
		  .channels = 2,
		  .generations = 2,
		  .split = SDR_IMM_SPLIT_DEFAULT,
		  .mtu = 1024,
		  .chunk = 1024,
		  .max_msg = 1u << 20,
		  .flags = SDR_QP_F_RKEYED | SDR_QP_F_NIC,
		  .ctl_qpn = 0x12,
		  .ntps = 4,
		  .tpn = { 0x11, 0x15, 0xffffff, 2 } },
	};
	struct sdr_cm_msg cm = { .kind = SDR_CM_ACCEPT,
				 .len = 5,
				 .call = 0x0123456789abcdef,
				 .data = (const uint8_t *)"hello" };
	struct sdr_wire_cts c = { .qpn = 0x123456, .rkey = 0xcafebabe, .posted = 1000 };
	struct sdr_dgram_write w = { .msn = 1, .key = 3, .len = 8 };
	struct sdr_dgram_to to = { 0x123456, 0xcafebabe };

	switch (i) {
	case 0:
		return sdr_wire_cts_encode(buf, &c);
	case 1:
	case 2:
		sdr_class_encode(buf, i == 1 ? SDR_CLASS_REL : SDR_CLASS_DGRAM, 0);
		memset(buf + SDR_CLASS_LEN, 0x33, 20);
		return SDR_CLASS_LEN + 20;
	case 3:
	case 4:
	case 5:
	case 6:
		sdr_wire_qp_info_encode(buf, &infos[i - 3]);
		return SDR_QP_INFO_LEN;
	case 7:
	case 8:
	case 9:
	case 10:
		memcpy(buf, splits[i - 7], strlen(splits[i - 7]));
		return strlen(splits[i - 7]);
	case 11:
		return seed_keys(buf);
	case 12:
		return sdr_cm_encode(buf, &cm);
	case 13:
		memset(buf + SDR_DGRAM_WRITE_LEN, 0x44, 8);
		return sdr_dgram_write_encode(buf, &to, &w, true) + 8;
	case 14:
		return sdr_dgram_write_encode(buf, &to, &w, false);
	case 15:
		return sdr_dgram_sent_encode(buf, &to, 7);
	case 16:
		return sdr_dgram_info_encode(buf, SDR_DGRAM_OPEN, &to, nothing);
	default:
		return 0;
	}
}
