/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How much a flow may begin with that has nothing to send in between.
 *
 * A message that is shorter than what the path holds is on its way before anything is heard of it.
 * One alone leaves at the rate of the path, and should.  But where many flows have one at the same
 * time (the ranks of a collective operation), each has learnt what the path carries, and together
 * they overrun it, in each of the operations anew: the laws of a flow that sends all the time have
 * no time to answer, and what they learn is of those that are left at the end.
 *
 * So a flow remembers, over pauses, what became of the packets it *began* with: those of the round
 * trip behind a moment at which nothing was in flight.
 *    passes   what of them arrived, over the time in which it did, is what passes of ours.  Where
 *             some was lost beside a queue longer than ours is to be, the next flight begins with
 *             so much; those who begin together each get the share that they had, and their sum is
 *             what the path carries.  Losses without a queue are the weather's and change nothing,
 *             however many; nor does a queue without losses, which a host that was late makes as
 *             well, but for who was found to be one of many already.  A queue is what is longer
 *             than the packets that left together, and no crowd's where nearly all that the path
 *             carries in that time was of this flight: who leaves a little too fast makes one, too.
 *    lifted   a packet for each flight that met no queue, more and more where whole messages met
 *             neither queue nor losses, and by itself with time: it doubles in twenty seconds.  As
 *             large as the path it is forgotten.  Where nobody knows how large that is, it makes no
 *             window larger, and is forgotten when it is four times the window.
 *    grows    within a message that met a queue the window grows fast when that is gone, as the
 *             others are; in one that met none slowly at first, since some begin later.  Whoever is
 *             left with the last of it had too little: its next flight gets a packet more for each
 *             such round, which is what makes shares equal.
 * Bounded in time: after BURST_ROUNDS rounds a flow is one of those that send all the time.
 *
 * A flow alone cannot know its share: ranks that see the same queue 2 ms longer or shorter keep
 * windows that differ by a factor of six.  So those who were found to be many begin with what they
 * begin with in the mean, which both ends find out together (sdr_fan.c, at.mean), and the mean goes
 * to the path over the number of them where that is known (at.sharers): then windows are equal
 * after a few exchanges, and a path measured wrong by one of them is outvoted.  Only losses cut
 * then, not a queue.  What others say makes no window larger than the path is known to carry, or
 * the flow's own, and none smaller than BURST_FLOOR packets.
 *
 * Connections that begin together, and know of each other, share from the start
 * (sdr_burst_share()).  No clock, no timers, no threads, no allocation.
 */
#include "base/sdr_assert.h"
#include "sdr_burst.h"

#define BURST_PKTS    12.0	/* of a flight: that say something */
#define BURST_FLOOR   8.0	/* packets with which any may begin */
#define BURST_LEAST   (1.0 / 8) /* of what it left with, at a time */
#define BURST_FREE    4.0	/* times the window: no share, where the path is not known */
#define BURST_USE     0.9	/* of what passed, or is known to */
#define BURST_SHARERS 4u	/* flights, of which the most that were seen on the path counts */
#define BURST_PULL    0.4	/* of what a mean of many is from the share of one of them */
#define BURST_LIFT    2.0	/* of that mean, where the share is not known, at most */
/* of the target: a queue that is too long, and that losses come from; times as long to arrive as to
 * leave */
#define BURST_LONG    1.5
#define BURST_SHORT   1.0 /* and one that says that nobody was met */
#define BURST_STRETCH 1.08
#define BURST_ALL     0.8 /* of what the path carries: nobody else was there to speak of */
/* of the bytes, and packets: losses beyond weather */
#define BURST_LOST	 0.02
#define BURST_LOST_PKTS	 2.0
#define BURST_ALONE	 0.04 /* more after a message that met nobody, then twice as much each */
#define BURST_ALONE_MOST 8.0
#define BURST_DOUBLE_NS	 20e9
#define BURST_ROUNDS	 16u
#define BURST_QUIET	 0.15 /* of the target: a round that met no queue */
#define BURST_MET	 1.5  /* and one that met others */
/*
 * of what was delivered: growth of the first round without a queue, twice as much in each behind
 * it, and the most; where there was one, and where there was none yet
 */
#define BURST_GROWS	  0.2
#define BURST_GROWS_MOST  0.4
#define BURST_BEGINS	  0.0125
#define BURST_BEGINS_MOST 0.25
#define BURST_LATE	  0.25 /* growth at which the others are gone */

static void burst_check(const struct sdr_burst *b)
{
	SDR_ASSERT(b->win > 0 && b->left >= 0 && b->bytes >= 0 && b->lost >= 0 && b->said >= 0);
	SDR_ASSERT(b->rx_last >= b->rx && b->tx_last >= b->tx && b->quiet <= b->rounds);
	SDR_ASSERT(b->mean >= 0 && b->fair >= 0 && b->began >= 0);
}

void sdr_burst_init(struct sdr_burst *b, uint64_t now)
{
	*b = (struct sdr_burst){ .win = HUGE_VAL, .risen = now };
}

void sdr_burst_share(struct sdr_burst *b, double win)
{
	b->win = fmin(b->win, win);
	burst_check(b);
}

/*
 * To begin with, by what those who share the path begin with: their mean, and where that is to go,
 * with the own lifts and cuts.
 */
static double burst_shared(const struct sdr_burst *b)
{
	/* of who began with more, all that is more than the mean is cut already */
	double lifts = b->win / fmin(b->began, b->mean);

	if (b->fair > 0)
		return (b->mean + BURST_PULL * (b->fair - b->mean)) * fmin(lifts, 1);
	return b->mean * fmin(lifts, BURST_LIFT);
}

/*
 * Of the path, among those that both ends saw of late; 0: unknown.  Too little to be judged the
 * next time is not believed: who measured amid others has taken its share for the path.
 */
static double burst_fair(struct sdr_burst *b, const struct sdr_burst_at *at)
{
	uint32_t n;
	double share;

	if (++b->sharers.flights >= BURST_SHARERS) {
		b->sharers.before = b->sharers.now;
		b->sharers.now = b->sharers.flights = 0;
	}
	b->sharers.now = at->sharers > b->sharers.now ? at->sharers : b->sharers.now;
	n = b->sharers.now > b->sharers.before ? b->sharers.now : b->sharers.before;
	share = n > 1 ? BURST_USE * at->full / n : 0;
	return share >= BURST_PKTS * at->mtu ? share : 0;
}

double sdr_burst_begin(struct sdr_burst *b, uint64_t now, double win, double full)
{
	SDR_ASSERT(win > 0 && now >= b->risen);
	b->alone = b->passed && !b->met && !b->lossy ? b->alone + 1 : 0;
	if (b->alone)
		b->win *= 1 + fmin(BURST_ALONE * exp2(b->alone - 1), 1);
	b->win *= exp2((double)(now - b->risen) / BURST_DOUBLE_NS);
	if (b->alone && b->win < HUGE_VAL && full > 0)
		win = fmax(win, fmin(b->win, full));
	if (sdr_burst_holds(b) && b->mean > 0)
		win = b->win = fmin(burst_shared(b), fmax(full, win));
	else if (b->win >= (full > 0 ? full : BURST_FREE * win))
		b->win = HUGE_VAL;
	win = fmin(win, b->win);
	*b = (struct sdr_burst){ .win = b->win,
				 .began = win,
				 .sharers = b->sharers,
				 .alone = b->alone,
				 .risen = now,
				 .left = win,
				 .tx = now,
				 .tx_last = now };
	return win;
}

bool sdr_burst_acked(struct sdr_burst *b, uint64_t rx, uint64_t tx, uint64_t bytes, uint64_t lost,
		     uint64_t base)
{
	b->lossy |= lost > 0;
	if (!(b->left > 0))
		return false;
	b->lost += (double)lost;
	if (tx > b->tx + base)
		return true;
	if (tx < b->tx || !bytes)
		return false;
	b->bytes += (double)bytes;
	if (!b->rx)
		b->rx = b->rx_last = rx;
	if (rx > b->rx_last)
		b->rx_last = rx;
	if (tx > b->tx_last)
		b->tx_last = tx;
	burst_check(b);
	return false;
}

double sdr_burst_judge(struct sdr_burst *b, const struct sdr_burst_at *at)
{
	double all = b->bytes + b->lost, beyond = b->lost - at->share * all, left = b->left;
	double target = (double)at->target, together = (double)at->together;
	double sent = (double)(b->tx_last - b->tx) + together;
	double took = (double)(b->rx_last - b->rx) + 1, queue, passes;
	bool lost = beyond > BURST_LOST * all + BURST_LOST_PKTS * at->mtu;

	SDR_ASSERT(at->mtu && at->base && at->target && at->full >= 0 && left > 0);
	b->left = 0;
	/* whoever says less is not to stop us */
	b->mean = at->mean > 0 ? fmax(at->mean, BURST_FLOOR * at->mtu) : 0;
	b->fair = burst_fair(b, at);
	if (!b->rx)
		return 0;
	queue = (double)(b->rx_last - b->tx_last) - (double)at->base - together;
	b->passed = queue < BURST_SHORT * target;
	if (b->passed)
		b->win += at->mtu;
	if (all < BURST_PKTS * at->mtu)
		return 0;
	/* all that passed in that time was its own, and so was the queue */
	if (all / took * (double)at->base > BURST_ALL * at->full && at->full > 0)
		return 0;
	/* who is one of many is not to wait for losses; a host that was late is no crowd */
	if (queue > BURST_LONG * target &&
	    (lost || (sdr_burst_holds(b) && !(b->fair > 0) && took > BURST_STRETCH * sent))) {
		passes = BURST_USE * b->bytes / took * (double)at->base;
		passes = fmax(fmin(passes, left), BURST_LEAST * left);
		b->win = fmin(b->win, fmax(passes, BURST_FLOOR * at->mtu));
		return fmax(beyond - b->said, 0);
	}
	burst_check(b);
	return 0;
}

double sdr_burst_round(struct sdr_burst *b, const struct sdr_burst_round *r)
{
	double first, most, grows;

	SDR_ASSERT(r->mtu && r->target > 0);
	b->rounds++;
	if (b->rounds > 1 && r->queue >= BURST_MET * r->target)
		b->met = true;
	b->quiet = r->queue < BURST_QUIET * r->target && !r->lossy ? b->quiet + 1 : 0;
	if (!sdr_burst_holds(b) || !b->quiet || b->rounds > BURST_ROUNDS)
		return -1;
	first = b->met ? BURST_GROWS : BURST_BEGINS * exp2(fmin(b->alone, BURST_ALONE_MOST));
	most = b->met ? BURST_GROWS_MOST : BURST_BEGINS_MOST;
	grows = fmin(first * exp2(b->quiet - 1), most);
	if (grows >= BURST_LATE)
		b->win += r->mtu;
	burst_check(b);
	return grows;
}
