/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How client and server find each other and agree on what is run.
 *
 *   client                                     server
 *   opens its data endpoint                    opens a front door at PORT, waits
 *   front door: HELLO {plan, settings,    ──►  looks whether it can do that,
 *     addresses, buffer}                       opens its data endpoint at PORT + 1
 *   learns address and buffer, or the     ◄──  ANSWER {0, address, buffer}, or {1, reason}
 *     reason                                   closes the front door
 *
 * The front doors are ordinary endpoints of the soft engine with settings of their own: they reach
 * each other whatever the data endpoints are made for.  Those get the settings through the
 * environment, which the provider reads for each domain.  Both sides need the same channels,
 * generations and immediate: the client's are taken, and one of the server's own that differs is a
 * refusal.  Engine, packet size and chunk are each side's own; a server that was not given one
 * takes the client's.
 *
 * HELLO and ANSWER begin with what no version may change, so that an old server can refuse a new
 * client. Nothing in them is believed before it was looked at.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdr_perf_side.h"

#define PERF_MAGIC   0x50524453u /* "SDRP" */
#define PERF_VERSION 3u
#define ANSWER_WAIT  60u		/* s for a server to register its buffers */
#define SPIN_AUTO    (PERF_SEC / 50000) /* ns without a completion until --wait auto sleeps */
/* bytes: any path carries it, so nothing has to be found out */
#define DOOR_MTU "1024"

struct perf_head {
	uint32_t magic;
	uint16_t version;
	uint16_t status;       /* ANSWER: 0, or 1: refused */
	struct perf_name door; /* HELLO: where the answer goes */
	char reason[PERF_WHY]; /* ANSWER: of a refusal */
};

struct perf_hello {
	struct perf_head head;
	struct perf_name server; /* the server as the client calls it */
	struct perf_plan plan;
	struct perf_end end;
	char setting[PERF_SETTINGS][PERF_TEXT_MAX];
};

struct perf_answer {
	struct perf_head head;
	struct perf_end end;
};

const char *const perf_setting_name[PERF_SETTINGS] = { "FI_SDR_ENGINE",	     "FI_SDR_MTU",
						       "FI_SDR_CHUNK_SIZE",  "FI_SDR_CHANNELS",
						       "FI_SDR_GENERATIONS", "FI_SDR_IMM_SPLIT" };
/* of those that both sides must share: what they are when neither side sets them */
static const char *const shared_default[PERF_SETTINGS] = { NULL, NULL, NULL, "1", "4", "10+18+4" };

/* ---- settings -------------------------------------------------------------------------------- */

static void setting_put(enum perf_setting i, const char *text)
{
	if (text && text[0])
		setenv(perf_setting_name[i], text, 1);
	else
		unsetenv(perf_setting_name[i]);
}

/* This side's own: options, which go into the environment, and what was there. */
static void settings_own(const struct perf_opt *opt, char own[PERF_SETTINGS][PERF_TEXT_MAX])
{
	const char *text;
	unsigned int i;

	for (i = 0; i < PERF_SETTINGS; i++) {
		if (opt->setting[i])
			setting_put(i, opt->setting[i]);
		text = getenv(perf_setting_name[i]);
		if (!text)
			text = "";
		if (strlen(text) >= PERF_TEXT_MAX)
			perf_die("%s=\"%s\" is too long", perf_setting_name[i], text);
		memset(own[i], 0, PERF_TEXT_MAX);
		memcpy(own[i], text, strlen(text));
	}
}

/* own[] becomes what a server's data endpoint gets. */
static int settings_merge(char own[PERF_SETTINGS][PERF_TEXT_MAX],
			  char asked[PERF_SETTINGS][PERF_TEXT_MAX], char *why)
{
	const char *want;
	unsigned int i;

	for (i = 0; i < PERF_SETTINGS; i++) {
		perf_clean(asked[i], PERF_TEXT_MAX);
		want = asked[i][0] || !shared_default[i] ? asked[i] : shared_default[i];
		if (!own[i][0])
			memcpy(own[i], asked[i], PERF_TEXT_MAX);
		else if (shared_default[i] && strcmp(own[i], want) != 0)
			return perf_why(
				why,
				"this server was given %s=%s and the client wants %s: both need the same",
				perf_setting_name[i], own[i], want);
	}
	return 0;
}

/* The front door's; what is displaced comes back with settings_data. */
static void settings_door(void)
{
	unsigned int i;

	for (i = 0; i < PERF_SETTINGS; i++)
		setting_put(i, i == PERF_ENGINE ? "soft" : i == PERF_MTU ? DOOR_MTU : NULL);
}

static void settings_data(char own[PERF_SETTINGS][PERF_TEXT_MAX])
{
	unsigned int i;

	for (i = 0; i < PERF_SETTINGS; i++)
		setting_put(i, own[i]);
}

/* FI_SDR_STATS is about the data: the door reports nothing. */
static int door_open(struct perf_ep *door, const struct perf_ep_attr *attr, char *why)
{
	char *stats = getenv("FI_SDR_STATS");
	int ret;

	settings_door();
	stats = stats ? strdup(stats) : NULL;
	unsetenv("FI_SDR_STATS");
	ret = perf_ep_open(door, attr, why);
	if (stats)
		setenv("FI_SDR_STATS", stats, 1);
	free(stats);
	return ret;
}

/* ---- messages -------------------------------------------------------------------------------- */

struct door_op {
	struct perf_op op;
	size_t len;
	int err;
};

static void door_done(struct perf_op *op, size_t len, int err)
{
	struct door_op *d = (struct door_op *)op;

	d->op.busy = false;
	d->len = len;
	d->err = err;
}

static void door_post(struct perf_ep *door, struct door_op *d, void *buf, size_t len, bool send)
{
	memset(d, 0, sizeof(*d));
	d->op.done = door_done;
	d->op.busy = true;
	if (send)
		PERF_POST(door, fi_send(door->ep, buf, len, NULL, door->peer, d));
	else
		PERF_POST(door, fi_recv(door->ep, buf, len, NULL, FI_ADDR_UNSPEC, d));
}

static bool door_wait(struct perf_ep *door, const struct door_op *d, uint64_t seconds)
{
	uint64_t end = perf_now() + seconds * PERF_SEC;

	while (d->op.busy) {
		perf_ep_progress(door, 100);
		if (seconds && perf_now() > end)
			return false;
	}
	return true;
}

uint64_t perf_plan_spin(const struct perf_plan *p)
{
	switch (p->flags / PERF_F_WAIT) {
	case PERF_WAIT_POLL:
		return UINT64_MAX;
	case PERF_WAIT_SLEEP:
		return 0;
	default:
		return SPIN_AUTO;
	}
}

bool perf_plan_ok(const struct perf_plan *p, char *why)
{
	bool ok = false;

	if (p->op >= PERF_OPS || (p->flags & ~PERF_F_ALL) || p->flags / PERF_F_WAIT >= PERF_WAITS)
		perf_why(why, "--op: not an operation of this version");
	else if (!p->size_min || p->size_min > p->size_max || p->size_max > PERF_SIZE_MAX)
		perf_why(why, "--size: not in the range of 1 to %llu bytes", PERF_SIZE_MAX);
	else if (!p->in_flight || p->in_flight > PERF_SLOTS_MAX)
		perf_why(why, "--in-flight: not in the range of 1 to %u", PERF_SLOTS_MAX);
	else if (p->size_max * p->in_flight > PERF_ROOM_MAX)
		perf_why(why,
			 "--size times --in-flight is %llu bytes, more than %llu: give -Q %llu",
			 (unsigned long long)p->size_max * p->in_flight, PERF_ROOM_MAX,
			 (unsigned long long)(PERF_ROOM_MAX / p->size_max));
	else if (p->op == PERF_LAT && (p->flags & PERF_F_BIDIR))
		perf_why(why, "--bidirectional means nothing with --op lat");
	else if (p->op == PERF_LAT && p->in_flight != 1)
		perf_why(why, "--in-flight means nothing with --op lat");
	else if (p->op == PERF_LAT && p->iters > PERF_SAMPLES)
		perf_why(why, "--iters: at most %u with --op lat", PERF_SAMPLES);
	else if (!p->iters == !p->duration_ns || p->iters > PERF_ITERS_MAX)
		perf_why(why, "--iters or --duration, one of them");
	else
		ok = true;
	return ok;
}

/* ---- client ---------------------------------------------------------------------------------- */

/* A server that listens at every address is found at the one that was called. */
static void name_complete(struct perf_name *name, const struct perf_name *called)
{
	struct sockaddr_in any4, *to4 = (void *)name->addr;
	struct sockaddr_in6 any6, *to6 = (void *)name->addr;

	memcpy(&any4, name->addr, sizeof(any4));
	memcpy(&any6, name->addr, sizeof(any6));
	if (any4.sin_family == AF_INET && any4.sin_addr.s_addr == htonl(INADDR_ANY)) {
		*name = *called;
		to4->sin_port = any4.sin_port;
	} else if (any6.sin6_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&any6.sin6_addr)) {
		*name = *called;
		to6->sin6_port = any6.sin6_port;
	}
}

static void answer_take(struct perf_side *s, struct perf_answer *a, size_t len,
			const struct perf_name *called)
{
	char why[PERF_WHY];

	if (len < sizeof(a->head) || a->head.magic != PERF_MAGIC)
		perf_die("what answers at that port is not a server of sdr_perf");
	perf_clean(a->head.reason, sizeof(a->head.reason));
	if (a->head.status)
		perf_die("the server refused: %s", a->head.reason);
	if (a->head.version != PERF_VERSION || len != sizeof(*a))
		perf_die("the server is of version %u, this client of %u", a->head.version,
			 PERF_VERSION);
	s->theirs = a->end;
	perf_clean(s->theirs.engine, sizeof(s->theirs.engine));
	perf_clean(s->theirs.domain, sizeof(s->theirs.domain));
	perf_clean(s->theirs.memory, sizeof(s->theirs.memory));
	name_complete(&s->theirs.name, called);
	if (perf_ep_peer(&s->ep, &s->theirs.name, why))
		perf_die("%s", why);
}

void perf_conn_client(struct perf_side *s, struct perf_opt *opt)
{
	struct perf_ep_attr attr = { .host = opt->host,
				     .domain = opt->domain,
				     .port = opt->port,
				     .far = perf_mem_far(&s->mem),
				     .spin_ns = perf_plan_spin(&opt->plan) };
	struct perf_answer answer = { .head.status = 0 };
	struct perf_hello hello = { .head = { .magic = PERF_MAGIC, .version = PERF_VERSION } };
	struct door_op tx, rx;
	struct perf_ep door;
	char why[PERF_WHY];

	s->client = true;
	s->plan = hello.plan = opt->plan;
	settings_own(opt, hello.setting);
	if (perf_ep_open(&s->ep, &attr, why) || perf_side_open(s, why))
		perf_die("%s", why);
	hello.end = s->mine;
	attr.domain = NULL;
	attr.far = false;
	attr.spin_ns = 0;
	if (door_open(&door, &attr, why) || perf_ep_name(&door, &hello.head.door, why))
		perf_die("%s", why);
	hello.server.len = (uint32_t)door.info->dest_addrlen;
	if (!door.info->dest_addr || hello.server.len > sizeof(hello.server.addr))
		perf_die("the provider did not resolve %s", opt->host);
	memcpy(hello.server.addr, door.info->dest_addr, hello.server.len);
	if (perf_ep_peer(&door, &hello.server, why))
		perf_die("%s", why);
	snprintf(perf_doing, sizeof(perf_doing), "calling the server %.48s at port %u", opt->host,
		 opt->port);
	door_post(&door, &rx, &answer, sizeof(answer), false);
	door_post(&door, &tx, &hello, sizeof(hello), true);
	door_wait(&door, &tx, 0);
	if (!door_wait(&door, &rx, ANSWER_WAIT))
		perf_die("the server took the parameters and did not answer within %u s",
			 ANSWER_WAIT);
	if (rx.err)
		perf_die("what answers at that port is not a server of sdr_perf");
	/* before anything is checked: closing shows the server that its answer has come */
	perf_ep_close(&door);
	answer_take(s, &answer, rx.len, &hello.server);
	settings_data(hello.setting);
}

/* ---- server ---------------------------------------------------------------------------------- */

static int server_prepare(struct perf_side *s, const struct perf_opt *opt, struct perf_hello *h,
			  size_t len, char *why)
{
	struct perf_ep_attr attr = { .address = opt->address,
				     .domain = opt->domain,
				     .like = opt->address ? NULL : &h->server,
				     .port = (uint16_t)(opt->port + 1),
				     .far = perf_mem_far(&s->mem) };
	char own[PERF_SETTINGS][PERF_TEXT_MAX];

	if (h->head.version != PERF_VERSION || len != sizeof(*h))
		return perf_why(why, "this server is of version %u, the client of %u", PERF_VERSION,
				h->head.version);
	if (!perf_plan_ok(&h->plan, why))
		return -1;
	settings_own(opt, own);
	if (settings_merge(own, h->setting, why))
		return -1;
	s->plan = h->plan;
	attr.spin_ns = perf_plan_spin(&s->plan);
	settings_data(own);
	s->theirs = h->end;
	perf_clean(s->theirs.engine, sizeof(s->theirs.engine));
	perf_clean(s->theirs.domain, sizeof(s->theirs.domain));
	perf_clean(s->theirs.memory, sizeof(s->theirs.memory));
	if (perf_ep_open(&s->ep, &attr, why))
		return -1;
	return perf_ep_peer(&s->ep, &h->end.name, why) || perf_side_open(s, why) ? -1 : 0;
}

void perf_conn_server(struct perf_side *s, struct perf_opt *opt)
{
	struct perf_ep_attr attr = { .address = opt->address, .port = opt->port };
	struct perf_answer answer = { .head = { .magic = PERF_MAGIC, .version = PERF_VERSION } };
	char before[PERF_SETTINGS][PERF_TEXT_MAX], why[PERF_WHY] = "";
	static struct perf_hello hello;
	struct door_op tx, rx;
	struct perf_ep door;

	settings_own(opt, before);
	if (door_open(&door, &attr, why))
		perf_die("%s", why);
	settings_data(before);
	if (!opt->quiet)
		fprintf(stderr, "sdr_perf: waiting for a client at UDP port %u\n", opt->port);
	snprintf(perf_doing, sizeof(perf_doing), "waiting for a client at port %u", opt->port);
	do {
		door_post(&door, &rx, &hello, sizeof(hello), false);
		door_wait(&door, &rx, 0);
		/* another program's message: not worth a warning */
	} while (rx.err || rx.len < sizeof(hello.head) || hello.head.magic != PERF_MAGIC ||
		 perf_ep_peer(&door, &hello.head.door, why));
	perf_serving = true;
	snprintf(perf_doing, sizeof(perf_doing), "answering a client");
	if (server_prepare(s, opt, &hello, rx.len, why)) {
		answer.head.status = 1;
		memcpy(answer.head.reason, why, sizeof(answer.head.reason));
	} else {
		answer.end = s->mine;
	}
	door_post(&door, &tx, &answer, sizeof(answer), true);
	door_wait(&door, &tx, 0);
	perf_ep_close(&door);
	if (answer.head.status)
		perf_die("refused a client: %s", why);
}
