/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The two sides of sdr_perf --sdk on their way through the points.
 *
 * The client says what is run, point by point: as many rounds of it as were asked for, in each the
 * SDK and, with --plain, the plain writes, so that what a busy machine does to the one it does to
 * the other.  The row of a point is the round whose rate is the median, and the median of the plain
 * writes.  A point that one side refuses ends a run that has only this one; in a sweep it is said
 * and passed over.  With --loopback the server is a thread of this process, and what ends it is
 * told to the client, which says it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "sdk.h"
#include "sdr_perf.h"

#define PATIENCE_MS	 30000 /* for an answer that needs nothing but work */
#define ENGINE_DEFAULT	 "soft"
#define LOOPBACK_ADDRESS "127.0.0.1"

static void refused(struct sdk_meet *m, const char *reason)
{
	struct sdk_word w = { .step = SDK_REFUSED };
	char why[PERF_WHY];

	snprintf(w.why, sizeof(w.why), "%s", reason);
	sdk_meet_say(m, SDK_REFUSED, &w, why); /* who has gone does not need to know */
}

/* ---- the server ------------------------------------------------------------------------------ */

struct server {
	const struct perf_opt *opt;
	struct sdk_meet meet;
	char wish[PERF_TEXT_MAX]; /* the client's engine */
	char why[PERF_WHY];
	struct sdk_word w;
};

/* What a client sends is no C string, and no plan, until that was checked. */
static int run_check(struct sdk_run *run, char *why)
{
	if (run->way >= SDK_WAYS || run->flags & ~PERF_F_ALL || run->iters > PERF_ITERS_MAX ||
	    (!run->iters && !run->duration_ns) || run->rate_bps > 1000000000000ull)
		return perf_why(why, "the plan makes no sense");
	return sdk_point_check(&run->at, why);
}

static int server_open(struct server *s, struct sdk_end *e, struct sdk_word *w)
{
	uint16_t port = s->meet.near ? 0 : (uint16_t)(s->opt->port + 1);
	const char *own = s->opt->setting[PERF_ENGINE];
	struct sdk_run run = w->run;
	char device[192];

	memset(e, 0, sizeof(*e));
	if (run_check(&run, e->why))
		return -1;
	sdk_device(device, sizeof(device), s->opt, own ? own : s->wish, s->meet.local, port);
	if (sdk_end_open(e, &run, false, &s->meet, device))
		return -1;
	memset(w, 0, sizeof(*w));
	w->opened.mtu = e->mtu;
	memcpy(w->opened.engine, e->engine, sizeof(e->engine));
	return 0;
}

static int server_qp(struct sdk_end *e, struct sdk_word *w)
{
	uint8_t info[SDR_QP_INFO_SIZE];

	memcpy(info, w->qp.info, sizeof(info));
	if (w->qp.mtu < SDK_MTU_MIN || w->qp.mtu > SDK_MTU_MAX)
		return perf_why(e->why, "packets of %u bytes: neither side takes them", w->qp.mtu);
	if (sdk_end_qp(e, w->qp.mtu) || e->way->connect(e, info, NULL, 0))
		return -1;
	memset(w, 0, sizeof(*w));
	w->qp.mtu = e->run.at.mtu;
	memcpy(w->qp.info, e->info, sizeof(e->info));
	w->qp.nkeys = e->way->keys(e, w->qp.key);
	return 0;
}

static int server_refuse(struct server *s, const struct sdk_end *e)
{
	if (!s->opt->quiet && !s->meet.near)
		fprintf(stderr, "sdr_perf: refused: %s\n", e->why);
	refused(&s->meet, e->why);
	return SDK_NOT;
}

/* One point, of which *w has POINT.  SDK_NOT: refused by one of both, and the next may come. */
static int server_point(struct server *s, struct sdk_end *e, struct sdk_word *w)
{
	int ret;

	if (server_open(s, e, w))
		return server_refuse(s, e);
	if (sdk_meet_say(&s->meet, SDK_OPENED, w, s->why))
		return SDK_GONE;
	ret = sdk_meet_hear(&s->meet, SDK_QP, w, PATIENCE_MS, s->why);
	if (ret)
		return ret;
	if (server_qp(e, w))
		return server_refuse(s, e);
	if (sdk_meet_say(&s->meet, SDK_QP, w, s->why))
		return SDK_GONE;
	memset(w, 0, sizeof(*w));
	if (sdk_recv(e, &s->meet, &w->result)) {
		memcpy(s->why, e->why, sizeof(s->why));
		refused(&s->meet, e->why);
		return SDK_GONE;
	}
	return sdk_meet_say(&s->meet, SDK_RESULT, w, s->why);
}

static int server_run(struct server *s)
{
	struct sdk_word *w = &s->w;
	struct sdk_end *e = calloc(1, sizeof(*e));
	int ret;

	if (!e)
		return perf_why(s->why, "out of memory");
	ret = sdk_meet_hear(&s->meet, SDK_HELLO, w, PATIENCE_MS, s->why);
	if (!ret) {
		perf_clean(w->engine, sizeof(w->engine));
		memcpy(s->wish, w->engine, sizeof(s->wish));
	}
	while (ret != SDK_GONE) {
		ret = sdk_meet_hear(&s->meet, SDK_POINT, w, -1, s->why);
		if (ret == SDK_NOT)
			continue; /* of a point that was over here already */
		if (ret || w->step == SDK_BYE)
			break;
		ret = server_point(s, e, w);
		sdk_end_close(e);
	}
	free(e);
	return ret == SDK_GONE ? -1 : 0;
}

static void *server_thread(void *arg)
{
	struct server *s = arg;

	server_run(s); /* what went wrong the client was told */
	sdk_meet_close(&s->meet);
	return NULL;
}

int sdk_server(const struct perf_opt *opt)
{
	static struct server s;
	char why[PERF_WHY];
	int fd = sdk_meet_listen(opt->address, opt->port, why);

	s.opt = opt;
	if (fd < 0)
		perf_die("%s", why);
	if (!opt->quiet)
		fprintf(stderr,
			"sdr_perf: waiting for a client at TCP port %u; its data comes to UDP port %u\n",
			opt->port, opt->port + 1u);
	if (sdk_meet_accept(&s.meet, fd, why))
		perf_die("%s", why);
	close(fd);
	perf_serving = true;
	if (!opt->quiet)
		fprintf(stderr, "sdr_perf: serving %s\n", s.meet.peer);
	if (server_run(&s))
		perf_die("%s", s.why);
	sdk_meet_close(&s.meet);
	return PERF_EXIT_OK;
}

/* ---- the client ------------------------------------------------------------------------------ */

struct client {
	const struct perf_opt *opt;
	struct sdk_meet meet;
	struct sdk_word w;
	struct sdk_end e;
	char why[PERF_WHY];
	struct sdk_point at[SDK_POINTS_MAX];
	int n; /* of at */
};

static int client_open(struct client *c, const struct sdk_run *run, struct sdk_row *row)
{
	const char *engine = c->opt->setting[PERF_ENGINE];
	uint32_t theirs = c->w.opened.mtu;
	char device[192];

	perf_clean(c->w.opened.engine, sizeof(c->w.opened.engine));
	memcpy(row->peer_engine, c->w.opened.engine, sizeof(row->peer_engine));
	sdk_device(device, sizeof(device), c->opt, engine ? engine : ENGINE_DEFAULT, c->meet.local,
		   0);
	if (sdk_end_open(&c->e, run, true, &c->meet, device) ||
	    sdk_end_qp(&c->e, run->at.mtu	  ? run->at.mtu
			      : theirs < c->e.mtu ? theirs
						  : c->e.mtu))
		return -1;
	memcpy(row->engine, c->e.engine, sizeof(row->engine));
	memset(&c->w, 0, sizeof(c->w));
	c->w.qp.mtu = c->e.run.at.mtu;
	memcpy(c->w.qp.info, c->e.info, sizeof(c->e.info));
	return 0;
}

/* Agrees on one run.  SDK_NOT: one of both refuses, why says it. */
static int client_agree(struct client *c, const struct sdk_run *run, struct sdk_row *row)
{
	int ret;

	memset(&c->w, 0, sizeof(c->w));
	c->w.run = *run;
	if (sdk_meet_say(&c->meet, SDK_POINT, &c->w, c->why))
		return SDK_GONE;
	ret = sdk_meet_hear(&c->meet, SDK_OPENED, &c->w, PATIENCE_MS, c->why);
	if (ret)
		goto out;
	if (client_open(c, run, row))
		goto own;
	if (sdk_meet_say(&c->meet, SDK_QP, &c->w, c->why))
		return SDK_GONE;
	ret = sdk_meet_hear(&c->meet, SDK_QP, &c->w, PATIENCE_MS, c->why);
	if (ret)
		goto out;
	if (c->w.qp.nkeys > SDK_KEYS_MAX ||
	    c->e.way->connect(&c->e, c->w.qp.info, c->w.qp.key, c->w.qp.nkeys)) {
		refused(&c->meet, c->e.why);
		memcpy(c->why, c->e.why, sizeof(c->why));
		return SDK_GONE; /* the receiver waits for messages: it ends with us */
	}
	return SDK_OK;
own:
	refused(&c->meet, c->e.why);
	memcpy(c->why, c->e.why, sizeof(c->why));
	return SDK_NOT;
out:
	if (ret == SDK_NOT)
		perf_why(c->why, "the other side: %.300s", c->w.why);
	return ret;
}

static int client_run(struct client *c, const struct sdk_run *run, struct sdk_row *row)
{
	const struct perf_opt *shown = c->opt->quiet ? NULL : c->opt;
	uint64_t cpu;
	int ret = client_agree(c, run, row);

	if (ret)
		return ret;
	cpu = sdk_cpu_ns(c->meet.near);
	if (sdk_send(&c->e, &c->meet, shown, &row->messages, &row->ns)) {
		memcpy(c->why, c->e.why, sizeof(c->why));
		refused(&c->meet, c->why);
		return SDK_GONE;
	}
	row->cpu_ns = sdk_cpu_ns(c->meet.near) - cpu;
	c->w.messages = row->messages;
	if (sdk_meet_say(&c->meet, SDK_END, &c->w, c->why))
		return SDK_GONE;
	ret = sdk_meet_hear(&c->meet, SDK_RESULT, &c->w, PATIENCE_MS, c->why);
	if (ret == SDK_NOT)
		perf_why(c->why, "the other side: %.300s", c->w.why);
	if (ret)
		return SDK_GONE;
	row->r = c->w.result;
	row->at = c->e.run.at;
	row->packets = row->messages * c->e.npkts;
	if (row->r.packets > row->packets || row->r.messages != row->messages)
		return perf_why(c->why, "the receiver counts other messages than were sent");
	row->rate = (double)row->r.bytes * 1e9 / (double)row->ns;
	return SDK_OK;
}

static int by_rate(const void *a, const void *b)
{
	const struct sdk_row *x = a, *y = b;

	return (x->rate > y->rate) - (x->rate < y->rate);
}

static uint64_t token_new(void)
{
	uint64_t v;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		perf_die("getrandom: %s", strerror(errno));
	return v;
}

/* All rounds of a point. */
static int client_point(struct client *c, const struct sdk_point *at, struct sdk_row *out)
{
	static struct sdk_row row[SDK_WAYS][SDK_ROUNDS_MAX];
	const struct perf_opt *opt = c->opt;
	struct sdk_run run = { .at = *at,
			       .flags = opt->plan.flags,
			       .iters = opt->plan.iters,
			       .duration_ns = opt->plan.duration_ns,
			       .rate_bps = opt->sdk.rate_bps };
	unsigned int ways = opt->sdk.plain ? SDK_WAYS : 1, i, k;
	int ret;

	for (i = 0; i < opt->sdk.rounds; i++) {
		for (k = 0; k < ways; k++) {
			run.way = k;
			run.token = token_new();
			memset(&row[k][i], 0, sizeof(row[k][i]));
			ret = client_run(c, &run, &row[k][i]);
			sdk_end_close(&c->e);
			if (ret)
				return ret;
			if (row[k][i].r.wrong)
				return perf_why(c->why, "%llu messages arrived with wrong bytes",
						(unsigned long long)row[k][i].r.wrong);
		}
	}
	for (k = 0; k < ways; k++)
		qsort(row[k], opt->sdk.rounds, sizeof(row[k][0]), by_rate);
	*out = row[SDK_OVER][opt->sdk.rounds / 2];
	out->plain = opt->sdk.plain ? row[SDK_PLAIN][opt->sdk.rounds / 2].rate : 0;
	return SDK_OK;
}

/* All points.  0, or -1 with why. */
static int client_points(struct client *c)
{
	const char *engine = c->opt->setting[PERF_ENGINE];
	struct sdk_row row;
	char why[PERF_WHY];
	int i, ret, ran = 0;

	snprintf(c->w.engine, sizeof(c->w.engine), "%s", engine ? engine : ENGINE_DEFAULT);
	if (sdk_meet_say(&c->meet, SDK_HELLO, &c->w, c->why))
		return -1;
	for (i = 0; i < c->n; i++) {
		ret = client_point(c, &c->at[i], &row);
		if (ret == SDK_GONE)
			return -1;
		if (ret) {
			if (c->n > 1)
				fprintf(stderr, "sdr_perf: a point is left out: %s\n", c->why);
			continue;
		}
		if (!ran++)
			sdk_out_begin(c->opt);
		sdk_out_row(c->opt, &row);
	}
	if (ran)
		sdk_out_end(c->opt);
	sdk_meet_say(&c->meet, SDK_BYE, &c->w, why); /* who has gone does not mind */
	if (ran)
		return 0;
	memcpy(why, c->why, sizeof(why));
	return perf_why(c->why, "no point could be run: %.290s", why);
}

int sdk_client(const struct perf_opt *opt)
{
	static struct client c;
	static struct server s;
	struct sdk_meet pair[2];
	pthread_t thread;
	int ret;

	c.opt = s.opt = opt;
	c.n = sdk_points(opt, c.at, c.why);
	if (c.n < 0)
		perf_usage("%s", c.why);
	if (!opt->sdk.loopback) {
		if (sdk_meet_call(&c.meet, opt->host, opt->port, c.why))
			perf_die("%s", c.why);
		if (client_points(&c))
			perf_die("%s", c.why);
		sdk_meet_close(&c.meet);
		return PERF_EXIT_OK;
	}
	if (sdk_meet_pair(pair, opt->address ? opt->address : LOOPBACK_ADDRESS, c.why))
		perf_die("%s", c.why);
	c.meet = pair[0];
	s.meet = pair[1];
	if (pthread_create(&thread, NULL, server_thread, &s))
		perf_die("no thread: %s", strerror(EAGAIN));
	ret = client_points(&c);
	sdk_meet_close(&c.meet);
	pthread_join(thread, NULL);
	if (ret)
		perf_die("%s", c.why);
	return PERF_EXIT_OK;
}
