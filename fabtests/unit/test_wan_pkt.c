/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets of the emulated WAN: super-packets become the packets that a network card would have
 * sent, byte by byte and sum by sum; what makes no sense becomes none.
 */
#include "test_wan_util.h"

static struct wan_pool pool;

/* A super-packet to cut: addresses, protocol, payload bytes, size of a piece. */
struct super {
	bool six, tcp;
	uint32_t payload, piece;
};

static uint32_t l3_of(const struct super *s)
{
	return s->six ? 40 : 20;
}

static uint32_t l4_of(const struct super *s)
{
	return s->tcp ? 32 : 8; /* TCP with time stamps */
}

static uint32_t super_bytes(const struct super *s, uint8_t *b, struct virtio_net_hdr *vh)
{
	uint32_t l3 = l3_of(s), l4 = l4_of(s), len = l3 + l4 + s->payload;
	uint8_t *h = b + l3;

	memset(b, 0, l3 + l4);
	if (s->six) {
		b[0] = 0x60;
		put16(b + 4, len - 40);
		b[6] = s->tcp ? 6 : 17;
		b[7] = 64;
		memcpy(b + 8, "\xfd\x77\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
		memcpy(b + 24, "\xfd\x77\0\x02\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
	} else {
		udp4_bytes(b, 28, WAN_ECT_0, 1, 0);
		put16(b + 2, len);
		put16(b + 4, 0xfffe);
		b[9] = s->tcp ? 6 : 17;
	}
	put16(h, 40000);
	put16(h + 2, 5001);
	if (s->tcp) {
		memcpy(h + 4, "\xff\xff\xff\x00\x01\x02\x03\x04", 8);
		h[12] = (uint8_t)(l4 / 4 << 4);
		h[13] = 0x80 | 0x10 | 0x08 | 0x01; /* CWR ACK PSH FIN */
	} else {
		put16(h + 4, l4 + s->payload);
	}
	for (uint32_t i = 0; i < s->payload; i++)
		h[l4 + i] = (uint8_t)(i * 7 + (i >> 8));
	*vh = (struct virtio_net_hdr){ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
				       .gso_type = s->tcp ? (s->six ? VIRTIO_NET_HDR_GSO_TCPV6
								    : VIRTIO_NET_HDR_GSO_TCPV4)
							  : VIRTIO_NET_HDR_GSO_UDP_L4,
				       .hdr_len = (uint16_t)(l3 + l4),
				       .gso_size = (uint16_t)s->piece,
				       .csum_start = (uint16_t)l3,
				       .csum_offset = s->tcp ? 16 : 6 };
	return len;
}

/* What a device makes of the sum that is still to be computed: after it the packet is right. */
static void check_sums(const struct super *s, const struct wan_pkt *p)
{
	uint32_t l3 = l3_of(s), sum, n;
	uint8_t all[9000];

	memcpy(all, p->hdr, p->nhdr);
	memcpy(all + p->nhdr, p->buf->data + p->data, p->ndata);
	n = p->nhdr + p->ndata;
	assert_int_equal(n, p->len);
	if (!s->six)
		assert_int_equal(folded(sum_of(all, 20, 0)), 0xffff);
	assert_true(p->csum);
	sum = (uint16_t)~folded(sum_of(all + p->csum_start, n - p->csum_start, 0));
	put16(all + p->csum_start + p->csum_offset, sum);
	sum = s->six ? sum_of(all + 8, 32, 0) : sum_of(all + 12, 8, 0);
	sum += (s->tcp ? 6u : 17u) + (n - l3);
	assert_int_equal(folded(sum_of(all + l3, n - l3, sum)), 0xffff);
}

static void check_piece(const struct super *s, const struct wan_pkt *p, uint32_t nth, uint32_t at)
{
	const uint8_t *h = p->hdr + l3_of(s);
	uint32_t seq, last = at + p->ndata == s->payload;

	assert_int_equal(p->dst, 1);
	assert_int_equal(p->nhdr, l3_of(s) + l4_of(s));
	if (s->six) {
		assert_int_equal(get16(p->hdr + 4), p->len - 40);
	} else {
		assert_int_equal(get16(p->hdr + 2), p->len);
		assert_int_equal(get16(p->hdr + 4), (0xfffe + nth) & 0xffff);
	}
	for (uint32_t i = 0; i < p->ndata; i++)
		assert_int_equal(p->buf->data[p->data + i],
				 (uint8_t)((at + i) * 7 + ((at + i) >> 8)));
	if (s->tcp) {
		seq = get16(h + 4) << 16 | get16(h + 6);
		assert_int_equal(seq, 0xffffff00 + at);
		assert_int_equal(h[13], 0x10 | (nth ? 0 : 0x80) | (last ? 0x09 : 0));
	} else {
		assert_int_equal(get16(h + 4), 8 + p->ndata);
	}
	check_sums(s, p);
}

static void cut(void **state)
{
	static const struct super supers[] = {
		{ false, true, 60000, 8948 },  { true, true, 60000, 8928 },
		{ false, true, 17896, 8948 },  { false, true, 1, 1448 },
		{ false, false, 60000, 1400 }, { true, false, 50001, 1400 },
		{ false, false, 2800, 1400 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(supers) / sizeof(supers[0]); i++) {
		const struct super *s = &supers[i];
		struct wan_buf *b = wan_buf_get(&pool, WAN_READ_MAX);
		struct virtio_net_hdr vh;
		uint32_t len = super_bytes(s, b->data, &vh), at = 0, nth = 0, bytes = 0;
		struct wan_pkt *p = wan_pkt_cut(&pool, &one_each, &vh, b, len), *next;
		uint32_t hash = p ? p->hash : 0;

		wan_buf_put(&pool, b);
		for (; p; p = next, nth++) {
			next = p->next;
			check_piece(s, p, nth, at);
			assert_int_equal(p->hash, hash);
			if (next)
				assert_int_equal(p->ndata, s->piece);
			at += p->ndata;
			bytes += p->len;
			wan_pkt_put(&pool, p);
		}
		assert_int_equal(at, s->payload);
		assert_int_equal(nth, (s->payload + s->piece - 1) / s->piece);
		assert_int_equal(bytes, s->payload + nth * (l3_of(s) + l4_of(s)));
	}
	assert_int_equal(pool.packets, 0);
}

/* Cut and joined again: the packet that it was. */
static void join(void **state)
{
	static const struct super supers[] = {
		{ false, true, 60000, 8948 },
		{ true, true, 60000, 1428 },
		{ false, false, 50001, 1400 },
		{ true, false, 50000, 1000 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(supers) / sizeof(supers[0]); i++) {
		const struct super *s = &supers[i];
		struct wan_buf *b = wan_buf_get(&pool, WAN_READ_MAX);
		struct virtio_net_hdr vh, out;
		uint32_t len, hdr = l3_of(s) + l4_of(s);
		struct wan_pkt *p, *next, *to;

		len = super_bytes(s, b->data, &vh);
		if (s->tcp)
			b->data[l3_of(s) + 13] &= 0x7f; /* CWR is the first piece's alone */
		to = wan_pkt_cut(&pool, &one_each, &vh, b, len);
		assert_non_null(to);
		for (p = to->next; p; p = next) {
			next = p->next;
			if (next) /* not out of order */
				assert_false(wan_pkt_join(to, next));
			assert_true(wan_pkt_join(to, p));
			wan_pkt_put(&pool, p);
		}
		assert_int_equal(to->len, len);
		wan_pkt_vnet(to, &out);
		assert_memory_equal(&out, &vh, sizeof(vh));
		/* sums are those of the whole: super_bytes set none */
		memcpy(b->data + vh.csum_start + vh.csum_offset,
		       to->hdr + vh.csum_start + vh.csum_offset, 2);
		if (!s->six) {
			assert_int_equal(folded(sum_of(to->hdr, 20, 0)), 0xffff);
			memcpy(b->data + 10, to->hdr + 10, 2);
		}
		assert_memory_equal(to->hdr, b->data, hdr);
		assert_int_equal(to->data, hdr);
		assert_int_equal(to->ndata, s->payload);
		wan_pkt_put(&pool, to);
		wan_buf_put(&pool, b);
	}
	assert_int_equal(pool.packets, 0);
}

/* Not with a piece missing, another mark, or behind the end of what was pushed. */
static void join_not(void **state)
{
	struct super s = { false, true, 5 * 1448, 1448 };
	struct wan_buf *b = wan_buf_get(&pool, WAN_READ_MAX);
	struct virtio_net_hdr vh;
	struct wan_pkt *p[5], *first;

	(void)state;
	super_bytes(&s, b->data, &vh);
	first = wan_pkt_cut(&pool, &one_each, &vh, b, 52 + 5 * 1448);
	for (unsigned int i = 0; i < 5; i++, first = first->next)
		p[i] = first;
	assert_false(wan_pkt_join(p[0], p[1])); /* CWR */
	assert_false(wan_pkt_join(p[1], p[3]));
	wan_pkt_ecn_set(p[2], WAN_CE);
	assert_false(wan_pkt_join(p[1], p[2]));
	assert_false(wan_pkt_join(p[2], p[3]));
	assert_true(wan_pkt_join(p[3], p[4]));
	assert_int_equal(p[3]->hdr[20 + 13], 0x19);
	assert_false(wan_pkt_join(p[3], p[4]));
	for (unsigned int i = 0; i < 5; i++)
		wan_pkt_put(&pool, p[i]);
	wan_buf_put(&pool, b);
	assert_int_equal(pool.packets, 0);
}

/* A packet that is no super-packet stays as it is. */
static void plain(void **state)
{
	struct wan_pkt *p = pkt_of(&pool, &one_each, 1500, WAN_ECT_1, 1, 7);
	struct virtio_net_hdr vh;

	(void)state;
	assert_int_equal(p->nhdr, 28);
	assert_false(p->csum);
	wan_pkt_vnet(p, &vh);
	assert_int_equal(vh.flags, 0);
	assert_int_equal(wan_pkt_ecn(p), WAN_ECT_1);
	wan_pkt_ecn_set(p, WAN_CE);
	assert_int_equal(wan_pkt_ecn(p), WAN_CE);
	assert_int_equal(folded(sum_of(p->hdr, 20, 0)), 0xffff);
	wan_pkt_put(&pool, p);
}

static void ecn_six(void **state)
{
	struct super s = { true, false, 100, 1400 };
	struct wan_buf *b = wan_buf_get(&pool, 2000);
	struct virtio_net_hdr vh;
	uint32_t len = super_bytes(&s, b->data, &vh);
	struct wan_pkt *p;

	(void)state;
	b->data[0] = 0x6f; /* traffic class 0xfa, flow label with bits beside it */
	b->data[1] = 0xaf;
	p = wan_pkt_cut(&pool, &one_each, &vh, b, len);
	wan_buf_put(&pool, b);
	assert_non_null(p);
	assert_int_equal(wan_pkt_ecn(p), WAN_ECT_0);
	wan_pkt_ecn_set(p, WAN_CE);
	assert_int_equal(p->hdr[0], 0x6f);
	assert_int_equal(p->hdr[1], 0xbf);
	wan_pkt_ecn_set(p, WAN_NOT_ECT);
	assert_int_equal(p->hdr[1], 0x8f);
	wan_pkt_put(&pool, p);
}

static bool accepted(struct wan_buf *b, const struct virtio_net_hdr *vh, uint32_t len)
{
	struct wan_pkt *p = wan_pkt_cut(&pool, &one_each, vh, b, len), *next;
	bool any = p;

	for (; p; p = next) {
		next = p->next;
		wan_pkt_put(&pool, p);
	}
	return any;
}

static void nonsense(void **state)
{
	struct super s = { false, true, 5000, 1448 };
	struct wan_buf *b = wan_buf_get(&pool, WAN_READ_MAX);
	struct virtio_net_hdr vh, v;
	uint32_t len = super_bytes(&s, b->data, &vh);

	(void)state;
	assert_true(accepted(b, &vh, len));
	for (uint32_t n = 0; n < len; n += n < 100 ? 1 : 100)
		assert_false(accepted(b, &vh, n));
	v = vh;
	v.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4;
	assert_false(accepted(b, &v, len));
	v.gso_type = VIRTIO_NET_HDR_GSO_UDP;
	assert_false(accepted(b, &v, len));
	v = vh;
	v.gso_size = 0;
	assert_false(accepted(b, &v, len));
	v = vh;
	v.flags = 0;
	assert_false(accepted(b, &v, len));
	b->data[32] = 0xf0; /* a TCP header of 60 bytes */
	assert_true(accepted(b, &vh, len));
	b->data[0] = 0x44;
	assert_false(accepted(b, &vh, len));
	b->data[0] = 0x75;
	assert_false(accepted(b, &vh, len));
	b->data[0] = 0x65;
	assert_false(accepted(b, &vh, len));
	wan_buf_put(&pool, b);
	assert_int_equal(pool.packets, 0);
}

/* A fragment has no ports: all of them go one way. */
static void fragments(void **state)
{
	struct wan_buf *b = wan_buf_get(&pool, 2000);
	struct virtio_net_hdr vh = { 0 };
	uint32_t hash[2];
	struct wan_pkt *p;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		udp4_bytes(b->data, 100, 0, 1, (uint16_t)(1000 + i));
		put16(b->data + 6, i ? 10 : 0x2000);
		p = wan_pkt_cut(&pool, &one_each, &vh, b, 100);
		assert_non_null(p);
		hash[i] = p->hash;
		assert_int_equal(p->nhdr, 20);
		wan_pkt_put(&pool, p);
	}
	assert_int_equal(hash[0], hash[1]);
	wan_buf_put(&pool, b);
}

static int end(void **state)
{
	(void)state;
	wan_pool_free(&pool);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut),	     cmocka_unit_test(join),	cmocka_unit_test(join_not),
		cmocka_unit_test(plain),     cmocka_unit_test(ecn_six), cmocka_unit_test(nonsense),
		cmocka_unit_test(fragments),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
