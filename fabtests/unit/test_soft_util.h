/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Two soft engines on loopback in one process, connected by one QP.  Loopback delivers inside the
 * send call, so what a poll does not find soon will not come; `wait` only guards against hanging.
 */
#ifndef TEST_SOFT_UTIL_H
#define TEST_SOFT_UTIL_H

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "uc/fault/sdr_fault.h"
#include "uc/soft/sdr_soft.h"
#include "uc/sdr_uc_open.h"

#define PAIR_MTU   1024u
#define PAIR_MSG   (64u * PAIR_MTU)
#define PAIR_EVS   256
#define PAIR_TRIES 200 /* polls without an event before waiting ends */

struct pair {
	struct sdr_uc *a, *b; /* a sends, b receives */
	struct sdr_uc_qp *qa, *qb;
	struct sdr_uc_info ia, ib;
	struct sdr_wire_qp_info wa, wb;
	struct sdr_uc_ev ev[PAIR_EVS];
	uint32_t mtu, msg;
};

struct pair_opt {
	const char *name;  /* engine; NULL: soft:127.0.0.1 */
	const char *fault; /* over a */
	uint32_t mtu, msg;
	uint8_t channels, generations, off;
	struct sdr_imm_split split;
	/* further sources of a, and of b */
	const struct sockaddr_storage *more_a, *more_b;
	uint8_t nmore_a, nmore_b;
	uint64_t shm;			/* of both */
	uint8_t workers;		/* of both, */
	const struct sdr_uc_crew *crew; /* and who they work for */
};

static inline void pair_open(struct pair *p, const struct pair_opt *opt)
{
	struct sdr_uc_open_attr oa = {
		.off = opt->off,
		.channels = opt->channels,
		.workers = opt->workers,
		.mtu = opt->mtu,
		.shm = opt->shm,
	};
	struct sdr_uc_qp_attr qa = { .generations = opt->generations ? opt->generations : 4 };
	const char *name = opt->name ? opt->name : "soft:127.0.0.1";
	char err[SDR_UC_ERR_LEN] = "";

	memset(p, 0, sizeof(*p));
	oa.err = err;
	oa.err_len = sizeof(err);
	oa.more = opt->more_b;
	oa.nmore = opt->nmore_b;
	if (sdr_uc_open(name, &oa, &p->b))
		fail_msg("open: %s", err);
	oa.fault = opt->fault;
	oa.more = opt->more_a;
	oa.nmore = opt->nmore_a;
	if (sdr_uc_open(name, &oa, &p->a))
		fail_msg("open: %s", err);
	if (opt->workers) {
		p->a->ops->crew(p->a, opt->crew);
		p->b->ops->crew(p->b, opt->crew);
	}
	p->mtu = opt->mtu ? opt->mtu : PAIR_MTU;
	p->msg = opt->msg ? opt->msg : PAIR_MSG;
	qa.channels = opt->channels ? opt->channels : 1;
	qa.split = opt->split.id_bits ? opt->split : (struct sdr_imm_split)SDR_IMM_SPLIT_DEFAULT;
	qa.mtu = p->mtu;
	qa.max_msg = p->msg;
	qa.cookie = p;
	qa.rand[0] = 0x123456789abcdef0;
	qa.rand[1] = 0xfeedface12345678;
	assert_int_equal(p->b->ops->qp_create(p->b, &qa, &p->qb), 0);
	qa.rand[1] = 0x1111111122222222;
	assert_int_equal(p->a->ops->qp_create(p->a, &qa, &p->qa), 0);
	p->a->ops->qp_info(p->qa, &p->wa);
	p->b->ops->qp_info(p->qb, &p->wb);
	assert_int_equal(p->a->ops->qp_connect(p->qa, &p->wb, NULL), 0);
	assert_int_equal(p->b->ops->qp_connect(p->qb, &p->wa, NULL), 0);
	p->a->ops->info(p->a, &p->ia);
	p->b->ops->info(p->b, &p->ib);
}

static inline void pair_close(struct pair *p)
{
	p->a->ops->qp_destroy(p->qa);
	p->b->ops->qp_destroy(p->qb);
	p->a->ops->close(p->a);
	p->b->ops->close(p->b);
}

static inline struct sdr_uc_tx pair_write(struct pair *p, uint32_t slot, uint8_t gen,
					  const void *buf, uint32_t first, uint32_t len)
{
	struct sdr_uc_tx t = { .kind = SDR_UC_TX_WRITE, .gen = gen, .len = len };

	t.buf = (const uint8_t *)buf + (size_t)first * p->mtu;
	t.w.qp = p->qa;
	t.w.slot = slot;
	t.w.first = first;
	t.w.user_imm = 0xa1b2c3d4;
	return t;
}

static inline struct sdr_uc_tx pair_ctl(const struct sdr_uc_addr *to, const void *buf, uint32_t len)
{
	struct sdr_uc_tx t = { .kind = SDR_UC_TX_CTL, .len = len, .buf = buf };

	t.to = to;
	return t;
}

static inline void pair_post(struct pair *p, struct sdr_uc_tx t)
{
	assert_int_equal(p->a->ops->post(p->a, &t, 1), 1);
}

/*
 * Events of uc until n have come or nothing comes any more; returns how many.  What control events
 * point to is copied, so that it outlives the next poll.
 */
static inline int pair_wait(struct sdr_uc *uc, struct sdr_uc_ev *ev, int n)
{
	static uint8_t buf[PAIR_EVS][SDR_PROBE_MAX];
	static struct sdr_uc_addr from[PAIR_EVS];
	int got = 0, idle = 0, k;

	while (got < n && idle < PAIR_TRIES) {
		struct pollfd fd = { .fd = uc->ops->fd(uc), .events = POLLIN };
		struct sdr_uc_ev tmp[SDR_UC_POLL_MIN];
		int i;

		k = uc->ops->poll(uc, tmp, SDR_UC_POLL_MIN);
		for (i = 0; i < k && got < n; i++, got++) {
			ev[got] = tmp[i];
			if (tmp[i].kind == SDR_UC_EV_CTL) {
				memcpy(buf[got], tmp[i].c.buf, tmp[i].len);
				from[got] = *tmp[i].c.from;
				ev[got].c.buf = buf[got];
				ev[got].c.from = &from[got];
			}
		}
		if (!k && uc->ops->deadline(uc) == UINT64_MAX)
			poll(&fd, 1, 1);
		idle = k ? 0 : idle + 1;
	}
	return got;
}

/* Nothing is there (a few polls, since a bad train may lie in front of a good one). */
static inline void pair_quiet(struct sdr_uc *uc)
{
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	int i;

	for (i = 0; i < 4; i++)
		assert_int_equal(uc->ops->poll(uc, ev, SDR_UC_POLL_MIN), 0);
}

static inline struct sdr_uc_stats pair_stats(struct sdr_uc *uc)
{
	struct sdr_uc_stats st;

	uc->ops->stats(uc, &st);
	return st;
}

static inline void fill(uint8_t *p, size_t n, uint32_t seed)
{
	for (; n; n--) {
		seed = seed * 1664525 + 1013904223;
		*p++ = (uint8_t)(seed >> 24);
	}
}

#endif /* TEST_SOFT_UTIL_H */
