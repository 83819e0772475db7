/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Frames with a length, known and not, and what acknowledgements may say of paths and marks: what
 * is encoded comes back, what is cut short is refused, what is not known is passed over and nothing
 * behind it is lost.
 */
#include "test_wire.h"
#include "wire/sdr_frame.h"

/* Alone in its packet; every shorter one is refused and reads nothing behind its end. */
static void one(const uint8_t *buf, size_t len, struct sdr_frame *f)
{
	struct sdr_frame cut;
	const uint8_t *p, *end;

	for (size_t i = 1; i < len; i++) {
		p = test_guard(buf, i);
		end = p + i;
		assert_int_equal(sdr_frame_next(&p, end, &cut), -EBADMSG);
		assert_ptr_equal(p, end - i);
	}
	p = test_guard(buf, len);
	end = p + len;
	memset(f, 0xee, sizeof(*f));
	assert_int_equal(sdr_frame_next(&p, end, f), 1);
	assert_ptr_equal(p, end);
	assert_int_equal(sdr_frame_next(&p, end, &cut), 0);
}

static void long__any_type_is_passed_over(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3, 0xff, 0x80 };
	uint8_t buf[64];
	struct sdr_frame f;
	size_t n;

	(void)state;
	for (uint32_t type = SDR_FRAME_LONG; type <= 0xff; type++) {
		if (type == SDR_FRAME_PATH_CHALLENGE || type == SDR_FRAME_PATH_RESPONSE ||
		    type == SDR_FRAME_DROPS || type == SDR_FRAME_SHAPE || type == SDR_FRAME_MARKS ||
		    type == SDR_FRAME_FAN)
			continue;
		for (uint16_t len = 0; len <= sizeof(bytes); len++) {
			n = sdr_frame_long_encode(buf, sizeof(buf), (uint8_t)type, bytes, len);
			assert_int_equal(n, SDR_FRAME_LONG_HDR + len);
			one(buf, n, &f);
			assert_int_equal(f.type, type);
			assert_int_equal(f.other.len, len);
			assert_memory_equal(f.other.bytes, bytes, len);
		}
	}
	assert_int_equal(sdr_frame_long_encode(buf, 7, 0x99, bytes, 5), 0);
	assert_int_equal(sdr_frame_long_encode(buf, sizeof(buf), 0x7f, bytes, 1), 0);
}

static void long__what_stands_behind_is_not_lost(void **state)
{
	uint8_t buf[64];
	struct sdr_frame_end e = { 77 };
	struct sdr_frame f;
	const uint8_t *p = buf;
	size_t n = 0;

	(void)state;
	n += sdr_frame_long_encode(buf, sizeof(buf), 0xab, "xyz", 3);
	n += sdr_frame_end_encode(buf + n, sizeof(buf) - n, &e);
	n += sdr_frame_long_encode(buf + n, sizeof(buf) - n, SDR_FRAME_PADDING, NULL, 9);
	n += sdr_frame_ping_encode(buf + n, sizeof(buf) - n);
	assert_int_equal(sdr_frame_next(&p, buf + n, &f), 1);
	assert_int_equal(f.type, 0xab);
	assert_int_equal(sdr_frame_next(&p, buf + n, &f), 1);
	assert_int_equal(f.type, SDR_FRAME_END);
	assert_int_equal(f.end.msn, 77);
	assert_int_equal(sdr_frame_next(&p, buf + n, &f), 1);
	assert_int_equal(f.type, SDR_FRAME_PADDING);
	assert_int_equal(sdr_frame_next(&p, buf + n, &f), 1);
	assert_int_equal(f.type, SDR_FRAME_PING);
	assert_int_equal(sdr_frame_next(&p, buf + n, &f), 0);
}

static void long__unknown_types_below_spoil_the_packet(void **state)
{
	uint8_t buf[32];
	struct sdr_frame f;

	(void)state;
	for (uint32_t type = SDR_FRAME_CLOSE + 1; type < SDR_FRAME_LONG; type++) {
		const uint8_t *p = buf;

		memset(buf, 0, sizeof(buf));
		buf[0] = (uint8_t)type;
		assert_int_equal(sdr_frame_next(&p, buf + sizeof(buf), &f), -EBADMSG);
		assert_ptr_equal(p, buf);
	}
}

/* By the type alone, so that both sides agree also about those that one of them does not know. */
static void long__the_type_says_what_wants_an_acknowledgement(void **state)
{
	(void)state;
	for (uint32_t type = SDR_FRAME_LONG; type <= 0xff; type++)
		assert_int_equal(sdr_frame_wants((uint8_t)type, 0), type >= 0xc0);
	assert_true(sdr_frame_wants(SDR_FRAME_PING, 0) && sdr_frame_wants(SDR_FRAME_END, 0));
	assert_true(sdr_frame_wants(SDR_FRAME_REC, 0));
	assert_true(sdr_frame_wants(SDR_FRAME_CLOSE, SDR_CLOSE_BYE));
	assert_false(sdr_frame_wants(SDR_FRAME_CLOSE, SDR_CLOSE_BYE_ACK));
	assert_false(sdr_frame_wants(SDR_FRAME_ACK, 0) || sdr_frame_wants(SDR_FRAME_DACK, 0));
	assert_false(sdr_frame_wants(SDR_FRAME_CREDIT, 0) || sdr_frame_wants(SDR_FRAME_PAD, 0));
}

static void path__round_trip(void **state)
{
	static const enum sdr_frame_type types[] = { SDR_FRAME_PATH_CHALLENGE,
						     SDR_FRAME_PATH_RESPONSE };
	struct sdr_frame_path in = { .path = 3, .data = { 1, 2, 3, 4, 5, 6, 7, 0xf8 } };
	uint8_t buf[32];
	struct sdr_frame f;
	const uint8_t *p;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sdr_frame_path_encode(buf, 11, types[i], &in), 0);
		assert_int_equal(sdr_frame_path_encode(buf, sizeof(buf), types[i], &in), 12);
		one(buf, 12, &f);
		assert_int_equal(f.type, types[i]);
		assert_int_equal(f.path.path, 3);
		assert_memory_equal(f.path.data, in.data, sizeof(in.data));
		buf[1] = 8; /* another length than it must have */
		p = buf;
		assert_int_equal(sdr_frame_next(&p, buf + 11, &f), -EBADMSG);
		buf[1] = 10;
		assert_int_equal(sdr_frame_next(&p, buf + 13, &f), -EBADMSG);
	}
}

static bool shape_taken(const struct sdr_frame_shape *in)
{
	uint8_t buf[256];
	struct sdr_frame f;
	const uint8_t *p = buf;
	size_t n = sdr_frame_shape_encode(buf, sizeof(buf), in);

	assert_int_equal(n, SDR_FRAME_LONG_HDR + SDR_FRAME_SHAPE_HEAD +
				    (in->info ? SDR_QP_INFO_LEN : 0));
	assert_int_equal(sdr_frame_shape_encode(buf, n - 1, in), 0);
	if (sdr_frame_next(&p, buf + n, &f) != 1)
		return false;
	assert_ptr_equal(p, buf + n);
	assert_int_equal(f.type, SDR_FRAME_SHAPE);
	assert_int_equal(f.shape.what, in->what);
	assert_int_equal(f.shape.n, in->n);
	assert_int_equal(f.shape.gen, in->gen);
	assert_int_equal(f.shape.limit, in->limit);
	assert_int_equal(f.shape.mtu, in->mtu);
	assert_int_equal(f.shape.seg_bytes, in->seg_bytes);
	assert_int_equal(f.shape.msn, in->msn);
	assert_int_equal(f.shape.info != NULL, in->info != NULL);
	if (in->info)
		assert_memory_equal(f.shape.info, in->info, SDR_QP_INFO_LEN);
	/* Another length than it must have. */
	for (int d = -1; d <= 1; d += 2) {
		buf[1] = (uint8_t)(n - SDR_FRAME_LONG_HDR + (size_t)d);
		p = buf;
		assert_int_equal(sdr_frame_next(&p, buf + n + d, &f), -EBADMSG);
	}
	return true;
}

static void shape__round_trip_and_bounds(void **state)
{
	uint8_t info[SDR_QP_INFO_LEN];
	struct sdr_frame_shape f[] = {
		{ SDR_SHAPE_LIMIT, 1, 0xfffe, 4096, 0, 0, 0, NULL },
		{ SDR_SHAPE_OFFER, 2, 1, SDR_EP_MTU_MIN, SDR_MTU_MAX, 1u << 30, 0, info },
		{ SDR_SHAPE_USE, 255, 1, SDR_MTU_MAX, SDR_EP_MTU_MIN, 1u << 20, 0xfffffff0, info },
		{ SDR_SHAPE_REFUSE, 0, 7, 1024, 4096, 0, 0, NULL },
	};

	(void)state;
	memset(info, 0xa5, sizeof(info));
	for (uint32_t i = 0; i < sizeof(f) / sizeof(*f); i++) {
		struct sdr_frame_shape bad = f[i];

		assert_true(shape_taken(&f[i]));
		bad.limit = SDR_EP_MTU_MIN - 1;
		assert_false(shape_taken(&bad));
		bad.limit = SDR_MTU_MAX + 1;
		assert_false(shape_taken(&bad));
		bad = f[i];
		bad.mtu = SDR_MTU_MAX + 1;
		assert_false(shape_taken(&bad));
		bad.mtu = i ? SDR_EP_MTU_MIN - 1 : SDR_EP_MTU_MIN;
		assert_false(shape_taken(&bad));
		bad = f[i];
		bad.msn = 1;
		assert_int_equal(shape_taken(&bad), f[i].what == SDR_SHAPE_USE);
		bad = f[i];
		bad.seg_bytes = 1;
		assert_int_equal(shape_taken(&bad), f[i].info != NULL);
	}
	f[0].what = SDR_SHAPE_REFUSE + 1;
	assert_false(shape_taken(&f[0]));
}

static const struct sdr_frame_ecn marks = { 100000, 0xffffffff, 7 };

/* Nothing of another length is one of that type. */
static void only_length(enum sdr_frame_type type, uint16_t its)
{
	uint8_t buf[16];
	struct sdr_frame f;

	for (uint16_t len = 0; len <= sizeof(buf) - SDR_FRAME_LONG_HDR; len++) {
		size_t n = sdr_frame_long_encode(buf, sizeof(buf), (uint8_t)type, NULL, len);
		const uint8_t *p = buf;

		assert_int_equal(sdr_frame_next(&p, buf + n, &f), len == its ? 1 : -EBADMSG);
	}
}

static void drops__round_trip(void **state)
{
	static const uint32_t counts[] = { 0, 1, 0x80000000, UINT32_MAX };
	uint8_t buf[16];
	struct sdr_frame f;
	size_t n;

	(void)state;
	for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		n = sdr_frame_drops_encode(buf, sizeof(buf),
					   &(struct sdr_frame_drops){ counts[i] });
		assert_int_equal(n, SDR_FRAME_LONG_HDR + 4);
		one(buf, n, &f);
		assert_int_equal(f.type, SDR_FRAME_DROPS);
		assert_int_equal(f.drops.count, counts[i]);
		assert_int_equal(sdr_frame_drops_encode(buf, n - 1, &f.drops), 0);
	}
	only_length(SDR_FRAME_DROPS, 4);
	assert_int_equal(sdr_frame_held_encode(buf, SDR_FRAME_LONG_HDR - 1), 0);
	assert_int_equal(sdr_frame_held_encode(buf, sizeof(buf)), SDR_FRAME_LONG_HDR);
}

static void fan__round_trip(void **state)
{
	static const struct sdr_frame_fan fans[] = { { 0, 0, 0 },
						     { 1, 0, 65536 },
						     { 0x0102, 0x03040506, 0x0708090a },
						     { UINT16_MAX, UINT32_MAX, UINT32_MAX } };
	uint8_t buf[16];
	struct sdr_frame f;
	size_t n;

	(void)state;
	for (uint32_t i = 0; i < sizeof(fans) / sizeof(fans[0]); i++) {
		n = sdr_frame_fan_encode(buf, sizeof(buf), &fans[i]);
		assert_int_equal(n, SDR_FRAME_LONG_HDR + SDR_FRAME_FAN_LEN);
		one(buf, n, &f);
		assert_int_equal(f.type, SDR_FRAME_FAN);
		assert_int_equal(f.fan.in, fans[i].in);
		assert_int_equal(f.fan.in_win, fans[i].in_win);
		assert_int_equal(f.fan.out_win, fans[i].out_win);
		assert_int_equal(sdr_frame_fan_encode(buf, n - 1, &f.fan), 0);
	}
	only_length(SDR_FRAME_FAN, SDR_FRAME_FAN_LEN);
}

static void marks__round_trip(void **state)
{
	struct sdr_frame_marks m = { 0 }, few;
	uint8_t buf[512];
	struct sdr_frame f;
	size_t n = 0, k;

	(void)state;
	assert_int_equal(sdr_frame_marks_encode(buf, sizeof(buf), &m), 0);
	while (m.n < SDR_FRAME_MARKS_MAX) {
		m.v[m.n].path = (uint8_t)(m.n + 1);
		m.v[m.n].ecn = (struct sdr_frame_ecn){ m.n ? 1u << (2 * m.n) : 0, m.n, ~m.n };
		few = m;
		m.n++;
		k = sdr_frame_marks_encode(buf, sizeof(buf), &m);
		one(buf, k, &f);
		assert_int_equal(f.type, SDR_FRAME_MARKS);
		assert_int_equal(f.marks.n, m.n);
		for (uint32_t i = 0; i < m.n; i++) {
			assert_int_equal(f.marks.v[i].path, i + 1);
			assert_memory_equal(&f.marks.v[i].ecn, &m.v[i].ecn, sizeof(m.v[i].ecn));
		}
		/* without room for the last one it stays away */
		assert_int_equal(sdr_frame_marks_encode(buf, k - 1, &m), n);
		assert_int_equal(sdr_frame_marks_encode(buf, sizeof(buf), &few), n);
		n = k;
	}
}

/* Paths that cannot be, are not in order or come twice; counts that are not whole. */
static void marks__malformed(void **state)
{
	static const struct {
		uint8_t len, bytes[12];
		bool good;
	} w[] = {
		{ 0, { 0 }, false },
		{ 1, { 1 }, false },
		{ 4, { 1, 0, 0, 0 }, true },
		{ 4, { 15, 0, 0, 0 }, true },
		{ 4, { 16, 0, 0, 0 }, false },
		{ 4, { 0, 0, 0, 0 }, false },
		{ 4, { 1, 0, 0, 0x80 }, false },
		{ 5, { 1, 0, 0, 0, 0 }, false },
		{ 8, { 1, 0, 0, 0, 2, 0, 0, 0 }, true },
		{ 8, { 2, 0, 0, 0, 2, 0, 0, 0 }, false },
		{ 8, { 2, 0, 0, 0, 1, 0, 0, 0 }, false },
		{ 7, { 1, 0, 0, 0, 2, 0, 0 }, false },
	};
	uint8_t buf[32];
	struct sdr_frame f;
	const uint8_t *p;
	size_t n;

	(void)state;
	for (uint32_t i = 0; i < sizeof(w) / sizeof(w[0]); i++) {
		n = sdr_frame_long_encode(buf, sizeof(buf), SDR_FRAME_MARKS, w[i].bytes, w[i].len);
		p = buf;
		assert_int_equal(sdr_frame_next(&p, buf + n, &f), w[i].good ? 1 : -EBADMSG);
	}
}

static void ack__path_and_marks(void **state)
{
	struct sdr_frame_ack a = { .delay_us = 9, .n = 2, .r = { { 90, 80 }, { 70, 1 } } };
	uint8_t buf[64];
	struct sdr_frame f;
	const uint8_t *p;
	size_t n, plain;

	(void)state;
	a.path = 200;
	a.ecn = marks;
	plain = sdr_frame_ack_encode(buf, sizeof(buf), &a);
	for (uint8_t flags = 0; flags <= 0x60; flags = (uint8_t)(flags + 0x20)) {
		a.flags = flags;
		n = plain + (flags & SDR_ACK_PATH ? 1u : 0) + (flags & SDR_ACK_ECN ? 9u : 0);
		assert_int_equal(sdr_frame_ack_encode(buf, n - 1, &a), 0);
		assert_int_equal(sdr_frame_ack_encode(buf, n, &a), n);
		one(buf, n, &f);
		assert_int_equal(f.ack.flags, flags);
		assert_int_equal(f.ack.n, 2);
		assert_int_equal(f.ack.r[1].lo, 1);
		assert_int_equal(f.ack.path, flags & SDR_ACK_PATH ? 200 : 0);
		assert_int_equal(f.ack.ecn.ect0, flags & SDR_ACK_ECN ? marks.ect0 : 0);
		assert_int_equal(f.ack.ecn.ect1, flags & SDR_ACK_ECN ? marks.ect1 : 0);
		assert_int_equal(f.ack.ecn.ce, flags & SDR_ACK_ECN ? marks.ce : 0);
	}
	buf[2] |= 0x80; /* a flag that means nothing */
	p = buf;
	assert_int_equal(sdr_frame_next(&p, buf + n, &f), -EBADMSG);
	a.flags = 0x80;
	assert_int_equal(sdr_frame_ack_encode(buf, sizeof(buf), &a), 0);
}

static void dack__path_and_marks(void **state)
{
	static const uint8_t how[] = { 0, SDR_DACK_GAP, SDR_DACK_COMPLETE,
				       SDR_DACK_COMPLETE | SDR_DACK_DECODED };
	uint64_t bits[2] = { ~6ull, 3 };
	uint8_t buf[128];
	struct sdr_frame f;
	const uint8_t *p;
	size_t n = 0, fixed;

	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		struct sdr_frame_dack d = { .msn = 5,
					    .cum = 1,
					    .base = 1,
					    .path = 4,
					    .ecn = marks,
					    .dec_pkts = 2,
					    .dec_chunks = 1 };

		d.flags = (uint8_t)(how[i / 4] | (i & 1 ? SDR_DACK_PATH : 0) |
				    (i & 2 ? SDR_DACK_ECN : 0));
		fixed = 32 + (d.flags & SDR_DACK_DECODED ? 8u : 0) + (i & 1) + (i & 2 ? 12u : 0);
		assert_int_equal(sdr_frame_dack_encode(buf, fixed - 1, &d, bits, 66), 0);
		n = sdr_frame_dack_encode(buf, sizeof(buf), &d, bits, 66);
		assert_int_equal(n, fixed + d.runs_len);
		one(buf, n, &f);
		assert_int_equal(f.dack.flags, d.flags);
		assert_int_equal(f.dack.end, d.end);
		assert_int_equal(f.dack.runs_len, d.runs_len);
		assert_memory_equal(f.dack.runs, d.runs, d.runs_len);
		assert_int_equal(f.dack.path, i & 1 ? 4 : 0);
		assert_int_equal(f.dack.ecn.ect0, i & 2 ? marks.ect0 : 0);
		assert_int_equal(f.dack.ecn.ect1, i & 2 ? marks.ect1 : 0);
		assert_int_equal(f.dack.ecn.ce, i & 2 ? marks.ce : 0);
		assert_int_equal(f.dack.dec_pkts, d.flags & SDR_DACK_DECODED ? 2 : 0);
	}
	for (uint32_t bad = 0x20; bad <= 0x80; bad <<= 1) {
		p = buf;
		buf[1] ^= (uint8_t)bad;
		assert_int_equal(sdr_frame_next(&p, buf + n, &f), -EBADMSG);
		buf[1] ^= (uint8_t)bad;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long__any_type_is_passed_over),
		cmocka_unit_test(long__what_stands_behind_is_not_lost),
		cmocka_unit_test(long__unknown_types_below_spoil_the_packet),
		cmocka_unit_test(long__the_type_says_what_wants_an_acknowledgement),
		cmocka_unit_test(path__round_trip),
		cmocka_unit_test(drops__round_trip),
		cmocka_unit_test(fan__round_trip),
		cmocka_unit_test(shape__round_trip_and_bounds),
		cmocka_unit_test(marks__round_trip),
		cmocka_unit_test(marks__malformed),
		cmocka_unit_test(ack__path_and_marks),
		cmocka_unit_test(dack__path_and_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
