/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * An inner engine for fault injection that has no network: it writes down every packet it is given,
 * with the time of its own clock, which only the test moves, and takes as many as the test allows.
 */
#ifndef TEST_FAULT_UTIL_H
#define TEST_FAULT_UTIL_H

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "uc/fault/sdr_fault.h"

#define REC_MTU	  1000u
#define REC_BYTES 4u /* of each packet's payload that are kept */
#define MS	  1000000ull

struct rec_pkt {
	uint64_t at; /* ns */
	uint8_t kind, flags;
	uint32_t first, len, head; /* head: first bytes of the payload, little-endian */
	uint32_t slot, rkey;	   /* WRITE */
	uint64_t va;		   /* WRITE */
	const void *mr;		   /* WRITE */
};

struct rec {
	struct sdr_uc uc;
	uint64_t now;
	int64_t allow; /* packets that post still takes; < 0: any number */
	struct rec_pkt *pkt;
	uint32_t n, cap, posts, descs;
	int closed, qps;
};

struct rec_qp {
	struct sdr_uc_qp qp;
	uint32_t mtu;
};

static void rec_note(struct rec *r, const struct sdr_uc_tx *t, uint32_t i, uint32_t mtu)
{
	uint64_t at = (uint64_t)i * mtu;
	struct rec_pkt *p;

	if (r->n == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 1024;
		r->pkt = realloc(r->pkt, r->cap * sizeof(*r->pkt));
		assert_non_null(r->pkt);
	}
	p = &r->pkt[r->n++];
	memset(p, 0, sizeof(*p));
	p->at = r->now;
	p->kind = t->kind;
	p->flags = t->flags;
	p->len = t->kind == SDR_UC_TX_WRITE && t->len - at > mtu ? mtu : (uint32_t)(t->len - at);
	p->first = t->kind == SDR_UC_TX_WRITE ? t->w.first + i : t->to->b[0];
	if (t->kind == SDR_UC_TX_WRITE) {
		p->slot = t->w.slot;
		p->rkey = t->w.rkey;
		p->va = t->w.va;
		p->mr = t->mr;
	}
	memcpy(&p->head, t->buf + at, p->len < REC_BYTES ? p->len : REC_BYTES);
}

static int rec_post(struct sdr_uc *uc, struct sdr_uc_tx *v, int n)
{
	struct rec *r = (struct rec *)uc;
	int d;

	r->posts++;
	for (d = 0; d < n; d++) {
		struct sdr_uc_tx *t = &v[d];
		uint32_t mtu = t->kind == SDR_UC_TX_WRITE ? ((struct rec_qp *)t->w.qp)->mtu
							  : UINT32_MAX,
			 i;
		uint32_t total =
			t->kind == SDR_UC_TX_WRITE && t->len ? (t->len + mtu - 1) / mtu : 1;

		for (i = 0; i < total; i++) {
			if (!r->allow) {
				if (i) {
					t->buf += i * mtu;
					t->len -= i * mtu;
					t->w.first += i;
				}
				return d;
			}
			rec_note(r, t, i, mtu);
			r->allow -= r->allow > 0;
		}
		r->descs++;
	}
	return n;
}

static void rec_close(struct sdr_uc *uc)
{
	((struct rec *)uc)->closed++;
}

static uint64_t rec_now(struct sdr_uc *uc)
{
	return ((struct rec *)uc)->now;
}

static int rec_qp_create(struct sdr_uc *uc, const struct sdr_uc_qp_attr *a, struct sdr_uc_qp **qp)
{
	struct rec_qp *q = calloc(1, sizeof(*q));

	assert_non_null(q);
	q->qp.uc = uc;
	q->mtu = a->mtu;
	*qp = &q->qp;
	((struct rec *)uc)->qps++;
	return 0;
}

static void rec_qp_destroy(struct sdr_uc_qp *qp)
{
	((struct rec *)qp->uc)->qps--;
	free(qp);
}

static void rec_stats(struct sdr_uc *uc, struct sdr_uc_stats *out)
{
	(void)uc;
	memset(out, 0, sizeof(*out));
}

static int rec_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max)
{
	(void)uc;
	(void)ev;
	(void)max;
	return 0;
}

static uint64_t rec_deadline(struct sdr_uc *uc)
{
	(void)uc;
	return UINT64_MAX;
}

/* Its time does not pass by itself. */
static int rec_fd(struct sdr_uc *uc)
{
	(void)uc;
	return -1;
}

static const struct sdr_uc_ops rec_ops = {
	.close = rec_close,
	.now = rec_now,
	.stats = rec_stats,
	.qp_create = rec_qp_create,
	.qp_destroy = rec_qp_destroy,
	.post = rec_post,
	.poll = rec_poll,
	.fd = rec_fd,
	.deadline = rec_deadline,
};

struct bad_net {
	struct rec r;
	struct sdr_uc *f;
	struct sdr_uc_qp *q;
	struct sdr_uc_addr to;
};

static inline void bad_net_open(struct bad_net *b, const char *spec)
{
	struct sdr_uc_qp_attr a = { .channels = 1, .generations = 1, .mtu = REC_MTU };
	char err[160] = "";

	memset(b, 0, sizeof(*b));
	b->r.uc.ops = &rec_ops;
	b->r.now = 1000 * MS;
	b->r.allow = -1;
	b->to.len = 1;
	b->to.b[0] = 99;
	if (sdr_fault_open(&b->r.uc, spec, 1, &b->f, err, sizeof(err)))
		fail_msg("%s", err);
	assert_int_equal(b->f->ops->qp_create(b->f, &a, &b->q), 0);
	assert_ptr_equal(b->q->uc, b->f);
}

static inline void bad_net_close(struct bad_net *b)
{
	b->q->uc->ops->qp_destroy(b->q);
	assert_int_equal(b->r.qps, 0);
	b->f->ops->close(b->f);
	assert_int_equal(b->r.closed, 1);
	free(b->r.pkt);
}

static inline struct sdr_uc_tx bad_net_write(struct bad_net *b, const uint8_t *buf, uint32_t first,
					     uint32_t pkts)
{
	struct sdr_uc_tx t = { .kind = SDR_UC_TX_WRITE,
			       .len = pkts * REC_MTU,
			       .buf = buf + (size_t)first * REC_MTU };

	t.w.qp = b->q;
	t.w.first = first;
	return t;
}

static inline struct sdr_uc_tx bad_net_ctl(struct bad_net *b, const void *buf, uint32_t len)
{
	struct sdr_uc_tx t = { .kind = SDR_UC_TX_CTL, .len = len, .buf = buf };

	t.to = &b->to;
	return t;
}

/* Runs to the deadlines until nothing is held any more or the clock would pass `until`. */
static inline void bad_net_run(struct bad_net *b, uint64_t until)
{
	uint64_t t;

	while ((t = b->f->ops->deadline(b->f)) != UINT64_MAX && t <= until) {
		if (t > b->r.now)
			b->r.now = t;
		b->f->ops->poll(b->f, NULL, 0);
	}
}

static inline struct sdr_uc_stats bad_net_stats(struct bad_net *b)
{
	struct sdr_uc_stats st;

	b->f->ops->stats(b->f, &st);
	return st;
}

/* A buffer of n packets; packet i begins with the number i. */
static inline uint8_t *numbered(uint32_t n)
{
	uint8_t *p = calloc(n, REC_MTU);
	uint32_t i;

	assert_non_null(p);
	for (i = 0; i < n; i++)
		sdr_put_le32(p + (size_t)i * REC_MTU, i);
	return p;
}

#endif /* TEST_FAULT_UTIL_H */
