/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Datagrams of the reliable endpoint: HELLO, RETRY, the packet header and every frame.  The first input byte
 * chooses the decoder.  What is accepted stays inside the input, its run lengths stay inside what they
 * describe, and what encodes again (ACK, CREDIT, END, records) gives the same fields back.
 */
#include "fuzz.h"
#include "../../prov/sdr/wire/sdr_frame.h"

static void fuzz_hello(const uint8_t *p, size_t n)
{
	uint8_t back[SDR_HELLO_LEN];
	struct sdr_hello h;

	if (sdr_hello_decode(p, n, &h) || h.status)
		return;
	SDR_FUZZ_CHECK(n == SDR_HELLO_LEN - SDR_CLASS_LEN);
	SDR_FUZZ_CHECK(h.ctl_max >= SDR_CTL_MIN && h.ctl_max <= SDR_CTL_MAX && h.seg_bytes);
	SDR_FUZZ_CHECK(sdr_hello_encode(back, SDR_REL_HELLO, &h) == SDR_HELLO_LEN);
	SDR_FUZZ_CHECK(memcmp(back + SDR_CLASS_LEN, p, n) == 0);
}

static void fuzz_retry(const uint8_t *p, size_t n)
{
	struct sdr_retry r;
	uint64_t cid;
	uint32_t pn;

	if (!sdr_retry_decode(p, n, &r))
		SDR_FUZZ_CHECK(n == SDR_RETRY_LEN - SDR_CLASS_LEN);
	if (!sdr_packet_decode(p, n, &cid, &pn))
		SDR_FUZZ_CHECK(n >= SDR_PACKET_HDR - SDR_CLASS_LEN);
}

static void check_dack(const struct sdr_frame_dack *f)
{
	struct sdr_dack_iter it = { 0, f->base };
	uint32_t first, n, at = f->base;
	int ret;

	SDR_FUZZ_CHECK(f->cum <= f->base && f->base <= f->end);
	while ((ret = sdr_frame_dack_next(f, &it, &first, &n)) > 0) {
		SDR_FUZZ_CHECK(first >= at && first + n <= f->end && first + n >= first);
		at = first + n;
	}
	SDR_FUZZ_CHECK(ret == 0);
}

static void check_rec(const struct sdr_frame_rec *f, const uint8_t *lo, const uint8_t *hi)
{
	uint8_t buf[SDR_REC_HDR_MAX + SDR_CTL_MAX];
	const uint8_t *q = buf;
	struct sdr_frame again;
	size_t k;

	SDR_FUZZ_CHECK(f->payload_len <= SDR_CTL_MAX);
	if (f->payload_len)
		SDR_FUZZ_CHECK(f->payload >= lo && f->payload + f->payload_len <= hi);
	k = sdr_frame_rec_encode(buf, sizeof(buf), f);
	SDR_FUZZ_CHECK(k && k <= sizeof(buf));
	SDR_FUZZ_CHECK(sdr_frame_next(&q, buf + sdr_frame_rec_size(f), &again) == 1 && again.type == SDR_FRAME_REC);
	SDR_FUZZ_CHECK(again.rec.op == f->op && again.rec.flags == f->flags && again.rec.rseq == f->rseq);
	SDR_FUZZ_CHECK(again.rec.id == f->id && again.rec.mseq == f->mseq && again.rec.len == f->len);
	SDR_FUZZ_CHECK(again.rec.tag == f->tag && again.rec.data == f->data && again.rec.msn == f->msn);
	SDR_FUZZ_CHECK(again.rec.addr == f->addr && again.rec.key == f->key && again.rec.status == f->status);
	SDR_FUZZ_CHECK(again.rec.payload_len == f->payload_len);
	SDR_FUZZ_CHECK(again.rec.va == f->va && again.rec.rkey == f->rkey);
	if (f->flags & SDR_REC_F_KEY)
		SDR_FUZZ_CHECK(!f->payload_len && (f->op == SDR_REC_READ || f->op == SDR_REC_CTS));
}

static void fuzz_frames(const uint8_t *p, size_t n)
{
	const uint8_t *at = p, *end = p + n, *before;
	struct sdr_frame f;
	int ret;

	for (;;) {
		before = at;
		ret = sdr_frame_next(&at, end, &f);
		if (ret <= 0)
			break;
		SDR_FUZZ_CHECK(at > before && at <= end);
		if (f.type == SDR_FRAME_DACK)
			check_dack(&f.dack);
		else if (f.type == SDR_FRAME_REC)
			check_rec(&f.rec, p, end);
		else if (f.type == SDR_FRAME_ACK)
			SDR_FUZZ_CHECK(f.ack.n >= 1 && f.ack.n <= SDR_ACK_RANGES);
	}
	SDR_FUZZ_CHECK(ret == 0 || ret < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] % 3) {
	case 0:
		fuzz_hello(data + 1, size - 1);
		break;
	case 1:
		fuzz_retry(data + 1, size - 1);
		break;
	default:
		fuzz_frames(data + 1, size - 1);
	}
	return 0;
}

static size_t seed_hello(uint8_t *buf)
{
	struct sdr_hello h = {
		.instance = 1,
		.cid = 2,
		.seg_bytes = 1u << 20,
		.msn_limit = 1024,
		.mseq_limit = 1024,
		.ctl_max = 4096,
		.qp = { .qpn = 16,
			.channels = 1,
			.generations = 4,
			.split = SDR_IMM_SPLIT_DEFAULT,
			.mtu = 4096,
			.chunk = 65536,
			.max_msg = 1u << 20 },
	};
	uint8_t msg[SDR_HELLO_LEN];
	size_t n = sdr_hello_encode(msg, SDR_REL_HELLO, &h) - SDR_CLASS_LEN;

	buf[0] = 0;
	memcpy(buf + 1, msg + SDR_CLASS_LEN, n);
	return n + 1;
}

static size_t seed_frames(uint8_t *buf)
{
	static const uint8_t payload[9] = "payload!";
	uint64_t bits[2] = { 0xf0f0f0f00ff00fffull, 0x3 };
	struct sdr_frame_ack a = { .delay_us = 7, .n = 2, .r = { { 90, 80 }, { 70, 1 } } };
	struct sdr_frame_dack d = { .flags = SDR_DACK_GAP, .msn = 3, .cum = 12, .base = 12, .echo = 65 };
	struct sdr_frame_credit c = { 1024, 2048 };
	struct sdr_frame_end e = { 3 };
	struct sdr_frame_close x = { SDR_CLOSE_BYE };
	struct sdr_frame_rec r = {
		.op = SDR_REC_TSEND,
		.flags = SDR_REC_F_TAG | SDR_REC_F_DATA | SDR_REC_F_ORDER,
		.rseq = 5,
		.id = 6,
		.mseq = 7,
		.tag = 8,
		.data = 9,
		.payload_len = sizeof(payload),
		.payload = payload,
	};
	struct sdr_frame_rec w = {
		.op = SDR_REC_WRITE,
		.flags = SDR_REC_F_LEN | SDR_REC_F_RMA | SDR_REC_F_BULK,
		.rseq = 6,
		.id = 7,
		.len = 1u << 20,
		.addr = 64,
		.key = 99,
		.msn = 4,
	};
	struct sdr_frame_rec k = {
		.op = SDR_REC_READ,
		.flags = SDR_REC_F_LEN | SDR_REC_F_RMA | SDR_REC_F_KEY,
		.rseq = 7,
		.id = 8,
		.len = 1u << 20,
		.addr = 128,
		.key = 99,
		.va = 0x7f0012345000,
		.rkey = 0x8004,
	};
	size_t n = 1, room = 1024;

	buf[0] = 2;
	n += sdr_frame_ack_encode(buf + n, room, &a);
	n += sdr_frame_dack_encode(buf + n, room, &d, bits, 66);
	n += sdr_frame_credit_encode(buf + n, room, &c);
	n += sdr_frame_ping_encode(buf + n, room);
	n += sdr_frame_end_encode(buf + n, room, &e);
	n += sdr_frame_rec_encode(buf + n, room, &r);
	n += sdr_frame_rec_encode(buf + n, room, &w);
	n += sdr_frame_rec_encode(buf + n, room, &k);
	n += sdr_frame_close_encode(buf + n, room, &x);
	return n;
}

size_t sdr_fuzz_seed(unsigned int i, uint8_t *buf)
{
	if (i == 0)
		return seed_hello(buf);
	if (i == 1)
		return seed_frames(buf);
	if (i == 2) {
		memset(buf, 1, 1 + SDR_RETRY_LEN - SDR_CLASS_LEN);
		return 1 + SDR_RETRY_LEN - SDR_CLASS_LEN;
	}
	return 0;
}
