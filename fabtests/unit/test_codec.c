/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Codes as others use them, by sdr/fec.h alone: any losses that the code promises to survive. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sdr/fec.h>

#include "base/sdr_bitmap.h"
#include "base/sdr_rand.h"

#define MTU 256u

struct message {
	struct sdr_codec *c;
	uint64_t len;
	uint32_t npkts, most;
	uint8_t *data, *sent, *parity;
	uint64_t *dbits, *pbits;
};

static void message_open(struct message *m, struct sdr_codec_attr a)
{
	a.size = sizeof(a);
	a.mtu = MTU;
	m->c = sdr_codec_create(&a);
	assert_non_null(m->c);
	m->len = a.len;
	m->npkts = sdr_codec_packets(m->c);
	m->most = sdr_codec_parity_most(m->c);
	assert_int_equal(m->npkts, (a.len + MTU - 1) / MTU);
	assert_true(m->most >= sdr_codec_parity_packets(m->c));
	assert_int_equal(sdr_codec_parity_bytes(m->c), (uint64_t)m->most * MTU);
	m->sent = malloc(m->len);
	m->data = calloc(1, m->len + 64); /* and what must not be touched */
	m->parity = calloc(m->most, MTU);
	m->dbits = calloc(m->npkts / 64 + 1, 8);
	m->pbits = calloc(m->most / 64 + 1, 8);
	for (uint64_t i = 0; i < m->len; i++)
		m->sent[i] = (uint8_t)(i * 2654435761u >> 11);
	memset(m->data + m->len, 0x5a, 64);
	for (uint32_t s = 0; s < sdr_codec_submessages(m->c); s++)
		assert_int_equal(sdr_codec_encode(m->c, m->sent, m->parity, s), 0);
}

static void message_close(struct message *m)
{
	for (int i = 0; i < 64; i++)
		assert_int_equal(m->data[m->len + i], 0x5a);
	sdr_codec_destroy(m->c);
	free(m->sent);
	free(m->data);
	free(m->parity);
	free(m->dbits);
	free(m->pbits);
}

static void data_comes(struct message *m, uint32_t pkt)
{
	uint64_t at = (uint64_t)pkt * MTU;

	memcpy(m->data + at, m->sent + at, m->len - at < MTU ? m->len - at : MTU);
	m->dbits[pkt / 64] |= 1ull << pkt % 64;
}

/* Any m of the k + m packets of a codeword may be lost: m packets of data in a row, however cut. */
static void mds__any_losses(void **state)
{
	static const struct sdr_codec_attr attrs[] = {
		{ .len = 100 * MTU - 3, .k = 8, .m = 2 },
		{ .len = 64 * MTU, .k = 32, .m = 8, .chunk_pkts = 2, .kind = SDR_CODEC_MDS },
		{ .len = 7, .k = 4, .m = 1 },
		{ .len = 300 * MTU + 1, .k = 16, .m = 4, .first = 100 },
	};
	uint64_t r = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		uint32_t first = attrs[i].first;

		for (int round = 0; round < 20; round++) {
			struct message m;
			uint32_t subs, lost, from;
			int n;

			message_open(&m, attrs[i]);
			subs = sdr_codec_submessages(m.c);
			lost = subs * attrs[i].m; /* interleaved: m of each codeword at most */
			lost = attrs[i].chunk_pkts ? 1 : lost;
			if (lost > m.npkts - first)
				lost = m.npkts - first;
			if (lost > sdr_codec_parity_packets(m.c))
				lost = sdr_codec_parity_packets(m.c);
			from = first + (uint32_t)(sdr_rand64(&r) % (m.npkts - first - lost + 1));
			for (uint32_t p = 0; p < m.npkts; p++)
				if (p < from || p >= from + lost)
					data_comes(&m, p);
			assert_true(sdr_codec_lacking(m.c, m.dbits, m.pbits) > 0);
			assert_int_equal(sdr_codec_decode(m.c, m.data, m.parity, m.dbits, m.pbits),
					 -EAGAIN);
			for (uint32_t p = 0; p < sdr_codec_parity_packets(m.c); p++)
				m.pbits[p / 64] |= 1ull << p % 64;
			assert_int_equal(sdr_codec_lacking(m.c, m.dbits, m.pbits), 0);
			n = sdr_codec_decode(m.c, m.data, m.parity, m.dbits, m.pbits);
			assert_int_equal(n, lost);
			assert_memory_equal(m.data, m.sent, m.len);
			message_close(&m);
		}
	}
}

/* What is lost beyond m is asked for, made, and suffices. */
static void mds__spare_rows(void **state)
{
	struct sdr_codec_attr a = { .len = 64 * MTU, .k = 32, .m = 2, .parity_max = 1u << 20 };
	uint32_t want[16];
	struct message m;
	int n;

	(void)state;
	message_open(&m, a);
	for (uint32_t p = 0; p < m.npkts; p++)
		if (p < 10 || p >= 20) /* five of each of the two codewords */
			data_comes(&m, p);
	for (uint32_t p = 0; p < sdr_codec_parity_packets(m.c); p++)
		m.pbits[p / 64] |= 1ull << p % 64;
	assert_int_equal(sdr_codec_lacking(m.c, m.dbits, m.pbits), 2);
	assert_int_equal(sdr_codec_wanted(m.c, m.dbits, m.pbits, NULL, 0), 6);
	assert_int_equal(sdr_codec_wanted(m.c, m.dbits, m.pbits, NULL, 1), -EINVAL);
	n = sdr_codec_wanted(m.c, m.dbits, m.pbits, want, 16);
	assert_int_equal(n, 6);
	for (int i = 0; i < n; i++) {
		assert_true(want[i] >= sdr_codec_parity_packets(m.c) && want[i] < m.most);
		assert_int_equal(sdr_codec_make(m.c, m.sent, m.parity, want[i]), 0);
		m.pbits[want[i] / 64] |= 1ull << want[i] % 64;
	}
	assert_int_equal(sdr_codec_wanted(m.c, m.dbits, m.pbits, want, 16), 0);
	assert_int_equal(sdr_codec_decode(m.c, m.data, m.parity, m.dbits, m.pbits), 10);
	assert_memory_equal(m.data, m.sent, m.len);
	message_close(&m);
}

static void xor__one_of_each_group(void **state)
{
	struct sdr_codec_attr a = { .len = 16 * MTU, .k = 16, .m = 4, .kind = SDR_CODEC_XOR };
	struct message m;

	(void)state;
	message_open(&m, a);
	assert_int_equal(m.most, 4);
	for (uint32_t p = 0; p < m.npkts; p++)
		if (p >= 4) /* one of each of the four groups */
			data_comes(&m, p);
	m.pbits[0] = 0xf;
	assert_int_equal(sdr_codec_decode(m.c, m.data, m.parity, m.dbits, m.pbits), 4);
	assert_memory_equal(m.data, m.sent, m.len);
	m.dbits[0] &= ~(1ull << 0 | 1ull << 4); /* two of one group */
	assert_int_equal(sdr_codec_lacking(m.c, m.dbits, m.pbits), 1);
	assert_int_equal(sdr_codec_wanted(m.c, m.dbits, m.pbits, NULL, 0), 0); /* nothing helps */
	message_close(&m);
}

static void codec__refuses(void **state)
{
	static const struct sdr_codec_attr bad[] = {
		{ .size = 0, .len = 1, .mtu = MTU, .k = 1, .m = 1 },
		{ .size = sizeof(bad[0]), .len = 0, .mtu = MTU, .k = 1, .m = 1 },
		{ .size = sizeof(bad[0]), .len = 1, .mtu = 0, .k = 1, .m = 1 },
		{ .size = sizeof(bad[0]), .len = 1, .mtu = MTU, .k = 0, .m = 1 },
		{ .size = sizeof(bad[0]), .len = 1, .mtu = MTU, .k = 1, .m = 0 },
		{ .size = sizeof(bad[0]), .len = 1, .mtu = MTU, .k = 200, .m = 57 },
		{ .size = sizeof(bad[0]), .len = 1, .mtu = MTU, .k = 65537, .m = 1 },
		{ .size = sizeof(bad[0]), .len = 1, .mtu = MTU, .k = 1, .m = 1, .kind = 3 },
		{ .size = sizeof(bad[0]), .len = 1, .mtu = MTU, .k = 1, .m = 1, .kind = 258 },
		{ .size = sizeof(bad[0]), .len = 1, .mtu = MTU, .k = 1, .m = 1, .first = 1 },
		{ .size = sizeof(bad[0]), .len = 1, .mtu = MTU, .k = 1, .m = 1, .parity_max = 9 },
		{ .size = sizeof(bad[0]), .len = UINT64_MAX, .mtu = 256, .k = 1, .m = 1 },
	};
	struct sdr_codec_attr a = { .size = sizeof(a), .len = MTU, .mtu = MTU, .k = 4, .m = 1 };
	struct sdr_codec *c;
	uint8_t b[2 * MTU] = { 0 };
	uint64_t w[1] = { 0 };

	(void)state;
	assert_null(sdr_codec_create(NULL));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		assert_null(sdr_codec_create(&bad[i]));
		assert_int_equal(errno, EINVAL);
	}
	c = sdr_codec_create(&a);
	assert_non_null(c);
	assert_int_equal(sdr_codec_encode(c, b, b + MTU, 1), -EINVAL);
	assert_int_equal(sdr_codec_encode(c, NULL, b, 0), -EINVAL);
	assert_int_equal(sdr_codec_make(c, b, b + MTU, sdr_codec_parity_most(c)), -EINVAL);
	assert_int_equal(sdr_codec_lacking(c, NULL, w), -EINVAL);
	assert_int_equal(sdr_codec_decode(c, b, NULL, w, w), -EINVAL);
	sdr_codec_destroy(c);
	sdr_codec_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mds__any_losses),
		cmocka_unit_test(mds__spare_rows),
		cmocka_unit_test(xor__one_of_each_group),
		cmocka_unit_test(codec__refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
