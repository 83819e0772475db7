/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What the tests of the emulated WAN share: packets to order. */
#ifndef SDR_TEST_WAN_UTIL_H
#define SDR_TEST_WAN_UTIL_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tools/wan/wan_net.h"

#define US 1000ull
#define MS 1000000ull

static const struct wan_names one_each = { .n = { 1, 1 } };

static inline void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline uint32_t get16(const uint8_t *p)
{
	return (uint32_t)(p[0] << 8 | p[1]);
}

static inline uint16_t folded(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static inline uint32_t sum_of(const uint8_t *p, size_t n, uint32_t sum)
{
	for (size_t i = 0; i < n; i++)
		sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	return sum;
}

/* An IPv4 UDP packet of len bytes from 10.77.1.1 to 10.77.2.to, from that port. */
static inline uint32_t udp4_bytes(uint8_t *b, uint32_t len, uint8_t ecn, uint8_t to, uint16_t port)
{
	memset(b, 0, len);
	b[0] = 0x45;
	b[1] = ecn;
	put16(b + 2, len);
	b[8] = 64;
	b[9] = 17;
	memcpy(b + 12, "\x0a\x4d\x01\x01\x0a\x4d\x02", 7);
	b[19] = to;
	put16(b + 10, (uint16_t)~folded(sum_of(b, 20, 0)));
	put16(b + 20, port);
	put16(b + 22, 9);
	put16(b + 24, len - 20);
	return len;
}

static inline struct wan_pkt *pkt_of(struct wan_pool *pool, const struct wan_names *names,
				     uint32_t len, uint8_t ecn, uint8_t to, uint16_t port)
{
	struct virtio_net_hdr vh = { 0 };
	struct wan_buf *b = wan_buf_get(pool, WAN_READ_MAX);
	struct wan_pkt *p;

	assert_non_null(b);
	udp4_bytes(b->data, len, ecn, to, port);
	p = wan_pkt_cut(pool, names, &vh, b, len);
	wan_buf_put(pool, b);
	assert_non_null(p);
	assert_null(p->next);
	assert_int_equal(p->len, len);
	return p;
}

#endif /* SDR_TEST_WAN_UTIL_H */
