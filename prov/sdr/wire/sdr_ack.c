/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Acknowledgements: ACK of packets, DACK of a message's data packets, and the counts of marks
 * beside them (MARKS, struct sdr_frame_marks).  Layout, little-endian, the
 * type first; [v] is a varint (sdr_varint.h):
 *
 *    ACK     1  delay_us[v]  n + flags(1)  hi(4)  span[v]  { gap[v]  span[v] } n - 1 times
 *               PATH: path(1)   ECN: ect0[v] ect1[v] ce[v]
 *               span: packets of the range less one; gap: packets missing between two ranges, at
 *               least one
 *    DACK    2  flags(1)  runs_len(2)  msn(4)  cum(4)  base(4)  end(4)  echo(4)  echo_delay_us(4)
 *               dups(4)   DECODED: dec_pkts(4)  dec_chunks(4)   PATH: path(1)
 *               ECN: ect0(4)  ect1(4)  ce(4)   not DECODED: runs[v]...
 *
 * A decoded one is well formed in itself: ranges descend and span less than half the number space,
 * runs add up to exactly [base, end).  What the numbers stand for is checked by who knows.  No
 * state, no threads.
 */
#include <errno.h>
#include "base/sdr_bitmap.h"
#include "base/sdr_endian.h"
#include "sdr_frame_impl.h"
#include "sdr_varint.h"

#define SDR_ACK_SPAN   (1u << 31) /* packet numbers that one ACK may cover */
#define SDR_DACK_FIXED 32u	  /* bytes before the runs */
#define SDR_DACK_DEC   8u	  /* bytes of what DECODED adds */
#define SDR_DACK_PKTS  (1u << 30) /* maximum packets per message: off_bits <= 30 */
#define SDR_DACK_ECNS  12u	  /* bytes of what ECN adds */
#define SDR_DACK_FLAGS \
	(SDR_DACK_COMPLETE | SDR_DACK_GAP | SDR_DACK_DECODED | SDR_DACK_PATH | SDR_DACK_ECN)
#define SDR_ACK_N     0x1fu /* of the byte that holds n and flags: n */
#define SDR_ACK_FLAGS (SDR_ACK_PATH | SDR_ACK_ECN)

/* ---- ACK ------------------------------------------------------------------------------------- */

static uint8_t *sdr_ecn_put(uint8_t *q, const struct sdr_frame_ecn *e)
{
	q = sdr_varint_put(q, e->ect0);
	q = sdr_varint_put(q, e->ect1);
	return sdr_varint_put(q, e->ce);
}

static size_t sdr_ecn_size(const struct sdr_frame_ecn *e)
{
	return sdr_varint_size(e->ect0) + sdr_varint_size(e->ect1) + sdr_varint_size(e->ce);
}

/* What is behind them; NULL: malformed. */
static const uint8_t *sdr_ecn_get(const uint8_t *p, const uint8_t *end, struct sdr_frame_ecn *e)
{
	uint32_t *count[] = { &e->ect0, &e->ect1, &e->ce };
	uint32_t i, k;

	for (i = 0; i < 3; i++) {
		k = sdr_varint_get(p, end, count[i]);
		if (!k)
			return NULL;
		p += k;
	}
	return p;
}

size_t sdr_frame_ack_encode(uint8_t *p, size_t room, const struct sdr_frame_ack *f)
{
	uint8_t *q = p;
	uint32_t i;
	size_t size;

	if (!f->n || f->n > SDR_ACK_RANGES || f->flags & ~SDR_ACK_FLAGS)
		return 0;
	size = 1 + sdr_varint_size(f->delay_us) + 1 + 4 + sdr_varint_size(f->r[0].hi - f->r[0].lo);
	for (i = 1; i < f->n; i++)
		size += sdr_varint_size(f->r[i - 1].lo - f->r[i].hi - 1) +
			sdr_varint_size(f->r[i].hi - f->r[i].lo);
	size += f->flags & SDR_ACK_PATH ? 1 : 0;
	if (f->flags & SDR_ACK_ECN)
		size += sdr_ecn_size(&f->ecn);
	if (size > room)
		return 0;

	*q++ = SDR_FRAME_ACK;
	q = sdr_varint_put(q, f->delay_us);
	*q++ = (uint8_t)(f->n | f->flags);
	sdr_put_le32(q, f->r[0].hi);
	q = sdr_varint_put(q + 4, f->r[0].hi - f->r[0].lo);
	for (i = 1; i < f->n; i++) {
		q = sdr_varint_put(q, f->r[i - 1].lo - f->r[i].hi - 1);
		q = sdr_varint_put(q, f->r[i].hi - f->r[i].lo);
	}
	if (f->flags & SDR_ACK_PATH)
		*q++ = f->path;
	if (f->flags & SDR_ACK_ECN)
		q = sdr_ecn_put(q, &f->ecn);
	return (size_t)(q - p);
}

/* What follows the ranges; NULL: malformed. */
static const uint8_t *sdr_frame_ack_more(const uint8_t *p, const uint8_t *end,
					 struct sdr_frame_ack *f)
{
	f->path = 0;
	f->ecn = (struct sdr_frame_ecn){ 0 };
	if (f->flags & SDR_ACK_PATH) {
		if (p >= end)
			return NULL;
		f->path = *p++;
	}
	return f->flags & SDR_ACK_ECN ? sdr_ecn_get(p, end, &f->ecn) : p;
}

const uint8_t *sdr_frame_ack_decode(const uint8_t *p, const uint8_t *end, struct sdr_frame_ack *f)
{
	uint32_t i, k, gap, span;
	uint64_t used = 0; /* numbers from r[0].hi down to the range's lo */

	k = sdr_varint_get(p, end, &f->delay_us);
	if (!k)
		return NULL;
	p += k;
	if (end - p < 5)
		return NULL;
	f->n = *p & SDR_ACK_N;
	f->flags = *p++ & (uint8_t)~SDR_ACK_N;
	if (!f->n || f->n > SDR_ACK_RANGES || f->flags & ~SDR_ACK_FLAGS)
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
	return sdr_frame_ack_more(p, end, f);
}

/* ---- MARKS ----------------------------------------------------------------------------------- */

size_t sdr_frame_marks_encode(uint8_t *p, size_t room, const struct sdr_frame_marks *f)
{
	uint8_t *q = p + SDR_FRAME_LONG_HDR;
	uint32_t i;

	for (i = 0; i < f->n; i++) {
		if ((size_t)(q - p) + 1 + sdr_ecn_size(&f->v[i].ecn) > room)
			break;
		*q++ = f->v[i].path;
		q = sdr_ecn_put(q, &f->v[i].ecn);
	}
	if (!i)
		return 0;
	p[0] = SDR_FRAME_MARKS;
	sdr_put_le16(p + 1, (uint16_t)(q - p - SDR_FRAME_LONG_HDR));
	return (size_t)(q - p);
}

bool sdr_frame_marks_decode(const uint8_t *p, const uint8_t *end, struct sdr_frame_marks *f)
{
	uint8_t last = 0;

	for (f->n = 0; p && p < end; f->n++) {
		if (*p <= last || *p >= SDR_PATHS_MAX)
			return false;
		last = f->v[f->n].path = *p;
		p = sdr_ecn_get(p + 1, end, &f->v[f->n].ecn);
	}
	return p && f->n;
}

/* ---- DACK ------------------------------------------------------------------------------------ */

size_t sdr_frame_dack_encode(uint8_t *p, size_t room, struct sdr_frame_dack *f,
			     const uint64_t *bits, uint32_t limit)
{
	const size_t fixed = SDR_DACK_FIXED + (f->flags & SDR_DACK_DECODED ? SDR_DACK_DEC : 0) +
			     (f->flags & SDR_DACK_PATH ? 1 : 0) +
			     (f->flags & SDR_DACK_ECN ? SDR_DACK_ECNS : 0);
	uint8_t *q = p + fixed;
	const uint8_t *stop;
	uint8_t *more = p + SDR_DACK_FIXED;
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
		next = sdr_bitmap_next(bits, pkt, limit, skip);
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
		sdr_put_le32(more, f->dec_pkts);
		sdr_put_le32(more + 4, f->dec_chunks);
		more += SDR_DACK_DEC;
	}
	if (f->flags & SDR_DACK_PATH)
		*more++ = f->path;
	if (f->flags & SDR_DACK_ECN) {
		sdr_put_le32(more, f->ecn.ect0);
		sdr_put_le32(more + 4, f->ecn.ect1);
		sdr_put_le32(more + 8, f->ecn.ce);
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

/* What lies between the fixed part and the runs; NULL: malformed. */
static const uint8_t *sdr_frame_dack_more(const uint8_t *p, const uint8_t *end,
					  struct sdr_frame_dack *f)
{
	f->dec_pkts = 0;
	f->dec_chunks = 0;
	f->path = 0;
	f->ecn = (struct sdr_frame_ecn){ 0 };
	if (f->flags & SDR_DACK_DECODED) {
		if (!(f->flags & SDR_DACK_COMPLETE) || end - p < (ptrdiff_t)SDR_DACK_DEC)
			return NULL;
		f->dec_pkts = sdr_get_le32(p);
		f->dec_chunks = sdr_get_le32(p + 4);
		if (!f->dec_chunks || f->dec_chunks > f->dec_pkts)
			return NULL;
		p += SDR_DACK_DEC;
	}
	if (f->flags & SDR_DACK_PATH) {
		if (p >= end)
			return NULL;
		f->path = *p++;
	}
	if (f->flags & SDR_DACK_ECN) {
		if (end - p < (ptrdiff_t)SDR_DACK_ECNS)
			return NULL;
		f->ecn.ect0 = sdr_get_le32(p);
		f->ecn.ect1 = sdr_get_le32(p + 4);
		f->ecn.ce = sdr_get_le32(p + 8);
		p += SDR_DACK_ECNS;
	}
	return p;
}

const uint8_t *sdr_frame_dack_decode(const uint8_t *p, const uint8_t *end, struct sdr_frame_dack *f)
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
	if (f->flags & ~SDR_DACK_FLAGS)
		return NULL;
	p = sdr_frame_dack_more(p, end, f);
	if (!p)
		return NULL;
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
