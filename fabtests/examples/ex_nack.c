/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A reliability layer of one's own on the SDR SDK: the receiver asks for what is missing.
 *
 *	ex_nack recv ADDRESS PORT [MESSAGES]		ex_nack send ADDRESS PORT [MESSAGES]
 *
 * The sender sends a message, then END.  END comes in order with the data, so what the receiver
 * lacks when it hears END was lost, but for what the network let END overtake: it answers with the
 * chunks that lack (NACK), and the sender sends these again, and END.  DONE ends the message.  Any
 * of them may be lost: the sender says END again after 100 ms, until it has heard DONE.  EX_FAULT
 * in the environment impairs what is sent ("drop=0.01").
 */
#include <errno.h>
#include <poll.h>
#include <sdr/sdr.h>

#include "meet.h"

#define LEN    (3u << 20) /* bytes of a message */
#define REPEAT 0.1	  /* seconds */
#define QUIET  10.0	  /* the same: the other side is gone */

enum what { END, NACK, DONE };
struct word { /* a control datagram */
	uint32_t what, message;
	uint32_t n, chunk[200]; /* NACK: the first of those that lack */
};

static struct sdr_context *ctx;
static struct sdr_qp *qp;
static struct word heard; /* the last one of the message at hand */
static uint32_t now_at;	  /* message */
static int receiver, news;
static uint32_t again; /* chunks sent again */

/* One that cannot be said now is lost, as if the network had lost it. */
static void say(const struct word *w)
{
	sdr_qp_ctl_send(qp, w, 12 + 4 * w->n);
}

static void control(void *user, const void *buf, size_t len)
{
	struct word w = { .n = 0 };

	(void)user;
	if (len < 12 || len > sizeof(w))
		return;
	memcpy(&w, buf, len);
	if (w.message == now_at) {
		heard = w;
		news = 1;
	} else if (receiver && w.message < now_at) { /* DONE was lost */
		say(&(struct word){ .what = DONE, .message = w.message });
	}
}

/* True: something was said; false: REPEAT seconds have passed. */
static int listen_for_news(void)
{
	struct pollfd p = { .fd = sdr_context_fd(ctx), .events = POLLIN };
	double end = meet_now() + REPEAT;

	for (news = 0; !news && meet_now() < end;) {
		int n = sdr_context_progress(ctx);

		CHECK(n >= 0, "progress: %s", sdr_strerror(n));
		if (!n && sdr_context_timeout(ctx))
			poll(&p, 1, 1);
	}
	return news;
}

static void send_chunk(struct sdr_snd_handle *h, const uint8_t *buf, uint32_t i, uint32_t chunk)
{
	struct sdr_continue_wr w = { .addr = buf + (size_t)i * chunk, .offset = (size_t)i * chunk };
	int err;

	w.length = LEN - w.offset < chunk ? LEN - w.offset : chunk;
	while ((err = sdr_send_stream_continue(h, &w)) == -EAGAIN)
		sdr_context_progress(ctx);
	CHECK(!err, "send: %s", sdr_strerror(err));
}

static void send_message(uint8_t *buf, uint32_t chunk)
{
	struct sdr_start_wr start = { .length = LEN };
	uint32_t i, n = (LEN + chunk - 1) / chunk;
	double last = meet_now();
	struct sdr_snd_handle *h;

	for (i = 0; i < LEN; i++)
		buf[i] = meet_byte(now_at, i);
	CHECK(!sdr_send_stream_start(qp, &start, &h), "start");
	for (i = 0; i < n; i++)
		send_chunk(h, buf, i, chunk);
	do {
		say(&(struct word){ .what = END, .message = now_at });
		if (!listen_for_news()) {
			CHECK(meet_now() - last < QUIET, "the receiver is silent");
			continue;
		}
		last = meet_now();
		for (i = 0; heard.what == NACK && i < heard.n && i < 200; i++, again++)
			send_chunk(h, buf, heard.chunk[i] % n, chunk);
	} while (!news || heard.what != DONE);
	sdr_send_stream_end(h);
	while (!sdr_send_poll(h))
		;
}

static void recv_message(uint8_t *buf)
{
	struct sdr_rcv_wr w = { .addr = buf, .length = LEN };
	const struct sdr_rcv_state *s;
	struct sdr_rcv_handle *h;
	double last = meet_now();
	struct word reply;
	uint32_t i;

	CHECK(!sdr_recv_post(qp, &w, &h), "post");
	s = sdr_recv_state(h);
	do {
		if (!listen_for_news())
			CHECK(meet_now() - last < QUIET, "the sender is silent");
		else
			last = meet_now();
		reply = (struct word){ .what = NACK, .message = now_at };
		for (i = 0; i < s->nchunks && reply.n < 200; i++)
			if (!(s->chunk_bits[i / 64] >> i % 64 & 1))
				reply.chunk[reply.n++] = i;
		if (!reply.n)
			reply.what = DONE;
		if (news || reply.what == DONE)
			say(&reply);
	} while (reply.what != DONE);
	sdr_recv_complete(h); /* from here on nothing writes to buf */
	for (i = 0; i < LEN; i++)
		CHECK(buf[i] == meet_byte(now_at, i), "message %u, byte %u is wrong", now_at, i);
}

int main(int argc, char **argv)
{
	struct sdr_qp_handlers handlers = { .size = sizeof(handlers), .control = control };
	struct sdr_qp_attr attr = { .size = sizeof(attr) };
	uint8_t mine[SDR_QP_INFO_SIZE], theirs[SDR_QP_INFO_SIZE], *buf = malloc(LEN);
	char why[SDR_WHY_LEN], name[64];
	struct sdr_dev_attr dev = { .size = sizeof(dev), .why = why, .why_len = sizeof(why) };
	uint32_t messages;
	int fd, err;

	CHECK(argc > 3, "usage: %s send|recv ADDRESS PORT [MESSAGES]", argv[0]);
	receiver = !strcmp(argv[1], "recv");
	messages = argc > 4 ? (uint32_t)atoi(argv[4]) : 4;
	dev.fault = getenv("EX_FAULT");
	snprintf(name, sizeof(name), receiver ? "soft:%s" : "soft", argv[2]);
	ctx = sdr_context_create(name, &dev);
	CHECK(ctx, "%s", why);
	attr.mtu = 1024; /* both sides must give the same */
	attr.rate_bps = 2000000000;
	attr.why = why;
	attr.why_len = sizeof(why);
	qp = sdr_qp_create(ctx, &attr);
	CHECK(qp, "%s", why);
	sdr_qp_query(qp, &attr); /* what chunk became, for one */
	sdr_qp_handlers_set(qp, &handlers);
	fd = meet(receiver, argv[2], argv[3]);
	sdr_qp_info_route(qp, argv[2], mine);
	meet_swap(fd, mine, theirs, sizeof(mine));
	err = sdr_qp_connect(qp, theirs);
	CHECK(!err, "connect: %s", sdr_strerror(err));
	for (now_at = 0; now_at < messages; now_at++)
		receiver ? recv_message(buf) : send_message(buf, attr.chunk);
	/* the last DONE may be lost: the receiver stays until the sender is gone */
	while (receiver && recv(fd, buf, 1, MSG_DONTWAIT) < 0)
		listen_for_news();
	if (receiver)
		printf("received %u messages of %u bytes, all right\n", messages, LEN);
	else
		printf("sent %u messages, %u chunks again\n", messages, again);
	close(fd);
	sdr_qp_destroy(qp);
	sdr_context_destroy(ctx);
	free(buf);
	return 0;
}
