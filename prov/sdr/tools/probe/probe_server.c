/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The server of the drop-rate probe: one client, then the end.
 *
 * Until a client has shown with BEGIN that WELCOME reached it, nothing is kept but the last HELLO,
 * and no room is made.  From then on its address and token are the only ones that count; others are
 * refused.  Packets are read in batches, and only their first bytes; the map of a size is all that
 * a packet touches.
 *
 * Timers: 15 s without a packet of the client's, it has gone; 3 s without a message after the last
 * count was sent, it has what it wanted.  SIGINT: the client is informed (STOP) and gets its
 * counts; a second one ends at once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

#define GONE   (15 * PERF_SEC) /* ns without a packet */
#define LINGER (3 * PERF_SEC)  /* ns for questions that are repeated */
#define WAKE   (PERF_SEC / 2)  /* ns, longest sleep */

struct flow {
	uint32_t payload; /* bytes */
	uint64_t pkts;	  /* that may come */
	struct probe_count count;
	struct probe_tally tally;
	bool closed;
};

struct server {
	const struct perf_opt *opt;
	int fd;
	enum { IDLE, WELCOMED, BEGUN, OVER } state;
	struct probe_peer peer;
	uint64_t token, theirs; /* own, the client's */
	unsigned int flows, closed;
	struct flow flow[PROBE_SIZES_MAX];
	uint64_t *map;	/* of all flows */
	uint64_t heard; /* perf_now of the last packet of the client's */
	/* packets the socket had no room for: now, at the beginning */
	uint32_t overflow, overflow0;
	struct mmsghdr msg[PROBE_BATCH];
	struct iovec iov[PROBE_BATCH];
	struct sockaddr_storage addr[PROBE_BATCH];
	uint8_t buf[PROBE_BATCH][PROBE_CONTROL];
	_Alignas(struct cmsghdr) char ctl[PROBE_BATCH][128];
};

/* ---- answers --------------------------------------------------------------------------------- */

/* From the address that the peer used. */
static void reply(struct server *s, struct probe_peer *to, uint8_t *msg, size_t len,
		  const struct probe_head *h)
{
	struct iovec iov = { .iov_base = msg, .iov_len = len };
	struct msghdr m = {
		.msg_name = &to->addr, .msg_namelen = to->len, .msg_iov = &iov, .msg_iovlen = 1
	};

	if (to->from_len) {
		m.msg_control = to->from;
		m.msg_controllen = to->from_len;
	}
	probe_head_put(msg, h);
	/* one that does not leave is lost: the client repeats its message */
	(void)!sendmsg(s->fd, &m, MSG_DONTWAIT);
}

static void refuse(struct server *s, struct probe_peer *to, const struct probe_head *h,
		   const char *why)
{
	struct probe_head answer = { .type = PROBE_REFUSE, .n = h->token, .stamp = h->stamp };
	uint8_t msg[PROBE_CONTROL] = { 0 };

	snprintf((char *)msg + PROBE_HEAD, PROBE_TEXT_MAX, "%s", why);
	reply(s, to, msg, sizeof(msg), &answer);
}

static void result(struct server *s, const struct probe_head *h)
{
	struct probe_head answer = {
		.type = PROBE_RESULT, .flow = h->flow, .token = s->token, .stamp = h->stamp
	};
	uint8_t msg[PROBE_CONTROL] = { 0 }, *p = msg + PROBE_HEAD;
	struct flow *f = &s->flow[h->flow];
	unsigned int i;

	if (!f->closed) {
		probe_count_close(&f->count, h->n, &f->tally);
		f->closed = true;
		s->closed++;
	}
	answer.n = f->tally.sent;
	probe_put64(p, f->tally.received);
	probe_put64(p + 8, f->tally.reordered);
	probe_put64(p + 16, f->tally.duplicates);
	probe_put64(p + 24, f->tally.bursts);
	probe_put64(p + 32, f->tally.longest);
	probe_put64(p + 40, s->overflow - s->overflow0);
	for (i = 0; i < PROBE_HIST; i++)
		probe_put64(p + 48 + 8 * i, f->tally.hist[i]);
	reply(s, &s->peer, msg, sizeof(msg), &answer);
}

/* ---- agreeing -------------------------------------------------------------------------------- */

static bool hello_take(struct server *s, const uint8_t *msg)
{
	const uint8_t *p = msg + PROBE_HEAD;
	uint32_t n = probe_get32(p), i;

	if (n < 1 || n > PROBE_SIZES_MAX)
		return false;
	for (i = 0; i < n; i++) {
		s->flow[i].payload = probe_get32(p + 8 + 8 * i);
		s->flow[i].pkts = probe_get32(p + 12 + 8 * i);
		if (s->flow[i].payload < PROBE_PAYLOAD_MIN ||
		    s->flow[i].payload > PROBE_PAYLOAD_MAX || !s->flow[i].pkts ||
		    s->flow[i].pkts > PROBE_PKTS_MAX)
			return false;
	}
	s->flows = n;
	return true;
}

static bool same(const struct probe_peer *a, const struct sockaddr_storage *addr, socklen_t len)
{
	return a->len == len && memcmp(&a->addr, addr, len) == 0;
}

/* From any port: packets of a client with several flows. */
static bool same_host(const struct probe_peer *a, const struct sockaddr_storage *addr,
		      socklen_t len)
{
	struct sockaddr_storage sa = *addr;

	if (a->len != len)
		return false;
	/* the port lies at the same place in both families */
	((struct sockaddr_in *)(void *)&sa)->sin_port =
		((const struct sockaddr_in *)(const void *)&a->addr)->sin_port;
	return same(a, &sa, len);
}

static void hello(struct server *s, struct probe_peer *from, const uint8_t *msg,
		  const struct probe_head *h)
{
	struct probe_head answer = { .type = PROBE_WELCOME, .n = h->token, .stamp = h->stamp };
	uint8_t out[PROBE_CONTROL] = { 0 };
	char why[PERF_WHY];
	bool again =
		s->state != IDLE && h->token == s->theirs && same(&s->peer, &from->addr, from->len);

	if (h->version != PROBE_VERSION) {
		snprintf(
			why, sizeof(why),
			"it is of version %u of the probe, this client of %u; use the same sdr_perf",
			PROBE_VERSION, h->version);
		refuse(s, from, h, why);
		return;
	}
	if (s->state >= BEGUN && !again) {
		refuse(s, from, h,
		       "it is busy with another client; try again when that one has ended");
		return;
	}
	if (s->state < BEGUN && !again) {
		s->state = IDLE;
		if (!hello_take(s, msg)) {
			refuse(s, from, h,
			       "the sizes or numbers of packets are out of range; use the same sdr_perf");
			return;
		}
		s->peer = *from;
		s->theirs = h->token;
		s->token = probe_token();
		s->state = WELCOMED;
	}
	answer.token = s->token;
	reply(s, from, out, sizeof(out), &answer);
}

static void begin(struct server *s)
{
	uint64_t words = 0;
	unsigned int i;

	for (i = 0; i < s->flows; i++)
		words += PROBE_MAP_WORDS(s->flow[i].pkts);
	s->map = calloc(words ? words : 1, sizeof(*s->map));
	if (!s->map)
		perf_die("no memory for the counts of a client (%" PRIu64 " MiB)", words >> 17);
	for (i = 0, words = 0; i < s->flows; i++) {
		probe_count_init(&s->flow[i].count, s->map + words, s->flow[i].pkts);
		words += PROBE_MAP_WORDS(s->flow[i].pkts);
	}
	s->overflow0 = s->overflow;
	s->state = BEGUN;
	perf_serving = true;
	if (!s->opt->quiet)
		fprintf(stderr, "sdr_perf: counting packets of %u sizes\n", s->flows);
}

/* ---- packets --------------------------------------------------------------------------------- */

static void control(struct server *s, const struct probe_head *h)
{
	struct probe_head answer = {
		.type = PROBE_BEGUN, .token = s->token, .n = s->token, .stamp = h->stamp
	};
	uint8_t out[PROBE_CONTROL] = { 0 };

	switch (h->type) {
	case PROBE_BEGIN:
		if (s->state == WELCOMED)
			begin(s);
		reply(s, &s->peer, out, sizeof(out), &answer);
		break;
	case PROBE_END:
		if (s->state == BEGUN && h->flow < s->flows)
			result(s, h);
		break;
	case PROBE_BYE:
		if (s->state == BEGUN)
			s->state = OVER;
		break;
	default:
		break;
	}
}

static void data(struct server *s, size_t len, const struct probe_head *h)
{
	struct probe_head answer = *h;
	uint8_t out[PROBE_HEAD];
	struct flow *f;

	if (s->state != BEGUN || h->flow >= s->flows)
		return;
	f = &s->flow[h->flow];
	if (len != f->payload || f->closed || !probe_count_take(&f->count, h->n) ||
	    h->type != PROBE_ASK)
		return;
	answer.type = PROBE_ECHO;
	reply(s, &s->peer, out, sizeof(out), &answer);
}

/* What the kernel says beside a message: drops of the socket, the address it was sent to. */
static void beside(struct server *s, struct msghdr *m, struct probe_peer *from)
{
	struct in_pktinfo info;
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
			memcpy(&s->overflow, CMSG_DATA(c), sizeof(s->overflow));
		} else if (from && c->cmsg_len <= sizeof(from->from) &&
			   ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) ||
			    (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO))) {
			memcpy(from->from, c, c->cmsg_len);
			from->from_len = c->cmsg_len;
			/* the way back is routed, not bound to the interface it came in by */
			if (c->cmsg_level == IPPROTO_IP) {
				memcpy(&info, CMSG_DATA(c), sizeof(info));
				info.ipi_ifindex = 0;
				memcpy(from->from + CMSG_LEN(0), &info, sizeof(info));
			}
		}
	}
}

static void packet(struct server *s, unsigned int i)
{
	struct msghdr *m = &s->msg[i].msg_hdr;
	size_t len = s->msg[i].msg_len;
	struct probe_peer from;
	struct probe_head h;

	if (!probe_head_get(s->buf[i], len, &h))
		return;
	if (h.type == PROBE_HELLO && len == PROBE_CONTROL) {
		memset(&from, 0, sizeof(from));
		memcpy(&from.addr, &s->addr[i], m->msg_namelen);
		from.len = m->msg_namelen;
		beside(s, m, &from);
		hello(s, &from, s->buf[i], &h);
		return;
	}
	if (s->state == IDLE || h.version != PROBE_VERSION || h.token != s->token ||
	    !same_host(&s->peer, &s->addr[i], m->msg_namelen))
		return;
	s->heard = perf_now();
	beside(s, m, NULL);
	if (h.type == PROBE_DATA || h.type == PROBE_ASK)
		data(s, len, &h);
	else if (len == PROBE_CONTROL && same(&s->peer, &s->addr[i], m->msg_namelen))
		control(s, &h);
}

static void receive(struct server *s)
{
	int i, n;

	do {
		for (i = 0; i < (int)PROBE_BATCH; i++) {
			s->msg[i].msg_hdr.msg_namelen = sizeof(s->addr[i]);
			s->msg[i].msg_hdr.msg_controllen = sizeof(s->ctl[i]);
		}
		n = recvmmsg(s->fd, s->msg, PROBE_BATCH, MSG_DONTWAIT | MSG_TRUNC, NULL);
		for (i = 0; i < n; i++)
			packet(s, (unsigned int)i);
	} while (n == (int)PROBE_BATCH && s->state != OVER && !probe_interrupted);
}

/* ---- the run --------------------------------------------------------------------------------- */

static void say_counts(const struct server *s)
{
	struct probe_tally t;
	unsigned int i;

	for (i = 0; i < s->flows && !s->opt->quiet; i++) {
		probe_count_close(&s->flow[i].count, s->flow[i].count.next, &t);
		fprintf(stderr,
			"sdr_perf: %u bytes: %" PRIu64 " packets came, %" PRIu64
			" before the last did not\n",
			s->flow[i].payload, t.received, t.sent - t.received);
	}
}

static void interrupted(struct server *s)
{
	struct probe_head h = { .type = PROBE_STOP, .token = s->token };
	uint8_t msg[PROBE_CONTROL] = { 0 };

	probe_interrupted = 0;
	if (s->state < BEGUN)
		perf_die("interrupted; no client had begun");
	fprintf(stderr, "sdr_perf: interrupted: the client gets what was counted so far\n");
	say_counts(s);
	reply(s, &s->peer, msg, sizeof(msg), &h);
}

static void server_init(struct server *s, const struct perf_opt *opt)
{
	unsigned int i;

	s->opt = opt;
	s->fd = probe_sock_server(opt);
	for (i = 0; i < PROBE_BATCH; i++) {
		s->iov[i].iov_base = s->buf[i];
		s->iov[i].iov_len = sizeof(s->buf[i]);
		s->msg[i].msg_hdr.msg_iov = &s->iov[i];
		s->msg[i].msg_hdr.msg_iovlen = 1;
		s->msg[i].msg_hdr.msg_name = &s->addr[i];
		s->msg[i].msg_hdr.msg_control = s->ctl[i];
	}
}

int probe_server(const struct perf_opt *opt)
{
	static struct server s;
	bool stopped = false;
	uint64_t now;

	server_init(&s, opt);
	probe_catch();
	if (!opt->quiet)
		fprintf(stderr, "sdr_perf: waiting for a client at UDP port %u\n", opt->port);
	while (s.state != OVER) {
		probe_sock_wait(s.fd, perf_now() + WAKE);
		receive(&s);
		if (probe_interrupted) {
			stopped = true;
			interrupted(&s);
		}
		now = perf_now();
		if (s.state == BEGUN && s.closed == s.flows && now > s.heard + LINGER)
			s.state = OVER;
		else if (s.state == BEGUN && now > s.heard + GONE)
			perf_die(
				"the client has gone: nothing came from it for %.0f s; start both again",
				(double)GONE / 1e9);
	}
	if (!opt->quiet)
		fprintf(stderr, "sdr_perf: the client has its counts\n");
	free(s.map);
	close(s.fd);
	return stopped ? PERF_EXIT_FAILED : PERF_EXIT_OK;
}
