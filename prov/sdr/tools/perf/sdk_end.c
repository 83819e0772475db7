/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One side of one run of sdr_perf --sdk: the engine by name, geometry, buffers, patterns, control
 * datagrams and waiting.
 *
 * Which engine: a row says what a name is made of; what has no row is handed on as it is, so that
 * an engine which is registered is reached without a change here.  Buffers are mapped and touched
 * before anything is timed.  Waiting is as with reliable endpoints: poll, then sleep after a while,
 * or never, or at once.
 */
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "sdk.h"
#include "sdr_perf.h"

#define ALIGN	     64u     /* bytes, of a place */
#define SLEEP_NS     5000000 /* looks again after that, whatever its descriptor says */
#define PACKET_EXTRA 96u     /* bytes of a packet besides its payload, at most */

const struct sdk_way *const sdk_ways[SDK_WAYS] = { &sdk_over, &sdk_plain };

/* ---- the engine's name ----------------------------------------------------------------------- */

static const struct {
	const char *name;
	bool device; /* ENGINE:DEVICE:ADDRESS; without a device just ENGINE */
} engines[] = {
	{ "soft", false },
	{ "verbs", true },
};

void sdk_device(char *out, size_t len, const struct perf_opt *opt, const char *engine,
		const char *address, uint16_t port)
{
	char where[80] = "";
	size_t i;

	snprintf(where, sizeof(where), port ? ":%s:%u" : ":%s", address, port);
	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		if (strcmp(engine, engines[i].name) != 0)
			continue;
		if (!engines[i].device)
			snprintf(out, len, "%s%s", engine, where);
		else if (opt->domain)
			snprintf(out, len, "%s:%s%s", engine, opt->domain, where);
		else
			snprintf(out, len, "%s", engine);
		return;
	}
	snprintf(out, len, "%s", engine);
}

/* ---- opening --------------------------------------------------------------------------------- */

int sdk_end_open(struct sdk_end *e, const struct sdk_run *run, bool sends, const struct sdk_meet *m,
		 const char *device)
{
	struct perf_plan waits = { .flags = run->flags };

	memset(e, 0, sizeof(*e));
	e->run = *run;
	e->way = sdk_ways[run->way];
	e->sends = sends;
	e->near = m->near;
	e->spin_ns = perf_plan_spin(&waits);
	memcpy(e->peer, m->peer, sizeof(e->peer));
	return e->way->open(e, device, run->at.mtu);
}

int sdk_end_qp(struct sdk_end *e, uint32_t mtu)
{
	struct sdk_point *at = &e->run.at;

	at->mtu = mtu;
	if (at->chunk_pkts && at->chunk_pkts > SDK_CHUNK_MAX / mtu)
		return perf_why(e->why, "a chunk of %u packets of %u bytes is too large",
				at->chunk_pkts, mtu);
	if (at->chunk_pkts)
		at->chunk = at->chunk_pkts * mtu;
	if (mtu > e->mtu)
		return perf_why(e->why, "packets of %u bytes: this side carries at most %u", mtu,
				e->mtu);
	if (sdk_point_check(at, e->why))
		return -1;
	e->npkts = (uint32_t)((at->size + mtu - 1) / mtu);
	e->stride = (size_t)(at->size + ALIGN - 1) / ALIGN * ALIGN;
	e->room_len = e->stride * at->in_flight;
	e->room = mmap(NULL, e->room_len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (e->room == MAP_FAILED) {
		e->room = NULL;
		return perf_why(e->why, "no memory for a buffer of %zu bytes", e->room_len);
	}
	return e->way->qp(e);
}

void sdk_end_close(struct sdk_end *e)
{
	if (e->impl)
		e->way->close(e);
	e->impl = NULL;
	if (e->room)
		munmap(e->room, e->room_len);
	e->room = NULL;
}

/*
 * Half of what the receiver's host holds may be on the way that nothing was heard of (sdr.h,
 * struct sdr_qp_peer).
 */
void sdk_end_window(struct sdk_end *e, uint32_t bytes)
{
	e->window = bytes / 2 / (e->run.at.mtu + PACKET_EXTRA);
	if (bytes && !e->window)
		e->window = 1;
}

/* ---- control datagrams ----------------------------------------------------------------------- */

void sdk_end_note(struct sdk_end *e, uint64_t messages, uint64_t packets)
{
	struct sdk_note n = { e->run.token, messages, packets };

	e->way->say(e, &n, sizeof(n));
}

/* They may come twice, late, in any order, and from anybody who guesses the token. */
void sdk_end_heard(struct sdk_end *e, const void *buf, size_t len)
{
	struct sdk_note n;

	if (len != sizeof(n))
		return;
	memcpy(&n, buf, sizeof(n));
	if (n.token != e->run.token)
		return;
	if (n.messages > e->heard.messages) {
		e->heard.messages = n.messages;
		e->heard_ns = perf_now();
	}
	if (n.packets > e->heard.packets)
		e->heard.packets = n.packets;
}

/* ---- waiting --------------------------------------------------------------------------------- */

void sdk_end_idle(struct sdk_end *e, int fd)
{
	uint64_t now = perf_now(), ns = UINT64_MAX;
	struct pollfd p[2] = { { .events = POLLIN }, { .fd = fd, .events = POLLIN } };
	struct timespec t = { 0 };

	if (!e->idle_since)
		e->idle_since = now;
	if (now - e->idle_since < e->spin_ns) {
		if (e->spin_ns == UINT64_MAX)
			sched_yield(); /* on this core may be who brings the packets */
		return;
	}
	p[0].fd = e->way->sleep(e, &ns);
	t.tv_nsec = ns < SLEEP_NS ? (long)ns : SLEEP_NS;
	if (ns)
		ppoll(p, 2, &t, NULL); /* a paced sender's next packet is due in microseconds */
}

/* ---- patterns -------------------------------------------------------------------------------- */

static uint64_t pattern_word(uint64_t n, uint64_t i)
{
	uint64_t x = (n + 1) * 0x9e3779b97f4a7c15ull + i * 0xd1342543de82ef95ull;

	return x ^ x >> 29;
}

void sdk_fill(uint8_t *p, size_t len, uint64_t n)
{
	uint64_t w;
	size_t i;

	for (i = 0; i < len; i += sizeof(w)) {
		w = pattern_word(n, i / sizeof(w));
		memcpy(p + i, &w, len - i < sizeof(w) ? len - i : sizeof(w));
	}
}

bool sdk_filled(const uint8_t *p, size_t off, size_t len, uint64_t n)
{
	size_t i = 0, skip, some;
	uint64_t w;

	while (i < len) {
		w = pattern_word(n, (off + i) / sizeof(w));
		skip = (off + i) % sizeof(w);
		some = sizeof(w) - skip < len - i ? sizeof(w) - skip : len - i;
		if (memcmp(p + i, (const uint8_t *)&w + skip, some) != 0)
			return false;
		i += some;
	}
	return true;
}

uint64_t sdk_cpu_ns(bool near)
{
	struct timespec t;

	clock_gettime(near ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * PERF_SEC + (uint64_t)t.tv_nsec;
}
