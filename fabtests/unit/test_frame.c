/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The codec of the reliable endpoint's datagrams and frames: what is encoded comes back, what is
 * cut short or tampered with is refused, random bytes never lead outside the buffer (run under
 * ASan: every fuzzed packet lies in an allocation of its exact size).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "wire/sdr_frame.h"

#define FUZZ_ITERATIONS 1000000u
#define BITS_MAX	4096u /* packets */

static uint64_t rng_state = 88172645463325252ull;

static uint64_t rng(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return rng_state * 0x2545f4914f6cdd1dull;
}

static bool bit_get(const uint64_t *b, uint32_t i)
{
	return b[i / 64] >> (i % 64) & 1;
}

/* Decodes one frame that must be alone in its packet. */
static void frame_one(const uint8_t *buf, size_t len, struct sdr_frame *f)
{
	const uint8_t *p = buf;

	memset(f, 0xee, sizeof(*f));
	assert_int_equal(sdr_frame_next(&p, buf + len, f), 1);
	assert_ptr_equal(p, buf + len);
	assert_int_equal(sdr_frame_next(&p, buf + len, f + 1), 0);
}

/* Every proper prefix of a frame is refused (or, of length 0, is the end). */
static void frame_cut(const uint8_t *buf, size_t len)
{
	struct sdr_frame f;
	size_t i;

	for (i = 0; i < len; i++) {
		uint8_t *q = malloc(i ? i : 1);
		const uint8_t *p = q;

		assert_non_null(q);
		memcpy(q, buf, i);
		assert_int_equal(sdr_frame_next(&p, q + i, &f), i ? -EBADMSG : 0);
		assert_ptr_equal(p, q);
		free(q);
	}
}

/* ---- handshake ------------------------------------------------------------------------------- */

static void hello_fill(struct sdr_hello *h)
{
	uint32_t i;

	sdr_hello_init(h);
	h->features = rng();
	h->instance = rng();
	h->cid = rng();
	h->echo = rng();
	h->cookie = rng();
	h->seg_bytes = 64u << 20;
	h->msn_limit = 17;
	h->mseq_limit = 0xfffffff0u;
	h->ctl_max = SDR_CTL_MAX;
	h->ts_us = 123456;
	h->qp.qpn = 0x1234;
	h->qp.rkey = 0xdeadbeef;
	h->qp.psn = 0xabcdef;
	h->qp.channels = 2;
	h->qp.generations = 4;
	h->qp.split = (struct sdr_imm_split)SDR_IMM_SPLIT_DEFAULT;
	h->qp.mtu = 4096;
	h->qp.chunk = 65536;
	h->qp.max_msg = 64u << 20;
	h->qp.rx_window = 212992;
	h->qp.flags = SDR_QP_F_RKEYED | SDR_QP_F_NIC;
	h->qp.ctl_qpn = 0x1233;
	h->qp.ntps = 8;
	for (i = 0; i < h->qp.ntps; i++)
		h->qp.tpn[i] = i ? SDR_QPN_MASK - 3 * i : h->qp.qpn;
	h->codes = 1u << 1 | 1u << 2;
	h->code_syms = SDR_CODE_SYMS_MAX;
	h->code_chunk = 0x01020304;
}

#define HELLO_QP    64u /* offsets behind the class header */
#define HELLO_CODES (HELLO_QP + SDR_QP_INFO_LEN)

/* g was decoded from what h encodes, without extensions. */
static void hello_same(const struct sdr_hello *h, struct sdr_hello *g)
{
	assert_int_equal(g->ext_len, 0);
	assert_int_equal(g->ext_unknown, 0);
	g->ext = h->ext;
	assert_memory_equal(h, g, sizeof(*h));
}

static void hello__round_trip(void **state)
{
	uint8_t buf[SDR_HELLO_LEN], type;
	struct sdr_hello h, g;

	(void)state;
	assert_int_equal(SDR_HELLO_LEN, 4 + 64 + 160 + 8);
	hello_fill(&h);
	assert_int_equal(sdr_hello_encode(buf, SDR_REL_HELLO_ACK, &h), SDR_HELLO_LEN);
	assert_int_equal(sdr_class_decode(buf, sizeof(buf), &type), SDR_CLASS_REL);
	assert_int_equal(type, SDR_REL_HELLO_ACK);
	memset(&g, 0, sizeof(g));
	assert_int_equal(sdr_hello_decode(buf + SDR_CLASS_LEN, sizeof(buf) - SDR_CLASS_LEN, &g), 0);
	hello_same(&h, &g);
}

static void hello__refuses(void **state)
{
	uint8_t buf[SDR_HELLO_LEN + 1] = { 0 }, *body = buf + SDR_CLASS_LEN;
	const size_t len = SDR_HELLO_LEN - SDR_CLASS_LEN;
	struct sdr_hello h, g;
	size_t i;

	(void)state;
	hello_fill(&h);
	sdr_hello_encode(buf, SDR_REL_HELLO, &h);
	assert_int_equal(sdr_hello_decode(body, len - 1, &g), -EBADMSG);
	body[len] = SDR_HELLO_PROBE_MAX; /* an extension that is cut short */
	assert_int_equal(sdr_hello_decode(body, len + 1, &g), -EBADMSG);
	body[len] = 0;
	assert_int_equal(sdr_hello_decode(body, len + 1, &g), 0);
	for (i = HELLO_QP; i < len; i++) { /* the zeros of the QP info and behind it */
		if (body[i])
			continue;
		body[i] = 0xff;
		/* code_syms has a zero in its low byte: 0x1ff symbols are too many */
		if (i >= HELLO_CODES || i > HELLO_QP + 64 + 3 * 8)
			assert_int_equal(sdr_hello_decode(body, len, &g), -EBADMSG);
		body[i] = 0;
	}
	assert_int_equal(sdr_hello_decode(body, len, &g), 0);
	h.qp.flags = 4;
	sdr_hello_encode(buf, SDR_REL_HELLO, &h);
	assert_int_equal(sdr_hello_decode(body, len, &g), -EBADMSG);
	h.qp.flags = 0;
	h.ctl_max = SDR_CTL_MAX + 1;
	sdr_hello_encode(buf, SDR_REL_HELLO, &h);
	assert_int_equal(sdr_hello_decode(body, len, &g), -EBADMSG);
	h.ctl_max = SDR_CTL_MIN - 1;
	sdr_hello_encode(buf, SDR_REL_HELLO, &h);
	assert_int_equal(sdr_hello_decode(body, len, &g), -EBADMSG);
	h.ctl_max = SDR_CTL_MIN;
	h.seg_bytes = 0;
	sdr_hello_encode(buf, SDR_REL_HELLO, &h);
	assert_int_equal(sdr_hello_decode(body, len, &g), -EBADMSG);
	h.seg_bytes = 1;
	sdr_hello_encode(buf, SDR_REL_HELLO, &h);
	assert_int_equal(sdr_hello_decode(body, len, &g), 0);
	body[HELLO_QP]++; /* QP info's magic */
	assert_int_not_equal(sdr_hello_decode(body, len, &g), 0);
	h.status = SDR_HELLO_REFUSED_LIMIT;
	sdr_hello_encode(buf, SDR_REL_HELLO_ACK, &h);
	body[HELLO_QP]++;
	assert_int_equal(sdr_hello_decode(body, len, &g), 0);
	assert_int_equal(g.status, SDR_HELLO_REFUSED_LIMIT);
	assert_int_equal(g.qp.qpn, 0);
}

/* Bounds of parity: what is offered makes sense, or nothing is. */
static void hello__codes(void **state)
{
	static const struct {
		uint8_t codes;
		uint16_t syms;
		uint32_t chunk;
		bool ok;
	} t[] = {
		{ 0, 0, 0, true },
		{ 2, 2, 1, true },
		{ 4, 256, ~0u, true },
		{ 6, 255, 1u << 16, true },
		{ 0, 2, 0, false },
		{ 0, 0, 1, false },
		{ 0, 2, 1, false },
		{ 6, 0, 4096, false },
		{ 6, 1, 4096, false },
		{ 6, 2, 0, false },
		{ 6, 257, 1, false },
		{ 6, 0xffff, 1, false },
		/* kinds that are not known here */
		{ 1, 40, 4096, true },
		{ 7, 40, 1, true },
		{ 8, 40, 1, true },
		{ 14, 40, 1, true },
		{ 0x82, 40, 1, true },
		{ 0xff, 1, 1, false },
	};
	const size_t len = SDR_HELLO_LEN - SDR_CLASS_LEN;
	uint8_t buf[SDR_HELLO_LEN], *body = buf + SDR_CLASS_LEN;
	struct sdr_hello h, g;
	uint32_t known;
	size_t i;

	(void)state;
	hello_fill(&h);
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		h.codes = t[i].codes;
		h.code_syms = t[i].syms;
		h.code_chunk = t[i].chunk;
		h.status = SDR_HELLO_OK;
		sdr_hello_encode(buf, SDR_REL_HELLO, &h);
		assert_int_equal(body[HELLO_CODES], t[i].codes);
		assert_int_equal(body[HELLO_CODES + 1], 0);
		assert_int_equal(sdr_get_le16(body + HELLO_CODES + 2), t[i].syms);
		assert_int_equal(sdr_get_le32(body + HELLO_CODES + 4), t[i].chunk);
		memset(&g, 0, sizeof(g));
		assert_int_equal(sdr_hello_decode(body, len, &g), t[i].ok ? 0 : -EBADMSG);
		known = t[i].ok ? t[i].codes & SDR_WIRE_CODE_KINDS : 0;
		if (t[i].ok) {
			h.codes = (uint8_t)known;
			h.code_syms = known ? t[i].syms : 0;
			h.code_chunk = known ? t[i].chunk : 0;
			hello_same(&h, &g);
			h.codes = t[i].codes;
			h.code_syms = t[i].syms;
			h.code_chunk = t[i].chunk;
		}
		body[HELLO_CODES + 1] = 1;
		assert_int_equal(sdr_hello_decode(body, len, &g), -EBADMSG);

		/* A refusal says why, and nothing that is not well formed. */
		h.status = SDR_HELLO_REFUSED_GEOMETRY;
		sdr_hello_encode(buf, SDR_REL_HELLO_ACK, &h);
		memset(&g, 0xee, sizeof(g));
		assert_int_equal(sdr_hello_decode(body, len, &g), 0);
		assert_int_equal(g.status, SDR_HELLO_REFUSED_GEOMETRY);
		assert_int_equal(g.qp.mtu, h.qp.mtu);
		assert_int_equal(g.codes, known);
		assert_int_equal(g.code_syms, known ? t[i].syms : 0);
		assert_int_equal(g.code_chunk, known ? t[i].chunk : 0);
	}
}

static void retry__round_trip(void **state)
{
	struct sdr_retry r = { 0x0102030405060708ull, 0x1112131415161718ull }, s;
	uint8_t buf[SDR_RETRY_LEN], type;

	(void)state;
	assert_int_equal(sdr_retry_encode(buf, SDR_REL_RESET, &r), SDR_RETRY_LEN);
	assert_int_equal(sdr_class_decode(buf, sizeof(buf), &type), SDR_CLASS_REL);
	assert_int_equal(type, SDR_REL_RESET);
	assert_int_equal(sdr_retry_decode(buf + SDR_CLASS_LEN, 16, &s), 0);
	assert_memory_equal(&r, &s, sizeof(r));
	assert_int_equal(sdr_retry_decode(buf + SDR_CLASS_LEN, 15, &s), -EBADMSG);
}

static void packet__round_trip(void **state)
{
	uint8_t buf[SDR_PACKET_HDR], type;
	uint64_t cid;
	uint32_t pn;

	(void)state;
	assert_int_equal(sdr_packet_encode(buf, 0x0102030405060708ull, 0xfffffffeu),
			 SDR_PACKET_HDR);
	assert_int_equal(sdr_class_decode(buf, sizeof(buf), &type), SDR_CLASS_REL);
	assert_int_equal(type, SDR_REL_PACKET);
	assert_int_equal(sdr_packet_decode(buf + SDR_CLASS_LEN, 12, &cid, &pn), 0);
	assert_true(cid == 0x0102030405060708ull);
	assert_int_equal(pn, 0xfffffffeu);
	assert_int_equal(sdr_packet_decode(buf + SDR_CLASS_LEN, 11, &cid, &pn), -EBADMSG);
}

/* ---- ACK ------------------------------------------------------------------------------------- */

static void ack__round_trip(void **state)
{
	struct sdr_frame_ack a;
	struct sdr_frame f[2];
	uint8_t buf[512];
	uint32_t i, t, at;
	size_t len;

	(void)state;
	for (t = 0; t < 5000; t++) {
		memset(&a, 0, sizeof(a));
		a.delay_us = (uint32_t)(rng() >> (32 + rng() % 32));
		a.n = 1 + (uint32_t)(rng() % SDR_ACK_RANGES);
		at = t & 1 ? (uint32_t)rng() : (uint32_t)(rng() % 4096); /* wraps through 0 often */
		for (i = 0; i < a.n; i++) {
			a.r[i].hi = at;
			at -= (uint32_t)(rng() % (1u << rng() % 25));
			a.r[i].lo = at;
			at -= 2 + (uint32_t)(rng() % (1u << rng() % 25));
		}
		len = sdr_frame_ack_encode(buf, sizeof(buf), &a);
		assert_int_not_equal(len, 0);
		assert_int_equal(sdr_frame_ack_encode(buf, len - 1, &a), 0);
		assert_int_equal(sdr_frame_ack_encode(buf, len, &a), len);
		frame_one(buf, len, f);
		assert_int_equal(f[0].type, SDR_FRAME_ACK);
		assert_int_equal(f[0].ack.n, a.n);
		assert_int_equal(f[0].ack.delay_us, a.delay_us);
		assert_memory_equal(f[0].ack.r, a.r, a.n * sizeof(a.r[0]));
		if (t < 20)
			frame_cut(buf, len);
	}
}

static void ack__refuses(void **state)
{
	struct sdr_frame_ack a = { .delay_us = 1, .n = 0 };
	struct sdr_frame f;
	uint8_t buf[64];
	const uint8_t *p;
	size_t len;
	/* n = 0; n = 25; span of 2^31; gap of 0; overlong varint; varint of 33 bits */
	static const uint8_t bad[][20] = {
		{ 7, SDR_FRAME_ACK, 0, 0, 9, 0, 0, 0 },
		{ 8, SDR_FRAME_ACK, 0, 25, 9, 0, 0, 0, 1 },
		{ 12, SDR_FRAME_ACK, 0, 1, 9, 0, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x08 },
		{ 10, SDR_FRAME_ACK, 0, 2, 9, 0, 0, 0, 1, 0, 1 },
		{ 9, SDR_FRAME_ACK, 0, 1, 9, 0, 0, 0, 0x81, 0x00 },
		{ 12, SDR_FRAME_ACK, 0, 1, 9, 0, 0, 0, 0x81, 0x80, 0x80, 0x80, 0x10 },
		{ 12, SDR_FRAME_ACK, 0xff, 0xff, 0xff, 0xff, 0x1f, 1, 9, 0, 0, 0, 0 },
	};
	size_t i;

	(void)state;
	assert_int_equal(sdr_frame_ack_encode(buf, sizeof(buf), &a), 0);
	a.n = SDR_ACK_RANGES + 1;
	assert_int_equal(sdr_frame_ack_encode(buf, sizeof(buf), &a), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		p = bad[i] + 1;
		assert_int_equal(sdr_frame_next(&p, p + bad[i][0], &f), -EBADMSG);
		assert_ptr_equal(p, bad[i] + 1);
	}
	/* the largest span is accepted */
	a.n = 1;
	a.r[0].hi = 5;
	a.r[0].lo = 5u - ((1u << 31) - 1);
	len = sdr_frame_ack_encode(buf, sizeof(buf), &a);
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + len, &f), 1);
	assert_int_equal(f.ack.r[0].lo, a.r[0].lo);
}

/* ---- DACK ------------------------------------------------------------------------------------ */

/*
 * Encodes with `room`, in as many frames as it takes, and compares what is reported with the
 * bitmap.
 */
static uint32_t dack_check(const uint64_t *bits, uint32_t cum, uint32_t limit, size_t room)
{
	uint8_t seen[BITS_MAX], *buf = malloc(room);
	struct sdr_frame_dack d;
	struct sdr_dack_iter it;
	uint32_t at = cum, frames = 0, i, first, n, prev;
	struct sdr_frame f[2];
	size_t len;
	int ret;

	assert_non_null(buf);
	memset(seen, 2, sizeof(seen));
	do {
		memset(&d, 0, sizeof(d));
		d.flags = SDR_DACK_GAP;
		d.msn = 0x89abcdef;
		d.cum = cum;
		d.base = at;
		d.echo = ~0u;
		d.echo_delay_us = 77;
		d.dups = 3;
		len = sdr_frame_dack_encode(buf, room, &d, bits, limit);
		assert_true(len > 0 && len <= room);
		frame_one(buf, len, f);
		assert_int_equal(f[0].type, SDR_FRAME_DACK);
		assert_int_equal(f[0].dack.flags, SDR_DACK_GAP);
		assert_int_equal(f[0].dack.msn, d.msn);
		assert_int_equal(f[0].dack.cum, cum);
		assert_int_equal(f[0].dack.base, at);
		assert_int_equal(f[0].dack.end, d.end);
		assert_int_equal(f[0].dack.echo, ~0u);
		assert_int_equal(f[0].dack.echo_delay_us, 77);
		assert_int_equal(f[0].dack.dups, 3);
		assert_int_equal(f[0].dack.runs_len, d.runs_len);
		for (i = at; i < d.end; i++)
			seen[i] = 1;
		memset(&it, 0, sizeof(it));
		prev = at;
		while ((ret = sdr_frame_dack_next(&f[0].dack, &it, &first, &n)) > 0) {
			assert_true(n > 0 && first >= prev && first + n <= d.end);
			memset(seen + first, 0, n);
			prev = first + n;
		}
		assert_int_equal(ret, 0);
		assert_true(d.end > at || at >= limit);
		at = d.end;
		frames++;
	} while (at < limit);
	for (i = cum; i < limit; i++)
		assert_int_equal(seen[i], bit_get(bits, i));
	free(buf);
	return frames;
}

static void dack__round_trip(void **state)
{
	uint64_t bits[BITS_MAX / 64];
	uint32_t t, i, cum, limit, dense, run;
	bool v;

	(void)state;
	for (t = 0; t < 3000; t++) {
		memset(bits, 0xff, sizeof(bits)); /* behind limit: must not be looked at */
		limit = 1 + (uint32_t)(rng() % BITS_MAX);
		dense = 1 + (uint32_t)(rng() % 12);
		for (i = 0, run = 0, v = true; i < limit; i++) {
			if (!run--) {
				run = (uint32_t)(rng() % (1u << dense));
				v = !v;
			}
			if (!v)
				bits[i / 64] &= ~(1ull << (i % 64));
		}
		bits[(limit - 1) / 64] |= 1ull << ((limit - 1) % 64);
		for (cum = 0; cum < limit && bit_get(bits, cum); cum++)
			;
		dack_check(bits, cum, limit, 8192);
		dack_check(bits, cum, limit, 32 + 3 + rng() % 40);
	}
}

static void dack__sparse_is_short(void **state)
{
	uint64_t *bits = calloc(1u << 12, 8); /* 2^18 packets */
	struct sdr_frame_dack d = { .msn = 1, .cum = 0, .base = 0 };
	uint8_t buf[64];
	size_t len;

	(void)state;
	assert_non_null(bits);
	bits[4095] = 1ull << 63;
	len = sdr_frame_dack_encode(buf, sizeof(buf), &d, bits, 1u << 18);
	assert_int_equal(d.end, 1u << 18);
	assert_int_equal(len, 32 + 3 + 1);
	memset(bits, 0xff, 1u << 15);
	bits[0] = ~1ull;
	d.base = 0;
	len = sdr_frame_dack_encode(buf, sizeof(buf), &d, bits, 1u << 18);
	assert_int_equal(d.end, 1u << 18);
	assert_int_equal(len, 32 + 1 + 3);
	free(bits);
}

static void dack__complete_and_room(void **state)
{
	struct sdr_frame_dack d = { .flags = SDR_DACK_COMPLETE, .msn = 5, .cum = 100, .echo = 99 };
	struct sdr_frame f[2];
	uint64_t bits[2] = { ~2ull, 1 };
	uint8_t buf[64];

	(void)state;
	assert_int_equal(sdr_frame_dack_encode(buf, 31, &d, NULL, 100), 0);
	assert_int_equal(sdr_frame_dack_encode(buf, 32, &d, NULL, 200), 32);
	frame_one(buf, 32, f);
	assert_int_equal(f[0].dack.flags, SDR_DACK_COMPLETE);
	assert_int_equal(f[0].dack.cum, 100);
	assert_int_equal(f[0].dack.base, 100);
	assert_int_equal(f[0].dack.end, 100);
	assert_int_equal(f[0].dack.dec_pkts, 0);
	assert_int_equal(f[0].dack.dec_chunks, 0);
	frame_cut(buf, 32);

	d.flags = 0;
	d.cum = d.base = 1;
	assert_int_equal(sdr_frame_dack_encode(buf, 33, &d, bits, 65), 33);
	assert_int_equal(d.end, 2); /* only the hole fits */
	assert_int_equal(sdr_frame_dack_encode(buf, 34, &d, bits, 65), 34);
	assert_int_equal(d.end, 65);
	frame_one(buf, 34, f);
	frame_cut(buf, 34);
	/* nothing above base yet */
	d.base = d.cum = 65;
	assert_int_equal(sdr_frame_dack_encode(buf, 64, &d, bits, 65), 32);
	frame_one(buf, 32, f);
	assert_int_equal(f[0].dack.end, 65);
}

static void dack__decoded(void **state)
{
	struct sdr_frame_dack d = { .flags = SDR_DACK_COMPLETE | SDR_DACK_DECODED,
				    .msn = 0x89abcdef,
				    .echo = 0x12345678,
				    .echo_delay_us = 77,
				    .dups = 3 };
	static const struct {
		uint32_t pkts, chunks;
		bool ok;
	} t[] = { { 1, 1, true },  { 7, 3, true },  { ~0u, ~0u, true }, { ~0u, 1, true },
		  { 0, 0, false }, { 1, 0, false }, { 0, 1, false },	{ 3, 4, false } };
	uint8_t buf[64];
	struct sdr_frame f[2];
	struct sdr_dack_iter it = { 0, 0 };
	uint32_t first, n;
	const uint8_t *p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		d.dec_pkts = t[i].pkts;
		d.dec_chunks = t[i].chunks;
		assert_int_equal(sdr_frame_dack_encode(buf, 39, &d, NULL, 0), 0);
		assert_int_equal(sdr_frame_dack_encode(buf, 40, &d, NULL, 200), 40);
		assert_int_equal(sdr_get_le32(buf + 32), t[i].pkts);
		assert_int_equal(sdr_get_le32(buf + 36), t[i].chunks);
		if (!t[i].ok) {
			p = buf;
			assert_int_equal(sdr_frame_next(&p, buf + 40, f), -EBADMSG);
			assert_ptr_equal(p, buf);
			continue;
		}
		frame_one(buf, 40, f);
		assert_int_equal(f[0].dack.flags, d.flags);
		assert_int_equal(f[0].dack.msn, d.msn);
		assert_int_equal(f[0].dack.base, f[0].dack.end);
		assert_int_equal(f[0].dack.echo, d.echo);
		assert_int_equal(f[0].dack.echo_delay_us, 77);
		assert_int_equal(f[0].dack.dups, 3);
		assert_int_equal(f[0].dack.dec_pkts, t[i].pkts);
		assert_int_equal(f[0].dack.dec_chunks, t[i].chunks);
		assert_int_equal(f[0].dack.runs_len, 0);
		assert_int_equal(sdr_frame_dack_next(&f[0].dack, &it, &first, &n), 0);
		frame_cut(buf, 40);
	}
	/* The next frame begins where the two numbers end. */
	d.dec_pkts = 5;
	d.dec_chunks = 2;
	assert_int_equal(sdr_frame_dack_encode(buf, sizeof(buf), &d, NULL, 0), 40);
	assert_int_equal(sdr_frame_ping_encode(buf + 40, 1), 1);
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + 41, f), 1);
	assert_int_equal(sdr_frame_next(&p, buf + 41, f), 1);
	assert_int_equal(f[0].type, SDR_FRAME_PING);
	/* Without COMPLETE, with runs, with a bitmap. */
	for (i = 0; i < 4; i++) {
		assert_int_equal(sdr_frame_dack_encode(buf, sizeof(buf), &d, NULL, 0), 40);
		memset(buf + 40, 1, sizeof(buf) - 40);
		if (i == 0)
			buf[1] = SDR_DACK_DECODED;
		else if (i == 1)
			buf[1] = SDR_DACK_DECODED | SDR_DACK_GAP;
		else if (i == 2)
			sdr_put_le16(buf + 2, 1);
		else
			sdr_put_le32(buf + 16, 1);
		p = buf;
		assert_int_equal(sdr_frame_next(&p, buf + sizeof(buf), f), -EBADMSG);
	}
}

static void dack__refuses(void **state)
{
	struct sdr_frame_dack d = { .msn = 5, .cum = 1, .base = 1 };
	uint64_t bits[2] = { ~2ull, 1 };
	uint8_t good[64], buf[64];
	struct sdr_frame f;
	const uint8_t *p;
	size_t len;
	int i;

	(void)state;
	len = sdr_frame_dack_encode(good, sizeof(good), &d, bits, 65);
	assert_int_equal(len, 34);
	for (i = 0; i < 9; i++) {
		memcpy(buf, good, sizeof(buf));
		switch (i) {
		case 0:
			buf[1] = 0x20;
			break; /* unknown flag */
		case 1:
			buf[1] = SDR_DACK_COMPLETE;
			break; /* with runs */
		case 2:
			sdr_put_le32(buf + 8, 2);
			break; /* cum > base */
		case 3:
			sdr_put_le32(buf + 12, 66);
			break; /* base > end */
		case 4:
			sdr_put_le32(buf + 16, 64);
			break; /* runs past end */
		case 5:
			sdr_put_le32(buf + 16, 66);
			break; /* runs short of end */
		case 6:
			buf[33] = 0;
			break; /* empty run in the middle */
		case 7:
			sdr_put_le32(buf + 16, (1u << 30) + 1);
			break;
		case 8:
			sdr_put_le16(buf + 2, 3);
			break; /* runs longer than the packet */
		}
		p = buf;
		assert_int_equal(sdr_frame_next(&p, buf + len, &f), -EBADMSG);
	}
	p = good;
	assert_int_equal(sdr_frame_next(&p, good + len, &f), 1);
}

/* ---- REC and the small ones ------------------------------------------------------------------ */

/* Any code that is well formed. */
static void code_fill(struct sdr_frame_code *c)
{
	c->kind = (uint8_t)(1 + rng() % 2);
	c->flags = (uint8_t)(rng() & SDR_WIRE_CODE_FLAGS);
	c->k = (uint16_t)(1 + rng() % (SDR_CODE_SYMS_MAX - 1));
	c->m = (uint16_t)(1 + rng() % (SDR_CODE_SYMS_MAX - c->k));
	c->chunk = 1 + (uint32_t)(rng() >> (32 + rng() % 32));
	if (!c->chunk)
		c->chunk = 1;
	c->seg = c->chunk * (1 + (uint32_t)(rng() % (~0u / c->chunk)));
	c->from = c->chunk * (rng() % (~0ull / c->chunk));
}

static void code_equal(const struct sdr_frame_code *a, const struct sdr_frame_code *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->k, b->k);
	assert_int_equal(a->m, b->m);
	assert_int_equal(a->chunk, b->chunk);
	assert_int_equal(a->seg, b->seg);
	assert_true(a->from == b->from);
}

/* A record with something in each field that its flags announce. */
static void rec_fill(struct sdr_frame_rec *r, uint32_t op, uint32_t flags, const uint8_t *payload,
		     size_t max)
{
	memset(r, 0, sizeof(*r));
	r->op = (uint8_t)op;
	r->flags = (uint16_t)flags;
	r->rseq = (uint32_t)rng();
	r->id = (uint32_t)rng();
	r->payload_len = (uint32_t)(rng() % max);
	/* KEY, CODE and BERTH go without payload */
	if ((flags & (SDR_REC_F_KEY | SDR_REC_F_CODE | SDR_REC_F_BERTH)) && flags % 3)
		r->payload_len = 0;
	r->payload = payload;
	r->len = r->payload_len;
	if (flags & SDR_REC_F_ORDER)
		r->mseq = (uint32_t)rng();
	if (flags & SDR_REC_F_LEN)
		r->len = rng();
	if (flags & SDR_REC_F_TAG)
		r->tag = rng();
	if (flags & SDR_REC_F_DATA)
		r->data = rng();
	if (flags & SDR_REC_F_BULK)
		r->msn = (uint32_t)rng();
	if (flags & SDR_REC_F_RMA) {
		r->addr = rng();
		r->key = rng();
	}
	if (flags & SDR_REC_F_STATUS)
		r->status = (int32_t)(rng() % 65536) - 32768;
	if (flags & SDR_REC_F_KEY) {
		r->va = rng();
		r->rkey = (uint32_t)rng();
	}
	if (flags & SDR_REC_F_CODE)
		code_fill(&r->code);
	if (flags & SDR_REC_F_TURN)
		r->turn = (uint32_t)rng();
	if (flags & SDR_REC_F_BERTH)
		r->berth = (uint32_t)rng();
	if (flags & SDR_REC_F_HEAD) /* some of them none, or all of it */
		r->head = rng() % 8 ? rng() >> 8 : rng() % 2 * r->len;
}

static void rec__round_trip(void **state)
{
	static const uint8_t payload[100] = "0123456789";
	struct sdr_frame_rec r;
	struct sdr_frame f[2];
	uint8_t buf[256];
	uint32_t flags, op;
	size_t len, head;
	bool key_ok, code_ok, turn_ok, berth_ok, head_ok;

	(void)state;
	for (op = SDR_REC_SEND; op <= SDR_REC_BERTH; op++) {
		if (op > SDR_REC_LAST && op < SDR_REC_CALL)
			continue;
		for (flags = 0; flags <= SDR_REC_F_FIELDS; flags++) {
			uint32_t must = op <= SDR_REC_TSEND    ? SDR_REC_F_ORDER
					: op <= SDR_REC_READ   ? SDR_REC_F_RMA
					: op == SDR_REC_BIND   ? SDR_REC_F_BULK
					: op == SDR_REC_ATOMIC ? SDR_REC_F_RMA
					: op == SDR_REC_ATOMIC_END
						? SDR_REC_F_RMA | SDR_REC_F_LEN | SDR_REC_F_TAG
					: op == SDR_REC_BERTH ? SDR_REC_F_LEN
							      : 0;
			bool bulk_ok = op < SDR_REC_ATOMIC || op > SDR_REC_ATOMIC_END ||
				       !(flags & SDR_REC_F_BULK);
			const uint8_t *p = buf;

			if ((flags & SDR_REC_F_BULK) && op != SDR_REC_PARK)
				must |= SDR_REC_F_LEN;
			rec_fill(&r, op, flags, payload, sizeof(payload));
			code_ok = !(flags & SDR_REC_F_CODE) ||
				  (!r.payload_len && (flags & SDR_REC_F_BULK));
			key_ok = !(flags & SDR_REC_F_KEY) ||
				 (!r.payload_len &&
				  (op == SDR_REC_READ || op == SDR_REC_CTS || op == SDR_REC_BERTH));
			berth_ok = !(flags & SDR_REC_F_BERTH) ||
				   (!r.payload_len && (flags & SDR_REC_F_BULK) &&
				    (op <= SDR_REC_WRITE ||
				     ((op == SDR_REC_BIND || op == SDR_REC_READ_RSP) &&
				      (flags & SDR_REC_F_CODE))));
			head_ok = !(flags & SDR_REC_F_HEAD) ||
				  (r.head &&
				   (op == SDR_REC_CTS
					    ? flags & SDR_REC_F_KEY
					    : op <= SDR_REC_WRITE && flags & SDR_REC_F_BERTH) &&
				   (!(flags & SDR_REC_F_BULK) || r.head < r.len));
			turn_ok = !(flags & SDR_REC_F_TURN) || op <= SDR_REC_READ ||
				  op == SDR_REC_ATOMIC;
			len = sdr_frame_rec_size(&r);
			head = len - r.payload_len;
			assert_true(head <= SDR_REC_HDR_MAX ||
				    (flags & (SDR_REC_F_KEY | SDR_REC_F_CODE | SDR_REC_F_BULK |
					      SDR_REC_F_BERTH | SDR_REC_F_HEAD)));
			assert_int_equal(sdr_frame_rec_encode(buf, len - 1, &r), 0);
			assert_int_equal(sdr_frame_rec_encode(buf, len, &r), len);
			if ((flags & must) != must || !key_ok || !code_ok || !bulk_ok || !turn_ok ||
			    !berth_ok || !head_ok) {
				assert_int_equal(sdr_frame_next(&p, buf + len, f), -EBADMSG);
				continue;
			}
			frame_one(buf, len, f);
			assert_int_equal(f[0].type, SDR_FRAME_REC);
			assert_memory_equal(f[0].rec.payload, payload, r.payload_len);
			assert_ptr_equal(f[0].rec.payload, buf + head);
			r.payload = f[0].rec.payload;
			assert_int_equal(f[0].rec.op, r.op);
			assert_int_equal(f[0].rec.flags, r.flags);
			assert_int_equal(f[0].rec.rseq, r.rseq);
			assert_int_equal(f[0].rec.id, r.id);
			assert_int_equal(f[0].rec.mseq, r.mseq);
			assert_true(f[0].rec.len == r.len);
			assert_true(f[0].rec.tag == r.tag);
			assert_true(f[0].rec.data == r.data);
			assert_int_equal(f[0].rec.msn, r.msn);
			assert_true(f[0].rec.addr == r.addr);
			assert_true(f[0].rec.key == r.key);
			assert_int_equal(f[0].rec.status, r.status);
			assert_true(f[0].rec.va == r.va);
			assert_int_equal(f[0].rec.rkey, r.rkey);
			code_equal(&f[0].rec.code, &r.code);
			assert_int_equal(f[0].rec.turn, r.turn);
			assert_int_equal(f[0].rec.berth, r.berth);
			assert_true(f[0].rec.head == r.head);
			assert_int_equal(f[0].rec.payload_len, r.payload_len);
			if (!(flags & 7))
				frame_cut(buf, len);
			r.payload = NULL;
			assert_int_equal(sdr_frame_rec_encode(buf, len - 1, &r), 0);
			assert_int_equal(sdr_frame_rec_encode(buf, len, &r), head);
		}
	}
}

static void rec__refuses(void **state)
{
	struct sdr_frame_rec r = { .op = SDR_REC_DONE };
	struct sdr_frame f;
	uint8_t *buf = calloc(1, 8192);
	const uint8_t *p;
	size_t len;

	(void)state;
	assert_non_null(buf);
	r.payload_len = SDR_CTL_MAX + 1;
	assert_int_equal(sdr_frame_rec_encode(buf, 8192, &r), 0);
	r.payload_len = 0;
	len = sdr_frame_rec_encode(buf, 8192, &r);
	assert_int_equal(len, 14);
	buf[1] = 0;
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + len, &f), -EBADMSG);
	buf[1] = SDR_REC_LAST + 1;
	assert_int_equal(sdr_frame_next(&p, buf + len, &f), -EBADMSG);
	buf[1] = SDR_REC_CALL - 1;
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + len, &f), -EBADMSG);
	buf[1] = SDR_REC_BERTH + 1;
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + len, &f), -EBADMSG);
	buf[1] = SDR_REC_TEST - 1;
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + len, &f), -EBADMSG);
	buf[1] = SDR_REC_TEST;
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + len, &f), 1);
	p = buf;
	buf[1] = SDR_REC_DONE;
	assert_int_equal(sdr_frame_next(&p, buf + len, &f), 1);
	buf[3] = 0x10; /* flag 0x1000 */
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + len, &f), -EBADMSG);
	buf[3] = 1; /* KEY: not in a DONE */
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + 8192, &f), -EBADMSG);
	buf[1] = SDR_REC_CTS;
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + 14 + 11, &f), -EBADMSG);
	assert_int_equal(sdr_frame_next(&p, buf + 14 + 12, &f), 1);
	assert_int_equal(f.rec.flags, SDR_REC_F_KEY);
	buf[4] = 1; /* with payload */
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + 8192, &f), -EBADMSG);
	buf[4] = 0;
	buf[1] = SDR_REC_DONE;
	buf[3] = 0;
	sdr_put_le16(buf + 4, SDR_CTL_MAX + 1);
	assert_int_equal(sdr_frame_next(&p, buf + 8192, &f), -EBADMSG);
	sdr_put_le16(buf + 4, SDR_CTL_MAX);
	assert_int_equal(sdr_frame_next(&p, buf + 8192, &f), 1);
	free(buf);
}

static void rec__code_layout(void **state)
{
	static const char want[] =
		"\x06\x06\x09\x02\0\0\x05\0\0\0\x06\0\0\0"
		"\0\0\0\x04\x01\0\0\0" /* len */
		"\x09\0\0\0"	       /* msn */
		"\x02\x03\xc0\0\x40\0\0\0\0\0\x01\0\0\0\0\x04\0\0\x02\0\x01\0\0\0";
	const size_t len = sizeof(want) - 1;
	struct sdr_frame_rec r = { .op = SDR_REC_BIND,
				   .flags = SDR_REC_F_LEN | SDR_REC_F_BULK | SDR_REC_F_CODE,
				   .rseq = 5,
				   .id = 6,
				   .len = 0x104000000,
				   .msn = 9,
				   .code = { .kind = 2,
					     .flags = 3,
					     .k = 192,
					     .m = 64,
					     .chunk = 0x10000,
					     .seg = 0x4000000,
					     .from = 0x100020000 } };
	struct sdr_frame f[2];
	uint8_t buf[64];

	(void)state;
	assert_int_equal(sdr_frame_rec_size(&r), len);
	assert_int_equal(sdr_frame_rec_encode(buf, len - 1, &r), 0);
	assert_int_equal(sdr_frame_rec_encode(buf, sizeof(buf), &r), len);
	assert_memory_equal(buf, want, len);
	frame_one(buf, len, f);
	code_equal(&f[0].rec.code, &r.code);
	frame_cut(buf, len);
}

static const struct {
	struct sdr_frame_code c;
	bool ok;
} rec_codes[] = {
	{ { 1, 0, 1, 1, 1, 1, 0 }, true },
	{ { 2, 3, 255, 1, 65536, 65536, 0 }, true },
	{ { 2, 1, 1, 255, 65536, 1u << 26, 1ull << 63 }, true },
	{ { 1, 2, 128, 128, ~0u, ~0u, 3ull * ~0u }, true },
	{ { 0, 0, 32, 8, 4096, 4096, 0 }, false }, /* kind */
	{ { 3, 0, 32, 8, 4096, 4096, 0 }, false },
	{ { 9, 0, 32, 8, 4096, 4096, 0 }, false },
	{ { 255, 0, 32, 8, 4096, 4096, 0 }, false },
	{ { 2, 4, 32, 8, 4096, 4096, 0 }, false }, /* flags */
	{ { 2, 0x80, 32, 8, 4096, 4096, 0 }, false },
	{ { 2, 0, 0, 8, 4096, 4096, 0 }, false }, /* k, m */
	{ { 2, 0, 32, 0, 4096, 4096, 0 }, false },
	{ { 2, 0, 0, 0, 4096, 4096, 0 }, false },
	{ { 2, 0, 255, 2, 4096, 4096, 0 }, false },
	{ { 1, 0, 256, 1, 4096, 4096, 0 }, false },
	{ { 1, 0, 0xffff, 0xffff, 4096, 4096, 0 }, false },
	{ { 1, 0, 0xffff, 1, 4096, 4096, 0 }, false },
	{ { 2, 0, 32, 8, 0, 4096, 0 }, false }, /* chunk, seg, from */
	{ { 2, 0, 32, 8, 0, 0, 0 }, false },
	{ { 2, 0, 32, 8, 4096, 0, 0 }, false },
	{ { 2, 0, 32, 8, 4096, 2048, 0 }, false },
	{ { 2, 0, 32, 8, 4096, 4097, 0 }, false },
	{ { 2, 0, 32, 8, 4096, 8192, 1 }, false },
	{ { 2, 0, 32, 8, 4096, 8192, (1ull << 32) + 2048 }, false },
	{ { 2, 0, 32, 8, 4096, 8192, ~0ull }, false },
};

static void rec__code_refuses(void **state)
{
	static const struct sdr_frame_code good = { .kind = 2,
						    .flags = 0,
						    .k = 32,
						    .m = 8,
						    .chunk = 65536,
						    .seg = 1u << 20,
						    .from = 131072 };
	struct sdr_frame_rec r = { .op = SDR_REC_READ_RSP,
				   .flags = SDR_REC_F_LEN | SDR_REC_F_BULK | SDR_REC_F_CODE,
				   .rseq = 5,
				   .id = 6,
				   .len = 1u << 30,
				   .msn = 9 };
	struct sdr_frame f[2];
	uint8_t buf[128];
	const uint8_t *p;
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof(rec_codes) / sizeof(rec_codes[0]); i++) {
		r.code = rec_codes[i].c;
		len = sdr_frame_rec_encode(buf, sizeof(buf), &r);
		assert_int_equal(len, 14 + 8 + 4 + 24);
		if (rec_codes[i].ok) {
			frame_one(buf, len, f);
			code_equal(&f[0].rec.code, &rec_codes[i].c);
			continue;
		}
		p = buf;
		assert_int_equal(sdr_frame_next(&p, buf + len, f), -EBADMSG);
		assert_ptr_equal(p, buf);
	}
	r.code = good;
	len = sdr_frame_rec_encode(buf, sizeof(buf), &r);
	for (i = len - 24 + 6; i < len - 24 + 8; i++) { /* the zero */
		buf[i] = 1;
		p = buf;
		assert_int_equal(sdr_frame_next(&p, buf + len, f), -EBADMSG);
		buf[i] = 0;
	}
	frame_one(buf, len, f);
	/* Without BULK, however many bytes follow; and with payload. */
	r.flags = SDR_REC_F_LEN | SDR_REC_F_CODE;
	assert_int_equal(sdr_frame_rec_encode(buf, sizeof(buf), &r), 14 + 8 + 24);
	memset(buf + 14 + 8 + 24, 0, sizeof(buf) - (14 + 8 + 24));
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + sizeof(buf), f), -EBADMSG);
	r.flags |= SDR_REC_F_BULK;
	r.payload = (const uint8_t *)"x";
	r.payload_len = 1;
	assert_int_equal(sdr_frame_rec_encode(buf, sizeof(buf), &r), 14 + 8 + 4 + 24 + 1);
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + sizeof(buf), f), -EBADMSG);
}

static void frames__several_in_a_packet(void **state)
{
	struct sdr_frame_credit c = { 0x01020304, 0xa0b0c0d0 };
	struct sdr_frame_end e = { 0xffffffff };
	struct sdr_frame_close k = { SDR_CLOSE_BYE_ACK };
	uint8_t buf[64], *q = buf;
	const uint8_t *p = buf;
	struct sdr_frame f;

	(void)state;
	*q++ = SDR_FRAME_PAD;
	q += sdr_frame_credit_encode(q, 9, &c);
	q += sdr_frame_ping_encode(q, 1);
	*q++ = SDR_FRAME_PAD;
	q += sdr_frame_end_encode(q, 5, &e);
	q += sdr_frame_close_encode(q, 3, &k);
	*q++ = SDR_FRAME_PAD;
	assert_int_equal(q - buf, 1 + 9 + 1 + 1 + 5 + 3 + 1);
	assert_int_equal(sdr_frame_next(&p, q, &f), 1);
	assert_int_equal(f.type, SDR_FRAME_CREDIT);
	assert_int_equal(f.credit.msn_limit, c.msn_limit);
	assert_int_equal(f.credit.mseq_limit, c.mseq_limit);
	assert_int_equal(sdr_frame_next(&p, q, &f), 1);
	assert_int_equal(f.type, SDR_FRAME_PING);
	assert_int_equal(sdr_frame_next(&p, q, &f), 1);
	assert_int_equal(f.type, SDR_FRAME_END);
	assert_int_equal(f.end.msn, e.msn);
	assert_int_equal(sdr_frame_next(&p, q, &f), 1);
	assert_int_equal(f.type, SDR_FRAME_CLOSE);
	assert_int_equal(f.close.reason, SDR_CLOSE_BYE_ACK);
	assert_int_equal(sdr_frame_next(&p, q, &f), 0);
	assert_ptr_equal(p, q);

	assert_int_equal(sdr_frame_credit_encode(buf, 8, &c), 0);
	assert_int_equal(sdr_frame_ping_encode(buf, 0), 0);
	assert_int_equal(sdr_frame_end_encode(buf, 4, &e), 0);
	assert_int_equal(sdr_frame_close_encode(buf, 2, &k), 0);
	frame_cut(buf + 1, 9);
	buf[0] = SDR_FRAME_CLOSE + 1;
	p = buf;
	assert_int_equal(sdr_frame_next(&p, q, &f), -EBADMSG);
}

/* ---- fuzz ------------------------------------------------------------------------------------ */

/* Checks what a decoded frame promises about itself. */
static void frame_sane(const struct sdr_frame *f, const uint8_t *buf, const uint8_t *end)
{
	struct sdr_dack_iter it = { 0, 0 };
	uint32_t first, n, i;
	uint64_t used = 0;
	int ret;

	switch (f->type) {
	case SDR_FRAME_ACK:
		assert_in_range(f->ack.n, 1, SDR_ACK_RANGES);
		for (i = 0; i < f->ack.n; i++) {
			used += (uint64_t)(f->ack.r[i].hi - f->ack.r[i].lo) + 1;
			if (i)
				assert_true((int32_t)(f->ack.r[i - 1].lo - f->ack.r[i].hi) > 1);
		}
		assert_true(used <= 1ull << 31);
		break;
	case SDR_FRAME_DACK:
		assert_true(f->dack.runs >= buf && f->dack.runs + f->dack.runs_len <= end);
		assert_true(f->dack.dec_chunks <= f->dack.dec_pkts);
		assert_int_equal(f->dack.dec_chunks > 0, !!(f->dack.flags & SDR_DACK_DECODED));
		if (f->dack.flags & SDR_DACK_DECODED)
			assert_true(f->dack.flags & SDR_DACK_COMPLETE && !f->dack.runs_len);
		while ((ret = sdr_frame_dack_next(&f->dack, &it, &first, &n)) > 0)
			assert_true(n && first >= f->dack.base && first + n <= f->dack.end);
		assert_int_equal(ret, 0);
		break;
	case SDR_FRAME_REC:
		assert_true(f->rec.payload >= buf && f->rec.payload + f->rec.payload_len <= end);
		if (!(f->rec.flags & SDR_REC_F_CODE))
			break;
		assert_true(f->rec.flags & SDR_REC_F_BULK && !f->rec.payload_len);
		assert_in_range(f->rec.code.kind, 1, 2);
		assert_true(f->rec.code.k && f->rec.code.m &&
			    f->rec.code.k + f->rec.code.m <= SDR_CODE_SYMS_MAX);
		assert_true(f->rec.code.chunk && f->rec.code.seg &&
			    !(f->rec.code.seg % f->rec.code.chunk));
		assert_true(!(f->rec.code.from % f->rec.code.chunk));
		break;
	default:
		break;
	}
}

/* A packet of valid frames, to be mutated. */
static size_t fuzz_seed(uint8_t *buf, size_t room)
{
	struct sdr_frame_ack a = { .delay_us = 300,
				   .n = 3,
				   .r = { { 90, 80 }, { 70, 70 }, { 60, 2 } } };
	uint64_t bits[4] = { rng(), rng() & rng(), rng() | rng(), rng() };
	struct sdr_frame_dack d = { .msn = 7, .echo = 4 };
	struct sdr_frame_rec r = { .op = SDR_REC_TSEND,
				   .flags = (uint16_t)(SDR_REC_F_ORDER | SDR_REC_F_LEN |
						       (rng() & SDR_REC_F_FIELDS)),
				   .len = 1000,
				   .head = 100,
				   .payload_len = (uint32_t)(rng() % 40) };
	struct sdr_frame_dack c = { .flags = SDR_DACK_COMPLETE | SDR_DACK_DECODED,
				    .msn = 8,
				    .dec_pkts = 9,
				    .dec_chunks = 3 };
	size_t len;

	len = sdr_frame_ack_encode(buf, room, &a);
	len += sdr_frame_dack_encode(buf + len, room - len, &d, bits, 1 + (uint32_t)(rng() % 256));
	if (rng() % 2)
		len += sdr_frame_dack_encode(buf + len, room - len, &c, NULL, 0);
	code_fill(&r.code);
	if ((r.flags & SDR_REC_F_CODE) && rng() % 8) {
		r.flags = (uint16_t)((r.flags | SDR_REC_F_BULK) & ~SDR_REC_F_KEY);
		r.payload_len = 0;
	}
	if ((r.flags & SDR_REC_F_HEAD) && rng() % 8) {
		r.flags = (uint16_t)((r.flags | SDR_REC_F_BULK | SDR_REC_F_BERTH) & ~SDR_REC_F_KEY);
		r.payload_len = 0;
	}
	r.payload = buf;
	len += sdr_frame_rec_encode(buf + len, room - len, &r);
	return len;
}

static void fuzz__random_and_mutated_bytes(void **state)
{
	uint8_t seed[1024], *buf;
	struct sdr_frame f;
	struct sdr_hello h;
	struct sdr_retry y;
	const uint8_t *p;
	uint64_t cid, good = 0, coded = 0, decoded = 0;
	uint32_t t, pn;
	size_t len, i;
	int ret;

	(void)state;
	for (t = 0; t < FUZZ_ITERATIONS; t++) {
		if (t & 1) {
			len = rng() % 160;
			for (i = 0; i < len; i += 8)
				sdr_put_le64(seed + i, rng());
			if (len)
				seed[0] %= SDR_FRAME_CLOSE + 2;
		} else {
			if (!(t & 31) || !t)
				len = fuzz_seed(seed, sizeof(seed));
			else
				len = fuzz_seed(seed, 200 + rng() % 100);
			for (i = rng() % 3; i; i--)
				seed[rng() % len] = (uint8_t)rng();
			len -= rng() % 4 ? 0 : rng() % len;
		}
		buf = malloc(len ? len : 1);
		assert_non_null(buf);
		memcpy(buf, seed, len);
		p = buf;
		do {
			const uint8_t *was = p;

			ret = sdr_frame_next(&p, buf + len, &f);
			assert_true(p >= was && p <= buf + len);
			if (ret == 1) {
				assert_true(p > was);
				frame_sane(&f, buf, buf + len);
				good++;
				coded += f.type == SDR_FRAME_REC && f.rec.flags & SDR_REC_F_CODE;
				decoded +=
					f.type == SDR_FRAME_DACK && f.dack.flags & SDR_DACK_DECODED;
			} else if (ret) {
				assert_int_equal(ret, -EBADMSG);
			}
		} while (ret > 0);
		sdr_packet_decode(buf, len, &cid, &pn);
		sdr_hello_decode(buf, len, &h);
		sdr_retry_decode(buf, len, &y);
		free(buf);
	}
	/* the mutations must leave much intact, or the loop above tests nothing */
	assert_true(good > FUZZ_ITERATIONS / 2);
	assert_true(coded > FUZZ_ITERATIONS / 20);
	assert_true(decoded > FUZZ_ITERATIONS / 20);
}

static void fuzz__hello(void **state)
{
	uint8_t good[SDR_HELLO_LEN], *buf = malloc(SDR_HELLO_LEN - SDR_CLASS_LEN);
	struct sdr_hello h;
	uint32_t t, ok = 0;

	(void)state;
	assert_non_null(buf);
	hello_fill(&h);
	sdr_hello_encode(good, SDR_REL_HELLO, &h);
	for (t = 0; t < 200000; t++) {
		memcpy(buf, good + SDR_CLASS_LEN, SDR_HELLO_LEN - SDR_CLASS_LEN);
		buf[rng() % (SDR_HELLO_LEN - SDR_CLASS_LEN)] = (uint8_t)rng();
		if (!sdr_hello_decode(buf, SDR_HELLO_LEN - SDR_CLASS_LEN, &h) &&
		    h.status == SDR_HELLO_OK) {
			assert_true(h.ctl_max >= SDR_CTL_MIN && h.ctl_max <= SDR_CTL_MAX &&
				    h.seg_bytes);
			assert_true(!(h.codes & ~SDR_WIRE_CODE_KINDS));
			assert_true(!h.codes == !h.code_chunk);
			assert_in_range(h.code_syms, h.codes ? 2 : 0, SDR_CODE_SYMS_MAX);
			ok++;
		}
	}
	assert_in_range(ok, 1, 199999);
	free(buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello__round_trip),
		cmocka_unit_test(hello__refuses),
		cmocka_unit_test(hello__codes),
		cmocka_unit_test(retry__round_trip),
		cmocka_unit_test(packet__round_trip),
		cmocka_unit_test(ack__round_trip),
		cmocka_unit_test(ack__refuses),
		cmocka_unit_test(dack__round_trip),
		cmocka_unit_test(dack__sparse_is_short),
		cmocka_unit_test(dack__complete_and_room),
		cmocka_unit_test(dack__decoded),
		cmocka_unit_test(dack__refuses),
		cmocka_unit_test(rec__round_trip),
		cmocka_unit_test(rec__refuses),
		cmocka_unit_test(rec__code_layout),
		cmocka_unit_test(rec__code_refuses),
		cmocka_unit_test(frames__several_in_a_packet),
		cmocka_unit_test(fuzz__random_and_mutated_bytes),
		cmocka_unit_test(fuzz__hello),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
