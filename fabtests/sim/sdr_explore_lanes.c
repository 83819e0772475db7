/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_explore_lanes: every interleaving of a device, the receive workers that read its queues, and
 * their engine's owner, in small worlds.
 *
 *   sdr_explore_lanes [-v] [--deep]	--deep: larger worlds, too
 *
 * The real code of the verbs engine (lanes_code.c) in turns (explore_turns.c), over a device that
 * places packets at any time (lanes_dev.c).  The owner binds, polls, sleeps and ends as the SDK and
 * an application would.
 *
 * What must hold in each: no packet is reported twice, by another worker than its channel's, of a
 * message that is not bound or of a queue pair that is gone; one that came in time is reported;
 * what came before a control datagram is reported before it; a queue is used by who has its lane's
 * lock alone; when everybody sleeps no completion waits, nothing that was reported waits for the
 * owner, and nobody waits for ever; and at the end everybody leaves.
 *
 * Then orders that are wrong (enum lanes_wrong), each of which must be found by one of the worlds.
 */
#include <stdio.h>
#include <string.h>

#include "lanes_world.h"

#define DEEDS 8u

/* What the owner does, one after the other; at the end everything that is left is unbound. */
enum deed_kind {
	END,
	BIND,	/* slot, use */
	UNBIND, /* slot, use */
	POLL,	/* a round, if no control datagram was there yet */
	HEAR,	/* rounds, until so many (slot) control datagrams were there */
	DOZE,	/* rounds and sleep, until that */
	SETTLE, /* rounds and sleep, until everybody else sleeps */
	DESTROY,
};

struct deed {
	enum deed_kind kind;
	uint8_t slot, use;
};

/* What the device does. */
enum step_kind {
	STOP,
	PACKET,	 /* channel, slot, use, number */
	CONTROL, /* a datagram; channel: 0 to the device, 1 to the socket */
	AFTER,	 /* slot, use: when that is bound */
	FAILED,	 /* channel: a receive ends with an error */
};

struct step {
	enum step_kind kind;
	uint8_t channel, slot, use, pkt;
};

struct scenario {
	const char *name;
	uint32_t workers;
	struct deed deed[DEEDS];
	struct step step[DEEDS];
	uint32_t least; /* packets that are reported in every interleaving */
	uint32_t room;	/* 0: enough */
	uint32_t late;	/* packets come so many uses after the end of theirs, at most */
	bool closes;	/* to the very end */
	bool deep;	/* only if that is asked for */
};

static const struct scenario scenarios[] = {
	{ "packets, and sleep",
	  1,
	  { { BIND, 0, 0 }, { SETTLE, 0, 0 } },
	  { { PACKET, 0, 0, 0, 0 }, { PACKET, 0, 0, 0, 1 } },
	  .least = 2 },
	{ "a datagram binds",
	  1,
	  { { BIND, 1, 0 }, { DOZE, 1, 0 }, { BIND, 0, 0 }, { SETTLE, 0, 0 } },
	  { { CONTROL, 0, 0, 0, 0 }, { PACKET, 0, 0, 0, 0 } },
	  .least = 1 },
	{ "a datagram of the socket binds",
	  1,
	  { { BIND, 1, 0 },
	    { POLL, 0, 0 },
	    { POLL, 0, 0 },
	    { DOZE, 1, 0 },
	    { BIND, 0, 0 },
	    { SETTLE, 0, 0 } },
	  { { CONTROL, 1, 0, 0, 0 }, { PACKET, 0, 0, 0, 0 } },
	  .least = 1 },
	{ "a datagram behind the data",
	  1,
	  { { BIND, 0, 0 }, { HEAR, 1, 0 }, { UNBIND, 0, 0 } },
	  { { PACKET, 0, 0, 0, 0 }, { CONTROL, 0, 0, 0, 0 } },
	  .least = 1 },
	{ "packets of a message that has ended",
	  1,
	  { { BIND, 1, 0 }, { BIND, 0, 0 }, { UNBIND, 0, 0 }, { BIND, 0, 2 }, { SETTLE, 0, 0 } },
	  { { PACKET, 0, 0, 0, 0 }, { AFTER, 0, 0, 2, 0 }, { PACKET, 0, 0, 2, 0 } },
	  .least = 1 },
	{ "late packets between those of the next use",
	  1,
	  { { BIND, 0, 0 }, { UNBIND, 0, 0 }, { BIND, 0, 1 }, { SETTLE, 0, 0 } },
	  { { PACKET, 0, 0, 0, 0 }, { AFTER, 0, 0, 1, 0 }, { PACKET, 0, 0, 1, 0 } },
	  .least = 1,
	  .late = 1,
	  .deep = true },
	{ "unbinding one, with packets of another",
	  1,
	  { { BIND, 0, 0 }, { BIND, 1, 0 }, { UNBIND, 1, 0 }, { SETTLE, 0, 0 } },
	  { { PACKET, 0, 0, 0, 0 } },
	  .least = 1 },
	{ "nothing is expected, and then it is",
	  1,
	  { { BIND, 0, 0 }, { UNBIND, 0, 0 }, { SETTLE, 0, 0 }, { BIND, 0, 1 }, { SETTLE, 0, 0 } },
	  { { AFTER, 0, 0, 1, 0 }, { PACKET, 0, 0, 1, 0 } },
	  .least = 1 },
	{ "what came while nothing was expected",
	  1,
	  { { BIND, 0, 0 }, { UNBIND, 0, 0 }, { SETTLE, 0, 0 }, { BIND, 0, 1 }, { SETTLE, 0, 0 } },
	  { { PACKET, 0, 0, 0, 0 } },
	  .late = 1 },
	{ "no room above",
	  1,
	  { { BIND, 0, 0 }, { SETTLE, 0, 0 } },
	  { { PACKET, 0, 0, 0, 0 }, { PACKET, 0, 0, 0, 1 } },
	  .least = 2,
	  .room = 1,
	  .deep = true },
	{ "the queue pair goes",
	  2,
	  { { BIND, 0, 0 }, { DESTROY, 0, 0 } },
	  { { PACKET, 0, 0, 0, 0 }, { PACKET, 1, 0, 0, 1 } },
	  .least = 0,
	  .deep = true },
	{ "the queue pair goes, with a packet",
	  2,
	  { { BIND, 0, 0 }, { DESTROY, 0, 0 } },
	  { { PACKET, 1, 0, 0, 0 } },
	  .least = 0 },
	{ "its end while a worker is about to sleep",
	  1,
	  { { BIND, 0, 0 }, { UNBIND, 0, 0 } },
	  { { PACKET, 0, 0, 0, 0 } },
	  .closes = true },
	{ "a receive fails",
	  1,
	  { { BIND, 0, 0 }, { SETTLE, 0, 0 } },
	  { { FAILED, 0, 0, 0, 0 }, { PACKET, 0, 0, 0, 1 } },
	  .least = 0 },
	{ .name = NULL },
};

static const struct scenario *sc;
static bool ended[LANES_SLOTS][LANES_USES + 1];
static struct step sent[DEEDS];
static uint32_t nsent, before[DEEDS], heard; /* packets before each control datagram */
static bool failed, settling, quiet;

/* ---- the owner ------------------------------------------------------------------------------- */

/* Each packet before it is reported, if it can be. */
static void owner_hears(void)
{
	const struct sdr_verbs_crew *c = lanes.v.crew;
	uint32_t i;

	for (i = 0; i < before[heard]; i++) {
		const struct step *s = &sent[i];

		if (lanes.bound[s->slot][s->use] && !lanes.seen[s->slot][s->use][s->pkt] &&
		    !c->worker[s->channel]->early && lanes.notes[s->channel] < lanes.room)
			turns_fail("a control datagram is reported before data that came first");
	}
	heard++;
}

/* As sdr_context_progress; what a datagram says is done before the next poll. */
static void owner_round(uint32_t at)
{
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	uint32_t was = heard;
	int n, i;

	do {
		turns_forget(turns_mix(at, heard));
		n = sdr_verbs_poll(&lanes.v.uc, ev, SDR_UC_POLL_MIN);
		lanes_collect();
		for (i = 0; i < n; i++)
			if (ev[i].kind == SDR_UC_EV_CTL)
				owner_hears();
	} while (n > 0 && heard == was);
}

/* What it did last may have reported something: it looks no more, if it is not told to. */
static void owner_wait(uint32_t at, uint32_t hear)
{
	while (heard < hear || settling) {
		turns_forget(turns_mix(at, heard) + 1);
		if (!sdr_verbs_arm(&lanes.v.uc))
			lanes_owner_sleep();
		if (heard < hear || settling)
			owner_round(at);
	}
}

static void owner_hear(uint32_t at, uint32_t hear)
{
	while (heard < hear) {
		turns_look();
		owner_round(at);
		turns_forget(at);
		if (heard < hear)
			turns_rest(1000 + at);
	}
}

static void owner_unbind(uint32_t slot, uint32_t use)
{
	sdr_verbs_slot_unbind(&lanes.q->qp, slot);
	lanes.bound[slot][use] = false;
	ended[slot][use] = true;
	turns_wrote();
}

static void owner_destroy(void)
{
	struct sdr_verbs_qp *q = lanes.q;

	sdr_verbs_qp_destroy(&q->qp);
	lanes.q = NULL;
	turns_wrote();
}

static void owner_thread(void)
{
	static uint8_t memory[1];
	uint32_t i;

	for (i = 0; sc->deed[i].kind; i++) {
		const struct deed *d = &sc->deed[i];

		turns_forget(i);
		switch (d->kind) {
		case BIND:
			lanes.bound[d->slot][d->use] = true;
			turns_wrote();
			if (sdr_verbs_slot_bind(&lanes.q->qp, d->slot, d->use, memory,
						LANES_USES * LANES_PKTS * LANES_MTU, NULL))
				turns_fail("bind");
			break;
		case UNBIND:
			owner_unbind(d->slot, d->use);
			break;
		case POLL:
			if (!heard)
				owner_round(i);
			break;
		case HEAR:
			owner_hear(i, d->slot);
			break;
		case DOZE:
			owner_wait(i, d->slot);
			break;
		case SETTLE:
			settling = true;
			owner_wait(i, 0);
			break;
		case DESTROY:
			owner_destroy();
			break;
		case END:
			break;
		}
	}
	if (!sc->closes)
		turns_finish();
	turns_forget(i);
	if (lanes.q)
		owner_destroy();
	turns_forget(i + 1);
	sdr_verbs_crew_close(&lanes.v);
}

/* ---- the device ------------------------------------------------------------------------------ */

static void device_thread(void)
{
	uint32_t i;

	for (i = 0; sc->step[i].kind; i++) {
		const struct step *s = &sc->step[i];

		turns_point(1 + i);
		switch (s->kind) {
		case PACKET:
			if (!lanes.q || ended[s->slot][s->use + sc->late])
				break;
			sent[nsent++] = *s;
			lanes_arrives(s->channel, s->slot, s->use, s->pkt, IBV_WC_SUCCESS);
			break;
		case FAILED:
			if (!lanes.q)
				break;
			failed = true;
			lanes_arrives(s->channel, s->slot, s->use, s->pkt, IBV_WC_LOC_LEN_ERR);
			break;
		case CONTROL:
			before[lanes.ctl[0] + lanes.ctl[1]] = nsent;
			lanes_control(s->channel);
			break;
		case AFTER:
			while (!lanes.bound[s->slot][s->use])
				turns_spin(0);
			break;
		case STOP:
			break;
		}
	}
}

/* ---- worlds ---------------------------------------------------------------------------------- */

static void world_thread(int me)
{
	if (me == LANES_OWNER)
		owner_thread();
	else if (me == LANES_DEVICE)
		device_thread();
	else
		lanes_work((uint32_t)me);
}

static void world_reset(void)
{
	const struct step *s;

	lanes_reset(sc->workers);
	lanes.closes = sc->closes;
	for (s = sc->step; s->kind; s++) {
		lanes.fails |= s->kind == FAILED;
		if (s->kind == CONTROL)
			lanes.talks[s->channel] = true;
	}
	lanes.room = sc->room ? sc->room : lanes.room;
	memset(ended, 0, sizeof(ended));
	nsent = heard = 0;
	failed = settling = quiet = false;
}

static uint64_t world_hash(void)
{
	uint64_t h = turns_mix_bytes(lanes_hash(), ended, sizeof(ended));

	return turns_mix(turns_mix(h, heard), (uint64_t)settling | (uint64_t)failed << 1);
}

/* Nobody can go on: that is the rest that the owner has waited for, and nothing is left to do. */
static void world_stuck(void)
{
	const struct sdr_verbs_crew *c = lanes.v.crew;
	uint32_t i;

	if (!settling || !turns_sleeps(LANES_OWNER) ||
	    (!turns_done(LANES_DEVICE) && !turns_spins(LANES_DEVICE)))
		turns_fail("everybody waits");
	for (i = 0; i < sc->workers; i++) {
		const struct sdr_verbs_lane *l = &c->worker[i]->lane;

		if (!turns_sleeps((int)i))
			turns_fail("a worker waits for an owner that sleeps");
		if (!failed &&
		    (l->pos != l->n || (l->hot && lanes.queue[i].head != lanes.queue[i].tail)))
			turns_fail("a completion waits while everybody sleeps");
		if (lanes.notes[i])
			turns_fail("what was reported waits for an owner that sleeps");
	}
	if (failed && !lanes.v.bad)
		turns_fail("a queue pair has broken, and its owner sleeps");
	settling = false;
	lanes.called = true; /* its application goes on */
	turns_wake(LANES_OWNER);
}

static void world_judge(void)
{
	if (lanes.placed < sc->least)
		turns_fail("a packet that came in time was not reported");
}

static const struct turns_world turns = {
	.program = "sdr_explore_lanes",
	.threads = LANES_WORKERS + 2,
	.first = LANES_OWNER,
	.reset = world_reset,
	.hash = world_hash,
	.thread = world_thread,
	.judge = world_judge,
	.stuck = world_stuck,
};

/* Each in the world in which it is found. */
static const struct {
	const char *what, *world;
} wrongs[LANES_WRONGS] = {
	[LANES_NO_LEAVE] = { "unbinding looks at no lane", "packets of a message that has ended" },
	[LANES_LATE_NOTIFY] = { "notifications are asked for after the last look",
				"packets, and sleep" },
	[LANES_NO_PASS] = { "datagrams are reported before data", "a datagram behind the data" },
	[LANES_LATE_ASK] = { "looks are counted after they were made",
			     "a datagram of the socket binds" },
	[LANES_NO_WAKE] = { "a worker is not told of its first queue",
			    "what came while nothing was expected" },
};

static bool found(enum lanes_wrong wrong, bool verbose)
{
	const char *fault = NULL;
	uint64_t runs;

	for (sc = scenarios; strcmp(sc->name, wrongs[wrong].world) != 0; sc++)
		;
	lanes.wrong = wrong;
	turns_explore(&turns, sc->name, &runs, &fault);
	if (!fault)
		fprintf(stderr, "sdr_explore_lanes: \"%s\": nothing is found, and %s\n", sc->name,
			wrongs[wrong].what);
	else if (verbose)
		printf("%s: %s\n", wrongs[wrong].what, fault);
	return fault;
}

int main(int argc, char **argv)
{
	bool verbose = false, deep = false;
	uint64_t states, runs;
	int ret = 0, i;

	for (i = 1; i < argc; i++) {
		verbose |= !strcmp(argv[i], "-v");
		deep |= !strcmp(argv[i], "--deep");
	}
	if (argc - 1 != verbose + deep) {
		fprintf(stderr, "usage: sdr_explore_lanes [-v] [--deep]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!turns_open())
		return 2;
	for (sc = scenarios; sc->name; sc++) {
		if (sc->deep && !deep)
			continue;
		states = turns_explore(&turns, sc->name, &runs, NULL);
		if (verbose)
			printf("%-50s %8llu states %8llu runs\n", sc->name,
			       (unsigned long long)states, (unsigned long long)runs);
	}
	for (i = LANES_RIGHT + 1; i < LANES_WRONGS; i++)
		ret |= !found((enum lanes_wrong)i, verbose);
	turns_close();
	return ret;
}
