/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bytes of everything that crosses the network, spelled out: the wire cannot change by
 * accident. A vector that no longer holds means another version, or a mistake; it is not to be
 * adapted.  Some are the examples of sdr-protocol(7).
 */
#include <stdio.h>
#include <stdlib.h>
#include "test_wire.h"
#include "wire/sdr_atomic.h"
#include "wire/sdr_cm_msg.h"
#include "wire/sdr_frame.h"
#include "wire/sdr_tag.h"
#include "wire/sdr_tlv.h"
#include "wire/sdr_version.h"

#define CID    0x0123456789abcdefull
#define COOKIE 0xfedcba9876543210ull

/* hex: two digits a byte, blanks between them where it helps. */
static size_t hex_bytes(const char *hex, uint8_t *out, size_t room)
{
	size_t n = 0;

	while (*hex) {
		char d[3] = { 0 };

		if (*hex == ' ') {
			hex++;
			continue;
		}
		assert_true(n < room && hex[1]);
		d[0] = *hex++;
		d[1] = *hex++;
		out[n++] = (uint8_t)strtoul(d, NULL, 16);
	}
	return n;
}

static void golden(const char *what, const uint8_t *p, size_t n, const char *hex)
{
	uint8_t want[SDR_CTL_MAX];
	size_t k = hex_bytes(hex, want, sizeof(want));

	/* cppcheck-suppress uninitvar ; the callers have encoded into p */
	if (n == k && !memcmp(p, want, n))
		return;
	fprintf(stderr, "%s:", what);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "%s%02x", i % 4 ? "" : " ", p[i]);
	fprintf(stderr, "\n");
	assert_int_equal(n, k);
	assert_memory_equal(p, want, n);
}

/* One frame: encodes to these bytes, and they decode to a frame of this type and nothing more. */
static void golden_frame(const char *what, const uint8_t *p, size_t n, uint8_t type,
			 const char *hex)
{
	const uint8_t *q = p;
	struct sdr_frame f;

	golden(what, p, n, hex);
	assert_int_equal(sdr_frame_next(&q, p + n, &f), 1);
	assert_int_equal(f.type, type);
	assert_ptr_equal(q, p + n);
}

static void golden__packets(void **state)
{
	static const struct sdr_wire_data d = { .qpn = 0x0a0011,
						.psn = 0x102,
						.va = 0xc002000,
						.rkey = 0x11223344,
						.len = 5,
						.imm = 0x00c00020 };
	static const struct sdr_wire_ctl c = { .qkey = 0x80010000, .psn = 7, .src_qpn = 1 };
	uint8_t p[64];

	(void)state;
	memset(p, 0, sizeof(p));
	sdr_wire_data_encode(p, &d);
	memcpy(p + SDR_DATA_HDR, "hello", 5);
	sdr_put_le32(p + 40,
		     sdr_icrc_update(sdr_icrc_headers(sdr_icrc_seed_masked(), p, SDR_DATA_HDR),
				     p + SDR_DATA_HDR, 8));
	golden("data packet", p, 44,
	       "2b70ffff 000a0011 00000102 00000000 0c002000 11223344 00000005 00c00020"
	       "68656c6c 6f000000 8b0fa6e3");
	sdr_wire_ctl_encode(p, &c, 61);
	golden("control datagram", p, SDR_CTL_HDR, "6470ffff 00000001 00000007 80010000 00000001");
}

static void golden__immediate(void **state)
{
	static const struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT, other = { 8, 22, 2 };

	(void)state;
	assert_int_equal(sdr_imm_pack(&split, 0x3ff, 0x12345, 0xa), 0xffd2345a);
	assert_int_equal(sdr_imm_pack(&split, 3, 2, 0), 0x00c00020);
	assert_int_equal(sdr_imm_pack(&other, 0x81, 0x200001, 3), 0x81800007);
	assert_int_equal(sdr_imm_frag(&split, 0x12345678, 1), 7);
	assert_int_equal(sdr_rkey_of_epoch(0x11223344, 2), 0x4d9126a6);
}

static void golden__class(void **state)
{
	static const struct sdr_tag tag = { .nonce = "nonce nonce",
					    .tag = "tag tag tag tag",
					    .key = 0x01020304 };
	uint8_t p[64], type;
	size_t n;

	(void)state;
	sdr_class_encode(p, SDR_CLASS_SDK, SDR_SDK_KEYS);
	golden("class sdk", p, 4, "5d020103");
	sdr_class_encode(p, SDR_CLASS_DGRAM, 1);
	golden("class dgram", p, 4, "5d020301");
	sdr_class_encode(p, SDR_CLASS_REL, SDR_REL_PACKET);
	golden("class rel", p, 4, "5d020204");
	p[2] |= SDR_CLASS_SEALED;
	n = 4 + sdr_tag_put(p + 4, &tag);
	golden("tag", p, n,
	       "5d028204 6e6f6e63 65206e6f 6e636500 74616720 74616720 74616720 74616700 04030201");
	assert_int_equal(sdr_class_decode(p, n, &type), -ENOKEY);
}

static const struct sdr_wire_qp_info info = {
	.qpn = 0x123456,
	.rkey = 0xcafebabe,
	.psn = 0xabcdef,
	.channels = 2,
	.generations = 4,
	.split = SDR_IMM_SPLIT_DEFAULT,
	.mtu = 4096,
	.chunk = 65536,
	.max_msg = 64u << 20,
	.rx_window = 212992,
	.addr_len = 7,
	.addr = { 4, 0x12, 0xb7, 192, 0, 2, 1 },
	.flags = SDR_QP_F_NIC,
	.ctl_qpn = 0x000b0a,
	.nports = 2,
	.port = { 0x1234, 60000 },
	.host = 0x1122334455667788,
};
#define INFO_HEX                                                                  \
	"51020204 0a120407 56341200 bebafeca efcdab00 00100000 00000100 00400300" \
	"00000004 00000000 0412b7c0 00020100 00000000 00000000 00000002 0a0b0000" \
	"01040012 34ea6002 08008877 66554433 22110000 00000000 00000000 00000000" \
	"00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000" \
	"00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000"

static void golden__sdk(void **state)
{
	static const struct sdr_wire_cts cts = { 0x0a0010, 0x11223344, 6 };
	static const struct sdr_wire_keys keys = { 0x0a0010, 0x11223344, 9, 7, 2, NULL };
	static const struct sdr_wire_key live = { 0x7f0012345000, 0x8004, SDR_KEY_LIVE };
	static const struct sdr_wire_key gone = { 0, 0, SDR_KEY_VOID };
	static const struct sdr_wire_app app = { 0x0a0010, 0x11223344, NULL, 0 };
	struct sdr_wire_app back;
	uint8_t p[SDR_QP_INFO_LEN];
	size_t n;

	(void)state;
	n = sdr_wire_cts_encode(p, &cts);
	golden("cts", p, n, "5d020101 10000a00 44332211 06000000");
	sdr_wire_app_encode(p, &app);
	memcpy(p + SDR_WIRE_APP_HDR, "nack", 4);
	golden("app", p, SDR_WIRE_APP_HDR + 4, "5d020104 10000a00 44332211 6e61636b");
	assert_int_equal(sdr_wire_app_decode(p + SDR_CLASS_LEN, 12, &back), 0);
	assert_true(back.qpn == app.qpn && back.rkey == app.rkey && back.len == 4);
	assert_ptr_equal(back.bytes, p + SDR_WIRE_APP_HDR);
	assert_int_equal(sdr_wire_app_decode(p + SDR_CLASS_LEN, 7, &back), -EBADMSG);
	p[SDR_CLASS_LEN + 3] = 1; /* a number of more than 24 bits */
	assert_int_equal(sdr_wire_app_decode(p + SDR_CLASS_LEN, 12, &back), -EBADMSG);
	n = sdr_wire_keys_encode(p, &keys);
	sdr_wire_key_put(p + SDR_WIRE_KEYS_HDR, &live);
	sdr_wire_key_put(p + SDR_WIRE_KEYS_HDR + SDR_WIRE_KEY_LEN, &gone);
	golden("keys", p, n,
	       "5d020103 10000a00 44332211 09000000 07000000 02000000"
	       "00503412 007f0000 04800000 01 00000000 00000000 00000000 02");
	sdr_wire_qp_info_encode(p, &info);
	golden("qp info", p, sizeof(p), INFO_HEX);
}

static void golden__dgram(void **state)
{
	static const struct sdr_dgram_to to = { 0x0a0010, 0x11223344 };
	static const struct sdr_dgram_write w = { .msn = 5,
						  .flags = SDR_DGRAM_F_DATA,
						  .key = 0x77,
						  .addr = 0x1000,
						  .len = 4,
						  .data = 0x0102030405060708 };
	struct sdr_dgram_write back;
	uint8_t p[SDR_DGRAM_INFO_LEN], qpi[SDR_QP_INFO_LEN];
	size_t n;

	(void)state;
	n = sdr_dgram_gone_encode(p, &to);
	golden("gone", p, n, "5d020305 10000a00 44332211");
	n = sdr_dgram_refuse_encode(p, &to, 19);
	golden("refuse", p, n, "5d020304 10000a00 44332211 13");
	n = sdr_dgram_sent_encode(p, &to, 6);
	golden("sent", p, n, "5d020308 10000a00 44332211 06000000");
	n = sdr_dgram_write_encode(p, &to, &w, false);
	golden("write", p, n,
	       "5d020306 10000a00 44332211 05000000 01000000 77000000 00000000"
	       "00100000 00000000 04000000 00000000 08070605 04030201");
	assert_int_equal(sdr_dgram_write_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN, false, &back),
			 0);
	assert_true(back.msn == 5 && back.len == 4 && back.addr == 0x1000 && back.key == 0x77);
	/* with bytes, or without where they are meant to be */
	assert_int_equal(sdr_dgram_write_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN, true, &back),
			 -EBADMSG);
	assert_int_equal(
		sdr_dgram_write_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN + 4, true, &back), 0);
	assert_int_equal(
		sdr_dgram_write_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN + 4, false, &back),
		-EBADMSG);
	p[SDR_CLASS_LEN + SDR_DGRAM_TO_LEN + 4] = 2; /* a flag that is not known */
	assert_int_equal(sdr_dgram_write_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN, false, &back),
			 -EBADMSG);
	memset(qpi, 0x5a, sizeof(qpi));
	n = sdr_dgram_info_encode(p, SDR_DGRAM_OPEN, &to, qpi);
	assert_int_equal(n, SDR_DGRAM_INFO_LEN);
	golden("open", p, 12, "5d020302 10000a00 44332211");
	assert_memory_equal(p + 12, qpi, sizeof(qpi));
	assert_ptr_equal(sdr_dgram_info_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN), p + 12);
	assert_null(sdr_dgram_info_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN - 1));
}

static void golden__handshake(void **state)
{
	static const struct sdr_hello_addr addr[] = { { .port = 0x1234 },
						      { 4, 0x1235, { 192, 0, 2, 7 } },
						      { 6, 0x1236, { 0xfd, 9 } } };
	static const struct sdr_retry r = { CID, COOKIE };
	static const struct sdr_version v = { CID, 2, 5 };
	uint8_t p[SDR_HELLO_LEN + 128], ext[128], a[64];
	struct sdr_hello h;
	size_t n = 0, k;

	(void)state;
	for (int i = 0; i < 3; i++)
		n += sdr_hello_addr_put(a + n, sizeof(a) - n, &addr[i]);
	k = sdr_tlv_put(ext, sizeof(ext), SDR_HELLO_ADDRESSES, a, (uint16_t)n);
	sdr_put_le32(a, 8204);
	k += sdr_tlv_put(ext + k, sizeof(ext) - k, SDR_HELLO_PROBE_MAX, a, 4);
	sdr_put_le32(a, 123956);
	k += sdr_tlv_put(ext + k, sizeof(ext) - k, SDR_HELLO_CAME, a, 4);
	n = sdr_hello_addr_put(a, sizeof(a), &addr[0]);
	k += sdr_tlv_put(ext + k, sizeof(ext) - k, SDR_HELLO_SOURCES, a, (uint16_t)n);
	sdr_hello_init(&h);
	h.instance = 0x1111111122222222;
	h.cid = CID;
	h.echo = 0x3333333344444444;
	h.cookie = COOKIE;
	h.status = SDR_HELLO_OK;
	h.ctl_max = 4096;
	h.features = SDR_FEATURE_PATHS | SDR_FEATURE_ECN | SDR_FEATURE_PROBE;
	h.seg_bytes = 64u << 20;
	h.msn_limit = 1024;
	h.mseq_limit = 0xfffffff0;
	h.ts_us = 123456;
	h.qp = info;
	h.codes = SDR_WIRE_CODE_KINDS;
	h.code_syms = 256;
	h.code_chunk = 16u << 20;
	h.ext = ext;
	h.ext_len = (uint32_t)k;
	golden("hello", p, sdr_hello_encode(p, SDR_REL_HELLO_ACK, &h),
	       "5d020202 22222222 11111111 efcdab89 67452301 44444444 33333333 10325476 98badcfe"
	       "02020000 00100000 07000000 00000000 00000004 00040000 f0ffffff 40e20100" INFO_HEX
	       "06000001 00000001 01 1d00 00 1234 04 1235 c0000207 06 1236 fd090000 00000000"
	       "00000000 00000000 02 0400 0c200000 06 0400 34e40100 07 0300 00 1234");
	assert_int_equal(sdr_hello_decode(p + 4, SDR_HELLO_LEN - 4 + k, &h), 0);
	golden("retry", p, sdr_retry_encode(p, SDR_REL_RETRY, &r),
	       "5d020203 efcdab89 67452301 10325476 98badcfe");
	golden("reset", p, sdr_retry_encode(p, SDR_REL_RESET, &r),
	       "5d020205 efcdab89 67452301 10325476 98badcfe");
	golden("version", p, sdr_version_encode(p, &v),
	       "5d020206 efcdab89 67452301 02050000 00000000");
	golden("packet", p, sdr_packet_encode(p, CID, 16), "5d020204 efcdab89 67452301 10000000");
}

static void golden__acknowledgements(void **state)
{
	struct sdr_frame_ack a = { .delay_us = 300,
				   .n = 2,
				   .r = { { 0x2a, 0x28 }, { 0x25, 0x25 } } };
	struct sdr_frame_dack d = { .flags = SDR_DACK_GAP,
				    .msn = 7,
				    .cum = 10,
				    .base = 10,
				    .echo = 99,
				    .echo_delay_us = 50 };
	struct sdr_frame_dack c = { .flags = SDR_DACK_COMPLETE | SDR_DACK_DECODED,
				    .msn = 9,
				    .echo = 767,
				    .echo_delay_us = 80,
				    .dec_pkts = 12,
				    .dec_chunks = 3 };
	uint64_t bits[2] = { ~(3ull << 10 | 1ull << 40), ~0ull };
	uint8_t p[128];

	(void)state;
	golden_frame("ack", p, sdr_frame_ack_encode(p, sizeof(p), &a), SDR_FRAME_ACK,
		     "01 ac02 02 2a000000 02 02 00");
	a.flags = SDR_ACK_ECN;
	a.ecn = (struct sdr_frame_ecn){ 300, 0, 5 };
	golden_frame("ack with marks", p, sdr_frame_ack_encode(p, sizeof(p), &a), SDR_FRAME_ACK,
		     "01 ac02 42 2a000000 02 02 00 ac02 00 05");
	a.flags |= SDR_ACK_PATH;
	a.path = 3;
	golden_frame("ack of a path", p, sdr_frame_ack_encode(p, sizeof(p), &a), SDR_FRAME_ACK,
		     "01 ac02 62 2a000000 02 02 00 03 ac02 00 05");
	golden_frame("dack", p, sdr_frame_dack_encode(p, sizeof(p), &d, bits, 100), SDR_FRAME_DACK,
		     "02020400 07000000 0a000000 0a000000 64000000 63000000 32000000 00000000"
		     "021c013b");
	d.flags |= SDR_DACK_PATH | SDR_DACK_ECN;
	d.path = 1;
	d.ecn = (struct sdr_frame_ecn){ 300, 0, 5 };
	golden_frame("dack of a path", p, sdr_frame_dack_encode(p, sizeof(p), &d, bits, 100),
		     SDR_FRAME_DACK,
		     "021a0400 07000000 0a000000 0a000000 64000000 63000000 32000000 00000000"
		     "01 2c010000 00000000 05000000 021c013b");
	golden_frame("dack complete", p, sdr_frame_dack_encode(p, sizeof(p), &c, NULL, 0),
		     SDR_FRAME_DACK,
		     "02050000 09000000 00000000 00000000 00000000 ff020000 50000000 00000000"
		     "0c000000 03000000");
}

static void golden__frames(void **state)
{
	static const struct sdr_frame_credit cr = { 1024, 2048 };
	static const struct sdr_frame_end e = { 0x01020304 };
	static const struct sdr_frame_close bye = { SDR_CLOSE_BYE }, ack = { SDR_CLOSE_BYE_ACK };
	static const struct sdr_frame_drops drops = { 0x01020304 };
	static const struct sdr_frame_fan fan = { 0x0102, 0x03040506, 0x0708090a };
	static const struct sdr_frame_marks marks = {
		2, { { 1, { 300, 0, 5 } }, { 9, { 0, 0, 1 } } }
	};
	static const struct sdr_frame_path path = { 2, { 1, 2, 3, 4, 5, 6, 7, 8 } };
	static const struct sdr_frame_shape limit = { SDR_SHAPE_LIMIT, 1, 2, 4096, 0, 0, 0, NULL };
	static const struct sdr_frame_shape refuse = {
		.what = SDR_SHAPE_REFUSE, .n = 9, .gen = 0x0102, .limit = 1400, .mtu = 8192
	};
	uint8_t p[64];

	(void)state;
	golden_frame("credit", p, sdr_frame_credit_encode(p, sizeof(p), &cr), SDR_FRAME_CREDIT,
		     "03 00040000 00080000");
	golden_frame("ping", p, sdr_frame_ping_encode(p, sizeof(p)), SDR_FRAME_PING, "04");
	golden_frame("end", p, sdr_frame_end_encode(p, sizeof(p), &e), SDR_FRAME_END,
		     "05 04030201");
	golden_frame("close", p, sdr_frame_close_encode(p, sizeof(p), &bye), SDR_FRAME_CLOSE,
		     "07 0100");
	golden_frame("close ack", p, sdr_frame_close_encode(p, sizeof(p), &ack), SDR_FRAME_CLOSE,
		     "07 0200");
	golden_frame("padding", p, sdr_frame_long_encode(p, sizeof(p), SDR_FRAME_PADDING, NULL, 3),
		     SDR_FRAME_PADDING, "80 0300 000000");
	golden_frame("path response", p,
		     sdr_frame_path_encode(p, sizeof(p), SDR_FRAME_PATH_RESPONSE, &path),
		     SDR_FRAME_PATH_RESPONSE, "81 0900 02 0102030405060708");
	golden_frame("held", p, sdr_frame_held_encode(p, sizeof(p)), SDR_FRAME_HELD, "82 0000");
	golden_frame("aside", p, sdr_frame_aside_encode(p, sizeof(p)), SDR_FRAME_ASIDE, "84 0000");
	golden_frame("drops", p, sdr_frame_drops_encode(p, sizeof(p), &drops), SDR_FRAME_DROPS,
		     "83 0400 04030201");
	golden_frame("marks", p, sdr_frame_marks_encode(p, sizeof(p), &marks), SDR_FRAME_MARKS,
		     "85 0900 01 ac02 00 05 09 00 00 01");
	golden_frame("fan", p, sdr_frame_fan_encode(p, sizeof(p), &fan), SDR_FRAME_FAN,
		     "86 0a00 0201 06050403 0a090807");
	golden_frame("path challenge", p,
		     sdr_frame_path_encode(p, sizeof(p), SDR_FRAME_PATH_CHALLENGE, &path),
		     SDR_FRAME_PATH_CHALLENGE, "c0 0900 02 0102030405060708");
	golden_frame("shape, limit", p, sdr_frame_shape_encode(p, sizeof(p), &limit),
		     SDR_FRAME_SHAPE, "c1 1400 00 01 0200 00100000 00000000 00000000 00000000");
	golden_frame("shape, refused", p, sdr_frame_shape_encode(p, sizeof(p), &refuse),
		     SDR_FRAME_SHAPE, "c1 1400 03 09 0201 78050000 00200000 00000000 00000000");
	golden_frame("of a later version", p, sdr_frame_long_encode(p, sizeof(p), 0xfe, "later", 5),
		     0xfe, "fe 0500 6c61746572");
}

/* Each operation with the fields that it has. */
static const struct {
	const char *what;
	struct sdr_frame_rec rec;
	const char *hex;
} recs[] = {
	{ "send",
	  { .op = SDR_REC_SEND,
	    .flags = SDR_REC_F_ORDER | SDR_REC_F_DATA | SDR_REC_F_DELIVERY,
	    .rseq = 5,
	    .id = 0x00100002,
	    .mseq = 6,
	    .data = 7,
	    .payload_len = 3,
	    .payload = (const uint8_t *)"abc" },
	  "06 01 c400 0300 05000000 02001000 06000000 0700000000000000 616263" },
	{ "send, void",
	  { .op = SDR_REC_SEND,
	    .flags = SDR_REC_F_ORDER | SDR_REC_F_STATUS,
	    .rseq = 5,
	    .id = 2,
	    .mseq = 6,
	    .status = SDR_WIRE_STATUS_CANCELED },
	  "06 01 6000 0000 05000000 02000000 06000000 0800" },
	{ "tsend",
	  { .op = SDR_REC_TSEND,
	    .flags = SDR_REC_F_ORDER | SDR_REC_F_TAG,
	    .rseq = 5,
	    .id = 0x00100002,
	    .mseq = 5,
	    .tag = 0x77,
	    .payload_len = 8,
	    .payload = (const uint8_t *)"12345678" },
	  "06 02 4200 0800 05000000 02001000 05000000 7700000000000000 3132333435363738" },
	{ "tsend, announced",
	  { .op = SDR_REC_TSEND,
	    .flags = SDR_REC_F_ORDER | SDR_REC_F_TAG | SDR_REC_F_LEN | SDR_REC_F_BULK,
	    .rseq = 6,
	    .id = 0x00100003,
	    .mseq = 6,
	    .len = 64u << 20,
	    .tag = 0x77,
	    .msn = 9 },
	  "06 02 4b00 0000 06000000 03001000 06000000 0000000400000000 7700000000000000"
	  "09000000" },
	{ "write",
	  { .op = SDR_REC_WRITE,
	    .flags = SDR_REC_F_RMA | SDR_REC_F_LEN | SDR_REC_F_BULK,
	    .rseq = 1,
	    .id = 2,
	    .len = 0x10000,
	    .msn = 3,
	    .addr = 0x1000,
	    .key = 0x99 },
	  "06 03 1900 0000 01000000 02000000 0000010000000000 03000000 0010000000000000"
	  "9900000000000000" },
	{ "read of a device",
	  { .op = SDR_REC_READ,
	    .flags = SDR_REC_F_RMA | SDR_REC_F_LEN | SDR_REC_F_KEY,
	    .rseq = 1,
	    .id = 2,
	    .len = 0x10000,
	    .addr = 0x1000,
	    .key = 0x99,
	    .va = 0x7f0012345000,
	    .rkey = 0x8004 },
	  "06 04 1101 0000 01000000 02000000 0000010000000000 0010000000000000"
	  "9900000000000000 00503412007f0000 04800000" },
	{ "read response, refused",
	  { .op = SDR_REC_READ_RSP,
	    .flags = SDR_REC_F_STATUS,
	    .rseq = 1,
	    .id = 2,
	    .status = SDR_WIRE_STATUS_KEY },
	  "06 05 2000 0000 01000000 02000000 0600" },
	{ "write, leads and follows",
	  { .op = SDR_REC_WRITE,
	    .flags = SDR_REC_F_RMA | SDR_REC_F_LEAD | SDR_REC_F_FOLLOW,
	    .rseq = 8,
	    .id = 3,
	    .addr = 0x40,
	    .key = 0x63,
	    .turn = 0x01020304,
	    .payload_len = 4,
	    .payload = (const uint8_t *)"flag" },
	  "06 03 100c 0400 08000000 03000000 4000000000000000 6300000000000000 04030201"
	  "666c6167" },
	{ "tsend, follows",
	  { .op = SDR_REC_TSEND,
	    .flags = SDR_REC_F_ORDER | SDR_REC_F_TAG | SDR_REC_F_FOLLOW,
	    .rseq = 9,
	    .id = 4,
	    .mseq = 5,
	    .tag = 0x77,
	    .turn = 6 },
	  "06 02 4208 0000 09000000 04000000 05000000 7700000000000000 06000000" },
	{ "bind, with parity",
	  { .op = SDR_REC_BIND,
	    .flags = SDR_REC_F_LEN | SDR_REC_F_BULK | SDR_REC_F_CODE,
	    .rseq = 7,
	    .id = 0x00100003,
	    .len = 3u << 20,
	    .msn = 9,
	    .code = { .kind = SDR_WIRE_CODE_MDS,
		      .flags = SDR_WIRE_CODE_F_INTERLEAVE,
		      .k = 32,
		      .m = 8,
		      .chunk = 65536,
		      .seg = 64u << 20 } },
	  "06 06 0902 0000 07000000 03001000 0000300000000000 09000000"
	  "02 01 2000 0800 0000 00000100 00000004 0000000000000000" },
	{ "cts",
	  { .op = SDR_REC_CTS,
	    .flags = SDR_REC_F_STATUS,
	    .rseq = 1,
	    .id = 2,
	    .status = SDR_WIRE_CTS_EXPECTED },
	  "06 07 2000 0000 01000000 02000000 0100" },
	{ "park",
	  { .op = SDR_REC_PARK, .flags = SDR_REC_F_BULK, .rseq = 1, .id = 2, .msn = 3 },
	  "06 08 0800 0000 01000000 02000000 03000000" },
	{ "done",
	  { .op = SDR_REC_DONE, .flags = SDR_REC_F_STATUS, .rseq = 1, .id = 2, .status = -2 },
	  "06 09 2000 0000 01000000 02000000 feff" },
	{ "atomic",
	  { .op = SDR_REC_ATOMIC,
	    .flags = SDR_REC_F_RMA,
	    .rseq = 1,
	    .id = 2,
	    .addr = 0x40,
	    .key = 0x63,
	    .payload_len = 20,
	    .payload = (const uint8_t *)"\x02\x07\x01\0\x01\0\0\0\0\0\0\0\x05\0\0\0\0\0\0" },
	  "06 0a 1000 1400 01000000 02000000 4000000000000000 6300000000000000"
	  "02 07 01 00 01000000 00000000 0500000000000000" },
	{ "atomic rsp",
	  { .op = SDR_REC_ATOMIC_RSP,
	    .rseq = 1,
	    .id = 2,
	    .payload_len = 8,
	    .payload = (const uint8_t *)"\x07\0\0\0\0\0\0" },
	  "06 0b 0000 0800 01000000 02000000 0700000000000000" },
	{ "atomic end",
	  { .op = SDR_REC_ATOMIC_END,
	    .flags = SDR_REC_F_LEN | SDR_REC_F_TAG | SDR_REC_F_RMA,
	    .rseq = 1,
	    .id = 2,
	    .len = 4096,
	    .tag = SDR_ATOMIC_FETCH,
	    .addr = 0x40,
	    .key = 0x63 },
	  "06 0c 1300 0000 01000000 02000000 0010000000000000 0100000000000000"
	  "4000000000000000 6300000000000000" },
	{ "call",
	  { .op = SDR_REC_CALL,
	    .rseq = 1,
	    .id = 2,
	    .payload_len = 3,
	    .payload = (const uint8_t *)"abc" },
	  "06 10 0000 0300 01000000 02000000 616263" },
	{ "berth",
	  { .op = SDR_REC_BERTH,
	    .flags = SDR_REC_F_LEN | SDR_REC_F_KEY,
	    .rseq = 1,
	    .id = 2,
	    .len = 4096,
	    .va = 0x1122,
	    .rkey = 0x33445566 },
	  "06 11 0101 0000 01000000 02000000 0010000000000000 2211000000000000 66554433" },
	{ "berth taken back",
	  { .op = SDR_REC_BERTH,
	    .flags = SDR_REC_F_LEN | SDR_REC_F_STATUS,
	    .rseq = 1,
	    .id = 2,
	    .status = SDR_WIRE_STATUS_CANCELED },
	  "06 11 2100 0000 01000000 02000000 0000000000000000 0800" },
	{ "send to a berth",
	  { .op = SDR_REC_SEND,
	    .flags = SDR_REC_F_ORDER | SDR_REC_F_LEN | SDR_REC_F_BULK | SDR_REC_F_LEAD |
		     SDR_REC_F_BERTH,
	    .rseq = 1,
	    .id = 2,
	    .mseq = 3,
	    .len = 4096,
	    .msn = 4,
	    .turn = 5,
	    .berth = 6 },
	  "06 01 4914 0000 01000000 02000000 03000000 0010000000000000 04000000 05000000 06000000" },
	{ "send, its head to a berth",
	  { .op = SDR_REC_SEND,
	    .flags = SDR_REC_F_ORDER | SDR_REC_F_LEN | SDR_REC_F_BULK | SDR_REC_F_BERTH |
		     SDR_REC_F_HEAD,
	    .rseq = 1,
	    .id = 2,
	    .mseq = 3,
	    .len = 4096,
	    .msn = 4,
	    .berth = 6,
	    .head = 256 },
	  "06 01 4930 0000 01000000 02000000 03000000 0010000000000000 04000000 06000000"
	  "0001000000000000" },
	{ "the rest of it",
	  { .op = SDR_REC_CTS,
	    .flags = SDR_REC_F_KEY | SDR_REC_F_STATUS | SDR_REC_F_HEAD,
	    .rseq = 1,
	    .id = 2,
	    .status = 1,
	    .va = 0x1122,
	    .rkey = 0x33445566,
	    .head = 256 },
	  "06 07 2021 0000 01000000 02000000 0100 2211000000000000 66554433 0001000000000000" },
};

/* The header in the payload of an atomic, and every number in it. */
static void golden__atomics(void **state)
{
	static const struct sdr_atomic swap = { .op = SDR_ATOMIC_CSWAP,
						.type = SDR_ATOMIC_UINT16,
						.form = SDR_ATOMIC_COMPARE,
						.count = 2,
						.first = 0x180 };
	uint8_t p[SDR_ATOMIC_HDR + 8] = { [SDR_ATOMIC_HDR] = 1, 0, 2, 0, 3, 0, 4, 0 };
	struct sdr_atomic a;

	(void)state;
	sdr_atomic_put(p, &swap);
	golden("atomic header", p, sizeof(p), "0c030200 02000000 80010000 01000200 03000400");
	assert_true(sdr_atomic_get(p, sizeof(p), &a) && a.known);
	assert_true(a.op == swap.op && a.type == swap.type && a.form == swap.form);
	assert_true(a.count == swap.count && a.first == swap.first);
	assert_ptr_equal(a.in, p + SDR_ATOMIC_HDR);
	assert_ptr_equal(a.cmp, p + SDR_ATOMIC_HDR + 4);
	assert_false(sdr_atomic_get(p, sizeof(p) - 1, &a));
	assert_true(SDR_ATOMIC_MIN == 0 && SDR_ATOMIC_MAX == 1 && SDR_ATOMIC_SUM == 2 &&
		    SDR_ATOMIC_PROD == 3 && SDR_ATOMIC_LOR == 4 && SDR_ATOMIC_LAND == 5 &&
		    SDR_ATOMIC_BOR == 6 && SDR_ATOMIC_BAND == 7 && SDR_ATOMIC_LXOR == 8 &&
		    SDR_ATOMIC_BXOR == 9 && SDR_ATOMIC_READ == 10 && SDR_ATOMIC_WRITE == 11);
	assert_true(SDR_ATOMIC_CSWAP == 12 && SDR_ATOMIC_CSWAP_NE == 13 &&
		    SDR_ATOMIC_CSWAP_LE == 14 && SDR_ATOMIC_CSWAP_LT == 15 &&
		    SDR_ATOMIC_CSWAP_GE == 16 && SDR_ATOMIC_CSWAP_GT == 17 &&
		    SDR_ATOMIC_MSWAP == 18 && SDR_ATOMIC_DIFF == 19 && SDR_ATOMIC_OPS == 20);
	assert_true(SDR_ATOMIC_INT8 == 0 && SDR_ATOMIC_UINT64 == 7 && SDR_ATOMIC_FLOAT == 8 &&
		    SDR_ATOMIC_DOUBLE == 9 && SDR_ATOMIC_FLOAT_COMPLEX == 10 &&
		    SDR_ATOMIC_DOUBLE_COMPLEX == 11 && SDR_ATOMIC_X87 == 12 &&
		    SDR_ATOMIC_X87_COMPLEX == 13 && SDR_ATOMIC_INT128 == 14 &&
		    SDR_ATOMIC_UINT128 == 15 && SDR_ATOMIC_BINARY128 == 16 &&
		    SDR_ATOMIC_BINARY128_COMPLEX == 17 && SDR_ATOMIC_FLOAT16 == 18 &&
		    SDR_ATOMIC_BFLOAT16 == 19 && SDR_ATOMIC_E4M3 == 20 && SDR_ATOMIC_E5M2 == 21 &&
		    SDR_ATOMIC_TYPES == 22);
	assert_true(SDR_ATOMIC_UPDATE == 0 && SDR_ATOMIC_FETCH == 1 && SDR_ATOMIC_COMPARE == 2);
}

static void golden__records(void **state)
{
	uint8_t p[128];

	(void)state;
	for (uint32_t i = 0; i < sizeof(recs) / sizeof(recs[0]); i++)
		golden_frame(recs[i].what, p, sdr_frame_rec_encode(p, sizeof(p), &recs[i].rec),
			     SDR_FRAME_REC, recs[i].hex);
}

static void golden__connections(void **state)
{
	static const struct {
		const char *what;
		struct sdr_cm_msg m;
		const char *hex;
	} v[] = {
		{ "request",
		  { SDR_CM_REQUEST, 3, 0x0123456789abcdefull, (const uint8_t *)"abc" },
		  "01 00 0300 efcdab8967452301 616263" },
		{ "accept", { SDR_CM_ACCEPT, 0, 7, NULL }, "02 00 0000 0700000000000000" },
		{ "reject",
		  { SDR_CM_REJECT, 1, 7, (const uint8_t *)"x" },
		  "03 00 0100 0700000000000000 78" },
	};
	struct sdr_cm_msg m;
	uint8_t p[SDR_CM_MSG_MAX + 1] = { 0 };
	size_t n;

	(void)state;
	for (uint32_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		n = sdr_cm_encode(p, &v[i].m);
		golden(v[i].what, p, n, v[i].hex);
		assert_int_equal(sdr_cm_decode(p, n, &m), 0);
		assert_int_equal(m.kind, v[i].m.kind);
		assert_int_equal(m.len, v[i].m.len);
		assert_true(m.call == v[i].m.call);
		assert_memory_equal(m.data, v[i].m.data ? v[i].m.data : p, m.len);
		for (size_t cut = 0; cut < n; cut++)
			assert_int_equal(sdr_cm_decode(p, cut, &m), -EBADMSG);
		assert_int_equal(sdr_cm_decode(p, n + 1, &m), -EBADMSG);
	}
	p[1] = 1;
	assert_int_equal(sdr_cm_decode(p, n, &m), -EBADMSG);
	p[1] = 0;
	p[0] = 0;
	assert_int_equal(sdr_cm_decode(p, n, &m), -EBADMSG);
	p[0] = SDR_CM_KINDS;
	assert_int_equal(sdr_cm_decode(p, n, &m), -EBADMSG);
	p[0] = SDR_CM_REQUEST;
	sdr_put_le16(p + 2, SDR_CM_DATA_MAX + 1);
	assert_int_equal(sdr_cm_decode(p, SDR_CM_MSG_MAX + 1, &m), -EBADMSG);
	sdr_put_le16(p + 2, SDR_CM_DATA_MAX);
	assert_int_equal(sdr_cm_decode(p, SDR_CM_MSG_MAX, &m), 0);
}

/* Numbers that stand for a cause or a kind. */
static void golden__numbers(void **state)
{
	(void)state;
	assert_int_equal(SDR_WIRE_VERSION, 2);
	assert_true(SDR_WIRE_STATUS_OK == 0 && SDR_WIRE_STATUS_KEY == 6);
	assert_true(SDR_WIRE_STATUS_TRUNC == 7 && SDR_WIRE_STATUS_CANCELED == 8);
	assert_true(SDR_WIRE_STATUS_NOMEM == 9 && SDR_WIRE_STATUS_ENGINE == 10);
	assert_true(SDR_WIRE_STATUS_REG == 12 && SDR_WIRE_STATUS_PROTO == 13);
	assert_true(SDR_WIRE_STATUS_CODE == 15 && SDR_WIRE_STATUS_UNSUPPORTED == 19);
	assert_true(SDR_WIRE_STATUS_ALIGN == 20 && SDR_FEATURE_ATOMIC == 0x20);
	assert_true(SDR_WIRE_STATUS_MEM == 21 && SDR_WIRE_STATUS_NOBODY == 22);
	assert_true(SDR_FEATURE_CALL == 0x80);
	assert_true(SDR_HELLO_OK == 0 && SDR_HELLO_REFUSED_GEOMETRY == 1);
	assert_true(SDR_HELLO_REFUSED_LIMIT == 2 && SDR_HELLO_REFUSED_PATH == 3);
	assert_true(SDR_WIRE_CODE_XOR == 1 && SDR_WIRE_CODE_MDS == 2);
	assert_true(SDR_WIRE_CODE_F_INTERLEAVE == 1 && SDR_WIRE_CODE_F_CHUNK == 2);
	assert_true(SDR_QP_INFO_PORTS == 1 && SDR_HELLO_ADDRESSES == 1);
	assert_true(SDR_HELLO_PROBE_MAX == 2 && SDR_HELLO_SEEN == 3 && SDR_HELLO_CAME == 6);
	assert_true(SDR_HELLO_SOURCES == 7 && SDR_FEATURE_MULTIPATH == 0x100);
	assert_true(SDR_FEATURE_BERTH == 0x200 && SDR_FEATURE_MARKS == 0x400);
	assert_true(SDR_FEATURE_SIZES == 0x800 && SDR_FEATURE_HEAD == 0x1000);
	assert_true(SDR_FRAME_LONG == 0x80 && SDR_FRAME_WANTS == 0x40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden__packets),     cmocka_unit_test(golden__immediate),
		cmocka_unit_test(golden__class),       cmocka_unit_test(golden__sdk),
		cmocka_unit_test(golden__dgram),       cmocka_unit_test(golden__handshake),
		cmocka_unit_test(golden__frames),      cmocka_unit_test(golden__acknowledgements),
		cmocka_unit_test(golden__records),     cmocka_unit_test(golden__atomics),
		cmocka_unit_test(golden__connections), cmocka_unit_test(golden__numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
