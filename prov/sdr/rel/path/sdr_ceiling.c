/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A ceiling over everything that several senders send: virtual scheduling (the GCRA of ITU-T
 * I.371), with one atomic word for all.
 *
 * The word is the time until which the rate is given away.  Who wants to send moves it on by the
 * time that a quantum takes and may send the quantum from where the word was: now, or when its turn
 * comes.  So turns are taken in the order in which they were asked for, one quantum each, and
 * nobody who waits is passed by; a sender that dies or changes its mind has cost the others one
 * quantum.  The word is touched once a quantum, by one compare and swap.
 *
 * In any interval t no more leaves than rate * t, a quantum for each sender (taken before, used
 * then), what the rate gives in SDR_CEILING_CATCHUP_NS where senders waited and woke late, a packet
 * for each sender, and datagrams that are not asked for.  Those are paid for afterwards: by the
 * sender's next quantum, or, from a sender that has nothing else, as soon as they make one.  An
 * idle ceiling saves nothing.
 *
 * No clock, no timers, no threads of its own; the word alone is shared between threads and
 * processes.
 */
#include "base/sdr_assert.h"
#include "rel/path/sdr_ceiling.h"

#define SDR_NS_PER_S 1000000000ull

static uint64_t ceiling_ns(const struct sdr_ceiling *c, uint64_t bytes)
{
	return (uint64_t)((double)bytes * (double)SDR_NS_PER_S / (double)c->rate_Bps);
}

void sdr_ceiling_init(struct sdr_ceiling *c, struct sdr_ceiling_word *word, uint64_t rate_bps)
{
	SDR_ASSERT(rate_bps >= 8);
	*c = (struct sdr_ceiling){ .word = word, .rate_Bps = rate_bps / 8 };
	c->quantum = c->rate_Bps / (SDR_NS_PER_S / SDR_CEILING_QUANTUM_NS);
	if (c->quantum < SDR_CEILING_QUANTUM_MIN)
		c->quantum = SDR_CEILING_QUANTUM_MIN;
	if (c->quantum > SDR_CEILING_QUANTUM_MAX)
		c->quantum = SDR_CEILING_QUANTUM_MAX;
}

/*
 * Takes so many bytes of the rate.  Who waited for what it has just used up did so for lack of
 * time: what it missed is still its own, up to the catch-up.
 */
static void ceiling_take(struct sdr_ceiling *c, uint64_t bytes, uint64_t now)
{
	bool hungry = c->waited && now - c->used <= SDR_CEILING_QUANTUM_NS &&
		      now <= c->at + SDR_CEILING_CATCHUP_NS;
	uint64_t cost = ceiling_ns(c, bytes), least = now, from;
	uint64_t given = atomic_load_explicit(&c->word->given, memory_order_relaxed);

	if (hungry)
		least -= now < SDR_CEILING_CATCHUP_NS ? now : SDR_CEILING_CATCHUP_NS;
	do {
		from = given;
		if (from < least || from > now + SDR_CEILING_FAR_NS)
			from = least;
	} while (!atomic_compare_exchange_weak_explicit(
		&c->word->given, &given, from + cost, memory_order_relaxed, memory_order_relaxed));
	c->credit += (int64_t)bytes;
	c->at = from;
	c->waited = hungry || from > now;
}

uint64_t sdr_ceiling_allow(struct sdr_ceiling *c, uint64_t now)
{
	if (!c->word)
		return UINT64_MAX;
	if (c->credit <= 0)
		ceiling_take(c, c->quantum + (uint64_t)-c->credit, now);
	SDR_ASSERT(c->credit > 0);
	return now < c->at ? 0 : (uint64_t)c->credit;
}

void sdr_ceiling_sent(struct sdr_ceiling *c, uint64_t bytes, uint64_t now)
{
	if (!c->word)
		return;
	c->credit -= (int64_t)bytes;
	c->used = now;
	if (c->credit <= -(int64_t)c->quantum)
		ceiling_take(c, (uint64_t)-c->credit, now);
}
