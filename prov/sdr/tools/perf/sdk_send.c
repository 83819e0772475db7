/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The sender's loop of sdr_perf --sdk: keeps in_flight messages under way until all are answered,
 * and is timed.
 *
 * A message is under way from its first part until the receiver has ended it.  What the receiver's
 * host could not hold is not sent: packets of which nothing was heard stay within e->window, so a
 * clean path loses nothing; a part is held back until a fair share of the window is free, so that
 * packets still leave in trains.  Nothing is sent twice.
 *
 * Timers: SENT, which tells the receiver what it need not wait for, at most every SAY_NS, and again
 * every AGAIN_NS while nothing else happens; a receiver of which nothing is heard for QUIET_NS is
 * gone.
 */
#include "sdk.h"
#include "sdr_perf.h"

#define PART	    (256u << 10) /* bytes that are handed over at a time */
#define SAY_NS	    (PERF_SEC / 1000)
#define AGAIN_NS    (PERF_SEC / 200)
#define QUIET_NS    (10 * PERF_SEC)
#define PROGRESS_NS (PERF_SEC / 2)

struct sender {
	struct sdk_end *e;
	uint64_t goal;		/* messages */
	uint64_t begun;		/* of which parts were handed over */
	uint64_t off;		/* bytes of the last one that were; 0: it is whole */
	uint64_t packets;	/* handed over */
	uint64_t left;		/* that have left this host whole, in turn */
	uint64_t done;		/* that the receiver has ended */
	uint64_t said, said_ns; /* SENT: packets then */
	uint64_t heard;		/* packets */
	uint64_t heard_ns;	/* since when that is so */
};

static uint64_t packets_of(const struct sdk_end *e, uint64_t bytes)
{
	return (bytes + e->run.at.mtu - 1) / e->run.at.mtu;
}

/* Bytes of the next part; 0: the window is as good as full. */
static uint64_t part_len(const struct sender *s)
{
	const struct sdk_end *e = s->e;
	uint64_t left = e->run.at.size - s->off, mtu = e->run.at.mtu, room, out;

	if (left > PART)
		left = PART / mtu * mtu;
	if (!e->window)
		return left;
	out = s->packets > e->heard.packets ? s->packets - e->heard.packets : 0;
	room = out < e->window ? e->window - out : 0;
	if (packets_of(e, left) <= room)
		return left;
	return room > e->window / 4 ? room * mtu : 0;
}

/* The next part of the message at hand, or of a new one.  Bytes taken; -1 with why. */
static int64_t part_send(struct sender *s)
{
	struct sdk_end *e = s->e;
	uint64_t len, n = s->off ? s->begun - 1 : s->begun;
	int64_t took;

	if (!s->off && (n == s->goal || n - s->done >= e->run.at.in_flight))
		return 0;
	len = part_len(s);
	if (!len)
		return 0;
	if (!s->off && e->run.flags & PERF_F_VERIFY)
		sdk_fill(sdk_place(e, n), e->run.at.size, n);
	took = e->way->send(e, n, s->off, len);
	if (took <= 0)
		return took;
	if (!s->off)
		s->begun++;
	s->off += (uint64_t)took;
	s->packets += packets_of(e, (uint64_t)took);
	if (s->off == e->run.at.size)
		s->off = 0;
	return took;
}

/* Messages that were handed over whole. */
static uint64_t handed(const struct sender *s)
{
	return s->begun - (s->off ? 1 : 0);
}

/* A place is used again, so what was in it must have left; else only now and then worth a look. */
static int left_look(struct sender *s, uint64_t until)
{
	int ret = 1;

	while (s->left < until && (ret = s->e->way->left(s->e, s->left)) > 0)
		s->left++;
	return ret < 0 ? -1 : 0;
}

/* What the receiver has ended, and what it has got; 1: more than before, -1 with why. */
static int answers(struct sender *s, uint64_t now)
{
	struct sdk_end *e = s->e;
	int more = e->heard.messages > s->done || e->heard.packets > s->heard;

	if (e->heard.messages > handed(s))
		return perf_why(e->why, "the receiver has ended messages that were not sent");
	if (!more)
		return 0;
	s->heard = e->heard.packets;
	s->heard_ns = now;
	if (left_look(s, e->heard.messages))
		return -1;
	s->done = s->left < e->heard.messages ? s->left : e->heard.messages;
	return 1;
}

static int sent_say(struct sender *s, uint64_t now)
{
	if (now - s->said_ns < (s->said == s->packets ? AGAIN_NS : SAY_NS))
		return 0;
	if (left_look(s, handed(s)))
		return -1;
	s->said = s->packets;
	s->said_ns = now;
	sdk_end_note(s->e, s->left, s->packets);
	return 0;
}

/* Nothing moves: is the other side there, and alive? */
static int trouble(struct sender *s, struct sdk_meet *m, uint64_t now)
{
	struct sdk_word w;
	int ret;

	if (sdk_meet_came(m)) {
		ret = sdk_meet_hear(m, SDK_RESULT, &w, 0, s->e->why);
		if (ret == SDK_NOT)
			return perf_why(s->e->why, "the receiver: %.300s", w.why);
		return ret ? -1 : perf_why(s->e->why, "the receiver has ended too early");
	}
	if (now - s->heard_ns > QUIET_NS)
		return perf_why(
			s->e->why,
			"nothing was heard of the receiver for %llu s: does UDP pass both ways?",
			QUIET_NS / PERF_SEC);
	return 0;
}

static void progress_show(const struct sender *s, const struct perf_opt *opt, uint64_t ns)
{
	double share = s->e->run.iters ? (double)s->done / (double)s->e->run.iters
				       : (double)ns / (double)s->e->run.duration_ns;

	perf_out_progress(opt, s->e->run.at.size, ns, s->done * s->e->run.at.size,
			  share < 1 ? share : 1);
}

/* One pass; -1 with why, else whether something happened. */
static int pass(struct sender *s, uint64_t now)
{
	int64_t took;
	int moved = 0, n;

	while ((took = part_send(s)) > 0)
		moved = 1;
	if (took < 0)
		return -1;
	if (s->begun && sent_say(s, now))
		return -1;
	n = s->e->way->progress(s->e);
	if (n < 0)
		return -1;
	moved |= n > 0;
	n = answers(s, now);
	return n < 0 ? -1 : moved | n;
}

int sdk_send(struct sdk_end *e, struct sdk_meet *m, const struct perf_opt *shown,
	     uint64_t *messages, uint64_t *ns)
{
	struct sender s = { .e = e, .goal = e->run.iters ? e->run.iters : UINT64_MAX };
	uint64_t start = perf_now(), now = start, looked = start, told = start;
	int moved;

	s.heard_ns = start;
	while (s.done != s.goal) {
		moved = pass(&s, now);
		if (moved < 0)
			return -1;
		now = perf_now();
		if (!e->run.iters && s.goal == UINT64_MAX && now - start >= e->run.duration_ns)
			s.goal = s.begun; /* at least the one that is in flight then */
		if (now - looked >= PERF_SEC / 20) {
			looked = now;
			if (trouble(&s, m, now))
				return -1;
		}
		if (shown && now - told >= PROGRESS_NS) {
			told = now;
			progress_show(&s, shown, now - start);
		}
		if (moved)
			e->idle_since = 0;
		else
			sdk_end_idle(e, m->fd);
	}
	*ns = now - start ? now - start : 1;
	*messages = s.begun;
	return 0;
}
