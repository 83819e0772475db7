/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Frames of a reliable endpoint's packet.  Layout, little-endian, the type first; [v] is a varint
 * (LEB128, shortest form only, at most 5 bytes, 32 bits):
 *
 *    PAD     0
 *    ACK     1  delay_us[v]  n(1)  hi(4)  span[v]  { gap[v]  span[v] } n - 1 times span: packets of
 *               the range less one; gap: packets missing between two ranges, at least one
 *    DACK    2  flags(1)  runs_len(2)  msn(4)  cum(4)  base(4)  end(4)  echo(4)  echo_delay_us(4)
 *               dups(4) DECODED: dec_pkts(4)  dec_chunks(4)  else: runs[v]...
 *    CREDIT  3  msn_limit(4)  mseq_limit(4)
 *    PING    4
 *    END     5  msn(4)
 *    REC     6  op(1)  flags(2)  payload_len(2)  rseq(4)  id(4)  fields  payload fields, each only
 *               with its flag and in this order: mseq(4) len(8) tag(8) data(8) msn(4) addr(8)
 *               key(8) status(2) va(8) rkey(4) code(24), which is kind(1) flags(1) k(2) m(2)
 *               zero(2) chunk(4) seg(4) from(8)
 *    CLOSE   7  reason(2)
 *
 * A decoded frame is well formed in itself: ranges descend and span less than half the number
 * space, runs add up to exactly [base, end), a record carries the fields without which its
 * operation means nothing, a code has chunks and symbols that some message can have.  What numbers
 * stand for (known messages, open operations, bounds of regions, what was offered for decoding) is
 * checked by who knows them.  Types are not skippable: an unknown one spoils the rest of its
 * packet.  No state, no threads.
 */
#include <errno.h>
#include <string.h>
#include "sdr_frame.h"

#define SDR_DACK_FIXED 32u	  /* bytes before the runs */
#define SDR_DACK_DEC   8u	  /* bytes of what DECODED adds */
#define SDR_DACK_PKTS  (1u << 30) /* packets of a message at the most: off_bits <= 30 */
#define SDR_DACK_FLAGS (SDR_DACK_COMPLETE | SDR_DACK_GAP | SDR_DACK_DECODED)
#define SDR_REC_FIXED  14u	  /* bytes before the optional fields */
#define SDR_ACK_SPAN   (1u << 31) /* packet numbers that one ACK may cover */

/* ---- varint ---------------------------------------------------------------------------------- */

static inline uint32_t sdr_varint_size(uint32_t v)
{
	return v < 1u << 7 ? 1 : v < 1u << 14 ? 2 : v < 1u << 21 ? 3 : v < 1u << 28 ? 4 : 5;
}

static inline uint8_t *sdr_varint_put(uint8_t *p, uint32_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* Bytes taken, 0 when cut short, not the shortest form or more than 32 bits. */
static inline uint32_t sdr_varint_get(const uint8_t *p, const uint8_t *end, uint32_t *out)
{
	uint32_t v = 0, i = 0;
	uint8_t b;

	do {
		if (p + i >= end || i == 5)
			return 0;
		b = p[i];
		if (i == 4 && b > 0x0f)
			return 0;
		v |= (uint32_t)(b & 0x7f) << (7 * i);
		i++;
	} while (b & 0x80);
	if (!b && i > 1)
		return 0;
	*out = v;
	return i;
}

/* ---- ACK ------------------------------------------------------------------------------------- */

size_t sdr_frame_ack_encode(uint8_t *p, size_t room, const struct sdr_frame_ack *f)
{
	uint8_t *q = p;
	uint32_t i;
	size_t size;

	if (!f->n || f->n > SDR_ACK_RANGES)
		return 0;
	size = 1 + sdr_varint_size(f->delay_us) + 1 + 4 + sdr_varint_size(f->r[0].hi - f->r[0].lo);
	for (i = 1; i < f->n; i++)
		size += sdr_varint_size(f->r[i - 1].lo - f->r[i].hi - 1) +
			sdr_varint_size(f->r[i].hi - f->r[i].lo);
	if (size > room)
		return 0;

	*q++ = SDR_FRAME_ACK;
	q = sdr_varint_put(q, f->delay_us);
	*q++ = (uint8_t)f->n;
	sdr_put_le32(q, f->r[0].hi);
	q = sdr_varint_put(q + 4, f->r[0].hi - f->r[0].lo);
	for (i = 1; i < f->n; i++) {
		q = sdr_varint_put(q, f->r[i - 1].lo - f->r[i].hi - 1);
		q = sdr_varint_put(q, f->r[i].hi - f->r[i].lo);
	}
	return (size_t)(q - p);
}

static const uint8_t *sdr_frame_ack_decode(const uint8_t *p, const uint8_t *end,
					   struct sdr_frame_ack *f)
{
	uint32_t i, k, gap, span;
	uint64_t used = 0; /* numbers from r[0].hi down to the range's lo */

	k = sdr_varint_get(p, end, &f->delay_us);
	if (!k)
		return NULL;
	p += k;
	if (end - p < 5)
		return NULL;
	f->n = *p++;
	if (!f->n || f->n > SDR_ACK_RANGES)
		return NULL;
	f->r[0].hi = sdr_get_le32(p);
	p += 4;
	for (i = 0; i < f->n; i++) {
		if (i) {
			k = sdr_varint_get(p, end, &gap);
			if (!k || !gap)
				return NULL;
			p += k;
			used += gap;
			f->r[i].hi = f->r[i - 1].lo - gap - 1;
		}
		k = sdr_varint_get(p, end, &span);
		if (!k)
			return NULL;
		p += k;
		used += (uint64_t)span + 1;
		if (used > SDR_ACK_SPAN)
			return NULL;
		f->r[i].lo = f->r[i].hi - span;
	}
	return p;
}

/* ---- DACK ------------------------------------------------------------------------------------ */

/* First packet in [from, limit) whose bit is not `skip` (0 or ~0); limit when there is none. */
static inline uint32_t sdr_bits_run(const uint64_t *bits, uint32_t from, uint32_t limit,
				    uint64_t skip)
{
	uint32_t w = from / 64, words = (limit + 63) / 64, at;
	uint64_t v;

	if (from >= limit)
		return limit;
	v = (bits[w] ^ skip) & (~0ull << (from % 64));
	while (!v) {
		if (++w == words)
			return limit;
		v = bits[w] ^ skip;
	}
	at = w * 64 + (uint32_t)__builtin_ctzll(v);
	return at < limit ? at : limit;
}

size_t sdr_frame_dack_encode(uint8_t *p, size_t room, struct sdr_frame_dack *f,
			     const uint64_t *bits, uint32_t limit)
{
	const size_t fixed = SDR_DACK_FIXED + (f->flags & SDR_DACK_DECODED ? SDR_DACK_DEC : 0);
	uint8_t *q = p + fixed;
	const uint8_t *stop;
	uint32_t pkt, next, n;
	uint64_t skip = 0; /* the first run is missing packets */

	if (room < fixed)
		return 0;
	if (room - fixed > UINT16_MAX)
		room = fixed + UINT16_MAX;
	stop = p + room;
	if (f->flags & SDR_DACK_COMPLETE) {
		f->base = f->cum;
		limit = f->cum;
	}
	pkt = f->base;
	while (pkt < limit) {
		next = sdr_bits_run(bits, pkt, limit, skip);
		n = next - pkt;
		if ((size_t)(stop - q) < sdr_varint_size(n))
			break;
		q = sdr_varint_put(q, n);
		pkt = next;
		skip = ~skip;
	}
	/* A lone run of nothing says nothing. */
	if (pkt == f->base)
		q = p + fixed;
	f->end = pkt;
	f->runs = p + fixed;
	f->runs_len = (uint32_t)(q - f->runs);

	p[0] = SDR_FRAME_DACK;
	p[1] = f->flags;
	sdr_put_le16(p + 2, (uint16_t)f->runs_len);
	sdr_put_le32(p + 4, f->msn);
	sdr_put_le32(p + 8, f->cum);
	sdr_put_le32(p + 12, f->base);
	sdr_put_le32(p + 16, f->end);
	sdr_put_le32(p + 20, f->echo);
	sdr_put_le32(p + 24, f->echo_delay_us);
	sdr_put_le32(p + 28, f->dups);
	if (f->flags & SDR_DACK_DECODED) {
		sdr_put_le32(p + SDR_DACK_FIXED, f->dec_pkts);
		sdr_put_le32(p + SDR_DACK_FIXED + 4, f->dec_chunks);
	}
	return (size_t)(q - p);
}

/* Next run of either kind: its length in *n; 1, 0 at the end, -EBADMSG. */
static int sdr_dack_run(const struct sdr_frame_dack *f, struct sdr_dack_iter *it, uint32_t *n)
{
	uint32_t k;

	if (it->off >= f->runs_len)
		return it->pkt == f->end ? 0 : -EBADMSG;
	k = sdr_varint_get(f->runs + it->off, f->runs + f->runs_len, n);
	if (!k || *n > f->end - it->pkt || (!*n && it->off))
		return -EBADMSG;
	it->off += k;
	it->pkt += *n;
	return 1;
}

int sdr_frame_dack_next(const struct sdr_frame_dack *f, struct sdr_dack_iter *it, uint32_t *first,
			uint32_t *n)
{
	uint32_t have;
	int ret;

	if (!it->off)
		it->pkt = f->base;
	do {
		ret = sdr_dack_run(f, it, n);
		if (ret <= 0)
			return ret;
		*first = it->pkt - *n;
		/* the received run behind it, if the frame goes that far */
		ret = sdr_dack_run(f, it, &have);
		if (ret < 0)
			return ret;
	} while (!*n);
	return 1;
}

static const uint8_t *sdr_frame_dack_decode(const uint8_t *p, const uint8_t *end,
					    struct sdr_frame_dack *f)
{
	struct sdr_dack_iter it = { 0, 0 };
	uint32_t n;
	int ret;

	if (end - p < (ptrdiff_t)SDR_DACK_FIXED - 1)
		return NULL;
	f->flags = p[0];
	f->runs_len = sdr_get_le16(p + 1);
	f->msn = sdr_get_le32(p + 3);
	f->cum = sdr_get_le32(p + 7);
	f->base = sdr_get_le32(p + 11);
	f->end = sdr_get_le32(p + 15);
	f->echo = sdr_get_le32(p + 19);
	f->echo_delay_us = sdr_get_le32(p + 23);
	f->dups = sdr_get_le32(p + 27);
	p += SDR_DACK_FIXED - 1;
	f->dec_pkts = 0;
	f->dec_chunks = 0;
	if (f->flags & ~SDR_DACK_FLAGS)
		return NULL;
	if (f->flags & SDR_DACK_DECODED) {
		if (!(f->flags & SDR_DACK_COMPLETE) || end - p < (ptrdiff_t)SDR_DACK_DEC)
			return NULL;
		f->dec_pkts = sdr_get_le32(p);
		f->dec_chunks = sdr_get_le32(p + 4);
		if (!f->dec_chunks || f->dec_chunks > f->dec_pkts)
			return NULL;
		p += SDR_DACK_DEC;
	}
	f->runs = p;
	if (f->runs_len > end - p)
		return NULL;
	if (f->cum > f->base || f->base > f->end || f->end > SDR_DACK_PKTS)
		return NULL;
	if (f->base == f->end && f->runs_len)
		return NULL;
	if (f->flags & SDR_DACK_COMPLETE && f->base != f->end)
		return NULL;
	it.pkt = f->base;
	do {
		ret = sdr_dack_run(f, &it, &n);
	} while (ret > 0);
	return ret ? NULL : p + f->runs_len;
}

/* ---- the small ones -------------------------------------------------------------------------- */

size_t sdr_frame_credit_encode(uint8_t *p, size_t room, const struct sdr_frame_credit *f)
{
	if (room < 9)
		return 0;
	p[0] = SDR_FRAME_CREDIT;
	sdr_put_le32(p + 1, f->msn_limit);
	sdr_put_le32(p + 5, f->mseq_limit);
	return 9;
}

size_t sdr_frame_ping_encode(uint8_t *p, size_t room)
{
	if (room < 1)
		return 0;
	p[0] = SDR_FRAME_PING;
	return 1;
}

size_t sdr_frame_end_encode(uint8_t *p, size_t room, const struct sdr_frame_end *f)
{
	if (room < 5)
		return 0;
	p[0] = SDR_FRAME_END;
	sdr_put_le32(p + 1, f->msn);
	return 5;
}

size_t sdr_frame_close_encode(uint8_t *p, size_t room, const struct sdr_frame_close *f)
{
	if (room < 3)
		return 0;
	p[0] = SDR_FRAME_CLOSE;
	sdr_put_le16(p + 1, f->reason);
	return 3;
}

/* ---- REC ------------------------------------------------------------------------------------- */

/* Bytes of the optional fields. */
static inline uint32_t sdr_rec_fields(uint32_t flags)
{
	return (flags & SDR_REC_F_ORDER ? 4u : 0) + (flags & SDR_REC_F_LEN ? 8u : 0) +
	       (flags & SDR_REC_F_TAG ? 8u : 0) + (flags & SDR_REC_F_DATA ? 8u : 0) +
	       (flags & SDR_REC_F_BULK ? 4u : 0) + (flags & SDR_REC_F_RMA ? 16u : 0) +
	       (flags & SDR_REC_F_STATUS ? 2u : 0) + (flags & SDR_REC_F_KEY ? 12u : 0) +
	       (flags & SDR_REC_F_CODE ? SDR_FRAME_CODE_LEN : 0);
}

static void sdr_rec_code_put(uint8_t *p, const struct sdr_frame_code *c)
{
	p[0] = c->kind;
	p[1] = c->flags;
	sdr_put_le16(p + 2, c->k);
	sdr_put_le16(p + 4, c->m);
	sdr_put_le16(p + 6, 0);
	sdr_put_le32(p + 8, c->chunk);
	sdr_put_le32(p + 12, c->seg);
	sdr_put_le64(p + 16, c->from);
}

/* False: no message can be coded like this. */
static bool sdr_rec_code_get(const uint8_t *p, struct sdr_frame_code *c)
{
	c->kind = p[0];
	c->flags = p[1];
	c->k = sdr_get_le16(p + 2);
	c->m = sdr_get_le16(p + 4);
	c->chunk = sdr_get_le32(p + 8);
	c->seg = sdr_get_le32(p + 12);
	c->from = sdr_get_le64(p + 16);
	if (c->kind >= 8 || !(SDR_FRAME_CODE_KINDS >> c->kind & 1) ||
	    c->flags & ~SDR_FRAME_CODE_FLAGS || sdr_get_le16(p + 6))
		return false;
	if (!c->k || !c->m || (uint32_t)c->k + c->m > SDR_CODE_SYMS_MAX)
		return false;
	return c->chunk && c->seg && !(c->seg % c->chunk) && !(c->from % c->chunk);
}

size_t sdr_frame_rec_size(const struct sdr_frame_rec *f)
{
	return (size_t)SDR_REC_FIXED + sdr_rec_fields(f->flags) + f->payload_len;
}

size_t sdr_frame_rec_encode(uint8_t *p, size_t room, const struct sdr_frame_rec *f)
{
	uint8_t *q;

	if (f->payload_len > SDR_CTL_MAX || sdr_frame_rec_size(f) > room)
		return 0;
	p[0] = SDR_FRAME_REC;
	p[1] = f->op;
	sdr_put_le16(p + 2, f->flags);
	sdr_put_le16(p + 4, (uint16_t)f->payload_len);
	sdr_put_le32(p + 6, f->rseq);
	sdr_put_le32(p + 10, f->id);
	q = p + SDR_REC_FIXED;
	if (f->flags & SDR_REC_F_ORDER) {
		sdr_put_le32(q, f->mseq);
		q += 4;
	}
	if (f->flags & SDR_REC_F_LEN) {
		sdr_put_le64(q, f->len);
		q += 8;
	}
	if (f->flags & SDR_REC_F_TAG) {
		sdr_put_le64(q, f->tag);
		q += 8;
	}
	if (f->flags & SDR_REC_F_DATA) {
		sdr_put_le64(q, f->data);
		q += 8;
	}
	if (f->flags & SDR_REC_F_BULK) {
		sdr_put_le32(q, f->msn);
		q += 4;
	}
	if (f->flags & SDR_REC_F_RMA) {
		sdr_put_le64(q, f->addr);
		sdr_put_le64(q + 8, f->key);
		q += 16;
	}
	if (f->flags & SDR_REC_F_STATUS) {
		sdr_put_le16(q, (uint16_t)f->status);
		q += 2;
	}
	if (f->flags & SDR_REC_F_KEY) {
		sdr_put_le64(q, f->va);
		sdr_put_le32(q + 8, f->rkey);
		q += 12;
	}
	if (f->flags & SDR_REC_F_CODE) {
		sdr_rec_code_put(q, &f->code);
		q += SDR_FRAME_CODE_LEN;
	}
	if (f->payload && f->payload_len) {
		memcpy(q, f->payload, f->payload_len);
		q += f->payload_len;
	}
	return (size_t)(q - p);
}

/* Flags without which an operation cannot be carried out. */
static inline uint32_t sdr_rec_must(uint8_t op)
{
	switch (op) {
	case SDR_REC_SEND:
	case SDR_REC_TSEND:
		return SDR_REC_F_ORDER;
	case SDR_REC_WRITE:
	case SDR_REC_READ:
		return SDR_REC_F_RMA;
	case SDR_REC_BIND:
		return SDR_REC_F_BULK;
	default:
		return 0;
	}
}

static const uint8_t *sdr_frame_rec_decode(const uint8_t *p, const uint8_t *end,
					   struct sdr_frame_rec *f)
{
	uint32_t must;

	if (end - p < (ptrdiff_t)SDR_REC_FIXED - 1)
		return NULL;
	f->op = p[0];
	f->flags = sdr_get_le16(p + 1);
	f->payload_len = sdr_get_le16(p + 3);
	f->rseq = sdr_get_le32(p + 5);
	f->id = sdr_get_le32(p + 9);
	p += SDR_REC_FIXED - 1;
	if (f->op < SDR_REC_SEND || f->op > SDR_REC_DONE || f->flags & ~SDR_REC_F_FIELDS)
		return NULL;
	must = sdr_rec_must(f->op);
	/* Whoever says where the bytes come says how many; a PARK has none. */
	if ((f->flags & SDR_REC_F_BULK) && f->op != SDR_REC_PARK)
		must |= SDR_REC_F_LEN;
	if ((f->flags & must) != must || f->payload_len > SDR_CTL_MAX)
		return NULL;
	if ((f->flags & SDR_REC_F_KEY) &&
	    (f->payload_len || (f->op != SDR_REC_READ && f->op != SDR_REC_CTS)))
		return NULL;
	if ((f->flags & SDR_REC_F_CODE) && (f->payload_len || !(f->flags & SDR_REC_F_BULK)))
		return NULL;
	if ((size_t)(end - p) < (size_t)sdr_rec_fields(f->flags) + f->payload_len)
		return NULL;

	f->mseq = 0;
	f->len = f->payload_len;
	f->tag = 0;
	f->data = 0;
	f->msn = 0;
	f->addr = 0;
	f->key = 0;
	f->status = 0;
	f->va = 0;
	f->rkey = 0;
	memset(&f->code, 0, sizeof(f->code));
	if (f->flags & SDR_REC_F_ORDER) {
		f->mseq = sdr_get_le32(p);
		p += 4;
	}
	if (f->flags & SDR_REC_F_LEN) {
		f->len = sdr_get_le64(p);
		p += 8;
	}
	if (f->flags & SDR_REC_F_TAG) {
		f->tag = sdr_get_le64(p);
		p += 8;
	}
	if (f->flags & SDR_REC_F_DATA) {
		f->data = sdr_get_le64(p);
		p += 8;
	}
	if (f->flags & SDR_REC_F_BULK) {
		f->msn = sdr_get_le32(p);
		p += 4;
	}
	if (f->flags & SDR_REC_F_RMA) {
		f->addr = sdr_get_le64(p);
		f->key = sdr_get_le64(p + 8);
		p += 16;
	}
	if (f->flags & SDR_REC_F_STATUS) {
		f->status = (int16_t)sdr_get_le16(p);
		p += 2;
	}
	if (f->flags & SDR_REC_F_KEY) {
		f->va = sdr_get_le64(p);
		f->rkey = sdr_get_le32(p + 8);
		p += 12;
	}
	if (f->flags & SDR_REC_F_CODE) {
		if (!sdr_rec_code_get(p, &f->code))
			return NULL;
		p += SDR_FRAME_CODE_LEN;
	}
	f->payload = p;
	return p + f->payload_len;
}

/* ---- any ------------------------------------------------------------------------------------- */

int sdr_frame_next(const uint8_t **p, const uint8_t *end, struct sdr_frame *out)
{
	const uint8_t *q = *p;

	while (q < end && *q == SDR_FRAME_PAD)
		q++;
	if (q >= end) {
		*p = end;
		return 0;
	}
	out->type = *q++;
	switch (out->type) {
	case SDR_FRAME_ACK:
		q = sdr_frame_ack_decode(q, end, &out->ack);
		break;
	case SDR_FRAME_DACK:
		q = sdr_frame_dack_decode(q, end, &out->dack);
		break;
	case SDR_FRAME_CREDIT:
		if (end - q < 8)
			return -EBADMSG;
		out->credit.msn_limit = sdr_get_le32(q);
		out->credit.mseq_limit = sdr_get_le32(q + 4);
		q += 8;
		break;
	case SDR_FRAME_PING:
		break;
	case SDR_FRAME_END:
		if (end - q < 4)
			return -EBADMSG;
		out->end.msn = sdr_get_le32(q);
		q += 4;
		break;
	case SDR_FRAME_REC:
		q = sdr_frame_rec_decode(q, end, &out->rec);
		break;
	case SDR_FRAME_CLOSE:
		if (end - q < 2)
			return -EBADMSG;
		out->close.reason = sdr_get_le16(q);
		q += 2;
		break;
	default:
		return -EBADMSG;
	}
	if (!q)
		return -EBADMSG;
	*p = q;
	return 1;
}
