/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receive workers on RDMA devices: messages from one device to another, through the SDK, over
 * several channels, into queues that the receiver's workers read.  Each message is compared; each
 * packet is reported once; and each worker has reported some on its own thread.
 *
 *   sdr_verbs_workers ENGINE_A ENGINE_B [WORKERS [CHANNELS [MESSAGES]]]     2, 2, 40
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sdk/sdr_sdk.h"
#include "sdr/sdr.h"
#include "uc/verbs/sdr_verbs.h"

#define BYTES	 ((1u << 20) - 123u)
#define AHEAD	 3u		/* messages under way */
#define LITTLE	 1000u		/* bytes of every third message */
#define WAIT_NS	 60000000000ull /* what must come comes within this */
#define SLEEP_MS 10

struct end {
	struct sdr_context *ctx;
	struct sdr_qp *qp;
};

static struct end a, b;
static uint8_t *src[AHEAD], *dst[AHEAD];

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static int fail(const char *what)
{
	printf("FAIL: %s\n", what);
	return 1;
}

/* One round of both, and a nap where nothing happens: workers need a processor, too. */
static bool progress(void)
{
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int x = sdr_context_progress(a.ctx), y = sdr_context_progress(b.ctx);
	uint64_t tx, ty;

	if (x < 0 || y < 0)
		return false;
	if (x + y)
		return true;
	tx = sdr_context_timeout(a.ctx);
	ty = sdr_context_timeout(b.ctx);
	if (!tx || !ty)
		return true;
	p[0].fd = sdr_context_uc(a.ctx)->ops->fd(sdr_context_uc(a.ctx));
	p[1].fd = sdr_context_uc(b.ctx)->ops->fd(sdr_context_uc(b.ctx));
	poll(p, 2, SLEEP_MS);
	return true;
}

static size_t bytes_of(unsigned int m)
{
	return m % 3 == 2 ? LITTLE : BYTES;
}

/* Messages [from, from + n): 0, or 1 and it said why; *pkts: those of them. */
static int messages(unsigned int from, unsigned int n, uint64_t *pkts)
{
	struct sdr_snd_handle *s[AHEAD];
	struct sdr_rcv_handle *r[AHEAD];
	uint64_t until = now() + WAIT_NS;
	unsigned int i, m, left = n;

	for (i = 0; i < n; i++) {
		struct sdr_rcv_wr w = { .addr = dst[i], .length = bytes_of(from + i) };

		memset(dst[i], 0xee, BYTES);
		if (sdr_recv_post(b.qp, &w, &r[i]))
			return fail("recv_post");
	}
	for (i = 0; i < n; i++) {
		struct sdr_snd_wr w = { .addr = src[i], .length = bytes_of(from + i) };

		m = from + i;
		for (size_t k = 0; k < w.length; k++)
			src[i][k] = (uint8_t)(m * 37 + k + k / 4093);
		if (sdr_send_post(a.qp, &w, &s[i]))
			return fail("send_post");
	}
	while (left) {
		if (!progress() || now() > until)
			return fail("a message does not come");
		for (left = n, i = 0; i < n; i++)
			left -= sdr_recv_state(r[i])->got == sdr_recv_state(r[i])->npkts;
	}
	for (i = 0; i < n; i++) {
		*pkts += sdr_recv_state(r[i])->npkts;
		if (memcmp(src[i], dst[i], bytes_of(from + i)))
			return fail("other bytes than those that were sent");
		if (sdr_recv_complete(r[i]))
			return fail("recv_complete");
	}
	for (i = 0; i < n; i++)
		while (sdr_send_poll(s[i]) != 1)
			if (!progress() || now() > until)
				return fail("a message does not end");
	return 0;
}

static bool end_open(struct end *e, const char *engine, uint8_t workers, uint8_t channels)
{
	struct sdr_dev_attr da = { .size = sizeof(da), .workers = workers };
	struct sdr_qp_attr qa = { .size = sizeof(qa), .channels = channels };

	e->ctx = sdr_context_create(engine, &da);
	e->qp = e->ctx ? sdr_qp_create(e->ctx, &qa) : NULL;
	if (!e->qp)
		perror(engine);
	return e->qp != NULL;
}

static unsigned int number(char **argv, int argc, int i, unsigned int def)
{
	return argc > i ? (unsigned int)strtoul(argv[i], NULL, 10) : def;
}

/* What the workers say. */
static int judge(unsigned int workers, unsigned int channels, uint64_t pkts)
{
	struct sdr_verbs_worker_stats w[SDR_WORKERS_MAX];
	struct sdr_stats st = { .size = sizeof(st) };
	uint64_t sum = 0, alone = 0;
	unsigned int i, with = 0;

	if (sdr_verbs_worker_stats_get(sdr_context_uc(b.ctx), w, SDR_WORKERS_MAX) != workers)
		return fail("the engine has other workers");
	if (sdr_context_stats(b.ctx, &st))
		return fail("no counters");
	for (i = 0; i < workers; i++) {
		printf("worker %u: %llu packets, %llu of them by the owner\n", i,
		       (unsigned long long)w[i].pkts_rx, (unsigned long long)w[i].pkts_helped);
		sum += w[i].pkts_rx;
		alone += w[i].pkts_rx - w[i].pkts_helped;
		with += w[i].pkts_rx > w[i].pkts_helped;
	}
	if (sum != pkts || st.pkts_rx != pkts)
		return fail("not each packet came to a worker, once");
	if (with != (workers < channels ? workers : channels))
		return fail("not each worker has received");
	if (alone * 2 < pkts)
		return fail("the owner did the workers' work");
	printf("PASS: workers, %llu of %llu packets by themselves\n", (unsigned long long)alone,
	       (unsigned long long)pkts);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int workers = number(argv, argc, 3, 2), channels = number(argv, argc, 4, 2);
	unsigned int count = number(argv, argc, 5, 40), m;
	uint8_t ia[SDR_QP_INFO_SIZE], ib[SDR_QP_INFO_SIZE];
	uint64_t pkts = 0;
	int ret;

	if (argc < 3) {
		fprintf(stderr,
			"usage: sdr_verbs_workers ENGINE_A ENGINE_B [WORKERS [CHANNELS [MESSAGES]]]\n");
		return 2;
	}
	for (m = 0; m < AHEAD; m++) {
		src[m] = malloc(BYTES);
		dst[m] = malloc(BYTES);
		if (!src[m] || !dst[m])
			return fail("no memory");
	}
	if (!end_open(&a, argv[1], 0, (uint8_t)channels) ||
	    !end_open(&b, argv[2], (uint8_t)workers, (uint8_t)channels))
		return 1;
	sdr_qp_info_get(a.qp, ia);
	sdr_qp_info_get(b.qp, ib);
	if (sdr_qp_connect(a.qp, ib) || sdr_qp_connect(b.qp, ia))
		return fail("qp_connect");
	for (m = 0; m < count; m += AHEAD)
		if (messages(m, count - m < AHEAD ? count - m : AHEAD, &pkts))
			return 1;
	ret = judge(workers, channels, pkts);
	sdr_qp_destroy(a.qp);
	sdr_qp_destroy(b.qp);
	sdr_context_destroy(a.ctx);
	sdr_context_destroy(b.ctx);
	for (m = 0; m < AHEAD; m++) {
		free(src[m]);
		free(dst[m]);
	}
	return ret;
}
