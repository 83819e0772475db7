/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A stranger's connection over a UDP socket, see stranger.h.  What was sent is kept until it is
 * acknowledged and sent again when nothing was for a while, so that an attack is what it says it is
 * although the victim's socket overflows.  Each wait has an end: a victim that stays silent is
 * abandoned.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "stranger.h"

#define QKEY	    0x80010000u /* of control datagrams */
#define SOCK_BYTES  (1 << 20)	/* of a socket's buffers */
#define HELLO_MS    50		/* between two HELLOs */
#define HELLO_TRIES 100
/* without an acknowledgement, then everything in flight goes again */
#define REPEAT_MS  20
#define RSEQ_SPAN  (SDR_REL_CTL_WINDOW - 24u) /* records in flight */
#define HOSTS	   200u			      /* loopback addresses 127.1.1.1, ... */
#define PORT_FIRST 20000u
#define PORT_SPAN  12000u /* below the ports that systems hand out by themselves */

uint64_t link_silence_ms = 5000;

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- datagrams ------------------------------------------------------------------------------- */

int stranger_socket(uint32_t nth)
{
	struct sockaddr_in me = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), bytes = SOCK_BYTES;

	if (fd < 0)
		return -1;
	if (nth) {
		me.sin_addr.s_addr = htonl(0x7f010101u + nth % HOSTS);
		me.sin_port = htons((uint16_t)(PORT_FIRST + nth / HOSTS % PORT_SPAN));
	} else {
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	}
	if (bind(fd, (struct sockaddr *)&me, sizeof(me))) {
		close(fd);
		return -1;
	}
	return fd;
}

bool stranger_send(int fd, const struct sockaddr_in *to, uint8_t *buf, size_t n)
{
	struct sdr_wire_ctl c = { .qkey = QKEY, .src_qpn = SDR_QPN_CTL };
	size_t len = SDR_CTL_HDR + n + sdr_wire_pad((uint32_t)n);
	uint32_t crc;

	sdr_wire_ctl_encode(buf, &c, n);
	memset(buf + SDR_CTL_HDR + n, 0, len - SDR_CTL_HDR - n);
	crc = sdr_icrc_headers(sdr_icrc_seed_masked(), buf, SDR_CTL_HDR);
	crc = sdr_icrc_update(crc, buf + SDR_CTL_HDR, len - SDR_CTL_HDR);
	sdr_put_le32(buf + len, sdr_icrc_final(crc));
	len += SDR_ICRC_LEN;
	return sendto(fd, buf, len, 0, (const struct sockaddr *)to, sizeof(*to)) == (ssize_t)len;
}

const uint8_t *stranger_recv(int fd, uint8_t *buf, size_t room, size_t *n)
{
	const uint8_t *p;
	struct sdr_wire_ctl c;
	ssize_t len = recv(fd, buf, room, MSG_DONTWAIT);

	if (len < 0 && errno == ECONNREFUSED)
		len = 0;
	if (len < 0)
		return NULL;
	if (sdr_wire_ctl_decode(buf, (size_t)len, &c, &p, n) ||
	    !sdr_icrc_check(sdr_icrc_seed_masked(), buf, (size_t)len)) {
		*n = 0;
		return buf;
	}
	return p;
}

/* ---- a connection ---------------------------------------------------------------------------- */

static void link_say(struct stranger_link *l, const void *frames, size_t n)
{
	uint8_t buf[SDR_CTL_HDR + SDR_CTL_MAX + SDR_ICRC_LEN];

	l->sent++;
	l->bytes += n;
	(void)stranger_send(l->fd, &l->to, buf,
			    stranger_packet(&l->s, buf + SDR_CTL_HDR, frames, n));
}

static void link_ack(struct stranger_link *l)
{
	uint8_t f[STRANGER_FRAMES_MAX];
	size_t n = stranger_acks(&l->s, f, sizeof(f));

	if (n)
		link_say(l, f, n);
}

/* True: something of ours arrived. */
static bool link_acked(struct stranger_link *l, const struct sdr_frame_ack *a)
{
	bool news = false;
	uint32_t i, k;

	for (i = 0; i < LINK_FLIGHT; i++) {
		struct link_pkt *p = &l->flight[i];

		for (k = 0; p->n && k < a->n; k++) {
			if (p->pn - a->r[k].lo > a->r[k].hi - a->r[k].lo)
				continue;
			p->n = 0;
			l->nflight--;
			news = true;
		}
	}
	return news;
}

/* What has come; *news: something of ours arrived. */
static int link_input(struct stranger_link *l, bool *news)
{
	uint8_t buf[SDR_CTL_HDR + SDR_CTL_MAX + SDR_ICRC_LEN + SDR_MTU_DEFAULT];
	struct stranger_news n;
	const uint8_t *p;
	size_t len;

	while ((p = stranger_recv(l->fd, buf, sizeof(buf), &len))) {
		switch (stranger_input(&l->s, p, len, &n)) {
		case STRANGER_RESET:
			return -ECONNRESET;
		case STRANGER_PACKET:
			*news |= n.ack.n && link_acked(l, &n.ack);
			if (n.bye)
				return -ECONNRESET;
			break;
		default:
			break;
		}
	}
	link_ack(l);
	return 0;
}

static int link_handshake(struct stranger_link *l)
{
	uint8_t buf[SDR_CTL_HDR + SDR_CTL_MAX + SDR_ICRC_LEN + SDR_MTU_DEFAULT];
	struct pollfd pfd = { .fd = l->fd, .events = POLLIN };
	struct stranger_news n;
	enum stranger_event ev;
	const uint8_t *p;
	uint64_t until;
	size_t len;
	int tries;

	for (tries = 0; tries < HELLO_TRIES; tries++) {
		(void)stranger_send(l->fd, &l->to, buf, stranger_hello(&l->s, buf + SDR_CTL_HDR));
		until = now_ms() + HELLO_MS;
		ev = STRANGER_NOTHING;
		while (ev != STRANGER_AGAIN && now_ms() < until) {
			poll(&pfd, 1, HELLO_MS);
			while (ev != STRANGER_AGAIN &&
			       (p = stranger_recv(l->fd, buf, sizeof(buf), &len))) {
				ev = stranger_input(&l->s, p, len, &n);
				if (ev == STRANGER_OPEN)
					return 0;
				if (ev == STRANGER_REFUSED)
					return -ECONNREFUSED;
			}
		}
	}
	return -ETIMEDOUT;
}

int link_reopen(struct stranger_link *l, uint64_t seed)
{
	l->nflight = 0;
	for (uint32_t i = 0; i < LINK_FLIGHT; i++)
		l->flight[i].n = 0;
	stranger_init(&l->s, seed);
	return link_handshake(l);
}

int link_open(struct stranger_link *l, const struct sockaddr_in *to, uint64_t seed)
{
	l->to = *to;
	l->sent = l->bytes = l->again = 0;
	l->fd = stranger_socket(0);
	return l->fd < 0 ? -errno : link_reopen(l, seed);
}

void link_close(struct stranger_link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

static void link_repeat(struct stranger_link *l)
{
	for (uint32_t i = 0; i < LINK_FLIGHT; i++) {
		struct link_pkt *p = &l->flight[i];

		if (!p->n)
			continue;
		p->pn = l->s.pn;
		l->again++;
		link_say(l, p->frames, p->n);
	}
}

/* The span of record numbers from the oldest that is not acknowledged to the next one. */
static uint32_t link_span(const struct stranger_link *l)
{
	uint32_t span = 0;

	for (uint32_t i = 0; i < LINK_FLIGHT; i++)
		if (l->flight[i].n && l->s.rseq - l->flight[i].rseq > span)
			span = l->s.rseq - l->flight[i].rseq;
	return span;
}

/* Until at most n packets are in flight, and records of at most that span. */
static int link_wait(struct stranger_link *l, uint32_t n, uint32_t span)
{
	struct pollfd pfd = { .fd = l->fd, .events = POLLIN };
	uint64_t since = now_ms(), gap = REPEAT_MS, again = since + gap;

	while (l->nflight > n || (l->nflight && link_span(l) > span)) {
		bool news = false;
		int ret;

		poll(&pfd, 1, REPEAT_MS);
		ret = link_input(l, &news);
		if (ret)
			return ret;
		if (news) {
			since = now_ms();
			gap = REPEAT_MS;
			again = since + gap;
		} else if (now_ms() >= since + link_silence_ms) {
			return -ETIMEDOUT;
		} else if (now_ms() >= again) {
			link_repeat(l);
			gap *= 2;
			again = now_ms() + gap;
		}
	}
	return 0;
}

int link_put(struct stranger_link *l, const void *frames, size_t n, uint32_t nrecs)
{
	struct link_pkt *p = l->flight;
	int ret = link_wait(l, LINK_FLIGHT - 1, RSEQ_SPAN);

	if (ret)
		return ret;
	while (p->n)
		p++;
	memcpy(p->frames, frames, n);
	p->n = n;
	p->pn = l->s.pn;
	p->rseq = l->s.rseq - nrecs;
	l->nflight++;
	link_say(l, frames, n);
	return 0;
}

int link_drain(struct stranger_link *l)
{
	return link_wait(l, 0, 0);
}
