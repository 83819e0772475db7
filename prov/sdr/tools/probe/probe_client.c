/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The client of the drop-rate probe: what will be sent, agreeing on it with the server, and getting
 * the counts.
 *
 * What will be sent is known, printed and bounded before the first packet leaves.  A message to the
 * server is repeated every 0.2 s, or every round trip where that is longer, and after 5 s without
 * an answer the client aborts (10 s for the results).  Between the last packet and the question
 * for the counts lie two of the longest round trips seen and 50 ms, at most 4 s: what is not
 * there then is lost.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

#define ROUND_NS     20e6
#define ROUNDS_MAX   65536.0
#define ROUNDS_MIN   8.0
#define STRAGGLERS   (4 * PERF_SEC) /* maximum, ns */
#define RESULT_WAIT  (10 * PERF_SEC)
#define REFUSED_WAIT (2 * PERF_SEC) /* ns, when the host says that nothing listens */

static const uint32_t payload_default[] = { 256, 512, 1024, 1400, 2048, 4096, 8192 };

/* ---- the plan -------------------------------------------------------------------------------- */

/* Bytes at the IP layer; a fragment but the last carries a multiple of 8. */
static uint32_t wire_bytes(uint32_t payload, int family, uint32_t mtu)
{
	uint32_t ip = family == AF_INET6 ? 40 : 20, data = payload + 8, room, frags;

	if (data + ip <= mtu)
		return data + ip;
	ip += family == AF_INET6 ? 8 : 0;
	room = (mtu - ip) & ~7u;
	frags = (data + room - 1) / room;
	return data + frags * ip;
}

static void plan_sizes(struct probe_client *c, int family)
{
	const struct perf_opt *opt = c->opt;
	const uint32_t *list = opt->probe.sizes ? opt->probe.payload : payload_default;
	unsigned int n = opt->probe.sizes ? opt->probe.sizes
					  : sizeof(payload_default) / sizeof(payload_default[0]),
		     i;
	struct probe_plan *plan = &c->plan;
	int mtu = 0;
	socklen_t len = sizeof(mtu);
	uint32_t room;

	if (getsockopt(c->fd, family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP,
		       family == AF_INET6 ? IPV6_MTU : IP_MTU, &mtu, &len) ||
	    mtu < 576)
		mtu = 1500;
	room = (uint32_t)mtu - (family == AF_INET6 ? 48 : 28);
	for (i = 0; i < n; i++) {
		if (opt->probe.no_fragment && list[i] > room) {
			if (opt->probe.sizes)
				perf_usage(
					"--payload: %u bytes in one packet are more than the interface carries "
					"(%u); leave that size out, or let it be fragmented (no --no-fragment)",
					list[i], room);
			continue;
		}
		plan->payload[plan->sizes] = list[i];
		plan->wire[plan->sizes++] = wire_bytes(list[i], family, (uint32_t)mtu);
	}
}

static void plan_make(struct probe_client *c, int family)
{
	const struct perf_opt *opt = c->opt;
	struct probe_plan *plan = &c->plan;
	double pkts, longest = 0, least = PROBE_PKTS_MAX;
	unsigned int f;

	plan_sizes(c, family);
	plan->rate = opt->probe.rate;
	plan->timed = !opt->plan.iters;
	for (f = 0; f < plan->sizes; f++) {
		pkts = plan->timed ? (double)opt->plan.duration_ns / 1e9 * plan->rate /
					     (8.0 * plan->wire[f])
				   : (double)opt->plan.iters;
		if (pkts > PROBE_PKTS_MAX)
			perf_usage(
				"--%s: %.0f packets of %u bytes are more than a probe counts (%u); shorten it, or "
				"lower --rate",
				plan->timed ? "duration" : "iters", pkts, plan->payload[f],
				PROBE_PKTS_MAX);
		plan->pkts[f] = pkts < 1 ? 1 : (uint64_t)pkts;
		plan->total_pkts += plan->pkts[f];
		plan->total_bytes += plan->pkts[f] * plan->wire[f];
		pkts = (double)plan->pkts[f];
		if (pkts * 8e9 * plan->wire[f] / plan->rate > longest)
			longest = pkts * 8e9 * plan->wire[f] / plan->rate;
		if (pkts < least)
			least = pkts;
	}
	plan->seconds = (double)plan->total_bytes * 8 / plan->rate;
	pkts = longest / ROUND_NS;
	if (pkts < ROUNDS_MIN)
		pkts = ROUNDS_MIN;
	plan->rounds = (uint64_t)(pkts > ROUNDS_MAX ? ROUNDS_MAX : pkts);
	if (plan->rounds > (uint64_t)least)
		plan->rounds = (uint64_t)least;
	if (plan->seconds > PROBE_SECONDS_MAX)
		perf_usage(
			"--%s: at this --rate it would take %.0f s, and %u are the most; ask for less, or raise "
			"--rate",
			plan->timed ? "duration" : "iters", plan->seconds, PROBE_SECONDS_MAX);
}

static void plan_say(const struct probe_client *c)
{
	const struct probe_plan *plan = &c->plan;

	if (!c->opt->quiet)
		fprintf(stderr,
			"sdr_perf: sending %" PRIu64
			" packets of %u sizes, %.1f MB, to %s port %u, at %.6g Mbit/s: about "
			"%.1f s\n",
			plan->total_pkts, plan->sizes, (double)plan->total_bytes / 1e6, c->out.peer,
			c->opt->port, plan->rate / 1e6, plan->seconds);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void say(struct probe_client *c, enum probe_type type, unsigned int flow, uint64_t n,
		uint8_t msg[PROBE_CONTROL])
{
	struct probe_head h = { .type = (uint8_t)type,
				.flow = (uint16_t)flow,
				.token = c->token,
				.n = n,
				.stamp = perf_now() };

	probe_head_put(msg, &h);
	/* one that does not leave is repeated like one that is lost */
	if (send(c->fd, msg, PROBE_CONTROL, 0) < 0 && errno == ECONNREFUSED)
		c->refused = true;
}

static void hello(struct probe_client *c, uint8_t msg[PROBE_CONTROL])
{
	uint8_t *p = msg + PROBE_HEAD;
	unsigned int f;

	memset(msg, 0, PROBE_CONTROL);
	probe_put32(p, c->plan.sizes);
	for (f = 0; f < c->plan.sizes; f++) {
		probe_put32(p + 8 + 8 * f, c->plan.payload[f]);
		probe_put32(p + 12 + 8 * f, (uint32_t)c->plan.pkts[f]);
	}
}

static void interrupted(void)
{
	if (probe_interrupted)
		perf_die("interrupted before anything was sent");
}

/* Says one thing until the server answers with another. */
static void ask(struct probe_client *c, enum probe_type what, enum probe_type want)
{
	uint64_t begin = perf_now(), next = begin, now, own = c->token;
	uint8_t msg[PROBE_CONTROL], in[PROBE_CONTROL];
	struct probe_head h;
	size_t len;

	hello(c, msg);
	for (now = begin; now - begin < PROBE_ANSWER; now = perf_now()) {
		interrupted();
		if (now >= next) {
			say(c, what, 0, 0, msg);
			next = now + (c->rtt > PROBE_REPEAT ? c->rtt : PROBE_REPEAT);
		}
		probe_sock_wait(c->fd, next);
		while (probe_recv(c, in, &len, &h)) {
			if (len != PROBE_CONTROL || h.n != own)
				continue;
			if (h.type == PROBE_REFUSE) {
				in[PROBE_CONTROL - 1] = 0;
				perf_clean((char *)in + PROBE_HEAD, PROBE_TEXT_MAX);
				perf_die("the server refused: %s", in + PROBE_HEAD);
			}
			if (h.version != PROBE_VERSION)
				perf_die(
					"the server is of version %u of the probe, this client of %u; use the same "
					"sdr_perf on both sides",
					h.version, PROBE_VERSION);
			now = perf_now();
			if (h.type != want || h.stamp > now || h.stamp < begin)
				continue;
			c->rtt = c->rtt0 = now - h.stamp;
			c->token = h.token;
			return;
		}
	}
	perf_die(
		"%s %s at UDP port %u (%.0f s); start a server there: sdr_perf --probe-loss -p %u%s",
		c->refused ? "nothing listens on" : "no answer from", c->opt->host, c->opt->port,
		(double)PROBE_ANSWER / 1e9, c->opt->port,
		c->refused ? "" : ", and let that port pass firewalls");
}

/* ---- results --------------------------------------------------------------------------------- */

static void wait_stragglers(struct probe_client *c)
{
	uint64_t wait = 2 * c->rtt + PERF_SEC / 20, until;
	uint8_t msg[PROBE_CONTROL];
	struct probe_head h;
	size_t len;

	until = perf_now() + (wait < STRAGGLERS ? wait : STRAGGLERS);
	while (perf_now() < until) {
		probe_sock_wait(c->fd, until);
		while (probe_recv(c, msg, &len, &h))
			;
	}
}

static void take(struct probe_client *c, const uint8_t *msg, const struct probe_head *h)
{
	const uint8_t *p = msg + PROBE_HEAD;
	struct probe_tally t = { .sent = h->n };
	struct probe_row *row;
	unsigned int i;

	if (h->token != c->token || h->flow >= c->plan.sizes || h->n != c->sent[h->flow] || !h->n)
		return;
	row = &c->out.row[h->flow];
	t.received = probe_get64(p);
	t.reordered = probe_get64(p + 8);
	t.duplicates = probe_get64(p + 16);
	t.bursts = probe_get64(p + 24);
	t.longest = probe_get64(p + 32);
	for (i = 0; i < PROBE_HIST; i++)
		t.hist[i] = probe_get64(p + 48 + 8 * i);
	if (!probe_tally_ok(&t))
		perf_die(
			"the server sent counts that make no sense for %u bytes; use the same sdr_perf on both "
			"sides",
			c->plan.payload[h->flow]);
	c->out.overflow = probe_get64(p + 40);
	row->tally = t;
	row->known = true;
}

static unsigned int missing(const struct probe_client *c)
{
	unsigned int f, n = 0;

	for (f = 0; f < c->plan.sizes; f++)
		n += c->sent[f] && !c->out.row[f].known;
	return n;
}

static bool known(const struct probe_client *c)
{
	unsigned int f;

	for (f = 0; f < c->plan.sizes && !c->out.row[f].known; f++)
		;
	return f < c->plan.sizes;
}

static void results(struct probe_client *c)
{
	uint64_t begin = perf_now(), next = begin, now;
	uint8_t msg[PROBE_CONTROL], in[PROBE_CONTROL];
	struct probe_head h;
	unsigned int f;
	size_t len;

	memset(msg, 0, sizeof(msg));
	c->refused = false;
	for (now = begin; missing(c) && now - begin < (c->refused ? REFUSED_WAIT : RESULT_WAIT);
	     now = perf_now()) {
		if (now >= next) {
			for (f = 0; f < c->plan.sizes; f++) {
				if (c->sent[f] && !c->out.row[f].known)
					say(c, PROBE_END, f, c->sent[f], msg);
			}
			next = now + (c->rtt > PROBE_REPEAT ? c->rtt : PROBE_REPEAT);
		}
		probe_sock_wait(c->fd, next);
		while (probe_recv(c, in, &len, &h)) {
			if (h.type == PROBE_RESULT && len == PROBE_CONTROL)
				take(c, in, &h);
		}
	}
	/* the server would also end without it, a little later */
	for (f = 0; f < 3; f++)
		say(c, PROBE_BYE, 0, 0, msg);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void rows(struct probe_client *c)
{
	struct probe_row *row;
	unsigned int f;

	c->out.rows = c->plan.sizes;
	for (f = 0; f < c->plan.sizes; f++) {
		row = &c->out.row[f];
		row->payload = c->plan.payload[f];
		row->wire = c->plan.wire[f];
		if (!row->known)
			continue;
		probe_tally_loss(&row->tally, &row->loss);
		row->rate =
			8e9 * (double)row->wire * (double)c->sent[f] / (double)(c->busy_ns[f] + 1);
		if (!c->nrtts[f])
			continue;
		qsort(c->rtts[f], c->nrtts[f], sizeof(c->rtts[f][0]), by_value);
		row->rtt_min = (double)c->rtts[f][0] / 1e9;
		row->rtt_median = (double)c->rtts[f][c->nrtts[f] / 2] / 1e9;
	}
}

static void remarks(const struct probe_client *c)
{
	if (c->out.overflow)
		fprintf(stderr,
			"sdr_perf: %" PRIu64
			" packets were dropped at the server's socket and not on the path; use a lower "
			"--rate, or raise net.core.rmem_max there\n",
			c->out.overflow);
	if (c->peer_stopped)
		fprintf(stderr,
			"sdr_perf: the server was interrupted; this is what there was until then\n");
	else if (probe_interrupted)
		fprintf(stderr, "sdr_perf: interrupted; this is what there was until then\n");
	else if (c->out.interrupted)
		fprintf(stderr, "sdr_perf: not all was sent: %s\n",
			c->silent ? "nothing came back for 3 s; is the server still there?"
				  : "the time was over; lower --rate");
}

int probe_client(const struct perf_opt *opt)
{
	static struct probe_client c;
	unsigned int f;
	int family;

	c.opt = c.out.opt = opt;
	if (opt->probe.plot)
		probe_plot_check(opt->probe.plot);
	c.fd = probe_sock_client(opt, c.out.peer, &family);
	c.port[0] = c.fd;
	for (f = 1; f < opt->probe.flows; f++)
		c.port[f] = probe_sock_more(opt, c.fd, family);
	plan_make(&c, family);
	for (f = 0; f < c.plan.sizes; f++) {
		c.stride[f] = 1;
		c.rtts[f] = malloc(PROBE_SAMPLES * sizeof(c.rtts[f][0]));
		if (!c.rtts[f])
			perf_die("no memory for %u round trips", PROBE_SAMPLES);
	}
	probe_catch();
	c.token = probe_token();
	ask(&c, PROBE_HELLO, PROBE_WELCOME);
	ask(&c, PROBE_BEGIN, PROBE_BEGUN);
	plan_say(&c);
	probe_send(&c);
	for (f = 0; f < c.plan.sizes; f++)
		c.out.interrupted |= c.sent[f] < c.plan.pkts[f];
	wait_stragglers(&c);
	results(&c);
	rows(&c);
	if (missing(&c) && !known(&c))
		perf_die(
			"the server has gone: no counts came from %s; start it and the probe again",
			opt->host);
	remarks(&c);
	probe_out(&c.out);
	if (opt->probe.plot)
		probe_plot(&c.out, opt->probe.plot);
	if (missing(&c))
		perf_die("the server has gone: no counts of %u sizes; start it and the probe again",
			 missing(&c));
	for (f = 0; f < c.plan.sizes; f++)
		free(c.rtts[f]);
	for (f = 0; f < opt->probe.flows; f++)
		close(c.port[f]);
	return PERF_EXIT_OK;
}
