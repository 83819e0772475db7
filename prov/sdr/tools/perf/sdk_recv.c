/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The receiver's loop of sdr_perf --sdk: posts in_flight receives, looks at what has come of each,
 * ends those that are whole, posts their places again, and tells the sender.
 *
 * Invariants: receives of the messages base .. posted - 1 have been posted, at most in_flight of
 * them; `over` marks places whose message has ended and that wait for their turn, since messages
 * land in receives in the order of their posts.
 *
 * A message that lacks packets although the sender has handed it over (SENT) and nothing came of it
 * for GRACE_NS is ended as it is: what lacks is lost, or late.  GOT is said when a message ended or
 * an eighth of the sender's window has come, and every AGAIN_NS anyway, since it may get lost.
 *
 * The cost of a repost is the time of both calls, without that of the clock: of the way sdk also
 * the system call with which the clear to send leaves.  It is the median of the last SAMPLES, as
 * the mean would have in it what else runs on this processor.
 */
#include <stdlib.h>

#include "base/sdr_assert.h"
#include "sdk.h"
#include "sdr_perf.h"

#define GRACE_NS (PERF_SEC / 50)
#define AGAIN_NS (PERF_SEC / 200)
#define LOOK_NS	 (PERF_SEC / 1000)
#define CLOCKS	 1000
#define SAMPLES	 4096u /* costs that are kept; a power of two */

struct receiver {
	struct sdk_end *e;
	struct sdk_result *r;
	uint64_t base, posted;
	uint64_t ended_pkts; /* packets of messages that have ended, all of them */
	uint64_t told_pkts, told_base, told_ns, looked_ns;
	uint64_t clock_ns; /* what reading the clock takes */
	bool over[PERF_SLOTS_MAX];
	uint64_t got[PERF_SLOTS_MAX], got_ns[PERF_SLOTS_MAX]; /* last looked at, since when */
	uint64_t end_ns[PERF_SLOTS_MAX];		      /* that ending it took */
	uint32_t cost[SAMPLES];				      /* ns, of reposts */
};

static uint64_t clock_cost(void)
{
	uint64_t t = perf_now(), i;

	for (i = 0; i < CLOCKS; i++)
		(void)perf_now();
	return (perf_now() - t) / (CLOCKS + 1);
}

static uint64_t since(const struct receiver *v, uint64_t t)
{
	uint64_t ns = perf_now() - t;

	return ns > v->clock_ns ? ns - v->clock_ns : 0;
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint64_t cost_median(struct receiver *v)
{
	size_t n = v->r->reposts < SAMPLES ? (size_t)v->r->reposts : SAMPLES;

	qsort(v->cost, n, sizeof(v->cost[0]), by_size);
	return n ? v->cost[n / 2] : 0;
}

/* Bytes that are in place are those that were sent. */
static bool verified(const struct sdk_end *e, uint64_t n, bool whole)
{
	const struct sdk_point *at = &e->run.at;
	const uint8_t *p = sdk_place(e, n);
	uint64_t i, off, len;

	if (whole)
		return sdk_filled(p, 0, at->size, n);
	for (i = 0, off = 0; e->way->chunks && off < at->size; i++, off += at->chunk) {
		len = at->size - off < at->chunk ? at->size - off : at->chunk;
		if (e->way->chunk((struct sdk_end *)e, n, i) && !sdk_filled(p + off, off, len, n))
			return false;
	}
	return true;
}

static int message_end(struct receiver *v, uint64_t n, bool whole)
{
	struct sdk_end *e = v->e;
	uint64_t got = whole ? e->npkts : e->way->got(e, n), bytes = got * e->run.at.mtu, t;

	if (e->run.flags & PERF_F_VERIFY && !verified(e, n, whole))
		v->r->wrong++;
	v->r->messages++;
	v->r->incomplete += !whole;
	v->r->packets += got;
	v->r->bytes += whole || bytes > e->run.at.size ? e->run.at.size : bytes;
	v->ended_pkts += e->npkts;
	v->over[n % e->run.at.in_flight] = true;
	t = perf_now();
	if (e->way->finish(e, n))
		return -1;
	v->end_ns[n % e->run.at.in_flight] = since(v, t);
	return 0;
}

/* Posts what may be posted; the first in_flight ones are no reposts. */
static int post_all(struct receiver *v)
{
	struct sdk_end *e = v->e;
	uint32_t w = e->run.at.in_flight;
	uint64_t t;
	int ret;

	SDR_ASSERT(w > 0);
	while (v->posted < w || v->over[v->posted % w]) {
		t = perf_now();
		ret = e->way->post(e, v->posted);
		if (ret < 0)
			return -1;
		if (!ret)
			break;
		if (v->posted >= w) {
			t = since(v, t) + v->end_ns[v->posted % w];
			v->cost[v->r->reposts++ % SAMPLES] =
				t < UINT32_MAX ? (uint32_t)t : UINT32_MAX;
		}
		v->over[v->posted % w] = false;
		v->got[v->posted++ % w] = 0;
	}
	return 0;
}

/* Handed over long enough ago, and nothing has come of it since. */
static bool given_up(struct receiver *v, uint64_t n, uint64_t now)
{
	uint32_t i = (uint32_t)(n % v->e->run.at.in_flight);
	uint64_t got;

	if (n >= v->e->heard.messages || now - v->e->heard_ns < GRACE_NS)
		return false;
	got = v->e->way->got(v->e, n);
	if (got != v->got[i] || !v->got_ns[i]) {
		v->got[i] = got;
		v->got_ns[i] = now;
	}
	return now - v->got_ns[i] >= GRACE_NS;
}

/* Ends what is whole, now and then also what is lost; -1, else whether one was ended. */
static int look(struct receiver *v, uint64_t now)
{
	struct sdk_end *e = v->e;
	uint32_t w = e->run.at.in_flight;
	bool lost = now - v->looked_ns >= LOOK_NS, whole;
	int ended = 0;
	uint64_t n;

	if (lost)
		v->looked_ns = now;
	for (n = v->base; n < v->posted; n++) {
		if (v->over[n % w])
			continue;
		whole = e->way->whole(e, n);
		if (!whole && !(lost && given_up(v, n, now)))
			continue;
		v->got_ns[n % w] = 0;
		ended = 1;
		if (message_end(v, n, whole))
			return -1;
	}
	while (v->base < v->posted && v->over[v->base % w])
		v->base++;
	return post_all(v) ? -1 : ended;
}

static void got_say(struct receiver *v, uint64_t now)
{
	struct sdk_end *e = v->e;
	uint64_t pkts = v->ended_pkts, n;

	for (n = v->base; e->window && n < v->posted; n++) {
		if (!v->over[n % e->run.at.in_flight])
			pkts += e->way->got(e, n);
	}
	if (v->base == v->told_base && now - v->told_ns < AGAIN_NS &&
	    pkts - v->told_pkts < (uint64_t)e->window / 8 + 1)
		return;
	v->told_base = v->base;
	v->told_pkts = pkts;
	v->told_ns = now;
	sdk_end_note(e, v->base, pkts);
}

/* 1: the sender has all it wanted; 0: go on; -1 with why. */
static int ended(struct receiver *v, struct sdk_meet *m)
{
	struct sdk_word w;
	int ret;

	if (!sdk_meet_came(m))
		return 0;
	ret = sdk_meet_hear(m, SDK_END, &w, 0, v->e->why);
	if (ret == SDK_NOT)
		return perf_why(v->e->why, "the sender: %.300s", w.why);
	return ret ? -1 : 1;
}

int sdk_recv(struct sdk_end *e, struct sdk_meet *m, struct sdk_result *r)
{
	static const uint64_t every = PERF_SEC / 1000;
	struct receiver v = { .e = e, .r = r, .clock_ns = clock_cost() };
	uint64_t cpu = sdk_cpu_ns(e->near), now, asked = 0;
	int n, end = 0;

	/* posted before the sender knew where to send; again after a wait for credit */
	if (post_all(&v))
		return -1;
	while (!end) {
		n = e->way->progress(e);
		if (n < 0)
			return -1;
		now = perf_now();
		end = look(&v, now);
		if (end < 0)
			return -1;
		n |= end;
		got_say(&v, now);
		end = 0;
		if (now - asked >= every) {
			asked = now;
			end = ended(&v, m);
			if (end < 0)
				return -1;
		}
		if (n)
			e->idle_since = 0;
		else
			sdk_end_idle(e, m->fd);
	}
	r->cpu_ns = sdk_cpu_ns(e->near) - cpu;
	r->repost_ns = cost_median(&v);
	e->way->stats(e, r);
	return 0;
}
