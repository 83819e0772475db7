/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the tests of prov/sdr/sdk share: two contexts with a connected QP each on a loopback
 * network, a repeatable generator of random numbers, a byte pattern.
 */
#ifndef TEST_SDK_H
#define TEST_SDK_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "base/sdr_rand.h"
#include "base/sdr_bitmap.h"
#include "sdk/sdr_context.h"
#include "sdk/sdr_cts.h"
#include "sdk/sdr_mr.h"
#include "sdk/sdr_qp.h"
#include "sdk/sdr_recv.h"
#include "sdk/sdr_send.h"
#include "sdk/sdr_send_run.h"
#include "uc_loop.h"

#define MTU 256u

struct pair {
	struct loop_net *net;
	struct sdr_context *a, *b; /* a sends, b receives */
	struct sdr_qp *s, *r;
};

static inline uint8_t pattern(uint32_t msn, uint64_t i)
{
	return (uint8_t)(msn * 31 + i + (i >> 8) * 7 + 1);
}

static inline void pattern_fill(uint8_t *p, uint32_t msn, uint64_t len)
{
	uint64_t i;

	for (i = 0; i < len; i++)
		p[i] = pattern(msn, i);
}

static inline void pattern_check(const uint8_t *p, uint32_t msn, uint64_t len)
{
	uint64_t i;

	for (i = 0; i < len; i++)
		assert_int_equal(p[i], pattern(msn, i));
}

static inline struct sdr_qp_attr attr_small(void)
{
	struct sdr_qp_attr a = {
		.size = sizeof(a), .mtu = MTU, .chunk = 4 * MTU, .max_msg = 64 * MTU
	};

	a.id_bits = 4;
	a.off_bits = 24;
	a.user_bits = 4;
	return a;
}

static inline void pair_qps(struct pair *p, const struct sdr_qp_attr *attr,
			    const struct sdr_qp_hooks *hooks)
{
	uint8_t info[SDR_QP_INFO_SIZE];

	p->s = sdr_qp_create_hooked(p->a, attr, hooks);
	p->r = sdr_qp_create_hooked(p->b, attr, hooks);
	assert_non_null(p->s);
	assert_non_null(p->r);
	assert_int_equal(sdr_qp_info_get(p->r, info), 0);
	assert_int_equal(sdr_qp_connect(p->s, info), 0);
	assert_int_equal(sdr_qp_info_get(p->s, info), 0);
	assert_int_equal(sdr_qp_connect(p->r, info), 0);
}

static inline void pair_open(struct pair *p, enum loop_mode mode, const struct sdr_qp_attr *attr,
			     const struct sdr_qp_hooks *hooks)
{
	static const uint64_t ra[2] = { 1, 2 }, rb[2] = { 3, 4 };
	struct sdr_uc *uc;

	memset(p, 0, sizeof(*p));
	p->net = loop_net_create(mode, 4096);
	assert_int_equal(loop_open(p->net, 0, &uc), 0);
	p->a = sdr_context_create_on(uc, NULL, ra);
	assert_non_null(p->a);
	assert_int_equal(loop_open(p->net, 1, &uc), 0);
	p->b = sdr_context_create_on(uc, NULL, rb);
	assert_non_null(p->b);
	if (attr)
		pair_qps(p, attr, hooks);
}

static inline void pair_close(struct pair *p)
{
	if (p->s)
		assert_int_equal(sdr_qp_destroy(p->s), 0);
	if (p->r)
		assert_int_equal(sdr_qp_destroy(p->r), 0);
	assert_int_equal(p->net->binds, 0);
	assert_int_equal(sdr_context_destroy(p->a), 0);
	assert_int_equal(sdr_context_destroy(p->b), 0);
	loop_net_destroy(p->net);
}

/* Both sides until nothing moves. */
static inline void pair_run(struct pair *p)
{
	int i;

	for (i = 0; i < 100000; i++) {
		int a = sdr_context_progress(p->a), b = sdr_context_progress(p->b);

		assert_true(a >= 0 && b >= 0);
		if (!a && !b && sdr_context_tx_idle(p->a) && sdr_context_tx_idle(p->b) &&
		    !loop_pending(p->net, 0) && !loop_pending(p->net, 1))
			return;
	}
	fail_msg("no end");
}

static inline struct sdr_rcv_handle *post(struct pair *p, void *buf, uint64_t len)
{
	struct sdr_rcv_wr wr = { .addr = buf, .length = len };
	struct sdr_rcv_handle *h = NULL;

	assert_int_equal(sdr_recv_post(p->r, &wr, &h), 0);
	assert_non_null(h);
	return h;
}

static inline struct sdr_snd_handle *xsend(struct pair *p, const void *buf, uint64_t len)
{
	struct sdr_snd_wr wr = { .addr = buf, .length = len };
	struct sdr_snd_handle *h = NULL;

	assert_int_equal(sdr_send_post(p->s, &wr, &h), 0);
	return h;
}

#endif /* TEST_SDK_H */
