/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Decoding that would hold up the endpoint's round is done by a thread that the caller lends.
 *
 * How long it takes follows from its size: bytes of sources by symbols that are made of them.  What
 * is below cfg decode_lend is done at once, where it is found; of more than that the round makes a
 * job, and goes on.  The job has all memory that it needs from the start, so it cannot fail: its
 * own counts and matrix, and a copy of the bits of the parity, of which more may come.  The
 * segment's receive has been sealed by then (sdr_recv_seal): no packet that still comes is
 * written to the buffer that the job writes to, and its bits do not change.  What a device writes
 * by key cannot be sealed: there the job decodes apart (fec/sdr_code.h), and has a copy of those
 * bits, too.
 *
 * One thread does it, in steps of about a millisecond at most; others that come find it taken.
 * When it is done it says so (state) and wakes the endpoint (cbs->wake); the next round completes
 * the segment.  Who ends the segment before that (abort, revoked region, close) stops the job and
 * waits for the step that is under way: from then on nothing is written.
 *
 * The owner depends on no thread: when no step of any of its jobs was done for
 * SDR_DECODE_PATIENCE_NS it takes them back and does them itself, again if need be, as the same
 * bytes come out.  So does a forked child, in which the threads of the parent do not exist; also
 * what they said was done: fork copies one page after the other, and of a thread that writes
 * meanwhile it may copy the last word, and not the bytes that it is about.
 *
 * Not here: whether the path is long enough for a thread to be worth it (sdr_code_rx.c).
 *
 * Threads: decode_run on the lent one, which touches the job and what it points to; all else is the
 * endpoint's.  Timer: the patience.
 */
#include <stdlib.h>
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "sdr_bulk.h"
#include "sdr_decode.h"

enum decode_state {
	DECODE_WAITS,
	DECODE_TAKEN,
	DECODE_DONE,
};

static bool decode_step(struct sdr_decode *d, struct sdr_code_at *at)
{
	const struct sdr_decode_of *of = &d->of;

	return sdr_code_decode_step(of->code, &d->w, of->base, of->parity, of->data_bits,
				    of->parity_bits, at) != 0;
}

/* Any thread. */
static void decode_run(struct sdr_job *job)
{
	struct sdr_decode *d = sdr_container(job, struct sdr_decode, job);
	unsigned int waits = DECODE_WAITS;
	struct sdr_code_at at = { 0, 0 };

	if (!atomic_compare_exchange_strong(&d->state, &waits, DECODE_TAKEN))
		return;
	while (!atomic_load_explicit(&d->stop, memory_order_relaxed)) {
		if (!decode_step(d, &at)) {
			atomic_store_explicit(&d->state, DECODE_DONE, memory_order_release);
			d->rel->cbs->wake(d->rel->user);
			return;
		}
		atomic_fetch_add_explicit(&d->steps, 1, memory_order_relaxed);
	}
}

/* Packets may come while it is read: what is seen of them is there. */
static uint64_t *bits_copy(uint64_t *to, const uint64_t *bits, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++)
		to[i] = __atomic_load_n(&bits[i], __ATOMIC_ACQUIRE);
	return to;
}

/* Bits that may change meanwhile are those of the job.  False: no memory. */
static bool decode_bits(struct sdr_decode *d)
{
	struct sdr_decode_of *of = &d->of;
	uint32_t par = sdr_bitmap_words(of->code->par_pkts),
		 data = of->apart ? sdr_bitmap_words(of->code->npkts) : 0;

	d->copy = malloc(((size_t)par + data) * sizeof(*d->copy));
	if (!d->copy)
		return false;
	of->parity_bits = bits_copy(d->copy, of->parity_bits, par);
	if (of->apart)
		of->data_bits = bits_copy(d->copy + par, of->data_bits, data);
	return true;
}

static void decode_forget(struct sdr_decode *d)
{
	if (d->link.next)
		sdr_list_del(&d->link);
	free(d->copy);
	sdr_code_scratch_destroy(&d->w);
	d->copy = NULL;
	d->rel = NULL;
}

bool sdr_decode_lend(struct sdr_decode *d, struct sdr_rel *rel, const struct sdr_decode_of *of)
{
	uint64_t least = rel->cfg.decode_lend ? rel->cfg.decode_lend : SDR_DECODE_LEND;
	struct sdr_rel_bulk *b = rel->bulk;

	SDR_ASSERT(!sdr_decode_lent(d));
	if (!rel->cbs->lend || !rel->cbs->wake ||
	    sdr_code_decode_work(of->code, &b->code_scratch) < least)
		return false;
	d->of = *of;
	if (!decode_bits(d) || sdr_code_decode_begin(of->code, of->fec, &d->w, d->of.data_bits,
						     d->of.parity_bits, of->apart))
		goto err;
	d->rel = rel;
	d->job.run = decode_run;
	atomic_store_explicit(&d->state, DECODE_WAITS, memory_order_relaxed);
	atomic_store_explicit(&d->stop, false, memory_order_relaxed);
	atomic_store_explicit(&d->steps, 0, memory_order_relaxed);
	d->seen = 0;
	if (sdr_list_empty(&b->decodes))
		b->decode_ns = rel->now;
	sdr_list_add_tail(&d->link, &b->decodes);
	if (!rel->cbs->lend(rel->user, &d->job))
		goto err;
	b->nlent++;
	return true;
err:
	decode_forget(d);
	return false;
}

bool sdr_decode_over(struct sdr_decode *d)
{
	struct sdr_rel_bulk *b = d->rel->bulk;
	bool done = atomic_load_explicit(&d->state, memory_order_acquire) == DECODE_DONE;
	uint32_t steps = atomic_load_explicit(&d->steps, memory_order_relaxed);
	struct sdr_code_at at = { 0, 0 };

	if (done || steps != d->seen)
		b->decode_ns = d->rel->now;
	d->seen = steps;
	if (!done && d->rel->now < b->decode_ns + SDR_DECODE_PATIENCE_NS)
		return false;
	atomic_store_explicit(&d->stop, true, memory_order_relaxed);
	if (!d->rel->cbs->reclaim(d->rel->user, &d->job)) {
		done = false;
		sdr_code_decode_again(&d->w);
	}
	while (!done && decode_step(d, &at))
		;
	b->nlent_back += !done;
	decode_forget(d);
	return true;
}

void sdr_decode_stop(struct sdr_decode *d)
{
	if (!sdr_decode_lent(d))
		return;
	atomic_store_explicit(&d->stop, true, memory_order_relaxed);
	d->rel->cbs->reclaim(d->rel->user, &d->job);
	decode_forget(d);
}

uint64_t sdr_decode_deadline(const struct sdr_rel *rel)
{
	const struct sdr_rel_bulk *b = rel->bulk;

	return sdr_list_empty(&b->decodes) ? UINT64_MAX : b->decode_ns + SDR_DECODE_PATIENCE_NS;
}
