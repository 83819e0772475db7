/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Datagrams of the reliable endpoint: HELLO, RETRY, the packet header and every frame.  The first
 * input byte chooses the decoder.  What is accepted stays inside the input, its run lengths stay
 * inside what they describe, its bounds and parameters of parity make sense, and what encodes again
 * (HELLO, records, a COMPLETE) gives the same fields back.
 */
#include "fuzz.h"
#include "wire/sdr_atomic.h"
#include "wire/sdr_frame.h"
#include "wire/sdr_tlv.h"
#include "wire/sdr_version.h"

static void fuzz_hello(const uint8_t *p, size_t n)
{
	uint8_t back[SDR_HELLO_LEN + SDR_HELLO_EXT_MAX];
	struct sdr_hello_addr a;
	const uint8_t *at;
	struct sdr_hello h, again;
	size_t k;

	if (sdr_hello_decode(p, n, &h) || h.status)
		return;
	SDR_FUZZ_CHECK(n == SDR_HELLO_LEN - SDR_CLASS_LEN + h.ext_len);
	SDR_FUZZ_CHECK(h.version_min <= SDR_WIRE_VERSION && SDR_WIRE_VERSION <= h.version_max);
	SDR_FUZZ_CHECK(h.ext_len <= SDR_HELLO_EXT_MAX && h.ext + h.ext_len == p + n);
	SDR_FUZZ_CHECK(!h.probe_max || h.probe_max >= SDR_CTL_MIN);
	for (at = h.addrs; at && at < h.addrs + h.addrs_len;)
		SDR_FUZZ_CHECK(sdr_hello_addr_next(&at, h.addrs + h.addrs_len, &a) == 1 && a.port);
	SDR_FUZZ_CHECK(h.ctl_max >= SDR_CTL_MIN && h.ctl_max <= SDR_CTL_MAX && h.seg_bytes);
	SDR_FUZZ_CHECK(!(h.codes & ~SDR_WIRE_CODE_KINDS));
	if (h.codes)
		SDR_FUZZ_CHECK(h.code_syms >= 2 && h.code_syms <= SDR_CODE_SYMS_MAX &&
			       h.code_chunk);
	else
		SDR_FUZZ_CHECK(!h.code_syms && !h.code_chunk);
	k = sdr_hello_encode(back, SDR_REL_HELLO, &h);
	SDR_FUZZ_CHECK(k == n + SDR_CLASS_LEN);
	/* The same bytes, but for what was not known and is gone. */
	SDR_FUZZ_CHECK(!memcmp(back + SDR_CLASS_LEN, p, 64));
	SDR_FUZZ_CHECK(!memcmp(back + SDR_HELLO_LEN, h.ext, h.ext_len));
	SDR_FUZZ_CHECK(!sdr_hello_decode(back + SDR_CLASS_LEN, n, &again));
	SDR_FUZZ_CHECK(again.codes == h.codes && again.qp.nports == h.qp.nports &&
		       again.qp.host == h.qp.host && again.probe_max == h.probe_max &&
		       again.addrs_len == h.addrs_len);
}

/* Whole datagrams of other versions, and what answers them. */
static void fuzz_foreign(const uint8_t *p, size_t n)
{
	uint8_t back[SDR_V1_HELLO_LEN];
	struct sdr_foreign f, again;
	struct sdr_version v;

	if (n >= SDR_CLASS_LEN && !sdr_version_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN, &v))
		SDR_FUZZ_CHECK(v.min && v.min <= v.max);
	if (sdr_foreign_decode(p, n, &f))
		return;
	if (f.kind == SDR_FOREIGN_ASKS) { /* never less than its answer */
		SDR_FUZZ_CHECK(n >= (f.version == 1 ? SDR_V1_HELLO_LEN : SDR_VERSION_LEN));
		return;
	}
	SDR_FUZZ_CHECK(f.kind == SDR_FOREIGN_SAYS && f.v.min && f.v.min <= f.v.max);
	SDR_FUZZ_CHECK(sdr_v1_refusal_encode(back, &f.v) == sizeof(back));
	SDR_FUZZ_CHECK(!sdr_foreign_decode(back, sizeof(back), &again));
	SDR_FUZZ_CHECK(again.v.cid == f.v.cid && again.v.min == f.v.min && again.v.max == f.v.max);
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

/* Has no bitmap, so it can be encoded again. */
static void check_complete(const struct sdr_frame_dack *f)
{
	struct sdr_frame_dack d = *f;
	struct sdr_frame again;
	uint8_t buf[64];
	const uint8_t *q = buf;
	size_t k;

	SDR_FUZZ_CHECK(f->base == f->end && !f->runs_len);
	if (f->flags & SDR_DACK_DECODED)
		SDR_FUZZ_CHECK(f->dec_chunks && f->dec_chunks <= f->dec_pkts);
	else
		SDR_FUZZ_CHECK(!f->dec_chunks && !f->dec_pkts);
	k = sdr_frame_dack_encode(buf, sizeof(buf), &d, NULL, 0);
	SDR_FUZZ_CHECK(k == 32u + (f->flags & SDR_DACK_DECODED ? 8 : 0) +
				    (f->flags & SDR_DACK_PATH ? 1 : 0) +
				    (f->flags & SDR_DACK_ECN ? 12 : 0));
	SDR_FUZZ_CHECK(sdr_frame_next(&q, buf + k, &again) == 1 && again.type == SDR_FRAME_DACK &&
		       q == buf + k);
	SDR_FUZZ_CHECK(again.dack.flags == f->flags && again.dack.msn == f->msn &&
		       again.dack.cum == f->cum);
	SDR_FUZZ_CHECK(again.dack.echo == f->echo && again.dack.echo_delay_us == f->echo_delay_us);
	SDR_FUZZ_CHECK(again.dack.dups == f->dups && again.dack.path == f->path);
	SDR_FUZZ_CHECK(again.dack.ecn.ect0 == f->ecn.ect0 && again.dack.ecn.ect1 == f->ecn.ect1 &&
		       again.dack.ecn.ce == f->ecn.ce);
	SDR_FUZZ_CHECK(again.dack.dec_pkts == f->dec_pkts &&
		       again.dack.dec_chunks == f->dec_chunks);
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
	if (f->flags & SDR_DACK_COMPLETE)
		check_complete(f);
	else
		SDR_FUZZ_CHECK(!(f->flags & SDR_DACK_DECODED));
}

static void check_code(const struct sdr_frame_rec *f, const struct sdr_frame_rec *again)
{
	const struct sdr_frame_code *a = &f->code, *b = &again->code;

	SDR_FUZZ_CHECK(a->kind == b->kind && a->flags == b->flags && a->k == b->k && a->m == b->m);
	SDR_FUZZ_CHECK(a->chunk == b->chunk && a->seg == b->seg && a->from == b->from);
	if (!(f->flags & SDR_REC_F_CODE)) {
		SDR_FUZZ_CHECK(!a->kind && !a->flags && !a->k && !a->m && !a->chunk && !a->seg &&
			       !a->from);
		return;
	}
	SDR_FUZZ_CHECK(f->flags & SDR_REC_F_BULK && !f->payload_len);
	SDR_FUZZ_CHECK((a->kind == 1 || a->kind == 2) && !(a->flags & ~SDR_WIRE_CODE_FLAGS));
	SDR_FUZZ_CHECK(a->k && a->m && a->k + a->m <= (int)SDR_CODE_SYMS_MAX);
	SDR_FUZZ_CHECK(a->chunk && a->seg && !(a->seg % a->chunk) && !(a->from % a->chunk));
}

/* The bytes that it announces are those that are there. */
static void check_atomic(const struct sdr_frame_rec *f)
{
	uint32_t size, each;
	struct sdr_atomic a;

	SDR_FUZZ_CHECK(!(f->flags & SDR_REC_F_BULK));
	if (f->op != SDR_REC_ATOMIC || !sdr_atomic_get(f->payload, f->payload_len, &a))
		return;
	SDR_FUZZ_CHECK(a.count && a.form < SDR_ATOMIC_FORMS);
	size = sdr_atomic_size(a.type);
	SDR_FUZZ_CHECK(a.known == (size && sdr_atomic_goes(a.op, a.form)));
	if (!a.known) {
		SDR_FUZZ_CHECK(!a.in && !a.cmp);
		return;
	}
	each = sdr_atomic_carries(a.op, a.form, size);
	SDR_FUZZ_CHECK((uint64_t)a.count * size <= SDR_ATOMIC_PART);
	SDR_FUZZ_CHECK(f->payload_len == SDR_ATOMIC_HDR + a.count * each);
	SDR_FUZZ_CHECK(!a.in == (a.op == SDR_ATOMIC_READ));
	SDR_FUZZ_CHECK(!a.cmp == (a.form != SDR_ATOMIC_COMPARE));
	SDR_FUZZ_CHECK(!a.cmp || a.cmp + (size_t)a.count * size == f->payload + f->payload_len);
}

static void check_rec(const struct sdr_frame_rec *f, const uint8_t *lo, const uint8_t *hi)
{
	uint8_t buf[128 + SDR_CTL_MAX]; /* records without payload have up to 100 bytes */
	const uint8_t *q = buf;
	struct sdr_frame again;
	size_t k;

	SDR_FUZZ_CHECK(f->payload_len <= SDR_CTL_MAX);
	if (f->payload_len)
		SDR_FUZZ_CHECK(f->payload >= lo && f->payload + f->payload_len <= hi);
	k = sdr_frame_rec_encode(buf, sizeof(buf), f);
	SDR_FUZZ_CHECK(k && k <= sizeof(buf));
	SDR_FUZZ_CHECK(sdr_frame_next(&q, buf + sdr_frame_rec_size(f), &again) == 1 &&
		       again.type == SDR_FRAME_REC);
	SDR_FUZZ_CHECK(again.rec.op == f->op && again.rec.flags == f->flags &&
		       again.rec.rseq == f->rseq);
	SDR_FUZZ_CHECK(again.rec.id == f->id && again.rec.mseq == f->mseq &&
		       again.rec.len == f->len);
	SDR_FUZZ_CHECK(again.rec.tag == f->tag && again.rec.data == f->data &&
		       again.rec.msn == f->msn);
	SDR_FUZZ_CHECK(again.rec.addr == f->addr && again.rec.key == f->key &&
		       again.rec.status == f->status);
	SDR_FUZZ_CHECK(again.rec.payload_len == f->payload_len);
	SDR_FUZZ_CHECK(again.rec.va == f->va && again.rec.rkey == f->rkey);
	SDR_FUZZ_CHECK(again.rec.turn == f->turn && again.rec.berth == f->berth);
	if (f->flags & SDR_REC_F_TURN)
		SDR_FUZZ_CHECK(f->op <= SDR_REC_READ || f->op == SDR_REC_ATOMIC ||
			       f->op >= SDR_REC_TEST);
	if (f->flags & SDR_REC_F_KEY)
		SDR_FUZZ_CHECK(!f->payload_len && (f->op == SDR_REC_READ || f->op == SDR_REC_CTS ||
						   f->op == SDR_REC_BERTH));
	if (f->flags & SDR_REC_F_BERTH)
		SDR_FUZZ_CHECK(!f->payload_len && (f->flags & SDR_REC_F_BULK) &&
			       (f->op <= SDR_REC_WRITE || f->op >= SDR_REC_TEST ||
				((f->op == SDR_REC_BIND || f->op == SDR_REC_READ_RSP) &&
				 (f->flags & SDR_REC_F_CODE))));
	SDR_FUZZ_CHECK(again.rec.head == f->head);
	if (f->flags & SDR_REC_F_HEAD)
		SDR_FUZZ_CHECK(f->head && (f->op >= SDR_REC_TEST ||
					   (f->flags & SDR_REC_F_BERTH && f->head < f->len) ||
					   (f->op == SDR_REC_CTS && f->flags & SDR_REC_F_KEY)));
	check_code(f, &again.rec);
	if (f->op >= SDR_REC_ATOMIC && f->op <= SDR_REC_LAST)
		check_atomic(f);
}

/* Encodes again to the same fields. */
static void check_ack(const struct sdr_frame_ack *f)
{
	uint8_t buf[512];
	const uint8_t *q = buf;
	struct sdr_frame again;
	size_t k;

	SDR_FUZZ_CHECK(f->n >= 1 && f->n <= SDR_ACK_RANGES);
	k = sdr_frame_ack_encode(buf, sizeof(buf), f);
	SDR_FUZZ_CHECK(k && sdr_frame_next(&q, buf + k, &again) == 1 && q == buf + k);
	SDR_FUZZ_CHECK(again.type == SDR_FRAME_ACK && again.ack.flags == f->flags &&
		       again.ack.n == f->n && again.ack.delay_us == f->delay_us);
	SDR_FUZZ_CHECK(again.ack.path == f->path && again.ack.ecn.ect0 == f->ecn.ect0 &&
		       again.ack.ecn.ect1 == f->ecn.ect1 && again.ack.ecn.ce == f->ecn.ce);
	SDR_FUZZ_CHECK(!memcmp(again.ack.r, f->r, f->n * sizeof(f->r[0])));
}

static void check_long(const struct sdr_frame *f, const uint8_t *before, const uint8_t *at)
{
	if (f->type == SDR_FRAME_PATH_CHALLENGE || f->type == SDR_FRAME_PATH_RESPONSE) {
		SDR_FUZZ_CHECK(
			!memcmp(f->path.data, at - SDR_FRAME_PATH_DATA, SDR_FRAME_PATH_DATA));
		return;
	}
	if (f->type == SDR_FRAME_DROPS) {
		SDR_FUZZ_CHECK(f->drops.count == sdr_get_le32(at - 4));
		return;
	}
	if (f->type == SDR_FRAME_FAN) {
		SDR_FUZZ_CHECK(f->fan.in == sdr_get_le16(at - 10) &&
			       f->fan.in_win == sdr_get_le32(at - 8) &&
			       f->fan.out_win == sdr_get_le32(at - 4));
		return;
	}
	if (f->type == SDR_FRAME_MARKS) {
		uint8_t again[SDR_FRAME_LONG_HDR + SDR_FRAME_MARKS_MAX * 16];
		size_t k = sdr_frame_marks_encode(again, sizeof(again), &f->marks);

		SDR_FUZZ_CHECK(k && k <= (size_t)(at - before) && !memcmp(again, at - k, k));
		return;
	}
	if (f->type == SDR_FRAME_SHAPE) {
		uint8_t again[SDR_FRAME_LONG_HDR + SDR_FRAME_SHAPE_HEAD + SDR_QP_INFO_LEN];
		size_t k = sdr_frame_shape_encode(again, sizeof(again), &f->shape);

		SDR_FUZZ_CHECK(k && k <= (size_t)(at - before) && !memcmp(again, at - k, k));
		return;
	}
	SDR_FUZZ_CHECK(f->other.bytes >= before + SDR_FRAME_LONG_HDR &&
		       f->other.bytes + f->other.len == at);
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
			check_ack(&f.ack);
		else if (f.type & SDR_FRAME_LONG)
			check_long(&f, before, at);
	}
	SDR_FUZZ_CHECK(ret == 0 || ret < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] % 4) {
	case 0:
		fuzz_hello(data + 1, size - 1);
		break;
	case 1:
		fuzz_retry(data + 1, size - 1);
		break;
	case 3:
		fuzz_foreign(data + 1, size - 1);
		break;
	default:
		fuzz_frames(data + 1, size - 1);
	}
	return 0;
}

/* With extensions: addresses, a probe, one that is not known. */
static size_t seed_ext(uint8_t *p)
{
	static const struct sdr_hello_addr addr[] = { { .port = 1 },
						      { .family = 4, .port = 2 },
						      { .family = 6, .port = 3 } };
	uint8_t b[64], max[4];
	size_t n = 0, k = 0;

	for (int i = 0; i < 3; i++)
		k += sdr_hello_addr_put(b + k, sizeof(b) - k, &addr[i]);
	n += sdr_tlv_put(p, 128, 0x77, "later", 5);
	n += sdr_tlv_put(p + n, 128, SDR_HELLO_ADDRESSES, b, (uint16_t)k);
	sdr_put_le32(max, 9000);
	n += sdr_tlv_put(p + n, 128, SDR_HELLO_PROBE_MAX, max, 4);
	n += sdr_tlv_put(p + n, 128, SDR_HELLO_CAME, max, 4);
	n += sdr_tlv_put(p + n, 128, SDR_HELLO_SOURCES, b, (uint16_t)k);
	return n;
}

static size_t seed_hello(uint8_t *buf, uint8_t codes)
{
	uint8_t ext[256];
	struct sdr_hello h = {
		.version_min = 1,
		.version_max = 9,
		.ext = ext,
		.ext_len = codes ? (uint32_t)seed_ext(ext) : 0,
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
		.codes = codes,
		.code_syms = codes ? 256 : 0,
		.code_chunk = codes ? 16u << 20 : 0,
	};
	uint8_t msg[SDR_HELLO_LEN + sizeof(ext)];
	size_t n = sdr_hello_encode(msg, SDR_REL_HELLO, &h) - SDR_CLASS_LEN;

	buf[0] = 0;
	memcpy(buf + 1, msg + SDR_CLASS_LEN, n);
	return n + 1;
}

static size_t seed_frames(uint8_t *buf)
{
	const size_t room = 1024;
	static const uint8_t payload[9] = "payload!";
	uint64_t bits[2] = { 0xf0f0f0f00ff00fffull, 0x3 };
	struct sdr_frame_ack a = { .delay_us = 7, .n = 2, .r = { { 90, 80 }, { 70, 1 } } };
	struct sdr_frame_dack d = {
		.flags = SDR_DACK_GAP, .msn = 3, .cum = 12, .base = 12, .echo = 65
	};
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
	static const struct sdr_atomic swap = { .op = SDR_ATOMIC_CSWAP,
						.type = SDR_ATOMIC_UINT32,
						.form = SDR_ATOMIC_COMPARE,
						.count = 1 };
	uint8_t atom[SDR_ATOMIC_HDR + 8] = { 0 };
	struct sdr_frame_rec t = {
		.op = SDR_REC_ATOMIC,
		.flags = SDR_REC_F_RMA,
		.rseq = 8,
		.id = 9,
		.addr = 128,
		.key = 99,
		.payload_len = sizeof(atom),
		.payload = atom,
	};
	struct sdr_frame_rec u = {
		.op = SDR_REC_ATOMIC_END,
		.flags = SDR_REC_F_RMA | SDR_REC_F_LEN | SDR_REC_F_TAG,
		.rseq = 9,
		.id = 9,
		.len = 4096,
		.addr = 128,
		.key = 99,
	};
	struct sdr_frame_rec call = {
		.op = SDR_REC_CALL,
		.rseq = 10,
		.id = 10,
		.payload_len = sizeof(payload),
		.payload = payload,
	};
	size_t n = 1;

	buf[0] = 2;
	n += sdr_frame_ack_encode(buf + n, room, &a);
	n += sdr_frame_dack_encode(buf + n, room, &d, bits, 66);
	n += sdr_frame_credit_encode(buf + n, room, &c);
	n += sdr_frame_ping_encode(buf + n, room);
	n += sdr_frame_end_encode(buf + n, room, &e);
	n += sdr_frame_rec_encode(buf + n, room, &r);
	n += sdr_frame_rec_encode(buf + n, room, &w);
	n += sdr_frame_rec_encode(buf + n, room, &k);
	sdr_atomic_put(atom, &swap);
	n += sdr_frame_rec_encode(buf + n, room, &t);
	n += sdr_frame_rec_encode(buf + n, room, &u);
	n += sdr_frame_rec_encode(buf + n, room, &call);
	n += sdr_frame_close_encode(buf + n, room, &x);
	return n;
}

/* A message with parity: announced, and received with its help. */
static size_t seed_coded(uint8_t *buf)
{
	const size_t room = 1024;
	struct sdr_frame_dack d = { .flags = SDR_DACK_COMPLETE | SDR_DACK_DECODED,
				    .msn = 4,
				    .echo = 255,
				    .dups = 1,
				    .dec_pkts = 12,
				    .dec_chunks = 3 };
	struct sdr_frame_rec s = {
		.op = SDR_REC_SEND,
		.flags = SDR_REC_F_LEN | SDR_REC_F_BULK | SDR_REC_F_ORDER | SDR_REC_F_CODE,
		.rseq = 8,
		.id = 9,
		.mseq = 8,
		.len = 3u << 20,
		.msn = 6,
		.code = { .kind = 2, .flags = 1, .k = 32, .m = 8, .chunk = 65536, .seg = 1u << 20 },
	};
	struct sdr_frame_rec b = {
		.op = SDR_REC_BIND,
		.flags = SDR_REC_F_LEN | SDR_REC_F_BULK | SDR_REC_F_CODE,
		.rseq = 9,
		.id = 10,
		.len = 5ull << 30,
		.msn = 12,
		.code = { .kind = 1,
			  .flags = 2,
			  .k = 10,
			  .m = 246,
			  .chunk = 4096,
			  .seg = 64u << 20,
			  .from = 4ull << 30 },
	};
	struct sdr_frame_rec t = {
		.op = SDR_REC_READ,
		.flags = SDR_REC_F_LEN | SDR_REC_F_RMA | SDR_REC_F_LEAD | SDR_REC_F_FOLLOW,
		.rseq = 9,
		.id = 11,
		.len = 8,
		.addr = 64,
		.key = 99,
		.turn = 1023,
	};
	size_t n = 1;

	buf[0] = 2;
	n += sdr_frame_dack_encode(buf + n, room, &d, NULL, 0);
	n += sdr_frame_rec_encode(buf + n, room, &s);
	n += sdr_frame_rec_encode(buf + n, room, &t);
	d.flags = SDR_DACK_COMPLETE;
	n += sdr_frame_dack_encode(buf + n, room, &d, NULL, 0);
	n += sdr_frame_rec_encode(buf + n, room, &b);
	return n;
}

/* What later versions may send, and what is reserved. */
static size_t seed_long(uint8_t *buf)
{
	const size_t room = 1024;
	struct sdr_frame_ecn ecn = { 300, 2, 1u << 31 };
	struct sdr_frame_ack a = { .flags = SDR_ACK_PATH | SDR_ACK_ECN,
				   .path = 3,
				   .n = 1,
				   .r = { { 9, 1 } },
				   .ecn = ecn };
	struct sdr_frame_dack d = {
		.flags = SDR_DACK_PATH | SDR_DACK_ECN, .msn = 3, .path = 1, .ecn = ecn
	};
	struct sdr_frame_marks marks = { 2, { { 1, ecn }, { 15, ecn } } };
	struct sdr_frame_path path = { .path = 2, .data = "unlikely" };
	uint8_t info[SDR_QP_INFO_LEN] = { SDR_QP_INFO_MAGIC };
	struct sdr_frame_shape shape = { SDR_SHAPE_USE, 3, 1, 4096, 1024, 1u << 20, 7, info };
	uint64_t bits[1] = { 0xf0f1 };
	size_t n = 1;

	buf[0] = 2;
	n += sdr_frame_ack_encode(buf + n, room, &a);
	n += sdr_frame_dack_encode(buf + n, room, &d, bits, 16);
	d.flags |= SDR_DACK_COMPLETE;
	n += sdr_frame_dack_encode(buf + n, room, &d, NULL, 0);
	n += sdr_frame_path_encode(buf + n, room, SDR_FRAME_PATH_CHALLENGE, &path);
	n += sdr_frame_shape_encode(buf + n, room, &shape);
	n += sdr_frame_long_encode(buf + n, room, 0xee, "later", 5);
	n += sdr_frame_path_encode(buf + n, room, SDR_FRAME_PATH_RESPONSE, &path);
	n += sdr_frame_held_encode(buf + n, room);
	n += sdr_frame_aside_encode(buf + n, room);
	n += sdr_frame_drops_encode(buf + n, room, &(struct sdr_frame_drops){ 0x12345678 });
	n += sdr_frame_marks_encode(buf + n, room, &marks);
	n += sdr_frame_fan_encode(buf + n, room, &(struct sdr_frame_fan){ 4, 0x12345, 0x23456 });
	n += sdr_frame_long_encode(buf + n, room, SDR_FRAME_PADDING, NULL, 40);
	return n;
}

static size_t seed_foreign(uint8_t *buf, unsigned int i)
{
	struct sdr_version v = { 0x1122334455667788, 3, 5 };

	buf[0] = 3;
	if (i == 0)
		return 1 + sdr_v1_hello_encode(buf + 1, 1, v.cid);
	if (i == 1)
		return 1 + sdr_v1_refusal_encode(buf + 1, &v);
	return 1 + sdr_version_encode(buf + 1, &v);
}

size_t sdr_fuzz_seed(unsigned int i, uint8_t *buf)
{
	if (i == 0)
		return seed_hello(buf, 0);
	if (i == 1)
		return seed_frames(buf);
	if (i == 2) {
		memset(buf, 1, 1 + SDR_RETRY_LEN - SDR_CLASS_LEN);
		return 1 + SDR_RETRY_LEN - SDR_CLASS_LEN;
	}
	if (i == 3)
		return seed_hello(buf, SDR_WIRE_CODE_KINDS);
	if (i == 4)
		return seed_coded(buf);
	if (i == 5)
		return seed_long(buf);
	if (i >= 6 && i <= 8)
		return seed_foreign(buf, i - 6);
	return 0;
}
