/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Early completion through the SDK (law 2), between any two engines of this machine: a receive is
 * completed as soon as its bitmap shows the first chunk, while the rest of the message is on its
 * way; the buffer then gets other bytes, and none of them may change.  Every second message is
 * received whole, into the same buffer.
 *
 *   sdr_early ENGINE_A ENGINE_B [ROUNDS]      as sdr_context_create has them: verbs:rxe0,
 *                                             soft:10.0.0.1
 *
 * It fails, too, when no message was cut short: then the path is so short that it tests nothing,
 * and wants a delay.
 */
#include <sdr/sdr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES	   (1u << 20)
#define WAIT_NS	   20000000000ull /* what must come comes within this */
#define SILENCE_NS 400000000ull	  /* for which the network is left to deliver what is late */

struct end {
	struct sdr_context *ctx;
	struct sdr_qp *qp;
};

static struct end a, b;
static uint8_t *src, *dst;
static unsigned int cut;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static int fail(const char *what, int err)
{
	printf("FAIL: %s%s%s\n", what, err ? ": " : "", err ? sdr_strerror(err) : "");
	return 1;
}

static bool progress(void)
{
	return sdr_context_progress(a.ctx) >= 0 && sdr_context_progress(b.ctx) >= 0;
}

static unsigned int chunks(struct sdr_rcv_handle *h)
{
	const uint8_t *bits;
	unsigned int n = 0;
	size_t len;

	if (sdr_recv_bitmap_get(h, &bits, &len))
		return 0;
	while (len--)
		n += (unsigned int)__builtin_popcount(*bits++);
	return n;
}

/* One message; early: completed with its first chunk.  0, or 1 and it said why. */
static int message(unsigned int round, bool early)
{
	struct sdr_snd_wr w = { .addr = src, .length = BYTES };
	struct sdr_rcv_wr r = { .addr = dst, .length = BYTES };
	unsigned int all = BYTES / 65536, got = 0, want = early ? 1 : all;
	uint64_t until = now() + WAIT_NS;
	struct sdr_snd_handle *s;
	struct sdr_rcv_handle *h;
	bool sent = false;
	int err;

	for (size_t i = 0; i < BYTES; i++)
		src[i] = (uint8_t)(round * 37 + i + i / 4093);
	memset(dst, 0xee, BYTES);
	err = sdr_recv_post(b.qp, &r, &h);
	if (err)
		return fail("recv_post", err);
	err = sdr_send_post(a.qp, &w, &s);
	if (err)
		return fail("send_post", err);
	while (got < want) {
		if (!progress() || now() > until)
			return fail("the message does not come", 0);
		if (!sent)
			sent = sdr_send_poll(s) == 1;
		got = chunks(h);
	}
	if (!early && memcmp(src, dst, BYTES))
		return fail("other bytes than those that were sent", 0);
	sdr_recv_complete(h);
	cut += early && got < all;
	memset(dst, 0x55, BYTES); /* the buffer is its owner's again */
	for (until = now() + (early ? SILENCE_NS : 0); !sent || now() < until;) {
		if (!progress())
			return fail("an engine broke", 0);
		if (!sent)
			sent = sdr_send_poll(s) == 1;
	}
	for (size_t i = 0; i < BYTES; i++)
		if (dst[i] != 0x55)
			return fail("a late packet wrote into a completed buffer", 0);
	return 0;
}

static bool end_open(struct end *e, const char *engine)
{
	struct sdr_qp_attr qa = { .size = sizeof(qa) };

	e->ctx = sdr_context_create(engine, NULL);
	e->qp = e->ctx ? sdr_qp_create(e->ctx, &qa) : NULL;
	if (!e->qp)
		perror(engine);
	return e->qp != NULL;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 3 ? (unsigned int)strtoul(argv[3], NULL, 10) : 10, i;
	uint8_t ia[SDR_QP_INFO_SIZE], ib[SDR_QP_INFO_SIZE];

	if (argc < 3 || !rounds) {
		fprintf(stderr, "usage: sdr_early ENGINE_A ENGINE_B [ROUNDS]\n");
		return 2;
	}
	src = malloc(BYTES);
	dst = malloc(BYTES);
	if (!src || !dst || !end_open(&a, argv[1]) || !end_open(&b, argv[2]))
		return 1;
	sdr_qp_info_get(a.qp, ia);
	sdr_qp_info_get(b.qp, ib);
	if (sdr_qp_connect(a.qp, ib) || sdr_qp_connect(b.qp, ia))
		return fail("qp_connect", 0);
	for (i = 0; i < rounds; i++)
		if (message(i, i % 2 == 0))
			return 1;
	sdr_qp_destroy(a.qp);
	sdr_qp_destroy(b.qp);
	sdr_context_destroy(a.ctx);
	sdr_context_destroy(b.ctx);
	free(src);
	free(dst);
	if (!cut)
		return fail("no message was cut short: the path wants a delay", 0);
	printf("PASS: early, %u of %u messages were cut short\n", cut, (rounds + 1) / 2);
	return 0;
}
