/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What HELLO grows by: versions, features, extensions; and the datagrams of other versions.
 */
#include <stdlib.h>
#include "test_wire.h"
#include "wire/sdr_frame.h"
#include "wire/sdr_tlv.h"
#include "wire/sdr_version.h"

static uint8_t buf[SDR_PROBE_MAX + 64];

static void hello_fill(struct sdr_hello *h)
{
	sdr_hello_init(h);
	h->cid = 5;
	h->ctl_max = SDR_CTL_MAX;
	h->seg_bytes = 4096;
	h->qp = (struct sdr_wire_qp_info){ .qpn = 16,
					   .channels = 1,
					   .generations = 1,
					   .split = SDR_IMM_SPLIT_DEFAULT,
					   .mtu = 4096,
					   .chunk = 4096,
					   .max_msg = 4096 };
}

/* Encodes with these extensions, and decodes from memory that ends where the datagram does. */
static int decode(const uint8_t *ext, size_t len, struct sdr_hello *out)
{
	struct sdr_hello h;
	size_t n;

	hello_fill(&h);
	h.ext = ext;
	h.ext_len = (uint32_t)len;
	n = sdr_hello_encode(buf, SDR_REL_HELLO, &h);
	assert_int_equal(n, SDR_HELLO_LEN + len);
	return sdr_hello_decode(test_guard(buf + SDR_CLASS_LEN, n - SDR_CLASS_LEN),
				n - SDR_CLASS_LEN, out);
}

static void hello__versions(void **state)
{
	static const struct {
		uint8_t min, max;
		int want;
	} t[] = { { 2, 2, 0 },
		  { 1, 2, 0 },
		  { 1, 255, 0 },
		  { 2, 3, 0 },
		  { 0, 2, -EBADMSG },
		  { 3, 2, -EBADMSG },
		  { 0, 0, -EBADMSG },
		  { 1, 1, -EPROTONOSUPPORT },
		  { 3, 3, -EPROTONOSUPPORT },
		  { 3, 255, -EPROTONOSUPPORT } };
	struct sdr_hello h, g;
	size_t n;

	(void)state;
	for (uint32_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		hello_fill(&h);
		h.version_min = t[i].min;
		h.version_max = t[i].max;
		h.features = 0x8000000000000001;
		n = sdr_hello_encode(buf, SDR_REL_HELLO, &h) - SDR_CLASS_LEN;
		assert_int_equal(sdr_hello_decode(buf + SDR_CLASS_LEN, n, &g), t[i].want);
		if (t[i].want == -EBADMSG)
			continue;
		/* what the answer needs */
		assert_int_equal(g.cid, 5);
		assert_int_equal(g.version_min, t[i].min);
		assert_int_equal(g.version_max, t[i].max);
		if (!t[i].want)
			assert_int_equal(g.features, h.features);
	}
}

static void hello__extensions_in_any_order(void **state)
{
	static const struct sdr_hello_addr in[] = { { .port = 1 },
						    { 4, 2, { 1, 2, 3, 4 } },
						    { 6, 3, { 0xfd, [15] = 9 } } };
	uint8_t addrs[64], one[3][80], ext[256];
	size_t len[3], n = 0;
	struct sdr_hello_addr a;
	struct sdr_hello h;

	(void)state;
	for (int i = 0; i < 3; i++)
		n += sdr_hello_addr_put(addrs + n, sizeof(addrs) - n, &in[i]);
	len[0] = sdr_tlv_put(one[0], sizeof(one[0]), SDR_HELLO_ADDRESSES, addrs, (uint16_t)n);
	len[1] = sdr_tlv_put(one[1], sizeof(one[1]), SDR_HELLO_PROBE_MAX, "\0\x20\0\0", 4);
	len[2] = sdr_tlv_put(one[2], sizeof(one[2]), 0x55, "not known here", 14);
	for (int order = 0; order < 6; order++) {
		const uint8_t *p;
		int at[3] = { order % 3, (order + 1 + order / 3) % 3, (order + 2 - order / 3) % 3 };

		n = 0;
		for (int i = 0; i < 3; i++) {
			memcpy(ext + n, one[at[i]], len[at[i]]);
			n += len[at[i]];
		}
		assert_int_equal(decode(ext, n, &h), 0);
		assert_int_equal(h.probe_max, 8192);
		assert_int_equal(h.ext_unknown, 1);
		assert_non_null(h.addrs);
		p = h.addrs;
		for (int i = 0; i < 3; i++) {
			assert_int_equal(sdr_hello_addr_next(&p, h.addrs + h.addrs_len, &a), 1);
			assert_memory_equal(&a, &in[i], sizeof(a));
		}
		assert_int_equal(sdr_hello_addr_next(&p, h.addrs + h.addrs_len, &a), 0);
		/* zeros may follow, and nothing but them */
		memset(ext + n, 0, 8);
		assert_int_equal(decode(ext, n + 8, &h), 0);
		ext[n + 7] = 1;
		assert_int_equal(decode(ext, n + 8, &h), -EBADMSG);
		/* a known one twice */
		memcpy(ext + n, one[order & 1], len[order & 1]);
		assert_int_equal(decode(ext, n + len[order & 1], &h), -EBADMSG);
		/* cut short at any place but between two */
		for (size_t k = 1; k < n; k++) {
			bool whole = k == len[at[0]] || k == len[at[0]] + len[at[1]];

			assert_int_equal(decode(ext, k, &h), whole ? 0 : -EBADMSG);
		}
	}
	assert_int_equal(decode(NULL, 0, &h), 0);
	assert_null(h.addrs);
	assert_int_equal(h.probe_max, 0);
}

static void hello__extensions_are_bounded(void **state)
{
	static uint8_t ext[SDR_HELLO_EXT_MAX + 1];
	struct sdr_hello h;

	(void)state;
	for (size_t i = 0; i < sizeof(ext); i++)
		ext[i] = i % 3 ? 0 : 0x77; /* empty ones, as many as fit */
	assert_int_equal(decode(ext, SDR_HELLO_EXT_MAX / 3 * 3, &h), 0);
	assert_int_equal(h.ext_unknown, SDR_HELLO_EXT_MAX / 3);
	memset(ext, 0, sizeof(ext));
	assert_int_equal(decode(ext, SDR_HELLO_EXT_MAX, &h), 0);
	assert_int_equal(decode(ext, SDR_HELLO_EXT_MAX + 1, &h), -EBADMSG);
	/* filled up to the largest probe of the path */
	assert_int_equal(SDR_HELLO_LEN + SDR_HELLO_EXT_MAX, SDR_PROBE_MAX);
	assert_true(SDR_HELLO_LEN < SDR_CTL_MIN);
	ext[0] = SDR_HELLO_SEEN;
	ext[1] = 4;
	sdr_put_le32(ext + 3, 3000);
	assert_int_equal(decode(ext, SDR_HELLO_EXT_MAX, &h), 0);
	assert_int_equal(h.seen, 3000);
	assert_int_equal(h.ext_unknown, 0);
	assert_false(h.has_came);
	memcpy(ext + 7, ext, 7);
	assert_int_equal(decode(ext, SDR_HELLO_EXT_MAX, &h), -EBADMSG);
	/* any time, 0 too, and once */
	ext[7] = SDR_HELLO_CAME;
	sdr_put_le32(ext + 10, 0);
	assert_int_equal(decode(ext, SDR_HELLO_EXT_MAX, &h), 0);
	assert_true(h.has_came && h.came_us == 0 && h.seen == 3000);
	sdr_put_le32(ext + 10, 0xfffffffe);
	assert_int_equal(decode(ext, SDR_HELLO_EXT_MAX, &h), 0);
	assert_true(h.has_came && h.came_us == 0xfffffffe);
	memcpy(ext + 14, ext + 7, 7);
	assert_int_equal(decode(ext, SDR_HELLO_EXT_MAX, &h), -EBADMSG);
}

static void hello__where_it_came_from_and_what_it_is_about(void **state)
{
	static const struct sdr_hello_addr from = { 6, 4791, { 0xfd, [15] = 7 } };
	uint8_t addr[32], check[8], ext[128];
	struct sdr_hello h;
	size_t n, one;

	(void)state;
	n = sdr_hello_addr_put(addr, sizeof(addr), &from);
	n = one = sdr_tlv_put(ext, sizeof(ext), SDR_HELLO_OBSERVED, addr, (uint16_t)n);
	sdr_put_le64(check, 0x1122334455667788);
	n += sdr_tlv_put(ext + n, sizeof(ext) - n, SDR_HELLO_CHECK, check, 8);
	assert_int_equal(decode(ext, n, &h), 0);
	assert_memory_equal(h.observed.ip, from.ip, 16);
	assert_int_equal(h.observed.family, 6);
	assert_int_equal(h.observed.port, 4791);
	assert_int_equal(h.check, 0x1122334455667788);
	memcpy(ext + n, ext, one);
	assert_int_equal(decode(ext, n + one, &h), -EBADMSG); /* each once */
	assert_int_equal(decode(ext, 0, &h), 0);
	assert_int_equal(h.observed.port, 0);
	assert_int_equal(h.check, 0);
	/* which of the two is whose matters, and every bit does */
	assert_true(sdr_hello_check(1, 2) == sdr_hello_check(1, 2));
	assert_true(sdr_hello_check(1, 2) != sdr_hello_check(2, 1));
	assert_true(sdr_hello_check(1, 2) != sdr_hello_check(1, 3));
}

static void hello__bad_extensions(void **state)
{
	static const struct {
		uint8_t type;
		uint16_t len;
		uint8_t v[24];
	} t[] = {
		{ SDR_HELLO_PROBE_MAX, 3, { 0, 16, 0 } },
		{ SDR_HELLO_PROBE_MAX, 5, { 0, 16, 0, 0, 0 } },
		{ SDR_HELLO_PROBE_MAX, 4, { 0xff, 3, 0, 0 } }, /* less than every path carries */
		{ SDR_HELLO_SEEN, 4, { 0 } },
		{ SDR_HELLO_SEEN, 2, { 0, 4 } },
		{ SDR_HELLO_CAME, 3, { 1 } },
		{ SDR_HELLO_CAME, 8, { 1 } },
		{ SDR_HELLO_ADDRESSES, 2, { 0, 1 } },
		{ SDR_HELLO_ADDRESSES, 3, { 0, 0, 0 } }, /* port 0 */
		{ SDR_HELLO_ADDRESSES, 3, { 5, 0, 1 } }, /* no such family */
		{ SDR_HELLO_ADDRESSES, 6, { 4, 0, 1, 9, 9, 9 } },
		{ SDR_HELLO_ADDRESSES, 18, { 6, 0, 1 } },
		{ SDR_HELLO_ADDRESSES, 8, { 4, 0, 1, 9, 9, 9, 9, 4 } },
		{ SDR_HELLO_SOURCES, 0, { 0 } },
		{ SDR_HELLO_SOURCES, 3, { 0, 0, 0 } }, /* port 0 */
		{ SDR_HELLO_SOURCES, 3, { 7, 0, 1 } }, /* no such family */
		{ SDR_HELLO_SOURCES, 6, { 4, 0, 1, 9, 9, 9 } },
		{ SDR_HELLO_OBSERVED, 0, { 0 } },
		{ SDR_HELLO_OBSERVED, 3, { 0, 0, 1 } },		    /* that of the HELLO: no news */
		{ SDR_HELLO_OBSERVED, 7, { 4, 0, 0, 9, 9, 9, 9 } }, /* port 0 */
		{ SDR_HELLO_OBSERVED, 6, { 4, 0, 1, 9, 9, 9 } },
		{ SDR_HELLO_OBSERVED, 14, { 4, 0, 1, 9, 9, 9, 9, 4, 0, 1, 9, 9, 9, 9 } }, /* two */
		{ SDR_HELLO_CHECK, 8, { 0 } },
		{ SDR_HELLO_CHECK, 7, { 1 } },
		{ SDR_HELLO_CHECK, 9, { 1 } },
	};
	uint8_t ext[128];
	struct sdr_hello h;
	size_t n;

	(void)state;
	for (uint32_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		n = sdr_tlv_put(ext, sizeof(ext), t[i].type, t[i].v, t[i].len);
		assert_int_equal(decode(ext, n, &h), -EBADMSG);
	}
	/* as many addresses as there may be, and one more */
	for (uint16_t k = SDR_HELLO_ADDRS_MAX; k <= SDR_HELLO_ADDRS_MAX + 1; k++) {
		uint8_t addrs[3 * (SDR_HELLO_ADDRS_MAX + 1)];

		for (uint16_t i = 0; i < k; i++)
			memcpy(addrs + 3 * i, "\0\0\1", 3);
		n = sdr_tlv_put(ext, sizeof(ext), SDR_HELLO_ADDRESSES, addrs, (uint16_t)(3 * k));
		assert_int_equal(decode(ext, n, &h), k > SDR_HELLO_ADDRS_MAX ? -EBADMSG : 0);
	}
	/* as many sources, and one more; and twice */
	for (uint16_t k = SDR_PATHS_MAX - 1; k <= SDR_PATHS_MAX; k++) {
		uint8_t addrs[3 * SDR_PATHS_MAX];

		for (uint16_t i = 0; i < k; i++)
			memcpy(addrs + 3 * i, "\0\0\1", 3);
		n = sdr_tlv_put(ext, sizeof(ext), SDR_HELLO_SOURCES, addrs, (uint16_t)(3 * k));
		assert_int_equal(decode(ext, n, &h), k < SDR_PATHS_MAX ? 0 : -EBADMSG);
	}
	n = sdr_tlv_put(ext, sizeof(ext), SDR_HELLO_SOURCES, "\0\0\1", 3);
	n += sdr_tlv_put(ext + n, sizeof(ext) - n, SDR_HELLO_SOURCES, "\0\0\1", 3);
	assert_int_equal(decode(ext, n, &h), -EBADMSG);
}

static void version__round_trip(void **state)
{
	struct sdr_version v = { 0x1122334455667788, 3, 200 }, o;
	const size_t len = SDR_VERSION_LEN - SDR_CLASS_LEN;
	uint8_t *body = buf + SDR_CLASS_LEN, type;

	(void)state;
	assert_int_equal(sdr_version_encode(buf, &v), SDR_VERSION_LEN);
	assert_int_equal(sdr_class_decode(buf, SDR_VERSION_LEN, &type), SDR_CLASS_REL);
	assert_int_equal(type, SDR_REL_VERSION);
	assert_int_equal(sdr_version_decode(test_guard(body, len), len, &o), 0);
	assert_true(o.cid == v.cid && o.min == v.min && o.max == v.max);
	for (size_t n = 0; n <= len + 1; n++)
		if (n != len)
			assert_int_equal(sdr_version_decode(test_guard(body, n), n, &o), -EBADMSG);
	body[15] = 9; /* may mean something to later versions */
	assert_int_equal(sdr_version_decode(body, len, &o), 0);
	body[8] = 0;
	assert_int_equal(sdr_version_decode(body, len, &o), -EBADMSG);
	body[8] = 201;
	assert_int_equal(sdr_version_decode(body, len, &o), -EBADMSG);
}

/* Whatever the bytes: a HELLO is never shorter than what answers it. */
static void foreign__any_bytes(void **state)
{
	uint64_t s = 7;
	uint32_t asks = 0, says = 0;
	struct sdr_foreign f;

	(void)state;
	for (uint32_t i = 0; i < 200000; i++) {
		size_t n = i % 5 == 0	? SDR_V1_HELLO_LEN
			   : i % 5 == 1 ? SDR_VERSION_LEN
					: sdr_rand64(&s) % 260;

		test_fill(&s, buf, n);
		if (n >= SDR_CLASS_LEN) {
			buf[0] = i % 16 ? SDR_CLASS_MAGIC : buf[0];
			buf[1] = (uint8_t)(sdr_rand64(&s) % 6);
			buf[2] = i % 8 ? SDR_CLASS_REL : buf[2];
			buf[3] = (uint8_t)(sdr_rand64(&s) % 8);
		}
		if (sdr_foreign_decode(test_guard(buf, n), n, &f))
			continue;
		if (f.kind == SDR_FOREIGN_ASKS) {
			assert_true(n >= (f.version == 1 ? SDR_V1_HELLO_LEN : SDR_VERSION_LEN));
			asks++;
		} else {
			assert_true(f.v.min && f.v.min <= f.v.max);
			says++;
		}
	}
	assert_true(asks > 1000 && says > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello__versions),
		cmocka_unit_test(hello__extensions_in_any_order),
		cmocka_unit_test(hello__extensions_are_bounded),
		cmocka_unit_test(hello__where_it_came_from_and_what_it_is_about),
		cmocka_unit_test(hello__bad_extensions),
		cmocka_unit_test(version__round_trip),
		cmocka_unit_test(foreign__any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
