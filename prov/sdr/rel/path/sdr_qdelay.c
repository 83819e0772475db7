/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How long packets queue on their way: the smallest round trip of a round, less the smallest that
 * is remembered.  The smallest of a round, since late threads, batches and delayed acknowledgements
 * only ever add.
 *
 * A path may become longer, so the smallest is forgotten after one to two stretches.  It stays true
 * that long because every flow of ours empties the queue every few seconds (sdr_cc_auto.c).
 *
 * Where a path delays packets by chance (radio, hosts, ways of different length), the smallest of
 * few samples is no smallest, and who takes chance for a queue yields for ever.  So the noise is
 * measured, by how much a round trip differs from the next one; a queue that many share changes
 * slowly.  Then the samples of rounds before count, too, as many as it takes to see below the
 * noise, and as long as there are too few nothing longer than the noise is believed.  Where packets
 * overtake each other, which no queue makes them do, what those are above the smallest of all is
 * taken away as well.
 *
 * The smallest of many is smaller than the smallest of a few, so where windows are a few packets or
 * less than one, or where queues are as short as that difference, who has more would see less of a
 * queue and get still more.  There it is the mean, or so much of it as the caller says; the
 * harmonic one, as samples that are late are very late.
 *
 * The smallest of a round does not say how the round ended: a flight that left into an empty path
 * meets no queue at its head, however long it is.  So the last samples count by themselves, too
 * (ended).
 *
 * No clock, no timers, no threads, no allocation.
 */
#include <math.h>
#include "base/sdr_assert.h"
#include "sdr_qdelay.h"

#define QDELAY_FADE 32u /* samples over which differences are smoothed */
/* samples of a round for each time that the noise is as large as the queue looked for */
#define QDELAY_SAMPLES	     8.0
#define QDELAY_SAMPLES_LEAST 4.0 /* fewer: any number will do */
#define QDELAY_SAMPLES_MAX   64.0
#define QDELAY_TAIL	     4u	 /* samples: so many to twice as many are the end of a round, */
#define QDELAY_ENDS	     16u /* if it has that many */
#define QDELAY_CHANCE	     3.0 /* times the noise, over the root of the samples */

void sdr_qdelay_init(struct sdr_qdelay *q, uint64_t now)
{
	*q = (struct sdr_qdelay){ .low = { UINT64_MAX, UINT64_MAX },
				  .full = { UINT64_MAX, UINT64_MAX },
				  .begun = now,
				  .min = UINT64_MAX,
				  .tail = { UINT64_MAX, UINT64_MAX } };
}

static void qdelay_differs(struct sdr_qdelay *q, uint64_t rtt)
{
	double d = fabs((double)rtt - (double)q->last);

	q->differs += q->differs < QDELAY_FADE;
	if (q->last)
		q->noise += (d - q->noise) / q->differs;
	q->last = rtt;
}

static void qdelay_tail(struct sdr_qdelay *q, uint64_t rtt)
{
	if (q->tail_n == QDELAY_TAIL) {
		q->tail[1] = q->tail[0];
		q->tail[0] = UINT64_MAX;
		q->tail_n = 0;
	}
	if (rtt < q->tail[0])
		q->tail[0] = rtt;
	q->tail_n++;
}

void sdr_qdelay_sample(struct sdr_qdelay *q, uint64_t now, uint64_t rtt)
{
	SDR_ASSERT(rtt);
	if (now >= q->begun + SDR_QDELAY_STRETCH_NS) {
		q->low[1] = q->low[0];
		q->low[0] = UINT64_MAX;
		q->full[1] = q->full[0];
		q->full[0] = UINT64_MAX;
		q->begun = now;
	}
	if (rtt < q->min)
		q->min = rtt;
	q->rate += 1 / (double)rtt;
	q->samples++;
	qdelay_tail(q, rtt);
	sdr_qdelay_least(q, rtt);
	qdelay_differs(q, rtt);
}

void sdr_qdelay_full(struct sdr_qdelay *q, uint64_t rtt)
{
	SDR_ASSERT(rtt && q->base);
	if (rtt < q->full[0])
		q->full[0] = rtt;
}

void sdr_qdelay_least(struct sdr_qdelay *q, uint64_t rtt)
{
	SDR_ASSERT(rtt);
	if (rtt < q->low[0])
		q->low[0] = rtt;
	q->base = q->low[0] < q->low[1] ? q->low[0] : q->low[1];
}

uint64_t sdr_qdelay_slot(const struct sdr_qdelay *q)
{
	uint64_t full = q->full[0] < q->full[1] ? q->full[0] : q->full[1];

	return full != UINT64_MAX && full > q->base ? full - q->base : 0;
}

static double qdelay_samples(const struct sdr_qdelay *q, uint64_t target)
{
	double n = QDELAY_SAMPLES * q->noise / (double)target;

	return n < QDELAY_SAMPLES_LEAST ? 1 : fmin(n, QDELAY_SAMPLES_MAX);
}

/*
 * So much of the queue, ns, is that the smallest of n samples is not the smallest of all.  Of two
 * delays by chance, one each way, uniform up to J: they differ by 0.47 J from one to the next, the
 * smallest of n is 1.25 J / sqrt(n).
 */
static uint64_t qdelay_chance(const struct sdr_qdelay *q, uint64_t n)
{
	double chance = QDELAY_CHANCE * q->noise / sqrt((double)n);

	return chance < (double)q->queue ? (uint64_t)chance : q->queue;
}

/* Where noise needs more samples than that, the end tells no more than the round. */
static void qdelay_end(struct sdr_qdelay *q, double need)
{
	uint64_t end = q->tail[0] < q->tail[1] ? q->tail[0] : q->tail[1];

	q->ended = q->queue;
	if (q->samples >= QDELAY_ENDS && need <= QDELAY_TAIL && end > q->base + q->queue)
		q->ended = end - q->base;
	q->tail[0] = q->tail[1] = UINT64_MAX;
	q->tail_n = 0;
}

bool sdr_qdelay_round(struct sdr_qdelay *q, uint64_t target, double even, bool chance)
{
	double need = qdelay_samples(q, target), mean;
	uint64_t min = q->min, n = q->samples;
	uint32_t i, at;

	SDR_ASSERT(target && even >= 0 && even <= 1);
	if (!q->samples)
		return false;
	mean = (double)q->samples / q->rate - (double)q->base;
	for (i = 1; i <= SDR_QDELAY_PAST && (double)n < need; i++) {
		at = (q->past_at - i) % SDR_QDELAY_PAST;
		n += q->past_n[at];
		if (q->past_n[at] && q->past[at] < min)
			min = q->past[at];
	}
	at = q->past_at++ % SDR_QDELAY_PAST;
	q->past[at] = q->min;
	q->past_n[at] = q->samples;
	q->queue = min > q->base ? min - q->base : 0;
	if (chance && need > 1)
		q->queue -= qdelay_chance(q, n);
	/* who yields to what may be noise has fewer samples, and sees less and less */
	if ((double)n < need && (double)q->queue > q->noise)
		q->queue = (uint64_t)q->noise;
	qdelay_end(q, need);
	if (mean > (double)q->queue)
		q->queue += (uint64_t)(even * (mean - (double)q->queue));
	q->min = UINT64_MAX;
	q->rate = 0;
	q->samples = 0;
	return true;
}

uint64_t sdr_qdelay_now(const struct sdr_qdelay *q)
{
	if (!q->samples)
		return q->queue;
	return q->min > q->base ? q->min - q->base : 0;
}

void sdr_qdelay_forget(struct sdr_qdelay *q, uint64_t now, uint64_t rtt)
{
	sdr_qdelay_init(q, now);
	sdr_qdelay_sample(q, now, rtt);
}
