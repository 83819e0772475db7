/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The sending of the drop-rate probe.
 *
 * The packets of all sizes are spread over rounds of some 20 ms for each size, so that what changes
 * slowly on the path meets all sizes alike.  Within them packets leave in batches, one system call
 * each, of at most 64 packets or 100 microseconds of the rate.  A batch leaves when its time has
 * come; time that was lost (the process did not run) is made up for up to 1 ms, what is beyond that
 * is forgotten.  With several flows each batch leaves by the next one's port.
 *
 * The first packet of a turn, and some more, ask for an echo.  While it waits for the next batch
 * the loop listens, so that an echo is read when it comes.  No echo for 3 s and two round trips:
 * the server is gone, or nothing gets through, and it stops.  It also stops when the time it
 * may take is over, on a signal, and when the server says so.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "probe.h"

#define BATCH_NS    100000.0	      /* ns of the rate */
#define LATE_MAX    (PERF_SEC / 1000) /* ns that are made up for */
#define SILENCE	    (3 * PERF_SEC)    /* ns, plus two round trips */
#define PROGRESS_NS (PERF_SEC / 4)    /* between two progress lines */
/* packets that ask, of a size, at least if there are so many */
#define ASKS	  1024u
#define STALE_MAX (60 * PERF_SEC) /* ns; an echo that old is no echo */

/* What a run has besides its client. */
struct run {
	struct probe_client *c;
	uint64_t next;		    /* ns: when the next batch may leave */
	uint64_t begin, end, shown; /* ns */
	uint64_t sent;
	bool stop;
	struct mmsghdr msg[PROBE_BATCH];
	struct iovec iov[PROBE_BATCH][2];
	uint8_t head[PROBE_BATCH][PROBE_HEAD];
	uint8_t fill[65536]; /* nothing that a path could compress */
};

void probe_heard(struct probe_client *c, const struct probe_head *h, uint64_t now)
{
	uint64_t rtt = now - h->stamp, i;
	unsigned int f = h->flow;

	if (h->token != c->token || f >= c->plan.sizes || h->stamp > now || rtt > STALE_MAX)
		return;
	c->heard = now;
	if (rtt > c->rtt)
		c->rtt = rtt;
	/* every stride-th is kept: all over the run, in a room that does not grow */
	if (c->echoes[f]++ % c->stride[f])
		return;
	if (c->nrtts[f] == PROBE_SAMPLES) {
		for (i = 0; i < PROBE_SAMPLES / 2; i++)
			c->rtts[f][i] = c->rtts[f][2 * i];
		c->nrtts[f] = PROBE_SAMPLES / 2;
		c->stride[f] *= 2;
	}
	c->rtts[f][c->nrtts[f]++] = rtt;
}

bool probe_recv(struct probe_client *c, uint8_t msg[PROBE_CONTROL], size_t *len,
		struct probe_head *h)
{
	ssize_t n;

	for (;;) {
		n = recv(c->fd, msg, PROBE_CONTROL, MSG_DONTWAIT | MSG_TRUNC);
		if (n < 0 && errno == ECONNREFUSED)
			c->refused = true;
		if (n < 0 && errno != EINTR && errno != ECONNREFUSED)
			return false;
		if (n < 0 || n > (ssize_t)PROBE_CONTROL || !probe_head_get(msg, (size_t)n, h))
			continue;
		*len = (size_t)n;
		if (h->type != PROBE_ECHO)
			return true;
		probe_heard(c, h, perf_now());
	}
}

/* Reads what has come; the only message that matters now is STOP. */
static void listen_now(struct run *r)
{
	uint8_t msg[PROBE_CONTROL];
	struct probe_head h;
	size_t len;

	while (probe_recv(r->c, msg, &len, &h)) {
		if (h.type == PROBE_STOP && h.token == r->c->token)
			r->c->peer_stopped = true;
	}
}

static void progress(struct run *r, uint64_t now)
{
	static int terminal = -1;

	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (!terminal || r->c->opt->quiet || now - r->shown < PROGRESS_NS)
		return;
	r->shown = now;
	fprintf(stderr, "\r\033[K%.0f of %.0f s, %.0f %% of the packets",
		(double)(now - r->begin) / 1e9, r->c->plan.seconds,
		100 * (double)r->sent / (double)r->c->plan.total_pkts);
}

static bool go_on(struct run *r, uint64_t now)
{
	struct probe_client *c = r->c;

	if (now > c->heard + SILENCE + 2 * c->rtt)
		c->silent = true;
	if (probe_interrupted || c->peer_stopped || c->silent || now > r->end)
		r->stop = true;
	return !r->stop;
}

/* Waits until the time of the next batch has come. */
static bool pace(struct run *r)
{
	uint64_t now = perf_now();

	listen_now(r);
	while (now < r->next) {
		probe_sock_wait(r->c->fd, r->next);
		listen_now(r);
		now = perf_now();
	}
	if (r->next + LATE_MAX < now)
		r->next = now - LATE_MAX;
	progress(r, now);
	return go_on(r, now);
}

/* Hands `n` packets to the kernel, and waits where it has no room. */
static void batch_send(struct run *r, unsigned int n)
{
	int fd = r->c->port[r->c->turn++ % r->c->opt->probe.flows];
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	unsigned int done = 0;
	int ret;

	while (done < n && !r->stop) {
		ret = sendmmsg(fd, r->msg + done, n - done, MSG_DONTWAIT);
		if (ret > 0) {
			done += (unsigned int)ret;
		} else if (errno == ECONNREFUSED) {
			/* an earlier packet's; echoes tell whether it is true */
			r->c->refused = true;
		} else if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR) {
			poll(&p, 1, 10);
			go_on(r, perf_now());
		} else {
			perf_die("sending failed: %s; look at the interface and the route to %s",
				 strerror(errno), r->c->opt->host);
		}
	}
}

/*
 * When the next batch may leave: to it belongs the time until then that the last one has on the
 * wire.
 */
static uint64_t due(const struct run *r)
{
	uint64_t now = perf_now();

	return now > r->next ? now : r->next;
}

/* Sends packets c->sent[f] to `to` of a size. */
static void turn(struct run *r, unsigned int f, uint64_t to)
{
	struct probe_client *c = r->c;
	struct probe_plan *plan = &c->plan;
	double pkt_ns = 8e9 * plan->wire[f] / plan->rate;
	uint64_t room = (uint64_t)(BATCH_NS / pkt_ns), every = plan->pkts[f] / ASKS + 1, begin, n;
	struct probe_head h = { .flow = (uint16_t)f, .token = c->token };
	bool first = true;
	unsigned int i;

	room = room < 1 ? 1 : room > PROBE_BATCH ? PROBE_BATCH : room;
	begin = due(r);
	while (c->sent[f] < to && pace(r)) {
		n = to - c->sent[f] < room ? to - c->sent[f] : room;
		h.stamp = perf_now();
		for (i = 0; i < n; i++) {
			h.n = c->sent[f] + i;
			h.type = first || h.n % every == 0 ? PROBE_ASK : PROBE_DATA;
			first = false;
			probe_head_put(r->head[i], &h);
			r->iov[i][1].iov_len = plan->payload[f] - PROBE_HEAD;
		}
		batch_send(r, (unsigned int)n);
		if (r->stop)
			break;
		c->sent[f] += n;
		r->sent += n;
		r->next += (uint64_t)((double)n * pkt_ns);
	}
	c->busy_ns[f] += due(r) - begin;
}

static void run_init(struct run *r, struct probe_client *c)
{
	uint64_t x = 88172645463325252ull;
	unsigned int i;
	size_t at;

	r->c = c;
	for (at = 0; at < sizeof(r->fill); at += sizeof(x)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(r->fill + at, &x, sizeof(x));
	}
	for (i = 0; i < PROBE_BATCH; i++) {
		r->iov[i][0].iov_base = r->head[i];
		r->iov[i][0].iov_len = PROBE_HEAD;
		r->iov[i][1].iov_base = r->fill;
		r->msg[i].msg_hdr.msg_iov = r->iov[i];
		r->msg[i].msg_hdr.msg_iovlen = 2;
	}
	/* batches follow each other within less than the usual slack */
	prctl(PR_SET_TIMERSLACK, 1000ul);
	r->begin = r->next = r->shown = c->heard = perf_now();
	/* with a number of packets, a slow machine is given time */
	r->end = r->begin + (uint64_t)(c->plan.seconds * (c->plan.timed ? 1.5 : 10) * 1e9) +
		 (c->plan.timed ? 1 : 60) * PERF_SEC;
}

void probe_send(struct probe_client *c)
{
	static struct run r;
	struct probe_plan *plan = &c->plan;
	uint64_t round;
	unsigned int f;

	run_init(&r, c);
	for (round = 1; round <= plan->rounds && !r.stop; round++) {
		for (f = 0; f < plan->sizes && !r.stop; f++)
			turn(&r, f,
			     (uint64_t)((unsigned __int128)plan->pkts[f] * round / plan->rounds));
	}
	c->out.seconds = (double)(perf_now() - r.begin) / 1e9;
	if (isatty(STDERR_FILENO) && !c->opt->quiet)
		fprintf(stderr, "\r\033[K");
}
