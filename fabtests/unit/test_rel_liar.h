/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A peer that lies: well-formed packets on an open connection that say what no honest peer says.
 * The connection may fail, its own operations may fail; the process, its memory and everybody else
 * must not.
 *
 * Node 0 is the victim; packets come in node 1's name, with packet and record numbers of their own,
 * far ahead of the real ones so that those still work.  Node 2 is honest.
 */
#ifndef TEST_REL_LIAR_H
#define TEST_REL_LIAR_H

#include "../bed/bed.h"

struct liar {
	struct bed *b;
	uint32_t from; /* node in whose name it speaks */
	uint64_t cid;  /* of the victim's connection */
	uint32_t pn, rseq;
	uint8_t buf[SDR_CTL_MAX];
	size_t n;
};

static inline struct liar liar_open(void)
{
	struct liar l = { .b = bed_open(3), .from = 1 };

	bed_warm(l.b, 0, 1);
	bed_warm(l.b, 0, 2);
	l.cid = bed_conn(l.b, 0, 1)->id.cid;
	l.pn = 1000;
	l.rseq = bed_conn(l.b, 0, 1)->rec.rx_next;
	return l;
}

static inline void liar_say(struct liar *l)
{
	if (l->n)
		bed_forge(l->b, l->from, 0, l->cid, l->pn++, l->buf, l->n);
	l->n = 0;
	bed_run(l->b, 1000);
}

static inline void liar_rec(struct liar *l, struct sdr_frame_rec f, const void *payload)
{
	uint8_t empty[1] = { 0 };

	f.rseq = l->rseq++;
	f.payload = payload ? payload : empty;
	if (l->n + sdr_frame_rec_size(&f) + SDR_PACKET_HDR > 2000)
		liar_say(l);
	l->n += sdr_frame_rec_encode(l->buf + l->n, sizeof(l->buf) - l->n, &f);
}

/* A WRITE that announces its bytes as messages from msn on. */
static inline void liar_write(struct liar *l, uint32_t id, uint32_t msn, uint64_t len, uint64_t key)
{
	liar_rec(l,
		 (struct sdr_frame_rec){ .op = SDR_REC_WRITE,
					 .flags = SDR_REC_F_RMA | SDR_REC_F_LEN | SDR_REC_F_BULK,
					 .id = id,
					 .msn = msn,
					 .len = len,
					 .key = key },
		 NULL);
}

/* The others go on as if nothing had happened. */
static inline void liar_close(struct liar *l)
{
	struct bed *b = l->b;
	uint8_t *p = bed_buf(b, 100000, 0);
	struct bed_op *r, *s;

	liar_say(l);
	r = bed_rr(b, 0, (struct sdr_rel_rr){ .kind = SDR_REL_RECV, .peer = bed_peer(b, 0, 2) }, p,
		   100000);
	s = bed_send(b, 2, 0, bed_buf(b, 100000, 9), 100000, 0);
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(r);
	assert_true(bed_same(p, 100000, 9));
	bed_close(b);
}

#endif /* TEST_REL_LIAR_H */
