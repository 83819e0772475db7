/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Losses that we make, and losses that the path makes by itself (weather), told apart by evidence.
 *
 *   beside a queue  more losses than the weather explains, while every packet of a round met a
 *                   queue well above the one that we keep: somebody overruns it (FULL)
 *   by experiment   more losses than the weather explains without such a queue: send less
 *                   (SUSPECT), and look at what was sent after that.  Losses that fell with our
 *                   rate, by more than chance, are ours (OURS); if not, they are weather, and
 *                   become what is expected.  They are, too, if they go on in the rounds
 *                   behind that (NOT_OURS): that they had gone was chance.
 *                   Messages that are over in a round or two ask again with the next one; where
 *                   there is weather, which asks often by chance, they do not, as the answer costs
 *                   a message its time.
 *   too many        more than SDR_BLAME_MAX beyond what is expected is no weather (STORM), unless
 *                   one cut after the other does not help (FOUL): the rate has gone down to a
 *                   tenth then, and the losses have not; more than half never is.  So does a device
 *                   that drops whatever was overtaken, on a path that reorders.  What is decided
 *                   next left before the cut: its losses are the storm's, and no weather, if they
 *                   are too few to ask.
 *   late            what was taken for lost was only overtaken: it never counted, and where most
 *                   of what a cut answered was that, the window from before comes back (as TCP
 *                   undoes, RFC 3522, RFC 8985)
 *   by neither      what stays within expectation is weather, and moves the expectation slowly; but
 *                   what was lost beside the longest queues of late, which few packets meet, beyond
 *                   what the weather loses of as many, is counted as ours
 *   by habit        where most was ours of late, so are losses that say nothing by themselves and
 *                   met a queue like that of the others, and those that were left open before: a
 *                   few that are taken for weather are remembered for long (sdr_loss_est.c)
 *
 * What is counted are events, acknowledgements that tell of losses, and not packets: a burst of
 * eight is one accident, a full queue drops here and there all the time.  (A switch has no such
 * accidents, and where hosts are late one acknowledgement tells of a hundred drops: there packets
 * make a storm.)  The number that makes suspicious is beyond what a Poisson process of the expected
 * rate shows by chance, further where the packets around the losses met no queue at all.
 *
 * (Biaz, ZigZag and Spike judge each loss by the delay around it alone; the experiment is what PCC
 * does all the time, here made only when there is a question.)  No clock, no timers, no threads, no
 * allocation.
 */
#include <math.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_blame.h"

#define SDR_BLAME_PKTS	 48.0	/* packets decided that say something by themselves, */
#define SDR_BLAME_LOST	 8.0	/* packets lost, */
#define SDR_BLAME_EVENTS 5.0	/* events */
#define SDR_BLAME_MEMORY 8192.0 /* packets over which the expectation moves */
#define SDR_BLAME_STEP	 0.1	/* of it at a time at most */
#define SDR_BLAME_SHARE	 0.004	/* a smaller share of bytes harms nobody */
#define SDR_BLAME_SIGMAS 3.5
#define SDR_BLAME_FEW	 2.0 /* events beyond that */
/* times as many where no queue is seen */
#define SDR_BLAME_DRY 3.0
/* of the target: a queue that packets around losses have met */
#define SDR_BLAME_WET 0.7
/* of the target: a queue that is not only ours */
#define SDR_BLAME_LONG 2.0
/* of the excess: what is left after a cut that helped */
#define SDR_BLAME_HELPED 0.4
#define SDR_BLAME_FEWER	 2.0 /* deviations */
#define SDR_BLAME_MAX	 0.12
/* of packets: that meet a queue that few meet; of the target: steps in which that is followed */
#define SDR_BLAME_FEW_MEET  (1.0 / 10)
#define SDR_BLAME_OVER	    1.005 /* longer than that, and not as long */
#define SDR_BLAME_LIKE	    0.7	  /* of that: one like it */
#define SDR_BLAME_HIGH_STEP (1.0 / 1024)
/* steps are longer at first, and shorten with the samples */
#define SDR_BLAME_HIGH_FIRST 4.0
#define SDR_BLAME_HIGH_SLOW  16.0
/* packets lost after which a verdict counts half, and that tell a habit; and of them, ours */
#define SDR_BLAME_TOLD	     64.0
#define SDR_BLAME_TOLD_LEAST 8.0
#define SDR_BLAME_TOLD_OURS  0.8
/* rounds after OURS in which so many events and a harmful share of losses undo it */
#define SDR_BLAME_WATCH	       5u
#define SDR_BLAME_WATCH_EVENTS 6.0
/* rounds that a test waits for one that is full, where weather loses no more events a packet */
#define SDR_BLAME_RESTS	     8u
#define SDR_BLAME_RESTS_RATE 5e-4
/* no weather takes more: where all of a crowd believe in it, they send ten times what passes */
#define SDR_BLAME_MOST 0.5
/* packets and events of a storm at least: a single burst is none */
#define SDR_BLAME_STORM_PKTS   12.0
#define SDR_BLAME_STORM_EVENTS 4.0
/* where no burst is weather: packets lost that are one, whoever tells of how many */
#define SDR_BLAME_STORM_CALM 2.0
/* of the first storm's losses: cuts that leave so many did not help */
#define SDR_BLAME_STORM_SAME 0.5
/* packets in the window before the first of them, at least */
#define SDR_BLAME_STORM_WIN 4.0
/* rounds before they are believed to be weather, and in which they are */
#define SDR_BLAME_STORM_ROUNDS 32u
#define SDR_BLAME_FOUL_ROUNDS  1024u
/* rounds in which cuts are one, and the share of what they answered that has to be late */
#define SDR_BLAME_CUT_ROUNDS 16u
#define SDR_BLAME_CUT_LATE   0.5

static void blame_check(const struct sdr_blame *b)
{
	SDR_ASSERT(b->rate >= 0 && b->rate <= 1 && b->share >= 0 && b->share <= 1);
	SDR_ASSERT(b->lost <= b->bytes && b->held >= 0 && b->ours >= 0);
	SDR_ASSERT(b->told_ours >= 0 && b->told_ours <= b->told && b->open >= 0);
	SDR_ASSERT(b->storms <= SDR_BLAME_STORMS && b->storm >= 0 && b->storm <= 1);
}

void sdr_blame_init(struct sdr_blame *b)
{
	memset(b, 0, sizeof(*b));
}

/* A stretch is decided, or says nothing. */
static void blame_next(struct sdr_blame *b)
{
	b->watch_bytes += b->bytes;
	b->watch_lost += b->lost;
	b->watch_events += b->events;
	b->bytes = b->lost = b->events = b->wet = b->met = b->damp = 0;
	b->peak = 0;
	blame_check(b);
}

/* For so many rounds from now on. */
static void blame_watch(struct sdr_blame *b, uint32_t rounds)
{
	b->watch = rounds;
	b->watch_bytes = b->watch_events = b->watch_lost = 0;
}

void sdr_blame_reset(struct sdr_blame *b)
{
	b->testing = b->behind = false;
	b->held = 0;
	blame_next(b);
	blame_watch(b, 0);
}

/* So few packets meet a longer queue. */
static void blame_high(struct sdr_blame *b, double queue)
{
	double first = SDR_BLAME_HIGH_FIRST / (SDR_BLAME_HIGH_SLOW + b->samples),
	       step = fmax(first, SDR_BLAME_HIGH_STEP) * (double)b->target;

	b->samples++;
	if (queue > b->high)
		b->high += step * (1 - SDR_BLAME_FEW_MEET);
	else
		b->high = fmax(b->high - step * SDR_BLAME_FEW_MEET, 0);
}

void sdr_blame_acked(struct sdr_blame *b, uint64_t bytes, uint64_t lost, uint64_t queue)
{
	double near;

	b->bytes += (double)bytes + (double)lost;
	b->lost += (double)lost;
	b->events += lost ? 1 : 0;
	/* that left in front of it or behind it */
	near = (double)(queue > b->last ? queue : b->last);
	if (queue && near > fmax(SDR_BLAME_OVER * b->high, (double)b->target)) {
		b->wet += (double)lost;
		b->met += (double)bytes + (double)lost;
	}
	if (queue && near > SDR_BLAME_LIKE * b->high)
		b->damp += (double)lost;
	if (bytes && queue) {
		blame_high(b, (double)queue);
		b->last = queue;
	}
	if (queue > b->peak)
		b->peak = queue;
	blame_check(b);
}

void sdr_blame_cut(struct sdr_blame *b, double win, double lost)
{
	if (b->cut_lost <= 0 || b->cut_rounds > SDR_BLAME_CUT_ROUNDS) {
		b->cut_lost = b->cut_late = 0;
		b->cut_win = win;
	}
	b->cut_rounds = 0;
	b->cut_lost += lost;
}

double sdr_blame_late(struct sdr_blame *b, double bytes)
{
	double n = fmin(bytes, b->lost), held = fmin(bytes - n, b->held);

	SDR_ASSERT(bytes >= 0);
	if (n > 0) {
		b->events *= 1 - n / b->lost;
		b->lost -= n;
	}
	b->held -= held;
	b->cut_late += bytes - n;
	blame_check(b);
	if (b->cut_lost <= 0 || b->cut_late < SDR_BLAME_CUT_LATE * b->cut_lost)
		return 0;
	b->cut_lost = 0;
	sdr_blame_reset(b);
	return b->cut_win;
}

double sdr_blame_beyond(const struct sdr_blame *b, double bytes, double lost)
{
	return fmax(lost - b->share * bytes, 0);
}

/* Most that was lost of late was ours. */
static bool blame_habit(const struct sdr_blame *b, uint32_t mtu)
{
	return b->told >= SDR_BLAME_TOLD_LEAST * mtu &&
	       b->told_ours >= SDR_BLAME_TOLD_OURS * b->told;
}

/* So many of the bytes lost are judged, and so many of these are ours. */
static void blame_tell(struct sdr_blame *b, uint32_t mtu, double lost, double ours)
{
	double keeps = exp2(-lost / (SDR_BLAME_TOLD * mtu));

	SDR_ASSERT(ours >= 0 && lost >= ours);
	b->told_ours = b->told_ours * keeps + ours;
	b->told = fmax(b->told * keeps + lost, b->told_ours);
	b->open *= keeps;
}

/* Of the stretch's losses, where some are ours: those that are. */
static double blame_beyond(struct sdr_blame *b, uint32_t mtu)
{
	double ours = b->lost;

	if (!blame_habit(b, mtu))
		ours = sdr_blame_beyond(b, b->bytes, b->lost);
	b->told += b->lost - ours;
	return ours;
}

/* The same, said; and of what was left open before, all, if that is a habit. */
static void blame_ours(struct sdr_blame *b, uint32_t mtu, double lost, double ours)
{
	b->ours = ours;
	blame_tell(b, mtu, lost, ours);
	if (blame_habit(b, mtu)) {
		b->ours += b->open;
		b->open = 0;
	}
}

/* Losses beside a long queue. */
static void blame_full(struct sdr_blame *b, uint32_t mtu)
{
	double ours = blame_beyond(b, mtu);

	blame_ours(b, mtu, ours, ours);
}

/*
 * Losses that say nothing by themselves: by the queue that they met, less what the weather took
 * beside it, which is as large a part of what was sent there as elsewhere.
 */
static void blame_wet(struct sdr_blame *b, uint32_t mtu)
{
	double wet = fmin(b->wet, b->lost), met = fmin(b->met, b->bytes);
	double ours = fmax(wet - (b->lost - wet) * met / fmax(b->bytes - met, met + 1), 0);

	b->open += fmax(fmin(b->damp, b->lost) - ours, 0);
	blame_ours(b, mtu, b->lost, ours);
}

/*
 * None, or fewer than by chance if the cut has changed nothing: of two counts the one that led to a
 * question is the larger one by itself.
 */
static bool blame_fewer(const struct sdr_blame *b, uint32_t mtu)
{
	double as_many = b->asked * b->bytes / mtu;

	return b->events < 1 || as_many - b->events >= SDR_BLAME_FEWER * sqrt(as_many + b->events);
}

/* What was sent after a cut has been decided. */
static enum sdr_blame_verdict blame_judge(struct sdr_blame *b, uint32_t mtu, double rate,
					  double share)
{
	double lost = b->held + blame_beyond(b, mtu);
	enum sdr_blame_verdict v;

	if (rate - b->rate < SDR_BLAME_HELPED * b->excess && blame_fewer(b, mtu)) {
		blame_ours(b, mtu, lost, lost);
		v = SDR_BLAME_OURS;
	} else {
		b->rate = fmin(fmax(b->rate, rate), 1);
		b->share = fmax(b->share, share);
		/* in a crowd the others fill what one leaves */
		blame_tell(b, mtu, lost, 0);
		b->open += lost;
		v = SDR_BLAME_WEATHER;
	}
	b->testing = false;
	b->held = 0;
	return v;
}

bool sdr_blame_storms(const struct sdr_blame *b, uint32_t mtu)
{
	double n = b->bytes / mtu, share = fmin(b->share, SDR_BLAME_MOST - SDR_BLAME_MAX);
	double events = b->events, chance = SDR_BLAME_SIGMAS * sqrt(share * n);

	if (b->calm)
		events = fmax(events, b->lost / mtu / SDR_BLAME_STORM_CALM);
	return n >= SDR_BLAME_STORM_PKTS && events >= SDR_BLAME_STORM_EVENTS &&
	       b->lost > (share + fmax(SDR_BLAME_MAX, chance / n)) * b->bytes;
}

/*
 * Each storm is answered by a cut; after some of them, and some rounds in which those who share
 * the path have found their places, it is clear whether that helps.
 */
static enum sdr_blame_verdict blame_storm(struct sdr_blame *b, const struct sdr_blame_at *at,
					  double rate, double share)
{
	enum sdr_blame_verdict v = SDR_BLAME_STORM;
	double few;

	if (!b->storms || share < SDR_BLAME_STORM_SAME * b->storm) {
		b->storms = b->storm_rounds = 0;
		b->storm = share;
	}
	/* a switch loses nothing itself, and in a crowd of small windows one's cuts show nothing */
	if (at->foul && share <= SDR_BLAME_MOST &&
	    (b->storms || at->win >= SDR_BLAME_STORM_WIN * at->mtu))
		b->storms += b->storms < SDR_BLAME_STORMS;
	if (b->storms < SDR_BLAME_STORMS || share > SDR_BLAME_MOST) {
		b->ours = b->held + sdr_blame_beyond(b, b->bytes, b->lost);
		/* one storm does not make a habit that weather would take long to end */
		few = fmin(b->ours, SDR_BLAME_TOLD_LEAST * at->mtu);
		blame_tell(b, at->mtu, few, few);
	} else if (b->storm_rounds < SDR_BLAME_STORM_ROUNDS) {
		v = SDR_BLAME_NONE;
	} else {
		b->storms = b->storm_rounds = 0;
		b->rate = fmax(b->rate, rate);
		b->share = fmax(b->share, share);
		b->foul = SDR_BLAME_FOUL_ROUNDS;
		b->told_ours = 0;
		v = SDR_BLAME_FOUL;
	}
	sdr_blame_reset(b);
	b->behind = v == SDR_BLAME_STORM;
	return v;
}

/* Rounds of storms, and of the belief that they are weather: it is tried anew now and then. */
static void blame_count(struct sdr_blame *b)
{
	b->storm_rounds += b->storms > 0;
	if (b->foul && !--b->foul)
		b->rate = b->share = 0;
}

/* The window is far below that at which there were losses, and there are some again. */
static bool blame_watched(struct sdr_blame *b, uint32_t mtu)
{
	double bytes = b->watch_bytes + b->bytes, lost = b->watch_lost + b->lost;
	double events = b->watch_events + b->events;

	if (!b->watch)
		return false;
	b->watch--;
	if (events < SDR_BLAME_WATCH_EVENTS || lost <= SDR_BLAME_SHARE * bytes)
		return false;
	b->watch = 0;
	b->rate = fmin(fmax(b->rate, events * mtu / bytes), 1);
	b->share = fmax(b->share, lost / bytes);
	return true;
}

static enum sdr_blame_verdict blame_round(struct sdr_blame *b, const struct sdr_blame_at *at)
{
	double n = b->bytes / at->mtu, target = (double)at->target, rate, share, more, step, limit;
	enum sdr_blame_verdict v = SDR_BLAME_NONE;

	SDR_ASSERT(at->mtu && at->target);
	b->ours = 0;
	b->calm = !at->foul;
	b->target = at->target;
	if (sdr_blame_storms(b, at->mtu))
		return blame_storm(b, at, fmin(b->events / n, 1), b->lost / b->bytes);
	if ((double)at->queue < SDR_BLAME_LONG * target && blame_watched(b, at->mtu)) {
		blame_tell(b, at->mtu, b->lost, 0);
		blame_next(b);
		return SDR_BLAME_NOT_OURS;
	}
	if (n < SDR_BLAME_PKTS && b->lost < SDR_BLAME_LOST * at->mtu &&
	    b->events < SDR_BLAME_EVENTS)
		return v;
	/* an acknowledgement may tell of less than a packet's worth */
	rate = fmin(b->events / n, 1);
	share = b->lost / b->bytes;
	if (share < SDR_BLAME_STORM_SAME * b->storm)
		b->storms = 0;
	if (b->testing && !b->after) { /* that left before the cut */
		b->after = true;
		b->held += blame_beyond(b, at->mtu);
		blame_next(b);
		return v;
	}
	if (b->testing) {
		v = blame_judge(b, at->mtu, rate, share);
		blame_next(b);
		blame_watch(b, v == SDR_BLAME_OURS ? SDR_BLAME_WATCH : 0);
		return v;
	}
	more = rate - b->rate;
	limit = SDR_BLAME_SIGMAS * sqrt(b->rate * n) + SDR_BLAME_FEW;
	if ((double)b->peak <= SDR_BLAME_WET * target)
		limit *= SDR_BLAME_DRY;
	if (share > SDR_BLAME_SHARE && more * n > limit) {
		if ((double)at->queue > SDR_BLAME_LONG * target) {
			blame_full(b, at->mtu);
			v = SDR_BLAME_FULL;
		} else {
			b->testing = true;
			b->after = false;
			b->rests = 0;
			b->excess = more;
			b->asked = rate;
			b->held = blame_beyond(b, at->mtu);
			v = SDR_BLAME_SUSPECT;
		}
	} else if (b->behind) {
		blame_ours(b, at->mtu, b->lost, sdr_blame_beyond(b, b->bytes, b->lost));
	} else if ((double)at->queue < SDR_BLAME_LONG * target) {
		step = fmin(n / SDR_BLAME_MEMORY, SDR_BLAME_STEP);
		b->rate += more * step;
		b->share += (share - b->share) * step;
		blame_wet(b, at->mtu);
	} else {
		blame_full(b, at->mtu);
	}
	b->behind = false;
	blame_next(b);
	return v;
}

void sdr_blame_rests(struct sdr_blame *b, uint32_t mtu)
{
	b->behind = false;
	if (b->testing && !b->after) { /* that left before the cut */
		b->after = true;
		b->held += blame_beyond(b, mtu);
	}
	if (b->testing && (b->rate > SDR_BLAME_RESTS_RATE || ++b->rests > SDR_BLAME_RESTS))
		sdr_blame_reset(b);
	else
		blame_next(b);
}

enum sdr_blame_verdict sdr_blame_round(struct sdr_blame *b, const struct sdr_blame_at *at)
{
	double lost = b->lost;
	enum sdr_blame_verdict v;

	blame_count(b);
	v = blame_round(b, at);

	b->cut_rounds += b->cut_rounds <= SDR_BLAME_CUT_ROUNDS;
	if (v == SDR_BLAME_SUSPECT || v == SDR_BLAME_FULL || v == SDR_BLAME_STORM)
		sdr_blame_cut(b, at->win, lost);
	return v;
}
