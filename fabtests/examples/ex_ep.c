/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A reliability layer of one's own over libfabric: ex_nack's, on a datagram endpoint (fi_open_ops,
 * rdma/fi_ext_sdr.h).
 *
 *	ex_ep recv ADDRESS PORT [MESSAGES]		ex_ep send ADDRESS PORT [MESSAGES]
 *
 * Data are SDR messages; END, NACK and DONE are the endpoint's ordinary datagrams, which leave by
 * the socket of the data and so in order with them.  The completion queue says when a message is
 * whole (recv_notify).  FI_PROVIDER_PATH says where libsdr-fi.so lies, FI_SDR_FAULT impairs what is
 * sent ("drop=0.01").
 */
#include <errno.h>

#include "ends.h"

#define LEN    (3u << 20) /* bytes of a message */
#define WORDS  8	  /* receives of datagrams that are posted */
#define REPEAT 0.1	  /* seconds */
#define QUIET  10.0

enum what { END, NACK, DONE };
struct word {
	uint32_t what, message;
	uint32_t n, chunk[200];
};
struct hello { /* what the two sides tell each other first */
	uint8_t name[64], info[SDR_QP_INFO_SIZE];
};

static struct word in[WORDS], heard;
static uint32_t now_at, again; /* message; chunks sent again */
static int receiver, news;

static void say(const struct word *w)
{
	fi_inject(ep, w, 12 + 4 * w->n, peer); /* one that cannot be said is lost */
}

static void turn(void)
{
	struct fi_cq_msg_entry e;

	CHECK(ops->progress(ep) >= 0, "progress");
	while (fi_cq_read(cq, &e, 1) == 1) {
		struct word *w = e.op_context;

		news |= (e.flags & FI_SDR_WHOLE) != 0;
		if (!(e.flags & FI_RECV) || (e.flags & FI_SDR_BITMAP))
			continue;
		if (e.len >= 12 && w->message == now_at) {
			heard = *w;
			news = 1;
		} else if (receiver && w->message < now_at) { /* DONE was lost */
			say(&(struct word){ .what = DONE, .message = w->message });
		}
		OK(fi_recv(ep, w, sizeof(*w), NULL, FI_ADDR_UNSPEC, w));
	}
}

static int listen_for_news(void)
{
	double end = meet_now() + REPEAT;

	for (news = 0; !news && meet_now() < end;)
		turn();
	return news;
}

static void send_chunk(struct sdr_snd_handle *h, const uint8_t *buf, uint32_t i, uint32_t chunk)
{
	struct sdr_continue_wr w = { .addr = buf + (size_t)i * chunk, .offset = (size_t)i * chunk };
	int err;

	w.length = LEN - w.offset < chunk ? LEN - w.offset : chunk;
	while ((err = ops->send_stream_continue(ep, h, &w)) == -FI_EAGAIN)
		turn();
	CHECK(!err, "send: %s", fi_strerror(-err));
}

static void send_message(struct sdr_qp *qp, uint8_t *buf, uint32_t chunk)
{
	struct sdr_start_wr start = { .length = LEN };
	uint32_t i, n = (LEN + chunk - 1) / chunk;
	double last = meet_now();
	struct sdr_snd_handle *h;

	for (i = 0; i < LEN; i++)
		buf[i] = meet_byte(now_at, i);
	OK(ops->send_stream_start(ep, qp, &start, &h));
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
	ops->send_stream_end(ep, h);
	while (!ops->send_poll(ep, h))
		;
}

static void recv_message(struct sdr_qp *qp, uint8_t *buf)
{
	struct fi_sdr_notify how = { sizeof(how), FI_SDR_TELL_CQ, buf };
	struct sdr_rcv_wr w = { .addr = buf, .length = LEN };
	const struct sdr_rcv_state *s;
	struct sdr_rcv_handle *h;
	double last = meet_now();
	struct word reply;
	uint32_t i;

	OK(ops->recv_post(ep, qp, &w, &h));
	OK(ops->recv_notify(ep, qp, h, &how));
	s = ops->recv_state(ep, h);
	do {
		if (!listen_for_news())
			CHECK(meet_now() - last < QUIET, "the sender is silent");
		else
			last = meet_now();
		reply = (struct word){ .what = NACK, .message = now_at };
		for (i = 0; i < s->nchunks && reply.n < 200; i++)
			if (!(__atomic_load_n(&s->chunk_bits[i / 64], __ATOMIC_ACQUIRE) >> i % 64 &
			      1))
				reply.chunk[reply.n++] = i;
		if (!reply.n)
			reply.what = DONE;
		if (news || reply.what == DONE)
			say(&reply);
	} while (reply.what != DONE);
	OK(ops->recv_complete(ep, h));
	for (i = 0; i < LEN; i++)
		CHECK(buf[i] == meet_byte(now_at, i), "message %u, byte %u is wrong", now_at, i);
}

int main(int argc, char **argv)
{
	char why[SDR_WHY_LEN] = "";
	struct sdr_qp_attr attr = { .size = sizeof(attr),
				    .mtu = 1024,
				    .rate_bps = 2000000000,
				    .why = why,
				    .why_len = sizeof(why) };
	struct hello mine, theirs;
	size_t len = sizeof(mine.name);
	uint8_t *buf = malloc(LEN);
	uint32_t messages, i;
	struct sdr_qp *qp;
	int fd;

	CHECK(argc > 3, "usage: %s send|recv ADDRESS PORT [MESSAGES]", argv[0]);
	receiver = !strcmp(argv[1], "recv");
	messages = argc > 4 ? (uint32_t)atoi(argv[4]) : 4;
	ends_open(receiver, argv[2], FI_EP_DGRAM, FI_MSG, FI_CQ_FORMAT_MSG);
	CHECK(FI_SDR_HAS_OP(ops, recv_notify), "this provider is older than 0.3.0");
	for (i = 0; i < WORDS; i++)
		OK(fi_recv(ep, &in[i], sizeof(in[i]), NULL, FI_ADDR_UNSPEC, &in[i]));
	qp = ops->qp_create(ep, &attr);
	CHECK(qp, "%s", why);
	OK(ops->qp_query(ep, qp, &attr));
	memset(&mine, 0, sizeof(mine));
	OK(fi_getname(&ep->fid, mine.name, &len));
	OK(ops->qp_info_get(ep, qp, mine.info));
	fd = meet(receiver, argv[2], argv[3]);
	meet_swap(fd, &mine, &theirs, sizeof(mine));
	CHECK(fi_av_insert(av, theirs.name, 1, &peer, 0, NULL) == 1, "the peer's name");
	OK(ops->qp_connect(ep, qp, theirs.info));
	for (now_at = 0; now_at < messages; now_at++)
		receiver ? recv_message(qp, buf) : send_message(qp, buf, attr.chunk);
	while (receiver && recv(fd, buf, 1, MSG_DONTWAIT) < 0)
		listen_for_news();
	if (receiver)
		printf("received %u messages of %u bytes, all right\n", messages, LEN);
	else
		printf("sent %u messages, %u chunks again\n", messages, again);
	close(fd);
	OK(ops->qp_destroy(ep, qp));
	ends_close();
	free(buf);
	return 0;
}
