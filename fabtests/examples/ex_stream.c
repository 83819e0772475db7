/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A streaming sender on the SDR SDK: a message leaves while it is being made, and is used while it
 * is coming.
 *
 *	ex_stream recv ADDRESS PORT		ex_stream send ADDRESS PORT
 *
 * The sender makes one piece after the other and sends each at once; the immediate says what is
 * coming.  Nothing is sent again: the receiver adds up the pieces that are whole (a live picture, a
 * sensor's samples), and ends the message after a second without news, whole or not.  EX_FAULT in
 * the environment impairs what is sent ("drop=0.01").
 */
#include <errno.h>
#include <poll.h>
#include <sdr/sdr.h>

#include "meet.h"

#define PIECES 200u
#define MTU    1024u
#define PIECE  (16u * MTU) /* bytes, and a bit of the bitmap */
#define LEN    (PIECES * PIECE)

static struct sdr_context *ctx;
static struct sdr_qp *qp;
static double last_news;

static void received(void *user, struct sdr_rcv_handle *h)
{
	(void)user;
	(void)h;
	last_news = meet_now();
}

static void turn(void)
{
	struct pollfd p = { .fd = sdr_context_fd(ctx), .events = POLLIN };
	int n = sdr_context_progress(ctx);

	CHECK(n >= 0, "progress: %s", sdr_strerror(n));
	if (!n && sdr_context_timeout(ctx))
		poll(&p, 1, 1);
}

static void sender(uint8_t *buf)
{
	struct sdr_start_wr start = { .length = LEN, .imm = PIECES, .flags = SDR_SEND_IMM };
	struct sdr_snd_handle *h;
	uint32_t i, k;
	int err;

	CHECK(!sdr_send_stream_start(qp, &start, &h), "start");
	for (i = 0; i < PIECES; i++) {
		struct sdr_continue_wr w = { .addr = buf + i * PIECE,
					     .offset = (uint64_t)i * PIECE,
					     .length = PIECE };

		for (k = i * PIECE; k < (i + 1) * PIECE; k++) /* make it */
			buf[k] = meet_byte(0, k);
		while ((err = sdr_send_stream_continue(h, &w)) == -EAGAIN)
			turn();
		CHECK(!err, "piece %u: %s", i, sdr_strerror(err));
	}
	sdr_send_stream_end(h);
	while ((err = sdr_send_poll(h)) == 0)
		turn();
	CHECK(err == 1, "send: %s", sdr_strerror(err));
	printf("sent %u pieces\n", PIECES);
}

static void receiver(uint8_t *buf)
{
	struct sdr_qp_handlers handlers = { .size = sizeof(handlers), .received = received };
	struct sdr_rcv_wr w = { .addr = buf, .length = LEN };
	const struct sdr_rcv_state *s;
	struct sdr_rcv_handle *h;
	uint32_t i, k, used = 0, imm = 0;
	uint8_t seen[PIECES] = { 0 };

	sdr_qp_handlers_set(qp, &handlers);
	CHECK(!sdr_recv_post(qp, &w, &h), "post");
	s = sdr_recv_state(h);
	last_news = meet_now() + 10; /* at first it may take longer */
	while (used < PIECES && meet_now() < last_news + 1) {
		turn();
		for (i = 0; i < PIECES; i++) {
			if (seen[i] || !(s->chunk_bits[i / 64] >> i % 64 & 1))
				continue;
			seen[i] = 1; /* whole: use it, while others are still coming */
			used++;
			for (k = i * PIECE; k < (i + 1) * PIECE; k++)
				CHECK(buf[k] == meet_byte(0, k), "byte %u is wrong", k);
		}
	}
	CHECK(sdr_recv_imm_get(h, &imm) || imm == PIECES, "the immediate is wrong");
	printf("used %u of %u pieces, %u of %u packets came\n", used, PIECES, s->got, s->npkts);
	CHECK(used, "nothing came");
	sdr_recv_complete(h);
}

int main(int argc, char **argv)
{
	struct sdr_qp_attr attr = {
		.size = sizeof(attr), .mtu = MTU, .chunk = PIECE, .rate_bps = 400000000
	};
	uint8_t mine[SDR_QP_INFO_SIZE], theirs[SDR_QP_INFO_SIZE], *buf = malloc(LEN);
	char why[SDR_WHY_LEN];
	struct sdr_dev_attr dev = { .size = sizeof(dev), .why = why, .why_len = sizeof(why) };
	int recvs, fd, err;

	CHECK(argc > 3, "usage: %s send|recv ADDRESS PORT", argv[0]);
	recvs = !strcmp(argv[1], "recv");
	dev.fault = getenv("EX_FAULT");
	ctx = sdr_context_create("soft", &dev);
	CHECK(ctx, "%s", why);
	attr.why = why;
	attr.why_len = sizeof(why);
	qp = sdr_qp_create(ctx, &attr);
	CHECK(qp, "%s", why);
	fd = meet(recvs, argv[2], argv[3]);
	err = sdr_qp_info_route(qp, argv[2], mine);
	CHECK(!err, "route to %s: %s", argv[2], sdr_strerror(err));
	meet_swap(fd, mine, theirs, sizeof(mine));
	err = sdr_qp_connect(qp, theirs);
	CHECK(!err, "connect: %s", sdr_strerror(err));
	recvs ? receiver(buf) : sender(buf);
	close(fd);
	sdr_qp_destroy(qp);
	sdr_context_destroy(ctx);
	free(buf);
	return 0;
}
