/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The frame REC.  Layout, little-endian:
 *
 *    REC     6  op(1)  flags(2)  payload_len(2)  rseq(4)  id(4)  fields  payload
 *
 *    fields     each only with its flag and in this order: mseq(4) len(8) tag(8) data(8) msn(4)
 *               addr(8) key(8) status(2) va(8) rkey(4) code(24), which is kind(1) flags(1) k(2)
 *               m(2) zero(2) chunk(4) seg(4) from(8); turn(4) with LEAD or FOLLOW; berth(4)
 *               head(8)
 *
 * A decoded record carries the fields without which its operation means nothing, and a code has
 * chunks and symbols that some message can have.  What numbers stand for (known messages, open
 * operations, bounds of regions, what was offered for decoding) is checked by who knows them.  No
 * state, no threads.
 */
#include <stdbool.h>
#include <string.h>
#include "base/sdr_endian.h"
#include "sdr_frame_impl.h"
#include "sdr_limits.h"

#define SDR_REC_FIXED 14u /* bytes before the optional fields */

/* Bytes of the optional fields. */
static inline uint32_t sdr_rec_fields(uint32_t flags)
{
	return (flags & SDR_REC_F_ORDER ? 4u : 0) + (flags & SDR_REC_F_LEN ? 8u : 0) +
	       (flags & SDR_REC_F_TAG ? 8u : 0) + (flags & SDR_REC_F_DATA ? 8u : 0) +
	       (flags & SDR_REC_F_BULK ? 4u : 0) + (flags & SDR_REC_F_RMA ? 16u : 0) +
	       (flags & SDR_REC_F_STATUS ? 2u : 0) + (flags & SDR_REC_F_KEY ? 12u : 0) +
	       (flags & SDR_REC_F_CODE ? SDR_FRAME_CODE_LEN : 0) +
	       (flags & SDR_REC_F_TURN ? 4u : 0) + (flags & SDR_REC_F_BERTH ? 4u : 0) +
	       (flags & SDR_REC_F_HEAD ? 8u : 0);
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
	if (c->kind >= 8 || !(SDR_WIRE_CODE_KINDS >> c->kind & 1) ||
	    c->flags & ~SDR_WIRE_CODE_FLAGS || sdr_get_le16(p + 6))
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
	if (f->flags & SDR_REC_F_TURN) {
		sdr_put_le32(q, f->turn);
		q += 4;
	}
	if (f->flags & SDR_REC_F_BERTH) {
		sdr_put_le32(q, f->berth);
		q += 4;
	}
	if (f->flags & SDR_REC_F_HEAD) {
		sdr_put_le64(q, f->head);
		q += 8;
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
	case SDR_REC_ATOMIC:
		return SDR_REC_F_RMA;
	case SDR_REC_ATOMIC_END:
		return SDR_REC_F_RMA | SDR_REC_F_LEN | SDR_REC_F_TAG;
	case SDR_REC_BIND:
		return SDR_REC_F_BULK;
	case SDR_REC_BERTH:
		return SDR_REC_F_LEN;
	default:
		return 0;
	}
}

static inline bool sdr_rec_known(uint8_t op)
{
	return (op >= SDR_REC_SEND && op <= SDR_REC_LAST) || op == SDR_REC_CALL ||
	       op == SDR_REC_BERTH || op >= SDR_REC_TEST;
}

/* It begins an operation of its sender's: others may have to follow it. */
static inline bool sdr_rec_begins(uint8_t op)
{
	switch (op) {
	case SDR_REC_SEND:
	case SDR_REC_TSEND:
	case SDR_REC_WRITE:
	case SDR_REC_READ:
	case SDR_REC_ATOMIC:
		return true;
	default:
		return op >= SDR_REC_TEST;
	}
}

/* It may say under which key bytes may come. */
static inline bool sdr_rec_grants(uint8_t op)
{
	return op == SDR_REC_READ || op == SDR_REC_CTS || op == SDR_REC_BERTH;
}

/* Its bytes may come to a berth, or its parity alone. */
static inline bool sdr_rec_berths(const struct sdr_frame_rec *f)
{
	switch (f->op) {
	case SDR_REC_SEND:
	case SDR_REC_TSEND:
	case SDR_REC_WRITE:
		return true;
	case SDR_REC_BIND:
	case SDR_REC_READ_RSP:
		return f->flags & SDR_REC_F_CODE;
	default:
		return f->op >= SDR_REC_TEST;
	}
}

/* It may speak of the head of a transfer: one to a berth, or one whose rest has a key. */
static inline bool sdr_rec_heads(const struct sdr_frame_rec *f)
{
	switch (f->op) {
	case SDR_REC_SEND:
	case SDR_REC_TSEND:
	case SDR_REC_WRITE:
		return f->flags & SDR_REC_F_BERTH;
	case SDR_REC_CTS:
		return f->flags & SDR_REC_F_KEY;
	default:
		return f->op >= SDR_REC_TEST;
	}
}

/* What the flags announce, in this order; NULL: parity, or a head, that cannot be. */
static const uint8_t *sdr_rec_fields_get(const uint8_t *p, struct sdr_frame_rec *f)
{
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
	f->turn = 0;
	f->berth = 0;
	f->head = 0;
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
	if (f->flags & SDR_REC_F_TURN) {
		f->turn = sdr_get_le32(p);
		p += 4;
	}
	if (f->flags & SDR_REC_F_BERTH) {
		f->berth = sdr_get_le32(p);
		p += 4;
	}
	if (f->flags & SDR_REC_F_HEAD) {
		f->head = sdr_get_le64(p);
		if (!f->head || (f->flags & SDR_REC_F_BULK && f->head >= f->len))
			return NULL;
		p += 8;
	}
	return p;
}

const uint8_t *sdr_frame_rec_decode(const uint8_t *p, const uint8_t *end, struct sdr_frame_rec *f)
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
	if (!sdr_rec_known(f->op) || f->flags & ~SDR_REC_F_FIELDS)
		return NULL;
	must = sdr_rec_must(f->op);
	/* A record that says where the bytes come says how many; a PARK has none. */
	if ((f->flags & SDR_REC_F_BULK) && f->op != SDR_REC_PARK)
		must |= SDR_REC_F_LEN;
	if ((f->flags & must) != must || f->payload_len > SDR_CTL_MAX)
		return NULL;
	if ((f->flags & SDR_REC_F_KEY) && (f->payload_len || !sdr_rec_grants(f->op)))
		return NULL;
	if ((f->flags & SDR_REC_F_BULK) && f->op >= SDR_REC_ATOMIC && f->op <= SDR_REC_ATOMIC_END)
		return NULL;
	if ((f->flags & SDR_REC_F_CODE) && (f->payload_len || !(f->flags & SDR_REC_F_BULK)))
		return NULL;
	if ((f->flags & SDR_REC_F_TURN) && !sdr_rec_begins(f->op))
		return NULL;
	if ((f->flags & SDR_REC_F_BERTH) &&
	    (f->payload_len || !(f->flags & SDR_REC_F_BULK) || !sdr_rec_berths(f)))
		return NULL;
	if ((f->flags & SDR_REC_F_HEAD) && !sdr_rec_heads(f))
		return NULL;
	if ((size_t)(end - p) < (size_t)sdr_rec_fields(f->flags) + f->payload_len)
		return NULL;

	p = sdr_rec_fields_get(p, f);
	if (!p)
		return NULL;
	f->payload = p;
	return p + f->payload_len;
}
